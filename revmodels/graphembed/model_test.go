package graphembed

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"
	"gonum.org/v1/gonum/stat"
)

func normals(rnd *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

// randomModel returns a model of a random graph and a location.
func randomModel(rnd *rand.Rand, n, fixed, k int, margin float64) (*Model, []float64) {
	var at *mat.Dense
	if fixed > 0 {
		at = mat.NewDense(fixed, k, normals(rnd, fixed*k))
	}
	m := NewModel(randomGraph(rnd, n), k, at, margin)
	return m, normals(rnd, m.Dim())
}

// TestHess compares the Hessian with its products with unit vectors, which
// rev's conformance suite compares with differences.
func TestHess(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct{ n, fixed, k int }{{1, 0, 3}, {2, 0, 1}, {3, 1, 2}, {10, 2, 5}, {10, 0, 10}, {23, 3, 4}, {60, 5, 2}} {
		for _, margin := range []float64{-30, 3} {
			m, x := randomModel(rnd, s.n, s.fixed, s.k, margin)
			if s.n > 5 { // vertices that coincide
				copy(x[:s.k], x[3*s.k:4*s.k])
			}
			n := m.Dim()
			hess := mat.NewSymDense(n, normals(rnd, n*n))
			m.Hess(hess, x)
			unit, column := make([]float64, n), make([]float64, n)
			top := mat.Max(hess) + 1
			for j := range n {
				unit[j] = 1
				m.HessVec(column, x, unit)
				unit[j] = 0
				for i, v := range column {
					if d := math.Abs(v - hess.At(i, j)); !(d <= 1e-13*top) {
						t.Fatalf("%+v: element (%d, %d) is %v, want %v", s, i, j, hess.At(i, j), v)
					}
				}
			}
			for _, workers := range []int{1, 2, 7} {
				m.Workers = workers
				again := mat.NewSymDense(n, nil)
				m.Hess(again, x)
				if !mat.Equal(again, hess) {
					t.Errorf("%+v: %d workers give other bits", s, workers)
				}
			}
		}
	}
}

// hyperdualLoss is the loss at x by its definition, in hyperdual numbers.
func hyperdualLoss(m *Model, x []hyperdual.Number) hyperdual.Number {
	at := func(i, c int) hyperdual.Number {
		if i < m.Fixed.Rows {
			return hyperdual.Number{Real: m.Fixed.Row(i)[c]}
		}
		return x[(i-m.Fixed.Rows)*m.K+c]
	}
	var distances [kinds][]hyperdual.Number
	for i := range m.Graph.Order() {
		for j := range i {
			var sum hyperdual.Number
			for c := range m.K {
				d := hyperdual.Sub(at(i, c), at(j, c))
				sum = hyperdual.Add(sum, hyperdual.Mul(d, d))
			}
			kind := apart
			if m.Graph.Connected(i, j) {
				kind = connected
			}
			distances[kind] = append(distances[kind], hyperdual.Sqrt(sum))
		}
	}
	var loss hyperdual.Number
	var means [kinds]hyperdual.Number
	for c, ds := range distances {
		for _, d := range ds {
			means[c] = hyperdual.Add(means[c], hyperdual.Scale(1/float64(len(ds)), d))
		}
		for _, d := range ds {
			d = hyperdual.Sub(d, means[c])
			loss = hyperdual.Add(loss, hyperdual.Scale(1/float64(len(ds)-1), hyperdual.Mul(d, d)))
		}
	}
	z := hyperdual.Add(hyperdual.Sub(means[connected], means[apart]), hyperdual.Number{Real: m.Margin})
	if z.Real > 0 {
		loss = hyperdual.Add(loss, hyperdual.Sub(hyperdual.Exp(z), hyperdual.Number{Real: 1}))
	}
	return loss
}

// TestHyperdual compares the loss, its gradient and all second derivatives with
// those of hyperdual numbers, which are exact but for rounding.
func TestHyperdual(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, fixed := range []int{0, 2} {
		for _, k := range []int{1, 3, 10} {
			for _, margin := range []float64{0.1, 2, -10} {
				var at *mat.Dense
				if fixed > 0 {
					at = mat.NewDense(fixed, k, normals(rnd, fixed*k))
				}
				m := NewModel(Petersen(), k, at, margin)
				n := m.Dim()
				x := normals(rnd, n)
				grad, hess := make([]float64, n), mat.NewSymDense(n, nil)
				value := m.FuncGrad(grad, x)
				if f := m.Func(x); math.Abs(f-value) > 1e-15*value {
					t.Errorf("Func returns %v, FuncGrad %v", f, value)
				}
				m.Hess(hess, x)
				scale := mat.Max(hess) + 1
				num := make([]hyperdual.Number, n)
				for i, v := range x {
					num[i].Real = v
				}
				for i := range n {
					num[i].E1mag = 1
					for j := i; j < n; j++ {
						num[j].E2mag = 1
						want := hyperdualLoss(m, num)
						num[j].E2mag = 0
						if d := math.Abs(want.Real - value); !(d <= 1e-13*want.Real) {
							t.Fatalf("loss %v, want %v", value, want.Real)
						}
						if d := math.Abs(want.E1mag - grad[i]); !(d <= 1e-13*scale) {
							t.Fatalf("k = %d: gradient %d is %v, want %v", k, i, grad[i], want.E1mag)
						}
						if d := math.Abs(want.E1E2mag - hess.At(i, j)); !(d <= 1e-13*scale) {
							t.Fatalf("k = %d: Hessian (%d, %d) is %v, want %v", k, i, j, hess.At(i, j), want.E1E2mag)
						}
					}
					num[i].E1mag = 0
				}
			}
		}
	}
}

// TestInvariance moves, turns and renumbers the vertices.
func TestInvariance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	const n, k = 30, 4
	m, x := randomModel(rnd, n, 0, k, 1)
	want := m.Func(x)

	moved := make([]float64, len(x))
	shift := normals(rnd, k)
	for i, v := range x {
		moved[i] = v + 100*shift[i%k]
	}
	var qr mat.QR
	qr.Factorize(mat.NewDense(k, k, normals(rnd, k*k)))
	var q, turned mat.Dense
	qr.QTo(&q)
	turned.Mul(mat.NewDense(n, k, x), &q)

	order := rnd.Perm(n)
	var edges [][2]int
	renumbered := make([]float64, len(x))
	for i, to := range order {
		copy(renumbered[to*k:(to+1)*k], x[i*k:(i+1)*k])
		for _, j := range m.Graph.Later(i) {
			edges = append(edges, [2]int{order[j], to})
		}
	}
	g, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		m    *Model
		x    []float64
		tol  float64
	}{
		{"moved", m, moved, 1e-12},
		{"turned", m, turned.RawMatrix().Data, 1e-13},
		{"renumbered", NewModel(g, k, nil, 1), renumbered, 1e-13},
	} {
		if f := c.m.Func(c.x); !(math.Abs(f-want) <= c.tol*want) {
			t.Errorf("%s: loss %v, want %v", c.what, f, want)
		}
	}
	// The gradient of renumbered vertices is the renumbered gradient.
	grad, other := make([]float64, n*k), make([]float64, n*k)
	m.Grad(grad, x)
	NewModel(g, k, nil, 1).Grad(other, renumbered)
	for i, to := range order {
		for c := range k {
			if d := math.Abs(grad[i*k+c] - other[to*k+c]); !(d <= 1e-14) {
				t.Fatalf("gradient of vertex %d is %v, renumbered %v", i, grad[i*k+c], other[to*k+c])
			}
		}
	}
}

