package revlinalg

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// Axpy is the kernel
//
//	Y += α·X
//
// of two vectors of the same length, real or complex, with the derivatives
//
//	ᾱ += Σ conj(x_i)·ȳ_i,  x̄ += conj(α)·ȳ,  ẏ += α̇·x + α·ẋ
//
// and, of second order,
//
//	ġα += Σ conj(x_i)·ġy_i + conj(ẋ_i)·ȳ_i,  ġx += conj(α)·ġy + conj(α̇)·ȳ.
//
// Each product is rounded once. A complex product is within 2ε times its magnitude. In
// fixed point, products below 2²⁰ do not wrap, and the sum for ᾱ is rounded once.
type Axpy[T rev.Number] struct {
	Y     rev.Vector[T] `rev:"acc" shape:"n"`
	Alpha *T            `rev:"in"`
	X     rev.Vector[T] `rev:"in" shape:"n"`
}

// axpyRun is Run of Axpy. It returns no error.
func axpyRun[T rev.Number](k *Axpy[T], p *rev.Pass[Axpy[T]]) error {
	alpha, sign := *k.Alpha, p.Sign()
	vector.AddScaledAt(sign, alpha, &k.X, &k.Y)
	if !p.Adjoint && !p.Tangent {
		return nil
	}
	if p.T.Alpha != nil {
		vector.AddScaledAt(sign, *p.T.Alpha, &k.X, &p.T.Y)
		vector.AxpyAt(number.Conj(*p.T.Alpha), &p.G.Y, &p.GT.X)
	}
	vector.AddScaledAt(sign, alpha, &p.T.X, &p.T.Y)
	if p.G.Alpha != nil {
		*p.G.Alpha += vector.DotAt(&k.X, &p.G.Y)
	}
	vector.AxpyAt(number.Conj(alpha), &p.G.Y, &p.G.X)
	if p.GT.Alpha != nil {
		*p.GT.Alpha += vector.DotAt(&k.X, &p.GT.Y) + vector.DotAt(&p.T.X, &p.G.Y)
	}
	vector.AxpyAt(number.Conj(alpha), &p.GT.Y, &p.GT.X)
	return nil
}

// axpyRunChecked is RunChecked of Axpy. It finds elements of Y.
func axpyRunChecked[T rev.Number](k *Axpy[T], back bool) error {
	if !number.IsFixed[T]() {
		return axpyRun(k, &rev.Pass[Axpy[T]]{Back: back})
	}
	sign := signOf(back)
	if q := (*Axpy[fixed.Q43])(unsafe.Pointer(k)); k.Y.Data != nil {
		if i := vector.AxpyChecked(sign, *q.Alpha, &q.X, &q.Y); i >= 0 {
			return rev.Overflow[Axpy[T]]("Y", i)
		}
	}
	return nil
}

// signOf returns -1 for a pass back, else 1.
func signOf(back bool) int {
	if back {
		return -1
	}
	return 1
}
