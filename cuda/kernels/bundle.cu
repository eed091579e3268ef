// A step of bundle adjustment, in the arithmetic of revmodels/ba, whose normal.go and
// conjugate.go have the equations.
//
// An observation has two rows of twelve derivatives: F by the nine parameters of its camera,
// and E by the three coordinates of its point. They are not stored: each kernel computes them again from the
// camera and the point, whose numbers caches hold.
//
// Observations are in the order of their points: those of point q are start[q], ..., start[q+1]-1. Camera c has
// the observations list[ptr[c]], ..., list[ptr[c+1]-1], and seen has their points at the same places. A thread does a
// point, and a block does a camera: it adds in the order of a tree, which depends on the number of observations alone.
//
// Null slopes stand for ones. A camera with the number 1 in held does not change its focal length.
#include "function.h"

constexpr int blockThreads = 128; // of a camera, and for kernels with rows of points, as in bundlepoints.go
constexpr int shortThreads = 64; // of blocks of the reduced system, as in bundlereduced.go
constexpr int params = 9, focal = 6;
constexpr int triangle = params * (params + 1) / 2;
constexpr int blockLen = 88; // of a block of U, as in package block9

// A camera has the rotation R by rows, t, f, k₁, k₂, and K of the rotation. Where it moves, it has its motion instead of K.
constexpr int cameraLen = 24, shift = 9, length = 12, bend = 13, left = 15;
// A point has its coordinates, z = L⁻ᵀw or (V + Q)⁻¹·Eᵀ·F·x, and L⁻¹.
constexpr int pointLen = 12, back = 3, factor = 6;

#define BOUND(resident) __attribute__((launch_bounds(blockThreads, resident)))

// element is the place of element (i, j) of a lower triangle by rows.
constexpr int element(int i, int j) { return i * (i + 1) / 2 + j; }

typedef double Pair __attribute__((ext_vector_type(2)));

DEVICE int laneOf() { return (int)(threadX() % lanes); }

// load loads the numbers of a row, two at a time.
template <int n> INLINE void load(double (&to)[n], const double *from) {
#pragma unroll
	for (int k = 0; k < n / 2; k++) {
		Pair p = ((const Pair *)from)[k];
		to[2 * k] = p.x;
		to[2 * k + 1] = p.y;
	}
}

// fetch copies rows of `length` numbers to rows in shared memory, one for each lane of a warp. Neighbouring lanes
// load neighbouring pairs of numbers: if each loaded its own row, each load would go to 32 places. The distance
// of rows avoids conflicts of banks. All lanes wait before and after.
constexpr int apartFor(int length) { return length + 2; }
template <int length> INLINE void fetch(double *to, const double *rows, int row) {
	constexpr int pairs = length / 2, loads = pairs, some = 6; // some of these at once
	constexpr int cycle = 3, skip = cycle * lanes / pairs; // after these, a lane has the same pair of another row
	static_assert(loads % some == 0 && some % cycle == 0 && skip * pairs == cycle * lanes);
	int lane = laneOf(), which[cycle], pair[cycle];
#pragma unroll
	for (int l = 0; l < cycle; l++) which[l] = (l * lanes + lane) / pairs, pair[l] = (l * lanes + lane) % pairs;
	warpBarrier();
#pragma unroll 1
	for (int begin = 0; begin < loads; begin += some) {
		Pair v[some];
#pragma unroll
		for (int l = 0; l < some; l++) {
			i64 i = __nvvm_shfl_sync_idx_i32(-1, row, which[l % cycle] + (begin + l) / cycle * skip, 31);
			v[l] = ((const Pair *)(rows + length * i))[pair[l % cycle]];
		}
#pragma unroll
		for (int l = 0; l < some; l++) {
			*(Pair *)(to + (which[l % cycle] + (begin + l) / cycle * skip) * apartFor(length) + pair[l % cycle] * 2) = v[l];
		}
	}
	warpBarrier();
}

// turn returns R·x for the rotation R of a camera c, and turnBack adds Rᵀ·x to y.
INLINE void turn(double (&y)[3], const double *c, const double *x) {
#pragma unroll
	for (int k = 0; k < 3; k++) y[k] = fma(c[3 * k + 2], x[2], fma(c[3 * k + 1], x[1], c[3 * k] * x[0]));
}
INLINE void turnBack(double (&y)[3], const double *c, const double (&x)[3]) {
#pragma unroll
	for (int k = 0; k < 3; k++) y[k] = fma(c[6 + k], x[2], fma(c[3 + k], x[1], fma(c[k], x[0], y[k])));
}

// cross adds element k of x×y to z.
INLINE double cross(const double (&x)[3], const double (&y)[3], int k, double z) {
	int l = (k + 1) % 3, m = (k + 2) % 3;
	return fma(x[l], y[m], fma(-x[m], y[l], z));
}

