/* The loops that a C programmer would write. With -ffast-math, gcc calls the vector functions of
   glibc (libmvec). Each runs n times. */
#include <math.h>
#include <tgmath.h>

/* As if others had changed all memory, so that no run is left out. */
#define AGAIN __asm__ volatile("" ::: "memory")

#define UNARY(name, T, f) \
	void name##_##T(T *restrict y, const T *restrict x, long n, long times) \
	{ \
		for (; times > 0; times--) { \
			for (long i = 0; i < n; i++) \
				y[i] = f; \
			AGAIN; \
		} \
	}
#define BINARY(name, T, f) \
	void name##_##T(T *restrict z, const T *restrict x, const T *restrict y, long n, long times) \
	{ \
		for (; times > 0; times--) { \
			for (long i = 0; i < n; i++) \
				z[i] = f; \
			AGAIN; \
		} \
	}
#define BOTH(kind, name, f) kind(name, double, f) kind(name, float, f)

BOTH(UNARY, exp, exp(x[i]))
BOTH(UNARY, log, log(x[i]))
BOTH(UNARY, sin, sin(x[i]))
BOTH(UNARY, cos, cos(x[i]))
BOTH(UNARY, sqrt, sqrt(x[i]))
BOTH(UNARY, tanh, tanh(x[i]))
BOTH(BINARY, pow, pow(x[i], y[i]))
BOTH(BINARY, atan2, atan2(x[i], y[i]))
BOTH(BINARY, div, x[i] / y[i])
BOTH(BINARY, mul, x[i] * y[i])

#define TROPICAL(T) \
	void tropical_##T(T *restrict c, const T *restrict a, const T *restrict b, long m, long k, long n, long times) \
	{ \
		for (; times > 0; times--) { \
			for (long i = 0; i < m; i++) \
				for (long l = 0; l < k; l++) \
					for (long j = 0; j < n; j++) { \
						T v = a[i * k + l] + b[l * n + j]; \
						if (c[i * n + j] < v) \
							c[i * n + j] = v; \
					} \
			AGAIN; \
		} \
	}
TROPICAL(double)
TROPICAL(float)
