package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/dense"
	"revnum/internal/workspace"
	"revnum/rev"
)

// GramSchmidt is the kernel
//
//	Q += Q(A),  R += R(A),  Q(A)·R(A) = A,
//
// which is that of QR but for the signs: the diagonal of R is positive. The
// derivatives are the same expressions in Q and R.
//
// A column is made orthogonal to those before by subtracting its projections,
// all at once, twice: the second pass removes what the rounding of the first
// has left, so that Q is orthonormal to a small multiple of m·n·ε for every A
// of full rank to working precision (Giraud, Langou and Rozložník 2005). Columns
// are taken one after the other, which is some ten times slower than QR for
// large matrices, and not shared among workers. Derivatives are.
//
// If A has not full rank, all methods return mat.Condition(κ), with the κ of QR,
// and write nothing. A pivot that is smaller than m·ε times its column is one of
// rounding errors; the condition is then what was found up to there. There is no
// such kernel over fixed point, for the reason that QR names.
//
// The classical process is the one of Liu and Zhao, arXiv 2003.04617. Source of
// the second pass: Giraud et al., Rounding error analysis of the classical
// Gram-Schmidt orthogonalization process, Numer. Math. 101 (2005).
type GramSchmidt[T rev.Float] struct {
	Q       rev.General[T] `rev:"acc"`
	R       rev.General[T] `rev:"acc"`
	A       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NewGramSchmidt returns the kernel over gonum matrices, sharing their storage.
// It panics with mat.ErrShape if they do not fit together.
func NewGramSchmidt(q, r, a *mat.Dense) GramSchmidt[float64] {
	k := GramSchmidt[float64]{Q: rev.ViewDense(q), R: rev.ViewDense(r), A: rev.ViewDense(a)}
	o := k.operands()
	o.checkShape()
	return k
}

func (k GramSchmidt[T]) operands() qrOperands[T] { return qrOperands[T]{k.Q, k.R, k.A} }

// check checks the operands, and returns them.
func (k *GramSchmidt[T]) check(g ...*GramSchmidt[T]) qrOperands[T] {
	rev.Check(k)
	o := k.operands()
	o.checkShape()
	k.Q, k.R = o.q, o.r
	rev.CheckLike(k, g...)
	return o
}

// Forward computes Q += Q(A) and R += R(A).
func (k GramSchmidt[T]) Forward() error { return k.accumulate(1) }

// Inverse computes Q -= Q(A) and R -= R(A).
func (k GramSchmidt[T]) Inverse() error { return k.accumulate(-1) }

func (k GramSchmidt[T]) accumulate(sign T) error {
	o := k.check()
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.gramSchmidt(k.Workers, k.A); err != nil {
		return err
	}
	w.add(o, sign)
	return nil
}

// Adjoint computes Q -= Q(A), R -= R(A), and adds to Ā.
func (k GramSchmidt[T]) Adjoint(g GramSchmidt[T]) error {
	o := k.check(&g)
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.gramSchmidt(k.Workers, k.A); err != nil {
		return err
	}
	w.adjoint(o, g.operands())
	return nil
}

// Tangent computes Q += Q(A), R += R(A), and adds to Q̇ and Ṙ.
func (k GramSchmidt[T]) Tangent(t GramSchmidt[T]) error {
	o := k.check(&t)
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.gramSchmidt(k.Workers, k.A); err != nil {
		return err
	}
	w.tangent(o, t.operands())
	return nil
}

// AdjointTangent computes what Adjoint does, subtracts from Q̇ and Ṙ, and adds
// the tangents of the gradient to gt.
func (k GramSchmidt[T]) AdjointTangent(g, t, gt GramSchmidt[T]) error {
	o := k.check(&g, &t, &gt)
	w := workspace.Get[qrWork[T]]()
	defer workspace.Put(w)
	if err := w.gramSchmidt(k.Workers, k.A); err != nil {
		return err
	}
	w.adjointTangent(o, g.operands(), t.operands(), gt.operands())
	return nil
}

// gramSchmidt computes Q and R.
func (w *qrWork[T]) gramSchmidt(workers int, a rev.General[T]) error {
	w.workers = workers
	w.orthogonalise(a)
	if w.rescale(a) {
		w.orthogonalise(w.x)
	}
	return w.finish()
}

// orthogonalise is gramSchmidt for columns that are far from overflow and underflow.
func (w *qrWork[T]) orthogonalise(a rev.General[T]) {
	m, n := a.Rows, a.Cols
	w.q, w.r = scratch(w.q, m, n), zeros(w.r, n, n)
	w.qt, w.coeffs = scratch(w.qt, n, m), scratch(w.coeffs, 1, n)
	copyTransposed(w.qt, a)
	for j := range n {
		x := w.qt.Row(j)
		before := block(w.qt, 0, 0, j, m)
		c := w.coeffs.Row(0)[:j]
		for range 2 {
			clear(c)
			if j > 0 {
				dense.Gemm(j, 1, m, 1, before.Data, before.Stride, 1, x, 1, 1, c, 1)
				dense.Gemm(1, m, j, -1, c, 0, 1, before.Data, before.Stride, 1, x, m)
			}
			for i, v := range c {
				w.r.Row(i)[j] += v
			}
		}
		norm := norm2Of(x)
		w.r.Row(j)[j] = norm
		divideRow(x, norm)
	}
	copyTransposed(w.q, w.qt)
}
