// The gradients of Attention over heads of up to 64 columns, on the tensor cores for double, without scores in memory.
// attendback_sm90.cu is the same with the larger instruction of 9.0.
#include "attend.h"

// A block has 64 keys of a head at a time. Two warps have 16 of them: one has K in registers and adds up V̄, the other has V
// and adds up K̄. Queries and cotangents come in tiles of 16, of which one is in use and the next one is on its way.
constexpr int keys = 64, queries = 16, warps = keys / tall;

struct Gradients {
	Rows<const double> q, k, v, gy;
	Rows<double> gq, gk, gv; // any of them may be null
	const double *rows;      // of kernel attend
	i64 n, m, c, e, heads;   // queries and keys of a sequence, and columns of Q and V of a head
	double scale;
	i64 causal, shares, apart; // a share of the keys of a head has a Q̄ of its own if that is not 0, so far after the one before
	i64 first, lo, hi;         // sequence of the first block, and queries of a sequence that are used, of which Q̄ has no others
};

// With P = softmax(scale·Q·Kᵀ), R = Ȳ·Vᵀ and S̄ = scale·P∘(R - D),
//
//	V̄ += Pᵀ·Ȳ,  K̄ += S̄ᵀ·Q,  Q̄ += S̄·K.
//
// The keys of a share are every so many tiles. The warps of K make P of a tile of queries, and those of V make S̄ of it,
// by products that have a row for each key. All warps then make Q̄, of which each has 8 columns. A lane has keys i = lane/4 and
// i + 8 of its warp, and of the queries of a tile 2j, 2j + 1, 2j + 8 and 2j + 9 for j = lane%4. K̄, V̄ and Q̄ may be one matrix.
INLINE void gradients(Gradients f) {
	SHARED __attribute__((aligned(16))) double qs[2][queries][widest], gs[2][queries][widest], ss[queries][keys], rows[2][queries][3];
	i64 part = over(blockX(), f.shares), share = blockX() - part * f.shares, after = over(part, f.heads), sequence = f.first + after, head = part - after * f.heads;
	int me = (int)threadX(), warp = me / lanes, i = me % lanes / 4, j = me % 4;
	bool last = warp >= warps; // a warp of V
	i64 end = f.causal && f.hi < f.m ? f.hi : f.m, atC = head * f.c, atE = head * f.e; // of keys that a query sees
	f.q = f.q.at(sequence * f.n, atC), f.gy = f.gy.at(sequence * f.n, atE);
	f.k = f.k.at(sequence * f.m, atC), f.v = f.v.at(sequence * f.m, atE);
	f.gq = f.gq.at(after * (f.hi - f.lo) - f.lo, atC), f.gk = f.gk.at(sequence * f.m, atC), f.gv = f.gv.at(sequence * f.m, atE);
	f.rows += (sequence * f.heads + head) * f.n * 3;
	if (f.gq.data) f.gq.data += share * f.apart;
	Rows<double> sums = last ? f.gk : f.gv;
	i64 first = last ? f.e : f.c, second = last ? f.c : f.e; // columns of the products

	for (i64 key = share * keys; key < end; key += f.shares * keys) {
		i64 own = key + warp % warps * tall + i;
		double a[parts][2][2], o[parts][2][2] = {};
		loadRows(a, last ? f.v : f.k, own, end, first, j);
		int there = eighth * warp + i < f.c ? clamp(end - key, keys) - 2 * j : 0; // keys of which the lane has a column
		const double *column = f.k.data + (key + 2 * j) * f.k.down + eighth * warp + i;
		i64 query = f.causal && key > f.lo ? key : f.lo;
		bool sets = f.apart > 0 && !f.causal && key == share * keys; // the first tile of a Q̄ of its own, which is zero before if not all queries see the tile
		Copy ofQ(f.q.at(query, 0), f.c), ofG(f.gy.at(query, 0), f.e);
		auto load = [&](int stage, i64 query) __attribute__((always_inline)) {
			i64 left = f.hi - query;
			ofQ.load(qs[stage], left, f.rows);
			ofG.load(gs[stage], left, f.rows);
			if (me < 3 * queries) copyAsync<8>(&rows[stage][me / 3][me % 3], me / 3 < left ? f.rows + 3 * query + me : f.rows, me / 3 < left ? 8 : 0);
			endGroup();
		};
		load(0, query);
		int stage = 0;
		for (; query < f.hi; query += queries, stage ^= 1) {
			waitGroups<0>();
			barrier(); // the tile is there, and the one before was used
			load(stage ^ 1, query + queries);
			auto one = last ? gs[stage] : qs[stage], other = last ? qs[stage] : gs[stage];
			int some = clamp(f.hi - query, queries); // of the tile; the others are 0, which a key of -∞ makes NaN
			double s[2][2][2] = {};
#pragma unroll
			for (int g = 0; g < 2; g++) multiplyRows(s[g], a, &one[eighth * g], first, i, j);
			auto each = [&](auto use) __attribute__((always_inline)) { // of the scores of the lane
#pragma unroll
				for (int h = 0; h < 2; h++) {
					int sees = own + eighth * h >= end ? queries : f.causal ? clamp(own + eighth * h - query, queries) : 0; // the first query that does
#pragma unroll
					for (int u = 0; u < 4; u++) {
						int r = eighth * (u / 2) + 2 * j + u % 2;
						use(s[u / 2][h][u % 2], rows[stage][r], r >= sees && r < some, ss[r][swizzled(r, warp % warps * 2 + h, i)]);
					}
				}
			};
			if (!last) {
				each([&](double &x, const double *row, bool seen, double &shared) __attribute__((always_inline)) {
					shared = x = seen ? exp(f.scale * x - row[0]) * row[1] : 0; // of the rounded product, as in soften
				});
			}
			barrier(); // P is there
			if (last) {
				each([&](double &x, const double *row, bool, double &shared) __attribute__((always_inline)) {
					shared = x = fma(f.scale, x, -row[2]) * shared;
				});
			}
			if (sums.data) {
#pragma unroll
				for (int g = 0; g < 2; g++) multiplyColumns(o, s[g], &other[eighth * g], second, i, j);
			}
			barrier(); // S̄ is there
			if (!f.gq.data || eighth * warp >= f.c) continue;
			double d[2][2] = {};
#pragma unroll 2 // for few registers
			for (int u = 0; u < keys / eighth; u++) {
				double terms[2][2], b[2];
#pragma unroll
				for (int l = 0; l < 2; l++) b[l] = eighth * u + l < there ? column[(eighth * u + l) * f.k.down] : 0; // from the cache
#pragma unroll
				for (int h = 0; h < 2; h++) {
					two pair = *(const two *)&ss[i + eighth * h][swizzled(i, u, 2 * j)];
					terms[h][0] = pair[0], terms[h][1] = pair[1];
				}
				multiply(d, terms, b);
			}
#pragma unroll
			for (int h = 0; h < 2; h++) {
				i64 row = query + i + eighth * h;
#pragma unroll
				for (int l = 0; l < 2; l++) {
					int t = eighth * warp + 2 * j + l;
					if (row >= f.hi || t >= f.c) continue;
					double &to = f.gq.data[row * f.gq.down + t];
					if (sets) to = d[h][l];
					else to += d[h][l];
				}
			}
		}
		waitGroups<0>();
#pragma unroll // for few registers
		for (int turn = 0; turn < 2; turn++) { // of V̄ and K̄, which may be one matrix
			barrier();
			if (!sums.data || turn != last) continue;
#pragma unroll
			for (int h = 0; h < 2; h++) {
				i64 row = own + eighth * h;
#pragma unroll
				for (int q = 0; q < parts; q++) {
#pragma unroll
					for (int l = 0; l < 2; l++) {
						int t = eighth * q + 2 * j + l;
						if (row < end && t < second) sums.data[row * sums.down + t] += o[q][h][l];
					}
				}
			}
		}
	}
}

KERNEL __attribute__((launch_bounds(maxThreads))) TENSOR(attendBack)(const double *q, i64 downQ, const double *k, i64 downK, const double *v, i64 downV, const double *gy, i64 downG, double *gq, i64 downGQ, double *gk, i64 downGK, double *gv, i64 downGV, const double *rows, i64 n, i64 m, i64 c, i64 e, i64 heads, double scale, i64 causal, i64 shares, i64 apart, i64 first, i64 lo, i64 hi) {
	gradients({{q, downQ}, {k, downK}, {v, downV}, {gy, downG}, {gq, downGQ}, {gk, downGK}, {gv, downGV}, rows, n, m, c, e, heads, scale, causal, shares, apart, first, lo, hi});
}
