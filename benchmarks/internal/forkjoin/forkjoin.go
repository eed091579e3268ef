// Package forkjoin measures programs whose branches run at the same time, ahead and in
// the adjoint. They are the six kinds of programs of T. Smeding and M. Vákár, Parallel
// dual-numbers reverse AD, J. Funct. Program. 35 (2025), with sizes of our own. A fork
// ahead is a join in the adjoint, and the other way round.
package forkjoin

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"text/tabwriter"
	"time"

	"revnum/benchmarks/internal/suite"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revmodels/nbody"
	"revnum/revnn"
)

// branches is the number of branches of each fork.
const branches = 4

// Row is what a program took with some number of cores, in seconds.
type Row struct {
	Program  string
	Cores    int
	Value    float64 // a run ahead
	Gradient float64 // value and gradient
}

// Measure measures all programs with one core and with two, each for about the given time.
func Measure(ctx context.Context, scale int, budget time.Duration) ([]Row, error) {
	var rows []Row
	for _, cores := range []int{1, 2} {
		for _, p := range programs(scale) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			was := runtime.GOMAXPROCS(cores)
			row, err := p.measure(budget)
			runtime.GOMAXPROCS(was)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			row.Program, row.Cores = p.name, cores
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// state holds the operands of all programs.
type state struct {
	X, Y, P, Q []float64
	A          rev.General[float64]
	V          []rev.General[float64] // of each branch
	Layers     [][]rev.General[float64]
	Weights    []rev.General[float64]
	Bias       [][]float64
	Systems    []*nbody.System[float64]
	Out        float64
}

// A program computes Out.
type program struct {
	name  string
	step  rev.Step[state]
	start *state
}

func (p *program) measure(budget time.Duration) (row Row, err error) {
	s, g := p.start, rev.ZeroLike(p.start)
	out := func(s *state) *float64 { return &s.Out }
	for begin := time.Now(); row.Value == 0 || time.Since(begin) < budget; {
		start := time.Now()
		if err := p.step.Forward(s); err != nil {
			return row, err
		}
		value := time.Since(start).Seconds()
		if err := p.step.Inverse(s); err != nil {
			return row, err
		}
		start = time.Now()
		if _, err := rev.ValueGradient(p.step, out, s, g); err != nil {
			return row, err
		}
		gradient := time.Since(start).Seconds()
		if row.Value == 0 || value < row.Value {
			row.Value = value
		}
		if row.Gradient == 0 || gradient < row.Gradient {
			row.Gradient = gradient
		}
		g.Out = 0
	}
	return row, nil
}

// fork runs a step for each branch, and then sums P. shared are the operands that several
// branches read.
func fork(branch func(b int) rev.Step[state], shared ...func(s *state) []float64) rev.Step[state] {
	var steps []rev.Step[state]
	for b := range branches {
		steps = append(steps, branch(b))
	}
	if len(shared) == 0 { // nothing is shared, and the adjoints may run at the same time too
		shared = append(shared, func(*state) []float64 { return nil })
	}
	return rev.Seq(rev.ParallelShared(shared, steps...), rev.At(func(s *state) revlinalg.Sum[float64] {
		return revlinalg.Sum[float64]{Out: &s.Out, X: rev.ViewSlice(s.P)}
	}))
}

// part returns the share of a branch of n things.
func part(n, b int) (from, to int) { return b * n / branches, (b + 1) * n / branches }

// programs returns the programs, for sizes that grow with scale.
func programs(scale int) []*program {
	rnd := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		return x
	}
	matrix := func(r, c int) rev.General[float64] { return rev.NewGeneral(r, c, numbers(r*c)) }
	view := rev.ViewSlice[float64]
	var all []*program
	add := func(name string, s *state, step rev.Step[state]) {
		all = append(all, &program{name, step, s})
	}

	add("scalar multiplication", &state{X: numbers(1), Y: numbers(1)}, rev.At(func(s *state) revlinalg.Dot[float64] {
		return revlinalg.Dot[float64]{Out: &s.Out, X: view(s.X), Y: view(s.Y)}
	}))

	n := 1000 * scale
	add(fmt.Sprintf("dot product of %d", n), &state{X: numbers(n), Y: numbers(n), P: make([]float64, branches)},
		fork(func(b int) rev.Step[state] {
			from, to := part(n, b)
			return rev.At(func(s *state) revlinalg.Dot[float64] {
				return revlinalg.Dot[float64]{Out: &s.P[b], X: view(s.X[from:to]), Y: view(s.Y[from:to])}
			})
		}))

	m := 10 * scale
	add(fmt.Sprintf("sum of a %d×1000 matrix times a vector", m), &state{A: matrix(m, 1000), X: numbers(1000), P: make([]float64, m)},
		fork(func(b int) rev.Step[state] {
			from, to := part(m, b)
			return rev.At(func(s *state) revlinalg.Affine[float64] {
				a := s.A
				a.Rows, a.Data = to-from, a.Data[from*a.Stride:to*a.Stride]
				return revlinalg.Affine[float64]{Y: view(s.P[from:to]), W: a, X: view(s.X)}
			})
		}, func(s *state) []float64 { return s.X }))

	rotated := &state{Q: numbers(4), P: make([]float64, 3*branches)}
	for range branches {
		rotated.V = append(rotated.V, matrix(100*scale, 3))
	}
	add(fmt.Sprintf("rotation of %d vectors by a quaternion", 100*scale*branches), rotated,
		fork(func(b int) rev.Step[state] {
			return rev.At(func(s *state) rotate { return rotate{Out: view(s.P[3*b : 3*b+3]), Q: view(s.Q), V: s.V[b]} })
		}, func(s *state) []float64 { return s.Q }))

	add(network(scale, matrix, numbers))

	particles := &state{P: make([]float64, branches)}
	for b := range branches {
		s := nbody.NewSystem[float64]([]nbody.Body{{Mu: 1}, {Q: [3]float64{1 + 0.1*float64(b)}, V: [3]float64{0, 0.9, 0.1}, Mu: 1e-3}})
		particles.Systems = append(particles.Systems, s)
	}
	add(fmt.Sprintf("%d particles for %d steps", branches, 10*scale), particles,
		fork(func(b int) rev.Step[state] {
			return rev.Seq(
				rev.At(func(s *state) nbody.Steps[float64] {
					return nbody.NewSteps(s.Systems[b], 10*scale, nbody.Options{Method: nbody.Leapfrog, Dt: 0.001, Workers: 1})
				}),
				rev.At(func(s *state) revlinalg.SumSquares[float64] {
					return revlinalg.SumSquares[float64]{Out: &s.P[b], X: view(s.Systems[b].Q.Row(1))}
				}))
		}))
	return all
}

// network returns a network of three layers with 64 units, on 25·scale points of which
// each branch has a share.
func network(scale int, matrix func(r, c int) rev.General[float64], numbers func(n int) []float64) (string, *state, rev.Step[state]) {
	const units, depth = 64, 3
	points := 25 * scale / branches
	s := &state{P: make([]float64, branches)}
	for range depth {
		w := matrix(units, units)
		for i := range w.Data {
			w.Data[i] /= 8
		}
		s.Weights, s.Bias = append(s.Weights, w), append(s.Bias, numbers(units))
	}
	for range branches {
		layers := []rev.General[float64]{matrix(points, units)}
		for range 2 * depth {
			layers = append(layers, rev.NewGeneral[float64](points, units, nil))
		}
		s.Layers = append(s.Layers, layers)
	}
	var shared []func(s *state) []float64
	for l := range depth {
		shared = append(shared, func(s *state) []float64 { return s.Weights[l].Data }, func(s *state) []float64 { return s.Bias[l] })
	}
	step := fork(func(b int) rev.Step[state] {
		var steps []rev.Step[state]
		for l := range depth {
			steps = append(steps,
				rev.At(func(s *state) revnn.AffineBatch[float64] {
					x := s.Layers[b]
					return revnn.AffineBatch[float64]{Y: x[2*l+1], X: x[2*l], W: s.Weights[l], B: rev.ViewSlice(s.Bias[l]), Workers: 1}
				}),
				rev.At(func(s *state) revnn.ReLU[float64] {
					x := s.Layers[b]
					return revnn.ReLU[float64]{Y: rev.ViewSlice(x[2*l+2].Data), X: rev.ViewSlice(x[2*l+1].Data), Workers: 1}
				}))
		}
		return rev.Seq(append(steps, rev.At(func(s *state) revlinalg.SumSquares[float64] {
			return revlinalg.SumSquares[float64]{Out: &s.P[b], X: rev.ViewSlice(s.Layers[b][2*depth].Data)}
		}))...)
	}, shared...)
	return fmt.Sprintf("network of %d layers on %d points", depth, points*branches), s, step
}

// WriteTable writes rows for people.
func WriteTable(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "program\tvalue, 1 core\tgradient\tgradient/value\tvalue, 2 cores\tgradient\tgradient/value\tfaster by")
	half := len(rows) / 2
	for i, one := range rows[:half] {
		two := rows[half+i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%s\t%s\t%.1f\t%.2f\n", one.Program,
			suite.Seconds(one.Value), suite.Seconds(one.Gradient), one.Gradient/one.Value,
			suite.Seconds(two.Value), suite.Seconds(two.Gradient), two.Gradient/two.Value, one.Gradient/two.Gradient)
	}
	return t.Flush()
}
