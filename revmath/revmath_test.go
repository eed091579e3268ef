package revmath

import (
	_ "embed"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

//go:embed testdata/values.json
var valuesJSON []byte

// values returns the cases of a function in values.json, as numbers.
func values(t *testing.T, name string) (cases [][]float64) {
	t.Helper()
	var all map[string][][]string
	if err := json.Unmarshal(valuesJSON, &all); err != nil {
		t.Fatal(err)
	}
	for _, texts := range all[name] {
		var c []float64
		for _, s := range texts {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			c = append(c, v)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatalf("no values of %s", name)
	}
	return cases
}

// vec returns n numbers between lo and hi.
func vec[T rev.Real](rnd *rand.Rand, n int, lo, hi float64) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](lo + (hi-lo)*rnd.Float64())
	}
	return rev.ViewSlice(x)
}

func one[T rev.Real](v float64) rev.Vector[T] { return rev.ViewSlice([]T{fixed.Of[T](v)}) }

func value[T rev.Real](v rev.Vector[T]) float64 { return fixed.Float(v.Data[0]) }

func ulp[T rev.Real]() float64 {
	switch any(T(0)).(type) {
	case float32:
		return 0x1p-23
	case fixed.Q43:
		return 0x1p-43
	}
	return 0x1p-52
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v, within %.3g (off by %.3g)", what, got, want, tol, math.Abs(got-want))
	}
}

func bessel[T rev.Real](nu float64) revtest.Spec[Bessel[T]] {
	return revtest.Spec[Bessel[T]]{
		New: func(rnd *rand.Rand, n int) Bessel[T] {
			return Bessel[T]{Y: vec[T](rnd, n, -1, 1), X: vec[T](rnd, n, 0.5, 4), Nu: nu}
		},
		Adjoint: 30000, // dozens of terms, each rounded by itself
		Failing: func(rnd *rand.Rand, n int) Bessel[T] {
			n = max(n, 1)
			return Bessel[T]{Y: vec[T](rnd, n, -1, 1), X: vec[T](rnd, n, -2, -1), Nu: math.Floor(nu) + 0.5}
		},
	}
}

func expSpec[T rev.Real]() revtest.Spec[ExpSeries[T]] {
	return revtest.Spec[ExpSeries[T]]{
		New: func(rnd *rand.Rand, n int) ExpSeries[T] {
			return ExpSeries[T]{Y: vec[T](rnd, n, -1, 1), X: vec[T](rnd, n, 0.4, 1)}
		},
		Adjoint: 30000,
	}
}

func logSpec[T rev.Real]() revtest.Spec[LogSeries[T]] {
	return revtest.Spec[LogSeries[T]]{
		New: func(rnd *rand.Rand, n int) LogSeries[T] {
			return LogSeries[T]{Y: vec[T](rnd, n, -1, 1), X: vec[T](rnd, n, 1.5, 2.5)}
		},
		Adjoint: 30000,
		Failing: func(rnd *rand.Rand, n int) LogSeries[T] {
			n = max(n, 1)
			return LogSeries[T]{Y: vec[T](rnd, n, -1, 1), X: vec[T](rnd, n, -1, 0)}
		},
	}
}

func powSpec[T rev.Real]() revtest.Spec[PowSeries[T]] {
	return revtest.Spec[PowSeries[T]]{
		New: func(rnd *rand.Rand, n int) PowSeries[T] {
			return PowSeries[T]{Y: vec[T](rnd, n, -1, 1), X: vec[T](rnd, n, 1.5, 2.5), P: vec[T](rnd, n, 0.5, 1)}
		},
		Adjoint: 30000,
		Failing: func(rnd *rand.Rand, n int) PowSeries[T] {
			n = max(n, 1)
			return PowSeries[T]{Y: vec[T](rnd, n, -1, 1), X: vec[T](rnd, n, -1, 0), P: vec[T](rnd, n, -1, 1)}
		},
	}
}

func boxMullerSpec[T rev.Real]() revtest.Spec[BoxMuller[T]] {
	return revtest.Spec[BoxMuller[T]]{
		New: func(rnd *rand.Rand, n int) BoxMuller[T] {
			return BoxMuller[T]{Z1: vec[T](rnd, n, -1, 1), Z2: vec[T](rnd, n, -1, 1), U1: vec[T](rnd, n, 0.3, 0.7), U2: vec[T](rnd, n, 0, 1)}
		},
		Failing: func(rnd *rand.Rand, n int) BoxMuller[T] {
			n = max(n, 1)
			return BoxMuller[T]{Z1: vec[T](rnd, n, -1, 1), Z2: vec[T](rnd, n, -1, 1), U1: vec[T](rnd, n, 2, 3), U2: vec[T](rnd, n, 0, 1)}
		},
	}
}

