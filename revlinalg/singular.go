package revlinalg

import (
	"cmp"
	"math"
	"slices"

	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revlinalg/internal/dqds"
)

// singularValues is a singular value decomposition in float64.
type singularValues struct {
	s       []float64
	reduced bidiagonal
	sweeps  golubKahan
	conquer divideBidiagonal
	rotated rotatedRows
	iterate dqds.Iteration
	alone   []float64 // the values without vectors

	left, right rev.General[float64] // Qᵀ and Pᵀ, and then Uᵀ and Vᵀ in any order, within chainPad rows
	order       []int
	sweepsAlone bool // at every order, because small values matter beside large ones
}

// decomposeSVD computes A = U·Σ·Vᵀ. If vectors is set, w.s has the min(m, n) singular values in descending
// order, and singularVectors then has U and V. If alone is set, w.alone has the values, more
// accurately, from an iteration that finds no vectors. It reports whether A is finite, and whether the
// iterations converge.
func decomposeSVD[T rev.Float](workers int, w *singularValues, a rev.General[T], vectors, alone bool) (finite, ok bool) {
	m, n := max(a.Rows, a.Cols), min(a.Rows, a.Cols)
	w.s, w.alone, w.order = workspace.Grow(w.s, n), workspace.Grow(w.alone, n), w.order[:0]
	if n == 0 {
		return true, true
	}
	w.reduced.begin(workers, m, n)
	shift, finite := loadTall(w.reduced.a, a)
	if !finite {
		return false, false
	}
	w.reduced.reduce()
	ok = true
	if alone {
		copy(w.alone, w.reduced.d)
		ok = w.iterate.Run(w.alone, w.reduced.e)
		descending(w.alone, w.alone, shift)
	}
	if vectors {
		ok = w.decomposeReduced(workers, m, n) && ok
		descending(w.s, w.reduced.d, shift)
	}
	return true, ok
}

// descending sets s to the magnitudes of x times 2^shift, in descending order.
func descending(s, x []float64, shift int) {
	for i, v := range x {
		s[i] = -math.Ldexp(math.Abs(v), shift)
	}
	slices.Sort(s)
	for i, v := range s {
		s[i] = -v
	}
}

// decomposeReduced finds the vectors, and with them the values w.reduced.d, with signs. It reports
// whether the iteration converges.
func (w *singularValues) decomposeReduced(workers, m, n int) (ok bool) {
	d := w.reduced.d
	left, right := padded(&w.left, n, m), padded(&w.right, n, n)
	q, p := block(left, chainPad, 0, n, m), block(right, chainPad, 0, n, n)
	if n > divideAbove && !w.sweepsAlone {
		ok = w.conquer.run(workers, d, w.reduced.e)
		copyMatrix(block(q, 0, 0, n, n), w.conquer.u)
		for i := range n {
			clear(q.Row(i)[n:])
		}
		copyMatrix(p, w.conquer.v)
		w.reduced.multiplyTransposed(q, w.reduced.v, w.reduced.tau, 0, false)
		w.reduced.multiplyTransposed(p, w.reduced.u, w.reduced.sigma, 1, false)
		copy(d, w.conquer.d)
	} else {
		w.reduced.formTransposed(q, w.reduced.v, w.reduced.tau, 0)
		w.reduced.formTransposed(p, w.reduced.u, w.reduced.sigma, 1)
		w.sweeps.begin(d, w.reduced.e)
		w.rotated.run(workers, n, &w.sweeps, left, right)
		ok = !w.sweeps.failed
	}
	w.order = workspace.Grow(w.order, n)
	for i := range n {
		w.order[i] = i
	}
	slices.SortFunc(w.order, func(i, j int) int { return cmp.Compare(math.Abs(d[j]), math.Abs(d[i])) })
	return ok
}

// padded returns a matrix of r rows with chainPad rows of zeros above and below.
func padded(m *rev.General[float64], r, c int) rev.General[float64] {
	*m = scratch(*m, r+2*chainPad, c)
	for i := range chainPad {
		clear(m.Row(i))
		clear(m.Row(chainPad + r + i))
	}
	return *m
}

// loadTall sets dst to A, or to Aᵀ if A is wide, times 2^-shift. It reports whether A is finite.
func loadTall[T rev.Float](dst rev.General[float64], a rev.General[T]) (shift int, finite bool) {
	rs, cs := dst.Stride, 1
	if a.Rows < a.Cols {
		rs, cs = 1, dst.Stride
	}
	top := 0.0
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			x := float64(v)
			dst.Data[i*rs+j*cs] = x
			if x = math.Abs(x); x > top {
				top = x
			}
			if !(x <= math.MaxFloat64) {
				return 0, false
			}
		}
	}
	if shift = rangeShift(top); shift != 0 {
		for i := range dst.Rows {
			for j, v := range dst.Row(i) {
				dst.Row(i)[j] = math.Ldexp(v, -shift)
			}
		}
	}
	return shift, true
}

// rangeShift returns the e for which the products of a few numbers of magnitude top·2^-e are in
// range, and so are those of numbers that matter beside them.
func rangeShift(top float64) int {
	if top > 0x1p300 || 0 < top && top < 0x1p-100 {
		return exponent(top)
	}
	return 0
}

// singularVectors sets ut and vt to Uᵀ and Vᵀ, with the signs of SVD.
func singularVectors[T rev.Float](w *singularValues, wide bool, ut, vt rev.General[T]) {
	left, right := ut, vt
	if wide {
		left, right = vt, ut
	}
	for j, i := range w.order {
		toLeft, toRight := left.Row(j), right.Row(j)
		for l, v := range w.left.Row(chainPad + i) {
			toLeft[l] = T(v)
		}
		flip := math.Signbit(w.reduced.d[i])
		for l, v := range w.right.Row(chainPad + i) {
			if flip {
				v = -v
			}
			toRight[l] = T(v)
		}
		if isDownward(ut.Row(j)) {
			negate(ut.Row(j))
			negate(vt.Row(j))
		}
	}
}

func negate[T rev.Float](x []T) {
	for i, v := range x {
		x[i] = -v
	}
}
