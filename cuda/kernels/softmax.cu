// LogSumExp and Softmax. With m = max x and s = Σ exp(x_i - m), the softmax of x is
// p_i = exp(x_i - m)/s. Every launch computes the exponentials again and stores none.
#include "softmax.h"

template <class T> DEVICE void maxParts(Largest<T> *part, const T *x, i64 incx, i64 n) {
	Largest<T> m = Largest<T>::none();
	for (i64 i = first(); i < n; i += step()) m.add({x[i * incx]});
	m = blockReduce(m);
	if (threadX() == 0) part[blockX()] = m;
}

template <class T> DEVICE void maxEnd(T *largest, const Largest<T> *part, i64 parts) {
	Largest<T> m = reduceParts(part, parts);
	if (threadX() == 0) *largest = m.v;
}

template <class T> DEVICE void expParts(Sum<Wide<T>> *part, const T *x, i64 incx, i64 n, const T *m) {
	auto s = Sum<Wide<T>>::zero();
	for (i64 i = first(); i < n; i += step()) s.add(expOf(wide(x[i * incx]), wide(*m)));
	s = blockSum(s);
	if (threadX() == 0) part[blockX()] = s;
}

// *sum = s, out += sign·log Σ exp(x_i).
template <class T>
DEVICE void expEnd(Wide<T> *sum, T *out, i64 sign, const T *m, i64 n, const Sum<Wide<T>> *part, i64 parts, i64 softmax) {
	auto s = Sum<Wide<T>>::zero();
	for (i64 b = threadX(); b < parts; b += threads()) s.add(part[b]);
	s = blockSum(s);
	if (threadX() > 0) return;
	auto v = total(s);
	if (out) addSigned(*out, sign, logSum(wide(*m), v, n));
	*sum = divisor(wide(*m), v, softmax);
}

// A Softmax yields the elements of p.
template <class T> struct Softmax {
	const T *x;
	i64 incx;
	Wide<T> m, s;
	DEVICE Wide<T> at(i64 i) const { return quotient(expOf(wide(x[i * incx]), m), s); }
};

// part_b = Σ p_i·(y_i - c) over the elements of block b, or Σ p_i·(y_i - c)·(z_i - d). Null c and d
// stand for zeros.
template <class T>
DEVICE void meanParts(Sum<Wide<T>> *part, Softmax<T> p, i64 n, const T *y, i64 incy, const Wide<T> *c, const T *z, i64 incz, const Wide<T> *d) {
	auto s = Sum<Wide<T>>::zero();
	for (i64 i = first(); i < n; i += step()) {
		auto v = product(p.at(i), c ? wide(y[i * incy]) - *c : wide(y[i * incy]));
		s.add(z ? product(v, d ? wide(z[i * incz]) - *d : wide(z[i * incz])) : v);
	}
	s = blockSum(s);
	if (threadX() == 0) part[blockX()] = s;
}

// *mean = Σ part_b, or adds it if add is set; out += sign·Σ part_b.
template <class T> DEVICE void meanEnd(Wide<T> *mean, i64 add, T *out, i64 sign, const Sum<Wide<T>> *part, i64 parts) {
	auto s = Sum<Wide<T>>::zero();
	for (i64 b = threadX(); b < parts; b += threads()) s.add(part[b]);
	s = blockSum(s);
	if (threadX() > 0) return;
	*mean = add ? *mean + s.value() : s.value();
	if (out) addSigned(*out, sign, s.value());
}

// y += sign·p, or sign·p·(from - mean) unless from is null.
template <class T> DEVICE void addSoftmax(T *y, i64 incy, i64 sign, Softmax<T> p, i64 n, const T *from, i64 incfrom, const Wide<T> *mean) {
	for (i64 i = first(); i < n; i += step()) {
		addSigned(y[i * incy], sign, from ? product(p.at(i), wide(from[i * incfrom]) - *mean) : p.at(i));
	}
}

