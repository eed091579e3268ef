package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// SVD is the kernel
//
//	U += U(A),  S += s(A),  V += V(A),  A = U(A)·diag(s(A))·V(A)ᵀ,
//
// where A is m×n, s(A) are its r = min(m, n) singular values in descending order, and
// the columns of U(A), m×r, and V(A), n×r, are orthonormal. Signs are chosen as
// follows: in each column of U(A), the first element of more than 1/π of the largest
// magnitude is positive. (The first largest element would not do: elements of equal
// magnitude differ by rounding.)
//
// # Derivatives
//
// Writing U, s and V for the results, with a_ij = 1/(2·(s_j - s_i)) and b_ij =
// 1/(2·(s_j + s_i)) off the diagonal and 0 on it, the derivatives are
//
//	P = Uᵀ·Ȧ·V,        ṡ_i = P_ii,
//	X = a∘(P + Pᵀ),     Y = b∘(P - Pᵀ),
//	U̇ = U·(X + Y) + (Ȧ·V - U·P)·S⁻¹,  V̇ = V·(X - Y) + (Ȧᵀ·U - V·Pᵀ)·S⁻¹,
//	G = Uᵀ·Ū - Ūᵀ·U,  H = Vᵀ·V̄ - V̄ᵀ·V,
//	Ā = U·(diag(s̄) + a∘(G + H) + b∘(G - H))·Vᵀ + (I - U·Uᵀ)·Ū·S⁻¹·Vᵀ + U·S⁻¹·V̄ᵀ·(I - V·Vᵀ)
//
// with S = diag(s). This is Giles 2008, 3.2, extended to the vectors. The quotients by
// s_j² - s_i² are split into two parts, one of which has no pole at equal singular
// values. For the second order, let M be the matrix in brackets, and
//
//	Z = (Ū - U·Uᵀ·Ū)·S⁻¹,  N = (V̄ - V·Vᵀ·V̄)·S⁻¹,  Ā = (U·M + Z)·Vᵀ + U·Nᵀ
//
// the terms of Ā. With a dot for tangents,
//
//	ġA = (U̇·M + U·Ṁ + Ż)·Vᵀ + (U·M + Z)·V̇ᵀ + U̇·Nᵀ + U·Ṅᵀ,
//	Ṁ = diag(ġs) + ȧ∘(G + H) + a∘(Ġ + Ḣ) + ḃ∘(G - H) + b∘(Ġ - Ḣ),
//	ȧ_ij = 2·(ṡ_i - ṡ_j)·a_ij²,  ḃ_ij = -2·(ṡ_i + ṡ_j)·b_ij²,
//	K = Uᵀ·Ū,  K̇ = U̇ᵀ·Ū + Uᵀ·ġU,  Ġ = K̇ - K̇ᵀ,
//	Ż = (ġU - U̇·K - U·K̇ - Z·Ṡ)·S⁻¹,
//
// Ḣ and Ṅ are like Ġ and Ż, for V.
//
// # Equal and vanishing singular values
//
// Singular values that differ by at most max(m, n)·ε·s_1 count as equal. Then a_ij is
// 0, its limit if the derivative exists. It exists in the following cases. Adjoint
// needs s̄_i = s̄_j and G_ij + H_ij = 0. Tangent needs P_ij + P_ji = 0 and, if it
// computes U̇ or V̇, P_ii = P_jj. AdjointTangent needs all of these, the first also for
// the tangents of cotangents. Otherwise they return a *rev.DegenerateError, which names
// the pair.
//
// Singular values up to the same bound count as 0. They have a kink there, and their
// vectors are any basis of a space. If the derivative exists, a_ij and b_ij of two of
// them are 0, and so are the columns of Ż, Ṅ, Z and N that are divided by one. It
// exists in the following cases. Adjoint needs s̄_i = 0, G_ij = H_ij = 0, and columns of
// Ū and V̄ within those of U and V. Tangent needs an Ȧ that leaves these values 0.
// AdjointTangent needs the first two, also for the tangents of cotangents, and the last
// if more than singular values is differentiated. The cotangents of vectors must be
// those of a function that depends on their space, not their signs. Otherwise the
// methods return a *rev.SingularError with s_1/s_r, infinite for s_r = 0, and write
// nothing.
//
// # Rounding
//
// The results are those of a matrix within a small multiple of max(m, n)·ε·‖A‖ of A, in
// float64, and U and V are orthonormal to a small multiple of max(m, n)·ε. Above order 128, values that
// are 0 may come out beside vectors as 8·ε·s_1. If A holds
// infinities or NaNs, all results are NaN. Derivatives are products of matrices. The bits do
// not depend on the number of workers. There is no kernel over fixed point: derivatives are
// quotients by singular values and their distances, and leave the range if these are small.
//
// # Method
//
// Householder reflections make A, or Aᵀ if A is wide, bidiagonal. Up to order 128, implicit QR sweeps make
// that diagonal, and the rotations of many sweeps are applied to the vectors together. Above, vectors are
// found by divide and conquer. If U and V are nil, S comes from differential quotients and differences,
// which find no vectors and keep the relative accuracy of small values of the bidiagonal matrix. S may
// then differ from what comes with U or V by a small multiple of ε·s_1, which may be all of a small value.
// If no derivative is computed either, this takes less than half of the time. Adjoint and Inverse use what
// Forward has left in a workspace, if no other matrix came between, and decompose A again otherwise.
// The workspace keeps a copy of A for this.
//
// Sources: Golub and Van Loan, Matrix Computations, 4th edition, 2013, 5.4 and 8.6; Demmel
// and Kahan, Accurate singular values of bidiagonal matrices, SIAM J. Sci. Stat. Comput. 11
// (1990); Gu and Eisenstat, A divide-and-conquer algorithm for the bidiagonal SVD, SIAM J. Matrix Anal. Appl.
// 16 (1995); Fernando and Parlett, Accurate singular values and differential qd algorithms, Numer. Math. 67
// (1994); Parlett and Marques, An implementation of the dqds algorithm (positive case), Linear Algebra Appl.
// 309 (2000); Giles, Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation, 2008.
type SVD[T rev.Float] struct {
	U       rev.General[T] `rev:"acc" shape:"m,min(m,n)"`
	S       rev.Vector[T]  `rev:"acc" shape:"min(m,n)"`
	V       rev.General[T] `rev:"acc" shape:"n,min(m,n)"`
	A       rev.General[T] `rev:"in" shape:"m,n"`
	Workers int            // 0 means GOMAXPROCS
}

