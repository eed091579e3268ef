// What LogSumExp and Softmax, of vectors and of rows, have in common.
#pragma once
#include "reduce.h"

DEVICE double lowest(double) { return -infinity; }
DEVICE float lowest(float) { return (float)-infinity; }
DEVICE Q43 lowest(Q43) { return least; }

template <class T> struct Largest {
	T v;
	DEVICE static Largest none() { return {lowest(T{})}; }
	DEVICE void add(Largest o) {
		if (isNaN(o.v) || lessThan(v, o.v)) v = o.v;
	}
	DEVICE Largest lower(int by) const { return {down(v, by)}; }
};

// expOf returns exp(x - m) for x <= m.
DEVICE double expOf(double x, double m) { return exp(x - m); }
DEVICE Q43 expOf(Q43 x, Q43 m) { return m.v >= 0 && x.v < least.v + m.v ? Q43{0} : expSat(x - m); }

// total returns the sum of positive numbers, saturated in fixed point.
DEVICE double total(Sum<double> s) { return s.v; }
DEVICE Q43 total(Sum<Q43> s) { return s.v >> 43 > largest.v ? largest : Q43{(i64)(s.v >> 43)}; }

// logSum returns m + log s, and divisor what to divide by. For infinite m the softmax is NaN,
// but the gradient of LogSumExp is zero where x is finite.
DEVICE double logSum(double m, double s, i64) { return m == infinity || m == -infinity ? m : m + log(s); }
DEVICE Q43 logSum(Q43 m, Q43 s, i64 n) { return n == 0 ? m : m + logOf(s); }
DEVICE double divisor(double m, double s, bool softmax) { return m == infinity ? (softmax ? infinity - infinity : 1) : s; }
DEVICE Q43 divisor(Q43, Q43 s, bool) { return s; }

// Exponentials are those of some elements: the largest x, and over it s = Σ exp(x_i - m) and
// v = Σ exp(x_i - m)·y_i, for each of some vectors y. They are computed in one pass over memory: if an element is
// larger than m, the sums are scaled to it. A NaN makes s NaN, and m is the largest other element. The sums v are those
// times unit, so that none of fewer than 2⁴⁰ numbers overflows, also before m is the largest.
template <int means> struct Exponentials {
	static constexpr double unit = 0x1p-40;
	double m, s, v[means];
	DEVICE static Exponentials none() { return {-infinity, 0, {}}; }
	DEVICE static double ratio(double x, double m) { return x == m ? 1 : exp(-magnitude(x - m)); }
	// add takes in an x with its y, or, if the sums v are not used, alone.
	INLINE void add(double x, const double (&y)[means]) {
		double e = add(x);
		for (int i = 0; i < means; i++) v[i] = fma(e * unit, y[i], v[i]);
	}
	INLINE double add(double x) {
		double e = ratio(x, m);
		if (x > m) {
			s *= e;
			for (int i = 0; i < means; i++) v[i] *= e;
			m = x;
			e = 1;
		}
		s += e;
		return e;
	}
	DEVICE void add(Exponentials o) {
		double e = ratio(o.m, m), keep = o.m > m ? e : 1, take = o.m > m ? 1 : e;
		m = o.m > m ? o.m : m;
		s = s * keep + o.s * take; // which is the same of o and this
		for (int i = 0; i < means; i++) v[i] = v[i] * keep + o.v[i] * take;
	}
	template <class F> DEVICE Exponentials each(F f) const {
		Exponentials o = {f(m), f(s), {}};
		for (int i = 0; i < means; i++) o.v[i] = f(v[i]);
		return o;
	}
	DEVICE Exponentials lower(int by) const {
		return each([by](double x) __attribute__((always_inline)) { return down(x, by); });
	}
	DEVICE Exponentials crossed(int mask) const {
		return each([mask](double x) __attribute__((always_inline)) { return across(x, mask); });
	}

	DEVICE double logSum() const { return isNaN(s) ? s : ::logSum(m, s, 0); }
	DEVICE double divisor(bool softmax) const { return isNaN(s) ? s : ::divisor(m, s, softmax); }
	// The mean of a y is NaN for infinite m.
	DEVICE double mean(int i) const { return v[i] / (s * unit) + (m - m); }
};