// TestLarge compares several parts, and rows longer than a block, with sums over
// pairs one by one, and the results of 1, 2 and 7 workers.
func TestLarge(t *testing.T) {
	const n, k = 1200, 3
	m, x := randomModel(rand.New(rand.NewPCG(4, 1)), n, 1, k, 1)
	testLarge(t, m, x)
	var cycle [][2]int // few edges: no bits are stored
	for i := range n {
		cycle = append(cycle, [2]int{i, (i + 1) % n}, [2]int{i, (i + 600) % n})
	}
	g, err := NewGraph(n, cycle)
	if err != nil {
		t.Fatal(err)
	}
	m.Graph = g
	testLarge(t, m, x)
}

func testLarge(t *testing.T, m *Model, x []float64) {
	want, wantGrad := sumPairs(m, x)
	var first []float64
	for _, workers := range []int{1, 2, 7} {
		m.Workers = workers
		grad := make([]float64, m.Dim())
		if f := m.FuncGrad(grad, x); !(math.Abs(f-want) <= 1e-13*want) {
			t.Errorf("loss %v, want %v", f, want)
		}
		if first == nil {
			first = grad
		} else if !slices.Equal(first, grad) {
			t.Errorf("%d workers give another gradient", workers)
		}
	}
	for i, g := range first {
		if d := math.Abs(g - wantGrad[i]); !(d <= 1e-14) {
			t.Fatalf("gradient %d is %v, want %v", i, g, wantGrad[i])
		}
	}
	const h = 1e-5
	v := make([]float64, m.Dim())
	v[1000] = 1
	column, other := make([]float64, m.Dim()), make([]float64, m.Dim())
	m.HessVec(column, x, v)
	x[1000] += h
	m.Grad(other, x)
	x[1000] -= 2 * h
	m.Grad(first, x)
	for i, c := range column {
		if d := math.Abs((other[i]-first[i])/(2*h) - c); !(d <= 1e-9) {
			t.Fatalf("Hessian (%d, 1000) is %v, difference quotient %v", i, c, (other[i]-first[i])/(2*h))
		}
	}
}

