package revlinalg

import (
	"cmp"
	"math"
	"slices"

	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A divideConquer finds the eigenvalues and vectors of a symmetric tridiagonal matrix T (Cuppen
// 1981). With e the element that joins two halves, ρ = 2·|e| and u = (0 ... 0, 1, ±1, 0 ... 0)/√2,
//
//	T = diag(T₁, T₂) + ρ·u·uᵀ = Q·(D + ρ·z·zᵀ)·Qᵀ,  T_i = Q_i·D_i·Q_iᵀ,  z = Qᵀ·u.
//
// An eigenvalue λ of D + ρ·z·zᵀ is a root of 1/ρ + Σ z_i²/(d_i - λ), with the vector
// (D - λ)⁻¹·z. There is one root after each d_i. If z_i is 0 up to rounding, d_i is an eigenvalue of T
// already. So is one of two equal d_i, after a rotation that makes its z_i zero (Dongarra and Sorensen
// 1987). Vectors are orthogonal because they are those of the z that has the computed roots exactly
// (Gu and Eisenstat 1995).
type divideConquer struct {
	workers int
	d, e    []float64            // the diagonal of T and the elements below it, and then the eigenvalues in any order
	x, y    rev.General[float64] // the vectors are rows of x
	failed  bool

	ql      qlIteration // of small matrices
	rotated rotatedRows
	small   rev.General[float64]

	deflation
	secular secular
}

// A deflation tells the vectors of two halves that are vectors of the whole from those that are kept.
type deflation struct {
	z, found       []float64
	order          []int  // of d
	kept, deflated []int  // rows of x
	part           []byte // where rows of x are not zero: leftPart | rightPart
	at             []int  // the row of y that has a kept row
}

const (
	divideAbove = 128 // up to this order sweeps take less time
	divideLeaf  = 48

	leftPart, rightPart = 1, 2
)

// run finds the eigenvalues and vectors of T. It reports whether all iterations converged.
func (w *divideConquer) run(workers int, d, e []float64) (ok bool) {
	n := len(d)
	w.workers, w.failed = workers, false
	w.d, w.e = append(w.d[:0], d...), append(w.e[:0], e...)
	w.x, w.y = zeros(w.x, n, n), scratch(w.y, n, n)
	w.z, w.part = workspace.Grow(w.z, n), workspace.Grow(w.part, n)
	w.solve(0, n)
	return !w.failed
}

// solve solves rows lo to hi-1, without what joins them to others.
func (w *divideConquer) solve(lo, hi int) {
	if hi-lo <= divideLeaf {
		n := hi - lo
		v := block(padded(&w.small, n, n), chainPad, 0, n, n)
		for i := range n {
			clear(v.Row(i))
			v.Row(i)[i] = 1
		}
		w.ql.begin(w.d[lo:hi], w.e[lo:hi])
		w.rotated.run(1, n, &w.ql, w.small, rev.General[float64]{})
		w.failed = w.failed || w.ql.failed
		copyMatrix(block(w.x, lo, lo, n, n), v)
		return
	}
	mid := (lo + hi) / 2
	e := w.e[mid-1]
	w.d[mid-1] -= math.Abs(e)
	w.d[mid] -= math.Abs(e)
	w.solve(lo, mid)
	w.solve(mid, hi)
	w.merge(w.d[lo:hi], block(w.x, lo, lo, hi-lo, hi-lo), mid-lo, e)
}

// merge joins the solutions of the first m rows and of the others by e.
func (w *divideConquer) merge(d []float64, x rev.General[float64], m int, e float64) {
	n := len(d)
	rho := 2 * math.Abs(e)
	w.deflate(d, x, m, e)
	k := len(w.kept)
	if k == 0 {
		return
	}
	s := &w.secular
	s.poles, s.weights = s.poles[:0], s.weights[:0]
	for _, i := range w.kept {
		s.poles, s.weights = append(s.poles, d[i]), append(s.weights, w.z[i])
	}

	y := block(w.y, 0, 0, n, n)
	right, left := w.place(x, y)
	w.found = w.found[:0]
	for _, i := range w.deflated {
		w.found = append(w.found, d[i])
	}
	if !s.solve(w.workers, rho, w.at, d[:k]) {
		w.failed = true
	}
	copy(d[k:], w.found)
	expand(w.workers, x, y, s.vectors, m, m, right, left)
}

// place copies the rows of x to y: those that are zero on the right, those that are not zero on either
// side, those that are zero on the left, and what is deflated. Rows of y from right on are not zero on the
// right, and those up to left on the left, among those that are kept.
func (w *deflation) place(x, y rev.General[float64]) (right, left int) {
	k := len(w.kept)
	var count, next [leftPart | rightPart + 1]int
	for _, i := range w.kept {
		count[w.part[i]]++
	}
	right, left = count[leftPart], k-count[rightPart]
	next[leftPart|rightPart], next[rightPart] = right, left
	w.at = workspace.Grow(w.at, k)
	for j, i := range w.kept {
		to := &next[w.part[i]]
		w.at[j] = *to
		copy(y.Row(*to), x.Row(i))
		*to++
	}
	for j, i := range w.deflated {
		copy(y.Row(k+j), x.Row(i))
	}
	return right, left
}

// expand sets the first rows of x to u times those of y, of which the left columns are the first m and the
// right ones those from column m2 on, and the others to those of y.
func expand(workers int, x, y, u rev.General[float64], m, m2, right, left int) {
	n, c, k := x.Rows, x.Cols, u.Rows
	for i := range k {
		clear(x.Row(i))
	}
	multiply(workers, block(x, 0, 0, k, m), 1, view(block(u, 0, 0, k, left), false), view(block(y, 0, 0, left, m), false))
	multiply(workers, block(x, 0, m2, k, c-m2), 1, view(block(u, 0, right, k, k-right), false), view(block(y, right, m2, k-right, c-m2), false))
	copyMatrix(block(x, k, 0, n-k, c), block(y, k, 0, n-k, c))
}

// deflate sets z, and tells the rows of x that are vectors already from those that are kept. It
// rotates vectors of equal values.
func (w *divideConquer) deflate(d []float64, x rev.General[float64], m int, e float64) {
	n := len(d)
	w.order, w.kept, w.deflated = w.order[:0], w.kept[:0], w.deflated[:0]
	rho := 2 * math.Abs(e)
	top := rho
	z, part := w.z[:n], w.part[:n]
	for i := range n {
		w.order = append(w.order, i)
		top = max(top, math.Abs(d[i]))
		if i < m {
			z[i], part[i] = x.Row(i)[m-1]*(math.Sqrt2/2), leftPart
		} else {
			z[i], part[i] = math.Copysign(math.Sqrt2/2, e)*x.Row(i)[m], rightPart
		}
	}
	// The reduction takes rows below 2⁻⁴⁸⁰ for 0, and 1/ρ² is a number.
	w.split(d, rho, max(8*0x1p-53*top, 0x1p-440), x, rev.General[float64]{})
}

// split tells the rows of order apart. It rotates vectors of equal values, rows of x and of u, which may be
// nil.
func (w *deflation) split(d []float64, rho, least float64, x, u rev.General[float64]) {
	slices.SortFunc(w.order, func(i, j int) int { return cmp.Compare(d[i], d[j]) })
	z, part := w.z, w.part
	last := -1
	for _, j := range w.order {
		if rho*math.Abs(z[j]) <= least {
			w.deflated = append(w.deflated, j)
			continue
		}
		if p := last; p >= 0 {
			r := math.Hypot(z[p], z[j])
			c, s := z[j]/r, z[p]/r
			if math.Abs((d[j]-d[p])*c*s) <= least {
				z[p], z[j] = 0, r
				d[p], d[j] = float64(c*c*d[p])+float64(s*s*d[j]), float64(s*s*d[p])+float64(c*c*d[j])
				rotateRows(x, p, j, c, s)
				rotateRows(u, p, j, c, s)
				part[j] |= part[p]
				w.deflated = append(w.deflated, p)
			} else {
				w.kept = append(w.kept, p)
			}
		}
		last = j
	}
	if last >= 0 {
		w.kept = append(w.kept, last)
	}
}

// rotateRows sets rows p and j of x to c·x_p - s·x_j and c·x_j + s·x_p. It does nothing if x is nil.
func rotateRows(x rev.General[float64], p, j int, c, s float64) {
	if x.Data == nil {
		return
	}
	xp, xj := x.Row(p), x.Row(j)
	for l, a := range xp {
		b := xj[l]
		xp[l], xj[l] = float64(c*a)-float64(s*b), float64(c*b)+float64(s*a)
	}
}

// A secular equation is f(λ) = 1/ρ + Σ z_i²/(d_i - λ) = 0, with the poles d in ascending order and the
// weights z. Root i lies after pole i.
type secular struct {
	rho            float64
	poles, weights []float64
	roots          []float64
	exact          []float64            // the weights of the equation that has the computed roots
	delta          rev.General[float64] // d_i - λ_j in row j
	inverse        []float64            // 1 over the lengths of the vectors (D - λ)⁻¹·z
	vectors        rev.General[float64] // element i of vector j in row j and column at[i]
	at             []int
	phase          func(w *secular, lo, hi int) (ok bool)
	size           int // of the blocks of a phase
	failed         []bool
}

// solve sets the roots, and the vectors. It reports whether all roots converged.
func (w *secular) solve(workers int, rho float64, at []int, roots []float64) bool {
	k := len(w.poles)
	w.rho, w.roots, w.at = rho, roots, at
	w.delta, w.vectors = scratch(w.delta, k, k), scratch(w.vectors, k, k)
	w.exact, w.inverse = workspace.Grow(w.exact, k), workspace.Grow(w.inverse, k)
	ok := w.run(workers, 16, (*secular).findRoots) &&
		w.run(workers, 128, (*secular).findWeights) &&
		w.run(workers, 16, (*secular).findVectors)
	w.roots, w.at, w.phase = nil, nil, nil
	return ok
}

// run makes a phase for blocks of roots or weights.
func (w *secular) run(workers, size int, phase func(w *secular, lo, hi int) bool) (ok bool) {
	w.phase, w.size = phase, size
	blocks := (len(w.poles) + size - 1) / size
	w.failed = workspace.Grow(w.failed, blocks)
	parallel.Run(workersAbove(divideAbove, len(w.poles), workers), blocks, w)
	return !slices.Contains(w.failed, true)
}

// Block makes a phase for a block.
func (w *secular) Block(_, b int) {
	lo := b * w.size
	w.failed[b] = !w.phase(w, lo, min(lo+w.size, len(w.poles)))
}

// A secularScratch has a number for each pole.
type secularScratch struct{ shifted, quotients []float64 }

// findRoots finds some roots, and their distances from the poles.
func (w *secular) findRoots(from, to int) (ok bool) {
	k := len(w.poles)
	s := workspace.Get[*secularScratch]()
	defer workspace.Put(s)
	s.shifted, s.quotients = workspace.Grow(s.shifted, k), workspace.Grow(s.quotients, k)
	ok = true
	for i := from; i < to; i++ {
		ok = w.findRoot(i, s) && ok
	}
	return ok
}

// findRoot finds root i as the sum of a pole beside it and the distance x from that pole, so that
// its distances from all poles are accurate. The pole is the nearer one: f in the middle tells
// which. With the poles p and q on both sides, a step goes to the root of
//
//	c + a/(d_p - λ) + b/(d_q - λ),
//
// where the second term has the value and the derivative of those of f up to p, and the third
// those of the others (the middle way of Li 1994). In the first step the terms but two are
// constant. A step out of the interval where f changes its sign is replaced by half of that.
func (w *secular) findRoot(i int, s *secularScratch) (ok bool) {
	k, delta := len(w.poles), w.delta.Row(i)
	if k == 1 {
		x := float64(w.rho * w.weights[0] * w.weights[0])
		w.roots[0], delta[0] = w.poles[0]+x, -x
		return true
	}
	p := min(i, k-2)
	q := p + 1
	origin := i
	s.shift(w.poles, origin)
	lo, hi := 0.0, s.shifted[q]
	if i == k-1 { // no pole follows the last root
		hi = float64(w.rho * vec.SumSquares(w.weights) * (1 + 0x1p-48))
	}
	x := hi / 2
	f := w.evaluate(x, q, s, delta)
	if f.isZero() {
		w.roots[i] = w.poles[origin] + x
		return true
	}
	switch {
	case f.sum() > 0:
		hi = x
	case i == k-1:
		lo = x
	default:
		origin = q
		s.shift(w.poles, origin)
		lo, hi = s.shifted[p]/2, 0
	}
	dp, dq := s.shifted[p], s.shifted[q]
	a, b := float64(w.weights[p]*w.weights[p]), float64(w.weights[q]*w.weights[q])
	c := f.sum() - a/delta[p] - b/delta[q]
	x = rootBetween(lo, hi, c, float64(c*(dp+dq))+a+b, float64(c*dp*dq)+float64(a*dq)+float64(b*dp))
	for range 100 {
		f := w.evaluate(x, q, s, delta)
		sum := f.sum()
		if sum < 0 {
			lo = x
		} else {
			hi = x
		}
		dp, dq := delta[p], delta[q]
		c := sum - float64(dp*f.dlower) - float64(dq*f.dupper)
		next := x + rootBetween(lo-x, hi-x, c, float64((dp+dq)*sum)-float64(dp*dq*(f.dlower+f.dupper)), dp*dq*sum)
		if next <= lo || next >= hi {
			next = lo + (hi-lo)/2
		}
		if f.isZero() || next == lo || next == hi {
			w.roots[i] = w.poles[origin] + x
			return true
		}
		x = next
	}
	return false
}

// rootBetween returns the root between lo and hi of c·x² - a·x + b, and their mean if there is none.
func rootBetween(lo, hi, c, a, b float64) float64 {
	h := (a + math.Copysign(math.Sqrt(max(0, float64(a*a)-float64(4*b*c))), a)) / 2
	for _, x := range [...]float64{b / h, h / c} {
		if lo < x && x < hi {
			return x
		}
	}
	return lo + (hi-lo)/2
}

// A secularValue is f at a place: 1/ρ, the sum of the terms up to a pole, which are negative, and
// that of the others, with the derivatives of both.
type secularValue struct{ constant, lower, dlower, upper, dupper float64 }

func (f *secularValue) sum() float64 { return f.constant + f.lower + f.upper }

// isZero reports whether f is 0 up to its rounding.
func (f *secularValue) isZero() bool {
	return math.Abs(f.sum()) <= 0x1p-50*(f.constant+math.Abs(f.lower)+math.Abs(f.upper))
}

// evaluate returns f at a distance x from the origin, where pole q is the first of the upper ones. It
// sets the distances from the poles.
func (w *secular) evaluate(x float64, q int, s *secularScratch, delta []float64) secularValue {
	copy(delta, s.shifted)
	vec.AddConstant(delta, -x)
	r := s.quotients
	vec.DivTo(r, w.weights, delta)
	return secularValue{
		1 / w.rho,
		vec.Dot(r[:q], w.weights[:q]), vec.SumSquares(r[:q]),
		vec.Dot(r[q:], w.weights[q:]), vec.SumSquares(r[q:]),
	}
}

// shift sets the distances of the poles from one of them.
func (s *secularScratch) shift(poles []float64, origin int) {
	copy(s.shifted, poles)
	vec.AddConstant(s.shifted, -poles[origin])
}

// findWeights finds some of the weights that have the computed roots: the squares are
//
//	-Π_j (d_i - λ_j) / Π_{j≠i} (d_i - d_j).
func (w *secular) findWeights(from, to int) (ok bool) {
	s := workspace.Get[*secularScratch]()
	defer workspace.Put(s)
	s.quotients = workspace.Grow(s.quotients, to-from)
	product, r := w.exact[from:to], s.quotients
	for i := range product {
		product[i] = -1
	}
	for j, pole := range w.poles {
		copy(r, w.poles[from:to])
		vec.AddConstant(r, -pole)
		if from <= j && j < to {
			r[j-from] = 1
		}
		vec.DivTo(r, w.delta.Row(j)[from:to], r)
		vec.MulTo(product, product, r)
	}
	ok = true
	for i, v := range product {
		product[i] = math.Copysign(math.Sqrt(v), w.weights[from+i])
		ok = ok && v >= 0
	}
	return ok
}

// findVectors sets some vectors, of length 1.
func (w *secular) findVectors(from, to int) (ok bool) {
	for j := from; j < to; j++ {
		r := w.delta.Row(j)
		vec.DivTo(r, w.exact, r)
		w.inverse[j] = 1 / math.Sqrt(vec.SumSquares(r))
		vec.ScaleTo(r, w.inverse[j], r)
		v := w.vectors.Row(j)
		for i, at := range w.at {
			v[at] = r[i]
		}
	}
	return true
}
