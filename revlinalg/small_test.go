package revlinalg_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/rev"
	"revnum/revlinalg"
)

// BenchmarkSmall measures what a call costs beside its arithmetic: kernels of 1,
// 10 and 100 elements.
func BenchmarkSmall(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	scalar := func() *float64 { v := rnd.NormFloat64(); return &v }
	vec := func(n int) rev.Vector[float64] {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		return rev.ViewSlice(x)
	}
	gen := func(r, c int) rev.General[float64] { return rev.NewGeneral(r, c, vec(r*c).Data) }
	definite := func(n int) rev.General[float64] {
		m := gen(n, n)
		for i := range n {
			m.Row(i)[i] += float64(2 * n)
		}
		return m
	}
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
		dot := func() revlinalg.Dot[float64] { return revlinalg.Dot[float64]{Out: scalar(), X: vec(n), Y: vec(n)} }
		k1, g1 := dot(), dot()
		run("Dot", n, func() { k1.Forward() }, func() { k1.Adjoint(g1) })

		axpy := func() revlinalg.Axpy[float64] {
			return revlinalg.Axpy[float64]{Y: vec(n), Alpha: scalar(), X: vec(n)}
		}
		k2, g2 := axpy(), axpy()
		run("Axpy", n, func() { k2.Forward() }, func() { k2.Adjoint(g2) })

		norm := func() revlinalg.Norm2[float64] { return revlinalg.Norm2[float64]{Out: scalar(), X: vec(n)} }
		k3, g3 := norm(), norm()
		run("Norm2", n, func() { k3.Forward() }, func() { k3.Adjoint(g3) })

		exp := func() revlinalg.Exp[float64] { return revlinalg.Exp[float64]{Y: vec(n), X: vec(n)} }
		k4, g4 := exp(), exp()
		run("Exp", n, func() { k4.Forward() }, func() { k4.Adjoint(g4) })

		affine := func() revlinalg.Affine[float64] {
			return revlinalg.Affine[float64]{Y: vec(n), W: gen(n, n), X: vec(n), B: vec(n)}
		}
		k5, g5 := affine(), affine()
		run("Affine", n, func() { k5.Forward() }, func() { k5.Adjoint(g5) })

		matmul := func() revlinalg.MatMul[float64] {
			return revlinalg.MatMul[float64]{C: gen(n, n), A: gen(n, n), B: gen(n, n), Workers: 1}
		}
		k6, g6 := matmul(), matmul()
		run("MatMul", n, func() { k6.Forward() }, func() { k6.Adjoint(g6) })

		unitary := func() revlinalg.Unitary[float64] {
			return revlinalg.Unitary[float64]{X: gen(n, 4), Theta: vec(n * (n - 1) / 2), Workers: 1}
		}
		k7, g7 := unitary(), unitary()
		run("Unitary", n, func() { k7.Forward() }, func() { k7.Adjoint(g7) })

		chol := func() revlinalg.Cholesky[float64] {
			return revlinalg.Cholesky[float64]{L: gen(n, n), A: definite(n), Workers: 1}
		}
		k8, g8 := chol(), chol()
		run("Cholesky", n, func() { _ = k8.Forward() }, func() { _ = k8.Adjoint(g8) })
	}
}
