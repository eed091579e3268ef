package division_test

import (
	"testing"

	"revnum/internal/simd/sparse"
	"revnum/revsparse/internal/division"
)

// A row of most of the entries is divided between the blocks, which are of about the same
// number of entries and rows. If rows are not divided, it is in one block.
func TestLongRow(t *testing.T) {
	const rows, cols, blocks = 1000, 200000, 7
	for _, dense := range []int{0, 499, 999} {
		ptr := make([]int32, rows+1)
		for i := range rows {
			n := int32(2)
			if i == dense {
				n = cols
			}
			ptr[i+1] = ptr[i] + n
		}
		even := (int(ptr[rows]) + rows) / blocks
		for b := range blocks {
			from, to := division.At(ptr, b, blocks, true), division.At(ptr, b+1, blocks, true)
			if work := to.Entry - from.Entry + to.Row - from.Row; work > even+sparse.MaxEntries+10 || work < even-sparse.MaxEntries-10 {
				t.Errorf("dense row %d, block %d: %d entries and rows from %v to %v, want about %d", dense, b, work, from, to, even)
			}
			if at := division.At(ptr, b, blocks, false); at.Entry != int(ptr[at.Row]) {
				t.Errorf("dense row %d, block %d: begins at %v, want the first entry of a row", dense, b, at)
			}
		}
	}
}
