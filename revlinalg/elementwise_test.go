package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// operands returns a function that makes y and x of a size for a Spec.
func operands[T rev.Real](draw func(*rand.Rand, int) rev.Vector[T]) func(*rand.Rand, int) elementwise.Operands[T] {
	return func(rnd *rand.Rand, n int) elementwise.Operands[T] {
		return elementwise.Operands[T]{Y: kerneltest.Vector[T](rnd, n), X: draw(rnd, n)}
	}
}

// TestNegativeWorkers has vectors that are and are not of one block.
func TestNegativeWorkers(t *testing.T) {
	for _, n := range []int{1, 5000} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d elements: no panic", n)
				}
			}()
			revlinalg.Exp[float64]{Y: rev.ViewSlice(make([]float64, n)), X: rev.ViewSlice(make([]float64, n)), Workers: -1}.Forward()
		}()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d products: no panic", n)
				}
			}()
			v := func() rev.Vector[float64] { return rev.ViewSlice(make([]float64, n)) }
			revlinalg.MulElem[float64]{Z: v(), X: v(), Y: v(), Workers: -1}.Forward()
		}()
	}
}

func TestExp(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testExp[float32](t) })
	t.Run("float64", func(t *testing.T) { testExp[float64](t) })
	t.Run("Q43", func(t *testing.T) { testExp[fixed.Q43](t) })
}

func testExp[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Exp[T]]{
		Float64: revtest.PassesOf[revlinalg.Exp[float64]](),
		New: func(rnd *rand.Rand, n int) revlinalg.Exp[T] {
			return revlinalg.Exp[T](operands(kerneltest.Vector[T])(rnd, n))
		},
		Magnitudes: [2]float64{0.125, 8},        // it overflows
		Large:      8*elementwise.BlockSize + 5, // for two workers
	})
}

func TestSin(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testSin[float32](t) })
	t.Run("float64", func(t *testing.T) { testSin[float64](t) })
	t.Run("Q43", func(t *testing.T) { testSin[fixed.Q43](t) })
}

func testSin[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Sin[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Sin[T] {
			return revlinalg.Sin[T](operands(kerneltest.Vector[T])(rnd, n))
		},
	})
}

func TestCos(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testCos[float32](t) })
	t.Run("float64", func(t *testing.T) { testCos[float64](t) })
	t.Run("Q43", func(t *testing.T) { testCos[fixed.Q43](t) })
}

func testCos[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Cos[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Cos[T] {
			return revlinalg.Cos[T](operands(kerneltest.Vector[T])(rnd, n))
		},
	})
}

func TestAbs(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testAbs[float32](t) })
	t.Run("float64", func(t *testing.T) { testAbs[float64](t) })
	t.Run("Q43", func(t *testing.T) { testAbs[fixed.Q43](t) })
}

func testAbs[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Abs[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Abs[T] {
			return revlinalg.Abs[T](operands(kerneltest.Away[T])(rnd, n))
		},
	})
}

func TestLog(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testLog[float32](t) })
	t.Run("float64", func(t *testing.T) { testLog[float64](t) })
	t.Run("Q43", func(t *testing.T) { testLog[fixed.Q43](t) })
}

func testLog[T rev.Real](t *testing.T) {
	spec := revtest.Spec[revlinalg.Log[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Log[T] {
			return revlinalg.Log[T](operands(kerneltest.Positive[T])(rnd, n))
		},
	}
	spec.Failing = func(rnd *rand.Rand, n int) revlinalg.Log[T] {
		k := spec.New(rnd, n+1)
		k.X.Data[n] = -T(rnd.IntN(2))
		return k
	}
	revtest.Kernel(t, spec)
}

func TestSqrt(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testSqrt[float32](t) })
	t.Run("float64", func(t *testing.T) { testSqrt[float64](t) })
	t.Run("Q43", func(t *testing.T) { testSqrt[fixed.Q43](t) })
}

func testSqrt[T rev.Real](t *testing.T) {
	spec := revtest.Spec[revlinalg.Sqrt[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Sqrt[T] {
			return revlinalg.Sqrt[T](operands(kerneltest.Positive[T])(rnd, n))
		},
	}
	spec.Failing = func(rnd *rand.Rand, n int) revlinalg.Sqrt[T] {
		k := spec.New(rnd, n+1)
		k.X.Data[n] = -1
		return k
	}
	revtest.Kernel(t, spec)
}

// These are tested over float32 by the instructions and in package vec alone.
func TestTan(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testTan[float64](t) })
	t.Run("Q43", func(t *testing.T) { testTan[fixed.Q43](t) })
}

func testTan[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Tan[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Tan[T] { // away from poles
			k := revlinalg.Tan[T](operands(kerneltest.Vector[T])(rnd, n))
			for i := range n {
				k.X.Data[i] = fixed.Of[T](2*rnd.Float64() - 1 + math.Pi*float64(rnd.IntN(3)))
			}
			return k
		},
		Magnitudes: [2]float64{1, 1},
		Large:      8*elementwise.BlockSize + 5, // for two workers
	})
}

func TestExpm1(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testExpm1[float64](t) })
	t.Run("Q43", func(t *testing.T) { testExpm1[fixed.Q43](t) })
}

func testExpm1[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Expm1[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Expm1[T] {
			return revlinalg.Expm1[T](operands(kerneltest.Vector[T])(rnd, n))
		},
		Magnitudes: [2]float64{0.125, 8},        // it overflows
		Large:      8*elementwise.BlockSize + 5, // for two workers
	})
}

func TestLog1p(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testLog1p[float64](t) })
	t.Run("Q43", func(t *testing.T) { testLog1p[fixed.Q43](t) })
}

func testLog1p[T rev.Real](t *testing.T) {
	spec := revtest.Spec[revlinalg.Log1p[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Log1p[T] {
			return revlinalg.Log1p[T](operands(kerneltest.Positive[T])(rnd, n))
		},
		Large: 8*elementwise.BlockSize + 5, // for two workers
	}
	spec.Failing = func(rnd *rand.Rand, n int) revlinalg.Log1p[T] {
		k := spec.New(rnd, n+1)
		k.X.Data[n] = fixed.Of[T](float64(-1 - rnd.IntN(2)))
		return k
	}
	revtest.Kernel(t, spec)
}

func TestErf(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testErf[float64](t) })
	t.Run("Q43", func(t *testing.T) { testErf[fixed.Q43](t) })
}

