package sparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestSpGEMM(t *testing.T) {
	forEachIndex(t, testSpGEMM[float64, int], testSpGEMM[float64, int32], testSpGEMM[float32, int], testSpGEMM[float32, int32])
}

// spgemmRows returns the structure of a matrix with rows of 0 to most entries.
func spgemmRows[I Index](rnd *rand.Rand, rows, cols, most int) (ptr, ind []I) {
	ptr = append(ptr, 0)
	for range rows {
		for range rnd.IntN(most + 1) {
			ind = append(ind, I(rnd.IntN(cols)))
		}
		ptr = append(ptr, I(len(ind)))
	}
	return ptr, ind
}

// newSpGEMM returns random operands. Each lies in storage of its own, in poison. B has
// infinities.
func newSpGEMM[T cpu.Float, I Index](rnd *rand.Rand, rows, inner, cols int) *SpGEMM[T, I] {
	s := &SpGEMM[T, I]{Cols: cols, Sign: -1}
	s.CPtr, s.CInd = spgemmRows[I](rnd, rows, cols, 6)
	s.APtr, s.AInd = spgemmRows[I](rnd, rows, inner, 4)
	s.BPtr, s.BInd = spgemmRows[I](rnd, inner, cols, 11)
	values := func(n int) []T {
		x, _ := poisoned[T](rnd, 1, n, n)
		return x
	}
	s.C, s.A, s.B = values(len(s.CInd)), values(len(s.AInd)), values(len(s.BInd))
	s.GC, s.GA, s.GB = values(len(s.CInd)), values(len(s.AInd)), values(len(s.BInd))
	if len(s.B) > 0 {
		s.B[rnd.IntN(len(s.B))] = T(math.Inf(1))
	}
	s.Sums, s.W = values(cols), values(cols)
	for j := range s.W {
		s.W[j] = absent[T]()
	}
	return s
}

func absent[T cpu.Float]() T {
	var x T
	switch x := any(&x).(type) {
	case *float64:
		*x = math.Float64frombits(Absent64)
	case *float32:
		*x = math.Float32frombits(Absent32)
	}
	return x
}

// wantSpGEMM does to row i what Rows should do.
func wantSpGEMM[T cpu.Float, I Index](s *SpGEMM[T, I], i int) {
	last := map[I]I{} // the entry of C of a column
	for p := s.CPtr[i]; p < s.CPtr[i+1]; p++ {
		last[s.CInd[p]] = p
	}
	sums := map[I]T{}
	for p := s.APtr[i]; p < s.APtr[i+1]; p++ {
		var sum T
		for q := s.BPtr[s.AInd[p]]; q < s.BPtr[s.AInd[p]+1]; q++ {
			r, ok := last[s.BInd[q]]
			if !ok {
				continue
			}
			if s.C != nil {
				sums[r] += T(s.A[p] * s.B[q])
			}
			if s.GB != nil {
				s.GB[q] += T(s.A[p] * s.GC[r])
			}
			if s.GA != nil {
				sum += T(s.GC[r] * s.B[q])
			}
		}
		if s.GA != nil {
			s.GA[p] += sum
		}
	}
	for r, x := range sums {
		s.C[r] += s.Sign * x
	}
}

func testSpGEMM[T cpu.Float, I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for range 300 {
		s := newSpGEMM[T, I](rnd, 1+rnd.IntN(9), 1+rnd.IntN(9), 1+rnd.IntN(20))
		if rnd.IntN(2) == 0 {
			s.C, s.Sums = nil, nil
		}
		switch rnd.IntN(3) {
		case 0:
			s.GA = nil
		case 1:
			s.GB = nil
		}
		want := *s
		want.C, want.GA, want.GB = slices.Clone(s.C), slices.Clone(s.GA), slices.Clone(s.GB)
		lo := rnd.IntN(len(s.APtr))
		hi := lo + rnd.IntN(len(s.APtr)-lo)
		n := s.Rows(lo, hi)
		if tier != cpu.Generic && n != hi-lo {
			t.Fatalf("%d rows are done of %d", n, hi-lo)
		}
		for i := lo; i < lo+n; i++ {
			wantSpGEMM(&want, i)
		}
		simdtest.SameSlice(t, "C", s.C, want.C)
		simdtest.SameSlice(t, "GA", s.GA, want.GA)
		simdtest.SameSlice(t, "GB", s.GB, want.GB)
		for j, x := range s.W {
			if math.Float64bits(float64(x)) != math.Float64bits(float64(absent[T]())) {
				t.Fatalf("element %d of W is there", j)
			}
		}
	}
}

// TestSpGEMMLeaves checks that Rows leaves to the caller the rows that are too long, and
// stops at indices that are not in the matrices.
func TestSpGEMMLeaves(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, test := range []struct {
			name  string
			spoil func(s *SpGEMM[float64, int])
		}{
			{"column of A", func(s *SpGEMM[float64, int]) { s.AInd[2] = 3 }},
			{"negative column of A", func(s *SpGEMM[float64, int]) { s.AInd[2] = -1 }},
			{"column of B", func(s *SpGEMM[float64, int]) { s.BInd[2] = 3 }},
			{"negative column of B", func(s *SpGEMM[float64, int]) { s.BInd[2] = math.MinInt }},
			{"column of C", func(s *SpGEMM[float64, int]) { s.CInd[2] = 3 }},
			{"row of A", func(s *SpGEMM[float64, int]) { s.APtr[3] = 4 }},
			{"row of B", func(s *SpGEMM[float64, int]) { s.BPtr[3] = 4 }},
			{"row of B that begins after its end", func(s *SpGEMM[float64, int]) { s.BPtr[2], s.BPtr[3] = 3, 2 }},
			{"row of C", func(s *SpGEMM[float64, int]) { s.CPtr[3] = math.MaxInt }},
			{"row of A with many entries that meet none", func(s *SpGEMM[float64, int]) {
				s.BPtr = append(s.BPtr, 3) // an empty row
				s.AInd, s.A = append(s.AInd[:2], slices.Repeat([]int{3}, spgemmBudget)...), append(s.A[:2], make([]float64, spgemmBudget)...)
				s.APtr[3] = len(s.AInd)
			}},
			{"long row", func(s *SpGEMM[float64, int]) {
				s.BPtr[3] += spgemmBudget
				s.BInd, s.B = append(s.BInd, make([]int, spgemmBudget)...), append(s.B, make([]float64, spgemmBudget)...)
			}},
		} {
			// Three times the unit matrix.
			unit := func() ([]int, []int) { return []int{0, 1, 2, 3}, []int{0, 1, 2} }
			s := &SpGEMM[float64, int]{Cols: 3, C: make([]float64, 3), Sign: 1, Sums: make([]float64, 3)}
			s.CPtr, s.CInd = unit()
			s.APtr, s.AInd = unit()
			s.BPtr, s.BInd = unit()
			s.A, s.B = []float64{1, 1, 1}, []float64{1, 1, 1}
			test.spoil(s)
			want := 2
			if tier == cpu.Generic {
				want = 0
			}
			if n := s.Rows(0, 3); n != want {
				t.Errorf("%s: %d rows are done, want %d", test.name, n, want)
			}
			if n := s.Rows(2, 3); n != 0 {
				t.Errorf("%s: the row is done", test.name)
			}
			if s.C[2] != 0 {
				t.Errorf("%s: row 2 is written", test.name)
			}
		}
	})
}
