// Discrete Fourier transforms, of many signals at once.
//
// A transform of n = 2^l numbers is a few passes. A pass does transforms of R = 2^r numbers, by the method of
// Stockham: of each signal it takes the numbers j, j + n/R, j + 2·n/R and so on, for each j below n/R. It
// multiplies them by exp(-2πi·k·s/(R·m)) first, where s counts them, m is the product of the R of the passes
// before, and k is the rest of j/m. Their transform goes to the places (j - k)·R + k, and then every m
// (Govindaraju et al., High performance discrete Fourier transforms on graphics processors, 2008). Within a
// pass, a block does the same in shared memory, with an R of 8.
//
// A pass may multiply what it reads, and what it writes, by given numbers. That makes convolutions.
//
// Of real numbers, and of spectra of real numbers, half of all that is between passes is left out. After passes
// of m numbers in all there are v(J, K) = Σ_t x_(J + t·n/m)·exp(-2πi·t·K/m) for J < N = n/m and K < m, at J·m + K.
// If all x are real,
//
//	v(J, m - K) = conj v(J, K),
//
// and passes read and write those with K ≤ m/2. If x_(n-j) = conj x_j, so that the results are real,
//
//	v(N - J, K) = exp(2πi·K/m)·conj v(J, K),
//
// and passes write those with J ≤ N/2.
#include "trig.h"

typedef double Complex __attribute__((ext_vector_type(2)));

DEVICE Complex times(Complex a, Complex b) {
	return {fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x)};
}
DEVICE Complex turned(Complex a) { return {a.y, -a.x}; } // -i·a
DEVICE Complex conjugate(Complex a) { return {a.x, -a.y}; }

// root returns exp(-i·(x + q)·π/2) for |x| up to 1/2.
DEVICE Complex root(double x, i64 q) {
	double s, c;
	sincosQuarters(x * 0x1.921fb54442d18p+0, (u64)q, s, c);
	return {c, -s};
}

// rootOf returns exp(-2πi·a/n) for 0 ≤ a < n and n < 2⁶¹.
DEVICE Complex rootOf(i64 a, i64 n) {
	i64 q = over(4 * a + n / 2, n);
	return root((double)(4 * a - q * n) / (double)n, q);
}

// rootOfPower does that for n = 2^l.
DEVICE Complex rootOfPower(i64 a, int l) {
	i64 q = (4 * a + ((i64)1 << l >> 1)) >> l;
	return root((double)(4 * a - (q << l)) * bits((u64)(1023 - l) << 52), q);
}

// A thread has so many numbers.
constexpr int held = 8, logRoots = 11; // as in cuda/fft.go

INLINE void transform2(Complex &a, Complex &b) {
	Complex t = a - b;
	a += b;
	b = t;
}
INLINE void transform4(Complex &a, Complex &b, Complex &c, Complex &d) {
	Complex s = a + c, t = a - c, u = b + d, w = turned(b - d);
	a = s + u, b = t + w, c = s - u, d = t - w;
}
INLINE void transform8(Complex (&v)[held]) {
	constexpr double half = 0x1.6a09e667f3bcdp-1; // √½
	transform4(v[0], v[2], v[4], v[6]);
	transform4(v[1], v[3], v[5], v[7]);
	Complex even[4] = {v[0], v[2], v[4], v[6]};
	Complex odd[4] = {v[1], Complex{v[3].x + v[3].y, v[3].y - v[3].x} * half, turned(v[5]), Complex{v[7].y - v[7].x, -v[7].x - v[7].y} * half};
#pragma unroll
	for (int k = 0; k < 4; k++) v[k] = even[k] + odd[k], v[k + 4] = even[k] - odd[k];
}

// The signals that a pass reads or writes: of these, inc and batch are the distances of numbers and of
// signals, and length is how many numbers a signal has. The others are zeros.
enum SignalKind { complexNumbers, addedNumbers, realNumbers };
struct Signals {
	Complex *data;
	i64 inc, batch, length, kind;
};

