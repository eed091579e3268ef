package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// The kernels of the host whose passes run on the device.
type (
	hostLayerNorm[T rev.Real] revnn.LayerNorm[T]
	hostRMSNorm[T rev.Real]   revnn.RMSNorm[T]
)

func (k hostLayerNorm[T]) Run(p rev.Pass[hostLayerNorm[T]]) error {
	return through[hostLayerNorm[T], LayerNorm[T]](testDevice, k, p)
}
func (k hostRMSNorm[T]) Run(p rev.Pass[hostRMSNorm[T]]) error {
	return through[hostRMSNorm[T], RMSNorm[T]](testDevice, k, p)
}

// spaced returns a vector with a number between its elements.
func spaced[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	return rev.Vector[T]{N: n, Data: vector[T](rnd, 2*n).Data, Inc: 2}
}

func newLayerNorm[T rev.Real](rnd *rand.Rand, n, c int) hostLayerNorm[T] {
	return hostLayerNorm[T]{Y: padded[T](rnd, n, c), X: padded[T](rnd, n, c), Gain: spaced[T](rnd, c), Bias: spaced[T](rnd, c), Epsilon: 0.0625}
}

func newRMSNorm[T rev.Real](rnd *rand.Rand, n, c int) hostRMSNorm[T] {
	return hostRMSNorm[T]{Y: padded[T](rnd, n, c), X: padded[T](rnd, n, c), Gain: spaced[T](rnd, c), Epsilon: 0.0625}
}

func TestRowNorms(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", rowNormsOf[float64])
	t.Run("float32", rowNormsOf[float32])
	t.Run("Q43", rowNormsOf[fixed.Q43])
}

func rowNormsOf[T rev.Real](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[hostLayerNorm[T]]{Sizes: []int{0, 1, 4}, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostLayerNorm[T] {
		k := newLayerNorm[T](rnd, n, n+3)
		if n == 1 {
			k.Gain, k.Bias = rev.Vector[T]{}, rev.Vector[T]{}
		}
		return k
	}, RoundTrip: 4})
	revtest.Kernel(t, revtest.Spec[hostRMSNorm[T]]{Sizes: []int{1, 4}, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostRMSNorm[T] {
		return newRMSNorm[T](rnd, n, n+3)
	}})
}

// TestRowNormBits compares with the host over Q43, bit for bit, for rows of a warp and of a block, and for
// more rows than a part of a column has.
func TestRowNormBits(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	type q = fixed.Q43
	for _, s := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {9, 33}, {3, longRow + 70}, {columnPart + 9, 3}, {1, heldColumns*longThreads() + 3}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			wild := func(rnd *rand.Rand) rev.General[q] {
				a := padded[q](rnd, s[0], s[1])
				for i := range a.Data {
					a.Data[i] = fixed.FromFloat64(rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(12)-6)))
				}
				return a
			}
			for _, affine := range []bool{true, false} {
				same(t, func(rnd *rand.Rand) hostLayerNorm[q] {
					k := newLayerNorm[q](rnd, s[0], s[1])
					k.X = wild(rnd)
					if !affine {
						k.Gain, k.Bias = rev.Vector[q]{}, rev.Vector[q]{}
					}
					return k
				}, func(k hostLayerNorm[q]) revnn.LayerNorm[q] { return revnn.LayerNorm[q](k) })
			}
			same(t, func(rnd *rand.Rand) hostRMSNorm[q] {
				k := newRMSNorm[q](rnd, s[0], s[1])
				k.X = wild(rnd)
				return k
			}, func(k hostRMSNorm[q]) revnn.RMSNorm[q] { return revnn.RMSNorm[q](k) })
		})
	}
}

// TestRowNormValues compares floats with the host, for small numbers of ε also, and more rows than a grid
// has in parallel.
func TestRowNormValues(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	lower(t, 32, 2, 2)
	t.Run("float64", rowNormValues[float64])
	t.Run("float32", rowNormValues[float32])
}

func rowNormValues[T rev.Real](t *testing.T) {
	for _, s := range [][2]int{{columnPart + 9, 70}, {2, longRow}, {3, longRow + 70}} { // a block has a row of longRow in registers
		for _, epsilon := range []float64{0, 1e-300, 0.5} {
			alike(t, 8*toleranceOf[T](), func(rnd *rand.Rand) hostLayerNorm[T] {
				k := newLayerNorm[T](rnd, s[0], s[1])
				k.Epsilon = epsilon
				return k
			}, func(k hostLayerNorm[T]) revnn.LayerNorm[T] { return revnn.LayerNorm[T](k) })
		}
	}
	alike(t, 8*toleranceOf[T](), func(rnd *rand.Rand) hostRMSNorm[T] { return newRMSNorm[T](rnd, 19, 70) },
		func(k hostRMSNorm[T]) revnn.RMSNorm[T] { return revnn.RMSNorm[T](k) })
}
