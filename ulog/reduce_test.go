package ulog

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
)

var sumSizes = []int{0, 1, 2, 3, 5, 6, 12, 23, 255, 1023, 1024, 1025, 5000}

// refSumLogs returns log Σ s_i·e^logs_i. The sum must be positive, and the logs near each
// other.
func refSumLogs(logs []float64, neg []bool) *big.Float {
	sum := wide(0)
	for i, l := range logs {
		e := refExp(wide(l - logs[0]))
		if neg != nil && neg[i] {
			e.Neg(e)
		}
		sum.Add(sum, e)
	}
	return new(big.Float).SetPrec(4*refBits).Add(refLog(sum), wide(logs[0]))
}

func TestSumAccuracy(t *testing.T) {
	rnd := rand.New(rand.NewPCG(17, 18))
	for _, n := range sumSizes[1:] {
		if n > 1100 && testing.Short() {
			continue
		}
		for _, shift := range []float64{0, 1e3, -1e5} {
			// Logs that are exact in all the types.
			logs := make([]float64, n)
			x64, x32, xf := make([]Float64, n), make([]Float32, n), make([]Fixed, n)
			for i := range logs {
				logs[i] = shift + float64(rnd.IntN(60<<5))/(1<<5)
				x64[i].Log, x32[i].Log, xf[i].Log = logs[i], float32(logs[i]), fixed.FromFloat64(logs[i])
			}
			want := refSumLogs(logs, nil)
			w, _ := want.Float64()
			off := func(have float64) float64 {
				d, _ := new(big.Float).Sub(wide(have), want).Float64()
				return math.Abs(d)
			}
			if e, bound := off(Sum(x64).Log), ulp(w)/2+8*0x1p-53; e > bound {
				t.Errorf("n = %d: Float64 sum is off by %g, bound %g", n, e, bound)
			}
			if e, bound := off(float64(Sum(x32).Log)), ulp(w)/2*(1<<29)+8*0x1p-24; e > bound {
				t.Errorf("n = %d: Float32 sum is off by %g, bound %g", n, e, bound)
			}
			if e := unitsOff(Sum(xf), want); e > 0.51 {
				t.Errorf("n = %d: Fixed sum is off by %g units", n, e)
			}
		}
	}
}

func TestSumSigned(t *testing.T) {
	rnd := rand.New(rand.NewPCG(19, 20))
	for _, n := range sumSizes[1:] {
		logs, neg := make([]float64, n), make([]bool, n)
		x := make([]Signed, n)
		for i := range x {
			logs[i] = -500 + 10*rnd.Float64()
			neg[i] = rnd.IntN(3) == 0 && i > 0
			x[i] = Signed{logs[i], neg[i]}
		}
		x[0].Log, logs[0] = -489, -489 // the sum is positive for the small n
		var pos float64
		for _, v := range x {
			pos += math.Exp(v.Log + 500)
		}
		sum := new(big.Float)
		for i, l := range logs {
			e := refExp(wide(l + 500))
			if neg[i] {
				e.Neg(e)
			}
			sum = new(big.Float).SetPrec(4*refBits).Add(sum, e)
		}
		want, _ := sum.Float64()
		s := Sum(x)
		have := math.Exp(s.Log + 500)
		if s.Neg {
			have = -have
		}
		if math.Abs(have-want) > 1e-12*pos {
			t.Errorf("n = %d: sum is %v, want %v", n, have, want)
		}
	}
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{nil, 0}, {[]float64{1, -1}, 0}, {[]float64{-2, 1}, -1}, {[]float64{inf, 1, -5}, inf}, {[]float64{-inf, 1}, -inf},
		{[]float64{inf, -inf}, math.NaN()}, {[]float64{0, negZero}, 0}, {[]float64{math.NaN(), 1}, math.NaN()}, {[]float64{-1, math.NaN()}, math.NaN()},
	} {
		x := make([]Signed, len(c.x))
		for i, v := range c.x {
			x[i] = NewSigned(v)
		}
		if have := Sum(x).Float64(); !same(have, c.want) {
			t.Errorf("sum of %v is %v, want %v", c.x, have, c.want)
		}
	}
}

