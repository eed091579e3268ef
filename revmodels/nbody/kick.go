package nbody

import (
	"math"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/nbody/internal/gravity"
)

// Kick is the kernel
//
//	V_i += dt·Σ_j μ_j·w_ij·d_ij
//	d_ij = Q_j - Q_i,  ρ_ij = 1/(|d_ij|² + ε²),  w_ij = ρ_ij^(3/2)
//
// that changes velocities by the attraction of the bodies, where ε is the Softening.
// The pair of a body with itself adds 0. So does a pair in one place if ε is 0. Kick
// computes n² pairs, and takes memory for 22 numbers a body.
//
// # Derivatives
//
// For fixed i and j let s be a vector, and
//
//	D(s) = w·(s - 3·ρ·(s·d)·d)
//
// The derivative of w·d by d is D. So
//
//	V̇_i += dt·Σ_j D(μ_j·(Q̇_j - Q̇_i)) + μ̇_j·w·d
//	Q̄_i += dt·Σ_j D(μ_i·V̄_j - μ_j·V̄_i)
//	μ̄_i -= dt·Σ_j w·(V̄_j·d)
//
// D is symmetric and even in d, which gives the second line from the first: V̄_i·V̇_i has
// the terms of Q̇_j and -Q̇_i. For the tangent of Q̄ let δ = Q̇_j - Q̇_i, η = d·δ, and ṡ the
// tangent of s. As ẇ = -3·w·ρ·η and ρ̇ = -2·ρ²·η,
//
//	Ḋ(s) = w·(ṡ - 3·ρ·(η·s + (ṡ·d + s·δ)·d + (s·d)·δ) + 15·ρ²·η·(s·d)·d)
//
// # Rounding
//
// Sums are computed in float32 for float32, and in float64 for float64 and fixed.Q43. An
// element is within (n+20)·ε·Σ|terms|, where ε is the distance from 1 to the next number.
// What is added is rounded once more. Squares of distances over- and underflow like
// numbers of the type.
type Kick[T rev.Real] struct {
	V         rev.General[T] `rev:"acc" shape:"n,3"`
	Q         rev.General[T] `rev:"in" shape:"n,3"`
	Mu        rev.Vector[T]  `rev:"in" shape:"n"`
	Dt        float64
	Softening float64 // ε, at least 0
	Workers   int     // 0 means GOMAXPROCS
}

// kickRun is Run of Kick. It returns an error if Dt is not finite, or if Softening
// is negative or not finite.
func kickRun[T rev.Real](k *Kick[T], p *rev.Pass[Kick[T]]) error {
	if err := checkParameters(k.Dt, k.Softening); err != nil {
		return err
	}
	if k.Q.Rows == 0 {
		return nil
	}
	switch any(T(0)).(type) {
	case float32:
		runKick[T, float32](k, p)
	default:
		runKick[T, float64](k, p)
	}
	return nil
}

func runKick[T rev.Real, F float32 | float64](k *Kick[T], p *rev.Pass[Kick[T]]) {
	w := workspace.Get[*kickWork[T, F]]()
	w.pass(k, p)
	workspace.Put(w)
}

// pass makes a pass of k.
func (w *kickWork[T, F]) pass(k *Kick[T], p *rev.Pass[Kick[T]]) {
	w.soft2, w.workers = F(k.Softening)*F(k.Softening), k.Workers
	w.dt, w.sign = k.Dt, p.Sign()
	w.forces(k, k.Mu, k.V)
	w.forces(k, p.T.Mu, p.T.V)
	w.tangent(k, &p.T)
	w.sign = 1
	w.adjoint(k, &p.G)
	w.adjoint(k, &p.GT)
	w.second(k, &p.G, &p.T, &p.GT)
	w.out, w.outMu = rev.General[T]{}, rev.Vector[T]{}
}

// A kickWork computes a sum over all pairs. A block of the parallel task is a block of
// targets.
type kickWork[T rev.Real, F float32 | float64] struct {
	part             kickPart
	soft2            F
	dt               float64
	sign             int // of what is added to out
	n, workers       int
	sources, targets []F
	sums             []F // of each worker
	out              rev.General[T]
	outMu            rev.Vector[T]
}

