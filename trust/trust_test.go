package trust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/functions"
)

// A function is one of gonum's test functions.
type function interface {
	Func(x []float64) float64
	Grad(grad, x []float64)
}

// exact returns the problem with the Hessian of f, by differences if f has none.
func exact(f function) Problem {
	hess := func(dst *mat.SymDense, x []float64) {
		n := len(x)
		var j mat.Dense
		j.ReuseAs(n, n)
		fd.Jacobian(&j, f.Grad, x, &fd.JacobianSettings{Formula: fd.Central})
		for a := range n {
			for b := a; b < n; b++ {
				dst.SetSym(a, b, (j.At(a, b)+j.At(b, a))/2)
			}
		}
	}
	if h, ok := f.(interface {
		Hess(dst *mat.SymDense, x []float64)
	}); ok {
		hess = h.Hess
	}
	return Problem{Func: f.Func, Grad: f.Grad, Hess: hess}
}

// products returns p with HessVec in place of Hess.
func products(p Problem) Problem {
	hess := p.Hess
	p.Hess = nil
	p.HessVec = func(dst, x, v []float64) {
		h := mat.NewSymDense(len(x), nil)
		hess(h, x)
		mat.NewVecDense(len(x), dst).MulVec(h, mat.NewVecDense(len(v), v))
	}
	return p
}

func TestMinimize(t *testing.T) {
	for _, c := range []struct {
		f    function
		x    []float64
		want float64
	}{
		{functions.ExtendedRosenbrock{}, []float64{-1.2, 1}, 0},
		{functions.ExtendedRosenbrock{}, []float64{-1.2, 1, -1.2, 1, 5, -3}, 0},
		{functions.Beale{}, []float64{1, 1}, 0},
		{functions.BrownAndDennis{}, []float64{25, 5, -5, -1}, 85822.2016263563},
		{functions.BrownBadlyScaled{}, []float64{1, 1}, 0},
		{functions.Wood{}, []float64{-3, -1, -3, -1}, 0},
		{functions.HelicalValley{}, []float64{-1, 0, 0}, 0},
		{functions.ExtendedPowellSingular{}, []float64{3, -1, 0, 3}, 0},
	} {
		for _, p := range []Problem{exact(c.f), products(exact(c.f))} {
			t.Run(fmt.Sprintf("%T/exact=%v", c.f, p.Hess != nil), func(t *testing.T) {
				x0 := append([]float64(nil), c.x...)
				last := math.Inf(1)
				inner := p.Grad
				p.Grad = func(grad, x []float64) {
					if f := p.Func(x); f > last {
						t.Errorf("f rises from %v to %v", last, f)
					} else {
						last = f
					}
					inner(grad, x)
				}
				r, err := Minimize(t.Context(), p, c.x, &Options{Tolerance: 1e-8})
				if err != nil {
					t.Fatal(err)
				}
				if !floats.Equal(x0, c.x) {
					t.Error("the start is modified")
				}
				if !(math.Abs(r.F-c.want) <= 1e-9*(1+c.want)) {
					t.Errorf("f = %v, want %v: %+v", r.F, c.want, r)
				}
				if r.Status == IterationLimit {
					t.Errorf("ends by %v after %d", r.Status, r.Iterations)
				}
			})
		}
	}
}

