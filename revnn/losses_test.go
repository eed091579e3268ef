package revnn_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/byname"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

const manyRows = 150 // of two blocks, with a column more than rows

func TestSquaredError(t *testing.T) {
	kerneltest.Kernels(t,
		revtest.Spec[revnn.SquaredError[float32]]{New: squaredErrorOf[float32], Large: manyRows},
		revtest.Spec[revnn.SquaredError[float64]]{New: squaredErrorOf[float64], Large: manyRows},
		revtest.Spec[revnn.SquaredError[fixed.Q43]]{New: squaredErrorOf[fixed.Q43], Large: manyRows})
}

func squaredErrorOf[T rev.Real](rnd *rand.Rand, n int) revnn.SquaredError[T] {
	return revnn.SquaredError[T]{Out: new(T), X: kerneltest.Matrix[T](rnd, n, n+1), Y: kerneltest.Matrix[T](rnd, n, n+1), Mean: true}
}

func huberSpec[T rev.Real](mean bool) revtest.Spec[revnn.Huber[T]] {
	return revtest.Spec[revnn.Huber[T]]{New: func(rnd *rand.Rand, n int) revnn.Huber[T] {
		k := revnn.Huber[T]{Out: new(T), X: kerneltest.Matrix[T](rnd, n, n+1), Y: kerneltest.Matrix[T](rnd, n, n+1), Delta: 0.75, Mean: mean}
		for i, y := range k.Y.Data { // residuals away from ±Delta
			if r := math.Abs(fixed.Float(k.X.Data[i]-y)) - k.Delta; math.Abs(r) < 0.25 {
				k.Y.Data[i] = k.X.Data[i] + fixed.Of[T](0.125)
			}
		}
		return k
	}, Magnitudes: [2]float64{1, 1}, Large: manyRows}
}

func TestHuber(t *testing.T) {
	kerneltest.Kernels(t, huberSpec[float32](true), huberSpec[float64](false), huberSpec[fixed.Q43](true))
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, mat.ErrShape) {
			t.Errorf("a Delta of -1 panics with %v", err)
		}
	}()
	revnn.Huber[float64]{Out: new(float64), Delta: -1}.Forward()
}

// The second derivative is 1 where |r| <= δ, and 0 elsewhere, also for NaN.
func TestHuberAtDelta(t *testing.T) {
	huberAtDelta(t, math.Nextafter(0.75, 1))
	huberAtDelta(t, math.Nextafter32(0.75, 1))
}

func huberAtDelta[T rev.Float](t *testing.T, above T) {
	const delta = 0.75
	nan, inf := T(math.NaN()), T(math.Inf(1))
	for _, n := range []int{1, 40} { // the latter in whole vectors as well
		for _, c := range []struct{ r, slope, curve T }{
			{delta, delta, 1}, {-delta, -delta, 1}, {above, delta, 0}, {-above, -delta, 0}, {0.5, 0.5, 1}, {0, 0, 1},
			{nan, nan, 0}, {inf, delta, 0}, {-inf, -delta, 0},
		} {
			row := func(v T) rev.General[T] { return rev.NewGeneral(1, n, slices.Repeat([]T{v}, n)) }
			number := func(v T) *T { return &v }
			k := revnn.Huber[T]{Out: number(0), X: row(c.r), Y: row(0), Delta: delta}
			g, gt := revnn.Huber[T]{Out: number(1), X: row(0)}, revnn.Huber[T]{X: row(0)}
			k.AdjointTangent(g, revnn.Huber[T]{Out: number(0), X: row(4)}, gt)
			for i := range n {
				if s := g.X.Data[i]; s != c.slope && !(math.IsNaN(float64(s)) && math.IsNaN(float64(c.slope))) {
					t.Errorf("%T, r = %v: slope %d of %d is %v, want %v", s, c.r, i, n, s, c.slope)
				}
				if s := gt.X.Data[i]; s != 4*c.curve {
					t.Errorf("%T, r = %v: second derivative %d of %d is %v, want %v", s, c.r, i, n, s/4, c.curve)
				}
			}
		}
	}
}

// A δ that fixed point does not have is the largest number.
func TestHuberOfLargeDelta(t *testing.T) {
	for _, delta := range []float64{1 << 20, 1 << 21, math.Inf(1)} {
		var out fixed.Q43
		x, y := rev.NewGeneral(1, 1, []fixed.Q43{fixed.Of[fixed.Q43](30)}), rev.NewGeneral(1, 1, []fixed.Q43{0})
		revnn.Huber[fixed.Q43]{Out: &out, X: x, Y: y, Delta: delta}.Forward()
		if out.Float64() != 450 {
			t.Errorf("δ = %v: loss %v, want 450", delta, out)
		}
	}
}

