package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Cholesky is the kernel
//
//	L += chol(A),  chol(A)·chol(A)ᵀ = A,
//
// where A is symmetric and positive definite, and chol(A) is lower triangular with a
// positive diagonal. Only the upper triangle of A is read, as gonum's SymDense stores
// no other. Only the lower triangle of L is written. The other sides are ignored, also
// in cotangents and tangents. An element of A above the diagonal also stands for its
// mirror image. Ā_ij for i < j is therefore twice the gradient by a full matrix.
//
// # Derivatives
//
// With U = chol(A)ᵀ, Φ(M) the upper triangle of M with its diagonal halved, and sym(M)
// = (M + Mᵀ)/2, the derivatives are
//
//	U̇ = Φ(K)·U,         K = U⁻ᵀ·Ȧ·U⁻¹,
//	Y = U⁻¹·H·U⁻ᵀ,      H = sym Φ(Ū·Uᵀ),
//	Ẏ = U⁻¹·E·U⁻ᵀ,      E = sym Φ(ġU·Uᵀ + Ū·U̇ᵀ) - Φ(K)·H - H·Φ(K)ᵀ,
//
// where Y is the gradient by a full matrix (Giles 2008, 4.8; Murray 2016, equations 8
// to 10). Adjoint does not solve with these. It goes backward through the blocks of
// Forward (Murray 2016, section 5). From
//
//	U₁₁ = chol(A₁₁),  U₁₂ = U₁₁⁻ᵀ·A₁₂,  S = A₂₂ - U₁₂ᵀ·U₁₂,  U₂₂ = chol(S)
//
// it takes Ū₂₂ to S̄ = Ā₂₂, then
//
//	Ū₁₂ -= U₁₂·(S̄ + S̄ᵀ),  Ā₁₂ = U₁₁⁻¹·Ū₁₂,  Ū₁₁ -= triu(U₁₂·Ā₁₂ᵀ),
//
// and Ū₁₁ to Ā₁₁. This takes twice the operations of Forward.
//
// # Rounding
//
// The factor is that of a matrix within (n+1)·ε·|U|ᵀ·|U| of A (Higham 2002,
// theorem 10.3), computed to the same bits each time, so that Inverse and
// Adjoint restore L as package revlinalg says. The bits do not depend on the
// number of workers.
//
// If a pivot is zero or negative, all methods return a
// *rev.NotPositiveDefiniteError and write nothing. NaN is passed on.
//
// There is no kernel over fixed point: the derivatives are divided by pivots, and leave
// the range if these are small.
//
// Sources: Giles, Collected matrix derivative results for forward and reverse
// mode algorithmic differentiation (2008); Murray, Differentiation of the
// Cholesky decomposition, arXiv 1602.07527.
type Cholesky[T rev.Float] struct {
	L       rev.General[T] `rev:"acc" shape:"n,n"`
	A       rev.General[T] `rev:"in" shape:"n,n"`
	Workers int            // 0 means GOMAXPROCS
}

// NewCholesky returns the kernel that adds to l, over gonum matrices, sharing their
// storage. It panics with mat.ErrTriangle if l is not lower triangular.
func NewCholesky(l *mat.TriDense, a *mat.SymDense) Cholesky[float64] {
	return Cholesky[float64]{L: rev.ViewTri(l, mat.Lower), A: rev.ViewSym(a)}
}

// choleskyRun is Run of Cholesky.
func choleskyRun[T rev.Float](k *Cholesky[T], p *rev.Pass[Cholesky[T]]) error {
	w := workspace.Get[*choleskyWork[T]]()
	defer workspace.Put(w)
	if err := w.factor(k.Workers, k.A); err != nil {
		return err
	}
	sign := T(p.Sign())
	if p.T.A.Data != nil && p.T.L.Data != nil || p.GT.A.Data != nil {
		w.tangent(k.Workers, p.T.A)
		if p.T.A.Data != nil {
			addLower(k.Workers, p.T.L, sign, w.du)
		}
	}
	if p.GT.A.Data != nil {
		w.gradientTangent(k.Workers, p.G.L, p.GT)
	}
	w.addGradient(k.Workers, p.G)
	addLower(k.Workers, k.L, sign, w.u)
	return nil
}

// Up to order choleskyAlone one worker computes a factor and its adjoint. More workers
// would mostly wait.
const choleskyAlone = 256

// choleskyWork holds U, its tangent, and scratch.
type choleskyWork[T rev.Float] struct {
	u, du            rev.General[T]
	phi, g, h, x1, e rev.General[T]

	factors choleskyFactor[T]
	back    choleskyBack[T]
}

// factor sets u to the factor of a.
func (w *choleskyWork[T]) factor(workers int, a rev.General[T]) error {
	n := a.Rows
	w.u = scratch(w.u, n, n)
	f := &w.factors
	f.begin(n)
	f.a, f.u, f.err = a, w.u, nil
	if n > 0 {
		f.load(0)
		f.factor(0)
		parallel.Run(workersAbove(choleskyAlone, n, workers), len(f.done)*(len(f.done)-1)/2, f)
	}
	f.a, f.u = rev.General[T]{}, rev.General[T]{}
	return f.err
}

