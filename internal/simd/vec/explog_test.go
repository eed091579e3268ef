package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// References of 200 bits and more.

const refPrec = 256

func newBig(x float64) *big.Float { return new(big.Float).SetPrec(refPrec).SetFloat64(x) }

// bigLn2 is ln 2 = 2·atanh(1/3) = Σ 2/((2i+1)·3²ⁱ⁺¹).
var bigLn2 = func() *big.Float {
	sum, power, nine := newBig(0), newBig(2), newBig(9)
	power.Quo(power, newBig(3))
	for i := 0; i < 170; i += 2 {
		sum.Add(sum, newBig(0).Quo(power, newBig(float64(i+1))))
		power.Quo(power, nine)
	}
	return sum
}()

// bigExp returns exp(x): (exp(r/2⁸))^(2⁸)·2ⁿ with r = x - n·ln2, by Taylor's series.
func bigExp(x *big.Float) *big.Float {
	q, _ := newBig(0).Quo(x, bigLn2).Float64()
	n := math.RoundToEven(q)
	r := newBig(0).Sub(x, newBig(0).Mul(newBig(n), bigLn2))
	if r.Sign() != 0 {
		r.SetMantExp(r, -8)
	}
	sum, term := newBig(1), newBig(1)
	for i := 1; i < 25; i++ {
		term.Mul(term, r)
		term.Quo(term, newBig(float64(i)))
		sum.Add(sum, term)
	}
	for range 8 {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(n))
}

// bigLog returns log(x) for x > 0. With x = m·2ᵏ and y near log(m), it iterates
// y + 2·(m - eʸ)/(m + eʸ), which triples the number of correct digits.
func bigLog(x float64) *big.Float {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	y := newBig(math.Log1p(m - 1))
	for range 2 {
		e := bigExp(y)
		d := newBig(0).Sub(newBig(m), e)
		d.Quo(d, e.Add(e, newBig(m)))
		y.Add(y, d.SetMantExp(d, 1))
	}
	return y.Add(y, newBig(0).Mul(newBig(float64(k)), bigLn2))
}

// ulps returns |got - want| in units in the last place of want in the format of T. An
// infinite got counts as the first power of two that overflows. It is right for every want
// beyond that power.
func ulps[T cpu.Float](got T, want *big.Float) float64 {
	digits, least, overflow := 53, -1074, 1024
	if !cpu.Is64[T]() {
		digits, least, overflow = 24, -149, 128
	}
	g := newBig(1)
	switch f := float64(got); {
	case math.IsNaN(f):
		return math.Inf(1)
	case math.IsInf(f, 0):
		if want.MantExp(nil) > overflow && want.Signbit() == (f < 0) {
			return 0
		}
		g.SetMantExp(g, overflow)
		if f < 0 {
			g.Neg(g)
		}
	default:
		g.SetFloat64(f)
	}
	unit := max(want.MantExp(nil)-digits, least)
	if want.Sign() == 0 {
		unit = least
	}
	d := g.Sub(g, want)
	if d.Sign() == 0 {
		return 0
	}
	u, _ := d.Abs(d).SetMantExp(d, -unit).Float64()
	return u
}

// samples returns arguments over the range of a function. Some are uniform in each of the
// intervals, others have uniform bits.
func samples[T cpu.Float](rnd *rand.Rand, n int, intervals [][2]float64, at ...float64) []T {
	var x []T
	for _, v := range intervals {
		for range n {
			x = append(x, T(v[0]+(v[1]-v[0])*rnd.Float64()))
		}
	}
	for range n {
		if cpu.Is64[T]() {
			x = append(x, T(math.Float64frombits(rnd.Uint64())))
		} else {
			x = append(x, T(math.Float32frombits(rnd.Uint32())))
		}
	}
	for _, v := range at {
		for t, i := T(v), 0; i < 20; i++ {
			x = append(x, t, -t)
			t = nextAfter(t, math.Inf(1))
		}
		for t, i := T(v), 0; i < 20; i++ {
			t = nextAfter(t, math.Inf(-1))
			x = append(x, t, -t)
		}
	}
	return x
}

func nextAfter[T cpu.Float](x T, to float64) T {
	if cpu.Is64[T]() {
		return T(math.Nextafter(float64(x), to))
	}
	return T(math.Nextafter32(float32(x), float32(to)))
}

