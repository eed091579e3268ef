// The log posterior of Gaussian mixtures over Q43 and its derivatives, with the equations of
// FixedLogPosterior in revmodels/gmm, and its bits. Sums over points, and all that is rounded
// once there, are integers of 128 bits.
//
// Points come in batches, and neighbouring threads have neighbouring points. The coordinates of
// a point have a 1 before them, and those of a mean a 0. With c = (1, x_i - μ_k), a component thus
// has the 1+D numbers
//
//	(β, y) with y = Q·(x_i - μ_k), then (r, y), and then (w, z) with w = F̄·r, z = w·y,
//
// and its moments W, Σ z and Σ z·(x - μ)ᵀ are the lower triangle of Σ (w, z)·cᵀ. These numbers are
// called rows. Row j of component k and point i is at (k·(1+D) + j)·n + i. The coordinates of
// points are stored likewise. Tangents have a d before their names, and are null without them.
#pragma once
#include "bytes.h"

// subtract subtracts a product from a sum.
DEVICE void subtract(Sum<Q43> &s, Q43 x, Q43 y) { s.v -= (i128)x.v * y.v; }

// roundInRange sets q to a sum, rounded once, and reports whether that is in range.
DEVICE bool roundInRange(Sum<Q43> s, Q43 &q) {
	u128 t = (u128)s.v + (((u128)1 << 42) - 1 + (u64)(s.v >> 43 & 1));
	i64 hi = (i64)(u64)(t >> 64);
	q = Q43{(i64)(u64)(t >> 43)};
	return !(hi < 0 && (i64)(s.v >> 64) >= 0) && hi >> 42 == q.v >> 63;
}

// A Component has what a component needs besides Q and μ.
struct Component {
	Sum<Q43> bias;                             // twice the part of β that does not depend on the point
	i128 logs, dlogs;                          // Σ q_j, in units
	Sum<Q43> squares, dsquares;                // ‖Q‖², and half its tangent
	double reach;                              // the largest sum |Q| of a row
	Q43 weight, dweight, dbias;                // softmax(α)_k, its tangent, and that of β
	i64 valid, exponential, entry;             // whether Σ exp(α) is in range; what is not: q_j, or an entry of Q, or -1
};

// The β of a component that takes no part in a point is the least number. A point that is out of
// range has a β of this, which no β in range is.
CONSTANT Q43 invalid = largest;

// A Matrix has rows of numbers that lie beside each other.
struct Matrix {
	const Q43 *of;
	i64 down;
};

// set makes bytes of terms of a row, less those of another one unless it is null. There are d terms.
template <int n> INLINE void set(Bytes<n> &to, int h, const Q43 *row, const Q43 *less, int begin, int d) {
	const Lane lane;
	constexpr int step = n / 2; // registers of the same terms
	Q43 four[4];
#pragma unroll
	for (int p = 0; p < 4; p++) {
		int l = begin + lane.term(h / step, p);
		Q43 v = l < d ? row[l] : Q43{0}, minus = less && l < d ? less[l] : Q43{0}; // no load waits for a branch
		four[p] = v - minus;
	}
	to.set(h, four);
}