func testErf[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Erf[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Erf[T] {
			return revlinalg.Erf[T](operands(kerneltest.Vector[T])(rnd, n))
		},
		Large: 8*elementwise.BlockSize + 5, // for two workers
	})
}

func TestSquare(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testSquare(t, kerneltest.Vector[float32]) })
	t.Run("float64", func(t *testing.T) { testSquare(t, kerneltest.Vector[float64]) })
	t.Run("Q43", func(t *testing.T) { testSquare(t, kerneltest.Vector[fixed.Q43]) })
	t.Run("complex128", func(t *testing.T) { testSquare(t, kerneltest.Complexes) })
}

func testSquare[T rev.Number](t *testing.T, draw func(*rand.Rand, int) rev.Vector[T]) {
	revtest.Kernel(t, revtest.Spec[revlinalg.Square[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Square[T] {
			return revlinalg.Square[T]{Y: draw(rnd, n), X: draw(rnd, n)}
		},
		Large: 8*elementwise.BlockSize + 5, // for two workers
	})
}

func TestRecip(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testRecip(t, kerneltest.Away[float32]) })
	t.Run("float64", func(t *testing.T) { testRecip(t, kerneltest.Away[float64]) })
	t.Run("Q43", func(t *testing.T) { testRecip(t, kerneltest.Away[fixed.Q43]) })
	t.Run("complex128", func(t *testing.T) { testRecip(t, kerneltest.Complexes) })
}

// The bounds of complex reciprocals and their derivatives are those of Recip's page.
func TestComplexRecipBounds(t *testing.T) {
	type exact struct{ re, im *big.Float }
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	times := func(x, y *big.Float) *big.Float { return number(0).Mul(x, y) }
	product := func(a, b exact) exact {
		return exact{
			number(0).Sub(times(a.re, b.re), times(a.im, b.im)),
			number(0).Add(times(a.re, b.im), times(a.im, b.re)),
		}
	}
	within := func(what string, x, got complex128, want exact, bound float64) {
		t.Helper()
		re, im := number(0).Sub(number(real(got)), want.re), number(0).Sub(number(imag(got)), want.im)
		off := number(0).Add(times(re, re), times(im, im))
		size := number(0).Add(times(want.re, want.re), times(want.im, want.im))
		limit := number(bound * 0x1p-52)
		if off.Cmp(times(size, times(limit, limit))) > 0 {
			t.Errorf("%s of %v is %v, want (%.17g, %.17g)", what, x, got, want.re, want.im)
		}
	}
	rnd := rand.New(rand.NewPCG(12, 9))
	for i := range long.Or(20000, 4000) {
		most := 330.0 // so that x⁻³ is a normal number
		if i%4 == 0 {
			most = 1000
		}
		re := math.Exp2(most*(2*rnd.Float64()-1)) * (rnd.Float64() + 0.5)
		x := complex(re, re*math.Exp2(20*rnd.NormFloat64()))
		if size := cmplx.Abs(x); !(size > math.Exp2(-most) && size < math.Exp2(most)) {
			continue
		}
		square := number(0).Add(times(number(real(x)), number(real(x))), times(number(imag(x)), number(imag(x))))
		r := exact{number(0).Quo(number(real(x)), square), number(0).Quo(number(-imag(x)), square)}
		type K = revlinalg.Recip[complex128]
		one := func(v complex128) rev.Vector[complex128] { return rev.ViewSlice([]complex128{v}) }
		k := K{Y: one(0), X: one(x)}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		within("the reciprocal", x, k.Y.Data[0], r, 5)
		if most < 1000 {
			dy, gx := one(0), one(0)
			if err := errors.Join(
				K{X: k.X}.Tangent(K{Y: dy, X: one(1)}),
				K{X: k.X}.AdjointTangent(K{Y: one(0.5)}, K{X: one(1)}, K{X: gx}),
			); err != nil {
				t.Fatal(err)
			}
			within("r²", x, -dy.Data[0], product(r, r), 12)
			cube := product(product(r, r), r)
			within("r³", x, cmplx.Conj(gx.Data[0]), cube, 20)
		}
	}
}

func testRecip[T rev.Number](t *testing.T, draw func(*rand.Rand, int) rev.Vector[T]) {
	spec := revtest.Spec[revlinalg.Recip[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Recip[T] {
			return revlinalg.Recip[T]{Y: draw(rnd, n), X: draw(rnd, n)}
		},
		Large: 8*elementwise.BlockSize + 5, // for two workers
	}
	spec.Failing = func(rnd *rand.Rand, n int) revlinalg.Recip[T] {
		k := spec.New(rnd, n+1)
		k.X.Data[n] = 0
		return k
	}
	revtest.Kernel(t, spec)
}

func TestAtan2(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testAtan2[float32](t) })
	t.Run("float64", func(t *testing.T) { testAtan2[float64](t) })
	t.Run("Q43", func(t *testing.T) { testAtan2[fixed.Q43](t) })
}

func testAtan2[T rev.Real](t *testing.T) {
	kerneltest.Kernel[T](t, revtest.Spec[revlinalg.Atan2[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Atan2[T] {
			// Away from the cut.
			return revlinalg.Atan2[T]{Z: kerneltest.Vector[T](rnd, n), X: kerneltest.Away[T](rnd, n), Y: kerneltest.Positive[T](rnd, n)}
		},
		Skip:  map[revtest.Property]string{revtest.Errors: "Forward and Inverse never fail"},
		Large: 2*binaryBlock + 5,
	})
}

func TestPow(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testPow[float32](t) })
	t.Run("float64", func(t *testing.T) { testPow[float64](t) })
	t.Run("Q43", func(t *testing.T) { testPow[fixed.Q43](t) })
}

