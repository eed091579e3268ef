// The product of matrices on the tensor cores for double, which cards of compute capability
// 8.0 and later have.
#include "matrix.h"

// d += a·b for tiles of 8×4 and 4×8 elements, of which each lane has one, and of 8×8 elements, of
// which each has two (PTX ISA, Matrix Fragments for mma.m8n8k4 with .f64).
DEVICE void multiply(double (&d)[2], double a, double b) {
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
}

// C += sign·A·B. A block of four warps computes a tile of 64×64 elements of C, and a warp 32×32 of
// them.
KERNEL addTensorProductF64(double *c, i64 downC, i64 acrossC, i64 m, i64 n, i64 k, const double *a, i64 downA, i64 acrossA, const double *b, i64 downB, i64 acrossB, i64 sign) {
	constexpr int side = 64, tiles = 4;
	SHARED double as[depth][side + 4], bs[depth][side + 4]; // four lanes of a column and four rows are in different banks
	Matrix<double> to{c, downC, acrossC};
	i64 row = blockY() * side, column = blockX() * side;
	int me = (int)threadX(), lane = me % 32, i0 = me / 64 * 32, j0 = me / 32 % 2 * 32;
	double s[tiles][tiles][2] = {};
	for (i64 l = 0; l < k; l += depth) {
		loadTile<side, 128>(as, Matrix<const double>{a, downA, acrossA}, me, row, m, l, k);
		loadTile<side, 128>(bs, Matrix<const double>{b, acrossB, downB}, me, column, n, l, k);
		barrier();
#pragma unroll
		for (int p = 0; p < depth; p += 4) {
			double u[tiles], v[tiles];
#pragma unroll
			for (int i = 0; i < tiles; i++) u[i] = as[p + lane % 4][i0 + 8 * i + lane / 4], v[i] = bs[p + lane % 4][j0 + 8 * i + lane / 4];
#pragma unroll
			for (int i = 0; i < tiles; i++) {
#pragma unroll
				for (int j = 0; j < tiles; j++) multiply(s[i][j], u[i], v[j]);
			}
		}
		barrier();
	}
#pragma unroll
	for (int i = 0; i < tiles; i++) {
#pragma unroll
		for (int j = 0; j < tiles; j++) {
#pragma unroll
			for (int h = 0; h < 2; h++) {
				i64 r = row + i0 + 8 * i + lane / 4, q = column + j0 + 8 * j + lane % 4 * 2 + h;
				if (r < m && q < n) addSigned(to.at(r, q), sign, s[i][j][h]);
			}
		}
	}
}

// Each warp computes 8 chains of count products each, for the benchmark. Each thread writes the
// sum of its part of them.
KERNEL tensorChainsF64(double *y, i64 count) {
	double v[8][2];
#pragma unroll
	for (int j = 0; j < 8; j++) v[j][0] = v[j][1] = (double)(threadX() + j);
	for (i64 c = 0; c < count; c++) {
#pragma unroll
		for (int j = 0; j < 8; j++) multiply(v[j], 0.5, 0.25);
	}
	double s = 0;
#pragma unroll
	for (int j = 0; j < 8; j++) s += v[j][0] + v[j][1];
	y[first()] = s;
}
