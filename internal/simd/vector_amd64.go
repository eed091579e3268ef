//go:build amd64 && !noasm

package simd

import "unsafe"

//go:generate go -C _gen run ./elementwise -out ../elementwise_amd64.s -stubs ../elementwise_amd64.go -pkg simd

// The functions below call the assembly, which holds the code of both vector
// tiers, unless tier is Generic. The assembly cannot be pre-empted, and so is
// given no more than chunk elements at a time.

// chunkAt returns how many of n elements go into the call that begins at i.
func chunkAt(i, n int) int { return min(chunk, n-i) }

func f64[T Float](p *T) *float64 { return (*float64)(unsafe.Pointer(p)) }
func f32[T Float](p *T) *float32 { return (*float32)(unsafe.Pointer(p)) }

func dot[T Float](x, y []T) T {
	if tier == Generic {
		return genericDot(x, y)
	}
	var s T
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			s += T(dot64(f64(&x[i]), f64(&y[i]), n))
		} else {
			s += T(dot32(f32(&x[i]), f32(&y[i]), n))
		}
	}
	return s
}

func sum[T Float](x []T) T {
	if tier == Generic {
		return genericSum(x)
	}
	var s T
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			s += T(sum64(f64(&x[i]), n))
		} else {
			s += T(sum32(f32(&x[i]), n))
		}
	}
	return s
}

func sumSquares[T Float](x []T) T {
	if tier == Generic {
		return genericDot(x, x)
	}
	var s T
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			s += T(sumSquares64(f64(&x[i]), n))
		} else {
			s += T(sumSquares32(f32(&x[i]), n))
		}
	}
	return s
}

func maxOf[T Float](x []T) T {
	if tier == Generic || len(x) == 0 {
		return genericMax(x)
	}
	m := x[0]
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			m = max(m, T(maxOf64(f64(&x[i]), n)))
		} else {
			m = max(m, T(maxOf32(f32(&x[i]), n)))
		}
	}
	return m
}

func axpyTo[T Float](dst []T, alpha T, x, y []T) {
	if tier == Generic {
		genericAxpyTo(dst, alpha, x, y)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			axpyTo64(f64(&dst[i]), float64(alpha), f64(&x[i]), f64(&y[i]), n)
		} else {
			axpyTo32(f32(&dst[i]), float32(alpha), f32(&x[i]), f32(&y[i]), n)
		}
	}
}

func addTo[T Float](dst, x, y []T) {
	if tier == Generic {
		genericAddTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			addTo64(f64(&dst[i]), f64(&x[i]), f64(&y[i]), n)
		} else {
			addTo32(f32(&dst[i]), f32(&x[i]), f32(&y[i]), n)
		}
	}
}

func mulTo[T Float](dst, x, y []T) {
	if tier == Generic {
		genericMulTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			mulTo64(f64(&dst[i]), f64(&x[i]), f64(&y[i]), n)
		} else {
			mulTo32(f32(&dst[i]), f32(&x[i]), f32(&y[i]), n)
		}
	}
}

func maxTo[T Float](dst, x, y []T) {
	if tier == Generic {
		genericMaxTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			maxTo64(f64(&dst[i]), f64(&x[i]), f64(&y[i]), n)
		} else {
			maxTo32(f32(&dst[i]), f32(&x[i]), f32(&y[i]), n)
		}
	}
}

func scaleTo[T Float](dst []T, alpha T, x []T) {
	if tier == Generic {
		genericScaleTo(dst, alpha, x)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			scaleTo64(f64(&dst[i]), float64(alpha), f64(&x[i]), n)
		} else {
			scaleTo32(f32(&dst[i]), float32(alpha), f32(&x[i]), n)
		}
	}
}

func subColumn[T Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	if tier == Generic {
		genericSubColumn(n, dst, ldd, x, ldx, c)
		return
	}
	rows := max(1, chunk/n)
	for i := 0; i < len(c); i += rows {
		rows := min(rows, len(c)-i)
		for p := 0; p < n; p += chunk {
			cols := chunkAt(p, n)
			d, s := &dst[i*ldd+p], &x[i*ldx+p]
			if is64[T]() {
				subColumn64(cols, f64(d), ldd, f64(s), ldx, f64(&c[i]), rows)
			} else {
				subColumn32(cols, f32(d), ldd, f32(s), ldx, f32(&c[i]), rows)
			}
		}
	}
}

