package asm

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// neon returns the function for NEON under another name.
func neon(fn *ir.Function, globals map[string]*ir.Global, data *ownData, name string) string {
	equal := func(m Mem) bool {
		g := globals[m.Symbol.String()]
		half := func(from int) (h []string) {
			for _, d := range g.Data {
				if d.Offset >= from && d.Offset < from+16 {
					h = append(h, d.Value.Asm())
				}
			}
			return h
		}
		return slices.Equal(half(m.Disp), half(m.Disp+16))
	}
	nonzero := func(m Mem) bool {
		for _, d := range globals[m.Symbol.String()].Data {
			if d.Offset >= m.Disp && d.Offset < m.Disp+32 {
				n, _ := number(d.Value)
				x := math.Float64frombits(uint64(n))
				if d.Value.Bytes() == 4 {
					x = float64(math.Float32frombits(uint32(n)))
				}
				if x == 0 || math.IsNaN(x) {
					return false
				}
			}
		}
		return true
	}
	t := &translation{fn: fn, equal: equal, nonzero: nonzero, data: data, bytes: map[ID][2]int{}, own: map[uint64]int{}, halves: map[ID]*[2]int{}, bases: map[string]int{}}
	t.uniform = t.greatest(isUniform)
	t.masks = t.greatest(isMask)
	t.numbers = t.greatest(isNumber)
	t.lane0 = t.greatest(readsLane0)
	t.address = map[addressKey]int{}
	var until *replacement
	for i, node := range fn.Nodes {
		if c, ok := node.(*ir.Comment); ok {
			if until = replacements[c.Lines[0]]; until != nil {
				t.replace(until)
			}
		}
		if until != nil {
			continue
		}
		switch node := node.(type) {
		case ir.Label:
			clear(t.address)
			clear(t.bytes)
			t.label(string(node))
		case *ir.Instruction:
			t.instruction(i)
			for _, r := range node.OutputRegisters() {
				delete(t.bytes, r.ID())
				for k := range t.address {
					if r.ID() == k.base || r.ID() == k.index {
						delete(t.address, k)
					}
				}
			}
		}
	}
	p := &program{ops: append(t.begin, t.ops...), vector: t.vector, frame: fn.LocalSize, tables: t.tables}
	p.dropDead()
	p.split()
	p = p.ordered()
	frame := p.frame
	if frame > 0 {
		frame += stackAt
	}
	return fmt.Sprintf("\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n%s", name, fn.Signature, name, frame, fn.ArgumentBytes(), p.print())
}

// A replacement stands for some instructions of AVX2.
type replacement struct {
	op   string
	size int
	ops  []Op
}

// replacements by the comment above the instructions.
var replacements = map[string]*replacement{}

// OnNEON emits instructions. The NEON tier computes dst = op(a, b), lane by lane, in their place, or
// nothing if there is no dst.
func (g ISA) OnNEON(op string, ops []Op, emit func()) {
	if g.Wide {
		emit()
		return
	}
	name := fmt.Sprintf("On NEON: %s (%d)", op, len(replacements))
	replacements[name] = &replacement{op, g.Size, ops}
	Comment(name)
	emit()
	Comment("As on NEON:")
}

func (t *translation) replace(r *replacement) {
	if r.ops == nil {
		return
	}
	size := sizeOf(r.ops)
	a, b := t.source(r.ops[1], size), t.source(r.ops[2], size)
	t.define(r.ops[0], func(h, d int) { t.word(r.op, r.size, d, a[h], b[h]) })
}

// --- What is known of registers ------------------------------------------------

