// Products of plane rotations of neighbouring rows, and their derivatives. The equations
// are those of revlinalg.Unitary.
//
// The rotations are in chains. In a chain each rotation has a row in common with the one
// before, which is one row lower. A chain j begins at row bottom(j) and ends at row
// top(j); the rotation at row r is that of rows r and r+1.
//
// A block does a panel of chains over 32 columns, one for each lane of its warps. The rows
// stream through the chains. A chain holds one row. When the next one comes, it rotates the
// pair and passes one on to the next chain, which thus works one pair later. A warp holds
// the rows of its chains in registers, and passes rows to the next warp through shared
// memory, so that a panel reads and writes each element once. The inverse goes from the
// last chain to the first, and through the rows from above.
#include "trig.h"

constexpr int mostWarps = 8;

struct Mesh {
	i64 n, rectangular;
	DEVICE i64 bottom(i64 chain) const { return rectangular && 2 * chain < n - 2 ? 2 * chain : n - 2; }
	DEVICE i64 top(i64 chain) const { return !rectangular ? chain : 2 * chain > n - 1 ? 2 * chain - n + 1 : 0; }
	// angle returns the index of an angle.
	DEVICE i64 angle(i64 chain, i64 row) const {
		if (!rectangular) return chain * (n - 1) - chain * (chain - 1) / 2 + n - 2 - row;
		i64 layer = 2 * chain - row;
		return layer / 2 * (n - 1) + row / 2 + (layer & 1 ? n / 2 : 0);
	}
};

// A Turn is what rotates a pair.
template <class T> struct Turn {
	T c, s;
	DEVICE void set(T angle) { sincos(angle, s, c); }
	DEVICE void ahead(T &a, T &b) const {
		T v = __builtin_elementwise_fma(c, a, -(s * b));
		b = __builtin_elementwise_fma(s, a, c * b);
		a = v;
	}
	DEVICE void back(T &a, T &b) const {
		T v = __builtin_elementwise_fma(c, a, s * b);
		b = __builtin_elementwise_fma(c, b, -(s * a));
		a = v;
	}
};

// That of Q43 is three shears by t = tan(θ/2), s and t, and half a turn.
template <> struct Turn<Q43> {
	Q43 t, s;
	i64 half;
	DEVICE void set(Q43 angle) {
		Q43 c;
		sincos(angle, s, c);
		half = c.v < 0;
		if (half) {
			s.v = -s.v;
			c.v = -c.v;
		}
		t = quotient(s, Q43{((i64)1 << 43) + c.v});
	}
	DEVICE void ahead(Q43 &a, Q43 &b) const {
		addSigned(a, -1, product(t, b));
		addSigned(b, 1, product(s, a));
		addSigned(a, -1, product(t, b));
		negate(a, b);
	}
	DEVICE void back(Q43 &a, Q43 &b) const {
		negate(a, b);
		addSigned(a, 1, product(t, b));
		addSigned(b, -1, product(s, a));
		addSigned(a, 1, product(t, b));
	}
	DEVICE void negate(Q43 &a, Q43 &b) const {
		if (half) {
			a.v = (i64)-(u64)a.v;
			b.v = (i64)-(u64)b.v;
		}
	}
};

// A Cross is what columns add to the cotangent of an angle: a·b̄ - b·ā. Over Q43 the two
// sums are exact.
template <class T> struct Cross {
	T v;
	DEVICE static Cross zero() { return Cross{0}; }
	DEVICE static Cross of(T a, T b, T ga, T gb) { return Cross{__builtin_elementwise_fma(a, gb, -(b * ga))}; }
	DEVICE void add(Cross o) { v += o.v; }
	DEVICE Cross other(int mask) const { return Cross{across(v, mask)}; }
	DEVICE static Cross choose(bool first, Cross x, Cross y) { return Cross{first ? x.v : y.v}; }
	DEVICE T value() const { return v; }
};
template <> struct Cross<Q43> {
	i128 plus, minus;
	DEVICE static Cross zero() { return Cross{0, 0}; }
	DEVICE static Cross of(Q43 a, Q43 b, Q43 ga, Q43 gb) { return Cross{(i128)a.v * gb.v, (i128)b.v * ga.v}; }
	DEVICE void add(Cross o) {
		plus += o.plus;
		minus += o.minus;
	}
	DEVICE Cross other(int mask) const { return Cross{across(plus, mask), across(minus, mask)}; }
	DEVICE static Cross choose(bool first, Cross x, Cross y) { return Cross{first ? x.plus : y.plus, first ? x.minus : y.minus}; }
	DEVICE Q43 value() const { return Q43{(i64)((u64)round(plus).v - (u64)round(minus).v)}; }
};

