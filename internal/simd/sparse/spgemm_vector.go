//go:build amd64 && !noasm

package sparse

import "revnum/internal/simd/cpu"

func (s *SpGEMM[T, I]) rows(lo, hi int) int {
	n := hi - lo
	product, left, right := s.C != nil, s.GA != nil, s.GB != nil
	switch {
	case tier == cpu.Generic:
		return 0
	case product && left && right:
		return s.adjoint(lo, n)
	}
	// Both count the same work, so both do the same number of rows.
	if product {
		n = s.product(lo, n)
	}
	switch {
	case n == 0:
	case left && right:
		n = s.gradient(lo, n)
	case left:
		n = s.left(lo, n)
	case right:
		n = s.right(lo, n)
	}
	return n
}

func (s *SpGEMM[T, I]) product(lo, n int) int {
	switch {
	case cpu.Is64[T]() && isInt[I]():
		return spgemmProductF64I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.C[0]), cpu.F64(&s.Sums[0]), float64(s.Sign), cpu.F64(&s.B[0]), cpu.F64(&s.A[0]))
	case cpu.Is64[T]():
		return spgemmProductF64I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.C[0]), cpu.F64(&s.Sums[0]), float64(s.Sign), cpu.F64(&s.B[0]), cpu.F64(&s.A[0]))
	case isInt[I]():
		return spgemmProductF32I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.C[0]), cpu.F32(&s.Sums[0]), float32(s.Sign), cpu.F32(&s.B[0]), cpu.F32(&s.A[0]))
	default:
		return spgemmProductF32I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.C[0]), cpu.F32(&s.Sums[0]), float32(s.Sign), cpu.F32(&s.B[0]), cpu.F32(&s.A[0]))
	}
}

func (s *SpGEMM[T, I]) left(lo, n int) int {
	switch {
	case cpu.Is64[T]() && isInt[I]():
		return spgemmLeftF64I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.B[0]), cpu.F64(&s.GA[0]))
	case cpu.Is64[T]():
		return spgemmLeftF64I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.B[0]), cpu.F64(&s.GA[0]))
	case isInt[I]():
		return spgemmLeftF32I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.B[0]), cpu.F32(&s.GA[0]))
	default:
		return spgemmLeftF32I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.B[0]), cpu.F32(&s.GA[0]))
	}
}

func (s *SpGEMM[T, I]) right(lo, n int) int {
	switch {
	case cpu.Is64[T]() && isInt[I]():
		return spgemmRightF64I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.A[0]), cpu.F64(&s.GB[0]))
	case cpu.Is64[T]():
		return spgemmRightF64I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.A[0]), cpu.F64(&s.GB[0]))
	case isInt[I]():
		return spgemmRightF32I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.A[0]), cpu.F32(&s.GB[0]))
	default:
		return spgemmRightF32I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.A[0]), cpu.F32(&s.GB[0]))
	}
}

func (s *SpGEMM[T, I]) gradient(lo, n int) int {
	switch {
	case cpu.Is64[T]() && isInt[I]():
		return spgemmGradientF64I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.B[0]), cpu.F64(&s.A[0]), cpu.F64(&s.GA[0]), cpu.F64(&s.GB[0]))
	case cpu.Is64[T]():
		return spgemmGradientF64I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.B[0]), cpu.F64(&s.A[0]), cpu.F64(&s.GA[0]), cpu.F64(&s.GB[0]))
	case isInt[I]():
		return spgemmGradientF32I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.B[0]), cpu.F32(&s.A[0]), cpu.F32(&s.GA[0]), cpu.F32(&s.GB[0]))
	default:
		return spgemmGradientF32I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.B[0]), cpu.F32(&s.A[0]), cpu.F32(&s.GA[0]), cpu.F32(&s.GB[0]))
	}
}

func (s *SpGEMM[T, I]) adjoint(lo, n int) int {
	switch {
	case cpu.Is64[T]() && isInt[I]():
		return spgemmAdjointF64I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.C[0]), cpu.F64(&s.Sums[0]), float64(s.Sign), cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.B[0]), cpu.F64(&s.A[0]), cpu.F64(&s.GA[0]), cpu.F64(&s.GB[0]))
	case cpu.Is64[T]():
		return spgemmAdjointF64I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F64(&s.C[0]), cpu.F64(&s.Sums[0]), float64(s.Sign), cpu.F64(&s.GC[0]), cpu.F64(&s.W[0]), Absent64, cpu.F64(&s.B[0]), cpu.F64(&s.A[0]), cpu.F64(&s.GA[0]), cpu.F64(&s.GB[0]))
	case isInt[I]():
		return spgemmAdjointF32I64(n, i64(&s.APtr[lo]), i64(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i64(&s.BPtr[0]), i64(&s.BInd[0]), len(s.BInd), i64(&s.CPtr[lo]), i64(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.C[0]), cpu.F32(&s.Sums[0]), float32(s.Sign), cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.B[0]), cpu.F32(&s.A[0]), cpu.F32(&s.GA[0]), cpu.F32(&s.GB[0]))
	default:
		return spgemmAdjointF32I32(n, i32(&s.APtr[lo]), i32(&s.AInd[0]), len(s.AInd), len(s.BPtr)-1, i32(&s.BPtr[0]), i32(&s.BInd[0]), len(s.BInd), i32(&s.CPtr[lo]), i32(&s.CInd[0]), len(s.CInd), s.Cols, spgemmBudget, cpu.F32(&s.C[0]), cpu.F32(&s.Sums[0]), float32(s.Sign), cpu.F32(&s.GC[0]), cpu.F32(&s.W[0]), Absent32, cpu.F32(&s.B[0]), cpu.F32(&s.A[0]), cpu.F32(&s.GA[0]), cpu.F32(&s.GB[0]))
	}
}
