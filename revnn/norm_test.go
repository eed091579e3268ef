package revnn_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

func layerNormSpec[T rev.Real]() revtest.Spec[revnn.LayerNorm[T]] {
	return revtest.Spec[revnn.LayerNorm[T]]{New: func(rnd *rand.Rand, n int) revnn.LayerNorm[T] {
		k := revnn.LayerNorm[T]{
			Y: kerneltest.Matrix[T](rnd, n, n+3), X: kerneltest.Matrix[T](rnd, n, n+3),
			Gain: kerneltest.Vector[T](rnd, n+3), Bias: kerneltest.Vector[T](rnd, n+3), Epsilon: 0.0625,
		}
		if n%4 == 1 {
			k.Gain = rev.Vector[T]{}
		}
		if n%3 == 0 {
			k.Bias = rev.Vector[T]{}
		}
		return k
	}, RoundTrip: 4, Large: 130}
}

func TestLayerNorm(t *testing.T) {
	kerneltest.Kernels(t, layerNormSpec[float32](), layerNormSpec[float64](), layerNormSpec[fixed.Q43]())
}

func rmsNormSpec[T rev.Real]() revtest.Spec[revnn.RMSNorm[T]] {
	return revtest.Spec[revnn.RMSNorm[T]]{New: func(rnd *rand.Rand, n int) revnn.RMSNorm[T] {
		k := revnn.RMSNorm[T]{
			Y: kerneltest.Matrix[T](rnd, n, n+3), X: kerneltest.Matrix[T](rnd, n, n+3),
			Gain: kerneltest.Vector[T](rnd, n+3), Epsilon: 0.0625,
		}
		if n%4 == 1 {
			k.Gain = rev.Vector[T]{}
		}
		return k
	}, Large: 130}
}

func TestRMSNorm(t *testing.T) {
	kerneltest.Kernels(t, rmsNormSpec[float32](), rmsNormSpec[float64](), rmsNormSpec[fixed.Q43]())
}

// What PyTorch 2 computes in float64 by layer_norm and rms_norm with an eps of 1e-5: the value, the
// gradients of the sum of its products with weights, and the products of its Hessian with a tangent.
func TestNormsOfPyTorch(t *testing.T) {
	x := []float64{0.5, -1.25, 3, 0.25, 4, 7.5, -0.0625, 1, -2, 0.75, 1.5, -0.5}
	weights := []float64{1, -0.5, 0.25, 2, -1, 0.5, 0.75, 0.25, 0.5, 1, -1.5, -2}
	tx := []float64{0.5, 1, -1, 0.25, -2, 3, 0.5, 1, 0.75, -0.5, 0.25, 1}
	gain, bias := []float64{1, -0.5, 2, 0.25}, []float64{0.5, 0, -1, 3}
	tgain, tbias := []float64{1, 0.5, -0.5, 0.25}, []float64{0.25, -0.25, 1, 0.5}
	matrix := func(v []float64) rev.General[float64] { return rev.NewGeneral(3, 4, append([]float64(nil), v...)) }
	zeros := func() rev.General[float64] { return matrix(make([]float64, 12)) }
	vector := func(v []float64) rev.Vector[float64] { // with gaps
		x := rev.Vector[float64]{N: 4, Inc: 3, Data: make([]float64, 10)}
		for i, v := range v {
			x.Data[3*i] = v
		}
		return x
	}
	check := func(name string, got []float64, inc int, want ...float64) {
		t.Helper()
		for i, w := range want {
			if g := got[i*inc]; !(math.Abs(g-w) <= 4e-15*(1+math.Abs(w))) {
				t.Errorf("%s: element %d is %v, want %v", name, i, g, w)
			}
		}
	}
	{
		k := revnn.LayerNorm[float64]{Y: zeros(), X: matrix(x), Gain: vector(gain), Bias: vector(bias)}
		g := revnn.LayerNorm[float64]{Y: matrix(weights), X: zeros(), Gain: vector(nil), Bias: vector(nil)}
		dt := revnn.LayerNorm[float64]{Y: zeros(), X: matrix(tx), Gain: vector(tgain), Bias: vector(tbias)}
		gt := revnn.LayerNorm[float64]{Y: zeros(), X: zeros(), Gain: vector(nil), Bias: vector(nil)}
		k.Tangent(dt)
		check("layer: y", k.Y.Data, 1, 0.4180769838899551, 0.6144226208253372, 2.113074612181709, 2.938557737917466, 0.802904349000928, -0.7466326497303577, -3.157529222708365, 2.820648740723135, -0.9597288460735762, -0.306072177402524, 1.3544013646348, 2.917595952237782)
		k.AdjointTangent(g, dt, gt)
		check("layer: x̄", g.X.Data, 1, 0.290304363885013, -0.1512004277772776, -0.10886385055228, -0.03024008555545554, -0.306428200829718, 0.1854033315898091, 0.2690256551592741, -0.1480007859193652, -0.1745633763934522, 0.7901571862989483, -0.6247832692155637, 0.009189459310067982)
		check("layer: γ̄", g.Gain.Data, 3, -1.114691788147761, 1.973199625360743, -2.185740155469023, -0.01165697383939091)
		check("layer: β̄", g.Bias.Data, 3, 0.5, 1, -0.5, 0.25)
		check("layer: ġx", gt.X.Data, 1, 0.6012134711651911, -0.4169564857841857, -0.3167245761101696, 0.1324675907291643, -0.4133848864310037, 0.02734270918081605, 0.08766903536827877, 0.2983731418819088, -0.01261419090433064, -0.04869105959990677, 0.3574681111966985, -0.2961628606924613)
		check("layer: ġγ", gt.Gain.Data, 3, 1.07005092356809, -0.2314517726090245, -0.1986893368731457, -0.8422863925876691)
	}
	k := revnn.RMSNorm[float64]{Y: zeros(), X: matrix(x), Gain: vector(gain)}
	g := revnn.RMSNorm[float64]{Y: matrix(weights), X: zeros(), Gain: vector(nil)}
	dt := revnn.RMSNorm[float64]{Y: zeros(), X: matrix(tx), Gain: vector(tgain)}
	gt := revnn.RMSNorm[float64]{Y: zeros(), X: zeros(), Gain: vector(nil)}
	k.Tangent(dt)
	check("rms: y", k.Y.Data, 1, 0.3032386597517804, 0.3790483246897255, 3.638863917021364, 0.03790483246897255, 0.9347048028657969, -0.8762857526866846, -0.02920952508955615, 0.05841905017911231, -1.505149127050581, -0.2822154613219841, 2.257723690575872, -0.09407182044066134)
	k.AdjointTangent(g, dt, gt)
	check("rms: x̄", g.X.Data, 1, 0.5559377287710116, 0.2779683067072632, 1.115356485115182e-06, 0.2779688643855058, -0.1583137045707059, 0.08288563009415642, 0.3493367620723966, 0.0334453865812139, -0.8224972687899207, 0.07325692469456691, -1.358635277661448, -0.6759834194007869)
	check("rms: γ̄", g.Gain.Data, 3, -1.384040706639307, 1.819765000020378, -1.249388350212817, 1.114232273456183)
	check("rms: ġx", gt.X.Data, 1, 0.6944861190757587, 0.004791484925705275, -0.3511620857014872, 0.3472430595378794, -0.2700540275521066, 0.03720003838169889, -0.1514743588132174, 0.01835108828926792, -0.05940089261037962, 0.3419541452384781, 0.8187704868278526, -0.1314013850886512)
	check("rms: ġγ", gt.Gain.Data, 3, 1.146860139176283, -0.2169744135745798, -0.6587176571022552, -0.832917382563928)
}

