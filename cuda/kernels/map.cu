// Kernels y_i += f(x_i), with the derivatives
//
//	x̄ += f′(x)·ȳ,  ẏ += f′(x)·ẋ,  ġx += f′(x)·ġy + f″(x)·ẋ·ȳ
//
// of each element. One launch makes a pass. It leaves out what is null.
#include "reduce.h"
#include "trig.h"
#include "vector.h"

// A function F takes x by at and then has its value. After derive it has its slope times v, and
// its curvature times v and w.

// An Exact is a function of Q43 that needs no derive.
struct Exact {
	Q43 x;
	DEVICE void at(Q43 v) { x = v; }
	DEVICE void derive() {}
};

// A Float<F> is a function of Q43 that is computed in double and rounded.
template <class F> struct Float {
	F f;
	DEVICE void at(Q43 x) { f.at((double)x.v * 0x1p-43); }
	DEVICE void derive() { f.derive(); }
	DEVICE Q43 value() { return fixed(f.y); }
	DEVICE Q43 slope(Q43 v) { return product(fixed(f.d), v); }
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(product(fixed(f.curvature()), v), w); }
};

// A Rest<F> is the same for functions with f(x) = max(x, 0) + f(-|x|). It rounds f(-|x|), as f(x)
// has more digits than a double.
template <class F> struct Rest {
	F f;
	Q43 above; // max(x, 0)
	DEVICE void at(Q43 x) {
		above = x.v > 0 ? x : Q43{0};
		f.at((double)(x.v > 0 ? -x.v : x.v) * 0x1p-43);
	}
	DEVICE void derive() { f.derive(); }
	DEVICE Q43 value() { return above + fixed(f.y); }
	DEVICE Q43 slope(Q43 v) {
		Q43 d = fixed(f.d), one = {(i64)1 << 43};
		return product(above.v > 0 ? one - d : d, v);
	}
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(product(fixed(f.curvature()), v), w); }
};

// A Real<F> has the value y of F and its slope d in double.
template <class F> struct Real {
	F f;
	DEVICE void at(double x) { f.at(x); }
	DEVICE void derive() { f.derive(); }
	DEVICE double value() { return f.y; }
	DEVICE double slope(double v) { return f.d * v; }
	DEVICE double curve(double v, double w) { return f.curvature() * v * w; }
};

struct ExpReal {
	double y, d;
	DEVICE void at(double x) { y = exp(x); }
	DEVICE void derive() { d = y; }
	DEVICE double curvature() { return y; }
};
struct ExpQ43 : Exact {
	DEVICE Q43 value() { return expSat(x); }
	DEVICE Q43 slope(Q43 v) { return product(expSat(x), v); }
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(product(expSat(x), v), w); }
};

struct LogReal {
	double x, y, d;
	DEVICE void at(double v) { x = v, y = log(v); }
	DEVICE void derive() { d = 1 / x; }
	DEVICE double curvature() { return -1 / x / x; }
};
struct LogQ43 : Exact {
	DEVICE Q43 value() { return logOf(x); }
	DEVICE Q43 slope(Q43 v) { return quotient(v, x); }
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(-quotient(v, x), quotient(w, x)); }
};

struct SqrtReal {
	double x, y, d;
	DEVICE void at(double v) { x = v, y = root(v); }
	DEVICE void derive() { d = 0.5 / y; }
	DEVICE double curvature() { return -0.25 / y / x; }
};
struct SqrtQ43 : Exact {
	DEVICE Q43 value() { return root(x); }
	DEVICE Q43 slope(Q43 v) {
		Q43 y = root(x);
		return quotient(v, y + y);
	}
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(-slope(v), quotient(w, x + x)); }
};

struct SinReal {
	double y, d;
	DEVICE void at(double x) { sincos(x, y, d); }
	DEVICE void derive() {}
	DEVICE double curvature() { return -y; }
};
struct SinQ43 {
	Q43 y, d;
	DEVICE void at(Q43 x) { sincos(x, y, d); }
	DEVICE void derive() {}
	DEVICE Q43 value() { return y; }
	DEVICE Q43 slope(Q43 v) { return product(d, v); }
	DEVICE Q43 curve(Q43 v, Q43 w) { return product(product(-y, v), w); }
};

