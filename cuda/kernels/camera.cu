// Observations of points by cameras: their residuals and derivatives, in the arithmetic of
// revmodels/ba, which has the equations. Over Q43 the results have its bits.
#include "reduce.h"
#include "trig.h"

DEVICE double plus(double x, double y) { return x + y; }
DEVICE float plus(float x, float y) { return x + y; }
DEVICE Q43 plus(Q43 x, Q43 y) { return x + y; }
DEVICE double minus(double x, double y) { return x - y; }
DEVICE float minus(float x, float y) { return x - y; }
DEVICE Q43 minus(Q43 x, Q43 y) { return x - y; }

// ratio returns x/y, and over Q43 0 for y = 0.
DEVICE double ratio(double x, double y) { return x / y; }
DEVICE float ratio(float x, float y) { return x / y; }
DEVICE Q43 ratio(Q43 x, Q43 y) { return y.v == 0 ? y : quotient(x, y); }

DEVICE void set(double &x, double v) { x = v; }
DEVICE void set(float &x, double v) { x = (float)v; }
DEVICE void set(Q43 &x, double v) { x = fixed(v); }
template <class T> DEVICE T number(double v) {
	T x;
	set(x, v);
	return x;
}
DEVICE void set(double &x, float v) { x = v; }
DEVICE void set(Q43 &x, Q43 v) { x = v; }

// A Dual is a number with its tangent.
template <class T> struct Dual {
	T v, d;
};
template <class T> DEVICE void set(Dual<T> &x, double v) { x = Dual<T>{number<T>(v), number<T>(0)}; }
template <class T> DEVICE Dual<T> plus(Dual<T> x, Dual<T> y) { return Dual<T>{plus(x.v, y.v), plus(x.d, y.d)}; }
template <class T> DEVICE Dual<T> minus(Dual<T> x, Dual<T> y) { return Dual<T>{minus(x.v, y.v), minus(x.d, y.d)}; }
template <class T> DEVICE Dual<T> product(Dual<T> x, Dual<T> y) {
	return Dual<T>{product(x.v, y.v), plus(product(x.d, y.v), product(x.v, y.d))};
}
template <class T> DEVICE Dual<T> ratio(Dual<T> x, Dual<T> y) {
	T q = ratio(x.v, y.v);
	return Dual<T>{q, ratio(minus(x.d, product(q, y.d)), y.v)};
}

// last returns x, or the tangent of a Dual.
template <class T> DEVICE T last(T x) { return x; }
template <class T> DEVICE T last(Dual<T> x) { return x.d; }

// A Divisor divides by y. Floats are multiplied by its inverse, as on the CPU, which saves divisions. Where |y| is below 5.6e-309, the
// inverse of a double is infinite.
template <class N> struct Divisor {
	N y;
	INLINE explicit Divisor(N y) : y(y) {}
	INLINE N under(N x) const { return ratio(x, y); }
};
template <> INLINE Divisor<double>::Divisor(double y) : y(1 / y) {}
template <> INLINE Divisor<float>::Divisor(float y) : y(1 / y) {}
template <> INLINE double Divisor<double>::under(double x) const { return x * y; }
template <> INLINE float Divisor<float>::under(float x) const { return x * y; }

// Coefficients are those of a rotation by an angle, whose square is s, with their
// derivatives by s: a = sin θ/θ, b = (1 - cos θ)/θ², c = (θ - sin θ)/θ³.
template <class W> struct Coefficients {
	W a, b, c, da, db, dc;
};

INLINE void angleOf(double s, double &theta, double &sine, double &half) {
	double c;
	theta = root(s);
	sincos(theta, sine, c);
	sincos(theta / 2, half, c);
}
INLINE void angleOf(Q43 s, Q43 &theta, Q43 &sine, Q43 &half) {
	Q43 c;
	theta = s.v < 0 ? Q43{(i64)1 << 43} : root(s); // s is its own negative
	sincos(theta, sine, c);
	sincos(Q43{theta.v / 2}, half, c);
}

template <class W> INLINE Coefficients<W> coefficients(W s) {
	// 1/k!
	constexpr double series[24] = {
		1, 1, 0.5, 0.16666666666666666, 0.041666666666666664, 0.008333333333333333, 0.001388888888888889,
		0.0001984126984126984, 2.48015873015873e-05, 2.7557319223985893e-06, 2.7557319223985894e-07,
		2.5052108385441721e-08, 2.0876756987868102e-09, 1.6059043836821616e-10, 1.1470745597729726e-11,
		7.6471637318198174e-13, 4.7794773323873859e-14, 2.811457254345521e-15, 1.5619206968586228e-16,
		8.2206352466243302e-18, 4.1103176233121653e-19, 1.9572941063391263e-20, 8.8967913924505741e-22,
		3.8681701706306844e-23,
	};
	W zero = number<W>(0), one = number<W>(1), half = number<W>(0.5);
	Coefficients<W> q = {zero, zero, zero, zero, zero, zero};
	if (lessThan(s, zero)) s = -s;
	if (lessThan(s, one)) {
		for (int k = 8; k >= 0; k--) {
			q.a = minus(number<W>(series[2 * k + 1]), product(s, q.a));
			q.b = minus(number<W>(series[2 * k + 2]), product(s, q.b));
			q.c = minus(number<W>(series[2 * k + 3]), product(s, q.c));
			q.db = minus(-number<W>((double)(k + 1) * series[2 * k + 4]), product(s, q.db));
			q.dc = minus(-number<W>((double)(k + 1) * series[2 * k + 5]), product(s, q.dc));
		}
	} else {
		W theta, sine, sineOfHalf;
		angleOf(s, theta, sine, sineOfHalf);
		q.a = ratio(sine, theta);
		W h = ratio(sineOfHalf, theta), h2 = product(h, h);
		q.b = plus(h2, h2);
		q.c = ratio(minus(one, q.a), s);
		q.db = ratio(minus(product(half, q.a), q.b), s);
		q.dc = ratio(product(half, minus(q.b, plus(q.c, plus(q.c, q.c)))), s);
	}
	q.da = product(half, minus(q.c, q.b));
	return q;
}

// A Camera has what the projection needs, and then what its derivatives need, too.
template <class N> struct Camera {
	N turn[9];  // R of the rotation
	N shift[3]; // added after the rotation, or subtracted before it
	N f, u, v, k1, k2;
	N left[9]; // K of the rotation
};

