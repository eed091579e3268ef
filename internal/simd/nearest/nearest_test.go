package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// state is the result of a search.
type state[T cpu.Float] struct{ best, second, label []T }

func newState[T cpu.Float](n int) state[T] {
	inf := slices.Repeat([]T{T(math.Inf(1))}, n)
	return state[T]{inf, slices.Clone(inf), slices.Repeat([]T{-1}, n)}
}

var shapes = []struct{ n, k, d int }{
	{16, 1, 1}, {32, 2, 3}, {16, 7, 2}, {48, 8, 5}, {16, 9, 4}, {32, 15, 1}, {16, 16, 3}, {32, 17, 6}, {128, 100, 10}, {16, 19, 300}, {32, 3, 2100},
}

func TestSearches(t *testing.T) {
	simdtest.ForEachType(t, &tier, testTwo[float64], testTwo[float32])
	simdtest.ForEachTier(t, &tier, testOne)
}

// testTwo checks Two against the definition in float64. Numbers are small integers, so
// there are ties and no rounding.
func testTwo[T cpu.Float](t *testing.T) {
	for _, s := range shapes {
		rnd := rand.New(rand.NewPCG(7, uint64(s.k)))
		integers := func(n int) []T {
			x := make([]T, n)
			for i := range x {
				x[i] = T(rnd.IntN(9) - 4)
			}
			return x
		}
		ld := s.n + 3
		points, c, halves := integers(s.d*ld), integers(s.k*s.d), integers(s.k)
		got := newState[T](s.n)
		split := s.k / 3 // in two calls
		Two(got.best, got.second, got.label, points, ld, c, halves[:split], s.d, 0)
		Two(got.best, got.second, got.label, points, ld, c[split*s.d:], halves[split:], s.d, split)
		for p := range s.n {
			best, second, label := math.Inf(1), math.Inf(1), -1
			for k, half := range halves {
				v := float64(half)
				for j := range s.d {
					v -= float64(c[k*s.d+j]) * float64(points[j*ld+p])
				}
				switch {
				case v < best:
					best, second, label = v, best, k
				case v < second:
					second = v
				}
			}
			if float64(got.best[p]) != best || float64(got.second[p]) != second || int(got.label[p]) != label {
				t.Fatalf("%v: point %d: %v, %v, %v, want %v, %v, %d", s, p, got.best[p], got.second[p], got.label[p], best, second, label)
			}
		}
	}
}

// testOne checks that One gives the bits of a plain loop, with ties, and that it ignores a
// centre of NaN.
func testOne(t *testing.T) {
	for _, s := range shapes {
		ld := s.n + 5
		points, c := simdtest.Normal[float64](s.d*ld, 1), simdtest.Normal[float64](s.k*s.d, 2)
		if s.k > 4 {
			copy(c[(s.k-1)*s.d:], c[:s.d]) // the last is the first again
			c[2*s.d] = math.NaN()
		}
		got := newState[float64](s.n)
		split := s.k / 2
		One(got.best, got.label, points, ld, c[:split*s.d], s.d, 0)
		One(got.best, got.label, points, ld, c[split*s.d:], s.d, split)
		for p := range s.n {
			best, label := math.Inf(1), -1
			for k := range s.k {
				var v float64
				for j := range s.d {
					r := points[j*ld+p] - c[k*s.d+j]
					v += float64(r * r)
				}
				if v < best {
					best, label = v, k
				}
			}
			if !simdtest.Same(got.best[p], best) || int(got.label[p]) != label {
				t.Fatalf("%v: point %d: %v, %v, want %v, %d", s, p, got.best[p], got.label[p], best, label)
			}
		}
	}
}

