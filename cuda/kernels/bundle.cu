// A step of bundle adjustment, in the arithmetic of revmodels/ba, whose normal.go and
// conjugate.go have the equations.
//
// An observation has two rows of twelve derivatives: F by the nine parameters of its camera,
// and E by the three coordinates of its point. Observations are in the order of their points:
// those of point q are start[q], ..., start[q+1]-1. Camera c has the observations list[ptr[c]],
// ..., list[ptr[c+1]-1]. A thread does a point, and a block does a camera: it adds in the order
// of a tree, which depends on the number of observations alone.
#include "function.h"

constexpr int blockThreads = 128; // of a camera, and for kernels with rows of points, as in bundlepoints.go
constexpr int params = 9, coordinates = 3, row = params + coordinates, jacobian = 2 * row;
constexpr int triangle = params * (params + 1) / 2;
constexpr int blockLen = 88; // of a block of U, as in package block9

#define BOUND(resident) __attribute__((launch_bounds(blockThreads, resident)))

// element is the place of element (i, j) of a lower triangle by rows.
constexpr int element(int i, int j) { return i * (i + 1) / 2 + j; }

typedef double Pair __attribute__((ext_vector_type(2)));

// fetch copies the derivatives of observations to rows in shared memory. Each of the first `count`
// lanes of a warp has an observation. Neighbouring lanes load neighbouring pairs of numbers: if each
// loaded its own observation, each load would go to 32 places. The distance of rows avoids
// conflicts of banks. All lanes wait before and after.
constexpr int apart = jacobian + 2;
template <int count> INLINE void fetch(double *to, const double *j, int observation) {
	constexpr int pairs = jacobian / 2, some = 6, loads = count * pairs / lanes; // some of these at once
	constexpr int cycle = 3, skip = cycle * lanes / pairs; // after these, a lane has the same pair of another observation
	static_assert(loads % some == 0 && some % cycle == 0 && skip * pairs == cycle * lanes);
	int lane = (int)(threadX() % lanes), which[cycle], pair[cycle];
#pragma unroll
	for (int l = 0; l < cycle; l++) which[l] = (l * lanes + lane) / pairs, pair[l] = (l * lanes + lane) % pairs;
	warpBarrier();
#pragma unroll 1
	for (int begin = 0; begin < loads; begin += some) {
		Pair v[some];
#pragma unroll
		for (int l = 0; l < some; l++) {
			i64 i = __nvvm_shfl_sync_idx_i32(-1, observation, which[l % cycle] + (begin + l) / cycle * skip, 31);
			v[l] = ((const Pair *)(j + jacobian * i))[pair[l % cycle]];
		}
#pragma unroll
		for (int l = 0; l < some; l++) {
			*(Pair *)(to + (which[l % cycle] + (begin + l) / cycle * skip) * apart + pair[l % cycle] * 2) = v[l];
		}
	}
	warpBarrier();
}

// An Observation has the derivatives of an observation of a thread.
struct Observation {
	double d[jacobian];
	INLINE Observation(const double *from) {
#pragma unroll
		for (int k = 0; k < jacobian; k++) d[k] = from[k];
	}
};

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

// to_i = √ρ'(‖r_i‖²).
KERNEL bundleSlopes(double *to, const double *r, i64 n, i64 loss, double scale) {
	for (i64 i = first(); i < n; i += step()) {
		double slope;
		rho(loss, scale, r[2 * i] * r[2 * i] + r[2 * i + 1] * r[2 * i + 1], slope);
		to[i] = root(slope);
	}
}

// bundleWeigh multiplies the derivatives and the residuals of each observation by its slope.
KERNEL bundleWeigh(double *j, double *r, const double *slopes, i64 n) {
	for (i64 i = first(); i < jacobian * n; i += step()) j[i] *= slopes[i / jacobian];
	for (i64 i = first(); i < 2 * n; i += step()) r[i] *= slopes[i / 2];
}

