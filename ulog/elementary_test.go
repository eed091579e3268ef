package ulog

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// refBits is the precision of the references, in fraction bits.
const refBits = 256

var refLn2 = bigLn2(refBits)

// refExp returns e^x for any float64 x below 2000 in magnitude.
func refExp(x *big.Float) *big.Float {
	l := toFixedPoint(x, refBits)
	e, r := new(big.Int).DivMod(l, refLn2, new(big.Int))
	return new(big.Float).SetMantExp(new(big.Float).SetInt(bigExp(r, refBits)), int(e.Int64())-refBits)
}

// refLog returns log x.
func refLog(x *big.Float) *big.Float {
	mant := new(big.Float)
	k := x.MantExp(mant) - 1
	mant.SetMantExp(mant, 1) // in [1, 2)
	y := bigLog(toFixedPoint(mant, refBits), refBits)
	y.Add(y, new(big.Int).Mul(big.NewInt(int64(k)), refLn2))
	return new(big.Float).SetPrec(4*refBits).SetMantExp(new(big.Float).SetInt(y), -refBits)
}

func toFixedPoint(x *big.Float, p int) *big.Int {
	i, _ := new(big.Float).SetMantExp(x, p).Int(nil)
	return i
}

func wide(x float64) *big.Float { return new(big.Float).SetPrec(4 * refBits).SetFloat64(x) }

// refLog1 returns log(1 + s·e^-d).
func refLog1(d float64, s int) *big.Float {
	e := refExp(wide(-d))
	if s < 0 {
		e.Neg(e)
	}
	return refLog(e.Add(e.SetPrec(4*refBits), wide(1)))
}

// refLog1Tail returns log(1 + e^-d) for d > 100. There e^-d - e^-2d/2 is far more precise
// than a float64.
func refLog1Tail(d float64) *big.Float {
	e := refExp(wide(-d))
	sq := new(big.Float).Mul(e, e)
	return e.Sub(e, sq.SetMantExp(sq, -1))
}

// ulp returns the distance of x from the next float64 away from zero. For infinity, it is
// that of the largest finite float64.
func ulp(x float64) float64 {
	x = math.Min(math.Abs(x), 0x1.ffffffffffffep1023)
	return math.Nextafter(x, math.Inf(1)) - x
}

// errUlp returns |have - want| in ulps of want.
func errUlp(have float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if math.IsInf(w, 0) || math.IsInf(have, 0) || math.IsNaN(have) {
		if have == w {
			return 0
		}
		return math.Inf(1)
	}
	diff := new(big.Float).Sub(wide(have), want)
	diff.Quo(diff, wide(ulp(w)))
	f, _ := diff.Float64()
	return math.Abs(f)
}

func TestElementary(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	uniform := func(a, b float64) float64 { return a + (b-a)*rnd.Float64() }
	n := 1500
	if testing.Short() {
		n = 300
	}
	for _, c := range []struct {
		name  string
		f     func(float64) float64
		ref   func(float64) *big.Float
		draw  func() float64
		edges []float64
		bound float64
	}{
		{"exp", exp, func(x float64) *big.Float { return refExp(wide(x)) },
			func() float64 { return uniform(-708, 709.78) },
			[]float64{0, math.Copysign(0, -1), 1, 709.70, 709.75, 709.78, 709.782712893384, 709.7827128933841, -708.3, 1e-300, -1e-300}, 0.54},
		{"exp near 0", exp, func(x float64) *big.Float { return refExp(wide(x)) },
			func() float64 { return uniform(-1, 1) }, nil, 0.54},
		{"exp subnormal", exp, func(x float64) *big.Float { return refExp(wide(x)) },
			func() float64 { return uniform(-745.2, -708) }, []float64{-745.1332191019411, -745.1332191019412, -746, -747}, 1},
		{"log", log, func(x float64) *big.Float { return refLog(wide(x)) },
			func() float64 { return math.Abs(math.Float64frombits(rnd.Uint64()&^(1<<62) | rnd.Uint64()&(1<<62))) },
			[]float64{1, 5e-324, 0x1p-1022, math.MaxFloat64, 0.75, 1.5, math.Nextafter(1.5, 1), math.Nextafter(0.75, 0)}, 1},
		{"log near 1", log, func(x float64) *big.Float { return refLog(wide(x)) },
			func() float64 { return uniform(0.5, 2) }, []float64{math.Nextafter(1, 0), math.Nextafter(1, 2)}, 1},
		{"log1pexp", log1pexp, func(d float64) *big.Float { return refLog1(d, 1) },
			func() float64 { return uniform(0, 40) }, []float64{0, 5e-324, 1e-20, 100}, 1.5},
		{"log1pexp large", log1pexp, func(d float64) *big.Float { return refLog1(d, 1) },
			func() float64 { return uniform(0, 110) }, nil, 1.5},
		{"log1mexp", log1mexp, func(d float64) *big.Float { return refLog1(d, -1) },
			func() float64 { return uniform(0, 40) }, []float64{math.Ln2, 1e-20, 0x1p-52}, 2},
		{"log1mexp near log 2", log1mexp, func(d float64) *big.Float { return refLog1(d, -1) },
			func() float64 { return uniform(0, 1.4) }, nil, 2},
		{"log1pexp tail", log1pexp, refLog1Tail,
			func() float64 { return uniform(110, 744) }, []float64{700, 700.1, 745, 746}, 1.5},
		{"log1mexp small", log1mexp, func(d float64) *big.Float { return refLog1(d, -1) },
			func() float64 { return uniform(0, 1) * math.Exp2(-200*rnd.Float64()) }, nil, 2},
	} {
		worst, at := 0.0, 0.0
		check := func(x float64) {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return
			}
			if e := errUlp(c.f(x), c.ref(x)); e > worst || math.IsNaN(e) {
				worst, at = e, x
			}
		}
		for _, x := range c.edges {
			check(x)
		}
		for range n {
			check(c.draw())
		}
		t.Logf("%-20s max error %.4f ulp at %v", c.name, worst, at)
		if !(worst <= c.bound) {
			t.Errorf("%s(%v) = %v: error %v ulp, bound %v", c.name, at, c.f(at), worst, c.bound)
		}
	}
}
