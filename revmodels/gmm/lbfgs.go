package gmm

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"revnum/internal/logs"
	"revnum/internal/objective"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
)

// localCoordinates are coordinates u of the parameters around x in which the Hessian of -F at u =
// 0 is about the identity. It would be the identity if every point certainly belonged
// to one component, and the component had the moments of its points. With W_k =
// N·softmax(α)_k and M of the prior,
//
//	α_k = α_k(x) + a_k/√W_k
//	μ_k = μ_k(x) + Q_k(x)⁻¹·m_k/√W_k
//	q_k = q_k(x) + diag(E_k)
//	Q_k = Q_k(x) + E_k·Q_k(x) below the diagonal,
//
// where E_k is lower triangular, with elements e_ij/√(W_k+M), and e_jj/√(2(W_k+M)) on
// its diagonal. The vector u holds a, m and e in the order in which x holds α, μ and
// the factors. An affine map of the data changes x, but not u. L-BFGS is therefore
// independent of units and correlations of the columns.
type localCoordinates struct {
	k, d int
	x    []float64
	w    []float64 // √W
	wm   []float64 // √(W+M)
	q, l []float64 // of each component: Q and its inverse
	e, s []float64 // scratch, d×d
}

// set puts the origin at x.
func (c *localCoordinates) set(x []float64, m *Model[float64]) {
	c.k, c.d = m.K, m.X.Cols
	c.x = append(c.x[:0], x...)
	c.w = append(c.w[:0], x[:c.k]...)
	softmax(c.w)
	c.wm = workspace.Grow(c.wm, c.k)
	dd := c.d * c.d
	c.q, c.l = workspace.Grow(c.q, c.k*dd), workspace.Grow(c.l, c.k*dd)
	c.e, c.s = workspace.Grow(c.e, dd), workspace.Grow(c.s, dd)
	p := viewParams(c.x, c.k, c.d)
	for k := range c.k {
		w := max(float64(m.X.Rows)*c.w[k], 1)
		c.w[k], c.wm[k] = math.Sqrt(w), math.Sqrt(w+float64(m.Prior.M))
		q, l := c.q[k*dd:(k+1)*dd], c.l[k*dd:(k+1)*dd]
		unpackFactor(q, p.Factors.Row(k), c.d)
		copy(l, q)
		invertLower(l, c.d)
	}
}

// params writes the parameters at u to x.
func (c *localCoordinates) params(x, u []float64) {
	copy(x, c.x)
	d := c.d
	px, pu := viewParams(x, c.k, d), viewParams(u, c.k, d)
	for k := range c.k {
		q, l := c.q[k*d*d:(k+1)*d*d], c.l[k*d*d:(k+1)*d*d]
		px.Alpha.Data[k] += pu.Alpha.Data[k] / c.w[k]
		mean, m := px.Means.Row(k), pu.Means.Row(k)
		row, e := px.Factors.Row(k), pu.Factors.Row(k)
		for i := range d {
			mean[i] += vec.Dot(l[i*d:i*d+i+1], m[:i+1]) / c.w[k]
			row[i] += e[i] / (math.Sqrt2 * c.wm[k])
		}
		unpackLower(c.e, e, d)
		for at, ij := range below(d) {
			i, j := ij/d, ij%d
			s := float64(c.e[i*d+i] / math.Sqrt2 * q[ij])
			for l := j; l < i; l++ {
				s += float64(c.e[i*d+l] * q[l*d+j])
			}
			row[at] += s / c.wm[k]
		}
	}
}

