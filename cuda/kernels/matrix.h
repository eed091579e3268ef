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

// put adds x to *y, subtracts it if sign is negative, or sets *y to it if sign is 0. It then reads nothing, while a
// reference would let the compiler read.
template <class T> DEVICE void put(T *y, i64 sign, T x) {
	if (sign) addSigned(*y, sign, x);
	else *y = x;
}

// A Product is C += sign·A·B with k terms to a sum, or C = A·B if sign is 0. If there is a second pair of factors, their
// product is added to the first. If top is not negative, row 0 of C is row top of a symmetric matrix, and tiles above its
// diagonal are left out.
template <class T> struct Product {
	Matrix<T> c;
	i64 m, n, k;
	Matrix<const T> a, b, a2, b2;
	i64 sign, top, stepA2, stepB2;
	// skips reports whether the tile at a row and a column is left out.
	DEVICE bool skips(i64 row, i64 column, int side) const { return top >= 0 && column >= top + row + side; }
	// of returns product z of those that the blocks of all numbers z compute. It has `each` terms, and is
	// so many elements further in C, in A and in B. The last product has what is left of k terms.
	DEVICE Product of(i64 each, i64 stepC, i64 stepA, i64 stepB) const {
		i64 z = blockZ(), left = k - z * each;
		Product p = *this;
		p.k = left < each ? left : each;
		p.c.data += z * stepC;
		p.a.data += z * stepA, p.b.data += z * stepB;
		return p;
	}
	// next makes the second pair the first, and reports whether there is one.
	DEVICE bool next() {
		if (!a2.data) return false;
		a = {a2.data + blockZ() * stepA2, a2.down, a2.across}, b = {b2.data + blockZ() * stepB2, b2.down, b2.across};
		a2.data = nullptr;
		return true;
	}
};

// PRODUCT defines a kernel that calls a function with a product.
#define PRODUCT(T, name, function) \
	KERNEL name(T *c, i64 downC, i64 acrossC, i64 m, i64 n, i64 k, const T *a, i64 downA, i64 acrossA, const T *b, i64 downB, i64 acrossB, const T *a2, i64 downA2, i64 acrossA2, const T *b2, i64 downB2, i64 acrossB2, i64 sign, i64 top, i64 each, i64 stepC, i64 stepA, i64 stepB, i64 stepA2, i64 stepB2) { \
		function(Product<T>{{c, downC, acrossC}, m, n, k, {a, downA, acrossA}, {b, downB, acrossB}, {a2, downA2, acrossA2}, {b2, downB2, acrossB2}, sign, top, stepA2, stepB2}.of(each, stepC, stepA, stepB)); \
	}

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
