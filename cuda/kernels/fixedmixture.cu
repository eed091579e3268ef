// Mixtures over Q43: what does not multiply matrices. fixedmixture.h has the equations.
#include "fixedmixture.h"
#include "reduce.h"

// times returns n·x, wrapped.
DEVICE Q43 times(i64 n, Q43 x) { return Q43{(i64)((u64)n * (u64)x.v)}; }

// differenceSat returns x - y, or the end of the range nearest to it.
DEVICE Q43 differenceSat(Q43 x, Q43 y) {
	Q43 d = x - y;
	if ((d.v > x.v) == (y.v < 0)) return d;
	return y.v > 0 ? least : largest;
}

// A Top is the largest of numbers.
struct Top {
	Q43 v;
	DEVICE void add(Top t) {
		if (v.v < t.v.v) v = t.v;
	}
	DEVICE Top lower(int by) const { return {down(v, by)}; }
};

// weights sets softmax(α) of all components, and α - logsumexp(α) as their bias. One block does
// it. The tangent of α may be null.
KERNEL mixtureWeightsQ43(Component *of, const Q43 *alpha, i64 inc, const Q43 *dalpha, i64 incDalpha, i64 comps) {
	SHARED Q43 shared[3];
	Top top = {least};
	for (i64 k = threadX(); k < comps; k += threads()) top.add({alpha[k * inc]});
	top = blockReduce(top);
	if (threadX() == 0) shared[0] = top.v;
	barrier();
	top.v = shared[0];
	Sum<Q43> sum = Sum<Q43>::zero();
	for (i64 k = threadX(); k < comps; k += threads()) {
		of[k].weight = expSat(differenceSat(alpha[k * inc], top.v));
		sum.add(of[k].weight);
	}
	sum = blockSum(sum);
	if (threadX() == 0) shared[1] = sum.value();
	barrier();
	Q43 total = shared[1];
	bool valid = total.v > 0;
	Q43 logTotal = valid ? logOf(total) : Q43{0};
	Sum<Q43> mean = Sum<Q43>::zero();
	for (i64 k = threadX(); k < comps; k += threads()) {
		of[k].valid = valid;
		if (valid) of[k].weight = quotient(of[k].weight, total);
		of[k].bias.v = ((i128)alpha[k * inc].v - top.v.v - logTotal.v) << 43;
		if (dalpha) mean.addProduct(of[k].weight, dalpha[k * incDalpha]);
	}
	mean = blockSum(mean);
	if (threadX() == 0) shared[2] = mean.value();
	barrier();
	for (i64 k = threadX(); k < comps; k += threads()) {
		of[k].dbias = dalpha ? dalpha[k * incDalpha] - shared[2] : Q43{0};
		of[k].dweight = product(of[k].weight, of[k].dbias);
	}
}

// Totals are what is added up over the entries of Q.
struct Totals {
	i128 logs, dlogs;
	Sum<Q43> squares, dsquares;
	double reach;
	u64 exponential, entry; // the first that are out of range; -1 is the largest
	DEVICE void add(const Totals &t) {
		logs += t.logs;
		dlogs += t.dlogs;
		squares.add(t.squares);
		dsquares.add(t.dsquares);
		if (reach < t.reach) reach = t.reach;
		if (t.exponential < exponential) exponential = t.exponential;
		if (t.entry < entry) entry = t.entry;
	}
	DEVICE Totals lower(int by) const {
		return {down(logs, by), down(dlogs, by), {down(squares.v, by)}, {down(dsquares.v, by)}, down(reach, by), ::lower(exponential, by), ::lower(entry, by)};
	}
};

