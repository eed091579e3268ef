package corner

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func positive[T rev.Real](rnd *rand.Rand, n int, scale, least float64) rev.Vector[T] {
	v := vec[T](rnd, n, scale)
	for i, x := range v.Data {
		v.Data[i] = fixed.Of[T](least + math.Abs(fixed.Float(x)))
	}
	return v
}

// rootedSpec has problems on which the root fails in all passes, after other statements: the
// logarithm of y has a value before and after them.
func rootedSpec[T rev.Real]() revtest.Spec[Rooted[T]] {
	ready := func(rnd *rand.Rand, n int) Rooted[T] {
		return Rooted[T]{
			Out: scalar[T](0.5), Y: positive[T](rnd, n, 0.5, 100), Z: vec[T](rnd, n, 0.5), X: positive[T](rnd, n, 1, 0.5), V: positive[T](rnd, n, 1, 0.5),
		}
	}
	return revtest.Spec[Rooted[T]]{
		New: ready, Sizes: few, RoundTrip: 1000, Adjoint: 1e4, Difference: max(1e-6, 2000*eps[T]()),
		Failing: func(rnd *rand.Rand, n int) Rooted[T] {
			k := ready(rnd, n+1)
			k.X.Data[n] = fixed.Of[T](-0.25)
			return k
		},
	}
}

func TestRooted(t *testing.T) {
	all(t, rootedSpec[float64](), rootedSpec[float32](), rootedSpec[fixed.Q43]())
}

func phasesSpec[T rev.Real](divide bool) revtest.Spec[Phases[T]] {
	s := revtest.Spec[Phases[T]]{New: func(rnd *rand.Rand, n int) Phases[T] {
		return Phases[T]{X: positive[T](rnd, n, 0.5, 4), Y: positive[T](rnd, n, 0.5, 0.5), Z: positive[T](rnd, n, 0.5, 0), Times: 2, Divide: divide}
	}, Sizes: []int{0, 1, 2, 5}, RoundTrip: 1000, Adjoint: 1e4, Difference: max(1e-6, 2000*eps[T]())}
	if !divide {
		s.Failing = func(rnd *rand.Rand, n int) Phases[T] {
			k := s.New(rnd, n+3)
			k.Times = 3
			stop(rnd, &k, 0, func(ahead, back int) bool { return ahead == 1 && back < 0 })
			stop(rnd, &k, 1, func(ahead, back int) bool { return ahead < 0 && back == 1 })
			stop(rnd, &k, 2, func(ahead, back int) bool { return ahead < 0 && back < 0 })
			for i := 3; i < k.X.N; i++ {
				k.X.Data[i], k.Y.Data[i], k.Z.Data[i] = k.X.Data[2], k.Y.Data[2], k.Z.Data[2]
			}
			return k
		}
	}
	return s
}

// stop sets element i to numbers with which phases stops in the phases that are wanted, ahead
// and back. These are -1 if it does not stop.
func stop[T rev.Real](rnd *rand.Rand, k *Phases[T], i int, wanted func(ahead, back int) bool) {
	steps := []float64{0.5}
	for range k.Times {
		steps = append(steps, math.Cos(steps[len(steps)-1]))
	}
	for {
		x, y, z := 8*rnd.Float64(), 8*rnd.Float64()-4, 32*rnd.Float64()-16
		near := false // so near to 0 that a type may round it to the other side
		ahead, back := -1, -1
		a, b := x, y
		for p := 0; p < k.Times && ahead < 0; p++ {
			if a += steps[p] * b; a <= 0 {
				ahead = p
			}
			near = near || math.Abs(a) < 0.01
			b += math.Log(a)
			a += z * b / 16
		}
		a, b = x, y
		for p := k.Times - 1; p >= 0 && back < 0; p-- {
			if a -= z * b / 16; a <= 0 {
				back = p
			}
			near = near || math.Abs(a) < 0.01
			b -= math.Log(a)
			a -= steps[p] * b
		}
		if !near && wanted(ahead, back) {
			k.X.Data[i], k.Y.Data[i], k.Z.Data[i] = fixed.Of[T](x), fixed.Of[T](y), fixed.Of[T](z)
			return
		}
	}
}

func TestPhases(t *testing.T) {
	all(t, phasesSpec[float64](false), phasesSpec[float32](false), phasesSpec[fixed.Q43](false))
	t.Run("divide", func(t *testing.T) {
		all(t, phasesSpec[float64](true), phasesSpec[float32](true), phasesSpec[fixed.Q43](true))
	})
}

