package gmm

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/logs"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// em is expectation maximisation (Dempster, Laird and Rubin, 1977) for points x_i of
// weight v_i. Let r_ik be the responsibilities of the components, γ² and M those of the
// prior, and ρ what is added to covariances. With the moments about the present means
//
//	W_k = Σ_i v_i·r_ik,  W_k·δ_k = Σ_i v_i·r_ik·(x_i - μ_k),
//	A_k = Σ_i v_i·r_ik·(x_i - μ_k)·(x_i - μ_k)ᵀ - W_k·δ_k·δ_kᵀ + γ²·I
//
// a step is w_k = W_k/Σv, μ_k += δ_k, and
//
//	full       Σ_k = A_k/(W_k + M) + ρ·I
//	tied       Σ   = Σ_k A_k/Σ_k (W_k + M) + ρ·I
//	diagonal   the diagonal of A_k/(W_k + M) + ρ·I
//	spherical  its mean
//
// If ρ is 0, it raises the log posterior of LogPosterior, among mixtures with such
// covariances, unless that is at a maximum. If only diagonals are needed, the moments are about an
// origin in the middle of the points: they are then products of matrices. Those of a component that
// lies far from the origin beside its standard deviations, before or after the step, are about its
// mean before the step all the same, because their squares about the origin would cancel. They cancel too if
// the step moves the mean far beside the standard deviations after it: from 1e7 of them on, those are wrong
// until the next step.
type em struct {
	x        rev.General[float64]
	v        []float64 // weights of the points; nil if all are 1
	total    float64   // their sum
	k, d     int
	kind     Covariance
	prior    Prior
	reg      float64 // ρ
	constant float64 // the part of the log prior that does not depend on the parameters
	workers  int

	weights []float64
	covs    []float64 // like q of the density: K×D×D, D×D or K×D
	density density   // with the means and the factors

	parts      int
	lse        []float64 // of each part, Σ v·log density
	w0, w1, w2 []float64 // of each part, the moments: K, K×D, and the size of covs, but K×D×D if tied
	moments    bool      // whether they are computed
	own        []float64 // of each component, 1 if those are about its mean, and 0 if about the origin
	allOwn     bool      // whether all are about means in the next step of a Stepper
	labels     []int     // if not nil, the components of the points, which replace r
	scratch    []*densityScratch

	remote Points    // nil if the points are x
	err    error     // of remote; all later log likelihoods are NaN
	all    []float64 // of remote, all moments
	scale  []float64 // in the first step with remote, what coordinates are multiplied by to find the nearest means; otherwise 0 or nil

	pivots []float64 // of each covariance, the pivot that is not positive
	rows   []int     // and its row, D if there is none
}

// newEM returns an em without a mixture. The origin of the density is not set.
func newEM(x rev.General[float64], v []float64, k int, kind Covariance, prior Prior, workers int) *em {
	n, d := x.Rows, x.Cols
	e := &em{x: x, v: v, total: float64(n), k: k, d: d, kind: kind, prior: prior, workers: parallel.Workers(workers)}
	if v != nil {
		e.total = floats.Sum(v)
	}
	numbers, count := kind.size(k, d)
	e.weights, e.covs = make([]float64, k), make([]float64, numbers*count)
	e.density = density{
		kind: kind, k: k, d: d, means: rev.NewGeneral[float64](k, d, nil),
		q: make([]float64, numbers*count), origin: make([]float64, d),
	}
	e.parts = min(max((1<<21)/(k*numbers), 8), 16, (n+scoringRun-1)/scoringRun)
	e.lse = make([]float64, e.parts)
	e.w0, e.w1, e.w2 = make([]float64, e.parts*k), make([]float64, e.parts*k*d), make([]float64, e.parts*k*numbers)
	e.scratch = make([]*densityScratch, min(e.workers, e.parts))
	for w := range e.scratch {
		e.scratch[w] = newDensityScratch(k, d)
	}
	e.own = make([]float64, k)
	e.pivots, e.rows = make([]float64, count), make([]int, count)
	if prior.Gamma != 0 {
		e.constant = float64(k) * prior.constant(d)
	}
	return e
}

