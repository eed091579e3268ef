// The quadratic forms and the moments of Gaussian mixtures in up to 64 dimensions, on the tensor
// cores for double. kernels/mixture.cu has the equations.
//
// A warp has a component, and all that it needs of it in registers: the triangle of Q, or that of the
// moments. It goes over points without shared memory and without a barrier. The warps of a block
// have neighbouring components and the same points, which they find in the first cache. The registers
// leave room for 8 warps on a multiprocessor, which suffice: the products of a tile do not depend on
// each other, and each load is for the next tile.
//
// Points are packed: `side` numbers each, with zeros after their d coordinates, and zeros as points
// up to a multiple of 8. A side is 16, 32 or 64. Tiles have 8 rows and columns.
#include "number.h"

constexpr int tile = 8;

// d += a·b for tiles of 8×4 and 4×8 elements, of which each lane has one, and of 8×8 elements, of
// which each has two (PTX ISA, Matrix Fragments for mma.m8n8k4 with .f64): lane i has a(i/4, i%4),
// b(i%4, i/4), d(i/4, 2·(i%4)) and the element after it.
INLINE void multiply(double (&d)[2], double a, double b) {
	asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
}

struct alignas(16) Pair {
	double v[2];
};
DEVICE Pair load(const double *from) { return *(const Pair *)from; }

// A Place is what a warp does: a component and a part of the points.
struct Place {
	int lane, row, column; // of elements in a tile: the lane has a(row, column)
	i64 component, part;
	DEVICE Place(i64 comps) {
		i64 warp = first() / lanes;
		lane = (int)threadX() % lanes;
		row = lane / 4;
		column = lane % 4;
		component = warp % comps;
		part = warp / comps;
	}
};

// packPoints packs n points as the first of rows.
template <int side> INLINE void packPoints(double *to, i64 rows, const double *x, i64 downX, i64 n, i64 d) {
	for (i64 e = first(); e < rows * side; e += step()) {
		i64 i = e / side, j = e % side;
		to[e] = i < n && j < d ? x[i * downX + j] : 0;
	}
}

// score sets β of a batch of n points. A warp has `each` tiles of points. Terms are added up in this
// order of columns: a product takes the even ones of 8, and the next takes the odd ones, so that a
// lane loads two neighbours.
template <int side> INLINE void score(double *beta, const double *x, i64 n, i64 d, const double *q, const double *bias, const double *means, i64 downMeans, i64 comps, i64 each) {
	constexpr int tiles = side / tile;
	alignas(16) SHARED double centres[maxThreads / lanes][side];
	Place at(comps);
	i64 k = at.component, begin = at.part * each, end = (n + tile - 1) / tile;
	if (begin >= end) return;
	if (end > begin + each) end = begin + each;
	double *centre = centres[threadX() / lanes];
	for (int j = at.lane; j < side; j += lanes) centre[j] = j < d ? means[k * downMeans + j] : 0;
	warpBarrier();
	q += k * d * d;
	double a[tiles][tiles][2];
#pragma unroll
	for (int i = 0; i < tiles; i++) {
#pragma unroll
		for (int t = 0; t <= i; t++) {
#pragma unroll
			for (int h = 0; h < 2; h++) {
				i64 u = tile * i + at.row, v = tile * t + 2 * at.column + h;
				a[i][t][h] = u < d && v < d ? q[u * d + v] : 0;
			}
		}
	}
	const double *from = x + (begin * tile + at.row) * side + 2 * at.column;
	Pair b[tiles];
#pragma unroll
	for (int t = 0; t < tiles; t++) b[t] = load(from + tile * t);
	double extra = bias[k];
	for (i64 p = begin; p < end; p++) {
		if (p + 1 < end) from += tile * side;
		double y[tiles][2] = {};
#pragma unroll
		for (int t = 0; t < tiles; t++) {
			Pair m = load(centre + tile * t + 2 * at.column), c = b[t];
			b[t] = load(from + tile * t);
#pragma unroll
			for (int h = 0; h < 2; h++) {
#pragma unroll
				for (int i = t; i < tiles; i++) multiply(y[i], a[i][t][h], c.v[h] - m.v[h]);
			}
		}
#pragma unroll
		for (int e = 0; e < 2; e++) {
			double s = 0;
#pragma unroll
			for (int i = 0; i < tiles; i++) s = __builtin_elementwise_fma(y[i][e], y[i][e], s);
			for (int mask = 4; mask < lanes; mask *= 2) s += across(s, mask);
			i64 point = tile * p + 2 * at.column + e;
			if (at.row == 0 && point < n) beta[k * n + point] = extra - s / 2;
		}
	}
}

