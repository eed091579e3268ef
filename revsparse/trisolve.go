package revsparse

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// TriSolve is the kernel
//
//	X += op(A)⁻¹·B
//
// of a triangular n×n matrix A, op(A) = A or Aᵀ, and vectors X and B. With x =
// op(A)⁻¹·b and λ = op(A)⁻ᵀ·x̄, the derivatives are
//
//	b̄ += λ,  ō -= λ·xᵀ,  ẋ += op(A)⁻¹·(ḃ - Ȯ·x)
//
// where ō is the cotangent of O = op(A), at the entries of A. For the second order, let
// λ̇ = op(A)⁻ᵀ·(ġx - Ȯᵀ·λ). The tangents of b̄ and ō get λ̇ and -(λ̇·xᵀ + λ·ẋᵀ).
//
// A is the lower triangle of what is stored, or the upper one. Entries on the other
// side of the diagonal are ignored. If Unit is set, the diagonal counts as ones.
// Entries of the same place add up, and need not be sorted.
//
// The computed x solves (A + E)·x = b exactly. Each element of E is at most (m+1)·ε
// times that of |A|, where m is the largest number of entries of a row of op(A)
// (Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem 8.5), and |A|
// adds up the magnitudes of the entries of a place.
//
// If an element of the diagonal is zero or missing, all methods return a
// *rev.SingularError and change nothing.
type TriSolve[T rev.Float, I Index] struct {
	X     rev.Vector[T] `rev:"acc" shape:"n"`
	A     CSR[T, I]     `rev:"in" shape:"n,n"`
	B     rev.Vector[T] `rev:"in" shape:"n"`
	Upper bool          // A is the upper triangle
	Trans bool          // op(A) = Aᵀ
	Unit  bool          // the diagonal of A is one
}

// NewTriSolve returns the kernel X += A⁻¹·B over gonum vectors, sharing their
// storage, for the lower triangle of a.
func NewTriSolve[I Index](x *mat.VecDense, a CSR[float64, I], b *mat.VecDense) TriSolve[float64, I] {
	return TriSolve[float64, I]{X: rev.ViewVec(x), A: a, B: rev.ViewVec(b)}
}

// triScratch is the vectors of the equations.
type triScratch[T rev.Float] struct{ x, dx, lambda, dlambda []T }

// singular returns the error of the first zero on the diagonal, or nil if there is
// none.
func (k *TriSolve[T, I]) singular() error {
	for i := 0; i < k.A.Rows && !k.Unit; i++ {
		var d T
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			if int(k.A.Ind[p]) == i {
				d += k.A.Data[p]
			}
		}
		if d == 0 {
			return &rev.SingularError{Index: i, Condition: mat.Condition(math.Inf(1))}
		}
	}
	return nil
}

// side returns the sign of j-i for the elements of A off the diagonal.
func (k *TriSolve[T, I]) side() int {
	if k.Upper {
		return 1
	}
	return -1
}

// solve replaces x by A⁻¹·x, or by A⁻ᵀ·x.
func (k *TriSolve[T, I]) solve(x []T, trans bool) error {
	ptr, side := k.A.Ptr, k.side()
	i, step := 0, 1
	if k.Upper != trans {
		i, step = len(x)-1, -1
	}
	for range x {
		ind, a := k.A.Ind[ptr[i]:ptr[i+1]], k.A.Data[ptr[i]:ptr[i+1]]
		a = a[:len(ind)]
		var d T
		v := x[i]
		if trans {
			for q, j := range ind {
				if int(j) == i {
					d += a[q]
				}
			}
		} else {
			for q, j := range ind {
				if at := side * (int(j) - i); at > 0 {
					v -= T(a[q] * x[j])
				} else if at == 0 {
					d += a[q]
				}
			}
		}
		if k.Unit {
			d = 1
		}
		if d == 0 {
			return k.singular()
		}
		v /= d
		x[i] = v
		if trans {
			for q, j := range ind {
				if side*(int(j)-i) > 0 {
					x[j] -= T(a[q] * v)
				}
			}
		}
		i += step
	}
	return nil
}

