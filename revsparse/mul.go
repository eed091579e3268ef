package revsparse

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/rev"
)

// Mul is the kernel
//
//	C += α·op(A)·B
//
// of a sparse matrix A and dense matrices B and C. op(A) is A or, if Trans is set, Aᵀ
// (not conjugated). A nil Alpha counts as 1. Let H be the conjugate transpose, which is
// the transpose of real matrices. The derivatives are
//
//	B̄ += conj(α)·op(A)ᴴ·C̄,  Ā_ij += conj(α)·(C̄·Bᴴ)_ij at the entries of A,
//	ᾱ += Σ C̄·conj(op(A)·B),  Ċ += α̇·op(A)·B + α·(op(Ȧ)·B + op(A)·Ḃ)
//
// If A is transposed, (B·C̄ᴴ)_ij is conjugated. The second order follows from the product rule
// for three factors.
//
// For one column, and for up to 16 columns of floats, Adjoint reads A once, whatever it
// computes. For more columns it reads A and B for C and ᾱ, and a transposed copy of A
// and C̄ for B̄. Ā comes from one of these. The structure of the copy is kept between
// calls as long as A has the same structure.
//
// In floating point an element of op(A)·B, the sum of k entries, is within
// k·ε·Σ|a_ij·b_jl|. Its product with α is rounded once more. With up to 16 columns, the
// terms of a transposed product may be added to an element of C one by one. Inverse
// then restores it within a unit in the last place for each. In fixed point the sum is
// exact and rounded once, and so is its product with α. In a transposed product of one
// column, each α·b is rounded instead, and its product with each entry. Products that
// go into gradients are rounded too.
//
// Products with 1, 2 to 16, and more columns use different loops. Within one of these, a
// column has the same bits whatever the others hold. Workers never change bits. Other outputs
// change only the bits of ᾱ. Workers share the rows in blocks of about the same number of
// entries. If there is one column of floats, they also share a row of more than 16384
// entries. In other products one worker handles a row, or a column of the transpose.
type Mul[T rev.Number, I Index] struct {
	C       rev.General[T] `rev:"acc" shape:"Trans ? k,n : m,n"`
	Alpha   *T             `rev:"in,optional"`
	A       CSR[T, I]      `rev:"in" shape:"m,k"`
	B       rev.General[T] `rev:"in" shape:"Trans ? m,n : k,n"`
	Trans   bool
	Workers int // 0 means GOMAXPROCS
}

// NewMul returns the kernel that adds to c, over gonum's *mat.Dense or *mat.VecDense,
// sharing their storage. Another type panics. For complex matrices, rev.ViewCDense makes
// an operand of Mul[complex128, I].
func NewMul[I Index](c mat.Matrix, a CSR[float64, I], b mat.Matrix) Mul[float64, I] {
	return Mul[float64, I]{C: viewDense(c), A: a, B: viewDense(b)}
}

// NewMulTrans is NewMul for the transpose of a. If a matrix is stored by columns, let a
// be the CSR of its transpose: this is then the product with the matrix itself.
func NewMulTrans[I Index](c mat.Matrix, a CSR[float64, I], b mat.Matrix) Mul[float64, I] {
	return Mul[float64, I]{C: viewDense(c), A: a, B: viewDense(b), Trans: true}
}

// viewDense returns the view of a *mat.Dense, or of a *mat.VecDense as a matrix of one
// column. For nil it returns an absent operand.
func viewDense(m mat.Matrix) rev.General[float64] {
	switch m := m.(type) {
	case nil:
		return rev.ViewDense(nil)
	case *mat.VecDense:
		x := rev.ViewVec(m)
		return rev.General[float64]{Rows: x.N, Cols: 1, Data: x.Data, Stride: x.Inc}
	case *mat.Dense:
		return rev.ViewDense(m)
	}
	panic(rev.ShapeError[Mul[float64, int]]("C or B", "is a %T, not a *mat.Dense or a *mat.VecDense: copy it to a *mat.Dense", m))
}

// valueOrOne returns *x, or 1 if x is nil.
func valueOrOne[T rev.Number](x *T) T {
	if x == nil {
		return number.One[T]()
	}
	return *x
}

// product computes c += sign·alpha·op(A)·b for the values a of A. It does nothing if an
// operand is nil.
func (k *Mul[T, I]) product(sign int, c rev.General[T], alpha T, a []T, b rev.General[T]) {
	if c.Data == nil || a == nil || b.Data == nil {
		return
	}
	p := pass[T, I]{a: k.A.With(a), alpha: alpha, beta: alpha, outSign: sign, wSign: sign, flip: k.Trans, workers: k.Workers}
	if k.Trans {
		p.v, p.w = b, c
	} else {
		p.u, p.out = b, c
	}
	p.run()
}

// adjoint computes c += sign·alpha·op(A)·b. With gc the cotangent of the product without its
// sign, it adds the cotangents of the factors to gb, ga and galpha. Nil results are skipped.
func (k *Mul[T, I]) adjoint(sign int, c rev.General[T], alpha T, a []T, b, gc, gb rev.General[T], ga []T, galpha *T) {
	if gc.Data == nil || gb.Data == nil && ga == nil && galpha == nil {
		k.product(sign, c, alpha, a, b)
		return
	}
	if a == nil || b.Data == nil {
		return
	}
	p := pass[T, I]{a: k.A.With(a), ga: ga, gamma: number.Conj(alpha), sum: galpha, flip: k.Trans, workers: k.Workers}
	if k.Trans {
		p.u, p.out, p.alpha = gc, gb, number.Conj(alpha)
		p.v, p.w, p.beta, p.wSign = b, c, alpha, sign
	} else {
		p.u, p.out, p.alpha, p.outSign = b, c, alpha, sign
		p.v, p.w, p.beta = gc, gb, number.Conj(alpha)
	}
	p.run()
}

// Run implements rev.Kernel. It returns no error.
func (k Mul[T, I]) Run(p rev.Pass[Mul[T, I]]) error {
	CheckOperand[Mul[T, I]](&k.A, "A")
	g, t, gt := &p.G, &p.T, &p.GT
	alpha, a, b := valueOrOne(k.Alpha), k.A.Data, k.B
	if !p.Adjoint && !p.Tangent {
		k.product(p.Sign(), k.C, alpha, a, b)
		return nil
	}
	if t.Alpha != nil {
		k.product(p.Sign(), t.C, *t.Alpha, a, b)
	}
	k.product(p.Sign(), t.C, alpha, t.A.Data, b)
	k.product(p.Sign(), t.C, alpha, a, t.B)
	if p.Adjoint && p.Tangent {
		none := rev.General[T]{}
		k.adjoint(1, none, alpha, a, b, gt.C, gt.B, gt.A.Data, gt.Alpha)
		if t.Alpha != nil {
			k.adjoint(1, none, *t.Alpha, a, b, g.C, gt.B, gt.A.Data, nil)
		}
		k.adjoint(1, none, alpha, t.A.Data, b, g.C, gt.B, nil, gt.Alpha)
		k.adjoint(1, none, alpha, a, t.B, g.C, none, gt.A.Data, gt.Alpha)
	}
	k.adjoint(p.Sign(), k.C, alpha, a, b, g.C, g.B, g.A.Data, g.Alpha)
	return nil
}
