package revlinalg

import (
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/workspace"
	"revnum/rev"
)

// QR is the kernel
//
//	Q += Q(A),  R += R(A),  Q(A)·R(A) = A,
//
// where A is m×n with m >= n and of full rank, Q(A) is m×n with orthonormal columns,
// and R(A) is n×n and upper triangular. These are the first columns and rows of gonum's
// mat.QR, with its signs unless rounding decides them. Let α be the first element of
// column j after the earlier reflections, and ρ the norm of the elements below. r_jj
// has the opposite sign of α. It is negative if |α| <= √ε·ρ, and it is α if ρ is at
// most 10·ε times the largest magnitude in the column of R. (Gonum's is negative for α
// = 0 and is α for ρ = 0, which rounding may hide.) GramSchmidt has a positive
// diagonal. Elements below the diagonal of R are ignored, also in cotangents and
// tangents.
//
// # Derivatives
//
// Let Q and R be the results, triu the upper triangle, and sym(M) the lower triangle of M
// with its mirror image above. Then
//
//	K = sym(R·R̄ᵀ - Q̄ᵀ·Q),       Ā += (Q̄ + Q·K)·R⁻ᵀ,
//	S = Qᵀ·C,  C = Ȧ·R⁻¹,        Ṙ = N·R,  Q̇ = C - Q·N,  N_ij = S_ij + S_ji for i < j, N_ii = S_ii
//
// (Walter and Lehmann 2018, section 3; Liao, Liu, Wang and Xiang 2019, equation 13). These
// are products of matrices and one triangular solve. With X = (Q̄ + Q·K)·R⁻ᵀ, and a dot for
// tangents,
//
//	ġA += (ġQ + Q̇·K + Q·K̇ - X·Ṙᵀ)·R⁻ᵀ.
//
// # Method and rounding
//
// A is reduced by Householder reflections, 24 columns at a time. The reflections of a
// panel are applied to the rest together, as I - V·T·Vᵀ (Schreiber and Van Loan 1989),
// by products of matrices. Workers form Q while others reduce A.
//
// Q·R is the exact factorisation of a matrix whose columns are within a small multiple
// of m·n·ε of those of A, in norm (Higham 2002, theorem 19.4), and Q is orthonormal to
// m·n·ε. Elements may have any magnitude: columns near the ends of the range are
// multiplied by powers of two on the way. An element of R or of a derivative overflows
// only if it, or one of the products above, is out of range. The bits do not depend on
// the number of workers.
//
// With r_jj the diagonal of R and d_j the largest magnitude in column j of R,
//
//	κ = max_j d_j/|r_jj|
//
// is a lower bound of the condition number of A when its columns are scaled to the same
// magnitude. If κ >= 1/(m·ε), A does not have full rank to working precision. All
// methods then return a *rev.SingularError with κ and write nothing.
//
// There is no kernel over fixed point: derivatives are divided by the diagonal of R,
// and leave the range if it is small.
//
// Sources: Walter and Lehmann, Algorithmic differentiation of linear algebra
// functions with application in optimum experimental design, arXiv 1001.1654
// (2018); Liao et al., Differentiable programming tensor networks, Phys. Rev. X
// 9, 031041 (2019).
type QR[T rev.Float] struct {
	Q       rev.General[T] `rev:"acc" shape:"m,n"`
	R       rev.General[T] `rev:"acc" shape:"n,n"`
	A       rev.General[T] `rev:"in" shape:"m,n"`
	Workers int            // 0 means GOMAXPROCS
}

// qrRun is Run of QR. It panics with mat.ErrShape if A has more columns than
// rows.
func qrRun[T rev.Float](k *QR[T], p *rev.Pass[QR[T]]) error {
	checkTall[QR[T]](k.A)
	return qrRunBy(k, *p, (*qrWork[T]).householder)
}

// checkTall panics with mat.ErrShape if the operand A of the kernel K has more columns
// than rows.
func checkTall[K any, T rev.Float](a rev.General[T]) {
	if a.Rows < a.Cols {
		panic(rev.ShapeError[K]("A", "is %d×%d, want at least as many rows as columns", a.Rows, a.Cols))
	}
}

