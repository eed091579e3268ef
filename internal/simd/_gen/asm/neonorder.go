package asm

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The generators emit a step of a loop for one vector after another. A processor that waits for one vector
// looks only some hundred instructions ahead for work on another. So in innermost loops the vectors take
// turns of some instructions, which end where few registers hold values, if models of two processors take
// less time then, and neither takes more.

// ordered returns p with registers of the machine, in the best of several orders.
func (p *program) ordered() *program {
	best := p.clone()
	for !best.failed && !best.color() {
	}
	if best.failed {
		panic("a general register would be in memory")
	}
	first := best.takes()
	least := 2.9 // of two times and the number of instructions: what changes little stays as it is
	for _, length := range []int{12, 16, 24, 32, 48} {
		q := p.clone()
		q.joinCopies()
		if !q.order(length) {
			break
		}
		for !q.failed && !q.color() {
		}
		if q.failed || q.frame > maxFrame {
			continue
		}
		sum, slower := 0.0, false
		for i, c := range q.takes() {
			sum += c / first[i]
			slower = slower || i < len(models) && c > first[i]
		}
		if sum < least && !slower {
			best, least = q, sum
		}
	}
	return best
}

// maxFrame is what Go's linker lets a function without a check of the stack have, less a reserve.
const maxFrame = 640

func (p *program) clone() *program {
	q := *p
	q.ops, q.vector = slices.Clone(p.ops), slices.Clone(p.vector)
	return &q
}

// innermost returns the first instruction of each innermost loop, and the jump at its end.
func (p *program) innermost() (inner [][2]int) {
	labels := p.labels()
	var loops [][2]int
	for i, o := range p.ops {
		if at, ok := labels[o.target]; ok && at < i {
			loops = append(loops, [2]int{at, i})
		}
	}
	for _, l := range loops {
		if !slices.ContainsFunc(loops, func(o [2]int) bool { return o != l && o[0] >= l[0] && o[1] <= l[1] }) {
			inner = append(inner, l)
		}
	}
	return inner
}

// order lets the chains in each block of the innermost loops take turns of about so many units. It reports
// whether any block has several.
func (p *program) order(length int) (several bool) {
	live := p.live()
	inner := make([]bool, len(p.ops))
	for _, l := range p.innermost() {
		for i := l[0]; i < l[1]; i++ {
			inner[i] = true
		}
	}
	var ops []armOp
	for i := 0; i < len(p.ops); i++ {
		j := i
		for o := p.ops[j]; j < len(p.ops) && inner[j] && o.label == "" && o.target == "" && !o.ends; o = p.ops[j] {
			j++
		}
		if j > i {
			block, ok := p.orderBlock(p.ops[i:j], live[j-1], length)
			several = several || ok
			ops = append(ops, block...)
			i = j
		}
		ops = append(ops, p.ops[i])
	}
	p.ops = ops
	return several
}

// A unit is instructions that stay together: a load of a constant precedes what reads it, a copy what changes
// it, and a copy follows what computes its source.
type unit struct {
	ops    []armOp
	before []int // units that must come first
	after  []int
	chain  int // units that compute with the same vectors have the same
}

// orderBlock returns a block in another order, given what is live after it, and whether it has several
// chains.
func (p *program) orderBlock(ops []armOp, live bitset, length int) ([]armOp, bool) {
	own := len(p.vector)
	units := p.units(ops, live)
	chains := p.depend(units)
	if chains < 2 {
		return ops, false
	}
	least := func(key func(i int) int) []int {
		return list(units, func(ready []int) int {
			return slices.MinFunc(ready, func(i, j int) int { return key(i) - key(j) })
		})
	}
	line := least(func(i int) int { return units[i].chain*len(units) + i }) // chain after chain
	held := p.held(units, line, live)
	turn, at := make([]int, len(units)), make([]int, len(units))
	for s := 0; s < len(line); {
		end := s // of the chain
		for end < len(line) && units[line[end]].chain == units[line[s]].chain {
			end++
		}
		for t := 0; s < end; t++ {
			e := end
			if end-s > length*3/2 {
				e = s + length/2
				for j := e; j < s+length; j++ {
					if held[j-1] <= held[e-1] {
						e = j
					}
				}
			}
			for ; s < e; s++ {
				turn[line[s]], at[line[s]] = t, s
			}
		}
	}
	var out []armOp
	for _, i := range least(func(i int) int { return turn[i]*len(units) + at[i] }) {
		out = append(out, units[i].ops...)
	}
	return p.shareConstants(out, own), true
}

