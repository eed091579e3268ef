// Powers.
#pragma once
#include "function.h"

// The logarithms of c = j/128 for j from 91 to 181, which are near √½ and √2, as sums of two numbers,
// and 1/c. The first number is a multiple of 2⁻⁴². They are added up in units of 2⁻¹²⁰ by
//
//	log(j+1) - log j = 2·artanh(1/(2j+1))
constexpr int leastLog = 91, mostLog = 181;
struct Logarithms {
	alignas(32) double of[mostLog - leastLog + 1][4];
	constexpr static i128 step(int j) {
		i128 sum = 0, power = ((i128)1 << 121) / (2 * j + 1);
		for (int k = 1; power > 0; k += 2) {
			sum += power / k;
			power /= (2 * j + 1) * (2 * j + 1);
		}
		return sum;
	}
	constexpr void set(int j, i128 v) {
		i64 top = (i64)(v >> 78);
		of[j - leastLog][0] = (double)top * 0x1p-42;
		of[j - leastLog][1] = (double)(v - top * ((i128)1 << 78)) * 0x1p-120;
		of[j - leastLog][2] = 128.0 / j;
	}
	constexpr Logarithms() : of() {
		i128 sum = 0;
		set(128, 0);
		for (int j = 128; j < mostLog; j++) set(j + 1, sum += step(j));
		sum = 0;
		for (int j = 127; j >= leastLog; j--) set(j, sum -= step(j));
	}
};
TABLE Logarithms logarithms;

// The terms of log(1 + u) = u - u²/2 + u³/3 ... from the third on.
COEFFICIENTS logTerms[7] = {1 / 3.0, 1 / 4.0, 1 / 5.0, 1 / 6.0, 1 / 7.0, 1 / 8.0, 1 / 9.0};

// Powers has the powers of a number, whose logarithm is hi + lo. The sum has a relative error below
// 2⁻⁶⁴.
struct Powers {
	double x, hi, lo;

	// With |x| = m·2ᵏ, √½ < m < √2, and c = j/128 nearest to m,
	//
	//	log |x| = k·log 2 + log c + log(1 + u),  u = (m - c)/c,  |u| < 1/180
	//
	// and nine terms of the series of log(1 + u). Those of first and second order are sums of two
	// numbers.
	INLINE void at(double v) {
		x = v;
		double a = magnitude(v), adjust = 0;
		if (a < 0x1p-1022) {
			a *= 0x1p54;
			adjust = 54;
		}
		constexpr double magic = 0x1.8p45; // whose last place is 1/128
		double m, k = exponent(a, m) - adjust, near = m + magic, c = near - magic;
		const double *log = logarithms.of[(int)bits(near) - leastLog];
		double u = (m - c) * log[2], uLo = fma(-u, c, m - c) * log[2];
		double half = 0.5 * u, h = half * u, hLo = fma(half, u, -h) + u * uLo;
		double p = logTerms[6];
#pragma unroll
		for (int n = 5; n >= 0; n--) p = fma(p, -u, logTerms[n]);
		double s = k * ln2Parts[0] + log[0], v1 = s + u, v2 = v1 - h; // s is exact
		double rest = (u - (v1 - s)) + ((v1 - v2) - h);
		rest += uLo - hLo + (k * ln2Parts[1] + log[1]) + p * h * (u + u);
		hi = v2 + rest;
		lo = rest - (hi - v2);
		if (!(a > 0 && a < infinity)) {
			hi = a == 0 ? -infinity : a;
			lo = 0;
		}
	}

	// to returns xʸ, within 1.2 units in the last place. x is not negative, or y is an integer, or
	// infinite.
	INLINE double to(double y) const {
		double p = y * hi;
		if (isNaN(p)) return (isNaN(x) || isNaN(y)) && x != 1 && y != 0 ? p : 1;
		double v = expPlus(p, fma(y, hi, -p) + y * lo);
		if (bits(x) >> 63 && magnitude(y) < 0x1p53 && ((i64)y & 1)) return -v;
		return v;
	}

};

// scaled returns c·p for a power p. A power that is zero wins over a c that is infinite.
DEVICE double scaled(double c, double p) { return p == 0 && magnitude(c) == infinity ? 0 : c * p; }

// Powers of Q43 are those of fixed.Pow, to the bit.

