package revgorgonia_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	_ "go4.org/unsafe/assume-no-moving-gc" // gorgonia needs a version that knows this Go
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	revgorgonia "revnum/ports/gorgonia"
	"revnum/rules"
)

func random(rnd *rand.Rand, shape ...int) *tensor.Dense {
	x := make([]float64, tensor.Shape(shape).TotalSize())
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))
}

// A network is loss = ‖W·x + b‖, by gorgonia or by rules.
type network struct {
	g             *gorgonia.ExprGraph
	w, x, b, loss *gorgonia.Node
}

func newNetwork(t *testing.T, w, x, b *tensor.Dense, byRules bool) (n network) {
	t.Helper()
	n.g = gorgonia.NewGraph()
	n.w = gorgonia.NewMatrix(n.g, tensor.Float64, gorgonia.WithName("w"), gorgonia.WithShape(w.Shape()...), gorgonia.WithValue(w.Clone().(*tensor.Dense)))
	n.x = gorgonia.NewVector(n.g, tensor.Float64, gorgonia.WithName("x"), gorgonia.WithShape(x.Shape()...), gorgonia.WithValue(x.Clone().(*tensor.Dense)))
	n.b = gorgonia.NewVector(n.g, tensor.Float64, gorgonia.WithName("b"), gorgonia.WithShape(b.Shape()...), gorgonia.WithValue(b.Clone().(*tensor.Dense)))
	if byRules {
		y, err := revgorgonia.Apply("revlinalg.Affine[float64]", nil, n.w, n.x, n.b)
		if err != nil {
			t.Fatal(err)
		}
		if n.loss, err = revgorgonia.Apply("revlinalg.Norm2[float64]", nil, y); err != nil {
			t.Fatal(err)
		}
		return n
	}
	y := gorgonia.Must(gorgonia.Add(gorgonia.Must(gorgonia.Mul(n.w, n.x)), n.b))
	n.loss = gorgonia.Must(gorgonia.Sqrt(gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(y))))))
	return n
}

func numbers(t *testing.T, v gorgonia.Value) []float64 {
	t.Helper()
	switch v := v.(type) {
	case *gorgonia.F64:
		return []float64{float64(*v)}
	case *tensor.Dense:
		return v.Float64s()
	}
	t.Fatalf("a value of type %T", v)
	return nil
}

// TestTapeMachine and TestLispMachine compare loss and gradients with gorgonia's own.
func TestTapeMachine(t *testing.T) {
	compare(t, func(n network) (values []gorgonia.Value, err error) {
		grads, err := gorgonia.Grad(n.loss, n.w, n.x, n.b)
		if err != nil {
			return nil, err
		}
		m := gorgonia.NewTapeMachine(n.g)
		defer m.Close()
		if err := m.RunAll(); err != nil {
			return nil, err
		}
		for _, g := range append(gorgonia.Nodes{n.loss}, grads...) {
			values = append(values, g.Value())
		}
		return values, nil
	})
}

func TestLispMachine(t *testing.T) {
	compare(t, func(n network) (values []gorgonia.Value, err error) {
		m := gorgonia.NewLispMachine(n.g)
		defer m.Close()
		if err := m.RunAll(); err != nil {
			return nil, err
		}
		values = append(values, n.loss.Value())
		for _, in := range []*gorgonia.Node{n.w, n.x, n.b} {
			g, err := in.Grad()
			if err != nil {
				return nil, err
			}
			values = append(values, g)
		}
		return values, nil
	})
}

func compare(t *testing.T, run func(network) ([]gorgonia.Value, error)) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	w, x, b := random(rnd, 3, 4), random(rnd, 4), random(rnd, 3)
	var values [2][]gorgonia.Value
	for i := range values {
		var err error
		if values[i], err = run(newNetwork(t, w, x, b, i == 1)); err != nil {
			t.Fatal(err)
		}
	}
	for k := range values[0] {
		want, got := numbers(t, values[0][k]), numbers(t, values[1][k])
		if len(want) != len(got) || len(got) == 0 {
			t.Fatalf("value %d has %d numbers, want %d", k, len(got), len(want))
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-13 {
				t.Errorf("number %d of value %d is %v, want %v", i, k, got[i], want[i])
			}
		}
	}
}