// A choleskyFactor is the factorisation U in progress. It solves for row k of the
// blocks and subtracts it from the blocks below,
//
//	U_kj = U_kk⁻ᵀ·A_kj,  A_ij -= U_kiᵀ·U_kj for k < i <= j,
//
// by columns j. Each worker has one column at a time. The worker that has column k+1
// then factors its last block. For column j, done is 2k+1 when U_kj is known and 2k+2
// when it has been subtracted.
type choleskyFactor[T rev.Float] struct {
	tiledMatrix[T]
	a, u rev.General[T]
	err  error
}

// Block does a column of a row of blocks.
func (f *choleskyFactor[T]) Block(_, _ int) {
	k, j := f.nextPair()
	f.steps.Do(func() bool { return f.column(k, j) })
}

func (f *choleskyFactor[T]) column(k, j int) bool {
	if !f.steps.Await(&f.done[k], 2*k+1) || !f.steps.Await(&f.done[j], 2*k) {
		return false
	}
	if k == 0 {
		f.load(j)
	}
	u := f.tile(k, j)
	solveBlock(triangle[T]{view(f.tile(k, k), true), true, false}, u)
	f.done[j].Store(int64(2*k + 1))
	for i := k + 1; i <= j; i++ {
		if !f.steps.Await(&f.done[i], 2*k+1) {
			return false
		}
		gemm(-1, view(f.tile(k, i), true), u, f.tile(i, j))
	}
	f.done[j].Store(int64(2*k + 2))
	return j > k+1 || f.factor(j)
}

// load copies the upper triangle of column j from A.
func (f *choleskyFactor[T]) load(j int) {
	to, lo := f.tile(j, j), j*tileCols
	copyMatrix(f.tiles(0, j, j), block(f.a, 0, lo, lo, to.Cols))
	copyUpper(to, block(f.a, lo, lo, to.Rows, to.Cols))
}

// factor factors block k, k, and copies column k to U.
func (f *choleskyFactor[T]) factor(k int) bool {
	if f.err = factorUpper(f.tile(k, k), k*tileCols); f.err != nil {
		f.steps.Stop()
		return false
	}
	f.done[k].Store(int64(2*k + 1))
	column := f.tiles(0, k+1, k)
	copyMatrix(block(f.u, 0, k*tileCols, column.Rows, column.Cols), column)
	return true
}

// choleskyLeaf is the number of rows of a block that are factored row by row.
const choleskyLeaf = 8

// factorUpper overwrites the upper triangle of u by its factor. Row 0 of u is row first
// of the whole matrix.
func factorUpper[T rev.Float](u rev.General[T], first int) error {
	n := u.Rows
	for lo := 0; lo < n; lo += choleskyLeaf {
		hi := min(lo+choleskyLeaf, n)
		rows := block(u, lo, lo, hi-lo, n-lo)
		gemm(-1, view(block(u, 0, lo, lo, hi-lo), true), block(u, 0, lo, lo, n-lo), rows)
		for i := range rows.Rows {
			row := rows.Row(i)[:rows.Rows]
			if row[i] <= 0 {
				return &rev.NotPositiveDefiniteError{Row: first + lo + i, Value: float64(row[i])}
			}
			row[i] = sqrt(row[i])
			divideRow(row[i+1:], row[i])
			for l := i + 1; l < rows.Rows; l++ {
				below := rows.Row(l)
				for j := l; j < len(row); j++ {
					below[j] -= T(row[l] * row[j])
				}
			}
		}
		right := block(rows, 0, rows.Rows, rows.Rows, n-hi)
		solveBlock(triangle[T]{view(block(rows, 0, 0, rows.Rows, rows.Rows), true), true, false}, right)
	}
	return nil
}

// addGradient adds to Ā.
func (w *choleskyWork[T]) addGradient(workers int, g Cholesky[T]) {
	if g.L.Data == nil || g.A.Data == nil {
		return
	}
	b := &w.back
	b.begin(w.u.Rows)
	b.u, b.gl, b.ga = w.u, g.L, g.A
	parallel.Run(workersAbove(choleskyAlone, b.n, workers), len(b.done)*(len(b.done)+1)/2, b)
	b.u, b.gl, b.ga = rev.General[T]{}, rev.General[T]{}, rev.General[T]{}
}

// A choleskyBack is the adjoint of the factorisation in progress: the symmetric
// matrix M = Ā + Āᵀ, by rows of blocks from the last one up,
//
//	Ū_kj -= Σ_{i>k} U_ki·M_ij for j >= k,  M_kj = U_kk⁻¹·Ū_kj for j > k,
//
// and M_kk by the loops of factorUpper, backward. Each block is added to Ā. M_jk is stored for j >
// k too. So each block is one product of matrices. For column j, done counts the blocks M_jj,
// M_j-1,j and so on.
type choleskyBack[T rev.Float] struct {
	tiledMatrix[T]
	u, gl, ga rev.General[T]
}