func (e *em) weight(i int) float64 {
	if e.v == nil {
		return 1
	}
	return e.v[i]
}

// logPrior returns the log prior, or 0 if there is none.
func (e *em) logPrior() float64 {
	if e.prior.Gamma == 0 {
		return 0
	}
	var sum float64
	for c := range e.k {
		for j := range e.d {
			sum += logs.Log(e.density.diagonal(c, j))
		}
	}
	squares := vec.SumSquares(e.density.q)
	if e.kind == Tied {
		squares *= float64(e.k)
	}
	return e.constant + float64(float64(e.prior.M)*sum) - float64(e.prior.Gamma*e.prior.Gamma/2*squares)
}

// expect returns the log likelihood. If moments is set, it sets the moments for
// maximise.
func (e *em) expect(moments bool) float64 {
	logw := e.setWeights()
	sum := e.sums(logw, moments)
	if moments && e.cancel() {
		sum = e.sums(logw, moments)
	}
	return sum
}

// sums sets the sums over all points, and returns the log likelihood.
func (e *em) sums(logw []float64, moments bool) float64 {
	if e.remote != nil && e.labels == nil {
		return e.gather(logw)
	}
	e.moments = moments
	clear(e.w0)
	clear(e.w1)
	parallel.Run(e.workers, e.parts, e)
	if moments {
		addParts(e.w0, e.k)
		addParts(e.w1, e.k*e.d)
		addParts(e.w2, len(e.w2)/e.parts)
	}
	return floats.Sum(e.lse)
}

// setWeights makes the density that of the mixture, and returns its log weights.
func (e *em) setWeights() []float64 {
	logw := make([]float64, e.k)
	for c, w := range e.weights {
		logw[c] = logs.Log(w)
	}
	e.set(logw)
	return logw
}

// set prepares for points: the density for log weights, and what moments are about.
func (e *em) set(logw []float64) {
	e.density.set(logw)
	labels := e.labels != nil || e.scaled()
	for c, spread := range e.density.spread {
		e.own[c] = 0
		if labels || e.allOwn || e.kind == Full || e.kind == Tied || !(spread <= farSquare) {
			e.own[c] = 1
		}
	}
}

// cancel reports whether moments about the origin cancel, because the step makes a component narrow beside its
// distance from the origin. Those of such a component are then to be about its mean, and to be taken again.
func (e *em) cancel() (some bool) {
	g2, m := float64(e.prior.Gamma*e.prior.Gamma), float64(e.prior.M)
	for c, w := range e.w0[:e.k] {
		if e.own[c] != 0 || w < minWeight*e.total {
			continue
		}
		var squares, left float64
		for j, square := range e.w2[c*e.d : (c+1)*e.d] {
			delta := e.w1[c*e.d+j] / w
			squares += square
			left += max(0, square-float64(w*delta*delta)) + g2 + float64(e.reg*(w+m))
			if e.kind == Spherical && j+1 < e.d { // all coordinates have one variance
				continue
			}
			if left < squares/farSquare {
				e.own[c], some = 1, true
			}
			squares, left = 0, 0
		}
	}
	return some
}

// scaled reports whether points belong to the components of the nearest means.
func (e *em) scaled() bool {
	return slices.ContainsFunc(e.scale, func(v float64) bool { return v != 0 })
}

// base returns what the moments of component c are about.
func (e *em) base(c int) []float64 {
	if e.own[c] != 0 {
		return e.density.means.Row(c)
	}
	return e.density.origin
}

// addParts adds the runs of w of the given size to the first.
func addParts(w []float64, size int) {
	for part := size; part < len(w); part += size {
		vec.Axpy(1, w[part:part+size], w[:size])
	}
}

