// Unitary over float64 with more than 128 rows, on the tensor cores for double of cards of compute capability
// 8.0 and later. unitary.h has the rotations.
//
// The rotation of chain j at row r is in block (p, w), where p = ⌊j/k⌋ and w = ⌊(r - j + p·k)/k⌋. It acts on the 2·k rows
// from row w·k on. In a block the chains i = j - p·k work one after the other, each on its k pairs of rows from the
// last to the first. Together they are a matrix Q of 2·k×2·k, in which element (a, b) is 0 if |a - b| > k. The passes over the
// columns of these rows, with Q̇ for the angles' tangents, are
//
//	x' = Q·x    ẋ' = Q·ẋ + Q̇·x    x = Qᵀ·x'    ẋ = Qᵀ·ẋ' + Q̇ᵀ·x'    x̄ = Qᵀ·x̄'
//
// A block comes after (p, w+1), (p-1, w-1), (p-1, w) and (p-1, w+1), which have smaller t = 2·p - w. Blocks of the
// same t, a front, have different rows. A launch multiplies all of them.
//
// The cotangent of an angle is Σ a'·b̄' - b'·ā', which depends only on M = Σ x̄'·x'ᵀ, the sum over the columns after
// all rotations of the block. The 2·k columns of (I, M) for (x', x̄') have the same M, since M·Iᵀ = M. So the adjoint of
// these columns gives the cotangents of the angles. Q and Q̇ are what becomes of (I, 0) for (x, ẋ).
//
// Rows that X does not have, at the ends, are zero.
#include "tensorproduct.h"
#include "unitary.h"

constexpr int k = 64, side = 2 * k, matrix = side * side;

struct Blocks {
	Mesh m;
	// Front t has the blocks p from low(t) to high(t).
	DEVICE int low(int t) const { return t < 0 ? 0 : m.rectangular ? t / 2 : t; }
	DEVICE int high(int t) const {
		int last = (m.n - 2) / k, p = (last + t) >> 1;
		return p < last ? p : last;
	}
	// find finds block e of those of front t and the next ones.
	DEVICE void find(int &t, int &p, int e) const {
		for (;; t++) {
			p = low(t) + e;
			if (p <= high(t)) return;
			e = p - high(t) - 1;
		}
	}
};

// A Block has the matrices of a block, with a thread for each column. So many chains are in registers at a time.
template <Operands O> constexpr int chainsAtOnce = k / 2 / count<O>;
template <Operands O, bool Back> struct Block : Chains<double, O, Back, chainsAtOnce<O>, 16> {
	static constexpr int K = chainsAtOnce<O>, B = 16, warps = side / lanes;
	typedef Chains<double, O, Back, K, B> Base;
	using Base::N, Base::x, Base::dturns, Base::held, Base::sumsOf;
	using typename Base::Crosses, typename Base::Table;

	Mesh m;
	int chain0, row0; // of the block
	int begin;        // the first chain in registers

	DEVICE int chain(int stage) const { return begin + (Back ? K - 1 - stage : stage); }
	DEVICE int pair(int step) const { return Back ? step : k - 1 - step; } // less the chain
	// angle returns the index of the angle of an element of the table, or -1 if there is none.
	DEVICE i64 angle(int e, int step) const {
		int i = chain(e / B), j = chain0 + i, r = row0 + i + pair(step + e % B);
		return m.top(j) <= r && r <= m.bottom(j) ? m.angle(j, r) : -1;
	}

	// run adds sign times the cotangents of the angles to gtheta.
	INLINE void run(const double *theta, i64 inc, const double *dtheta, i64 incd, double *gtheta, i64 incg, i64 sign) {
		SHARED Table table;
		SHARED double crosses[sumsOf ? warps : 1][B][K];
		int me = (int)threadX(), warp = me / lanes, lane = me % lanes;
		auto row = [&](int o, int r) __attribute__((always_inline)) -> double & { return x[o][r * side + me]; };
		for (int h = 0; h < k; h += K) {
			begin = Back ? k - K - h : h;
#pragma unroll
			for (int q = 0; q < K; q++) {
#pragma unroll
				for (int o = 0; o < N; o++) held[q][o] = row(o, chain(q) + (Back ? 0 : k));
			}
			double next[N];
			auto load = [&](int step) __attribute__((always_inline)) {
#pragma unroll
				for (int o = 0; o < N; o++) next[o] = row(o, begin + pair(step) + (Back ? K : 0));
			};
			load(0);
			for (int step = 0; step < k; step += B) {
				barrier();
				for (int e = me; e < K * B; e += side) {
					i64 a = angle(e, step);
					table.turns[e] = Turn<double>::none();
					if (a >= 0) table.turns[e].set(theta[a * inc]);
					if constexpr (Base::turnsTwice) table.dturns[e] = a >= 0 ? dtheta[a * incd] : 0;
				}
				barrier();
#pragma unroll 1
				for (int s = 0; s < B; s++) {
					double v[N];
#pragma unroll
					for (int o = 0; o < N; o++) v[o] = next[o];
					if (step + s + 1 < k) load(step + s + 1); // beside the rotations
					Crosses c = Base::template through<0, K>(v, table, s);
					if constexpr (sumsOf > 0) {
						Base::addUp(c);
						if (lane % (lanes / K) == 0) crosses[warp][s][Base::template own<K>(lane)] = c.c[0].value();
					}
#pragma unroll
					for (int o = 0; o < N; o++) row(o, begin + pair(step + s) + (Back ? 0 : K)) = v[o];
				}
				if constexpr (sumsOf > 0) {
					barrier();
					for (int e = me; e < K * B; e += side) {
						i64 a = angle(e, step);
						if (a < 0) continue;
						double v = 0;
						for (int w = 0; w < warps; w++) v += crosses[w][e % B][e / B];
						addSigned(gtheta[a * incg], sign, v);
					}
				}
			}
#pragma unroll
			for (int q = 0; q < K; q++) {
#pragma unroll
				for (int o = 0; o < N; o++) row(o, chain(q) + (Back ? k : 0)) = held[q][o];
			}
		}
	}
};

