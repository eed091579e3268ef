package gradbench

import (
	"encoding/json"
	"errors"
)

// square evaluates f(x) = x².
func square(input json.RawMessage, _ int) (evaluation, error) {
	x, err := parseNumber(input)
	y := 0.0
	return toNumber(func() { y = x * x }, &y), err
}

// double evaluates the derivative of square.
func double(input json.RawMessage, _ int) (evaluation, error) {
	x, err := parseNumber(input)
	y := 0.0
	return toNumber(func() { y = 2 * x }, &y), err
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