struct CosReal {
	double y, d;
	DEVICE void at(double x) {
		sincos(x, d, y);
		d = -d;
	}
	DEVICE void derive() {}
	DEVICE double curvature() { return -y; }
};
struct CosQ43 : SinQ43 {
	DEVICE void at(Q43 x) {
		sincos(x, d, y);
		d = -d;
	}
};

// The slope of |x| at a zero or NaN is x itself.
struct AbsReal {
	double x, y, d;
	DEVICE void at(double v) { x = v, y = magnitude(x); }
	DEVICE void derive() { d = x > 0 ? 1 : x < 0 ? -1 : x; }
	DEVICE double curvature() { return 0; }
};
struct AbsQ43 : Exact {
	DEVICE Q43 value() { return slope(x); }
	DEVICE Q43 slope(Q43 v) { return x.v > 0 ? v : x.v < 0 ? -v : Q43{0}; }
	DEVICE Q43 curve(Q43, Q43) { return Q43{0}; }
};

// With e = exp(-|x|), σ(-|x|) = e/(1 + e) and σ(|x|) = 1/(1 + e), and nothing overflows.
struct Sigmoid {
	double p, q, y, d;
	DEVICE void at(double x) {
		double e = exp(-magnitude(x));
		q = quickRatio(1, 1 + e), p = e * q;
		y = bits(x) >> 63 ? p : q;
	}
	DEVICE void derive() { d = p * q; }
	DEVICE double curvature() { return d * (1 - 2 * y); }
};

// bounded returns x between -bound and bound, or NaN.
DEVICE double bounded(double x, double bound) { return x > bound ? bound : x < -bound ? -bound : x; }

// log(1 + exp(x)) = max(x, 0) + log(1 + e), with the logarithm of log: of 1 + f for f = e, or of
// (1 + e)/2 and 2 if e is large.
struct Softplus {
	double x, e, y, d, dd;
	DEVICE void at(double v) {
		constexpr double sqrt2Less1 = 0x1.a827999fcef32p-2;
		x = v, e = exp(-magnitude(x));
		bool large = e > sqrt2Less1;
		double f = large ? e * 0.5 - 0.5 : e, k = large ? ln2Hi : 0, kLo = large ? ln2Lo : 0;
		double s = quickRatio(f, f + 2), z = s * s, h = f * 0.5 * f;
		double g = fma(logPolynomial(z), z, h);
		y = ((k + f) + (fma(g, s, kLo) - h)) + (x < 0 ? 0 : x);
	}
	DEVICE void derive() {
		double q = quickRatio(1, 1 + e), p = e * q;
		d = bits(x) >> 63 ? p : q;
		dd = p * q;
	}
	DEVICE double curvature() { return dd; }
};

// x·σ(x). Beyond ±800 a factor is 0, and its product with an infinite x would be NaN.
struct SiLU {
	Sigmoid f;
	double x, y, d;
	DEVICE void at(double v) {
		f.at(v);
		x = bounded(v, 800);
		y = (v < -800 ? -800 : v) * f.y;
	}
	DEVICE void derive() {
		f.derive();
		d = fma(f.d, x, f.y);
	}
	DEVICE double curvature() { return f.d * (2 + x * (1 - 2 * f.y)); }
};

