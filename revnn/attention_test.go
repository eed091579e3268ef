package revnn_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

func attentionSpec[T rev.Float](heads, sequences int, causal bool) revtest.Spec[revnn.Attention[T]] {
	spec := revtest.Spec[revnn.Attention[T]]{New: func(rnd *rand.Rand, n int) revnn.Attention[T] {
		return revnn.Attention[T]{
			Y: kerneltest.Matrix[T](rnd, n*sequences, 3*heads), Q: kerneltest.Matrix[T](rnd, n*sequences, 2*heads),
			K: kerneltest.Matrix[T](rnd, (n+n/3)*sequences, 2*heads), V: kerneltest.Matrix[T](rnd, (n+n/3)*sequences, 3*heads),
			Heads: heads, Sequences: sequences, Causal: causal,
		}
	}, RoundTrip: 4, Magnitudes: [2]float64{1e-3, 4}, Large: 70} // two blocks of queries
	spec.Sizes = []int{0, 2, 3, 5, 6, 12, 23} // the Hessian for one key is 0, and its rounding errors have no symmetry
	if causal {
		spec.Masked = []string{"K", "V"} // what no query sees
	}
	return spec
}

// Several blocks of queries and of keys, in derivatives of all orders.
func TestAttentionBlocks(t *testing.T) {
	for _, causal := range []bool{false, true} {
		queries := attentionQueries + 2
		if causal { // those of the last keys, too
			if !long.Tests() {
				continue
			}
			queries = attentionKeys + 8
		}
		spec := attentionSpec[float64](2, 1, causal)
		spec.New = func(rnd *rand.Rand, n int) revnn.Attention[float64] {
			return revnn.Attention[float64]{
				Y: kerneltest.Matrix[float64](rnd, queries, 2), Q: kerneltest.Matrix[float64](rnd, queries, 4),
				K: kerneltest.Matrix[float64](rnd, n, 4), V: kerneltest.Matrix[float64](rnd, n, 2), Heads: 2, Causal: causal,
			}
		}
		spec.Sizes = []int{attentionKeys + 8}
		t.Run(fmt.Sprintf("causal=%v", causal), func(t *testing.T) { revtest.Kernel(t, spec) })
	}
}

func TestAttention(t *testing.T) {
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, attentionSpec[float32](1, 1, true)) })
	for _, c := range []struct {
		heads, sequences int
		causal           bool
	}{{1, 1, false}, {2, 3, true}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) { revtest.Kernel(t, attentionSpec[float64](c.heads, c.sequences, c.causal)) })
	}
}

