package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// definite returns a symmetric matrix with eigenvalues around 1 and above.
func definite[T rev.Float](rnd *rand.Rand, n int) rev.General[T] {
	b := kerneltest.Normals[float64](rnd, n*n, 1/math.Sqrt(float64(n+1)))
	a := rev.NewGeneral[T](n, n, nil)
	for i := range n {
		for j := range i + 1 {
			s := 0.0
			if i == j {
				s = 1
			}
			for l := range n {
				s += b[i*n+l] * b[j*n+l]
			}
			a.Row(i)[j], a.Row(j)[i] = T(s), T(s)
		}
	}
	return a
}

func choleskySpec[T rev.Float]() revtest.Spec[revlinalg.Cholesky[T]] {
	return revtest.Spec[revlinalg.Cholesky[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Cholesky[T] {
			return revlinalg.Cholesky[T]{L: kerneltest.Matrix[T](rnd, size, size), A: definite[T](rnd, size)}
		},
		Large:     150,
		RoundTrip: 4,             // the sum may be larger than either
		Masked:    []string{"A"}, // its lower triangle is not read
		Failing: func(rnd *rand.Rand, size int) revlinalg.Cholesky[T] {
			a := definite[T](rnd, size+1)
			a.Row(size)[size] = -1
			return revlinalg.Cholesky[T]{L: kerneltest.Matrix[T](rnd, size+1, size+1), A: a}
		},
	}
}

func TestCholesky(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, choleskySpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, choleskySpec[float32]()) })
	t.Run("blocks", func(t *testing.T) {
		spec := choleskySpec[float64]()
		spec.Sizes = []int{choleskyLeaf + 1, tileCols, tileCols + 1, 2*tileCols + 3}
		revtest.Kernel(t, spec)
	})
}

func TestCholeskyValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(20, 1))
	for _, n := range []int{1, 7, 64, 150} {
		a := mat.NewSymDense(n, definite[float64](rnd, n).Data)
		for i := range n {
			for j := range i {
				a.RawSymmetric().Data[i*n+j] = math.NaN() // not read
			}
		}
		var c mat.Cholesky
		if !c.Factorize(a) {
			t.Fatal("gonum finds the matrix not positive definite")
		}
		var want mat.TriDense
		c.LTo(&want)
		got := mat.NewTriDense(n, mat.Lower, nil)
		if err := revlinalg.NewCholesky(got, a).Forward(); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got, &want, 1e-13) {
			t.Errorf("n=%d: not gonum's factor", n)
		}
	}
}

// The factor of an ill-conditioned matrix reproduces it to rounding, and the
// scale of a matrix does not matter.
func TestCholeskyResidual(t *testing.T) {
	const n = 90
	for _, scale := range []float64{1, 0x1p-1000, 0x1p1000} {
		a := rev.NewGeneral[float64](n, n, nil)
		for i := range n {
			for j := range n {
				a.Row(i)[j] = scale * math.Exp(-math.Pow(float64(i-j)/4, 2)/2)
			}
			a.Row(i)[i] += 1e-10 * scale
		}
		l := rev.NewGeneral[float64](n, n, nil)
		if err := (revlinalg.Cholesky[float64]{L: l, A: a}).Forward(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range i + 1 {
				s := 0.0
				for k := range j + 1 {
					s += l.Row(i)[k] * l.Row(j)[k]
				}
				if !(math.Abs(s-a.Row(i)[j]) <= 20*0x1p-52*scale) {
					t.Fatalf("scale %g: L·Lᵀ is %v at (%d, %d), want %v", scale, s, i, j, a.Row(i)[j])
				}
			}
		}
	}
}

func TestCholeskyNotDefinite(t *testing.T) {
	a := rev.NewGeneral(3, 3, []float64{4, 2, 0, 2, 1, 0, 0, 0, 1})
	err := revlinalg.Cholesky[float64]{L: rev.NewGeneral[float64](3, 3, nil), A: a}.Forward()
	var e *rev.NotPositiveDefiniteError
	if !errors.As(err, &e) || e.Row != 1 || e.Value != 0 {
		t.Errorf("got %v, want pivot 1 to be 0", err)
	}
	// Far down in a matrix of several blocks.
	b := definite[float64](rand.New(rand.NewPCG(20, 2)), 100)
	b.Row(77)[77] = -3
	err = revlinalg.Cholesky[float64]{A: b}.Forward()
	if !errors.As(err, &e) || e.Row != 77 || !(e.Value < -3) {
		t.Errorf("got %v, want pivot 77 below -3", err)
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{64, 256, 512, 1024} {
		rnd := rand.New(rand.NewPCG(20, 3))
		a := kerneltest.Matrix[float64](rnd, n, n)
		for i := range n {
			a.Row(i)[i] += float64(n)
		}
		l, gl, ga := kerneltest.Matrix[float64](rnd, n, n), kerneltest.Matrix[float64](rnd, n, n), kerneltest.Matrix[float64](rnd, n, n)
		for _, workers := range []int{1, 2} {
			k := revlinalg.Cholesky[float64]{L: l, A: a, Workers: workers}
			b.Run(fmt.Sprintf("Forward/n=%d/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Forward()
				}
				kerneltest.ReportFlops(b, n*n*n/3)
			})
			b.Run(fmt.Sprintf("Adjoint/n=%d/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Adjoint(revlinalg.Cholesky[float64]{L: gl, A: ga})
				}
				kerneltest.ReportFlops(b, n*n*n)
			})
		}
		b.Run(fmt.Sprintf("gonum/n=%d", n), func(b *testing.B) {
			s := mat.NewSymDense(n, a.Data)
			var c mat.Cholesky
			for b.Loop() {
				c.Factorize(s)
			}
			kerneltest.ReportFlops(b, n*n*n/3)
		})
	}
}
