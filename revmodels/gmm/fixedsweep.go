package gmm

import (
	"fmt"
	"math"

	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/workspace"
)

// fixedSweep is one pass over the points. The points are cut into blocks. Each worker
// adds the contributions of its blocks to sums of its own, which are added in the end.
// The sums are integers, so the result depends neither on the blocks nor on the
// workers.
type fixedSweep struct {
	k, g, t, gt FixedLogPosterior // operands, cotangents, tangents, tangents of cotangents

	tangent, gradient, second bool      // what the pass computes
	x                         bool      // whether it computes the gradient of the points
	cot, dcot                 fixed.Q43 // F̄ and its tangent

	d, n, comps int
	block       int // points in a block

	// For each component: Q and Qᵀ, with their tangents, the largest sum |Q| of a row,
	// twice the part of β that does not depend on the point, and its tangent.
	q, qt, dq, dqt []fixed.Q43
	norm           []float64
	bias           []fixed.Accumulator
	dbias          []fixed.Q43

	weights, dweights []fixed.Q43 // softmax(α) and its tangent

	sign, m, g2 fixed.Q43 // of the prior: ±1 unit, M and γ², all 0 without one

	workers []fixedWorker
	zeros   []fixed.Q43 // D of them
}

// fixedWorker is the scratch of a worker for a block, and the sums over its blocks.
type fixedWorker struct {
	failed    int // the first point that is out of range, or n if none is
	sum, dsum fixed.Accumulator

	// Σ_i w and Σ_i z of each component, 1 + D numbers, Σ_i z·cᵀ, and their tangents.
	moments, dmoments   []fixed.Q43
	products, dproducts fixedpoint.TriSums

	far     fixed.Q43   // at least the largest |x| of the block
	xs      []fixed.Q43 // its points by coordinate: D rows of a block
	r, dw   []fixed.Q43 // of component k and point p at k·block + p; r is β at first, dw is β̇
	y, dy   []fixed.Q43 // of coordinate j at (k·D + j)·block + p; z and ż when the moments are done
	c, dc   []fixed.Q43 // of a point and a component
	dcs     []fixed.Q43 // ċ of a component by coordinate, as xs
	scratch []fixed.Q43 // of vector loops

	tops, sums, args []fixed.Q43 // of each point of the block: the largest β, Σ exp(β - this), and scratch

	gx, dgx []fixed.Accumulator // of each point of the block, D numbers each
}

// D/2·log 2π is D times halfLog2Pi plus the next 43 bits.
const (
	halfLog2Pi   fixed.Q43 = 0x759fc72192f
	halfLog2PiLo fixed.Q43 = 0x5694d252f24
)

// outOfReach is the largest |y_j| of a component that may take part in a point. Above
// it, ½·y_j² is above 2²⁰.
const outOfReach = fixed.One << 11

// sweep returns F and its derivative in the direction t, and adds the gradient to g and
// its derivative to gt. On an error it returns zeros and adds nothing.
func (k FixedLogPosterior) sweep(g, t, gt FixedLogPosterior) (f, df fixed.Q43, err error) {
	s := workspace.Get[*fixedSweep]()
	s.k, s.g, s.t, s.gt = k, g, t, gt
	f, df, err = s.run(parallel.Workers(k.Workers))
	// The pooled value must not keep the caller's storage alive.
	s.k, s.g, s.t, s.gt = FixedLogPosterior{}, FixedLogPosterior{}, FixedLogPosterior{}, FixedLogPosterior{}
	workspace.Put(s)
	return f, df, err
}

func (s *fixedSweep) run(workers int) (f, df fixed.Q43, err error) {
	prior, dprior, err := s.prepare(workers)
	if err != nil {
		return 0, 0, err
	}
	if s.gradient && s.x {
		// The gradients of points are added on the way. First make sure that no point
		// fails.
		s.gradient = false
		if _, _, err := s.points(workers, prior, dprior); err != nil {
			return 0, 0, err
		}
		s.gradient = true
	}
	f, df, err = s.points(workers, prior, dprior)
	if err == nil && s.gradient {
		s.finish()
	}
	return f, df, err
}