// fold returns the sum over the lanes of element lane/(32/K) of v. Sums are those of a
// tree over the lanes that does not depend on K.
template <class S, int K> DEVICE S fold(S (&v)[K]) {
	int mask = lanes / 2;
#pragma unroll
	for (int half = K / 2; half > 0; half /= 2) {
		bool upper = threadX() & mask;
#pragma unroll
		for (int i = 0; i < half; i++) {
			S low = v[i], high = v[i + half];
			S keep = S::choose(upper, high, low);
			keep.add(S::choose(upper, low, high).other(mask));
			v[i] = keep;
		}
		mask /= 2;
	}
	for (; mask > 0; mask /= 2) v[0].add(v[0].other(mask));
	return v[0];
}

// turns sets the table of the chains of a panel. The rotation of chain first+j at row r
// has element j·n + r. dturns, if not null, becomes the tangents of the angles.
template <class T> DEVICE void setTurns(Turn<T> *turns, T *dturns, const T *theta, i64 incTheta, const T *dtheta, i64 incDtheta, Mesh m, i64 first, i64 chains) {
	for (i64 i = ::first(); i < chains * m.n; i += step()) {
		i64 chain = first + i / m.n, row = i % m.n;
		if (row < m.top(chain) || row > m.bottom(chain)) continue;
		i64 at = m.angle(chain, row);
		turns[i].set(theta[at * incTheta]);
		if (dturns) dturns[i] = dtheta[at * incDtheta];
	}
}

// addCrosses adds to the cotangents of the angles the sums of the blocks of columns, in
// their order: sign·(Σ cross₁ + Σ cross₂), where cross₂ may be null. Over Q43 the sum of
// `group` blocks is rounded once.
template <class T> DEVICE void addCrosses(T *gtheta, i64 inc, const Cross<T> *cross1, const Cross<T> *cross2, i64 blocks, i64 group, Mesh m, i64 first, i64 chains, i64 sign) {
	i64 size = chains * m.n;
	for (i64 i = ::first(); i < size; i += step()) {
		i64 chain = first + i / m.n, row = i % m.n;
		if (row < m.top(chain) || row > m.bottom(chain)) continue;
		T &to = gtheta[m.angle(chain, row) * inc];
		for (i64 b = 0; b < blocks;) {
			Cross<T> s1 = Cross<T>::zero(), s2 = s1;
			for (i64 end = b + group < blocks ? b + group : blocks; b < end; b++) {
				s1.add(cross1[b * size + i]);
				if (cross2) s2.add(cross2[b * size + i]);
			}
			T v = s1.value();
			addSigned(v, 1, s2.value());
			addSigned(to, sign, v);
		}
	}
}

// The operands that a kernel rotates: X, and its cotangent or tangent, or all with the
// tangent of the cotangent.
enum Operands { alone, withCotangent, withTangent, all };
template <Operands O> constexpr int count = O == alone ? 1 : O == all ? 4 : 2;

