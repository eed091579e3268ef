// Small matrices in shared memory.
#pragma once
#include "floats.h"
#include "matrix.h"
#include "vector.h"

// Matrices of up to 32×32 elements in shared memory, with zeros around them. A block of 8×8 threads has one
// matrix of the stack, and a thread 4×4 elements of a product, which are 8 apart.
constexpr int squareSide = 32, squareSize = 4, squareApart = squareSide / squareSize, squarePart = 8;

// eachElement calls f(i, j) for the elements of a thread, so that neighbouring threads have neighbours in the memory of a.
template <class T, class F> INLINE void eachElement(Matrix<T> a, F f) {
#pragma unroll
	for (int u = 0; u < squareSize * squareSize; u++) {
		int e = (int)threadX() + u * squareApart * squareApart, far = e / squareSide, near = e % squareSide;
		bool rows = a.across == 1 || a.across == -1;
		f(rows ? far : near, rows ? near : far);
	}
}

template <class T> struct Square {
	T v[squareSide][squareSide + 1];
	DEVICE static int row(int i) { return (int)threadX() / squareApart + i * squareApart; }
	DEVICE static int column(int j) { return (int)threadX() % squareApart + j * squareApart; }

	// loadTransposed loads aᵀ. Elements (i, j) of a with j - i > last are not read: they count as zeros, or as rest on
	// the diagonal.
	template <class S> INLINE void loadTransposed(Matrix<S> a, int rows, int cols, int last = squareSide, T rest = 0) {
		eachElement(a, [&](int i, int j) { v[j][i] = a.data && i < rows && j < cols && j - i <= last ? a.at(i, j) : i == j ? rest : 0; });
	}

	// addTransposed adds ±vᵀ to the elements of y with j - i <= last, if there is a y.
	INLINE void addTransposed(Matrix<T> y, i64 sign, int rows, int cols, int last = squareSide) const {
		if (!y.data) return;
		eachElement(y, [&](int i, int j) {
			if (i < rows && j < cols && j - i <= last) addSigned(y.at(i, j), sign, v[j][i]);
		});
	}

	// each calls f(v, i, j) for the elements that a thread has in s.
	template <class F> INLINE static void each(T (&s)[squareSize][squareSize], F f) {
#pragma unroll
		for (int i = 0; i < squareSize; i++) {
#pragma unroll
			for (int j = 0; j < squareSize; j++) f(s[i][j], row(i), column(j));
		}
	}

	// set stores what the threads have of a matrix.
	INLINE void set(const T (&s)[squareSize][squareSize]) {
#pragma unroll
		for (int i = 0; i < squareSize; i++) {
#pragma unroll
			for (int j = 0; j < squareSize; j++) v[row(i)][column(j)] = s[i][j];
		}
	}

	// solve computes row i of v·R⁻¹, or of v·R⁻ᵀ, for the triangle of r on and above the diagonal. If Lower is set, R is the
	// one below, with a diagonal of ones. If Columns is, it does so for vᵀ. The first n elements depend on no others: zeros
	// around them may become NaN. A part of a row is in registers.
	template <bool Trans, bool Lower = false, bool Columns = false> INLINE void solve(const Square &r, int n, int i) {
		constexpr bool turned = Trans != Lower; // the last element is the first
		auto place = [](int q) { return turned ? squareSide - 1 - q : q; };
		auto at = [&](int q) -> T & { return Columns ? v[place(q)][i] : v[i][place(q)]; };
		auto factor = [&](int q, int k) { return Trans ? r.v[place(k)][place(q)] : r.v[place(q)][place(k)]; };
		int begin = turned ? squareSide - n : 0, end = turned ? squareSide : n;
#pragma unroll 1
		for (int p = 0; p < end; p += squarePart) {
			T x[squarePart];
#pragma unroll
			for (int k = 0; k < squarePart; k++) x[k] = at(p + k);
#pragma unroll 2
			for (int q = begin; q < p; q++) {
				T known = at(q);
#pragma unroll
				for (int k = 0; k < squarePart; k++) x[k] = fma(-known, factor(q, p + k), x[k]);
			}
#pragma unroll
			for (int q = 0; q < squarePart; q++) {
				if (p + q < begin || p + q >= end) continue;
				if (!Lower) x[q] /= factor(p + q, p + q);
#pragma unroll
				for (int k = q + 1; k < squarePart; k++) x[k] = fma(-x[q], factor(p + q, p + k), x[k]);
			}
#pragma unroll
			for (int k = 0; k < squarePart; k++) at(p + k) = x[k];
		}
	}
};

