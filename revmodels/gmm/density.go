package gmm

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/floats"

	"revnum/internal/logs"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// A density evaluates the components of a mixture at runs of points. With Q_k of a
// component, Σ_k⁻¹ = Q_kᵀ·Q_k, the log of its weighted density is
//
//	β_k = log w_k + log det Q_k - ½D·log 2π - ½‖Q_k·(x - μ_k)‖².
//
// It computes this formula for full covariances. For the others, with x' = x - origin
// and μ'_k = μ_k - origin, the square is a product of matrices for all components at
// once:
//
//	tied       ‖z‖² - 2·(Q·μ'_k)·z + ‖Q·μ'_k‖²,   z = Q·x'
//	diagonal   q_k²·x'² - 2·(q_k²·μ'_k)·x' + ‖q_k·μ'_k‖², element by element
//	spherical  q_k²·‖x'‖² - 2·(q_k²·μ'_k)·x' + ‖q_k·μ'_k‖²
//
// The error is ε times the squares of the terms. The origin is therefore in the middle
// of the points. Where the squares are large nevertheless, because components lie far
// apart, the formula of full covariances takes the place of the product: for a run
// of points and those components whose squares exceed farSquare, or for all if tied.
type density struct {
	kind           Covariance
	k, d           int
	means          rev.General[float64]
	origin         []float64
	q              []float64 // K×D×D if full, D×D if tied, K×D otherwise
	height         []float64 // β_k at the mean
	bias           []float64 // the part of β_k that does not depend on x
	spread         []float64 // ‖Q_k·μ'_k‖², or the largest of them if tied
	linear, square []float64 // K×D: the factors of z or x', and of x'²
}

// farSquare times ε, about 1e-10, is what β may lose to the product of matrices.
const farSquare = 0x1p19

// scoringRun is the number of points in a run. It is an odd number of cache lines, so
// that coordinates spread over the sets of the level 1 cache.
const scoringRun = 216

// densityScratch is the scratch of a worker for a run.
type densityScratch struct {
	x, centred, z  []float64 // D×run: x, x', and z or x'²
	reach          []float64 // largest |z_i| of a run if tied, or |x'_i|
	rows           []float64 // K×run: β, then exp(β - top)
	top, sum, logs [scoringRun]float64
}

func newDensityScratch(k, d int) *densityScratch {
	return &densityScratch{
		x: make([]float64, d*scoringRun), centred: make([]float64, d*scoringRun), z: make([]float64, d*scoringRun),
		reach: make([]float64, d), rows: make([]float64, k*scoringRun),
	}
}

// set prepares the density for log weights, and for means and q as they are.
func (m *density) set(logw []float64) {
	k, d := m.k, m.d
	if m.bias == nil {
		m.height, m.spread = make([]float64, k), make([]float64, k)
		m.bias, m.linear, m.square = make([]float64, k), make([]float64, k*d), make([]float64, k*d)
	}
	mu, z := make([]float64, d), make([]float64, d)
	for c := range k {
		b := logw[c] - float64(float64(d)/2*math.Log(2*math.Pi))
		for j := range d {
			b += logs.Log(m.diagonal(c, j))
			mu[j] = m.means.Row(c)[j] - m.origin[j]
		}
		m.height[c] = b
		linear := m.linear[c*d : (c+1)*d]
		switch m.kind {
		case Full:
		case Tied:
			for i := range d {
				linear[i] = vec.Dot(m.q[i*d:i*d+i+1], mu[:i+1])
			}
			m.spread[c] = sumSquares(linear)
		default:
			q := m.q[c*d : (c+1)*d]
			vec.MulTo(z, q, mu)
			vec.MulTo(linear, q, z)
			square := m.square[c*d : (c+1)*d]
			vec.MulTo(square, q, q)
			vec.ScaleTo(square, -0.5, square)
			m.spread[c] = sumSquares(z)
			if math.IsInf(floats.Min(square), -1) { // products with 0 would be NaN
				m.spread[c] = math.Inf(1)
			}
		}
		m.bias[c] = b - m.spread[c]/2
	}
	if m.kind == Tied { // then far is the same for all: they have ‖z‖² in common
		for c, most := 0, floats.Max(m.spread); c < k; c++ {
			m.spread[c] = most
		}
	}
}

// sumSquares returns Σ x². It has the same bits on all machines, so that those that share the points of a fit agree
// what moments are about.
func sumSquares(x []float64) (sum float64) {
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum
}

// diagonal returns element j of the diagonal of Q_c.
func (m *density) diagonal(c, j int) float64 {
	switch m.kind {
	case Full:
		return m.q[(c*m.d+j)*m.d+j]
	case Tied:
		return m.q[j*m.d+j]
	default:
		return m.q[c*m.d+j]
	}
}

