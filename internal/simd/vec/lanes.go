package vec

import "math"

// What the functions of zgeneric.go are made of.

// A multiply-add x·y + z of float32 numbers is rounded once. The product p is exact in float64. The
// sum s = p + z is rounded to float64 and then to float32. Rounding twice can be wrong only if s lies
// halfway between two float32 numbers: then s is first rounded to odd. This stands in each place in
// full, because a call costs more than what it does.

// halfway reports whether s may lie halfway between float32 numbers: bit 28 alone is half a unit of a
// normal one, and a higher bit that of a subnormal one.
func halfway(s float64) bool {
	b := math.Float64bits(s)
	return b<<35 == 1<<63 || b<<1 < 0x381<<53
}

// toOdd returns s = p + z rounded to odd: an s that is not exact, and has an even last bit, becomes its
// neighbour on the side of the exact sum.
func toOdd(s, p, z float64) float64 {
	t := s - p
	e := (p - (s - t)) + (z - t) // the rounding error of s
	b := math.Float64bits(s)
	switch {
	case e == 0 || e != e || b&1 != 0:
	case (e > 0) == (s > 0):
		b++
	default:
		b--
	}
	return math.Float64frombits(b)
}

// minOf and maxOf return b if either is NaN.
func minOf[T float32 | float64](a, b T) T {
	if a < b {
		return a
	}
	return b
}

func maxOf[T float32 | float64](a, b T) T {
	if a > b {
		return a
	}
	return b
}

// choose returns a if ok is set, and b otherwise.
func choose[T float32 | float64](ok bool, a, b T) T {
	if ok {
		return a
	}
	return b
}
