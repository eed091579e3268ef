package asm

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The NEON tier is the AVX2 tier, instruction by instruction. A register of AVX2 becomes two of
// NEON, and its 16 registers the 32 of NEON. So both tiers give the same bits, and a loop is
// written once. A register whose halves are always equal, such as a broadcast number, becomes one.
//
// The translation reads the program before avo chooses registers, and chooses its own: see
// neonregs.go. The instructions are those that the generators use; others panic.
//
// Go's assembler lacks most instructions on vectors of floats. Those on vectors are therefore
// words, with a comment that says what they are.

// An armOp is an instruction of arm64. Its registers are virtual.
type armOp struct {
	text string // the instruction, with ~0, ~1 ... for the numbers of the registers; or its comment
	word uint32 // the bits of the instruction without registers, or 0
	at   []int  // where the bits of each register are in the word
	defs []int
	uses []int
	tied bool // defs[0] and uses[0] are one register
	copy bool // defs[0] is a copy of uses[0]

	label, target string // of a label or a jump
	ends          bool   // the next instruction does not follow
}

// A translation makes a function for NEON.
type translation struct {
	fn      *ir.Function
	equal   func(Mem) bool // whether the halves of the 32 bytes at a symbol are equal
	nonzero func(Mem) bool // whether the numbers there are neither zero nor NaN
	ops     []armOp
	vector  []bool // of each virtual register, whether it is a vector
	halves  map[ID]*[2]int
	uniform map[ID]bool        // registers with equal halves
	masks   map[ID]bool        // registers whose lanes are all ones or zeros
	numbers map[ID]bool        // registers of constants other than zero and NaN
	lane0   map[ID]bool        // registers of which only lane 0 is read
	address map[addressKey]int // sums of a base and an index
	bases   map[string]int
	bytes   map[ID][2]int  // indices of bytes, for VPERMD
	own     map[uint64]int // constants of the translation
	data    *ownData
	begin   []armOp // instructions that come first
	zero    int     // a label's number
	tables  bool    // V30 and V31 hold tables
}

func (t *translation) newReg(vector bool) int {
	t.vector = append(t.vector, vector)
	return len(t.vector) - 1
}

func (t *translation) v() int { return t.newReg(true) }
func (t *translation) r() int { return t.newReg(false) }

// text emits an instruction that Go's assembler knows. ~0, ~1 ... are the numbers of defs and uses.
func (t *translation) text(format string, defs, uses []int) {
	t.ops = append(t.ops, armOp{text: format, defs: defs, uses: uses})
}

// word emits dst = op(srcs). If op changes dst, it is among the sources.
func (t *translation) word(op string, size int, dst int, srcs ...int) {
	w, ok := words[op]
	if !ok {
		panic(op)
	}
	o := armOp{word: w.bits, defs: []int{dst}, uses: srcs, tied: w.tied}
	if size == 8 {
		o.word |= w.double
	}
	arrangement := [...]string{4: "4S", 8: "2D"}[size]
	o.text = op + " V~0." + arrangement
	o.at = []int{0}
	from := 1
	if w.tied {
		o.at, from = []int{0, 0}, 2
	}
	for i := from; i <= len(srcs); i++ {
		o.at = append(o.at, [...]int{5, 16, 10}[i-from])
		o.text += fmt.Sprintf(", V~%d.%s", i, arrangement)
	}
	t.ops = append(t.ops, o)
}

// special emits dst = op(src, ...), an instruction given by its bits.
func (t *translation) special(bits uint32, comment string, tied bool, dst int, srcs ...int) {
	o := armOp{text: comment, word: bits, defs: []int{dst}, uses: srcs, tied: tied, at: []int{0}}
	from := 0
	if tied {
		o.at, from = []int{0, 0}, 1
	}
	for i := from; i < len(srcs); i++ {
		o.at = append(o.at, [...]int{5, 16, 10}[i-from])
	}
	t.ops = append(t.ops, o)
}

func (t *translation) mov(dst, src int) {
	if t.vector[dst] {
		t.ops = append(t.ops, armOp{text: "MOV V~0.16B, V~1.16B", word: 0x4ea01c00, at: []int{0, 5, 16}, defs: []int{dst}, uses: []int{src, src}, copy: true})
	} else {
		t.ops = append(t.ops, armOp{text: "MOVD R~1, R~0", defs: []int{dst}, uses: []int{src}, copy: true})
	}
}

func (t *translation) copyOf(src int) int {
	d := t.newReg(t.vector[src])
	t.mov(d, src)
	return d
}

func (t *translation) clear(dst int) { t.special(0x6f00e400, "MOVI V~0.2D, 0", false, dst) }

func (t *translation) label(name string) { t.ops = append(t.ops, armOp{label: name}) }

func (t *translation) jump(op, target string, uses ...int) {
	t.ops = append(t.ops, armOp{text: op, uses: uses, target: target, ends: op == "JMP"})
}

func (t *translation) unique(name string) string {
	t.zero++
	return fmt.Sprint(name, "Lanes", t.zero)
}

// words are instructions on vectors. double is what is added for float64 and int64.
var words = map[string]struct {
	bits, double uint32
	tied         bool // dst is also the first source
}{
	"FADD": {0x4e20d400, 1 << 22, false}, "FSUB": {0x4ea0d400, 1 << 22, false},
	"FMUL": {0x6e20dc00, 1 << 22, false}, "FDIV": {0x6e20fc00, 1 << 22, false},
	"FMLA": {0x4e20cc00, 1 << 22, true}, "FMLS": {0x4ea0cc00, 1 << 22, true},
	"FCMGT": {0x6ea0e400, 1 << 22, false}, "FCMGE": {0x6e20e400, 1 << 22, false},
	"FCMEQ": {0x4e20e400, 1 << 22, false},
	"FMAX":  {0x4e20f400, 1 << 22, false}, "FMIN": {0x4ea0f400, 1 << 22, false},
	"FMAXNM": {0x4e20c400, 1 << 22, false}, "FMINNM": {0x4ea0c400, 1 << 22, false},
	"FSQRT": {0x6ea1f800, 1 << 22, false}, "FNEG": {0x6ea0f800, 1 << 22, false},
	"ADD": {0x4ea08400, 1 << 22, false}, "SUB": {0x6ea08400, 1 << 22, false}, "MUL": {0x4ea09c00, 0, false},
	"SMIN": {0x4ea06c00, 0, false}, "SMAX": {0x4ea06400, 0, false},
	"CMEQ": {0x6ea08c00, 1 << 22, false}, "CMGT": {0x4ea03400, 1 << 22, false},
	"ZIP1": {0x4e803800, 1 << 22, false}, "ZIP2": {0x4e807800, 1 << 22, false},
	"TRN1": {0x4e802800, 1 << 22, false}, "TRN2": {0x4e806800, 1 << 22, false},
	"UZP1": {0x4e801800, 1 << 22, false}, "UZP2": {0x4e805800, 1 << 22, false},
}

