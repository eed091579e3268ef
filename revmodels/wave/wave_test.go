package wave_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/internal/simd/simdtest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revmodels/wave"
	"revnum/revmodels/wave/internal/stencil"
)

func random[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	m := rev.NewGeneral[T](r, c, nil)
	for i := range m.Data {
		m.Data[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return m
}

func speeds[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	m := rev.NewGeneral[T](r, c, nil)
	for i := range m.Data {
		m.Data[i] = fixed.Of[T](0.12 + 0.08*rnd.Float64())
	}
	return m
}

func steps[T rev.Real](rnd *rand.Rand, size, n int, damping wave.Damping) wave.Steps[T] {
	r, c := size, size+1
	if size == 0 {
		c = 0
	}
	k := wave.Steps[T]{
		U: random[T](rnd, r, c), Prev: random[T](rnd, r, c), M: speeds[T](rnd, r, c), N: n,
		Source: random[T](rnd, n, 2), Trace: random[T](rnd, n, 3),
	}
	if size > 0 {
		k.SourceAt = []int{rnd.IntN(r * c), rnd.IntN(r * c)}
		k.ReceiverAt = []int{k.SourceAt[0], rnd.IntN(r * c), rnd.IntN(r * c)}
	} else {
		k.Source, k.Trace = rev.General[T]{}, rev.General[T]{}
	}
	if 2*damping.Width <= r {
		k.Damping = damping
	}
	return k
}

func spec[T rev.Real](n int, damping wave.Damping) revtest.Spec[wave.Steps[T]] {
	s := revtest.Spec[wave.Steps[T]]{
		Float64:   revtest.PassesOf[wave.Steps[float64]](),
		New:       func(rnd *rand.Rand, size int) wave.Steps[T] { return steps[T](rnd, size, n, damping) },
		RoundTrip: 1000, Adjoint: 20000, Large: 150,
		Failing: func(rnd *rand.Rand, size int) wave.Steps[T] {
			k := steps[T](rnd, max(size, 1), n, damping)
			k.M.Data[0] = fixed.Of[T](0.5)
			return k
		},
	}
	if _, ok := any(T(0)).(float32); ok {
		s.Step = 0x1p-7 // M must stay stable
	}
	return s
}

func TestSteps(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, spec[float64](4, wave.Damping{})) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, spec[float32](3, wave.Damping{})) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, spec[fixed.Q43](3, wave.Damping{})) })
	t.Run("damped float64", func(t *testing.T) { revtest.Kernel(t, spec[float64](3, wave.Damping{2, 0.25})) })
	t.Run("damped float32", func(t *testing.T) { revtest.Kernel(t, spec[float32](4, wave.Damping{1, 0.25})) })
}

// M must be from 0 to the bound, which has some room for rounding, in all cells.
func testStable[T rev.Real](t *testing.T, negative, above T, others ...T) {
	zero := T(0)
	most := fixed.Of[T](wave.MaxCourant * wave.MaxCourant * (1 + 1e-6))
	k := wave.Steps[T]{U: rev.NewGeneral[T](3, 37, nil), Prev: rev.NewGeneral[T](3, 37, nil), M: rev.NewGeneral[T](3, 37, nil), N: 1}
	for j := range k.M.Cols {
		for _, m := range []T{zero, -zero, -negative, most} {
			if k.M.Row(1)[j] = m; k.Forward() != nil {
				t.Errorf("column %d: M of %v is refused", j, m)
			}
			if row := k.M.Row(1); T(1)/2 != 0 && !stencil.Within(row, most) {
				t.Errorf("column %d: M of %v takes the slow check", j, m)
			}
		}
		for _, m := range append(others, negative, above) {
			k.M.Row(1)[j] = m
			if err, want := k.Forward(), fmt.Sprintf("in cell (1, %d) ", j); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("M of %v in cell (1, %d): %v", m, j, err)
			}
		}
		k.M.Row(1)[j] = most
	}
}