// score sets rows to β and y, and their tangents if there are some, of the points of a batch, which are rows of X. A warp has
// a component and 8 points, which are the columns of products with Q. Of points without tangents, Q·(ẋ - μ̇) is
// Q·(-μ̇), which is in still. There -μ̇ wraps, as on the CPU.
template <bool moves> INLINE void score(Q43 *rows, Q43 *drows, const Component *of, const Q43 *q, const Q43 *dq, Matrix x, Matrix dx, const Q43 *mean, const Q43 *dmean, const Sum<Q43> *still, i64 n, int d, i64 comps) {
	constexpr i64 outOfReach = (i64)1 << 54; // 2¹¹, whose square is out of range
	const Lane lane;
	i64 tiles = (n + tileColumns - 1) / tileColumns, item = first() / lanes, k = item / tiles, from = item % tiles * tileColumns;
	if (k >= comps) return;
	q += k * d * d, mean += k * (1 + d) + 1, rows += k * (1 + d) * n;
	if (moves) dq += k * d * d, dmean += k * (1 + d) + 1, drows += k * (1 + d) * n;
	i64 own = from + lane.i < n ? from + lane.i : n - 1; // of columns after the last point nothing is stored
	x.of += own * x.down;
	if (moves && dx.of) dx.of += own * dx.down;

	int valid = true;
	i64 most = 0; // magnitude of x - μ
	for (int l = lane.j; l < d; l += 4) {
		Q43 a = x.of[l], c = a - mean[l];
		if (((a.v ^ mean[l].v) & (a.v ^ c.v)) < 0) valid = false; // it wrapped
		i64 v = c.v ^ c.v >> 63;
		if (most < v) most = v;
	}
	if (of[k].reach * ((double)most * 0x1p-43) >= 0x1p40) valid = false; // sums could wrap
	valid &= crossed(valid, 1);
	valid &= crossed(valid, 2);

	Sum<Q43> twice[2] = {}, db[2] = {}; // of the two columns of the lane, what its rows add
	int far[2] = {};
	for (int top = 0; top < d; top += tileRows) {
		Sum<Q43> v[4] = {}, dv[4] = {};
		auto add = [&](Sum<Q43> (&to)[4], const Q43 *m, const Q43 *x, const Q43 *less) __attribute__((always_inline)) {
			for (int begin = 0; begin < d && begin < top + tileRows; begin += tileTerms) { // above the diagonal Q is 0
				Left a;
				Right b;
#pragma unroll
				for (int h = 0; h < 4; h++) {
					int row = top + lane.i + h % 2 * 8;
					set(a, h, m + (i64)(row < d ? row : d - 1) * d, nullptr, begin, d); // no row after the last is stored
				}
#pragma unroll
				for (int h = 0; h < 2; h++) set(b, h, x, less, begin, d);
				addProducts(to, a, b);
			}
		};
		add(v, q, x.of, mean);
		if (moves) {
			if (dx.of) {
				add(dv, q, dx.of, dmean);
			} else {
#pragma unroll
				for (int e = 0; e < 4; e++) {
					int row = top + lane.row(e);
					if (row < d) dv[e].v += still[k * d + row].v;
				}
			}
			add(dv, dq, x.of, mean);
		}
#pragma unroll
		for (int e = 0; e < 4; e++) {
			int row = top + lane.row(e), c = e % 2;
			if (row >= d) continue;
			Q43 s, ds = dv[e].value();
			if (!roundInRange(v[e], s) || s.v <= -outOfReach || s.v >= outOfReach) {
				far[c] = true;
				s = Q43{0};
			}
			i64 point = from + lane.column(e);
			if (point < n) rows[(1 + row) * n + point] = s;
			subtract(twice[c], s, s);
			if (!moves) continue;
			if (point < n) drows[(1 + row) * n + point] = ds;
			subtract(db[c], s, ds);
		}
	}
#pragma unroll
	for (int c = 0; c < 2; c++) {
#pragma unroll
		for (int by = 4; by < lanes; by *= 2) { // over rows
			twice[c].v += across(twice[c].v, by);
			if (moves) db[c].v += across(db[c].v, by);
			far[c] |= crossed(far[c], by);
		}
		bool in = __nvvm_shfl_sync_idx_i32(-1, valid, 4 * lane.column(c), 31);
		i64 point = from + lane.column(c);
		if (lane.i > 0 || point >= n) continue;
		Q43 b;
		twice[c].add(of[k].bias);
		if (!roundInRange(twice[c], b)) far[c] = true;
		i64 half = b.v >> 1;
		rows[point] = !in ? invalid : far[c] ? least : Q43{half + (b.v & half & 1)}; // to even
		if (!moves) continue;
		db[c].add(of[k].dbias);
		drows[point] = db[c].value();
	}
}

