package revsparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestNewCSRErrors(t *testing.T) {
	val := make([]float64, 3)
	for _, test := range []struct {
		rows, cols int
		ptr, ind   []int32
		val        []float64
		want       string // "" for no error
	}{
		{2, 3, []int32{0, 2, 3}, []int32{2, 0, 1}, val, ""},
		{2, 3, []int32{0, 0, 3}, []int32{2, 2, 2}, val, ""},
		{0, 0, []int32{0}, nil, nil, ""},
		{0, 5, []int32{0}, nil, nil, ""},
		{-1, 3, nil, nil, nil, "-1×3"},
		{2, 3, []int32{0, 2}, []int32{2, 0, 1}, val, "2 row pointers for 2 rows"},
		{2, 3, []int32{0, 2, 3}, []int32{2, 0, 1}, val[:2], "2 values for 3 column indices"},
		{2, 3, []int32{1, 2, 3}, []int32{2, 0, 1}, val, "row 0 begins at entry 1"},
		{2, 3, []int32{0, 4, 3}, []int32{2, 0, 1}, val, "row 0 is from entry 0 to 4, of 3"},
		{2, 3, []int32{0, 2, 1}, []int32{2, 0, 1}, val, "row 1 is from entry 2 to 1"},
		{2, 3, []int32{0, math.MaxInt32, math.MinInt32}, []int32{2, 0, 1}, val, "row 0 is from entry 0 to 2147483647"},
		{2, 3, []int32{0, 2, math.MinInt32}, []int32{2, 0, 1}, val, "row 1 is from entry 2 to -2147483648"},
		{2, 3, []int32{0, 2, 3}, []int32{2, 0, 3}, val, "row 1, entry 2: column 3 is not in [0, 3)"},
		{2, 3, []int32{0, 2, 3}, []int32{2, -1, 1}, val, "row 0, entry 1: column -1 is not in [0, 3)"},
		{2, 3, []int32{0, 1, 2}, []int32{2, 0, 1}, val, "1 entries behind the last row"},
		{1, math.MaxInt32, []int32{0, 1}, []int32{math.MaxInt32 - 1}, val[:1], ""},
		{1, math.MaxInt, []int32{0, 0}, nil, nil, "more than int32 counts"},
	} {
		if test.cols == math.MaxInt && math.MaxInt == math.MaxInt32 {
			continue // nothing is too much for int32
		}
		_, err := NewCSR(test.rows, test.cols, test.ptr, test.ind, test.val)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%d×%d, %v, %v: %v", test.rows, test.cols, test.ptr, test.ind, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%d×%d, %v, %v: error %v, want %q", test.rows, test.cols, test.ptr, test.ind, err, test.want)
		}
	}
}

func TestTransposeAndSorted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{0, 1, 2, 30} {
		a := random[float64, int32](rnd, n, 2*n, 3)
		ind := slices.Clone(a.Ind)
		at, s := a.Transpose(), a.Sorted()
		if !at.IsSorted() || !s.IsSorted() {
			t.Errorf("n=%d: rows are not sorted", n)
		}
		if n == 0 {
			continue // gonum has no empty matrices to compare
		}
		if !mat.Equal(toMat(at), toMat(a).T()) {
			t.Errorf("n=%d: the transpose differs", n)
		}
		if !mat.Equal(toMat(s), toMat(a)) || !slices.Equal(a.Ind, ind) {
			t.Errorf("n=%d: sorting changes the matrix", n)
		}
		back := at.Transpose()
		if !slices.Equal(back.Ind, s.Ind) || !slices.Equal(back.Data, s.Data) {
			t.Errorf("n=%d: entries of the same place change their order", n)
		}
		if again := s.Sorted(); n == 30 && &again.Ind[0] != &s.Ind[0] {
			t.Errorf("n=%d: sorted rows are copied", n)
		}
	}
}

// A structure without values has a transpose, and can be sorted.
func TestTransposeAndSortedOfStructure(t *testing.T) {
	a := random[float64, int](rand.New(rand.NewPCG(2, 2)), 30, 20, 3)
	bare := a.With(nil)
	for _, x := range [][2]CSR[float64, int]{{bare.Transpose(), a.Transpose()}, {bare.Sorted(), a.Sorted()}} {
		got, want := x[0], x[1]
		if got.Data != nil || !slices.Equal(got.Ptr, want.Ptr) || !slices.Equal(got.Ind, want.Ind) {
			t.Errorf("got %v, want the structure of %v", got, want)
		}
	}
}
