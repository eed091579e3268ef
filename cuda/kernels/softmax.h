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
