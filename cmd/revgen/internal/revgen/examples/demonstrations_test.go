package examples

import (
	_ "embed"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
)

//go:embed testdata/values.json
var valuesJSON []byte

func ulp[T rev.Real]() float64 {
	switch any(T(0)).(type) {
	case float32:
		return 0x1p-23
	case fixed.Q43:
		return 0x1p-43
	}
	return 0x1p-52
}

func derivatives[T rev.Real, K rev.Kernel[K]](t *testing.T, x float64, kernel func(y, x rev.Vector[T]) K) [3]float64 {
	t.Helper()
	y := kerneltest.One[T](0)
	k := kernel(y, kerneltest.One[T](x))
	if err := rev.Forward(k); err != nil {
		t.Fatal(err)
	}
	f := kerneltest.Number(y)
	gx, gtx := kerneltest.One[T](0), kerneltest.One[T](0)
	if err := rev.Inverse(k); err != nil {
		t.Fatal(err)
	}
	tk, g, gt := kernel(kerneltest.One[T](0), kerneltest.One[T](1)), kernel(kerneltest.One[T](1), gx), kernel(kerneltest.One[T](0), gtx)
	if err := errors.Join(rev.Tangent(k, tk), rev.AdjointTangent(k, g, tk, gt)); err != nil {
		t.Fatal(err)
	}
	return [3]float64{f, kerneltest.Number(gx), kerneltest.Number(gtx)}
}

func expSpec[T rev.Real]() revtest.Spec[ExpSeries[T]] {
	return revtest.Spec[ExpSeries[T]]{
		Magnitudes: [2]float64{0.125, 4}, // the value overflows
		New: func(rnd *rand.Rand, n int) ExpSeries[T] {
			return ExpSeries[T]{Y: kerneltest.Uniform[T](rnd, n, -1, 1), X: kerneltest.Uniform[T](rnd, n, 0.4, 1)}
		},
		Adjoint: 30000,
	}
}

func logSpec[T rev.Real]() revtest.Spec[LogSeries[T]] {
	return revtest.Spec[LogSeries[T]]{
		New: func(rnd *rand.Rand, n int) LogSeries[T] {
			return LogSeries[T]{Y: kerneltest.Uniform[T](rnd, n, -1, 1), X: kerneltest.Uniform[T](rnd, n, 1.5, 2.5)}
		},
		Adjoint: 30000,
		Failing: func(rnd *rand.Rand, n int) LogSeries[T] {
			n = max(n, 1)
			return LogSeries[T]{Y: kerneltest.Uniform[T](rnd, n, -1, 1), X: kerneltest.Uniform[T](rnd, n, -1, 0)}
		},
	}
}

func powSpec[T rev.Real]() revtest.Spec[PowSeries[T]] {
	return revtest.Spec[PowSeries[T]]{
		Magnitudes: [2]float64{0.125, 2}, // the value overflows
		New: func(rnd *rand.Rand, n int) PowSeries[T] {
			return PowSeries[T]{Y: kerneltest.Uniform[T](rnd, n, -1, 1), X: kerneltest.Uniform[T](rnd, n, 1.5, 2.5), P: kerneltest.Uniform[T](rnd, n, 0.5, 1)}
		},
		Adjoint: 30000,
		Failing: func(rnd *rand.Rand, n int) PowSeries[T] {
			n = max(n, 1)
			return PowSeries[T]{Y: kerneltest.Uniform[T](rnd, n, -1, 1), X: kerneltest.Uniform[T](rnd, n, -1, 0), P: kerneltest.Uniform[T](rnd, n, -1, 1)}
		},
	}
}

func conform[T rev.Real](t *testing.T) {
	t.Run("ExpSeries", func(t *testing.T) { revtest.Kernel(t, expSpec[T]()) })
	t.Run("LogSeries", func(t *testing.T) { revtest.Kernel(t, logSpec[T]()) })
	t.Run("PowSeries", func(t *testing.T) { revtest.Kernel(t, powSpec[T]()) })
}

func TestSeries(t *testing.T) { conform[float64](t) }

func series[T rev.Real](t *testing.T) {
	for _, c := range kerneltest.Values(t, valuesJSON, "exp") {
		got := derivatives(t, c[0], func(y, x rev.Vector[T]) ExpSeries[T] { return ExpSeries[T]{Y: y, X: x} })
		for i, want := range c[1:] {
			kerneltest.Within(t, "exp", got[i], want, 30*ulp[T]()*max(want, ulp[T]()/0x1p-44))
		}
	}
	for _, c := range kerneltest.Values(t, valuesJSON, "log") {
		got := derivatives(t, c[0], func(y, x rev.Vector[T]) LogSeries[T] { return LogSeries[T]{Y: y, X: x} })
		for i, want := range c[1:] {
			// z is a multiple of x, and so are the errors of its derivatives.
			kerneltest.Within(t, "log", got[i], want, 60*ulp[T]()*max(1+math.Abs(want), math.Pow(c[2], float64(2*i))))
		}
	}
	for _, c := range kerneltest.Values(t, valuesJSON, "pow") {
		k := PowSeries[T]{Y: kerneltest.One[T](0), X: kerneltest.One[T](c[0]), P: kerneltest.One[T](c[1])}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		f := kerneltest.Number(k.Y)
		g := PowSeries[T]{Y: kerneltest.One[T](1), X: kerneltest.One[T](0), P: kerneltest.One[T](0)}
		if err := k.Adjoint(g); err != nil {
			t.Fatal(err)
		}
		for i, got := range []float64{f, kerneltest.Number(g.X), kerneltest.Number(g.P)} {
			kerneltest.Within(t, "pow", got, c[2+i], 200*ulp[T]()*(1+math.Abs(c[1]))*(1+math.Abs(c[2+i])))
		}
		if kerneltest.Number(k.Y) != 0 {
			t.Errorf("%v remains of the power", kerneltest.Number(k.Y))
		}
	}
}

