package band

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/internal/simd/simdtest"
)

// drawn is a chain of n elements with diagonals, and two vectors. y_{-1} is 1, as for the system.
type drawn struct {
	x, y, la []float64
	c        C
	to       int
}

const h = 0.5

func draw(n int) *drawn {
	rnd := rand.New(rand.NewPCG(uint64(n), 3))
	d := &drawn{to: Pad + n}
	for _, v := range []*[]float64{&d.x, &d.y, &d.la, &d.c[0], &d.c[1], &d.c[2], &d.c[3]} {
		*v = make([]float64, n+2*Pad)
	}
	for i := Pad; i < d.to; i++ {
		d.x[i], d.y[i], d.la[i] = rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()
	}
	d.y[Pad-1] = 1
	d.c.Set(d.x, h, Pad, d.to)
	return d
}

// step makes a step of the classical method in four stages.
func (d *drawn) step() []float64 {
	slope := func(y []float64) []float64 {
		z := make([]float64, len(y))
		for i := Pad; i < d.to; i++ {
			z[i] = d.x[i] * y[i-1]
		}
		return z
	}
	plus := func(a float64, k []float64) []float64 {
		z := make([]float64, len(k))
		for i := range z {
			z[i] = d.y[i] + a*k[i]
		}
		return z
	}
	k1 := slope(d.y)
	k2 := slope(plus(h/2, k1))
	k3 := slope(plus(h/2, k2))
	k4 := slope(plus(h, k3))
	y := make([]float64, len(d.y))
	for i := range y {
		y[i] = d.y[i] + h/6*(k1[i]+2*k2[i]+2*k3[i]+k4[i])
	}
	return y
}

func (d *drawn) mul() []float64 {
	y := make([]float64, len(d.y))
	y[Pad-1] = 1
	d.c.Mul(y, d.y, Pad, d.to)
	return y
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 1e-13*(1+math.Abs(v))) {
			t.Fatalf("%s: element %d of %d is %v, want %v", what, i-Pad, len(want)-2*Pad, got[i], v)
		}
	}
}

func dot(x, y []float64) (s float64) {
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

func TestBand(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, chunk, chunk + 1, chunk + 17} {
			d := draw(n)
			y := d.mul()
			near(t, "Mul", y, d.step())

			// λᵀ·B·y is yᵀ·Bᵀ·λ. The transpose has no element for y_{-1}.
			bar := make([]float64, n+2*Pad)
			d.c.MulTrans(bar, d.la, Pad, d.to)
			fixed := 0.0
			for k := range min(4, n) {
				fixed += d.c[k][Pad+k] * d.la[Pad+k]
			}
			if got, want := dot(bar, d.y)+fixed, dot(y, d.la); !(math.Abs(got-want) <= 1e-12*float64(n)) {
				t.Errorf("MulTrans of %d: %v, want %v", n, got, want)
			}
			for i, v := range bar {
				if v != 0 && (i < Pad || i >= d.to) {
					t.Errorf("MulTrans of %d wrote element %d", n, i-Pad)
				}
			}

			// B is linear in each x, so differences of λᵀ·B·y are derivatives.
			grad := make([]float64, n+2*Pad)
			d.c.Outer(grad, d.y, d.la, h, Pad, d.to)
			for i := Pad; i < d.to; i += 1 + n/40 {
				e := draw(n)
				e.x[i]++
				e.c.Set(e.x, h, Pad, e.to)
				lo, hi := max(Pad, i-1), min(d.to, i+8)
				if want := dot(e.mul()[lo:hi], d.la[lo:hi]) - dot(y[lo:hi], d.la[lo:hi]); !(math.Abs(grad[i]-want) <= 1e-12) {
					t.Errorf("Outer of %d: element %d is %v, want %v", n, i-Pad, grad[i], want)
				}
			}

			if n <= 33 {
				d.c.Solve(y, Pad, d.to)
				near(t, "Solve", y, d.y)
			}
		}
	})
}

// Parts of a vector are what the whole is.
func TestParts(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		d := draw(50)
		want := make([]float64, len(d.y))
		d.c.MulTrans(want, d.la, Pad, d.to)
		for from := Pad; from < d.to; from++ {
			got := make([]float64, len(d.y))
			d.c.MulTrans(got, d.la, from, d.to)
			near(t, "MulTrans", got[from:], want[from:])
			d.c.Set(d.x, h, from, d.to)
		}
		near(t, "Set", d.mul(), d.step())
	})
}

func BenchmarkMul(b *testing.B) {
	for _, n := range []int{40, 400, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := draw(n)
			dst := make([]float64, len(d.y))
			for b.Loop() {
				d.c.Mul(dst, d.y, Pad, d.to)
			}
			b.ReportMetric(8*float64(b.N*n)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
