package simd

import (
	"fmt"
	"math"
	"testing"
)

func TestPairs(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testPairs[float64](t)
		testPairs[float32](t)
	})
}

func testPairs[T Float](t *testing.T) {
	for _, rows := range []int{0, 1, 2, 5, 12} {
		for _, n := range []int{0, 1, 3, 4, 5, 8, 17, 70, chunk/4 + 3} {
			ld := max(1, n) + 5
			name := fmt.Sprintf("%d×%d", rows, n)
			x, y := normalSlice[T](rows*ld, 1), normalSlice[T](rows*ld, 2)
			c, e, w := normalSlice[T](rows, 3), normalSlice[T](rows, 4), normalSlice[T](n, 5)
			if rows > 0 && n > 6 {
				for i := range c {
					x[i*ld+2] = c[i] // distance 0
				}
				x[3], x[5], y[6] = T(math.Inf(1)), T(math.NaN()), T(math.Inf(-1))
				w[4] = T(math.NaN())
			}
			want, got := make([]T, n), normalSlice[T](n, 6)
			genericDistances(want, x, ld, c)
			Distances(got, x, ld, c)
			sameSlice(t, "Distances "+name, got, want)

			genericInvTo(want, got)
			InvTo(got, got)
			sameSlice(t, "InvTo "+name, got, want)

			genericDiffDots(want, x, ld, c, y, e)
			DiffDots(got, x, ld, c, y, e)
			sameSlice(t, "DiffDots "+name, got, want)

			dst, sums := normalSlice[T](rows*ld, 7), normalSlice[T](rows, 8)
			wantDst, wantSums := clone(dst), clone(sums)
			genericAddDiffs(wantDst, x, ld, c, w, wantSums)
			AddDiffs(dst, x, ld, c, w, sums)
			sameSlice(t, "AddDiffs "+name, dst, wantDst)
			for i, s := range sums {
				if math.IsNaN(float64(wantSums[i])) {
					if !math.IsNaN(float64(s)) {
						t.Fatalf("AddDiffs %s: sum %d is %v, want NaN", name, i, s)
					}
					continue
				}
				if d := math.Abs(float64(s - wantSums[i])); !(d <= 8*float64(n+1)*unit[T]()) {
					t.Fatalf("AddDiffs %s: sum %d is %v, want %v", name, i, s, wantSums[i])
				}
			}
		}
	}
	// A point at infinity has no weight outside of the loop's range.
	sums := []T{0}
	AddDiffs(make([]T, 5), []T{1, 2, 3, 4, 5}, 5, []T{T(math.Inf(1))}, []T{1, 1, 1, 1, 1}, sums)
	if !math.IsInf(float64(sums[0]), -1) {
		t.Errorf("the sum of differences to infinity is %v", sums[0])
	}
}

func TestPairPanics(t *testing.T) {
	three, four := make([]float64, 3), make([]float64, 4)
	forEachTier(t, func(t *testing.T) {
		for _, test := range []struct {
			name, want string
			f          func()
		}{
			{"InvTo", badLength, func() { InvTo(three, four) }},
			{"Distances", badLdX, func() { Distances(three, four, 2, four[:1]) }},
			{"Distances", shortX, func() { Distances(three, four, 3, four[:2]) }},
			{"Distances", shortX, func() { Distances(three, four, math.MaxInt/2, four[:2]) }},
			{"DiffDots", badLength, func() { DiffDots(four[:2], four, 2, four[:2], four, four[:1]) }},
			{"DiffDots", shortX, func() { DiffDots(four[:2], four, 2, four[:2], three, four[:2]) }},
			{"AddDiffs", badLength, func() { AddDiffs(four, four, 2, four[:2], four[:2], four[:1]) }},
			{"AddDiffs", shortDst, func() { AddDiffs(three, four, 2, four[:2], four[:2], make([]float64, 2)) }},
		} {
			func() {
				defer func() {
					if got := recover(); got != test.want {
						t.Errorf("%s: panic %v, want %q", test.name, got, test.want)
					}
				}()
				test.f()
			}()
		}
	})
}
