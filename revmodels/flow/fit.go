package flow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/objective"
	"revnum/optim"
	"revnum/rev"
)

// setPoints stores the rows of x that index names in the halves of s. If index is nil, it
// stores rows from at on.
func (s *State[T]) setPoints(x *mat.Dense, index []int, at int) {
	a := s.Halves[0].Cols
	for i := range s.Halves[0].Rows {
		from := at + i
		if index != nil {
			from = index[i]
		}
		row := x.RawRowView(from)
		for h, half := range s.Halves {
			for j := range half.Cols {
				half.Row(i)[j] = fixed.Of[T](row[h*a+j])
			}
		}
	}
}

// points stores the halves of s in the rows of x from at on.
func (s *State[T]) points(x *mat.Dense, at int) {
	a := s.Halves[0].Cols
	for i := range s.Halves[0].Rows {
		row := x.RawRowView(at + i)
		for h, half := range s.Halves {
			for j := range half.Cols {
				row[h*a+j] = fixed.Float(half.Row(i)[j])
			}
		}
	}
}

// draw makes the halves normal numbers.
func (s *State[T]) draw(rnd *rand.Rand) {
	for _, h := range s.Halves {
		for i := range h.Data {
			h.Data[i] = fixed.Of[T](rnd.NormFloat64())
		}
	}
}

// block is the number of points that LogDensity and Sample work on at a time.
const block = 1024

// check returns an error unless T can hold all coordinates of the points x.
func (m *Model[T]) check(x *mat.Dense) error {
	n, _ := x.Dims()
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("flow: point %d: coordinate %d is %v", i, j, v)
			}
			if _, err := fixed.FromFloat64Checked(v); err != nil && T(1)/2 == 0 {
				return fmt.Errorf("flow: point %d: coordinate %d is %v, and fixed point holds numbers within ±2²⁰", i, j, v)
			}
			if math.IsInf(fixed.Float(fixed.Of[T](v)), 0) {
				return fmt.Errorf("flow: point %d: coordinate %d is %v, which is out of the range of %T", i, j, v, T(0))
			}
		}
	}
	return nil
}

// LogDensity stores log p of the rows of x in dst. It panics with mat.ErrShape if the
// shapes do not fit. It returns an error if x has a number that is not finite or out of
// T's range. Over fixed.Q43 it also does if a product leaves the range.
func (m *Model[T]) LogDensity(dst []float64, x *mat.Dense) error {
	n, d := x.Dims()
	objective.CheckLen("flow.Model", "dst", len(dst), n)
	objective.CheckDims("flow.Model", "x", n, d, n, m.Dim)
	if err := m.check(x); err != nil {
		return err
	}
	program := m.Flow()
	for at := 0; at < n; at += block {
		s := m.State(min(block, n-at))
		s.setPoints(x, nil, at)
		if err := program.Forward(s); err != nil {
			return err
		}
		for i := range s.LogDet.N {
			log := fixed.Float(s.LogDet.Data[i]) - float64(d)*math.Log(2*math.Pi)/2
			for _, h := range s.Halves {
				for _, z := range h.Row(i) {
					log -= fixed.Float(z) * fixed.Float(z) / 2
				}
			}
			dst[at+i] = log
		}
	}
	return nil
}

// Sample stores random points of the density in the rows of dst. It panics with
// mat.ErrShape if dst does not have as many columns as points have coordinates. A nil src
// means one from a fixed seed. Over fixed.Q43 it returns an error if a product leaves the
// range.
func (m *Model[T]) Sample(dst *mat.Dense, src rand.Source) error {
	n, d := dst.Dims()
	objective.CheckDims("flow.Model", "dst", n, d, n, m.Dim)
	if src == nil {
		src = rand.NewPCG(1, 2)
	}
	rnd, program := rand.New(src), m.Flow()
	for at := 0; at < n; at += block {
		s := m.State(min(block, n-at))
		s.draw(rnd)
		if err := program.Inverse(s); err != nil {
			return err
		}
		s.points(dst, at)
	}
	return nil
}

