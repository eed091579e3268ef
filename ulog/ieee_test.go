package ulog

import (
	"errors"
	"math"
	"testing"
)

var inf, negZero = math.Inf(1), math.Copysign(0, -1)

// same reports whether a and b have the same sign, also if they are zero, and differ by at
// most a few roundings of the log and of the number.
func same(a, b float64) bool {
	switch {
	case a != a || b != b:
		return a != a && b != b
	case a == 0 || b == 0 || math.IsInf(a, 0) || math.IsInf(b, 0):
		return a == b && math.Signbit(a) == math.Signbit(b)
	}
	return math.Abs(a-b) <= (1+math.Abs(math.Log(math.Abs(b))))*0x1p-51*math.Abs(b)
}

// TestIEEE compares Signed with float64 at all special operands. If all numbers are
// positive, it also compares Float64 and Float32.
func TestIEEE(t *testing.T) {
	values := []float64{0, negZero, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e300, -1e-300, inf, -inf, math.NaN()}
	powers := append([]float64{4, -4, 5, -5, 1.5, -1.5}, values...)
	for _, v := range values {
		x := NewSigned(v)
		unary := func(op string, have Signed, want float64) {
			t.Helper()
			if !same(have.Float64(), want) {
				t.Errorf("%s %v is %v, want %v", op, v, have, want)
			}
		}
		unary("", x, v)
		unary("-", x.Negate(), -v)
		unary("1/", x.Inv(), 1/v)
		unary("√", x.Sqrt(), math.Sqrt(v))
		unary("abs", x.Abs().Signed(), math.Abs(v))
		if v > 0 {
			if have := NewFloat64(v).Sqrt().Float64(); !same(have, math.Sqrt(v)) {
				t.Errorf("√%v is %v", v, have)
			}
		}
		if want := sign(v); x.Sign() != want {
			t.Errorf("sign of %v is %d", v, x.Sign())
		}
		for _, p := range powers {
			// Powers beyond float64 read as 0 and Inf.
			if have, want := x.Pow(p).Float64(), math.Pow(v, p); !same(have, want) && !(math.Abs(have/want-1) <= 1e-12) {
				t.Errorf("%v^%v is %v, want %v", v, p, have, want)
			}
			if v >= 0 && !math.Signbit(v) || v != v {
				if have, want := NewFloat64(v).Pow(p).Float64(), math.Pow(v, p); !same(have, want) && !(math.Abs(have/want-1) <= 1e-12) {
					t.Errorf("%v^%v is %v, want %v", v, p, have, want)
				}
				if have, want := NewFloat32(v).Pow(p).Float64(), math.Pow(v, p); !same(have, want) && !(math.Abs(have/want-1) <= 1e-3) {
					t.Errorf("%v^%v is %v, want %v", v, p, have, want)
				}
			}
		}
		for _, w := range values {
			y := NewSigned(w)
			binary := func(op string, have Signed, want float64) {
				t.Helper()
				// The logs of huge numbers carry 2^-44 at best.
				if f := have.Float64(); !same(f, want) && !(math.Abs(f/want-1) < 1e-12) {
					t.Errorf("%v %s %v is %v, want %v", v, op, w, have, want)
				}
			}
			if v == v && w == w {
				binary("+", x.Add(y), v+w)
				binary("-", x.Sub(y), v-w)
			} else if !x.Add(y).IsNaN() || !x.Sub(y).IsNaN() {
				t.Errorf("%v ± %v is not NaN", v, w)
			}
			if p := v * w; math.Abs(p) < inf || math.IsInf(v, 0) || math.IsInf(w, 0) {
				binary("*", x.Mul(y), p)
			}
			if q := v / w; q != 0 || v == 0 || math.IsInf(w, 0) {
				binary("/", x.Div(y), q)
			}
			want := 0
			switch {
			case v < w || v != v && w == w:
				want = -1
			case v > w || v == v && w != w:
				want = 1
			}
			if x.Cmp(y) != want {
				t.Errorf("%v compares to %v as %d", v, w, x.Cmp(y))
			}
			if v < 0 || w < 0 || math.Signbit(v) || math.Signbit(w) {
				continue
			}
			a, b := NewFloat64(v), NewFloat64(w)
			a32, b32 := NewFloat32(v), NewFloat32(w)
			if a.Cmp(b) != want || a32.Cmp(b32) != want {
				t.Errorf("%v compares to %v as %d and %d", v, w, a.Cmp(b), a32.Cmp(b32))
			}
			for _, c := range []struct {
				op   string
				f, g float64
				want Signed
			}{
				{"+", a.Add(b).Log, float64(a32.Add(b32).Log), x.Add(y)},
				{"-", a.Sub(b).Log, float64(a32.Sub(b32).Log), x.Sub(y)},
				{"*", a.Mul(b).Log, float64(a32.Mul(b32).Log), x.Mul(y)},
				{"/", a.Div(b).Log, float64(a32.Div(b32).Log), x.Div(y)},
			} {
				log := c.want.Log
				if c.want.Neg && !c.want.IsZero() {
					log = math.NaN()
				}
				if !same(c.f, log) || !same(c.g, log) && !(math.Abs(c.g-log) <= 1e-4) {
					t.Errorf("log of %v %s %v is %v and %v, want %v", v, c.op, w, c.f, c.g, log)
				}
			}
		}
	}
}

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// TestChecked calls the checked forms of the float types with operands that they refuse, and
// with operands next to these.
func TestChecked(t *testing.T) {
	zero, one, two, infinity := NewFloat64(0), NewFloat64(1), NewFloat64(2), NewFloat64(inf)
	huge, nan := Float64{math.MaxFloat64}, Float64{math.NaN()}
	tiny := huge.Inv()
	type result struct {
		name string
		err  error
		want error
	}
	// f32 and sg return the same numbers in the other types.
	f32 := func(x Float64) Float32 {
		if math.Abs(x.Log) == math.MaxFloat64 {
			return Float32{float32(math.Copysign(math.MaxFloat32, x.Log))}
		}
		return Float32{float32(x.Log)}
	}
	results := []result{
		{"-1 as Float64", second(NewFloat64Checked(-1)), ErrNegative},
		{"NaN as Float64", second(NewFloat64Checked(math.NaN())), ErrNaN},
		{"-0 as Float64", second(NewFloat64Checked(negZero)), nil},
		{"Inf as Float64", second(NewFloat64Checked(inf)), nil},
		{"-1 as Float32", second(NewFloat32Checked(-1)), ErrNegative},
		{"1 as Float32", second(NewFloat32Checked(1)), nil},
		{"√-1", second(NewSigned(-1).SqrtChecked()), ErrNegative},
		{"√-0", second(NewSigned(negZero).SqrtChecked()), nil},
		{"-1 ^ 0.5", second(NewSigned(-1).PowChecked(0.5)), ErrNegative},
		{"-1 ^ 3", second(NewSigned(-1).PowChecked(3)), nil},
		{"1 - 2 signed", second(NewSigned(1).SubChecked(NewSigned(2))), nil},
		{"1 - 1 signed", second(NewSigned(1).SubChecked(NewSigned(1))), nil},
		{"∞ + -∞ signed", second(NewSigned(inf).AddChecked(NewSigned(-inf))), ErrUndefined},
		{"∞ - ∞ signed", second(NewSigned(inf).SubChecked(NewSigned(inf))), ErrUndefined},
		{"NaN + 1 signed", second(NewSigned(math.NaN()).AddChecked(NewSigned(1))), ErrNaN},
	}
	for _, c := range []struct {
		x    Float64
		op   string
		y    Float64
		want error
	}{
		{two, "+", two, nil}, {infinity, "+", infinity, nil}, {nan, "+", one, ErrNaN}, {zero, "+", zero, nil}, {huge, "+", huge, nil},
		{two, "-", one, nil}, {one, "-", one, nil}, {infinity, "-", infinity, ErrUndefined}, {one, "-", nan, ErrNaN}, {infinity, "-", one, nil},
		{zero, "*", infinity, ErrUndefined}, {huge, "*", huge, ErrRange}, {tiny, "*", tiny, ErrRange}, {zero, "*", two, nil}, {infinity, "*", two, nil}, {nan, "*", zero, ErrNaN},
		{one, "/", zero, ErrDivideByZero}, {zero, "/", zero, ErrUndefined}, {infinity, "/", infinity, ErrUndefined}, {infinity, "/", zero, ErrDivideByZero}, {huge, "/", tiny, ErrRange}, {one, "/", infinity, nil}, {nan, "/", zero, ErrNaN},
		{zero, "^", Float64{-1}, ErrDivideByZero}, {zero, "^", Float64{0}, nil}, {huge, "^", Float64{2}, ErrRange}, {two, "^", Float64{inf}, nil}, {two, "^", Float64{math.NaN()}, ErrNaN},
		{zero, "1/", one, ErrDivideByZero}, {infinity, "1/", one, nil}, {nan, "1/", one, ErrNaN},
		{two, "√", one, nil}, {nan, "√", one, ErrNaN}, {zero, "√", one, nil},
	} {
		x, y, x32, y32, xs, ys := c.x, c.y, f32(c.x), f32(c.y), c.x.Signed(), c.y.Signed()
		var errs [3]error
		switch c.op {
		case "+":
			errs = [3]error{second(x.AddChecked(y)), second(x32.AddChecked(y32)), second(xs.AddChecked(ys))}
		case "-":
			errs = [3]error{second(x.SubChecked(y)), second(x32.SubChecked(y32)), second(xs.SubChecked(ys))}
		case "*":
			errs = [3]error{second(x.MulChecked(y)), second(x32.MulChecked(y32)), second(xs.MulChecked(ys))}
		case "/":
			errs = [3]error{second(x.DivChecked(y)), second(x32.DivChecked(y32)), second(xs.DivChecked(ys))}
		case "^":
			errs = [3]error{second(x.PowChecked(y.Log)), second(x32.PowChecked(y.Log)), second(xs.PowChecked(y.Log))}
		case "1/":
			errs = [3]error{second(x.InvChecked()), second(x32.InvChecked()), second(xs.InvChecked())}
		case "√":
			errs = [3]error{second(x.SqrtChecked()), second(x32.SqrtChecked()), second(xs.SqrtChecked())}
		}
		for i, name := range []string{"Float64", "Float32", "Signed"} {
			results = append(results, result{name + ": " + x.String() + c.op + y.String(), errs[i], c.want})
		}
	}
	results = append(results,
		result{"1 - 2", second(one.SubChecked(two)), ErrNegative},
		result{"1 - 2 in Float32", second(f32(one).SubChecked(f32(two))), ErrNegative})
	for _, r := range results {
		if !errors.Is(r.err, r.want) || (r.err == nil) != (r.want == nil) {
			t.Errorf("%s: error %v, want %v", r.name, r.err, r.want)
		}
	}
}