// bitwise are instructions on all bits.
var bitwise = map[string]uint32{
	"AND": 0x4e201c00, "BIC": 0x4e601c00, "ORR": 0x4ea01c00, "EOR": 0x6e201c00,
}

func (t *translation) logic(op string, dst, a, b int) {
	t.special(bitwise[op], op+" V~0.16B, V~1.16B, V~2.16B", false, dst, a, b)
}

// choose emits dst = mask ? a : b, bit by bit.
func (t *translation) choose(dst, mask, a, b int) {
	m := t.copyOf(mask)
	d := t.v()
	t.special(0x6e601c00, "BSL V~0.16B, V~2.16B, V~3.16B", true, d, m, a, b)
	t.mov(dst, d)
}

// insert emits dst[i] = src[j] in lanes of the given size.
func (t *translation) insert(size, dst, i, src, j int) {
	t.special(0x6e000400|lane(size, i)<<16|uint32(j*size)<<11, fmt.Sprintf("MOV V~0.%s[%d], V~2.%s[%d]", letter(size), i, letter(size), j), true, dst, dst, src)
}

// broadcast emits dst = src[i] in all lanes.
func (t *translation) broadcast(size, dst, src, i int) {
	t.special(0x4e000400|lane(size, i)<<16, fmt.Sprintf("DUP V~0.%s, V~1.%s[%d]", arrangement(size), letter(size), i), false, dst, src)
}

// lane is how an instruction says lane i of the given size.
func lane(size, i int) uint32 { return uint32(i*2*size | size) }

func letter(size int) string {
	if size == 8 {
		return "D"
	}
	return "S"
}

func arrangement(size int) string { return fmt.Sprint(16/size, letter(size)) }

// shift emits dst = src shifted by n bits, in lanes of e bytes. op is SHL, USHR or SSHR.
func (t *translation) shift(op string, e, n, dst, src int) {
	bits, by := map[string]uint32{"SHL": 0x4f005400, "USHR": 0x6f000400, "SSHR": 0x4f000400}[op], 16*e-n
	if op == "SHL" {
		by = 8*e + n
	}
	t.special(bits|uint32(by)<<16, fmt.Sprintf("%s V~0.%[2]s, V~1.%[2]s, %[3]d", op, arrangement(e), n), false, dst, src)
}

// toGeneral returns a general register with lane i.
func (t *translation) toGeneral(size, src, i int) int {
	r := t.r()
	w, f := uint32(0x4e003c00), "UMOV R~0, V~1.D[%d]"
	if size == 4 {
		w, f = 0x0e003c00, "UMOV R~0, V~1.S[%d]"
	}
	t.special(w|lane(size, i)<<16, fmt.Sprintf(f, i), false, r, src)
	return r
}

// --- Operands ----------------------------------------------------------------

func isVector(o Op) bool {
	r, ok := o.(Register)
	return ok && r.Kind() == KindVector
}

// half returns the register of a half of r. A general register has one.
func (t *translation) half(o Op, h int) int {
	r := o.(Register)
	p := t.halves[r.ID()]
	if p == nil {
		p = &[2]int{-1, -1}
		t.halves[r.ID()] = p
	}
	if t.uniform[r.ID()] {
		h = 0
	}
	if p[h] < 0 {
		p[h] = t.newReg(r.Kind() == KindVector)
	}
	return p[h]
}

// number returns the value of an immediate operand.
func number(o Op) (int, bool) {
	c, ok := o.(Constant)
	if !ok {
		return 0, false
	}
	s := strings.TrimPrefix(c.Asm(), "$")
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		u, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			panic(err)
		}
		n = int64(u)
	}
	return int(n), true
}

// place returns m in the syntax of Go's assembler, with the registers that it uses. first is the
// number of its first register in the instruction.
func (t *translation) place(m Mem, first int) (string, []int) {
	switch m.Base {
	case FramePointer:
		return m.Asm(), nil
	case StackPointer:
		return fmt.Sprintf("%d(RSP)", m.Disp+stackAt), nil
	}
	if m.Disp == 0 {
		return fmt.Sprintf("(R~%d)", first), []int{t.base(m)}
	}
	return fmt.Sprintf("%d(R~%d)", m.Disp, first), []int{t.base(m)}
}

type addressKey struct {
	symbol      Symbol
	base, index ID
	scale       uint8
}

// stackAt is where locals begin: the return address lies below, and 16 keeps them aligned.
const stackAt = 16

// base returns a register with the address of m less its displacement.
func (t *translation) base(m Mem) int {
	var base int
	if m.Base == StaticBase {
		name := m.Symbol.String()
		if r, ok := t.bases[name]; ok {
			base = r
		} else {
			base = t.r()
			t.bases[name] = base
			t.begin = append(t.begin, armOp{text: fmt.Sprintf("MOVD $%s(SB), R~0", name), defs: []int{base}})
		}
	} else {
		base = t.half(m.Base, 0)
	}
	if m.Index == nil || m.Scale == 0 {
		return base
	}
	key := addressKey{m.Symbol, m.Base.ID(), m.Index.ID(), m.Scale}
	if r, ok := t.address[key]; ok {
		return r
	}
	r := t.r()
	t.address[key] = r
	if s := bits.TrailingZeros8(m.Scale); s == 0 {
		t.text("ADD R~2, R~1, R~0", []int{r}, []int{base, t.half(m.Index, 0)})
	} else {
		t.text(fmt.Sprintf("ADD R~2<<%d, R~1, R~0", s), []int{r}, []int{base, t.half(m.Index, 0)})
	}
	return r
}

