package rev_test

import (
	"fmt"
	"math"
	"testing"

	"revnum/rev"
)

func ExampleExtent() {
	data := make([]float64, 8)
	x, y := rev.ViewSlice(data[:4]), rev.ViewSlice(data[3:])
	z := rev.Vector[float64]{N: 2, Data: data[5:], Inc: 2}
	a, b, c := rev.VectorExtent(&x, 4, false), rev.VectorExtent(&y, 5, false), rev.VectorExtent(&z, 2, false)
	fmt.Println(a.Apart(b), b.Apart(c), a.Apart(c))
	// Output: false false true
}

// TestUnclearExtents looks at operands that need a closer look, or are absent.
func TestUnclearExtents(t *testing.T) {
	data := make([]float64, 8)
	number := rev.NumberExtent(new(float64), false)
	vector := func(n int, data []float64, inc int) *rev.Vector[float64] {
		return &rev.Vector[float64]{N: n, Data: data, Inc: inc}
	}
	matrix := func(m, n int, data []float64, stride int) *rev.General[float64] {
		return &rev.General[float64]{Rows: m, Cols: n, Data: data, Stride: stride}
	}
	for i, c := range []struct {
		e     rev.Extent
		apart bool
	}{
		{rev.NumberExtent[float64](nil, false), false},
		{rev.NumberExtent[float64](nil, true), true},
		{rev.SliceExtent(data, 8, false), true},
		{rev.SliceExtent(data, 7, true), false},
		{rev.SliceExtent[float64](nil, 7, true), true},
		{rev.SliceExtent(data[:0], 0, true), false},
		{rev.VectorExtent(vector(8, data, 1), 8, false), true},
		{rev.VectorExtent(vector(8, data[:7], 1), 8, true), false},
		{rev.VectorExtent(vector(4, data, 2), 4, false), true},
		{rev.VectorExtent(vector(4, data[:6], 2), 4, false), false},
		{rev.VectorExtent(vector(4, data, 0), 4, false), false},
		{rev.VectorExtent(vector(4, data, -1), 4, false), false},
		{rev.VectorExtent(vector(-4, data, 1), -4, false), false},
		{rev.VectorExtent(vector(math.MaxInt/2+2, data, 4), math.MaxInt/2+2, false), false},
		{rev.VectorExtent(vector(3, data, math.MaxInt), 3, false), false},
		{rev.VectorExtent(vector(0, nil, 0), 4, true), true},
		{rev.VectorExtent(vector(0, nil, 0), 4, false), false},
		{rev.VectorExtent(vector(3, nil, 1), 3, true), false},
		{rev.MatrixExtent(matrix(2, 3, data, 5), 2, 3, false), true},
		{rev.MatrixExtent(matrix(2, 3, data[:7], 5), 2, 3, false), false},
		{rev.MatrixExtent(matrix(3, 2, data, 2), 2, 3, false), false},
		{rev.MatrixExtent(matrix(2, 3, data, 2), 2, 3, false), false},
		{rev.MatrixExtent(matrix(math.MaxInt, 4, data, 4), math.MaxInt, 4, false), false},
		{rev.MatrixExtent(matrix(0, 0, nil, 0), 2, 3, true), true},
		{rev.MatrixExtent(matrix(0, 3, nil, 3), 2, 3, true), false},
	} {
		if c.e.Apart(number) != c.apart || number.Apart(c.e) != c.apart {
			t.Errorf("%d: apart from a number: %v", i, !c.apart)
		}
	}
}
