package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestSinCos(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testSinCos[float64](t)
		testSinCos[float32](t)
	})
}

// testSinCos checks that all tiers give the bits of the generic one.
func testSinCos[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 3))
	for n := range 70 {
		x := make([]T, n)
		for i := range x {
			switch rnd.IntN(8) {
			case 0:
				x[i] = T(hostile[rnd.IntN(len(hostile))])
			case 1:
				x[i] = T(math.Pi / 4 * float64(rnd.IntN(1<<22)-1<<21))
			default:
				x[i] = T(8 * rnd.NormFloat64())
			}
			if rnd.IntN(3) > 0 && !(math.Abs(float64(x[i])) < 1<<20) {
				x[i] = 1 // otherwise hardly any call would have only small angles
			}
		}
		sin, cos, wantSin, wantCos := make([]T, n), make([]T, n), make([]T, n), make([]T, n)
		genericSinCos(wantSin, wantCos, x)
		SinCos(sin, cos, x)
		simdtest.SameSlice(t, "sin", sin, wantSin)
		simdtest.SameSlice(t, "cos", cos, wantCos)
		copy(cos, x)
		SinCos(sin, cos, cos)
		simdtest.SameSlice(t, "sin of cos", sin, wantSin)
		simdtest.SameSlice(t, "cos in place", cos, wantCos)
		SinCos(x, cos, x)
		simdtest.SameSlice(t, "sin in place", x, wantSin)
		simdtest.SameSlice(t, "cos of sin", cos, wantCos)
	}
}

// TestSinCosAccuracy checks that the generic tier is within its bound.
func TestSinCosAccuracy(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 4))
	for i := range 10 * sampleCount() {
		x := 4 * rnd.NormFloat64()
		switch i % 4 {
		case 0:
			x = math.Ldexp(2*rnd.Float64()-1, rnd.IntN(1025))
		case 1: // near multiples of π/2
			x = math.Pi/2*float64(rnd.IntN(600_000)) + math.Ldexp(rnd.NormFloat64(), -rnd.IntN(60))
		case 2: // nearest to such multiples
			k := new(big.Float).SetFloat64(math.Ldexp(rnd.Float64(), rnd.IntN(1023)))
			half := new(big.Float).SetMantExp(bigPi(), -1)
			x, _ = k.Mul(half, k).Float64()
		}
		if i == 0 {
			x = math.Ldexp(6381956970095103, 797) // nearest of all doubles
		}
		sin, cos := sinCosOf(x)
		wantSin, wantCos := bigSinCos(x)
		for _, v := range []struct {
			name string
			got  float64
			want *big.Float
		}{{"sin", sin, wantSin}, {"cos", cos, wantCos}} {
			w, _ := v.want.Float64()
			ulp := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
			d, _ := new(big.Float).Sub(v.want, big.NewFloat(v.got)).Float64()
			if !(math.Abs(d) <= 1.5*ulp) {
				t.Fatalf("%s(%v) = %v, want %v: off by %.3g units", v.name, x, v.got, w, d/ulp)
			}
		}
	}
}

// bigPi is π to 1400 bits, by Machin's formula.
var bigPi = sync.OnceValue(func() *big.Float {
	const prec = 1400
	arctan := func(n int64) *big.Int { // of 1/n, times 2^prec
		power := new(big.Int).Lsh(big.NewInt(1), prec)
		power.Quo(power, big.NewInt(n))
		sum := new(big.Int)
		for k := int64(1); power.Sign() != 0; k += 2 {
			term := new(big.Int).Quo(power, big.NewInt(k))
			if k%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, big.NewInt(n*n))
		}
		return sum
	}
	pi := arctan(5)
	pi.Sub(pi.Mul(pi, big.NewInt(16)), new(big.Int).Mul(arctan(239), big.NewInt(4)))
	f := new(big.Float).SetPrec(prec).SetInt(pi)
	return f.SetMantExp(f, -prec)
})

// bigSinCos returns sine and cosine. It sums their series at an angle 2⁻¹⁰ as large and
// doubles the angle ten times.
func bigSinCos(x float64) (sin, cos *big.Float) {
	const prec = 320
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	wide := new(big.Float).SetPrec(1400).SetFloat64(x)
	turn := new(big.Float).Add(bigPi(), bigPi())
	turns, _ := new(big.Float).Quo(wide, turn).Int(nil)
	wide.Sub(wide, turn.Mul(turn, new(big.Float).SetInt(turns)))
	r := num(0).Set(wide)
	r.SetMantExp(r, -10)
	z := num(0).Mul(r, r)
	sin, v := num(0), num(0) // v is 1 - cos
	term := num(1)
	for n := 1.; n < 60; n += 2 {
		// term is ±r^(n-1)/(n-1)!
		sin.Add(sin, num(0).Quo(num(0).Mul(term, r), num(n)))
		term.Mul(term, z)
		term.Quo(term, num(-n*(n+1)))
		v.Sub(v, term)
	}
	for range 10 {
		// 1 - cos 2r = 2·sin²r, sin 2r = 2·sin r·cos r
		c := num(1)
		c.Sub(c, v)
		v.Mul(sin, sin)
		v.Mul(v, num(2))
		sin.Mul(sin, c)
		sin.Mul(sin, num(2))
	}
	cos = num(1)
	return sin, cos.Sub(cos, v)
}

func BenchmarkSinCos(b *testing.B) {
	const n = 1000
	x, sin, cos := simdtest.Normal[float64](n, 1), make([]float64, n), make([]float64, n)
	benchmarkTiers(b, "SinCos", n, func() { SinCos(sin, cos, x) }, func() {
		for i, v := range x {
			sin[i], cos[i] = math.Sincos(v)
		}
	})
}
