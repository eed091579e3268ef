package revsparse

import (
	"fmt"
	"math/bits"
	"slices"

	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/simd/sparse"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse/internal/division"
)

// SpGEMMPattern returns the zero matrix with the entries, sorted, that the product of a
// and b may have. It returns an error if indices of type I cannot count them. It panics with an
// OperandError if a has not as many columns as b has rows, and if the lengths of a factor's slices do
// not fit its shape and row pointers. A column out of range panics too.
func SpGEMMPattern[T any, I Index](a, b CSR[T, I]) (CSR[T, I], error) {
	checkFactors(&a, &b)
	structure := func(a *CSR[T, I]) CSR[float64, I] {
		return CSR[float64, I]{Rows: a.Rows, Cols: a.Cols, Ptr: a.Ptr, Ind: a.Ind}
	}
	c, err := product(structure(&a), structure(&b), 0)
	if err != nil {
		return CSR[T, I]{}, err
	}
	return CSR[T, I]{Rows: c.Rows, Cols: c.Cols, Ptr: c.Ptr, Ind: c.Ind, Data: make([]T, len(c.Ind))}, nil
}

// SpGEMMProduct returns the product of a and b, which must have values. It has the entries of
// SpGEMMPattern, and the values that Forward of a SpGEMM adds to them, to the bit, in one pass. Over floats,
// vector code on amd64 then takes 0.6 to 0.8 of the time of both. workers is the field Workers of a SpGEMM. It returns an
// error where SpGEMMPattern does, and panics where that does.
func SpGEMMProduct[T rev.Real, I Index](a, b CSR[T, I], workers int) (CSR[T, I], error) {
	checkFactors(&a, &b)
	for i, m := range [...]*CSR[T, I]{&a, &b} {
		if m.Data == nil && len(m.Ind) > 0 {
			panic(rev.ShapeError[CSR[T, I]]("ab"[i:i+1], "has no values for %d column indices", len(m.Ind)))
		}
	}
	return product(a, b, workers)
}

func checkFactors[T any, I Index](a, b *CSR[T, I]) {
	a.check()
	b.check()
	if a.Cols != b.Rows {
		panic(rev.ShapeError[CSR[T, I]]("b", "has %d rows, want %d, the columns of a", b.Rows, a.Cols))
	}
}

// A productPass computes the product of a and b in progress, or its structure if they have no
// values. Each block has some rows, and keeps their entries in memory of its own, because their number is not
// known before. When all blocks are done, they copy the entries to c.
type productPass[T rev.Real, I Index] struct {
	a, b, c CSR[T, I]
	rows    int // blocks of rows
	blocks  []productBlock[T, I]
	scratch []productScratch[T, I]
	values  bool
	joins   bool
}

// A productBlock has the entries of the rows of a block, and where they go in c.
type productBlock[T rev.Real, I Index] struct {
	ind  []I
	data []T
	used int
	at   int

	first, last int // rows
}

// productScratch is the scratch of a worker. All is zero between rows.
type productScratch[T rev.Real, I Index] struct {
	columns columnSet
	sum     []T
	vector  struct {
		float64 sparse.Product[float64, I]
		float32 sparse.Product[float32, I]
	}
}

