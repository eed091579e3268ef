package rev_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/rev"
)

// counted returns the condition n[0] == k.
func counted(k int) func(*state) bool {
	return func(s *state) bool { return s.n[0] == k }
}

// at returns the condition n[i] == k.
func at(i, k int) func(*state) bool {
	return func(s *state) bool { return s.n[i] == k }
}

func fewer(k int) func(*state) bool {
	return func(s *state) bool { return s.n[0] < k }
}

func TestViolation(t *testing.T) {
	step := rev.Seq(countAt(0, 1), waveAt(0, 1, 2))
	always, never := func(*state) bool { return true }, func(*state) bool { return false }
	for _, test := range []struct {
		name string
		step rev.Step[state]
		path string // of the violation in Forward, "" if there is none
		what string
		back string // in Inverse, from the same state
	}{
		{"If then", rev.If(counted(0), counted(0), step, nop), "If.then", "postcondition must be true, found false", "If.then"},
		{"If else", rev.If(counted(1), counted(1), nop, step), "If.else", "postcondition must be false, found true", ""},
		{"If without else", rev.If(never, always, step, nop), "If.else", "must be false, found true", "If.then"},
		{"If back", rev.If(counted(0), counted(1), nop, step), "If.then", "postcondition must be true", ""},
		{"While at once", rev.While(fewer(3), always, step), "While", "must be false at the end where the loop starts", "While"},
		{"While later", rev.While(fewer(3), func(s *state) bool { return s.n[0] == 1 }, step), "While", "must be true after iteration 1", "While"},
		{"Repeat", rev.Repeat(func(s *state) int { return 2 + s.n[0] }, step), "Repeat", "must be 2 again after the loop, found 4", "Repeat"},
		{"Repeat negative", rev.Repeat(func(*state) int { return -1 }, step), "Repeat", "must not be negative, found -1", "Repeat"},
		{"For", rev.For(func(s *state) int { return 2 + s.n[0] }, index(1), step), "For", "must be 2 again after the loop, found 4", "For"},
		{"For negative", rev.For(func(*state) int { return -1 }, index(1), step), "For", "must not be negative, found -1", "For"},
		{"For index", rev.For(times3, index(1), rev.Seq(rowAt(8), rev.If(at(1, 1), at(1, 2), rev.Seq(countAt(1, 1), rowAt(8)), nop))),
			"For", "the index must be 1 after the body, found 2", "For"},
		{"Routine", rev.Routine(waveAt(10, 0, 1), waveAt(10, 2, 2), slot(9), slot(10)), "Routine", "must be zero before", "Routine"},
		{"Routine leaves", rev.Routine(waveAt(10, 0, 1), waveAt(10, 2, 2), slot(10)), "Routine", "element 0 of the ancillas must be zero after", "Routine"},
		{"Routine second", rev.Routine(waveAt(10, 0, 1), waveAt(11, 2, 2), slot(10), slot(11)), "Routine", "element 1 of the ancillas must be zero after", "Routine"},
		{"path", rev.Seq(step, rev.Repeat(times3, rev.Uncall(rev.Seq(step, rev.If(always, never, step, nop))))),
			"Seq[1].Repeat.Uncall.Seq[1].If.else", "the precondition must be false, found true", "Seq[1].Repeat.Uncall.Seq[1].If.then"},
		{"path in For", rev.For(times3, index(1), rev.If(at(1, 1), always, rev.While(always, always, step), nop)), "For[0].If.else", "", "For[2].If.then.While"},
		{"path in If", rev.If(always, always, rev.While(always, always, step), nop), "If.then.While", "", "If.then.While"},
		{"path in Parallel", rev.Parallel(nop, rev.While(always, always, step)), "Parallel[1].While", "", "Parallel[1].While"},
		{"path in Routine", rev.Routine(nop, rev.While(always, always, step), slot(10)), "Routine.copy.While", "", "Routine.copy.While"},
	} {
		rnd := rand.New(rand.NewPCG(8, 9))
		s := randomState(rnd)
		for _, m := range methods {
			path := test.path
			if m.back {
				path = test.back
			}
			x, g, tt, gt := *s, *randomDerivative(rnd), *randomDerivative(rnd), *randomDerivative(rnd)
			g0, t0, gt0 := g, tt, gt
			err := m.run(test.step, &x, &g, &tt, &gt)
			if path == "" {
				if err != nil {
					t.Errorf("%s: %s: %v", test.name, m.name, err)
				}
				continue
			}
			var v *rev.Violation
			if !errors.As(err, &v) || strings.TrimPrefix(v.Step, "Uncall.") != path {
				t.Errorf("%s: %s: error %v, want a Violation of %s", test.name, m.name, err, path)
				continue
			}
			if m.name == "Forward" && !strings.Contains(err.Error(), test.what) {
				t.Errorf("%s: error %q does not contain %q", test.name, err, test.what)
			}
			for i, d := range []float64{distance(&x, s), distance(&g, &g0), distance(&tt, &t0), distance(&gt, &gt0)} {
				if d > roundoff {
					t.Errorf("%s: %s: argument %d is off by %g", test.name, m.name, i, d)
				}
			}
			if x.v[10] != 0 || x.v[11] != 0 {
				t.Errorf("%s: %s: ancillas are %v", test.name, m.name, x.v[10:])
			}
		}
	}
}