// unpack sets Q and μ of the component of a block, and the rest of what it needs. The tangents of
// factors and means may be null even if there are others. still becomes Q·(-μ̇), unless it is null. As the CPU has it, -μ̇ wraps.
// D/2·log 2π is D times the constants.
KERNEL mixtureUnpackQ43(Component *of, Q43 *q, Q43 *dq, Q43 *mean, Q43 *dmean, Sum<Q43> *still, const Q43 *factors, i64 downFactors, const Q43 *dfactors, i64 downDfactors, const Q43 *means, i64 downMeans, const Q43 *dmeans, i64 downDmeans, i64 d) {
	constexpr i64 halfLog2Pi = 0x759fc72192f, halfLog2PiLo = 0x5694d252f24;
	constexpr i64 entryLimit = (i64)1 << 53; // 2¹⁰
	i64 k = blockX();
	q += k * d * d;
	mean += k * (1 + d);
	factors += k * downFactors;
	means += k * downMeans;
	if (dq) {
		dq += k * d * d;
		dmean += k * (1 + d);
	}
	for (i64 j = threadX(); j <= d; j += threads()) {
		mean[j] = j > 0 ? means[j - 1] : Q43{0};
		if (dmean) dmean[j] = j > 0 && dmeans ? dmeans[k * downDmeans + j - 1] : Q43{0};
	}
	Totals t = {0, 0, {0}, {0}, 0, ~(u64)0, ~(u64)0};
	for (i64 e = threadX(); e < d * d; e += threads()) {
		i64 i = e / d, j = e % d, at = d + j * (d - 1) - j * (j - 1) / 2 + i - j - 1;
		Q43 v = {0}, dv = {0};
		if (i > j) {
			v = factors[at];
			if (dfactors) dv = dfactors[k * downDfactors + at];
		} else if (i == j) {
			v = expSat(factors[j]);
			if (expRaw(factors[j].v) > (u64)largest.v) t.exponential = j;
			t.logs += factors[j].v;
			if (dfactors) {
				Q43 rate = dfactors[k * downDfactors + j];
				dv = product(v, rate);
				t.dlogs += rate.v;
			}
		}
		q[e] = v;
		if (dq) dq[e] = dv;
		t.squares.addProduct(v, v);
		t.dsquares.addProduct(v, dv);
		if ((v.v <= -entryLimit || v.v >= entryLimit) && (u64)e < t.entry) t.entry = e;
	}
	barrier();
	for (i64 i = threadX(); i < d; i += threads()) {
		double sum = 0;
		for (i64 j = 0; j <= i; j++) sum += magnitude((double)q[i * d + j].v * 0x1p-43);
		if (t.reach < sum) t.reach = sum;
		if (!still) continue;
		Sum<Q43> moved = Sum<Q43>::zero();
		for (i64 j = 0; j <= i; j++) moved.addProduct(q[i * d + j], Q43{0} - dmean[1 + j]);
		still[k * d + i] = moved;
	}
	t = blockReduce(t);
	if (threadX() > 0) return;
	Component &c = of[k];
	c.logs = t.logs;
	c.dlogs = t.dlogs;
	c.squares = t.squares;
	c.dsquares = t.dsquares;
	c.reach = t.reach;
	c.exponential = (i64)t.exponential;
	c.entry = (i64)t.entry;
	i128 b = c.bias.v + (t.logs << 43) - (((i128)d * halfLog2Pi) << 43) - (i128)d * halfLog2PiLo;
	c.bias.v = b + b;
	c.dbias = c.dbias + Q43{(i64)t.dlogs};
}

// coordinates sets rows of a 1, or 0 for tangents, and of the coordinates of n points.
KERNEL mixtureCoordinatesQ43(Q43 *to, i64 unit, const Q43 *x, i64 downX, i64 n, i64 d) {
	for (i64 e = first(); e < (1 + d) * n; e += step()) {
		i64 j = e / n, i = e % n;
		to[e] = j == 0 ? Q43{unit} : x ? x[i * downX + j - 1] : Q43{0};
	}
}

// A Part is Σ_i L_i of some points, its tangent, and the first point that is out of range.
struct Part {
	Sum<Q43> sum, dsum;
	u64 failed;
	DEVICE static Part none() { return {{0}, {0}, ~(u64)0}; }
	DEVICE void add(const Part &p) {
		sum.add(p.sum);
		dsum.add(p.dsum);
		if (p.failed < failed) failed = p.failed;
	}
	DEVICE Part lower(int by) const { return {{down(sum.v, by)}, {down(dsum.v, by)}, ::lower(failed, by)}; }
};

// weigh replaces β by r, and the tangent of β by ẇ. It sets part_b to what the points of block b
// add up to. The first point of the batch has the number `from`. A null F̄ or tangent of F̄ is 0.
KERNEL mixtureWeighQ43(Part *part, Q43 *rows, Q43 *drows, const Q43 *cot, const Q43 *dcot, i64 from, i64 n, i64 d, i64 comps) {
	Q43 f = cot ? *cot : Q43{0}, df = dcot ? *dcot : Q43{0};
	i64 next = (1 + d) * n; // component
	Part p = Part::none();
	for (i64 i = first(); i < n; i += step()) {
		Q43 *r = rows + i, *dr = drows + i, top = least;
		for (i64 k = 0; k < comps; k++) {
			if (top.v < r[k * next].v) top = r[k * next];
		}
		Q43 total = {0};
		for (i64 k = 0; k < comps; k++) {
			Q43 v = expSat(differenceSat(r[k * next], top));
			r[k * next] = v;
			total = total + v;
		}
		if (top.v == least.v || top.v == invalid.v || total.v <= 0) {
			if ((u64)(from + i) < p.failed) p.failed = from + i;
			continue; // nothing of this batch is used
		}
		p.sum.add(top);
		p.sum.add(logOf(total));
		Sum<Q43> mean = Sum<Q43>::zero();
		for (i64 k = 0; k < comps; k++) {
			Q43 v = quotient(r[k * next], total);
			r[k * next] = v;
			if (drows) mean.addProduct(v, dr[k * next]);
		}
		if (!drows) continue;
		p.dsum.add(mean);
		Q43 m = mean.value();
		for (i64 k = 0; k < comps; k++) {
			Q43 v = r[k * next];
			dr[k * next] = product(product(f, v), dr[k * next] - m) + product(df, v);
		}
	}
	p = blockReduce(p);
	if (threadX() > 0) return;
	Part &to = part[blockX()];
	to.sum = p.sum, to.dsum = p.dsum, to.failed = p.failed; // without the padding behind them
}

