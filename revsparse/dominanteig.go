package revsparse

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// DominantEig is the kernel
//
//	Values_i += λ_i,  Vectors_ji += (v_i)_j,  A·v_i = λ_i·v_i,  ‖v_i‖ = 1
//
// of the first k eigenpairs of a symmetric n×n matrix A, in the order Which, by
// Lanczos' iteration. The derivatives are those of the pairs, not of the iteration
// (Xie, Liu and Wang, arXiv 2001.04121):
//
//	Ā += Σ_i λ̄_i·v_i·v_iᵀ - ξ_i·v_iᵀ,  ξ_i = (A - λ_i)⁺·v̄_i,
//	λ̇_i += v_iᵀ·Ȧ·v_i,  v̇_i -= (A - λ_i)⁺·Ȧ·v_i.
//
// In the complement of the known pairs A - λ_i is definite, so conjugate gradients
// compute the pseudo-inverse. The gradient is taken at the entries of A alone. Values
// or Vectors may be nil. The derivatives of eigenvalues alone need no solution.
//
// A is stored as its lower triangle, or in full. An entry below the diagonal also
// stands for its mirror image, so that the gradient there is the sum of both. Entries
// above the diagonal must be the mirror images of those below, and derivatives by them
// are ignored. Entries of the same place add up, and need not be sorted.
//
// The sign of a vector is the one that makes its first element of more than 3/10 of the
// largest magnitude positive. The error of an eigenvalue is at most about Tol·‖A‖, and
// that of an eigenvector Tol·‖A‖ divided by the gap to the next eigenvalue. Everything
// is computed in float64 and gives the same bits each time, so Inverse restores the
// operands up to the rounding of an addition and a subtraction.
//
// The methods return a *NotSymmetricError if A has elements above the diagonal and
// differs from its transpose by more than Tol·‖A‖. They return a *rev.DegenerateError
// if the eigenvalues of two pairs, or of the last pair and the next, are closer than
// 2⁻²⁶·‖A‖: the pairs, or their order, are then not determined. (For LargestMagnitude,
// the order of λ and -λ is not.) They return a *rev.ConvergenceError if MaxIter is too
// small, or if A has an element that is infinite or NaN. They also return an error if
// indices of type I cannot count the entries of A with its mirror images. After an
// error nothing has been written. A second search in the complement checks the result.
// That both overlook an eigenvalue is improbable, but not impossible.
type DominantEig[T rev.Float, I Index] struct {
	Values  rev.Vector[T]  `rev:"acc" shape:"k"`   // k
	Vectors rev.General[T] `rev:"acc" shape:"n,k"` // n×k, a vector a column
	A       CSR[T, I]      `rev:"in" shape:"n,n"`
	EigOptions
	Workers int // 0 means GOMAXPROCS
}

// NewDominantEig returns the kernel over gonum's types, sharing their storage.
// Values or vectors may be nil.
func NewDominantEig[I Index](values *mat.VecDense, vectors *mat.Dense, a CSR[float64, I]) DominantEig[float64, I] {
	return DominantEig[float64, I]{Values: rev.ViewVec(values), Vectors: rev.ViewDense(vectors), A: a}
}

func (k *DominantEig[T, I]) pairs() eigenpairs[T] { return eigenpairs[T]{k.Values, k.Vectors} }

// sparseEig is the search for the eigenpairs of a sparse matrix.
type sparseEig[T rev.Float, I Index] struct {
	eigen eigen
	m     mirrored[I]
	a     CSR[T, I]
	ta    []T // Ȧ
	ga    []T // Ā
}

func (s *sparseEig[T, I]) mulTo(y, x []float64) { s.m.mulTo(y, x) }

func (s *sparseEig[T, I]) addMulTangent(y, x []float64) {
	addMulSymmetric(y, 1, s.a, s.ta, x)
}

func (s *sparseEig[T, I]) addGradient(u, v []float64) {
	addSymmetric(s.ga, s.a, 1, u, v)
}

// search finds the pairs, as many as like has if k has none.
func (k *DominantEig[T, I]) search(like ...eigenpairs[T]) (*sparseEig[T, I], error) {
	pairs := k.pairs().count(k.A.Rows, like...)
	s := workspace.Get[sparseEig[T, I]]()
	s.a = k.A
	e := &s.eigen
	e.start(s, "DominantEig", k.EigOptions, k.A.Rows, pairs, epsilon[T]())
	_, err := setMirrored(&s.m, k.A, e.Tol)
	switch {
	case err == nil:
		s.m.workers, e.exp = k.Workers, s.m.exp
		err = e.find()
	case errors.Is(err, errNotFinite):
		err = e.failure(math.NaN())
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *sparseEig[T, I]) end() {
	s.a, s.ta, s.ga = CSR[T, I]{}, nil, nil
	workspace.Put(s)
}

// Forward computes Values += λ and Vectors += v.
func (k DominantEig[T, I]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes Values -= λ and Vectors -= v.
func (k DominantEig[T, I]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes Values -= λ, Vectors -= v and Ā += Σ λ̄·v·vᵀ - ξ·vᵀ.
func (k DominantEig[T, I]) Adjoint(g DominantEig[T, I]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Values += λ and Vectors += v, and adds their tangents.
func (k DominantEig[T, I]) Tangent(t DominantEig[T, I]) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes the tangents of the pairs back
// out, and adds the tangent of the gradient: with u = λ̄·v - ξ that of Σ u·vᵀ is
// Σ u̇·vᵀ + u·v̇ᵀ, two more solutions for each pair.
func (k DominantEig[T, I]) AdjointTangent(g, t, gt DominantEig[T, I]) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel.
func (k DominantEig[T, I]) Run(p rev.Pass[DominantEig[T, I]]) error {
	checkOperand[DominantEig[T, I]](&k.A, "A")
	g, t, gt := &p.G, &p.T, &p.GT
	s, err := k.search(g.pairs(), t.pairs(), gt.pairs())
	if err != nil {
		return err
	}
	defer s.end()
	e, sign := &s.eigen, float64(p.Sign())
	s.ta, s.ga = t.A.Data, g.A.Data
	switch {
	case p.Adjoint && p.Tangent:
		if err := g.pairs().differentiate(e, gt.pairs(), s.ta != nil); err != nil {
			return err
		}
		for i := range e.k {
			v, u := e.vector(i), e.solution(i)
			dv, du := e.dv[i*e.n:(i+1)*e.n], e.dxi[i*e.n:(i+1)*e.n]
			if s.ga = g.A.Data; s.ga != nil {
				s.addGradient(u, v)
			}
			if s.ga = gt.A.Data; s.ga != nil {
				s.addGradient(du, v)
				s.addGradient(u, dv)
			}
		}
		t.pairs().addRates(e, sign)
	case s.ga != nil:
		if err := g.pairs().addGradients(e); err != nil {
			return err
		}
	case s.ta != nil:
		if err := t.pairs().addTangents(e, sign); err != nil {
			return err
		}
	}
	k.pairs().add(e, sign)
	return nil
}
