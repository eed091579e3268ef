package rev_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"revnum/rev"
)

// TestRollback fails every method of every program at each place in it: the
// state and its derivatives are then as they were found.
func TestRollback(t *testing.T) {
	var fuse int // the kernel runs that are left before one fails
	boom := errors.New("boom")
	// mark is a step that fails when the fuse is burnt down.
	mark := func() rev.Step[state] {
		return rev.At(func(s *state) fuseKernel {
			return fuseKernel{&s.v[0], &s.v[1], func() error {
				fuse--
				if fuse == 0 {
					return boom
				}
				return nil
			}}
		})
	}
	pair := func(a rev.Step[state]) rev.Step[state] { return rev.Seq(mark(), a, mark()) }
	for _, test := range []struct {
		name string
		step rev.Step[state]
		path string // of some failure
	}{
		{"At", mark(), "At(rev_test.fuseKernel)"},
		{"Seq", pair(pair(rotateAt(0, 1, 2))), "Seq[1].Seq[2].At(rev_test.fuseKernel)"},
		{"Uncall", rev.Uncall(pair(rev.Uncall(pair(rotateAt(0, 1, 2))))), "Uncall.Seq[1].Uncall.Seq[0].At(rev_test.fuseKernel)"},
		{"Repeat", pair(rev.Repeat(times3, pair(waveAt(2, 0, 1)))), "Seq[1].Repeat.Seq[2].At(rev_test.fuseKernel)"},
		{"For", pair(rev.For(times3, index(1), pair(rowAt(8)))), "Seq[1].For[1].Seq[2].At(rev_test.fuseKernel)"},
		{"If", pair(rev.If(isZero(0), isZero(0), pair(waveAt(2, 0, 1)), nop)), "Seq[1].If.then.Seq[2].At(rev_test.fuseKernel)"},
		{"If else", pair(rev.If(isZero(1), isZero(1), nop, pair(waveAt(2, 0, 1)))), "Seq[1].If.else.Seq[2].At(rev_test.fuseKernel)"},
		{"While", pair(rev.Seq(rev.While(fewer(3), func(s *state) bool { return s.n[0] > 0 },
			rev.Seq(countAt(0, 1), mark(), waveAt(2, 0, 1))), countAt(0, -3))), "Seq[1].Seq[0].While.Seq[1].At(rev_test.fuseKernel)"},
		{"Routine", pair(rev.Routine(pair(waveAt(10, 2, 3)), pair(waveAt(4, 10, 2)), slot(10))),
			"Seq[1].Routine.uncompute.Uncall.Seq[0].At(rev_test.fuseKernel)"},
		{"Parallel", pair(rev.Parallel(waveAt(2, 8, 9), pair(nop), rotateAt(4, 5, 9))), "Seq[1].Parallel[1].Seq[2].At(rev_test.fuseKernel)"},
		{"ParallelShared", pair(rev.ParallelShared([]func(*state) []float64{slot(8), slot(9)},
			waveAt(2, 8, 9), pair(nop), rotateAt(4, 5, 9))), "Seq[1].Parallel[1].Seq[2].At(rev_test.fuseKernel)"},
		{"Call", pair(rev.Call(new(pair(waveAt(2, 0, 1))))), "Seq[1].Seq[2].At(rev_test.fuseKernel)"},
	} {
		paths := make(map[string]bool)
		for _, m := range methods {
			rnd := rand.New(rand.NewPCG(8, 9))
			s, g, tt, gt := randomState(rnd), randomDerivative(rnd), randomDerivative(rnd), randomDerivative(rnd)
			fuse = -1
			if m.back { // a state that can run back
				if err := test.step.Forward(s); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
			}
			places := 0
			for place := 1; ; place++ {
				fuse = place
				x, y, z, w := *s, *g, *tt, *gt
				err := m.run(test.step, &x, &y, &z, &w)
				if err == nil {
					break
				}
				places++
				var step *rev.StepError
				if !errors.Is(err, boom) || !errors.As(err, &step) {
					t.Fatalf("%s: %s: error %v", test.name, m.name, err)
				}
				paths[step.Step] = true
				if strings.Contains(err.Error(), "not restored") {
					t.Errorf("%s: %s: %v", test.name, m.name, err)
				}
				for i, d := range []float64{distance(&x, s), distance(&y, g), distance(&z, tt), distance(&w, gt)} {
					if d > roundoff {
						t.Errorf("%s: %s fails at kernel run %d: argument %d is off by %g", test.name, m.name, place, i, d)
					}
				}
				if x.v[10] != 0 {
					t.Errorf("%s: %s fails at kernel run %d: ancilla is %g", test.name, m.name, place, x.v[10])
				}
			}
			if places == 0 {
				t.Errorf("%s: %s never failed", test.name, m.name)
			}
		}
		if !paths[test.path] {
			t.Errorf("%s: no failure at %s, but at %v", test.name, test.path, paths)
		}
	}
}