// scale replaces r and y by w and z, and ẏ by ż.
KERNEL mixtureScaleQ43(Q43 *rows, Q43 *drows, const Q43 *cot, i64 n, i64 d, i64 comps) {
	Q43 f = cot ? *cot : Q43{0};
	for (i64 e = first(); e < comps * n; e += step()) {
		i64 at = e / n * (1 + d) * n + e % n;
		Q43 w = product(f, rows[at]);
		rows[at] = w;
		for (i64 j = 1; j <= d; j++) {
			Q43 &y = rows[at + j * n];
			if (drows) {
				Q43 &dy = drows[at + j * n];
				dy = product(drows[at], y) + product(w, dy);
			}
			y = product(w, y);
		}
	}
}

// round adds up the moments of the parts, and rounds the sums.
KERNEL mixtureRoundQ43(Q43 *to, const Sum<Q43> *sums, i64 parts, i64 size, i64 comps) {
	i64 each = comps * size * size;
	for (i64 e = first(); e < each; e += step()) {
		if (e % size > e / size % size) continue; // above the diagonal
		Sum<Q43> s = sums[e];
		for (i64 p = 1; p < parts; p++) s.add(sums[p * each + e]);
		to[e] = s.value();
	}
}

// addPoints subtracts Σ_k Q_kᵀ·z_ik + Q̇_kᵀ·u_ik from the cotangents of a batch of points. Q̇ and u
// may be null.
KERNEL mixturePointsQ43(Q43 *gx, i64 downGx, const Q43 *z, const Q43 *q, const Q43 *u, const Q43 *dq, i64 n, i64 d, i64 comps) {
	for (i64 e = first(); e < d * n; e += step()) {
		i64 j = e / n, i = e % n;
		Sum<Q43> s = Sum<Q43>::zero();
		for (i64 k = 0; k < comps; k++) {
			for (i64 l = j; l < d; l++) {
				i64 row = (k * (1 + d) + 1 + l) * n + i, at = (k * d + l) * d + j;
				s.addProduct(q[at], z[row]);
				if (dq) s.addProduct(dq[at], u[row]);
			}
		}
		gx[i * downGx + j] = gx[i * downGx + j] - s.value();
	}
}

// A Report says what a pass found. The codes are those of fixedlogposterior.go.
struct Report {
	i64 code, index; // 0 if all is in range
	Q43 f, df;
};
enum { inRange, exponentialFails, weightsFail, entryFails, squaresFail, priorFails, pointFails, sumFails };

// end adds up the parts and the prior, with its sign, its M and γ², and its constant. Without a
// prior the sign is 0. One block does it.
KERNEL mixtureEndQ43(Report *to, const Part *part, i64 parts, const Component *of, i64 comps, i64 d, i64 sign, i64 m, i64 g2, i64 constant) {
	Part p = Part::none();
	for (i64 b = threadX(); b < parts; b += threads()) p.add(part[b]);
	p = blockReduce(p);
	if (threadX() > 0) return;
	Report r = {inRange, 0, {0}, {0}};
	auto fail = [&](i64 code, i64 index) {
		if (r.code == inRange) r.code = code, r.index = index;
	};
	for (i64 k = 0; k < comps; k++) {
		if (of[k].exponential >= 0) fail(exponentialFails, k * d + of[k].exponential);
	}
	if (comps > 0 && !of[0].valid) fail(weightsFail, 0);
	if (sign) {
		Q43 n = {0}, f;
		Sum<Q43> norm = Sum<Q43>::zero(), dnorm = norm, prior = norm, dprior = norm;
		prior.add(Q43{constant});
		for (i64 k = 0; k < comps; k++) {
			if (of[k].entry >= 0) fail(entryFails, k * d * d + of[k].entry);
			norm.add(of[k].squares);
			if (!roundInRange(norm, n)) fail(squaresFail, k);
			dnorm.add(of[k].dsquares);
			prior.v += m * of[k].logs;
			dprior.v += m * of[k].dlogs;
		}
		Sum<Q43> scaled = Sum<Q43>::zero();
		scaled.addProduct(Q43{g2}, n);
		if (!roundInRange(scaled, n)) fail(priorFails, 0);
		prior.add(Q43{-(n.v >> 1)});
		if (!roundInRange(prior, f)) fail(priorFails, 0);
		subtract(dprior, Q43{g2}, dnorm.value());
		p.sum.add(times(sign, f));
		p.dsum.add(times(sign, dprior.value()));
	}
	if (~p.failed) fail(pointFails, (i64)p.failed);
	if (!roundInRange(p.sum, r.f)) fail(sumFails, 0);
	r.df = p.dsum.value();
	*to = r;
}

