package main

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A processor of the second and third bound has units for everything at once. It takes its
// instructions in order, as many in a cycle as its width, holds as many as its window, and lets them
// go in order. Stores do not delay loads.
type processor struct{ width, window int }

// windows are how many instructions the models of cpus hold at a time.
var windows = map[string]int{"neoverse-v2": 320, "apple-m1": 192}

// A node is an instruction: the registers that it reads and sets, after how many cycles it is done, and
// how many of the processor's places it takes.
type node struct {
	uses, defs    []string
	latency, uops int
	edges         []edge
}

// An edge to a node says that it starts wait cycles or more after another, of the turn before if that
// does not come before it in the turn.
type edge struct{ from, wait int }

var (
	info     = regexp.MustCompile(`^ (\d+) +(\d+) +\d+\.\d+ `)
	dispatch = regexp.MustCompile(`Dispatch Width:\s+(\d+)`)
	register = regexp.MustCompile(`\b([bhsdqvwx])(\d+)\b|\bsp\b`)
	indexed  = regexp.MustCompile(`^(v\d+\.[bhsd]|\{.*\})\[\d+\]$`)
	started  = regexp.MustCompile(`(?m)^\[0,\d\][ .]*D=*`)
)

// names returns the registers in a text.
func names(text string) (list []string) {
	for _, m := range register.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "":
			list = append(list, "sp")
		case "w", "x":
			list = append(list, "x"+m[2])
		default:
			list = append(list, "v"+m[2])
		}
	}
	return list
}

// operands returns the operands of an instruction, with those in brackets and braces as one.
func operands(text string) (list []string) {
	depth, from := 0, 0
	for i, c := range text + "," {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	return list
}

var (
	noResult  = regexp.MustCompile(`^(st|cmp|cmn|tst|fcmp|ccmp|fccmp|b$|b\.|cbn?z|tbn?z|prfm|nop)`)
	changes   = regexp.MustCompile(`^(fml[as]|ml[as]|[us]ml[as]l|[us]+dot|[us]aba|[us]adalp|[us]r?sra|bsl|bi[tf]|bf(c|i|xil)|s[lr]i|movk|tbx)|n2$`)
	setsFlags = regexp.MustCompile(`^(adds|subs|ands|bics|negs|adcs|sbcs|ngcs|cmp|cmn|tst|fcmp|ccmp|fccmp)`)
	getsFlags = regexp.MustCompile(`^(b\.|cset|cs(el|inc|inv|neg)|cinc|cinv|cneg|ccmp|fcsel|fccmp|adc|sbc|ngc)`)
)

// parse returns what an instruction reads and sets.
func parse(text string) (n node) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	ops := operands(rest)
	results := 1
	switch {
	case noResult.MatchString(name):
		results = 0
	case strings.HasPrefix(name, "ldp"):
		results = 2
	}
	for i, o := range ops {
		if i < results {
			n.defs = append(n.defs, names(o)...)
			if !indexed.MatchString(o) && !changes.MatchString(name) {
				continue
			}
		}
		n.uses = append(n.uses, names(o)...)
		if strings.HasPrefix(o, "[") && (strings.HasSuffix(o, "!") || i+1 < len(ops)) { // the address changes
			n.defs = append(n.defs, names(o)[0])
		}
	}
	if name == "movi" || name == "eor" && len(ops) == 3 && ops[1] == ops[2] {
		n.uses = nil
	}
	if setsFlags.MatchString(name) {
		n.defs = append(n.defs, "flags")
	}
	if getsFlags.MatchString(name) {
		n.uses = append(n.uses, "flags")
	}
	return n
}

var known sync.Map // what waits returns, by the pair with its registers numbered anew

// waits returns for each pair of instructions, of which the second reads what the first sets, how many
// cycles after the first it starts, as llvm-mca takes it. That can be less than the latency of the
// first: sums, for one, are read late.
func waits(pairs []string, cpu string) []int {
	var keys, unknown, text []string
	for _, pair := range pairs {
		number := map[string]int{}
		key := cpu + register.ReplaceAllStringFunc(pair, func(r string) string {
			name := names(r)[0]
			if _, ok := number[name]; !ok {
				number[name] = len(number)
			}
			return fmt.Sprint(r[:1], number[name])
		})
		keys = append(keys, key)
		if _, ok := known.Load(key); !ok && !slices.Contains(unknown, key) {
			unknown = append(unknown, key)
			text = append(text, "# LLVM-MCA-BEGIN", pair, "# LLVM-MCA-END")
		}
	}
	if unknown != nil {
		starts := started.FindAllString(mca(text, cpu, 1, "-timeline"), -1)
		for i, key := range unknown {
			known.Store(key, len(starts[2*i+1])-len(starts[2*i]))
		}
	}
	list := make([]int, len(keys))
	for i, key := range keys {
		n, _ := known.Load(key)
		list[i] = n.(int)
	}
	return list
}

// uses has what an instruction needs of each unit of a processor, in cycles, by the processor and the text.
var uses sync.Map

var (
	unitName = regexp.MustCompile(`(?m)^\[[\d.]+\] +- (\S+)$`)
	perTurn  = regexp.MustCompile(`(?m)^Resource pressure per iteration:\n.*\n(.*)$`)
)