func inverseSpec[T rev.Real]() revtest.Spec[BoxMullerInverse[T]] {
	return revtest.Spec[BoxMullerInverse[T]]{
		New: func(rnd *rand.Rand, n int) BoxMullerInverse[T] {
			return BoxMullerInverse[T]{U1: vec[T](rnd, n, -1, 1), U2: vec[T](rnd, n, -1, 1), Z1: vec[T](rnd, n, -1, 1), Z2: vec[T](rnd, n, 0.5, 1)}
		},
	}
}

func conform[T rev.Real](t *testing.T) {
	t.Run("Bessel/2", func(t *testing.T) { revtest.Kernel(t, bessel[T](2)) })
	t.Run("Bessel/2.5", func(t *testing.T) { revtest.Kernel(t, bessel[T](2.5)) })
	t.Run("ExpSeries", func(t *testing.T) { revtest.Kernel(t, expSpec[T]()) })
	t.Run("LogSeries", func(t *testing.T) { revtest.Kernel(t, logSpec[T]()) })
	t.Run("PowSeries", func(t *testing.T) { revtest.Kernel(t, powSpec[T]()) })
	t.Run("BoxMuller", func(t *testing.T) { revtest.Kernel(t, boxMullerSpec[T]()) })
	t.Run("BoxMullerInverse", func(t *testing.T) { revtest.Kernel(t, inverseSpec[T]()) })
}

func TestConformance(t *testing.T) {
	t.Run("float64", conform[float64])
	t.Run("float32", conform[float32])
	t.Run("Q43", conform[fixed.Q43])
}

// besselI returns the bound of the terms of J_ν, exp(x)/√(2πx) for large x.
func besselI(x float64) float64 { return max(1, math.Exp(x)/math.Sqrt(2*math.Pi*x)) }

// derivatives returns value, first and second derivative of a kernel y += f(x) at one x.
func derivatives[T rev.Real, K rev.Kernel[K]](t *testing.T, x float64, kernel func(y, x rev.Vector[T]) K) [3]float64 {
	t.Helper()
	y := one[T](0)
	k := kernel(y, one[T](x))
	if err := rev.Forward(k); err != nil {
		t.Fatal(err)
	}
	f := value(y)
	gx, gtx := one[T](0), one[T](0)
	if err := rev.Inverse(k); err != nil {
		t.Fatal(err)
	}
	tk, g, gt := kernel(one[T](0), one[T](1)), kernel(one[T](1), gx), kernel(one[T](0), gtx)
	if err := errors.Join(rev.Tangent(k, tk), rev.AdjointTangent(k, g, tk, gt)); err != nil {
		t.Fatal(err)
	}
	return [3]float64{f, value(gx), value(gtx)}
}

func TestBesselValues(t *testing.T) {
	for _, c := range values(t, "bessel") {
		nu, x := c[0], c[1]
		got := derivatives(t, x, func(y, x rev.Vector[float64]) Bessel[float64] { return Bessel[float64]{Y: y, X: x, Nu: nu} })
		inFixed := derivatives(t, x, func(y, x rev.Vector[fixed.Q43]) Bessel[fixed.Q43] {
			return Bessel[fixed.Q43]{Y: y, X: x, Nu: nu}
		})
		for i, want := range c[2:] {
			// Derivatives of small powers are large.
			scale := besselI(x) + math.Abs(want)
			near(t, "derivative "+strconv.Itoa(i)+" of J_"+strconv.FormatFloat(nu, 'g', -1, 64)+" at "+strconv.FormatFloat(x, 'g', -1, 64), got[i], want, 40*0x1p-52*scale)
			if x >= 0.75 {
				near(t, "the same in fixed point", inFixed[i], want, 40*0x1p-43*scale)
			}
		}
		if n := int(nu); float64(n) == nu {
			near(t, "J_n as package math has it", got[0], math.Jn(n, x), 40*0x1p-52*besselI(x))
			// J_n(-x) = (-1)^n·J_n(x).
			minus := derivatives(t, -x, func(y, x rev.Vector[float64]) Bessel[float64] { return Bessel[float64]{Y: y, X: x, Nu: nu} })
			if sign := float64(1 - 2*(n%2)); minus[0] != sign*got[0] {
				t.Errorf("J_%d(%v) = %v, want %v", n, -x, minus[0], sign*got[0])
			}
		}
	}
}

