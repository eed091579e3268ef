package revnn_test

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// weightsOf draws weights with which a state that changes by little changes later ones by little, as those are with
// which training begins. With others, differences say little of derivatives after some steps.
func weightsOf[T rev.Real](rnd *rand.Rand, rows, cols int) rev.General[T] {
	w := kerneltest.Matrix[T](rnd, rows, cols)
	for i := range w.Data {
		w.Data[i] /= 4
	}
	return w
}

// recurrentInputs is how many columns X has for size n.
func recurrentInputs(n int) int {
	if n == 1 {
		return 0
	}
	return n/3 + 2
}

// lstmSpec draws sequences of n steps and of n/2+1 states. It leaves out what is optional if bare is set.
func lstmSpec[T rev.Real](sequences int, bare bool) revtest.Spec[revnn.LSTM[T]] {
	return revtest.Spec[revnn.LSTM[T]]{New: func(rnd *rand.Rand, n int) revnn.LSTM[T] {
		m := func(rows, cols int) rev.General[T] { return kerneltest.Matrix[T](rnd, rows, cols) }
		h, d, s := n/2+1, recurrentInputs(n), max(1, sequences)
		k := revnn.LSTM[T]{Y: m(n*s, h), C: m(s, h), X: m(n*s, d), WX: weightsOf[T](rnd, 4*h, d), WH: weightsOf[T](rnd, 4*h, h), Sequences: sequences}
		if !bare {
			k.H0, k.C0, k.BX, k.BH = m(s, h), m(s, h), kerneltest.Vector[T](rnd, 4*h), kerneltest.Vector[T](rnd, 4*h)
		}
		return k
	}, Sizes: []int{0, 1, 2, 3, 4}, Magnitudes: [2]float64{1e-3, 4}}
}

func gruSpec[T rev.Real](sequences int, bare bool) revtest.Spec[revnn.GRU[T]] {
	return revtest.Spec[revnn.GRU[T]]{New: func(rnd *rand.Rand, n int) revnn.GRU[T] {
		m := func(rows, cols int) rev.General[T] { return kerneltest.Matrix[T](rnd, rows, cols) }
		h, d, s := n/2+1, recurrentInputs(n), max(1, sequences)
		k := revnn.GRU[T]{Y: m(n*s, h), X: m(n*s, d), WX: weightsOf[T](rnd, 3*h, d), WH: weightsOf[T](rnd, 3*h, h), Sequences: sequences}
		if !bare {
			k.H0, k.BX, k.BH = m(s, h), kerneltest.Vector[T](rnd, 3*h), kerneltest.Vector[T](rnd, 3*h)
		}
		return k
	}, Sizes: []int{0, 1, 2, 3, 4}, Magnitudes: [2]float64{1e-3, 4}}
}

func TestLSTM(t *testing.T) {
	kerneltest.Kernels(t, lstmSpec[float32](2, false), lstmSpec[float64](2, false), lstmSpec[fixed.Q43](2, false))
	for _, c := range []struct {
		sequences int
		bare      bool
	}{{0, true}, {recurrentRows + 1, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) { revtest.Kernel(t, lstmSpec[float64](c.sequences, c.bare)) })
	}
}

func TestGRU(t *testing.T) {
	kerneltest.Kernels(t, gruSpec[float32](2, false), gruSpec[float64](2, false), gruSpec[fixed.Q43](2, false))
	for _, c := range []struct {
		sequences int
		bare      bool
	}{{0, true}, {recurrentRows + 1, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) { revtest.Kernel(t, gruSpec[float64](c.sequences, c.bare)) })
	}
}

// TestRecurrentWithoutSteps has no rows of X, and as many sequences as no matrix could have.
func TestRecurrentWithoutSteps(t *testing.T) {
	none := func(cols int) rev.General[float64] { return rev.NewGeneral[float64](0, cols, nil) }
	revnn.LSTM[float64]{
		Y: none(1), X: none(2), WX: rev.NewGeneral[float64](4, 2, nil), WH: rev.NewGeneral[float64](4, 1, nil), Sequences: 1 << (bits.UintSize - 4),
	}.Forward()
	revnn.GRU[float64]{
		Y: none(1), X: none(2), WX: rev.NewGeneral[float64](3, 2, nil), WH: rev.NewGeneral[float64](3, 1, nil), Sequences: 1 << (bits.UintSize - 4),
	}.Forward()
}

