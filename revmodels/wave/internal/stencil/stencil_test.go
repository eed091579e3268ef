package stencil

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
	"revnum/rev"
)

func numbers[T rev.Real](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return x
}

func band[T rev.Real](rnd *rand.Rand, n int) *Band[T] {
	var b Band[T]
	for i := range b {
		b[i] = numbers[T](rnd, n)
	}
	return &b
}

// All tiers give the bits of the generic loops, and write nothing else.
func TestTiers(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		t.Run("float64", testTiers[float64, float64])
		t.Run("float32", testTiers[float32, float32])
		t.Run("Q43", testTiers[fixed.Q43, float64])
	})
}

func testTiers[T rev.Real, F cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 20, 21, 31, 32, 33, 37, chunk, chunk + 1, chunk + 2, chunk + 3, chunk + 4, chunk + 9, 2*chunk + 5} {
		m, dst, u, p := numbers[T](rnd, n), numbers[T](rnd, n+1), band[T](rnd, n), band[F](rnd, n)
		product := numbers[F](rnd, n+1)
		for name, f := range map[string]func(dst []T, product []F){
			"Leap":       func(dst []T, _ []F) { Leap(dst, m, u) },
			"AddMul":     func(dst []T, _ []F) { AddMul(dst, m, u) },
			"LeapBack":   func(dst []T, _ []F) { LeapBack(dst, m, p) },
			"Mul":        func(dst []T, product []F) { Mul(product, m, dst) },
			"AddProduct": func(dst []T, product []F) { AddProduct(product, m, dst) },
		} {
			got, want := slices.Clone(dst), slices.Clone(dst)
			gotP, wantP := slices.Clone(product), slices.Clone(product)
			f(got[:n], gotP[:n])
			simdtest.OnTier(&tier, cpu.Generic, func() { f(want[:n], wantP[:n]) })
			if !slices.Equal(got, want) || !slices.Equal(gotP, wantP) {
				t.Errorf("%s of %d columns: %v, want %v", name, n, got, want)
			}
		}
	}
}

// LeapRows gives the bits of Leap by rows, and writes nothing else.
func TestLeapRows(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		t.Run("float64", testLeapRows[float64])
		t.Run("float32", testLeapRows[float32])
		t.Run("Q43", testLeapRows[fixed.Q43])
	})
}

func testLeapRows[T rev.Real](t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 30, 33, chunk/2 + 1, chunk, chunk + 3} {
		const rows = 11
		grid := func(gap int) *rev.General[T] {
			return &rev.General[T]{Rows: rows, Cols: n, Stride: n + gap, Data: numbers[T](rnd, rows*(n+gap))}
		}
		m, u, dst := grid(0), grid(1), grid(3)
		want := *dst
		want.Data = slices.Clone(dst.Data)
		const from, to = Reach, rows - Reach
		simdtest.OnTier(&tier, cpu.Generic, func() {
			for i := from; i < to; i++ {
				Leap(want.Row(i), m.Row(i), &Band[T]{u.Row(i - 2), u.Row(i - 1), u.Row(i), u.Row(i + 1), u.Row(i + 2)})
			}
		})
		LeapRows(dst, m, u, from, to)
		if !slices.Equal(dst.Data, want.Data) {
			t.Errorf("%d columns: %v, want %v", n, dst.Data, want.Data)
		}
	}
}

// L of a polynomial of degree 5 is exact: its terms are sums over the four neighbours.
func TestLaplace(t *testing.T) {
	const n = 40
	f := func(x, y float64) float64 { return 1 + x*x*x*y - 2*x*x + y*y*y*y*x/100 - x*y*y }
	laplacian := func(x, y float64) float64 { return 6*x*y - 4 + 12*y*y*x/100 - 2*x }
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		var u Band[float64]
		for i := range u {
			u[i] = make([]float64, n)
			for j := range u[i] {
				u[i][j] = f(float64(i-Reach)+3, float64(j))
			}
		}
		dst, ones := make([]float64, n), slices.Repeat([]float64{1}, n)
		AddMul(dst, ones, &u)
		for j := Reach; j < n-Reach; j++ {
			if want := laplacian(3, float64(j)); !(math.Abs(dst[j]-want) < 1e-9) {
				t.Errorf("column %d: %v, want %v", j, dst[j], want)
			}
		}
	})
}

// Two leaps of fixed-point numbers are none, also where products overflow.
func TestTwice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		dst, u := numbers[fixed.Q43](rnd, 50), band[fixed.Q43](rnd, 50)
		m := numbers[fixed.Q43](rnd, 50)
		for j := range m {
			m[j] *= 1 << (j / 3)
		}
		was := slices.Clone(dst)
		Leap(dst, m, u)
		if slices.Equal(dst, was) {
			t.Error("Leap did nothing")
		}
		Leap(dst, m, u)
		if !slices.Equal(dst, was) {
			t.Errorf("%v, want %v", dst, was)
		}
	})
}

func TestBadLengths(t *testing.T) {
	x, short := make([]float64, 8), make([]float64, 7)
	b := &Band[float64]{x, x, x, x, x}
	bad := &Band[float64]{x, x, x, x, short}
	grid := func(rows, cols int) *rev.General[float64] {
		return &rev.General[float64]{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
	}
	five, narrow := grid(5, 8), grid(5, 7)
	less, tight := *five, *five
	less.Data = five.Data[:5*8-1]
	lessRows := less
	lessRows.Data = five.Data[:3*8-1] // dst and m are accessed up to row 2
	tight.Stride = 7
	for i, f := range []func(){
		func() { LeapRows(five, narrow, five, 2, 3) }, func() { LeapRows(five, five, narrow, 2, 3) },
		func() { LeapRows(five, five, five, 1, 3) }, func() { LeapRows(five, five, five, 2, 4) },
		func() { LeapRows(grid(3, 8), grid(6, 8), grid(6, 8), 2, 4) }, func() { LeapRows(grid(6, 8), grid(3, 8), grid(6, 8), 2, 4) },
		func() { LeapRows(five, five, &less, 2, 3) }, func() { LeapRows(&lessRows, five, five, 2, 3) }, func() { LeapRows(five, &lessRows, five, 2, 3) },
		func() { LeapRows(five, five, &tight, 2, 3) }, func() { LeapRows(&tight, five, five, 2, 3) }, func() { LeapRows(five, &tight, five, 2, 3) },
		func() { Leap(x, short[:7:7], b) }, func() { Leap(x, x, bad) }, func() { AddMul(x, x, bad) },
		func() { LeapBack(x, short[:7:7], b) }, func() { LeapBack(x, x, bad) },
		func() { Mul(x, short[:7:7], x) }, func() { Mul(x, x, short[:7:7]) }, func() { AddProduct(x, x, short[:7:7]) },
	} {
		if !simdtest.Panics(f) {
			t.Errorf("case %d does not panic", i)
		}
	}
}

func BenchmarkLeap(b *testing.B) {
	b.Run("float64", benchmarkLeap[float64])
	b.Run("float32", benchmarkLeap[float32])
	b.Run("Q43", benchmarkLeap[fixed.Q43])
}

func benchmarkLeap[T rev.Real](b *testing.B) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{100, 1000} {
		dst, m, u := numbers[T](rnd, n), make([]T, n), band[T](rnd, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Leap(dst, m, u)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/cell")
		})
	}
}
