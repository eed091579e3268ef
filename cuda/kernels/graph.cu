// The loss of an embedding of a graph, with the equations of revmodels/graphembed. Over Q43 the
// results have its bits.
//
// A thread has a vertex i, and goes over the others, j, in their order: first those that are apart,
// then its neighbours. The sums over pairs of distances take those with j > i. The derivatives by
// the coordinates of i take all, so that no thread adds to sums of another one. The vertices j are
// cut into parts. A block has some vertices i and a part, and what it adds up is added up in the
// order of parts.
//
// Kernels of floats are compiled for 2 and for 3 dimensions, with a loop over pairs for each kind of
// pass. Others are for any number of dimensions, which is `dim` 0 here. They have one loop for all.
#include "squares.h"

DEVICE double plus(double x, double y) { return x + y; }
DEVICE float plus(float x, float y) { return x + y; }
DEVICE Q43 plus(Q43 x, Q43 y) { return x + y; }
DEVICE double minus(double x, double y) { return x - y; }
DEVICE float minus(float x, float y) { return x - y; }
DEVICE Q43 minus(Q43 x, Q43 y) { return x - y; }
DEVICE void narrow(double &x, double v) { x = v; }
DEVICE void narrow(float &x, double v) { x = (float)v; }
DEVICE void narrow(Q43 &x, Q43 v) { x = v; }

// A Big<T> is the number in which many of type T are added up: exactly for Q43.
template <class T> struct BigOf { typedef double type; };
template <> struct BigOf<Q43> { typedef i128 type; };
template <class T> using Big = typename BigOf<T>::type;
DEVICE double big(double x) { return x; }
DEVICE double big(float x) { return x; }
DEVICE i128 big(Q43 x) { return x.v; }
DEVICE void addSquare(double &s, double x) { s = fma(x, x, s); }
DEVICE void addSquare(i128 &s, Q43 x) { s += (i128)x.v * x.v; }

// plusProduct returns s + x·y. The product is rounded over Q43.
DEVICE double plusProduct(double s, double x, double y) { return fma(x, y, s); }
DEVICE float plusProduct(float s, float x, float y) { return __builtin_elementwise_fma(x, y, s); }
DEVICE Q43 plusProduct(Q43 s, Q43 x, Q43 y) { return s + product(x, y); }
DEVICE double lessProduct(double s, double x, double y) { return fma(-x, y, s); }
DEVICE float lessProduct(float s, float x, float y) { return __builtin_elementwise_fma(-x, y, s); }
DEVICE Q43 lessProduct(Q43 s, Q43 x, Q43 y) { return s + product(x, minus(Q43{}, y)); }

// Totals are sums over pairs.
template <class T> struct Totals {
	Big<T> v[5];
	DEVICE static Totals none() { return {}; }
	DEVICE void add(const Totals &t) {
		for (int k = 0; k < 5; k++) v[k] += t.v[k];
	}
	DEVICE Totals lower(int by) const {
		Totals t;
		for (int k = 0; k < 5; k++) t.v[k] = down(v[k], by);
		return t;
	}
	// push makes x the second of two elements, and the second one the first. An index that depends on the
	// kind would put the elements into memory.
	INLINE void push(int at, Big<T> x) { v[at] = v[at + 1], v[at + 1] = x; }
};
// Their first elements are these, for pairs that are apart and for those that are connected.
enum { sumAt = 0, tangentAt = 2 };                // of distances
enum { excessAt = 0, squareAt = 2, changeAt = 4 }; // of distances less their mean, and of the loss

// nearest returns the Q43 nearest to a/(n·2^shift), wrapped, for n > 0.
INLINE Q43 nearest(i128 a, u64 n, int shift) {
	bool negative = a < 0;
	u128 m = negative ? -(u128)a : (u128)a;
	u64 hi = (u64)(m >> 64), rest;
	u64 lo = divide(hi % n, (u64)m, n, rest);
	hi /= n;
	bool up = rest >= (n + 1) / 2;
	if (shift > 0) {
		up = lo >> (shift - 1) & 1;
		lo = lo >> shift | hi << (64 - shift);
	}
	lo += up;
	return Q43{(i64)(negative ? -lo : lo)};
}

