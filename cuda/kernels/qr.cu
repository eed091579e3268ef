// QR decompositions by Householder reflections I - τ·v·vᵀ, and what their derivatives need
// besides products. The signs are those of revlinalg.QR.
//
// A stack is matrices of one shape. Element (i, j) of matrix b is at b·batch + i·down +
// j·across.
#include "function.h"

DEVICE double bound(double) { return 0x1p-52; }
DEVICE float bound(float) { return 0x1p-23f; }
DEVICE float root(float x) { return __builtin_elementwise_sqrt(x); }
DEVICE float magnitude(float x) { return __builtin_fabsf(x); }
DEVICE float fma(float x, float y, float z) { return __builtin_elementwise_fma(x, y, z); }

// exponent returns the e for which 2^(e-1) <= x < 2^e, and 0 if x is 0 or not finite.
DEVICE int exponent(double x) {
	int e = 0;
	if (x > 0 && x < 0x1p-1022) {
		x *= 0x1p54;
		e = -54;
	}
	int field = (int)(__builtin_bit_cast(u64, x) >> 52 & 0x7ff);
	return field == 0 || field == 0x7ff ? 0 : field - 1022 + e;
}

// scale returns x·2^e. The power is made of two, which are in range.
template <class T> DEVICE T scale(T x, int e) {
	double half = __builtin_bit_cast(double, (u64)(1023 + e / 2) << 52);
	double rest = __builtin_bit_cast(double, (u64)(1023 + e - e / 2) << 52);
	return (T)((double)x * half * rest);
}

// A Reflection takes x to (β, 0, ...), with v = (1, x_i/divisor, ...). If τ is 0, x stays.
template <class T> struct Reflection {
	T beta, tau, divisor;
	// For x = (α, ...), the sum of the squares of the others, and the largest magnitude in
	// the column of R.
	DEVICE void set(T alpha, T squares, T top) {
		T length = root(squares);
		beta = alpha;
		tau = 0;
		divisor = 1;
		if (length == 0 || (length < magnitude(alpha) / 64 && length <= 10 * bound(alpha) * top)) return;
		beta = -root(fma(alpha, alpha, squares));
		if (alpha < -root(bound(alpha)) * length) beta = -beta;
		tau = (beta - alpha) / beta;
		divisor = alpha - beta;
	}
};

// Q and R of small matrices with up to M rows. A block does a matrix, and a thread a
// column, in registers. R has zeros below its diagonal. Column j of A is multiplied by
// 2^shifts[j], which brings its elements near to 1, and so is that of R.
template <class T, int M> INLINE void smallQR(T *q, T *r, T *shifts, const T *a, i64 downA, i64 m, i64 n) {
	SHARED T v[M][M], tau[M];
	i64 j = threadX(), b = blockX();
	bool mine = j < n;
	T c[M], top = 0;
#pragma unroll
	for (int i = 0; i < M; i++) {
		c[i] = mine && i < m ? a[(b * m + i) * downA + j] : 0;
		top = magnitude(c[i]) > top ? magnitude(c[i]) : top;
	}
	int shift = -exponent(top);
	if (mine) shifts[b * n + j] = shift;
#pragma unroll
	for (int i = 0; i < M; i++) c[i] = scale(c[i], shift);
#pragma unroll 1
	for (i64 k = 0; k < n; k++) {
		if (j == k) {
			T alpha = 0, part[4] = {};
			top = 0;
#pragma unroll
			for (int i = 0; i < M; i++) {
				if (i == k) alpha = c[i];
				if (i > k) part[i % 4] = fma(c[i], c[i], part[i % 4]);
				if (i <= k && magnitude(c[i]) > top) top = magnitude(c[i]);
			}
			Reflection<T> h;
			h.set(alpha, (part[0] + part[1]) + (part[2] + part[3]), top);
			tau[k] = h.tau;
#pragma unroll
			for (int i = 0; i < M; i++) {
				v[k][i] = i < k ? 0 : i == k ? 1 : h.tau == 0 ? 0 : c[i] / h.divisor;
				if (i == k) c[i] = h.beta;
			}
		}
		barrier();
		if (j > k) {
			T dot = 0, t = tau[k];
#pragma unroll
			for (int i = 0; i < M; i++) dot = fma(v[k][i], c[i], dot);
			dot = -t * dot;
#pragma unroll
			for (int i = 0; i < M; i++) c[i] = fma(dot, v[k][i], c[i]);
		}
	}
	if (!mine) return;
#pragma unroll
	for (int i = 0; i < M; i++) {
		if (i < n) r[(b * n + i) * n + j] = i <= j ? c[i] : 0;
		c[i] = i == j;
	}
#pragma unroll 1
	for (i64 k = j; k >= 0; k--) { // the others leave the column of the identity
		T dot = 0, t = tau[k];
#pragma unroll
		for (int i = 0; i < M; i++) dot = fma(v[k][i], c[i], dot);
		dot = -t * dot;
#pragma unroll
		for (int i = 0; i < M; i++) c[i] = fma(dot, v[k][i], c[i]);
	}
#pragma unroll
	for (int i = 0; i < M; i++) {
		if (i < m) q[(b * m + i) * n + j] = c[i];
	}
}

