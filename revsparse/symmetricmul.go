package revsparse

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// SymmetricMul is the kernel
//
//	C += α·S·B,  S = A + Aᵀ - diag(A)
//
// of a symmetric sparse matrix S of which A has one triangle with the diagonal, and
// dense matrices B and C. An entry of A off the diagonal stands for itself and for
// its mirror image, so a matrix of entries on both sides is understood too. A nil
// Alpha stands for 1. The derivatives are
//
//	B̄ += α·S·C̄,  Ā_ij += α·(C̄_i·B_j + C̄_j·B_i) for i ≠ j, and α·C̄_i·B_i for i = j,
//	ᾱ += Σ C̄·(S·B),  Ċ += α̇·S·B + α·(Ṡ·B + S·Ḃ)
//
// of rows of B and C, Ā at the entries of A alone.
//
// A product of one column goes over A once: half the memory of a product with S.
// With more columns it goes over A twice, the second time over a transposed copy if
// there are more than 16, or in fixed point.
//
// An element of C takes two sums, or with one column one sum and one product at a
// time: Inverse restores it within an ulp, of the largest value on the way, for each.
// In fixed point sums are exact and rounded once, and it is restored to the bit. The
// bits do not depend on the number of workers.
type SymmetricMul[T rev.Real, I Index] struct {
	C       rev.General[T] `rev:"acc"`
	Alpha   *T             `rev:"in"`
	A       CSR[T, I]      `rev:"in"`
	B       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NewSymmetricMul returns the kernel over gonum's *mat.Dense or *mat.VecDense,
// sharing their storage; another type panics. It panics with mat.ErrShape if the
// operands do not fit together.
func NewSymmetricMul[I Index](c mat.Matrix, a CSR[float64, I], b mat.Matrix) SymmetricMul[float64, I] {
	k := SymmetricMul[float64, I]{C: dense(c), A: a, B: dense(b)}
	k.checkShape()
	return k
}

func (k *SymmetricMul[T, I]) checkShape() {
	k.A.check()
	n := k.A.Rows
	if k.C.Data == nil {
		k.C.Rows, k.C.Cols = n, k.B.Cols // those of its cotangent
	}
	if k.A.Cols != n || k.C.Rows != n || k.B.Rows != n || k.C.Cols != k.B.Cols {
		panic(mat.ErrShape)
	}
}

func (k *SymmetricMul[T, I]) check() {
	rev.Check(k)
	k.checkShape()
}

func (k *SymmetricMul[T, I]) alpha() T {
	if k.Alpha == nil {
		return one[T]()
	}
	return *k.Alpha
}

// symmetricScratch is what the methods need for their own.
type symmetricScratch[T rev.Real, I Index] struct {
	strict CSR[T, I] // A without its diagonal
	h, h2  []T       // for each entry
}

// product computes c += alpha·S·b, or -= if sub, for the values a of A, unless an
// operand is nil.
func (k *SymmetricMul[T, I]) product(c rev.General[T], alpha T, a []T, b rev.General[T], sub bool) {
	if c.Data == nil || a == nil || b.Data == nil {
		return
	}
	p := pass[T, I]{a: k.A.With(a), u: b, out: c, alpha: alpha, subOut: sub, workers: k.Workers}
	if b.Cols == 1 {
		p.v, p.w, p.mirror = b, c, true
		p.run()
		return
	}
	p.run()
	s := workspace.Get[symmetricScratch[T, I]]()
	s.withoutDiagonal(k.A.With(a))
	pass[T, I]{a: s.strict, v: b, w: c, beta: alpha, subW: sub, workers: k.Workers}.run()
	workspace.Put(s)
}

// withoutDiagonal makes strict a copy of a without its diagonal.
func (s *symmetricScratch[T, I]) withoutDiagonal(a CSR[T, I]) {
	n := len(a.Ind)
	t := CSR[T, I]{
		Rows: a.Rows, Cols: a.Cols, Ptr: workspace.Grow(s.strict.Ptr, a.Rows+1),
		Ind: workspace.Grow(s.strict.Ind, n), Data: workspace.Grow(s.strict.Data, n),
	}
	t.Ptr[0] = 0
	q := I(0)
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			if int(a.Ind[p]) != i {
				t.Ind[q], t.Data[q] = a.Ind[p], a.Data[p]
				q++
			}
		}
		t.Ptr[i+1] = q
	}
	t.Ind, t.Data = t.Ind[:q], t.Data[:q]
	s.strict = t
}

