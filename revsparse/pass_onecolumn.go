package revsparse

import (
	"math"
	"sort"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/sparse"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse/internal/division"
)

const (
	wideRange  = 1 << 17 // least range of columns of a piece of a block that is not in a cache
	farEntries = 1 << 17 // entries from which on a matrix is in no cache of most cores
	pairReads  = 16      // least number of entries for each pair of the windows, if they are in a cache
)

// oneColumn makes a pass over matrices of one column.
func (j *job[T, I]) oneColumn() {
	p := &j.p
	j.packColumns()
	work := len(p.a.Ind) + p.a.Rows
	j.blocks, j.used = max(1, min(work/blockWork, mostBlocks)), 0
	if p.w.Data != nil {
		j.openWindows(work)
	}
	workers := parallel.Workers(p.workers)
	j.open(min(workers, j.blocks))
	j.sums = workspace.Zeros(j.sums, j.blocks)
	j.parts = workspace.Grow(j.parts, partOf(len(p.a.Ind), true)+1)
	j.step = stepOneColumn
	parallel.Run(workers, j.blocks, j)
	if j.used > 0 {
		j.step = stepAddWindows
		parallel.Run(workers, (p.a.Cols+joinColumns-1)/joinColumns, j)
	}
	if p.out.Data != nil {
		j.addParts()
	}
	j.addSums()
	j.unpack()
}

// openWindows chooses the number of blocks. It opens their windows if w needs them.
func (j *job[T, I]) openWindows(work int) {
	p := &j.p
	entries, cols, reached := len(p.a.Ind), p.a.Cols, reached(p.a.Ind)
	wide, most := reached >= wideRange, mostWindows
	if wide || reached > cols/2 { // a window would be about as large as w
		most = min(most, entries/(windowReads*cols))
	}
	if wide {
		most = max(most, 2)
	}
	j.blocks = max(1, min(work/windowWork, most))
	pairs := wide && j.blocks > 1 || reached > cols/2 && entries >= pairReads*j.blocks*cols
	if number.IsFixed[T]() || number.IsComplex[T]() {
		pairs = false
	}
	if j.blocks == 1 && !pairs {
		return
	}
	whole := wide || pairs
	if p.out.Data == nil && p.ga == nil && p.sum == nil {
		pairs = false // there is no u, but the bits of w are the same
	}
	size := cols
	if pairs {
		size *= 2
	}
	j.used = j.blocks
	j.windows = workspace.Grow(j.windows, max(len(j.windows), j.used))
	for b := range j.windows[:j.used] {
		w := &j.windows[b]
		w.open(size)
		w.whole, w.pairs = whole, pairs
		w.own0, w.own1 = j.columnOf(j.place(b).Row), j.columnOf(j.place(b+1).Row)
	}
}

// columnOf returns the column in which a row meets the diagonal. In a banded matrix
// most rows of a block then meet only columns of the block.
func (j *job[T, I]) columnOf(row int) int {
	a := &j.p.a
	return int(uint64(row) * uint64(a.Cols) / uint64(a.Rows))
}

// reached returns the range of columns of some consecutive entries, at one of two
// places: the smaller range, because the other place may be the end of a long row.
func reached[I Index](ind []I) int {
	least := math.MaxInt
	for _, at := range [...]int{len(ind) / 3, 2 * (len(ind) / 3)} {
		lo, hi := sparse.IndexRange(ind[at:min(at+sparse.MaxEntries, len(ind))])
		least = min(least, int(hi)-int(lo)+1)
	}
	return least
}

// place returns where a block begins. Only rows of floats are divided, because in fixed point a sum is rounded
// once.
func (j *job[T, I]) place(block int) division.Place {
	return division.At(j.p.a.Ptr, block, j.blocks, !number.IsFixed[T]() && !number.IsComplex[T]())
}

// partOf returns the number of the partial sum of a divided row that begins at an
// entry. Among MaxEntries entries at most two of them begin: one that is the first of
// its row, and one that is not.
func partOf(entry int, first bool) int {
	n := 2 * (entry / sparse.MaxEntries)
	if first {
		n++
	}
	return n
}

