// Systems A·Y = B of up to 32 equations, with up to 32 right-hand sides, and their derivatives.
#include "small.h"

// eliminate replaces A by its factors P·A = L·U, L below the diagonal, and sets order to the rows of A. A lane of a warp
// has a row, of which a part is in registers. Rows stay where they are until the end.
template <class T> INLINE void eliminate(Square<T> &a, int *order, int n, int i) {
	int place = i; // of the row in P·A
#pragma unroll 1
	for (int p = 0; p < n; p += squarePart) {
		T x[squarePart];
#pragma unroll
		for (int k = 0; k < squarePart; k++) x[k] = a.v[i][p + k];
#pragma unroll 1
		for (int q = 0; q < p; q++) {
			T l = a.v[i][q];
			int from = order[q];
#pragma unroll
			for (int k = 0; k < squarePart; k++) {
				T u = ofLane(x[k], from);
				if (place > q) x[k] = fma(-l, u, x[k]);
			}
		}
#pragma unroll
		for (int q = 0; q < squarePart; q++) {
			int j = p + q;
			if (j >= n) continue;
			// The largest element, and the first place of those.
			u64 best = place >= j && i < n ? size((double)x[q]) : 0;
			int at = place * lanes + i;
			for (int mask = lanes / 2; mask > 0; mask /= 2) {
				u64 other = crossed(best, mask);
				int otherAt = crossed(at, mask);
				if (other > best || (other == best && otherAt < at)) {
					best = other;
					at = otherAt;
				}
			}
			int from = at % lanes;
			if (i == from) place = j;
			else if (place == j) place = at / lanes;
			T pivot = ofLane(x[q], from);
			if (place > j && pivot != 0) x[q] /= pivot;
#pragma unroll
			for (int k = q + 1; k < squarePart; k++) {
				T u = ofLane(x[k], from);
				if (place > j) x[k] = fma(-x[q], u, x[k]);
			}
		}
#pragma unroll
		for (int k = 0; k < squarePart; k++) a.v[i][p + k] = x[k];
		warpBarrier(); // before places change
		order[place] = i;
		warpBarrier();
	}
#pragma unroll 1
	for (int p = 0; p < n; p += squarePart) {
		T x[squarePart];
#pragma unroll
		for (int k = 0; k < squarePart; k++) x[k] = a.v[i][p + k];
		warpBarrier();
#pragma unroll
		for (int k = 0; k < squarePart; k++) a.v[place][p + k] = x[k];
	}
	warpBarrier();
}

// Systems with P·D·A = L·U, where D has powers of two, if there are shifts. If trans is set, A is transposed.
template <class T> struct Systems {
	int n;
	bool trans;
	const i64 *shifts;
	int *order;
	INLINE int last() const { return squareSide; }
	INLINE Matrix<T> right(Vector<T> b) const { return {b ? &b.at(blockX() * n) : nullptr, b.inc, 1}; }
	INLINE Matrix<T> left(Vector<T> a) const { return trans ? right(a).transposed() : right(a); }
	INLINE void load(Square<T> &a, Vector<T> of) const { a.loadTransposed(right(of).transposed(), n, n); }
	INLINE int shift(int i) const { return shifts && i < n ? (int)shifts[blockX() * n + i] : 0; }
	// scaled multiplies rows by D.
	INLINE void scaled(Square<T> &a, int i) const {
		if (!shifts) return;
		for (int j = 0; j < n; j++) a.v[i][j] = scale(a.v[i][j], shift(i));
		warpBarrier();
	}
	INLINE void factor(Square<T> &a) const {
		int i = (int)threadX();
		if (i < lanes) {
			scaled(a, i);
			eliminate(a, order, n, i);
		}
		barrier();
	}
	// permute replaces v by v·D·Pᵀ, or by v·P·D if back is set. A lane has a column.
	INLINE void permute(Square<T> &v, int m, bool back, int i) const {
		int far = order[i], to = back ? far : i, from = back ? i : far, by = shift(far);
		for (int row = 0; row < m; row++) {
			T x = scale(v.v[row][from], by);
			warpBarrier();
			v.v[row][to] = x;
		}
		warpBarrier();
	}
	INLINE void solve(Square<T> &v, const Square<T> &a, int m, bool transposed, int row) const {
		if (transposed != trans) { // v·A⁻¹ = v·U⁻¹·L⁻¹·P·D
			v.template solve<false>(a, n, row);
			v.template solve<false, true>(a, n, row);
			warpBarrier();
			permute(v, m, true, row);
		} else { // v·A⁻ᵀ = v·D·Pᵀ·L⁻ᵀ·U⁻ᵀ
			permute(v, m, false, row);
			v.template solve<true, true>(a, n, row);
			v.template solve<true>(a, n, row);
		}
	}
};

// ratios[j] = ‖a_j‖/|u_jj| for the largest magnitude of column j of D·A, for a stack of systems.
template <class T> INLINE void systemRatios(double *ratios, Vector<T> of, int n, const i64 *shifts) {
	SHARED Square<T> a;
	SHARED int order[lanes];
	Systems<T> s{n, false, shifts, order};
	int j = (int)threadX();
	s.load(a, of);
	barrier();
	if (j >= lanes) return;
	s.scaled(a, j);
	T top = 0;
	for (int i = 0; i < n; i++) {
		T v = magnitude(a.v[i][j]);
		top = v > top || v != v ? v : top; // NaN stays
	}
	warpBarrier();
	eliminate(a, order, n, j);
	if (j < n) ratios[blockX() * n + j] = ratio(top, a.v[j][j]);
}

#define SOLVE(T, name, kind) \
	KERNEL name(i64 sign, EQUATION(T, k), EQUATION(T, g), EQUATION(T, t), EQUATION(T, gt), i64 n, i64 m, i64 trans, const i64 *shifts) { \
		SHARED int order[lanes]; \
		solveSmall<kind, T>(sign, (int)n, (int)m, Systems<T>{(int)n, (bool)trans, shifts, order}, {OF(k), OF(g), OF(t), OF(gt)}); \
	}
#define KERNELS(T, name) \
	KERNEL systemRatios##name(double *ratios, T *a, i64 down, i64 n, const i64 *shifts) { systemRatios<T>(ratios, {a, down}, (int)n, shifts); } \
	SOLVE(T, solveSystemsForward##name, forward) SOLVE(T, solveSystemsTangent##name, tangent) \
	SOLVE(T, solveSystemsAdjoint##name, adjoint) SOLVE(T, solveSystemsAll##name, all)
KERNELS(double, F64)
KERNELS(float, F32)
