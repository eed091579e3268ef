// The rows of blocks of scores of Attention, with the equations of revnn. A block of threads has a row.
#include "function.h"
#include "team.h"

struct Most {
	double v;
	DEVICE void add(Most o) { v = o.v > v ? o.v : v; }
	DEVICE Most crossed(int mask) const { return {across(v, mask)}; }
};
struct Pair {
	double a, b;
	DEVICE void add(Pair o) { a += o.a, b += o.b; }
	DEVICE Pair crossed(int mask) const { return {across(a, mask), across(b, mask)}; }
};

// Row i of p has the products of a query and all keys, and tp those of their tangents. p becomes softmax(α·p),
// and tp its tangent. `each` rows in a row are those of the queries from lo on, of which one sees no later key
// if causal is set. A tp that is null is not computed.
template <class T> DEVICE void attentionScores(T *p, T *tp, double scale, i64 rows, i64 cols, i64 each, i64 lo, i64 causal) {
	typedef Team<true> Team;
	for (i64 i = Team::row(); i < rows; i += Team::rows()) {
		T *s = p + i * cols, *ts = tp ? tp + i * cols : tp;
		i64 me = Team::me(), size = Team::size(), seen = lo + i % each + 1;
		if (!causal || seen > cols) seen = cols;
		Most top = {-__builtin_inf()};
		for (i64 j = me; j < seen; j += size) top.add({scale * (double)s[j]});
		top = Team::all(top);
		Pair sum = {0, 0};
		for (i64 j = me; j < seen; j += size) {
			double e = exp(scale * (double)s[j] - top.v);
			sum.a += e;
			if (ts) sum.b += e * (scale * (double)ts[j]);
		}
		sum = Team::all(sum);
		double rate = sum.b / sum.a;
		for (i64 j = me; j < cols; j += size) {
			double v = j < seen ? exp(scale * (double)s[j] - top.v) / sum.a : 0;
			s[j] = (T)v;
			if (ts) ts[j] = (T)(j < seen ? v * (scale * (double)ts[j] - rate) : 0);
		}
	}
}

// r has R, and becomes α·S̄, and tr has Ṙ, and becomes α·ġS. What is null counts as zeros.
template <class T> DEVICE void attentionBack(const T *p, const T *tp, T *r, T *tr, double scale, i64 rows, i64 cols) {
	typedef Team<true> Team;
	for (i64 i = Team::row(); i < rows; i += Team::rows()) {
		i64 me = Team::me(), size = Team::size(), from = i * cols;
		auto at = [&](const T *x, i64 j) { return x ? (double)x[from + j] : 0; };
		Pair d = {0, 0};
		for (i64 j = me; j < cols; j += size) {
			double v = at(r, j);
			d.a += at(p, j) * v;
			d.b += at(tp, j) * v + at(p, j) * at(tr, j);
		}
		d = Team::all(d);
		for (i64 j = me; j < cols; j += size) {
			double v = at(r, j) - d.a;
			if (tr) tr[from + j] = (T)(scale * (at(tp, j) * v + at(p, j) * (at(tr, j) - d.b)));
			r[from + j] = (T)(scale * (at(p, j) * v));
		}
	}
}

#define KERNELS(T, name) \
	KERNEL attentionScores##name(T *p, T *tp, double scale, i64 rows, i64 cols, i64 each, i64 lo, i64 causal) { attentionScores(p, tp, scale, rows, cols, each, lo, causal); } \
	KERNEL attentionBack##name(const T *p, const T *tp, T *r, T *tr, double scale, i64 rows, i64 cols) { attentionBack(p, tp, r, tr, scale, rows, cols); }
KERNELS(double, F64)
KERNELS(float, F32)
