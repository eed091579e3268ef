// QR decompositions by Householder reflections, and their derivatives for small matrices.
#include "reflection.h"
#include "small.h"

constexpr int smallPart = 8; // steps with the same code. It leaves out rows outside of the part.

// Reduces small matrices with up to M rows. A block does a matrix, and a thread a column, in registers. The matrix `packed` gets R,
// and below its diagonal the vectors v of the reflections I - τ·v·vᵀ, whose first element is 1. The column is multiplied by a power of
// two that brings its elements near to 1, and that of R is divided by it. The ratios are those of its columns.
//
// In step k all threads multiply their columns with x of column k, below row k. The thread of column k
// thereby has the sum of squares that makes the reflection, and the others have what they need of wᵀ·c. Then row k is done, and
// the rows after it move up, so that the next one is the first.
template <class T, int M> INLINE void reflectSmall(T *packed, T *taus, double *ratios, const T *a, i64 downA, int m, int n) {
	SHARED T xs[2][M] __attribute__((aligned(16))), pivots[2][2];
	int j = (int)threadX();
	i64 b = blockX();
	bool mine = j < n;
	T c[M], top = 0, tau = 0, by = 1, diagonal = 0;
	a += b * m * downA + j;
	packed += b * m * n + j;
#pragma unroll
	for (int i = 0; i < M; i++) {
		c[i] = mine && i < m ? a[i * downA] : 0;
		top = magnitude(c[i]) > top ? magnitude(c[i]) : top;
	}
	int shift = -exponent(top);
#pragma unroll
	for (int i = 0; i < M; i++) c[i] = scale(c[i], shift);
	top = 0; // of the column of R
#pragma unroll
	for (int p = 0; p < M; p += smallPart) {
		int rows = M - p; // of the part and after it
#pragma unroll 1
		for (int k = p; k < p + smallPart && k < m; k++) {
			T alpha = c[0], s = 0, head = 1, beta = alpha;
			const T *x = xs[k & 1];
			if (k < n) {
				if (j == k) {
#pragma unroll
					for (int i = 1; i < M; i++) {
						if (i < rows) xs[k & 1][i - 1] = c[i];
					}
				}
				barrier();
				T sums[4] = {};
#pragma unroll
				for (int i = 1; i < M; i++) {
					if (i < rows) sums[i % 4] = fma(x[i - 1], c[i], sums[i % 4]);
				}
				T sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
				if (j == k) {
					Reflection<T> h;
					T most = magnitude(alpha) > top ? magnitude(alpha) : top;
					h.set(alpha, sum, most);
					pivots[0][k & 1] = h.head;
					pivots[1][k & 1] = h.factor;
					beta = diagonal = h.beta;
					tau = h.factor * h.head * h.head;
					by = -h.beta * h.factor; // 1/head
				}
				barrier();
				head = pivots[0][k & 1];
				if (j > k) {
					s = -pivots[1][k & 1] * fma(head, alpha, sum);
					beta = fma(s, head, alpha);
				}
			}
			T r = j < k ? by * alpha : scale(beta, -shift);
			if (mine) *packed = r;
			packed += n;
			if (j >= k) top = magnitude(beta) > top ? magnitude(beta) : top;
			if (k < n) {
#pragma unroll
				for (int i = 1; i < M; i++) {
					if (i < rows) c[i - 1] = fma(s, x[i - 1], c[i]);
				}
			} else {
#pragma unroll
				for (int i = 1; i < M; i++) {
					if (i < rows) c[i - 1] = c[i];
				}
			}
			c[rows - 1] = 0;
		}
	}
	if (!mine) return;
	taus[b * n + j] = tau;
	ratios[b * n + j] = ratio(top, diagonal);
}

// formSmall sets column j of Q, from the vectors w of the reflections, with zeros before their ones.
template <int M, class T, class W> INLINE void formSmall(T (&c)[M], const W &w, const T *taus, int n, int j) {
#pragma unroll
	for (int i = 0; i < M; i++) c[i] = i == j && j < n;
#pragma unroll
	for (int p = M - smallPart; p >= 0; p -= smallPart) {
#pragma unroll 1
		for (int k = p + smallPart - 1; k >= p; k--) {
			if (k >= n) continue;
			T sums[4] = {};
#pragma unroll
			for (int i = p; i < M; i++) sums[i % 4] = fma(w[k][i], c[i], sums[i % 4]);
			T s = j < k ? 0 : -taus[k] * ((sums[0] + sums[1]) + (sums[2] + sums[3])); // column j of the identity stays until step j
			warpBarrier(); // so that w is read again, and is not in registers together with c
#pragma unroll
			for (int i = p; i < M; i++) c[i] = fma(s, w[k][i], c[i]);
		}
	}
}