// fuseKernel is the kernel y += a that may fail.
type fuseKernel struct {
	Y    *float64 `rev:"acc"`
	A    *float64 `rev:"in"`
	fail func() error
}

func (k fuseKernel) Run(p rev.Pass[fuseKernel]) error {
	if err := k.fail(); err != nil {
		return err
	}
	sign := float64(p.Sign())
	to(k.Y, float64(sign**k.A))
	to(p.T.Y, float64(sign*val(p.T.A)))
	to(p.G.A, val(p.G.Y))
	to(p.GT.A, val(p.GT.Y))
	return nil
}

// TestRollbackWithoutInverseAdjoint has a kernel whose adjoint has no inverse. Only the
// state is restored, and the error says so.
func TestRollbackWithoutInverseAdjoint(t *testing.T) {
	p := rev.Seq(rootAt(4, 5), waveAt(2, 0, 1), rotateOnlyAt(0, 1, 3), waveAt(2, 0, 1))
	rnd := rand.New(rand.NewPCG(8, 9))
	s, g := randomState(rnd), randomDerivative(rnd)
	s.v[5] = -1
	x := *s
	err := p.Adjoint(&x, g)
	if !errors.Is(err, errRoot) || !strings.Contains(err.Error(), "not restored: kernel rev_test.rotateOnly has no pass InverseAdjoint") {
		t.Errorf("error %v", err)
	}
	if d := distance(&x, s); d > roundoff {
		t.Errorf("state is off by %g", d)
	}
}

// TestRollbackFails has a kernel that fails once, and again when it is undone.
func TestRollbackFails(t *testing.T) {
	boom, bang := errors.New("boom"), errors.New("bang")
	errs := []error{nil, boom, bang}
	mark := rev.At(func(s *state) fuseKernel {
		return fuseKernel{&s.v[0], &s.v[1], func() (err error) {
			err, errs = errs[0], errs[1:]
			return err
		}}
	})
	err := rev.Repeat(times3, mark).Forward(new(state))
	if !errors.Is(err, boom) || !errors.Is(err, bang) || !strings.Contains(err.Error(), "not restored") {
		t.Errorf("error %v", err)
	}
}

func TestUnsupported(t *testing.T) {
	inPlace := rev.Seq(waveAt(0, 1, 2), rotateOnlyAt(0, 1, 2))
	linear := rev.At(func(s *state) add[float64] { return add[float64]{&s.v[3], 1} })
	mixed := rev.At(func(s *state) mixed { return mixed{&s.v[0], &s.v[1], &s.v[2]} })
	for _, test := range []struct {
		step   rev.Step[state]
		method string // of the step
		want   string // kernel and method
	}{
		{inPlace, "InverseAdjoint", "rev_test.rotateOnly InverseAdjoint"},
		{inPlace, "InverseTangent", "rev_test.rotateOnly InverseTangent"},
		{inPlace, "AdjointTangent", "rev_test.rotateOnly AdjointTangent"},
		{inPlace, "InverseAdjointTangent", "rev_test.rotateOnly InverseAdjointTangent"},
		{rev.Uncall(inPlace), "Adjoint", "rev_test.rotateOnly InverseAdjoint"},
		{mixed, "InverseAdjoint", "rev_test.mixed InverseAdjoint"},
		{mixed, "InverseTangent", "rev_test.mixed InverseTangent"},
		{linear, "AdjointTangent", "rev_test.add[float64] AdjointTangent"},
		{linear, "InverseAdjointTangent", "rev_test.add[float64] InverseAdjointTangent"},
	} {
		for _, m := range methods {
			if m.name != test.method {
				continue
			}
			rnd := rand.New(rand.NewPCG(8, 9))
			s, g := randomState(rnd), randomDerivative(rnd)
			x, y := *s, *g
			err := m.run(test.step, &x, &y, new(state), new(state))
			var u *rev.Unsupported
			if !errors.Is(err, rev.ErrUnsupported) || !errors.As(err, &u) || fmt.Sprintf("%s %s", u.Kernel, u.Pass) != test.want {
				t.Errorf("%s: error %v, want %s", m.name, err, test.want)
			}
			if distance(&x, s) > roundoff || distance(&y, g) > roundoff {
				t.Errorf("%s: not as it was", m.name)
			}
		}
	}
}
