package revsparse_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"revnum/revsparse"
)

// unsorted returns a matrix of github.com/james-bowman/sparse with empty rows and
// columns, whose entries are not sorted.
func unsorted() *sparse.CSR {
	return sparse.NewCSR(3, 4, []int{0, 2, 2, 5}, []int{3, 0, 2, 3, 0}, []float64{1, 2, 3, 4, 5})
}

func TestViewCSR(t *testing.T) {
	for _, m := range []*sparse.CSR{unsorted(), sparse.NewCSR(2, 3, []int{0, 0, 0}, nil, nil)} {
		a := revsparse.ViewCSR(m)
		if !mat.Equal(toMat(a), m) {
			t.Errorf("got %v", mat.Formatted(toMat(a)))
		}
		back := revsparse.ToSparse(a)
		if !mat.Equal(back, m) {
			t.Errorf("back: %v", mat.Formatted(back))
		}
	}
	m := unsorted()
	a := revsparse.ViewCSR(m)
	a.Data[4] = 9
	revsparse.ToSparse(a).Set(0, 3, 8)
	if m.At(2, 0) != 9 || m.At(0, 3) != 8 {
		t.Error("the storage is not shared")
	}

	c := m.ToCSC()
	at := revsparse.ViewCSC(c)
	if !mat.Equal(toMat(at), m.T()) {
		t.Errorf("a CSC: got %v", mat.Formatted(toMat(at)))
	}
	at.Data[0] = 7
	if raw := c.RawMatrix(); raw.Data[0] != 7 {
		t.Error("the storage of a CSC is not shared")
	}
	x, y, want := mat.NewVecDense(4, []float64{1, 10, 100, 1000}), mat.NewVecDense(3, nil), mat.NewVecDense(3, nil)
	revsparse.NewMulTrans(y, at, x).Forward()
	if want.MulVec(c, x); !mat.Equal(y, want) {
		t.Errorf("the product with a CSC is %v, want %v", y, want)
	}

	var empty sparse.CSR
	revsparse.NewMul(nil, revsparse.ViewCSR(&empty), &mat.Dense{}).Forward()
}

// All types of that package have the same entries in the same order, each time.
func TestFromMatrixOfSparse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	coo, dok := sparse.NewCOO(20, 30, nil, nil, nil), sparse.NewDOK(20, 30)
	for range 200 {
		i, j, v := rnd.IntN(20), rnd.IntN(30), float64(1+rnd.IntN(100))
		coo.Set(i, j, v)
		dok.Set(i, j, dok.At(i, j)+v)
	}
	want := revsparse.FromMatrix(dok.ToDense())
	same := func(what string, got, want revsparse.CSR[float64, int]) {
		t.Helper()
		if got.Rows != want.Rows || got.Cols != want.Cols || !slices.Equal(got.Ptr, want.Ptr) || !slices.Equal(got.Ind, want.Ind) || !slices.Equal(got.Data, want.Data) {
			t.Errorf("%s: another matrix", what)
		}
	}
	for range 5 {
		for _, m := range []mat.Matrix{coo, dok, dok.ToCSR(), dok.ToCSC(), coo.ToCSR(), coo.ToCSC()} {
			same("matrix", revsparse.FromMatrix(m), want)
			same("transpose", revsparse.FromMatrix(m.T()), want.Transpose())
		}
	}
}
