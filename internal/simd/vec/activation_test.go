package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// An activation is a function of package vec that computes a value and a derivative. exact
// computes the same in 256 bits. The value is within yUlps units in the last place. The
// derivative is within dUlps units of the sum of the magnitudes of its two terms.
type activation struct {
	name         string
	run          func(y, d, x []float64)
	yUlps, dUlps float64
	exact        func(x float64) (y, d, terms *big.Float)
	from         float64 // below this, the value or the derivative is not a normal number
}

var activations = []activation{
	{"sigmoid", Sigmoid[float64], 2.5, 5, bigSigmoid, -708},
	{"tanh", Tanh[float64], 2, 5, bigTanh, -354},
	{"softplus", Softplus[float64], 2, 3.5, bigSoftplus, -708},
	{"GELU", GELU[float64], 6, 7, bigGELU, -37.5},
	{"SiLU", SiLU[float64], 2.5, 5, bigSiLU, -700},
	{"expm1", Expm1[float64], 2.2, 1.2, bigExpm1, -708},
	{"log1p", Log1p[float64], 0.8, 1.5, bigLog1p, math.Nextafter(-1, 0)},
	{"erf", Erf[float64], 1.2, 2.2, bigErf, -26},
	{"tan", Tan[float64], 3, 6, bigTan, -1e4},
}

