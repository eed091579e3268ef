package revlinalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// polySpec has m coefficients, and as many points as size says, at abscissae in
// [-1, 1].
func polySpec[T rev.Float](m int) revtest.Spec[revlinalg.PolyLeastSquares[T]] {
	spec := revtest.Spec[revlinalg.PolyLeastSquares[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.PolyLeastSquares[T] {
			x := make([]T, size)
			for i := range x {
				x[i] = T(2*rnd.Float64() - 1)
			}
			return revlinalg.PolyLeastSquares[T]{
				Out: new(T), C: rev.ViewSlice(kerneltest.Normals[T](rnd, m, 1)),
				X: rev.ViewSlice(x), Y: rev.ViewSlice(kerneltest.Normals[T](rnd, size, 1)),
			}
		},
		Large: 9 * 8 * polyPanel,
		Free:  []string{"C.N"},
	}
	if m == 1 {
		spec.Masked = []string{"X"} // x⁰ is 1 for all x
	}
	if m > 5 {
		spec.Step = 0x1p-14 // the polynomial is steep
	}
	return spec
}

func TestPolyLeastSquares(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, polySpec[float64](5)) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, polySpec[float32](5)) })
	// Several panels and parts, and all shapes of the matrix of coefficients.
	shapes := []int{17}
	if long.Tests() {
		shapes = []int{1, 16, 17, 40}
	}
	for _, m := range shapes {
		t.Run(fmt.Sprintf("coefficients=%d", m), func(t *testing.T) {
			spec := polySpec[float64](m)
			spec.Sizes = []int{3, polyPanel + 1, 9*polyPanel + 5}
			revtest.Kernel(t, spec)
		})
	}
}

// The objective by its definition, with powers from math.Pow.
func TestPolyLeastSquaresValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	for _, m := range []int{0, 1, 2, 3, 16, 33, 128} {
		for _, n := range []int{0, 1, 2, 100, 1000} {
			c := kerneltest.Normals[float64](rnd, m, 1)
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i] = -1 + 2*float64(i)/float64(n-1)
				y[i] = math.Copysign(1, x[i])
			}
			if n == 1 {
				x[0] = 0.5
			}
			want, gradient := 0.0, make([]float64, m)
			for i := range x {
				r := y[i]
				for j := range c {
					r -= c[j] * math.Pow(x[i], float64(j))
				}
				want += r * r / 2
				for j := range c {
					gradient[j] -= r * math.Pow(x[i], float64(j))
				}
			}
			out, gout := 0.0, 1.0
			gc := make([]float64, m)
			k := revlinalg.PolyLeastSquares[float64]{Out: &out, C: rev.ViewSlice(c), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
			k.Forward()
			if !kerneltest.Near(out, want, 1e-12) {
				t.Errorf("m=%d n=%d: got %v, want %v", m, n, out, want)
			}
			k.Adjoint(revlinalg.PolyLeastSquares[float64]{Out: &gout, C: rev.ViewSlice(gc)})
			for j := range gc {
				if !(math.Abs(gc[j]-gradient[j]) <= 1e-11*math.Sqrt(float64(n)*2*want)) {
					t.Errorf("m=%d n=%d: gradient %v of c_%d, want %v", m, n, gc[j], j, gradient[j])
				}
			}
		}
	}
}

// At the solution that gonum finds for the normal problem, the gradient is
// zero.
func TestPolyLeastSquaresOptimum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 6))
	const n, m = 60, 5
	x, y := kerneltest.Normals[float64](rnd, n, 1), kerneltest.Normals[float64](rnd, n, 1)
	v := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			v.Set(i, j, math.Pow(x[i], float64(j)))
		}
	}
	var c mat.VecDense
	if err := c.SolveVec(v, mat.NewVecDense(n, y)); err != nil {
		t.Fatal(err)
	}
	gc := make([]float64, m)
	gout := 1.0
	k := revlinalg.PolyLeastSquares[float64]{C: rev.ViewVec(&c), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
	k.Adjoint(revlinalg.PolyLeastSquares[float64]{Out: &gout, C: rev.ViewSlice(gc)})
	for j, g := range gc {
		if !(math.Abs(g) <= 1e-9) {
			t.Errorf("derivative %v with respect to c_%d", g, j)
		}
	}
}

// Far abscissae overflow only where their powers do.
func TestPolyLeastSquaresFar(t *testing.T) {
	c := make([]float64, 20)
	c[0], c[19] = 1, 1e-300
	out := 0.0
	k := revlinalg.PolyLeastSquares[float64]{Out: &out, C: rev.ViewSlice(c), X: rev.ViewSlice([]float64{1e15}), Y: rev.ViewSlice([]float64{2})}
	k.Forward()
	// p = 1 + 1e-300·1e285
	if !kerneltest.Near(out, 0.5, 1e-12) {
		t.Errorf("got %v, want 0.5", out)
	}
}

func BenchmarkPolyLeastSquares(b *testing.B) {
	const m = 128
	for _, n := range []int{16, 1024, 16_392} {
		rnd := rand.New(rand.NewPCG(1, 7))
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = -1 + 2*float64(i)/float64(n-1)
			y[i] = math.Copysign(1, x[i])
		}
		c, gc := kerneltest.Normals[float64](rnd, m, 1), make([]float64, m)
		out, gout := 0.0, 1.0
		for _, workers := range []int{1, 2} {
			k := revlinalg.PolyLeastSquares[float64]{Out: &out, C: rev.ViewSlice(c), X: rev.ViewSlice(x), Y: rev.ViewSlice(y), Workers: workers}
			g := revlinalg.PolyLeastSquares[float64]{Out: &gout, C: rev.ViewSlice(gc)}
			b.Run(fmt.Sprintf("Forward/n=%d/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					k.Forward()
				}
				kerneltest.ReportFlops(b, 2*m*n)
			})
			b.Run(fmt.Sprintf("Adjoint/n=%d/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					k.Adjoint(g)
				}
				kerneltest.ReportFlops(b, 4*m*n)
			})
		}
	}
}