// rotated adds element k of Kᵀ·(x, y, z) of a camera c to s.
INLINE double rotated(const double *c, double x, double y, double z, int k, double s) {
	return fma(c[left + 6 + k], z, fma(c[left + 3 + k], y, fma(c[left + k], x, s)));
}

// A View has the derivatives of an observation times its slope. The camera turns the point x to q = R·x, and sees y = q + t
// at p = -(y₀, y₁)/y₂. The residual has the derivative D by y, and so
//
//	E = D·R,  F = ((q×D)·K, D, ...),
//
// where q×D has the products with both rows of D, and the derivatives by f, k₁ and k₂ are multiples of p. All of
// a camera have the same K. Sums of products of F cannot leave it to their end: a column of (q×D)·K may be zero where q×D is
// large, and KᵀSK of a rounded sum S is then not positive.
struct View {
	double q[3], d[2][3], p[2], radial, byFirst, bySecond; // p is times the slope
	INLINE View(const double *c, const double *x, double slope) {
		turn(q, c, x);
		double over = 1 / -(q[2] + c[shift + 2]), u = (q[0] + c[shift]) * over, v = (q[1] + c[shift + 1]) * over;
		double f = c[length], k1 = c[bend], k2 = c[bend + 1], square = fma(u, u, v * v), part = fma(k2, square, k1);
		radial = fma(part, square, 1);
		double scale = slope * f * over, bent = 2 * fma(k2, square, part), x0 = scale * bent * u, x1 = scale * bent * v;
		d[0][0] = fma(x0, u, scale * radial);
		d[0][1] = d[1][0] = x0 * v;
		d[1][1] = fma(x1, v, scale * radial);
		scale *= fma(bent, square, radial);
		d[0][2] = scale * u;
		d[1][2] = scale * v;
		p[0] = slope * u;
		p[1] = slope * v;
		byFirst = f * square;
		bySecond = byFirst * square;
	}
	// column returns a column of F for the camera c.
	INLINE void column(double (&f)[2], const double *c, int l) const {
#pragma unroll
		for (int k = 0; k < 2; k++) {
			if (l < 3) {
				f[k] = rotated(c, cross(q, d[k], 0, 0), cross(q, d[k], 1, 0), cross(q, d[k], 2, 0), l, 0);
			} else if (l < focal) {
				f[k] = d[k][l - 3];
			} else {
				f[k] = (l == focal ? radial : l == focal + 1 ? byFirst : bySecond) * p[k];
			}
		}
	}
	// along returns F·x of a camera with the motion m, minus D·b.
	INLINE void along(double (&y)[2], const double *m, const double (&b)[3]) const {
		double turning[3] = {m[0], m[1], m[2]}, u[3], i = fma(bySecond, m[8], fma(byFirst, m[7], radial * m[6]));
#pragma unroll
		for (int k = 0; k < 3; k++) u[k] = cross(turning, q, k, m[3 + k]) - b[k];
#pragma unroll
		for (int k = 0; k < 2; k++) y[k] = fma(d[k][0], u[0], fma(d[k][1], u[1], fma(d[k][2], u[2], p[k] * i)));
	}
	// byPlace returns Dᵀ·y.
	INLINE void byPlace(double (&g)[3], double y0, double y1) const {
#pragma unroll
		for (int k = 0; k < 3; k++) g[k] = fma(d[0][k], y0, d[1][k] * y1);
	}
	// add adds Fᵀ·y to s, for the camera c.
	INLINE void add(double *s, const double *c, double y0, double y1) const {
		double g[3], i = fma(p[0], y0, p[1] * y1);
		byPlace(g, y0, y1);
#pragma unroll
		for (int k = 0; k < 3; k++) {
			s[k] = rotated(c, cross(q, g, 0, 0), cross(q, g, 1, 0), cross(q, g, 2, 0), k, s[k]);
			s[3 + k] += g[k];
		}
		s[6] = fma(radial, i, s[6]);
		s[7] = fma(byFirst, i, s[7]);
		s[8] = fma(bySecond, i, s[8]);
	}
	// solve computes H = L⁻¹·Eᵀ, 3×2, for the camera c and the L⁻¹ of the point.
	INLINE void solve(double (&h)[3][2], const double *c, const double *l) const {
#pragma unroll
		for (int k = 0; k < 2; k++) {
			double e[3] = {};
			turnBack(e, c, d[k]);
			h[0][k] = l[0] * e[0];
			h[1][k] = fma(l[1], e[0], l[2] * e[1]);
			h[2][k] = fma(l[3], e[0], fma(l[4], e[1], l[5] * e[2]));
		}
	}
};