// loadTo loads size bytes, 4, 8 or 16, to a vector; the rest of the vector is zero.
func (t *translation) loadTo(size int, m Mem, dst int) {
	at, uses := t.place(m, 1)
	t.text(fmt.Sprintf("%s %s, F~0", [...]string{4: "FMOVS", 8: "FMOVD", 16: "FMOVQ"}[size], at), []int{dst}, uses)
}

func (t *translation) store(size int, src int, m Mem) {
	at, uses := t.place(m, 1)
	t.text(fmt.Sprintf("%s F~0, %s", [...]string{4: "FMOVS", 8: "FMOVD", 16: "FMOVQ"}[size], at), nil, append([]int{src}, uses...))
}

// isConstant reports whether m holds 32 constant bytes with equal halves.
func (t *translation) isConstant(m Mem) bool {
	return m.Base == StaticBase && m.Index == nil && t.equal(m)
}

// constant returns a register with x in both lanes, which is loaded once, or again where
// registers are scarce.
func (t *translation) constant(x uint64) int {
	if t.own[x] == 0 {
		t.own[x] = t.v()
		at := t.base(t.data.add(x))
		t.begin = append(t.begin, armOp{text: fmt.Sprintf("FMOVQ %d(R~1), F~0", 16*t.data.index(x)), defs: []int{t.own[x]}, uses: []int{at}})
	}
	return t.own[x]
}

// ownData are constants that the translation adds to those of the program.
type ownData []uint64

const ownName = "neon"

func (d *ownData) index(x uint64) int { return slices.Index(*d, x) }

// add returns where the constants are, x among them.
func (d *ownData) add(x uint64) Mem {
	if d.index(x) < 0 {
		*d = append(*d, x)
	}
	return NewDataAddr(NewStaticSymbol(ownName), 0)
}

// load returns vectors with the size bytes at m: one of 16 bytes or less, or two.
func (t *translation) load(size int, m Mem) [2]int {
	a := t.v()
	if size < 32 {
		t.loadTo(size, m, a)
		return [2]int{a, -1}
	}
	if t.isConstant(m) {
		t.loadTo(16, m, a)
		return [2]int{a, a}
	}
	b := t.v()
	at, uses := t.place(m, 2)
	t.text("FLDPQ "+at+", (F~0, F~1)", []int{a, b}, uses)
	return [2]int{a, b}
}

// source returns the halves of an operand of the given size.
func (t *translation) source(o Op, size int) [2]int {
	if m, ok := o.(Mem); ok {
		return t.load(size, m)
	}
	if size <= 16 {
		return [2]int{t.half(o, 0), -1}
	}
	return [2]int{t.half(o, 0), t.half(o, 1)}
}

// general returns a general register with an operand of the given size.
func (t *translation) general(o Op, size int) int {
	if n, ok := number(o); ok {
		r := t.r()
		t.text(fmt.Sprintf("MOVD $%d, R~0", n), []int{r}, nil)
		return r
	}
	m, ok := o.(Mem)
	if !ok {
		return t.half(o, 0)
	}
	r := t.r()
	at, uses := t.place(m, 1)
	t.text([...]string{1: "MOVBU", 4: "MOVWU", 8: "MOVD"}[size]+" "+at+", R~0", []int{r}, uses)
	return r
}

// sizeOf returns the size of the largest vector among the operands.
func sizeOf(ops []Op) int {
	size := 0
	for _, o := range ops {
		if isVector(o) {
			size = max(size, int(o.(Register).Size()))
		}
	}
	return size
}

// define emits f for the halves of dst that there are. An instruction that writes 16 bytes
// clears the other half.
func (t *translation) define(dst Op, f func(h, dst int)) {
	f(0, t.half(dst, 0))
	if t.uniform[dst.(Register).ID()] {
		return
	}
	if dst.(Register).Size() > 16 {
		f(1, t.half(dst, 1))
	} else {
		t.clear(t.half(dst, 1))
	}
}

// permute gives dst halves that f computes from all of the operands, and copies them then.
func (t *translation) permute(dst Op, f func(h int) int) {
	var r []int
	for h := range int(dst.(Register).Size()) / 16 {
		r = append(r, f(h))
	}
	t.define(dst, func(h, d int) { t.mov(d, r[h]) })
}

// pair returns a vector of lane i of a and lane j of b, of 8 bytes.
func (t *translation) pair(a, i, b, j int) int {
	d := t.v()
	switch {
	case i == 0 && j == 0:
		t.word("ZIP1", 8, d, a, b)
	case i == 1 && j == 1:
		t.word("ZIP2", 8, d, a, b)
	case i == 1:
		t.special(0x6e004000, "EXT V~0.16B, V~1.16B, V~2.16B, 8", false, d, a, b)
	case a == b:
		return a
	default:
		t.mov(d, a)
		t.insert(8, d, 1, b, 1)
	}
	return d
}

// --- Instructions ------------------------------------------------------------

// elementSize returns the size of the elements of an instruction on floats.
func elementSize(op string) int {
	switch op[len(op)-1] {
	case 'D':
		return 8
	case 'S':
		return 4
	}
	panic(op)
}

var arithmetic = map[string]string{"VADD": "FADD", "VSUB": "FSUB", "VMUL": "FMUL", "VDIV": "FDIV"}

var integer = map[string]struct {
	op   string
	size int
}{
	"VPADDQ": {"ADD", 8}, "VPADDD": {"ADD", 4}, "VPSUBQ": {"SUB", 8}, "VPSUBD": {"SUB", 4}, "VPCMPEQQ": {"CMEQ", 8},
	"VPCMPEQD": {"CMEQ", 4}, "VPCMPGTQ": {"CMGT", 8}, "VPMINSD": {"SMIN", 4}, "VPMAXSD": {"SMAX", 4},
}

var shifts = map[string]struct {
	op   string
	size int
}{
	"VPSLLQ": {"SHL", 8}, "VPSRLQ": {"USHR", 8}, "VPSLLD": {"SHL", 4}, "VPSRLD": {"USHR", 4}, "VPSRAD": {"SSHR", 4},
}

