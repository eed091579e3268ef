package optim_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/optim"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// A bowl is the function Σ x·eˣ, whose derivatives are (1 + x)·eˣ and (2 + x)·eˣ. It is
// least at x = -1.
type bowl[T rev.Real] struct {
	A, B []T // the parameters, in two pieces
	Y    []T
	Out  T
}

func newBowl[T rev.Real](n int) *optim.Objective[bowl[T], T] {
	type S = bowl[T]
	half := func(y, x func(s *S) []T) rev.Step[S] {
		return rev.Seq(
			rev.At(func(s *S) revlinalg.Exp[T] {
				return revlinalg.Exp[T]{Y: rev.ViewSlice(y(s)), X: rev.ViewSlice(x(s))}
			}),
			rev.At(func(s *S) revlinalg.Dot[T] {
				return revlinalg.Dot[T]{Out: &s.Out, X: rev.ViewSlice(y(s)), Y: rev.ViewSlice(x(s))}
			}))
	}
	first := n / 3
	return &optim.Objective[S, T]{
		Program: rev.Seq(
			half(func(s *S) []T { return s.Y[:first] }, func(s *S) []T { return s.A }),
			half(func(s *S) []T { return s.Y[first:] }, func(s *S) []T { return s.B })),
		Output: func(s *S) *T { return &s.Out },
		Params: func(s *S) [][]T { return [][]T{s.A, s.B} },
		State:  &S{A: make([]T, first), B: make([]T, n-first), Y: make([]T, n)},
	}
}

func TestObjective(t *testing.T) {
	o := newBowl[float64](5)
	x := []float64{0.5, -2, 0, 1, 3}
	o.SetVector(x)
	if got := o.Vector(nil); !equal(got, x, 0) || o.Dim() != 5 || o.State.B[3] != 3 {
		t.Fatalf("the parameters are %v, want %v", got, x)
	}
	v := []float64{1, -1, 2, 0.5, -0.25}
	value, grad, hess := 0., make([]float64, 5), make([]float64, 5)
	for i, x := range x {
		e := math.Exp(x)
		value += x * e
		grad[i], hess[i] = (1+x)*e, (2+x)*e*v[i]
	}
	g, h := make([]float64, 5), make([]float64, 5)
	for _, f := range []func() (float64, error){
		o.Value,
		func() (float64, error) { return o.ValueGradient(g) },
		func() (float64, error) { return o.HessianVector(h, g, v) },
	} {
		clear(g)
		clear(h)
		got, err := f()
		if err != nil || math.Abs(got-value) > 1e-13 {
			t.Errorf("value %v, error %v, want %v", got, err, value)
		}
	}
	if !equal(g, grad, 1e-13) || !equal(h, hess, 1e-13) {
		t.Errorf("gradient %v, want %v; product %v, want %v", g, grad, h, hess)
	}
	for name, f := range map[string]func(){
		"x":    func() { o.SetVector(x[:4]) },
		"grad": func() { _, _ = o.ValueGradient(g[:4]) },
		"v":    func() { _, _ = o.HessianVector(h, g, v[:4]) },
		"hv":   func() { _, _ = o.HessianVector(h[:4], g, v) },
	} {
		func() {
			defer func() {
				var wrong *rev.OperandError
				if err, ok := recover().(error); !ok || !errors.As(err, &wrong) || wrong.Operand != name {
					t.Errorf("%s of another length panics with %v", name, err)
				}
			}()
			f()
		}()
	}
}