// TestExactStep checks the conditions that characterise the minimiser of a quadratic in a
// ball: (H + μ·I)·s = -g with H + μ·I semidefinite, μ >= 0 and μ·(Δ - ‖s‖) = 0 (Moré and
// Sorensen, lemma 2.1). It includes the hard case.
func TestExactStep(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 5, 20} {
		for _, kind := range []string{"convex", "indefinite", "hard", "no gradient"} {
			for _, radius := range []float64{1e-6, 0.1, 1, 1000} {
				// H = Q·diag(λ)·Qᵀ with a random rotation.
				values, a := make([]float64, n), make([]float64, n)
				for i := range values {
					values[i], a[i] = rnd.NormFloat64(), rnd.NormFloat64()
					if kind == "convex" {
						values[i] = 0.1 + math.Abs(values[i])
					}
				}
				values[0] = math.Copysign(values[0], map[bool]float64{true: 1, false: -1}[kind == "convex"])
				least := floats.Min(values)
				for i := range a {
					if kind == "no gradient" || kind == "hard" && values[i] == least {
						a[i] = 0
					}
				}
				h, g := rotated(rnd, values, a)
				p := Problem{Hess: func(dst *mat.SymDense, _ []float64) { dst.CopySym(h) }}
				m := &spectralSubproblem{hess: mat.NewSymDense(n, nil)}
				r := &Result{X: make([]float64, n), Gradient: g}
				if err := m.at(p, r); err != nil {
					t.Fatal(err)
				}
				s := make([]float64, n)
				promised, err := m.step(t.Context(), s, radius, p, r)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s, n = %d, radius %v", kind, n, radius)
				length := floats.Norm(s, 2)
				if !(length <= radius*(1+1e-10)) {
					t.Errorf("%s: step of length %v", name, length)
				}
				// μ from the residual: H·s + g = -μ·s.
				hs := make([]float64, n)
				v := mat.NewVecDense(n, hs)
				v.MulVec(h, mat.NewVecDense(n, s))
				if want := -floats.Dot(g, s) - floats.Dot(s, hs)/2; !(math.Abs(promised-want) <= 1e-9*(math.Abs(want)+radius)) {
					t.Errorf("%s: promises %v, want %v", name, promised, want)
				}
				floats.Add(hs, g)
				mu := 0.0
				if length > 0 {
					mu = -floats.Dot(hs, s) / (length * length)
				}
				floats.AddScaled(hs, mu, s)
				tol := 1e-8 * (1 + floats.Norm(g, 2))
				if d := floats.Norm(hs, 2); !(d <= tol) {
					t.Errorf("%s: residual %v", name, d)
				}
				if !(mu >= -1e-8 && mu+least >= -1e-6*(1+mu)) {
					t.Errorf("%s: μ = %v, least eigenvalue %v", name, mu, least)
				}
				if math.Abs(mu)*(radius-length) > tol*radius {
					t.Errorf("%s: μ = %v and length %v", name, mu, length)
				}
			}
		}
	}
}

// rotated returns Q·diag(λ)·Qᵀ and Q·a for a random rotation Q.
func rotated(rnd *rand.Rand, values, a []float64) (*mat.SymDense, []float64) {
	n := len(values)
	x := make([]float64, n*n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	var qr mat.QR
	qr.Factorize(mat.NewDense(n, n, x))
	var q, d mat.Dense
	qr.QTo(&q)
	d.Mul(&q, mat.NewDiagDense(n, values))
	d.Mul(&d, q.T())
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, d.At(i, j))
		}
	}
	g := make([]float64, n)
	mat.NewVecDense(n, g).MulVec(&q, mat.NewVecDense(n, a))
	return h, g
}

// TestConjugate checks that the inexact step stays in the region, and that it is no worse
// than the best step along the gradient (the Cauchy point).
func TestConjugate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for range 200 {
		n := 1 + rnd.IntN(12)
		values, a := make([]float64, n), make([]float64, n)
		for i := range a {
			values[i], a[i] = rnd.NormFloat64()+0.5, rnd.NormFloat64()
		}
		h, g := rotated(rnd, values, a)
		radius := math.Exp(2 * rnd.NormFloat64())
		p := products(Problem{Hess: func(dst *mat.SymDense, _ []float64) { dst.CopySym(h) }})
		r := &Result{X: make([]float64, n), Gradient: g}
		s := make([]float64, n)
		promised, err := newConjugate(n).step(t.Context(), s, radius, p, r)
		if err != nil {
			t.Fatal(err)
		}
		if l := floats.Norm(s, 2); !(l <= radius*(1+1e-12)) {
			t.Fatalf("step of length %v in a region of radius %v", l, radius)
		}
		hs := make([]float64, n)
		p.HessVec(hs, make([]float64, n), s)
		if want := -floats.Dot(g, s) - floats.Dot(s, hs)/2; !(math.Abs(promised-want) <= 1e-10*(1+want)) {
			t.Fatalf("promises %v, want %v", promised, want)
		}
		p.HessVec(hs, make([]float64, n), g)
		norm, curvature := floats.Norm(g, 2), floats.Dot(g, hs)
		step := radius / norm
		if curvature > 0 {
			step = math.Min(step, norm*norm/curvature)
		}
		if cauchy := step*norm*norm - step*step*curvature/2; !(promised >= cauchy*(1-1e-12)) {
			t.Fatalf("decrease %v, of the Cauchy point %v", promised, cauchy)
		}
	}
}

