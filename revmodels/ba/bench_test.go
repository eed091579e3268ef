package ba

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
	"revnum/internal/simd/vec"
	"revnum/rev"
	"revnum/revsparse"
)

// cases are the sizes of ADBench's ba1 to ba5: cameras, points, observations.
var cases = [][3]int{
	{49, 7776, 31843}, {21, 11315, 36455}, {161, 48126, 182072}, {372, 47423, 204472}, {257, 65132, 225911},
}

// adbenchLike returns a problem of that size, in which observation i is of camera
// i mod n and of point i mod m as in ADBench, or of random ones.
func adbenchLike(n, m, p int, random bool) Weighted[float64] {
	rnd := rand.New(rand.NewPCG(1, 1))
	k := Weighted[float64]{
		R: rev.ViewSlice(make([]float64, 2*p)), Z: rev.ViewSlice(make([]float64, p)),
		Cameras: rev.NewGeneral[float64](n, 11, nil), Points: rev.NewGeneral[float64](m, 3, nil),
		Weights: rev.ViewSlice(make([]float64, p)), Features: rev.NewGeneral[float64](p, 2, nil),
		Camera: make([]int, p), Point: make([]int, p), Workers: 1,
	}
	for i := range n {
		copy(k.Cameras.Row(i), []float64{-0.758453, -1.109613, -0.845551, 34.556073, 39.676747, 53.881673, 419.194514, 5.864426, -8.51887, 0.087812, 0.002739})
	}
	for i := range m {
		copy(k.Points.Row(i), []float64{7.203245, 0.001144, 3.023326})
	}
	fill(rnd, k.Weights.Data)
	fill(rnd, k.Features.Data)
	for i := range p {
		k.Camera[i], k.Point[i] = i%n, i%m
		if random {
			k.Camera[i], k.Point[i] = rnd.IntN(n), rnd.IntN(m)
		}
	}
	return k
}

// benchmark reports nanoseconds for each observation, and the rate at which it writes
// as a fraction of the triad's.
func benchmark(b *testing.B, bytes int, run func(k *Weighted[float64], j rev.General[float64], dz rev.Vector[float64])) {
	memory := triad()
	for _, c := range cases {
		for _, random := range []bool{false, true} {
			n, m, p := c[0], c[1], c[2]
			k := adbenchLike(n, m, p, random)
			values := make([]float64, 31*p)
			j, dz := rev.NewGeneral(2*p, 15, values[:30*p]), rev.ViewSlice(values[30*p:])
			b.Run(fmt.Sprintf("n=%d/m=%d/p=%d/random=%v", n, m, p, random), func(b *testing.B) {
				for b.Loop() {
					run(&k, j, dz)
				}
				seconds := b.Elapsed().Seconds() / float64(b.N) / float64(p)
				b.ReportMetric(1e9*seconds, "ns/observation")
				b.ReportMetric(float64(bytes)/seconds/memory, "ofTriad")
			})
		}
	}
}

// triad returns the bytes a second of the triad in memory.
func triad() (best float64) {
	const n = 4 << 20
	x := make([]float64, 3*n)
	for i := range x {
		x[i] = 1
	}
	for range 5 {
		start := time.Now()
		bytes := vec.Triad(x[:n], x[n:2*n], 0.5, x[2*n:])
		best = max(best, float64(bytes)/time.Since(start).Seconds())
	}
	return best
}

func BenchmarkWeightedForward(b *testing.B) {
	benchmark(b, 8*3, func(k *Weighted[float64], _ rev.General[float64], _ rev.Vector[float64]) { _ = k.Forward() })
}

func BenchmarkWeightedJacobian(b *testing.B) {
	benchmark(b, 8*(3+31), func(k *Weighted[float64], j rev.General[float64], dz rev.Vector[float64]) { _ = k.Jacobian(j, dz) })
}

// BenchmarkWeightedCSR measures the structure of the Jacobian without its values.
func BenchmarkWeightedCSR(b *testing.B) {
	var a revsparse.CSR[float64, int32]
	benchmark(b, 4*34, func(k *Weighted[float64], _ rev.General[float64], _ rev.Vector[float64]) { k.CSRTo(&a) })
}

func BenchmarkWeightedAdjoint(b *testing.B) {
	g := map[int]Weighted[float64]{}
	benchmark(b, 8*3, func(k *Weighted[float64], _ rev.General[float64], _ rev.Vector[float64]) {
		p := len(k.Camera)
		if _, ok := g[p]; !ok {
			g[p] = adbenchLike(k.Cameras.Rows, k.Points.Rows, p, false)
		}
		_ = k.Adjoint(g[p])
	})
}

func BenchmarkWeightedTangent(b *testing.B) {
	t := map[int]Weighted[float64]{}
	benchmark(b, 8*6, func(k *Weighted[float64], _ rev.General[float64], _ rev.Vector[float64]) {
		p := len(k.Camera)
		if _, ok := t[p]; !ok {
			t[p] = adbenchLike(k.Cameras.Rows, k.Points.Rows, p, false)
		}
		_ = k.Tangent(t[p])
	})
}

// peakBlock does multiply-adds on registers for some microseconds.
type peakBlock struct{}

func (peakBlock) Block(_, _ int) { cpu.PeakFMA[float64](4096) }

// BenchmarkTwoWorkers reports how many times faster two workers are than one, and how
// many times faster two cores do multiply-adds than one in the same run: medians of
// runs in turn.
func BenchmarkTwoWorkers(b *testing.B) {
	for i, c := range cases {
		p := c[2]
		k := adbenchLike(c[0], c[1], p, false)
		values := make([]float64, 31*p)
		j, dz := rev.NewGeneral(2*p, 15, values[:30*p]), rev.ViewSlice(values[30*p:])
		peak := func(workers int) { parallel.Run(workers, 64, peakBlock{}) }
		for _, run := range []struct {
			name string
			f    func(workers int)
		}{
			{"Forward", func(workers int) { k.Workers = workers; _ = k.Forward() }},
			{"Jacobian", func(workers int) { k.Workers = workers; _ = k.Jacobian(j, dz) }},
		} {
			b.Run(fmt.Sprintf("%s/ba%d", run.name, i+1), func(b *testing.B) {
				var times [4][]float64
				for b.Loop() {
					for t, f := range []func(workers int){run.f, peak} {
						for w := range 2 {
							f(w + 1) // wakes the second worker, and leaves its caches as later calls find them
							start := time.Now()
							f(w + 1)
							times[2*t+w] = append(times[2*t+w], time.Since(start).Seconds())
						}
					}
				}
				for _, t := range times {
					slices.Sort(t)
				}
				speedup := func(t int) float64 { return times[t][b.N/2] / times[t+1][b.N/2] }
				b.ReportMetric(speedup(0), "speedup")
				b.ReportMetric(speedup(2), "peak-speedup")
				b.ReportMetric(speedup(0)/speedup(2), "ofPeak")
			})
		}
	}
}

// BenchmarkFixed measures passes in fixed point, and the share of their time that
// checking the range takes.
func BenchmarkFixed(b *testing.B) {
	f := adbenchLike(20, 2000, 10000, true)
	k := weightedOf[fixed.Q43](f)
	p := weightedProblem(&k)
	g := weightedOf[fixed.Q43](f)
	for name, f := range map[string]func() error{
		"Forward": k.Forward, "Adjoint": func() error { return k.Adjoint(g) },
		"forward's range": func() error { return p.checkRange(false) }, "adjoint's range": func() error { return p.checkRange(true) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(simdtest.LeastTime(b.Loop, func() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			})/float64(len(k.Camera)), "least-ns/observation")
		})
	}
}
