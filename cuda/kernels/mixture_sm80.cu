// The quadratic forms and the moments of Gaussian mixtures in up to 64 dimensions, on the tensor
// cores for double. kernels/mixture.cu has the equations.
//
// A warp has a component, and all that it needs of it in registers: the triangle of Q, or that of the
// moments. The four warps of a block go over the same points, of which the block copies 32 at a time to shared
// memory while it uses those before. The registers leave room for two blocks on a multiprocessor, so that a
// scheduler has a warp of each, and one multiplies while the other waits at its barrier.
//
// A side is how many coordinates points have in shared memory: 16, 32 or 64, with zeros after their d. Points up to a
// multiple of 32 are zeros too.
#include "product.h"
#include "tensor.h"

constexpr int tile = 8, tall = 2 * tile, group = 32, blockThreads = 128;

struct alignas(16) Pair {
	double v[2];
};
DEVICE Pair load(const double *from) { return *(const Pair *)from; }

// A Place is what a warp does: a component and a part of the n points. After the last component a warp only copies.
struct Place {
	int warp, lane, i, j; // lane/4 and lane%4
	bool idle;
	i64 component, part;
	int begin, end; // the groups of the part
	DEVICE Place(i64 comps, i64 n) : warp((int)threadX() / lanes), lane((int)threadX() % lanes), i(lane / 4), j(lane % 4), component(first() / lanes), part(blockY()) {
		idle = component >= comps;
		if (idle) component = comps - 1;
		i64 groups = (n + group - 1) / group, parts = blocksY();
		begin = (int)(groups * part / parts), end = (int)(groups * (part + 1) / parts);
	}
};

// A Centre has the mean of the component of each warp, with zeros.
template <int side> struct alignas(16) Centre {
	double of[blockThreads / lanes][side];
	INLINE const double *set(const Place &at, const double *mean, i64 d) {
		double *to = of[at.warp];
		for (int j = at.lane; j < side; j += lanes) to[j] = j < d ? mean[j] : 0;
		warpBarrier();
		return to;
	}
};

// swizzled returns where coordinate c of point r of a group is. So a warp reads from all banks, whether its lanes read coordinates
// 2·j and 2·j + 1 of point i, or 2·i and 2·i + 1 of point j.
DEVICE constexpr int swizzled(int r, int c) { return c ^ ((r / 4 ^ r) % 2 * 8) ^ r / 2 % 2 * 4; }

// overGroups calls use with groups of points, from one to another. Also begins further copies that belong to a group. Prepare is called
// while the first group is on its way.
template <int side, class Also, class Prepare, class Use> INLINE void overGroups(const double *x, i64 downX, i64 n, i64 d, int begin, int end, Also also, Prepare prepare, Use use) {
	SHARED __attribute__((aligned(16))) double groups[2][group][side];
	constexpr int apart = blockThreads / side; // so that a thread has the same column of all points
	int row = (int)threadX() / side, column = (int)threadX() % side, to = row * side + swizzled(row, column);
	int left = column < d ? (int)n - group * begin - row : 0; // points from this one on
	const double *from = x + (group * begin + row) * downX + column;
	auto copy = [&](int g) __attribute__((always_inline)) {
#pragma unroll
		for (int u = 0; u < group; u += apart) {
			copyAsync<8>((double *)groups[g % 2] + u * side + (to ^ swizzled(u, 0)), from, u < left ? 8 : 0);
			from += apart * downX;
		}
		left -= group;
		also(g);
		endGroup();
	};
	copy(begin);
	prepare();
	for (int g = begin; g < end; g++) {
		waitGroups<0>();
		barrier(); // the group is there, and the one before was used
		if (g + 1 < end) copy(g + 1);
		use(groups[g % 2], g);
	}
}