// begin sets the mixture to the means and covariances of the points with each label. If
// pad is set, a cluster of few points gets D+1 more points of the pooled covariance, so
// that it can start too. So does a cluster without points.
func (e *em) begin(labels []int, means rev.General[float64], pad bool) error {
	for c := range e.k {
		copy(e.density.means.Row(c), means.Row(c))
	}
	e.labels = labels
	e.expect(true)
	e.labels = nil

	d, extra := e.d, float64(e.d+1)
	size := len(e.w2) / e.parts / e.k
	pooled := make([]float64, size)
	about := make([]float64, size) // squared distance of the mean from the base of the moments
	square := func(c int) {
		clear(about)
		if size == d && e.w0[c] > 0 {
			floats.ScaleTo(about, 1/e.w0[c], e.w1[c*d:(c+1)*d])
			floats.Mul(about, about)
		}
	}
	for c := range e.k {
		square(c)
		floats.Add(pooled, e.w2[c*size:(c+1)*size])
		floats.AddScaled(pooled, -e.w0[c], about)
	}
	for c, w := range e.w0[:e.k] {
		if e.kind == Tied || w >= 2*extra || w > 0 && !pad {
			continue
		}
		square(c)
		e.w0[c] += extra
		if size == d {
			base := e.base(c)
			for j, v := range e.density.means.Row(c) {
				delta := v - base[j]
				e.w1[c*d+j] += float64(extra * delta)
				about[j] = delta * delta
			}
		}
		floats.AddScaled(e.w2[c*size:(c+1)*size], extra, about)
		floats.AddScaled(e.w2[c*size:(c+1)*size], extra/e.total, pooled)
	}
	err := e.maximise()
	floats.Scale(1/floats.Sum(e.weights), e.weights)
	return err
}

// Block implements parallel.Task for a part of the points.
func (e *em) Block(worker, part int) {
	const run = scoringRun
	t, runs := e.scratch[worker], (e.x.Rows+run-1)/run
	numbers, _ := e.kind.size(e.k, e.d)
	size := e.k * numbers
	w2 := e.w2[part*size : (part+1)*size]
	if e.moments {
		clear(w2)
	}
	e.lse[part] = 0
	for b := part * runs / e.parts; b < (part+1)*runs/e.parts; b++ {
		first := b * run
		n := min(run, e.x.Rows-first)
		if e.labels != nil {
			e.assign(t, first, n)
		} else {
			e.density.weigh(t, e.x, first, n)
			e.responsibilities(t, part, first, n)
		}
		if e.moments {
			e.addMoments(t, e.w0[part*e.k:(part+1)*e.k], e.w1[part*e.k*e.d:(part+1)*e.k*e.d], w2, n)
		}
	}
}

// responsibilities sets the rows to v·r, and adds up v times the log density.
func (e *em) responsibilities(t *densityScratch, part, first, n int) {
	if e.v == nil {
		e.lse[part] += vec.Sum(t.logs[:n])
	} else {
		e.lse[part] += vec.Dot(e.v[first:first+n], t.logs[:n])
	}
	if !e.moments {
		return
	}
	sum := t.sum[:n]
	for p, s := range sum {
		sum[p] = e.weight(first+p) / s
	}
	for c := range e.k {
		row := t.rows[c*scoringRun : c*scoringRun+n]
		vec.MulTo(row, row, sum)
		if e.d >= flushDim {
			flush(row)
		}
	}
}

// assign sets the rows to the weights of the points with each label.
func (e *em) assign(t *densityScratch, first, n int) {
	load(t.x, scoringRun, e.x, first, n)
	clear(t.rows)
	for p, label := range e.labels[first : first+n] {
		t.rows[label*scoringRun+p] = e.weight(first + p)
	}
	if e.kind != Diagonal && e.kind != Spherical {
		return
	}
	for p, label := range e.labels[first : first+n] {
		for j, v := range e.density.means.Row(label) {
			t.centred[j*scoringRun+p] = t.x[j*scoringRun+p] - v
		}
	}
	t.squares(e.d, n)
}

