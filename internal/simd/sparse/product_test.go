package sparse

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestProduct(t *testing.T) {
	forEachIndex(t, testProduct[float64, int], testProduct[float64, int32], testProduct[float32, int], testProduct[float32, int32])
}

// newProduct returns factors with repeated columns in any order, and room for space entries.
func newProduct[T cpu.Float, I Index](rnd *rand.Rand, rows, inner, cols, perRow, space int, values bool) *Product[T, I] {
	s := &Product[T, I]{Cols: cols, Ind: make([]I, space), Ends: make([]I, rows)}
	s.APtr, s.AInd = spgemmRows[I](rnd, rows, inner, min(perRow, 20))
	s.BPtr, s.BInd = spgemmRows[I](rnd, inner, cols, perRow)
	if values {
		s.A, _ = poisoned[T](rnd, 1, len(s.AInd), len(s.AInd))
		s.B, _ = poisoned[T](rnd, 1, len(s.BInd), len(s.BInd))
		s.C = make([]T, space)
	}
	s.Open()
	return s
}

// wantProduct returns row i.
func wantProduct[T cpu.Float, I Index](s *Product[T, I], i int) (ind []I, values []T) {
	sums := map[I]T{}
	for p := s.APtr[i]; p < s.APtr[i+1]; p++ {
		for q := s.BPtr[s.AInd[p]]; q < s.BPtr[s.AInd[p]+1]; q++ {
			if s.A == nil {
				sums[s.BInd[q]] = 0
				continue
			}
			sums[s.BInd[q]] += T(s.A[p] * s.B[q])
		}
	}
	for _, j := range slices.Sorted(maps.Keys(sums)) {
		ind, values = append(ind, j), append(values, sums[j])
	}
	return ind, values
}

func testProduct[T cpu.Float, I Index](t *testing.T) {
	if !HasProduct() {
		t.Skip("no vector code")
	}
	rnd := rand.New(rand.NewPCG(9, 3))
	for n := range 300 {
		rows, inner, cols, perRow := 1+rnd.IntN(9), 1+rnd.IntN(9), 1+rnd.IntN(200), 1+rnd.IntN(20)
		switch n % 4 {
		case 1: // all words of columns are looked at by their flags
			cols = 64*few + rnd.IntN(20_000)
		case 2: // full words
			perRow = 150
		case 3:
			cols, perRow = 64*few+rnd.IntN(5000), 400
		}
		s := newProduct[T, I](rnd, rows, inner, cols, perRow, 70_000, rnd.IntN(2) == 0)
		before := rnd.IntN(4)
		s.Used = before
		used := before
		for i := 0; i < rows; {
			done := s.Rows(i, rows)
			if done == 0 {
				t.Fatalf("no row is done after %d of %d", i, rows)
			}
			for range done {
				ind, values := wantProduct(s, i)
				if end := int(s.Ends[i]); end-used != len(ind) {
					t.Fatalf("row %d has %d entries, want %d", i, end-used, len(ind))
				}
				if !slices.Equal(s.Ind[used:used+len(ind)], ind) {
					t.Fatalf("row %d has columns %v, want %v", i, s.Ind[used:used+len(ind)], ind)
				}
				if s.A != nil {
					simdtest.SameSlice(t, "C", s.C[used:used+len(ind)], values)
				}
				used += len(ind)
				i++
			}
			if s.Used != used {
				t.Fatalf("%d entries are in use, want %d", s.Used, used)
			}
		}
		if i := slices.IndexFunc(s.Sums, func(x T) bool { return x != 0 }); i >= 0 {
			t.Fatalf("sum %d is left", i)
		}
		if slices.ContainsFunc(s.Has, func(x uint64) bool { return x != 0 }) || slices.ContainsFunc(s.Flags, func(x byte) bool { return x != 0 }) {
			t.Fatal("columns are left")
		}
	}
}

// few is that of the generator.
const few = 40

// TestProductLeaves checks that Rows ends before rows that have no room, that are too long, or that have
// indices outside of the matrices.
func TestProductLeaves(t *testing.T) {
	if !HasProduct() {
		t.Skip("no vector code")
	}
	for _, test := range []struct {
		name  string
		want  int
		spoil func(s *Product[float64, int32])
	}{
		{"nothing", 3, func(*Product[float64, int32]) {}},
		{"room for all", 3, func(s *Product[float64, int32]) { s.Ind = s.Ind[:6+ProductSlack] }},
		{"room for two rows", 2, func(s *Product[float64, int32]) { s.Ind = s.Ind[:5+ProductSlack] }},
		{"no room", 0, func(s *Product[float64, int32]) { s.Ind = s.Ind[:1] }},
		{"column of A", 2, func(s *Product[float64, int32]) { s.AInd[2] = 3 }},
		{"negative column of A", 2, func(s *Product[float64, int32]) { s.AInd[2] = -1 }},
		{"column of B", 2, func(s *Product[float64, int32]) { s.BInd[5] = 70 }},
		{"negative column of B", 2, func(s *Product[float64, int32]) { s.BInd[5] = -1 }},
		{"row of A", 2, func(s *Product[float64, int32]) { s.APtr[3] = 4 }},
		{"row of A that begins after its end", 1, func(s *Product[float64, int32]) { s.APtr[2] = 0 }},
		{"row of B", 2, func(s *Product[float64, int32]) { s.BPtr[3] = 7 }},
		{"row of B that begins after its end", 2, func(s *Product[float64, int32]) { s.BPtr[3] = 3 }},
		{"a long row of A", 2, func(s *Product[float64, int32]) {
			s.BPtr = append(s.BPtr, 6) // an empty row
			s.AInd = append(s.AInd[:2], slices.Repeat([]int32{3}, spgemmBudget)...)
			s.A = make([]float64, len(s.AInd))
			s.APtr[3] = int32(len(s.AInd))
		}},
	} {
		for _, values := range []bool{true, false} {
			s := &Product[float64, int32]{
				APtr: []int32{0, 1, 2, 3}, AInd: []int32{0, 1, 2}, BPtr: []int32{0, 2, 4, 6}, BInd: []int32{0, 69, 1, 2, 3, 4},
				Cols: 70, A: make([]float64, 3), B: make([]float64, 6), C: make([]float64, 20), Ind: make([]int32, 20), Ends: make([]int32, 3),
			}
			test.spoil(s)
			if !values {
				s.A, s.B, s.C = nil, nil, nil
			}
			s.Open()
			if n := s.Rows(0, 3); n != test.want || s.Used != 2*n {
				t.Errorf("%s: %d rows and %d entries are done, want %d and %d", test.name, n, s.Used, test.want, 2*test.want)
			}
		}
	}
}

// TestProductWide checks that flags count for how long a call takes, as there are many if columns are far apart.
func TestProductWide(t *testing.T) {
	if !HasProduct() {
		t.Skip("no vector code")
	}
	const rows, cols = 20, 64 * flagsAtOnce * spgemmBudget / 4
	s := &Product[float64, int32]{
		APtr: make([]int32, rows+1), AInd: make([]int32, rows), BPtr: []int32{0, 2}, BInd: []int32{0, cols - 1},
		Cols: cols, Ind: make([]int32, 2*rows+ProductSlack), Ends: make([]int32, rows),
	}
	for i := range s.APtr {
		s.APtr[i] = int32(i)
	}
	s.Open()
	if n := s.Rows(0, rows); n < 3 || n > 5 {
		t.Errorf("a call does %d rows of a quarter of its budget", n)
	}
}