// addSquares adds sign·op(A)·op(B) to the elements s of a thread, with sums of k terms.
template <bool TransA, bool TransB, class T> INLINE void addSquares(T (&s)[squareSize][squareSize], T sign, const Square<T> &a, const Square<T> &b, int k) {
#pragma unroll 4
	for (int p = 0; p < k; p++) {
		T u[squareSize], w[squareSize];
#pragma unroll
		for (int i = 0; i < squareSize; i++) {
			int r = a.row(i), c = b.column(i);
			u[i] = sign * (TransA ? a.v[p][r] : a.v[r][p]);
			w[i] = TransB ? b.v[c][p] : b.v[p][c];
		}
#pragma unroll
		for (int i = 0; i < squareSize; i++) {
#pragma unroll
			for (int j = 0; j < squareSize; j++) s[i][j] = fma(u[i], w[j], s[i][j]);
		}
	}
}

// An Equation has the operands of kernels X += A⁻¹·B, whose increments are those of rows. Any of them may be absent.
template <class T> struct Equation {
	Vector<T> x, a, b;
};
template <class T> struct Equations {
	Equation<T> k, g, t, gt;
};

// A pass for a stack of systems of n equations with m right-hand sides. A block does a system.
//
// All matrices but that of the factors are transposed in shared memory. S has the systems:
//
//	right(b), left(a)  are the matrices of a block, the latter transposed if that of the system is
//	last()             is what is read of A, as in loadTransposed
//	load(a, A)         loads A
//	factor(a)          makes factors of it
//	solve(v, a, m, transposed, row)  replaces v by v·A⁻ᵀ, or by v·A⁻¹, with the lanes of a warp as rows
//
// The first warp solves for Y while the second solves for Z.
template <PassKind kind, class T, class S> INLINE void solveSmall(i64 sign, int n, int m, const S &of, Equations<T> o) {
	SHARED Square<T> a, y, z, da, dz;
	int row = (int)threadX() % lanes;
	bool first = threadX() < lanes;
	// A column of A is subtracted from those of a gradient.
	auto subtract = [&](Matrix<T> ga, const T(&s)[squareSize][squareSize]) {
#pragma unroll
		for (int i = 0; i < squareSize; i++) {
#pragma unroll
			for (int j = 0; j < squareSize; j++) {
				int r = a.row(i), c = a.column(j);
				if (r < n && c < n && c - r <= of.last()) addSigned(ga.at(r, c), -1, s[i][j]);
			}
		}
	};

	of.load(a, o.k.a);
	y.loadTransposed(of.right(o.k.b), n, m);
	if (kind & adjoint) z.loadTransposed(of.right(o.g.x), n, m);
	if (kind & tangent) da.loadTransposed(of.left(o.t.a), n, n, of.last());
	barrier();
	of.factor(a);
	if (first || (kind & adjoint)) of.solve(first ? y : z, a, m, !first, row);
	barrier();
	y.addTransposed(of.right(o.k.x), sign, n, m);
	T s[squareSize][squareSize] = {};
	if (kind & adjoint) {
		z.addTransposed(of.right(o.g.b), 1, n, m);
		barrier(); // Ā may be B̄
		if (o.g.a) {
			addSquares<true, false>(s, (T)1, z, y, m);
			subtract(of.left(o.g.a), s);
		}
	}
	if (!(kind & tangent)) return;

	// Ẏᵀ = (Ḃᵀ - Yᵀ·Ȧᵀ)·R⁻¹ takes the place of Ȧᵀ.
	Matrix<T> db = of.right(o.t.b), gx = of.right(o.gt.x);
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
	if (first || (kind & adjoint)) of.solve(first ? da : dz, a, m, !first, row);
	barrier();
	da.addTransposed(of.right(o.t.x), sign, n, m);
	if (!(kind & adjoint)) return;
	dz.addTransposed(of.right(o.gt.b), 1, n, m);
	barrier(); // ġA may be ġB
	if (!o.gt.a) return;
	T u[squareSize][squareSize] = {};
	if (o.g.x && (o.t.a || o.t.b)) addSquares<true, false>(u, (T)1, z, da, m);
	addSquares<true, false>(u, (T)1, dz, y, m);
	subtract(of.left(o.gt.a), u);
}

#define EQUATION(T, k) T *k##X, i64 k##DownX, T *k##A, i64 k##DownA, T *k##B, i64 k##DownB
#define OF(k) {{k##X, k##DownX}, {k##A, k##DownA}, {k##B, k##DownB}}