var logical = map[string]string{
	"VPAND": "AND", "VANDPD": "AND", "VANDPS": "AND", "VPOR": "ORR", "VORPD": "ORR", "VORPS": "ORR",
	"VPXOR": "EOR", "VXORPD": "EOR", "VXORPS": "EOR",
}

var jumps86 = map[string]string{
	"JMP": "JMP", "JE": "BEQ", "JZ": "BEQ", "JEQ": "BEQ", "JNE": "BNE", "JNZ": "BNE", "JL": "BLT", "JLT": "BLT",
	"JGE": "BGE", "JLE": "BLE", "JG": "BGT", "JGT": "BGT", "JA": "BHI", "JAE": "BHS", "JCC": "BHS", "JS": "BMI",
}

// instruction translates instruction i of the function.
func (t *translation) instruction(i int) {
	in := t.fn.Nodes[i].(*ir.Instruction)
	op, ops := in.Opcode, in.Operands
	n := len(ops)
	if j, ok := jumps86[op]; ok {
		t.jump(j, string(ops[0].(LabelRef)))
		return
	}
	switch op {
	case "RET":
		t.ops = append(t.ops, armOp{text: "RET", ends: true})
		return
	case "VZEROUPPER", "SFENCE":
		return
	case "PREFETCHT0":
		m := ops[0].(Mem)
		r := t.base(m)
		if far := m.Disp &^ 0x3ff8; far != 0 { // what the instruction cannot add
			s := t.r()
			t.text(fmt.Sprintf("ADD $%d, R~1, R~0", far), []int{s}, []int{r})
			r = s
		}
		t.text(fmt.Sprintf("PRFM %d(R~0), PLDL1KEEP", m.Disp&0x3ff8), nil, []int{r})
		return
	}
	if n == 0 {
		panic(op)
	}
	if !slices.ContainsFunc(ops, isVector) {
		t.scalar(i, op, ops)
		return
	}
	size, dst := sizeOf(ops), ops[n-1]
	src := func(k int) Op { return ops[n-1-k] } // in Intel's order: 1, 2
	lanewise := func(f func(h, d int, a, b [2]int)) {
		a, b := t.source(src(1), size), [2]int{}
		if n > 2 && !isImmediate(src(2)) {
			b = t.source(src(2), size)
		}
		t.define(dst, func(h, d int) { f(h, d, a, b) })
	}
	base := op
	if l := len(op); l > 2 {
		base = op[:l-2]
	}
	scalar := strings.HasSuffix(op, "SD") || strings.HasSuffix(op, "SS")
	switch {
	case arithmetic[base] != "" && scalar:
		e := elementSize(op)
		b := t.source(src(2), min(size, e))
		t.scalarResult(e, dst, src(1), func(d int) {
			t.special(scalarWords[base]|uint32(e/8)<<22, fmt.Sprintf("%s %[2]s~0, %[2]s~1, %[2]s~2", arithmetic[base], letter(e)), false, d, t.half(src(1), 0), b[0])
		})
	case arithmetic[base] != "":
		lanewise(func(h, d int, a, b [2]int) { t.word(arithmetic[base], elementSize(op), d, a[h], b[h]) })
	case scalar && (base == "VSQRT" || base == "VMAX" || base == "VMIN"):
		panic(op)
	case base == "VSQRT":
		lanewise(func(h, d int, a, _ [2]int) { t.word("FSQRT", elementSize(op), d, a[h]) })
	case base == "VMAX" || base == "VMIN":
		// AVX2 gives the second operand where one is NaN, or both are zero.
		lanewise(func(h, d int, a, b [2]int) {
			name := "F" + base[1:]
			switch {
			case t.isNumber(src(1)):
				t.word(name, elementSize(op), d, a[h], b[h])
			case t.isNumber(src(2)):
				t.word(name+"NM", elementSize(op), d, a[h], b[h])
			default:
				m := t.v()
				if base == "VMAX" {
					t.word("FCMGT", elementSize(op), m, a[h], b[h])
				} else {
					t.word("FCMGT", elementSize(op), m, b[h], a[h])
				}
				t.choose(d, m, a[h], b[h])
			}
		})
	case strings.HasPrefix(op, "VFM") || strings.HasPrefix(op, "VFNM"):
		t.multiplyAdd(op, ops, size)
	case integer[op].op != "":
		lanewise(func(h, d int, a, b [2]int) { t.word(integer[op].op, integer[op].size, d, a[h], b[h]) })
	case logical[op] == "EOR" && src(1) == src(2):
		t.define(dst, func(_, d int) { t.clear(d) })
	case logical[op] != "":
		lanewise(func(h, d int, a, b [2]int) { t.logic(logical[op], d, a[h], b[h]) })
	case shifts[op].op != "":
		by, _ := number(src(2))
		lanewise(func(h, d int, a, _ [2]int) { t.shift(shifts[op].op, shifts[op].size, by, d, a[h]) })
	case op == "VCVTDQ2PS":
		lanewise(func(h, d int, a, _ [2]int) { t.special(0x4e21d800, "SCVTF V~0.4S, V~1.4S", false, d, a[h]) })
	case op == "VROUNDPD", op == "VROUNDPS": // to even
		e := elementSize(op)
		lanewise(func(h, d int, a, _ [2]int) {
			t.special(0x4e218800|uint32(e/8)<<22, fmt.Sprintf("FRINTN V~0.%[1]s, V~1.%[1]s", arrangement(e)), false, d, a[h])
		})
	case op == "VCMPPD", op == "VCMPPS":
		pred, _ := number(ops[0])
		a, b := t.source(ops[2], size), t.source(ops[1], size)
		t.define(dst, func(h, d int) { t.compare(pred, elementSize(op), d, a[h], b[h]) })
	case op == "VBLENDVPD", op == "VBLENDVPS":
		mask, b, a := t.source(ops[0], size), t.source(ops[1], size), t.source(ops[2], size)
		t.define(dst, func(h, d int) {
			m := mask[h]
			if !t.masks[ops[0].(Register).ID()] {
				m = t.v()
				t.negative(elementSize(op), m, mask[h])
			}
			t.choose(d, m, b[h], a[h])
		})
	case strings.HasPrefix(op, "VMASKMOV"):
		t.masked(elementSize(op), ops)
	default:
		t.move(i, op, ops, size)
	}
}