// lowerOf returns the element (k, l) of a symmetric matrix with the lower triangle s by rows.
INLINE double lowerOf(const double *s, int k, int l) { return k < l ? s[l * (l + 1) / 2 + k] : s[k * (k + 1) / 2 + l]; }

// placeOf is the place of an element (k, l) of a block. isHeld reports whether camera c keeps its focal length.
DEVICE int placeOf(int k, int l) { return l < 8 ? 8 * k + l : 72 + k; }
DEVICE bool isHeld(const double *held, i64 c) { return held[c] == 1; }

// motionOf returns the motion of a camera c for a step x of its parameters: K·x of the rotation, and x.
INLINE void motionOf(double (&m)[params], const double *c, const double *x, bool held) {
#pragma unroll
	for (int k = 0; k < 3; k++) m[k] = fma(c[left + 3 * k + 2], x[2], fma(c[left + 3 * k + 1], x[1], c[left + 3 * k] * x[0]));
#pragma unroll
	for (int k = 3; k < params; k++) m[k] = k == focal && held ? 0 : x[k];
}

// bundleSetCameras computes cameras from rows with the parameters and the coefficients a, b and c of the
// rotation r, as setCameras of camera.cu stores them: R = I + a·[r] + b·[r]² and K = I + b·[r] + c·[r]², where [r]·x = r×x.
KERNEL bundleSetCameras(double *to, const double *from, i64 n) {
	constexpr int row = params + 3;
	for (i64 i = first(); i < n; i += step()) {
		const double *p = from + row * i;
		double *c = to + cameraLen * i;
		for (int which = 0; which < 2; which++) {
			double *m = c + which * left, a = p[params + which], b = p[params + which + 1];
			double x = a * p[0], y = a * p[1], z = a * p[2], xy = b * p[0] * p[1], xz = b * p[0] * p[2], yz = b * p[1] * p[2];
			double xx = b * p[0] * p[0], yy = b * p[1] * p[1], zz = b * p[2] * p[2];
			m[0] = 1 - (yy + zz);
			m[1] = xy - z;
			m[2] = xz + y;
			m[3] = xy + z;
			m[4] = 1 - (xx + zz);
			m[5] = yz - x;
			m[6] = xz - y;
			m[7] = yz + x;
			m[8] = 1 - (xx + yy);
		}
		for (int k = 3; k < params; k++) c[shift + k - 3] = p[k];
	}
}

// bundleMove sets cameras that move by x.
KERNEL bundleMove(double *to, const double *cameras, const double *held, const double *x, i64 n) {
	for (i64 i = first(); i < n; i += step()) {
		const double *c = cameras + cameraLen * i;
		double m[params];
		motionOf(m, c, x + params * i, isHeld(held, i));
		for (int k = 0; k < left; k++) to[cameraLen * i + k] = c[k];
#pragma unroll
		for (int k = 0; k < params; k++) to[cameraLen * i + left + k] = m[k];
	}
}

// The losses of package ba.
enum { squares, huber, cauchy, tukey };

// rho returns ρ(s), and its derivative as slope.
DEVICE double rho(i64 loss, double scale, double s, double &slope) {
	double b = scale * scale;
	slope = 1;
	switch (loss) {
	case huber:
		if (s > b) {
			double r = root(s);
			slope = scale / r;
			return 2 * scale * r - b;
		}
		break;
	case cauchy: {
		double u = s / b, v = 1 + u;
		slope = 1 / v;
		// log(1+u): v is 1+u rounded, and the rest is added in first order.
		return b * (v > 0x1p1023 ? log(v) : log(v) + (u - (v - 1)) / v);
	}
	case tukey: {
		if (s > b) {
			slope = 0;
			return b / 3;
		}
		double u = s / b;
		slope = (1 - u) * (1 - u);
		return s * (1 - u + u * u / 3);
	}
	}
	return s;
}

// to_i = ½ρ(‖r_i‖²).
KERNEL bundleLosses(double *to, const double *r, i64 n, i64 loss, double scale) {
	for (i64 i = first(); i < n; i += step()) {
		double slope;
		to[i] = rho(loss, scale, r[2 * i] * r[2 * i] + r[2 * i + 1] * r[2 * i + 1], slope) / 2;
	}
}

// to_i = √ρ'(‖r_i‖²), by which it multiplies the residuals.
KERNEL bundleSlopes(double *to, double *r, i64 n, i64 loss, double scale) {
	for (i64 i = first(); i < n; i += step()) {
		double slope, x = r[2 * i], y = r[2 * i + 1];
		rho(loss, scale, x * x + y * y, slope);
		to[i] = slope = root(slope);
		r[2 * i] = slope * x;
		r[2 * i + 1] = slope * y;
	}
}

// A Rows has rows of a block's threads.
template <int length> struct alignas(16) Rows {
	double of[blockThreads][apartFor(length)];
	INLINE double *warp() { return of[threadX() / lanes * lanes]; }
	INLINE const double *own() const { return of[threadX()]; }
};