func testPow[T rev.Real](t *testing.T) {
	spec := revtest.Spec[revlinalg.Pow[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Pow[T] {
			return revlinalg.Pow[T]{Z: kerneltest.Vector[T](rnd, n), X: kerneltest.Positive[T](rnd, n), Y: kerneltest.Positive[T](rnd, n)}
		},
	}
	spec.Large = 2*binaryBlock + 5
	spec.Magnitudes = [2]float64{0.125, 8} // it overflows
	spec.Failing = func(rnd *rand.Rand, n int) revlinalg.Pow[T] {
		k := spec.New(rnd, n+1)
		k.X.Data[n], k.Y.Data[n] = fixed.Of[T](-2), fixed.Of[T](0.5)
		if rnd.IntN(2) == 0 {
			k.X.Data[n], k.Y.Data[n] = 0, fixed.Of[T](-2)
		}
		return k
	}
	revtest.Kernel(t, spec)
}

// An instruction is a function of one or two numbers with the Jacobian and the
// Hessian that the table of the instructions of NiLang gives (arXiv 2003.04617,
// appendix B), as functions of the arguments.
type instruction struct {
	name     string
	args     [][]float64
	value    func(a []float64) float64
	jacobian func(a []float64) []float64
	hessian  func(a []float64) [][]float64
}

var instructions = []instruction{
	{
		"exp", [][]float64{{0}, {1.5}, {-7}, {3}},
		func(a []float64) float64 { return math.Exp(a[0]) },
		func(a []float64) []float64 { return []float64{math.Exp(a[0])} },
		func(a []float64) [][]float64 { return [][]float64{{math.Exp(a[0])}} },
	}, {
		"log", [][]float64{{1}, {0.25}, {7}, {100}},
		func(a []float64) float64 { return math.Log(a[0]) },
		func(a []float64) []float64 { return []float64{1 / a[0]} },
		func(a []float64) [][]float64 { return [][]float64{{-1 / (a[0] * a[0])}} },
	}, {
		"sqrt", [][]float64{{1}, {0.25}, {7}, {100}},
		func(a []float64) float64 { return math.Sqrt(a[0]) },
		func(a []float64) []float64 { return []float64{1 / (2 * math.Sqrt(a[0]))} },
		func(a []float64) [][]float64 { return [][]float64{{-math.Pow(a[0], -1.5) / 4}} },
	}, {
		"sin", [][]float64{{0}, {1}, {-3}, {20}},
		func(a []float64) float64 { return math.Sin(a[0]) },
		func(a []float64) []float64 { return []float64{math.Cos(a[0])} },
		func(a []float64) [][]float64 { return [][]float64{{-math.Sin(a[0])}} },
	}, {
		"cos", [][]float64{{0}, {1}, {-3}, {20}},
		func(a []float64) float64 { return math.Cos(a[0]) },
		func(a []float64) []float64 { return []float64{-math.Sin(a[0])} },
		func(a []float64) [][]float64 { return [][]float64{{-math.Cos(a[0])}} },
	}, {
		"abs", [][]float64{{0}, {1}, {-3}},
		func(a []float64) float64 { return math.Abs(a[0]) },
		func(a []float64) []float64 {
			if a[0] == 0 {
				return []float64{0}
			}
			return []float64{math.Copysign(1, a[0])}
		},
		func([]float64) [][]float64 { return [][]float64{{0}} },
	}, {
		"atan2", [][]float64{{0, 1}, {1, 0}, {-2, -3}, {0.5, -0.25}},
		func(a []float64) float64 { return math.Atan2(a[0], a[1]) },
		func(a []float64) []float64 {
			r2 := a[0]*a[0] + a[1]*a[1]
			return []float64{a[1] / r2, -a[0] / r2}
		},
		func(a []float64) [][]float64 {
			r2 := a[0]*a[0] + a[1]*a[1]
			r4 := r2 * r2
			d, o := -2*a[0]*a[1]/r4, (a[0]*a[0]-a[1]*a[1])/r4
			return [][]float64{{d, o}, {o, -d}}
		},
	}, {
		"pow", [][]float64{{2, 3}, {0.5, -1.5}, {1, 0}, {3, 0.25}},
		func(a []float64) float64 { return math.Pow(a[0], a[1]) },
		func(a []float64) []float64 {
			return []float64{a[1] * math.Pow(a[0], a[1]-1), math.Log(a[0]) * math.Pow(a[0], a[1])}
		},
		func(a []float64) [][]float64 {
			x, y, l := a[0], a[1], math.Log(a[0])
			mixed := math.Pow(x, y-1) + y*l*math.Pow(x, y-1)
			return [][]float64{{y * (y - 1) * math.Pow(x, y-2), mixed}, {mixed, l * l * math.Pow(x, y)}}
		},
	}, {
		"pow", [][]float64{{-2, 3}, {0, 2}, {0, 1}, {0, 0}, {-3, 0}},
		func(a []float64) float64 { return math.Pow(a[0], a[1]) },
		func(a []float64) []float64 { return []float64{derivativeOfPower(a[0], a[1], 1), 0} },
		func(a []float64) [][]float64 { return [][]float64{{derivativeOfPower(a[0], a[1], 2), 0}, {0, 0}} },
	}, {
		"square", [][]float64{{0}, {1.5}, {-7}},
		func(a []float64) float64 { return a[0] * a[0] },
		func(a []float64) []float64 { return []float64{2 * a[0]} },
		func([]float64) [][]float64 { return [][]float64{{2}} },
	}, {
		"recip", [][]float64{{1}, {0.25}, {-7}, {100}},
		func(a []float64) float64 { return math.Pow(a[0], -1) },
		func(a []float64) []float64 { return []float64{-math.Pow(a[0], -2)} },
		func(a []float64) [][]float64 { return [][]float64{{2 * math.Pow(a[0], -3)}} },
	}, {
		"tan", [][]float64{{0}, {1}, {-0.8}, {20}},
		func(a []float64) float64 { return math.Tan(a[0]) },
		func(a []float64) []float64 { return []float64{math.Pow(math.Cos(a[0]), -2)} },
		func(a []float64) [][]float64 {
			return [][]float64{{2 * math.Sin(a[0]) * math.Pow(math.Cos(a[0]), -3)}}
		},
	}, {
		"expm1", [][]float64{{0}, {1.5}, {-7}, {0x1p-20}},
		func(a []float64) float64 { return math.Expm1(a[0]) },
		func(a []float64) []float64 { return []float64{math.Exp(a[0])} },
		func(a []float64) [][]float64 { return [][]float64{{math.Exp(a[0])}} },
	}, {
		"log1p", [][]float64{{0}, {-0.75}, {7}, {100}},
		func(a []float64) float64 { return math.Log1p(a[0]) },
		func(a []float64) []float64 { return []float64{1 / (1 + a[0])} },
		func(a []float64) [][]float64 { return [][]float64{{-math.Pow(1+a[0], -2)}} },
	}, {
		"erf", [][]float64{{0}, {0.5}, {-2}, {7}},
		func(a []float64) float64 { return math.Erf(a[0]) },
		func(a []float64) []float64 { return []float64{2 / math.SqrtPi * math.Exp(-a[0]*a[0])} },
		func(a []float64) [][]float64 {
			return [][]float64{{-4 / math.SqrtPi * a[0] * math.Exp(-a[0]*a[0])}}
		},
	},
}

// The value, and the derivative by the power, of a subnormal number.
func TestPowOfSubnormalNumbers(t *testing.T) {
	vector := func(v float64) rev.Vector[float64] { return rev.ViewSlice([]float64{v}) }
	k := revlinalg.Pow[float64]{Z: vector(0), X: vector(0x1p-1072), Y: vector(0.125)}
	g := revlinalg.Pow[float64]{Z: vector(1), Y: vector(0)}
	if err := rev.Gradient(k, g); err != nil {
		t.Fatal(err)
	}
	const power = 0x1p-134
	if got, want := k.Z.Data[0], power; math.Abs(got-want) > 1e-13*want {
		t.Errorf("value %v, want %v", got, want)
	}
	if got, want := g.Y.Data[0], -1072*math.Ln2*power; math.Abs(got-want) > -1e-13*want {
		t.Errorf("derivative by y %v, want %v", got, want)
	}
}

// derivativeOfPower returns the derivative of an integer power of x.
func derivativeOfPower(x, y float64, order int) float64 {
	c := 1.0
	for range order {
		c, y = c*y, y-1
	}
	if c == 0 {
		return 0
	}
	return c * math.Pow(x, y)
}

func TestInstructionTable(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testInstructions[float64](t, 1e-14) })
	t.Run("float32", func(t *testing.T) { testInstructions[float32](t, 1e-6) })
	t.Run("Q43", func(t *testing.T) { testInstructions[fixed.Q43](t, 1e-11) })
}

