package cuda

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"revnum/internal/logs"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// LogPosterior is the kernel
//
//	Out += F
//
// of gmm.LogPosterior, where F is the log posterior of a Gaussian mixture with K components, given N
// points of dimension D:
//
//	F    = Σ_i L_i - N·logsumexp(α) - N·D/2·log 2π ± prior,  L_i = logsumexp_k β_ik
//	β_ik = α_k + Σ_j q_kj - ½‖Q_k·c_ik‖²,  c_ik = x_i - μ_k
//
// where the lower triangular Q_k has exp(q_kj) on its diagonal and l_kij below. With r_ik =
// exp(β_ik - L_i), w_ik = F̄·r_ik and the moments
//
//	W_k = Σ_i w_ik,  m_k = Σ_i w_ik·c_ik,  M_k = Σ_i w_ik·c_ik·c_ikᵀ
//
// the derivatives are
//
//	ᾱ_k += W_k - N·F̄·softmax(α)_k,  μ̄_k += Q_kᵀ·Q_k·m_k,  x̄_i -= Σ_k w_ik·Q_kᵀ·Q_k·c_ik
//	q̄_kj += W_k - (Q_k·M_k)_jj·exp(q_kj) ± F̄·(M - γ²·exp(2q_kj))
//	l̄_kij -= (Q_k·M_k)_ij ± F̄·γ²·l_kij
//	Ḟ += ∇F·(α̇, μ̇, q̇, l̇, ẋ)
//
// and, of second order, those of the gradient by the product rule, with ċ_ik = ẋ_i - μ̇_k and
//
//	β̇_ik = α̇_k + Σ_j q̇_kj - (Q_k·c_ik)ᵀ·(Q̇_k·c_ik + Q_k·ċ_ik)
//	ẇ_ik = w_ik·(β̇_ik - Σ_l r_il·β̇_il) + ġF·r_ik.
//
// The documentation of gmm.LogPosterior has the prior and its parameters M and γ. Without components
// the F of points is NaN, as it is there.
//
// The points come in batches of 2¹⁷. For each, the quadratic forms of 64 points and a
// component are a product of matrices in the shared memory of a block. A block takes the exponentials
// of 32 points at a time. The gradient of the parameters is made of the moments of the
// components, which are products of matrices too. Parts of the points have moments of their
// own, and the parts are added in their order. Scratch memory is that of the responsibilities
// of a batch, and of up to 8 moments per component.
//
// In up to 64 dimensions, these products over float64 run on the tensor cores of cards of compute
// capability 8.0 and later. There, as for [MatMul], NVIDIA does not say in which order four terms
// are added up, and the bits may differ from those of other cards. Moments are then up to 3168 of all components together, or 2112 for
// more than 32 dimensions, 70 MB for 64; with more components, there is one for each.
//
// The rounding errors are those of gmm.LogPosterior: F is summed in float64, the gradient in
// T. Tangent computes the gradient in scratch memory, and its product with the direction.
// AdjointTangent computes the tangents of the gradient by the same kernels over numbers with
// tangents. It takes scratch memory for the operands and the gradient, two numbers each.
type LogPosterior[T rev.Float] struct {
	Out     *T         `rev:"acc"`
	Alpha   Vector[T]  `rev:"in" shape:"K"`
	Means   General[T] `rev:"in" shape:"K,D"`
	Factors General[T] `rev:"in" shape:"K,D*(D+1)/2"`
	X       General[T] `rev:"in" shape:"N,D"`

	Prior gmm.Prior
}

