package revnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// elementwiseSpec returns the Spec of a kernel of y and x.
func elementwiseSpec[T rev.Real, K any](kernel func(elementwise.Operands[T]) K, draw func(*rand.Rand, int) rev.Vector[T]) revtest.Spec[K] {
	return revtest.Spec[K]{
		New: func(rnd *rand.Rand, n int) K {
			return kernel(elementwise.Operands[T]{Y: kerneltest.Vector[T](rnd, n), X: draw(rnd, n)})
		},
		Large: 8*elementwise.BlockSize + 5, // for two workers
	}
}

func TestSigmoid(t *testing.T) {
	kerneltest.Kernels(t,
		elementwiseSpec(func(k elementwise.Operands[float32]) revnn.Sigmoid[float32] { return revnn.Sigmoid[float32](k) }, kerneltest.Vector[float32]),
		elementwiseSpec(func(k elementwise.Operands[float64]) revnn.Sigmoid[float64] { return revnn.Sigmoid[float64](k) }, kerneltest.Vector[float64]),
		elementwiseSpec(func(k elementwise.Operands[fixed.Q43]) revnn.Sigmoid[fixed.Q43] { return revnn.Sigmoid[fixed.Q43](k) }, kerneltest.Vector[fixed.Q43]))
}

func TestTanh(t *testing.T) {
	kerneltest.Kernels(t,
		elementwiseSpec(func(k elementwise.Operands[float32]) revnn.Tanh[float32] { return revnn.Tanh[float32](k) }, kerneltest.Vector[float32]),
		elementwiseSpec(func(k elementwise.Operands[float64]) revnn.Tanh[float64] { return revnn.Tanh[float64](k) }, kerneltest.Vector[float64]),
		elementwiseSpec(func(k elementwise.Operands[fixed.Q43]) revnn.Tanh[fixed.Q43] { return revnn.Tanh[fixed.Q43](k) }, kerneltest.Vector[fixed.Q43]))
}

func TestSoftplus(t *testing.T) {
	kerneltest.Kernels(t,
		elementwiseSpec(func(k elementwise.Operands[float32]) revnn.Softplus[float32] { return revnn.Softplus[float32](k) }, kerneltest.Vector[float32]),
		elementwiseSpec(func(k elementwise.Operands[float64]) revnn.Softplus[float64] { return revnn.Softplus[float64](k) }, kerneltest.Vector[float64]),
		elementwiseSpec(func(k elementwise.Operands[fixed.Q43]) revnn.Softplus[fixed.Q43] { return revnn.Softplus[fixed.Q43](k) }, kerneltest.Vector[fixed.Q43]))
}

func TestGELU(t *testing.T) {
	kerneltest.Kernels(t,
		elementwiseSpec(func(k elementwise.Operands[float32]) revnn.GELU[float32] { return revnn.GELU[float32](k) }, kerneltest.Vector[float32]),
		elementwiseSpec(func(k elementwise.Operands[float64]) revnn.GELU[float64] { return revnn.GELU[float64](k) }, kerneltest.Vector[float64]),
		elementwiseSpec(func(k elementwise.Operands[fixed.Q43]) revnn.GELU[fixed.Q43] { return revnn.GELU[fixed.Q43](k) }, kerneltest.Vector[fixed.Q43]))
}

func TestSiLU(t *testing.T) {
	kerneltest.Kernels(t,
		elementwiseSpec(func(k elementwise.Operands[float32]) revnn.SiLU[float32] { return revnn.SiLU[float32](k) }, kerneltest.Vector[float32]),
		elementwiseSpec(func(k elementwise.Operands[float64]) revnn.SiLU[float64] { return revnn.SiLU[float64](k) }, kerneltest.Vector[float64]),
		elementwiseSpec(func(k elementwise.Operands[fixed.Q43]) revnn.SiLU[fixed.Q43] { return revnn.SiLU[fixed.Q43](k) }, kerneltest.Vector[fixed.Q43]))
}

func TestReLU(t *testing.T) {
	kerneltest.Kernels(t,
		elementwiseSpec(func(k elementwise.Operands[float32]) revnn.ReLU[float32] { return revnn.ReLU[float32](k) }, kerneltest.Away[float32]),
		elementwiseSpec(func(k elementwise.Operands[float64]) revnn.ReLU[float64] { return revnn.ReLU[float64](k) }, kerneltest.Away[float64]),
		elementwiseSpec(func(k elementwise.Operands[fixed.Q43]) revnn.ReLU[fixed.Q43] { return revnn.ReLU[fixed.Q43](k) }, kerneltest.Away[fixed.Q43]))
}

