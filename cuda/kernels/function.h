// Functions of one number, by the algorithms of the host: the ones of float64 are in
// internal/simd/vec and the ones of Q43 in fixed, where their errors are derived.
#pragma once
#include "number.h"
#include "tables.h" // compile.sh makes it of internal/fixedtables/tables.go

DEVICE double fma(double x, double y, double z) { return __builtin_elementwise_fma(x, y, z); }
DEVICE double bits(u64 v) { return __builtin_bit_cast(double, v); }
DEVICE u64 bits(double v) { return __builtin_bit_cast(u64, v); }
DEVICE double magnitude(double x) { return __builtin_fabs(x); }

// COEFFICIENTS are in constant memory, where instructions take operands. A literal would be moved
// to a register first, by two instructions.
#define COEFFICIENTS __attribute__((constant)) double

CONSTANT double infinity = __builtin_inf();
CONSTANT double ln2Hi = 0x1.62e42fefa39efp-1, ln2Lo = 0x1.abc9e3b39803fp-56;

// The powers 2^(j/8), as sums of two numbers.
alignas(16) TABLE double eighths[8][2] = {
	{1, 0},
	{0x1.172b83c7d517bp+0, -0x1.19041bc819041p-55},
	{0x1.306fe0a31b715p+0, 0x1.6f46b3c86f46bp-55},
	{0x1.4bfdad5362a27p+0, 0x1.d43973c7d4397p-56},
	{0x1.6a09e667f3bcdp+0, -0x1.bdd33bc9bdd33p-54},
	{0x1.8ace5422aa0dbp+0, 0x1.6e9f13c96e9f1p-54},
	{0x1.ae89f995ad3adp+0, 0x1.7a1cd3c97a1cdp-54},
	{0x1.d5818dcfba487p+0, 0x1.2ed033c82ed03p-55},
};

COEFFICIENTS expReduction[4] = {0x1.71547652b82fep+0, 0x1.8p49 + 2 * 1023, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
COEFFICIENTS expEven[3] = {0x1.000000000010bp-1, 0x1.5555554810259p-5, 0x1.6c1cbd31145a8p-10};
COEFFICIENTS expOdd[3] = {0x1.5555555555132p-3, 0x1.11111125d793bp-7, 0x1.a016398b5f79fp-13};

// expPlus returns exp(x + d) for a d that is small beside the last place of x.
INLINE double expPlus(double x, double d) {
	double magic = expReduction[1], t = fma(x, expReduction[0], magic), n = t - magic;
	double r = fma(-n, expReduction[3], fma(-n, expReduction[2], x)) + d, r2 = r * r;
	double even = fma(fma(expEven[2], r2, expEven[1]), r2, expEven[0]);
	double odd = fma(fma(expOdd[2], r2, expOdd[1]), r2, expOdd[0]);
	double p = fma(fma(odd, r, even), r2, r);
	u64 b = bits(t);
	const double *power = eighths[b & 7];
	double e = power[0] + fma(power[0], p, power[1]);
	if ((bits(x) >> 32 & 0x7fffffff) < bits(708.) >> 32) return bits(bits(e) + (((b >> 3) - 2 * 1023) << 52)); // |x| < 708, by integers, of which there are more units
	if (magnitude(x) > 1024) return x > 0 ? infinity : 0;
	u64 sum = b >> 3 & 0xfff; // the power overflows or is subnormal, or is NaN
	return e * bits(sum / 2 << 52) * bits((sum - sum / 2) << 52);
}
DEVICE double exp(double x) { return expPlus(x, -0.0); }

// quickRatio returns x/y, rounded once, for normal numbers of magnitudes between 2⁻⁵⁰⁰ and 2⁵⁰⁰, or x = 0
// (Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, 1990).
DEVICE double quickRatio(double x, double y) {
	double r = bits(bits(__nvvm_rcp_approx_ftz_d(y)) | 1); // above 1/y if y is just below a power of two
	double e = fma(-y, r, 1);
	r = fma(r, fma(e, e, e), r);
	r = fma(r, fma(-y, r, 1), r);
	double q = x * r;
	return fma(r, fma(-y, q, x), q);
}

COEFFICIENTS logEven[4] = {0x1.5555555555592p-1, 0x1.24924941e0cddp-2, 0x1.74663c550f51p-3, 0x1.2f02e68dc625ap-3};
COEFFICIENTS logOdd[3] = {0x1.999999997fee8p-2, 0x1.c71c52164393cp-3, 0x1.39a1fb7d49fc6p-3};

// logPolynomial is P in log(1+f) = f - (h - s·(h + z·P(z))), h = f²/2, s = f/(2+f), z = s².
DEVICE double logPolynomial(double z) {
	double w = z * z;
	double even = fma(fma(fma(logEven[3], w, logEven[2]), w, logEven[1]), w, logEven[0]);
	double odd = fma(fma(logOdd[2], w, logOdd[1]), w, logOdd[0]);
	return fma(odd, z, even);
}

// Log 2 as a sum of two numbers. Products of the first with integers below 2¹¹ are exact.
COEFFICIENTS ln2Parts[2] = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};