func TestStable(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	most := wave.MaxCourant * wave.MaxCourant * (1 + 1e-6)
	testStable(t, -math.SmallestNonzeroFloat64, math.Nextafter(most, 1), nan, inf, -inf, -0.1)
	testStable(t, -math.SmallestNonzeroFloat32, math.Nextafter32(float32(most), 1), float32(nan), float32(inf), float32(-inf), -0.1)
	testStable[fixed.Q43](t, -1, fixed.Of[fixed.Q43](most)+1, fixed.Max, fixed.Min)
}

// TestStandingWave compares with the solution of the difference equations. A product of
// sines is an eigenvector of -L, with an eigenvalue λ. It turns by an angle θ in each
// step, where 4·sin²(θ/2) = M·λ.
func TestStandingWave(t *testing.T) {
	const rows, cols, m, n = 20, 31, 0.3, 500
	u := func(i, j int) float64 {
		return math.Sin(3*math.Pi*float64(i+1)/(rows+1)) * math.Sin(5*math.Pi*float64(j+1)/(cols+1))
	}
	lambda := func(phi float64) float64 { return 5./2 - 8./3*math.Cos(phi) + 1./6*math.Cos(2*phi) }
	theta := 2 * math.Asin(math.Sqrt(m*(lambda(3*math.Pi/(rows+1))+lambda(5*math.Pi/(cols+1)))/4))
	k := wave.Steps[float64]{U: rev.NewGeneral[float64](rows, cols, nil), Prev: rev.NewGeneral[float64](rows, cols, nil), M: rev.NewGeneral[float64](rows, cols, nil), N: n}
	for i := range rows {
		for j := range cols {
			k.U.Row(i)[j], k.Prev.Row(i)[j], k.M.Row(i)[j] = u(i, j), math.Cos(theta)*u(i, j), m
		}
	}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for j := range cols {
			if want := math.Cos(n*theta) * u(i, j); !(math.Abs(k.U.Row(i)[j]-want) < 1e-11) {
				t.Fatalf("cell (%d, %d) is %v, want %v", i, j, k.U.Row(i)[j], want)
			}
		}
	}
}

// TestOrder measures the orders of convergence to a standing wave of the differential
// equation on the unit square, with speed 1.
func TestOrder(t *testing.T) {
	// miss returns the largest error at time 0.75, with h = 1/n and dt = courant·h.
	miss := func(n int, courant float64) float64 {
		r := n - 1
		k := wave.Steps[float64]{U: rev.NewGeneral[float64](r, r, nil), Prev: rev.NewGeneral[float64](r, r, nil), M: rev.NewGeneral[float64](r, r, nil)}
		dt := courant / float64(n)
		k.N = int(math.Round(0.75 / dt))
		u := func(i, j int, time float64) float64 {
			return math.Sin(math.Pi*float64(i+1)/float64(n)) * math.Sin(2*math.Pi*float64(j+1)/float64(n)) * math.Cos(math.Sqrt(5)*math.Pi*time)
		}
		for i := range r {
			for j := range r {
				k.U.Row(i)[j], k.Prev.Row(i)[j], k.M.Row(i)[j] = u(i, j, 0), u(i, j, -dt), courant*courant
			}
		}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		var worst float64
		for i := range r {
			for j := range r {
				worst = max(worst, math.Abs(k.U.Row(i)[j]-u(i, j, float64(k.N)*dt)))
			}
		}
		return worst
	}
	// With dt proportional to h the error of time, of order 2, is the larger one.
	if order := math.Log2(miss(20, 0.5) / miss(40, 0.5)); math.Abs(order-2) > 0.2 {
		t.Errorf("with dt proportional to h the order is %.2f, want 2", order)
	}
	// With dt proportional to h² both are of order 4 in h.
	if order := math.Log2(miss(10, 0.5) / miss(20, 0.25)); math.Abs(order-4) > 0.3 {
		t.Errorf("with dt proportional to h² the order is %.2f, want 4", order)
	}
}

func damped(n int) wave.Steps[fixed.Q43] {
	k := steps[fixed.Q43](rand.New(rand.NewPCG(7, 1)), 24, n, wave.Damping{6, 0.15})
	k.Absorbed = new(wave.Absorbed)
	return k
}

