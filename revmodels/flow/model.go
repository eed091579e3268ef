package flow

import (
	"fmt"
	"math"
	"math/rand/v2"

	"revnum/fixed"
	"revnum/internal/objective"
	"revnum/rev"
	"revnum/revnn"
)

// Kind is the kind of a coupling.
type Kind int

// The kinds of couplings.
const (
	RealNVP Kind = iota // shift and scale
	NICE                // shift alone, and a scaling at the end
)

func (k Kind) String() string { return objective.Name(k, []string{"RealNVP", "NICE"}) }

// Options are the shape of a flow.
type Options struct {
	Kind   Kind
	Dim    int // coordinates of a point, at least 2
	Depth  int // couplings, at least 1; two of them change all coordinates once
	Hidden int // units of each of the two hidden layers, at least 1

	// Bound is the largest |s| of RealNVP: s is Bound·tanh. 0 means 2. It must not
	// exceed 5.
	Bound float64
}

func (o *Options) check() error {
	switch {
	case o.Kind != RealNVP && o.Kind != NICE:
		return fmt.Errorf("flow: unknown kind %d", int(o.Kind))
	case o.Dim < 2:
		return fmt.Errorf("flow: %d coordinates, want at least 2", o.Dim)
	case o.Depth < 1:
		return fmt.Errorf("flow: a depth of %d couplings, want at least 1", o.Depth)
	case o.Hidden < 1:
		return fmt.Errorf("flow: %d hidden units, want at least 1", o.Hidden)
	case !(o.Bound >= 0 && o.Bound <= 5):
		return fmt.Errorf("flow: a bound of %v, want one of 0 to 5", o.Bound)
	}
	return nil
}

// A Model is a flow with its parameters.
type Model[T rev.Real] struct {
	Options
	Couplings []Coupling[T]
	LogScales [2]rev.Vector[T] // of NICE, for the coordinates in A and in B
}

// Coupling has the parameters of a coupling. Its networks have the hidden layers
//
//	U = tanh(B·W1 + b1),  V = tanh(U·W2 + b2)
//
// in common, and t = V·WT + bT, s = Bound·tanh(V·WS + bS).
type Coupling[T rev.Real] struct {
	W1, W2, WT, WS rev.General[T]
	B1, B2, BT, BS rev.Vector[T]
}

// New returns a flow with random weights in the hidden layers. t and s begin as zero,
// so the flow begins as the identity. A nil src means one from a fixed seed.
func New[T rev.Real](o Options, src rand.Source) (*Model[T], error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Bound == 0 {
		o.Bound = 2
	}
	if src == nil {
		src = rand.NewPCG(1, 2)
	}
	rnd := rand.New(src)
	weights := func(r, c int) rev.General[T] {
		w := rev.NewGeneral[T](r, c, nil)
		for i := range w.Data {
			w.Data[i] = fixed.Of[T](rnd.NormFloat64() / math.Sqrt(float64(r)))
		}
		return w
	}
	zeros := func(n int) rev.Vector[T] { return rev.ViewSlice(make([]T, n)) }
	m := &Model[T]{Options: o}
	for i := range o.Depth {
		changed, read := o.half(i%2), o.half(1-i%2)
		c := Coupling[T]{
			W1: weights(read, o.Hidden), B1: zeros(o.Hidden), W2: weights(o.Hidden, o.Hidden), B2: zeros(o.Hidden),
			WT: rev.NewGeneral[T](o.Hidden, changed, nil), BT: zeros(changed),
		}
		if o.Kind == RealNVP {
			c.WS, c.BS = rev.NewGeneral[T](o.Hidden, changed, nil), zeros(changed)
		}
		m.Couplings = append(m.Couplings, c)
	}
	if o.Kind == NICE {
		m.LogScales = [2]rev.Vector[T]{zeros(o.half(0)), zeros(o.half(1))}
	}
	return m, nil
}

// half returns the number of coordinates in A (0) or B (1).
func (o *Options) half(i int) int { return (o.Dim + 1 - i) / 2 }

