// Small matrices in shared memory.
#pragma once
#include "floats.h"
#include "matrix.h"
#include "vector.h"

// Matrices of up to 32×32 elements in shared memory, with zeros around them. A block of 8×8 threads has one
// matrix of the stack, and a thread 4×4 elements of a product, which are 8 apart.
constexpr int squareSide = 32, squareSize = 4, squareApart = squareSide / squareSize;

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

	// addTransposed adds ±vᵀ to y, if there is one.
	INLINE void addTransposed(Matrix<T> y, i64 sign, int rows, int cols) const {
		if (!y.data) return;
		eachElement(y, [&](int i, int j) {
			if (i < rows && j < cols) addSigned(y.at(i, j), sign, v[j][i]);
		});
	}

	// set stores what the threads have of a matrix.
	INLINE void set(const T (&s)[squareSize][squareSize]) {
#pragma unroll
		for (int i = 0; i < squareSize; i++) {
#pragma unroll
			for (int j = 0; j < squareSize; j++) v[row(i)][column(j)] = s[i][j];
		}
	}

	// solve computes row i of v·R⁻¹, or of v·R⁻ᵀ, whose first n elements depend on no others: zeros around them may
	// become NaN.
	template <bool Trans> INLINE void solve(const Square &r, int n, int i) {
		T x[squareSide];
#pragma unroll
		for (int j = 0; j < squareSide; j++) x[j] = v[i][j];
#pragma unroll
		for (int step = 0; step < squareSide; step++) {
			int j = Trans ? squareSide - 1 - step : step;
			if (j < n) {
				x[j] /= r.v[j][j];
#pragma unroll
				for (int k = Trans ? 0 : j + 1; k < (Trans ? j : squareSide); k++) x[k] = fma(-x[j], Trans ? r.v[k][j] : r.v[j][k], x[k]);
			}
		}
#pragma unroll
		for (int j = 0; j < squareSide; j++) v[i][j] = x[j];
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
#define EQUATION(T, k) T *k##X, i64 k##DownX, T *k##A, i64 k##DownA, T *k##B, i64 k##DownB
#define OF(k) {{k##X, k##DownX}, {k##A, k##DownA}, {k##B, k##DownB}}
