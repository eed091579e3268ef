package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// A dd is a number of 106 bits, the sum of two.
type dd struct{ hi, lo float64 }

func sum2(a, b float64) dd {
	s := a + b
	t := s - a
	return dd{s, (a - (s - t)) + (b - t)}
}

func product2(a, b float64) dd {
	p := float64(a * b)
	return dd{p, math.FMA(a, b, -p)}
}

func (a dd) plus(b dd) dd {
	s := sum2(a.hi, b.hi)
	return sum2(s.hi, s.lo+(a.lo+b.lo))
}

func (a dd) times(b dd) dd {
	p := product2(a.hi, b.hi)
	return sum2(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a dd) over(b dd) dd {
	q := a.hi / b.hi
	r := a.plus(b.times(dd{-q, 0}))
	return sum2(q, r.hi/b.hi)
}

func (a dd) negative() dd { return dd{-a.hi, -a.lo} }

func ddOf(x *big.Float) dd {
	hi, _ := x.Float64()
	lo, _ := newBig(0).Sub(x, newBig(hi)).Float64()
	return dd{hi, lo}
}

// grid has the arctangents and the logarithms of multiples of 1/64.
var grid = sync.OnceValue(func() (g struct {
	atan, log [129]dd
	pi, ln2   dd
}) {
	for i := range g.atan {
		// atan q is 16 times the arctangent of t, which four times comes from tan(a/2) = tan(a)/(1 + √(1 + tan²(a))).
		t := newBig(float64(i) / 64)
		for range 4 {
			r := newBig(0).Mul(t, t)
			r.Add(r, newBig(1))
			t.Quo(t, r.Add(r.Sqrt(r), newBig(1)))
		}
		sum, power, square := newBig(0), newBig(0).Set(t), newBig(0).Mul(t, t)
		for n := 1.; n < 60; n += 2 {
			sum.Add(sum, newBig(0).Quo(power, newBig(n)))
			power.Neg(power.Mul(power, square))
		}
		g.atan[i] = ddOf(sum.SetMantExp(sum, 4))
		if i > 0 {
			g.log[i] = ddOf(bigLog(float64(i) / 64))
		}
	}
	g.pi, g.ln2 = ddOf(bigPi()), ddOf(bigLn2)
	return g
})

// series returns Σ t^(2i+1)/(2i+1), with alternating signs if sign is -1, for |t| <= 1/64.
func series(t dd, sign float64) dd {
	z, s := t.times(t), dd{}
	for n := 19.; n > 0; n -= 2 {
		s = s.times(z).times(dd{sign, 0}).plus(dd{1, 0}.over(dd{n, 0}))
	}
	return s.times(t)
}

// wideAtan2 returns atan2(x, y) of numbers whose quotients neither overflow nor underflow.
func wideAtan2(x, y float64) dd {
	_, e := math.Frexp(max(math.Abs(x), math.Abs(y)))
	n, d := math.Ldexp(math.Abs(x), -e), math.Ldexp(math.Abs(y), -e)
	steep := n > d
	if steep {
		n, d = d, n
	}
	i := math.RoundToEven(64 * n / d)
	c := i / 64
	t := dd{n, 0}.plus(product2(-c, d)).over(dd{d, 0}.plus(product2(c, n)))
	a := grid().atan[int(i)].plus(series(t, -1))
	half := dd{grid().pi.hi / 2, grid().pi.lo / 2}
	if steep {
		a = half.plus(a.negative())
	}
	if math.Signbit(y) {
		a = grid().pi.plus(a.negative())
	}
	if math.Signbit(x) {
		return a.negative()
	}
	return a
}

// wideLog returns log x.
func wideLog(x float64) dd {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	i := math.RoundToEven(64 * m)
	c := i / 64
	s := series(dd{m - c, 0}.over(sum2(m, c)), 1)
	return grid().ln2.times(dd{float64(k), 0}).plus(grid().log[int(i)]).plus(s).plus(s)
}

// wideExp returns m and k with exp(x) = m·2ᵏ and m near 1.
func wideExp(x dd) (m dd, k int) {
	n := math.RoundToEven(x.hi / math.Ln2)
	r := x.plus(grid().ln2.times(dd{-n, 0}))
	r = dd{r.hi / 256, r.lo / 256}
	m = dd{1, 0}
	for i := 14.; i > 0; i-- {
		m = m.times(r).over(dd{i, 0}).plus(dd{1, 0})
	}
	for range 8 {
		m = m.times(m)
	}
	return m, int(n)
}

// widePow returns m and k with x^y = m·2ᵏ, for x > 0.
func widePow(x, y float64) (m dd, k int) {
	return wideExp(within(wideLog(x).times(dd{max(min(y, 1e20), -1e20), 0})))
}

// within returns p, or a number whose exponential overflows or vanishes if that of p does.
func within(p dd) dd {
	const out = 1200
	if !(math.Abs(p.hi) < out) {
		return dd{math.Copysign(out, p.hi), 0}
	}
	return p
}

// unitsOff returns |got - m·2ᵏ| in units in the last place of T, where m is near 1.
func unitsOff[T cpu.Float](got T, m dd, k int) float64 {
	digits, least, overflow := 53, -1074, 1024
	if !cpu.Is64[T]() {
		digits, least, overflow = 24, -149, 128
	}
	g := float64(got)
	if math.IsInf(g, 0) {
		if math.Ldexp(m.hi/2, k-overflow) >= 0.5 { // right for all numbers from the power of two that overflows
			return 0
		}
		g = math.Copysign(math.Ldexp(1, overflow-k), g)
	} else {
		g = math.Ldexp(g, -k)
	}
	_, e := math.Frexp(m.hi)
	unit := max(e+k-digits, least) - k
	return math.Abs(math.Ldexp((g-m.hi)-m.lo, -unit))
}

// pairs are how many arguments each case of a test draws.
func pairs() int { return long.Or(1<<20, 1<<13) }

// A binaryCase draws arguments of functions of two numbers.
type binaryCase struct {
	name string
	draw func(rnd *rand.Rand) (x, y float64)
}

// sign returns x or -x.
func sign(rnd *rand.Rand, x float64) float64 { return math.Copysign(x, rnd.Float64()-0.5) }

// testBinary compares f with the wide function for arguments of each case, and the bits of all tiers.
func testBinary[T cpu.Float](t *testing.T, cases []binaryCase, f func(dst, x, y []T), bound float64, want func(x, y float64) (m dd, k int)) {
	const block = 1 << 10
	x, y, z, z0 := make([]T, block), make([]T, block), make([]T, block), make([]T, block)
	for _, c := range cases {
		rnd := rand.New(rand.NewPCG(31, 7))
		worst, atX, atY := 0., T(0), T(0)
		for range pairs() / block {
			for i := range x {
				a, b := c.draw(rnd)
				x[i], y[i] = T(a), T(b)
			}
			f(z, x, y)
			simdtest.OnTier(&tier, cpu.Generic, func() { f(z0, x, y) })
			simdtest.SameSlice(t, c.name, z, z0)
			if tier == cpu.AVX512 {
				simdtest.OnTier(&tier, cpu.AVX2, func() { f(z, x, y) })
				simdtest.SameSlice(t, c.name, z, z0)
			}
			for i, v := range z0 {
				if a, b := float64(x[i]), float64(y[i]); !math.IsInf(a, 0) && !math.IsInf(b, 0) && a != 0 {
					m, k := want(a, b)
					if u := unitsOff(v, m, k); !(u <= worst) {
						worst, atX, atY = u, x[i], y[i]
					}
				}
			}
		}
		t.Logf("%s: %.4f units at %v, %v", c.name, worst, atX, atY)
		if !(worst <= bound) {
			t.Errorf("%s: off by %.4f units at %v, %v, bound %v", c.name, worst, atX, atY, bound)
		}
	}
}

func TestAtan2(t *testing.T) {
	cases := []binaryCase{
		{"all angles", func(rnd *rand.Rand) (x, y float64) { return rnd.NormFloat64(), rnd.NormFloat64() }},
		{"quotients up to 1", func(rnd *rand.Rand) (x, y float64) { return sign(rnd, rnd.Float64()), sign(rnd, 1) }},
		{"quotients from 1", func(rnd *rand.Rand) (x, y float64) { return sign(rnd, 1), sign(rnd, rnd.Float64()) }},
		{"small and large", func(rnd *rand.Rand) (x, y float64) {
			return sign(rnd, math.Exp2(40*rnd.Float64()-20)), sign(rnd, math.Exp2(40*rnd.Float64()-20))
		}},
	}
	want := func(x, y float64) (dd, int) {
		a := wideAtan2(x, y)
		_, e := math.Frexp(a.hi)
		return dd{math.Ldexp(a.hi, -e), math.Ldexp(a.lo, -e)}, e
	}
	t.Run("float64", func(t *testing.T) { testBinary(t, cases, Atan2[float64], 1.1, want) })
	t.Run("float32", func(t *testing.T) { testBinary(t, cases, Atan2[float32], 1.1, want) })
}

func TestPow(t *testing.T) {
	cases := func(most, least, digits float64) []binaryCase {
		// y draws a power between overflow and underflow.
		y := func(rnd *rand.Rand, x float64) float64 { return (least + (most-least)*rnd.Float64()) / math.Log(x) }
		return []binaryCase{
			{"all numbers", func(rnd *rand.Rand) (float64, float64) {
				x := math.Exp(least + (most-least)*rnd.Float64())
				return x, y(rnd, x)
			}},
			{"near 1", func(rnd *rand.Rand) (float64, float64) {
				x := 0.5 + rnd.Float64()
				return x, y(rnd, x)
			}},
			{"nearer to 1", func(rnd *rand.Rand) (float64, float64) {
				x := 1 + sign(rnd, math.Exp2(-1-(digits-2)*rnd.Float64()))
				return x, y(rnd, x)
			}},
			{"small powers", func(rnd *rand.Rand) (float64, float64) { return 10 * rnd.Float64(), 10 * rnd.NormFloat64() }},
		}
	}
	t.Run("float64", func(t *testing.T) { testBinary(t, cases(711, -746, 53), Pow[float64], 0.9, widePow) })
	t.Run("float32", func(t *testing.T) { testBinary(t, cases(89, -104, 24), Pow[float32], 0.9, widePow) })
}

// special are numbers at which these functions have rules of their own. All pairs are tried.
func special[T cpu.Float]() []T {
	most, least, digits := math.MaxFloat64, 5e-324, 53
	if !cpu.Is64[T]() {
		most, least, digits = math.MaxFloat32, 0x1p-149, 24
	}
	unit := math.Ldexp(1, -digits)
	var s []T
	for _, v := range []float64{
		0, 1, 2, 3, 4, 5, 0.5, 1.5, 2.5, 0.25, 1 - unit, 1 + 2*unit, 1e-3, 10, 1 / unit, 1/unit - 1, 2 / unit, 1e30, 1e-30, math.Inf(1),
		most, most / 2, least, 3 * least, least / unit, least / unit / 2, least/unit/2 - least, math.Sqrt(most), math.Cbrt(least),
	} {
		s = append(s, T(v), T(-v))
	}
	return append(s, T(math.NaN()))
}

// specialPairs returns all pairs of special numbers.
func specialPairs[T cpu.Float]() (x, y []T) {
	for _, a := range special[T]() {
		for _, b := range special[T]() {
			x, y = append(x, a), append(y, b)
		}
	}
	return x, y
}

func TestSpecialPairs(t *testing.T) {
	simdtest.ForEachType(t, &tier, testSpecialPairs[float64], testSpecialPairs[float32])
}

func testSpecialPairs[T cpu.Float](t *testing.T) {
	x, y := specialPairs[T]()
	angle, power := make([]T, len(x)), make([]T, len(x))
	Atan2(angle, x, y)
	Pow(power, x, y)
	number := func(v float64) bool { return v-v == 0 && v != 0 }
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		want := math.Copysign(math.Atan2(a, b), a) // it loses the sign of a quotient that underflows
		if got := float64(angle[i]); !(math.Abs(got-float64(T(want))) <= 2*math.Abs(want)*simdtest.Unit[T]()+least[T]()) && !math.IsNaN(got) || math.IsNaN(got) != math.IsNaN(want) ||
			math.Signbit(got) != math.Signbit(want) && !math.IsNaN(got) {
			t.Errorf("atan2(%v, %v) = %v, want %v", a, b, got, want)
		}
		want = math.Pow(a, b)
		got := power[i]
		if number(a) && number(b) && (a > 0 || b == math.Trunc(b)) {
			m, k := widePow(math.Abs(a), b)
			if u := unitsOff(T(math.Abs(float64(got))), m, k); !(u <= 1) {
				t.Errorf("%v^%v = %v is off by %v units", a, b, got, u)
			}
			want = math.Copysign(float64(got), want) // whose sign is right
		}
		if !simdtest.Same(got, T(want)) {
			t.Errorf("%v^%v = %v, want %v", a, b, got, want)
		}
	}
}

