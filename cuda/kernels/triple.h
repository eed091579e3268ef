// The operands of functions of two numbers.
#pragma once
#include "vector.h"

// A Triple has operands z, x and y, or derivatives by them.
template <class T> struct Triple {
	Vector<T> z, x, y;
	DEVICE bool inputs() const { return x || y; }
};

template <class T> DEVICE T element(Vector<T> x, i64 i) { return x ? x.at(i) : T{}; }
template <class T> DEVICE void add(Vector<T> x, i64 i, i64 sign, T v) {
	if (x) addSigned(x.at(i), sign, v);
}

#define OPERANDS(T, a) T *a##Z, i64 a##IncZ, T *a##X, i64 a##IncX, T *a##Y, i64 a##IncY
#define OF(T, a) Triple<T>{{a##Z, a##IncZ}, {a##X, a##IncX}, {a##Y, a##IncY}}