// smallQR adds sign times Q and R of small matrices, which reflectSmall has reduced. A block does a matrix, and a thread a column.
template <class T, int M> INLINE void smallQR(T *q, i64 downQ, T *r, i64 downR, i64 sign, const T *packed, const T *taus, int m, int n) {
	SHARED T w[M][M + 2] __attribute__((aligned(16))), tau[M];
	int j = (int)threadX();
	i64 b = blockX();
	bool mine = j < n;
	packed += b * m * n + j;
	if (mine) tau[j] = taus[b * n + j];
#pragma unroll
	for (int i = 0; i < M; i++) {
		T v = mine && i < m ? packed[i * n] : 0;
		if (j < M) w[j][i] = i > j ? v : i == j;
		if (mine && i <= j) addSigned(r[(b * n + i) * downR + j], sign, v);
	}
	barrier();
	T c[M];
	formSmall(c, w, tau, n, j);
#pragma unroll
	for (int i = 0; i < M; i++) {
		if (mine && i < m) addSigned(q[(b * m + i) * downQ + j], sign, c[i]);
	}
}

// at = Aᵀ, whose row j is multiplied by 2^shifts[j], as in smallQR. A block of 256 threads does 32 columns.
template <class T> DEVICE void loadColumns(T *at, T *shifts, const T *a, i64 downA, i64 m, i64 n) {
	SHARED T tile[lanes][lanes + 1];
	SHARED int shift[lanes];
	i64 lane = threadX() % lanes, warp = threadX() / lanes, warps = threads() / lanes;
	i64 first = blockX() * lanes, j = first + lane;
	T top = 0;
	for (i64 i = warp; i < m && j < n; i += warps) {
		T v = magnitude(a[i * downA + j]);
		top = v > top ? v : top;
	}
	tile[warp][lane] = top;
	barrier();
	if (warp == 0) {
		for (int i = 1; i < warps; i++) top = tile[i][lane] > top ? tile[i][lane] : top;
		shift[lane] = -exponent(top);
		if (j < n) shifts[j] = shift[lane];
	}
	for (i64 from = 0; from < m; from += lanes) {
		barrier();
		for (i64 i = warp; i < lanes; i += warps) {
			if (from + i < m && j < n) tile[i][lane] = a[(from + i) * downA + j];
		}
		barrier();
		for (i64 c = warp; c < lanes && first + c < n; c += warps) {
			if (from + lane < m) at[(first + c) * m + from + lane] = scale(tile[lane][c], shift[c]);
		}
	}
}

