package cuda

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revnn"
)

// The kernels of the host whose passes run on the device.
type (
	hostNorm1[T rev.Real]     revlinalg.Norm1[T]
	hostNorm2[T rev.Real]     revlinalg.Norm2[T]
	hostNormInf[T rev.Real]   revlinalg.NormInf[T]
	hostLogSumExp[T rev.Real] revnn.LogSumExp[T]
	hostSoftmax[T rev.Real]   revnn.Softmax[T]
)

func (k hostNorm1[T]) Run(p rev.Pass[hostNorm1[T]]) error {
	return through[hostNorm1[T], Norm1[T]](testDevice, k, p)
}
func (k hostNorm2[T]) Run(p rev.Pass[hostNorm2[T]]) error {
	return through[hostNorm2[T], Norm2[T]](testDevice, k, p)
}
func (k hostNormInf[T]) Run(p rev.Pass[hostNormInf[T]]) error {
	return through[hostNormInf[T], NormInf[T]](testDevice, k, p)
}
func (k hostLogSumExp[T]) Run(p rev.Pass[hostLogSumExp[T]]) error {
	return through[hostLogSumExp[T], LogSumExp[T]](testDevice, k, p)
}
func (k hostSoftmax[T]) Run(p rev.Pass[hostSoftmax[T]]) error {
	return through[hostSoftmax[T], Softmax[T]](testDevice, k, p)
}

func TestNorms(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	t.Run("float64", normsOf[float64])
	t.Run("float32", normsOf[float32])
	t.Run("Q43", normsOf[fixed.Q43])
}

func normsOf[T rev.Real](t *testing.T) {
	normTest(t, []int{0, 3, 40}, func(out *T, x rev.Vector[T]) hostNorm1[T] { return hostNorm1[T]{Out: out, X: x} })
	normTest(t, []int{0, 3, 40}, func(out *T, x rev.Vector[T]) hostNorm2[T] { return hostNorm2[T]{Out: out, X: x} })
	normTest(t, []int{0, 3, 40}, func(out *T, x rev.Vector[T]) hostNormInf[T] { return hostNormInf[T]{Out: out, X: x} })
	normTest(t, []int{1, 40}, func(out *T, x rev.Vector[T]) hostLogSumExp[T] { return hostLogSumExp[T]{Out: out, X: x} })
	mapTest(t, func(y, x rev.Vector[T]) hostSoftmax[T] { return hostSoftmax[T]{Y: y, X: x} }, vector[T])
}

// apart returns numbers whose magnitudes are not close to each other or to zero, where norms
// have no derivative.
func apart[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := vector[T](rnd, n)
	for i, place := range rnd.Perm(n) {
		v := fixed.Of[T](0.5 + 0.1*float64(place) + 0.05*rnd.Float64())
		if x.Data[i] < 0 {
			v = -v
		}
		x.Data[i] = v
	}
	return x
}

func normTest[T rev.Real, K rev.Kernel[K]](t *testing.T, sizes []int, kernel func(out *T, x rev.Vector[T]) K) {
	revtest.Kernel(t, revtest.Spec[K]{Sizes: sizes, Skip: noAllocs, Free: []string{"X.N"}, New: func(rnd *rand.Rand, n int) K {
		return kernel(new(T), apart[T](rnd, n))
	}})
}

// TestNormBits compares with the host over Q43, bit for bit.
func TestNormBits(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	type q = fixed.Q43
	for _, n := range []int{1, 700} {
		for _, wild := range []bool{false, true} {
			random := func(rnd *rand.Rand) rev.Vector[q] {
				x := vector[q](rnd, n)
				for i := range x.Data {
					if wild {
						x.Data[i] = q(rnd.Int64()-rnd.Int64()) >> rnd.IntN(63)
					}
				}
				return x
			}
			same(t, func(rnd *rand.Rand) hostNorm1[q] { return hostNorm1[q]{Out: new(q), X: random(rnd)} },
				func(k hostNorm1[q]) revlinalg.Norm1[q] { return revlinalg.Norm1[q](k) })
			same(t, func(rnd *rand.Rand) hostNorm2[q] { return hostNorm2[q]{Out: new(q), X: random(rnd)} },
				func(k hostNorm2[q]) revlinalg.Norm2[q] { return revlinalg.Norm2[q](k) })
			same(t, func(rnd *rand.Rand) hostNormInf[q] { return hostNormInf[q]{Out: new(q), X: random(rnd)} },
				func(k hostNormInf[q]) revlinalg.NormInf[q] { return revlinalg.NormInf[q](k) })
			same(t, func(rnd *rand.Rand) hostLogSumExp[q] { return hostLogSumExp[q]{Out: new(q), X: random(rnd)} },
				func(k hostLogSumExp[q]) revnn.LogSumExp[q] { return revnn.LogSumExp[q](k) })
			same(t, func(rnd *rand.Rand) hostSoftmax[q] { return hostSoftmax[q]{Y: random(rnd), X: random(rnd)} },
				func(k hostSoftmax[q]) revnn.Softmax[q] { return revnn.Softmax[q](k) })
		}
	}
}

