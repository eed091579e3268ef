package revsparse_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
)

func randomDot[T rev.Number, I revsparse.Index](rnd *rand.Rand, rows, cols, perRow int) revsparse.Dot[T, I] {
	r := randomNumber[T](rnd)
	return revsparse.Dot[T, I]{Out: &r, A: random[T, I](rnd, rows, cols, perRow), B: random[T, I](rnd, rows, cols, perRow)}
}

func dotSpec[T rev.Number, I revsparse.Index]() revtest.Spec[revsparse.Dot[T, I]] {
	return revtest.Spec[revsparse.Dot[T, I]]{
		Float64: revtest.PassesOf[revsparse.Dot[float64, I]](),
		New: func(rnd *rand.Rand, size int) revsparse.Dot[T, I] {
			return randomDot[T, I](rnd, size, size, 3)
		},
		Large:     8000,
		RoundTrip: 16,                 // the sum is larger than R
		Masked:    []string{"A", "B"}, // most entries of each meet none of the other
	}
}

func TestDot(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, dotSpec[float64, int32]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, dotSpec[float32, int]()) })
	t.Run("Q43", func(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, dotSpec[fixed.Q43, int32]()) })
	t.Run("complex128", func(t *testing.T) { revtest.Kernel(t, dotSpec[complex128, int]()) })
}

// The sum is that of dense matrices, also after calls that have left notes.
func TestDotValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for trial := range 50 {
		k := randomDot[float64, int](rnd, 1+rnd.IntN(30), 1+rnd.IntN(30), 1+trial%5)
		a, b := revsparse.Dense(k.A), revsparse.Dense(k.B)
		want := *k.Out
		for i, x := range a.Data {
			want += x * b.Data[i]
		}
		k.Forward()
		if math.Abs(*k.Out-want) > 1e-11 {
			t.Errorf("%d×%d: got %v, want %v", a.Rows, a.Cols, *k.Out, want)
		}
	}
}

// Rows of both matrices have columns many times. Each entry gets its own gradient, and
// places that only one of them has take no part.
func TestDotRepeats(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for trial := range 50 {
		k := randomDot[complex128, int](rnd, 12, 4+rnd.IntN(12), 1+trial%20)
		for i := range k.B.Rows {
			if q := k.B.Ptr[i]; q < k.B.Ptr[i+1] {
				k.B.Ind[q], k.B.Data[q] = 3, cmplx.NaN() // a column that A has not
			}
		}
		gr := randomNumber[complex128](rnd)
		ga, gb := k.A.With(numbers[complex128](rnd, k.A.NNZ())), k.B.With(numbers[complex128](rnd, k.B.NNZ()))
		a, b := revsparse.Dense(k.A), revsparse.Dense(k.B)
		wantR, wantA, wantB := *k.Out, slices.Clone(ga.Data), slices.Clone(gb.Data)
		for i := range k.A.Rows {
			for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
				wantR -= cmplx.Conj(k.A.Data[p]) * b.Row(i)[k.A.Ind[p]]
				wantA[p] += cmplx.Conj(gr) * b.Row(i)[k.A.Ind[p]]
			}
			for q := k.B.Ptr[i]; q < k.B.Ptr[i+1]; q++ {
				wantB[q] += gr * a.Row(i)[k.B.Ind[q]]
			}
		}
		k.Adjoint(revsparse.Dot[complex128, int]{Out: &gr, A: ga, B: gb})
		for _, x := range [][2][]complex128{{{*k.Out}, {wantR}}, {ga.Data, wantA}, {gb.Data, wantB}} {
			for n, got := range x[0] {
				if !(cmplx.Abs(got-x[1][n]) < 1e-9) {
					t.Fatalf("12×%d, element %d: got %v, want %v", k.A.Cols, n, got, x[1][n])
				}
			}
		}
	}
}

// With columns that differ, and with some that come twice in most rows.
func BenchmarkDot(b *testing.B) {
	rnd := rand.New(rand.NewPCG(3, 2))
	for _, name := range []string{"different", "twice"} {
		x, y := perRow(rnd, 1000, 50, 0), perRow(rnd, 1000, 50, 0)
		if name == "different" {
			x, y = unique(x), unique(y)
		}
		k := revsparse.Dot[float64, int32]{Out: new(float64), A: x, B: y, Workers: 1}
		gr := 1.0
		g := revsparse.Dot[float64, int32]{Out: &gr, A: x.With(make([]float64, x.NNZ())), B: y.With(make([]float64, y.NNZ()))}
		bytes := 12 * (x.NNZ() + y.NNZ())
		b.Run(name+"/Forward", func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportBytes(b, bytes)
		})
		b.Run(name+"/Adjoint", func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			kerneltest.ReportBytes(b, bytes)
		})
	}
}