// TestInPlace rotates a matrix, which is an operand in place.
func TestInPlace(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	g := gorgonia.NewGraph()
	x0 := random(rnd, 3, 2)
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("x"), gorgonia.WithShape(3, 2), gorgonia.WithValue(x0.Clone().(*tensor.Dense)))
	theta := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("theta"), gorgonia.WithShape(3), gorgonia.WithValue(random(rnd, 3)))
	y, err := revgorgonia.Apply("revlinalg.Unitary[float64]", nil, x, theta)
	if err != nil {
		t.Fatal(err)
	}
	loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(y))))
	grads, err := gorgonia.Grad(loss, x, theta)
	if err != nil {
		t.Fatal(err)
	}
	m := gorgonia.NewTapeMachine(g)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		t.Fatal(err)
	}
	// Rotations keep the sum of squares, so its gradients are 2·x and 0.
	for i, v := range numbers(t, grads[0].Value()) {
		if math.Abs(v-2*x0.Float64s()[i]) > 1e-13 {
			t.Errorf("gradient %d of x is %v, want %v", i, v, 2*x0.Float64s()[i])
		}
	}
	for i, v := range numbers(t, grads[1].Value()) {
		if math.Abs(v) > 1e-13 {
			t.Errorf("gradient %d of theta is %v, want 0", i, v)
		}
	}
	for i, v := range numbers(t, x.Value()) {
		if v != x0.Float64s()[i] {
			t.Error("the input has changed")
		}
	}
}

// TestSecondOrder differentiates <∇f(x), v>, which gives the product of the Hessian of f
// with v. The gradients come from Gradient. For f = ‖W·x + b‖ differences of gorgonia's own
// gradient are the reference.
func TestSecondOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	w, x, b, v := random(rnd, 3, 4), random(rnd, 4), random(rnd, 3), random(rnd, 4)
	gradientAt := func(x *tensor.Dense) []float64 {
		n := newNetwork(t, w, x, b, false)
		grads, err := gorgonia.Grad(n.loss, n.w, n.x, n.b)
		if err != nil {
			t.Fatal(err)
		}
		m := gorgonia.NewTapeMachine(n.g)
		defer m.Close()
		if err := m.RunAll(); err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, g := range grads {
			all = append(all, numbers(t, g.Value())...)
		}
		return all
	}
	const h = 1e-5
	var side [2][]float64
	for i, step := range []float64{h, -h} {
		moved := x.Clone().(*tensor.Dense)
		for j, d := range v.Float64s() {
			moved.Float64s()[j] += step * d
		}
		side[i] = gradientAt(moved)
	}

	for _, lisp := range []bool{false, true} {
		n := newNetwork(t, w, x, b, true)
		affine, norm := "revlinalg.Affine[float64]", "revlinalg.Norm2[float64]"
		must := func(node *gorgonia.Node, err error) *gorgonia.Node {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return node
		}
		one := gorgonia.NewScalar(n.g, tensor.Float64, gorgonia.WithName("one"), gorgonia.WithValue(1.0))
		direction := gorgonia.NewVector(n.g, tensor.Float64, gorgonia.WithName("v"), gorgonia.WithShape(4), gorgonia.WithValue(v))
		y := must(revgorgonia.Apply(affine, nil, n.w, n.x, n.b))
		gy, err := revgorgonia.Gradient(norm, nil, one, y)
		if err != nil {
			t.Fatal(err)
		}
		g, err := revgorgonia.Gradient(affine, nil, gy[0], n.w, n.x, n.b)
		if err != nil {
			t.Fatal(err)
		}
		slope := must(revgorgonia.Apply("revlinalg.Dot[float64]", nil, g[1], direction))
		var values []gorgonia.Value
		if lisp {
			m := gorgonia.NewLispMachine(n.g.SubgraphRoots(slope))
			defer m.Close()
			if err := m.RunAll(); err != nil {
				t.Fatal(err)
			}
			for _, in := range []*gorgonia.Node{n.w, n.x, n.b} {
				d, err := in.Grad()
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, d)
			}
		} else {
			grads, err := gorgonia.Grad(slope, n.w, n.x, n.b)
			if err != nil {
				t.Fatal(err)
			}
			m := gorgonia.NewTapeMachine(n.g)
			defer m.Close()
			if err := m.RunAll(); err != nil {
				t.Fatal(err)
			}
			for _, d := range grads {
				values = append(values, d.Value())
			}
		}
		var got []float64
		for _, d := range values {
			got = append(got, numbers(t, d)...)
		}
		if len(got) != len(side[0]) {
			t.Fatalf("lisp %v: %d numbers, want %d", lisp, len(got), len(side[0]))
		}
		for i := range got {
			if want := (side[0][i] - side[1][i]) / (2 * h); math.Abs(got[i]-want) > 1e-8 {
				t.Errorf("lisp %v: second derivative %d is %v, want %v", lisp, i, got[i], want)
			}
		}
	}
}

