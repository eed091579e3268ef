package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// LeastSquares is the kernel
//
//	X += argmin_Y ‖A·Y - B‖,
//
// in the Frobenius norm, so each column of X belongs to one of B. A is m×n with m >= n and of full
// rank. With B the identity, X is the pseudo-inverse of A.
//
// # Derivatives
//
// Y and the residuals R = B - A·Y are the solution S(B, 0) of
//
//	R + A·Y = P,  Aᵀ·R = Q,
//
// for P = B and Q = 0. All derivatives are solutions of the same equations, as those of the pseudo-inverse
// are (Golub and Pereyra 1973):
//
//	(V, -Z) = S(0, X̄),  B̄ += V,  Ā += R·Zᵀ - V·Yᵀ,
//	(Ṙ, Ẏ) = S(Ḃ - Ȧ·Y, -Ȧᵀ·R),  Ẋ += Ẏ,
//
// and, of second order,
//
//	(V̇, -Ż) = S(Ȧ·Z, ġX - Ȧᵀ·V),  ġB += V̇,  ġA += Ṙ·Zᵀ + R·Żᵀ - V̇·Yᵀ - V·Ẏᵀ.
//
// # Method and rounding
//
// Each method factors A once, as [QR] does: A = Q·R. Then S(P, Q) takes C = Qᵀ·P - R⁻ᵀ·Q, Y = R⁻¹·C and P -
// Q·C. Each column of X is the solution of a problem whose A and B are within a small multiple of m·n·ε of
// those given, in norm (Higham 2002, theorem 20.3). The bits do not depend on the number of workers.
//
// If A does not have full rank to working precision, in the sense of [QR], all methods return a
// *rev.SingularError and write nothing.
//
// There is no kernel over fixed point: solutions are quotients by the diagonal of R, and leave the range if
// it is small.
//
// Sources: G. H. Golub and V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares
// problems whose variables separate, SIAM J. Numer. Anal. 10 (1973); Å. Björck, Numerical methods for least
// squares problems, 1996, for the equations in R and Y.
type LeastSquares[T rev.Float] struct {
	X       rev.General[T] `rev:"acc" shape:"n,k"`
	A       rev.General[T] `rev:"in" shape:"m,n"`
	B       rev.General[T] `rev:"in" shape:"m,k"`
	Workers int            // 0 means GOMAXPROCS
}

// NewLeastSquaresVec is NewLeastSquares for vectors as matrices of one column.
func NewLeastSquaresVec(x *mat.VecDense, a *mat.Dense, b *mat.VecDense) LeastSquares[float64] {
	return LeastSquares[float64]{X: asColumn(rev.ViewVec(x)), A: rev.ViewDense(a), B: asColumn(rev.ViewVec(b))}
}

// leastSquaresRun is Run of LeastSquares. It panics with mat.ErrShape if A has more columns than rows.
func leastSquaresRun[T rev.Float](k *LeastSquares[T], p *rev.Pass[LeastSquares[T]]) error {
	checkTall[LeastSquares[T]](k.A)
	w := workspace.Get[*leastSquares[T]]()
	defer workspace.Put(w)
	if err := w.decompose(k.Workers, k.A, (*qrWork[T]).householder); err != nil {
		return err
	}
	sign, g, t, gt := T(p.Sign()), &p.G, &p.T, &p.GT
	n, cols := k.A.Cols, k.B.Cols
	gradient, tangent := g.X.Data != nil, t.A.Data != nil || t.B.Data != nil
	second := gt.A.Data != nil || gt.B.Data != nil
	if k.X.Data != nil || tangent || g.A.Data != nil || gt.A.Data != nil {
		w.solution(&w.primal, k.B, rev.General[T]{}, cols)
		addMatrix(k.X, sign, w.primal.y)
	}
	if tangent {
		w.upper, w.lower = copyOrZeros(w.upper, t.B, k.A.Rows, cols), zeros(w.lower, n, cols)
		w.subtract(w.upper, t.A, false, w.primal.y)
		w.subtract(w.lower, t.A, true, w.primal.r)
		w.solution(&w.tangent, w.upper, w.lower, cols)
		addMatrix(t.X, sign, w.tangent.y)
	}
	if gradient {
		w.solution(&w.dual, rev.General[T]{}, g.X, cols)
		addMatrix(g.B, 1, w.dual.r)
		w.subtractOuter(g.A, &w.primal, &w.dual)
		if tangent {
			w.subtractOuter(gt.A, &w.tangent, &w.dual)
		}
	}
	if second {
		w.upper, w.lower = zeros(w.upper, k.A.Rows, cols), copyOrZeros(w.lower, gt.X, n, cols)
		if gradient {
			w.subtract(w.upper, t.A, false, w.dual.y)
			w.subtract(w.lower, t.A, true, w.dual.r)
		}
		w.solution(&w.dualTangent, w.upper, w.lower, cols)
		addMatrix(gt.B, 1, w.dualTangent.r)
		w.subtractOuter(gt.A, &w.primal, &w.dualTangent)
	}
	return nil
}

// A residualPair is a solution S(P, Q).
type residualPair[T rev.Float] struct{ r, y rev.General[T] }

// leastSquares has the factors of A, and the solutions of a pass: (R, Y), (Ṙ, Ẏ), (V, -Z) and (V̇, -Ż).
type leastSquares[T rev.Float] struct {
	qrWork[T]
	primal, tangent, dual, dualTangent residualPair[T]

	upper, lower rev.General[T] // P and Q
	solved       rev.General[T] // R⁻ᵀ·Q
}

// solution stores S(P, Q) of some columns. P or Q may be nil, for zeros.
func (w *leastSquares[T]) solution(s *residualPair[T], p, q rev.General[T], cols int) {
	m, n := w.q.Rows, w.q.Cols
	s.y = zeros(s.y, n, cols)
	multiply(w.workers, s.y, 1, view(w.q, true), view(p, false))
	if q.Data != nil {
		w.solved = scratchCopy(w.solved, q)
		solveTriangular(w.workers, view(w.r, true), true, false, w.solved)
		addMatrix(s.y, -1, w.solved)
	}
	s.r = copyOrZeros(s.r, p, m, cols)
	multiply(w.workers, s.r, -1, view(w.q, false), view(s.y, false))
	solveTriangular(w.workers, view(w.r, false), false, false, s.y)
}

// subtract computes dst -= Ȧ·X or dst -= Ȧᵀ·X.
func (w *leastSquares[T]) subtract(dst, ta rev.General[T], trans bool, x rev.General[T]) {
	multiply(w.workers, dst, -1, view(ta, trans), view(x, false))
}

// subtractOuter computes Ā += R·Zᵀ - V·Yᵀ, where b is (V, -Z).
func (w *leastSquares[T]) subtractOuter(ga rev.General[T], a, b *residualPair[T]) {
	multiply(w.workers, ga, -1, view(a.r, false), view(b.y, true))
	multiply(w.workers, ga, -1, view(b.r, false), view(a.y, true))
}
