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
// and rounded. F is defined at x for all y if it ignores y there.
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
		// With r² = x²+y², f_x = y/r², f_y = -x/r², f_xx = -f_yy = 2·f_x·f_y, f_xy = f_y² - f_x². A power
		// of two brings the larger of x and y near to 1.
		u64 e = bits(magnitude(x) > magnitude(y) ? x : y) >> 52 & 0x7ff;
		double scale = bits((e < 2046 ? 2046 - e : 1) << 52);
		x *= scale;
		y *= scale;
		double w = quickRatio(1, fma(x, x, y * y));
		fx = y * w * scale;
		fy = -(x * w * scale);
		xx = 2 * fx * fy;
		xy = (fy - fx) * (fy + fx);
	}
	INLINE Two<double> gradient(double v) const { return {fx * v, fy * v}; }
	INLINE Two<double> second(double dx, double dy, double v) const { return {(xx * dx + xy * dy) * v, (xy * dx - xx * dy) * v}; }
	DEVICE static bool ignores(double x) { return x != 0; }
	DEVICE static bool defined(double, double y, i64 order) { return order == 0 || y != 0; }
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
	DEVICE static bool ignores(Q43) { return false; }
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
		double down = of.to(y - 1);
		fx = y == 0 ? 0 : scaled(y, down);
		xx = y == 0 || y == 1 || order < 2 ? 0 : scaled(y * (y - 1), of.to(y - 2));
		fy = xy = yy = 0;
		if (x <= 0) return;
		double l = of.hi;
		fy = scaled(l, z);
		xy = scaled(y == 0 ? 1 : 1 + y * l, down);
		yy = scaled(l * l, z);
	}
	INLINE Two<double> gradient(double v) const { return {fx * v, fy * v}; }
	INLINE Two<double> second(double dx, double dy, double v) const { return {(xx * dx + xy * dy) * v, (xy * dx + yy * dy) * v}; }
	DEVICE static bool ignores(double x) { return !(x <= 0); }
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
	DEVICE static bool ignores(Q43) { return false; }
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
template <class T, class W> INLINE void addTo(Elements<T> &k, Two<W> v) {
	k.addX(v.x);
	k.addY(v.y);
}

template <class F, class T> INLINE void apply(i64 n, i64 sign, const Operands<T> &o) {
	bool tangents = o.t.z && o.t.inputs(), cotangents = o.g.z && o.g.inputs(), turns = o.gt.z && o.gt.inputs();
	bool second = o.g.z && o.gt.inputs() && o.t.inputs();
	int order = second ? 2 : tangents || cotangents || turns;
	for (i64 i = first(); i < n; i += step()) {
		Elements<T> value(o.k, i), cotangent(o.g, i), tangent(o.t, i), turn(o.gt, i);
		auto dx = wide(tangent.x.v), dy = wide(tangent.y.v), gz = wide(cotangent.z.v), dgz = wide(turn.z.v);
		F f;
		f.at(wide(value.x.v), wide(value.y.v), order);
		value.z.add(sign, f.z);
		if (tangents) tangent.z.add(sign, (T)f.gradient(dx).x + (T)f.gradient(dy).y);
		if (cotangents) addTo(cotangent, f.gradient(gz));
		if (turns) addTo(turn, f.gradient(dgz));
		if (second) addTo(turn, f.second(dx, dy, gz));
	}
}

// part_b = the first element in the share of block b where f does not have derivatives up to the
// order, or n.
template <class F, class T> INLINE void firstUndefined(Least *part, Vector<const T> x, Vector<const T> y, i64 n, i64 order) {
	Least found = {n};
	for (i64 i = first(); i < n; i += step()) {
		auto v = wide(x.at(i));
		if (!F::ignores(v) && !F::defined(v, wide(y.at(i)), order)) found.add({i});
	}
	found = blockReduce(found);
	if (threadX() == 0) part[blockX()] = found;
}

#define UNDEFINED(F, T, name) \
	KERNEL name(Least *part, const T *x, i64 incx, const T *y, i64 incy, i64 n, i64 order) { \
		firstUndefined<F, T>(part, {x, incx}, {y, incy}, n, order); \
	}
#define BINARY(F, name) \
	PASSES(apply<F##Real>, apply<F##Q43>, name) \
	UNDEFINED(F##Real, double, name##UndefinedF64) UNDEFINED(F##Real, float, name##UndefinedF32) UNDEFINED(F##Q43, Q43, name##UndefinedQ43)
BINARY(Atan2, atan2)
BINARY(Pow, pow)
