package revlinalg_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func randomMatMul[T rev.Real](rnd *rand.Rand, m, k, n int, transA, transB bool) revlinalg.MatMul[T] {
	s := revlinalg.MatMul[T]{C: kerneltest.Matrix[T](rnd, m, n), TransA: transA, TransB: transB}
	if transA {
		s.A = kerneltest.Matrix[T](rnd, k, m)
	} else {
		s.A = kerneltest.Matrix[T](rnd, m, k)
	}
	if transB {
		s.B = kerneltest.Matrix[T](rnd, n, k)
	} else {
		s.B = kerneltest.Matrix[T](rnd, k, n)
	}
	return s
}

func matMulSpec[T rev.Real](transA, transB bool) revtest.Spec[revlinalg.MatMul[T]] {
	return revtest.Spec[revlinalg.MatMul[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.MatMul[T] {
			return randomMatMul[T](rnd, size, size+1, size, transA, transB)
		},
		Large:     70, // of two blocks
		RoundTrip: 4,  // the sum is larger than either C
	}
}

func TestMatMul(t *testing.T) {
	for _, trans := range []struct{ a, b bool }{{}, {a: true}, {b: true}, {a: true, b: true}} {
		t.Run(fmt.Sprintf("%+v", trans), func(t *testing.T) {
			if trans.a != trans.b && !long.Tests() {
				t.Run("float64", func(t *testing.T) { revtest.Kernel(t, matMulSpec[float64](trans.a, trans.b)) })
				return
			}
			kerneltest.Kernels(t, matMulSpec[float32](trans.a, trans.b), matMulSpec[float64](trans.a, trans.b), matMulSpec[fixed.Q43](trans.a, trans.b))
		})
	}
}

func TestMatMulValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for _, n := range []int{1, 5, 70} {
		a := mat.NewDense(n+2, n+9, kerneltest.Normals[float64](rnd, (n+2)*(n+9), 1)).Slice(1, n+1, 3, n+7).(*mat.Dense)
		b := mat.NewDense(n+4, n+1, kerneltest.Normals[float64](rnd, (n+4)*(n+1), 1))
		c := mat.NewDense(n, n+1, kerneltest.Normals[float64](rnd, n*(n+1), 1))
		var want mat.Dense
		want.Mul(a, b)
		want.Add(&want, c)
		for _, k := range []revlinalg.MatMul[float64]{
			revlinalg.NewMatMul(mat.DenseCopyOf(c), a, b),
			revlinalg.NewMatMul(mat.DenseCopyOf(c), mat.DenseCopyOf(a.T()).T(), b),
			revlinalg.NewMatMul(mat.DenseCopyOf(c), a, mat.DenseCopyOf(b.T()).T()),
		} {
			k.Forward()
			if got := mat.NewDense(n, n+1, k.C.Data); !mat.EqualApprox(got, &want, 1e-12) {
				t.Errorf("n=%d, transposed %v, %v: got %v, want %v", n, k.TransA, k.TransB, mat.Formatted(got), mat.Formatted(&want))
			}
		}
	}
}

// Workers cut the rows of a tall C and the columns of a wide one, where the last
// columns may be too few for a block, and share the products of the adjoint: the
// bits are those of one worker.
func TestMatMulBlocks(t *testing.T) {
	for i, dim := range [][3]int{{300, 40, 100}, {40, 100, 800}, {20, 20, 1354}, {40, 300, 1100}, {192, 192, 192}} {
		for trans := range 4 {
			if (i+trans)%2 > 0 && !long.Tests() {
				continue
			}
			var want [][]float64
			for _, workers := range []int{1, 3, 2}[:long.Or(3, 2)] {
				rnd := rand.New(rand.NewPCG(9, 4))
				random := func() revlinalg.MatMul[float64] {
					return randomMatMul[float64](rnd, dim[0], dim[1], dim[2], trans&1 != 0, trans&2 != 0)
				}
				k, g, h, dk, dg := random(), random(), random(), random(), random()
				k.Workers = workers
				k.Forward()
				k.Tangent(dk)
				k.Adjoint(g)
				k.AdjointTangent(h, dk, dg)
				got := [][]float64{k.C.Data, dk.C.Data, g.A.Data, g.B.Data, h.A.Data, h.B.Data, dg.A.Data, dg.B.Data}
				if workers == 1 {
					want = got
				} else if !slices.EqualFunc(got, want, slices.Equal) {
					t.Errorf("%v, transposed %v, %v: %d workers make other bits", dim, k.TransA, k.TransB, workers)
				}
			}
		}
	}
}