// x·Φ(x). With u = |x| and Mills' ratio M, φ(u) = exp(-u²/2)/√2π and Φ(-u) = φ(u)·M(u), where
// (u + 3.5)·M(u) is a polynomial in (u - 3.5)/(u + 3.5). The exponential would magnify the
// rounding of u², which is corrected. Beyond ±40 a factor is 0.
COEFFICIENTS mills[24] = {
	0x1.ddb07f4534143p+0, -0x1.6aeb529b4ffd7p+0, 0x1.94d07d4aac0d4p-1, -0x1.29e0c849bd165p-2,
	0x1.657527ab6b2b5p-5, 0x1.09f81f665350cp-6, -0x1.05f19de7abee3p-7, -0x1.246abb8c0804cp-10,
	0x1.3935d12725bb6p-10, 0x1.60610327a4300p-13, -0x1.8d5502b9d2febp-13, -0x1.8b136ab241b63p-15,
	0x1.e3e7ac781f32cp-16, 0x1.db5dfc5d6cd54p-17, -0x1.87fbebe8804f9p-19, -0x1.f1983795b527fp-19,
	-0x1.8135f579c300dp-22, 0x1.8bfe1e1bbf36cp-21, 0x1.4d6546850307cp-22, -0x1.433d24be4e984p-24,
	-0x1.8728bb1e4c0a7p-24, -0x1.4f36799422a9ap-27, 0x1.a7128f0972bf6p-27, 0x1.0184a20ad592dp-28,
};
struct GELU {
	double x, s, phi, y, d;
	DEVICE void at(double v) {
		x = bounded(v, 40);
		double u = magnitude(x), h = u * u, low = fma(u, u, -h) * 0.5;
		double e = exp(-0.5 * h);
		phi = fma(-low, e, e) * 0x1.9884533d43651p-2;
		double r = quickRatio(1, u + 3.5), t = (u - 3.5) * r, t2 = t * t;
		double even = mills[22], odd = mills[23];
#pragma unroll
		for (int i = 20; i >= 0; i -= 2) {
			even = fma(even, t2, mills[i]);
			odd = fma(odd, t2, mills[i + 1]);
		}
		double p = fma(odd, t, even) * r * phi;
		s = bits(v) >> 63 ? p : 1 - p;
		y = (v < -40 ? -40 : v) * s;
	}
	DEVICE void derive() { d = fma(phi, x, s); }
	DEVICE double curvature() { return (2 - x * x) / 0x1.40d931ff62705p+1 * exp(-0.5 * x * x); }
};

// tanh m = m + m·F for small m, with F from Lambert's continued fraction, and 1 + F else.
struct Tanh {
	bool small;
	double f, y, d;
	DEVICE void at(double x) {
		double m = magnitude(x), e = exp(-(m + m)), z = m * m;
		double n = fma(fma(z + 594, z, 45045), z, 675675);
		double den = fma(fma(fma(z + 630, z, 51975), z, 945945), z, 2027025);
		small = m < 0.625;
		f = quickRatio(small ? -(n * z) : -2 * e, small ? den : e + 1);
		y = small ? fma(f, m, m) : f + 1;
		y = bits((bits(y) & ~((u64)1 << 63)) | (bits(x) & (u64)1 << 63));
	}
	DEVICE void derive() { d = small ? fma(-y, y, 1) : -((f + 2) * f); }
	DEVICE double curvature() { return -2 * y * d; }
};

template <PassKind kind, class F, class T>
DEVICE void apply(Vector<const T> x, i64 n, i64 sign, Vector<T> y, Vector<const T> tx, Vector<T> ty, Vector<T> gx, Vector<const T> gy, Vector<T> gtx, Vector<const T> gty) {
	for (i64 i = first(); i < n; i += step()) {
		Element<T> value(y, i);
		F f;
		f.at(wide(x.at(i)));
		if (kind == forward) {
			value.add(sign, f.value());
			continue;
		}
		Element<T> tangent(ty, i), cotangent(gx, i), turn(gtx, i);
		auto dx = wide(element(tx, i)), dy = wide(element(gy, i)), ddy = wide(element(gty, i));
		value.add(sign, f.value());
		f.derive();
		if (tx) tangent.add(sign, f.slope(dx));
		if (gy) cotangent.add(1, f.slope(dy));
		if (gty) turn.add(1, f.slope(ddy));
		if (tx && gy) turn.add(1, f.curve(dx, dy));
	}
}

