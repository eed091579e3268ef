//go:build amd64 && !noasm

package simd

import "unsafe"

func sparseCols[T Float](n int) int {
	if tier == Generic {
		return min(n, sparseMost/2)
	}
	vl := lanes[T]()
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

func sparseRow[T Float, I Index](dst []T, alpha T, a []T, ind []I, u []T, ldu int) {
	if tier == Generic {
		genericSparseRow(dst, alpha, a, ind, u, ldu)
		return
	}
	switch {
	case tier == AVX512 && is64[T]() && isInt[I]():
		sparseRowAVX512F64I64(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), i64(&ind[0]), len(ind), f64(&u[0]), ldu)
	case tier == AVX512 && is64[T]():
		sparseRowAVX512F64I32(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), i32(&ind[0]), len(ind), f64(&u[0]), ldu)
	case tier == AVX512 && isInt[I]():
		sparseRowAVX512F32I64(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), i64(&ind[0]), len(ind), f32(&u[0]), ldu)
	case tier == AVX512:
		sparseRowAVX512F32I32(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), i32(&ind[0]), len(ind), f32(&u[0]), ldu)
	case is64[T]() && isInt[I]():
		sparseRowAVX2F64I64(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), i64(&ind[0]), len(ind), f64(&u[0]), ldu)
	case is64[T]():
		sparseRowAVX2F64I32(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), i32(&ind[0]), len(ind), f64(&u[0]), ldu)
	case isInt[I]():
		sparseRowAVX2F32I64(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), i64(&ind[0]), len(ind), f32(&u[0]), ldu)
	default:
		sparseRowAVX2F32I32(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), i32(&ind[0]), len(ind), f32(&u[0]), ldu)
	}
}

func sparseDots[T Float, I Index](ga []T, gamma T, v []T, ind []I, u []T, ldu int) {
	if tier == Generic {
		genericSparseDots(ga, gamma, v, ind, u, ldu)
		return
	}
	switch {
	case tier == AVX512 && is64[T]() && isInt[I]():
		sparseDotsAVX512F64I64(len(v), f64(&ga[0]), float64(gamma), f64(&v[0]), i64(&ind[0]), len(ind), f64(&u[0]), ldu)
	case tier == AVX512 && is64[T]():
		sparseDotsAVX512F64I32(len(v), f64(&ga[0]), float64(gamma), f64(&v[0]), i32(&ind[0]), len(ind), f64(&u[0]), ldu)
	case tier == AVX512 && isInt[I]():
		sparseDotsAVX512F32I64(len(v), f32(&ga[0]), float32(gamma), f32(&v[0]), i64(&ind[0]), len(ind), f32(&u[0]), ldu)
	case tier == AVX512:
		sparseDotsAVX512F32I32(len(v), f32(&ga[0]), float32(gamma), f32(&v[0]), i32(&ind[0]), len(ind), f32(&u[0]), ldu)
	case is64[T]() && isInt[I]():
		sparseDotsAVX2F64I64(len(v), f64(&ga[0]), float64(gamma), f64(&v[0]), i64(&ind[0]), len(ind), f64(&u[0]), ldu)
	case is64[T]():
		sparseDotsAVX2F64I32(len(v), f64(&ga[0]), float64(gamma), f64(&v[0]), i32(&ind[0]), len(ind), f64(&u[0]), ldu)
	case isInt[I]():
		sparseDotsAVX2F32I64(len(v), f32(&ga[0]), float32(gamma), f32(&v[0]), i64(&ind[0]), len(ind), f32(&u[0]), ldu)
	default:
		sparseDotsAVX2F32I32(len(v), f32(&ga[0]), float32(gamma), f32(&v[0]), i32(&ind[0]), len(ind), f32(&u[0]), ldu)
	}
}

func sparseRowDots[T Float, I Index](dst []T, alpha T, a, ga []T, gamma T, v []T, ind []I, u []T, ldu int) {
	if tier == Generic {
		genericSparseRow(dst, alpha, a, ind, u, ldu)
		genericSparseDots(ga, gamma, v, ind, u, ldu)
		return
	}
	switch {
	case tier == AVX512 && is64[T]() && isInt[I]():
		sparseRowDotsAVX512F64I64(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), f64(&ga[0]), float64(gamma), f64(&v[0]), i64(&ind[0]), len(ind), f64(&u[0]), ldu)
	case tier == AVX512 && is64[T]():
		sparseRowDotsAVX512F64I32(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), f64(&ga[0]), float64(gamma), f64(&v[0]), i32(&ind[0]), len(ind), f64(&u[0]), ldu)
	case tier == AVX512 && isInt[I]():
		sparseRowDotsAVX512F32I64(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), f32(&ga[0]), float32(gamma), f32(&v[0]), i64(&ind[0]), len(ind), f32(&u[0]), ldu)
	case tier == AVX512:
		sparseRowDotsAVX512F32I32(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), f32(&ga[0]), float32(gamma), f32(&v[0]), i32(&ind[0]), len(ind), f32(&u[0]), ldu)
	case is64[T]() && isInt[I]():
		sparseRowDotsAVX2F64I64(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), f64(&ga[0]), float64(gamma), f64(&v[0]), i64(&ind[0]), len(ind), f64(&u[0]), ldu)
	case is64[T]():
		sparseRowDotsAVX2F64I32(len(dst), f64(&dst[0]), float64(alpha), f64(&a[0]), f64(&ga[0]), float64(gamma), f64(&v[0]), i32(&ind[0]), len(ind), f64(&u[0]), ldu)
	case isInt[I]():
		sparseRowDotsAVX2F32I64(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), f32(&ga[0]), float32(gamma), f32(&v[0]), i64(&ind[0]), len(ind), f32(&u[0]), ldu)
	default:
		sparseRowDotsAVX2F32I32(len(dst), f32(&dst[0]), float32(alpha), f32(&a[0]), f32(&ga[0]), float32(gamma), f32(&v[0]), i32(&ind[0]), len(ind), f32(&u[0]), ldu)
	}
}
