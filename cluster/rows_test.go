package cluster_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	"revnum/revsparse"
)

// rowsFrom returns some rows of a matrix of so many columns. Row i is the same
// whichever rows you ask for.
func rowsFrom(first, end, cols int) revsparse.CSR[float64, int32] {
	a := revsparse.CSR[float64, int32]{Rows: end - first, Cols: cols, Ptr: []int32{0}}
	for i := first; i < end; i++ {
		rnd := rand.New(rand.NewPCG(uint64(i), 1))
		for j := range cols {
			if rnd.IntN(4) == 0 {
				a.Ind, a.Data = append(a.Ind, int32(j)), append(a.Data, rnd.NormFloat64())
			}
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	return a
}

// TestRows multiplies on several ranks, and compares with dense products.
func TestRows(t *testing.T) {
	const rows, cols, block = 103, 17, 10
	rnd := rand.New(rand.NewPCG(2, 2))
	x, y := make([]float64, cols), make([]float64, rows)
	for _, v := range [][]float64{x, y} {
		for i := range v {
			v[i] = rnd.NormFloat64()
		}
	}
	whole := rowsFrom(0, rows, cols)
	d := revsparse.Dense(whole)
	dense := mat.NewDense(rows, cols, d.Data)
	var ax, aty mat.VecDense
	ax.MulVec(dense, mat.NewVecDense(cols, x))
	aty.MulVec(dense.T(), mat.NewVecDense(rows, y))

	var wantAx, wantAty []float64
	for _, ranks := range []int{1, 2, 3, 15} {
		products := make([][]float64, ranks)
		err := cluster.Run(ranks, func(r cluster.Reducer) error {
			first, end := cluster.RowsOf(r, rows, block)
			a, err := cluster.NewRows(r, rows, block, 2, rowsFrom(first, end, cols))
			if err != nil {
				return err
			}
			own, z := make([]float64, end-first), make([]float64, cols)
			a.MulTo(own, x)
			if err := a.TransMulTo(z, y[first:end]); err != nil {
				return err
			}
			products[r.Rank()] = slices.Concat(own, z)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for rank, p := range products {
			n := len(p) - cols
			all = append(all, p[:n]...)
			if wantAty == nil {
				wantAty = p[n:]
			}
			if !slices.Equal(p[n:], wantAty) {
				t.Errorf("rank %d of %d: other bits of Aᵀ·y", rank, ranks)
			}
		}
		if wantAx == nil {
			wantAx = all
		}
		if !slices.Equal(all, wantAx) {
			t.Errorf("%d ranks: other bits of A·x", ranks)
		}
	}
	for i, v := range wantAx {
		if math.Abs(v-ax.AtVec(i)) > 1e-13 {
			t.Errorf("element %d of A·x is %v, want %v", i, v, ax.AtVec(i))
		}
	}
	for i, v := range wantAty {
		if math.Abs(v-aty.AtVec(i)) > 1e-12 {
			t.Errorf("element %d of Aᵀ·y is %v, want %v", i, v, aty.AtVec(i))
		}
	}
}

func TestRowsErrors(t *testing.T) {
	errs := make([]error, 2)
	for _, c := range []struct {
		rows, cols int // more on rank 1
		want       string
	}{{1, 0, "expected 10: those from 10 to 20 of 20"}, {0, 1, "cluster: a matrix of 20 rows in blocks of 10, 6 columns, on rank 0 of 20 rows in blocks of 10, 5 columns"}} {
		_ = cluster.Run(2, func(r cluster.Reducer) error {
			first, end := cluster.RowsOf(r, 20, 10)
			_, errs[r.Rank()] = cluster.NewRows(r, 20, 10, 1, rowsFrom(first, end+c.rows*r.Rank(), 5+c.cols*r.Rank()))
			return nil
		})
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("rank %d: %v, want %q", rank, err, c.want)
			}
		}
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
			t.Errorf("panics with %v, want mat.ErrShape", err)
		}
	}()
	a, err := cluster.NewRows(cluster.Alone(), 3, 2, 1, rowsFrom(0, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	a.MulTo(make([]float64, 3), make([]float64, 3))
}