// TestSaddle starts where the gradient is zero and the curvature is not.
func TestSaddle(t *testing.T) {
	p := Problem{
		Func: func(x []float64) float64 { return x[0]*x[0] - x[1]*x[1] + math.Pow(x[1], 4) },
		Grad: func(g, x []float64) { g[0], g[1] = 2*x[0], -2*x[1]+4*x[1]*x[1]*x[1] },
		Hess: func(h *mat.SymDense, x []float64) {
			h.SetSym(0, 0, 2)
			h.SetSym(0, 1, 0)
			h.SetSym(1, 1, 12*x[1]*x[1]-2)
		},
	}
	r, err := Minimize(t.Context(), p, []float64{0, 0}, &Options{Tolerance: -1, MaxIter: 50})
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(r.F+0.25) <= 1e-14) {
		t.Errorf("f = %v, want -1/4: %+v", r.F, r)
	}
}

// TestBelowRounding checks that the gradient goes to 0 even if the remaining decrease is
// less than the rounding of f. The model then decides.
func TestBelowRounding(t *testing.T) {
	const offset = 1e8 // with a rounding of 7e-9
	for x0 := 1.00001; x0 < 1.00005; x0 += 1e-6 {
		p := Problem{
			Func: func(x []float64) float64 { return offset + math.Cosh(x[0]-1) },
			Grad: func(g, x []float64) { g[0] = math.Sinh(x[0] - 1) },
			Hess: func(h *mat.SymDense, x []float64) { h.SetSym(0, 0, math.Cosh(x[0]-1)) },
		}
		r, err := Minimize(t.Context(), p, []float64{x0}, &Options{Tolerance: 1e-14})
		if err != nil || r.Status != GradientThreshold {
			t.Errorf("from %v: %v, gradient %v, %v", x0, r.Status, r.Gradient, err)
		}
	}
}

func TestEnds(t *testing.T) {
	p := exact(functions.ExtendedRosenbrock{})
	x := []float64{-1.2, 1}
	target := 1.0
	for _, c := range []struct {
		set  Options
		want Status
	}{
		{Options{}, GradientThreshold},
		{Options{Target: &target}, TargetReached},
		{Options{MaxIter: 3}, IterationLimit},
		{Options{MaxHessians: 3}, IterationLimit},
		{Options{MaxHessians: 1}, IterationLimit},
		{Options{Tolerance: -1}, StepConvergence},
	} {
		r, err := Minimize(t.Context(), p, x, &c.set)
		if err != nil || r.Status != c.want {
			t.Errorf("%+v: ends by %v, %v, want %v", c.set, r.Status, err, c.want)
		}
		if c.set.MaxHessians > 0 && r.Hessians != c.set.MaxHessians {
			t.Errorf("%d Hessians, want %d", r.Hessians, c.set.MaxHessians)
		}
	}
}

