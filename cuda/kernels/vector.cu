// Kernels over vectors. Element i of a vector is at i·inc.
#include "reduce.h"
#include "vector.h"

// y += sign·α·x and then y += sign·β·z, without the latter if z is null. A null alpha stands for 1.
template <class T>
DEVICE void addScaled(Vector<T> y, i64 n, i64 sign, const T *alpha, Vector<const T> x, const T *beta, Vector<const T> z) {
	T a = alpha ? *alpha : T{}, b = z ? *beta : T{};
	for (i64 i = first(); i < n; i += step()) {
		Element<T> sum(y, i);
		T v = x.at(i), w = element(z, i);
		sum.add(sign, alpha ? product(a, v) : v);
		if (z) sum.add(sign, product(b, w));
	}
}

// y += sign·α, for all elements.
template <class T> DEVICE void addConstant(T *y, i64 incy, i64 n, const T *alpha, i64 sign) {
	T v = *alpha;
	for (i64 i = first(); i < n; i += step()) addSigned(y[i * incy], sign, v);
}

// y_i = v, without gaps.
template <class T> DEVICE void fill(T *y, i64 n, u64 v) {
	for (i64 i = first(); i < n; i += step()) y[i] = (T)v;
}
KERNEL fill32(unsigned *y, i64 n, u64 v) { fill(y, n, v); }
KERNEL fill64(u64 *y, i64 n, u64 v) { fill(y, n, v); }

// part_b = Σ x_i·y_i over the elements of block b. A null y stands for ones.
template <class T> DEVICE void dotParts(Sum<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) {
	Sum<T> s = Sum<T>::zero();
	for (i64 i = first(); i < n; i += step()) {
		if (y) {
			s.addProduct(x[i * incx], y[i * incy]);
		} else {
			s.add(x[i * incx]);
		}
	}
	s = blockSum(s);
	if (threadX() == 0) part[blockX()] = s;
}

// out += sign·Σ part_b, in the order of the parts.
template <class T> DEVICE void dotEnd(T *out, const Sum<T> *part, i64 parts, i64 sign) {
	Sum<T> s = Sum<T>::zero();
	for (i64 b = threadX(); b < parts; b += threads()) s.add(part[b]);
	s = blockSum(s);
	if (threadX() == 0) addSigned(*out, sign, s.value());
}

// *least = the least of the parts.
KERNEL leastEnd(i64 *least, const Least *part, i64 parts) {
	Least found = reduceParts(part, parts);
	if (threadX() == 0) *least = found.v;
}

#define KERNELS(T, name) \
	KERNEL addScaled##name(T *y, i64 incy, i64 n, i64 sign, const T *alpha, const T *x, i64 incx, const T *beta, const T *z, i64 incz) { \
		addScaled<T>({y, incy}, n, sign, alpha, {x, incx}, beta, {z, incz}); \
	} \
	KERNEL addConstant##name(T *y, i64 incy, i64 n, const T *alpha, i64 sign) { addConstant(y, incy, n, alpha, sign); } \
	KERNEL dotParts##name(Sum<T> *part, const T *x, i64 incx, const T *y, i64 incy, i64 n) { dotParts(part, x, incx, y, incy, n); } \
	KERNEL dotEnd##name(T *out, const Sum<T> *part, i64 parts, i64 sign) { dotEnd(out, part, parts, sign); }
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
