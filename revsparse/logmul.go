package revsparse

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/logstep"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse/internal/division"
)

// LogMul is the kernel
//
//	C ⊕= A·B,  that is  c_ij' = log(e^c_ij + Σ_l e^(a_il+b_lj)),
//
// of a sparse A and dense B and C whose elements are logs (see package ulog). The sum
// is over the entries of row i of A: an element that is not stored is the log of zero.
// With w_ilj = e^(a_il+b_lj-c_ij'), the share of a term in the new value of c_ij,
//
//	Ā_il += Σ_j C̄_ij'·w_ilj,  B̄_lj += Σ_i C̄_ij'·w_ilj,
//	C̄_ij = C̄_ij'·e^(c_ij-c_ij'),
//	ċ_ij' = ċ_ij·e^(c_ij-c_ij') + Σ_l w_ilj·(ȧ_il + ḃ_lj).
//
// Each element of C is a revlog.Dot of a row of A and a column of B, with its accuracy
// and its rules for logs and infinities. For probabilities, as in a hidden Markov model
// with few transitions, the shares are posteriors and the gradients expected counts.
//
// If Forward turns an element c of C into c', Inverse and Adjoint restore c within
//
//	ε·(|c'| + 4)·e^(c'-c),
//
// where ε is 2⁻⁵² or 2⁻²³, as long as the bound is less than 1/2. Beyond that, c is
// lost beside the product, and may come back as the log of zero. The bound has these
// parts. Forward rounds c' by at most ε/2·(|c'| + 3). Inverse computes log(e^c' - e^s)
// with the same s, which multiplies that by e^(c'-c). The logarithm adds ε/2·(|c| +
// 3·e^(c'-c)), where |c| ≤ |c'| + (c'-c). Over float32, for example, a c that is 7
// below c' = 1 comes back within 7e-4.
//
// The bits do not depend on the number of workers. Workers share the rows in blocks of
// about the same number of entries. For B̄ they need as many numbers as A has entries,
// times the number of columns up to 4.
type LogMul[T rev.Float, I Index] struct {
	C rev.General[T] `rev:"inout" shape:"m,n"`
	A CSR[T, I]      `rev:"in" shape:"m,k"`
	B rev.General[T] `rev:"in" shape:"k,n"`

	Workers int // 0 means GOMAXPROCS
}

// NewLogMul returns the kernel that changes c in place, over gonum's *mat.Dense or
// *mat.VecDense of logs, sharing their storage; another type panics.
func NewLogMul[I Index](c mat.Matrix, a CSR[float64, I], b mat.Matrix) LogMul[float64, I] {
	return LogMul[float64, I]{C: viewDense(c), A: a, B: viewDense(b)}
}

const (
	logWork    = 1 << 11 // entries and rows of a block, times columns
	logColumns = 4       // columns at a time if B has a cotangent
	logTerms   = 1 << 10 // terms at a time, unless a row has more
)

// A logMul is a pass over rows of A and columns of B in progress.
type logMul[T rev.Float, I Index] struct {
	k, g, t, gt LogMul[T, I]
	back        bool
	blocks      int
	j0, j1      int          // the columns
	gb, gtb     []T          // for each entry of A and column, the cotangent of the element of B that it meets
	tiles       []logTile[T] // of each worker
}

// A logTile is some elements of C and their terms, one after the other. With the shares
// of package logstep, an element has
//
//	m = max a_il+b_lj,  s = m + log Σ e^(a_il+b_lj-m).
type logTile[T rev.Float] struct {
	elements       []logElement[T]
	terms          []float64 // a_il+b_lj-m, and then the exponentials
	sums, logs     []float64 // Σ e^(a_il+b_lj-m), 1 where m is not finite, and its log
	z              []float64 // of C
	keeps, partial []float64 // ω and e^(s-c')
}

type logElement[T rev.Float] struct {
	i, j, from, to   int // the element, and its row of A
	at               int // where its terms begin
	top              float64
	s, before, after T
}

// logMulRun is Run of LogMul. It returns no error. The inverse of Adjoint is the exception: it
// may return rev.ErrUnsupported.
func logMulRun[T rev.Float, I Index](k *LogMul[T, I], p *rev.Pass[LogMul[T, I]]) error {
	CheckOperand[LogMul[T, I]](&k.A, "A")
	g, t, gt := p.G, p.T, p.GT
	var none LogMul[T, I]
	if g.C.Data == nil && gt.C.Data == nil {
		g, gt = none, none // no cotangents to compute
	} else if !p.Back && logMulLost(*k) {
		return rev.ErrUnsupported
	}
	w := workspace.Get[*logMul[T, I]]()
	w.k, w.g, w.t, w.gt, w.back = *k, g, t, gt, p.Back
	cols, entries := k.C.Cols, len(k.A.Ind)
	w.blocks = max(1, min((entries+k.A.Rows)*cols/logWork, mostBlocks))
	workers := min(parallel.Workers(k.Workers), w.blocks)
	w.open(workers)
	step := max(1, cols)
	if g.B.Data != nil || gt.B.Data != nil {
		step = max(1, min(cols, logColumns))
	}
	if g.B.Data != nil {
		w.gb = workspace.Grow(w.gb, step*entries)
	}
	if gt.B.Data != nil {
		w.gtb = workspace.Grow(w.gtb, step*entries)
	}
	for w.j0 = 0; w.j0 < cols; w.j0 += step {
		w.j1 = min(w.j0+step, cols)
		parallel.Run(workers, w.blocks, w)
		w.scatter(g.B, w.gb)
		w.scatter(gt.B, w.gtb)
	}
	w.k, w.g, w.t, w.gt = none, none, none, none
	workspace.Put(w)
	return nil
}

