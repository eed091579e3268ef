//go:build amd64 && !noasm

package vec

import (
	"unsafe"

	"revnum/internal/simd/cpu"
)

//go:generate go -C ../_gen run ./vec -out ../vec/zvec_amd64.s -stubs ../vec/zvec_amd64.go -pkg vec

// The functions below call the assembly unless tier is Generic. The assembly holds the
// code of both vector tiers. It cannot be pre-empted, so a call gets no more than Chunk
// elements.

func dot[T cpu.Float](x, y []T) T {
	if tier == cpu.Generic {
		return genericDot(x, y)
	}
	var s T
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			s += T(dot64(cpu.F64(&x[i]), cpu.F64(&y[i]), n))
		} else {
			s += T(dot32(cpu.F32(&x[i]), cpu.F32(&y[i]), n))
		}
	}
	return s
}

func sum[T cpu.Float](x []T) T {
	if tier == cpu.Generic {
		return genericSum(x)
	}
	var s T
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			s += T(sum64(cpu.F64(&x[i]), n))
		} else {
			s += T(sum32(cpu.F32(&x[i]), n))
		}
	}
	return s
}

func sumSquares[T cpu.Float](x []T) T {
	if tier == cpu.Generic {
		return genericDot(x, x)
	}
	var s T
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			s += T(sumSquares64(cpu.F64(&x[i]), n))
		} else {
			s += T(sumSquares32(cpu.F32(&x[i]), n))
		}
	}
	return s
}

func maxOf[T cpu.Float](x []T) T {
	if tier == cpu.Generic || len(x) == 0 {
		return genericMax(x)
	}
	m := x[0]
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			m = max(m, T(maxOf64(cpu.F64(&x[i]), n)))
		} else {
			m = max(m, T(maxOf32(cpu.F32(&x[i]), n)))
		}
	}
	return m
}

func axpyTo[T cpu.Float](dst []T, alpha T, x, y []T) {
	if tier == cpu.Generic {
		genericAxpyTo(dst, alpha, x, y)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			axpyTo64(cpu.F64(&dst[i]), float64(alpha), cpu.F64(&x[i]), cpu.F64(&y[i]), n)
		} else {
			axpyTo32(cpu.F32(&dst[i]), float32(alpha), cpu.F32(&x[i]), cpu.F32(&y[i]), n)
		}
	}
}

func addTo[T cpu.Float](dst, x, y []T) {
	if tier == cpu.Generic {
		genericAddTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			addTo64(cpu.F64(&dst[i]), cpu.F64(&x[i]), cpu.F64(&y[i]), n)
		} else {
			addTo32(cpu.F32(&dst[i]), cpu.F32(&x[i]), cpu.F32(&y[i]), n)
		}
	}
}

func mulTo[T cpu.Float](dst, x, y []T) {
	if tier == cpu.Generic {
		genericMulTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			mulTo64(cpu.F64(&dst[i]), cpu.F64(&x[i]), cpu.F64(&y[i]), n)
		} else {
			mulTo32(cpu.F32(&dst[i]), cpu.F32(&x[i]), cpu.F32(&y[i]), n)
		}
	}
}

func maxTo[T cpu.Float](dst, x, y []T) {
	if tier == cpu.Generic {
		genericMaxTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			maxTo64(cpu.F64(&dst[i]), cpu.F64(&x[i]), cpu.F64(&y[i]), n)
		} else {
			maxTo32(cpu.F32(&dst[i]), cpu.F32(&x[i]), cpu.F32(&y[i]), n)
		}
	}
}

func scaleTo[T cpu.Float](dst []T, alpha T, x []T) {
	if tier == cpu.Generic {
		genericScaleTo(dst, alpha, x)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			scaleTo64(cpu.F64(&dst[i]), float64(alpha), cpu.F64(&x[i]), n)
		} else {
			scaleTo32(cpu.F32(&dst[i]), float32(alpha), cpu.F32(&x[i]), n)
		}
	}
}

func subColumn[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	if tier == cpu.Generic {
		genericSubColumn(n, dst, ldd, x, ldx, c)
		return
	}
	rows := max(1, cpu.Chunk/n)
	for i := 0; i < len(c); i += rows {
		rows := min(rows, len(c)-i)
		for p := 0; p < n; p += cpu.Chunk {
			cols := cpu.ChunkAt(p, n)
			d, s := &dst[i*ldd+p], &x[i*ldx+p]
			if cpu.Is64[T]() {
				subColumn64(cols, cpu.F64(d), ldd, cpu.F64(s), ldx, cpu.F64(&c[i]), rows)
			} else {
				subColumn32(cols, cpu.F32(d), ldd, cpu.F32(s), ldx, cpu.F32(&c[i]), rows)
			}
		}
	}
}