// isNumber reports whether all elements of an operand are constants other than zero and NaN.
func (t *translation) isNumber(o Op) bool {
	if m, ok := o.(Mem); ok {
		return t.isConstant(m) && t.nonzero(m)
	}
	return t.numbers[o.(Register).ID()]
}

var scalarWords = map[string]uint32{"VADD": 0x1e202800, "VSUB": 0x1e203800, "VMUL": 0x1e200800, "VDIV": 0x1e201800}

// scalarResult gives lane 0 of dst what f computes, and the other lanes those of a.
func (t *translation) scalarResult(e int, dst, a Op, f func(d int)) {
	if t.lane0[dst.(Register).ID()] {
		f(t.half(dst, 0))
		return
	}
	d := t.v()
	f(d)
	t.define(dst, func(_, to int) {
		r := t.copyOf(t.half(a, 0))
		t.insert(e, r, 0, d, 0)
		t.mov(to, r)
	})
}

// negative emits dst = all ones in lanes of src with a sign.
func (t *translation) negative(e, dst, src int) {
	t.special(0x4ea0a800|uint32(e/8)<<22, fmt.Sprintf("CMLT V~0.%[1]s, V~1.%[1]s, 0", arrangement(e)), false, dst, src)
}

// multiplyAdd: the digits of op are the operands that are multiplied, and the one that is added.
func (t *translation) multiplyAdd(op string, ops []Op, size int) {
	e, scalar := elementSize(op), op[len(op)-2] == 'S'
	digits := strings.TrimRight(strings.TrimLeft(op, "VFNMADSUB"), "SPD")
	from := size
	if scalar {
		from = e
	}
	var o [4][2]int
	for k := 1; k <= 3; k++ {
		if _, ok := ops[3-k].(Mem); ok {
			o[k] = t.source(ops[3-k], from)
		} else {
			o[k] = t.source(ops[3-k], size)
		}
	}
	a, b, c := o[digits[0]-'0'], o[digits[1]-'0'], o[digits[2]-'0']
	minus := strings.HasPrefix(op, "VFNM")
	if scalar {
		w, name := uint32(0x1f000000), "FMADD"
		if minus {
			w, name = 0x1f008000, "FMSUB"
		}
		t.scalarResult(e, ops[2], ops[2], func(d int) {
			t.special(w|uint32(e/8)<<22, fmt.Sprintf("%s %[2]s~0, %[2]s~1, %[2]s~2, %[2]s~3", name, letter(e)), false, d, a[0], b[0], c[0])
		})
		return
	}
	t.define(ops[2], func(h, d int) {
		acc := t.v() // becomes d where that is free
		switch kind := strings.TrimSuffix(strings.TrimPrefix(op, "VF"), digits+op[len(op)-2:]); kind {
		case "MADD", "NMADD":
			if m, ok := ops[3-int(digits[2]-'0')].(Mem); ok && t.isConstant(m) { // which costs less than to copy it
				t.loadTo(16, m, acc)
			} else {
				t.mov(acc, c[h])
			}
		case "MSUB":
			t.word("FNEG", e, acc, c[h])
		case "MADDSUB", "MSUBADD": // one of two neighbours is subtracted
			t.word("FNEG", e, acc, c[h])
			kept := 1
			if kind == "MSUBADD" {
				kept = 0
			}
			if e != 8 {
				panic(op)
			}
			t.insert(8, acc, kept, c[h], kept)
		default:
			panic(op)
		}
		name := "FMLA"
		if minus {
			name = "FMLS"
		}
		t.word(name, e, acc, acc, a[h], b[h])
		t.mov(d, acc)
	})
}

// compare emits dst = all ones in lanes where a compares to b as pred says.
func (t *translation) compare(pred, e, dst, a, b int) {
	not := false
	switch pred {
	case EQ:
		t.word("FCMEQ", e, dst, a, b)
	case LT, NLT:
		t.word("FCMGT", e, dst, b, a)
		not = pred == NLT
	case GT:
		t.word("FCMGT", e, dst, a, b)
	case NLE:
		t.word("FCMGE", e, dst, b, a)
		not = true
	case NEQ:
		t.word("FCMEQ", e, dst, a, b)
		not = true
	case UNORD, ORD:
		x, y := t.v(), t.v()
		t.word("FCMEQ", e, x, a, a)
		t.word("FCMEQ", e, y, b, b)
		t.logic("AND", dst, x, y)
		not = pred == UNORD
	default:
		panic(fmt.Sprint("predicate ", pred))
	}
	if not {
		t.special(0x6e205800, "NOT V~0.16B, V~1.16B", false, dst, dst)
	}
}

// masked loads or stores the first lanes. Masks have ones in the first lanes alone.
func (t *translation) masked(e int, ops []Op) {
	m, load := ops[0].(Mem)
	if !load {
		m = ops[2].(Mem)
	}
	vector := ops[0]
	if load {
		vector = ops[2]
	}
	size := int(vector.(Register).Size())
	mask := t.source(ops[1], size)
	value := [2]int{t.v(), t.v()}
	if load {
		t.clear(value[0])
		t.clear(value[1])
	} else {
		value = t.source(vector, size)
	}
	t.place(m, 0) // the address, before the branches
	lanes, some, done := 16/e, t.unique("some"), t.unique("done")
	jump := map[int]string{4: "CBZW R~0", 8: "CBZ R~0"}[e]
	last := size/16 - 1
	t.jump(jump, some, t.toGeneral(e, mask[last], lanes-1))
	for h := range last + 1 { // all
		if load {
			t.loadTo(16, m.Offset(16*h), value[h])
		} else {
			t.store(16, value[h], m.Offset(16*h))
		}
	}
	t.jump("JMP", done)
	t.label(some)
	for k := range (last+1)*lanes - 1 {
		h, i := k/lanes, k%lanes
		t.jump(jump, done, t.toGeneral(e, mask[h], i))
		switch at := m.Offset(e * k); {
		case load && i == 0:
			t.loadTo(e, at, value[h])
		case load:
			x := t.v()
			t.loadTo(e, at, x)
			t.insert(e, value[h], i, x, 0)
		case i == 0:
			t.store(e, value[h], at)
		default:
			x := t.v()
			t.broadcast(e, x, value[h], i)
			t.store(e, x, at)
		}
	}
	t.label(done)
	if load {
		t.define(vector, func(h, d int) { t.mov(d, value[h]) })
	}
}

