package num_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/num"
)

func Example() {
	x := fixed.FromFloat64(2)
	fmt.Printf("%.6f\n", num.Sqrt(x).Float64())
	fmt.Printf("%.6f\n", num.Sqrt(float32(2)))
	fmt.Println(num.Quotient(x, 0), num.Quotient(2., 0))
	// Output:
	// 1.414214
	// 1.414214
	// 0 +Inf
}

// Package math is wrong for subnormal numbers on amd64, and has its bits elsewhere.
func TestSubnormal(t *testing.T) {
	for name, v := range map[string][2]float64{
		"Log":   {num.Log(1e-310), -713.8013788281542},
		"Log10": {num.Log10(1e-310), -310},
		"Log2":  {num.Log2(0x1p-1074), -1074},
		"Pow":   {num.Pow(0x1p-1072, 0.125), 0x1p-134},
	} {
		if math.Abs(v[0]-v[1]) > 1e-13*math.Abs(v[1]) {
			t.Errorf("%s: %v, want %v", name, v[0], v[1])
		}
	}
}

// The functions agree with package math, as exactly as each type allows.
func TestFunctions(t *testing.T) {
	for name, f := range map[string]struct {
		f64  func(float64) float64
		f32  func(float32) float32
		q43  func(fixed.Q43) fixed.Q43
		want func(float64) float64
	}{
		"Sqrt":  {num.Sqrt[float64], num.Sqrt[float32], num.Sqrt[fixed.Q43], math.Sqrt},
		"Exp":   {num.Exp[float64], num.Exp[float32], num.Exp[fixed.Q43], math.Exp},
		"Log":   {num.Log[float64], num.Log[float32], num.Log[fixed.Q43], math.Log},
		"Sin":   {num.Sin[float64], num.Sin[float32], num.Sin[fixed.Q43], math.Sin},
		"Cos":   {num.Cos[float64], num.Cos[float32], num.Cos[fixed.Q43], math.Cos},
		"Tanh":  {num.Tanh[float64], num.Tanh[float32], num.Tanh[fixed.Q43], math.Tanh},
		"Tan":   {num.Tan[float64], num.Tan[float32], num.Tan[fixed.Q43], math.Tan},
		"Asin":  {num.Asin[float64], num.Asin[float32], num.Asin[fixed.Q43], math.Asin},
		"Acos":  {num.Acos[float64], num.Acos[float32], num.Acos[fixed.Q43], math.Acos},
		"Atan":  {num.Atan[float64], num.Atan[float32], num.Atan[fixed.Q43], math.Atan},
		"Sinh":  {num.Sinh[float64], num.Sinh[float32], num.Sinh[fixed.Q43], math.Sinh},
		"Cosh":  {num.Cosh[float64], num.Cosh[float32], num.Cosh[fixed.Q43], math.Cosh},
		"Exp2":  {num.Exp2[float64], num.Exp2[float32], num.Exp2[fixed.Q43], math.Exp2},
		"Log2":  {num.Log2[float64], num.Log2[float32], num.Log2[fixed.Q43], math.Log2},
		"Log1p": {num.Log1p[float64], num.Log1p[float32], num.Log1p[fixed.Q43], math.Log1p},
		"Expm1": {num.Expm1[float64], num.Expm1[float32], num.Expm1[fixed.Q43], math.Expm1},
		"Cbrt":  {num.Cbrt[float64], num.Cbrt[float32], num.Cbrt[fixed.Q43], math.Cbrt},
		"Log10": {num.Log10[float64], num.Log10[float32], num.Log10[fixed.Q43], math.Log10},
		"Asinh": {num.Asinh[float64], num.Asinh[float32], num.Asinh[fixed.Q43], math.Asinh},
		"Acosh": {num.Acosh[float64], num.Acosh[float32], num.Acosh[fixed.Q43], math.Acosh},
		"Atanh": {num.Atanh[float64], num.Atanh[float32], num.Atanh[fixed.Q43], math.Atanh},
		"Erf":   {num.Erf[float64], num.Erf[float32], num.Erf[fixed.Q43], math.Erf},
		"Erfc":  {num.Erfc[float64], num.Erfc[float32], num.Erfc[fixed.Q43], math.Erfc},
		"Abs":   {num.Abs[float64], num.Abs[float32], num.Abs[fixed.Q43], math.Abs},
	} {
		for _, x := range []float64{-3.25, -0.5, 0.0625, 0.75, 2.5} {
			want := f.want(x)
			if math.IsNaN(want) {
				continue // not in its domain
			}
			for typ, got := range map[string]float64{"float64": f.f64(x), "float32": float64(f.f32(float32(x))), "Q43": f.q43(fixed.FromFloat64(x)).Float64()} {
				if tol := map[string]float64{"float64": 0, "float32": 1e-6, "Q43": 1e-12}[typ]; !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
					t.Errorf("%s(%v) over %s: %v, want %v", name, x, typ, got, want)
				}
			}
		}
	}
	if got := num.Pow(fixed.FromFloat64(2), fixed.FromFloat64(0.5)).Float64(); math.Abs(got-math.Sqrt2) > 1e-12 {
		t.Errorf("2^0.5 = %v", got)
	}
	if got := num.Hypot(3*fixed.One, -4*fixed.One); got != 5*fixed.One || num.Hypot(3., 4) != 5 {
		t.Errorf("√(3²+4²) = %v", got)
	}
	if got := num.Atan2(-fixed.One, fixed.One).Float64(); math.Abs(got+math.Pi/4) > 1e-12 || num.Atan2(-1., 1) != math.Atan2(-1, 1) {
		t.Errorf("the angle of (1, -1) is %v", got)
	}
	if num.Pow(2., 0.5) != math.Sqrt2 {
		t.Errorf("2^0.5 = %v", num.Pow(2., 0.5))
	}
}

