// The log posterior of Gaussian mixtures and its gradient, as in revmodels/gmm: the points
// x_i have densities Σ_k exp(β_ik), with
//
//	β_ik = bias_k - ½‖Q_k·(x_i - μ_k)‖².
//
// Points come in batches. The numbers r_ik of a batch are stored by component.
#include "rated.h"

// A tile is 64 by 64 elements, made by 256 threads. A warp makes 16 by 32 elements, and a thread
// 4 by 4, in registers. The factors come `deep` at a time.
constexpr int tile = 64, half = tile / 2, own = 4, warpRows = 16;
// Numbers with tangents come half as many at a time, for which the shared memory suffices.
template <class T> constexpr int deepOf = sizeof(T) > 8 ? 8 : 16;

// A Corner is one thread's part of a tile: rows `down` to down+3, and two pairs of columns
// that are 16 apart, so that a warp loads neighbours. A warp has 16 rows of the left or right half.
// Rows further down have more to do below the diagonal. The order of the warps' rows differs
// between the halves, and between blocks, so that all schedulers of a multiprocessor have as much
// to do.
struct Corner {
	int down, across, right, rows;
	DEVICE Corner() {
		int warp = (int)threadX() / lanes, in = (int)threadX() % lanes;
		right = warp / 4;
		rows = (warp % 4 ^ ((right + (int)blockX()) & 1 ? 3 : 0)) * warpRows;
		down = rows + in / 8 * own;
		across = right * half + in % 8 * 2;
	}
	DEVICE int column(int j) const { return across + j / 2 * 16 + j % 2; }
};

// load loads pairs of neighbours. The pairs are that far apart.
template <class T> struct alignas(2 * sizeof(T) < 16 ? 2 * sizeof(T) : 16) Pair { T v[2]; };
template <class T> INLINE void load(T (&to)[own], const T *from, int apart) {
#pragma unroll
	for (int i = 0; i < own; i += 2) {
		Pair<T> p = *(const Pair<T> *)(from + i / 2 * apart);
		to[i] = p.v[0];
		to[i + 1] = p.v[1];
	}
}

// unpack sets Q, bias and the part of the log prior that depends on Q of each component:
// m·Σ q - ½g2·‖Q‖². A block does a component.
template <class T> INLINE void unpack(T *q, T *bias, double *prior, const T *alpha, i64 incAlpha, const T *factors, i64 downFactors, i64 d, double m, double g2) {
	i64 k = blockX();
	q += k * d * d;
	const T *row = factors + k * downFactors;
	for (i64 e = threadX(); e < d * d; e += threads()) {
		i64 i = e / d, j = e % d;
		q[e] = i < j ? 0 : i == j ? (T)exp(wide(row[j])) : row[d + j * (d - 1) - j * (j - 1) / 2 + i - j - 1];
	}
	barrier();
	Sum<Wide<T>> logs = Sum<Wide<T>>::zero();
	Sum<double> squares = Sum<double>::zero();
	for (i64 e = threadX(); e < d * d; e += threads()) {
		squares.addProduct(valueOf(wide(q[e])), valueOf(wide(q[e])));
		if (e / d == e % d) logs.add(wide(row[e / d]));
	}
	logs = blockSum(logs);
	barrier();
	squares = blockSum(squares);
	if (threadX() == 0) {
		bias[k] = alpha[k * incAlpha] + (T)logs.value();
		prior[k] = m * valueOf(logs.value()) - g2 / 2 * squares.value();
	}
}

