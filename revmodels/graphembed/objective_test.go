package graphembed

import (
	"errors"
	"slices"
	"testing"
)

// counted is a Model as an Objective. A call fails.
type counted struct {
	*Model
	calls, failing int
	freed          *int
}

var errCounted = errors.New("no luck")

func (c *counted) fail() error {
	c.calls++
	if c.calls == c.failing {
		return errCounted
	}
	return nil
}

func (c *counted) FuncGrad(grad, x []float64) (float64, error) {
	if grad == nil {
		return c.Func(x), c.fail()
	}
	return c.Model.FuncGrad(grad, x), c.fail()
}

func (c *counted) HessVec(dst, x, v []float64) error {
	c.Model.HessVec(dst, x, v)
	return c.fail()
}

func (c *counted) Free() error {
	*c.freed++
	return nil
}

// TestObjective embeds with an Objective that computes what Model does. First-order methods give
// the same bits. Newton's method has no Hessian, and reaches the target too.
func TestObjective(t *testing.T) {
	for _, method := range []Method{Newton, LBFGS, Adam} {
		opts := Options{Method: method, Fixed: 2, Starts: 3, MaxIter: 200, Workers: 1}
		want, err := Embed(t.Context(), Petersen(), 5, &opts)
		if err != nil {
			t.Fatal(err)
		}
		freed, calls := 0, 0
		opts.Objective = func(m *Model) (Objective, error) {
			calls++
			return &counted{Model: m, freed: &freed}, nil
		}
		got, err := Embed(t.Context(), Petersen(), 5, &opts)
		if err != nil {
			t.Fatal(err)
		}
		if calls != 3 || freed != 3 {
			t.Errorf("%v: %d objectives, of which %d were freed, want 3", method, calls, freed)
		}
		if method == Newton {
			if !(got.Loss <= 1e-20) {
				t.Errorf("%v: loss %v", method, got.Loss)
			}
		} else if got.Loss != want.Loss || !slices.Equal(got.X.RawMatrix().Data, want.X.RawMatrix().Data) {
			t.Errorf("%v: loss %v, want %v", method, got.Loss, want.Loss)
		}
	}
}

// TestObjectiveErrors lets a call of the second start fail, and then the first one of all.
func TestObjectiveErrors(t *testing.T) {
	for _, method := range []Method{Newton, LBFGS, Adam} {
		for _, failing := range []int{1, 2, 3, 7, 20} {
			starts, freed := 0, 0
			opts := Options{Method: method, Starts: 3, MaxIter: 100, Target: -1, Workers: 1, Objective: func(m *Model) (Objective, error) {
				starts++
				c := &counted{Model: m, freed: &freed}
				if starts == 2 {
					c.failing = failing
				}
				return c, nil
			}}
			e, err := Embed(t.Context(), Petersen(), 3, &opts)
			if err != nil || e.Best == 1 || freed != 3 {
				t.Fatalf("%v: call %d fails: %v, %d objectives were freed", method, failing, err, freed)
			}
			if n := e.Starts[1].Iterations; n > failing {
				t.Errorf("%v: call %d fails, and start 1 goes on to iteration %d", method, failing, n)
			}
			for i, s := range e.Starts {
				if errors.Is(s.Err, errCounted) != (i == 1) {
					t.Errorf("%v: call %d of start 1 fails, and start %d has the error %v", method, failing, i, s.Err)
				}
			}
		}
		opts := Options{Method: method, Objective: func(*Model) (Objective, error) { return nil, errCounted }}
		if _, err := Embed(t.Context(), Petersen(), 3, &opts); !errors.Is(err, errCounted) {
			t.Errorf("%v: error %v", method, err)
		}
	}
}
