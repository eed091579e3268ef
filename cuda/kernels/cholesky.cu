// Cholesky factors of matrices of up to 64 rows, and derivatives of those of up to 32.
#include "small.h"

// factor replaces the upper triangle of A in r by R, where A = Rᵀ·R, and returns the pivot of a column. A lane of a warp
// has a column, of which a part is in registers.
template <class T> INLINE T factor(Square<T> &r, int n, int i) {
	T own = 1;
#pragma unroll 1
	for (int p = 0; p < n; p += squarePart) {
		T x[squarePart];
#pragma unroll
		for (int k = 0; k < squarePart; k++) x[k] = r.v[p + k][i];
#pragma unroll 2
		for (int q = 0; q < p; q++) {
			T known = r.v[q][i];
#pragma unroll
			for (int k = 0; k < squarePart; k++) x[k] = fma(-known, r.v[q][p + k], x[k]);
		}
#pragma unroll
		for (int q = 0; q < squarePart; q++) {
			int j = p + q;
			T pivot = ofLane(x[q], j), s = root(pivot);
			if (i == j) own = pivot;
			x[q] = i > j ? x[q] / s : s;
#pragma unroll
			for (int k = q + 1; k < squarePart; k++) x[k] = fma(-x[q], ofLane(x[q], p + k), x[k]);
		}
#pragma unroll
		for (int k = 0; k < squarePart; k++) {
			if (p + k <= i) r.v[p + k][i] = x[k];
		}
		warpBarrier();
	}
	return own;
}

// factorPivots does what factor does, in the first warp. ratios gets infinity for each pivot that is zero or negative, and 0
// for the others, unless it is null.
template <class T> INLINE void factorPivots(Square<T> &r, int n, double *ratios, double *pivots) {
	int i = (int)threadX();
	if (i >= lanes) return;
	T pivot = factor(r, n, i);
	if (i >= n || !ratios) return;
	ratios[i] = pivot <= 0 ? __builtin_inf() : 0;
	pivots[i] = pivot;
}

// Looks at the pivots of a matrix of the stack.
template <class T> INLINE void pivotsStack(Matrix<T> x, i64 batch, int, int n, double *ratios, double *pivots, i64 stride) {
	SHARED Square<T> r;
	x.data += blockX() * batch;
	r.loadTransposed(x, n, n, 0);
	barrier();
	factorPivots(r, n, ratios + blockX() * stride, pivots + blockX() * stride);
}

