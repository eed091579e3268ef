package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// TestAttentionTensorAlike is TestAttention on tensor cores.
func TestAttentionTensorAlike(t *testing.T) {
	testDevice = withTensorCores(t, 1<<24, 90)
	attentionOf[float64](t)
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
				passes := allPasses
				if i%2 == 1 { // with large scores, where the second order is a small difference of large numbers
					passes = allPasses[:4]
				}
				compareAttention(t, passes, func() (o [4]hostAttention[float64]) {
					rnd := rand.New(rand.NewPCG(41, uint64(i)))
					n, m, c, e, heads := s[0]*s[5], s[1]*s[5], s[2]*s[4], s[3]*s[4], s[4]
					for at := range o {
						o[at] = hostAttention[float64]{
							Y: padded[float64](rnd, n, e), Q: padded[float64](rnd, n, c), K: padded[float64](rnd, m, c), V: padded[float64](rnd, m, e),
							Heads: heads, Sequences: s[5], Causal: causal,
						}
						if i%2 == 1 {
							o[at].Scale = 40 / math.Sqrt(float64(s[2])) // what has been added up is scaled down
						}
					}
					return o
				})
			}
		}
	}
}

// TestAttentionShares has blocks that share the keys of a head, with a tile of them or several, and gradients and tangents of some
// operands alone.
func TestAttentionShares(t *testing.T) {
	defer func(n int) { attendBlocks = n }(attendBlocks)
	testDevice = withTensorCores(t, 1<<24, 90)
	for i, blocks := range []int{1, 4, 6} { // for two heads
		attendBlocks = blocks
		for absent := range 8 {
			compareAttention(t, []string{"Adjoint", "Tangent"}, func() (o [4]hostAttention[float64]) {
				rnd := rand.New(rand.NewPCG(43, uint64(i)))
				for i := range o {
					o[i] = hostAttention[float64]{
						Y: padded[float64](rnd, 150, 6), Q: padded[float64](rnd, 150, 4), K: padded[float64](rnd, 140, 4), V: padded[float64](rnd, 140, 6),
						Heads: 2, Causal: absent%2 == 0,
					}
					for bit, operand := range []*rev.General[float64]{&o[i].Q, &o[i].K, &o[i].V} {
						if i > 0 && absent>>bit&1 != 0 {
							*operand = rev.General[float64]{}
						}
					}
				}
				if absent == 1 {
					o[0].Y = rev.General[float64]{}
				}
				return o
			})
		}
	}
}

// compareAttention compares passes with those of the CPU, within 1e-12.
func compareAttention(t *testing.T, passes []string, operands func() [4]hostAttention[float64]) {
	t.Helper()
	compareStack(t, 0, passes, operands, func(k hostAttention[float64], _ int) revnn.Attention[float64] { return revnn.Attention[float64](k) }, near[hostAttention[float64]](t, 1e-12))
}

// TestAttentionOneMatrix has operands, and likewise cotangents, that are one matrix.
func TestAttentionOneMatrix(t *testing.T) {
	defer func(n int) { attendBlocks = n }(attendBlocks)
	const n = 70
	for _, same := range []string{"KV", "QK", "QV", "QKV"} {
		for _, capability := range []int{75, 80, 90} {
			testDevice = withTensorCores(t, 1<<24, capability)
			for _, attendBlocks = range []int{128, 1} {
				rnd := rand.New(rand.NewPCG(44, 1))
				random := func() hostAttention[float64] {
					k := hostAttention[float64]{Y: padded[float64](rnd, n, 3), Q: padded[float64](rnd, n, 3), K: padded[float64](rnd, n, 3), V: padded[float64](rnd, n, 3)}
					one := k.Q
					if same == "KV" {
						one = k.K
					}
					for i, operand := range []*rev.General[float64]{&k.Q, &k.K, &k.V} {
						if strings.Contains(same, "QKV"[i:i+1]) {
							*operand = one
						}
					}
					return k
				}
				k, g := random(), random()
				all := revnn.Attention[float64]{Y: cloneOf(g.Y), Q: cloneOf(g.Q), K: cloneOf(g.K), V: cloneOf(g.V)}
				before := map[*float64]rev.General[float64]{}
				wk := revnn.Attention[float64](k)
				wk.Y = cloneOf(k.Y)
				for _, operand := range []struct{ of, to *rev.General[float64] }{{&g.Q, &all.Q}, {&g.K, &all.K}, {&g.V, &all.V}} {
					if first, there := before[&operand.of.Data[0]]; there {
						*operand.to = first
					}
					before[&operand.of.Data[0]] = *operand.to
				}
				if err := errors.Join(rev.Gradient(wk, all), rev.Gradient(k, g)); err != nil {
					t.Fatalf("compute capability %d: %s is one matrix: %v", capability, same, err)
				}
				near[hostAttention[float64]](t, 1e-12)(same, g, hostAttention[float64](all))
			}
		}
	}
}

