package num_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"revnum/rev/num"
)

// The loops over slices do what plain loops do, and panic if a slice is short.
func TestSlices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for n := range 40 {
		x, y := make([]float64, n), make([]float64, n+2)
		for i := range y {
			y[i] = rnd.NormFloat64()
		}
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		var inner, sum, exps float64
		axpy, scale, exp := slices.Clone(y), slices.Clone(y), slices.Clone(y)
		mul, addMul, mulShift, shift, fill := slices.Clone(y), slices.Clone(y), slices.Clone(y), slices.Clone(y), slices.Clone(y)
		for i, v := range x {
			inner += v * y[i]
			sum += v
			axpy[i] += 0.5 * v
			scale[i] = 0.5 * v
			shift[i] = 0.5 + v
			fill[i] = 0.5
			mulShift[i] = 0.5 + v*y[i]
			mul[i] = v * y[i]
			addMul[i] += 0.5 * v * y[i]
			exp[i] = math.Exp(v - 1)
			exps += exp[i]
		}
		near := func(name string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-14*float64(n+1)) {
				t.Errorf("n = %d: %s is %v, want %v", n, name, got, want)
			}
		}
		near("Inner", num.Inner(x, y), inner)
		near("Sum", num.Sum(x), sum)
		near("SumExp", num.SumExp(x, 1), exps)
		got := append([]float64(nil), y...)
		check := func(name string, want []float64) {
			t.Helper()
			for i := range want {
				near(name, got[i], want[i])
			}
			copy(got, y)
		}
		num.Axpy(got, 0.5, x)
		check("Axpy", axpy)
		num.AxpyTo(got, 0.5, x, y)
		check("AxpyTo", axpy)
		num.AxpyTo(got, 0.5, x, got) // in place
		check("AxpyTo", axpy)
		near("the sum of AxpyInner", num.AxpyInner(got, 0.5, x, y), inner)
		check("AxpyInner", axpy)
		copy(got, x)
		want := 0.0
		for _, v := range x {
			want += 1.5 * v * y[0]
		}
		near("the sum of AxpyInner", num.AxpyInner(got[:n], 0.5, got[:n], slices.Repeat(y[:1], n)), want)
		copy(got, y)
		num.Scale(got, 0.5, x)
		check("Scale", scale)
		num.Shift(got, 0.5, x)
		check("Shift", shift)
		copy(got, x)
		num.Shift(got[:n], 0.5, got[:n]) // in place
		check("Shift", shift)
		num.MulShift(got, 0.5, x, y)
		check("MulShift", mulShift)
		num.MulShift(got, 0.5, x, got) // in place
		check("MulShift", mulShift)
		num.Fill(got[:n], 0.5)
		check("Fill", fill)
		num.Mul(got, x, y)
		check("Mul", mul)
		num.AddMul(got, 0.5, x, y)
		check("AddMul", addMul)
		num.Mul(got, x, got) // in place
		check("Mul", mul)
		num.AddMul(got, 0.5, x, got)
		check("AddMul", addMul)
		near("the sum of ExpSum", num.ExpSum(got, x, 1), exps)
		check("ExpSum", exp)
		if n == 0 {
			continue
		}
		for _, f := range []func(){
			func() { num.Inner(x, y[:n-1]) },
			func() { num.Axpy(y[:n-1], 1, x) },
			func() { num.AxpyTo(y[:n-1], 1, x, x) },
			func() { num.AxpyTo(y, 1, x, x[:n-1:n-1]) },
			func() { num.AxpyInner(y[:n-1], 1, x, x) },
			func() { num.AxpyInner(y, 1, x, x[:n-1:n-1]) },
			func() { num.Scale(y[:n-1], 1, x) },
			func() { num.Shift(y[:n-1:n-1], 1, x) },
			func() { num.MulShift(y[:n-1:n-1], 1, x, x) },
			func() { num.MulShift(y, 1, x, x[:n-1:n-1]) },
			func() { num.Mul(y[:n-1], x, x) },
			func() { num.Mul(y, x, x[:n-1:n-1]) },
			func() { num.AddMul(y[:n-1], 1, x, x) },
			func() { num.AddMul(y, 1, x, x[:n-1:n-1]) },
			func() { num.ExpSum(y[:n-1], x, 1) },
		} {
			if !panics(f) {
				t.Errorf("n = %d: a short slice does not panic", n)
			}
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func TestMax(t *testing.T) {
	for n := range 40 {
		for top, other := range map[float64]float64{math.Inf(-1): 0.3, 0.2: math.Inf(1), math.NaN(): 0.1, 0.7: math.NaN()} {
			x, want := make([]float64, n), top
			for i := range x {
				x[i] = math.Sin(float64(i))
				if i == 3*n/4 {
					x[i] = other
				}
				want = max(want, x[i])
			}
			if n > 1 {
				z := make([]float64, n)
				for i := range z {
					z[i] = math.Copysign(0, float64(i-n/2)) // both zeros
				}
				if got := num.Max(z, math.Copysign(0, -1)); math.Signbit(got) {
					t.Errorf("Max of %d zeros of both signs is -0", n)
				}
				if got := num.Max(z[:n/2], math.Copysign(0, -1)); !math.Signbit(got) {
					t.Errorf("Max of %d zeros that are -0 is +0", n/2)
				}
				if got := num.Max(z[:n/2], 0); math.Signbit(got) {
					t.Errorf("Max of 0 and %d zeros that are -0 is -0", n/2)
				}
			}
			if got := num.Max(x, top); got != want && (got == got || want == want) {
				t.Errorf("Max of %d numbers and %v is %v, want %v", n, top, got, want)
			}
		}
	}
}

func TestOrder(t *testing.T) {
	for n := range 60 {
		x := make([]int, n)
		for i := range x {
			x[i] = i * 7 % 13
		}
		for name, c := range map[string]struct {
			order func(n int, before func(i, j int) bool) []int
			sort  func(x any, less func(i, j int) bool)
		}{"Order": {num.Order, sort.Slice}, "StableOrder": {num.StableOrder, sort.SliceStable}} {
			type pair struct{ v, at int }
			var want []pair
			for i, v := range x {
				want = append(want, pair{v, i})
			}
			c.sort(want, func(i, j int) bool { return want[i].v < want[j].v })
			for i, at := range c.order(n, func(i, j int) bool { return x[i] < x[j] }) {
				if at != want[i].at {
					t.Fatalf("%s of %d elements has %d at %d, want %d", name, n, at, i, want[i].at)
				}
			}
		}
	}
}

func TestIndexMax(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x    []float64
		top  float64
		want int
	}{
		{nil, math.Inf(-1), -1},
		{[]float64{1, 3, 2, 3}, 2.5, 1},
		{[]float64{1, 3, 2, 3}, 3, -1},
		{[]float64{math.Inf(-1)}, math.Inf(-1), -1},
		{[]float64{1, nan, 2}, 0, 1},
		{[]float64{1, 2}, nan, -1},
	} {
		if got := num.IndexMax(c.x, c.top); got != c.want {
			t.Errorf("IndexMax(%v, %v) is %d, want %d", c.x, c.top, got, c.want)
		}
	}
}