// Run implements rev.Kernel. It returns the errors of the device. It panics if the prior is
// not one, as gmm.LogPosterior does.
func (k LogPosterior[T]) Run(p rev.Pass[LogPosterior[T]]) error {
	checkPrior(k.Prior)
	w := begin(&k, &p)
	if k.Alpha.N == 0 || k.X.Cols == 0 {
		if k.Alpha.N == 0 && k.X.Rows > 0 && k.Out != nil {
			addPosterior(&w, k.Out, p.Sign(), nil, nil, Vector[T]{}, 0, math.NaN()) // the logarithms of no density
		}
		return w.end()
	}
	m := mixture[T]{pass: &w, k: &k, n: k.X.Rows, d: k.X.Cols, comps: k.Alpha.N, about: k.Means}
	m.cut()
	m.second(&p.G, &p.T, &p.GT, true) // lack of memory is an error before anything is written
	m.run(&p)
	m.second(&p.G, &p.T, &p.GT, false)
	return w.end()
}

// gmmBatch is the number of points in a batch. Tests have smaller ones.
var gmmBatch = 1 << 17

const (
	gmmTile  = 64 // as in kernels/mixture.cu
	gmmRun   = 16
	gmmParts = 8

	tensorSide  = 64  // the most dimensions of kernels/mixture_sm80.cu
	tensorWarps = 4   // warps of a block there
	tensorCard  = 132 // multiprocessors of a card that these kernels fill
)

// tensorBlocks has, by the side of points in shared memory, how many blocks a multiprocessor gets: those that are resident
// there at once, or twice as many, so that more of the places are taken whatever the number of components.
var tensorBlocks = map[int]int{16: 6, 32: 2 * 3, 64: 2 * 2}

// A mixture is a pass of LogPosterior at work.
type mixture[T rev.Float] struct {
	*pass
	k           *LogPosterior[T]
	n, d, comps int
	about       General[T] // what the moments are about
	batches     int
	parts       int  // of the points of a batch, each with moments of its own
	rated       bool // whether numbers have tangents beside them, and take the room of two
	side        int  // of points in shared memory, for the tensor cores, or 0

	q, bias, r, moments, p, scratch Memory[T]
	prior, sums                     Memory[float64]
}

// An arena is scratch memory of a pass. Without memory it only counts the bytes.
type arena struct{ at, used uintptr }

// take returns memory for n numbers.
func take[T any](a *arena, n int) (m Memory[T]) {
	if a.at != 0 {
		m = memoryAt[T](a.at+a.used, n)
	}
	a.used += (uintptr(n)*unsafe.Sizeof(*new(T)) + 7) / 8 * 8
	return m
}

// cut sets how the points are cut, which depends only on the shape, and on whether there are tensor
// cores for T.
func (m *mixture[T]) cut() {
	m.batches = (m.n + gmmBatch - 1) / gmmBatch
	most := gmmParts
	if isWide[T]() && !m.rated && m.dev != nil && m.dev.Properties().Capability >= 80 && m.d <= tensorSide {
		for m.side = 16; m.side < m.d; {
			m.side *= 2
		}
		most = max(1, tensorCard*tensorBlocks[m.side]/m.perComponent(1).blocks[0])
	}
	m.parts = min(most, max(1, (min(m.n, gmmBatch)+8*gmmRun-1)/(8*gmmRun)))
}

// isWide reports whether T is float64.
func isWide[T rev.Real]() bool {
	_, ok := any(*new(T)).(float64)
	return ok
}

// perComponent returns the grid that gives a warp to each component and part. Those of a block have
// the same part, and copy its points together. With fewer than four components the others of its warps only copy.
func (m *mixture[T]) perComponent(parts int) grid {
	return grid{[3]int{(m.comps + tensorWarps - 1) / tensorWarps, parts, 1}, [3]int{tensorWarps * warp, 1, 1}}
}

// weighGrid returns the grid that gives a block to 32 of n points.
func weighGrid(n int) grid {
	return grid{[3]int{min((n+warp-1)/warp, bounds.blocks), 1, 1}, [3]int{maxThreads, 1, 1}}
}

