package fixed

import (
	"math/bits"

	"revnum/internal/fixedtables"
)

//go:generate go test -run TestTables -update

// Exp returns eˣ, with an error below 0.51 unit in the last place. It panics
// with ErrRange if the result is out of range, that is for x >= 20·ln 2 ≈ 13.863.
func Exp(x Q43) Q43 {
	m, ok := exp(x)
	if !ok || m > uint64(Max) {
		panic(ErrRange)
	}
	return Q43(m)
}

// ExpChecked returns eˣ as Exp does, or ErrRange.
func ExpChecked(x Q43) (Q43, error) {
	m, ok := exp(x)
	return checked(Q43(m), ok && m <= uint64(Max))
}

// Exp2 returns 2ˣ, with an error below 0.51 unit in the last place. It panics
// with ErrRange if the result is out of range, that is for x >= 20.
func Exp2(x Q43) Q43 { return must(Exp2Checked(x)) }

// Exp2Checked returns 2ˣ as Exp2 does, or ErrRange.
func Exp2Checked(x Q43) (Q43, error) {
	m, ok := exp2(int(x>>FracBits), uint128{uint64(x) << (64 - FracBits), 0})
	return checked(Q43(m), ok && m <= uint64(Max))
}

// exp returns eˣ = 2^(x·log2 e), with the results of exp2.
func exp(x Q43) (uint64, bool) {
	switch {
	case x < -31*One: // below half a unit
		return 0, true
	case x >= 14*One:
		return 0, false
	}
	// u = x + 32, with 57 fraction bits, is positive. Then t = x·log2(e) + 64 =
	// u + u·(log2(e)-1) + 64 - 32·log2(e), with 121, is in [19, 85).
	u := uint64(x+32*One) << (57 - FracBits)
	t := uint128Of(fixedtables.Log2eLess1Q128).mul64(u).add(uint128Of(fixedtables.ExpOffsetQ121))
	t.hi += u
	return exp2(int(t.hi>>57)-64, t.shl(7))
}

// exp2 returns 2^(k + f·2⁻¹²⁸) rounded, in units of 2⁻⁴³. It reports whether k < 20.
// The result is at most 2⁶³.
//
// Tables give the powers for the first eight bits i of the fraction and for the next
// eight bits j. The rest r < 2⁻¹⁶ goes into the power series:
//
//	2^f = 2^(i/256) · 2^(j/65536) · 2^r = A·(1+b)·(1+p) = A + A·s, s = b + p + b·p
//	p = z + z²/2 + z³/6, z = r·ln 2
//
// A has 127 fraction bits. The others are small and have 64 bits after their leading
// zeros. z² and z³ are of z cut at 2⁻⁶⁸, and are cut at 2⁻⁸⁴ and 2⁻¹⁰⁰.
//
// Before it is rounded, the result is too small, in units of 2⁻⁷² of it, by
//
//	z⁴/24·(1+b) and what follows it   below 2.47
//	cuts of r, z, z², z³ and p        below 4.5/2⁸
//	the two cuts in s                 below 2
//	rounding of b                     from -½ to ½
//
// and, in units of 2⁻⁷², by the cut of A to 63 fraction bits before it is multiplied by s < 2^(1/256) - 1,
// below 1.4, and by that of t, below 2. A unit in the last place is 2⁻⁶² of 2ᵏ if k = 19, and more below. Hence it
// is too small by from -0.5 to 4.99 + 0.7 + 1 < 6.7 parts in 512 of a unit. That is why the table of b has 3 more:
// from -3.5 to 3.7 parts are left, which with half a unit are below 0.508. Errors of f count beside
// them: those of exp are below 2⁻¹¹⁸, and those of pow below 2²⁰·2⁻¹⁰⁰ + 2⁻⁹⁵, 2⁻⁸ of a part.
// Powers of two are exact.
func exp2(k int, f uint128) (uint64, bool) {
	if k < -44 {
		return 0, true
	}
	if k >= 20 {
		return 0, false
	}
	a := uint128Of(fixedtables.Exp2Coarse[f.hi>>56])
	b := fixedtables.Exp2Fine[f.hi>>48&0xff] // 72 fraction bits, and 3 units more
	r := f.hi<<16 | f.lo>>48                 // 80

	z := mulHi(r, fixedtables.Ln2Q64)    // 80
	z2 := hi52(z>>12, z>>12)             // 84
	z3 := hi52(z2, z>>12)                // 100
	p := z + z2>>5 + z3>>20/6            // 80
	s := b + p>>8 + mulHi(b, p)>>16      // 72
	t := mulHi(a.hi, s)                  // 71
	_, c := bits.Add64(a.lo, t<<56, 0)   // 127
	m := a.hi + t>>8 + c                 // 63
	return m>>(20-k) + m>>(19-k)&1, true // 43, rounded
}
