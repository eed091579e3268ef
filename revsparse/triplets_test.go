package revsparse_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/revsparse"
)

func TestFromTriplets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 5, 40} {
		rows, cols := n, n/2+1
		want := mat.NewDense(max(rows, 1), cols, nil)
		var row, col []int32
		var val []float64
		for range 3 * n { // so that some places come twice, and some rows have none
			i, j, v := rnd.IntN(rows), rnd.IntN(cols), float64(rnd.IntN(100))
			want.Set(i, j, want.At(i, j)+v)
			row, col, val = append(row, int32(i)), append(col, int32(j)), append(val, v)
		}
		r, c, v := slices.Clone(row), slices.Clone(col), slices.Clone(val)
		a, err := revsparse.FromTriplets(rows, cols, row, col, val)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(row, r) || !slices.Equal(col, c) || !slices.Equal(val, v) {
			t.Errorf("n=%d: the triplets have changed", n)
		}
		if _, err := revsparse.NewCSR(a.Rows, a.Cols, a.Ptr, a.Ind, a.Data); err != nil {
			t.Errorf("n=%d: %v", n, err)
		}
		for i := range rows {
			columns := a.Ind[a.Ptr[i]:a.Ptr[i+1]]
			if !slices.IsSorted(columns) || len(slices.Compact(slices.Clone(columns))) != len(columns) {
				t.Errorf("n=%d: row %d has the columns %v", n, i, columns)
			}
			for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
				j := int(a.Ind[p])
				want.Set(i, j, want.At(i, j)-a.Data[p])
			}
		}
		if mat.Norm(want, 1) != 0 {
			t.Errorf("n=%d: off by %v", n, mat.Formatted(want))
		}
	}

	// Values of one place are summed in their order, and a sum of zero stays.
	a, err := revsparse.FromTriplets(1, 2, []int{0, 0, 0, 0}, []int{1, 1, 0, 1}, []float64{1e300, -1e300, 5, 1})
	if err != nil || !slices.Equal(a.Data, []float64{5, 1}) {
		t.Errorf("%v, %v", a.Data, err)
	}
	a, err = revsparse.FromTriplets(1, 1, []int{0, 0}, []int{0, 0}, []float64{1, -1})
	if err != nil || !slices.Equal(a.Data, []float64{0}) {
		t.Errorf("%v, %v", a.Data, err)
	}
}

func TestFromTripletsErrors(t *testing.T) {
	val := make([]float64, 2)
	for _, test := range []struct {
		rows, cols int
		row, col   []int32
		want       string
	}{
		{-1, 3, nil, nil, "-1×3"},
		{2, 3, []int32{0}, []int32{0, 1}, "1 rows and 2 columns for 2 values"},
		{2, 3, []int32{0, 1}, []int32{0}, "2 rows and 1 columns for 2 values"},
		{2, 3, []int32{0, 2}, []int32{0, 1}, "entry 1: row 2, column 1 is not in a matrix of 2×3"},
		{2, 3, []int32{-1, 0}, []int32{0, 1}, "entry 0: row -1"},
		{2, 3, []int32{0, 1}, []int32{0, 3}, "entry 1: row 1, column 3"},
		{2, 3, []int32{0, 1}, []int32{0, -1}, "column -1"},
		{2, math.MaxInt, []int32{0, 1}, []int32{0, 1}, "more than int32 counts"},
	} {
		if test.cols == math.MaxInt && math.MaxInt == math.MaxInt32 {
			continue // nothing is too much for int32
		}
		_, err := revsparse.FromTriplets(test.rows, test.cols, test.row, test.col, val[:min(2, max(len(test.row), len(test.col)))])
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d×%d, %v, %v: error %v, want %q", test.rows, test.cols, test.row, test.col, err, test.want)
		}
	}
}

func TestFromMatrix(t *testing.T) {
	dense := mat.NewDense(2, 3, []float64{0, 1, math.NaN(), 2, 0, 0})
	for _, m := range []mat.Matrix{
		dense, dense.T(), &mat.Dense{}, mat.NewVecDense(2, []float64{0, 3}),
		mat.NewSymDense(2, []float64{1, 2, 2, 0}), mat.NewDiagDense(2, []float64{4, 5}),
		mat.NewSymBandDense(3, 1, []float64{1, 2, 3, 4, 5, -1}), mat.NewBandDense(3, 2, 1, 0, []float64{-1, 1, 2, 3, 4, -1}),
	} {
		a := revsparse.FromMatrix(m)
		rows, cols := m.Dims()
		if a.Rows != rows || a.Cols != cols || !a.IsSorted() || slices.Contains(a.Data, 0) {
			t.Errorf("%T: %v", m, a)
		}
		d := revsparse.Dense(a)
		for i := range rows {
			for j := range cols {
				if got, want := d.Data[i*d.Stride+j], m.At(i, j); math.Float64bits(got) != math.Float64bits(want) {
					t.Errorf("%T: element (%d, %d) is %v, want %v", m, i, j, got, want)
				}
			}
		}
	}
}
