package revsparse

import (
	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/workspace"
)

// A window holds elements lo, ..., hi-1 of a column that a block adds into; the
// others of all are undefined.
type window[T any] struct {
	all    []T
	lo, hi int
}

// reach widens the window to element c, and returns what it holds.
func (w *window[T]) reach(c int) []T {
	if w == nil {
		panic("revsparse: column index out of range")
	}
	_ = w.all[c]
	if w.hi == w.lo {
		w.lo, w.hi = c, c
	}
	// By as much again, so that the number of calls is small.
	more := max(512, w.hi-w.lo)
	lo, hi := w.lo, w.hi
	if c < lo {
		lo = max(0, min(c, lo-more))
	}
	if c >= hi {
		hi = min(len(w.all), max(c+1, hi+more))
	}
	clear(w.all[lo:w.lo])
	clear(w.all[w.hi:hi])
	w.lo, w.hi = lo, hi
	return w.all[lo:hi]
}

// column does a pass over matrices of one column.
func (j *job[T, I]) column() {
	p := &j.p
	j.pack()
	work := len(p.a.Ind) + p.a.Rows
	scatter := p.w.Data != nil
	j.blocks = max(1, min(work/blockWork, mostBlocks))
	if scatter {
		j.blocks = max(1, min(work/(4*blockWork), mostWindows))
	}
	if scatter && j.blocks > 1 {
		for len(j.windows) < j.blocks {
			j.windows = append(j.windows, window[T]{})
		}
		for b := range j.windows[:j.blocks] {
			w := &j.windows[b]
			*w = window[T]{all: workspace.Grow(w.all, p.a.Cols)}
		}
	}
	workers := parallel.Workers(p.workers)
	j.sums = workspace.Zeros(j.sums, j.blocks)
	j.step = stepColumn
	parallel.Run(workers, j.blocks, j)
	if scatter && j.blocks > 1 {
		j.step = stepCombine
		parallel.Run(workers, (p.a.Cols+combined-1)/combined, j)
	}
	j.addSums()
	j.unpack()
}