// A trial at which numbers of the state are lost leaves it as it was, if a Checkpoint restores them.
func TestFarTrial(t *testing.T) {
	type S struct {
		X, Y []float64 // Y begins as minus the data
		Kept rev.Snapshots[float64]
		Loss float64
	}
	program := rev.Checkpoint(rev.Seq(
		rev.At(func(s *S) revlinalg.Exp[float64] {
			return revlinalg.Exp[float64]{Y: rev.ViewSlice(s.Y), X: rev.ViewSlice(s.X)}
		}),
		rev.At(func(s *S) revlinalg.SumSquares[float64] {
			return revlinalg.SumSquares[float64]{Out: &s.Loss, X: rev.ViewSlice(s.Y)}
		}),
	), func(s *S) *rev.Snapshots[float64] { return &s.Kept }, func(s *S) []float64 { return s.Y })
	o := &optim.Objective[S, float64]{
		Program: program, State: &S{X: []float64{1}, Y: []float64{-1}},
		Output: func(s *S) *float64 { return &s.Loss }, Params: func(s *S) [][]float64 { return [][]float64{s.X} },
	}
	problem := o.Problem()
	for _, x := range []float64{40, 2000} { // Y gets 2·10¹⁷, and +Inf
		problem.Func([]float64{x})
		problem.Grad([]float64{0}, []float64{x})
		want := (math.E - 1) * (math.E - 1)
		if f := problem.Func([]float64{1}); math.Abs(f-want) > 1e-14 || o.State.Y[0] != -1 {
			t.Errorf("after a trial at %v: f(1) = %v, want %v, and the state is %v", x, f, want, o.State.Y)
		}
	}
}

func equal(x, y []float64, tol float64) bool {
	for i, v := range x {
		if !(math.Abs(v-y[i]) <= tol*(1+math.Abs(v))) {
			return false
		}
	}
	return len(x) == len(y)
}

// Gonum's minimisers find the least value, with and without the Hessian.
func TestProblem(t *testing.T) {
	for _, m := range []optimize.Method{&optimize.LBFGS{}, &optimize.Newton{}} {
		o := newBowl[float64](4)
		o.SetVector([]float64{0, 0.5, -0.5, 1})
		p := o.Problem()
		if p.Hess == nil {
			t.Fatal("there is no Hessian")
		}
		r, err := optimize.Minimize(p, o.Vector(nil), nil, m)
		if err != nil || !equal(r.X, []float64{-1, -1, -1, -1}, 1e-5) {
			t.Errorf("%T: %v, error %v", m, r.X, err)
		}
	}
}

// An error of the program stops the minimiser.
func TestProblemError(t *testing.T) {
	type S struct{ X, Y []float64 }
	o := &optim.Objective[S, float64]{
		Program: rev.At(func(s *S) revlinalg.Log[float64] {
			return revlinalg.Log[float64]{Y: rev.ViewSlice(s.Y), X: rev.ViewSlice(s.X)}
		}),
		Output: func(s *S) *float64 { return &s.Y[0] },
		Params: func(s *S) [][]float64 { return [][]float64{s.X} },
		State:  &S{X: []float64{1}, Y: []float64{0}},
	}
	if _, err := optimize.Minimize(o.Problem(), []float64{1}, nil, &optimize.GradientDescent{}); err == nil {
		t.Error("log has no least value, and no error came")
	}
	h := mat.NewSymDense(1, nil)
	if o.Problem().Hess(h, []float64{2}); h.At(0, 0) != -0.25 {
		t.Errorf("the second derivative of log at 2 is %v, want -0.25", h.At(0, 0))
	}
	for name, call := range map[string]func(p optimize.Problem, x []float64){
		"Func": func(p optimize.Problem, x []float64) { p.Func(x) },
		"Grad": func(p optimize.Problem, x []float64) { p.Grad([]float64{0}, x) },
		"Hess": func(p optimize.Problem, x []float64) { p.Hess(h, x) },
	} {
		p := o.Problem()
		if status, err := p.Status(); status != optimize.NotTerminated || err != nil {
			t.Errorf("before %s: %v, %v", name, status, err)
		}
		call(p, []float64{-1})
		if status, err := p.Status(); status != optimize.Failure || err == nil {
			t.Errorf("after %s of log(-1): %v, %v", name, status, err)
		}
		o.State.X[0] = 1
	}
	o.State.X[0] = -1
	if _, err := o.Step(&optim.SGD{Rate: optim.Constant(1)}); err == nil || o.State.X[0] != -1 {
		t.Errorf("a step from where there is no value: error %v, parameters %v", err, o.State.X)
	}
}