// Several blocks of elements against kernels of few rows.
func TestLossBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(91, 8))
	k := huberSpec[float64](false).New(rnd, manyRows)
	k.Workers = 3
	var sum float64
	for i := 0; i < manyRows; i += 10 {
		part := k
		part.Out = &sum
		part.X = rev.General[float64]{Rows: 10, Cols: k.X.Cols, Stride: k.X.Stride, Data: k.X.Data[i*k.X.Stride:]}
		part.Y = rev.General[float64]{Rows: 10, Cols: k.Y.Cols, Stride: k.Y.Stride, Data: k.Y.Data[i*k.Y.Stride:]}
		part.Forward()
	}
	*k.Out = 0
	k.Forward()
	if !(math.Abs(*k.Out-sum) <= 1e-12*sum) {
		t.Errorf("the loss is %v, want %v", *k.Out, sum)
	}
}

func TestBinaryCrossEntropy(t *testing.T) {
	kerneltest.Kernels(t, binaryCrossEntropySpec[float32](true), binaryCrossEntropySpec[float64](false), binaryCrossEntropySpec[fixed.Q43](true))
}

func binaryCrossEntropySpec[T rev.Real](mean bool) revtest.Spec[revnn.BinaryCrossEntropy[T]] {
	return revtest.Spec[revnn.BinaryCrossEntropy[T]]{New: func(rnd *rand.Rand, n int) revnn.BinaryCrossEntropy[T] {
		k := revnn.BinaryCrossEntropy[T]{Out: new(T), X: kerneltest.Matrix[T](rnd, n, n+1), P: kerneltest.Matrix[T](rnd, n, n+1), Mean: mean}
		for i := range k.P.Data {
			k.P.Data[i] = fixed.Of[T](rnd.Float64())
		}
		return k
	}, Large: manyRows}
}

// Values, gradients and products with the Hessian that PyTorch 2 computes in float64, by mse_loss,
// huber_loss with a delta of 1.5 and binary_cross_entropy_with_logits.
func TestLossesOfPyTorch(t *testing.T) {
	const sixth = 1. / 6
	for _, c := range []struct {
		name   string
		value  float64
		gx, gy []float64
		hx, hy []float64
		run    func(x, y, gx, gy, tx, ty, hx, hy rev.General[float64], out, gout, hout *float64)
	}{
		{
			"SquaredError", 290.115234375,
			[]float64{sixth / 2, -0.75, 1, -82 * sixth, 2.25, -sixth / 8}, []float64{-sixth / 2, 0.75, -1, 82 * sixth, -2.25, sixth / 8},
			[]float64{sixth, -0.5, 2.5 * sixth, 3.5 * sixth, 2 * sixth, -5 * sixth}, []float64{-sixth, 0.5, -2.5 * sixth, -3.5 * sixth, -2 * sixth, 5 * sixth},
			func(x, y, gx, gy, tx, ty, hx, hy rev.General[float64], out, gout, hout *float64) {
				of := func(out *float64, x, y rev.General[float64]) revnn.SquaredError[float64] {
					return revnn.SquaredError[float64]{Out: out, X: x, Y: y, Mean: true}
				}
				of(out, x, y).Tangent(of(new(float64), tx, ty))
				of(nil, x, y).AdjointTangent(of(gout, gx, gy), of(nil, tx, ty), of(hout, hx, hy))
			},
		}, {
			"Huber", 12.505533854166666,
			[]float64{sixth / 4, -0.25, 0.25, -0.25, 0.25, -sixth / 16}, []float64{-sixth / 4, 0.25, -0.25, 0.25, -0.25, sixth / 16},
			[]float64{sixth / 2, 0, 0, 0, 0, -2.5 * sixth}, []float64{-sixth / 2, 0, 0, 0, 0, 2.5 * sixth},
			func(x, y, gx, gy, tx, ty, hx, hy rev.General[float64], out, gout, hout *float64) {
				of := func(out *float64, x, y rev.General[float64]) revnn.Huber[float64] {
					return revnn.Huber[float64]{Out: out, X: x, Y: y, Delta: 1.5, Mean: true}
				}
				of(out, x, y).Tangent(of(new(float64), tx, ty))
				of(nil, x, y).AdjointTangent(of(gout, gx, gy), of(nil, tx, ty), of(hout, hx, hy))
			},
		}, {
			"BinaryCrossEntropy", 7.989588621822059,
			[]float64{0.0620765552003091, -0.12954997686244854, 0.15876235447040557, -sixth, 0.04157453689384607, 0.08073001404616408},
			[]float64{-sixth / 2, 1.25 * sixth, -0.5, 40 * sixth, -1.25, sixth / 16},
			[]float64{-0.04416604796640092, -0.18109206558270807, 0.168549027488788, -sixth / 4, 0.33324125448788294, -0.47918699848059954},
			[]float64{-sixth, sixth / 2, -sixth / 4, -2 * sixth, sixth, -sixth / 2},
			func(x, y, gx, gy, tx, ty, hx, hy rev.General[float64], out, gout, hout *float64) {
				of := func(out *float64, x, y rev.General[float64]) revnn.BinaryCrossEntropy[float64] {
					return revnn.BinaryCrossEntropy[float64]{Out: out, X: x, P: y, Mean: true}
				}
				of(out, x, y).Tangent(of(new(float64), tx, ty))
				of(nil, x, y).AdjointTangent(of(gout, gx, gy), of(nil, tx, ty), of(hout, hx, hy))
			},
		},
	} {
		matrix := func(v ...float64) rev.General[float64] { // with a gap between its rows
			m := rev.General[float64]{Rows: 2, Cols: 3, Stride: 4, Data: make([]float64, 8)}
			copy(m.Row(0), v)
			copy(m.Row(1), v[3:])
			return m
		}
		zero := make([]float64, 6)
		gx, gy, hx, hy := matrix(zero...), matrix(zero...), matrix(zero...), matrix(zero...)
		var out, hout float64
		gout := 1.0
		c.run(matrix(0.5, -1.25, 3, -40, 7.5, -0.0625), matrix(0.25, 1, 0, 1, 0.75, 0), gx, gy,
			matrix(1, -0.5, 0.25, 2, -1, 0.5), matrix(0.5, 1, -1, 0.25, -2, 3), hx, hy, &out, &gout, &hout)
		if !kerneltest.Near(out, c.value, 1e-15) {
			t.Errorf("%s is %v, want %v", c.name, out, c.value)
		}
		for i, m := range []rev.General[float64]{gx, gy, hx, hy} {
			for j, want := range [][]float64{c.gx, c.gy, c.hx, c.hy}[i] {
				if got := m.Row(j / 3)[j%3]; !(math.Abs(got-want) <= 1e-15*(1+math.Abs(want))) {
					t.Errorf("%s: element %d of %s is %v, want %v", c.name, j, []string{"x̄", "ȳ", "ġx", "ġy"}[i], got, want)
				}
			}
		}
	}
}

