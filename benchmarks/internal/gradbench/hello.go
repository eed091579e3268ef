package gradbench

import (
	"encoding/json"
	"errors"
)

// square evaluates f(x) = x².
func square(input json.RawMessage, _ int) (evaluation, error) {
	return ofNumber(input, func(x float64) float64 { return x * x })
}

// double evaluates the derivative of square.
func double(input json.RawMessage, _ int) (evaluation, error) {
	return ofNumber(input, func(x float64) float64 { return 2 * x })
}

func ofNumber(input json.RawMessage, f func(float64) float64) (evaluation, error) {
	var x *float64
	if err := json.Unmarshal(input, &x); err != nil {
		return evaluation{}, err
	}
	if x == nil {
		return evaluation{}, errors.New("expected a number, found null")
	}
	var y float64
	return toNumber(func() { y = f(*x) }, &y), nil
}