// TestAssignFloat checks that operations in place give the result of those that return it,
// and that they undo each other up to rounding.
func TestAssignFloat(t *testing.T) {
	x, y := NewFloat64(3), NewFloat64(7)
	z := x
	z.MulAssign(y)
	if z != x.Mul(y) {
		t.Errorf("3 *= 7 is %v", z)
	}
	z.DivAssign(y)
	z.PowAssign(2.5)
	if !same(z.Float64(), math.Pow(3, 2.5)) {
		t.Errorf("3 ^= 2.5 is %v", z)
	}
	z.RootAssign(2.5)
	if !same(z.Float64(), 3) {
		t.Errorf("3 became %v", z)
	}
	x32, y32 := NewFloat32(3), NewFloat32(7)
	z32 := x32
	z32.MulAssign(y32)
	if z32 != x32.Mul(y32) {
		t.Errorf("3 *= 7 is %v", z32)
	}
	z32.DivAssign(y32)
	z32.PowAssign(2.5)
	z32.RootAssign(2.5)
	if math.Abs(z32.Float64()-3) > 1e-6 {
		t.Errorf("3 became %v", z32)
	}
	s := NewSigned(-3)
	s.MulAssign(NewSigned(-7))
	if !same(s.Float64(), 21) {
		t.Errorf("-3 *= -7 is %v", s)
	}
	s.DivAssign(NewSigned(-7))
	if !same(s.Float64(), -3) {
		t.Errorf("-3 became %v", s)
	}
}
