package vec

import (
	"math"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestAdditions compares loops that add a function, or its products, with the loop of the function.
func TestAdditions(t *testing.T) {
	simdtest.ForEachType(t, &tier, testAdditions[float64], testAdditions[float32])
}

func testAdditions[T cpu.Float](t *testing.T) {
	for _, f := range []struct {
		name    string
		of      func(dst, x []T)
		add     func(dst []T, sign T, x []T)
		product func(dst []T, sign T, x, from []T)
	}{
		{"exp", Exp[T], AddExp[T], AddExpProduct[T]},
		{"log", Log[T], AddLog[T], AddLogProduct[T]},
		{"sin", Sin[T], AddSin[T], AddSinProduct[T]},
		{"cos", Cos[T], AddCos[T], AddCosProduct[T]},
		{"sqrt", Sqrt[T], AddSqrt[T], AddSqrtProduct[T]},
		{"recip", Recip[T], AddRecip[T], AddRecipProduct[T]},
		{"abs", Abs[T], AddAbs[T], AddAbsProduct[T]},
		{"sign", Sign[T], AddSign[T], AddSignProduct[T]},
	} {
		for _, n := range []int{0, 1, 3, 4, 5, 8, 17, 40, 70, 1000} {
			x, from, dst := simdtest.Normal[T](n, 1), simdtest.Normal[T](n, 2), simdtest.Normal[T](n+2, 3)
			for i := range x {
				if x[i] *= 8; i%7 == 3 {
					x[i] = T(hostile[i%len(hostile)])
				}
			}
			for _, sign := range []T{1, -1} {
				sum, products, want := append([]T(nil), dst...), append([]T(nil), dst...), make([]T, n)
				f.of(want, x)
				f.add(sum[1:n+1], sign, x)
				f.product(products[1:n+1], sign, x, from)
				all, allProducts := append([]T(nil), dst...), append([]T(nil), dst...)
				for i, y := range want {
					all[i+1] += T(sign * y)
					allProducts[i+1] += T(sign * T(y*from[i]))
				}
				simdtest.SameSlice(t, "adding "+f.name, sum, all)
				simdtest.SameSlice(t, "adding products with "+f.name, products, allProducts)
			}
		}
	}
}

// The functions that are one instruction.
func TestSimple(t *testing.T) {
	simdtest.ForEachType(t, &tier, testSimple[float64], testSimple[float32])
}

func testSimple[T cpu.Float](t *testing.T) {
	x := append(simdtest.Normal[T](70, 1), 0, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.Inf(-1)), T(math.NaN()))
	for _, f := range []struct {
		name string
		of   func(dst, x []T)
		want func(x float64) float64
	}{
		{"sqrt", Sqrt[T], math.Sqrt},
		{"abs", Abs[T], math.Abs},
		{"recip", Recip[T], func(x float64) float64 { return 1 / x }},
		{"sign", Sign[T], func(x float64) float64 {
			if x == 0 || x != x {
				return x
			}
			return math.Copysign(1, x)
		}},
	} {
		for n := range len(x) {
			x := x[n:]
			got, want := make([]T, len(x)), make([]T, len(x))
			f.of(got, x)
			for i, v := range x {
				want[i] = T(f.want(float64(v)))
			}
			simdtest.SameSlice(t, f.name, got, want)
		}
	}
	for n := range 200 {
		y := make([]T, n)
		for i := range y {
			y[i] = T(i%5) + 1
		}
		if Positive(y) != n || Nonzero(y) != n {
			t.Fatalf("%d positive numbers: %d positive, %d nonzero", n, Positive(y), Nonzero(y))
		}
		for i := range y {
			for _, v := range []float64{0, -1, math.NaN()} {
				was := y[i]
				y[i] = T(v)
				positive, nonzero := Positive(y), Nonzero(y)
				if y[i] = was; positive != i || nonzero != i && v == 0 || nonzero != n && v != 0 {
					t.Fatalf("%v at %d of %d: %d positive, %d nonzero", v, i, n, positive, nonzero)
				}
			}
		}
	}
}
