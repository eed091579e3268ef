package revsparse

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// TriSolve is the kernel
//
//	X += op(A)⁻¹·B
//
// of a triangular n×n matrix A, op(A) = A or Aᵀ, and vectors X and B, with the
// derivatives, where x = op(A)⁻¹·b and λ = op(A)⁻ᵀ·x̄,
//
//	b̄ += λ,  ō -= λ·xᵀ,  ẋ += op(A)⁻¹·(ḃ - Ȯ·x)
//
// and ō the cotangent of O = op(A), at the entries of A alone. Those of second
// order follow from the tangents λ̇ = op(A)⁻ᵀ·(ġ - Ȯᵀ·λ), ġ being that of x̄, and
// ẋ: λ̇, and -(λ̇·xᵀ + λ·ẋᵀ). A is read once for its diagonal and once in each
// solution.
//
// A is the lower triangle of what is stored, or the upper one: entries on the
// other side of the diagonal are not looked at, and those on it stand for ones if
// Unit is set. Entries of the same place add up, and need not be sorted.
//
// The computed x solves (A + E)·x = b exactly for an E of at most (m+1)·ε times |A|
// in each element, m being the most entries of a row of op(A) (Higham, Accuracy
// and Stability of Numerical Algorithms, 2002, theorem 8.5), and |A| adding up the
// magnitudes of the entries of a place.
//
// If a row has zero on its diagonal, or nothing, all methods return a
// *SingularError and change nothing.
type TriSolve[T rev.Float, I Index] struct {
	X     rev.Vector[T] `rev:"acc"`
	A     CSR[T, I]     `rev:"in"`
	B     rev.Vector[T] `rev:"in"`
	Upper bool          // A is the upper triangle
	Trans bool          // op(A) = Aᵀ
	Unit  bool          // the diagonal of A is one
}

// NewTriSolve returns the kernel X += A⁻¹·B over gonum vectors, sharing their
// storage, for the lower triangle of a.
func NewTriSolve(x *mat.VecDense, a CSR[float64, int], b *mat.VecDense) TriSolve[float64, int] {
	k := TriSolve[float64, int]{X: rev.ViewVec(x), A: a, B: rev.ViewVec(b)}
	k.checkShape()
	return k
}

// SingularError is the error of a triangular matrix with a zero on its diagonal.
type SingularError struct {
	Row int // the first such row
}

func (e *SingularError) Error() string {
	return fmt.Sprintf("revsparse: TriSolve: the matrix is singular: its diagonal is zero in row %d", e.Row)
}

func (k *TriSolve[T, I]) checkShape() {
	if k.A.Rows != k.A.Cols || k.B.N != k.A.Rows || k.X.Data != nil && k.X.N != k.A.Rows {
		panic(mat.ErrShape)
	}
	if k.X.Data == nil {
		k.X.N = k.A.Rows // that of its cotangent
	}
}

func (k *TriSolve[T, I]) check() {
	rev.Check(k)
	k.A.check()
	k.checkShape()
}

// triScratch is the diagonal of A, and the vectors of the equations.
type triScratch[T rev.Float] struct{ diag, x, dx, lambda, dlambda []T }

// scratch returns scratch with the diagonal of A, or the error of a zero on it.
func (k *TriSolve[T, I]) scratch() (*triScratch[T], error) {
	s := workspace.Get[triScratch[T]]()
	s.diag = workspace.Zeros(s.diag, k.A.Rows)
	for i := range s.diag {
		var d T
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			if int(k.A.Ind[p]) == i {
				d += k.A.Data[p]
			}
		}
		if k.Unit {
			d = 1
		}
		if d == 0 {
			workspace.Put(s)
			return nil, &SingularError{i}
		}
		s.diag[i] = d
	}
	return s, nil
}

// inside reports whether column j of row i is off the diagonal, on the side of A.
func (k *TriSolve[T, I]) inside(i int, j I) bool {
	if k.Upper {
		return int(j) > i
	}
	return int(j) < i
}

// solve replaces x by A⁻¹·x, or by A⁻ᵀ·x.
func (k *TriSolve[T, I]) solve(diag, x []T, trans bool) {
	for r := range x {
		i := r
		if k.Upper != trans {
			i = len(x) - 1 - r
		}
		lo, hi := k.A.Ptr[i], k.A.Ptr[i+1]
		if trans {
			v := x[i] / diag[i]
			x[i] = v
			for p := lo; p < hi; p++ {
				if j := k.A.Ind[p]; k.inside(i, j) {
					x[j] -= T(k.A.Data[p] * v)
				}
			}
			continue
		}
		v := x[i]
		for p := lo; p < hi; p++ {
			if j := k.A.Ind[p]; k.inside(i, j) {
				v -= T(k.A.Data[p] * x[j])
			}
		}
		x[i] = v / diag[i]
	}
}

