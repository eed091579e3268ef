// Vectors with a distance between elements.
#pragma once
#include "number.h"

// A Vector may be absent.
template <class T> struct Vector {
	T *data;
	i64 inc;
	DEVICE T &at(i64 i) const { return data[i * inc]; }
	DEVICE operator bool() const { return data; }
};