func testInstructions[T rev.Real](t *testing.T, tol float64) {
	runs := runs[T]()
	for _, in := range instructions {
		run := runs[in.name]
		for _, args := range in.args {
			n := len(args)
			x := make([]T, n)
			for i, a := range args {
				x[i] = fixed.Of[T](a)
			}
			near := func(what string, got T, want float64) {
				t.Helper()
				if g := fixed.Float(got); !(math.Abs(g-want) <= tol*(1+math.Abs(want))) {
					t.Errorf("%s%v: %s is %v, want %v", in.name, args, what, g, want)
				}
			}
			for j := range n {
				// With a unit vector for ẋ, ġx is a column of the Hessian.
				var z, dz, dgz T
				gz, dx, gx, dgx := fixed.Of[T](1), make([]T, n), make([]T, n), make([]T, n)
				dx[j] = fixed.Of[T](1)
				if err := run.forward(&z, x); err != nil {
					t.Fatal(err)
				}
				near("value", z, in.value(args))
				if err := run.second(arguments[T]{&z, x}, arguments[T]{&gz, gx}, arguments[T]{&dz, dx}, arguments[T]{&dgz, dgx}); err != nil {
					t.Fatal(err)
				}
				near("what Inverse leaves", z, 0)
				near("derivative that the inverse removes", -dz, in.jacobian(args)[j])
				for i := range n {
					near(fmt.Sprintf("derivative %d", i), gx[i], in.jacobian(args)[i])
					near(fmt.Sprintf("derivative %d, %d", i, j), dgx[i], in.hessian(args)[i][j])
				}
			}
		}
	}
}

// arguments are the operands of a kernel of one element.
type arguments[T rev.Real] struct {
	z *T
	x []T
}

func (a arguments[T]) vector(i int) rev.Vector[T] { return rev.ViewSlice(a.x[i : i+1]) }
func (a arguments[T]) result() rev.Vector[T]      { return rev.ViewSlice(unsafe.Slice(a.z, 1)) }

type kernelRun[T rev.Real] struct {
	forward func(z *T, x []T) error
	second  func(k, g, t, gt arguments[T]) error
}

func runOf[T rev.Real, K any](kernel func(a arguments[T]) K, forward func(K) error, second func(k, g, t, gt K) error) kernelRun[T] {
	return kernelRun[T]{
		func(z *T, x []T) error { return forward(kernel(arguments[T]{z, x})) },
		func(k, g, t, gt arguments[T]) error { return second(kernel(k), kernel(g), kernel(t), kernel(gt)) },
	}
}

// runOfTotal is runOf for methods that return no error.
func runOfTotal[T rev.Real, K any](kernel func(a arguments[T]) K, forward func(K), second func(k, g, t, gt K)) kernelRun[T] {
	return runOf(kernel, func(k K) error { forward(k); return nil }, func(k, g, t, gt K) error { second(k, g, t, gt); return nil })
}