// at = Aᵀ, whose row j is multiplied by 2^shifts[j], as in smallQR. A block does a column.
template <class T> DEVICE void loadColumns(T *at, T *shifts, const T *a, i64 downA, i64 m) {
	SHARED T tops[maxThreads];
	i64 j = blockX();
	T top = 0;
	for (i64 i = threadX(); i < m; i += threads()) {
		T v = magnitude(a[i * downA + j]);
		top = v > top ? v : top;
	}
	tops[threadX()] = top;
	barrier();
	for (int i = 0; i < threads(); i++) top = tops[i] > top ? tops[i] : top;
	int shift = -exponent(top);
	if (threadX() == 0) shifts[j] = shift;
	for (i64 i = threadX(); i < m; i += threads()) at[j * m + i] = scale(a[i * downA + j], shift);
}

// reducePanel reduces columns k to k+cols-1 of A, which are rows of at, and no others. Row
// j of v becomes the vector of the reflection of column j. One block does all.
template <class T> DEVICE void reducePanel(T *at, T *v, T *tau, i64 m, i64 k, i64 cols) {
	SHARED Reflection<T> h;
	SHARED T tops[maxThreads];
	i64 warp = threadX() / lanes, lane = threadX() % lanes;
	for (i64 j = k; j < k + cols; j++) {
		T *x = at + j * m, *w = v + j * m;
		Sum<T> squares = Sum<T>::zero();
		T top = 0;
		for (i64 i = threadX(); i < m; i += threads()) {
			if (i > j) squares.addProduct(x[i], x[i]);
			if (i <= j && magnitude(x[i]) > top) top = magnitude(x[i]);
		}
		tops[threadX()] = top;
		squares = blockSum(squares);
		if (threadX() == 0) {
			for (int i = 1; i < threads(); i++) top = tops[i] > top ? tops[i] : top;
			h.set(x[j], squares.value(), top);
			tau[j] = h.tau;
		}
		barrier();
		Reflection<T> now = h;
		for (i64 i = threadX(); i < m; i += threads()) {
			w[i] = i < j ? 0 : i == j ? 1 : now.tau == 0 ? 0 : x[i] / now.divisor;
			if (i == j) x[i] = now.beta;
		}
		barrier();
		for (i64 l = j + 1 + warp; l < k + cols; l += threads() / lanes) {
			T *y = at + l * m;
			Sum<T> dot = Sum<T>::zero();
			for (i64 i = j + lane; i < m; i += lanes) dot.addProduct(w[i], y[i]);
			for (int mask = lanes / 2; mask > 0; mask /= 2) dot.add(across(dot.v, mask));
			T s = -now.tau * dot.v;
			for (i64 i = j + lane; i < m; i += lanes) y[i] = fma(s, w[i], y[i]);
		}
		barrier();
	}
}

// compact sets T of a panel, for which the product of the reflections is I - V·T·Vᵀ, from
// their τ and s = VᵀV: t_jj = τ_j and T[:j,j] = -τ_j·T[:j,:j]·s[:j,j]. A thread does a row.
template <class T> DEVICE void compact(T *t, const T *s, const T *tau, i64 cols) {
	i64 i = threadX();
	if (i >= cols) return;
	for (i64 j = 0; j < cols; j++) {
		T sum = 0;
		for (i64 l = i; l < j; l++) sum = fma(t[i * cols + l], s[l * cols + j], sum);
		t[i * cols + j] = j < i ? 0 : j == i ? tau[j] : -tau[j] * sum;
	}
}

