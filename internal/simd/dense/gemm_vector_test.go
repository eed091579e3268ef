//go:build (amd64 || arm64) && !noasm

package dense

import (
	"fmt"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestGemmPacked checks that copying the operands changes no bit, for any strides and any
// number of blocks and panels.
func TestGemmPacked(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		if tier == cpu.Generic {
			t.Skip("copies nothing")
		}
		testGemmPacked[float64](t)
		testGemmPacked[float32](t)
	})
}

func testGemmPacked[T cpu.Float](t *testing.T) {
	for _, dim := range [][3]int{{1, 1, 1}, {7, 50, 3}, {gemmRows + 9, 31, gemmDepth + 1}, {33, gemmCols + 25, 40}} {
		m, n, k := dim[0], dim[1], dim[2]
		for _, strides := range [][4]int{{k + 2, 1, n + 3, 1}, {1, m + 1, n, 1}, {2 * k, 2, 2 * n, 1}, {1, m, 1, k + 1}} {
			rsa, csa, rsb, csb := strides[0], strides[1], strides[2], strides[3]
			a := simdtest.Normal[T]((m-1)*rsa+(k-1)*csa+1, 1)
			b := simdtest.Normal[T]((k-1)*rsb+(n-1)*csb+1, 2)
			ldc := n + 5
			want := simdtest.Normal[T](m*ldc, 3)
			got, both := slices.Clone(want), slices.Clone(want)
			gemmPacked(m, n, k, 2, a, rsa, csa, b, rsb, csb, got, ldc, false)
			gemmPacked(m, n, k, 2, a, rsa, csa, b, rsb, csb, both, ldc, true)
			// gemmOuter wants rows.
			rows := make([]T, k*n)
			for l := range k {
				for j := range n {
					rows[l*n+j] = b[l*rsb+j*csb]
				}
			}
			gemmOuter(m, n, k, 2, a, rsa, csa, rows, n, 1, want, ldc)
			if !slices.Equal(got, want) || !slices.Equal(both, want) {
				t.Errorf("%s: the bits differ", fmt.Sprint(dim, strides))
			}
		}
	}
}