// What PyTorch 2 computes in float64 by LSTM and GRU, for three steps of two sequences: values, gradients of
// the sum of the products of the outputs with weights, and products of its Hessian with a tangent.
func TestRecurrentOfPyTorch(t *testing.T) {
	const steps, n, d, h = 3, 2, 3, 2
	type matrix = rev.General[float64]
	multiples := func(rows, cols, step, mod int, by float64) matrix {
		return rev.NewGeneral(rows, cols, pattern(rows*cols, step, mod, by))
	}
	value := func(i, rows, cols int) matrix { return multiples(rows, cols, 37+2*i, 23, 16) }
	tangent := func(i, rows, cols int) matrix { return multiples(rows, cols, 54+2*i, 23, 16) }
	none := func(_, rows, cols int) matrix { return rev.NewGeneral[float64](rows, cols, nil) }
	weights := func(i, rows, cols int) matrix { return multiples(rows, cols, 29+2*i, 17, 8) }
	check := func(kernel string, want [][]float64, got ...matrix) {
		t.Helper()
		for i, m := range got {
			if !floats.EqualApprox(m.Data, want[i], 2e-15) {
				t.Errorf("%s: operand %d is %v, want %v", kernel, i, m.Data, want[i])
			}
		}
	}
	column := func(v rev.Vector[float64]) matrix { return rev.NewGeneral(v.N, 1, v.Data) }
	vector := func(m matrix) rev.Vector[float64] { return rev.ViewSlice(m.Data) }
	{
		of := func(out, in func(i, rows, cols int) matrix) revnn.LSTM[float64] {
			return revnn.LSTM[float64]{
				Y: out(0, steps*n, h), C: out(1, n, h), X: in(0, steps*n, d), H0: in(1, n, h), C0: in(2, n, h),
				WX: in(3, 4*h, d), WH: in(4, 4*h, h), BX: vector(in(5, 4*h, 1)), BH: vector(in(6, 4*h, 1)), Sequences: n,
			}
		}
		k, dt, g, gt := of(none, value), of(none, tangent), of(weights, none), of(none, none)
		k.Forward()
		check("LSTM", lstmOfPyTorch, k.Y, k.C)
		k.Inverse()
		k.Tangent(dt)
		k.AdjointTangent(g, dt, gt)
		check("gradients of LSTM", lstmOfPyTorch[2:], g.X, gt.X, g.H0, gt.H0, g.C0, gt.C0,
			g.WX, gt.WX, g.WH, gt.WH, column(g.BX), column(gt.BX), column(g.BH), column(gt.BH))
	}
	of := func(out, in func(i, rows, cols int) matrix) revnn.GRU[float64] {
		return revnn.GRU[float64]{
			Y: out(0, steps*n, h), X: in(0, steps*n, d), H0: in(1, n, h),
			WX: in(2, 3*h, d), WH: in(3, 3*h, h), BX: vector(in(4, 3*h, 1)), BH: vector(in(5, 3*h, 1)), Sequences: n,
		}
	}
	k, dt, g, gt := of(none, value), of(none, tangent), of(weights, none), of(none, none)
	k.Forward()
	check("GRU", gruOfPyTorch, k.Y)
	k.Inverse()
	k.Tangent(dt)
	k.AdjointTangent(g, dt, gt)
	check("gradients of GRU", gruOfPyTorch[1:], g.X, gt.X, g.H0, gt.H0,
		g.WX, gt.WX, g.WH, gt.WH, column(g.BX), column(gt.BX), column(g.BH), column(gt.BH))
}