// logMulLost reports whether Adjoint lost a cotangent of C.
func logMulLost[T rev.Float, I Index](k LogMul[T, I]) bool {
	for i := range k.C.Rows {
		from, to := k.A.Ptr[i], k.A.Ptr[i+1]
		ind, a := k.A.Ind[from:to], k.A.Data[from:to]
		for j, c := range k.C.Row(i) {
			for q := 0; q < len(a) && logstep.IsZero(c); q++ {
				if logstep.Lost(c, a[q]+k.B.Data[int(ind[q])*k.B.Stride+j]) {
					return true
				}
			}
		}
	}
	return false
}

// open makes a tile for each worker.
func (w *logMul[T, I]) open(workers int) {
	w.tiles = workspace.Grow(w.tiles, max(len(w.tiles), workers))
	most := logTerms
	for i := range w.k.A.Rows {
		most = max(most, int(w.k.A.Ptr[i+1]-w.k.A.Ptr[i]))
	}
	for n := range w.tiles[:workers] {
		s := &w.tiles[n]
		s.terms = workspace.Grow(s.terms, most)
		s.elements = workspace.Grow(s.elements, logTerms)
		for _, b := range [...]*[]float64{&s.sums, &s.logs, &s.z, &s.keeps, &s.partial} {
			*b = workspace.Grow(*b, logTerms)
		}
	}
}

// cut returns the first row of a block.
func (w *logMul[T, I]) cut(block int) int {
	return division.FirstRow(block, w.blocks, w.k.A.Rows, w.k.A.Ptr)
}

// Block handles a block of rows.
func (w *logMul[T, I]) Block(worker, block int) {
	s, a, b := &w.tiles[worker], &w.k.A, w.k.B
	count, at := 0, 0 // elements and terms; not in the tile, which shares cache lines with the next worker's
	for i, end := w.cut(block), w.cut(block+1); i < end; i++ {
		from, to := int(a.Ptr[i]), int(a.Ptr[i+1])
		if from == to {
			continue // the product is zero, and C does not change
		}
		n := to - from
		for j := w.j0; j < w.j1; j++ {
			if at+n > len(s.terms) || count == logTerms {
				w.flush(s, count)
				count, at = 0, 0
			}
			top := logTermsOf(s.terms[at:at+n], a.Data[from:to], a.Ind[from:to], b.Data[j:], b.Stride)
			s.elements[count] = logElement[T]{i: i, j: j, from: from, to: to, at: at, top: top}
			count++
			at += n
		}
	}
	w.flush(s, count)
}

// logTermsOf stores in terms the sums of a and the elements ind·ld, counted from the
// first, of b, less the largest of them. It returns the largest.
func logTermsOf[T rev.Float, I Index](terms []float64, a []T, ind []I, b []T, ld int) float64 {
	// The bits of a float, as an integer of the same order except for NaN. Comparing
	// these needs no branch.
	order := func(x int64) int64 { return x ^ int64(uint64(x>>63)>>1) }
	most := int64(math.MinInt64)
	terms, a = terms[:len(ind)], a[:len(ind)]
	for q, l := range ind {
		x := float64(a[q]) + float64(b[int(l)*ld])
		terms[q] = x
		most = max(most, order(int64(math.Float64bits(x))))
	}
	top := math.Float64frombits(uint64(order(most)))
	if top-top != 0 {
		top = vec.Max(terms)
	}
	for q := range terms {
		terms[q] -= top
	}
	return top
}