// Limbs are the fraction hi·2⁻⁵² + lo·2⁻¹⁰⁴.
struct Limbs {
	u64 hi, lo;
	constexpr static Limbs of(u128 x) { return {(u64)(x >> 76), (u64)(x >> 24) & mask52}; }
	DEVICE u128 all() const { return (u128)hi << 76 | (u128)lo << 24; }
	DEVICE Limbs operator+(Limbs y) const {
		u64 l = lo + y.lo;
		return {hi + y.hi + (l >> 52), l & mask52};
	}
	DEVICE Limbs operator-(Limbs y) const { // modulo 1
		u64 l = lo - y.lo;
		return {(hi - y.hi + (u64)((i64)l >> 52)) & mask52, l & mask52};
	}
	DEVICE Limbs operator*(Limbs y) const { // too small by less than 3·2⁻¹⁰⁴
		u64 l = high52(hi, y.lo) + high52(lo, y.hi) + (hi * y.hi & mask52);
		return Limbs{high52(hi, y.hi), 0} + Limbs{0, l};
	}
};

struct Reciprocals {
	Limbs of[13];
	constexpr Reciprocals() : of() {
		of[1] = Limbs::of(~(u128)0);
		for (int k = 2; k <= 12; k++) of[k] = Limbs::of(~(u128)0 / (u128)k + (2 * (~(u128)0 % (u128)k + 1) >= (u128)k));
	}
};
CONSTANT Reciprocals reciprocals; // 1/k

// FixedPowers has the powers of a number x, with |x| = 2^(whole + part·2⁻¹²⁸) unless it is zero.
struct FixedPowers {
	Q43 x;
	int whole;
	u128 part;

	// The first bits of m = |x|·2⁻ʷʰᵒˡᵉ select a c near 1/m from a table, and log(m·c) is a power
	// series, of which one limb is enough from u⁷ on.
	INLINE void at(Q43 v) {
		x = v;
		if (x.v == 0) return;
		u64 m = absolute(x.v);
		int n = __builtin_clzll(m);
		m <<= n;
		whole = 20 - n;
		const LogEntry &t = logTable[m >> 55 & 0xff];
		Limbs u = Limbs::of((u128)m * t.inv << 2), p = {reciprocals.of[12].hi, 0}; // u is without the leading one
#pragma unroll
		for (int k = 11; k >= 7; k--) p.hi = reciprocals.of[k].hi - high52(u.hi, p.hi);
#pragma unroll
		for (int k = 6; k >= 1; k--) p = reciprocals.of[k] - u * p;
		Limbs ln = Limbs::of((u128)t.ln.hi << 64 | t.ln.lo) + u * p;
		part = (ln + ln * Limbs::of((u128)log2eLess1Q128[0] << 64 | log2eLess1Q128[1])).all();
	}

	DEVICE static void negate(int &k, u128 &f) {
		k = f ? -k - 1 : -k;
		f = -f;
	}

	// magnitudeTo returns |x|ʸ in units of 2⁻⁴³, or overflow.
	INLINE u64 magnitudeTo(Q43 y) const {
		int k = whole;
		u128 f = part;
		bool negative = k < 0;
		if (negative) negate(k, f);
		negative = negative != (y.v < 0);
		u64 n = absolute(y.v);
		u128 t = (u128)n * (u64)(f >> 64) + high(n, (u64)f); // |y·log2 x|
		u128 all = (u128)n * (u64)k + (u64)(t >> 64);
		if (all >> 49) return negative ? 0 : overflow;
		k = (int)((u64)all >> 43);
		f = ((u128)(u64)all << 64 | ((u64)t & ~(u64)0xfff)) << 21; // cut at 2⁻⁹⁵
		if (negative) negate(k, f);
		if (k == 20) {
			u64 hi = (u64)(f >> 64);
			return hi == 0 || (hi == 1 && (u64)f < log2eLess1Q128[0]) ? (u64)1 << 63 : overflow;
		}
		return exp2Raw(k, f);
	}

	// to returns xʸ. It sets ok to false if the power does not exist or is out of range.
	INLINE Q43 to(Q43 y, bool &ok) const {
		constexpr i64 one = (i64)1 << 43;
		if (y.v == 0) return Q43{one};
		if (x.v == 0) {
			if (y.v < 0) ok = false;
			return x;
		}
		if (x.v < 0 && (y.v & (one - 1))) ok = false;
		u64 m = magnitudeTo(y);
		bool negative = x.v < 0 && (y.v & one);
		if (m == overflow || m > (u64)largest.v + negative) ok = false;
		return Q43{(i64)(negative ? -m : m)};
	}
};