// Functions of all elements are those of package math, also in place.
func TestFunctionsOfElements(t *testing.T) {
	for _, c := range []struct {
		name string
		to   func(y, x []float64)
		of   func(float64) float64
	}{{"Exp", num.ExpTo, math.Exp}, {"Log", num.LogTo, math.Log}, {"Tanh", num.TanhTo, math.Tanh}, {"Sin", num.SinTo, math.Sin}, {"Cos", num.CosTo, math.Cos}} {
		for _, n := range []int{0, 1, 7, 8, 63, 64, 65, 200} {
			x, y := make([]float64, n), make([]float64, n+1)
			for i := range x {
				x[i] = 0.1 * float64(i-3)
				if i%50 == 20 {
					x[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[i/50]
				}
			}
			c.to(y, x)
			if y[n] != 0 {
				t.Errorf("%s of %d elements changes the next one", c.name, n)
			}
			in := slices.Clone(x)
			c.to(in, in)
			for i, v := range x {
				want := c.of(v)
				if !(math.Abs(y[i]-want) <= 4e-16*math.Max(1, math.Abs(want))) && y[i] != want && (y[i] == y[i] || want == want) || in[i] != y[i] && y[i] == y[i] {
					t.Errorf("%s(%v) = %v and %v in place, want %v", c.name, v, y[i], in[i], want)
				}
			}
			if n > 0 && !panics(func() { c.to(y[:n-1:n-1], x) }) {
				t.Errorf("%s to a short slice does not panic", c.name)
			}
		}
	}
}
