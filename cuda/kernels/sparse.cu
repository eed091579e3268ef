// Kernels over sparse matrices stored by rows: those of row i are the entries ptr[i] to
// ptr[i+1]-1, and entry e stands in column ind[e]. Its value is data[e], or data[perm[e]]
// if there is a perm.
#include "vector.h"

// A block does as many rows at a time as it has warps.
DEVICE i64 warps() { return threads() / 32; }

// In fixed point the CPU scatters a transposed product of one column: it rounds each α·x,
// and its product with each entry.
template <class T> struct Scattered { constexpr static bool value = false; };
template <> struct Scattered<Q43> { constexpr static bool value = true; };

// scaled returns α·s. A null alpha stands for 1.
template <class T> DEVICE T scaled(const T *alpha, Sum<T> s) { return alpha ? product(*alpha, s.value()) : s.value(); }

// A Line is a vector of one column whose elements are down apart. It may be absent.
template <class T> struct Line {
	T *data;
	i64 down;
	DEVICE T &at(i64 i) const { return data[i * down]; }
	DEVICE operator bool() const { return data; }
};

// A Span is the entries begin to end-1, which are of a row. It is of row -1 if there is nothing to do.
struct Span {
	int begin, end;
	i64 row;
};

// Spans are what the threads of a launch share out. Row i has the ends at[i] and at[i+1], and is left out
// if it has more than longest entries. What is left out is cut into pieces, which a second launch does:
// piece i has its ends and its row at at[3i].
struct Spans {
	i64 n;
	const int *at;
	i64 longest;
	bool pieces;
	INLINE Span operator[](i64 i) const {
		if (i >= n) return {0, 0, -1};
		if (pieces) return {at[3 * i], at[3 * i + 1], at[3 * i + 2]};
		int begin = at[i], end = at[i + 1];
		return end - begin > longest ? Span{0, 0, -1} : Span{begin, end, i};
	}
};

// A thread loads so many entries before it needs the first.
constexpr int flight = 4;

// An Ends is what is done with the sums of a row: y += sign·α·s, ẏ += sign·(α·(s1 + s2) + α̇·s).
template <class T> struct Ends {
	Line<T> y, ty;
	const T *alpha, *talpha;
	i64 sign;
	bool has1, has2;
	INLINE void add(i64 i, Sum<T> s, Sum<T> s1, Sum<T> s2) const {
		if (y) addSigned(y.at(i), sign, scaled(alpha, s));
		if (has1) addSigned(ty.at(i), sign, scaled(alpha, s1));
		if (has2) addSigned(ty.at(i), sign, scaled(alpha, s2));
		if (talpha) addSigned(ty.at(i), sign, scaled(talpha, s));
	}
};

