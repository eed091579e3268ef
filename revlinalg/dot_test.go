package revlinalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func TestDot(t *testing.T) {
	const large = 1 << 15
	kerneltest.Kernels(t, revtest.Spec[revlinalg.Dot[float32]]{Large: large}, revtest.Spec[revlinalg.Dot[float64]]{Large: large}, revtest.Spec[revlinalg.Dot[fixed.Q43]]{Large: large})
}

func TestDotValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	m := mat.NewDense(50, 3, kerneltest.Normals[float64](rnd, 150, 1))
	x, y := m.ColView(0).(*mat.VecDense), m.ColView(2).(*mat.VecDense)
	r := 1.0
	revlinalg.NewDot(&r, x, y).Forward()
	if want := 1 + mat.Dot(x, y); !(math.Abs(r-want) <= 1e-13) {
		t.Errorf("got %v, want %v", r, want)
	}
}

// The same numbers give the same fixed-point sum, with gaps and without, as
// it is exact before it is rounded.
func TestDotFixedGaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const n = 100
	x, y := make([]fixed.Q43, n), make([]fixed.Q43, n)
	wide := make([]fixed.Q43, 3*n)
	for i := range x {
		x[i], y[i] = fixed.FromFloat64(rnd.NormFloat64()), fixed.FromFloat64(rnd.NormFloat64())
		wide[3*i] = x[i]
	}
	var a, b fixed.Q43
	revlinalg.Dot[fixed.Q43]{Out: &a, X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}.Forward()
	revlinalg.Dot[fixed.Q43]{Out: &b, X: rev.Vector[fixed.Q43]{N: n, Data: wide, Inc: 3}, Y: rev.ViewSlice(y)}.Forward()
	if a != b {
		t.Errorf("%v with gaps, %v without", b, a)
	}
}

func BenchmarkDot(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{100, 1000, 10_000, 1_000_000} {
		x, y := kerneltest.Normals[float64](rnd, n, 1), kerneltest.Normals[float64](rnd, n, 1)
		gx, gy := kerneltest.Normals[float64](rnd, n, 1), kerneltest.Normals[float64](rnd, n, 1)
		r, gr := 0.0, 1.0
		k := revlinalg.Dot[float64]{Out: &r, X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
		g := revlinalg.Dot[float64]{Out: &gr, X: rev.ViewSlice(gx), Y: rev.ViewSlice(gy)}
		b.Run(fmt.Sprintf("Forward/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportBytes(b, 16*n)
		})
		b.Run(fmt.Sprintf("Adjoint/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			kerneltest.ReportBytes(b, 48*n) // x and y, and gx and gy read and written
		})
	}
}
