package rev_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// loss is a scalar program: v[9] += √v[5], in a rotated and mixed state.
var loss = rev.Seq(
	rotateAt(0, 1, 2), waveAt(3, 0, 2), waveAt(5, 3, 1), rootAt(9, 5), rootAt(9, 3),
)

func output(s *state) *float64 { return &s.v[9] }

func TestValueGradient(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := randomState(rnd)
	s0 := *s
	g := new(state)
	value, err := rev.ValueGradient(loss, output, s, g)
	if err != nil {
		t.Fatal(err)
	}
	if distance(s, &s0) > roundoff {
		t.Error("the state is not as it was")
	}
	at := func(x *state) float64 {
		y := *x
		if err := loss.Forward(&y); err != nil {
			t.Fatal(err)
		}
		return y.v[9]
	}
	if want := at(&s0); value != want {
		t.Errorf("value %v, want %v", value, want)
	}
	for i := range s.v[:10] {
		var e state
		e.v[i] = 1
		want := (at(plus(&s0, h, &e)) - at(plus(&s0, -h, &e))) / (2 * h)
		if !(math.Abs(g.v[i]-want) <= central) {
			t.Errorf("derivative by v[%d] is %v, want %v", i, g.v[i], want)
		}
	}
}

func inputs(s *state) []float64 { return s.v[:6] }

func TestHessian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := randomState(rnd)
	s0 := *s
	var hess mat.SymDense
	value, err := rev.Hessian(&hess, loss, output, inputs, s)
	if err != nil {
		t.Fatal(err)
	}
	if distance(s, &s0) > roundoff {
		t.Error("the state is not as it was")
	}
	gradient := func(x *state) (float64, *state) {
		y, g := *x, new(state)
		value, err := rev.ValueGradient(loss, output, &y, g)
		if err != nil {
			t.Fatal(err)
		}
		return value, g
	}
	want, _ := gradient(&s0)
	if !(math.Abs(value-want) <= roundoff) {
		t.Errorf("value %v, want %v", value, want)
	}
	for j := range 6 {
		var e state
		e.v[j] = 1
		_, up := gradient(plus(&s0, h, &e))
		_, down := gradient(plus(&s0, -h, &e))
		for i := range 6 {
			want := (up.v[i] - down.v[i]) / (2 * h)
			if got := hess.At(i, j); !(math.Abs(got-want) <= central) {
				t.Errorf("element (%d, %d) is %v, want %v", i, j, got, want)
			}
		}
	}

	// The product with a direction.
	dir := randomDerivative(rnd)
	clear(dir.v[6:])
	g, tt, hv := new(state), *dir, new(state)
	if _, err := rev.HessianVector(loss, output, s, g, &tt, hv); err != nil {
		t.Fatal(err)
	}
	if distance(&tt, dir) > roundoff {
		t.Error("the direction is not as it was")
	}
	var prod mat.VecDense
	prod.MulVec(&hess, mat.NewVecDense(6, dir.v[:6]))
	for i := range 6 {
		if !(math.Abs(prod.AtVec(i)-hv.v[i]) <= roundoff) {
			t.Errorf("product %d is %v, want %v", i, hv.v[i], prod.AtVec(i))
		}
	}

	for _, n := range []int{1, 5, 7} {
		checkPanic(t, "wrong order", mat.ErrShape, func() {
			_, _ = rev.Hessian(mat.NewSymDense(n, nil), loss, output, inputs, s)
		})
	}
	checkPanic(t, "no inputs", mat.ErrZeroLength, func() {
		_, _ = rev.Hessian(new(mat.SymDense), loss, output, func(*state) []float64 { return nil }, s)
	})
}

