// Package division divides the rows and entries of sparse matrices into blocks.
package division

import (
	"sort"

	"revnum/internal/simd/sparse"
)

// LongRow is the largest number of entries of a row that blocks do not divide.
const LongRow = 1 << 14

// FirstRow returns the first row of a block. The blocks have about the same number of rows
// and entries of the matrices with the given row pointers.
func FirstRow[I int | int32](block, blocks, rows int, ptrs ...[]I) int {
	switch block {
	case 0:
		return 0
	case blocks:
		return rows
	}
	before := func(i int) int {
		n := i
		for _, ptr := range ptrs {
			n += int(ptr[i])
		}
		return n
	}
	at := before(rows) / blocks * block
	return sort.Search(rows, func(i int) bool { return before(i) >= at })
}

// A Place is where a block begins: an entry of a row, usually its first.
type Place struct{ Row, Entry int }

// At returns where a block begins, of a matrix with the given row pointers. It is inside a row only if
// the row is long and long rows are divided. A loop would begin there without blocks, too.
func At[I int | int32](ptr []I, block, blocks int, divide bool) Place {
	rows := len(ptr) - 1
	row := FirstRow(block, blocks, rows, ptr)
	if before := row - 1; block > 0 && block < blocks && divide && int(ptr[row])-int(ptr[before]) > LongRow {
		first := int(ptr[before])
		begin := (int(ptr[rows]) + rows) / blocks * block // entries and rows before the block
		if entry := begin - before; entry < int(ptr[row]) {
			return Place{before, entry - (entry-first)%sparse.MaxEntries}
		}
	}
	return Place{row, int(ptr[row])}
}
