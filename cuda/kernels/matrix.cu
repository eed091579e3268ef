// Kernels over dense matrices. Element (i, j) of a matrix is at i·down + j·across, so that
// a transpose is a matrix too.
#include "number.h"

constexpr int tile = 16;

// C += sign·A·B, for A of m×k and B of k×n elements. A block computes a tile of C, and
// each of its tile×tile threads an element, with tiles of A and B in shared memory.
template <class T>
DEVICE void addProduct(T *c, i64 downC, i64 acrossC, i64 m, i64 n, i64 k, const T *a, i64 downA, i64 acrossA, const T *b, i64 downB, i64 acrossB, i64 sign) {
	SHARED T as[tile][tile + 1], bs[tile][tile + 1];
	i64 i = blockY() * tile + threadY(), j = blockX() * tile + threadX();
	Sum<T> s = Sum<T>::zero();
	for (i64 l = 0; l < k; l += tile) {
		T zero = {};
		as[threadY()][threadX()] = i < m && l + threadX() < k ? a[i * downA + (l + threadX()) * acrossA] : zero;
		bs[threadY()][threadX()] = l + threadY() < k && j < n ? b[(l + threadY()) * downB + j * acrossB] : zero;
		barrier();
		for (int p = 0; p < tile; p++) s.addProduct(as[threadY()][p], bs[p][threadX()]);
		barrier();
	}
	if (i < m && j < n) addSigned(c[i * downC + j * acrossC], sign, s.value());
}

#define KERNELS(T, name) \
	KERNEL addProduct##name(T *c, i64 downC, i64 acrossC, i64 m, i64 n, i64 k, const T *a, i64 downA, i64 acrossA, const T *b, i64 downB, i64 acrossB, i64 sign) { \
		addProduct(c, downC, acrossC, m, n, k, a, downA, acrossA, b, downB, acrossB, sign); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