// reduceColumn does step j of the reduction of a panel: of the columns of A from k on, which are the rows of at
// from k on. It makes the reflection of column k+j and applies it to the columns of the panel after that. Row
// i of `from` is column k+i before the step, and that of `to` afterwards, both only from row k of A on. w gets
// the vector of the reflection times the root of its factor, and at the column of R.
//
// A step needs sums over the rows, and each is a launch, as blocks wait for others nowhere else. So what
// the next step needs is computed here: for each column of the panel the product with column k+j+1, below
// its diagonal. Block (b, g) does this for chunk b of the rows, and writes its part of the sum for column
// l to next[32·l + b]. The block adds those of the last step up first, in sums. Step -1 only computes the products.
//
// A warp does 4 columns, a block the 32 of group g. All warps make the same reflection.
constexpr int panelColumns = 32, mostChunks = lanes;
template <class T> INLINE void reduceColumn(const T *from, T *to, T *at, T *w, const T *sums, T *next, i64 m, i64 k, i64 cols, i64 j, i64 chunk) {
	constexpr int each = 4, all = each + 2, deep = 4; // columns of a warp, with columns k+j and k+j+1; rows of a lane
	i64 lane = threadX() % lanes, b = blockX(), l0 = blockY() * panelColumns + threadX() / lanes * each, row = k + j;
	i64 i0 = k + b * chunk, end = i0 + chunk < m ? i0 + chunk : m;
	if (l0 >= cols || l0 + each <= j) return;

	// Nothing is computed before all is on the way.
	bool there[all], begun = j >= 0, more = j + 1 < cols;
	const T *column[all];
	T sum[all], pivot[all], c[all][deep];
	auto load = [&](i64 i0) {
#pragma unroll
		for (int e = 0; e < all; e++) {
#pragma unroll
			for (int u = 0; u < deep; u++) {
				i64 i = i0 + u * lanes + lane;
				c[e][u] = there[e] && i < m ? column[e][i] : 0;
			}
		}
	};
#pragma unroll
	for (int e = 0; e < all; e++) {
		i64 l = e < each ? l0 + e : j + e - each;
		there[e] = l >= 0 && l >= j && l < cols;
		column[e] = from + l * m;
		sum[e] = there[e] && begun && lane < blocks() ? sums[mostChunks * l + lane] : 0;
		pivot[e] = there[e] && begun ? column[e][row] : 0;
	}
	load(i0);

#pragma unroll
	for (int mask = lanes / 2; mask > 0; mask /= 2) {
#pragma unroll
		for (int e = 0; e < all; e++) sum[e] += across(sum[e], mask);
	}
	Reflection<T> h = {};
	T scales[all] = {}, norm = 0; // what the vector is multiplied by when it is added to a column, and in w
	if (begun) {
		T top = 0;
		if (h.doubtful(pivot[each], sum[each])) {
			for (i64 i = lane; i <= row; i += lanes) {
				T v = magnitude(i < k ? at[j * m + i] : from[j * m + i]);
				top = v > top ? v : top;
			}
			for (int mask = lanes / 2; mask > 0; mask /= 2) {
				T v = across(top, mask);
				top = v > top ? v : top;
			}
		}
		h.set(pivot[each], sum[each], top);
#pragma unroll
		for (int e = 0; e < all; e++) {
			T v = fma(h.head, pivot[e], sum[e]);
			scales[e] = -h.factor * v;
		}
		norm = root(h.factor);
	}
	T dots[each] = {};
	for (;;) {
#pragma unroll
		for (int u = 0; u < deep; u++) {
			i64 i = i0 + u * lanes + lane;
			T v = i < row ? 0 : i == row ? h.head : c[each][u], x = i > row + 1 ? fma(scales[each + 1], v, c[each + 1][u]) : 0;
#pragma unroll
			for (int e = 0; e < each; e++) {
				i64 l = l0 + e;
				if (i >= m || l >= cols) continue;
				if (l == j) {
					w[j * m + i] = norm * v;
					if (i <= row) at[j * m + i] = i < row ? c[e][u] : h.beta;
					c[e][u] = v;
				} else if (l > j) {
					c[e][u] = fma(scales[e], v, c[e][u]);
					to[l * m + i] = c[e][u];
				}
				dots[e] = fma(x, c[e][u], dots[e]);
			}
		}
		i0 += deep * lanes;
		if (i0 >= end) break;
		load(i0);
	}
	if (!more) return;
#pragma unroll
	for (int mask = lanes / 2; mask > 0; mask /= 2) {
#pragma unroll
		for (int e = 0; e < each; e++) dots[e] += across(dots[e], mask);
	}
#pragma unroll
	for (int e = 0; e < each; e++) {
		if (lane == 0 && l0 + e < cols) next[mostChunks * (l0 + e) + b] = dots[e];
	}
}

// ratios of the columns of R, which are rows of at. A warp does a column.
template <class T> DEVICE void columnRatios(double *ratios, const T *at, i64 m, i64 n) {
	i64 lane = threadX() % lanes, j = first() / lanes;
	if (j >= n) return;
	T top = 0;
	for (i64 i = lane; i <= j; i += lanes) {
		T v = magnitude(at[j * m + i]);
		top = v > top ? v : top;
	}
	for (int mask = lanes / 2; mask > 0; mask /= 2) {
		T v = across(top, mask);
		top = v > top ? v : top;
	}
	if (lane == 0) ratios[j] = ratio(top, at[j * m + j]);
}