func leakyOf[T rev.Real](k elementwise.Operands[T]) revnn.LeakyReLU[T] {
	return revnn.LeakyReLU[T]{Y: k.Y, X: k.X, Slope: 0.25, Workers: k.Workers}
}

func TestLeakyReLU(t *testing.T) {
	kerneltest.Kernels(t, elementwiseSpec(leakyOf[float32], kerneltest.Away[float32]), elementwiseSpec(leakyOf[float64], kerneltest.Away[float64]),
		elementwiseSpec(leakyOf[fixed.Q43], kerneltest.Away[fixed.Q43]))
}

// activationTable has values and derivatives that mpmath computed to 30 digits.
var activationTable = []struct {
	kernel       string
	x, y, d1, d2 float64
}{
	{"sigmoid", 0.0, 0.5, 0.25, 0.0},
	{"sigmoid", 0.5, 0.62245933120185456464, 0.23500371220159448907, -0.057556794852320740559},
	{"sigmoid", -0.5, 0.37754066879814543536, 0.23500371220159448907, 0.057556794852320740559},
	{"sigmoid", 3.0, 0.95257412682243321912, 0.045176659730912132649, -0.040891574660943478616},
	{"sigmoid", -3.0, 0.047425873177566780879, 0.045176659730912132649, 0.040891574660943478616},
	{"sigmoid", 0.0009765625, 0.50024414060559744821, 0.24999994039536469851, -1.2207027369490058843e-4},
	{"sigmoid", -20.0, 2.0611536181902035814e-9, 2.0611536139418493437e-9, 2.0611536054451408856e-9},
	{"sigmoid", 20.0, 0.99999999793884638181, 2.0611536139418493437e-9, -2.0611536054451408856e-9},
	{"sigmoid", 9.25, 0.99990389758450052605, 9.6093179825209115264e-5, -9.6074710251820659437e-5},
	{"tanh", 0.0, 0.0, 1.0, 0.0},
	{"tanh", 0.5, 0.4621171572600097585, 0.78644773296592741015, -0.72686198138358727554},
	{"tanh", -0.5, -0.4621171572600097585, 0.78644773296592741015, 0.72686198138358727554},
	{"tanh", 3.0, 0.99505475368673045133, 0.0098660371654401912732, -0.019634494363042435638},
	{"tanh", -3.0, -0.99505475368673045133, 0.0098660371654401912732, 0.019634494363042435638},
	{"tanh", 0.0009765625, 9.7656218955926021858e-4, 0.99999904632628992322, -0.0019531225164751475618},
	{"tanh", -20.0, -0.9999999999999999915, 1.6993417021166355837e-17, 3.3986834042332711385e-17},
	{"tanh", 20.0, 0.9999999999999999915, 1.6993417021166355837e-17, -3.3986834042332711385e-17},
	{"tanh", 9.25, 0.99999998152510084672, 3.6949797965238578991e-8, -7.3899594565189575698e-8},
	{"softplus", 0.0, 0.69314718055994530942, 0.5, 0.25},
	{"softplus", 0.5, 0.97407698418010668087, 0.62245933120185456464, 0.23500371220159448907},
	{"softplus", -0.5, 0.47407698418010668087, 0.37754066879814543536, 0.23500371220159448907},
	{"softplus", 3.0, 3.0485873515737420588, 0.95257412682243321912, 0.045176659730912132649},
	{"softplus", -3.0, 0.048587351573742058759, 0.047425873177566780879, 0.045176659730912132649},
	{"softplus", 0.0009765625, 0.69363558101923012325, 0.50024414060559744821, 0.24999994039536469851},
	{"softplus", -20.0, 2.0611536203143807032e-9, 2.0611536181902035814e-9, 2.0611536139418493437e-9},
	{"softplus", 20.0, 20.00000000206115362, 0.99999999793884638181, 2.0611536139418493437e-9},
	{"softplus", 9.25, 9.2500961070336324846, 0.99990389758450052605, 9.6093179825209115264e-5},
	{"gelu", 0.0, 0.0, 0.5, 0.79788456080286535588},
	{"gelu", 0.5, 0.34573123063700655182, 0.86749512465616284253, 0.61611432183752408611},
	{"gelu", -0.5, -0.15426876936299344818, 0.13250487534383715747, 0.61611432183752408611},
	{"gelu", 3.0, 2.9959503059051097164, 1.011945647204183927, -0.031022938883566050229},
	{"gelu", -3.0, -0.00404969409489028358, -0.011945647204183927, -0.031022938883566050229},
	{"gelu", 0.0009765625, 4.8866171094607474708e-4, 0.50077918389371313354, 0.79788379988112438797},
	{"gelu", -20.0, -5.5072482372124673902e-88, -1.1014360483133464042e-86, -2.1973374481395857495e-85},
	{"gelu", 20.0, 20.0, 1.0, -2.1973374481395857495e-85},
	{"gelu", 9.25, 9.2499999999999999999, 1.000000000000000001, -8.775274014168990215e-18},
	{"silu", 0.0, 0.0, 0.5, 0.5},
	{"silu", 0.5, 0.31122966560092728232, 0.73996118730265180917, 0.44122902697702860786},
	{"silu", -0.5, -0.18877033439907271768, 0.26003881269734819083, 0.44122902697702860786},
	{"silu", 3.0, 2.8577223804672996574, 1.0881041060151696171, -0.032321404521006170551},
	{"silu", -3.0, -0.14227761953270034264, -0.088104106015169617069, -0.032321404521006170551},
	{"silu", 0.0009765625, 4.8851966856015375802e-4, 0.50048828117238979655, 0.49999976158147774185},
	{"silu", -20.0, -4.1223072363804071629e-8, -3.9161918660646783292e-8, -3.7100764881019119025e-8},
	{"silu", 20.0, 19.999999958776927636, 1.0000000391619186606, -3.7100764881019119025e-8},
	{"silu", 9.25, 9.249111052656629866, 1.0007927594978837104, -6.9650471017892286926e-4},
	{"leaky", -3, -0.75, 0.25, 0},
	{"leaky", 3, 3, 1, 0},
	{"leaky", 0, 0, 0.25, 0},
	{"relu", -3, 0, 0, 0},
	{"relu", 3, 3, 1, 0},
	{"relu", 0, 0, 0, 0},
}

