// Package coef has the numbers that the functions of package vec are computed with. The Go
// code and the generator of the assembly take them from here.
package coef

import "math"

// Constants of reductions and asymptotic limits.
const (
	Ln2     = 0x1.62e42fefa39efp-1
	Ln2Lo   = 0x1.abc9e3b39803fp-56 // log 2 - Ln2
	Ln2Hi42 = 0x1.62e42fefa38p-1    // 42 bits: its product by an exponent is exact
	Ln2Lo42 = 0x1.ef35793c7673p-45  // log 2 - Ln2Hi42

	Log2e  = 0x1.71547652b82fep+0
	Ln2F   = 0x1.62e43p-1 // log 2 in float32
	Ln2LoF = -0x1.05c61p-29

	TwoOverPi = 0x1.45f306dc9c883p-1
	// HalfPi1 + HalfPi2 + HalfPi3 is π/2. All parts but the last have 33 bits, so that
	// products with a number of 20 bits are exact.
	HalfPi1 = 0x1.921fb544p+0
	HalfPi2 = 0x1.0b4611a6p-34
	HalfPi3 = 0x1.3198a2e037073p-69

	InvSqrt2Pi  = 0x1.9884533d43651p-2
	TwoOverRoot = 0x1.20dd750429b6dp+0 // 2/√π
	MillsCenter = 3.5

	// SiLUBound and GELUBound are magnitudes of x at which the factor of a negative x is 0.
	// Beyond them x is clamped, because the product of 0 and an infinite x would be NaN.
	SiLUBound = 800
	GELUBound = 40
)