// score sets β of a batch of n points, for the tile of points and the component of a block.
template <class T> INLINE void score(T *beta, const T *x, i64 downX, i64 n, i64 d, const T *q, const T *bias, const T *means, i64 downMeans) {
	constexpr int deep = deepOf<T>;
	alignas(16) SHARED T qs[deep][tile + 2], cs[deep][tile + 2];
	SHARED T squares[tile / own][tile];
	i64 point = blockY() * tile, k = blockX(); // there may be more components than blockY allows
	const T *mean = means + k * downMeans;
	q += k * d * d;
	Corner c;
	T sum[own] = {};
	for (i64 row = 0; row < d; row += tile) {
		T y[own][own] = {};
		i64 end = row + tile < d ? row + tile : d; // of the columns of Q that are not zero
		for (i64 lo = 0; lo < end; lo += deep) {
			for (i64 e = threadX(); e < deep * tile; e += threads()) {
				i64 j = lo + e % deep, i = e / deep; // rows of Q and of X are contiguous
				bool in = j < end;
				qs[e % deep][i] = in && row + i < d ? q[(row + i) * d + j] : 0;
				cs[e % deep][i] = in && point + i < n ? x[(point + i) * downX + j] - mean[j] : 0;
			}
			barrier();
			if (lo < row + c.rows + warpRows) { // else all factors are above the diagonal
#pragma unroll
				for (int l = 0; l < deep; l++) {
					T a[own], b[own];
					load(a, &qs[l][c.down], 2);
					load(b, &cs[l][c.across], 16);
#pragma unroll
					for (int i = 0; i < own * own; i++) y[i / own][i % own] = fma(a[i / own], b[i % own], y[i / own][i % own]);
				}
			}
			barrier();
		}
#pragma unroll
		for (int i = 0; i < own * own; i++) sum[i % own] = fma(y[i / own][i % own], y[i / own][i % own], sum[i % own]);
	}
	for (int j = 0; j < own; j++) squares[c.down / own][c.column(j)] = sum[j];
	barrier();
	i64 p = threadX();
	if (p >= tile || point + p >= n) return;
	T s = 0;
	for (int i = 0; i < tile / own; i++) s += squares[i][p];
	beta[k * n + point + p] = bias[k] - s / 2;
}

// powerless returns exp(v) for v = -Inf, which is 0. A tangent that is not finite becomes NaN.
template <class T> DEVICE T powerless(T) { return 0; }
template <class T> DEVICE Rated<T> powerless(Rated<T> v) { return Rated<T>(0, 0 * v.d); }

// weigh sets part_b to the sum of logsumexp_k β over the points of block b. If `keep`, it replaces β
// by the responsibilities exp(β - logsumexp_k β). A block has 32 points at a time, one for each lane. Its 8 warps share out the
// components: warp w has the components w, w + 8, and so on. Sums are scaled where a larger β comes, so that each is read once. The
// responsibilities read it again, and find it in a cache, as few points are in use.
constexpr int takers = maxThreads / lanes;
template <class T> INLINE void weigh(double *part, T *r, i64 n, i64 comps, i64 keep) {
	SHARED T tops[takers][lanes], sums[takers][lanes];
	int warp = (int)threadX() / lanes, lane = (int)threadX() % lanes;
	auto power = [](T v, T top) __attribute__((always_inline)) { return (T)exp(wide(v - top)); };
	Sum<double> sum = Sum<double>::zero();
	for (i64 lo = blockX() * lanes; lo < n; lo += blocks() * lanes) {
		T *own = r + (lo + lane < n ? lo + lane : n - 1), top = -infinity, s = 0;
		auto load = [&](i64 k) __attribute__((always_inline)) { return own[k * n]; };
		loadAhead(warp, comps, takers, load, [&](i64, T v) __attribute__((always_inline)) {
			T high = top, low = v, e;
			if (v > top) high = v, low = top;
			e = v != -infinity ? power(low, high) : powerless(v); // v may be NaN
			if (v > top) s = fma(s, e, T(1));
			else s += e;
			top = high;
		});
		barrier(); // the sums of the points before were used
		tops[warp][lane] = top;
		sums[warp][lane] = s;
		barrier();
		for (int w = 0; w < takers; w++) {
			if (tops[w][lane] > top) top = tops[w][lane];
		}
		if (top - top != 0 && top < 0) top = 0; // all densities are 0
		s = 0;
		for (int w = 0; w < takers; w++) s = fma(sums[w][lane], power(tops[w][lane], top), s);
		if (warp == 0 && lo + lane < n) sum.add(valueOf(wide(top)) + log(valueOf(wide(s))));
		if (keep && lo + lane < n) loadAhead(warp, comps, takers, load, [&](i64 k, T v) __attribute__((always_inline)) { own[k * n] = power(v, top) / s; });
	}
	barrier();
	sum = blockSum(sum);
	if (threadX() == 0) part[blockX()] = sum.value();
}

