package numbers

import (
	"math/rand/v2"

	"revnum/rev"
	"revnum/revlinalg"
)

// definite returns a symmetric matrix, diagonally dominant.
func definite[T rev.Float](rnd *rand.Rand, n int) rev.General[T] {
	a := matrix[T](rnd, n, n)
	for i := range n {
		for j := range i {
			a.Row(i)[j] = a.Row(j)[i]
		}
		a.Row(i)[i] += T(3 * n)
	}
	return a
}

func cholesky[T rev.Float](rnd *rand.Rand, n int) revlinalg.Cholesky[T] {
	return revlinalg.Cholesky[T]{L: matrix[T](rnd, n, n), A: definite[T](rnd, n)}
}

func denseTriSolve[T rev.Float](rnd *rand.Rand, n int) revlinalg.TriSolve[T] {
	return revlinalg.TriSolve[T]{X: matrix[T](rnd, n, 2), A: definite[T](rnd, n), B: matrix[T](rnd, n, 2)}
}

func solve[T rev.Float](rnd *rand.Rand, n int) revlinalg.Solve[T] {
	return revlinalg.Solve[T]{X: matrix[T](rnd, n, 2), A: definite[T](rnd, n), B: matrix[T](rnd, n, 2)}
}

func inv[T rev.Float](rnd *rand.Rand, n int) revlinalg.Inv[T] {
	return revlinalg.Inv[T]{B: matrix[T](rnd, n, n), A: definite[T](rnd, n)}
}

func det[T rev.Float](rnd *rand.Rand, n int) revlinalg.Det[T] {
	return revlinalg.Det[T]{Out: scalar[T](rnd), A: matrix[T](rnd, n, n)}
}

func logDet[T rev.Float](rnd *rand.Rand, n int) revlinalg.LogDet[T] {
	return revlinalg.LogDet[T]{Out: scalar[T](rnd), Sign: scalar[T](rnd), A: definite[T](rnd, n)}
}

func qr[T rev.Float](rnd *rand.Rand, n int) revlinalg.QR[T] {
	return revlinalg.QR[T]{Q: matrix[T](rnd, n, n), R: matrix[T](rnd, n, n), A: definite[T](rnd, n)}
}

func gramSchmidt[T rev.Float](rnd *rand.Rand, n int) revlinalg.GramSchmidt[T] {
	return revlinalg.GramSchmidt[T](qr[T](rnd, n))
}

func detMinors[T rev.Real](rnd *rand.Rand, n int) revlinalg.DetMinors[T] {
	return revlinalg.DetMinors[T]{Out: scalar[T](rnd), A: matrix[T](rnd, n, n)}
}

func symEig[T rev.Float](rnd *rand.Rand, n int) revlinalg.SymEig[T] {
	a := definite[T](rnd, n)
	for i := range n {
		a.Row(i)[i] += T(4 * i)
	}
	return revlinalg.SymEig[T]{W: vector[T](rnd, n), V: matrix[T](rnd, n, n), A: a}
}

func svd[T rev.Float](rnd *rand.Rand, n int) revlinalg.SVD[T] {
	k := symEig[T](rnd, n)
	return revlinalg.SVD[T]{U: k.V, S: k.W, V: matrix[T](rnd, n, n), A: k.A}
}