// svdRun is Run of SVD.
func svdRun[T rev.Float](k *SVD[T], p *rev.Pass[SVD[T]]) error {
	w := workspace.Get[*svdWork[T]]()
	defer workspace.Put(w)
	g, t, gt := &p.G, &p.T, &p.GT
	second := gt.A.Data != nil && (svdHasResult(g) || svdHasResult(gt))
	vectors := svdHasVectors(t) || second && (svdHasVectors(g) || svdHasVectors(gt))
	tangent := t.A.Data != nil && (svdHasResult(t) || second)
	gradient := g.A.Data != nil && svdHasResult(g)
	all := svdHasVectors(k) || tangent || gradient || second
	alone := k.S.Data != nil && !svdHasVectors(k)
	if w.workers = k.Workers; !p.Back || !w.has(k.A, all, alone) {
		if err := w.decompose(k.A, all, alone); err != nil {
			return err
		}
	}
	if tangent || second {
		if err := w.setTangent(t.A, vectors || t.S.Data != nil, vectors); err != nil {
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
		w.addGradientTangent(gt.A)
	}
	if gradient {
		w.addGradient(g.A)
	}
	sign := T(p.Sign())
	if tangent {
		svdAdd(t, sign, w.du, w.ds, w.dv)
	}
	if alone {
		vector.AddElements(&k.S, 0, sign, w.alone)
		return nil
	}
	svdAdd(k, sign, w.u, w.s, w.v)
	return nil
}

// svdHasVectors reports whether U or V is there, and hasResult whether S, too.
func svdHasVectors[T rev.Float](k *SVD[T]) bool { return k.U.Data != nil || k.V.Data != nil }
func svdHasResult[T rev.Float](k *SVD[T]) bool  { return k.S.Data != nil || svdHasVectors(k) }

// svdAdd adds alpha times the vectors and values.
func svdAdd[T rev.Float](k *SVD[T], alpha T, u rev.General[T], s []T, v rev.General[T]) {
	addMatrix(k.U, alpha, u)
	if k.S.Data != nil {
		vector.AddElements(&k.S, 0, alpha, s)
	}
	addMatrix(k.V, alpha, v)
}

// svdWork has the decomposition and what its derivatives need.
type svdWork[T rev.Float] struct {
	spectrum[T]
	svd     singularValues
	workers int
	u, v    rev.General[T]
	ut, vt  rev.General[T]
	s       []T

	alone []T // the values without vectors

	of       rev.General[T]
	known    bool // of is the matrix, and the next two say what there is of it
	vectors  bool // u, s and v
	hasAlone bool

	// The tangents, with P, X + Y and X - Y.
	du, dv, p, x, y rev.General[T]
	ds              []T

	// Uᵀ·Ū, Vᵀ·V̄, M, Z, N and U·M + Z, and their tangents.
	ku, kv, m, z, n, um       rev.General[T]
	dku, dkv, dm, dz, dn, dum rev.General[T]
}

// has reports whether w has what decompose computes. A pass back finds here what the pass
// forward has left, if no other matrix came between.
func (w *svdWork[T]) has(a rev.General[T], vectors, alone bool) bool {
	if !w.known || w.of.Rows != a.Rows || w.of.Cols != a.Cols || vectors && !w.vectors || alone && !w.hasAlone {
		return false
	}
	for i := range a.Rows {
		if !sameBits(w.of.Row(i), a.Row(i)) {
			return false
		}
	}
	return true
}

// decompose computes u, s and v if vectors is set, and alone if that is set.
func (w *svdWork[T]) decompose(a rev.General[T], vectors, alone bool) error {
	m, n := a.Rows, a.Cols
	r := min(m, n)
	w.dim, w.known = max(m, n), false
	w.u, w.v = scratch(w.u, m, r), scratch(w.v, n, r)
	w.s, w.ds, w.alone = workspace.Grow(w.s, r), workspace.Grow(w.ds, r), workspace.Grow(w.alone, r)
	finite, ok := decomposeSVD(w.workers, &w.svd, a, vectors, alone)
	w.values = w.svd.s
	switch {
	case !finite:
		w.setNaN(w.s, w.u, w.v)
		copy(w.alone, w.s)
		return nil
	case !ok:
		return &rev.ConvergenceError{Kernel: "SVD"}
	}
	if alone {
		for j, v := range w.svd.alone {
			w.alone[j] = T(v)
		}
	}
	if vectors {
		for j, v := range w.values {
			w.s[j] = T(v)
		}
		w.ut, w.vt = scratch(w.ut, r, m), scratch(w.vt, r, n)
		singularVectors(&w.svd, m < n, w.ut, w.vt)
		copyTransposed(w.u, w.ut)
		copyTransposed(w.v, w.vt)
		w.setGap()
	}
	w.of = scratchCopy(w.of, a)
	w.known, w.vectors, w.hasAlone = true, vectors, alone
	return nil
}

// vanishes returns whether singular value i is 0.
func (w *svdWork[T]) vanishes(i int) bool { return w.values[i] <= w.gap }

// vanishing returns the error of a derivative that does not exist because singular
// values vanish.
func (w *svdWork[T]) vanishing() error {
	last := len(w.values) - 1
	c := math.Inf(1) // also if all are 0
	if w.values[last] != 0 {
		c = w.values[0] / w.values[last]
	}
	return &rev.SingularError{Index: last, Condition: mat.Condition(c)}
}

// poles returns a_ij and b_ij.
func (w *svdWork[T]) poles(i, j int) (a, b T) {
	if i == j || w.vanishes(i) && w.vanishes(j) {
		return 0, 0
	}
	b = T(0.5 / (w.values[j] + w.values[i]))
	if !w.equal(i, j) {
		a = T(0.5 / (w.values[j] - w.values[i]))
	}
	return a, b
}

// scaleColumns divides column j of m by s_j. If s_j is 0, it sets the column to 0. It
// returns whether all such columns were 0 up to tol.
func (w *svdWork[T]) scaleColumns(m rev.General[T], tol T) bool {
	zero := true
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if w.vanishes(j) {
				zero = zero && abs(v) <= tol
				m.Row(i)[j] = 0
			} else {
				m.Row(i)[j] = v / w.s[j]
			}
		}
	}
	return zero
}

