package revlinalg_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func pinvSpec[T rev.Float](extra int, wide bool) revtest.Spec[revlinalg.Pinv[T]] {
	build := func(rnd *rand.Rand, a rev.General[T]) revlinalg.Pinv[T] {
		if wide {
			t := rev.NewGeneral[T](a.Cols, a.Rows, nil)
			for i := range a.Rows {
				for j, v := range a.Row(i) {
					t.Row(j)[i] = v
				}
			}
			a = t
		}
		return revlinalg.Pinv[T]{X: kerneltest.Matrix[T](rnd, a.Cols, a.Rows), A: a}
	}
	return revtest.Spec[revlinalg.Pinv[T]]{
		New:       func(rnd *rand.Rand, size int) revlinalg.Pinv[T] { return build(rnd, tall[T](rnd, size+extra, size)) },
		Large:     150,
		RoundTrip: 4, // the sum may be larger than either
		Failing: func(rnd *rand.Rand, size int) revlinalg.Pinv[T] {
			return build(rnd, deficientTall[T](rnd, size+1+extra, size+1))
		},
	}
}

func TestPinv(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, pinvSpec[float64](3, false)) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, pinvSpec[float32](2, false)) })
	t.Run("square", func(t *testing.T) { revtest.Kernel(t, pinvSpec[float64](0, false)) })
	t.Run("wide", func(t *testing.T) { revtest.Kernel(t, pinvSpec[float64](3, true)) })
}

// The four conditions of Penrose, and the derivative as that of least squares.
func TestPinvValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(87, 1))
	for _, c := range [][2]int{{1, 1}, {9, 4}, {4, 9}, {100, 30}, {30, 100}, {60, 60}} {
		m, n := c[0], c[1]
		a := mat.NewDense(m, n, kerneltest.Normals[float64](rnd, m*n, 1))
		var x, ax, xa, axa, xax mat.Dense
		if err := revlinalg.NewPinv(&x, a).Forward(); err != nil {
			t.Fatal(err)
		}
		ax.Mul(a, &x)
		xa.Mul(&x, a)
		axa.Mul(&ax, a)
		xax.Mul(&xa, &x)
		for i, pair := range [...][2]mat.Matrix{{&axa, a}, {&xax, &x}, {&ax, ax.T()}, {&xa, xa.T()}} {
			var diff mat.Dense
			diff.Sub(pair[0], pair[1])
			if !(mat.Norm(&diff, 2) <= 1e-11*(1+mat.Norm(&x, 2))) {
				t.Errorf("%d×%d: condition %d is off by %g", m, n, i+1, mat.Norm(&diff, 2))
			}
		}
		if m < n {
			continue
		}
		var want, least, bBar mat.Dense
		xBar := mat.NewDense(n, m, kerneltest.Normals[float64](rnd, m*n, 1))
		var got mat.Dense
		if err := errors.Join(revlinalg.NewPinv(&x, a).Adjoint(revlinalg.NewPinv(xBar, &got)), revlinalg.NewLeastSquares(&least, a, identity(m)).Adjoint(revlinalg.NewLeastSquares(xBar, &want, &bBar))); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(&got, &want, 1e-9*mat.Norm(&want, 2)) {
			t.Errorf("%d×%d: not the gradient of least squares", m, n)
		}
	}
}
