package dqds_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/long"
	"revnum/revlinalg/internal/dqds"
)

// valuesBelow returns how many singular values of a bidiagonal matrix are below x: as many as pivots of
// BᵀB - x²·I are negative.
func valuesBelow(d, e []float64, x *big.Float) (below int) {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(x.Prec()).SetFloat64(v) }
	square := new(big.Float).Mul(x, x)
	var pivot *big.Float
	for i := range d {
		p := exact(d[i])
		p.Mul(p, p).Sub(p, square)
		if i > 0 {
			b := exact(e[i-1])
			b.Mul(b, b)
			p.Add(p, b)
			b.Mul(b, exact(d[i-1])).Mul(b, exact(d[i-1]))
			p.Sub(p, b.Quo(b, pivot))
		}
		if p.Sign() == 0 {
			p.SetMantExp(exact(1), -5000)
		}
		if p.Sign() < 0 {
			below++
		}
		pivot = p
	}
	return below
}

// All singular values of bidiagonal matrices are relatively accurate, small ones too.
func TestDqds(t *testing.T) {
	normal := func(rnd *rand.Rand, _, _ int) float64 { return rnd.NormFloat64() }
	log := func(scale float64) func(*rand.Rand, int, int) float64 {
		return func(rnd *rand.Rand, _, _ int) float64 { return math.Exp(scale * rnd.NormFloat64()) }
	}
	falls := func(rnd *rand.Rand, i, n int) float64 { return math.Sqrt(float64(n-i)) + rnd.NormFloat64()/4 }
	grows := func(rnd *rand.Rand, i, n int) float64 { return falls(rnd, n-i, n) }
	down := func(_ *rand.Rand, i, _ int) float64 { return math.Pow(1e-2, float64(i)) }
	up := func(_ *rand.Rand, i, _ int) float64 { return math.Pow(1e3, float64(i)) }
	one := func(*rand.Rand, int, int) float64 { return 1 }
	zero := func(*rand.Rand, int, int) float64 { return 0 }
	zeros := func(_ *rand.Rand, i, _ int) float64 { return float64(i % 3) }
	for name, c := range map[string]struct {
		d, e func(rnd *rand.Rand, i, n int) float64
	}{
		"normal": {normal, normal}, "logarithms": {log(4), log(4)}, "more logarithms": {log(8), log(3)},
		"falls": {falls, falls}, "grows": {grows, grows}, "down": {down, down}, "up": {up, up}, "down and up": {down, up},
		"equal": {one, one}, "diagonal": {normal, zero}, "parts": {one, zeros}, "zeros": {zeros, one}, "nilpotent": {zero, one},
		"clusters": {one, func(*rand.Rand, int, int) float64 { return 1e-9 }}, "all": {zero, zero},
		"far": {func(_ *rand.Rand, i, _ int) float64 { return []float64{1, 1e-100}[i%2] }, down},
	} {
		t.Run(name, func(t *testing.T) {
			var w dqds.Iteration
			for _, n := range []int{1, 2, 3, 5, 12, 25, 4, 7, 30, 45}[:long.Or(10, 6)] {
				rnd := rand.New(rand.NewPCG(31, uint64(n)))
				d, e := make([]float64, n), make([]float64, n)
				for i := range d {
					d[i], e[i] = c.d(rnd, i, n), c.e(rnd, i, n)
				}
				s := slices.Clone(d)
				if !w.Run(s, e) {
					t.Fatalf("order %d does not converge", n)
				}
				slices.Sort(s)
				top := max(s[n-1], math.SmallestNonzeroFloat64)
				for i, v := range s {
					bound := func(eps float64) *big.Float {
						x := new(big.Float).SetPrec(6000).SetFloat64(v)
						x.Add(x, new(big.Float).Mul(x, big.NewFloat(eps)))
						return x.Add(x, new(big.Float).Mul(big.NewFloat(top), big.NewFloat(math.Copysign(0x1p-480, eps))))
					}
					eps := float64(n+10) * 0x1p-53
					if lo := bound(-eps); lo.Sign() > 0 && valuesBelow(d, e, lo) > i || valuesBelow(d, e, bound(eps)) <= i {
						t.Errorf("order %d: %g is not value %d to %g", n, v, i, eps)
					}
				}
			}
		})
	}
}

func TestDqdsNaN(t *testing.T) {
	for _, at := range []int{0, 1, 17, 38, 39, 40, 57, 78} {
		x := slices.Repeat([]float64{1}, 80)
		x[at] = math.NaN()
		var w dqds.Iteration
		if w.Run(x[:40], x[40:]) {
			t.Errorf("converges with NaN at %d", at)
		}
	}
}

// Values that differ by a few units of rounding say little of each other.
func TestDqdsClose(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 0))
	var w dqds.Iteration
	for trial := range 20000 {
		n, u := 3+rnd.IntN(10), math.Ldexp(1, -48-rnd.IntN(6))
		d, e := make([]float64, n), make([]float64, n)
		for i := range d {
			d[i], e[i] = 1+float64(rnd.IntN(10))*u, float64(rnd.IntN(10))*u
		}
		from := trial % 2 // one value is near 0 if the large numbers are beside the diagonal
		if from == 1 {
			d, e = e, d
		}
		s := slices.Clone(d)
		if !w.Run(s, e) {
			t.Fatalf("d %v, e %v: no convergence", d, e)
		}
		slices.Sort(s)
		if s[from] < 1-10*u || s[n-1] > 1+30*u || from == 1 && s[0] > 10*u {
			t.Fatalf("d %v, e %v: values %v", d, e, s)
		}
	}
}