// score sets β of a batch of n points. Factors of the instruction are 16 points
// and 8 rows of Q. The terms that it calls j and j + 4 are those of columns 2·j and 2·j + 1, so that a lane loads two
// neighbours.
template <int side> INLINE void score(double *beta, const double *x, i64 downX, i64 n, i64 d, const double *q, const double *bias, const double *means, i64 downMeans, i64 comps) {
	constexpr int tiles = side / tile, rows = tiles < 4 ? tiles : 4; // at a time, as far as the registers last
	SHARED Centre<side> centres;
	Place at(comps, n);
	if (at.begin == at.end) return;
	i64 k = at.component;
	const double *centre = centres.set(at, means + k * downMeans, d) + 2 * at.j;
	q += k * d * d;
	// Of 64 rows, the last 8 have 8 tiles. The last 6 of these are in shared memory: with fewer there, ptxas spills.
	constexpr int last = 64 / tile - 1, spares = 6, kept = last + 1 - spares;
	SHARED Pair rest[spares][blockThreads];
	auto spared = [](int r, int t) __attribute__((always_inline)) { return r == last && t >= kept; };
	auto spare = [&](int t) __attribute__((always_inline)) { return &rest[t < kept ? 0 : t - kept][threadX()]; };
	Pair b[tiles][tiles];
	auto prepare = [&]() __attribute__((always_inline)) {
#pragma unroll
		for (int r = 0; r < tiles; r++) {
#pragma unroll
			for (int t = 0; t <= r; t++) {
#pragma unroll
				for (int l = 0; l < 2; l++) {
					i64 row = tile * r + at.i, column = tile * t + 2 * at.j + l;
					b[r][t].v[l] = row < d && column < d ? q[row * d + column] : 0;
				}
				if (spared(r, t)) *spare(t) = b[r][t];
			}
		}
	};
	double extra = bias[k];
	double *to = beta + (k * n + group * at.begin + at.i + tile * at.j);
	int even = swizzled(at.i, 2 * at.j), odd = swizzled(at.i, tile + 2 * at.j) - tile; // of tiles, where their coordinates begin
	overGroups<side>(x, downX, n, d, at.begin, at.end, [](int) {}, prepare, [&](const double (*points)[side], int g) __attribute__((always_inline)) {
		if (at.idle) return;
		const double *first = (const double *)points + at.i * side, *from[2] = {first + even, first + odd};
#pragma unroll 1
		for (int left = (int)n - group * g - at.i - tile * at.j, p = 0; p < group; p += tall) {
			double s[2] = {};
#pragma unroll
			for (int low = 0; low < tiles; low += rows) {
				double y[rows][2][2] = {};
#pragma unroll
				for (int t = 0; t < low + rows; t++) {
					Pair m = load(centre + tile * t);
					double c[2][2];
#pragma unroll
					for (int h = 0; h < 2; h++) {
						Pair v = load(from[t % 2] + tile * (side * h + t));
						c[h][0] = v.v[0] - m.v[0], c[h][1] = v.v[1] - m.v[1];
					}
#pragma unroll
					for (int r = t < low ? low : t; r < low + rows; r++) {
						Pair v = spared(r, t) ? *spare(t) : b[r][t];
						multiply(y[r - low], c, v.v);
					}
				}
#pragma unroll
				for (int e = 0; e < 4 * rows; e++) {
					double v = y[e / 4][e / 2 % 2][e % 2];
					s[e / 2 % 2] = __builtin_elementwise_fma(v, v, s[e / 2 % 2]);
				}
			}
			for (int mask = 1; mask < 4; mask *= 2) s[0] += across(s[0], mask), s[1] += across(s[1], mask);
			if (at.j < 2 && p < left) *to = extra - (at.j ? s[1] : s[0]) / 2;
			to += tall;
			from[0] += tall * side, from[1] += tall * side;
		}
	});
}

// addMoments adds, for the component and the part of the points of a warp, to W = Σ r, Σ r·c and
// the triangle of Σ r·c·cᵀ, with c = x - μ. A part has W, the D sums and the D×D sums of each component.
// Of 16 coordinates, the first tile has the even ones, and the second has the odd ones, so that a
// lane loads two neighbours.
//
// A block of the triangle has two tiles below each other, 16u and on of the first factor, by a tile t of the second. Where t is
// 2u + 1, the upper one would be above the diagonal. Blocks of odd u therefore take other tiles, as Block says: those of u - 1 and u together
// leave none out and have none twice.
template <int side> struct Block {
	static constexpr bool alone = side == tall; // there is no u - 1
	// has reports whether there is a block.
	DEVICE static constexpr bool has(int u, int t) { return t <= 2 * u || (t == 2 * u + 1 && (u % 2 || alone)); }
	// row returns which tile of the first factor is in half h.
	DEVICE static constexpr int row(int u, int t, int h) {
		if (u % 2 && t == 2 * u - 1) return t + h;
		if (u % 2 && t == 2 * u + 1) return t - 2 * h;
		return 2 * u + h;
	}
};

