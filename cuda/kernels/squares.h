// Sums of squares.
#pragma once
#include "reduce.h"

// A Squares<T> is a sum of squares from which √ can be taken.
template <class T> struct Squares;

// No square of a float leaves the range of double.
template <> struct Squares<float> {
	double v;
	DEVICE static Squares none() { return {0}; }
	DEVICE void add(float x) { v = fma(x, x, v); }
	DEVICE void add(Squares s) { v += s.v; }
	DEVICE Squares lower(int by) const { return {down(v, by)}; }
	DEVICE float sqrt() const { return (float)root(v); }
};

// The squares of large and of small numbers are summed apart, scaled by powers of two (Blue,
// A portable Fortran program to find the Euclidean norm of a vector, 1978). One pass over
// memory suffices, and no square overflows or underflows unless the norm does.
template <> struct Squares<double> {
	double big, middle, small;
	DEVICE static Squares none() { return {0, 0, 0}; }
	DEVICE void add(double x) {
		double m = magnitude(x);
		if (m > 0x1p486) {
			m *= 0x1p-538;
			big = fma(m, m, big);
		} else if (m < 0x1p-511) {
			m *= 0x1p537;
			small = fma(m, m, small);
		} else {
			middle = fma(m, m, middle); // NaN, too
		}
	}
	DEVICE void add(Squares s) { big += s.big, middle += s.middle, small += s.small; }
	DEVICE Squares lower(int by) const { return {down(big, by), down(middle, by), down(small, by)}; }
	DEVICE double sqrt() const {
		if (big > 0) return root(big + middle * 0x1p-538 * 0x1p-538) * 0x1p538;
		if (!(small > 0)) return root(middle);
		double s = root(small) * 0x1p-537, m = root(middle), top = m > s ? m : s, rest = m > s ? s : m;
		if (isNaN(m) || rest == 0) return m + s;
		rest /= top;
		return top * root(fma(rest, rest, 1));
	}
};

template <> struct Squares<Q43> {
	u128 v;
	DEVICE static Squares none() { return {0}; }
	DEVICE void add(Q43 x) { v += (u128)absolute(x.v) * absolute(x.v); }
	DEVICE void add(Squares s) { v += s.v; }
	DEVICE Squares lower(int by) const { return {down(v, by)}; }
	DEVICE Q43 sqrt() const {
		u64 hi = (u64)(v >> 64), lo = (u64)v, rest;
		if (hi >> 62) return least; // out of range
		u64 r = (u64)root((double)hi * 0x1p64 + (double)lo);
		if (hi) r += (i64)(divide(hi, lo, r, rest) - r) / 2; // a step of Newton's method
		return Q43{(i64)nearestRoot(v, r)};
	}
};