// When a pass takes conjugates, as bits.
enum { atLoad = 1, beforeFactors = 2, atStore = 4 };

// What the signals are: complex numbers, those with factors or of other kinds, those of real numbers x, and
// those whose results are real.
enum Signal { plain, factored, realSource, realResult };

// A pass. Signals have at most 2³¹ numbers, so that a place in one takes one register.
struct Pass {
	Signals x, y;
	const Complex *before, *after; // factors, unless they are null
	int l, r, m;                   // logarithms of n, R and the product of the R before
	i64 columns, conjugates;       // a column is a j of a signal
	i64 lo, period;                // the columns from lo on of each 2^period
	double scale;
};

// A Block does the transforms of 2^width columns from base on.
struct Block {
	i64 base;
	int r, width;
};

// A Stage is a part of a pass: transforms of 2^p numbers in registers, after those of 2^done. They are spread
// over the threads of a block as columns are side by side, or as the numbers of a signal are.
template <int p> struct Stage {
	Block b;
	int done;
	bool byColumn;

	// of finds the column of number i of this thread, and the first number of its transform.
	INLINE void of(int i, int &column, int &j) const {
		int q = (int)threadX() + (i >> p) * (int)threads();
		column = byColumn ? q & ((1 << b.width) - 1) : q >> (b.r - p);
		j = byColumn ? q >> b.width : q & ((1 << (b.r - p)) - 1);
	}
	// from finds the place of number i before the transform, and to that after it.
	INLINE int from(int i, int &column) const {
		int j;
		of(i, column, j);
		return j + ((i & ((1 << p) - 1)) << (b.r - p));
	}
	INLINE int to(int i, int &column) const {
		int j;
		of(i, column, j);
		int k = j & ((1 << done) - 1);
		return ((j - k) << p) + k + ((i & ((1 << p) - 1)) << done);
	}
};

// leftOut reports whether the signal does not need column c: for what it would write, others stand.
template <Signal signal> INLINE bool leftOut(const Pass &f, i64 c) {
	if constexpr (signal == realSource) return ((unsigned)c & ((1u << f.m) - 1)) > 1u << f.m >> 1;
	if constexpr (signal == realResult) return ((unsigned)c & ((1u << (f.l - f.r)) - 1)) >> f.m > 1u << (f.l - f.r - f.m) >> 1;
	return false;
}

// flipped reports whether v(J, K) at at is to be made of v(N - J, K).
template <Signal signal> INLINE bool flipped(const Pass &f, unsigned at) { return signal == realResult && at >> f.m > 1u << (f.l - f.m) >> 1; }

// lastOf returns what no pass reads again. Caches drop it before what others wait for.
DEVICE Complex lastOf(const Complex *x) {
	double re, im;
	asm volatile("ld.global.cs.v2.f64 {%0, %1}, [%2];" : "=d"(re), "=d"(im) : "l"(x) : "memory");
	return {re, im};
}

// storeLast stores a result, which this kernel does not read again, in the same way.
DEVICE void storeLast(Complex *y, Complex v) {
	asm volatile("st.global.cs.v2.f64 [%0], {%1, %2};" ::"l"(y), "d"(v.x), "d"(v.y) : "memory");
}