// exponent returns the k in x = m·2ᵏ, √½ < m < √2, for a positive number, and sets m.
DEVICE double exponent(double x, double &m) {
	constexpr i64 sqrtHalf = 0x3fe6a09e667f3bcd, fraction = ((i64)1 << 52) - 1;
	i64 b = (i64)bits(x) - sqrtHalf;
	m = bits((u64)((b & fraction) + sqrtHalf));
	return (int)(b >> 52);
}

DEVICE double log(double x) {
	double adjust = 0;
	if (!(x >= 0x1p-1022 && x < infinity)) {
		if (x == 0) return -infinity;
		if (!(x > 0)) return bits((u64)0x7ff8000000000001); // NaN
		if (x == infinity) return x;
		x *= 0x1p54;
		adjust = 54;
	}
	double m, k = exponent(x, m) - adjust;

	double f = m - 1, s = quickRatio(f, m + 1), z = s * s, p = logPolynomial(z);
	double half = 0.5 * f, h = half * f, hLo = fma(half, f, -h), g = fma(z, p, h);
	double kLn2 = k * ln2Parts[0], hi = kLn2 + f;
	double lo = fma(k, ln2Parts[1], f - (hi - kLn2)) - hLo;
	return hi + (fma(s, g, lo) - h);
}

// sqrt is a name of CUDA.
DEVICE double root(double x) { return __builtin_elementwise_sqrt(x); }

// The functions of Q43.

DEVICE u64 high(u64 x, u64 y) { return (u64)((unsigned __int128)x * y >> 64); }

// high52 returns the high 52 bits of the product of two numbers of 52 bits. Vector code of the
// host multiplies such numbers, and what is cut must be the same.
CONSTANT u64 mask52 = ((u64)1 << 52) - 1;
DEVICE u64 high52(u64 x, u64 y) { return high(x << 12, y); }

// exp2Raw returns 2^(k + f·2⁻¹²⁸) in units of 2⁻⁴³, or overflow, which is more than any Q43.
CONSTANT u64 overflow = ~(u64)0;
DEVICE u64 exp2Raw(int k, u128 f) {
	if (k < -44) return 0;
	if (k >= 20) return overflow;
	u64 hi = (u64)(f >> 64), lo = (u64)f;
	const U128 &a = exp2Coarse[hi >> 56];
	u64 b = exp2Fine[hi >> 48 & 0xff], r = hi << 16 | lo >> 48;
	u64 z = high(r, ln2Q64), z2 = high52(z >> 12, z >> 12), z3 = high52(z2, z >> 12);
	u64 p = z + (z2 >> 5) + (z3 >> 20) / 6;
	u64 s = b + (p >> 8) + (high(b, p) >> 16);
	u64 v = high(a.hi, s);
	u64 m = a.hi + (v >> 8) + (a.lo + (v << 56) < a.lo);
	m >>= 19 - k;
	return (m >> 1) + (m & 1);
}

