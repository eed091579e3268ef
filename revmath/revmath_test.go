package revmath_test

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revmath"
)

//go:embed testdata/values.json
var valuesJSON []byte

func boxMullerSpec[T rev.Real]() revtest.Spec[revmath.BoxMuller[T]] {
	return revtest.Spec[revmath.BoxMuller[T]]{
		New: func(rnd *rand.Rand, n int) revmath.BoxMuller[T] {
			return revmath.BoxMuller[T]{Z1: kerneltest.Uniform[T](rnd, n, -1, 1), Z2: kerneltest.Uniform[T](rnd, n, -1, 1), U1: kerneltest.Uniform[T](rnd, n, 0.3, 0.7), U2: kerneltest.Uniform[T](rnd, n, 0, 1)}
		},
		Failing: func(rnd *rand.Rand, n int) revmath.BoxMuller[T] {
			n = max(n, 1)
			return revmath.BoxMuller[T]{Z1: kerneltest.Uniform[T](rnd, n, -1, 1), Z2: kerneltest.Uniform[T](rnd, n, -1, 1), U1: kerneltest.Uniform[T](rnd, n, 2, 3), U2: kerneltest.Uniform[T](rnd, n, 0, 1)}
		},
	}
}

func inverseSpec[T rev.Real]() revtest.Spec[revmath.BoxMullerInverse[T]] {
	return revtest.Spec[revmath.BoxMullerInverse[T]]{
		New: func(rnd *rand.Rand, n int) revmath.BoxMullerInverse[T] {
			return revmath.BoxMullerInverse[T]{U1: kerneltest.Uniform[T](rnd, n, -1, 1), U2: kerneltest.Uniform[T](rnd, n, -1, 1), Z1: kerneltest.Uniform[T](rnd, n, -1, 1), Z2: kerneltest.Uniform[T](rnd, n, 0.5, 1)}
		},
	}
}

func bessel[T rev.Real](nu, lo, hi float64) revtest.Spec[revmath.Bessel[T]] {
	return revtest.Spec[revmath.Bessel[T]]{
		New: func(rnd *rand.Rand, n int) revmath.Bessel[T] {
			return revmath.Bessel[T]{Y: kerneltest.Uniform[T](rnd, n, -1, 1), X: kerneltest.Uniform[T](rnd, n, lo, hi), Nu: nu}
		},
		Failing: func(rnd *rand.Rand, n int) revmath.Bessel[T] {
			n = max(n, 1)
			return revmath.Bessel[T]{Y: kerneltest.Uniform[T](rnd, n, -1, 1), X: kerneltest.Uniform[T](rnd, n, -2, -1), Nu: math.Floor(nu) + 0.5}
		},
	}
}

func conform[T rev.Real](t *testing.T) {
	t.Run("Bessel/0", func(t *testing.T) { revtest.Kernel(t, bessel[T](0, -4, 4)) })
	t.Run("Bessel/1", func(t *testing.T) { revtest.Kernel(t, bessel[T](1, 20, 30)) })
	t.Run("Bessel/2", func(t *testing.T) { revtest.Kernel(t, bessel[T](2, -4, 4)) })
	t.Run("Bessel/2.5", func(t *testing.T) { revtest.Kernel(t, bessel[T](2.5, 3.5, 20)) })
	t.Run("Bessel/30", func(t *testing.T) { revtest.Kernel(t, bessel[T](30, 26, 40)) })
	t.Run("BoxMuller", func(t *testing.T) { revtest.Kernel(t, boxMullerSpec[T]()) })
	t.Run("BoxMullerInverse", func(t *testing.T) { revtest.Kernel(t, inverseSpec[T]()) })
}

func TestConformance(t *testing.T) {
	t.Run("float64", conform[float64])
	t.Run("float32", conform[float32])
	t.Run("Q43", conform[fixed.Q43])
}

