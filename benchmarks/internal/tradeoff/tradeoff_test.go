package tradeoff

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// TestWays checks that all ways find the gradient that differences find, and that each
// takes the number of steps that it should.
func TestWays(t *testing.T) {
	const n = 37
	var want []float64
	for _, w := range ways() {
		s, g := newOrbits(n), newOrbits(n)
		clear(g.x)
		g.y[7] = 1
		if err := w.gradient(s, g); err != nil {
			t.Fatal(w.name, err)
		}
		if want == nil {
			want = g.x
			for _, i := range []int{0, 7, 40} {
				var at [2]float64
				for e := range at {
					s := newOrbits(n)
					s.x[i] += 1e-6 * float64(2*e-1)
					if err := stepsOf(s.x, s.mu, n).Forward(); err != nil {
						t.Fatal(err)
					}
					at[e] = s.x[7]
				}
				if d := (at[1] - at[0]) / 2e-6; math.Abs(d-want[i]) > 1e-6*max(1, math.Abs(want[i])) {
					t.Errorf("the derivative by %d is %v, differences are %v", i, want[i], d)
				}
			}
		}
		for i, v := range want {
			if math.Abs(g.x[i]-v) > 1e-11*max(1, math.Abs(v)) {
				t.Errorf("%s: element %d is %v, want %v", w.name, i, g.x[i], v)
			}
		}
		if s.runs.Adjoint != n {
			t.Errorf("%s: %+v", w.name, *s.runs)
		}
	}
}

func TestMeasure(t *testing.T) {
	var rows []Row
	if err := Measure(t.Context(), []int{1, 16}, time.Microsecond, func(r Row) { rows = append(rows, r) }); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2*len(Ways()) {
		t.Fatalf("%d rows", len(rows))
	}
	recording, reversible := rows[len(rows)-len(Ways())], rows[len(rows)-1]
	if recording.Bytes < 16*StateBytes() || reversible.Bytes > StateBytes()*2 || reversible.Steps() != 32 || !(recording.Time > 0) {
		t.Errorf("%+v\n%+v", recording, reversible)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Measure(ctx, []int{1}, 0, func(Row) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