// expRaw returns eˣ in units of 2⁻⁴³, or overflow.
DEVICE u64 expRaw(i64 x) {
	constexpr i64 one = (i64)1 << 43;
	if (x < -31 * one) return 0;
	if (x >= 14 * one) return overflow;
	u64 u = (u64)(x + 32 * one) << 14;
	u128 t = ((u128)log2eLess1Q128[0] * u) + high(log2eLess1Q128[1], u);
	t += (u128)expOffsetQ121[0] << 64 | expOffsetQ121[1];
	t += (u128)u << 64;
	int k = (int)(t >> 121) - 64;
	return exp2Raw(k, t << 7);
}

// expSat returns eˣ, or the largest number if eˣ is out of range.
DEVICE Q43 expSat(Q43 x) {
	u64 m = expRaw(x.v);
	return Q43{m > (u64)largest.v ? largest.v : (i64)m};
}

// logOf returns the logarithm of a positive number.
DEVICE Q43 logOf(Q43 x) {
	int n = __builtin_clzll((u64)x.v);
	u64 m = (u64)x.v << n;
	i64 e = 20 - n;
	const LogEntry &t = logTable[m >> 55 & 0xff];
	u128 c = (u128)m * t.inv;
	u64 u = (u64)(c >> 54), w = high(u, u);
	u64 p = ((u64)1 << 62) - (u >> 8) / 5;
	p = ((u64)1 << 63) - (u >> 8) / 3 + (high(w, p) >> 16);
	u -= high(w, p) >> 8;
	u64 ln = t.ln.hi + (u >> 8);
	return Q43{(e * (i64)ln2Q57 + (i64)(ln >> 7) + (1 << 13)) >> 14};
}

// divide returns the quotient of hi·2⁶⁴ + lo and d > hi, and the remainder. It divides
// numbers of two digits of 32 bits by the schoolbook (Knuth's algorithm D).
DEVICE u64 divide(u64 hi, u64 lo, u64 d, u64 &rest) {
	int s = __builtin_clzll(d);
	d <<= s;
	u64 d1 = d >> 32, d0 = d & 0xffffffff;
	u64 n = s ? hi << s | lo >> (64 - s) : hi;
	lo <<= s;
	u64 q[2];
	for (int i = 0; i < 2; i++) {
		u64 next = i ? lo & 0xffffffff : lo >> 32;
		u64 e = n / d1, r = n - e * d1;
		while (e >> 32 || e * d0 > (r << 32 | next)) {
			e--;
			r += d1;
			if (r >> 32) break;
		}
		n = (n << 32 | next) - e * d;
		q[i] = e;
	}
	rest = n >> s;
	return (q[0] << 32) + q[1];
}

DEVICE u64 absolute(i64 x) { return x < 0 ? -(u64)x : (u64)x; }

// quotient returns x/y, rounded once. The Q43 is wrapped, and y is not zero.
DEVICE double quotient(double x, double y) { return x / y; }
DEVICE float quotient(float x, float y) { return x / y; }
DEVICE Q43 quotient(Q43 x, Q43 y) {
	u64 n = absolute(x.v), d = absolute(y.v), hi = n >> 21, r;
	if (hi >= d) hi %= d;
	u64 m = divide(hi, n << 43, d, r);
	if (r > d - r || (r == d - r && (m & 1))) m++;
	return Q43{(i64)((x.v < 0) != (y.v < 0) ? -m : m)};
}

// nearestRoot returns the integer nearest to √n, which s is near to.
DEVICE u64 nearestRoot(u128 n, u64 s) {
	while ((u128)s * s + s < n) s++;
	while (s > 0 && (u128)s * s - s >= n) s--;
	return s;
}

// root returns √x for x >= 0, rounded to nearest.
DEVICE Q43 root(Q43 x) {
	u64 s = (u64)root((double)x.v * 0x1p43);
	return Q43{(i64)nearestRoot((u128)(u64)x.v << 43, s)};
}

// fixed returns the Q43 nearest to v, which is in range.
DEVICE Q43 fixed(double v) { return Q43{(i64)__builtin_rint(v * 0x1p43)}; }
