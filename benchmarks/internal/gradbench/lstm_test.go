package gradbench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"revnum/benchmarks/internal/problem"
)

const lstmInput = `{"main_params":[[0.1,0.2,0.3,0.4],[-0.1,-0.2,-0.3,-0.4]],"extra_params":[[1],[0.5],[0.25]],` +
	`"state":[[0.5],[1]],"sequence":[[1],[0],[1]]}`

func TestLSTM(t *testing.T) {
	a := talk(t, `{"id":1,"kind":"evaluate","module":"lstm","function":"objective","input":`+lstmInput+`}`,
		`{"id":2,"kind":"evaluate","module":"lstm","function":"jacobian","input":`+lstmInput+`}`)
	p := &problem.LSTM{
		L: 1, C: 3, B: 1, Main: []float64{0.1, 0.2, 0.3, 0.4, -0.1, -0.2, -0.3, -0.4},
		Extra: []float64{1, 0.5, 0.25}, State: []float64{0.5, 1}, Sequence: []float64{1, 0, 1},
	}
	// One cell, written out: h and c after a step with the input x.
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	step := func(x, h, c float64) (float64, float64) {
		w, b := p.Main[:4], p.Main[4:]
		c = c*sigmoid(x*w[0]+b[0]) + sigmoid(h*w[1]+b[1])*math.Tanh(h*w[3]+b[3])
		return sigmoid(x*w[2]+b[2]) * math.Tanh(c), c
	}
	reference := func() float64 {
		h, c := step(p.Extra[0], 0.5, 1)
		h, _ = step(0, h, c)
		y := h*p.Extra[1] + p.Extra[2]
		return -(y - math.Log(2+math.Exp(y))) / 2
	}
	if got, want := numberOf(t, a[0]), reference(); !(math.Abs(got-want) <= 1e-14) {
		t.Errorf("objective %v, want %v", got, want)
	}
	var got []float64
	if err := json.Unmarshal(a[1].Output, &got); err != nil {
		t.Fatal(err, a[1].Error)
	}
	for i := range 11 {
		x := pointers(p.Main, p.Extra)[i]
		const h = 1e-5
		v := *x
		*x = v + h
		up := reference()
		*x = v - h
		want := (up - reference()) / (2 * h)
		*x = v
		if !(math.Abs(got[i]-want) <= 1e-9) {
			t.Errorf("derivative %d is %v, want %v", i, got[i], want)
		}
	}
	if len(got) != 11 {
		t.Errorf("%d derivatives, want 11", len(got))
	}
}

// pointers returns pointers to all elements.
func pointers(all ...[]float64) (p []*float64) {
	for _, x := range all {
		for i := range x {
			p = append(p, &x[i])
		}
	}
	return p
}

func TestLSTMErrors(t *testing.T) {
	edit := func(from, to string) string {
		if !strings.Contains(lstmInput, from) {
			t.Fatal(from)
		}
		return strings.Replace(lstmInput, from, to, 1)
	}
	for _, c := range []struct{ input, want string }{
		{"{}", `the field "main_params" is missing`},
		{edit(`"extra_params"`, `"x"`), `the field "extra_params" is missing`},
		{edit(`"state"`, `"x"`), `the field "state" is missing`},
		{edit(`"sequence"`, `"x"`), `the field "sequence" is missing`},
		{edit("[[1],[0],[1]]", "[]"), "sequence: expected at least one character"},
		{edit("[[1],[0],[1]]", "[[],[]]"), "sequence: expected at least one character"},
		{edit("[[1],[0],[1]]", "[[1],[0,2],[1]]"), "sequence[1]: expected 1 numbers, found 2"},
		{edit("[[1],[0],[1]]", "[[1],[null],[1]]"), "expected a number as entry 0"},
		{edit("[[0.5],[1]]", "[[0.5]]"), "state: expected 2 rows, found 1"},
		{edit(",[-0.1,-0.2,-0.3,-0.4]", ""), "main_params: expected two rows for each layer, found 1"},
		{edit("-0.3,-0.4]", "-0.3]"), "main_params[1]: expected 4 numbers, found 3"},
		{edit("[0.25]", "[1e999]"), "value out of range"},
	} {
		a := talk(t, `{"id":1,"kind":"evaluate","module":"lstm","function":"jacobian","input":`+c.input+`}`)
		if !strings.Contains(a[0].Error, c.want) {
			t.Errorf("%s: error %q, want %s", c.input, a[0].Error, c.want)
		}
	}
}