// move translates instructions that move and convert, given their operands and the largest size.
func (t *translation) move(i int, op string, ops []Op, size int) {
	n := len(ops)
	dst := ops[n-1]
	imm, _ := number(ops[0])
	m, store := dst.(Mem)
	switch op {
	case "VMOVUPS", "VMOVUPD", "VMOVAPS", "VMOVNTPD":
		if from, load := ops[0].(Mem); load && t.isConstant(from) {
			t.define(dst, func(_, d int) { t.loadTo(16, from, d) })
		} else if !store {
			a := t.source(ops[0], size)
			t.define(dst, func(h, d int) { t.mov(d, a[h]) })
		} else if a := t.source(ops[0], size); size == 16 {
			t.store(16, a[0], m)
		} else {
			at, uses := t.place(m, 2)
			t.text("FSTPQ (F~0, F~1), "+at, nil, append([]int{a[0], a[1]}, uses...))
		}
	case "VMOVSD", "VMOVSS":
		e := elementSize(op)
		switch from, load := ops[0].(Mem); {
		case store:
			t.store(e, t.half(ops[0], 0), m)
		case load:
			t.define(dst, func(_, d int) { t.loadTo(e, from, d) })
		case n == 3:
			t.scalarResult(e, dst, ops[1], func(d int) { t.mov(d, t.half(ops[0], 0)) })
		default:
			panic(op)
		}
	case "VMOVHPD":
		x := t.load(8, ops[0].(Mem))
		t.permute(dst, func(int) int { return t.pair(t.half(ops[1], 0), 0, x[0], 0) })
	case "VMOVQ":
		t.define(dst, func(_, d int) { t.special(0x9e670000, "FMOV D~0, R~1", false, d, t.half(ops[0], 0)) })
	case "VBROADCASTSD", "VBROADCASTSS", "VPBROADCASTQ", "VPBROADCASTD":
		e := 8
		if strings.HasSuffix(op, "SS") || strings.HasSuffix(op, "TD") {
			e = 4
		}
		from, load := ops[0].(Mem)
		if load && t.isConstant(from) {
			t.define(dst, func(_, d int) { t.loadTo(16, from, d) })
			return
		}
		x := t.v()
		switch {
		case load && from.Disp == 0 && from.Symbol.Name == "" && from.Base != StackPointer:
			t.text(fmt.Sprintf("VLD1R (R~1), [V~0.%s]", [...]string{4: "S4", 8: "D2"}[e]), []int{x}, []int{t.base(from)})
		case load:
			y := t.v()
			t.loadTo(e, from, y)
			t.broadcast(e, x, y, 0)
		default:
			t.broadcast(e, x, t.half(ops[0], 0), 0)
		}
		t.define(dst, func(_, d int) { t.mov(d, x) })
	case "VMOVDDUP":
		if size == 16 {
			from, load := ops[0].(Mem)
			if !load {
				panic(op)
			}
			x := t.load(8, from)
			t.define(dst, func(_, d int) { t.broadcast(8, d, x[0], 0) })
			return
		}
		a := t.source(ops[0], size)
		t.define(dst, func(h, d int) { t.broadcast(8, d, a[h], 0) })
	case "VMOVSLDUP", "VMOVSHDUP":
		name := map[string]string{"VMOVSLDUP": "TRN1", "VMOVSHDUP": "TRN2"}[op]
		a := t.source(ops[0], size)
		t.define(dst, func(h, d int) { t.word(name, 4, d, a[h], a[h]) })
	case "VUNPCKLPD", "VUNPCKLPS", "VUNPCKHPD", "VUNPCKHPS":
		name := map[byte]string{'L': "ZIP1", 'H': "ZIP2"}[op[6]]
		b, a := t.source(ops[0], size), t.source(ops[1], size)
		t.define(dst, func(h, d int) { t.word(name, elementSize(op), d, a[h], b[h]) })
	case "VPERM2F128":
		b, a := t.source(ops[1], size), t.source(ops[2], size)
		t.permute(dst, func(h int) int { return [4]int{a[0], a[1], b[0], b[1]}[imm>>(4*h)&3] })
	case "VEXTRACTF128":
		a := t.source(ops[1], 32)
		if store {
			t.store(16, a[imm], m)
			return
		}
		t.permute(dst, func(int) int { return a[imm] })
	case "VINSERTF128":
		b, a := t.source(ops[1], 16), t.source(ops[2], 32)
		a[imm] = b[0]
		t.permute(dst, func(h int) int { return a[h] })
	case "VPERMILPD":
		a := t.source(ops[1], size)
		t.permute(dst, func(h int) int { return t.pair(a[h], imm>>(2*h)&1, a[h], imm>>(2*h+1)&1) })
	case "VPERMPD":
		a := t.source(ops[1], 32)
		at := func(k int) (int, int) { s := imm >> (2 * k) & 3; return a[s/2], s % 2 }
		t.permute(dst, func(h int) int {
			x, i := at(2 * h)
			y, j := at(2*h + 1)
			return t.pair(x, i, y, j)
		})
	case "VPERMILPS":
		a := t.source(ops[1], size)
		t.permute(dst, func(h int) int {
			d := t.v()
			switch imm {
			case 0x4e:
				t.special(0x6e004000, "EXT V~0.16B, V~1.16B, V~2.16B, 8", false, d, a[h], a[h])
			case 0xb1:
				t.special(0x4ea00800, "REV64 V~0.4S, V~1.4S", false, d, a[h])
			default:
				panic(op)
			}
			return d
		})
	case "VSHUFPS":
		b, a := t.source(ops[1], size), t.source(ops[2], size)
		name := map[int]string{0x88: "UZP1", 0xdd: "UZP2"}[imm]
		t.define(dst, func(h, d int) { t.word(name, 4, d, a[h], b[h]) })
	case "VBLENDPD", "VBLENDPS", "VPBLENDD":
		e := 4
		if op == "VBLENDPD" {
			e = 8
		}
		b, a := t.source(ops[1], size), t.source(ops[2], size)
		t.permute(dst, func(h int) int {
			d := t.copyOf(a[h])
			if op == "VPBLENDD" && imm == 0xaa { // every other
				t.special(0x6ea01c00, "BIT V~0.16B, V~2.16B, V~3.16B", true, d, d, b[h], t.constant(0xffffffff00000000))
				return d
			}
			for k := range 16 / e {
				if imm>>(h*16/e+k)&1 != 0 {
					t.insert(e, d, k, b[h], k)
				}
			}
			return d
		})
	case "VINSERTPS":
		if imm&^0x30 != 0 {
			panic(op)
		}
		b := t.load(4, ops[1].(Mem))
		t.permute(dst, func(int) int {
			d := t.copyOf(t.half(ops[2], 0))
			t.insert(4, d, imm>>4, b[0], 0)
			return d
		})
	case "VPERMD":
		t.tableOf(ops)
	case "VCVTPS2PD":
		a := t.source(ops[0], max(8, size/2))
		t.permute(dst, func(h int) int {
			d := t.v()
			t.special(0x0e617800|uint32(h)<<30, fmt.Sprintf("FCVTL%s V~0.2D, V~1", [...]string{"", "2"}[h]), false, d, a[0])
			return d
		})
	case "VCVTPD2PSY":
		a := t.source(ops[0], 32)
		t.permute(dst, func(int) int {
			d, e := t.v(), t.v()
			t.special(0x0e616800, "FCVTN V~0.2S, V~1.2D", false, d, a[0])
			t.special(0x4e616800, "FCVTN2 V~0.4S, V~2.2D", true, e, d, a[1])
			return e
		})
	case "VPMOVSXDQ":
		a := t.source(ops[0], 16)
		t.permute(dst, func(h int) int {
			d := t.v()
			t.special(0x0f20a400|uint32(h)<<30, fmt.Sprintf("SXTL%s V~0.2D, V~1", [...]string{"", "2"}[h]), false, d, a[0])
			return d
		})
	case "VMOVMSKPD", "VMOVMSKPS":
		t.signs(i, elementSize(op), ops, size)
	default:
		panic(op)
	}
}