// The test takes three steps on x₀² + 3x₁² from (1, -2) at the rate 0.1. It compares
// with a computation to 40 digits in Python.
func TestMethods(t *testing.T) {
	rate := optim.Constant(0.1)
	for _, c := range []struct {
		name   string
		method optim.Method
		want   []float64
	}{
		{"momentum", &optim.SGD{Rate: rate, Momentum: 0.9}, []float64{0.062, 1.708}},
		{"Nesterov", &optim.SGD{Rate: rate, Momentum: 0.9, Nesterov: true}, []float64{-0.108352, 0.608128}},
		{"descent", &optim.SGD{Rate: rate}, []float64{0.512, -0.128}},
		{"Adam", &optim.Adam{Rate: rate}, []float64{0.70158627294602955, -1.700623391536032}},
		{"AdamW", &optim.Adam{Rate: rate, Decay: 0.01}, []float64{0.69891118315823153, -1.6949445138748257}},
	} {
		x := []float64{1, -2}
		for range 3 {
			c.method.Step(x, []float64{2 * x[0], 6 * x[1]})
		}
		if !equal(x, c.want, 1e-14) {
			t.Errorf("%s: %v, want %v", c.name, x, c.want)
		}
	}
}

// A step on vectors of another length, or with a gradient of another length than x, panics and
// changes nothing.
func TestMethodLengths(t *testing.T) {
	for _, method := range []optim.Method{&optim.SGD{Rate: optim.Constant(1)}, &optim.Adam{Rate: optim.Constant(1)}} {
		method.Step([]float64{1, 2}, []float64{3, 4})
		for _, n := range [][2]int{{2, 1}, {1, 2}, {2, 3}, {1, 1}, {3, 3}} {
			x, grad := make([]float64, n[0]), []float64{1, 1, 1}[:n[1]]
			func() {
				defer func() {
					if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
						t.Errorf("%T, %d elements and %d of the gradient: panics with %v, want mat.ErrShape", method, n[0], n[1], err)
					}
				}()
				method.Step(x, grad)
			}()
			if !equal(x, make([]float64, n[0]), 0) {
				t.Errorf("%T, %d elements and %d of the gradient: changed x to %v", method, n[0], n[1], x)
			}
		}
	}
}

// A method without a rate says so, and changes nothing.
func TestNoRate(t *testing.T) {
	for _, method := range []optim.Method{&optim.SGD{}, &optim.Adam{Decay: 0.1}} {
		x := []float64{1, 2}
		func() {
			defer func() {
				var wrong *rev.OperandError
				if err, ok := recover().(error); !ok || !errors.As(err, &wrong) || wrong.Operand != "Rate" {
					t.Errorf("%T panics with %v, want an error of Rate", method, err)
				}
			}()
			method.Step(x, []float64{3, 4})
		}()
		if !equal(x, []float64{1, 2}, 0) {
			t.Errorf("%T: changed x to %v", method, x)
		}
	}
}