// pack has the columns without gaps between their elements.
func (j *job[T, I]) pack() {
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

// unpack has the results where they are wanted.
func (j *job[T, I]) unpack() {
	given := j.given.dense()
	for n, m := range j.p.dense() {
		to := given[n]
		if m.Data == nil || to.Stride == 1 || n < 2 {
			continue
		}
		for i := range m.Rows {
			to.Data[i*to.Stride] = m.Data[i]
		}
	}
}

// combine adds the windows to a block of columns of w.
func (j *job[T, I]) combine(block int) {
	lo := block * combined
	hi := min(lo+combined, j.p.a.Cols)
	w := j.p.w.Data
	for b := range j.windows[:j.blocks] {
		win := &j.windows[b]
		from, to := max(lo, win.lo), min(hi, win.hi)
		if from < to {
			axpy(1, win.all[from:to], w[from:to])
		}
	}
}

// rowsOfColumn does a block of rows of stepColumn.
func (j *job[T, I]) rowsOfColumn(block int) {
	p := j.p
	r0, r1 := j.cut(block), j.cut(block+1)
	if r0 == r1 {
		return
	}
	b := &columnBlock[T, I]{
		ptr: p.a.Ptr[r0 : r1+1], ind: p.a.Ind, a: p.a.Data, ga: p.ga, u: p.u.Data,
		alpha: p.alpha, beta: p.beta, gamma: p.gamma,
	}
	if p.out.Data != nil {
		b.out = p.out.Data[r0:r1]
	}
	if p.v.Data != nil {
		b.v = p.v.Data[r0:r1]
	}
	if p.w.Data != nil {
		b.w = p.w.Data[:p.a.Cols]
		if j.blocks > 1 {
			b.window = &j.windows[block]
			b.w = nil
		}
	}
	gather := p.out.Data != nil || p.sum != nil
	scatter := p.w.Data != nil
	if isFixed[T]() || isComplex[T]() {
		j.sums[block] = b.general(&p, gather, scatter)
		return
	}
	if p.subOut {
		b.alpha = -b.alpha
	}
	if p.subW {
		b.beta = -b.beta
	}
	switch {
	case p.ga != nil && scatter:
		j.sums[block] = b.gatherScatterGrad()
	case p.ga != nil:
		j.sums[block] = b.gatherGrad()
	case gather && scatter:
		j.sums[block] = b.gatherScatter()
	case gather:
		j.sums[block] = b.gather()
	case scatter:
		b.scatter()
	}
}

// A columnBlock is a block of rows of a pass over single columns. Slices but ind,
// a, ga and u begin at its first row.
type columnBlock[T Scalar, I Index] struct {
	ptr, ind           []I
	a, ga, u, out, v   []T
	alpha, beta, gamma T
	w                  []T        // element lo and so on of it
	lo                 int        // where w begins
	window             *window[T] // nil if w is all
}

// gather computes out_i += alpha·s_i, and returns Σ v_i·s_i.
func (b *columnBlock[T, I]) gather() (sum T) {
	u, alpha := b.u, b.alpha
	from := b.ptr[0]
	for i, to := range b.ptr[1:] {
		a, ind := b.a[from:to], b.ind[from:to]
		from = to
		var s T
		for q, c := range ind {
			s += T(a[q] * u[c])
		}
		sum += b.finish(i, alpha, s)
	}
	return sum
}

// finish uses s_i.
func (b *columnBlock[T, I]) finish(i int, alpha, s T) T {
	if b.out != nil {
		b.out[i] += T(alpha * s)
	}
	if b.v != nil {
		return T(b.v[i] * s)
	}
	return 0
}

// scatter computes w_j += beta·a_ij·v_i.
func (b *columnBlock[T, I]) scatter() {
	w, lo := b.w, b.lo
	from := b.ptr[0]
	for i, to := range b.ptr[1:] {
		a, ind := b.a[from:to], b.ind[from:to]
		from = to
		f := T(b.beta * b.v[i])
		for q, c := range ind {
			k := int(c) - lo
			if uint(k) >= uint(len(w)) {
				w = b.window.reach(int(c))
				lo = b.window.lo
				k = int(c) - lo
			}
			w[k] += T(a[q] * f)
		}
	}
}

// gatherScatter does what gather and scatter do.
func (b *columnBlock[T, I]) gatherScatter() (sum T) {
	u, w, lo, alpha := b.u, b.w, b.lo, b.alpha
	from := b.ptr[0]
	for i, to := range b.ptr[1:] {
		a, ind := b.a[from:to], b.ind[from:to]
		from = to
		f := T(b.beta * b.v[i])
		var s T
		for q, c := range ind {
			k := int(c) - lo
			if uint(k) >= uint(len(w)) {
				w = b.window.reach(int(c))
				lo = b.window.lo
				k = int(c) - lo
			}
			x := a[q]
			s += T(x * u[c])
			w[k] += T(x * f)
		}
		sum += b.finish(i, alpha, s)
	}
	return sum
}

// gatherGrad does what gather does, and ga_ij += gamma·v_i·u_j.
func (b *columnBlock[T, I]) gatherGrad() (sum T) {
	u, alpha := b.u, b.alpha
	from := b.ptr[0]
	for i, to := range b.ptr[1:] {
		a, ind, ga := b.a[from:to], b.ind[from:to], b.ga[from:to]
		from = to
		f := T(b.gamma * b.v[i])
		var s T
		for q, c := range ind {
			x := u[c]
			s += T(a[q] * x)
			ga[q] += T(f * x)
		}
		sum += b.finish(i, alpha, s)
	}
	return sum
}

// gatherScatterGrad does all of it.
func (b *columnBlock[T, I]) gatherScatterGrad() (sum T) {
	u, w, lo, alpha := b.u, b.w, b.lo, b.alpha
	from := b.ptr[0]
	for i, to := range b.ptr[1:] {
		a, ind, ga := b.a[from:to], b.ind[from:to], b.ga[from:to]
		from = to
		f, g := T(b.beta*b.v[i]), T(b.gamma*b.v[i])
		var s T
		for q, c := range ind {
			k := int(c) - lo
			if uint(k) >= uint(len(w)) {
				w = b.window.reach(int(c))
				lo = b.window.lo
				k = int(c) - lo
			}
			x, y := a[q], u[c]
			s += T(x * y)
			ga[q] += T(g * y)
			w[k] += T(x * f)
		}
		sum += b.finish(i, alpha, s)
	}
	return sum
}

// general does what is asked for, over numbers of any type.
func (b *columnBlock[T, I]) general(p *pass[T, I], gather, scatter bool) (sum T) {
	flip := p.flip
	from := b.ptr[0]
	for i, to := range b.ptr[1:] {
		lo, hi := from, to
		from = to
		if gather {
			s := b.rowSum(int(lo), int(hi), flip)
			if b.out != nil {
				if p.subOut {
					b.out[i] -= mul(b.alpha, s)
				} else {
					b.out[i] += mul(b.alpha, s)
				}
			}
			if b.v != nil {
				if flip {
					sum += mul(conj(b.v[i]), s)
				} else {
					sum += mul(b.v[i], conj(s))
				}
			}
		}
		if scatter {
			f := mul(b.beta, b.v[i])
			for q := lo; q < hi; q++ {
				c := int(b.ind[q])
				if uint(c-b.lo) >= uint(len(b.w)) {
					b.w = b.window.reach(c)
					b.lo = b.window.lo
				}
				x := b.a[q]
				if !flip {
					x = conj(x)
				}
				if p.subW {
					b.w[c-b.lo] -= mul(x, f)
				} else {
					b.w[c-b.lo] += mul(x, f)
				}
			}
		}
		if b.ga != nil {
			v := b.v[i]
			for q := lo; q < hi; q++ {
				u := b.u[b.ind[q]]
				if flip {
					b.ga[q] += mul(b.gamma, mul(conj(v), u))
				} else {
					b.ga[q] += mul(b.gamma, mul(v, conj(u)))
				}
			}
		}
	}
	return sum
}

// rowSum returns s_i of the row with the entries lo to hi-1.
func (b *columnBlock[T, I]) rowSum(lo, hi int, flip bool) T {
	a, ind := b.a[lo:hi], b.ind[lo:hi]
	if isFixed[T]() {
		var s fixed.Accumulator
		u := q43(b.u)
		for q, x := range q43(a) {
			s.AddMul(x, u[ind[q]])
		}
		return any(s.Round()).(T)
	}
	var s T
	for q, x := range a {
		if flip {
			x = conj(x)
		}
		s += mul(x, b.u[ind[q]])
	}
	return s
}
