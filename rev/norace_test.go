//go:build !race && !mutants

package rev_test

import (
	"errors"
	"fmt"
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

// TestIntegrateAllocs finds that no pass takes more memory for more steps.
func TestIntegrateAllocs(t *testing.T) {
	ode := riccatiODE[float64](0)
	s, g := newRiccati[float64](1), newRiccati[float64](2)
	tan, gt := rev.ZeroLike(s), rev.ZeroLike(s)
	count := func(n int) (allocs float64) {
		p := rev.Integrate(ode, rev.RK4, 0, 1, n)
		return testing.AllocsPerRun(5, func() {
			if err := errors.Join(p.Forward(s), p.Adjoint(s, g), p.Tangent(s, tan), p.AdjointTangent(s, g, tan, gt)); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := count(3), count(300); few != many {
		t.Errorf("%v allocations for 3 steps, %v for 300", few, many)
	}
}

// TestDriversAllocs counts the allocations of drivers and of kernels by themselves.
func TestDriversAllocs(t *testing.T) {
	s := randomState(rand.New(rand.NewPCG(3, 4)))
	g, tt, h := new(state), new(state), new(state)
	bind := func(s *state) wave { return wave{&s.v[0], &s.v[1], &s.v[2]} }
	place := func(s *state) rotate { return rotate{&s.v[0], &s.v[1], &s.v[2]} }
	if n := testing.AllocsPerRun(20, func() {
		_, _ = rev.ValueGradient(loss, output, s, g)
		_, _ = rev.HessianVector(loss, output, s, g, tt, h)
		_ = rev.Forward(bind(s))
		_ = rev.Inverse(bind(s))
		_ = rev.Adjoint(bind(s), bind(g))
		_ = rev.Tangent(bind(s), bind(g))
		_ = rev.AdjointTangent(bind(s), bind(g), bind(tt), bind(h))
		_ = rev.Gradient(bind(s), bind(g))
		_ = rev.Gradient(place(s), place(g))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLostRowsAllocs has a loop over rows of data without cotangents, dense and not.
func TestLostRowsAllocs(t *testing.T) {
	for _, stride := range []int{2, 3} {
		p := rowsProgram()
		s := newRows(1000, 2, stride)
		g := rev.ZeroLike(s)
		g.x = nil
		tt, h := rev.ZeroLike(s), rev.ZeroLike(s)
		tt.x, h.x = nil, nil
		if n := testing.AllocsPerRun(5, func() {
			_, err := rev.ValueGradient(p, func(s *rows) *float64 { return &s.r[0] }, s, g)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rev.HessianVector(p, func(s *rows) *float64 { return &s.r[0] }, s, g, tt, h); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("stride %d: %v allocations", stride, n)
		}
	}
}

// BenchmarkRows reports the time of a row of data without cotangents, with storage of
// its own or not, beside that of a row with cotangents.
func BenchmarkRows(b *testing.B) {
	for _, stride := range []int{2, 3} {
		for _, wanted := range []bool{true, false} {
			b.Run(fmt.Sprintf("stride=%d/wanted=%v", stride, wanted), func(b *testing.B) {
				p := rowsProgram()
				s := newRows(10000, 2, stride)
				g := rev.ZeroLike(s)
				if !wanted {
					g.x = nil
				}
				for b.Loop() {
					_ = p.Adjoint(s, g)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10000, "ns/row")
			})
		}
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
