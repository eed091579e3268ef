package revsparse

import (
	"math"
	"math/bits"
	"slices"

	"revnum/internal/simd/dense"
	"revnum/internal/simd/sparse"
	"revnum/internal/workspace"
)

const (
	widePanel   = 64   // most columns of a panel
	narrowPanel = 8    // most columns of a panel that is a subtree
	luRelaxed   = 0.25 // share of zeros that a supernode may get
	luSmall     = 64   // a supernode of so many elements may get any share
	luGemm      = 4    // least columns of a supernode that updates by a matrix product
)

// A supernode is a range of columns of L with the same rows, or nearly the same.
type supernode struct {
	first, width int
	rows         int // place of its rows below the columns in lrows
	below        int // number of these
	data         int // place of its elements in ldata: by columns, width+below each
}

// A luPanel is a range of columns that are factored together.
type luPanel struct {
	first, width int
	blocks       int // the first of its blocks of U above the diagonal; they end at those of the next panel
	diagonal     int // place of its block on the diagonal of U in udata, by rows
}

// A luBlock is the block of U of a supernode and a panel.
type luBlock struct {
	super    int32
	row      int32 // the first row of the supernode that is not 0
	from, to int32 // the columns of the panel that are not 0
	data     int   // its place in udata, by rows
}

// luWork is the scratch of a factorisation.
type luWork struct {
	local   []int32   // of a row: its number among the rows of the panel, or -1
	rows    []int32   // the rows of the panel
	x       []float64 // by rows: the columns of the panel
	marked  []uint64  // bit s is set if supernode s will update the panel
	low     int       // the first and last words of marked that may have bits
	high    int
	ind     []int32 // numbers of the rows of a supernode in the panel
	end     [1]int32
	u, t    []float64 // a block of U, and its product with one of L
	d       []float64 // by rows: the rows that are not yet pivots
	drows   []int32   // their numbers
	inUnion []bool
}

// factor computes the factors of the matrix with the values a, which are scaled, in the
// order of the panels. It returns the number of a column without a pivot, or -1.
func (f *luFactors) factor(w *luWork) (singular int) {
	n := f.n
	f.supers, f.blocks, f.lrows, f.ldata, f.udata = f.supers[:0], f.blocks[:0], f.lrows[:0], f.ldata[:0], f.udata[:0]
	f.position, f.pivot, f.super = workspace.Grow(f.position, n), workspace.Grow(f.pivot, n), workspace.Grow(f.super, n)
	w.local = workspace.Grow(w.local, n)
	for i := range n {
		f.position[i], w.local[i] = -1, -1
	}
	w.marked = workspace.Zeros(w.marked, n/64+1)
	for p := range f.panels {
		if c := f.factorPanel(w, &f.panels[p]); c >= 0 {
			return c
		}
	}
	for i, r := range f.lrows {
		f.lrows[i] = f.position[r]
	}
	return -1
}

// panelRow returns the number of row r in the panel. If the row is a pivot, its supernode
// will update the panel.
func (f *luFactors) panelRow(w *luWork, r int32, width int) int32 {
	l := w.local[r]
	if l < 0 {
		l = int32(len(w.rows))
		w.local[r] = l
		w.rows = append(w.rows, r)
		w.x = append(w.x[:int(l)*width], make([]float64, width)...)
		if k := f.position[r]; k >= 0 {
			s := f.super[k]
			w.marked[s/64] |= 1 << (s % 64)
			w.low, w.high = min(w.low, int(s/64)), max(w.high, int(s/64))
		}
	}
	return l
}

