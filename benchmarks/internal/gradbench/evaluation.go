package gradbench

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"revnum/rev"
)

// An evaluation is a function together with its input.
type evaluation struct {
	call   func()              // the call that is timed
	output func() (any, error) // what the last call found

	// values, if not nil, returns how much of the last call's time computed the values.
	// The rest computed their structure.
	values func() time.Duration
}

// A function parses an input.
type function func(input json.RawMessage, workers int) (evaluation, error)

// toNumber returns the evaluation that runs call, which stores its result at out.
func toNumber(call func(), out *float64) evaluation {
	return evaluation{call: call, output: func() (any, error) { return number(*out), finite(*out) }}
}

// toNumbers returns the evaluation that runs call, which stores its result in out.
func toNumbers(call func(), out []float64) evaluation {
	return evaluation{call: call, output: func() (any, error) { return numbers(out), finite(out...) }}
}

// toRows returns the evaluation that runs call, which stores its result in out.
func toRows(call func(), out rev.General[float64]) evaluation {
	output := func() (any, error) {
		rows := make([]numbers, out.Rows)
		for i := range rows {
			rows[i] = out.Row(i)
		}
		return rows, finite(out.Data...)
	}
	return evaluation{call: call, output: output}
}

// durations are many durations, mostly short ones, in few bytes: as varints of
// their nanoseconds.
type durations struct {
	n    int
	data []byte
}

// add appends d.
func (s *durations) add(d time.Duration) {
	s.n++
	s.data = binary.AppendUvarint(s.data, uint64(max(0, d.Nanoseconds())))
}

// all calls f for each duration in order.
func (s *durations) all(f func(nanoseconds uint64)) {
	for data := s.data; len(data) > 0; {
		v, n := binary.Uvarint(data)
		data = data[n:]
		f(v)
	}
}