// SubRound rounds as Go does, also where float32 overflows and underflows.
func TestSubRound(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		x := simdtest.Normal[float64](128, 1)
		copy(x, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e39, 0x1.ffffffp127, 0x1.fffffefp127, 1e-45, 1e-300, -1e-40, 0x1p-150, 0x1.8p-149, 1 + 0x1p-24, 1 + 0x3p-24})
		for _, c := range []float64{0, 0.1, -1e6} {
			for n := 0; n <= len(x); n += Width {
				got := make([]float32, n)
				SubRound(got, x, c)
				for i, v := range got {
					if want := float32(x[i] - c); !simdtest.Same(v, want) {
						t.Fatalf("n = %d: %v - %v gives %v, want %v", n, x[i], c, v, want)
					}
				}
			}
		}
	})
}

// AddRows gives the bits of a plain loop. Distances agrees with it up to rounding.
func TestRows(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for d := 1; d <= 25; d++ {
			const n, k = 200, 3
			ld, ldx := d+d%2, d+d%3
			x, base, w := simdtest.Normal[float64](n*ldx, 1), simdtest.Normal[float64](k*ld, 2), simdtest.Normal[float64](n, 3)
			label := make([]int32, n)
			for i := range label {
				label[i] = int32(i * i % k)
			}
			for _, w := range [][]float64{nil, w} {
				got := simdtest.Normal[float64](k*ld+1, 4)
				want := slices.Clone(got)
				AddRows(got, base, ld, label, x, ldx, d, w)
				genericAddRows(want, base, ld, label, x, ldx, d, w)
				simdtest.SameSlice(t, fmt.Sprint("d = ", d), got, want)
			}
			dists, want := make([]float64, n), make([]float64, n)
			Distances(dists, base, ld, label, x, ldx, d)
			genericDistances(want, base, ld, label, x, ldx, d)
			for i, v := range want {
				if !(math.Abs(dists[i]-v) <= float64(d+2)*0x1p-53*v) {
					t.Fatalf("d = %d: distance %d is %v, want %v", d, i, dists[i], v)
				}
			}
		}
	})
}

func TestPanics(t *testing.T) {
	x := make([]float64, 64)
	for name, f := range map[string]func(){
		badWidth:     func() { One(x[:15], x, x, 16, x[:2], 2, 0) },
		badDim:       func() { One(x[:16], x, x, 16, x[:2], 0, 0) },
		shortState:   func() { Two(x[:16], x[:15], x, x, 16, x, x[:1], 2, 0) },
		shortPoints:  func() { One(x[:16], x, x[:31], 16, x[:2], 2, 0) },
		shortC:       func() { Two(x[:16], x, x, x, 16, x[:5], x[:3], 2, 0) },
		shortX:       func() { AddRows(x, x, 2, make([]int32, 3), x[:5], 2, 2, nil) },
		shortX + " ": func() { Distances(x, x, 2, make([]int32, 3), x[:5], 2, 2) },
		badLabel:     func() { AddRows(x[:4], x, 2, []int32{2}, x, 2, 2, nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != strings.TrimSpace(name) {
					t.Errorf("panic %v, want %s", got, name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkSearches(b *testing.B) {
	for _, s := range []struct{ k, d int }{{1, 10}, {10, 8}, {10, 16}, {20, 10}, {20, 64}, {100, 16}, {1000, 16}, {1000, 256}} {
		const n, ld = 128, 136
		points, c, halves := simdtest.Normal[float64](s.d*ld, 1), simdtest.Normal[float64](s.k*s.d, 2), simdtest.Normal[float64](s.k, 3)
		got := newState[float64](n)
		for name, f := range map[string]func(){
			"one": func() { One(got.best, got.label, points, ld, c, s.d, 0) },
			"two": func() { Two(got.best, got.second, got.label, points, ld, c, halves, s.d, 0) },
		} {
			b.Run(fmt.Sprintf("%s/k=%d,d=%d", name, s.k, s.d), func(b *testing.B) {
				b.ReportMetric(float64(n*s.k*s.d)/simdtest.LeastTime(b.Loop, f), "pairs/ns")
			})
		}
	}
}
