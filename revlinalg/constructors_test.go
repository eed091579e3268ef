package revlinalg_test

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/revlinalg"
)

func TestConstructors(t *testing.T) {
	kerneltest.Constructors(t, revlinalg.NewCholesky, revlinalg.NewClip, revlinalg.NewLeastSquaresVec, revlinalg.NewMatMul, revlinalg.NewSolve, revlinalg.NewSolveVec, revlinalg.NewSymEig, revlinalg.NewTriSolve, revlinalg.NewUnitaryVec)
}

// Products of what gonum stores as vectors, and gradients of one factor.
func TestMatMulOfVectors(t *testing.T) {
	a := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	x, y := mat.NewVecDense(3, []float64{1, 0, -1}), mat.NewVecDense(2, []float64{2, 1})
	ax, yax, outer := mat.NewDense(2, 1, nil), mat.NewDense(1, 1, nil), mat.NewDense(2, 3, nil)
	revlinalg.NewMatMul(ax, a, x).Forward()
	revlinalg.NewMatMul(yax, y.T(), ax).Forward()
	revlinalg.NewMatMul(outer, y, x.T()).Forward()
	var want mat.Dense
	want.Outer(1, y, x)
	if got := ax.RawMatrix().Data; !slices.Equal(got, []float64{-2, -2}) || yax.At(0, 0) != -6 || !mat.Equal(outer, &want) {
		t.Errorf("A·x = %v, yᵀ·A·x = %v, y·xᵀ = %v", got, yax.At(0, 0), outer.RawMatrix().Data)
	}
	one, gx := mat.NewDense(2, 1, []float64{1, 1}), mat.NewVecDense(3, nil)
	revlinalg.NewMatMul(ax, a, x).Adjoint(revlinalg.NewMatMul(one, nil, gx))
	if got := gx.RawVector().Data; !slices.Equal(got, []float64{5, 7, 9}) {
		t.Errorf("gradient %v", got)
	}
	defer func() {
		if err, ok := recover().(*rev.OperandError); !ok || err.Operand != "A" || !strings.Contains(err.Reason, "*mat.SymDense") {
			t.Errorf("panic %v", err)
		}
	}()
	revlinalg.NewMatMul(ax, mat.NewSymDense(2, nil), y)
}
