package objective

import "gonum.org/v1/gonum/optimize"

// Minimize is optimize.Minimize, which calls Func and Grad, which p must have, in a goroutine of its own.
// A panic there would end the program. Here it ends the minimisation, and Minimize panics with its value.
func Minimize(p optimize.Problem, x []float64, s *optimize.Settings, m optimize.Method) (*optimize.Result, error) {
	var value any // what a call panicked with
	catch := func() {
		if v := recover(); v != nil {
			value = v
		}
	}
	called := p
	called.Func = func(x []float64) (f float64) {
		defer catch()
		if value == nil {
			f = p.Func(x)
		}
		return f
	}
	called.Grad = func(grad, x []float64) {
		defer catch()
		if value == nil {
			p.Grad(grad, x)
		}
	}
	called.Status = func() (optimize.Status, error) {
		switch {
		case value != nil:
			return optimize.Failure, nil
		case p.Status != nil:
			return p.Status()
		}
		return optimize.NotTerminated, nil
	}
	r, err := optimize.Minimize(called, x, s, m)
	if value != nil {
		panic(value)
	}
	return r, err
}
