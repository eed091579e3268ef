// The product of matrices on the tensor cores for double, which cards of compute capability
// 8.0 and later have. tensor_sm90.cu is the same with the larger instruction of 9.0.
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
	stream<side, sideB, alongA, alongB, piece, 128>(f, me, row, column, [&](const double *as, const double *bs) __attribute__((always_inline)) {
		double u[down][2][2], v[across][2];
#pragma unroll
		for (int p = 0; p < down; p++) {
#pragma unroll
			for (int h = 0; h < 2; h++) Panel<double, side, alongA>::pair(u[p][h], as, i0 + 16 * p + 8 * h + i, 2 * j);
		}
#pragma unroll
		for (int q = 0; q < across; q++) Panel<double, sideB, alongB>::pair(v[q], bs, j0 + 8 * q + i, 2 * j);
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

// Large tiles want factors whose pieces of 16 bytes are aligned.
#define TENSOR_PRODUCTS(layout, alongA, alongB) \
	__attribute__((launch_bounds(128))) PRODUCT(double, TENSOR(addTensorProduct128##layout), (addTensorProduct<128, alongA, alongB, 2>)) \
	__attribute__((launch_bounds(128, 3))) PRODUCT(double, TENSOR(addTensorProduct64##layout), (addTensorProduct<64, alongA, alongB, 1>))
TENSOR_PRODUCTS(NN, true, false)
TENSOR_PRODUCTS(NT, true, true)
TENSOR_PRODUCTS(TN, false, false)
TENSOR_PRODUCTS(TT, false, true)

// Each warp computes 8 chains of count products each, for the benchmark. Each thread writes the
// sum of its part of them.
KERNEL TENSOR(tensorChains)(double *y, i64 count) {
	double v[8][2][2], a[2][2] = {{0.5, 0.5}, {0.5, 0.5}}, b[2] = {0.25, 0.25};
#pragma unroll
	for (int j = 0; j < 8; j++) v[j][0][0] = v[j][0][1] = v[j][1][0] = v[j][1][1] = (double)(threadX() + j);
	for (i64 c = 0; c < count; c++) {
#pragma unroll
		for (int j = 0; j < 8; j++) multiply(v[j], a, b);
	}
	double s = 0;
#pragma unroll
	for (int j = 0; j < 8; j++) s += v[j][0][0] + v[j][0][1] + (v[j][1][0] + v[j][1][1]);
	y[first()] = s;
}
