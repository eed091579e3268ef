package revsparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revsparse"
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
		{2, 3, []int32{0, 2, 3}, []int32{2, 0, 1}, nil, "0 values for 3 column indices"},
		{2, 3, []int32{0, 2}, []int32{2, 0, 1}, val, "2 row pointers for 2 rows"},
		{2, 3, []int32{0, 2, 3}, []int32{2, 0, 1}, val[:2], "2 values for 3 column indices"},
		{2, 3, []int32{1, 2, 3}, []int32{2, 0, 1}, val, "has a first row that begins at entry 1"},
		{2, 3, []int32{0, 4, 3}, []int32{2, 0, 1}, val, "row 0 is from entry 0 to 4, of 3"},
		{2, 3, []int32{0, 2, 1}, []int32{2, 0, 1}, val, "has a last row that ends at entry 1"},
		{2, 3, []int32{0, math.MaxInt32, 3}, []int32{2, 0, 1}, val, "row 0 is from entry 0 to 2147483647"},
		{2, 3, []int32{0, math.MinInt32, 3}, []int32{2, 0, 1}, val, "row 0 is from entry 0 to -2147483648"},
		{2, 3, []int32{0, 2, 3}, []int32{2, 0, 3}, val, "row 1, entry 2: column 3 is not in [0, 3)"},
		{2, 3, []int32{0, 2, 3}, []int32{2, -1, 1}, val, "row 0, entry 1: column -1 is not in [0, 3)"},
		{2, 3, []int32{0, 1, 2}, []int32{2, 0, 1}, val, "has a last row that ends at entry 2, but 3 column indices"},
		{1, math.MaxInt32, []int32{0, 1}, []int32{math.MaxInt32 - 1}, val[:1], ""},
		{1, math.MaxInt, []int32{0, 0}, nil, nil, "more than int32 counts"},
	} {
		if test.cols == math.MaxInt && math.MaxInt == math.MaxInt32 {
			continue // nothing is too much for int32
		}
		_, err := revsparse.NewCSR(test.rows, test.cols, test.ptr, test.ind, test.val)
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
	for _, x := range [][2]revsparse.CSR[float64, int]{{bare.Transpose(), a.Transpose()}, {bare.Sorted(), a.Sorted()}} {
		got, want := x[0], x[1]
		if got.Data != nil || !slices.Equal(got.Ptr, want.Ptr) || !slices.Equal(got.Ind, want.Ind) {
			t.Errorf("got %v, want the structure of %v", got, want)
		}
	}
}

// Kernels name the operand that is not a matrix, and say why.
func TestMalformedOperands(t *testing.T) {
	sound := revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 1, 2}, Ind: []int{0, 1}, Data: []float64{1, 2}}
	column := func() rev.General[float64] { return rev.NewGeneral[float64](2, 1, nil) }
	vector := func() rev.Vector[float64] { return rev.ViewSlice(make([]float64, 2)) }
	kernels := map[string]func(a revsparse.CSR[float64, int]){
		"A of revsparse.Mul[float64,int]": func(a revsparse.CSR[float64, int]) {
			revsparse.Mul[float64, int]{C: column(), A: a, B: column()}.Forward()
		},
		"A of revsparse.SymmetricMul[float64,int]": func(a revsparse.CSR[float64, int]) {
			revsparse.SymmetricMul[float64, int]{C: column(), A: a, B: column()}.Forward()
		},
		"A of revsparse.LogMul[float64,int]": func(a revsparse.CSR[float64, int]) {
			revsparse.LogMul[float64, int]{C: column(), A: a, B: column()}.Forward()
		},
		"A of revsparse.Solve[float64,int]": func(a revsparse.CSR[float64, int]) {
			_ = revsparse.Solve[float64, int]{X: column(), A: a, B: column()}.Forward()
		},
		"A of revsparse.CG[float64,int]": func(a revsparse.CSR[float64, int]) {
			_ = revsparse.CG[float64, int]{X: vector(), A: a, B: vector()}.Forward()
		},
		"A of revsparse.TriSolve[float64,int]": func(a revsparse.CSR[float64, int]) {
			_ = revsparse.TriSolve[float64, int]{X: vector(), A: a, B: vector()}.Forward()
		},
		"A of revsparse.DominantEig[float64,int]": func(a revsparse.CSR[float64, int]) {
			_ = revsparse.DominantEig[float64, int]{Values: rev.ViewSlice([]float64{0}), Vectors: column(), A: a}.Forward()
		},
		"S of revsparse.SampledMul[float64,int]": func(a revsparse.CSR[float64, int]) {
			revsparse.SampledMul[float64, int]{S: a, A: column(), B: column()}.Forward()
		},
		"B of revsparse.Dot[float64,int]": func(a revsparse.CSR[float64, int]) {
			revsparse.Dot[float64, int]{Out: new(float64), A: sound, B: a}.Forward()
		},
		"C of revsparse.SpGEMM[float64,int]": func(a revsparse.CSR[float64, int]) {
			revsparse.SpGEMM[float64, int]{C: a, A: sound, B: sound}.Forward()
		},
	}
	for want, matrix := range map[string]revsparse.CSR[float64, int]{
		"has 2 row pointers for 2 rows, want one more than rows": {Rows: 2, Cols: 2, Ptr: []int{0, 2}, Ind: sound.Ind, Data: sound.Data},
		"has a first row that begins at entry 1":                 {Rows: 2, Cols: 2, Ptr: []int{1, 1, 2}, Ind: sound.Ind, Data: sound.Data},
		"has a last row that ends at entry 1, but 2 column":      {Rows: 2, Cols: 2, Ptr: []int{0, 1, 1}, Ind: sound.Ind, Data: sound.Data},
		"has 1 values for 2 column indices":                      {Rows: 2, Cols: 2, Ptr: sound.Ptr, Ind: sound.Ind, Data: []float64{1}},
		"has 2 values for 1 column indices":                      {Rows: 2, Cols: 2, Ptr: []int{0, 1, 1}, Ind: []int{0}, Data: sound.Data},
	} {
		for operand, run := range kernels {
			func() {
				defer func() {
					err, _ := recover().(error)
					if !errors.Is(err, mat.ErrShape) || !strings.Contains(err.Error(), operand) || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %s: panic %v", operand, want, err)
					}
				}()
				run(matrix.With(slices.Clone(matrix.Data)))
			}()
		}
	}
}
