package revlinalg

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

var constructors = []any{
	NewAbs, NewAffine, NewAffineBatch, NewAtan2, NewAxpy, NewCholesky, NewComplexAbs, NewComplexFrobenius,
	NewComplexNorm1, NewComplexNorm2, NewComplexSumSquares, NewComplexUnitary, NewConv2D, NewCos, NewCovariance,
	NewCrossEntropy, NewDet, NewDetMinors, NewDivElem, NewDot, NewExp, NewFrobenius, NewGELU, NewGather, NewGivensQR,
	NewGramSchmidt,
	NewInv, NewLeakyReLU, NewLog, NewLogDet, NewLogSumExp, NewLogSumExpRows, NewMatMul, NewMaxPool, NewMean, NewMeanPool, NewMulElem, NewNorm1, NewNorm2, NewNormInf,
	NewOuter, NewPolyLeastSquares, NewPow, NewQR, NewReLU, NewSVD, NewSiLU, NewSigmoid, NewSin, NewSoftmax, NewSoftmaxRows, NewSoftplus, NewSolve, NewSolveVec,
	NewSqrt, NewSum, NewSumSquares, NewSymEig, NewTanh, NewTriSolve, NewUnitary, NewUnitaryVec, NewVariance,
}

// Every constructor takes nil for what is left out of cotangents.
func TestConstructorsOfNil(t *testing.T) {
	var names []string
	for _, f := range constructors {
		v := reflect.ValueOf(f)
		name := runtime.FuncForPC(v.Pointer()).Name()
		names = append(names, name[strings.LastIndex(name, ".")+1:])
		args := make([]reflect.Value, v.Type().NumIn())
		for i := range args {
			args[i] = reflect.Zero(v.Type().In(i))
		}
		k := v.Call(args)[0]
		for i := range k.NumField() {
			field := k.Type().Field(i)
			if _, ok := field.Tag.Lookup("rev"); !ok {
				continue
			}
			data := k.Field(i)
			if data.Kind() == reflect.Struct {
				data = data.FieldByName("Data")
			}
			if !data.IsNil() {
				t.Errorf("%s: %s is there", name, field.Name)
			}
		}
	}
	// And these are all.
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "New") && !slices.Contains(names, f.Name.Name) {
				t.Errorf("%s is not tested", f.Name.Name)
			}
		}
	}
}

// Products of what gonum stores as vectors, and gradients of one factor.
func TestMatMulOfVectors(t *testing.T) {
	a := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	x, y := mat.NewVecDense(3, []float64{1, 0, -1}), mat.NewVecDense(2, []float64{2, 1})
	ax, yax, outer := mat.NewDense(2, 1, nil), mat.NewDense(1, 1, nil), mat.NewDense(2, 3, nil)
	NewMatMul(ax, a, x).Forward()
	NewMatMul(yax, y.T(), ax).Forward()
	NewMatMul(outer, y, x.T()).Forward()
	var want mat.Dense
	want.Outer(1, y, x)
	if got := ax.RawMatrix().Data; !slices.Equal(got, []float64{-2, -2}) || yax.At(0, 0) != -6 || !mat.Equal(outer, &want) {
		t.Errorf("A·x = %v, yᵀ·A·x = %v, y·xᵀ = %v", got, yax.At(0, 0), outer.RawMatrix().Data)
	}
	one, gx := mat.NewDense(2, 1, []float64{1, 1}), mat.NewVecDense(3, nil)
	NewMatMul(ax, a, x).Adjoint(NewMatMul(one, nil, gx))
	if got := gx.RawVector().Data; !slices.Equal(got, []float64{5, 7, 9}) {
		t.Errorf("gradient %v", got)
	}
	defer func() {
		if v, ok := recover().(string); !ok || !strings.Contains(v, "*mat.SymDense does not store all elements") {
			t.Errorf("panic %v", v)
		}
	}()
	NewMatMul(ax, mat.NewSymDense(2, nil), y)
}
