// Products of a matrix and a vector. Row i of the matrix begins at i·stride.
#include "vector.h"

// y_i += sign·Σ_j a_ij·x_j, and z_i += sign·Σ_j a_ij·w_j unless w is null. A warp does a row. A Q43 is
// rounded once.
template <class T>
DEVICE void addRows(Vector<T> y, const T *a, i64 stride, i64 rows, i64 cols, Vector<const T> x, Vector<T> z, Vector<const T> w, i64 sign) {
	i64 lane = threadX() % lanes, warps = threads() / lanes;
	for (i64 i = blockX() * warps + threadX() / lanes; i < rows; i += blocks() * warps) {
		Sum<T> s = Sum<T>::zero(), s1 = s;
		for (i64 j = lane; j < cols; j += lanes) {
			T v = a[i * stride + j];
			s.addProduct(v, x.at(j));
			if (w) s1.addProduct(v, w.at(j));
		}
		s = warpSum(s);
		if (w) s1 = warpSum(s1);
		if (lane > 0) continue;
		addSigned(y.at(i), sign, s.value());
		if (w) addSigned(z.at(i), sign, s1.value());
	}
}

// part_bj = Σ_i y_i·a_ij over the rows of part b, of which each has that many rows. Each
// product is rounded. A null y stands for ones. A thread does a column.
template <class T>
DEVICE void columnParts(T *part, const T *a, i64 stride, i64 rows, i64 cols, const T *y, i64 incy, i64 each) {
	i64 begin = blockY() * each, end = begin + each < rows ? begin + each : rows;
	for (i64 j = first(); j < cols; j += step()) {
		T s = {};
#pragma unroll 4
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

// a_ij += sign·x_i·y_j. A null x or y stands for ones. A thread does some rows of a column.
template <class T>
DEVICE void addOuter(T *a, i64 stride, i64 rows, i64 cols, const T *x, i64 incx, const T *y, i64 incy, i64 sign) {
	for (i64 j = first(); j < cols; j += step()) {
		T v = y ? y[j * incy] : T{};
		for (i64 i = blockY(); i < rows; i += blocksY()) {
			addSigned(a[i * stride + j], sign, !x ? v : !y ? x[i * incx] : product(x[i * incx], v));
		}
	}
}

#define KERNELS(T, name) \
	KERNEL addRows##name(T *y, i64 incy, const T *a, i64 stride, i64 rows, i64 cols, const T *x, i64 incx, T *z, i64 incz, const T *w, i64 incw, i64 sign) { \
		addRows<T>({y, incy}, a, stride, rows, cols, {x, incx}, {z, incz}, {w, incw}, sign); \
	} \
	KERNEL columnParts##name(T *part, const T *a, i64 stride, i64 rows, i64 cols, const T *y, i64 incy, i64 each) { columnParts(part, a, stride, rows, cols, y, incy, each); } \
	KERNEL columnEnd##name(T *x, i64 incx, const T *part, i64 parts, i64 cols) { columnEnd(x, incx, part, parts, cols); } \
	KERNEL addOuter##name(T *a, i64 stride, i64 rows, i64 cols, const T *x, i64 incx, const T *y, i64 incy, i64 sign) { addOuter(a, stride, rows, cols, x, incx, y, incy, sign); }
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
