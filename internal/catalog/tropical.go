package catalog

import (
	"math/rand/v2"

	"revnum/rev"
	"revnum/revtropical"
)

func tropicalMatMul[T rev.Real](rnd *rand.Rand, r, c int) revtropical.MatMul[T] {
	return revtropical.MatMul[T]{C: matrix[T](rnd, r, 2), A: matrix[T](rnd, r, c), B: matrix[T](rnd, c, 2)}
}

func tropicalSparseMul[T rev.Real](rnd *rand.Rand, n, _ int) revtropical.SparseMul[T, int] {
	return revtropical.SparseMul[T, int]{C: matrix[T](rnd, n, 2), A: sparseMatrix[T](rnd, n, n+1), B: matrix[T](rnd, n+1, 2)}
}