// A Kind has the mean m of the distances of n pairs, their tangent, and what makes the derivative
// of the loss by a distance, w = α·(d - m) + β, α = 2/(n-1), and its tangent.
template <class T> struct Kind {
	T mean, meanDot, beta, betaDot, alpha;
	i64 n;
};
// weight returns α·x + β.
DEVICE double weight(const Kind<double> &k, double x, double beta) { return fma(k.alpha, x, beta); }
DEVICE float weight(const Kind<float> &k, float x, float beta) { return plusProduct(beta, k.alpha, x); }
DEVICE Q43 weight(const Kind<Q43> &k, Q43 x, Q43 beta) { return k.n < 2 ? beta : nearest((x + x).v, (u64)k.n - 1, 0) + beta; }

// Kinds has both, first that of pairs that are apart, and max(exp z - 1, 0), the loss by the
// means.
template <class W> struct Kinds {
	Kind<W> of[2];
	W byMeans;
};
template <class T> INLINE Kind<T> narrowed(const Kind<Wide<T>> &k) {
	Kind<T> t;
	narrow(t.mean, k.mean);
	narrow(t.meanDot, k.meanDot);
	narrow(t.beta, k.beta);
	narrow(t.betaDot, k.betaDot);
	narrow(t.alpha, k.alpha);
	t.n = k.n;
	return t;
}

// A Walk goes over vertices that are not i, in ascending order: those apart from i, or its neighbours.
struct Walk {
	const int *first, *end; // the neighbours
	int i, lo, hi;
	const int *at;
	int j, next;
	bool near;

	// It goes from lo to hi - 1. The neighbours of i are list[ptr[i]], ..., list[ptr[i+1]-1].
	INLINE Walk(const int *ptr, const int *list, i64 i, i64 lo, i64 hi) : i((int)i), lo((int)lo), hi((int)hi) {
		first = find(list + ptr[i], list + ptr[i + 1], lo);
		end = find(first, list + ptr[i + 1], hi);
	}
	INLINE static const int *find(const int *from, const int *to, i64 j) {
		while (from < to) {
			const int *m = from + (to - from) / 2;
			if (*m < j) from = m + 1;
			else to = m;
		}
		return from;
	}
	INLINE void start(bool neighbours) {
		near = neighbours;
		at = first;
		j = lo - 1;
		skip();
	}
	// skip sets next to the first vertex after j that is i or a neighbour.
	INLINE void skip() {
		constexpr int none = (int)(~0u >> 1);
		int a = at < end ? *at : none, b = j < i ? i : none;
		next = a < b ? a : b;
	}
	// advance sets j to the next one.
	INLINE bool advance() {
		if (near) {
			if (at == end) return false;
			j = *at++;
			return true;
		}
		while (++j == next) {
			if (j != i) at++;
			skip();
		}
		return j < hi;
	}
	// each calls use for the vertices from `lo` on, or where `together` for those apart from one on, which the threads of a warp look
	// at together: the loads of a vertex have one address, and no thread looks for the next vertex. use gets
	// whether the vertex counts, and whether it is above i, too.
	template <bool together, class Use> INLINE void each(bool neighbours, i64 from, Use use) {
		if constexpr (!together) {
			start(neighbours);
			while (advance()) use(j, true, j > i);
			return;
		}
		const int *at = first;
		if (neighbours) {
			for (; at < end; at++) use(*at, true, *at > i);
			return;
		}
		for (int some = (int)from; some < hi; some += lanes) {
			unsigned counts = bitsFrom(lo - some) & ~bit(i - some), above = bitsFrom(i + 1 - some);
			for (; at < end && *at - some < lanes; at++) counts &= ~bit(*at - some);
			above &= counts;
			int count = hi - some < lanes ? hi - some : lanes;
			for (int b = 0; b < count; b++) use(some + b, counts >> b & 1, above >> b & 1);
		}
	}
	INLINE static unsigned bit(int b) { return (unsigned)b < lanes ? 1u << b : 0; }
	INLINE static unsigned bitsFrom(int b) { return b <= 0 ? ~0u : b < lanes ? ~0u << b : 0; }
};

