// Kernels over dense matrices.
#include "matrix.h"

// A Product. A block of 16×16 threads computes a tile of C with size·16 elements to a side, and
// a thread size×size of them, which are 16 apart. An element is the sum of its terms in their
// order, whatever the size. In fixed point, each pair of factors has a sum of its own, which is rounded.
template <int size, class T>
INLINE void addProduct(Product<T> f) {
	constexpr int side = 16 * size;
	SHARED T as[depth][side + 1], bs[depth][side + 1];
	i64 row = blockY() * side, column = blockX() * side;
	if (f.skips(row, column, side)) return;
	constexpr bool rounds = sizeof(Sum<T>) > sizeof(T);
	Sum<T> s[size][size];
	T before[size][size] = {};
#pragma unroll
	for (int i = 0; i < size; i++) {
#pragma unroll
		for (int j = 0; j < size; j++) s[i][j] = Sum<T>::zero();
	}
	int me = (int)(threadY() * 16 + threadX());
	for (;;) {
		for (i64 l = 0; l < f.k; l += depth) {
			loadTile<side, 256>(as, f.a, me, row, f.m, l, f.k);
			loadTile<side, 256>(bs, f.b.transposed(), me, column, f.n, l, f.k);
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
		if (!f.next()) break;
		if constexpr (rounds) {
#pragma unroll
			for (int e = 0; e < size * size; e++) before[e / size][e % size] = s[e / size][e % size].value(), s[e / size][e % size] = Sum<T>::zero();
		}
	}
#pragma unroll
	for (int i = 0; i < size; i++) {
#pragma unroll
		for (int j = 0; j < size; j++) {
			i64 r = row + 16 * i + threadY(), q = column + 16 * j + threadX();
			if (r >= f.m || q >= f.n) continue;
			T sum = s[i][j].value();
			if constexpr (rounds) sum = sum + before[i][j];
			put(&f.c.at(r, q), f.sign, sum);
		}
	}
}

PRODUCT(double, addProductF64, addProduct<1>)
PRODUCT(float, addProductF32, addProduct<1>)
PRODUCT(Q43, addProductQ43, addProduct<1>)
PRODUCT(double, addLargeProductF64, addProduct<4>)
PRODUCT(float, addLargeProductF32, addProduct<4>)
PRODUCT(Q43, addLargeProductQ43, addProduct<2>) // whose sums have 128 bits

// C += sign·Σ_z P_z, or C = Σ_z P_z if sign is 0, where the P are so many m×n matrices one after the other.
template <class T> DEVICE void addPartialProducts(Matrix<T> c, i64 m, i64 n, const T *part, i64 parts, i64 sign) {
	for (i64 e = first(); e < m * n; e += step()) {
		T s = {0};
		for (i64 z = 0; z < parts; z++) s = s + part[z * m * n + e];
		put(&c.at(e / n, e % n), sign, s);
	}
}
KERNEL addPartialProductsF64(double *c, i64 down, i64 across, i64 m, i64 n, const double *part, i64 parts, i64 sign) { addPartialProducts({c, down, across}, m, n, part, parts, sign); }
KERNEL addPartialProductsF32(float *c, i64 down, i64 across, i64 m, i64 n, const float *part, i64 parts, i64 sign) { addPartialProducts({c, down, across}, m, n, part, parts, sign); }
KERNEL addPartialProductsQ43(Q43 *c, i64 down, i64 across, i64 m, i64 n, const Q43 *part, i64 parts, i64 sign) { addPartialProducts({c, down, across}, m, n, part, parts, sign); }
