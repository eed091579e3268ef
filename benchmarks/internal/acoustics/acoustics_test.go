package acoustics_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"revnum/benchmarks/internal/acoustics"
	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
)

// Measure stops in the middle of a pass if the context does, and says before what it did.
func TestMeasureStops(t *testing.T) {
	for _, c := range []struct {
		stage       string
		size, steps int
		long        bool // whether it takes seconds
	}{
		{"gradient, step 336 of 700 ahead", 316, 700, true}, {"gradient, step 672 of 700 back", 316, 700, true},
		{"steps over float32", 40, 10, false}, {"inversion, gradient 1", 40, 10, true},
	} {
		if c.long && !long.Tests() {
			continue
		}
		stage := c.stage
		ctx, cancel := context.WithCancel(t.Context())
		stopped := false
		_, err := acoustics.Measure(ctx, c.size, c.steps, 1, 5, 1, time.Millisecond, func(doing string) {
			if stopped && doing != stage && !strings.HasPrefix(doing, "steps") {
				t.Errorf("%s after %s", doing, stage)
			}
			if doing == stage {
				stopped = true
				cancel()
			}
		})
		if !stopped || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: stopped %v, error %v", stage, stopped, err)
		}
		cancel()
	}
}

// A pass in parts has the bits of a pass in one.
func TestParts(t *testing.T) {
	const size, steps = 40, 1000
	problem := func() (s, g *acoustics.Trial) {
		s = &acoustics.Trial{Steps: acoustics.Field[fixed.Q43](size, steps, 10, 1), Part: 300}
		s.ReceiverAt = []int{410, 777}
		s.Trace = rev.NewGeneral[fixed.Q43](steps, 2, nil)
		g = &acoustics.Trial{Steps: *rev.ZeroLike(&s.Steps)}
		for i := range g.Trace.Data {
			g.Trace.Data[i] = fixed.FromFloat64(float64(i%7) / 100)
		}
		return s, g
	}
	s, g := problem()
	if err := errors.Join(s.Run(t.Context(), nil, func(string) {}), s.Run(t.Context(), g, func(string) {})); err != nil {
		t.Fatal(err)
	}
	whole, gw := problem()
	if err := errors.Join(whole.Forward(), whole.Adjoint(gw.Steps)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.U.Data, whole.U.Data) || !slices.Equal(g.M.Data, gw.M.Data) || s.Absorbed.Steps() != 0 {
		t.Error("the parts have other bits")
	}
	if g.M.Data[410] == 0 {
		t.Error("no gradient")
	}
}