// qrRunBy makes a pass of QR or of GramSchmidt. They differ only in orthogonalise.
func qrRunBy[T rev.Float](k *QR[T], p rev.Pass[QR[T]], orthogonalise func(w *qrWork[T], a rev.General[T])) error {
	w := workspace.Get[*qrWork[T]]()
	defer workspace.Put(w)
	if err := w.decompose(k.Workers, k.A, orthogonalise); err != nil {
		return err
	}
	m, n, sign := k.A.Rows, k.A.Cols, T(p.Sign())
	g, t, gt := &p.G, &p.T, &p.GT
	switch {
	case t.A.Data != nil:
		w.setTangent(t.A)
		addMatrix(t.Q, sign, w.dq)
		addUpper(t.R, sign, w.dr)
	case gt.A.Data != nil:
		w.dq, w.dr = zeros(w.dq, m, n), zeros(w.dr, n, n)
	}
	if g.A.Data != nil && (g.Q.Data != nil || g.R.Data != nil) || gt.A.Data != nil {
		w.gradient(g)
	}
	if gt.A.Data != nil {
		w.gradientTangent(g, gt)
	}
	addShared(k.Workers, k.Q, sign, w.q)
	addUpper(k.R, sign, w.r)
	return nil
}

// qrWork holds Q, R, and what their derivatives need.
type qrWork[T rev.Float] struct {
	reflectors[T] // with Q, and R with zeros below its diagonal
	workers       int
	shifts        []int // if not empty, columns of A were multiplied by 2^shifts[j]

	qt     rev.General[T] // for GramSchmidt: Qᵀ
	coeffs rev.General[T]

	k, dk   rev.General[T] // K and its tangent
	x, dx   rev.General[T] // (Q̄ + Q·K)·R⁻ᵀ, and what AdjointTangent adds to ġA
	xt      rev.General[T] // scratch, n×m
	s       rev.General[T]
	dq, dr  rev.General[T]
	solving qrSolve[T]
}

// pivots returns the d_j of the condition, and the diagonal of R. They are in w.s.
func (w *qrWork[T]) pivots() (d, diag []T) {
	n := w.r.Rows
	w.s = zeros(w.s, 2, n)
	d, diag = w.s.Row(0), w.s.Row(1)
	for i := range n {
		diag[i] = w.r.Row(i)[i]
		for j, v := range w.r.Row(i)[i:] {
			if v = abs(v); v > d[i+j] {
				d[i+j] = v
			}
		}
	}
	return d, diag
}

// rescale reports whether the computed R has columns near the ends of the range of T. If
// so, it stores A in x with each column multiplied by a power of two. This does not change
// Q. decompose divides the columns of R by these powers again.
func (w *qrWork[T]) rescale(a rev.General[T]) bool {
	low, high := 0x1p-900, 0x1p1000
	if epsilon[T]() == 0x1p-23 {
		low, high = 0x1p-90, 0x1p110
	}
	tops, _ := w.pivots()
	near := false
	for _, d := range tops {
		near = near || !(float64(d) > low && float64(d) < high)
	}
	w.shifts = w.shifts[:0]
	if !near {
		return false
	}
	clear(tops)
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			tops[j] = max(tops[j], abs(v))
		}
	}
	w.x = scratchCopy(w.x, a)
	for _, top := range tops {
		w.shifts = append(w.shifts, -exponent(top))
	}
	shiftColumns(w.x, w.shifts, 1)
	return true
}

// decompose computes Q and R, by a method for columns that are far from overflow and
// underflow. It returns an error if A does not have full rank to working precision.
func (w *qrWork[T]) decompose(workers int, a rev.General[T], orthogonalise func(w *qrWork[T], a rev.General[T])) error {
	w.workers = workers
	orthogonalise(w, a)
	if w.rescale(a) {
		orthogonalise(w, w.x)
	}
	d, diag := w.pivots()
	shiftColumns(w.r, w.shifts, -1)
	return checkPivots(w.q.Rows, d, diag)
}

// gradient sets k to K and x to (Q̄ + Q·K)·R⁻ᵀ. It adds x to Ā.
func (w *qrWork[T]) gradient(g *QR[T]) {
	m, n := w.q.Rows, w.q.Cols
	w.k = zeros(w.k, n, n)
	w.symmetrise(w.k, []qrPair[T]{{g.R, w.r}}, []qrPair[T]{{w.q, g.Q}})
	w.x = scratch(w.x, m, n)
	w.solve(w.x, g.Q, g.A, qrTerm[T]{1, w.q, view(w.k, false)})
}

