// Householder reflections I - f·w·wᵀ. The signs are those of revlinalg.QR.
#pragma once
#include "floats.h"

DEVICE double bound(double) { return 0x1p-52; }
DEVICE float bound(float) { return 0x1p-23f; }

// A Reflection I - factor·w·wᵀ takes x = (α, x₁, ...) to (β, 0, ...), with w = (head, x₁, ...), head = α - β
// and factor = -1/(β·head). If the factor is 0, x stays.
template <class T> struct Reflection {
	T beta, factor, head;
	// doubtful reports whether set needs top.
	DEVICE static bool doubtful(T alpha, T squares) { return squares < alpha * alpha / (64 * 64); }
	// For the sum of the squares of x₁, ..., and the largest magnitude in the column of R.
	DEVICE void set(T alpha, T squares, T top) {
		beta = alpha;
		factor = 0;
		head = 1;
		if (squares == 0 || (doubtful(alpha, squares) && root(squares) <= 10 * bound(alpha) * top)) return;
		beta = -root(fma(alpha, alpha, squares));
		if (alpha < 0 && alpha * alpha > bound(alpha) * squares) beta = -beta;
		head = alpha - beta;
		factor = -1 / (beta * head);
	}
};
