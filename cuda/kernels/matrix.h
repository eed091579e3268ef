// Dense matrices and their tiles in shared memory.
#pragma once
#include "number.h"

// Element (i, j) of a Matrix is at i·down + j·across, so that a transpose is one too.
template <class T> struct Matrix {
	T *data;
	i64 down, across;
	DEVICE T &at(i64 i, i64 j) const { return data[i * down + j * across]; }
	DEVICE Matrix transposed() const { return {data, across, down}; }
};

// depth is how many terms of the sums of a product are in shared memory at a time.
constexpr int depth = 16;

// loadTile loads the elements (row + i, l + p) of a as tile[p][i], and zeros where a matrix of
// m×k elements has none. Neighbouring threads of all that there are load neighbours in memory.
template <int side, int all, class T, int width>
DEVICE void loadTile(T (&tile)[depth][width], Matrix<const T> a, int me, i64 row, i64 m, i64 l, i64 k) {
	for (int e = me; e < side * depth; e += all) {
		int i = a.across == 1 ? e / depth : e % side, p = a.across == 1 ? e % depth : e / side;
		T zero = {};
		tile[p][i] = row + i < m && l + p < k ? a.at(row + i, l + p) : zero;
	}
}
