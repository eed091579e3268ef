package corner

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
)

func layersSpec[T rev.Float]() revtest.Spec[Layers[T]] {
	return revtest.Spec[Layers[T]]{New: func(rnd *rand.Rand, n int) Layers[T] {
		return Layers[T]{
			Out: scalar[T](0), Y: vec[T](rnd, n, 1), H: vec[T](rnd, n, 1), W: matrix[T](rnd, n, n+1, 1), X: vec[T](rnd, n+1, 1), B: vec[T](rnd, n, 1),
		}
	}, Sizes: []int{2, 3, 6}, RoundTrip: 100, Adjoint: 1e4}
}

func productsSpec[T rev.Real]() revtest.Spec[Products[T]] {
	return revtest.Spec[Products[T]]{New: func(rnd *rand.Rand, n int) Products[T] {
		return Products[T]{
			C: matrix[T](rnd, n, n+1, 1), A: matrix[T](rnd, n, 2, 1), B: matrix[T](rnd, 2, n+1, 1), Out: scalar[T](0), X: vec[T](rnd, 3, 1), Times: 3,
		}
	}, Sizes: []int{1, 2, 5}, RoundTrip: 100}
}

func rectifiedSpec[T rev.Real]() revtest.Spec[Rectified[T]] {
	return revtest.Spec[Rectified[T]]{New: func(rnd *rand.Rand, n int) Rectified[T] {
		return Rectified[T]{Y: vec[T](rnd, n, 1), X: kerneltest.Away[T](rnd, n)}
	}}
}

func subtractedSpec[T rev.Real]() revtest.Spec[Subtracted[T]] {
	return revtest.Spec[Subtracted[T]]{New: func(rnd *rand.Rand, n int) Subtracted[T] {
		return Subtracted[T]{C: matrix[T](rnd, n, n+1, 1), A: matrix[T](rnd, n, 2, 1), B: matrix[T](rnd, 2, n+1, 1), Out: scalar[T](0)}
	}, Sizes: []int{1, 2, 5}, RoundTrip: 100}
}

func aroundSpec[T rev.Real]() revtest.Spec[Around[T]] {
	return revtest.Spec[Around[T]]{New: func(rnd *rand.Rand, n int) Around[T] {
		return Around[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, n, 1), V: vec[T](rnd, n, 1)}
	}, Sizes: []int{1, 2, 5}, RoundTrip: 100}
}

func threadedSpec[T rev.Real]() revtest.Spec[Threaded[T]] {
	return revtest.Spec[Threaded[T]]{New: func(rnd *rand.Rand, n int) Threaded[T] {
		return Threaded[T]{
			H: vec[T](rnd, n, 1), W: matrix[T](rnd, n, n+1, 0.3), X: vec[T](rnd, n+1, 1), B: vec[T](rnd, n, 1), C: matrix[T](rnd, n, n+1, 1), A: scalar[T](0.7), Out: scalar[T](0),
		}
	}, Sizes: []int{1, 2, 5}, RoundTrip: 1000, Adjoint: 1e4, Difference: max(1e-5, 20000*float64(eps[T]()))}
}

func TestSubtracted(t *testing.T) {
	all(t, subtractedSpec[float64](), subtractedSpec[float32](), subtractedSpec[fixed.Q43]())
}

func TestAround(t *testing.T) {
	all(t, aroundSpec[float64](), aroundSpec[float32](), aroundSpec[fixed.Q43]())
}

func TestThreaded(t *testing.T) {
	all(t, threadedSpec[float64](), threadedSpec[float32](), threadedSpec[fixed.Q43]())
}

func TestRectified(t *testing.T) {
	all(t, rectifiedSpec[float64](), rectifiedSpec[float32](), rectifiedSpec[fixed.Q43]())
}

func TestLayers(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, layersSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, layersSpec[float32]()) })
}

func TestProducts(t *testing.T) {
	all(t, productsSpec[float64](), productsSpec[float32](), productsSpec[fixed.Q43]())
}

// The functions that call kernels compute the same.
func TestCalls(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	dense := func(m rev.General[float64]) *mat.Dense { return mat.NewDense(m.Rows, m.Cols, m.Data) }
	vector := func(v rev.Vector[float64]) *mat.VecDense { return mat.NewVecDense(v.N, v.Data) }
	{
		k := layersSpec[float64]().New(rnd, 5)
		out := []float64{1}
		k.Out = &out[0]
		same(t, "layers", k.Forward, func() { layers(&out[0], k.Y.Data, vector(k.H), dense(k.W), vector(k.X), vector(k.B)) }, out, k.Y.Data, k.H.Data)
	}
	{
		k := productsSpec[float64]().New(rnd, 5)
		out := []float64{1}
		k.Out = &out[0]
		same(t, "products", k.Forward, func() { products(dense(k.C), dense(k.A), dense(k.B), &out[0], k.X.Data, k.Times) }, out, k.C.Data)
	}
	{
		k := rectifiedSpec[float64]().New(rnd, 5)
		same(t, "rectified", k.Forward, func() { rectified(vector(k.Y), vector(k.X)) }, k.Y.Data)
	}
}

func transposedSpec[T rev.Real]() revtest.Spec[Transposed[T]] {
	return revtest.Spec[Transposed[T]]{New: func(rnd *rand.Rand, n int) Transposed[T] {
		return Transposed[T]{C: matrix[T](rnd, n, n+1, 1), A: matrix[T](rnd, 2, n, 1), B: matrix[T](rnd, 2, n+1, 1)}
	}, Sizes: few, RoundTrip: 100}
}

func TestTransposed(t *testing.T) {
	all(t, transposedSpec[float64](), transposedSpec[float32](), transposedSpec[fixed.Q43]())
}
