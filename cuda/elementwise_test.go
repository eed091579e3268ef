package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// The kernels of the host whose passes run on the device.
type (
	hostExp[T rev.Real]     revlinalg.Exp[T]
	hostLog[T rev.Real]     revlinalg.Log[T]
	hostSqrt[T rev.Real]    revlinalg.Sqrt[T]
	hostSigmoid[T rev.Real] revlinalg.Sigmoid[T]
	hostTanh[T rev.Real]    revlinalg.Tanh[T]
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
}

func mapTest[T rev.Real, K rev.Kernel[K]](t *testing.T, kernel func(y, x rev.Vector[T]) K, random func(*rand.Rand, int) rev.Vector[T]) {
	revtest.Kernel(t, revtest.Spec[K]{Sizes: []int{0, 3, 40}, Skip: noAllocs, New: func(rnd *rand.Rand, n int) K {
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
		copy(x.Data, []fixed.Q43{0, 1, -1, fixed.Max, fixed.Min, fixed.One, 14 * fixed.One, -31 * fixed.One, -31*fixed.One - 1})
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
	}, func(k hostSigmoid[fixed.Q43]) revlinalg.Sigmoid[fixed.Q43] { return revlinalg.Sigmoid[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostTanh[fixed.Q43] {
		return hostTanh[fixed.Q43]{Y: vector[fixed.Q43](rnd, n), X: wild(rnd)}
	}, func(k hostTanh[fixed.Q43]) revlinalg.Tanh[fixed.Q43] { return revlinalg.Tanh[fixed.Q43](k) })
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