// addParts adds the partial sums of divided rows in order, as in other rows. The bits
// therefore do not depend on the blocks.
func (j *job[T, I]) addParts() {
	ptr, done := j.p.a.Ptr, -1
	for b := 1; b < j.blocks; b++ {
		at := j.place(b)
		first := int(ptr[at.Row])
		if at.Entry == first || at.Row == done {
			continue
		}
		var s T
		for p := first; p < int(ptr[at.Row+1]); p += sparse.MaxEntries {
			s += j.parts[partOf(p, p == first)]
		}
		j.p.out.Data[at.Row] += number.Mul(j.p.alpha, s)
		done = at.Row
	}
}

// addWindows adds the windows to a block of columns of w.
func (j *job[T, I]) addWindows(block int) {
	lo := block * joinColumns
	joinWindows(j.windows[:j.used], j.p.w.Data, lo, min(lo+joinColumns, j.p.a.Cols))
}

// rowsOfColumn handles a block of rows of stepOneColumn.
func (j *job[T, I]) rowsOfColumn(s *scratch[T], block int) {
	c := columnBlock[T, I]{pass: &j.p, from: j.place(block), to: j.place(block + 1), scratch: s, parts: j.parts}
	if j.p.w.Data != nil {
		c.scatter, c.w = true, j.p.w.Data[:j.p.a.Cols]
		if j.used > 0 {
			c.window = &j.windows[block]
		}
		switch {
		case c.window == nil:
		case c.window.pairs:
			c.pairs()
		case c.window.whole:
			c.w = c.window.all
			clear(c.w)
		}
	}
	switch c := any(&c).(type) {
	case *columnBlock[float64, I]:
		vectorColumn(c)
	case *columnBlock[float32, I]:
		vectorColumn(c)
	case *columnBlock[fixed.Q43, I]:
		fixedColumn(c)
	case *columnBlock[complex128, I]:
		c.rows(c.from.Row, c.to.Row)
	}
	j.sums[block] = c.sum
}

// A columnBlock is a block of rows of a pass over single columns without gaps.
type columnBlock[T rev.Number, I Index] struct {
	*pass[T, I]
	from, to division.Place
	scratch  *scratch[T]
	parts    []T // of the first and last rows of the block, if they are divided
	scatter  bool
	w        []T        // where the current entries are added
	window   *window[T] // nil if they are always added in place
	sum      T
}

// pairs fills the window.
func (c *columnBlock[T, I]) pairs() {
	uw := c.window.all
	for _, x := range c.u.Data[:c.a.Cols] {
		uw[0], uw[1] = x, 0
		uw = uw[2:]
	}
}

// loadMet makes w hold the elements that the entries of ind meet. It checks ind.
func (c *columnBlock[T, I]) loadMet(ind []I) {
	if len(ind) == 0 {
		return
	}
	lo, hi := sparse.IndexRange(ind)
	if lo < 0 || int(hi) >= c.a.Cols {
		panic(c.a.outOfRange())
	}
	if c.window != nil {
		c.w = c.window.span(int(lo), int(hi), c.pass.w.Data)
	}
}

// vectorColumn handles a block in pieces, as many entries as a loop takes. It scans the
// indices of a piece first only if it writes to the places that they give. Memory is
// read faster in one go.
func vectorColumn[T rev.Float, I Index](c *columnBlock[T, I]) {
	ptr := c.a.Ptr
	for at := c.from; at != c.to; {
		i, begin, rows := at.Row, at.Entry, 0
		if first := int(ptr[i]); begin == first {
			rows = pieceOf(ptr, i, c.to.Row)
		}
		if rows > 0 {
			columnPiece(c, i, ptr[i+1:i+rows+1], begin, int(ptr[i+rows]), c.pass.sum != nil)
			at = division.Place{Row: i + rows, Entry: int(ptr[i+rows])}
			continue
		}
		// A row, or its part in the block, of more entries than a loop takes.
		s := c.scratch.s[:1]
		s[0] = 0
		at = division.Place{Row: i + 1, Entry: int(ptr[i+1])}
		if i == c.to.Row {
			at = c.to
		}
		first := int(ptr[i])
		whole := begin == first && at.Row > i
		for ; begin < at.Entry; begin += sparse.MaxEntries {
			to := min(begin+sparse.MaxEntries, at.Entry)
			vectorEntries(c, i, []I{I(to)}, begin, to, s, 1)
			if !whole {
				c.parts[partOf(begin, begin == first)] = s[0]
				if c.pass.sum != nil {
					c.sum += T(c.v.Data[i] * s[0])
				}
				s[0] = 0
			}
		}
		if whole {
			finishColumn(c, i, s)
		}
	}
}