// A State is a batch of points on their way through a flow, with the parameters and the
// memory that all couplings share.
type State[T rev.Real] struct {
	Halves [2]rev.General[T] // A and B: points, or normal numbers after the flow
	LogDet rev.Vector[T]     // log |det ∂z/∂x| of each point
	Loss   T                 // the mean of -log p

	Couplings []Coupling[T]
	LogScales [2]rev.Vector[T]

	scratch []scratch[T] // of all couplings, or of each one
	rest    [2][]uint64  // of the coordinates in fixed point
}

// scratch has the ancillas of a coupling. They are zero between couplings.
type scratch[T rev.Real] struct {
	h1, u, h2, v rev.General[T]
	r, s         [2]rev.General[T] // of couplings that change A, and B
}

// State returns a state for n points. It shares the storage of the parameters.
func (m *Model[T]) State(n int) *State[T] { return m.state(n, 1) }

// state returns a state for n points with memory for so many couplings.
func (m *Model[T]) state(n, couplings int) *State[T] {
	matrix := func(c int) rev.General[T] { return rev.NewGeneral[T](n, c, nil) }
	s := &State[T]{LogDet: rev.ViewSlice(make([]T, n)), Couplings: m.Couplings, LogScales: m.LogScales}
	for range couplings {
		var w scratch[T]
		w.h1, w.u, w.h2, w.v = matrix(m.Hidden), matrix(m.Hidden), matrix(m.Hidden), matrix(m.Hidden)
		for h := range 2 {
			w.r[h], w.s[h] = matrix(m.half(h)), matrix(m.half(h))
		}
		s.scratch = append(s.scratch, w)
	}
	for h := range 2 {
		s.Halves[h] = matrix(m.half(h))
		if T(1)/2 == 0 {
			s.rest[h] = make([]uint64, n*m.half(h))
		}
	}
	return s
}

// Flow returns the program that takes points to normal numbers, and adds the logarithms of
// the determinants.
func (m *Model[T]) Flow() rev.Step[State[T]] { return m.flow(false) }

// flow is Flow. If record is set, each coupling has memory of its own and does not
// uncompute it, as with a tape.
func (m *Model[T]) flow(record bool) rev.Step[State[T]] {
	type state = State[T]
	var steps []rev.Step[state]
	for i := range m.Couplings {
		at := 0
		if record {
			at = i
		}
		compute, change := m.coupling(i, func(s *state) *scratch[T] { return &s.scratch[at] })
		if record {
			steps = append(steps, compute, change)
			continue
		}
		ancilla := func(f func(w *scratch[T]) rev.General[T]) func(s *state) []T {
			return func(s *state) []T { return f(&s.scratch[0]).Data }
		}
		h := i % 2
		steps = append(steps, rev.Routine(compute, change,
			ancilla(func(w *scratch[T]) rev.General[T] { return w.h1 }), ancilla(func(w *scratch[T]) rev.General[T] { return w.u }),
			ancilla(func(w *scratch[T]) rev.General[T] { return w.h2 }), ancilla(func(w *scratch[T]) rev.General[T] { return w.v }),
			ancilla(func(w *scratch[T]) rev.General[T] { return w.r[h] }), ancilla(func(w *scratch[T]) rev.General[T] { return w.s[h] })))
	}
	for h := 0; h < 2 && m.Kind == NICE; h++ {
		spread := rev.At(func(s *state) revnn.AffineBatch[T] { // the log scales, in all rows
			y := s.scratch[0].s[h]
			return revnn.AffineBatch[T]{Y: y, X: rev.General[T]{Rows: y.Rows}, W: rev.General[T]{Cols: y.Cols}, B: s.LogScales[h]}
		})
		steps = append(steps, rev.Routine(spread, m.scaling(h, func(s *state) *scratch[T] { return &s.scratch[0] }, 1),
			func(s *state) []T { return s.scratch[0].s[h].Data }))
	}
	return rev.Seq(steps...)
}