template <Signal signal, class S> INLINE void load(const Pass &f, const S &s, Complex (&v)[held]) {
	constexpr bool factors = signal == factored;
	unsigned across = (1u << (f.l - f.r)) - 1;
#pragma unroll
	for (int i = 0; i < held; i++) {
		int column, row = s.from(i, column);
		i64 c = s.b.base + column;
		unsigned at = ((unsigned)c & across) + ((unsigned)row << (f.l - f.r));
		v[i] = {};
		if (c >= f.columns || leftOut<signal>(f, c) || (factors && at >= f.x.length)) continue;
		bool flip = flipped<signal>(f, at);
		if (flip) at = (1u << f.l) - at + 2 * (at & ((1u << f.m) - 1));
		i64 from = (c >> (f.l - f.r)) * f.x.batch + at * f.x.inc;
		if (signal != plain && signal != realResult && f.x.kind == realNumbers) v[i].x = ((const double *)f.x.data)[from];
		else v[i] = signal == plain ? lastOf(f.x.data + from) : f.x.data[from];
		if (factors && f.before) v[i] = times(f.conjugates & atLoad ? conjugate(v[i]) : v[i], f.before[at]);
		if (signal == realResult && f.m == 0 && (at == 0 || 2 * at == 1u << f.l)) v[i] = {2 * v[i].x, 0}; // which have no other half
		if (flip) v[i] = conjugate(v[i]);
	}
	if (f.conjugates & atLoad && !(factors && f.before)) {
#pragma unroll
		for (int i = 0; i < held; i++) v[i] = conjugate(v[i]);
	}
	if (f.m == 0) return;
#pragma unroll
	for (int i = 0; i < held; i++) {
		int column, row = s.from(i, column);
		unsigned c = (unsigned)(s.b.base + column) & across, k = c & ((1u << f.m) - 1);
		if (flipped<signal>(f, c + ((unsigned)row << (f.l - f.r)))) row -= 1 << f.r;
		v[i] = times(v[i], rootOfPower((i64)k * row, f.r + f.m));
	}
}

template <Signal signal, class S> INLINE void store(const Pass &f, const S &s, Complex (&v)[held]) {
	constexpr bool factors = signal == factored;
	unsigned across = (1u << (f.l - f.r)) - 1;
#pragma unroll
	for (int i = 0; i < held; i++) {
		int column, row = s.to(i, column);
		i64 c = s.b.base + column;
		unsigned j = (unsigned)c & across, k = j & ((1u << f.m) - 1), at = ((j - k) << f.r) + k + ((unsigned)row << f.m);
		if (c >= f.columns || leftOut<signal>(f, c) || (factors && at >= f.y.length)) continue;
		Complex w = factors && f.conjugates & beforeFactors ? conjugate(v[i]) : v[i];
		if constexpr (signal == realSource) {
			unsigned all = k + ((unsigned)row << f.m), m = 1u << (f.m + f.r);
			if (2 * all > m) {
				if (k == 0 || 2 * k == 1u << f.m) continue; // this thread has its other half, too
				at += m - 2 * all;
				w = conjugate(w);
			}
		}
		if (factors && f.after) w = times(w, f.after[at]);
		w *= f.scale;
		if (f.conjugates & atStore) w = conjugate(w);
		i64 to = (c >> (f.l - f.r)) * f.y.batch + at * f.y.inc;
		if (signal != plain && signal != realSource && f.y.kind == realNumbers) ((double *)f.y.data)[to] += w.x;
		else if (signal != plain && signal != realResult && f.y.kind == addedNumbers) f.y.data[to] += w;
		else if (signal == plain && f.r + f.m == f.l) storeLast(f.y.data + to, w);
		else f.y.data[to] = w;
	}
}

// exchange replaces the numbers of all threads after stage s by those before stage t, through shared memory.
template <class S, class T> INLINE void exchange(Complex *part, const S &s, const T &t, bool byColumn, Complex (&v)[held]) {
	auto at = [&](int row, int column) __attribute__((always_inline)) {
		int i = byColumn ? (row << s.b.width) + column : (column << s.b.r) + row;
		return i ^ (i / held % held); // a warp uses all banks
	};
	int column;
	barrier(); // what was there has been read
#pragma unroll
	for (int i = 0; i < held; i++) {
		int row = s.to(i, column);
		part[at(row, column)] = v[i];
	}
	barrier();
#pragma unroll
	for (int i = 0; i < held; i++) {
		int row = t.from(i, column);
		v[i] = part[at(row, column)];
	}
}

