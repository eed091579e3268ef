package revlinalg_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/internal/simd/vec"
	"revnum/rev"
	"revnum/revlinalg"
)

// With a bidiagonal B, Q·B·Pᵀ is A, and Q and P are orthogonal, at orders around those of panels and of blocks, and
// around the size from which on workers share a pass. So U·S·Vᵀ is A too, and U and V are orthogonal. Bits do not
// depend on the workers.
func TestBidiagonal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 9))
	kinds := map[string]func(a rev.General[float64]){
		"normal": func(rev.General[float64]) {},
		"zero":   func(a rev.General[float64]) { clear(a.Data) },
		"of rank 2": func(a rev.General[float64]) {
			for i := 2; i < a.Rows; i++ {
				for j, v := range a.Row(i - 2) {
					a.Row(i)[j] = v
				}
			}
		},
		"with zero columns": func(a rev.General[float64]) {
			for i := range a.Rows {
				for j := range a.Cols {
					if j%5 != 3 {
						a.Row(i)[j] = 0
					}
				}
			}
		},
		"graded": func(a rev.General[float64]) {
			for i := range a.Rows {
				for j := range a.Cols {
					a.Row(i)[j] *= math.Exp2(-float64(i+2*j) / 3)
				}
			}
		},
		"graded up": func(a rev.General[float64]) {
			for i := range a.Rows {
				for j := range a.Cols {
					a.Row(i)[j] *= math.Exp2(float64(i-a.Rows+j-a.Cols) / 3)
				}
			}
		},
		"huge": func(a rev.General[float64]) { vec.ScaleTo(a.Data, 0x1p295, a.Data) },
		"tiny": func(a rev.General[float64]) { vec.ScaleTo(a.Data, 0x1p-95, a.Data) },
	}
	for _, shape := range [][2]int{
		{1, 1}, {2, 1}, {5, 1}, {2, 2}, {7, 7}, {8, 8}, {9, 9}, {11, 8}, {15, 15}, {16, 16}, {17, 17}, {18, 17}, {33, 31},
		{33, 33}, {70, 3}, {100, 65}, {256, 256}, {257, 250}, {270, 262}, {1100, 64},
	} {
		m, n := shape[0], shape[1]
		for i, kind := range slices.Sorted(maps.Keys(kinds)) {
			if m*n > 1<<12 && i%4 != n%4 && !long.Tests() {
				continue // of large shapes, each has two kinds
			}
			a := kerneltest.Matrix[float64](rnd, m, n)
			kinds[kind](a)
			name := fmt.Sprintf("%d×%d %s", m, n, kind)
			var svd [2]revlinalg.SVD[float64]
			for i := range svd {
				svd[i] = revlinalg.SVD[float64]{
					U: rev.NewGeneral[float64](m, n, nil), S: rev.ViewSlice(make([]float64, n)), V: rev.NewGeneral[float64](n, n, nil),
					A: a, Workers: i + 1,
				}
				if err := svd[i].Forward(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if w, two := svd[0], svd[1]; !slices.Equal(w.S.Data, two.S.Data) || !slices.Equal(w.V.Data, two.V.Data) || !slices.Equal(w.U.Data, two.U.Data) {
				t.Errorf("%s: other bits with two workers", name)
			}
			top := 0.0
			for i := range m {
				for _, v := range a.Row(i) {
					top = max(top, math.Abs(v))
				}
			}
			if top == 0 {
				top = 1
			}
			u, v := mat.NewDense(m, n, svd[0].U.Data), mat.NewDense(n, n, svd[0].V.Data)
			var x, scaled mat.Dense
			scaled.Scale(1/top, mat.NewDense(m, n, a.Data))
			x.Apply(func(_, j int, v float64) float64 { return v * (svd[0].S.Data[j] / top) }, u)
			x.Mul(&x, v.T())
			x.Sub(&x, &scaled)
			bound := 4 * 0x1p-53 * float64(m+10) * math.Sqrt(float64(n)) // of ‖A‖, which is at most √(m·n)·top
			if d := mat.Norm(&x, 2); !(d <= bound*math.Sqrt(float64(m))) {
				t.Errorf("%s: U·S·Vᵀ differs from A by %g", name, d)
			}
			for _, x := range [...]*mat.Dense{u, v} {
				var xx mat.Dense
				xx.Mul(x.T(), x)
				for i := range n {
					xx.Set(i, i, xx.At(i, i)-1)
				}
				if d := mat.Norm(&xx, 2); !(d <= bound) {
					t.Errorf("%s: vectors are orthonormal to %g", name, d)
				}
			}
		}
	}
}
