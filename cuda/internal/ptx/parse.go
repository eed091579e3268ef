// Package ptx runs CUDA kernels without a GPU. It reads the PTX that a compiler wrote
// and interprets it, thread by thread, with the barriers and shuffles of the threads of
// a block. It refuses what the hardware would do without a word: accesses outside an
// allocation, reads of memory that nobody wrote, races between threads, and threads
// that wait for each other forever.
//
// It knows the instructions that the kernels of this module need. Any other is an error
// of Parse. The meaning of the instructions is that of NVIDIA's Parallel Thread
// Execution ISA.
package ptx

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Module holds the kernels of a PTX text.
type Module struct {
	kernels   map[string]*Kernel
	file      string
	constants *piece
}

// Kernel returns the kernel of that name, or an error.
func (m *Module) Kernel(name string) (*Kernel, error) {
	if k, ok := m.kernels[name]; ok {
		return k, nil
	}
	return nil, fmt.Errorf("%s has no kernel %s", m.file, name)
}

// Kernels returns all kernels.
func (m *Module) Kernels() []*Kernel { return slices.Collect(maps.Values(m.kernels)) }

// A Kernel is an entry of a module.
type Kernel struct {
	Name   string
	Params []int // sizes in bytes

	file   string
	module *Module
	offset map[string]int // of the parameters
	shared int            // bytes of shared memory
	local  int            // bytes of local memory of a thread
	most   int            // threads of a block, 0 without a bound
	team   int            // blocks of a cluster, 0 without clusters
	code   []instruction

	// What the registers of a thread hold at first: constants are registers, too, and so are the
	// numbers that say which thread runs.
	regs     []uint64
	specials []specialRegister
	passed   []parameterRegister
}

// A parameterRegister is a register for a part of a parameter, which no instruction writes.
type parameterRegister struct {
	at   int32
	load func(params []uint64) uint64
}

// A specialRegister is a register for a number that says which thread runs.
type specialRegister struct {
	at  int32
	get func(t *thread) uint64
}

// An instruction acts on a thread, unless its guard is a predicate that says no.
type instruction struct {
	kind    kind
	negate  bool
	guard   int32 // register, -1 if there is none
	to      int32 // registers
	a, b, c int32
	f1      func(a uint64) uint64
	f2      func(a, b uint64) uint64
	f3      func(a, b, c uint64) uint64
	do      func(t *thread)
	all     func(lanes []thread) bool // what the lanes of a warp do together, unless some are missing
	target  int                       // of a branch
	line    int
}

type kind uint8

const (
	plain     kind = iota
	onefold        // to = f1(a)
	twofold        // to = f2(a, b)
	threefold      // to = f3(a, b, c)
	move
	narrow // to = the low 32 bits of a
	add64
	multiply64
	left64
	or64
	less64 // of signed numbers
	notLess64
	addFloat
	multiplyFloat
	fma64
	addCarry // adds a, b and, if there is a c, the carry
	subtractBorrow
	branch
	exit
	barrier
	clusterBarrier
	shuffle
)

