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
constexpr int cameraNumbers = 26, projectionNumbers = 18; // the second without K, as pairs

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
	exponential(c.turn, a, b, p);
	exponential(c.left, b, d, p);
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

// setCameras computes the cameras with the parameters in the rows of x, and with the
// tangents in the rows of t. A null t stands for zeros.
template <class T> INLINE void setCameras(Camera<T> *to, i64 n, i64 weighted, const T *x, i64 down) {
	for (i64 i = first(); i < n; i += step()) {
		T p[11];
		for (int k = 0; k < 11; k++) p[k] = weighted || k < 9 ? x[i * down + k] : number<T>(0);
		Coefficients<Wide<T>> q = coefficientsOf(p);
		assemble(to[i], weighted, p, narrowed<T>(q.a), narrowed<T>(q.b), narrowed<T>(q.c));
	}
}

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

template <class N> INLINE void mulVec(N *y, const N *m, const N *x) {
#pragma unroll
	for (int i = 0; i < 3; i++) y[i] = plus(plus(product(m[3 * i], x[0]), product(m[3 * i + 1], x[1])), product(m[3 * i + 2], x[2]));
}
template <class N> INLINE void mulTransVec(N *y, const N *m, const N *x) {
#pragma unroll
	for (int i = 0; i < 3; i++) y[i] = plus(plus(product(m[i], x[0]), product(m[3 + i], x[1])), product(m[6 + i], x[2]));
}

