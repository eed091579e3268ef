package gradbench

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The system is y_0' = x_0, y_i' = x_i·y_{i-1}, from y = 0 to time 2. Let y_{-1} = 1, and y_i = 0
// for i < -1. The system is then linear: y' = N·y with (N·y)_i = x_i·y_{i-1}. With q = h·x, a step
// of the classical Runge-Kutta method of length h is
//
//	y_i += t¹_i + t²_i/2 + t³_i/6 + t⁴_i/24,  t¹_i = q_i·y_{i-1},  tᵏ_i = q_i·tᵏ⁻¹_{i-1}
//
// Subtracting the same terms, from the first element up to the last, inverts the step. The gradient
// of the last element of y therefore needs no memory of the steps. With λ the cotangent of y after
// a step,
//
//	λ_i += u¹_i + u²_i/2 + u³_i/6 + u⁴_i/24,  u¹_i = q_{i+1}·λ_{i+1},  uᵏ_i = q_{i+1}·uᵏ⁻¹_{i+1}
//	x̄_i += h·Σ_{a+b≤3} uᵃ_i·tᵇ_{i-1}/(a+b+1)!,  u⁰ = λ,  t⁰ = y
//
// A chain knows which elements of y and λ may differ from 0: those of y up to end, and those of λ
// from begin on. A step moves a bound by four, and computes what is within it. x̄_i is nonzero only
// where both meet. If they do not meet even after all steps, no step is undone. Nothing else is
// skipped.

// chainPad is the number of extra elements before and after those of a chain.
const chainPad = 4

// A chain is the state of the system. Each slice has chainPad extra elements on both
// sides.
type chain struct {
	steps      int
	x, q, y    []float64
	xBar, la   []float64
	end, begin int // of what is not 0 in y and la
}

func (k *chain) last() int { return len(k.x) - chainPad - 1 }

// start sets y to that at time 0.
func (k *chain) start() {
	clear(k.y[:k.end])
	k.y[chainPad-1], k.end = 1, chainPad
}

// forward takes all steps.
func (k *chain) forward() {
	h := 2 / float64(k.steps)
	done := k.end
	for range k.steps {
		k.end = min(k.end+4, k.last()+1)
		for ; done < k.end; done++ {
			k.q[done] = h * k.x[done]
		}
		q, y := k.q[chainPad:k.end], k.y[chainPad:k.end]
		q = q[:len(y)]
		before, t1, t2, t3 := k.y[chainPad-1], 0.0, 0.0, 0.0
		for i, v := range y {
			q := q[i]
			t4 := q * t3
			t3 = q * t2
			t2 = q * t1
			t1 = q * before
			before = v
			y[i] = v + t1 + t2*(1./2) + t3*(1./6) + t4*(1./24)
		}
	}
}

// undo takes y back by a step.
func (k *chain) undo() {
	t1, t2, t3 := 0.0, 0.0, 0.0
	for i := chainPad; i < k.end; i++ {
		q := k.q[i]
		t4 := q * t3
		t3 = q * t2
		t2 = q * t1
		t1 = q * k.y[i-1]
		k.y[i] -= t1 + t2*(1./2) + t3*(1./6) + t4*(1./24)
	}
}

// back takes la back by a step.
func (k *chain) back() {
	k.begin = max(k.begin-4, chainPad)
	q, la := k.q[k.begin+1:k.last()+1], k.la[k.begin:k.last()]
	q = q[:len(la)]
	after, u1, u2, u3 := k.la[k.last()], 0.0, 0.0, 0.0
	for i := len(la) - 1; i >= 0; i-- {
		q := q[i]
		u4 := q * u3
		u3 = q * u2
		u2 = q * u1
		u1 = q * after
		after = la[i]
		la[i] = after + u1 + u2*(1./2) + u3*(1./6) + u4*(1./24)
	}
}

// add adds to xBar what a step gives, with y before and la after it.
func (k *chain) add(h float64) {
	for i := max(k.begin-3, chainPad); i <= min(k.end+3, k.last()); i++ {
		q, y, la := k.q, k.y, k.la
		t0, t1 := y[i-1], q[i-1]*y[i-2]
		t2, t3 := q[i-1]*q[i-2]*y[i-3], q[i-1]*q[i-2]*q[i-3]*y[i-4]
		u0, u1 := la[i], q[i+1]*la[i+1]
		u2, u3 := q[i+1]*q[i+2]*la[i+2], q[i+1]*q[i+2]*q[i+3]*la[i+3]
		k.xBar[i] += h * (u0*(t0+t1/2+t2/6+t3/24) + u1*(t0/2+t1/6+t2/24) + u2*(t0/6+t1/24) + u3*t0/24)
	}
}

// gradient stores in xBar the gradient of the last element of y.
func (k *chain) gradient() {
	k.start()
	k.forward()
	clear(k.xBar)
	clear(k.la[k.begin:])
	k.begin = k.last()
	k.la[k.begin] = 1
	h := 2 / float64(k.steps)
	meet := k.begin-4*k.steps < k.end
	for i := max(k.begin-4*k.steps, k.end); i <= k.last(); i++ {
		k.q[i] = h * k.x[i]
	}
	for range k.steps {
		if meet {
			k.undo()
			k.add(h)
		}
		k.back()
	}
}

// odePrimal evaluates y at time 2.
func odePrimal(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseODE(input)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		k.end = len(k.y)
		k.start()
		k.forward()
	}
	return toNumbers(call, k.y[chainPad:len(k.y)-chainPad]), nil
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
	k := &chain{steps: int(*in.S), begin: n}
	for _, v := range []*[]float64{&k.x, &k.q, &k.y, &k.xBar, &k.la} {
		*v = make([]float64, n)
	}
	copy(k.x[chainPad:], in.X)
	return k, nil
}
