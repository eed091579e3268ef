package gradbench

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The system is y_0' = x_0, y_i' = x_i·y_{i-1}, from y = 0 to time 2. Let y_{-1} = 1,
// and y_i = 0 for i < -1. The system is then linear: y' = N·y with (N·y)_i =
// x_i·y_{i-1}. A step of the classical Runge-Kutta method is the polynomial 1 + hN +
// (hN)²/2 + (hN)³/6 + (hN)⁴/24. It works in place, from the last element down to the
// first:
//
//	y_i += h·x_i·(y_{i-1} + h/2·x_{i-1}·(y_{i-2} + h/3·x_{i-2}·(y_{i-3} + h/4·x_{i-3}·y_{i-4})))
//
// Subtracting the same terms, from the first element up to the last, inverts the step.
// The gradient of the last element of y therefore needs no memory of the steps. With λ
// the cotangent of y after a step,
//
//	x̄_i += Σ_{a+b≤3} h^{a+b+1}/(a+b+1)!·(λ_{i+a}·x_{i+a}···x_{i+1})·(x_{i-1}···x_{i-b}·y_{i-1-b})
//	λ_i += h·x_{i+1}·(λ_{i+1} + h/2·x_{i+2}·(λ_{i+2} + ...))
//
// A step moves the nonzero elements of y back by at most four places, and those of λ
// forward by four. After s steps, y is therefore 0 from element 4s on for every x, and
// the loops stop there. If the last element is one of these, its gradient is 0.

// chainPad is the number of extra elements before and after those of a chain.
const chainPad = 4

// A chain is the state of the system. Each slice has chainPad extra elements on both
// sides.
type chain struct {
	steps    int
	x, y     []float64
	xBar, la []float64
}

// c returns the factors h, h/2, h/3 and h/4 of a step.
func (k *chain) c() (c [4]float64) {
	h := 2 / float64(k.steps)
	for i := range c {
		c[i] = h / float64(i+1)
	}
	return c
}

// increment returns what a step adds to y_i. The index i includes the padding.
func increment(c *[4]float64, x, y []float64, i int) float64 {
	v, w := x[i-3:i+1], y[i-4:i]
	return c[0] * v[3] * (w[3] + c[1]*v[2]*(w[2]+c[2]*v[1]*(w[1]+c[3]*v[0]*w[0])))
}

// forward takes all steps from y = 0.
func (k *chain) forward() {
	clear(k.y)
	k.y[chainPad-1] = 1
	c, n := k.c(), len(k.x)-2*chainPad
	for s := range k.steps {
		for i := chainPad + min(n, 4*s+4) - 1; i >= chainPad; i-- {
			k.y[i] += increment(&c, k.x, k.y, i)
		}
	}
}

// gradient stores in xBar the gradient of the last element of y.
func (k *chain) gradient() {
	clear(k.xBar)
	n := len(k.x) - 2*chainPad
	if n > 4*k.steps {
		return
	}
	k.forward()
	clear(k.la)
	last := chainPad + n - 1
	k.la[last] = 1
	c := k.c()
	power := [4]float64{c[0], c[0] * c[1], c[0] * c[1] * c[2], c[0] * c[1] * c[2] * c[3]}
	for s := k.steps - 1; s >= 0; s-- {
		end := chainPad + min(n, 4*s+4) // of y after the step
		for i := chainPad; i < end; i++ {
			k.y[i] -= increment(&c, k.x, k.y, i)
		}
		first := max(chainPad, last-4*(k.steps-s)) // of λ before the step
		for i := first; i <= last; i++ {
			x, y, la := k.x, k.y, k.la
			l1 := la[i+1] * x[i+1]
			l2 := la[i+2] * x[i+2] * x[i+1]
			l3 := la[i+3] * x[i+3] * x[i+2] * x[i+1]
			r0, r1 := y[i-1], x[i-1]*y[i-2]
			r2, r3 := x[i-1]*x[i-2]*y[i-3], x[i-1]*x[i-2]*x[i-3]*y[i-4]
			k.xBar[i] += la[i]*(power[0]*r0+power[1]*r1+power[2]*r2+power[3]*r3) +
				l1*(power[1]*r0+power[2]*r1+power[3]*r2) + l2*(power[2]*r0+power[3]*r1) + l3*power[3]*r0
			v, w := x[i+1:i+5], la[i+1:i+5]
			la[i] += c[0] * v[0] * (w[0] + c[1]*v[1]*(w[1]+c[2]*v[2]*(w[2]+c[3]*v[3]*w[3])))
		}
	}
}

// odePrimal evaluates y at time 2.
func odePrimal(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseODE(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumbers(k.forward, k.y[chainPad:len(k.y)-chainPad]), nil
}

// odeGradient evaluates the gradient of the last element of y.
func odeGradient(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseODE(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumbers(k.gradient, k.xBar[chainPad:len(k.xBar)-chainPad]), nil
}

func parseODE(input json.RawMessage) (*chain, error) {
	var in struct {
		X numbers
		S *whole
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	const most = 1 << 30
	switch {
	case in.X == nil:
		return nil, missing("x")
	case in.S == nil:
		return nil, missing("s")
	case len(in.X) == 0:
		return nil, errors.New("x: expected at least one number, found none")
	case *in.S < 1 || *in.S > most:
		return nil, fmt.Errorf("s: expected 1 to %d steps, found %d", most, *in.S)
	}
	n := len(in.X) + 2*chainPad
	k := &chain{steps: int(*in.S), x: make([]float64, n), y: make([]float64, n), xBar: make([]float64, n), la: make([]float64, n)}
	copy(k.x[chainPad:], in.X)
	return k, nil
}