func centerScale[T cpu.Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	if tier == cpu.Generic {
		genericCenterScale(dst, ldd, x, ldx, c, s)
		return
	}
	rows := max(1, cpu.Chunk/len(s))
	for i := 0; i < len(c); i += rows {
		rows := min(rows, len(c)-i)
		for p := 0; p < len(s); p += cpu.Chunk {
			n := cpu.ChunkAt(p, len(s))
			to, from := &dst[i*ldd+p], &x[i*ldx+p]
			if cpu.Is64[T]() {
				centerScale64(n, cpu.F64(to), ldd, cpu.F64(from), ldx, cpu.F64(&c[i]), cpu.F64(&s[p]), rows)
			} else {
				centerScale32(n, cpu.F32(to), ldd, cpu.F32(from), ldx, cpu.F32(&c[i]), cpu.F32(&s[p]), rows)
			}
		}
	}
}

func affineMax[T cpu.Float](x, top []T, scale, shift T) {
	if tier == cpu.Generic {
		genericAffineMax(x, top, scale, shift)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			affineMax64(cpu.F64(&x[i]), cpu.F64(&top[i]), float64(scale), float64(shift), n)
		} else {
			affineMax32(cpu.F32(&x[i]), cpu.F32(&top[i]), float32(scale), float32(shift), n)
		}
	}
}

func expTo[T cpu.Float](dst, x []T) {
	if tier == cpu.Generic {
		genericExp(dst, x)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			expTo64(cpu.F64(&dst[i]), cpu.F64(&x[i]), n)
		} else {
			expTo32(cpu.F32(&dst[i]), cpu.F32(&x[i]), n)
		}
	}
}

func expSubTo[T cpu.Float](dst, x, y []T) {
	if tier == cpu.Generic {
		genericExpSubTo(dst, x, y)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			expSubTo64(cpu.F64(&dst[i]), cpu.F64(&x[i]), cpu.F64(&y[i]), n)
		} else {
			expSubTo32(cpu.F32(&dst[i]), cpu.F32(&x[i]), cpu.F32(&y[i]), n)
		}
	}
}

func expSubAdd[T cpu.Float](x, y, sum []T) {
	if tier == cpu.Generic {
		genericExpSubAdd(x, y, sum)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			expSubAdd64(cpu.F64(&x[i]), cpu.F64(&y[i]), cpu.F64(&sum[i]), n)
		} else {
			expSubAdd32(cpu.F32(&x[i]), cpu.F32(&y[i]), cpu.F32(&sum[i]), n)
		}
	}
}

func expShiftSum[T cpu.Float](dst, x []T, shift T) float64 {
	if tier == cpu.Generic {
		return genericExpShiftSum(dst, x, shift)
	}
	var s float64
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			s += expShiftSum64(cpu.F64(&dst[i]), cpu.F64(&x[i]), float64(shift), n)
		} else {
			s += expShiftSum32(cpu.F32(&dst[i]), cpu.F32(&x[i]), float32(shift), n)
		}
	}
	return s
}

func sumExp[T cpu.Float](x []T, shift T) float64 {
	if tier == cpu.Generic {
		return genericSumExp(x, shift)
	}
	var s float64
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			s += sumExp64(cpu.F64(&x[i]), float64(shift), n)
		} else {
			s += sumExp32(cpu.F32(&x[i]), float32(shift), n)
		}
	}
	return s
}

func logTo[T cpu.Float](dst, x []T) {
	if tier == cpu.Generic {
		genericLog(dst, x)
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		n := cpu.ChunkAt(i, len(x))
		if cpu.Is64[T]() {
			logTo64(cpu.F64(&dst[i]), cpu.F64(&x[i]), n)
		} else {
			logTo32(cpu.F32(&dst[i]), cpu.F32(&x[i]), n)
		}
	}
}

func peakFMA[T cpu.Float](rounds int, mul, add T) (T, int) {
	if tier == cpu.Generic {
		return genericPeakFMA(rounds, mul, add)
	}
	var s T
	const most = cpu.Chunk / 4 // a round takes longer than an element of other loops
	for left := rounds; left > 0; left -= most {
		n := min(most, left)
		if cpu.Is64[T]() {
			s += T(peakFMA64(n, cpu.F64(&mul), cpu.F64(&add)))
		} else {
			s += T(peakFMA32(n, cpu.F32(&mul), cpu.F32(&add)))
		}
	}
	lanes := 32 / int(unsafe.Sizeof(mul))
	if tier == cpu.AVX512 {
		lanes *= 2
	}
	return s, 12 * lanes
}

func sinCos[T cpu.Float](sin, cos, x []T) {
	if tier == cpu.Generic {
		genericSinCos(sin, cos, x)
		return
	}
	const (
		most   = 1 << 10
		vector = 8 // elements, or half of them
	)
	for i := 0; i < len(x); {
		n := min(most, len(x)-i)
		done := sinCosTile(&sin[i], &cos[i], &x[i], n)
		i += min(done, n)
		if done < n {
			end := min(i+vector, len(x))
			genericSinCos(sin[i:end], cos[i:end], x[i:end])
			i = end
		}
	}
}

// sinCosTile returns the number of elements before the first vector that contains an
// angle too large for it. It returns n or more if there is none.
func sinCosTile[T cpu.Float](sin, cos, x *T, n int) (done int) {
	if cpu.Is64[T]() {
		sinCos64(cpu.F64(sin), cpu.F64(cos), cpu.F64(x), n, &done)
	} else {
		sinCos32(cpu.F32(sin), cpu.F32(cos), cpu.F32(x), n, &done)
	}
	return done
}