// A step of an Objective equals a step of the method on its vector.
func TestStep(t *testing.T) {
	o := newBowl[float64](5)
	x := []float64{0.5, -2, 0, 1, 3}
	o.SetVector(x)
	value, err := o.Step(&optim.SGD{Rate: optim.Constant(0.5)})
	want, sum := make([]float64, 5), 0.
	for i, v := range x {
		want[i] = v - 0.5*(1+v)*math.Exp(v)
		sum += v * math.Exp(v)
	}
	if got := o.Vector(nil); err != nil || math.Abs(value-sum) > 1e-13 || !equal(got, want, 1e-13) {
		t.Errorf("value %v, parameters %v, error %v, want %v, %v", value, got, err, sum, want)
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		name string
		s    optim.Schedule
		want []float64 // of steps 0, 1, ...
	}{
		{"constant", optim.Constant(0.5), []float64{0.5, 0.5, 0.5}},
		{"cosine", optim.Cosine(3, 1, 4), []float64{3, 2 + math.Sqrt2/2, 2, 2 - math.Sqrt2/2, 1, 1}},
		{"warm-up", optim.WarmUp(3, optim.Cosine(4, 0, 2)), []float64{1, 2, 3, 4, 2, 0}},
	} {
		got := make([]float64, len(c.want))
		for i := range got {
			got[i] = c.s(i)
		}
		if !equal(got, c.want, 1e-15) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// skipped says which properties the kernels of a program do not have.
var skipped = map[revtest.Property]string{
	revtest.NoAllocation: "states of cotangents are made for each pass",
	revtest.FixedPoint:   "the program itself has a number type",
}

// magnitudes are those at which x·eˣ and its derivatives do not overflow.
func magnitudes[T rev.Real]() [2]float64 {
	if number.IsFixed[T]() {
		return [2]float64{0.125, 2}
	}
	return [2]float64{1e-3, 8}
}

func numbers[T rev.Real](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64() / 2)
	}
	return x
}

func TestValue(t *testing.T) {
	t.Run("float64", testValue[float64])
	t.Run("Q43", testValue[fixed.Q43])
}

func testValue[T rev.Real](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[optim.Value[bowl[T], T]]{
		New: func(rnd *rand.Rand, n int) optim.Value[bowl[T], T] {
			return optim.Value[bowl[T], T]{Out: new(T), X: numbers[T](rnd, n), Of: newBowl[T](n)}
		},
		Magnitudes: magnitudes[T](), Skip: skipped, Free: []string{"X.Len"}, Sizes: []int{1, 2, 3, 6},
	})
}

func TestGradient(t *testing.T) {
	t.Run("float64", testGradient[float64])
	t.Run("Q43", testGradient[fixed.Q43])
}

func testGradient[T rev.Real](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[optim.Gradient[bowl[T], T]]{
		New: func(rnd *rand.Rand, n int) optim.Gradient[bowl[T], T] {
			return optim.Gradient[bowl[T], T]{Y: numbers[T](rnd, n), X: numbers[T](rnd, n), Of: newBowl[T](n)}
		},
		Magnitudes: magnitudes[T](), Skip: skipped, Sizes: []int{1, 2, 3, 6},
	})
}

func TestDecay(t *testing.T) {
	const shared = "copies of the operands share the buffer, which is undone in order"
	revtest.Kernel(t, revtest.Spec[optim.Decay]{
		New: func(rnd *rand.Rand, n int) optim.Decay {
			return optim.Decay{V: numbers[fixed.Q43](rnd, n), Num: 9, Den: 10, Buffer: fixed.NewBuffer(n)}
		},
		Free: []string{"V.Len"},
		Skip: map[revtest.Property]string{
			revtest.Accumulation: shared,
			revtest.Extremes:     shared,
			revtest.Gaps:         shared,
			revtest.Gradients:    shared,
			revtest.NilGradients: shared,
			revtest.NilOutputs:   shared,
			revtest.NoAllocation: shared,
			revtest.ReadOnly:     shared,
			revtest.Tangents:     shared,
		},
	})
}

