package exactness_test

import (
	"math"
	"testing"

	"revnum/benchmarks/internal/exactness"
)

func TestMeasure(t *testing.T) {
	parts := 0
	r, err := exactness.Measure(t.Context(), exactness.Sizes{Planets: 10, Training: 20, Rates: 100}, func() { parts++ })
	if err != nil {
		t.Fatal(err)
	}
	if parts != exactness.Count {
		t.Errorf("%d parts, want %d", parts, exactness.Count)
	}
	for _, x := range append(r.Planets, r.Training...) {
		if (x.Series == "fixed.Q43") != (x.Error == 0) || !(x.Error < 1e-3) {
			t.Errorf("%s, %d steps: off by %g", x.Series, x.Steps, x.Error)
		}
	}
	// The hash was written on amd64. Every machine, tier and number of workers must give it.
	for _, h := range r.Hashes {
		if h.Bits != 0x985c887ec7f694f1 || !h.Same {
			t.Errorf("%d workers: hash %#x, back to the first bits: %v", h.Workers, h.Bits, h.Same)
		}
	}
	if !(r.Losses[1] < r.Losses[0]-0.1) {
		t.Errorf("the loss went from %g to %g", r.Losses[0], r.Losses[1])
	}
	if d := r.Rates.Difference(); !(d < 1e-7) || !r.Rates.Same {
		t.Errorf("the gradients differ by %g; back to the first bits: %v", d, r.Rates.Same)
	}
	// The momentum of training is 9/10.
	lost := math.Log2(10.0 / 9)
	if got, want := float64(r.Rates.FixedBytes), lost/8*float64(100*r.Rates.Parameters); math.Abs(got-want) > 0.1*want {
		t.Errorf("the buffer has %g bytes, want about %g", got, want)
	}
}
