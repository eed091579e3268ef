package fixedpoint

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/internal/simd/simdtest"
)

var functions = []struct {
	name string
	f    Function
	of   func(fixed.Q43) fixed.Q43
	from func(fixed.Q43) fixed.Q43 // of the domain, near any number
}{
	{"Sqrt", Sqrt, fixed.Sqrt, func(x fixed.Q43) fixed.Q43 { return x &^ fixed.Min }},
	{"Exp", Exp, func(x fixed.Q43) fixed.Q43 {
		y, err := fixed.ExpChecked(x)
		if err != nil {
			return fixed.Max
		}
		return y
	}, func(x fixed.Q43) fixed.Q43 { return x }},
	{"Log", Log, fixed.Log, func(x fixed.Q43) fixed.Q43 { return max(x&^fixed.Min, 1) }},
	{"Sin", Sin, fixed.Sin, func(x fixed.Q43) fixed.Q43 { return x }},
	{"Cos", Cos, fixed.Cos, func(x fixed.Q43) fixed.Q43 { return x }},
	{"Tan", Tan, Tan.Value, func(x fixed.Q43) fixed.Q43 { return x }},
}

// operands are ways to draw operands of functions: numbers of all lengths, and those near which
// the code of a function changes its way.
var operands = append(slices.Clone(numbers), struct {
	name string
	draw func(rnd *rand.Rand) fixed.Q43
}{"all lengths", func(rnd *rand.Rand) fixed.Q43 { return fixed.Q43(rnd.Uint64()) >> rnd.IntN(64) }}, struct {
	name string
	draw func(rnd *rand.Rand) fixed.Q43
}{"near boundaries", func(rnd *rand.Rand) fixed.Q43 {
	at := []fixed.Q43{
		fixed.Pi / 4, fixed.Pi / 2, fixed.Pi, 3 * fixed.Pi / 4, 1000 * fixed.Pi, -31 * fixed.One, -30 * fixed.One,
		fixed.FromFloat64(13.8), 14 * fixed.One, fixed.FromFloat64(13.863), fixed.Ln2, 0, fixed.One, 2 * fixed.One,
	}
	x := at[rnd.IntN(len(at))] + fixed.Q43(rnd.IntN(9)-4)
	if rnd.IntN(2) == 0 {
		return -x
	}
	return x
}}, struct {
	name string
	draw func(rnd *rand.Rand) fixed.Q43
}{"squares", func(rnd *rand.Rand) fixed.Q43 { // whose roots are near halves
	s := fixed.Q43(rnd.Uint64() >> 11 >> rnd.IntN(50))
	return s.Mul(s) + fixed.Q43(rnd.IntN(3)-1)
}})

func testFunctions(t *testing.T, rnd *rand.Rand, n int, from, other func(*rand.Rand) fixed.Q43) {
	t.Helper()
	x, y := draw(rnd, n, from), draw(rnd, n, other)
	for _, f := range functions {
		x, got := slices.Clone(x), slices.Clone(y)
		sign := 2*rnd.IntN(2) - 1
		for i := range x {
			x[i] = f.from(x[i])
		}
		f.f.Add(sign, x, got)
		for i, v := range y {
			if want := v + fixed.Q43(sign)*f.of(x[i]); got[i] != want {
				t.Fatalf("n=%d: %s of %d: %d, want %d", n, f.name, int64(x[i]), int64(got[i]-v), int64(want-v))
			}
		}
		z := slices.Clone(y)
		f.f.AddProducts(sign, x, y, z)
		for i, v := range y {
			if want := v + fixed.Q43(sign)*f.of(x[i]).Mul(v); z[i] != want {
				t.Fatalf("n=%d: %s of %d times %d: %d, want %d", n, f.name, int64(x[i]), int64(v), int64(z[i]-v), int64(want-v))
			}
		}
	}
	sign, got := 2*rnd.IntN(2)-1, draw(rnd, n, other)
	testSigned(t, sign, x, y, got)
	testFloats(t, rnd, sign, x, got)
	testAtan2(t, sign, x, y, got)
	testPow(t, rnd, sign, x, y, got)
	for i := range y {
		if y[i] == 0 {
			y[i] = 1
		}
		if rnd.IntN(4) == 0 { // a tie, or near one
			y[i] = y[i] >> 1 << 1
			q := fixed.Q43(rnd.Int64()) >> rnd.IntN(60)
			if y[i] == 0 {
				y[i] = 2
			}
			x[i] = q.Mul(y[i])
		}
	}
	for _, q := range []struct {
		name string
		add  func(z []fixed.Q43)
		of   func(x, y fixed.Q43) fixed.Q43
	}{
		{"x/y", func(z []fixed.Q43) { AddQuotients(sign, x, y, z) }, fixed.Q43.Div},
		{"x/y/y", func(z []fixed.Q43) { AddQuotientsTwice(sign, x, y, z) }, func(x, y fixed.Q43) fixed.Q43 { return x.Div(y).Div(y) }},
		{"1/y", func(z []fixed.Q43) { AddReciprocals(sign, y, z) }, func(_, y fixed.Q43) fixed.Q43 { return fixed.One.Div(y) }},
	} {
		z := slices.Clone(got)
		q.add(z)
		for i, v := range got {
			if want := v + fixed.Q43(sign)*q.of(x[i], y[i]); z[i] != want {
				t.Fatalf("n=%d: %s of %d and %d differs by %d", n, q.name, int64(x[i]), int64(y[i]), int64(z[i]-want))
			}
		}
	}
}