// TestUnbounded starts where the Hessian is not positive definite, with a radius that bounds nothing.
func TestUnbounded(t *testing.T) {
	p := Problem{
		Func: func(x []float64) float64 { return math.Pow(x[0], 4)/4 - x[0]*x[0]/2 },
		Grad: func(g, x []float64) { g[0] = x[0] * (x[0]*x[0] - 1) },
		Hess: func(h *mat.SymDense, x []float64) { h.SetSym(0, 0, 3*x[0]*x[0]-1) },
	}
	for _, radius := range []float64{math.Inf(1), math.MaxFloat64, 1e200} {
		for _, p := range []Problem{p, products(p)} {
			r, err := Minimize(t.Context(), p, []float64{0.1}, &Options{Radius: radius})
			if err != nil || r.Status != GradientThreshold || math.Abs(math.Abs(r.X[0])-1) > 1e-9 {
				t.Errorf("radius %v: %v, %v, want a minimum at ±1", radius, r, err)
			}
		}
	}
	// The gradient's square times that of the radius overflows, and then the gradient's square too.
	for _, scale := range []float64{1e-100, 1e40, 1e160} {
		q := Problem{
			Func: func(x []float64) float64 { return scale * p.Func(x) },
			Grad: func(g, x []float64) { p.Grad(g, x); g[0] *= scale },
			Hess: func(h *mat.SymDense, x []float64) { p.Hess(h, x); h.ScaleSym(scale, h) },
		}
		for _, p := range []Problem{q, products(q)} {
			opts := &Options{Radius: math.Inf(1), Tolerance: 1e-9 * scale}
			r, err := Minimize(t.Context(), p, []float64{0.1}, opts)
			if err != nil || r.Status != GradientThreshold || math.Abs(math.Abs(r.X[0])-1) > 1e-9 {
				t.Errorf("scale %v: %v, %v, want a minimum at ±1", scale, r, err)
			}
		}
	}
	// The curvature is such that the step to the minimum overflows.
	slope := Problem{
		Func:    func(x []float64) float64 { return x[0] },
		Grad:    func(g, _ []float64) { g[0], g[1] = 1, 0 },
		HessVec: func(dst, _, v []float64) { dst[0], dst[1] = 1e-320*v[0], 0 },
	}
	r, err := Minimize(t.Context(), slope, []float64{0, 0}, &Options{MaxIter: 3})
	if err != nil || !(r.F < -1) {
		t.Errorf("down a slope: %v, %v", r, err)
	}
	// After a long step, the squares of the next one times that of the radius overflow.
	bent := Problem{HessVec: func(dst, _, v []float64) { dst[0], dst[1] = 1e-60*v[0]+v[1], v[0] }}
	at := &Result{X: []float64{0, 0}, Gradient: []float64{1, 0}}
	s, radius := make([]float64, 2), 0x1p400
	if _, err := newConjugate(2).step(t.Context(), s, radius, bent, at); err != nil || !(math.Abs(floats.Norm(s, 2)-radius) <= 1e-12*radius) {
		t.Errorf("step %v, %v, want one of length %v", s, err, radius)
	}
	// The power of two above the gradient overflows.
	steep := Problem{HessVec: func(dst, _, v []float64) { dst[0], dst[1] = v[0], v[1] }}
	at.Gradient[0], radius = -0x1p1023, 1
	if _, err := newConjugate(2).step(t.Context(), s, radius, steep, at); err != nil || !(math.Abs(s[0]-1) <= 1e-12) {
		t.Errorf("step %v, %v, want one of length 1", s, err)
	}
}

// TestFarStart starts where steps of the first radius are below the rounding of X, as with times in
// nanoseconds.
func TestFarStart(t *testing.T) {
	const centre = 1.8e18
	p := Problem{
		Func: func(x []float64) float64 { return (x[0] - centre) * (x[0] - centre) },
		Grad: func(g, x []float64) { g[0] = 2 * (x[0] - centre) },
		Hess: func(h *mat.SymDense, _ []float64) { h.SetSym(0, 0, 2) },
	}
	for _, p := range []Problem{p, products(p)} {
		r, err := Minimize(t.Context(), p, []float64{1.8e18 - 1e6}, nil)
		if err != nil || r.X[0] != centre {
			t.Errorf("%v, %v, want a minimum at %v", r, err, centre)
		}
		r, err = Minimize(t.Context(), p, []float64{1.8e18 - 1e6}, &Options{MaxRadius: 2}) // numbers near X are 256 apart
		if err != nil || r.Status != StepConvergence || r.X[0] != 1.8e18-1e6 {
			t.Errorf("MaxRadius 2: %v, %v, want no step", r, err)
		}
	}
}

// TestTolerance ends where the gradient of x⁴ is less than the default tolerance. A step of
// Newton's method takes off a third of x, so that the gradient is never 0.
func TestTolerance(t *testing.T) {
	p := Problem{
		Func: func(x []float64) float64 { return math.Pow(x[0], 4) },
		Grad: func(g, x []float64) { g[0] = 4 * x[0] * x[0] * x[0] },
		Hess: func(h *mat.SymDense, x []float64) { h.SetSym(0, 0, 12*x[0]*x[0]) },
	}
	r, err := Minimize(t.Context(), p, []float64{1}, nil)
	if err != nil || r.Status != GradientThreshold || !(r.Gradient[0] > 1e-11 && r.Gradient[0] <= 1e-10) {
		t.Errorf("%v with the gradient %v (%v)", r.Status, r.Gradient, err)
	}
}

