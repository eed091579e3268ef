package rev_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// riccati is the state of dx/dt = W·x + x∘x + t·u.
type riccati[T rev.Real] struct {
	X, DX, Z []T
	W        rev.General[T]
	U        []T
	T        T
	fail     *int `rev:"const"` // evaluations until one fails, if not nil
	sizes    rev.StepSizes
}

// failing is a kernel that does nothing, and fails after a number of passes.
type failing[T rev.Real] struct {
	Y    []T `rev:"acc" shape:"n"`
	left *int
}

var errFailing = errors.New("failing")

func (k failing[T]) Run(rev.Pass[failing[T]]) error {
	if k.left == nil {
		return nil
	}
	if *k.left--; *k.left == 0 {
		return errFailing
	}
	return nil
}

func riccatiODE[T rev.Real](coupling float64) rev.ODE[riccati[T], []T] {
	view := rev.ViewSlice[T]
	return rev.ODE[riccati[T], []T]{
		RHS: rev.Seq(
			rev.At(func(s *riccati[T]) revlinalg.Affine[T] {
				return revlinalg.Affine[T]{Y: view(s.DX), W: s.W, X: view(s.X)}
			}),
			rev.At(func(s *riccati[T]) revlinalg.MulElem[T] {
				return revlinalg.MulElem[T]{Z: view(s.DX), X: view(s.X), Y: view(s.X)}
			}),
			rev.At(func(s *riccati[T]) failing[T] { return failing[T]{s.DX, s.fail} }),
			rev.At(func(s *riccati[T]) revlinalg.Axpy[T] {
				return revlinalg.Axpy[T]{Y: view(s.DX), Alpha: &s.T, X: view(s.U)}
			}),
		),
		X: func(s *riccati[T]) *[]T { return &s.X }, DX: func(s *riccati[T]) *[]T { return &s.DX }, Z: func(s *riccati[T]) *[]T { return &s.Z },
		SetTime:  func(s *riccati[T], t float64) { s.T = fixed.Of[T](t) },
		Coupling: coupling,
	}
}

func newRiccati[T rev.Real](seed uint64) *riccati[T] {
	rnd := rand.New(rand.NewPCG(85, seed))
	draw := func(n int, scale float64) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = fixed.Of[T](scale * rnd.NormFloat64())
		}
		return x
	}
	const n = 3
	return &riccati[T]{X: draw(n, 0.2), DX: draw(n, 1), Z: make([]T, n), W: rev.NewGeneral(n, n, draw(n*n, 0.3)), U: draw(n, 0.2), T: fixed.Of[T](0.25)}
}

func riccatiSizes[T rev.Real](s *riccati[T]) *rev.StepSizes { return &s.sizes }

// integrations are steps from 0.25 to 1.5.
func integrations[T rev.Real](coupling float64) map[string]rev.Step[riccati[T]] {
	ode := riccatiODE[T](coupling)
	return map[string]rev.Step[riccati[T]]{
		"RK4":           rev.Integrate(ode, rev.RK4, 0.25, 1.5, 7),
		"DormandPrince": rev.Integrate(ode, rev.DormandPrince, 0.25, 1.5, 5),
		"within":        rev.IntegrateWithin(ode, rev.DormandPrince, 0.25, 1.5, 1e-5, 1e-5, riccatiSizes[T]),
	}
}

func riccatiNumbers[T rev.Real](s *riccati[T]) []T {
	return slices.Concat(s.X, s.DX, s.Z, s.W.Data, s.U, []T{s.T})
}

