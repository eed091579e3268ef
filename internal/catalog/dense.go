package catalog

import (
	"math"
	"math/rand/v2"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revlog"
)

// numbersOf returns random numbers of a standard deviation of 1/2. Accumulators
// must not be zero, as what is added to zero comes back over floats too.
func numbersOf[T rev.Number](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	switch x := any(x).(type) {
	case []float64:
		for i := range x {
			x[i] = rnd.NormFloat64() / 2
		}
	case []float32:
		for i := range x {
			x[i] = float32(rnd.NormFloat64() / 2)
		}
	case []fixed.Q43:
		for i := range x {
			x[i] = fixed.Of[fixed.Q43](rnd.NormFloat64() / 2)
		}
	case []complex128:
		for i := range x {
			x[i] = complex(0.5+rnd.Float64(), rnd.NormFloat64())
		}
	}
	return x
}

func vector[T rev.Number](rnd *rand.Rand, n int) rev.Vector[T] {
	return rev.ViewSlice(numbersOf[T](rnd, n))
}

func matrix[T rev.Number](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, numbersOf[T](rnd, r*c))
}

func scalar[T rev.Number](rnd *rand.Rand) *T { return &numbersOf[T](rnd, 1)[0] }

// positives returns numbers between 1/2 and 3/2.
func positives[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](0.5 + rnd.Float64())
	}
	return rev.ViewSlice(x)
}

// dominant returns a matrix whose diagonal dominates and has values that lie apart,
// and so have its eigenvalues and singular values. If it is square it is
// symmetric.
func dominant[T rev.Float](rnd *rand.Rand, r, c int) rev.General[T] {
	a := matrix[T](rnd, r, c)
	for i := range min(r, c) {
		for j := 0; j < i && r == c; j++ {
			a.Row(i)[j] = a.Row(j)[i]
		}
		a.Row(i)[i] += T(3*max(r, c) + 4*i)
	}
	return a
}

type (
	c128 = complex128
	q43  = fixed.Q43
)

func affine[T rev.Real](rnd *rand.Rand, r, c int) revlinalg.Affine[T] {
	return revlinalg.Affine[T]{Y: vector[T](rnd, r), W: matrix[T](rnd, r, c), X: vector[T](rnd, c), B: vector[T](rnd, r)}
}

func matMul[T rev.Real](rnd *rand.Rand, r, c int) revlinalg.MatMul[T] {
	return revlinalg.MatMul[T]{C: matrix[T](rnd, r, r+c), A: matrix[T](rnd, r, c), B: matrix[T](rnd, c, r+c)}
}

func unitary[T rev.Real](rnd *rand.Rand, r, c int) revlinalg.Unitary[T] {
	return revlinalg.Unitary[T]{X: matrix[T](rnd, r, c), Theta: vector[T](rnd, r*(r-1)/2)}
}

func complexUnitary(rnd *rand.Rand, r, c int) revlinalg.ComplexUnitary {
	return revlinalg.ComplexUnitary{
		X: matrix[c128](rnd, r, c), Theta: vector[float64](rnd, r*(r-1)/2), Phi: vector[float64](rnd, r*(r-1)/2), Delta: vector[float64](rnd, r),
	}
}

func givensQR[T rev.Float](rnd *rand.Rand, r, c int) revlinalg.GivensQR[T] {
	return revlinalg.GivensQR[T]{A: matrix[T](rnd, r, c)}
}

func axpy[T rev.Number](rnd *rand.Rand, r, _ int) revlinalg.Axpy[T] {
	return revlinalg.Axpy[T]{Y: vector[T](rnd, r), Alpha: scalar[T](rnd), X: vector[T](rnd, r)}
}

func dot[T rev.Number](rnd *rand.Rand, r, _ int) revlinalg.Dot[T] {
	return revlinalg.Dot[T]{Out: scalar[T](rnd), X: vector[T](rnd, r), Y: vector[T](rnd, r)}
}

