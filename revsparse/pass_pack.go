package revsparse

import (
	"revnum/internal/parallel"
	"revnum/internal/simd/sparse"
	"revnum/internal/workspace"
	"revnum/rev"
)

const (
	packedReads = 4      // average number of reads of a row for which a copy pays
	packedRows  = 1 << 8 // rows of a block of stepPack
)

// packColumns replaces the columns by copies without gaps.
func (j *job[T, I]) packColumns() {
	j.given = j.p
	for n, m := range j.p.dense() {
		if m.Data == nil || m.Stride == 1 {
			continue
		}
		j.packed[n] = workspace.Grow(j.packed[n], m.Rows)
		for i := range m.Rows {
			j.packed[n][i] = m.Data[i*m.Stride]
		}
		m.Data, m.Stride = j.packed[n], 1
	}
}

// unpack copies the results to their places.
func (j *job[T, I]) unpack() {
	given := j.given.dense()
	for n, m := range j.p.dense() {
		to := given[n]
		if n < 2 || to.Data == nil || to.Stride == 1 {
			continue
		}
		for i := range m.Rows {
			to.Data[i*to.Stride] = m.Data[i]
		}
	}
}

// pack returns columns of a dense matrix side by side, in storage number n. If a copy
// does not pay, it returns them as they are.
func (j *job[T, I]) pack(n int, m rev.General[T]) rev.General[T] {
	if !j.worthPacking(m) {
		return m
	}
	j.setPack(n, m)
	j.step = stepPack
	parallel.Run(parallel.Workers(j.p.workers), (m.Rows+packedRows-1)/packedRows, j)
	to := j.to
	j.to = rev.General[T]{}
	return to
}

// worthPacking reports whether columns of a dense matrix are read so often that a copy pays.
// If they are far apart, a cache does not hold them, least of all if the stride is a
// power of 2.
func (j *job[T, I]) worthPacking(m rev.General[T]) bool {
	return m.Stride > m.Cols && len(j.p.a.Ind) >= packedReads*m.Rows
}

// setPack makes packRows copy m to storage number n.
func (j *job[T, I]) setPack(n int, m rev.General[T]) {
	j.packed[n] = workspace.Grow(j.packed[n], m.Rows*m.Cols)
	j.from, j.to = m, rev.General[T]{Rows: m.Rows, Cols: m.Cols, Data: j.packed[n], Stride: m.Cols}
}

// packRows copies rows of from to to.
func (j *job[T, I]) packRows(first, last int) {
	for i := first; i < last; i++ {
		if soon := i + 8; soon < last {
			prefetch(j.from.Row(soon))
		}
		copy(j.to.Row(i), j.from.Row(i))
	}
}

// prefetch loads x into a cache.
func prefetch[T rev.Number](x []T) {
	switch x := any(x).(type) {
	case []float64:
		sparse.PrefetchRow(x)
	case []float32:
		sparse.PrefetchRow(x)
	}
}