// addMoments adds, for the component and the part of the points of a block, to W = Σ r,
// Σ r·c and a tile of Σ r·c·cᵀ on or below the diagonal, with c = x - μ. A part has W, the
// D sums and the D×D sums of each component.
template <class T> INLINE void addMoments(T *sums, const T *r, const T *x, i64 downX, i64 n, i64 d, i64 comps, const T *means, i64 downMeans) {
	constexpr int deep = deepOf<T>;
	alignas(16) SHARED T as[deep][tile], bs[deep][tile];
	SHARED T ws[deep];
	i64 parts = __nvvm_read_ptx_sreg_nctaid_z(), part = __nvvm_read_ptx_sreg_ctaid_z();
	i64 row = 0, column = blockY(), k = blockX();
	while (column > row) column -= ++row; // of the tile
	row *= tile;
	column *= tile;
	const T *mean = means + k * downMeans;
	T *to = sums + (part * comps + k) * (1 + d + d * d);
	i64 runs = (n + deep - 1) / deep;
	int begin = (int)(runs * part / parts * deep), end = (int)(runs * (part + 1) / parts * deep);
	if (end > n) end = (int)n;
	Corner c;
	bool idle = row == column && c.rows + warpRows <= c.right * half, edge = column == 0 && threadX() < tile && row + threadX() < d;
	T m[own][own] = {};
	// A thread loads the same columns of all points. Columns after the last are not used.
	int j = (int)threadX() % tile, down = row + j < d ? (int)row + j : 0, across = column + j < d ? (int)column + j : 0;
	// These and the sums of r and r·c would be too many registers.
	SHARED T meanDown[tile], meanAcross[tile], m1[tile], w[tile];
	if (threadX() < tile) {
		meanDown[j] = mean[down];
		meanAcross[j] = mean[across];
		m1[j] = w[j] = 0;
	}
	barrier();
	const T *ofK = r + k * n;
	for (int lo = begin; lo < end; lo += deep) {
		constexpr int loads = deep * tile / maxThreads;
		T weights[loads];
#pragma unroll // without branches, so that all loads are on their way at once
		for (int u = 0; u < loads; u++) {
			int l = (u * maxThreads + (int)threadX()) / tile, i = lo + l < end ? lo + l : end - 1;
			const T *point = x + i * downX;
			T weight = ofK[i], f = point[down] - meanDown[j];
			weights[u] = lo + l < end ? weight : 0;
			as[l][j] = weights[u] * f;
			bs[l][j] = point[across] - meanAcross[j];
		}
		if (j == 0) {
			for (int u = 0; u < loads; u++) ws[(u * maxThreads + threadX()) / tile] = weights[u];
		}
		barrier();
		if (!idle) {
#pragma unroll
			for (int l = 0; l < deep; l++) {
				T a[own], b[own];
				load(a, &as[l][c.down], 2);
				load(b, &bs[l][c.across], 16);
#pragma unroll
				for (int i = 0; i < own * own; i++) m[i / own][i % own] = fma(a[i / own], b[i % own], m[i / own][i % own]);
			}
		}
		if (edge) {
			T sum = m1[threadX()], weight = w[threadX()];
			for (int l = 0; l < deep; l++) {
				sum += as[l][threadX()];
				weight += ws[l];
			}
			m1[threadX()] = sum;
			w[threadX()] = weight;
		}
		barrier();
	}
	if (edge) {
		to[1 + row + threadX()] += m1[threadX()];
		if (row == 0 && threadX() == 0) to[0] += w[0];
	}
	if (idle) return;
#pragma unroll
	for (int i = 0; i < own * own; i++) {
		i64 u = row + c.down + i / own, v = column + c.column(i % own);
		if (u < d && v <= u) to[1 + d + u * d + v] += m[i / own][i % own];
	}
}

// joinMoments adds the moments of the parts to those of the first, in their order.
template <class T> INLINE void joinMoments(T *sums, i64 size, i64 parts) {
	for (i64 e = first(); e < size; e += step()) {
		T s = sums[e];
		for (i64 p = 1; p < parts; p++) s += sums[p * size + e];
		sums[e] = s;
	}
}

