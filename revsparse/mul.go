package revsparse

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/workspace"
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

// mulProduct computes c += sign·alpha·op(A)·b for the values a of A. It does nothing if an
// operand is nil.
func mulProduct[T rev.Number, I Index](k *Mul[T, I], sign int, c rev.General[T], alpha T, a []T, b rev.General[T]) {
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

// mulAdjoint computes c += sign·alpha·op(A)·b. With gc the cotangent of the product without its
// sign, it adds the cotangents of the factors to gb, ga and galpha. Nil results are skipped.
func mulAdjoint[T rev.Number, I Index](k *Mul[T, I], sign int, c rev.General[T], alpha T, a []T, b, gc, gb rev.General[T], ga []T, galpha *T) {
	if gc.Data == nil || gb.Data == nil && ga == nil && galpha == nil {
		mulProduct(k, sign, c, alpha, a, b)
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

// mulRunChecked is RunChecked of Mul. It finds elements of C, also where the sum before its product with α, or α·b in a
// transposed product of one column, is out of range.
// Unless a bound from the largest numbers excludes that, it looks at one element after the other before it runs.
func mulRunChecked[T rev.Number, I Index](k *Mul[T, I], back bool) error {
	p := rev.Pass[Mul[T, I]]{Back: back}
	if number.IsFixed[T]() && k.C.Data != nil {
		CheckOperand[Mul[T, I]](&k.A, "A")
		if q := number.As[Mul[fixed.Q43, I]](*k); !isSmall(&q) {
			if i, c := firstOverflow(&q, p.Sign()); i >= 0 {
				return rev.Overflow[Mul[T, I]]("C", i, c)
			}
		}
	}
	return mulRun(k, &p)
}

// isSmall reports whether no element of a product can be out of range.
func isSmall[I Index](k *Mul[fixed.Q43, I]) bool {
	terms := 0 // of a sum
	if k.Trans {
		w := workspace.Get[*columnCounts]()
		w.n = workspace.Zeros(w.n, k.A.Cols)
		for _, j := range k.A.Ind {
			w.n[j]++
			terms = max(terms, w.n[j])
		}
		workspace.Put(w)
	} else {
		for i := range k.A.Rows {
			terms = max(terms, int(k.A.Ptr[i+1]-k.A.Ptr[i]))
		}
	}
	alpha, n, b := math.Ldexp(float64(valueOrOne(k.Alpha).AbsSat()), -fixed.FracBits), float64(terms), largest(k.B)
	sum := float64(math.Ldexp(float64(fixedpoint.Largest(k.A.Data))*b, -fixed.FracBits)*n) + n
	sum = float64(sum * max(1, alpha))
	// In a transposed product of one column α·b comes first. It is a number of its own, whose rounding adds at most 2¹⁹
	// units to a term.
	first := k.Trans && k.C.Cols == 1
	return sum+largest(k.C) < 1<<62 && (!first || float64(alpha*b) < 1<<62)
}

type columnCounts struct{ n []int }

// largest is fixedpoint.Largest of a matrix.
func largest(m rev.General[fixed.Q43]) float64 {
	if m.Stride == m.Cols && m.Rows > 0 {
		return float64(fixedpoint.Largest(m.Data[:m.Rows*m.Cols]))
	}
	var all uint64
	for i := range m.Rows {
		all |= fixedpoint.Largest(m.Row(i))
	}
	return float64(all)
}

// firstOverflow returns the row and the column of the first element of the product that is out of range, or -1 and -1.
func firstOverflow[I Index](k *Mul[fixed.Q43, I], sign int) (row, col int) {
	a, alpha := k.A, valueOrOne(k.Alpha)
	if k.Trans {
		a = a.Transpose()
	}
	for i := range a.Rows {
		begin, end := int(a.Ptr[i]), int(a.Ptr[i+1])
		for c := range k.C.Cols {
			var s fixedpoint.Exact
			fits := true
			for q := begin; q < end; q++ {
				v, b := a.Data[q], k.B.Data[int(a.Ind[q])*k.B.Stride+c]
				if !k.Trans || k.C.Cols > 1 {
					s.AddProduct(v, b)
					continue
				}
				w, err := alpha.MulChecked(b)
				s.AddRounded(v, w)
				fits = fits && err == nil
			}
			if old := k.C.Data[i*k.C.Stride+c]; k.Trans && k.C.Cols == 1 || alpha == fixed.One {
				_, ok := s.AddTo(old, 0, sign)
				fits = fits && ok
			} else {
				sum, ok := s.AddTo(0, 0, 1)
				fits = ok && fixedpoint.SumFits(old, sign, alpha, sum)
			}
			if !fits {
				return i, c
			}
		}
	}
	return -1, -1
}

// mulRun is Run of Mul. It returns no error.
func mulRun[T rev.Number, I Index](k *Mul[T, I], p *rev.Pass[Mul[T, I]]) error {
	CheckOperand[Mul[T, I]](&k.A, "A")
	g, t, gt := &p.G, &p.T, &p.GT
	alpha, a, b := valueOrOne(k.Alpha), k.A.Data, k.B
	if !p.Adjoint && !p.Tangent {
		mulProduct(k, p.Sign(), k.C, alpha, a, b)
		return nil
	}
	if t.Alpha != nil {
		mulProduct(k, p.Sign(), t.C, *t.Alpha, a, b)
	}
	mulProduct(k, p.Sign(), t.C, alpha, t.A.Data, b)
	mulProduct(k, p.Sign(), t.C, alpha, a, t.B)
	if p.Adjoint && p.Tangent {
		none := rev.General[T]{}
		mulAdjoint(k, 1, none, alpha, a, b, gt.C, gt.B, gt.A.Data, gt.Alpha)
		if t.Alpha != nil {
			mulAdjoint(k, 1, none, *t.Alpha, a, b, g.C, gt.B, gt.A.Data, nil)
		}
		mulAdjoint(k, 1, none, alpha, t.A.Data, b, g.C, gt.B, nil, gt.Alpha)
		mulAdjoint(k, 1, none, alpha, a, t.B, g.C, none, gt.A.Data, gt.Alpha)
	}
	mulAdjoint(k, p.Sign(), k.C, alpha, a, b, g.C, g.B, g.A.Data, g.Alpha)
	return nil
}
