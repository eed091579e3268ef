// What the kernels of Attention on tensor cores have in common.
#pragma once
#include "function.h"
#include "product.h"
#include "tensor.h"

// The instruction has rows of 16 and columns of 8. A head has up to 64 columns.
constexpr int tall = 16, eighth = 8, widest = 64, parts = widest / eighth;
typedef double two __attribute__((ext_vector_type(2)));

// An operand has the rows of all heads side by side.
template <class T> struct Rows {
	T *data;
	i64 down;
	// at returns the columns from column on of the rows from row on, or null of null.
	DEVICE Rows at(i64 row, i64 column) const { return {data ? data + (row * down + column) : data, down}; }
};

// swizzled returns where column 8p + c of row r of a tile is, which has 64 columns. So a warp reads from all banks, whether its
// lanes i = lane/4 and j = lane%4 read columns 2j and 2j + 1 of row i, or column i of row 2j. For a p that is known, this is a sum.
DEVICE int swizzled(int r, int p, int c) {
	int by = (r / 4 ^ r) % 2 * 8;
	return eighth * p + (c ^ r / 2 % 2 * 4) + (p % 2 ? -by : by);
}

// Powers are of what a score is below a reference, which is this much more than the largest score of the first tile, so that
// they are at most 1. Where a score is more than the reference, it moves likewise, and what has been added up is scaled down.
constexpr double grows = 16;
// The reference before all tiles. It is finite, so that a score of -∞ is below it.
CONSTANT double lowest = -0x1.fffffffffffffp1023;

// loadRows sets the first factor of products to rows own + 8h, for h of 0 and 1, of which there are so many, with a number of
// columns. A lane has columns 8p + 2j and 8p + 2j + 1, which it calls the terms j and j + 4 of part p.
INLINE void loadRows(double (&a)[parts][2][2], Rows<const double> from, i64 own, i64 rows, i64 columns, int j) {
#pragma unroll
	for (int h = 0; h < 2; h++) {
		i64 row = own + eighth * h;
#pragma unroll
		for (int p = 0; p < parts; p++) {
#pragma unroll
			for (int l = 0; l < 2; l++) {
				int t = eighth * p + 2 * j + l;
				a[p][h][l] = row < rows && t < columns ? from.data[row * from.down + t] : 0;
			}
		}
	}
}

// multiplyRows computes s += a·bᵀ for 8 rows b of a tile with a number of columns.
INLINE void multiplyRows(double (&s)[2][2], const double (&a)[parts][2][2], const double (*b)[widest], i64 columns, int i, int j) {
#pragma unroll
	for (int p = 0; p < parts; p++) {
		if (eighth * p >= columns) break;
		two pair = *(const two *)&b[i][swizzled(i, p, 2 * j)];
		double terms[2] = {pair[0], pair[1]};
		multiply(s, a[p], terms);
	}
}

// multiplyColumns computes o += s·b for 8 rows b of a tile with a number of columns. A lane has of s what multiplyRows set.
INLINE void multiplyColumns(double (&o)[parts][2][2], const double (&s)[2][2], const double (*b)[widest], i64 columns, int i, int j) {
#pragma unroll
	for (int q = 0; q < parts; q++) {
		if (eighth * q >= columns) break;
		double terms[2] = {b[2 * j][swizzled(2 * j, q, i)], b[2 * j + 1][swizzled(2 * j + 1, q, i)]};
		multiply(o[q], s, terms);
	}
}

// A Copy is the part of a thread in the copies of tiles, one after the other, of rows with a number of columns: a column of
// every fourth row. Rows that are not there become zeros, and are read nowhere.
struct Copy {
	static constexpr int apart = maxThreads / widest;
	const double *next;
	i64 step;
	int row, column, there;
	INLINE Copy(Rows<const double> from, i64 columns) : step(apart * from.down), row((int)threadX() / widest), column((int)threadX() % widest) {
		there = from.data && column < columns;
		next = from.data + row * from.down + column;
	}
	template <int rows> INLINE void load(double (&to)[rows][widest], i64 left, const double *anything) {
		int some = there ? clamp(left, rows) : 0;
#pragma unroll
		for (int u = 0; u < rows; u += apart) {
			bool in = row + u < some;
			copyAsync<8>(&to[row + u][swizzled(row + u, column / eighth, column % eighth)], in ? next : anything, in ? 8 : 0);
			next += step;
		}
	}
};

// sumOfQuad returns the sum of x over the lanes with the same i.
INLINE double sumOfQuad(double x) {
	for (int mask = 1; mask < 4; mask *= 2) x += across(x, mask);
	return x;
}

// scaleRow multiplies row i + 8h of what has been added up.
INLINE void scaleRow(double (&o)[parts][2][2], int h, double by) {
#pragma unroll
	for (int q = 0; q < parts; q++) o[q][h][0] *= by, o[q][h][1] *= by;
}

// soften makes powers of the scores s of rows i and i + 8 and adds them to the rows' sums, of which the lane has a part. Of row
// h the scores from left[h] on are none. Where the reference top changes, it scales o and the sum down.
INLINE void soften(double (&s)[2][2], const int (&left)[2], double scale, double (&top)[2], double (&sum)[2], double (&o)[parts][2][2]) {
	double most[2];
#pragma unroll
	for (int h = 0; h < 2; h++) {
#pragma unroll
		for (int l = 0; l < 2; l++) {
			double &x = s[h][l];
			x = l < left[h] ? scale * x : -infinity;
			most[h] = l == 0 || x > most[h] ? x : most[h];
		}
	}
	if (anyLane(most[0] > top[0] || most[1] > top[1])) { // in few tiles
#pragma unroll
		for (int h = 0; h < 2; h++) {
			for (int mask = 1; mask < 4; mask *= 2) {
				double other = across(most[h], mask);
				most[h] = other > most[h] ? other : most[h];
			}
			if (!(most[h] > top[h])) continue;
			most[h] += grows;
			double keep = exp(top[h] - most[h]);
			top[h] = most[h];
			sum[h] *= keep;
			scaleRow(o, h, keep);
		}
	}
#pragma unroll
	for (int h = 0; h < 2; h++) {
#pragma unroll
		for (int l = 0; l < 2; l++) {
			double &x = s[h][l];
			x = exp(x - top[h]); // of the rounded product, as top is: else it could be far above 1
			sum[h] += x;
		}
	}
}
