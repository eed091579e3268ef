// Panels of factors P·A = L·U, which the blocks of a cluster eliminate together.
#include "cluster.h"
#include "exchange.h"
#include "floats.h"

static_assert(panelCols % partCols == 0 && clusterBlocks <= mostWarps);

// A Choice is a row for the next pivot.
template <class T> struct Choice {
	u64 size;       // of its element in the column of the pivot, or 0 for none
	int place, row; // in P·A, and in A
	T v[partCols];
};

// chosen returns the least key of the lanes with the largest size.
DEVICE unsigned chosen(u64 size, unsigned key) {
	unsigned high = warpMost((unsigned)(size >> 32)), low = warpMost(size >> 32 == high ? (unsigned)size : 0);
	return warpLeast(size == ((u64)high << 32 | low) ? key : ~0u);
}

// chosen returns the choice with the largest size, and of those the one that is first in P·A. A warp calls it.
template <class T> INLINE const Choice<T> &chosen(const Choice<T> *of, int count) {
	int i = (int)threadX() % lanes;
	bool there = i < count;
	return of[chosen(there ? of[i].size : 0, there ? (unsigned)of[i].place * mostWarps + i : ~0u) % mostWarps];
}

// The shared memory of a block.
template <class T> struct Panel {
	Choice<T> ofWarps[mostWarps], ofBlocks[2][clusterBlocks];
	int rows[panelCols], places[panelCols]; // of the pivots, in A and in P·A
	T u[panelCols - partCols][partCols], l[partCols][partCols];
	T pivots[partCols][partCols]; // rows of U, each from its diagonal on
	union {
		T tile[mostWarps][lanes][partCols + 1];
		Move moves[2 * panelCols];
	};
};