func runs[T rev.Real]() map[string]kernelRun[T] {
	one := func(a arguments[T]) elementwise.Operands[T] {
		return elementwise.Operands[T]{Y: a.result(), X: a.vector(0)}
	}
	return map[string]kernelRun[T]{
		"exp":    runOfTotal(func(a arguments[T]) revlinalg.Exp[T] { return revlinalg.Exp[T](one(a)) }, revlinalg.Exp[T].Forward, revlinalg.Exp[T].AdjointTangent),
		"sin":    runOfTotal(func(a arguments[T]) revlinalg.Sin[T] { return revlinalg.Sin[T](one(a)) }, revlinalg.Sin[T].Forward, revlinalg.Sin[T].AdjointTangent),
		"cos":    runOfTotal(func(a arguments[T]) revlinalg.Cos[T] { return revlinalg.Cos[T](one(a)) }, revlinalg.Cos[T].Forward, revlinalg.Cos[T].AdjointTangent),
		"abs":    runOfTotal(func(a arguments[T]) revlinalg.Abs[T] { return revlinalg.Abs[T](one(a)) }, revlinalg.Abs[T].Forward, revlinalg.Abs[T].AdjointTangent),
		"square": runOfTotal(func(a arguments[T]) revlinalg.Square[T] { return revlinalg.Square[T](one(a)) }, revlinalg.Square[T].Forward, revlinalg.Square[T].AdjointTangent),
		"recip":  runOf(func(a arguments[T]) revlinalg.Recip[T] { return revlinalg.Recip[T](one(a)) }, revlinalg.Recip[T].Forward, revlinalg.Recip[T].AdjointTangent),
		"tan":    runOfTotal(func(a arguments[T]) revlinalg.Tan[T] { return revlinalg.Tan[T](one(a)) }, revlinalg.Tan[T].Forward, revlinalg.Tan[T].AdjointTangent),
		"expm1":  runOfTotal(func(a arguments[T]) revlinalg.Expm1[T] { return revlinalg.Expm1[T](one(a)) }, revlinalg.Expm1[T].Forward, revlinalg.Expm1[T].AdjointTangent),
		"erf":    runOfTotal(func(a arguments[T]) revlinalg.Erf[T] { return revlinalg.Erf[T](one(a)) }, revlinalg.Erf[T].Forward, revlinalg.Erf[T].AdjointTangent),
		"log1p":  runOf(func(a arguments[T]) revlinalg.Log1p[T] { return revlinalg.Log1p[T](one(a)) }, revlinalg.Log1p[T].Forward, revlinalg.Log1p[T].AdjointTangent),
		"log":    runOf(func(a arguments[T]) revlinalg.Log[T] { return revlinalg.Log[T](one(a)) }, revlinalg.Log[T].Forward, revlinalg.Log[T].AdjointTangent),
		"sqrt":   runOf(func(a arguments[T]) revlinalg.Sqrt[T] { return revlinalg.Sqrt[T](one(a)) }, revlinalg.Sqrt[T].Forward, revlinalg.Sqrt[T].AdjointTangent),
		"atan2": runOf(func(a arguments[T]) revlinalg.Atan2[T] {
			return revlinalg.Atan2[T]{Z: a.result(), X: a.vector(0), Y: a.vector(1)}
		}, revlinalg.Atan2[T].Forward, revlinalg.Atan2[T].AdjointTangent),
		"pow": runOf(func(a arguments[T]) revlinalg.Pow[T] {
			return revlinalg.Pow[T]{Z: a.result(), X: a.vector(0), Y: a.vector(1)}
		}, revlinalg.Pow[T].Forward, revlinalg.Pow[T].AdjointTangent),
	}
}

// Over many elements, with gaps, against package math.
func TestElementwiseValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 1))
	const n = 1300
	m := mat.NewDense(n, 3, nil)
	for i := range n {
		m.Set(i, 1, math.Exp(20*rnd.NormFloat64()))
	}
	for _, x := range []*mat.VecDense{m.ColView(1).(*mat.VecDense), mat.VecDenseCopyOf(m.ColView(1))} {
		y := mat.NewVecDense(n, nil)
		if err := revlinalg.NewLog(y, x).Forward(); err != nil {
			t.Fatal(err)
		}
		revlinalg.NewSin(y, x).Inverse()
		if err := revlinalg.NewSqrt(y, x).Inverse(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			v := x.AtVec(i)
			if want := math.Log(v) - math.Sin(v) - math.Sqrt(v); !(math.Abs(y.AtVec(i)-want) <= 1e-14*(1+math.Sqrt(v))) {
				t.Fatalf("log x - sin x - √x of %v is %v, want %v", v, y.AtVec(i), want)
			}
		}
	}
}

// Over fixed point and complex numbers, elements with gaps go one by one, and others by loops. The bits
// are the same, whatever wraps.
func TestElementwiseGaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 2))
	number := func() fixed.Q43 { return max(fixed.Q43(rnd.Uint64())>>rnd.IntN(63), -fixed.Max) }
	positive := func() fixed.Q43 { return max(number().Abs(), 1) }
	complexNumber := func() complex128 { return complex(rnd.NormFloat64(), rnd.NormFloat64()) }
	for _, n := range []int{1, 8, 17, 700} {
		testGaps[revlinalg.Exp[fixed.Q43]](t, n, number, number)
		testGaps[revlinalg.Sin[fixed.Q43]](t, n, number, number)
		testGaps[revlinalg.Cos[fixed.Q43]](t, n, number, number)
		testGaps[revlinalg.Square[fixed.Q43]](t, n, number, number)
		testGaps[revlinalg.Recip[fixed.Q43]](t, n, positive, number)
		testGaps[revlinalg.Log[fixed.Q43]](t, n, positive, number)
		testGaps[revlinalg.Sqrt[fixed.Q43]](t, n, positive, number)
		testGaps[revlinalg.Recip[complex128]](t, n, complexNumber, complexNumber)
		testGaps[revlinalg.Square[complex128]](t, n, complexNumber, complexNumber)
		type K = revlinalg.DivElem[fixed.Q43]
		sameWithGaps(t, "quotient", n, 12, number, func(v []rev.Vector[fixed.Q43]) error {
			for i := range n {
				v[2].Data[i*v[2].Inc] |= 1 // not 0
			}
			return everyPass(K.Run, K{Z: v[0], X: v[1], Y: v[2]}, K{Z: v[3], X: v[4], Y: v[5]}, K{Z: v[6], X: v[7], Y: v[8]}, K{Z: v[9], X: v[10], Y: v[11]})
		})
		out, gout := positive(), number()
		sameWithGaps(t, "norm", n, 2, number, func(v []rev.Vector[fixed.Q43]) error {
			got := out
			revlinalg.Norm2[fixed.Q43]{Out: &got, X: v[0]}.Adjoint(revlinalg.Norm2[fixed.Q43]{Out: &gout, X: v[1]})
			v[0].Data[0] += got
			return nil
		})
	}
}