// cloneOf returns a copy of a matrix.
func cloneOf(m rev.General[float64]) rev.General[float64] {
	m.Data = slices.Clone(m.Data)
	return m
}

// TestAttentionScale has scores of some millions, whose products with the scale are rounded. Gradients have the powers that Y has.
func TestAttentionScale(t *testing.T) {
	for _, capability := range []int{80, 90} {
		testDevice = withTensorCores(t, 1<<24, capability)
		rnd := rand.New(rand.NewPCG(45, 1))
		const m, large = 40, 0x1p40
		k := oneQuery(m)
		k.Scale, k.Q.Data[0] = 1./3, large
		for j := range m {
			k.K.Data[j] = 1 + 0x1p-40*rnd.Float64()
		}
		g := hostAttention[float64]{Y: rev.NewGeneral(1, 1, []float64{1}), V: rev.NewGeneral(m, 1, make([]float64, m))}
		if err := rev.Gradient(k, g); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range g.V.Data { // P
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-14) {
			t.Errorf("compute capability %d: a row of P adds up to %v", capability, sum)
		}
	}
}

// TestAttentionMasked has a key that no query sees, as all scores of it are -Inf, with queries that fill tiles and that do not.
// It has gradients of K and V alone, and tangents of them, as K times what is 0 there is not a number.
func TestAttentionMasked(t *testing.T) {
	for _, capability := range []int{75, 80, 90} {
		testDevice = withTensorCores(t, 1<<24, capability)
		for _, n := range []int{3, 16, 17} {
			compareAttention(t, []string{"Adjoint", "Tangent"}, func() (o [4]hostAttention[float64]) {
				rnd := rand.New(rand.NewPCG(46, uint64(n)))
				for i := range o {
					o[i] = hostAttention[float64]{Y: padded[float64](rnd, n, 2), K: padded[float64](rnd, 5, 2), V: padded[float64](rnd, 5, 2)}
				}
				o[0].Q = padded[float64](rnd, n, 2)
				for i := range n {
					o[0].Q.Row(i)[1] = 1
				}
				o[0].K.Row(3)[1] = math.Inf(-1)
				return o
			})
		}
	}
}

// TestAttentionPieces has scratch memory for the gradients of 64 queries at a time, or of 128, so that they come in pieces of a
// sequence, the last of them smaller.
func TestAttentionPieces(t *testing.T) {
	defer func(n int) { attendScratch = n }(attendScratch)
	testDevice = withTensorCores(t, 1<<24, 90)
	for _, attendScratch = range []int{1, 128 * 3 * 4} {
		for _, sequences := range []int{1, 2} {
			for _, causal := range []bool{false, true} {
				compareAttention(t, []string{"Adjoint"}, func() (o [4]hostAttention[float64]) {
					rnd := rand.New(rand.NewPCG(48, 1))
					for i := range o {
						o[i] = hostAttention[float64]{
							Y: padded[float64](rnd, sequences*150, 6), Q: padded[float64](rnd, sequences*150, 4), K: padded[float64](rnd, sequences*140, 4), V: padded[float64](rnd, sequences*140, 6),
							Heads: 2, Sequences: sequences, Causal: causal,
						}
					}
					return o
				})
			}
		}
	}
}

