package fixed

import (
	"math/bits"

	"revnum/internal/fixedtables"
)

// Log returns ln x, with an error below 0.51 unit in the last place. It panics
// with ErrDomain if x is not positive.
func Log(x Q43) Q43 {
	if x <= 0 {
		panic(ErrDomain)
	}
	e, ln := logParts(x)
	return (Q43(e)*fixedtables.Ln2Q57 + Q43(ln>>7) + 1<<(56-FracBits)) >> (57 - FracBits)
}

// LogChecked returns ln x as Log does, or ErrDomain.
func LogChecked(x Q43) (Q43, error) {
	if x <= 0 {
		return 0, ErrDomain
	}
	return Log(x), nil
}

// Log2 returns log2 x, with an error below 0.51 unit in the last place. It is
// exact if x is a power of two. It panics with ErrDomain if x is not positive.
func Log2(x Q43) Q43 {
	if x <= 0 {
		panic(ErrDomain)
	}
	e, ln := logParts(x)
	return Q43(e)<<FracBits + Q43((mulHi(ln, fixedtables.Log2eQ63)+1<<(62-FracBits))>>(63-FracBits))
}

// Log2Checked returns log2 x as Log2 does, or ErrDomain.
func Log2Checked(x Q43) (Q43, error) {
	if x <= 0 {
		return 0, ErrDomain
	}
	return Log2(x), nil
}

// normalise returns e and m for x = m·2^(e-63), m >= 2⁶³. x is positive.
func normalise(x uint64) (e int, m uint64) {
	n := bits.LeadingZeros64(x)
	return 63 - FracBits - n, x << n
}

// logParts returns e and, with 64 fraction bits, ln m, where x = m·2ᵉ and 1 <= m <
// 2.
//
// The first eight bits of m after its leading one select a c near 1/m from a table,
// with its logarithm. It is such that m·c = 1 + u with 0 <= u < 2⁻⁸. Then ln m = -ln
// c + ln(1+u). Five terms of the power series of ln(1+u) leave out less than u⁶/6 <
// 2⁻⁵⁰:
//
//	ln(1+u) = u - u²·(1/2 - u/3 + u²·(1/4 - u/5))
func logParts(x Q43) (e int, ln uint64) {
	e, m := normalise(uint64(x))
	t := &fixedtables.Log[m>>55&0xff]
	hi, lo := bits.Mul64(m, t.Inv) // 126 fraction bits
	u := hi<<10 | lo>>54           // 72: the leading one is shifted out

	w := mulHi(u, u)                     // 80
	p := 1<<62 - u>>8/5                  // 64
	p = 1<<63 - u>>8/3 + mulHi(w, p)>>16 // 64
	u -= mulHi(w, p) >> 8                // 72
	return e, t.Ln[0] + u>>8
}
