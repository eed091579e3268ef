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

// A processor takes its instructions in order, as many in a cycle as its width, holds as many as its
// window, and lets them go in order. Stores do not delay loads. That of the second and third bound has units
// for everything at once. If units is true, it has those of the nodes.
type processor struct {
	width, window int
	units         bool
}

// windows are how many instructions the models of cpus hold at a time.
var windows = map[string]int{"neoverse-v2": 320, "apple-m1": 192}

// An M1 holds about 630: https://www.anandtech.com/show/16226/apple-silicon-m1-a14-deep-dive/2.
const m1Window = 630

// A node is an instruction: the registers that it reads and sets, after how many cycles it is done, how
// many of the processor's places it takes, and its needs.
type node struct {
	uses, defs    []string
	latency, uops int
	edges         []edge
	needs         []need
}

// A need is a number of cycles of some units, any of which will do.
type need struct{ units, cycles int } // units is a set

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

// uses has the needs of an instruction, by the processor and the text.
var uses sync.Map

var (
	unitName = regexp.MustCompile(`(?m)^\[[\d.]+\] +- (\S+)$`)
	perTurn  = regexp.MustCompile(`(?m)^Resource pressure per iteration:\n.*\n(.*)$`)
)

// needsOf returns the needs of each instruction of a turn, run by itself: then it takes the units that can do it
// in turns. They come with the sets of units of a kind.
func needsOf(turn []string, cpu string) (needs [][]need, kinds map[string]int) {
	var unknown, text []string
	for _, t := range turn {
		if _, ok := uses.Load(cpu + t); !ok && !slices.Contains(unknown, t) {
			unknown = append(unknown, t)
			text = append(text, "# LLVM-MCA-BEGIN", t, "# LLVM-MCA-END")
		}
	}
	out := mca(append(text, "# LLVM-MCA-BEGIN", turn[0], "# LLVM-MCA-END"), cpu, 60, "-resource-pressure=true", "-instruction-info=false")
	tables := perTurn.FindAllStringSubmatch(out, -1)
	kinds = map[string]int{}
	for u, m := range unitName.FindAllStringSubmatch(out, len(strings.Fields(tables[0][1]))) {
		kinds[kind(m[1])] |= 1 << u
	}
	for i, t := range unknown {
		var list []need
		for _, units := range kinds {
			var n need
			sum := 0.0
			for u, f := range strings.Fields(tables[i][1]) {
				if x, _ := strconv.ParseFloat(f, 64); x > 0 && units>>u&1 != 0 { // - is 0
					n.units |= 1 << u
					sum += x
				}
			}
			if n.cycles = int(math.Round(sum)); n.cycles > 0 {
				list = append(list, n)
			}
		}
		uses.Store(cpu+t, list)
	}
	for _, t := range turn {
		list, _ := uses.Load(cpu + t)
		needs = append(needs, list.([]need))
	}
	return needs, kinds
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
	needs, kinds := needsOf(turn, cpu)
	all := slices.Concat(needs...)
	for _, units := range kinds {
		for set := units; set > 0; set = (set - 1) & units {
			total := 0
			for _, n := range all {
				if n.units&^set == 0 {
					total += n.cycles
				}
			}
			most = max(most, float64(total)/float64(bits.OnesCount(uint(set))))
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
	needs, _ := needsOf(turn, cpu)
	for i, n := range nodes {
		for k := range n.edges {
			n.edges[k].wait, list = list[0], list[1:]
		}
		nodes[i].needs = needs[i]
	}
	return nodes
}

// turns returns the cycles of a turn on p. A width of 0 stands for any, and so does a window of 0.
func (p processor) turns(nodes []node) float64 {
	starts := make([]int, len(nodes)) // of this turn, and after the node of the one before
	var entered, left []int           // of each place
	busy := map[[2]int]bool{}         // by unit and cycle
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
				if p.units {
					start = reserve(busy, n.needs, start)
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

// reserve keeps the units that an instruction needs busy, from the first cycles on that they are free. It
// returns when all needs have begun.
func reserve(busy map[[2]int]bool, needs []need, from int) (start int) {
	start = from
	for _, n := range needs {
		for at, left := from, n.cycles; left > 0; at++ {
			for u := 0; left > 0 && n.units>>u != 0; u++ {
				if n.units>>u&1 == 0 || busy[[2]int{u, at}] {
					continue
				}
				busy[[2]int{u, at}] = true
				if left == n.cycles {
					start = max(start, at)
				}
				left--
			}
		}
	}
	return start
}
