package sparse

import "revnum/internal/simd/cpu"

// A SpGEMM holds sparse matrices C, A and B, where C has the size of A·B, and the operands of
// computations with them. SpGEMM is the usual name of the product of two sparse
// matrices. Row i of a matrix has the entries Ptr[i] to Ptr[i+1]-1. Entry p is in column
// Ind[p].
type SpGEMM[T cpu.Float, I Index] struct {
	CPtr, CInd []I
	APtr, AInd []I
	BPtr, BInd []I
	Cols       int // of B and C

	C, A, B    []T // values
	Sign       T   // the sign of the product
	GC, GA, GB []T // cotangents
	Sums, W    []T // scratch memory by columns; every W must be the marker absent
}

// The marker in W of a column in which the row of C has no entry, as bits. It is a NaN that
// no operation returns.
const (
	Absent64 = 0x7ff0_ab5e_4700_0000
	Absent32 = 0x7f8a_b5e4
)

// spgemmBudget is the largest number of products, and of entries of A and C, for one
// call. The call takes some 30 µs if the rows of B come from the second-level cache.
const spgemmBudget = 1 << 13

// Rows computes
//
//	c_ij += sign·Σ_l a_il·b_lj,  ga_il += Σ_j gc_ij·b_lj,  gb_lj += Σ_i a_il·gc_ij
//
// for rows lo, lo+1, ... of A and C, at most to hi-1, and returns the number of rows
// done. It omits what is nil. If C has several entries in one place, the last one
// gets the product, and its cotangent counts.
//
// Rows ends before a row that takes longer than a call of assembly should. If that
// is the first row, it returns 0, as it always does on the generic tier. The caller
// then does that row in Go. Rows also ends in a row that has an index outside of a
// matrix. It changes no entry of C in that row, but may have written to the other
// operands.
//
// Products are rounded before they are added, in the order of the entries of A and
// then of B. The Go code of the caller can therefore give the same bits.
func (s *SpGEMM[T, I]) Rows(lo, hi int) int {
	product, left, right := s.C != nil, s.GA != nil, s.GB != nil
	switch {
	case lo < 0 || lo > hi || hi >= len(s.APtr) || hi >= len(s.CPtr) || len(s.BPtr) == 0,
		product && (len(s.C) != len(s.CInd) || len(s.Sums) < s.Cols),
		(product || right) && len(s.A) != len(s.AInd),
		(product || left) && len(s.B) != len(s.BInd),
		(left || right) && (len(s.GC) != len(s.CInd) || len(s.W) < s.Cols),
		left && len(s.GA) != len(s.AInd),
		right && len(s.GB) != len(s.BInd):
		panic(badLength)
	case lo == hi || min(len(s.CInd), len(s.AInd), len(s.BInd)) == 0:
		return hi - lo
	}
	n := hi - lo
	switch {
	case tier == cpu.Generic:
		return 0
	case product && left && right:
		return vectorSpgemmAdjoint(s, lo, n, spgemmBudget)
	}
	// Both count the same work, so both do the same number of rows.
	if product {
		n = vectorSpgemmProduct(s, lo, n, spgemmBudget)
	}
	switch {
	case n == 0:
	case left && right:
		n = vectorSpgemmGradient(s, lo, n, spgemmBudget)
	case left:
		n = vectorSpgemmLeft(s, lo, n, spgemmBudget)
	case right:
		n = vectorSpgemmRight(s, lo, n, spgemmBudget)
	}
	return n
}
