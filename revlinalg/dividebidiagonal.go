package revlinalg

import (
	"math"

	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A divideBidiagonal finds the singular values and vectors of an upper bidiagonal matrix B (Gu and
// Eisenstat 1995). Without row m, B is two matrices B₁ and B₂ below each other, with one more column than
// rows, or as many at the end of B. With B_i = U_i·(D_i 0)·V_iᵀ and row m of B in the middle,
//
//	B = diag(U₁, 1, U₂)·M·Vᵀ,  M = diag(D₁, 0, D₂) + e_m·zᵀ,  z = Vᵀ·(row m of B),
//
// where a rotation of the last columns of V₁ and V₂ makes one of them orthogonal to the row. MᵀM is
// D² + z·zᵀ: the squares of the singular values σ are the roots of a secular equation with the poles D²,
// and the vectors on the right those of divideConquer. Vectors on the left are M times these, with -1 for
// row m and d_i·z_i/(d_i² - σ²) for row i. The rounding of d_i² is an error of d_i, relative to it.
type divideBidiagonal struct {
	workers int
	d, e    []float64            // of B, and then the singular values in any order
	u, v, y rev.General[float64] // the vectors are rows of u and v
	failed  bool

	sweeps      golubKahan // of small matrices
	rotated     rotatedRows
	left, right rev.General[float64]
	last        []float64

	deflation
	secular secular
	scales  []float64
}

// run finds the singular values and vectors of B. It reports whether all iterations converged.
func (w *divideBidiagonal) run(workers int, d, e []float64) (ok bool) {
	n := len(d)
	w.workers, w.failed = workers, false
	w.d, w.e = append(w.d[:0], d...), append(w.e[:0], e...)
	top := max(vec.MaxAbs(d), vec.MaxAbs(e[:n-1]))
	shift := 0
	if top > 0 {
		shift = exponent(top)
	}
	for _, x := range [...][]float64{w.d, w.e} {
		for i, v := range x {
			if x[i] = math.Ldexp(v, -shift); math.Abs(x[i]) < 0x1p-100 { // sweeps of subnormal numbers do not converge
				x[i] = 0
			}
		}
	}
	w.u, w.v, w.y = zeros(w.u, n, n), zeros(w.v, n, n), scratch(w.y, n, n)
	if top == 0 { // small numbers in place of zeros would be values
		for i := range n {
			w.u.Row(i)[i], w.v.Row(i)[i] = 1, 1
		}
		return true
	}
	w.z, w.part, w.scales = workspace.Grow(w.z, n), workspace.Grow(w.part, n), workspace.Grow(w.scales, n)
	w.solve(0, n, 0)
	for i, s := range w.d {
		w.d[i] = math.Ldexp(s, shift)
	}
	return !w.failed
}

// solve solves rows lo to hi-1 of as many columns, and so many more.
func (w *divideBidiagonal) solve(lo, hi, more int) {
	if hi-lo <= divideLeaf {
		w.solveLeaf(lo, hi, more)
		return
	}
	mid := (lo + hi) / 2
	alpha, beta := w.d[mid], w.e[mid]
	w.solve(lo, mid, 1)
	w.solve(mid+1, hi, more)
	n := hi - lo
	w.merge(w.d[lo:hi], block(w.u, lo, lo, n, n), block(w.v, lo, lo, n+more, n+more), mid-lo, alpha, beta)
}

// solveLeaf solves them by sweeps.
func (w *divideBidiagonal) solveLeaf(lo, hi, more int) {
	n := hi - lo
	d, e := w.d[lo:hi], w.e[lo:hi]
	u := block(padded(&w.left, n, n), chainPad, 0, n, n)
	v := block(padded(&w.right, n, n+more), chainPad, 0, n, n+more)
	for i := range n {
		clear(u.Row(i))
		clear(v.Row(i))
		u.Row(i)[i], v.Row(i)[i] = 1, 1
	}
	if more > 0 { // rotations with the last column make it zero
		w.last = workspace.Zeros(w.last, n+1)
		w.last[n] = 1
		f := e[n-1]
		for i := n - 1; i >= 0; i-- {
			c, s, r := givens(d[i], f)
			d[i] = r
			if i > 0 {
				f = -s * e[i-1]
				e[i-1] *= c
			}
			row := v.Row(i)
			for j, x := range row {
				y := w.last[j]
				row[j], w.last[j] = float64(c*x)+float64(s*y), float64(c*y)-float64(s*x)
			}
		}
		copy(block(w.v, hi, lo, 1, n+1).Row(0), w.last)
	}
	w.sweeps.begin(d, e)
	w.rotated.run(1, n, &w.sweeps, w.left, w.right)
	w.failed = w.failed || w.sweeps.failed
	for i, s := range d {
		if math.Signbit(s) {
			d[i] = -s
			negate(v.Row(i))
		}
	}
	copyMatrix(block(w.u, lo, lo, n, n), u)
	copyMatrix(block(w.v, lo, lo, n, n+more), v)
}

// merge joins the solutions of the first m rows and of those after row m, which has alpha and beta.
func (w *divideBidiagonal) merge(d []float64, u, v rev.General[float64], m int, alpha, beta float64) {
	n := len(d)
	clear(u.Row(m))
	w.order, w.kept, w.deflated = w.order[:0], append(w.kept[:0], m), w.deflated[:0]
	d[m] = 0
	top := max(math.Abs(alpha), math.Abs(beta))
	if v.Rows > n {
		c, s, r := givens(float64(alpha*v.Row(m)[m]), float64(beta*v.Row(n)[m+1]))
		if r == 0 {
			c, s = 1, 0
		}
		rotateRows(v, m, n, c, -s)
	}
	for i := range n {
		top = max(top, d[i])
		w.z[i] = float64(alpha*v.Row(i)[m]) + float64(beta*v.Row(i)[m+1])
		w.part[i] = rightPart
		if i < m {
			w.part[i] = leftPart
		}
		if i != m {
			w.order = append(w.order, i)
		}
	}
	w.part[m] = leftPart | rightPart
	least := max(8*0x1p-53*top, 0x1p-80)
	if math.Abs(w.z[m]) <= least {
		w.z[m] = math.Copysign(least, w.z[m])
	}
	w.split(d, 1, least, v, u)
	k := len(w.kept)
	s := &w.secular
	s.poles, s.weights = s.poles[:0], s.weights[:0]
	for j, i := range w.kept {
		if j == 1 {
			d[i] = max(d[i], least/2)
		}
		s.poles, s.weights = append(s.poles, float64(d[i]*d[i])), append(s.weights, w.z[i])
	}
	w.found = w.found[:0]
	for _, i := range w.deflated {
		w.found = append(w.found, d[i])
	}
	vectors, y := block(v, 0, 0, n, v.Cols), block(w.y, 0, 0, n, v.Cols)
	right, left := w.place(vectors, y)
	scales := w.scales[:k]
	for j, i := range w.kept {
		scales[w.at[j]] = d[i]
	}
	if !s.solve(w.workers, 1, w.at, d[:k]) {
		w.failed = true
	}
	for i, root := range d[:k] {
		d[i] = math.Sqrt(root)
	}
	copy(d[k:], w.found)

	expand(w.workers, vectors, y, s.vectors, m+1, m+1, right, left)
	first := w.at[0]
	for j := range k { // the vectors on the left
		row := s.vectors.Row(j)
		vec.MulTo(row, row, scales)
		row[first] = -s.inverse[j]
		vec.ScaleTo(row, 1/math.Sqrt(vec.SumSquares(row)), row)
	}
	y = block(w.y, 0, 0, n, n)
	w.place(u, y)
	expand(w.workers, u, y, s.vectors, m, m+1, right, left)
	for i := range k {
		u.Row(i)[m] = s.vectors.Row(i)[first]
	}
}