// r = R, from at, and qt = the first n rows of the identity of m rows.
template <class T> DEVICE void beginQ(T *qt, T *r, const T *at, i64 m, i64 n) {
	for (i64 i = first(); i < n * m; i += step()) {
		i64 j = i / m, l = i % m;
		qt[i] = j == l;
		if (l < n) r[l * n + j] = l <= j ? at[i] : 0;
	}
}

// worst[b] = (κ, j): the largest ratio κ of the largest magnitude in a column of R to its
// diagonal, and the column, counted through all matrices of the stack. κ is at least 1.
// If r is null, it is the first worst of `count` others. A block does a matrix.
template <class T> DEVICE void condition(double *worst, const T *r, i64 n, const double *others, i64 count) {
	SHARED double ratios[lanes], columns[lanes];
	i64 lane = threadX(), b = blockX();
	double most = 1, at = (double)(b * n);
	if (r) {
		r += b * n * n;
		for (i64 j = lane; j < n; j += lanes) {
			T top = 0, diagonal = magnitude(r[j * n + j]);
			for (i64 i = 0; i <= j; i++) {
				T v = magnitude(r[i * n + j]);
				top = v > top ? v : top;
			}
			double ratio = diagonal == 0 ? __builtin_inf() : top - top == 0 ? (double)(top / diagonal) : 0;
			if (ratio > most) {
				most = ratio;
				at = (double)(b * n + j);
			}
		}
	} else {
		for (i64 i = lane; i < count; i += lanes) {
			if (others[2 * i] > most) {
				most = others[2 * i];
				at = others[2 * i + 1];
			}
		}
	}
	ratios[lane] = most;
	columns[lane] = at;
	barrier();
	if (lane > 0) return;
	for (int i = 1; i < lanes; i++) {
		if (ratios[i] > most || (ratios[i] == most && most > 1 && columns[i] < at)) {
			most = ratios[i];
			at = columns[i];
		}
	}
	worst[2 * b] = most;
	worst[2 * b + 1] = at;
}

// r_ij *= 2^-shifts[j], for a stack of `count` R.
template <class T> DEVICE void unshift(T *r, const T *shifts, i64 n, i64 count) {
	for (i64 i = first(); i < count * n * n; i += step()) r[i] = scale(r[i], -(int)shifts[i / (n * n) * n + i % n]);
}

// y += sign·x, for stacks. If upper is set, only on and above the diagonal.
template <class T> DEVICE void addStack(T *y, i64 downY, i64 acrossY, i64 batchY, i64 sign, const T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, i64 cols, i64 count, i64 upper) {
	for (i64 e = first(); e < count * rows * cols; e += step()) {
		i64 b = e / (rows * cols), i = e / cols % rows, j = e % cols;
		if (!upper || i <= j) addSigned(y[b * batchY + i * downY + j * acrossY], sign, x[b * batchX + i * downX + j * acrossX]);
	}
}

// C += sign·A·B for stacks, with A of m×k and B of k×n elements. A block does a matrix.
template <class T> DEVICE void multiplyStack(T *c, i64 downC, i64 acrossC, i64 batchC, i64 m, i64 n, i64 k, const T *a, i64 downA, i64 acrossA, i64 batchA, const T *b, i64 downB, i64 acrossB, i64 batchB, i64 sign) {
	c += blockX() * batchC;
	a += blockX() * batchA;
	b += blockX() * batchB;
	for (i64 e = threadX(); e < m * n; e += threads()) {
		i64 i = e / n, j = e % n;
		T s = 0;
		for (i64 l = 0; l < k; l++) s = fma(a[i * downA + l * acrossA], b[l * downB + j * acrossB], s);
		addSigned(c[i * downC + j * acrossC], sign, s);
	}
}

// mirror copies the lower triangles of `count` n×n matrices to their upper ones. If add is
// set, it adds them there, and leaves zeros below.
template <class T> DEVICE void mirror(T *k, i64 n, i64 count, i64 add) {
	for (i64 e = first(); e < count * n * n; e += step()) {
		i64 b = e / (n * n), i = e / n % n, j = e % n;
		if (j >= i) continue;
		T &low = k[b * n * n + i * n + j], &up = k[b * n * n + j * n + i];
		if (add) {
			up += low;
			low = 0;
		} else {
			up = low;
		}
	}
}