// points runs over all points, and returns F and its derivative.
func (s *fixedSweep) points(workers int, prior, dprior fixed.Q43) (f, df fixed.Q43, err error) {
	for i := range s.workers {
		w := &s.workers[i]
		w.failed, w.sum, w.dsum = s.n, fixed.Accumulator{}, fixed.Accumulator{}
	}
	parallel.Run(workers, (s.n+s.block-1)/s.block, s)
	var sum, dsum fixed.Accumulator
	failed := s.n
	for i := range s.workers {
		w := &s.workers[i]
		failed = min(failed, w.failed)
		sum.AddAcc(w.sum)
		dsum.AddAcc(w.dsum)
	}
	if failed < s.n {
		return 0, 0, fmt.Errorf("gmm: log density of point %d: %w", failed, fixed.ErrRange)
	}
	sum.Add(prior)
	dsum.Add(dprior)
	f, err = sum.RoundChecked()
	if err != nil {
		return 0, 0, fmt.Errorf("gmm: log posterior: %w", err)
	}
	return f, dsum.Round(), nil
}

// prepare sets everything that does not depend on the points, allocates the rest, and
// returns the prior and its derivative.
func (s *fixedSweep) prepare(workers int) (prior, dprior fixed.Q43, err error) {
	k, g, t, gt := &s.k, &s.g, &s.t, &s.gt
	s.d, s.n, s.comps = k.X.Cols, k.X.Rows, k.Alpha.N
	s.cot, s.dcot = 0, 0
	if g.Out != nil {
		s.cot = *g.Out
	}
	if gt.Out != nil {
		s.dcot = *gt.Out
	}
	s.second = gt.given()
	s.x = g.X.Data != nil || gt.X.Data != nil
	s.gradient = (g.Out != nil || gt.Out != nil) && (s.second || g.given())
	s.second = s.second && s.gradient
	s.tangent = s.second || t.Out != nil || t.given()

	d, comps := s.d, s.comps
	s.q, s.qt = workspace.Zeros(s.q, comps*d*d), workspace.Zeros(s.qt, comps*d*d)
	s.norm = workspace.Grow(s.norm, comps)
	for c := range comps {
		row := k.Factors.Row(c)
		q := s.q[c*d*d : (c+1)*d*d]
		unpackLower(q, row, d)
		for j, v := range row[:d] {
			if q[j*d+j], err = fixed.ExpChecked(v); err != nil {
				return 0, 0, fmt.Errorf("gmm: exponential of Factors[%d,%d] = %v: %w", c, j, v, err)
			}
		}
		transpose(s.qt[c*d*d:(c+1)*d*d], q, d)
		s.norm[c] = maxRowSum(q, d)
	}
	if s.tangent {
		s.dq, s.dqt = workspace.Zeros(s.dq, comps*d*d), workspace.Zeros(s.dqt, comps*d*d)
		for c := range comps {
			if t.Factors.Data == nil {
				break
			}
			row, q, dq := t.Factors.Row(c), s.q[c*d*d:], s.dq[c*d*d:(c+1)*d*d]
			unpackLower(dq, row, d)
			for j, v := range row[:d] {
				dq[j*d+j] = q[j*d+j].Mul(v)
			}
			transpose(s.dqt[c*d*d:(c+1)*d*d], dq, d)
		}
	}
	if err := s.prepareBias(); err != nil {
		return 0, 0, err
	}
	s.makeRoom(workers)
	return s.prior()
}

func transpose(dst, q []fixed.Q43, d int) {
	for i := range d {
		for j := range i + 1 {
			dst[j*d+i] = q[i*d+j]
		}
	}
}

// maxRowSum returns the largest sum of magnitudes of a row of q.
func maxRowSum(q []fixed.Q43, d int) float64 {
	var m float64
	for i := range d {
		var sum float64
		for _, v := range q[i*d : i*d+i+1] {
			sum += math.Abs(v.Float64())
		}
		m = max(m, sum)
	}
	return m
}

