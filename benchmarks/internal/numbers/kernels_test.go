package numbers

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revlog"
	"revnum/revmodels/gmm"
	"revnum/revmodels/graphembed"
	"revnum/revmodels/kmeans"
)

var update = flag.Bool("update", false, "write the tables of docs/kernels.md")

const (
	root   = "../../.."
	tables = root + "/docs/kernels.md"
	// What the page has between these lines is generated.
	begin, end = "<!-- Written by TestKernels. -->\n", "<!-- End of what TestKernels writes. -->\n"
)

// A table is the kernels of one algebra, by number type.
type table struct {
	columns []string // number types
	rows    []*row
}

type row struct {
	kernel, equation string
	cells            map[string]string // by number type; "" is a claim that nobody made
	derivatives      string
}

// A claim is that a kernel runs over a type of number. Test reports what is
// wrong with it; exact is whether Inverse and Adjoint restore every bit.
type claim struct {
	kernel   string       // with its package
	elem     reflect.Type // of the operands
	test     func(t *testing.T)
	exact    func() bool
	second   bool
	fallible bool
}

// spec runs what every claim rests on. That the rest of the contract is met is
// for the tests beside the kernel.
func spec[K any](make func(rnd *rand.Rand, n int) K) revtest.Spec[K] {
	elsewhere := "tested beside the kernel"
	return revtest.Spec[K]{
		New: make, Sizes: []int{1, 2, 5},
		RoundTrip: 4 * 55, // of the kernels over logs, in whose tests it is derived
		Skip: map[revtest.Property]string{
			revtest.Tangents: elsewhere, revtest.SecondOrder: elsewhere, revtest.SymmetricHessian: elsewhere,
			revtest.Accumulation: elsewhere, revtest.NilGradients: elsewhere, revtest.NilOutputs: elsewhere,
			revtest.SharedInputs: elsewhere, revtest.ReadOnly: elsewhere, revtest.Gaps: elsewhere,
			revtest.Shapes: elsewhere, revtest.NaN: elsewhere, revtest.Extremes: elsewhere, revtest.NoAllocation: elsewhere,
			revtest.Workers: elsewhere, revtest.Uncall: elsewhere, revtest.Errors: elsewhere,
		},
	}
}

func kernel[K rev.Kernel[K]](make func(rnd *rand.Rand, n int) K) claim {
	c := newClaim(make)
	c.test = func(t *testing.T) { revtest.Kernel(t, spec(make)) }
	return c
}

func fallible[K rev.Kernel[K]](make func(rnd *rand.Rand, n int) K) claim {
	c := newClaim(make)
	c.test = func(t *testing.T) { revtest.Kernel(t, spec(make)) }
	c.fallible = true
	return c
}

func newClaim[K any](make func(rnd *rand.Rand, n int) K) claim {
	typ, ops := reflect.TypeFor[K](), rev.Operands[K]()
	return claimOf(typ, ops, func(rnd *rand.Rand, n int) any { return make(rnd, n) })
}

// claimOf is newClaim without K: it is compiled once and not for each kernel.
func claimOf(typ reflect.Type, ops []rev.Operand, make func(rnd *rand.Rand, n int) any) claim {
	name, _, _ := strings.Cut(typ.Name(), "[")
	_, second := typ.MethodByName("AdjointTangent")
	return claim{
		kernel: strings.TrimPrefix(typ.PkgPath(), "revnum/") + "." + name,
		elem:   elementOf(ops),
		second: second,
		exact: func() bool {
			rnd := rand.New(rand.NewPCG(31, 1))
			for i := range 40 {
				k := reflect.ValueOf(make(rnd, 1+i%6))
				// restores reports whether Forward and what undoes it leave every bit.
				restores := func(inverse string, g ...reflect.Value) bool {
					before := operandBytes(ops, k)
					return succeeds(k, "Forward") && succeeds(k, inverse, g...) && bytes.Equal(operandBytes(ops, k), before)
				}
				if !restores("Inverse") || !restores("Adjoint", reflect.Zero(typ)) {
					return false
				}
			}
			return true
		},
	}
}

// succeeds calls a method, and reports whether it returns no error.
func succeeds(k reflect.Value, method string, args ...reflect.Value) bool {
	for _, err := range k.MethodByName(method).Call(args) {
		if !err.IsNil() {
			return false
		}
	}
	return true
}

// elementOf returns the type of the elements of a kernel: complex128 if any are,
// though others may be their magnitudes.
func elementOf(ops []rev.Operand) reflect.Type {
	for _, op := range ops {
		if op.Elem == reflect.TypeFor[complex128]() {
			return op.Elem
		}
	}
	return ops[0].Elem
}