// multiply multiplies number i by exp(-2πi·i·k/2^(done+3)).
INLINE void multiply(const Complex *roots, const Stage<3> &s, Complex (&v)[held]) {
	int column, j;
	s.of(0, column, j);
	int at = (j & ((1 << s.done) - 1)) << (logRoots - 3 - s.done);
	Complex w = roots[at], w2 = roots[2 * at], w4 = roots[4 * at], w3 = times(w, w2);
	v[1] = times(v[1], w), v[2] = times(v[2], w2), v[3] = times(v[3], w3), v[4] = times(v[4], w4);
	v[5] = times(v[5], times(w, w4)), v[6] = times(v[6], times(w2, w4)), v[7] = times(v[7], times(w3, w4));
}

// A first stage of 2^p numbers, and then those of 8. roots_k is exp(-2πi·k/2^logRoots).
template <int p, Signal signal> INLINE void transform(const Pass &f, const Complex *roots) {
	int width = 31 - __builtin_clz((unsigned)threads()) + 3 - f.r;
	bool byColumn = f.l > f.r;
	SHARED Complex part[held * maxThreads];
	Complex v[held];
	Stage<p> s = {{(blockX() << width) + (signal == plain || signal == factored ? (blockY() << f.period) + f.lo : 0), f.r, width}, 0, byColumn};
	if (leftOut<signal>(f, s.b.base)) return; // and with it all columns
	load<signal>(f, s, v);
#pragma unroll
	for (int i = 0; i < held; i += 1 << p) {
		if constexpr (p == 1) transform2(v[i], v[i + 1]);
		if constexpr (p == 2) transform4(v[i], v[i + 1], v[i + 2], v[i + 3]);
		if constexpr (p == 3) transform8(v);
	}
	if (f.r == p) {
		store<signal>(f, s, v);
		return;
	}
	Stage<3> t = {s.b, p, byColumn && f.m > 0}; // the first pass writes signals, the others columns
	exchange(part, s, t, byColumn, v);
	for (;;) {
		multiply(roots, t, v);
		transform8(v);
		if (t.done + 3 == f.r) break;
		Stage<3> next = {s.b, t.done + 3, t.byColumn};
		exchange(part, t, next, byColumn, v);
		t = next;
	}
	store<signal>(f, t, v);
}

#define PASS(name, p, signal) \
	KERNEL __attribute__((launch_bounds(maxThreads, 3))) name##p(Complex *x, i64 incX, i64 batchX, i64 lengthX, i64 kindX, Complex *y, i64 incY, i64 batchY, i64 lengthY, i64 kindY, const Complex *before, const Complex *after, const Complex *roots, i64 l, i64 r, i64 m, i64 columns, i64 conjugates, i64 lo, i64 period, double scale) { \
		transform<p, signal>({{x, incX, batchX, lengthX, kindX}, {y, incY, batchY, lengthY, kindY}, before, after, (int)l, (int)r, (int)m, columns, conjugates, lo, period, scale}, roots); \
	}
#define PASSES(name, signal) PASS(name, 1, signal) PASS(name, 2, signal) PASS(name, 3, signal)
PASSES(fftPass, plain)
PASSES(fftFactors, factored)
PASSES(fftReals, realSource)
PASSES(fftToReals, realResult)

// roots_k = exp(-2πi·k/n)
KERNEL fftRoots(Complex *roots, i64 n) {
	for (i64 k = first(); k < n; k += step()) roots[k] = rootOf(k, n);
}

// chirp_k = exp(-πi·k²/n) for k < n, and around[±k] the conjugates of these divided by size, which is how
// many numbers around has. The others are zeros.
KERNEL fftChirp(Complex *chirp, i64 n, Complex *around, i64 size) {
	for (i64 i = first(); i < size; i += step()) {
		i64 k = 2 * i > size ? size - i : i;
		if (k >= n) {
			around[i] = {};
			continue;
		}
		Complex v = rootOf(k * k % (2 * n), 2 * n);
		around[i] = conjugate(v) / (double)size;
		if (i < n) chirp[i] = v;
	}
}