// A kickPart says which terms are summed.
type kickPart int

const (
	attraction  kickPart = iota
	tides                // D
	secondOrder          // Ḋ
)

// kickSource is the number of numbers of a source.
var kickSource = [...]int{attraction: gravity.Source, tides: gravity.Full, secondOrder: secondFields}

// The numbers of a source of the second order.
const (
	secondBar    = 4 // V̄
	secondDot    = 7 // Q̇
	secondMuDot  = 10
	secondFields = 11
)

// forces adds to out the attraction by masses mu.
func (w *kickWork[T, F]) forces(k *Kick[T], mu rev.Vector[T], out rev.General[T]) {
	if out.Data == nil || mu.Data == nil {
		return
	}
	w.begin(attraction, k.Q, mu)
	w.run(out, rev.Vector[T]{})
}

// tangent adds Σ_j D(μ_j·(Q̇_j - Q̇_i)) to V̇.
func (w *kickWork[T, F]) tangent(k, t *Kick[T]) {
	if t.V.Data == nil || t.Q.Data == nil {
		return
	}
	w.begin(tides, k.Q, k.Mu)
	for i := range w.n {
		source, target := w.source(i), w.target(i)
		mu := source[gravity.Mass]
		for c, v := range t.Q.Row(i) {
			v := F(fixed.Float(v))
			source[gravity.A+c], target[(gravity.B+c)*gravity.Lanes] = F(mu*v), v
		}
		target[gravity.Alpha*gravity.Lanes] = 1
	}
	w.run(t.V, rev.Vector[T]{})
}

// adjoint adds Σ_j D(μ_i·V̄_j - μ_j·V̄_i) to Q̄, and Σ_j w·(V̄_j·d), which is negative, to μ̄.
func (w *kickWork[T, F]) adjoint(k, g *Kick[T]) {
	if g.V.Data == nil || g.Q.Data == nil && g.Mu.Data == nil {
		return
	}
	w.begin(tides, k.Q, k.Mu)
	for i := range w.n {
		source, target := w.source(i), w.target(i)
		for c, v := range g.V.Row(i) {
			v := F(fixed.Float(v))
			source[gravity.A+c], target[(gravity.B+c)*gravity.Lanes] = v, v
		}
		target[gravity.Alpha*gravity.Lanes] = source[gravity.Mass]
	}
	w.run(g.Q, g.Mu)
}

// second adds the tangents of what adjoint adds, except the terms with the tangent of
// V̄.
func (w *kickWork[T, F]) second(k, g, t, gt *Kick[T]) {
	if g.V.Data == nil || t.Q.Data == nil && t.Mu.Data == nil || gt.Q.Data == nil && gt.Mu.Data == nil {
		return
	}
	w.begin(secondOrder, k.Q, k.Mu)
	for i := range w.n {
		source := w.source(i)
		for c, v := range g.V.Row(i) {
			source[secondBar+c] = F(fixed.Float(v))
		}
		clear(source[secondDot:])
		if t.Q.Data != nil {
			for c, v := range t.Q.Row(i) {
				source[secondDot+c] = F(fixed.Float(v))
			}
		}
		if t.Mu.Data != nil {
			source[secondMuDot] = F(fixed.Float(t.Mu.Data[i*t.Mu.Inc]))
		}
	}
	w.run(gt.Q, gt.Mu)
}

// begin starts a sum, and sets positions and masses.
func (w *kickWork[T, F]) begin(part kickPart, q rev.General[T], mu rev.Vector[T]) {
	w.part, w.n = part, q.Rows
	blocks := (w.n + gravity.Lanes - 1) / gravity.Lanes
	w.sources = workspace.Grow(w.sources, w.n*kickSource[part])
	w.targets = workspace.Grow(w.targets, blocks*gravity.Lanes*gravity.Full)
	for i := range w.n {
		source, target := w.source(i), w.target(i)
		for c, v := range q.Row(i) {
			v := F(fixed.Float(v))
			source[gravity.X+c], target[(gravity.X+c)*gravity.Lanes] = v, v
		}
		source[gravity.Mass] = F(fixed.Float(mu.Data[i*mu.Inc]))
	}
}