// TestIntegrateExact goes there and back over fixed point, with derivatives and without.
func TestIntegrateExact(t *testing.T) {
	for name, p := range integrations[fixed.Q43](0) {
		t.Run(name, func(t *testing.T) {
			s, was := newRiccati[fixed.Q43](1), newRiccati[fixed.Q43](1)
			if err := p.Forward(s); err != nil {
				t.Fatal(err)
			}
			if slices.Equal(s.X, was.X) || s.X[0] == s.Z[0] || s.T != fixed.Of[fixed.Q43](1.5) || !slices.Equal(s.DX, was.DX) {
				t.Errorf("forward: %v after %v", s, was)
			}
			after := *rev.ZeroLike(s)
			copy(after.X, s.X)
			copy(after.Z, s.Z)
			if err := p.Inverse(s); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(riccatiNumbers(s), riccatiNumbers(was)) || len(s.sizes.Last()) > 0 {
				t.Errorf("inverse: %v, want %v", s, was)
			}
			// The other passes move x and z likewise.
			tan, g, gt := newRiccati[fixed.Q43](2), newRiccati[fixed.Q43](3), newRiccati[fixed.Q43](4)
			tan.T, tan.DX, tan.Z = 0, make([]fixed.Q43, 3), newRiccati[fixed.Q43](5).X
			tanWas := riccatiNumbers(tan)
			if err := p.Tangent(s, tan); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.X, after.X) || !slices.Equal(s.Z, after.Z) {
				t.Errorf("tangent: %v, want %v", s, after)
			}
			if err := p.AdjointTangent(s, g, tan, gt); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(riccatiNumbers(s), riccatiNumbers(was)) || !slices.Equal(riccatiNumbers(tan), tanWas) {
				t.Errorf("AdjointTangent: %v, %v, want %v, %v", s, tan, was, tanWas)
			}
			if name == "within" {
				return
			}
			// The inverse of the adjoint.
			before := riccatiNumbers(g)
			back := rev.Uncall(p)
			if err := errors.Join(back.Adjoint(s, g), p.Adjoint(s, g)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(riccatiNumbers(g), before) || !slices.Equal(riccatiNumbers(s), riccatiNumbers(was)) {
				t.Errorf("the adjoint after its inverse: %v, want %v", riccatiNumbers(g), before)
			}
		})
	}
}

// TestIntegrateDerivatives compares the adjoint with the tangent, the tangent with differences, and
// the second order with differences of the first.
func TestIntegrateDerivatives(t *testing.T) {
	for _, coupling := range []float64{0, 0.9} {
		for name, p := range integrations[float64](coupling) {
			t.Run(fmt.Sprint(name, coupling), func(t *testing.T) {
				if name == "within" { // differences need the same steps
					ode := riccatiODE[float64](coupling)
					s := newRiccati[float64](1)
					if err := p.Forward(s); err != nil {
						t.Fatal(err)
					}
					sizes := s.sizes.Last()
					steps := make([]rev.Step[riccati[float64]], 0, len(sizes))
					time := 0.25
					for i, h := range sizes {
						ode.Continue = i > 0
						one := rev.Integrate(ode, rev.DormandPrince, time, time+h, 1)
						steps = append(steps, one)
						time += h
					}
					compareSteps(t, p, rev.Seq(steps...))
					return
				}
				s, tan := newRiccati[float64](1), newRiccati[float64](2)
				tan.DX = make([]float64, 3)
				g := newRiccati[float64](3)
				g.DX, g.T = make([]float64, 3), 0
				gAfter, tanBefore := riccatiNumbers(g), riccatiNumbers(tan)
				tan.T, tanBefore[len(tanBefore)-1] = 0, 0
				if err := p.Tangent(s, tan); err != nil {
					t.Fatal(err)
				}
				want := innerProduct(gAfter, riccatiNumbers(tan))
				if err := p.Adjoint(s, g); err != nil {
					t.Fatal(err)
				}
				if got := innerProduct(riccatiNumbers(g), tanBefore); !(math.Abs(got-want) <= 1e-11) {
					t.Errorf("adjoint %v, tangent %v", got, want)
				}
				// Differences.
				const h = 1e-5
				run := func(sign float64) (x []float64, g *riccati[float64]) {
					s := newRiccati[float64](1)
					d := newRiccati[float64](2)
					for _, v := range [][2][]float64{{s.X, d.X}, {s.W.Data, d.W.Data}, {s.U, d.U}, {s.Z, d.Z}} {
						for i := range v[0] {
							v[0][i] += sign * h * v[1][i]
						}
					}
					g = newRiccati[float64](3)
					g.DX, g.T = make([]float64, 3), 0
					if err := p.Forward(s); err != nil {
						t.Fatal(err)
					}
					x = slices.Concat(s.X, s.Z)
					if err := p.Adjoint(s, g); err != nil {
						t.Fatal(err)
					}
					return x, g
				}
				up, gUp := run(1)
				down, gDown := run(-1)
				s, tan = newRiccati[float64](1), newRiccati[float64](2)
				tan.DX, tan.T = make([]float64, 3), 0
				g, gt := newRiccati[float64](3), rev.ZeroLike(s)
				g.DX, g.T = make([]float64, 3), 0
				if err := p.Tangent(s, tan); err != nil {
					t.Fatal(err)
				}
				for i, v := range slices.Concat(tan.X, tan.Z) {
					if d := (up[i] - down[i]) / (2 * h); !(math.Abs(v-d) <= 1e-7) {
						t.Errorf("tangent %d: %v, by differences %v", i, v, d)
					}
				}
				if err := p.AdjointTangent(s, g, tan, gt); err != nil {
					t.Fatal(err)
				}
				a, b := riccatiNumbers(gUp), riccatiNumbers(gDown)
				for i, v := range riccatiNumbers(gt) {
					if d := (a[i] - b[i]) / (2 * h); !(math.Abs(v-d) <= 1e-6) {
						t.Errorf("second order %d: %v, by differences %v", i, v, d)
					}
				}
			})
		}
	}
}

