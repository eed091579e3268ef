package revlinalg

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/cmplxs"

	"revnum/rev"
	"revnum/rev/revtest"
)

// complexes returns n random numbers of magnitude 1/2 or more, away from the cut
// of the logarithm.
func complexes(rnd *rand.Rand, n int) rev.Vector[complex128] {
	x := make([]complex128, n)
	for i := range x {
		x[i] = cmplx.Rect(0.5+rnd.Float64(), 2.5*(2*rnd.Float64()-1))
	}
	return rev.ViewSlice(x)
}

func TestComplexKernels(t *testing.T) {
	free := []string{"X.N"}
	t.Run("Dot", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexDot]{New: func(rnd *rand.Rand, n int) ComplexDot {
			return ComplexDot{R: new(complex128), X: complexes(rnd, n), Y: complexes(rnd, n)}
		}})
	})
	t.Run("Axpy", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexAxpy]{New: func(rnd *rand.Rand, n int) ComplexAxpy {
			return ComplexAxpy{Y: complexes(rnd, n), Alpha: &complexes(rnd, 1).Data[0], X: complexes(rnd, n)}
		}})
	})
	t.Run("Sum", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexSum]{Free: free, New: func(rnd *rand.Rand, n int) ComplexSum {
			return ComplexSum{Out: new(complex128), X: complexes(rnd, n)}
		}})
	})
	t.Run("SumSquares", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexSumSquares]{Free: free, New: func(rnd *rand.Rand, n int) ComplexSumSquares {
			return ComplexSumSquares{Out: new(float64), X: complexes(rnd, n)}
		}})
	})
	t.Run("Norm1", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexNorm1]{Free: free, New: func(rnd *rand.Rand, n int) ComplexNorm1 {
			return ComplexNorm1{Out: new(float64), X: complexes(rnd, n)}
		}})
	})
	t.Run("Norm2", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexNorm2]{Free: free, New: func(rnd *rand.Rand, n int) ComplexNorm2 {
			return ComplexNorm2{Out: new(float64), X: complexes(rnd, n)}
		}})
	})
	t.Run("Frobenius", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexFrobenius]{Free: []string{"A.Rows", "A.Cols"}, New: func(rnd *rand.Rand, n int) ComplexFrobenius {
			return ComplexFrobenius{Out: new(float64), A: rev.NewGeneral(n, n+1, complexes(rnd, n*(n+1)).Data)}
		}})
	})
	t.Run("Abs", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[ComplexAbs]{New: func(rnd *rand.Rand, n int) ComplexAbs {
			return ComplexAbs{Y: vectorOf[float64](rnd, n), X: complexes(rnd, n)}
		}})
	})
	t.Run("Log", func(t *testing.T) {
		spec := revtest.Spec[ComplexLog]{New: func(rnd *rand.Rand, n int) ComplexLog {
			return ComplexLog{Y: complexes(rnd, n), X: complexes(rnd, n)}
		}}
		spec.Failing = func(rnd *rand.Rand, n int) ComplexLog {
			k := spec.New(rnd, n+1)
			k.X.Data[n] = 0
			return k
		}
		revtest.Fallible(t, spec)
	})
}

func TestComplexValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 1))
	const n = 33
	x, y := complexes(rnd, n), complexes(rnd, n)
	var r, s complex128
	ComplexDot{R: &r, X: x, Y: y}.Forward()
	if want := cblas128.Dotc(cblas128.Vector{N: n, Data: x.Data, Inc: 1}, cblas128.Vector{N: n, Data: y.Data, Inc: 1}); !(cmplx.Abs(r-want) <= 1e-13) {
		t.Errorf("dot %v, want %v", r, want)
	}
	ComplexSum{Out: &s, X: x}.Forward()
	if want := cmplxs.Sum(x.Data); !(cmplx.Abs(s-want) <= 1e-13) {
		t.Errorf("sum %v, want %v", s, want)
	}
	var norm1, norm2, squares float64
	ComplexNorm1{Out: &norm1, X: x}.Forward()
	ComplexNorm2{Out: &norm2, X: x}.Forward()
	ComplexSumSquares{Out: &squares, X: x}.Forward()
	for _, c := range []struct{ got, want float64 }{
		{norm1, cmplxs.Norm(x.Data, 1)}, {norm2, cmplxs.Norm(x.Data, 2)}, {squares, math.Pow(cmplxs.Norm(x.Data, 2), 2)},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-13*c.want) {
			t.Errorf("norm %v, want %v", c.got, c.want)
		}
	}
}

// Subgradients at zero, and moduli whose squares are out of range.
func TestComplexAbsSpecial(t *testing.T) {
	for _, c := range []struct {
		x, g complex128
		abs  float64
	}{
		{0, 0, 0},
		{3e300 - 4e300i, 0.6 - 0.8i, 5e300},
		{0x3p-1074 + 0x4p-1074i, 0.6 + 0.8i, 0x5p-1074},
	} {
		var abs, norm float64
		one, ga, gn := 1.0, complex128(0), complex128(0)
		a := ComplexAbs{Y: rev.Vector[float64]{N: 1, Data: []float64{0}, Inc: 1}, X: rev.ViewSlice([]complex128{c.x})}
		a.Forward()
		abs = a.Y.Data[0]
		k := ComplexNorm1{Out: &norm, X: a.X}
		k.Forward()
		if !(math.Abs(abs-c.abs) <= 1e-15*c.abs) || norm != abs {
			t.Errorf("|%v| is %v, %v, want %v", c.x, abs, norm, c.abs)
		}
		at := func(z *complex128) rev.Vector[complex128] {
			return rev.Vector[complex128]{N: 1, Data: []complex128{*z}, Inc: 1}
		}
		va, vn := at(&ga), at(&gn)
		a.Adjoint(ComplexAbs{Y: rev.ViewSlice([]float64{one}), X: va})
		k.Adjoint(ComplexNorm1{Out: &one, X: vn})
		if !(cmplx.Abs(va.Data[0]-c.g) <= 1e-15) || vn.Data[0] != va.Data[0] {
			t.Errorf("gradient at %v is %v, %v, want %v", c.x, va.Data[0], vn.Data[0], c.g)
		}
	}
}

func ExampleComplexLog() {
	y, gy := rev.ViewSlice([]complex128{0}), rev.ViewSlice([]complex128{1})
	x, gx := rev.ViewSlice([]complex128{2i}), rev.ViewSlice([]complex128{0})
	k := ComplexLog{Y: y, X: x}
	if err := k.Forward(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%.4f\n", y.Data[0])
	if err := k.Adjoint(ComplexLog{Y: gy, X: gx}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(y.Data[0], gx.Data[0]) // 1/conj(2i)
	// Output:
	// (0.6931+1.5708i)
	// (0+0i) (0+0.5i)
}