// Block computes a block of M. The order in row k is: from the last column on, the
// blocks that depend on no block of row k+1 but the one below them, and then M_k,k+1
// and M_kk.
func (b *choleskyBack[T]) Block(_, _ int) {
	k, q := len(b.done)-1, b.steps.Take()
	for q > len(b.done)-1-k {
		q -= len(b.done) - k
		k--
	}
	j := len(b.done) - 1 - q
	b.steps.Do(func() bool { return b.tileOf(k, j) })
}

func (b *choleskyBack[T]) tileOf(k, j int) bool {
	if j > k {
		if !b.steps.Await(&b.done[j], j-k) {
			return false
		}
	} else {
		for i := k + 1; i < len(b.done); i++ {
			if !b.steps.Await(&b.done[i], i-k+1) {
				return false
			}
		}
	}
	const p = tileCols
	m := b.tile(k, j)
	copyTransposed(m, block(b.gl, j*p, k*p, m.Cols, m.Rows))
	if right := b.n - (k+1)*p; right > 0 {
		gemm(-1, view(block(b.u, k*p, (k+1)*p, p, right), false), b.tiles(k+1, len(b.done), j), m)
	}
	diagonal, ga := block(b.u, k*p, k*p, m.Rows, m.Rows), block(b.ga, k*p, j*p, m.Rows, m.Cols)
	if j > k {
		solveBlock(triangle[T]{view(diagonal, false), false, false}, m)
		addMatrix(ga, 1, m)
		copyTransposed(b.tile(j, k), m)
	} else {
		choleskyAdjoint(diagonal, m)
		addUpper(ga, 1, m)
		mirror(m)
		for i := range m.Rows {
			m.Row(i)[i] *= 2
		}
	}
	b.done[j].Store(int64(j - k + 1))
	return true
}

// choleskyAdjoint overwrites Ū in the upper triangle of the block g by Ā. The other
// triangle of g is scratch.
func choleskyAdjoint[T rev.Float](u, g rev.General[T]) {
	const m = 16
	n := u.Rows
	if n > m {
		u11, u12 := block(u, 0, 0, m, m), block(u, 0, m, m, n-m)
		g11, g12, g22 := block(g, 0, 0, m, m), block(g, 0, m, m, n-m), block(g, m, m, n-m, n-m)
		choleskyAdjoint(block(u, m, m, n-m, n-m), g22)
		mirror(g22)
		gemm(-1, view(u12, false), g22, g12)
		for i := range m {
			gi := g12.Row(i)
			for j, v := range u12.Row(i) {
				gi[j] -= T(v * g22.Data[j*(g22.Stride+1)]) // the diagonal counts twice in S̄ + S̄ᵀ
			}
		}
		solveBlock(triangle[T]{view(u11, false), false, false}, g12)
		dense.Gemm(m, m, n-m, -1, u12.Data, u12.Stride, 1, g12.Data, 1, g12.Stride, g11.Data, g11.Stride)
		choleskyAdjoint(u11, g11)
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
		from := gi[i:]
		for k := range i {
			uk, gk := u.Row(k)[i:], g.Row(k)[i:]
			uk, gk = uk[:len(from)], gk[:len(from)]
			s, v := T(0), uk[0]
			for j, x := range from {
				s += T(x * uk[j])
				gk[j] -= T(x * v)
			}
			gk[0] -= s
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
	setPhi(w.phi)
	multiply(workers, w.du, 1, view(w.phi, false), view(w.u, false))
}

// sandwich sets dst to T⁻¹·X·T⁻ᵀ for a symmetric X, which it overwrites.
func (w *choleskyWork[T]) sandwich(workers int, t strided[T], lower bool, x, dst rev.General[T]) {
	solveTriangular(workers, t, lower, false, x)
	copyTransposed(dst, x)
	solveTriangular(workers, t, lower, false, dst)
}

// setPhi sets m to Φ(m).
func setPhi[T rev.Float](m rev.General[T]) {
	clearLower(m)
	for i := range m.Rows {
		m.Row(i)[i] /= 2
	}
}

// takeSym sets m, an upper triangle, to sym(m).
func takeSym[T rev.Float](m rev.General[T]) {
	for i := range m.Rows {
		row := m.Row(i)[i+1:]
		vec.ScaleTo(row, 0.5, row)
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
		setPhi(w.h)
		takeSym(w.h)
	}
	if gt.L.Data != nil {
		copyTransposed(w.g, gt.L)
		clearLower(w.g)
		multiply(workers, w.e, 1, view(w.g, false), view(w.u, true))
	}
	setPhi(w.e)
	takeSym(w.e)
	multiply(workers, w.e, -1, view(w.phi, false), view(w.h, false))
	multiply(workers, w.e, -1, view(w.h, false), view(w.phi, true))
	w.sandwich(workers, view(w.u, false), false, w.e, w.h)
	for i := range n {
		from, to := w.h.Row(i)[i:], gt.A.Row(i)[i:]
		to[0] += from[0]
		vec.Axpy(2, from[1:], to[1:])
	}
}