func TestErf(t *testing.T) {
	const bound = 0x1p-40
	for i := -700; i <= 700; i++ {
		x := fixed.FromFloat64(float64(i) / 100)
		if got, want := num.Erf(x).Float64(), math.Erf(x.Float64()); math.Abs(got-want) > bound {
			t.Errorf("erf %v = %v, want %v", x, got, want)
		}
		if got, want := num.Erfc(x).Float64(), math.Erfc(x.Float64()); math.Abs(got-want) > bound {
			t.Errorf("erfc %v = %v, want %v", x, got, want)
		}
	}
}

// Sincos has the bits of Sin and Cos, which another pass may call in its place.
func TestSincos(t *testing.T) {
	for i := -20000; i < 20000; i++ {
		x := float64(i) * math.Sqrt2 / 100
		if sin, cos := num.Sincos(x); sin != num.Sin(x) || cos != num.Cos(x) {
			t.Fatalf("at %v: %v, %v", x, sin, cos)
		}
		q := fixed.FromFloat64(x)
		if sin, cos := num.Sincos(q); sin != num.Sin(q) || cos != num.Cos(q) {
			t.Fatalf("at %v: %v, %v", q, sin, cos)
		}
	}
}

// In fixed point nothing panics.
func TestOutOfDomain(t *testing.T) {
	one := fixed.One
	for _, c := range []struct {
		name      string
		got, want fixed.Q43
	}{
		{"1/0", num.Quotient(one, 0), 0},
		{"over", num.Over(one, 0), 0},
		{"√-1", num.Sqrt(-one), 0},
		{"exp 100", num.Exp(100 * one), fixed.Max},
		{"log 0", num.Log(fixed.Q43(0)), fixed.Min},
		{"0^-1", num.Pow(0, -one), 0},
		{"exp2 30", num.Exp2(30 * one), fixed.Max},
		{"log2 0", num.Log2(fixed.Q43(0)), fixed.Min},
		{"log10 0", num.Log10(fixed.Q43(0)), fixed.Min},
		{"acosh 0", num.Acosh(fixed.Q43(0)), 0},
		{"atanh 1", num.Atanh(one), fixed.Max},
		{"atanh -1", num.Atanh(-one), fixed.Min},
		{"erf of the largest", num.Erf(fixed.Max), one},
		{"erfc of the least", num.Erfc(fixed.Min), 2 * one},
		{"erf of the least", num.Erf(fixed.Min), -one},
		{"asinh of the least", num.Asinh(fixed.Min), -num.Asinh(fixed.Max)},
		{"cbrt of the least", num.Cbrt(fixed.Min), -num.Cbrt(fixed.Max)},
		{"log1p -1", num.Log1p(-one), fixed.Min},
		{"hypot", num.Hypot(fixed.Max, fixed.Max), fixed.Max},
		{"acos 2", num.Acos(2 * one), 0},
		{"sign", num.Sign(-one) + num.Sign(one) + num.Sign(fixed.Q43(0)), 0},
		{"int", num.Int[fixed.Q43](3), 3 * one},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestAccess(t *testing.T) {
	v := rev.Vector[float64]{N: 2, Data: []float64{1, 2, 3, 4}, Inc: 2}
	if x := num.Elements(rev.ViewSlice(v.Data[:2])); len(x) != 2 || x[1] != 2 {
		t.Errorf("elements %v", x)
	}
	if num.Elements(rev.Vector[float64]{N: 2}) != nil || num.At[float64](nil, 7) != 0 || num.At(v.Data, 1) != 2 {
		t.Error("nil has elements")
	}
	x := 3.
	if num.Deref(&x) != 3 || num.Deref[float64](nil) != 0 {
		t.Error("Deref")
	}
	m := rev.NewGeneral(2, 2, []float64{1, 2, 3, 4})
	if r := num.Row(m, 1); len(r) != 2 || r[0] != 3 {
		t.Errorf("row %v", r)
	}
	if num.OrZero(m.Data, 3) != 4 || num.OrZero(m.Data, 4) != 0 || num.OrZero(m.Data, -1) != 0 {
		t.Error("OrZero")
	}
	if part := num.Rows(rev.General[float64]{Rows: 2, Cols: 1, Stride: 2, Data: m.Data}); len(part) != 3 || cap(part) != 3 {
		t.Errorf("the elements of rows: %v", part)
	}
	if row := num.Rows(rev.General[float64]{Rows: 2, Stride: 3, Data: m.Data})[3:][:0]; len(row) != 0 {
		t.Errorf("a row without columns: %v", row)
	}
	if num.Row(m, 2) != nil || num.Row(rev.General[float64]{Rows: 2, Cols: 2}, 0) != nil {
		t.Error("a row that is not there")
	}
	for name, access := range map[string]func(){ // short data, with room after it
		"Elements": func() { num.Elements(rev.Vector[float64]{N: 3, Data: v.Data[:2], Inc: 1}) },
		"Rows":     func() { num.Rows(rev.General[float64]{Rows: 2, Cols: 2, Stride: 2, Data: v.Data[:2]}) },
		"Row":      func() { num.Row(rev.General[float64]{Rows: 2, Cols: 2, Stride: 2, Data: v.Data[:2]}, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of short data does not panic", name)
				}
			}()
			access()
		}()
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrRowAccess) {
			t.Errorf("Index panics with %v", err)
		}
	}()
	num.Index(2, 2)
}