// A Length is a distance d, by which numbers are divided. Divided by 0 they are 0.
template <class T> struct Length {
	T d, inverse;
	INLINE void set(T square) {
		if (!fast(square)) {
			d = __builtin_elementwise_sqrt(square);
			inverse = d == 0 ? 0 : 1 / d;
		}
	}
	INLINE bool fast(float) { return false; }
	// A root and a quotient of double take about 20 operations, and these 9: an approximation of
	// 1/√s to 20 bits, a step of third order, and one of Newton's for √s. The numbers that they use
	// are in range if s is not very large or small.
	INLINE bool fast(double s) {
		if ((unsigned)(bits(s) >> 52) - 123 >= 1900) return false;
		double y, half;
		asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(s));
		double e = fma(-(s * y), y, 1);
		inverse = fma(fma(0.375, e, 0.5), y * e, y);
		half = 0.5 * inverse;
		d = s * inverse;
		d = fma(fma(-d, d, s), half, d);
		return true;
	}
	INLINE T divide(T x) const { return x * inverse; }
	INLINE bool zero() const { return d == 0; }
};
template <> struct Length<Q43> {
	Q43 d;
	INLINE void set(Squares<Q43> s) { d = s.sqrt(); }
	INLINE Q43 divide(Q43 x) const { return d.v == 0 ? d : quotient(x, d); }
	INLINE bool zero() const { return d.v == 0; }
};
template <class T> struct Square {
	T v = 0;
	INLINE void add(T x) { v = __builtin_elementwise_fma(x, x, v); }
	INLINE T value() const { return v; }
};
template <> struct Square<Q43> {
	Squares<Q43> v = {0};
	INLINE void add(Q43 x) { v.add(x); }
	INLINE Squares<Q43> value() const { return v; }
};

// The coordinates of a vertex from one on, up to a group, are in registers. Where there are
// more, there are blocks for each group.
constexpr int most = 8;
template <int dim> constexpr int groupOf = dim ? dim : most;

// Vertices have coordinates x, and tangents v or none, one vertex after the other.
template <class T> struct Vertices {
	i64 n, dim;
	const T *x, *v;
	const int *ptr, *list; // of neighbours
};

// A Pair is that of vertex i with another. Without `moves` there are no tangents, and with it there
// may be some.
template <class T, int dim, bool moves> struct Pair {
	static constexpr int group = groupOf<dim>;
	Vertices<T> of;
	i64 i, from, width; // coordinates from, ..., from + width - 1 are in registers
	T x[group], v[group], dx[group], dv[group];
	Length<T> length;
	T dDot; // the tangent of the distance

	INLINE Pair(const Vertices<T> &of, i64 i, i64 from) : of(of), i(i), from(from) {
		width = dim ? dim : of.dim - from < group ? of.dim - from : group;
#pragma unroll
		for (int c = 0; c < group; c++) {
			x[c] = v[c] = T{};
			if (c < width) x[c] = of.x[i * cols() + from + c];
			if (moving() && c < width) v[c] = of.v[i * cols() + from + c];
		}
	}
	INLINE i64 cols() const { return dim ? dim : of.dim; }
	INLINE bool moving() const { return moves && of.v; }
	INLINE void with(i64 j) {
		bool all = width == cols();
		Square<T> s;
#pragma unroll
		for (int c = 0; c < group; c++) {
			if (c < width) {
				dx[c] = minus(of.x[j * cols() + from + c], x[c]);
				if (moving()) dv[c] = minus(of.v[j * cols() + from + c], v[c]);
				if (all) s.add(dx[c]);
			}
		}
		for (i64 c = 0; c < cols() && !all; c++) s.add(difference(of.x, j, c));
		length.set(s.value());
		dDot = T{};
		if (!moving()) return;
#pragma unroll
		for (int c = 0; c < group; c++) {
			if (c < width && all) dDot = plusProduct(dDot, length.divide(dx[c]), dv[c]);
		}
		for (i64 c = 0; c < cols() && !all; c++) {
			dDot = plusProduct(dDot, length.divide(difference(of.x, j, c)), difference(of.v, j, c));
		}
	}
	INLINE T difference(const T *x, i64 j, i64 c) const { return minus(x[j * cols() + c], x[i * cols() + c]); }
};

// A Share is what a block does: some vertices i, a part of the vertices j, and the coordinates of
// a group.
struct Share {
	i64 i, lo, hi, from, part;
	INLINE Share(i64 n, i64 rows, i64 parts, int group) {
		i64 rest = blockX() / rows;
		part = rest % parts;
		i = blockX() % rows * threads() + threadX();
		lo = n * part / parts;
		hi = n * (part + 1) / parts;
		from = rest / parts * group;
	}
	// above returns the first vertex of the part that can be above one of a warp.
	INLINE i64 above() const {
		i64 least = i - threadX() % lanes + 1;
		return lo > least ? lo : least;
	}
};