// source returns the numbers of source i.
func (w *kickWork[T, F]) source(i int) []F {
	fields := kickSource[w.part]
	return w.sources[i*fields : (i+1)*fields]
}

// target returns the block of target i from its lane on.
func (w *kickWork[T, F]) target(i int) []F {
	return w.targets[i/gravity.Lanes*gravity.Full*gravity.Lanes+i%gravity.Lanes:]
}

// run adds dt times the sums to out, with the sign of the pass, and to outMu. The sign comes last, because fixed.Of
// ends at -2²⁰ on one side and a unit before 2²⁰ on the other.
func (w *kickWork[T, F]) run(out rev.General[T], outMu rev.Vector[T]) {
	w.out, w.outMu = out, outMu
	workers := 1
	if w.n*w.n >= parallelPairs {
		workers = parallel.Workers(w.workers)
	}
	w.sums = workspace.Grow(w.sums, workers*(gravity.Dots+1)*gravity.Lanes)
	parallel.Run(workers, (w.n+gravity.Lanes-1)/gravity.Lanes, w)
}

// From parallelPairs pairs on, a second worker pays.
const parallelPairs = 1 << 16

// Block implements parallel.Task.
func (w *kickWork[T, F]) Block(worker, block int) {
	const size = (gravity.Dots + 1) * gravity.Lanes
	sums := w.sums[worker*size:][:size]
	clear(sums)
	first := block * gravity.Lanes
	lanes := min(gravity.Lanes, w.n-first)
	targets := w.targets[block*gravity.Full*gravity.Lanes:]
	switch w.part {
	case attraction:
		gravity.Attract(targets, sums, w.sources, w.n, lanes, w.soft2)
	case tides:
		gravity.Tides(targets, sums, w.sources, w.n, lanes, w.soft2)
	case secondOrder:
		for i := range lanes {
			w.secondOf(first+i, sums[i:])
		}
	}
	for i := range lanes {
		if w.out.Data != nil {
			row, dt := w.out.Row(first+i), F(w.dt)
			for c, v := range row {
				row[c] = v + number.Signed(w.sign, fixed.Of[T](float64(F(dt*sums[c*gravity.Lanes+i]))))
			}
		}
		if w.outMu.Data != nil {
			w.outMu.Data[(first+i)*w.outMu.Inc] -= fixed.Of[T](float64(F(w.dt) * sums[gravity.Dots*gravity.Lanes+i]))
		}
	}
}

// secondOf stores the sums of Ḋ for target i, and of the tangent of w·(V̄_j·d).
func (w *kickWork[T, F]) secondOf(i int, sums []F) {
	a := w.source(i)
	var sum [4]F
	for j := range w.n {
		b := w.source(j)
		var d, delta, s, sDot [3]F
		square, eta, sd, ad, aDelta, mixed := w.soft2, F(0), F(0), F(0), F(0), F(0)
		for c := range 3 {
			d[c], delta[c] = b[c]-a[c], b[secondDot+c]-a[secondDot+c]
			s[c] = F(a[gravity.Mass]*b[secondBar+c]) - F(b[gravity.Mass]*a[secondBar+c])
			sDot[c] = F(a[secondMuDot]*b[secondBar+c]) - F(b[secondMuDot]*a[secondBar+c])
			square += F(d[c] * d[c])
			eta += F(d[c] * delta[c])
			sd += F(s[c] * d[c])
			mixed += F(sDot[c]*d[c]) + F(s[c]*delta[c])
			ad += F(b[secondBar+c] * d[c])
			aDelta += F(b[secondBar+c] * delta[c])
		}
		if square == 0 {
			continue
		}
		rho := 1 / square
		weight := F(rho * F(math.Sqrt(float64(rho))))
		for c := range 3 {
			first := F(eta*s[c]) + F(mixed*d[c]) + F(sd*delta[c])
			sum[c] += F(weight * (sDot[c] - F(3*F(rho*first)) + F(15*F(F(rho*rho)*F(F(eta*sd)*d[c])))))
		}
		sum[gravity.Dots] += F(weight * (aDelta - F(3*F(rho*F(eta*ad)))))
	}
	for c, v := range sum {
		sums[c*gravity.Lanes] = v
	}
}
