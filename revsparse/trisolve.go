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

// triSystem is the system of TriSolve.
type triSystem[T rev.Float, I Index] struct {
	entries[T, T, I]
	solutions[T]
	k TriSolve[T, I]
}

func (s *triSystem[T, I]) solve(x []T, trans bool) error {
	return triSolveSolve(&s.k, x, trans != s.trans)
}

// triSolveSingular returns the error of the first zero on the diagonal, or nil if there is
// none.
func triSolveSingular[T rev.Float, I Index](k *TriSolve[T, I]) error {
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

// triSolveSide returns the sign of j-i for the elements of A off the diagonal.
func triSolveSide[T rev.Float, I Index](k *TriSolve[T, I]) int {
	if k.Upper {
		return 1
	}
	return -1
}

// triSolveSolve replaces x by A⁻¹·x, or by A⁻ᵀ·x.
func triSolveSolve[T rev.Float, I Index](k *TriSolve[T, I], x []T, trans bool) error {
	ptr, side := k.A.Ptr, triSolveSide(k)
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
			return triSolveSingular(k)
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

// triSolveRun is Run of TriSolve.
func triSolveRun[T rev.Float, I Index](k *TriSolve[T, I], p *rev.Pass[TriSolve[T, I]]) error {
	CheckOperand[TriSolve[T, I]](&k.A, "A")
	s := workspace.Get[*triSystem[T, I]]()
	defer workspace.Put(s)
	s.k, s.entries = *k, entries[T, T, I]{a: k.A, trans: k.Trans, side: triSolveSide(k)}
	if k.Unit {
		s.least = 1
	}
	err := solveSystem(s, &s.solutions, p.Sign(), triSolveEquation(k), triSolveEquation(&p.G), triSolveEquation(&p.T), triSolveEquation(&p.GT))
	s.k, s.entries = TriSolve[T, I]{}, entries[T, T, I]{} // without the caller's storage
	return err
}

func triSolveEquation[T rev.Float, I Index](k *TriSolve[T, I]) equation[T] {
	return equation[T]{column(k.X), k.A.Data, column(k.B)}
}