// TestGradOfGrad shows why the package warns of it: gorgonia's own operations, without any
// of ours, give a wrong second derivative of x⁴. If this test fails, gorgonia has learnt it.
func TestGradOfGrad(t *testing.T) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewScalar(g, tensor.Float64, gorgonia.WithName("x"), gorgonia.WithValue(1.5))
	y := gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Square(x))))
	first, err := gorgonia.Grad(y, x)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := gorgonia.Grad(first[0], x)
	if err != nil {
		return // as good: it says so
	}
	m := gorgonia.NewTapeMachine(g)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		return
	}
	if got := numbers(t, first[0].Value())[0]; math.Abs(got-4*1.5*1.5*1.5) > 1e-12 {
		t.Errorf("the first derivative is %v", got)
	}
	if got := numbers(t, twice[0].Value())[0]; math.Abs(got-12*1.5*1.5) < 1e-6 {
		t.Error("the second derivative is right: take the warning out of the documentation")
	}
}

func TestErrors(t *testing.T) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("x"), gorgonia.WithShape(3))
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("y"), gorgonia.WithShape(4))
	single := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithName("single"), gorgonia.WithShape(3))
	for _, test := range []struct {
		rule   string
		inputs []*gorgonia.Node
		want   string
	}{
		{"nothing", nil, "nothing"},
		{"revlinalg.Dot[Q43]", []*gorgonia.Node{x, x}, "float64 and float32 only"},
		{"revlinalg.Dot[float64]", []*gorgonia.Node{x}, "no node for the operand Y"},
		{"revlinalg.Dot[float64]", []*gorgonia.Node{x, nil}, "not optional"},
		{"revlinalg.Dot[float64]", []*gorgonia.Node{x, x, x}, "too many"},
		{"revlinalg.Dot[float64]", []*gorgonia.Node{x, y}, "dimension mismatch"},
		{"revlinalg.Dot[float64]", []*gorgonia.Node{x, single}, "want float64"},
		{"revsparse.Mul[float64]", []*gorgonia.Node{x, x, x}, "not dense numbers"},
		{"revlinalg.SVD[float64]", []*gorgonia.Node{x}, "more than one output"},
	} {
		_, err := revgorgonia.Apply(test.rule, nil, test.inputs...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.rule, err, test.want)
		}
	}
}

func TestGradientErrors(t *testing.T) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("x"), gorgonia.WithShape(3))
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("y"), gorgonia.WithShape(4))
	if _, err := revgorgonia.Gradient("revlinalg.Norm2[float64]", nil, y, x); err == nil || !strings.Contains(err.Error(), "cotangent") {
		t.Errorf("a cotangent of another shape: %v", err)
	}
	// A third derivative.
	one := gorgonia.NewScalar(g, tensor.Float64, gorgonia.WithName("one"), gorgonia.WithValue(1.0))
	first, err := revgorgonia.Gradient("revlinalg.Norm2[float64]", nil, one, x)
	if err != nil {
		t.Fatal(err)
	}
	second, err := first[0].Op().(gorgonia.SDOp).SymDiff(gorgonia.Nodes{x, one}, first[0], x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second[0].Op().(gorgonia.SDOp).SymDiff(gorgonia.Nodes{x, one, x}, second[0], x); err == nil {
		t.Error("third derivatives give no error")
	}
	// A rule of first order.
	rule, err := rules.Lookup("revlinalg.Norm2[float64]")
	if err != nil {
		t.Fatal(err)
	}
	passes := rule.Passes
	defer func() { rule.Passes = passes }()
	rule.Passes = slices.DeleteFunc(slices.Clone(passes), func(p rules.Pass) bool { return p == rules.AdjointTangent })
	if _, err := first[0].Op().(gorgonia.SDOp).SymDiff(gorgonia.Nodes{x, one}, first[0], x); err == nil || !strings.Contains(err.Error(), "no second derivatives") {
		t.Errorf("a rule of first order: %v", err)
	}
}

func ExampleApply() {
	g := gorgonia.NewGraph()
	x := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("x"), gorgonia.WithShape(2), gorgonia.WithValue(tensor.New(tensor.WithBacking([]float64{3, 4}))))
	norm, err := revgorgonia.Apply("revlinalg.Norm2[float64]", nil, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	grads, err := gorgonia.Grad(norm, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := gorgonia.NewTapeMachine(g)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %.1f\n", norm.Value(), grads[0].Value())
	// Output: 5 [0.6  0.8]
}
