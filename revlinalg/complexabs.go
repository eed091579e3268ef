package revlinalg

import (
	"math/cmplx"

	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// ComplexAbs is the kernel
//
//	y_i += |x_i|
//
// of complex x_i and real y_i. u = x/|x|, or 0 at 0 (the subgradient of least norm),
// and ρ = Re conj(u)·ẋ. The derivatives of each element are
//
//	x̄ += ȳ·u,  ẏ += ρ,  ġx += ġy·u + ȳ·(ẋ - ρ·u)/|x|
//
// A magnitude is that of cmplx.Abs, within 2ε times itself. No square overflows or
// underflows. If a part of x is infinite, |x| = +Inf, even if the other part is NaN,
// and u is the direction of cmplx.Phase(x), which is NaN then.
type ComplexAbs struct {
	Y rev.Vector[float64]    `rev:"acc" shape:"n"`
	X rev.Vector[complex128] `rev:"in" shape:"n"`
}

// ComplexNorm1 is the kernel
//
//	Out += ‖x‖₁ = Σ |x_i|
//
// of complex numbers. It is the sum of what ComplexAbs computes, and so are its
// derivatives. It is within (n+2)·ε times itself.
type ComplexNorm1 struct {
	Out *float64               `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexAbs) Run(p rev.Pass[ComplexAbs]) error {
	for i := range k.X.N {
		x := k.X.Data[i*k.X.Inc]
		if k.Y.Data != nil {
			k.Y.Data[i*k.Y.Inc] += number.Signed(p.Sign(), cmplx.Abs(x))
		}
		if !p.Adjoint && !p.Tangent {
			continue
		}
		r, u := unit(x)
		gy, dx := vector.Element(p.G.Y, i), vector.Element(p.T.X, i)
		if p.T.Y.Data != nil && p.T.X.Data != nil {
			p.T.Y.Data[i*p.T.Y.Inc] += number.Signed(p.Sign(), along(u, dx))
		}
		if p.G.X.Data != nil && p.G.Y.Data != nil {
			p.G.X.Data[i*p.G.X.Inc] += scale(gy, u)
		}
		addGradientTangent(p.GT.X, i, vector.Element(p.GT.Y, i), gy, r, u, dx)
	}
	return nil
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexNorm1) Run(p rev.Pass[ComplexNorm1]) error {
	var sum, rate float64
	gout, dgout := number.ValueOf(p.G.Out), number.ValueOf(p.GT.Out)
	for i := range k.X.N {
		x := k.X.Data[i*k.X.Inc]
		sum += cmplx.Abs(x)
		if !p.Adjoint && !p.Tangent {
			continue
		}
		r, u := unit(x)
		dx := vector.Element(p.T.X, i)
		rate += along(u, dx)
		if p.G.X.Data != nil && p.G.Out != nil {
			p.G.X.Data[i*p.G.X.Inc] += scale(gout, u)
		}
		addGradientTangent(p.GT.X, i, dgout, gout, r, u, dx)
	}
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), sum)
	}
	if p.T.Out != nil && p.T.X.Data != nil {
		*p.T.Out += number.Signed(p.Sign(), rate)
	}
	return nil
}

// addGradientTangent adds dg·u + g·(dx - ρ·u)/r to element i of x if x is there.
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
