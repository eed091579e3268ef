package cuda

import (
	"cmp"

	"revnum/internal/logs"
	"revnum/optim"
	"revnum/rev"
)

// SGD is optim.SGD for vectors in the memory of a device, with the same bits. Call Free when you are
// done.
type SGD struct {
	Rate     optim.Schedule
	Momentum float64
	Nesterov bool

	velocity Memory[float64]
	steps
}

// Adam is optim.Adam for vectors in the memory of a device, with the same bits. Call Free when you
// are done.
type Adam struct {
	Rate    optim.Schedule
	Beta1   float64 // 0 means 0.9
	Beta2   float64 // 0 means 0.999
	Epsilon float64 // 0 means 1e-8
	Decay   float64

	mean, square Memory[float64]
	steps
}

// Step changes x, given the gradient at x, in stream s, or in the first stream if s is nil, and
// returns before. The first step allocates. All steps must be on vectors of the same length; Step
// panics with a *rev.OperandError if they are not.
func (m *SGD) Step(s *Stream, x, grad Vector[float64]) error {
	if err := m.begin(x, grad, &m.velocity); err != nil {
		return err
	}
	return m.run(s, "stepSGD", x, grad, []Memory[float64]{m.velocity}, rawBits(m.Rate(m.step)), rawBits(m.Momentum), bit(m.Nesterov))
}

// Free waits for all passes of the device and gives the memory of m back.
func (m *SGD) Free() error { return m.end(&m.velocity) }

// Step does what the Step of SGD does, with the equations of Adam.
func (m *Adam) Step(s *Stream, x, grad Vector[float64]) error {
	if err := m.begin(x, grad, &m.mean, &m.square); err != nil {
		return err
	}
	beta1, beta2, eps := cmp.Or(m.Beta1, 0.9), cmp.Or(m.Beta2, 0.999), cmp.Or(m.Epsilon, 1e-8)
	t := float64(m.step + 1)
	var params []uint64
	for _, v := range [...]float64{m.Rate(m.step), beta1, beta2, 1 - beta1, 1 - beta2, 1 - logs.Pow(beta1, t), 1 - logs.Pow(beta2, t), eps, m.Decay} {
		params = append(params, rawBits(v))
	}
	return m.run(s, "stepAdam", x, grad, []Memory[float64]{m.mean, m.square}, params...)
}

// Free waits for all passes of the device and gives the memory of m back.
func (m *Adam) Free() error { return m.end(&m.mean, &m.square) }

// steps counts the steps of a method.
type steps struct{ step int }

// begin checks the operands of a step. Before the first step it allocates what the method remembers.
func (c *steps) begin(x, grad Vector[float64], state ...*Memory[float64]) error {
	if x.N != grad.N || *state[0] != nil && x.N != len(*state[0]) {
		panic(rev.ShapeError[Vector[float64]]("x", "has length %d for a gradient of %d, want one length in all steps", x.N, grad.N))
	}
	d := deviceOf(x.Data.address())
	if d == nil {
		return wrap(errForeign)
	}
	for i, m := range state {
		if *m != nil {
			continue
		}
		var err error
		if *m, err = Alloc[float64](d, x.N); err != nil {
			return join(err, c.end(state[:i]...))
		}
	}
	return nil
}

func (c *steps) run(s *Stream, kernel string, x, grad Vector[float64], state []Memory[float64], params ...uint64) error {
	k := struct {
		X     Vector[float64] `rev:"inout"`
		Grad  Vector[float64] `rev:"in"`
		State Memory[float64] `rev:"inout"`
	}{x, grad, state[0]}
	w := begin(&k, onStream(k, s))
	xd, xi := x.params()
	gd, gi := grad.params()
	all := []uint64{xd, xi, gd, gi}
	for _, m := range state {
		all = append(all, at(m))
	}
	if x.N > 0 {
		w.launch(kernel, vectorGrid(x.N), append(append(all, uint64(x.N)), params...)...)
	}
	if w.err == nil {
		c.step++
	}
	return w.end()
}

// onStream returns a pass of k that runs in s.
func onStream[K any](_ K, s *Stream) *rev.Pass[K] { return &rev.Pass[K]{On: s} }

func (c *steps) end(state ...*Memory[float64]) (err error) {
	for _, m := range state {
		if *m != nil {
			err = join(err, m.Free())
		}
		*m = nil
	}
	c.step = 0
	return err
}