var (
	lstmOfPyTorch = [][]float64{
		{-0.14480968698233096, 0.09820260518579943, -0.002719042498537367, -0.13870761715792695, -0.11575123013259098, -0.0007957551719026646, -0.03180553904522114, -0.08360263813552508, -0.11340213529664903, 0.047467570722445195, -0.06043716251159389, 0.01810608215226746},
		{-0.2201392918400728, 0.09013736169516487, -0.11835572512256116, 0.029181060851332492},
		{-0.04745790464733319, 0.08887878971791069, 0.13082943041277756, 0.021889300222934803, -0.025303833849503132, -0.03476743020532583, -0.03887358621588744, 0.03776381485859189, 0.017059867128803436, -0.10792731510731896, 0.11253573619654547, 0.10897883996882066, -0.1301685789088558, 0.15335158607358176, 0.18914508426287222, -0.04762983496016638, 0.05090260120103288, 0.03202176589765},
		{0.055307485853732845, -0.12096538742406956, -0.1204736692839227, 0.08208226888049033, -0.10334438278034393, -0.08403231867124959, -0.10624679173344412, 0.08634408764101092, 0.06659725209716505, -0.15911971345667264, 0.09450890707031688, -0.005153528173978382, -0.0422548741077147, -0.13129048178478053, -0.07613613533410675, 0.04127373041510712, -0.041420842968512686, -0.14243189176637433},
		{-0.004863083114364656, 0.029849611575051227, 0.00696529969490522, 0.011317233666507795},
		{0.05088464986328656, 0.11814269969135663, -0.01652062412277653, -0.0010508609124544877},
		{-0.09122469192715962, 0.11093753002287468, -0.029373910232903214, -0.09402440229369663},
		{0.06667408255443916, -0.037309566235485585, -0.02084857442762052, 0.04666216520444266},
		{-0.04745073071819509, 0.06097914945864795, -0.012269766626904056, -0.018378026601786758, 0.06372322353317039, -0.046645647920582484, -0.04607133001280627, 0.0336261621621093, -0.020107015877550122, -0.010865026086324937, 0.016205939229981797, -0.02277335222986162, 0.15887843812545294, -0.14016045958310322, 0.061132706514254245, -0.12387843998066525, 0.01611430503568169, 0.06619048050759946, -0.06665869211391183, 0.018230900636541307, -0.05242865628897218, 0.0052465838698456235, 0.01724892503264335, -0.03766857406644908},
		{-0.09548667347520509, 0.018578964161711127, 0.0615947928824834, -0.12903971758713173, 0.07601539125725791, 0.02027404695572438, -0.06073276997144216, 0.03581879006195381, 0.01626273083375473, -0.029132041239962853, 0.004801372849413907, 0.011770635659768332, 0.09914175471813545, 0.08182961976490233, -0.25443113036140474, -0.19154344074936955, -0.11861546103057916, 0.3493039241739785, -0.12642450829818863, 0.02399572811116911, -0.06393284359720178, -0.04413803789465767, -0.0020544748412223007, -0.017536163971479127},
		{-0.030376279415303575, 0.0035304992086027916, -0.01666064199954382, -0.010888537475657998, -0.03498276366287906, 0.015586842003234144, -0.027712742019556154, 0.011216067109414541, 0.1273297334676014, -0.02943475250849631, -0.07924187103046026, 0.025406755762726337, -0.042230788212232875, 0.015338298550640261, -0.013963495514238393, -0.009618930322130494},
		{-0.06173613856029922, 0.011644717560018407, -0.059082634409557064, -0.008540925535547594, -0.05528482755502258, -0.00576886665966485, -0.01890938266128337, 0.0029650521920407836, 0.04369479180551175, -0.0031884480986331017, -0.09188757039610339, 0.04799442202080914, -0.1019552094373897, 0.011744181636376128, -0.0057366390015253284, -0.009400317357949634},
		{0.13179224824168295, 0.05414260215991996, 0.06866322021545729, 0.015996395532906868, -0.3926497248341202, 0.4538502767023642, 0.04635630450757557, 0.014192761699713972},
		{0.09219625940446574, 0.38501490663030813, 0.0905889200823062, 0.02747374528542055, 0.27550282335843956, -0.06941740383105453, 0.06651229054056375, 0.07446666528065608},
		{0.13179224824168295, 0.05414260215991996, 0.06866322021545729, 0.015996395532906868, -0.3926497248341202, 0.4538502767023642, 0.046356304507575566, 0.014192761699713966},
		{0.09219625940446574, 0.38501490663030813, 0.0905889200823062, 0.02747374528542055, 0.27550282335843956, -0.06941740383105457, 0.06651229054056376, 0.07446666528065608},
	}
	gruOfPyTorch = [][]float64{
		{-0.3745224739618891, 0.22130833521598028, -0.0993329924986982, -0.0033022230540059594, 0.1814187756662049, 0.15149679450075623, 0.3078149155980138, 0.03608615493795197, 0.2069842558829569, 0.17873684479016472, 0.2597105458294914, 0.09529332226004235},
		{0.08013318172367816, 0.17173179772481523, -0.24824476920005048, -0.016717909934598738, 0.10214002092455297, -0.11735604449080353, -0.09593889449611571, -0.12441290608349657, 0.2546929845000511, 0.37631212111195883, 0.18485079494876183, -0.45813223589262553, -0.058295729109931235, -0.09149085788380995, 0.15554905119905865, 0.14363234369276487, 0.20637259643395858, -0.360037063108482},
		{0.10011690556806599, 0.01596694863172146, 0.006492059574938133, 0.07514942091584875, -0.12542470089412538, 0.03387221346226586, 0.06675076305312377, 0.06280888061910009, 0.042433647370230004, 0.3459603293882961, -0.3926155422635958, 0.5559316141545231, -0.11700215554404247, 0.12094372544936813, -0.11934163067349732, 0.2892697645469535, -0.3037170204020416, 0.3423874374745975},
		{-0.3346621832864997, 0.303713910283942, -0.368757001605009, -0.07207936712119245},
		{-0.3480700998739726, -0.09684379127903898, 0.11316105324629099, 0.05511516846676581},
		{-0.036869823826311994, 0.006166438022475512, -0.03987285622788808, 0.026986097364112217, 0.03127334928665135, -0.010214846721290652, -0.09779342568446035, -0.0272300460743342, -0.11192986957667336, 0.0017171410918646445, 0.012835498685788984, -0.033840536595490835, 0.30582095022821276, -0.018494230682246093, 0.37264434220904885, -0.2536115032873047, -0.3303321282319813, 0.11876408526439346},
		{-0.11099434846417165, 0.023969959192855342, -0.019239601119951884, 0.025870149224075302, -0.08936788064084804, -0.001384225499878343, -0.1572765528981139, 0.10028112523308516, -0.18354456012376233, -0.13463990703830458, 0.11433579840391815, -0.08894270490677206, 0.33152155416044493, -0.03695493731724339, -0.35505858990255573, -0.6878451642765803, 0.0497343663120504, 0.4025979611994307},
		{-0.02247500907937633, -0.0009137424114395564, 0.020372486713488288, -0.00981545920452041, 0.019019009392405736, -0.04112815186724627, -0.029591476941687848, -0.006033120941344893, 0.03814754647444206, -0.00559425653324502, -0.06935999176854507, 0.028678778314934483},
		{-0.07088796304922929, 0.037870684872716984, -0.05473813450636844, 0.015724265246839484, 0.04718068264709771, 0.05826997949363968, -0.06361753899773578, 0.03765929088664443, 0.08373844191928366, -0.07425140649505499, 0.22333871515737902, -0.017607046286200523},
		{0.06312204244367998, -0.0994668059855845, -0.006373791012333069, 0.018040009806621873, -0.6839178242925728, 1.017729543545094},
		{0.019027744907954797, 0.2017642835918073, 0.10386875523068262, -0.026661470523811598, 0.22093543544181293, 0.3041818521672019},
		{0.06312204244367998, -0.0994668059855845, -0.006373791012333083, 0.018040009806621862, -0.17827404020291865, 0.5847974916388355},
		{0.019027744907954794, 0.2017642835918073, 0.10386875523068262, -0.026661470523811612, 0.05231623858057488, 0.5170101601422838},
	}
)