// derivatives returns J_ν(x) and its first two derivatives.
func derivatives[T rev.Real](t *testing.T, nu float64, x T) [3]float64 {
	t.Helper()
	at := func(y, x T) revmath.Bessel[T] {
		return revmath.Bessel[T]{Y: rev.ViewSlice([]T{y}), X: rev.ViewSlice([]T{x}), Nu: nu}
	}
	unit := fixed.Of[T](1)
	k, d, g, gt := at(0, x), at(0, unit), at(unit, 0), at(0, 0)
	if err := k.Tangent(d); err != nil {
		t.Fatal(err)
	}
	f, slope := kerneltest.Number(k.Y), kerneltest.Number(d.Y)
	alone := at(0, x)
	if err := alone.Forward(); err != nil {
		t.Fatal(err)
	}
	if y := kerneltest.Number(alone.Y); y != f && !math.IsNaN(f) {
		t.Errorf("J_%v(%v) is %v without derivatives, %v with them", nu, x, y, f)
	}
	if err := k.AdjointTangent(g, d, gt); err != nil {
		t.Fatal(err)
	}
	if kerneltest.Number(g.X) != slope && !math.IsNaN(slope) {
		t.Errorf("J_%v′(%v): tangent %v, gradient %v", nu, x, slope, kerneltest.Number(g.X))
	}
	return [3]float64{f, kerneltest.Number(g.X), kerneltest.Number(gt.X)}
}

// The kernel over float64 and fixed point has the values of mpmath, from the smallest to large
// arguments and orders.
func TestBesselValues(t *testing.T) {
	worst := 0.0
	for _, c := range kerneltest.Values(t, valuesJSON, "bessel") {
		nu, x := c[0], c[1]
		name := fmt.Sprintf("J_%v(%v)", nu, x)
		got := derivatives(t, nu, x)
		for i, want := range c[2:] {
			tol := 0x1p-48 * max(1, math.Abs(want))
			kerneltest.Within(t, fmt.Sprintf("derivative %d of %s", i, name), got[i], want, tol)
			worst = max(worst, math.Abs(got[i]-want)/tol)
		}
		if n := int(nu); float64(n) == nu {
			minus, sign := derivatives(t, nu, -x), float64(1-2*(n%2))
			if minus != [3]float64{sign * got[0], -sign * got[1], sign * got[2]} {
				t.Errorf("%s at -x has %v, at x %v", name, minus, got)
			}
		}
		if x := fixed.Of[fixed.Q43](x); x.Float64() == c[1] {
			for i, v := range derivatives(t, nu, x) {
				if want := c[2+i]; math.Abs(want) < 1e6 {
					kerneltest.Within(t, fmt.Sprintf("derivative %d of %s in fixed point", i, name), v, want, 0x1p-43+0x1p-48*math.Abs(want))
				}
			}
		}
	}
	t.Logf("the largest error is %.2g of the bound", worst)
}

// Values between those of the table: integer orders as package math has them, and the half-
// integer one of which J is elementary.
func TestBesselMath(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		x := math.Exp2(20*rnd.Float64() - 8)
		n := rnd.IntN(150)
		if n > 50 {
			n %= 2
		}
		got := derivatives(t, float64(n), x)
		kerneltest.Within(t, fmt.Sprintf("J_%d(%v)", n, x), got[0], math.Jn(n, x), 0x1p-48)
		if next := math.Jn(n+1, x); n < 2 {
			kerneltest.Within(t, fmt.Sprintf("J_%d′(%v)", n, x), got[1], float64(n)/x*math.Jn(n, x)-next, 0x1p-48)
			kerneltest.Within(t, fmt.Sprintf("J_%d″(%v)", n, x), got[2], next/x-math.Jn(n, x), 0x1p-48)
		}
		sin, cos := math.Sincos(x)
		half := math.Sqrt(2 / (math.Pi * x))
		kerneltest.Within(t, fmt.Sprintf("J_½(%v)", x), derivatives(t, 0.5, x)[0], half*sin, 0x1p-48)
		if x > 0.1 {
			kerneltest.Within(t, fmt.Sprintf("J_1½(%v)", x), derivatives(t, 1.5, x)[0], half*(sin/x-cos), 0x1p-45)
		}
	}
}