func testSigned(t *testing.T, sign int, x, v, y []fixed.Q43) {
	t.Helper()
	for _, both := range []bool{false, true} {
		got := slices.Clone(y)
		AddSigned(sign, both, x, v, got)
		for i, want := range y {
			if x[i] > 0 {
				want += fixed.Q43(sign) * v[i]
			} else if x[i] < 0 && both {
				want -= fixed.Q43(sign) * v[i]
			}
			if got[i] != want {
				t.Fatalf("both %v: %d and %d to %d: %d, want %d", both, int64(x[i]), int64(v[i]), int64(y[i]), int64(got[i]), int64(want))
			}
		}
	}
}

// testAtan2 checks angles and their derivatives, those times x where these are in range.
func testAtan2(t *testing.T, sign int, y, x, z []fixed.Q43) {
	t.Helper()
	y, x = slices.Clone(y), slices.Clone(x)
	for i, v := range z {
		if v&3 == 0 { // near where the next entry of the table is nearer
			y[i] = x[i]>>7*(v>>2&127|1) + v>>9&7 - 3
		}
	}
	got := slices.Clone(z)
	AddAtan2(sign, y, x, got)
	for i, v := range z {
		if want := v + fixed.Q43(sign)*fixed.Atan2(y[i], x[i]); got[i] != want {
			t.Fatalf("atan2(%d, %d): %d, want %d", int64(y[i]), int64(x[i]), int64(got[i]-v), int64(want-v))
		}
	}
	for i := range y {
		if _, err := fixed.HypotChecked(x[i], y[i]); err != nil || y[i] == 0 && x[i] == 0 {
			y[i], x[i] = y[i]>>1|1, x[i]>>1
		}
	}
	toY, toX := slices.Clone(z), slices.Clone(y)
	AddAtan2Slopes(y, x, z, toY, toX)
	for i, v := range z {
		wantY, wantX := fixed.Atan2Adjoint(y[i], x[i], v)
		if toY[i] != v+wantY || toX[i] != y[i]+wantX {
			t.Fatalf("derivatives of atan2(%d, %d) times %d: %d and %d, want %d and %d",
				int64(y[i]), int64(x[i]), int64(v), int64(toY[i]-v), int64(toX[i]-y[i]), int64(wantY), int64(wantX))
		}
	}
}

