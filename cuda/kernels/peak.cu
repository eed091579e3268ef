// What a card can do at most, for the benchmark.
#include "number.h"

// y = x, for n numbers.
KERNEL copyF64(double *y, const double *x, i64 n) {
	for (i64 i = first(); i < n; i += step()) y[i] = x[i];
}

// Each thread computes 8 chains of count fused multiply-adds each, and writes their sum.
template <class T> DEVICE void chains(T *y, i64 count) {
	T v[8];
#pragma unroll
	for (int j = 0; j < 8; j++) v[j] = (T)(threadX() + j);
	for (i64 c = 0; c < count; c++) {
#pragma unroll
		for (int j = 0; j < 8; j++) v[j] = __builtin_elementwise_fma(v[j], (T)0.5, (T)1);
	}
	T s = 0;
#pragma unroll
	for (int j = 0; j < 8; j++) s += v[j];
	y[first()] = s;
}
KERNEL chainsF64(double *y, i64 count) { chains(y, count); }
KERNEL chainsF32(float *y, i64 count) { chains(y, count); }
