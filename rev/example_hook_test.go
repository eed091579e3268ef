package rev_test

import (
	"fmt"

	"revnum/rev"
)

// chained is the state of two products, z += b·(a·x).
type chained struct {
	A, B, X, Y, Z []float64
}

func chainOf(between rev.Step[chained]) rev.Step[chained] {
	return rev.Seq(
		rev.At(func(s *chained) product[float64] { return product[float64]{&s.Y[0], &s.A[0], &s.X[0]} }),
		between,
		rev.At(func(s *chained) product[float64] { return product[float64]{&s.Z[0], &s.B[0], &s.Y[0]} }))
}

// printGradient prints the gradient of z by a, before the step, and by b, after it.
func printGradient(between rev.Step[chained]) {
	s := &chained{A: []float64{2}, B: []float64{5}, X: []float64{3}, Y: []float64{0}, Z: []float64{0}}
	g := rev.ZeroLike(s)
	if _, err := rev.ValueGradient(chainOf(between), func(s *chained) *float64 { return &s.Z[0] }, s, g); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("by a: %v, by b: %v\n", g.A[0], g.B[0])
}

// Products with operands of their own may run at the same time.
func ExampleParallel() {
	both := rev.Parallel(
		rev.At(func(s *chained) product[float64] { return product[float64]{&s.Y[0], &s.A[0], &s.X[0]} }),
		rev.At(func(s *chained) product[float64] { return product[float64]{&s.Z[0], &s.B[0], &s.X[0]} }))
	s := &chained{A: []float64{2}, B: []float64{5}, X: []float64{3}, Y: []float64{0}, Z: []float64{0}}
	fmt.Println(both.Forward(s), s.Y, s.Z)
	fmt.Println(both.Inverse(s), s.Y, s.Z)
	// Output:
	// <nil> [6] [15]
	// <nil> [0] [0]
}

// Look at the cotangents in the middle of a program.
func ExampleHook() {
	printGradient(rev.Hook(func(s, g *chained) { fmt.Printf("y = %v, its cotangent %v\n", s.Y[0], g.Y[0]) }))
	// Output:
	// y = 6, its cotangent 5
	// by a: 15, by b: 6
}

// Over floats, a rotation a thousand times ahead and back is off by rounding errors. With
// a copy of the operands it is not.
func ExampleCheckpoint() {
	turn := rev.At(func(s *drifting) rotate { return rotate{&s.X[0], &s.Y[0], &s.Theta[0]} })
	turns := rev.Repeat(func(*drifting) int { return 1000 }, turn)
	kept := rev.Checkpoint(turns, func(s *drifting) *rev.Snapshots[float64] { return &s.Saved },
		func(s *drifting) []float64 { return s.X }, func(s *drifting) []float64 { return s.Y })
	for i, p := range []rev.Step[drifting]{turns, kept} {
		s := &drifting{X: []float64{0.1}, Y: []float64{0.7}, Theta: []float64{0.3}}
		if err := p.Forward(s); err != nil {
			fmt.Println(err)
			return
		}
		if err := p.Inverse(s); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: back to the bit: %v\n", [...]string{"plain", "copied"}[i], s.X[0] == 0.1 && s.Y[0] == 0.7)
	}
	// Output:
	// plain: back to the bit: false
	// copied: back to the bit: true
}

// A step with two inputs takes its gradient from two tangents, inside a program that runs
// adjoints.
func ExampleForwardMode() {
	sine := rev.ForwardMode(
		rev.At(func(s *chained) wave { return wave{Y: &s.Y[0], A: &s.A[0], B: &s.X[0]} }),
		[]func(s *chained) []float64{func(s *chained) []float64 { return s.A }, func(s *chained) []float64 { return s.X }},
		[]func(s *chained) []float64{func(s *chained) []float64 { return s.Y }})
	p := rev.Seq(sine, rev.At(func(s *chained) product[float64] { return product[float64]{&s.Z[0], &s.B[0], &s.Y[0]} }))
	s := &chained{A: []float64{0.2}, B: []float64{5}, X: []float64{-0.2}, Y: []float64{0}, Z: []float64{0}}
	g := rev.ZeroLike(s)
	if _, err := rev.ValueGradient(p, func(s *chained) *float64 { return &s.Z[0] }, s, g); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("by a: %v, by x: %v\n", g.A[0], g.X[0])
	// Output:
	// by a: 2.5, by x: 2.5
}