// qrPair are the factors of a product.
type qrPair[T rev.Float] struct{ a, b rev.General[T] }

// symmetrise computes K = sym(Σ B_i·triu(A_i)ᵀ - Σ D_jᵀ·C_j) with upper triangular B_i. sym
// takes the lower triangle, so symmetrise computes only the upper triangle of the transpose.
// It omits products with nil.
func (w *qrWork[T]) symmetrise(k rev.General[T], ab, cd []qrPair[T]) {
	for _, p := range ab {
		if p.a.Data != nil {
			w.s = zeros(w.s, k.Rows, k.Rows)
			copyUpper(w.s, p.a)
			updateUpper(w.workers, 1, k, view(w.s, false), view(p.b, true), true)
		}
	}
	for _, p := range cd {
		if p.b.Data != nil {
			updateUpper(w.workers, -1, k, view(p.a, true), view(p.b, false), false)
		}
	}
	mirror(k)
}

// qrTerm is the product sign·A·B.
type qrTerm[T rev.Float] struct {
	sign T
	a    rev.General[T]
	b    strided[T]
}

// qrRows returns the number of rows of Q, or of a matrix of its shape, in a block. It grows
// with n, because each block reads K and R.
func qrRows(n int) int { return 64 * (1 + n/512) }

// qrSolve computes X = (C + Σ A_i·B_i)·R⁻ᵀ and Y += X. C and Y may be nil.
type qrSolve[T rev.Float] struct {
	x, c, y rev.General[T]
	r       strided[T]
	terms   []qrTerm[T]
	xt      []rev.General[T] // some rows of X transposed, for each worker
}

// solve computes X and adds it to Y.
func (w *qrWork[T]) solve(x, c, y rev.General[T], terms ...qrTerm[T]) {
	s := &w.solving
	s.x, s.c, s.y, s.r = x, c, y, view(w.r, false)
	s.terms = append(s.terms[:0], terms...)
	workers := parallel.Workers(w.workers)
	for len(s.xt) < workers {
		s.xt = append(s.xt, rev.General[T]{})
	}
	rows := qrRows(x.Cols)
	parallel.Run(workers, (x.Rows+rows-1)/rows, s)
	s.c, s.y = rev.General[T]{}, rev.General[T]{}
}

// Block computes some rows.
func (s *qrSolve[T]) Block(worker, b int) {
	n := s.x.Cols
	rows := qrRows(n)
	lo := b * rows
	rows = min(rows, s.x.Rows-lo)
	x := block(s.x, lo, 0, rows, n)
	if s.c.Data != nil {
		copyMatrix(x, block(s.c, lo, 0, rows, n))
	} else {
		clear(x.Data)
	}
	for _, t := range s.terms {
		a := block(t.a, lo, 0, rows, n)
		dense.Gemm(rows, n, n, t.sign, a.Data, a.Stride, 1, t.b.data, t.b.rs, t.b.cs, x.Data, x.Stride)
	}
	xt := scratch(s.xt[worker], n, rows)
	s.xt[worker] = xt
	copyTransposed(xt, x)
	// The columns are one panel, stored in rows of the scratch matrix.
	panels[T]{n, rows, xt.Stride, xt.Data}.solve(triangle[T]{s.r, false, false}, 0)
	copyTransposed(x, xt)
	if s.y.Data != nil {
		addMatrix(block(s.y, lo, 0, rows, n), 1, x)
	}
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

// gradientTangent adds to the tangent of Ā. Call gradient and setTangent first.
func (w *qrWork[T]) gradientTangent(g, gt *QR[T]) {
	m, n := w.q.Rows, w.q.Cols
	w.dk = zeros(w.dk, n, n)
	w.symmetrise(w.dk,
		[]qrPair[T]{{g.R, w.dr}, {gt.R, w.r}},
		[]qrPair[T]{{w.dq, g.Q}, {w.q, gt.Q}})
	w.dx = scratch(w.dx, m, n)
	w.solve(w.dx, gt.Q, gt.A,
		qrTerm[T]{1, w.dq, view(w.k, false)},
		qrTerm[T]{1, w.q, view(w.dk, false)},
		qrTerm[T]{-1, w.x, view(w.dr, true)})
}
