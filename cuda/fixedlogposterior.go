package cuda

import (
	"fmt"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// FixedLogPosterior is the kernel
//
//	Out += F
//
// of gmm.FixedLogPosterior, where F is the log posterior of a Gaussian mixture with K components over
// fixed-point numbers, given N points of dimension D. [LogPosterior] has the equations of F and its
// derivatives. The documentation of gmm.FixedLogPosterior has the range and the errors of the results.
//
// All results are those of the CPU bit for bit. Inverse and Adjoint restore Out bit for bit, even
// if Out wraps. A pass waits for the device to know that all is in range. If not, it changes
// nothing and returns an error that wraps fixed.ErrRange and names what is not in range, as on
// the CPU.
//
// Points come in batches, as many as K·(1+D)·8 bytes for each make 256 MiB, and at most 2¹⁷.
// Passes with tangents take that twice. Moments of up to 8 parts of the points take 16·(1+D)²
// bytes for each component and part. The gradient of the points of more than one batch takes
// another sweep over the points, before which nothing is written.
type FixedLogPosterior struct {
	Out     *fixed.Q43         `rev:"acc"`
	Alpha   Vector[fixed.Q43]  `rev:"in" shape:"K"`
	Means   General[fixed.Q43] `rev:"in" shape:"K,D"`
	Factors General[fixed.Q43] `rev:"in" shape:"K,D*(D+1)/2"`
	X       General[fixed.Q43] `rev:"in" shape:"N,D"`

	Prior gmm.Prior
}

// Run implements rev.Kernel. Besides what is out of range, it returns the errors of the device. It
// panics if the prior is not one, as gmm.FixedLogPosterior does.
func (k FixedLogPosterior) Run(p rev.Pass[FixedLogPosterior]) error {
	checkPrior(k.Prior)
	if k.Out == nil && p.G.Out == nil && p.T.Out == nil && p.GT.Out == nil {
		return nil
	}
	prior, err := fixedPriorOf(k.Prior, k.X.Cols, k.Alpha.N)
	if err != nil {
		return err
	}
	if k.Alpha.N == 0 {
		if k.X.Rows > 0 {
			return outOfRange("log density of point 0")
		}
		return nil // F is 0
	}
	w := begin(&k, &p)
	m := fixedMixture{pass: &w, k: &k, g: &p.G, t: &p.T, gt: &p.GT, prior: prior, n: k.X.Rows, d: k.X.Cols, comps: k.Alpha.N}
	m.run(p.Sign())
	return w.end()
}

func outOfRange(format string, args ...any) error {
	return fmt.Errorf("cuda: %s: %w", fmt.Sprintf(format, args...), fixed.ErrRange)
}

// A fixedPrior has the sign of a prior, or 0 if there is none, its M and γ², and the part of it that
// depends on no operand.
type fixedPrior struct {
	sign            int
	m, g2, constant fixed.Q43
}

func fixedPriorOf(p gmm.Prior, d, comps int) (f fixedPrior, err error) {
	if p.Gamma == 0 {
		return f, nil
	}
	f.sign = 1
	if p.Sign == gmm.ADBench {
		f.sign = -1
	}
	if f.m, err = fixed.FromIntChecked(p.M); err == nil {
		f.g2, err = fixed.FromFloat64Checked(p.Gamma * p.Gamma)
	}
	if err == nil {
		f.constant, err = fixed.FromFloat64Checked(float64(comps) * priorConstant(p, d))
	}
	if err != nil {
		return f, outOfRange("prior of γ = %v, M = %d", p.Gamma, p.M)
	}
	return f, nil
}

// A fixedMixture is a pass of FixedLogPosterior at work.
type fixedMixture struct {
	*pass
	k, g, t, gt *FixedLogPosterior
	prior       fixedPrior

	n, d, comps             int
	batch, batches          int
	parts                   int  // of the points of a batch, each with moments of its own
	tangent, second         bool // what the pass computes
	gradient, ofPoints      bool
	moments, dmoments       Memory[accumulator]
	still                   Memory[accumulator] // Q·(-μ̇), if points have no tangents
	components              Memory[component]
	report                  Memory[report]
	sums                    Memory[part]
	q, dq, mean, dmean      Memory[fixed.Q43]
	x, dx, rows, drows      Memory[fixed.Q43]
	rounded, roundedTangent Memory[fixed.Q43]
}

// What the kernels have in scratch memory, as in kernels/fixedmixture.h and kernels/fixedmixture.cu.
type (
	accumulator [2]uint64
	component   [18]uint64
	part        [6]uint64
	report      struct {
		code, index int64
		f, df       fixed.Q43
	}
)

// mixtureRun is the number of points of a part, if there are enough. Tests have smaller ones.
var mixtureRun = 1024

const (
	mixtureRoom = 1 << 25 // how many numbers the rows of a batch may be

	bytesRows, bytesCols = 16, 8 // of a tile of kernels/bytes.h
)

// run makes the pass.
func (m *fixedMixture) run(sign int) {
	g, t, gt := m.g, m.t, m.gt
	m.second = gt.Alpha.Data != nil || gt.Means.Data != nil || gt.Factors.Data != nil || gt.X.Data != nil
	m.ofPoints = g.X.Data != nil || gt.X.Data != nil
	m.gradient = (g.Out != nil || gt.Out != nil) &&
		(m.second || m.ofPoints || g.Alpha.Data != nil || g.Means.Data != nil || g.Factors.Data != nil)
	m.second = m.second && m.gradient
	m.tangent = m.second || t.Out != nil
	size := (1 + m.d) * m.comps
	m.batch = max(1, min(m.n, gmmBatch, mixtureRoom/size))
	m.batches = max(1, (m.n+m.batch-1)/m.batch)
	m.parts = min(gmmParts, (m.batch+mixtureRun-1)/mixtureRun)
	var a arena
	m.reserve(&a)
	a = arena{at: m.room(1, int(a.used))}
	if m.err != nil {
		return
	}
	m.reserve(&a)

	m.prepare()
	// The gradients of points are written on the way. First all points must be in range.
	for b := range m.batches {
		m.score(b)
		if m.gradient && !m.ofPoints {
			m.scale(b)
			m.addMoments(b)
		}
	}
	m.end()
	if m.err != nil {
		return
	}
	if m.gradient && m.ofPoints {
		for b := range m.batches {
			if m.batches > 1 {
				m.score(b)
			}
			m.scale(b)
			m.addMoments(b)
			m.addPoints(b, g.X, m.rows, m.q, nil, nil)
			if m.second {
				m.addPoints(b, gt.X, m.drows, m.q, m.rows, m.dq)
			}
		}
	}
	if m.gradient {
		m.addParameters()
	}
	addConstant(m.pass, Vector[fixed.Q43]{1, memoryOf(m.k.Out), 1}, sign, &m.report[0].f)
	addConstant(m.pass, Vector[fixed.Q43]{1, memoryOf(t.Out), 1}, sign, &m.report[0].df)
}

// memoryOf returns the memory of a number, if there is one.
func memoryOf[T any](p *T) Memory[T] {
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, 1)
}