// compareSteps compares the gradients of two steps.
func compareSteps(t *testing.T, a, b rev.Step[riccati[float64]]) {
	t.Helper()
	var gradients [2][]float64
	for i, p := range []rev.Step[riccati[float64]]{a, b} {
		s, g := newRiccati[float64](1), newRiccati[float64](3)
		g.DX, g.T = make([]float64, 3), 0
		if err := errors.Join(p.Forward(s), p.Adjoint(s, g)); err != nil {
			t.Fatal(err)
		}
		gradients[i] = riccatiNumbers(g)
	}
	for i, v := range gradients[0] {
		if !(math.Abs(v-gradients[1][i]) <= 1e-11) {
			t.Errorf("gradient %d: %v and %v", i, v, gradients[1][i])
		}
	}
}

func innerProduct(x, y []float64) (d float64) {
	for i, v := range x {
		d += float64(v * y[i])
	}
	return d
}

// harmonic is the state of q” = -q.
type harmonic[T any] struct{ x, dx, z [2]T }

// swinging is the kernel dq += p, dp -= q.
type swinging struct {
	DQ, DP *float64 `rev:"acc"`
	Q, P   *float64 `rev:"in"`
}

func (k swinging) Run(p rev.Pass[swinging]) error {
	sign := float64(p.Sign())
	*k.DQ += sign * *k.P
	*k.DP -= sign * *k.Q
	if p.Adjoint {
		*p.G.P += *p.G.DQ
		*p.G.Q -= *p.G.DP
	}
	return nil
}

var oscillating = rev.ODE[harmonic[float64], [2]float64]{
	RHS: rev.At(func(s *harmonic[float64]) swinging { return swinging{&s.dx[0], &s.dx[1], &s.x[0], &s.x[1]} }),
	X:   func(s *harmonic[float64]) *[2]float64 { return &s.x },
	DX:  func(s *harmonic[float64]) *[2]float64 { return &s.dx },
	Z:   func(s *harmonic[float64]) *[2]float64 { return &s.z },
}

// TestIntegrateOrder compares with the solution. Half the step size has a 2ᵖ-th of the error.
func TestIntegrateOrder(t *testing.T) {
	const end = 2.
	for name, c := range map[string]struct {
		m     rev.Tableau
		order float64
	}{"RK4": {rev.RK4, 4}, "DormandPrince": {rev.DormandPrince, 5}} {
		var errs [2]float64
		for i, n := range []int{20, 40} {
			for _, coupling := range []float64{1, 0.99} {
				ode := oscillating
				ode.Coupling = coupling
				s := &harmonic[float64]{x: [2]float64{1, 0}}
				if err := rev.Integrate(ode, c.m, 0, end, n).Forward(s); err != nil {
					t.Fatal(err)
				}
				errs[i] = max(errs[i], math.Hypot(s.x[0]-math.Cos(end), s.x[1]+math.Sin(end)))
			}
		}
		if order := math.Log2(errs[0] / errs[1]); !(math.Abs(order-c.order) <= 0.5) {
			t.Errorf("%s: order %.2f, errors %v", name, order, errs)
		}
	}
}

