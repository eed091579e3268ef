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
// for the others.
template <class T> INLINE void factorPivots(Square<T> &r, int n, double *ratios, double *pivots) {
	int i = (int)threadX();
	if (i >= lanes) return;
	T pivot = factor(r, n, i);
	if (i >= n) return;
	ratios[i] = pivot <= 0 ? __builtin_inf() : 0;
	pivots[i] = pivot;
}

// Looks at the pivots of a matrix of the stack.
template <class T> INLINE void pivotsStack(Matrix<T> x, i64 batch, int n, double *ratios, double *pivots, i64 stride) {
	SHARED Square<T> r;
	x.data += blockX() * batch;
	r.loadTransposed(x, n, n, 0);
	barrier();
	factorPivots(r, n, ratios + blockX() * stride, pivots + blockX() * stride);
}

// Replaces the lower triangle of a matrix of the stack, of up to 64 rows, by its Cholesky factor. With squares of 32 rows,
//
//	L₁·L₁ᵀ = A₁₁,  X = A₂₁·L₁⁻ᵀ,  L₂·L₂ᵀ = A₂₂ - X·Xᵀ.
template <class T> INLINE void factorStack(Matrix<T> x, i64 batch, int n, double *ratios, double *pivots, i64 stride) {
	SHARED Square<T> upper, low, last; // L₁ᵀ, X and L₂ᵀ
	int me = (int)threadX(), side = n < squareSide ? n : squareSide, rest = n - side;
	x.data += blockX() * batch;
	ratios += blockX() * stride;
	pivots += blockX() * stride;
	upper.loadTransposed(x, side, side, 0);
	if (rest > 0) {
		low.loadTransposed(Matrix<T>{&x.at(side, 0), x.across, x.down}, side, rest);
		last.loadTransposed(Matrix<T>{&x.at(side, side), x.down, x.across}, rest, rest, 0);
	}
	barrier();
	factorPivots(upper, side, ratios, pivots);
	barrier();
	if (rest > 0) {
		if (me < lanes) low.template solve<false>(upper, side, me);
		barrier();
		T s[squareSize][squareSize] = {};
		addSquares<false, true>(s, (T)-1, low, low, side);
		last.each(s, [&](T &v, int i, int j) {
			if (i <= j) last.v[i][j] += v;
		});
		barrier();
		factorPivots(last, rest, ratios + side, pivots + side);
		barrier();
	}
	for (int e = me; e < n * n; e += 2 * lanes) {
		int far = e / n, near = e % n;
		if (near <= far) x.at(far, near) = far < side ? upper.v[near][far] : near < side ? low.v[far - side][near] : last.v[near - side][far - side];
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
	KERNEL function##name(T *x, i64 down, i64 across, i64 batch, i64 n, double *ratios, double *pivots, i64 stride) { \
		function(Matrix<T>{x, down, across}, batch, (int)n, ratios, pivots, stride); \
	}
#define KERNELS(T, name) \
	STACK(T, pivotsStack, name) STACK(T, factorStack, name) \
	FACTOR(T, factorSmallForward##name, forward) FACTOR(T, factorSmallTangent##name, tangent) \
	FACTOR(T, factorSmallAdjoint##name, adjoint) FACTOR(T, factorSmallAll##name, all)
KERNELS(double, F64)
KERNELS(float, F32)