// TestAttentionSequences has sequences whose heads share the keys.
func TestAttentionSequences(t *testing.T) {
	testDevice = withTensorCores(t, 1<<24, 90)
	for _, causal := range []bool{false, true} {
		compareAttention(t, []string{"Adjoint", "AdjointTangent"}, func() (o [4]hostAttention[float64]) {
			rnd := rand.New(rand.NewPCG(47, 1))
			for i := range o {
				o[i] = hostAttention[float64]{
					Y: padded[float64](rnd, 3*35, 6), Q: padded[float64](rnd, 3*35, 6), K: padded[float64](rnd, 3*133, 6), V: padded[float64](rnd, 3*133, 6),
					Heads: 2, Sequences: 3, Causal: causal,
				}
			}
			return o
		})
	}
}

// TestAttentionNotFinite has scores that are infinite or not a number, in rows that begin with them and that do not. One row
// grows by more than the range of powers between tiles of keys.
func TestAttentionNotFinite(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, capability := range []int{75, 90} {
		testDevice = withTensorCores(t, 1<<22, capability)
		const n, m = 8, 40
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
		copy(k.Q.Data, []float64{1, -1, nan, inf, -inf, 300, 0, 30000})
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
		if v := k.Y.Data; v[0] != v[0] || v[5] != v[5] || v[7] != v[7] || v[1] == v[1] {
			t.Errorf("compute capability %d: %v", capability, v)
		}
	}
}

// TestAttentionUnseen has more keys than queries. No query sees the last ones, which are not a number.
func TestAttentionUnseen(t *testing.T) {
	for _, capability := range []int{75, 80, 90} {
		testDevice = withTensorCores(t, 1<<22, capability)
		for _, s := range [][2]int{{5, 9}, {40, 90}, {130, 140}} {
			n, m := s[0], s[1]
			compareStack(t, 0, []string{"Forward", "Adjoint", "Tangent"}, func() (o [4]hostAttention[float64]) {
				rnd := rand.New(rand.NewPCG(42, uint64(n)))
				for i := range o {
					k := hostAttention[float64]{
						Y: padded[float64](rnd, 2*n, 3), Q: padded[float64](rnd, 2*n, 2), K: padded[float64](rnd, 2*m, 2), V: padded[float64](rnd, 2*m, 3),
						Sequences: 2, Causal: true,
					}
					for j := range 2 * m {
						if i != 1 && j%m >= n {
							k.K.Row(j)[1], k.V.Row(j)[1] = math.NaN(), math.NaN()
						}
					}
					o[i] = k
				}
				return o
			}, func(k hostAttention[float64], _ int) revnn.Attention[float64] { return revnn.Attention[float64](k) }, func(what string, got, want hostAttention[float64]) {
				t.Helper()
				for name, of := range map[string][2]rev.General[float64]{"Y": {got.Y, want.Y}, "Q": {got.Q, want.Q}, "K": {got.K, want.K}, "V": {got.V, want.V}} {
					for i := range of[0].Rows {
						for j, w := range of[1].Row(i) {
							if v := of[0].Row(i)[j]; !(math.Abs(v-w) <= 1e-12*(1+math.Abs(w))) && (v == v || w == w) {
								t.Fatalf("compute capability %d: %s: element (%d, %d) of %s is %v, want %v", capability, what, i, j, name, v, w)
							}
						}
					}
				}
			})
		}
	}
}

// TestAttentionHuge has values near the largest number.
func TestAttentionHuge(t *testing.T) {
	for _, capability := range []int{75, 80, 90} {
		testDevice = withTensorCores(t, 1<<22, capability)
		for _, last := range []float64{0, 15.9, 16.1, 50} {
			k := oneQuery(40)
			for j := range k.V.Data {
				k.V.Data[j] = 0x1p1018
				if j == 17 {
					k.K.Data[j] = last
				}
			}
			if err := rev.Forward(k); err != nil {
				t.Fatal(err)
			}
			if v := k.Y.Data[0]; !(math.Abs(v/0x1p1018-1) <= 1e-14) {
				t.Errorf("compute capability %d: the score %v makes %v, want %v", capability, last, v, 0x1p1018)
			}
		}
	}
}

