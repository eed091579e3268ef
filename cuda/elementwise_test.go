package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revnn"
)

// The kernels of the host whose passes run on the device.
type (
	hostExp[T rev.Real]       revlinalg.Exp[T]
	hostLog[T rev.Real]       revlinalg.Log[T]
	hostSqrt[T rev.Real]      revlinalg.Sqrt[T]
	hostSigmoid[T rev.Real]   revnn.Sigmoid[T]
	hostTanh[T rev.Real]      revnn.Tanh[T]
	hostSin[T rev.Real]       revlinalg.Sin[T]
	hostCos[T rev.Real]       revlinalg.Cos[T]
	hostAbs[T rev.Real]       revlinalg.Abs[T]
	hostSoftplus[T rev.Real]  revnn.Softplus[T]
	hostSiLU[T rev.Real]      revnn.SiLU[T]
	hostGELU[T rev.Real]      revnn.GELU[T]
	hostReLU[T rev.Real]      revnn.ReLU[T]
	hostLeakyReLU[T rev.Real] revnn.LeakyReLU[T]
	hostMulElem[T rev.Real]   revlinalg.MulElem[T]
	hostDivElem[T rev.Real]   revlinalg.DivElem[T]
)

func (k hostExp[T]) Run(p rev.Pass[hostExp[T]]) error {
	return through[hostExp[T], Exp[T]](testDevice, k, p)
}
func (k hostLog[T]) Run(p rev.Pass[hostLog[T]]) error {
	return through[hostLog[T], Log[T]](testDevice, k, p)
}
func (k hostSqrt[T]) Run(p rev.Pass[hostSqrt[T]]) error {
	return through[hostSqrt[T], Sqrt[T]](testDevice, k, p)
}
func (k hostSigmoid[T]) Run(p rev.Pass[hostSigmoid[T]]) error {
	return through[hostSigmoid[T], Sigmoid[T]](testDevice, k, p)
}
func (k hostTanh[T]) Run(p rev.Pass[hostTanh[T]]) error {
	return through[hostTanh[T], Tanh[T]](testDevice, k, p)
}
func (k hostSin[T]) Run(p rev.Pass[hostSin[T]]) error {
	return through[hostSin[T], Sin[T]](testDevice, k, p)
}
func (k hostCos[T]) Run(p rev.Pass[hostCos[T]]) error {
	return through[hostCos[T], Cos[T]](testDevice, k, p)
}
func (k hostAbs[T]) Run(p rev.Pass[hostAbs[T]]) error {
	return through[hostAbs[T], Abs[T]](testDevice, k, p)
}
func (k hostSoftplus[T]) Run(p rev.Pass[hostSoftplus[T]]) error {
	return through[hostSoftplus[T], Softplus[T]](testDevice, k, p)
}
func (k hostSiLU[T]) Run(p rev.Pass[hostSiLU[T]]) error {
	return through[hostSiLU[T], SiLU[T]](testDevice, k, p)
}
func (k hostGELU[T]) Run(p rev.Pass[hostGELU[T]]) error {
	return through[hostGELU[T], GELU[T]](testDevice, k, p)
}
func (k hostReLU[T]) Run(p rev.Pass[hostReLU[T]]) error {
	return through[hostReLU[T], ReLU[T]](testDevice, k, p)
}
func (k hostLeakyReLU[T]) Run(p rev.Pass[hostLeakyReLU[T]]) error {
	return through[hostLeakyReLU[T], LeakyReLU[T]](testDevice, k, p)
}
func (k hostMulElem[T]) Run(p rev.Pass[hostMulElem[T]]) error {
	return through[hostMulElem[T], MulElem[T]](testDevice, k, p)
}
func (k hostDivElem[T]) Run(p rev.Pass[hostDivElem[T]]) error {
	return through[hostDivElem[T], DivElem[T]](testDevice, k, p)
}

func TestElementwise(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	t.Run("float64", elementwiseOf[float64])
	t.Run("float32", elementwiseOf[float32])
	t.Run("Q43", elementwiseOf[fixed.Q43])
}