// TestReturn takes damped fields far ahead and back to the bit.
func TestReturn(t *testing.T) {
	k := damped(long.Or(3001, 601))
	u, prev, trace, source := slices.Clone(k.U.Data), slices.Clone(k.Prev.Data), slices.Clone(k.Trace.Data), slices.Clone(k.Source.Data)
	same := func(pass string) {
		t.Helper()
		if !slices.Equal(k.U.Data, u) || !slices.Equal(k.Prev.Data, prev) || !slices.Equal(k.Trace.Data, trace) || !slices.Equal(k.Source.Data, source) {
			t.Errorf("%s did not restore all bits", pass)
		}
		if k.Absorbed.Bits() != 0 || k.Absorbed.Steps() != 0 {
			t.Errorf("%s left %d bits of %d steps", pass, k.Absorbed.Bits(), k.Absorbed.Steps())
		}
	}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(k.U.Data, u) || k.Absorbed.Bits() == 0 {
		t.Error("nothing moved")
	}
	if err := k.Inverse(); err != nil {
		t.Fatal(err)
	}
	same("Inverse")
	g, d, gd := *rev.ZeroLike(&k), *rev.ZeroLike(&k), *rev.ZeroLike(&k)
	g.Trace.Data[1], d.M.Data[5] = fixed.One, fixed.One/1024
	if err := k.Tangent(d); err != nil {
		t.Fatal(err)
	}
	if err := k.AdjointTangent(g, d, gd); err != nil {
		t.Fatal(err)
	}
	same("AdjointTangent")
	if i := slices.IndexFunc(d.U.Data, func(v fixed.Q43) bool { return v != 0 }); i >= 0 {
		t.Errorf("AdjointTangent left the tangent %v", d.U.Data[i])
	}
}

