package gradbench

import (
	"bytes"
	"fmt"
	"strconv"
)

// numbers is an array of numbers. Unlike a []float64 it does not take null for
// zero.
type numbers []float64

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

// start returns the beginning of data.
func start(data []byte) string {
	if len(data) > 20 {
		return string(data[:20]) + "..."
	}
	return string(data)
}