// A Term is an observation: its residuals and their derivatives by the camera, the point
// and the weight.
template <class N, bool weighted> struct Term {
	constexpr static int params = weighted ? 11 : 9, columns = params + 3 + weighted;
	N r[2], j[2][columns];

	INLINE void observe(const Camera<N> &c, const N *point, N weight, const N *feature, bool derivatives) {
		N zero = number<N>(0), x[3], turned[3], y[3];
#pragma unroll
		for (int i = 0; i < 3; i++) x[i] = weighted ? minus(point[i], c.shift[i]) : point[i];
		mulVec(turned, c.turn, x);
#pragma unroll
		for (int i = 0; i < 3; i++) y[i] = weighted ? turned[i] : plus(turned[i], c.shift[i]);
		N depth = weighted ? y[2] : minus(zero, y[2]);
		N p[2] = {ratio(y[0], depth), ratio(y[1], depth)};
		N square = plus(product(p[0], p[0]), product(p[1], p[1]));
		N slope = plus(c.k1, product(c.k2, square));
		N radial = plus(number<N>(1), product(slope, square));
#pragma unroll
		for (int i = 0; i < 2; i++) r[i] = minus(product(c.f, product(radial, p[i])), feature[i]);
		if (weighted) {
			r[0] = plus(r[0], c.u);
			r[1] = plus(r[1], c.v);
		}
		if (derivatives) differentiate(c, turned, depth, p, square, slope, radial, weight);
		if (weighted) {
			r[0] = product(weight, r[0]);
			r[1] = product(weight, r[1]);
		}
	}

	INLINE void differentiate(const Camera<N> &c, const N *turned, N depth, const N *p, N square, N slope, N radial, N weight) {
		N zero = number<N>(0), scale = weighted ? product(weight, c.f) : c.f;
		N bend = plus(slope, product(c.k2, square));
		bend = plus(bend, bend);
		N stretch = plus(radial, product(bend, square));
#pragma unroll
		for (int i = 0; i < 2; i++) {
			N *row = j[i], d[3]; // d are the derivatives by y
#pragma unroll
			for (int k = 0; k < 2; k++) {
				d[k] = product(bend, product(p[i], p[k]));
				if (k == i) d[k] = plus(d[k], radial);
				d[k] = ratio(product(scale, d[k]), depth);
			}
			d[2] = ratio(product(scale, product(stretch, p[i])), depth);
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

// Threads of a block that observes. Twice as many would use half of the registers of a
// multiprocessor, as a thread needs 160 or more over float64.
constexpr int observers = 128; // as in camera.go

// A Pair is the bits of two numbers.
template <class T> struct PairOf { typedef u64 type __attribute__((ext_vector_type(2))); };
template <> struct PairOf<float> { typedef unsigned type __attribute__((ext_vector_type(2))); };
template <class T> using Pair = typename PairOf<T>::type;

// fetch copies the cameras of the threads of a warp to shared memory, and returns that of a thread. As
// they are anywhere, neighbouring threads load neighbouring pairs of numbers of a camera: if each
// loaded its own, each load would go to 32 places.
template <int numbers, class T> INLINE const Camera<T> &fetch(T *room, const Camera<T> *cameras, int camera) {
	constexpr int pairs = numbers / 2, some = 4; // loads at once
	int lane = (int)threadX() % lanes;
	Pair<T> *to = (Pair<T> *)room;
	warpBarrier();
#pragma unroll 1
	for (int begin = 0; begin < pairs; begin += some) { // the last ones twice, if they are not as many
		Pair<T> v[some];
		int at[some];
#pragma unroll
		for (int l = 0; l < some; l++) {
			int e = (begin + l < pairs ? begin + l : pairs - 1) * lanes + lane;
			i64 c = __nvvm_shfl_sync_idx_i32(-1, camera, e / pairs, 31);
			v[l] = ((const Pair<T> *)(cameras + c))[e % pairs];
			at[l] = e / pairs * pairs + e % pairs;
		}
#pragma unroll
		for (int l = 0; l < some; l++) to[at[l]] = v[l];
	}
	warpBarrier();
	return *(const Camera<T> *)(room + lane * numbers);
}

// fetchRow does so for rows of a matrix, whose numbers may lie anywhere.
template <int count, class T> INLINE const T *fetchRow(T *room, const T *from, i64 down, int row) {
	constexpr int apart = count | 1; // odd, to avoid conflicts of banks
	int lane = (int)(threadX() % lanes);
	warpBarrier();
#pragma unroll 3
	for (int l = 0; l < count; l++) {
		int e = l * lanes + lane;
		i64 r = __nvvm_shfl_sync_idx_i32(-1, row, e / count, 31);
		room[e / count * apart + e % count] = from[r * down + e % count];
	}
	warpBarrier();
	return room + lane * apart;
}

// A Stage has room in shared memory for what half the observations of a warp store.
constexpr int half = lanes / 2;
template <class T, bool weighted> struct Stage {
	T room[half * (2 * Term<T, weighted>::columns | 1)];
};

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
enum { nothing, jacobians, cotangents, tangents };

// observe makes the passes without second derivatives for the n observations. It adds residuals
// times the sign. It stores the Jacobian in rows, and the derivatives of z in dz. Or it adds to
// the cotangents d of weights and features, and stores what an observation adds to its camera
// and point in a row of rows. Or it adds the tangents of residuals, for the tangents d, times the
// sign.
template <class T, bool weighted, int what>
INLINE void observe(i64 n, i64 sign, const Camera<T> *cameras, const int *camera, const int *point, const Operands<T> &k, const Operands<T> &d, T *rows, i64 down, T *dz, i64 dzInc) {
	constexpr int params = Term<T, weighted>::params, columns = Term<T, weighted>::columns;
	constexpr int numbers = what == nothing ? projectionNumbers : cameraNumbers;
	alignas(16) SHARED T rooms[observers / lanes][lanes * numbers]; // for cameras, and then for rows
	T *room = rooms[threadX() / lanes];
	for (i64 begin = warpFirst(); begin < n; begin += step()) {
		i64 i = begin + threadX() % lanes;
		Term<T, weighted> e;
		T row[1][params + 3];
		// All that an observation reads is on its way at once.
		i64 now = i < n ? i : n - 1, p = point[now];
		int c = camera[now];
		T w = weighted ? k.weights[now * k.weightsInc] : number<T>(1);
		T x[3], f[2] = {k.features[now * k.featuresDown], k.features[now * k.featuresDown + 1]};
		for (int l = 0; l < 3; l++) x[l] = k.points[p * k.pointsDown + l];
		const T *direction = nullptr; // of the camera
		const Camera<T> &own = fetch<numbers>(room, cameras, c);
		if constexpr (what == tangents) {
			SHARED T directions[observers / lanes][lanes * (params | 1)];
			direction = d.cameras ? fetchRow<params>(directions[threadX() / lanes], d.cameras, d.camerasDown, c) : nullptr;
		}
		if (i < n) {
			e.observe(own, x, w, f, what != nothing);
			T slope = -plus(w, w); // of z
			if (weighted && k.z) addSigned(k.z[i * k.zInc], sign, minus(number<T>(1), product(w, w)));
#pragma unroll
			for (int r = 0; r < 2; r++) {
				if (k.r) addSigned(k.r[(2 * i + r) * k.rInc], sign, e.r[r]);
			}
			if constexpr (what == jacobians) {
				if (dz) dz[i * dzInc] = slope;
			}
			if constexpr (what == tangents) {
#pragma unroll
				for (int r = 0; r < 2; r++) {
					if (!d.r) continue;
					T s = number<T>(0);
					if (direction) {
#pragma unroll
						for (int l = 0; l < params; l++) s = plus(s, product(e.j[r][l], direction[l]));
					}
					if (d.points) {
#pragma unroll
						for (int l = 0; l < 3; l++) s = plus(s, product(e.j[r][params + l], d.points[p * d.pointsDown + l]));
					}
					if (weighted && d.weights) s = plus(s, product(e.j[r][columns - 1], d.weights[i * d.weightsInc]));
					if (d.features) {
						T v = d.features[i * d.featuresDown + r];
						s = minus(s, weighted ? product(w, v) : v);
					}
					addSigned(d.r[(2 * i + r) * d.rInc], sign, s);
				}
				if (weighted && d.z && d.weights) addSigned(d.z[i * d.zInc], sign, product(slope, d.weights[i * d.weightsInc]));
			}
			if constexpr (what == cotangents) {
				if (d.r) {
					T gr[2] = {d.r[2 * i * d.rInc], d.r[(2 * i + 1) * d.rInc]};
					if (rows) {
#pragma unroll
						for (int l = 0; l < params + 3; l++) row[0][l] = plus(product(e.j[0][l], gr[0]), product(e.j[1][l], gr[1]));
					}
					if (weighted && d.weights) {
						T s = plus(product(e.j[0][columns - 1], gr[0]), product(e.j[1][columns - 1], gr[1]));
						addSigned(d.weights[i * d.weightsInc], 1, s);
					}
					if (d.features) {
						for (int r = 0; r < 2; r++) addSigned(d.features[i * d.featuresDown + r], -1, weighted ? product(w, gr[r]) : gr[r]);
					}
				}
				if (weighted && d.z && d.weights) addSigned(d.weights[i * d.weightsInc], 1, product(slope, d.z[i * d.zInc]));
			}
		}
		if (what == jacobians || (what == cotangents && rows)) warpBarrier(); // no thread reads its camera any more
		if constexpr (what == jacobians) storeRows(rows + 2 * begin * down, down, n - begin, e.j, room);
		if constexpr (what == cotangents) {
			if (rows) storeRows(rows + begin * (params + 3), params + 3, n - begin, row, room);
		}
	}
}

// observeSecond adds the tangents of the cotangents in the direction t, as observe adds the
// cotangents g.
template <class T, bool weighted>
INLINE void observeSecond(i64 n, const Camera<Dual<T>> *cameras, const int *camera, const int *point, const Operands<T> &k, const Operands<T> &g, const Operands<T> &t, const Operands<T> &gt, T *rows) {
	typedef Dual<T> N;
	SHARED Stage<T, weighted> stages[observers / lanes];
	for (i64 begin = warpFirst(); begin < n; begin += step()) {
		i64 i = begin + threadX() % lanes;
		constexpr int params = Term<N, weighted>::params;
		T row[1][params + 3];
		if (i < n) {
			Term<N, weighted> e;
			i64 p = point[i];
			N w = number<N>(1), x[3], f[2], gr[2];
			if (weighted) w = N{k.weights[i * k.weightsInc], at(t.weights, i * t.weightsInc)};
			for (int d = 0; d < 3; d++) x[d] = N{k.points[p * k.pointsDown + d], at(t.points, p * t.pointsDown + d)};
			for (int d = 0; d < 2; d++) {
				f[d] = N{k.features[i * k.featuresDown + d], at(t.features, i * t.featuresDown + d)};
				gr[d] = N{at(g.r, (2 * i + d) * g.rInc), at(gt.r, (2 * i + d) * gt.rInc)};
			}
			e.observe(cameras[camera[i]], x, w, f, true);
			if (rows) {
#pragma unroll
				for (int l = 0; l < params + 3; l++) row[0][l] = plus(product(e.j[0][l], gr[0]).d, product(e.j[1][l], gr[1]).d);
			}
			if (weighted && gt.weights) {
				N z = N{at(g.z, i * g.zInc), at(gt.z, i * gt.zInc)};
				T s = product(w, z).d;
				s = minus(plus(product(e.j[0][e.columns - 1], gr[0]).d, product(e.j[1][e.columns - 1], gr[1]).d), plus(s, s));
				addSigned(gt.weights[i * gt.weightsInc], 1, s);
			}
			if (gt.features) {
				for (int d = 0; d < 2; d++) addSigned(gt.features[i * gt.featuresDown + d], -1, weighted ? product(w, gr[d]).d : gr[d].d);
			}
		}
		if (rows) storeRows(rows + begin * (params + 3), params + 3, n - begin, row, stages[threadX() / lanes].room);
	}
}

// gatherRows adds the rows of the observations list[ptr[i]], ..., from column from on, to row i
// of to. Neighbouring threads have neighbouring columns. For each column, `slots` threads share the
// observations, and the first of them adds up what they have, in their order.
template <class T> INLINE void gatherRows(T *to, i64 down, i64 n, i64 cols, const T *rows, i64 width, i64 from, const int *ptr, const int *list, i64 slots) {
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
			for (i64 e = ptr[i] + slot; e < end; e += slots) s.add(rows[list[e] * width + from + c]);
		}
		if (slots > 1) {
			sums[t] = s;
			barrier();
			if (in && slot == 0) {
				for (int l = 1; l < slots; l++) s.add(sums[t + l * cols]);
			}
			barrier();
		}
		if (in && slot == 0) addSigned(to[i * down + c], 1, s.value());
	}
}

#define OPERANDS(T, x) T *x##R, i64 x##RInc, T *x##Z, i64 x##ZInc, T *x##C, i64 x##CDown, T *x##P, i64 x##PDown, T *x##W, i64 x##WInc, T *x##F, i64 x##FDown
#define OF(T, x) Operands<T>{x##R, x##Z, x##C, x##P, x##W, x##F, x##RInc, x##ZInc, x##CDown, x##PDown, x##WInc, x##FDown}

// As many blocks fit on a multiprocessor by their registers.
#define BOUND(resident) __attribute__((launch_bounds(observers, resident)))
#define OBSERVED(T) i64 n, i64 sign, const Camera<T> *cameras, const int *camera, const int *point, OPERANDS(T, k)
#define OBSERVE(T) n, sign, cameras, camera, point, OF(T, k)
#define MODEL(T, model, weighted, name, resident, most) \
	KERNEL BOUND(most) project##model##name(OBSERVED(T)) { observe<T, weighted, nothing>(OBSERVE(T), {}, nullptr, 0, nullptr, 0); } \
	KERNEL BOUND(most / 2) jacobian##model##name(OBSERVED(T), T *j, i64 down, T *dz, i64 dzInc) { observe<T, weighted, jacobians>(OBSERVE(T), {}, j, down, dz, dzInc); } \
	KERNEL BOUND(resident) cotangents##model##name(OBSERVED(T), OPERANDS(T, g), T *rows) { observe<T, weighted, cotangents>(OBSERVE(T), OF(T, g), rows, 0, nullptr, 0); } \
	KERNEL BOUND(resident) tangents##model##name(OBSERVED(T), OPERANDS(T, t)) { observe<T, weighted, tangents>(OBSERVE(T), OF(T, t), nullptr, 0, nullptr, 0); } \
	KERNEL second##model##name(i64 n, const Camera<Dual<T>> *cameras, const int *camera, const int *point, OPERANDS(T, k), OPERANDS(T, g), OPERANDS(T, t), OPERANDS(T, gt), T *rows) { \
		observeSecond<T, weighted>(n, cameras, camera, point, OF(T, k), OF(T, g), OF(T, t), OF(T, gt), rows); \
	}
#define KERNELS(T, name, ofSnavely, ofWeighted, ofBoth) \
	KERNEL setCameras##name(Camera<T> *to, i64 n, i64 weighted, const T *x, i64 down) { setCameras(to, n, weighted, x, down); } \
	KERNEL setDualCameras##name(Camera<Dual<T>> *to, i64 n, i64 weighted, const T *x, i64 down, const T *t, i64 downT) { setDualCameras(to, n, weighted, x, down, t, downT); } \
	KERNEL gatherRows##name(T *to, i64 down, i64 n, i64 cols, const T *rows, i64 width, i64 from, const int *ptr, const int *list, i64 slots) { gatherRows(to, down, n, cols, rows, width, from, ptr, list, slots); } \
	MODEL(T, Snavely, false, name, ofSnavely, ofBoth) \
	MODEL(T, Weighted, true, name, ofWeighted, ofBoth)
KERNELS(double, F64, 4, 3, 8)
KERNELS(float, F32, 4, 4, 8)
KERNELS(Q43, Q43, 2, 2, 4)