// Factors the square A of up to 64 columns at the top of a matrix of the stack, and replaces the rows B below it by Y = B·L⁻ᵀ.
// With squares of 32 rows,
//
//	L₁·L₁ᵀ = A₁₁,  X = A₂₁·L₁⁻ᵀ,  L₂·L₂ᵀ = A₂₂ - X·Xᵀ,  Y₁ = B₁·L₁⁻ᵀ,  Y₂ = (B₂ - Y₁·Xᵀ)·L₂⁻ᵀ.
//
// Each block factors A. The first of a matrix stores the factor, and each of the others solves for 32 rows. So that none
// overwrites what others read, Lᵀ is stored above the diagonal, and its diagonal is left to endFactor.
constexpr int factorCols = 2 * squareSide; // as in cuda/cholesky.go
template <class T> INLINE void factorStack(Matrix<T> x, i64 batch, int rows, int n, double *ratios, double *pivots, i64 stride) {
	SHARED Square<T> upper, low, last, left; // L₁ᵀ or Y₂, X, L₂ᵀ and Y₁
	int me = (int)threadX(), side = n < squareSide ? n : squareSide, rest = n - side;
	i64 each = 1 + over(rows - n + squareSide - 1, squareSide), b = over(blockX(), each);
	int part = (int)(blockX() - b * each), from = n + (part - 1) * squareSide, mine = part > 0 ? rows - from : 0; // rows of B
	x.data += b * batch;
	auto turned = [&](int i, int j) { return Matrix<T>{&x.at(i, j), x.across, x.down}; };
	upper.loadTransposed(x, side, side, 0);
	if (mine > 0) left.loadTransposed(turned(from, 0), side, mine);
	if (rest > 0) {
		low.loadTransposed(turned(side, 0), side, rest);
		last.loadTransposed(turned(side, side).transposed(), rest, rest, 0);
	}
	barrier();
	if (part > 0) ratios = nullptr;
	else ratios += b * stride;
	pivots += b * stride;
	factorPivots(upper, side, ratios, pivots);
	barrier();
	if (rest > 0 && me < lanes) low.template solve<false>(upper, side, me);
	if (mine > 0 && me >= lanes) left.template solve<false>(upper, side, me - lanes);
	barrier();
	auto store = [&](Square<T> &y, int j, int cols) {
		Matrix<T> to = turned(from, j);
		eachElement(to, [&](int i, int k) {
			if (i < cols && k < mine) to.at(i, k) = y.v[k][i];
		});
	};
	if (mine > 0) store(left, 0, side);
	if (rest > 0) {
		T s[squareSize][squareSize] = {};
		addSquares<false, true>(s, (T)-1, low, low, side);
		last.each(s, [&](T &v, int i, int j) {
			if (i <= j) last.v[i][j] += v;
		});
		barrier();
		factorPivots(last, rest, ratios ? ratios + side : nullptr, pivots + side);
		if (mine > 0) upper.loadTransposed(turned(from, side), rest, mine);
		barrier();
		if (mine > 0) {
			upper.each(s, [&](T &v, int i, int j) { v = upper.v[i][j]; });
			addSquares<false, true>(s, (T)-1, left, low, side);
			upper.set(s);
			barrier();
			if (me < lanes) upper.template solve<false>(last, rest, me);
			barrier();
			store(upper, side, rest);
		}
	}
	for (int e = me; part == 0 && e < n * n; e += 2 * lanes) {
		int i = e / n, j = e % n;
		if (i < j) x.at(i, j) = j < side ? upper.v[i][j] : i < side ? low.v[j - side][i] : last.v[i - side][j - side];
	}
}

// endFactor completes factors that factorStack left: lower triangles with zeros above them.
template <class T> DEVICE void endFactor(T *x, const double *pivots, i64 n, i64 count) {
	for (i64 e = first(); e < count * n * n; e += step()) {
		i64 row = over(e, n), j = e - row * n, b = over(row, n), i = row - b * n;
		if (i == j) x[e] = root((T)pivots[row]);
		if (i >= j) continue;
		if (i / factorCols == j / factorCols) x[(b * n + j) * n + i] = x[e];
		x[e] = 0;
	}
}