func (f *luFactors) factorPanel(w *luWork, p *luPanel) (singular int) {
	width := p.width
	w.rows, w.low, w.high = w.rows[:0], len(w.marked), -1
	p.blocks = len(f.blocks)
	for c := range width {
		for q := f.colPtr[p.first+c]; q < f.colPtr[p.first+c+1]; q++ {
			l := f.panelRow(w, f.colRow[q], width)
			w.x[int(l)*width+c] += f.values[q]
		}
	}
	for word := w.low; word <= w.high; word++ { // marks set on the way come later
		for w.marked[word] != 0 {
			bit := bits.TrailingZeros64(w.marked[word])
			w.marked[word] &^= 1 << bit
			f.update(w, width, int32(64*word+bit))
		}
	}

	// Rows that are not yet pivots become the columns of L.
	w.drows = w.drows[:0]
	for _, r := range w.rows {
		if f.position[r] < 0 {
			w.drows = append(w.drows, r)
		}
	}
	w.d = workspace.Grow(w.d, len(w.drows)*width)
	for i, r := range w.drows {
		copy(w.d[i*width:][:width], w.x[int(w.local[r])*width:][:width])
	}
	for _, r := range w.rows {
		w.local[r] = -1
	}
	if c := f.eliminate(w, p.first, width, 0, width); c >= 0 {
		return p.first + c
	}
	for c, r := range w.drows[:width] {
		f.position[r], f.pivot[p.first+c] = int32(p.first+c), r
	}
	p.diagonal = len(f.udata)
	f.udata = append(f.udata, w.d[:width*width]...)
	f.split(w, p)
	return -1
}

// update subtracts the contribution of supernode s from the panel, and stores its block
// of U.
func (f *luFactors) update(w *luWork, width int, s int32) {
	sn := &f.supers[s]
	w.u = workspace.Grow(w.u, sn.width*width)
	first, from, to := sn.width, width, 0
	for k := range sn.width {
		row := w.u[k*width:][:width]
		l := w.local[f.pivot[sn.first+k]]
		if l < 0 {
			clear(row)
			continue
		}
		copy(row, w.x[int(l)*width:])
		for c, v := range row {
			if v != 0 {
				first, from, to = min(first, k), min(from, c), max(to, c+1)
			}
		}
	}
	if to == 0 {
		return
	}
	height := sn.width + sn.below
	ldata := f.ldata[sn.data:][:sn.width*height]
	rows, cols := sn.width-first, to-from
	u := w.u[first*width+from:]
	dense.TriSolve(rows, cols, ldata[first*height+first:], 1, height, false, true, u, width)
	f.blocks = append(f.blocks, luBlock{super: s, row: int32(first), from: int32(from), to: int32(to), data: len(f.udata)})
	for k := range rows {
		f.udata = append(f.udata, u[k*width:][:cols]...)
	}

	w.ind = workspace.Grow(w.ind, sn.below)
	for i, r := range f.lrows[sn.rows:][:sn.below] {
		w.ind[i] = f.panelRow(w, r, width)
	}
	if sn.below == 0 {
		return
	}
	if rows < luGemm {
		for k := first; k < sn.width; k++ {
			w.spread(ldata[k*height+sn.width:][:sn.below], w.u[k*width+from:][:cols], from, width)
		}
		return
	}
	w.t = workspace.Zeros(w.t, sn.below*cols)
	dense.Gemm(sn.below, cols, rows, 1, ldata[first*height+sn.width:], 1, height, u, width, 1, w.t, cols)
	for i, l := range w.ind {
		x, t := w.x[int(l)*width+from:][:cols], w.t[i*cols:][:cols]
		for c, v := range t {
			x[c] -= v
		}
	}
}

// spread subtracts the product of a column of L and a row of U from the rows ind of the
// panel, of the given width, from column from on.
func (w *luWork) spread(l, u []float64, from, width int) {
	var e sparse.Entries[float64, int32]
	e.End, e.Beta, e.LdW = w.end[:], -1, width
	for q := 0; q < len(l); q += sparse.MaxEntries {
		e.Ind = w.ind[q:min(q+sparse.MaxEntries, len(l))]
		e.A = l[q:][:len(e.Ind)]
		w.end[0] = int32(len(e.Ind))
		for c := 0; c < len(u); {
			n := sparse.SpreadCols[float64](len(u) - c)
			e.V, e.W = u[c:], w.x[from+c:]
			e.Columns(n)
			c += n
		}
	}
}

