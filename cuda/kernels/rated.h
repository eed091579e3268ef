// Numbers with a tangent, for kernels that are written for numbers.
#pragma once
#include "reduce.h"

DEVICE float fma(float x, float y, float z) { return __builtin_elementwise_fma(x, y, z); }

// A Rated is a number v with its tangent d. Comparisons are those of v.
template <class T> struct Rated {
	T v, d;
	Rated() = default;
	DEVICE Rated(double v) : v((T)v), d(0) {}
	DEVICE Rated(T v, T d) : v(v), d(d) {}
	template <class U> DEVICE explicit Rated(Rated<U> x) : v((T)x.v), d((T)x.d) {}

	friend DEVICE Rated operator+(Rated x, Rated y) { return Rated(x.v + y.v, x.d + y.d); }
	friend DEVICE Rated operator-(Rated x, Rated y) { return Rated(x.v - y.v, x.d - y.d); }
	friend DEVICE Rated operator*(Rated x, Rated y) { return Rated(x.v * y.v, x.d * y.v + x.v * y.d); }
	friend DEVICE Rated operator/(Rated x, Rated y) {
		T q = x.v / y.v;
		return Rated(q, (x.d - q * y.d) / y.v);
	}
	DEVICE void operator+=(Rated y) { *this = *this + y; }
	DEVICE void operator-=(Rated y) { *this = *this - y; }
	DEVICE void operator/=(Rated y) { *this = *this / y; }
	friend DEVICE bool operator<(Rated x, Rated y) { return x.v < y.v; }
	friend DEVICE bool operator>(Rated x, Rated y) { return x.v > y.v; }
	friend DEVICE bool operator!=(Rated x, Rated y) { return x.v != y.v; }
};
template <class T> struct WideOf<Rated<T>> { typedef Rated<double> type; };

template <class T> DEVICE Rated<double> wide(Rated<T> x) { return Rated<double>(x); }
template <class T> DEVICE Rated<T> down(Rated<T> x, int by) { return Rated<T>(down(x.v, by), down(x.d, by)); }
template <class T> DEVICE Rated<T> fma(Rated<T> x, Rated<T> y, Rated<T> z) {
	return Rated<T>(fma(x.v, y.v, z.v), fma(x.d, y.v, fma(x.v, y.d, z.d)));
}
DEVICE Rated<double> exp(Rated<double> x) {
	double e = exp(x.v);
	return Rated<double>(e, e * x.d);
}
DEVICE Rated<double> log(Rated<double> x) { return Rated<double>(log(x.v), x.d / x.v); }

// valueOf returns a number without its tangent.
DEVICE double valueOf(double x) { return x; }
DEVICE double valueOf(Rated<double> x) { return x.v; }