// exponential sets m to I + a·[r] + b·[r]², where [r]·x = r×x.
template <class N> INLINE void exponential(N *m, N a, N b, const N *r) {
	N one = number<N>(1);
	N xx = product(r[0], r[0]), yy = product(r[1], r[1]), zz = product(r[2], r[2]);
	N x = product(a, r[0]), y = product(a, r[1]), z = product(a, r[2]);
	N xy = product(b, product(r[0], r[1])), xz = product(b, product(r[0], r[2])), yz = product(b, product(r[1], r[2]));
	m[0] = minus(one, product(b, plus(yy, zz)));
	m[1] = minus(xy, z);
	m[2] = plus(xz, y);
	m[3] = plus(xy, z);
	m[4] = minus(one, product(b, plus(xx, zz)));
	m[5] = minus(yz, x);
	m[6] = minus(xz, y);
	m[7] = plus(yz, x);
	m[8] = minus(one, product(b, plus(xx, yy)));
}

template <class N> INLINE void assemble(Camera<N> &c, bool weighted, const N *p, N a, N b, N d) {
	exponential(c.left, b, d, p);
	exponential(c.turn, a, b, p);
	for (int i = 0; i < 3; i++) c.shift[i] = p[3 + i];
	c.f = p[6];
	c.u = weighted ? p[7] : number<N>(0);
	c.v = weighted ? p[8] : number<N>(0);
	c.k1 = p[weighted ? 9 : 7];
	c.k2 = p[weighted ? 10 : 8];
}

// coefficientsOf returns those of the rotation of a camera with the parameters p.
template <class T> INLINE Coefficients<Wide<T>> coefficientsOf(const T *p) {
	Wide<T> s = number<Wide<T>>(0), v;
	for (int k = 0; k < 3; k++) {
		set(v, p[k]);
		s = plus(s, product(v, v));
	}
	return coefficients(s);
}

// narrowed returns v in T.
DEVICE void narrow(double &x, double v) { x = v; }
DEVICE void narrow(float &x, double v) { x = (float)v; }
DEVICE void narrow(Q43 &x, Q43 v) { x = v; }
template <class T> DEVICE T narrowed(Wide<T> v) {
	T x;
	narrow(x, v);
	return x;
}

template <class N> INLINE void mulVec(N *y, const N *m, const N *x) {
#pragma unroll
	for (int i = 0; i < 3; i++) y[i] = plus(plus(product(m[3 * i], x[0]), product(m[3 * i + 1], x[1])), product(m[3 * i + 2], x[2]));
}
template <class N> INLINE void mulTransVec(N *y, const N *m, const N *x) {
#pragma unroll
	for (int i = 0; i < 3; i++) y[i] = plus(plus(product(m[i], x[0]), product(m[3 + i], x[1])), product(m[6 + i], x[2]));
}

// A Stored is a camera in memory, as a row of numbers. Over floats these are the parameters and
// the coefficients, and each observation computes both matrices again: that is fewer numbers to gather. A camera that
// is moving has its direction t, with K·ṙ in place of ṙ, and then no observation needs K and its coefficient c.
// Over Q43 products cost more, and the row is a Camera.
template <class T, bool weighted, bool moving = false> struct Stored {
	constexpr static int params = weighted ? 11 : 9, turn = params, numbers = params + (moving ? 2 + params : 3), projected = numbers;
	INLINE static void store(T *to, const T *p, T a, T b, T c, const T *t) {
#pragma unroll
		for (int k = 0; k < params; k++) to[k] = p[k];
		to[turn] = a;
		to[turn + 1] = b;
		if constexpr (moving) {
			T left[9], angle[3];
			exponential(left, b, c, p);
			mulVec(angle, left, t);
#pragma unroll
			for (int k = 0; k < params; k++) to[turn + 2 + k] = k < 3 ? angle[k] : t[k];
		} else to[turn + 2] = c;
	}
	INLINE static const Camera<T> &camera(Camera<T> &room, const T *from) {
		assemble(room, weighted, from, from[turn], from[turn + 1], moving ? number<T>(0) : from[turn + 2]);
		return room;
	}
	INLINE static const T *direction(const T *from) { return from + turn + 2; }
};
template <bool weighted> struct Stored<Q43, weighted> {
	constexpr static int numbers = 26, projected = 18; // the projection does without K
	INLINE static void store(Q43 *to, const Q43 *p, Q43 a, Q43 b, Q43 c, const Q43 *) { assemble(*(Camera<Q43> *)to, weighted, p, a, b, c); }
	INLINE static const Camera<Q43> &camera(Camera<Q43> &, const Q43 *from) { return *(const Camera<Q43> *)from; }
};

// setCameras stores the cameras with the parameters in the rows of x, and if they are moving with the directions in those of t.
// A null t stands for zeros.
template <class T, bool weighted, bool moving> INLINE void setCameras(T *to, i64 n, const T *x, i64 down, const T *t, i64 downT) {
	typedef Stored<T, weighted, moving> Row;
	for (i64 i = first(); i < n; i += step()) {
		constexpr int params = weighted ? 11 : 9;
		T p[params], d[params];
		for (int k = 0; k < params; k++) {
			p[k] = x[i * down + k];
			d[k] = t ? t[i * downT + k] : number<T>(0);
		}
		Coefficients<Wide<T>> q = coefficientsOf(p);
		Row::store(to + i * Row::numbers, p, narrowed<T>(q.a), narrowed<T>(q.b), narrowed<T>(q.c), d);
	}
}

// setDualCameras computes the cameras with the parameters in the rows of x, and with the tangents in the rows
// of t. A null t stands for zeros.
template <class T> INLINE void setDualCameras(Camera<Dual<T>> *to, i64 n, i64 weighted, const T *x, i64 down, const T *t, i64 downT) {
	for (i64 i = first(); i < n; i += step()) {
		T r[3];
		Dual<T> p[11], s = number<Dual<T>>(0);
		for (int k = 0; k < 11; k++) {
			p[k] = number<Dual<T>>(0);
			if (weighted || k < 9) p[k] = Dual<T>{x[i * down + k], t ? t[i * downT + k] : number<T>(0)};
		}
		for (int k = 0; k < 3; k++) {
			r[k] = p[k].v;
			s = plus(s, product(p[k], p[k]));
		}
		Coefficients<Wide<T>> q = coefficientsOf(r);
		assemble(to[i], weighted, p, Dual<T>{narrowed<T>(q.a), product(narrowed<T>(q.da), s.d)},
			Dual<T>{narrowed<T>(q.b), product(narrowed<T>(q.db), s.d)}, Dual<T>{narrowed<T>(q.c), product(narrowed<T>(q.dc), s.d)});
	}
}

// Whether products are rounded to places that are fixed, so that the order of operations matters to the bit.
template <class N> constexpr bool rounded = false;
template <> constexpr bool rounded<Q43> = true;