// reserve takes scratch memory, first that of 16 bytes an element.
func (m *fixedMixture) reserve(a *arena) {
	size, batch := 1+m.d, m.batch
	m.components = take[component](a, m.comps)
	m.sums = take[part](a, m.batches*m.blocks())
	squares, rows := m.comps*m.d*m.d, m.comps*size*batch
	if m.gradient {
		m.moments = take[accumulator](a, m.parts*m.comps*size*size)
	}
	if m.second {
		m.dmoments = take[accumulator](a, m.parts*m.comps*size*size)
	}
	if m.tangent && m.t.X.Data == nil {
		m.still = take[accumulator](a, m.comps*m.d)
	}
	m.report = take[report](a, 1)
	m.q, m.mean = take[fixed.Q43](a, squares), take[fixed.Q43](a, m.comps*size)
	m.rows = take[fixed.Q43](a, rows)
	if m.tangent {
		m.dq, m.dmean = take[fixed.Q43](a, squares), take[fixed.Q43](a, m.comps*size)
		m.drows = take[fixed.Q43](a, rows)
	}
	if m.gradient {
		m.x = take[fixed.Q43](a, size*batch)
		m.rounded = take[fixed.Q43](a, m.comps*size*size)
	}
	if m.second {
		m.dx = take[fixed.Q43](a, size*batch)
		m.roundedTangent = take[fixed.Q43](a, m.comps*size*size)
	}
}

