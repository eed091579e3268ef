// Stacks of matrices. Element (i, j) of matrix b is at b·batch + i·down + j·across.
#include "floats.h"

// y += sign·x, where part is 0 for all elements, and 1 or 2 for those on and above the diagonal or above
// it. Negative parts are below the diagonal.
template <class T> DEVICE void addStack(T *y, i64 downY, i64 acrossY, i64 batchY, i64 sign, const T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, i64 cols, i64 count, i64 part) {
	for (i64 e = first(); e < count * rows * cols; e += step()) {
		i64 row = over(e, cols), j = e - row * cols, b = over(row, rows), i = row - b * rows;
		if (part > 0 ? j - i < part - 1 : part < 0 && i - j < -part - 1) continue;
		addSigned(y[b * batchY + i * downY + j * acrossY], sign, x[b * batchX + i * downX + j * acrossX]);
	}
}

// mirror copies the lower triangles of `count` n×n matrices to their upper ones. If add is
// set, it adds them there, and leaves zeros below.
template <class T> DEVICE void mirror(T *k, i64 n, i64 count, i64 add) {
	for (i64 e = first(); e < count * n * n; e += step()) {
		i64 row = over(e, n), j = e - row * n, b = over(row, n), i = row - b * n;
		if (j >= i) continue;
		T &low = k[e], &up = k[(b * n + j) * n + i];
		if (add) {
			up += low;
			low = 0;
		} else {
			up = low;
		}
	}
}

// x <- x·R⁻¹ for an R of up to 32 columns, upper or lower triangular. If unit is set, its diagonal counts as
// 1. A thread does a row of x, and consecutive blocks do a matrix.
constexpr int solveCols = 32, solveRows = 64;
template <class T> INLINE void solveStack(T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, const T *r, i64 downR, i64 acrossR, i64 batchR, i64 size, i64 lower, i64 unit) {
	SHARED T block[solveCols][solveCols + 1], xs[solveRows][solveCols + 1];
	i64 each = over(rows + solveRows - 1, solveRows), b = over(blockX(), each), row = (blockX() - b * each) * solveRows;
	int me = (int)threadX(), width = (int)size, mine = rows - row < solveRows ? (int)(rows - row) : solveRows;
	x += b * batchX + row * downX;
	r += b * batchR;
	for (int e = me; e < width * width; e += solveRows) {
		int far = e / width, near = e % width, i = acrossR == 1 ? far : near, j = acrossR == 1 ? near : far;
		T v = r[i * downR + j * acrossR];
		if (lower) block[j][i] = v;
		else block[width - 1 - j][width - 1 - i] = v; // turned, so that both cases are one
	}
	auto rowOf = [&](int e) { return acrossX == 1 ? e / width : e % mine; }; // neighbours in memory are those of threads
	auto columnOf = [&](int e) { return acrossX == 1 ? e % width : e / mine; };
	auto place = [&](int j) { return lower ? j : width - 1 - j; };
	for (int e = me; e < mine * width; e += solveRows) {
		int i = rowOf(e), j = columnOf(e);
		xs[i][place(j)] = x[i * downX + j * acrossX];
	}
	barrier();
	if (me < mine) {
		T *own = xs[me];
		for (int j = width - 1; j >= 0; j--) {
			T s = own[j];
			for (int k = j + 1; k < width; k++) s = fma(-own[k], block[j][k], s);
			own[j] = unit ? s : s / block[j][j];
		}
	}
	barrier();
	for (int e = me; e < mine * width; e += solveRows) {
		int i = rowOf(e), j = columnOf(e);
		x[i * downX + j * acrossX] = xs[i][place(j)];
	}
}

// worst[b] = (κ, j): the first of the largest ratios κ, and its column j, counted through all
// matrices of the stack, for what block b sees of them. κ is at least 1. If ratios is null, those are in others.
KERNEL condition(double *worst, const double *ratios, const double *others, i64 count) {
	SHARED double most[maxThreads], column[maxThreads];
	i64 me = threadX();
	most[me] = 1;
	column[me] = 0;
	for (i64 i = first(); i < count; i += step()) {
		double v = ratios ? ratios[i] : others[2 * i];
		if (v > most[me]) {
			most[me] = v;
			column[me] = ratios ? (double)i : others[2 * i + 1];
		}
	}
	for (i64 half = maxThreads / 2; half > 0; half /= 2) {
		barrier();
		i64 other = me + half;
		if (me < half && other < threads() && (most[other] > most[me] || (most[other] == most[me] && column[other] < column[me]))) {
			most[me] = most[other];
			column[me] = column[other];
		}
	}
	if (me > 0) return;
	worst[2 * blockX()] = most[0];
	worst[2 * blockX() + 1] = column[0];
}

// ratios are infinite where an element of a diagonal is zero, and 0 elsewhere.
template <class T> DEVICE void zeroDiagonal(double *ratios, const T *a, i64 down, i64 batch, i64 n, i64 count) {
	for (i64 e = first(); e < count * n; e += step()) {
		i64 b = over(e, n), i = e - b * n;
		ratios[e] = a[b * batch + i * down + i] == 0 ? __builtin_inf() : 0;
	}
}

// halve leaves of `count` n×n matrices the lower triangles, with zeros above them. If part is 1, it halves the
// diagonals. If it is 2, it halves all elements and copies them to the upper triangles.
template <class T> DEVICE void halve(T *x, i64 n, i64 count, i64 part) {
	for (i64 e = first(); e < count * n * n; e += step()) {
		i64 row = over(e, n), j = e - row * n, b = over(row, n), i = row - b * n;
		if (j > i) {
			if (part < 2) x[e] = 0;
			continue;
		}
		if (part == 2 || (part == 1 && i == j)) x[e] /= 2;
		if (part == 2 && j < i) x[(b * n + j) * n + i] = x[e];
	}
}

#define KERNELS(T, name) \
	KERNEL halve##name(T *x, i64 n, i64 count, i64 part) { halve(x, n, count, part); } \
	KERNEL zeroDiagonal##name(double *ratios, const T *a, i64 down, i64 batch, i64 n, i64 count) { zeroDiagonal(ratios, a, down, batch, n, count); } \
	KERNEL addStack##name(T *y, i64 downY, i64 acrossY, i64 batchY, i64 sign, const T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, i64 cols, i64 count, i64 part) { \
		addStack(y, downY, acrossY, batchY, sign, x, downX, acrossX, batchX, rows, cols, count, part); \
	} \
	KERNEL mirror##name(T *k, i64 n, i64 count, i64 add) { mirror(k, n, count, add); } \
	KERNEL solveStack##name(T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, const T *r, i64 downR, i64 acrossR, i64 batchR, i64 size, i64 lower, i64 unit) { \
		solveStack(x, downX, acrossX, batchX, rows, r, downR, acrossR, batchR, size, lower, unit); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