// TestNormExtremes has numbers whose squares and exponentials leave the range.
func TestNormExtremes(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		x                              []float64
		norm1, norm2, normInf, logSums float64
	}{
		{[]float64{3e200, -4e200}, 7e200, 5e200, 4e200, 3e200},
		{[]float64{3e-200, 4e-200}, 7e-200, 5e-200, 4e-200, math.Ln2},
		{[]float64{3e-160, 1e-150, 4e-160}, 1.0000000007e-150, 1e-150, 1e-150, math.Log(3)},
		{[]float64{5e-324}, 5e-324, 5e-324, 5e-324, 5e-324},
		{[]float64{inf, 1}, inf, inf, inf, inf},
		{[]float64{1, nan, 7}, nan, nan, nan, nan},
		{[]float64{-inf, -inf}, inf, inf, inf, -inf},
		{[]float64{1e308, 1e308}, inf, math.Sqrt2 * 1e308, 1e308, 1e308},
		{nil, 0, 0, 0, -inf},
	} {
		x := rev.ViewSlice(test.x)
		if test.x == nil {
			x = rev.ViewSlice([]float64{})
		}
		var got [4]float64
		for i, err := range []error{
			rev.Forward(hostNorm1[float64]{Out: &got[0], X: x}),
			rev.Forward(hostNorm2[float64]{Out: &got[1], X: x}),
			rev.Forward(hostNormInf[float64]{Out: &got[2], X: x}),
			rev.Forward(hostLogSumExp[float64]{Out: &got[3], X: x}),
		} {
			want := []float64{test.norm1, test.norm2, test.normInf, test.logSums}[i]
			if err != nil || math.Abs(got[i]-want) > 1e-15*math.Abs(want) || math.IsNaN(got[i]) != math.IsNaN(want) || math.IsInf(want, 0) && got[i] != want {
				t.Errorf("%v: kernel %d has %v, want %v, %v", test.x, i, got[i], want, err)
			}
		}
	}
	for _, x := range [][]float64{{1, inf}, {nan}, {-inf, -inf}} {
		y := make([]float64, len(x))
		if err := rev.Forward(hostSoftmax[float64]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}); err != nil || !math.IsNaN(y[0]) {
			t.Errorf("softmax of %v is %v, %v", x, y, err)
		}
	}
}

// TestNorm2Tangent has tangents whose products with x leave the range of double, and some that cancel.
func TestNorm2Tangent(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	for _, test := range [][2][]float64{
		{{3, -4}, {1, 2}},
		{{3e200, -4e200}, {1e200, 2e-200}},
		{{3e-200, -4e-200}, {1e-150, 2}},
		{{3e100, -4e100}, {1e250, 2e250}},
		{{3e-150, -4e-150}, {1e-200, -2e-200}},
		{{3, 4, 0}, {4, -3, 7}},
		{{0, 0}, {1, 2}},
	} {
		x, dx := rev.ViewSlice(test[0]), rev.ViewSlice(test[1])
		var v, dv, want, dwant float64
		if err := rev.Tangent(hostNorm2[float64]{Out: &v, X: x}, hostNorm2[float64]{Out: &dv, X: dx}); err != nil {
			t.Fatal(err)
		}
		revlinalg.Norm2[float64]{Out: &want, X: x}.Tangent(revlinalg.Norm2[float64]{Out: &dwant, X: dx})
		if !(math.Abs(v-want) <= 1e-15*want) || !(math.Abs(dv-dwant) <= 1e-15*math.Abs(dwant)) {
			t.Errorf("norm and tangent at %v along %v are %v and %v, want %v and %v", test[0], test[1], v, dv, want, dwant)
		}
	}
}