// Whether numbers are floats, without tangents. Cotangents over floats do without the Jacobian.
template <class N> constexpr bool plain = false;
template <> constexpr bool plain<double> = true;
template <> constexpr bool plain<float> = true;

INLINE float fma(float x, float y, float z) { return __builtin_elementwise_fma(x, y, z); }

// A Pull brings cotangents g of the residuals of an observation back to the projection f·ρ(s)·p, and to the projected y. With
// v = g, or v = w·g if there are weights, q = p·v and ρ' the derivative of ρ by s,
//
//	f̄ = ρ·q,  k̄1 = f·s·q,  k̄2 = f·s²·q,  ȳ = f·d,  d₁₂ = (ρ·v + 2ρ'·q·p)/depth,  d₃ = ∓p·d₁₂.
//
// The factor f is left to the sums of a camera or a point.
template <class N> struct Pull {
	N g[2], v[2], q, square, radial, d[3], byWeight;
	INLINE explicit Pull(const N (&g)[2]) : g{g[0], g[1]} {}
	INLINE void set(bool weighted, Divisor<N> over, const N *p, const N *r, N s, N slope, N rho, N k2, N weight) {
		for (int k = 0; k < 2; k++) v[k] = weighted ? weight * g[k] : g[k];
		q = fma(p[0], v[0], p[1] * v[1]);
		square = s;
		radial = rho;
		N bend = fma(k2, s, slope) * (q + q);
		for (int k = 0; k < 2; k++) d[k] = over.under(fma(bend, p[k], rho * v[k]));
		d[2] = fma(p[0], d[0], p[1] * d[1]);
		if (weighted) d[2] = -d[2];
		byWeight = fma(r[0], g[0], r[1] * g[1]);
	}
};

// A Term is an observation: its residuals and their derivatives by the camera, the point
// and the weight.
template <class N, bool weighted> struct Term {
	constexpr static int params = weighted ? 11 : 9, columns = params + 3 + weighted;
	N r[2], j[2][columns], byTurned[2][3], turned[3]; // turned is R·x, and byTurned the derivatives by y

	INLINE void observe(const Camera<N> &c, const N *point, N weight, const N *feature, bool derivatives, Pull<N> *pull = nullptr) {
		N zero = number<N>(0), x[3], y[3];
#pragma unroll
		for (int i = 0; i < 3; i++) x[i] = weighted ? minus(point[i], c.shift[i]) : point[i];
		mulVec(turned, c.turn, x);
#pragma unroll
		for (int i = 0; i < 3; i++) y[i] = weighted ? turned[i] : plus(turned[i], c.shift[i]);
		N depth = weighted ? y[2] : minus(zero, y[2]);
		Divisor<N> over(depth);
		N p[2] = {over.under(y[0]), over.under(y[1])};
		N square = plus(product(p[0], p[0]), product(p[1], p[1]));
		N slope = plus(c.k1, product(c.k2, square));
		N radial = plus(number<N>(1), product(slope, square));
#pragma unroll
		for (int i = 0; i < 2; i++) r[i] = minus(product(c.f, product(radial, p[i])), feature[i]);
		if (weighted) {
			r[0] = plus(r[0], c.u);
			r[1] = plus(r[1], c.v);
		}
		if (derivatives) differentiate(c, over, p, square, slope, radial, weight);
		if constexpr (plain<N>) if (pull) pull->set(weighted, over, p, r, square, slope, radial, c.k2, weight);
		if (weighted) {
			r[0] = product(weight, r[0]);
			r[1] = product(weight, r[1]);
		}
	}

	INLINE void differentiate(const Camera<N> &c, Divisor<N> over, const N *p, N square, N slope, N radial, N weight) {
		N zero = number<N>(0), scale = weighted ? product(weight, c.f) : c.f;
		N bend = plus(slope, product(c.k2, square));
		bend = plus(bend, bend);
		N stretch = plus(radial, product(bend, square));
#pragma unroll
		for (int i = 0; i < 2; i++) {
			N *row = j[i], *d = byTurned[i];
#pragma unroll
			for (int k = 0; k < 2; k++) {
				d[k] = product(bend, product(p[i], p[k]));
				if (k == i) d[k] = plus(d[k], radial);
				d[k] = over.under(product(scale, d[k]));
			}
			d[2] = over.under(product(scale, product(stretch, p[i])));
			if (weighted) d[2] = minus(zero, d[2]);
			N across[3];
#pragma unroll
			for (int k = 0; k < 3; k++) {
				int l = (k + 1) % 3, m = (k + 2) % 3;
				across[k] = minus(product(turned[l], d[m]), product(turned[m], d[l]));
			}
			N point[3];
			mulTransVec(row, c.left, across);
			mulTransVec(point, c.turn, d);
			N distorted = product(radial, p[i]), k1 = product(square, p[i]);
			N byK1 = product(scale, k1), byK2 = product(scale, product(square, k1));
#pragma unroll
			for (int k = 0; k < 3; k++) {
				row[3 + k] = weighted ? minus(zero, point[k]) : d[k];
				row[params + k] = point[k];
			}
			row[6] = weighted ? product(weight, distorted) : distorted;
			row[params - 2] = byK1;
			row[params - 1] = byK2;
			if (weighted) {
				row[7] = i == 0 ? weight : zero;
				row[8] = i == 1 ? weight : zero;
				row[columns - 1] = r[i];
			}
		}
	}

	// pull adds to s what cotangents that have been pulled back add to those of the camera. The rotation gets (R·x)×ȳ. What all observations of
	// a camera multiply with is left to the end of the sum.
	INLINE void pull(N (&s)[params], const Pull<N> &b) const {
#pragma unroll
		for (int k = 0; k < 3; k++) {
			int l = (k + 1) % 3, m = (k + 2) % 3;
			s[k] += fma(turned[l], b.d[m], -(turned[m] * b.d[l]));
			s[3 + k] += b.d[k];
		}
		s[6] = fma(b.radial, b.q, s[6]);
		if (weighted) {
			s[7] += b.v[0];
			s[8] += b.v[1];
		}
		N bent = b.square * b.q;
		s[params - 2] += bent;
		s[params - 1] = fma(b.square, bent, s[params - 1]);
	}
	INLINE static void end(N (&s)[params], const Camera<N> &c) {
		N turn[3], shift[3];
		mulTransVec(turn, c.left, s);
		mulTransVec(shift, c.turn, s + 3);
#pragma unroll
		for (int k = 0; k < 3; k++) {
			s[k] = c.f * turn[k];
			s[3 + k] = weighted ? -(c.f * shift[k]) : c.f * s[3 + k];
		}
		s[params - 2] *= c.f;
		s[params - 1] *= c.f;
	}

	// move adds to s the tangents of the residuals of a camera and a point that move. Null pointers do not. Over Q43 it
	// multiplies by the Jacobian, whose products are rounded. Over floats the direction of the camera begins with K·ṙ, and what is
	// projected, y, first moves by (K·ṙ)×(R·x) and R·ẋ, which takes fewer registers.
	INLINE void move(N (&s)[2], const Camera<N> &c, const N *camera, const N *point) const {
		if constexpr (rounded<N>) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				if (camera) {
#pragma unroll
					for (int l = 0; l < params; l++) s[i] = plus(s[i], product(j[i][l], camera[l]));
				}
				if (point) {
#pragma unroll
					for (int l = 0; l < 3; l++) s[i] = plus(s[i], product(j[i][params + l], point[l]));
				}
			}
		} else if (camera || point) { // products of zeros are NaN where a derivative is not finite
			N zero = number<N>(0), x[3] = {zero, zero, zero}, y[3];
#pragma unroll
			for (int k = 0; k < 3; k++) {
				if (point) x[k] = point[k];
				if (weighted && camera) x[k] = minus(x[k], camera[3 + k]);
			}
			mulVec(y, c.turn, x);
			if (camera) {
#pragma unroll
				for (int k = 0; k < 3; k++) {
					int l = (k + 1) % 3, m = (k + 2) % 3;
					y[k] = plus(y[k], minus(product(camera[l], turned[m]), product(camera[m], turned[l])));
					if (!weighted) y[k] = plus(y[k], camera[3 + k]);
				}
			}
#pragma unroll
			for (int i = 0; i < 2; i++) {
#pragma unroll
				for (int k = 0; k < 3; k++) s[i] = plus(s[i], product(byTurned[i][k], y[k]));
				if (camera) {
#pragma unroll
					for (int l = 6; l < params; l++) s[i] = plus(s[i], product(j[i][l], camera[l]));
				}
			}
		}
	}
};