// prepareBias sets the weights, the bias and their tangents. Without components there
// are no log weights.
func (s *fixedSweep) prepareBias() error {
	k, t := &s.k, &s.t
	s.weights, s.dweights = workspace.Grow(s.weights, s.comps), workspace.Zeros(s.dweights, s.comps)
	s.bias, s.dbias = workspace.Grow(s.bias, s.comps), workspace.Zeros(s.dbias, s.comps)
	if s.comps == 0 {
		return nil
	}
	top := fixed.Min
	for c := range s.comps {
		top = max(top, k.Alpha.Data[c*k.Alpha.Inc])
	}
	var sum fixed.Q43
	for c := range s.comps {
		// Below -2²⁰ the exponential is 0, as at -2²⁰.
		s.weights[c] = fixed.Exp(k.Alpha.Data[c*k.Alpha.Inc].SubSat(top))
		sum += s.weights[c]
	}
	logSum, err := fixed.LogChecked(sum)
	if err != nil {
		return fmt.Errorf("gmm: sum of %d weights: %w", s.comps, fixed.ErrRange)
	}
	var mean fixed.Accumulator
	for c := range s.comps {
		s.weights[c] = s.weights[c].Div(sum)
		if t.Alpha.Data != nil {
			mean.AddMul(s.weights[c], t.Alpha.Data[c*t.Alpha.Inc])
		}
	}
	dlse := mean.Round()
	for c := range s.comps {
		var b fixed.Accumulator
		b.Add(k.Alpha.Data[c*k.Alpha.Inc])
		b.Sub(top)
		b.Sub(logSum)
		for _, q := range k.Factors.Row(c)[:s.d] {
			b.Add(q)
		}
		b.SubMul(fixed.FromInt(s.d), halfLog2Pi)
		b.SubMul(fixed.Q43(s.d), halfLog2PiLo)
		b.AddAcc(b)
		s.bias[c] = b
		if t.Alpha.Data != nil {
			da := t.Alpha.Data[c*t.Alpha.Inc] - dlse
			s.dbias[c] = da
			s.dweights[c] = s.weights[c].Mul(da)
		}
		if t.Factors.Data != nil {
			for _, dq := range t.Factors.Row(c)[:s.d] {
				s.dbias[c] += dq
			}
		}
	}
	return nil
}

// makeRoom sets the size of blocks, and makes room for one in each worker.
func (s *fixedSweep) makeRoom(workers int) {
	d, comps := s.d, s.comps
	s.block = min(max((1<<15)/max(comps*d, 1), 1), 128)
	s.workers = workspace.Grow(s.workers[:cap(s.workers)], max(workers, cap(s.workers)))[:workers]
	s.zeros = workspace.Zeros(s.zeros, d)
	for i := range s.workers {
		w := &s.workers[i]
		for _, of := range []*[]fixed.Q43{&w.tops, &w.sums, &w.args} {
			*of = workspace.Grow(*of, s.block)
		}
		w.xs, w.scratch = workspace.Grow(w.xs, d*s.block), workspace.Grow(w.scratch, fixedpoint.TriScratch(d))
		w.c, w.r, w.y = workspace.Grow(w.c, d), workspace.Grow(w.r, comps*s.block), workspace.Grow(w.y, comps*s.block*d)
		if s.tangent {
			w.dc, w.dw, w.dy = workspace.Grow(w.dc, d), workspace.Grow(w.dw, comps*s.block), workspace.Grow(w.dy, comps*s.block*d)
		}
		products := comps * fixedpoint.TriSumsLen(d)
		if s.gradient {
			w.gx = workspace.Grow(w.gx, d*s.block)
			w.moments, w.products = workspace.Zeros(w.moments, comps*(1+d)), workspace.Zeros(w.products, products)
		}
		if s.second {
			w.dcs, w.dgx = workspace.Grow(w.dcs, d*s.block), workspace.Grow(w.dgx, d*s.block)
			w.dmoments, w.dproducts = workspace.Zeros(w.dmoments, comps*(1+d)), workspace.Zeros(w.dproducts, products)
		}
	}
}

