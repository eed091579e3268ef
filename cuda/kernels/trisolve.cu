// Triangular systems A·Y = B of up to 32 equations, with up to 32 right-hand sides, and their derivatives.
#include "small.h"

// A pass of TriSolve for a stack of systems of n equations with m right-hand sides. If trans is set, A is
// transposed. If flip is, A is upper triangular thereafter, and otherwise lower. A block does a system.
//
// All matrices are transposed in shared memory, and those of upper systems turned, so that a has R = Aᵀ
// upper triangular: Yᵀ = Bᵀ·R⁻¹ and Zᵀ = X̄ᵀ·R⁻ᵀ. The first warp solves the one while the second solves the other.
template <PassKind kind, class T> INLINE void solveTriangles(i64 sign, int n, int m, bool flip, bool trans, bool unit, Equations<T> o) {
	SHARED Square<T> a, y, z, da, dz;
	i64 from = blockX() * n;
	auto right = [&](Vector<T> b) { // or the solution
		return Matrix<T>{b ? &b.at(from + (flip ? n - 1 : 0)) : nullptr, flip ? -b.inc : b.inc, 1};
	};
	auto left = [&](Vector<T> a) {
		Matrix<T> s{a ? &a.at(from) + (flip ? (n - 1) * (a.inc + 1) : 0) : nullptr, flip ? -a.inc : a.inc, flip ? -1 : 1};
		return trans ? s.transposed() : s;
	};
	int last = unit ? -1 : 0; // of the triangle, as in loadTransposed
	int row = (int)threadX() % lanes;
	bool first = threadX() < lanes;
	// A column of A is subtracted from those of a gradient.
	auto subtract = [&](Matrix<T> ga, const T(&s)[squareSize][squareSize]) {
#pragma unroll
		for (int i = 0; i < squareSize; i++) {
#pragma unroll
			for (int j = 0; j < squareSize; j++) {
				int r = a.row(i), c = a.column(j);
				if (r < n && c - r <= last) addSigned(ga.at(r, c), -1, s[i][j]);
			}
		}
	};

	a.loadTransposed(left(o.k.a), n, n, last, 1);
	y.loadTransposed(right(o.k.b), n, m);
	if (kind & adjoint) z.loadTransposed(right(o.g.x), n, m);
	if (kind & tangent) da.loadTransposed(left(o.t.a), n, n, last);
	barrier();
	if (first) y.template solve<false>(a, n, row);
	else if (kind & adjoint) z.template solve<true>(a, n, row);
	barrier();
	y.addTransposed(right(o.k.x), sign, n, m);
	T s[squareSize][squareSize] = {};
	if (kind & adjoint) {
		z.addTransposed(right(o.g.b), 1, n, m);
		barrier(); // Ā may be B̄
		if (o.g.a) {
			addSquares<true, false>(s, (T)1, z, y, m);
			subtract(left(o.g.a), s);
		}
	}
	if (!(kind & tangent)) return;

	// Ẏᵀ = (Ḃᵀ - Yᵀ·Ȧᵀ)·R⁻¹ takes the place of Ȧᵀ.
	Matrix<T> db = right(o.t.b), gx = right(o.gt.x);
	T t[squareSize][squareSize] = {};
#pragma unroll
	for (int i = 0; i < squareSize; i++) {
#pragma unroll
		for (int j = 0; j < squareSize; j++) {
			int r = a.row(i), c = a.column(j);
			s[i][j] = db.data && r < m && c < n ? db.at(c, r) : 0;
			if (kind & adjoint) t[i][j] = gx.data && r < m && c < n ? gx.at(c, r) : 0;
		}
	}
	if (o.t.a) {
		addSquares<false, false>(s, (T)-1, y, da, n);
		if ((kind & adjoint) && o.g.x) addSquares<false, true>(t, (T)-1, z, da, n);
	}
	barrier();
	da.set(s);
	if (kind & adjoint) dz.set(t);
	barrier();
	if (first) da.template solve<false>(a, n, row);
	else if (kind & adjoint) dz.template solve<true>(a, n, row);
	barrier();
	da.addTransposed(right(o.t.x), sign, n, m);
	if (!(kind & adjoint)) return;
	dz.addTransposed(right(o.gt.b), 1, n, m);
	barrier(); // ġA may be ġB
	if (!o.gt.a) return;
	T u[squareSize][squareSize] = {};
	if (o.g.x && (o.t.a || o.t.b)) addSquares<true, false>(u, (T)1, z, da, m);
	addSquares<true, false>(u, (T)1, dz, y, m);
	subtract(left(o.gt.a), u);
}

#define SOLVE(T, name, kind) \
	KERNEL name(i64 sign, EQUATION(T, k), EQUATION(T, g), EQUATION(T, t), EQUATION(T, gt), i64 n, i64 m, i64 flip, i64 trans, i64 unit) { \
		solveTriangles<kind, T>(sign, (int)n, (int)m, flip, trans, unit, {OF(k), OF(g), OF(t), OF(gt)}); \
	}
#define KERNELS(T, name) \
	SOLVE(T, solveTrianglesForward##name, forward) SOLVE(T, solveTrianglesTangent##name, tangent) \
	SOLVE(T, solveTrianglesAdjoint##name, adjoint) SOLVE(T, solveTrianglesAll##name, all)
KERNELS(double, F64)
KERNELS(float, F32)