// eachOfPoint calls f(c, i, slope) for the observations i of point q, with their cameras c. A thread does a point, if there are
// as many, and the threads of a warp go on until all are done.
template <class F>
INLINE void eachOfPoint(Rows<cameraLen> &rows, const double *cameras, const double *slopes, const int *start, const int *camera, i64 q, i64 points, F f) {
	int i = q < points ? start[q] : 0, count = q < points ? start[q + 1] - i : 0, most = count;
	for (int mask = lanes / 2; mask > 0; mask /= 2) {
		int other = crossed(most, mask);
		most = most > other ? most : other;
	}
	int next = count > 0 ? camera[i] : 0; // on its way while a thread is at the one before
	for (int k = 0; k < most; k++) {
		int c = next;
		if (k + 1 < count) next = camera[i + k + 1];
		fetch<cameraLen>(rows.warp(), cameras, c);
		if (k < count) f(rows.own(), (i64)i + k, slopes ? slopes[i + k] : 1);
	}
}

// bundleLinearise computes the lower triangle of V = EᵀE and Eᵀr of each point, and sets its coordinates x. Points with the
// number 1 in fixed have zeros.
KERNEL BOUND(5) bundleLinearise(double *v, double *g, double *at, const double *cameras, const double *x, const double *slopes, const double *r, const int *start, const int *camera, i64 points, const int *fixed) {
	SHARED Rows<cameraLen> rows;
	for (i64 begin = first() - threadX() % lanes; begin < points; begin += step()) {
		i64 q = begin + threadX() % lanes;
		double a[6] = {}, b[3] = {}, own[3] = {};
		for (int k = 0; k < 3 && q < points; k++) at[pointLen * q + k] = own[k] = x[3 * q + k];
		eachOfPoint(rows, cameras, slopes, start, camera, q, points, [&](const double *c, i64 i, double slope) __attribute__((always_inline)) {
			Pair residual = *(const Pair *)(r + 2 * i);
			View o(c, own, slope);
#pragma unroll
			for (int k = 0; k < 2; k++) {
				double e[3] = {};
				turnBack(e, c, o.d[k]);
#pragma unroll
				for (int m = 0; m < 3; m++) {
#pragma unroll
					for (int l = 0; l <= m; l++) a[element(m, l)] = fma(e[m], e[l], a[element(m, l)]);
					b[m] = fma(e[m], residual[k], b[m]);
				}
			}
		});
		if (q >= points) continue;
		bool moves = !(fixed && fixed[q]);
		for (int k = 0; k < 6; k++) v[6 * q + k] = moves ? a[k] : 0;
		for (int k = 0; k < 3; k++) g[3 * q + k] = moves ? b[k] : 0;
	}
}

// blockSums returns the sums of the s of all threads of a block. Its memory is used again by
// the next call.
template <int n> INLINE const double *blockSums(double (&s)[n]) {
	SHARED double parts[blockThreads / lanes][n], total[n];
#pragma unroll
	for (int k = 0; k < n; k++) {
		s[k] = warpSum(Sum<double>{s[k]}).v;
		if (threadX() % lanes == 0) parts[threadX() / lanes][k] = s[k];
	}
	barrier();
	for (i64 k = threadX(); k < n; k += threads()) {
		double t = parts[0][k];
		for (i64 w = 1; w < threads() / lanes; w++) t += parts[w][k];
		total[k] = t;
	}
	barrier();
	return total;
}

// eachOfCamera calls f(c, q, i, slope) for the observations i of camera number `camera`, with its numbers c and the first `count`
// numbers q of their points. A block does a camera. It keeps c in shared memory, and reads it again for each
// observation, as registers have sums.
template <int count, class F>
INLINE void eachOfCamera(const double *cameras, const double *points, const double *slopes, const int *ptr, const int *list, const int *seen, i64 camera, F f) {
	SHARED double own[cameraLen];
	barrier(); // none reads the one before
	if (threadX() < cameraLen) own[threadX()] = cameras[cameraLen * camera + threadX()];
	barrier();
	int end = ptr[camera + 1], e = ptr[camera] + (int)threadX(), nextOne = 0, nextPoint = 0; // on their way while a thread is at those before
	if (e < end) nextOne = list[e], nextPoint = seen[e];
#pragma unroll 1
	for (int begin = e - laneOf(); begin < end; begin += (int)threads()) {
		i64 i = nextOne;
		double q[count];
		load(q, points + pointLen * (i64)nextPoint);
		bool in = e < end;
		if ((e += (int)threads()) < end) nextOne = list[e], nextPoint = seen[e];
		warpBarrier(); // the camera is read again
		if (in) f(own, q, i, slopes ? slopes[i] : 1);
	}
}