// A row of equal numbers, and an ε of 0.
func TestNormsOfConstants(t *testing.T) {
	y := rev.NewGeneral(1, 3, make([]float64, 3))
	revnn.LayerNorm[float64]{Y: y, X: rev.NewGeneral(1, 3, []float64{7, 7, 7})}.Forward()
	if y.Data[0] != 0 || y.Data[1] != 0 || y.Data[2] != 0 {
		t.Errorf("of a constant: %v, want zeros", y.Data)
	}
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, mat.ErrShape) {
			t.Errorf("an Epsilon of NaN panics with %v", err)
		}
	}()
	revnn.RMSNorm[float64]{Y: y, X: rev.NewGeneral(1, 3, make([]float64, 3)), Epsilon: math.NaN()}.Forward()
}

// Rows whose sums, and sums of squares, are beyond the range of fixed point.
func TestNormsOfLongRows(t *testing.T) {
	const c = 4096
	x, y := rev.NewGeneral(1, c, make([]fixed.Q43, c)), rev.NewGeneral(1, c, make([]fixed.Q43, c))
	for i := range x.Data {
		x.Data[i] = fixed.Of[fixed.Q43](1000)
	}
	revnn.RMSNorm[fixed.Q43]{Y: y, X: x}.Forward()
	if u := y.Data[c-1].Float64(); !(math.Abs(u-1) < 1e-9) {
		t.Errorf("RMSNorm of a constant is %v, want 1", u)
	}
	clear(y.Data)
	for i := range x.Data {
		x.Data[i] += fixed.Of[fixed.Q43](float64(i%2*2 - 1))
	}
	revnn.LayerNorm[fixed.Q43]{Y: y, X: x}.Forward()
	if u, want := y.Data[c-1].Float64(), 1/math.Sqrt(1+1e-5); !(math.Abs(u-want) < 1e-9) {
		t.Errorf("LayerNorm of 999 and 1001 is %v, want %v", u, want)
	}
}

