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

func (k rosenbrock) Run(p rev.Pass[rosenbrock]) error {
	sign, g, t, gt := float64(p.Sign()), p.G, p.T, p.GT
	x, y := *k.X, *k.Y
	a, b := 1-x, y-float64(x*x)
	*k.Out += float64(sign * (float64(a*a) + float64(100*b*b)))
	dx, dy := -2*a-float64(400*b*x), 200*b
	if t.Out != nil {
		*t.Out += float64(sign * (float64(dx**t.X) + float64(dy**t.Y)))
	}
	if g.Out != nil {
		*g.X += float64(dx * *g.Out)
		*g.Y += float64(dy * *g.Out)
	}
	if gt.Out != nil {
		hxx, hxy, hyy := 2-float64(400*(y-float64(3*x*x))), -400*x, 200.0
		*gt.X += float64(dx**gt.Out) + float64((float64(hxx**t.X)+float64(hxy**t.Y))**g.Out)
		*gt.Y += float64(dy**gt.Out) + float64((float64(hxy**t.X)+float64(hyy**t.Y))**g.Out)
	}
	return nil
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
	value, err := rev.Hessian(&h, p, output, inputs, s)
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