// bundleCameras computes the block of U = FᵀF and Fᵀr of each camera. A thread has 54 sums, so that
// there are few warps.
KERNEL BOUND(2) bundleCameras(double *u, double *g, const double *cameras, const double *held, const double *points, const double *slopes, const double *r, const int *ptr, const int *list, const int *seen, i64 n) {
	for (i64 c = blockX(); c < n; c += blocks()) {
		double s[triangle + params] = {};
		eachOfCamera<4>(cameras, points, slopes, ptr, list, seen, c, [&](const double *camera, const double *q, i64 i, double slope) __attribute__((always_inline)) {
			Pair b = *(const Pair *)(r + 2 * i);
			View o(camera, q, slope);
			double f[params][2];
#pragma unroll
			for (int k = 0; k < params; k++) {
				o.column(f[k], camera, k);
				s[triangle + k] = fma(f[k][0], b.x, fma(f[k][1], b.y, s[triangle + k]));
#pragma unroll
				for (int l = 0; l <= k; l++) s[element(k, l)] = fma(f[k][0], f[l][0], fma(f[k][1], f[l][1], s[element(k, l)]));
			}
		});
		const double *t = blockSums(s);
		bool hold = isHeld(held, c);
		for (int i = (int)threadX(); i < params * params; i += (int)threads()) {
			int k = i / params, l = i % params;
			u[blockLen * c + placeOf(k, l)] = hold && (k == focal || l == focal) ? 0 : lowerOf(t, k, l);
		}
		for (int k = (int)threadX(); k < params; k += (int)threads()) g[params * c + k] = hold && k == focal ? 0 : t[triangle + k];
	}
}

// bundleScale computes the squares of the scales 1/(1 + √d) of the columns of points, where d is
// the diagonal of V.
KERNEL bundleScale(double *scale, const double *v, i64 points) {
	for (i64 q = first(); q < points; q += step()) {
		for (int k = 0; k < 3; k++) {
			double s = 1 / (1 + root(v[6 * q + element(k, k)]));
			scale[3 * q + k] = s * s;
		}
	}
}

// damping returns what a radius adds to an element d of the diagonal of V. It is finite.
DEVICE double damping(double d, double scale, double radius) {
	double x = d * scale;
	if (x < 1e-6) x = 1e-6;
	if (x > 1e32) x = 1e32;
	return x / radius / scale;
}

// bundleEliminate computes of each point L⁻¹, with L·Lᵀ = V + Q for the damping Q of the
// radius, w = -L⁻¹Eᵀr, and z = L⁻ᵀw. Where V + Q is not positive definite, failed is 1.
KERNEL bundleEliminate(double *at, double *wto, double *failed, const double *v, const double *g, const double *scale, i64 points, const int *fixed, double radius) {
	for (i64 q = first(); q < points; q += step()) {
		double l[6] = {}, w[3] = {}, z[3] = {};
		bool ok = true;
		if (!(fixed && fixed[q])) {
			const double *a = v + 6 * q, *b = g + 3 * q;
			double d[3];
			for (int k = 0; k < 3; k++) d[k] = damping(a[element(k, k)], scale[3 * q + k], radius);
			double p0 = a[0] + d[0], r0 = root(p0), x = a[1] / r0, y = a[3] / r0;
			double p1 = a[2] + d[1] - x * x, r1 = root(p1), f = (a[4] - y * x) / r1;
			double p2 = a[5] + d[2] - y * y - f * f;
			ok = p0 > 0 && p1 > 0 && p2 > 0 && p0 + p1 + p2 < infinity;
			r0 = 1 / r0;
			r1 = 1 / r1;
			double r2 = 1 / root(p2);
			l[0] = r0;
			l[2] = r1;
			l[5] = r2;
			l[1] = -(x * r0) * r1;
			l[4] = -(f * r1) * r2;
			l[3] = -(y * r0 + f * l[1]) * r2;
			w[0] = -(l[0] * b[0]);
			w[1] = -(l[1] * b[0]) - l[2] * b[1];
			w[2] = -(l[3] * b[0]) - l[4] * b[1] - l[5] * b[2];
			z[0] = l[0] * w[0] + l[1] * w[1] + l[3] * w[2];
			z[1] = l[2] * w[1] + l[4] * w[2];
			z[2] = l[5] * w[2];
		}
		for (int k = 0; k < 6; k++) at[pointLen * q + factor + k] = l[k];
		for (int k = 0; k < 3; k++) {
			wto[3 * q + k] = w[k];
			at[pointLen * q + back + k] = z[k];
		}
		failed[q] = ok ? 0 : 1;
	}
}