// list returns an order of units, given which of those that are ready comes next.
func list(units []unit, choose func(ready []int) int) (order []int) {
	var ready []int
	wait := make([]int, len(units))
	for i, u := range units {
		if wait[i] = len(u.before); wait[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := choose(ready)
		ready = slices.DeleteFunc(ready, func(k int) bool { return k == i })
		order = append(order, i)
		for _, a := range units[i].after {
			if wait[a]--; wait[a] == 0 {
				ready = append(ready, a)
			}
		}
	}
	if len(order) != len(units) {
		panic("units wait for each other")
	}
	return order
}

// held returns how many vectors hold a value after each unit of an order.
func (p *program) held(units []unit, order []int, live bitset) []int {
	held := make([]int, len(order))
	now := newBitset(len(p.vector))
	now.addAll(live)
	for j, i := range slices.Backward(order) {
		now.each(func(v int) {
			if p.vector[v] {
				held[j]++
			}
		})
		for _, o := range slices.Backward(units[i].ops) {
			for _, v := range o.defs {
				now.remove(v)
			}
			for _, v := range o.uses {
				now.add(v)
			}
		}
	}
	return held
}

// units returns the units of a block, with a load of each constant for each that reads it. The new registers
// come after those of the block.
func (p *program) units(ops []armOp, live bitset) (units []unit) {
	loads := map[int]int{}
	for i, o := range ops {
		if len(o.defs) == 1 && p.vector[o.defs[0]] && !o.tied && p.fromStart(o) {
			loads[o.defs[0]] = i
			continue
		}
		joined := false
		if len(units) > 0 {
			b := units[len(units)-1].ops
			last := b[len(b)-1]
			joined = len(last.defs) == 1 && len(o.uses) > 0 && last.defs[0] == o.uses[0] && (o.copy || o.tied && last.copy) ||
				strings.HasSuffix(last.text, "(F30, F31)") // a table
		}
		if !joined {
			units = append(units, unit{})
		}
		u := &units[len(units)-1]
		for _, v := range o.uses {
			k, ok := loads[v]
			if !ok {
				continue
			}
			l := ops[k]
			if slices.Contains(o.defs, v) {
				delete(loads, v)
			} else {
				p.vector = append(p.vector, true)
				l.defs = []int{len(p.vector) - 1}
				o.uses = replaced(o.uses, v, l.defs[0])
			}
			u.ops = append(u.ops, l)
		}
		u.ops = append(u.ops, o)
	}
	for _, i := range slices.Sorted(maps.Values(loads)) {
		if live.has(ops[i].defs[0]) {
			units = append(units, unit{ops: ops[i : i+1]})
		}
	}
	return units
}

// replaced returns a list with b in the place of a.
func replaced(list []int, a, b int) []int {
	list = slices.Clone(list)
	for i := range list {
		if list[i] == a {
			list[i] = b
		}
	}
	return list
}

// shareConstants drops the loads of constants into registers from own on that are still there from a few
// instructions before.
func (p *program) shareConstants(ops []armOp, own int) (out []armOp) {
	const few = 12
	type load struct {
		text string
		base int
	}
	at, now := map[load]int{}, map[int]int{}
	for _, o := range ops {
		for _, v := range o.uses {
			if r, ok := now[v]; ok {
				o.uses = replaced(o.uses, v, r)
			}
		}
		if len(o.defs) == 1 && o.defs[0] >= own && len(o.uses) == 1 {
			k := load{o.text, o.uses[0]}
			if i, ok := at[k]; ok && len(out)-i <= few {
				now[o.defs[0]] = out[i].defs[0]
				continue
			}
			at[k] = len(out)
		}
		out = append(out, o)
	}
	return out
}

// depend finds which units must come before which, and the chains. It returns how many chains are more than
// a few units.
func (p *program) depend(units []unit) int {
	const flags = -1 // in the place of a register
	type access struct {
		unit int
		memory
	}
	writer, readers := map[int]int{}, map[int][]int{}
	var accesses []access
	chains := newGroups(len(units))
	for i := range units {
		u := &units[i]
		need := func(k int) {
			if k != i && !slices.Contains(u.before, k) {
				u.before = append(u.before, k)
				units[k].after = append(units[k].after, i)
			}
		}
		for _, o := range u.ops {
			uses, defs := slices.Clone(o.uses), slices.Clone(o.defs)
			switch name, _, _ := strings.Cut(o.text, " "); name {
			case "CMP", "CMPW", "TST", "TSTW", "ADDS", "SUBS":
				defs = append(defs, flags)
			case "CSEL":
				uses = append(uses, flags)
			}
			if m := memoryOf(o); m.kind != 0 && !p.constants(m.base) {
				a := access{i, m}
				for _, c := range accesses {
					// What changes the base of both comes between them anyway.
					apart := a.base == c.base && a.base >= 0 && (a.at+a.size <= c.at || c.at+c.size <= a.at)
					if (a.kind == 's' || c.kind == 's') && !apart {
						need(c.unit)
					}
				}
				accesses = append(accesses, a)
			}
			for _, v := range uses {
				if w, ok := writer[v]; ok {
					need(w)
					if v >= 0 && p.vector[v] {
						a, b := chains.find(w), chains.find(i)
						chains.join(min(a, b), max(a, b))
					}
				}
				if o.copy { // so that one register may do for both
					for _, r := range readers[v] {
						need(r)
					}
				}
				readers[v] = append(readers[v], i)
			}
			for _, v := range defs {
				if w, ok := writer[v]; ok {
					need(w)
				}
				for _, r := range readers[v] {
					need(r)
				}
				writer[v], readers[v] = i, nil
			}
		}
	}
	size := map[int]int{}
	for i := range units {
		units[i].chain = chains.find(i)
		size[units[i].chain]++
	}
	maps.DeleteFunc(size, func(_, n int) bool { return n < 16 })
	return len(size)
}

// A memory says what an instruction loads ('l') or stores ('s'), and where.
type memory struct {
	kind     byte
	base     int // register, or -1 for the stack
	at, size int // size is at most this
}

var placeOf = regexp.MustCompile(`(-?\d+)?\(R~(\d)\)`)

func memoryOf(o armOp) memory {
	if o.word != 0 || o.label != "" || o.target != "" || strings.Contains(o.text, "$") || !strings.Contains(o.text, "(") {
		return memory{}
	}
	m := memory{kind: 'l', base: -1, size: 32}
	name, rest, _ := strings.Cut(o.text, " ")
	if strings.Contains(rest, ", ") && strings.HasSuffix(rest, ")") && name != "FLDPQ" {
		m.kind = 's'
	}
	if k := placeOf.FindStringSubmatch(o.text); k != nil {
		m.at, _ = strconv.Atoi(k[1])
		r, _ := strconv.Atoi(k[2])
		m.base = slices.Concat(o.defs, o.uses)[r]
	}
	return m
}

// constants reports whether a register holds the address of constants.
func (p *program) constants(v int) bool {
	return v >= 0 && strings.HasSuffix(sets0(p.ops, v).text, "(SB), R~0")
}

// joinCopies computes at once in its place what is computed to be copied: a copy goes if nothing but
// the few instructions before it reads or sets its source, and these do not need its destination.
func (p *program) joinCopies() {
	total := make([]int, len(p.vector))
	for _, o := range p.ops {
		for _, v := range slices.Concat(o.defs, o.uses) {
			total[v]++
		}
	}
	count := func(list []int, v int) (n int) {
		for _, x := range list {
			if x == v {
				n++
			}
		}
		return n
	}
	for i, o := range p.ops {
		if !o.copy {
			continue
		}
		from, to := o.uses[0], o.defs[0]
		n, first := count(o.uses, from), i
		for first > max(0, i-4) && n < total[from] {
			b := p.ops[first-1]
			if b.label != "" || b.target != "" || b.ends || slices.Contains(b.defs, to) || first < i && slices.Contains(p.ops[first].uses, to) {
				break
			}
			n += count(b.defs, from) + count(b.uses, from)
			first--
		}
		if n < total[from] || first == i || slices.Contains(p.ops[first].uses, from) {
			continue
		}
		for j := first; j < i; j++ {
			b := &p.ops[j]
			for _, list := range []*[]int{&b.defs, &b.uses} {
				*list = slices.Clone(*list)
				for k, v := range *list {
					if v == from {
						(*list)[k] = to
					}
				}
			}
		}
		total[to] += total[from] - len(o.uses) - len(o.defs)
		p.ops[i] = armOp{}
	}
	p.ops = slices.DeleteFunc(p.ops, func(o armOp) bool { return o.text == "" && o.label == "" })
}

// models are processors: how many instructions they hold at a time, and how many on memory and others they
// begin in a cycle.
var models = [2]struct {
	window int
	begin  [2]int
}{{192, [2]int{2, 3}}, {320, [2]int{3, 4}}}

// takes returns the cycles of some turns of the innermost loops of p on each model, and their instructions.
// Loads wait for no store, as in llvm-mca: a value that is kept in memory may be loaded before its store.
func (p *program) takes() (c [3]float64) {
	const turns, width = 6, 6
	for k, m := range models {
		for _, l := range p.innermost() {
			ready := map[int]int{} // when a register has its value
			busy := [2]map[int]int{{}, {}}
			var left []int // when each instruction leaves
			end, enter, entered := 0, 0, 0
			for range turns {
				for _, o := range p.ops[l[0] : l[1]+1] {
					if o.label != "" || o.copy && p.colors[o.defs[0]] == p.colors[o.uses[0]] {
						for _, d := range o.defs {
							ready[d] = ready[o.uses[0]]
						}
						continue
					}
					if entered++; entered == width {
						enter, entered = enter+1, 0
					}
					if n := len(left); n >= m.window {
						enter = max(enter, left[n-m.window])
					}
					class, latency := latency(o)
					start := enter
					for _, u := range o.uses {
						start = max(start, ready[u])
					}
					for busy[class][start] == m.begin[class] {
						start++
					}
					busy[class][start]++
					for _, d := range o.defs {
						ready[d] = start + latency
					}
					end = max(end, start+latency)
					left = append(left, end)
				}
			}
			c[k] += float64(end)
			c[2] += float64(len(left))
		}
	}
	return c
}

// latency returns what an instruction takes in a model, memory (0) or another unit (1), and the cycles until
// others can read its result.
func latency(o armOp) (class, cycles int) {
	name, _, _ := strings.Cut(o.text, " ")
	switch {
	case memoryOf(o).kind != 0:
		return 0, 4
	case name == "FDIV" || name == "FSQRT":
		return 1, 10
	case slices.Contains([]string{"FADD", "FSUB", "FMUL", "FMLA", "FMLS", "FMADD", "FMSUB", "UMOV", "FMOV", "UMAXV"}, name):
		return 1, 4
	}
	return 1, 2
}