// testPow checks powers and their derivatives, of pairs that are in range.
func testPow(t *testing.T, rnd *rand.Rand, sign int, x, y, z []fixed.Q43) {
	t.Helper()
	inRange := func(i int) bool {
		_, err := fixed.PowChecked(x[i], y[i])
		_, less := fixed.PowChecked(x[i], y[i].SubSat(fixed.One))
		return err == nil && less == nil
	}
	x, y = slices.Clone(x), slices.Clone(y)
	for i := range x {
		if rnd.IntN(2) == 0 { // near the ends of the range of powers
			ends := [...]float64{20, 21, -43, -44, -45, -64, 0, 1}
			if l := math.Log2(math.Abs(x[i].Float64())); l != 0 {
				y[i] = fixed.FromFloat64(max(min(ends[rnd.IntN(len(ends))]/l, 1<<19), -1<<19)) + fixed.Q43(rnd.IntN(9)-4)
			}
		}
		if rnd.IntN(8) == 0 {
			y[i] = y[i] >> fixed.FracBits << fixed.FracBits
		}
		testFit(t, max(x[i]&^fixed.Min, 1), y[i])
		if !inRange(i) {
			x[i], y[i] = fixed.One+x[i]&(fixed.One-1), y[i]>>18
		}
	}
	got := slices.Clone(z)
	AddPow(sign, x, y, got)
	toX, toY, toZ := slices.Clone(z), slices.Clone(x), slices.Clone(y)
	AddPowSlopes(sign, x, y, toZ, z, toX, toY)
	for i, v := range z {
		want := fixed.Q43(sign) * fixed.Pow(x[i], y[i])
		if got[i] != v+want || toZ[i] != y[i]+want {
			t.Fatalf("%d to the power %d: %d and %d, want %d", int64(x[i]), int64(y[i]), int64(got[i]-v), int64(toZ[i]-y[i]), int64(want))
		}
		wantX, wantY := fixed.PowAdjoint(x[i], y[i], v)
		if toX[i] != v+wantX || toY[i] != x[i]+wantY {
			t.Fatalf("derivatives of %d to the power %d times %d: %d and %d, want %d and %d",
				int64(x[i]), int64(y[i]), int64(v), int64(toX[i]-v), int64(toY[i]-x[i]), int64(wantX), int64(wantY))
		}
	}
}

// testFit checks that powers that fit are in range, those of exponents between too.
func testFit(t *testing.T, x, y fixed.Q43) {
	t.Helper()
	for below := range 3 {
		if PowersFit([]fixed.Q43{x}, []fixed.Q43{y}, float64(below)) == 0 {
			continue
		}
		for d := range fixed.Q43(below + 1) {
			if _, err := fixed.PowChecked(x, y.SubSat(d*fixed.One)); err != nil {
				t.Fatalf("%d to the power %d less %d fits", int64(x), int64(y), d)
			}
		}
	}
}

// testFloats converts x, and adds floats of all magnitudes, some of them next to halves and out of range.
func testFloats(t *testing.T, rnd *rand.Rand, sign int, x, y []fixed.Q43) {
	t.Helper()
	f := make([]float64, len(x))
	Floats(f, x)
	for i, v := range x {
		if f[i] != v.Float64() {
			t.Fatalf("%d is %v, want %v", int64(v), f[i], v.Float64())
		}
		switch rnd.IntN(8) {
		case 0:
			f[i] = float64(v>>12)*0x1p-43 + 0x1p-44
		case 1:
			f[i] = math.Ldexp(rnd.NormFloat64(), rnd.IntN(100)-70)
		}
	}
	got := slices.Clone(y)
	AddRounded(sign, f, got)
	for i, v := range f {
		if want := y[i] + fixed.Q43(sign)*fixed.FromFloat64(v); got[i] != want {
			t.Fatalf("%v to %d: %d, want %d", v, int64(y[i]), int64(got[i]), int64(want))
		}
	}
}

