// The norms of vectors.
#include "squares.h"

// A Radial is a sum of squares, and the sum p of the products x_i·y_i.
template <class T> struct Radial {
	Squares<T> squares;
	decltype(Sum<Wide<T>>::v) p;
	DEVICE static Radial none() { return {Squares<T>::none(), 0}; }
	DEVICE void add(Radial s) { squares.add(s.squares), p += s.p; }
	DEVICE Radial lower(int by) const { return {squares.lower(by), down(p, by)}; }
};

// fits reports whether no product of a p was so large or so small that p is not exact enough. Over
// Q43 it never is.
DEVICE bool fits(Radial<double> s) {
	double p = magnitude(s.p);
	return s.squares.big == 0 && s.squares.small == 0 && p > 0x1p-900 && p < 0x1p900;
}
DEVICE bool fits(Radial<float> s) { return magnitude(s.p) > 0 && magnitude(s.p) < infinity; }
DEVICE bool fits(Radial<Q43>) { return false; }
DEVICE void addTo(double &p, double x, double y) { p = fma(x, y, p); }
DEVICE void addTo(i128 &, Q43, Q43) {}

// A null y stands for zeros.
template <class T> DEVICE void norm2Parts(Radial<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) {
	Radial<T> s = Radial<T>::none();
	for (i64 i = first(); i < n; i += step()) {
		T v = x[i * incx];
		s.squares.add(v);
		if (y) addTo(s.p, v, y[i * incy]);
	}
	s = blockReduce(s);
	if (threadX() == 0) part[blockX()] = s;
}

// ratio returns p/‖x‖.
template <class T> DEVICE T ratio(double p, T norm) { return (T)(p / norm); }
DEVICE Q43 ratio(i128, Q43 norm) { return norm; }

// *norm = ‖x‖, out += sign·‖x‖, and *rate = p/‖x‖, tout += sign·*rate, if p fits. *done says that.
template <class T>
DEVICE void norm2End(T *norm, T *out, i64 sign, T *rate, T *tout, i64 *done, const Radial<T> *part, i64 parts) {
	Radial<T> s = reduceParts(part, parts);
	if (threadX() > 0) return;
	T r = s.squares.sqrt();
	*norm = r;
	if (out) addSigned(*out, sign, r);
	*done = fits(s);
	if (!*done) return;
	*rate = ratio(s.p, r);
	if (tout) addSigned(*tout, sign, *rate);
}

// part_b = Σ u_i·ẋ_i, u = x/‖x‖, over the elements of block b. It is zero if x is. There is nothing to
// do if norm2End is done.
template <class T> DEVICE void alongParts(Sum<T> *part, const T *x, i64 incx, const T *dx, i64 incdx, i64 n, const T *norm, const i64 *done) {
	if (*done) return;
	Sum<T> s = Sum<T>::zero();
	T r = *norm;
	for (i64 i = first(); i < n && !isZero(r); i += step()) s.add(product(quotient(x[i * incx], r), dx[i * incdx]));
	s = blockSum(s);
	if (threadX() == 0) part[blockX()] = s;
}

// *rate = Σ part_b, out += sign·*rate.
template <class T> DEVICE void alongEnd(T *rate, T *out, i64 sign, const i64 *done, const Sum<T> *part, i64 parts) {
	if (*done) return;
	Sum<T> s = Sum<T>::zero();
	for (i64 b = threadX(); b < parts; b += threads()) s.add(part[b]);
	s = blockSum(s);
	if (threadX() > 0) return;
	*rate = s.value();
	if (out) addSigned(*out, sign, *rate);
}

// y += α·x/‖x‖, nothing if x is zero.
template <class T> DEVICE void addUnit(T *y, i64 incy, const T *alpha, const T *x, i64 incx, i64 n, const T *norm) {
	T a = *alpha, r = *norm;
	for (i64 i = first(); i < n && !isZero(r); i += step()) addSigned(y[i * incy], 1, product(a, quotient(x[i * incx], r)));
}

// y += α·(ẋ - rate·x/‖x‖)/‖x‖, nothing if x is zero.
template <class T>
DEVICE void addTurn(T *y, i64 incy, const T *alpha, const T *dx, i64 incdx, const T *rate, const T *x, i64 incx, i64 n, const T *norm) {
	T a = *alpha, r = *norm, v = *rate;
	for (i64 i = first(); i < n && !isZero(r); i += step()) {
		addSigned(y[i * incy], 1, product(a, quotient(dx[i * incdx] - product(v, quotient(x[i * incx], r)), r)));
	}
}

// The sign of x times v.
DEVICE double signTimes(double x, double v) { return (x > 0 ? 1 : x < 0 ? -1 : x) * v; }
DEVICE float signTimes(float x, float v) { return (x > 0 ? 1 : x < 0 ? -1 : x) * v; }
DEVICE Q43 signTimes(Q43 x, Q43 v) { return x.v > 0 ? v : x.v < 0 ? Q43{0} - v : Q43{0}; }

DEVICE float magnitude(float x) { return __builtin_fabsf(x); }
DEVICE Q43 magnitude(Q43 x) { return Q43{(i64)absolute(x.v)}; }

// Sums are two sums over the same elements.
template <class T> struct Sums {
	Sum<T> value, tangent;
	DEVICE static Sums none() { return {Sum<T>::zero(), Sum<T>::zero()}; }
	DEVICE void add(Sums s) { value.add(s.value), tangent.add(s.tangent); }
	DEVICE Sums lower(int by) const { return {{down(value.v, by)}, {down(tangent.v, by)}}; }
};