// The cotangents of C += A·A are one matrix, to which both products are added.
func TestMatMulSquare(t *testing.T) {
	const n = 100
	var want []float64
	for _, workers := range []int{1, 3} {
		rnd := rand.New(rand.NewPCG(9, 6))
		k := randomMatMul[float64](rnd, n, n, n, false, false)
		g := randomMatMul[float64](rnd, n, n, n, false, false)
		k.B, g.B, k.Workers = k.A, g.A, workers
		k.Adjoint(g)
		if workers == 1 {
			want = g.A.Data
		} else if !slices.Equal(g.A.Data, want) {
			t.Errorf("%d workers make other bits", workers)
		}
	}
}

// Fixed-point products are exact and rounded once, whatever the blocks, also if
// numbers wrap.
func TestMatMulFixedExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 2))
	for _, dim := range [][3]int{{1, 1, 1}, {2, 3, 4}, {33, 259, 31}, {31, 128, 65}} {
		m, k, n := dim[0], dim[1], dim[2]
		for _, trans := range []struct{ a, b bool }{{}, {a: true}, {b: true}, {a: true, b: true}} {
			s := randomMatMul[fixed.Q43](rnd, m, k, n, trans.a, trans.b)
			for _, x := range [][]fixed.Q43{s.A.Data, s.B.Data} {
				for i := range x {
					if rnd.IntN(2) == 0 {
						x[i] = fixed.Q43(rnd.Uint64()) >> rnd.IntN(64)
					}
				}
			}
			want := slices.Clone(s.C.Data)
			at := func(x rev.General[fixed.Q43], trans bool, i, j int) fixed.Q43 {
				if trans {
					i, j = j, i
				}
				return x.Row(i)[j]
			}
			for i := range m {
				for j := range n {
					var sum fixed.Accumulator
					for l := range k {
						sum.AddMul(at(s.A, s.TransA, i, l), at(s.B, s.TransB, l, j))
					}
					want[i*n+j] += sum.Round()
				}
			}
			before := slices.Clone(s.C.Data)
			for _, s.Workers = range []int{1, 3} {
				s.Forward()
				if !slices.Equal(s.C.Data, want) {
					t.Errorf("%d×%d×%d, transposed %v: the sums differ", m, k, n, trans)
				}
				s.Inverse()
				if !slices.Equal(s.C.Data, before) {
					t.Errorf("%d×%d×%d, transposed %v: C is not restored", m, k, n, trans)
				}
			}
		}
	}
}

func BenchmarkMatMul(b *testing.B) {
	rnd := rand.New(rand.NewPCG(9, 3))
	n := 1024
	benchMatMul(b, "float64", n, randomMatMul[float64](rnd, n, n, n, false, false), randomMatMul[float64](rnd, n, n, n, false, false))
	for _, n := range []int{64, 256} {
		benchMatMul(b, "float64", n, randomMatMul[float64](rnd, n, n, n, false, false), randomMatMul[float64](rnd, n, n, n, false, false))
		benchMatMul(b, "float32", n, randomMatMul[float32](rnd, n, n, n, false, false), randomMatMul[float32](rnd, n, n, n, false, false))
		benchMatMul(b, "Q43", n, randomMatMul[fixed.Q43](rnd, n, n, n, false, false), randomMatMul[fixed.Q43](rnd, n, n, n, false, false))
	}
}

func benchMatMul[T rev.Real](b *testing.B, name string, n int, k, g revlinalg.MatMul[T]) {
	k.Workers, g.Workers = 1, 1
	b.Run(fmt.Sprintf("%s/Forward/n=%d", name, n), func(b *testing.B) {
		for b.Loop() {
			k.Forward()
		}
		kerneltest.ReportFlops(b, 2*n*n*n)
	})
	b.Run(fmt.Sprintf("%s/Adjoint/n=%d", name, n), func(b *testing.B) {
		for b.Loop() {
			k.Adjoint(g)
		}
		kerneltest.ReportFlops(b, 6*n*n*n)
	})
	k.C = rev.General[T]{}
	b.Run(fmt.Sprintf("%s/Gradient/n=%d", name, n), func(b *testing.B) {
		for b.Loop() {
			k.Adjoint(g)
		}
		kerneltest.ReportFlops(b, 4*n*n*n)
	})
}

func scalarMatMul(n int, c, a, b []float64) {
	for i := range n {
		row := c[i*n:][:n]
		for l, v := range a[i*n:][:n] {
			for j, w := range b[l*n:][:n] {
				row[j] += v * w
			}
		}
	}
}

func scalarDot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Loops to compare with: float64 without vector code, and fixed point as it
// would be written for one type by hand, B by columns.
func BenchmarkMatMulLoops(b *testing.B) {
	const n = 256
	rnd := rand.New(rand.NewPCG(9, 4))
	b.Run("float64/n=256", func(b *testing.B) {
		s := randomMatMul[float64](rnd, n, n, n, false, false)
		for b.Loop() {
			scalarMatMul(n, s.C.Data, s.A.Data, s.B.Data)
		}
		kerneltest.ReportFlops(b, 2*n*n*n)
	})
	b.Run("Q43/n=256", func(b *testing.B) {
		s := randomMatMul[fixed.Q43](rnd, n, n, n, false, true)
		for b.Loop() {
			for i := range n {
				for j := range n {
					s.C.Data[i*n+j] += fixed.Dot(s.A.Data[i*n:][:n], s.B.Data[j*n:][:n])
				}
			}
		}
		kerneltest.ReportFlops(b, 2*n*n*n)
	})
}

