//go:build amd64 && !noasm

package sparse

import (
	"slices"
	"unsafe"

	"revnum/internal/simd/cpu"
)

func sparseCols[T cpu.Float](n int) int {
	if tier == cpu.Generic {
		return min(n, sparseMost/2)
	}
	vl := cpu.Lanes[T](tier)
	for v := 8; v > 1; v /= 2 {
		if n >= v*vl {
			return v * vl
		}
	}
	return min(n, vl)
}

func i64[I Index](p *I) *int   { return (*int)(unsafe.Pointer(p)) }
func i32[I Index](p *I) *int32 { return (*int32)(unsafe.Pointer(p)) }

// isInt reports whether I is int, which has 64 bits where there is assembly.
func isInt[I Index]() bool { return unsafe.Sizeof(I(0)) == 8 }

func sparseRows[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T) {
	if tier == cpu.Generic {
		genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	switch {
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		sparseRowsAVX512F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha))
	case tier == cpu.AVX512 && cpu.Is64[T]():
		sparseRowsAVX512F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha))
	case tier == cpu.AVX512 && isInt[I]():
		sparseRowsAVX512F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha))
	case tier == cpu.AVX512:
		sparseRowsAVX512F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha))
	case cpu.Is64[T]() && isInt[I]():
		sparseRowsAVX2F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha))
	case cpu.Is64[T]():
		sparseRowsAVX2F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha))
	case isInt[I]():
		sparseRowsAVX2F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha))
	default:
		sparseRowsAVX2F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha))
	}
}

func sparseDots[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, ga, v []T, ldv int, gamma T) {
	if tier == cpu.Generic {
		genericSparseDots(n, end, base, ind, u, ldu, ga, v, ldv, gamma)
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	switch {
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		sparseDotsAVX512F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case tier == cpu.AVX512 && cpu.Is64[T]():
		sparseDotsAVX512F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case tier == cpu.AVX512 && isInt[I]():
		sparseDotsAVX512F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	case tier == cpu.AVX512:
		sparseDotsAVX512F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	case cpu.Is64[T]() && isInt[I]():
		sparseDotsAVX2F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case cpu.Is64[T]():
		sparseDotsAVX2F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case isInt[I]():
		sparseDotsAVX2F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	default:
		sparseDotsAVX2F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	}
}

func sparseRowsDots[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, ga, v []T, ldv int, gamma T) {
	if tier == cpu.Generic {
		genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
		genericSparseDots(n, end, base, ind, u, ldu, ga, v, ldv, gamma)
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	switch {
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		sparseRowsDotsAVX512F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case tier == cpu.AVX512 && cpu.Is64[T]():
		sparseRowsDotsAVX512F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case tier == cpu.AVX512 && isInt[I]():
		sparseRowsDotsAVX512F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	case tier == cpu.AVX512:
		sparseRowsDotsAVX512F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	case cpu.Is64[T]() && isInt[I]():
		sparseRowsDotsAVX2F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case cpu.Is64[T]():
		sparseRowsDotsAVX2F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv)
	case isInt[I]():
		sparseRowsDotsAVX2F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	default:
		sparseRowsDotsAVX2F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv)
	}
}

func sparseSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, a []T, v []T, ldv int, beta T, w []T, ldw int) {
	if tier == cpu.Generic {
		genericSparseSpread(n, end, base, ind, a, v, ldv, beta, w, ldw)
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	switch {
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		sparseSpreadAVX512F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&a[0]), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case tier == cpu.AVX512 && cpu.Is64[T]():
		sparseSpreadAVX512F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&a[0]), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case tier == cpu.AVX512 && isInt[I]():
		sparseSpreadAVX512F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&a[0]), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	case tier == cpu.AVX512:
		sparseSpreadAVX512F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&a[0]), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	case cpu.Is64[T]() && isInt[I]():
		sparseSpreadAVX2F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&a[0]), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case cpu.Is64[T]():
		sparseSpreadAVX2F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&a[0]), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case isInt[I]():
		sparseSpreadAVX2F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&a[0]), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	default:
		sparseSpreadAVX2F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&a[0]), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	}
}

func sparseRowsSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, v []T, ldv int, beta T, w []T, ldw int) {
	if tier == cpu.Generic {
		genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
		genericSparseSpread(n, end, base, ind, a, v, ldv, beta, w, ldw)
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	switch {
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		sparseRowsSpreadAVX512F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case tier == cpu.AVX512 && cpu.Is64[T]():
		sparseRowsSpreadAVX512F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case tier == cpu.AVX512 && isInt[I]():
		sparseRowsSpreadAVX512F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	case tier == cpu.AVX512:
		sparseRowsSpreadAVX512F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	case cpu.Is64[T]() && isInt[I]():
		sparseRowsSpreadAVX2F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case cpu.Is64[T]():
		sparseRowsSpreadAVX2F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case isInt[I]():
		sparseRowsSpreadAVX2F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	default:
		sparseRowsSpreadAVX2F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	}
}

func sparseRowsDotsSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, ga []T, gamma T, v []T, ldv int, beta T, w []T, ldw int) {
	if tier == cpu.Generic {
		genericSparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
		genericSparseDots(n, end, base, ind, u, ldu, ga, v, ldv, gamma)
		genericSparseSpread(n, end, base, ind, a, v, ldv, beta, w, ldw)
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	switch {
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		sparseRowsDotsSpreadAVX512F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case tier == cpu.AVX512 && cpu.Is64[T]():
		sparseRowsDotsSpreadAVX512F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case tier == cpu.AVX512 && isInt[I]():
		sparseRowsDotsSpreadAVX512F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	case tier == cpu.AVX512:
		sparseRowsDotsSpreadAVX512F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	case cpu.Is64[T]() && isInt[I]():
		sparseRowsDotsSpreadAVX2F64I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case cpu.Is64[T]():
		sparseRowsDotsSpreadAVX2F64I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F64(&u[0]), size*ldu, cpu.F64(&a[0]), cpu.F64(&dst[0]), size*ldd, float64(alpha), cpu.F64(&ga[0]), float64(gamma), cpu.F64(&v[0]), size*ldv, float64(beta), cpu.F64(&w[0]), size*ldw)
	case isInt[I]():
		sparseRowsDotsSpreadAVX2F32I64(n, len(end), i64(&end[0]), base, i64(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	default:
		sparseRowsDotsSpreadAVX2F32I32(n, len(end), i32(&end[0]), base, i32(&ind[0]), cpu.F32(&u[0]), size*ldu, cpu.F32(&a[0]), cpu.F32(&dst[0]), size*ldd, float32(alpha), cpu.F32(&ga[0]), float32(gamma), cpu.F32(&v[0]), size*ldv, float32(beta), cpu.F32(&w[0]), size*ldw)
	}
}

func sparseGather[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u []T) {
	switch {
	case tier == cpu.Generic:
		genericSparseGather(end, base, a, ind, out, alpha, u)
	case cpu.Is64[T]() && isInt[I]():
		sparseGatherF64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]))
	case cpu.Is64[T]():
		sparseGatherF64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]))
	case isInt[I]():
		sparseGatherF32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]))
	default:
		sparseGatherF32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]))
	}
}

func sparseScatter[T cpu.Float, I Index](end []I, base int, a []T, ind []I, v []T, beta T, w []T) {
	switch {
	case tier == cpu.Generic:
		genericSparseScatter(end, base, a, ind, v, beta, w)
	case cpu.Is64[T]() && isInt[I]():
		sparseScatterF64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&v[0]), float64(beta), cpu.F64(&w[0]))
	case cpu.Is64[T]():
		sparseScatterF64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&v[0]), float64(beta), cpu.F64(&w[0]))
	case isInt[I]():
		sparseScatterF32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&v[0]), float32(beta), cpu.F32(&w[0]))
	default:
		sparseScatterF32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&v[0]), float32(beta), cpu.F32(&w[0]))
	}
}