// A block does `chains` chains from `first` on, for the columns of its lanes. It writes
// crosses with the indices of the table.
template <class T, Operands O, bool Back> struct Panel {
	static constexpr int N = count<O>;
	static constexpr int K = (__is_same(T, Q43) ? 4 : 16) / N; // chains of a warp
	static constexpr int B = 8 / N;                            // rows from barrier to barrier
	static constexpr bool quick = !__is_same(T, Q43) && O != all; // code of its own where all chains rotate
	static constexpr int G = 1, D = O == all ? 2 : 1, H = 3;   // places of cotangent, tangent, tangent of cotangent

	T *x[N]; // the operands. Null ones are zero.
	i64 stride[N];
	i64 cols;
	Mesh m;
	i64 first, chains;
	const Turn<T> *turns;
	const T *dturns; // null for zeros
	Cross<T> *sums;  // null, or the sums of θ̄, followed by the two of its tangent if all are there
	bool second;     // the latter are wanted

	i64 lo, hi; // the rows that rotate
	T held[K][N];

	// chain returns the chain of stage i, which is not one of the panel if it is not
	// below `chains`, and upper the first row of its pair in a step.
	DEVICE i64 chain(i64 i) const { return Back ? first + chains - 1 - i : first + i; }
	DEVICE i64 upper(i64 i, i64 s) const { return Back ? lo + s - i - 1 : hi - s + i; }
	DEVICE bool rotates(i64 i, i64 s) const {
		i64 r = upper(i, s);
		return i < chains && m.top(chain(i)) <= r && r <= m.bottom(chain(i));
	}
	DEVICE i64 row(i64 item) const { return Back ? lo + item : hi - item; }

	DEVICE void turn(const Turn<T> &u, T &a, T &b) const { Back ? u.back(a, b) : u.ahead(a, b); }

	// quarter adds d times the pair (a, b) turned by a right angle to (ya, yb), or
	// subtracts it.
	DEVICE void quarter(i64 sign, T &ya, T &yb, T d, T a, T b) const {
		addSigned(ya, -sign, product(d, b));
		addSigned(yb, sign, product(d, a));
	}

	// rotate rotates the pair a, b of all operands.
	INLINE void rotate(T *a, T *b, i64 at, Cross<T> &c, Cross<T> &c1, Cross<T> &c2) const {
		Turn<T> u = turns[at];
		T d = {};
		if constexpr (O == withTangent || O == all) {
			if (dturns) d = dturns[at];
		}
		if constexpr (!Back) {
			turn(u, a[0], b[0]);
			if constexpr (O == withTangent || O == all) {
				turn(u, a[D], b[D]);
				if (dturns && x[D]) quarter(1, a[D], b[D], d, a[0], b[0]);
			}
			if constexpr (O == all) {
				if (dturns && x[H]) quarter(1, a[H], b[H], d, a[G], b[G]);
				turn(u, a[H], b[H]);
			}
			if constexpr (O == withCotangent || O == all) turn(u, a[G], b[G]);
		}
		if constexpr (O == withCotangent || O == all) c = Cross<T>::of(a[0], b[0], a[G], b[G]);
		if constexpr (O == all) {
			c1 = Cross<T>::of(a[D], b[D], a[G], b[G]);
			c2 = Cross<T>::of(a[0], b[0], a[H], b[H]);
		}
		if constexpr (Back) {
			if constexpr (O == withCotangent || O == all) turn(u, a[G], b[G]);
			if constexpr (O == all) {
				turn(u, a[H], b[H]);
				if (dturns && x[H]) quarter(-1, a[H], b[H], d, a[G], b[G]);
			}
			if constexpr (O == withTangent || O == all) {
				if (dturns && x[D]) quarter(-1, a[D], b[D], d, a[0], b[0]);
				turn(u, a[D], b[D]);
			}
			turn(u, a[0], b[0]);
		}
	}

	// go takes the row v through the chains of a warp, whose first is stage i, in step s.
	// v becomes the row that the last chain passes on. If Inner is set, all chains rotate.
	template <bool Inner> INLINE void go(T *v, i64 i, i64 s) {
		Cross<T> c[K], c1[K], c2[K];
#pragma unroll
		for (int q = 0; q < K; q++) {
			c[q] = c1[q] = c2[q] = Cross<T>::zero();
			if (Inner || rotates(i + q, s)) {
				i64 at = (chain(i + q) - first) * m.n + upper(i + q, s);
				Back ? rotate(held[q], v, at, c[q], c1[q], c2[q]) : rotate(v, held[q], at, c[q], c1[q], c2[q]);
			}
#pragma unroll
			for (int o = 0; o < N; o++) {
				T passed = held[q][o];
				held[q][o] = v[o];
				v[o] = passed;
			}
		}
		if constexpr (O == withCotangent || O == all) {
			if (!sums) return;
			Cross<T> sum = fold(c), sum1, sum2;
			if constexpr (O == all) {
				if (second) {
					sum1 = fold(c1);
					sum2 = fold(c2);
				}
			}
			i64 mine = i + threadX() % lanes / (lanes / K), size = chains * m.n;
			if (threadX() % (lanes / K) != 0 || !(Inner || rotates(mine, s))) return;
			i64 at = (chain(mine) - first) * m.n + upper(mine, s) + blockX() * size;
			sums[at] = sum;
			if constexpr (O == all) {
				if (second) {
					sums[blocks() * size + at] = sum1;
					sums[2 * blocks() * size + at] = sum2;
				}
			}
		}
	}

	INLINE void run() {
		SHARED T buffer[2][mostWarps][B][N][lanes];
		i64 warps = threads() / lanes, warp = threadX() / lanes, lane = threadX() % lanes;
		i64 column = blockX() * lanes + lane, begin = warp * K;
		bool mine = column < cols;
		lo = m.top(first);
		hi = m.bottom(first + chains - 1) + 1;
		i64 rows = hi - lo + 1, delay = warps * K, batches = (rows + delay + B - 1) / B;
		for (int q = 0; q < K; q++) {
			for (int o = 0; o < N; o++) held[q][o] = T{};
		}
		// The steps in which all chains of the warp rotate.
		i64 from = 0, to = rows + delay;
#pragma unroll 1
		for (int q = 0; q < K; q++) {
			i64 i = begin + q, j = chain(i);
			if (i >= chains) {
				to = -1;
				break;
			}
			i64 start = Back ? m.top(j) + 1 + i - lo : hi + i - m.bottom(j), last = Back ? m.bottom(j) + 1 + i - lo : hi + i - m.top(j);
			from = start > from ? start : from;
			to = last < to ? last : to;
		}
		T ahead[B][N];
		for (i64 tick = -1; tick < batches + warps - 1; tick++) {
			if (warp == 0) { // the loads end while the chains work
#pragma unroll
				for (int k = 0; k < B; k++) {
					i64 item = (tick + 1) * B + k;
#pragma unroll
					for (int o = 0; o < N; o++) ahead[k][o] = mine && item < rows && x[o] ? x[o][row(item) * stride[o] + column] : T{};
				}
			}
			i64 batch = tick - warp;
			int now = tick & 1;
			if (batch >= 0 && batch < batches) {
#pragma unroll 1
				for (int k = 0; k < B; k++) {
					i64 s = batch * B + k;
					T v[N];
#pragma unroll
					for (int o = 0; o < N; o++) v[o] = buffer[now][warp][k][o][lane];
					if (quick && from <= s && s <= to) {
						go<quick>(v, begin, s);
					} else {
						go<false>(v, begin, s);
					}
					i64 item = s - delay;
#pragma unroll
					for (int o = 0; o < N; o++) {
						if (warp + 1 < warps) {
							buffer[!now][warp + 1][k][o][lane] = v[o];
						} else if (mine && item >= 0 && item < rows && x[o]) {
							x[o][row(item) * stride[o] + column] = v[o];
						}
					}
				}
			}
			if (warp == 0) {
#pragma unroll
				for (int k = 0; k < B; k++) {
#pragma unroll
					for (int o = 0; o < N; o++) buffer[!now][0][k][o][lane] = ahead[k][o];
				}
			}
			barrier();
		}
	}
};