// tableOf is VPERMD: words of a table of 32 bytes.
func (t *translation) tableOf(ops []Op) {
	t.tables = true
	index, table := t.source(ops[1], 32), ops[0].(Mem)
	bytes, ok := t.bytes[ops[1].(Register).ID()]
	if !ok {
		for h := range bytes {
			x := t.v()
			t.logic("AND", x, index[h], t.constant(0x0000000700000007))
			t.word("MUL", 4, x, x, t.constant(0x0404040404040404))
			t.word("ADD", 4, x, x, t.constant(0x0302010003020100))
			bytes[h] = x
		}
		t.bytes[ops[1].(Register).ID()] = bytes
	}
	t.define(ops[2], func(h, d int) {
		at, uses := t.place(table, 0)
		t.text("FLDPQ "+at+", (F30, F31)", nil, uses)
		t.special(0x4e002000|30<<5, "TBL V~0.16B, {V30.16B, V31.16B}, V~1.16B", false, d, bytes[h])
		t.ops[len(t.ops)-1].at = []int{0, 16}
	})
}

// signs is VMOVMSKPD: the signs of lanes as bits. If the next instruction only asks whether
// there are any, it gives some number that is not 0.
func (t *translation) signs(i, e int, ops []Op, size int) {
	a, dst := t.source(ops[0], size), t.half(ops[1], 0)
	if next, ok := t.fn.Nodes[i+1].(*ir.Instruction); ok && next.Opcode == "TESTL" && next.Operands[0] == next.Operands[1] &&
		next.Operands[0].(Register).ID() == ops[1].(Register).ID() && t.count(ops[1].(Register).ID()) == 3 {
		x := t.v()
		t.mov(x, a[0])
		if size > 16 && a[1] != a[0] {
			t.logic("ORR", x, a[0], a[1])
		}
		y, z := x, t.v()
		if !t.masks[ops[0].(Register).ID()] {
			y = t.v()
			t.negative(e, y, x)
		}
		t.special(0x6eb0a800, "UMAXV S~0, V~1.4S", false, z, y)
		t.special(0x1e260000, "FMOV R~0, S~1", false, dst, z)
		return
	}
	sum := -1
	for k := range size / e {
		x, y := t.toGeneral(e, a[k*e/16], k%(16/e)), t.r()
		t.text(fmt.Sprintf("LSR $%d, R~1, R~0", 8*e-1), []int{y}, []int{x})
		if sum < 0 {
			sum = y
			continue
		}
		z := t.r()
		t.text(fmt.Sprintf("ORR R~2<<%d, R~1, R~0", k), []int{z}, []int{sum, y})
		sum = z
	}
	t.mov(dst, sum)
}

// count returns how often a register is an operand.
func (t *translation) count(id ID) (n int) {
	for _, in := range t.fn.Instructions() {
		for _, r := range in.Registers() {
			if r.ID() == id {
				n++
			}
		}
	}
	return n
}

// --- General registers ---------------------------------------------------------

// flagsLive reports whether a jump after instruction i depends on the flags.
func (t *translation) flagsLive(i int) bool {
	for _, node := range t.fn.Nodes[i+1:] {
		in, ok := node.(*ir.Instruction)
		switch {
		case !ok:
			if _, label := node.(ir.Label); label {
				return false
			}
		case in.Opcode == "JMP" || in.Opcode == "RET":
			return false
		case jumps86[in.Opcode] != "" || strings.HasPrefix(in.Opcode, "CMOV"):
			return true
		case setsFlags[in.Opcode]:
			return false
		}
	}
	return false
}

var setsFlags = map[string]bool{
	"ADDQ": true, "SUBQ": true, "INCQ": true, "DECQ": true, "CMPQ": true, "CMPL": true, "CMPB": true,
	"TESTQ": true, "TESTL": true, "ANDQ": true, "XORQ": true, "SHLQ": true, "SHRQ": true, "IMULQ": true, "IMUL3Q": true, "NEGQ": true,
}