// Release ends the use of what has been made since Mark, and of nothing else.
func TestRelease(t *testing.T) {
	s := num.NewScratch[float64]()
	defer s.Free()
	kept := s.Make(3)
	kept[2] = 5
	for i := range 1000 {
		mark := s.Mark()
		x := s.Make(1 + i%7)
		y := s.Make(100 * (i % 11)) // which sometimes takes other memory
		if slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) || slices.ContainsFunc(y, func(v float64) bool { return v != 0 }) {
			t.Fatal("what is made is not zero")
		}
		for k := range x {
			x[k] = 1
		}
		for k := range y {
			y[k] = 2
		}
		if x[0] != 1 || kept[2] != 5 {
			t.Fatal("two slices share memory")
		}
		s.Release(mark)
	}
}

// A scratch makes vectors contiguous, copies back what is written, and puts zeros in
// place of nil.
func TestScratch(t *testing.T) {
	data := []float64{1, -1, 2, -1, 3}
	for range 2 {
		x := rev.Vector[float64]{N: 3, Data: data, Inc: 2}
		w, y, z, none := x, x, x, rev.Vector[float64]{N: 2, Inc: 2}
		s := num.NewScratch[float64]()
		s.Read(&x, &w, &none)
		s.Write(&y, &z, &none)
		if x.Inc != 1 || y.Inc != 1 || none.Inc != 1 || none.Data != nil {
			t.Fatalf("views %v, %v, %v", x, y, none)
		}
		y.Data[1]++
		if x.Data[1] != 2 || z.Data[1] != 3 {
			t.Errorf("the read copy has %v, and that of the same vector %v", x.Data, z.Data)
		}
		if &w.Data[0] != &x.Data[0] {
			t.Error("a vector that is read twice has two copies")
		}
		m := rev.NewGeneral(2, 3, make([]float64, 6))
		var number *float64
		var vector rev.Vector[float64]
		var matrix rev.General[float64]
		s.Number(&number)
		s.Vector(&vector, 3)
		s.Matrix(&matrix, m)
		if *number != 0 || len(vector.Data) != 3 || matrix.Rows != 2 || len(matrix.Data) != 6 || vector.Data[2] != 0 {
			t.Errorf("zeros %v, %v, %v", *number, vector, matrix)
		}
		vector.Data[2] = 7
		s.Free()
		if data[1] != -1 || data[2] != 3 || data[4] != 3 {
			t.Errorf("the vector is %v", data)
		}
		data[2] = 2
	}
}