// prior returns the part of F that the prior adds, and its derivative.
func (s *fixedSweep) prior() (f, df fixed.Q43, err error) {
	s.sign, s.m, s.g2 = 0, 0, 0
	p := s.k.Prior
	if p.Gamma == 0 {
		return 0, 0, nil
	}
	s.sign = 1
	if p.Sign == ADBench {
		s.sign = -1
	}
	if s.m, err = fixed.FromIntChecked(p.M); err == nil {
		s.g2, err = fixed.FromFloat64Checked(p.Gamma * p.Gamma)
	}
	constant, cerr := fixed.FromFloat64Checked(float64(s.comps) * p.constant(s.d))
	if err != nil || cerr != nil {
		return 0, 0, fmt.Errorf("gmm: prior of γ = %v, M = %d: %w", p.Gamma, p.M, fixed.ErrRange)
	}
	var sum, norm, dsum, dnorm fixed.Accumulator
	var n fixed.Q43 // Σ_k ‖Q_k‖²
	sum.Add(constant)
	for c := range s.comps {
		for _, v := range s.k.Factors.Row(c)[:s.d] {
			sum.AddMul(s.m, v)
		}
		q := s.q[c*s.d*s.d : (c+1)*s.d*s.d]
		for i, v := range q {
			if v <= -fixed.One<<10 || v >= fixed.One<<10 {
				return 0, 0, fmt.Errorf("gmm: prior of entry (%d,%d) = %v of Q_%d: %w", i/s.d, i%s.d, v, c, fixed.ErrRange)
			}
		}
		norm.AddDot(q, q)
		if n, err = norm.RoundChecked(); err != nil {
			return 0, 0, fmt.Errorf("gmm: prior of Q_%d: %w", c, err)
		}
		if s.t.Factors.Data == nil {
			continue
		}
		for _, v := range s.t.Factors.Row(c)[:s.d] {
			dsum.AddMul(s.m, v)
		}
		dnorm.AddDot(q, s.dq[c*s.d*s.d:(c+1)*s.d*s.d])
	}
	twice, err := s.g2.MulChecked(n)
	if err == nil {
		sum.Sub(twice / 2)
		dsum.SubMul(s.g2, dnorm.Round())
		f, err = sum.RoundChecked()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("gmm: prior: %w", err)
	}
	return s.sign * f, s.sign * dsum.Round(), nil
}

// Block adds the contributions of the points of block b to the sums of a worker, and to
// the gradients of these points.
func (s *fixedSweep) Block(worker, b int) {
	w := &s.workers[worker]
	p0 := b * s.block
	n := min(s.block, s.n-p0)
	if good := s.responsibilities(w, p0, n); good < n {
		w.failed = min(w.failed, p0+good)
		return
	}
	if !s.gradient {
		return
	}
	clear(w.gx)
	clear(w.dgx)
	for k := range s.comps {
		s.addMoments(w, k, p0, n)
		if s.x {
			s.addPointCotangents(w, k, n)
		}
	}
	if s.x {
		subRows(s.g.X.Data, s.g.X.Stride, p0, n, s.d, w.gx)
		subRows(s.gt.X.Data, s.gt.X.Stride, p0, n, s.d, w.dgx)
	}
}

// responsibilities computes those of n points from p0 on, and adds their log densities to the sum. It returns
// how many points there are before the first that is out of range, or n.
func (s *fixedSweep) responsibilities(w *fixedWorker, p0, n int) (good int) {
	b := s.block
	tops, sums, args := w.tops[:n], w.sums[:n], w.args[:n]
	for p := range tops {
		tops[p], sums[p] = fixed.Min, 0
	}
	good = s.logDensities(w, p0, n)
	for k := range s.comps {
		for p, beta := range w.r[k*b:][:good] {
			tops[p] = max(tops[p], beta)
		}
	}
	for k := range s.comps {
		r := w.r[k*b:][:good]
		for p, beta := range r {
			args[p] = beta.SubSat(tops[p])
		}
		clear(r)
		fixedpoint.Exp.Add(1, args[:good], r)
		for p, v := range r {
			sums[p] += v
		}
	}
	for p := range good {
		logSum, err := fixed.LogChecked(sums[p])
		if err != nil || tops[p] == fixed.Min {
			return p
		}
		w.sum.Add(tops[p])
		w.sum.Add(logSum)
	}
	if good < n || !s.tangent && !s.gradient {
		return good
	}
	for k := range s.comps {
		r := w.r[k*b:][:n]
		copy(args, r)
		clear(r)
		fixedpoint.AddQuotients(1, args, sums, r)
	}
	for p := 0; s.tangent && p < n; p++ {
		s.pointTangent(w, p0+p, p)
	}
	return n
}

