package fixed

import "math/bits"

// A Sum is a sum of numbers and products. Over fixed point products are added exactly, and
// the sum is rounded when it is read, as an Accumulator. Over floats every product and
// every addition rounds. The zero value is the empty sum. Methods return the new sum, so
// that a local sum stays in registers.
type Sum[T Number] struct {
	float  T
	hi, lo uint64 // of an Accumulator
}

// SumOf returns the sum of x alone.
func SumOf[T Number](x T) (s Sum[T]) {
	if T(1)/2 != 0 {
		s.float = x
	} else {
		s.lo, s.hi = uint64(x)<<FracBits, uint64(Q43(x)>>(64-FracBits))
	}
	return s
}

// Exact returns the sum of x·y alone.
func Exact[T Number](x, y T) (s Sum[T]) {
	if T(1)/2 != 0 {
		s.float = T(x * y)
	} else {
		s.hi, s.lo = addMul(0, 0, Q43(x), Q43(y))
	}
	return s
}

// Add returns s + x.
func (s Sum[T]) Add(x T) Sum[T] {
	if T(1)/2 != 0 {
		s.float += x
		return s
	}
	var c uint64
	s.lo, c = bits.Add64(s.lo, uint64(x)<<FracBits, 0)
	s.hi, _ = bits.Add64(s.hi, uint64(Q43(x)>>(64-FracBits)), c)
	return s
}

// AddMul returns s + x·y.
func (s Sum[T]) AddMul(x, y T) Sum[T] {
	if T(1)/2 != 0 {
		s.float += T(x * y)
	} else {
		s.hi, s.lo = addMul(s.hi, s.lo, Q43(x), Q43(y))
	}
	return s
}

// SubMul returns s - x·y.
func (s Sum[T]) SubMul(x, y T) Sum[T] {
	if T(1)/2 != 0 {
		s.float -= T(x * y)
	} else {
		s.hi, s.lo = subMul(s.hi, s.lo, Q43(x), Q43(y))
	}
	return s
}

// AddSum returns s + u.
func (s Sum[T]) AddSum(u Sum[T]) Sum[T] {
	var c uint64
	s.float += u.float
	s.lo, c = bits.Add64(s.lo, u.lo, 0)
	s.hi, _ = bits.Add64(s.hi, u.hi, c)
	return s
}

// SubSum returns s - u.
func (s Sum[T]) SubSum(u Sum[T]) Sum[T] {
	var b uint64
	s.float -= u.float
	s.lo, b = bits.Sub64(s.lo, u.lo, 0)
	s.hi, _ = bits.Sub64(s.hi, u.hi, b)
	return s
}

// Round returns the sum, over fixed point rounded to nearest, ties to even, and wrapped.
func (s Sum[T]) Round() T {
	if T(1)/2 != 0 {
		return s.float
	}
	return T(round(s.hi, s.lo))
}

func addMul(hi, lo uint64, x, y Q43) (uint64, uint64) {
	h, l := bits.Mul64(uint64(x), uint64(y))
	lo, c := bits.Add64(lo, l, 0)
	hi, _ = bits.Add64(hi, h, c)
	return hi - (uint64(x>>63&y) + uint64(y>>63&x)), lo // the factors were taken for unsigned
}

func subMul(hi, lo uint64, x, y Q43) (uint64, uint64) {
	h, l := bits.Mul64(uint64(x), uint64(y))
	lo, b := bits.Sub64(lo, l, 0)
	hi, _ = bits.Sub64(hi, h, b)
	return hi + (uint64(x>>63&y) + uint64(y>>63&x)), lo
}

//go:noinline
func round(hi, lo uint64) Q43 { return Accumulator{hi, lo}.Round() }
