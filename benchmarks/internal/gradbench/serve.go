package gradbench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxLine is the limit for a message, in bytes. Five million points in ten
	// dimensions take about as many. It guards against streams whose line never ends.
	maxLine = 1 << 30

	// longMessage is the number of bytes of a message whose garbage is collected at once.
	longMessage = 1 << 20

	// idPrefix is the number of bytes that are searched for the id of a message that
	// cannot be parsed.
	idPrefix = 1 << 16

	// maxRuns limits the runs of an evaluation, even if min_seconds are not over. The
	// answer holds a timing for each run. In memory, a billion timings take one or two
	// gigabytes.
	maxRuns = 1e9

	// maxSeconds is the longest min_seconds.
	maxSeconds = 3600
)

// A Tool answers by its name, for modules that have functions.
type Tool struct {
	Name    string
	modules map[string]map[string]function
}

// Revnum answers with the kernels and models of the library. It has no particle and saddle:
// these want derivatives of derivatives by differentiation, as Revgen has them.
var Revnum = Tool{"revnum", map[string]map[string]function{
	"hello":  {"square": square, "double": double},
	"gmm":    {"objective": gmmObjective, "jacobian": gmmJacobian},
	"ba":     {"objective": baObjective, "jacobian": baJacobian},
	"lse":    {"primal": lsePrimal, "gradient": lseGradient},
	"llsq":   {"primal": llsqPrimal, "gradient": llsqGradient},
	"kmeans": {"cost": kmeansCost, "dir": kmeansDirection},
	"det":    {"primal": detPrimal, "gradient": detGradient},
	"lstm":   {"objective": lstmObjective, "jacobian": lstmJacobian},
	"ht":     {"objective": htObjective, "jacobian": htJacobian},
	"ode":    {"primal": odePrimal, "gradient": odeGradient},
}}

// RevnumMinors answers det by minors that are computed once, with revlinalg.DetMinors.
var RevnumMinors = Tool{"revnum-minors", map[string]map[string]function{
	"det": {"primal": minorsPrimal, "gradient": minorsGradient},
}}

// names returns the keys of m as a list that people read.
func names[V any](m map[string]V) string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

// Serve reads messages from r and writes the answers to w, in order, until r ends.
// Kernels use the given number of workers, 0 for all. The error is that of r or w.
func (t *Tool) Serve(r io.Reader, w io.Writer, workers int) error {
	return t.serve(r, w, workers, maxLine)
}