// pointTangent computes β̇ of point i, number p of its block, and what follows from it.
func (s *fixedSweep) pointTangent(w *fixedWorker, i, p int) {
	var mean fixed.Accumulator
	for k := range s.comps {
		db := s.logDensityTangent(w, k, i, p)
		w.dw[k*s.block+p] = db
		mean.AddMul(w.r[k*s.block+p], db)
	}
	w.dsum.AddAcc(mean)
	m := mean.Round()
	for k := range s.comps {
		r, dw := w.r[k*s.block+p], &w.dw[k*s.block+p]
		*dw = s.cot.Mul(r).Mul(*dw-m) + s.dcot.Mul(r)
	}
}

// logDensities sets β and y of n points from p0 on. It returns how many points there are before the first that
// is out of range, or n.
func (s *fixedSweep) logDensities(w *fixedWorker, p0, n int) (good int) {
	good = n
	if n == 0 || s.comps == 0 {
		return good
	}
	d, b := s.d, s.block
	fixedpoint.Transpose(w.xs, b, s.k.X.Data[p0*s.k.X.Stride:], s.k.X.Stride, n, d)
	w.far = 0
	for j := range d {
		w.far = max(w.far, largest(w.xs[j*b:][:n]))
	}
	for k := range s.comps {
		if s.logDensitiesOf(w, k, n) {
			continue
		}
		for p := range good {
			beta, ok := s.logDensity(w, k, p0+p, p)
			if !ok {
				good = p
				break
			}
			w.r[k*b+p] = beta
		}
	}
	return good
}

// logDensitiesOf does what logDensity does for n points. It reports whether nothing could leave the range; if not,
// the results are arbitrary.
func (s *fixedSweep) logDensitiesOf(w *fixedWorker, k, n int) bool {
	const room = 1 << 19 // half the range
	d, b, reach := s.d, s.block, s.reach(w, k)
	bias, err := s.bias[k].RoundChecked()
	if err != nil || !(reach < room) || !(s.norm[k]*reach < room) {
		return false
	}
	most := fixedpoint.TriNorms(max(reach, s.norm[k]) < small, d, s.q[k*d*d:], w.xs, b, s.k.Means.Row(k), w.y[k*d*b:], b, s.bias[k], w.r[k*b:][:n], w.scratch)
	v := most.Float64()
	return most < outOfReach && float64(float64(d)*v*v)+math.Abs(bias.Float64()) < room
}

// small is the end of numbers whose products are faster.
const small = 256

// reach returns a number that is at least the largest |x - μ| of the block for component k.
func (s *fixedSweep) reach(w *fixedWorker, k int) float64 {
	return w.far.Float64() + largest(s.k.Means.Row(k)).Float64()
}

// largest returns a number that is at least as large as all |x|, if none is Min: less than twice the largest.
func largest(x []fixed.Q43) fixed.Q43 {
	var bits fixed.Q43
	for _, v := range x {
		bits |= v ^ v>>63
	}
	return max(bits, bits+1)
}

// logDensity returns β_ik and sets y. For a component out of reach, β is Min and y is
// arbitrary, because r_ik is zero. It reports whether all intermediate values are in
// range.
func (s *fixedSweep) logDensity(w *fixedWorker, k, i, p int) (beta fixed.Q43, ok bool) {
	d, b := s.d, s.block
	x, mu := s.k.X.Row(i), s.k.Means.Row(k)
	c := w.c
	var largest fixed.Q43
	for j, m := range mu {
		v := x[j] - m
		if (x[j]^m)&(x[j]^v) < 0 { // it wrapped
			return 0, false
		}
		c[j] = v
		largest = max(largest, v, ^v)
	}
	if s.norm[k]*largest.Float64() >= 1<<40 { // the sums below could wrap
		return 0, false
	}
	q, twice := s.q[k*d*d:], s.bias[k]
	for j := range d {
		var sum fixed.Accumulator
		sum.AddDot(q[j*d:j*d+j+1], c)
		v, err := sum.RoundChecked()
		if err != nil || v <= -outOfReach || v >= outOfReach {
			return fixed.Min, true
		}
		w.y[(k*d+j)*b+p] = v
		twice.SubMul(v, v)
	}
	v, err := twice.RoundChecked()
	if err != nil {
		return fixed.Min, true
	}
	half := v >> 1
	return half + v&half&1, true // to even
}

