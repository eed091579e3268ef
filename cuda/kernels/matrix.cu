// Kernels over dense matrices.
#include "matrix.h"

// C += sign·A·B. A block of 16×16 threads computes a tile of C with size·16 elements to a side, and
// a thread size×size of them, which are 16 apart. An element is the sum of its terms in their
// order, whatever the size.
template <class T, int size>
__attribute__((always_inline)) DEVICE void addProduct(Matrix<T> c, Matrix<const T> a, Matrix<const T> b, i64 m, i64 n, i64 k, i64 sign) {
	constexpr int side = 16 * size;
	SHARED T as[depth][side + 1], bs[depth][side + 1];
	i64 row = blockY() * side, column = blockX() * side;
	Sum<T> s[size][size];
#pragma unroll
	for (int i = 0; i < size; i++) {
#pragma unroll
		for (int j = 0; j < size; j++) s[i][j] = Sum<T>::zero();
	}
	int me = (int)(threadY() * 16 + threadX());
	for (i64 l = 0; l < k; l += depth) {
		loadTile<side, 256>(as, a, me, row, m, l, k);
		loadTile<side, 256>(bs, b.transposed(), me, column, n, l, k);
		barrier();
		for (int p = 0; p < depth; p++) {
			T u[size], v[size];
#pragma unroll
			for (int i = 0; i < size; i++) u[i] = as[p][16 * i + threadY()], v[i] = bs[p][16 * i + threadX()];
#pragma unroll
			for (int i = 0; i < size; i++) {
#pragma unroll
				for (int j = 0; j < size; j++) s[i][j].addProduct(u[i], v[j]);
			}
		}
		barrier();
	}
#pragma unroll
	for (int i = 0; i < size; i++) {
#pragma unroll
		for (int j = 0; j < size; j++) {
			i64 r = row + 16 * i + threadY(), q = column + 16 * j + threadX();
			if (r < m && q < n) addSigned(c.at(r, q), sign, s[i][j].value());
		}
	}
}

#define PRODUCT(T, size, name) \
	KERNEL name(T *c, i64 downC, i64 acrossC, i64 m, i64 n, i64 k, const T *a, i64 downA, i64 acrossA, const T *b, i64 downB, i64 acrossB, i64 sign) { \
		addProduct<T, size>({c, downC, acrossC}, {a, downA, acrossA}, {b, downB, acrossB}, m, n, k, sign); \
	}
PRODUCT(double, 1, addProductF64)
PRODUCT(float, 1, addProductF32)
PRODUCT(Q43, 1, addProductQ43)
PRODUCT(double, 4, addLargeProductF64)
PRODUCT(float, 4, addLargeProductF32)
PRODUCT(Q43, 2, addLargeProductQ43) // whose sums have 128 bits
