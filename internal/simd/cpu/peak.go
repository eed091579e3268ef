package cpu

import "runtime"

//go:generate go run ./_gen

// PeakFMA runs rounds of independent multiply-adds on registers. It returns the number of
// floating-point operations. A multiply-add of one element counts as two. Time it to get
// the machine's peak. On the generic tier it multiplies and adds separately, as the loops of
// that tier do.
func PeakFMA[T Float](rounds int) (flops int64) {
	if rounds <= 0 {
		return 0
	}
	// a = a/2 + 1 converges to 2, and a += 1/2 is below 2²⁵, so there is no overflow and no subnormal.
	mul, add := T(0.5), T(1)
	const (
		chains = 12        // of the vector code
		most   = Chunk / 4 // a round takes longer than an element of other loops
	)
	perRound := chains * Lanes[T](tier)
	if tier == Generic {
		var s T
		s, perRound = genericPeakFMA(rounds, mul, add)
		runtime.KeepAlive(s)
	} else {
		for left := rounds; left > 0; left -= most {
			vectorPeakFMA(min(most, left), &mul, &add)
		}
	}
	return 2 * int64(perRound) * int64(rounds)
}

// genericPeakFMA returns a sum that depends on all rounds, and the number of
// multiply-adds in a round.
func genericPeakFMA[T Float](rounds int, mul, add T) (T, int) {
	a, b, c, d, e, f, g, h := add, add, add, add, add, add, add, add
	for range rounds {
		a, b, c, d = T(a*mul)+add, T(b*mul)+add, T(c*mul)+add, T(d*mul)+add
		e, f, g, h = T(e*mul)+add, T(f*mul)+add, T(g*mul)+add, T(h*mul)+add
	}
	return a + b + c + d + e + f + g + h, 8
}