// setTangent sets du, ds and dv. It returns an error if a tangent that is needed does
// not exist: of singular values, or of vectors too.
func (w *svdWork[T]) setTangent(ta rev.General[T], values, vectors bool) error {
	m, n, r := w.u.Rows, w.v.Rows, len(w.s)
	w.du, w.dv, w.p = zeros(w.du, m, r), zeros(w.dv, n, r), zeros(w.p, r, r)
	w.ds = workspace.Zeros(w.ds, r)
	if ta.Data == nil {
		return nil
	}
	multiply(w.workers, w.du, 1, view(ta, false), view(w.v, false))
	multiply(w.workers, w.dv, 1, view(ta, true), view(w.u, false))
	multiply(w.workers, w.p, 1, view(w.u, true), view(w.du, false))
	tol, outside := w.tolerance(w.p), w.tolerance(w.du, w.dv)
	w.x, w.y = zeros(w.x, r, r), zeros(w.y, r, r)
	for i := range r {
		w.ds[i] = w.p.Row(i)[i]
		for j := range r {
			sum, diff := w.p.Row(i)[j]+w.p.Row(j)[i], w.p.Row(i)[j]-w.p.Row(j)[i]
			switch {
			case !values:
			case w.vanishes(i) && w.vanishes(j):
				if abs(w.p.Row(i)[j]) > outside {
					return w.vanishing()
				}
			case i < j && w.equal(i, j) && (abs(sum) > tol || vectors && abs(w.p.Row(i)[i]-w.p.Row(j)[j]) > tol):
				return w.degenerate(i, j)
			}
			a, b := w.poles(i, j)
			w.x.Row(i)[j] = T(a*sum) + T(b*diff)
			w.y.Row(i)[j] = T(a*sum) - T(b*diff)
		}
	}
	multiply(w.workers, w.du, -1, view(w.u, false), view(w.p, false))
	multiply(w.workers, w.dv, -1, view(w.v, false), view(w.p, true))
	inside := w.scaleColumns(w.du, outside)
	if inside = w.scaleColumns(w.dv, outside) && inside; values && !inside {
		return w.vanishing()
	}
	multiply(w.workers, w.du, 1, view(w.u, false), view(w.x, false))
	multiply(w.workers, w.dv, 1, view(w.v, false), view(w.y, false))
	return nil
}

