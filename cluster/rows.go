package cluster

import (
	"fmt"

	"revnum/internal/objective"
	"revnum/internal/parallel"
	"revnum/rev"
	"revnum/revsparse"
)

// Rows is a sparse matrix A whose rows are divided over the ranks, in order. Rows are
// grouped into blocks of a given size, and each rank has whole blocks. Products have
// the same bits on any number of ranks.
type Rows[I revsparse.Index] struct {
	r         Reducer
	cols      int
	rows      int // of this rank
	blocks    []revsparse.CSR[float64, I]
	blockRows int
	adders    adders
	parts     [][]float64 // of goroutines
}

// RowsOf returns the range of rows that a rank has, first <= i < end, of the given
// number of rows.
func RowsOf(r Reducer, rows, blockRows int) (first, end int) {
	blocks := (rows + blockRows - 1) / blockRows
	at := func(rank int) int { return min(share(blocks, rank, r.Size())*blockRows, rows) }
	return at(r.Rank()), at(r.Rank() + 1)
}

// NewRows returns a matrix with the given total number of rows. On each rank, a holds
// the rows that RowsOf gives this rank. The matrix shares the storage of a. NewRows
// returns an error on all ranks if a has a wrong number of rows on any rank, or if the
// ranks differ in the number of columns. Workers is the number of goroutines of each
// rank; 0 means GOMAXPROCS.
func NewRows[I revsparse.Index](r Reducer, rows, blockRows, workers int, a revsparse.CSR[float64, I]) (*Rows[I], error) {
	objective.CheckNonNegative("cluster.Rows", "rows", rows)
	objective.CheckNonNegative("cluster.Rows", "blockRows-1", blockRows-1)
	first, end := RowsOf(r, rows, blockRows)
	what := fmt.Sprintf("%d rows in blocks of %d, %d columns", rows, blockRows, a.Cols)
	asked, err := Share(r, []byte(what))
	if err != nil {
		return nil, err
	}
	switch {
	case string(asked) != what:
		err = fmt.Errorf("cluster: a matrix of %s, on rank 0 of %s", what, asked)
	case a.Rows != end-first:
		err = fmt.Errorf("cluster: %d rows, expected %d: those from %d to %d of %d", a.Rows, end-first, first, end, rows)
	}
	if err := Agree(r, err); err != nil {
		return nil, err
	}
	m := &Rows[I]{r: r, cols: a.Cols, rows: a.Rows, blockRows: blockRows, adders: newAdders(workers)}
	m.parts = make([][]float64, len(m.adders.own))
	for w := range m.parts {
		m.parts[w] = make([]float64, a.Cols)
	}
	for at := 0; at < a.Rows; at += blockRows {
		n := min(blockRows, a.Rows-at)
		from, to := a.Ptr[at], a.Ptr[at+n]
		ptr := make([]I, n+1)
		for i := range ptr {
			ptr[i] = a.Ptr[at+i] - from
		}
		m.blocks = append(m.blocks, revsparse.CSR[float64, I]{Rows: n, Cols: a.Cols, Ptr: ptr, Ind: a.Ind[from:to], Data: a.Data[from:to]})
	}
	return m, nil
}

// MulTo stores this rank's rows of A·x in dst. x must be the same on all ranks. The
// ranks do not communicate. It panics with mat.ErrShape if the lengths are wrong.
func (m *Rows[I]) MulTo(dst, x []float64) {
	objective.CheckLen("cluster.Rows", "dst", len(dst), m.rows)
	objective.CheckLen("cluster.Rows", "x", len(x), m.cols)
	clear(dst)
	parallel.Run(len(m.adders.own), len(m.blocks), rowsTask(func(_, b int) {
		a := m.blocks[b]
		y := dst[b*m.blockRows:][:a.Rows]
		revsparse.Mul[float64, I]{C: column(y), A: a, B: column(x), Workers: 1}.Forward()
	}))
}

// TransMulTo stores Aᵀ·y in dst, on all ranks. Each rank gives the elements of y that
// belong to its rows of A. The products of blocks are added exactly. It panics with
// mat.ErrShape if the lengths are wrong, and returns the error of the Reducer.
func (m *Rows[I]) TransMulTo(dst, y []float64) error {
	objective.CheckLen("cluster.Rows", "dst", len(dst), m.cols)
	objective.CheckLen("cluster.Rows", "y", len(y), m.rows)
	s, _ := m.adders.run(len(m.blocks), m.cols, func(worker, b int, s *Sums) error {
		a, part := m.blocks[b], m.parts[worker]
		clear(part)
		revsparse.Mul[float64, I]{C: column(part), A: a, B: column(y[b*m.blockRows:][:a.Rows]), Trans: true, Workers: 1}.Forward()
		s.Add(part)
		return nil
	})
	if err := s.Reduce(m.r, nil); err != nil {
		return err
	}
	s.RoundTo(dst)
	return nil
}

// rowsTask is the parallel task of MulTo.
type rowsTask func(worker, block int)

// Block implements parallel.Task.
func (t rowsTask) Block(worker, block int) { t(worker, block) }

// column returns the view of x as a matrix of one column.
func column(x []float64) rev.General[float64] {
	return rev.General[float64]{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}
