package revlog

import (
	"fmt"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/ulog"
)

// Powers is the kernel
//
//	y_i *= Π_j x_j^a_ij,  that is  log y += A·log x,
//
// where Y and X are logs and A is a matrix of exponents, which are plain numbers.
// Monomials, changes of units and rates of reactions have this form. With η = log y and
// ξ = log x,
//
//	ξ̄ += Aᵀ·η̄,  Ā += η̄·ξᵀ,  η̇ += A·ξ̇ + Ȧ·ξ.
//
// Over fixed.Q43 the operands are the logs of ulog.Fixed. Powers and products are as there,
// modulo 2⁶⁴-1 units. They are exact for integer exponents, and each exponent with a
// fraction causes one rounding, to nearest even. Forward and Inverse round alike, so
// Inverse always restores Y to the bit, even if logs wrap. Cotangents are plain
// fixed-point numbers, and are rounded. Over floats an element of A·ξ is within
// n·ε·Σ_j|a_ij·ξ_j|. Inverse restores Y within the rounding of a sum and a difference
// for each 256 exponents.
//
// If an x_j is zero (or, over floats, infinite or NaN), or an exponent is not finite,
// all methods change nothing. They return an error that names it and wraps
// ulog.ErrDivideByZero, ulog.ErrUndefined or ulog.ErrNaN, because neither the power nor
// its derivative by the exponent, log x_j, would have an inverse. The y_i may be zero,
// and stay zero.
type Powers[T rev.Real] struct {
	Y rev.Vector[T]  `rev:"acc" shape:"m"`
	A rev.General[T] `rev:"in" shape:"m,n"`
	X rev.Vector[T]  `rev:"in" shape:"n"`
}

// powersRun is Run of Powers. It is a revlinalg.MatMul of logs, except that
// logs of ulog.Fixed wrap in another way.
func powersRun[T rev.Real](k *Powers[T], p *rev.Pass[Powers[T]]) error {
	if err := powersCheckNumbers(k); err != nil {
		return err
	}
	logs := powersMatMul(k)
	if number.IsFixed[T]() && k.Y.Data != nil {
		w := workspace.Get[*powersScratch]()
		defer workspace.Put(w)
		w.x = workspace.Grow(w.x, k.X.N)
		for j := range w.x {
			w.x[j] = ulog.Fixed{Log: fixed.Q43(k.X.Data[j*k.X.Inc])}
		}
		for i := range k.Y.N {
			product := ulog.ProdPow(w.x, number.As[[]fixed.Q43](k.A.Row(i)))
			multiply(&k.Y.Data[i*k.Y.Inc], product, p.Back)
		}
		logs.C.Data = nil
	}
	return logs.Run(rev.Pass[revlinalg.MatMul[T]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent, G: powersMatMul(&p.G), T: powersMatMul(&p.T), GT: powersMatMul(&p.GT),
	})
}

// powersScratch has X without gaps.
type powersScratch struct{ x []ulog.Fixed }

// powersMatMul returns η += A·ξ.
func powersMatMul[T rev.Real](k *Powers[T]) revlinalg.MatMul[T] {
	return revlinalg.MatMul[T]{C: column(k.Y), A: k.A, B: column(k.X), Workers: 1}
}

// column returns v as a matrix of one column, sharing its storage.
func column[T any](v rev.Vector[T]) rev.General[T] {
	return rev.General[T]{Rows: v.N, Cols: 1, Stride: v.Inc, Data: v.Data}
}

func powersCheckNumbers[T rev.Real](k *Powers[T]) error {
	if err := checkFactors("Powers", k.X); err != nil {
		return err
	}
	if number.IsFixed[T]() {
		return nil
	}
	for i := range k.A.Rows {
		for j, a := range k.A.Row(i) {
			if !isFinite(float64(a)) {
				return fmt.Errorf("revlog: Powers: exponent %d, %d is %v: %w", i, j, a, ulog.ErrUndefined)
			}
		}
	}
	return nil
}
