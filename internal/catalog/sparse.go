package catalog

import (
	"math/rand/v2"

	"revnum/rev"
	"revnum/revsparse"
)

// sparseMatrix returns a matrix with two entries in each row, in columns that are
// random.
func sparseMatrix[T rev.Number](rnd *rand.Rand, r, c int) revsparse.CSR[T, int] {
	ptr, ind := make([]int, r+1), make([]int, 2*r)
	for i := range r {
		ptr[i+1] = 2 * (i + 1)
		ind[2*i], ind[2*i+1] = rnd.IntN(c), rnd.IntN(c)
	}
	return revsparse.CSR[T, int]{Rows: r, Cols: c, Ptr: ptr, Ind: ind, Data: numbersOf[T](rnd, 2*r)}
}

func sparseMul[T rev.Number](rnd *rand.Rand, n, _ int) revsparse.Mul[T, int] {
	return revsparse.Mul[T, int]{
		C: matrix[T](rnd, n, 2), Alpha: scalar[T](rnd), A: sparseMatrix[T](rnd, n, n+1), B: matrix[T](rnd, n+1, 2),
	}
}

func sparseDot[T rev.Number](rnd *rand.Rand, n, _ int) revsparse.Dot[T, int] {
	return revsparse.Dot[T, int]{Out: scalar[T](rnd), A: sparseMatrix[T](rnd, n, 3), B: sparseMatrix[T](rnd, n, 3)}
}

func sampledMul[T rev.Real](rnd *rand.Rand, n, _ int) revsparse.SampledMul[T, int] {
	return revsparse.SampledMul[T, int]{S: sparseMatrix[T](rnd, n, n+1), A: matrix[T](rnd, n, 3), B: matrix[T](rnd, n+1, 3)}
}

func symmetricMul[T rev.Real](rnd *rand.Rand, n, _ int) revsparse.SymmetricMul[T, int] {
	return revsparse.SymmetricMul[T, int]{C: matrix[T](rnd, n, 2), Alpha: scalar[T](rnd), A: sparseMatrix[T](rnd, n, n), B: matrix[T](rnd, n, 2)}
}

func spgemm[T rev.Real](rnd *rand.Rand, n, _ int) revsparse.SpGEMM[T, int] {
	return revsparse.SpGEMM[T, int]{C: sparseMatrix[T](rnd, n, 3), A: sparseMatrix[T](rnd, n, n+1), B: sparseMatrix[T](rnd, n+1, 3)}
}

func sparseLogMul[T rev.Float](rnd *rand.Rand, n, _ int) revsparse.LogMul[T, int] {
	return revsparse.LogMul[T, int]{C: matrix[T](rnd, n, 2), A: sparseMatrix[T](rnd, n, n+1), B: matrix[T](rnd, n+1, 2)}
}

// symmetricMatrix returns the lower triangle of a matrix whose diagonal dominates
// and has eigenvalues that lie apart.
func symmetricMatrix[T rev.Float](rnd *rand.Rand, n int) revsparse.CSR[T, int] {
	a := revsparse.CSR[T, int]{Rows: n, Cols: n, Ptr: []int{0}}
	for i := range n {
		if i > 0 {
			a.Ind, a.Data = append(a.Ind, rnd.IntN(i)), append(a.Data, T(rnd.NormFloat64()/4))
		}
		a.Ind, a.Data = append(a.Ind, i), append(a.Data, T(3*i+3))
		a.Ptr = append(a.Ptr, len(a.Ind))
	}
	return a
}

func triSolve[T rev.Float](rnd *rand.Rand, n, _ int) revsparse.TriSolve[T, int] {
	return revsparse.TriSolve[T, int]{X: vector[T](rnd, n), A: symmetricMatrix[T](rnd, n), B: vector[T](rnd, n)}
}

func sparseSolve[T rev.Float](rnd *rand.Rand, n, _ int) revsparse.Solve[T, int] {
	return revsparse.Solve[T, int]{X: matrix[T](rnd, n, 2), A: symmetricMatrix[T](rnd, n), B: matrix[T](rnd, n, 2)}
}

func sparseCG[T rev.Float](rnd *rand.Rand, n, _ int) revsparse.CG[T, int] {
	return revsparse.CG[T, int]{X: vector[T](rnd, n), A: symmetricMatrix[T](rnd, n), B: vector[T](rnd, n)}
}

func dominantEig[T rev.Float](rnd *rand.Rand, n, _ int) revsparse.DominantEig[T, int] {
	return revsparse.DominantEig[T, int]{Values: vector[T](rnd, 1), Vectors: matrix[T](rnd, n, 1), A: symmetricMatrix[T](rnd, n)}
}

// diagonal is the operator that multiplies each element by a parameter.
type diagonal struct{ n int }

func (d diagonal) Dims() (rows, params int) { return d.n, d.n }

func (d diagonal) AddMul(y, theta, x []float64) {
	for i, v := range x {
		y[i] += theta[i] * v
	}
}

func (d diagonal) AddMulTangent(y, _, dtheta, x []float64) { d.AddMul(y, dtheta, x) }

func (d diagonal) AddGradient(g, _, u, v []float64) { d.AddMul(g, u, v) }

func (d diagonal) AddGradientTangent(_, _, _, _, _ []float64) {}

func operatorEig(rnd *rand.Rand, n, _ int) revsparse.OperatorEig {
	k := revsparse.OperatorEig{
		Values: vector[float64](rnd, 1), Vectors: matrix[float64](rnd, n, 1), Theta: vector[float64](rnd, n), Op: diagonal{n},
	}
	for i := range k.Theta.Data {
		k.Theta.Data[i] += float64(4 * i)
	}
	return k
}
