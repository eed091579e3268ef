package simd

import "testing"

// The loops over sparse rows neither read nor write past the ends of their
// operands, which lie against pages that fault.
func TestSparseGuardPages(t *testing.T) {
	forEachType(t, testSparseGuardPages[float64], testSparseGuardPages[float32])
}

func testSparseGuardPages[T Float](t *testing.T) {
	dst, v, a, ga, u := guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t)
	at := func(x []T, n int, end bool) []T {
		if end {
			return x[len(x)-n:]
		}
		return x[:n]
	}
	for cols := 1; cols <= sparseMost; cols++ {
		n := SparseCols[T](cols)
		for _, end := range []bool{false, true} {
			rows := min(3, len(u)/n)
			ind := []int32{int32(rows - 1), 0, int32(rows / 2)}
			x := at(u, rows*n, end)
			SparseRow(at(dst, n, end), 1e-3, at(a, 3, end), ind, x, n)
			SparseDots(at(ga, 3, end), 1e-3, at(v, n, end), n, ind, x, n)
			SparseRowDots(at(dst, n, end), 1e-3, at(a, 3, end), at(ga, 3, end), 1e-3, at(v, n, end), n, ind, x, n)
		}
	}
}