// scalar translates an instruction on general registers.
func (t *translation) scalar(i int, op string, ops []Op) {
	dst := ops[len(ops)-1]
	imm, isImm := number(ops[0])
	m, store := dst.(Mem)
	flags := t.flagsLive(i)
	test := func(r int) {
		if flags {
			t.text("CMP $0, R~0", nil, []int{r})
		}
	}
	// change gives dst, which may be in memory, the value that f computes from its own.
	change := func(f func(d, old int)) {
		if !store {
			f(t.half(dst, 0), t.half(dst, 0))
			return
		}
		old, d := t.general(dst, 8), t.r()
		f(d, old)
		at, uses := t.place(m, 1)
		t.text("MOVD R~0, "+at, nil, append([]int{d}, uses...))
	}
	switch op {
	case "MOVQ", "MOVL", "MOVB":
		size := map[byte]int{'Q': 8, 'L': 4, 'B': 1}[op[3]]
		store86 := map[int]string{8: "MOVD", 4: "MOVW", 1: "MOVB"}[size]
		switch {
		case store:
			at, uses := t.place(m, 1)
			t.text(store86+" R~0, "+at, nil, append([]int{t.general(ops[0], size)}, uses...))
		case isImm:
			t.text(fmt.Sprintf("MOVD $%d, R~0", imm), []int{t.half(dst, 0)}, nil)
		default:
			if from, load := ops[0].(Mem); load {
				at, uses := t.place(from, 1)
				t.text(map[int]string{8: "MOVD", 4: "MOVWU"}[size]+" "+at+", R~0", []int{t.half(dst, 0)}, uses)
			} else if size == 8 {
				t.mov(t.half(dst, 0), t.half(ops[0], 0))
			} else {
				t.text("MOVWU R~1, R~0", []int{t.half(dst, 0)}, []int{t.half(ops[0], 0)})
			}
		}
	case "MOVLQSX":
		if from, load := ops[0].(Mem); load {
			at, uses := t.place(from, 1)
			t.text("MOVW "+at+", R~0", []int{t.half(dst, 0)}, uses)
		} else {
			t.text("MOVW R~1, R~0", []int{t.half(dst, 0)}, []int{t.half(ops[0], 0)})
		}
	case "MOVBQZX":
		at, uses := t.place(ops[0].(Mem), 1)
		t.text("MOVBU "+at+", R~0", []int{t.half(dst, 0)}, uses)
	case "LEAQ":
		from := ops[0].(Mem)
		base := t.base(from)
		if from.Disp != 0 {
			t.text(fmt.Sprintf("ADD $%d, R~1, R~0", from.Disp), []int{t.half(dst, 0)}, []int{base})
		} else {
			t.mov(t.half(dst, 0), base)
		}
	case "ADDQ", "SUBQ", "INCQ", "DECQ":
		name := "ADD"
		if op == "SUBQ" || op == "DECQ" {
			name = "SUB"
		}
		if flags {
			name += "S"
		}
		if len(ops) == 1 {
			imm, isImm = 1, true
		}
		change(func(d, old int) {
			if isImm {
				t.text(fmt.Sprintf("%s $%d, R~1, R~0", name, imm), []int{d}, []int{old})
			} else {
				t.text(name+" R~2, R~1, R~0", []int{d}, []int{old, t.general(ops[0], 8)})
			}
		})
	case "NEGQ":
		change(func(d, old int) { t.text("NEG R~1, R~0", []int{d}, []int{old}); test(d) })
	case "ANDQ":
		change(func(d, old int) {
			if isImm {
				t.text(fmt.Sprintf("AND $%d, R~1, R~0", imm), []int{d}, []int{old})
			} else {
				t.text("AND R~2, R~1, R~0", []int{d}, []int{old, t.general(ops[0], 8)})
			}
			test(d)
		})
	case "XORQ":
		if ops[0] != ops[1] {
			panic(op)
		}
		t.text("MOVD $0, R~0", []int{t.half(dst, 0)}, nil)
	case "SHLQ", "SHRQ":
		name := map[string]string{"SHLQ": "LSL", "SHRQ": "LSR"}[op]
		change(func(d, old int) {
			t.text(fmt.Sprintf("%s $%d, R~1, R~0", name, imm), []int{d}, []int{old})
			test(d)
		})
	case "SHRXQ":
		t.text("LSR R~2, R~1, R~0", []int{t.half(dst, 0)}, []int{t.general(ops[1], 8), t.general(ops[0], 8)})
	case "IMULQ":
		change(func(d, old int) { t.text("MUL R~2, R~1, R~0", []int{d}, []int{old, t.general(ops[0], 8)}) })
	case "IMUL3Q":
		t.text("MUL R~2, R~1, R~0", []int{t.half(dst, 0)}, []int{t.general(ops[1], 8), t.general(ops[0], 8)})
	case "CMPQ", "CMPL", "CMPB":
		size := map[byte]int{'Q': 8, 'L': 4, 'B': 1}[op[3]]
		name := map[int]string{8: "CMP", 4: "CMPW", 1: "CMPW"}[size]
		a := t.general(ops[0], size)
		if n, ok := number(ops[1]); ok {
			t.text(fmt.Sprintf("%s $%d, R~0", name, n), nil, []int{a})
		} else {
			t.text(name+" R~1, R~0", nil, []int{a, t.general(ops[1], size)})
		}
	case "TESTQ", "TESTL":
		name := map[byte]string{'Q': "TST", 'L': "TSTW"}[op[4]]
		size := map[byte]int{'Q': 8, 'L': 4}[op[4]]
		b := t.general(ops[1], size)
		if isImm {
			t.text(fmt.Sprintf("%s $%d, R~0", name, imm), nil, []int{b})
		} else {
			t.text(name+" R~1, R~0", nil, []int{b, t.general(ops[0], size)})
		}
	default:
		condition, ok := strings.CutPrefix(jumps86["J"+strings.TrimPrefix(op, "CMOVQ")], "B")
		if !ok || !strings.HasPrefix(op, "CMOVQ") {
			panic(op)
		}
		d := t.half(dst, 0)
		t.text("CSEL "+condition+", R~1, R~2, R~0", []int{d}, []int{t.general(ops[0], 8), d})
	}
}

func isImmediate(o Op) bool { _, ok := number(o); return ok }
