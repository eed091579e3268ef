package gmm

import (
	"math"
	"unsafe"

	"revnum/internal/logs"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// sweep is one pass of LogPosterior or LogResponsibilities over the points. They are cut so that
// results do not depend on the number of workers, and memory does not depend on N.
//
// A panel is a run of points, held by coordinate (element (j, p) of a panel at
// j*panel+p), so that points lie along the vector lanes. Panels are weighed, for
// β and the responsibilities, and then added to the moments of each component.
//
// If the moments are small, the panels are cut into parts with moments of their own,
// which are joined in order. A worker weighs and adds the panels of a part one by one
// while they are in its cache. If the moments are large, batches of panels are
// processed twice. First each panel writes its own responsibilities. Then each
// component adds its own moments over the panels in order.
type sweep[T rev.Float] struct {
	k, g, t, gt LogPosterior[T] // operands, cotangents, tangents, tangents of cotangents
	ratios      ratios[T]       // the output of LogResponsibilities

	tangent, gradient, second bool // what the pass computes
	means, factors, x         bool // the gradients that it computes
	cot, dcot                 T    // F̄ and its tangent

	d, n, comps    int
	points, panels int  // in a panel, panels
	panel          int  // elements from a coordinate of a panel to the next
	parts          int  // runs of panels with moments of their own
	small          bool // whether the moments are small, so that there are no batches

	batch, first int // panels in a batch, the first one of the present batch

	// Of each component: Q, its tangent, P, S, P·μ̇, α + Σq and its tangent.
	q, dq, p, s, pmu []T
	bias, dbias      []T
	weights          []float64 // softmax(α)
	dweights         []float64 // its tangent
	prior, dprior    []float64 // of each component, and its tangent

	// In a slot for each panel of the batch, or for each worker without batches: the
	// points, their tangents, the K×panel responsibilities r (or the weights w of
	// LogResponsibilities) and the tangents ẇ.
	xs, dxs, rs, dws []T

	// Of each panel of the batch, or each part: the sums over its points of
	// logsumexp_k β and its tangent.
	lse, dlse []float64

	// For each component and part: W, m and M, and their tangents. Until finish, ṁ and
	// Ṁ lack xw = Σ w·ẋ and xc = Σ w·c·ẋᵀ.
	w0, w1, w2    []T
	dw0, dw1, dw2 []T
	xw, xc        []T

	scratch [][]T // of each worker
}

// The parallel tasks of a sweep, in their order.
type (
	unpacking[T rev.Float]   sweep[T]
	byPart[T rev.Float]      sweep[T]
	byPanel[T rev.Float]     sweep[T]
	byComponent[T rev.Float] sweep[T]
	finish[T rev.Float]      sweep[T]
)

// sweepOver returns F and its derivative in the direction t, and adds the gradient to g
// and its derivative to gt. If r is given, it adds log responsibilities to r, and the
// gradient is that of these.
func sweepOver[T rev.Float](k, g, t, gt LogPosterior[T], r ratios[T]) (f, df T) {
	s := workspace.Get[*sweep[T]]()
	s.k, s.g, s.t, s.gt, s.ratios = k, g, t, gt, r
	workers := parallel.Workers(k.Workers)
	s.prepare(workers)
	parallel.Run(workers, s.comps, (*unpacking[T])(s))
	total, dtotal := s.constants()
	if s.small {
		parallel.Run(workers, s.parts, (*byPart[T])(s))
		for part := range s.parts {
			total += s.lse[part]
			dtotal += s.dlse[part]
		}
	} else {
		for s.first = 0; s.first < s.panels; s.first += s.batch {
			panels := min(s.batch, s.panels-s.first)
			parallel.Run(workers, panels, (*byPanel[T])(s))
			for b := range panels {
				total += s.lse[b]
				dtotal += s.dlse[b]
			}
			if s.gradient {
				parallel.Run(workers, s.comps*s.parts, (*byComponent[T])(s))
			}
		}
	}
	if s.gradient {
		parallel.Run(workers, s.comps, (*finish[T])(s))
	}
	// The pooled value must not keep the caller's storage alive.
	s.k, s.g, s.t, s.gt, s.ratios = LogPosterior[T]{}, LogPosterior[T]{}, LogPosterior[T]{}, LogPosterior[T]{}, ratios[T]{}
	workspace.Put(s)
	return T(total), T(dtotal)
}

// prepare decides what to compute, and allocates memory for it.
func (s *sweep[T]) prepare(workers int) {
	k, g, t, gt := &s.k, &s.g, &s.t, &s.gt
	s.d, s.n, s.comps = k.X.Cols, k.X.Rows, k.Alpha.N
	s.cot, s.dcot = 0, 0
	if g.Out != nil {
		s.cot = *g.Out
	}
	if gt.Out != nil {
		s.dcot = *gt.Out
	}
	tangent := t.Out != nil || logPosteriorGiven(t)
	s.means = g.Means.Data != nil || gt.Means.Data != nil
	s.factors = g.Factors.Data != nil || gt.Factors.Data != nil
	s.x = g.X.Data != nil || gt.X.Data != nil
	s.second = logPosteriorGiven(gt)
	cotangent := g.Out != nil || gt.Out != nil
	if s.ratios.given() {
		s.cot, cotangent = 1, s.ratios.g.Data != nil || s.ratios.gt.Data != nil
	}
	s.gradient = cotangent && (s.second || logPosteriorGiven(g))
	s.second = s.second && s.gradient
	s.tangent = tangent || s.second

	// A panel is long enough for fast vector loops, and short enough for the level 2
	// cache, with its responsibilities. It is shorter if there would be too few panels
	// for many workers. A batch of points fits that cache too, and its responsibilities
	// level 3.
	d, comps := s.d, s.comps
	batch := min((1<<16)/max(d, 1), (1<<19)/max(comps, 1)) // points
	s.points = min(max((1<<14)/max(d, 1), 64), 480)
	s.points = min(s.points, max((min(s.n, batch)/8+7)&^7, 64))
	s.panels = (s.n + s.points - 1) / s.points
	s.batch = max(batch/s.points, 1)
	if batches := (s.panels + s.batch - 1) / s.batch; batches > 0 {
		s.batch = (s.panels + batches - 1) / batches
	}
	// Coordinates an odd number of cache lines apart do not meet in few sets of the
	// level 1 cache.
	line := 64 / int(unsafe.Sizeof(T(0)))
	s.panel = ((s.points+line-1)/line | 1) * line
	const parts = 16
	s.small = comps*d*d*parts <= 1<<17
	slots, sums := s.batch, s.batch
	if s.small {
		s.parts = max(min(parts, s.panels), 1)
		slots, sums = workers, s.parts
	} else {
		s.parts = min(max(1, 8/max(comps, 1)), s.batch)
	}

	s.q, s.bias = workspace.Grow(s.q, comps*d*d), workspace.Grow(s.bias, comps)
	s.prior, s.dprior = workspace.Grow(s.prior, comps), workspace.Grow(s.dprior, comps)
	if s.tangent {
		s.dq, s.s, s.pmu = workspace.Zeros(s.dq, comps*d*d), workspace.Zeros(s.s, comps*d*d), workspace.Zeros(s.pmu, comps*d)
		s.dbias = workspace.Zeros(s.dbias, comps)
	}
	if s.x || s.tangent {
		s.p = workspace.Zeros(s.p, comps*d*d)
	}
	s.lse, s.dlse = workspace.Zeros(s.lse, sums), workspace.Zeros(s.dlse, sums)
	s.xs, s.rs = workspace.Grow(s.xs, slots*d*s.panel), workspace.Grow(s.rs, slots*comps*s.panel)
	if s.tangent {
		s.dws = workspace.Grow(s.dws, slots*comps*s.panel)
		if t.X.Data != nil {
			s.dxs = workspace.Grow(s.dxs, slots*d*s.panel)
		}
	}
	if s.gradient {
		u := comps * s.parts
		s.w0, s.w1, s.w2 = workspace.Zeros(s.w0, u), workspace.Zeros(s.w1, u*d), workspace.Grow(s.w2, u*d*d)
		if s.second {
			s.dw0, s.dw1, s.dw2 = workspace.Zeros(s.dw0, u), workspace.Zeros(s.dw1, u*d), workspace.Zeros(s.dw2, u*d*d)
			if t.X.Data != nil {
				s.xw, s.xc = workspace.Zeros(s.xw, u*d), workspace.Zeros(s.xc, u*d*d)
			}
		}
	}
	ratioRows := 0 // β, for LogResponsibilities
	if s.ratios.given() {
		ratioRows = comps
	}
	s.scratch = workspace.Grow(s.scratch[:cap(s.scratch)], max(workers, cap(s.scratch)))
	for w := range workers {
		s.scratch[w] = workspace.Grow(s.scratch[w], max((5*d+4+ratioRows)*s.panel, 2*d*d+d))
	}
}

// Block unpacks the factors of component c.
func (t *unpacking[T]) Block(_, c int) {
	s := (*sweep[T])(t)
	d := s.d
	_, m, g2 := s.k.Prior.terms()
	if s.gradient {
		clear(s.w2[c*s.parts*d*d : (c+1)*s.parts*d*d]) // large, so not in prepare
	}
	row, q := s.k.Factors.Row(c), s.q[c*d*d:(c+1)*d*d]
	clear(q)
	unpackLower(q, row, d)
	var sum, squares float64
	for j, v := range row[:d] {
		sum += float64(v)
		q[j*d+j] = T(math.Exp(float64(v)))
		squares += float64(float64(q[j*d+j]) * float64(q[j*d+j]))
	}
	for _, v := range row[d:] {
		squares += float64(float64(v) * float64(v))
	}
	s.bias[c] = s.k.Alpha.Data[c*s.k.Alpha.Inc] + T(sum)
	s.prior[c] = float64(m*sum) - float64(g2/2*squares)

	if s.tangent {
		s.unpackTangent(c)
	}
	if s.x || s.tangent {
		p := s.p[c*d*d : (c+1)*d*d]
		dense.Gemm(d, d, d, 1, q, 1, d, q, d, 1, p, d)
		if s.t.Means.Data != nil {
			dense.Gemm(d, 1, d, 1, p, d, 1, s.t.Means.Row(c), 1, 1, s.pmu[c*d:(c+1)*d], 1)
		}
	}
}

// unpackTangent sets what begin sets, for the tangents of component c.
func (s *sweep[T]) unpackTangent(c int) {
	d := s.d
	_, m, g2 := s.k.Prior.terms()
	s.dprior[c] = 0
	if s.t.Alpha.Data != nil {
		s.dbias[c] = s.t.Alpha.Data[c*s.t.Alpha.Inc]
	}
	if s.t.Factors.Data == nil {
		return
	}
	row := s.t.Factors.Row(c)
	q, dq := s.q[c*d*d:(c+1)*d*d], s.dq[c*d*d:(c+1)*d*d]
	unpackLower(dq, row, d)
	var sum, products float64
	for j, v := range row[:d] {
		sum += float64(v)
		dq[j*d+j] = q[j*d+j] * v
		products += float64(float64(q[j*d+j]) * float64(dq[j*d+j]))
	}
	for at, ij := range below(d) {
		products += float64(float64(q[ij]) * float64(row[at]))
	}
	s.dbias[c] += T(sum)
	s.dprior[c] = float64(m*sum) - float64(g2*products)
	ss := s.s[c*d*d : (c+1)*d*d]
	dense.Gemm(d, d, d, 0.5, q, 1, d, dq, d, 1, ss, d)
	dense.Gemm(d, d, d, 0.5, dq, 1, d, q, d, 1, ss, d)
}

// constants returns the part of F that does not depend on the points, and its
// derivative in the direction t.
func (s *sweep[T]) constants() (f, df float64) {
	d, n, comps := float64(s.d), float64(s.n), float64(s.comps)
	s.weights = workspace.Grow(s.weights, s.comps)
	s.dweights = workspace.Zeros(s.dweights, s.comps)
	for c := range s.comps {
		s.weights[c] = float64(s.k.Alpha.Data[c*s.k.Alpha.Inc])
	}
	lse := softmax(s.weights)
	if s.n > 0 {
		f = float64(-n*d/2*math.Log(2*math.Pi)) - float64(n*lse)
	}
	if t := s.t.Alpha; t.Data != nil {
		var mean float64
		for c, w := range s.weights {
			mean += float64(w * float64(t.Data[c*t.Inc]))
		}
		for c, w := range s.weights {
			s.dweights[c] = w * (float64(t.Data[c*t.Inc]) - mean)
		}
		if s.n > 0 {
			df = float64(-n * mean)
		}
	}
	if s.ratios.given() { // their gradient has no such part
		clear(s.weights)
		clear(s.dweights)
	}
	if s.k.Prior.Gamma == 0 {
		return f, df
	}
	sign, _, _ := s.k.Prior.terms()
	prior := float64(comps * s.k.Prior.constant(s.d))
	var dprior float64
	for c := range s.comps {
		prior += s.prior[c]
		if s.tangent {
			dprior += s.dprior[c]
		}
	}
	return f + float64(sign*prior), df + float64(sign*dprior)
}

// softmax replaces a by softmax(a) and returns logsumexp(a).
func softmax(a []float64) float64 {
	top := math.Inf(-1)
	for _, v := range a {
		top = max(top, v)
	}
	if math.IsInf(top, -1) {
		top = 0
	}
	var sum float64
	for i, v := range a {
		a[i] = math.Exp(v - top)
		sum += a[i]
	}
	for i := range a {
		a[i] /= sum
	}
	return top + logs.Log(sum)
}

// load writes rows p0 to p0+n of x to dst by coordinate.
func load[T rev.Float](dst []T, panel int, x rev.General[T], p0, n int) {
	if x.Cols > 0 {
		dense.Transpose(dst, panel, x.Data[p0*x.Stride:], x.Stride, n, x.Cols)
	}
}

// Block weighs and adds up the panels of a part.
func (t *byPart[T]) Block(worker, part int) {
	s := (*sweep[T])(t)
	for i := part * s.panels / s.parts; i < (part+1)*s.panels/s.parts; i++ {
		lse, dlse := s.weigh(worker, worker, i)
		s.lse[part] += lse
		s.dlse[part] += dlse
		for k := range s.comps {
			if s.gradient {
				s.addMoments(worker, worker, i, k, part)
			}
		}
	}
}

// Block weighs panel b of the batch.
func (t *byPanel[T]) Block(worker, b int) {
	s := (*sweep[T])(t)
	s.lse[b], s.dlse[b] = s.weigh(worker, b, s.first+b)
}

// weigh fills slot b with panel i, and returns the sums of logsumexp_k β and of
// its tangent over the points of the panel.
func (s *sweep[T]) weigh(worker, b, i int) (lse, dlse float64) {
	d, comps, panel := s.d, s.comps, s.panel
	p0 := i * s.points
	n := min(s.points, s.n-p0)
	x := s.xs[b*d*panel : (b+1)*d*panel]
	load(x, panel, s.k.X, p0, n)
	var dx []T
	if s.tangent && s.t.X.Data != nil {
		dx = s.dxs[b*d*panel : (b+1)*d*panel]
		load(dx, panel, s.t.X, p0, n)
	}
	rs := s.rs[b*comps*panel : (b+1)*comps*panel]
	scratch := s.scratch[worker]
	top, sum, mean := scratch[:n], scratch[panel:panel+n], scratch[2*panel:2*panel+n]
	c := scratch[3*panel : (3+d)*panel]
	rest := scratch[(3+d)*panel:]

	for p := range top {
		top[p] = T(math.Inf(-1))
	}
	for k := range comps {
		beta, mu := rs[k*panel:k*panel+n], s.k.Means.Row(k)
		dense.TriNorms(d, n, beta, s.q[k*d*d:(k+1)*d*d], d, x, panel, mu)
		vec.AffineMax(beta, top, -0.5, s.bias[k])
		if s.tangent {
			vec.SubColumn(n, c, panel, x, panel, mu)
			s.betaTangent(s.dws[(b*comps+k)*panel:][:n], k, c, dx, rest)
		}
	}
	keepFinite(top)
	var beta []T
	if s.ratios.given() {
		beta = scratch[(5*d+4)*panel:]
		copy(beta, rs)
	}
	logs := rest[:n]
	expRows(rs, comps, panel, top, sum, logs)
	for p, v := range logs {
		lse += float64(v) + float64(top[p])
	}
	if !s.tangent && !s.gradient && !s.ratios.given() {
		return lse, 0
	}

	for p, v := range sum {
		sum[p] = 1 / v
	}
	for k := range comps {
		r := rs[k*panel : k*panel+n]
		vec.MulTo(r, r, sum)
		if s.gradient && s.d >= flushDim {
			flush(r)
		}
	}
	if s.tangent {
		clear(mean)
		for k := range comps {
			r := rs[k*panel:]
			for p, v := range s.dws[(b*comps+k)*panel:][:n] {
				mean[p] += T(r[p] * v)
			}
		}
		for _, v := range mean {
			dlse += float64(v)
		}
	}
	if s.ratios.given() {
		for p := range n {
			s.addRatios(b, p0+p, p, beta, top[p], logs[p], mean[p])
		}
	} else if s.tangent {
		for k := range comps {
			r, dw := rs[k*panel:], s.dws[(b*comps+k)*panel:][:n]
			for p, v := range dw {
				dw[p] = T(s.cot*T(r[p]*(v-mean[p]))) + T(s.dcot*r[p])
			}
		}
	}
	if s.gradient && s.x {
		s.pointCotangents(b, p0, n, scratch[3*panel:])
	}
	return lse, dlse
}

// flushDim is the fewest coordinates for which flush pays.
const flushDim = 8

// flush sets responsibilities to 0 that would make subnormal products: each of these
// takes a processor a hundred cycles or more, and there are D² for each point.
func flush[T rev.Float](r []T) {
	least := T(0x1p-960)
	if least == 0 { // float32
		least = 0x1p-100
	}
	for p, v := range r {
		if v < least {
			r[p] = 0
		}
	}
}

// betaTangent sets db to the tangents of β_k at the points of a panel, given
// c = x - μ_k and ẋ.
func (s *sweep[T]) betaTangent(db []T, k int, c, dx, scratch []T) {
	d, panel, n := s.d, s.panel, len(db)
	sc := scratch[:d*panel]
	clear(sc)
	dense.Gemm(d, n, d, 1, s.s[k*d*d:(k+1)*d*d], d, 1, c, panel, 1, sc, panel)
	for p := range db {
		db[p] = s.dbias[k]
	}
	for i := range d {
		ci, si, pmu := c[i*panel:], sc[i*panel:], s.pmu[k*d+i]
		for p := range db {
			db[p] += T(ci[p] * (pmu - si[p]))
		}
	}
	if dx == nil {
		return
	}
	pc := scratch[d*panel : 2*d*panel]
	clear(pc)
	dense.Gemm(d, n, d, 1, s.p[k*d*d:(k+1)*d*d], d, 1, c, panel, 1, pc, panel)
	for i := range d {
		pi, xi := pc[i*panel:], dx[i*panel:]
		for p := range db {
			db[p] -= T(pi[p] * xi[p])
		}
	}
}

// pointCotangents adds to the cotangents of the points of panel b, and to
// their tangents.
func (s *sweep[T]) pointCotangents(b, p0, n int, scratch []T) {
	d, panel := s.d, s.panel
	x := s.xs[b*d*panel : (b+1)*d*panel]
	wc, dwc := scratch[:d*panel], scratch[d*panel:2*d*panel]
	gx, dgx := scratch[2*d*panel:3*d*panel], scratch[3*d*panel:4*d*panel]
	w := scratch[4*d*panel:][:n]
	clear(gx)
	clear(dgx)
	for k := range s.comps {
		mu := s.k.Means.Row(k)
		vec.ScaleTo(w, s.cot, s.rs[(b*s.comps+k)*panel:][:n])
		vec.CenterScale(wc, panel, x, panel, mu, w)
		pk := s.p[k*d*d : (k+1)*d*d]
		dense.Gemm(d, n, d, -1, pk, d, 1, wc, panel, 1, gx, panel)
		if !s.second {
			continue
		}
		// -(ẇ·P·c + w·Ṗ·c + w·P·ċ), Ṗ = 2S
		dw := s.dws[(b*s.comps+k)*panel:][:n]
		vec.CenterScale(dwc, panel, x, panel, mu, dw)
		for i := range d {
			var dmu T
			if s.t.Means.Data != nil {
				dmu = s.t.Means.Row(k)[i]
			}
			for p := range n {
				dc := -dmu
				if s.t.X.Data != nil {
					dc += s.dxs[(b*d+i)*panel+p]
				}
				dwc[i*panel+p] += T(w[p] * dc)
			}
		}
		dense.Gemm(d, n, d, -1, pk, d, 1, dwc, panel, 1, dgx, panel)
		dense.Gemm(d, n, d, -2, s.s[k*d*d:(k+1)*d*d], d, 1, wc, panel, 1, dgx, panel)
	}
	addByCoordinate(s.g.X, p0, n, gx, panel)
	addByCoordinate(s.gt.X, p0, n, dgx, panel)
}

// addByCoordinate adds src to rows p0 to p0+n of x, if x is there.
func addByCoordinate[T rev.Float](x rev.General[T], p0, n int, src []T, panel int) {
	if x.Data == nil {
		return
	}
	for p := range n {
		row := x.Row(p0 + p)
		for j := range row {
			row[j] += src[j*panel+p]
		}
	}
}

// Block adds a part of the batch to the moments of one component.
func (t *byComponent[T]) Block(worker, u int) {
	s := (*sweep[T])(t)
	k, part := u/s.parts, u%s.parts
	panels := min(s.batch, s.panels-s.first)
	for b := part * panels / s.parts; b < (part+1)*panels/s.parts; b++ {
		s.addMoments(worker, b, s.first+b, k, part)
	}
}

// addMoments adds panel i, which is in slot b, to the moments of component k
// and a part.
func (s *sweep[T]) addMoments(worker, b, i, k, part int) {
	d, panel, u := s.d, s.panel, k*s.parts+part
	n := min(s.points, s.n-i*s.points)
	c, rc := s.scratch[worker][:d*panel], s.scratch[worker][d*panel:2*d*panel]
	r := s.rs[(b*s.comps+k)*panel:][:n]
	s.w0[u] += vec.Sum(r)
	var dw []T
	if s.second {
		dw = s.dws[(b*s.comps+k)*panel:][:n]
		s.dw0[u] += vec.Sum(dw)
	}
	if !s.means && !s.factors {
		return
	}
	x, mu := s.xs[b*d*panel:(b+1)*d*panel], s.k.Means.Row(k)
	vec.SubColumn(n, c, panel, x, panel, mu)
	s.addWeighted(u, s.w1, s.w2, r, c)
	if s.second {
		s.addWeighted(u, s.dw1, s.dw2, dw, c)
	}
	if s.second && s.t.X.Data != nil {
		dx := s.dxs[b*d*panel : (b+1)*d*panel]
		for j := range d {
			s.xw[u*d+j] += vec.Dot(r, dx[j*panel:j*panel+n])
		}
		if s.factors {
			vec.CenterScale(rc, panel, x, panel, mu, r)
			dense.Gemm(d, d, n, 1, rc, panel, 1, dx, 1, panel, s.xc[u*d*d:(u+1)*d*d], d)
		}
	}
}

// addWeighted adds Σ_p w_p·c_p to the first moment u, and the lower triangle of
// Σ_p w_p·c_p·c_pᵀ to the second if the factors need it.
func (s *sweep[T]) addWeighted(u int, w1, w2, w, c []T) {
	d, n := s.d, len(w)
	if s.factors {
		dense.WeightedMoments(d, n, w1[u*d:(u+1)*d], w2[u*d*d:(u+1)*d*d], d, w, c, s.panel)
		return
	}
	// Row by row, which gives the first moment the same bits, and leaves the
	// diagonal of the second one unused.
	for i := range d {
		dense.WeightedMoments(1, n, w1[u*d+i:], w2[u*d*d:], 1, w, c[i*s.panel:], s.panel)
	}
}

// Block turns the moments of component k into cotangents.
func (t *finish[T]) Block(worker, k int) {
	s := (*sweep[T])(t)
	d := s.d
	q := s.q[k*d*d : (k+1)*d*d]
	sign, m, g2 := s.k.Prior.terms()
	cot, dcot := float64(s.cot), float64(s.dcot)
	n := float64(s.n)

	w0, w1, w2 := s.w0[k*s.parts:(k+1)*s.parts], s.w1[k*s.parts*d:], s.w2[k*s.parts*d*d:]
	join(w0, w1, w2, d, s.cot)
	if s.g.Alpha.Data != nil {
		s.g.Alpha.Data[k*s.g.Alpha.Inc] += T(float64(w0[0]) - float64(n*cot*s.weights[k]))
	}
	scratch := s.scratch[worker]
	qbar := scratch[:d*d]
	if s.factors {
		// Q̄ = -lower(Q·M), but for the prior
		clear(qbar)
		subLower(qbar, q, w2, d)
		if s.g.Factors.Data != nil {
			row := s.g.Factors.Row(k)
			for j := range d {
				e := q[j*d+j]
				row[j] += w0[0] + T(qbar[j*d+j]*e) + T(sign*cot*(m-float64(g2*float64(e)*float64(e))))
			}
			scale := T(sign * cot * g2)
			for at, ij := range below(d) {
				row[at] += qbar[ij] - T(scale*q[ij])
			}
		}
	}
	if s.g.Means.Data != nil {
		addQtQ(s.g.Means.Row(k), q, q, w1[:d], scratch[d*d:d*d+d])
	}
	if !s.second {
		return
	}

	dw0, dw1, dw2 := s.dw0[k*s.parts:(k+1)*s.parts], s.dw1[k*s.parts*d:], s.dw2[k*s.parts*d*d:]
	join(dw0, dw1, dw2, d, 1)
	if s.gt.Alpha.Data != nil {
		s.gt.Alpha.Data[k*s.gt.Alpha.Inc] += T(float64(dw0[0]) - float64(n*(float64(dcot*s.weights[k])+float64(cot*s.dweights[k]))))
	}
	// Complete ṁ and Ṁ by what comes of ċ = ẋ - μ̇.
	if s.t.X.Data != nil {
		xw, xc := s.xw[k*s.parts*d:], s.xc[k*s.parts*d*d:]
		for part := range s.parts {
			vec.Axpy(s.cot, xw[part*d:(part+1)*d], dw1[:d])
			xc := xc[part*d*d : (part+1)*d*d]
			for i := range d {
				for j := range d {
					dw2[i*d+j] += T(s.cot * (xc[i*d+j] + xc[j*d+i]))
				}
			}
		}
	}
	if s.t.Means.Data != nil {
		mu := s.t.Means.Row(k)
		for i := range d {
			dw1[i] -= T(w0[0] * mu[i])
			for j := range d {
				dw2[i*d+j] -= T(w1[i]*mu[j]) + T(mu[i]*w1[j])
			}
		}
	}
	dq := s.dq[k*d*d : (k+1)*d*d]
	if s.gt.Factors.Data != nil {
		dqbar := scratch[d*d : 2*d*d]
		clear(dqbar)
		subLower(dqbar, dq, w2, d)
		subLower(dqbar, q, dw2, d)
		row := s.gt.Factors.Row(k)
		for j := range d {
			e, de := q[j*d+j], dq[j*d+j]
			prior := sign * (float64(dcot*(m-float64(g2*float64(e)*float64(e)))) - float64(2*cot*g2*float64(e)*float64(de)))
			row[j] += dw0[0] + T(dqbar[j*d+j]*e) + T(qbar[j*d+j]*de) + T(prior)
		}
		scale, dscale := T(sign*cot*g2), T(sign*dcot*g2)
		for at, ij := range below(d) {
			row[at] += dqbar[ij] - T(dscale*q[ij]) - T(scale*dq[ij])
		}
	}
	if s.gt.Means.Data != nil {
		// Ṗ·m + P·ṁ, Ṗ = Qᵀ·Q̇ + Q̇ᵀ·Q
		row, v := s.gt.Means.Row(k), scratch[2*d*d:2*d*d+d]
		addQtQ(row, q, dq, w1[:d], v)
		addQtQ(row, dq, q, w1[:d], v)
		addQtQ(row, q, q, dw1[:d], v)
	}
}

// join adds the moments of all parts to those of the first, times scale, and
// completes the symmetric second moment from its lower triangle.
func join[T rev.Float](w0, w1, w2 []T, d int, scale T) {
	for part := 1; part < len(w0); part++ {
		w0[0] += w0[part]
		vec.Axpy(1, w1[part*d:(part+1)*d], w1[:d])
		vec.Axpy(1, w2[part*d*d:(part+1)*d*d], w2[:d*d])
	}
	w0[0] = T(w0[0] * scale)
	for i := range d {
		w1[i] *= scale
		for j := range i + 1 {
			w2[i*d+j] *= scale
			w2[j*d+i] = w2[i*d+j]
		}
	}
}

// subLower subtracts the product of lower triangular a and square b, both d×d,
// from the lower triangle of c. It may write above the diagonal of c.
func subLower[T rev.Float](c, a, b []T, d int) {
	const rows = 8
	for i := 0; i < d; i += rows {
		m := min(rows, d-i)
		dense.Gemm(m, i+m, i+m, -1, a[i*d:], d, 1, b, d, 1, c[i*d:], d)
	}
}

// addQtQ computes y += Aᵀ·B·x for lower triangular A and B, d×d; v is scratch.
func addQtQ[T rev.Float](y, a, b, x, v []T) {
	d := len(x)
	for i := range d {
		v[i] = vec.Dot(b[i*d:i*d+i+1], x[:i+1])
	}
	for i := range d {
		vec.Axpy(v[i], a[i*d:i*d+i+1], y[:i+1])
	}
}