// unitsOf returns what each instruction of a turn needs of each unit, run by itself: then it takes those that
// can do it in turns.
func unitsOf(turn []string, cpu string) (needs [][]float64, names []string) {
	var unknown, text []string
	for _, t := range turn {
		if _, ok := uses.Load(cpu + t); !ok && !slices.Contains(unknown, t) {
			unknown = append(unknown, t)
			text = append(text, "# LLVM-MCA-BEGIN", t, "# LLVM-MCA-END")
		}
	}
	out := mca(append(text, "# LLVM-MCA-BEGIN", turn[0], "# LLVM-MCA-END"), cpu, 60, "-resource-pressure=true", "-instruction-info=false")
	for i, m := range perTurn.FindAllStringSubmatch(out, -1)[:len(unknown)] {
		var need []float64
		for _, f := range strings.Fields(m[1]) {
			x, _ := strconv.ParseFloat(f, 64) // - is 0
			need = append(need, x)
		}
		uses.Store(cpu+unknown[i], need)
	}
	for _, t := range turn {
		need, _ := uses.Load(cpu + t)
		needs = append(needs, need.([]float64))
	}
	for _, m := range unitName.FindAllStringSubmatch(out, -1)[:len(needs[0])] {
		names = append(names, m[1])
	}
	return needs, names
}

// kind returns what units of one name do, in which an instruction has its choice: arithmetic of vectors, say.
func kind(unit string) string {
	unit = strings.TrimRight(strings.TrimPrefix(unit, "V2Unit"), "0123456789")
	if unit == "S" || unit == "M" {
		return "I"
	}
	return unit
}

// occupied returns the cycles of a turn that some units are busy, if what can only run on these is shared out
// evenly: those of a kind for which that is most. llvm-mca's own bound takes groups of units that have some in
// common as if these were there for each group.
func occupied(turn []string, cpu string) (most float64) {
	needs, names := unitsOf(turn, cpu)
	kinds := map[string][]int{}
	for u, n := range names {
		kinds[kind(n)] = append(kinds[kind(n)], u)
	}
	for _, units := range kinds {
		work := make([]float64, 1<<len(units)) // by the set of units that can do it
		for _, need := range needs {
			set, sum := 0, 0.0
			for i, u := range units {
				if need[u] > 0 {
					set |= 1 << i
					sum += need[u]
				}
			}
			work[set] += math.Round(sum) // whole cycles
		}
		for set := 1; set < len(work); set++ {
			total := 0.0
			for part := set; part > 0; part = (part - 1) & set {
				total += work[part]
			}
			most = max(most, total/float64(bits.OnesCount(uint(set))))
		}
	}
	return most
}

// setter returns the last node before i, or of the turn before, that sets a register. It is -1 if
// there is none.
func setter(nodes []node, i int, register string) int {
	for back := 1; back <= len(nodes); back++ {
		if k := (i - back + len(nodes)) % len(nodes); slices.Contains(nodes[k].defs, register) {
			return k
		}
	}
	return -1
}

// graph returns the nodes of a turn, given what llvm-mca says of it.
func graph(turn []string, cpu, out string) (nodes []node) {
	_, table, _ := strings.Cut(out, "[6]    Instructions:\n")
	for l := range strings.Lines(table) {
		m := info.FindStringSubmatch(l)
		if m == nil {
			break
		}
		n := parse(turn[len(nodes)])
		n.uops, _ = strconv.Atoi(m[1])
		n.latency, _ = strconv.Atoi(m[2])
		nodes = append(nodes, n)
	}
	if len(nodes) != len(turn) {
		panic(fmt.Sprint("llvm-mca lists ", len(nodes), " instructions of ", len(turn)))
	}
	var pairs []string
	for i := range nodes {
		n := &nodes[i]
		for _, u := range n.uses {
			if k := setter(nodes, i, u); k >= 0 {
				n.edges = append(n.edges, edge{from: k})
				pairs = append(pairs, turn[k]+"\n"+turn[i])
			}
		}
	}
	list := waits(pairs, cpu)
	for _, n := range nodes {
		for k := range n.edges {
			n.edges[k].wait, list = list[0], list[1:]
		}
	}
	return nodes
}

// turns returns the cycles of a turn on p. A width of 0 stands for any, and so does a window of 0.
func (p processor) turns(nodes []node) float64 {
	starts := make([]int, len(nodes)) // of this turn, and behind the node of the one before
	var entered, left []int           // of each place
	last := 0
	end := func(times int) int {
		for range times {
			for i, n := range nodes {
				start := 0
				for range max(n.uops, 1) {
					k, at := len(entered), 0
					if p.width > 0 && k >= p.width {
						at = entered[k-p.width] + 1
					}
					if p.window > 0 && k >= p.window {
						at = max(at, left[k-p.window])
					}
					if k > 0 {
						at = max(at, entered[k-1])
					}
					entered = append(entered, at)
					start = max(start, at)
				}
				for _, e := range n.edges {
					start = max(start, starts[e.from]+e.wait)
				}
				starts[i] = start
				last = max(last, start+n.latency)
				for len(left) < len(entered) {
					left = append(left, last) // not before those that came before
				}
			}
		}
		return last
	}
	const some = 100
	first := end(some)
	return float64(end(some)-first) / some
}