// packVertices makes the vertices of the first m, which are rows of a, and the others, rows of b.
// Null rows are zeros.
template <class T> INLINE void packVertices(T *to, i64 n, i64 dim, i64 m, const T *a, i64 downA, const T *b, i64 downB) {
	for (i64 e = first(); e < n * dim; e += step()) {
		i64 i = e / dim, c = e % dim;
		const T *row = i < m ? a : b;
		i64 at = i < m ? i * downA : (i - m) * downB;
		to[e] = row ? row[at + c] : T{};
	}
}

// graphMeans adds up distances and their tangents.
template <class T, int dim, bool moves> INLINE Totals<T> means(const Vertices<T> &of, const Share &share) {
	Totals<T> s = Totals<T>::none();
	i64 i = share.i, begin = share.lo > i ? share.lo : i + 1;
	if (i >= of.n || begin >= share.hi) return s;
	Pair<T, dim, moves> p(of, i, 0);
	Walk walk(of.ptr, of.list, i, begin, share.hi);
	for (int near = 0; near < 2; near++) {
		Big<T> sum = 0, tangent = 0;
		walk.each<(dim > 0)>(near, share.above(), [&](i64 j, bool counts, bool) __attribute__((always_inline)) {
			p.with(j);
			if (!counts) return;
			sum += big(p.length.d);
			if (moves) tangent += big(p.dDot);
		});
		s.push(sumAt, sum);
		s.push(tangentAt, tangent);
	}
	return s;
}
template <class T, int dim> INLINE void graphMeans(Totals<T> *total, const Vertices<T> &of, i64 rows, i64 parts) {
	Share share(of.n, rows, parts, groupOf<dim>);
	Totals<T> s;
	if constexpr (dim > 0) s = of.v ? means<T, dim, true>(of, share) : means<T, dim, false>(of, share);
	else s = means<T, dim, true>(of, share);
	s = blockReduce(s);
	if (threadX() == 0) total[blockX()] = s;
}

INLINE void setKind(Kind<double> &k, double sum, double tangent) {
	k.mean = sum / (double)k.n;
	k.meanDot = tangent / (double)k.n;
	k.alpha = k.n > 1 ? 2 / (double)(k.n - 1) : 0;
}
INLINE void setKind(Kind<Q43> &k, i128 sum, i128 tangent) {
	k.mean = nearest(sum, (u64)k.n, 0);
	k.meanDot = nearest(tangent, (u64)k.n, 0);
}
DEVICE double share(double e, i64 n) { return e / (double)n; }
DEVICE Q43 share(Q43 e, i64 n) { return nearest(e.v, (u64)n, 0); }

// exponential returns exp z, and exp z - 1. In floating point the second is (e - 1)·z/log e, e =
// exp z, in which the errors of e - 1 and log e cancel (Kahan).
DEVICE double exponential(double z, double &less1) {
	double e = exp(z);
	less1 = e == 1 ? z : e == infinity ? e : (e - 1) * z / log(e);
	return e;
}
DEVICE Q43 exponential(Q43 z, Q43 &less1) {
	Q43 e = expSat(z);
	less1 = e - Q43{(i64)1 << 43};
	return e;
}

// graphKinds computes the kinds. There are some pairs apart, and some connected.
template <class T, class W>
INLINE void graphKinds(Kinds<W> *to, const Totals<T> *total, i64 totals, i64 apart, i64 connected, W margin) {
	Totals<T> s = reduceParts(total, totals);
	if (threadX() > 0) return;
	Kinds<W> k = {};
	Kind<W> &far = k.of[0], &near = k.of[1];
	far.n = apart;
	near.n = connected;
#pragma unroll
	for (int c = 0; c < 2; c++) {
		if (k.of[c].n > 0) setKind(k.of[c], s.v[sumAt + c], s.v[tangentAt + c]);
	}
	W z = plus(minus(near.mean, far.mean), margin), zero = {};
	if (apart > 0 && connected > 0 && (lessThan(zero, z) || isNaN(z))) {
		W e = exponential(z, k.byMeans);
		W eDot = product(e, minus(near.meanDot, far.meanDot));
		near.beta = share(e, connected);
		near.betaDot = share(eDot, connected);
		far.beta = minus(zero, share(e, apart));
		far.betaDot = minus(zero, share(eDot, apart));
	}
	*to = k;
}

