package revlinalg_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/kerneltest"
	"revnum/internal/number"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func mulElemSpec[T rev.Number](draw func(rnd *rand.Rand, n int) rev.Vector[T]) revtest.Spec[revlinalg.MulElem[T]] {
	return revtest.Spec[revlinalg.MulElem[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.MulElem[T] {
			return revlinalg.MulElem[T]{Z: draw(rnd, n), X: draw(rnd, n), Y: draw(rnd, n)}
		},
		Large: 8*elementwise.BlockSize + 5, // for two workers
	}
}

func TestMulElem(t *testing.T) {
	kerneltest.Kernels(t, mulElemSpec(kerneltest.Vector[float32]), mulElemSpec(kerneltest.Vector[float64]), mulElemSpec(kerneltest.Vector[fixed.Q43]))
	t.Run("complex128", func(t *testing.T) { revtest.Kernel(t, mulElemSpec(kerneltest.Complexes)) })
}

// Vectors of several pieces and blocks, beside products one by one.
func TestMulElemLong(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testMulElemLong(t, kerneltest.Vector[float32]) })
	t.Run("float64", func(t *testing.T) { testMulElemLong(t, kerneltest.Vector[float64]) })
	t.Run("Q43", func(t *testing.T) { testMulElemLong(t, kerneltest.Vector[fixed.Q43]) })
	t.Run("complex128", func(t *testing.T) { testMulElemLong(t, kerneltest.Complexes) })
}

func testMulElemLong[T rev.Number](t *testing.T, draw func(*rand.Rand, int) rev.Vector[T]) {
	rnd := rand.New(rand.NewPCG(21, 4))
	for _, n := range []int{512, 513, elementwise.BlockSize + 601} {
		x, y, gz := draw(rnd, n), draw(rnd, n), draw(rnd, n)
		zeros := func() rev.Vector[T] { return rev.ViewSlice(make([]T, n)) }
		z, gx, gy := zeros(), zeros(), zeros()
		k := revlinalg.MulElem[T]{Z: z, X: x, Y: y}
		k.Forward()
		for i := range n {
			if want := number.Mul(x.Data[i*x.Inc], y.Data[i*y.Inc]); z.Data[i] != want {
				t.Fatalf("%d elements: product %d is %v, want %v", n, i, z.Data[i], want)
			}
		}
		k.Adjoint(revlinalg.MulElem[T]{Z: gz, X: gx, Y: gy})
		for i := range n {
			g := gz.Data[i*gz.Inc]
			wantX, wantY := number.Mul(number.Conj(y.Data[i*y.Inc]), g), number.Mul(number.Conj(x.Data[i*x.Inc]), g)
			if z.Data[i] != 0 || gx.Data[i] != wantX || gy.Data[i] != wantY {
				t.Fatalf("%d elements: after Adjoint %d has %v, %v and %v, want 0, %v and %v", n, i, z.Data[i], gx.Data[i], gy.Data[i], wantX, wantY)
			}
		}
	}
}

func divElemSpec[T rev.Real]() revtest.Spec[revlinalg.DivElem[T]] {
	spec := revtest.Spec[revlinalg.DivElem[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.DivElem[T] {
			return revlinalg.DivElem[T]{Z: kerneltest.Vector[T](rnd, n), X: kerneltest.Vector[T](rnd, n), Y: kerneltest.Positive[T](rnd, n)}
		},
		Large: 8*elementwise.BlockSize + 5, // for two workers
	}
	spec.Failing = func(rnd *rand.Rand, n int) revlinalg.DivElem[T] {
		k := spec.New(rnd, n+1)
		k.Y.Data[n] = 0
		return k
	}
	return spec
}

func TestDivElem(t *testing.T) {
	kerneltest.Kernels(t, divElemSpec[float32](), divElemSpec[float64](), divElemSpec[fixed.Q43]())
}

// The error names the element.
func TestDivElemByZero(t *testing.T) {
	z, x, y := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 2}), mat.NewVecDense(2, []float64{3, 0})
	var e *rev.DomainError
	if err := revlinalg.NewDivElem(z, x, y).Forward(); !errors.As(err, &e) || e.Index != 1 || e.Args[0] != 2 || z.AtVec(0) != 0 {
		t.Errorf("error %v, and z is %v", err, z.RawVector().Data)
	}
}

func BenchmarkMulElem(b *testing.B) {
	const n = 1 << 20
	rnd := rand.New(rand.NewPCG(21, 3))
	vector := func() rev.Vector[float64] { return kerneltest.Vector[float64](rnd, n) }
	y, x, other, gy, gx := vector(), vector(), vector(), vector(), vector()
	run := func(name string, bytes int, pass func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				pass()
			}
			kerneltest.ReportBytes(b, bytes)
		})
	}
	mul, gmul := revlinalg.MulElem[float64]{Z: y, X: x, Y: other, Workers: 1}, revlinalg.MulElem[float64]{Z: gy, X: gx}
	run("MulElem/Forward", 24*n, mul.Forward)
	run("MulElem/Adjoint", 48*n, func() { mul.Adjoint(gmul) })
	div, gdiv := revlinalg.DivElem[float64]{Z: y, X: x, Y: other, Workers: 1}, revlinalg.DivElem[float64]{Z: gy, X: gx}
	run("DivElem/Forward", 24*n, func() { _ = div.Forward() })
	run("DivElem/Adjoint", 48*n, func() { _ = div.Adjoint(gdiv) })
}
