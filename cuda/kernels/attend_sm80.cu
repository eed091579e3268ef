// Attention over heads of up to 64 columns, on the tensor cores for double, without scores in memory.
// attend_sm90.cu is the same with the larger instruction of 9.0.
#include "attend.h"

// A block has 128 queries of a head, and a warp 16 of them, in registers, with what they are to add. Keys and values come in
// tiles of 8, of which one is in use and the next one is on its way.
constexpr int queries = maxThreads / lanes * tall, keys = eighth;

struct Attended {
	Rows<double> y;
	Rows<const double> q, k, v;
	i64 n, m, c, e, heads; // queries and keys of a sequence, and columns of Q and V of a head
	double scale;
	i64 sign, causal;
	Rows<const double> gy;
	double *rows;
};

// Y += ±softmax(scale·Q·Kᵀ)·V. A lane has of its warp's queries i = lane/4 and i + 8, and of the keys of a tile 2j and 2j + 1
// for j = lane%4. The instruction calls these the terms j and j + 4, so that powers of scores are factors of the second product
// where they are. Y or rows may be null.
INLINE void attend(Attended f) {
	SHARED __attribute__((aligned(16))) double ks[2][keys][widest], vs[2][keys][widest];
	i64 blocksOf = over(f.n + queries - 1, queries), part = over(blockX(), blocksOf), sequence = over(part, f.heads), head = part - sequence * f.heads;
	int me = (int)threadX(), i = me % lanes / 4, j = me % 4;
	i64 begin = (blocksOf - 1 - (blockX() - part * blocksOf)) * queries, own = begin + me / lanes * tall + i; // first those that see most keys
	i64 after = begin + queries < f.n ? begin + queries : f.n, end = f.causal && after < f.m ? after : f.m; // of keys that a query here sees
	i64 atC = head * f.c, atE = head * f.e;
	f.y = f.y.at(sequence * f.n, atE);

	double a[parts][2][2], o[parts][2][2] = {}, top[2] = {lowest, lowest}, sum[2] = {0, 0};
	loadRows(a, f.q.at(sequence * f.n, atC), own, f.n, f.c, j);

	Copy ofK(f.k.at(sequence * f.m, atC), f.c), ofV(f.v.at(sequence * f.m, atE), f.e);
	auto load = [&](int stage, i64 left) __attribute__((always_inline)) { // of which there are so many keys
		ofK.load(ks[stage], left, f.k.data);
		ofV.load(vs[stage], left, f.k.data);
		endGroup();
	};
	load(0, end);
	int stage = 0;
	for (i64 key = 0; key < end; key += keys, stage ^= 1) {
		waitGroups<0>();
		barrier(); // the tile is there, and the one before was used
		load(stage ^ 1, end - key - keys);
		double s[2][2] = {};
		multiplyRows(s, a, ks[stage], f.c, i, j);
		int left[2];
#pragma unroll
		for (int h = 0; h < 2; h++) {
			i64 limit = f.causal && own + eighth * h < end ? own + eighth * h + 1 : end;
			left[h] = clamp(limit - key, keys) - 2 * j;
		}
		soften(s, left, f.scale, top, sum, o);
		multiplyColumns(o, s, vs[stage], f.e, i, j);
	}
	waitGroups<0>();
#pragma unroll
	for (int h = 0; h < 2; h++) {
		i64 row = own + eighth * h, ofAll = part * f.n + row;
		sum[h] = sumOfQuad(sum[h]);
		double d = 0;
#pragma unroll
		for (int q = 0; q < parts; q++) {
#pragma unroll
			for (int l = 0; l < 2; l++) {
				int t = eighth * q + 2 * j + l;
				if (row >= f.n || t >= f.e) continue;
				double mean = o[q][h][l] / sum[h];
				if (f.y.data) addSigned(f.y.data[row * f.y.down + t], f.sign, mean);
				if (f.rows) d += f.gy.data[(sequence * f.n + row) * f.gy.down + atE + t] * mean;
			}
		}
		if (!f.rows) continue;
		d = sumOfQuad(d);
		if (row < f.n && j == 0) {
			f.rows[3 * ofAll] = top[h];
			f.rows[3 * ofAll + 1] = 1 / sum[h];
			f.rows[3 * ofAll + 2] = f.scale * d;
		}
	}
}

KERNEL __attribute__((launch_bounds(maxThreads))) TENSOR(attend)(double *y, i64 downY, const double *q, i64 downQ, const double *k, i64 downK, const double *v, i64 downV, i64 n, i64 m, i64 c, i64 e, i64 heads, double scale, i64 sign, i64 causal, const double *gy, i64 downG, double *rows) {
	attend({{y, downY}, {q, downQ}, {k, downK}, {v, downV}, n, m, c, e, heads, scale, sign, causal, {gy, downG}, rows});
}