func TestRecurrentPanics(t *testing.T) {
	for _, sequences := range []int{2, -1} {
		l := lstmSpec[float64](0, true).New(rand.New(rand.NewPCG(1, 1)), 3)
		g := gruSpec[float64](0, true).New(rand.New(rand.NewPCG(1, 1)), 3)
		l.Sequences, g.Sequences, l.C = sequences, sequences, rev.General[float64]{}
		for name, forward := range map[string]func(){"LSTM": l.Forward, "GRU": g.Forward} {
			func() {
				defer func() {
					if err, _ := recover().(error); !errors.Is(err, mat.ErrShape) {
						t.Errorf("%s of %d sequences panics with %v", name, sequences, err)
					}
				}()
				forward()
			}()
		}
	}
}

func BenchmarkRecurrent(b *testing.B) {
	b.Run("float64", benchmarkRecurrent[float64])
	b.Run("float32", benchmarkRecurrent[float32])
}

// Workers that share sequences give the bits of one.
func TestRecurrentWorkers(t *testing.T) {
	t.Run("float64", testRecurrentWorkers[float64])
	t.Run("float32", testRecurrentWorkers[float32])
	t.Run("Q43", testRecurrentWorkers[fixed.Q43])
}

func testRecurrentWorkers[T rev.Real](t *testing.T) {
	const steps, inputs = 3, 5
	for _, c := range [][2]int{{31, 40}, {32, 40}, {47, 24}, {64, 30}} {
		sequences, n := c[0], c[1]
		draw := func(seed uint64, workers int) (revnn.LSTM[T], revnn.GRU[T]) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			m := func(rows, cols int) rev.General[T] { return kerneltest.Matrix[T](rnd, rows, cols) }
			y, x, state := m(steps*sequences, n), m(steps*sequences, inputs), m(sequences, n)
			l := revnn.LSTM[T]{
				Y: y, C: m(sequences, n), X: x, H0: state, C0: m(sequences, n), WX: weightsOf[T](rnd, 4*n, inputs), WH: weightsOf[T](rnd, 4*n, n),
				BX: kerneltest.Vector[T](rnd, 4*n), BH: kerneltest.Vector[T](rnd, 4*n), Sequences: sequences, Workers: workers,
			}
			return l, revnn.GRU[T]{
				Y: m(steps*sequences, n), X: m(steps*sequences, inputs), H0: m(sequences, n), WX: weightsOf[T](rnd, 3*n, inputs), WH: weightsOf[T](rnd, 3*n, n),
				BX: kerneltest.Vector[T](rnd, 3*n), BH: kerneltest.Vector[T](rnd, 3*n), Sequences: sequences, Workers: workers,
			}
		}
		results := func(workers int) (all []any) {
			lstm, gru := draw(1, workers)
			glstm, ggru := draw(2, 0)
			tlstm, tgru := draw(3, 0)
			gtlstm, gtgru := draw(4, 0)
			if err := errors.Join(rev.Gradient(lstm, glstm), rev.Gradient(gru, ggru)); err != nil {
				t.Fatal(err)
			}
			lstm.Tangent(tlstm)
			gru.Tangent(tgru)
			lstm.AdjointTangent(glstm, tlstm, gtlstm)
			gru.AdjointTangent(ggru, tgru, gtgru)
			lstm.Workers, gru.Workers = 0, 0
			return []any{lstm, glstm, tlstm, gtlstm, gru, ggru, tgru, gtgru}
		}
		want := results(1)
		for workers := 2; workers < long.Or(5, 3); workers++ {
			if !reflect.DeepEqual(results(workers), want) {
				t.Errorf("%d sequences: %d workers differ from one", sequences, workers)
			}
		}
	}
}

