package vec

import (
	"math"
	"math/bits"
)

// twoOverPiBits are 64 zeros, followed by the first 1216 bits of 2/π.
var twoOverPiBits = [20]uint64{
	0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
	0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
	0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
	0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
	0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
}

// reduceLargeAngle is reduceAngle for |x| > 2²⁰. It returns NaN for infinities and
// NaN.
//
// Let |x| = m·2^e with an integer m of 53 bits. Only the bits of 2/π from 2^(1-e) on
// matter for k mod 4 and r; the others make multiples of 4. The function takes 192
// of these bits, and the first 128 bits of the fraction of their product with m. No
// double is nearer than 2⁻⁶¹ to a multiple of π/2 (Muller, Elementary Functions,
// 2006, chapter 9), so r has 66 bits or more. The method is that of Payne and Hanek
// (1983).
func reduceLargeAngle(x float64) (r float64, k uint64) {
	if x-x != 0 {
		return math.NaN(), 0
	}
	b := math.Float64bits(x) &^ (1 << 63)
	m := b&(1<<52-1) | 1<<52
	from := int(b>>52) - 1075 + 62 // e - 2, behind the zeros
	var w [3]uint64
	for i := range w {
		t := twoOverPiBits[from/64+i:]
		w[i] = t[0]<<(from%64) | t[1]>>(64-from%64)
	}

	// The low 192 bits of the product are the angle in turns, without whole ones.
	h1, mid := bits.Mul64(m, w[1])
	h2, lo := bits.Mul64(m, w[2])
	mid, carry := bits.Add64(mid, h2, 0)
	hi := m*w[0] + h1 + carry

	// The nearest integer, and the rest as sign and magnitude.
	k = hi >> 62
	hi, mid = hi<<2|mid>>62, mid<<2|lo>>62
	sign := 1.0
	if hi>>63 != 0 {
		k++
		sign = -1
		mid, carry = bits.Sub64(0, mid, 0)
		hi, _ = bits.Sub64(0, hi, carry)
	}
	zeros := bits.LeadingZeros64(hi)
	hi, mid = hi<<zeros|mid>>(64-zeros), mid<<zeros
	// r is (f + g)·2^(-53-zeros), with |g| below a unit of f, times π/2.
	const halfPi, halfPiLo = 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54
	f, g := float64(hi>>11), math.Ldexp(float64(hi<<53|mid>>11), -64)
	r = float64(f * halfPi)
	r += math.FMA(f, halfPi, -r) + (float64(f*halfPiLo) + float64(g*halfPi))
	r = math.Ldexp(sign*r, -53-zeros)
	if x < 0 {
		return -r, -k
	}
	return r, k
}
