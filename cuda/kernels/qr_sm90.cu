// Panels of QR decompositions, which the blocks of a cluster reduce together.
#include "cluster.h"
#include "reflection.h"

// The shared memory of a block.
template <class T> struct Panel {
	T scales[mostWarps][partCols] __attribute__((aligned(16))), z[partCols][partCols] __attribute__((aligned(16)));
	T ofWarps[mostWarps][partCols][partCols], ofBlocks[clusterBlocks][partCols][partCols]; // sums over rows
	T steps[2][clusterBlocks][partCols], pivots[2][partCols], row[partCols];             // those of a column, and its row of the part
	T s[panelCols][partCols]; // of the vectors of two columns of a part
};

template <class T> DEVICE T larger(T x, T y) { return y > x ? y : x; }

// laneSums adds up 2·half numbers of the lanes. Lane i gets sum i/2 if there are 16.
template <int half = partCols / 2, class T> INLINE T laneSums(const T *s) {
	static_assert(2 * partCols == lanes);
	bool high = threadX() & 2 * half;
	T sums[half];
#pragma unroll
	for (int i = 0; i < half; i++) {
		T first = s[i], second = s[i + half]; // not addresses, from which one would be chosen
		sums[i] = (high ? second : first) + across(high ? first : second, 2 * half);
	}
	if constexpr (half > 1) return laneSums<half / 2>(sums);
	else return sums[0] + across(sums[0], 1);
}

