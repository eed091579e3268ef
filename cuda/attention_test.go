package cuda

import (
	"fmt"
	"math"
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

// TestAttentionTensor has heads whose scores are not kept in memory: queries of one block and of several, keys of part of a
// tile and of many, columns that fill tiles and that do not, and more columns than the kernel takes. TestAttentionTiles makes the other
// passes.
func TestAttentionTensor(t *testing.T) {
	for _, capability := range []int{80, 90} {
		testDevice = withTensorCores(t, 1<<26, capability)
		for i, s := range [][6]int{ // queries, keys, columns of Q and V of a head, heads, sequences
			{1, 1, 1, 1, 1, 1}, {5, 16, 8, 7, 2, 1}, {17, 33, 3, 9, 3, 2}, {130, 50, 20, 64, 1, 2}, {40, 140, 64, 5, 2, 1}, {3, 7, 65, 2, 1, 1}, {3, 7, 2, 65, 1, 1},
		} {
			for _, causal := range []bool{false, true} {
				compareStack(t, 0, []string{"Forward", "Inverse"}, func() (o [4]hostAttention[float64]) {
					rnd := rand.New(rand.NewPCG(41, uint64(i)))
					n, m, c, e, heads := s[0]*s[5], s[1]*s[5], s[2]*s[4], s[3]*s[4], s[4]
					o[0] = hostAttention[float64]{
						Y: padded[float64](rnd, n, e), Q: padded[float64](rnd, n, c), K: padded[float64](rnd, m, c), V: padded[float64](rnd, m, e),
						Heads: heads, Sequences: s[5], Causal: causal,
					}
					if i%2 == 1 {
						o[0].Scale = 40 // the largest score grows by more than 16
					}
					return o
				}, func(k hostAttention[float64], _ int) revnn.Attention[float64] { return revnn.Attention[float64](k) }, near[hostAttention[float64]](t, 1e-12))
			}
		}
	}
}

// TestAttentionNotFinite has scores that are infinite or not a number, in rows that begin with them and that do not.
func TestAttentionNotFinite(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, capability := range []int{75, 90} {
		testDevice = withTensorCores(t, 1<<22, capability)
		const n, m = 7, 40
		k := hostAttention[float64]{
			Y: rev.NewGeneral(n, 1, make([]float64, n)), Q: rev.NewGeneral(n, 1, make([]float64, n)), K: rev.NewGeneral(m, 1, make([]float64, m)),
			V: rev.NewGeneral(m, 1, make([]float64, m)), Scale: 1,
		}
		for j := range m {
			k.K.Data[j], k.V.Data[j] = 1+float64(j)/m, float64(j)
			if j < 20 {
				k.K.Data[j] = -inf
			}
		}
		copy(k.Q.Data, []float64{1, -1, nan, inf, -inf, 300, 0})
		want := revnn.Attention[float64](k)
		want.Y = rev.NewGeneral(n, 1, make([]float64, n))
		want.Forward()
		if err := rev.Forward(k); err != nil {
			t.Fatal(err)
		}
		for i, v := range k.Y.Data {
			if w := want.Y.Data[i]; !(math.Abs(v-w) <= 1e-12*w) && (v == v || w == w) {
				t.Errorf("compute capability %d: query %v has %v, want %v", capability, k.Q.Data[i], v, w)
			}
		}
		if v := k.Y.Data; v[0] != v[0] || v[5] != v[5] || v[1] == v[1] {
			t.Errorf("compute capability %d: %v", capability, v)
		}
	}
}
