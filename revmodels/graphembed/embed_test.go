package graphembed

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"revnum/internal/long"
)

// TestPetersen is the experiment of Liu and Zhao, appendix D.2, with the first
// two vertices held: five dimensions are needed, and then are enough.
func TestPetersen(t *testing.T) {
	starts, low := 20, 20
	if long.Tests() {
		starts, low = 100, 1000
	}
	e, err := Embed(t.Context(), Petersen(), 5, &Options{Fixed: 2, Starts: starts})
	if err != nil {
		t.Fatal(err)
	}
	reached := 0
	for i, s := range e.Starts {
		if s.Err != nil {
			t.Errorf("start %d: %v", i, s.Err)
		}
		if s.Loss < 1e-20 && s.Iterations <= 40 {
			reached++
		}
	}
	if 10*reached < 6*starts {
		t.Errorf("%d of %d starts reach 1e-20 in 40 Hessians, want 60 %%", reached, starts)
	}
	if r := e.Apart.Mean / e.Connected.Mean; !(math.Abs(r-math.Sqrt2) <= 1e-9) {
		t.Errorf("ratio of distances %v, want √2", r)
	}
	if !(e.Connected.Deviation < 1e-9 && e.Apart.Deviation < 1e-9) || e.Connected.Pairs != 15 || e.Apart.Pairs != 30 {
		t.Errorf("classes %+v and %+v", e.Connected, e.Apart)
	}

	e, err = Embed(t.Context(), Petersen(), 4, &Options{Fixed: 2, Starts: low, MaxIter: 60})
	if err != nil {
		t.Fatal(err)
	}
	if !(e.Loss > 1e-3) {
		t.Errorf("loss %v in four dimensions", e.Loss)
	}
}

func TestMethods(t *testing.T) {
	for _, c := range []struct {
		method Method
		loss   float64
	}{{Newton, 1e-24}, {LBFGS, 1e-10}, {Adam, 1e-10}} {
		var first *Embedding
		for _, workers := range []int{1, 3} {
			e, err := Embed(t.Context(), Petersen(), 5, &Options{Method: c.method, Fixed: 2, Starts: 4, Workers: workers, Source: rand.NewPCG(5, 5)})
			if err != nil {
				t.Fatal(err)
			}
			if !(e.Loss <= c.loss) {
				t.Errorf("%v reaches %v, want %v: %+v", c.method, e.Loss, c.loss, e.Starts)
			}
			if e.Loss != e.Starts[e.Best].Loss {
				t.Errorf("%v: start %d is not the best: %+v", c.method, e.Best, e.Starts)
			}
			if first == nil {
				first = e
			} else if !mat.Equal(first.X, e.X) {
				t.Errorf("%v: %d workers give another embedding", c.method, workers)
			}
		}
	}
}

// TestEmbedLarge embeds a cycle with too many variables for exact steps.
func TestEmbedLarge(t *testing.T) {
	const n, k = 80, 5
	var edges [][2]int
	for i := range n {
		edges = append(edges, [2]int{i, (i + 1) % n})
	}
	g, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Embed(t.Context(), g, k, &Options{Starts: 1, MaxIter: 40})
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel(g, k, nil, DefaultMargin)
	start := rand.New(rand.NewPCG(1, 1))
	if f := m.Func(normals(start, n*k)); !(e.Loss < f/2) {
		t.Errorf("loss %v, from %v", e.Loss, f)
	}
}

