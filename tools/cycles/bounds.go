package main

import (
	"fmt"
	"regexp"
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

// A node is an instruction: what it reads and sets, after how many cycles, and how many of the
// processor's places it takes. If it adds to a register, late is how many cycles after the others it
// reads that, if an instruction of its kind has set it.
type node struct {
	name                string
	uses, defs          []string
	sum, address        string // registers that it adds to, or moves along
	latency, uops, late int
}

var (
	info     = regexp.MustCompile(`^ (\d+) +(\d+) +\d+\.\d+ `)
	dispatch = regexp.MustCompile(`Dispatch Width:\s+(\d+)`)
	register = regexp.MustCompile(`\b([bhsdqvwx])(\d+)\b|\bsp\b`)
	indexed  = regexp.MustCompile(`^v\d+\.[bhsd]\[\d+\]$`)
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
	changes   = regexp.MustCompile(`^(fml[as]|ml[as]|[us]ml[as]l|bsl|bi[tf]|fcvtn2|u?s?hrn2|xtn2|s[lr]i|movk|tbx)`)
	setsFlags = regexp.MustCompile(`^(adds|subs|ands|bics|negs|cmp|cmn|tst|fcmp|ccmp|fccmp)`)
	getsFlags = regexp.MustCompile(`^(b\.|cset|cs(el|inc|inv|neg)|ccmp|fcsel|fccmp|adcs?|sbcs?)`)
)

// parse returns what an instruction reads and sets.
func parse(text string) (n node) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	n.name = name
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
			if indexed.MatchString(o) || changes.MatchString(name) {
				n.sum = names(o)[0]
			}
			continue
		}
		n.uses = append(n.uses, names(o)...)
		if strings.HasPrefix(o, "[") && (strings.HasSuffix(o, "!") || i+1 < len(ops)) { // the address changes
			n.address = names(o)[0]
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

var sums sync.Map // what sumLatency returns, by its arguments

// sumLatency returns after how many cycles a sum can be added to again, as llvm-mca takes it.
func sumLatency(text, cpu string) int {
	const times = 100
	if n, ok := sums.Load(cpu + text); ok {
		return n.(int)
	}
	n := int(value(mca([]string{text}, cpu, times), total)) / times
	sums.Store(cpu+text, n)
	return n
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
		if n.sum != "" && strings.HasPrefix(n.name, "fml") {
			next := -1
			one := regexp.MustCompile(`\bv\d+`).ReplaceAllStringFunc(turn[len(nodes)], func(string) string {
				next++
				return fmt.Sprint("v", next)
			})
			n.late = n.latency - sumLatency(one, cpu)
		}
		nodes = append(nodes, n)
	}
	if len(nodes) != len(turn) {
		panic(fmt.Sprint("llvm-mca lists ", len(nodes), " instructions of ", len(turn)))
	}
	return nodes
}

// turns returns the cycles of a turn on p. A width of 0 stands for any, and so does a window of 0.
func (p processor) turns(nodes []node) float64 {
	type value struct {
		at int
		by node
	}
	values := map[string]value{}
	var entered, left []int // of each place
	last := 0
	end := func(times int) int {
		for range times {
			for _, n := range nodes {
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
				for _, u := range n.uses {
					start = max(start, values[u].at)
				}
				if v := values[n.sum]; n.sum != "" {
					at := v.at
					if v.by.name == n.name {
						at -= n.late
					}
					start = max(start, at)
				}
				done := start + n.latency
				for _, d := range n.defs {
					values[d] = value{done, n}
				}
				if n.address != "" {
					values[n.address] = value{start + 1, n}
				}
				last = max(last, done)
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