// What PyTorch 2 computes in float64 by scaled_dot_product_attention for two sequences and two heads:
// the value, the gradients of the sum of its products with weights, and the products of its Hessian
// with a tangent.
func TestAttentionOfPyTorch(t *testing.T) {
	matrix := func(rows, cols, k int) rev.General[float64] {
		m := rev.General[float64]{Rows: rows, Cols: cols, Stride: cols + 1, Data: make([]float64, rows*(cols+1))}
		for i := range rows {
			for j := range cols {
				m.Row(i)[j] = float64((7*i+3*j*j+k*(i+1)*(j+2))%11-5) / 4
			}
		}
		return m
	}
	zeros := func(rows, cols int) rev.General[float64] {
		return rev.NewGeneral(rows, cols, make([]float64, rows*cols))
	}
	for causal, want := range map[bool][7][]float64{
		false: {
			{0.6946985227500388, -0.2690669402357363, 0.75, -0.9363696067971645, -0.5294244843746103, 0.1022309511951404, -0.5586207245841495, 0.1483504587445201},
			{5.834891009621441e-18, -0.1756486507961675, 0.07358042593906217, -0.07720097193483644, 0, 0.2062394778460763, 0.1240931062737652, -0.1401535501564689, 0, 0, -0.1534719323357815, 0.1690863800015158, 5.834891009621441e-18, 0.1160302832975318, -0.04622263104351977, 0.05003090499341607},
			{-0.07379095699519261, -0.02450765191733492, 0, -0.0003423130849933539, -0.00614263106223456, 0.00204754368741152, 0, 0.06288411560463378, 0.07993358805742719, 0.02246010822992339, 0, -0.06254180251964032, -0.0614336981766278, 0.0614336981766278, 0, 0.04154774294756194, 0.006837113055723825, -0.006837113055723825, 0, -0.1569780984077499, 0.05459658512090396, -0.05459658512090396, 0, 0.115430355460188},
			{-0.02158007173866344, -0.5252966750366377, -0.1238876406477313, -0.2850263262564948, -0.1045322876136051, -0.4396769987068677, 0.3936767038564146, 0.5652605482539347, 0.3298880414554698, 0.2070022858785245, 0.2764352546881156, 0.4777371658675409},
			{0.1286808906489092, -0.1307277155835815, 0.1709886473736966, -0.07385203691500952, -0.1473139127471974, 0.2542636182686036, 0.4890865001986808, -0.1717912801938434, 0, 0, 0.403219900192511, -0.1782572865603097, 0.1262357932186742, 0.1286335803048465, 0.06465102491315887, 0.0003712532073141725},
			{-0.180165310154466, 0.01171557839282062, 0.02142180718517043, -0.1712425447732757, 0.07284706785129498, 0.01143710979229945, -0.04488590046650858, 0.01106832264840686, 0.1073182423031709, -0.02315268818512008, 0.02346409328133817, 0.1601742221248688, -0.2267850549277721, 0.1346345076628304, -0.02746159056395531, -0.1492614552337042, 0.1030814728767767, -0.09282580329319093, 0.1097644238910552, 0.3411887542797343, 0.1237035820509955, -0.04180870436963953, -0.08230283332709985, -0.1919272990460301},
			{-0.1410302310478217, -0.2787886123688376, 0.1405466344755596, -0.03968505634427529, 0.0004835965722622543, 0.3184736687131127, -0.2150179436181973, 0.08547318568774577, 0.02392989569503341, -0.2353387888256467, 0.1910880479231639, 0.1498656031379009},
		},
		true: {
			{0.25, -1, 0.5, -0.737686547330478, -1, 0, -0.772039721674613, 0.3887374728245808},
			{0, 0, 0, 0, 0, 0.1988737822087165, 0.2564795483442016, -0.2198396128664585, 0, 0, 0, 0, 0, 0.04385069717790269, -0.0828600145736156, 0.07102286963452766},
			{-0.110485434560398, 0, 0, -0.1831996773887154, 0.110485434560398, 0, 0, 0.1831996773887154, 0, 0, 0, 0, -0.04385069717790269, 0.04385069717790269, 0, 0.03551143481726383, 0.04385069717790269, -0.04385069717790269, 0, -0.03551143481726383, 0, 0, 0, 0},
			{0.25, -1.040149237864382, -0.5, -0.2098507621356177, 0, 0, 0.544079443349226, 1.172252505435084, 0.455920556650774, 0.07774749456491617, 0, 0},
			{0, 0, 0, 0, -0.1767766952966369, 0.07733980419227872, 0.3744777027651883, -0.404729312033574, 0, 0, 0, 0, -0.065776045766854, 0.04624255662094142, 0.05641715890512105, -0.02130123348647416},
			{0.05524271728019897, 0.04419417382415922, -0.03663993547774307, -0.1418614374800153, -0.05524271728019897, -0.04419417382415922, 0.03663993547774309, 0.1418614374800153, 0, 0, 0, 0, -0.2435706939215035, 0.1777946481546495, 0.02367428987817588, -0.03432490662141297, 0.2435706939215035, -0.1777946481546494, -0.02367428987817589, 0.03432490662141295, 0, 0, 0, 0},
			{-0.6408155204503085, -0.007327987095548575, 0.6408155204503085, 0.007327987095548622, 0, 0, -0.1534774401226594, -0.00473485797563518, 0.1534774401226594, 0.004734857975635176, 0, 0},
		},
	} {
		of := func(y, q, k, v rev.General[float64]) revnn.Attention[float64] {
			return revnn.Attention[float64]{Y: y, Q: q, K: k, V: v, Heads: 2, Sequences: 2, Causal: causal}
		}
		k := of(zeros(4, 2), matrix(4, 4, 1), matrix(6, 4, 2), matrix(6, 2, 3))
		g := of(matrix(4, 2, 4), zeros(4, 4), zeros(6, 4), zeros(6, 2))
		dt := of(zeros(4, 2), matrix(4, 4, 5), matrix(6, 4, 6), matrix(6, 2, 7))
		gt := of(zeros(4, 2), zeros(4, 4), zeros(6, 4), zeros(6, 2))
		k.Tangent(dt)
		y := append([]float64(nil), k.Y.Data...)
		k.AdjointTangent(g, dt, gt)
		for i, got := range [][]float64{y, g.Q.Data, g.K.Data, g.V.Data, gt.Q.Data, gt.K.Data, gt.V.Data} {
			for j, w := range want[i] {
				if !(math.Abs(got[j]-w) <= 2e-15) {
					t.Errorf("causal=%v: element %d of %s is %v, want %v", causal, j, []string{"y", "q̄", "k̄", "v̄", "ġq", "ġk", "ġv"}[i], got[j], w)
				}
			}
		}
	}
}

// Scores that grow from block to block and whose exponentials would overflow: the last key gets
// nearly all weight. By the definition, with big exponents shifted.
func TestAttentionOfLargeScores(t *testing.T) {
	const n, m = 2, 3*attentionKeys + 1
	k := revnn.Attention[float64]{
		Y: rev.NewGeneral(n, 1, make([]float64, n)), Q: rev.NewGeneral(n, 1, []float64{2, -2}),
		K: rev.NewGeneral(m, 1, make([]float64, m)), V: rev.NewGeneral(m, 1, make([]float64, m)), Scale: 1,
	}
	for j := range m {
		k.K.Data[j], k.V.Data[j] = 5*float64(j), float64(j*j%7)-3
	}
	k.Forward()
	for i, q := range k.Q.Data {
		top, sum, want := math.Inf(-1), 0.0, 0.0
		for _, x := range k.K.Data {
			top = max(top, q*x)
		}
		for j, x := range k.K.Data {
			p := math.Exp(q*x - top)
			sum += p
			want += p * k.V.Data[j]
		}
		if want /= sum; !kerneltest.Near(k.Y.Data[i], want, 1e-14) {
			t.Errorf("row %d is %v, want %v", i, k.Y.Data[i], want)
		}
	}
}

