// Package blockchol factors symmetric positive definite matrices of dense blocks, most
// of which are zero, such as the reduced camera system of bundle adjustment.
//
// A = Pᵀ·L·Lᵀ·P, where P orders the blocks by minimum degree, so that L has few more
// elements than A. Columns of L with the same pattern make one dense panel (a
// supernode). A panel is updated by the earlier panels (left-looking) with the matrix
// products of package dense, in place. If nothing in A is zero, this is a dense blocked
// factorisation.
//
// The bits of the results do not depend on the number of workers.
//
// # Sources
//
// P. Amestoy, T. Davis and I. Duff, An approximate minimum degree ordering
// algorithm, SIAM J. Matrix Anal. Appl. 17 (1996). J. Liu, The role of elimination
// trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11 (1990). E. Ng and
// B. Peyton, Block sparse Cholesky algorithms on advanced uniprocessor
// computers, SIAM J. Sci. Comput. 14 (1993).
package blockchol

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Cholesky is a factorisation. Analyze makes one, Add fills in the matrix, Factor
// factors it, and Solve solves with it. Clear prepares it for the next matrix of the
// same pattern.
type Cholesky struct {
	node     []int32 // node at each position in the order of elimination
	position []int32 // position of each node
	start    []int   // first scalar row of each position
	panelOf  []int32 // panel of each position
	panels   []*panel
	x, below []float64 // a right side, in the order of elimination; rows of a panel
}

// Elements returns the number of elements of the factor, including stored zeros.
func (c *Cholesky) Elements() int {
	sum := 0
	for _, p := range c.panels {
		sum += p.height() * p.width
	}
	return sum
}

// Flops returns the approximate number of additions and multiplications of Factor.
func (c *Cholesky) Flops() float64 {
	var sum float64
	for _, p := range c.panels {
		w, below := float64(p.width), float64(p.height()-p.width)
		sum += w*w*w/3 + float64(w*w*below) + float64(w*below*below)
	}
	return sum
}

// Clear sets the matrix to 0.
func (c *Cholesky) Clear() {
	for _, p := range c.panels {
		if p.data == nil {
			p.data = make([]float64, p.height()*p.width)
		} else {
			clear(p.data)
		}
	}
}

// Add adds a block to block (i, j) of the matrix. Call Clear first. If i differs from
// j, the block also stands for its transpose at (j, i), which you must not add. Only the
// lower triangle of a block on the diagonal is used. The block is by rows with stride
// ld. Add panics if Analyze was not told that (i, j) may be different from 0.
func (c *Cholesky) Add(i, j int, block []float64, ld int) {
	row, col := c.position[i], c.position[j]
	rs, cs := ld, 1
	if row < col {
		row, col = col, row
		rs, cs = cs, rs
	}
	p := c.panels[c.panelOf[col]]
	k, ok := slices.BinarySearch(p.rows, row)
	if !ok {
		panic("blockchol: block outside of the pattern")
	}
	height, width := p.height(), c.start[col+1]-c.start[col]
	for q := range width {
		dst := p.data[(c.start[col]-c.start[p.first]+q)*height:][p.offset[k]:p.offset[k+1]]
		for r := range dst {
			dst[r] += block[r*rs+q*cs]
		}
	}
}

// Factor factors the matrix in place. If the matrix is not positive definite, its elements
// are lost. The error then names the block and wraps a *rev.NotPositiveDefiniteError, whose
// Row counts from the first row of the block.
func (c *Cholesky) Factor(workers int) error {
	f := factoring{c: c}
	for j, p := range c.panels {
		f.j = j
		// First the rows of the diagonal block, then the others.
		f.from, f.to, f.size = 0, p.end-p.first, stripe
		f.cut()
		parallel.Run(workers, len(f.bounds)-1, updateTask{&f})
		if pivot, row := f.diagonal(p); row >= 0 {
			k := sort.Search(p.end-p.first, func(k int) bool { return p.offset[k+1] > row })
			return fmt.Errorf("block %d: %w", c.node[p.first+k], &rev.NotPositiveDefiniteError{Row: row - p.offset[k], Value: pivot})
		}
		f.from, f.to, f.size = p.end-p.first, len(p.rows), 2*stripe
		f.cut()
		parallel.Run(workers, len(f.bounds)-1, belowTask{&f})
	}
	return nil
}

// stripe is the approximate number of rows of a panel that are handled at a time.
const stripe = 96