// run makes the pass.
func (m *mixture[T]) run(p *rev.Pass[LogPosterior[T]]) {
	k, g, t := m.k, &p.G, &p.T
	if k.Out == nil && g.Out == nil && t.Out == nil {
		return
	}
	tangent := t.Out != nil && (t.Alpha.Data != nil || t.Means.Data != nil || t.Factors.Data != nil || t.X.Data != nil)
	gradient := g.Out != nil && (g.Alpha.Data != nil || g.Means.Data != nil || g.Factors.Data != nil || g.X.Data != nil)

	var direction LogPosterior[T] // the gradient, for the tangent
	var a arena
	for range 2 { // count, then take
		m.reserve(&a, gradient || tangent, g.X.Data != nil || t.X.Data != nil)
		if tangent {
			direction = m.gradientLike(&a, t)
		}
		if a.at == 0 {
			a = arena{at: m.room(1, int(a.used))}
		}
		if m.err != nil {
			return
		}
	}
	if gradient || !tangent {
		m.sweep(gradient, g)
	}
	if gradient {
		m.addParameters(g)
	}
	if tangent {
		m.sweep(true, &direction)
		m.addParameters(&direction)
	}
	if k.Out != nil {
		addPosterior(m.pass, k.Out, p.Sign(), m.sums, m.prior, k.Alpha, m.n, m.constant())
	}
	if tangent {
		m.addInner(t.Out, p.Sign(), &direction, t)
	}
}

// addPosterior adds to out the log posterior of n points, from the sums and priors and what depends
// on no parameter.
func addPosterior[T rev.Float](w *pass, out *T, sign int, sums, prior Memory[float64], alpha Vector[T], n int, constant float64) {
	data, inc := alpha.params()
	w.launch(typed[T]("addPosterior"), blockOf(maxThreads), pointer(out), uint64(sign),
		at(sums), uint64(len(sums)), at(prior), data, inc, uint64(alpha.N), math.Float64bits(float64(n)), math.Float64bits(constant))
}

// second adds the tangents of the gradient to gt. Or it only makes room for that.
func (m *mixture[T]) second(g, t, gt *LogPosterior[T], room bool) {
	if g.Out == nil && gt.Out == nil || gt.Alpha.Data == nil && gt.Means.Data == nil && gt.Factors.Data == nil && gt.X.Data == nil {
		return
	}
	k := LogPosterior[T]{Prior: m.k.Prior} // with the tangents
	var sum LogPosterior[T]                // the gradient with its tangents
	r := mixture[T]{pass: m.pass, k: &k, n: m.n, d: m.d, comps: m.comps, rated: true}
	r.cut()
	var a arena
	for range 2 { // count, then take
		r.reserve(&a, true, gt.X.Data != nil)
		k.Alpha = Vector[T]{N: m.comps, Data: take[T](&a, 2*m.comps), Inc: 1}
		k.Means, k.Factors, k.X = ratedLike(&a, m.k.Means, true), ratedLike(&a, m.k.Factors, true), ratedLike(&a, m.k.X, true)
		cotangent := take[T](&a, 2)
		if gt.Alpha.Data != nil {
			sum.Alpha = Vector[T]{N: m.comps, Data: take[T](&a, 2*m.comps), Inc: 1}
		}
		sum.Means, sum.Factors, sum.X = ratedLike(&a, m.k.Means, gt.Means.Data != nil), ratedLike(&a, m.k.Factors, gt.Factors.Data != nil), ratedLike(&a, m.k.X, gt.X.Data != nil)
		if a.at == 0 {
			a = arena{at: m.room(1, int(a.used))}
			if room {
				return
			}
		}
		if m.err != nil {
			return
		}
		sum.Out = (*T)(unsafe.SliceData(cotangent))
	}
	pair := func(to Memory[T], rows, cols int, x Memory[T], down int, t Memory[T], downT int) {
		m.launch(typed[T]("pair"), vectorGrid(rows*cols), uint64(to.address()), uint64(x.address()), uint64(down), uint64(t.address()), uint64(downT), uint64(rows), uint64(cols))
	}
	pairs := func(to, x, t General[T]) { pair(to.Data, x.Rows, x.Cols, x.Data, x.Stride, t.Data, t.Stride) }
	pair(k.Alpha.Data, m.comps, 1, m.k.Alpha.Data, m.k.Alpha.Inc, t.Alpha.Data, t.Alpha.Inc)
	pairs(k.Means, m.k.Means, t.Means)
	pairs(k.Factors, m.k.Factors, t.Factors)
	pairs(k.X, m.k.X, t.X)
	m.launch(typed[T]("pair"), vectorGrid(1), pointer(sum.Out), pointer(g.Out), 1, pointer(gt.Out), 1, 1, 1)
	for _, data := range []Memory[T]{sum.Alpha.Data, sum.Means.Data, sum.Factors.Data, sum.X.Data} {
		r.clear(data)
	}
	r.about = k.Means
	r.sweep(true, &sum)
	r.addParameters(&sum)
	add := func(to General[T], from Memory[T]) {
		if to.Data != nil {
			m.launch(typed[T]("addTangents"), vectorGrid(to.Rows*to.Cols), uint64(to.Data.address()), uint64(to.Stride), uint64(from.address()), uint64(to.Rows), uint64(to.Cols))
		}
	}
	add(General[T]{Rows: m.comps, Cols: 1, Data: gt.Alpha.Data, Stride: gt.Alpha.Inc}, sum.Alpha.Data)
	add(gt.Means, sum.Means.Data)
	add(gt.Factors, sum.Factors.Data)
	add(gt.X, sum.X.Data)
}

