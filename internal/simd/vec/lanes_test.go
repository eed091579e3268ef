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

// A lane is a function of float32, with the same of float64, which other tests compare with
// math/big. Values are within value units in the last place. Derivatives are within slope·2⁻²⁴ of
// the sum of the magnitudes of their terms, and within units in the last place of that sum, where both are normal numbers.
type lane struct {
	name                string
	f32                 func(y, d, x []float32)
	f64                 func(y, d, x []float64)
	value, slope, units float64
	product             bool // of x and a function, which is one term of the derivative
}

func valueOnly[T cpu.Float](f func(dst, x []T)) func(y, d, x []T) {
	return func(y, d, x []T) {
		f(y, x)
		clear(d)
	}
}

var lanes = []lane{
	{"exp", valueOnly(Exp[float32]), valueOnly(Exp[float64]), 0.6, 0, 0, false},
	{"log", valueOnly(Log[float32]), valueOnly(Log[float64]), 0.94, 0, 0, false},
	{"sin", valueOnly(Sin[float32]), valueOnly(Sin[float64]), 1.6, 0, 0, false},
	{"cos", valueOnly(Cos[float32]), valueOnly(Cos[float64]), 1.6, 0, 0, false},
	{"tan", Tan[float32], Tan[float64], 3, 6, 6, false},
	{"expm1", Expm1[float32], Expm1[float64], 1.2, 1.2, 0.6, false},
	{"log1p", Log1p[float32], Log1p[float64], 0.94, 1.6, 1.6, false},
	{"erf", Erf[float32], Erf[float64], 1.2, 2.8, 2.5, false},
	{"sigmoid", Sigmoid[float32], Sigmoid[float64], 1.6, 3, 3, false},
	{"tanh", Tanh[float32], Tanh[float64], 3, 5, 5, false},
	{"softplus", Softplus[float32], Softplus[float64], 2, 2, 1.6, false},
	{"GELU", GELU[float32], GELU[float64], 5, 3.2, 3, true},
	{"SiLU", SiLU[float32], SiLU[float64], 2.5, 3.2, 3, true},
}

// unitOf returns a unit in the last place of a float32 near w.
func unitOf(w float64) float64 {
	_, e := math.Frexp(w)
	return math.Ldexp(1, max(e-24, -149))
}

// TestLanes compares functions of float32 with those of float64, for an even selection of all
// float32, and checks that all tiers have the same bits. Strides are primes.
func TestLanes(t *testing.T) {
	stride := uint32(50021)
	if testing.Short() {
		stride = 100003
	} else if long.Tests() {
		stride = 509
	}
	const (
		block = 1 << 12
		least = 0x1p-120 // of a result whose intermediate values are normal numbers
	)
	x, y, d, y0, d0 := make([]float32, block), make([]float32, block), make([]float32, block), make([]float32, block), make([]float32, block)
	wide, want, slope := make([]float64, block), make([]float64, block), make([]float64, block)
	for _, f := range lanes {
		var worst, worstSlope, worstUnits float64
		var at, atSlope float32
		for first, done := uint32(0), false; !done; {
			for i := range x {
				x[i] = math.Float32frombits(first)
				wide[i] = float64(x[i])
				done = done || first+stride < first
				first += stride
			}
			f.f64(want, slope, wide)
			simdtest.OnTier(&tier, cpu.Generic, func() { f.f32(y0, d0, x) })
			for at := cpu.AVX2; at <= cpu.Best(); at++ {
				simdtest.OnTier(&tier, at, func() { f.f32(y, d, x) })
				simdtest.SameSlice(t, f.name, y, y0)
				simdtest.SameSlice(t, f.name+": derivative", d, d0)
			}
			for i, w := range want {
				if e := math.Abs(float64(y0[i])-w) / unitOf(w); e > worst && !simdtest.Same(y0[i], float32(w)) && math.Abs(w) >= least {
					worst, at = e, x[i]
				} else if e != e && !simdtest.Same(y0[i], float32(w)) {
					t.Fatalf("%s(%v) = %v, want %v", f.name, x[i], y0[i], w)
				} else if math.Abs(w) < least && e > 1<<6 {
					t.Fatalf("%s(%v) = %v, want %v", f.name, x[i], y0[i], w)
				}
				terms := math.Abs(slope[i])
				if f.product {
					terms = w/wide[i] + math.Abs(slope[i]-w/wide[i])
				}
				if math.Abs(slope[i]) >= least {
					e := math.Abs(float64(d0[i]) - slope[i])
					if !simdtest.Same(d0[i], float32(slope[i])) {
						worstUnits = max(worstUnits, e/unitOf(terms))
						if e /= 0x1p-24 * terms; !(e <= worstSlope) {
							worstSlope, atSlope = e, x[i]
						}
					}
				} else if !(math.Abs(float64(d0[i])-slope[i]) <= 0x1p-126) && !simdtest.Same(d0[i], float32(slope[i])) {
					t.Fatalf("%s′(%v) = %v, want %v", f.name, x[i], d0[i], slope[i])
				}
			}
		}
		t.Logf("%s: %.4f units at %v, derivative %.4f at %v, %.4f units", f.name, worst, at, worstSlope, atSlope, worstUnits)
		if !(worst <= f.value && worstSlope <= f.slope && worstUnits <= f.units) {
			t.Errorf("%s is off by %.4f units at %v, bound %v; its derivative by %.4f at %v, bound %v", f.name, worst, at, f.value, worstSlope, atSlope, f.slope)
		}
	}
}

