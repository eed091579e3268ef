// The norms of vectors.
#include "squares.h"

template <class T> DEVICE void norm2Parts(Squares<T> *part, const T *x, i64 incx, i64 n) {
	Squares<T> s = Squares<T>::none();
	for (i64 i = first(); i < n; i += step()) s.add(x[i * incx]);
	s = blockReduce(s);
	if (threadX() == 0) part[blockX()] = s;
}

// *norm = ‖x‖, out += sign·‖x‖.
template <class T> DEVICE void norm2End(T *norm, T *out, i64 sign, const Squares<T> *part, i64 parts) {
	Squares<T> s = reduceParts(part, parts);
	if (threadX() > 0) return;
	*norm = s.sqrt();
	if (out) addSigned(*out, sign, *norm);
}

// part_b = Σ u_i·ẋ_i, u = x/‖x‖, over the elements of block b. It is zero if x is.
template <class T> DEVICE void alongParts(Sum<T> *part, const T *x, i64 incx, const T *dx, i64 incdx, i64 n, const T *norm) {
	Sum<T> s = Sum<T>::zero();
	T r = *norm;
	for (i64 i = first(); i < n && !isZero(r); i += step()) s.add(product(quotient(x[i * incx], r), dx[i * incdx]));
	s = blockSum(s);
	if (threadX() == 0) part[blockX()] = s;
}

// *rate = Σ part_b, out += sign·*rate.
template <class T> DEVICE void alongEnd(T *rate, T *out, i64 sign, const Sum<T> *part, i64 parts) {
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

// part_b = Σ sign(x_i)·y_i over the elements of block b, or Σ |x_i| if y is null.
template <class T> DEVICE void norm1Parts(Sum<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) {
	Sum<T> s = Sum<T>::zero();
	for (i64 i = first(); i < n; i += step()) s.add(y ? signTimes(x[i * incx], y[i * incy]) : magnitude(x[i * incx]));
	s = blockSum(s);
	if (threadX() == 0) part[blockX()] = s;
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
	KERNEL norm2Parts##name(Squares<T> *part, const T *x, i64 incx, i64 n) { norm2Parts(part, x, incx, n); } \
	KERNEL norm2End##name(T *norm, T *out, i64 sign, const Squares<T> *part, i64 parts) { norm2End(norm, out, sign, part, parts); } \
	KERNEL alongParts##name(Sum<T> *part, const T *x, i64 incx, const T *dx, i64 incdx, i64 n, const T *norm) { alongParts(part, x, incx, dx, incdx, n, norm); } \
	KERNEL alongEnd##name(T *rate, T *out, i64 sign, const Sum<T> *part, i64 parts) { alongEnd(rate, out, sign, part, parts); } \
	KERNEL addUnit##name(T *y, i64 incy, const T *alpha, const T *x, i64 incx, i64 n, const T *norm) { addUnit(y, incy, alpha, x, incx, n, norm); } \
	KERNEL addTurn##name(T *y, i64 incy, const T *alpha, const T *dx, i64 incdx, const T *rate, const T *x, i64 incx, i64 n, const T *norm) { addTurn(y, incy, alpha, dx, incdx, rate, x, incx, n, norm); } \
	KERNEL norm1Parts##name(Sum<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) { norm1Parts(part, x, incx, y, incy, n); } \
	KERNEL addSigns##name(T *y, i64 incy, const T *alpha, const T *x, i64 incx, i64 n) { addSigns(y, incy, alpha, x, incx, n); } \
	KERNEL normInfParts##name(Peak<T> *part, const T *x, i64 incx, i64 n) { normInfParts(part, x, incx, n); } \
	KERNEL normInfEnd##name(const Peak<T> *part, i64 parts, i64 sign, T *out, T *tout, const T *tx, i64 inctx, const T *gout, T *gx, i64 incgx, const T *gtout, T *gtx, i64 incgtx) { \
		normInfEnd(part, parts, sign, out, tout, tx, inctx, gout, gx, incgx, gtout, gtx, incgtx); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