// setGradient sets ku, kv, m, z, n and um.
func (w *svdWork[T]) setGradient(g *SVD[T]) error {
	m, n, r := w.u.Rows, w.v.Rows, len(w.s)
	w.ku, w.kv, w.m = zeros(w.ku, r, r), zeros(w.kv, r, r), zeros(w.m, r, r)
	w.z, w.n = zeros(w.z, m, r), zeros(w.n, n, r)
	w.um = zeros(w.um, m, r)
	if !svdHasResult(g) {
		return nil
	}
	if err := w.setOutside(w.z, w.ku, w.u, g.U); err != nil {
		return err
	}
	if err := w.setOutside(w.n, w.kv, w.v, g.V); err != nil {
		return err
	}
	if err := w.addPairs(w.m, w.ku, w.kv, g.S); err != nil {
		return err
	}
	copyMatrix(w.um, w.z)
	multiply(w.workers, w.um, 1, view(w.u, false), view(w.m, false))
	return nil
}

// setOutside sets k to Uᵀ·Ū and z to (Ū - U·k)·S⁻¹, or the same for V. Both are zero
// before.
func (w *svdWork[T]) setOutside(z, k, u, gu rev.General[T]) error {
	if gu.Data == nil {
		return nil
	}
	copyMatrix(z, gu)
	multiply(w.workers, k, 1, view(u, true), view(gu, false))
	multiply(w.workers, z, -1, view(u, false), view(k, false))
	if !w.scaleColumns(z, w.tolerance(gu)) {
		return w.vanishing()
	}
	return nil
}