// TestIntegrateWithin asks for errors, forward and against the time.
func TestIntegrateWithin(t *testing.T) {
	type state struct {
		harmonic[float64]
		sizes rev.StepSizes
	}
	ode := rev.ODE[state, [2]float64]{
		RHS: rev.At(func(s *state) swinging { return swinging{&s.dx[0], &s.dx[1], &s.x[0], &s.x[1]} }),
		X:   func(s *state) *[2]float64 { return &s.x }, DX: func(s *state) *[2]float64 { return &s.dx }, Z: func(s *state) *[2]float64 { return &s.z },
	}
	sizes := func(s *state) *rev.StepSizes { return &s.sizes }
	steps := 0
	for _, end := range []float64{20, -20, 0} {
		for _, tol := range []float64{1e-4, 1e-8} {
			p := rev.IntegrateWithin(ode, rev.DormandPrince, 0, end, tol, tol, sizes)
			s, g := &state{}, &state{}
			s.x[0] = 1
			if err := p.Forward(s); err != nil {
				t.Fatal(err)
			}
			if e := math.Hypot(s.x[0]-math.Cos(end), s.x[1]+math.Sin(end)); !(e <= 20*tol) {
				t.Errorf("to %v within %v: error %v", end, tol, e)
			}
			all := s.sizes.Last()
			sum := 0.
			for _, h := range all {
				sum += h
			}
			if !(math.Abs(sum-end) <= 1e-12) || tol == 1e-8 && end != 0 && len(all) <= steps {
				t.Errorf("to %v: %d sizes, with sum %v", end, len(all), sum)
			}
			steps = len(all)
			// The derivative of q(t) by q(0) is cos t, and by p(0) sin t.
			g.x[0] = 1
			if err := p.Adjoint(s, g); err != nil {
				t.Fatal(err)
			}
			if e := math.Hypot(g.x[0]-math.Cos(end), g.x[1]-math.Sin(end)); !(e <= 20*tol && math.Abs(s.x[0]-1) <= 1e-12 && math.Abs(s.x[1]) <= 1e-12) || len(s.sizes.Last()) > 0 {
				t.Errorf("to %v: the gradient is %v, and x is %v again", end, g.x, s.x)
			}
		}
	}
	// x' = x² has no solution beyond 1.
	q := rev.IntegrateWithin(riccatiODE[float64](0), rev.DormandPrince, 0, 2, 1e-6, 1e-6, riccatiSizes[float64])
	s := &riccati[float64]{X: []float64{1}, DX: []float64{0}, Z: []float64{0}, W: rev.NewGeneral[float64](1, 1, nil), U: []float64{0}}
	var ce *rev.ConvergenceError
	if err := q.Forward(s); !errors.As(err, &ce) {
		t.Errorf("the error is %v", err)
	}
	if s.X[0] != 1 || s.Z[0] != 0 || s.DX[0] != 0 {
		t.Errorf("after the error: %v", s)
	}
	// x and z come apart where solutions come together quickly.
	for _, a := range []float64{5, 10} {
		s := &riccati[float64]{X: []float64{0.3}, DX: []float64{0}, Z: []float64{0}, W: rev.NewGeneral(1, 1, []float64{-a}), U: []float64{0}}
		p := rev.IntegrateWithin(riccatiODE[float64](0), rev.DormandPrince, 0, 5, 1e-6, 1e-6, riccatiSizes[float64])
		if err := p.Forward(s); !errors.As(err, &ce) || !(ce.Residual > 10) || s.X[0] != 0.3 {
			t.Errorf("a = %v: %v, and x is %v", a, err, s.X)
		}
	}
}

