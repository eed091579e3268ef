package num_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/rev/num"
)

// The row, its distance and the least distance are those of a plain loop, to the bit.
func TestNearest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 30))
	uniform := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(rnd.IntN(5)) / 4 // some distances are equal
		}
		return x
	}
	for _, d := range []int{0, 1, 2, 3, 8, 17} {
		for _, k := range []int{0, 1, 7, 8, 9, 30} {
			for _, n := range []int{0, 1, 15, 16, 17, 64, 65, 130} {
				for _, odd := range []float64{0, math.NaN(), math.Inf(1), 1e200} {
					rows, points := uniform(k*d), make([][]float64, n)
					for i := range points {
						points[i] = uniform(d)
						if i == 20 || i == 100 && d > 1 {
							points[i] = uniform(d / 2) // rows are as long as the point
						}
					}
					if odd != 0 && n > 2 && d > 0 {
						points[2][d-1] = odd
						if k > 2 && n > 16 {
							rows[2*d] = odd
						}
					}
					testNearest(t, points, rows, k)
				}
			}
		}
	}
}

func testNearest(t *testing.T, points [][]float64, rows []float64, k int) {
	s := num.NewNearest(points, rows)
	defer s.Free()
	for step := range 3 * len(points) {
		i, n := step%max(len(points), 1), k
		if step >= 2*len(points) {
			i, n = step*7%len(points), max(k-step%3, 0) // another order, and fewer rows
		}
		top := math.Inf(1)
		if step%5 == 4 {
			top = 0.5
		}
		at, least, p := -1, top, points[i]
		for c := range n {
			d := 0.0
			for j, v := range p {
				e := v - rows[c*len(p)+j]
				d += float64(e * e)
			}
			if !(least <= d) {
				at = c
			}
			least = min(least, d)
		}
		got := s.At(i, n, top)
		if least != least && at >= 0 && got >= 0 && s.Distance(i) != s.Distance(i) {
			continue // another row with NaN
		}
		if got != at || at >= 0 && s.Distance(i) != least {
			t.Fatalf("point %d of %d, %d of %d rows: found %d at %v, want %d at %v", i, len(points), n, k, got, s.Distance(i), at, least)
		}
		if got := s.Least(i, n, top); got != least && least == least {
			t.Fatalf("point %d of %d, %d rows: the least distance is %v, want %v", i, len(points), n, got, least)
		}
	}
	if len(points) > 0 && len(points[0]) > 0 && !panics(func() { s.At(0, k+1, 1) }) {
		t.Error("too many rows do not panic")
	}
}
