package vec

import "math"

// What the functions of zgeneric.go are made of.

// fma32 returns x·y + z, rounded once. The product is exact in float64. The sum is rounded to odd
// where rounding it twice could be wrong.
func fma32(x, y, z float32) float32 {
	p := float64(float64(x) * float64(y))
	s := p + float64(z)
	if math.Float64bits(s)&(1<<28-1) == 0 {
		s = toOdd(s, p, float64(z))
	}
	return float32(s)
}

// toOdd returns s = p + z, whose lowest bits are 0, with the lowest bit set unless s is exact.
func toOdd(s, p, z float64) float64 {
	t := s - p
	e := (p - (s - t)) + (z - t) // the rounding error of s
	b := math.Float64bits(s)
	switch {
	case e == 0 || e != e:
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