// y += sign·α·A·x, with the tangents ẏ += sign·(α·Ȧ·x + α·A·ẋ + α̇·A·x), and the cotangents
// ga_e += α·gy_i·x_l for entry e in row i and column l. What is null is left out, but a null alpha
// stands for 1. If there is a perm, A is a transpose. Some threads of a warp do a span, a power of
// two: they share its entries. The sums of pieces are stored: those of A·x in part, of Ȧ·x n numbers
// later, and of A·ẋ after these.
template <PassKind kind, class T>
DEVICE void addSparse(Line<T> y, Line<const T> x, Line<T> ty, Line<const T> tx, T *ga, Line<const T> gy, Spans spans, const int *ind, const int *perm, const T *data, const T *tdata, const T *alpha, const T *talpha, i64 sign, i64 share, Sum<T> *part) {
	if (kind != tangent) ty = {}, tx = {}, tdata = talpha = nullptr;
	if (kind != adjoint) ga = nullptr;
	bool scattered = Scattered<T>::value && perm;
	Ends<T> ends = {y, ty, scattered ? nullptr : alpha, talpha, sign, tdata != nullptr, tx};
	int lane = (int)threadX() % lanes, group = (int)share, member = lane & (group - 1), each = lanes / group;
	for (i64 top = (blockX() * warps() + threadX() / lanes) * each; top < spans.n; top += blocks() * warps() * each) {
		i64 i = top + lane / group;
		Span span = spans[i];
		Sum<T> s = Sum<T>::zero(), s1 = s, s2 = s;
		T by = ga && span.row >= 0 ? gy.at(span.row) : T{};
		unsigned end = (unsigned)span.end; // up to 2³¹-1, so that what is beyond is no int
		for (unsigned from = (unsigned)(span.begin + member); from < end; from += flight * group) {
			int at[flight], l[flight];
			T a[flight], v[flight], b[flight], w[flight]; // b of Ȧ or Ā, and w of ẋ
#pragma unroll
			for (int u = 0; u < flight; u++) {
				unsigned e = from + u * group;
				bool in = e < end;
				at[u] = !in ? -1 : perm ? perm[e] : (int)e, l[u] = in ? ind[e] : 0;
			}
#pragma unroll
			for (int u = 0; u < flight; u++) a[u] = at[u] < 0 ? T{} : data[at[u]], b[u] = at[u] < 0 ? T{} : tdata ? tdata[at[u]] : ga ? ga[at[u]] : T{};
#pragma unroll
			for (int u = 0; u < flight; u++) v[u] = at[u] < 0 ? T{} : x.at(l[u]), w[u] = at[u] < 0 || !tx ? T{} : tx.at(l[u]);
#pragma unroll
			for (int u = 0; u < flight; u++) {
				if (at[u] < 0) break;
				if (scattered) s.add(product(a[u], alpha ? product(*alpha, v[u]) : v[u]));
				else s.addProduct(a[u], v[u]);
				if (tdata) s1.addProduct(b[u], v[u]);
				if (tx) s2.addProduct(a[u], w[u]);
				if (!ga) continue;
				addSigned(b[u], 1, alpha ? product(*alpha, product(by, v[u])) : product(by, v[u]));
				ga[at[u]] = b[u];
			}
		}
		for (int from = group / 2; from > 0; from /= 2) {
			s.add(Sum<T>{down(s.v, from)});
			if (tdata) s1.add(Sum<T>{down(s1.v, from)});
			if (tx) s2.add(Sum<T>{down(s2.v, from)});
		}
		if (member > 0 || span.row < 0) continue;
		if (!spans.pieces) {
			ends.add(span.row, s, s1, s2);
			continue;
		}
		part[i] = s;
		if (tdata) part[spans.n + i] = s1;
		if (tx) part[2 * spans.n + i] = s2;
	}
}

// addSparseEnd ends the rows that were cut. Row r of them is row[3r], and has the pieces row[3r+1] to
// row[3r+2]-1 of n. A warp does one of cols columns of it. Column j has its sums in part, j·n numbers later;
// if there is one column, those of the tangents follow.
template <class T>
DEVICE void addSparseEnd(Ends<T> ends, i64 cols, i64 rows, const int *row, i64 n, const Sum<T> *part) {
	for (i64 at = blockX() * warps() + threadX() / lanes; at < rows * cols; at += blocks() * warps()) {
		const int *r = row + 3 * over(at, cols);
		i64 j = at - over(at, cols) * cols;
		Sum<T> s = Sum<T>::zero(), s1 = s, s2 = s;
		for (i64 p = r[1] + threadX() % lanes; p < r[2]; p += lanes) {
			s.add(part[j * n + p]);
			if (ends.has1) s1.add(part[n + p]);
			if (ends.has2) s2.add(part[2 * n + p]);
		}
		s = warpSum(s), s1 = warpSum(s1), s2 = warpSum(s2);
		Ends<T> column = ends;
		if (column.y) column.y.data += j;
		if (threadX() % lanes == 0) column.add(r[0], s, s1, s2);
	}
}

