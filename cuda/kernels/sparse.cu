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

// y += sign·α·A·x, with the tangents ẏ += sign·(α·Ȧ·x + α·A·ẋ + α̇·A·x), and the cotangents
// ga_e += α·gy_i·x_l for entry e in row i and column l. What is null is left out, but a null alpha
// stands for 1. If there is a perm, A is a transpose. Some threads of a warp do a row, a power of
// two: they share its entries.
template <PassKind kind, class T>
DEVICE void addSparse(Line<T> y, Line<const T> x, Line<T> ty, Line<const T> tx, T *ga, Line<const T> gy, i64 rows, const int *ptr, const int *ind, const int *perm, const T *data, const T *tdata, const T *alpha, const T *talpha, i64 sign, i64 share) {
	if (kind != tangent) ty = {}, tx = {}, tdata = talpha = nullptr;
	if (kind != adjoint) ga = nullptr;
	int lane = (int)threadX() % lanes, group = (int)share, member = lane & (group - 1), each = lanes / group;
	for (i64 top = (blockX() * warps() + threadX() / lanes) * each; top < rows; top += blocks() * warps() * each) {
		i64 i = top + lane / group;
		int begin = i < rows ? ptr[i] : 0, end = i < rows ? ptr[i + 1] : 0;
		Sum<T> s = Sum<T>::zero(), s1 = s, s2 = s;
		T by = ga && i < rows ? gy.at(i) : T{};
		for (int e = begin + member; e < end; e += group) {
			i64 at = perm ? perm[e] : e, l = ind[e];
			T a = data[at], v = x.at(l);
			if (Scattered<T>::value && perm) s.add(product(a, alpha ? product(*alpha, v) : v));
			else s.addProduct(a, v);
			if (tdata) s1.addProduct(tdata[at], v);
			if (tx) s2.addProduct(a, tx.at(l));
			if (ga) addSigned(ga[at], 1, alpha ? product(*alpha, product(by, v)) : product(by, v));
		}
		for (int from = group / 2; from > 0; from /= 2) {
			s.add(Sum<T>{down(s.v, from)});
			if (tdata) s1.add(Sum<T>{down(s1.v, from)});
			if (tx) s2.add(Sum<T>{down(s2.v, from)});
		}
		if (member > 0 || i >= rows) continue;
		const T *factor = Scattered<T>::value && perm ? nullptr : alpha;
		if (y) addSigned(y.at(i), sign, scaled(factor, s));
		if (tdata) addSigned(ty.at(i), sign, scaled(factor, s1));
		if (tx) addSigned(ty.at(i), sign, scaled(factor, s2));
		if (talpha) addSigned(ty.at(i), sign, scaled(talpha, s));
	}
}

// y += sign·α·A·x, for x and y of several columns. A warp does a row, and its threads share the
// columns.
template <class T>
DEVICE void addSparseColumns(T *y, i64 downY, const T *x, i64 downX, i64 cols, i64 rows, const int *ptr, const int *ind, const int *perm, const T *data, const T *alpha, i64 sign) {
	for (i64 i = blockX() * warps() + threadX() / lanes; i < rows; i += blocks() * warps()) {
		for (i64 j = threadX() % lanes; j < cols; j += lanes) {
			Sum<T> s = Sum<T>::zero();
			for (int e = ptr[i]; e < ptr[i + 1]; e++) s.addProduct(data[perm ? perm[e] : e], x[ind[e] * downX + j]);
			addSigned(y[i * downY + j], sign, scaled(alpha, s));
		}
	}
}

// ga_e += α·Σ_j u_ij·v_lj, for entry e in row i and column l. A warp does a row, and its
// threads share the entries.
template <class T>
DEVICE void addSampled(T *ga, const T *u, i64 downU, const T *v, i64 downV, i64 cols, i64 rows, const int *ptr, const int *ind, const T *alpha) {
	i64 lane = threadX() % 32;
	for (i64 i = blockX() * warps() + threadX() / 32; i < rows; i += blocks() * warps()) {
		for (i64 e = ptr[i] + lane; e < ptr[i + 1]; e += 32) {
			Sum<T> s = Sum<T>::zero();
			for (i64 j = 0; j < cols; j++) s.addProduct(u[i * downU + j], v[ind[e] * downV + j]);
			addSigned(ga[e], 1, scaled(alpha, s));
		}
	}
}

#define PASS(T, name, kind) \
	KERNEL name(T *y, i64 downY, const T *x, i64 downX, T *ty, i64 downTY, const T *tx, i64 downTX, T *ga, const T *gy, i64 downGY, i64 rows, const int *ptr, const int *ind, const int *perm, const T *data, const T *tdata, const T *alpha, const T *talpha, i64 sign, i64 share) { \
		addSparse<kind, T>({y, downY}, {x, downX}, {ty, downTY}, {tx, downTX}, ga, {gy, downGY}, rows, ptr, ind, perm, data, tdata, alpha, talpha, sign, share); \
	}
#define KERNELS(T, name) \
	PASS(T, addSparseForward##name, forward) PASS(T, addSparseTangent##name, tangent) PASS(T, addSparseAdjoint##name, adjoint) \
	KERNEL addSparseColumns##name(T *y, i64 downY, const T *x, i64 downX, i64 cols, i64 rows, const int *ptr, const int *ind, const int *perm, const T *data, const T *alpha, i64 sign) { \
		addSparseColumns(y, downY, x, downX, cols, rows, ptr, ind, perm, data, alpha, sign); \
	} \
	KERNEL addSampled##name(T *ga, const T *u, i64 downU, const T *v, i64 downV, i64 cols, i64 rows, const int *ptr, const int *ind, const T *alpha) { \
		addSampled(ga, u, downU, v, downV, cols, rows, ptr, ind, alpha); \
	}
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