// subMul computes y -= D·x, or y -= Dᵀ·x, for the matrix D with the structure of A
// and the given values. On the diagonal it is zero if that of A is one.
func (k *TriSolve[T, I]) subMul(y, data, x []T, trans bool) {
	for i := range k.A.Rows {
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			j := k.A.Ind[p]
			switch {
			case !k.inside(i, j) && (int(j) != i || k.Unit):
			case trans:
				y[j] -= T(data[p] * x[i])
			default:
				y[i] -= T(data[p] * x[j])
			}
		}
	}
}

// subOuter computes D -= λ·xᵀ at the entries of op(A), for the matrix D with the
// structure of A and the given values.
func (k *TriSolve[T, I]) subOuter(data, lambda, x []T) {
	if k.Trans {
		lambda, x = x, lambda
	}
	for i := range k.A.Rows {
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			if j := k.A.Ind[p]; k.inside(i, j) || int(j) == i && !k.Unit {
				data[p] -= T(lambda[i] * x[j])
			}
		}
	}
}

// Forward computes X += op(A)⁻¹·B.
func (k TriSolve[T, I]) Forward() error { return k.add(1) }

// Inverse computes X -= op(A)⁻¹·B.
func (k TriSolve[T, I]) Inverse() error { return k.add(-1) }

func (k *TriSolve[T, I]) add(sign T) error {
	k.check()
	s, err := k.scratch()
	if err != nil {
		return err
	}
	if k.X.Data != nil {
		k.setSolution(s)
		accumulate(k.X, sign, s.x)
	}
	workspace.Put(s)
	return nil
}

func (k *TriSolve[T, I]) setSolution(s *triScratch[T]) {
	s.x = load(s.x, k.B, k.A.Rows)
	k.solve(s.diag, s.x, k.Trans)
}

// setTangent sets ẋ.
func (k *TriSolve[T, I]) setTangent(s *triScratch[T], t *TriSolve[T, I]) {
	s.dx = load(s.dx, t.B, k.A.Rows)
	if t.A.Data != nil {
		k.subMul(s.dx, t.A.Data, s.x, k.Trans)
	}
	k.solve(s.diag, s.dx, k.Trans)
}

// Adjoint computes X -= op(A)⁻¹·B, b̄ += λ and ō -= λ·xᵀ.
func (k TriSolve[T, I]) Adjoint(g TriSolve[T, I]) error {
	k.check()
	rev.CheckLike(&k, &g)
	s, err := k.scratch()
	if err != nil {
		return err
	}
	if k.X.Data != nil || g.A.Data != nil {
		k.setSolution(s)
	}
	accumulate(k.X, -1, s.x)
	if g.X.Data != nil && (g.A.Data != nil || g.B.Data != nil) {
		s.lambda = load(s.lambda, g.X, k.A.Rows)
		k.solve(s.diag, s.lambda, !k.Trans)
		k.addGradient(&g, s.lambda, s.x)
	}
	workspace.Put(s)
	return nil
}

func (k *TriSolve[T, I]) addGradient(g *TriSolve[T, I], lambda, x []T) {
	accumulate(g.B, 1, lambda)
	if g.A.Data != nil {
		k.subOuter(g.A.Data, lambda, x)
	}
}

// Tangent computes X += op(A)⁻¹·B and ẋ += op(A)⁻¹·(ḃ - Ȯ·x).
func (k TriSolve[T, I]) Tangent(t TriSolve[T, I]) error {
	k.check()
	rev.CheckLike(&k, &t)
	s, err := k.scratch()
	if err != nil {
		return err
	}
	k.setSolution(s)
	accumulate(k.X, 1, s.x)
	if t.X.Data != nil {
		k.setTangent(s, &t)
		accumulate(t.X, 1, s.dx)
	}
	workspace.Put(s)
	return nil
}

// AdjointTangent computes what Adjoint does, ẋ -= op(A)⁻¹·(ḃ - Ȯ·x), and the
// tangents of the gradient.
func (k TriSolve[T, I]) AdjointTangent(g, t, gt TriSolve[T, I]) error {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	s, err := k.scratch()
	if err != nil {
		return err
	}
	k.setSolution(s)
	k.setTangent(s, &t)
	accumulate(k.X, -1, s.x)
	accumulate(t.X, -1, s.dx)

	s.dlambda = load(s.dlambda, gt.X, k.A.Rows)
	if g.X.Data != nil {
		s.lambda = load(s.lambda, g.X, k.A.Rows)
		k.solve(s.diag, s.lambda, !k.Trans)
		k.addGradient(&g, s.lambda, s.x)
		if t.A.Data != nil {
			k.subMul(s.dlambda, t.A.Data, s.lambda, !k.Trans)
		}
		if gt.A.Data != nil {
			k.subOuter(gt.A.Data, s.lambda, s.dx)
		}
	}
	k.solve(s.diag, s.dlambda, !k.Trans)
	k.addGradient(&gt, s.dlambda, s.x)
	workspace.Put(s)
	return nil
}