func product[T rev.Real, I Index](a, b CSR[T, I], workers int) (CSR[T, I], error) {
	c := CSR[T, I]{Rows: a.Rows, Cols: b.Cols, Ptr: make([]I, a.Rows+1)}
	if len(a.Ind) == 0 || len(b.Ind) == 0 {
		c.Ind, c.Data = []I{}, []T{}
		return c, nil
	}
	if lo, hi := sparse.IndexRange(b.Ind); lo < 0 || int(hi) >= b.Cols {
		panic(b.outOfRange())
	}
	w := workspace.Get[*productPass[T, I]]()
	w.a, w.b, w.values = a, b, a.Data != nil && b.Data != nil
	w.c = c
	blocks := max(1, min(2*len(a.Ind)/blockWork, mostBlocks))
	if workers = min(parallel.Workers(workers), blocks); workers == 1 {
		blocks = 1
	}
	w.rows = blocks
	w.blocks = slices.Grow(w.blocks[:0], blocks)[:blocks]
	w.scratch = slices.Grow(w.scratch[:0], workers)[:workers]
	w.joins = false
	parallel.Run(workers, blocks, w)
	total := 0
	for n := range w.blocks[:blocks] {
		block := &w.blocks[n]
		block.at = total
		if total += block.used; !fits[I](total) {
			err := fmt.Errorf("revsparse: the product has more entries than %T counts, %d in the first %d rows", I(0), total, w.cut(n+1))
			w.a, w.b, w.c = CSR[T, I]{}, CSR[T, I]{}, CSR[T, I]{}
			workspace.Put(w)
			return CSR[T, I]{}, err
		}
	}
	if first := &w.blocks[0]; blocks == 1 {
		w.c.Ind = handOver(&first.ind, total)
		if w.values {
			w.c.Data = handOver(&first.data, total)
		}
	} else {
		w.c.Ind = workspace.Grow[I](nil, total)
		if w.values {
			w.c.Data = workspace.Grow[T](nil, total)
		}
		w.joins = true
		parallel.Run(workers, blocks, w)
	}
	c = w.c
	w.a, w.b, w.c = CSR[T, I]{}, CSR[T, I]{}, CSR[T, I]{}
	workspace.Put(w)
	return c, nil
}

// cut returns the first row of a block.
func (w *productPass[T, I]) cut(block int) int {
	return division.FirstRow(block, w.rows, w.a.Rows, w.a.Ptr)
}

// Block handles a block of rows.
func (w *productPass[T, I]) Block(worker, n int) {
	block := &w.blocks[n]
	block.first, block.last = w.cut(n), w.cut(n+1)
	if w.joins {
		at := block.at
		move(w.c.Ind[at:at+block.used], block.ind)
		if w.values {
			move(w.c.Data[at:at+block.used], block.data)
		}
		for i := block.first; i < block.last; i++ {
			w.c.Ptr[i+1] += I(at)
		}
		return
	}
	block.used = 0
	s := &w.scratch[worker]
	for row, last := block.first, block.last; row < last; {
		n := 0
		if sparse.HasProduct() {
			switch w := any(w).(type) {
			case *productPass[float64, I]:
				n = vectorProduct(&s.vector.float64, w, any(block).(*productBlock[float64, I]), row, last)
			case *productPass[float32, I]:
				n = vectorProduct(&s.vector.float32, w, any(block).(*productBlock[float32, I]), row, last)
			}
		}
		if n == 0 {
			w.row(s, block, row)
			n = 1
		}
		row += n
	}
}

// vectorProduct handles some of the rows from row to last-1, and returns how many.
func vectorProduct[T rev.Float, I Index](v *sparse.Product[T, I], w *productPass[T, I], block *productBlock[T, I], row, last int) int {
	a, b := &w.a, &w.b
	v.APtr, v.AInd, v.BPtr, v.BInd, v.Cols = a.Ptr, a.Ind, b.Ptr, b.Ind, b.Cols
	v.Ind, v.Ends, v.Used = block.ind, w.c.Ptr[1:], block.used
	if w.values { // an earlier pass may have had none
		v.A, v.B, v.C = a.Data, b.Data, block.data
		v.Ind = v.Ind[:min(len(v.Ind), len(v.C))]
	}
	v.Open()
	n := v.Rows(row, last)
	block.used = v.Used
	*v = sparse.Product[T, I]{Sums: v.Sums, Has: v.Has, Flags: v.Flags, List: v.List}
	return n
}