// addPairs adds diag(s̄) + a∘(G + H) + b∘(G - H) to m, with G = ku - kuᵀ and
// H = kv - kvᵀ.
func (w *svdWork[T]) addPairs(m, ku, kv rev.General[T], sbar rev.Vector[T]) error {
	bar := func(i int) T { return vector.Element(sbar, i) }
	tol, stol := w.tolerance(ku, kv), T(0)
	for i := range m.Rows {
		stol = max(stol, w.rounding(abs(bar(i))))
	}
	for i := range m.Rows {
		m.Row(i)[i] += bar(i)
		for j := range m.Rows {
			u, v := ku.Row(i)[j]-ku.Row(j)[i], kv.Row(i)[j]-kv.Row(j)[i]
			switch {
			case w.vanishes(i) && w.vanishes(j):
				if abs(u) > tol || abs(v) > tol || abs(bar(i)) > stol {
					return w.vanishing()
				}
			case i < j && w.equal(i, j) && (abs(u+v) > tol || abs(bar(i)-bar(j)) > stol):
				return w.degenerate(i, j)
			}
			a, b := w.poles(i, j)
			m.Row(i)[j] += T(a*(u+v)) + T(b*(u-v))
		}
	}
	return nil
}

// addGradient adds (U·M + Z)·Vᵀ + U·Nᵀ to Ā.
func (w *svdWork[T]) addGradient(ga rev.General[T]) {
	multiply(w.workers, ga, 1, view(w.um, false), view(w.v, true))
	multiply(w.workers, ga, 1, view(w.u, false), view(w.n, true))
}

// setGradientTangent sets the tangents of what setGradient sets.
func (w *svdWork[T]) setGradientTangent(g, gt *SVD[T]) error {
	m, n, r := w.u.Rows, w.v.Rows, len(w.s)
	w.dku, w.dkv, w.dm = zeros(w.dku, r, r), zeros(w.dkv, r, r), zeros(w.dm, r, r)
	w.dz, w.dn = zeros(w.dz, m, r), zeros(w.dn, n, r)
	if err := w.setOutsideTangent(w.dz, w.dku, w.z, w.ku, w.u, w.du, g.U, gt.U); err != nil {
		return err
	}
	if err := w.setOutsideTangent(w.dn, w.dkv, w.n, w.kv, w.v, w.dv, g.V, gt.V); err != nil {
		return err
	}
	for i := range r {
		for j := range r {
			u, v := w.ku.Row(i)[j]-w.ku.Row(j)[i], w.kv.Row(i)[j]-w.kv.Row(j)[i]
			a, b := w.poles(i, j)
			a, b = 2*(w.ds[i]-w.ds[j])*a*a, -2*(w.ds[i]+w.ds[j])*b*b
			w.dm.Row(i)[j] = T(a*(u+v)) + T(b*(u-v))
		}
	}
	if err := w.addPairs(w.dm, w.dku, w.dkv, gt.S); err != nil {
		return err
	}
	w.dum = scratchCopy(w.dum, w.dz)
	multiply(w.workers, w.dum, 1, view(w.du, false), view(w.m, false))
	multiply(w.workers, w.dum, 1, view(w.u, false), view(w.dm, false))
	return nil
}

// setOutsideTangent sets dk to U̇ᵀ·Ū + Uᵀ·ġU and dz to (ġU - U̇·k - U·dk - z·Ṡ)·S⁻¹, or
// the same for V. Both are zero before.
func (w *svdWork[T]) setOutsideTangent(dz, dk, z, k, u, du, gu, dgu rev.General[T]) error {
	if gu.Data != nil {
		multiply(w.workers, dk, 1, view(du, true), view(gu, false))
	}
	if dgu.Data != nil {
		copyMatrix(dz, dgu)
		multiply(w.workers, dk, 1, view(u, true), view(dgu, false))
	}
	multiply(w.workers, dz, -1, view(du, false), view(k, false))
	tol := w.tolerance(dz, dk)
	multiply(w.workers, dz, -1, view(u, false), view(dk, false))
	for i := range dz.Rows {
		for j, v := range z.Row(i) {
			dz.Row(i)[j] -= T(v * w.ds[j])
		}
	}
	if !w.scaleColumns(dz, tol) {
		return w.vanishing()
	}
	return nil
}

// addGradientTangent adds to the tangent of Ā.
func (w *svdWork[T]) addGradientTangent(ga rev.General[T]) {
	multiply(w.workers, ga, 1, view(w.dum, false), view(w.v, true))
	multiply(w.workers, ga, 1, view(w.um, false), view(w.dv, true))
	multiply(w.workers, ga, 1, view(w.du, false), view(w.n, true))
	multiply(w.workers, ga, 1, view(w.u, false), view(w.dn, true))
}