// ratedLike returns memory for a matrix whose numbers have tangents, if it is wanted.
func ratedLike[T rev.Float](a *arena, like General[T], wanted bool) General[T] {
	if !wanted {
		return General[T]{}
	}
	return General[T]{Rows: like.Rows, Cols: like.Cols, Stride: like.Cols, Data: take[T](a, 2*like.Rows*like.Cols)}
}

// width returns how many numbers of type T a number takes.
func (m *mixture[T]) width() int {
	if m.rated {
		return 2
	}
	return 1
}

// name returns the name of a kernel over the numbers.
func (m *mixture[T]) name(kernel string) string {
	if m.rated {
		kernel += "Rated"
	}
	return typed[T](kernel)
}

// tensor returns the name of a kernel of kernels/mixture_sm80.cu, or of its copy for Hopper.
func (m *mixture[T]) tensor(kernel string) string {
	kernel += strconv.Itoa(m.side)
	if m.dev != nil && m.dev.Properties().Capability >= 90 {
		kernel += "Hopper"
	}
	return typed[T](kernel)
}

// reserve takes scratch memory.
func (m *mixture[T]) reserve(a *arena, gradient, points bool) {
	d, comps, each := m.d, m.comps, m.width()
	m.prior = take[float64](a, comps)
	m.sums = take[float64](a, m.batches*weighGrid(min(m.n, gmmBatch)).blocks[0])
	m.q, m.bias = take[T](a, each*comps*d*d), take[T](a, each*comps)
	m.r = take[T](a, each*comps*min(m.n, gmmBatch))
	if gradient {
		m.moments = take[T](a, each*m.parts*comps*(1+d+d*d))
		m.scratch = take[T](a, each*comps*d)
	}
	if points {
		m.p = take[T](a, each*comps*d*d)
	}
}

// gradientLike returns memory for the gradient by the operands that t has.
func (m *mixture[T]) gradientLike(a *arena, t *LogPosterior[T]) (g LogPosterior[T]) {
	matrix := func(like General[T]) General[T] {
		if like.Data == nil {
			return General[T]{}
		}
		return General[T]{Rows: like.Rows, Cols: like.Cols, Stride: like.Cols, Data: take[T](a, like.Rows*like.Cols)}
	}
	if t.Alpha.Data != nil {
		g.Alpha = Vector[T]{N: t.Alpha.N, Data: take[T](a, t.Alpha.N), Inc: 1}
	}
	g.Means, g.Factors, g.X = matrix(t.Means), matrix(t.Factors), matrix(t.X)
	return g
}

