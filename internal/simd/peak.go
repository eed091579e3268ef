package simd

import "unsafe"

// What the machine can do at most, for benchmarks to compare with. The caller
// repeats and times these functions; each returns the work that it did.

// PeakFMA runs rounds of independent multiply-adds on registers, and returns the
// number of floating-point operations (two for each multiply-add and element).
// Of the generic tier it runs separate multiplications and additions, which is
// what the loops of that tier are made of.
func PeakFMA[T Float](rounds int) (flops int64) {
	// The fixed point of a = a/2 + 1 is 2: no overflow and no subnormals.
	s, perRound := peakFMA[T](rounds, 0.5, 1)
	if rounds > 0 && s <= 0 { // uses the result, which is positive
		panic("simd: PeakFMA: bad sum")
	}
	return 2 * int64(perRound) * int64(max(rounds, 0))
}

// ReadAll reads x once and returns the number of bytes read. x should be several
// times as large as the last cache.
func ReadAll[T Float](x []T) (bytes int64) {
	if s := sum(x); s != s {
		panic("simd: ReadAll: x holds a NaN")
	}
	return int64(len(x)) * int64(unsafe.Sizeof(T(0)))
}

// Triad computes a_i = b_i + alpha·c_i, and returns the number of bytes that it
// reads and writes, as the STREAM benchmark counts them: a is not counted as
// read, though a cache that allocates on writes does that.
func Triad[T Float](a, b []T, alpha T, c []T) (bytes int64) {
	AxpyTo(a, alpha, c, b)
	return 3 * int64(len(a)) * int64(unsafe.Sizeof(T(0)))
}

// genericPeakFMA returns a sum that depends on all rounds, and the multiply-adds
// in a round.
func genericPeakFMA[T Float](rounds int, mul, add T) (T, int) {
	a, b, c, d, e, f, g, h := add, add, add, add, add, add, add, add
	for range rounds {
		a, b, c, d = T(a*mul)+add, T(b*mul)+add, T(c*mul)+add, T(d*mul)+add
		e, f, g, h = T(e*mul)+add, T(f*mul)+add, T(g*mul)+add, T(h*mul)+add
	}
	return a + b + c + d + e + f + g + h, 8
}