// addGradient adds alpha times the derivatives of Σ gc·(S·b) by the entries of A to
// ga, and by alpha to galpha. It leaves out what is nil.
func (k *SymmetricMul[T, I]) addGradient(alpha T, a []T, gc, b rev.General[T], ga []T, galpha *T) {
	if a == nil {
		galpha = nil
	}
	if gc.Data == nil || b.Data == nil || ga == nil && galpha == nil || len(k.A.Ind) == 0 {
		return
	}
	s := workspace.Get[symmetricScratch[T, I]]()
	s.h, s.h2 = workspace.Zeros(s.h, len(k.A.Ind)), workspace.Zeros(s.h2, len(k.A.Ind))
	p := pass[T, I]{a: k.A.With(nil), v: gc, u: b, ga: s.h, gamma: one[T](), workers: k.Workers}
	p.run()
	p.v, p.u, p.ga = b, gc, s.h2
	p.run()
	var sum T
	for i := range k.A.Rows {
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			h := s.h[p]
			if int(k.A.Ind[p]) != i {
				h += s.h2[p]
			}
			if ga != nil {
				ga[p] += mul(alpha, h)
			}
			if galpha != nil {
				sum += mul(a[p], h)
			}
		}
	}
	if galpha != nil {
		*galpha += sum
	}
	workspace.Put(s)
}

// Forward computes C += α·S·B.
func (k SymmetricMul[T, I]) Forward() {
	k.check()
	k.product(k.C, k.alpha(), k.A.Data, k.B, false)
}

// Inverse computes C -= α·S·B.
func (k SymmetricMul[T, I]) Inverse() {
	k.check()
	k.product(k.C, k.alpha(), k.A.Data, k.B, true)
}

// Adjoint computes C -= α·S·B and the cotangents of A, B and α.
func (k SymmetricMul[T, I]) Adjoint(g SymmetricMul[T, I]) {
	k.check()
	rev.CheckLike(&k, &g)
	k.product(k.C, k.alpha(), k.A.Data, k.B, true)
	k.product(g.B, k.alpha(), k.A.Data, g.C, false)
	k.addGradient(k.alpha(), k.A.Data, g.C, k.B, g.A.Data, g.Alpha)
}

// Tangent computes C += α·S·B and the tangent of C.
func (k SymmetricMul[T, I]) Tangent(t SymmetricMul[T, I]) {
	k.check()
	rev.CheckLike(&k, &t)
	k.product(k.C, k.alpha(), k.A.Data, k.B, false)
	k.tangent(&t, false)
}

// tangent adds α̇·S·B + α·(Ṡ·B + S·Ḃ) to Ċ, or subtracts it.
func (k *SymmetricMul[T, I]) tangent(t *SymmetricMul[T, I], sub bool) {
	if t.Alpha != nil {
		k.product(t.C, *t.Alpha, k.A.Data, k.B, sub)
	}
	k.product(t.C, k.alpha(), t.A.Data, k.B, sub)
	k.product(t.C, k.alpha(), k.A.Data, t.B, sub)
}

// AdjointTangent computes what Adjoint does, takes back the tangent of C, and adds
// the tangents of the cotangents of A, B and α.
func (k SymmetricMul[T, I]) AdjointTangent(g, t, gt SymmetricMul[T, I]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	alpha, a, b := k.alpha(), k.A.Data, k.B
	k.tangent(&t, true)
	k.product(gt.B, alpha, a, gt.C, false)
	k.product(gt.B, alpha, t.A.Data, g.C, false)
	k.addGradient(alpha, a, gt.C, b, gt.A.Data, gt.Alpha)
	k.addGradient(alpha, a, g.C, t.B, gt.A.Data, gt.Alpha)
	k.addGradient(alpha, t.A.Data, g.C, b, nil, gt.Alpha)
	if t.Alpha != nil {
		k.product(gt.B, *t.Alpha, a, g.C, false)
		k.addGradient(*t.Alpha, a, g.C, b, gt.A.Data, nil)
	}
	k.product(k.C, alpha, a, b, true)
	k.product(g.B, alpha, a, g.C, false)
	k.addGradient(alpha, a, g.C, b, g.A.Data, g.Alpha)
}
