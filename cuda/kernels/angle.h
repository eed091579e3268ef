// The angle of a point.
#pragma once
#include "function.h"

// The arctangents of j/32, as sums of two numbers. They are added up in units of 2⁻¹²⁰ by
//
//	arctan((j+1)/32) - arctan(j/32) = arctan(32/(1024 + j·(j+1)))
struct Arctangents {
	alignas(16) double of[33][2];
	constexpr Arctangents() : of() {
		u128 sum = 0;
		for (int j = 0; j <= 32; j++) {
			u64 top = (u64)(sum >> 67);
			of[j][0] = (double)top * 0x1p-53;
			of[j][1] = (double)(sum - ((u128)top << 67)) * 0x1p-120;
			u64 d = 1024 + (u64)(j * (j + 1));
			u128 power = ((u128)32 << 120) / d;
			for (int k = 1; power > 0; k += 4) {
				sum += power / (u128)k;
				power = power * 1024 / (d * d);
				sum -= power / (u128)(k + 2);
				power = power * 1024 / (d * d);
			}
		}
	}
};
TABLE Arctangents arctangents;

// The series of (arctan d)/d = 1 - d²/3 + d⁴/5 ..., without its first term.
COEFFICIENTS arctangentTerms[4] = {1 / 3.0, -1 / 5.0, 1 / 7.0, -1 / 9.0};

// angle returns the angle of the point with ordinate o and abscissa a, within 1.5 units in the last
// place. With the ratio t <= 1 of their magnitudes, and c = j/32 nearest to it,
//
//	arctan t = arctan c + arctan d,  d = (t - c)/(1 + t·c),  |d| <= 1/64
DEVICE double angle(double o, double a) {
	if (o != o || a != a) return o + a;
	double less = magnitude(o), more = magnitude(a);
	bool steep = less > more, back = bits(a) >> 63;
	if (steep) {
		double v = less;
		less = more;
		more = v;
	}
	double t = more == 0 ? 0 : less == more ? 1 : less / more;
	constexpr double magic = 0x1.8p47; // whose last place is 1/32
	double near = t + magic, c = near - magic, d = quickRatio(t - c, fma(t, c, 1)), z = d * d;
	const double *arctangent = arctangents.of[(int)bits(near)];
	double p = fma(fma(fma(arctangentTerms[3], z, arctangentTerms[2]), z, arctangentTerms[1]), z, arctangentTerms[0]), rest = d - d * (z * p);
	constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;
	double quarters = steep ? 1 : back ? 2 : 0, sign = steep != back ? -1 : 1;
	double from = quarters * halfPi, by = sign * arctangent[0], v = from + by;
	double low = (from - v) + by + quarters * halfPiLow + sign * arctangent[1];
	v += sign * rest + low;
	return bits(bits(v) | (bits(o) & (u64)1 << 63));
}

// angle computes what fixed.Atan2 does, to the bit.
DEVICE Q43 angle(Q43 o, Q43 a) {
	if (o.v == 0 && a.v == 0) return o;
	u64 less = absolute(o.v), more = absolute(a.v);
	bool steep = less > more;
	if (steep) {
		u64 v = less;
		less = more;
		more = v;
	}
	int n = __builtin_clzll(more);
	less = n < 7 ? less >> (7 - n) : less << (n - 7);
	more = n < 7 ? more >> (7 - n) : more << (n - 7);
	u64 i = (less + (more >> 7)) / (more >> 6), rest;
	i64 over = (i64)((less << 6) - i * more);
	u64 t = divide(absolute(over), 0, (more << 6) + i * less, rest); // 64 fraction bits
	constexpr u64 third = ~(u64)0 / 3, fifth = ~(u64)0 / 5, seventh = ~(u64)0 / 7, pi = 0x6487ed5110b4611a;
	u64 z = high(t, t);
	t -= high(t, high(z, third - high(z, fifth - high(z, seventh))));
	u64 v = atanTable[i]; // 63
	v = (over < 0 ? v - (t >> 1) : v + (t >> 1)) >> 2;
	if (steep) v = pi / 2 - v;
	if (a.v < 0) v = pi - v;
	i64 w = (i64)((v + (1 << 17)) >> 18);
	return Q43{o.v < 0 ? -w : w};
}

// hypotenuse returns the integer nearest to √(x²+y²).
DEVICE u64 hypotenuse(Q43 x, Q43 y) {
	u64 a = absolute(x.v), b = absolute(y.v), rest;
	u128 n = (u128)a * a + (u128)b * b;
	u64 hi = (u64)(n >> 64), s = (u64)root((double)hi * 0x1p64 + (double)(u64)n);
	if (hi) {
		u64 q = divide(hi, (u64)n, s, rest);
		s = s / 2 + q / 2 + (s & q & 1);
	}
	return nearestRoot(n, s);
}