func centerScale[T Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	if tier == Generic {
		genericCenterScale(dst, ldd, x, ldx, c, s)
		return
	}
	rows := max(1, chunk/len(s))
	for i := 0; i < len(c); i += rows {
		rows := min(rows, len(c)-i)
		for p := 0; p < len(s); p += chunk {
			n := chunkAt(p, len(s))
			to, from := &dst[i*ldd+p], &x[i*ldx+p]
			if is64[T]() {
				centerScale64(n, f64(to), ldd, f64(from), ldx, f64(&c[i]), f64(&s[p]), rows)
			} else {
				centerScale32(n, f32(to), ldd, f32(from), ldx, f32(&c[i]), f32(&s[p]), rows)
			}
		}
	}
}

func affineMax[T Float](x, top []T, scale, shift T) {
	if tier == Generic {
		genericAffineMax(x, top, scale, shift)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			affineMax64(f64(&x[i]), f64(&top[i]), float64(scale), float64(shift), n)
		} else {
			affineMax32(f32(&x[i]), f32(&top[i]), float32(scale), float32(shift), n)
		}
	}
}

func expTo[T Float](dst, x []T) {
	if tier == Generic {
		genericExp(dst, x)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			expTo64(f64(&dst[i]), f64(&x[i]), n)
		} else {
			expTo32(f32(&dst[i]), f32(&x[i]), n)
		}
	}
}

func expSubTo[T Float](dst, x, y []T) {
	if tier == Generic {
		genericExpSubTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			expSubTo64(f64(&dst[i]), f64(&x[i]), f64(&y[i]), n)
		} else {
			expSubTo32(f32(&dst[i]), f32(&x[i]), f32(&y[i]), n)
		}
	}
}

func expSubAdd[T Float](x, y, sum []T) {
	if tier == Generic {
		genericExpSubAdd(x, y, sum)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			expSubAdd64(f64(&x[i]), f64(&y[i]), f64(&sum[i]), n)
		} else {
			expSubAdd32(f32(&x[i]), f32(&y[i]), f32(&sum[i]), n)
		}
	}
}

func expShiftSum[T Float](dst, x []T, shift T) float64 {
	if tier == Generic {
		return genericExpShiftSum(dst, x, shift)
	}
	var s float64
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			s += expShiftSum64(f64(&dst[i]), f64(&x[i]), float64(shift), n)
		} else {
			s += expShiftSum32(f32(&dst[i]), f32(&x[i]), float32(shift), n)
		}
	}
	return s
}

func sumExp[T Float](x []T, shift T) float64 {
	if tier == Generic {
		return genericSumExp(x, shift)
	}
	var s float64
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			s += sumExp64(f64(&x[i]), float64(shift), n)
		} else {
			s += sumExp32(f32(&x[i]), float32(shift), n)
		}
	}
	return s
}

func logTo[T Float](dst, x []T) {
	if tier == Generic {
		genericLog(dst, x)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			logTo64(f64(&dst[i]), f64(&x[i]), n)
		} else {
			logTo32(f32(&dst[i]), f32(&x[i]), n)
		}
	}
}

func peakFMA[T Float](rounds int, mul, add T) (T, int) {
	if tier == Generic {
		return genericPeakFMA(rounds, mul, add)
	}
	var s T
	const most = chunk / 4 // a round takes longer than an element of other loops
	for left := rounds; left > 0; left -= most {
		n := min(most, left)
		if is64[T]() {
			s += T(peakFMA64(n, f64(&mul), f64(&add)))
		} else {
			s += T(peakFMA32(n, f32(&mul), f32(&add)))
		}
	}
	lanes := 32 / int(unsafe.Sizeof(mul))
	if tier == AVX512 {
		lanes *= 2
	}
	return s, 12 * lanes
}
