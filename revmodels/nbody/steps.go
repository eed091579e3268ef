package nbody

import (
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/nbody/internal/gravity"
)

// Steps is the kernel that takes N steps of time in place, made of Drift and Kick. The last
// drift of a step and the first one of the next step are joined. It checks operands once,
// and not for each Drift and Kick.
//
//	(Q, V) <- a drift by c_0·dt; N times kick and drift of the method; a drift by -c_0·dt
//
// The derivatives are those of Drift and Kick, from the last to the first. Derivatives of Q
// and V that are nil begin as zeros in scratch memory.
//
// Over fixed.Q43, Inverse and Adjoint restore all bits. Over floats each step back adds
// a rounding error as large as that of the step ahead. In a chaotic system these errors
// may grow.
type Steps[T rev.Real] struct {
	Q  rev.General[T] `rev:"inout" shape:"n,3"`
	V  rev.General[T] `rev:"inout" shape:"n,3"`
	Mu rev.Vector[T]  `rev:"in" shape:"n"`
	N  int            // at least 0
	Options
}

// NewSteps returns the kernel that takes n steps of s.
func NewSteps[T rev.Real](s *System[T], n int, o Options) Steps[T] {
	return Steps[T]{Q: s.Q, V: s.V, Mu: s.Mu, N: n, Options: o}
}

// stepsRun is Run of Steps. It returns the errors of Drift and Kick, and panics if the
// method is unknown or N is negative.
func stepsRun[T rev.Real](k *Steps[T], p *rev.Pass[Steps[T]]) error {
	if k.N < 0 {
		panic(rev.ShapeError[Steps[T]]("Q", "is to take %d steps", k.N))
	}
	if p.Adjoint && !p.Back {
		return rev.ErrUnsupported
	}
	if err := checkParameters(k.Dt, k.Softening); err != nil || k.Q.Rows == 0 {
		return err
	}
	if p.Adjoint && p.Tangent && p.T.Q.Data == nil && p.T.V.Data == nil && p.T.Mu.Data != nil {
		w := workspace.Get[*zeroTangents[T]]()
		*w = workspace.Zeros(*w, 6*k.Q.Rows)
		whole := *p
		whole.T.Q = rev.NewGeneral(k.Q.Rows, 3, (*w)[:3*k.Q.Rows])
		whole.T.V = rev.NewGeneral(k.Q.Rows, 3, (*w)[3*k.Q.Rows:])
		err := rev.Retrace(*k, whole)
		workspace.Put(w)
		return err
	}
	switch any(T(0)).(type) {
	case float32:
		takeSteps[T, float32](k, p)
	default:
		takeSteps[T, float64](k, p)
	}
	return nil
}

// zeroTangents is memory for the tangents of Q and V.
type zeroTangents[T any] []T

func takeSteps[T rev.Real, F float32 | float64](k *Steps[T], p *rev.Pass[Steps[T]]) {
	w := workspace.Get[*stepsWork[T, F]]()
	for i, d := range [...]*Steps[T]{&p.G, &p.T, &p.GT} {
		w.complete(i, d, k.Q.Rows)
	}
	w.begin(k, p)
	plan := k.Method.plan()
	if p.Back {
		w.driftBy(-plan.first)
		for range k.N {
			for i := len(plan.step) - 1; i >= 0; i-- {
				w.part(plan.step[i])
			}
		}
		w.driftBy(plan.first)
	} else {
		w.driftBy(plan.first)
		for range k.N {
			for _, part := range plan.step {
				w.part(part)
			}
		}
		w.driftBy(-plan.first)
	}
	w.end(k)
	w.begin(new(Steps[T]), new(rev.Pass[Steps[T]])) // forgets the operands
	workspace.Put(w)
}

// A stepsWork is the two kernels of a step of time, with their derivatives.
type stepsWork[T rev.Real, F float32 | float64] struct {
	dt        float64
	sign      int
	drift     Drift[T]
	driftPass rev.Pass[Drift[T]]
	kick      Kick[T]
	kickPass  rev.Pass[Kick[T]]
	pairs     kickWork[T, F]
	spare     [3][]T
	bodies    []F // blocks for gravity.Kick, of few bodies over floats without derivatives
	lengths   []F // of a drift, for each block
}