// methods lists the methods of a Step and, from the state that they lead to, of
// its Uncall.
var methods = []struct {
	name string
	back bool
	run  func(p rev.Step[state], s, g, t, gt *state) error
}{
	{"Forward", false, func(p rev.Step[state], s, _, _, _ *state) error { return p.Forward(s) }},
	{"Inverse", true, func(p rev.Step[state], s, _, _, _ *state) error { return p.Inverse(s) }},
	{"Adjoint", true, func(p rev.Step[state], s, g, _, _ *state) error { return p.Adjoint(s, g) }},
	{"Tangent", false, func(p rev.Step[state], s, _, t, _ *state) error { return p.Tangent(s, t) }},
	{"AdjointTangent", true, func(p rev.Step[state], s, g, t, gt *state) error { return p.AdjointTangent(s, g, t, gt) }},
	{"InverseAdjoint", false, func(p rev.Step[state], s, g, _, _ *state) error { return rev.Uncall(p).Adjoint(s, g) }},
	{"InverseTangent", true, func(p rev.Step[state], s, _, t, _ *state) error { return rev.Uncall(p).Tangent(s, t) }},
	{"InverseAdjointTangent", false, func(p rev.Step[state], s, g, t, gt *state) error {
		return rev.Uncall(p).AdjointTangent(s, g, t, gt)
	}},
}

// TestRoutineTolerance leaves as much in an ancilla as rounding does, more than that, and
// NaN.
func TestRoutineTolerance(t *testing.T) {
	leave := func(left float64) rev.Step[state] {
		return rev.Routine(waveAt(10, 0, 1), rev.At(func(s *state) add[float64] { return add[float64]{&s.v[10], left} }), slot(10))
	}
	s := randomState(rand.New(rand.NewPCG(1, 1)))
	m := math.Sin(s.v[0]+s.v[1]) / 2
	for _, test := range []struct {
		left float64
		ok   bool
	}{
		{0, true}, {0x1p-27 * m, true}, {-0x1p-27 * m, true},
		{0x1p-25 * m, false}, {-0x1p-25 * m, false}, {math.NaN(), false}, {math.Inf(1), false},
	} {
		x := *s
		err := leave(test.left).Forward(&x)
		if (err == nil) != test.ok {
			t.Errorf("left %g: error %v", test.left, err)
		}
		if x.v[10] != 0 {
			t.Errorf("left %g: ancilla is %v", test.left, x.v[10])
		}
	}

	// Over fixed point nothing may be left.
	type numbers struct{ x, y, z fixed.Q43 }
	ancilla := func(s *numbers) []fixed.Q43 { return []fixed.Q43{s.z} }
	compute := rev.At(func(s *numbers) product[fixed.Q43] { return product[fixed.Q43]{&s.z, &s.x, &s.y} })
	for _, left := range []fixed.Q43{0, 1, -1, math.MinInt64} {
		p := rev.Routine(compute, rev.At(func(s *numbers) add[fixed.Q43] { return add[fixed.Q43]{&s.z, left} }), ancilla)
		q := numbers{x: 3 << 43, y: 5 << 40}
		x := q
		if err := p.Forward(&x); (err == nil) != (left == 0) {
			t.Errorf("left %d: error %v", left, err)
		}
		if x != q {
			t.Errorf("left %d: state %v, want %v", left, x, q)
		}
	}
}

// TestRoutineDerivatives has junk in the derivatives of the ancillas.
func TestRoutineDerivatives(t *testing.T) {
	p := rev.Routine(waveAt(10, 0, 1), waveAt(2, 10, 3), slot(10))
	rnd := rand.New(rand.NewPCG(1, 1))
	s, g, tt, gt := randomState(rnd), randomDerivative(rnd), randomDerivative(rnd), randomDerivative(rnd)
	for _, m := range methods {
		var want []state
		for _, junk := range []float64{0, math.NaN()} {
			x, y, z, w := *s, *g, *tt, *gt
			y.v[10], z.v[10], w.v[10] = junk, junk, junk
			if err := m.run(p, &x, &y, &z, &w); err != nil {
				t.Fatal(err)
			}
			got := []state{x, y, z, w}
			if junk == 0 {
				want = got
				continue
			}
			for i := range got {
				// A method leaves alone what is none of its arguments.
				got[i].v[10] = 0
				if got[i] != want[i] {
					t.Errorf("%s: argument %d is %v, want %v", m.name, i, got[i].v, want[i].v)
				}
			}
		}
	}
}
