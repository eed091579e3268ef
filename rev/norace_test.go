//go:build !race

package rev_test

import (
	"math/rand/v2"
	"testing"

	"revnum/rev"
)

// The race detector has pools drop what is put into them, hence no allocation
// tests with it.

func TestStepsAllocs(t *testing.T) {
	for _, test := range steps {
		t.Run(test.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 4))
			s, g, tt, gt := randomState(rnd), randomDerivative(rnd), randomDerivative(rnd), randomDerivative(rnd)
			back := rev.Uncall(test.step)
			run := func() {
				for _, err := range []error{
					test.step.Forward(s), test.step.Inverse(s),
					test.step.Tangent(s, tt), back.Tangent(s, tt),
					back.Adjoint(s, g), test.step.Adjoint(s, g),
					back.AdjointTangent(s, g, tt, gt), test.step.AdjointTangent(s, g, tt, gt),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if n := testing.AllocsPerRun(20, run); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func BenchmarkStep(b *testing.B) {
	s := randomState(rand.New(rand.NewPCG(3, 4)))
	g := new(state)
	for _, bench := range []struct {
		name string
		step rev.Step[state]
	}{
		{"At", rev.At(func(s *state) add[float64] { return add[float64]{&s.v[0], 1} })},
		{"AtIndex", rowAt(8)},
	} {
		b.Run(bench.name+"/Forward", func(b *testing.B) {
			for b.Loop() {
				_ = bench.step.Forward(s)
			}
		})
		b.Run(bench.name+"/Adjoint", func(b *testing.B) {
			for b.Loop() {
				_ = bench.step.Adjoint(s, g)
			}
		})
	}
}
