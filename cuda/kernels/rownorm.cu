// LayerNorm and RMSNorm, with the equations of revnn. A warp or a block has a row and makes its whole
// pass. Its threads hold what of the row they need again. Over Q43 each step rounds as the host does.
#include "held.h"
#include "reduce.h"
#include "vector.h"

// Means are sums over a row, and then divided by its length.
template <class T, int count> struct Means {
	Sum<T> v[count];
	INLINE void add(Means o) {
		for (int i = 0; i < count; i++) v[i].add(o.v[i]);
	}
	INLINE Means crossed(int mask) const {
		Means o;
		for (int i = 0; i < count; i++) o.v[i] = {across(v[i].v, mask)};
		return o;
	}
};

// over returns s/n, rounded to nearest, over Q43 with ties away from zero.
DEVICE double over(Sum<double> s, i64 n) { return s.v / (double)n; }
DEVICE Q43 over(Sum<Q43> s, i64 n) {
	u128 v = s.v < 0 ? -(u128)s.v : (u128)s.v;
	u64 hi = (u64)(v >> 64), rest, lo = divide(hi % n, (u64)v, n, rest);
	Q43 q = {(i64)((hi / n << 21 | lo >> 43) + (lo >> 42 & 1))};
	return s.v < 0 ? -q : q;
}

// inverseRoot returns 1/√(v + ε).
DEVICE double inverseRoot(double v, i64 epsilon) { return 1 / root(v + bits((u64)epsilon)); }
DEVICE Q43 inverseRoot(Q43 v, i64 epsilon) {
	i64 positive = v.v > 0 ? v.v : 0;
	return quotient(Q43{(i64)1 << 43}, root(positive > largest.v - epsilon ? largest : Q43{positive + epsilon}));
}

// A RowNorm is what the elements of a row are normalised by: m, ρ, and of the tangent ⟨u·ẋ⟩ and ⟨ẋ⟩.
template <class T> struct alignas(16) RowNorm {
	T mean, rho, along, drift;
	DEVICE T u(T x) const { return product(rho, x - mean); }
	// rate returns u̇ for an element of u and of ẋ.
	DEVICE T rate(T u, T dx) const { return product(rho, projected(dx, drift, along, u)); }
	// projected returns the element P(v) = v - ⟨v⟩ - u·⟨u·v⟩.
	DEVICE static T projected(T v, T mean, T along, T u) { return v - mean + product(-along, u); }
};

// The operands of a pass and their derivatives. What is absent counts as zero, but for a gain, which is
// then 1, and is not computed.
template <class T> struct Operands {
	Rows<T> y, ty;
	Rows<const T> x, tx;
	Rows<T> gx, gtx;
	Rows<const T> gy, gty;
	Vector<const T> gain, bias, dgain, dbias;
	RowNorm<Wide<T>> *norms;
	i64 n, columns, sign, epsilon, centered;
	template <PassKind kind> INLINE Operands of() const {
		Operands o = *this;
		if (!(kind & tangent)) o.tx = {}, o.ty = {}, o.dgain = {}, o.dbias = {};
		if (!(kind & adjoint)) o.gx = {}, o.gy = {}, o.norms = {};
		if (kind != all) o.gtx = {}, o.gty = {};
		return o;
	}
	DEVICE Wide<T> gained(Wide<T> v, i64 j) const { return gain ? product(v, wide(gain.at(j))) : v; }
};

// A Held is what load returns for the columns of a thread. The first of them are in registers.
template <class V, int kept, class F> struct Held {
	F load;
	V v[kept + !kept];
	INLINE V at(i64 j, int k) const { return k < kept ? v[k] : load(j); }
};
template <class V, int kept, int count, class Team, class F> INLINE Held<V, kept, F> hold(i64 c, F load) {
	Held<V, kept, F> h{load, {}};
	if (kept > 0) each<count, Team>(c, [&](i64 j, int k) { if (k < kept) h.v[k] = load(j); });
	return h;
}

// Outputs are the elements of a column to which numbers are added. Those of a batch are loaded together.
template <class T> struct Outputs {
	T y, ty, gx, gtx;
};

