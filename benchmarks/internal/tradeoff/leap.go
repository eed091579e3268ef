package tradeoff

import (
	"gonum.org/v1/gonum/floats"

	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/nbody"
)

// leap is the kernel y += f(x). x holds the positions of the bodies and then their
// velocities, and f is a step of Leapfrog. The rule x̄ += Jᵀ·ȳ is the adjoint of
// nbody.Steps.
type leap struct {
	Y    []float64           `rev:"acc" shape:"m"`
	X    []float64           `rev:"in" shape:"m"`
	Mu   rev.Vector[float64] `rev:"in" shape:"n"`
	runs *Runs
}

// Runs counts runs of a step.
type Runs struct{ Ahead, Back, Adjoint int }

// leapWork is f(x), and its cotangent.
type leapWork struct{ s, g []float64 }

func (k leap) Run(p rev.Pass[leap]) error {
	if p.Tangent {
		return rev.ErrUnsupported
	}
	switch {
	case p.Adjoint:
		k.runs.Adjoint++
	case p.Back:
		k.runs.Back++
	default:
		k.runs.Ahead++
	}
	w := workspace.Get[*leapWork]()
	defer workspace.Put(w)
	w.s = append(w.s[:0], k.X...)
	steps := stepsOf(w.s, k.Mu, 1)
	if err := steps.Forward(); err != nil {
		return err
	}
	if k.Y != nil {
		floats.AddScaled(k.Y, float64(p.Sign()), w.s)
	}
	if p.G.Y == nil || p.G.X == nil {
		return nil
	}
	w.g = append(w.g[:0], p.G.Y...)
	if err := steps.Adjoint(stepsOf(w.g, rev.Vector[float64]{}, 1)); err != nil {
		return err
	}
	floats.Add(p.G.X, w.g)
	return nil
}

// stepsOf returns the kernel of n steps of the bodies in x.
func stepsOf(x []float64, mu rev.Vector[float64], n int) nbody.Steps[float64] {
	half := len(x) / 2
	return nbody.Steps[float64]{
		Q: rev.NewGeneral(half/3, 3, x[:half:half]), V: rev.NewGeneral(half/3, 3, x[half:]), Mu: mu,
		N: n, Options: nbody.Options{Dt: 1, Workers: 1},
	}
}

// orbits is the state of the chain.
type orbits struct {
	x, y []float64
	mu   rev.Vector[float64]
	n    int
	runs *Runs
}

func newOrbits(n int) *orbits {
	s := nbody.NewSystem[float64](nbody.SolarSystem())
	x := append(append([]float64(nil), s.Q.Data...), s.V.Data...)
	return &orbits{x: x, y: make([]float64, len(x)), mu: s.Mu, n: n, runs: new(Runs)}
}

var chain = rev.Chain[orbits, []float64]{
	Step:  rev.AtIndex(func(s, v *orbits) leap { return leap{Y: v.y, X: v.x, Mu: v.mu, runs: s.runs} }),
	X:     func(s *orbits) *[]float64 { return &s.x },
	Y:     func(s *orbits) *[]float64 { return &s.y },
	Count: func(s *orbits) int { return s.n },
}