func TestBesselOrder(t *testing.T) {
	for _, nu := range []float64{-1, -0.5, 1001, math.NaN(), math.Inf(1)} {
		k := Bessel[float64]{Y: one[float64](3), X: one[float64](1), Nu: nu}
		var domain *rev.DomainError
		if err := k.Forward(); !errors.As(err, &domain) {
			t.Errorf("order %v: %v", nu, err)
		}
		if value(k.Y) != 3 {
			t.Errorf("order %v: Y is %v", nu, value(k.Y))
		}
	}
	k := Bessel[float64]{Y: one[float64](0), X: one[float64](0), Nu: 0.5}
	if err := k.Forward(); err != nil || value(k.Y) != 0 {
		t.Errorf("J_½(0) = %v, %v", value(k.Y), err)
	}
}

func series[T rev.Real](t *testing.T) {
	for _, c := range values(t, "exp") {
		got := derivatives(t, c[0], func(y, x rev.Vector[T]) ExpSeries[T] { return ExpSeries[T]{Y: y, X: x} })
		for i, want := range c[1:] {
			near(t, "exp", got[i], want, 30*ulp[T]()*max(want, ulp[T]()/0x1p-44))
		}
	}
	for _, c := range values(t, "log") {
		got := derivatives(t, c[0], func(y, x rev.Vector[T]) LogSeries[T] { return LogSeries[T]{Y: y, X: x} })
		for i, want := range c[1:] {
			// z is a multiple of x, and so are the errors of its derivatives.
			near(t, "log", got[i], want, 60*ulp[T]()*max(1+math.Abs(want), math.Pow(c[2], float64(2*i))))
		}
	}
	for _, c := range values(t, "pow") {
		k := PowSeries[T]{Y: one[T](0), X: one[T](c[0]), P: one[T](c[1])}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		f := value(k.Y)
		g := PowSeries[T]{Y: one[T](1), X: one[T](0), P: one[T](0)}
		if err := k.Adjoint(g); err != nil {
			t.Fatal(err)
		}
		for i, got := range []float64{f, value(g.X), value(g.P)} {
			near(t, "pow", got, c[2+i], 200*ulp[T]()*(1+math.Abs(c[1]))*(1+math.Abs(c[2+i])))
		}
		if value(k.Y) != 0 {
			t.Errorf("%v remains of the power", value(k.Y))
		}
	}
}

func TestSeriesValues(t *testing.T) {
	t.Run("float64", series[float64])
	t.Run("Q43", series[fixed.Q43])
}

// The elementary functions at the ends of the range of float64.
func TestSeriesExtremes(t *testing.T) {
	exp := func(x float64) float64 {
		y := one[float64](0)
		ExpSeries[float64]{Y: y, X: one[float64](x)}.Forward()
		return value(y)
	}
	if exp(math.Inf(1)) != math.Inf(1) || exp(math.Inf(-1)) != 0 || exp(-800) != 0 || exp(720) != math.Inf(1) || !math.IsNaN(exp(math.NaN())) {
		t.Error("exp at the ends:", exp(math.Inf(1)), exp(math.Inf(-1)), exp(-800), exp(720), exp(math.NaN()))
	}
	for _, x := range []float64{math.Inf(1), math.NaN()} {
		l, p, b := one[float64](0), one[float64](0), one[float64](0)
		if err := errors.Join(
			LogSeries[float64]{Y: l, X: one[float64](x)}.Forward(),
			PowSeries[float64]{Y: p, X: one[float64](x), P: one[float64](1)}.Forward(),
			BoxMuller[float64]{Z1: b, Z2: one[float64](0), U1: one[float64](math.NaN()), U2: one[float64](0)}.Forward(),
		); err != nil || !math.IsNaN(value(l)) || !math.IsNaN(value(p)) || !math.IsNaN(value(b)) {
			t.Errorf("at %v: log %v, power %v, Box-Muller %v, %v", x, value(l), value(p), value(b), err)
		}
	}
	for _, x := range []float64{5e-324, 1e-310, 0x1p-1022, 1e308, math.MaxFloat64} {
		y := one[float64](0)
		if err := (LogSeries[float64]{Y: y, X: one[float64](x)}).Forward(); err != nil {
			t.Fatal(err)
		}
		want := math.Log(x*0x1p-200) + 200*math.Ln2
		if x < 1 {
			want = math.Log(x*0x1p200) - 200*math.Ln2 // math.Log is wrong for subnormal numbers
		}
		near(t, "log", value(y), want, 4*0x1p-52*(1+math.Abs(want)))
	}
}