// Operands are those of a kernel, or of its derivatives. Null pointers are absent.
template <class T> struct Operands {
	T *r, *z, *cameras, *points, *weights, *features;
	i64 rInc, zInc, camerasDown, pointsDown, weightsInc, featuresDown;
};

// at returns x, or 0 if it is absent.
template <class T> DEVICE T at(const T *x, i64 i) { return x ? x[i] : number<T>(0); }

// warpFirst returns the first observation of the warp of a thread.
DEVICE i64 warpFirst() { return first() - threadX() % lanes; }
DEVICE int laneOf() { return (int)(threadX() % lanes); }

// Threads of a block that observes. Twice as many would use half of the registers of a
// multiprocessor, as a thread needs 160 or more over float64.
constexpr int observers = 128; // as in camera.go

// A Pair is the Bits of two numbers.
template <class T> struct BitsOf { typedef u64 type; typedef u64 pair __attribute__((ext_vector_type(2))); };
template <> struct BitsOf<float> { typedef unsigned type; typedef unsigned pair __attribute__((ext_vector_type(2))); };
template <class T> using Bits = typename BitsOf<T>::type;
template <class T> using Pair = typename BitsOf<T>::pair;

// once loads what no other warp of a multiprocessor needs, past the first cache, which is left to cameras and points.
INLINE double once(const double *x) {
	double v;
	asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(v) : "l"(x));
	return v;
}
INLINE float once(const float *x) {
	float v;
	asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(x));
	return v;
}
INLINE int once(const int *x) {
	int v;
	asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(v) : "l"(x));
	return v;
}
INLINE i64 once(const i64 *x) {
	i64 v;
	asm volatile("ld.global.cg.s64 %0, [%1];" : "=l"(v) : "l"(x));
	return v;
}
INLINE Q43 once(const Q43 *x) { return Q43{once(&x->v)}; }
INLINE Pair<double> once(const Pair<double> *x) {
	u64 v, w;
	asm volatile("ld.global.cg.v2.u64 {%0, %1}, [%2];" : "=l"(v), "=l"(w) : "l"(x));
	return {v, w};
}
INLINE Pair<float> once(const Pair<float> *x) {
	unsigned v, w;
	asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : "l"(x));
	return {v, w};
}

// A Gathered has what a thread loads of the rows of a warp, of which each thread wants one. As the rows are
// anywhere, neighbouring threads load neighbouring elements: if each loaded its own row, each load
// would go to 32 places. The distance of rows in shared memory is odd, to avoid conflicts of banks.
// Width threads share a row, so that what a thread computes of its place serves for all its loads. Passing loads are those of once.
template <int count, int width, class E, bool passing = false> struct Gathered {
	constexpr static int apart = count | 1, each = (count + width - 1) / width, rows = lanes / width;
	E v[width * each];
	INLINE void load(const E *from, i64 down, int row) {
#pragma unroll
		for (int l = 0; l < width * each; l++) {
			int at = laneOf() % width + l % each * width;
			i64 r = __nvvm_shfl_sync_idx_i32(-1, row, laneOf() / width + l / each * rows, 31);
			if (at < count) v[l] = passing ? once(from + r * down + at) : from[r * down + at];
		}
	}
	// store returns where the row of a thread will be after a barrier of the warp.
	INLINE const E *store(E *room) const {
#pragma unroll
		for (int l = 0; l < width * each; l++) {
			int at = laneOf() % width + l % each * width;
			if (at < count) room[(laneOf() / width + l / each * rows) * apart + at] = v[l];
		}
		return room + laneOf() * apart;
	}
};
template <class T, int numbers> using GatheredPairs = Gathered<numbers / 2, 8, Pair<T>>;

// two loads two numbers, and putTwo stores them: at once if they are neighbours that begin at a Pair.
template <class T> DEVICE bool together(const T *x, i64 inc) { return inc == 1 && (u64)x % sizeof(Pair<T>) == 0; }
template <class T> INLINE void two(T (&v)[2], const T *x, i64 inc) {
	if (together(x, inc)) {
		Pair<T> p = once((const Pair<T> *)x);
		Bits<T> first = p.x, second = p.y; // clang 19 casts the first element of a vector for each
		v[0] = __builtin_bit_cast(T, first);
		v[1] = __builtin_bit_cast(T, second);
	} else {
		v[0] = once(x);
		v[1] = once(x + inc);
	}
}
template <class T> INLINE void putTwo(T *x, i64 inc, const T (&v)[2]) {
	if (together(x, inc)) {
		*(Pair<T> *)x = Pair<T>{__builtin_bit_cast(Bits<T>, v[0]), __builtin_bit_cast(Bits<T>, v[1])};
	} else {
		x[0] = v[0];
		x[inc] = v[1];
	}
}

