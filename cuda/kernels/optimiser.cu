// Steps of package optim, with the operations of the host in their order.
#include "vector.h"

DEVICE double root(double x) { return __builtin_elementwise_sqrt(x); }

// v <- μ·v + g, x <- x - η·v, or with Nesterov x <- x - η·(g + μ·v).
KERNEL stepSGD(double *x, i64 incx, const double *g, i64 incg, double *velocity, i64 n, double rate, double momentum, i64 nesterov) {
	for (i64 i = first(); i < n; i += step()) {
		double grad = g[i * incg], v = momentum * velocity[i] + grad;
		velocity[i] = v;
		if (nesterov) v = grad + momentum * v;
		x[i * incx] -= rate * v;
	}
}

// m <- β₁·m + (1 - β₁)·g, v <- β₂·v + (1 - β₂)·g², x <- x - η·(λ·x + m/c₁/(√(v/c₂) + ε)).
KERNEL stepAdam(double *x, i64 incx, const double *g, i64 incg, double *mean, double *square, i64 n, double rate, double beta1, double beta2, double rest1, double rest2, double c1, double c2, double epsilon, double decay) {
	for (i64 i = first(); i < n; i += step()) {
		double grad = g[i * incg], old = x[i * incx];
		double m = beta1 * mean[i] + rest1 * grad, v = beta2 * square[i] + rest2 * grad * grad;
		mean[i] = m;
		square[i] = v;
		x[i * incx] = old - rate * (decay * old + m / c1 / (root(v / c2) + epsilon));
	}
}
