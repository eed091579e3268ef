package corner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

// manyParts are sizes with one part and with several.
var manyParts = []int{0, 1, 2, 3, 300}

func curveSpec[T rev.Real]() revtest.Spec[Curve[T]] {
	return revtest.Spec[Curve[T]]{New: func(rnd *rand.Rand, n int) Curve[T] {
		t := vec[T](rnd, n, 1)
		return Curve[T]{Loss: scalar[T](0), P: vec[T](rnd, 4, 0.5), T: t, Y: vec[T](rnd, n, 1)}
	}, Sizes: manyParts, Large: 1000, Adjoint: 30000, RoundTrip: 100}
}

func layerSpec[T rev.Real]() revtest.Spec[Layer[T]] {
	return revtest.Spec[Layer[T]]{New: func(rnd *rand.Rand, n int) Layer[T] {
		m := 1 + n/3
		return Layer[T]{Y: vec[T](rnd, n, 1), Z: vec[T](rnd, m, 1), W: rev.NewGeneral(n, m, vec[T](rnd, n*m, 0.1).Data), X: vec[T](rnd, m, 0.5), Scale: scalar[T](0.7)}
	}, Sizes: []int{0, 1, 2, 3, 5, 100}, Adjoint: 10000, RoundTrip: 1000}
}

func histogramSpec[T rev.Real]() revtest.Spec[Histogram[T]] {
	return revtest.Spec[Histogram[T]]{New: func(rnd *rand.Rand, n int) Histogram[T] {
		k := Histogram[T]{H: vec[T](rnd, 5, 1), Table: rev.NewGeneral(3, 2, vec[T](rnd, 6, 1).Data), X: vec[T](rnd, n, 1)}
		for range n {
			k.Bin, k.From = append(k.Bin, rnd.IntN(5)), append(k.From, rnd.IntN(3))
		}
		return k
	}, Sizes: []int{0, 1, 2, 3, 5, 3000}, Adjoint: 30000, RoundTrip: 3000, Skip: map[revtest.Property]string{revtest.NaN: "a row of the table that no iteration reads"}}
}

func driftSpec[T rev.Real]() revtest.Spec[Drift[T]] {
	return revtest.Spec[Drift[T]]{New: func(rnd *rand.Rand, n int) Drift[T] {
		return Drift[T]{X: vec[T](rnd, n, 1), V: vec[T](rnd, n, 1), Pairs: vec[T](rnd, 2*n, 1), K: scalar[T](1.5), H: 0.125, Steps: 3}
	}, Sizes: []int{0, 1, 2, 3, 600}, RoundTrip: 100, Adjoint: 10000}
}

func flatSpec[T rev.Real]() revtest.Spec[Flat[T]] {
	return revtest.Spec[Flat[T]]{New: func(rnd *rand.Rand, n int) Flat[T] {
		const m = 3
		return Flat[T]{Y: vec[T](rnd, n*m, 1), X: vec[T](rnd, n*m, 1), U: vec[T](rnd, n, 1), N: n, M: m}
	}, Sizes: []int{0, 1, 2, 3, 100}, Adjoint: 30000, RoundTrip: 100}
}

func TestWorkers(t *testing.T) {
	t.Run("Curve", func(t *testing.T) { all(t, curveSpec[float64](), curveSpec[float32](), curveSpec[fixed.Q43]()) })
	t.Run("Layer", func(t *testing.T) { all(t, layerSpec[float64](), layerSpec[float32](), layerSpec[fixed.Q43]()) })
	t.Run("Histogram", func(t *testing.T) {
		all(t, histogramSpec[float64](), histogramSpec[float32](), histogramSpec[fixed.Q43]())
	})
	t.Run("Drift", func(t *testing.T) { all(t, driftSpec[float64](), driftSpec[float32](), driftSpec[fixed.Q43]()) })
	t.Run("Flat", func(t *testing.T) { all(t, flatSpec[float64](), flatSpec[float32](), flatSpec[fixed.Q43]()) })
}

// The kernels compute what the functions do, up to the rounding of sums that are added
// part by part. Over fixed point nothing depends on the parts.
func TestWorkersValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	near := func(name string, got, want []float64) {
		t.Helper()
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= 1e-12*(1+math.Abs(v))) {
				t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], v)
			}
		}
	}
	{
		k, loss := curveSpec[float64]().New(rnd, 1000), 0.0
		k.Forward()
		curve(&loss, k.P.Data, k.T.Data, k.Y.Data)
		near("curve", []float64{*k.Loss}, []float64{loss})
	}
	{
		k := layerSpec[float64]().New(rnd, 100)
		y, z, rows := slices.Clone(k.Y.Data), slices.Clone(k.Z.Data), make([][]float64, k.W.Rows)
		for i := range rows {
			rows[i] = k.W.Row(i)
		}
		k.Forward()
		layer(y, z, rows, k.X.Data, *k.Scale)
		near("layer", slices.Concat(k.Y.Data, k.Z.Data), slices.Concat(y, z))
	}
	{
		k := histogramSpec[float64]().New(rnd, 3000)
		h, rows := slices.Clone(k.H.Data), [][]float64{k.Table.Row(0), k.Table.Row(1), k.Table.Row(2)}
		k.Forward()
		histogram(h, rows, k.Bin, k.From, k.X.Data)
		near("histogram", k.H.Data, h)
	}
	{
		k := driftSpec[float64]().New(rnd, 600)
		x, v, pairs := slices.Clone(k.X.Data), slices.Clone(k.V.Data), slices.Clone(k.Pairs.Data)
		k.Forward()
		drift(x, v, pairs, k.K, k.H, k.Steps)
		near("drift", slices.Concat(k.X.Data, k.V.Data, k.Pairs.Data), slices.Concat(x, v, pairs))
	}
	{
		k := flatSpec[float64]().New(rnd, 300)
		y := slices.Clone(k.Y.Data)
		k.Forward()
		flat(y, k.X.Data, k.U.Data, k.N, k.M)
		near("flat", k.Y.Data, y)
	}
}

func BenchmarkWorkers(b *testing.B) {
	k := curveSpec[float64]().New(rand.New(rand.NewPCG(1, 1)), 100000)
	g := Curve[float64]{Loss: scalar[float64](1), P: rev.ViewSlice(make([]float64, 4)), Y: rev.ViewSlice(make([]float64, 100000))}
	for _, k.Workers = range []int{1, 2} {
		b.Run(map[int]string{1: "1", 2: "2"}[k.Workers], func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
		})
	}
}