// gather adds Eᵀ·F·x to t, for an observation of the point x by a camera c that moves.
INLINE void gather(double (&t)[3], const double *c, const double (&x)[3], double slope) {
	View o(c, x, slope);
	double y[2], g[3], none[3] = {};
	o.along(y, c + left, none);
	o.byPlace(g, y[0], y[1]);
	turnBack(t, c, g);
}

// bundleSolvePoints computes z = (V + Q)⁻¹·Eᵀ·F·x of each point, for cameras that move.
KERNEL BOUND(5) bundleSolvePoints(double *at, const double *moving, const double *slopes, const int *start, const int *camera, i64 points) {
	SHARED Rows<cameraLen> rows;
	for (i64 begin = first() - threadX() % lanes; begin < points; begin += step()) {
		i64 q = begin + threadX() % lanes;
		double t[3] = {}, own[3] = {};
		for (int k = 0; k < 3 && q < points; k++) own[k] = at[pointLen * q + k];
		eachOfPoint(rows, moving, slopes, start, camera, q, points, [&](const double *c, i64, double slope) __attribute__((always_inline)) { gather(t, c, own, slope); });
		if (q >= points) continue;
		const double *l = at + pointLen * q + factor;
		double a = l[0] * t[0], b = l[1] * t[0] + l[2] * t[1], c = l[3] * t[0] + l[4] * t[1] + l[5] * t[2], *z = at + pointLen * q + back;
		z[0] = l[0] * a + l[1] * b + l[3] * c;
		z[1] = l[2] * b + l[4] * c;
		z[2] = l[5] * c;
	}
}

// bundleProduct computes Fᵀ(F·x - E·z) - g of each camera, for x of all cameras and z of all
// points. A null x or g stands for zeros.
KERNEL BOUND(5) bundleProduct(double *to, const double *cameras, const double *held, const double *points, const double *slopes, const double *x, const double *g, const int *ptr, const int *list, const int *seen, i64 n) {
	for (i64 c = blockX(); c < n; c += blocks()) {
		const double *own = cameras + cameraLen * c;
		bool hold = isHeld(held, c);
		double s[params] = {}, m[params] = {};
		if (x) motionOf(m, own, x + params * c, hold);
		eachOfCamera<6>(cameras, points, slopes, ptr, list, seen, c, [&](const double *camera, const double *q, i64, double slope) __attribute__((always_inline)) {
			View o(camera, q, slope);
			double y[2], b[3];
			turn(b, camera, q + back);
			o.along(y, m, b);
			o.add(s, camera, y[0], y[1]);
		});
		const double *t = blockSums(s);
		for (int k = (int)threadX(); k < params; k += (int)threads()) {
			double v = hold && k == focal ? 0 : t[k];
			to[params * c + k] = g ? v - g[params * c + k] : v;
		}
	}
}

// bundleDiagonal computes U - Σ GᵀG of each camera, over its observations, with G = L⁻¹·EᵀF.
KERNEL BOUND(2) bundleDiagonal(double *to, const double *u, const double *cameras, const double *held, const double *points, const double *slopes, const int *ptr, const int *list, const int *seen, i64 n) {
	for (i64 c = blockX(); c < n; c += blocks()) {
		double s[triangle] = {};
		eachOfCamera<pointLen>(cameras, points, slopes, ptr, list, seen, c, [&](const double *camera, const double *q, i64, double slope) __attribute__((always_inline)) {
			View o(camera, q, slope);
			double h[3][2], f[params][2];
			o.solve(h, camera, q + factor);
#pragma unroll
			for (int k = 0; k < params; k++) o.column(f[k], camera, k);
#pragma unroll
			for (int m = 0; m < 3; m++) {
				double g[params]; // a row of G
#pragma unroll
				for (int k = 0; k < params; k++) g[k] = fma(h[m][0], f[k][0], h[m][1] * f[k][1]);
#pragma unroll
				for (int k = 0; k < params; k++) {
#pragma unroll
					for (int l = 0; l <= k; l++) s[element(k, l)] = fma(g[k], g[l], s[element(k, l)]);
				}
			}
		});
		const double *t = blockSums(s);
		bool hold = isHeld(held, c);
		for (int i = (int)threadX(); i < params * params; i += (int)threads()) {
			int k = i / params, l = i % params;
			to[params * params * c + i] = u[blockLen * c + placeOf(k, l)] - (hold && (k == focal || l == focal) ? 0 : lowerOf(t, k, l));
		}
	}
}

// A Reduced is the reduced camera system S = U - Fᵀ·E·(V + Q)⁻¹·Eᵀ·F in blocks. Block (a, b) of cameras ends[2·block] and
// ends[2·block+1] has the pairs ptr[block], ..., ptr[block+1]-1 of different observations i of camera a and k of camera
// b that are of one point, which seen has. Each pair subtracts
//
//	F_iᵀ·M·F_k,  M = H_iᵀ·H_k,  H = L⁻¹·Eᵀ.
//
// The diagonal has U and what an observation subtracts with itself. Null slopes stand for ones; else pairs has i and k of each pair.
struct Reduced {
	double *to;
	const double *diagonal, *cameras, *held, *points, *slopes;
	const int *ends, *seen, *pairs;
	const i64 *ptr;

