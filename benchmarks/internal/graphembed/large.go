package graphembed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
	"revnum/revmodels/graphembed"
)

const (
	largeDim      = 5
	largeConnects = 0.1 // the probability that a pair is connected
)

// MeasureLarge adds the result of a random graph of n vertices in five dimensions. It
// measures each function for about the time d on one worker. Then it measures the
// machine again.
func (r *Report) MeasureLarge(n int, d time.Duration) error {
	err := suite.Measure(largeProblem(n), d, func(x suite.Result) { r.Large = append(r.Large, x) })
	if err != nil {
		return err
	}
	r.Machine.Best(machine.Measure(4 * d))
	r.large().Compare()
	return nil
}

// largeProblem is the loss of a random graph and its gradient by the positions of
// all vertices.
//
// Each pair takes 3k flops for its distance (differences, squares, their sum and the
// root) and three for the sums of distances and of their squares. The gradient reuses
// the distance. It takes three flops for the weight α - γ/d, and 3k to add the weighted
// difference to one vertex and subtract it from the other.
func largeProblem(n int) *suite.Problem {
	pairs := float64(n) * float64(n-1) / 2
	p := &suite.Problem{
		Family: "random graph", Sizes: fmt.Sprintf("n=%d k=%d", n, largeDim), Params: n * largeDim,
		FlopsF: pairs * (3*largeDim + 3), FlopsJ: pairs * (6*largeDim + 6), Workers: []int{1},
	}
	p.New = func() (*suite.Instance, error) {
		rnd := rand.New(rand.NewPCG(1, uint64(n)))
		var edges [][2]int
		for i := range n {
			for j := range i {
				if rnd.Float64() < largeConnects {
					edges = append(edges, [2]int{j, i})
				}
			}
		}
		g, err := graphembed.NewGraph(n, edges)
		if err != nil {
			return nil, err
		}
		m := graphembed.NewModel(g, largeDim, nil, graphembed.DefaultMargin)
		m.Workers = 1
		x, grad, v := make([]float64, m.Dim()), make([]float64, m.Dim()), make([]float64, m.Dim())
		for i := range x {
			x[i], v[i] = rnd.NormFloat64(), rnd.NormFloat64()
		}
		floats.Scale(1/floats.Norm(v, 2), v)
		var value float64
		return &suite.Instance{
			F:      func() { value = m.Func(x) },
			J:      func() { value = m.FuncGrad(grad, x) },
			Result: func() []float64 { return append(append([]float64(nil), grad...), value) },
			Derivative: func() float64 {
				at := make([]float64, len(x))
				along := func(t float64) float64 {
					floats.AddScaledTo(at, x, t, v)
					return m.Func(at)
				}
				want := fd.Derivative(along, 0, &fd.Settings{Formula: fd.Central, Step: 1e-4})
				got := floats.Dot(grad, v)
				return math.Abs(got-want) / (math.Abs(got) + math.Abs(want))
			},
			RoundTrip: func() float64 {
				const start = 1. / 3
				out := start
				k := m.Kernel(x, nil)
				k.Out = &out
				k.Forward()
				size := math.Abs(out)
				k.Inverse()
				return math.Abs(out-start) / max(1, size)
			},
		}, nil
	}
	return p
}