// addParameters adds to the cotangents of the parameters, from the moments W, m and M:
//
//	ᾱ += F̄·(W - N·softmax(α)),  μ̄ += F̄·Qᵀ·Q·m,  Q̄ = -F̄·lower(Q·M),
//	q̄_j += F̄·(W + M₀ - γ²·exp(2q_j)) + Q̄_jj·exp(q_j),  l̄_ij += Q̄_ij - F̄·γ²·l_ij
//
// where M₀ and γ² have the sign of the prior. A null cotangent is left out, and a null F̄
// is 1. A block does a component. scratch has D numbers for each.
template <class T> INLINE void addParameters(T *galpha, i64 incGalpha, T *gmeans, i64 downGmeans, T *gfactors, i64 downGfactors, const T *cot, const T *sums, const T *q, T *scratch, const T *alpha, i64 incAlpha, i64 comps, i64 d, double n, double m0, double g2) {
	i64 k = blockX();
	sums += k * (1 + d + d * d);
	q += k * d * d;
	scratch += k * d;
	const T *m1 = sums + 1, *m2 = m1 + d;
	T f = cot ? *cot : 1, w = sums[0];
	if (galpha && threadX() == 0) {
		Wide<T> top = wide(alpha[0]), s = 0;
		for (i64 l = 1; l < comps; l++) top = wide(alpha[l * incAlpha]) > top ? wide(alpha[l * incAlpha]) : top;
		for (i64 l = 0; l < comps; l++) s += exp(wide(alpha[l * incAlpha]) - top);
		Wide<T> softmax = exp(wide(alpha[k * incAlpha]) - top) / s;
		galpha[k * incGalpha] += f * (T)(wide(w) - n * softmax);
	}
	if (gmeans) {
		for (i64 i = threadX(); i < d; i += threads()) {
			T s = 0;
			for (i64 j = 0; j <= i; j++) s = fma(q[i * d + j], m1[j], s);
			scratch[i] = s;
		}
		barrier();
		for (i64 j = threadX(); j < d; j += threads()) {
			T s = 0;
			for (i64 i = j; i < d; i++) s = fma(q[i * d + j], scratch[i], s);
			gmeans[k * downGmeans + j] += f * s;
		}
	}
	if (!gfactors) return;
	T *g = gfactors + k * downGfactors;
	for (i64 e = threadX(); e < d * d; e += threads()) {
		i64 i = e / d, j = e % d;
		if (j > i) continue;
		T s = 0; // of lower(Q·M), where M has its lower triangle
		for (i64 l = 0; l <= i; l++) s = fma(q[i * d + l], m2[l < j ? j * d + l : l * d + j], s);
		T v = q[e];
		if (i == j) {
			g[j] += f * (w - s * v + (T)(m0 - g2 * wide(v) * wide(v)));
		} else {
			g[d + j * (d - 1) - j * (j - 1) / 2 + i - j - 1] -= f * (s + (T)g2 * v);
		}
	}
}

// squareQ sets p = QᵀQ of the component of a block.
template <class T> INLINE void squareQ(T *p, const T *q, i64 d) {
	p += blockX() * d * d;
	q += blockX() * d * d;
	for (i64 e = threadX(); e < d * d; e += threads()) {
		i64 i = e / d, j = e % d;
		T s = 0;
		for (i64 l = i > j ? i : j; l < d; l++) s = fma(q[l * d + i], q[l * d + j], s);
		p[e] = s;
	}
}

// addPoints adds to the cotangents of a batch of points: x̄_i -= F̄·Σ_k r_ik·P_k·(x_i - μ_k).
template <class T> INLINE void addPoints(T *gx, i64 downGx, const T *cot, const T *r, const T *x, i64 downX, i64 n, i64 d, i64 comps, const T *p, const T *means, i64 downMeans) {
	T f = cot ? *cot : 1;
	for (i64 e = first(); e < n * d; e += step()) {
		i64 i = e / d, j = e % d;
		T sum = 0;
		for (i64 k = 0; k < comps; k++) {
			T s = 0;
			for (i64 l = 0; l < d; l++) s = fma(p[(k * d + l) * d + j], x[i * downX + l] - means[k * downMeans + l], s);
			sum = fma(r[k * n + i], s, sum);
		}
		gx[i * downGx + j] -= f * sum;
	}
}

// addPosterior adds sign·(Σ part + Σ prior + constant - N·logsumexp(α)) to out. Without points
// the last term is left out. One block does it.
template <class T> INLINE void addPosterior(T *out, i64 sign, const double *part, i64 parts, const double *prior, const T *alpha, i64 incAlpha, i64 comps, double n, double constant) {
	Sum<double> s = Sum<double>::zero();
	for (i64 i = threadX(); i < parts; i += threads()) s.add(part[i]);
	for (i64 k = threadX(); k < comps; k += threads()) s.add(prior[k]);
	s = blockSum(s);
	if (threadX() > 0) return;
	double f = s.value() + constant;
	if (n > 0) {
		double top = (double)alpha[0], e = 0;
		for (i64 k = 1; k < comps; k++) top = (double)alpha[k * incAlpha] > top ? (double)alpha[k * incAlpha] : top;
		for (i64 k = 0; k < comps; k++) e += exp((double)alpha[k * incAlpha] - top);
		f -= n * (top + log(e));
	}
	addSigned(*out, sign, (T)f);
}

