package gradbench

import (
	"encoding/json"
	"errors"
	"fmt"

	"revnum/benchmarks/internal/problem"
)

// lstmObjective evaluates the mean log loss of a recurrent network.
func lstmObjective(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseLSTM(input)
	if err != nil {
		return evaluation{}, err
	}
	o := problem.NewLSTMObjective[float64](p)
	var value float64
	return toNumber(func() { value = o.Value() }, &value), nil
}

// lstmJacobian evaluates its gradient with respect to the main and the extra
// parameters.
func lstmJacobian(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseLSTM(input)
	if err != nil {
		return evaluation{}, err
	}
	o := problem.NewLSTMObjective[float64](p)
	return toNumbers(func() { o.ValueGradient() }, o.Gradient), nil
}

// parseLSTM reads a problem. Its sizes must match its arrays.
func parseLSTM(input json.RawMessage) (*problem.LSTM, error) {
	var in struct {
		Main     []numbers `json:"main_params"`
		Extra    []numbers `json:"extra_params"`
		State    []numbers `json:"state"`
		Sequence []numbers `json:"sequence"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	switch {
	case in.Main == nil:
		return nil, missing("main_params")
	case in.Extra == nil:
		return nil, missing("extra_params")
	case in.State == nil:
		return nil, missing("state")
	case in.Sequence == nil:
		return nil, missing("sequence")
	case len(in.Sequence) == 0 || len(in.Sequence[0]) == 0:
		return nil, errors.New("sequence: expected at least one character of at least one bit, found none")
	case len(in.Main)%2 != 0:
		return nil, fmt.Errorf("main_params: expected two rows for each layer, found %d rows", len(in.Main))
	}
	p := &problem.LSTM{L: len(in.Main) / 2, C: len(in.Sequence), B: len(in.Sequence[0])}
	for _, m := range []struct {
		name string
		rows []numbers
		to   *[]float64
		r, c int
	}{
		{"main_params", in.Main, &p.Main, 2 * p.L, 4 * p.B}, {"extra_params", in.Extra, &p.Extra, 3, p.B},
		{"state", in.State, &p.State, 2 * p.L, p.B}, {"sequence", in.Sequence, &p.Sequence, p.C, p.B},
	} {
		if len(m.rows) != m.r {
			return nil, fmt.Errorf("%s: expected %d rows, found %d", m.name, m.r, len(m.rows))
		}
		x, err := matrix(m.name, m.rows, m.c)
		if err != nil {
			return nil, err
		}
		*m.to = x.Data
	}
	return p, nil
}
