package vec

import (
	"math"
	"slices"
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
		{"abs", Abs[T], AddAbs[T], nil},
		{"sign", Sign[T], AddSign[T], AddSignProduct[T]},
		{"tan", first(Tan[T]), AddTan[T], nil},
		{"expm1", first(Expm1[T]), AddExpm1[T], nil},
		{"log1p", first(Log1p[T]), AddLog1p[T], nil},
		{"erf", first(Erf[T]), AddErf[T], nil},
		{"sigmoid", first(Sigmoid[T]), AddSigmoid[T], nil},
		{"tanh", first(Tanh[T]), AddTanh[T], nil},
		{"softplus", first(Softplus[T]), AddSoftplus[T], nil},
		{"GELU", first(GELU[T]), AddGELU[T], nil},
		{"SiLU", first(SiLU[T]), AddSiLU[T], nil},
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
				if f.product != nil {
					f.product(products[1:n+1], sign, x, from)
				}
				all, allProducts := append([]T(nil), dst...), append([]T(nil), dst...)
				for i, y := range want {
					all[i+1] += T(sign * y)
					if f.product != nil {
						allProducts[i+1] += T(sign * T(y*from[i]))
					}
				}
				simdtest.SameSlice(t, "adding "+f.name, sum, all)
				if f.product != nil {
					simdtest.SameSlice(t, "adding products with "+f.name, products, allProducts)
				}
			}
		}
	}
}

// TestBinaryAdditions does so for functions of two numbers.
func TestBinaryAdditions(t *testing.T) {
	simdtest.ForEachType(t, &tier, testBinaryAdditions[float64], testBinaryAdditions[float32])
}

func testBinaryAdditions[T cpu.Float](t *testing.T) {
	for _, f := range []struct {
		name string
		of   func(dst, x, y []T)
		add  func(dst []T, sign T, x, y []T)
	}{
		{"product", MulTo[T], AddProduct[T]},
		{"quotient", DivTo[T], AddQuotient[T]},
		{"atan2", Atan2[T], AddAtan2[T]},
		{"pow", Pow[T], AddPow[T]},
	} {
		for _, n := range []int{0, 1, 3, 4, 5, 8, 17, 40, 70, 1000} {
			x, y, dst := simdtest.Normal[T](n, 1), simdtest.Normal[T](n, 2), simdtest.Normal[T](n+2, 3)
			for i := range x {
				if i%7 == 3 {
					x[i], y[i] = T(hostile[i%len(hostile)]), T(hostile[i/7%len(hostile)])
				}
			}
			values := make([]T, n)
			f.of(values, x, y)
			for _, sign := range []T{1, -1} {
				got, want := slices.Clone(dst), slices.Clone(dst)
				f.add(got[1:n+1], sign, x, y)
				for i, v := range values {
					want[i+1] += T(sign * v)
				}
				simdtest.SameSlice(t, "adding "+f.name, got, want)
			}
		}
	}
}

// first returns the loop of the values of f, without the derivatives.
func first[T cpu.Float](f func(y, d, x []T)) func(dst, x []T) {
	return func(dst, x []T) { f(dst, make([]T, len(x)), x) }
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
		if Above(y, 0) != n || Above(y, -1) != n || Nonzero(y) != n {
			t.Fatalf("%d positive numbers: %d above 0, %d above -1, %d nonzero", n, Above(y, 0), Above(y, -1), Nonzero(y))
		}
		for i := range y {
			for _, v := range []float64{0, -1, math.NaN()} {
				was := y[i]
				y[i] = T(v)
				positive, above, nonzero := Above(y, 0), Above(y, -1), Nonzero(y)
				if y[i] = was; positive != i || above != i && v != 0 || above != n && v == 0 || nonzero != i && v == 0 || nonzero != n && v != 0 {
					t.Fatalf("%v at %d of %d: %d positive, %d above -1, %d nonzero", v, i, n, positive, above, nonzero)
				}
			}
		}
	}
}

// TestSelections compares loops that add one of several numbers with what package math and Go's
// operators say.
func TestSelections(t *testing.T) {
	simdtest.ForEachType(t, &tier, testSelections[float64], testSelections[float32])
}

func testSelections[T cpu.Float](t *testing.T) {
	var xs, ys, froms []T
	for i, x := range hostile {
		for _, y := range append(hostile, x, -x, 0.25) {
			xs, ys, froms = append(xs, T(x)), append(ys, T(y)), append(froms, T(hostile[(i+7)%len(hostile)]))
		}
	}
	const lo, hi = -0.5, 2
	check := func(name string, add func(dst []T), want func(x, y, from T) T) {
		got, all := make([]T, len(xs)), make([]T, len(xs))
		add(got)
		for i := range all {
			all[i] = 0 + want(xs[i], ys[i], froms[i]) // without the sign of 0
		}
		simdtest.SameSlice(t, name, got, all)
	}
	check("AddMax", func(dst []T) { AddMax(dst, 1, xs, ys) }, func(x, y, _ T) T { return max(x, y) })
	check("AddMin", func(dst []T) { AddMin(dst, -1, xs, ys) }, func(x, y, _ T) T { return -min(x, y) })
	check("AddGreater", func(dst []T) { AddGreater(dst, 1, xs, ys, froms) }, func(x, y, from T) T {
		switch {
		case x == y:
			return from / 2
		case x < y:
			return 0
		}
		return from
	})
	check("AddClip", func(dst []T) { AddClip(dst, 1, lo, hi, xs) }, func(x, _, _ T) T { return min(max(x, lo), hi) })
	check("AddClip between bounds in the wrong order", func(dst []T) { AddClip(dst, 1, hi, lo, xs) }, func(x, _, _ T) T {
		if math.IsNaN(float64(x)) {
			return x
		}
		return lo
	})
	check("AddWithin", func(dst []T) { AddWithin(dst, -1, lo, hi, xs, froms) }, func(x, _, from T) T {
		if x < lo || x > hi {
			return 0
		}
		return -from
	})
	check("AddWhere", func(dst []T) { AddWhere(dst, 1, froms, xs, ys) }, func(x, y, cond T) T {
		if cond <= 0 {
			return y
		}
		return x
	})
}