// qt = the first n rows of the identity of m rows.
template <class T> DEVICE void beginQ(T *qt, i64 m, i64 n) {
	for (i64 i = first(); i < n * m; i += step()) {
		i64 j = over(i, m);
		qt[i] = j == i - j * m;
	}
}

// r = R, from at.
template <class T> DEVICE void takeR(T *r, const T *at, const T *shifts, i64 m, i64 n) {
	for (i64 i = first(); i < n * n; i += step()) {
		i64 j = over(i, n), l = i - j * n;
		r[l * n + j] = l <= j ? scale(at[j * m + l], -(int)shifts[j]) : 0;
	}
}

// columnsOf returns the transpose of a matrix whose rows are so many elements apart.
template <class T> DEVICE Matrix<T> columnsOf(T *a, i64 down) { return {a, 1, down}; }

// A Reduced is a stack of matrices that reflectSmall has reduced, of up to 32 rows, and what gets their Q and R.
template <class T> struct Reduced {
	T *q;
	i64 downQ;
	T *r;
	i64 downR, sign;
	const T *packed, *taus;
	// form sets the squares q and r, and adds sign times them to Q and R, if there are any. It overwrites w.
	INLINE void form(Square<T> &toQ, Square<T> &toR, Square<T> &w, int m, int n) const {
		SHARED T tau[squareSide];
		i64 b = blockX();
		Matrix<const T> of = {packed + b * m * n, n, 1};
		toR.loadTransposed(of.transposed(), n, n, 0);
		w.loadTransposed(of, m, n, -1, 1);
		int j = (int)threadX();
		if (j < n) tau[j] = taus[b * n + j];
		barrier();
		if (j < lanes) {
			T c[squareSide];
			formSmall(c, w.v, tau, n, j);
#pragma unroll
			for (int i = 0; i < squareSide; i++) toQ.v[i][j] = c[i];
		}
		barrier();
		toQ.addTransposed(columnsOf(q ? q + b * m * downQ : nullptr, downQ), sign, n, m);
		toR.addTransposed(columnsOf(r ? r + b * n * downR : nullptr, downR), sign, n, n, 0);
	}
};

// smallGradient adds Q and R, and Ā += (Q̄ + Q·K)·R⁻ᵀ, K = sym(R·R̄ᵀ - Q̄ᵀ·Q), for a stack of matrices of up to 32 rows.
template <class T> INLINE void smallGradient(T *ga, i64 downGA, const T *gq, i64 downGQ, const T *gr, i64 downGR, Reduced<T> of, int m, int n) {
	SHARED Square<T> q, r, x, k;
	i64 b = blockX();
	of.form(q, r, k, m, n);
	x.loadTransposed(columnsOf(gq ? gq + b * m * downGQ : nullptr, downGQ), n, m);
	k.loadTransposed(columnsOf(gr ? gr + b * n * downGR : nullptr, downGR), n, n, 0);
	barrier();
	T s[squareSize][squareSize] = {};
	addSquares<false, true>(s, (T)1, r, k, n);
	addSquares<true, false>(s, (T)-1, x, q, m);
	barrier();
#pragma unroll
	for (int i = 0; i < squareSize; i++) {
#pragma unroll
		for (int j = 0; j < squareSize; j++) {
			int row = k.row(i), column = k.column(j);
			if (row >= column) k.v[row][column] = k.v[column][row] = s[i][j];
			s[i][j] = x.v[row][column];
		}
	}
	barrier();
	addSquares<false, false>(s, (T)1, q, k, n);
	x.set(s);
	barrier();
	if (threadX() < squareSide) x.template solve<true>(r, n, (int)threadX());
	barrier();
	x.addTransposed(columnsOf(ga + b * m * downGA, downGA), 1, n, m);
}