// TestAttentionLarge has scores of 2⁶⁰ and more, whose products with the scale are rounded by more than the range of powers.
func TestAttentionLarge(t *testing.T) {
	for _, capability := range []int{80, 90} {
		testDevice = withTensorCores(t, 1<<22, capability)
		for _, large := range []float64{0x1p60, 0x1p66, 0x1p300} {
			for _, scale := range []float64{1. / 3, 1 / math.Sqrt(6), 1 / math.Sqrt(48), -0.1} {
				compareAttention(t, []string{"Forward", "Adjoint", "Tangent"}, func() (o [4]hostAttention[float64]) {
					rnd := rand.New(rand.NewPCG(49, 1))
					for i := range o {
						o[i] = hostAttention[float64]{Y: padded[float64](rnd, 1, 1), Q: padded[float64](rnd, 1, 1), K: padded[float64](rnd, 40, 1), V: padded[float64](rnd, 40, 1)}
					}
					o[0].Scale = scale
					o[0].Q.Data[0] = large
					for j := range 40 {
						o[0].K.Row(j)[0] = float64(j % 10)
						for i := 1; i < 4; i++ {
							o[i].K.Row(j)[0] /= large // so that derivatives are not large
						}
					}
					return o
				})
			}
		}
	}
}

// TestAttentionGrowth has a row that grows by more than the range of powers between tiles of keys, in each place of a warp's rows.
func TestAttentionGrowth(t *testing.T) {
	const n, m = 17, 24
	for _, capability := range []int{80, 90} {
		testDevice = withTensorCores(t, 1<<22, capability)
		for row := range n {
			compareAttention(t, []string{"Forward", "Tangent"}, func() (o [4]hostAttention[float64]) {
				rnd := rand.New(rand.NewPCG(50, 1))
				for i := range o {
					o[i] = hostAttention[float64]{Y: padded[float64](rnd, n, 1), Q: padded[float64](rnd, n, 1), K: padded[float64](rnd, m, 1), V: padded[float64](rnd, m, 1)}
				}
				for i := range n {
					o[0].Q.Row(i)[0] = 0
				}
				o[0].Q.Row(row)[0] = 30000
				for j := range m {
					o[0].K.Row(j)[0] = 1 + float64(j)/m
				}
				return o
			})
		}
	}
}

// oneQuery returns attention of one query, which is 1, and m keys, which are the scores.
func oneQuery(m int) hostAttention[float64] {
	return hostAttention[float64]{
		Y: rev.NewGeneral(1, 1, make([]float64, 1)), Q: rev.NewGeneral(1, 1, []float64{1}), K: rev.NewGeneral(m, 1, make([]float64, m)),
		V: rev.NewGeneral(m, 1, make([]float64, m)), Scale: 1,
	}
}

// TestAttentionBound has a large score in each lane of a query. The other powers are near half a unit of its last place, so that
// a sum loses them or has twice as much, and differs by more than if it were made of short ones. A value is what the large scores
// have of all, and its error that of an element of P.
func TestAttentionBound(t *testing.T) {
	for _, capability := range []int{75, 90} {
		testDevice = withTensorCores(t, 1<<24, capability)
		const m, large = 4096, 4
		worst := 0.0
		for _, score := range []float64{-37.38, -37.36, -3} {
			k := oneQuery(m)
			for j := range m {
				if j%2 == 0 && j < 2*large {
					k.V.Data[j] = 1
				} else {
					k.K.Data[j] = score
				}
			}
			if err := rev.Forward(k); err != nil {
				t.Fatal(err)
			}
			got, rest := k.Y.Data[0], (m-large)*math.Exp(score)/large // without errors, got = 1/(1+rest)
			off := math.Abs(got*rest+(got-1)) * 0x1p52
			worst = max(worst, off)
			if limit := 4*-score + m/4 + 16; !(off <= limit) {
				t.Errorf("compute capability %d: with the score %v, P is off by %v ε, and the limit is %v", capability, score, off, limit)
			}
		}
		t.Logf("compute capability %d: at most %v ε", capability, worst)
	}
}
