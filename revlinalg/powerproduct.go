package revlinalg

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/ulog"
)

// PowerProduct is the kernel
//
//	y_i *= Π_j x_j^a_ij,  that is  log y += A·log x,
//
// where Y and X are logs and A is a matrix of exponents, numbers as they are:
// monomials, changes of units, rates of reactions. With η = log y, ξ = log x,
//
//	ξ̄ += Aᵀ·η̄,  Ā += η̄·ξᵀ,  η̇ += A·ξ̇ + Ȧ·ξ.
//
// Over fixed.Q43 the logs are those of ulog.Fixed, and powers are taken and
// multiplied as theirs are, modulo 2⁶⁴-1 units: exactly for whole exponents, and
// rounded once, to nearest even, for each that has a fraction. Forward and
// Inverse round alike, so Inverse restores Y to the bit in every case, also
// where logs wrap. Cotangents are plain fixed-point numbers; the products in
// them are rounded. Over floats an element of A·ξ is within n·ε·Σ_j|a_ij·ξ_j|,
// and Inverse restores Y to within the rounding of a sum and a difference.
//
// If one of the x_j is zero (or infinite or NaN, over floats), or one of the
// exponents not finite, all methods return an error that names it and wraps
// ulog.ErrDivideByZero, ulog.ErrUndefined or ulog.ErrNaN, and change nothing:
// neither the power nor its derivative by the exponent, log x_j, could be
// undone. The y_i may be zero, and stay zero.
type PowerProduct[T rev.Real] struct {
	Y rev.Vector[T]  `rev:"acc"`
	A rev.General[T] `rev:"in"`
	X rev.Vector[T]  `rev:"in"`
}

// NewPowerProduct returns the kernel over gonum vectors of logs and a matrix of
// exponents, sharing their storage. It panics with mat.ErrShape if A has not as
// many rows as y has elements and columns as x.
func NewPowerProduct(y *mat.VecDense, a *mat.Dense, x *mat.VecDense) PowerProduct[float64] {
	if r, c := a.Dims(); r != y.Len() || c != x.Len() {
		panic(mat.ErrShape)
	}
	return PowerProduct[float64]{Y: rev.ViewVec(y), A: rev.ViewDense(a), X: rev.ViewVec(x)}
}

// Forward computes y *= Π x^a.
func (k PowerProduct[T]) Forward() error { return k.multiply(false) }

// Inverse computes y /= Π x^a.
func (k PowerProduct[T]) Inverse() error { return k.multiply(true) }

func (k PowerProduct[T]) multiply(back bool) error {
	rev.Check(&k)
	outputs := k.Y.Data != nil
	if k.A.Cols != k.X.N || (outputs || k.Y.N != 0) && k.A.Rows != k.Y.N {
		panic(mat.ErrShape)
	}
	if err := k.checkNumbers(); err != nil {
		return err
	}
	if !outputs {
		return nil
	}
	for i := range k.Y.N {
		y := &k.Y.Data[i*k.Y.Inc]
		*y = logTimes(*y, k.product(i), back)
	}
	return nil
}

// product returns log Π_j x_j^a_ij.
func (k PowerProduct[T]) product(i int) T {
	if !isFixed[T]() {
		return dot(row(k.A, i), k.X)
	}
	var f ulog.Fixed
	for j, a := range k.A.Row(i) {
		f = f.Mul(ulog.Fixed{Log: fixed.Q43(k.X.Data[j*k.X.Inc])}.Pow(fixed.Q43(a)))
	}
	return T(f.Log)
}

func (k PowerProduct[T]) checkNumbers() error {
	if err := checkFactors("PowerProduct", k.X); err != nil {
		return err
	}
	if isFixed[T]() {
		return nil
	}
	for i := range k.A.Rows {
		for j, a := range k.A.Row(i) {
			if !isFinite(float64(a)) {
				return fmt.Errorf("revlinalg: PowerProduct: exponent %d, %d is %v: %w", i, j, a, ulog.ErrUndefined)
			}
		}
	}
	return nil
}

// Adjoint computes y /= Π x^a and ξ̄ += Aᵀ·η̄, Ā += η̄·ξᵀ.
func (k PowerProduct[T]) Adjoint(g PowerProduct[T]) error {
	rev.Check(&k)
	rev.CheckLike(&k, &g)
	if err := k.Inverse(); err != nil {
		return err
	}
	k.addGradient(g, g.Y)
	return nil
}

// addGradient adds the gradient for the cotangents y to g.
func (k PowerProduct[T]) addGradient(g PowerProduct[T], y rev.Vector[T]) {
	if y.Data == nil {
		return
	}
	for i := range k.A.Rows {
		v := y.Data[i*y.Inc]
		if g.X.Data != nil {
			axpy(v, row(k.A, i), g.X)
		}
		if g.A.Data != nil {
			axpy(v, k.X, row(g.A, i))
		}
	}
}

// derivative returns element i of A·ξ̇ + Ȧ·ξ.
func (k PowerProduct[T]) derivative(t PowerProduct[T], i int) T {
	var d T
	if t.X.Data != nil {
		d += dot(row(k.A, i), t.X)
	}
	if t.A.Data != nil {
		d += dot(row(t.A, i), k.X)
	}
	return d
}

// Tangent computes y *= Π x^a and η̇ += A·ξ̇ + Ȧ·ξ.
func (k PowerProduct[T]) Tangent(t PowerProduct[T]) error {
	rev.Check(&k)
	rev.CheckLike(&k, &t)
	if err := k.Forward(); err != nil {
		return err
	}
	if t.Y.Data != nil {
		for i := range k.A.Rows {
			t.Y.Data[i*t.Y.Inc] += k.derivative(t, i)
		}
	}
	return nil
}

// AdjointTangent computes what Adjoint does, η̇ -= A·ξ̇ + Ȧ·ξ, and in gt the
// tangents of the gradient, Aᵀ·η̄̇ + Ȧᵀ·η̄ and η̄̇·ξᵀ + η̄·ξ̇ᵀ.
func (k PowerProduct[T]) AdjointTangent(g, t, gt PowerProduct[T]) error {
	rev.Check(&k)
	rev.CheckLike(&k, &g, &t, &gt)
	if err := k.Adjoint(g); err != nil {
		return err
	}
	if t.Y.Data != nil {
		for i := range k.A.Rows {
			t.Y.Data[i*t.Y.Inc] -= k.derivative(t, i)
		}
	}
	k.addGradient(gt, gt.Y)
	if g.Y.Data == nil {
		return nil
	}
	for i := range k.A.Rows {
		v := g.Y.Data[i*g.Y.Inc]
		if gt.X.Data != nil && t.A.Data != nil {
			axpy(v, row(t.A, i), gt.X)
		}
		if gt.A.Data != nil && t.X.Data != nil {
			axpy(v, t.X, row(gt.A, i))
		}
	}
	return nil
}
