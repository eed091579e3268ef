// Kernels y_i += f(x_i), with the derivatives
//
//	x̄ += f′(x)·ȳ,  ẏ += f′(x)·ẋ,  ġx += f′(x)·ġy + f″(x)·ẋ·ȳ
//
// of each element. One launch makes a pass. It leaves out what is null.
#include "reduce.h"

// A Float<F> is a function of Q43 that is computed in double and rounded.
template <class F> struct Float {
	F f;
	DEVICE void at(Q43 x) { f.at((double)x.v * 0x1p-43); }
	DEVICE Q43 value(Q43) { return fixed(f.y); }
	DEVICE Q43 slope(Q43 v) { return product(fixed(f.d), v); }
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(product(fixed(f.curvature()), v), w); }
};

// A Real<F> has the value y of F and its slope d in double.
template <class F> struct Real {
	F f;
	DEVICE void at(double x) { f.at(x); }
	DEVICE double value(double) { return f.y; }
	DEVICE double slope(double v) { return f.d * v; }
	DEVICE double curve(double v, double w) { return f.curvature() * v * w; }
};

struct ExpReal {
	double y, d;
	DEVICE void at(double x) { y = d = exp(x); }
	DEVICE double curvature() { return y; }
};
struct ExpQ43 {
	Q43 y;
	DEVICE void at(Q43 x) { y = expSat(x); }
	DEVICE Q43 value(Q43) { return y; }
	DEVICE Q43 slope(Q43 v) { return product(y, v); }
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(product(y, v), w); }
};

struct LogReal {
	double x, y, d;
	DEVICE void at(double v) { x = v, y = log(v), d = 1 / v; }
	DEVICE double curvature() { return -1 / x / x; }
};
struct LogQ43 {
	Q43 x;
	DEVICE void at(Q43 v) { x = v; }
	DEVICE Q43 value(Q43) { return logOf(x); }
	DEVICE Q43 slope(Q43 v) { return quotient(v, x); }
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(Q43{0} - quotient(v, x), quotient(w, x)); }
};

struct SqrtReal {
	double x, y, d;
	DEVICE void at(double v) { x = v, y = root(v), d = 0.5 / y; }
	DEVICE double curvature() { return -0.25 / y / x; }
};
struct SqrtQ43 {
	Q43 x;
	DEVICE void at(Q43 v) { x = v; }
	DEVICE Q43 value(Q43) { return root(x); }
	DEVICE Q43 slope(Q43 v) {
		Q43 y = root(x);
		return quotient(v, y + y);
	}
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(Q43{0} - slope(v), quotient(w, x + x)); }
};

// With e = exp(-|x|), σ(-|x|) = e/(1 + e) and σ(|x|) = 1/(1 + e), and nothing overflows.
struct Sigmoid {
	double y, d;
	DEVICE void at(double x) {
		double e = exp(-magnitude(x)), q = 1 / (1 + e), p = e * q;
		y = bits(x) >> 63 ? p : q;
		d = p * q;
	}
	DEVICE double curvature() { return d * (1 - 2 * y); }
};

// tanh m = m + m·F for small m, with F from Lambert's continued fraction, and 1 + F else.
struct Tanh {
	double y, d;
	DEVICE void at(double x) {
		double m = magnitude(x), e = exp(-(m + m));
		if (m < 0.625) {
			double z = m * m;
			double n = fma(fma(z + 594, z, 45045), z, 675675);
			double den = fma(fma(fma(z + 630, z, 51975), z, 945945), z, 2027025);
			double f = -(n * z) / den;
			y = fma(f, m, m);
			d = fma(-y, y, 1);
		} else {
			double f = -2 * e / (e + 1);
			y = f + 1;
			d = -((f + 2) * f);
		}
		y = bits((bits(y) & ~((u64)1 << 63)) | (bits(x) & (u64)1 << 63));
	}
	DEVICE double curvature() { return -2 * y * d; }
};

template <class T> struct Vector {
	T *data;
	i64 inc;
	DEVICE T &at(i64 i) const { return data[i * inc]; }
	DEVICE operator bool() const { return data; }
};

template <class F, class T>
DEVICE void apply(Vector<const T> x, i64 n, i64 sign, Vector<T> y, Vector<const T> tx, Vector<T> ty, Vector<T> gx, Vector<const T> gy, Vector<T> gtx, Vector<const T> gty) {
	for (i64 i = first(); i < n; i += step()) {
		F f;
		auto v = wide(x.at(i));
		f.at(v);
		if (y) addSigned(y.at(i), sign, f.value(v));
		if (ty && tx) addSigned(ty.at(i), sign, f.slope(wide(tx.at(i))));
		if (gx && gy) addSigned(gx.at(i), 1, f.slope(wide(gy.at(i))));
		if (gtx && gty) addSigned(gtx.at(i), 1, f.slope(wide(gty.at(i))));
		if (gtx && tx && gy) addSigned(gtx.at(i), 1, f.curve(wide(tx.at(i)), wide(gy.at(i))));
	}
}

// bad_b = the first element in the share of block b that is at or below the bound, or n. It
// is at most zero: strict says whether zero itself is allowed. NaN is.
template <class T> DEVICE void firstBad(i64 *bad, const T *x, i64 incx, i64 n, i64 strict) {
	SHARED i64 least[maxThreads];
	i64 found = n;
	for (i64 i = first(); i < n && found == n; i += step()) {
		auto v = wide(x[i * incx]);
		decltype(v) zero = {};
		if (lessThan(v, zero) || (strict && !lessThan(zero, v) && !isNaN(v))) found = i;
	}
	least[threadX()] = found;
	barrier();
	if (threadX() > 0) return;
	for (i64 i = 1; i < threads(); i++) found = least[i] < found ? least[i] : found;
	bad[blockX()] = found;
}

#define MAP(F, T, name) \
	KERNEL name(const T *x, i64 incx, i64 n, i64 sign, T *y, i64 incy, const T *tx, i64 inctx, T *ty, i64 incty, T *gx, i64 incgx, const T *gy, i64 incgy, T *gtx, i64 incgtx, const T *gty, i64 incgty) { \
		apply<F, T>({x, incx}, n, sign, {y, incy}, {tx, inctx}, {ty, incty}, {gx, incgx}, {gy, incgy}, {gtx, incgtx}, {gty, incgty}); \
	}
#define MAPS(F, Q, name) \
	MAP(Real<F>, double, name##F64) MAP(Real<F>, float, name##F32) MAP(Q, Q43, name##Q43)
MAPS(ExpReal, ExpQ43, exp)
MAPS(LogReal, LogQ43, log)
MAPS(SqrtReal, SqrtQ43, sqrt)
MAPS(Sigmoid, Float<Sigmoid>, sigmoid)
MAPS(Tanh, Float<Tanh>, tanh)
#define BAD(T, name) \
	KERNEL firstBad##name(i64 *bad, const T *x, i64 incx, i64 n, i64 strict) { firstBad(bad, x, incx, n, strict); }
BAD(double, F64)
BAD(float, F32)
BAD(Q43, Q43)
