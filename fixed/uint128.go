package fixed

import "math/bits"

// uint128 is an unsigned integer of 128 bits.
type uint128 struct{ hi, lo uint64 }

// uint128Of returns the number with the given high and low word.
func uint128Of(w [2]uint64) uint128 { return uint128{w[0], w[1]} }

func (x uint128) add(y uint128) uint128 {
	lo, c := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, c)
	return uint128{hi, lo}
}

func (x uint128) sub(y uint128) uint128 {
	lo, b := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, b)
	return uint128{hi, lo}
}

func (x uint128) less(y uint128) bool {
	return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo
}

// shl returns x·2ⁿ, 0 < n < 64.
func (x uint128) shl(n uint) uint128 {
	return uint128{x.hi<<n | x.lo>>(64-n), x.lo << n}
}

// mul64 returns ⌊x·y/2⁶⁴⌋.
func (x uint128) mul64(y uint64) uint128 {
	h, _ := bits.Mul64(x.lo, y)
	hi, lo := bits.Mul64(x.hi, y)
	return uint128{hi, lo}.add(uint128{0, h})
}

// mulHi returns the high word of x·y.
func mulHi(x, y uint64) uint64 {
	hi, _ := bits.Mul64(x, y)
	return hi
}
