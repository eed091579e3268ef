// Factors P·A = L·U of stacks of n×n matrices, and what solves systems with them. The factors of a matrix
// stand in one matrix, L below the diagonal.
#include "exchange.h"
#include "floats.h"

// A Candidate is what some rows of a panel have for the next column: the row with the largest element there, of
// those below the rows that are done, and the row that it is to be exchanged with, if it is among them.
template <class T> struct Candidate {
	u64 size; // 0 if all rows are done
	i64 row;
	T v[lanes], top[lanes];
};

// chosen returns the first candidate of the largest size. A warp calls it.
template <class T> DEVICE const Candidate<T> &chosen(const Candidate<T> *of, int count) {
	u64 best = 0;
	int at = 0;
	for (int i = (int)threadX() % lanes; i < count; i += lanes) {
		if (of[i].size > best) {
			best = of[i].size;
			at = i;
		}
	}
	for (int mask = lanes / 2; mask > 0; mask /= 2) {
		u64 other = crossed(best, mask);
		int i = crossed(at, mask);
		if (other > best || (other == best && i < at)) {
			best = other;
			at = i;
		}
	}
	return of[at];
}

// Eliminates columns of panels of up to 32 columns, with partial pivoting. A lane has a column, and a
// warp 8 rows, in registers. `each` blocks do the panel of a matrix.
//
// Step j exchanges row j with the row that the candidates of the step before have, and eliminates column j. Step -1
// only finds candidates. If one block has all rows, a launch makes all steps, and otherwise one step from
// `from`, with the candidates of its blocks in found, and those of the next step in next. Rows of pivots are counted in the matrix, whose row `top`
// is the first of the panel.
constexpr int warpRows = 8;
template <class T> INLINE void pivotColumns(T *x, i64 down, i64 batch, i64 rows, i64 width, i64 each, i64 from, i64 to, const Candidate<T> *found, Candidate<T> *next, i64 *pivots, i64 stride, i64 topRow) {
	SHARED Candidate<T> own[2][maxThreads / lanes];
	int lane = (int)threadX() % lanes, warp = (int)threadX() / lanes, warps = (int)threads() / lanes;
	int part = (int)(blockX() % each), before = part * warps * warpRows, start = before + warp * warpRows, last = (int)rows, end = (int)to;
	i64 b = over(blockX(), each);
	x += b * batch + start * down + lane;
	found += b * each;
	T v[warpRows];
#pragma unroll
	for (int q = 0; q < warpRows; q++) v[q] = start + q < last && lane < width ? x[q * down] : 0;
	for (int j = (int)from; j < end; j++) {
		T p = 0, t = 0, pivot = 0;
		i64 row = 0;
		if (j >= 0) {
			const Candidate<T> *all = j > from ? own[j & 1] : found;
			const Candidate<T> &c = chosen(all, j > from ? warps : (int)each);
			row = c.row;
			p = c.v[lane];
			t = all[j / (j > from ? warpRows : warps * warpRows)].top[lane];
			pivot = ofLane(p, j);
			if (part == 0 && threadX() == 0) pivots[b * stride + topRow + j] = topRow + row;
		}
		Candidate<T> &mine = own[(j + 1) & 1][warp];
		u64 best = 0;
		i64 at = 0;
		T kept = 0;
#pragma unroll
		for (int q = 0; q < warpRows; q++) {
			int i = start + q;
			if (i < j || i >= last) continue;
			if (i == j) {
				v[q] = p;
				continue;
			}
			if (j >= 0) {
				T s = i == row ? t : v[q], l = ofLane(s, j);
				if (pivot != 0) l /= pivot;
				v[q] = lane > j ? fma(-l, p, s) : lane == j ? l : s;
			}
			if (i == j + 1) mine.top[lane] = v[q];
			u64 now = size(ofLane(v[q], j + 1));
			if (now > best) {
				best = now;
				at = i;
				kept = v[q];
			}
		}
		mine.v[lane] = kept;
		if (lane == 0) {
			mine.size = best;
			mine.row = at;
		}
		barrier();
	}
#pragma unroll
	for (int q = 0; q < warpRows; q++) {
		if (start + q < last && lane < width) x[q * down] = v[q];
	}
	if (end == width || warp > 0) return;
	const Candidate<T> *all = own[end & 1], &c = chosen(all, warps);
	Candidate<T> &mine = next[blockX()];
	mine.v[lane] = c.v[lane];
	if (end >= before && end < before + warps * warpRows) mine.top[lane] = all[(end - before) / warpRows].top[lane];
	if (lane == 0) {
		mine.size = c.size;
		mine.row = c.row;
	}
}

// Exchanges rows as they were exchanged in the panel of columns lo to hi-1, in `cols` other columns: those from `from` to end-1, and
// then those from `begin` on. Column n is the numbers of the rows in order. A block does 8 columns.
constexpr int exchangeCols = 8, mostPivots = 256; // as in cuda/solve.go
template <class T> DEVICE void exchangeRows(T *x, i64 *order, const i64 *pivots, i64 n, i64 lo, i64 hi, i64 from, i64 begin, i64 end, i64 cols) {
	SHARED int pivot[mostPivots];
	SHARED Move moves[2 * mostPivots];
	constexpr int groups = maxThreads / exchangeCols;
	int me = (int)threadX(), count = (int)(hi - lo);
	i64 each = over(cols + exchangeCols - 1, exchangeCols), b = over(blockX(), each), e = (blockX() - b * each) * exchangeCols + me % exchangeCols, j = from + e;
	if (j >= end) j += begin - end;
	for (int i = me; i < count; i += maxThreads) pivot[i] = (int)(pivots[b * n + lo + i] - lo);
	barrier();
	setMoves(moves, pivot, count, (int)lo, maxThreads);
	barrier();
	moveRows<2 * mostPivots / groups>(x + b * n * n, order + b * n, n, j, moves, e < cols ? 2 * count : 0, me / exchangeCols, groups);
}