template <class T, bool block, PassKind kind> INLINE void normRows(Operands<T> o) {
	constexpr int count = kind == all ? 0 : heldColumns, batch = kind == forward ? 4 : 2;
	// Of a second operand it holds what there are registers for.
	constexpr int also = kind == all ? 0 : !block ? count : sizeof(Sum<T>) > 8 ? 3 : sizeof(T) == 8 ? 7 : 6;
	// Where the sums of ẋ, of h and of ḣ are.
	constexpr int atX = 0, atH = kind == all ? 2 : 0, atDH = kind == all ? 4 : 0, sums = kind == all ? 6 : 2;
	typedef Team<block, kind == all ? maxThreads : longThreads> Team;
	typedef Wide<T> W;
	i64 c = o.columns;
	for (i64 i = Team::row(); i < o.n; i = count > 0 ? o.n : i + Team::rows()) { // A grid has all rows that are held.
		auto xs = o.x[i], txs = o.tx[i], gy = o.gy[i], gty = o.gty[i];
		bool moved = o.tx.data && (o.ty.data || o.gy.data), turned = o.gtx.data && o.gy.data && o.tx.data;
		auto x = hold<T, count, count, Team>(c, [&](i64 j) { return xs[j]; });
		auto tx = hold<T, kind & tangent ? also : 0, count, Team>(c, [&](i64 j) { return txs ? txs[j] : T{}; });
		auto h = hold<W, kind & adjoint ? also : 0, count, Team>(c, [&](i64 j) { return gy ? o.gained(wide(gy[j]), j) : W{}; });
		auto dh = [&](i64 j) {
			W v = gty ? o.gained(wide(gty[j]), j) : W{};
			return gy && o.dgain ? v + product(wide(gy[j]), wide(o.dgain.at(j))) : v;
		};
		RowNorm<W> r = {};
		Means<W, 1> s = {};
		if (o.centered) {
			each<count, Team>(c, [&](i64 j, int k) { s.v[0].add(wide(x.at(j, k))); });
			r.mean = over(Team::all(s).v[0], c);
			s = {};
		}
		each<count, Team>(c, [&](i64 j, int k) {
			W v = wide(x.at(j, k)) - r.mean;
			s.v[0].addProduct(v, v);
		});
		r.rho = inverseRoot(over(Team::all(s).v[0], c), o.epsilon);

		W along = {}, mean = {}, turn = {}, slide = {}; // ⟨u·h⟩, ⟨h⟩, ⟨u·ḣ⟩, ⟨ḣ⟩
		if (moved || (o.gy.data && o.gx.data) || o.gtx.data) {
			Means<W, sums> s = {};
			each<count, Team>(c, [&](i64 j, int k) {
				W u = r.u(wide(x.at(j, k)));
				if (kind & tangent && moved) s.v[atX].addProduct(u, wide(tx.at(j, k))), s.v[atX + 1].add(wide(tx.at(j, k)));
				if (kind & adjoint && gy) s.v[atH].addProduct(u, h.at(j, k)), s.v[atH + 1].add(h.at(j, k));
				if (kind == all && o.gtx.data) s.v[atDH].addProduct(u, dh(j)), s.v[atDH + 1].add(dh(j));
			});
			s = Team::all(s);
			if (kind & tangent) r.along = over(s.v[atX], c);
			if (kind & adjoint) along = over(s.v[atH], c);
			if (kind == all) turn = over(s.v[atDH], c);
			if (o.centered) {
				if (kind & tangent) r.drift = over(s.v[atX + 1], c);
				if (kind & adjoint) mean = over(s.v[atH + 1], c);
				if (kind == all) slide = over(s.v[atDH + 1], c);
			}
		}
		if (o.norms && Team::me() == 0) o.norms[i] = r;
		W byRate = {}, byU = {}, byP = {}; // ρ·⟨u·h⟩, ρ·⟨u̇·h⟩ and ρ²·⟨u·ẋ⟩, negative
		if (turned) {
			Means<W, 1> s = {};
			each<count, Team>(c, [&](i64 j, int k) { s.v[0].addProduct(r.rate(r.u(wide(x.at(j, k))), wide(tx.at(j, k))), h.at(j, k)); });
			byRate = -product(r.rho, along), byU = -product(r.rho, over(Team::all(s).v[0], c));
			byP = -product(product(r.rho, r.along), r.rho);
		}
		i64 row = i + hidden(0);
		auto y = o.y[row], ty = o.ty[row], gx = o.gx[row], gtx = o.gtx[row];
		auto load = [&](i64 j) { return Outputs<T>{y ? y[j] : T{}, ty ? ty[j] : T{}, gx && gy ? gx[j] : T{}, gtx ? gtx[j] : T{}}; };
		auto add = [&](Outputs<T> to, i64 j, int k) {
			W u = r.u(wide(x.at(j, k)));
			if (y) {
				W e = o.gained(u, j);
				if (o.bias) e = e + wide(o.bias.at(j));
				addSigned(to.y, o.sign, e);
				y[j] = to.y;
			}
			W rate = moved ? r.rate(u, wide(tx.at(j, k))) : W{};
			if (ty) {
				W e = moved ? o.gained(rate, j) : W{};
				if (o.dgain) e = e + product(u, wide(o.dgain.at(j)));
				if (o.dbias) e = e + wide(o.dbias.at(j));
				addSigned(to.ty, o.sign, e);
				ty[j] = to.ty;
			}
			if (!gx && !gtx) return;
			W p = gy ? r.projected(h.at(j, k), mean, along, u) : W{};
			if (gx && gy) {
				addSigned(to.gx, 1, product(r.rho, p));
				gx[j] = to.gx;
			}
			if (!gtx) return;
			W e = product(r.rho, r.projected(dh(j), slide, turn, u));
			if (turned) e = e + product(byRate, rate) + product(byU, u) + product(byP, p);
			addSigned(to.gtx, 1, e);
			gtx[j] = to.gtx;
		};
		if (count == 0) {
			each<0, Team>(c, [&](i64 j, int k) { add(load(j), j, k); });
			continue;
		}
		i64 first = firstColumn<count, Team>();
#pragma unroll
		for (int k = 0; k < count; k += batch) {
			Outputs<T> to[batch];
#pragma unroll
			for (int b = 0; b < batch; b++) {
				i64 j = first + (k + b) * lanes;
				to[b] = j < c ? load(j) : Outputs<T>{};
			}
#pragma unroll
			for (int b = 0; b < batch; b++) {
				i64 j = first + (k + b) * lanes;
				if (j < c) add(to[b], j, k + b);
			}
		}
	}
}

