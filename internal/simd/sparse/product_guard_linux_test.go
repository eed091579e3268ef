package sparse

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestProductGuardPages checks that Rows of Product does not read or write past the ends of its operands.
func TestProductGuardPages(t *testing.T) {
	forEachIndex(t, testProductGuardPages[float64, int], testProductGuardPages[float64, int32], testProductGuardPages[float32, int], testProductGuardPages[float32, int32])
}

func testProductGuardPages[T cpu.Float, I Index](t *testing.T) {
	if !HasProduct() {
		t.Skip("no vector code")
	}
	rnd := rand.New(rand.NewPCG(9, 4))
	var values [4][]T
	for n := range values {
		values[n] = simdtest.Guarded[T](t)
	}
	var indices [6][]I
	for n := range indices {
		indices[n] = simdtest.Guarded[I](t)
	}
	has, flags, list := simdtest.Guarded[float64](t), simdtest.Guarded[float64](t), simdtest.Guarded[float64](t)
	for n := range 200 {
		last := n%2 == 1
		value := func(n int, x []T) []T {
			y := simdtest.End(values[n], len(x), last)
			copy(y, x)
			return y
		}
		index := func(n int, x []I) []I {
			y := simdtest.End(indices[n], len(x), last)
			copy(y, x)
			return y
		}
		cols := 1 + rnd.IntN(300)
		wide := n%3 == 0 // too wide for Sums between pages
		if wide {
			cols += 64 * few
		}
		s := newProduct[T, I](rnd, 1+rnd.IntN(5), 1+rnd.IntN(9), cols, 1+rnd.IntN(6), 0, !wide)
		most := 0
		for _, l := range s.AInd {
			most += int(s.BPtr[l+1] - s.BPtr[l])
		}
		s.APtr, s.AInd, s.BPtr, s.BInd = index(0, s.APtr), index(1, s.AInd), index(2, s.BPtr), index(3, s.BInd)
		s.Ind, s.Ends = index(4, make([]I, most+ProductSlack)), index(5, s.Ends)
		if s.A != nil {
			s.A, s.B, s.C, s.Sums = value(0, s.A), value(1, s.B), value(2, make([]T, most+ProductSlack)), value(3, s.Sums)
		}
		s.Has = wordsAt[uint64](simdtest.End(has, len(s.Has), last))
		s.Flags = wordsAt[byte](simdtest.End(flags, len(s.Flags)/8, last))
		s.List = wordsAt[int](simdtest.End(list, len(s.List), last))
		if rows := len(s.Ends); s.Rows(0, rows) != rows {
			t.Fatalf("not all of %d rows are done", rows)
		}
	}
}

// wordsAt returns the zeroed memory of x as elements of another type.
func wordsAt[E any](x []float64) []E {
	clear(x)
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*8/int(unsafe.Sizeof(e)))
}