// addMoments adds a run of n points to the moments of a part.
func (e *em) addMoments(t *densityScratch, w0, w1, w2 []float64, n int) {
	const run = scoringRun
	k, d := e.k, e.d
	for c := range k {
		w0[c] += vec.Sum(t.rows[c*run : c*run+n])
	}
	if e.kind == Diagonal || e.kind == Spherical {
		for c := 0; c < k; {
			end := c + 1
			if e.labels == nil && e.own[c] != 0 {
				vec.AddMoments(t.rows[c*run:c*run+n], t.x, run, e.density.means.Row(c), w1[c*d:end*d], w2[c*d:end*d])
			} else {
				for end < k && (e.labels != nil || e.own[end] == 0) {
					end++
				}
				dense.Gemm(end-c, d, n, 1, t.rows[c*run:], run, 1, t.centred, 1, run, w1[c*d:], d)
				dense.Gemm(end-c, d, n, 1, t.rows[c*run:], run, 1, t.z, 1, run, w2[c*d:], d)
			}
			c = end
		}
		return
	}
	for c := range k {
		vec.SubColumn(n, t.z, run, t.x, run, e.density.means.Row(c))
		dense.WeightedMoments(d, n, w1[c*d:(c+1)*d], w2[c*d*d:(c+1)*d*d], d, t.rows[c*run:c*run+n], t.z, run)
	}
}

// maximise makes the step for the moments. A component with less than minWeight of the
// points keeps its mean and covariance. It returns a *rev.NotPositiveDefiniteError if a
// covariance is not positive definite.
func (e *em) maximise() error {
	if e.err != nil {
		return e.err
	}
	numbers, _ := e.kind.size(e.k, e.d)
	if e.kind == Tied {
		clear(e.covs)
	}
	g2, m := float64(e.prior.Gamma*e.prior.Gamma), float64(e.prior.M)
	for c := range e.k {
		w := e.w0[c]
		if w < minWeight*e.total {
			e.weights[c] = minWeight
			if e.kind != Tied {
				continue // the rest of the moments is noise
			}
		} else {
			e.weights[c] = w / e.total
		}
		e.moveTo(c, w, g2, m, e.w1[c*e.d:(c+1)*e.d], e.w2[c*numbers:(c+1)*numbers])
	}
	if e.kind == Tied {
		floats.Scale(1/(e.total+float64(m*float64(e.k))), e.covs)
		for i := range e.d {
			e.covs[i*e.d+i] += e.reg
		}
	}
	return e.refactor()
}

// refactor computes the factors of the covariances.
func (e *em) refactor() error {
	parallel.Run(e.workers, len(e.rows), (*factorisation)(e))
	for c, row := range e.rows {
		if row < e.d {
			return fmt.Errorf("gmm: column %d does not vary among the points of component %d, or depends on the columns before it: %w",
				row, c, &rev.NotPositiveDefiniteError{Row: row, Value: e.pivots[c]})
		}
	}
	return nil
}

// moveTo sets component c, of weight w, by its moments: its mean and its covariance,
// but not the factors.
func (e *em) moveTo(c int, w, g2, m float64, w1, w2 []float64) {
	d, mean := e.d, e.density.means.Row(c)
	delta := make([]float64, d)
	if w >= minWeight*e.total { // 1/w may be infinite for less
		floats.ScaleTo(delta, 1/w, w1)
	}
	switch e.kind {
	case Diagonal, Spherical:
		cov, base := e.covariance(c), e.base(c)
		for j := range cov {
			cov[j] = (max(0, w2[j]-float64(w*delta[j]*delta[j]))+g2)/(w+m) + e.reg
			mean[j] = base[j] + delta[j]
		}
		if e.kind == Spherical {
			variance := floats.Sum(cov) / float64(d)
			for j := range cov {
				cov[j] = variance
			}
		}
	default:
		cov, scale := e.covariance(c), 1.0
		if e.kind == Full {
			scale = 1 / (w + m)
			clear(cov)
		}
		for i := range d {
			for j := range i + 1 {
				cov[i*d+j] += float64(scale * (w2[i*d+j] - float64(w*delta[i]*delta[j])))
			}
			cov[i*d+i] += float64(scale * g2)
			if e.kind == Full {
				cov[i*d+i] += e.reg
			}
		}
		floats.Add(mean, delta)
	}
}

// factorisation is the parallel task that computes the factors of the covariances.
type factorisation em