// logDensityTangent returns β̇_ik and sets ẏ. They are arbitrary for a component out of
// reach, because r_ik is zero.
func (s *fixedSweep) logDensityTangent(w *fixedWorker, k, i, p int) fixed.Q43 {
	d, b := s.d, s.block
	for j := range d {
		w.c[j] = s.k.X.Row(i)[j] - s.k.Means.Row(k)[j]
		w.dc[j] = s.differenceTangent(i, k, j)
	}
	var sum fixed.Accumulator
	sum.Add(s.dbias[k])
	for j := range d {
		row := (k*d + j) * d
		var v fixed.Accumulator
		v.AddDot(s.dq[row:row+j+1], w.c)
		v.AddDot(s.q[row:row+j+1], w.dc)
		at := (k*d+j)*b + p
		w.dy[at] = v.Round()
		sum.SubMul(w.y[at], w.dy[at])
	}
	return sum.Round()
}

// differenceTangent returns element j of ċ_ik.
func (s *fixedSweep) differenceTangent(i, k, j int) (dc fixed.Q43) {
	if s.t.X.Data != nil {
		dc = s.t.X.Row(i)[j]
	}
	if s.t.Means.Data != nil {
		dc -= s.t.Means.Row(k)[j]
	}
	return dc
}

// addMoments adds the contributions of n points from p0 on to the moments of component
// k. It overwrites y with z, and ẏ with ż.
func (s *fixedSweep) addMoments(w *fixedWorker, k, p0, n int) {
	d, b := s.d, s.block
	mu, moments, weights, y := s.k.Means.Row(k), w.moments[k*(1+d):(k+1)*(1+d)], w.args[:n], w.y[k*d*b:]
	clear(weights)
	fixedpoint.Axpy(1, s.cot, w.r[k*b:][:n], weights)
	for _, v := range weights {
		moments[0] += v
	}
	if s.second {
		s.addMomentTangents(w, k, p0, weights)
	}
	most := fixedpoint.WeighRows(weights, y, b, moments[1:])
	if s.g.Factors.Data == nil && s.gt.Factors.Data == nil {
		return
	}
	size := fixedpoint.TriSumsLen(d)
	narrow := most < small*fixed.One && s.reach(w, k) < small
	w.products[k*size:(k+1)*size].TriDots(narrow, d, n, y, b, w.xs, b, mu, w.scratch)
	if s.second {
		products := w.dproducts[k*size : (k+1)*size]
		products.TriDots(false, d, n, w.dy[k*d*b:], b, w.xs, b, mu, w.scratch)
		products.TriDots(false, d, n, y, b, w.dcs, b, s.zeros, w.scratch)
	}
}

// addMomentTangents overwrites ẏ with ż, adds the sums of ẇ and ż, and sets ċ.
func (s *fixedSweep) addMomentTangents(w *fixedWorker, k, p0 int, weights []fixed.Q43) {
	d, b := s.d, s.block
	moments, dw := w.dmoments[k*(1+d):(k+1)*(1+d)], w.dw[k*b:]
	for p, wt := range weights {
		moments[0] += dw[p]
		for j := range d {
			at := (k*d+j)*b + p
			dz := dw[p].Mul(w.y[at]) + wt.Mul(w.dy[at])
			w.dy[at], w.dcs[j*b+p] = dz, s.differenceTangent(p0+p, k, j)
			moments[1+j] += dz
		}
	}
}

// addPointCotangents adds Qᵀ·z of component k to the cotangents of n points.
func (s *fixedSweep) addPointCotangents(w *fixedWorker, k, n int) {
	d, b := s.d, s.block
	for j := range d {
		for p := range n {
			a, da := w.gx[p*d+j], fixed.Accumulator{}
			if s.second {
				da = w.dgx[p*d+j]
			}
			for i := j; i < d; i++ {
				at, q := (k*d+i)*b+p, (k*d+j)*d+i
				a.AddMul(s.qt[q], w.y[at])
				if s.second {
					da.AddMul(s.qt[q], w.dy[at])
					da.AddMul(s.dqt[q], w.y[at])
				}
			}
			w.gx[p*d+j] = a
			if s.second {
				w.dgx[p*d+j] = da
			}
		}
	}
}