// The ends: zero, infinity, NaN.
func TestBesselEnds(t *testing.T) {
	for _, c := range []struct {
		nu, x float64
		want  [3]float64
	}{
		{0, 0, [3]float64{1, 0, -0.5}}, {1, 0, [3]float64{0, 0.5, 0}}, {2, 0, [3]float64{0, 0, 0.25}}, {3, 0, [3]float64{}},
		{0.5, 0, [3]float64{}}, {1.5, 0, [3]float64{}}, {1000, 0, [3]float64{}},
		{0, math.Inf(1), [3]float64{}}, {0.5, math.Inf(1), [3]float64{}}, {1, math.Inf(-1), [3]float64{}},
	} {
		if got := derivatives(t, c.nu, c.x); got != c.want {
			t.Errorf("J_%v(%v) and its derivatives are %v, want %v", c.nu, c.x, got, c.want)
		}
	}
	// Near 0 the first terms of the series are exact.
	for _, x := range []float64{3e-31, 3e-100, 5e-320} {
		root := math.Sqrt(2/math.Pi) * math.Sqrt(x)
		for nu, want := range map[float64][3]float64{
			0: {1, -x / 2, -0.5}, 1: {x / 2, 0.5, -3 * x / 8}, 2: {x * x / 8, x / 4, 0.25}, 3: {x * x * x / 48, x * x / 16, x / 8},
			0.5: {root, root / x / 2, -root / x / x / 4}, 171: {},
		} {
			if got := derivatives(t, nu, x); !floats.EqualFunc(got[:], want[:], func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-14*math.Abs(b)+5e-324 }) {
				t.Errorf("J_%v(%v) and its derivatives are %v, want %v", nu, x, got, want)
			}
		}
	}
	for _, nu := range []float64{0, 0.5, 30} {
		if got := derivatives(t, nu, math.NaN()); !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
			t.Errorf("J_%v(NaN) is %v", nu, got)
		}
		for _, x := range []float64{1e16, 1e300, math.MaxFloat64} {
			if got := derivatives(t, nu, x); !(math.Abs(got[0]) <= math.Sqrt(2/math.Pi/x)*1.01) {
				t.Errorf("J_%v(%v) is %v", nu, x, got)
			}
		}
	}
}

func TestBesselOrder(t *testing.T) {
	for _, nu := range []float64{-1, -0.5, 1001, math.NaN(), math.Inf(1)} {
		k := revmath.Bessel[float64]{Y: kerneltest.One[float64](3), X: kerneltest.One[float64](1), Nu: nu}
		var domain *rev.DomainError
		if err := k.Forward(); !errors.As(err, &domain) {
			t.Errorf("order %v: %v", nu, err)
		}
		if kerneltest.Number(k.Y) != 3 {
			t.Errorf("order %v: Y is %v", nu, kerneltest.Number(k.Y))
		}
	}
	k := revmath.Bessel[float64]{Y: kerneltest.One[float64](0), X: kerneltest.One[float64](0), Nu: 0.5}
	if err := k.Forward(); err != nil || kerneltest.Number(k.Y) != 0 {
		t.Errorf("J_½(0) = %v, %v", kerneltest.Number(k.Y), err)
	}
}

func TestComplexLog(t *testing.T) {
	for _, c := range kerneltest.Values(t, valuesJSON, "complexlog") {
		y := []complex128{0}
		k := revlinalg.Log[complex128]{Y: rev.ViewSlice(y), X: rev.ViewSlice([]complex128{complex(c[0], c[1])})}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		kerneltest.Within(t, "the real part", real(y[0]), c[2], 2*0x1p-52*(1+math.Abs(c[2])))
		kerneltest.Within(t, "the argument", imag(y[0]), c[3], 2*0x1p-52*(1+math.Abs(c[3])))
	}
}

