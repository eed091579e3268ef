package objective

import (
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// A panic of the function or its gradient, at the start or later, is one of Minimize.
func TestMinimize(t *testing.T) {
	cause := new(int)
	for at := range 8 {
		calls := 0
		count := func() {
			if calls++; calls == at {
				panic(cause)
			}
		}
		p := optimize.Problem{
			Func: func(x []float64) float64 { count(); return floats.Dot(x, x) * floats.Dot(x, x) },
			Grad: func(grad, x []float64) { count(); floats.ScaleTo(grad, 4*floats.Dot(x, x), x) },
		}
		var r *optimize.Result
		v := func() (v any) {
			defer func() { v = recover() }()
			var err error
			r, err = Minimize(p, []float64{3, 4}, nil, &optimize.LBFGS{})
			if err != nil {
				t.Error(err)
			}
			return nil
		}()
		switch {
		case at == 0:
			if v != nil || r.F > 1e-6 {
				t.Errorf("panicked with %v, or found no minimum", v)
			}
		case v != any(cause) || calls != at:
			t.Errorf("panicked with %v after %d calls, want that of call %d", v, calls, at)
		}
	}
}