// maxUlps compares y with the reference if that is finite, and with the function of package
// math otherwise.
func maxUlps[T cpu.Float](t *testing.T, name string, x, y []T, bound float64, ref func(x float64) *big.Float, special func(x float64) (float64, bool)) {
	t.Helper()
	worst, at := 0., T(0)
	for i, v := range x {
		if want, ok := special(float64(v)); ok {
			if !simdtest.Same(y[i], T(want)) {
				t.Errorf("%s(%v) = %v, want %v", name, v, y[i], want)
			}
			continue
		}
		if u := ulps(y[i], ref(float64(v))); u > worst {
			worst, at = u, v
		}
	}
	t.Logf("%s of %T: %.4f ulp at %v", name, at, worst, at)
	if !(worst <= bound) {
		t.Errorf("%s(%v) is off by %.4f ulp, bound %v", name, at, worst, bound)
	}
}

func TestExpAccuracy(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testExpAccuracy[float64](t, 0.65, [][2]float64{{-708, 709}, {-20, 1}, {-0.4, 0.4}, {709, 709.79}},
			0, 1e-300, 1e-17, math.Ln2/2, 1, math.Ln2, 709.70, 709.75, 709.78, 709.782712893384, 710)
		testExpAccuracy[float32](t, 0.57, [][2]float64{{-87, 88}, {-20, 1}, {-0.4, 0.4}, {88, 88.8}},
			0, 1e-40, 1e-8, math.Ln2/2, 1, math.Ln2, 88.722839)
		testExpSubnormal[float64](t, 0.85, [][2]float64{{-746, -708}}, -745.1332191019411, -744.4400719213812, -708.3964185322641)
		testExpSubnormal[float32](t, 1.06, [][2]float64{{-104, -87}}, -103.97208, -103.27893, -87.336548)
	})
}

func expSpecial(x float64) (float64, bool) {
	switch {
	case math.IsNaN(x):
		return x, true
	case x > 1e4:
		return math.Inf(1), true
	case x < -1e4:
		return 0, true
	}
	return 0, false
}

func testExpAccuracy[T cpu.Float](t *testing.T, bound float64, in [][2]float64, at ...float64) {
	t.Helper()
	x := samples[T](rand.New(rand.NewPCG(1, 2)), sampleCount(), in, at...)
	normal := x[:0]
	for _, v := range x {
		if lo := T(-708.3); !(v < lo || !cpu.Is64[T]() && v < -87.3) || v < -1e4 {
			normal = append(normal, v)
		}
	}
	y := make([]T, len(normal))
	Exp(y, normal)
	maxUlps(t, "exp", normal, y, bound, func(x float64) *big.Float { return bigExp(newBig(x)) }, expSpecial)
}

func testExpSubnormal[T cpu.Float](t *testing.T, bound float64, in [][2]float64, at ...float64) {
	t.Helper()
	x := samples[T](rand.New(rand.NewPCG(3, 4)), sampleCount(), in, at...)
	below := x[:0]
	for _, v := range x {
		if v < 0 && v > -1e4 {
			below = append(below, v)
		}
	}
	y := make([]T, len(below))
	Exp(y, below)
	maxUlps(t, "exp", below, y, bound, func(x float64) *big.Float { return bigExp(newBig(x)) }, expSpecial)
}

func TestLogAccuracy(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testLogAccuracy[float64](t, 0.8, [][2]float64{{0.5, 2}, {0.99, 1.01}, {0, 1e-307}, {0, 1e-310}, {0, 1000}, {1e307, math.MaxFloat64}},
			5e-324, 0x1p-1022, math.Sqrt2/2, math.Sqrt2, 1, 2, math.E, math.MaxFloat64)
		testLogAccuracy[float32](t, 0.87, [][2]float64{{0.5, 2}, {0.99, 1.01}, {0, 1e-37}, {0, 1e-40}, {0, 1000}, {1e37, math.MaxFloat32}},
			1e-45, 0x1p-126, math.Sqrt2/2, math.Sqrt2, 1, 2, math.E, math.MaxFloat32)
	})
}

func testLogAccuracy[T cpu.Float](t *testing.T, bound float64, in [][2]float64, at ...float64) {
	t.Helper()
	x := samples[T](rand.New(rand.NewPCG(5, 6)), sampleCount(), in, at...)
	y := make([]T, len(x))
	Log(y, x)
	maxUlps(t, "log", x, y, bound, bigLog, func(x float64) (float64, bool) {
		if x > 0 && !math.IsInf(x, 1) {
			return 0, false
		}
		return math.Log(x), true
	})
}

func sampleCount() int { return long.Or(2000, 200) }