// blocks returns how many blocks weigh a batch.
func (m *fixedMixture) blocks() int { return vectorGrid(m.batch).blocks[0] }

// points returns the numbers of the points of a batch.
func (m *fixedMixture) points(batch int) (from, n int) {
	from = batch * m.batch
	return from, min(m.batch, m.n-from)
}

// start launches a kernel of kernels/fixedmixture.h or kernels/fixedmixture.cu.
func (m *fixedMixture) start(kernel string, g grid, params ...uint64) {
	m.launch(typed[fixed.Q43]("mixture"+kernel), g, params...)
}

// prepare computes what does not depend on the points.
func (m *fixedMixture) prepare() {
	k, t, comps, d := m.k, m.t, uint64(m.comps), uint64(m.d)
	alpha, inc := k.Alpha.params()
	dalpha, dinc := t.Alpha.params()
	m.start("Weights", oneBlock(vectorGrid(m.comps)), at(m.components), alpha, inc, dalpha, dinc, comps)
	threads := vectorGrid(m.d * m.d).threads
	m.start("Unpack", grid{[3]int{m.comps, 1, 1}, threads}, at(m.components), at(m.q), at(m.dq), at(m.mean), at(m.dmean), at(m.still),
		at(k.Factors.Data), uint64(k.Factors.Stride), at(t.Factors.Data), uint64(t.Factors.Stride),
		at(k.Means.Data), uint64(k.Means.Stride), at(t.Means.Data), uint64(t.Means.Stride), d)
}

// score computes the responsibilities of a batch, what its points add up to, and tangents.
func (m *fixedMixture) score(batch int) {
	from, n := m.points(batch)
	if n > 0 {
		x, dx := m.rowsOf(m.k.X, from), m.rowsOf(m.t.X, from)
		on := warpsGrid(m.comps * ((n + bytesCols - 1) / bytesCols))
		shape := []uint64{uint64(n), uint64(m.d), uint64(m.comps)}
		if m.tangent {
			m.multiply("TangentScore", on, append([]uint64{at(m.rows), at(m.drows), at(m.components), at(m.q), at(m.dq),
				at(x.Data), uint64(x.Stride), at(dx.Data), uint64(dx.Stride), at(m.mean), at(m.dmean), at(m.still)}, shape...)...)
		} else {
			m.multiply("Score", on, append([]uint64{at(m.rows), at(m.components), at(m.q), at(x.Data), uint64(x.Stride), at(m.mean)}, shape...)...)
		}
	}
	// A last batch with fewer blocks leaves parts of nothing.
	over := vectorGrid(m.batch)
	m.start("Weigh", over, at(m.sums[batch*m.blocks():]), at(m.rows), at(m.drows), pointer(m.g.Out), pointer(m.gt.Out),
		uint64(from), uint64(n), uint64(m.d), uint64(m.comps))
}

// warpsGrid returns the grid of a number of warps, four in a block.
func warpsGrid(n int) grid { return grid{[3]int{(n + 3) / 4, 1, 1}, [3]int{4 * warp, 1, 1}} }

// multiply starts a kernel that multiplies matrices, as fits the device.
func (m *fixedMixture) multiply(kernel string, g grid, params ...uint64) {
	if m.err == nil && m.dev.Properties().Capability >= 80 {
		kernel += "Ampere"
	}
	m.start(kernel, g, params...)
}

// rowsOf returns the rows of a matrix of points from one on.
func (m *fixedMixture) rowsOf(x General[fixed.Q43], from int) General[fixed.Q43] {
	if x.Data != nil {
		x.Data = x.Data[from*x.Stride:]
	}
	return x
}

// scale makes w and z of a batch.
func (m *fixedMixture) scale(batch int) {
	_, n := m.points(batch)
	drows := m.drows
	if !m.second {
		drows = nil
	}
	m.start("Scale", vectorGrid(m.comps*n), at(m.rows), at(drows), pointer(m.g.Out), uint64(n), uint64(m.d), uint64(m.comps))
}