// elementKernel is a kernel K of a function of single elements.
type elementKernel[T rev.Number, K any] interface {
	~struct {
		Y       rev.Vector[T] `rev:"acc" shape:"n"`
		X       rev.Vector[T] `rev:"in" shape:"n"`
		Workers int
	}
	Run(p rev.Pass[K]) error
}

// testGaps calls sameWithGaps for a function of numbers x.
func testGaps[K elementKernel[T, K], T rev.Number](t *testing.T, n int, x, number func() T) {
	t.Helper()
	of := func(y, x rev.Vector[T]) K { return K(elementwise.Operands[T]{Y: y, X: x}) }
	points := make([]T, n)
	for i := range points {
		points[i] = x()
	}
	sameWithGaps(t, reflect.TypeFor[K]().Name(), n, 8, number, func(v []rev.Vector[T]) error {
		for i, p := range points {
			v[1].Data[i*v[1].Inc] = p
		}
		return everyPass(K.Run, of(v[0], v[1]), of(v[2], v[3]), of(v[4], v[5]), of(v[6], v[7]))
	})
}

// everyPass makes all passes of a kernel, one after the other.
func everyPass[K any](run func(k K, p rev.Pass[K]) error, k, g, t, gt K) (err error) {
	for _, p := range []rev.Pass[K]{rev.ForwardPass(&k), rev.AdjointPass(&k, &g), rev.TangentPass(&k, &t), rev.AdjointTangentPass(&k, &g, &t, &gt), rev.InversePass(&k)} {
		err = errors.Join(err, run(k, p))
	}
	return err
}

// sameWithGaps compares what run leaves in vectors of n numbers with and without gaps.
func sameWithGaps[T rev.Number](t *testing.T, name string, n, vectors int, number func() T, run func(v []rev.Vector[T]) error) {
	t.Helper()
	dense, gapped := make([]rev.Vector[T], vectors), make([]rev.Vector[T], vectors)
	for i := range dense {
		dense[i], gapped[i] = rev.ViewSlice(make([]T, n)), rev.Vector[T]{N: n, Inc: 2, Data: make([]T, 2*n)}
		for j := range n {
			dense[i].Data[j] = number()
			gapped[i].Data[2*j] = dense[i].Data[j]
		}
	}
	if err := errors.Join(run(dense), run(gapped)); err != nil {
		t.Fatal(err)
	}
	for i, v := range dense {
		for j, x := range v.Data {
			if y := gapped[i].Data[2*j]; x != y {
				t.Fatalf("%s of %d numbers: element %d of vector %d is %v, and %v with gaps", name, n, j, i, x, y)
			}
		}
	}
}

// Where there is a value but no derivative, only the methods that need it fail.
// In fixed point, results out of range do not panic either.
func TestElementwiseDomain(t *testing.T) {
	vec := func(x ...float64) *mat.VecDense { return mat.NewVecDense(len(x), x) }
	quarter := fixed.MustParse("0.25")
	q := func(x ...fixed.Q43) rev.Vector[fixed.Q43] { return rev.ViewSlice(x) }
	for _, c := range []struct {
		name  string
		err   error
		index int
		arg   float64
		order int
	}{
		{"log of 0", revlinalg.NewLog(vec(1, 2), vec(1, 0)).Forward(), 1, 0, 0},
		{"log of -1", revlinalg.NewLog(vec(1, 2), vec(-1, 0)).Inverse(), 0, -1, 0},
		{"log of NaN", revlinalg.NewLog(vec(1), vec(math.NaN())).Forward(), -1, 0, 0},
		{"log1p of -1", revlinalg.NewLog1p(vec(1, 1, 1), vec(-0.5, math.NaN(), -1)).Forward(), 2, -1, 0},
		{"log1p of -1 over Q43", revlinalg.Log1p[fixed.Q43]{Y: q(1), X: q(-fixed.One)}.Forward(), 0, -1, 0},
		{"reciprocal of 0", revlinalg.NewRecip(vec(1, 1, 1), vec(-1, math.NaN(), 0)).Forward(), 2, 0, 0},
		{"reciprocal of 0 over Q43", revlinalg.Recip[fixed.Q43]{Y: q(1), X: q(0)}.Forward(), 0, 0, 0},
		{"root of 0", revlinalg.NewSqrt(vec(1), vec(0)).Forward(), -1, 0, 0},
		{"root of 0, gradient", revlinalg.NewSqrt(vec(1), vec(0)).Adjoint(revlinalg.NewSqrt(vec(1), vec(0))), 0, 0, 1},
		{"root of 0, no gradient", revlinalg.NewSqrt(vec(1), vec(0)).Adjoint(revlinalg.Sqrt[float64]{Y: rev.ViewVec(vec(1))}), -1, 0, 0},
		{"root of -2", revlinalg.NewSqrt(vec(1, 1), vec(3, -2)).Tangent(revlinalg.Sqrt[float64]{}), 1, -2, 0},
		{"angle at 0", revlinalg.NewAtan2(vec(1), vec(0), vec(0)).Forward(), -1, 0, 0},
		{"angle at 0, tangent", revlinalg.NewAtan2(vec(1), vec(0), vec(0)).Tangent(revlinalg.NewAtan2(vec(1), vec(0), vec(0))), 0, 0, 1},
		{"0^0", revlinalg.NewPow(vec(1), vec(0), vec(0)).Forward(), -1, 0, 0},
		{"0^-1", revlinalg.NewPow(vec(1), vec(0), vec(-1)).Forward(), 0, 0, 0},
		{"0^0.5, tangent", revlinalg.NewPow(vec(1), vec(0), vec(0.5)).Tangent(revlinalg.NewPow(vec(1), vec(0), vec(0.5))), 0, 0, 1},
		{"(-8)^(1/3)", revlinalg.NewPow(vec(1), vec(-8), vec(1./3)).Forward(), 0, -8, 0},
		{"(-8)^2", revlinalg.NewPow(vec(1), vec(-8), vec(2)).Forward(), -1, 0, 0},
		{"10^400", revlinalg.NewPow(vec(1), vec(10), vec(400)).Adjoint(revlinalg.NewPow(vec(1), vec(1), vec(1))), -1, 0, 0},
		{"log of 0 over Q43", revlinalg.Log[fixed.Q43]{Y: q(1), X: q(0)}.Forward(), 0, 0, 0},
		{"root of 0 over Q43, gradient", revlinalg.Sqrt[fixed.Q43]{Y: q(1), X: q(0)}.Adjoint(revlinalg.Sqrt[fixed.Q43]{Y: q(1), X: q(0)}), 0, 0, 1},
		{"power out of range", revlinalg.Pow[fixed.Q43]{Z: q(1), X: q(quarter), Y: q(-10 * fixed.One)}.Forward(), 0, 0.25, 0},
		{"power in range", revlinalg.Pow[fixed.Q43]{Z: q(1), X: q(quarter), Y: q(-9 * fixed.One)}.Forward(), -1, 0, 0},
		{"its derivative", revlinalg.Pow[fixed.Q43]{Z: q(1), X: q(quarter), Y: q(-9 * fixed.One)}.
			Tangent(revlinalg.Pow[fixed.Q43]{Z: q(1), X: q(1), Y: q(1)}), 0, 0.25, 1},
	} {
		var e *rev.DomainError
		switch {
		case c.index < 0:
			if c.err != nil {
				t.Errorf("%s: %v", c.name, c.err)
			}
		case !errors.As(c.err, &e):
			t.Errorf("%s: error %v, want a *rev.DomainError", c.name, c.err)
		case e.Index != c.index || e.Args[0] != c.arg || e.Order != c.order:
			t.Errorf("%s: %+v, want element %d, argument %v, order %d", c.name, *e, c.index, c.arg, c.order)
		}
	}
	y := q(0)
	revlinalg.Exp[fixed.Q43]{Y: y, X: q(100 * fixed.One)}.Forward()
	if y.Data[0] != fixed.Max {
		t.Errorf("exp(100) over Q43 is %v", y.Data[0])
	}
	y = q(0)
	revlinalg.Expm1[fixed.Q43]{Y: y, X: q(100 * fixed.One)}.Forward()
	if y.Data[0] != fixed.Max-fixed.One {
		t.Errorf("exp(100) - 1 over Q43 is %v", y.Data[0])
	}
	half := fixed.MustParse("1.5707963267948966")
	y = q(0)
	revlinalg.Tan[fixed.Q43]{Y: y, X: q(half)}.Forward()
	if y.Data[0] != fixed.Max && y.Data[0] != fixed.Min {
		t.Errorf("tan(%v) over Q43 is %v", half, y.Data[0])
	}
}

