// Triangular systems A·Y = B of up to 32 equations, with up to 32 right-hand sides, and their derivatives.
#include "small.h"

// If trans is set, A is transposed. If flip is, A is upper triangular thereafter, and otherwise lower. Matrices of upper
// systems are turned in shared memory, so that there is R = Aᵀ upper triangular: Yᵀ = Bᵀ·R⁻¹ and Zᵀ = X̄ᵀ·R⁻ᵀ.
template <class T> struct Triangles {
	int n;
	bool flip, trans, unit;
	INLINE int last() const { return unit ? -1 : 0; }
	INLINE Matrix<T> right(Vector<T> b) const { return {b ? &b.at(blockX() * n + (flip ? n - 1 : 0)) : nullptr, flip ? -b.inc : b.inc, 1}; }
	INLINE Matrix<T> left(Vector<T> a) const {
		Matrix<T> s{a ? &a.at(blockX() * n) + (flip ? (n - 1) * (a.inc + 1) : 0) : nullptr, flip ? -a.inc : a.inc, flip ? -1 : 1};
		return trans ? s.transposed() : s;
	}
	INLINE void load(Square<T> &r, Vector<T> a) const { r.loadTransposed(left(a), n, n, last(), 1); }
	INLINE void factor(Square<T> &) const {}
	INLINE void solve(Square<T> &v, const Square<T> &r, int, bool transposed, int row) const {
		if (transposed) v.template solve<true>(r, n, row);
		else v.template solve<false>(r, n, row);
	}
};

#define SOLVE(T, name, kind) \
	KERNEL name(i64 sign, EQUATION(T, k), EQUATION(T, g), EQUATION(T, t), EQUATION(T, gt), i64 n, i64 m, i64 flip, i64 trans, i64 unit) { \
		solveSmall<kind, T>(sign, (int)n, (int)m, Triangles<T>{(int)n, (bool)flip, (bool)trans, (bool)unit}, {OF(k), OF(g), OF(t), OF(gt)}); \
	}
#define KERNELS(T, name) \
	SOLVE(T, solveTrianglesForward##name, forward) SOLVE(T, solveTrianglesTangent##name, tangent) \
	SOLVE(T, solveTrianglesAdjoint##name, adjoint) SOLVE(T, solveTrianglesAll##name, all)
KERNELS(double, F64)
KERNELS(float, F32)
