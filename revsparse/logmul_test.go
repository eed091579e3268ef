package revsparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlog"
	"revnum/revsparse"
)

func randomLogMul[T rev.Float, I revsparse.Index](rnd *rand.Rand, size int) revsparse.LogMul[T, I] {
	a := random[T, I](rnd, size, size, 2)
	k := revsparse.LogMul[T, I]{C: matrixOf[T](rnd, size, min(size, logColumns+1)), A: a, B: matrixOf[T](rnd, size, min(size, logColumns+1))}
	for i := range a.Rows {
		for j := range k.C.Cols {
			// As large as the product, or it would not come back.
			k.C.Data[i*k.C.Stride+j] += T(math.Log(1 + float64(a.Ptr[i+1]-a.Ptr[i])))
		}
	}
	return k
}

func logMulSpec[T rev.Float, I revsparse.Index]() revtest.Spec[revsparse.LogMul[T, I]] {
	return revtest.Spec[revsparse.LogMul[T, I]]{
		New:   randomLogMul[T, I],
		Large: 2000, // several blocks
		// The bound of sums over logs, as in package revlog.
		RoundTrip: 4 * 55,
		Masked:    []string{"A", "B"}, // rows and columns without entries
	}
}

func TestLogMul(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, logMulSpec[float64, int32]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, logMulSpec[float32, int]()) })
}

// A dense matrix that has -Inf where A has no entry gives the same.
func TestLogMulValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	k := randomLogMul[float64, int](rnd, 20)
	k.A = unique(k.A.Sorted())
	full := mat.NewDense(20, 20, nil)
	full.Apply(func(_, _ int, _ float64) float64 { return math.Inf(-1) }, full)
	for i := range 20 {
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			full.Set(i, k.A.Ind[p], k.A.Data[p])
		}
	}
	c := mat.NewDense(20, logColumns+1, append([]float64(nil), k.C.Data...))
	revlog.NewMatMul(c, full, mat.NewDense(20, logColumns+1, k.B.Data)).Forward()
	k.Forward()
	if got := mat.NewDense(20, logColumns+1, k.C.Data); !mat.EqualApprox(got, c, 1e-13) {
		t.Errorf("got %v, want %v", mat.Formatted(got), mat.Formatted(c))
	}
}

// What is restored is within the bound of the documentation, however large the logs are
// and the product beside C.
func TestLogMulRestores(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testLogMulRestores[float64](t, 0x1p-52) })
	t.Run("float32", func(t *testing.T) { testLogMulRestores[float32](t, 0x1p-23) })
}

func testLogMulRestores[T rev.Float](t *testing.T, eps float64) {
	rnd := rand.New(rand.NewPCG(9, 4))
	farthest := 0.0
	for range 1000 {
		n, cols := 1+rnd.IntN(20), 1+rnd.IntN(logColumns+2)
		a := random[T, int](rnd, n, n, 1+rnd.IntN(20))
		b, c := matrixOf[T](rnd, n, cols), matrixOf[T](rnd, n, cols)
		scale, shift := T(math.Pow(10, float64(rnd.IntN(5)-2))), T(math.Pow(10, float64(rnd.IntN(5)-2))*rnd.NormFloat64())
		for _, x := range [][]T{a.Data, b.Data, c.Data} {
			for i := range x {
				x[i] *= scale
			}
		}
		for i := range c.Data {
			c.Data[i] += shift
		}
		before := slices.Clone(c.Data)
		k := revsparse.LogMul[T, int]{C: c, A: a, B: b}
		k.Forward()
		after := slices.Clone(c.Data)
		k.Inverse()
		for i, x := range after {
			y, z := float64(x), float64(before[i])
			bound := eps * (math.Abs(y) + 4) * math.Exp(y-z)
			if bound >= 0.5 {
				continue
			}
			farthest = max(farthest, y-z)
			if got := float64(c.Data[i]); !(math.Abs(got-z) <= bound) {
				t.Fatalf("%v, which %v was made of, came back as %v, not within %.3g", z, y, got, bound)
			}
		}
	}
	if farthest < 8 {
		t.Errorf("products are e^%.3g times what they are added to, at most", farthest)
	}
}

// Elements are revlog.Dot's, infinite and missing ones too.
func TestLogMulSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	values := []float64{-inf, -1e308, -3, 0, 2, 1e308, inf, nan, math.Copysign(nan, -1)}
	rnd := rand.New(rand.NewPCG(9, 3))
	pick := func() float64 { return values[rnd.IntN(len(values))] }
	for range 3000 {
		n := 1 + rnd.IntN(3)
		x, y := make([]float64, n), make([]float64, n)
		ind := make([]int, n)
		for q := range n {
			x[q], y[q], ind[q] = pick(), pick(), q
		}
		z := pick()
		a, _ := revsparse.NewCSR(1, n, []int{0, n}, ind, x)
		k := revsparse.NewLogMul(mat.NewVecDense(1, []float64{z}), a, mat.NewVecDense(n, y))
		g := revsparse.NewLogMul(mat.NewVecDense(1, []float64{2}), a.With(make([]float64, n)), mat.NewVecDense(n, nil))
		want, gwant := z, 2.0
		d := revlog.Dot[float64]{Out: &want, X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
		gd := revlog.Dot[float64]{Out: &gwant, X: rev.ViewSlice(make([]float64, n)), Y: rev.ViewSlice(make([]float64, n))}
		lost := 1.0 // how much a sum loses of what it was added to
		same := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-14*max(lost, math.Abs(want)) || got == want || math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%v ⊕ %v·%v: %s is %v, want %v", z, x, y, what, got, want)
			}
		}
		k.Forward()
		d.Forward()
		same("the sum", k.C.Data[0], want)
		lost = max(1, math.Exp(want-z))
		k.Adjoint(g)
		d.Adjoint(gd)
		same("the number before", k.C.Data[0], want)
		lost = 1
		same("its cotangent", g.C.Data[0], gwant)
		for q := range n {
			same("a cotangent in A", g.A.Data[q], gd.X.Data[q])
			same("a cotangent in B", g.B.Data[q], gd.Y.Data[q])
		}
	}
}

// Most of the work is in the terms: an exponential each, which is read and added.
func BenchmarkLogMul(b *testing.B) {
	const entries = 10
	rnd := rand.New(rand.NewPCG(9, 2))
	for _, cols := range []int{1, 16} {
		for _, workers := range []int{1, 2} {
			n := 100_000 / cols
			k := revsparse.LogMul[float64, int32]{C: matrixOf[float64](rnd, n, cols), A: perRow(rnd, n, entries, 0), B: matrixOf[float64](rnd, n, cols), Workers: workers}
			c := slices.Clone(k.C.Data)
			g := revsparse.LogMul[float64, int32]{C: matrixOf[float64](rnd, n, cols), A: k.A.With(make([]float64, k.A.NNZ())), B: matrixOf[float64](rnd, n, cols)}
			gc := slices.Clone(g.C.Data)
			report := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*entries*cols), "ns/term")
			}
			b.Run(fmt.Sprintf("Forward/%d columns/workers=%d", cols, workers), func(b *testing.B) {
				for b.Loop() {
					copy(k.C.Data, c)
					k.Forward()
				}
				report(b)
			})
			copy(k.C.Data, c)
			k.Forward()
			after := slices.Clone(k.C.Data)
			b.Run(fmt.Sprintf("Adjoint/%d columns/workers=%d", cols, workers), func(b *testing.B) {
				for b.Loop() {
					copy(k.C.Data, after)
					copy(g.C.Data, gc)
					k.Adjoint(g)
				}
				report(b)
			})
		}
	}
}
