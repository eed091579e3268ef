package gradbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"revnum/benchmarks/internal/gradbench/internal/band"
)

// The system is y_0' = x_0, y_i' = x_i·y_{i-1}, from y = 0 to time 2. Let y_{-1} = 1, and y_i = 0
// for i < -1. The system is then linear: y' = N·y with (N·y)_i = x_i·y_{i-1}. A step of the classical
// Runge-Kutta method of length h is y ← B·y with the matrix of package band,
//
//	B = 1 + hN + (hN)²/2 + (hN)³/6 + (hN)⁴/24
//
// With λ the cotangent of y after a step, λ ← Bᵀ·λ is that before it. B·y is solved for y, so the
// gradient of the last element needs no memory of the steps.
//
// A chain knows which elements of y and λ may differ from 0: those of y up to end, and those of λ
// from begin on. A step computes four elements more, and moves the bound by as many, less those at the
// bound that are 0 then. Smaller numbers than the least normal one count as 0 there: they take processors
// a hundred times as long. x̄_i is nonzero only where both bounds meet. If there are more than four
// elements to a step, they never meet, and no step is undone. Nothing else is skipped.
//
// The diagonals of B are products of up to four elements of h·x. If one overflows, the answer may be NaN.

// least is the least normal number.
const least = 0x1p-1022

// A chain is the state of the system. Each slice has band.Pad extra elements on both sides.
type chain struct {
	steps      int
	h          float64 // the length of a step
	x, xBar    []float64
	c          band.C
	y, la      [2][]float64 // a step reads one and writes the other; the result is in y[0]
	end, begin int          // of what is not 0 in y and la
}

func (k *chain) last() int { return len(k.x) - band.Pad - 1 }

// forward takes all steps from time 0. The result ends at k.end. Whole vectors go up to Pad elements further,
// and leave zeros there, or NaN if a diagonal overflowed. The next call clears these and no others.
// Before the first step y is a unit vector, so after it y is a column of B.
func (k *chain) forward() {
	end := k.last() + 1
	k.c.Set(k.x, k.h, band.Pad, min(band.Pad+4*k.steps, end))
	y, next := k.y[(k.steps-1)%2], k.y[k.steps%2]
	clear(y[band.Pad : k.end+band.Pad])
	if k.steps > 1 {
		clear(next[band.Pad : k.end+band.Pad])
	}
	for i := range k.c {
		y[band.Pad+i] = k.c[i][band.Pad+i]
	}
	k.end = bound(y, band.Pad, min(band.Pad+4, end))
	for range k.steps - 1 {
		to := min(k.end+4, end)
		k.c.Mul(next, y, band.Pad, to)
		k.end = bound(next, k.end, to)
		y, next = next, y
	}
}

// bound returns to without the elements of y before it, from end on, that count as 0, and makes these 0.
func bound(y []float64, end, to int) int {
	for to > end && math.Abs(y[to-1]) < least {
		to--
		y[to] = 0
	}
	return to
}

// gradient stores in xBar the gradient of the last element of y.
func (k *chain) gradient() {
	k.forward()
	clear(k.xBar)
	last := k.last()
	la, next := k.la[0], k.la[1]
	clear(la[k.begin&^7:])
	clear(next[k.begin&^7:])
	la[last], k.begin = 1, last
	meet := last-4*k.steps < band.Pad
	k.c.Set(k.x, k.h, max(last-4*k.steps, band.Pad), last+1)
	for s := range k.steps {
		if meet {
			k.c.Solve(k.y[0], band.Pad, k.end)
			if from, to := max(k.begin-3, band.Pad), min(k.end+3, last)+1; from < to {
				k.c.Outer(k.xBar, k.y[0], la, k.h, from, to)
			}
		}
		from := max(k.begin-4, band.Pad)
		if s > 0 {
			k.c.MulTrans(next, la, from&^7, last+1) // from where the step before stored a vector, for speed
		} else { // λ is a unit vector, and then a row of B
			next[last] = 1
			for i := from; i < last; i++ {
				next[i] = k.c[last-i-1][last]
			}
		}
		for from < k.begin && math.Abs(next[from]) < least {
			next[from] = 0
			from++
		}
		k.begin = from
		la, next = next, la
	}
}

// odePrimal evaluates y at time 2.
func odePrimal(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseODE(input)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		k.forward()
		clear(k.y[0][k.end:]) // a caller may have written to the answer
	}
	return toNumbers(call, k.inner(k.y[0])), nil
}

// odeGradient evaluates the gradient of the last element of y.
func odeGradient(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseODE(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumbers(k.gradient, k.inner(k.xBar)), nil
}

// inner returns x without the extra elements.
func (k *chain) inner(x []float64) []float64 { return x[band.Pad : len(x)-band.Pad] }

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
	n := len(in.X) + 2*band.Pad
	k := &chain{steps: int(*in.S), h: 2 / float64(*in.S), end: band.Pad, begin: n}
	for _, v := range []*[]float64{&k.x, &k.xBar, &k.y[0], &k.y[1], &k.la[0], &k.la[1], &k.c[0], &k.c[1], &k.c[2], &k.c[3]} {
		*v = make([]float64, n)
	}
	k.y[0][band.Pad-1], k.y[1][band.Pad-1] = 1, 1
	copy(k.x[band.Pad:], in.X)
	return k, nil
}
