package ba

import (
	"revnum/fixed"
	"revnum/internal/objective"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// A termSweep is the workspace of second.
type termSweep[N number[N]] struct {
	cameras []camera[N]
	term    term[N]
}

// exists reports whether the camera and the point of observation i exist.
func (p *problem[T]) exists(i int) bool {
	return uint(p.camera[i]) < uint(p.cameras.Rows) && uint(p.point[i]) < uint(p.points.Rows)
}

// indexError returns what to panic with if observation i does not exist.
func (p *problem[T]) indexError(i int) *rev.OperandError {
	if c, n := p.camera[i], p.cameras.Rows; uint(c) >= uint(n) {
		return objective.IndexError(p.kernel(), "Camera", i, c, n)
	}
	return objective.IndexError(p.kernel(), "Point", i, p.point[i], p.points.Rows)
}

// checkIndices panics if an index of the observations from lo to hi is out of range.
func (p *problem[T]) checkIndices(lo, hi int) {
	for i := lo; i < hi; i++ {
		if !p.exists(i) {
			panic(p.indexError(i))
		}
	}
}

// kernel returns the name of the kernel.
func (p *problem[T]) kernel() string {
	if p.model == views.Weighted {
		return "ba.Weighted"
	}
	return "ba.Snavely"
}

// addTo adds the tangents of gr times the derivatives of residual c of observation i, which has the
// weight w, to g.
func addTo[T rev.Real](p, g *problem[T], i, c int, gr, w dual[T], row *[weightedColumns]dual[T]) {
	n := params(p.model)
	if g.cameras.Data != nil {
		for k, to := 0, g.cameras.Row(p.camera[i]); k < len(to); k++ {
			to[k] += row[k].times(gr)
		}
	}
	if g.points.Data != nil {
		for k, to := 0, g.points.Row(p.point[i]); k < len(to); k++ {
			to[k] += row[n+k].times(gr)
		}
	}
	if g.weights.Data != nil && p.model == views.Weighted {
		g.weights.Data[i*g.weights.Inc] += row[n+3].times(gr)
	}
	if g.features.Data != nil {
		g.features.Row(i)[c] -= w.times(gr)
	}
}

// second adds to gt the tangents of the gradient that adjoint adds to g, in the
// direction t: Jᵀ·ġR + (∂J[ẋ])ᵀ·R̄. The terms are computed in dual numbers.
func (p *problem[T]) second(g, t, gt *problem[T]) {
	s := workspace.Get[*termSweep[dual[T]]]()
	defer workspace.Put(s)
	s.cameras = workspace.Grow(s.cameras, p.cameras.Rows)
	one := dual[T]{v: fixed.Of[T](1)}
	for i := range s.cameras {
		var x [weightedParams]dual[T]
		loadDuals(x[:], p.cameras, t.cameras, i)
		s.cameras[i] = newCamera(p.model, x, one, func(s dual[T]) [3]dual[T] {
			q := newCoefficients(s.v)
			return [3]dual[T]{{q.a, fixed.Product(q.da, s.d)}, {q.b, fixed.Product(q.db, s.d)}, {q.c, fixed.Product(q.dc, s.d)}}
		})
	}
	for i, c := range p.camera {
		if !p.exists(i) {
			panic(p.indexError(i))
		}
		var x [3]dual[T]
		loadDuals(x[:], p.points, t.points, p.point[i])
		var f [2]dual[T]
		loadDuals(f[:], p.features, t.features, i)
		w := one
		if p.model == views.Weighted {
			w = dualAt(p.weights, t.weights, i)
		}
		s.term.observe(p.model, &s.cameras[c], x, w, one, f, true)
		for c := range s.term.r {
			addTo(p, gt, i, c, dualAt(g.r, gt.r, 2*i+c), w, &s.term.j[c])
		}
		if p.model == views.Weighted && gt.weights.Data != nil {
			// Z̄·(-2w)
			gz := w.mul(dualAt(g.z, gt.z, i)).d
			gt.weights.Data[i*gt.weights.Inc] -= 2 * gz
		}
	}
}

// dualAt returns element i of x with that of its tangents t. nil means zeros.
func dualAt[T rev.Real](x, t rev.Vector[T], i int) (v dual[T]) {
	if x.Data != nil {
		v.v = x.Data[i*x.Inc]
	}
	if t.Data != nil {
		v.d = t.Data[i*t.Inc]
	}
	return v
}

// loadDuals stores row i of x with that of its tangents t. A nil t means zeros.
func loadDuals[T rev.Real](dst []dual[T], x, t rev.General[T], i int) {
	for k, v := range x.Row(i) {
		dst[k].v = v
	}
	if t.Data != nil {
		for k, d := range t.Row(i) {
			dst[k].d = d
		}
	}
}