// gradient writes the gradient with respect to u to gu, for the gradient g with respect
// to the parameters. It is the transpose of params.
func (c *localCoordinates) gradient(gu, g []float64) {
	d := c.d
	pu, p := viewParams(gu, c.k, d), viewParams(g, c.k, d)
	for k := range c.k {
		q, l := c.q[k*d*d:(k+1)*d*d], c.l[k*d*d:(k+1)*d*d]
		pu.Alpha.Data[k] = p.Alpha.Data[k] / c.w[k]
		m, mean := pu.Means.Row(k), p.Means.Row(k)
		e, row := pu.Factors.Row(k), p.Factors.Row(k)
		clear(m)
		for i := range d {
			vec.Axpy(mean[i]/c.w[k], l[i*d:i*d+i+1], m[:i+1])
		}
		unpackLower(c.s, row, d)
		for i := range d {
			e[i] = (row[i] + vec.Dot(c.s[i*d:i*d+i], q[i*d:i*d+i])) / (math.Sqrt2 * c.wm[k])
		}
		for at, il := range below(d) {
			i, l := il/d, il%d
			e[at] = vec.Dot(c.s[i*d:i*d+l+1], q[l*d:l*d+l+1]) / c.wm[k]
		}
	}
}

// polisher is the state of a polish.
type polisher struct {
	ctx     context.Context
	fit     *fit
	model   *Model[float64]
	r       *Start
	maxIter int
	x, grad []float64        // parameters, gradient of -F there
	floors  []float64        // of each component, RegCovar·W_k
	local   localCoordinates // coordinates around x
}

// funcGrad returns -F at x, and stores its gradient in grad if that is not nil. F is the
// log posterior less ½·Σ_k ρ·W_k·‖Q_k‖², where W_k is the weight of component k at p.x,
// not at x. Its maximum is where steps of EM end that add ρ to the diagonals of
// covariances: a step for constant W_k sets Σ_k to A_k/W_k + ρ·I.
func (p *polisher) funcGrad(grad, x []float64) float64 {
	value := p.fit.funcGrad(grad, x, p.model.Prior) + p.floor(x)
	if grad == nil {
		return value
	}
	d := p.model.X.Cols
	at, g := viewParams(x, p.model.K, d), viewParams(grad, p.model.K, d)
	for c, floor := range p.floors {
		factor, row := at.Factors.Row(c), g.Factors.Row(c)
		for j := range d {
			row[j] += float64(floor * math.Exp(2*factor[j]))
		}
		vec.Axpy(floor, factor[d:], row[d:])
	}
	return value
}

// floor returns ½·Σ_k ρ·W_k·‖Q_k‖² at x.
func (p *polisher) floor(x []float64) (sum float64) {
	d := p.model.X.Cols
	factors := viewParams(x, p.model.K, d).Factors
	for c, floor := range p.floors {
		sum += float64(floor / 2 * precision(factors.Row(c), d))
	}
	return sum
}

// precision returns ‖Q‖² for a row of Factors: the trace of Σ⁻¹.
func precision(factor []float64, d int) float64 {
	sum := vec.SumSquares(factor[d:])
	for _, v := range factor[:d] {
		sum += math.Exp(2 * v)
	}
	return sum
}