// Powers that overflow are infinite, as in math.Pow, and so are their derivatives.
func TestPowOverflow(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ x, y, z, gx, gy float64 }{
		{10, 400, inf, inf, inf},
		{0.1, -400, inf, -inf, -inf},
		{0x1p-1074, 0, 1, 0, -744.4400719213812},
		{-10, 401, -inf, inf, 0},
		{0x1p600, 2, inf, 0x1p601, inf},
		{10, -400, 0, math.Copysign(0, -1), 0},
	} {
		z, x, y := mat.NewVecDense(1, nil), mat.NewVecDense(1, []float64{c.x}), mat.NewVecDense(1, []float64{c.y})
		gz, gx, gy := mat.NewVecDense(1, []float64{1}), mat.NewVecDense(1, nil), mat.NewVecDense(1, nil)
		if err := revlinalg.NewPow(z, x, y).Forward(); err != nil || z.AtVec(0) != c.z {
			t.Errorf("%v^%v is %v, error %v, want %v", c.x, c.y, z.AtVec(0), err, c.z)
		}
		if err := revlinalg.NewPow(z, x, y).Adjoint(revlinalg.NewPow(gz, gx, gy)); err != nil || gx.AtVec(0) != c.gx || gy.AtVec(0) != c.gy {
			t.Errorf("derivatives of %v^%v are %v and %v, error %v, want %v and %v", c.x, c.y, gx.AtVec(0), gy.AtVec(0), err, c.gx, c.gy)
		}
	}
}