func sparseGatherScatter[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T) {
	switch {
	case tier == cpu.Generic:
		genericSparseGather(end, base, a, ind, out, alpha, u)
		genericSparseScatter(end, base, a, ind, v, beta, w)
	case cpu.Is64[T]() && isInt[I]():
		sparseGatherScatterF64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]), cpu.F64(&v[0]), float64(beta), cpu.F64(&w[0]))
	case cpu.Is64[T]():
		sparseGatherScatterF64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]), cpu.F64(&v[0]), float64(beta), cpu.F64(&w[0]))
	case isInt[I]():
		sparseGatherScatterF32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]), cpu.F32(&v[0]), float32(beta), cpu.F32(&w[0]))
	default:
		sparseGatherScatterF32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]), cpu.F32(&v[0]), float32(beta), cpu.F32(&w[0]))
	}
}

func sparseGatherGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v, ga []T, gamma T) {
	switch {
	case tier == cpu.Generic:
		genericSparseGather(end, base, a, ind, out, alpha, u)
		genericSparseGrad(end, base, ind, u, v, ga, gamma)
	case cpu.Is64[T]() && isInt[I]():
		sparseGatherGradF64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]), cpu.F64(&v[0]), cpu.F64(&ga[0]), float64(gamma))
	case cpu.Is64[T]():
		sparseGatherGradF64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]), cpu.F64(&v[0]), cpu.F64(&ga[0]), float64(gamma))
	case isInt[I]():
		sparseGatherGradF32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]), cpu.F32(&v[0]), cpu.F32(&ga[0]), float32(gamma))
	default:
		sparseGatherGradF32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]), cpu.F32(&v[0]), cpu.F32(&ga[0]), float32(gamma))
	}
}

func sparseGatherScatterGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T, ga []T, gamma T) {
	switch {
	case tier == cpu.Generic:
		genericSparseGather(end, base, a, ind, out, alpha, u)
		genericSparseScatter(end, base, a, ind, v, beta, w)
		genericSparseGrad(end, base, ind, u, v, ga, gamma)
	case cpu.Is64[T]() && isInt[I]():
		sparseGatherScatterGradF64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]), cpu.F64(&v[0]), float64(beta), cpu.F64(&w[0]), cpu.F64(&ga[0]), float64(gamma))
	case cpu.Is64[T]():
		sparseGatherScatterGradF64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&u[0]), cpu.F64(&v[0]), float64(beta), cpu.F64(&w[0]), cpu.F64(&ga[0]), float64(gamma))
	case isInt[I]():
		sparseGatherScatterGradF32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]), cpu.F32(&v[0]), float32(beta), cpu.F32(&w[0]), cpu.F32(&ga[0]), float32(gamma))
	default:
		sparseGatherScatterGradF32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&u[0]), cpu.F32(&v[0]), float32(beta), cpu.F32(&w[0]), cpu.F32(&ga[0]), float32(gamma))
	}
}

// pairsIn returns the number of pairs of uw that an index can refer to. The last of
// them fits into an index.
func pairsIn[I Index, T cpu.Float](uw []T) int {
	if isInt[I]() {
		return len(uw) / 2
	}
	return min(len(uw)/2, 1<<31)
}

// pairsAhead is the number of entries by which the loops over pairs prefetch.
const pairsAhead = 32

// pairsFetched returns the number of entries for which the loops prefetch pairs. It
// is zero if uw is small enough for the second-level cache. The last entries are not
// counted, because there are no indices behind them.
func pairsFetched[T cpu.Float](entries int, uw []T) int {
	if len(uw)*int(unsafe.Sizeof(T(0))) < 1<<20 {
		return 0
	}
	return max(0, entries-pairsAhead-7)
}

