package revlinalg

import (
	"math"

	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// GivensQR is the kernel
//
//	A <-> (R, θ),  R = U(θ)·A,
//
// the QR decomposition by plane rotations, as a bijection in place. R is upper
// triangular (trapezoidal if A has m < n rows) and stays in place. An element below the
// diagonal holds the angle of the rotation that made it zero. Beyond A, methods need
// memory only for one column of sines and cosines.
//
// The rotations are those of Unitary in the triangular order: by columns, and in each
// from the bottom up:
//
//	for j = 1, ..., min(m-1, n)
//		for i = m-1, m-2, ..., j
//			rotate rows i and i+1 such that a_(i+1)j vanishes, and put the angle there
//
// So if n >= m-1, the columns below the diagonal, each read upward, are the Theta
// of Unitary with which Forward computes Qᵀ·X and Inverse Q·X, Q = U(θ)ᵀ.
//
// # One rotation
//
// A rotation takes the pair (a, b) in column j to polar coordinates, and rotates the
// elements to the right of the pair:
//
//	r = √(a²+b²),  θ = atan2(-b, a)   with   a = r·cos θ,  b = -r·sin θ.
//
// So the diagonal of R is not negative, except in the last row if m <= n, where no
// rotation ends. Let Θ̄ be the cotangent of θ, from the element that holds θ and from
// the rotation of the columns to the right (see Unitary). Then
//
//	ṙ = c·ȧ - s·ḃ         w̄ = -Θ̄/r
//	w = s·ȧ + c·ḃ         ā = c·r̄ + s·w̄
//	θ̇ = -w/r              b̄ = c·w̄ - s·r̄.
//
// For the second order, the tangent of w̄ is -ġΘ/r + Θ̄·ṙ/r². What is rotated back has
// the tangents of Unitary.
//
// If a pair is (0, 0), θ and r have no derivative. The kernel then sets θ to 0 and
// keeps it there: θ̇ = 0, ṙ = ȧ, ā = r̄, b̄ = 0, as if b were not an operand.
//
// # What is a bijection
//
// Forward is the inverse of Inverse if the radii of all pairs are positive and the
// angles are in (-π, π], as Forward leaves them. In floating point both directions
// rotate by the same rounded angle, and by exactly half a turn where that is the rounded
// π, with the bound of Unitary: Inverse restores A within 12·(m+n)·ε times the norm of a
// column (commonly within ε·√m).
//
// There is no kernel over fixed point. Angle and radius have as many bits as the pair,
// but at a radius above 1, angles 2⁻⁴³ apart do not distinguish all pairs. Shears by a
// rounded angle also leave a remainder in place of the zero, where the angle must be
// stored.
//
// Source: Golub and Van Loan, Matrix Computations, 4th ed., 5.2.5 (Givens QR) and
// 5.1.11 (a rotation kept in place of its zero).
type GivensQR[T rev.Float] struct {
	A rev.General[T] `rev:"inout" shape:"m,n"`
}

// givensQRRun is Run of GivensQR. It returns no error.
func givensQRRun[T rev.Float](k *GivensQR[T], p *rev.Pass[GivensQR[T]]) error {
	givensQRPass(k, p.Back, p.G, p.T, p.GT)
	return nil
}

// A givensPass is a method at work. It handles one column at a time, which is a panel
// of one chain.
type givensPass[T rev.Float] struct {
	panel[T]
	k, g, t, gt GivensQR[T]
	sums        []T
}

// givensQRPass makes a pass, of the inverse if back is set.
func givensQRPass[T rev.Float](k *GivensQR[T], back bool, g, t, gt GivensQR[T]) {
	m, n := k.A.Rows, k.A.Cols
	columns := min(m-1, n)
	if columns <= 0 {
		return
	}
	w := workspace.Get[*givensPass[T]]()
	w.k, w.g, w.t, w.gt = *k, g, t, gt
	w.mesh = mesh{n: m}
	w.c, w.s = workspace.Grow(w.c, m-1), workspace.Grow(w.s, m-1)
	w.setVector()
	alone := t.A.Data == nil && gt.A.Data == nil
	for i := range columns {
		if back {
			i = columns - 1 - i
		}
		w.first, w.end = i, i+1
		switch {
		case back && alone:
			w.back()
		case back:
			w.backSingly()
		case alone && g.A.Data == nil:
			w.forward()
		default:
			w.forwardSingly()
		}
	}
	w.k, w.g, w.t, w.gt = GivensQR[T]{}, GivensQR[T]{}, GivensQR[T]{}, GivensQR[T]{}
	workspace.Put(w)
}

// column is a column of a matrix from some row on.
type column[T rev.Float] struct {
	x      []T
	stride int
}

func (c column[T]) at(i int) T     { return c.x[i*c.stride] }
func (c column[T]) set(i int, v T) { c.x[i*c.stride] = v }

// pivots returns the column of the panel in x, which may be nil.
func (w *givensPass[T]) pivots(x rev.General[T]) column[T] {
	if x.Data == nil {
		return column[T]{}
	}
	return column[T]{x.Data[w.first:], x.Stride}
}

// chain returns all rotations of the column.
func (w *givensPass[T]) chain() run {
	return run{chain: w.first, chains: 1, row: w.first, steps: w.n - 1 - w.first}
}

// load sets the table from the angles of the column.
func (w *givensPass[T]) load() {
	a, r := w.pivots(w.k.A), w.chain()
	for p := range r.steps {
		w.c[p] = a.at(w.n - 1 - p)
	}
	w.sinCos(0, r.steps)
}

// sinCos turns the angles of the rotations from lo to hi in the table, which the column holds, into sines and
// cosines. Half a turn is exact: the zero below a negative element comes back as 0. The sine of the
// rounded π would make it the radius of the pair below, which may be (0, 0).
func (w *givensPass[T]) sinCos(lo, hi int) {
	vec.SinCos(w.s[lo:hi], w.c[lo:hi], w.c[lo:hi])
	a := w.pivots(w.k.A)
	for p := lo; p < hi; p++ {
		if theta := a.at(w.n - 1 - p); theta == T(math.Pi) || theta == -T(math.Pi) {
			w.s[p] = 0
		}
	}
}

// polar takes the pair of rows i and i+1 of the column to polar coordinates.
func polar[T rev.Float](a column[T], i int) {
	x, y := float64(a.at(i)), float64(a.at(i+1))
	r := math.Hypot(x, y)
	theta := 0.
	if r != 0 {
		theta = math.Atan2(0-y, x) // not -y, which may be -0
	}
	a.set(i, T(r))
	a.set(i+1, T(theta))
}

func (w *givensPass[T]) forward() {
	a, r := w.pivots(w.k.A), w.chain()
	for i := w.n - 2; i >= r.row; i-- {
		polar(a, i)
	}
	w.load()
	for j := r.row + 1; j < w.k.A.Cols; j += strip[T]() {
		w.rotate(w.k.A, j, min(j+strip[T](), w.k.A.Cols), r, false)
	}
}

// back is the inverse pass without tangents.
func (w *givensPass[T]) back() {
	w.load()
	r := w.chain()
	a, g := w.pivots(w.k.A), w.pivots(w.g.A)
	w.sums = workspace.Zeros(w.sums, r.steps)
	for j := r.row + 1; j < w.k.A.Cols; j += strip[T]() {
		if hi := min(j+strip[T](), w.k.A.Cols); g.x != nil {
			w.rotateBackCross(w.k.A, w.g.A, j, hi, r, w.sums)
		} else {
			w.rotate(w.k.A, j, hi, r, true)
		}
	}
	for i := r.row; i < w.n-1; i++ {
		p := w.index(r.chain, i)
		c, s, radius := w.c[p], w.s[p], a.at(i)
		if g.x != nil {
			turnBack(g, i, g.at(i), -quotient(g.at(i+1)+w.sums[p], radius), c, s)
		}
		turnBack(a, i, radius, 0, c, s)
	}
}

// turnBack sets the pair of rows i and i+1 to (x, y), rotated back.
func turnBack[T rev.Float](a column[T], i int, x, y, c, s T) {
	a.set(i, T(c*x)+T(s*y))
	a.set(i+1, T(c*y)-T(s*x))
}

// quotient returns x/r, and 0 where r is 0.
func quotient[T rev.Float](x, r T) T {
	if r == 0 {
		return 0
	}
	return x / r
}

// The methods with tangents go from rotation to rotation. The panel is the columns to
// the right.

func (w *givensPass[T]) after(x rev.General[T]) rev.General[T] {
	return columns(x, min(w.first+1, x.Cols), x.Cols)
}

func (w *givensPass[T]) forwardSingly() {
	a, g, t, gt := w.pivots(w.k.A), w.pivots(w.g.A), w.pivots(w.t.A), w.pivots(w.gt.A)
	x, gx, tx, gtx := w.after(w.k.A), w.after(w.g.A), w.after(w.t.A), w.after(w.gt.A)
	for i := w.n - 2; i >= w.first; i-- {
		polar(a, i)
		radius := a.at(i)
		p := w.index(w.first, i)
		w.c[p] = a.at(i + 1)
		w.sinCos(p, p+1)
		c, s := w.c[p], w.s[p]
		r := run{chain: w.first, chains: 1, row: i, steps: 1}
		w.rotate(x, 0, x.Cols, r, false)

		var dradius, dtheta T
		if t.x != nil {
			u, v := t.at(i), t.at(i+1)
			dradius, dtheta = T(c*u)-T(s*v), -quotient(T(s*u)+T(c*v), radius)
			t.set(i, dradius)
			t.set(i+1, dtheta)
			w.rotate(tx, 0, tx.Cols, r, false)
			addQuarter(1, tx, dtheta, x, i)
		}
		if gt.x != nil {
			addQuarter(1, gtx, dtheta, gx, i)
			w.rotate(gtx, 0, gtx.Cols, r, false)
		}
		var u, v, total T // the cotangents of the pair, and the whole cotangent of θ
		if g.x != nil {
			w.rotate(gx, 0, gx.Cols, r, false)
			u, v = g.at(i), g.at(i+1)
			total = -T(radius * (T(s*u) + T(c*v)))
			g.set(i, T(c*u)-T(s*v))
			g.set(i+1, total-cross(x, gx, i))
		}
		if gt.x != nil {
			u, v := gt.at(i)-T(dtheta*v), gt.at(i+1)+T(dtheta*u)
			gt.set(i, T(c*u)-T(s*v))
			dtotal := quotient(T(total*dradius), radius) - T(radius*(T(s*u)+T(c*v)))
			gt.set(i+1, dtotal-crossTangent(x, gx, tx, gtx, i))
		}
	}
}

func (w *givensPass[T]) backSingly() {
	w.load()
	w.sums = workspace.Grow(w.sums, 1)
	a, g, t, gt := w.pivots(w.k.A), w.pivots(w.g.A), w.pivots(w.t.A), w.pivots(w.gt.A)
	x, gx, tx, gtx := w.after(w.k.A), w.after(w.g.A), w.after(w.t.A), w.after(w.gt.A)
	for i := w.first; i < w.n-1; i++ {
		p := w.index(w.first, i)
		c, s, radius := w.c[p], w.s[p], a.at(i)
		r := run{chain: w.first, chains: 1, row: i, steps: 1}
		var dradius, dtheta T
		if t.x != nil {
			dradius, dtheta = t.at(i), t.at(i+1)
		}
		var total, dtotal T // the cotangent of θ, and its tangent
		if gt.x != nil {
			dtotal = gt.at(i+1) + crossTangent(x, gx, tx, gtx, i)
		}
		if t.x != nil {
			turnBack(t, i, dradius, -T(radius*dtheta), c, s)
			addQuarter(-1, tx, dtheta, x, i)
			w.rotate(tx, 0, tx.Cols, r, true)
		}
		if g.x != nil {
			// As in back, so that the gradient has the same bits.
			sum := w.sums[:1]
			sum[0] = 0
			for j := 0; j < x.Cols; j += strip[T]() {
				w.rotateBackCross(x, gx, j, min(j+strip[T](), x.Cols), r, sum)
			}
			total = g.at(i+1) + sum[0]
			turnBack(g, i, g.at(i), -quotient(total, radius), c, s)
		} else {
			w.rotate(x, 0, x.Cols, r, true)
		}
		if gt.x != nil {
			turnBack(gt, i, gt.at(i), quotient(quotient(T(total*dradius), radius)-dtotal, radius), c, s)
			w.rotate(gtx, 0, gtx.Cols, r, true)
			if g.x != nil {
				gt.set(i, gt.at(i)+T(dtheta*g.at(i+1)))
				gt.set(i+1, gt.at(i+1)-T(dtheta*g.at(i)))
				addQuarter(-1, gtx, dtheta, gx, i)
			}
		}
		turnBack(a, i, radius, 0, c, s)
	}
}
