package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revmodels/graphembed"
)

// hostGraphLoss is graphembed.Loss, whose passes run on the device.
type hostGraphLoss[T rev.Real] struct {
	Out    *T             `rev:"acc"`
	Fixed  rev.General[T] `rev:"in,optional" shape:"m,k"`
	Free   rev.General[T] `rev:"in" shape:"r,k"`
	Graph  *graphembed.Graph
	Margin float64
}

func (k hostGraphLoss[T]) Run(p rev.Pass[hostGraphLoss[T]]) error {
	return through[hostGraphLoss[T], GraphLoss[T]](testDevice, k, p)
}

func graphOnCPU[T rev.Real](k hostGraphLoss[T]) graphembed.Loss[T] {
	return graphembed.Loss[T]{Out: k.Out, Fixed: k.Fixed, Free: k.Free, Graph: k.Graph, Margin: k.Margin}
}

// randomGraph returns a graph that connects about one pair in so many.
func randomGraph(rnd *rand.Rand, n, every int) *graphembed.Graph {
	var edges [][2]int
	for i := range n {
		for j := range i {
			if rnd.IntN(every) == 0 {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	g, err := graphembed.NewGraph(n, edges)
	if err != nil {
		panic(err)
	}
	return g
}

// embedding returns n vertices in dim dimensions. The first m are fixed.
func embedding[T rev.Real](rnd *rand.Rand, g *graphembed.Graph, m, dim int, margin float64) hostGraphLoss[T] {
	points := func(n int) rev.General[T] {
		x := rev.NewGeneral[T](n, dim, nil)
		for i := range x.Data {
			x.Data[i] = fixed.Of[T](3 * rnd.NormFloat64())
		}
		return x
	}
	k := hostGraphLoss[T]{Out: new(T), Fixed: points(m), Free: points(g.Order() - m), Graph: g, Margin: margin}
	*k.Out = fixed.Of[T](rnd.NormFloat64())
	return k
}

func TestGraphLoss(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", graphLossOf[float64])
	t.Run("float32", graphLossOf[float32])
	t.Run("Q43", graphLossOf[fixed.Q43])
}

func graphLossOf[T rev.Real](t *testing.T) {
	sizes := []int{0, 3, 5} // the tests below have large graphs
	if long.Tests() {
		sizes = append(sizes, 12)
	}
	margins := map[string]float64{"near": 2}
	if long.Tests() {
		margins["far"] = -40
	}
	for name, margin := range margins {
		t.Run(name, func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[hostGraphLoss[T]]{
				// The exponential overflows.
				Magnitudes: [2]float64{0.125, 1.5},
				Sizes:      sizes, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostGraphLoss[T] {
					return embedding[T](rnd, randomGraph(rnd, n, 2), min(n, 2), 1+n%7, margin)
				}})
		})
	}
}

// graphCases are a graph with blocks of vertices and parts, one in more dimensions than a group of
// coordinates has, without an edge, with all edges, and with vertices that coincide.
var graphCases = []struct {
	n, every, fixed, dim int
	margin               float64
}{{140, 9, 3, 3, 0.1}, {35, 2, 0, 19, 2}, {7, 1 << 30, 1, 2, 1}, {7, 1, 1, 8, 1}, {2, 1, 0, 1, 0}, {1, 1, 0, 4, 0}}

// TestGraphLossFixedBits compares the passes of the device with those of the CPU, bit for bit.
func TestGraphLossFixedBits(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for _, c := range graphCases {
		g := randomGraph(rand.New(rand.NewPCG(31, 32)), c.n, c.every)
		same(t, func(rnd *rand.Rand) hostGraphLoss[fixed.Q43] {
			k := embedding[fixed.Q43](rnd, g, c.fixed, c.dim, c.margin)
			if c.n > 5 { // vertices that coincide
				copy(k.Free.Row(2), k.Free.Row(1))
			}
			return k
		}, graphOnCPU[fixed.Q43])
	}
}

func TestGraphLossValues(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", func(t *testing.T) { graphValuesOf[float64](t, 1e-13) })
	t.Run("float32", func(t *testing.T) { graphValuesOf[float32](t, 1e-5) })
}

// graphValuesOf compares with the CPU, relative to the largest element.
func graphValuesOf[T rev.Float](t *testing.T, tol float64) {
	for _, c := range graphCases {
		g := randomGraph(rand.New(rand.NewPCG(31, 32)), c.n, c.every)
		operands := func() (x [4]hostGraphLoss[T]) {
			rnd := rand.New(rand.NewPCG(33, 34))
			for i := range x {
				x[i] = embedding[T](rnd, g, c.fixed, c.dim, c.margin)
			}
			return x
		}
		d, h := operands(), operands()
		if err := errors.Join(rev.Tangent(d[0], d[2]), rev.AdjointTangent(d[0], d[1], d[2], d[3]), rev.Forward(d[0])); err != nil {
			t.Fatal(err)
		}
		k := graphOnCPU(h[0])
		k.Tangent(graphOnCPU(h[2]))
		k.AdjointTangent(graphOnCPU(h[1]), graphOnCPU(h[2]), graphOnCPU(h[3]))
		k.Forward()
		for i := range d {
			for name, pair := range map[string][2][]T{"Out": {{*d[i].Out}, {*h[i].Out}}, "Fixed": {d[i].Fixed.Data, h[i].Fixed.Data}, "Free": {d[i].Free.Data, h[i].Free.Data}} {
				size := 1.0
				for _, v := range pair[1] {
					size = max(size, math.Abs(float64(v)))
				}
				for e, v := range pair[0] {
					if !(math.Abs(float64(v)-float64(pair[1][e])) <= tol*size) {
						t.Fatalf("%d vertices, operands %d: %s[%d] is %v, want %v", c.n, i, name, e, v, pair[1][e])
					}
				}
			}
		}
	}
}

// TestGraphLossBits has the same bits from run to run, and with and without other results.
func TestGraphLossBits(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	g := randomGraph(rand.New(rand.NewPCG(31, 32)), 70, 3)
	var gradients [][]float64
	for i := range 3 {
		rnd := rand.New(rand.NewPCG(35, 36))
		k, c := embedding[float64](rnd, g, 2, 3, 0.5), embedding[float64](rnd, g, 2, 3, 0.5)
		if i == 2 {
			k.Out, c.Fixed = nil, rev.General[float64]{Rows: 2, Cols: 3, Stride: 3}
		}
		if err := rev.Adjoint(k, c); err != nil {
			t.Fatal(err)
		}
		gradients = append(gradients, c.Free.Data)
	}
	if !slices.Equal(gradients[0], gradients[1]) || !slices.Equal(gradients[0], gradients[2]) {
		t.Error("gradients differ")
	}
}

// TestEqualDistances is a regular simplex, and all distances have the same bits: the loss is 0.
func TestEqualDistances(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	const n = 5
	k := embedding[float64](rand.New(rand.NewPCG(37, 38)), randomGraph(rand.New(rand.NewPCG(1, 1)), n, 1), 0, n, 0.1)
	clear(k.Free.Data)
	for i := range n {
		k.Free.Row(i)[i] = 1.1
	}
	*k.Out = 0
	if err := rev.Forward(k); err != nil || !(math.Abs(*k.Out) <= 1e-31) {
		t.Errorf("the loss is %v: %v", *k.Out, err)
	}
}

func TestGraphLossErrors(t *testing.T) {
	dev, other := interpreter(t, 1<<20), interpreter(t, 1<<20)
	g := must(NewGraph(other, graphembed.Petersen()))(t)
	if g.Order() != 10 {
		t.Errorf("%d vertices, want 10", g.Order())
	}
	k := GraphLoss[float64]{Out: must(NewScalar(dev, 0.0))(t), Free: must(NewGeneral(dev, rev.NewGeneral[float64](10, 2, nil)))(t), Graph: g}
	if err := k.Forward(); err == nil || !strings.Contains(err.Error(), "graph is not in the memory of device") {
		t.Errorf("error %v for a graph on another device", err)
	}
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, mat.ErrShape) {
			t.Errorf("9 of 10 vertices: %v, want mat.ErrShape", err)
		}
	}()
	k.Free.Rows = 9
	_ = k.Forward()
}