constexpr int half = lanes / 2;

// storeRows stores the rows that the threads of a warp have, one below the other: those of a
// thread from row lane·count on, of the first threads up to most. They go through shared memory,
// so that neighbouring threads store neighbours. The odd distance there avoids conflicts of banks.
template <class T, int count, int cols>
INLINE void storeRows(T *to, i64 down, i64 most, const T (&v)[count][cols], T *stage) {
	constexpr int each = count * cols, apart = each | 1;
	int lane = (int)(threadX() % lanes);
	for (int begin = 0; begin < lanes; begin += half) {
		if (lane / half == begin / half && lane < most) {
#pragma unroll
			for (int l = 0; l < each; l++) stage[(lane - begin) * apart + l] = v[l / cols][l % cols];
		}
		warpBarrier();
		for (int l = lane; l < half * each; l += lanes) {
			int from = l / each, at = l % each;
			if (begin + from < most) to[((begin + from) * count + at / cols) * down + at % cols] = stage[from * apart + at];
		}
		warpBarrier();
	}
}

// What observe computes besides residuals.
enum { nothing, jacobians, tangents };

// A Seen is what an observation reads, all of it on its way at once. What is added to is read then, too.
template <class T, bool weighted, class Row, int numbers = Row::numbers> struct Seen {
	GatheredPairs<T, numbers> stored;
	T w, x[3], f[2], r[2], z;
	INLINE Seen(const T *cameras, const Operands<T> &k, i64 i, i64 p, int c) {
		stored.load((const Pair<T> *)cameras, Row::numbers / 2, c);
		w = weighted ? once(k.weights + i * k.weightsInc) : number<T>(1);
		z = weighted && k.z ? once(k.z + i * k.zInc) : w;
		two(f, k.features + i * k.featuresDown, 1);
		if (k.r) two(r, k.r + 2 * i * k.rInc, k.rInc);
#pragma unroll
		for (int l = 0; l < 3; l++) x[l] = k.points[p * k.pointsDown + l];
	}
	// add adds the residuals of e times the sign.
	INLINE void add(const Operands<T> &k, i64 sign, i64 i, const Term<T, weighted> &e) {
		if (weighted && k.z) {
			addSigned(z, sign, minus(number<T>(1), product(w, w)));
			k.z[i * k.zInc] = z;
		}
		if (!k.r) return;
		addSigned(r[0], sign, e.r[0]);
		addSigned(r[1], sign, e.r[1]);
		putTwo(k.r + 2 * i * k.rInc, k.rInc, r);
	}
};

// observe adds residuals times the sign, for the n observations. It stores the Jacobian in rows, and the
// derivatives of z in dz. Or it adds the tangents of residuals, for the tangents d, times the sign.
template <class T, bool weighted, int what>
INLINE void observe(i64 n, i64 sign, const T *cameras, const int *camera, const int *point, const Operands<T> &k, const Operands<T> &d, T *rows, i64 down, T *dz, i64 dzInc) {
	constexpr int params = Term<T, weighted>::params, columns = Term<T, weighted>::columns;
	constexpr bool moving = what == tangents && !rounded<T>; // rows have the directions of cameras
	typedef Stored<T, weighted, moving> Row;
	constexpr int numbers = what == nothing ? Row::projected : Row::numbers;
	constexpr int room = lanes * 2 * GatheredPairs<T, numbers>::apart, stage = what == jacobians ? half * (2 * columns | 1) : 0;
	alignas(16) SHARED T rooms[observers / lanes][room > stage ? room : stage]; // for cameras, and then for rows
	T *place = rooms[threadX() / lanes];
	if (warpFirst() >= n) return;
	bool in = first() < n;
	i64 i = in ? first() : n - 1, p = once(point + i);
	int c = once(camera + i);
	Seen<T, weighted, Row, numbers> o(cameras, k, i, p, c);
	Gathered<params, 4, T> across; // the direction of the camera, if it is not in the row
	T dx[3], df[2], dr[2], dw = number<T>(0), z = number<T>(0);
	if constexpr (what == tangents) {
		if (!moving && d.cameras) across.load(d.cameras, d.camerasDown, c);
		if (d.r) two(dr, d.r + 2 * i * d.rInc, d.rInc);
		if (d.features) two(df, d.features + i * d.featuresDown, 1);
		if (weighted && d.weights) dw = once(d.weights + i * d.weightsInc);
		if (weighted && d.z) z = once(d.z + i * d.zInc);
		if (d.points) {
#pragma unroll
			for (int l = 0; l < 3; l++) dx[l] = d.points[p * d.pointsDown + l];
		}
	}
	warpBarrier();
	const T *stored = (const T *)o.stored.store((Pair<T> *)place), *direction = nullptr;
	if constexpr (moving) {
		if (d.cameras) direction = Row::direction(stored);
	} else if constexpr (what == tangents) {
		SHARED T directions[observers / lanes][lanes * Gathered<params, 4, T>::apart];
		if (d.cameras) direction = across.store(directions[threadX() / lanes]);
	}
	warpBarrier();
	Term<T, weighted> e;
	if (in) {
		Camera<T> room;
		const Camera<T> &own = Row::camera(room, stored);
		e.observe(own, o.x, o.w, o.f, what != nothing);
		T slope = -plus(o.w, o.w); // of z
		o.add(k, sign, i, e);
		if constexpr (what == jacobians) {
			if (dz) dz[i * dzInc] = slope;
		}
		if constexpr (what == tangents) {
			if (d.r) {
				T s[2] = {number<T>(0), number<T>(0)};
				e.move(s, own, direction, d.points ? dx : nullptr);
#pragma unroll
				for (int r = 0; r < 2; r++) {
					if (weighted && d.weights) s[r] = plus(s[r], product(e.j[r][columns - 1], dw));
					if (d.features) s[r] = minus(s[r], weighted ? product(o.w, df[r]) : df[r]);
					addSigned(dr[r], sign, s[r]);
				}
				putTwo(d.r + 2 * i * d.rInc, d.rInc, dr);
			}
			if (weighted && d.z && d.weights) {
				addSigned(z, sign, product(slope, dw));
				d.z[i * d.zInc] = z;
			}
		}
	}
	if constexpr (what == jacobians) {
		warpBarrier(); // no thread reads its camera any more
		storeRows(rows + 2 * warpFirst() * down, down, n - warpFirst(), e.j, place);
	}
}

