// Kernels z_i += f(x_i, y_i), with the derivatives, where indices of f are partial derivatives,
//
//	x̄ += f_x·z̄,  ȳ += f_y·z̄,  ż += f_x·ẋ + f_y·ẏ,
//	ġx += f_x·ġz + (f_xx·ẋ + f_xy·ẏ)·z̄,  ġy += f_y·ġz + (f_xy·ẋ + f_yy·ẏ)·z̄
//
// of each element. One launch makes a pass. It leaves out what is null.
#include "reduce.h"
#include "angle.h"
#include "power.h"
#include "triple.h"

// A function F has its value z, if order is 1 the products of its gradient with v, and if order is
// 2 those of its second derivatives in the direction (dx, dy) with v. Floats are computed in double
// and rounded.
template <class T> struct Two { T x, y; };

struct Atan2Real {
	double z, fx, fy, xx, xy;
	INLINE void at(double x, double y, int order) {
		z = angle(x, y);
		if (order == 0) return;
		if (!(magnitude(x) < infinity && magnitude(y) < infinity)) {
			fx = fy = xx = xy = 0 * z; // NaN beside NaN
			return;
		}
		double r = hypotenuse(x, y), a = x / r, b = y / r;
		fx = b / r;
		fy = -a / r;
		xx = -2 * a * b / r / r;
		xy = (a - b) * (a + b) / r / r;
	}
	INLINE Two<double> gradient(double v) const { return {fx * v, fy * v}; }
	INLINE Two<double> second(double dx, double dy, double v) const { return {(xx * dx + xy * dy) * v, (xy * dx - xx * dy) * v}; }
	DEVICE static bool defined(double x, double y, i64 order) { return order == 0 || x != 0 || y != 0; }
};

struct Atan2Q43 {
	Q43 z, x, y, r;
	INLINE void at(Q43 o, Q43 a, int order) {
		x = o, y = a;
		z = angle(x, y);
		if (order > 0) r = Q43{(i64)hypotenuse(x, y)};
	}
	// part returns v·a/r/r.
	INLINE Q43 part(Q43 v, Q43 a) const {
		u64 d = (u64)r.v, rest;
		u128 n = (u128)absolute(v.v) * absolute(a.v);
		u64 q = divide((u64)(n >> 64), (u64)n, d, rest);
		if (rest > d - rest) q++;
		return quotient(Q43{(i64)((v.v < 0) != (a.v < 0) ? -q : q)}, r);
	}
	INLINE Two<Q43> gradient(Q43 v) const { return {part(v, y), -part(v, x)}; }
	INLINE Two<Q43> second(Q43 dx, Q43 dy, Q43 v) const {
		Q43 a = quotient(x, r), b = quotient(y, r), ab = product(a, b);
		Q43 xx = -(ab + ab), xy = product(a, a) - product(b, b);
		dx = quotient(dx, r);
		dy = quotient(dy, r);
		return {quotient(product(product(xx, dx) + product(xy, dy), v), r), quotient(product(product(xy, dx) - product(xx, dy), v), r)};
	}
	DEVICE static bool defined(Q43 x, Q43 y, i64 order) {
		return order == 0 || ((x.v || y.v) && hypotenuse(x, y) <= (u64)largest.v);
	}
};

struct PowReal {
	double z, fx, fy, xx, xy, yy;
	INLINE void at(double x, double y, int order) {
		Powers of;
		of.at(x);
		z = of.to(y);
		if (order == 0) return;
		fx = y == 0 ? 0 : of.times(y, y - 1);
		xx = y == 0 || y == 1 || order < 2 ? 0 : of.times(y * (y - 1), y - 2);
		fy = xy = yy = 0;
		if (x <= 0) return;
		double l = x != x ? x : of.hi;
		fy = of.times(l, y);
		xy = of.times(y == 0 ? 1 : 1 + y * l, y - 1);
		yy = of.times(l * l, y);
	}
	INLINE Two<double> gradient(double v) const { return {fx * v, fy * v}; }
	INLINE Two<double> second(double dx, double dy, double v) const { return {(xx * dx + xy * dy) * v, (xy * dx + yy * dy) * v}; }
	// At x = 0 the powers are finite, and the factors of the derivatives that need them are not
	// zero. Infinities are even integers.
	DEVICE static bool defined(double x, double y, i64 order) {
		if (x < 0) return magnitude(y) >= 0x1p52 || isNaN(y) || y == (double)(i64)y;
		return !(x == 0) || !(y < 0 || (order > 0 && y > 0 && y < 1) || (order > 1 && y > 1 && y < 2));
	}
};

