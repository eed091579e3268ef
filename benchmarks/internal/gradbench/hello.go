package gradbench

import (
	"encoding/json"
	"errors"
)

// square is f(x) = x².
func square(input json.RawMessage, _ int) (func(), func() (any, error), error) {
	return ofNumber(input, func(x float64) float64 { return x * x })
}

// double is the derivative of square.
func double(input json.RawMessage, _ int) (func(), func() (any, error), error) {
	return ofNumber(input, func(x float64) float64 { return 2 * x })
}

func ofNumber(input json.RawMessage, f func(float64) float64) (func(), func() (any, error), error) {
	var x *float64
	if err := json.Unmarshal(input, &x); err != nil {
		return nil, nil, err
	}
	if x == nil {
		return nil, nil, errors.New("expected a number, found null")
	}
	var y float64
	return func() { y = f(*x) }, func() (any, error) { return y, finite(y) }, nil
}
