// Rotations of a pair of rows, and chains of them in the registers of a warp, for unitary.cu and unitary_sm80.cu.
#pragma once
#include "trig.h"

struct Mesh {
	int n, rectangular;
	DEVICE int bottom(int chain) const { return rectangular && 2 * chain < n - 2 ? 2 * chain : n - 2; }
	DEVICE int top(int chain) const { return !rectangular ? chain : 2 * chain > n - 1 ? 2 * chain - n + 1 : 0; }
	// angle returns the index of an angle.
	DEVICE i64 angle(i64 chain, i64 row) const {
		if (!rectangular) return chain * (n - 1) - chain * (chain - 1) / 2 + n - 2 - row;
		i64 layer = 2 * chain - row;
		return layer / 2 * (n - 1) + row / 2 + (layer & 1 ? n / 2 : 0);
	}
};

// A Turn is what rotates a pair. The element that comes from another chain is in no product that is added to a
// rounded one, so that it waits for one operation only.
template <class T> struct alignas(2 * sizeof(T)) Turn {
	T c, s;
	DEVICE static Turn none() { return {1, 0}; }
	DEVICE void set(T angle) { sincos(angle, s, c); }
	DEVICE void ahead(T &a, T &b) const {
		T v = __builtin_elementwise_fma(c, a, -(s * b));
		b = __builtin_elementwise_fma(s, a, c * b);
		a = v;
	}
	DEVICE void back(T &a, T &b) const {
		T v = __builtin_elementwise_fma(s, b, c * a);
		b = __builtin_elementwise_fma(c, b, -(s * a));
		a = v;
	}
};

// That of Q43 is three shears by t = tan(θ/2), s and t, and half a turn.
template <> struct Turn<Q43> {
	Q43 t, s;
	i64 half;
	DEVICE static Turn none() { return {}; }
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

// addQuarter adds ±d·x to y.
template <class T> DEVICE void addQuarter(T &y, T d, T x, i64 sign) { y = __builtin_elementwise_fma(sign < 0 ? -d : d, x, y); }
DEVICE void addQuarter(Q43 &y, Q43 d, Q43 x, i64 sign) { addSigned(y, sign, product(d, x)); }

// A Cross is what columns add to the cotangent of an angle: a·b̄ - b·ā. Over Q43 the two
// sums are exact.
template <class T> struct Cross {
	T v;
	DEVICE static Cross zero() { return Cross{0}; }
	DEVICE static Cross of(T a, T b, T ga, T gb) { return Cross{__builtin_elementwise_fma(a, gb, -(b * ga))}; }
	DEVICE void add(Cross o) { v += o.v; }
	DEVICE Cross other(int mask) const { return Cross{across(v, mask)}; }
	// joined returns the x of two lanes that differ by mask to the lower one, and the y of both to the other.
	DEVICE static Cross joined(Cross x, Cross y, int mask) {
		bool upper = threadX() & mask;
		return Cross{(upper ? y.v : x.v) + across(upper ? x.v : y.v, mask)};
	}
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
	DEVICE static Cross joined(Cross x, Cross y, int mask) {
		bool upper = threadX() & mask;
		return Cross{
			(upper ? y.plus : x.plus) + across(upper ? x.plus : y.plus, mask),
			(upper ? y.minus : x.minus) + across(upper ? x.minus : y.minus, mask),
		};
	}
	DEVICE Q43 value() const { return Q43{(i64)((u64)round(plus).v - (u64)round(minus).v)}; }
};

// The operands that a kernel rotates: X, and its cotangent or tangent, or all with the
// tangent of the cotangent.
enum Operands { alone, withCotangent, withTangent, all };
template <Operands O> constexpr int count = O == alone ? 1 : O == all ? 4 : 2;

// A warp has K chains of rotations, for the columns of its lanes. Rows go through them in batches of B.
template <class T, Operands O, bool Back, int K, int B> struct Chains {
	static constexpr int N = count<O>;
	static constexpr bool turnsTwice = O == withTangent || O == all; // by the tangents of angles, too
	static constexpr int G = 1, D = O == all ? 2 : 1, H = 3;         // places of cotangent, tangent, tangent of cotangent

	T *x[N];         // the operands. Null ones are zero.
	const T *dturns; // null for zeros
	T held[K][N];    // the row of each chain

	DEVICE void turn(const Turn<T> &u, T &a, T &b) const { Back ? u.back(a, b) : u.ahead(a, b); }

	// quarter adds d times the pair (a, b) turned by a right angle to (ya, yb), or
	// subtracts it.
	DEVICE void quarter(i64 sign, T &ya, T &yb, T d, T a, T b) const {
		addQuarter(ya, d, b, -sign);
		addQuarter(yb, d, a, sign);
	}

	// Crosses are those of θ̄, followed by the two of its tangent.
	static constexpr int sumsOf = O == withCotangent ? 1 : O == all ? 3 : 0;
	struct Crosses {
		Cross<T> c[sumsOf];
	};

	// rotate rotates the pair a, b of all operands by u and the tangent d of its angle.
	INLINE void rotate(T *a, T *b, Turn<T> u, T d, Crosses &c) const {
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
		if constexpr (O == withCotangent || O == all) c.c[0] = Cross<T>::of(a[0], b[0], a[G], b[G]);
		if constexpr (O == all) {
			c.c[1] = Cross<T>::of(a[D], b[D], a[G], b[G]);
			c.c[2] = Cross<T>::of(a[0], b[0], a[H], b[H]);
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

	// The rotations of a batch of rows: that of chain q and row k has element q·B + k.
	struct Table {
		Turn<T> turns[K * B];
		T dturns[turnsTwice ? K * B : 0];
	};

	// through takes the row v through chains Q to Q+L-1 of a warp, for row k of a batch. v becomes the row that
	// the last of them passes on. It returns what the columns of lanes that differ by lanes/2, ..., lanes/L have
	// together, in each lane for one of the chains: number Q + own<L>(lane).
	template <int Q, int L> INLINE Crosses through(T *v, const Table &table, int k) {
		if constexpr (L == 1) {
			Crosses c;
			Turn<T> u = table.turns[Q * B + k];
			T d = turnsTwice ? table.dturns[Q * B + k] : T{};
			Back ? rotate(held[Q], v, u, d, c) : rotate(v, held[Q], u, d, c);
#pragma unroll
			for (int o = 0; o < N; o++) {
				T passed = held[Q][o];
				held[Q][o] = v[o];
				v[o] = passed;
			}
			return c;
		} else {
			Crosses low = through<Q, L / 2>(v, table, k), high = through<Q + L / 2, L / 2>(v, table, k);
#pragma unroll
			for (int i = 0; i < sumsOf; i++) low.c[i] = Cross<T>::joined(low.c[i], high.c[i], lanes / L);
			return low;
		}
	}
	template <int L> INLINE int own(int lane) const {
		int q = 0;
#pragma unroll
		for (int half = 1; half < L; half *= 2) q += lane & lanes / 2 / half ? half : 0;
		return q;
	}
	// addUp adds up what the lanes for the same chain have.
	INLINE void addUp(Crosses &c) const {
#pragma unroll
		for (int i = 0; i < sumsOf; i++) {
#pragma unroll
			for (int mask = lanes / K / 2; mask > 0; mask /= 2) c.c[i].add(c.c[i].other(mask));
		}
	}
};
