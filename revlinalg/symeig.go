package revlinalg

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// SymEig is the kernel
//
//	W += w(A),  V += V(A),  A = V(A)·diag(w(A))·V(A)ᵀ,
//
// where A is symmetric, w(A) are its eigenvalues in ascending order, and the columns of
// V(A) its eigenvectors of length 1. Signs are chosen as follows: in each column, the
// first element of more than 1/π of the largest magnitude is positive. (The first
// largest element would not do: elements of equal magnitude differ by rounding.) Only
// the upper triangle of A is read, as gonum's SymDense stores no other. An element
// above the diagonal also stands for its mirror image, and so does its derivative.
//
// # Derivatives
//
// Writing w and V for the results, with F_ij = 1/(w_j - w_i) off the diagonal and 0 on
// it, the derivatives are (Giles 2008, 3.1)
//
//	P = Vᵀ·Ȧ·V,  ẇ_i = P_ii,  V̇ = V·Ω,  Ω = F∘P,
//	G = Vᵀ·V̄,    Ā = V·S·Vᵀ,  S = diag(w̄) + F∘(G - Gᵀ)/2,
//
// and, of second order, with a dot for tangents,
//
//	ġA = V·(Ṡ + Ω·S - S·Ω)·Vᵀ,  Ṡ = diag(ġw) + (Ḟ∘(G - Gᵀ) + F∘(Ġ - Ġᵀ))/2,
//	Ġ = V̇ᵀ·V̄ + Vᵀ·ġV,  Ḟ_ij = (ẇ_i - ẇ_j)·F_ij².
//
// # Equal eigenvalues
//
// Eigenvalues that differ by at most n·ε·max|w| count as equal. Their vectors are any
// basis of a space, and have no derivative. A function that does not depend on the
// basis has one. F_ij is then 0, its limit:
//
//   - Adjoint needs w̄_i = w̄_j and G_ij = G_ji for each such pair. A function has such
//     cotangents, in any basis, if it depends on the equal eigenvalues by their sum and
//     on their vectors by their space (its projection). w̄ is known in one basis only.
//     If w̄_i = w̄_j by coincidence, this cannot be detected, and the result is not a
//     gradient.
//   - Tangent needs P_ij = 0 and, if it computes V̇, P_ii = P_jj: Ȧ does not split the
//     space.
//   - AdjointTangent needs both, the first also for the tangents of cotangents.
//
// These conditions must hold up to 100·n·ε of the largest magnitude in each array.
// Otherwise the method returns a *rev.DegenerateError, which names the pair, and writes
// nothing. See docs/degenerate-spectra.md.
//
// # Rounding
//
// Eigenvalues and vectors are those of a matrix within about n·ε·‖A‖ of A, in float64, and
// V is orthonormal to n·ε. The error of a vector is n·ε·‖A‖ over the distance to the next
// eigenvalue. If A holds infinities or NaNs, all results are NaN. Derivatives are
// products of matrices. The bits do not depend on the number of workers. There is no
// kernel over fixed point: derivatives are quotients by distances of eigenvalues, and
// leave the range if these are small.
//
// # Method
//
// Householder reflections make A tridiagonal. Up to order 128, implicit QL sweeps make that
// diagonal, and the rotations of many sweeps are applied to the vectors together. Above, the vectors
// are found by divide and conquer. If V is nil and no derivative is computed, there are no vectors,
// and this takes a third to a half of the time. The values are then found by sweeps at every
// order, so above 128 they may differ by rounding from those that come with V.
// Adjoint and Inverse use the vectors that Forward has left in a workspace, if no other
// matrix came between and V is there in both or in neither, and decompose A again otherwise. The
// workspace keeps a copy of A for this.
//
// Sources: Golub and Van Loan, Matrix Computations, 4th edition, 2013, 8.3; Dongarra,
// Hammarling and Sorensen, Block reduction of matrices to condensed forms for eigenvalue
// computations, J. Comput. Appl. Math. 27 (1989); Parlett, The Symmetric Eigenvalue
// Problem, 1998, 8.15; Gu and Eisenstat, A divide-and-conquer algorithm for the symmetric
// tridiagonal eigenproblem, SIAM J. Matrix Anal. Appl. 16 (1995); Giles, Collected matrix derivative results for forward and reverse
// mode algorithmic differentiation, 2008.
type SymEig[T rev.Float] struct {
	W       rev.Vector[T]  `rev:"acc" shape:"n"`
	V       rev.General[T] `rev:"acc" shape:"n,n"`
	A       rev.General[T] `rev:"in" shape:"n,n"`
	Workers int            // 0 means GOMAXPROCS
}