template <class T, Operands O, bool Back>
INLINE void panel(T *const *x, const i64 *strides, i64 cols, Mesh m, i64 first, i64 chains, const Turn<T> *turns, const T *dturns, Cross<T> *sums, bool second) {
	Panel<T, O, Back> p;
	for (int o = 0; o < p.N; o++) {
		p.x[o] = x[o];
		p.stride[o] = strides[o];
	}
	p.cols = cols;
	p.m = m;
	p.first = first;
	p.chains = chains;
	p.turns = turns;
	p.dturns = dturns;
	p.sums = sums;
	p.second = second;
	p.run();
}

// The operands are X, its cotangent or tangent, its tangent if its cotangent comes before,
// and the tangent of its cotangent.
#define PANEL(T, name, O, Back) \
	KERNEL name(T *x0, i64 stride0, T *x1, i64 stride1, T *x2, i64 stride2, T *x3, i64 stride3, i64 cols, i64 n, i64 rectangular, i64 first, i64 chains, const Turn<T> *turns, const T *dturns, Cross<T> *sums, i64 second) { \
		T *x[] = {x0, x1, x2, x3}; \
		i64 strides[] = {stride0, stride1, stride2, stride3}; \
		panel<T, O, Back>(x, strides, cols, {n, rectangular}, first, chains, turns, dturns, sums, second); \
	}
#define KERNELS(T, name) \
	KERNEL setTurns##name(Turn<T> *turns, T *dturns, const T *theta, i64 incTheta, const T *dtheta, i64 incDtheta, i64 n, i64 rectangular, i64 first, i64 chains) { \
		setTurns(turns, dturns, theta, incTheta, dtheta, incDtheta, {n, rectangular}, first, chains); \
	} \
	KERNEL addCrosses##name(T *gtheta, i64 inc, const Cross<T> *cross1, const Cross<T> *cross2, i64 blocks, i64 group, i64 n, i64 rectangular, i64 first, i64 chains, i64 sign) { \
		addCrosses(gtheta, inc, cross1, cross2, blocks, group, {n, rectangular}, first, chains, sign); \
	} \
	PANEL(T, rotateAloneAhead##name, alone, false) \
	PANEL(T, rotateAloneBack##name, alone, true) \
	PANEL(T, rotateCotangentAhead##name, withCotangent, false) \
	PANEL(T, rotateCotangentBack##name, withCotangent, true) \
	PANEL(T, rotateTangentAhead##name, withTangent, false) \
	PANEL(T, rotateTangentBack##name, withTangent, true) \
	PANEL(T, rotateAllAhead##name, all, false) \
	PANEL(T, rotateAllBack##name, all, true)
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
