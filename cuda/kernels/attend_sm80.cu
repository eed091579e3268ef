// Attention over heads of up to 64 columns, on the tensor cores for double, without scores in memory.
// attend_sm90.cu is the same with the larger instruction of 9.0.
#include "function.h"
#include "product.h"
#include "tensor.h"

// A block has 128 queries of a head, and a warp 16 of them, in registers, with what they are to add. Keys and values come in
// tiles of 16, of which one is in use and the next one is on its way. Rows of shared memory have gaps, so that a warp reads
// from all banks.
constexpr int tallQueries = 16, queries = maxThreads / lanes * tallQueries, keys = 16, widest = 64, eighth = 8, parts = widest / eighth;

// Powers are of what a score is below a reference, which is this much more than the largest score of the first tile, so that
// they are at most 1. Where a score is more than the reference, it moves likewise, and what has been added up is scaled down.
constexpr double grows = 16;

struct Attended {
	double *y;
	const double *q, *k, *v;
	i64 downY, downQ, downK, downV;
	i64 n, m, c, e, heads; // queries and keys of a sequence, and columns of Q and V of a head
	double scale;
	i64 sign, causal;
};

// Y += ±softmax(scale·Q·Kᵀ)·V. A lane has of its warp's queries i = lane/4 and i + 8, and of the keys of a tile 2j, 2j + 1,
// 2j + 8 and 2j + 9 for j = lane%4. The instruction calls 2j and 2j + 1 the terms j and j + 4, so that powers of scores are
// factors of the second product where they are.
INLINE void attend(Attended f) {
	SHARED __attribute__((aligned(16))) double ks[2][keys][widest + 8], vs[2][keys][widest + 2];
	i64 blocksOf = over(f.n + queries - 1, queries), part = over(blockX(), blocksOf), sequence = over(part, f.heads), head = part - sequence * f.heads;
	int me = (int)threadX(), i = me % lanes / 4, j = me % 4;
	i64 begin = (blocksOf - 1 - (blockX() - part * blocksOf)) * queries, own = begin + me / lanes * tallQueries + i; // first those that see most keys
	i64 after = begin + queries < f.n ? begin + queries : f.n, end = f.causal && after < f.m ? after : f.m; // of keys that a query here sees
	f.q += sequence * f.n * f.downQ + head * f.c;
	f.y += sequence * f.n * f.downY + head * f.e;

	double a[parts][2][2], o[parts][2][2] = {}, top[2], sum[2] = {0, 0};
	i64 limit[2];
#pragma unroll
	for (int h = 0; h < 2; h++) {
		i64 row = own + eighth * h;
		top[h] = -infinity;
		limit[h] = f.causal && row + 1 < end ? row + 1 : end;
#pragma unroll
		for (int p = 0; p < parts; p++) {
#pragma unroll
			for (int l = 0; l < 2; l++) {
				int t = eighth * p + 2 * j + l;
				a[p][h][l] = row < f.n && t < f.c ? f.q[row * f.downQ + t] : 0;
			}
		}
	}

	constexpr int apart = maxThreads / widest; // rows between those that a thread copies
	int from = me / widest, column = me % widest;
	const double *k = f.k + (sequence * f.m + from) * f.downK + head * f.c + column, *v = f.v + (sequence * f.m + from) * f.downV + head * f.e + column;
	auto load = [&](int stage, i64 left) __attribute__((always_inline)) { // of which there are so many keys
		int some = clamp(left - from, keys);
#pragma unroll
		for (int u = 0; u < keys; u += apart) {
			copyAsync<8>(&ks[stage][from + u][column], u < some && column < f.c ? k : f.k, u < some && column < f.c ? 8 : 0);
			copyAsync<8>(&vs[stage][from + u][column], u < some && column < f.e ? v : f.v, u < some && column < f.e ? 8 : 0);
			k += apart * f.downK;
			v += apart * f.downV;
		}
		endGroup();
	};
	load(0, end);
	int stage = 0;
	for (i64 key = 0; key < end; key += keys, stage ^= 1) {
		waitGroups<0>();
		barrier(); // the tile is there, and the one before was used
		load(stage ^ 1, end - key - keys);
		double s[2][2][2] = {};
#pragma unroll
		for (int p = 0; p < parts; p++) {
			if (eighth * p >= f.c) break;
#pragma unroll
			for (int g = 0; g < 2; g++) {
				typedef double two __attribute__((ext_vector_type(2)));
				two pair = *(const two *)&ks[stage][eighth * g + i][eighth * p + 2 * j];
				double b[2] = {pair[0], pair[1]};
				multiply(s[g], a[p], b);
			}
		}
#pragma unroll
		for (int h = 0; h < 2; h++) {
			int left = clamp(limit[h] - key, keys) - 2 * j; // keys that the query sees
			double most = -infinity;
#pragma unroll
			for (int u = 0; u < 4; u++) {
				double &x = s[u / 2][h][u % 2];
				x = eighth * (u / 2) + u % 2 < left ? f.scale * x : -infinity;
				most = x > most ? x : most;
			}
			for (int mask = 1; mask < 4; mask *= 2) {
				double other = across(most, mask);
				most = other > most ? other : most;
			}
			if (most > top[h]) {
				most += grows;
				double keep = exp(top[h] - most);
				top[h] = most;
				sum[h] *= keep;
#pragma unroll
				for (int q = 0; q < parts; q++) o[q][h][0] *= keep, o[q][h][1] *= keep;
			}
			double from = top[h] > -infinity ? top[h] : 0;
#pragma unroll
			for (int u = 0; u < 4; u++) {
				double &x = s[u / 2][h][u % 2];
				x = exp(x - from);
				sum[h] += x;
			}
		}
#pragma unroll
		for (int q = 0; q < parts; q++) {
			if (eighth * q >= f.e) break;
#pragma unroll
			for (int g = 0; g < 2; g++) {
				double b[2] = {vs[stage][eighth * g + 2 * j][eighth * q + i], vs[stage][eighth * g + 2 * j + 1][eighth * q + i]};
				multiply(o[q], s[g], b);
			}
		}
	}
	waitGroups<0>();
#pragma unroll
	for (int h = 0; h < 2; h++) {
		i64 row = own + eighth * h;
		for (int mask = 1; mask < 4; mask *= 2) sum[h] += across(sum[h], mask);
		if (row >= f.n) continue;
#pragma unroll
		for (int q = 0; q < parts; q++) {
#pragma unroll
			for (int l = 0; l < 2; l++) {
				int t = eighth * q + 2 * j + l;
				if (t < f.e) addSigned(f.y[row * f.downY + t], f.sign, o[q][h][l] / sum[h]);
			}
		}
	}
}

KERNEL __attribute__((launch_bounds(maxThreads))) TENSOR(attend)(double *y, i64 downY, const double *q, i64 downQ, const double *k, i64 downK, const double *v, i64 downV, i64 n, i64 m, i64 c, i64 e, i64 heads, double scale, i64 sign, i64 causal) {
	attend({y, q, k, v, downY, downQ, downK, downV, n, m, c, e, heads, scale, sign, causal});
}
