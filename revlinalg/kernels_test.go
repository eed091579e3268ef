package revlinalg

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// A listedKernel is a kernel of this package, of which problems can be made.
type listedKernel struct {
	name  string
	ops   []rev.Operand
	make  func(rnd *rand.Rand, r, c int) any // whose matrices are about r×c
	calls map[string]func(k, g, t, gt any) error
}

// all are the kernels of this package, each of which has the five methods.
var all = []listedKernel{
	list(func(rnd *rand.Rand, r, _ int) Abs[float64] { return Abs[float64](operands(away[float64])(rnd, r)) }),
	list(func(rnd *rand.Rand, r, c int) Affine[float64] {
		return Affine[float64]{Y: vector(rnd, r), W: matrix(rnd, r, c), X: vector(rnd, c), B: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Atan2[float64] {
		return Atan2[float64]{Z: vector(rnd, r), X: vector(rnd, r), Y: positive[float64](rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Axpy[float64] {
		return Axpy[float64]{Y: vector(rnd, r), Alpha: number(rnd), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Cholesky[float64] {
		return Cholesky[float64]{L: matrix(rnd, r, r), A: definite[float64](rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) ComplexAbs { return ComplexAbs{Y: vector(rnd, r), X: complexes(rnd, r)} }),
	list(func(rnd *rand.Rand, r, _ int) Axpy[complex128] {
		return Axpy[complex128]{Y: complexes(rnd, r), Alpha: new(complex128), X: complexes(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Dot[complex128] {
		return Dot[complex128]{Out: new(complex128), X: complexes(rnd, r), Y: complexes(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) ComplexFrobenius {
		return ComplexFrobenius{Out: number(rnd), A: rev.NewGeneral(r, c, complexes(rnd, r*c).Data)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Log[complex128] {
		return Log[complex128]{Y: complexes(rnd, r), X: complexes(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) ComplexNorm1 {
		return ComplexNorm1{Out: number(rnd), X: complexes(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) ComplexNorm2 {
		return ComplexNorm2{Out: number(rnd), X: complexes(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Sum[complex128] {
		return Sum[complex128]{Out: new(complex128), X: complexes(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) ComplexSumSquares {
		return ComplexSumSquares{Out: number(rnd), X: complexes(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) ComplexUnitary {
		return ComplexUnitary{
			X:     rev.NewGeneral(r, c, complexes(rnd, r*c).Data),
			Theta: vector(rnd, r*(r-1)/2), Phi: vector(rnd, r*(r-1)/2), Delta: vector(rnd, r),
		}
	}),
	list(func(rnd *rand.Rand, r, _ int) Cos[float64] { return Cos[float64](operands(vectorOf[float64])(rnd, r)) }),
	list(func(rnd *rand.Rand, r, c int) Covariance[float64] {
		return Covariance[float64]{C: matrix(rnd, c, c), X: matrix(rnd, r, c)}
	}),
	list(func(rnd *rand.Rand, r, c int) CrossEntropy[float64] {
		return CrossEntropy[float64]{Out: number(rnd), X: matrix(rnd, r, c), P: rev.NewGeneral(r, c, positive[float64](rnd, r*c).Data)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Det[float64] {
		return Det[float64]{Out: number(rnd), A: regular[float64](rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) DetMinors[float64] {
		return DetMinors[float64]{Out: number(rnd), A: matrix(rnd, r, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Dot[float64] {
		return Dot[float64]{Out: number(rnd), X: vector(rnd, r), Y: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Exp[float64] { return Exp[float64](operands(vectorOf[float64])(rnd, r)) }),
	list(func(rnd *rand.Rand, r, c int) Frobenius[float64] {
		return Frobenius[float64]{Out: number(rnd), A: matrix(rnd, r, c)}
	}),
	list(func(rnd *rand.Rand, r, c int) GivensQR[float64] { return GivensQR[float64]{A: matrix(rnd, r, c)} }),
	list(func(rnd *rand.Rand, r, c int) GramSchmidt[float64] {
		return GramSchmidt[float64]{Q: matrix(rnd, r+c, c), R: matrix(rnd, c, c), A: tall[float64](rnd, r+c, c)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Inv[float64] {
		return Inv[float64]{B: matrix(rnd, r, r), A: regular[float64](rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Log[float64] { return Log[float64](operands(positive[float64])(rnd, r)) }),
	list(func(rnd *rand.Rand, r, _ int) LogDet[float64] {
		return LogDet[float64]{Out: number(rnd), Sign: number(rnd), A: regular[float64](rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) LogSumExp[float64] {
		return LogSumExp[float64]{Out: number(rnd), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) MatMul[float64] {
		return MatMul[float64]{C: matrix(rnd, r, r+c), A: matrix(rnd, r, c), B: matrix(rnd, c, r+c)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Mean[float64] {
		return Mean[float64]{Out: number(rnd), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Norm1[float64] {
		return Norm1[float64]{Out: number(rnd), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Norm2[float64] {
		return Norm2[float64]{Out: number(rnd), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) NormInf[float64] {
		return NormInf[float64]{Out: number(rnd), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) Outer[float64] {
		return Outer[float64]{A: matrix(rnd, r, c), Alpha: number(rnd), X: vector(rnd, r), Y: vector(rnd, c)}
	}),
	list(func(rnd *rand.Rand, r, c int) PolyLeastSquares[float64] {
		return PolyLeastSquares[float64]{Out: number(rnd), C: vector(rnd, c), X: vector(rnd, r), Y: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Pow[float64] {
		return Pow[float64]{Z: vector(rnd, r), X: positive[float64](rnd, r), Y: positive[float64](rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) QR[float64] {
		return QR[float64]{Q: matrix(rnd, r+c, c), R: matrix(rnd, c, c), A: tall[float64](rnd, r+c, c)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Sin[float64] { return Sin[float64](operands(vectorOf[float64])(rnd, r)) }),
	list(func(rnd *rand.Rand, r, _ int) Softmax[float64] {
		return Softmax[float64]{Y: vector(rnd, r), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) Solve[float64] {
		return Solve[float64]{X: matrix(rnd, r, c), A: regular[float64](rnd, r), B: matrix(rnd, r, c)}
	}),
	list(func(rnd *rand.Rand, r, _ int) Sqrt[float64] {
		return Sqrt[float64](operands(positive[float64])(rnd, r))
	}),
	list(func(rnd *rand.Rand, r, _ int) Sum[float64] { return Sum[float64]{Out: number(rnd), X: vector(rnd, r)} }),
	list(func(rnd *rand.Rand, r, _ int) SumSquares[float64] {
		return SumSquares[float64]{Out: number(rnd), X: vector(rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) SVD[float64] {
		n := min(r, c)
		return SVD[float64]{U: matrix(rnd, r, n), S: vector(rnd, n), V: matrix(rnd, c, n), A: spread[float64](rnd, r, c)}
	}),
	list(func(rnd *rand.Rand, r, _ int) SymEig[float64] {
		return SymEig[float64]{W: vector(rnd, r), V: matrix(rnd, r, r), A: separated[float64](rnd, r)}
	}),
	list(func(rnd *rand.Rand, r, c int) TriSolve[float64] {
		return TriSolve[float64]{X: matrix(rnd, r, c), A: triangular[float64](rnd, r), B: matrix(rnd, r, c)}
	}),
	list(func(rnd *rand.Rand, r, c int) Unitary[float64] { return randomUnitary[float64](rnd, r, c) }),
	list(func(rnd *rand.Rand, r, _ int) Variance[float64] {
		return Variance[float64]{Out: number(rnd), X: vector(rnd, r)}
	}),
}

func number(rnd *rand.Rand) *float64                       { return &normals[float64](rnd, 1, 1)[0] }
func vector(rnd *rand.Rand, n int) rev.Vector[float64]     { return vectorOf[float64](rnd, n) }
func matrix(rnd *rand.Rand, r, c int) rev.General[float64] { return matrixOf[float64](rnd, r, c) }

func list[K rev.Kernel[K]](problem func(rnd *rand.Rand, r, c int) K) listedKernel {
	return newListed(problem, map[string]func(k, g, t, gt K) error{
		"Forward":        func(k, _, _, _ K) error { return rev.Forward(k) },
		"Inverse":        func(k, _, _, _ K) error { return rev.Inverse(k) },
		"Adjoint":        func(k, g, _, _ K) error { return rev.Adjoint(k, g) },
		"Tangent":        func(k, _, t, _ K) error { return rev.Tangent(k, t) },
		"AdjointTangent": rev.AdjointTangent[K],
		"Gradient":       func(k, g, _, _ K) error { return rev.Gradient(k, g) },
	})
}

func newListed[K any](problem func(rnd *rand.Rand, r, c int) K, methods map[string]func(k, g, t, gt K) error) listedKernel {
	name := strings.TrimSuffix(reflect.TypeFor[K]().Name(), "[float64]")
	l := listedKernel{
		name: name, ops: rev.Operands[K](),
		make:  func(rnd *rand.Rand, r, c int) any { return problem(rnd, r, c) },
		calls: make(map[string]func(k, g, t, gt any) error),
	}
	for m, f := range methods {
		l.calls[m] = func(k, g, t, gt any) error { return f(k.(K), g.(K), t.(K), gt.(K)) }
	}
	return l
}

// elements returns those of operand n of k.
func (l *listedKernel) elements(k any, n int) []reflect.Value {
	f := reflect.ValueOf(k).Field(l.ops[n].Field)
	switch l.ops[n].Kind {
	case rev.Scalar:
		return []reflect.Value{f.Elem()}
	case rev.Slice:
	default:
		f = f.FieldByName("Data")
	}
	var v []reflect.Value
	for i := range f.Len() {
		v = append(v, f.Index(i))
	}
	return v
}

func setNumber(v reflect.Value, x float64) {
	if v.Kind() == reflect.Complex128 {
		v.SetComplex(complex(x, 1))
		return
	}
	v.SetFloat(x)
}

// numberOf returns v, or the real part of v plus the imaginary part.
func numberOf(v reflect.Value) float64 {
	if v.Kind() == reflect.Complex128 {
		return real(v.Complex()) + imag(v.Complex())
	}
	return v.Float()
}

func TestAllKernelsListed(t *testing.T) {
	want := make(map[string]bool)
	pkgs, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0) //nolint:staticcheck // build tags do not matter here
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range pkgs["revlinalg"].Files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Forward" {
				continue
			}
			recv := fn.Recv.List[0].Type
			if generic, ok := recv.(*ast.IndexExpr); ok {
				recv = generic.X
			}
			want[recv.(*ast.Ident).Name] = true
		}
	}
	listed, found := make(map[string]bool), make(map[string]bool)
	for _, l := range all {
		name, _, _ := strings.Cut(l.name, "[")
		if !want[name] || listed[l.name] {
			t.Errorf("%s is listed twice, or not declared", l.name)
		}
		listed[l.name], found[name] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !found[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

// Operands without elements work in all methods, and so do matrices that have rows
// or columns but not both.
func TestEmptyOperands(t *testing.T) {
	// What is added to the output, where that is a number and not zero.
	added := map[string]float64{
		"Det": 1, "DetMinors": 1, "LogSumExp": math.Inf(-1), "Mean": math.NaN(), "Variance": math.NaN(),
		"LogDet": 0, // and 1 to Sign
	}
	for _, l := range all {
		for _, shape := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
			r, c := shape[0], shape[1]
			for name, call := range l.calls {
				rnd := rand.New(rand.NewPCG(32, 1))
				k, g, dk, dg := l.make(rnd, r, c), l.make(rnd, r, c), l.make(rnd, r, c), l.make(rnd, r, c)
				before := make([]float64, len(l.ops))
				for n, op := range l.ops {
					if op.Kind == rev.Scalar {
						before[n] = numberOf(l.elements(k, n)[0])
					}
				}
				if err := call(k, g, dk, dg); err != nil {
					t.Errorf("%s of %d×%d: %s: %v", l.name, r, c, name, err)
				}
				if name != "Forward" || r > 0 {
					continue
				}
				if op := l.ops[0]; op.Kind == rev.Scalar && op.Role == rev.Acc {
					got, want := numberOf(l.elements(k, 0)[0]), before[0]+added[l.name]
					if !near(got, want, 1e-15) {
						t.Errorf("%s of %d×%d: the output is %v, want %v", l.name, r, c, got, want)
					}
				}
			}
		}
	}
}

// Gonum's empty values are such operands.
func TestEmptyConstructors(t *testing.T) {
	var det, dot float64
	NewDet(&det, &mat.Dense{}).Forward()
	NewDot(&dot, &mat.VecDense{}, &mat.VecDense{}).Forward()
	if det != 1 || dot != 0 {
		t.Errorf("the determinant of nothing is %v, its product with itself %v, want 1 and 0", det, dot)
	}
	NewMatMul(&mat.Dense{}, &mat.Dense{}, (&mat.Dense{}).T()).Forward()
	NewUnitary(&mat.Dense{}, nil).Forward()
	NewComplexUnitary(&mat.CDense{}, nil, nil, nil).Forward()
	for name, err := range map[string]error{
		"Cholesky": NewCholesky(&mat.TriDense{}, &mat.SymDense{}).Forward(),
		"QR":       NewQR(&mat.Dense{}, &mat.Dense{}, &mat.Dense{}).Forward(),
		"Solve":    NewSolve(&mat.Dense{}, &mat.Dense{}, &mat.Dense{}).Forward(),
		"SVD":      NewSVD(&mat.Dense{}, &mat.VecDense{}, &mat.Dense{}, &mat.Dense{}).Forward(),
		"SymEig":   NewSymEig(&mat.VecDense{}, &mat.Dense{}, &mat.SymDense{}).Forward(),
		"TriSolve": NewTriSolve(&mat.Dense{}, &mat.TriDense{}, &mat.Dense{}).Forward(),
	} {
		if err != nil {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}

// A NaN or an infinity in an operand comes back as such: nothing makes numbers of
// it. In the result of Forward it shows, unless the limit of the function there is
// finite.
func TestSpecialOperands(t *testing.T) {
	finite := map[string]string{
		"Atan2 X": "a right angle", "Atan2 Y": "0",
		"Exp X": "0 at -∞", "LogSumExp X": "exp(-∞) is 0",
		"Softmax X": "exp(-∞) is 0", "Pow Y": "0 or 1",
		"TriSolve A": "a quotient by ∞ is 0", "Solve A": "a quotient by ∞ is 0", "Inv A": "a quotient by ∞ is 0",
	}
	unused := maps.Clone(finite)
	for _, l := range all {
		for n, op := range l.ops {
			if op.Role == rev.Index {
				continue
			}
			for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				rnd := rand.New(rand.NewPCG(32, 2))
				k, none := l.make(rnd, 3, 3), l.make(rnd, 3, 3)
				v := l.elements(k, n)[0]
				setNumber(v, special)
				what := fmt.Sprintf("%s with %v in %s", l.name, special, op.Name)
				failed := l.calls["Forward"](k, none, none, none) != nil
				shows := failed
				for i, to := range l.ops {
					for _, v := range l.elements(k, i) {
						shows = shows || (to.Role == rev.Acc || to.Role == rev.InOut) && !isFinite(numberOf(v))
					}
				}
				if !shows {
					name := l.name + " " + op.Name
					if _, ok := finite[name]; !ok || math.IsNaN(special) {
						t.Errorf("%s: the result is finite", what)
					}
					delete(unused, name)
				}
				if err := l.calls["Inverse"](k, none, none, none); (err != nil) != failed {
					t.Errorf("%s: Inverse returns %v, and Forward an error is %v", what, err, failed)
				}
				got := numberOf(v)
				if op.Role == rev.In && (got != special && special == special || isFinite(got)) || isFinite(got) {
					t.Errorf("%s: after Inverse it is %v", what, v)
				}
			}
		}
	}
	for name := range unused {
		t.Errorf("%s: no result is finite, though listed", name)
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
		"Abs":                          {mat.ErrShape, func() { NewAbs(vec(2), vec(3)).Forward() }},
		"Affine":                       {mat.ErrShape, func() { NewAffine(vec(2), dense(2, 3), vec(2), vec(2)).Forward() }},
		"Affine, b":                    {mat.ErrShape, func() { NewAffine(vec(2), dense(2, 3), vec(3), vec(3)).Forward() }},
		"Atan2":                        {mat.ErrShape, func() { _ = NewAtan2(vec(2), vec(2), vec(3)).Forward() }},
		"Axpy":                         {mat.ErrShape, func() { NewAxpy(vec(2), &out, vec(3)).Forward() }},
		"Cholesky":                     {mat.ErrShape, func() { _ = NewCholesky(mat.NewTriDense(2, mat.Lower, nil), mat.NewSymDense(3, nil)).Forward() }},
		"Cholesky, U":                  {mat.ErrTriangle, func() { NewCholesky(mat.NewTriDense(2, mat.Upper, nil), mat.NewSymDense(2, nil)) }},
		"ComplexAbs":                   {mat.ErrShape, func() { NewComplexAbs(vec(2), cvec(3)).Forward() }},
		"ComplexUnitary":               {mat.ErrShape, func() { NewComplexUnitary(mat.NewCDense(3, 2, nil), vec(3), vec(3), vec(2)).Forward() }},
		"ComplexUnitary, φ":            {mat.ErrShape, func() { NewComplexUnitary(mat.NewCDense(3, 2, nil), vec(3), vec(2), vec(3)).Forward() }},
		"Cos":                          {mat.ErrShape, func() { NewCos(vec(2), vec(3)).Forward() }},
		"Covariance":                   {mat.ErrShape, func() { NewCovariance(dense(2, 2), dense(2, 3)).Forward() }},
		"CrossEntropy":                 {mat.ErrShape, func() { NewCrossEntropy(&out, dense(2, 3), dense(3, 2), nil).Forward() }},
		"CrossEntropy, too few labels": {mat.ErrShape, func() { NewCrossEntropy(&out, dense(2, 3), nil, []int{1}).Forward() }},
		"CrossEntropy, labels":         {mat.ErrColAccess, func() { NewCrossEntropy(&out, dense(2, 3), nil, []int{1, -1}).Forward() }},
		"Det":                          {mat.ErrShape, func() { NewDet(&out, dense(2, 3)).Forward() }},
		"DetMinors":                    {mat.ErrShape, func() { NewDetMinors(&out, dense(2, 3)).Forward() }},
		"Dot":                          {mat.ErrShape, func() { NewDot(&out, vec(2), vec(3)).Forward() }},
		"Exp":                          {mat.ErrShape, func() { NewExp(vec(2), vec(3)).Forward() }},
		"GramSchmidt":                  {mat.ErrShape, func() { _ = NewGramSchmidt(dense(2, 3), dense(3, 3), dense(2, 3)).Forward() }},
		"Inv":                          {mat.ErrShape, func() { _ = NewInv(dense(2, 2), dense(2, 3)).Forward() }},
		"Inv, B":                       {mat.ErrShape, func() { _ = NewInv(dense(2, 3), dense(2, 2)).Forward() }},
		"Log":                          {mat.ErrShape, func() { _ = NewLog(vec(2), vec(3)).Forward() }},
		"LogDet":                       {mat.ErrShape, func() { _ = NewLogDet(&out, nil, dense(2, 3)).Forward() }},
		"MatMul":                       {mat.ErrShape, func() { NewMatMul(dense(2, 2), dense(2, 3), dense(3, 2).T()).Forward() }},
		"Outer":                        {mat.ErrShape, func() { NewOuter(dense(2, 3), &out, vec(3), vec(2)).Forward() }},
		"PolyLeastSquares":             {mat.ErrShape, func() { NewPolyLeastSquares(&out, vec(2), vec(2), vec(3)).Forward() }},
		"Pow":                          {mat.ErrShape, func() { _ = NewPow(vec(2), vec(3), vec(2)).Forward() }},
		"QR":                           {mat.ErrShape, func() { _ = NewQR(dense(2, 3), dense(3, 3), dense(2, 3)).Forward() }},
		"QR, R":                        {mat.ErrShape, func() { _ = NewQR(dense(3, 2), dense(3, 2), dense(3, 2)).Forward() }},
		"Sin":                          {mat.ErrShape, func() { NewSin(vec(2), vec(3)).Forward() }},
		"Softmax":                      {mat.ErrShape, func() { NewSoftmax(vec(2), vec(3)).Forward() }},
		"Solve":                        {mat.ErrShape, func() { _ = NewSolve(dense(2, 2), dense(2, 2), dense(2, 1)).Forward() }},
		"Solve, A":                     {mat.ErrShape, func() { _ = NewSolve(dense(2, 1), dense(2, 3), dense(2, 1)).Forward() }},
		"SolveVec":                     {mat.ErrShape, func() { _ = NewSolveVec(vec(3), dense(2, 2), vec(2)).Forward() }},
		"Sqrt":                         {mat.ErrShape, func() { _ = NewSqrt(vec(2), vec(3)).Forward() }},
		"SVD":                          {mat.ErrShape, func() { _ = NewSVD(dense(3, 3), vec(2), dense(2, 2), dense(3, 2)).Forward() }},
		"SymEig":                       {mat.ErrShape, func() { _ = NewSymEig(vec(2), dense(3, 3), mat.NewSymDense(3, nil)).Forward() }},
		"TriSolve":                     {mat.ErrShape, func() { _ = NewTriSolve(dense(2, 1), mat.NewTriDense(3, mat.Upper, nil).TTri(), dense(3, 1)).Forward() }},
		"Unitary":                      {mat.ErrShape, func() { NewUnitary(dense(3, 2), vec(2)).Forward() }},
		"UnitaryVec":                   {mat.ErrShape, func() { NewUnitaryVec(vec(3), vec(6)).Forward() }},
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