// bundleLinearise computes the lower triangle of V = EᵀE and Eᵀr of each point. Points with the
// number 1 in fixed have zeros.
KERNEL bundleLinearise(const double *j, const double *r, double *v, double *g, const int *start, i64 points, const int *fixed) {
	for (i64 q = first(); q < points; q += step()) {
		double a[6] = {}, b[3] = {};
		for (i64 i = start[q]; i < start[q + 1]; i++) {
			const double *o = j + jacobian * i;
			Pair e = *(const Pair *)(r + 2 * i);
#pragma unroll
			for (int k = 0; k < 2; k++) {
				Pair yz = *(const Pair *)(o + row * k + 10);
				double x = o[row * k + 9], y = yz.x, z = yz.y;
				a[0] += x * x;
				a[1] += y * x;
				a[2] += y * y;
				a[3] += z * x;
				a[4] += z * y;
				a[5] += z * z;
				b[0] += x * e[k];
				b[1] += y * e[k];
				b[2] += z * e[k];
			}
		}
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

// A Rows has the rows of a block's threads.
struct alignas(16) Rows {
	double of[blockThreads][apart];
	INLINE double *warp() { return of[threadX() / lanes * lanes]; }
	INLINE const double *own() const { return of[threadX()]; }
};

// eachObservation calls f(o, i) for the observations i of camera c. A block does a camera.
template <class F> INLINE void eachObservation(Rows &rows, const double *j, const int *ptr, const int *list, i64 c, F f) {
	int end = ptr[c + 1];
	for (int begin = ptr[c] + (int)(threadX() / lanes * lanes); begin < end; begin += (int)threads()) {
		int e = begin + (int)(threadX() % lanes);
		int i = list[e < end ? e : end - 1];
		fetch<lanes>(rows.warp(), j, i);
		if (e < end) f(rows.own(), (i64)i);
	}
}

// bundleCameras computes the block of U = FᵀF and Fᵀr of each camera. A thread has 54 sums, so that
// there are few warps. It loads an observation of its own, with all loads on their way at once, which
// was faster on an H200 than to load those of a warp together.
KERNEL BOUND(2) bundleCameras(double *u, double *g, const double *j, const double *r, const int *ptr, const int *list, i64 cameras) {
	for (i64 c = blockX(); c < cameras; c += blocks()) {
		double s[triangle + params] = {};
		i64 end = ptr[c + 1], e = ptr[c] + threadX();
		int next = e < end ? list[e] : 0; // on its way while a thread is at the one before
		while (e < end) {
			i64 i = next;
			if ((e += threads()) < end) next = list[e];
			double d[jacobian];
#pragma unroll
			for (int k = 0; k < jacobian / 2; k++) {
				Pair p = ((const Pair *)(j + jacobian * i))[k];
				d[2 * k] = p.x;
				d[2 * k + 1] = p.y;
			}
			Pair b = *(const Pair *)(r + 2 * i);
#pragma unroll
			for (int k = 0; k < params; k++) {
#pragma unroll
				for (int l = 0; l <= k; l++) s[element(k, l)] += d[k] * d[l] + d[row + k] * d[row + l];
				s[triangle + k] += d[k] * b[0] + d[row + k] * b[1];
			}
		}
		const double *t = blockSums(s);
		for (i64 i = threadX(); i < params * params; i += threads()) {
			i64 k = i / params, l = i % params;
			u[blockLen * c + (l < 8 ? 8 * k + l : 72 + k)] = k < l ? t[l * (l + 1) / 2 + k] : t[k * (k + 1) / 2 + l];
		}
		for (i64 k = threadX(); k < params; k += threads()) g[params * c + k] = t[triangle + k];
	}
}

// bundleHold makes the derivatives by the focal length zero, for cameras with the number 1.
KERNEL bundleHold(double *j, const int *camera, i64 n, const double *held) {
	constexpr int focal = 6;
	for (i64 i = first(); i < n; i += step()) {
		if (held[camera[i]] == 1) j[jacobian * i + focal] = j[jacobian * i + row + focal] = 0;
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
KERNEL bundleEliminate(double *linv, double *wto, double *zto, double *failed, const double *v, const double *g, const double *scale, i64 points, const int *fixed, double radius) {
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
		for (int k = 0; k < 6; k++) linv[6 * q + k] = l[k];
		for (int k = 0; k < 3; k++) {
			wto[3 * q + k] = w[k];
			zto[3 * q + k] = z[k];
		}
		failed[q] = ok ? 0 : 1;
	}
}

// solvePoint computes H = L⁻¹·Eᵀ, 3×2, of an observation with the derivatives d.
DEVICE void solvePoint(double (&h)[3][2], const double *d, const double *l) {
#pragma unroll
	for (int k = 0; k < 2; k++) {
		const double *e = d + row * k + params;
		h[0][k] = l[0] * e[0];
		h[1][k] = l[1] * e[0] + l[2] * e[1];
		h[2][k] = l[3] * e[0] + l[4] * e[1] + l[5] * e[2];
	}
}

// along returns F·x, for row k of an observation with the derivatives d.
DEVICE double along(const double *d, int k, const double *x) {
	double y = 0;
#pragma unroll
	for (int l = 0; l < params; l++) y += d[row * k + l] * x[l];
	return y;
}

// alongPoint returns E·z in the same way.
DEVICE double alongPoint(const double *d, int k, const double *z) {
	const double *e = d + row * k + params;
	return e[0] * z[0] + e[1] * z[1] + e[2] * z[2];
}

// gather adds Eᵀ·F·x to t, for an observation of a camera with the parameters x.
DEVICE void gather(double (&t)[3], const double *d, const double *x) {
	double y0 = along(d, 0, x), y1 = along(d, 1, x);
#pragma unroll
	for (int k = 0; k < 3; k++) t[k] += d[params + k] * y0 + d[row + params + k] * y1;
}

// eachOfPoint calls f(d, i) for the observations i of point q. A thread does a point, if there are
// as many, and the threads of a warp go on until all are done.
template <class F> INLINE void eachOfPoint(Rows &rows, const double *j, const int *start, i64 q, i64 points, F f) {
	int i = q < points ? start[q] : 0, count = q < points ? start[q + 1] - i : 0, most = count;
	for (int mask = lanes / 2; mask > 0; mask /= 2) {
		int other = crossed(most, mask);
		most = most > other ? most : other;
	}
	for (int k = 0; k < most; k++) {
		bool in = k < count;
		fetch<lanes>(rows.warp(), j, in ? i + k : 0);
		if (in) f(rows.own(), (i64)i + k);
	}
}

// bundleSolvePoints computes z = (V + Q)⁻¹·Eᵀ·F·x of each point, for x of all cameras.
KERNEL BOUND(6) bundleSolvePoints(double *z, const double *j, const double *linv, const double *x, const int *start, const int *camera, i64 points) {
	SHARED Rows rows;
	for (i64 begin = first() - threadX() % lanes; begin < points; begin += step()) {
		i64 q = begin + threadX() % lanes;
		double t[3] = {};
		eachOfPoint(rows, j, start, q, points, [&](const double *d, i64 i) __attribute__((always_inline)) { gather(t, d, x + params * (i64)camera[i]); });
		if (q >= points) continue;
		const double *l = linv + 6 * q;
		double a = l[0] * t[0], b = l[1] * t[0] + l[2] * t[1], c = l[3] * t[0] + l[4] * t[1] + l[5] * t[2];
		z[3 * q] = l[0] * a + l[1] * b + l[3] * c;
		z[3 * q + 1] = l[2] * b + l[4] * c;
		z[3 * q + 2] = l[5] * c;
	}
}

// bundleProduct computes Fᵀ(F·x - E·z) - g of each camera, for x of all cameras and z of all
// points. A null x or g stands for zeros.
KERNEL BOUND(6) bundleProduct(double *to, const double *j, const double *x, const double *z, const double *g, const int *ptr, const int *list, const int *point, i64 cameras) {
	SHARED Rows rows;
	for (i64 c = blockX(); c < cameras; c += blocks()) {
		double s[params] = {};
		eachObservation(rows, j, ptr, list, c, [&](const double *d, i64 i) __attribute__((always_inline)) {
			const double *at = z + 3 * (i64)point[i];
			double y[2];
#pragma unroll
			for (int k = 0; k < 2; k++) y[k] = -alongPoint(d, k, at);
#pragma unroll
			for (int k = 0; k < 2; k++) y[k] += x ? along(d, k, x + params * c) : 0;
#pragma unroll
			for (int k = 0; k < params; k++) s[k] += d[k] * y[0] + d[row + k] * y[1];
		});
		const double *t = blockSums(s);
		for (i64 k = threadX(); k < params; k += threads()) to[params * c + k] = g ? t[k] - g[params * c + k] : t[k];
	}
}

// bundleDiagonal computes U - Σ GᵀG of each camera, over its observations, with G = L⁻¹·EᵀF.
KERNEL BOUND(2) bundleDiagonal(double *to, const double *u, const double *j, const double *linv, const int *ptr, const int *list, const int *point, i64 cameras) {
	SHARED Rows rows;
	for (i64 c = blockX(); c < cameras; c += blocks()) {
		double s[triangle] = {};
		eachObservation(rows, j, ptr, list, c, [&](const double *from, i64 i) __attribute__((always_inline)) {
			Observation o(from);
			const double *d = o.d;
			double h[3][2];
			solvePoint(h, d, linv + 6 * (i64)point[i]);
#pragma unroll
			for (int m = 0; m < 3; m++) {
				double g[params]; // a row of G
#pragma unroll
				for (int k = 0; k < params; k++) g[k] = h[m][0] * d[k] + h[m][1] * d[row + k];
#pragma unroll
				for (int k = 0; k < params; k++) {
#pragma unroll
					for (int l = 0; l <= k; l++) s[element(k, l)] += g[k] * g[l];
				}
			}
		});
		const double *t = blockSums(s);
		for (i64 i = threadX(); i < params * params; i += threads()) {
			i64 k = i / params, l = i % params;
			if (k < l) {
				i64 swap = k;
				k = l;
				l = swap;
			}
			to[params * params * c + i] = u[blockLen * c + (l < 8 ? 8 * k + l : 72 + k)] - t[k * (k + 1) / 2 + l];
		}
	}
}

// bundleReduce computes blocks of the reduced camera system S = U - Fᵀ·E·(V + Q)⁻¹·Eᵀ·F. A
// block (a, b) has the pairs list[2p], list[2p+1] of observations i of camera a and k of camera
// b that are of one point, for p = ptr[block], ..., ptr[block+1]-1. Each pair has
//
//	F_iᵀ·M·F_k,  M = H_iᵀ·H_k,  H = L⁻¹·Eᵀ.
//
// camera is a for a block (a, a), and else -1. The warps of a block of threads take some pairs in
// turn. Four threads compute the M of a pair. Then three groups of nine threads of the warp take
// pairs in turn. A thread has three rows and columns of a block. Only blocks of least to most pairs
// are computed, so that long ones get more warps.
template <int warps> INLINE void reduce(double *to, const double *u, const double *j, const double *linv, const int *point, const int *camera, const i64 *ptr, const int *list, i64 n, i64 least, i64 most) {
	constexpr int some = lanes / 4, groups = 3, side = 3;
	alignas(16) SHARED double rows[warps][2 * some][apart], products[warps][some][4];
	SHARED double factors[warps][some][6], parts[warps * groups][params * params];
	int lane = (int)(threadX() % lanes), warp = (int)(threadX() / lanes), group = lane / 9, k0 = lane % 9 / 3 * side, l0 = lane % 3 * side;
	for (i64 b = blockX(); b < n; b += blocks()) {
		i64 at = ptr[b], end = ptr[b + 1];
		if (end - at < least || end - at > most) continue;
		double s[side][side] = {};
		int pairs = (int)(end - at);
		for (int begin = warp * some; begin < pairs; begin += warps * some) {
			int count = pairs - begin < some ? pairs - begin : some;
			int observation = lane < 2 * count ? list[2 * (at + begin) + lane] : 0;
			int first = __nvvm_shfl_sync_idx_i32(-1, observation, 2 * lane % lanes, 31), q = lane < count ? point[first] : 0;
			fetch<2 * some>(rows[warp][0], j, observation);
			for (int e = lane; e < some * 6 + lanes / 2; e += lanes) {
				i64 of = __nvvm_shfl_sync_idx_i32(-1, q, e / 6 % some, 31);
				if (e < some * 6) factors[warp][e / 6][e % 6] = linv[6 * of + e % 6];
			}
			warpBarrier();
			const double *l = factors[warp][lane / 4];
			const double *d = rows[warp][lane / 4 * 2] + lane / 2 % 2 * row + params, *e = rows[warp][lane / 4 * 2 + 1] + lane % 2 * row + params;
			double x = l[0] * d[0] * (l[0] * e[0]);
			x = fma(fma(l[1], d[0], l[2] * d[1]), fma(l[1], e[0], l[2] * e[1]), x);
			x = fma(fma(l[3], d[0], fma(l[4], d[1], l[5] * d[2])), fma(l[3], e[0], fma(l[4], e[1], l[5] * e[2])), x);
			products[warp][lane / 4][lane % 4] = x;
			warpBarrier();
			for (int p = group; p < count && group < groups; p += groups) {
				const double *m = products[warp][p], *f = rows[warp][2 * p] + k0, *h = rows[warp][2 * p + 1] + l0;
#pragma unroll
				for (int k = 0; k < side; k++) {
					double y = fma(f[k], m[0], f[row + k] * m[2]), z = fma(f[k], m[1], f[row + k] * m[3]);
#pragma unroll
					for (int i = 0; i < side; i++) s[k][i] = fma(y, h[i], fma(z, h[row + i], s[k][i]));
				}
			}
			warpBarrier();
		}
		if (group < groups) {
#pragma unroll
			for (int k = 0; k < side * side; k++) parts[warp * groups + group][params * (k0 + k / side) + l0 + k % side] = s[k / side][k % side];
		}
		barrier();
		for (i64 i = threadX(); i < blockLen; i += warps * lanes) {
			double t = 0; // and what pads a block
			if (i < params * params) {
				i64 from = i < 72 ? params * (i / 8) + i % 8 : params * (i - 72) + 8;
				if (camera[b] >= 0) t = u[blockLen * (i64)camera[b] + i];
				double sum = parts[0][from];
				for (int w = 1; w < warps * groups; w++) sum += parts[w][from];
				t -= sum;
			}
			to[blockLen * b + i] = t;
		}
		barrier();
	}
}
// It has so many registers that 20 warps fit. That is said for blocks of two, as cards of compute
// capability 7.5 have at most 16 blocks on a multiprocessor.
KERNEL __attribute__((launch_bounds(2 * lanes, 10))) bundleReduceShort(double *to, const double *u, const double *j, const double *linv, const int *point, const int *camera, const i64 *ptr, const int *list, i64 n, i64 most) {
	reduce<1>(to, u, j, linv, point, camera, ptr, list, n, 0, most);
}
KERNEL BOUND(5) bundleReduceLong(double *to, const double *u, const double *j, const double *linv, const int *point, const int *camera, const i64 *ptr, const int *list, i64 n, i64 least) {
	reduce<blockThreads / lanes>(to, u, j, linv, point, camera, ptr, list, n, least, ~((u64)1 << 63));
}

// bundleStep computes the step of each point for the step x of all cameras, the points of the
// trial, and by how much the model lowers the cost.
KERNEL BOUND(6) bundleStep(double *to, double *trial, double *gain, const double *best, const double *j, const double *r, const double *linv, const double *w, const double *x, const int *start, const int *camera, i64 points) {
	SHARED Rows rows;
	for (i64 begin = first() - threadX() % lanes; begin < points; begin += step()) {
		i64 q = begin + threadX() % lanes;
		double t[3] = {}, s[3] = {}, sum = 0;
		eachOfPoint(rows, j, start, q, points, [&](const double *d, i64 i) __attribute__((always_inline)) { gather(t, d, x + params * (i64)camera[i]); });
		if (q < points) {
			const double *l = linv + 6 * q, *b = w + 3 * q;
			double a0 = b[0] - l[0] * t[0], a1 = b[1] - l[1] * t[0] - l[2] * t[1], a2 = b[2] - l[3] * t[0] - l[4] * t[1] - l[5] * t[2];
			s[0] = l[0] * a0 + l[1] * a1 + l[3] * a2;
			s[1] = l[2] * a1 + l[4] * a2;
			s[2] = l[5] * a2;
		}
		eachOfPoint(rows, j, start, q, points, [&](const double *d, i64 i) __attribute__((always_inline)) {
#pragma unroll
			for (int k = 0; k < 2; k++) {
				double m = alongPoint(d, k, s) + along(d, k, x + params * (i64)camera[i]);
				sum -= m * (r[2 * i + k] + m / 2);
			}
		});
		if (q >= points) continue;
		for (int k = 0; k < 3; k++) {
			to[3 * q + k] = s[k];
			trial[3 * q + k] = best[3 * q + k] + s[k];
		}
		gain[q] = sum;
	}
}