// positives returns numbers of at least 1/2.
func positives[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := vector[T](rnd, n)
	for i, v := range x.Data {
		x.Data[i] = max(v, -v) + fixed.Of[T](0.5)
	}
	return x
}

func elementwiseOf[T rev.Real](t *testing.T) {
	mapTest(t, func(y, x rev.Vector[T]) hostExp[T] { return hostExp[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostLog[T] { return hostLog[T]{Y: y, X: x} }, positives[T])
	mapTest(t, func(y, x rev.Vector[T]) hostSqrt[T] { return hostSqrt[T]{Y: y, X: x} }, positives[T])
	mapTest(t, func(y, x rev.Vector[T]) hostSigmoid[T] { return hostSigmoid[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostTanh[T] { return hostTanh[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostSin[T] { return hostSin[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostCos[T] { return hostCos[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostAbs[T] { return hostAbs[T]{Y: y, X: x} }, awayFromZero[T])
	mapTest(t, func(y, x rev.Vector[T]) hostSoftplus[T] { return hostSoftplus[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostSiLU[T] { return hostSiLU[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostGELU[T] { return hostGELU[T]{Y: y, X: x} }, vector[T])
	mapTest(t, func(y, x rev.Vector[T]) hostReLU[T] { return hostReLU[T]{Y: y, X: x} }, awayFromZero[T])
	mapTest(t, func(y, x rev.Vector[T]) hostLeakyReLU[T] { return hostLeakyReLU[T]{Y: y, X: x, Slope: 0.2} }, awayFromZero[T])
	revtest.Kernel(t, revtest.Spec[hostMulElem[T]]{Sizes: mapSizes(), Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostMulElem[T] {
		return hostMulElem[T]{Z: vector[T](rnd, n), X: vector[T](rnd, n), Y: vector[T](rnd, n)}
	}})
	revtest.Kernel(t, revtest.Spec[hostDivElem[T]]{Sizes: mapSizes(), Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostDivElem[T] {
		return hostDivElem[T]{Z: vector[T](rnd, n), X: vector[T](rnd, n), Y: awayFromZero[T](rnd, n)}
	}})
}

// awayFromZero returns numbers of magnitudes of at least 1/2.
func awayFromZero[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := positives[T](rnd, n)
	for i := range x.Data {
		if rnd.IntN(2) == 0 {
			x.Data[i] = -x.Data[i]
		}
	}
	return x
}

// mapSizes has one that fills a warp only if tests take their time: TestSameBits has more elements.
func mapSizes() []int {
	if long.Tests() {
		return []int{0, 3, 40}
	}
	return []int{0, 3}
}

func mapTest[T rev.Real, K rev.Kernel[K]](t *testing.T, kernel func(y, x rev.Vector[T]) K, random func(*rand.Rand, int) rev.Vector[T]) {
	revtest.Kernel(t, revtest.Spec[K]{
		// Exp overflows, over Q43 from 13.8.
		Magnitudes: [2]float64{0.125, 2},
		Sizes:      mapSizes(), Skip: noAllocs, New: func(rnd *rand.Rand, n int) K {
			return kernel(vector[T](rnd, n), random(rnd, n))
		}})
}

// TestElementwiseBits compares with the host, over Q43 bit for bit.
func TestElementwiseBits(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	const n = 2000
	type vec = rev.Vector[fixed.Q43]
	wild := func(rnd *rand.Rand) vec { // numbers of all magnitudes
		x := vector[fixed.Q43](rnd, n)
		for i := range x.Data {
			x.Data[i] = fixed.Q43(rnd.Int64()-rnd.Int64()) >> rnd.IntN(63)
		}
		copy(x.Data, []fixed.Q43{0, 1, -1, fixed.Max, fixed.Min, fixed.One, 14 * fixed.One, -31 * fixed.One, -31*fixed.One - 1,
			118061280257281, 118674422647488, 117912166919048}) // where the last bits of the steps of Exp count
		return x
	}
	wildPositive := func(rnd *rand.Rand) vec {
		x := wild(rnd)
		for i, v := range x.Data {
			x.Data[i] = max(v.AbsSat(), 1)
		}
		return x
	}
	same(t, func(rnd *rand.Rand) hostExp[fixed.Q43] {
		return hostExp[fixed.Q43]{Y: vector[fixed.Q43](rnd, n), X: wild(rnd)}
	}, func(k hostExp[fixed.Q43]) revlinalg.Exp[fixed.Q43] { return revlinalg.Exp[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostLog[fixed.Q43] {
		return hostLog[fixed.Q43]{Y: vector[fixed.Q43](rnd, n), X: wildPositive(rnd)}
	}, func(k hostLog[fixed.Q43]) revlinalg.Log[fixed.Q43] { return revlinalg.Log[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostSqrt[fixed.Q43] {
		return hostSqrt[fixed.Q43]{Y: vector[fixed.Q43](rnd, n), X: wildPositive(rnd)}
	}, func(k hostSqrt[fixed.Q43]) revlinalg.Sqrt[fixed.Q43] { return revlinalg.Sqrt[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostSigmoid[fixed.Q43] {
		return hostSigmoid[fixed.Q43]{Y: vector[fixed.Q43](rnd, n), X: wild(rnd)}
	}, func(k hostSigmoid[fixed.Q43]) revnn.Sigmoid[fixed.Q43] { return revnn.Sigmoid[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostTanh[fixed.Q43] {
		return hostTanh[fixed.Q43]{Y: vector[fixed.Q43](rnd, n), X: wild(rnd)}
	}, func(k hostTanh[fixed.Q43]) revnn.Tanh[fixed.Q43] { return revnn.Tanh[fixed.Q43](k) })
}

// TestSameBits compares kernels that have the bits of the host over all number types, and some that
// have them in fixed point, or there and in float64.
func TestSameBits(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	t.Run("float64", sameBitsOf[float64])
	t.Run("float32", sameBitsOf[float32])
	t.Run("Q43", sameBitsOf[fixed.Q43])
}

func sameBitsOf[T rev.Real](t *testing.T) {
	const n = 700
	type vec = rev.Vector[T]
	wild := func(rnd *rand.Rand) vec { // numbers of all magnitudes, and where functions change
		x := vector[T](rnd, n)
		for i := range x.Data {
			x.Data[i] = fixed.Of[T](rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(26)-10)))
		}
		for i, v := range []float64{0, 0.5, -0.5, 0.625, -0.875, 0.881, 0.882, 40, -40.5, 39, 801, -801, 800, 0x1p19, -0x1p19} {
			x.Data[i] = fixed.Of[T](v)
		}
		if !isFixed[T]() {
			for i, v := range []float64{math.Copysign(0, -1), 0x1p30, -0x1p40, 1e-9, -1e-12} {
				x.Data[20+i] = T(v)
			}
		}
		return x
	}
	awayFromZero := func(rnd *rand.Rand) vec {
		x := wild(rnd)
		for i, v := range x.Data {
			if v == 0 {
				x.Data[i] = 3
			}
		}
		return x
	}
	_, isFloat32 := any(T(0)).(float32)
	if isFixed[T]() {
		same(t, func(rnd *rand.Rand) hostSin[T] { return hostSin[T]{Y: vector[T](rnd, n), X: wild(rnd)} }, func(k hostSin[T]) revlinalg.Sin[T] { return revlinalg.Sin[T](k) })
		same(t, func(rnd *rand.Rand) hostCos[T] { return hostCos[T]{Y: vector[T](rnd, n), X: wild(rnd)} }, func(k hostCos[T]) revlinalg.Cos[T] { return revlinalg.Cos[T](k) })
	}
	if !isFloat32 {
		same(t, func(rnd *rand.Rand) hostSoftplus[T] { return hostSoftplus[T]{Y: vector[T](rnd, n), X: wild(rnd)} }, func(k hostSoftplus[T]) revnn.Softplus[T] { return revnn.Softplus[T](k) })
		same(t, func(rnd *rand.Rand) hostSiLU[T] { return hostSiLU[T]{Y: vector[T](rnd, n), X: wild(rnd)} }, func(k hostSiLU[T]) revnn.SiLU[T] { return revnn.SiLU[T](k) })
		same(t, func(rnd *rand.Rand) hostGELU[T] { return hostGELU[T]{Y: vector[T](rnd, n), X: wild(rnd)} }, func(k hostGELU[T]) revnn.GELU[T] { return revnn.GELU[T](k) })
	}
	same(t, func(rnd *rand.Rand) hostAbs[T] { return hostAbs[T]{Y: vector[T](rnd, n), X: wild(rnd)} }, func(k hostAbs[T]) revlinalg.Abs[T] { return revlinalg.Abs[T](k) })
	same(t, func(rnd *rand.Rand) hostReLU[T] { return hostReLU[T]{Y: vector[T](rnd, n), X: wild(rnd)} }, func(k hostReLU[T]) revnn.ReLU[T] { return revnn.ReLU[T](k) })
	for _, slope := range []float64{0, 0.01, -2.5} {
		same(t, func(rnd *rand.Rand) hostLeakyReLU[T] {
			return hostLeakyReLU[T]{Y: vector[T](rnd, n), X: wild(rnd), Slope: slope}
		}, func(k hostLeakyReLU[T]) revnn.LeakyReLU[T] { return revnn.LeakyReLU[T](k) })
	}
	same(t, func(rnd *rand.Rand) hostMulElem[T] {
		return hostMulElem[T]{Z: vector[T](rnd, n), X: wild(rnd), Y: wild(rnd)}
	}, func(k hostMulElem[T]) revlinalg.MulElem[T] { return revlinalg.MulElem[T](k) })
	same(t, func(rnd *rand.Rand) hostDivElem[T] {
		return hostDivElem[T]{Z: vector[T](rnd, n), X: vector[T](rnd, n), Y: awayFromZero(rnd)}
	}, func(k hostDivElem[T]) revlinalg.DivElem[T] { return revlinalg.DivElem[T](k) })
}

// TestNotFinite passes on NaN and infinities as the host does.
func TestNotFinite(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	inf, nan := math.Inf(1), math.NaN()
	x := rev.ViewSlice([]float64{inf, -inf, nan, 1})
	operands := func() (y, gx, gy rev.Vector[float64]) {
		return rev.ViewSlice(make([]float64, 4)), rev.ViewSlice(make([]float64, 4)), rev.ViewSlice([]float64{1, 1, 1, nan})
	}
	equal := func(name string, got, want rev.Vector[float64]) {
		for i, v := range got.Data {
			if w := want.Data[i]; v != w && (v == v || w == w) {
				t.Errorf("%s: element %d is %v, want %v", name, i, v, w)
			}
		}
	}
	y, gx, gy := operands()
	wantY, wantG, _ := operands()
	check := func(name string, device error, host func()) {
		if device != nil {
			t.Fatal(device)
		}
		host()
		equal(name, y, wantY)
		equal(name+", gradient", gx, wantG)
	}
	check("SiLU", rev.Adjoint(hostSiLU[float64]{Y: y, X: x}, hostSiLU[float64]{Y: gy, X: gx}),
		func() { revnn.SiLU[float64]{Y: wantY, X: x}.Adjoint(revnn.SiLU[float64]{Y: gy, X: wantG}) })
	check("GELU", rev.Adjoint(hostGELU[float64]{Y: y, X: x}, hostGELU[float64]{Y: gy, X: gx}),
		func() { revnn.GELU[float64]{Y: wantY, X: x}.Adjoint(revnn.GELU[float64]{Y: gy, X: wantG}) })
	check("Softplus", rev.Adjoint(hostSoftplus[float64]{Y: y, X: x}, hostSoftplus[float64]{Y: gy, X: gx}),
		func() {
			revnn.Softplus[float64]{Y: wantY, X: x}.Adjoint(revnn.Softplus[float64]{Y: gy, X: wantG})
		})
	check("ReLU", rev.Adjoint(hostReLU[float64]{Y: y, X: x}, hostReLU[float64]{Y: gy, X: gx}),
		func() { revnn.ReLU[float64]{Y: wantY, X: x}.Adjoint(revnn.ReLU[float64]{Y: gy, X: wantG}) })
	check("Sin", rev.Adjoint(hostSin[float64]{Y: y, X: x}, hostSin[float64]{Y: gy, X: gx}),
		func() { revlinalg.Sin[float64]{Y: wantY, X: x}.Adjoint(revlinalg.Sin[float64]{Y: gy, X: wantG}) })
}

// TestElementwiseValues compares with the functions of package math.
func TestElementwiseValues(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	rnd := rand.New(rand.NewPCG(3, 3))
	x := make([]float64, 1000)
	for i := range x {
		x[i] = rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(20)-10))
	}
	copy(x, []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 710, -746, 5e-324, 1e-310, math.MaxFloat64})
	positive := make([]float64, len(x))
	for i, v := range x {
		positive[i] = math.Abs(v)
	}
	positive[0], positive[1] = 1, 2
	for name, test := range map[string]struct {
		x    []float64
		run  func(y, x rev.Vector[float64]) error
		want func(float64) float64
	}{
		"exp": {x, func(y, x rev.Vector[float64]) error { return rev.Forward(hostExp[float64]{Y: y, X: x}) }, math.Exp},
		"log": {positive, func(y, x rev.Vector[float64]) error { return rev.Forward(hostLog[float64]{Y: y, X: x}) }, func(x float64) float64 {
			if x < 1e-300 { // where math.Log is wrong on some machines
				return math.Log(x*0x1p200) - 200*math.Ln2
			}
			return math.Log(x)
		}},
		"sqrt": {positive, func(y, x rev.Vector[float64]) error { return rev.Forward(hostSqrt[float64]{Y: y, X: x}) }, math.Sqrt},
		"tanh": {x, func(y, x rev.Vector[float64]) error { return rev.Forward(hostTanh[float64]{Y: y, X: x}) }, math.Tanh},
		"sigmoid": {x, func(y, x rev.Vector[float64]) error { return rev.Forward(hostSigmoid[float64]{Y: y, X: x}) }, func(x float64) float64 {
			return 1 / (1 + math.Exp(-x))
		}},
	} {
		y := make([]float64, len(x))
		if err := test.run(rev.ViewSlice(y), rev.ViewSlice(test.x)); err != nil {
			t.Fatal(err)
		}
		for i, v := range y {
			want := test.want(test.x[i])
			if math.Abs(v-want) > 8e-16*math.Abs(want) && math.Abs(v-want) > 1e-323 || math.IsNaN(v) != math.IsNaN(want) || math.IsInf(v, 0) != math.IsInf(want, 0) {
				t.Errorf("%s(%v) = %v, want %v", name, test.x[i], v, want)
			}
		}
	}
}

// TestFloatFunctions compares functions and their derivatives with package math, for numbers of all
// magnitudes.
func TestFloatFunctions(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	t.Run("float64", func(t *testing.T) {
		floatFunctionsOf[float64](t, func(want float64) float64 { return 0x1p-50 * max(1, math.Abs(want)) })
	})
	t.Run("float32", func(t *testing.T) {
		floatFunctionsOf[float32](t, func(want float64) float64 {
			_, e := math.Frexp(want)
			return 0.51*math.Ldexp(1, max(e-24, -149)) + 0x1p-50
		})
	})
}

func floatFunctionsOf[T rev.Float](t *testing.T, bound func(want float64) float64) {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	cosine := func(x float64) float64 { return -math.Sin(x) }
	type vec = rev.Vector[T]
	rnd := rand.New(rand.NewPCG(3, 4))
	x, one := vector[T](rnd, 700), vector[T](rnd, 700)
	for i := range x.Data {
		x.Data[i] = T(rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(26)-10)))
		one.Data[i] = 1
	}
	for i, v := range []float64{0, 0.5, -0.5, 0.625, -0.875, 0.881, 0.882, 40, -40.5, 39, 801, -801, 0x1p19, -0x1p19, 0x1p30, -0x1p40, 1e-9, -1e-12} {
		x.Data[i] = T(v)
	}
	for name, test := range map[string]struct {
		run         func(y, dy vec) error
		want, slope func(float64) float64
	}{
		"sin": {func(y, dy vec) error { return rev.Tangent(hostSin[T]{Y: y, X: x}, hostSin[T]{Y: dy, X: one}) }, math.Sin, math.Cos},
		"cos": {func(y, dy vec) error { return rev.Tangent(hostCos[T]{Y: y, X: x}, hostCos[T]{Y: dy, X: one}) }, math.Cos, cosine},
		"softplus": {func(y, dy vec) error { return rev.Tangent(hostSoftplus[T]{Y: y, X: x}, hostSoftplus[T]{Y: dy, X: one}) },
			func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, sigmoid},
		"SiLU": {func(y, dy vec) error { return rev.Tangent(hostSiLU[T]{Y: y, X: x}, hostSiLU[T]{Y: dy, X: one}) },
			func(x float64) float64 { return x * sigmoid(x) },
			func(x float64) float64 { return sigmoid(x) + x*sigmoid(x)*sigmoid(-x) }},
		"GELU": {func(y, dy vec) error { return rev.Tangent(hostGELU[T]{Y: y, X: x}, hostGELU[T]{Y: dy, X: one}) },
			func(x float64) float64 { return x * normal(x) },
			func(x float64) float64 { return normal(x) + x*density(x) }},
	} {
		y, dy := rev.ViewSlice(make([]T, x.N)), rev.ViewSlice(make([]T, x.N))
		if err := test.run(y, dy); err != nil {
			t.Fatal(err)
		}
		for i, x := range x.Data {
			for order, pair := range [][2]float64{{float64(y.Data[i]), test.want(float64(x))}, {float64(dy.Data[i]), test.slope(float64(x))}} {
				if got, want := pair[0], pair[1]; !(math.Abs(got-want) <= bound(want)) {
					t.Errorf("%s(%v), derivative %d: %v, want %v", name, x, order, got, want)
				}
			}
		}
	}
}

// TestQuotientByZero has two zeros, and a NaN, which is no zero.
func TestQuotientByZero(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	x, y, z := rev.ViewSlice([]float64{1, 2, 3, 4}), rev.ViewSlice([]float64{-1, math.NaN(), 0, 0}), rev.ViewSlice(make([]float64, 4))
	err := rev.Forward(hostDivElem[float64]{Z: z, X: x, Y: y})
	var e *rev.DomainError
	if !errors.As(err, &e) || e.Index != 2 || e.Args[0] != 3 || e.Args[1] != 0 || e.Func != "quotient" {
		t.Errorf("error %v", err)
	}
	if z.Data[0] != 0 {
		t.Error("a pass outside the domain has begun")
	}
}

func TestDomain(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	x := make([]float64, 700)
	for i := range x {
		x[i] = 1
	}
	x[1], x[640], x[690] = math.NaN(), -2, -3
	y := make([]float64, len(x))
	for order, err := range []error{
		rev.Forward(hostLog[float64]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}),
		rev.Adjoint(hostSqrt[float64]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}, hostSqrt[float64]{Y: rev.ViewSlice(make([]float64, 700)), X: rev.ViewSlice(make([]float64, 700))}),
	} {
		var e *rev.DomainError
		if !errors.As(err, &e) || e.Index != 640 || e.Args[0] != -2 || e.Order != order {
			t.Errorf("error %v", err)
		}
	}
	for _, v := range y {
		if v != 0 {
			t.Fatal("a pass outside the domain has begun")
		}
	}
	x[640], x[690] = 0, 0
	if err := rev.Forward(hostSqrt[float64]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}); err != nil || y[640] != 0 || y[0] != 1 {
		t.Errorf("%v", err)
	}
}

// TestDomainFirst has two bad elements. The later one is of the first block, which comes back to
// the vector after all other blocks.
func TestDomainFirst(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	x := make([]float32, maxBlocks*maxThreads+2)
	for i := range x {
		x[i] = 1
	}
	x[len(x)-1], x[5*maxThreads] = -1, -2
	err := rev.Forward(hostLog[float32]{Y: rev.ViewSlice(make([]float32, len(x))), X: rev.ViewSlice(x)})
	var e *rev.DomainError
	if !errors.As(err, &e) || e.Index != 5*maxThreads || e.Args[0] != -2 {
		t.Errorf("error %v", err)
	}
}