// smallTangent adds Q and R, and sign times Ṙ = N·R and Q̇ = C - Q·N to the tangents of the results, with C = Ȧ·R⁻¹, S = Qᵀ·C, N_ij =
// S_ij + S_ji for i < j and N_ii = S_ii, for a stack of matrices of up to 32 rows.
template <class T> INLINE void smallTangent(T *tq, i64 downTQ, T *tr, i64 downTR, i64 sign, const T *ta, i64 downTA, Reduced<T> of, int m, int n) {
	SHARED Square<T> q, r, c, k;
	i64 b = blockX();
	of.form(q, r, k, m, n);
	c.loadTransposed(columnsOf(ta + b * m * downTA, downTA), n, m);
	barrier();
	if (threadX() < squareSide) c.template solve<false>(r, n, (int)threadX());
	barrier();
	T s[squareSize][squareSize] = {}, t[squareSize][squareSize] = {};
	addSquares<true, false>(s, (T)1, q, c, m);
	k.set(s);
	barrier();
#pragma unroll
	for (int i = 0; i < squareSize; i++) {
#pragma unroll
		for (int j = 0; j < squareSize; j++) {
			int row = k.row(i), column = k.column(j);
			s[i][j] = row < column ? s[i][j] + k.v[column][row] : row == column ? s[i][j] : 0;
		}
	}
	barrier();
#pragma unroll
	for (int i = 0; i < squareSize; i++) {
#pragma unroll
		for (int j = 0; j < squareSize; j++) {
			int row = k.row(i), column = k.column(j);
			k.v[row][column] = s[i][j];
			s[i][j] = 0;
			t[i][j] = c.v[row][column];
		}
	}
	barrier();
	addSquares<false, false>(s, (T)1, k, r, n);
	addSquares<false, false>(t, (T)-1, q, k, n);
	tq = tq ? tq + b * m * downTQ : tq;
	tr = tr ? tr + b * n * downTR : tr;
#pragma unroll
	for (int i = 0; i < squareSize; i++) {
#pragma unroll
		for (int j = 0; j < squareSize; j++) {
			int row = k.row(i), column = k.column(j);
			if (tr && row <= column && column < n) addSigned(tr[row * downTR + column], sign, s[i][j]);
			if (tq && row < m && column < n) addSigned(tq[row * downTQ + column], sign, t[i][j]);
		}
	}
}

#define REDUCED(T) T *q, i64 downQ, T *r, i64 downR, i64 sign, const T *packed, const T *taus
#define SMALL(T, name, M) \
	KERNEL reflectSmall##M##name(T *packed, T *taus, double *ratios, const T *a, i64 downA, i64 m, i64 n) { reflectSmall<T, M>(packed, taus, ratios, a, downA, (int)m, (int)n); } \
	KERNEL smallQR##M##name(REDUCED(T), i64 m, i64 n) { smallQR<T, M>(q, downQ, r, downR, sign, packed, taus, (int)m, (int)n); }
#define KERNELS(T, name) \
	SMALL(T, name, 16) \
	SMALL(T, name, 32) \
	SMALL(T, name, 64) \
	KERNEL smallGradient##name(T *ga, i64 downGA, const T *gq, i64 downGQ, const T *gr, i64 downGR, REDUCED(T), i64 m, i64 n) { \
		smallGradient(ga, downGA, gq, downGQ, gr, downGR, {q, downQ, r, downR, sign, packed, taus}, (int)m, (int)n); \
	} \
	KERNEL smallTangent##name(T *tq, i64 downTQ, T *tr, i64 downTR, const T *ta, i64 downTA, REDUCED(T), i64 m, i64 n) { \
		smallTangent(tq, downTQ, tr, downTR, sign, ta, downTA, {q, downQ, r, downR, sign, packed, taus}, (int)m, (int)n); \
	} \
	KERNEL loadColumns##name(T *at, T *shifts, const T *a, i64 downA, i64 m, i64 n) { loadColumns(at, shifts, a, downA, m, n); } \
	KERNEL reduceColumn##name(const T *from, T *to, T *at, T *w, const T *sums, T *next, i64 m, i64 k, i64 cols, i64 j, i64 chunk) { \
		reduceColumn(from, to, at, w, sums, next, m, k, cols, j, chunk); \
	} \
	KERNEL columnRatios##name(double *ratios, const T *at, i64 m, i64 n) { columnRatios(ratios, at, m, n); } \
	KERNEL beginQ##name(T *qt, i64 m, i64 n) { beginQ(qt, m, n); } \
	KERNEL takeR##name(T *r, const T *at, const T *shifts, i64 m, i64 n) { takeR(r, at, shifts, m, n); }
KERNELS(double, F64)
KERNELS(float, F32)