// y += sign·s(x)·v, where s is 1 if x is positive or NaN, and the slope elsewhere. A slope of 0
// adds nothing, whatever v is.
DEVICE void slopeOf(double &x, i64 raw) { x = bits((u64)raw); }
DEVICE void slopeOf(float &x, i64 raw) { x = __builtin_bit_cast(float, (int)raw); }
DEVICE void slopeOf(Q43 &x, i64 raw) { x = Q43{raw}; }
template <class T>
DEVICE void rectify(i64 raw, Vector<const T> x, i64 n, i64 sign, Vector<T> y, Vector<const T> tx, Vector<T> ty, Vector<T> gx, Vector<const T> gy, Vector<T> gtx, Vector<const T> gty) {
	T slope, zero = {};
	slopeOf(slope, raw);
	for (i64 i = first(); i < n; i += step()) {
		Element<T> value(y, i), tangent(ty, i), cotangent(gx, i), turn(gtx, i);
		T v = x.at(i), dx = element(tx, i), dy = element(gy, i), ddy = element(gty, i);
		bool below = lessThan(v, zero) || isZero(v);
		if (below && isZero(slope)) continue;
		value.add(sign, below ? product(slope, v) : v);
		if (tx) tangent.add(sign, below ? product(slope, dx) : dx);
		if (gy) cotangent.add(1, below ? product(slope, dy) : dy);
		if (gty) turn.add(1, below ? product(slope, ddy) : ddy);
	}
}

// part_b = the first element in the share of block b that is outside of a domain, or n. NaN is in
// all domains.
enum Domain { notNegative, positive, notZero };
template <class T> DEVICE void firstBad(Least *part, const T *x, i64 incx, i64 n, i64 domain) {
	Least found = {n};
	for (i64 i = first(); i < n; i += step()) {
		T v = x[i * incx], zero = {};
		bool bad = isZero(v) ? domain != notNegative : domain != notZero && lessThan(v, zero);
		found.add({bad ? i : n});
	}
	found = blockReduce(found);
	if (threadX() == 0) part[blockX()] = found;
}

// Q43 has one entry for all kinds of passes, and floats one for values and one for the others.
#define MAP(F, T, name, kind) \
	KERNEL name(const i64 *outside, const T *x, i64 incx, i64 n, i64 sign, T *y, i64 incy, const T *tx, i64 inctx, T *ty, i64 incty, T *gx, i64 incgx, const T *gy, i64 incgy, T *gtx, i64 incgtx, const T *gty, i64 incgty) { \
		if (!stops(outside, n)) apply<kind, F, T>({x, incx}, n, sign, {y, incy}, {tx, inctx}, {ty, incty}, {gx, incgx}, {gy, incgy}, {gtx, incgtx}, {gty, incgty}); \
	}
#define MAPS(F, Q, name) \
	MAP(Real<F>, double, name##ForwardF64, forward) MAP(Real<F>, double, name##AllF64, all) \
	MAP(Real<F>, float, name##ForwardF32, forward) MAP(Real<F>, float, name##AllF32, all) \
	MAP(Q, Q43, name##AllQ43, all)
MAPS(ExpReal, ExpQ43, exp)
MAPS(LogReal, LogQ43, log)
MAPS(SqrtReal, SqrtQ43, sqrt)
MAPS(SinReal, SinQ43, sin)
MAPS(CosReal, CosQ43, cos)
MAPS(AbsReal, AbsQ43, abs)
MAPS(Sigmoid, Float<Sigmoid>, sigmoid)
MAPS(Tanh, Float<Tanh>, tanh)
MAPS(Softplus, Rest<Softplus>, softplus)
MAPS(SiLU, Rest<SiLU>, silu)
MAPS(GELU, Rest<GELU>, gelu)
#define KERNELS(T, name) \
	KERNEL rectify##name(i64 slope, const T *x, i64 incx, i64 n, i64 sign, T *y, i64 incy, const T *tx, i64 inctx, T *ty, i64 incty, T *gx, i64 incgx, const T *gy, i64 incgy, T *gtx, i64 incgtx, const T *gty, i64 incgty) { \
		rectify<T>(slope, {x, incx}, n, sign, {y, incy}, {tx, inctx}, {ty, incty}, {gx, incgx}, {gy, incgy}, {gtx, incgtx}, {gty, incgty}); \
	} \
	KERNEL firstBad##name(Least *part, const T *x, i64 incx, i64 n, i64 domain) { firstBad(part, x, incx, n, domain); }
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