func TestComplexLog(t *testing.T) {
	for _, c := range values(t, "complexlog") {
		y := []complex128{0}
		k := revlinalg.Log[complex128]{Y: rev.ViewSlice(y), X: rev.ViewSlice([]complex128{complex(c[0], c[1])})}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		near(t, "the real part", real(y[0]), c[2], 2*0x1p-52*(1+math.Abs(c[2])))
		near(t, "the argument", imag(y[0]), c[3], 2*0x1p-52*(1+math.Abs(c[3])))
	}
}

// Box-Muller in place: u becomes z, and comes back to the bit over fixed point.
func TestBoxMullerInPlace(t *testing.T) {
	type q = fixed.Q43
	type state struct{ U1, U2, Z1, Z2 rev.Vector[q] }
	prog := rev.Seq(
		rev.At(func(s *state) BoxMuller[q] { return BoxMuller[q]{Z1: s.Z1, Z2: s.Z2, U1: s.U1, U2: s.U2} }),
		rev.Uncall(rev.At(func(s *state) BoxMullerInverse[q] {
			return BoxMullerInverse[q]{U1: s.U1, U2: s.U2, Z1: s.Z1, Z2: s.Z2}
		})),
	)
	const n = 2000
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &state{vec[q](rnd, n, 0.001, 1), vec[q](rnd, n, 0, 1), vec[q](rnd, n, 0, 0), vec[q](rnd, n, 0, 0)}
	u1, u2 := append([]q(nil), s.U1.Data...), append([]q(nil), s.U2.Data...)
	if err := prog.Forward(s); err != nil {
		t.Fatal(err)
	}
	var mean, square, rest float64
	for i, z := range s.Z1.Data {
		mean += z.Float64() / n
		square += z.Float64() * z.Float64() / n
		rest = max(rest, math.Abs(s.U1.Data[i].Float64()), math.Abs(s.U2.Data[i].Float64()))
	}
	near(t, "the mean of z", mean, 0, 0.1)
	near(t, "the mean square of z", square, 1, 0.15)
	near(t, "what is left of u", rest, 0, 1e-11)
	if err := prog.Inverse(s); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if s.U1.Data[i] != u1[i] || s.U2.Data[i] != u2[i] || s.Z1.Data[i] != 0 || s.Z2.Data[i] != 0 {
			t.Fatalf("pair %d came back as %v, %v; %v, %v left", i, s.U1.Data[i], s.U2.Data[i], s.Z1.Data[i], s.Z2.Data[i])
		}
	}
}

func besselLogs[T rev.Real](t *testing.T) {
	for _, c := range values(t, "bessel") {
		nu, x := c[0], c[1]
		if ulp[T]() == 0x1p-43 && x > 10 || x < 0.75 {
			continue // terms out of range; derivatives of small powers
		}
		prog := BesselLogs[T](nu)
		s, g := &BesselState[T]{X: [1]T{fixed.Of[T](x)}}, new(BesselState[T])
		start := *s
		v, err := rev.ValueGradient(prog, func(s *BesselState[T]) *T { return &s.Y[0] }, s, g)
		if err != nil {
			t.Fatal(nu, x, err)
		}
		tol := 400 * ulp[T]() * besselI(x)
		near(t, "J_ν", fixed.Float(v), c[2], tol)
		near(t, "J_ν′", fixed.Float(g.X[0]), c[3], 4*tol)
		h := new(BesselState[T])
		dir := &BesselState[T]{X: [1]T{fixed.Of[T](1)}}
		if _, err := rev.HessianVector(prog, func(s *BesselState[T]) *T { return &s.Y[0] }, s, new(BesselState[T]), dir, h); err != nil {
			t.Fatal(nu, x, err)
		}
		near(t, "J_ν″", fixed.Float(h.X[0]), c[4], 16*tol)
		if any(T(0)) == any(fixed.Q43(0)) && *s != start {
			t.Errorf("J_%v(%v): the state came back as %v", nu, x, *s)
		}
	}
}

func TestBesselLogs(t *testing.T) {
	t.Run("float64", besselLogs[float64])
	t.Run("Q43", besselLogs[fixed.Q43])

	for _, x := range []float64{-1, 0, 1001, math.Inf(1)} {
		s := &BesselState[float64]{X: [1]float64{x}}
		var domain *rev.DomainError
		if err := BesselLogs[float64](1).Forward(s); !errors.As(err, &domain) || *s != (BesselState[float64]{X: [1]float64{x}}) {
			t.Errorf("at x = %v: %v, state %v", x, err, *s)
		}
	}
}