// rotateBlock does the rotations of block e from front t on. Its matrices x, and y if there are two, begin as I and 0, or as I
// and the sum of `parts` matrices y, which follow each other.
template <Operands O, bool Back>
INLINE void rotateBlock(double *x, i64 stepX, double *y, i64 stepY, i64 parts, const double *theta, i64 inc, const double *dtheta, i64 incd, double *gtheta, i64 incg, Mesh m, i64 front, i64 sign) {
	int t = (int)front, p, me = (int)threadX();
	Blocks{m}.find(t, p, (int)blockX());
	Block<O, Back> b;
	b.m = m;
	b.chain0 = p * k;
	b.row0 = (2 * p - t) * k;
	b.x[0] = x + blockX() * stepX;
	if constexpr (b.N > 1) b.x[1] = y + blockX() * stepY;
	b.dturns = dtheta;
	auto inside = [&](int r) { return (unsigned)(b.row0 + r) < (unsigned)m.n; };
	constexpr int some = 16; // rows whose loads are in flight at once
	for (int r = 0; r < side; r += some) {
		double s[some] = {};
		if constexpr (b.N > 1) {
#pragma unroll 2
			for (i64 i = 0; i < parts; i++) {
#pragma unroll
				for (int e = 0; e < some; e++) s[e] += inside(r + e) && inside(me) ? b.x[1][i * matrix + (r + e) * side + me] : 0;
			}
		}
#pragma unroll
		for (int e = 0; e < some; e++) {
			b.x[0][(r + e) * side + me] = r + e == me;
			if constexpr (b.N > 1) b.x[1][(r + e) * side + me] = s[e];
		}
	}
	b.run(theta, inc, dtheta, incd, gtheta, incg, sign);
}