func bigOp(f func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float {
	return f(newBig(0), x, y)
}

func add(x, y *big.Float) *big.Float { return bigOp((*big.Float).Add, x, y) }
func mul(x, y *big.Float) *big.Float { return bigOp((*big.Float).Mul, x, y) }
func quo(x, y *big.Float) *big.Float { return bigOp((*big.Float).Quo, x, y) }
func neg(x *big.Float) *big.Float    { return newBig(0).Neg(x) }
func abs(x *big.Float) *big.Float    { return newBig(0).Abs(x) }

// logistic returns 1/(1 + exp(-x)).
func logistic(x float64) *big.Float { return quo(newBig(1), add(newBig(1), bigExp(newBig(-x)))) }

func bigSigmoid(x float64) (y, d, terms *big.Float) {
	y = logistic(x)
	d = mul(y, logistic(-x))
	return y, d, d
}

func bigSiLU(x float64) (y, d, terms *big.Float) {
	s := logistic(x)
	t := mul(newBig(x), mul(s, logistic(-x)))
	return mul(newBig(x), s), add(s, t), add(s, abs(t))
}

func bigTanh(x float64) (y, d, terms *big.Float) {
	e := bigExp(newBig(2 * x))
	s := quo(newBig(2), add(e, newBig(1)))
	d = mul(s, mul(newBig(2), logistic(2*x))) // (1 - tanh)·(1 + tanh)
	y = add(newBig(1), neg(s))
	if math.Abs(x) < 0x1p-40 { // x - x³/3, as 1 - s would lose all
		v := newBig(x)
		y = add(v, neg(quo(mul(v, mul(v, v)), newBig(3))))
	}
	return y, d, d
}

func bigSoftplus(x float64) (y, d, terms *big.Float) {
	d = logistic(x)
	e := bigExp(newBig(-math.Abs(x)))
	if math.Abs(x) > 60 { // e - e²/2
		y = add(e, neg(quo(mul(e, e), newBig(2))))
	} else {
		f, _ := e.Float64()
		m := add(newBig(1), e)
		y = newBig(math.Log1p(f))
		for range 2 { // as bigLog
			v := bigExp(y)
			y = add(y, quo(mul(newBig(2), add(m, neg(v))), add(m, v)))
		}
	}
	return add(y, newBig(max(x, 0))), d, d
}

// bigNormal returns Φ(x) and φ(x). Φ(-u) is φ(u)/(u + 1/(u + 2/(u + ...))) (Laplace). For
// small u it is 1/2 - φ(u)·Σ u^(2k+1)/(1·3·...·(2k+1)).
func bigNormal(x float64) (cdf, pdf *big.Float) {
	u := newBig(math.Abs(x))
	pdf = quo(bigExp(quo(mul(u, u), newBig(-2))), newBig(0).Sqrt(mul(newBig(2), bigPi())))
	if x := math.Abs(x); x > 1 {
		f := u
		for k := 60 + int(900/(x*x)); k > 0; k-- {
			f = add(u, quo(newBig(float64(k)), f))
		}
		cdf = quo(pdf, f)
	} else {
		sum, term := newBig(0), u
		for k := 1; k < 140; k += 2 {
			sum = add(sum, term)
			term = quo(mul(term, mul(u, u)), newBig(float64(k+2)))
		}
		cdf = add(newBig(0.5), neg(mul(pdf, sum)))
	}
	if x > 0 {
		cdf = add(newBig(1), neg(cdf))
	}
	return cdf, pdf
}

func bigGELU(x float64) (y, d, terms *big.Float) {
	cdf, pdf := bigNormal(x)
	t := mul(newBig(x), pdf)
	return mul(newBig(x), cdf), add(cdf, t), add(cdf, abs(t))
}

func bigExpm1(x float64) (y, d, terms *big.Float) {
	d = bigExp(newBig(x))
	y = add(d, newBig(-1))
	if math.Abs(x) < 0x1p-60 { // x + x²/2
		y = add(newBig(x), quo(mul(newBig(x), newBig(x)), newBig(2)))
	}
	return y, d, d
}

func bigLog1p(x float64) (y, d, terms *big.Float) {
	m := add(newBig(1), newBig(x))
	d = quo(newBig(1), m)
	if math.Abs(x) < 0x1p-60 { // x - x²/2
		return add(newBig(x), quo(mul(newBig(x), newBig(x)), newBig(-2))), d, d
	}
	y = newBig(math.Log1p(x))
	for range 2 { // as bigLog
		v := bigExp(y)
		y = add(y, quo(mul(newBig(2), add(m, neg(v))), add(m, v)))
	}
	return y, d, d
}

// bigErf returns 2/√π·Σ (-1)ⁿ·x^(2n+1)/(n!·(2n+1)), or 1 from 6 on, and its derivative.
func bigErf(x float64) (y, d, terms *big.Float) {
	factor, square := quo(newBig(2), newBig(0).Sqrt(bigPi())), mul(newBig(x), newBig(x))
	d = mul(factor, bigExp(neg(square)))
	if math.Abs(x) > 6 {
		return newBig(math.Copysign(1, x)), d, d
	}
	y = newBig(0)
	term := newBig(x)
	for n := 1.0; term.Sign() != 0 && term.MantExp(nil) > newBig(x).MantExp(nil)-270; n++ {
		y = add(y, quo(term, newBig(2*n-1)))
		term = quo(mul(term, neg(square)), newBig(n))
	}
	return mul(factor, y), d, d
}

func bigTan(x float64) (y, d, terms *big.Float) {
	sin, cos := bigSinCos(x)
	y = quo(sin, cos)
	d = add(newBig(1), mul(y, y))
	return y, d, d
}

// activationSamples returns arguments over the whole range. There are more where the
// functions bend and where the methods change.
func activationSamples(n int) []float64 {
	in := [][2]float64{{-8, 8}, {-1, 1}, {-40, 40}, {-0.01, 0.01}, {-750, 750}}
	return samples[float64](rand.New(rand.NewPCG(11, 12)), n, in, 0, 1e-300, 1e-9, 0.3125, 0.625, 0.881373587, 1, math.Pi/2, 3.5, 37.5, 38.6, 40, 708.5, 745.2, 1000)
}

func TestActivationAccuracy(t *testing.T) {
	x := activationSamples(long.Or(500, 20))
	y, d := make([]float64, len(x)), make([]float64, len(x))
	for _, a := range activations {
		a.run(y, d, x)
		worstY, worstD, atY, atD := 0., 0., 0., 0.
		for i, v := range x {
			if math.IsNaN(v) || math.Abs(v) > 1e4 || v < a.from || (a.name == "tanh" || a.name == "erf") && v > -a.from || a.name == "expm1" && v > 709.7 {
				continue // below, or no normal number
			}
			wantY, wantD, terms := a.exact(v)
			if u := ulps(y[i], wantY); u > worstY {
				worstY, atY = u, v
			}
			diff := abs(add(newBig(d[i]), neg(wantD)))
			scale, _ := terms.Float64()
			u, _ := quo(diff, newBig(math.Max(scale*0x1p-53, 0x1p-1074))).Float64()
			if u > worstD {
				worstD, atD = u, v
			}
		}
		t.Logf("%s: %.3f ulp at %v, derivative %.3f at %v", a.name, worstY, atY, worstD, atD)
		if !(worstY <= a.yUlps && worstD <= a.dUlps) {
			t.Errorf("%s: %.3f ulp at %v and %.3f at %v, bounds %v and %v", a.name, worstY, atY, worstD, atD, a.yUlps, a.dUlps)
		}
	}
}

// TestActivationLimits checks the limits at infinity, and that nothing overflows before.
func TestActivationLimits(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{-inf, -1e300, -1000, 0, 1000, 1e300, inf, nan}
	for name, want := range map[string]struct{ y, d []float64 }{
		"sigmoid":  {[]float64{0, 0, 0, 0.5, 1, 1, 1, nan}, []float64{0, 0, 0, 0.25, 0, 0, 0, nan}},
		"tanh":     {[]float64{-1, -1, -1, 0, 1, 1, 1, nan}, []float64{0, 0, 0, 1, 0, 0, 0, nan}},
		"softplus": {[]float64{0, 0, 0, math.Ln2, 1000, 1e300, inf, nan}, []float64{0, 0, 0, 0.5, 1, 1, 1, nan}},
		"GELU":     {[]float64{0, 0, 0, 0, 1000, 1e300, inf, nan}, []float64{0, 0, 0, 0.5, 1, 1, 1, nan}},
		"SiLU":     {[]float64{0, 0, 0, 0, 1000, 1e300, inf, nan}, []float64{0, 0, 0, 0.5, 1, 1, 1, nan}},
		"expm1":    {[]float64{-1, -1, -1, 0, inf, inf, inf, nan}, []float64{0, 0, 0, 1, inf, inf, inf, nan}},
		"log1p":    {[]float64{nan, nan, nan, 0, math.Log(1001), 690.7755278982137, inf, nan}, []float64{0, -1e-300, -1. / 999, 1, 1. / 1001, 1e-300, 0, nan}},
		"erf":      {[]float64{-1, -1, -1, 0, 1, 1, 1, nan}, []float64{0, 0, 0, 2 / math.SqrtPi, 0, 0, 0, nan}},
	} {
		i := slices.IndexFunc(activations, func(a activation) bool { return a.name == name })
		y, d := make([]float64, len(x)), make([]float64, len(x))
		activations[i].run(y, d, x)
		for i, v := range x {
			same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
			if !same(y[i], want.y[i]) || !same(d[i], want.d[i]) {
				t.Errorf("%s(%v) = %v and %v, want %v and %v", name, v, y[i], d[i], want.y[i], want.d[i])
			}
		}
	}
}

// TestActivationSameBits checks that all tiers give the same bits, for all lengths, and if an
// operand is also a result.
func TestActivationSameBits(t *testing.T) {
	all := append(activationSamples(10*sampleCount()), hostile...)
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, a := range activations {
			for n := range 70 {
				checkActivationBits(t, a, all[n*n:n*n+n])
			}
			checkActivationBits(t, a, all)
		}
	})
}

func checkActivationBits(t *testing.T, a activation, x []float64) {
	t.Helper()
	const guard = 9
	wantY, wantD := make([]float64, len(x)), make([]float64, len(x))
	simdtest.OnTier(&tier, cpu.Generic, func() { a.run(wantY, wantD, x) })
	y, d := simdtest.Normal[float64](len(x)+2*guard, 1), simdtest.Normal[float64](len(x)+2*guard, 2)
	y0, d0 := slices.Clone(y), slices.Clone(d)
	copy(y0[guard:], wantY)
	copy(d0[guard:], wantD)
	a.run(y[guard:guard+len(x)], d[guard:guard+len(x)], x)
	simdtest.SameSlice(t, a.name, y, y0)
	simdtest.SameSlice(t, a.name+": derivative", d, d0)
	inPlace := slices.Clone(x)
	a.run(inPlace, d[guard:guard+len(x)], inPlace)
	simdtest.SameSlice(t, a.name+" in place", inPlace, wantY)
}