// TestIntegrateFails has an evaluation of f that fails.
func TestIntegrateFails(t *testing.T) {
	for name, p := range integrations[fixed.Q43](0) {
		for _, pass := range []string{"Forward", "Inverse", "Adjoint"} {
			failed := 0
			for at := 1; ; at += 7 {
				s := newRiccati[fixed.Q43](1)
				if pass != "Forward" {
					if err := p.Forward(s); err != nil {
						t.Fatal(err)
					}
				}
				was, left := riccatiNumbers(s), at
				kept := s.sizes.Last()
				s.fail = &left
				g := newRiccati[fixed.Q43](3)
				before := riccatiNumbers(g)
				var err error
				switch pass {
				case "Forward":
					err = p.Forward(s)
				case "Inverse":
					err = p.Inverse(s)
				case "Adjoint":
					err = p.Adjoint(s, g)
				}
				if left > 0 {
					break
				}
				failed++
				if !errors.Is(err, errFailing) || !slices.Equal(riccatiNumbers(s), was) || !reflect.DeepEqual(s.sizes.Last(), kept) {
					t.Fatalf("%s, %s: after evaluation %d: %v", name, pass, at, err)
				}
				if !errors.Is(err, rev.ErrUnsupported) && !slices.Equal(riccatiNumbers(g), before) {
					t.Fatalf("%s, %s: cotangents differ after evaluation %d: %v", name, pass, at, err)
				}
			}
			if failed < 5 {
				t.Errorf("%s, %s: %d evaluations failed", name, pass, failed)
			}
		}
	}
}

// TestIntegrateNotRestored fails where the inverse multiplies rounding by too much, and says so.
func TestIntegrateNotRestored(t *testing.T) {
	s := newRiccati[float64](1)
	left := 8*95 + 1 // in step 95
	s.fail = &left
	err := rev.Integrate(riccatiODE[float64](0.5), rev.RK4, 0, 1, 100).Forward(s)
	if !errors.Is(err, errFailing) {
		t.Fatal(err)
	}
	var v *rev.Violation
	if slices.Max(s.Z) == 0 && slices.Min(s.Z) == 0 {
		t.Fatal("the inverse led to the beginning")
	}
	if !errors.As(err, &v) {
		t.Errorf("z is %v, but the error is %v", s.Z, err)
	}
}

// TestIntegrateFloats returns over floats, and is stable with a coupling.
func TestIntegrateFloats(t *testing.T) {
	for _, c := range []struct{ coupling, bound float64 }{{1, 1e-12}, {0.99, 1e-10}} {
		ode := oscillating
		ode.Coupling = c.coupling
		p := rev.Integrate(ode, rev.RK4, 0, 100, 1000)
		s := &harmonic[float64]{x: [2]float64{1, 0}}
		if err := errors.Join(p.Forward(s), p.Inverse(s)); err != nil {
			t.Fatal(err)
		}
		if d := math.Hypot(s.x[0]-1, s.x[1]) + math.Hypot(s.z[0], s.z[1]); !(d <= c.bound) {
			t.Errorf("coupling %v: off by %v", c.coupling, d)
		}
	}
	// x' = -10·x + x²: x and z come apart unless they are coupled.
	var ends [2]float64
	for i, coupling := range []float64{1, 0.9} {
		s := &riccati[float64]{X: []float64{1e-3}, DX: []float64{0}, Z: []float64{0}, W: rev.NewGeneral(1, 1, []float64{-10}), U: []float64{0}}
		if err := rev.Integrate(riccatiODE[float64](coupling), rev.RK4, 0, 5, 1000).Forward(s); err != nil {
			t.Fatal(err)
		}
		ends[i] = math.Abs(s.X[0])
	}
	if !(ends[0] > 1e-3 && ends[1] < 1e-20) {
		t.Errorf("x(5) is %v, and %v with a coupling", ends[0], ends[1])
	}
}

// A mixed state has numbers of several kinds.
type mixedState struct {
	A complex128
	B []float32
	C *[2]float64
}

type mixedODE struct{ x, dx, z mixedState }

// decay is the kernel da += i·a, db -= b, dc += c.
type decay struct {
	DA *complex128 `rev:"acc"`
	DB []float32   `rev:"acc" shape:"n"`
	DC []float64   `rev:"acc" shape:"m"`
	A  *complex128 `rev:"in"`
	B  []float32   `rev:"in" shape:"n"`
	C  []float64   `rev:"in" shape:"m"`
}