func TestReduceSpecial(t *testing.T) {
	for _, c := range []struct {
		x              []float64
		sum, prod, top float64
	}{
		{nil, 0, 1, 0},
		{[]float64{0, 0}, 0, 0, 0},
		{[]float64{2, 0, 3}, 5, 0, 3},
		{[]float64{inf, 1}, inf, inf, inf},
		{[]float64{inf, 0}, inf, math.NaN(), inf},
		{[]float64{2, math.NaN(), inf}, math.NaN(), math.NaN(), math.NaN()},
	} {
		x, x32 := make([]Float64, len(c.x)), make([]Float32, len(c.x))
		xf, fits := make([]Fixed, len(c.x)), true
		for i, v := range c.x {
			x[i], x32[i] = NewFloat64(v), NewFloat32(v)
			var err error
			xf[i], err = NewFixedChecked(v)
			fits = fits && err == nil
		}
		for i, r := range []struct{ have, want float64 }{
			{Sum(x).Float64(), c.sum}, {Prod(x).Float64(), c.prod}, {Max(x).Float64(), c.top},
			{Sum(x32).Float64(), c.sum}, {Prod(x32).Float64(), c.prod}, {Max(x32).Float64(), c.top},
			{Sum(xf).Float64(), c.sum}, {Prod(xf).Float64(), c.prod}, {Max(xf).Float64(), c.top},
		} {
			if i >= 6 && !fits {
				break
			}
			if !same(r.have, r.want) && !(math.Abs(r.have-r.want) < 1e-5) {
				t.Errorf("%v: reduction %d is %v, want %v", c.x, i, r.have, r.want)
			}
		}
	}
	s := []Signed{NewSigned(-3), NewSigned(2), NewSigned(-5)}
	if v := Max(s).Float64(); !same(v, 2) {
		t.Errorf("max is %v", v)
	}
	if v := Max(s[:1]).Float64(); !same(v, -3) {
		t.Errorf("max is %v", v)
	}
	if v := Max([]Signed{}).Float64(); v != -inf {
		t.Errorf("max of nothing is %v", v)
	}
	if v := Max(append(s, NewSigned(math.NaN()), NewSigned(9))); !v.IsNaN() {
		t.Errorf("max with NaN is %v", v)
	}
	if v := Prod(s).Float64(); !same(v, 30) {
		t.Errorf("product is %v", v)
	}
}

// TestSumFixedOrder: a sum over Fixed does not depend on the order.
func TestSumFixedOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 22))
	x := make([]Fixed, 3000)
	for i := range x {
		x[i].Log = fixed.FromFloat64(50 * rnd.NormFloat64())
	}
	x[7] = fixedZero
	sum, prod := Sum(x), Prod(x)
	x[7] = fixedOne
	nonzero := Prod(x)
	if prod != fixedZero || nonzero.IsZero() {
		t.Errorf("products with and without zero: %v %v", prod, nonzero)
	}
	x[7] = fixedZero
	for range 5 {
		rnd.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		if s := Sum(x); s != sum {
			t.Errorf("sum is %v in one order and %v in another", sum, s)
		}
	}
	// A million terms 2^-60 of the largest. The test fails if their fractions are dropped.
	y := make([]Fixed, 1<<20)
	for i := range y {
		y[i].Log = -42 << 43
	}
	y[0] = fixedOne
	want := math.Log1p((1<<20 - 1) * math.Exp(-42))
	if have := Sum(y).Log.Float64(); math.Abs(have-want) > unit {
		t.Errorf("log of the sum is %v, want %v", have, want)
	}
	// The largest sum wraps.
	if s := Sum([]Fixed{{math.MaxInt64}, {math.MaxInt64}}); s != (Fixed{math.MaxInt64}).Add(Fixed{math.MaxInt64}) {
		t.Errorf("sum of the largest is %v", s)
	}
}

func TestReduceAllocs(t *testing.T) {
	a, b := make([]Float64, 3000), make([]Float32, 3000)
	c, d := make([]Fixed, 3000), make([]Signed, 3000)
	for name, f := range map[string]func(){
		"Sum": func() { Sum(a); Sum(b); Sum(c); Sum(d) },
		"Prod and Max": func() {
			Prod(a)
			Prod(b)
			Prod(c)
			Prod(d)
			Max(a)
			Max(b)
			Max(c)
			Max(d)
		},
		"arithmetic": func() {
			x, _ := a[0].AddChecked(a[1])
			x, _ = x.DivChecked(a[2])
			y, _ := c[0].AddChecked(c[1])
			y, _ = y.DivChecked(c[2])
			a[3], c[3] = x, y
		},
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const n = 1024
	x := make([]float64, n)
	for i := range x {
		x[i] = 20 * rnd.NormFloat64()
	}
	f64, f32, fx := OfLogs(x), make([]Float32, n), make([]Fixed, n)
	for i, v := range x {
		f32[i].Log, fx[i].Log = float32(v), fixed.FromFloat64(v)
	}
	var s float64
	var sf Fixed
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"math.Log1p(math.Exp)", func() {
			for i := range n - 1 {
				s += math.Log1p(math.Exp(-math.Abs(x[i] - x[i+1])))
			}
		}},
		{"Float64.Add", func() {
			for i := range n - 1 {
				s += f64[i].Add(f64[i+1]).Log
			}
		}},
		{"Float64.Sub", func() {
			for i := range n - 1 {
				s += f64[i].Sub(f64[i+1]).Log
			}
		}},
		{"Float32.Add", func() {
			for i := range n - 1 {
				s += float64(f32[i].Add(f32[i+1]).Log)
			}
		}},
		{"Fixed.Add", func() {
			for i := range n - 1 {
				sf.Log += fx[i].Add(fx[i+1]).Log
			}
		}},
		{"Fixed.Mul", func() {
			for i := range n - 1 {
				sf.MulAssign(fx[i])
			}
		}},
		{"Sum Float64", func() { s += Sum(f64).Log }},
		{"Sum Fixed", func() { sf.Log += Sum(fx).Log }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n-1), "ns/elt")
		})
	}
	_ = fmt.Sprint(s, sf)
}

