// LogSumExp and Softmax. With m = max x and s = Σ exp(x_i - m), the softmax of x is
// p_i = exp(x_i - m)/s. Every launch computes the exponentials again and stores none.
#include "softmax.h"
#include "vector.h"

// A Walk goes over the elements of a thread.
template <class T> struct Walk {
	const T *at;
	i64 by;
	DEVICE Walk(Vector<const T> x) : at(x.data + first() * x.inc), by(step() * x.inc) {}
	// next returns the next element if it is in, and goes on. The compiler must not make four addresses of one, for which there
	// are too few registers.
	INLINE T next(bool in) {
		asm volatile("" : "+l"(by));
		T v = in ? *at : T{};
		at += by;
		return v;
	}
};

// A thread loads so many elements before it uses the first of them, so that it waits for memory once for all.
constexpr int ahead = 4;

template <bool mean, class T> INLINE Exponentials<1> exponentials(Vector<const T> x, i64 n, Vector<const T> y) {
	Walk<T> xs(x), ys(y);
	auto s = Exponentials<1>::none();
	i64 by = step();
	for (i64 left = n - first(); left > 0; left -= ahead * by) {
		T v[ahead], w[ahead] = {};
#pragma unroll
		for (int u = 0; u < ahead; u++) {
			v[u] = xs.next(left > u * by);
			if (mean) w[u] = ys.next(left > u * by);
		}
#pragma unroll
		for (int u = 0; u < ahead; u++) {
			if (left <= u * by) break;
			if (mean) s.add(v[u], {w[u]});
			else s.add(v[u]);
		}
	}
	return s;
}

template <class T> INLINE void exponentialParts(Exponentials<1> *part, const T *x, i64 incx, i64 n, Vector<const T> y) {
	auto s = blockReduce(y ? exponentials<true, T>({x, incx}, n, y) : exponentials<false, T>({x, incx}, n, y));
	if (threadX() == 0) part[blockX()] = s;
}

// *largest = m, *sum = s, *mean = Σ p_i·y_i, out += sign·log Σ exp(x_i), meanOut += sign·*mean.
template <class T>
DEVICE void exponentialEnd(double *largest, double *sum, double *mean, T *out, T *meanOut, i64 sign, const Exponentials<1> *part, i64 parts, i64 softmax) {
	Exponentials<1> s = reduceParts(part, parts);
	if (threadX() > 0) return;
	*largest = s.m;
	*sum = s.divisor(softmax);
	*mean = s.mean(0);
	if (out) addSigned(*out, sign, s.logSum());
	if (meanOut) addSigned(*meanOut, sign, s.mean(0));
}

// Over Q43 the exponentials are those of the host, which knows m before.

KERNEL maxPartsQ43(Largest<Q43> *part, const Q43 *x, i64 incx, i64 n) {
	Largest<Q43> m = Largest<Q43>::none();
	for (i64 i = first(); i < n; i += step()) m.add({x[i * incx]});
	m = blockReduce(m);
	if (threadX() == 0) part[blockX()] = m;
}

KERNEL maxEndQ43(Q43 *largest, const Largest<Q43> *part, i64 parts) {
	Largest<Q43> m = reduceParts(part, parts);
	if (threadX() == 0) *largest = m.v;
}

KERNEL expPartsQ43(Sum<Q43> *part, const Q43 *x, i64 incx, i64 n, const Q43 *m) {
	auto s = Sum<Q43>::zero();
	Walk<Q43> xs({x, incx});
	Q43 top = *m;
	for (i64 left = n - first(); left > 0; left -= ahead * step()) {
		Q43 v[ahead];
#pragma unroll
		for (int u = 0; u < ahead; u++) v[u] = xs.next(left > u * step());
#pragma unroll
		for (int u = 0; u < ahead; u++) {
			if (left > u * step()) s.add(expOf(v[u], top));
		}
	}
	s = blockSum(s);
	if (threadX() == 0) part[blockX()] = s;
}

