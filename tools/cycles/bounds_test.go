package main

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text       string
		uses, defs []string
		sum        string
	}{
		{"fmla v0.2d, v1.2d, v2.2d", []string{"v1", "v2"}, []string{"v0"}, "v0"},
		{"mov v3.d[1], v4.d[0]", []string{"v4"}, []string{"v3"}, "v3"},
		{"ldp q1, q2, [x3, #32]", []string{"x3"}, []string{"v1", "v2"}, ""},
		{"str q1, [x3, #32]", []string{"v1", "x3"}, nil, ""},
		{"tbl v0.16b, { v30.16b, v31.16b }, v1.16b", []string{"v30", "v31", "v1"}, []string{"v0"}, ""},
		{"subs x1, x1, #1", []string{"x1"}, []string{"x1", "flags"}, ""},
		{"b.ne 0x4000", []string{"flags"}, nil, ""},
		{"csel x0, x1, x2, lt", []string{"x1", "x2", "flags"}, []string{"x0"}, ""},
		{"umov w0, v1.s[3]", []string{"v1"}, []string{"x0"}, ""},
	} {
		n := parse(test.text)
		if !slices.Equal(n.uses, test.uses) || !slices.Equal(n.defs, test.defs) || n.sum != test.sum {
			t.Errorf("%s: reads %v, sets %v, adds to %q", test.text, n.uses, n.defs, n.sum)
		}
	}
	if n := parse("ldr q0, [x1], #16"); n.address != "x1" {
		t.Errorf("the address that changes is %q", n.address)
	}
}

func TestTurns(t *testing.T) {
	chain := node{name: "fadd", uses: []string{"v1"}, defs: []string{"v1"}, latency: 3, uops: 1}
	sum := node{name: "fmla", sum: "v0", uses: []string{"v2"}, defs: []string{"v0"}, latency: 4, late: 2, uops: 1}
	load := node{name: "ldr", uses: []string{"x0"}, defs: []string{"v2"}, latency: 6, uops: 1}
	for _, test := range []struct {
		name  string
		nodes []node
		on    processor
		want  float64
	}{
		{"a chain", []node{chain, chain}, processor{}, 6},
		{"a sum, which is read late", []node{load, sum}, processor{}, 2},
		{"no chain", []node{load, load}, processor{}, 0},
		{"a width of 4", []node{load, load}, processor{4, 0}, 0.5},
		{"a window of 3", []node{load, load, load}, processor{0, 3}, 6},
		{"a window of 6", []node{load, load, load}, processor{0, 6}, 3},
	} {
		if got := test.on.turns(test.nodes); got != test.want {
			t.Errorf("%s: %v cycles, want %v", test.name, got, test.want)
		}
	}
}