// NewSymEig returns the kernel that adds to w and v, over gonum's types, sharing their
// storage.
func NewSymEig(w *mat.VecDense, v *mat.Dense, a *mat.SymDense) SymEig[float64] {
	return SymEig[float64]{W: rev.ViewVec(w), V: rev.ViewDense(v), A: rev.ViewSym(a)}
}

// symEigRun is Run of SymEig.
func symEigRun[T rev.Float](k *SymEig[T], p *rev.Pass[SymEig[T]]) error {
	w := workspace.Get[*eigen[T]]()
	defer workspace.Put(w)
	g, t, gt := &p.G, &p.T, &p.GT
	second := gt.A.Data != nil && (symEigHasResult(g) || symEigHasResult(gt))
	vectors := t.V.Data != nil || second
	tangent := t.A.Data != nil && (vectors || t.W.Data != nil)
	gradient := g.A.Data != nil && symEigHasResult(g)
	all := k.V.Data != nil || tangent || gradient || second
	if w.workers = k.Workers; !p.Back || !w.has(k.A, all, k.V.Data != nil) {
		if err := w.decompose(k.A, all, k.V.Data != nil); err != nil {
			return err
		}
	}
	if tangent || second {
		if err := w.setTangent(t.A, vectors); err != nil {
			return err
		}
	}
	if gradient || second {
		if err := w.setGradient(g); err != nil {
			return err
		}
	}
	if second {
		if err := w.setGradientTangent(g, gt); err != nil {
			return err
		}
		w.addSymmetric(gt.A, w.ds)
	}
	if gradient {
		w.addSymmetric(g.A, w.s)
	}
	sign := T(p.Sign())
	if tangent {
		symEigAdd(t, sign, w.dw, w.dv)
	}
	symEigAdd(k, sign, w.w, w.v)
	return nil
}

// symEigHasResult reports whether W or V is there.
func symEigHasResult[T rev.Float](k *SymEig[T]) bool { return k.W.Data != nil || k.V.Data != nil }

// symEigAdd adds values and vectors.
func symEigAdd[T rev.Float](k *SymEig[T], sign T, w []T, v rev.General[T]) {
	if k.W.Data != nil {
		vector.AddElements(&k.W, 0, sign, w)
	}
	addMatrix(k.V, sign, v)
}

// eigen has the decomposition and what its derivatives need.
type eigen[T rev.Float] struct {
	spectrum[T]
	workers int
	w, dw   []T
	v, dv   rev.General[T]

	p, omega, g, dg, s, ds, vs rev.General[T]

	reduced tridiagonal
	ql      qlIteration
	conquer divideConquer
	rotated rotatedRows
	rows    rev.General[float64] // Qᵀ, and then Vᵀ in any order, within chainPad rows
	vt      rev.General[T]
	order   []int // of the eigenvalues

	of      rev.General[T] // whose upper triangle has the values w and, if vectors is set, the vectors v
	known   bool           // of is there
	vectors bool
	divided bool // w comes from divide and conquer
}

// has reports whether w has the decomposition that decompose would compute, or one with vectors too. A
// pass back finds here what the pass forward has left, if no other matrix came between.
func (w *eigen[T]) has(a rev.General[T], vectors, output bool) bool {
	if !w.known || w.of.Rows != a.Rows || vectors && !w.vectors || w.divided != divides(a.Rows, output) {
		return false
	}
	for i := range a.Rows {
		if !sameBits(w.of.Row(i)[i:], a.Row(i)[i:]) {
			return false
		}
	}
	return true
}

// divides reports whether the eigenvalues of a matrix of order n come from divide and conquer. They do
// where V is an output, in all passes. If it is not, passes that need no vectors find the eigenvalues by
// sweeps alone, and the others must find the same bits.
func divides(n int, output bool) bool { return output && n > divideAbove }