// Several blocks of rows against kernels of few rows.
func TestNormBlocks(t *testing.T) {
	const rows, few = 150, 10
	c := normBlock/64 + 3
	rnd := rand.New(rand.NewPCG(91, 7))
	kernel := func() revnn.LayerNorm[float64] {
		return revnn.LayerNorm[float64]{
			Y: kerneltest.Matrix[float64](rnd, rows, c), X: kerneltest.Matrix[float64](rnd, rows, c),
			Gain: kerneltest.Vector[float64](rnd, c), Bias: kerneltest.Vector[float64](rnd, c),
		}
	}
	clone := func(k revnn.LayerNorm[float64], from, n int) revnn.LayerNorm[float64] {
		part := func(m rev.General[float64]) rev.General[float64] {
			return rev.NewGeneral(n, c, slices.Clone(m.Data[from*c:][:n*c]))
		}
		k.Y, k.X, k.Gain.Data, k.Bias.Data = part(k.Y), part(k.X), slices.Clone(k.Gain.Data), slices.Clone(k.Bias.Data)
		return k
	}
	k, g, dt, gt := kernel(), kernel(), kernel(), kernel()
	for _, v := range [][]float64{g.Gain.Data, g.Bias.Data, gt.Gain.Data, gt.Bias.Data} {
		clear(v)
	}
	sums := make([][]float64, 4)
	for i := range sums {
		sums[i] = make([]float64, c)
	}
	k0, g0, t0, gt0 := clone(k, 0, rows), clone(g, 0, rows), clone(dt, 0, rows), clone(gt, 0, rows)
	k.AdjointTangent(g, dt, gt)
	for i := 0; i < rows; i += few {
		pk, pg, pt, pgt := clone(k0, i, few), clone(g0, i, few), clone(t0, i, few), clone(gt0, i, few)
		pk.AdjointTangent(pg, pt, pgt)
		for j, v := range [][]float64{pg.Gain.Data, pg.Bias.Data, pgt.Gain.Data, pgt.Bias.Data} {
			floats.Add(sums[j], v)
		}
		if !slices.Equal(pgt.X.Data, gt.X.Data[i*c:][:few*c]) || !slices.Equal(pk.Y.Data, k.Y.Data[i*c:][:few*c]) {
			t.Fatalf("rows from %d on differ", i)
		}
	}
	for j, v := range [][]float64{g.Gain.Data, g.Bias.Data, gt.Gain.Data, gt.Bias.Data} {
		if !floats.EqualApprox(v, sums[j], 1e-11) {
			t.Errorf("sum %d over several blocks is another", j)
		}
	}
}

func BenchmarkNorms(b *testing.B) {
	rnd := rand.New(rand.NewPCG(91, 11))
	matrix := func() rev.General[float64] { return kerneltest.Matrix[float64](rnd, benchmarkOrder, benchmarkOrder) }
	vector := func() rev.Vector[float64] { return kerneltest.Vector[float64](rnd, benchmarkOrder) }
	benchmarkPasses(b, "RMSNorm", revnn.RMSNorm[float64]{Y: matrix(), X: matrix(), Gain: vector(), Workers: 1}, revnn.RMSNorm[float64]{Y: matrix(), X: matrix(), Gain: vector()}, 24, 48)
	benchmarkPasses(b, "LayerNorm", revnn.LayerNorm[float64]{Y: matrix(), X: matrix(), Gain: vector(), Bias: vector(), Workers: 1},
		revnn.LayerNorm[float64]{Y: matrix(), X: matrix(), Gain: vector(), Bias: vector()}, 24, 48)
}

// Over float32, gradients of very large and very small rows are those over float64.
func TestNormScales(t *testing.T) {
	rnd := rand.New(rand.NewPCG(91, 30))
	const n = 8
	for _, scale := range []float64{1e-18, 1e-12, 1, 1e12, 1e17, 1e18} {
		for _, by := range []float64{1e-10, 1, 1e10} {
			x, y := kerneltest.Normals[float64](rnd, n, scale), kerneltest.Normals[float64](rnd, n, by)
			got, want := make([]float32, n), make([]float64, n)
			x32, y32 := make([]float32, n), make([]float32, n)
			for i := range n {
				x32[i], y32[i] = float32(x[i]), float32(y[i])
				x[i], y[i] = float64(x32[i]), float64(y32[i])
			}
			const epsilon = 1e-30
			k32 := revnn.LayerNorm[float32]{X: rev.NewGeneral(1, n, x32), Epsilon: epsilon}
			k := revnn.LayerNorm[float64]{X: rev.NewGeneral(1, n, x), Epsilon: epsilon}
			k32.Adjoint(revnn.LayerNorm[float32]{Y: rev.NewGeneral(1, n, y32), X: rev.NewGeneral(1, n, got)})
			k.Adjoint(revnn.LayerNorm[float64]{Y: rev.NewGeneral(1, n, y), X: rev.NewGeneral(1, n, want)})
			most := 0.0
			for _, v := range want {
				most = max(most, math.Abs(v))
			}
			for i, v := range want {
				if !(math.Abs(float64(got[i])-v) <= 1e-5*most+0x1p-148) {
					t.Errorf("x about %g, cotangents about %g: gradient %v, want %v", scale, by, got, want)
					break
				}
			}
		}
	}
}