// If a call fails in the middle, the function's error comes back, and all operands and
// derivatives are as they were, to the bit.
func TestFailingMiddle(t *testing.T) {
	t.Run("float64", failingMiddle[float64])
	t.Run("float32", failingMiddle[float32])
	t.Run("Q43", failingMiddle[fixed.Q43])
}

func failingMiddle[T rev.Real](t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	k, g, d, gd := phasesSpec[T](false).Failing(rnd, 2), derivatives[T](rnd), derivatives[T](rnd), derivatives[T](rnd)
	for name, pass := range map[string]func() error{
		"Forward":        k.Forward,
		"Inverse":        k.Inverse,
		"Adjoint":        func() error { return k.Adjoint(g) },
		"Tangent":        func() error { return k.Tangent(d) },
		"AdjointTangent": func() error { return k.AdjointTangent(g, d, gd) },
		"Gradient":       func() error { return rev.Gradient(k, g) },
		"undone Adjoint": func() error { return rev.Undo(k, rev.AdjointPass(&k, &g)) },
		"undone Tangent": func() error { return rev.Undo(k, rev.TangentPass(&k, &d)) },
		"undone AdjointTangent": func() error {
			return rev.Undo(k, rev.AdjointTangentPass(&k, &g, &d, &gd))
		},
	} {
		was := bits(k, g, d, gd)
		err := pass()
		if domain := (*rev.DomainError)(nil); !errors.Is(err, errPhase) || !errors.As(err, &domain) || !strings.HasPrefix(err.Error(), "phase 1: ") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if now := bits(k, g, d, gd); now != was {
			t.Errorf("%s: was %s, is %s", name, was, now)
		}
	}
	k.Times = -1
	if err := k.Forward(); !errors.Is(err, errPhase) {
		t.Errorf("less than no phases: %v", err)
	}
}

func derivatives[T rev.Real](rnd *rand.Rand) Phases[T] {
	return Phases[T]{X: vec[T](rnd, 5, 1), Y: vec[T](rnd, 5, 1), Z: vec[T](rnd, 5, 1)}
}

func bits[T rev.Real](ks ...Phases[T]) string {
	var all []T
	for _, k := range ks {
		all = slices.Concat(all, k.X.Data, k.Y.Data, k.Z.Data)
	}
	return fmt.Sprint(all) // the shortest texts that tell numbers apart
}

// The root of 0 has a value and no derivative. Its adjoint fails after the logarithm's.
func TestFailingDerivative(t *testing.T) {
	k := rootedSpec[float64]().New(rand.New(rand.NewPCG(1, 2)), 3)
	k.X.Data[1] = 0
	was := slices.Concat(k.Y.Data, k.Z.Data, []float64{*k.Out})
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	one := 1.0
	g := Rooted[float64]{Out: &one, Y: rev.ViewSlice([]float64{1, 2, 3}), Z: rev.ViewSlice([]float64{4, 5, 6}), X: rev.ViewSlice([]float64{7, 8, 9}), V: rev.ViewSlice([]float64{0, 1, 2})}
	state := func() []float64 {
		return slices.Concat(k.Y.Data, k.Z.Data, []float64{*k.Out}, g.Y.Data, g.Z.Data, g.X.Data, g.V.Data)
	}
	before := state()
	err := k.Adjoint(g)
	if domain := (*rev.DomainError)(nil); !errors.As(err, &domain) || domain.Order != 1 || domain.Index != 1 {
		t.Errorf("the error is %v", err)
	}
	if after := state(); !slices.Equal(before, after) {
		t.Errorf("the state was %v, is %v", before, after)
	}
	if err := k.Inverse(); err != nil {
		t.Fatal(err)
	}
	for i, v := range slices.Concat(k.Y.Data, k.Z.Data, []float64{*k.Out}) {
		if !(math.Abs(v-was[i]) < 1e-13) {
			t.Errorf("number %d is %v, was %v", i, v, was[i])
		}
	}
}

// The functions compute the same.
func TestFailingSource(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	r := rootedSpec[float64]().New(rnd, 5)
	out := []float64{0}
	r.Out = &out[0]
	same(t, "rooted", func() { must(r.Forward()) }, func() { must(rooted(&out[0], r.Y.Data, r.Z.Data, r.X.Data, r.V.Data)) }, out, r.Y.Data, r.Z.Data)
	for _, divide := range []bool{false, true} {
		k := phasesSpec[float64](divide).New(rnd, 5)
		same(t, "phases", func() { must(k.Forward()) }, func() { must(phases(k.X.Data, k.Y.Data, k.Z.Data, 2, divide)) }, k.X.Data, k.Y.Data)
	}
}