func TestFixedAt(t *testing.T) {
	at := mat.NewDense(3, 5, []float64{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0})
	e, err := Embed(t.Context(), Petersen(), 5, &Options{Fixed: 3, FixedAt: at})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(e.X.Slice(0, 3, 0, 5), at) {
		t.Errorf("fixed vertices have moved to %v", mat.Formatted(e.X.Slice(0, 3, 0, 5)))
	}
	one := mat.NewDense(1, 5, []float64{7, -7, 7, -7, 7})
	e, err = Embed(t.Context(), Petersen(), 5, &Options{Fixed: 1, FixedAt: one})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(e.X.Slice(0, 1, 0, 5), one) || !(e.Loss < 0.1) {
		t.Errorf("one fixed vertex: %v, loss %v", mat.Formatted(e.X.Slice(0, 1, 0, 5)), e.Loss)
	}
	all := mat.NewDense(10, 1, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	e, err = Embed(t.Context(), Petersen(), 1, &Options{Fixed: 10, FixedAt: all})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(e.X, all) || e.Connected.Max != 5 || e.Apart.Min != 1 {
		t.Errorf("all vertices fixed: %+v", e)
	}
}

func TestEmbedDegenerate(t *testing.T) {
	for _, c := range []struct {
		what string
		n, k int
		edge [][2]int
	}{
		{"no vertices", 0, 2, nil},
		{"one vertex", 1, 2, nil},
		{"one pair", 2, 3, [][2]int{{0, 1}}},
		{"no edges", 4, 3, nil},
		{"complete", 4, 3, [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}},
		{"two parts", 4, 6, [][2]int{{0, 1}, {2, 3}}},
	} {
		g, err := NewGraph(c.n, c.edge)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Embed(t.Context(), g, c.k, nil)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if !(e.Loss <= 1e-20) {
			t.Errorf("%s: loss %v", c.what, e.Loss)
		}
	}
	p := Petersen()
	for _, c := range []struct {
		want string
		k    int
		o    Options
	}{
		{"0 dimensions", 0, Options{}},
		{"-1 dimensions", -1, Options{}},
		{"11 fixed vertices", 2, Options{Fixed: 11}},
		{"-1 fixed vertices", 2, Options{Fixed: -1}},
		{"FixedAt is 2×3", 2, Options{Fixed: 2, FixedAt: mat.NewDense(2, 3, nil)}},
		{"FixedAt has NaN in row 0, column 1", 2, Options{Fixed: 1, FixedAt: mat.NewDense(1, 2, []float64{0, math.NaN()})}},
		{"Method(7)", 2, Options{Method: 7}},
		{"option", 2, Options{Starts: -1}},
		{"option", 2, Options{Workers: -1}},
		{"option", 2, Options{Margin: math.Inf(1)}},
	} {
		if _, err := Embed(t.Context(), p, c.k, &c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// TestProblem checks that gonum's Newton takes the Hessian.
func TestProblem(t *testing.T) {
	m := NewModel(Petersen(), 5, mat.NewDense(2, 5, []float64{0, 0, 0, 0, 0, 1, 0, 0, 0, 0}), DefaultMargin)
	x := normals(rand.New(rand.NewPCG(6, 1)), m.Dim())
	floats.Scale(0.5, x)
	r, err := optimize.Minimize(m.Problem(), x, &optimize.Settings{GradientThreshold: 1e-6}, &optimize.Newton{})
	if err != nil {
		t.Fatal(err)
	}
	if !(r.F < m.Func(x)/100) || r.HessEvaluations == 0 {
		t.Errorf("gonum's Newton reaches %v from %v with %d Hessians", r.F, m.Func(x), r.HessEvaluations)
	}
}

// TestCancel cancels before the starts, and in the middle: the best of what there
// is comes with the error.
func TestCancel(t *testing.T) {
	for _, method := range []Method{Newton, LBFGS, Adam} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e, err := Embed(ctx, Petersen(), 5, &Options{Method: method, Starts: 3})
		if !errors.Is(err, context.Canceled) || e == nil || !(e.Loss > 0) {
			t.Fatalf("%v: %v, %+v", method, err, e)
		}
		if m := NewModel(Petersen(), 5, nil, DefaultMargin); m.Func(e.X.RawMatrix().Data) != e.Loss {
			t.Errorf("%v: the loss at X is not %v", method, e.Loss)
		}
		for i, s := range e.Starts {
			if !errors.Is(s.Err, context.Canceled) || s.Iterations > 1 {
				t.Errorf("%v: start %d: %+v", method, i, s)
			}
		}
		// In the middle.
		ctx, cancel = context.WithCancel(t.Context())
		ctx = &countdown{ctx, 5, cancel}
		o := &Options{Method: method, Starts: 1, Target: -1, MaxIter: math.MaxInt, Workers: 1, Rate: 1e-12}
		large, err := NewGraph(1000, [][2]int{{0, 1}})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := Embed(ctx, large, 3, o); !errors.Is(err, context.Canceled) || e.Starts[0].Iterations > 5 {
			t.Errorf("%v: %v, %+v", method, err, e)
		}
		cancel()
	}
}

// A countdown is a context that is cancelled when it has been asked some times. A minimum is
// not found that soon.
type countdown struct {
	context.Context
	left   int
	cancel func()
}

func (c *countdown) Err() error {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestClasses compares with statistics of lists of distances.
func TestClasses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	const dim = 3
	for _, n := range []int{0, 1, 2, 3, 30} {
		var edges [][2]int
		x := matrix{n, dim, make([]float64, n*dim)}
		for i := range x.data {
			x.data[i] = rnd.NormFloat64()
		}
		var lists [2][]float64 // apart, connected
		for i := range n {
			for j := range i {
				kind := rnd.IntN(4) / 3
				if kind == 1 {
					edges = append(edges, [2]int{i, j})
				}
				lists[kind] = append(lists[kind], floats.Distance(x.data[dim*i:dim*i+dim], x.data[dim*j:dim*j+dim], 2))
			}
		}
		g, err := NewGraph(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		near, far := Classes(g, x)
		for kind, c := range []Class{far, near} {
			list := lists[kind]
			var want Class
			if len(list) > 0 {
				want = Class{len(list), stat.Mean(list, nil), 0, slices.Min(list), slices.Max(list)}
			}
			if len(list) > 1 {
				want.Deviation = stat.StdDev(list, nil)
			}
			if got, of := []float64{c.Mean, c.Deviation, c.Min, c.Max}, []float64{want.Mean, want.Deviation, want.Min, want.Max}; c.Pairs != want.Pairs || !floats.EqualApprox(got, of, 1e-13) {
				t.Errorf("%d vertices, kind %d: %+v, want %+v", n, kind, c, want)
			}
		}
	}
}

// A matrix is a mat.Matrix that is not gonum's, and may have no rows.
type matrix struct {
	rows, cols int
	data       []float64
}

func (m matrix) Dims() (r, c int)    { return m.rows, m.cols }
func (m matrix) At(i, j int) float64 { return m.data[i*m.cols+j] }
func (m matrix) T() mat.Matrix       { return mat.Transpose{Matrix: m} }