// Block implements parallel.Task.
func (f *factorisation) Block(_, c int) {
	d := f.d
	numbers, _ := f.kind.size(f.k, d)
	cov, q := f.covs[c*numbers:(c+1)*numbers], f.density.q[c*numbers:(c+1)*numbers]
	f.rows[c] = d
	if numbers == d {
		for j, v := range cov {
			if !(v > 0) {
				f.rows[c], f.pivots[c] = j, v
				return
			}
			q[j] = 1 / math.Sqrt(v)
		}
		return
	}
	for i := range d {
		copy(q[i*d:i*d+i+1], cov[i*d:i*d+i+1])
		clear(q[i*d+i+1 : (i+1)*d])
	}
	f.rows[c], f.pivots[c] = invertFactor(q, d)
}

// covariance returns the numbers of the covariance of component c.
func (e *em) covariance(c int) []float64 {
	numbers, count := e.kind.size(e.k, e.d)
	c = min(c, count-1)
	return e.covs[c*numbers : (c+1)*numbers]
}

// element returns where element (i, j) of the covariance of component c is, for j <= i. It
// returns nil if coordinates are uncorrelated, so that the element is always 0.
func (e *em) element(c, i, j int) *float64 {
	switch cov := e.covariance(c); {
	case len(cov) > e.d:
		return &cov[i*e.d+j]
	case i == j:
		return &cov[i]
	}
	return nil
}

// mixture returns the mixture.
func (e *em) mixture() (*Mixture, error) {
	k, d := e.k, e.d
	covs := make([]*mat.SymDense, k)
	for c := range k {
		covs[c] = mat.NewSymDense(d, nil)
		first := 0 // column that may differ from 0
		for i := range d {
			if e.kind == Diagonal || e.kind == Spherical {
				first = i
			}
			for j := first; j <= i; j++ {
				covs[c].SetSym(i, j, *e.element(c, i, j))
			}
		}
	}
	weights := make([]float64, k)
	floats.ScaleTo(weights, 1/floats.Sum(e.weights), e.weights)
	return newMixture(e.kind, weights, mat.NewDense(k, d, e.density.means.Data), covs)
}

// start sets the mixture to m. Weights of 0 become minWeight.
func (e *em) start(m *Mixture) error {
	for c, w := range m.weights {
		e.weights[c] = max(w, minWeight)
		copy(e.density.means.Row(c), m.means.RawRowView(c))
		for i := range e.d {
			for j := range i + 1 {
				if v := e.element(c, i, j); v != nil {
					*v = m.covs[c].At(i, j)
				}
			}
		}
	}
	return e.refactor()
}

// lost returns the components that have fewer points than a covariance needs.
func (e *em) lost() (lost []int) {
	points := 2.0
	if e.kind == Full {
		points = float64(e.d + 1)
	}
	for c, w := range e.weights {
		if float64(w*float64(e.x.Rows)) <= points {
			lost = append(lost, c)
		}
	}
	return lost
}

// reseed gives each lost component half of the heaviest one. Both get its covariance.
// Their means lie a standard deviation to either side of its own, along the coordinate
// in which it is wide beside the others. Call refactor next.
func (e *em) reseed(lost []int) {
	variance := func(c, j int) float64 { return *e.element(c, j, j) }
	for _, c := range lost {
		h := floats.MaxIdx(e.weights)
		wide, widest := 0, 0.0
		for j := range e.d {
			var mean float64
			for k, w := range e.weights {
				mean += float64(w * variance(k, j))
			}
			if v := variance(h, j) / mean; v > widest {
				wide, widest = j, v
			}
		}
		from, to := e.density.means.Row(h), e.density.means.Row(c)
		for i := range e.d {
			var move float64
			if v := e.element(h, max(i, wide), min(i, wide)); v != nil {
				move = *v / math.Sqrt(variance(h, wide))
			}
			to[i] = from[i] + move
			from[i] -= move
		}
		copy(e.covariance(c), e.covariance(h))
		e.weights[h] /= 2
		e.weights[c] = e.weights[h]
	}
	floats.Scale(1/floats.Sum(e.weights), e.weights)
}