// eliminate factors columns c0 to c1-1 of d with partial pivoting. It leaves L below
// the diagonal and U above. Among pivots of the same magnitude it prefers that on the
// diagonal of A. It returns a column without a pivot, or -1.
func (f *luFactors) eliminate(w *luWork, firstColumn, width, c0, c1 int) (singular int) {
	d, m := w.d, len(w.drows)
	if c1-c0 > 8 {
		mid := (c0 + c1) / 2
		if c := f.eliminate(w, firstColumn, width, c0, mid); c >= 0 {
			return c
		}
		n, k := c1-mid, mid-c0
		u := d[c0*width+mid:]
		dense.TriSolve(k, n, d[c0*width+c0:], width, 1, false, true, u, width)
		if m > mid {
			dense.Gemm(m-mid, n, k, -1, d[mid*width+c0:], width, 1, u, width, 1, d[mid*width+mid:], width)
		}
		return f.eliminate(w, firstColumn, width, mid, c1)
	}
	for c := c0; c < c1; c++ {
		best, at := 0.0, -1
		for i := c; i < m; i++ {
			v := math.Abs(d[i*width+c])
			if v > best || v == best && v > 0 && w.drows[i] == f.order[firstColumn+c] {
				best, at = v, i
			}
		}
		if at < 0 {
			return c
		}
		pivotRow := d[c*width:][:width]
		if at != c {
			other := d[at*width:][:width]
			for k, v := range other {
				other[k], pivotRow[k] = pivotRow[k], v
			}
			w.drows[at], w.drows[c] = w.drows[c], w.drows[at]
		}
		pivot := pivotRow[c]
		rest := pivotRow[c+1 : c1]
		for i := c + 1; i < m; i++ {
			row := d[i*width+c:][:c1-c]
			if row[0] == 0 {
				continue
			}
			l := row[0] / pivot
			row[0] = l
			for k, v := range rest {
				row[k+1] -= float64(l * v)
			}
		}
	}
	return -1
}

// split stores the columns of L of a panel as supernodes.
func (f *luFactors) split(w *luWork, p *luPanel) {
	width, m := p.width, len(w.drows)
	w.inUnion = workspace.Grow(w.inUnion, m)
	for from := 0; from < width; {
		clear(w.inUnion)
		to, union, filled := from, 0, 0
		for ; to < width; to++ {
			// The rows that the column has, and that the supernode would get.
			own, added := 0, 0
			for i := to + 1; i < m; i++ {
				if w.d[i*width+to] != 0 {
					own++
					if !w.inUnion[i] {
						added++
					}
				}
			}
			if to > from && !w.inUnion[to] {
				added++ // becomes a row of the block on the diagonal
			}
			all := (union + added) * (to + 1 - from) // approximately
			if zeros := all - filled - own; to > from && all > luSmall && float64(zeros) > luRelaxed*float64(all) {
				break
			}
			for i := to + 1; i < m; i++ {
				if w.d[i*width+to] != 0 {
					w.inUnion[i] = true
				}
			}
			union += added
			filled += own
		}
		f.store(w, p, from, to)
		from = to
	}
}

// store appends the supernode of columns from to to-1 of a panel.
func (f *luFactors) store(w *luWork, p *luPanel, from, to int) {
	width, n := p.width, to-from
	sn := supernode{first: p.first + from, width: n, rows: len(f.lrows), data: len(f.ldata)}
	w.ind = w.ind[:0]
	for i := to; i < len(w.drows); i++ {
		if w.inUnion[i] {
			f.lrows = append(f.lrows, w.drows[i])
			w.ind = append(w.ind, int32(i))
		}
	}
	sn.below = len(w.ind)
	height := n + sn.below
	f.ldata = slices.Grow(f.ldata, n*height)[:sn.data+n*height]
	data := f.ldata[sn.data:]
	for k := range n {
		column := data[k*height:][:height]
		for i := range n {
			column[i] = w.d[(from+i)*width+from+k]
		}
		for i, r := range w.ind {
			column[n+i] = w.d[int(r)*width+from+k]
		}
		f.super[sn.first+k] = int32(len(f.supers))
	}
	f.supers = append(f.supers, sn)
}
