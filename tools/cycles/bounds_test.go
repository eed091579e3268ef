package main

import (
	"fmt"
	"math"
	"os/exec"
	"slices"
	"testing"

	"revnum/internal/long"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text       string
		uses, defs []string
	}{
		{"fmla v0.2d, v1.2d, v2.2d", []string{"v0", "v1", "v2"}, []string{"v0"}},
		{"fmadd d0, d1, d2, d3", []string{"v1", "v2", "v3"}, []string{"v0"}},
		{"mov v3.d[1], v4.d[0]", []string{"v3", "v4"}, []string{"v3"}},
		{"ldp q1, q2, [x3, #32]", []string{"x3"}, []string{"v1", "v2"}},
		{"ldr q0, [x1], #16", []string{"x1"}, []string{"v0", "x1"}},
		{"ldr q0, [x1, #16]!", []string{"x1"}, []string{"v0", "x1"}},
		{"ld1 { v0.d }[1], [x0]", []string{"v0", "x0"}, []string{"v0"}},
		{"str q1, [x3, #32]", []string{"v1", "x3"}, nil},
		{"tbl v0.16b, { v30.16b, v31.16b }, v1.16b", []string{"v30", "v31", "v1"}, []string{"v0"}},
		{"sqxtn2 v0.4s, v1.2d", []string{"v0", "v1"}, []string{"v0"}},
		{"usra v0.2d, v1.2d, #3", []string{"v0", "v1"}, []string{"v0"}},
		{"uabal2 v0.2d, v1.4s, v2.4s", []string{"v0", "v1", "v2"}, []string{"v0"}},
		{"bfxil x0, x1, #3, #4", []string{"x0", "x1"}, []string{"x0"}},
		{"subs x1, x1, #1", []string{"x1"}, []string{"x1", "flags"}},
		{"adcs x0, x1, x2", []string{"x1", "x2", "flags"}, []string{"x0", "flags"}},
		{"b.ne 0x4000", []string{"flags"}, nil},
		{"csel x0, x1, x2, lt", []string{"x1", "x2", "flags"}, []string{"x0"}},
		{"cneg x0, x1, mi", []string{"x1", "flags"}, []string{"x0"}},
		{"umov w0, v1.s[3]", []string{"v1"}, []string{"x0"}},
	} {
		n := parse(test.text)
		if !slices.Equal(n.uses, test.uses) || !slices.Equal(n.defs, test.defs) {
			t.Errorf("%s: reads %v, sets %v", test.text, n.uses, n.defs)
		}
	}
}

func TestSetter(t *testing.T) {
	var nodes []node
	for _, text := range []string{"fmla v0.2d, v1.2d, v2.2d", "fmul v3.2d, v0.2d, v0.2d", "fmls v0.2d, v1.2d, v2.2d", "ldr q1, [x0], #16"} {
		nodes = append(nodes, parse(text))
	}
	for _, test := range []struct {
		at       int
		register string
		want     int
	}{
		{0, "v0", 2}, {2, "v0", 0}, {1, "v3", 1}, {0, "v1", 3}, {0, "x0", 3}, {0, "v2", -1},
	} {
		if got := setter(nodes, test.at, test.register); got != test.want {
			t.Errorf("before %d, %s is set by %d, want %d", test.at, test.register, got, test.want)
		}
	}
}

func TestTurns(t *testing.T) {
	load := node{latency: 6, uops: 1}
	after := func(latency int, edges ...edge) node { return node{latency: latency, uops: 1, edges: edges} }
	on := func(needs ...need) node { return node{latency: 1, uops: 1, needs: needs} }
	for _, test := range []struct {
		name  string
		nodes []node
		on    processor
		want  float64
	}{
		{"a chain", []node{after(3, edge{1, 3}), after(3, edge{0, 3})}, processor{}, 6},
		{"a sum, which is read late", []node{load, after(4, edge{0, 6}, edge{1, 2})}, processor{}, 2},
		{"no chain", []node{load, load}, processor{}, 0},
		{"one unit", []node{on(need{1, 1}), on(need{1, 1})}, processor{units: true}, 2},
		{"two units", []node{on(need{3, 1}), on(need{3, 1}), on(need{2, 1})}, processor{units: true}, 1.5},
		{"a unit that is busy", []node{on(need{1, 7}), on(need{2, 1})}, processor{units: true}, 7},
		{"two needs", []node{on(need{1, 1}, need{2, 2})}, processor{units: true}, 2},
		{"units, for everything at once", []node{on(need{1, 7})}, processor{}, 0},
		{"a width of 4", []node{load, load}, processor{width: 4}, 0.5},
		{"a window of 3", []node{load, load, load}, processor{window: 3}, 6},
		{"a window of 6", []node{load, load, load}, processor{window: 6}, 3},
	} {
		if got := test.on.turns(test.nodes); got != test.want {
			t.Errorf("%s: %v cycles, want %v", test.name, got, test.want)
		}
	}
}

