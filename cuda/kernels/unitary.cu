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
//
// While a warp works on a batch of rows, it loads the rotations of the next batch, which go
// to shared memory: a rotation is the same for all lanes. Where a chain does not rotate, it gets
// the rotation by 0, so that all chains do the same in each step.
#include "unitary.h"

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

// y = x, whose rows have the given stride.
template <class T> DEVICE void copyRows(T *y, const T *x, i64 stride, i64 rows, i64 cols) {
	for (i64 i = first(); i < rows * cols; i += step()) y[i] = x[i / cols * stride + i % cols];
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

template <Operands O> constexpr int mostWarps = O == alone ? 16 : O == withCotangent ? 12 : 8;

// chainsOf is how many chains a warp has, and rowsOf how many rows from barrier to barrier.
template <class T, Operands O> constexpr int chainsOf = __is_same(T, Q43) ? 4 / count<O> : O == all ? 4 : O == withTangent ? 16 : 8;
template <Operands O> constexpr int rowsOf = O == alone ? 4 : 2;

// A block does `chains` chains from `first` on, for the columns of its lanes. It writes
// crosses with the indices of the table.
template <class T, Operands O, bool Back> struct Panel : Chains<T, O, Back, chainsOf<T, O>, rowsOf<O>> {
	static constexpr int W = mostWarps<O>, K = chainsOf<T, O>, B = rowsOf<O>;
	typedef Chains<T, O, Back, K, B> Base;
	using Base::N, Base::x, Base::dturns, Base::held, Base::turnsTwice, Base::sumsOf;
	using typename Base::Crosses, typename Base::Table;

	static_assert(K * B <= lanes, "a lane loads a rotation of a batch");

	i64 stride[N];
	i64 cols;
	Mesh m;
	int first, chains;
	const Turn<T> *turns;
	Cross<T> *sums; // null, or the sums of θ̄, followed by the two of its tangent if all are there
	bool second;    // the latter are wanted

	int lo, hi; // the rows that rotate

	// chain returns the chain of stage i, which is not one of the panel if it is not
	// below `chains`, and upper the first row of its pair in a step.
	DEVICE int chain(int i) const { return Back ? first + chains - 1 - i : first + i; }
	DEVICE int upper(int i, int s) const { return Back ? lo + s - i - 1 : hi - s + i; }
	DEVICE bool rotates(int i, int s) const {
		int r = upper(i, s);
		return i < chains && m.top(chain(i)) <= r && r <= m.bottom(chain(i));
	}
	DEVICE i64 row(int item) const { return Back ? lo + item : hi - item; }

	// write writes the sums of crosses over the columns in step s of a warp, whose first chain is stage i.
	INLINE void write(Crosses c, int i, int s) {
		int lane = (int)threadX() % lanes, mine = i + Base::template own<K>(lane);
		i64 size = (i64)chains * m.n;
		Base::addUp(c);
		if (lane % (lanes / K) != 0 || !rotates(mine, s)) return;
		Cross<T> *to = sums + (i64)(chain(mine) - first) * m.n + upper(mine, s) + blockX() * size;
#pragma unroll
		for (int i = 0; i < sumsOf; i++) {
			if (i == 0 || second) to[i * blocks() * size] = c.c[i];
		}
	}

	INLINE void run() {
		SHARED T buffer[2][W][B][N][lanes];
		SHARED Table tables[2][W];
		int warps = (int)threads() / lanes, warp = (int)threadX() / lanes, lane = (int)threadX() % lanes;
		i64 column = blockX() * lanes + lane;
		int begin = warp * K;
		bool mine = column < cols;
		lo = m.top(first);
		hi = m.bottom(first + chains - 1) + 1;
		int rows = hi - lo + 1, delay = warps * K, batches = (rows + delay + B - 1) / B;
#pragma unroll
		for (int q = 0; q < K; q++) {
#pragma unroll
			for (int o = 0; o < N; o++) held[q][o] = T{};
		}
		for (int tick = -1; tick < batches + warps - 1; tick++) {
			int batch = tick - warp, now = tick & 1;
			T ahead[B][N]; // the loads end while the chains work
			if (warp == 0) {
#pragma unroll
				for (int k = 0; k < B; k++) {
					int item = (tick + 1) * B + k;
#pragma unroll
					for (int o = 0; o < N; o++) ahead[k][o] = mine && item < rows && x[o] ? x[o][row(item) * stride[o] + column] : T{};
				}
			}
			Turn<T> turn = Turn<T>::none();
			T dturn = {};
			int i = begin + lane / B, s = (batch + 1) * B + lane % B;
			if (lane < K * B && rotates(i, s)) {
				i64 at = (i64)(chain(i) - first) * m.n + upper(i, s);
				turn = turns[at];
				if (turnsTwice && dturns) dturn = dturns[at];
			}
			if (batch >= 0 && batch < batches) {
#pragma unroll 1
				for (int k = 0; k < B; k++) {
					int s = batch * B + k, item = s - delay;
					T v[N];
#pragma unroll
					for (int o = 0; o < N; o++) v[o] = buffer[now][warp][k][o][lane];
					Crosses c = Base::template through<0, K>(v, tables[now][warp], k);
					if (sumsOf > 0 && sums) write(c, begin, s);
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
			if (lane < K * B) {
				tables[!now][warp].turns[lane] = turn;
				if (turnsTwice) tables[!now][warp].dturns[lane] = dturn;
			}
			barrier();
		}
	}
};

template <class T, Operands O, bool Back>
INLINE void panel(T *const *x, const i64 *strides, i64 cols, Mesh m, int first, int chains, const Turn<T> *turns, const T *dturns, Cross<T> *sums, bool second) {
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
	__attribute__((launch_bounds(mostWarps<O> * lanes, 1))) KERNEL name(T *x0, i64 stride0, T *x1, i64 stride1, T *x2, i64 stride2, T *x3, i64 stride3, i64 cols, i64 n, i64 rectangular, i64 first, i64 chains, const Turn<T> *turns, const T *dturns, Cross<T> *sums, i64 second) { \
		T *x[] = {x0, x1, x2, x3}; \
		i64 strides[] = {stride0, stride1, stride2, stride3}; \
		panel<T, O, Back>(x, strides, cols, {(int)n, (int)rectangular}, (int)first, (int)chains, turns, dturns, sums, second); \
	}
#define KERNELS(T, name) \
	KERNEL setTurns##name(Turn<T> *turns, T *dturns, const T *theta, i64 incTheta, const T *dtheta, i64 incDtheta, i64 n, i64 rectangular, i64 first, i64 chains) { \
		setTurns(turns, dturns, theta, incTheta, dtheta, incDtheta, {(int)n, (int)rectangular}, first, chains); \
	} \
	KERNEL addCrosses##name(T *gtheta, i64 inc, const Cross<T> *cross1, const Cross<T> *cross2, i64 blocks, i64 group, i64 n, i64 rectangular, i64 first, i64 chains, i64 sign) { \
		addCrosses(gtheta, inc, cross1, cross2, blocks, group, {(int)n, (int)rectangular}, first, chains, sign); \
	} \
	KERNEL copyRows##name(T *y, const T *x, i64 stride, i64 rows, i64 cols) { copyRows(y, x, stride, rows, cols); } \
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
