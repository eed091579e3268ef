package hand

import (
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/objective"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Residuals is the kernel
//
//	R += p - x
//
// of the differences between N measured points p
// and the places x on the skin of a posed model that correspond to them. If Surface is
// false, the place of point i is vertex c_i of the model. Otherwise it is a point of
// triangle c_i with the vertices a, b and c,
//
//	x_i = u_i·x_a + v_i·x_b + (1 - u_i - v_i)·x_c
//
// where the barycentric coordinates u and v may leave the triangle. The parameters
// Theta (see Params) move the bones, and the bones move the vertices by linear blend
// skinning. With T_k(θ) the transform of bone k,
//
//	x_a = R(θ)·M·Σ_k w_ak·T_k(θ)(rest_a) + t(θ)
//
// R is the global rotation, M a reflection if the model is mirrored, and t the
// translation. ADBench sets R to 1 for rotations by less than 10⁻⁴. Here R is the exact
// rotation for all angles, and smooth.
//
// With r̄ the cotangent of R_i, u_a, u_b and u_c the coordinates, and the
// derivatives of vertices as in package file pose.go, the gradients and the tangent are
//
//	θ̄ -= Σ_i Σ_a u_a·(∂x_a/∂θ)ᵀ·r̄_i,  p̄_i += r̄_i,  ū_i -= r̄_i·(x_a - x_c),  v̄_i -= r̄_i·(x_b - x_c)
//	Ṙ_i += ṗ_i - Σ_a u_a·(∂x_a/∂θ)·θ̇ - u̇_i·(x_a - x_c) - v̇_i·(x_b - x_c)
//
// There is no second order: AdjointTangent is rev.ErrUnsupported.
//
// Everything is computed in float64, whatever T is. The error of a place is about 2⁻⁵⁰
// times the size of its terms. Inverse restores R up to the rounding of one addition
// and one subtraction, and to the bit over Q43.
//
// The model is that of Taylor, Stebbing, Ramakrishna, Keskin, Shotton, Izadi, Hertzmann and
// Fitzgibbon, 2014, as ADBench (Šrajer, Kukelova and Fitzgibbon, 2018, arXiv 1807.10129,
// section 4.3) has it.
type Residuals[T rev.Real] struct {
	R               rev.Vector[T]  `rev:"acc" shape:"3*n"`                // p - x of each point
	Theta           rev.Vector[T]  `rev:"in" shape:"26"`                  // pose parameters
	UV              rev.General[T] `rev:"in" shape:"Surface ? n,2 : 0,2"` // u, v of each point
	Points          rev.General[T] `rev:"in" shape:"n,3"`                 // p
	Correspondences []int          `rev:"index" shape:"n"`                // c, vertices or triangles

	Surface bool
	Model   *Model
}

// NewResiduals returns the kernel that adds to r, over gonum types, sharing their
// storage. A nil uv makes correspondences vertices.
func NewResiduals(r, theta *mat.VecDense, uv, points *mat.Dense, correspondences []int, m *Model) Residuals[float64] {
	k := Residuals[float64]{
		R: rev.ViewVec(r), Theta: rev.ViewVec(theta), UV: rev.ViewDense(uv), Points: rev.ViewDense(points),
		Correspondences: correspondences, Surface: uv != nil, Model: m,
	}
	if uv == nil {
		k.UV = rev.NewGeneral[float64](0, 2, nil)
	}
	return k
}

// residualsRun is Run of Residuals. Its only error is rev.ErrUnsupported, for AdjointTangent.
func residualsRun[T rev.Real](k *Residuals[T], p *rev.Pass[Residuals[T]]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	s := workspace.Get[*skin]()
	open(s, k, p.G.R.Data != nil && p.G.Theta.Data != nil || p.T.R.Data != nil && p.T.Theta.Data != nil)
	if k.R.Data != nil {
		addResiduals(s, k, T(p.Sign()))
	}
	if p.G.R.Data != nil {
		addGradients(s, k, &p.G)
	}
	if p.T.R.Data != nil {
		addTangents(s, k, &p.T, T(p.Sign()))
	}
	s.model = nil
	workspace.Put(s)
	return nil
}

// Columns returns the number of columns of the Jacobian.
func (k Residuals[T]) Columns() int {
	if k.Surface {
		return 2 + Params
	}
	return Params
}

// Jacobian computes R += p - x, if R is not nil, and stores the derivatives of R in the
// 3N×Columns matrix j: by u and v of the point if there are any, and by the parameters. It
// panics with mat.ErrShape if j is of another shape.
func (k Residuals[T]) Jacobian(j rev.General[T]) {
	rev.ForwardPass(&k)
	objective.CheckDims("hand.Residuals", "j", j.Rows, j.Cols, 3*len(k.Correspondences), k.Columns())
	s := workspace.Get[*skin]()
	open(s, &k, true)
	if k.R.Data != nil {
		addResiduals(s, &k, 1) // raw: a sign
	}
	storeJacobian(s, &k, j)
	s.model = nil
	workspace.Put(s)
}

// open poses the model and moves the vertices that correspond to points.
func open[T rev.Real](s *skin, k *Residuals[T], derivatives bool) {
	limit := len(k.Model.vertices)
	if k.Surface {
		limit = len(k.Model.triangles)
	}
	for i, c := range k.Correspondences {
		if uint(c) >= uint(limit) {
			panic(objective.IndexError("hand.Residuals", "Correspondences", i, c, limit))
		}
	}
	for i := range s.theta {
		s.theta[i] = fixed.Float(k.Theta.Data[i*k.Theta.Inc])
	}
	s.begin(k.Model, derivatives)
	switch {
	case !k.Surface:
		s.use(k.Correspondences...)
	case len(k.Correspondences) < limit:
		for _, c := range k.Correspondences {
			s.use(k.Model.triangles[c][:]...)
		}
	default: // fewer triangles than points
		for c := range k.Model.triangles {
			s.use(k.Model.triangles[c][:]...)
		}
	}
}

// A corner is a vertex with its weight in a place.
type corner struct {
	vertex int // in use, see skin
	weight float64
}

// corners returns the corners of the place of point i.
func corners[T rev.Real](s *skin, k *Residuals[T], i int) (c [3]corner, n int) {
	at := k.Correspondences[i]
	if !k.Surface {
		c[0] = corner{int(s.slot[at]), 1}
		return c, 1
	}
	t, uv := &k.Model.triangles[at], k.UV.Row(i)
	u, v := fixed.Float(uv[0]), fixed.Float(uv[1])
	return [3]corner{{int(s.slot[t[0]]), u}, {int(s.slot[t[1]]), v}, {int(s.slot[t[2]]), 1 - u - v}}, 3
}

// addResiduals has no loops over the three coordinates: the compiler keeps those.
func addResiduals[T rev.Real](s *skin, k *Residuals[T], sign T) {
	r, inc := k.R.Data, k.R.Inc
	for i, at := range k.Correspondences {
		var x, y, z float64
		if k.Surface {
			t, uv := &k.Model.triangles[at], k.UV.Data[i*k.UV.Stride:][:2]
			u, v := fixed.Float(uv[0]), fixed.Float(uv[1])
			w := 1 - u - v
			a, b, c := &s.at[s.slot[t[0]]], &s.at[s.slot[t[1]]], &s.at[s.slot[t[2]]]
			x = float64(u*a[0]) + float64(v*b[0]) + float64(w*c[0])
			y = float64(u*a[1]) + float64(v*b[1]) + float64(w*c[1])
			z = float64(u*a[2]) + float64(v*b[2]) + float64(w*c[2])
		} else {
			a := &s.at[s.slot[at]]
			x, y, z = a[0], a[1], a[2]
		}
		p, r := k.Points.Data[i*k.Points.Stride:][:3], r[3*i*inc:][:2*inc+1]
		r[0] += T(sign * fixed.Of[T](fixed.Float(p[0])-x))
		r[inc] += T(sign * fixed.Of[T](fixed.Float(p[1])-y))
		r[2*inc] += T(sign * fixed.Of[T](fixed.Float(p[2])-z))
	}
}

func addGradients[T rev.Real](s *skin, k, g *Residuals[T]) {
	s.bar = workspace.Zeros(s.bar, len(s.at))
	for i := range k.Correspondences {
		var bar [3]float64
		for d := range bar {
			v := g.R.Data[(3*i+d)*g.R.Inc]
			bar[d] = fixed.Float(v)
			if g.Points.Data != nil {
				g.Points.Row(i)[d] += v
			}
		}
		c, n := corners(s, k, i)
		if g.Theta.Data != nil {
			for _, c := range c[:n] {
				for d, v := range bar {
					s.bar[c.vertex][d] += float64(c.weight * v)
				}
			}
		}
		if g.UV.Data != nil && k.Surface {
			for e, uv := range g.UV.Row(i) {
				from := s.edge(&c, e)
				for d, v := range bar {
					uv -= fixed.Of[T](v * from[d])
				}
				g.UV.Row(i)[e] = uv
			}
		}
	}
	if g.Theta.Data == nil {
		return
	}
	var theta [Params]float64
	for v := range s.block {
		for d, bar := range s.bar[v] {
			for p, b := range &s.block[v].by[d] {
				theta[p] += float64(b * bar)
			}
		}
	}
	for p, v := range theta {
		g.Theta.Data[p*g.Theta.Inc] += fixed.Of[T](v)
	}
}

func addTangents[T rev.Real](s *skin, k, t *Residuals[T], sign T) {
	s.bar = workspace.Zeros(s.bar, len(s.at)) // tangents of residuals of vertices
	if t.Theta.Data != nil {
		for v := range s.block {
			for d := range s.bar[v] {
				for p, b := range &s.block[v].by[d] {
					s.bar[v][d] += float64(b * fixed.Float(t.Theta.Data[p*t.Theta.Inc]))
				}
			}
		}
	}
	for i := range k.Correspondences {
		var dot [3]float64
		c, n := corners(s, k, i)
		for _, c := range c[:n] {
			for d := range dot {
				dot[d] += float64(c.weight * s.bar[c.vertex][d])
			}
		}
		if t.UV.Data != nil && k.Surface {
			for e, uv := range t.UV.Row(i) {
				from := s.edge(&c, e)
				for d := range dot {
					dot[d] -= float64(fixed.Float(uv) * from[d])
				}
			}
		}
		for d, v := range dot {
			dr := fixed.Of[T](v)
			if t.Points.Data != nil {
				dr += t.Points.Row(i)[d]
			}
			t.R.Data[(3*i+d)*t.R.Inc] += T(sign * dr)
		}
	}
}

func storeJacobian[T rev.Real](s *skin, k *Residuals[T], j rev.General[T]) {
	for i := range k.Correspondences {
		c, _ := corners(s, k, i)
		a := &s.block[c[0].vertex]
		if !k.Surface {
			for d := range a.by {
				store(j.Row(3*i+d), a.by[d][:])
			}
			continue
		}
		b, e := &s.block[c[1].vertex], &s.block[c[2].vertex]
		from0, from1 := s.edge(&c, 0), s.edge(&c, 1)
		u, v, w := c[0].weight, c[1].weight, c[2].weight
		moving := a.fingers | b.fingers | e.fingers
		for d := range a.by {
			row := j.Row(3*i + d)[:2+Params]
			clear(row)
			row[0], row[1] = fixed.Of[T](-from0[d]), fixed.Of[T](-from1[d])
			to, x, y, z := row[2:], &a.by[d], &b.by[d], &e.by[d]
			for p := range 3 {
				to[p] = fixed.Of[T](float64(u*x[p]) + float64(v*y[p]) + float64(w*z[p]))
			}
			to[3+d] = -fixed.Of[T](1)
			for f := moving; f != 0; f &= f - 1 {
				first := 6 + angles*bits.TrailingZeros8(f)
				to, x, y, z := to[first:][:angles], x[first:][:angles], y[first:][:angles], z[first:][:angles]
				for p := range to {
					to[p] = fixed.Of[T](float64(u*x[p]) + float64(v*y[p]) + float64(w*z[p]))
				}
			}
		}
	}
}

// store copies x to row.
func store[T rev.Real](row []T, x []float64) {
	if r, ok := any(row).([]float64); ok {
		copy(r, x)
		return
	}
	for p := range row {
		row[p] = fixed.Of[T](x[p])
	}
}