// weigh handles n points of x from the given first one on. It sets t.rows to β - top,
// t.sum to Σ_k exp(β_k - top) and t.logs to logsumexp_k β. In the end t.rows has the
// exponentials.
func (m *density) weigh(t *densityScratch, x rev.General[float64], first, n int) {
	const run = scoringRun
	k, d := m.k, m.d
	top, sum, logs := t.top[:n], t.sum[:n], t.logs[:n]
	load(t.x, run, x, first, n)
	for p := range top {
		top[p] = math.Inf(-1)
	}
	switch m.kind {
	case Full:
	case Tied:
		clear(t.rows)
		vec.SubColumn(n, t.centred, run, t.x, run, m.origin)
		clear(t.z)
		dense.Gemm(d, n, d, 1, m.q, d, 1, t.centred, run, 1, t.z, run)
		dense.Gemm(k, n, d, 1, m.linear, d, 1, t.z, run, 1, t.rows, run)
		t.setReach(t.z, n)
	default:
		clear(t.rows)
		vec.SubColumn(n, t.centred, run, t.x, run, m.origin)
		t.squares(d, n)
		dense.Gemm(k, n, d, 1, m.linear, d, 1, t.centred, run, 1, t.rows, run)
		if m.kind == Spherical { // all coordinates have one factor
			clear(sum)
			for j := range d {
				vec.AddTo(sum, sum, t.z[j*run:j*run+n])
			}
			dense.Gemm(k, n, 1, 1, m.square, d, 1, t.sum[:], run, 1, t.rows, run)
		} else {
			dense.Gemm(k, n, d, 1, m.square, d, 1, t.z, run, 1, t.rows, run)
		}
		t.setReach(t.centred, n)
	}
	for c := range k {
		row := t.rows[c*run : c*run+n]
		if m.far(c, t.reach) {
			m.norms(t, row, c)
			vec.AffineMax(row, top, -0.5, m.height[c])
		} else {
			vec.AffineMax(row, top, 1, m.bias[c])
		}
	}
	keepFinite(top)
	expRows(t.rows, k, run, top, sum, logs)
	vec.AddTo(logs, logs, top)
	if m.kind == Tied && !m.far(0, t.reach) { // -½‖z‖² is not yet in β_k
		for i := range d {
			z := t.z[i*run : i*run+n]
			vec.MulTo(z, z, z)
			vec.Axpy(-0.5, z, logs)
		}
	}
}

// setReach sets t.reach for the first n columns of rows.
func (t *densityScratch) setReach(rows []float64, n int) {
	for j := range t.reach {
		t.reach[j] = vec.MaxAbs(rows[j*scoringRun : j*scoringRun+n])
	}
}

// far reports whether component c has no product of matrices for points up to reach, because
// its squares exceed farSquare or are NaN.
func (m *density) far(c int, reach []float64) bool {
	if m.kind == Full {
		return true
	}
	sum := m.spread[c]
	for j, r := range reach {
		if m.kind != Tied {
			r *= m.q[c*m.d+j]
		}
		sum += float64(r * r)
	}
	return !(sum <= farSquare)
}

// norms sets row to ‖Q_c·(x - μ_c)‖² of the points of t.x.
func (m *density) norms(t *densityScratch, row []float64, c int) {
	const run = scoringRun
	d, n, mean := m.d, len(row), m.means.Row(c)
	switch m.kind {
	case Full:
		dense.TriNorms(d, n, row, m.q[c*d*d:(c+1)*d*d], d, t.x, run, mean)
	case Tied:
		dense.TriNorms(d, n, row, m.q, d, t.x, run, mean)
	default:
		clear(row)
		vec.AddSquares(row, t.x, run, mean, m.q[c*d:(c+1)*d])
	}
}

// squares sets t.z to the squares of t.centred, of n points in d dimensions.
func (t *densityScratch) squares(d, n int) {
	const run = scoringRun
	for j := range d {
		row := t.centred[j*run : j*run+n]
		vec.MulTo(t.z[j*run:j*run+n], row, row)
	}
}

// keepFinite replaces the top of a point whose density is 0, so that its log is not NaN.
func keepFinite[T rev.Float](top []T) {
	for p, v := range top {
		if math.IsInf(float64(v), -1) {
			top[p] = 0
		}
	}
}

// expRows replaces k rows β, which are ld apart, by exp(β - top). It stores their sum and
// its log.
func expRows[T rev.Float](rows []T, k, ld int, top, sum, logs []T) {
	clear(sum)
	for c := range k {
		vec.ExpSubAdd(rows[c*ld:][:len(top)], top, sum)
	}
	vec.Log(logs, sum)
}