// Each pair is computed from both ends, so that a thread adds to its own sums only: without
// atomics, whose order varies, and without exchanging the forces of each pair between threads.
//
// graphForces adds up squares, the derivative of the loss in the direction v, and, if they are not
// null, the cotangents g of the coordinates in row part·n + i, and the tangents gt of these. gout
// and gtout are the cotangent of the loss and its tangent. graphForces has v or g but not both, and
// no gt. graphSecond has any.
template <class T> struct Forces {
	const Kinds<Wide<T>> *kinds;
	const T *gout, *gtout;
	T *g, *gt;
};

// Its order is 0 without cotangents, 1 with g, and 2 with both. If dim is 0, there may be no g in order 1.
template <class T, int dim, bool moves, int order> INLINE Totals<T> forces(const Vertices<T> &of, const Forces<T> &to, const Share &share) {
	constexpr int group = groupOf<dim>;
	Totals<T> s = Totals<T>::none();
	i64 i = share.i;
	if (i >= of.n) return s;
	T a = to.gout ? *to.gout : T{}, b = to.gtout ? *to.gtout : T{}, sum[group], turn[group];
#pragma unroll
	for (int c = 0; c < group; c++) sum[c] = turn[c] = T{};
	Pair<T, dim, moves> p(of, i, share.from);
	constexpr bool perhaps = order == 1 && dim == 0;
	bool all = perhaps ? to.g != nullptr : order > 0;
	i64 begin = all || share.lo > i ? share.lo : i + 1;
	Walk walk(of.ptr, of.list, i, begin, share.hi);
	for (int near = 0; near < 2; near++) {
		Kind<T> k = narrowed<T>(to.kinds->of[near]);
		Big<T> excess = 0, square = 0, change = 0;
		walk.each<(dim > 0 && order < 2)>(near, all ? share.lo : share.above(), [&](i64 j, bool counts, bool above) __attribute__((always_inline)) {
			p.with(j);
			if (!counts) return;
			T e = minus(p.length.d, k.mean), w = {};
			if (moves || order > 0) w = weight(k, e, k.beta);
			if (above) {
				excess += big(e);
				addSquare(square, e);
				if (moves) change += big(product(w, p.dDot));
			}
			if constexpr (order > 0) {
				if (perhaps && !all) return;
				T f = product(w, a), h = {}, hDot = {};
				if (order > 1) {
					T wDot = weight(k, minus(p.dDot, k.meanDot), k.betaDot);
					h = product(w, b);
					hDot = product(wDot, a);
				}
#pragma unroll
				for (int c = 0; c < group; c++) {
					if (c < p.width) {
						T u = p.length.divide(p.dx[c]);
						sum[c] = lessProduct(sum[c], f, u);
						if (order > 1 && to.gtout) turn[c] = minus(turn[c], product(h, u));
						if (order > 1 && p.moving() && to.gout) {
							T uDot = product(w, p.length.divide(minus(p.dv[c], product(u, p.dDot))));
							if (p.length.zero()) uDot = weight(k, p.dv[c], T{});
							turn[c] = minus(minus(turn[c], product(hDot, u)), product(a, uDot));
						}
					}
				}
			}
		});
		s.push(excessAt, excess);
		s.push(squareAt, square);
		s.v[changeAt] += change;
	}
	i64 at = (share.part * of.n + i) * p.cols() + share.from;
	if constexpr (order > 0) {
#pragma unroll
		for (int c = 0; c < group; c++) {
			if (c < p.width && to.g) to.g[at + c] = sum[c];
			if (order > 1 && c < p.width && to.gt) to.gt[at + c] = turn[c];
		}
	}
	return s;
}
template <class T, int dim> INLINE void graphForces(Totals<T> *total, const Vertices<T> &of, i64 rows, i64 parts, const Forces<T> &to) {
	Share share(of.n, rows, parts, groupOf<dim>);
	Totals<T> s;
	if constexpr (dim == 0) s = forces<T, dim, true, 1>(of, to, share);
	else if (to.g) s = forces<T, dim, false, 1>(of, to, share);
	else s = of.v ? forces<T, dim, true, 0>(of, to, share) : forces<T, dim, false, 0>(of, to, share);
	s = blockReduce(s);
	if (threadX() == 0 && share.from == 0) total[blockX()] = s;
}
template <class T, int dim> INLINE void graphSecond(Totals<T> *total, const Vertices<T> &of, i64 rows, i64 parts, const Forces<T> &to) {
	Share share(of.n, rows, parts, groupOf<dim>);
	Totals<T> s = blockReduce(forces<T, dim, true, 2>(of, to, share));
	if (threadX() == 0 && share.from == 0) total[blockX()] = s;
}