// subRows subtracts sums from rows p0 to p0+n of a matrix, if it is there.
func subRows(data []fixed.Q43, stride, p0, n, d int, sums []fixed.Accumulator) {
	if data == nil {
		return
	}
	for p := range n {
		for j := range d {
			data[(p0+p)*stride+j] -= sums[p*d+j].Round()
		}
	}
}

// finish adds the moments of all workers and computes the cotangents from them.
func (s *fixedSweep) finish() {
	all := &s.workers[0]
	for i := range s.workers[1:] {
		w := &s.workers[1+i]
		addAll(all.moments, w.moments)
		all.products.Add(w.products)
		if s.second {
			addAll(all.dmoments, w.dmoments)
			all.dproducts.Add(w.dproducts)
		}
	}
	for k := range s.comps {
		s.finishComponent(k, all)
	}
}

func addAll(to, x []fixed.Q43) {
	for i, v := range x {
		to[i] += v
	}
}

func (s *fixedSweep) finishComponent(k int, w *fixedWorker) {
	d, n := s.d, fixed.Q43(s.n)
	g, gt := &s.g, &s.gt
	moments, size := w.moments[k*(1+d):(k+1)*(1+d)], fixedpoint.TriSumsLen(d)
	sum, v := moments[0], moments[1:]
	zc := func(i, j int) fixed.Q43 { return w.products[k*size:].Sum(i, j).Round() }
	if g.Alpha.Data != nil {
		g.Alpha.Data[k*g.Alpha.Inc] += sum - n*s.cot.Mul(s.weights[k])
	}
	q, qt := s.q[k*d*d:(k+1)*d*d], s.qt[k*d*d:(k+1)*d*d]
	if g.Means.Data != nil {
		row := g.Means.Row(k)
		for j := range row {
			row[j] += fixed.Dot(qt[j*d+j:(j+1)*d], v[j:])
		}
	}
	if g.Factors.Data != nil {
		row := g.Factors.Row(k)
		for j := range d {
			e := q[j*d+j]
			row[j] += sum - zc(j, j).Mul(e) + s.sign*s.cot.Mul(s.m-s.g2.Mul(e.Mul(e)))
		}
		scale := s.sign * s.cot.Mul(s.g2)
		for at, ij := range below(d) {
			row[at] -= zc(ij/d, ij%d) + scale.Mul(q[ij])
		}
	}
	if !s.second {
		return
	}

	dmoments := w.dmoments[k*(1+d) : (k+1)*(1+d)]
	dsum, dv := dmoments[0], dmoments[1:]
	dzc := func(i, j int) fixed.Q43 { return w.dproducts[k*size:].Sum(i, j).Round() }
	if gt.Alpha.Data != nil {
		gt.Alpha.Data[k*gt.Alpha.Inc] += dsum - n*(s.dcot.Mul(s.weights[k])+s.cot.Mul(s.dweights[k]))
	}
	dq, dqt := s.dq[k*d*d:(k+1)*d*d], s.dqt[k*d*d:(k+1)*d*d]
	if gt.Means.Data != nil {
		row := gt.Means.Row(k)
		for j := range row {
			var a fixed.Accumulator
			a.AddDot(dqt[j*d+j:(j+1)*d], v[j:])
			a.AddDot(qt[j*d+j:(j+1)*d], dv[j:])
			row[j] += a.Round()
		}
	}
	if gt.Factors.Data != nil {
		row := gt.Factors.Row(k)
		for j := range d {
			e, de := q[j*d+j], dq[j*d+j]
			prior := s.dcot.Mul(s.m-s.g2.Mul(e.Mul(e))) - 2*s.cot.Mul(s.g2.Mul(e.Mul(de)))
			row[j] += dsum - dzc(j, j).Mul(e) - zc(j, j).Mul(de) + s.sign*prior
		}
		scale, dscale := s.sign*s.cot.Mul(s.g2), s.sign*s.dcot.Mul(s.g2)
		for at, ij := range below(d) {
			row[at] -= dzc(ij/d, ij%d) + dscale.Mul(q[ij]) + scale.Mul(dq[ij])
		}
	}
}