// weighFar is weigh for a point x whose squared distances overflow. It stores the responsibilities in resp, and
// returns the log density. It computes ‖Q_k·(x - μ_k)‖² and the differences of the β_k exactly: components of very
// different sizes have next to nothing in common, and β_k of 1e600 may differ by 1.
func (m *density) weighFar(resp, x []float64) (logp float64) {
	beta := make([]*big.Float, m.k) // nil for -Inf
	best := -1
	for c, h := range m.height {
		if math.IsInf(h, -1) {
			continue
		}
		beta[c] = m.farNorm(c, x)
		beta[c].Mul(beta[c], exact(-0.5))
		beta[c].Add(beta[c], exact(h))
		if best < 0 || beta[c].Cmp(beta[best]) > 0 {
			best = c
		}
	}
	top, _ := beta[best].Float64()
	delta := exact(0)
	for c, b := range beta {
		resp[c] = math.Inf(-1)
		if b != nil {
			resp[c], _ = delta.Sub(b, beta[best]).Float64()
		}
	}
	return softmax(resp) + top
}

// farNorm returns ‖Q_c·(x - μ_c)‖².
func (m *density) farNorm(c int, x []float64) *big.Float {
	d := m.d
	delta := make([]*big.Float, d)
	for j, v := range m.means.Row(c) {
		delta[j] = exact(x[j])
		delta[j].Sub(delta[j], exact(v))
	}
	sum, z, term := exact(0), exact(0), exact(0)
	for i := range d {
		switch m.kind {
		case Full, Tied:
			q := m.q
			if m.kind == Full {
				q = q[c*d*d:]
			}
			z.SetFloat64(0)
			for j, v := range q[i*d : i*d+i+1] {
				z.Add(z, term.Mul(exact(v), delta[j]))
			}
		default:
			z.Mul(exact(m.q[c*d+i]), delta[i])
		}
		sum.Add(sum, term.Mul(z, z))
	}
	return sum
}

// exact returns v as a number for weighFar. Its squares are multiples of 2^-4296, and are below 2^4100·D³: they have
// fewer than 9000 bits. A big.Float stores those that a number needs.
func exact(v float64) *big.Float { return new(big.Float).SetPrec(9000).SetFloat64(v) }

// scores is the parallel task of score. Its blocks are runs of points.
type scores struct {
	density density
	x       rev.General[float64]
	logp    []float64         // N log densities, or nil
	resp    []float64         // N×K responsibilities, or nil
	labels  []int             // N most probable components, or nil
	scratch []*densityScratch // of each worker
}

// score computes the results of s that are not nil, for the points x.
func (m *Mixture) score(x rev.General[float64], s scores) {
	workers := parallel.Workers(0)
	s.density, s.x, s.scratch = m.density(), x, make([]*densityScratch, workers)
	for w := range workers {
		s.scratch[w] = newDensityScratch(m.Components(), m.Dim())
	}
	parallel.Run(workers, (x.Rows+scoringRun-1)/scoringRun, &s)
}

// density returns the density of the mixture.
func (m *Mixture) density() density {
	k, d := m.Components(), m.Dim()
	p := viewParams(m.params, k, d)
	s := density{kind: m.kind, k: k, d: d, means: p.Means, origin: make([]float64, d)}
	for c, w := range m.weights {
		vec.Axpy(w, p.Means.Row(c), s.origin)
	}
	numbers, count := m.kind.size(k, d)
	s.q = make([]float64, numbers*count)
	for c := range count {
		if q := s.q[c*numbers : (c+1)*numbers]; numbers > d {
			unpackFactor(q, p.Factors.Row(c), d)
		} else {
			for j := range q {
				q[j] = math.Exp(p.Factors.Row(c)[j])
			}
		}
	}
	logw := m.Params()[:k]
	lse := softmax(m.Params()[:k])
	for c := range logw {
		logw[c] -= lse
	}
	s.set(logw)
	return s
}

// Block implements parallel.Task.
func (s *scores) Block(worker, b int) {
	first := b * scoringRun
	n := min(scoringRun, s.x.Rows-first)
	t, comps := s.scratch[worker], s.density.k
	s.density.weigh(t, s.x, first, n)
	var resp []float64
	finite := func(x []float64) bool { return floats.Norm(x, math.Inf(1)) <= math.MaxFloat64 }
	for p := range n {
		x := s.x.Row(first + p)
		if t.logs[p] >= -math.MaxFloat64 || !finite(x) || !finite(s.density.q) {
			continue
		}
		if resp == nil { // seldom: a point with 5 components in 50 dimensions takes milliseconds
			resp = make([]float64, comps)
		}
		t.logs[p], t.sum[p] = s.density.weighFar(resp, x), 1
		for c, r := range resp {
			t.rows[c*scoringRun+p] = r
		}
	}
	if s.logp != nil {
		copy(s.logp[first:], t.logs[:n])
	}
	if s.resp != nil {
		for k := range comps {
			for p, v := range t.rows[k*scoringRun : k*scoringRun+n] {
				s.resp[(first+p)*comps+k] = v / t.sum[p]
			}
		}
	}
	if s.labels != nil {
		for p := range n {
			best, label := math.Inf(-1), -1
			for k := range comps {
				if r := t.rows[k*scoringRun+p] / t.sum[p]; r > best {
					best, label = r, k
				}
			}
			s.labels[first+p] = label
		}
	}
}
