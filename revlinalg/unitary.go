package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/simd"
	"revnum/rev"
)

// Unitary is the kernel
//
//	X <- U(θ)·X
//
// in place, where X has N rows and U is orthogonal, the product of N(N-1)/2
// plane rotations, one for each element of Theta, in radians. They are applied
// in this order, with rows counted from 1:
//
//	k = 0
//	for j = 1, ..., N
//		for i = N-1, N-2, ..., j
//			k = k+1, rotate rows i and i+1 by θ_k
//
// Any orthogonal matrix of determinant 1 is a U(θ). No method needs memory
// beyond its operands.
//
// # One rotation
//
// A rotation by θ of the rows a and b, and its derivatives, are
//
//	a' = c·a - s·b    ȧ' = c·ȧ - s·ḃ - θ̇·b'    c = cos θ
//	b' = s·a + c·b    ḃ' = s·ȧ + c·ḃ + θ̇·a'    s = sin θ
//
// since ∂a'/∂θ = -b' and ∂b'/∂θ = a'. The way back is the rotation by -θ, for
// values and cotangents alike, as the transpose of a rotation is its inverse:
//
//	a = c·a' + s·b'    ā = c·ā' + s·b̄'    θ̄ += Σ a'·b̄' - b'·ā'
//	b = c·b' - s·a'    b̄ = c·b̄' - s·ā'
//
// where the sum is over the columns. So Adjoint walks X and its cotangent back
// together. For the second order, let ǡ' and ḃ̄' be the tangents of ā' and b̄'.
// Then the sum has the tangent
//
//	Σ ȧ'·b̄' + a'·ḃ̄' - ḃ'·ā' - b'·ǡ'
//
// and the tangents of ā and b̄ are ǡ' and ḃ̄', rotated back, plus θ̇·b̄ and -θ̇·ā.
//
// # Three shears
//
// In fixed point neither a' nor b' could be undone if they were computed by
// the equations above, as products are rounded. A rotation is therefore made
// of three shears, each of which adds a multiple of one row to the other and
// is undone to the bit by subtracting it:
//
//	a -= t·b,  b += s·a,  a -= t·b,  t = tan(θ/2) = s/(1+c).
//
// (Multiply out and use 1 - s·t = c.) Near θ = π the tangent has a pole. If
// c < 0 the rotation is by θ-π instead, so that 0 <= |t| <= 1, and then both
// rows are negated, which is exact too. This is the lifting scheme of
// Daubechies and Sweldens, Factoring wavelet transforms into lifting steps
// (1998); see also Paeth, A fast algorithm for general raster rotation (1986).
//
// # Rounding
//
// In fixed point Inverse, Adjoint and the other ways back restore X bit for
// bit, even if elements wrap. They do not if no column has a norm above 2¹⁹: on
// the way through the shears of a pair (a, b), elements stay below √2·‖(a, b)‖.
// A rotation is within 2 + 6·‖(a, b)‖ units in the last place of each element.
//
// In floating point a rotation is within 9ε·‖(a, b)‖, and as an element takes
// part in at most 2N-3 of them, X comes back within about 32·N·ε times the norm
// of the column (commonly within 4ε·√N).
//
// The order of rotations is that of the unitary matrix in Liu and Zhao,
// arXiv 2003.04617, which is the triangular mesh of Reck et al., Experimental
// realization of any discrete unitary operator (1994).
type Unitary[T rev.Real] struct {
	X     rev.General[T] `rev:"inout"`
	Theta rev.Vector[T]  `rev:"in"`
}

// NewUnitary returns the kernel over gonum's types, sharing their storage. It
// panics with mat.ErrShape unless theta has N(N-1)/2 elements for the N rows of
// x. A nil theta stands for no operand, or for the angles of a single row.
func NewUnitary(x *mat.Dense, theta *mat.VecDense) Unitary[float64] {
	k := Unitary[float64]{X: rev.ViewDense(x)}
	if theta != nil {
		k.Theta = rev.ViewVec(theta)
	}
	return k
}

