// LogSumExp and Softmax of each row of a matrix, as in softmax.cu. A warp or a block has a row and
// makes its whole pass. In passes of first order its threads hold the row, unless that is too long. In others
// operands are read again where they are needed. Over floats the largest element, the sum of
// exponentials and means of two other rows are then computed in one pass.
#include "held.h"
#include "softmax.h"

template <class T> struct Maximum : Largest<T> {
	DEVICE Maximum crossed(int mask) const { return {{across(this->v, mask)}}; }
};

// part returns exp(x - m)/s. Over floats 1/s is computed once, and over Q43 each quotient is rounded.
DEVICE double inverse(double s) { return 1 / s; }
DEVICE Q43 inverse(Q43 s) { return s; }
DEVICE double part(double e, double inverse) { return e * inverse; }
DEVICE Q43 part(Q43 e, Q43 s) { return quotient(e, s); }

// A Softmax yields the elements of p of a row. Over floats it has the means of y and z, which may be absent.
template <class T, class Team> struct Softmax {
	static constexpr bool hasMeans = true;
	Row<const T> x;
	double m, unit, meanY, meanZ, logSum;
	INLINE Softmax(Row<const T> x, i64 n, bool softmax, Row<const T> y, Row<const T> z) : x(x) {
		auto e = Exponentials<2>::none();
		for (i64 j = Team::me(); j < n; j += Team::size()) e.add(x[j], {y ? y[j] : 0, z ? z[j] : 0});
		e = Team::all(e);
		m = e.m, meanY = n > 0 ? e.mean(0) : 0, meanZ = n > 0 ? e.mean(1) : 0, logSum = e.logSum();
		unit = inverse(e.divisor(softmax));
	}
	INLINE double at(i64 j) const { return part(expOf(wide(x[j]), m), unit); }
};
template <class Team> struct Softmax<Q43, Team> {
	static constexpr bool hasMeans = false;
	Row<const Q43> x;
	Q43 m, s, meanY, meanZ, logSum;
	INLINE Softmax(Row<const Q43> x, i64 n, bool, Row<const Q43>, Row<const Q43>) : x(x), meanY{}, meanZ{} {
		Maximum<Q43> top{Largest<Q43>::none()};
		for (i64 j = Team::me(); j < n; j += Team::size()) top.add({x[j]});
		m = Team::all(top).v;
		Total<Q43> sum{Sum<Q43>::zero()};
		for (i64 j = Team::me(); j < n; j += Team::size()) sum.add(expOf(x[j], m));
		s = total(Team::all(sum));
		logSum = ::logSum(m, s, n);
	}
	INLINE Q43 at(i64 j) const { return part(expOf(x[j], m), s); }
};

// The operands of a pass and their derivatives. What is absent counts as zero, and is not computed.
template <class T> struct Operands {
	Rows<T> y, ty;
	Rows<const T> x, tx;
	Rows<T> gx, gtx;
	Rows<const T> gy, gty;
	i64 n, columns, sign;
};

// Y_i += softmax(X_i), with r = Σ p_j·ẋ_j, d = Σ p_j·ȳ_j and e = Σ p_j·(ġy_j + (ẋ_j - r)·(ȳ_j - d)).
template <class T, bool block> INLINE void softmaxRows(Operands<T> o) {
	typedef Team<block> Team;
	typedef Total<Wide<T>> Means;
	for (i64 i = Team::row(); i < o.n; i += Team::rows()) {
		auto y = o.y[i], ty = o.ty[i], gx = o.gx[i], gtx = o.gtx[i];
		auto tx = o.tx[i], gy = o.gy[i], gty = o.gty[i];
		Softmax<T, Team> p(o.x[i], o.columns, true, tx, gy);
		bool turn = gtx && gy && tx, turned = gtx && (gty || turn);
		Wide<T> r = p.meanY, d = p.meanZ, e = {};
		bool needsR = tx && !p.hasMeans, needsD = gy && !p.hasMeans;
		if (needsR || needsD || gty) {
			Means sr{}, sd{}, se{};
			for (i64 j = Team::me(); j < o.columns; j += Team::size()) {
				auto q = p.at(j);
				if (needsR) sr.add(product(q, wide(tx[j])));
				if (needsD) sd.add(product(q, wide(gy[j])));
				if (gty) se.add(product(q, wide(gty[j])));
			}
			if (needsR) r = Team::all(sr).value();
			if (needsD) d = Team::all(sd).value();
			if (gty) e = Team::all(se).value();
		}
		if (turn) {
			Means s{};
			for (i64 j = Team::me(); j < o.columns; j += Team::size()) s.add(product(product(p.at(j), wide(tx[j]) - r), wide(gy[j]) - d));
			e = e + Team::all(s).value();
		}
		for (i64 j = Team::me(); j < o.columns; j += Team::size()) {
			auto q = p.at(j);
			if (y) addSigned(y[j], o.sign, q);
			if (ty && tx) addSigned(ty[j], o.sign, product(q, wide(tx[j]) - r));
			if (gx && gy) addSigned(gx[j], 1, product(q, wide(gy[j]) - d));
			if (!turned) continue;
			Wide<T> v = {};
			if (gty) v = wide(gty[j]);
			v = v - e;
			if (turn) v = v + product(wide(tx[j]) - r, wide(gy[j]) - d);
			addSigned(gtx[j], 1, product(q, v));
		}
	}
}

