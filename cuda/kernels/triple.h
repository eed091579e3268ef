// The operands of functions of two numbers.
#pragma once
#include "reduce.h"
#include "vector.h"

// A Triple has operands z, x and y, or derivatives by them.
template <class T> struct Triple {
	Vector<T> z, x, y;
	DEVICE bool inputs() const { return x || y; }
};


// Elements are those of a triple, of which x and y may be the same.
template <class T> struct Elements {
	Element<T> z, x, y;
	INLINE Elements(const Triple<T> &k, i64 i) : z(k.z, i), x(k.x, i), y(k.y, i) {}
	template <class W> INLINE void addX(W v) {
		x.add(1, v);
		if (x.of.data == y.of.data) y.v = x.v;
	}
	template <class W> INLINE void addY(W v) {
		y.add(1, v);
		if (x.of.data == y.of.data) x.v = y.v;
	}
};

// Operands are those of a pass: values, cotangents, tangents, and tangents of cotangents. Those that
// its kind does not have are absent.
template <class T> struct Operands {
	Triple<T> k, g, t, gt;
	template <PassKind kind> INLINE Operands of() const {
		return {k, kind & adjoint ? g : Triple<T>{}, kind & tangent ? t : Triple<T>{}, kind == all ? gt : Triple<T>{}};
	}
};

#define TRIPLE(T, a) T *a##Z, i64 a##IncZ, T *a##X, i64 a##IncX, T *a##Y, i64 a##IncY
#define OF(T, a) Triple<T>{{a##Z, a##IncZ}, {a##X, a##IncX}, {a##Y, a##IncY}}

// PASS is the entry of a function f(n, sign, operands). PASSES are those of all kinds. Q43 has one.
#define PASS(T, f, name, kind) \
	KERNEL name(const i64 *outside, i64 n, i64 sign, TRIPLE(T, k), TRIPLE(T, g), TRIPLE(T, t), TRIPLE(T, gt)) { \
		if (!stops(outside, n)) f(n, sign, Operands<T>{OF(T, k), OF(T, g), OF(T, t), OF(T, gt)}.template of<kind>()); \
	}
#define REAL_PASSES(T, f, name, type) \
	PASS(T, f, name##Forward##type, forward) PASS(T, f, name##Tangent##type, tangent) \
	PASS(T, f, name##Adjoint##type, adjoint) PASS(T, f, name##All##type, all)
#define PASSES(real, fixed, name) \
	REAL_PASSES(double, real, name, F64) REAL_PASSES(float, real, name, F32) PASS(Q43, fixed, name##AllQ43, all)
