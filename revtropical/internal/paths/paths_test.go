package paths

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// integers returns n small integers, so that there are ties, and now and then a place
// without a path.
func integers[T fixed.Number](rnd *rand.Rand, n int, none T) []T {
	x := make([]T, n)
	for i := range x {
		if x[i] = T(rnd.IntN(9) - 4); rnd.IntN(5) == 0 && none != 0 {
			x[i] = none
		}
	}
	return x
}

// compare compares Best and AddBest with the definition.
func compare[T fixed.Number](t *testing.T, worst, none T, least bool) {
	w := Width[T]()
	for rows := 0; rows < 20; rows++ {
		for _, k := range []int{1, 2, 3, 7, 100} {
			rnd := rand.New(rand.NewPCG(uint64(rows), uint64(k)))
			lda, ldb, ldc := k+rows%3, w+rows%4, w+rows%5
			a, b := integers(rnd, max(rows*lda, 1), none), integers(rnd, k*ldb, none)
			best, label := make([]T, rows*w), make([]T, rows*w)
			for i := range best {
				best[i], label[i] = worst, T(int8(-1))
			}
			Best(best, label, a, lda, b, ldb, rows, k, least)
			sums := integers[T](rnd, rows*ldc, 0)
			before := slices.Clone(sums)
			AddBest(sums, ldc, T(int8(-1)), a, lda, b, ldb, rows, k, least)
			for i := range rows {
				for j := range w {
					want, at := worst, -1
					for l := range k {
						if s := a[i*lda+l] + b[l*ldb+j]; s > want && !least || s < want && least {
							want, at = s, l
						}
					}
					if p := i*w + j; best[p] != want || int(label[p]) != at {
						t.Fatalf("%d rows, k = %d, least = %v: (%d, %d) is %v of %v, want %v of %d", rows, k, least, i, j, best[p], label[p], want, at)
					}
					before[i*ldc+j] -= want
				}
			}
			if !slices.Equal(sums, before) {
				t.Fatalf("%d rows, k = %d, least = %v: differences are\n%v\nwant\n%v", rows, k, least, sums, before)
			}
		}
	}
}

func checkFloat[T cpu.Float](t *testing.T) {
	inf := T(math.Inf(1))
	compare(t, -inf, -inf, false)
	compare(t, inf, inf, true)
}

func TestBest(t *testing.T) {
	simdtest.ForEachType(t, &tier, checkFloat[float64], checkFloat[float32])
	compare(t, fixed.Min, 0, false)
	compare(t, fixed.Max, 0, true)
}

func TestShapes(t *testing.T) {
	w := Width[float64]()
	x := make([]float64, 4*w)
	for name, f := range map[string]func(){
		"best":  func() { Best(x[:w], x, x, 2, x, w, 2, 2, false) },
		"label": func() { Best(x, x[:w], x, 2, x, w, 2, 2, false) },
		"c":     func() { AddBest(x[:w+1], 2, 1, x, 2, x, w, 2, 2, false) },
		"a":     func() { Best(x, x, x[:3], 2, x, w, 2, 2, false) },
		"b":     func() { Best(x, x, x, 2, x[:w], w, 2, 2, false) },
	} {
		func() {
			defer func() {
				want := map[string]string{"a": shortA, "b": shortB}[name]
				if want == "" {
					want = shortResult
				}
				if got := recover(); got != want {
					t.Errorf("short %s: panics with %v, want %q", name, got, want)
				}
			}()
			f()
		}()
	}
}

// Each sum with its comparison is two operations. The peak is that of additions and
// comparisons, half the flops of fused products.
func BenchmarkBest(b *testing.B) {
	for _, tiers := range []cpu.Tier{tier, cpu.Generic} {
		for _, winners := range []bool{false, true} {
			b.Run(fmt.Sprintf("%v/winners=%v", tiers, winners), func(b *testing.B) {
				old := tier
				defer func() { tier = old }()
				tier = tiers
				const rows, k = 64, 128
				w := Width[float64]()
				rnd := rand.New(rand.NewPCG(1, 1))
				best, label := make([]float64, rows*w), make([]float64, rows*w)
				a, c := make([]float64, rows*k), make([]float64, k*w)
				for i := range a {
					a[i] = rnd.Float64()
				}
				for i := range c {
					c[i] = rnd.Float64()
				}
				for b.Loop() {
					if !winners {
						AddBest(best, w, 1, a, k, c, w, rows, k, false)
						continue
					}
					for i := range best {
						best[i] = math.Inf(-1)
					}
					Best(best, label, a, k, c, w, rows, k, false)
				}
				b.ReportMetric(float64(b.N)*2*float64(rows*k*w)/b.Elapsed().Seconds()/1e9, "Gop/s")
			})
		}
	}
}
