// The tangents of Attention over heads of up to 64 columns, on the tensor cores for double, without scores in memory.
// attendtangent_sm90.cu is the same with the larger instruction of 9.0.
#include "attend.h"

// A block has 64 queries of a head. Two warps have 16 of them: one has Q in registers and adds up Y, the other has Q̇ and
// adds up Ẏ. Y has the bits of kernel attend. Keys, values and their tangents come in tiles of 8, of which one is in use and the next one is on its way.
constexpr int queries = 64, keys = eighth, warps = queries / tall;

struct Tangents {
	Rows<double> y, ty; // y may be null
	Rows<const double> q, k, v, tq, tk, tv; // tangents may be null
	i64 n, m, c, e, heads; // queries and keys of a sequence, and columns of Q and V of a head
	double scale;
	i64 sign, causal;
};

// With P = softmax(scale·Q·Kᵀ) and Ṡ = scale·(Q̇·Kᵀ + Q·K̇ᵀ),
//
//	Y += ±P·V,  Ẏ += ±((P∘Ṡ)·V + P·V̇ - r∘P·V),  r_i = Σ_j P_ij·Ṡ_ij,
//
// where P is divided by its sums in the end. A lane has of its warp's queries i = lane/4 and i + 8, and of the keys of a tile
// 2j and 2j + 1 for j = lane%4.
INLINE void tangents(Tangents f) {
	SHARED __attribute__((aligned(16))) double tiles[2][4][keys][widest], powers[2][warps][4][lanes], tops[queries];
	i64 blocksOf = over(f.n + queries - 1, queries), part = over(blockX(), blocksOf), sequence = over(part, f.heads), head = part - sequence * f.heads;
	int me = (int)threadX(), lane = me % lanes, pair = me / lanes % warps, i = lane / 4, j = me % 4;
	bool last = me / lanes >= warps; // a warp of Q̇
	i64 begin = (blocksOf - 1 - (blockX() - part * blocksOf)) * queries, own = begin + pair * tall + i; // first those that see most keys
	i64 after = begin + queries < f.n ? begin + queries : f.n, end = f.causal && after < f.m ? after : f.m; // of keys that a query here sees
	i64 atC = head * f.c, atE = head * f.e;
	Rows<double> result = (last ? f.ty : f.y).at(sequence * f.n, atE);

	double a[parts][2][2], o[parts][2][2] = {}, top[2] = {lowest, lowest}, sum[2] = {0, 0}; // of P, or of P∘Ṡ
	loadRows(a, (last ? f.tq : f.q).at(sequence * f.n, atC), own, last && !f.tq.data ? 0 : f.n, f.c, j);

	Copy ofK(f.k.at(sequence * f.m, atC), f.c), ofTK(f.tk.at(sequence * f.m, atC), f.c);
	Copy ofV(f.v.at(sequence * f.m, atE), f.e), ofTV(f.tv.at(sequence * f.m, atE), f.e);
	auto load = [&](int stage, i64 left) __attribute__((always_inline)) { // of which there are so many keys
		ofK.load(tiles[stage][0], left, f.k.data);
		ofTK.load(tiles[stage][1], left, f.k.data);
		ofV.load(tiles[stage][2], left, f.k.data);
		ofTV.load(tiles[stage][3], left, f.k.data);
		endGroup();
	};
	load(0, end);
	int stage = 0;
	for (i64 key = 0; key < end; key += keys, stage ^= 1) {
		waitGroups<0>();
		barrier(); // the tile is there, and the one before was used
		load(stage ^ 1, end - key - keys);
		auto &[k, tk, v, tv] = tiles[stage];
		double s[2][2] = {}, u[2][2] = {};
		if (!last || f.tq.data) multiplyRows(s, a, k, f.c, i, j);
		if (!last) {
			if (f.tk.data) multiplyRows(u, a, tk, f.c, i, j);
			int left[2];
#pragma unroll
			for (int h = 0; h < 2; h++) {
				i64 limit = f.causal && own + eighth * h < end ? own + eighth * h + 1 : end;
				left[h] = clamp(limit - key, keys) - 2 * j;
			}
			soften(s, left, f.scale, top, sum, o);
#pragma unroll
			for (int h = 0; h < 2; h++) {
				if (j == 0) tops[pair * tall + i + eighth * h] = top[h];
#pragma unroll
				for (int l = 0; l < 2; l++) {
					powers[0][pair][2 * h + l][lane] = s[h][l];
					powers[1][pair][2 * h + l][lane] = u[h][l];
				}
			}
		}
		barrier(); // P and Q·K̇ᵀ are there
		if (last) {
#pragma unroll
			for (int h = 0; h < 2; h++) {
				double now = tops[pair * tall + i + eighth * h];
				if (now > top[h]) {
					double keep = exp(top[h] - now);
					top[h] = now;
					sum[h] *= keep;
					scaleRow(o, h, keep);
				}
#pragma unroll
				for (int l = 0; l < 2; l++) {
					double &x = s[h][l];
					u[h][l] = powers[0][pair][2 * h + l][lane];
					x = u[h][l] * (f.scale * (x + powers[1][pair][2 * h + l][lane]));
					sum[h] += x;
				}
			}
			if (f.tv.data) multiplyColumns(o, u, tv, f.e, i, j);
		}
		multiplyColumns(o, s, v, f.e, i, j);
	}
	waitGroups<0>();
	barrier(); // the tiles were used
	double *means = &tiles[0][0][0][0] + (pair * parts * 4 * lanes + lane); // of V over P, from one warp to the other
#pragma unroll
	for (int h = 0; h < 2; h++) {
		sum[h] = sumOfQuad(sum[h]);
		double &ofP = tops[pair * tall + i + eighth * h];
		if (!last && j == 0) ofP = sum[h];
#pragma unroll
		for (int e = 0; e < 2 * parts; e++) {
			double &x = o[e / 2][h][e % 2];
			if (!last) means[(2 * e + h) * lanes] = x /= sum[h];
		}
	}
	barrier(); // P·V is there
#pragma unroll
	for (int h = 0; h < 2; h++) {
		i64 row = own + eighth * h;
		double ofP = tops[pair * tall + i + eighth * h], r = sum[h] / ofP;
#pragma unroll
		for (int e = 0; e < 2 * parts; e++) {
			int t = eighth * (e / 2) + 2 * j + e % 2;
			double x = o[e / 2][h][e % 2];
			if (last) x = x / ofP - r * means[(2 * e + h) * lanes];
			if (row < f.n && t < f.e && result.data) addSigned(result.data[row * result.down + t], f.sign, x);
		}
	}
}

KERNEL __attribute__((launch_bounds(maxThreads))) TENSOR(attendTangent)(double *y, i64 downY, const double *q, i64 downQ, const double *k, i64 downK, const double *v, i64 downV, double *ty, i64 downTY, const double *tq, i64 downTQ, const double *tk, i64 downTK, const double *tv, i64 downTV, i64 n, i64 m, i64 c, i64 e, i64 heads, double scale, i64 sign, i64 causal) {
	tangents({{y, downY}, {ty, downTY}, {q, downQ}, {k, downK}, {v, downV}, {tq, downTQ}, {tk, downTK}, {tv, downTV}, n, m, c, e, heads, scale, sign, causal});
}
