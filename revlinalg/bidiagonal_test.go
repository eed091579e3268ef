package revlinalg

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
)

// Q·B·Pᵀ is A, and Q and P are orthogonal, at orders around those of panels and of blocks, and around the
// size from which on workers share a pass. Bits do not depend on the workers.
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
			var w, two bidiagonal
			for i, w := range [...]*bidiagonal{&w, &two} {
				w.begin(i+1, m, n)
				copyMatrix(w.a, a)
				w.reduce()
			}
			if !slices.Equal(w.d, two.d) || !slices.Equal(w.e[:n-1], two.e[:n-1]) || !slices.Equal(w.v.Data, two.v.Data) || !slices.Equal(w.u.Data, two.u.Data) {
				t.Errorf("%s: other bits with two workers", name)
			}
			q, p := scratch(rev.General[float64]{}, n, m), scratch(rev.General[float64]{}, n, n)
			w.formTransposed(q, w.v, w.tau, 0)
			w.formTransposed(p, w.u, w.sigma, 1)
			top := 0.0
			for i := range m {
				for _, v := range a.Row(i) {
					top = max(top, math.Abs(v))
				}
			}
			if top == 0 {
				top = 1
			}
			b := mat.NewDense(n, n, nil)
			for i := range n {
				b.Set(i, i, w.d[i]/top)
				if i+1 < n {
					b.Set(i, i+1, w.e[i]/top)
				}
			}
			dense64 := func(x rev.General[float64], s float64) *mat.Dense {
				d := mat.NewDense(x.Rows, x.Cols, nil)
				for i := range x.Rows {
					for j, v := range x.Row(i) {
						d.Set(i, j, v*s)
					}
				}
				return d
			}
			qt, pt := dense64(q, 1), dense64(p, 1)
			var x mat.Dense
			x.Mul(qt.T(), b)
			x.Mul(&x, pt)
			x.Sub(&x, dense64(a, 1/top))
			bound := 4 * 0x1p-53 * float64(m+10) * math.Sqrt(float64(n)) // of ‖A‖, which is at most √(m·n)·top
			if d := mat.Norm(&x, 2); !(d <= bound*math.Sqrt(float64(m))) {
				t.Errorf("%s: Q·B·Pᵀ differs from A by %g", name, d)
			}
			for _, x := range [...]*mat.Dense{qt, pt} {
				var xx mat.Dense
				xx.Mul(x, x.T())
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