// scaling returns the step that scales half h by what is in the memory of a coupling.
func (m *Model[T]) scaling(h int, in func(s *State[T]) *scratch[T], c float64) rev.Step[State[T]] {
	return rev.AtIndex(func(s, v *State[T]) scale[T] {
		return scale[T]{X: v.Halves[h], S: in(v).s[h], LogDet: v.LogDet, C: fixed.Of[T](c), rest: s.rest[h]}
	})
}

// coupling returns the step that computes the networks of coupling i, and the one that
// changes the half.
func (m *Model[T]) coupling(i int, in func(s *State[T]) *scratch[T]) (compute, change rev.Step[State[T]]) {
	type (
		state  = State[T]
		matrix = func(s *state) rev.General[T]
		vector = func(s *state) rev.Vector[T]
	)
	h := i % 2
	layer := func(y, x, w matrix, b vector) rev.Step[state] {
		return rev.At(func(s *state) revnn.AffineBatch[T] {
			return revnn.AffineBatch[T]{Y: y(s), X: x(s), W: w(s), B: b(s), Workers: 1}
		})
	}
	tanh := func(y, x matrix) rev.Step[state] {
		return rev.At(func(s *state) revnn.Tanh[T] {
			return revnn.Tanh[T]{Y: rev.ViewSlice(y(s).Data), X: rev.ViewSlice(x(s).Data), Workers: 1}
		})
	}
	var (
		changed = func(s *state) rev.General[T] { return s.Halves[h] }
		read    = func(s *state) rev.General[T] { return s.Halves[1-h] }
		h1      = func(s *state) rev.General[T] { return in(s).h1 }
		u       = func(s *state) rev.General[T] { return in(s).u }
		h2      = func(s *state) rev.General[T] { return in(s).h2 }
		v       = func(s *state) rev.General[T] { return in(s).v }
		r       = func(s *state) rev.General[T] { return in(s).r[h] }
		scales  = func(s *state) rev.General[T] { return in(s).s[h] }
		of      = func(s *state) *Coupling[T] { return &s.Couplings[i] }
	)
	hidden := []rev.Step[state]{
		layer(h1, read, func(s *state) rev.General[T] { return of(s).W1 }, func(s *state) rev.Vector[T] { return of(s).B1 }),
		tanh(u, h1),
		layer(h2, u, func(s *state) rev.General[T] { return of(s).W2 }, func(s *state) rev.Vector[T] { return of(s).B2 }),
		tanh(v, h2),
	}
	shift := layer(changed, v, func(s *state) rev.General[T] { return of(s).WT }, func(s *state) rev.Vector[T] { return of(s).BT })
	if m.Kind == NICE {
		return rev.Seq(hidden...), shift
	}
	compute = rev.Seq(append(hidden,
		layer(r, v, func(s *state) rev.General[T] { return of(s).WS }, func(s *state) rev.Vector[T] { return of(s).BS }),
		tanh(scales, r))...)
	return compute, rev.Seq(m.scaling(h, in, m.Bound), shift)
}

// Loss returns the program that adds to Loss the mean of -log p of the points.
func (m *Model[T]) Loss() rev.Step[State[T]] { return m.loss(false) }

func (m *Model[T]) loss(record bool) rev.Step[State[T]] {
	type state = State[T]
	return rev.Seq(m.flow(record),
		rev.At(func(s *state) likelihood[T] { return likelihood[T]{&s.Loss, s.Halves[0], s.LogDet} }),
		rev.At(func(s *state) likelihood[T] { return likelihood[T]{Out: &s.Loss, Z: s.Halves[1]} }))
}

// Params returns the storage of the parameters in a state, for package optim.
func (m *Model[T]) Params(s *State[T]) (params [][]T) {
	for i := range s.Couplings {
		c := &s.Couplings[i]
		params = append(params, c.W1.Data, c.B1.Data, c.W2.Data, c.B2.Data, c.WT.Data, c.BT.Data, c.WS.Data, c.BS.Data)
	}
	return append(params, s.LogScales[0].Data, s.LogScales[1].Data)
}