// row handles row i.
func (w *productPass[T, I]) row(s *productScratch[T, I], block *productBlock[T, I], i int) {
	a, b := &w.a, &w.b
	s.columns.open(b.Cols)
	products := 0
	for _, l := range a.Ind[a.Ptr[i]:a.Ptr[i+1]] {
		row := b.Ind[b.Ptr[l]:b.Ptr[l+1]]
		mark(&s.columns, s.columns.has, row)
		products += len(row)
	}
	n := block.used
	if most := n + min(products, b.Cols) + sparse.ProductSlack; most > len(block.ind) || w.values && most > len(block.data) {
		if done := i - block.first; done > 0 { // the other rows may have as many
			most += int(min(16, 1.1*float64(block.last-i)/float64(done)) * float64(n))
		}
		block.ind = longer(block.ind, most)
		if w.values {
			block.data = longer(block.data, most)
		}
	}
	n += take(&s.columns, block.ind[n:])
	if w.values {
		s.sum = zeros(s.sum, b.Cols)
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			x, l := a.Data[p], a.Ind[p]
			ind, v := b.Ind[b.Ptr[l]:b.Ptr[l+1]], b.Data[b.Ptr[l]:b.Ptr[l+1]]
			v = v[:len(ind)]
			for q, j := range ind {
				s.sum[j] += fixed.Product(x, v[q])
			}
		}
		for q, j := range block.ind[block.used:n] {
			block.data[block.used+q] = s.sum[j]
			s.sum[j] = 0
		}
	}
	block.used = n
	w.c.Ptr[i+1] = I(n)
}

// A columnSet is the set of the columns of a row. Bit j%64 of word j/64
// of has is set if the row has column j. Bit w%64 of word w/64 of words is set if word w of has is
// not zero. Words outside of lo to hi are zero. The columns are then found in order, and most empty
// words are skipped. ind has the columns of the rows so far.
type columnSet struct {
	has, words []uint64
	lo, hi     int
}

// open makes s, which is empty, a set of that many columns.
func (s *columnSet) open(cols int) {
	s.has = zeros(s.has, (cols+63)/64)
	s.words = zeros(s.words, (len(s.has)+63)/64)
	s.lo, s.hi = len(s.words), -1
}

// mark sets the bits of columns. has is s.has.
func mark[I Index](s *columnSet, has []uint64, columns []I) {
	for _, j := range columns {
		w := uint(j) / 64
		x := has[w]
		has[w] = x | 1<<(uint(j)%64)
		if x == 0 {
			s.markWord(w)
		}
	}
}

// markWord is not inlined, so that the loop of mark needs fewer registers.
//
//go:noinline
func (s *columnSet) markWord(w uint) {
	s.words[w/64] |= 1 << (w % 64)
	s.lo, s.hi = min(s.lo, int(w/64)), max(s.hi, int(w/64))
}

// take stores the columns to x, clears the bits, and returns how many columns there are.
func take[I Index](s *columnSet, x []I) (count int) {
	has := s.has
	for n := s.lo; n <= s.hi; n++ {
		for set := s.words[n]; set != 0; set &= set - 1 {
			w := 64*n + bits.TrailingZeros64(set)
			for columns := has[w]; columns != 0; columns &= columns - 1 {
				x[count] = I(64*w + bits.TrailingZeros64(columns))
				count++
			}
			has[w] = 0
		}
		s.words[n] = 0
	}
	return count
}

// move copies elements of from to all of to, which is new.
func move[E any](to, from []E) {
	const some = 1 << 18
	for at := 0; at < len(to); at += some {
		part := to[at:min(at+some, len(to))]
		workspace.Populate(part)
		copy(part, from[at:])
	}
}

// longer returns x with n elements or more.
func longer[E any](x []E, n int) []E {
	if len(x) < n {
		y := workspace.Grow[E](nil, max(n, 1<<12))
		copy(y, x)
		return y
	}
	return x
}

// handOver returns the first n elements of x. If they are many and most of x, it takes x itself: a copy
// would need as much new memory, which takes longer than to copy.
func handOver[E any](x *[]E, n int) []E {
	const many = 1 << 21
	y := (*x)[:n:n]
	if n < many || len(*x) > n+n/4 {
		return slices.Clone(y)
	}
	*x = nil
	return y
}

// zeros returns n elements of b, whose elements are all zero, or new ones if it is too short.
func zeros[E any](b []E, n int) []E {
	if cap(b) < n {
		return make([]E, n)
	}
	return b[:n]
}