// addMoments adds, for the component and the part of the points of a warp, to W = Σ r, Σ r·c and
// the triangle of Σ r·c·cᵀ, with c = x - μ. A part has W, the D sums and the D×D sums of each component.
// Tile 2i has the even columns of 16, and tile 2i+1 has the odd ones, so that a lane loads two
// neighbours.
template <int side> INLINE void addMoments(double *sums, const double *r, const double *x, i64 n, i64 d, i64 comps, i64 parts, const double *means, i64 downMeans) {
	constexpr int tiles = side / tile, depth = 4; // points of a product
	Place at(comps);
	i64 k = at.component, steps = (n + depth - 1) / depth;
	if (at.part >= parts) return;
	i64 begin = steps * at.part / parts, end = steps * (at.part + 1) / parts;
	if (begin == end) return;
	auto dim = [&](int i, int row) { return 2 * tile * (i / 2) + 2 * row + i % 2; };
	double mean[tiles], m1[tiles] = {}, m[tiles][tiles][2] = {}, w = 0;
#pragma unroll
	for (int i = 0; i < tiles; i++) mean[i] = dim(i, at.row) < d ? means[k * downMeans + dim(i, at.row)] : 0;
	i64 point = depth * begin + at.column;
	const double *from = x + point * side + 2 * at.row;
	r += k * n;
	Pair b[tiles / 2];
#pragma unroll
	for (int i = 0; i < tiles / 2; i++) b[i] = load(from + 2 * tile * i);
	double next = point < n ? r[point] : 0;
	for (i64 s = begin; s < end; s++) {
		double weight = next, c[tiles], a[tiles];
		if (s + 1 < end) {
			point += depth;
			from += depth * side;
		}
		next = point < n ? r[point] : 0;
#pragma unroll
		for (int i = 0; i < tiles; i += 2) {
			c[i] = b[i / 2].v[0] - mean[i];
			c[i + 1] = b[i / 2].v[1] - mean[i + 1];
			b[i / 2] = load(from + tile * i);
		}
		w += weight;
#pragma unroll
		for (int i = 0; i < tiles; i++) {
			a[i] = weight * c[i];
			m1[i] += a[i];
#pragma unroll
			for (int j = 0; j <= i; j++) multiply(m[i][j], a[i], c[j]);
		}
	}
	double *to = sums + (at.part * comps + k) * (1 + d + d * d);
	for (int mask = 1; mask < depth; mask *= 2) {
		w += across(w, mask);
#pragma unroll
		for (int i = 0; i < tiles; i++) m1[i] += across(m1[i], mask);
	}
	if (at.lane == 0) to[0] += w;
#pragma unroll
	for (int i = 0; i < tiles; i++) {
		if (at.column == 0 && dim(i, at.row) < d) to[1 + dim(i, at.row)] += m1[i];
#pragma unroll
		for (int j = 0; j <= i; j++) {
#pragma unroll
			for (int h = 0; h < 2; h++) {
				int u = dim(i, at.row), v = dim(j, 2 * at.column + h);
				if (u < v && i == j) continue; // the lane of (v, u) has it, too
				int low = u < v ? v : u, left = u < v ? u : v;
				if (low < d) to[1 + d + low * d + left] += m[i][j][h];
			}
		}
	}
}

#define KERNELS(side) \
	KERNEL packPoints##side##F64(double *to, i64 rows, const double *x, i64 downX, i64 n, i64 d) { packPoints<side>(to, rows, x, downX, n, d); } \
	KERNEL __attribute__((launch_bounds(maxThreads, 1))) tensorScore##side##F64(double *beta, const double *x, i64 n, i64 d, const double *q, const double *bias, const double *means, i64 downMeans, i64 comps, i64 each) { \
		score<side>(beta, x, n, d, q, bias, means, downMeans, comps, each); \
	} \
	KERNEL __attribute__((launch_bounds(maxThreads, 1))) tensorMoments##side##F64(double *sums, const double *r, const double *x, i64 n, i64 d, i64 comps, i64 parts, const double *means, i64 downMeans) { \
		addMoments<side>(sums, r, x, n, d, comps, parts, means, downMeans); \
	}
KERNELS(16)
KERNELS(32)
KERNELS(64)
