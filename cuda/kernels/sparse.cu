// Kernels over sparse matrices stored by rows: those of row i are the entries ptr[i] to
// ptr[i+1]-1, and entry e stands in column ind[e]. Its value is data[e], or data[perm[e]]
// if there is a perm.
#include "number.h"

// A block does as many rows at a time as it has warps.
DEVICE i64 warps() { return threads() / 32; }

// In fixed point the CPU scatters a transposed product of one column: it rounds each α·x,
// and its product with each entry.
template <class T> struct Scattered { constexpr static bool value = false; };
template <> struct Scattered<Q43> { constexpr static bool value = true; };

// y += sign·α·A·x, for x and y of one or more columns. A null alpha stands for 1. A warp
// does a row. If there is a perm, A is a transpose.
template <class T>
DEVICE void addSparse(T *y, i64 downY, const T *x, i64 downX, i64 cols, i64 rows, const int *ptr, const int *ind, const int *perm, const T *data, const T *alpha, i64 sign) {
	i64 lane = threadX() % 32;
	for (i64 i = blockX() * warps() + threadX() / 32; i < rows; i += blocks() * warps()) {
		int begin = ptr[i], end = ptr[i + 1];
		if (cols == 1) { // the threads share the entries
			Sum<T> s = Sum<T>::zero();
			if (Scattered<T>::value && perm) {
				for (i64 e = begin + lane; e < end; e += 32) {
					T v = x[ind[e] * downX];
					s.add(product(data[perm[e]], alpha ? product(*alpha, v) : v));
				}
				s = warpSum(s);
				if (lane == 0) addSigned(y[i * downY], sign, s.value());
				continue;
			}
			for (i64 e = begin + lane; e < end; e += 32) s.addProduct(data[perm ? perm[e] : e], x[ind[e] * downX]);
			s = warpSum(s);
			if (lane == 0) addSigned(y[i * downY], sign, alpha ? product(*alpha, s.value()) : s.value());
			continue;
		}
		for (i64 j = lane; j < cols; j += 32) { // the threads share the columns
			Sum<T> s = Sum<T>::zero();
			for (i64 e = begin; e < end; e++) s.addProduct(data[perm ? perm[e] : e], x[ind[e] * downX + j]);
			addSigned(y[i * downY + j], sign, alpha ? product(*alpha, s.value()) : s.value());
		}
	}
}

// ga_e += α·Σ_j u_ij·v_lj, for entry e in row i and column l. A warp does a row, and its
// threads share the entries.
template <class T>
DEVICE void addSampled(T *ga, const T *u, i64 downU, const T *v, i64 downV, i64 cols, i64 rows, const int *ptr, const int *ind, const T *alpha) {
	i64 lane = threadX() % 32;
	for (i64 i = blockX() * warps() + threadX() / 32; i < rows; i += blocks() * warps()) {
		for (i64 e = ptr[i] + lane; e < ptr[i + 1]; e += 32) {
			Sum<T> s = Sum<T>::zero();
			for (i64 j = 0; j < cols; j++) s.addProduct(u[i * downU + j], v[ind[e] * downV + j]);
			addSigned(ga[e], 1, alpha ? product(*alpha, s.value()) : s.value());
		}
	}
}

#define KERNELS(T, name) \
	KERNEL addSparse##name(T *y, i64 downY, const T *x, i64 downX, i64 cols, i64 rows, const int *ptr, const int *ind, const int *perm, const T *data, const T *alpha, i64 sign) { \
		addSparse(y, downY, x, downX, cols, rows, ptr, ind, perm, data, alpha, sign); \
	} \
	KERNEL addSampled##name(T *ga, const T *u, i64 downU, const T *v, i64 downV, i64 cols, i64 rows, const int *ptr, const int *ind, const T *alpha) { \
		addSampled(ga, u, downU, v, downV, cols, rows, ptr, ind, alpha); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