func sparsePairs[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, uw, v []T, beta T) bool {
	fetch := pairsFetched(len(ind), uw)
	switch {
	case tier == cpu.Generic:
		return genericSparsePairs(end, base, a, ind, out, alpha, uw, v, beta, nil, 0)
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		return sparsePairsAVX512F64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta))
	case tier == cpu.AVX512 && cpu.Is64[T]():
		return sparsePairsAVX512F64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta))
	case tier == cpu.AVX512 && isInt[I]():
		return sparsePairsAVX512F32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta))
	case tier == cpu.AVX512:
		return sparsePairsAVX512F32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta))
	case cpu.Is64[T]() && isInt[I]():
		return sparsePairsAVX2F64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta))
	case cpu.Is64[T]():
		return sparsePairsAVX2F64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta))
	case isInt[I]():
		return sparsePairsAVX2F32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta))
	default:
		return sparsePairsAVX2F32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta))
	}
}

func sparsePairsGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, uw, v []T, beta T, ga []T, gamma T) bool {
	fetch := pairsFetched(len(ind), uw)
	switch {
	case tier == cpu.Generic:
		return genericSparsePairs(end, base, a, ind, out, alpha, uw, v, beta, ga, gamma)
	case tier == cpu.AVX512 && cpu.Is64[T]() && isInt[I]():
		return sparsePairsGradAVX512F64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta), cpu.F64(&ga[0]), float64(gamma))
	case tier == cpu.AVX512 && cpu.Is64[T]():
		return sparsePairsGradAVX512F64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta), cpu.F64(&ga[0]), float64(gamma))
	case tier == cpu.AVX512 && isInt[I]():
		return sparsePairsGradAVX512F32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta), cpu.F32(&ga[0]), float32(gamma))
	case tier == cpu.AVX512:
		return sparsePairsGradAVX512F32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta), cpu.F32(&ga[0]), float32(gamma))
	case cpu.Is64[T]() && isInt[I]():
		return sparsePairsGradAVX2F64I64(len(end), i64(&end[0]), base, cpu.F64(&a[0]), i64(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta), cpu.F64(&ga[0]), float64(gamma))
	case cpu.Is64[T]():
		return sparsePairsGradAVX2F64I32(len(end), i32(&end[0]), base, cpu.F64(&a[0]), i32(&ind[0]), cpu.F64(&out[0]), float64(alpha), cpu.F64(&uw[0]), pairsIn[I](uw), fetch, cpu.F64(&v[0]), float64(beta), cpu.F64(&ga[0]), float64(gamma))
	case isInt[I]():
		return sparsePairsGradAVX2F32I64(len(end), i64(&end[0]), base, cpu.F32(&a[0]), i64(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta), cpu.F32(&ga[0]), float32(gamma))
	default:
		return sparsePairsGradAVX2F32I32(len(end), i32(&end[0]), base, cpu.F32(&a[0]), i32(&ind[0]), cpu.F32(&out[0]), float32(alpha), cpu.F32(&uw[0]), pairsIn[I](uw), fetch, cpu.F32(&v[0]), float32(beta), cpu.F32(&ga[0]), float32(gamma))
	}
}

func indexRange[I Index](ind []I) (lo, hi I) {
	n := len(ind)
	switch {
	case tier == cpu.AVX512 && isInt[I]() && n >= 8:
		var least, most [8]I
		indexRangeAVX512I64(i64(&ind[0]), n, i64(&least[0]), i64(&most[0]))
		return slices.Min(least[:]), slices.Max(most[:])
	case tier == cpu.AVX512 && !isInt[I]() && n >= 16:
		var least, most [16]I
		indexRangeAVX512I32(i32(&ind[0]), n, i32(&least[0]), i32(&most[0]))
		return slices.Min(least[:]), slices.Max(most[:])
	case tier == cpu.AVX2 && !isInt[I]() && n >= 8:
		var least, most [8]I
		indexRangeAVX2I32(i32(&ind[0]), n, i32(&least[0]), i32(&most[0]))
		return slices.Min(least[:]), slices.Max(most[:])
	}
	return genericIndexRange(ind)
}

func prefetchRow[T cpu.Float](x []T) {
	if tier != cpu.Generic {
		prefetchLines((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(T(0))))
	}
}

func spreadMost[T cpu.Float]() int {
	if tier == cpu.Generic {
		return sparseMost / 2
	}
	return 2 * cpu.Lanes[T](tier)
}