// Eliminates columns top to top+width-1 of an n×n matrix, with partial pivoting, and exchanges rows in columns first to end-1. Column
// n is the numbers of the rows in order. Row j of P·A was exchanged with row pivots[j].
//
// Rows stay where they are until the end. Parts of 16 columns are eliminated one after the other. Before, columns 0 to lo-1 of the
// panel are applied to a part:
// each block solves U = L⁻¹·A for rows 0 to lo-1 of P·A, and its threads subtract products with U from their rows. When a
// column is eliminated, each thread subtracts from all of its rows, even from those that were pivots. Rows of pivots are kept in
// shared memory, and are stored from there at the end of a part.
template <class T> INLINE void panelColumns(T *matrix, i64 *order, i64 *pivots, i64 n, i64 top, int width, i64 first, i64 end) {
	OF_BLOCK(Panel<T>, m);
	static_assert(sizeof m <= 48 << 10);
	int me = (int)threadX(), lane = me % lanes, warp = me / lanes, all = (int)threads(), rank = clusterRank();
	T(&tile)[lanes][partCols + 1] = m.tile[warp];
	T *x = matrix + top * (n + 1);
	int rows = (int)(n - top);
	constexpr T small = sizeof(T) == 8 ? (T)0x1p-1000 : (T)0x1p-120; // a quotient by a pivot of less may not be a product
	auto begin = [&](int q) { return (q * clusterBlocks + rank) * all + warp * lanes; }; // the first of the warp's rows q
	// each calls f with the elements of rows q of the warp in 16 columns, so that neighbouring lanes have neighbours.
	auto each = [&](int q, int from, int to, auto f) __attribute__((always_inline)) {
#pragma unroll 8
		for (int e = lane; e < lanes * partCols; e += lanes) {
			int i = e / partCols, j = e % partCols;
			if (begin(q) + i < rows && from + j < to) f(tile[i][j], x[(begin(q) + i) * n + from + j]);
		}
	};
	int place[ownRows];
#pragma unroll
	for (int q = 0; q < ownRows; q++) place[q] = begin(q) + lane < rows ? begin(q) + lane : -1;
#pragma unroll 1
	for (int lo = 0; lo < width; lo += partCols) {
		T v[ownRows][partCols];
#pragma unroll
		for (int q = 0; q < ownRows; q++) {
#pragma unroll
			for (int k = 0; k < partCols; k++) v[q][k] = 0;
			if (begin(q) >= rows) continue;
			warpBarrier();
			each(q, lo, width, [](T &t, T &a) { t = a; });
			warpBarrier();
#pragma unroll
			for (int k = 0; k < partCols; k++) v[q][k] = place[q] >= 0 && lo + k < width ? tile[lane][k] : 0;
		}
		for (int e = me; e < lo * partCols; e += all) {
			int i = e / partCols, j = e % partCols;
			m.u[i][j] = lo + j < width ? x[m.rows[i] * n + lo + j] : 0;
		}
#pragma unroll 1
		for (int p = 0; p < lo; p += partCols) {
			for (int e = me; e < partCols * partCols; e += all) {
				int i = e / partCols, j = e % partCols;
				m.l[i][j] = j < i ? x[m.rows[p + i] * n + p + j] : 0;
			}
			barrier();
			if (me < partCols) { // a thread solves for a column
				T u[partCols];
#pragma unroll
				for (int i = 0; i < partCols; i++) {
					u[i] = m.u[p + i][me];
#pragma unroll
					for (int k = 0; k < i; k++) u[i] = fma(-m.l[i][k], u[k], u[i]);
					m.u[p + i][me] = u[i];
				}
			}
			barrier();
			for (int e = (p + partCols) * partCols + me; e < lo * partCols; e += all) {
				int i = e / partCols, j = e % partCols;
				T s = m.u[i][j];
				for (int k = 0; k < partCols; k++) s = fma(-x[m.rows[i] * n + p + k], m.u[p + k][j], s);
				m.u[i][j] = s;
			}
#pragma unroll
			for (int q = 0; q < ownRows; q++) {
				if (begin(q) >= rows) continue;
				warpBarrier();
				each(q, p, width, [](T &t, T &a) { t = a; });
				warpBarrier();
#pragma unroll 4
				for (int k = 0; k < partCols; k++) {
					T l = place[q] >= 0 ? tile[lane][k] : 0;
#pragma unroll
					for (int j = 0; j < partCols; j++) v[q][j] = fma(-l, m.u[p + k][j], v[q][j]);
				}
			}
		}
		clusterBarrier(); // all blocks are there, and none reads this part any more
#pragma unroll 1
		for (int k = 0; k < partCols && lo + k < width; k++) {
			int j = lo + k, rest = partCols - k;
			u64 best = 0;
			unsigned at = ~0u;
#pragma unroll
			for (int q = 0; q < ownRows; q++) {
				u64 now = place[q] >= j ? size(v[q][0]) : 0;
				if (now > best || (now == best && (unsigned)place[q] < at)) {
					best = now;
					at = place[q];
				}
			}
			unsigned place0 = chosen(best, best ? at : ~0u);
			Choice<T> &mine = m.ofWarps[warp];
			if (place0 == ~0u) {
				if (lane == 0) mine.size = 0, mine.place = mine.row = 0;
			} else if (best && at == place0) {
				mine.size = best;
				mine.place = at;
#pragma unroll
				for (int q = 0; q < ownRows; q++) {
					if (place[q] != (int)at) continue;
					mine.row = begin(q) + lane;
#pragma unroll
					for (int i = 0; i < partCols; i++) mine.v[i] = v[q][i];
				}
			}
			barrier();
			if (warp == 0) { // four lanes for each block
				static_assert(4 * clusterBlocks == lanes);
				const Choice<T> &c = chosen(m.ofWarps, all / lanes);
				Choice<T> &to = ofBlock(m, lane / 4).ofBlocks[k & 1][rank];
				if (lane % 4 == 0) {
					to.size = c.size;
					to.place = c.place;
					to.row = c.row;
				}
				for (int i = lane % 4; i < partCols && c.size; i += 4) to.v[i] = c.v[i];
			}
			clusterBarrier();
			const Choice<T> &c = chosen(m.ofBlocks[k & 1], clusterBlocks);
			int far = c.place;
			T pivot = c.v[0], ratio = 1 / pivot, l[ownRows];
			bool quick = magnitude(pivot) >= small && magnitude(pivot) <= 1 / small;
			if (me < partCols) m.pivots[k][me] = c.v[me];
			if (me == 0) {
				m.rows[j] = c.row;
				m.places[j] = far;
				if (rank == 0) pivots[top + j] = top + far;
			}
#pragma unroll
			for (int q = 0; q < ownRows; q++) {
				if (place[q] == far) place[q] = j;
				else if (place[q] == j) place[q] = far;
				l[q] = v[q][0];
				if (quick) l[q] *= ratio;
				else if (pivot != 0) l[q] /= pivot;
			}
			// Columns move to the left. The one that is done takes the place of the last.
#pragma unroll
			for (int i = 0; i < partCols; i++) {
				if (i == rest - 1) {
#pragma unroll
					for (int q = 0; q < ownRows; q++) v[q][i] = l[q];
				}
				if (i >= rest - 1) continue;
				T p = c.v[(i + 1) % partCols];
#pragma unroll
				for (int q = 0; q < ownRows; q++) v[q][i] = fma(-l[q], p, v[q][(i + 1) % partCols]);
			}
		}
		barrier();
#pragma unroll
		for (int q = 0; q < ownRows; q++) {
			if (begin(q) >= rows) continue;
			warpBarrier();
			int i = place[q] - lo;
#pragma unroll
			for (int k = 0; k < partCols; k++) {
				tile[lane][k] = v[q][partCols - 1 - k];
				if (place[q] >= 0 && i < 0) tile[lane][k] = m.u[place[q]][k];
				if (i >= 0 && i <= k && lo + k < width) tile[lane][k] = m.pivots[i][k - i];
			}
			warpBarrier();
			each(q, lo, width, [](T &t, T &a) { a = t; });
		}
		clusterBarrier(); // others read these rows
	}
	setMoves(m.moves, m.places, width, (int)top, all);
	barrier();
	constexpr int groups = 8; // of threads of a column
	int cols = all / groups;
	for (i64 j = first + rank * cols; j < end; j += clusterBlocks * cols) {
		i64 own = j + me % cols;
		moveRows<2 * panelCols / groups>(matrix, order, n, own, m.moves, own < end ? 2 * width : 0, me / cols, groups);
	}
}

#define KERNELS(T, name) \
	CLUSTER panelColumns##name(T *x, i64 *order, i64 *pivots, i64 n, i64 top, i64 width, i64 first, i64 end) { panelColumns(x, order, pivots, n, top, (int)width, first, end); }
KERNELS(double, F64)
KERNELS(float, F32)