// *sum = s, saturated, out += sign·log Σ exp(x_i).
KERNEL expEndQ43(Q43 *sum, Q43 *out, i64 sign, const Q43 *m, i64 n, const Sum<Q43> *part, i64 parts) {
	auto s = Sum<Q43>::zero();
	for (i64 b = threadX(); b < parts; b += threads()) s.add(part[b]);
	s = blockSum(s);
	if (threadX() > 0) return;
	*sum = total(s);
	if (out) addSigned(*out, sign, logSum(*m, *sum, n));
}

// A Softmax yields the elements of p.
template <class T> struct Softmax {
	const T *x;
	i64 incx;
	double m, r;
	DEVICE Softmax(const T *x, i64 incx, double m, double s) : x(x), incx(incx), m(m), r(1 / s) {}
	DEVICE double at(i64 i) const { return expOf(x[i * incx], m) * r; }
};
template <> struct Softmax<Q43> {
	const Q43 *x;
	i64 incx;
	Q43 m, s;
	DEVICE Q43 at(i64 i) const { return quotient(expOf(x[i * incx], m), s); }
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

// y += sign·p, to += signTo·p·(from - mean). What is null is left out.
template <class T>
DEVICE void addSoftmax(Vector<T> y, i64 sign, Softmax<T> p, i64 n, Vector<T> to, i64 signTo, Vector<const T> from, const Wide<T> *mean) {
	Wide<T> c = from ? *mean : Wide<T>{};
	for (i64 i = first(); i < n; i += step()) {
		Element<T> value(y, i), derivative(to, i);
		auto v = wide(element(from, i)), share = p.at(i);
		value.add(sign, share);
		if (from) derivative.add(signTo, product(share, v - c));
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

#define REAL_KERNELS(T, name) \
	KERNEL exponentialParts##name(Exponentials<1> *part, const T *x, i64 incx, i64 n, const T *y, i64 incy) { exponentialParts<T>(part, x, incx, n, {y, incy}); } \
	KERNEL exponentialEnd##name(double *largest, double *sum, double *mean, T *out, T *meanOut, i64 sign, const Exponentials<1> *part, i64 parts, i64 softmax) { \
		exponentialEnd(largest, sum, mean, out, meanOut, sign, part, parts, softmax); \
	}
REAL_KERNELS(double, F64)
REAL_KERNELS(float, F32)
#define KERNELS(T, name) \
	KERNEL meanParts##name(Sum<Wide<T>> *part, const T *x, i64 incx, const Wide<T> *m, const Wide<T> *s, i64 n, const T *y, i64 incy, const Wide<T> *c, const T *z, i64 incz, const Wide<T> *d) { \
		meanParts(part, Softmax<T>{x, incx, *m, *s}, n, y, incy, c, z, incz, d); \
	} \
	KERNEL meanEnd##name(Wide<T> *mean, i64 add, T *out, i64 sign, const Sum<Wide<T>> *part, i64 parts) { meanEnd(mean, add, out, sign, part, parts); } \
	KERNEL addSoftmax##name(T *y, i64 incy, i64 sign, const T *x, i64 incx, const Wide<T> *m, const Wide<T> *s, i64 n, T *to, i64 incto, i64 signTo, const T *from, i64 incfrom, const Wide<T> *mean) { \
		addSoftmax<T>({y, incy}, sign, Softmax<T>{x, incx, *m, *s}, n, {to, incto}, signTo, {from, incfrom}, mean); \
	} \
	KERNEL addLogSumExp##name(T *gx, i64 incgx, const T *x, i64 incx, const Wide<T> *m, const Wide<T> *s, i64 n, const T *a, const T *b, const T *tx, i64 inctx, const Wide<T> *tau) { \
		addLogSumExp(gx, incgx, Softmax<T>{x, incx, *m, *s}, n, a, b, tx, inctx, tau); \
	} \
	KERNEL addSoftmaxTurn##name(T *gtx, i64 incgtx, const T *x, i64 incx, const Wide<T> *m, const Wide<T> *s, i64 n, const T *gty, i64 incgty, const Wide<T> *e, const T *tx, i64 inctx, const Wide<T> *r, const T *gy, i64 incgy, const Wide<T> *d) { \
		addSoftmaxTurn(gtx, incgtx, Softmax<T>{x, incx, *m, *s}, n, gty, incgty, e, tx, inctx, r, gy, incgy, d); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
