// Products of a matrix and a vector. Row i of the matrix begins at i·stride.
#include "number.h"

// y_i += sign·Σ_j a_ij·x_j. A warp does a row. A Q43 is rounded once.
template <class T>
DEVICE void addRows(T *y, i64 incy, const T *a, i64 stride, i64 rows, i64 cols, const T *x, i64 incx, i64 sign) {
	i64 lane = threadX() % 32, warps = threads() / 32;
	for (i64 i = blockX() * warps + threadX() / 32; i < rows; i += blocks() * warps) {
		Sum<T> s = Sum<T>::zero();
		for (i64 j = lane; j < cols; j += 32) s.addProduct(a[i * stride + j], x[j * incx]);
		s = warpSum(s);
		if (lane == 0) addSigned(y[i * incy], sign, s.value());
	}
}

// part_bj = Σ_i y_i·a_ij over the rows of part b, of which each has that many rows. Each
// product is rounded. A null y stands for ones. A thread does a column.
template <class T>
DEVICE void columnParts(T *part, const T *a, i64 stride, i64 rows, i64 cols, const T *y, i64 incy, i64 each) {
	i64 begin = blockY() * each, end = begin + each < rows ? begin + each : rows;
	for (i64 j = first(); j < cols; j += step()) {
		T s = {};
		for (i64 i = begin; i < end; i++) addSigned(s, 1, y ? product(y[i * incy], a[i * stride + j]) : a[i * stride + j]);
		part[blockY() * cols + j] = s;
	}
}

// x_j += Σ_b part_bj, in the order of the parts.
template <class T> DEVICE void columnEnd(T *x, i64 incx, const T *part, i64 parts, i64 cols) {
	for (i64 j = first(); j < cols; j += step()) {
		T s = {};
		for (i64 b = 0; b < parts; b++) addSigned(s, 1, part[b * cols + j]);
		addSigned(x[j * incx], 1, s);
	}
}

// a_ij += sign·x_i·y_j. A null x or y stands for ones. A block does some columns of a row.
template <class T>
DEVICE void addOuter(T *a, i64 stride, i64 rows, i64 cols, const T *x, i64 incx, const T *y, i64 incy, i64 sign) {
	for (i64 i = blockY(); i < rows; i += blocksY()) {
		for (i64 j = first(); j < cols; j += step()) {
			addSigned(a[i * stride + j], sign, !x ? y[j * incy] : !y ? x[i * incx] : product(x[i * incx], y[j * incy]));
		}
	}
}

#define KERNELS(T, name) \
	KERNEL addRows##name(T *y, i64 incy, const T *a, i64 stride, i64 rows, i64 cols, const T *x, i64 incx, i64 sign) { addRows(y, incy, a, stride, rows, cols, x, incx, sign); } \
	KERNEL columnParts##name(T *part, const T *a, i64 stride, i64 rows, i64 cols, const T *y, i64 incy, i64 each) { columnParts(part, a, stride, rows, cols, y, incy, each); } \
	KERNEL columnEnd##name(T *x, i64 incx, const T *part, i64 parts, i64 cols) { columnEnd(x, incx, part, parts, cols); } \
	KERNEL addOuter##name(T *a, i64 stride, i64 rows, i64 cols, const T *x, i64 incx, const T *y, i64 incy, i64 sign) { addOuter(a, stride, rows, cols, x, incx, y, incy, sign); }
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