// sweep unpacks the factors and goes through the points.
func (m *mixture[T]) sweep(gradient bool, g *LogPosterior[T]) {
	k, d := m.k, uint64(m.d)
	sign, shape, scale := m.priorOf()
	alpha, inc := k.Alpha.params()
	each := grid{[3]int{m.comps, 1, 1}, [3]int{maxThreads, 1, 1}}
	m.launch(m.name("unpack"), each, uint64(m.q.address()), uint64(m.bias.address()), uint64(m.prior.address()),
		alpha, inc, uint64(k.Factors.Data.address()), uint64(k.Factors.Stride), d, math.Float64bits(sign*shape), math.Float64bits(sign*scale))
	if g.X.Data != nil && gradient {
		if g.Out == nil { // it is in scratch memory
			m.clear(g.X.Data)
		}
		m.launch(m.name("squareQ"), each, uint64(m.p.address()), uint64(m.q.address()), d)
	}
	m.overPoints(gradient, g)
}

// overPoints computes, for the present Q, bias and means, the sums of the logarithms, and, if
// a gradient is wanted, the moments and the cotangents of the points in g, times g.Out.
func (m *mixture[T]) overPoints(gradient bool, g *LogPosterior[T]) {
	k, d, comps := m.k, uint64(m.d), uint64(m.comps)
	threads := [3]int{maxThreads, 1, 1}
	m.clear(m.moments)
	sums := m.sums
	for lo := 0; lo < m.n; lo += gmmBatch {
		n := min(gmmBatch, m.n-lo)
		x, r := uint64(k.X.Data[m.width()*lo*k.X.Stride:].address()), uint64(m.r.address())
		means, down := uint64(k.Means.Data.address()), uint64(k.Means.Stride)
		if m.side > 0 {
			m.launch(m.tensor("tensorScore"), m.perComponent(m.parts),
				r, x, uint64(k.X.Stride), uint64(n), d, at(m.q), at(m.bias), means, down, comps)
		} else {
			m.launch(m.name("score"), grid{[3]int{m.comps, (n + gmmTile - 1) / gmmTile, 1}, threads},
				r, x, uint64(k.X.Stride), uint64(n), d, uint64(m.q.address()), uint64(m.bias.address()), means, down)
		}
		over := weighGrid(n)
		m.launch(m.name("weigh"), over, uint64(sums.address()), r, uint64(n), comps, bit(gradient))
		sums = sums[over.blocks[0]:]
		if !gradient {
			continue
		}
		about, downAbout := at(m.about.Data), uint64(m.about.Stride)
		if m.side > 0 {
			m.launch(m.tensor("tensorMoments"), m.perComponent(m.parts),
				at(m.moments), r, x, uint64(k.X.Stride), uint64(n), d, comps, about, downAbout)
		} else {
			tiles := (m.d + gmmTile - 1) / gmmTile
			m.launch(m.name("addMoments"), grid{[3]int{m.comps, tiles * (tiles + 1) / 2, m.parts}, threads},
				at(m.moments), r, x, uint64(k.X.Stride), uint64(n), d, comps, about, downAbout)
		}
		if g.X.Data != nil {
			m.launch(m.name("addPoints"), vectorGrid(n*m.d), uint64(g.X.Data[m.width()*lo*g.X.Stride:].address()), uint64(g.X.Stride), pointer(g.Out),
				r, x, uint64(k.X.Stride), uint64(n), d, comps, uint64(m.p.address()), means, down)
		}
	}
	m.sums = m.sums[:len(m.sums)-len(sums)]
}

// join leaves the moments of all points in the first part.
func (m *mixture[T]) join() {
	size := len(m.moments) / m.parts / m.width()
	m.launch(m.name("joinMoments"), vectorGrid(size), uint64(m.moments.address()), uint64(size), uint64(m.parts))
}