// Groups are observations by points. Piece q has the observations list[ptr[q]], ..., list[ptr[q+1]-1], where a null list has
// each number at its place. It is all of point rows[q], or row -1-rows[q] of parts has its sum. A null rows has each
// number at its place.
template <class T> struct Groups {
	const int *ptr, *list, *rows;
	T *parts;
};

// sumPoints adds to the rows of to, or stores in parts, what f sets for the observations of piece q, in their order. A warp has 32
// pieces, and takes their observations one for each thread. f(row, i, c, p, in) has an observation with the camera c
// and the point p. If in is false, a thread has none of its own. A null to has no sums.
template <class T, class F>
INLINE void sumPoints(i64 q, i64 pieces, const Groups<T> &by, const int *camera, const int *point, T *to, i64 down, F f) {
	SHARED T rooms[observers / lanes][lanes * 3];
	T *room = rooms[threadX() / lanes];
	if (q - laneOf() >= pieces) return;
	bool mine = q < pieces;
	unsigned from = (unsigned)by.ptr[mine ? q : pieces], until = (unsigned)by.ptr[mine ? q + 1 : pieces];
	unsigned begin = (unsigned)__nvvm_shfl_sync_idx_i32(-1, (int)from, 0, 31), end = (unsigned)__nvvm_shfl_sync_idx_i32(-1, (int)until, 31, 31);
	T sum[3], *row = nullptr;
	for (int k = 0; k < 3; k++) sum[k] = number<T>(0);
	if (to && mine) {
		i64 at = by.rows ? by.rows[q] : q;
		row = at < 0 ? by.parts + 3 * (-1 - at) : to + at * down;
		for (int k = 0; at >= 0 && k < 3; k++) sum[k] = row[k];
	}
	int nextOne = 0, nextCamera = 0, nextPoint = 0;
	auto next = [&](unsigned e) __attribute__((always_inline)) {
		if (e >= end) e = end - 1;
		nextOne = by.list ? once(by.list + e) : (int)e;
		nextCamera = once(camera + nextOne);
		nextPoint = once(point + nextOne);
	};
	if (begin < end) next(begin + laneOf());
	for (; begin < end; begin += lanes) {
		int i = nextOne, p = nextPoint, c = nextCamera;
		bool in = begin + laneOf() < end;
		next(begin + lanes + laneOf());
		T own[3];
		f(own, i, c, p, in);
		if (!to) continue;
		if (in) {
			for (int k = 0; k < 3; k++) room[3 * laneOf() + k] = own[k];
		}
		warpBarrier();
		unsigned e = from > begin ? from : begin, last = until < begin + lanes ? until : begin + lanes;
		for (; e < last; e++) {
			for (int k = 0; k < 3; k++) sum[k] = plus(sum[k], room[3 * (e - begin) + k]);
		}
		warpBarrier();
	}
	if (row) {
		for (int k = 0; k < 3; k++) row[k] = sum[k];
	}
}

// Views are observations by cameras. Piece q has the observations list[ends[4q]], ..., list[ends[4q+1]-1] of camera ends[4q+2], and
// their points are at the same places of points. Row ends[4q+3] of parts has its sums.
template <class T> struct Views {
	const int *ends, *list, *points;
	T *parts;
};

// sumCameras stores what the observations of piece q add to their camera. A warp does a piece. open(to, c) sets
// camera c, and load(w, x, g, i, p) what observation i has.
template <class T, class N, bool weighted, class Open, class Load>
INLINE void sumCameras(i64 q, i64 pieces, const Views<T> &by, Open open, Load load) {
	constexpr int params = Term<N, weighted>::params;
	SHARED Camera<N> rooms[observers / lanes];
	Camera<N> &own = rooms[threadX() / lanes];
	if (q >= pieces) return;
	i64 begin = by.ends[4 * q], end = by.ends[4 * q + 1], nextOne = 0, nextPoint = 0;
	auto next = [&](i64 e) __attribute__((always_inline)) {
		if (e >= end) e = end - 1;
		nextOne = once(by.list + e);
		nextPoint = once(by.points + e);
	};
	next(begin + laneOf());
	if (laneOf() == 0) open(own, by.ends[4 * q + 2]);
	T s[params];
#pragma unroll
	for (int l = 0; l < params; l++) s[l] = number<T>(0);
#pragma unroll 1
	for (; begin < end; begin += lanes) {
		N w, x[3], f[2] = {number<N>(0), number<N>(0)}, g[2];
		load(w, x, g, nextOne, nextPoint);
		next(begin + lanes + laneOf());
		warpBarrier(); // and the camera is read again
		if (begin + laneOf() >= end) continue;
		Term<N, weighted> e;
		if constexpr (plain<N>) {
			Pull<N> back(g);
			e.observe(own, x, w, f, false, &back);
			e.pull(s, back);
		} else {
			e.observe(own, x, w, f, true);
#pragma unroll
			for (int l = 0; l < params; l++) s[l] = plus(s[l], last(plus(product(e.j[0][l], g[0]), product(e.j[1][l], g[1]))));
		}
	}
#pragma unroll
	for (int l = 0; l < params; l++) {
		Sum<T> all = Sum<T>::zero();
		all.add(s[l]);
		s[l] = warpSum(all).value();
	}
	if (laneOf() > 0) return;
	if constexpr (plain<N>) Term<N, weighted>::end(s, own);
#pragma unroll
	for (int l = 0; l < params; l++) by.parts[by.ends[4 * q + 3] * params + l] = s[l];
}