// strip is the number of columns of a panel that are factored at a time.
const strip = 24

// factoring is the state of Factor at panel j.
type factoring struct {
	c              *Cholesky
	j              int
	from, to, size int
	bounds         []int // index of the first row of each block of rows, and the end

	inverse []float64 // inverses of the diagonal blocks of the strips, strip×strip each
}

// cut cuts the rows from f.from to f.to into blocks of about f.size scalar rows.
func (f *factoring) cut() {
	p := f.c.panels[f.j]
	f.bounds = f.bounds[:0]
	for k := f.from; k < f.to; k++ {
		if n := len(f.bounds); n == 0 || p.offset[k+1]-p.offset[f.bounds[n-1]] > f.size {
			f.bounds = append(f.bounds, k)
		}
	}
	f.bounds = append(f.bounds, f.to)
}

type updateTask struct{ *factoring }

func (t updateTask) Block(_, b int) { t.update(t.bounds[b], t.bounds[b+1]) }

type belowTask struct{ *factoring }

func (t belowTask) Block(_, b int) {
	lo, hi := t.bounds[b], t.bounds[b+1]
	t.update(lo, hi)
	p := t.c.panels[t.j]
	w := workspace.Get[*scratch]()
	w.x = workspace.Grow(w.x, (p.offset[hi]-p.offset[lo])*strip)
	for s := 0; s < p.width; s += strip {
		t.solveStrip(p, s, p.offset[lo], p.offset[hi], w.x)
	}
	workspace.Put(w)
}

type scratch struct{ x []float64 }

// update subtracts the products of earlier panels from rows lo to hi-1 of the panel.
func (f *factoring) update(lo, hi int) {
	p := f.c.panels[f.j]
	for _, u := range p.updates {
		by := f.c.panels[u.by]
		// Each row of by, from u.lo on, is also a row of p. Those from p.rows[lo] on are
		// updated here.
		k, _ := slices.BinarySearch(by.rows[u.lo:], p.rows[lo])
		k += u.lo
		l := lo
		for k < len(by.rows) && by.rows[k] <= p.rows[hi-1] {
			for p.rows[l] != by.rows[k] {
				l++
			}
			// Take a run of rows that are neighbours in both panels. In the diagonal block
			// it is short, because columns to the right of the diagonal are skipped.
			run := 1
			for k+run < len(by.rows) && l+run < hi && by.rows[k+run] == p.rows[l+run] {
				run++
			}
			f.multiply(p, by, u, k, run, l)
			k += run
			l += run
		}
	}
}

// multiply takes rows k to k+run-1 of by and multiplies them by the transpose of its rows
// u.lo to u.hi-1. It subtracts the product from p, from its row l on.
func (f *factoring) multiply(p, by *panel, u update, k, run, l int) {
	height, from := p.height(), by.height()
	m := by.offset[k+run] - by.offset[k]
	last := p.rows[l+run-1]
	for lo := u.lo; lo < u.hi && by.rows[lo] <= last; {
		hi := lo + 1
		for hi < u.hi && by.rows[hi] <= last && by.rows[hi] == by.rows[hi-1]+1 {
			hi++
		}
		n := by.offset[hi] - by.offset[lo]
		dst := p.data[(f.c.start[by.rows[lo]]-f.c.start[p.first])*height+p.offset[l]:]
		// The panels are by columns. Gemm therefore computes the transposed product by rows.
		dense.Gemm(n, m, by.width, -1, by.data[by.offset[lo]:], 1, from, by.data[by.offset[k]:], from, 1, dst, height)
		lo = hi
	}
}

// diagonal factors the diagonal block of p, a strip of columns at a time. If a pivot is not
// positive, it returns the pivot and its row. Otherwise row is -1.
func (f *factoring) diagonal(p *panel) (pivot float64, row int) {
	n, h := p.width, p.height()
	strips := (n + strip - 1) / strip
	f.inverse = workspace.Zeros(f.inverse, strips*strip*strip)
	w := workspace.Get[*scratch]()
	defer workspace.Put(w)
	w.x = workspace.Grow(w.x, n*strip)
	for s := 0; s < n; s += strip {
		nb := min(strip, n-s)
		if s > 0 {
			dense.Gemm(nb, nb, s, -1, p.data[s:], 1, h, p.data[s:], h, 1, p.data[s*h+s:], h)
		}
		if pivot, row := factorSmall(nb, p.data[s*h+s:], h); row >= 0 {
			return pivot, s + row
		}
		invertSmall(nb, f.inverse[s*strip:], p.data[s*h+s:], h)
		f.solveStrip(p, s, s+nb, n, w.x)
	}
	return 0, -1
}

