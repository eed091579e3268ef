package rev_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// rosenbrock is the kernel out += (1 - x)² + 100·(y - x²)².
type rosenbrock struct {
	Out  *float64 `rev:"acc"`
	X, Y *float64 `rev:"in"`
}

func (k rosenbrock) value() float64 {
	a, b := 1-*k.X, *k.Y-*k.X**k.X
	return a*a + 100*b*b
}

func (k rosenbrock) gradient() (dx, dy float64) {
	b := *k.Y - *k.X**k.X
	return -2*(1-*k.X) - 400*b**k.X, 200 * b
}

func (k rosenbrock) Forward() { *k.Out += k.value() }
func (k rosenbrock) Inverse() { *k.Out -= k.value() }

func (k rosenbrock) Adjoint(g rosenbrock) {
	k.Inverse()
	dx, dy := k.gradient()
	*g.X += dx * *g.Out
	*g.Y += dy * *g.Out
}

func (k rosenbrock) Tangent(t rosenbrock) {
	k.Forward()
	dx, dy := k.gradient()
	*t.Out += dx**t.X + dy**t.Y
}

func (k rosenbrock) AdjointTangent(g, t, gt rosenbrock) {
	k.Adjoint(g)
	dx, dy := k.gradient()
	*t.Out -= dx**t.X + dy**t.Y
	hxx, hxy, hyy := 2-400*(*k.Y-3**k.X**k.X), -400**k.X, 200.0
	*gt.X += dx**gt.Out + (hxx**t.X+hxy**t.Y)**g.Out
	*gt.Y += dy**gt.Out + (hxy**t.X+hyy**t.Y)**g.Out
}

func ExampleHessian() {
	type state struct {
		x   [2]float64
		out float64
	}
	p := rev.At(func(s *state) rosenbrock { return rosenbrock{&s.out, &s.x[0], &s.x[1]} })
	output := func(s *state) *float64 { return &s.out }
	inputs := func(s *state) []float64 { return s.x[:] }

	s := &state{x: [2]float64{1, 1}}
	var h mat.SymDense
	value, err := rev.Hessian(&h, p, output, inputs, s, func() *state { return new(state) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("value", value)
	fmt.Println(mat.Formatted(&h))
	// Output:
	// value 0
	// ⎡ 802  -400⎤
	// ⎣-400   200⎦
}