// A Cotangents has the cotangents of the parameters of a component. They may be null.
struct Cotangents {
	Q43 *alpha, *mean, *factors;
};

// addParameters adds to the cotangents of the parameters, and to their tangents, from the rounded
// moments. A block does a component. Without dq there are no tangents.
KERNEL mixtureParametersQ43(Q43 *galpha, i64 incGalpha, Q43 *gmeans, i64 downGmeans, Q43 *gfactors, i64 downGfactors, Q43 *talpha, i64 incTalpha, Q43 *tmeans, i64 downTmeans, Q43 *tfactors, i64 downTfactors, const Q43 *cot, const Q43 *dcot, const Component *of, const Q43 *q, const Q43 *dq, const Q43 *moments, const Q43 *dmoments, i64 d, i64 n, i64 sign, i64 m, i64 g2) {
	i64 k = blockX(), size = 1 + d;
	Q43 f = cot ? *cot : Q43{0}, df = dcot ? *dcot : Q43{0}, shape = {m}, scale = {g2};
	Cotangents g = {galpha ? galpha + k * incGalpha : 0, gmeans ? gmeans + k * downGmeans : 0, gfactors ? gfactors + k * downGfactors : 0};
	Cotangents t = {talpha ? talpha + k * incTalpha : 0, tmeans ? tmeans + k * downTmeans : 0, tfactors ? tfactors + k * downTfactors : 0};
	const Component &c = of[k];
	q += k * d * d;
	moments += k * size * size;
	if (dq) {
		dq += k * d * d;
		dmoments += k * size * size;
	}
	if (threadX() == 0) {
		if (g.alpha) *g.alpha = *g.alpha + moments[0] - times(n, product(f, c.weight));
		if (t.alpha) *t.alpha = *t.alpha + dmoments[0] - times(n, product(df, c.weight) + product(f, c.dweight));
	}
	for (i64 j = threadX(); j < d; j += threads()) {
		Sum<Q43> s = Sum<Q43>::zero(), ds = s;
		for (i64 l = j; l < d; l++) {
			s.addProduct(q[l * d + j], moments[(1 + l) * size]);
			if (!dq) continue;
			ds.addProduct(dq[l * d + j], moments[(1 + l) * size]);
			ds.addProduct(q[l * d + j], dmoments[(1 + l) * size]);
		}
		if (g.mean) g.mean[j] = g.mean[j] + s.value();
		if (t.mean) t.mean[j] = t.mean[j] + ds.value();
	}
	for (i64 e = threadX(); e < d * d; e += threads()) {
		i64 i = e / d, j = e % d, from = (1 + i) * size + 1 + j;
		if (j > i) continue;
		i64 at = i == j ? j : d + j * (d - 1) - j * (j - 1) / 2 + i - j - 1;
		Q43 v = q[e], dv = dq ? dq[e] : Q43{0}, square = product(v, v);
		if (g.factors) {
			Q43 to = g.factors[at], zc = moments[from];
			to = i == j ? to + moments[0] - product(zc, v) + times(sign, product(f, shape - product(scale, square)))
			            : to - zc - product(times(sign, product(f, scale)), v);
			g.factors[at] = to;
		}
		if (t.factors) {
			Q43 to = t.factors[at], zc = moments[from], dzc = dmoments[from];
			if (i == j) {
				Q43 prior = product(df, shape - product(scale, square)) - times(2, product(f, product(scale, product(v, dv))));
				to = to + dmoments[0] - product(dzc, v) - product(zc, dv) + times(sign, prior);
			} else {
				to = to - dzc - product(times(sign, product(df, scale)), v) - product(times(sign, product(f, scale)), dv);
			}
			t.factors[at] = to;
		}
	}
}
