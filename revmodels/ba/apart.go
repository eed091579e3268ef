package ba

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/passkind"
	"revnum/rev"
	"revnum/revsparse"
)

// The methods of Snavely and Weighted call these functions, which are not generic: see apart.go of
// cmd/revgen/internal/passes.

//go:noinline
func snavelyJacobian(kind passkind.Kind, k, j unsafe.Pointer) error {
	switch kind {
	case passkind.Float64:
		return snavelyJacobianTo((*Snavely[float64])(k), (*rev.General[float64])(j))
	case passkind.Float32:
		return snavelyJacobianTo((*Snavely[float32])(k), (*rev.General[float32])(j))
	case passkind.Q43:
		return snavelyJacobianTo((*Snavely[fixed.Q43])(k), (*rev.General[fixed.Q43])(j))
	}
	panic("no such numbers")
}

func snavelyJacobianTo[T rev.Real](k *Snavely[T], j *rev.General[T]) error {
	rev.ForwardPass(k)
	p := snavelyProblem(k)
	return p.jacobian(*j, rev.Vector[T]{})
}

//go:noinline
func snavelyMatrix(kind passkind.Kind, k, a, j unsafe.Pointer) {
	switch kind {
	case passkind.Float64:
		snavelyMatrixTo((*Snavely[float64])(k), (*revsparse.CSR[float64, int32])(a), (*rev.General[float64])(j))
	case passkind.Float32:
		snavelyMatrixTo((*Snavely[float32])(k), (*revsparse.CSR[float32, int32])(a), (*rev.General[float32])(j))
	case passkind.Q43:
		snavelyMatrixTo((*Snavely[fixed.Q43])(k), (*revsparse.CSR[fixed.Q43, int32])(a), (*rev.General[fixed.Q43])(j))
	default:
		panic("no such numbers")
	}
}

func snavelyMatrixTo[T rev.Real](k *Snavely[T], a *revsparse.CSR[T, int32], j *rev.General[T]) {
	rev.ForwardPass(k)
	p := snavelyProblem(k)
	*j, _ = p.csr(a)
}

//go:noinline
func weightedJacobian(kind passkind.Kind, k, j, z unsafe.Pointer) error {
	switch kind {
	case passkind.Float64:
		return weightedJacobianTo((*Weighted[float64])(k), (*rev.General[float64])(j), (*rev.Vector[float64])(z))
	case passkind.Float32:
		return weightedJacobianTo((*Weighted[float32])(k), (*rev.General[float32])(j), (*rev.Vector[float32])(z))
	case passkind.Q43:
		return weightedJacobianTo((*Weighted[fixed.Q43])(k), (*rev.General[fixed.Q43])(j), (*rev.Vector[fixed.Q43])(z))
	}
	panic("no such numbers")
}

func weightedJacobianTo[T rev.Real](k *Weighted[T], j *rev.General[T], z *rev.Vector[T]) error {
	rev.ForwardPass(k)
	p := weightedProblem(k)
	return p.jacobian(*j, *z)
}

//go:noinline
func weightedMatrix(kind passkind.Kind, k, a, j, z unsafe.Pointer) {
	switch kind {
	case passkind.Float64:
		weightedMatrixTo((*Weighted[float64])(k), (*revsparse.CSR[float64, int32])(a), (*rev.General[float64])(j), (*rev.Vector[float64])(z))
	case passkind.Float32:
		weightedMatrixTo((*Weighted[float32])(k), (*revsparse.CSR[float32, int32])(a), (*rev.General[float32])(j), (*rev.Vector[float32])(z))
	case passkind.Q43:
		weightedMatrixTo((*Weighted[fixed.Q43])(k), (*revsparse.CSR[fixed.Q43, int32])(a), (*rev.General[fixed.Q43])(j), (*rev.Vector[fixed.Q43])(z))
	default:
		panic("no such numbers")
	}
}

func weightedMatrixTo[T rev.Real](k *Weighted[T], a *revsparse.CSR[T, int32], j *rev.General[T], z *rev.Vector[T]) {
	rev.ForwardPass(k)
	p := weightedProblem(k)
	*j, *z = p.csr(a)
}
