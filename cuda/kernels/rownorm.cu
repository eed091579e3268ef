// LayerNorm and RMSNorm, with the equations of revnn. A warp or a block has a row and makes its whole
// pass, so that what is read again is in the cache. Over Q43 each step rounds as the host does.
#include "reduce.h"
#include "team.h"
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
template <class T> struct RowNorm {
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

template <class T, bool block> INLINE void normRows(Operands<T> o) {
	typedef Team<block> Team;
	typedef Wide<T> W;
	i64 me = Team::me(), size = Team::size(), c = o.columns;
	for (i64 i = Team::row(); i < o.n; i += Team::rows()) {
		auto x = o.x[i], tx = o.tx[i], gy = o.gy[i], gty = o.gty[i];
		auto y = o.y[i], ty = o.ty[i], gx = o.gx[i], gtx = o.gtx[i];
		RowNorm<W> r = {};
		Means<W, 1> s = {};
		if (o.centered) {
			for (i64 j = me; j < c; j += size) s.v[0].add(wide(x[j]));
			r.mean = over(Team::all(s).v[0], c);
			s = {};
		}
		for (i64 j = me; j < c; j += size) {
			W v = wide(x[j]) - r.mean;
			s.v[0].addProduct(v, v);
		}
		r.rho = inverseRoot(over(Team::all(s).v[0], c), o.epsilon);

		bool moved = tx && (ty || gy), turned = gtx && gy && tx;
		W along = {}, mean = {}, turn = {}, slide = {}; // ⟨u·h⟩, ⟨h⟩, ⟨u·ḣ⟩, ⟨ḣ⟩
		auto h = [&](i64 j) { return o.gained(wide(gy[j]), j); };
		auto dh = [&](i64 j) {
			W v = gty ? o.gained(wide(gty[j]), j) : W{};
			return gy && o.dgain ? v + product(wide(gy[j]), wide(o.dgain.at(j))) : v;
		};
		if (moved || (gy && (gx || gtx)) || gtx) {
			Means<W, 6> s = {};
			for (i64 j = me; j < c; j += size) {
				W u = r.u(wide(x[j]));
				if (moved) s.v[0].addProduct(u, wide(tx[j])), s.v[1].add(wide(tx[j]));
				if (gy) s.v[2].addProduct(u, h(j)), s.v[3].add(h(j));
				if (gtx) s.v[4].addProduct(u, dh(j)), s.v[5].add(dh(j));
			}
			s = Team::all(s);
			r.along = over(s.v[0], c), along = over(s.v[2], c), turn = over(s.v[4], c);
			if (o.centered) r.drift = over(s.v[1], c), mean = over(s.v[3], c), slide = over(s.v[5], c);
		}
		if (o.norms && me == 0) o.norms[i] = r;
		W byRate = {}, byU = {}, byP = {}; // ρ·⟨u·h⟩, ρ·⟨u̇·h⟩ and ρ²·⟨u·ẋ⟩, negative
		if (turned) {
			Means<W, 1> s = {};
			for (i64 j = me; j < c; j += size) s.v[0].addProduct(r.rate(r.u(wide(x[j])), wide(tx[j])), h(j));
			byRate = -product(r.rho, along), byU = -product(r.rho, over(Team::all(s).v[0], c));
			byP = -product(product(r.rho, r.along), r.rho);
		}
		for (i64 j = me; j < c; j += size) {
			W v = wide(x[j]), u = r.u(v);
			if (y) {
				W e = o.gained(product(signedBy(o.sign, r.rho), v - r.mean), j);
				if (o.bias) e = e + signedBy(o.sign, wide(o.bias.at(j)));
				addSigned(y[j], 1, e);
			}
			W rate = moved ? r.rate(u, wide(tx[j])) : W{};
			if (ty) {
				W e = moved ? o.gained(rate, j) : W{};
				if (o.dgain) e = e + product(u, wide(o.dgain.at(j)));
				if (o.dbias) e = e + wide(o.dbias.at(j));
				addSigned(ty[j], o.sign, e);
			}
			if (!gx && !gtx) continue;
			W p = gy ? r.projected(h(j), mean, along, u) : W{};
			if (gx && gy) addSigned(gx[j], 1, product(r.rho, p));
			if (!gtx) continue;
			W e = product(r.rho, r.projected(dh(j), slide, turn, u));
			if (turned) e = e + product(byRate, rate) + product(byU, u) + product(byP, p);
			addSigned(gtx[j], 1, e);
		}
	}
}

// part_bj = Σ_i a_ij·u_ij + b_ij·u̇_ij over the rows of part b, of which each has that many rows. An a or
// b that is null counts as zeros. A thread does a column.
template <class T>
DEVICE void normColumns(T *part, Rows<const T> x, Rows<const T> a, Rows<const T> b, Rows<const T> tx, const RowNorm<Wide<T>> *norms, i64 rows, i64 cols, i64 each) {
	i64 begin = blockY() * each, end = begin + each < rows ? begin + each : rows;
	for (i64 j = first(); j < cols; j += step()) {
		Wide<T> s = {};
		for (i64 i = begin; i < end; i++) {
			auto r = norms[i];
			auto u = r.u(wide(x[i][j]));
			if (a.data) s = s + product(wide(a[i][j]), u);
			if (b.data && tx.data) s = s + product(wide(b[i][j]), r.rate(u, wide(tx[i][j])));
		}
		T to = {};
		addSigned(to, 1, s);
		part[blockY() * cols + j] = to;
	}
}

#define ROWS(T, block, name, kind) \
	KERNEL name(T *y, i64 sy, T *ty, i64 sty, const T *x, i64 sx, const T *tx, i64 stx, T *gx, i64 sgx, T *gtx, i64 sgtx, const T *gy, i64 sgy, const T *gty, i64 sgty, const T *gain, i64 incg, const T *bias, i64 incb, const T *dgain, i64 incdg, const T *dbias, i64 incdb, RowNorm<Wide<T>> *norms, i64 n, i64 columns, i64 sign, i64 epsilon, i64 centered) { \
		normRows<T, block>(Operands<T>{{y, sy}, {ty, sty}, {x, sx}, {tx, stx}, {gx, sgx}, {gtx, sgtx}, {gy, sgy}, {gty, sgty}, {gain, incg}, {bias, incb}, {dgain, incdg}, {dbias, incdb}, norms, n, columns, sign, epsilon, centered}.template of<kind>()); \
	}
#define FLOATS(T, block, name, type) \
	ROWS(T, block, name##Forward##type, forward) ROWS(T, block, name##Tangent##type, tangent) \
	ROWS(T, block, name##Adjoint##type, adjoint) ROWS(T, block, name##All##type, all)
#define COLUMNS(T, type) \
	KERNEL normColumns##type(T *part, const T *x, i64 sx, const T *a, i64 sa, const T *b, i64 sb, const T *tx, i64 stx, const RowNorm<Wide<T>> *norms, i64 rows, i64 cols, i64 each) { \
		normColumns<T>(part, {x, sx}, {a, sa}, {b, sb}, {tx, stx}, norms, rows, cols, each); \
	}
FLOATS(double, false, normRows, F64)
FLOATS(double, true, normLongRows, F64)
FLOATS(float, false, normRows, F32)
FLOATS(float, true, normLongRows, F32)
ROWS(Q43, false, normRowsAllQ43, all)
ROWS(Q43, true, normLongRowsAllQ43, all)
COLUMNS(double, F64)
COLUMNS(float, F32)
COLUMNS(Q43, Q43)