// operandBytes returns all elements of the operands of k.
func operandBytes(ops []rev.Operand, k reflect.Value) []byte {
	var b bytes.Buffer
	for _, op := range ops {
		f := k.Field(op.Field)
		if op.Kind == rev.Scalar {
			fmt.Fprintf(&b, "%x ", f.Elem().Interface())
			continue
		}
		if op.Kind != rev.Slice {
			f = f.FieldByName("Data")
		}
		for i := range f.Len() {
			fmt.Fprintf(&b, "%x ", f.Index(i).Interface())
		}
	}
	return b.Bytes()
}

// numbersOf returns random numbers of a standard deviation of 1/2, the
// accumulators among them not zero: what is added to zero comes back over
// floats too.
func numbersOf[T rev.Real](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64() / 2)
	}
	return x
}

func vector[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	return rev.ViewSlice(numbersOf[T](rnd, n))
}

func matrix[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, numbersOf[T](rnd, r*c))
}

func scalar[T rev.Real](rnd *rand.Rand) *T { return &numbersOf[T](rnd, 1)[0] }

func affine[T rev.Real](rnd *rand.Rand, n int) revlinalg.Affine[T] {
	return revlinalg.Affine[T]{Y: vector[T](rnd, n+1), W: matrix[T](rnd, n+1, n), X: vector[T](rnd, n), B: vector[T](rnd, n+1)}
}

func matMul[T rev.Real](rnd *rand.Rand, n int) revlinalg.MatMul[T] {
	return revlinalg.MatMul[T]{C: matrix[T](rnd, n, n+1), A: matrix[T](rnd, n, n+2), B: matrix[T](rnd, n+2, n+1)}
}