func (k decay) Run(p rev.Pass[decay]) error {
	s := p.Sign()
	*k.DA += complex(float64(s), 0) * 1i * *k.A
	for i, b := range k.B {
		k.DB[i] -= float32(s) * b
	}
	for i, c := range k.C {
		k.DC[i] += float64(s) * c
	}
	if g := p.G; p.Adjoint {
		*g.A -= 1i * *g.DA // times the conjugate of i
		for i, b := range g.DB {
			g.B[i] -= b
		}
		for i, c := range g.DC {
			g.C[i] += c
		}
	}
	return nil
}

func TestIntegrateMixed(t *testing.T) {
	state := func() mixedState { return mixedState{B: make([]float32, 3), C: new([2]float64)} }
	s := &mixedODE{state(), state(), state()}
	s.x.A, s.x.B[1], s.x.C[1] = 1, 1, 1
	ode := rev.ODE[mixedODE, mixedState]{
		RHS: rev.At(func(s *mixedODE) decay { return decay{&s.dx.A, s.dx.B, s.dx.C[:], &s.x.A, s.x.B, s.x.C[:]} }),
		X:   func(s *mixedODE) *mixedState { return &s.x }, DX: func(s *mixedODE) *mixedState { return &s.dx }, Z: func(s *mixedODE) *mixedState { return &s.z },
	}
	if err := rev.Integrate(ode, rev.RK4, 0, 1, 20).Forward(s); err != nil {
		t.Fatal(err)
	}
	if d := s.x.A - complex(math.Cos(1), math.Sin(1)); math.Hypot(real(d), imag(d)) > 1e-6 {
		t.Errorf("e^i = %v", s.x.A)
	}
	if math.Abs(float64(s.x.B[1])-math.Exp(-1)) > 1e-5 || math.Abs(s.x.C[1]-math.E) > 1e-5 || s.x.B[0] != 0 || s.x.C[0] != 0 {
		t.Errorf("1/e = %v, e = %v", s.x.B, s.x.C)
	}
	// The equation is linear, so the gradient is a solution of its transpose.
	g := &mixedODE{state(), state(), state()}
	g.x.A, g.x.B[1], g.x.C[1] = 1, 1, 1
	if err := rev.Integrate(ode, rev.RK4, 0, 1, 20).Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	d := g.x.A - complex(math.Cos(1), -math.Sin(1))
	if !(math.Hypot(real(d), imag(d)) <= 1e-6 && math.Abs(float64(g.x.B[1])-math.Exp(-1)) <= 1e-5 && math.Abs(g.x.C[1]-math.E) <= 1e-5) {
		t.Errorf("the gradient is %v", g.x)
	}
}