// addMoments adds a batch to the moments.
func (m *fixedMixture) addMoments(batch int) {
	from, n := m.points(batch)
	coordinates := func(to Memory[fixed.Q43], unit fixed.Q43, x General[fixed.Q43]) {
		x = m.rowsOf(x, from)
		m.start("Coordinates", vectorGrid((1+m.d)*n), at(to), uint64(unit), at(x.Data), uint64(x.Stride), uint64(n), uint64(m.d))
	}
	side := m.d/bytesRows + 1 // of 1+D rows
	on := warpsGrid(m.comps * side * (side + 1))
	on.blocks[1] = m.parts
	begins, shape := bit(batch == 0), []uint64{uint64(n), uint64(m.d), uint64(m.comps)}
	coordinates(m.x, fixed.One, m.k.X)
	m.multiply("Moments", on, append([]uint64{at(m.moments), begins, at(m.rows), at(m.x), at(m.mean)}, shape...)...)
	if m.second {
		coordinates(m.dx, 0, m.t.X)
		m.multiply("TangentMoments", on, append([]uint64{at(m.dmoments), begins, at(m.drows), at(m.x), at(m.mean), at(m.rows), at(m.dx), at(m.dmean)}, shape...)...)
	}
}

// addPoints subtracts Σ_k Q_kᵀ·z + Q̇_kᵀ·u from cotangents of the points of a batch, if they are
// there.
func (m *fixedMixture) addPoints(batch int, to General[fixed.Q43], z, q, u, dq Memory[fixed.Q43]) {
	from, n := m.points(batch)
	if to.Data == nil || n == 0 {
		return
	}
	m.start("Points", vectorGrid(m.d*n), at(to.Data[from*to.Stride:]), uint64(to.Stride), at(z), at(q), at(u), at(dq), uint64(n), uint64(m.d), uint64(m.comps))
}

// end adds up F and its tangent, and waits for what is out of range.
func (m *fixedMixture) end() {
	p := &m.prior
	m.start("End", blockOf(len(m.sums)), at(m.report), at(m.sums), uint64(len(m.sums)), at(m.components),
		uint64(m.comps), uint64(m.d), uint64(p.sign), uint64(p.m), uint64(p.g2), uint64(p.constant))
	var r [1]report
	get(m.pass, r[:], m.report.address())
	if m.err == nil {
		m.err = m.failure(r[0])
	}
}

// failure returns the error of a report. The codes are those of kernels/fixedmixture.cu.
func (m *fixedMixture) failure(r report) error {
	i, d := int(r.index), max(1, m.d)
	switch r.code {
	case 0:
		return nil
	case 1:
		return outOfRange("exponential of Factors[%d,%d]", i/d, i%d)
	case 2:
		return outOfRange("sum of %d weights", m.comps)
	case 3:
		return outOfRange("prior of entry (%d,%d) of Q_%d", i/d%d, i%d, i/(d*d))
	case 4:
		return outOfRange("prior of Q_%d", i)
	case 5:
		return outOfRange("prior")
	case 6:
		return outOfRange("log density of point %d", i)
	case 7:
		return outOfRange("log posterior")
	}
	panic(fmt.Sprintf("cuda: a report has code %d", r.code))
}

// addParameters adds to the cotangents of the parameters, and to their tangents.
func (m *fixedMixture) addParameters() {
	size, comps, d := uint64(1+m.d), uint64(m.comps), uint64(m.d)
	round := func(to Memory[fixed.Q43], from Memory[accumulator]) {
		m.start("Round", vectorGrid(len(to)), at(to), at(from), uint64(m.parts), size, comps)
	}
	round(m.rounded, m.moments)
	var gt FixedLogPosterior
	var dq Memory[fixed.Q43]
	if m.second {
		round(m.roundedTangent, m.dmoments)
		gt, dq = *m.gt, m.dq
	}
	params := func(g *FixedLogPosterior) []uint64 {
		alpha, inc := g.Alpha.params()
		return []uint64{alpha, inc, at(g.Means.Data), uint64(g.Means.Stride), at(g.Factors.Data), uint64(g.Factors.Stride)}
	}
	all := append(params(m.g), params(&gt)...)
	all = append(all, pointer(m.g.Out), pointer(m.gt.Out), at(m.components), at(m.q), at(dq), at(m.rounded), at(m.roundedTangent),
		d, uint64(m.n), uint64(m.prior.sign), uint64(m.prior.m), uint64(m.prior.g2))
	m.start("Parameters", grid{[3]int{m.comps, 1, 1}, vectorGrid(m.d * m.d).threads}, all...)
}
