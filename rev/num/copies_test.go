package num_test

import (
	"math"
	"slices"
	"testing"

	"revnum/rev"
	"revnum/rev/num"
)

// Restore puts all bits back, and leaves the gaps between elements alone.
func TestCopies(t *testing.T) {
	p := []float64{math.Copysign(0, -1)}
	v := []float64{1, 2, 3, 4, 5}
	m := []float64{1, math.NaN(), 3, 4, 5}
	for round := range 2 { // the second with memory that is reused
		c := num.NewCopies[float64]()
		c.Numbers(&p[0], nil)
		c.Vectors(rev.ViewSlice(v[:2]), rev.Vector[float64]{N: 2, Inc: 2, Data: v[2:]}, rev.Vector[float64]{})
		c.Matrices(rev.General[float64]{Rows: 2, Cols: 2, Stride: 3, Data: m}, rev.General[float64]{Rows: 3, Cols: 3})
		for _, x := range [][]float64{p, v, m} {
			for i := range x {
				x[i] = 7
			}
		}
		c.Restore()
		if math.Float64bits(p[0]) != 1<<63 || !slices.Equal(v, []float64{1, 2, 3, 7, 5}) {
			t.Errorf("round %d: the number is %v, the vectors are %v", round, p, v)
		}
		if m[0] != 1 || m[1] == m[1] || m[2] != 7 || m[3] != 4 || m[4] != 5 {
			t.Errorf("round %d: the matrix is %v", round, m)
		}
		v[3], m[2] = 4, 3
		c = num.NewCopies[float64]()
		c.Vectors(rev.ViewSlice(v))
		c.Free()
		if !slices.Equal(v, []float64{1, 2, 3, 4, 5}) {
			t.Errorf("round %d: Free changed the vector to %v", round, v)
		}
	}
}
