package revlinalg

import (
	"math"

	"revnum/internal/logs"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// LogDet is the kernel
//
//	Out += log |det A|,  Sign += sign(det A)
//
// of a square matrix, with the derivatives
//
//	Ā += Ōut·A⁻ᵀ,  Ȯut += tr(A⁻¹·Ȧ),  ġA += ġOut·A⁻ᵀ - Ōut·A⁻ᵀ·Ȧᵀ·A⁻ᵀ
//
// (Giles 2008, 2.2.4). The two outputs are those of gonum's mat.LogDet and NumPy's
// slogdet. The sign is 1 or -1 and has no derivative. If Sign is nil, it is not
// computed, and you do not see that det A is negative. A determinant that no float can
// hold has a logarithm all the same. The determinant of a matrix without rows is 1.
//
// The logarithm is the sum of the logarithms of the pivots u_ii. Its error is the
// change by a perturbation of A of about 3n·ε·|L|·|U| (Higham 2002, theorem 9.3), plus
// n·2⁻⁵²·Σ |log |u_ii|| and a rounding of the result. If A is singular to working
// precision (see Solve), all methods return a *rev.SingularError and write nothing,
// because -Inf could not be subtracted again. The bits do not depend on the number of
// workers. There is no kernel over fixed point: the gradient is an inverse, which
// leaves the range if pivots are small.
type LogDet[T rev.Float] struct {
	Out     *T             `rev:"acc"`
	Sign    *T             `rev:"acc"`
	A       rev.General[T] `rev:"in" shape:"n,n"`
	Workers int            // 0 means GOMAXPROCS
}

// logDetRun is Run of LogDet.
func logDetRun[T rev.Float](k *LogDet[T], p *rev.Pass[LogDet[T]]) error {
	w := workspace.Get[*invWork[T]]()
	defer workspace.Put(w)
	if err := w.factorRegular(k.Workers, k.A); err != nil {
		return err
	}
	sign := T(p.Sign())
	logDetAdd(k, sign, w)
	if p.Adjoint || p.Tangent {
		w.y = w.inverse(w.y)
	}
	if p.T.Out != nil && p.T.A.Data != nil {
		*p.T.Out += T(sign * traceOfProduct(w.y, p.T.A))
	}
	if p.G.Out != nil {
		addTransposed(k.Workers, p.G.A, *p.G.Out, w.y)
		if p.T.A.Data != nil && p.GT.A.Data != nil {
			w.dy = zeros(w.dy, k.A.Rows, k.A.Rows)
			addSandwich(k.Workers, w.dy, -1, view(w.y, true), view(p.T.A, true), view(w.y, true))
			addShared(k.Workers, p.GT.A, *p.G.Out, w.dy)
		}
	}
	if p.GT.Out != nil {
		addTransposed(k.Workers, p.GT.A, *p.GT.Out, w.y)
	}
	return nil
}

// logDetAdd adds alpha times the result.
func logDetAdd[T rev.Float](k *LogDet[T], alpha T, w *invWork[T]) {
	sum, sign := 0.0, T(1)
	for i, p := range w.pivots {
		u := float64(w.diag[i])
		sum += logs.Log(math.Abs(u))
		if (p != i) != (u < 0) {
			sign = -sign
		}
	}
	for _, shift := range w.shifts {
		sum -= float64(float64(shift) * math.Ln2)
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

// traceOfProduct returns tr(a·b) of square matrices.
func traceOfProduct[T rev.Float](a, b rev.General[T]) T {
	var s T
	for j := range b.Rows {
		s += vector.Dot(rev.ViewSlice(b.Row(j)), rev.Vector[T]{N: a.Rows, Data: a.Data[j:], Inc: a.Stride})
	}
	return s
}