// greatest returns the largest set of vector registers that no instruction objects to, given the
// set. drop calls its argument with each register that it objects to.
func (t *translation) greatest(drop func(t *translation, in *ir.Instruction, has map[ID]bool, out func(Op))) map[ID]bool {
	set := map[ID]bool{}
	for _, in := range t.fn.Instructions() {
		for _, o := range in.Operands {
			if isVector(o) {
				set[o.(Register).ID()] = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, in := range t.fn.Instructions() {
			drop(t, in, set, func(o Op) {
				if isVector(o) && set[o.(Register).ID()] {
					delete(set, o.(Register).ID())
					changed = true
				}
			})
		}
	}
	return set
}

func isScalar(op string) bool {
	return strings.HasSuffix(op, "SD") || strings.HasSuffix(op, "SS")
}

// isUniform: the halves of a register are equal if it is broadcast, zero, or computed lane by
// lane from such registers and constants. A multiply-add is not looked at: cpu.PeakFMA repeats
// those of equal numbers.
func isUniform(t *translation, in *ir.Instruction, has map[ID]bool, out func(Op)) {
	op := in.Opcode
	for _, dst := range in.Outputs {
		if !isVector(dst) {
			continue
		}
		ok := dst.(Register).Size() == 32
		switch {
		case strings.HasPrefix(op, "VBROADCAST") || strings.HasPrefix(op, "VPBROADCAST"):
		case strings.HasPrefix(op, "VMASK") || strings.HasPrefix(op, "VPERM") || strings.HasPrefix(op, "VINSERT") ||
			strings.HasPrefix(op, "VEXTRACT") || strings.HasPrefix(op, "VCVT") || strings.HasPrefix(op, "VPMOV") || strings.HasPrefix(op, "VMOVM") ||
			strings.HasPrefix(op, "VFM") || strings.HasPrefix(op, "VFNM") || strings.Contains(op, "BLENDP") || op == "VPBLENDD" || isScalar(op):
			ok = false
		case in.CancellingInputs && in.Inputs[0] == in.Inputs[1]:
		default:
			for _, o := range in.Inputs {
				switch o := o.(type) {
				case Register:
					ok = ok && (!isVector(o) || has[o.ID()] && o.Size() == 32)
				case Mem:
					ok = ok && o.Base == StaticBase && o.Index == nil && t.equal(o)
				}
			}
		}
		if !ok {
			out(dst)
		}
	}
}

// isMask: all lanes of a register are all ones or all zeros after a comparison.
func isMask(_ *translation, in *ir.Instruction, has map[ID]bool, out func(Op)) {
	for _, dst := range in.Outputs {
		if !isVector(dst) {
			continue
		}
		ok := strings.HasPrefix(in.Opcode, "VCMP") || strings.HasPrefix(in.Opcode, "VPCMP")
		if logical[in.Opcode] != "" || in.Opcode == "VMOVUPS" {
			ok = true
			for _, o := range in.Inputs {
				r, isReg := o.(Register)
				ok = ok && isReg && has[r.ID()]
			}
		}
		if !ok {
			out(dst)
		}
	}
}

// isNumber: a register holds constants other than zero and NaN if it is only loaded with them.
func isNumber(t *translation, in *ir.Instruction, has map[ID]bool, out func(Op)) {
	for _, dst := range in.Outputs {
		ok := strings.HasPrefix(in.Opcode, "VMOVUP") || strings.HasPrefix(in.Opcode, "VBROADCAST")
		for _, o := range in.Inputs {
			switch o := o.(type) {
			case Register:
				ok = ok && has[o.ID()]
			case Mem:
				ok = ok && t.isConstant(o) && t.nonzero(o)
			}
		}
		if !ok {
			out(dst)
		}
	}
}

// readsLane0: only lane 0 of a register matters if no instruction reads others, or only to pass
// them on to such a register.
func readsLane0(_ *translation, in *ir.Instruction, has map[ID]bool, out func(Op)) {
	op, ops := in.Opcode, in.Operands
	if len(ops) == 0 {
		return
	}
	dst := ops[len(ops)-1]
	switch {
	case strings.Contains(op, "BROADCAST"):
	case isScalar(op) && len(ops) < 3: // to or from memory
	case isScalar(op) && !strings.HasPrefix(op, "VP"):
		if !has[dst.(Register).ID()] {
			out(ops[1])
			out(ops[2])
		}
	default:
		for _, r := range in.InputRegisters() {
			out(r)
		}
	}
}

// --- Virtual registers become registers -----------------------------------------

// A program is a function whose virtual registers become registers of the machine.
type program struct {
	ops    []armOp
	vector []bool
	frame  int  // bytes of locals
	tables bool // V30 and V31 are not free
	failed bool // there are too few general registers

	colors  []int
	spilled int
}

type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int)   { b[i/64] &^= 1 << (i % 64) }
func (b bitset) each(f func(i int)) {
	for k, w := range b {
		for ; w != 0; w &= w - 1 {
			f(64*k + bits.TrailingZeros64(w))
		}
	}
}

func (b bitset) addAll(o bitset) (changed bool) {
	for k, w := range o {
		changed = changed || w&^b[k] != 0
		b[k] |= w
	}
	return changed
}

// next returns the instructions that may follow instruction i.
func (p *program) next(labels map[string]int, i int) []int {
	var n []int
	if o := p.ops[i]; !o.ends && i+1 < len(p.ops) {
		n = append(n, i+1)
	}
	if o := p.ops[i]; o.target != "" {
		at, ok := labels[o.target]
		if !ok {
			panic("no label " + o.target)
		}
		n = append(n, at)
	}
	return n
}

func (p *program) labels() map[string]int {
	labels := map[string]int{}
	for i, o := range p.ops {
		if o.label != "" {
			labels[o.label] = i
		}
	}
	return labels
}

// live returns the registers that are live after each instruction.
func (p *program) live() []bitset {
	labels := p.labels()
	after, before := make([]bitset, len(p.ops)), make([]bitset, len(p.ops))
	for i := range after {
		after[i], before[i] = newBitset(len(p.vector)), newBitset(len(p.vector))
	}
	for changed := true; changed; {
		changed = false
		for i := len(p.ops) - 1; i >= 0; i-- {
			for _, n := range p.next(labels, i) {
				after[i].addAll(before[n])
			}
			b := slices.Clone(after[i])
			for _, d := range p.ops[i].defs {
				b.remove(d)
			}
			for _, u := range p.ops[i].uses {
				b.add(u)
			}
			changed = before[i].addAll(b) || changed
		}
	}
	return after
}

// dropDead omits instructions whose results nobody reads.
func (p *program) dropDead() {
	for {
		after := p.live()
		n := len(p.ops)
		var kept []armOp
		for i, o := range p.ops {
			if len(o.defs) == 0 || slices.ContainsFunc(o.defs, after[i].has) {
				kept = append(kept, o)
			}
		}
		if p.ops = kept; len(kept) == n {
			return
		}
	}
}

// split gives each value a register of its own: definitions have one register only if the same
// use may read both.
func (p *program) split() {
	labels := p.labels()
	var defs []int        // the register of each definition
	first := []int{}      // the first definition of each instruction
	of := map[int][]int{} // the definitions of each register
	for _, o := range p.ops {
		first = append(first, len(defs))
		for _, d := range o.defs {
			of[d] = append(of[d], len(defs))
			defs = append(defs, d)
		}
	}
	in := make([]bitset, len(p.ops))
	for i := range in {
		in[i] = newBitset(len(defs))
	}
	transfer := func(i int) bitset {
		out := slices.Clone(in[i])
		for k, d := range p.ops[i].defs {
			for _, other := range of[d] {
				out.remove(other)
			}
			out.add(first[i] + k)
		}
		return out
	}
	work := []int{0}
	for seen := newBitset(len(p.ops)); len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		out := transfer(i)
		for _, n := range p.next(labels, i) {
			if in[n].addAll(out) || !seen.has(n) {
				seen.add(n)
				work = append(work, n)
			}
		}
	}
	group := newGroups(len(defs))
	reaching := func(i, u int) int {
		d := -1
		for _, k := range of[u] {
			if in[i].has(k) {
				if d >= 0 {
					group.join(d, k)
				}
				d = k
			}
		}
		if d < 0 {
			panic(fmt.Sprintf("%s reads a register before it is set", p.ops[i].text))
		}
		return d
	}
	reached := newBitset(len(p.ops))
	mark := []int{0}
	for len(mark) > 0 {
		i := mark[len(mark)-1]
		mark = mark[:len(mark)-1]
		if !reached.has(i) {
			reached.add(i)
			mark = append(mark, p.next(labels, i)...)
		}
	}
	var kept []armOp
	var at [][]int
	for i, o := range p.ops {
		if !reached.has(i) {
			continue
		}
		var from []int
		for _, u := range o.uses {
			from = append(from, reaching(i, u))
		}
		if o.tied {
			group.join(from[0], first[i])
		}
		kept, at = append(kept, o), append(at, from)
	}
	number := map[int]int{}
	var vector []bool
	rename := func(d int) int {
		g := group.find(d)
		if _, ok := number[g]; !ok {
			number[g] = len(vector)
			vector = append(vector, p.vector[defs[g]])
		}
		return number[g]
	}
	for i, k := 0, 0; i < len(p.ops); i++ {
		if !reached.has(i) {
			continue
		}
		o := &kept[k]
		o.defs, o.uses = slices.Clone(o.defs), slices.Clone(o.uses)
		for j := range o.defs {
			o.defs[j] = rename(first[i] + j)
		}
		for j := range o.uses {
			o.uses[j] = rename(at[k][j])
		}
		k++
	}
	p.ops, p.vector = kept, vector
}