// TestDriversFail has a program that fails on the way there and on the way
// back, and one without second derivatives.
func TestDriversFail(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := randomState(rnd)
	check := func(name string, p rev.Step[state], want error, run func(p rev.Step[state], s *state) error) {
		t.Helper()
		x := *s
		err := run(p, &x)
		if want == nil {
			var u *rev.Unsupported
			if !errors.As(err, &u) {
				t.Errorf("%s: error %v, want Unsupported", name, err)
			}
		} else if !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", name, err, want)
		}
		if distance(&x, s) > roundoff {
			t.Errorf("%s: the state is not as it was", name)
		}
	}
	gradient := func(p rev.Step[state], s *state) error {
		_, err := rev.ValueGradient(p, output, s, new(state))
		return err
	}
	hessian := func(p rev.Step[state], s *state) error {
		_, err := rev.Hessian(new(mat.SymDense), p, output, inputs, s)
		return err
	}
	negative := rev.At(func(s *state) add[float64] { return add[float64]{&s.v[5], -100} })
	check("Forward fails", rev.Seq(loss, negative, loss), errRoot, gradient)
	check("Tangent fails", rev.Seq(loss, negative, loss), errRoot, hessian)
	boom := errors.New("boom")
	runs := 0
	back := rev.At(func(s *state) fuseKernel {
		return fuseKernel{&s.v[0], &s.v[1], func() error {
			if runs++; runs%3 == 2 { // the adjoint after Forward or Tangent
				return boom
			}
			return nil
		}}
	})
	check("Adjoint fails", rev.Seq(back, loss), boom, gradient)
	runs = 0
	check("AdjointTangent fails", rev.Seq(back, loss), boom, hessian)
	check("no second derivative", rev.Seq(loss, rotateOnlyAt(0, 1, 2)), nil, hessian)
}

// TestFixedExact has a program over fixed point whose methods undo each other
// to the bit, also where a sum wraps around.
func TestFixedExact(t *testing.T) {
	type numbers struct{ v [6]fixed.Q43 }
	at := func(y, a, b int) rev.Step[numbers] {
		return rev.At(func(s *numbers) product[fixed.Q43] { return product[fixed.Q43]{&s.v[y], &s.v[a], &s.v[b]} })
	}
	body := rev.Seq(at(0, 1, 2), at(1, 2, 3), at(2, 3, 0), at(3, 0, 1))
	p := rev.Seq(
		rev.Repeat(func(*numbers) int { return 1000 }, body),
		rev.Uncall(rev.Seq(at(4, 0, 1), at(0, 4, 3))),
		rev.Routine(at(5, 0, 1), at(4, 5, 5), func(s *numbers) []fixed.Q43 { return s.v[5:] }),
	)
	back := rev.Uncall(p)
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func() (s numbers) {
		for i := range s.v[:5] {
			s.v[i] = fixed.Q43(rnd.Int64N(1<<45) - 1<<44)
		}
		return s
	}
	for range 20 {
		s, g, tt := random(), random(), random()
		s0, g0, t0 := s, g, tt
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(p.Forward(&s))
		if s == s0 {
			t.Fatal("the program does nothing")
		}
		s1 := s
		must(p.Inverse(&s))
		if s != s0 {
			t.Fatalf("Inverse: %v, want %v", s, s0)
		}
		must(p.Tangent(&s, &tt))
		must(back.Tangent(&s, &tt))
		if s != s0 || tt != t0 {
			t.Fatalf("Tangent of Uncall: %v, want %v", tt, t0)
		}
		must(back.Adjoint(&s, &g))
		if s != s1 {
			t.Fatalf("state after Adjoint of Uncall: %v, want %v", s, s1)
		}
		must(p.Adjoint(&s, &g))
		if s != s0 || g != g0 {
			t.Fatalf("Adjoint: %v, want %v", g, g0)
		}
	}

	// One is the number one.
	s, g := numbers{}, numbers{}
	s.v[1], s.v[2] = 3<<43, 5<<42
	value, err := rev.ValueGradient(at(0, 1, 2), func(s *numbers) *fixed.Q43 { return &s.v[0] }, &s, &g)
	if err != nil || value != 15<<42 || g.v[1] != 5<<42 || g.v[2] != 3<<43 {
		t.Errorf("value %d, gradient %v, error %v", value, g.v, err)
	}
}
