package dense

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestGemvt(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, m := range []int{0, 4, 8, 20, 1000} {
			for _, n := range []int{0, 8, 16, 24, 1016} {
				lda := n + 3
				a, u := simdtest.Normal[float64](m*lda, 1), simdtest.Normal[float64](n+1, 2)
				x, z, y := simdtest.Normal[float64](m+1, 3), simdtest.Normal[float64](m+1, 4), simdtest.Normal[float64](n+1, 5)
				wantX, wantZ, wantY := slices.Clone(x), slices.Clone(z), slices.Clone(y)
				for i := range m {
					if n == 0 {
						break
					}
					for j := range n {
						wantX[i] += a[i*lda+j] * u[j]
					}
					wantZ[i] -= wantX[i]
					for j := range n {
						wantY[j] += wantZ[i] * a[i*lda+j]
					}
				}
				cutX, cutZ, cutY := slices.Clone(x), slices.Clone(z), slices.Clone(y)
				Gemvt(m, n, a, lda, u, x, z, y)
				for _, c := range []struct {
					name      string
					got, want []float64
				}{{"x", x, wantX}, {"z", z, wantZ}, {"y", y, wantY}} {
					for i, v := range c.got {
						if !(math.Abs(v-c.want[i]) <= 1e-14*float64(m+1)*math.Sqrt(float64(n+1))) {
							t.Fatalf("%d×%d: element %d of %s is %g, want %g", m, n, i, c.name, v, c.want[i])
						}
					}
				}
				mid := m / 2 / GemvtRows * GemvtRows
				Gemvt(mid, n, a, lda, u, cutX, cutZ, cutY)
				Gemvt(m-mid, n, a[mid*min(lda, len(a)):], lda, u, cutX[mid:], cutZ[mid:], cutY)
				if !slices.Equal(cutX, x) || !slices.Equal(cutZ, z) || !slices.Equal(cutY, y) {
					t.Errorf("%d×%d: other bits in two calls", m, n)
				}
			}
		}
	})
}

func TestGemvtPanics(t *testing.T) {
	a, x := make([]float64, 16*16), make([]float64, 16)
	for name, f := range map[string]func(){
		"rows":    func() { Gemvt(10, 16, a, 16, x, x, x, x) },
		"columns": func() { Gemvt(16, 12, a, 16, x, x, x, x) },
		"stride":  func() { Gemvt(16, 16, a, 15, x, x, x, x) },
		"a":       func() { Gemvt(16, 16, a[:255], 16, x, x, x, x) },
		"u":       func() { Gemvt(16, 16, a, 16, x[:15], x, x, x) },
		"x":       func() { Gemvt(16, 16, a, 16, x, x[:15], x, x) },
		"z":       func() { Gemvt(16, 16, a, 16, x, x, x[:15], x) },
		"y":       func() { Gemvt(16, 16, a, 16, x, x, x, x[:15]) },
	} {
		if !simdtest.Panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func BenchmarkGemvt(b *testing.B) {
	for _, n := range []int{64, 256, 512, 1000} {
		lda := n + 8
		a, u := simdtest.Normal[float64](n*lda, 1), simdtest.Normal[float64](n, 2)
		x, z, y := make([]float64, n), make([]float64, n), make([]float64, n)
		b.Run(cpu.InUse().String()+"/"+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				clear(x)
				clear(z)
				clear(y)
				Gemvt(n, n, a, lda, u, x, z, y)
			}
			b.ReportMetric(float64(4*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			b.ReportMetric(float64(8*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	}
}