// groups are disjoint sets.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) find(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(a, b int) { g[g.find(b)] = g.find(a) }

// generalRegs are the general registers that Go's assembler leaves free.
var generalRegs = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 23, 24, 25, 26}

func (p *program) available(v int) int {
	switch {
	case !p.vector[v]:
		return len(generalRegs)
	case p.tables:
		return 30
	}
	return 32
}

// color chooses registers as Chaitin and Briggs do. If there are too few, it keeps a value in
// memory, or computes it again, and returns false.
func (p *program) color() bool {
	after := p.live()
	n := len(p.vector)
	edges := make([]bitset, n)
	for i := range edges {
		edges[i] = newBitset(n)
	}
	for i, o := range p.ops {
		for _, d := range o.defs {
			after[i].each(func(v int) {
				if v != d && p.vector[v] == p.vector[d] && (!o.copy || v != o.uses[0]) {
					edges[v].add(d)
					edges[d].add(v)
				}
			})
			for _, e := range o.defs {
				if e != d && p.vector[e] == p.vector[d] {
					edges[d].add(e)
				}
			}
		}
	}
	group := newGroups(n)
	degree := func(v int) (d int) {
		for _, w := range edges[v] {
			d += bits.OnesCount64(w)
		}
		return d
	}
	// Copies whose ends may share a register do so, unless that makes the graph harder to color, by
	// the tests of Briggs and of George.
	for changed := true; changed; {
		changed = false
		for _, o := range p.ops {
			if !o.copy {
				continue
			}
			a, b := group.find(o.defs[0]), group.find(o.uses[0])
			if a == b || edges[a].has(b) {
				continue
			}
			both := slices.Clone(edges[a])
			both.addAll(edges[b])
			hard, onlyA, onlyB := 0, 0, 0 // neighbours that may lack a register
			both.each(func(v int) {
				d := degree(v)
				inA, inB := edges[a].has(v), edges[b].has(v)
				if !inB && d >= p.available(v) {
					onlyA++
				}
				if !inA && d >= p.available(v) {
					onlyB++
				}
				if inA && inB {
					d--
				}
				if d >= p.available(v) {
					hard++
				}
			})
			if hard >= p.available(a) && onlyA > 0 && onlyB > 0 {
				continue
			}
			group.join(a, b)
			both.each(func(v int) {
				edges[v].remove(b)
				edges[v].add(a)
			})
			edges[a], edges[b] = both, newBitset(n)
			changed = true
		}
	}

	cost := p.costs()
	total := make([]float64, n)
	for v, c := range cost {
		total[group.find(v)] += c
	}
	degrees := make([]int, n)
	var left []int
	for v := range n {
		if group.find(v) == v {
			degrees[v] = degree(v)
			left = append(left, v)
		}
	}
	var stack []int
	removed := newBitset(n)
	for len(left) > 0 {
		k := slices.IndexFunc(left, func(v int) bool { return degrees[v] < p.available(v) })
		if k < 0 {
			k = 0
			for j, v := range left {
				if total[v]/float64(degrees[v]+1) < total[left[k]]/float64(degrees[left[k]]+1) {
					k = j
				}
			}
		}
		v := left[k]
		left = slices.Delete(left, k, k+1)
		stack = append(stack, v)
		removed.add(v)
		edges[v].each(func(w int) { degrees[w]-- })
	}
	p.colors = make([]int, n)
	for i := range p.colors {
		p.colors[i] = -1
	}
	var without []int
	for _, v := range slices.Backward(stack) {
		var taken uint64
		edges[v].each(func(w int) {
			if c := p.colors[w]; c >= 0 {
				taken |= 1 << c
			}
		})
		c := bits.TrailingZeros64(^taken)
		if c >= p.available(v) {
			without = append(without, v)
			continue
		}
		p.colors[v] = c
	}
	if without != nil {
		best := slices.MinFunc(without, func(a, b int) int { return int(1e3 * (total[a] - total[b])) })
		if total[best] >= never {
			panic("too few registers")
		}
		for v := range n {
			if group.find(v) == best {
				p.spill(v)
			}
		}
		return false
	}
	for v := range p.colors {
		p.colors[v] = p.colors[group.find(v)]
	}
	return true
}