// x <- x·R⁻¹, or x·R⁻ᵀ if trans is set, for a block of R of `size` columns from lo on, and
// these columns of x. A thread does a row of x, and consecutive blocks do a matrix.
constexpr int solveCols = 32, solveRows = 64;
template <class T> DEVICE void solveStack(T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, const T *r, i64 n, i64 lo, i64 size, i64 trans) {
	SHARED T block[solveCols][solveCols + 1], xs[solveRows][solveCols + 1];
	i64 each = (rows + solveRows - 1) / solveRows, b = blockX() / each;
	x += b * batchX + lo * acrossX;
	r += b * n * n + lo * n + lo;
	i64 row = blockX() % each * solveRows + threadX();
	for (i64 e = threadX(); e < size * size; e += solveRows) {
		i64 i = e / size, j = e % size;
		if (trans) {
			block[i][j] = r[i * n + j];
		} else {
			block[size - 1 - j][size - 1 - i] = r[i * n + j]; // turned, so that both cases are one
		}
	}
	barrier();
	if (row >= rows) return;
	T *own = xs[threadX()];
	for (i64 j = 0; j < size; j++) own[trans ? j : size - 1 - j] = x[row * downX + j * acrossX];
	for (i64 j = size - 1; j >= 0; j--) {
		T s = own[j];
		for (i64 k = j + 1; k < size; k++) s = fma(-own[k], block[j][k], s);
		own[j] = s / block[j][j];
	}
	for (i64 j = 0; j < size; j++) x[row * downX + j * acrossX] = own[trans ? j : size - 1 - j];
}

#define SMALL(T, name, M) \
	KERNEL smallQR##M##name(T *q, T *r, T *shifts, const T *a, i64 downA, i64 m, i64 n) { smallQR<T, M>(q, r, shifts, a, downA, m, n); }
#define KERNELS(T, name) \
	SMALL(T, name, 16) \
	SMALL(T, name, 32) \
	SMALL(T, name, 64) \
	KERNEL loadColumns##name(T *at, T *shifts, const T *a, i64 downA, i64 m) { loadColumns(at, shifts, a, downA, m); } \
	KERNEL reducePanel##name(T *at, T *v, T *tau, i64 m, i64 k, i64 cols) { reducePanel(at, v, tau, m, k, cols); } \
	KERNEL compact##name(T *t, const T *s, const T *tau, i64 cols) { compact(t, s, tau, cols); } \
	KERNEL beginQ##name(T *qt, T *r, const T *at, i64 m, i64 n) { beginQ(qt, r, at, m, n); } \
	KERNEL condition##name(double *worst, const T *r, i64 n, const double *others, i64 count) { condition(worst, r, n, others, count); } \
	KERNEL unshift##name(T *r, const T *shifts, i64 n, i64 count) { unshift(r, shifts, n, count); } \
	KERNEL addStack##name(T *y, i64 downY, i64 acrossY, i64 batchY, i64 sign, const T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, i64 cols, i64 count, i64 upper) { \
		addStack(y, downY, acrossY, batchY, sign, x, downX, acrossX, batchX, rows, cols, count, upper); \
	} \
	KERNEL multiplyStack##name(T *c, i64 downC, i64 acrossC, i64 batchC, i64 m, i64 n, i64 k, const T *a, i64 downA, i64 acrossA, i64 batchA, const T *b, i64 downB, i64 acrossB, i64 batchB, i64 sign) { \
		multiplyStack(c, downC, acrossC, batchC, m, n, k, a, downA, acrossA, batchA, b, downB, acrossB, batchB, sign); \
	} \
	KERNEL mirror##name(T *k, i64 n, i64 count, i64 add) { mirror(k, n, count, add); } \
	KERNEL solveStack##name(T *x, i64 downX, i64 acrossX, i64 batchX, i64 rows, const T *r, i64 n, i64 lo, i64 size, i64 trans) { \
		solveStack(x, downX, acrossX, batchX, rows, r, n, lo, size, trans); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