// benchmarkRecurrent measures 32 steps of as many inputs as states. Its flops are those of products.
func benchmarkRecurrent[T rev.Float](b *testing.B) {
	const steps = 32
	for _, c := range [][2]int{{1, 64}, {32, 64}, {1, 256}, {32, 256}} {
		rnd := rand.New(rand.NewPCG(1, 1))
		batch, h := c[0], c[1]
		m := func(rows, cols int) rev.General[T] {
			return rev.NewGeneral(rows, cols, kerneltest.Normals[T](rnd, rows*cols, 1/float64(h)))
		}
		v := func(n int) rev.Vector[T] { return kerneltest.Vector[T](rnd, n) }
		lstm := func() revnn.LSTM[T] {
			return revnn.LSTM[T]{
				Y: m(steps*batch, h), X: m(steps*batch, h), H0: m(batch, h), C0: m(batch, h), WX: m(4*h, h), WH: m(4*h, h),
				BX: v(4 * h), BH: v(4 * h), Sequences: batch, Workers: 1,
			}
		}
		gru := func() revnn.GRU[T] {
			return revnn.GRU[T]{
				Y: m(steps*batch, h), X: m(steps*batch, h), H0: m(batch, h), WX: m(3*h, h), WH: m(3*h, h),
				BX: v(3 * h), BH: v(3 * h), Sequences: batch, Workers: 1,
			}
		}
		l, lg, g, gg := lstm(), lstm(), gru(), gru()
		for _, r := range []struct {
			name string
			n    int
			run  func()
		}{
			{"LSTM/Forward", 16, l.Forward}, {"LSTM/Gradient", 48, func() { _ = rev.Gradient(l, lg) }},
			{"GRU/Forward", 12, g.Forward}, {"GRU/Gradient", 36, func() { _ = rev.Gradient(g, gg) }},
		} {
			b.Run(fmt.Sprintf("%s/%dx%d", r.name, batch, h), func(b *testing.B) {
				for b.Loop() {
					r.run()
				}
				kerneltest.ReportFlops(b, r.n*steps*batch*h*h)
			})
		}
	}
}
