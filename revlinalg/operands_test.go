package revlinalg_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/revlinalg"
)

// Gonum's empty values are operands without elements.
func TestEmptyConstructors(t *testing.T) {
	var det, dot float64
	revlinalg.NewDet(&det, &mat.Dense{}).Forward()
	revlinalg.NewDot(&dot, &mat.VecDense{}, &mat.VecDense{}).Forward()
	if det != 1 || dot != 0 {
		t.Errorf("the determinant of nothing is %v, its product with itself %v, want 1 and 0", det, dot)
	}
	revlinalg.NewMatMul(&mat.Dense{}, &mat.Dense{}, (&mat.Dense{}).T()).Forward()
	revlinalg.NewUnitary(&mat.Dense{}, &mat.VecDense{}).Forward()
	revlinalg.NewComplexUnitary(&mat.CDense{}, &mat.VecDense{}, &mat.VecDense{}, &mat.VecDense{}).Forward()
	for name, err := range map[string]error{
		"Cholesky": revlinalg.NewCholesky(&mat.TriDense{}, &mat.SymDense{}).Forward(),
		"QR":       revlinalg.NewQR(&mat.Dense{}, &mat.Dense{}, &mat.Dense{}).Forward(),
		"Solve":    revlinalg.NewSolve(&mat.Dense{}, &mat.Dense{}, &mat.Dense{}).Forward(),
		"SVD":      revlinalg.NewSVD(&mat.Dense{}, &mat.VecDense{}, &mat.Dense{}, &mat.Dense{}).Forward(),
		"SymEig":   revlinalg.NewSymEig(&mat.VecDense{}, &mat.Dense{}, &mat.SymDense{}).Forward(),
	} {
		if err != nil {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}

// Operands from constructors that do not fit together panic with gonum's values, at
// the latest when the kernel runs.
func TestConstructorShapes(t *testing.T) {
	var out float64
	vec := func(n int) *mat.VecDense { return mat.NewVecDense(n, nil) }
	dense := func(r, c int) *mat.Dense { return mat.NewDense(r, c, nil) }
	cvec := func(n int) cblas128.Vector { return cblas128.Vector{N: n, Data: make([]complex128, n), Inc: 1} }
	for name, c := range map[string]struct {
		want mat.Error
		call func()
	}{
		"Abs":       {mat.ErrShape, func() { revlinalg.NewAbs(vec(2), vec(3)).Forward() }},
		"Affine":    {mat.ErrShape, func() { revlinalg.NewAffine(vec(2), dense(2, 3), vec(2), vec(2)).Forward() }},
		"Affine, b": {mat.ErrShape, func() { revlinalg.NewAffine(vec(2), dense(2, 3), vec(3), vec(3)).Forward() }},
		"Atan2":     {mat.ErrShape, func() { _ = revlinalg.NewAtan2(vec(2), vec(2), vec(3)).Forward() }},
		"Axpy":      {mat.ErrShape, func() { revlinalg.NewAxpy(vec(2), &out, vec(3)).Forward() }},
		"Cholesky": {mat.ErrShape, func() {
			_ = revlinalg.NewCholesky(mat.NewTriDense(2, mat.Lower, nil), mat.NewSymDense(3, nil)).Forward()
		}},
		"Cholesky, U":       {mat.ErrTriangle, func() { revlinalg.NewCholesky(mat.NewTriDense(2, mat.Upper, nil), mat.NewSymDense(2, nil)) }},
		"ComplexAbs":        {mat.ErrShape, func() { revlinalg.NewComplexAbs(vec(2), cvec(3)).Forward() }},
		"ComplexUnitary":    {mat.ErrShape, func() { revlinalg.NewComplexUnitary(mat.NewCDense(3, 2, nil), vec(3), vec(3), vec(2)).Forward() }},
		"ComplexUnitary, φ": {mat.ErrShape, func() { revlinalg.NewComplexUnitary(mat.NewCDense(3, 2, nil), vec(3), vec(2), vec(3)).Forward() }},
		"Cos":               {mat.ErrShape, func() { revlinalg.NewCos(vec(2), vec(3)).Forward() }},
		"Covariance":        {mat.ErrShape, func() { revlinalg.NewCovariance(dense(2, 2), dense(2, 3)).Forward() }},
		"Det":               {mat.ErrShape, func() { revlinalg.NewDet(&out, dense(2, 3)).Forward() }},
		"DetMinors":         {mat.ErrShape, func() { revlinalg.NewDetMinors(&out, dense(2, 3)).Forward() }},
		"Dot":               {mat.ErrShape, func() { revlinalg.NewDot(&out, vec(2), vec(3)).Forward() }},
		"Exp":               {mat.ErrShape, func() { revlinalg.NewExp(vec(2), vec(3)).Forward() }},
		"GramSchmidt":       {mat.ErrShape, func() { _ = revlinalg.NewGramSchmidt(dense(2, 3), dense(3, 3), dense(2, 3)).Forward() }},
		"Inv":               {mat.ErrShape, func() { _ = revlinalg.NewInv(dense(2, 2), dense(2, 3)).Forward() }},
		"Inv, B":            {mat.ErrShape, func() { _ = revlinalg.NewInv(dense(2, 3), dense(2, 2)).Forward() }},
		"Log":               {mat.ErrShape, func() { _ = revlinalg.NewLog(vec(2), vec(3)).Forward() }},
		"LogDet":            {mat.ErrShape, func() { _ = revlinalg.NewLogDet(&out, nil, dense(2, 3)).Forward() }},
		"MatMul":            {mat.ErrShape, func() { revlinalg.NewMatMul(dense(2, 2), dense(2, 3), dense(3, 2).T()).Forward() }},
		"Outer":             {mat.ErrShape, func() { revlinalg.NewOuter(dense(2, 3), &out, vec(3), vec(2)).Forward() }},
		"PolyLeastSquares":  {mat.ErrShape, func() { revlinalg.NewPolyLeastSquares(&out, vec(2), vec(2), vec(3)).Forward() }},
		"Pow":               {mat.ErrShape, func() { _ = revlinalg.NewPow(vec(2), vec(3), vec(2)).Forward() }},
		"QR":                {mat.ErrShape, func() { _ = revlinalg.NewQR(dense(2, 3), dense(3, 3), dense(2, 3)).Forward() }},
		"QR, R":             {mat.ErrShape, func() { _ = revlinalg.NewQR(dense(3, 2), dense(3, 2), dense(3, 2)).Forward() }},
		"Sin":               {mat.ErrShape, func() { revlinalg.NewSin(vec(2), vec(3)).Forward() }},
		"Solve":             {mat.ErrShape, func() { _ = revlinalg.NewSolve(dense(2, 2), dense(2, 2), dense(2, 1)).Forward() }},
		"Solve, A":          {mat.ErrShape, func() { _ = revlinalg.NewSolve(dense(2, 1), dense(2, 3), dense(2, 1)).Forward() }},
		"SolveVec":          {mat.ErrShape, func() { _ = revlinalg.NewSolveVec(vec(3), dense(2, 2), vec(2)).Forward() }},
		"Sqrt":              {mat.ErrShape, func() { _ = revlinalg.NewSqrt(vec(2), vec(3)).Forward() }},
		"SVD":               {mat.ErrShape, func() { _ = revlinalg.NewSVD(dense(3, 3), vec(2), dense(2, 2), dense(3, 2)).Forward() }},
		"SymEig":            {mat.ErrShape, func() { _ = revlinalg.NewSymEig(vec(2), dense(3, 3), mat.NewSymDense(3, nil)).Forward() }},
		"TriSolve": {mat.ErrShape, func() {
			_ = revlinalg.NewTriSolve(dense(2, 1), mat.NewTriDense(3, mat.Upper, nil).TTri(), dense(3, 1)).Forward()
		}},
		"Unitary":    {mat.ErrShape, func() { revlinalg.NewUnitary(dense(3, 2), vec(2)).Forward() }},
		"UnitaryVec": {mat.ErrShape, func() { revlinalg.NewUnitaryVec(vec(3), vec(6)).Forward() }},
	} {
		func() {
			defer func() {
				if v, ok := recover().(error); !ok || !errors.Is(v, c.want) {
					t.Errorf("%s panics with %v, want %v", name, v, c.want)
				}
			}()
			c.call()
		}()
	}
}
