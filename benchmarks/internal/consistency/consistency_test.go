package consistency_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/benchmarks/internal/consistency"
	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

var problem = consistency.Problem{X: 0.3, Y: 1, P: 1.6, Steps: 100}

func train[T rev.Real](t *testing.T, tol float64) {
	want := problem.Solution() // log(1 + e^-0.3)
	if math.Abs(want-0.5543552444685271) > 1e-15 {
		t.Errorf("the solution is %v", want)
	}
	r, err := consistency.Train[T](t.Context(), problem, true)
	if err != nil {
		t.Fatal(err)
	}
	if last := r.Outputs[99]; !(math.Abs(r.P-want) <= tol && math.Abs(last-1) <= 4*tol) {
		t.Errorf("f2: p = %v with output %v, want %v with 1", r.P, last, want)
	}
	// Near the end a step multiplies the error by -1/(e^q - 1) = -e^-x/y for q = p + x.
	for step := 20; step < 40; step++ {
		rate := (r.Outputs[step+1] - 1) / (r.Outputs[step] - 1)
		if !(math.Abs(rate+math.Exp(-problem.X)) <= 5e-3) {
			t.Errorf("f2: step %d multiplies the error by %v, want %v", step, rate, -math.Exp(-problem.X))
		}
	}

	r, err = consistency.Train[T](t.Context(), problem, false)
	if err != nil {
		t.Fatal(err)
	}
	for step, y := range r.Outputs {
		if !(math.Abs(y-(math.Exp(1.9)-math.Exp(0.3))) <= tol*4) {
			t.Errorf("f1: step %d has the output %v", step, y)
		}
	}
	if !(math.Abs(r.P-1.6) <= tol) {
		t.Errorf("f1: p moved to %v", r.P)
	}
}

func TestTrain(t *testing.T) {
	t.Run("float64", func(t *testing.T) { train[float64](t, 2e-13) })
	t.Run("Q43", func(t *testing.T) { train[fixed.Q43](t, 2e-11) })
	if _, err := consistency.Train[float64](t.Context(), consistency.Problem{X: 0.3, Y: 10, P: 0.1, Steps: 100}, true); err == nil {
		t.Error("the logarithm of a negative number gives no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := consistency.Train[float64](ctx, problem, true); !errors.Is(err, context.Canceled) || len(r.Outputs) != 0 {
		t.Errorf("after the context: %d steps, %v", len(r.Outputs), err)
	}
}

func conform[T rev.Real](t *testing.T) {
	number := func(v float64) *T {
		x := fixed.Of[T](v)
		return &x
	}
	t.Run("F1", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[consistency.F1[T]]{
			New: func(rnd *rand.Rand, _ int) consistency.F1[T] {
				return consistency.F1[T]{number(1), number(rnd.Float64()), number(rnd.Float64())}
			},
			Sizes: []int{1}, RoundTrip: 60,
			Magnitudes: [2]float64{0.125, 2}, // values overflow
		})
	})
	t.Run("F2", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[consistency.F2[T]]{
			New: func(rnd *rand.Rand, _ int) consistency.F2[T] {
				return consistency.F2[T]{number(0.2 * rnd.Float64()), number(0.5 + 0.5*rnd.Float64()), number(rnd.Float64())}
			},
			Sizes: []int{1}, RoundTrip: 100,
			Magnitudes: [2]float64{0.5, 1}, // values overflow
		})
	})
}

func TestConformance(t *testing.T) {
	t.Run("float64", conform[float64])
	t.Run("Q43", conform[fixed.Q43])
}
