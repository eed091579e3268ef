// Vectors with a distance between elements.
#pragma once
#include "number.h"

// signedBy returns v, or -v if sign is negative.
DEVICE double signedBy(i64 sign, double v) { return __builtin_bit_cast(double, __builtin_bit_cast(u64, v) ^ ((u64)sign & (u64)1 << 63)); }
DEVICE float signedBy(i64 sign, float v) { return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, v) ^ ((unsigned)(sign >> 32) & 1u << 31)); }
DEVICE Q43 signedBy(i64 sign, Q43 v) { return Q43{(i64)(((u64)v.v ^ (u64)(sign >> 63)) - (u64)(sign >> 63))}; }

// Kernels over elements have an entry for each kind of pass. It leaves out the operands of the other
// kinds, so that it needs fewer registers. The last has all, whatever is absent.
enum PassKind { forward = 0, tangent = 1, adjoint = 2, all = 3 };

// A Vector may be absent.
template <class T> struct Vector {
	T *data;
	i64 inc;
	DEVICE T &at(i64 i) const { return data[i * inc]; }
	DEVICE operator bool() const { return data; }
};

template <class T> DEVICE T element(Vector<T> x, i64 i) { return x ? x.at(i) : T{}; }

// An Element is an element to which numbers are added. It is loaded when it is made: make all that
// an iteration needs before the first add, so that the loads are under way together.
template <class T> struct Element {
	Vector<T> of;
	i64 i;
	T v;
	INLINE Element(Vector<T> x, i64 i) : of(x), i(i), v(element(x, i)) {}
	template <class W> INLINE void add(i64 sign, W w) {
		if (of) of.at(i) = v = v + signedBy(sign, (T)w);
	}
};
