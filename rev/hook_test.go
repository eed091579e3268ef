package rev_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

// hooked is the state of y += sin(a + b)/2 and z += sin(y + b)/2.
type hooked struct {
	A, B, Y, Z []float64
}

func newHooked() *hooked {
	return &hooked{[]float64{0.3}, []float64{0.2}, []float64{0}, []float64{0}}
}

// around returns the program with a step between its two kernels.
func around(step rev.Step[hooked]) rev.Step[hooked] {
	return rev.Seq(
		rev.At(func(s *hooked) wave { return wave{Y: &s.Y[0], A: &s.A[0], B: &s.B[0]} }),
		step,
		rev.At(func(s *hooked) wave { return wave{Y: &s.Z[0], A: &s.Y[0], B: &s.B[0]} }),
	)
}

// gradientOf returns the gradient of z.
func gradientOf(t *testing.T, p rev.Step[hooked]) *hooked {
	t.Helper()
	s, g := newHooked(), rev.ZeroLike(newHooked())
	if _, err := rev.ValueGradient(p, func(s *hooked) *float64 { return &s.Z[0] }, s, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestHook(t *testing.T) {
	plain := gradientOf(t, around(rev.Step[hooked]{}))
	var seen []float64
	watched := gradientOf(t, around(rev.Hook(func(s, g *hooked) { seen = append(seen, s.Y[0], g.Y[0]) })))
	y := math.Sin(0.5) / 2
	if want := []float64{y, math.Cos(y+0.2) / 2}; len(seen) != 2 || math.Abs(seen[0]-want[0])+math.Abs(seen[1]-want[1]) > 1e-15 {
		t.Errorf("the hook saw %v, want %v", seen, want)
	}
	if watched.A[0] != plain.A[0] {
		t.Errorf("a hook that looks changes %v to %v", plain.A, watched.A)
	}
	doubled := gradientOf(t, around(rev.Hook(func(_, g *hooked) { g.Y[0] *= 2 })))
	if doubled.A[0] != 2*plain.A[0] {
		t.Errorf("a hook that doubles changes %v to %v", plain.A, doubled.A)
	}

	p := around(rev.Hook(func(_, g *hooked) { g.Y[0] *= 2 }))
	s := newHooked()
	if err := p.Forward(s); err != nil {
		t.Fatal(err)
	}
	if err := p.Inverse(s); err != nil || s.A[0] != 0.3 {
		t.Errorf("Inverse: %v, %v", err, s)
	}
	if err := p.Tangent(s, rev.ZeroLike(s)); err != nil {
		t.Errorf("Tangent: %v", err)
	}
	z := rev.ZeroLike[hooked]
	if err := p.AdjointTangent(s, z(s), z(s), z(s)); !errors.Is(err, rev.ErrUnsupported) {
		t.Errorf("AdjointTangent: %v", err)
	}
	if err := rev.Uncall(p).Adjoint(s, z(s)); !errors.Is(err, rev.ErrUnsupported) {
		t.Errorf("Adjoint of Uncall: %v", err)
	}
}

// drifting is the state of a rotation by θ, n times.
type drifting struct {
	X, Y, Theta []float64
	Saved       rev.Snapshots[float64]
}

// TestCheckpoint compares a checkpointed program with the same program without.
func TestCheckpoint(t *testing.T) {
	turn := rev.At(func(s *drifting) rotate { return rotate{&s.X[0], &s.Y[0], &s.Theta[0]} })
	body := rev.Repeat(func(*drifting) int { return 10 }, turn)
	saved := func(s *drifting) *rev.Snapshots[float64] { return &s.Saved }
	kept := rev.Checkpoint(body, saved, func(s *drifting) []float64 { return s.X }, func(s *drifting) []float64 { return s.Y })
	times := func(*drifting) int { return 5 }
	start := func() *drifting { return &drifting{X: []float64{0.1}, Y: []float64{0.7}, Theta: []float64{0.3}} }
	run := func(p rev.Step[drifting]) (s, g, h *drifting) {
		s, g, h = start(), rev.ZeroLike(start()), rev.ZeroLike(start())
		d := rev.ZeroLike(start())
		d.Theta[0], g.X[0] = 1, 1
		if err := errors.Join(p.Tangent(s, d), p.AdjointTangent(s, g, d, h)); err != nil {
			t.Fatal(err)
		}
		if math.Abs(d.X[0])+math.Abs(d.Y[0]) > 1e-12 || d.Saved.Len() != 0 {
			t.Errorf("tangents are %v", d)
		}
		return s, g, h
	}
	s, g, h := run(rev.Repeat(times, kept))
	if s.X[0] != 0.1 || s.Y[0] != 0.7 || s.Saved.Len() != 0 {
		t.Errorf("the state is %v after a checkpoint", s)
	}
	_, plain, plainH := run(rev.Repeat(times, body))
	if math.Abs(g.Theta[0]-plain.Theta[0]) > 1e-11 || math.Abs(h.Theta[0]-plainH.Theta[0]) > 1e-9 {
		t.Errorf("derivatives %v and %v, without checkpoints %v and %v", g.Theta, h.Theta, plain.Theta, plainH.Theta)
	}

	// Errors.
	var violation *rev.Violation
	s = start()
	if err := kept.Inverse(s); !errors.As(err, &violation) {
		t.Errorf("Inverse without a copy: %v", err)
	}
	if err := kept.Forward(s); err != nil || s.Saved.Len() != 2 {
		t.Fatal(err, s.Saved.Len())
	}
	s.Y = []float64{1, 2}
	if err := kept.Inverse(s); !errors.As(err, &violation) {
		t.Errorf("Inverse with a copy of another length: %v", err)
	}

	// A step that fails leaves no copy when ahead, and its copy when back.
	s = start()
	fails := rev.Checkpoint(rev.At(func(s *drifting) root { return root{Y: &s.X[0], A: &s.Y[0]} }), saved, func(s *drifting) []float64 { return s.X })
	s.Y[0] = -1
	if err := fails.Forward(s); !errors.Is(err, errRoot) || s.Saved.Len() != 0 || s.X[0] != 0.1 {
		t.Errorf("%v, %d copies", err, s.Saved.Len())
	}
	s.Y[0] = 1
	if err := fails.Forward(s); err != nil {
		t.Fatal(err)
	}
	s.Y[0] = -1
	if err := fails.Inverse(s); !errors.Is(err, errRoot) || s.Saved.Len() != 1 || s.X[0] != 1.1 {
		t.Errorf("%v, %d copies", err, s.Saved.Len())
	}

	// After the first run no copy is allocated.
	s = start()
	loop := func() {
		if err := errors.Join(kept.Forward(s), kept.Inverse(s)); err != nil {
			t.Fatal(err)
		}
	}
	loop()
	if n := testing.AllocsPerRun(20, loop); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// few is the state of y += a·b with a forward-mode step.
type few[T rev.Real] struct {
	A, B, Y, W []T
}

func fewProgram[T rev.Real](inputs ...func(*few[T]) []T) rev.Step[few[T]] {
	return rev.ForwardMode(
		rev.Seq(
			rev.At(func(s *few[T]) product[T] { return product[T]{&s.Y[0], &s.A[0], &s.A[1]} }),
			rev.At(func(s *few[T]) product[T] { return product[T]{&s.Y[1], &s.A[0], &s.B[0]} })),
		inputs, []func(*few[T]) []T{func(s *few[T]) []T { return s.Y }})
}

func newFew[T rev.Real]() *few[T] {
	of := func(v ...float64) (x []T) {
		for _, v := range v {
			x = append(x, fixed.Of[T](v))
		}
		return x
	}
	return &few[T]{of(1.5, -0.5), of(2), of(0, 0), of(3)}
}

func TestForwardMode(t *testing.T) {
	t.Run("float64", testForwardMode[float64])
	t.Run("Q43", testForwardMode[fixed.Q43])
}

func testForwardMode[T rev.Real](t *testing.T) {
	ofA, ofB := func(s *few[T]) []T { return s.A }, func(s *few[T]) []T { return s.B }
	p := fewProgram(ofA, ofB)
	s, g := newFew[T](), newFew[T]()
	g.A, g.B, g.Y = []T{fixed.Of[T](1), 0}, []T{0}, []T{fixed.Of[T](2), fixed.Of[T](4)}
	if err := p.Forward(s); err != nil {
		t.Fatal(err)
	}
	after := *newFew[T]()
	after.Y = slices.Clone(s.Y)
	if err := p.Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got []T, want ...float64) {
		t.Helper()
		for i, w := range want {
			if math.Abs(fixed.Float(got[i])-w) > 1e-6 {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
	}
	// ā_0 = 1 + 2·a_1 + 4·b, ā_1 = 2·a_0, b̄ = 4·a_0
	near("ā", g.A, 1+2*-0.5+4*2, 2*1.5)
	near("b̄", g.B, 4*1.5)
	near("ȳ", g.Y, 2, 4)
	if s.Y[0] != 0 || s.Y[1] != 0 {
		t.Errorf("Adjoint left %v", s.Y)
	}
	if err := rev.Uncall(p).Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	near("ā after an undone adjoint", g.A, 1, 0)
	if !slices.Equal(s.Y, after.Y) {
		t.Errorf("an undone adjoint left %v, want %v", s.Y, after.Y)
	}
	z := rev.ZeroLike[few[T]]
	if err := p.AdjointTangent(s, z(s), z(s), z(s)); !errors.Is(err, rev.ErrUnsupported) {
		t.Errorf("AdjointTangent: %v", err)
	}
	g = z(s)
	g.B, g.Y[1] = nil, fixed.Of[T](1)
	if err := p.Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	near("ā without b̄", g.A, 2, 0)
}

// In a branch of ParallelShared the gradient of a shared input goes to the branch's own copy
// of the cotangents, and from there to ā when the branches join.
func TestForwardModeShared(t *testing.T) {
	ofA := func(s *few[float64]) []float64 { return s.A }
	var during []float64
	branch := rev.Seq(rev.Hook(func(_, g *few[float64]) { during = slices.Clone(g.A) }), fewProgram(ofA))
	s, g := newFew[float64](), rev.ZeroLike(newFew[float64]())
	g.Y[0] = 2
	if err := rev.ParallelShared([]func(*few[float64]) []float64{ofA}, branch).Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(during, []float64{0, 0}) || !slices.Equal(g.A, []float64{-1, 3}) {
		t.Errorf("ā is %v in the branch and %v after it, want 0 and [-1 3]", during, g.A)
	}
	first := func(s *few[float64]) []float64 { return s.A[:1] }
	if err := rev.ParallelShared([]func(*few[float64]) []float64{first}, branch).Adjoint(s, g); err == nil {
		t.Error("no error for an input of which a part is shared")
	}
}

// TestForwardModeErrors uses a kernel that fails, and runs the suite.
func TestForwardModeErrors(t *testing.T) {
	s, g := newFew[float64](), newFew[float64]()
	y := []func(*few[float64]) []float64{func(s *few[float64]) []float64 { return s.Y }}
	a := []func(*few[float64]) []float64{func(s *few[float64]) []float64 { return s.A }}
	p := rev.ForwardMode(rev.At(func(s *few[float64]) root { return root{&s.Y[0], &s.A[0]} }), a, y)
	if err := p.Forward(s); err != nil {
		t.Fatal(err)
	}
	s.A[0] = -1
	was := s.Y[0]
	g.A[0] = 7
	if err := p.Adjoint(s, g); !errors.Is(err, errRoot) || s.Y[0] != was || g.A[0] != 7 {
		t.Errorf("%v, y = %v, ā = %v", err, s.Y, g.A)
	}
	revtest.Program(t, rev.Seq(fewProgram(a[0], func(s *few[float64]) []float64 { return s.B })), newFew[float64]())
}