// A block of scores of -Inf before one that is finite.
func TestAttentionOfMaskedBlock(t *testing.T) {
	const m = attentionKeys + 1
	k := revnn.Attention[float64]{
		Y: rev.NewGeneral(1, 1, []float64{0}), Q: rev.NewGeneral(1, 1, []float64{1}),
		K: rev.NewGeneral(m, 1, slices.Repeat([]float64{math.Inf(-1)}, m)), V: rev.NewGeneral(m, 1, slices.Repeat([]float64{3}, m)), Scale: 1,
	}
	k.Forward()
	if !math.IsNaN(k.Y.Data[0]) {
		t.Errorf("of no key: %v, want NaN", k.Y.Data[0])
	}
	k.Y.Data[0], k.K.Data[m-1], k.V.Data[m-1] = 0, 0, 7
	k.Forward()
	if k.Y.Data[0] != 7 {
		t.Errorf("of the last key: %v, want 7", k.Y.Data[0])
	}
}

// Fewer keys than queries that see them, against the attention of each query alone.
func TestAttentionOfFewKeys(t *testing.T) {
	rnd := rand.New(rand.NewPCG(91, 9))
	const n, m = attentionQueries + 9, 21
	k := revnn.Attention[float64]{
		Y: rev.NewGeneral(n, 2, make([]float64, 2*n)), Q: kerneltest.Matrix[float64](rnd, n, 3),
		K: kerneltest.Matrix[float64](rnd, m, 3), V: kerneltest.Matrix[float64](rnd, m, 2), Causal: true,
	}
	k.Forward()
	for i := range n {
		seen := min(m, i+1)
		row := func(x rev.General[float64], i, rows int) rev.General[float64] {
			return rev.General[float64]{Rows: rows, Cols: x.Cols, Stride: x.Stride, Data: x.Data[i*x.Stride:]}
		}
		y := rev.NewGeneral(1, 2, make([]float64, 2))
		revnn.Attention[float64]{Y: y, Q: row(k.Q, i, 1), K: row(k.K, 0, seen), V: row(k.V, 0, seen)}.Forward()
		if !kerneltest.Near(k.Y.Row(i)[0], y.Data[0], 1e-14) || !kerneltest.Near(k.Y.Row(i)[1], y.Data[1], 1e-14) {
			t.Fatalf("query %d: %v, want %v", i, k.Y.Row(i), y.Data)
		}
	}
}

func TestAttentionPanics(t *testing.T) {
	for name, k := range map[string]revnn.Attention[float64]{"Heads": {Heads: 2}, "Sequences": {Sequences: 2}, "Heads below 0": {Heads: -1}, "Heads of V": {Heads: 3, Workers: 4}, "Sequences of K": {Sequences: 3, Workers: 4}} {
		x := rev.NewGeneral(3, 3, make([]float64, 9))
		k.Y, k.Q, k.K, k.V = rev.NewGeneral(3, 3, make([]float64, 9)), x, x, x
		if k.Workers == 4 { // of four rows of keys, and columns of values
			k.Y, k.K, k.V = rev.NewGeneral(3, 4, make([]float64, 12)), rev.NewGeneral(4, 3, make([]float64, 12)), rev.NewGeneral(4, 4, make([]float64, 16))
		}
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, mat.ErrShape) {
					t.Errorf("%s panics with %v", name, err)
				}
			}()
			k.Forward()
		}()
	}
}

func BenchmarkAttention(b *testing.B) {
	b.Run("float64", benchmarkAttention[float64])
	b.Run("float32", benchmarkAttention[float32])
}

// benchmarkAttention measures one head of 64 columns and 1024 rows. Its flops are those of products.
func benchmarkAttention[T rev.Float](b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	const rows, depth = 1024, 64
	matrix := func() rev.General[T] { return kerneltest.Matrix[T](rnd, rows, depth) }
	k := revnn.Attention[T]{Y: matrix(), Q: matrix(), K: matrix(), V: matrix(), Workers: 1}
	g := revnn.Attention[T]{Y: matrix(), Q: matrix(), K: matrix(), V: matrix()}
	b.Run("Forward", func(b *testing.B) {
		for b.Loop() {
			k.Forward()
		}
		kerneltest.ReportFlops(b, 4*rows*rows*depth)
	})
	b.Run("Gradient", func(b *testing.B) {
		for b.Loop() {
			_ = rev.Gradient(k, g)
		}
		kerneltest.ReportFlops(b, 14*rows*rows*depth)
	})
}
