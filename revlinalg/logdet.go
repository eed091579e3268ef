package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// LogDet is the kernel
//
//	Out += log |det A|,  Sign += sign(det A)
//
// of a square matrix, with the derivatives
//
//	Ā += Ōut·A⁻ᵀ,  Ȯut += tr(A⁻¹·Ȧ),  Ǡ += Ȯ·A⁻ᵀ - Ōut·A⁻ᵀ·Ȧᵀ·A⁻ᵀ
//
// where Ȯ is the tangent of Ōut (Giles 2008, 2.2.4). The two outputs are what
// LogDet of gonum's mat and slogdet of NumPy return. The sign is 1 or -1, and
// has no derivative; without the operand Sign it is not computed, and then
// nothing says that det A may be negative. Determinants that a float cannot
// hold have a logarithm all the same. That of no rows is 1.
//
// The logarithm is the sum of those of the pivots u_ii, and is off by as much as
// rounding A by about 3n·ε·|L|·|U| would change it (Higham 2002, theorem 9.3), and
// by n·2⁻⁵²·Σ |log |u_ii|| and a rounding of the result.
// If A is singular to working precision, when Solve fails, all methods return
// mat.Condition and write nothing, as -Inf could not be taken out of Out. The
// bits do not depend on the number of workers. There is no such kernel over fixed
// point: the gradient is an inverse, which leaves the range where pivots are small.
type LogDet[T rev.Float] struct {
	Out     *T             `rev:"acc"`
	Sign    *T             `rev:"acc"`
	A       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NewLogDet returns the kernel over a gonum matrix, sharing its storage. Sign
// may be nil. It panics with mat.ErrSquare if a is not square.
func NewLogDet(out, sign *float64, a *mat.Dense) LogDet[float64] {
	k := LogDet[float64]{Out: out, Sign: sign, A: rev.ViewDense(a)}
	k.checkShape()
	return k
}

func (k *LogDet[T]) checkShape() {
	if k.A.Cols != k.A.Rows {
		panic(mat.ErrSquare)
	}
}

func (k *LogDet[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// factor factors A.
func (k *LogDet[T]) factor(w *invWork[T]) error {
	return w.factorRegular(k.Workers, k.A)
}

// Forward computes Out += log |det A| and Sign += sign(det A).
func (k LogDet[T]) Forward() error { return k.accumulate(1) }

// Inverse computes Out -= log |det A| and Sign -= sign(det A).
func (k LogDet[T]) Inverse() error { return k.accumulate(-1) }

func (k LogDet[T]) accumulate(alpha T) error {
	k.check()
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.factor(w); err != nil {
		return err
	}
	k.add(alpha, w)
	return nil
}

// add adds alpha times the result.
func (k *LogDet[T]) add(alpha T, w *invWork[T]) {
	sum, sign := 0.0, T(1)
	for i, p := range w.pivots {
		u := float64(w.diag[i])
		sum += math.Log(math.Abs(u))
		if (p != i) != (u < 0) {
			sign = -sign
		}
	}
	for _, shift := range w.shifts {
		sum -= float64(shift) * math.Ln2
	}
	if k.Out != nil {
		*k.Out += T(alpha * T(sum))
	}
	if k.Sign != nil {
		if sum != sum {
			sign = T(sum)
		}
		*k.Sign += T(alpha * sign)
	}
}

// Adjoint computes Out -= log |det A|, Sign -= sign(det A), and adds to Ā.
func (k LogDet[T]) Adjoint(g LogDet[T]) error {
	k.check()
	rev.CheckLike(&k, &g)
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.factor(w); err != nil {
		return err
	}
	if g.Out != nil && g.A.Data != nil {
		w.y = w.inverse(w.y)
		addTransposed(k.Workers, g.A, *g.Out, w.y)
	}
	k.add(-1, w)
	return nil
}

// Tangent computes Out += log |det A|, Sign += sign(det A) and
// Ȯut += tr(A⁻¹·Ȧ).
func (k LogDet[T]) Tangent(t LogDet[T]) error {
	k.check()
	rev.CheckLike(&k, &t)
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.factor(w); err != nil {
		return err
	}
	if t.Out != nil && t.A.Data != nil {
		w.y = w.inverse(w.y)
		*t.Out += traceOfProduct(w.y, t.A)
	}
	k.add(1, w)
	return nil
}

// AdjointTangent computes what Adjoint does, Ȯut -= tr(A⁻¹·Ȧ), and adds the
// tangents of the gradient to gt.
func (k LogDet[T]) AdjointTangent(g, t, gt LogDet[T]) error {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	w := workspace.Get[invWork[T]]()
	defer workspace.Put(w)
	if err := k.factor(w); err != nil {
		return err
	}
	w.y = w.inverse(w.y)
	if t.Out != nil && t.A.Data != nil {
		*t.Out -= traceOfProduct(w.y, t.A)
	}
	if gt.Out != nil {
		addTransposed(k.Workers, gt.A, *gt.Out, w.y)
	}
	if g.Out != nil {
		if t.A.Data != nil && gt.A.Data != nil {
			n := k.A.Rows
			w.dy = zeros(w.dy, n, n)
			w.subtractSandwich(w.dy, view(w.y, true), view(t.A, true), view(w.y, true))
			addShared(k.Workers, gt.A, *g.Out, w.dy)
		}
		addTransposed(k.Workers, g.A, *g.Out, w.y)
	}
	k.add(-1, w)
	return nil
}

// traceOfProduct returns tr(a·b) of square matrices.
func traceOfProduct[T rev.Float](a, b rev.General[T]) T {
	var s T
	for j := range b.Rows {
		s += dot(rev.ViewSlice(b.Row(j)), rev.Vector[T]{N: a.Rows, Data: a.Data[j:], Inc: a.Stride})
	}
	return s
}
