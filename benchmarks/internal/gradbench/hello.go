package gradbench

import (
	"encoding/json"
	"errors"
)

// square evaluates f(x) = x².
func square(input json.RawMessage, _ int) (evaluation, error) {
	x, err := parseNumber(input)
	y := 0.0
	return inLoop(func(w *stopwatch) {
		for w.next() {
			w.read()
			y = x * x
			w.read()
		}
	}, &y), err
}

// double evaluates the derivative of square.
func double(input json.RawMessage, _ int) (evaluation, error) {
	x, err := parseNumber(input)
	y := 0.0
	return inLoop(func(w *stopwatch) {
		for w.next() {
			w.read()
			y = 2 * x
			w.read()
		}
	}, &y), err
}

// inLoop returns the evaluation of the function in loop, which stores its result at out.
func inLoop(loop func(*stopwatch), out *float64) evaluation {
	e := toNumber(nil, out)
	e.loop = loop
	return e
}

func parseNumber(input json.RawMessage) (float64, error) {
	var x *float64
	if err := json.Unmarshal(input, &x); err != nil {
		return 0, err
	}
	if x == nil {
		return 0, errors.New("expected a number, found null")
	}
	return *x, nil
}