// decompose computes w and, if vectors is set, v. V is an output of the kernel if output is set.
func (w *eigen[T]) decompose(a rev.General[T], vectors, output bool) error {
	n := a.Rows
	w.dim, w.known = n, false
	w.w, w.values = workspace.Grow(w.w, n), workspace.Grow(w.values, n)
	w.v = scratch(w.v, n, n)
	w.gap = 0
	if n == 0 {
		return nil
	}
	shift, ok := w.load(a)
	if !ok {
		w.setNaN(w.w, w.v)
		return nil
	}
	w.reduced.reduce()
	d, none := w.reduced.d, rev.General[float64]{}
	switch {
	case vectors && n > divideAbove:
		ok = w.conquer.run(w.workers, d, w.reduced.e)
		w.reduced.multiplyTransposed(w.conquer.x)
		w.setVectors(w.conquer.d, w.conquer.x)
		if divides(n, output) {
			copy(d, w.conquer.d)
		} else {
			ok = w.sweep(none) && ok
		}
	case vectors:
		rows := padded(&w.rows, n, n)
		q := block(rows, chainPad, 0, n, n)
		w.reduced.formTransposed(q)
		ok = w.sweep(rows)
		w.setVectors(d, q)
	default:
		ok = w.sweep(none)
	}
	if !ok {
		return &rev.ConvergenceError{Kernel: "SymEig"}
	}
	slices.Sort(d)
	for i, v := range d {
		w.values[i] = math.Ldexp(v, shift)
		w.w[i] = T(w.values[i])
	}
	w.setGap()
	w.of = scratch(w.of, n, n)
	copyUpper(w.of, a)
	w.known, w.vectors, w.divided = true, vectors, divides(n, output)
	return nil
}

// load sets the matrix that is reduced to A times 2^-shift. It reports whether A is finite.
func (w *eigen[T]) load(a rev.General[T]) (shift int, ok bool) {
	n, top := a.Rows, 0.0
	w.reduced.begin(w.workers, n)
	m := w.reduced.a
	for i := range n {
		row := m.Row(i)
		for j, v := range a.Row(i)[i:] {
			x := float64(v)
			row[i+j] = x
			if x = math.Abs(x); x > top {
				top = x
			}
			if !(x <= math.MaxFloat64) {
				return 0, false
			}
		}
	}
	if shift = rangeShift(top); shift != 0 {
		for i := range n {
			row := m.Row(i)[i:n]
			for j, v := range row {
				row[j] = math.Ldexp(v, -shift)
			}
		}
	}
	mirror(block(m, 0, 0, n, n))
	return shift, true
}

// sweep finds the eigenvalues by sweeps, which rotate the given rows. It reports whether they converged.
func (w *eigen[T]) sweep(rows rev.General[float64]) (ok bool) {
	w.ql.begin(w.reduced.d, w.reduced.e)
	w.rotated.run(w.workers, len(w.reduced.d), &w.ql, rows, rev.General[float64]{})
	return !w.ql.failed
}

// setVectors sets v to the rows of x, which belong to the values d.
func (w *eigen[T]) setVectors(d []float64, x rev.General[float64]) {
	n := len(d)
	w.order = workspace.Grow(w.order, n)
	for i := range n {
		w.order[i] = i
	}
	slices.SortFunc(w.order, func(i, j int) int { return cmp.Compare(d[i], d[j]) })
	w.vt = scratch(w.vt, n, n)
	for j, i := range w.order {
		row, to, sign := x.Row(i), w.vt.Row(j), 1.0
		if isDownward(row) {
			sign = -1
		}
		for l, v := range row {
			to[l] = T(sign * v)
		}
	}
	copyTransposed(w.v, w.vt)
}

// f returns F_ij.
func (w *eigen[T]) f(i, j int) T {
	if i == j || w.equal(i, j) {
		return 0
	}
	return T(1 / (w.values[j] - w.values[i]))
}

