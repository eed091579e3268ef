// Sines and cosines.
#pragma once
#include "function.h"

// 64 zeros, followed by the first bits of 2/π.
TABLE u64 twoOverPi[20] = {
	0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
	0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
	0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
	0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
	0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

// largeAngle returns r = x - k·π/2 and the low bits of k for |x| > 2²⁰, and NaN if x is
// not finite, by the method of Payne and Hanek. It computes what reduceLargeAngle of
// internal/simd/vec does, in the same order.
DEVICE double largeAngle(double x, u64 &k) {
	k = 0;
	if (x - x != 0) return bits((u64)0x7ff8000000000000);
	u64 b = bits(x) & ~(1ull << 63);
	u64 m = (b & ((1ull << 52) - 1)) | 1ull << 52;
	int from = (int)(b >> 52) - 1075 + 62, shift = from % 64;
	const u64 *t = twoOverPi + from / 64;
	u64 w[3];
#pragma unroll
	for (int i = 0; i < 3; i++) w[i] = shift ? t[i] << shift | t[i + 1] >> (64 - shift) : t[i];

	u64 mid = m * w[1], low = m * w[2], high2 = ::high(m, w[2]);
	u64 high = m * w[0] + ::high(m, w[1]);
	mid += high2;
	high += mid < high2;
	k = high >> 62;
	high = high << 2 | mid >> 62;
	mid = mid << 2 | low >> 62;
	double sign = 1;
	if (high >> 63) {
		k++;
		sign = -1;
		high = -high - (mid != 0);
		mid = -mid;
	}
	int zeros = __builtin_clzll(high);
	if (zeros) {
		high = high << zeros | mid >> (64 - zeros);
		mid <<= zeros;
	}
	double f = (double)(i64)(high >> 11), g = (double)(high << 53 | mid >> 11) * 0x1p-64;
	constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;
	double r = f * halfPi;
	r += fma(f, halfPi, -r) + (f * halfPiLow + g * halfPi);
	r *= sign * bits((u64)(1023 - 53 - zeros) << 52);
	if (x < 0) {
		k = -k;
		return -r;
	}
	return r;
}

COEFFICIENTS sinC[6] = {
	-0x1.5555555555549p-3, 0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13,
	0x1.71de357b1fe7dp-19, -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33,
};
COEFFICIENTS cosC[6] = {
	0x1.555555555554cp-5, -0x1.6c16c16c15177p-10, 0x1.a01a019cb159p-16,
	-0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29, -0x1.8fae9be8838d4p-37,
};
// 2/π, and π/2 as a sum of three numbers.
COEFFICIENTS quarters[4] = {0x1.45f306dc9c883p-1, 0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};

// sincosQuarters computes sine and cosine of r + k·π/2 for |r| up to π/4.
DEVICE void sincosQuarters(double r, u64 k, double &s, double &c) {
	double z = r * r, p = sinC[5], q = cosC[5];
#pragma unroll
	for (int j = 4; j >= 0; j--) {
		p = p * z + sinC[j];
		q = q * z + cosC[j];
	}
	s = r + p * (z * r);
	double h = z * 0.5, w = 1 - h;
	c = w + (q * (z * z) + ((1 - w) - h));
	if (k & 1) {
		double v = s;
		s = c;
		c = v;
	}
	s = bits(bits(s) ^ (k >> 1 & 1) << 63);
	c = bits(bits(c) ^ ((k + 1) >> 1 & 1) << 63);
}

// sincos computes sine and cosine of x, in radians, as internal/simd/vec does, with the
// same operations in the same order. They are within 1.5 units in the last place.
DEVICE void sincos(double x, double &s, double &c) {
	double r;
	u64 k;
	if (magnitude(x) <= 1 << 20) {
		constexpr double magic = 0x1.8p52;
		double quadrant = x * quarters[0] + magic, m = quadrant - magic;
		double a = x - m * quarters[1], t = m * quarters[2]; // exact
		r = a - t;
		r -= m * quarters[3] - ((a - r) - t);
		k = bits(quadrant);
	} else {
		r = largeAngle(x, k);
	}
	sincosQuarters(r, k, s, c);
}

DEVICE void sincos(float x, float &s, float &c) {
	double wideS, wideC;
	sincos((double)x, wideS, wideC);
	s = (float)wideS;
	c = (float)wideC;
}

// sincos computes what fixed.SinCos does, to the bit.
DEVICE void sincos(Q43 x, Q43 &s, Q43 &c) {
	// 1/k!, with 64 fraction bits, from 2 on.
	constexpr u64 factorial[17] = {
		0, 0, 0x8000000000000000, 0x2aaaaaaaaaaaaaab, 0x0aaaaaaaaaaaaaab, 0x0222222222222222,
		0x005b05b05b05b05b, 0x000d00d00d00d00d, 0x0001a01a01a01a02, 0x00002e3bc74aad8e,
		0x0000049f93edde28, 0x0000006b99159fd5, 0x00000008f76c77fc, 0x00000000b092309d,
		0x000000000c9cba54, 0x0000000000d73f9f, 0x00000000000d73fa,
	};
	constexpr u64 turnHigh = 0x28be60db9391054a, turnLow = 0x7f09d5f47d4d3770; // 1/2π, 128 fraction bits
	u64 m = absolute(x.v);
	u64 low = turnHigh * m, high = ::high(turnHigh, m), carry = ::high(turnLow, m);
	low += carry;
	high += low < carry;
	u64 turns = high << 21 | low >> 43; // 64 fraction bits
	u64 q = (turns + (1ull << 61)) >> 62, rest = turns - (q << 62);
	bool back = (i64)rest < 0;
	if (back) rest = -rest;
	u64 theta = ::high(rest << 2, 0xc90fdaa22168c235); // 63
	u64 z = ::high(theta, theta) << 2;                  // 64
	u64 b = factorial[16], a = 0;
#pragma unroll
	for (int k = 15; k >= 3; k -= 2) {
		a = factorial[k] - ::high(z, a);
		b = factorial[k - 1] - ::high(z, b);
	}
	a = ::high(theta, (1ull << 63) - (::high(z, a) >> 1)); // 62
	b = (1ull << 63) - (::high(z, b) >> 1);                 // 63
	i64 sine = (i64)((a + (1ull << 18)) >> 19), cosine = (i64)((b + (1ull << 19)) >> 20);
	if (back) sine = -sine;
	q &= 3;
	i64 across = q & 1 ? cosine : sine, along = q & 1 ? -sine : cosine;
	if (q & 2) {
		across = -across;
		along = -along;
	}
	s = Q43{x.v < 0 ? -across : across};
	c = Q43{along};
}