// pieceOf returns how many of the rows from i to end a loop takes at once. It is 0 if
// row i has too many entries.
func pieceOf[I Index](ptr []I, i, end int) int {
	begin, most := int(ptr[i]), min(end-i, pieceRows)
	if int(ptr[i+most])-begin <= sparse.MaxEntries {
		return most
	}
	return sort.Search(most, func(n int) bool { return int(ptr[i+n+1])-begin > sparse.MaxEntries })
}

// columnPiece handles the entries from begin to to, of the rows from i on.
func columnPiece[T rev.Float, I Index](c *columnBlock[T, I], i int, end []I, begin, to int, sums bool) {
	if c.out.Data == nil || sums {
		s := c.scratch.s[:len(end)]
		clear(s)
		vectorEntries(c, i, end, begin, to, s, 1)
		finishColumn(c, i, s)
		return
	}
	vectorEntries(c, i, end, begin, to, c.out.Data[i:i+len(end)], c.alpha)
}

// vectorEntries computes out += alpha·s and the other results that are there.
func vectorEntries[T rev.Float, I Index](c *columnBlock[T, I], i int, end []I, begin, to int, out []T, alpha T) {
	ind, u, w := c.a.Ind[begin:to], c.u.Data, []T(nil)
	var v, ga []T
	if c.v.Data != nil {
		v = c.v.Data[i : i+len(end)]
	}
	if c.ga != nil {
		ga = c.ga[begin:to]
	}
	pairs := c.scatter && c.window != nil && c.window.pairs
	switch {
	case pairs:
		u = c.window.all
	case c.scatter:
		c.loadMet(ind)
		w = c.w
		if ga == nil && c.out.Data == nil && c.pass.sum == nil {
			out = nil
		}
	}
	e := &sparse.Entries[T, I]{ // by its address, because a value would be copied
		End: end, Base: begin, Ind: ind, A: c.a.Data[begin:to],
		U: u, W: w, V: v, Out: out, GA: ga, Alpha: alpha, Beta: c.beta, Gamma: c.gamma,
		Far: len(c.a.Ind) >= farEntries,
	}
	if !pairs {
		e.Column()
	} else if !e.Pairs() {
		panic(c.a.outOfRange())
	}
}

// finishColumn uses the sums s of the rows from i on.
func finishColumn[T rev.Float, I Index](c *columnBlock[T, I], i int, s []T) {
	if c.out.Data != nil {
		vec.Axpy(c.alpha, s, c.out.Data[i:i+len(s)])
	}
	if c.pass.sum != nil {
		c.sum += vec.Dot(c.v.Data[i:i+len(s)], s)
	}
}

// fixedEntries is how many entries fixedColumn takes at a time: a quarter of the scratch.
const fixedEntries = pieceRows / 4