// Logits far out, where 1 - σ(x) would lose all digits, and where log(1 + exp(x)) - x would.
func TestBinaryCrossEntropyFar(t *testing.T) {
	for _, c := range []struct{ x, p, value, slope float64 }{
		{40, 1, 4.248354255291589e-18, -4.248354255291589e-18}, // exp(-40)
		{-40, 0, 4.248354255291589e-18, 4.248354255291589e-18},
		{1e300, 0, 1e300, 1}, {-1e300, 1, 1e300, -1}, {1e300, 1, 0, 0},
	} {
		out, one := 0.0, 1.0
		k := revnn.BinaryCrossEntropy[float64]{Out: &out, X: rev.NewGeneral(1, 1, []float64{c.x}), P: rev.NewGeneral(1, 1, []float64{c.p})}
		k.Forward()
		if !kerneltest.Near(out, c.value, 1e-15) {
			t.Errorf("of %v and %v: %v, want %v", c.x, c.p, out, c.value)
		}
		g := revnn.BinaryCrossEntropy[float64]{Out: &one, X: rev.NewGeneral(1, 1, []float64{0})}
		k.Adjoint(g)
		if got := g.X.Data[0]; !kerneltest.Near(got, c.slope, 1e-15) {
			t.Errorf("slope at %v and %v: %v, want %v", c.x, c.p, got, c.slope)
		}
	}
}

const benchmarkOrder = 256

// benchmarkPasses measures a kernel of matrices of this order. The bytes are those of an element.
func benchmarkPasses[K rev.Kernel[K]](b *testing.B, name string, k, g K, forward, gradient int) {
	for _, pass := range []struct {
		name  string
		bytes int
	}{{"Forward", forward}, {"Gradient", gradient}} {
		b.Run(name+"/"+pass.name, func(b *testing.B) {
			for b.Loop() {
				if err := byname.Run(pass.name, &k, &g, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
			kerneltest.ReportBytes(b, pass.bytes*benchmarkOrder*benchmarkOrder)
		})
	}
}

func BenchmarkLosses(b *testing.B) {
	rnd := rand.New(rand.NewPCG(91, 10))
	matrix := func() rev.General[float64] { return kerneltest.Matrix[float64](rnd, benchmarkOrder, benchmarkOrder) }
	x, y, gx, gy := matrix(), matrix(), matrix(), matrix()
	out, one := new(float64), 1.0
	benchmarkPasses(b, "SquaredError", revnn.SquaredError[float64]{Out: out, X: x, Y: y, Workers: 1}, revnn.SquaredError[float64]{Out: &one, X: gx, Y: gy}, 16, 48)
	benchmarkPasses(b, "Huber", revnn.Huber[float64]{Out: out, X: x, Y: y, Workers: 1}, revnn.Huber[float64]{Out: &one, X: gx, Y: gy}, 16, 48)
	benchmarkPasses(b, "BinaryCrossEntropy", revnn.BinaryCrossEntropy[float64]{Out: out, X: x, P: y, Workers: 1}, revnn.BinaryCrossEntropy[float64]{Out: &one, X: gx, P: gy}, 16, 48)
}
