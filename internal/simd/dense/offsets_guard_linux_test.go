package dense

import (
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// The loops over rows at offsets do not read or write past the ends of their operands, which
// lie next to pages that fault.
func TestOffsetsGuardPages(t *testing.T) {
	simdtest.ForEachType(t, &tier, testOffsetsGuardPages[float64], testOffsetsGuardPages[float32])
}

func testOffsetsGuardPages[T cpu.Float](t *testing.T) {
	a, b, c := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)
	list := simdtest.Guarded[int](t)
	for _, atEnd := range []bool{false, true} {
		for m := 1; m <= 9; m++ {
			for n := 1; n <= 50; n++ {
				for _, k := range []int{1, 2, 5, 7} {
					offsets := simdtest.End(list, k, atEnd)
					for i := range offsets {
						offsets[i] = i % 2
					}
					for _, packed := range []bool{false, true} {
						GemmOffsets(m, n, 1e-3, Left[T]{simdtest.End(a, m*k, atEnd), k, 1, packed}, simdtest.End(b, n+1, atEnd), offsets, simdtest.End(c, m*n, atEnd), n)
					}
					GemmOffsetsRows(m, n, 1e-3, Left[T]{simdtest.End(a, k, atEnd), k, 1, false}, simdtest.End(b, m*n+1, atEnd), n, offsets, simdtest.End(c, m*n, atEnd), n)
					RowDots(m, n, simdtest.End(a, m*n+1, atEnd), n, offsets, simdtest.End(b, m*n, atEnd), n, simdtest.End(c, k, atEnd))
				}
				for step := 1; step <= 2 && m*n*step <= len(a); step++ {
					CopyRows(m, n, simdtest.End(c, m*n, atEnd), n, simdtest.End(a, (m*n-1)*step+1, atEnd), n*step, step)
				}
				AddRows(m, n, 1e-3, simdtest.End(a, m*n, atEnd), n, simdtest.End(c, m*n, atEnd), n)
			}
		}
	}
}
