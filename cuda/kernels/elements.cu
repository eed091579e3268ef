// Products and quotients of the elements of two vectors.
#include "triple.h"

// z += sign·x·y with the derivatives
//
//	x̄ += y·z̄,  ȳ += x·z̄,  ż += sign·(ẋ·y + x·ẏ),  ġx += y·ġz + ẏ·z̄,  ġy += x·ġz + ẋ·z̄.
template <class T> INLINE void multiply(i64 n, i64 sign, Operands<T> o) {
	for (i64 i = first(); i < n; i += step()) {
		Elements<T> value(o.k, i), cotangent(o.g, i), tangent(o.t, i), turn(o.gt, i);
		T x = value.x.v, y = value.y.v, gz = cotangent.z.v, dx = tangent.x.v, dy = tangent.y.v, dgz = turn.z.v;
		if (o.k.x && o.k.y) value.z.add(sign, product(x, y));
		if (o.t.x) tangent.z.add(sign, product(dx, y));
		if (o.t.y) tangent.z.add(sign, product(x, dy));
		if (o.g.z) {
			cotangent.addX(product(y, gz));
			cotangent.addY(product(x, gz));
		}
		if (o.gt.z) {
			turn.addX(product(y, dgz));
			turn.addY(product(x, dgz));
		}
		if (o.g.z && o.t.y) turn.addX(product(dy, gz));
		if (o.g.z && o.t.x) turn.addY(product(dx, gz));
	}
}

// z += sign·q, q = x/y, with the derivatives, for ω = z̄/y,
//
//	x̄ += ω,  ȳ -= ω·q,  ż += sign·q̇,  q̇ = (ẋ - q·ẏ)/y,
//	ġx += ω̇ = (ġz - ω·ẏ)/y,  ġy -= ω̇·q + ω·q̇.
template <class T> INLINE void divide(i64 n, i64 sign, Operands<T> o) {
	bool moves = o.t.inputs(), back = o.g.z, turns = o.gt.z || (moves && back);
	for (i64 i = first(); i < n; i += step()) {
		Elements<T> value(o.k, i), cotangent(o.g, i), tangent(o.t, i), turn(o.gt, i);
		T y = value.y.v, q = quotient(value.x.v, y), dy = tangent.y.v, dq = {}, w = {};
		value.z.add(sign, q);
		if (moves) {
			dq = quotient(tangent.x.v - product(q, dy), y);
			tangent.z.add(sign, dq);
		}
		if (back) {
			w = quotient(cotangent.z.v, y);
			cotangent.addX(w);
			cotangent.addY(-product(w, q));
		}
		if (turns) {
			T dw = quotient(turn.z.v - product(w, dy), y);
			turn.addX(dw);
			turn.addY(-product(dw, q) - product(w, dq));
		}
	}
}

PASSES(multiply, multiply, multiply)
PASSES(divide, divide, divide)
