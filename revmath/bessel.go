package revmath

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// Bessel is the kernel
//
//	y_i += J_ν(x_i) = Σ_k (-1)^k/(k!·Γ(k+ν+1))·(x_i/2)^(2k+ν),
//
// the Bessel function of the first kind of the order ν >= 0 (Abramowitz and Stegun,
// Handbook of Mathematical Functions, 9.1.10). Its derivatives are those of the series.
//
// If ν is not an integer, x must not be negative, and the derivatives at x = 0 that are
// infinite come out as 0. A negative x there, and an order that is negative, above 1000
// or NaN, is a *rev.DomainError, and nothing is changed.
//
// Terms of both signs cancel. The largest is about I_ν(|x|), which grows like
// exp|x|/√(2π|x|). In floating point the error is below 40·ε·I_ν(|x|), so beyond
// |x| = 30 no digit is left. In fixed point it is below 40·I_ν(|x|) units in the last
// place, and terms leave the range beyond |x| = 16.
type Bessel[T rev.Real] struct {
	Y  rev.Vector[T] `rev:"acc" shape:"n"`
	X  rev.Vector[T] `rev:"in" shape:"n"`
	Nu float64
}

// NewBessel returns the kernel over gonum vectors, sharing their storage.
func NewBessel(y, x *mat.VecDense, nu float64) Bessel[float64] {
	return Bessel[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x), Nu: nu}
}

// Forward computes Y += J_ν(x).
func (k Bessel[T]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes Y -= J_ν(x).
func (k Bessel[T]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes Y -= J_ν(x) and x̄ += J_ν′(x)·ȳ.
func (k Bessel[T]) Adjoint(g Bessel[T]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Y += J_ν(x) and ẏ += J_ν′(x)·ẋ.
func (k Bessel[T]) Tangent(t Bessel[T]) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds the
// tangent of the gradient in gt.
func (k Bessel[T]) AdjointTangent(g, t, gt Bessel[T]) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel.
func (k Bessel[T]) Run(p rev.Pass[Bessel[T]]) error {
	n, f := math.Modf(k.Nu)
	if !(k.Nu >= 0 && k.Nu <= 1000) {
		return &rev.DomainError{Func: "Bessel: the order", Args: []float64{k.Nu}}
	}
	for i := 0; f > 0 && i < k.X.N; i++ {
		if x := fixed.Float(k.X.Data[i*k.X.Inc]); x < 0 {
			return &rev.DomainError{Func: "Bessel", Args: []float64{k.Nu, x}, Index: i}
		}
	}
	series := func(k *Bessel[T]) besselSeries[T] {
		return besselSeries[T]{Y: k.Y, X: k.X, N: int(n), F: f, Gamma: math.Gamma(1 + f)}
	}
	q := rev.Pass[besselSeries[T]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent,
		G: series(&p.G), T: series(&p.T), GT: series(&p.GT),
	}
	return series(&k).Run(q)
}