// addParameters adds to the cotangents of the parameters in g.
func (m *mixture[T]) addParameters(g *LogPosterior[T]) {
	if g.Out == nil { // they are in scratch memory
		m.clear(g.Alpha.Data)
		m.clear(g.Means.Data)
		m.clear(g.Factors.Data)
	}
	m.join()
	sign, shape, scale := m.priorOf()
	alpha, inc := m.k.Alpha.params()
	galpha, ginc := g.Alpha.params()
	m.launch(m.name("addParameters"), grid{[3]int{m.comps, 1, 1}, [3]int{maxThreads, 1, 1}},
		galpha, ginc, uint64(g.Means.Data.address()), uint64(g.Means.Stride), uint64(g.Factors.Data.address()), uint64(g.Factors.Stride),
		pointer(g.Out), uint64(m.moments.address()), uint64(m.q.address()), uint64(m.scratch.address()), alpha, inc,
		uint64(m.comps), uint64(m.d), math.Float64bits(float64(m.n)), math.Float64bits(sign*shape), math.Float64bits(sign*scale))
}

// addInner adds to out the inner product of the gradient g and the direction t.
func (m *mixture[T]) addInner(out *T, sign int, g, t *LogPosterior[T]) {
	addDot(m.pass, out, sign, g.Alpha, t.Alpha)
	for _, pair := range [][2]General[T]{{g.Means, t.Means}, {g.Factors, t.Factors}, {g.X, t.X}} {
		a, b := pair[0], pair[1]
		if b.Data == nil || b.Rows == 0 {
			continue
		}
		if b.Stride == b.Cols {
			all := a.Rows * a.Cols
			addDot(m.pass, out, sign, Vector[T]{all, a.Data, 1}, Vector[T]{all, b.Data, 1})
			continue
		}
		for i := range a.Rows {
			addDot(m.pass, out, sign, Vector[T]{a.Cols, a.Data[i*a.Stride:], 1}, Vector[T]{b.Cols, b.Data[i*b.Stride:], 1})
		}
	}
}

func (m *mixture[T]) clear(to Memory[T]) { zero(m.pass, to) }

// priorOf returns the sign of the prior, or 0 if there is none, its M and γ².
func (m *mixture[T]) priorOf() (sign, shape, scale float64) {
	p := m.k.Prior
	switch {
	case p.Gamma == 0:
		return 0, 0, 0
	case p.Sign == gmm.ADBench:
		sign = -1
	default:
		sign = 1
	}
	return sign, float64(p.M), p.Gamma * p.Gamma
}

// constant returns the part of the log posterior that depends on no parameter.
func (m *mixture[T]) constant() float64 {
	f := -float64(float64(m.n) * float64(m.d) / 2 * math.Log(2*math.Pi))
	sign, _, _ := m.priorOf()
	if sign == 0 {
		return f
	}
	return f + float64(sign*float64(m.comps)*priorConstant(m.k.Prior, m.d))
}

// checkPrior panics if a prior is not one.
func checkPrior(p gmm.Prior) {
	if p.M < 0 || !(p.Gamma >= 0) || math.IsInf(p.Gamma, 1) {
		panic(&rev.OperandError{Kernel: "gmm.Prior", Operand: "M or Gamma", Reason: fmt.Sprintf("is wrong: they are %v and %v, want finite numbers of at least 0", p.M, p.Gamma), Err: errors.ErrUnsupported})
	}
}

// priorConstant returns the part of the log prior of a component that depends on no parameter.
func priorConstant(p gmm.Prior, dim int) float64 {
	d := float64(dim)
	nu := d + float64(p.M) + 1
	logGamma := float64(d * (d - 1) / 4 * math.Log(math.Pi))
	for j := range dim {
		lg, _ := math.Lgamma((nu - float64(j)) / 2)
		logGamma += lg
	}
	return float64(nu*d*(logs.Log(p.Gamma)-math.Ln2/2)) - logGamma
}