const never = 1e12

// costs returns what it takes to keep each register in memory.
func (p *program) costs() []float64 {
	weight := make([]float64, len(p.ops))
	for i := range weight {
		weight[i] = 1
	}
	labels := p.labels()
	for i, o := range p.ops {
		if at, ok := labels[o.target]; ok && at < i { // a loop
			for j := at; j <= i; j++ {
				weight[j] = min(weight[j]*8, 1e6)
			}
		}
	}
	cost := make([]float64, len(p.vector))
	for i, o := range p.ops {
		for _, v := range o.defs {
			cost[v] += weight[i]
		}
		for _, v := range o.uses {
			cost[v] += weight[i]
		}
	}
	for v := range cost {
		if v >= len(p.vector)-p.spilled {
			cost[v] = never
		}
	}
	return cost
}

// fromStart reports whether an instruction computes the same anywhere in the function: it reads no register
// but addresses of constants, and no local, which may be stored to.
func (p *program) fromStart(o armOp) bool {
	if strings.Contains(o.text, "(RSP)") {
		return false
	}
	for _, u := range o.uses {
		if p.vector[u] || !strings.Contains(sets0(p.ops, u).text, "(SB)") {
			return false
		}
	}
	return true
}

// spill keeps a value in memory. A constant is loaded again. There is no memory for general registers.
func (p *program) spill(v int) {
	var sets []armOp
	for _, o := range p.ops {
		if slices.Contains(o.defs, v) {
			sets = append(sets, o)
		}
	}
	again := len(sets) == 1 && len(sets[0].defs) == 1 && !sets[0].tied && !sets[0].copy && p.fromStart(sets[0])
	if !again && !p.vector[v] {
		p.failed = true
		return
	}
	at := p.frame + stackAt
	if !again {
		p.frame += 16
	}
	var ops []armOp
	for _, o := range p.ops {
		if again && slices.Contains(o.defs, v) {
			continue
		}
		uses := slices.Contains(o.uses, v)
		sets := slices.Contains(o.defs, v)
		if !uses && !sets {
			ops = append(ops, o)
			continue
		}
		r := len(p.vector)
		p.vector = append(p.vector, p.vector[v])
		p.spilled++
		if uses {
			if again {
				load := sets0(p.ops, v)
				load.defs = []int{r}
				ops = append(ops, load)
			} else {
				ops = append(ops, armOp{text: fmt.Sprintf("FMOVQ %d(RSP), F~0", at), defs: []int{r}})
			}
		}
		o.defs, o.uses = replaced(o.defs, v, r), replaced(o.uses, v, r)
		ops = append(ops, o)
		if sets {
			ops = append(ops, armOp{text: fmt.Sprintf("FMOVQ F~0, %d(RSP)", at), uses: []int{r}})
		}
	}
	p.ops = ops
}