// Parse reads a PTX text. The file is its name in errors.
func Parse(file, text string) (*Module, error) {
	p := &parser{file: file, module: &Module{kernels: map[string]*Kernel{}, file: file, constants: &piece{base: constBase}}, shared: map[string]array{}, constants: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		if comment := strings.Index(line, "//"); comment >= 0 {
			line = line[:comment]
		}
		if err := p.read(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
	}
	if p.kernel != nil {
		return nil, fmt.Errorf("%s: kernel %s has no end", file, p.kernel.Name)
	}
	return p.module, nil
}

// An array is a shared variable, in bytes.
type array struct{ size, align int }

// A parser reads a text line by line.
type parser struct {
	file   string
	line   int
	module *Module
	shared map[string]array

	constants map[string]int // their addresses

	kernel *Kernel
	header bool // between the name of a kernel and its body
	regs   map[string]int32
	types  map[string]string // of the registers
	values map[uint64]int32  // registers of constants
	places map[string]int    // of the shared variables that the kernel uses
	locals map[string]int
	labels map[string]int
	jumps  map[int]string // labels by the indices of branches
	arrive int            // how many instructions the kernel had after an arrival at a barrier of clusters, until the wait, or -1

	generic map[int32]bool // registers with generic addresses of shared memory
}

func (p *parser) read(line string) error {
	switch {
	case line == "":
		return nil
	case p.kernel == nil:
		return p.readTop(line)
	case p.header:
		return p.readHeader(line)
	case strings.HasPrefix(line, ".pragma"):
		return nil // advice to the compiler
	case strings.HasPrefix(line, ".shared"):
		return p.readShared(line)
	case strings.HasPrefix(line, ".reg"), strings.HasPrefix(line, ".local"):
		return p.declare(line)
	case line == "}":
		return p.end()
	case strings.HasSuffix(line, ":"):
		if p.arrive >= 0 {
			return errArrival
		}
		p.labels[strings.TrimSuffix(line, ":")] = len(p.kernel.code)
		return nil
	case strings.HasPrefix(line, "{"): // declarations and instructions of a scope, on one line
		for part := range strings.SplitSeq(strings.Trim(line, "{} "), ";") {
			// The braces of a pair of registers are those of the scope's end, too.
			part = strings.TrimSpace(part)
			if part == "" {
				continue
			}
			if err := p.read(part + ";"); err != nil {
				return err
			}
		}
		return nil
	}
	return p.instruction(strings.TrimSuffix(line, ";"))
}

// readTop reads a line outside kernels.
func (p *parser) readTop(line string) error {
	words := strings.Fields(line)
	switch {
	case words[0] == ".version", words[0] == ".target", words[0] == ".address_size":
		return nil
	case strings.Contains(line, ".entry"):
		name, _, ok := strings.Cut(words[len(words)-1], "(")
		if !ok {
			return fmt.Errorf("want a kernel's name and (, found %q", line)
		}
		p.kernel = &Kernel{Name: name, file: p.file, module: p.module, offset: map[string]int{}}
		p.header = true
		p.regs, p.values, p.places, p.locals = map[string]int32{}, map[uint64]int32{}, map[string]int{}, map[string]int{}
		p.types = map[string]string{}
		p.labels, p.jumps, p.arrive, p.generic = map[string]int{}, map[int]string{}, -1, map[int32]bool{}
		return nil
	case strings.Contains(line, "="):
		return p.constant(line)
	case strings.Contains(line, ".shared"):
		return p.readShared(line)
	}
	return fmt.Errorf("unknown declaration %q", line)
}

// readShared reads a shared variable, of the module or of a kernel.
func (p *parser) readShared(line string) error {
	name, size, align, err := variable(line)
	if err != nil {
		return err
	}
	p.shared[name] = array{size, align}
	return nil
}

// constant reads an array of constants. The bytes that the list leaves out are zero.
func (p *parser) constant(line string) error {
	declaration, list, _ := strings.Cut(line, "=")
	name, size, align, err := variable(strings.TrimSpace(declaration))
	if err != nil {
		return err
	}
	c := p.module.constants
	for len(c.data)%align != 0 {
		c.data = append(c.data, 0)
	}
	p.constants[name] = len(c.data)
	data := make([]byte, size)
	for i, text := range strings.Split(strings.Trim(list, "{}; "), ",") {
		v, err := strconv.ParseUint(strings.TrimSpace(text), 10, 8)
		if err != nil || i >= size {
			return fmt.Errorf("want %d bytes, found %q", size, text)
		}
		data[i] = byte(v)
	}
	c.data = append(c.data, data...)
	return nil
}

// readHeader reads a line of a kernel's parameters.
func (p *parser) readHeader(line string) error {
	words := strings.Fields(strings.TrimSuffix(line, ","))
	switch {
	case words[0] == "{":
		p.header = false
		return nil
	case words[0] == ".maxntid":
		p.kernel.most = 1
		for _, w := range words[1:] {
			n, err := strconv.Atoi(strings.TrimSuffix(w, ","))
			if err != nil || n < 1 {
				return fmt.Errorf("want numbers of threads, found %q", line)
			}
			p.kernel.most *= n
		}
		return nil
	case words[0] == ".reqnctapercluster":
		n, err := strconv.Atoi(strings.Join(words[1:], ""))
		if err != nil || n < 1 || n > mostTeam {
			return fmt.Errorf("want up to %d blocks of a cluster, found %q", mostTeam, line)
		}
		p.kernel.team = n
		return nil
	case words[0] == ")", words[0][0] == '.' && words[0] != ".param":
		return nil // the end of the list, or a directive such as .minnctapersm
	case words[0] != ".param" || len(words) != 3:
		return fmt.Errorf("want a parameter, found %q", line)
	}
	size, err := sizeOf(strings.TrimPrefix(words[1], "."))
	if err != nil {
		return err
	}
	at := 0
	for _, s := range p.kernel.Params {
		at += max(s, 8)
	}
	p.kernel.offset[words[2]] = at
	p.kernel.Params = append(p.kernel.Params, size)
	return nil
}

// variable reads the declaration of an array.
func variable(line string) (name string, size, align int, err error) {
	words := strings.Fields(strings.TrimSuffix(line, ";"))
	align = 1
	for i, w := range words {
		if w == ".align" && i+1 < len(words) {
			if align, err = strconv.Atoi(words[i+1]); err != nil {
				return "", 0, 0, err
			}
		}
	}
	elem, err := sizeOf(strings.TrimPrefix(words[len(words)-2], "."))
	if err != nil {
		return "", 0, 0, err
	}
	name, length, ok := strings.Cut(strings.TrimSuffix(words[len(words)-1], "]"), "[")
	n := 1
	if ok {
		if n, err = strconv.Atoi(length); err != nil {
			return "", 0, 0, err
		}
	}
	return name, n * elem, align, nil
}

// declare reads a line of registers, or of local memory.
func (p *parser) declare(line string) error {
	if strings.HasPrefix(line, ".local") {
		name, size, align, err := variable(line)
		if err != nil {
			return err
		}
		p.kernel.local = (p.kernel.local + align - 1) / align * align
		p.locals[name] = p.kernel.local
		p.kernel.local += size
		return nil
	}
	words := strings.Fields(strings.TrimSuffix(line, ";"))
	if len(words) != 3 {
		return fmt.Errorf("want registers, found %q", line)
	}
	typ := strings.TrimPrefix(words[1], ".")
	name, count, ok := strings.Cut(strings.TrimSuffix(words[2], ">"), "<")
	if !ok {
		p.register(name, typ)
		return nil
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range n {
		p.register(fmt.Sprint(name, i), typ)
	}
	return nil
}

func (p *parser) register(name, typ string) {
	p.regs[name], p.types[name] = p.newRegister(0), typ
}

// newRegister returns a register that holds v at first.
func (p *parser) newRegister(v uint64) int32 {
	k := p.kernel
	k.regs = append(k.regs, v)
	return int32(len(k.regs) - 1)
}

// end resolves the branches of a kernel.
func (p *parser) end() error {
	k := p.kernel
	if p.arrive >= 0 {
		return errArrival
	}
	for i, label := range p.jumps {
		target, ok := p.labels[label]
		if !ok {
			return fmt.Errorf("no label %s", label)
		}
		k.code[i].target = target
	}
	k.code = append(k.code, instruction{line: p.line, guard: -1, kind: exit})
	p.module.kernels[k.Name] = k
	p.kernel = nil
	return nil
}

// instruction reads an instruction, with its guard if it has one.
func (p *parser) instruction(line string) error {
	in := instruction{line: p.line, guard: -1}
	if strings.HasPrefix(line, "@") {
		word, rest, _ := strings.Cut(line[1:], " ")
		name, negate := strings.CutPrefix(strings.TrimSpace(word), "!")
		r, ok := p.regs[name]
		if !ok {
			return fmt.Errorf("no register %s", name)
		}
		in.guard, in.negate = r, negate
		line = strings.TrimSpace(rest)
	}
	op, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	words := strings.Split(op, ".")
	args, err := operands(rest)
	if err != nil {
		return err
	}
	if p.arrive >= 0 && op != clusterWait {
		return errArrival
	}
	switch words[0] {
	case "bra":
		in.kind = branch
		p.jumps[len(p.kernel.code)] = args[0]
	case "ret", "exit":
		in.kind = exit
	case "bar", "barrier":
		if slices.Contains(words, "warp") {
			err = warpBarrier(&in, args)
			break
		}
		if slices.Contains(words, "cluster") {
			err = p.clusterBarrier(&in, op, args)
			break
		}
		if len(args) != 1 || args[0] != "0" {
			return fmt.Errorf("only barrier 0 of all threads is known, found %q", line)
		}
		in.kind = barrier
	case "shfl":
		err = p.shuffle(&in, words, args)
	case "vote":
		err = p.vote(&in, words, args)
	case "redux":
		err = p.reduce(&in, words, args)
	case "mapa":
		err = p.mapShared(&in, words, args)
	case "cp":
		err = p.async(&in, words, args)
	case "mma":
		err = p.multiply(&in, words, args)
	default:
		err = p.operation(&in, words, args)
	}
	if op == "cvta.shared.u64" {
		p.generic[in.to] = true
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	p.kernel.code = append(p.kernel.code, in)
	return nil
}

// operands splits a list at its commas, but not within braces and brackets.
func operands(list string) ([]string, error) {
	var args []string
	depth, begin := 0, 0
	list = strings.TrimSpace(list)
	if list == "" {
		return nil, nil
	}
	for i, c := range list {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, strings.TrimSpace(list[begin:i]))
				begin = i + 1
			}
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("braces do not match in %q", list)
	}
	return append(args, strings.TrimSpace(list[begin:])), nil
}

// source returns the register of an operand of the given type.
func (p *parser) source(arg, typ string) (int32, error) {
	if r, ok := p.regs[arg]; ok {
		return r, nil
	}
	if get, ok := special[arg]; ok {
		r := p.newRegister(0)
		p.regs[arg] = r
		p.kernel.specials = append(p.kernel.specials, specialRegister{r, get})
		return r, nil
	}
	if a, ok := p.shared[arg]; ok {
		return p.constantRegister(uint64(sharedBase + p.place(arg, a))), nil
	}
	if a, ok := p.constants[arg]; ok {
		return p.constantRegister(uint64(constBase + a)), nil
	}
	if a, ok := p.locals[arg]; ok {
		return p.constantRegister(uint64(localBase + a)), nil
	}
	v, err := literal(arg, typ)
	if err != nil {
		return 0, err
	}
	return p.constantRegister(v), nil
}

// constantRegister returns the register of a constant.
func (p *parser) constantRegister(v uint64) int32 {
	r, ok := p.values[v]
	if !ok {
		r = p.newRegister(v)
		p.values[v] = r
	}
	return r
}

// place returns where a shared variable is in the memory of the kernel.
func (p *parser) place(name string, a array) int {
	at, ok := p.places[name]
	if !ok {
		at = (p.kernel.shared + a.align - 1) / a.align * a.align
		p.places[name], p.kernel.shared = at, at+a.size
	}
	return at
}

// literal returns the bits of a number in PTX.
func literal(arg, typ string) (uint64, error) {
	switch {
	case strings.HasPrefix(arg, "0d"):
		return strconv.ParseUint(arg[2:], 16, 64)
	case strings.HasPrefix(arg, "0f"):
		return strconv.ParseUint(arg[2:], 16, 32)
	case typ == "f64" || typ == "f32":
		v, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return 0, err
		}
		if typ == "f32" {
			return uint64(math.Float32bits(float32(v))), nil
		}
		return math.Float64bits(v), nil
	case typ == "pred":
		v, err := strconv.ParseInt(arg, 0, 64)
		return b1(v != 0), err
	}
	size, err := sizeOf(typ)
	if err != nil {
		return 0, err
	}
	if v, err := strconv.ParseInt(arg, 0, 64); err == nil {
		return truncate(uint64(v), size), nil
	}
	v, err := strconv.ParseUint(arg, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("unknown operand %q", arg)
	}
	return truncate(v, size), nil
}

// target returns the register that an instruction writes.
func (p *parser) target(arg string) (int32, error) {
	if arg == "_" { // nothing reads it
		return p.newRegister(0), nil
	}
	r, ok := p.regs[arg]
	if !ok {
		return 0, fmt.Errorf("no register %s", arg)
	}
	return r, nil
}

// sizeOf returns the size of a type in bytes.
func sizeOf(typ string) (int, error) {
	switch typ {
	case "b8", "s8", "u8":
		return 1, nil
	case "b16", "s16", "u16":
		return 2, nil
	case "b32", "s32", "u32", "f32":
		return 4, nil
	case "b64", "s64", "u64", "f64":
		return 8, nil
	}
	return 0, fmt.Errorf("unknown type %q", typ)
}