// y += sign·α·A·x, for x and y of several columns. A warp does a span, and its threads share the
// columns. The sums of pieces are stored for addSparseEnd.
template <class T>
DEVICE void addSparseColumns(T *y, i64 downY, const T *x, i64 downX, i64 cols, Spans spans, const int *ind, const int *perm, const T *data, const T *alpha, i64 sign, Sum<T> *part) {
	for (i64 i = blockX() * warps() + threadX() / lanes; i < spans.n; i += blocks() * warps()) {
		Span span = spans[i];
		if (span.row < 0) continue;
		for (i64 j = threadX() % lanes; j < cols; j += lanes) {
			Sum<T> s = Sum<T>::zero();
			for (int e = span.begin; e < span.end; e++) s.addProduct(data[perm ? perm[e] : e], x[ind[e] * downX + j]);
			if (spans.pieces) part[j * spans.n + i] = s;
			else addSigned(y[span.row * downY + j], sign, scaled(alpha, s));
		}
	}
}

// ga_e += α·Σ_j u_ij·v_lj, for entry e in row i and column l. A warp does a span, and its
// threads share the entries.
template <class T>
DEVICE void addSampled(T *ga, const T *u, i64 downU, const T *v, i64 downV, i64 cols, Spans spans, const int *ind, const T *alpha) {
	i64 lane = threadX() % 32;
	for (i64 i = blockX() * warps() + threadX() / 32; i < spans.n; i += blocks() * warps()) {
		Span span = spans[i];
		for (i64 e = span.begin + lane; e < span.end; e += 32) {
			Sum<T> s = Sum<T>::zero();
			for (i64 j = 0; j < cols; j++) s.addProduct(u[span.row * downU + j], v[ind[e] * downV + j]);
			addSigned(ga[e], 1, scaled(alpha, s));
		}
	}
}

// A launch over spans has n of them, their ends, and the most entries of a row, or -1 if they are pieces.
#define SPANS {n, at, longest, longest < 0}
#define PASS(T, name, kind) \
	KERNEL name(T *y, i64 downY, const T *x, i64 downX, T *ty, i64 downTY, const T *tx, i64 downTX, T *ga, const T *gy, i64 downGY, i64 n, const int *at, i64 longest, const int *ind, const int *perm, const T *data, const T *tdata, const T *alpha, const T *talpha, i64 sign, i64 share, Sum<T> *part) { \
		addSparse<kind, T>({y, downY}, {x, downX}, {ty, downTY}, {tx, downTX}, ga, {gy, downGY}, SPANS, ind, perm, data, tdata, alpha, talpha, sign, share, part); \
	}
#define KERNELS(T, name) \
	PASS(T, addSparseForward##name, forward) PASS(T, addSparseTangent##name, tangent) PASS(T, addSparseAdjoint##name, adjoint) \
	KERNEL addSparseEnd##name(T *y, i64 downY, T *ty, i64 downTY, i64 has1, i64 has2, const T *alpha, const T *talpha, i64 sign, i64 cols, i64 rows, const int *row, i64 n, const Sum<T> *part) { \
		addSparseEnd<T>({{y, downY}, {ty, downTY}, alpha, talpha, sign, has1 != 0, has2 != 0}, cols, rows, row, n, part); \
	} \
	KERNEL addSparseColumns##name(T *y, i64 downY, const T *x, i64 downX, i64 cols, i64 n, const int *at, i64 longest, const int *ind, const int *perm, const T *data, const T *alpha, i64 sign, Sum<T> *part) { \
		addSparseColumns(y, downY, x, downX, cols, SPANS, ind, perm, data, alpha, sign, part); \
	} \
	KERNEL addSampled##name(T *ga, const T *u, i64 downU, const T *v, i64 downV, i64 cols, i64 n, const int *at, i64 longest, const int *ind, const T *alpha) { \
		addSampled(ga, u, downU, v, downV, cols, SPANS, ind, alpha); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
