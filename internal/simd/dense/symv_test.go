package dense

import (
	"math"
	"strconv"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestSymv(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, n := range []int{0, 8, 16, 24, 40, 1016} {
			lda := n + 3
			a := simdtest.Normal[float64](n*lda, 1)
			full := make([]float64, n*n)
			for i := range n {
				for j := range n {
					switch {
					case j <= i:
						full[i*n+j] = a[i*lda+j]
						full[j*n+i] = a[i*lda+j]
					case j/SymvOrder > i/SymvOrder:
						a[i*lda+j] = math.NaN() // not read
					default:
						a[i*lda+j] = a[j*lda+i]
					}
				}
			}
			x := simdtest.Normal[float64](n+1, 2)
			y := simdtest.Normal[float64](n+1, 3)
			want := append([]float64(nil), y...)
			for i := range n {
				for j := range n {
					want[i] += full[i*n+j] * x[j]
				}
			}
			mid := n / 2 / SymvOrder * SymvOrder
			Symv(0, mid, a, lda, x, y)
			Symv(mid, n, a, lda, x, y)
			for i, v := range y {
				if !(math.Abs(v-want[i]) <= 1e-15*float64(n+1)*10) {
					t.Fatalf("n = %d: element %d is %g, want %g", n, i, v, want[i])
				}
			}
		}
	})
}

func TestSymvPanics(t *testing.T) {
	a, x := make([]float64, 16*16), make([]float64, 16)
	for name, f := range map[string]func(){
		"rows":   func() { Symv(0, 12, a, 16, x, x) },
		"first":  func() { Symv(4, 8, a, 16, x, x) },
		"stride": func() { Symv(0, 16, a, 15, x, x) },
		"a":      func() { Symv(0, 16, a[:255], 16, x, x) },
		"x":      func() { Symv(0, 16, a, 16, x[:15], x) },
		"y":      func() { Symv(0, 16, a, 16, x, x[:15]) },
	} {
		if !simdtest.Panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func BenchmarkSymv(b *testing.B) {
	for _, n := range []int{64, 256, 512, 1000} {
		lda := n + 8
		a, x, y := simdtest.Normal[float64](n*lda, 1), simdtest.Normal[float64](n, 2), make([]float64, n)
		b.Run(cpu.InUse().String()+"/"+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				Symv(0, n, a, lda, x, y)
			}
			b.ReportMetric(float64(2*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