// A pass of Cholesky, L += chol(A), for a stack of n×n matrices. All are positive definite.
//
// With R = Lᵀ and F = Φ(K)ᵀ, the equations are
//
//	K = R⁻ᵀ·Ȧ·R⁻¹,  Ṙ = F·R,  H = sym Φ(R·L̄),  E = sym Φ(R·ġL + Ṙ·L̄) - F·H - H·Fᵀ,
//
// and the gradients R⁻¹·H·R⁻ᵀ and R⁻¹·E·R⁻ᵀ. The first warp solves for the one while the second solves for the other.
template <PassKind kind, class T> INLINE void factorSmall(i64 sign, int n, Equations<T> o) {
	SHARED Square<T> r, f, dr, h, e; // e first has L̄ᵀ
	int row = (int)threadX() % lanes;
	bool first = threadX() < lanes, second = (kind & tangent) && o.gt.a;
	auto of = [&](Vector<T> a) { return Matrix<T>{a ? &a.at(blockX() * n) : nullptr, a.inc, 1}; };

	r.loadTransposed(of(o.k.a).transposed(), n, n, 0);
	if (kind & tangent) {
		Matrix<T> da = of(o.t.a);
		eachElement(da, [&](int i, int j) {
			if (i <= j) f.v[i][j] = f.v[j][i] = da.data && j < n ? da.at(i, j) : 0;
		});
	}
	if (kind & adjoint) e.loadTransposed(of(o.g.x), n, n, 0);
	barrier();
	if (first) factor(r, n, row);
	barrier();
	r.addTransposed(of(o.k.x), sign, n, n, 0);
	if (kind & tangent) {
		if (first) f.template solve<false>(r, n, row);
		barrier();
		if (first) f.template solve<false, false, true>(r, n, row);
		barrier();
		T s[squareSize][squareSize] = {};
		f.each(s, [&](T &, int i, int j) { f.v[i][j] = i > j ? 0 : i == j ? f.v[i][j] / 2 : f.v[i][j]; });
		barrier();
		addSquares<false, false>(s, (T)1, f, r, n);
		dr.set(s);
		barrier();
		dr.addTransposed(of(o.t.x), sign, n, n, 0);
	}
	if (!(kind & adjoint)) return;

	auto symmetric = [&](Square<T> &a, T(&s)[squareSize][squareSize]) { // a = sym Φ(s)
		a.each(s, [&](T &v, int i, int j) {
			if (j <= i) a.v[i][j] = a.v[j][i] = v / 2;
		});
	};
	T s[squareSize][squareSize] = {};
	addSquares<false, true>(s, (T)1, r, e, n);
	symmetric(h, s);
	if (second) {
		T u[squareSize][squareSize] = {};
		bool both = o.g.x && o.t.a;
		if (both) addSquares<false, true>(u, (T)1, dr, e, n);
		barrier();
		e.loadTransposed(of(o.gt.x), n, n, 0);
		barrier();
		if (o.gt.x) addSquares<false, true>(u, (T)1, r, e, n);
		barrier();
		symmetric(e, u);
		barrier();
		if (both) {
			e.each(u, [&](T &v, int i, int j) { v = e.v[i][j]; });
			addSquares<false, false>(u, (T)-1, f, h, n);
			addSquares<false, true>(u, (T)-1, h, f, n);
			e.set(u);
		}
	}
	barrier();
	Square<T> &own = first ? h : e;
	if (first || second) own.template solve<true>(r, n, row);
	barrier();
	if (first || second) own.template solve<true, false, true>(r, n, row);
	barrier();
	auto add = [&](Matrix<T> ga, Square<T> &y) {
		if (!ga.data) return;
		eachElement(ga, [&](int i, int j) {
			if (i <= j && j < n) ga.at(i, j) += i < j ? 2 * y.v[i][j] : y.v[i][j];
		});
	};
	add(of(o.g.a), h);
	if (second) add(of(o.gt.a), e);
}

#define FACTOR(T, name, kind) \
	KERNEL name(i64 sign, EQUATION(T, k), EQUATION(T, g), EQUATION(T, t), EQUATION(T, gt), i64 n) { \
		factorSmall<kind, T>(sign, (int)n, {OF(k), OF(g), OF(t), OF(gt)}); \
	}
#define STACK(T, function, name) \
	KERNEL function##name(T *x, i64 down, i64 across, i64 batch, i64 rows, i64 n, double *ratios, double *pivots, i64 stride) { \
		function(Matrix<T>{x, down, across}, batch, (int)rows, (int)n, ratios, pivots, stride); \
	}
#define KERNELS(T, name) \
	STACK(T, pivotsStack, name) STACK(T, factorStack, name) \
	KERNEL endFactor##name(T *x, const double *pivots, i64 n, i64 count) { endFactor(x, pivots, n, count); } \
	FACTOR(T, factorSmallForward##name, forward) FACTOR(T, factorSmallTangent##name, tangent) \
	FACTOR(T, factorSmallAdjoint##name, adjoint) FACTOR(T, factorSmallAll##name, all)
KERNELS(double, F64)
KERNELS(float, F32)