// fixedColumn handles the block some rows at a time. It copies what the entries meet, so that vector code makes
// the products. The bits are those of rows.
func fixedColumn[I Index](c *columnBlock[fixed.Q43, I]) {
	ptr := c.a.Ptr
	for i := c.from.Row; i < c.to.Row; {
		begin, end := int(ptr[i]), i+1
		for ; end < c.to.Row && int(ptr[end+1])-begin <= fixedEntries; end++ {
		}
		n := int(ptr[end]) - begin
		if n > fixedEntries {
			c.rows(i, end)
			i = end
			continue
		}
		a, ind := c.a.Data[begin:begin+n], c.a.Ind[begin:begin+n]
		var of [4][]fixed.Q43
		for b := range of {
			of[b] = c.scratch.s[b*fixedEntries:][:n]
		}
		u, v, w, products := of[0], of[1], of[2], of[3]
		if c.scatter {
			c.loadMet(ind)
		}
		if c.u.Data != nil && (c.out.Data != nil || c.pass.sum != nil || c.ga != nil) {
			for q, j := range ind {
				u[q] = c.u.Data[j]
			}
		}
		for i < end {
			var s [64]fixed.Q43
			part := min(len(s), end-i)
			from, to := int(ptr[i])-begin, int(ptr[i+part])-begin
			if c.out.Data != nil || c.pass.sum != nil {
				s := s[:part]
				fixedpoint.SegmentDots(ptr[i:i+part+1], a[from:to], u[from:to], s)
				if c.out.Data != nil {
					fixedpoint.Axpy(c.outSign, c.alpha, s, c.out.Data[i:i+part])
				}
				if c.pass.sum != nil {
					for l, s := range s {
						c.sum += c.v.Data[i+l].Mul(s)
					}
				}
			}
			for end := i + part; i < end; i++ {
				from, to := int(ptr[i])-begin, int(ptr[i+1])-begin
				if c.scatter {
					fill(w[from:to], c.beta.Mul(c.v.Data[i]))
				}
				if c.ga != nil {
					fill(v[from:to], c.v.Data[i])
				}
			}
		}
		if c.scatter {
			clear(products)
			fixedpoint.AddProducts(1, a, w, products)
			for q, j := range ind {
				c.w[j] += number.Signed(c.wSign, products[q])
			}
		}
		if c.ga != nil {
			clear(products)
			fixedpoint.AddProducts(1, v, u, products)
			fixedpoint.Axpy(1, c.gamma, products, c.ga[begin:begin+n])
		}
	}
}

func fill(to []fixed.Q43, v fixed.Q43) {
	for q := range to {
		to[q] = v
	}
}

// rows handles rows first to end-1 without vector code.
func (c *columnBlock[T, I]) rows(first, end int) {
	gather := c.out.Data != nil || c.pass.sum != nil
	for i := first; i < end; i++ {
		from, to := int(c.a.Ptr[i]), int(c.a.Ptr[i+1])
		a, ind := c.a.Data[from:to], c.a.Ind[from:to]
		if gather {
			s := c.rowSum(a, ind)
			if out := c.out.Data; out != nil {
				out[i] += number.Signed(c.outSign, number.Mul(c.alpha, s))
			}
			if c.pass.sum != nil {
				if c.flip {
					c.sum += number.Mul(number.Conj(c.v.Data[i]), s)
				} else {
					c.sum += number.Mul(c.v.Data[i], number.Conj(s))
				}
			}
		}
		if c.scatter {
			c.loadMet(ind)
			f := number.Mul(c.beta, c.v.Data[i])
			for q, x := range a {
				if !c.flip {
					x = number.Conj(x)
				}
				c.w[ind[q]] += number.Signed(c.wSign, number.Mul(x, f))
			}
		}
		if c.ga != nil {
			ga, v := c.ga[from:to], c.v.Data[i]
			for q, j := range ind {
				u := c.u.Data[j]
				if c.flip {
					ga[q] += number.Mul(c.gamma, number.Mul(number.Conj(v), u))
				} else {
					ga[q] += number.Mul(c.gamma, number.Mul(v, number.Conj(u)))
				}
			}
		}
	}
}

// rowSum returns s_i of the row with the given entries.
func (c *columnBlock[T, I]) rowSum(a []T, ind []I) T {
	if number.IsFixed[T]() {
		var s fixed.Accumulator
		u := number.As[[]fixed.Q43](c.u.Data)
		for q, x := range number.As[[]fixed.Q43](a) {
			s.AddMul(x, u[ind[q]])
		}
		return any(s.Round()).(T)
	}
	var s T
	for q, x := range a {
		if c.flip {
			x = number.Conj(x)
		}
		s += number.Mul(x, c.u.Data[ind[q]])
	}
	return s
}