// flush handles that many elements of a tile.
func (w *logMul[T, I]) flush(s *logTile[T], count int) {
	if count == 0 {
		return
	}
	elements := s.elements[:count]
	last := &elements[count-1]
	terms := s.terms[:last.at+last.to-last.from]
	vec.Exp(terms, terms)
	sums, logs := s.sums[:count], s.logs[:count]
	for n := range elements {
		x := &elements[n]
		sum := 1.0
		if x.top-x.top == 0 {
			sum = 0
			for _, e := range terms[x.at : x.at+x.to-x.from] {
				sum += e
			}
		}
		sums[n] = sum
	}
	vec.Log(logs, sums)
	z := s.z[:count]
	for n := range elements {
		x := &elements[n]
		x.s = T(x.top + logs[n])
		logs[n], z[n] = float64(x.s), float64(*logMulCell(&w.k, x))
	}
	keeps, partial := s.keeps[:count], s.partial[:count]
	logstep.Steps(z, logs, keeps, partial, w.back)
	for n := range elements {
		x := &elements[n]
		c := logMulCell(&w.k, x)
		x.before, x.after = *c, T(z[n])
		*c = x.after
		if w.back {
			x.before, x.after = x.after, x.before
		}
		keeps[n] = float64(x.before) - float64(x.after)
		partial[n] = float64(x.s) - float64(x.after)
	}
	if w.t.C.Data != nil || w.g.C.Data != nil || w.gt.C.Data != nil {
		vec.Exp(keeps, keeps)
		vec.Exp(partial, partial)
		for n := range elements {
			w.derivatives(s, n)
		}
	}
}

// derivatives handles an element of a tile after C has changed.
func (w *logMul[T, I]) derivatives(s *logTile[T], n int) {
	x := &s.elements[n]
	e := s.terms[x.at : x.at+x.to-x.from]
	kept, v := s.keeps[n], s.partial[n]/s.sums[n]
	switch {
	case logstep.IsZero(x.s):
		kept = 1
	case logstep.IsZero(x.before):
		kept = 0
	}
	if x.s == x.after { // infinity too
		v = 1 / s.sums[n]
	}
	zero := math.IsInf(x.top, -1) // then the terms are zero too, and have no share
	tangent := w.t.A.Data != nil || w.t.B.Data != nil
	sigma := 0.0
	if tangent && !zero {
		for q, y := range e {
			sigma += float64(y * logMulTerm(&w.t, x, q, w.k.A.Ind))
		}
		sigma = float64(sigma * v)
	}
	before, after := logstep.Tangent(logMulCell(&w.t, x), kept, sigma, w.back)
	if w.g.C.Data == nil && w.gt.C.Data == nil {
		return
	}
	seed, dseed := logstep.Cotangent(logMulCell(&w.g, x), logMulCell(&w.gt, x), kept, before, after, w.back)
	var gb, gtb []T
	if w.g.B.Data != nil {
		gb = w.row(w.gb, x.from, x.to, x.j)
	}
	if w.gt.B.Data != nil {
		gtb = w.row(w.gtb, x.from, x.to, x.j)
	}
	if zero {
		clear(gb)
		clear(gtb)
		return
	}
	seed, dseed = seed*v, float64(dseed*v)
	if w.g.A.Data != nil {
		addShares(w.g.A.Data[x.from:x.to], seed, e)
	}
	if gb != nil {
		clear(gb)
		addShares(gb, seed, e)
	}
	if w.gt.A.Data == nil && w.gt.B.Data == nil {
		return
	}
	for q := range e {
		d := dseed
		if tangent {
			d += float64(seed * logMulTerm(&w.t, x, q, w.k.A.Ind))
		}
		e[q] *= d
	}
	if w.gt.A.Data != nil {
		addShares(w.gt.A.Data[x.from:x.to], 1, e)
	}
	if gtb != nil {
		clear(gtb)
		addShares(gtb, 1, e)
	}
}

// addShares computes dst += seed·e.
func addShares[T rev.Float](dst []T, seed float64, e []float64) {
	dst = dst[:len(e)]
	for q, y := range e {
		dst[q] += T(seed * y)
	}
}

// logMulTerm returns ȧ_il + ḃ_lj of entry q of the row of an element.
func logMulTerm[T rev.Float, I Index](k *LogMul[T, I], x *logElement[T], q int, ind []I) float64 {
	var y float64
	if k.A.Data != nil {
		y = float64(k.A.Data[x.from+q])
	}
	if k.B.Data != nil {
		y += float64(k.B.Data[int(ind[x.from+q])*k.B.Stride+x.j])
	}
	return y
}

// logMulCell returns the place of an element of C, or nil if k has no C.
func logMulCell[T rev.Float, I Index](k *LogMul[T, I], x *logElement[T]) *T {
	if k.C.Data == nil {
		return nil
	}
	return &k.C.Data[x.i*k.C.Stride+x.j]
}

// row returns the elements of x for column j and the row of A from entry from to to.
func (w *logMul[T, I]) row(x []T, from, to, j int) []T {
	m := w.j1 - w.j0
	return x[from*m+(j-w.j0)*(to-from):][:to-from]
}

// scatter adds x to the elements of m that the entries of A meet, if m is there.
func (w *logMul[T, I]) scatter(m rev.General[T], x []T) {
	if m.Data == nil {
		return
	}
	for i := range w.k.A.Rows {
		from, to := int(w.k.A.Ptr[i]), int(w.k.A.Ptr[i+1])
		for j := w.j0; j < w.j1; j++ {
			v := w.row(x, from, to, j)
			for q, l := range w.k.A.Ind[from:to] {
				m.Data[int(l)*m.Stride+j] += v[q]
			}
		}
	}
}