// NewUnitaryVec is NewUnitary for a vector, a matrix of one column.
func NewUnitaryVec(x, theta *mat.VecDense) Unitary[float64] {
	k := Unitary[float64]{X: asColumn(rev.ViewVec(x))}
	if theta != nil {
		k.Theta = rev.ViewVec(theta)
	}
	return k
}

// asColumn returns x as a matrix of one column, sharing its storage.
func asColumn[T any](x rev.Vector[T]) rev.General[T] {
	return rev.General[T]{Rows: x.N, Cols: 1, Data: x.Data, Stride: x.Inc}
}

func (k Unitary[T]) check() {
	rev.Check(&k)
	n := uint64(k.X.Rows)
	if uint64(k.Theta.N) != n*(n-1)/2 {
		panic(mat.ErrShape)
	}
}

// Forward computes X <- U(θ)·X.
func (k Unitary[T]) Forward() {
	k.check()
	for p := k.first(); p.next(); {
		r := newRotation(k.Theta, p.angle)
		r.forward(k.X, p.row)
	}
}

// Inverse computes X <- U(θ)ᵀ·X.
func (k Unitary[T]) Inverse() {
	k.check()
	for p := k.last(); p.previous(); {
		r := newRotation(k.Theta, p.angle)
		r.inverse(k.X, p.row)
	}
}