// Values, first and second derivatives over all number types.
func TestActivationTable(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testActivationTable[float64](t, 1e-15, 1e-300) })
	t.Run("float32", func(t *testing.T) { testActivationTable[float32](t, 1e-7, 1e-30) })
	t.Run("Q43", func(t *testing.T) { testActivationTable[fixed.Q43](t, 1e-16, 0x1.2p-44) })
}

func testActivationTable[T rev.Real](t *testing.T, relative, absolute float64) {
	passes := map[string]func(x T) (y, d1, tangent, d2 T){
		"sigmoid":  passesOf(func(k elementwise.Operands[T]) revnn.Sigmoid[T] { return revnn.Sigmoid[T](k) }),
		"tanh":     passesOf(func(k elementwise.Operands[T]) revnn.Tanh[T] { return revnn.Tanh[T](k) }),
		"softplus": passesOf(func(k elementwise.Operands[T]) revnn.Softplus[T] { return revnn.Softplus[T](k) }),
		"gelu":     passesOf(func(k elementwise.Operands[T]) revnn.GELU[T] { return revnn.GELU[T](k) }),
		"silu":     passesOf(func(k elementwise.Operands[T]) revnn.SiLU[T] { return revnn.SiLU[T](k) }),
		"leaky":    passesOf(leakyOf[T]),
		"relu":     passesOf(func(k elementwise.Operands[T]) revnn.ReLU[T] { return revnn.ReLU[T](k) }),
	}
	for _, c := range activationTable {
		y, d1, tangent, d2 := passes[c.kernel](fixed.Of[T](c.x))
		near := func(what string, got T, want float64) {
			t.Helper()
			if g := fixed.Float(got); !(math.Abs(g-want) <= relative*math.Abs(want)+absolute) {
				t.Errorf("%s(%v): %s is %v, want %v", c.kernel, c.x, what, g, want)
			}
		}
		near("the value", y, c.y)
		near("the derivative", d1, c.d1)
		near("the tangent that the inverse removes", -tangent, c.d1)
		// It is a difference of terms that are no larger than the derivative.
		if g := fixed.Float(d2); !(math.Abs(g-c.d2) <= 4*(relative*(math.Abs(c.d1)+math.Abs(c.d2))+absolute)) {
			t.Errorf("%s(%v): the second derivative is %v, want %v", c.kernel, c.x, g, c.d2)
		}
	}
}

// passesOf returns a function that runs Forward and then AdjointTangent at x. It returns y
// after Forward, and then x̄ for ȳ = 1, ẏ and the tangent of x̄ for ẋ = 1.
func passesOf[T rev.Real, K rev.Kernel[K]](kernel func(elementwise.Operands[T]) K) func(x T) (y, d1, tangent, d2 T) {
	return func(x T) (y, d1, tangent, d2 T) {
		of := func(y, x *T) K {
			return kernel(elementwise.Operands[T]{Y: rev.ViewSlice(unsafe.Slice(y, 1)), X: rev.ViewSlice(unsafe.Slice(x, 1))})
		}
		one, zero := fixed.Of[T](1), T(0)
		gy, dx := one, one
		err := rev.Forward(of(&y, &x))
		value := y
		if err == nil {
			err = rev.AdjointTangent(of(&y, &x), of(&gy, &d1), of(&tangent, &dx), of(&zero, &d2))
		}
		if err != nil {
			panic(err)
		}
		return value, d1, tangent, d2
	}
}

