package gradbench

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// A number is encoded as GradBench's other tools do it: with a point or an exponent,
// even if it is whole.
type number float64

// MarshalJSON writes x, which must be finite.
func (x number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(x)), nil }

func appendNumber(to []byte, x float64) []byte {
	begin := len(to)
	to = strconv.AppendFloat(to, x, 'g', -1, 64)
	if !bytes.ContainsAny(to[begin:], ".e") {
		to = append(to, ".0"...)
	}
	return to
}

// numbers is an array of numbers. Unlike []float64, it does not accept null as zero.
// Each element is encoded as a number is.
type numbers []float64

// MarshalJSON writes x, which must be finite.
func (x numbers) MarshalJSON() ([]byte, error) {
	data := []byte{'['}
	for i, v := range x {
		if i > 0 {
			data = append(data, ',')
		}
		data = appendNumber(data, v)
	}
	return append(data, ']'), nil
}

// whole is an integer. It may be written as 3 or as 3.0.
type whole int64

// UnmarshalJSON reads data, which package json has found to be well formed.
func (n *whole) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseFloat(string(data), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return fmt.Errorf("expected a whole number, found %s", start(data))
	}
	*n = whole(v)
	return nil
}

// UnmarshalJSON reads data, which package json has found to be well formed.
func (x *numbers) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if data[0] != '[' {
		return fmt.Errorf("expected an array of numbers, found %s", start(data))
	}
	*x = numbers{}
	data = bytes.TrimSpace(data[1:])
	for data[0] != ']' {
		end := bytes.IndexAny(data, ",]")
		if c := data[0]; c != '-' && (c < '0' || c > '9') {
			return fmt.Errorf("expected a number as entry %d, found %s", len(*x), start(data))
		}
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(data[:end])), 64)
		if err != nil {
			return fmt.Errorf("entry %d: %w", len(*x), err)
		}
		*x = append(*x, v)
		if data[end] == ']' {
			break
		}
		data = bytes.TrimSpace(data[end+1:])
	}
	return nil
}

// start returns at most 20 bytes of data, for messages.
func start(data []byte) string {
	if len(data) > 20 {
		return string(data[:20]) + "..."
	}
	return string(data)
}