KERNEL BYTES(mixtureScore)(Q43 *rows, const Component *of, const Q43 *q, const Q43 *x, i64 downX, const Q43 *mean, i64 n, i64 d, i64 comps) {
	score<false>(rows, nullptr, of, q, nullptr, {x, downX}, {}, mean, nullptr, nullptr, n, (int)d, comps);
}
KERNEL BYTES(mixtureTangentScore)(Q43 *rows, Q43 *drows, const Component *of, const Q43 *q, const Q43 *dq, const Q43 *x, i64 downX, const Q43 *dx, i64 downDx, const Q43 *mean, const Q43 *dmean, const Sum<Q43> *still, i64 n, i64 d, i64 comps) {
	score<true>(rows, drows, of, q, dq, {x, downX}, {dx, downDx}, mean, dmean, still, n, (int)d, comps);
}

// addMoments adds to the lower triangles of Σ_i a_i·cᵀ + b_i·ċᵀ, for the component, the tile of 16
// by 8 elements and the part of the points of a warp. The warps of a block have tiles beside each other, which share
// loads of the first cache. The first batch sets the sums. a and b have rows, c = x - mean, ċ likewise; without `both` there
// is no b.
template <bool both> INLINE void addMoments(Sum<Q43> *sums, i64 begins, const Q43 *a, const Q43 *x, const Q43 *mean, const Q43 *b, const Q43 *dx, const Q43 *dmean, i64 n, i64 d, i64 comps) {
	const Lane lane;
	i64 size = 1 + d, side = d / tileRows + 1, tiles = side * (side + 1), item = first() / lanes, k = item / tiles, across = item % tiles, down = 0;
	if (k >= comps) return;
	while (across > 2 * down + 1) across -= 2 * ++down; // of the tile
	down *= tileRows;
	across *= tileColumns;
	i64 part = blockY(), end = n * (part + 1) / blocksY(), column = across + lane.i;
	if (column >= size) column = size - 1; // no element of it is stored
	mean += k * size + column, x += column * n;
	if (both) dmean += k * size + column, dx += column * n;
	Sum<Q43> s[4] = {};
	for (i64 begin = n * part / blocksY(); begin < end; begin += tileTerms) {
		auto add = [&](const Q43 *of, const Q43 *x, Q43 less) __attribute__((always_inline)) {
			Left l;
			Right r;
#pragma unroll
			for (int h = 0; h < 4; h++) {
				i64 row = down + lane.i + h % 2 * 8;
				const Q43 *at = of + (k * size + (row < size ? row : size - 1)) * n; // likewise
				Q43 four[4];
#pragma unroll
				for (int p = 0; p < 4; p++) {
					i64 i = begin + lane.term(h / 2, p);
					four[p] = i < end ? at[i] : Q43{0};
				}
				l.set(h, four);
			}
#pragma unroll
			for (int h = 0; h < 2; h++) {
				Q43 four[4];
#pragma unroll
				for (int p = 0; p < 4; p++) {
					i64 i = begin + lane.term(h, p);
					four[p] = i < end ? x[i] - less : Q43{0};
				}
				r.set(h, four);
			}
			addProducts(s, l, r);
		};
		add(a, x, *mean);
		if (both) add(b, dx, *dmean);
	}
	Sum<Q43> *to = sums + (part * comps + k) * size * size;
#pragma unroll
	for (int e = 0; e < 4; e++) {
		i64 u = down + lane.row(e), v = across + lane.column(e);
		if (u >= size || v > u) continue;
		if (!begins) s[e].add(to[u * size + v]);
		to[u * size + v] = s[e];
	}
}

KERNEL BYTES(mixtureMoments)(Sum<Q43> *sums, i64 begins, const Q43 *a, const Q43 *x, const Q43 *mean, i64 n, i64 d, i64 comps) {
	addMoments<false>(sums, begins, a, x, mean, nullptr, nullptr, nullptr, n, d, comps);
}
KERNEL BYTES(mixtureTangentMoments)(Sum<Q43> *sums, i64 begins, const Q43 *a, const Q43 *x, const Q43 *mean, const Q43 *b, const Q43 *dx, const Q43 *dmean, i64 n, i64 d, i64 comps) {
	addMoments<true>(sums, begins, a, x, mean, b, dx, dmean, n, d, comps);
}
