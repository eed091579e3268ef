// Large products of float32 matrices on cards of compute capability 8.0 and later.
#include "product.h"

// A Corner is 8 rows of a factor of a warp's tile that a lane reads, in fours: four terms of a row
// where they lie along the rows, and four rows of a term else. There are so many lanes beside each other.
template <int side, bool along, int lanes> struct Corner {
	typedef Panel<float, side, along> P;
	// row returns which row of the tile number r is.
	DEVICE static int row(int lane, int r) { return along ? lane + lanes * r : 4 * lane + r % 4 + 4 * lanes * (r / 4); }
	// read reads the terms from one on, a multiple of 4.
	INLINE static void read(float (&to)[4][8], const float *panel, int first, int lane, int term) {
		typedef float four __attribute__((ext_vector_type(4)));
#pragma unroll
		for (int e = 0; e < 8; e++) {
			int r = along ? e : e % 2 * 4, t = along ? 0 : e / 2;
			four v = *(const four *)(panel + P::at(first + row(lane, r), term + t));
#pragma unroll
			for (int h = 0; h < 4; h++) to[along ? h : t][along ? r : r + h] = v[h];
		}
	}
};

// A Product. A block computes 128×128 elements, a warp 32×64 of them, and a lane 8×8. An element
// is the sum of its terms in their order.
template <bool alongA, bool alongB>
INLINE void addWideProduct(Product<float> f) {
	constexpr int side = 128;
	typedef Corner<side, alongA, 4> Rows;
	typedef Corner<side, alongB, 8> Columns;
	i64 row = blockY() * side, column = blockX() * side;
	if (f.skips(row, column, side)) return;
	int me = (int)threadX(), i = me % 32 / 8, j = me % 8, i0 = me / 32 % 4 * 32, j0 = me / 128 * 64;
	float s[8][8];
#pragma unroll
	for (int e = 0; e < 64; e++) s[e / 8][e % 8] = 0;
	stream<side, side, alongA, alongB, 4, 256>(f, me, row, column, [&](const float *as, const float *bs, auto copy) __attribute__((always_inline)) {
#pragma unroll alongA == alongB ? 2 : 4 // as far as the registers last
		for (int p = 0; p < Panel<float, side, true>::terms; p += 4) {
			float u[4][8], v[4][8];
			Rows::read(u, as, i0, i, p);
			Columns::read(v, bs, j0, j, p);
#pragma unroll
			for (int t = 0; t < 4; t++) {
#pragma unroll
				for (int r = 0; r < 8; r++) {
#pragma unroll
					for (int q = 0; q < 8; q++) s[r][q] = __builtin_elementwise_fma(u[t][r], v[t][q], s[r][q]);
				}
			}
		}
		copy();
	});
#pragma unroll
	for (int r = 0; r < 8; r++) {
		i64 to = row + i0 + Rows::row(i, r);
		if (to >= f.m) continue;
#pragma unroll
		for (int q = 0; q < 8; q++) {
			i64 t = column + j0 + Columns::row(j, q);
			if (t < f.n) put(&f.c.at(to, t), f.sign, s[r][q]);
		}
	}
}

#define WIDE_PRODUCT(layout, alongA, alongB) __attribute__((launch_bounds(256))) PRODUCT(float, addWideProduct##layout##F32, (addWideProduct<alongA, alongB>))
WIDE_PRODUCT(NN, true, false)
WIDE_PRODUCT(NT, true, true)
WIDE_PRODUCT(TN, false, false)
WIDE_PRODUCT(TT, false, true)