	// Sums are those of a block's pairs, in a thread. Registers have no room for the last two rows.
	constexpr static int kept = 7 * params, rest = params * params - kept;
	struct Sums {
		double s[kept], *others; // number k at others[lanes·k]
		INLINE Sums(double *room) : s{}, others(room + laneOf()) {
			for (int k = 0; k < rest; k++) others[lanes * k] = 0;
		}
		INLINE double &at(int k) { return k < kept ? s[k < kept ? k : 0] : others[lanes * (k - kept)]; }
		INLINE void all(double (&to)[params * params]) {
#pragma unroll
			for (int k = 0; k < params * params; k++) to[k] = at(k);
		}
	};

	// add adds pair e, whose point has the numbers q, to the sums.
	INLINE void add(Sums &s, const double *a, const double *b, const double *q, i64 e) const {
		View i(a, q, slopes ? slopes[pairs[2 * e]] * slopes[pairs[2 * e + 1]] : 1), k(b, q, 1);
		double h[3][2], g[3][2], z[params][2];
		i.solve(h, a, q + factor);
		k.solve(g, b, q + factor);
		double m[2][2];
#pragma unroll
		for (int r = 0; r < 2; r++) {
#pragma unroll
			for (int c = 0; c < 2; c++) m[r][c] = fma(h[0][r], g[0][c], fma(h[1][r], g[1][c], h[2][r] * g[2][c]));
		}
#pragma unroll
		for (int l = 0; l < params; l++) {
			double f[2];
			k.column(f, b, l);
#pragma unroll
			for (int r = 0; r < 2; r++) z[l][r] = fma(m[r][0], f[0], m[r][1] * f[1]);
		}
#pragma unroll
		for (int r = 0; r < params; r++) {
			double f[2];
			i.column(f, a, r);
#pragma unroll
			for (int l = 0; l < params; l++) s.at(params * r + l) = fma(f[0], z[l][0], fma(f[1], z[l][1], s.at(params * r + l)));
		}
	}

	// element returns number i of the block (a, b), for the sum s of its pairs. What belongs to a focal length that is held is zero.
	INLINE double element(const double *s, int i, int a, int b, bool heldA, bool heldB) const {
		if (i >= params * params) return 0; // pads a block
		int k = i < 72 ? i / 8 : i - 72, l = i < 72 ? i % 8 : 8;
		double v = (k == focal && heldA) || (l == focal && heldB) ? 0 : s[params * k + l];
		return a == b ? diagonal[params * params * (i64)a + params * k + l] - v : -v;
	}
};

#define REDUCED double *to, const double *diagonal, const double *cameras, const double *held, const double *points, const double *slopes, const int *ends, const int *seen, const int *pairs, const i64 *ptr, const int *list, i64 n
#define REDUCE Reduced system = {to, diagonal, cameras, held, points, slopes, ends, seen, pairs, ptr};

// bundleReduceShort computes the blocks of a list, in which negative numbers are no blocks. A thread does a block. Those of a warp have
// the same camera a, and about as many pairs. What they have goes through shared memory, two sectors of a block at a time, so
// that neighbouring threads store neighbours.
KERNEL __attribute__((launch_bounds(shortThreads, 4))) bundleReduceShort(REDUCED) {
	REDUCE
	constexpr int part = 8, stage = part | 1, row = apartFor(cameraLen), other = apartFor(pointLen);
	static_assert(stage <= other);
	alignas(16) SHARED double rooms[shortThreads / lanes][lanes * (row + other)];
	SHARED double rests[shortThreads / lanes][Reduced::rest * lanes];
	int lane = laneOf();
	double *room = rooms[threadX() / lanes], *places = room + lanes * row;
	for (i64 begin = first() - lane; begin < n; begin += step()) {
		int block = list[begin + lane], a = ends[2 * list[begin]], b = block < 0 ? a : ends[2 * block + 1];
		const double *own = cameras + cameraLen * (i64)a, *seeing = room + lane * row;
		fetch<cameraLen>(room, cameras, b);
		i64 e = block < 0 ? 0 : ptr[block];
		int count = block < 0 ? 0 : (int)(ptr[block + 1] - e), turns = count;
		for (int mask = lanes / 2; mask > 0; mask /= 2) {
			int more = crossed(turns, mask);
			turns = turns > more ? turns : more;
		}
		Reduced::Sums sums(rests[threadX() / lanes]);
		int next = count > 0 ? seen[e] : 0; // on its way while a thread is at the one before
#pragma unroll 1
		for (int k = 0; k < turns; k++) {
			int q = next;
			if (k + 1 < count) next = seen[e + k + 1];
			fetch<pointLen>(places, points, q);
			if (k < count) system.add(sums, own, seeing, places + lane * other, e + k);
		}
		double s[params * params];
		sums.all(s);
		bool heldA = isHeld(held, a), heldB = isHeld(held, b);
#pragma unroll
		for (int p = 0; p < blockLen / part; p++) {
			warpBarrier(); // points, or what was here, are read
#pragma unroll
			for (int i = 0; i < part; i++) places[lane * stage + i] = system.element(s, part * p + i, a, b, heldA, heldB);
			warpBarrier();
#pragma unroll
			for (int i = lane; i < lanes * part; i += lanes) {
				int from = i / part, of = __nvvm_shfl_sync_idx_i32(-1, block, from, 31);
				if (of >= 0) to[blockLen * (i64)of + part * p + i % part] = places[from * stage + i % part];
			}
		}
	}
}