// multiplyRows sets y = Q·x, or adds that to y, for the rows of the blocks of a front, whose matrices Q follow each other with a
// step. They may be stored by columns, and y may be x. A block of threads has 16 columns at a time of the next `each`, and a warp
// has 16 rows of Q in registers. Columns come through shared memory. Permuted as they are there, a warp reads from
// all banks; columns of tiles are permuted so that it writes whole sectors.
INLINE void multiplyRows(double *y, i64 strideY, const double *x, i64 strideX, bool add, i64 cols, i64 each, int n, int row0, const double *q, i64 step, i64 down, i64 along) {
	constexpr int wide = 16, all = 256, rows = all / wide, terms = 8, band = k / terms;
	SHARED __attribute__((aligned(16))) double tiles[stages][side * wide];
	int me = (int)threadX(), warp = me / lanes, i = me % lanes / 4, j = me % 4, row = warp * 16;
	auto place = [](int r, int c) { return r * wide + (c ^ (r % 2 * 2 + r / 2 % 2 * 8)); };
	row0 += (int)blockY() * side;
	int lowest = 2 * warp > band ? 2 * warp - band : 0, above = 2 * warp + 2 + band;
	int count = (above < side / terms ? above : side / terms) - lowest; // tiles of 8 columns of Q that are not zero
	double a[side / terms][2][2];
	q += blockY() * step + (row + i) * down + (terms * lowest + j) * along;
#pragma unroll
	for (int c = 0; c < side / terms; c++) {
#pragma unroll
		for (int e = 0; e < 4; e++) a[c][e / 2][e % 2] = c < count ? q[e / 2 * 8 * down + (c * terms + e % 2 * 4) * along] : 0;
	}
	i64 column = blockX() * each, end = column + each < cols ? column + each : cols;
	int mine = me / wide, beside = me % wide, left = n - row0 - mine;
	i64 ahead = column + beside; // the column that is loaded next
	const double *from = x + (row0 + mine) * strideX + ahead;
	auto load = [&](int stage) __attribute__((always_inline)) {
#pragma unroll
		for (int c = 0; c < side / rows; c++) {
			bool there = ahead < end && rows * c < left && row0 + mine + rows * c >= 0;
			copyAsync<8>(&tiles[stage][place(mine, beside) + c * rows * wide], there ? from + rows * c * strideX : x, there ? 8 : 0);
		}
		endGroup();
		ahead += wide;
		from += wide;
	};
	for (int s = 0; s < stages - 1; s++) load(s);
	double *to = y + (row0 + row + i) * strideY + column + j;
	for (int stage = 0, free = stages - 1; column < end; column += wide, to += wide) {
		waitGroups<stages - 2>();
		barrier(); // the columns of stage are there, and those of free were used
		load(free);
		double s[2][2][2] = {};
		auto elements = [&](auto use) __attribute__((always_inline)) {
#pragma unroll
			for (int e = 0; e < 8; e++) {
				int h = e / 4, t = e / 2 % 2, l = e % 2, r = row0 + row + i + 8 * h;
				if (column + 8 * t + 4 * l + j < end && r >= 0 && r < n) use(to[8 * h * strideY + 8 * t + 4 * l], s[t][h][l]);
			}
		};
		if (add) elements([](double &y, double &s) { s = y; });
		const double *tile = tiles[stage] + lowest * terms * wide;
#pragma unroll
		for (int c = 0; c < side / terms; c++) {
			if (c >= band + 2 && c >= count) break;
#pragma unroll
			for (int t = 0; t < 2; t++) {
				double v[2];
#pragma unroll
				for (int l = 0; l < 2; l++) v[l] = tile[place(j, 8 * t + i % 2 * 4 + i / 2) + (c * terms + 4 * l) * wide];
				multiply(s[t], a[c], v);
			}
		}
		elements([](double &y, double &s) { y = s; });
		stage = stage + 1 == stages ? 0 : stage + 1;
		free = free + 1 == stages ? 0 : free + 1;
	}
}

// setGrams sets M = Σ x̄·xᵀ over part z%parts of the columns, for block z/parts of a front.
INLINE void setGrams(double *to, const double *g, i64 strideG, const double *x, i64 strideX, i64 cols, i64 each, i64 parts, int n, int row0) {
	i64 part = blockZ() % parts;
	row0 += (int)(blockZ() / parts) * side;
	int from = row0 < 0 ? 0 : row0, rows = (row0 + side < n ? row0 + side : n) - from;
	to += blockZ() * matrix + (from - row0) * (side + 1);
	g += from * strideG + part * each;
	x += from * strideX + part * each;
	i64 terms = cols - part * each < each ? cols - part * each : each;
	addTensorProduct<side, true, true, 1>(Product<double>{{to, side, 1}, rows, rows, terms, {g, strideG, 1}, {x, 1, strideX}, {}, {}, 0, -1, 0, 0});
}

#ifndef HOPPER
#define ROTATE(name, O, Back) \
	__attribute__((launch_bounds(side, 2))) KERNEL name##F64(double *x, i64 stepX, double *y, i64 stepY, i64 parts, const double *theta, i64 inc, const double *dtheta, i64 incd, double *gtheta, i64 incg, i64 n, i64 rectangular, i64 front, i64 sign) { \
		rotateBlock<O, Back>(x, stepX, y, stepY, parts, theta, inc, dtheta, incd, gtheta, incg, {(int)n, (int)rectangular}, front, sign); \
	}
ROTATE(rotateBlocks, alone, false)
ROTATE(rotateBlockTangents, withTangent, false)
ROTATE(rotateBlockCotangents, withCotangent, true)
#endif
__attribute__((launch_bounds(256))) KERNEL TENSOR(multiplyRows)(double *y, i64 strideY, const double *x, i64 strideX, i64 add, i64 cols, i64 each, i64 n, i64 row0, const double *q, i64 step, i64 down, i64 along) {
	multiplyRows(y, strideY, x, strideX, add, cols, each, (int)n, (int)row0, q, step, down, along);
}
__attribute__((launch_bounds(128))) KERNEL TENSOR(setGrams)(double *to, const double *g, i64 strideG, const double *x, i64 strideX, i64 cols, i64 each, i64 parts, i64 n, i64 row0) {
	setGrams(to, g, strideG, x, strideX, cols, each, parts, (int)n, (int)row0);
}
