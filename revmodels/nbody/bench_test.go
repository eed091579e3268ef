package nbody

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/rev"
)

// BenchmarkStep measures one step of Leapfrog and its adjoint, for the solar system and
// for many bodies, with one worker. The flops are 18 a pair.
func BenchmarkStep(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	many := make([]Body, 1024)
	for i := range many {
		many[i].Mu = 1
		for c := range 3 {
			many[i].Q[c] = 100 * rnd.NormFloat64()
		}
	}
	for _, bodies := range [][]Body{SolarSystem(), many} {
		n := len(bodies)
		repeat := 1 + 10000/(n*n)
		o := Options{Dt: 1e-3, Workers: 1}
		s := NewSystem[float64](bodies)
		k, g := NewSteps(s, repeat, o), NewSteps(rev.ZeroLike(s), repeat, o)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			report := func(b *testing.B) {
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(repeat)
				b.ReportMetric(ns, "ns/step")
				b.ReportMetric(18*float64(n*n)/ns, "Gflop/s")
			}
			b.Run("Forward", func(b *testing.B) {
				for b.Loop() {
					_ = k.Forward()
				}
				report(b)
			})
			b.Run("Adjoint", func(b *testing.B) {
				for b.Loop() {
					_ = k.Adjoint(g)
				}
				report(b)
			})
		})
	}
}
