package revsparse

import (
	"errors"
	"math"

	"revnum/internal/workspace"
	"revnum/rev"
)

// DominantEig is the kernel
//
//	Values_i += λ_i,  Vectors_ji += (v_i)_j,  A·v_i = λ_i·v_i,  ‖v_i‖ = 1
//
// of the first k eigenpairs of a symmetric n×n matrix A, in the order Which, by
// Lanczos' iteration. The derivatives belong to the pairs, not to the iteration
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
// the error of an eigenvector Tol·‖A‖ divided by the gap to the next eigenvalue. Everything
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

func dominantEigPairs[T rev.Float, I Index](k *DominantEig[T, I]) eigenpairs[T] {
	return eigenpairs[T]{k.Values, k.Vectors}
}

// sparseEig is the search for the eigenpairs of a sparse matrix.
type sparseEig[T rev.Float, I Index] struct {
	eigen eigen
	m     mirroredMatrix[I]
	a     CSR[T, I]
	ta    []T // Ȧ
	ga    []T // Ā
	dga   []T // ġA
}

func (s *sparseEig[T, I]) mulTo(y, x []float64) { s.m.mulTo(y, x) }

func (s *sparseEig[T, I]) addMulTangent(y, x []float64) {
	addMulSymmetric(y, 1, s.a, s.ta, x)
}

func (s *sparseEig[T, I]) addGradient(u, v, du, dv []float64) {
	if s.ga != nil {
		addSymmetric(s.ga, s.a, 1, u, v)
	}
	if s.dga != nil {
		addSymmetric(s.dga, s.a, 1, du, v)
		addSymmetric(s.dga, s.a, 1, u, dv)
	}
}

// dominantEigRun is Run of DominantEig.
func dominantEigRun[T rev.Float, I Index](k *DominantEig[T, I], p *rev.Pass[DominantEig[T, I]]) error {
	CheckOperand[DominantEig[T, I]](&k.A, "A")
	g, t, gt := &p.G, &p.T, &p.GT
	pairs := countPairs[DominantEig[T, I]](k.A.Rows, dominantEigPairs(k), dominantEigPairs(g), dominantEigPairs(t), dominantEigPairs(gt))
	s := workspace.Get[*sparseEig[T, I]]()
	s.a, s.ta, s.ga, s.dga = k.A, t.A.Data, g.A.Data, gt.A.Data
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
	if err == nil {
		err = dominantEigPairs(k).pass(e, dominantEigPairs(g), dominantEigPairs(t), dominantEigPairs(gt), s.ga != nil || s.dga != nil, s.ta != nil, float64(p.Sign()))
	}
	s.a, s.ta, s.ga, s.dga = CSR[T, I]{}, nil, nil, nil // without the caller's storage
	workspace.Put(s)
	return err
}
