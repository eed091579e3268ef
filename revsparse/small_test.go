package revsparse_test

import (
	"fmt"
	"testing"

	"revnum/rev"
	"revnum/revsparse"
)

// BenchmarkSmall measures what a call costs beside its arithmetic: products of
// tridiagonal matrices of 1, 10 and 100 rows.
func BenchmarkSmall(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		var row, col []int
		var val []float64
		for i := range n {
			for j := max(i-1, 0); j <= min(i+1, n-1); j++ {
				row, col, val = append(row, i), append(col, j), append(val, 1)
			}
		}
		a, err := revsparse.FromTriplets(n, n, row, col, val)
		if err != nil {
			b.Fatal(err)
		}
		ga := a
		ga.Data = make([]float64, len(val))
		for _, c := range []int{1, 4} {
			dense := func() rev.General[float64] { return rev.NewGeneral[float64](n, c, nil) }
			k := revsparse.Mul[float64, int]{C: dense(), A: a, B: dense(), Workers: 1}
			g := revsparse.Mul[float64, int]{C: dense(), A: ga, B: dense()}
			b.Run(fmt.Sprintf("Mul%d/%d/Forward", c, n), func(b *testing.B) {
				for b.Loop() {
					k.Forward()
				}
			})
			b.Run(fmt.Sprintf("Mul%d/%d/Adjoint", c, n), func(b *testing.B) {
				for b.Loop() {
					k.Adjoint(g)
				}
			})
		}
	}
}
