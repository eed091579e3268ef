// The quadratic forms and the moments of Gaussian mixtures in up to 64 dimensions, on the tensor
// cores for double. kernels/mixture.cu has the equations.
//
// A warp has a component, and all that it needs of it in registers: the triangle of Q, or that of the
// moments. It goes over points without shared memory and without a barrier. The warps of a block
// have neighbouring components and the same points, which they find in the first cache. The registers
// leave room for 8 warps on a multiprocessor, which suffice: the products of a tile do not depend on
// each other, and each load is for the next tile.
//
// Points are packed in tiles of 8 points and 8 coordinates, first all those of the same points, with
// zeros after their d coordinates, and zeros as points up to a multiple of 8. A side is how many
// coordinates they have then: 16, 32 or 64. A block of a triangle has 16 rows and 8 columns.
#include "number.h"

#ifndef HOPPER
#define TENSOR(name) name##F64
#else
#define TENSOR(name) name##HopperF64
#endif

constexpr int tile = 8, tall = 2 * tile;

// d += a·b for tiles of 8×8 elements. Lane i has a[l] in row i/4 and column i%4 + 4·l, b[l] in row i%4 + 4·l
// and column i/4, and d[l] in row i/4 and column 2·(i%4) + l (PTX ISA, Matrix Fragments for mma.m8n8k4
// with .f64).
INLINE void multiply(double (&d)[2], const double (&a)[2], const double (&b)[2]) {
#pragma unroll
	for (int l = 0; l < 2; l++) {
		asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a[l]), "d"(b[l]));
	}
}

// The same for two tiles a, one below the other. The cards of HOPPER have an instruction for that,
// and are twice as fast with it.
INLINE void multiply(double (&d)[2][2], const double (&a)[2][2], const double (&b)[2]) {
#ifdef HOPPER
	asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1]) : "d"(a[0][0]), "d"(a[1][0]), "d"(a[0][1]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
#else
	multiply(d[0], a[0], b);
	multiply(d[1], a[1], b);
#endif
}

struct alignas(16) Pair {
	double v[2];
};
DEVICE Pair load(const double *from) { return *(const Pair *)from; }

// A Place is what a warp does: a component and a part of the points.
struct Place {
	int lane, i, j; // lane/4 and lane%4
	i64 component, part;
	DEVICE Place() : component(first() / lanes), part(blockY()) {
		lane = (int)threadX() % lanes;
		i = lane / 4;
		j = lane % 4;
	}
};

// packPoints packs n points, and zeros up to a number of tiles.
template <int side> INLINE void packPoints(double *to, i64 tiles, const double *x, i64 downX, i64 n, i64 d) {
	for (i64 e = first(); e < tiles * tile * side; e += step()) {
		i64 i = e / (tile * side) * tile + e / tile % tile, j = e / (tile * tile) * tile % side + e % tile;
		to[e] = i < n && j < d ? x[i * downX + j] : 0;
	}
}

// A Centre has the mean of the component of each warp, with zeros.
template <int side> struct alignas(16) Centre {
	double of[maxThreads / lanes][side];
	INLINE const double *set(const Place &at, const double *mean, i64 d) {
		double *to = of[threadX() / lanes];
		for (int j = at.lane; j < side; j += lanes) to[j] = j < d ? mean[j] : 0;
		warpBarrier();
		return to;
	}
};

// score sets β of a batch of n points. A warp has `each` tiles of points. The terms that the
// instruction calls j and j + 4 are those of columns 2·j and 2·j + 1, so that a lane loads two
// neighbours.
template <int side> INLINE void score(double *beta, const double *x, i64 n, i64 d, const double *q, const double *bias, const double *means, i64 downMeans, i64 comps, i64 each) {
	constexpr int blocks = side / tall, tiles = side / tile;
	SHARED Centre<side> centres;
	Place at;
	i64 k = at.component, begin = at.part * each, end = (n + tile - 1) / tile;
	if (k >= comps || begin >= end) return;
	if (end > begin + each) end = begin + each;
	const double *centre = centres.set(at, means + k * downMeans, d) + 2 * at.j;
	q += k * d * d;
	double a[blocks][tiles][2][2];
#pragma unroll
	for (int u = 0; u < blocks; u++) {
#pragma unroll
		for (int t = 0; t <= 2 * u + 1; t++) {
#pragma unroll
			for (int e = 0; e < 4; e++) {
				i64 row = tall * u + tile * (e / 2) + at.i, column = tile * t + 2 * at.j + e % 2;
				a[u][t][e / 2][e % 2] = row < d && column < d ? q[row * d + column] : 0;
			}
		}
	}
	const double *from = x + begin * tile * side + 2 * at.lane;
	Pair b[tiles];
#pragma unroll
	for (int t = 0; t < tiles; t++) b[t] = load(from + tile * tile * t);
	double extra = bias[k];
	for (i64 p = begin; p < end; p++) {
		if (p + 1 < end) from += tile * side;
		double y[blocks][2][2] = {};
#pragma unroll
		for (int t = 0; t < tiles; t++) {
			Pair m = load(centre + tile * t);
			double c[2] = {b[t].v[0] - m.v[0], b[t].v[1] - m.v[1]};
			b[t] = load(from + tile * tile * t);
#pragma unroll
			for (int u = t / 2; u < blocks; u++) {
				if (t == 2 * u + 1) multiply(y[u][1], a[u][t][1], c); // the tile above is above the diagonal
				else multiply(y[u], a[u][t], c);
			}
		}
#pragma unroll
		for (int e = 0; e < 2; e++) {
			double s = 0;
#pragma unroll
			for (int u = 0; u < tiles; u++) s = __builtin_elementwise_fma(y[u / 2][u % 2][e], y[u / 2][u % 2][e], s);
			for (int mask = 4; mask < lanes; mask *= 2) s += across(s, mask);
			i64 point = tile * p + 2 * at.j + e;
			if (at.i == 0 && point < n) beta[k * n + point] = extra - s / 2;
		}
	}
}