// y_i += log Σ exp(X_ij), with τ = Σ p_j·ẋ_j. The rows of y and of its derivatives have one element.
template <class T, bool block> INLINE void logSumExpRows(Operands<T> o) {
	typedef Team<block> Team;
	for (i64 i = Team::row(); i < o.n; i += Team::rows()) {
		auto y = o.y[i], ty = o.ty[i], gx = o.gx[i], gtx = o.gtx[i];
		auto tx = o.tx[i], gy = o.gy[i], gty = o.gty[i];
		Softmax<T, Team> p(o.x[i], o.columns, false, tx, {});
		Wide<T> tau = p.meanY;
		if (!p.hasMeans && tx && (ty || gtx)) {
			Total<Wide<T>> s{};
			for (i64 j = Team::me(); j < o.columns; j += Team::size()) s.add(product(p.at(j), wide(tx[j])));
			tau = Team::all(s).value();
		}
		if (Team::me() == 0) {
			if (y) addSigned(y[0], o.sign, p.logSum);
			if (ty && tx) addSigned(ty[0], o.sign, tau);
		}
		bool turn = gtx && gy && tx, turned = gtx && (gty || turn);
		if (!(gx && gy) && !turned) continue;
		for (i64 j = Team::me(); j < o.columns; j += Team::size()) {
			auto q = p.at(j);
			if (gx && gy) addSigned(gx[j], 1, product(q, wide(gy[0])));
			if (!turned) continue;
			Wide<T> v = {};
			if (gty) v = wide(gty[0]);
			if (turn) v = v + product(wide(gy[0]), wide(tx[j]) - tau);
			addSigned(gtx[j], 1, product(q, v));
		}
	}
}

// hold loads the elements of a row that a thread has, or zeros if it is absent.
template <class Team, class T> INLINE void hold(T (&v)[heldColumns], Row<const T> x, i64 n) {
	each<heldColumns, Team>(n, [&](i64 j, int k) { v[k] = x ? x[j] : T{}; });
}

// A Shares has p of a row, and y with its mean. A thread holds the elements of its columns. A y that is absent counts as
// zeros. The bits of a row in a warp are those of a Softmax.
template <class T, class Team> struct Shares {
	T y[heldColumns];
	double p[heldColumns], logSum, mean;
	INLINE Shares(Row<const T> x, i64 n, bool softmax, Row<const T> of) : y{}, p{} {
		each<heldColumns, Team>(n, [&](i64 j, int k) { p[k] = wide(x[j]); });
		hold<Team>(y, of, n);
		auto e = Exponentials<1>::none();
		each<heldColumns, Team>(n, [&](i64, int k) { e.add(p[k], {y[k]}); });
		e = Team::all(e);
		mean = n > 0 ? e.mean(0) : 0, logSum = e.logSum();
		double unit = inverse(e.divisor(softmax));
		each<heldColumns, Team>(n, [&](i64, int k) { p[k] = part(expOf(p[k], e.m), unit); });
	}
};
template <class Team> struct Shares<Q43, Team> {
	Q43 y[heldColumns], p[heldColumns], logSum, mean;
	INLINE Shares(Row<const Q43> x, i64 n, bool, Row<const Q43> of) : y{}, p{} {
		hold<Team>(p, x, n);
		Maximum<Q43> top{Largest<Q43>::none()};
		each<heldColumns, Team>(n, [&](i64, int k) { top.add({p[k]}); });
		Q43 m = Team::all(top).v;
		Total<Q43> sum{}, products{};
		each<heldColumns, Team>(n, [&](i64, int k) { sum.add(p[k] = expOf(p[k], m)); });
		Q43 s = total(Team::all(sum));
		logSum = ::logSum(m, s, n);
		each<heldColumns, Team>(n, [&](i64, int k) { p[k] = part(p[k], s); });
		hold<Team>(y, of, n);
		each<heldColumns, Team>(n, [&](i64, int k) { products.add(product(p[k], y[k])); });
		mean = Team::all(products).value();
	}
};