// Reduces columns k to k+width-1 of A, which are the rows of at, from row k of A on. at gets the columns of R, and w the vectors of
// the reflections, times the roots of their factors. If there are columns first to end-1, these reflections, which have been made and are
// those of whole parts, are applied to them instead: each cluster has 16 columns. In between, products keeps what the vectors of a part have of s.
//
// Parts of 16 columns are reduced one after the other, in registers. Before, the reflections I - v·vᵀ of the parts before are applied to
// a part, 16 at a time: a thread multiplies its rows with each v, and solves z_l = y_l - Σ_{j<l} (v_jᵀ·v_l)·z_j for the sums y.
//
// For a column each thread multiplies its rows of all columns of the part with those of the column below its diagonal. The sums over
// all blocks give the reflection and what it changes, so that there is one barrier of the cluster for a column. With columns that are
// done the products are those of the vectors.
template <class T> INLINE void reflectColumns(T *at, T *w, T *products, i64 m, i64 k, int width, i64 first, i64 end) {
	OF_BLOCK(Panel<T>, shared);
	static_assert(sizeof shared <= 48 << 10);
	int me = (int)threadX(), lane = me % lanes, warp = me / lanes, all = (int)threads(), rank = clusterRank();
	int rows = (int)(m - k), cols = width;
	T *x = at + k * m + k, *vectors = w + k * m + k;
	bool applies = first < end;
	if (applies) {
		first += blockX() / clusterBlocks * partCols;
		x = at + first * m + k;
		cols = (int)(end - first);
		for (int e = me; e < width * partCols; e += all) {
			int l = e / partCols, j = e % partCols;
			if (l % partCols < j) shared.s[l][j] = products[e];
		}
	}
	auto row = [&](int q) { return (q * clusterBlocks + rank) * all + me; };
	auto there = [&](int q) { return row(q) - lane < rows; }; // for a lane of the warp
	// each calls f for the vectors of a part, with the elements in the rows of the thread. Some are on their way together.
	auto each = [&](int p, auto f) __attribute__((always_inline)) {
		constexpr int some = 2;
#pragma unroll 1
		for (int l = 0; l < partCols; l += some) {
			T of[some][ownRows];
#pragma unroll
			for (int u = 0; u < some; u++) {
#pragma unroll
				for (int q = 0; q < ownRows; q++) of[u][q] = row(q) < rows ? vectors[(p + l + u) * m + row(q)] : 0;
			}
#pragma unroll
			for (int u = 0; u < some; u++) f(l + u, of[u]);
		}
	};
#pragma unroll 1
	for (int lo = applies ? width : 0; lo < width + applies; lo += partCols) {
		int from = applies ? 0 : lo; // the first column
		T v[ownRows][partCols];
#pragma unroll
		for (int q = 0; q < ownRows; q++) {
#pragma unroll
			for (int i = 0; i < partCols; i++) v[q][i] = row(q) < rows && from + i < cols ? x[(from + i) * m + row(q)] : 0;
		}
#pragma unroll 1
		for (int p = 0; p < lo; p += partCols) {
			each(p, [&](int l, const T(&f)[ownRows]) __attribute__((always_inline)) {
				T y[partCols] = {};
#pragma unroll
				for (int q = 0; q < ownRows; q++) {
					if (!there(q)) continue;
#pragma unroll
					for (int i = 0; i < partCols; i++) y[i] = fma(f[q], v[q][i], y[i]);
				}
				T sum = laneSums(y);
				if (lane % 2 == 0) shared.ofWarps[warp][l][lane / 2] = sum;
			});
			clusterBarrier(); // no block reads the last sums any more
			for (int e = me; e < partCols * partCols; e += all) {
				int l = e / partCols, i = e % partCols;
				T sum = 0;
				for (int u = 0; u < all / lanes; u++) sum += shared.ofWarps[u][l][i];
				for (int b = 0; b < clusterBlocks; b++) ofBlock(shared, b).ofBlocks[rank][l][i] = sum;
			}
			clusterBarrier();
			for (int e = me; e < partCols * partCols; e += all) {
				int l = e / partCols, i = e % partCols;
				T sum = 0;
				for (int b = 0; b < clusterBlocks; b++) sum += shared.ofBlocks[b][l][i];
				shared.z[l][i] = sum;
			}
			barrier();
			if (me < partCols) {
				T z[partCols];
#pragma unroll
				for (int l = 0; l < partCols; l++) {
					z[l] = shared.z[l][me];
#pragma unroll
					for (int j = 0; j < l; j++) z[l] = fma(-shared.s[p + j][l], z[j], z[l]);
					shared.z[l][me] = z[l];
				}
			}
			barrier();
			each(p, [&](int l, const T(&f)[ownRows]) __attribute__((always_inline)) {
				T z[partCols];
#pragma unroll
				for (int i = 0; i < partCols; i++) z[i] = shared.z[l][i];
#pragma unroll
				for (int q = 0; q < ownRows; q++) {
					if (!there(q)) continue;
#pragma unroll
					for (int i = 0; i < partCols; i++) v[q][i] = fma(-f[q], z[i], v[q][i]);
				}
			});
		}
		if (!applies && row(0) < lo) { // these are in R
#pragma unroll
			for (int i = 0; i < partCols; i++) {
				if (lo + i < width) x[(lo + i) * m + row(0)] = v[0][i];
			}
		}
		T tops = 0; // of a column in the rows of the part. Lanes 2·i and 2·i+1 have that of column i.
		clusterBarrier(); // all blocks are there, and see R
#pragma unroll 1
		for (int c = 0; c < partCols && lo + c < width; c++) { // none if the reflections have been made
			// Column c is the first. Columns move to the left, and the one that is done becomes the last.
			int j = lo + c, done = partCols - c; // those from here on are done
			T y[partCols] = {};
#pragma unroll
			for (int q = 0; q < ownRows; q++) {
				if (!there(q)) continue;
				T f = row(q) > j ? v[q][0] : 0;
#pragma unroll
				for (int i = 0; i < partCols; i++) y[i] = fma(f, v[q][i], y[i]);
			}
			T sum = laneSums(y);
			if (lane % 2 == 0) shared.ofWarps[warp][0][lane / 2] = sum;
			bool mine = j / all == rank;
			if (row(0) == j) {
#pragma unroll
				for (int i = 0; i < partCols; i++) shared.row[i] = v[0][i];
			}
			barrier();
			for (int e = me; e < clusterBlocks * partCols; e += all) {
				int i = e % partCols;
				Panel<T> &to = ofBlock(shared, e / partCols);
				T sum = 0;
				for (int u = 0; u < all / lanes; u++) sum += shared.ofWarps[u][0][i];
				to.steps[c & 1][rank][i] = sum;
				if (mine) to.pivots[c & 1][i] = shared.row[i];
			}
			clusterBarrier();
			sum = 0;
			for (int b = 0; b < clusterBlocks; b++) sum += shared.steps[c & 1][b][lane / 2];
			T pivot = shared.pivots[c & 1][lane / 2], alpha = ofLane(pivot, 0), squares = ofLane(sum, 0), top = 0;
			Reflection<T> h;
			if (h.doubtful(alpha, squares)) {
				for (i64 i = lane - k; i < lo; i += lanes) top = larger(top, magnitude(x[j * m + i]));
				for (int mask = lanes / 2; mask > 0; mask /= 2) top = larger(top, across(top, mask));
				top = larger(larger(top, ofLane(tops, 0)), magnitude(alpha));
			}
			h.set(alpha, squares, top);
			T norm = root(h.factor), product = fma(h.head, pivot, sum), by = lane / 2 < done ? -h.factor * product : 0;
			tops = larger(tops, magnitude(fma(by, h.head, pivot)));
			tops = down(tops, 2);
			if (lane % 2 == 0) shared.scales[warp][lane / 2] = by;
			if (warp == 0 && lane % 2 == 0 && lane / 2 >= done) {
				int l = lo + lane / 2 - done;
				shared.s[l][c] = norm * product;
				if (rank == 0) products[l * partCols + c] = norm * product;
			}
			warpBarrier();
			T scales[partCols];
#pragma unroll
			for (int i = 1; i < partCols; i++) scales[i] = shared.scales[warp][i];
#pragma unroll
			for (int q = 0; q < ownRows; q++) {
				if (!there(q)) continue;
				T f = row(q) > j ? v[q][0] : row(q) == j ? h.head : 0;
				if (q == 0 && row(0) >= lo && row(0) <= j) x[j * m + row(0)] = row(0) < j ? v[0][0] : h.beta;
#pragma unroll
				for (int i = 1; i < partCols; i++) v[q][i - 1] = fma(scales[i], f, v[q][i]);
				v[q][partCols - 1] = norm * f;
			}
		}
		T *to = applies ? x : vectors + lo * m;
		int most = cols - from < partCols ? cols - from : partCols, before = applies ? 0 : partCols - most; // vectors are the last ones
#pragma unroll
		for (int q = 0; q < ownRows; q++) {
#pragma unroll
			for (int i = 0; i < partCols; i++) {
				int c = i - before;
				if (c >= 0 && c < most && row(q) < rows) to[c * m + row(q)] = v[q][i];
			}
		}
	}
}

#define KERNELS(T, name) \
	CLUSTER reflectColumns##name(T *at, T *w, T *products, i64 m, i64 k, i64 width, i64 first, i64 end) { reflectColumns(at, w, products, m, k, (int)width, first, end); }
KERNELS(double, F64)
KERNELS(float, F32)