// addMoments adds, for the component and the part of the points of a warp, to W = Σ r, Σ r·c and
// the triangle of Σ r·c·cᵀ, with c = x - μ. A part has W, the D sums and the D×D sums of each component.
// Of 16 coordinates, the first tile has the even ones, and the second has the odd ones, so that a
// lane loads two neighbours.
template <int side> INLINE void addMoments(double *sums, const double *r, const double *x, i64 n, i64 d, i64 comps, const double *means, i64 downMeans) {
	constexpr int blocks = side / tall, tiles = side / tile;
	SHARED Centre<side> centres;
	Place at;
	i64 k = at.component, all = (n + tile - 1) / tile;
	i64 parts = blocksY();
	if (k >= comps) return;
	int begin = (int)(all * at.part / parts), end = (int)(all * (at.part + 1) / parts);
	if (begin == end) return;
	const double *centre = centres.set(at, means + k * downMeans, d) + 2 * at.i;
	double m1[tiles] = {}, m[blocks][tiles][2][2] = {}, w = 0;
	const double *from = x + (i64)begin * tile * side + at.i / 4 * tile * tile + at.j * tile + at.i % 4 * 2;
	r += k * n;
	Pair b[blocks][2];
	double next[2];
	int point = begin * tile + at.j;
	auto fetch = [&](int u) __attribute__((always_inline)) {
#pragma unroll
		for (int l = 0; l < 2; l++) b[u][l] = load(from + tall * tile * u + 4 * tile * l);
	};
	auto fetchWeights = [&]() __attribute__((always_inline)) {
#pragma unroll
		for (int l = 0; l < 2; l++) next[l] = point + 4 * l < n ? r[point + 4 * l] : 0;
	};
#pragma unroll
	for (int u = 0; u < blocks; u++) fetch(u);
	fetchWeights();
	for (int p = begin; p < end; p++) {
		double weight[2] = {next[0], next[1]}, c[tiles][2];
		if (p + 1 < end) {
			point += tile;
			from += tile * side;
		}
		fetchWeights();
		w += weight[0] + weight[1];
#pragma unroll
		for (int u = 0; u < blocks; u++) {
			Pair mean = load(centre + tall * u);
			double a[2][2];
#pragma unroll
			for (int e = 0; e < 4; e++) {
				c[2 * u + e / 2][e % 2] = b[u][e % 2].v[e / 2] - mean.v[e / 2];
				a[e / 2][e % 2] = weight[e % 2] * c[2 * u + e / 2][e % 2];
			}
			fetch(u);
#pragma unroll
			for (int h = 0; h < 2; h++) m1[2 * u + h] += a[h][0] + a[h][1];
#pragma unroll
			for (int t = 0; t <= 2 * u; t++) multiply(m[u][t], a, c[t]);
			multiply(m[u][2 * u + 1][1], a[1], c[2 * u + 1]); // the tile above is the transpose of one on the left
		}
	}
	double *to = sums + (at.part * comps + at.component) * (1 + d + d * d);
	for (int mask = 1; mask < 4; mask *= 2) {
		w += across(w, mask);
#pragma unroll
		for (int u = 0; u < tiles; u++) m1[u] += across(m1[u], mask);
	}
	if (at.lane == 0) to[0] += w;
#pragma unroll
	for (int u = 0; u < blocks; u++) {
#pragma unroll
		for (int h = 0; h < 2; h++) {
			int row = tall * u + 2 * at.i + h;
			if (at.j == 0 && row < d) to[1 + row] += m1[2 * u + h];
#pragma unroll
			for (int t = h == 0 ? 2 * u : 2 * u + 1; t >= 0; t--) {
#pragma unroll
				for (int e = 0; e < 2; e++) {
					int column = tall * (t / 2) + 2 * (2 * at.j + e) + t % 2;
					if (row < column && t == 2 * u + h) continue; // the lane of the transpose has it, too
					int low = row < column ? column : row, left = row < column ? row : column;
					if (low < d) to[1 + d + low * d + left] += m[u][t][h][e];
				}
			}
		}
	}
}

#define ALONE __attribute__((launch_bounds(maxThreads, 1)))
#define KERNELS(side) \
	KERNEL TENSOR(packPoints##side)(double *to, i64 tiles, const double *x, i64 downX, i64 n, i64 d) { packPoints<side>(to, tiles, x, downX, n, d); } \
	KERNEL ALONE TENSOR(tensorScore##side)(double *beta, const double *x, i64 n, i64 d, const double *q, const double *bias, const double *means, i64 downMeans, i64 comps, i64 each) { \
		score<side>(beta, x, n, d, q, bias, means, downMeans, comps, each); \
	} \
	KERNEL ALONE TENSOR(tensorMoments##side)(double *sums, const double *r, const double *x, i64 n, i64 d, i64 comps, const double *means, i64 downMeans) { \
		addMoments<side>(sums, r, x, n, d, comps, means, downMeans); \
	}
KERNELS(16)
KERNELS(32)
KERNELS(64)