// polish continues m to a maximum of the log posterior, by rounds of L-BFGS with a step
// of EM between them. It reports the result in r. If RegCovar is large and components
// overlap, that maximum may have fewer components than m. polish then returns m.
func (f *fit) polish(ctx context.Context, m *Mixture, r *Start) *Mixture {
	begin, before := time.Now(), *r
	defer func() { r.Duration += time.Since(begin) }()
	p := &polisher{
		ctx: ctx, fit: f, model: f.model, r: r, maxIter: r.Iterations + f.maxIter,
		x: m.Params(), grad: make([]float64, f.model.Dim()), floors: make([]float64, f.model.K),
	}
	u := make([]float64, len(p.x))
	for c, w := range m.weights {
		p.x[c] = logs.Log(max(w, minWeight))
	}
	start := slices.Clone(p.x)
	at := func() bool {
		copy(p.floors, p.x)
		softmax(p.floors)
		vec.ScaleTo(p.floors, f.reg*f.em.total, p.floors)
		posterior := -p.funcGrad(p.grad, p.x)
		p.local.set(p.x, f.model)
		p.local.gradient(u, p.grad)
		return p.converged(posterior, u) || r.Iterations >= p.maxIter || ctx.Err() != nil || f.em.err != nil
	}
	for !at() {
		p.round()
		if at() {
			break
		}
		next, err := FromParams(f.model.K, f.model.X.Cols, p.x)
		if err != nil {
			break
		}
		if f.em.start(next) != nil {
			break
		}
		f.em.expect(true)
		if f.em.maximise() != nil {
			break
		}
		if next, err = f.em.mixture(); err != nil {
			break
		}
		p.x = next.Params()
		r.Iterations++
		r.Polish++
		r.History = append(r.History, -f.funcGrad(nil, p.x, f.model.Prior))
	}
	polished, err := FromParams(f.model.K, f.model.X.Cols, p.x)
	if err != nil {
		return m
	}
	if !(p.funcGrad(nil, polished.params) < p.funcGrad(nil, start)) {
		return m // m was at the maximum, up to rounding
	}
	for c, w := range m.weights {
		if n := f.em.total; f.reg > 0 && polished.weights[c]*n < 1 && w*n >= 1 {
			*r = before
			return m
		}
	}
	r.LogPosterior = -f.funcGrad(nil, polished.params, f.model.Prior)
	r.LogLikelihood = -f.funcGrad(nil, polished.params, Prior{})
	r.Collapsed = f.collapsed(polished)
	return polished
}

// converged sets r.Gain, and r.Converged if the gain is small enough. In local
// coordinates the Hessian of -F is about the identity, so a Newton step would gain half
// the square of the gradient.
func (p *polisher) converged(posterior float64, grad []float64) bool {
	p.r.Gain = vec.SumSquares(grad) / 2
	p.r.Converged = p.r.Gain <= max(1e-8, 0x1p-50*math.Abs(posterior))
	return p.r.Converged
}

// round makes some iterations of L-BFGS from p.x, in local coordinates around it.
func (p *polisher) round() {
	// Far from their origin the coordinates no longer fit, but each round has to learn
	// the Hessian again.
	const iterations = 40
	size := len(p.x)
	x, grad, last := make([]float64, size), make([]float64, size), make([]float64, size)
	last[0] = math.NaN() // grad has not been computed anywhere
	value := func(u []float64) float64 {
		copy(last, u)
		p.local.params(x, u)
		v := p.funcGrad(grad, x)
		if math.IsNaN(v) {
			return math.Inf(1) // far outside: the line search returns
		}
		return v
	}
	problem := optimize.Problem{
		Func: value,
		Grad: func(gu, u []float64) {
			if !floats.Equal(u, last) { // otherwise Func has computed it
				value(u)
			}
			p.local.gradient(gu, grad)
		},
	}
	started := false
	settings := &optimize.Settings{
		MajorIterations: min(iterations, p.maxIter-p.r.Iterations) + 1, // the start counts as one
		Converger: objective.Converger(func(loc *optimize.Location) optimize.Status {
			if !started { // loc is the start
				started = true
				return optimize.NotTerminated
			}
			r := p.r
			r.Iterations++
			r.Polish++
			p.local.params(x, loc.X)
			r.History = append(r.History, p.floor(x)-loc.F)
			switch {
			case p.converged(loc.F, loc.Gradient):
				return optimize.GradientThreshold
			case p.ctx.Err() != nil || p.fit.em.err != nil:
				return optimize.RuntimeLimit
			}
			return optimize.NotTerminated
		}),
	}
	method := &optimize.LBFGS{Store: iterations, GradStopThreshold: math.NaN()}
	// An error means that the line search cannot continue. EM can.
	if result, _ := objective.Minimize(problem, make([]float64, size), settings, method); result != nil {
		p.local.params(p.x, result.X)
	}
}
