package shard

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// DefaultBlock is the default number of rows of a block.
const DefaultBlock = 4096

// A Set is a list of shards, cut into blocks.
type Set struct {
	files     []File
	blockRows int
	cols      int
	rows      []int // the first row of each file, then the number of all rows
	blocks    []int // the first block of each file, then the number of all blocks
}

// NewSet returns the set of the files, with blocks of at most blockRows rows; 0 means
// DefaultBlock. It returns an error if there are no files or no rows, or if the files differ
// in their number of columns. The files then stay open.
func NewSet(blockRows int, files ...File) (*Set, error) {
	switch {
	case len(files) == 0:
		return nil, errors.New("shard: no files")
	case blockRows < 0:
		return nil, fmt.Errorf("shard: blocks of %d rows, expected at least 1", blockRows)
	case blockRows == 0:
		blockRows = DefaultBlock
	}
	s := &Set{files: files, blockRows: blockRows, rows: []int{0}, blocks: []int{0}}
	for i, f := range files {
		rows, cols := f.Dims()
		if i == 0 {
			s.cols = cols
		}
		if cols != s.cols {
			return nil, fmt.Errorf("%s: expected %d columns, as %s has, found %d", f.Name(), s.cols, files[0].Name(), cols)
		}
		s.rows = append(s.rows, s.rows[i]+rows)
		s.blocks = append(s.blocks, s.blocks[i]+(rows+blockRows-1)/blockRows)
	}
	if s.rows[len(files)] == 0 {
		return nil, fmt.Errorf("%s: expected rows, found none", files[0].Name())
	}
	return s, nil
}

// Glob returns the files that match the patterns. It sorts the files of each pattern. A
// pattern that matches no file is an error.
func Glob(patterns ...string) ([]string, error) {
	var paths []string
	for _, pattern := range patterns {
		list, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%s: no such file", pattern)
		}
		paths = append(paths, list...)
	}
	return paths, nil
}

// OpenSet opens the set of the shards at the paths, in their order.
func (f Formats) OpenSet(blockRows int, c Columns, paths ...string) (*Set, error) {
	s := new(Set)
	for _, path := range paths {
		file, err := f.open(path, c)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.files = append(s.files, file)
	}
	set, err := NewSet(blockRows, s.files...)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return set, nil
}

func (f Formats) extensions() []string { return slices.Sorted(maps.Keys(f)) }

// Dims returns the number of all rows, and of columns.
func (s *Set) Dims() (rows, cols int) { return s.rows[len(s.files)], s.cols }

// Blocks returns the number of blocks.
func (s *Set) Blocks() int { return s.blocks[len(s.files)] }

// BlockRows returns the largest number of rows of a block.
func (s *Set) BlockRows() int { return s.blockRows }

// Close closes the files.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// String describes the set. Sets with equal descriptions have files with the same
// names, shapes and order, and the same blocks. Folders do not count.
func (s *Set) String() string {
	return fmt.Sprintf("blocks of %d rows, %s", s.blockRows, strings.Join(s.Shards(), ", "))
}

// Shards describes each shard by its name, without the folder, and its shape.
func (s *Set) Shards() []string {
	list := make([]string, len(s.files))
	for i, f := range s.files {
		rows, cols := f.Dims()
		list[i] = fmt.Sprintf("%s with %d×%d numbers", filepath.Base(f.Name()), rows, cols)
	}
	return list
}

// Hash returns the number of the shard of a block, and a hash of the block's rows x. The
// sum of the hashes of all blocks of a shard, which wraps, depends on all bits of its numbers
// and on their order, and not on the blocks. It protects against mistakes, not against
// attacks.
func (s *Set) Hash(block int, x rev.General[float64]) (file int, hash uint64) {
	file = s.file(s.blocks, block)
	i := uint64(block-s.blocks[file]) * uint64(s.blockRows*s.cols)
	for r := range x.Rows {
		for _, v := range x.Row(r) {
			i++
			// The steps of SplitMix64 (Steele, Lea and Flood, 2014).
			z := math.Float64bits(v) + i*0x9e3779b97f4a7c15
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			hash += z ^ z>>31
		}
	}
	return file, hash
}

// Rows returns the range of rows of a block, first <= i < end, counted over all files.
func (s *Set) Rows(block int) (first, end int) {
	f := s.file(s.blocks, block)
	first = s.rows[f] + (block-s.blocks[f])*s.blockRows
	return first, min(first+s.blockRows, s.rows[f+1])
}

// file returns the file that contains element i. starts has the first element of each
// file. It panics if there is no such element.
func (s *Set) file(starts []int, i int) int {
	if n := starts[len(s.files)]; i < 0 || i >= n {
		panic(&rev.OperandError{Kernel: "shard.Set", Operand: "block or row", Reason: fmt.Sprintf("is %d, want 0 to %d", i, n-1), Err: mat.ErrRowAccess})
	}
	return sort.SearchInts(starts, i+1) - 1
}

// Read returns a block. It stores the block in buf if buf is large enough. It may be
// called concurrently.
func (s *Set) Read(block int, buf []float64) (rev.General[float64], error) {
	first, end := s.Rows(block)
	x := rev.NewGeneral(end-first, s.cols, slices.Grow(buf[:0], (end-first)*s.cols)[:(end-first)*s.cols])
	f := s.file(s.blocks, block)
	return x, s.files[f].Read(x.Data, first-s.rows[f])
}

// ReadRow returns row i, counted over all files.
func (s *Set) ReadRow(row int) ([]float64, error) {
	x := make([]float64, s.cols)
	f := s.file(s.rows, row)
	return x, s.files[f].Read(x, row-s.rows[f])
}

// Powers overwrites dst with the sums over the rows of x of (x - origin - about)^power,
// where power is 1 or 2. If origin is a row of the set, a constant column has a sum of
// exactly 0. If then about is the mean minus the origin, its variance is exactly 0.
func Powers(dst []float64, x rev.General[float64], power int, origin, about []float64) {
	clear(dst)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			v -= origin[j]
			v -= about[j]
			if power == 2 {
				v = float64(v * v)
			}
			dst[j] += v
		}
	}
}

// CheckFinite returns an error if a number of x is not finite, where x is the given
// block. The error names the file, row and column of the first such number.
func (s *Set) CheckFinite(block int, x rev.General[float64]) error {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				f := s.file(s.blocks, block)
				row := (block-s.blocks[f])*s.blockRows + i
				return fmt.Errorf("%s: expected finite numbers, found %v at row %d, column %d", s.files[f].Name(), v, row, j)
			}
		}
	}
	return nil
}