// Where the slope of ReLU is 0, nothing is added, even if the cotangent is NaN or infinite.
func TestReLUOfInfinity(t *testing.T) {
	inf := math.Inf(1)
	x, y := mat.NewVecDense(4, []float64{-inf, inf, math.NaN(), 0}), mat.NewVecDense(4, nil)
	revnn.NewReLU(y, x).Forward()
	if got := fmt.Sprint(y.RawVector().Data); got != "[0 +Inf NaN 0]" {
		t.Errorf("ReLU of %v is %v", x.RawVector().Data, got)
	}
}

// TestReLUOfNaN has the slope 1 at NaN, in vector code, element by element and over both floats.
func TestReLUOfNaN(t *testing.T) {
	t.Run("float64", testReLUOfNaN[float64])
	t.Run("float32", testReLUOfNaN[float32])
}

func testReLUOfNaN[T rev.Float](t *testing.T) {
	for _, n := range []int{1, 3, 8, 37} {
		for _, inc := range []int{1, 2} {
			vector := func(v T) rev.Vector[T] {
				x := rev.Vector[T]{N: n, Data: make([]T, n*inc), Inc: inc}
				for i := range x.Data {
					x.Data[i] = v
				}
				return x
			}
			for name, run := range map[string]func(y, x, ty, tx, gy, gx rev.Vector[T]){
				"ReLU": func(y, x, ty, tx, gy, gx rev.Vector[T]) {
					revnn.ReLU[T]{Y: y, X: x}.Tangent(revnn.ReLU[T]{Y: ty, X: tx})
					revnn.ReLU[T]{X: x}.Adjoint(revnn.ReLU[T]{Y: gy, X: gx})
				},
				"LeakyReLU": func(y, x, ty, tx, gy, gx rev.Vector[T]) {
					revnn.LeakyReLU[T]{Y: y, X: x, Slope: 0.5}.Tangent(revnn.LeakyReLU[T]{Y: ty, X: tx})
					revnn.LeakyReLU[T]{X: x, Slope: 0.5}.Adjoint(revnn.LeakyReLU[T]{Y: gy, X: gx})
				},
			} {
				y, ty, gx := vector(0), vector(0), vector(0)
				run(y, vector(T(math.NaN())), ty, vector(2), vector(3), gx)
				for i := range n {
					if v := y.Data[i*inc]; !math.IsNaN(float64(v)) || ty.Data[i*inc] != 2 || gx.Data[i*inc] != 3 {
						t.Errorf("%s of NaN, element %d of %d: %v, tangent %v, cotangent %v", name, i, n, v, ty.Data[i*inc], gx.Data[i*inc])
					}
				}
			}
		}
	}
}

func BenchmarkActivation(b *testing.B) {
	const n = 1 << 20
	rnd := rand.New(rand.NewPCG(21, 3))
	vector := func() rev.Vector[float64] { return kerneltest.Vector[float64](rnd, n) }
	k := elementwise.Operands[float64]{Y: vector(), X: vector(), Workers: 1}
	g := elementwise.Operands[float64]{Y: vector(), X: vector()}
	run := func(name string, forward, adjoint func()) {
		b.Run(name+"/Forward", func(b *testing.B) {
			for b.Loop() {
				forward()
			}
			kerneltest.ReportBytes(b, 24*n)
		})
		b.Run(name+"/Adjoint", func(b *testing.B) {
			for b.Loop() {
				adjoint()
			}
			kerneltest.ReportBytes(b, 48*n)
		})
	}
	run("Sigmoid", revnn.Sigmoid[float64](k).Forward, func() { revnn.Sigmoid[float64](k).Adjoint(revnn.Sigmoid[float64](g)) })
	run("Tanh", revnn.Tanh[float64](k).Forward, func() { revnn.Tanh[float64](k).Adjoint(revnn.Tanh[float64](g)) })
	run("Softplus", revnn.Softplus[float64](k).Forward, func() { revnn.Softplus[float64](k).Adjoint(revnn.Softplus[float64](g)) })
	run("GELU", revnn.GELU[float64](k).Forward, func() { revnn.GELU[float64](k).Adjoint(revnn.GELU[float64](g)) })
	run("SiLU", revnn.SiLU[float64](k).Forward, func() { revnn.SiLU[float64](k).Adjoint(revnn.SiLU[float64](g)) })
	run("ReLU", revnn.ReLU[float64](k).Forward, func() { revnn.ReLU[float64](k).Adjoint(revnn.ReLU[float64](g)) })
}