func TestRisingFactorial(t *testing.T) {
	prog := RisingFactorial[fixed.Q43]()
	for _, c := range values(t, "rising") {
		s := &Rising[fixed.Q43]{X: [1]fixed.Q43{fixed.Of[fixed.Q43](c[0])}, N: int(c[1])}
		start, g := *s, new(Rising[fixed.Q43])
		v, err := rev.ValueGradient(prog, func(s *Rising[fixed.Q43]) *fixed.Q43 { return &s.Log[0] }, s, g)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "log of the product", v.Float64(), c[2], c[1]*0x1p-43)
		near(t, "its gradient", g.X[0].Float64(), c[3], c[1]*0x1p-43)
		if *s != start {
			t.Errorf("the state came back as %v", *s)
		}
	}
	f := RisingFactorial[float64]()
	for _, c := range values(t, "rising") {
		h, err := rev.ValueGradient(f, func(s *Rising[float64]) *float64 { return &s.Log[0] }, &Rising[float64]{X: [1]float64{c[0]}, N: int(c[1])}, new(Rising[float64]))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "log of the product", h, c[2], 1e-13*max(1, c[2]))
	}
	revtest.Program(t, f, &Rising[float64]{X: [1]float64{1.5}, N: 7})

	for _, s := range []Rising[float64]{{N: -1, X: [1]float64{1}}, {N: 3, X: [1]float64{-1.5}}} {
		before := s
		var domain *rev.DomainError
		if err := f.Forward(&s); !errors.As(err, &domain) || s != before {
			t.Errorf("%v: %v, and the state %v", before, err, s)
		}
	}
}

func TestFibonacci(t *testing.T) {
	type q = fixed.Q43
	prog := Fibonacci[q]()
	a, b := 1, 1
	for n := 1; n <= 29; n++ {
		s := &Recurrence[q]{A: [1]q{fixed.One}, B: [1]q{fixed.One}, N: n}
		start, g := *s, new(Recurrence[q])
		v, err := rev.ValueGradient(prog, func(s *Recurrence[q]) *q { return &s.Out[0] }, s, g)
		if err != nil {
			t.Fatal(err)
		}
		// By linearity F_n = A·∂F_n/∂A + B·∂F_n/∂B.
		if v != q(a)*fixed.One || g.A[0]+g.B[0] != v || *s != start {
			t.Errorf("F_%d = %v with gradient %v, %v; the state came back as %v", n, v, g.A[0], g.B[0], *s)
		}
		a, b = b, a+b
	}
	revtest.Program(t, Fibonacci[float64](), &Recurrence[float64]{A: [1]float64{0.5}, B: [1]float64{-0.25}, N: 6})
	for _, n := range []int{0, -3} {
		var domain *rev.DomainError
		s := &Recurrence[q]{N: n}
		if err := prog.Forward(s); !errors.As(err, &domain) || *s != (Recurrence[q]{N: n}) {
			t.Errorf("n = %d: %v", n, err)
		}
	}
}

// An error names the element, in units of the argument over every number type.
func TestDomain(t *testing.T) {
	domain := func(err error, name string, index int, args ...float64) {
		t.Helper()
		var d *rev.DomainError
		if !errors.As(err, &d) || d.Func != name || d.Index != index || !slices.Equal(d.Args, args) {
			t.Errorf("%v, want %s%v at element %d", err, name, args, index)
		}
	}
	numbers := func(x ...float64) rev.Vector[fixed.Q43] {
		v := make([]fixed.Q43, len(x))
		for i, x := range x {
			v[i] = fixed.Of[fixed.Q43](x)
		}
		return rev.ViewSlice(v)
	}
	y := numbers(0, 0, 0)
	domain(LogSeries[fixed.Q43]{Y: y, X: numbers(1, 2, -0.5)}.Forward(), "log", 2, -0.5)
	domain(PowSeries[fixed.Q43]{Y: y, X: numbers(1, 0, 1), P: numbers(1, 1.5, 1)}.Forward(), "pow", 1, 0, 1.5)
	domain(BoxMuller[fixed.Q43]{Z1: y, Z2: numbers(0, 0, 0), U1: numbers(1.5, 1, 1), U2: numbers(0.25, 0, 0)}.Forward(), "BoxMuller", 0, 1.5, 0.25)
}