// part_b = Σ |x_i| over the elements of block b, and Σ sign(x_i)·y_i unless y is null.
template <class T> DEVICE void norm1Parts(Sums<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) {
	Sums<T> s = Sums<T>::none();
	for (i64 i = first(); i < n; i += step()) {
		T v = x[i * incx];
		s.value.add(magnitude(v));
		if (y) s.tangent.add(signTimes(v, y[i * incy]));
	}
	s = blockReduce(s);
	if (threadX() == 0) part[blockX()] = s;
}

// out += sign·Σ |x_i|, tout += sign·Σ sign(x_i)·y_i. What is null is left out.
template <class T> DEVICE void norm1End(T *out, T *tout, i64 sign, const Sums<T> *part, i64 parts) {
	Sums<T> s = reduceParts(part, parts);
	if (threadX() > 0) return;
	if (out) addSigned(*out, sign, s.value.value());
	if (tout) addSigned(*tout, sign, s.tangent.value());
}

// y_i += α·sign(x_i).
template <class T> DEVICE void addSigns(T *y, i64 incy, const T *alpha, const T *x, i64 incx, i64 n) {
	T a = *alpha;
	for (i64 i = first(); i < n; i += step()) addSigned(y[i * incy], 1, signTimes(x[i * incx], a));
}

// A Peak is the first element of the largest magnitude, or the first NaN. Its index is -1 if
// all elements are zero.
DEVICE bool isLarger(double x, double y) { return magnitude(x) > magnitude(y); }
DEVICE bool isLarger(Q43 x, Q43 y) { return absolute(x.v) > absolute(y.v); }
template <class T> struct Peak {
	i64 i;
	Wide<T> v; // as a float would leave four bytes that nobody writes
	DEVICE static Peak none() { return {-1, Wide<T>{}}; }
	DEVICE void add(Peak p) {
		if (p.i < 0) return;
		bool before = i < 0 || p.i < i;
		bool equal = isNaN(v) ? isNaN(p.v) : !isNaN(p.v) && !isLarger(p.v, v) && !isLarger(v, p.v);
		if (i < 0 || (equal ? before : !isNaN(v) && (isNaN(p.v) || isLarger(p.v, v)))) *this = p;
	}
	DEVICE Peak lower(int by) const { return {down(i, by), down(v, by)}; }
};

template <class T> DEVICE void normInfParts(Peak<T> *part, const T *x, i64 incx, i64 n) {
	Peak<T> p = Peak<T>::none();
	for (i64 i = first(); i < n; i += step()) {
		if (!isZero(x[i * incx])) p.add({i, wide(x[i * incx])});
	}
	p = blockReduce(p);
	if (threadX() == 0) part[blockX()] = p;
}

// The rest of a pass of NormInf, without what is null.
template <class T>
DEVICE void normInfEnd(const Peak<T> *part, i64 parts, i64 sign, T *out, T *tout, const T *tx, i64 inctx, const T *gout, T *gx, i64 incgx, const T *gtout, T *gtx, i64 incgtx) {
	Peak<T> p = reduceParts(part, parts);
	if (threadX() > 0) return;
	T v = (T)p.v;
	if (out) addSigned(*out, sign, magnitude(v));
	if (p.i < 0) return;
	if (tout && tx) addSigned(*tout, sign, signTimes(v, tx[p.i * inctx]));
	if (gout && gx) addSigned(gx[p.i * incgx], 1, signTimes(v, *gout));
	if (gtout && gtx) addSigned(gtx[p.i * incgtx], 1, signTimes(v, *gtout));
}

#define KERNELS(T, name) \
	KERNEL norm2Parts##name(Radial<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) { norm2Parts(part, x, incx, y, incy, n); } \
	KERNEL norm2End##name(T *norm, T *out, i64 sign, T *rate, T *tout, i64 *done, const Radial<T> *part, i64 parts) { norm2End(norm, out, sign, rate, tout, done, part, parts); } \
	KERNEL alongParts##name(Sum<T> *part, const T *x, i64 incx, const T *dx, i64 incdx, i64 n, const T *norm, const i64 *done) { alongParts(part, x, incx, dx, incdx, n, norm, done); } \
	KERNEL alongEnd##name(T *rate, T *out, i64 sign, const i64 *done, const Sum<T> *part, i64 parts) { alongEnd(rate, out, sign, done, part, parts); } \
	KERNEL addUnit##name(T *y, i64 incy, const T *alpha, const T *x, i64 incx, i64 n, const T *norm) { addUnit(y, incy, alpha, x, incx, n, norm); } \
	KERNEL addTurn##name(T *y, i64 incy, const T *alpha, const T *dx, i64 incdx, const T *rate, const T *x, i64 incx, i64 n, const T *norm) { addTurn(y, incy, alpha, dx, incdx, rate, x, incx, n, norm); } \
	KERNEL norm1Parts##name(Sums<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) { norm1Parts(part, x, incx, y, incy, n); } \
	KERNEL norm1End##name(T *out, T *tout, i64 sign, const Sums<T> *part, i64 parts) { norm1End(out, tout, sign, part, parts); } \
	KERNEL addSigns##name(T *y, i64 incy, const T *alpha, const T *x, i64 incx, i64 n) { addSigns(y, incy, alpha, x, incx, n); } \
	KERNEL normInfParts##name(Peak<T> *part, const T *x, i64 incx, i64 n) { normInfParts(part, x, incx, n); } \
	KERNEL normInfEnd##name(const Peak<T> *part, i64 parts, i64 sign, T *out, T *tout, const T *tx, i64 inctx, const T *gout, T *gx, i64 incgx, const T *gtout, T *gtx, i64 incgtx) { \
		normInfEnd(part, parts, sign, out, tout, tx, inctx, gout, gx, incgx, gtout, gtx, incgtx); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
