package fixed

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// The references: the rational and high-precision arithmetic of math/big, and power series
// of the functions. They are not made for speed.

const refPrec = 320

func bigNum(v float64) *big.Float { return newBig().SetFloat64(v) }

func newBig() *big.Float { return new(big.Float).SetPrec(refPrec) }

func bigOf(x Q43) *big.Float { return newBig().Set(x.BigFloat()) }

func add(x, y *big.Float) *big.Float { return newBig().Add(x, y) }
func sub(x, y *big.Float) *big.Float { return newBig().Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return newBig().Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return newBig().Quo(x, y) }

var (
	refPi  = mul(bigNum(4), refAtan(bigNum(1)))
	refLn2 = mul(bigNum(2), refOdd(quo(bigNum(1), bigNum(3)), 1)) // 2·artanh(1/3)
)

// series sums terms until they vanish. first is the first term, and next(term, k) returns
// the term after the given one.
func series(first *big.Float, next func(term *big.Float, k int64) *big.Float) *big.Float {
	sum, term := newBig().Set(first), first
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-refPrec-2; k++ {
		term = next(term, k)
		sum.Add(sum, term)
	}
	return sum
}

// refExp returns eˣ = (e^(x/2⁴⁰))^(2⁴⁰), |x| < 2²⁰.
func refExp(x *big.Float) *big.Float {
	const halvings = 40
	t := newBig().SetMantExp(x, -halvings)
	y := series(bigNum(1), func(term *big.Float, k int64) *big.Float {
		return quo(mul(term, t), bigNum(float64(k)))
	})
	for range halvings {
		y = mul(y, y)
	}
	return y
}

// refLog returns ln x = e·ln 2 + 8·ln r for x > 0, where x = m·2ᵉ and r = √√√m.
func refLog(x *big.Float) *big.Float {
	m := newBig()
	e := x.MantExp(m)
	if m.Cmp(bigNum(0.75)) < 0 { // keeps ln x accurate next to 1
		m, e = mul(m, bigNum(2)), e-1
	}
	for range 3 {
		m.Sqrt(m)
	}
	t := quo(sub(m, bigNum(1)), add(m, bigNum(1)))
	l := mul(bigNum(16), refOdd(t, 1))
	return add(l, mul(bigNum(float64(e)), refLn2))
}

// refOdd returns t + s·t³/3 + t⁵/5 + s·t⁷/7 + ...
func refOdd(t *big.Float, s float64) *big.Float {
	power, tt := t, mul(mul(t, t), bigNum(s))
	sum := newBig().Set(t)
	for k := 3.0; power.Sign() != 0 && power.MantExp(nil) > t.MantExp(nil)-refPrec; k += 2 {
		power = mul(power, tt)
		sum.Add(sum, quo(power, bigNum(k)))
	}
	return sum
}

// refAtan returns arctan x, halving the angle until it is small.
func refAtan(x *big.Float) *big.Float {
	t := newBig().Set(x)
	for range 10 {
		h := newBig().Sqrt(add(bigNum(1), mul(t, t)))
		t = quo(t, add(bigNum(1), h))
	}
	return mul(bigNum(1024), refOdd(t, -1))
}

func refAtan2(y, x *big.Float) *big.Float {
	switch {
	case y.Sign() == 0 && x.Sign() >= 0:
		return newBig()
	case x.Sign() == 0:
		return mul(refPi, bigNum(float64(y.Sign())/2))
	}
	a := refAtan(quo(y, x))
	if x.Sign() < 0 {
		if y.Sign() < 0 {
			return sub(a, refPi)
		}
		return add(a, refPi)
	}
	return a
}

// refSinCos returns sin x and cos x, |x| <= 2²⁰.
func refSinCos(x *big.Float) (sin, cos *big.Float) {
	turns, _ := quo(x, refPi).Float64()
	x = sub(x, mul(refPi, bigNum(math.RoundToEven(turns/2)*2)))
	xx := mul(x, x)
	next := func(odd int64) func(*big.Float, int64) *big.Float {
		return func(term *big.Float, k int64) *big.Float {
			n := 2*k + odd
			return quo(mul(term, xx), bigNum(-float64(n*(n-1))))
		}
	}
	return series(x, next(1)), series(bigNum(1), next(0))
}

// ulps returns |got - want| in units in the last place.
func ulps(got Q43, want *big.Float) float64 {
	d := sub(bigOf(got), want)
	d.SetMantExp(d, FracBits)
	e, _ := d.Abs(d).Float64()
	return e
}

// extremes are operands at the limits of a range or of a case.
var extremes = []Q43{
	0, 1, -1, 2, -2, 3, -3, One, -One, One + 1, One - 1, -One - 1, -One + 1, One / 2, -One / 2, One/2 + 1, One/2 - 1,
	2 * One, 3 * One, -3 * One, 3*One + One/2, 1<<21 - 1, 1 << 21, 1<<22 + 1, 3 << 21, 1 << 42, 1<<42 - 1, 1 << 32, 1<<31 - 1, 1<<53 + 1,
	1 << 62, -1 << 62, 1<<62 - 1, Max, Max - 1, Min, Min + 1, Pi, -Pi, E, Ln2, 1<<63 - 1<<43, 1024 * One, -1024 * One,
}

// randomQ43 returns an extreme operand, or an operand with a random number of bits.
func randomQ43(r *rand.Rand) Q43 {
	if r.IntN(8) == 0 {
		return extremes[r.IntN(len(extremes))]
	}
	return Q43(r.Uint64()) >> r.IntN(64)
}
