package revlinalg_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/revlinalg"
)

// BenchmarkSmall measures what a call costs beside its arithmetic: kernels of 1 to 100
// elements.
func BenchmarkSmall(b *testing.B) {
	small[float64](b, "float64")
	small[float32](b, "float32")
}

func small[T rev.Float](b *testing.B, numbers string) {
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func() *T { return &kerneltest.Vector[T](rnd, 1).Data[0] }
	vec := func(n int) rev.Vector[T] { return kerneltest.Positive[T](rnd, n) }
	gen := func(m, n int) rev.General[T] { return kerneltest.Matrix[T](rnd, m, n) }
	run := func(kernel string, n int, forward, inverse, adjoint, tangent func()) {
		for i, pass := range [...]func(){forward, inverse, adjoint, tangent} {
			name := [...]string{"Forward", "Inverse", "Adjoint", "Tangent"}[i]
			b.Run(fmt.Sprintf("%s/%d/%s/%s", kernel, n, numbers, name), func(b *testing.B) {
				for b.Loop() {
					pass()
				}
			})
		}
	}
	for _, n := range []int{1, 10, 100} {
		dot := func() revlinalg.Dot[T] { return revlinalg.Dot[T]{Out: number(), X: vec(n), Y: vec(n)} }
		k1, g1 := dot(), dot()
		run("Dot", n, func() { k1.Forward() }, func() { k1.Inverse() }, func() { k1.Adjoint(g1) }, func() { k1.Tangent(g1) })

		axpy := func() revlinalg.Axpy[T] { return revlinalg.Axpy[T]{Y: vec(n), Alpha: number(), X: vec(n)} }
		k2, g2 := axpy(), axpy()
		run("Axpy", n, func() { k2.Forward() }, func() { k2.Inverse() }, func() { k2.Adjoint(g2) }, func() { k2.Tangent(g2) })

		norm := func() revlinalg.Norm2[T] { return revlinalg.Norm2[T]{Out: number(), X: vec(n)} }
		k3, g3 := norm(), norm()
		run("Norm2", n, func() { k3.Forward() }, func() { k3.Inverse() }, func() { k3.Adjoint(g3) }, func() { k3.Tangent(g3) })

		exp := func() revlinalg.Exp[T] { return revlinalg.Exp[T]{Y: vec(n), X: vec(n)} }
		k4, g4 := exp(), exp()
		run("Exp", n, func() { k4.Forward() }, func() { k4.Inverse() }, func() { k4.Adjoint(g4) }, func() { k4.Tangent(g4) })

		log := func() revlinalg.Log[T] { return revlinalg.Log[T]{Y: vec(n), X: vec(n)} }
		k5, g5 := log(), log()
		run("Log", n, func() { _ = k5.Forward() }, func() { _ = k5.Inverse() }, func() { _ = k5.Adjoint(g5) }, func() { _ = k5.Tangent(g5) })

		sin := func() revlinalg.Sin[T] { return revlinalg.Sin[T]{Y: vec(n), X: vec(n)} }
		k6, g6 := sin(), sin()
		run("Sin", n, func() { k6.Forward() }, func() { k6.Inverse() }, func() { k6.Adjoint(g6) }, func() { k6.Tangent(g6) })

		mul := func() revlinalg.MulElem[T] { return revlinalg.MulElem[T]{Z: vec(n), X: vec(n), Y: vec(n)} }
		k7, g7 := mul(), mul()
		run("MulElem", n, func() { k7.Forward() }, func() { k7.Inverse() }, func() { k7.Adjoint(g7) }, func() { k7.Tangent(g7) })

		div := func() revlinalg.DivElem[T] { return revlinalg.DivElem[T]{Z: vec(n), X: vec(n), Y: vec(n)} }
		k8, g8 := div(), div()
		run("DivElem", n, func() { _ = k8.Forward() }, func() { _ = k8.Inverse() }, func() { _ = k8.Adjoint(g8) }, func() { _ = k8.Tangent(g8) })
	}
	for _, n := range []int{1, 8} {
		affine := func() revlinalg.Affine[T] {
			return revlinalg.Affine[T]{Y: vec(n), W: gen(n, n), X: vec(n), B: vec(n)}
		}
		k1, g1 := affine(), affine()
		run("Affine", n, func() { k1.Forward() }, func() { k1.Inverse() }, func() { k1.Adjoint(g1) }, func() { k1.Tangent(g1) })

		matmul := func() revlinalg.MatMul[T] {
			return revlinalg.MatMul[T]{C: gen(n, n), A: gen(n, n), B: gen(n, n)}
		}
		k2, g2 := matmul(), matmul()
		run("MatMul", n, func() { k2.Forward() }, func() { k2.Inverse() }, func() { k2.Adjoint(g2) }, func() { k2.Tangent(g2) })

		unitary := func() revlinalg.Unitary[T] {
			return revlinalg.Unitary[T]{X: gen(n, 4), Theta: vec(n * (n - 1) / 2)}
		}
		k3, g3 := unitary(), unitary()
		run("Unitary", n, func() { k3.Forward() }, func() { k3.Inverse() }, func() { k3.Adjoint(g3) }, func() { k3.Tangent(g3) })

		definite := func() rev.General[T] {
			m := gen(n, n)
			for i := range n {
				m.Row(i)[i] += T(2 * n)
			}
			return m
		}
		chol := func() revlinalg.Cholesky[T] { return revlinalg.Cholesky[T]{L: gen(n, n), A: definite()} }
		k4, g4 := chol(), chol()
		run("Cholesky", n, func() { _ = k4.Forward() }, func() { _ = k4.Inverse() }, func() { _ = k4.Adjoint(g4) }, func() { _ = k4.Tangent(g4) })
	}
}
