package science

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/revsparse"
)

// TestStructure compares Jacobians that have products for several columns with those that have one for each.
func TestStructure(t *testing.T) {
	seen := make([]sighting, 40)
	for i := range seen {
		seen[i] = sighting{rand.IntN(8), rand.IntN(12), 0.1, 0.2}
	}
	weights := make([][]float64, 9)
	for i := range weights {
		weights[i] = random(4, -1, 1)
	}
	for _, c := range []struct {
		name   string
		m, n   int
		jvp    func(dst, x, v []float64)
		dense  func(dst *mat.Dense, x []float64)
		sparse func(dst *revsparse.CSR[float64, int32], x []float64)
		nnz    int // or 0, if there is no sparse one
	}{
		{
			"bundle", 80, 40 + 36, func(dst, x, v []float64) { bundleJVP(dst, x, v, seen) }, func(dst *mat.Dense, x []float64) { bundleJacobian(dst, x, seen) },
			func(dst *revsparse.CSR[float64, int32], x []float64) { bundleSparseJacobian(dst, x, seen) }, 80 * 8,
		},
		{
			"joints", 18, 22, func(dst, x, v []float64) { jointsJVP(dst, x, v, weights, 9) }, func(dst *mat.Dense, x []float64) { jointsJacobian(dst, x, weights, 9) },
			func(dst *revsparse.CSR[float64, int32], x []float64) { jointsSparseJacobian(dst, x, weights, 9) }, 18 * 6,
		},
		{
			"grid", 49, 49, func(dst, x, v []float64) { gridJVP(dst, x, v, 7) }, func(dst *mat.Dense, x []float64) { gridJacobian(dst, x, 7) },
			func(dst *revsparse.CSR[float64, int32], x []float64) { gridSparseJacobian(dst, x, 7) }, 49 + 4*42,
		},
		{"twice", 20, 22, twiceJVP, twiceJacobian, nil, 0},
		{"cumulative", 9, 9, cumulativeJVP, cumulativeJacobian, nil, 0},
		{"folded", 8, 12, foldedJVP, foldedJacobian, foldedSparseJacobian, 7 * 12},
		{"carried", 12, 12, carriedJVP, carriedJacobian, carriedSparseJacobian, 12 * 12},
		{"gated", 30, 30, gatedJVP, gatedJacobian, gatedSparseJacobian, 30 + 29 + 27},
		{"renamed", 30, 45, func(dst, x, v []float64) { renamedJVP(dst, x, v, 1) }, func(dst *mat.Dense, x []float64) { renamedJacobian(dst, x, 1) }, nil, 0},
		{"counted", 38, 36, countedJVP, countedJacobian, nil, 0},
		{"foremost", 38, 36, foremostJVP, foremostJacobian, nil, 0},
		{
			"guarded", 9, 9, func(dst, x, v []float64) { guardedJVP(dst, x, v, nil) }, func(dst *mat.Dense, x []float64) { guardedJacobian(dst, x, nil) },
			func(dst *revsparse.CSR[float64, int32], x []float64) { guardedSparseJacobian(dst, x, nil) }, 32,
		},
		{"packed", 9, 19, packedJVP, packedJacobian, packedSparseJacobian, 9 * 2},
		{"walking", 9, 10, walkingJVP, walkingJacobian, walkingSparseJacobian, 9 * 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dst revsparse.CSR[float64, int32]
			for range 3 {
				x := random(c.n, -1, 1)
				want, got := mat.NewDense(c.m, c.n, nil), mat.NewDense(c.m, c.n, random(c.m*c.n, -1, 1))
				v, column := make([]float64, c.n), make([]float64, c.m)
				for j := range v {
					v[j] = 1
					c.jvp(column, x, v)
					want.SetCol(j, column)
					v[j] = 0
				}
				c.dense(got, x)
				for i := range c.m {
					for j := range c.n {
						if got.At(i, j) != want.At(i, j) {
							t.Fatalf("J[%d][%d] is %v, want %v", i, j, got.At(i, j), want.At(i, j))
						}
					}
				}
				if c.sparse == nil {
					continue
				}
				dst.Rows = c.m
				c.sparse(&dst, x)
				a, err := revsparse.NewCSR(dst.Rows, dst.Cols, dst.Ptr, dst.Ind, dst.Data)
				if err != nil {
					t.Fatal(err)
				}
				if a.NNZ() != c.nnz {
					t.Errorf("%d entries, want %d", a.NNZ(), c.nnz)
				}
				full := revsparse.Dense(a)
				for i := range c.m {
					for j := range c.n {
						if full.Row(i)[j] != want.At(i, j) {
							t.Fatalf("sparse J[%d][%d] is %v, want %v", i, j, full.Row(i)[j], want.At(i, j))
						}
					}
				}
			}
		})
	}
}

// TestFewRows compares Jacobians that have a product for each row with those that have one for each column.
func TestFewRows(t *testing.T) {
	seen := []sighting{{1, 2, 0.1, 0.2}, {2, 2, 0, 0.1}}
	for _, c := range []struct {
		name  string
		m, n  int
		jvp   func(dst, x, v []float64)
		dense func(dst *mat.Dense, x []float64)
	}{
		{"bundle", 4, 49, func(dst, x, v []float64) { bundleJVP(dst, x, v, seen) }, func(dst *mat.Dense, x []float64) { bundleJacobian(dst, x, seen) }},
		{"hidden", 3, 9, func(dst, x, v []float64) { hiddenJVP(dst, x, v, 1, 2, 3, 4, 6) }, func(dst *mat.Dense, x []float64) { hiddenJacobian(dst, x, 1, 2, 3, 4, 6) }},
		{"twice", 2, 4, twiceJVP, twiceJacobian},
	} {
		x, got := random(c.n, -1, 1), mat.NewDense(c.m, c.n, random(c.m*c.n, -1, 1))
		c.dense(got, x)
		v, column := make([]float64, c.n), make([]float64, c.m)
		for j := range v {
			v[j] = 1
			c.jvp(column, x, v)
			v[j] = 0
			for i, want := range column {
				if math.Abs(got.At(i, j)-want) > 1e-13*(1+math.Abs(want)) {
					t.Errorf("%s: J[%d][%d] is %v, want %v", c.name, i, j, got.At(i, j), want)
				}
			}
		}
	}
	x := random(5, -1, 1)
	var h mat.SymDense
	h.ReuseAsSym(5)
	concealedHessian(&h, x, 1, 3, 4)
	for i, want := range []float64{0, 2 * x[3] * x[4], 0, 2 * x[1] * x[4], 2 * x[1] * x[3]} {
		if got := h.At(1, i); math.Abs(got-want) > 1e-15 {
			t.Errorf("H[1][%d] is %v, want %v", i, got, want)
		}
	}
}