template <int side> INLINE void addMoments(double *sums, const double *r, const double *x, i64 downX, i64 n, i64 d, i64 comps, const double *means, i64 downMeans) {
	constexpr int blocks = side / tall, tiles = side / tile;
	typedef Block<side> B;
	SHARED Centre<side> centres;
	SHARED double weights[2][blockThreads / lanes][group];
	SHARED Pair firsts[blocks][blockThreads]; // the sums of r·c of a lane, for which there are no registers
	Place at(comps, n);
	if (at.begin == at.end) return;
	i64 k = at.component;
	const double *centre = centres.set(at, means + k * downMeans, d) + 2 * at.i;
	double m[blocks][tiles][2][2] = {}, w = 0;
	r += k * n;
#pragma unroll
	for (int u = 0; u < blocks; u++) firsts[u][threadX()] = {};
	auto also = [&](int g) __attribute__((always_inline)) {
		int point = group * g + at.lane;
		copyAsync<8>(&weights[g % 2][at.warp][at.lane], r + point, point < n ? 8 : 0);
	};
	overGroups<side>(x, downX, n, d, at.begin, at.end, also, [] {}, [&](const double (*points)[side], int g) __attribute__((always_inline)) {
		if (at.idle) return;
		const double *weight = weights[g % 2][at.warp] + at.j;
		w += weights[g % 2][at.warp][at.lane];
#pragma unroll 1
		for (int p = 0; p < group; p += tile) {
			double f[2] = {weight[p], weight[p + 4]}, a[tiles][2], c[tiles][2];
#pragma unroll
			for (int u = 0; u < blocks; u++) {
				Pair mean = load(centre + tall * u);
#pragma unroll
				for (int l = 0; l < 2; l++) {
					int row = at.j + 4 * l;
					Pair v = load(points[p + row] + tall * u + swizzled(row, 2 * at.i));
#pragma unroll
					for (int h = 0; h < 2; h++) {
						c[2 * u + h][l] = v.v[h] - mean.v[h];
						a[2 * u + h][l] = f[l] * c[2 * u + h][l];
					}
				}
				Pair sum = firsts[u][threadX()];
#pragma unroll
				for (int h = 0; h < 2; h++) sum.v[h] += a[2 * u + h][0] + a[2 * u + h][1];
				firsts[u][threadX()] = sum;
#pragma unroll
				for (int t = 0; t < 2 * u + 2; t++) {
					if (!B::has(u, t)) continue;
					int up = B::row(u, t, 0), low = B::row(u, t, 1);
					double both[2][2] = {{a[up][0], a[up][1]}, {a[low][0], a[low][1]}};
					multiply(m[u][t], both, c[t]);
				}
			}
		}
	});
	if (at.idle) return;
	double *to = sums + (at.part * comps + k) * (1 + d + d * d);
	for (int mask = 1; mask < lanes; mask *= 2) w += across(w, mask);
	if (at.lane == 0) to[0] += w;
#pragma unroll
	for (int t = 0; t < tiles; t++) {
		double sum = firsts[t / 2][threadX()].v[t % 2];
		for (int mask = 1; mask < 4; mask *= 2) sum += across(sum, mask);
		int row = tall * (t / 2) + 2 * at.i + t % 2;
		if (at.j == 0 && row < d) to[1 + row] += sum;
	}
#pragma unroll
	for (int e = 0; e < blocks * tiles * 4; e++) {
		int u = e / 4 / tiles, t = e / 4 % tiles, h = e / 2 % 2;
		if (!B::has(u, t) || (B::alone && t && !h)) continue; // another block has the transpose of this tile
		int own = B::row(u, t, h), row = tall * (own / 2) + 2 * at.i + own % 2, column = tall * (t / 2) + 2 * (2 * at.j + e % 2) + t % 2;
		if (own == t && row < column) continue; // the lane of the transpose has it, too
		int low = row < column ? column : row, left = row < column ? row : column;
		if (low < d) to[1 + d + low * d + left] += m[u][t][h][e % 2];
	}
}

#define RESIDENT(blocks) __attribute__((launch_bounds(blockThreads, blocks)))
#define KERNELS(side, blocks) \
	KERNEL RESIDENT(blocks) TENSOR(tensorScore##side)(double *beta, const double *x, i64 downX, i64 n, i64 d, const double *q, const double *bias, const double *means, i64 downMeans, i64 comps) { \
		score<side>(beta, x, downX, n, d, q, bias, means, downMeans, comps); \
	} \
	KERNEL RESIDENT(blocks) TENSOR(tensorMoments##side)(double *sums, const double *r, const double *x, i64 downX, i64 n, i64 d, i64 comps, const double *means, i64 downMeans) { \
		addMoments<side>(sums, r, x, downX, n, d, comps, means, downMeans); \
	}
KERNELS(16, 6)
KERNELS(32, 3)
KERNELS(64, 2)
