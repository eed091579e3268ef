package revlinalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Cholesky is the kernel
//
//	L += chol(A),  chol(A)·chol(A)ᵀ = A,
//
// where A is symmetric and positive definite, and chol(A) is lower triangular
// with a positive diagonal. Only the upper triangle of A is read, as gonum's
// SymDense stores no other, and only the lower triangle of L is written. What
// lies on the other side is not looked at, in cotangents and tangents neither.
// An element of A above the diagonal stands for its mirror image too, and so
// does its derivative: Ā_ij for i < j is twice what it would be in the gradient
// by a full matrix.
//
// # Derivatives
//
// In terms of U = chol(A)ᵀ, Φ(M) the upper triangle of M with its diagonal
// halved, and sym(M) = (M + Mᵀ)/2, the derivatives are
//
//	U̇ = Φ(K)·U,         K = U⁻ᵀ·Ȧ·U⁻¹,
//	Y = U⁻¹·H·U⁻ᵀ,      H = sym Φ(Ū·Uᵀ),
//	Ẏ = U⁻¹·E·U⁻ᵀ,      E = sym Φ(U̇̄·Uᵀ + Ū·U̇ᵀ) - Φ(K)·H - H·Φ(K)ᵀ,
//
// where Y is the gradient by a full matrix (Giles 2008, 4.8; Murray 2016,
// equations 8 to 10). Adjoint does not solve with these, but walks back through
// the blocks of Forward (Murray 2016, section 5): from
//
//	U₁₁ = chol(A₁₁),  U₁₂ = U₁₁⁻ᵀ·A₁₂,  S = A₂₂ - U₁₂ᵀ·U₁₂,  U₂₂ = chol(S)
//
// it takes Ū₂₂ to S̄ = Ā₂₂, then
//
//	Ū₁₂ -= U₁₂·(S̄ + S̄ᵀ),  Ā₁₂ = U₁₁⁻¹·Ū₁₂,  Ū₁₁ -= triu(U₁₂·Ā₁₂ᵀ),
//
// and Ū₁₁ to Ā₁₁: twice the operations of Forward, and no more.
//
// # Rounding
//
// The factor is that of a matrix within (n+1)·ε·|U|ᵀ·|U| of A (Higham 2002,
// theorem 10.3), computed to the same bits each time, so that Inverse and
// Adjoint restore L as package revlinalg says. The bits do not depend on the
// number of workers.
//
// If a pivot is not positive, all methods return a *NotPositiveDefinite and
// write nothing.
//
// There is no such kernel over fixed point: the derivatives are divided by
// pivots, and leave the range where these are small.
//
// Sources: Giles, Collected matrix derivative results for forward and reverse
// mode algorithmic differentiation (2008); Murray, Differentiation of the
// Cholesky decomposition, arXiv 1602.07527.
type Cholesky[T rev.Float] struct {
	L       rev.General[T] `rev:"acc"`
	A       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NotPositiveDefinite is the error of kernels that need a positive definite
// matrix and were given another.
type NotPositiveDefinite struct {
	Row   int     // the row, counted from 0, at which elimination ended
	Pivot float64 // what was on the diagonal there: the square of a diagonal element of the factor
}

func (e *NotPositiveDefinite) Error() string {
	return fmt.Sprintf("revlinalg: matrix not positive definite: pivot %d is %g", e.Row, e.Pivot)
}

// NewCholesky returns the kernel over gonum matrices, sharing their storage. It
// panics with mat.ErrTriangle if l is not lower triangular, and with
// mat.ErrShape if l and a differ in order.
func NewCholesky(l *mat.TriDense, a *mat.SymDense) Cholesky[float64] {
	k := Cholesky[float64]{L: viewTri(l, blas.Lower), A: viewSym(a)}
	k.checkShape()
	return k
}

// viewSym returns the storage of a, of which the upper triangle is used.
func viewSym(a *mat.SymDense) rev.General[float64] {
	r := a.RawSymmetric()
	return rev.General[float64]{Rows: r.N, Cols: r.N, Data: r.Data, Stride: r.Stride}
}

// viewTri returns the storage of a triangular matrix.
func viewTri(t *mat.TriDense, uplo blas.Uplo) rev.General[float64] {
	r := t.RawTriangular()
	if r.Uplo != uplo && r.N > 0 {
		panic(mat.ErrTriangle)
	}
	return rev.General[float64]{Rows: r.N, Cols: r.N, Data: r.Data, Stride: r.Stride}
}

func (k *Cholesky[T]) checkShape() {
	n := k.A.Rows
	if k.L.Data == nil {
		k.L.Rows, k.L.Cols = n, n // those of its cotangent
	}
	if k.A.Cols != n || k.L.Rows != n || k.L.Cols != n {
		panic(mat.ErrShape)
	}
}

func (k *Cholesky[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// Forward computes L += chol(A).
func (k Cholesky[T]) Forward() error { return k.accumulate(1) }

// Inverse computes L -= chol(A).
func (k Cholesky[T]) Inverse() error { return k.accumulate(-1) }

func (k Cholesky[T]) accumulate(sign T) error {
	k.check()
	w := workspace.Get[choleskyWork[T]]()
	defer workspace.Put(w)
	if err := w.factor(k.Workers, k.A); err != nil {
		return err
	}
	addLower(k.Workers, k.L, sign, w.u)
	return nil
}

// Adjoint computes L -= chol(A) and adds to Ā.
func (k Cholesky[T]) Adjoint(g Cholesky[T]) error {
	k.check()
	rev.CheckLike(&k, &g)
	w := workspace.Get[choleskyWork[T]]()
	defer workspace.Put(w)
	if err := w.factor(k.Workers, k.A); err != nil {
		return err
	}
	w.addGradient(k.Workers, g)
	addLower(k.Workers, k.L, -1, w.u)
	return nil
}

// Tangent computes L += chol(A) and adds to L̇.
func (k Cholesky[T]) Tangent(t Cholesky[T]) error {
	k.check()
	rev.CheckLike(&k, &t)
	w := workspace.Get[choleskyWork[T]]()
	defer workspace.Put(w)
	if err := w.factor(k.Workers, k.A); err != nil {
		return err
	}
	if t.L.Data != nil && t.A.Data != nil {
		w.tangent(k.Workers, t.A)
		addLower(k.Workers, t.L, 1, w.du)
	}
	addLower(k.Workers, k.L, 1, w.u)
	return nil
}

// AdjointTangent computes what Adjoint does, subtracts from L̇, and adds the
// tangents of the gradient to gt.
func (k Cholesky[T]) AdjointTangent(g, t, gt Cholesky[T]) error {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	w := workspace.Get[choleskyWork[T]]()
	defer workspace.Put(w)
	if err := w.factor(k.Workers, k.A); err != nil {
		return err
	}
	w.tangent(k.Workers, t.A)
	if t.A.Data != nil {
		addLower(k.Workers, t.L, -1, w.du)
	}
	if gt.A.Data != nil {
		w.gradientTangent(k.Workers, g.L, gt)
	}
	w.addGradient(k.Workers, g)
	addLower(k.Workers, k.L, -1, w.u)
	return nil
}

// choleskyWork holds U, its tangent, and scratch.
type choleskyWork[T rev.Float] struct {
	u, du            rev.General[T]
	phi, g, h, x1, e rev.General[T]
}

// factor sets u to the factor of a.
func (w *choleskyWork[T]) factor(workers int, a rev.General[T]) error {
	w.u = scratch(w.u, a.Rows, a.Rows)
	copyUpper(w.u, a)
	return factorUpper(workers, w.u, 0)
}

const choleskyBase = 16

// factorUpper overwrites the upper triangle of u, which is rows first and on of
// the whole, by its factor.
func factorUpper[T rev.Float](workers int, u rev.General[T], first int) error {
	n := u.Rows
	if n > choleskyBase {
		m := max(choleskyBase, n/2/choleskyBase*choleskyBase)
		u11, u12, u22 := block(u, 0, 0, m, m), block(u, 0, m, m, n-m), block(u, m, m, n-m, n-m)
		if err := factorUpper(workers, u11, first); err != nil {
			return err
		}
		solveTriangular(workers, view(u11, true), true, false, u12)
		updateUpper(workers, -1, u22, view(u12, true), view(u12, false))
		return factorUpper(workers, u22, first+m)
	}
	for i := range n {
		row := u.Row(i)[i:]
		if i > 0 {
			above := u.Data[i:]
			simd.Gemm(1, n-i, i, -1, above, 1, u.Stride, above, u.Stride, 1, row, n-i)
		}
		if row[0] <= 0 {
			return &NotPositiveDefinite{first + i, float64(row[0])}
		}
		row[0] = sqrt(row[0])
		divideRow(row[1:], row[0])
	}
	return nil
}

// addGradient adds to Ā.
func (w *choleskyWork[T]) addGradient(workers int, g Cholesky[T]) {
	if g.L.Data == nil || g.A.Data == nil {
		return
	}
	w.g = scratch(w.g, w.u.Rows, w.u.Rows)
	copyTransposed(w.g, g.L)
	choleskyAdjoint(workers, w.u, w.g)
	addUpper(g.A, 1, w.g)
}

// choleskyAdjoint overwrites Ū in the upper triangle of g by Ā. The other
// triangle of g is scratch.
func choleskyAdjoint[T rev.Float](workers int, u, g rev.General[T]) {
	n := u.Rows
	if n > choleskyBase {
		m := max(choleskyBase, n/2/choleskyBase*choleskyBase)
		u11, u12 := block(u, 0, 0, m, m), block(u, 0, m, m, n-m)
		g11, g12, g22 := block(g, 0, 0, m, m), block(g, 0, m, m, n-m), block(g, m, m, n-m, n-m)
		choleskyAdjoint(workers, block(u, m, m, n-m, n-m), g22)
		mirror(g22)
		multiply(workers, g12, -1, view(u12, false), view(g22, false))
		for i := range m {
			for j, v := range u12.Row(i) {
				g12.Row(i)[j] -= T(v * g22.Data[j*(g22.Stride+1)]) // the diagonal counts twice in S̄ + S̄ᵀ
			}
		}
		solveTriangular(workers, view(u11, false), false, false, g12)
		updateUpper(workers, -1, g11, view(u12, false), view(g12, true))
		choleskyAdjoint(workers, u11, g11)
		return
	}
	// The loops of factorUpper, backward: of s_j = a_ij - Σ_{k<i} u_ki·u_kj, then
	// u_ii = √s_i and u_ij = s_j/u_ii.
	for i := n - 1; i >= 0; i-- {
		ui, gi := u.Row(i), g.Row(i)
		d := gi[i]
		for j := i + 1; j < n; j++ {
			gi[j] /= ui[i]
			d -= T(gi[j] * ui[j])
		}
		gi[i] = d / (2 * ui[i])
		for k := range i {
			uk, gk := u.Row(k), g.Row(k)
			s := T(0)
			for j := i; j < n; j++ {
				s += T(gi[j] * uk[j])
				gk[j] -= T(gi[j] * uk[i])
			}
			gk[i] -= s
		}
	}
}

// tangent sets phi to Φ(K) and du to U̇, and clears the lower triangle of u.
func (w *choleskyWork[T]) tangent(workers int, ta rev.General[T]) {
	n := w.u.Rows
	clearLower(w.u)
	w.phi, w.du = zeros(w.phi, n, n), zeros(w.du, n, n)
	if ta.Data == nil {
		return
	}
	w.x1 = scratch(w.x1, n, n)
	copyUpper(w.x1, ta)
	mirror(w.x1)
	w.sandwich(workers, view(w.u, true), true, w.x1, w.phi)
	takePhi(w.phi)
	multiply(workers, w.du, 1, view(w.phi, false), view(w.u, false))
}

// sandwich sets dst to T⁻¹·X·T⁻ᵀ for a symmetric X, which it overwrites.
func (w *choleskyWork[T]) sandwich(workers int, t strided[T], lower bool, x, dst rev.General[T]) {
	solveTriangular(workers, t, lower, false, x)
	copyTransposed(dst, x)
	solveTriangular(workers, t, lower, false, dst)
}

// takePhi sets m to Φ(m).
func takePhi[T rev.Float](m rev.General[T]) {
	clearLower(m)
	for i := range m.Rows {
		m.Row(i)[i] /= 2
	}
}

// takeSym sets m, an upper triangle, to sym(m).
func takeSym[T rev.Float](m rev.General[T]) {
	for i := range m.Rows {
		row := m.Row(i)[i+1:]
		simd.ScaleTo(row, 0.5, row)
	}
	mirror(m)
}

// gradientTangent adds Ẏ to the tangent of Ā.
func (w *choleskyWork[T]) gradientTangent(workers int, gl rev.General[T], gt Cholesky[T]) {
	n := w.u.Rows
	w.h, w.e = zeros(w.h, n, n), zeros(w.e, n, n)
	w.g = scratch(w.g, n, n)
	if gl.Data != nil {
		copyTransposed(w.g, gl)
		clearLower(w.g)
		multiply(workers, w.h, 1, view(w.g, false), view(w.u, true))
		multiply(workers, w.e, 1, view(w.g, false), view(w.du, true))
		takePhi(w.h)
		takeSym(w.h)
	}
	if gt.L.Data != nil {
		copyTransposed(w.g, gt.L)
		clearLower(w.g)
		multiply(workers, w.e, 1, view(w.g, false), view(w.u, true))
	}
	takePhi(w.e)
	takeSym(w.e)
	multiply(workers, w.e, -1, view(w.phi, false), view(w.h, false))
	multiply(workers, w.e, -1, view(w.h, false), view(w.phi, true))
	w.sandwich(workers, view(w.u, false), false, w.e, w.h)
	for i := range n {
		from, to := w.h.Row(i)[i:], gt.A.Row(i)[i:]
		to[0] += from[0]
		simd.Axpy(2, from[1:], to[1:])
	}
}