// cotangentsByPoint adds residuals times the sign, and adds to the cotangents d of points, weights and features.
template <class T, bool weighted>
INLINE void cotangentsByPoint(i64 q, i64 pieces, i64 sign, const T *cameras, const int *camera, const int *point, const Operands<T> &k, const Operands<T> &d, const Groups<T> &by) {
	constexpr int params = Term<T, weighted>::params, columns = Term<T, weighted>::columns, numbers = Stored<T, weighted>::numbers;
	alignas(16) SHARED T rooms[observers / lanes][lanes * 2 * GatheredPairs<T, numbers>::apart];
	T *own = rooms[threadX() / lanes];
	sumPoints(q, pieces, by, camera, point, d.r ? d.points : nullptr, d.pointsDown, [&](T (&row)[3], i64 i, int of, i64 p, bool in) __attribute__((always_inline)) {
		Seen<T, weighted, Stored<T, weighted>> o(cameras, k, i, p, of);
		T gr[2] = {number<T>(0), number<T>(0)}, gf[2], gw = number<T>(0), gz = gw;
		if (d.r) two(gr, d.r + 2 * i * d.rInc, d.rInc);
		if (d.features) two(gf, d.features + i * d.featuresDown, 1);
		if (weighted && d.weights) gw = once(d.weights + i * d.weightsInc);
		if (weighted && d.z) gz = once(d.z + i * d.zInc);
		warpBarrier();
		const T *stored = (const T *)o.stored.store((Pair<T> *)own);
		warpBarrier();
		if (!in) return;
		Term<T, weighted> e;
		Camera<T> room;
		const Camera<T> &c = Stored<T, weighted>::camera(room, stored);
		T byWeight;
		if constexpr (plain<T>) {
			Pull<T> back(gr);
			e.observe(c, o.x, o.w, o.f, false, &back);
			mulTransVec(row, c.turn, back.d);
#pragma unroll
			for (int l = 0; l < 3; l++) row[l] *= c.f;
			byWeight = back.byWeight;
		} else {
			e.observe(c, o.x, o.w, o.f, true);
#pragma unroll
			for (int l = 0; l < 3; l++) row[l] = plus(product(e.j[0][params + l], gr[0]), product(e.j[1][params + l], gr[1]));
			byWeight = plus(product(e.j[0][columns - 1], gr[0]), product(e.j[1][columns - 1], gr[1]));
		}
		o.add(k, sign, i, e);
		if (weighted && d.weights) {
			if (d.r) gw = plus(gw, byWeight);
			if (d.z) gw = plus(gw, product(-plus(o.w, o.w), gz));
			d.weights[i * d.weightsInc] = gw;
		}
		if (d.r && d.features) {
			for (int r = 0; r < 2; r++) addSigned(gf[r], -1, weighted ? product(o.w, gr[r]) : gr[r]);
			putTwo(d.features + i * d.featuresDown, 1, gf);
		}
	});
}

// cotangentsByCamera stores what piece q adds to the cotangents of a camera.
template <class T, bool weighted>
INLINE void cotangentsByCamera(i64 q, i64 pieces, const T *cameras, const Operands<T> &k, const Operands<T> &d, const Views<T> &by) {
	typedef Gathered<3, 4, T, true> Points;
	SHARED T rooms[observers / lanes][lanes * Points::apart];
	sumCameras<T, T, weighted>(
		q, pieces, by,
		[&](Camera<T> &to, i64 c) __attribute__((always_inline)) { to = Stored<T, weighted>::camera(to, cameras + c * Stored<T, weighted>::numbers); },
		[&](T &w, T (&x)[3], T (&g)[2], i64 i, i64 p) __attribute__((always_inline)) {
			w = weighted ? once(k.weights + i * k.weightsInc) : number<T>(1);
			two(g, d.r + 2 * i * d.rInc, d.rInc);
			Points seen;
			seen.load(k.points, k.pointsDown, (int)p);
			warpBarrier();
			const T *own = seen.store(rooms[threadX() / lanes]);
			warpBarrier();
			for (int l = 0; l < 3; l++) x[l] = own[l];
		});
}

// cotangents does both. A block has pieces of points, or of cameras. Blocks of both kinds take turns, so that they run at the same
// time: those of points move more bytes of memory, and those of cameras more of the second cache.
template <class T, bool weighted>
INLINE void cotangents(i64 pieces, i64 sign, const T *cameras, const int *camera, const int *point, const Operands<T> &k, const Operands<T> &d, const Groups<T> &byPoint, i64 views, const Views<T> &byCamera) {
	constexpr i64 warps = observers / lanes;
	i64 others = (views + warps - 1) / warps, before = over(blockX() * others, blocks());
	if (over((blockX() + 1) * others, blocks()) > before) {
		cotangentsByCamera<T, weighted>(before * warps + threadX() / lanes, views, cameras, k, d, byCamera);
	} else {
		cotangentsByPoint<T, weighted>((blockX() - before) * observers + threadX(), pieces, sign, cameras, camera, point, k, d, byPoint);
	}
}

// A Second has what an observation has for second derivatives in the direction t.
template <class T, bool weighted> struct Second {
	const Operands<T> &k, &g, &t, &gt;
	INLINE void load(Dual<T> &w, Dual<T> (&x)[3], Dual<T> (&gr)[2], i64 i, i64 p) const {
		w = weighted ? Dual<T>{k.weights[i * k.weightsInc], at(t.weights, i * t.weightsInc)} : number<Dual<T>>(1);
		for (int d = 0; d < 3; d++) x[d] = Dual<T>{k.points[p * k.pointsDown + d], at(t.points, p * t.pointsDown + d)};
		for (int d = 0; d < 2; d++) gr[d] = Dual<T>{at(g.r, (2 * i + d) * g.rInc), at(gt.r, (2 * i + d) * gt.rInc)};
	}
};

// secondByPoint and secondByCamera add the tangents of the cotangents, as those above add the cotangents g.
template <class T, bool weighted>
INLINE void secondByPoint(i64 pieces, const Camera<Dual<T>> *cameras, const int *camera, const int *point, const Second<T, weighted> &of, const Groups<T> &by) {
	typedef Dual<T> N;
	const Operands<T> &k = of.k, &g = of.g, &t = of.t, &gt = of.gt;
	sumPoints(first(), pieces, by, camera, point, gt.points, gt.pointsDown, [&](T (&row)[3], i64 i, int c, i64 p, bool in) __attribute__((always_inline)) {
		constexpr int params = Term<N, weighted>::params;
		if (!in) return;
		Term<N, weighted> e;
		N w, x[3], f[2], gr[2];
		of.load(w, x, gr, i, p);
		for (int d = 0; d < 2; d++) f[d] = N{k.features[i * k.featuresDown + d], at(t.features, i * t.featuresDown + d)};
		e.observe(cameras[c], x, w, f, true);
#pragma unroll
		for (int l = 0; l < 3; l++) row[l] = plus(product(e.j[0][params + l], gr[0]).d, product(e.j[1][params + l], gr[1]).d);
		if (weighted && gt.weights) {
			N z = N{at(g.z, i * g.zInc), at(gt.z, i * gt.zInc)};
			T s = product(w, z).d;
			s = minus(plus(product(e.j[0][e.columns - 1], gr[0]).d, product(e.j[1][e.columns - 1], gr[1]).d), plus(s, s));
			addSigned(gt.weights[i * gt.weightsInc], 1, s);
		}
		if (gt.features) {
			for (int d = 0; d < 2; d++) addSigned(gt.features[i * gt.featuresDown + d], -1, weighted ? product(w, gr[d]).d : gr[d].d);
		}
	});
}
template <class T, bool weighted>
INLINE void secondByCamera(i64 pieces, const Camera<Dual<T>> *cameras, const Second<T, weighted> &of, const Views<T> &by) {
	sumCameras<T, Dual<T>, weighted>(
		first() / lanes, pieces, by, [&](Camera<Dual<T>> &to, i64 c) __attribute__((always_inline)) { to = cameras[c]; },
		[&](Dual<T> &w, Dual<T> (&x)[3], Dual<T> (&g)[2], i64 i, i64 p) __attribute__((always_inline)) { of.load(w, x, g, i, p); });
}