// solveStrip turns the columns of p from s on into those of L, for rows lo to hi-1. The
// earlier columns must be done. It solves X·Lᵀ = B, where L is the diagonal block of the
// strip.
func (f *factoring) solveStrip(p *panel, s, lo, hi int, x []float64) {
	h, m, nb := p.height(), hi-lo, min(strip, p.width-s)
	if m <= 0 {
		return
	}
	dst := p.data[s*h+lo:]
	if s > 0 {
		dense.Gemm(nb, m, s, -1, p.data[s:], 1, h, p.data[lo:], h, 1, dst, h)
	}
	for j := range nb {
		column := dst[j*h:][:m]
		copy(x[j*m:], column)
		clear(column)
	}
	dense.Gemm(nb, m, nb, 1, f.inverse[s*strip:], strip, 1, x, m, 1, dst, h)
}

// factorSmall factors the lower triangle of the n×n matrix a, which is by columns. If a
// pivot is not positive, it returns the pivot and its row. Otherwise row is -1.
func factorSmall(n int, a []float64, lda int) (pivot float64, row int) {
	for j := range n {
		column := a[j*lda+j:][:n-j]
		d := column[0]
		if !(d > 0) || math.IsInf(d, 1) {
			return d, j
		}
		d = math.Sqrt(d)
		for i := range column {
			column[i] /= d
		}
		column[0] = d
		for k := 1; k < len(column); k++ {
			v := column[k]
			rest := a[(j+k)*lda+j+k:][:n-j-k]
			for i, x := range column[k:] {
				rest[i] -= float64(v * x)
			}
		}
	}
	return 0, -1
}

// invertSmall stores the inverse of the lower triangle of the n×n matrix l in inv. l is
// by columns, and inv by rows with stride strip. The elements above the diagonal of inv
// must be 0.
func invertSmall(n int, inv, l []float64, ldl int) {
	for j := range n {
		inv[j*strip+j] = 1 / l[j*ldl+j]
		for i := j + 1; i < n; i++ {
			var v float64
			for k := j; k < i; k++ {
				v += float64(l[k*ldl+i] * inv[k*strip+j])
			}
			inv[i*strip+j] = -v / l[i*ldl+i]
		}
	}
}

// Solve solves A·x = b. You pass b in x, and Solve overwrites it with the solution. The
// blocks of x are in the order of the nodes.
func (c *Cholesky) Solve(x []float64) {
	n := len(c.node)
	c.x = workspace.Grow(c.x, c.start[n])
	where := make([]int, n)
	at := 0
	for i, k := range c.position {
		where[i] = at
		at += copy(c.x[c.start[k]:c.start[k+1]], x[at:])
	}
	y := c.x
	for _, p := range c.panels {
		w, h := p.width, p.height()
		own := y[c.start[p.first]:][:w]
		c.below = workspace.Zeros(c.below, h-w)
		for j := range own {
			column := p.data[j*h+j : (j+1)*h]
			own[j] /= column[0]
			vec.Axpy(-own[j], column[1:w-j], own[j+1:])
			vec.Axpy(own[j], column[w-j:], c.below)
		}
		for k := p.end - p.first; k < len(p.rows); k++ {
			to := y[c.start[p.rows[k]]:c.start[p.rows[k]+1]]
			for i, v := range c.below[p.offset[k]-w : p.offset[k+1]-w] {
				to[i] -= v
			}
		}
	}
	for _, p := range slices.Backward(c.panels) {
		w, h := p.width, p.height()
		own := y[c.start[p.first]:][:w]
		c.below = workspace.Grow(c.below, h-w)
		for k := p.end - p.first; k < len(p.rows); k++ {
			copy(c.below[p.offset[k]-w:], y[c.start[p.rows[k]]:c.start[p.rows[k]+1]])
		}
		for j := w - 1; j >= 0; j-- {
			column := p.data[j*h+j : (j+1)*h]
			own[j] = (own[j] - vec.Dot(column[1:w-j], own[j+1:]) - vec.Dot(column[w-j:], c.below)) / column[0]
		}
	}
	for i, k := range c.position {
		copy(x[where[i]:], y[c.start[k]:c.start[k+1]])
	}
}