func sum[T rev.Number](rnd *rand.Rand, r, _ int) revlinalg.Sum[T] {
	return revlinalg.Sum[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func sumSquares[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.SumSquares[T] {
	return revlinalg.SumSquares[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func norm1[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Norm1[T] {
	return revlinalg.Norm1[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func norm2[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Norm2[T] {
	return revlinalg.Norm2[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func normInf[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.NormInf[T] {
	return revlinalg.NormInf[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func frobenius[T rev.Real](rnd *rand.Rand, r, c int) revlinalg.Frobenius[T] {
	return revlinalg.Frobenius[T]{Out: scalar[T](rnd), A: matrix[T](rnd, r, c)}
}

func complexSumSquares(rnd *rand.Rand, r, _ int) revlinalg.ComplexSumSquares {
	return revlinalg.ComplexSumSquares{Out: scalar[float64](rnd), X: vector[c128](rnd, r)}
}

func complexNorm1(rnd *rand.Rand, r, _ int) revlinalg.ComplexNorm1 {
	return revlinalg.ComplexNorm1{Out: scalar[float64](rnd), X: vector[c128](rnd, r)}
}

func complexNorm2(rnd *rand.Rand, r, _ int) revlinalg.ComplexNorm2 {
	return revlinalg.ComplexNorm2{Out: scalar[float64](rnd), X: vector[c128](rnd, r)}
}

func complexFrobenius(rnd *rand.Rand, r, c int) revlinalg.ComplexFrobenius {
	return revlinalg.ComplexFrobenius{Out: scalar[float64](rnd), A: matrix[c128](rnd, r, c)}
}

func complexAbs(rnd *rand.Rand, r, _ int) revlinalg.ComplexAbs {
	return revlinalg.ComplexAbs{Y: vector[float64](rnd, r), X: vector[c128](rnd, r)}
}

func complexLog(rnd *rand.Rand, r, _ int) revlinalg.Log[c128] {
	return revlinalg.Log[c128]{Y: vector[c128](rnd, r), X: vector[c128](rnd, r)}
}

func outer[T rev.Real](rnd *rand.Rand, r, c int) revlinalg.Outer[T] {
	return revlinalg.Outer[T]{A: matrix[T](rnd, r, c), Alpha: scalar[T](rnd), X: vector[T](rnd, r), Y: vector[T](rnd, c)}
}

func mean[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Mean[T] {
	return revlinalg.Mean[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func variance[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Variance[T] {
	return revlinalg.Variance[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func covariance[T rev.Real](rnd *rand.Rand, r, c int) revlinalg.Covariance[T] {
	return revlinalg.Covariance[T]{C: matrix[T](rnd, c, c), X: matrix[T](rnd, r, c)}
}

func polyLeastSquares[T rev.Float](rnd *rand.Rand, r, c int) revlinalg.PolyLeastSquares[T] {
	return revlinalg.PolyLeastSquares[T]{Out: scalar[T](rnd), C: vector[T](rnd, c), X: vector[T](rnd, r), Y: vector[T](rnd, r)}
}

func exp[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Exp[T] {
	return revlinalg.Exp[T]{Y: vector[T](rnd, r), X: vector[T](rnd, r)}
}

func log[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Log[T] {
	return revlinalg.Log[T]{Y: vector[T](rnd, r), X: positives[T](rnd, r)}
}

func sqrt[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Sqrt[T] {
	return revlinalg.Sqrt[T]{Y: vector[T](rnd, r), X: positives[T](rnd, r)}
}

func sin[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Sin[T] {
	return revlinalg.Sin[T]{Y: vector[T](rnd, r), X: vector[T](rnd, r)}
}

func cos[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Cos[T] {
	return revlinalg.Cos[T]{Y: vector[T](rnd, r), X: vector[T](rnd, r)}
}

func abs[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Abs[T] {
	return revlinalg.Abs[T]{Y: vector[T](rnd, r), X: vector[T](rnd, r)}
}

func mulElem[T rev.Number](rnd *rand.Rand, r, _ int) revlinalg.MulElem[T] {
	return revlinalg.MulElem[T]{Z: vector[T](rnd, r), X: vector[T](rnd, r), Y: vector[T](rnd, r)}
}

func divElem[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.DivElem[T] {
	return revlinalg.DivElem[T]{Z: vector[T](rnd, r), X: vector[T](rnd, r), Y: positives[T](rnd, r)}
}

func atan2[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Atan2[T] {
	return revlinalg.Atan2[T]{Z: vector[T](rnd, r), X: vector[T](rnd, r), Y: positives[T](rnd, r)}
}

func pow[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.Pow[T] {
	return revlinalg.Pow[T]{Z: vector[T](rnd, r), X: positives[T](rnd, r), Y: positives[T](rnd, r)}
}

func cholesky[T rev.Float](rnd *rand.Rand, r, _ int) revlinalg.Cholesky[T] {
	return revlinalg.Cholesky[T]{L: matrix[T](rnd, r, r), A: dominant[T](rnd, r, r)}
}

func qr[T rev.Float](rnd *rand.Rand, r, c int) revlinalg.QR[T] {
	return revlinalg.QR[T]{Q: matrix[T](rnd, r+c, c), R: matrix[T](rnd, c, c), A: dominant[T](rnd, r+c, c)}
}

func gramSchmidt[T rev.Float](rnd *rand.Rand, r, c int) revlinalg.GramSchmidt[T] {
	return revlinalg.GramSchmidt[T](qr[T](rnd, r, c))
}

func denseTriSolve[T rev.Float](rnd *rand.Rand, r, c int) revlinalg.TriSolve[T] {
	return revlinalg.TriSolve[T]{X: matrix[T](rnd, r, c), A: dominant[T](rnd, r, r), B: matrix[T](rnd, r, c)}
}

func solve[T rev.Float](rnd *rand.Rand, r, c int) revlinalg.Solve[T] {
	return revlinalg.Solve[T]{X: matrix[T](rnd, r, c), A: dominant[T](rnd, r, r), B: matrix[T](rnd, r, c)}
}

func inv[T rev.Float](rnd *rand.Rand, r, _ int) revlinalg.Inv[T] {
	return revlinalg.Inv[T]{B: matrix[T](rnd, r, r), A: dominant[T](rnd, r, r)}
}

func det[T rev.Float](rnd *rand.Rand, r, _ int) revlinalg.Det[T] {
	return revlinalg.Det[T]{Out: scalar[T](rnd), A: matrix[T](rnd, r, r)}
}

func detMinors[T rev.Real](rnd *rand.Rand, r, _ int) revlinalg.DetMinors[T] {
	return revlinalg.DetMinors[T]{Out: scalar[T](rnd), A: matrix[T](rnd, r, r)}
}

func logDet[T rev.Float](rnd *rand.Rand, r, _ int) revlinalg.LogDet[T] {
	return revlinalg.LogDet[T]{Out: scalar[T](rnd), Sign: scalar[T](rnd), A: dominant[T](rnd, r, r)}
}

func symEig[T rev.Float](rnd *rand.Rand, r, _ int) revlinalg.SymEig[T] {
	return revlinalg.SymEig[T]{W: vector[T](rnd, r), V: matrix[T](rnd, r, r), A: dominant[T](rnd, r, r)}
}

func svd[T rev.Float](rnd *rand.Rand, r, c int) revlinalg.SVD[T] {
	n := min(r, c)
	return revlinalg.SVD[T]{U: matrix[T](rnd, r, n), S: vector[T](rnd, n), V: matrix[T](rnd, c, n), A: dominant[T](rnd, r, c)}
}

// logOutputs returns logs that are not much smaller than sums of so many terms.
func logOutputs[T rev.Float](rnd *rand.Rand, n, terms int) []T {
	x := numbersOf[T](rnd, n)
	for i := range x {
		x[i] += T(math.Log(float64(1 + terms)))
	}
	return x
}

func logSum[T rev.Float](rnd *rand.Rand, r, _ int) revlog.Sum[T] {
	return revlog.Sum[T]{Out: &logOutputs[T](rnd, 1, r)[0], X: vector[T](rnd, r)}
}

func logDot[T rev.Float](rnd *rand.Rand, r, _ int) revlog.Dot[T] {
	return revlog.Dot[T]{Out: &logOutputs[T](rnd, 1, r)[0], X: vector[T](rnd, r), Y: vector[T](rnd, r)}
}

func logMatMul[T rev.Float](rnd *rand.Rand, r, c int) revlog.MatMul[T] {
	return revlog.MatMul[T]{C: rev.NewGeneral(r, r+c, logOutputs[T](rnd, r*(r+c), c)), A: matrix[T](rnd, r, c), B: matrix[T](rnd, c, r+c)}
}

func logMulElem[T rev.Float](rnd *rand.Rand, r, _ int) revlog.MulElem[T] {
	return revlog.MulElem[T]{Z: rev.ViewSlice(logOutputs[T](rnd, r, 1)), X: vector[T](rnd, r), Y: vector[T](rnd, r)}
}

func logProd[T rev.Real](rnd *rand.Rand, r, _ int) revlog.Prod[T] {
	return revlog.Prod[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func logPowers[T rev.Real](rnd *rand.Rand, r, c int) revlog.Powers[T] {
	return revlog.Powers[T]{Y: vector[T](rnd, r), A: matrix[T](rnd, r, c), X: vector[T](rnd, c)}
}

func fft(rnd *rand.Rand, n, _ int) revlinalg.FFT { return revlinalg.FFT{X: vector[c128](rnd, n)} }

func realFFT(rnd *rand.Rand, n, _ int) revlinalg.RealFFT {
	k := revlinalg.RealFFT{Y: vector[c128](rnd, n/2+1), X: vector[float64](rnd, n)}
	if n == 0 {
		k.Y = vector[c128](rnd, 0)
	}
	return k
}

func fixedFFT(rnd *rand.Rand, n, _ int) revlinalg.FixedFFT {
	return revlinalg.FixedFFT{Re: vector[q43](rnd, n), Im: vector[q43](rnd, n)}
}