// Objective returns the mean of -log p over a batch of n points as a function of the
// parameters, with the state that holds the points.
func (m *Model[T]) Objective(n int) *optim.Objective[State[T], T] {
	return &optim.Objective[State[T], T]{
		Program: m.Loss(), Output: func(s *State[T]) *T { return &s.Loss }, Params: m.Params, State: m.State(n),
	}
}

// FitOptions say how Fit works.
type FitOptions struct {
	Steps  int            // 0 means 2000
	Batch  int            // points in a step, 0 means 256
	Rate   optim.Schedule // of Adam, nil means optim.Cosine(0.003, 0, Steps)
	Source rand.Source    // of the batches, nil means one from a fixed seed
	Report func(step int, loss float64)
}

// Fit minimises the mean of -log p over the rows of x by Adam on random batches. It
// calls Report, if there is one, after each step, with the loss of the batch before it.
// It panics with mat.ErrShape if x does not have as many columns as points have
// coordinates. It returns an error if x has no rows or a number that is not finite or
// out of T's range, if an option is negative, or if a loss is not finite. It stops when
// the context does, and returns its error. The parameters are then those of the last
// step.
func (m *Model[T]) Fit(ctx context.Context, x *mat.Dense, o *FitOptions) error {
	var opt FitOptions
	if o != nil {
		opt = *o
	}
	if opt.Steps == 0 {
		opt.Steps = 2000
	}
	if opt.Batch == 0 {
		opt.Batch = 256
	}
	if opt.Rate == nil {
		opt.Rate = optim.Cosine(0.003, 0, max(opt.Steps, 1))
	}
	if opt.Source == nil {
		opt.Source = rand.NewPCG(1, 2)
	}
	n, d := x.Dims()
	if n == 0 {
		return errors.New("flow: no points to fit")
	}
	objective.CheckDims("flow.Model", "x", n, d, n, m.Dim)
	if opt.Steps < 0 || opt.Batch < 0 {
		return fmt.Errorf("flow: %d steps of %d points", opt.Steps, opt.Batch)
	}
	if err := m.check(x); err != nil {
		return err
	}
	rnd := rand.New(opt.Source)
	loss := m.Objective(opt.Batch)
	adam := &optim.Adam{Rate: opt.Rate}
	index := make([]int, opt.Batch)
	for step := range opt.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range index {
			index[i] = rnd.IntN(n)
		}
		loss.State.setPoints(x, index, 0)
		value, err := loss.Step(adam)
		if err != nil {
			return fmt.Errorf("flow: step %d: %w", step, err)
		}
		if v := fixed.Float(value); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("flow: step %d: the loss is %v", step, v)
		} else if opt.Report != nil {
			opt.Report(step, v)
		}
	}
	return nil
}

// A Cost is what one gradient takes.
type Cost struct {
	States int // bytes of the batch, its cotangents and all scratch memory, without parameters
	Run    func() error
}

// GradientCost returns the memory of a gradient over n points, and a function that computes
// the gradient. If record is set, each coupling keeps its intermediate values, as a tape
// does, and does not uncompute them.
func (m *Model[T]) GradientCost(n int, record bool) Cost {
	couplings := 1
	if record {
		couplings = m.Depth
	}
	s := m.state(n, couplings)
	s.draw(rand.New(rand.NewPCG(3, 4)))
	program, g := m.loss(record), rev.ZeroLike(s)
	rest := 8 * (len(s.rest[0]) + len(s.rest[1])) // which cotangents do not have
	size := 8
	if _, ok := any(T(0)).(float32); ok {
		size = 4
	}
	numbers := n
	for h := range 2 {
		numbers += len(s.Halves[h].Data)
		for _, w := range s.scratch {
			numbers += len(w.r[h].Data) + len(w.s[h].Data)
		}
	}
	for _, w := range s.scratch {
		numbers += len(w.h1.Data) + len(w.u.Data) + len(w.h2.Data) + len(w.v.Data)
	}
	return Cost{2*size*numbers + rest, func() error {
		_, err := rev.ValueGradient(program, func(s *State[T]) *T { return &s.Loss }, s, g)
		return err
	}}
}