// pair makes numbers with tangents of x and t. A null one stands for zeros.
template <class T> INLINE void pair(Rated<T> *to, const T *x, i64 down, const T *t, i64 downT, i64 rows, i64 cols) {
	for (i64 e = first(); e < rows * cols; e += step()) {
		i64 i = e / cols, j = e % cols;
		to[e] = Rated<T>(x ? x[i * down + j] : 0, t ? t[i * downT + j] : 0);
	}
}

// addTangents adds the tangents of x to y.
template <class T> INLINE void addTangents(T *y, i64 down, const Rated<T> *x, i64 rows, i64 cols) {
	for (i64 e = first(); e < rows * cols; e += step()) y[e / cols * down + e % cols] += x[e].d;
}

// As many blocks of tiles as that fit on a multiprocessor by their registers.
#define BOUND(resident) __attribute__((launch_bounds(maxThreads, resident)))
#define KERNELS(T, name, resident) \
	KERNEL unpack##name(T *q, T *bias, double *prior, const T *alpha, i64 incAlpha, const T *factors, i64 downFactors, i64 d, double m, double g2) { \
		unpack(q, bias, prior, alpha, incAlpha, factors, downFactors, d, m, g2); \
	} \
	KERNEL BOUND(resident) score##name(T *beta, const T *x, i64 downX, i64 n, i64 d, const T *q, const T *bias, const T *means, i64 downMeans) { \
		score(beta, x, downX, n, d, q, bias, means, downMeans); \
	} \
	KERNEL weigh##name(double *part, T *r, i64 n, i64 comps, i64 keep) { weigh(part, r, n, comps, keep); } \
	KERNEL BOUND(resident) addMoments##name(T *sums, const T *r, const T *x, i64 downX, i64 n, i64 d, i64 comps, const T *means, i64 downMeans) { \
		addMoments(sums, r, x, downX, n, d, comps, means, downMeans); \
	} \
	KERNEL joinMoments##name(T *sums, i64 size, i64 parts) { joinMoments(sums, size, parts); } \
	KERNEL addParameters##name(T *galpha, i64 incGalpha, T *gmeans, i64 downGmeans, T *gfactors, i64 downGfactors, const T *cot, const T *sums, const T *q, T *scratch, const T *alpha, i64 incAlpha, i64 comps, i64 d, double n, double m0, double g2) { \
		addParameters(galpha, incGalpha, gmeans, downGmeans, gfactors, downGfactors, cot, sums, q, scratch, alpha, incAlpha, comps, d, n, m0, g2); \
	} \
	KERNEL squareQ##name(T *p, const T *q, i64 d) { squareQ(p, q, d); } \
	KERNEL addPoints##name(T *gx, i64 downGx, const T *cot, const T *r, const T *x, i64 downX, i64 n, i64 d, i64 comps, const T *p, const T *means, i64 downMeans) { \
		addPoints(gx, downGx, cot, r, x, downX, n, d, comps, p, means, downMeans); \
	}
#define OTHERS(T, name) \
	KERNEL pair##name(Rated<T> *to, const T *x, i64 down, const T *t, i64 downT, i64 rows, i64 cols) { pair(to, x, down, t, downT, rows, cols); } \
	KERNEL addTangents##name(T *y, i64 down, const Rated<T> *x, i64 rows, i64 cols) { addTangents(y, down, x, rows, cols); } \
	KERNEL addPosterior##name(T *out, i64 sign, const double *part, i64 parts, const double *prior, const T *alpha, i64 incAlpha, i64 comps, double n, double constant) { \
		addPosterior(out, sign, part, parts, prior, alpha, incAlpha, comps, n, constant); \
	}
KERNELS(double, F64, 3)
KERNELS(float, F32, 2)
KERNELS(Rated<double>, RatedF64, 1)
KERNELS(Rated<float>, RatedF32, 2)
OTHERS(double, F64)
OTHERS(float, F32)
