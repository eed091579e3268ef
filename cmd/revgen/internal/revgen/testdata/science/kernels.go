package science

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revlinalg"
)

// chain applies a layer several times. Each adds to what there is, which is needed by the tanh.
//
//revgen:gradient w b
func chain(w *mat.Dense, b []float64, steps int) float64 {
	return layers(w, b, steps)
}

// chainOf is the same function of one vector.
//
//revgen:gradient p hessian
func chainOf(p []float64, n, steps int) float64 {
	return layers(mat.NewDense(n, n, p[:n*n]), p[n*n:], steps)
}

func layers(w *mat.Dense, b []float64, steps int) float64 {
	h := make([]float64, len(b))
	copy(h, b)
	loss := 0.0
	for range steps {
		y := make([]float64, len(h))
		for i, v := range h {
			y[i] = math.Tanh(v)
		}
		revlinalg.NewAffine(mat.NewVecDense(len(h), h), w, mat.NewVecDense(len(y), y), mat.NewVecDense(len(b), b)).Forward()
		revlinalg.Dot[float64]{Out: &loss, X: rev.ViewSlice(h), Y: rev.ViewSlice(y)}.Forward()
		loss += 0.1 * loss * loss
	}
	return loss
}

// density is a negative logarithm, as the example Gaussian, and an error if a is not positive definite.
//
//revgen:gradient a x
func density(a, x *mat.Dense) (float64, error) {
	n, m := x.Dims()
	l, y := mat.NewDense(n, n, nil), mat.NewDense(n, m, nil)
	if err := (revlinalg.Cholesky[float64]{L: rev.ViewDense(l), A: rev.ViewDense(a)}).Forward(); err != nil {
		return 0, err
	}
	if err := (revlinalg.TriSolve[float64]{X: rev.ViewDense(y), A: rev.ViewDense(l), B: rev.ViewDense(x)}).Forward(); err != nil {
		return 0, err
	}
	sum := 0.0
	for i := range n {
		sum += float64(m) * math.Log(l.At(i, i))
		for j := range m {
			sum += y.At(i, j) * y.At(i, j) / 2
		}
	}
	return sum, nil
}

// meshed is a polynomial of a matrix that planar rotations change in place, again and again.
//
//revgen:gradient x theta
func meshed(x *mat.Dense, theta []float64, steps int) float64 {
	s := 0.0
	for k := range steps {
		revlinalg.NewUnitary(x, mat.NewVecDense(len(theta), theta)).Forward()
		s += x.At(0, 0) * x.At(k%2, 1) * x.At(1, 0)
	}
	return s
}

// solved stores the squares of a solution of linear equations whose right side is dst before.
//
//revgen:jacobian p
func solved(dst, p []float64) {
	n := len(dst)
	b := make([]float64, n)
	for i := range b {
		b[i] = 1 + math.Sin(p[i])
	}
	z := make([]float64, n)
	a := mat.NewDense(n, n, p[:n*n])
	for try := 0; try < 2; try++ {
		err := revlinalg.Solve[float64]{X: rev.ViewDense(mat.NewDense(n, 1, z)), A: rev.ViewDense(a), B: rev.ViewDense(mat.NewDense(n, 1, b))}.Forward()
		if err != nil {
			return
		}
	}
	revlinalg.NewMulElem(mat.NewVecDense(n, dst), mat.NewVecDense(n, z), mat.NewVecDense(n, z)).Forward()
}