func TestSeriesValues(t *testing.T) { series[float64](t) }

func TestSeriesExtremes(t *testing.T) {
	exp := func(x float64) float64 {
		y := kerneltest.One[float64](0)
		ExpSeries[float64]{Y: y, X: kerneltest.One[float64](x)}.Forward()
		return kerneltest.Number(y)
	}
	if exp(math.Inf(1)) != math.Inf(1) || exp(math.Inf(-1)) != 0 || exp(-800) != 0 || exp(720) != math.Inf(1) || !math.IsNaN(exp(math.NaN())) {
		t.Error("exp at the ends:", exp(math.Inf(1)), exp(math.Inf(-1)), exp(-800), exp(720), exp(math.NaN()))
	}
	for _, x := range []float64{math.Inf(1), math.NaN()} {
		l, p := kerneltest.One[float64](0), kerneltest.One[float64](0)
		if err := errors.Join(
			LogSeries[float64]{Y: l, X: kerneltest.One[float64](x)}.Forward(),
			PowSeries[float64]{Y: p, X: kerneltest.One[float64](x), P: kerneltest.One[float64](1)}.Forward(),
		); err != nil || !math.IsNaN(kerneltest.Number(l)) || !math.IsNaN(kerneltest.Number(p)) {
			t.Errorf("at %v: log %v, power %v, %v", x, kerneltest.Number(l), kerneltest.Number(p), err)
		}
	}
	for _, x := range []float64{5e-324, 1e-310, 0x1p-1022, 1e308, math.MaxFloat64} {
		y := kerneltest.One[float64](0)
		if err := (LogSeries[float64]{Y: y, X: kerneltest.One[float64](x)}).Forward(); err != nil {
			t.Fatal(err)
		}
		want := math.Log(x*0x1p-200) + 200*math.Ln2
		if x < 1 {
			want = math.Log(x*0x1p200) - 200*math.Ln2 // math.Log is wrong for subnormal numbers
		}
		kerneltest.Within(t, "log", kerneltest.Number(y), want, 4*0x1p-52*(1+math.Abs(want)))
	}
}

func besselI(x float64) float64 { return max(1, math.Exp(x)/math.Sqrt(2*math.Pi*x)) }

func besselLogs[T rev.Real](t *testing.T) {
	for _, c := range kerneltest.Values(t, valuesJSON, "bessel") {
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
		kerneltest.Within(t, "J_ν", fixed.Float(v), c[2], tol)
		kerneltest.Within(t, "J_ν′", fixed.Float(g.X[0]), c[3], 4*tol)
		h := new(BesselState[T])
		dir := &BesselState[T]{X: [1]T{fixed.Of[T](1)}}
		if _, err := rev.HessianVector(prog, func(s *BesselState[T]) *T { return &s.Y[0] }, s, new(BesselState[T]), dir, h); err != nil {
			t.Fatal(nu, x, err)
		}
		kerneltest.Within(t, "J_ν″", fixed.Float(h.X[0]), c[4], 16*tol)
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
	for _, c := range kerneltest.Values(t, valuesJSON, "rising") {
		s := &Rising[fixed.Q43]{X: [1]fixed.Q43{fixed.Of[fixed.Q43](c[0])}, N: int(c[1])}
		start, g := *s, new(Rising[fixed.Q43])
		v, err := rev.ValueGradient(prog, func(s *Rising[fixed.Q43]) *fixed.Q43 { return &s.Log[0] }, s, g)
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Within(t, "log of the product", v.Float64(), c[2], c[1]*0x1p-43)
		kerneltest.Within(t, "its gradient", g.X[0].Float64(), c[3], c[1]*0x1p-43)
		if *s != start {
			t.Errorf("the state came back as %v", *s)
		}
	}
	f := RisingFactorial[float64]()
	for _, c := range kerneltest.Values(t, valuesJSON, "rising") {
		h, err := rev.ValueGradient(f, func(s *Rising[float64]) *float64 { return &s.Log[0] }, &Rising[float64]{X: [1]float64{c[0]}, N: int(c[1])}, new(Rising[float64]))
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Within(t, "log of the product", h, c[2], 1e-13*max(1, c[2]))
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
