package borrowed

import (
	std "math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestBorrowed compares gradients with differences of values, and products with Hessians with differences of gradients.
func TestBorrowed(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(p []float64) float64
		g    func(grad, p []float64) float64
		h    func(dst, p, v []float64)
	}{
		{"distributions", distributions, distributionsGradient, distributionsHessVec},
		{"statistics", statistics, statisticsGradient, statisticsHessVec},
		{"geometry", geometry, geometryGradient, geometryHessVec},
		{"interpolated", interpolated, interpolatedGradient, interpolatedHessVec},
		{"raw", raw, rawGradient, rawHessVec},
		{"solved", solved, solvedGradient, solvedHessVec},
		{"newton", newton, newtonGradient, newtonHessVec},
		{"returned", returned, returnedGradient, returnedHessVec},
		{"iterated", iterated, iteratedGradient, iteratedHessVec},
		{"interfaces", interfaces, interfacesGradient, interfacesHessVec},
		{"spelled", spelled, spelledGradient, spelledHessVec},
		{"hidden", hidden, hiddenGradient, hiddenHessVec},
		{"again", again, againGradient, againHessVec},
		{"failures", failures, failuresGradient, failuresHessVec},
		{"makers", makers, makersGradient, makersHessVec},
		{"named", named, namedGradient, namedHessVec},
		{"rows", rows, rowsGradient, rowsHessVec},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(3) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				p, v := make([]float64, 12), make([]float64, 12)
				for i := range p {
					p[i], v[i] = 0.5+0.4*rnd.Float64()+0.1*float64(i), rnd.NormFloat64()
				}
				grad, dst := make([]float64, len(p)), make([]float64, len(p))
				if got, want := c.g(grad, p), c.f(p); std.Abs(got-want) > 1e-12*std.Abs(want) {
					t.Fatalf("value %v, want %v", got, want)
				}
				c.h(dst, p, v)
				at := func(h float64, by []float64) []float64 {
					q := slices.Clone(p)
					for i := range q {
						q[i] += h * by[i]
					}
					return q
				}
				slope := func(h float64) []float64 {
					g := make([]float64, len(p))
					c.g(g, at(h, v))
					return g
				}
				// fourth is a difference of fourth order, of values at ±h and ±h/2.
				const h = 2e-4
				fourth := func(up, down, halfUp, halfDown float64) float64 {
					return (4*(halfUp-halfDown)/h - (up-down)/(2*h)) / 3
				}
				a, b, d, e := slope(h), slope(-h), slope(h/2), slope(-h/2)
				for i := range p {
					by := make([]float64, len(p))
					by[i] = 1
					want := fourth(c.f(at(h, by)), c.f(at(-h, by)), c.f(at(h/2, by)), c.f(at(-h/2, by)))
					if !(std.Abs(grad[i]-want) <= 1e-7*(1+std.Abs(want))) {
						t.Errorf("seed %d: derivative by p[%d] is %v, want %v", seed, i, grad[i], want)
					}
					if want := fourth(a[i], b[i], d[i], e[i]); !(std.Abs(dst[i]-want) <= 1e-6*(1+std.Abs(want))) {
						t.Errorf("seed %d: (H·v)[%d] is %v, want %v", seed, i, dst[i], want)
					}
				}
			}
		})
	}
}

// TestStrided has a matrix with gaps between its rows.
func TestStrided(t *testing.T) {
	m := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).Slice(0, 2, 1, 3).(*mat.Dense)
	var grad mat.Dense
	if got := stridedGradient(&grad, m); got != 28 || strided(m) != 28 || grad.At(1, 1) != 4 {
		t.Errorf("got %v with the derivative %v, want 28 and 4", got, grad.At(1, 1))
	}
}
