package revlinalg

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// ComplexLog is the kernel
//
//	y_i += log(x_i) = log|x_i| + i·arg(x_i)
//
// of complex numbers, the argument in [-π, π], with the derivatives, where ġ is
// the tangent of ȳ,
//
//	x̄ += ȳ/conj(x),  ẏ += ẋ/x,  ẋ̄ += ġ/conj(x) - conj(ẋ/x)·ȳ/conj(x)
//
// of each element. The logarithm is that of cmplx.Log, also where |x| overflows or
// is subnormal: its real part is within 2ε, and 2ε times itself. If an element of X
// is zero, all methods return a *DomainError that says which, and change nothing.
type ComplexLog struct {
	Y rev.Vector[complex128] `rev:"acc"`
	X rev.Vector[complex128] `rev:"in"`
}

// NewComplexLog returns the kernel over gonum vectors, sharing their storage. It
// panics with mat.ErrShape if they differ in length.
func NewComplexLog(y, x cblas128.Vector) ComplexLog {
	k := ComplexLog{Y: viewComplex(y), X: viewComplex(x)}
	k.checkShape()
	return k
}

func (k *ComplexLog) checkShape() {
	if k.Y.Data == nil {
		k.Y.N = k.X.N // that of its cotangent
	}
	if k.Y.N != k.X.N {
		panic(mat.ErrShape)
	}
}

func (k *ComplexLog) check() error {
	rev.Check(k)
	k.checkShape()
	for i := range k.X.N {
		if k.X.Data[i*k.X.Inc] == 0 {
			return &DomainError{Func: "log", Args: []float64{0, 0}, Index: i}
		}
	}
	return nil
}

// Forward computes Y += log(x), or returns a *DomainError.
func (k ComplexLog) Forward() error {
	var none ComplexLog
	return k.run(1, &none, &none, &none)
}

// Inverse computes Y -= log(x), or returns a *DomainError.
func (k ComplexLog) Inverse() error {
	var none ComplexLog
	return k.run(-1, &none, &none, &none)
}

// Adjoint computes Y -= log(x) and x̄ += ȳ/conj(x), or returns a *DomainError.
func (k ComplexLog) Adjoint(g ComplexLog) error {
	var none ComplexLog
	return k.run(-1, &g, &none, &none)
}

// Tangent computes Y += log(x) and ẏ += ẋ/x, or returns a *DomainError.
func (k ComplexLog) Tangent(t ComplexLog) error {
	var none ComplexLog
	return k.run(1, &none, &t, &none)
}

// AdjointTangent computes what Adjoint does, ẏ -= ẋ/x, and the tangent of the
// gradient in gt, or returns a *DomainError.
func (k ComplexLog) AdjointTangent(g, t, gt ComplexLog) error { return k.run(-1, &g, &t, &gt) }

// run adds sign times the logarithms to y, sign·ẋ/x to ẏ, and the gradients to x̄
// and ẋ̄, of what there is.
func (k *ComplexLog) run(sign float64, g, t, gt *ComplexLog) error {
	err := k.check()
	rev.CheckLike(k, g, t, gt)
	if err != nil {
		return err
	}
	for i := range k.X.N {
		x := k.X.Data[i*k.X.Inc]
		if k.Y.Data != nil {
			k.Y.Data[i*k.Y.Inc] += scale(sign, complexLog(x))
		}
		gy, dx := elementOf(g.Y, i), elementOf(t.X, i)/x
		if t.Y.Data != nil && t.X.Data != nil {
			t.Y.Data[i*t.Y.Inc] += scale(sign, dx)
		}
		if g.X.Data != nil && g.Y.Data != nil {
			g.X.Data[i*g.X.Inc] += gy / cmplx.Conj(x)
		}
		if gt.X.Data != nil {
			d := elementOf(gt.Y, i) - times(cmplx.Conj(dx), gy)
			gt.X.Data[i*gt.X.Inc] += d / cmplx.Conj(x)
		}
	}
	return nil
}

// complexLog returns log(x), with the magnitude of finite numbers brought to where it
// neither overflows nor is subnormal.
func complexLog(x complex128) complex128 {
	var s float64
	switch m := max(math.Abs(real(x)), math.Abs(imag(x))); {
	case m > 0x1p1000 && m <= math.MaxFloat64:
		s = 0x1p-100
	case m < 0x1p-900:
		s = 0x1p100
	default:
		return cmplx.Log(x)
	}
	return complex(math.Log(cmplx.Abs(scale(s, x)))-math.Log(s), cmplx.Phase(x))
}
