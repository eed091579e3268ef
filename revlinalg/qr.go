package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd"
	"revnum/internal/workspace"
	"revnum/rev"
)

// QR is the kernel
//
//	Q += Q(A),  R += R(A),  Q(A)·R(A) = A,
//
// where A is m×n with m >= n and of full rank, Q(A) is m×n with orthonormal
// columns, and R(A) is n×n and upper triangular: the first columns and rows of
// what gonum's mat.QR returns, with its signs. These are LAPACK's: r_jj has the
// sign opposite to that of the first element of column j, as the reflections
// before have left it, unless there are only zeros below that; then it is that
// element. GramSchmidt has a positive diagonal. What is below the diagonal of R
// is not looked at, in cotangents and tangents neither.
//
// # Derivatives
//
// Writing Q and R for the results, triu for the upper triangle, and sym(M) for
// M in its lower triangle and the mirror image of that above,
//
//	K = sym(R·R̄ᵀ - Q̄ᵀ·Q),       Ā += (Q̄ + Q·K)·R⁻ᵀ,
//	S = Qᵀ·C,  C = Ȧ·R⁻¹,        Ṙ = N·R,  Q̇ = C - Q·N,  N_ij = S_ij + S_ji for i < j, N_ii = S_ii
//
// (Walter and Lehmann 2018, section 3; Liao, Liu, Wang and Xiang 2019, equation
// 13): products of matrices and one triangular solve. With X = (Q̄ + Q·K)·R⁻ᵀ and
// a dot for tangents,
//
//	Ǡ += (Q̄˙ + Q̇·K + Q·K̇ - X·Ṙᵀ)·R⁻ᵀ.
//
// # Method and rounding
//
// A is reduced by Householder's reflections, 24 columns at a time; those of a
// panel are applied to the rest together, as I - V·T·Vᵀ (Schreiber and Van Loan
// 1989), which are products of matrices. Q·R is the exact factorisation of a
// matrix whose columns are within a small multiple of m·n·ε of those of A, in
// norm (Higham 2002, theorem 19.4), and Q is orthonormal to m·n·ε. The bits do
// not depend on the number of workers.
//
// With r_jj the diagonal of R and d_j the largest magnitude in column j of R,
//
//	κ = max_j d_j/|r_jj|
//
// is a lower bound of the condition number of A when its columns are scaled to
// the same magnitude. If κ >= 1/(m·ε), A has not full rank to working precision,
// and all methods return mat.Condition(κ) and write nothing.
//
// There is no such kernel over fixed point: derivatives are divided by the diagonal
// of R, and leave the range where that is small.
//
// Sources: Walter and Lehmann, Algorithmic differentiation of linear algebra
// functions with application in optimum experimental design, arXiv 1001.1654
// (2018); Liao et al., Differentiable programming tensor networks, Phys. Rev. X
// 9, 031041 (2019).
type QR[T rev.Float] struct {
	Q       rev.General[T] `rev:"acc"`
	R       rev.General[T] `rev:"acc"`
	A       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NewQR returns the kernel over gonum matrices, sharing their storage. It
// panics with mat.ErrShape if they do not fit together.
func NewQR(q, r, a *mat.Dense) QR[float64] {
	k := QR[float64]{Q: rev.ViewDense(q), R: rev.ViewDense(r), A: rev.ViewDense(a)}
	o := k.operands()
	o.checkShape()
	return k
}

func (k QR[T]) operands() qrOperands[T] { return qrOperands[T]{k.Q, k.R, k.A} }

// check checks the operands, and returns them.
func (k *QR[T]) check(g ...*QR[T]) qrOperands[T] {
	rev.Check(k)
	o := k.operands()
	o.checkShape()
	k.Q, k.R = o.q, o.r
	rev.CheckLike(k, g...)
	return o
}

// Forward computes Q += Q(A) and R += R(A).
func (k QR[T]) Forward() error { return k.accumulate(1) }

// Inverse computes Q -= Q(A) and R -= R(A).
func (k QR[T]) Inverse() error { return k.accumulate(-1) }

func (k QR[T]) accumulate(sign T) error {
	o := k.check()
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.householder(k.Workers, k.A); err != nil {
		return err
	}
	w.add(o, sign)
	return nil
}

// Adjoint computes Q -= Q(A), R -= R(A), and adds to Ā.
func (k QR[T]) Adjoint(g QR[T]) error {
	o := k.check(&g)
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.householder(k.Workers, k.A); err != nil {
		return err
	}
	w.adjoint(o, g.operands())
	return nil
}

// Tangent computes Q += Q(A), R += R(A), and adds to Q̇ and Ṙ.
func (k QR[T]) Tangent(t QR[T]) error {
	o := k.check(&t)
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.householder(k.Workers, k.A); err != nil {
		return err
	}
	w.tangent(o, t.operands())
	return nil
}

// AdjointTangent computes what Adjoint does, subtracts from Q̇ and Ṙ, and adds
// the tangents of the gradient to gt.
func (k QR[T]) AdjointTangent(g, t, gt QR[T]) error {
	o := k.check(&g, &t, &gt)
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.householder(k.Workers, k.A); err != nil {
		return err
	}
	w.adjointTangent(o, g.operands(), t.operands(), gt.operands())
	return nil
}

// qrOperands are the operands of QR and of GramSchmidt.
type qrOperands[T rev.Float] struct{ q, r, a rev.General[T] }

func (o *qrOperands[T]) checkShape() {
	m, n := o.a.Rows, o.a.Cols
	if o.q.Data == nil {
		o.q.Rows, o.q.Cols = m, n // those of its cotangent
	}
	if o.r.Data == nil {
		o.r.Rows, o.r.Cols = n, n
	}
	if m < n || o.q.Rows != m || o.q.Cols != n || o.r.Rows != n || o.r.Cols != n {
		panic(mat.ErrShape)
	}
}

// qrWork has Q, R, and what their derivatives need.
type qrWork[T rev.Float] struct {
	reflectors[T] // and Q and R, with zeros below its diagonal
	workers       int

	qt     rev.General[T] // of GramSchmidt: Qᵀ
	coeffs rev.General[T]

	k, dk, gr rev.General[T] // K, its tangent, triu(R̄)
	x, xt     rev.General[T] // scratch, m×n and n×m
	s         rev.General[T]
	dq, dr    rev.General[T]
}

// condition returns κ.
func (w *qrWork[T]) condition() T {
	c := T(1)
	n := w.r.Rows
	w.s = zeros(w.s, 1, n) // d_j
	d := w.s.Row(0)
	for i := range n {
		for j, v := range w.r.Row(i)[i:] {
			if v = abs(v); v > d[i+j] {
				d[i+j] = v
			}
		}
	}
	for j := range n {
		if r := abs(w.r.Row(j)[j]); r == 0 {
			return T(math.Inf(1))
		} else if d[j]/r > c && isFinite(float64(d[j])) {
			c = d[j] / r
		}
	}
	return c
}

// check returns an error if A has not full rank to working precision.
func (w *qrWork[T]) check() error {
	if c := w.condition(); c >= 1/(T(w.q.Rows)*epsilon[T]()) {
		return mat.Condition(c)
	}
	return nil
}

// add adds the results.
func (w *qrWork[T]) add(o qrOperands[T], sign T) {
	addMatrix(o.q, sign, w.q)
	addUpper(o.r, sign, w.r)
}

func (w *qrWork[T]) adjoint(o, g qrOperands[T]) {
	if g.a.Data != nil && (g.q.Data != nil || g.r.Data != nil) {
		w.gradient(g)
		addTransposed(w.workers, g.a, 1, w.xt)
	}
	w.add(o, -1)
}

// gradient sets k to K and xt to the transpose of (Q̄ + Q·K)·R⁻ᵀ.
func (w *qrWork[T]) gradient(g qrOperands[T]) {
	m, n := w.q.Rows, w.q.Cols
	// sym takes the lower triangle of M, so the upper one of Mᵀ is enough.
	w.k = zeros(w.k, n, n)
	if g.r.Data != nil {
		w.gr = zeros(w.gr, n, n)
		copyUpper(w.gr, g.r)
		updateUpper(w.workers, 1, w.k, view(w.gr, false), view(w.r, true))
	}
	w.x = scratch(w.x, m, n)
	if g.q.Data != nil {
		updateUpper(w.workers, -1, w.k, view(w.q, true), view(g.q, false))
		copyMatrix(w.x, g.q)
	} else {
		clear(w.x.Data)
	}
	mirror(w.k)
	multiply(w.workers, w.x, 1, view(w.q, false), view(w.k, false))
	w.xt = scratch(w.xt, n, m)
	copyTransposed(w.xt, w.x)
	solveTriangular(w.workers, view(w.r, false), false, false, w.xt)
}

func (w *qrWork[T]) tangent(o, t qrOperands[T]) {
	if t.a.Data != nil {
		w.setTangent(t.a)
		addMatrix(t.q, 1, w.dq)
		addUpper(t.r, 1, w.dr)
	}
	w.add(o, 1)
}

// setTangent sets dq and dr.
func (w *qrWork[T]) setTangent(ta rev.General[T]) {
	m, n := w.q.Rows, w.q.Cols
	w.xt = scratch(w.xt, n, m)
	copyTransposed(w.xt, ta)
	solveTriangular(w.workers, view(w.r, true), true, false, w.xt)
	w.dq = scratch(w.dq, m, n)
	copyTransposed(w.dq, w.xt) // C
	w.s = zeros(w.s, n, n)
	multiply(w.workers, w.s, 1, view(w.q, true), view(w.dq, false))
	for i := range n {
		row := w.s.Row(i)
		for j := i + 1; j < n; j++ {
			row[j] += w.s.Data[j*w.s.Stride+i]
		}
	}
	clearLower(w.s) // N
	w.dr = zeros(w.dr, n, n)
	multiply(w.workers, w.dr, 1, view(w.s, false), view(w.r, false))
	multiply(w.workers, w.dq, -1, view(w.q, false), view(w.s, false))
}

func (w *qrWork[T]) adjointTangent(o, g, t, gt qrOperands[T]) {
	m, n := w.q.Rows, w.q.Cols
	if t.a.Data != nil {
		w.setTangent(t.a)
		addMatrix(t.q, -1, w.dq)
		addUpper(t.r, -1, w.dr)
	} else {
		w.dq, w.dr = zeros(w.dq, m, n), zeros(w.dr, n, n)
	}
	if g.a.Data != nil || gt.a.Data != nil {
		w.gradient(g)
		addTransposed(w.workers, g.a, 1, w.xt)
	}
	if gt.a.Data != nil {
		w.dk = zeros(w.dk, n, n)
		if g.r.Data != nil {
			updateUpper(w.workers, 1, w.dk, view(w.gr, false), view(w.dr, true))
		}
		if gt.r.Data != nil {
			w.gr = zeros(w.gr, n, n)
			copyUpper(w.gr, gt.r)
			updateUpper(w.workers, 1, w.dk, view(w.gr, false), view(w.r, true))
		}
		if g.q.Data != nil {
			updateUpper(w.workers, -1, w.dk, view(w.dq, true), view(g.q, false))
		}
		if gt.q.Data != nil {
			updateUpper(w.workers, -1, w.dk, view(w.q, true), view(gt.q, false))
			copyMatrix(w.x, gt.q)
		} else {
			clear(w.x.Data)
		}
		mirror(w.dk)
		multiply(w.workers, w.x, 1, view(w.dq, false), view(w.k, false))
		multiply(w.workers, w.x, 1, view(w.q, false), view(w.dk, false))
		multiply(w.workers, w.x, -1, view(w.xt, true), view(w.dr, true))
		copyTransposed(w.xt, w.x)
		solveTriangular(w.workers, view(w.r, false), false, false, w.xt)
		addTransposed(w.workers, gt.a, 1, w.xt)
	}
	w.add(o, -1)
}

// qrPanel is the number of reflections that are applied together, and of columns
// that they are applied to at a time: the width of a tile of the products.
const qrPanel = 24

// reflectors has the reflections of QR, I - τ·v·vᵀ, and those of each panel
// together, I - V·T·Vᵀ.
type reflectors[T rev.Float] struct {
	v    rev.General[T] // Vᵀ, n×m: reflection j in row j, from its 1 in column j on
	t    rev.General[T] // T of each panel, below each other
	tau  [qrPanel]T
	gram rev.General[T]

	q, r     rev.General[T]   // A, on its way to R; then Q; and R
	panel    int              // the one being applied to the columns behind it
	products []rev.General[T] // of each worker
}

// householder computes Q and R.
func (w *qrWork[T]) householder(workers int, a rev.General[T]) error {
	m, n := a.Rows, a.Cols
	w.workers = workers
	w.q = scratch(w.q, m, n)
	copyMatrix(w.q, a)
	w.v, w.t = scratch(w.v, n, m), scratch(w.t, n, qrPanel)
	w.r = zeros(w.r, n, n)
	workers = parallel.Workers(workers) // once, as there are products of so many
	w.products = workspace.Grow(w.products, max(len(w.products), workers))
	if n > 0 {
		w.reduce(0)
	}
	for w.panel = 0; w.panel < n; w.panel += qrPanel {
		right := n - w.panel - qrPanel
		parallel.Run(workers, (right+qrPanel-1)/qrPanel, &w.reflectors)
	}
	if err := w.check(); err != nil {
		return err
	}
	clear(w.q.Data)
	for i := range n {
		w.q.Row(i)[i] = 1
	}
	parallel.Run(workers, (n+qrPanel-1)/qrPanel, (*formQ[T])(&w.reflectors))
	return nil
}

// Block applies the panel to the block of columns behind it, and reduces the next
// panel, which is the first block, while other workers have the rest.
func (w *reflectors[T]) Block(worker, b int) {
	k, p := w.panel, qrPanel
	lo := k + p + b*qrPanel
	x := block(w.q, k, lo, w.q.Rows-k, min(qrPanel, w.q.Cols-lo))
	w.apply(worker, k, x, true)
	for i := range p {
		copy(w.r.Row(k + i)[lo:], x.Row(i))
	}
	if b == 0 {
		w.reduce(lo)
	}
}

// formQ is Q in progress: blocks of columns of the identity, to which all panels
// are applied.
type formQ[T rev.Float] reflectors[T]

// Block computes a block of columns, the last first, as they take the longest.
func (w *formQ[T]) Block(worker, b int) {
	lo := (w.q.Cols-1)/qrPanel*qrPanel - b*qrPanel
	for k := lo; k >= 0; k -= qrPanel {
		x := block(w.q, k, lo, w.q.Rows-k, min(qrPanel, w.q.Cols-lo))
		(*reflectors[T])(w).apply(worker, k, x, false)
	}
}

// reduce reduces the panel at k.
func (w *reflectors[T]) reduce(k int) {
	m, n := w.q.Rows, w.q.Cols
	p := min(qrPanel, n-k)
	v := block(w.v, k, k, p, m-k)
	copyTransposed(v, block(w.q, k, k, m-k, p))
	w.reflect(v)
	for j := range p {
		row := v.Row(j)
		for i := range j + 1 {
			w.r.Row(k + i)[k+j] = row[i]
		}
		clear(row[:j])
		row[j] = 1
	}
	w.setT(k, v)
}

// reflect reduces the columns of a panel, which are the rows of v. Row j is left
// with column j of R, and from column j+1 on with the reflection.
func (w *reflectors[T]) reflect(v rev.General[T]) {
	for j := range v.Rows {
		x := v.Row(j)[j:]
		alpha := x[0]
		beta := -T(math.Copysign(1, float64(alpha))) * norm2Of(x)
		if length := norm2Of(x[1:]); length == 0 {
			w.tau[j] = 0
			continue
		}
		w.tau[j] = (beta - alpha) / beta
		divideRow(x[1:], alpha-beta)
		x[0] = 1
		for l := j + 1; l < v.Rows; l++ {
			y := v.Row(l)[j:]
			simd.Axpy(-w.tau[j]*simd.Dot(x, y), x, y)
		}
		x[0] = beta
	}
}

// norm2Of returns ‖x‖, without overflow or underflow on the way.
func norm2Of[T rev.Float](x []T) T {
	s := simd.SumSquares(x)
	low, high := T(0x1p-80), T(0x1p120)
	if s > low && s < high {
		return sqrt(s)
	}
	top := T(0)
	for _, v := range x {
		if v = abs(v); v > top || math.IsNaN(float64(v)) {
			top = v
		}
	}
	if top == 0 || !isFinite(float64(top)) {
		return top
	}
	// In float64 squares of quotients lose nothing that counts.
	sum := 0.0
	for _, v := range x {
		q := float64(v) / float64(top)
		sum += float64(q * q)
	}
	return T(float64(top) * math.Sqrt(sum))
}

// setT computes T of the panel at k, of which v holds Vᵀ:
// t_jj = τ_j and T[:j,j] = -τ_j·T[:j,:j]·V[:,:j]ᵀ·v_j.
func (w *reflectors[T]) setT(k int, v rev.General[T]) {
	p := v.Rows
	w.gram = zeros(w.gram, p, p)
	gemmTransposed(v, v, w.gram)
	t := block(w.t, k, 0, p, p)
	for j := range p {
		for i := range j {
			s := T(0)
			for l := i; l < j; l++ {
				s += T(t.Row(i)[l] * w.gram.Row(l)[j])
			}
			t.Row(i)[j] = -w.tau[j] * s
		}
		t.Row(j)[j] = w.tau[j]
		clear(t.Row(j)[:j])
	}
}

// gemmTransposed computes c += a·bᵀ.
func gemmTransposed[T rev.Float](a, b, c rev.General[T]) {
	simd.Gemm(a.Rows, b.Rows, a.Cols, 1, a.Data, a.Stride, 1, b.Data, 1, b.Stride, c.Data, c.Stride)
}

// apply computes X <- (I - V·T·Vᵀ)·X, or with Tᵀ, for the panel at k and a block
// X of rows k and on.
func (w *reflectors[T]) apply(worker, k int, x rev.General[T], trans bool) {
	p := min(qrPanel, w.v.Rows-k)
	v := view(block(w.v, k, k, p, x.Rows), false)
	w.products[worker] = zeros(w.products[worker], 2*p, x.Cols)
	vx, tvx := block(w.products[worker], 0, 0, p, x.Cols), block(w.products[worker], p, 0, p, x.Cols)
	gemm(1, v, x, vx)
	gemm(1, view(block(w.t, k, 0, p, p), trans), vx, tvx)
	gemm(-1, v.t(), tvx, x)
}