// setTangent sets dw, and dv and omega if vectors is set.
func (w *eigen[T]) setTangent(ta rev.General[T], vectors bool) error {
	n := len(w.w)
	w.dw = workspace.Zeros(w.dw, n)
	w.omega, w.dv = zeros(w.omega, n, n), zeros(w.dv, n, n)
	w.p = zeros(w.p, n, n)
	if ta.Data == nil {
		return nil
	}
	w.ds = scratch(w.ds, n, n)
	copyUpper(w.ds, ta)
	mirror(w.ds)
	addSandwich(w.workers, w.p, 1, view(w.v, true), view(w.ds, false), view(w.v, false))
	tol := w.tolerance(w.p)
	for i := range n {
		w.dw[i] = w.p.Row(i)[i]
		for j := range n {
			if i < j && w.equal(i, j) && (abs(w.p.Row(i)[j]) > tol || vectors && abs(w.p.Row(i)[i]-w.p.Row(j)[j]) > tol) {
				return w.degenerate(i, j)
			}
			w.omega.Row(i)[j] = w.f(i, j) * w.p.Row(i)[j]
		}
	}
	multiply(w.workers, w.dv, 1, view(w.v, false), view(w.omega, false))
	return nil
}

// setGradient sets g to G and s to S.
func (w *eigen[T]) setGradient(g *SymEig[T]) error {
	n := len(w.w)
	w.g = zeros(w.g, n, n)
	if g.V.Data != nil {
		multiply(w.workers, w.g, 1, view(w.v, true), view(g.V, false))
	}
	w.s = zeros(w.s, n, n)
	return w.symmetrize(w.s, w.g, g.W)
}

// symmetrize adds diag(wbar) + F∘(g - gᵀ)/2 to s.
func (w *eigen[T]) symmetrize(s, g rev.General[T], wbar rev.Vector[T]) error {
	n := len(w.w)
	bar := func(i int) T { return vector.Element(wbar, i) }
	tol, wtol := w.tolerance(g), T(0)
	for i := range n {
		s.Row(i)[i] += bar(i)
		wtol = max(wtol, w.rounding(abs(bar(i))))
	}
	w.p = scratch(w.p, n, n)
	copyTransposed(w.p, g)
	for i := range n {
		gi, mirrored, to := g.Row(i), w.p.Row(i), s.Row(i)
		for j := i + 1; j < n; j++ {
			d := gi[j] - mirrored[j]
			if w.equal(i, j) {
				if abs(d) > tol || abs(bar(i)-bar(j)) > wtol {
					return w.degenerate(i, j)
				}
				continue
			}
			to[j] += T(d * T(1/(w.values[j]-w.values[i])) / 2)
		}
	}
	mirror(s)
	return nil
}

// setGradientTangent sets ds to Ṡ + Ω·S - S·Ω.
func (w *eigen[T]) setGradientTangent(g, gt *SymEig[T]) error {
	n := len(w.w)
	w.dg = zeros(w.dg, n, n)
	if g.V.Data != nil {
		multiply(w.workers, w.dg, 1, view(w.dv, true), view(g.V, false))
	}
	if gt.V.Data != nil {
		multiply(w.workers, w.dg, 1, view(w.v, true), view(gt.V, false))
	}
	w.ds = zeros(w.ds, n, n)
	for i := range n {
		for j := range n {
			f := w.f(i, j)
			w.ds.Row(i)[j] = (w.dw[i] - w.dw[j]) * f * f * (w.g.Row(i)[j] - w.g.Row(j)[i]) / 2
		}
	}
	if err := w.symmetrize(w.ds, w.dg, gt.W); err != nil {
		return err
	}
	multiply(w.workers, w.ds, 1, view(w.omega, false), view(w.s, false))
	multiply(w.workers, w.ds, -1, view(w.s, false), view(w.omega, false))
	return nil
}

// addSymmetric adds V·s·Vᵀ, where s is symmetric, to the upper triangle of dst, elements above
// the diagonal twice.
func (w *eigen[T]) addSymmetric(dst, s rev.General[T]) {
	n := len(w.w)
	w.p, w.vs = zeros(w.p, n, n), zeros(w.vs, n, n)
	multiply(w.workers, w.vs, 1, view(w.v, false), view(s, false))
	updateUpper(w.workers, 1, w.p, view(w.vs, false), view(w.v, true), false)
	for i := range n {
		from, to := w.p.Row(i)[i:], dst.Row(i)[i:]
		to[0] += from[0]
		vec.Axpy(2, from[1:], to[1:])
	}
}