// Adjoint computes X <- U(θ)ᵀ·X, x̄ <- U(θ)ᵀ·x̄, and adds to θ̄.
func (k Unitary[T]) Adjoint(g Unitary[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	for p := k.last(); p.previous(); {
		r := newRotation(k.Theta, p.angle)
		if g.X.Data != nil {
			if g.Theta.Data != nil {
				g.Theta.Data[p.angle*g.Theta.Inc] += cross(k.X, g.X, p.row)
			}
			r.inverse(g.X, p.row)
		}
		r.inverse(k.X, p.row)
	}
}

// InverseAdjoint computes X <- U(θ)·X, x̄ <- U(θ)·x̄, and subtracts from θ̄ what
// Adjoint adds.
func (k Unitary[T]) InverseAdjoint(g Unitary[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	for p := k.first(); p.next(); {
		r := newRotation(k.Theta, p.angle)
		r.forward(k.X, p.row)
		if g.X.Data != nil {
			r.forward(g.X, p.row)
			if g.Theta.Data != nil {
				g.Theta.Data[p.angle*g.Theta.Inc] -= cross(k.X, g.X, p.row)
			}
		}
	}
}

// Tangent computes X <- U(θ)·X and ẋ <- U(θ)·ẋ + Σ_k θ̇_k·(∂U/∂θ_k)·X.
func (k Unitary[T]) Tangent(t Unitary[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	for p := k.first(); p.next(); {
		r := newRotation(k.Theta, p.angle)
		r.forward(k.X, p.row)
		if t.X.Data != nil {
			r.forward(t.X, p.row)
			addQuarter(t.X, t.angle(p), k.X, p.row)
		}
	}
}

// InverseTangent undoes Tangent.
func (k Unitary[T]) InverseTangent(t Unitary[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	for p := k.last(); p.previous(); {
		r := newRotation(k.Theta, p.angle)
		if t.X.Data != nil {
			subQuarter(t.X, t.angle(p), k.X, p.row)
			r.inverse(t.X, p.row)
		}
		r.inverse(k.X, p.row)
	}
}

// AdjointTangent computes what Adjoint and InverseTangent do, and in gt the
// tangents of the cotangents, which want all operands of g and t: what would
// come of one that is nil is left out.
func (k Unitary[T]) AdjointTangent(g, t, gt Unitary[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	for p := k.last(); p.previous(); {
		r := newRotation(k.Theta, p.angle)
		dtheta := t.angle(p)
		if gt.Theta.Data != nil {
			gt.Theta.Data[p.angle*gt.Theta.Inc] += k.crossTangent(&g, &t, &gt, p.row)
		}
		if g.X.Data != nil {
			if g.Theta.Data != nil {
				g.Theta.Data[p.angle*g.Theta.Inc] += cross(k.X, g.X, p.row)
			}
			r.inverse(g.X, p.row)
		}
		if gt.X.Data != nil {
			r.inverse(gt.X, p.row)
			if g.X.Data != nil {
				subQuarter(gt.X, dtheta, g.X, p.row)
			}
		}
		if t.X.Data != nil {
			subQuarter(t.X, dtheta, k.X, p.row)
			r.inverse(t.X, p.row)
		}
		r.inverse(k.X, p.row)
	}
}

// InverseAdjointTangent undoes AdjointTangent.
func (k Unitary[T]) InverseAdjointTangent(g, t, gt Unitary[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	for p := k.first(); p.next(); {
		r := newRotation(k.Theta, p.angle)
		dtheta := t.angle(p)
		r.forward(k.X, p.row)
		if t.X.Data != nil {
			r.forward(t.X, p.row)
			addQuarter(t.X, dtheta, k.X, p.row)
		}
		if gt.X.Data != nil {
			if g.X.Data != nil {
				addQuarter(gt.X, dtheta, g.X, p.row)
			}
			r.forward(gt.X, p.row)
		}
		if g.X.Data != nil {
			r.forward(g.X, p.row)
			if g.Theta.Data != nil {
				g.Theta.Data[p.angle*g.Theta.Inc] -= cross(k.X, g.X, p.row)
			}
		}
		if gt.Theta.Data != nil {
			gt.Theta.Data[p.angle*gt.Theta.Inc] -= k.crossTangent(&g, &t, &gt, p.row)
		}
	}
}

// angle returns an element of a tangent of Theta, which may be nil.
func (k *Unitary[T]) angle(p place) T {
	if k.Theta.Data == nil {
		return 0
	}
	return k.Theta.Data[p.angle*k.Theta.Inc]
}

// crossTangent returns the tangent of what cross returns.
func (k *Unitary[T]) crossTangent(g, t, gt *Unitary[T], i int) T {
	var d T
	if t.X.Data != nil && g.X.Data != nil {
		d += cross(t.X, g.X, i)
	}
	if gt.X.Data != nil {
		d += cross(k.X, gt.X, i)
	}
	return d
}

// A place is where a product of rotations has come to: the next one, or the
// one before on the way back, is of rows row and row+1 by Theta[angle], in
// sweep number sweep, counted from 0.
type place struct {
	n, sweep, row, angle int
}

// first returns the place before the first rotation.
func (k *Unitary[T]) first() place {
	n := k.X.Rows
	return place{n, 0, n - 1, -1}
}

// last returns the place behind the last rotation.
func (k *Unitary[T]) last() place {
	n := k.X.Rows
	return place{n, n - 2, n - 3, k.Theta.N}
}

// next goes on to the next rotation, and reports whether there is one.
func (p *place) next() bool {
	p.angle++
	p.row--
	if p.row < p.sweep {
		p.sweep++
		p.row = p.n - 2
	}
	return p.row >= p.sweep
}

// previous goes back to the rotation before, and reports whether there is one.
func (p *place) previous() bool {
	p.angle--
	p.row++
	if p.row > p.n-2 {
		p.sweep--
		p.row = p.sweep
	}
	return p.angle >= 0
}

// A rotation is three shears, and the negation of both rows if half.
type rotation[T rev.Real] struct {
	t, s T // tan θ/2 and sin θ
	half bool
}

// newRotation returns the rotation by element i of theta.
func newRotation[T rev.Real](theta rev.Vector[T], i int) rotation[T] {
	angle := theta.Data[i*theta.Inc]
	if isFixed[T]() {
		s, c := fixed.SinCos(fixed.Q43(angle))
		half := c < 0
		if half {
			s, c = -s, -c
		}
		return rotation[T]{T(s.Div(fixed.One + c)), T(s), half}
	}
	s, c := math.Sincos(float64(angle))
	half := c < 0
	if half {
		s, c = -s, -c
	}
	return rotation[T]{T(s / (1 + c)), T(s), half}
}

// narrow is the number of columns below which calls of vector code do not pay,
// and panel how many columns are rotated at a time, so that three passes over
// them go to the first cache.
const (
	narrow = 8
	panel  = 1024
)

// forward rotates rows i and i+1 of x.
func (r rotation[T]) forward(x rev.General[T], i int) {
	a, b := x.Row(i), x.Row(i+1)
	if !isFixed[T]() && len(a) >= narrow {
		for lo := 0; lo < len(a); lo += panel {
			hi := min(lo+panel, len(a))
			r.shears(a[lo:hi], b[lo:hi])
			if r.half {
				negate(a[lo:hi])
				negate(b[lo:hi])
			}
		}
		return
	}
	for j, v := range a {
		w := b[j]
		v -= fixed.Product(r.t, w)
		w += fixed.Product(r.s, v)
		v -= fixed.Product(r.t, w)
		if r.half {
			v, w = -v, -w
		}
		a[j], b[j] = v, w
	}
}

// inverse rotates rows i and i+1 of x back.
func (r rotation[T]) inverse(x rev.General[T], i int) {
	a, b := x.Row(i), x.Row(i+1)
	if !isFixed[T]() && len(a) >= narrow {
		r.t, r.s = -r.t, -r.s
		for lo := 0; lo < len(a); lo += panel {
			hi := min(lo+panel, len(a))
			if r.half {
				negate(a[lo:hi])
				negate(b[lo:hi])
			}
			r.shears(a[lo:hi], b[lo:hi])
		}
		return
	}
	for j, v := range a {
		w := b[j]
		if r.half {
			v, w = -v, -w
		}
		v += fixed.Product(r.t, w)
		w -= fixed.Product(r.s, v)
		v += fixed.Product(r.t, w)
		a[j], b[j] = v, w
	}
}

// shears does the three shears of floating-point rows.
func (r rotation[T]) shears(a, b []T) {
	switch a := any(a).(type) {
	case []float64:
		shears(float64(r.t), float64(r.s), a, any(b).([]float64))
	case []float32:
		shears(float32(r.t), float32(r.s), a, any(b).([]float32))
	}
}

func shears[T rev.Float](t, s T, a, b []T) {
	simd.Axpy(-t, b, a)
	simd.Axpy(s, a, b)
	simd.Axpy(-t, b, a)
}

func negate[T rev.Real](x []T) {
	switch x := any(x).(type) {
	case []float64:
		simd.ScaleTo(x, -1, x)
	case []float32:
		simd.ScaleTo(x, -1, x)
	}
}

// cross returns Σ_j x_ij·y_(i+1)j - x_(i+1)j·y_ij.
func cross[T rev.Real](x, y rev.General[T], i int) T {
	return dot(row(x, i), row(y, i+1)) - dot(row(x, i+1), row(y, i))
}

// addQuarter adds to rows i and i+1 of y those of x, times alpha and turned by
// a right angle.
func addQuarter[T rev.Real](y rev.General[T], alpha T, x rev.General[T], i int) {
	axmy(alpha, row(x, i+1), row(y, i))
	axpy(alpha, row(x, i), row(y, i+1))
}

// subQuarter undoes addQuarter.
func subQuarter[T rev.Real](y rev.General[T], alpha T, x rev.General[T], i int) {
	axpy(alpha, row(x, i+1), row(y, i))
	axmy(alpha, row(x, i), row(y, i+1))
}