// gatherRows adds the rows ptr[i], ..., ptr[i+1]-1 to row i of to, or to row list[i] if there is a list. Neighbouring threads have
// neighbouring columns. For each column, `slots` threads share the rows, and the first of them adds up what they
// have, in their order.
template <class T> INLINE void gatherRows(T *to, i64 down, i64 n, i64 cols, const T *rows, const int *ptr, const int *list, i64 slots) {
	SHARED Sum<T> sums[maxThreads];
	int t = (int)threadX(), c = t % (int)cols, slot = t / (int)cols % (int)slots, each = (int)(cols * slots);
	i64 atOnce = threads() / each;
	for (i64 begin = blockX() * atOnce; begin < n; begin += blocks() * atOnce) {
		i64 i = begin + t / each;
		bool in = t / each < atOnce && i < n;
		Sum<T> s = Sum<T>::zero();
		if (in) {
			i64 end = ptr[i + 1];
#pragma unroll 4
			for (i64 e = ptr[i] + slot; e < end; e += slots) s.add(rows[e * cols + c]);
		}
		if (slots > 1) {
			sums[t] = s;
			barrier();
			if (in && slot == 0) {
				for (int l = 1; l < slots; l++) s.add(sums[t + l * cols]);
			}
			barrier();
		}
		if (in && slot == 0) addSigned(to[(list ? list[i] : i) * down + c], 1, s.value());
	}
}

#define OPERANDS(T, x) T *x##R, i64 x##RInc, T *x##Z, i64 x##ZInc, T *x##C, i64 x##CDown, T *x##P, i64 x##PDown, T *x##W, i64 x##WInc, T *x##F, i64 x##FDown
#define OF(T, x) Operands<T>{x##R, x##Z, x##C, x##P, x##W, x##F, x##RInc, x##ZInc, x##CDown, x##PDown, x##WInc, x##FDown}

// As many blocks fit on a multiprocessor by their registers.
#define BOUND(resident) __attribute__((launch_bounds(observers, resident)))
#define OBSERVED(T) i64 n, i64 sign, const T *cameras, const int *camera, const int *point, OPERANDS(T, k)
#define OBSERVE(T) n, sign, cameras, camera, point, OF(T, k)
#define GROUPS(T) const int *ptr, const int *list, const int *rows, T *parts
#define VIEWS(T) const int *ends, const int *order, const int *points, T *sums
#define ALL(T) OPERANDS(T, k), OPERANDS(T, g), OPERANDS(T, t), OPERANDS(T, gt)
#define SECOND(T, weighted) \
	Operands<T> k = OF(T, k), g = OF(T, g), t = OF(T, t), gt = OF(T, gt); \
	Second<T, weighted> of = {k, g, t, gt};
#define MODEL(T, model, weighted, name, resident, ofTangents, ofPoints, most) \
	KERNEL setCameras##model##name(T *to, i64 n, const T *x, i64 down) { setCameras<T, weighted, false>(to, n, x, down, nullptr, 0); } \
	KERNEL BOUND(most) project##model##name(OBSERVED(T)) { observe<T, weighted, nothing>(OBSERVE(T), {}, nullptr, 0, nullptr, 0); } \
	KERNEL BOUND(resident) jacobian##model##name(OBSERVED(T), T *j, i64 down, T *dz, i64 dzInc) { observe<T, weighted, jacobians>(OBSERVE(T), {}, j, down, dz, dzInc); } \
	KERNEL BOUND(ofTangents) tangents##model##name(OBSERVED(T), OPERANDS(T, t)) { observe<T, weighted, tangents>(OBSERVE(T), OF(T, t), nullptr, 0, nullptr, 0); } \
	KERNEL BOUND(ofPoints) cotangents##model##name(OBSERVED(T), OPERANDS(T, g), GROUPS(T), i64 views, VIEWS(T)) { \
		cotangents<T, weighted>(OBSERVE(T), OF(T, g), {ptr, list, rows, parts}, views, {ends, order, points, sums}); \
	} \
	KERNEL second##model##name(i64 n, const Camera<Dual<T>> *cameras, const int *camera, const int *point, ALL(T), GROUPS(T)) { \
		SECOND(T, weighted) \
		secondByPoint(n, cameras, camera, point, of, {ptr, list, rows, parts}); \
	} \
	KERNEL secondOfCameras##model##name(i64 n, const Camera<Dual<T>> *cameras, VIEWS(T), ALL(T)) { \
		SECOND(T, weighted) \
		secondByCamera(n, cameras, of, {ends, order, points, sums}); \
	}
#define KERNELS(T, name, ofSnavely, ofWeighted, ofTangents, pointsOfSnavely, pointsOfWeighted, ofBoth) \
	KERNEL setDualCameras##name(Camera<Dual<T>> *to, i64 n, i64 weighted, const T *x, i64 down, const T *t, i64 downT) { setDualCameras(to, n, weighted, x, down, t, downT); } \
	KERNEL gatherRows##name(T *to, i64 down, i64 n, i64 cols, const T *rows, const int *ptr, const int *list, i64 slots) { gatherRows(to, down, n, cols, rows, ptr, list, slots); } \
	MODEL(T, Snavely, false, name, ofSnavely, ofTangents, pointsOfSnavely, ofBoth) \
	MODEL(T, Weighted, true, name, ofWeighted, ofTangents, pointsOfWeighted, ofBoth)
KERNELS(double, F64, 5, 4, 4, 3, 3, 8)
KERNELS(float, F32, 6, 6, 6, 5, 4, 8)
KERNELS(Q43, Q43, 2, 2, 2, 2, 2, 4)

#define MOVING(T, model, weighted, name) \
	KERNEL setMoving##model##name(T *to, i64 n, const T *x, i64 down, const T *t, i64 downT) { setCameras<T, weighted, true>(to, n, x, down, t, downT); }
MOVING(double, Snavely, false, F64)
MOVING(double, Weighted, true, F64)
MOVING(float, Snavely, false, F32)
MOVING(float, Weighted, true, F32)