func least[T cpu.Float]() float64 {
	if cpu.Is64[T]() {
		return 5e-324
	}
	return 0x1p-149
}

// slopesOf returns the derivatives of atan2(x, y) and x^y up to second order, computed one by one.
type slopes struct {
	x, y, xx, xy, yy float64
	terms            float64 // the sum of magnitudes of the terms of xy, or less
}

func atan2SlopesOf(x, y float64) slopes {
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		v := 0 * math.Atan2(x, y) // NaN beside NaN
		return slopes{v, v, v, v, v, 0}
	}
	_, e := math.Frexp(max(math.Abs(x), math.Abs(y)))
	x, y = math.Ldexp(x, -e), math.Ldexp(y, -e)
	r2 := float64(x*x) + float64(y*y)
	xx := math.Ldexp(-2*x*y/r2/r2, -2*e)
	return slopes{math.Ldexp(y/r2, -e), math.Ldexp(-x/r2, -e), xx, math.Ldexp((x-y)*(x+y)/r2/r2, -2*e), -xx, 0}
}

func powSlopesOf[T cpu.Float](x, y float64) (s slopes) {
	times := func(c, p float64) float64 {
		if p = float64(T(p)); p == 0 {
			return 0
		}
		return c * p
	}
	sign := func(j, v float64) float64 { // of x^(y-j)
		if math.Mod(math.Abs(math.Mod(y, 2))+j, 2) == 1 {
			return math.Copysign(v, x)
		}
		return v
	}
	// power returns x^(y-j) without the rounding of y - j. (math.Pow may be off by 1e-8 of it.)
	power := func(j float64) float64 {
		if x == 0 || math.IsNaN(x) || x > math.MaxFloat64 || y-y != 0 || y == j {
			return math.Pow(x, y-j)
		}
		if x < -math.MaxFloat64 {
			return sign(j, math.Pow(-x, y-j))
		}
		m, k := wideExp(within(wideLog(math.Abs(x)).times(sum2(max(min(y, 1e20), -1e20), -j))))
		return sign(j, math.Ldexp(m.hi, k))
	}
	log := math.Log(x)
	if x-x == 0 && x > 0 {
		log = wideLog(x).hi
	}
	if y != 0 {
		s.x = times(y, power(1))
	}
	if y != 0 && y != 1 {
		s.xx = times(y*(y-1), power(2))
	}
	if !(x <= 0) {
		c := 1.0
		if y != 0 {
			c += float64(y * log)
		}
		s.y, s.xy, s.yy = times(log, power(0)), times(c, power(1)), times(log*log, power(0))
		s.terms = math.Abs(times(1+math.Abs(y*log), power(1)))
	}
	return s
}

