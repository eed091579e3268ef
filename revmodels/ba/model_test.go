package ba

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/rev"
)

func TestModel(t *testing.T) {
	for _, loss := range []Loss{nil, Cauchy(1)} {
		p := awkward(t)
		m := &Model{Problem: p, Loss: loss}
		x := m.Params(nil)
		if want := costOf(p); loss == nil && math.Abs(m.Func(x)-want) > 1e-12*want {
			t.Errorf("cost %v, want %v", m.Func(x), want)
		}
		grad := make([]float64, m.Dim())
		floats.AddConst(1, grad)
		m.Grad(grad, x)
		want := fd.Gradient(nil, m.Func, x, &fd.Settings{Formula: fd.Central, Step: 1e-6})
		for i, g := range grad {
			if !(math.Abs(g-want[i]) <= 1e-5*math.Abs(want[i])+1e-2) {
				t.Errorf("%T: derivative %d is %v, want %v", loss, i, g, want[i])
			}
		}
	}
}

func TestModelMisuse(t *testing.T) {
	m := &Model{Problem: awkward(t)}
	x := m.Params(nil)
	for name, f := range map[string]func(){
		"Func": func() { m.Func(x[1:]) },
		"Grad": func() { m.Grad(x[1:], x) },
	} {
		if err := panicOf(f); !errors.Is(err, mat.ErrShape) {
			t.Errorf("%s panics with %v", name, err)
		}
	}
	y := append([]float64(nil), x...)
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, rev.ErrOverlap) {
				t.Errorf("a gradient in the place of x: %v", err)
			}
		}()
		m.Grad(y, y)
	}()
}

// gonum's minimisers come to the cost that Solve does.
func TestModelMinimize(t *testing.T) {
	p, _ := generate(t, GenerateOptions{Cameras: 3, Points: 12, Observations: 36, Noise: 0.5, Start: 1e-4})
	m := &Model{Problem: p.Clone()}
	r, err := optimize.Minimize(optimize.Problem{Func: m.Func, Grad: m.Grad}, m.Params(nil),
		&optimize.Settings{MajorIterations: 300, GradientThreshold: 1e-3}, &optimize.LBFGS{})
	if r == nil {
		t.Fatal(err)
	}
	before := m.Func(m.Params(nil))
	if want := solve(t, p, nil).Final; !(r.F < 0.9*before) || r.F < want*(1-1e-6) {
		t.Errorf("cost %v from %v, Solve has %v", r.F, before, want)
	}
}