// scaled returns v·2^shift of row i. Null stands for shifts of 0.
template <class T> DEVICE T scaled(T v, const i64 *shifts, i64 i) { return shifts ? scale(v, (int)shifts[i]) : v; }

// x = A, with rows multiplied by powers of two. order numbers the rows.
template <class T> DEVICE void loadSystems(T *x, i64 *order, const T *a, i64 down, i64 batch, i64 n, i64 count, const i64 *shifts) {
	for (i64 e = first(); e < count * n * n; e += step()) {
		i64 row = over(e, n), j = e - row * n, b = over(row, n), i = row - b * n;
		x[e] = scaled(a[b * batch + i * down + j], shifts, row);
		if (j == 0) order[row] = i;
	}
}

// ratios[j] = ‖a_j‖/|u_jj| for the largest magnitude of column j of A with scaled rows, and the pivot of the factor in
// x. A block does 32 columns of a matrix.
template <class T> DEVICE void pivotRatios(double *ratios, const T *x, const T *a, i64 down, i64 batch, i64 n, const i64 *shifts) {
	SHARED T tops[maxThreads / lanes][lanes];
	i64 each = over(n + lanes - 1, lanes), b = over(blockX(), each), lane = threadX() % lanes, warp = threadX() / lanes, warps = threads() / lanes;
	i64 j = (blockX() - b * each) * lanes + lane;
	T top = 0;
	for (i64 i = warp; i < n && j < n; i += warps) {
		T v = magnitude(scaled(a[b * batch + i * down + j], shifts, b * n + i));
		top = v > top || v != v ? v : top; // NaN stays
	}
	tops[warp][lane] = top;
	barrier();
	if (warp > 0 || j >= n) return;
	for (i64 i = 1; i < warps; i++) {
		T v = tops[i][lane];
		top = v > top || v != v ? v : top;
	}
	ratios[b * n + j] = ratio(top, x[(b * n + j) * n + j]);
}

// shifts[i] are exponents for which the largest magnitude in row i times 2^shifts[i] is in [1/2, 1), in matrices of which
// a ratio is limit or more, and 0 in others. A warp does a row.
template <class T> DEVICE void rowShifts(i64 *shifts, const double *ratios, double limit, const T *a, i64 down, i64 batch, i64 n, i64 count) {
	i64 lane = threadX() % lanes;
	for (i64 row = first() / lanes; row < count * n; row += step() / lanes) {
		i64 b = over(row, n), i = row - b * n;
		double worst = 0, top = 0;
		for (i64 j = lane; j < n; j += lanes) {
			double r = ratios[b * n + j], v = magnitude((double)a[b * batch + i * down + j]);
			worst = r > worst ? r : worst;
			top = v > top ? v : top;
		}
		for (int mask = lanes / 2; mask > 0; mask /= 2) {
			double r = across(worst, mask), v = across(top, mask);
			worst = r > worst ? r : worst;
			top = v > top ? v : top;
		}
		if (lane == 0) shifts[row] = worst >= limit ? -exponent(top) : 0;
	}
}

// y = P·D·x, or D·Pᵀ·x if back is set, for stacks of n×m matrices. D has the powers of two of the rows of A.
template <class T> DEVICE void permuteRows(T *y, const T *x, i64 n, i64 m, i64 count, const i64 *order, const i64 *shifts, i64 back) {
	for (i64 e = first(); e < count * n * m; e += step()) {
		i64 row = over(e, m), j = e - row * m, far = row - row % n + order[row], at = far * m + j;
		if (back) y[at] = scaled(x[e], shifts, far);
		else y[e] = scaled(x[at], shifts, far);
	}
}

#define KERNELS(T, name) \
	KERNEL __attribute__((launch_bounds(maxThreads, sizeof(T) == 8 ? 2 : 3))) pivotColumns##name(T *x, i64 down, i64 batch, i64 rows, i64 width, i64 each, i64 from, i64 to, const Candidate<T> *found, Candidate<T> *next, i64 *pivots, i64 stride, i64 top) { \
		pivotColumns(x, down, batch, rows, width, each, from, to, found, next, pivots, stride, top); \
	} \
	KERNEL exchangeRows##name(T *x, i64 *order, const i64 *pivots, i64 n, i64 lo, i64 hi, i64 from, i64 begin, i64 end, i64 cols) { exchangeRows(x, order, pivots, n, lo, hi, from, begin, end, cols); } \
	KERNEL loadSystems##name(T *x, i64 *order, const T *a, i64 down, i64 batch, i64 n, i64 count, const i64 *shifts) { loadSystems(x, order, a, down, batch, n, count, shifts); } \
	KERNEL pivotRatios##name(double *ratios, const T *x, const T *a, i64 down, i64 batch, i64 n, const i64 *shifts) { pivotRatios(ratios, x, a, down, batch, n, shifts); } \
	KERNEL rowShifts##name(i64 *shifts, const double *ratios, double limit, const T *a, i64 down, i64 batch, i64 n, i64 count) { rowShifts(shifts, ratios, limit, a, down, batch, n, count); } \
	KERNEL permuteRows##name(T *y, const T *x, i64 n, i64 m, i64 count, const i64 *order, const i64 *shifts, i64 back) { permuteRows(y, x, n, m, count, order, shifts, back); }
KERNELS(double, F64)
KERNELS(float, F32)
