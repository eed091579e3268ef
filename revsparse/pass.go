package revsparse

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse/internal/division"
)

// A pass reads the entries a_ij of a sparse matrix once. Let u_j, v_i and so on be rows
// of dense matrices, and s_i = Σ_j a_ij·u_j. It computes
//
//	out_i += alpha·s_i
//	w_j   += beta·Σ_i conj(a_ij)·v_i
//	ga_ij += gamma·v_i·conj(u_j)ᵀ
//	sum   += Σ_i v_i·conj(s_i)ᵀ
//
// Nil results are skipped. If outSign or wSign is negative, the first or the second is
// subtracted; run changes alpha and beta instead, except in fixed point, where that would
// change the rounding. If flip is set, conjugates change places: s_i has conj(a_ij) and w
// has a_ij, and v_i is conjugated instead of u_j and s_i.
//
// The work is cut into blocks of about the same number of entries. Blocks are whole
// rows, except for long rows if there is a single column of floats. They depend only on
// the structure of a, and so do the bits of the results. There are three strategies,
// with a file for each:
//
//	oneColumn    Each block adds to its own elements of w in place, and to others in a
//	             window. The windows are added to w in the order of the blocks.
//	fewColumns   For floats, with w: the same, with windows of all of w.
//	manyColumns  The transpose of a is made first, and w is its out. The columns are
//	             handled a panel at a time.
//
// The other files have what they share: pass_window.go has the windows, pass_rows.go
// the rows of several columns, pass_pack.go the copies without gaps.
type pass[T rev.Number, I Index] struct {
	a                  CSR[T, I]
	u, v, out, w       rev.General[T]
	ga                 []T
	alpha, beta, gamma T
	outSign, wSign     int
	flip               bool
	sum                *T
	workers            int
}

// run makes a pass. The dense matrices have the same number of columns.
func (p pass[T, I]) run() {
	cols := max(p.u.Cols, p.v.Cols)
	if len(p.a.Ind) == 0 || cols == 0 {
		return
	}
	if p.a.Cols == 0 {
		panic(p.a.outOfRange())
	}
	if !number.IsFixed[T]() {
		p.alpha, p.beta = number.Signed(p.outSign, p.alpha), number.Signed(p.wSign, p.beta)
		p.outSign, p.wSign = 0, 0
	}
	j := workspace.Get[*job[T, I]]()
	j.p = p
	switch {
	case cols == 1 && p.a.Data != nil:
		j.oneColumn()
	case cols <= fewColumns && p.w.Data != nil && !number.IsFixed[T]() && !number.IsComplex[T]():
		j.fewColumns(cols)
	default:
		j.manyColumns(cols)
	}
	j.p, j.given, j.of, j.from = pass[T, I]{}, pass[T, I]{}, pass[T, I]{}, rev.General[T]{}
	workspace.Put(j)
}

// dense returns the dense matrices, the results last.
func (p *pass[T, I]) dense() [4]*rev.General[T] {
	return [...]*rev.General[T]{&p.u, &p.v, &p.out, &p.w}
}

// A job is a pass in progress.
type job[T rev.Number, I Index] struct {
	p       pass[T, I]
	step    step
	blocks  int
	sums    []T         // of each block
	parts   []T         // of divided rows, of a single column
	windows []window[T] // of w, one for each block
	used    int         // number of windows, 0 if the blocks add to w itself
	scratch []scratch[T]

	packed [4][]T     // u, v, out and w without gaps, of a single column, and u and v of several
	given  pass[T, I] // with the gaps

	t              CSR[T, I]  // the transpose of a
	ptr, ind, perm []I        // of the matrix whose structure t has, and the places of its entries there
	tga            []T        // ga in the order of t
	of             pass[T, I] // the pass over the rows of t
	first, last    bool       // whether the panel of columns is its first or last

	from, to rev.General[T] // of stepPack, and of stepRows if it packs v
}

type step int

const (
	stepOneColumn     step = iota // blocks of rows, the dense matrices being one column
	stepAddWindows                // blocks of the windows
	stepPack                      // blocks of rows of what is copied
	stepRows                      // blocks of rows
	stepTransposed                // blocks of rows of t
	stepAddWindowRows             // blocks of rows of the windows
)

// Block performs the step for a block.
func (j *job[T, I]) Block(worker, block int) {
	switch j.step {
	case stepOneColumn:
		j.rowsOfColumn(&j.scratch[worker], block)
	case stepAddWindows:
		j.addWindows(block)
	case stepPack:
		j.packRows(block*packedRows, min(j.to.Rows, (block+1)*packedRows))
	case stepRows:
		j.rows(&j.scratch[worker], block)
		if j.to.Data != nil {
			j.packRows(j.cut(block), j.cut(block+1))
		}
	case stepTransposed:
		j.transposedRows(&j.scratch[worker], block)
	case stepAddWindowRows:
		j.addWindowRows(block)
	}
}

// cut returns the first row of a block.
func (j *job[T, I]) cut(block int) int {
	return division.FirstRow(block, j.blocks, j.p.a.Rows, j.p.a.Ptr)
}

func (j *job[T, I]) addSums() {
	if j.p.sum == nil {
		return
	}
	for _, s := range j.sums {
		*j.p.sum += s
	}
}

// A scratch is the scratch of a worker.
type scratch[T rev.Number] struct {
	s     [pieceRows]T // sums of rows, or of the columns of one
	exact [panelBytes / 8]fixed.Accumulator
}

// open makes scratch for the workers.
func (j *job[T, I]) open(workers int) {
	j.scratch = workspace.Grow(j.scratch, max(len(j.scratch), workers))
}

const (
	pieceRows  = 1024             // rows of a piece of a block, at most
	blockWork  = division.LongRow // entries and rows of a block
	mostBlocks = 64
)