// The instructions of these turns wait for each other, and for nothing else. So a turn takes what
// llvm-mca projects.
func TestProject(t *testing.T) {
	if _, err := exec.LookPath("llvm-mca-" + *llvm); err != nil {
		t.Skip(err)
	}
	for i, turn := range [][]string{
		{"fmla v0.2d, v1.2d, v2.2d"},
		{"fmla v0.2d, v0.2d, v1.2d"},
		{"fmla v0.2d, v1.2d, v2.2d", "fmls v0.2d, v3.2d, v4.2d"},
		{"fmadd d0, d1, d2, d0"},
		{"fmadd d0, d0, d1, d2"},
		{"fmul d0, d0, d1", "fnmsub d0, d1, d2, d0"},
		{"smlal v0.2d, v1.2s, v2.2s"},
		{"mla v0.4s, v1.4s, v2.4s"},
		{"umlal v0.2d, v1.2s, v2.2s", "umlal2 v0.2d, v1.4s, v2.4s"},
		{"fmul v0.2d, v1.2d, v4.2d", "fmla v0.2d, v2.2d, v3.2d", "fadd v1.2d, v0.2d, v1.2d"},
		{"madd x0, x1, x2, x0"},
		{"madd x0, x0, x1, x2"},
		{"ssra v0.2d, v1.2d, #3"},
		{"uabal v0.2d, v1.2s, v2.2s"},
		{"sadalp v0.2d, v1.4s"},
		{"bfi x0, x1, #3, #4"},
		{"ld1 { v0.d }[1], [x0]"},
		{"ldr q0, [x0], #16", "ldr q1, [x0, #16]!"},
		{"mul x0, x1, x1", "mov x1, x0"},
		{"cmp x0, x1", "cinc x0, x0, mi"},
		{"adcs x0, x1, x2"},
	} {
		for j, cpu := range cpus {
			if i%4 != 3*j && !long.Tests() {
				continue // half of them, each on one
			}
			if p := project(turn, cpu); p.bounds[1] != math.Round(p.cycles) {
				t.Errorf("%q on %s: turns take %v cycles of %v", turn, cpu, p.bounds[1], p.cycles)
			}
		}
	}
}

// Transposes and stores share the units of vectors of the V2: all can shuffle, two can store. Divisions keep
// two of them busy.
func TestOccupied(t *testing.T) {
	if _, err := exec.LookPath("llvm-mca-" + *llvm); err != nil {
		t.Skip(err)
	}
	shuffle, store, divide := "zip1 v0.2d, v1.2d, v2.2d", "str q3, [x3]", "fdiv v4.2d, v1.2d, v2.2d"
	for _, test := range []struct {
		turn []string
		cpu  string
		want float64
	}{
		{[]string{shuffle, shuffle, shuffle, shuffle}, "neoverse-v2", 1},
		{[]string{store, store}, "neoverse-v2", 1},
		{[]string{shuffle, shuffle, shuffle, shuffle, store, store}, "neoverse-v2", 1.5},
		{[]string{shuffle, store, store, store, store}, "neoverse-v2", 2},
		{[]string{divide}, "neoverse-v2", 7},
		{append(slices.Repeat([]string{shuffle}, 20), divide), "neoverse-v2", 8.5},
		{[]string{"mul x0, x1, x2", "mul x3, x4, x5", "add x6, x1, x2"}, "neoverse-v2", 1},
		{[]string{shuffle, shuffle, shuffle}, "apple-m1", 1},
	} {
		if got := occupied(test.turn, test.cpu); got != test.want {
			t.Errorf("%q on %s: %v cycles, want %v", test.turn, test.cpu, got, test.want)
		}
	}
}

// The model of the V2 has units and a window, and no other buffers. So chains that follow each other take what
// llvm-mca projects.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("llvm-mca-" + *llvm); err != nil {
		t.Skip(err)
	}
	for _, length := range []int{10, 40, 120}[:long.Or(3, 2)] {
		var turn []string
		for chain := range 4 {
			turn = append(turn, fmt.Sprintf("ldr q%d, [x0, #%d]", chain, 16*chain))
			for range length {
				turn = append(turn, fmt.Sprintf("fmul v%[1]d.2d, v%[1]d.2d, v8.2d", chain), fmt.Sprintf("add v%[1]d.2d, v%[1]d.2d, v9.2d", chain))
			}
		}
		out := mca(turn, "neoverse-v2", 200, "-instruction-info=true")
		nodes := graph(turn, "neoverse-v2", out)
		want := value(out, total) / 200
		got := processor{int(value(out, dispatch)), windows["neoverse-v2"], true}.turns(nodes)
		if math.Abs(got-want) > want/20 {
			t.Errorf("chains of %d: %v cycles, and llvm-mca has %v", length, got, want)
		}
	}
}