// TestNotFinite checks functions that are not finite somewhere.
func TestNotFinite(t *testing.T) {
	log := Problem{
		Func: func(x []float64) float64 { return x[0] - math.Log(x[0]) },
		Grad: func(g, x []float64) { g[0] = 1 - 1/x[0] },
		Hess: func(h *mat.SymDense, x []float64) { h.SetSym(0, 0, 1/(x[0]*x[0])) },
	}
	for _, p := range []Problem{log, products(log)} {
		if r, err := Minimize(t.Context(), p, []float64{30}, &Options{Radius: 100}); err != nil || math.Abs(r.X[0]-1) > 1e-9 {
			t.Errorf("minimum at %v, %v, want 1", r.X, err)
		}
		if _, err := Minimize(t.Context(), p, []float64{-1}, nil); !errors.Is(err, ErrNotFinite) {
			t.Errorf("error %v at a start outside of the domain", err)
		}
		q := p
		for _, outside := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			q.Func = func(x []float64) float64 {
				if x[0] < 0.5 {
					return outside
				}
				return p.Func(x)
			}
			if r, err := Minimize(t.Context(), q, []float64{30}, &Options{Radius: 100}); err != nil || math.Abs(r.X[0]-1) > 1e-9 {
				t.Errorf("minimum at %v, %v, want 1 beside %v", r.X, err, outside)
			}
		}
		for _, fill := range []float64{math.NaN(), math.Inf(1)} {
			q := p
			q.Hess, q.HessVec = nil, nil
			if p.Hess != nil {
				q.Hess = func(h *mat.SymDense, _ []float64) { h.SetSym(0, 0, fill) }
			} else {
				q.HessVec = func(dst, _, _ []float64) { dst[0] = fill }
			}
			if _, err := Minimize(t.Context(), q, []float64{2}, nil); !errors.Is(err, ErrNotFinite) {
				t.Errorf("error %v of a Hessian %v", err, fill)
			}
		}
	}
}

// TestOptions checks that an option that makes no sense gives an error that names it.
func TestOptions(t *testing.T) {
	p := exact(functions.Beale{})
	nan := math.NaN()
	for name, o := range map[string]Options{
		"Radius": {Radius: -1}, "MaxRadius": {MaxRadius: nan}, "MaxIter": {MaxIter: -1}, "MaxHessians": {MaxHessians: -1},
		"Tolerance": {Tolerance: nan}, "Target": {Target: &nan},
	} {
		if r, err := Minimize(t.Context(), p, []float64{1, 1}, &o); r != nil || err == nil || !strings.Contains(err.Error(), "option "+name+" is ") {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// TestCancel cancels after some evaluations. The result is then the best so far.
func TestCancel(t *testing.T) {
	for _, p := range []Problem{exact(functions.ExtendedRosenbrock{}), products(exact(functions.ExtendedRosenbrock{}))} {
		ctx, cancel := context.WithCancel(t.Context())
		inner := p.Grad
		p.Grad = func(grad, x []float64) {
			inner(grad, x)
			if p.Func(x) < 3 {
				cancel()
			}
		}
		x := []float64{-1.2, 1}
		r, err := Minimize(ctx, p, x, nil)
		if !errors.Is(err, context.Canceled) || r.Status != Cancelled {
			t.Fatalf("ends by %v, %v", r.Status, err)
		}
		if !(r.F < 3) || r.F != p.Func(r.X) {
			t.Errorf("f = %v at %v where f = %v", r.F, r.X, p.Func(r.X))
		}
	}
}

func TestPanics(t *testing.T) {
	p := exact(functions.Beale{})
	for name, f := range map[string]func(){
		"no variables": func() { _, _ = Minimize(t.Context(), p, nil, nil) },
		"no gradient":  func() { _, _ = Minimize(t.Context(), Problem{Func: p.Func, Hess: p.Hess}, []float64{1, 1}, nil) },
		"no Hessian":   func() { _, _ = Minimize(t.Context(), Problem{Func: p.Func, Grad: p.Grad}, []float64{1, 1}, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