// TestReduceFixed holds sums, products and maxima over Fixed to those one by one, to the bit: of all sizes,
// with zeros, with logs that wrap, and where terms are too small to count.
func TestReduceFixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(23, 24))
	draws := []func() fixed.Q43{
		func() fixed.Q43 { return fixed.FromFloat64(20 * rnd.NormFloat64()) },
		func() fixed.Q43 { return fixed.Q43(rnd.Uint64()) >> rnd.IntN(64) },
		func() fixed.Q43 { return math.MaxInt64 - fixed.Q43(rnd.Uint64()>>rnd.IntN(64)) },
		func() fixed.Q43 { return -math.MaxInt64 + fixed.Q43(rnd.Int64N(64<<43)) },
		func() fixed.Q43 { return fixed.Q43(rnd.Int64N(3) - 1) },
		func() fixed.Q43 { return 63<<43 - 2 + fixed.Q43(rnd.Int64N(5)) },
	}
	for _, n := range []int{1, 2, 7, 8, 9, 15, 16, 17, 100, 1 << 14, 1<<14 + 5} {
		for i, draw := range draws {
			for _, zeros := range []int{0, 1, 5} {
				if n > 1000 && i*zeros != 1 {
					continue
				}
				x := make([]Fixed, n)
				for i := range x {
					x[i].Log = draw()
				}
				if i == len(draws)-1 {
					x[n/2] = fixedOne
				}
				for range zeros {
					x[rnd.IntN(n)] = fixedZero
				}
				most, prod := fixedZero, fixedOne
				for _, v := range x {
					prod = prod.Mul(v)
					if most.Cmp(v) < 0 {
						most = v
					}
				}
				if got := Prod(x); got != prod {
					t.Fatalf("draw %d, n=%d: the product is %d, want %d", i, n, got.Log, prod.Log)
				}
				p, powers := make([]fixed.Q43, n), fixedOne
				for i, v := range x {
					p[i] = draw()
					if v.IsZero() && p[i] < 0 {
						p[i] = 0
					}
					powers = powers.Mul(v.Pow(p[i]))
				}
				if got := ProdPow(x, p); got != powers {
					t.Fatalf("draw %d, n=%d: the product of powers is %d, want %d", i, n, got.Log, powers.Log)
				}
				if got := Max(x); got != most {
					t.Fatalf("draw %d, n=%d: the largest is %d, want %d", i, n, got.Log, most.Log)
				}
				if got, want := Sum(x), plainSum(x, most); got != want {
					t.Fatalf("draw %d, n=%d: the sum is %d, want %d", i, n, got.Log, want.Log)
				}
			}
		}
	}
	for _, f := range []func(){func() { ProdPow([]Fixed{fixedZero}, []fixed.Q43{-1}) }, func() { ProdPow(make([]Fixed, 2), make([]fixed.Q43, 1)) }} {
		if !panics(f) {
			t.Error("no panic of zero to a negative power, or of different lengths")
		}
	}
	// Zero adds nothing to the least number.
	least := Fixed{-math.MaxInt64}
	if got := Sum([]Fixed{fixedZero, least}); got != least {
		t.Errorf("the least number plus 0 is %d, want %d", got.Log, least.Log)
	}
}

// plainSum is sumFixed by big.Int, number by number.
func plainSum(x []Fixed, most Fixed) Fixed {
	if most.IsZero() {
		return most
	}
	sum := new(big.Int)
	for _, v := range x {
		if d := uint64(most.Log) - uint64(v.Log); !v.IsZero() && d <= 63<<43 {
			term, _ := new(big.Float).SetMantExp(big.NewFloat(expNeg(float64(d)*unit)), 90).Int(nil)
			sum.Add(sum, term)
		}
	}
	word := new(big.Int).SetUint64(math.MaxUint64)
	lo, hi := new(big.Int).And(sum, word).Uint64(), new(big.Int).Rsh(sum, 64).Uint64()
	k, l, rest := logParts(float64(float64(hi)*0x1p64) + float64(lo))
	k -= 90
	s, _ := addLogs(most.Log, fixed.Q43(k)*ln2Units+roundQ43(l+(rest+float64(float64(k)*ln2Lo))))
	return Fixed{s}
}

func panics(f func()) (caught bool) {
	defer func() { caught = recover() != nil }()
	f()
	return false
}
