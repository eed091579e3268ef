package cells

import (
	"math"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// The vector loops agree with the generic ones, also over several calls of assembly.
func TestTiers(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, ld := range []int{Lanes, 3 * Lanes} {
			for _, steps := range []int{0, 1, 2, 7, most, most + 3} {
				x, w := simdtest.Normal[float64](steps*ld, 1), simdtest.Normal[float64](Weights*ld, 2)
				h, c := simdtest.Normal[float64]((steps+1)*ld, 3), simdtest.Normal[float64]((steps+1)*ld, 4)
				wantH, wantC := slices.Clone(h), slices.Clone(c)
				Forward(x, h, c, w, steps, ld)
				genericForward(x, wantH, wantC, w, steps, ld)
				near(t, "h", h, wantH)
				near(t, "c", c, wantC)
				d, g := simdtest.Normal[float64](steps*ld, 5), simdtest.Normal[float64](Bars*ld, 6)
				wantD, wantG := slices.Clone(d), slices.Clone(g)
				Backward(x, h, c, d, w, g, steps, ld)
				genericBackward(x, h, c, wantD, w, wantG, steps, ld)
				near(t, "d", d, wantD)
				near(t, "g", g, wantG)
			}
		}
	})
}

func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) && !simdtest.Same(got[i], want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

// Gates are right where exponentials overflow, and a NaN shows.
func TestExtremes(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, v := range []float64{0, 1e-300, 30, 700, 720, 1e4, 1e300, math.Inf(1)} {
			for _, x := range []float64{v, -v} {
				xs, h, c, w := make([]float64, Lanes), make([]float64, 2*Lanes), make([]float64, 2*Lanes), make([]float64, Weights*Lanes)
				xs[5], w[5], w[7*Lanes+5], c[5] = x, 1, -x, 1 // forget gate and change
				wantH, wantC := slices.Clone(h), slices.Clone(c)
				Forward(xs, h, c, w, 1, Lanes)
				genericForward(xs, wantH, wantC, w, 1, Lanes)
				near(t, "c", c, wantC)
				near(t, "h", h, wantH)
			}
		}
		for lane := range Lanes {
			xs, h, c, w := make([]float64, Lanes), make([]float64, 2*Lanes), make([]float64, 2*Lanes), make([]float64, Weights*Lanes)
			xs[lane] = math.NaN()
			Forward(xs, h, c, w, 1, Lanes)
			for i, v := range h[Lanes:] {
				if math.IsNaN(v) != (i == lane) {
					t.Fatalf("NaN in cell %d: h of %d is %v", lane, i, v)
				}
			}
		}
	})
}

func TestPanics(t *testing.T) {
	x := make([]float64, 100*Lanes)
	for name, f := range map[string]func(){
		"ld":    func() { Forward(x, x, x, x, 1, Lanes+1) },
		"x":     func() { Forward(x[:Lanes-1], x, x, x, 1, Lanes) },
		"h":     func() { Forward(x, x[:2*Lanes-1], x, x, 1, Lanes) },
		"c":     func() { Forward(x, x, x[:2*Lanes-1], x, 1, Lanes) },
		"w":     func() { Forward(x, x, x, x[:Weights*Lanes-1], 1, Lanes) },
		"d":     func() { Backward(x, x, x, x[:Lanes-1], x, x, 1, Lanes) },
		"g":     func() { Backward(x, x, x, x, x, x[:Bars*Lanes-1], 1, Lanes) },
		"steps": func() { Forward(x, x, x, x, -1, Lanes) },
	} {
		if !simdtest.Panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

// BenchmarkCells reports the time of a step of a block.
func BenchmarkCells(b *testing.B) {
	const steps = 1024
	x, w := simdtest.Normal[float64](steps*Lanes, 1), simdtest.Normal[float64](Weights*Lanes, 2)
	h, c := make([]float64, (steps+1)*Lanes), make([]float64, (steps+1)*Lanes)
	d, g := make([]float64, steps*Lanes), make([]float64, Bars*Lanes)
	for at := cpu.Generic; at <= cpu.Best(); at++ {
		simdtest.OnTier(&tier, at, func() {
			b.Run(at.String()+"/forward", func(b *testing.B) {
				for b.Loop() {
					Forward(x, h, c, w, steps, Lanes)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
			})
			b.Run(at.String()+"/backward", func(b *testing.B) {
				for b.Loop() {
					Backward(x, h, c, d, w, g, steps, Lanes)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
			})
		})
	}
}
