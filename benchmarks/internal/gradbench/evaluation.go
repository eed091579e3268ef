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

	// loop, if not nil, is in the place of call: the loop of stopwatch with a function in it.
	// A call of code that is not in the caches takes half as long as a reading of the clock. GradBench's
	// tools in C++ have all their functions in such a loop, by templates.
	loop func(*stopwatch)

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

// A stopwatch times the function in a loop:
//
//	for w.next() {
//		w.read()
//		y = x * x
//		w.read()
//	}
type stopwatch struct {
	minRuns int
	minTime time.Duration
	values  func() time.Duration // of the evaluation

	zero            time.Time
	before, now     time.Duration // the last two readings, from zero
	running         bool
	total           time.Duration // of all runs
	runs, valueRuns durations
}

// next keeps the times of the run before, if there was one, and reports whether another one follows.
func (w *stopwatch) next() bool {
	if w.running {
		w.runs.add(w.now - w.before)
		w.total += w.now - w.before
		if w.values != nil {
			w.valueRuns.add(w.values())
		}
	} else {
		w.read() // the first readings of a clock take longer, and are not counted
		w.read()
	}
	w.running = w.runs.n < w.minRuns || w.total < w.minTime && w.runs.n < maxRuns
	return w.running
}

// read reads the monotonic clock, by time.Since. time.Now reads two clocks, and half of the second reading
// would be counted in the time of a short function. Both readings of a run are calls of the same
// code, which has run before.
//
//go:noinline
func (w *stopwatch) read() { w.before, w.now = w.now, time.Since(w.zero) }

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
