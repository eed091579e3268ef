package adbench

import (
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// Objective is a GMM problem ready to be evaluated and differentiated in T.
type Objective[T rev.Float] struct {
	Kernel   gmm.LogPosterior[T]
	Gradient []T // alphas, means, factors, in the order of the file

	out, one  T
	cotangent gmm.LogPosterior[T]
}

// NewObjective returns the objective of p with the given sign of the prior. In float64
// it shares the storage of p.
func NewObjective[T rev.Float](p *GMM, sign gmm.Sign, workers int) *Objective[T] {
	o := &Objective[T]{one: 1, Gradient: make([]T, p.Params())}
	tri := p.D * (p.D + 1) / 2
	o.Kernel = gmm.LogPosterior[T]{
		Out:     &o.out,
		Alpha:   rev.ViewSlice(convert[T](p.Alpha)),
		Means:   rev.NewGeneral(p.K, p.D, convert[T](p.Means)),
		Factors: rev.NewGeneral(p.K, tri, convert[T](p.Factors)),
		X:       rev.NewGeneral(p.N, p.D, convert[T](p.X)),
		Prior:   gmm.Prior{Gamma: p.Gamma, M: p.M, Sign: sign},
		Workers: workers,
	}
	alpha, rest := o.Gradient[:p.K], o.Gradient[p.K:]
	means, factors := rest[:p.K*p.D], rest[p.K*p.D:]
	o.cotangent = gmm.LogPosterior[T]{
		Out:     &o.one,
		Alpha:   rev.ViewSlice(alpha),
		Means:   rev.NewGeneral(p.K, p.D, means),
		Factors: rev.NewGeneral(p.K, tri, factors),
	}
	return o
}

// Value evaluates the objective.
func (o *Objective[T]) Value() T {
	o.out = 0
	o.Kernel.Forward()
	return o.out
}

// ValueGradient evaluates the objective and its gradient, in one pass.
func (o *Objective[T]) ValueGradient() T {
	clear(o.Gradient)
	o.out = 0
	_ = rev.Gradient(o.Kernel, o.cotangent) // the kernel returns no errors
	return o.out
}

func (o *Objective[T]) gradient() []T { return o.Gradient }

// convert returns x converted to T. If x already has that type, convert returns x
// itself.
func convert[T rev.Float](x []float64) []T {
	if t, ok := any(x).([]T); ok {
		return t
	}
	t := make([]T, len(x))
	for i, v := range x {
		t[i] = T(v)
	}
	return t
}
