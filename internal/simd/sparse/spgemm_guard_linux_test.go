package sparse

import (
	"math/rand/v2"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestSpGEMMGuardPages checks that the loops of SpGEMM do not read or write past the ends of
// their operands. These lie next to pages that fault.
func TestSpGEMMGuardPages(t *testing.T) {
	forEachIndex(t, testSpGEMMGuardPages[float64, int], testSpGEMMGuardPages[float64, int32], testSpGEMMGuardPages[float32, int], testSpGEMMGuardPages[float32, int32])
}

func testSpGEMMGuardPages[T cpu.Float, I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 2))
	var values [8][]T
	for n := range values {
		values[n] = simdtest.Guarded[T](t)
	}
	var indices [6][]I
	for n := range indices {
		indices[n] = simdtest.Guarded[I](t)
	}
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
		s := newSpGEMM[T, I](rnd, 1+rnd.IntN(5), 1+rnd.IntN(5), 1+rnd.IntN(12))
		s.CPtr, s.CInd = index(0, s.CPtr), index(1, s.CInd)
		s.APtr, s.AInd = index(2, s.APtr), index(3, s.AInd)
		s.BPtr, s.BInd = index(4, s.BPtr), index(5, s.BInd)
		s.C, s.A, s.B = value(0, s.C), value(1, s.A), value(2, s.B)
		s.GC, s.GA, s.GB = value(3, s.GC), value(4, s.GA), value(5, s.GB)
		s.Sums, s.W = value(6, s.Sums), value(7, s.W)
		for set := 1; set < 8; set++ {
			s := *s
			if set&1 == 0 {
				s.C, s.Sums = nil, nil
			}
			if set&2 == 0 {
				s.GA = nil
			}
			if set&4 == 0 {
				s.GB = nil
			}
			if s.GA == nil && s.GB == nil {
				s.GC, s.W = nil, nil
			}
			rows := len(s.APtr) - 1
			if done := s.Rows(0, rows); tier != cpu.Generic && done != rows {
				t.Fatalf("set %03b: %d rows are done of %d", set, done, rows)
			}
		}
	}
}
