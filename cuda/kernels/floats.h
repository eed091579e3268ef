// Functions of floats, and powers of two.
#pragma once
#include "number.h"

DEVICE double fma(double x, double y, double z) { return __builtin_elementwise_fma(x, y, z); }
DEVICE float fma(float x, float y, float z) { return __builtin_elementwise_fma(x, y, z); }
DEVICE double root(double x) { return __builtin_elementwise_sqrt(x); }
DEVICE float root(float x) { return __builtin_elementwise_sqrt(x); }
DEVICE double magnitude(double x) { return __builtin_fabs(x); }
DEVICE float magnitude(float x) { return __builtin_fabsf(x); }

// size orders numbers by magnitude, with NaN as the largest. It is not 0.
DEVICE u64 size(double v) { return __builtin_bit_cast(u64, v) << 1 | 1; }

// exponent returns the e for which 2^(e-1) <= x < 2^e, and 0 if x is 0 or not finite.
DEVICE int exponent(double x) {
	int e = 0;
	if (x > 0 && x < 0x1p-1022) {
		x *= 0x1p54;
		e = -54;
	}
	int field = (int)(__builtin_bit_cast(u64, x) >> 52 & 0x7ff);
	return field == 0 || field == 0x7ff ? 0 : field - 1022 + e;
}

// scale returns x·2^e. The power is made of two, which are in range.
template <class T> DEVICE T scale(T x, int e) {
	double half = __builtin_bit_cast(double, (u64)(1023 + e / 2) << 52);
	double rest = __builtin_bit_cast(double, (u64)(1023 + e - e / 2) << 52);
	return (T)((double)x * half * rest);
}

// ratio returns top/|diagonal| for the largest magnitude of a column and its pivot, and 0 if it is not a number.
template <class T> DEVICE double ratio(T top, T diagonal) {
	diagonal = magnitude(diagonal);
	return diagonal == 0 ? __builtin_inf() : top - top == 0 ? (double)(top / diagonal) : 0;
}
