package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// SVD is the kernel
//
//	U += U(A),  S += s(A),  V += V(A),  A = U(A)·diag(s(A))·V(A)ᵀ,
//
// where A is m×n, s(A) are its r = min(m, n) singular values in descending order,
// and the columns of U(A), m×r, and V(A), n×r, are orthonormal. Of the two signs
// of a pair of vectors the one is taken that makes the first of the elements of
// largest magnitude of u positive.
//
// # Derivatives
//
// Writing U, s and V for the results, and with a_ij = 1/(2·(s_j - s_i)) and
// b_ij = 1/(2·(s_j + s_i)) off the diagonal, 0 on it, the derivatives are
//
//	P = Uᵀ·Ȧ·V,        ṡ_i = P_ii,
//	X = a∘(P + Pᵀ),     Y = b∘(P - Pᵀ),
//	U̇ = U·(X + Y) + (Ȧ·V - U·P)·S⁻¹,  V̇ = V·(X - Y) + (Ȧᵀ·U - V·Pᵀ)·S⁻¹,
//	G = Uᵀ·Ū - Ūᵀ·U,  H = Vᵀ·V̄ - V̄ᵀ·V,
//	Ā = U·(diag(s̄) + a∘(G + H) + b∘(G - H))·Vᵀ + (I - U·Uᵀ)·Ū·S⁻¹·Vᵀ + U·S⁻¹·V̄ᵀ·(I - V·Vᵀ)
//
// with S = diag(s): Giles 2008, 3.2, with the vectors too, and the quotients by
// s_j² - s_i² in parts, of which one has no pole where singular values are equal.
//
// # Equal and vanishing singular values
//
// Singular values that differ by at most max(m, n)·ε·s_1 are taken as equal, and
// a_ij is then 0, its limit where the derivative exists: as for SymEig, Adjoint
// needs s̄_i = s̄_j and G_ij + H_ij = 0, and Tangent P_ij + P_ji = 0 and, if U̇ or V̇
// is asked for, P_ii = P_jj. Otherwise they return a *Degenerate, which names the
// pair. If the least singular value is so close to 0, there are no derivatives
// either, and they return mat.Condition(s_1/s_r), infinite for s_r = 0. Nothing is written then.
//
// # Rounding
//
// The results are those of gonum's Dgesvd, in float64: of a matrix within about
// max(m, n)·ε·‖A‖ of A. If A holds infinities or NaNs, all of them are NaN.
// Derivatives are products of matrices, and the bits do not depend on the number
// of workers.
type SVD[T rev.Float] struct {
	U       rev.General[T] `rev:"acc"`
	S       rev.Vector[T]  `rev:"acc"`
	V       rev.General[T] `rev:"acc"`
	A       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NewSVD returns the kernel over gonum's types, sharing their storage. It panics
// with mat.ErrShape if they do not fit together.
func NewSVD(u *mat.Dense, s *mat.VecDense, v, a *mat.Dense) SVD[float64] {
	k := SVD[float64]{U: rev.ViewDense(u), S: rev.ViewVec(s), V: rev.ViewDense(v), A: rev.ViewDense(a)}
	k.checkShape()
	return k
}

func (k *SVD[T]) checkShape() {
	m, n := k.A.Rows, k.A.Cols
	r := min(m, n)
	// Those of their cotangents.
	if k.U.Data == nil {
		k.U.Rows, k.U.Cols = m, r
	}
	if k.S.Data == nil {
		k.S.N = r
	}
	if k.V.Data == nil {
		k.V.Rows, k.V.Cols = n, r
	}
	if k.U.Rows != m || k.U.Cols != r || k.S.N != r || k.V.Rows != n || k.V.Cols != r {
		panic(mat.ErrShape)
	}
}

func (k *SVD[T]) check(g ...*SVD[T]) {
	rev.Check(k)
	k.checkShape()
	rev.CheckLike(k, g...)
}

// Forward computes U += U(A), S += s(A) and V += V(A).
func (k SVD[T]) Forward() error { return k.accumulate(1) }

// Inverse computes U -= U(A), S -= s(A) and V -= V(A).
func (k SVD[T]) Inverse() error { return k.accumulate(-1) }

func (k SVD[T]) accumulate(sign T) error {
	k.check()
	w := workspace.Get[svdWork[T]]()
	defer workspace.Put(w)
	if err := w.decompose(k.Workers, k.A); err != nil {
		return err
	}
	k.add(sign, w.u, w.s, w.v)
	return nil
}

// add adds alpha times vectors and values.
func (k *SVD[T]) add(alpha T, u rev.General[T], s []T, v rev.General[T]) {
	addMatrix(k.U, alpha, u)
	if k.S.Data != nil {
		addElements(k.S, 0, alpha, s)
	}
	addMatrix(k.V, alpha, v)
}

// Adjoint computes U -= U(A), S -= s(A), V -= V(A), and adds to Ā.
func (k SVD[T]) Adjoint(g SVD[T]) error {
	k.check(&g)
	w := workspace.Get[svdWork[T]]()
	defer workspace.Put(w)
	if err := w.decompose(k.Workers, k.A); err != nil {
		return err
	}
	if g.A.Data != nil && (g.U.Data != nil || g.S.Data != nil || g.V.Data != nil) {
		if err := w.addGradient(g); err != nil {
			return err
		}
	}
	k.add(-1, w.u, w.s, w.v)
	return nil
}

// Tangent computes U += U(A), S += s(A), V += V(A), and adds to U̇, Ṡ and V̇.
func (k SVD[T]) Tangent(t SVD[T]) error {
	k.check(&t)
	w := workspace.Get[svdWork[T]]()
	defer workspace.Put(w)
	if err := w.decompose(k.Workers, k.A); err != nil {
		return err
	}
	if t.A.Data != nil && (t.U.Data != nil || t.S.Data != nil || t.V.Data != nil) {
		if err := w.addTangent(t); err != nil {
			return err
		}
	}
	k.add(1, w.u, w.s, w.v)
	return nil
}

// svdWork has the decomposition and what its derivatives need.
type svdWork[T rev.Float] struct {
	svd      singularValues
	workers  int
	u, v, vt rev.General[T]
	s, ds    []T
	gap      float64 // of equal values

	p, x, y, gu, gv, z, zt rev.General[T]
}

// decompose computes u, s and v.
func (w *svdWork[T]) decompose(workers int, a rev.General[T]) error {
	m, n := a.Rows, a.Cols
	r := min(m, n)
	w.workers = workers
	w.u, w.v, w.vt = scratch(w.u, m, r), scratch(w.v, n, r), scratch(w.vt, r, n)
	w.s, w.ds = workspace.Grow(w.s, r), workspace.Grow(w.ds, r)
	if !decomposeSVD(&w.svd, a, w.u, w.vt) {
		for i := range m {
			for _, v := range a.Row(i) {
				if !isFinite(float64(v)) {
					w.setNaN()
					return nil
				}
			}
		}
		return ErrNotConverged
	}
	copyTransposed(w.v, w.vt)
	for j := range r {
		w.s[j] = T(w.svd.s[j])
		at := 0
		for i := range m {
			if abs(w.u.Row(i)[j]) > abs(w.u.Row(at)[j]) {
				at = i
			}
		}
		if w.u.Row(at)[j] < 0 {
			for i := range m {
				w.u.Row(i)[j] = -w.u.Row(i)[j]
			}
			for i := range n {
				w.v.Row(i)[j] = -w.v.Row(i)[j]
			}
		}
	}
	w.gap = 0
	if r > 0 {
		w.gap = float64(max(m, n)) * float64(epsilon[T]()) * w.svd.s[0]
	}
	return nil
}

// setNaN makes NaN of all results.
func (w *svdWork[T]) setNaN() {
	nan := T(math.NaN())
	for i := range w.s {
		w.s[i], w.svd.s[i] = nan, math.NaN()
	}
	for _, m := range []rev.General[T]{w.u, w.v} {
		for i := range m.Rows {
			for j := range m.Cols {
				m.Row(i)[j] = nan
			}
		}
	}
	w.gap = 0
}

// check returns an error if the least singular value is 0.
func (w *svdWork[T]) check() error {
	if r := len(w.s); r > 0 && w.svd.s[r-1] <= w.gap {
		if w.svd.s[r-1] == 0 {
			return singular // also if all are 0
		}
		return mat.Condition(w.svd.s[0] / w.svd.s[r-1])
	}
	return nil
}

func (w *svdWork[T]) equal(i, j int) bool { return math.Abs(w.svd.s[j]-w.svd.s[i]) <= w.gap }

func (w *svdWork[T]) degenerate(i, j int) error {
	return &Degenerate{min(i, j), max(i, j), math.Abs(w.svd.s[j] - w.svd.s[i])}
}

// poles returns a_ij and b_ij.
func (w *svdWork[T]) poles(i, j int) (a, b T) {
	if i == j {
		return 0, 0
	}
	b = T(0.5 / (w.svd.s[j] + w.svd.s[i]))
	if !w.equal(i, j) {
		a = T(0.5 / (w.svd.s[j] - w.svd.s[i]))
	}
	return a, b
}

// tolerance returns how much is taken as 0 in matrices of the magnitude of those
// given.
func (w *svdWork[T]) tolerance(ms ...rev.General[T]) T {
	top := T(0)
	for _, m := range ms {
		for i := range m.Rows {
			for _, v := range m.Row(i) {
				top = max(top, abs(v))
			}
		}
	}
	return 100 * T(max(w.u.Rows, w.v.Rows)) * epsilon[T]() * top
}

// scaleColumns divides column j of m by s_j.
func (w *svdWork[T]) scaleColumns(m rev.General[T]) {
	for i := range m.Rows {
		for j := range m.Row(i) {
			m.Row(i)[j] /= w.s[j]
		}
	}
}

func (w *svdWork[T]) addTangent(t SVD[T]) error {
	if err := w.check(); err != nil {
		return err
	}
	m, n, r := w.u.Rows, w.v.Rows, len(w.s)
	w.z, w.zt = zeros(w.z, m, r), zeros(w.zt, n, r)
	w.p = zeros(w.p, r, r)
	multiply(w.workers, w.z, 1, view(t.A, false), view(w.v, false))
	multiply(w.workers, w.zt, 1, view(t.A, true), view(w.u, false))
	multiply(w.workers, w.p, 1, view(w.u, true), view(w.z, false))
	vectors := t.U.Data != nil || t.V.Data != nil
	tol := w.tolerance(w.p)
	w.x, w.y = zeros(w.x, r, r), zeros(w.y, r, r) // X + Y and X - Y
	for i := range r {
		w.ds[i] = w.p.Row(i)[i]
		for j := range r {
			sum, diff := w.p.Row(i)[j]+w.p.Row(j)[i], w.p.Row(i)[j]-w.p.Row(j)[i]
			if i < j && w.equal(i, j) && (abs(sum) > tol || vectors && abs(w.p.Row(i)[i]-w.p.Row(j)[j]) > tol) {
				return w.degenerate(i, j)
			}
			a, b := w.poles(i, j)
			w.x.Row(i)[j] = T(a*sum) + T(b*diff)
			w.y.Row(i)[j] = T(a*sum) - T(b*diff)
		}
	}
	multiply(w.workers, w.z, -1, view(w.u, false), view(w.p, false))
	multiply(w.workers, w.zt, -1, view(w.v, false), view(w.p, true))
	w.scaleColumns(w.z)
	w.scaleColumns(w.zt)
	multiply(w.workers, w.z, 1, view(w.u, false), view(w.x, false))
	multiply(w.workers, w.zt, 1, view(w.v, false), view(w.y, false))
	t.add(1, w.z, w.ds, w.zt)
	return nil
}

func (w *svdWork[T]) addGradient(g SVD[T]) error {
	if err := w.check(); err != nil {
		return err
	}
	m, n, r := w.u.Rows, w.v.Rows, len(w.s)
	w.gu, w.gv = zeros(w.gu, r, r), zeros(w.gv, r, r) // Uᵀ·Ū, Vᵀ·V̄
	w.z, w.zt = zeros(w.z, m, r), zeros(w.zt, n, r)   // (I - U·Uᵀ)·Ū·S⁻¹, (I - V·Vᵀ)·V̄·S⁻¹
	if g.U.Data != nil {
		copyMatrix(w.z, g.U)
		multiply(w.workers, w.gu, 1, view(w.u, true), view(g.U, false))
		multiply(w.workers, w.z, -1, view(w.u, false), view(w.gu, false))
	}
	if g.V.Data != nil {
		copyMatrix(w.zt, g.V)
		multiply(w.workers, w.gv, 1, view(w.v, true), view(g.V, false))
		multiply(w.workers, w.zt, -1, view(w.v, false), view(w.gv, false))
	}
	w.scaleColumns(w.z)
	w.scaleColumns(w.zt)
	tol, stol := w.tolerance(w.gu, w.gv), T(0)
	bar := func(i int) T {
		if g.S.Data == nil {
			return 0
		}
		return g.S.Data[i*g.S.Inc]
	}
	for i := range r {
		stol = max(stol, 100*T(max(m, n))*epsilon[T]()*abs(bar(i)))
	}
	w.x = zeros(w.x, r, r)
	for i := range r {
		w.x.Row(i)[i] = bar(i)
		for j := range r {
			u, v := w.gu.Row(i)[j]-w.gu.Row(j)[i], w.gv.Row(i)[j]-w.gv.Row(j)[i]
			if i < j && w.equal(i, j) && (abs(u+v) > tol || abs(bar(i)-bar(j)) > stol) {
				return w.degenerate(i, j)
			}
			a, b := w.poles(i, j)
			w.x.Row(i)[j] += T(a*(u+v)) + T(b*(u-v))
		}
	}
	// Ā += (U·x + z)·Vᵀ + U·ztᵀ
	multiply(w.workers, w.z, 1, view(w.u, false), view(w.x, false))
	multiply(w.workers, g.A, 1, view(w.z, false), view(w.v, true))
	multiply(w.workers, g.A, 1, view(w.u, false), view(w.zt, true))
	return nil
}
