package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// hostAttention is revnn.Attention, whose passes run on the device.
type hostAttention[T rev.Float] revnn.Attention[T]

func (k hostAttention[T]) Run(p rev.Pass[hostAttention[T]]) error {
	return through[hostAttention[T], Attention[T]](testDevice, k, p)
}

// newAttention returns two heads of so many queries and keys in two sequences.
func newAttention[T rev.Float](rnd *rand.Rand, n, m int, causal bool) hostAttention[T] {
	return hostAttention[T]{
		Y: padded[T](rnd, 2*n, 6), Q: padded[T](rnd, 2*n, 4), K: padded[T](rnd, 2*m, 4), V: padded[T](rnd, 2*m, 6),
		Heads: 2, Sequences: 2, Causal: causal,
	}
}

// smallAttention lowers how many queries a block has. A card keeps that.
func smallAttention(t *testing.T) {
	t.Helper()
	before := attentionBlocks
	t.Cleanup(func() { attentionBlocks = before })
	attentionBlocks.queries, attentionBlocks.numbers = 3, 1
}

func TestAttention(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	smallAttention(t)
	lower(t, 32, 3, 3)
	t.Run("float64", attentionOf[float64])
	t.Run("float32", attentionOf[float32])
}

func attentionOf[T rev.Float](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[hostAttention[T]]{Sizes: []int{0, 2, 5}, Skip: noAllocs, RoundTrip: 4, Magnitudes: [2]float64{1e-3, 4}, New: func(rnd *rand.Rand, n int) hostAttention[T] {
		return newAttention[T](rnd, n, n+n/3, n == 5)
	}})
}

// TestAttentionAlike compares all passes with those of the CPU.
func TestAttentionAlike(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for _, whole := range []bool{true, false} {
		for _, causal := range []bool{false, true} {
			t.Run(fmt.Sprint(whole, causal), func(t *testing.T) {
				alikeAttention[float64](t, 1e-12, causal)
				alikeAttention[float32](t, 1e-4, causal)
			})
		}
		smallAttention(t)
	}
}

func alikeAttention[T rev.Float](t *testing.T, tolerance float64, causal bool) {
	for _, shape := range [][2]int{{7, 5}, {4, 40}, {1, 1}} {
		alike(t, tolerance, func(rnd *rand.Rand) hostAttention[T] { return newAttention[T](rnd, shape[0], shape[1], causal) },
			func(k hostAttention[T]) revnn.Attention[T] { return revnn.Attention[T](k) })
	}
}

// TestAttentionTiles takes the widest tiles of cards with tensor cores, where heads begin at addresses that are
// multiples of 16 bytes and where they do not.
func TestAttentionTiles(t *testing.T) {
	defer func(n, s int) { enoughTiles, shift = n, s }(enoughTiles, shift)
	enoughTiles, shift = 1, 0
	for _, capability := range []int{80, 90} {
		testDevice = withTensorCores(t, 1<<24, capability)
		for _, columns := range []int{2, 3, 4} {
			tiledAttention[float64](t, 1e-12, columns)
			tiledAttention[float32](t, 1e-4, columns)
		}
	}
}

// tiledAttention has two heads of so many columns, and rows without gaps.
func tiledAttention[T rev.Float](t *testing.T, tolerance float64, columns int) {
	alike(t, tolerance, func(rnd *rand.Rand) hostAttention[T] {
		matrix := func() rev.General[T] { return general[T](rnd, 40, 2*columns) }
		return hostAttention[T]{Y: matrix(), Q: matrix(), K: matrix(), V: matrix(), Heads: 2}
	}, func(k hostAttention[T]) revnn.Attention[T] { return revnn.Attention[T](k) })
}