// complete makes zeros for the missing derivatives of Q and V if they are of use: if one of them
// is there, or if they are tangents of cotangents that have a part in that of Mu.
func (w *stepsWork[T, F]) complete(i int, d *Steps[T], n int) {
	if d.Q.Data == nil && d.V.Data == nil && (i < 2 || d.Mu.Data == nil) {
		return
	}
	w.spare[i] = workspace.Zeros(w.spare[i], 6*n)
	if d.Q.Data == nil {
		d.Q = rev.NewGeneral(n, 3, w.spare[i][:3*n])
	}
	if d.V.Data == nil {
		d.V = rev.NewGeneral(n, 3, w.spare[i][3*n:])
	}
}

func (w *stepsWork[T, F]) begin(k *Steps[T], p *rev.Pass[Steps[T]]) {
	w.dt, w.sign = k.Dt, p.Sign()
	w.drift = driftOf(k)
	w.kick = kickOf(k)
	w.kick.Softening, w.kick.Workers = k.Softening, k.Workers
	w.driftPass = rev.Pass[Drift[T]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent,
		G: driftOf(&p.G), T: driftOf(&p.T), GT: driftOf(&p.GT),
	}
	w.kickPass = rev.Pass[Kick[T]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent,
		G: kickOf(&p.G), T: kickOf(&p.T), GT: kickOf(&p.GT),
	}
	w.bodies = w.bodies[:0]
	if T(1)/2 != 0 && !p.Adjoint && !p.Tangent && k.Q.Rows*k.Q.Rows < parallelPairs { // not fixed point
		w.gather(k)
	}
}

// gather puts the state into blocks, where a step takes no copies.
func (w *stepsWork[T, F]) gather(k *Steps[T]) {
	blocks := (k.Q.Rows + gravity.Lanes - 1) / gravity.Lanes
	w.bodies = workspace.Zeros(w.bodies, blocks*gravity.Rows*gravity.Lanes)
	w.lengths = workspace.Grow(w.lengths, blocks)
	for i := range k.Q.Rows {
		b := w.body(i)
		for c := range 3 {
			b[c*gravity.Lanes], b[(gravity.Velocity+c)*gravity.Lanes] = F(k.Q.Row(i)[c]), F(k.V.Row(i)[c])
		}
		b[gravity.Masses*gravity.Lanes] = F(k.Mu.Data[i*k.Mu.Inc])
	}
}

// body returns the numbers of a body, gravity.Lanes apart.
func (w *stepsWork[T, F]) body(i int) []F {
	return w.bodies[i/gravity.Lanes*gravity.Rows*gravity.Lanes+i%gravity.Lanes:]
}

// end stores what is in blocks.
func (w *stepsWork[T, F]) end(k *Steps[T]) {
	for i := range k.Q.Rows {
		if len(w.bodies) == 0 {
			return
		}
		b := w.body(i)
		for c := range 3 {
			k.Q.Row(i)[c], k.V.Row(i)[c] = T(b[c*gravity.Lanes]), T(b[(gravity.Velocity+c)*gravity.Lanes])
		}
	}
}

func driftOf[T rev.Real](s *Steps[T]) Drift[T] { return Drift[T]{Q: s.Q, V: s.V} }

func kickOf[T rev.Real](s *Steps[T]) Kick[T] { return Kick[T]{V: s.V, Q: s.Q, Mu: s.Mu} }

// part makes the pass of a kick or a drift.
func (w *stepsWork[T, F]) part(part stepPart) {
	if !part.kick {
		w.driftBy(part.length)
		return
	}
	w.kick.Dt = part.length * w.dt
	if len(w.bodies) > 0 {
		parallel.CheckInterrupt() // before end, so the operands are as they were
		soft := F(w.kick.Softening)
		gravity.Kick(w.bodies, w.kick.Q.Rows, F(soft*soft), number.Signed(w.sign, F(w.kick.Dt)))
		return
	}
	w.pairs.pass(&w.kick, &w.kickPass)
}

func (w *stepsWork[T, F]) driftBy(length float64) {
	w.drift.Dt = length * w.dt
	if len(w.bodies) > 0 {
		for i := range w.lengths {
			w.lengths[i] = number.Signed(w.sign, F(w.drift.Dt))
		}
		const coordinates, size = 3 * gravity.Lanes, gravity.Rows * gravity.Lanes
		vec.AxpyRows(coordinates, w.bodies, size, w.bodies[gravity.Velocity*gravity.Lanes:], size, w.lengths)
		return
	}
	driftPass(&w.drift, &w.driftPass)
}