// TestGELUParts compares GELU with that of float64 on both sides of the bounds of its polynomials, in every tier.
func TestGELUParts(t *testing.T) {
	const around = 64
	var x []float32
	for _, bound := range []float32{1, 2, 3, 5, 7, 9, 11, 14.5} {
		for b := range uint32(2*around + 1) {
			v := math.Float32frombits(math.Float32bits(bound) - around + b)
			x = append(x, v, -v)
		}
	}
	wide, want, slope := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	GELU(want, slope, wide)
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		y, d, sum := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
		GELU(y, d, x)
		AddGELU(sum, 1, x)
		for i, w := range want {
			cdf := w / wide[i]
			bound, slopeBound := 5*unitOf(w), 3.2*0x1p-24*(cdf+math.Abs(slope[i]-cdf))
			if wide[i] < -12.5 { // where exponentials are not normal numbers
				bound, slopeBound = 0x1p-126, 0x1p-126
			}
			if !(math.Abs(float64(y[i])-w) <= bound && math.Abs(float64(d[i])-slope[i]) <= slopeBound) || sum[i] != y[i] {
				t.Errorf("GELU(%v) = %v and %v, want %v and %v; added, it is %v", x[i], y[i], d[i], w, slope[i], sum[i])
			}
		}
	})
}

// TestMultiplyAdd compares the multiply-adds of zgeneric.go over float32 with sums that are rounded once.
func TestMultiplyAdd(t *testing.T) {
	check := func(x, y, z float32) {
		p, z64 := float64(float64(x)*float64(y)), float64(z) // as _gen writes it
		s := p + z64
		want := float32(s)
		if exact := new(big.Float).SetPrec(1000); s != 0 && s-s == 0 { // otherwise one rounding is enough
			want, _ = exact.Add(exact.SetFloat64(p), big.NewFloat(z64)).Float32()
		}
		if halfway(s) {
			s = toOdd(s, p, z64)
		}
		if got := float32(s); !simdtest.Same(got, want) || math.Signbit(float64(got)) != math.Signbit(float64(want)) && want == want {
			t.Fatalf("%x·%x + %x is %x, want %x", x, y, z, got, want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func() float32 {
		edges := [...]uint32{0, 0x00400000, 0x00800000, 0x3f800000, 0x7f000000, 0x7f800000} // 0, subnormal and normal, 1, large, Inf
		switch b := rnd.Uint32(); rnd.IntN(3) {
		case 0:
			return math.Float32frombits(b)
		case 1:
			return math.Float32frombits(edges[rnd.IntN(len(edges))] + b%9 - 4)
		default:
			return math.Float32frombits(0x3f000000 + b%(1<<24)) // 0.5 to 2
		}
	}
	for range long.Or(200_000, 20_000) {
		sign := float32(1 - 2*rnd.IntN(2))
		check(sign*number(), number(), float32(1-2*rnd.IntN(2))*number())
	}
	// The product is 2^e·(1 - 2a²/2⁴⁷), where 2^e is half a unit of some z.
	for a := 0; a < 3000; a += long.Or(1, 7) {
		for e := -153; e <= -145; e++ {
			x, y := float32(math.Ldexp(float64(1<<23+a), -90)), float32(math.Ldexp(float64(1<<24-2*a), e-47+90))
			for _, z := range []float32{
				0x1p-149, 0x1p-127, 0x1p-127 + 0x1p-149,
				float32(math.Ldexp(1<<23, e+1)), float32(math.Ldexp(1<<23+1, e+1)),
			} {
				check(x, y, z)
				check(-x, y, z)
			}
		}
	}
}