// bundleReduceLong computes the blocks of a list. A block of threads does one.
KERNEL BOUND(2) bundleReduceLong(REDUCED) {
	REDUCE
	SHARED Rows<pointLen> places;
	SHARED double rests[blockThreads / lanes][Reduced::rest * lanes];
	for (i64 at = blockX(); at < n; at += blocks()) {
		int block = list[at], a = ends[2 * block], b = ends[2 * block + 1];
		SHARED double rows[2][cameraLen]; // which registers have no room for
		barrier(); // none reads those before
		if (threadX() < cameraLen) {
			rows[0][threadX()] = cameras[cameraLen * (i64)a + threadX()];
			rows[1][threadX()] = cameras[cameraLen * (i64)b + threadX()];
		}
		barrier();
		const double *own = rows[0], *other = rows[1];
		Reduced::Sums sums(rests[threadX() / lanes]);
		i64 end = ptr[block + 1], e = ptr[block] + threadX();
		int next = e < end ? seen[e] : 0; // on its way while a thread is at the one before
#pragma unroll 1
		for (i64 from = e - laneOf(); from < end; from += threads()) {
			int q = next;
			if (e + threads() < end) next = seen[e + threads()];
			fetch<pointLen>(places.warp(), points, q);
			if (e < end) system.add(sums, own, other, places.own(), e);
			e += threads();
		}
		double s[params * params];
		sums.all(s);
		const double *t = blockSums(s);
		bool heldA = isHeld(held, a), heldB = isHeld(held, b);
		for (int i = (int)threadX(); i < blockLen; i += (int)threads()) to[blockLen * (i64)block + i] = system.element(t, i, a, b, heldA, heldB);
	}
}

// bundleStep computes the step of each point for cameras that move, the points of the
// trial, and by how much the model lowers the cost.
KERNEL BOUND(5) bundleStep(double *to, double *trial, double *gain, const double *moving, const double *points, const double *slopes, const double *r, const double *w, const int *start, const int *camera, i64 n) {
	SHARED Rows<cameraLen> rows;
	for (i64 begin = first() - threadX() % lanes; begin < n; begin += step()) {
		i64 q = begin + threadX() % lanes;
		double t[3] = {}, s[3] = {}, own[3] = {}, sum = 0;
		for (int k = 0; k < 3 && q < n; k++) own[k] = points[pointLen * q + k];
		eachOfPoint(rows, moving, slopes, start, camera, q, n, [&](const double *c, i64, double slope) __attribute__((always_inline)) { gather(t, c, own, slope); });
		if (q < n) {
			const double *l = points + pointLen * q + factor, *b = w + 3 * q;
			double a0 = b[0] - l[0] * t[0], a1 = b[1] - l[1] * t[0] - l[2] * t[1], a2 = b[2] - l[3] * t[0] - l[4] * t[1] - l[5] * t[2];
			s[0] = l[0] * a0 + l[1] * a1 + l[3] * a2;
			s[1] = l[2] * a1 + l[4] * a2;
			s[2] = l[5] * a2;
		}
		eachOfPoint(rows, moving, slopes, start, camera, q, n, [&](const double *c, i64 i, double slope) __attribute__((always_inline)) {
			View o(c, own, slope);
			double m[2], b[3], away[3] = {-s[0], -s[1], -s[2]};
			turn(b, c, away);
			o.along(m, c + left, b);
#pragma unroll
			for (int k = 0; k < 2; k++) sum -= m[k] * (r[2 * i + k] + m[k] / 2);
		});
		if (q >= n) continue;
		for (int k = 0; k < 3; k++) {
			to[3 * q + k] = s[k];
			trial[3 * q + k] = own[k] + s[k];
		}
		gain[q] = sum;
	}
}
