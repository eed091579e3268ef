// Products and quotients of the elements of two vectors.
#include "function.h"
#include "triple.h"

template <class T> DEVICE void addProduct(Vector<T> z, i64 i, i64 sign, Vector<T> x, Vector<T> y) {
	if (z && x && y) addSigned(z.at(i), sign, product(x.at(i), y.at(i)));
}

// z += sign·x·y with the derivatives
//
//	x̄ += y·z̄,  ȳ += x·z̄,  ż += sign·(ẋ·y + x·ẏ),  ġx += y·ġz + ẏ·z̄,  ġy += x·ġz + ẋ·z̄.
template <class T> DEVICE void multiply(i64 n, i64 sign, Triple<T> k, Triple<T> g, Triple<T> t, Triple<T> gt) {
	for (i64 i = first(); i < n; i += step()) {
		addProduct(k.z, i, sign, k.x, k.y);
		addProduct(t.z, i, sign, t.x, k.y);
		addProduct(t.z, i, sign, k.x, t.y);
		addProduct(g.x, i, 1, k.y, g.z);
		addProduct(g.y, i, 1, k.x, g.z);
		addProduct(gt.x, i, 1, k.y, gt.z);
		addProduct(gt.y, i, 1, k.x, gt.z);
		addProduct(gt.x, i, 1, t.y, g.z);
		addProduct(gt.y, i, 1, t.x, g.z);
	}
}

// z += sign·q, q = x/y, with the derivatives, for ω = z̄/y,
//
//	x̄ += ω,  ȳ -= ω·q,  ż += sign·q̇,  q̇ = (ẋ - q·ẏ)/y,
//	ġx += ω̇ = (ġz - ω·ẏ)/y,  ġy -= ω̇·q + ω·q̇.
template <class T> DEVICE void divide(i64 n, i64 sign, Triple<T> k, Triple<T> g, Triple<T> t, Triple<T> gt) {
	bool tangent = t.x || t.y;
	for (i64 i = first(); i < n; i += step()) {
		T y = k.y.at(i), q = quotient(k.x.at(i), y);
		add(k.z, i, sign, q);
		if (!tangent && !g.z && !gt.z) continue;
		T dy = element(t.y, i), dq = quotient(element(t.x, i) - product(q, dy), y);
		add(t.z, i, sign, dq);
		T w = quotient(element(g.z, i), y);
		if (g.z) {
			add(g.x, i, 1, w);
			add(g.y, i, 1, -product(w, q));
		}
		if (gt.z || (tangent && g.z)) {
			T dw = quotient(element(gt.z, i) - product(w, dy), y);
			add(gt.x, i, 1, dw);
			add(gt.y, i, 1, -product(dw, q) - product(w, dq));
		}
	}
}

#define KERNELS(T, name) \
	KERNEL multiply##name(i64 n, i64 sign, OPERANDS(T, k), OPERANDS(T, g), OPERANDS(T, t), OPERANDS(T, gt)) { \
		multiply(n, sign, OF(T, k), OF(T, g), OF(T, t), OF(T, gt)); \
	} \
	KERNEL divide##name(i64 n, i64 sign, OPERANDS(T, k), OPERANDS(T, g), OPERANDS(T, t), OPERANDS(T, gt)) { \
		divide(n, sign, OF(T, k), OF(T, g), OF(T, t), OF(T, gt)); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
