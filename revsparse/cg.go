package revsparse

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// CG is the kernel
//
//	X += A⁻¹·B
//
// of a symmetric positive definite n×n matrix A and vectors X and B. It uses conjugate
// gradients (Hestenes and Stiefel 1952), preconditioned by the diagonal of A. The
// derivatives are those of the solution, not of the iteration: with x = A⁻¹·b and λ =
// A⁻¹·x̄, one more solution,
//
//	b̄ += λ,  Ā -= λ·xᵀ,  ẋ += A⁻¹·(ḃ - Ȧ·x),
//
// For the second order, let λ̇ = A⁻¹·(ġx - Ȧ·λ). The tangents of b̄ and Ā get λ̇ and
// -(λ̇·xᵀ + λ·ẋᵀ).
//
// A is stored as its lower triangle, or in full. An entry below the diagonal also
// stands for its mirror image, so that the gradient there is the sum of both. Entries
// above the diagonal must be the mirror images of those below, and derivatives by them
// are ignored. Entries of the same place add up, and need not be sorted. If A is not
// symmetric, use Solve.
//
// A solution is accepted when
//
//	‖b - A·x‖ ≤ Tol·(‖A‖·‖x‖ + ‖b‖),  ‖A‖ = max_i Σ_j |A_ij|:
//
// It then solves exactly a system that differs by at most Tol, relative to the norms of
// A and b. Its relative error is at most about 2·Tol times the condition number of A.
// Everything is computed in float64 and gives the same bits each time, so Inverse
// restores X up to the rounding of an addition and a subtraction.
//
// The methods return a *NotSymmetricError if A has elements above the diagonal and
// differs from its transpose by more than Tol·‖A‖. This is checked once for consecutive
// calls with the same matrix. They return a *rev.NotPositiveDefiniteError if A turns
// out not to be positive definite; a semidefinite matrix may not be detected. They
// return a *rev.ConvergenceError if they need more than MaxIter products with A, or if
// A or B has elements that are infinite or NaN. They also return an error if indices of
// type I cannot count the entries of A with its mirror images. After an error nothing
// has been written.
type CG[T rev.Float, I Index] struct {
	X rev.Vector[T] `rev:"acc" shape:"n"`
	A CSR[T, I]     `rev:"in" shape:"n,n"`
	B rev.Vector[T] `rev:"in" shape:"n"`

	Tol     float64 // 0 means 16 times the distance from 1 to the next T
	MaxIter int     // in each solution; 0 means 2·n + 1000
	Workers int     // 0 means GOMAXPROCS
}

// NewCG returns the kernel that adds to x, over gonum vectors, sharing their storage.
func NewCG[I Index](x *mat.VecDense, a CSR[float64, I], b *mat.VecDense) CG[float64, I] {
	return CG[float64, I]{X: rev.ViewVec(x), A: a, B: rev.ViewVec(b)}
}

// cgSystem is the system of CG.
type cgSystem[T rev.Float, I Index] struct {
	cg
	solutions[float64]
	k        CG[T, I]
	m        mirroredMatrix[I]
	positive bool // the diagonal of A is positive; m has its inverse
}

// setMatrix prepares for solutions with the matrix of k.
func (s *cgSystem[T, I]) setMatrix(k *CG[T, I]) error {
	s.kernel = "CG"
	if s.tol = k.Tol; s.tol == 0 {
		s.tol = 16 * epsilon[T]()
	}
	if s.maxIter = k.MaxIter; s.maxIter == 0 {
		s.maxIter = 2*k.A.Rows + 1000
	}
	made, err := setMirrored(&s.m, k.A, s.tol)
	if err != nil {
		if errors.Is(err, errNotFinite) {
			err = s.failure(0, math.NaN())
		}
		return err
	}
	s.m.workers = k.Workers
	s.a, s.norm = &s.m, s.m.norm
	if !made && s.positive {
		return nil // the preconditioner is already that of A
	}
	s.positive = false
	s.inverse = workspace.Zeros(s.inverse, k.A.Rows)
	f := &s.m.full
	for i := range s.inverse {
		for p := f.Ptr[i]; p < f.Ptr[i+1]; p++ {
			if int(f.Ind[p]) == i {
				s.inverse[i] += f.Data[p]
			}
		}
		if !(s.inverse[i] > 0) {
			return &rev.NotPositiveDefiniteError{Row: i, Value: math.Ldexp(s.inverse[i], s.m.exp)}
		}
		s.inverse[i] = 1 / s.inverse[i]
	}
	s.positive = true
	return nil
}

func (s *cgSystem[T, I]) solve(x []float64, _ bool) error {
	e, ok := binaryExponent(x)
	if !ok {
		return s.failure(0, math.NaN())
	}
	scale2(x, -e)
	if err := s.cg.solve(x); err != nil {
		if errors.Is(err, errIndefinite) {
			err = &rev.NotPositiveDefiniteError{Row: -1, Value: math.Ldexp(s.curvature, s.m.exp)}
		}
		return err
	}
	scale2(x, e-s.m.exp)
	return nil
}

func (s *cgSystem[T, I]) subMul(y []float64, ta []T, x []float64, _ bool) {
	addMulSymmetric(y, -1, s.k.A, ta, x)
}

func (s *cgSystem[T, I]) subOuter(ga []T, lambda, x []float64) {
	addSymmetric(ga, s.k.A, -1, lambda, x)
}

// cgRun is Run of CG.
func cgRun[T rev.Float, I Index](k *CG[T, I], p *rev.Pass[CG[T, I]]) error {
	CheckOperand[CG[T, I]](&k.A, "A")
	s := workspace.Get[*cgSystem[T, I]]()
	defer workspace.Put(s)
	if err := s.setMatrix(k); err != nil {
		return err
	}
	s.k = *k
	err := solveSystem(s, &s.solutions, p.Sign(), cgEquation(k), cgEquation(&p.G), cgEquation(&p.T), cgEquation(&p.GT))
	s.k = CG[T, I]{} // without the caller's storage
	return err
}

func cgEquation[T rev.Float, I Index](k *CG[T, I]) equation[T] {
	return equation[T]{column(k.X), k.A.Data, column(k.B)}
}