// The derivatives at special pairs, and at others, beside those computed one by one in float64.
func TestBinarySlopes(t *testing.T) {
	simdtest.ForEachType(t, &tier, testBinarySlopes[float64], testBinarySlopes[float32])
}

func testBinarySlopes[T cpu.Float](t *testing.T) {
	x, y := specialPairs[T]()
	n := len(x)
	rnd := rand.New(rand.NewPCG(3, 1))
	for range long.Or(4000, 500) {
		x, y = append(x, T(4*rnd.ExpFloat64())), append(y, T(3*rnd.NormFloat64()))
	}
	out := make([][]T, 6)
	for i := range out {
		out[i] = make([]T, len(x))
	}
	normal := least[T]() / simdtest.Unit[T]()
	for _, f := range []struct {
		name           string
		value          func(z, x, y []T)
		slopes, curves func(a, b, c, x, y []T)
		want           func(x, y float64) slopes
	}{
		{"atan2", Atan2[T], Atan2Slopes[T], Atan2Curves[T], atan2SlopesOf},
		{"pow", Pow[T], PowSlopes[T], PowCurves[T], powSlopesOf[T]},
	} {
		z := make([]T, len(x))
		f.value(z, x, y)
		f.slopes(out[5], out[0], out[1], x, y)
		f.curves(out[2], out[3], out[4], x, y)
		simdtest.SameSlice(t, f.name, out[5], z)
		worst := [5]float64{}
		for i := range x {
			a, b := float64(x[i]), float64(y[i])
			if f.name == "pow" && (a < 0 && b != math.Trunc(b) || a == 0 && b < 2) || a == 0 && b == 0 {
				continue // there are none
			}
			s := f.want(a, b)
			for j, w := range [...]float64{s.x, s.y, s.xx, s.xy, s.yy} {
				got := out[j][i]
				if w := T(w); got == w || simdtest.Same(got, w) {
					continue
				}
				unit := 2 * math.Abs(w) * simdtest.Unit[T]()
				if j == 3 {
					unit = max(unit, 2*s.terms*simdtest.Unit[T]())
				}
				d := math.Abs(float64(got) - w)
				if i >= n {
					worst[j] = max(worst[j], d/unit)
				}
				if !(d < 5*unit+normal) { // powers, or s², may underflow
					t.Errorf("%s(%v, %v): derivative %d is %v, want %v", f.name, a, b, j, got, w)
				}
			}
		}
		t.Logf("%s: units %.1f", f.name, worst)
	}
}

func BenchmarkBinary(b *testing.B) {
	b.Run("float64", benchmarkBinary[float64])
	b.Run("float32", benchmarkBinary[float32])
}

func benchmarkBinary[T cpu.Float](b *testing.B) {
	const n = 2048
	x, y := simdtest.Normal[T](n, 1), simdtest.Normal[T](n, 2)
	u, v, w := make([]T, n), make([]T, n), make([]T, n)
	for i := range x {
		x[i] = T(math.Abs(float64(x[i])))
	}
	for name, f := range map[string]func(){
		"Atan2": func() { Atan2(u, x, y) }, "Atan2Slopes": func() { Atan2Slopes(u, v, w, x, y) }, "Atan2Curves": func() { Atan2Curves(u, v, w, x, y) },
		"Pow": func() { Pow(u, x, y) }, "PowSlopes": func() { PowSlopes(u, v, w, x, y) }, "PowCurves": func() { PowCurves(u, v, w, x, y) },
	} {
		benchmarkTiers(b, name, n, f, nil)
	}
}