// boundaries returns numbers at and next to those where the functions change their ways: powers of
// two, both ends of the range, quarters of a turn, where tables and shifts begin, and where a small
// result is half a unit.
func boundaries() (all []fixed.Q43) {
	at := []fixed.Q43{0, fixed.Max, fixed.FromFloat64(13.8), 14 * fixed.One, 31 * fixed.One}
	for k := range 63 {
		at = append(at, 1<<k,
			fixed.FromFloat64(float64(k)*math.Pi/4),
			fixed.FromFloat64(float64(k-42)*math.Ln2),
			fixed.FromFloat64(math.Log((float64(k)+0.5)/(1<<fixed.FracBits))))
	}
	for i := range 256 {
		at = append(at, fixed.Q43(256+i), fixed.Q43(256+i)<<35, fixed.Q43(256+i)<<54,
			fixed.FromFloat64(float64(i)/256*math.Ln2), fixed.FromFloat64(float64(i)/65536*math.Ln2), fixed.FromFloat64((19+float64(i)/256)*math.Ln2))
	}
	for _, v := range at {
		for d := fixed.Q43(-3); d <= 3; d++ {
			all = append(all, v+d, -v-d) // around, at the ends
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestBoundaries fills whole vectors with a number, so that one that is left to plain Go does not
// take others with it.
func TestBoundaries(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		const n = 3 * vectorLeast
		filled := func(v fixed.Q43) []fixed.Q43 { return slices.Repeat([]fixed.Q43{v}, n) }
		got := make([]fixed.Q43, n)
		for _, v := range boundaries() {
			for _, f := range functions {
				x := f.from(v)
				clear(got)
				f.f.Add(1, filled(x), got)
				if !slices.Equal(got, filled(f.of(x))) {
					t.Fatalf("%s of %d is %v, want %v", f.name, int64(x), got, f.of(x))
				}
			}
		}
		ends := []fixed.Q43{0, fixed.Min, fixed.Max}
		for k := range 63 {
			ends = append(ends, 1<<k-1, 1<<k, 1<<k+1)
		}
		for i, x := range ends {
			for j, y := range ends {
				if y == 0 || (i+j)%19 > 0 && !long.Tests() {
					continue
				}
				for _, y := range []fixed.Q43{y, -y} {
					testAtan2(t, 1, filled(x), filled(y), filled(x))
					testAtan2(t, -1, filled(y), filled(x), filled(y))
					clear(got)
					AddQuotients(1, filled(x), filled(y), got)
					if want := x.Div(y); !slices.Equal(got, filled(want)) {
						t.Fatalf("%d/%d is %v, want %v", int64(x), int64(y), got, want)
					}
				}
			}
		}
	})
}

func TestFunctions(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(9, 10))
		for _, from := range operands {
			t.Run(from.name, func(t *testing.T) {
				for n := range 35 {
					testFunctions(t, rnd, n, from.draw, operands[rnd.IntN(len(operands))].draw)
				}
			})
		}
		most := 1 << 14
		if long.Tests() {
			most = 1e7
		}
		for done := 0; done < most; done += 1000 {
			testFunctions(t, rnd, 1000, operands[rnd.IntN(len(operands))].draw, operands[rnd.IntN(len(operands))].draw)
		}
	})
}

func TestFunctionsPanic(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		x, y := make([]fixed.Q43, 9), make([]fixed.Q43, 9)
		for i := range x {
			x[i], y[i] = 1, 1
		}
		y[8] = -1
		for _, f := range []func(){
			func() { Log.Add(1, y, x) }, func() { Sqrt.Add(1, y, x) }, func() { Sin.Add(1, x, y[1:]) },
			func() { AddQuotients(1, x, make([]fixed.Q43, 9), y) }, func() { AddQuotients(1, x, y, y[1:]) },
			func() { AddAtan2(1, x, x, y[1:]) }, func() { AddAtan2Slopes(x, x, x, x, y[1:]) }, func() { z := make([]fixed.Q43, 9); AddAtan2Slopes(z, z, z, z, z) },
			func() { AddSigned(1, true, x, y, y[1:]) }, func() { Floats(make([]float64, 8), x) }, func() { AddRounded(1, make([]float64, 8), x) },
			func() { AddRounded(1, slices.Repeat([]float64{math.NaN()}, 9), x) }, func() { AddRounded(-1, slices.Repeat([]float64{math.Inf(1)}, 9), x) },
		} {
			if !simdtest.Panics(f) {
				t.Error("no panic")
			}
		}
	})
}

func BenchmarkFunctions(b *testing.B) {
	const n = 1000
	rnd := rand.New(rand.NewPCG(1, 2))
	x, y, z := make([]fixed.Q43, n), make([]fixed.Q43, n), make([]fixed.Q43, n)
	for i := range x {
		x[i], y[i] = fixed.FromFloat64(rnd.ExpFloat64()), fixed.FromFloat64(rnd.ExpFloat64())
	}
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(simdtest.LeastTime(b.Loop, f)/n, "ns/number")
		})
	}
	for _, f := range functions {
		run(f.name, func() { f.f.Add(1, x, z) })
	}
	run("Quotients", func() { AddQuotients(1, x, y, z) })
	run("Pow", func() { AddPow(1, x, y, z) })
	run("PowSlopes", func() { AddPowSlopes(1, x, y, z, x, z, z) })
	run("Atan2", func() { AddAtan2(1, x, y, z) })
	run("Atan2Slopes", func() { AddAtan2Slopes(x, y, x, z, z) })
}