// least returns the least side·(j-i) of the elements whose values count. The diagonal
// of A is one if Unit is set.
func (k *TriSolve[T, I]) least() int {
	if k.Unit {
		return 1
	}
	return 0
}

// subMul computes y -= D·x, or y -= Dᵀ·x, for the matrix D with the structure of A and
// the given values. The diagonal of D is zero if that of A is one.
func (k *TriSolve[T, I]) subMul(y, data, x []T, trans bool) {
	side, least := k.side(), k.least()
	for i := range k.A.Rows {
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			j := k.A.Ind[p]
			switch {
			case side*(int(j)-i) < least:
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
	ptr, side, least := k.A.Ptr, k.side(), k.least()
	for i, f := range lambda {
		ind, row := k.A.Ind[ptr[i]:ptr[i+1]], data[ptr[i]:ptr[i+1]]
		row = row[:len(ind)]
		for q, j := range ind {
			if side*(int(j)-i) >= least {
				row[q] -= T(f * x[j])
			}
		}
	}
}

// Forward computes X += op(A)⁻¹·B.
func (k TriSolve[T, I]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes X -= op(A)⁻¹·B.
func (k TriSolve[T, I]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes X -= op(A)⁻¹·B, b̄ += λ and ō -= λ·xᵀ.
func (k TriSolve[T, I]) Adjoint(g TriSolve[T, I]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes X += op(A)⁻¹·B and ẋ += op(A)⁻¹·(ḃ - Ȯ·x).
func (k TriSolve[T, I]) Tangent(t TriSolve[T, I]) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, ẋ -= op(A)⁻¹·(ḃ - Ȯ·x), and the
// tangents of the gradient.
func (k TriSolve[T, I]) AdjointTangent(g, t, gt TriSolve[T, I]) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel.
func (k TriSolve[T, I]) Run(p rev.Pass[TriSolve[T, I]]) error {
	checkOperand[TriSolve[T, I]](&k.A, "A")
	s := workspace.Get[triScratch[T]]()
	defer workspace.Put(s)
	g, t, gt := &p.G, &p.T, &p.GT
	gradient := g.X.Data != nil && (g.A.Data != nil || g.B.Data != nil)
	second := (g.X.Data != nil || gt.X.Data != nil) && (gt.A.Data != nil || gt.B.Data != nil)
	tangent := t.X.Data != nil || second

	// Everything that can fail comes before the first sum.
	if k.X.Data != nil || tangent || g.A.Data != nil || !gradient {
		s.x = load(s.x, k.B, k.A.Rows)
		if err := k.solve(s.x, k.Trans); err != nil {
			return err
		}
	}
	if tangent {
		s.dx = load(s.dx, t.B, k.A.Rows)
		if t.A.Data != nil {
			k.subMul(s.dx, t.A.Data, s.x, k.Trans)
		}
		if err := k.solve(s.dx, k.Trans); err != nil {
			return err
		}
	}
	if gradient || second {
		s.lambda = load(s.lambda, g.X, k.A.Rows)
		if err := k.solve(s.lambda, !k.Trans); err != nil {
			return err
		}
	}
	if second {
		s.dlambda = load(s.dlambda, gt.X, k.A.Rows)
		if t.A.Data != nil {
			k.subMul(s.dlambda, t.A.Data, s.lambda, !k.Trans)
		}
		if err := k.solve(s.dlambda, !k.Trans); err != nil {
			return err
		}
	}

	if gradient {
		k.addGradient(g, s.lambda, s.x)
	}
	if second {
		k.addGradient(gt, s.dlambda, s.x)
		if gt.A.Data != nil {
			k.subOuter(gt.A.Data, s.lambda, s.dx)
		}
	}
	accumulate(k.X, T(p.Sign()), s.x)
	if tangent {
		accumulate(t.X, T(p.Sign()), s.dx)
	}
	return nil
}

func (k *TriSolve[T, I]) addGradient(g *TriSolve[T, I], lambda, x []T) {
	accumulate(g.B, 1, lambda)
	if g.A.Data != nil {
		k.subOuter(g.A.Data, lambda, x)
	}
}