// sumPairs is the loss and its gradient by the free vertices, by definition.
func sumPairs(m *Model, x []float64) (loss float64, grad []float64) {
	points := append(slices.Clone(m.Fixed.Data), x...)
	var d [kinds][]float64
	var pairs [kinds][][2]int
	for i := range m.Graph.Order() {
		for j := range i {
			c := apart
			if m.Graph.Connected(i, j) {
				c = connected
			}
			d[c] = append(d[c], floats.Distance(points[i*m.K:(i+1)*m.K], points[j*m.K:(j+1)*m.K], 2))
			pairs[c] = append(pairs[c], [2]int{i, j})
		}
	}
	loss = stat.Variance(d[connected], nil) + stat.Variance(d[apart], nil)
	rate := 0.0
	if z := stat.Mean(d[connected], nil) - stat.Mean(d[apart], nil) + m.Margin; z > 0 {
		loss += math.Expm1(z)
		rate = math.Exp(z)
	}
	grad = make([]float64, len(points))
	for c, sign := range []float64{connected: 1, apart: -1} {
		n, mean := float64(len(d[c])), stat.Mean(d[c], nil)
		for p, ij := range pairs[c] {
			w := 2*(d[c][p]-mean)/(n-1) + sign*rate/n
			for a := range m.K {
				i, j := ij[0]*m.K+a, ij[1]*m.K+a
				u := (points[i] - points[j]) / d[c][p]
				grad[i] += w * u
				grad[j] -= w * u
			}
		}
	}
	return loss, grad[len(m.Fixed.Data):]
}

// TestDegenerate checks graphs in which a kind of pairs is rare or missing.
func TestDegenerate(t *testing.T) {
	complete := func(n int) (edges [][2]int) {
		for i := range n {
			for j := range i {
				edges = append(edges, [2]int{i, j})
			}
		}
		return edges
	}
	triangle := []float64{0, 0, 3, 0, 0, 4} // distances 3, 4, 5
	for _, c := range []struct {
		what  string
		n, k  int
		edges [][2]int
		x     []float64
		want  float64
	}{
		{"empty graph", 0, 2, nil, nil, 0},
		{"one vertex", 1, 2, nil, []float64{1, 2}, 0},
		{"one vertex, NaN", 1, 1, nil, []float64{math.NaN()}, 0},
		{"one pair", 2, 1, [][2]int{{0, 1}}, []float64{1, 5}, 0},
		{"no edges", 3, 2, nil, triangle, 1},
		{"complete", 3, 2, complete(3), triangle, 1},
		{"one edge", 3, 2, [][2]int{{1, 0}}, triangle, 0.5},
		{"longer edge", 3, 2, [][2]int{{1, 2}}, triangle, 0.5 + math.Expm1(5-3.5+0.1)},
		{"duplicate edge", 3, 2, [][2]int{{1, 0}, {0, 1}, {1, 0}}, triangle, 0.5},
		{"no dimension", 3, 0, [][2]int{{1, 0}}, nil, math.Expm1(0.1)},
		{"coincident", 3, 2, [][2]int{{1, 0}}, make([]float64, 6), math.Expm1(0.1)},
		{"more dimensions than vertices", 3, 4, nil, []float64{0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 4}, 1},
	} {
		g, err := NewGraph(c.n, c.edges)
		if err != nil {
			t.Fatal(err)
		}
		m := NewModel(g, c.k, nil, 0.1)
		grad := make([]float64, m.Dim())
		f := m.FuncGrad(grad, c.x)
		if !(math.Abs(f-c.want) <= 1e-14) {
			t.Errorf("%s: loss %v, want %v", c.what, f, c.want)
		}
		product := make([]float64, m.Dim())
		m.HessVec(product, c.x, grad)
		for _, v := range product {
			if v-v != 0 {
				t.Errorf("%s: product with the Hessian %v", c.what, product)
			}
		}
		if m.Dim() > 0 {
			m.Hess(mat.NewSymDense(m.Dim(), nil), c.x)
		}
	}
	// One pair that coincides has a gradient of 0, and leaves the others theirs.
	g, _ := NewGraph(3, nil)
	m := NewModel(g, 1, nil, 0)
	grad := make([]float64, 3)
	m.Grad(grad, []float64{0, 0, 3}) // distances 0, 3, 3
	if want := []float64{-1, -1, 2}; !floats.EqualApprox(grad, want, 1e-15) {
		t.Errorf("gradient %v at coincident vertices, want %v", grad, want)
	}
}

// Equal distances have no variance, not even that of rounding.
func TestEqualDistances(t *testing.T) {
	for n := 4; n <= 8; n++ {
		var edges [][2]int
		for i := range n {
			for j := range i {
				if j > 0 || i == 1 { // the first pair that is apart is (0, 2)
					edges = append(edges, [2]int{j, i})
				}
			}
		}
		g, err := NewGraph(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		m, x := NewModel(g, n, nil, -1), make([]float64, n*n)
		for i := range n { // the corners of a simplex
			x[i*n+i] = 1 / 3.
		}
		if f := m.Func(x); f != 0 {
			t.Errorf("%d vertices: loss %v at equal distances", n, f)
		}
	}
}