func complexUnitary(rnd *rand.Rand, n int) revlinalg.ComplexUnitary {
	x := rev.NewGeneral[complex128](n+1, 2, nil)
	for i := range x.Data {
		x.Data[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	rotations := n * (n + 1) / 2
	return revlinalg.ComplexUnitary{X: x, Theta: vector[float64](rnd, rotations), Phi: vector[float64](rnd, rotations), Delta: vector[float64](rnd, n+1)}
}

func givensQR[T rev.Float](rnd *rand.Rand, n int) revlinalg.GivensQR[T] {
	return revlinalg.GivensQR[T]{A: matrix[T](rnd, n+1, n+1)}
}

func unitary[T rev.Real](rnd *rand.Rand, n int) revlinalg.Unitary[T] {
	return revlinalg.Unitary[T]{X: matrix[T](rnd, n+1, 2), Theta: vector[T](rnd, n*(n+1)/2)}
}

func axpy[T rev.Real](rnd *rand.Rand, n int) revlinalg.Axpy[T] {
	return revlinalg.Axpy[T]{Y: vector[T](rnd, n), Alpha: scalar[T](rnd), X: vector[T](rnd, n)}
}

func dot[T rev.Real](rnd *rand.Rand, n int) revlinalg.Dot[T] {
	return revlinalg.Dot[T]{Out: scalar[T](rnd), X: vector[T](rnd, n), Y: vector[T](rnd, n)}
}

func sum[T rev.Real](rnd *rand.Rand, n int) revlinalg.Sum[T] {
	return revlinalg.Sum[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func sumSquares[T rev.Real](rnd *rand.Rand, n int) revlinalg.SumSquares[T] {
	return revlinalg.SumSquares[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func norm2[T rev.Real](rnd *rand.Rand, n int) revlinalg.Norm2[T] {
	return revlinalg.Norm2[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func frobenius[T rev.Real](rnd *rand.Rand, n int) revlinalg.Frobenius[T] {
	return revlinalg.Frobenius[T]{Out: scalar[T](rnd), A: matrix[T](rnd, n, n)}
}

func complexVector(rnd *rand.Rand, n int) rev.Vector[complex128] {
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(0.5+rnd.Float64(), rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

func complexDot(rnd *rand.Rand, n int) revlinalg.Dot[complex128] {
	return revlinalg.Dot[complex128]{Out: &complexVector(rnd, 1).Data[0], X: complexVector(rnd, n), Y: complexVector(rnd, n)}
}

func complexAxpy(rnd *rand.Rand, n int) revlinalg.Axpy[complex128] {
	return revlinalg.Axpy[complex128]{Y: complexVector(rnd, n), Alpha: &complexVector(rnd, 1).Data[0], X: complexVector(rnd, n)}
}

func complexSum(rnd *rand.Rand, n int) revlinalg.Sum[complex128] {
	return revlinalg.Sum[complex128]{Out: &complexVector(rnd, 1).Data[0], X: complexVector(rnd, n)}
}

func complexSumSquares(rnd *rand.Rand, n int) revlinalg.ComplexSumSquares {
	return revlinalg.ComplexSumSquares{Out: scalar[float64](rnd), X: complexVector(rnd, n)}
}

func complexNorm1(rnd *rand.Rand, n int) revlinalg.ComplexNorm1 {
	return revlinalg.ComplexNorm1{Out: scalar[float64](rnd), X: complexVector(rnd, n)}
}

func complexNorm2(rnd *rand.Rand, n int) revlinalg.ComplexNorm2 {
	return revlinalg.ComplexNorm2{Out: scalar[float64](rnd), X: complexVector(rnd, n)}
}

func complexFrobenius(rnd *rand.Rand, n int) revlinalg.ComplexFrobenius {
	return revlinalg.ComplexFrobenius{Out: scalar[float64](rnd), A: rev.NewGeneral(n, n, complexVector(rnd, n*n).Data)}
}

func complexAbs(rnd *rand.Rand, n int) revlinalg.ComplexAbs {
	return revlinalg.ComplexAbs{Y: vector[float64](rnd, n), X: complexVector(rnd, n)}
}

func complexLog(rnd *rand.Rand, n int) revlinalg.Log[complex128] {
	return revlinalg.Log[complex128]{Y: complexVector(rnd, n), X: complexVector(rnd, n)}
}

func norm1[T rev.Real](rnd *rand.Rand, n int) revlinalg.Norm1[T] {
	return revlinalg.Norm1[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func normInf[T rev.Real](rnd *rand.Rand, n int) revlinalg.NormInf[T] {
	return revlinalg.NormInf[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func outer[T rev.Real](rnd *rand.Rand, n int) revlinalg.Outer[T] {
	return revlinalg.Outer[T]{A: matrix[T](rnd, n, n+1), Alpha: scalar[T](rnd), X: vector[T](rnd, n), Y: vector[T](rnd, n+1)}
}

func mean[T rev.Real](rnd *rand.Rand, n int) revlinalg.Mean[T] {
	return revlinalg.Mean[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func variance[T rev.Real](rnd *rand.Rand, n int) revlinalg.Variance[T] {
	return revlinalg.Variance[T]{Out: scalar[T](rnd), X: vector[T](rnd, n+1)}
}

func covariance[T rev.Real](rnd *rand.Rand, n int) revlinalg.Covariance[T] {
	return revlinalg.Covariance[T]{C: matrix[T](rnd, n, n), X: matrix[T](rnd, n+2, n)}
}

func crossEntropy[T rev.Real](rnd *rand.Rand, n int) revlinalg.CrossEntropy[T] {
	return revlinalg.CrossEntropy[T]{Out: scalar[T](rnd), X: matrix[T](rnd, n, n+1), P: matrix[T](rnd, n, n+1)}
}

func logSumExp[T rev.Real](rnd *rand.Rand, n int) revlinalg.LogSumExp[T] {
	return revlinalg.LogSumExp[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func softmax[T rev.Real](rnd *rand.Rand, n int) revlinalg.Softmax[T] {
	return revlinalg.Softmax[T]{Y: vector[T](rnd, n), X: vector[T](rnd, n)}
}

func polyLeastSquares[T rev.Float](rnd *rand.Rand, n int) revlinalg.PolyLeastSquares[T] {
	return revlinalg.PolyLeastSquares[T]{Out: scalar[T](rnd), C: vector[T](rnd, 3), X: vector[T](rnd, n), Y: vector[T](rnd, n)}
}

// positives returns numbers between 1/2 and 3/2.
func positives[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](0.5 + rnd.Float64())
	}
	return rev.ViewSlice(x)
}

func exp[T rev.Real](rnd *rand.Rand, n int) revlinalg.Exp[T] {
	return revlinalg.Exp[T]{Y: vector[T](rnd, n), X: vector[T](rnd, n)}
}

func log[T rev.Real](rnd *rand.Rand, n int) revlinalg.Log[T] {
	return revlinalg.Log[T]{Y: vector[T](rnd, n), X: positives[T](rnd, n)}
}

func sqrt[T rev.Real](rnd *rand.Rand, n int) revlinalg.Sqrt[T] {
	return revlinalg.Sqrt[T]{Y: vector[T](rnd, n), X: positives[T](rnd, n)}
}

func sin[T rev.Real](rnd *rand.Rand, n int) revlinalg.Sin[T] {
	return revlinalg.Sin[T]{Y: vector[T](rnd, n), X: vector[T](rnd, n)}
}

func cos[T rev.Real](rnd *rand.Rand, n int) revlinalg.Cos[T] {
	return revlinalg.Cos[T]{Y: vector[T](rnd, n), X: vector[T](rnd, n)}
}

func abs[T rev.Real](rnd *rand.Rand, n int) revlinalg.Abs[T] {
	return revlinalg.Abs[T]{Y: vector[T](rnd, n), X: vector[T](rnd, n)}
}

func atan2[T rev.Real](rnd *rand.Rand, n int) revlinalg.Atan2[T] {
	return revlinalg.Atan2[T]{Z: vector[T](rnd, n), X: vector[T](rnd, n), Y: positives[T](rnd, n)}
}

func pow[T rev.Real](rnd *rand.Rand, n int) revlinalg.Pow[T] {
	return revlinalg.Pow[T]{Z: vector[T](rnd, n), X: positives[T](rnd, n), Y: vector[T](rnd, n)}
}

func logPosterior[T rev.Float](rnd *rand.Rand, n int) gmm.LogPosterior[T] {
	return gmm.LogPosterior[T]{
		Out: scalar[T](rnd), Alpha: vector[T](rnd, 2), Means: matrix[T](rnd, 2, 3), Factors: matrix[T](rnd, 2, 6), X: matrix[T](rnd, n, 3),
		Prior: gmm.Prior{Gamma: 1, M: 1},
	}
}

func cost[T rev.Float](rnd *rand.Rand, n int) kmeans.Cost[T] {
	return kmeans.Cost[T]{Out: scalar[T](rnd), Centroids: matrix[T](rnd, 2, 3), X: matrix[T](rnd, n, 3)}
}

func loss[T rev.Real](rnd *rand.Rand, n int) graphembed.Loss[T] {
	return graphembed.Loss[T]{
		Out: scalar[T](rnd), Fixed: matrix[T](rnd, 2, n), Free: matrix[T](rnd, 8, n),
		Graph: graphembed.Petersen(), Margin: 1,
	}
}

func fixedLogPosterior(rnd *rand.Rand, n int) gmm.FixedLogPosterior {
	type q = fixed.Q43
	return gmm.FixedLogPosterior{
		Out: scalar[q](rnd), Alpha: vector[q](rnd, 2), Means: matrix[q](rnd, 2, 3), Factors: matrix[q](rnd, 2, 6), X: matrix[q](rnd, n, 3),
		Prior: gmm.Prior{Gamma: 1, M: 1},
	}
}

// Outputs that are logs of sums are not much smaller than what is added.

func logOutputs[T rev.Float](rnd *rand.Rand, n, terms int) []T {
	x := numbersOf[T](rnd, n)
	for i := range x {
		x[i] += T(math.Log(float64(1 + terms)))
	}
	return x
}

func logSum[T rev.Float](rnd *rand.Rand, n int) revlog.Sum[T] {
	return revlog.Sum[T]{Out: &logOutputs[T](rnd, 1, n)[0], X: vector[T](rnd, n)}
}

func logDot[T rev.Float](rnd *rand.Rand, n int) revlog.Dot[T] {
	return revlog.Dot[T]{Out: &logOutputs[T](rnd, 1, n)[0], X: vector[T](rnd, n), Y: vector[T](rnd, n)}
}

func logMul[T rev.Float](rnd *rand.Rand, n int) revlog.MatMul[T] {
	return revlog.MatMul[T]{C: rev.NewGeneral(n, n, logOutputs[T](rnd, n*n, n)), A: matrix[T](rnd, n, n), B: matrix[T](rnd, n, n)}
}

func logMulElem[T rev.Float](rnd *rand.Rand, n int) revlog.MulElem[T] {
	return revlog.MulElem[T]{Z: rev.ViewSlice(logOutputs[T](rnd, n, 1)), X: vector[T](rnd, n), Y: vector[T](rnd, n)}
}

func logProd[T rev.Real](rnd *rand.Rand, n int) revlog.Prod[T] {
	return revlog.Prod[T]{Out: scalar[T](rnd), X: vector[T](rnd, n)}
}

func powerProduct[T rev.Real](rnd *rand.Rand, n int) revlog.Powers[T] {
	return revlog.Powers[T]{Y: vector[T](rnd, n), A: matrix[T](rnd, n, n+1), X: vector[T](rnd, n+1)}
}

func logResponsibilities[T rev.Float](rnd *rand.Rand, n int) gmm.LogResponsibilities[T] {
	return gmm.LogResponsibilities[T]{
		R: matrix[T](rnd, n, 2), Alpha: vector[T](rnd, 2), Means: matrix[T](rnd, 2, 3), Factors: matrix[T](rnd, 2, 6), X: matrix[T](rnd, n, 3),
	}
}

const (
	sumOfLogs       = "the log of a sum is rounded, so what was added cannot be taken out to the bit"
	divides         = "solutions leave the range, and errors of fixed size do not get small beside them"
	signedLogs      = "the operands are logs, which carry no sign"
	roundedDivision = "quotients by small pivots leave ±2²⁰"
	smallDistances  = "derivatives, quotients by distances of values, leave ±2²⁰"
)

// byReal says that a kernel over complex numbers has one over real numbers beside
// it.
func byReal(name string) map[string]string {
	return map[string]string{"float64": "by " + name, "float32": "by " + name, "Q43": "by " + name}
}

// listed are all kernels: what they compute, the claims, and why others are not
// made.
var listed = []struct {
	equation string
	claims   []claim
	why      map[string]string // by number type
}{
	{"y += W·x + b", []claim{kernel(affine[float64]), kernel(affine[float32]), kernel(affine[fixed.Q43])}, nil},
	{"C += op(A)·op(B)", []claim{kernel(matMul[float64]), kernel(matMul[float32]), kernel(matMul[fixed.Q43])}, nil},
	{"X <- U(θ)·X", []claim{kernel(unitary[float64]), kernel(unitary[float32]), kernel(unitary[fixed.Q43])},
		map[string]string{"complex128": "by ComplexUnitary"}},
	{"X <- U(θ, φ, δ)·X", []claim{kernel(complexUnitary)},
		map[string]string{"float64": "by Unitary", "float32": "by Unitary", "Q43": "by Unitary"}},
	{"A <-> R and angles, R = U(θ)·A", []claim{kernel(givensQR[float64]), kernel(givensQR[float32])},
		map[string]string{"Q43": "a rounded angle does not tell apart all pairs of elements above 1"}},
	{"y += α·x", []claim{kernel(axpy[float64]), kernel(axpy[float32]), kernel(axpy[fixed.Q43]), kernel(complexAxpy)}, nil},
	{"r += Σ conj(x_i)·y_i", []claim{kernel(dot[float64]), kernel(dot[float32]), kernel(dot[fixed.Q43]), kernel(complexDot)}, nil},
	{"r += Σ x_i", []claim{kernel(sum[float64]), kernel(sum[float32]), kernel(sum[fixed.Q43]), kernel(complexSum)}, nil},
	{"r += Σ x_i²", []claim{kernel(sumSquares[float64]), kernel(sumSquares[float32]), kernel(sumSquares[fixed.Q43])}, map[string]string{"complex128": "by ComplexSumSquares"}},
	{"r += ‖x‖", []claim{kernel(norm2[float64]), kernel(norm2[float32]), kernel(norm2[fixed.Q43])}, map[string]string{"complex128": "by ComplexNorm2"}},
	{"r += ‖A‖_F", []claim{kernel(frobenius[float64]), kernel(frobenius[float32]), kernel(frobenius[fixed.Q43])}, map[string]string{"complex128": "by ComplexFrobenius"}},
	{"r += ‖x‖₁", []claim{kernel(norm1[float64]), kernel(norm1[float32]), kernel(norm1[fixed.Q43])}, map[string]string{"complex128": "by ComplexNorm1"}},
	{"r += ‖x‖_∞", []claim{kernel(normInf[float64]), kernel(normInf[float32]), kernel(normInf[fixed.Q43])}, nil},
	{"A += α·x·yᵀ", []claim{kernel(outer[float64]), kernel(outer[float32]), kernel(outer[fixed.Q43])}, nil},
	{"r += mean of x", []claim{kernel(mean[float64]), kernel(mean[float32]), kernel(mean[fixed.Q43])}, nil},
	{"r += variance of x", []claim{kernel(variance[float64]), kernel(variance[float32]), kernel(variance[fixed.Q43])}, nil},
	{"C += covariance of the columns of X", []claim{kernel(covariance[float64]), kernel(covariance[float32]), kernel(covariance[fixed.Q43])}, nil},
	{"r += cross-entropy of softmax x_i, for rows i", []claim{kernel(crossEntropy[float64]), kernel(crossEntropy[float32]), kernel(crossEntropy[fixed.Q43])}, nil},
	{"r += log Σ exp x_i", []claim{kernel(logSumExp[float64]), kernel(logSumExp[float32]), kernel(logSumExp[fixed.Q43])}, nil},
	{"y += softmax x", []claim{kernel(softmax[float64]), kernel(softmax[float32]), kernel(softmax[fixed.Q43])}, nil},
	{"r += Σ abs(x_i)²", []claim{kernel(complexSumSquares)}, byReal("SumSquares")},
	{"r += ‖x‖₁", []claim{kernel(complexNorm1)}, byReal("Norm1")},
	{"r += ‖x‖", []claim{kernel(complexNorm2)}, byReal("Norm2")},
	{"r += ‖A‖_F", []claim{kernel(complexFrobenius)}, byReal("Frobenius")},
	{"y_i += abs x_i", []claim{kernel(complexAbs)}, byReal("Abs")},
	{"y_i += exp x_i", []claim{kernel(exp[float64]), kernel(exp[float32]), kernel(exp[fixed.Q43])}, nil},
	{"y_i += log x_i", []claim{fallible(log[float64]), fallible(log[float32]), fallible(log[fixed.Q43]), fallible(complexLog)}, nil},
	{"y_i += √x_i", []claim{fallible(sqrt[float64]), fallible(sqrt[float32]), fallible(sqrt[fixed.Q43])}, nil},
	{"y_i += sin x_i", []claim{kernel(sin[float64]), kernel(sin[float32]), kernel(sin[fixed.Q43])}, nil},
	{"y_i += cos x_i", []claim{kernel(cos[float64]), kernel(cos[float32]), kernel(cos[fixed.Q43])}, nil},
	{"y_i += abs x_i", []claim{kernel(abs[float64]), kernel(abs[float32]), kernel(abs[fixed.Q43])}, map[string]string{"complex128": "by ComplexAbs"}},
	{"z_i += atan2(x_i, y_i)", []claim{fallible(atan2[float64]), fallible(atan2[float32]), fallible(atan2[fixed.Q43])}, nil},
	{"z_i += x_i^y_i", []claim{fallible(pow[float64]), fallible(pow[float32]), fallible(pow[fixed.Q43])}, nil},
	{"L += chol(A)", []claim{fallible(cholesky[float64]), fallible(cholesky[float32])}, map[string]string{"Q43": roundedDivision}},
	{"Q += Q(A), R += R(A), by reflections", []claim{fallible(qr[float64]), fallible(qr[float32])}, map[string]string{"Q43": roundedDivision}},
	{"the same, R with a positive diagonal", []claim{fallible(gramSchmidt[float64]), fallible(gramSchmidt[float32])}, map[string]string{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B, A triangular", []claim{fallible(denseTriSolve[float64]), fallible(denseTriSolve[float32])}, map[string]string{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B", []claim{fallible(solve[float64]), fallible(solve[float32])}, map[string]string{"Q43": roundedDivision}},
	{"B += A⁻¹", []claim{fallible(inv[float64]), fallible(inv[float32])}, map[string]string{"Q43": roundedDivision}},
	{"r += det A", []claim{kernel(det[float64]), kernel(det[float32])}, map[string]string{"Q43": roundedDivision}},
	{"r += det A, by minors", []claim{kernel(detMinors[float64]), kernel(detMinors[float32]), kernel(detMinors[fixed.Q43])}, nil},
	{"r += log abs(det A), s += sign(det A)", []claim{fallible(logDet[float64]), fallible(logDet[float32])}, map[string]string{"Q43": roundedDivision}},
	{"w += w(A), V += V(A), A = V·diag(w)·Vᵀ", []claim{fallible(symEig[float64]), fallible(symEig[float32])}, map[string]string{"Q43": smallDistances}},
	{"U += U(A), s += s(A), V += V(A), A = U·diag(s)·Vᵀ", []claim{fallible(svd[float64]), fallible(svd[float32])}, map[string]string{"Q43": smallDistances}},
	{"r += ½ Σ_i (y_i - Σ_j c_j·x_i^j)²", []claim{kernel(polyLeastSquares[float64]), kernel(polyLeastSquares[float32])},
		map[string]string{"Q43": "powers of x leave ±2²⁰, or vanish below 2⁻⁴³"}},
	{"r += Σ_i min_k ‖x_i - c_k‖²", []claim{kernel(cost[float64]), kernel(cost[float32])},
		map[string]string{"Q43": "not yet: its candidates are found by products of float matrices"}},
	{"C += α·op(A)·B, A sparse", []claim{kernel(sparseMul[float64]), kernel(sparseMul[float32]), kernel(sparseMul[fixed.Q43]), kernel(sparseMul[complex128])}, nil},
	{"r += Σ conj(A_ij)·B_ij, both sparse", []claim{kernel(sparseDot[float64]), kernel(sparseDot[float32]), kernel(sparseDot[fixed.Q43]), kernel(sparseDot[complex128])}, nil},
	{"S_ij += A_i·B_j at the entries of a sparse S", []claim{kernel(sampledMul[float64]), kernel(sampledMul[float32]), kernel(sampledMul[fixed.Q43])}, nil},
	{"C_ij += Σ_l A_il·B_lj, all sparse", []claim{kernel(spgemm[float64]), kernel(spgemm[float32]), kernel(spgemm[fixed.Q43])}, nil},
	{"C += α·(A + Aᵀ - diag A)·B, A sparse", []claim{kernel(symmetricMul[float64]), kernel(symmetricMul[float32]), kernel(symmetricMul[fixed.Q43])}, nil},
	{"r += misfit of an embedding of a graph", []claim{kernel(loss[float64]), kernel(loss[float32]), kernel(loss[fixed.Q43])}, nil},
	{"x += op(A)⁻¹·b, A sparse and triangular", []claim{fallible(triSolve[float64]), fallible(triSolve[float32])},
		map[string]string{"Q43": divides}},
	{"X += op(A)⁻¹·B, A sparse", []claim{fallible(sparseSolve[float64]), fallible(sparseSolve[float32])},
		map[string]string{"Q43": divides}},
	{"x += A⁻¹·b, A sparse, symmetric and positive definite", []claim{fallible(sparseCG[float64]), fallible(sparseCG[float32])},
		map[string]string{"Q43": divides}},
	{"λ_i += eigenvalue, v_i += eigenvector, A sparse and symmetric", []claim{fallible(dominantEig[float64]), fallible(dominantEig[float32])},
		map[string]string{"Q43": divides}},
	{"the same, A an operator", []claim{fallible(operatorEig)},
		map[string]string{"float32": "operators work on float64", "Q43": divides}},
	{"R += reprojection errors, cameras of 9 parameters", []claim{kernel(snavely[float64]), kernel(snavely[float32]), kernel(snavely[fixed.Q43])}, nil},
	{"R += weighted ones, cameras of 11 parameters; Z += 1 - w²", []claim{kernel(weighted[float64]), kernel(weighted[float32]), kernel(weighted[fixed.Q43])}, nil},
	{"r += log posterior of a Gaussian mixture", []claim{kernel(logPosterior[float64]), kernel(logPosterior[float32])},
		map[string]string{"Q43": "by FixedLogPosterior"}},
	{"the same", []claim{fallible(fixedLogPosterior)},
		map[string]string{"float64": "by LogPosterior", "float32": "by LogPosterior"}},

	{"r ⊕= Σ x_i", []claim{kernel(logSum[float64]), kernel(logSum[float32])},
		map[string]string{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r ⊕= Σ x_i·y_i", []claim{kernel(logDot[float64]), kernel(logDot[float32])},
		map[string]string{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B", []claim{kernel(logMul[float64]), kernel(logMul[float32])},
		map[string]string{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B, A sparse", []claim{kernel(sparseLogMul[float64]), kernel(sparseLogMul[float32])},
		map[string]string{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"z_i ⊕= x_i·y_i", []claim{kernel(logMulElem[float64]), kernel(logMulElem[float32])},
		map[string]string{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r *= Π x_i", []claim{fallible(logProd[float64]), fallible(logProd[float32]), fallible(logProd[fixed.Q43])},
		map[string]string{"ulog.Signed": signedLogs}},
	{"y_i *= Π_j x_j^a_ij", []claim{fallible(powerProduct[float64]), fallible(powerProduct[float32]), fallible(powerProduct[fixed.Q43])},
		map[string]string{"ulog.Signed": signedLogs}},
	{"R_ik *= responsibility of component k for point i", []claim{kernel(logResponsibilities[float64]), kernel(logResponsibilities[float32])},
		map[string]string{"ulog.Fixed": "log densities of points far away leave ±2²⁰", "ulog.Signed": "responsibilities are not negative"}},
}

// overLogs are the kernels whose operands are logs, that is, numbers of ulog,
// though their elements are floats.
var overLogs = map[string]bool{
	"revlog.Sum": true, "revlog.Dot": true, "revlog.MatMul": true, "revlog.MulElem": true, "revsparse.LogMul": true,
	"revlog.Prod": true, "revlog.Powers": true,
	"revmodels/gmm.LogResponsibilities": true,
}

var linearColumns = map[reflect.Type]string{
	reflect.TypeFor[float64](): "float64", reflect.TypeFor[float32](): "float32", reflect.TypeFor[fixed.Q43](): "Q43", reflect.TypeFor[complex128](): "complex128",
}

var logColumns = map[reflect.Type]string{
	reflect.TypeFor[float64](): "ulog.Float64", reflect.TypeFor[float32](): "ulog.Float32", reflect.TypeFor[fixed.Q43](): "ulog.Fixed",
}

// TestKernels runs every kernel over every number type that it claims, and
// compares docs/kernels.md with what comes out.
func TestKernels(t *testing.T) {
	linear := &table{columns: []string{"float64", "float32", "Q43", "complex128"}}
	logs := &table{columns: []string{"ulog.Float64", "ulog.Float32", "ulog.Fixed", "ulog.Signed"}}
	for _, l := range listed {
		r := &row{kernel: l.claims[0].kernel, equation: l.equation, cells: maps.Clone(l.why), derivatives: "first"}
		if r.cells == nil {
			r.cells = make(map[string]string)
		}
		tab, columns := linear, linearColumns
		if overLogs[r.kernel] {
			tab, columns = logs, logColumns
		}
		for _, c := range l.claims {
			number := columns[c.elem]
			t.Run(r.kernel+"/"+number, c.test)
			exact := c.exact()
			if inFixed := c.elem == reflect.TypeFor[fixed.Q43](); exact != inFixed {
				t.Errorf("%s over %s: exact is %v", r.kernel, number, exact)
			}
			r.cells[number] = "bounded"
			if exact {
				r.cells[number] = "**exact**"
			}
			if c.fallible {
				r.cells[number] += ", or an error"
			}
			if c.second {
				r.derivatives = "first, second"
			}
		}
		for _, number := range tab.columns {
			if number == "complex128" && r.cells[number] == "" {
				r.cells[number] = "no"
			}
			if r.cells[number] == "" {
				t.Errorf("%s over %s is neither claimed nor explained", r.kernel, number)
			}
		}
		tab.rows = append(tab.rows, r)
	}
	if t.Failed() {
		return
	}
	got, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := bytes.Cut(got, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok1 || !ok2 {
		t.Fatalf("docs/kernels.md lacks the line %q, or %q after it", begin, end)
	}
	want := slices.Concat(before, []byte(begin), document(linear, logs), []byte(end), after)
	if *update {
		if err := os.WriteFile(tables, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the tables of docs/kernels.md are not what the kernels do; run this test with -update. Want:\n%s", document(linear, logs))
	}
}

func document(linear, logs *table) []byte {
	var b bytes.Buffer
	b.WriteString(`
- **exact**: Inverse and Adjoint restore every bit, whatever was added.
- bounded: they restore up to rounding, within the bound that the kernel's
  documentation states.
- Otherwise the kernel is not offered over the type, and why.

"First, second" are the orders of derivatives: Adjoint and Tangent, and
AdjointTangent for Hessians. The test that runs every kernel over every type
named here writes these tables.

`)
	linear.write(&b)
	b.WriteString(`
Operands of the next kernels are logs, as slices of float64, float32 or fixed.Q43:
ulog.OfLogs, ulog.Logs and the like change between them and slices of numbers
without copying. ⊕= adds to a number, *= multiplies it.

`)
	logs.write(&b)
	b.WriteString(`
Single numbers of type ulog.Fixed are multiplied, divided and raised to powers in
place, and back to the bit, by their own methods (MulAssign, DivAssign,
PowAssign, RootAssign) and by BufferedPow. ` + "`go run ./benchmarks numbers`" + ` runs
10,000 steps of programs forward and back over each type, and prints what is
left of the start.

`)
	return b.Bytes()
}

func (t *table) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "| kernel | equation | %s | derivatives |\n|---|---|%s---|\n", strings.Join(t.columns, " | "), strings.Repeat("---|", len(t.columns)))
	for _, r := range t.rows {
		fmt.Fprintf(b, "| `%s` | %s |", r.kernel, r.equation)
		for _, c := range t.columns {
			fmt.Fprintf(b, " %s |", r.cells[c])
		}
		fmt.Fprintf(b, " %s |\n", r.derivatives)
	}
}

// TestAllKernelsListed reads the sources for kernels, the exported structs with
// operands, and for the types that each is declared for, and compares them
// with the claims.
func TestAllKernelsListed(t *testing.T) {
	got := make(map[string]bool)
	for _, l := range listed {
		for _, c := range l.claims {
			got[c.kernel+" "+c.elem.String()] = true
		}
	}
	want := make(map[string]bool)
	var dirs []string
	for _, pattern := range []string{"/revlinalg", "/revlog", "/revsparse", "/revmodels/*"} {
		found, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, found...)
	}
	if len(dirs) < 2 {
		t.Fatalf("the packages of kernels are not where they were: %q", dirs)
	}
	for _, dir := range dirs {
		declaredIn(t, dir, want)
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if !got[k] {
			t.Errorf("%s is declared, but not among those listed above: add it there, and run TestKernels with -update", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if !want[k] {
			t.Errorf("%s is listed, but not declared", k)
		}
	}
}

// declaredIn adds the kernels of a package to found, each with the types of its
// elements.
func declaredIn(t *testing.T, dir string, found map[string]bool) {
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	pkg, _ := filepath.Rel(root, dir)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			decl, ok := n.(*ast.TypeSpec)
			if !ok || !decl.Name.IsExported() {
				return true
			}
			elem, ok := operandType(decl)
			if !ok {
				return true
			}
			types := map[string][]string{
				"rev.Real": {"float32", "float64", "fixed.Q43"}, "rev.Float": {"float32", "float64"}, "rev.Number": {"float32", "float64", "fixed.Q43", "complex128"}, "Scalar": {"float32", "float64", "fixed.Q43", "complex128"}, "fixed.Q43": {"fixed.Q43"}, "float64": {"float64"}, "complex128": {"complex128"},
			}[elem]
			if types == nil {
				t.Errorf("%s.%s has operands of type %s, which this test does not know", pkg, decl.Name, elem)
			}
			for _, typ := range types {
				found[filepath.ToSlash(pkg)+"."+decl.Name.Name+" "+typ] = true
			}
			return true
		})
	}
}

// operandType returns the constraint of the elements of a kernel, or their type
// if it has no type parameter, as elementOf does, and whether the type is a kernel at all.
func operandType(decl *ast.TypeSpec) (elem string, ok bool) {
	s, isStruct := decl.Type.(*ast.StructType)
	if !isStruct {
		return "", false
	}
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		role, tagged := reflect.StructTag(tag).Lookup("rev")
		if err != nil || !tagged || role == "index" {
			continue
		}
		if decl.TypeParams != nil {
			return selector(decl.TypeParams.List[0].Type), true
		}
		typ := f.Type
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.ArrayType:
			typ = x.Elt
		case *ast.IndexExpr:
			typ = x.Index
		}
		if e := selector(typ); elem == "" || e == "complex128" {
			elem = e
		}
	}
	return elem, elem != ""
}

func selector(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.SelectorExpr:
		return selector(x.X) + "." + x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return fmt.Sprintf("%T", e)
}