// Derivatives of x and z that are nil count as zero, and the time has a gradient.
func TestIntegrateAbsent(t *testing.T) {
	for name, p := range integrations[float64](0.95) {
		var whole, less [2][]float64
		for i, absent := range []bool{false, true} {
			s, tan, g := newRiccati[float64](1), newRiccati[float64](2), newRiccati[float64](3)
			clear(tan.X)
			clear(g.Z)
			tan.T, g.T = 0, 0
			tan.DX = make([]float64, 3)
			if absent {
				tan.X, g.Z = nil, nil
			}
			if err := errors.Join(p.Tangent(s, tan), p.Adjoint(s, g)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if absent != (tan.X == nil) || absent != (g.Z == nil) {
				t.Errorf("%s: %v, %v", name, tan.X, g.Z)
			}
			whole[i], less[i] = g.X, g.W.Data
			if absent {
				if err := errors.Join(p.Forward(s), p.AdjointTangent(s, g, tan, rev.ZeroLike(s))); !errors.Is(err, rev.ErrUnsupported) {
					t.Errorf("%s: AdjointTangent without ẋ: %v", name, err)
				}
			}
		}
		if !slices.Equal(whole[0], whole[1]) || !slices.Equal(less[0], less[1]) {
			t.Errorf("%s: %v, %v", name, whole, less)
		}
	}
	// Later by h is a later t in all evaluations.
	const h = 1e-5
	ode := riccatiODE[float64](0)
	value := func(by float64) float64 {
		s := newRiccati[float64](1)
		if err := rev.Integrate(ode, rev.RK4, 0.25+by, 1.5+by, 7).Forward(s); err != nil {
			t.Fatal(err)
		}
		return s.X[0]
	}
	s, g := newRiccati[float64](1), rev.ZeroLike(newRiccati[float64](1))
	if _, err := rev.ValueGradient(rev.Integrate(ode, rev.RK4, 0.25, 1.5, 7), func(s *riccati[float64]) *float64 { return &s.X[0] }, s, g); err != nil {
		t.Fatal(err)
	}
	if want := (value(h) - value(-h)) / (2 * h); !(math.Abs(g.T-want) <= 1e-8) {
		t.Errorf("by time %v, by differences %v", g.T, want)
	}
}

func TestIntegrateMisuse(t *testing.T) {
	ode := oscillating
	bad := ode
	bad.Coupling = 2
	short := rev.RK4
	short.C = short.C[:3]
	for want, f := range map[string]func(){
		"n of rev.Integrate": func() { rev.Integrate(ode, rev.RK4, 0, 1, 0) },
		"the times are":      func() { rev.Integrate(ode, rev.RK4, 0, math.Inf(1), 1) },
		"Coupling of ode":    func() { rev.Integrate(bad, rev.RK4, 0, 1, 1) },
		"3 elements of C":    func() { rev.Integrate(ode, short, 0, 1, 1) },
		"no estimate of":     func() { rev.IntegrateWithin(ode, rev.RK4, 0, 1, 1, 1, nil) },
		"abs or rel":         func() { rev.IntegrateWithin(ode, rev.DormandPrince, 0, 1, 0, 0, nil) },
		"sizes of":           func() { rev.IntegrateWithin(ode, rev.DormandPrince, 0, 1, 1, 1, nil) },
	} {
		func() {
			defer func() {
				if v, _ := recover().(*rev.OperandError); !errors.Is(v, errors.ErrUnsupported) || !strings.Contains(v.Error(), want) {
					t.Errorf("panic %v, want %q", v, want)
				}
			}()
			f()
		}()
	}
	var v *rev.Violation
	if err := rev.Integrate(riccatiODE[fixed.Q43](0.5), rev.RK4, 0, 1, 1).Forward(newRiccati[fixed.Q43](1)); !errors.As(err, &v) {
		t.Errorf("a coupling over fixed point: %v", err)
	}
	s := newRiccati[float64](1)
	s.Z = s.Z[:2]
	if err := rev.Integrate(riccatiODE[float64](1), rev.RK4, 0, 1, 1).Forward(s); !errors.As(err, &v) {
		t.Errorf("a short companion: %v", err)
	}
	// Views with gaps, numbers twice, and a companion that is not zero.
	type state struct{ x, dx, z rev.Vector[float64] }
	views := rev.ODE[state, rev.Vector[float64]]{
		X: func(s *state) *rev.Vector[float64] { return &s.x }, DX: func(s *state) *rev.Vector[float64] { return &s.dx }, Z: func(s *state) *rev.Vector[float64] { return &s.z },
	}
	one := func() rev.Vector[float64] { return rev.ViewSlice(make([]float64, 2)) }
	gaps := rev.Vector[float64]{N: 2, Inc: 2, Data: make([]float64, 3)}
	same := one()
	for want, s := range map[string]*state{
		"without gaps": {gaps, one(), one()}, "number twice": {same, one(), same}, "numbers of X": {one(), one(), rev.ViewSlice(make([]float64, 3))},
		"Z must be zero": {one(), one(), rev.ViewSlice([]float64{1, 0})},
	} {
		if err := rev.Integrate(views, rev.RK4, 0, 1, 1).Forward(s); !errors.As(err, &v) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s = newRiccati[float64](1)
	g := rev.ZeroLike(s)
	g.X = g.X[:1]
	if err := rev.Integrate(riccatiODE[float64](1), rev.RK4, 0, 1, 1).Adjoint(s, g); !errors.As(err, &v) {
		t.Errorf("a short cotangent: %v", err)
	}
	s = newRiccati[float64](1)
	within := integrations[float64](1)["within"]
	if err := within.Inverse(s); !errors.As(err, &v) {
		t.Errorf("no sizes: %v", err)
	}
	if err := rev.Uncall(within).Adjoint(s, rev.ZeroLike(s)); !errors.Is(err, rev.ErrUnsupported) {
		t.Errorf("the inverse of an adjoint: %v", err)
	}
}
