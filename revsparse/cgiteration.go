package revsparse

import (
	"errors"
	"math"

	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// cg solves systems with a positive definite matrix by conjugate gradients,
// preconditioned by a diagonal.
type cg struct {
	a interface {
		mulTo(y, x []float64) // y = A·x
	}
	norm    float64   // of A, approximately
	inverse []float64 // of the preconditioner, nil for none
	tol     float64   // for ‖b - A·x‖ / (‖A‖·‖x‖ + ‖b‖)
	maxIter int
	kernel  string // for errors

	curvature float64 // pᵀ·A·p/‖p‖² where solve returns errIndefinite

	rhs, r, z, p, q []float64
}

// errIndefinite is the error of solve if pᵀ·A·p is not positive for some vector p.
var errIndefinite = errors.New("revsparse: the matrix is not positive definite")

func (s *cg) failure(iterations int, residual float64) error {
	return &rev.ConvergenceError{Kernel: s.kernel, Iterations: iterations, Residual: residual, Tol: s.tol}
}

// solve replaces x, whose elements are finite and of moderate size, by A⁻¹·x.
//
// The residual r is updated, not recomputed. When it looks small, it is checked. If
// rounding has led it astray, the iteration starts again from the true residual.
func (s *cg) solve(x []float64) error {
	for _, v := range [...]*[]float64{&s.rhs, &s.r, &s.z, &s.p, &s.q} {
		*v = workspace.Grow(*v, len(x))
	}
	copy(s.rhs, x)
	copy(s.r, x)
	clear(x)
	normB := norm2(s.rhs)
	last := math.Inf(1)
	for iter := 0; ; {
		used, err := s.iterate(x, normB, s.maxIter-iter)
		if err != nil {
			return err
		}
		iter += used
		s.a.mulTo(s.r, x)
		vec.AxpyTo(s.r, -1, s.r, s.rhs)
		residual := s.relative(norm2(s.r), norm2(x), normB)
		if residual <= s.tol {
			return nil
		}
		// A residual that is not much smaller is as small as it can be.
		if iter >= s.maxIter || !(residual < last/2) {
			return s.failure(iter, residual)
		}
		last = residual
	}
}

// relative returns the residual that the tolerance is compared with.
func (s *cg) relative(r, x, b float64) float64 {
	if r == 0 {
		return 0
	}
	return r / (float64(s.norm*x) + b)
}

// iterate improves x until r, which it updates, looks small. It returns the number of
// products with A.
func (s *cg) iterate(x []float64, normB float64, most int) (int, error) {
	rz, normX := 0.0, 0.0
	for iter := 0; ; iter++ {
		// The norm of x grows. That of ten steps ago is close enough.
		if iter%10 == 0 {
			normX = norm2(x)
		}
		if iter >= most || s.relative(norm2(s.r), normX, normB) <= s.tol/2 {
			return iter, nil
		}
		z := s.r
		if s.inverse != nil {
			z = s.z
			vec.MulTo(z, s.r, s.inverse)
		}
		before := rz
		rz = vec.Dot(s.r, z)
		if rz < 0x1p-900 {
			return iter, nil // the products below would underflow
		}
		if iter == 0 {
			copy(s.p, z)
		} else {
			vec.AxpyTo(s.p, rz/before, s.p, z)
		}
		s.a.mulTo(s.q, s.p)
		switch pq := vec.Dot(s.p, s.q); {
		case math.IsNaN(pq) || math.IsInf(pq, 0):
			return 0, s.failure(iter+1, math.NaN())
		case pq <= 0:
			s.curvature = pq / vec.SumSquares(s.p)
			return 0, errIndefinite
		default:
			vec.Axpy(rz/pq, s.p, x)
			vec.Axpy(-rz/pq, s.q, s.r)
		}
	}
}