CONSTANT Q43 one = {(i64)1 << 43};

// less returns y - k, or the least number.
DEVICE Q43 less(Q43 y, i64 k) { return y.v < least.v + k * one.v ? least : Q43{y.v - k * one.v}; }

struct PowQ43 {
	Q43 z, fx, fy, xx, xy, yy;
	INLINE void at(Q43 x, Q43 y, int order) {
		FixedPowers of;
		of.at(x);
		bool ok = true; // which defined has found
		z = of.to(y, ok);
		if (order == 0) return;
		fx = fy = xx = xy = yy = Q43{0};
		Q43 down = y.v ? of.to(less(y, 1), ok) : one, l = {};
		fx = product(down, y);
		if (order > 1 && y.v && y.v != one.v) xx = product(of.to(less(y, 2), ok), product(y, y - one));
		if (x.v <= 0) return;
		l = logOf(x);
		fy = product(z, l);
		if (order > 1) {
			if (!y.v) down = of.to(-one, ok);
			xy = product(down, one + product(y, l));
			yy = product(fy, l);
		}
	}
	INLINE Two<Q43> gradient(Q43 v) const { return {product(fx, v), product(fy, v)}; }
	INLINE Two<Q43> second(Q43 dx, Q43 dy, Q43 v) const {
		Q43 both = product(xy, v);
		return {product(product(xx, dx), v) + product(both, dy), product(both, dx) + product(product(yy, v), dy)};
	}
	DEVICE static bool defined(Q43 x, Q43 y, i64 order) {
		i64 v = y.v;
		if (x.v == 0 && (v < 0 || (order > 0 && v > 0 && v < one.v) || (order > 1 && v > one.v && v < 2 * one.v))) return false;
		FixedPowers of;
		of.at(x);
		bool ok = true;
		for (i64 k = 0; k <= order; k++) {
			if (x.v == 0 && v < k * one.v) break; // the factor is zero
			of.to(less(y, k), ok);
		}
		return ok;
	}
};

// addTo adds a pair of T, of which floats are rounded.
template <class T, class W> INLINE void addTo(const Triple<T> &k, i64 i, Two<W> v) {
	add(k.x, i, 1, (T)v.x);
	add(k.y, i, 1, (T)v.y);
}

template <class F, class T> INLINE void apply(i64 n, i64 sign, const Triple<T> &k, const Triple<T> &g, const Triple<T> &t, const Triple<T> &gt) {
	bool tangent = t.z && t.inputs(), cotangent = g.z && g.inputs(), turn = gt.z && gt.inputs(), second = g.z && gt.inputs() && t.inputs();
	int order = second ? 2 : tangent || cotangent || turn;
	for (i64 i = first(); i < n; i += step()) {
		F f;
		f.at(wide(k.x.at(i)), wide(k.y.at(i)), order);
		add(k.z, i, sign, (T)f.z);
		auto dx = wide(element(t.x, i)), dy = wide(element(t.y, i)), gz = wide(element(g.z, i));
		if (tangent) add(t.z, i, sign, (T)f.gradient(dx).x + (T)f.gradient(dy).y);
		if (cotangent) addTo(g, i, f.gradient(gz));
		if (turn) addTo(gt, i, f.gradient(wide(gt.z.at(i))));
		if (second) addTo(gt, i, f.second(dx, dy, gz));
	}
}

// bad_b = the first element in the share of block b where f does not have derivatives up to the
// order, or n.
template <class F, class T> INLINE void firstUndefined(i64 *bad, Vector<const T> x, Vector<const T> y, i64 n, i64 order) {
	i64 found = n;
	for (i64 i = first(); i < n && found == n; i += step()) {
		if (!F::defined(wide(x.at(i)), wide(y.at(i)), order)) found = i;
	}
	storeLeast(bad, found);
}

#define BINARY(F, T, function, name) \
	KERNEL function##name(i64 n, i64 sign, OPERANDS(T, k), OPERANDS(T, g), OPERANDS(T, t), OPERANDS(T, gt)) { \
		apply<F>(n, sign, OF(T, k), OF(T, g), OF(T, t), OF(T, gt)); \
	} \
	KERNEL function##Undefined##name(i64 *bad, const T *x, i64 incx, const T *y, i64 incy, i64 n, i64 order) { \
		firstUndefined<F, T>(bad, {x, incx}, {y, incy}, n, order); \
	}
#define BINARIES(F, function) BINARY(F##Real, double, function, F64) BINARY(F##Real, float, function, F32) BINARY(F##Q43, Q43, function, Q43)
BINARIES(Atan2, atan2)
BINARIES(Pow, pow)