// Dot products over the types of numbers, and the loop for float64 without
// vector code.
func BenchmarkDotTypes(b *testing.B) {
	const n = 1000
	rnd := rand.New(rand.NewPCG(9, 5))
	benchDot(b, "float64", kerneltest.Vector[float64](rnd, n), kerneltest.Vector[float64](rnd, n))
	benchDot(b, "float32", kerneltest.Vector[float32](rnd, n), kerneltest.Vector[float32](rnd, n))
	benchDot(b, "Q43", kerneltest.Vector[fixed.Q43](rnd, n), kerneltest.Vector[fixed.Q43](rnd, n))
	b.Run("float64 loop", func(b *testing.B) {
		x, y := kerneltest.Vector[float64](rnd, n).Data, kerneltest.Vector[float64](rnd, n).Data
		r := 0.0
		for b.Loop() {
			r += scalarDot(x, y)
		}
		kerneltest.ReportFlops(b, 2*n)
	})
	b.Run("Q43 loop", func(b *testing.B) {
		x, y := kerneltest.Vector[fixed.Q43](rnd, n).Data, kerneltest.Vector[fixed.Q43](rnd, n).Data
		var r fixed.Q43
		for b.Loop() {
			r += fixed.Dot(x, y)
		}
		kerneltest.ReportFlops(b, 2*n)
	})
}

func benchDot[T rev.Real](b *testing.B, name string, x, y rev.Vector[T]) {
	k := revlinalg.Dot[T]{Out: new(T), X: x, Y: y}
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			k.Forward()
		}
		kerneltest.ReportFlops(b, 2*x.N)
	})
}

// A derivative that is stored as the transpose of its operand, or in the other triangle, panics. It
// would be read or written as if it were not. One without the flag is stored as the operand is.
func TestLayout(t *testing.T) {
	dense := func() *mat.Dense { return mat.NewDense(2, 2, []float64{2, 0, 1, 3}) }
	lower, upper := func() *mat.TriDense { return mat.NewTriDense(2, mat.Lower, nil) }, func() *mat.TriDense { return mat.NewTriDense(2, mat.Upper, nil) }
	matMul := revlinalg.NewMatMul(dense(), dense(), dense())
	solve := revlinalg.NewSolve(dense(), dense(), dense())
	triSolve := revlinalg.NewTriSolve(dense(), mat.NewTriDense(2, mat.Lower, []float64{2, 0, 1, 3}), dense())
	for operand, pass := range map[string]func() error{
		"g.A of revlinalg.MatMul":                       func() error { matMul.Adjoint(revlinalg.NewMatMul(dense(), dense().T(), nil)); return nil },
		"t.B of revlinalg.MatMul":                       func() error { matMul.Tangent(revlinalg.NewMatMul(dense(), nil, dense().T())); return nil },
		"g.A of revlinalg.Solve":                        func() error { return solve.Adjoint(revlinalg.NewSolve(dense(), dense().T(), nil)) },
		"t.A of revlinalg.Solve":                        func() error { return solve.Tangent(revlinalg.NewSolve(dense(), dense().T(), nil)) },
		"g.A of revlinalg.TriSolve[float64] is upper":   func() error { return triSolve.Adjoint(revlinalg.NewTriSolve(dense(), upper(), nil)) },
		"t.A of revlinalg.TriSolve[float64] is transpo": func() error { return triSolve.Tangent(revlinalg.NewTriSolve(dense(), lower().TTri(), nil)) },
	} {
		func() {
			defer func() {
				err, ok := recover().(error)
				if !ok || !errors.Is(err, mat.ErrShape) || !strings.Contains(err.Error(), operand) {
					t.Errorf("panics with %v, want mat.ErrShape of %s", err, operand)
				}
			}()
			err := pass()
			t.Errorf("%s: no panic, and the error %v", operand, err)
		}()
	}
	ga := mat.NewDense(2, 2, nil)
	revlinalg.NewMatMul(dense(), dense().T(), dense()).Adjoint(revlinalg.NewMatMul(dense(), ga, nil))
	var want mat.Dense // the derivative by op(A) = Aᵀ is C̄·Bᵀ
	if want.Mul(dense(), dense().T()); !mat.Equal(ga.T(), &want) {
		t.Errorf("the gradient of a transposed factor is %v, want %v", mat.Formatted(ga), mat.Formatted(want.T()))
	}
}