// addHeld adds sign·f(k) to each element j of y that a thread has. It loads batches of them together.
template <class Team, class T, class F> INLINE void addHeld(Row<T> y, i64 columns, i64 sign, F f) {
	constexpr int batch = sizeof(Sum<T>) > 8 ? 2 : 4;
	i64 first = firstColumn<heldColumns, Team>();
#pragma unroll
	for (int k = 0; k < heldColumns; k += batch) {
		T to[batch];
#pragma unroll
		for (int b = 0; b < batch; b++) {
			i64 j = first + (k + b) * lanes;
			to[b] = j < columns ? y[j] : T{};
		}
#pragma unroll
		for (int b = 0; b < batch; b++) {
			i64 j = first + (k + b) * lanes;
			if (j >= columns) continue;
			addSigned(to[b], sign, f(k + b));
			y[j] = to[b];
		}
	}
}

// softmaxHeldRows is softmaxRows for one of Tangent and Adjoint, or none. The Jacobian of a row is symmetric, so
// that these differ only in their operands.
template <class T, bool block> INLINE void softmaxHeldRows(Operands<T> o) {
	typedef Team<block, longThreads> Team;
	i64 i = Team::row();
	if (i >= o.n) return;
	bool moves = o.ty.data && o.tx.data;
	auto from = moves ? o.tx : o.gy;
	auto to = moves ? o.ty : o.gx;
	Shares<T, Team> s(o.x[i], o.columns, true, from[i]);
	i64 row = i + hidden(0);
	if (o.y.data) addHeld<Team>(o.y[row], o.columns, o.sign, [&](int k) { return s.p[k]; });
	if (from.data && to.data) addHeld<Team>(to[row], o.columns, moves ? o.sign : 1, [&](int k) { return product(s.p[k], wide(s.y[k]) - s.mean); });
}

// logSumExpHeldRows is logSumExpRows likewise.
template <class T, bool block> INLINE void logSumExpHeldRows(Operands<T> o) {
	typedef Team<block, longThreads> Team;
	i64 i = Team::row();
	if (i >= o.n) return;
	Shares<T, Team> s(o.x[i], o.columns, false, o.tx[i]);
	if (Team::me() == 0) {
		if (o.y.data) addSigned(o.y[i][0], o.sign, s.logSum);
		if (o.ty.data && o.tx.data) addSigned(o.ty[i][0], o.sign, s.mean);
	}
	if (o.gx.data && o.gy.data) addHeld<Team>(o.gx[i], o.columns, 1, [&](int k) { return product(s.p[k], wide(o.gy[i][0])); });
}

#define ROWS(function, T, block, name, bound) \
	KERNEL bound name(T *y, i64 sy, T *ty, i64 sty, const T *x, i64 sx, const T *tx, i64 stx, T *gx, i64 sgx, T *gtx, i64 sgtx, const T *gy, i64 sgy, const T *gty, i64 sgty, i64 n, i64 columns, i64 sign) { \
		function<T, block>({{y, sy}, {ty, sty}, {x, sx}, {tx, stx}, {gx, sgx}, {gtx, sgtx}, {gy, sgy}, {gty, sgty}, n, columns, sign}); \
	}
#define KERNELS(T, name) \
	ROWS(softmaxRows, T, false, softmaxRows##name, ) \
	ROWS(softmaxRows, T, true, softmaxLongRows##name, ) \
	ROWS(logSumExpRows, T, false, logSumExpRows##name, ) \
	ROWS(logSumExpRows, T, true, logSumExpLongRows##name, ) \
	ROWS(softmaxHeldRows, T, false, softmaxHeldRows##name, __attribute__((launch_bounds(maxThreads, 3)))) \
	ROWS(softmaxHeldRows, T, true, softmaxHeldLongRows##name, __attribute__((launch_bounds(longThreads)))) \
	ROWS(logSumExpHeldRows, T, false, logSumExpHeldRows##name, __attribute__((launch_bounds(maxThreads, 3)))) \
	ROWS(logSumExpHeldRows, T, true, logSumExpHeldLongRows##name, __attribute__((launch_bounds(longThreads))))
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
