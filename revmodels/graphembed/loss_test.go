package graphembed

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/rev"
	"revnum/rev/revtest"
)

// randomGraph returns a graph that connects about half of the pairs.
func randomGraph(rnd *rand.Rand, n int) *Graph {
	var edges [][2]int
	for i := range n {
		for j := range i {
			if rnd.IntN(2) == 0 {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	g, err := NewGraph(n, edges)
	if err != nil {
		panic(err)
	}
	return g
}

// spec says how to test the kernel with a margin far from where relu bends.
func spec[T rev.Real](margin float64) revtest.Spec[Loss[T]] {
	magnitudes := [2]float64{1e-3, 8} // exp(z) overflows
	if number.IsFixed[T]() {
		magnitudes = [2]float64{0.125, 1.5} // exp(z) leaves ±2²⁰
	}
	return revtest.Spec[Loss[T]]{
		Magnitudes: magnitudes,
		// The loss of one pair does not depend on anything.
		Sizes: []int{0, 3, 5, 6, 12, 23},
		Large: 400, // several parts
		New: func(rnd *rand.Rand, size int) Loss[T] {
			m, dim := min(size, 2), 1+size%7
			points := func(n int) rev.General[T] {
				x := rev.NewGeneral[T](n, dim, nil)
				for i := range x.Data {
					x.Data[i] = fixed.Of[T](3 * rnd.NormFloat64())
				}
				return x
			}
			return Loss[T]{
				Out: new(T), Fixed: points(m), Free: points(size - m),
				Graph: randomGraph(rnd, size), Margin: margin,
			}
		},
	}
}

func TestConformance(t *testing.T) {
	for name, margin := range map[string]float64{"near": 2, "far": -40} {
		t.Run(name, func(t *testing.T) {
			t.Run("float64", func(t *testing.T) { revtest.Kernel(t, spec[float64](margin)) })
			t.Run("float32", func(t *testing.T) { revtest.Kernel(t, spec[float32](margin)) })
			t.Run("Q43", func(t *testing.T) {
				s := spec[fixed.Q43](margin)
				s.Large = 0 // it has no parts
				revtest.Kernel(t, s)
			})
		})
	}
}

// BenchmarkLoss reports the time of each pair of vertices, whose distance is
// computed again in every method.
func BenchmarkLoss(b *testing.B) {
	const n, dim = 2000, 5
	rnd := rand.New(rand.NewPCG(7, 9))
	graph := randomGraph(rnd, n)
	random := func() Loss[float64] {
		x := rev.NewGeneral[float64](n, dim, nil)
		for i := range x.Data {
			x.Data[i] = rnd.NormFloat64()
		}
		return Loss[float64]{Out: new(1.0), Free: x}
	}
	k, g, t, gt := random(), random(), random(), random()
	k.Graph, k.Margin = graph, 1
	for _, m := range []struct {
		name string
		call func()
	}{
		{"Forward", k.Forward},
		{"Adjoint", func() { k.Adjoint(g) }},
		{"Tangent", func() { k.Tangent(t) }},
		{"AdjointTangent", func() { k.AdjointTangent(g, t, gt) }},
	} {
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				m.call()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*(n-1)/2), "ns/pair")
		})
	}
}

// The second order where two vertices coincide is that over floats: only the square of their
// distance has derivatives.
func TestCoincidentOverFixedPoint(t *testing.T) {
	g, err := NewGraph(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, got := secondOrder[float64](t, g), secondOrder[fixed.Q43](t, g)
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-11) {
			t.Errorf("product with the Hessian %v, want %v", got, want)
		}
	}
}

// secondOrder returns a product with the Hessian of the loss of vertices at 0, 0 and 3.
func secondOrder[T rev.Real](t *testing.T, g *Graph) (product []float64) {
	t.Helper()
	loss := func(out float64, free ...float64) Loss[T] {
		k := Loss[T]{Out: new(T), Free: rev.NewGeneral[T](3, 1, nil), Graph: g}
		*k.Out = fixed.Of[T](out)
		for i, v := range free {
			k.Free.Data[i] = fixed.Of[T](v)
		}
		return k
	}
	k, dir, grad, hess := loss(0, 0, 0, 3), loss(0, 1, 0.5, -0.25), loss(1), loss(0)
	k.Tangent(dir)
	k.AdjointTangent(grad, dir, hess)
	for _, v := range hess.Free.Data {
		product = append(product, fixed.Float(v))
	}
	return product
}
