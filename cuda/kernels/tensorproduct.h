// A tile of the product of matrices on the tensor cores for double.
#pragma once
#include "product.h"
#include "tensor.h"

// A Product. A block of four warps computes a tile of C with side rows and 64 columns, and a warp side/2
// rows and 32 columns of them. The terms 2·j and 2·j + 1 of a panel are those that the instruction calls j and
// j + 4: a lane reads both at once if they are neighbours.
template <int side, bool alongA, bool alongB, int piece>
INLINE void addTensorProduct(Product<double> f) {
	constexpr int sideB = 64, down = side / 32, across = 4;
	i64 row = blockY() * side, column = blockX() * sideB;
	if (f.skips(row, column, side)) return;
	int me = (int)threadX(), i = me % 32 / 4, j = me % 4, i0 = me / 32 % 2 * (side / 2), j0 = me / 64 * 32;
	double s[down][across][2][2] = {};
	stream<side, sideB, alongA, alongB, piece, 128>(f, me, row, column, [&](const double *as, const double *bs, auto copy) __attribute__((always_inline)) {
		double u[down][2][2], v[across][2];
#pragma unroll
		for (int p = 0; p < down; p++) {
#pragma unroll
			for (int h = 0; h < 2; h++) Panel<double, side, alongA>::pair(u[p][h], as, i0 + 16 * p + 8 * h + i, 2 * j);
		}
#pragma unroll
		for (int q = 0; q < across; q++) Panel<double, sideB, alongB>::pair(v[q], bs, j0 + 8 * q + i, 2 * j);
		copy();
#pragma unroll
		for (int p = 0; p < down; p++) {
#pragma unroll
			for (int q = 0; q < across; q++) multiply(s[p][q], u[p], v[q]);
		}
	});
#pragma unroll
	for (int p = 0; p < down; p++) {
#pragma unroll
		for (int h = 0; h < 2; h++) {
			i64 r = row + i0 + 16 * p + 8 * h + i;
			if (r >= f.m) continue;
#pragma unroll
			for (int q = 0; q < across; q++) {
#pragma unroll
				for (int l = 0; l < 2; l++) {
					i64 t = column + j0 + 8 * q + 2 * j + l;
					if (t < f.n) put(&f.c.at(r, t), f.sign, s[p][q][h][l]);
				}
			}
		}
	}
}