// gx += p·(a + b·(ẋ - τ)). What is null counts as zero.
template <class T>
DEVICE void addLogSumExp(T *gx, i64 incgx, Softmax<T> p, i64 n, const T *a, const T *b, const T *tx, i64 inctx, const Wide<T> *tau) {
	for (i64 i = first(); i < n; i += step()) {
		Wide<T> d = {};
		if (a) d = wide(*a);
		if (b && tx) d = d + product(wide(*b), wide(tx[i * inctx]) - *tau);
		addSigned(gx[i * incgx], 1, product(p.at(i), d));
	}
}

// ġx += p·(ġy - e + (ẋ - r)·(ȳ - d)). Without ẋ and ȳ, or ġy, these count as zero.
template <class T>
DEVICE void addSoftmaxTurn(T *gtx, i64 incgtx, Softmax<T> p, i64 n, const T *gty, i64 incgty, const Wide<T> *e, const T *tx, i64 inctx, const Wide<T> *r, const T *gy, i64 incgy, const Wide<T> *d) {
	for (i64 i = first(); i < n; i += step()) {
		Wide<T> v = {};
		if (gty) v = wide(gty[i * incgty]);
		v = v - *e;
		if (tx && gy) v = v + product(wide(tx[i * inctx]) - *r, wide(gy[i * incgy]) - *d);
		addSigned(gtx[i * incgtx], 1, product(p.at(i), v));
	}
}

#define KERNELS(T, name) \
	KERNEL maxParts##name(Largest<T> *part, const T *x, i64 incx, i64 n) { maxParts(part, x, incx, n); } \
	KERNEL maxEnd##name(T *largest, const Largest<T> *part, i64 parts) { maxEnd(largest, part, parts); } \
	KERNEL expParts##name(Sum<Wide<T>> *part, const T *x, i64 incx, i64 n, const T *m) { expParts(part, x, incx, n, m); } \
	KERNEL expEnd##name(Wide<T> *sum, T *out, i64 sign, const T *m, i64 n, const Sum<Wide<T>> *part, i64 parts, i64 softmax) { expEnd(sum, out, sign, m, n, part, parts, softmax); } \
	KERNEL meanParts##name(Sum<Wide<T>> *part, const T *x, i64 incx, const T *m, const Wide<T> *s, i64 n, const T *y, i64 incy, const Wide<T> *c, const T *z, i64 incz, const Wide<T> *d) { \
		meanParts(part, Softmax<T>{x, incx, wide(*m), *s}, n, y, incy, c, z, incz, d); \
	} \
	KERNEL meanEnd##name(Wide<T> *mean, i64 add, T *out, i64 sign, const Sum<Wide<T>> *part, i64 parts) { meanEnd(mean, add, out, sign, part, parts); } \
	KERNEL addSoftmax##name(T *y, i64 incy, i64 sign, const T *x, i64 incx, const T *m, const Wide<T> *s, i64 n, const T *from, i64 incfrom, const Wide<T> *mean) { \
		addSoftmax(y, incy, sign, Softmax<T>{x, incx, wide(*m), *s}, n, from, incfrom, mean); \
	} \
	KERNEL addLogSumExp##name(T *gx, i64 incgx, const T *x, i64 incx, const T *m, const Wide<T> *s, i64 n, const T *a, const T *b, const T *tx, i64 inctx, const Wide<T> *tau) { \
		addLogSumExp(gx, incgx, Softmax<T>{x, incx, wide(*m), *s}, n, a, b, tx, inctx, tau); \
	} \
	KERNEL addSoftmaxTurn##name(T *gtx, i64 incgtx, const T *x, i64 incx, const T *m, const Wide<T> *s, i64 n, const T *gty, i64 incgty, const Wide<T> *e, const T *tx, i64 inctx, const Wide<T> *r, const T *gy, i64 incgy, const Wide<T> *d) { \
		addSoftmaxTurn(gtx, incgtx, Softmax<T>{x, incx, wide(*m), *s}, n, gty, incgty, e, tx, inctx, r, gy, incgy, d); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
