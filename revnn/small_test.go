package revnn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/revnn"
)

// BenchmarkSmall measures what a call costs beside its arithmetic: kernels of 1,
// 10 and 100 elements.
func BenchmarkSmall(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	vec := func(n int) rev.Vector[float64] { return kerneltest.Vector[float64](rnd, n) }
	run := func(kernel string, n int, forward, adjoint func()) {
		b.Run(fmt.Sprintf("%s/%d/Forward", kernel, n), func(b *testing.B) {
			for b.Loop() {
				forward()
			}
		})
		b.Run(fmt.Sprintf("%s/%d/Adjoint", kernel, n), func(b *testing.B) {
			for b.Loop() {
				adjoint()
			}
		})
	}
	for _, n := range []int{1, 10, 100} {
		softmax := func() revnn.Softmax[float64] { return revnn.Softmax[float64]{Y: vec(n), X: vec(n)} }
		k1, g1 := softmax(), softmax()
		run("Softmax", n, func() { k1.Forward() }, func() { k1.Adjoint(g1) })

		tanh := func() revnn.Tanh[float64] { return revnn.Tanh[float64]{Y: vec(n), X: vec(n)} }
		k2, g2 := tanh(), tanh()
		run("Tanh", n, func() { k2.Forward() }, func() { k2.Adjoint(g2) })

		relu := func() revnn.ReLU[float64] { return revnn.ReLU[float64]{Y: vec(n), X: vec(n)} }
		k3, g3 := relu(), relu()
		run("ReLU", n, func() { k3.Forward() }, func() { k3.Adjoint(g3) })
	}
}