// The inverse of a field does not need the inverse of its tangent: Inverse and Adjoint
// invert what Tangent did to the field, and the tangent can be inverted later.
func TestReturnAfterTangent(t *testing.T) {
	k := damped(40)
	u := slices.Clone(k.U.Data)
	g, d, gd := *rev.ZeroLike(&k), *rev.ZeroLike(&k), *rev.ZeroLike(&k)
	d.M.Data[5] = fixed.One / 1024
	for name, back := range map[string]func() error{
		"Inverse": k.Inverse,
		"Adjoint": func() error { return k.Adjoint(g) },
	} {
		if err := k.Tangent(d); err != nil {
			t.Fatal(err)
		}
		if err := back(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(k.U.Data, u) || k.Absorbed.Steps() != 0 {
			t.Errorf("%s after Tangent did not restore the field", name)
		}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		if err := k.AdjointTangent(g, d, gd); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(k.U.Data, u) || slices.ContainsFunc(d.U.Data, func(v fixed.Q43) bool { return v != 0 }) || k.Absorbed.Bits() != 0 {
			t.Errorf("AdjointTangent after %s and Forward did not restore the field and its tangent", name)
		}
	}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	if err := k.AdjointTangent(g, d, gd); err == nil || !strings.Contains(err.Error(), "0 steps of the tangent") {
		t.Errorf("a tangent that did not go ahead comes back: %v", err)
	}
}

// TestDampedDerivatives compares the damped derivatives over fixed.Q43, which revtest
// cannot test, with those over float64, which it tests.
func TestDampedDerivatives(t *testing.T) {
	const n = 40
	a := damped(n)
	b := wave.Steps[float64]{N: n, Damping: a.Damping, SourceAt: a.SourceAt, ReceiverAt: a.ReceiverAt}
	b.U, b.Prev, b.M, b.Source, b.Trace = floats(a.U), floats(a.Prev), floats(a.M), floats(a.Source), floats(a.Trace)
	ga, gb := *rev.ZeroLike(&a), *rev.ZeroLike(&b)
	ta, tb := *rev.ZeroLike(&a), *rev.ZeroLike(&b)
	ha, hb := *rev.ZeroLike(&a), *rev.ZeroLike(&b)
	rnd := rand.New(rand.NewPCG(8, 1))
	for i := range ga.Trace.Data {
		ga.Trace.Data[i] = fixed.FromFloat64(0.1 * rnd.NormFloat64())
		gb.Trace.Data[i] = ga.Trace.Data[i].Float64()
	}
	for i := range ta.M.Data {
		ta.M.Data[i] = fixed.FromFloat64(0.01 * rnd.NormFloat64())
		tb.M.Data[i] = ta.M.Data[i].Float64()
	}
	near := func(pass string, a, b wave.Steps[float64]) {
		t.Helper()
		for name, pair := range map[string][2]rev.General[float64]{
			"U": {a.U, b.U}, "Prev": {a.Prev, b.Prev}, "M": {a.M, b.M}, "Source": {a.Source, b.Source}, "Trace": {a.Trace, b.Trace},
		} {
			var size float64
			for _, v := range pair[1].Data {
				size = max(size, math.Abs(v))
			}
			for i, v := range pair[1].Data {
				if d := math.Abs(pair[0].Data[i] - v); !(d <= 1e-7*max(1, size)) {
					t.Fatalf("%s: %s[%d] is %v, want %v", pass, name, i, pair[0].Data[i], v)
				}
			}
		}
	}
	all := func(k wave.Steps[fixed.Q43]) wave.Steps[float64] {
		return wave.Steps[float64]{U: floats(k.U), Prev: floats(k.Prev), M: floats(k.M), Source: floats(k.Source), Trace: floats(k.Trace)}
	}
	for _, err := range []error{a.Tangent(ta), b.Tangent(tb)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	near("Tangent", all(a), b)
	near("Tangent's tangents", all(ta), tb)
	for _, err := range []error{a.AdjointTangent(ga, ta, ha), b.AdjointTangent(gb, tb, hb)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	near("AdjointTangent's cotangents", all(ga), gb)
	near("AdjointTangent's second order", all(ha), hb)
}

func floats(x rev.General[fixed.Q43]) rev.General[float64] {
	y := rev.NewGeneral[float64](x.Rows, x.Cols, nil)
	for i, v := range x.Data {
		y.Data[i] = v.Float64()
	}
	return y
}

// TestAbsorbs compares what comes back from the edges with a grid whose edges are too far
// away to matter.
func TestAbsorbs(t *testing.T) {
	record := func(n int, d wave.Damping) *mat.Dense {
		s := wave.Survey{Rows: n, Cols: n, Spacing: 1, Dt: 0.5, Steps: 300, Damping: d, Shots: []wave.Shot{{
			At: wave.Cell{n / 2, n / 2}, Wavelet: wave.Ricker(0.08, 0.5, 100), Receivers: []wave.Cell{{n / 2, n/2 + 10}},
		}}}
		r, err := s.Record(mat.NewDense(n, n, slices.Repeat([]float64{1}, n*n)))
		if err != nil {
			t.Fatal(err)
		}
		return r[0]
	}
	far := record(181, wave.Damping{})
	echo := func(d wave.Damping) float64 {
		r := record(101, d)
		r.Sub(r, far)
		return mat.Norm(r, 2) / mat.Norm(far, 2)
	}
	if free, damped := echo(wave.Damping{}), echo(wave.Damping{30, 0.2}); !(free > 0.8 && damped < 0.03) {
		t.Errorf("an echo of %.3g comes back with damping, and of %.3g without", damped, free)
	}
}

func survey() (wave.Survey, *mat.Dense) {
	s := wave.Survey{Rows: 24, Cols: 30, Spacing: 10, Dt: 0.002, Steps: 150, Damping: wave.Damping{5, 0.1}}
	for _, col := range []int{8, 20} {
		shot := wave.Shot{At: wave.Cell{6, col}, Wavelet: wave.Ricker(25, s.Dt, 60)}
		for c := 6; c < 24; c += 2 {
			shot.Receivers = append(shot.Receivers, wave.Cell{18, c})
		}
		s.Shots = append(s.Shots, shot)
	}
	speed := mat.NewDense(s.Rows, s.Cols, nil)
	for i := range s.Rows {
		for j := range s.Cols {
			speed.Set(i, j, 2000+300*math.Exp(-(math.Pow(float64(i)-12, 2)+math.Pow(float64(j)-15, 2))/10))
		}
	}
	return s, speed
}

// TestInversion compares the gradient with differences.
func TestInversion(t *testing.T) {
	s, speed := survey()
	recordings, err := s.Record(speed)
	if err != nil {
		t.Fatal(err)
	}
	v, err := wave.NewInversion(s, recordings, 1500, 2600)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := v.Variables(speed)
	if err != nil {
		t.Fatal(err)
	}
	if f := v.Func(truth); !(f >= 0 && f < 1e-15) {
		t.Errorf("the misfit of the true speeds is %v", f)
	}
	if !mat.EqualApprox(v.Speeds(truth), speed, 1e-9) {
		t.Error("Speeds does not undo Variables")
	}
	x := make([]float64, len(truth))
	grad, direction := make([]float64, len(x)), make([]float64, len(x))
	rnd := rand.New(rand.NewPCG(5, 5))
	for i := range direction {
		direction[i] = rnd.NormFloat64()
	}
	v.Grad(grad, x)
	along := func(e float64) float64 {
		y := slices.Clone(x)
		for i := range y {
			y[i] += e * direction[i]
		}
		return v.Func(y)
	}
	const h = 1e-3
	want := (8*(along(h)-along(-h)) - along(2*h) + along(-2*h)) / (12 * h)
	var got float64
	for i, d := range direction {
		got += d * grad[i]
	}
	if !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
		t.Errorf("the derivative along a direction is %v by Grad, %v by differences", got, want)
	}
	v.Func(slices.Repeat([]float64{math.NaN()}, len(x)))
	v.Grad(grad, slices.Repeat([]float64{math.NaN()}, len(x)))
	if !math.IsNaN(grad[0]) {
		t.Error("the gradient at NaN is a number")
	}
	if err := v.Err(); err == nil || !strings.Contains(err.Error(), "variable 0 is NaN") {
		t.Errorf("the error at NaN is %v", err)
	}
	if v.Func(x); v.Err() != nil {
		t.Errorf("the error at a point is %v", v.Err())
	}
}

func TestErrors(t *testing.T) {
	s, speed := survey()
	recordings, err := s.Record(speed)
	if err != nil {
		t.Fatal(err)
	}
	check := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	with := func(change func(s *wave.Survey)) error {
		s, speed := survey()
		change(&s)
		_, err := s.Record(mat.NewDense(s.Rows, s.Cols, slices.Repeat([]float64{speed.At(0, 0)}, s.Rows*s.Cols)))
		return err
	}
	check("c·dt/h is 0.8 for a speed of", with(func(s *wave.Survey) { s.Dt = 0.004 }))
	check("too small", with(func(s *wave.Survey) { s.Rows = 4 }))
	check("shot 1 has no receivers", with(func(s *wave.Survey) { s.Shots[1].Receivers = nil }))
	for _, c := range []wave.Cell{{-1, 0}, {24, 0}, {0, -1}, {0, 30}} {
		check("outside the 24×30 grid", with(func(s *wave.Survey) { s.Shots[0].At = c }))
	}
	for _, v := range []float64{0, math.Inf(1)} {
		check("must be positive", with(func(s *wave.Survey) { s.Spacing = v }))
		check("must be positive", with(func(s *wave.Survey) { s.Dt = v }))
	}
	check("too small", with(func(s *wave.Survey) { s.Cols = 4 }))
	if err := with(func(s *wave.Survey) {
		s.Rows, s.Cols, s.Width = 5, 5, 2
		s.Shots = []wave.Shot{{At: wave.Cell{2, 2}, Receivers: []wave.Cell{{4, 4}}}}
	}); err != nil {
		t.Errorf("5×5 cells: %v", err)
	}
	check("at least one step", with(func(s *wave.Survey) { s.Steps = 0 }))
	if err := with(func(s *wave.Survey) { s.Steps = 1 }); err != nil {
		t.Errorf("one step: %v", err)
	}
	check("at least one shot", with(func(s *wave.Survey) { s.Shots = nil }))
	check("half of the 24×30 grid", with(func(s *wave.Survey) { s.Width = 13 }))
	check("less than 1", with(func(s *wave.Survey) { s.Loss = 1 }))
	check("wavelet of shot 0", with(func(s *wave.Survey) { s.Shots[0].Wavelet[3] = math.NaN() }))
	speed.Set(3, 4, -1)
	_, err = s.Record(speed)
	check("cell (3, 4) is -1", err)

	_, err = wave.NewInversion(s, recordings, 2000, 1000)
	check("between 2000 and 1000", err)
	_, err = wave.NewInversion(s, recordings, 1000, 9000)
	check("not stable", err)
	_, err = wave.NewInversion(s, recordings[:1], 1000, 2500)
	check("1 recordings for 2 shots", err)
	_, err = wave.NewInversion(s, []*mat.Dense{recordings[0], mat.NewDense(2, 3, nil)}, 1000, 2500)
	check("is 2×3", err)
	silent := mat.NewDense(s.Steps, 9, nil)
	_, err = wave.NewInversion(s, []*mat.Dense{silent, silent}, 1000, 2500)
	check("norm of the recordings is 0", err)
	silent.Set(0, 0, 1e-7)
	_, err = wave.NewInversion(s, []*mat.Dense{silent, silent}, 1000, 2500)
	check("too weak", err)
	v, err := wave.NewInversion(s, recordings, 1000, 2500)
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Variables(mat.NewDense(24, 30, nil))
	check("is not between", err)
	if !simdtest.Panics(func() { v.Speeds(make([]float64, 24*30-1)) }) {
		t.Error("Speeds of a wrong number of variables does not panic")
	}

	rnd := rand.New(rand.NewPCG(1, 9))
	at := steps[float64](rnd, 12, 2, wave.Damping{3, 0})
	if err := at.Forward(); err != nil {
		t.Errorf("damping by 0: %v", err)
	}
	k := steps[fixed.Q43](rnd, 12, 2, wave.Damping{3, 0.1})
	check("needs Absorbed", k.Forward())
	k.Absorbed = new(wave.Absorbed)
	check("holds 0 steps, but 2", k.Inverse())
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	other := steps[fixed.Q43](rnd, 13, 2, wave.Damping{3, 0.1})
	other.Absorbed = k.Absorbed
	check("not of a 13×14 grid", other.Forward())
	empty := wave.Steps[fixed.Q43]{U: rev.NewGeneral[fixed.Q43](0, 5, nil), Prev: rev.NewGeneral[fixed.Q43](0, 5, nil), M: rev.NewGeneral[fixed.Q43](0, 5, nil), N: 1, Damping: wave.Damping{3, 0.1}, Absorbed: new(wave.Absorbed)}
	if err := empty.Forward(); err != nil {
		t.Errorf("a grid without cells: %v", err)
	}
	f := steps[float32](rnd, 12, 200, wave.Damping{3, 0.1})
	check("use fixed.Q43", f.Inverse())
	if err := f.Forward(); err != nil {
		t.Error(err)
	}
	half := steps[float64](rnd, 12, 26, wave.Damping{3, 0.5}) // each step back doubles errors
	if err := half.Inverse(); err != nil {
		t.Error(err)
	}
	half = steps[float64](rnd, 12, 27, wave.Damping{3, 0.5})
	check("2^27, and 2^26 is allowed", half.Inverse())
	f.M.Data[4] = float32(math.NaN())
	check("c·dt/h in cell (0, 4) is NaN", f.Forward())
	d := *rev.ZeroLike(&f)
	d.U = rev.General[float32]{}
	f.M.Data[4], f.Damping = 0.1, wave.Damping{}
	if !simdtest.Panics(func() { _ = f.AdjointTangent(*rev.ZeroLike(&f), d, *rev.ZeroLike(&f)) }) {
		t.Error("AdjointTangent with the tangent of Prev alone does not panic")
	}

	for i, bad := range []func(k *wave.Steps[float32]){
		func(k *wave.Steps[float32]) { k.N = -1 }, func(k *wave.Steps[float32]) { k.N = 3 },
		func(k *wave.Steps[float32]) { k.SourceAt[0] = -1 }, func(k *wave.Steps[float32]) { k.ReceiverAt[2] = 12 * 13 },
	} {
		k := steps[float32](rnd, 12, 2, wave.Damping{})
		bad(&k)
		func() {
			defer func() {
				if v, _ := recover().(error); !errors.Is(v, mat.ErrShape) {
					t.Errorf("case %d panics with %v", i, v)
				}
			}()
			_ = k.Forward()
		}()
	}
}