// A loop of decays comes back to the bit, and so does its Buffer.
func TestDecayLoop(t *testing.T) {
	type S struct {
		V []fixed.Q43
	}
	const n, steps = 7, 1000
	buffer := fixed.NewBuffer(n)
	loop := rev.Repeat(func(*S) int { return steps }, rev.At(func(s *S) optim.Decay {
		return optim.Decay{V: s.V, Num: 98, Den: 100, Buffer: buffer}
	}))
	s := &S{V: numbers[fixed.Q43](rand.New(rand.NewPCG(5, 1)), n)}
	before := append([]fixed.Q43(nil), s.V...)
	if err := loop.Forward(s); err != nil {
		t.Fatal(err)
	}
	if got, want := s.V[0].Float64(), before[0].Float64()*math.Pow(0.98, steps); math.Abs(got-want) > 1e-9 {
		t.Errorf("after %d decays %v is %v, want %v", steps, before[0], got, want)
	}
	g := &S{V: []fixed.Q43{fixed.One, 0, 0, 0, 0, 0, 0}}
	if err := loop.Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	if buffer.Steps() != 0 {
		t.Errorf("the buffer holds %d steps", buffer.Steps())
	}
	for i, v := range s.V {
		if v != before[i] {
			t.Errorf("element %d is %v, want %v", i, v, before[i])
		}
	}
	if got, want := g.V[0].Float64(), math.Pow(0.98, steps); math.Abs(got-want) > 1e-9 {
		t.Errorf("gradient %v, want %v", got, want)
	}
}

// A fraction that Buffer does not take panics with its words, and changes no derivative.
func TestDecayMisuse(t *testing.T) {
	for _, f := range [][2]int{{0, 1}, {1, 0}, {-1, 2}, {3, 2}, {1, 1 << 20}} {
		type S struct{ V []fixed.Q43 }
		step := rev.At(func(s *S) optim.Decay {
			return optim.Decay{V: s.V, Num: f[0], Den: f[1], Buffer: fixed.NewBuffer(1)}
		})
		s, ds := &S{[]fixed.Q43{fixed.One}}, &S{[]fixed.Q43{5}}
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, "fraction") {
					t.Errorf("%d/%d panics with %v", f[0], f[1], text)
				}
			}()
			_ = step.Tangent(s, ds)
		}()
		if s.V[0] != fixed.One || ds.V[0] != 5 {
			t.Errorf("%d/%d: changed the velocity to %v and its tangent to %v", f[0], f[1], s.V[0], ds.V[0])
		}
	}
}

// Steps after the first do not allocate.
func TestStepAllocation(t *testing.T) {
	o := newBowl[float64](5)
	for name, m := range map[string]optim.Method{
		"SGD": &optim.SGD{Rate: optim.Constant(0.01), Momentum: 0.9}, "Adam": &optim.Adam{Rate: optim.Constant(0.01)},
	} {
		if n := testing.AllocsPerRun(10, func() {
			if _, err := o.Step(m); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: a step skipped %v times", name, n)
		}
	}
}

// Storage in the state may change between steps.
func TestStepNewStorage(t *testing.T) {
	steps := func(change bool) []float64 {
		o, m := newBowl[float64](5), &optim.SGD{Rate: optim.Constant(0.01)}
		for range 4 {
			if _, err := o.Step(m); err != nil {
				t.Fatal(err)
			}
			if change {
				o.State.B = slices.Clone(o.State.B)
			}
		}
		return o.Vector(nil)
	}
	if got, want := steps(true), steps(false); !slices.Equal(got, want) {
		t.Errorf("parameters are %v, want %v", got, want)
	}
}

// This checks the programs of the examples, and a whole run of training.
func TestPrograms(t *testing.T) {
	o := newBowl[float64](5)
	o.SetVector([]float64{0.5, -2, 0, 1, 3})
	revtest.Program(t, o.Program, o.State)

	rnd := rand.New(rand.NewPCG(5, 2))
	train, validation := newClassifier(rnd, 6), newClassifier(rnd, 6)
	train.SetVector(numbers[fixed.Q43](rnd, 9))
	revtest.Program(t, train.Program, train.State)
	rates := make([]fixed.Q43, 5)
	for i := range rates {
		rates[i] = fixed.FromFloat64(0.1)
	}
	revtest.Program(t, training(train, validation), &run{W: numbers[fixed.Q43](rnd, 9), V: numbers[fixed.Q43](rnd, 9), Rates: rates})
}