// part_bj = Σ_i a_ij·u_ij + b_ij·u̇_ij over the rows of part b, of which each has that many rows, and ones_bj =
// Σ_i a_ij. An a or b that is null counts as zeros. A thread does a column.
template <class T>
DEVICE void normColumns(T *part, T *ones, Rows<const T> x, Rows<const T> a, Rows<const T> b, Rows<const T> tx, const RowNorm<Wide<T>> *norms, i64 rows, i64 cols, i64 each) {
	i64 begin = blockY() * each, end = begin + each < rows ? begin + each : rows;
	for (i64 j = first(); j < cols; j += step()) {
		Wide<T> s = {}, sum = {};
		for (i64 i = begin; i < end; i++) {
			auto r = norms[i];
			auto u = r.u(wide(x[i][j]));
			Wide<T> v = {};
			if (a.data) v = wide(a[i][j]);
			s = s + product(v, u);
			sum = sum + v;
			if (b.data && tx.data) s = s + product(wide(b[i][j]), r.rate(u, wide(tx[i][j])));
		}
		T to = {}, sumTo = {};
		addSigned(to, 1, s);
		addSigned(sumTo, 1, sum);
		part[blockY() * cols + j] = to;
		ones[blockY() * cols + j] = sumTo;
	}
}

#define ROWS(T, block, name, kind, bound) \
	KERNEL bound name(T *y, i64 sy, T *ty, i64 sty, const T *x, i64 sx, const T *tx, i64 stx, T *gx, i64 sgx, T *gtx, i64 sgtx, const T *gy, i64 sgy, const T *gty, i64 sgty, const T *gain, i64 incg, const T *bias, i64 incb, const T *dgain, i64 incdg, const T *dbias, i64 incdb, RowNorm<Wide<T>> *norms, i64 n, i64 columns, i64 sign, i64 epsilon, i64 centered) { \
		normRows<T, block, kind>(Operands<T>{{y, sy}, {ty, sty}, {x, sx}, {tx, stx}, {gx, sgx}, {gtx, sgtx}, {gy, sgy}, {gty, sgty}, {gain, incg}, {bias, incb}, {dgain, incdg}, {dbias, incdb}, norms, n, columns, sign, epsilon, centered}.template of<kind>()); \
	}
#define FIRST(T, block, name, type, bound) \
	ROWS(T, block, name##Forward##type, forward, bound) ROWS(T, block, name##Tangent##type, tangent, bound) ROWS(T, block, name##Adjoint##type, adjoint, bound)
#define KERNELS(T, type) \
	FIRST(T, false, normRows, type, __attribute__((launch_bounds(maxThreads, 3)))) ROWS(T, false, normRowsAll##type, all, ) \
	FIRST(T, true, normLongRows, type, __attribute__((launch_bounds(longThreads)))) ROWS(T, true, normLongRowsAll##type, all, ) \
	KERNEL normColumns##type(T *part, T *ones, const T *x, i64 sx, const T *a, i64 sa, const T *b, i64 sb, const T *tx, i64 stx, const RowNorm<Wide<T>> *norms, i64 rows, i64 cols, i64 each) { \
		normColumns<T>(part, ones, {x, sx}, {a, sa}, {b, sb}, {tx, stx}, norms, rows, cols, each); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