// Polynomials, from the constant term on.
var (
	// P of the logarithm, with relative errors of 2⁻⁵⁹, and of 2⁻³⁷ for float32.
	Log64 = [7]float64{
		0x1.5555555555592p-1, 0x1.999999997fee8p-2, 0x1.24924941e0cddp-2, 0x1.c71c52164393cp-3,
		0x1.74663c550f51p-3, 0x1.39a1fb7d49fc6p-3, 0x1.2f02e68dc625ap-3,
	}
	Log32 = [4]float64{
		0x1.555554fde2a78p-1, 0x1.999a7a1a6d9dfp-2, 0x1.2438f153b8309p-2, 0x1.e2f2d534c3fddp-3,
	}

	// (sin r - r)/r³ and (cos r - 1 + r²/2)/r⁴ in r² for |r| < π/4, from __kernel_sin and
	// __kernel_cos in FreeBSD's msun (Sun Microsystems 1993).
	Sin = [6]float64{
		-0x1.5555555555549p-3, 0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13,
		0x1.71de357b1fe7dp-19, -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33,
	}
	Cos = [6]float64{
		0x1.555555555554cp-5, -0x1.6c16c16c15177p-10, 0x1.a01a019cb159p-16,
		-0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29, -0x1.8fae9be8838d4p-37,
	}

	// (u + c)·(1 - Φ(u))/φ(u) in t = (u - c)/(u + c), c = MillsCenter, for 0 <= u <= 40: the
	// interpolation of degree 23 at Chebyshev's nodes, with a relative error of 2⁻⁵⁴.
	Mills = [24]float64{
		0x1.ddb07f4534143p+0, -0x1.6aeb529b4ffd7p+0, 0x1.94d07d4aac0d4p-1, -0x1.29e0c849bd165p-2,
		0x1.657527ab6b2b5p-5, 0x1.09f81f665350cp-6, -0x1.05f19de7abee3p-7, -0x1.246abb8c0804cp-10,
		0x1.3935d12725bb6p-10, 0x1.60610327a4300p-13, -0x1.8d5502b9d2febp-13, -0x1.8b136ab241b63p-15,
		0x1.e3e7ac781f32cp-16, 0x1.db5dfc5d6cd54p-17, -0x1.87fbebe8804f9p-19, -0x1.f1983795b527fp-19,
		-0x1.8135f579c300dp-22, 0x1.8bfe1e1bbf36cp-21, 0x1.4d6546850307cp-22, -0x1.433d24be4e984p-24,
		-0x1.8728bb1e4c0a7p-24, -0x1.4f36799422a9ap-27, 0x1.a7128f0972bf6p-27, 0x1.0184a20ad592dp-28,
	}

	// (exp r - 1 - r)/r² for |r| < ln2/16, with errors of 2⁻⁵⁸ and 2⁻³² of exp r.
	Exp64 = [6]float64{
		0x1.000000000010bp-1, 0x1.5555555555132p-3, 0x1.5555554810259p-5,
		0x1.11111125d793bp-7, 0x1.6c1cbd31145a8p-10, 0x1.a016398b5f79fp-13,
	}
	Exp32 = [3]float64{0x1p-1, 0x1.555c7ep-3, 0x1.555a0cp-5}

	// (log(1+f) - f + f²/2)/f³ for -1/4 <= f < 1/2, and (log(1+e) - e)/e² for 0 <= e <= 1, with
	// errors of 2⁻²⁷ of the logarithms.
	Log32P  = [8]float64{0x1.5555a4p-2, -0x1.000044p-2, 0x1.99696ep-3, -0x1.54eeaep-3, 0x1.2885aep-3, -0x1.0d965ap-3, 0x1.acb186p-4, -0x1.71527p-5}
	Log1p32 = [9]float64{-0x1.ffffd2p-2, 0x1.554dd4p-2, -0x1.ff249ep-3, 0x1.93510ap-3, -0x1.3a5958p-3, 0x1.b50a1ep-4, -0x1.d7879ap-5, 0x1.4a1eeep-6, -0x1.b157cp-9}

	// Sin and Cos for float32, with errors of 2⁻²⁷ and 2⁻³².
	Sin32 = [3]float64{-0x1.555544p-3, 0x1.1106d6p-7, -0x1.99249ap-13}
	Cos32 = [3]float64{0x1.55554ap-5, -0x1.6c0c2p-10, 0x1.99e478p-16}

	// Sums of these are π/2. Under a fused multiply-add they need not be short.
	HalfPi64 = [3]float64{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed9p-110}
	HalfPi32 = [3]float64{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50}

	// Polynomials of 1 - Φ(u) for u < 1, and of (1 - Φ(u))/exp(-u²/2) for 1 <= u < 15, by powers of u - NormalAt32[part].
	// Relative errors are 2⁻²⁴·⁶ below 1, 2⁻²⁵ from 3 to 5, and 2⁻²⁷ elsewhere. The part is bits 21 to 23 of u + 5, the
	// lowest bit of the exponent and the two highest of the mantissa:
	//
	//	0      1      2      3       4        5      6      7
	//	[3,5)  [5,7)  [7,9)  [9,11)  [11,15)  [0,1)  [1,2)  [2,3)
	//
	// NormalAt32 is near the middle of a part, where the first coefficient is almost a float32. Below 1 it is 0, so that
	// 1 - Φ(u) has no error near 0.
	NormalAt32 = [8]float64{0x1.0000bap+2, 0x1.8000c4p+2, 0x1.000112p+3, 0x1.40008cp+3, 0x1.a001ccp+3, 0, 0x1.800010p+0, 0x1.40016ap+1}
	Normal32   = [8][8]float64{
		{0x1.82b3bep-4, 0x1.095588p-4, 0x1.9267d0p-5, 0x1.43a300p-5, 0x1.f3dba0p-6, 0x1p-1, 0x1.a5704ap-3, 0x1.21714ap-3},
		{-0x1.5cf7c6p-6, -0x1.506784p-7, -0x1.86b522p-8, -0x1.fbf120p-9, -0x1.301014p-9, -0x1.9884acp-2, -0x1.71c03ap-4, -0x1.75a8ecp-5},
		{0x1.2dd89cp-8, 0x1.a0ecc2p-10, 0x1.76216ap-11, 0x1.8af04ep-12, 0x1.6fd7bep-13, 0x1.fe1c52p-16, 0x1.204052p-5, 0x1.bf3584p-7},
		{-0x1.f6a02ap-11, -0x1.f9c804p-13, -0x1.618456p-14, -0x1.30535ap-15, -0x1.ba8932p-17, 0x1.0f5cdcp-4, -0x1.998054p-7, -0x1.f62106p-9},
		{0x1.93a6f2p-13, 0x1.2c8938p-15, 0x1.49bb54p-17, 0x1.d0e0ecp-19, 0x1.089f44p-20, 0x1.d83930p-11, 0x1.0d3fa0p-8, 0x1.0ab096p-10},
		{-0x1.3aa2a0p-15, -0x1.5ebeb4p-18, -0x1.2f864cp-20, -0x1.602a2cp-22, -0x1.3b1450p-24, -0x1.81b606p-7, -0x1.4bdc4ap-10, -0x1.0df5fcp-12},
		{0x1.fb9ab6p-18, 0x1.a04e0ep-21, 0x1.1a69e4p-23, 0x1.0c923ap-25, 0x1.8449f4p-28, 0x1.f2fabcp-10, 0x1.903c60p-12, 0x1.0bd07ep-14},
		{-0x1.720cdap-20, -0x1.ce0a26p-24, -0x1.0618a2p-26, -0x1.8a8184p-29, -0x1.c4ecfcp-32, 0x1.2a6ea6p-12, -0x1.b7c87ep-14, -0x1.ec2e68p-17},
	}

	// erf(x)/x - 1 in x² for |x| < 1: the interpolations at Chebyshev's nodes, with errors of 2⁻⁵⁵ and
	// 2⁻²⁷ of erf(x)/x.
	Erf64 = [13]float64{
		0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b30p-4, -0x1.b82ce31284e00p-6,
		0x1.565bcd0dbaa38p-8, -0x1.c02db3dac435fp-11, 0x1.f9a321d5b8e1ep-14, -0x1.f4d1e3183f7aep-17,
		0x1.b9df224ca4b97p-20, -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27, -0x1.389d4f2641625p-30, 0x1.05ffd737fb32ep-34,
	}
	Erf32 = [7]float64{0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2d1p-4, -0x1.b7fabap-6, 0x1.541270p-8, -0x1.a45088p-11, 0x1.4a5690p-14}

	// erfc(u)/exp(-u²) in u - 3.5 for 1 <= u <= 6, and in u - 2.5 for 1 <= u <= 4, by least squares,
	// with errors of 2⁻⁵⁶ and 2⁻²⁷ of 1 in erfc.
	Erfcx64 = [21]float64{
		0x1.3e0a99a0dfbebp-3, -0x1.5285d2eae8268p-5, 0x1.5d581183fca86p-7, -0x1.5e5d794135b35p-9,
		0x1.56321bf8fcf84p-11, -0x1.460cc132b85b0p-13, 0x1.2f6ff4e8bd260p-15, -0x1.149803f98faf8p-17,
		0x1.f0476d3ee873ap-20, -0x1.95eee14541ec3p-22, 0x1.b1b520459771bp-24, -0x1.90b110b2d71cfp-26,
		-0x1.7b76588aace1ep-27, -0x1.73ed58bc0ef13p-27, -0x1.ea98592d3d523p-30, 0x1.c90255c729014p-30,
		0x1.aa5a4585bc151p-30, 0x1.5609351516457p-31, 0x1.410aac32da444p-33, 0x1.541c5d77c023ep-36, 0x1.49a6aea2c570fp-40,
	}
	Erfcx32 = [9]float64{
		0x1.afbbe8p-3, -0x1.308174p-4, 0x1.98333ep-6, -0x1.0a786cp-7, 0x1.2ddd0ap-9,
		-0x1.5a9108p-11, 0x1.1c9c08p-11, 0x1.d73160p-13, 0x1.bfc406p-14,
	}

	// The powers 2^(j/8) = hi + lo. The upper and lower 32 bits of each lo are equal, as the vector
	// code of package asm has them.
	Eighths64 = [8][2]float64{
		{1, 0},
		{0x1.172b83c7d517bp+0, -0x1.19041bc819041p-55},
		{0x1.306fe0a31b715p+0, 0x1.6f46b3c86f46bp-55},
		{0x1.4bfdad5362a27p+0, 0x1.d43973c7d4397p-56},
		{0x1.6a09e667f3bcdp+0, -0x1.bdd33bc9bdd33p-54},
		{0x1.8ace5422aa0dbp+0, 0x1.6e9f13c96e9f1p-54},
		{0x1.ae89f995ad3adp+0, 0x1.7a1cd3c97a1cdp-54},
		{0x1.d5818dcfba487p+0, 0x1.2ed033c82ed03p-55},
	}

	// Bits of hi = 2^(j/8) in float32, and of 2^(j/8)/hi - 1.
	Eighths32   = bitsOf(0x1p+0, 0x1.172b84p+0, 0x1.306fep+0, 0x1.4bfdaep+0, 0x1.6a09e6p+0, 0x1.8ace54p+0, 0x1.ae89fap+0, 0x1.d5818ep+0)
	Eighths32Lo = bitsOf(0x0p+0, -0x1.9c0c22p-27, 0x1.125002p-25, -0x1.0a355p-25, 0x1.26055cp-26, 0x1.67a1cap-28, -0x1.f9c304p-27, -0x1.a5217cp-28)
)

func bitsOf(x ...float32) (b [8]uint64) {
	for i, x := range x {
		b[i] = uint64(math.Float32bits(x))
	}
	return b
}