// Values at the edges of the range are those of package math, and derivatives at
// infinity are limits.
func TestElementwiseSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	special := []float64{0, math.Copysign(0, -1), 1, -1, 5e-324, -1e-310, 0x1p20, 1.5e6, -1e22, 1e300, math.MaxFloat64, inf, -inf, nan}
	runs := runs[float64]()
	check := func(name string, value func(x []float64) float64, x ...float64) {
		z := 0.0
		if err := runs[name].forward(&z, x); err != nil {
			return // tested with the domains
		}
		want := value(x)
		if name == "log" && x[0] < 0x1p-1022 { // where math.Log is wrong on amd64
			want = math.Log(x[0]*0x1p100) - 100*math.Ln2
		}
		if x[0] == math.MaxFloat64 { // where math.Sin and math.Tan are off by 25 units
			switch name {
			case "sin":
				want = 0.004961954789184062
			case "tan":
				want = -0.004962015874444895
			}
		}
		if name == "atan2" { // math.Atan2 loses the sign where the quotient underflows
			want = math.Copysign(want, x[0])
		}
		if !(math.Abs(z-want) <= 1e-15*math.Abs(want) || z == want || z != z && want != want) {
			t.Errorf("%s%v is %v, want %v", name, x, z, want)
		}
	}
	for _, in := range instructions {
		for _, x := range special {
			if len(in.args[0]) == 1 {
				check(in.name, in.value, x)
				continue
			}
			for _, y := range special {
				check(in.name, in.value, x, y)
			}
		}
	}
	for _, c := range []struct {
		name     string
		x        []float64
		gradient []float64
		hessian  []float64 // by columns
	}{
		{"log", []float64{inf}, []float64{0}, []float64{0}},
		{"log", []float64{0x1p-1060}, []float64{inf}, []float64{nan}}, // ∞·0 beside -∞
		{"sqrt", []float64{inf}, []float64{0}, []float64{0}},
		{"exp", []float64{-inf}, []float64{0}, []float64{0}},
		{"erf", []float64{inf}, []float64{0}, []float64{0}},
		{"erf", []float64{-inf}, []float64{0}, []float64{0}},
		{"sin", []float64{inf}, []float64{nan}, []float64{nan}},
		{"atan2", []float64{inf, 1}, []float64{0, 0}, []float64{0, 0, 0, 0}},
		{"atan2", []float64{1, -inf}, []float64{0, 0}, []float64{0, 0, 0, 0}},
		{"atan2", []float64{inf, inf}, []float64{0, 0}, []float64{0, 0, 0, 0}},
		{"atan2", []float64{inf, nan}, []float64{nan, nan}, []float64{nan, nan, nan, nan}},
		{"pow", []float64{inf, -2}, []float64{0, 0}, []float64{0, 0, 0, 0}},
		{"pow", []float64{inf, 0.5}, []float64{0, inf}, []float64{0, 0, 0, inf}},
		{"pow", []float64{inf, 0}, []float64{0, inf}, []float64{0, 0, 0, inf}},
		{"pow", []float64{0.5, inf}, []float64{0, 0}, []float64{0, 0, 0, 0}},
		{"pow", []float64{2, -inf}, []float64{0, 0}, []float64{0, 0, 0, 0}},
		{"pow", []float64{nan, 2}, []float64{nan, nan}, []float64{2, nan, nan, nan}}, // 2·x⁰
	} {
		n := len(c.x)
		for j := range n {
			var z, dz, dgz float64
			gz, dx, gx, dgx := 1.0, make([]float64, n), make([]float64, n), make([]float64, n)
			dx[j] = 1
			if err := runs[c.name].second(arguments[float64]{&z, c.x}, arguments[float64]{&gz, gx}, arguments[float64]{&dz, dx}, arguments[float64]{&dgz, dgx}); err != nil {
				t.Fatal(err)
			}
			same := func(x, y float64) bool { return x == y || x != x && y != y }
			if !slices.EqualFunc(gx, c.gradient, same) || n == 1 && !same(dgx[0], c.hessian[0]) {
				t.Errorf("%s%v: gradient %v, second derivatives %v, want %v and %v", c.name, c.x, gx, dgx, c.gradient, c.hessian)
			}
		}
		if n == 2 {
			h := hessian(t, c.name, c.x)
			same := func(x, y float64) bool { return x == y || x != x && y != y }
			if !slices.EqualFunc(h, c.hessian, same) {
				t.Errorf("%s%v: Hessian %v, want %v", c.name, c.x, h, c.hessian)
			}
		}
	}
}

// hessian returns the second derivatives of a function of two numbers, by columns. Only one of them has a tangent
// at a time, so that no derivative is multiplied by 0.
func hessian(t *testing.T, name string, x []float64) []float64 {
	t.Helper()
	h := make([]float64, 4)
	one := func() rev.Vector[float64] { return rev.ViewSlice([]float64{1}) }
	at := func(i int) rev.Vector[float64] { return rev.ViewSlice(h[i : i+1]) }
	a := arguments[float64]{x: x}
	for j := range 2 {
		var dx [2]rev.Vector[float64]
		dx[j] = one()
		var err error
		if name == "atan2" {
			type K = revlinalg.Atan2[float64]
			err = rev.AdjointTangent(K{X: a.vector(0), Y: a.vector(1)}, K{Z: one()}, K{X: dx[0], Y: dx[1]}, K{X: at(2 * j), Y: at(2*j + 1)})
		} else {
			type K = revlinalg.Pow[float64]
			err = K{X: a.vector(0), Y: a.vector(1)}.AdjointTangent(K{Z: one()}, K{X: dx[0], Y: dx[1]}, K{X: at(2 * j), Y: at(2*j + 1)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func BenchmarkElementwise(b *testing.B) {
	benchElementwise(b, "exp", func(k elementwise.Operands[float64]) revlinalg.Exp[float64] { return revlinalg.Exp[float64](k) })
	benchElementwise(b, "log", func(k elementwise.Operands[float64]) revlinalg.Log[float64] { return revlinalg.Log[float64](k) })
	benchElementwise(b, "sqrt", func(k elementwise.Operands[float64]) revlinalg.Sqrt[float64] { return revlinalg.Sqrt[float64](k) })
	benchElementwise(b, "sin", func(k elementwise.Operands[float64]) revlinalg.Sin[float64] { return revlinalg.Sin[float64](k) })
	benchElementwise(b, "abs", func(k elementwise.Operands[float64]) revlinalg.Abs[float64] { return revlinalg.Abs[float64](k) })
}

func benchElementwise[K rev.Kernel[K]](b *testing.B, name string, kernel func(elementwise.Operands[float64]) K) {
	const n = 20_000
	rnd := rand.New(rand.NewPCG(21, 2))
	y, x, gy, gx := kerneltest.Vector[float64](rnd, n), kerneltest.Positive[float64](rnd, n), kerneltest.Vector[float64](rnd, n), kerneltest.Vector[float64](rnd, n)
	g := kernel(elementwise.Operands[float64]{Y: gy, X: gx})
	for _, workers := range []int{1, 2} {
		k := kernel(elementwise.Operands[float64]{Y: y, X: x, Workers: workers})
		b.Run(fmt.Sprintf("%s/Forward/workers=%d", name, workers), func(b *testing.B) {
			for b.Loop() {
				_ = rev.Forward(k)
			}
			kerneltest.ReportBytes(b, 24*n)
		})
		b.Run(fmt.Sprintf("%s/Adjoint/workers=%d", name, workers), func(b *testing.B) {
			for b.Loop() {
				_ = rev.Adjoint(k, g)
			}
			kerneltest.ReportBytes(b, 48*n)
		})
	}
}