// variance returns that of n numbers by their sums.
DEVICE double variance(double excess, double squares, i64 n) {
	double v = (squares - excess / (double)n * excess) / (double)(n - 1);
	return v < 0 ? 0 : v;
}
DEVICE Q43 variance(i128, i128 squares, i64 n) { return nearest(squares, (u64)n - 1, 43); }

DEVICE void rounded(double &x, double v) { x = v; }
DEVICE void rounded(Q43 &x, i128 v) { x = Q43{(i64)(u64)v}; }

// graphEnd adds the loss and its derivative, times the sign.
template <class T, class W>
INLINE void graphEnd(T *out, T *tout, i64 sign, const Totals<T> *total, i64 totals, const Kinds<W> *kinds) {
	Totals<T> s = reduceParts(total, totals);
	if (threadX() > 0) return;
	W loss = kinds->byMeans, change;
	for (int c = 0; c < 2; c++) {
		i64 n = kinds->of[c].n;
		if (n > 1) loss = plus(loss, variance(s.v[excessAt + c], s.v[squareAt + c], n));
	}
	rounded(change, s.v[changeAt]);
	if (out) addSigned(*out, sign, loss);
	if (tout) addSigned(*tout, sign, change);
}

// addForces adds the parts of cotangents to the rows of a and b, as packVertices takes them.
template <class T> INLINE void addForces(T *a, i64 downA, T *b, i64 downB, i64 n, i64 dim, i64 m, const T *g, i64 parts) {
	for (i64 e = first(); e < n * dim; e += step()) {
		i64 i = e / dim, c = e % dim;
		T *row = i < m ? a : b;
		i64 at = i < m ? i * downA : (i - m) * downB;
		if (!row) continue;
		T s = g[e];
		for (i64 p = 1; p < parts; p++) s = plus(s, g[p * n * dim + e]);
		addSigned(row[at + c], 1, s);
	}
}

DEVICE void decode(double &x, i64 raw) { x = bits((u64)raw); }
DEVICE void decode(Q43 &x, i64 raw) { x = Q43{raw}; }

constexpr int graphThreads = 128; // of a block, as in graphloss.go
#define BOUND(dim) __attribute__((launch_bounds(graphThreads, dim ? 5 : 1)))
#define VERTICES(T) Totals<T> *total, i64 n, i64 dim, const T *x, const T *v, const int *ptr, const int *list, i64 rows, i64 parts
#define OF(T) total, Vertices<T>{n, dim, x, v, ptr, list}, rows, parts
#define FORCES(T) const Kinds<Wide<T>> *kinds, const T *gout, const T *gtout, T *g, T *gt
#define TO(T) Forces<T>{kinds, gout, gtout, g, gt}
// In few dimensions so many blocks have the registers of a multiprocessor that its units are busy.
#define PAIRS(T, d, name) \
	KERNEL BOUND(d) graphMeans##name(VERTICES(T)) { graphMeans<T, d>(OF(T)); } \
	KERNEL BOUND(d) graphForces##name(VERTICES(T), FORCES(T)) { graphForces<T, d>(OF(T), TO(T)); } \
	KERNEL graphSecond##name(VERTICES(T), FORCES(T)) { graphSecond<T, d>(OF(T), TO(T)); }
#define KERNELS(T, name) \
	KERNEL packVertices##name(T *to, i64 n, i64 dim, i64 m, const T *a, i64 downA, const T *b, i64 downB) { packVertices(to, n, dim, m, a, downA, b, downB); } \
	KERNEL graphKinds##name(Kinds<Wide<T>> *to, const Totals<T> *total, i64 totals, i64 apart, i64 connected, i64 margin) { \
		Wide<T> m; \
		decode(m, margin); \
		graphKinds(to, total, totals, apart, connected, m); \
	} \
	PAIRS(T, 0, Many##name) \
	KERNEL graphEnd##name(T *out, T *tout, i64 sign, const Totals<T> *total, i64 totals, const Kinds<Wide<T>> *kinds) { graphEnd(out, tout, sign, total, totals, kinds); } \
	KERNEL addForces##name(T *a, i64 downA, T *b, i64 downB, i64 n, i64 dim, i64 m, const T *g, i64 parts) { addForces(a, downA, b, downB, n, dim, m, g, parts); }
PAIRS(double, 2, 2F64)
PAIRS(double, 3, 3F64)
PAIRS(float, 2, 2F32)
PAIRS(float, 3, 3F32)
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
