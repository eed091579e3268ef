package sparse

import (
	"runtime"

	"revnum/internal/simd/cpu"
)

// A Product holds sparse matrices A and B, as a SpGEMM does, and takes rows of A·B.
type Product[T cpu.Float, I Index] struct {
	APtr, AInd []I
	BPtr, BInd []I
	Cols       int // of B
	A, B       []T // values, or nil for the columns alone

	Ind  []I // the columns of rows, in order
	C    []T // their values
	Ends []I // row i of A ends before entry Ends[i] of Ind
	Used int // how many entries rows have so far

	Sums  []T      // by columns
	Has   []uint64 // bit j%64 of word j/64 is for column j
	Flags []byte   // for each word of Has
	List  []int    // of words of Has
}

const (
	// ProductSlack is how many elements of Ind beyond those of a row Rows may overwrite.
	ProductSlack = 4

	flagsAtOnce = 64
)

// HasProduct reports whether Rows of a Product does rows in this process.
func HasProduct() bool { return tier != cpu.Generic && runtime.GOARCH == "amd64" }

// Open makes the scratch memory Sums, Has, Flags and List large enough. What it has of Sums, Has and
// Flags must be zero. It is zero after each row, too.
func (s *Product[T, I]) Open() {
	words := (s.Cols + 63) / 64
	s.Has = zeros(s.Has, words)
	s.Flags = zeros(s.Flags, (words+flagsAtOnce-1)/flagsAtOnce*flagsAtOnce)
	s.List = zeros(s.List, words+ProductSlack)
	if s.A != nil {
		s.Sums = zeros(s.Sums, s.Cols)
	}
}

// zeros returns n elements that are zero, as those of b are.
func zeros[E any](b []E, n int) []E {
	if cap(b) < n {
		return make([]E, n)
	}
	return b[:n]
}

// Rows appends rows lo, lo+1, ... of A·B, at most to hi-1, to the Used entries of Ind and C, and
// returns the number of rows done. Row i of the product has each column that an entry of row i of A
// meets in B, in order. The value is the sum of the products in the order of the entries of A and then
// of B, each of them rounded.
//
// Rows ends before a row that may need more of Ind than there is, and before one that takes longer
// than a call of assembly should. It also ends in a row that has an index outside of a matrix, after
// which the scratch memory is of no use.
func (s *Product[T, I]) Rows(lo, hi int) int {
	words := (s.Cols + 63) / 64
	switch {
	case lo < 0 || lo > hi || hi >= len(s.APtr) || hi > len(s.Ends) || len(s.BPtr) == 0 || s.Used < 0 || s.Cols < 0,
		s.A != nil && (len(s.A) != len(s.AInd) || len(s.B) != len(s.BInd) || len(s.C) < len(s.Ind) || len(s.Sums) < s.Cols),
		len(s.Has) < words || len(s.Flags) < words || len(s.Flags)%flagsAtOnce != 0 || len(s.List) < words+ProductSlack:
		panic(badLength)
	case !HasProduct() || lo == hi || words > flagsAtOnce*spgemmBudget || len(s.Ind)-s.Used < ProductSlack || int(I(len(s.Ind))) != len(s.Ind):
		return 0
	}
	n := hi - lo
	if s.A != nil {
		n = vectorProduct(s, lo, n, spgemmBudget)
	} else {
		n = vectorProductColumns(s, lo, n, spgemmBudget)
	}
	if n > 0 {
		s.Used = int(s.Ends[lo+n-1])
	}
	return n
}