func TestBoxMullerInPlace(t *testing.T) {
	type q = fixed.Q43
	type state struct{ U1, U2, Z1, Z2 rev.Vector[q] }
	prog := rev.Seq(
		rev.At(func(s *state) revmath.BoxMuller[q] {
			return revmath.BoxMuller[q]{Z1: s.Z1, Z2: s.Z2, U1: s.U1, U2: s.U2}
		}),
		rev.Uncall(rev.At(func(s *state) revmath.BoxMullerInverse[q] {
			return revmath.BoxMullerInverse[q]{U1: s.U1, U2: s.U2, Z1: s.Z1, Z2: s.Z2}
		})),
	)
	const n = 2000
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &state{kerneltest.Uniform[q](rnd, n, 0.001, 1), kerneltest.Uniform[q](rnd, n, 0, 1), kerneltest.Uniform[q](rnd, n, 0, 0), kerneltest.Uniform[q](rnd, n, 0, 0)}
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
	kerneltest.Within(t, "the mean of z", mean, 0, 0.1)
	kerneltest.Within(t, "the mean square of z", square, 1, 0.15)
	kerneltest.Within(t, "what is left of u", rest, 0, 1e-11)
	if err := prog.Inverse(s); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if s.U1.Data[i] != u1[i] || s.U2.Data[i] != u2[i] || s.Z1.Data[i] != 0 || s.Z2.Data[i] != 0 {
			t.Fatalf("pair %d came back as %v, %v; %v, %v left", i, s.U1.Data[i], s.U2.Data[i], s.Z1.Data[i], s.Z2.Data[i])
		}
	}
}

// An error names the element, in units of the argument over every number type.
func TestDomain(t *testing.T) {
	numbers := func(x ...float64) rev.Vector[fixed.Q43] {
		v := make([]fixed.Q43, len(x))
		for i, x := range x {
			v[i] = fixed.Of[fixed.Q43](x)
		}
		return rev.ViewSlice(v)
	}
	for name, c := range map[string]struct {
		err   error
		index int
		args  []float64
	}{
		"Bessel":    {revmath.Bessel[fixed.Q43]{Y: numbers(0, 0, 0), X: numbers(1, 2, -0.5), Nu: 0.25}.Forward(), 2, []float64{0.25, -0.5}},
		"BoxMuller": {revmath.BoxMuller[fixed.Q43]{Z1: numbers(0, 0, 0), Z2: numbers(0, 0, 0), U1: numbers(1.5, 1, 1), U2: numbers(0.25, 0, 0)}.Forward(), 0, []float64{1.5, 0.25}},
	} {
		var d *rev.DomainError
		if !errors.As(c.err, &d) || d.Func != name || d.Index != c.index || !slices.Equal(d.Args, c.args) {
			t.Errorf("%v, want %s%v at element %d", c.err, name, c.args, c.index)
		}
	}
	b := kerneltest.One[float64](0)
	if err := (revmath.BoxMuller[float64]{Z1: b, Z2: kerneltest.One[float64](0), U1: kerneltest.One[float64](math.NaN()), U2: kerneltest.One[float64](0)}).Forward(); err != nil || !math.IsNaN(kerneltest.Number(b)) {
		t.Errorf("Box-Muller of NaN: %v, %v", kerneltest.Number(b), err)
	}
}

func TestBoxMullerOfSubnormalNumbers(t *testing.T) {
	z, u := kerneltest.One[float64](0), kerneltest.One[float64](0x1p-1070)
	if err := (revmath.BoxMuller[float64]{Z1: z, Z2: kerneltest.One[float64](0), U1: u, U2: kerneltest.One[float64](0)}).Forward(); err != nil {
		t.Fatal(err)
	}
	kerneltest.Within(t, "z", kerneltest.Number(z), math.Sqrt(2*1070*math.Ln2), 1e-13)
}
