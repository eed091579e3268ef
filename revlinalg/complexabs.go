package revlinalg

import (
	"math/cmplx"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// ComplexAbs is the kernel
//
//	y_i += |x_i|
//
// of complex x_i and real y_i, with the derivatives, where u = x/|x|, or 0 at 0,
// the subgradient of least norm, ρ = Re conj(u)·ẋ, and ġ is the tangent of ȳ,
//
//	x̄ += ȳ·u,  ẏ += ρ,  ẋ̄ += ġ·u + ȳ·(ẋ - ρ·u)/|x|
//
// of each element. No square overflows or underflows, and a magnitude, that of
// cmplx.Abs, is within 2ε times itself; so |x| = +Inf if a part of x is infinite, even
// if the other is NaN. Then u is the direction of cmplx.Phase(x), so NaN in that case.
type ComplexAbs struct {
	Y rev.Vector[float64]    `rev:"acc"`
	X rev.Vector[complex128] `rev:"in"`
}

// ComplexNorm1 is the kernel
//
//	Out += ‖x‖₁ = Σ |x_i|
//
// of complex numbers, the sum of what ComplexAbs computes, with the sums of its
// derivatives. It is within (n+2)·ε times itself.
type ComplexNorm1 struct {
	Out *float64               `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in"`
}

// NewComplexAbs returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewComplexAbs(y *mat.VecDense, x cblas128.Vector) ComplexAbs {
	k := ComplexAbs{Y: rev.ViewVec(y), X: viewComplex(x)}
	k.checkShape()
	return k
}

// NewComplexNorm1 returns the kernel over a gonum vector, sharing its storage.
func NewComplexNorm1(out *float64, x cblas128.Vector) ComplexNorm1 {
	return ComplexNorm1{Out: out, X: viewComplex(x)}
}

func (k *ComplexAbs) check() {
	rev.Check(k)
	k.checkShape()
}

func (k *ComplexAbs) checkShape() {
	if k.Y.Data == nil {
		k.Y.N = k.X.N // that of its cotangent
	}
	if k.Y.N != k.X.N {
		panic(mat.ErrShape)
	}
}

func (k *ComplexAbs) add(sign float64) {
	if k.Y.Data == nil {
		return
	}
	for i := range k.X.N {
		k.Y.Data[i*k.Y.Inc] += sign * cmplx.Abs(k.X.Data[i*k.X.Inc])
	}
}

// Forward computes Y += |x|.
func (k ComplexAbs) Forward() {
	k.check()
	k.add(1)
}

// Inverse computes Y -= |x|.
func (k ComplexAbs) Inverse() {
	k.check()
	k.add(-1)
}

// Adjoint computes Y -= |x| and x̄ += ȳ·u.
func (k ComplexAbs) Adjoint(g ComplexAbs) {
	k.check()
	rev.CheckLike(&k, &g)
	k.add(-1)
	k.addDerivatives(&g, &ComplexAbs{}, &ComplexAbs{}, 0)
}

// Tangent computes Y += |x| and ẏ += ρ.
func (k ComplexAbs) Tangent(t ComplexAbs) {
	k.check()
	rev.CheckLike(&k, &t)
	k.add(1)
	k.addDerivatives(&ComplexAbs{}, &t, &ComplexAbs{}, 1)
}

// AdjointTangent computes what Adjoint does, ẏ -= ρ, and the tangent of the
// gradient in gt.
func (k ComplexAbs) AdjointTangent(g, t, gt ComplexAbs) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	k.add(-1)
	k.addDerivatives(&g, &t, &gt, -1)
}

// addDerivatives adds, of what there is, sign·ρ to ẏ, and the gradient and its
// tangent to x̄ and ẋ̄.
func (k *ComplexAbs) addDerivatives(g, t, gt *ComplexAbs, sign float64) {
	for i := range k.X.N {
		r, u := unit(k.X.Data[i*k.X.Inc])
		gy, dx := elementOf(g.Y, i), elementOf(t.X, i)
		if t.Y.Data != nil && t.X.Data != nil {
			t.Y.Data[i*t.Y.Inc] += sign * along(u, dx)
		}
		if g.X.Data != nil && g.Y.Data != nil {
			g.X.Data[i*g.X.Inc] += scale(gy, u)
		}
		addGradientTangent(gt.X, i, elementOf(gt.Y, i), gy, r, u, dx)
	}
}

// addGradientTangent adds dg·u + g·(dx - ρ·u)/r to element i of x, if there is one.
func addGradientTangent(x rev.Vector[complex128], i int, dg, g, r float64, u, dx complex128) {
	if x.Data == nil {
		return
	}
	d := scale(dg, u)
	if g != 0 && dx != 0 {
		d += scale(g, turn(r, u, dx))
	}
	x.Data[i*x.Inc] += d
}

func (k *ComplexNorm1) value() float64 {
	s := 0.0
	for i := range k.X.N {
		s += cmplx.Abs(k.X.Data[i*k.X.Inc])
	}
	return s
}

// Forward computes Out += Σ |x_i|.
func (k ComplexNorm1) Forward() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out += k.value()
	}
}

// Inverse computes Out -= Σ |x_i|.
func (k ComplexNorm1) Inverse() {
	rev.Check(&k)
	if k.Out != nil {
		*k.Out -= k.value()
	}
}

// Adjoint computes Out -= Σ |x_i| and x̄ += Ōut·u.
func (k ComplexNorm1) Adjoint(g ComplexNorm1) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	k.addDerivatives(&g, &ComplexNorm1{}, &ComplexNorm1{}, 0)
}

// Tangent computes Out += Σ |x_i| and its tangent.
func (k ComplexNorm1) Tangent(t ComplexNorm1) {
	rev.CheckLike(&k, &t)
	k.Forward()
	k.addDerivatives(&ComplexNorm1{}, &t, &ComplexNorm1{}, 1)
}

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and
// adds the tangent of the gradient in gt.
func (k ComplexNorm1) AdjointTangent(g, t, gt ComplexNorm1) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Inverse()
	k.addDerivatives(&g, &t, &gt, -1)
}

func (k *ComplexNorm1) addDerivatives(g, t, gt *ComplexNorm1, sign float64) {
	var rate, gout, dgout float64
	if g.Out != nil {
		gout = *g.Out
	}
	if gt.Out != nil {
		dgout = *gt.Out
	}
	for i := range k.X.N {
		r, u := unit(k.X.Data[i*k.X.Inc])
		dx := elementOf(t.X, i)
		rate += along(u, dx)
		if g.X.Data != nil && g.Out != nil {
			g.X.Data[i*g.X.Inc] += scale(gout, u)
		}
		addGradientTangent(gt.X, i, dgout, gout, r, u, dx)
	}
	if t.Out != nil && t.X.Data != nil {
		*t.Out += sign * rate
	}
}