func sets0(ops []armOp, v int) armOp {
	return ops[slices.IndexFunc(ops, func(o armOp) bool { return slices.Contains(o.defs, v) })]
}

// print returns the assembly.
func (p *program) print() string {
	var b strings.Builder
	for _, o := range p.ops {
		if o.label != "" {
			fmt.Fprintf(&b, "\n%s:\n", o.label)
			continue
		}
		regs := make([]int, 0, 4)
		for _, v := range append(slices.Clone(o.defs), o.uses...) {
			c := p.colors[v]
			if !p.vector[v] {
				c = generalRegs[c]
			}
			regs = append(regs, c)
		}
		if o.copy && regs[0] == regs[1] {
			continue
		}
		text := o.text
		for i, r := range regs {
			text = strings.ReplaceAll(text, fmt.Sprint("~", i), fmt.Sprint(r))
		}
		switch {
		case o.word != 0:
			w := o.word
			for i, at := range o.at {
				w |= uint32(regs[i]) << at
			}
			text = fmt.Sprintf("WORD $0x%08x // %s", w, text)
		case o.target != "":
			sep := " "
			if strings.Contains(text, " ") {
				sep = ", "
			}
			text += sep + o.target
		}
		fmt.Fprintf(&b, "\t%s\n", text)
	}
	return b.String()
}