func (t *Tool) serve(r io.Reader, w io.Writer, workers, maxLine int) error {
	in := bufio.NewReaderSize(r, 1<<16)
	out := bufio.NewWriterSize(w, 1<<16)
	for {
		line, whole, err := readLine(in, maxLine)
		if len(bytes.TrimSpace(line)) > 0 {
			if whole {
				t.answer(line, workers).write(out)
			} else {
				failure(findID(line), fmt.Errorf("the message is longer than %d bytes", maxLine)).write(out)
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns the next line and true. If the line is longer than limit, it skips
// it and returns its first bytes, at most idPrefix, and false. The line has memory of its
// own.
//
// A line that grew in place would leave several times its size to the collector. Pieces
// of it leave its size once, and it is collected here if it is long.
func readLine(r *bufio.Reader, limit int) (line []byte, whole bool, err error) {
	var pieces [][]byte
	size := 0
	for whole = true; ; {
		var part []byte
		part, err = r.ReadSlice('\n')
		if whole {
			pieces = append(pieces, slices.Clone(part))
			size += len(part)
			whole = size <= limit
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if !whole {
		first := pieces[0]
		return first[:min(idPrefix, limit, len(first))], false, err
	}
	line = slices.Concat(pieces...)
	if size > longMessage {
		runtime.GC()
	}
	return line, true, err
}

// response is the answer to one message.
type response struct {
	id      json.RawMessage // as it came; nil where it could not be read
	tool    string
	success *bool
	output  any
	err     string
	timings []timings
}

// timings holds the times of all runs under one name.
type timings struct {
	name string
	runs *durations
}

func failure(id json.RawMessage, err error) *response {
	no := false
	return &response{id: id, success: &no, err: err.Error()}
}

// write writes the response as one line. It leaves errors to w's Flush. There can be
// millions of timings, so they bypass the reflection of package json.
func (r *response) write(w *bufio.Writer) {
	id := r.id
	if id == nil {
		id = []byte("null")
	}
	_, _ = w.WriteString(`{"id":`)
	_, _ = w.Write(id)
	if r.tool != "" {
		fmt.Fprintf(w, `,"tool":%q`, r.tool)
	}
	if r.success != nil {
		fmt.Fprintf(w, `,"success":%t`, *r.success)
	}
	if r.err != "" {
		text, _ := json.Marshal(r.err)
		_, _ = w.WriteString(`,"error":`)
		_, _ = w.Write(text)
	}
	if r.output != nil {
		_, _ = w.WriteString(`,"output":`)
		writeValue(w, reflect.ValueOf(r.output))
	}
	if r.timings != nil {
		_, _ = w.WriteString(`,"timings":[`)
		var buf []byte
		for _, t := range r.timings {
			t.runs.all(func(nanoseconds uint64) {
				if len(buf) > 0 {
					buf = append(buf[:0], ',')
				}
				buf = append(buf, `{"name":"`...)
				buf = append(buf, t.name...)
				buf = append(buf, `","nanoseconds":`...)
				buf = strconv.AppendUint(buf, nanoseconds, 10)
				buf = append(buf, '}')
				_, _ = w.Write(buf)
			})
		}
		_ = w.WriteByte(']')
	}
	_, _ = w.WriteString("}\n")
}

// message has the fields that all messages share.
type message struct {
	ID       json.RawMessage `json:"id"`
	Kind     *string         `json:"kind"`
	Module   *string         `json:"module"`
	Function *string         `json:"function"`
	Input    part            `json:"input"`
}

// A part is a part of a message. Unlike json.RawMessage it shares the memory of the
// message, which nobody changes: each message has memory of its own.
type part []byte

// UnmarshalJSON keeps data, which is a part of the argument of json.Unmarshal.
func (p *part) UnmarshalJSON(data []byte) error {
	*p = data
	return nil
}

// answer returns the response to one message.
func (t *Tool) answer(line []byte, workers int) (r *response) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return failure(findID(line), fmt.Errorf("the message: %w", err))
	}
	id := scalar(m.ID)
	defer func() {
		if p := recover(); p != nil {
			r = failure(id, fmt.Errorf("this is a bug in revnum: %v", p))
		}
	}()
	if id == nil {
		return failure(nil, errors.New("the message: expected a number as id"))
	}
	if m.Kind == nil {
		return failure(id, missing("kind"))
	}
	switch *m.Kind {
	default:
		return &response{id: id}
	case "start":
		return &response{id: id, tool: t.Name}
	case "define":
		if _, err := t.module(&m); err != nil {
			return failure(id, err)
		}
		yes := true
		return &response{id: id, success: &yes}
	case "evaluate":
		output, timings, err := t.evaluate(&m, workers)
		if err != nil {
			return failure(id, err)
		}
		yes := true
		return &response{id: id, success: &yes, output: output, timings: timings}
	}
}

func missing(field string) error { return fmt.Errorf("the field %q is missing", field) }

func (t *Tool) module(m *message) (map[string]function, error) {
	if m.Module == nil {
		return nil, missing("module")
	}
	functions, ok := t.modules[*m.Module]
	if !ok {
		return nil, fmt.Errorf("unknown module %q; there are %s", *m.Module, names(t.modules))
	}
	return functions, nil
}

// evaluate runs a function as many times as its input asks for.
func (t *Tool) evaluate(m *message, workers int) (output any, all []timings, err error) {
	functions, err := t.module(m)
	if err != nil {
		return nil, nil, err
	}
	if m.Function == nil {
		return nil, nil, missing("function")
	}
	f, ok := functions[*m.Function]
	if !ok {
		return nil, nil, fmt.Errorf("unknown function %q; module %s has %s", *m.Function, *m.Module, names(functions))
	}
	if m.Input == nil {
		return nil, nil, missing("input")
	}
	minRuns, minSeconds, err := repetitions(json.RawMessage(m.Input))
	if err != nil {
		return nil, nil, err
	}
	runtime.GC() // what the last evaluation left is then used again
	e, err := f(json.RawMessage(m.Input), workers)
	if err != nil {
		return nil, nil, fmt.Errorf("the input: %w", err)
	}
	if len(m.Input) > longMessage {
		m.Input = nil // the evaluation has its own numbers
		runtime.GC()  // likewise what parsing left
	}
	// Functions that revgen read may allocate in each call, and there is little else in memory.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	w := stopwatch{minRuns: minRuns, minTime: time.Duration(minSeconds * float64(time.Second)), values: e.values, zero: time.Now()}
	if e.loop != nil {
		e.loop(&w)
	} else {
		for w.next() {
			w.read()
			e.call()
			w.read()
		}
	}
	all = append(all, timings{"evaluate", &w.runs})
	if e.values != nil {
		all = append(all, timings{"values", &w.valueRuns})
	}
	output, err = e.output()
	return output, all, err
}

// repetitions reads how many times to run a function. The default is once.
func repetitions(input json.RawMessage) (minRuns int, minSeconds float64, err error) {
	runs := struct {
		MinRuns    *whole   `json:"min_runs"`
		MinSeconds *float64 `json:"min_seconds"`
	}{}
	if bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
		if err := json.Unmarshal(input, &runs); err != nil {
			return 0, 0, fmt.Errorf("the input: %w", err)
		}
	}
	minRuns = 1
	if runs.MinRuns != nil {
		if *runs.MinRuns < 0 || *runs.MinRuns > maxRuns {
			return 0, 0, fmt.Errorf("the input: min_runs: expected 0 to %.0f, found %d", float64(maxRuns), *runs.MinRuns)
		}
		minRuns = max(1, int(*runs.MinRuns))
	}
	if runs.MinSeconds != nil {
		minSeconds = *runs.MinSeconds
		if minSeconds < 0 || minSeconds > maxSeconds {
			return 0, 0, fmt.Errorf("the input: min_seconds: expected 0 to %d, found %g", maxSeconds, minSeconds)
		}
	}
	return minRuns, minSeconds, nil
}

// scalar returns raw if it is a JSON number, nil otherwise.
func scalar(raw json.RawMessage) json.RawMessage {
	var n json.Number
	if len(raw) == 0 || raw[0] == '"' || json.Unmarshal(raw, &n) != nil || n == "" {
		return nil
	}
	return raw
}

// findID looks for the id of a message that is malformed or cut off. It reads the
// message up to the error.
func findID(line []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		if key == "id" {
			t, err := dec.Token()
			if n, ok := t.(json.Number); err == nil && ok {
				return json.RawMessage(n)
			}
			return nil
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return nil
		}
	}
	return nil
}

// finite returns the output v of a function, or an error if JSON cannot express it.
func finite(v ...float64) error {
	for _, v := range v {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the result is %v, which JSON cannot hold", v)
		}
	}
	return nil
}

// Modules returns the names of the modules as a list that people read.
func (t *Tool) Modules() string { return names(t.modules) }
