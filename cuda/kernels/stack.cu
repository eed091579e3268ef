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

// quotient returns x/d, where r is 1/d: within an ulp, or 3/2 ulp where x is so small that the remainder underflows
// (below 2⁻⁹⁶⁰, or 2⁻¹⁰⁰ over float32). It takes three operations instead of a division's twelve.
template <class T> DEVICE T quotient(T x, T d, T r) {
	constexpr T least = sizeof(T) == 8 ? 0x1p-1000 : 0x1p-100; // magnitudes whose reciprocals are precise
	if (!(magnitude(d) >= least && magnitude(d) <= 1 / least)) return x / d;
	T q = x * r, better = fma(fma(-q, d, x), r, q);
	return better == better ? better : q; // what is infinite has no better one
}

// x <- x·R⁻¹ for an R of up to 128 columns, upper or lower triangular. If unit is set, its diagonal counts as 1. A block
// does 32 rows of x, which stay in shared memory, and consecutive blocks do a matrix.
//
// The columns are solved in parts of 32. A lane has a column of a part, and a warp some rows: it first subtracts what the
// parts that are done change, and then solves column after column. Matrices of upper R are turned, so that both cases are one.
constexpr int solveCols = 128, solveRows = 32, solveEach = solveRows * lanes / maxThreads;
template <class T> INLINE void solveStack(T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, const T *r, i64 downR, i64 acrossR, i64 batchR, i64 size, i64 lower, i64 unit) {
	SHARED T block[lanes][lanes + 1], xs[solveRows][solveCols + 1];
	i64 each = over(rows + solveRows - 1, solveRows), b = over(blockX(), each), row = (blockX() - b * each) * solveRows;
	int me = (int)threadX(), lane = me % lanes, width = (int)size, mine = rows - row < solveRows ? (int)(rows - row) : solveRows;
	T(*own)[solveCols + 1] = xs + me / lanes * solveEach;
	x += b * batchX + row * downX;
	r += b * batchR;
	auto place = [&](int j) { return lower ? j : width - 1 - j; };
	auto rowOf = [&](int e) { return acrossX == 1 ? e / width : e % solveRows; }; // neighbours in memory are those of threads
	auto columnOf = [&](int e) { return acrossX == 1 ? e % width : e / solveRows; };
	auto load = [&](int from, int to) { // block[j][k] is element (from + k, to + j) of R
		barrier();
		for (int e = me; e < lanes * lanes; e += maxThreads) {
			int far = e / lanes, near = e % lanes, k = acrossR == 1 ? far : near, j = acrossR == 1 ? near : far;
			block[j][k] = from + k < width && to + j < width ? r[place(from + k) * downR + place(to + j) * acrossR] : 0;
		}
		barrier();
	};
	for (int e = me; e < solveRows * width; e += maxThreads) {
		int i = rowOf(e), j = columnOf(e);
		xs[i][place(j)] = i < mine ? x[i * downX + j * acrossX] : 0;
	}
	int last = (width - 1) / lanes * lanes;
	for (int to = last; to >= 0; to -= lanes) {
		T s[solveEach] = {};
		for (int from = last; from > to; from -= lanes) {
			load(from, to);
			for (int k = 0; k < lanes && from + k < width; k++) {
#pragma unroll
				for (int q = 0; q < solveEach; q++) s[q] = fma(-own[q][from + k], block[lane][k], s[q]);
			}
		}
		load(to, to);
		T reciprocal = 1 / block[lane][lane];
#pragma unroll
		for (int q = 0; q < solveEach; q++) {
			if (to + lane < width) s[q] += own[q][to + lane];
		}
		for (int j = (width - to < lanes ? width - to : lanes) - 1; j >= 0; j--) {
			T pivot = block[j][j], r = ofLane(reciprocal, j), known = block[lane][j];
#pragma unroll
			for (int q = 0; q < solveEach; q++) {
				T v = ofLane(s[q], j);
				if (!unit) v = quotient(v, pivot, r);
				s[q] = lane == j ? v : lane < j ? fma(-v, known, s[q]) : s[q];
			}
		}
#pragma unroll
		for (int q = 0; q < solveEach; q++) {
			if (to + lane < width) own[q][to + lane] = s[q];
		}
	}
	barrier();
	for (int e = me; e < solveRows * width; e += maxThreads) {
		int i = rowOf(e), j = columnOf(e);
		if (i < mine) x[i * downX + j * acrossX] = xs[i][place(j)];
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

// halve halves the diagonals of `count` n×n matrices, and sets what is above them to zeros. If symmetric is set, it
// halves the lower triangles and copies them to the upper ones.
template <class T> DEVICE void halve(T *x, i64 n, i64 count, i64 symmetric) {
	for (i64 e = first(); e < count * n * n; e += step()) {
		i64 row = over(e, n), j = e - row * n, b = over(row, n), i = row - b * n;
		if (j > i) {
			if (!symmetric) x[e] = 0;
			continue;
		}
		if (symmetric || i == j) x[e] /= 2;
		if (symmetric && j < i) x[(b * n + j) * n + i] = x[e];
	}
}

#define KERNELS(T, name) \
	KERNEL halve##name(T *x, i64 n, i64 count, i64 symmetric) { halve(x, n, count, symmetric); } \
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
