//go:build !race && !mutants

package examples

import (
	"math/rand/v2"
	"testing"

	"revnum/rev"
)

// strided returns v with gaps between its elements.
func strided(v rev.Vector[float64]) rev.Vector[float64] {
	data := make([]float64, 3*v.N)
	for i, x := range v.Data {
		data[3*i] = x
	}
	return rev.Vector[float64]{N: v.N, Data: data, Inc: 3}
}

// No pass allocates, also with strided vectors, and with nil derivatives of operands that are
// transformed in place. (The race detector drops memory of pools.)
func TestAllocations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	count := func(name string, f func()) {
		f()
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	for _, p := range byHand(6) {
		count(p.name, func() {
			p.forward()
			p.adjoint()
			p.tangent()
			p.second()
		})
	}
	turn, g := rotateSpec[float64]().New(rnd, 8), rotateSpec[float64]().New(rnd, 8)
	turn.X, g.Theta = strided(turn.X), strided(g.Theta)
	count("rotate without a cotangent of X", func() {
		turn.Forward()
		turn.Adjoint(Rotate[float64]{Theta: g.Theta})
	})
	sum := axpySpec[float64]().New(rnd, 8)
	grad := axpySpec[float64]().New(rnd, 8)
	sum.X, sum.Y, grad.X = strided(sum.X), strided(sum.Y), strided(grad.X)
	count("strided axpy", func() {
		sum.Forward()
		sum.Adjoint(grad)
	})
	move := leapfrogSpec[float64]().New(rnd, 5)
	var step float64
	count("leapfrog without cotangents of X and V", func() {
		move.Forward()
		move.Adjoint(Leapfrog[float64]{Dt: &step})
	})
}
