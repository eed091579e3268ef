package numbers

import (
	"math/rand/v2"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revsparse"
)

// scalarsOf is numbersOf for complex numbers too.
func scalarsOf[T revsparse.Scalar](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	switch x := any(x).(type) {
	case []float64:
		copy(x, numbersOf[float64](rnd, n))
	case []float32:
		copy(x, numbersOf[float32](rnd, n))
	case []fixed.Q43:
		copy(x, numbersOf[fixed.Q43](rnd, n))
	case []complex128:
		for i := range x {
			x[i] = complex(rnd.NormFloat64()/2, rnd.NormFloat64()/2)
		}
	}
	return x
}

func scalarMatrix[T revsparse.Scalar](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, scalarsOf[T](rnd, r*c))
}

// sparseMatrix returns a matrix with two entries in each row, in columns that are
// random.
func sparseMatrix[T revsparse.Scalar](rnd *rand.Rand, r, c int) revsparse.CSR[T, int] {
	ptr, ind := make([]int, r+1), make([]int, 2*r)
	for i := range r {
		ptr[i+1] = 2 * (i + 1)
		ind[2*i], ind[2*i+1] = rnd.IntN(c), rnd.IntN(c)
	}
	return revsparse.CSR[T, int]{Rows: r, Cols: c, Ptr: ptr, Ind: ind, Data: scalarsOf[T](rnd, 2*r)}
}

func sparseMul[T revsparse.Scalar](rnd *rand.Rand, n int) revsparse.Mul[T, int] {
	return revsparse.Mul[T, int]{
		C: scalarMatrix[T](rnd, n, 2), Alpha: &scalarsOf[T](rnd, 1)[0], A: sparseMatrix[T](rnd, n, n+1), B: scalarMatrix[T](rnd, n+1, 2),
	}
}

func sparseDot[T revsparse.Scalar](rnd *rand.Rand, n int) revsparse.Dot[T, int] {
	return revsparse.Dot[T, int]{Out: &scalarsOf[T](rnd, 1)[0], A: sparseMatrix[T](rnd, n, 3), B: sparseMatrix[T](rnd, n, 3)}
}

func sampledMul[T rev.Real](rnd *rand.Rand, n int) revsparse.SampledMul[T, int] {
	return revsparse.SampledMul[T, int]{S: sparseMatrix[T](rnd, n, n+1), A: matrix[T](rnd, n, 3), B: matrix[T](rnd, n+1, 3)}
}

func symmetricMul[T rev.Real](rnd *rand.Rand, n int) revsparse.SymmetricMul[T, int] {
	return revsparse.SymmetricMul[T, int]{C: matrix[T](rnd, n, 2), Alpha: scalar[T](rnd), A: sparseMatrix[T](rnd, n, n), B: matrix[T](rnd, n, 2)}
}

func spgemm[T rev.Real](rnd *rand.Rand, n int) revsparse.SpGEMM[T, int] {
	return revsparse.SpGEMM[T, int]{C: sparseMatrix[T](rnd, n, 3), A: sparseMatrix[T](rnd, n, n+1), B: sparseMatrix[T](rnd, n+1, 3)}
}

func sparseLogMul[T rev.Float](rnd *rand.Rand, n int) revsparse.LogMul[T, int] {
	return revsparse.LogMul[T, int]{C: matrix[T](rnd, n, 2), A: sparseMatrix[T](rnd, n, n+1), B: matrix[T](rnd, n+1, 2)}
}
