package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// special are the registers that say which thread runs.
var special = map[string]func(t *thread) uint64{
	"%cluster_ctarank": func(t *thread) uint64 { return uint64(t.block.rank()) },
	"%tid.x":           func(t *thread) uint64 { return uint64(t.id[0]) }, "%tid.y": func(t *thread) uint64 { return uint64(t.id[1]) }, "%tid.z": func(t *thread) uint64 { return uint64(t.id[2]) },
	"%ntid.x": func(t *thread) uint64 { return uint64(t.block.size[0]) }, "%ntid.y": func(t *thread) uint64 { return uint64(t.block.size[1]) }, "%ntid.z": func(t *thread) uint64 { return uint64(t.block.size[2]) },
	"%ctaid.x": func(t *thread) uint64 { return uint64(t.block.id[0]) }, "%ctaid.y": func(t *thread) uint64 { return uint64(t.block.id[1]) }, "%ctaid.z": func(t *thread) uint64 { return uint64(t.block.id[2]) },
	"%nctaid.x": func(t *thread) uint64 { return uint64(t.block.grid[0]) }, "%nctaid.y": func(t *thread) uint64 { return uint64(t.block.grid[1]) }, "%nctaid.z": func(t *thread) uint64 { return uint64(t.block.grid[2]) },
	"%laneid": func(t *thread) uint64 { return uint64(t.number % warp) },
}

// truncate returns the low bytes of v.
func truncate(v uint64, size int) uint64 { return v & (^uint64(0) >> (64 - 8*size)) }

// extend returns the low bytes of v as a signed number.
func extend(v uint64, size int) int64 { return int64(v<<(64-8*size)) >> (64 - 8*size) }

func f64(v uint64) float64 { return math.Float64frombits(v) }
func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }
func b64(v float64) uint64 { return math.Float64bits(v) }
func b32(v float32) uint64 { return uint64(math.Float32bits(v)) }
func b1(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
func isFloat(t string) bool { return t == "f32" || t == "f64" }

// operation reads an instruction that concerns its thread alone.
func (p *parser) operation(in *instruction, words, args []string) (err error) {
	typ := words[len(words)-1]
	switch words[0] {
	case "ld", "st":
		return p.access(in, words, args)
	case "mov":
		if strings.HasPrefix(args[0], "{") || len(args) > 1 && strings.HasPrefix(args[1], "{") {
			return p.pack(in, typ, args)
		}
	case "setp":
		return p.compare(in, words, args)
	case "cvt":
		return p.convert(in, words, args)
	}
	if len(args) < 2 {
		return fmt.Errorf("want operands, found %q", args)
	}
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	from := []*int32{&in.a, &in.b, &in.c}
	for i, arg := range args[1:min(len(args), 4)] {
		t := typ
		switch {
		case words[0] == "selp" && i == 2:
			t = "pred"
		case (words[0] == "shl" || words[0] == "shr") && i == 1:
			t = "u32"
		}
		if *from[i], err = p.source(arg, t); err != nil {
			return err
		}
	}
	name := strings.Join(words[:len(words)-1], ".")
	size := 1
	if typ != "pred" {
		if size, err = sizeOf(typ); err != nil {
			return err
		}
	}
	known := false
	switch len(args) - 1 {
	case 1:
		in.f1 = oneOperand(name, typ, size)
		in.kind, known = onefold, in.f1 != nil
		if known && isMove(name) {
			in.kind = move
		}
	case 2:
		switch name {
		case "add.cc":
			in.kind, in.c = addCarry, -1
			return wantWide(size)
		case "addc", "addc.cc":
			in.kind = addCarry
			return wantWide(size)
		case "sub.cc":
			in.kind, in.c = subtractBorrow, -1
			return wantWide(size)
		case "subc", "subc.cc":
			in.kind = subtractBorrow
			return wantWide(size)
		}
		in.f2 = twoOperands(name, typ, size)
		in.kind, known = twofold, in.f2 != nil
		switch {
		case name == "or":
			in.kind = or64
		case size == 8 && name == "add" && !isFloat(typ):
			in.kind = add64
		case size == 8 && name == "mul.lo":
			in.kind = multiply64
		case size == 8 && name == "shl":
			in.kind = left64
		case name == "add.rn" && typ == "f64":
			in.kind = addFloat
		case name == "mul.rn" && typ == "f64":
			in.kind = multiplyFloat
		}
	case 3:
		in.f3 = threeOperands(name, typ, size)
		in.kind, known = threefold, in.f3 != nil
		if name == "fma.rn" && typ == "f64" {
			in.kind = fma64
		}
	}
	if !known {
		return fmt.Errorf("unknown instruction")
	}
	return nil
}

// wantWide returns an error unless a size is that of 64 bits.
func wantWide(size int) error {
	if size != 8 {
		return fmt.Errorf("a carry over %d bytes, want 8", size)
	}
	return nil
}

// isMove reports whether an instruction copies a register. The address spaces lie apart, so an
// address is the same in all of them.
func isMove(name string) bool {
	switch name {
	case "mov", "cvta.to.global", "cvta.global", "cvta.to.shared", "cvta.shared", "cvta.to.local", "cvta.local":
		return true
	}
	return false
}

func oneOperand(name, typ string, size int) func(a uint64) uint64 {
	switch name + " " + typ {
	case "neg f64":
		return func(a uint64) uint64 { return a ^ 1<<63 }
	case "neg f32":
		return func(a uint64) uint64 { return a ^ 1<<31 }
	case "abs f64":
		return func(a uint64) uint64 { return a &^ (1 << 63) }
	case "abs f32":
		return func(a uint64) uint64 { return a &^ (1 << 31) }
	case "sqrt.rn f64":
		return func(a uint64) uint64 { return b64(math.Sqrt(f64(a))) }
	case "sqrt.rn f32":
		return func(a uint64) uint64 { return b32(float32(math.Sqrt(float64(f32(a))))) }
	case "rsqrt.approx.ftz f64": // of the upper halves of numbers, as the hardware has it
		return func(a uint64) uint64 { return b64(1/math.Sqrt(f64(a>>32<<32))) >> 32 << 32 }
	case "rcp.rn f64":
		return func(a uint64) uint64 { return b64(1 / f64(a)) }
	case "rcp.approx.ftz f64": // of the upper halves, without subnormal numbers
		const upper, tiny = ^uint64(1<<32 - 1), 0x1p-1022
		flush := func(v float64) float64 {
			if math.Abs(v) < tiny {
				return math.Copysign(0, v)
			}
			return v
		}
		return func(a uint64) uint64 { return b64(flush(f64(b64(1/flush(f64(a&upper))) & upper))) }
	case "rcp.rn f32":
		return func(a uint64) uint64 { return b32(1 / f32(a)) }
	case "not pred":
		return func(a uint64) uint64 { return a ^ 1 }
	}
	if isFloat(typ) && name != "mov" {
		return nil
	}
	if isMove(name) {
		return func(a uint64) uint64 { return a }
	}
	switch name {
	case "neg":
		return func(a uint64) uint64 { return truncate(-a, size) }
	case "abs":
		return func(a uint64) uint64 { return truncate(uint64(max(extend(a, size), -extend(a, size))), size) }
	case "not":
		return func(a uint64) uint64 { return truncate(^a, size) }
	case "clz":
		return func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a) - 64 + 8*size) }
	case "popc":
		return func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) }
	}
	return nil
}

func twoOperands(name, typ string, size int) func(a, b uint64) uint64 {
	switch typ {
	case "f64":
		return binary64(name)
	case "f32":
		return binary32(name)
	case "pred":
		size = 8
	}
	signed := typ[0] == 's'
	switch name {
	case "add":
		return func(a, b uint64) uint64 { return truncate(a+b, size) }
	case "sub":
		return func(a, b uint64) uint64 { return truncate(a-b, size) }
	case "mul.lo":
		return func(a, b uint64) uint64 { return truncate(a*b, size) }
	case "mul.wide":
		if signed {
			return func(a, b uint64) uint64 { return truncate(uint64(extend(a, size)*extend(b, size)), 2*size) }
		}
		return func(a, b uint64) uint64 { return a * b }
	case "mul.hi":
		switch {
		case size == 8 && signed:
			return func(a, b uint64) uint64 {
				hi, _ := bits.Mul64(a, b)
				return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
			}
		case size == 8:
			return func(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }
		case signed:
			return func(a, b uint64) uint64 { return truncate(uint64(extend(a, size)*extend(b, size)>>(8*size)), size) }
		}
		return func(a, b uint64) uint64 { return a * b >> (8 * size) }
	case "div", "rem":
		return division(name, signed, size)
	case "and":
		return func(a, b uint64) uint64 { return a & b }
	case "or":
		return func(a, b uint64) uint64 { return a | b }
	case "xor":
		return func(a, b uint64) uint64 { return a ^ b }
	case "shl":
		return func(a, b uint64) uint64 { return truncate(a<<min(b, 64), size) }
	case "shr":
		if signed {
			return func(a, b uint64) uint64 { return truncate(uint64(extend(a, size)>>min(b, 63)), size) }
		}
		return func(a, b uint64) uint64 { return a >> min(b, 64) }
	case "min":
		if signed {
			return func(a, b uint64) uint64 { return truncate(uint64(min(extend(a, size), extend(b, size))), size) }
		}
		return func(a, b uint64) uint64 { return min(a, b) }
	case "max":
		if signed {
			return func(a, b uint64) uint64 { return truncate(uint64(max(extend(a, size), extend(b, size))), size) }
		}
		return func(a, b uint64) uint64 { return max(a, b) }
	}
	return nil
}

// division divides integers. What division by zero gives is not specified; all bits are
// set here.
func division(name string, signed bool, size int) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		switch {
		case b == 0:
			return truncate(^uint64(0), size)
		case signed && name == "div":
			return truncate(uint64(extend(a, size)/extend(b, size)), size)
		case signed:
			return truncate(uint64(extend(a, size)%extend(b, size)), size)
		case name == "div":
			return a / b
		}
		return a % b
	}
}

// minimum and maximum return the other number if one is NaN, and take -0 < +0.
func minimum(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return math.Min(a, b)
}

func maximum(a, b float64) float64 { return -minimum(-a, -b) }

// Sums and products of floats that are not rounded by name are unknown: a driver may fuse them.

func binary64(name string) func(a, b uint64) uint64 {
	var f func(a, b float64) float64
	switch name {
	case "add.rn":
		f = func(a, b float64) float64 { return a + b }
	case "sub.rn":
		f = func(a, b float64) float64 { return a - b }
	case "mul.rn":
		f = func(a, b float64) float64 { return a * b }
	case "div.rn":
		f = func(a, b float64) float64 { return a / b }
	case "min":
		f = minimum
	case "max":
		f = maximum
	case "copysign":
		f = func(a, b float64) float64 { return math.Copysign(b, a) }
	default:
		return nil
	}
	return func(a, b uint64) uint64 { return b64(f(f64(a), f64(b))) }
}

func binary32(name string) func(a, b uint64) uint64 {
	var f func(a, b float32) float32
	switch name {
	case "add.rn":
		f = func(a, b float32) float32 { return a + b }
	case "sub.rn":
		f = func(a, b float32) float32 { return a - b }
	case "mul.rn":
		f = func(a, b float32) float32 { return a * b }
	case "div.rn":
		f = func(a, b float32) float32 { return a / b }
	case "min":
		f = func(a, b float32) float32 { return float32(minimum(float64(a), float64(b))) }
	case "max":
		f = func(a, b float32) float32 { return float32(maximum(float64(a), float64(b))) }
	case "copysign":
		f = func(a, b float32) float32 { return float32(math.Copysign(float64(b), float64(a))) }
	default:
		return nil
	}
	return func(a, b uint64) uint64 { return b32(f(f32(a), f32(b))) }
}

func threeOperands(name, typ string, size int) func(a, b, c uint64) uint64 {
	switch {
	case name == "selp":
		return func(a, b, c uint64) uint64 {
			if c != 0 {
				return a
			}
			return b
		}
	case name == "fma.rn" && typ == "f64":
		return func(a, b, c uint64) uint64 { return b64(math.FMA(f64(a), f64(b), f64(c))) }
	case name == "fma.rn" && typ == "f32":
		return func(a, b, c uint64) uint64 { return b32(fma32(f32(a), f32(b), f32(c))) }
	case name == "prmt" && typ == "b32": // half a byte of c chooses a byte of a and b
		return func(a, b, c uint64) (d uint64) {
			for i := range 4 {
				which := c >> (4 * i) & 15
				v := truncate((b<<32|a)>>(which%8*8), 1)
				if which > 7 {
					v = truncate(uint64(extend(v, 1)>>7), 1) // its sign
				}
				d |= v << (8 * i)
			}
			return d
		}
	case name == "mad.lo":
		return func(a, b, c uint64) uint64 { return truncate(a*b+c, size) }
	case name == "mad.wide" && typ[0] == 's':
		return func(a, b, c uint64) uint64 { return uint64(extend(a, size)*extend(b, size)) + c }
	case name == "mad.wide":
		return func(a, b, c uint64) uint64 { return a*b + c }
	case name == "bfe" && typ[0] == 'u':
		return func(a, b, c uint64) uint64 { return a >> (b & 255) & (1<<(c&255) - 1) }
	case name == "bfe" && typ[0] == 's':
		return func(a, b, c uint64) uint64 {
			begin, n := b&255, c&255
			end := min(begin+n, uint64(8*size)) // the bit before is the sign
			if n == 0 {
				return 0
			}
			return truncate(uint64(int64(a<<(64-end))>>min(64-end+begin, 63)), size)
		}
	case name == "shf.l.wrap" || name == "shf.r.wrap":
		left := name == "shf.l.wrap"
		return func(a, b, c uint64) uint64 {
			both, n := b<<32|a, c%32
			if left {
				return both << n >> 32
			}
			return truncate(both>>n, 4)
		}
	}
	return nil
}

// fma32 returns a·b + c, rounded once. The product is exact in float64. The sum is
// rounded to odd there, so that rounding it again to float32 is as good as rounding the
// exact sum (Boldo and Melquiond, 2008).
func fma32(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b))
	s := p + float64(c)
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	v := s - p
	err := (p - (s - v)) + (float64(c) - v)
	if err != 0 && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), err))
	}
	return float32(s)
}

// pack reads a move between a register and the halves in braces.
func (p *parser) pack(in *instruction, typ string, args []string) error {
	size, err := sizeOf(typ)
	if err != nil {
		return err
	}
	half := fmt.Sprintf("b%d", 4*size)
	halves := func(list string) ([]string, error) {
		parts, err := operands(strings.Trim(list, "{}"))
		if err != nil || len(parts) != 2 {
			return nil, fmt.Errorf("want two registers, found %s", list)
		}
		return parts, nil
	}
	if strings.HasPrefix(args[0], "{") {
		parts, err := halves(args[0])
		if err != nil {
			return err
		}
		from, err := p.source(args[1], typ)
		if err != nil {
			return err
		}
		lo, err := p.target(parts[0])
		if err != nil {
			return err
		}
		hi, err := p.target(parts[1])
		if err != nil {
			return err
		}
		in.do = func(t *thread) {
			v := t.regs[from]
			t.regs[lo], t.regs[hi] = truncate(v, size/2), v>>(4*size)
		}
		return nil
	}
	parts, err := halves(args[1])
	if err != nil {
		return err
	}
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	if in.a, err = p.source(parts[0], half); err != nil {
		return err
	}
	if in.b, err = p.source(parts[1], half); err != nil {
		return err
	}
	in.kind, in.f2 = twofold, func(lo, hi uint64) uint64 { return hi<<(4*size) | lo }
	return nil
}

// compare reads a comparison, such as setp.lt.s64.
func (p *parser) compare(in *instruction, words, args []string) error {
	typ := words[len(words)-1]
	size, err := sizeOf(typ)
	if err != nil {
		return err
	}
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	if in.a, err = p.source(args[1], typ); err != nil {
		return err
	}
	if in.b, err = p.source(args[2], typ); err != nil {
		return err
	}
	in.kind, in.f2 = twofold, relation(words[1], typ, size)
	if in.f2 == nil || len(words) > 3 {
		return fmt.Errorf("unknown comparison")
	}
	switch strings.Join(words[1:], ".") {
	case "lt.s64":
		in.kind = less64
	case "ge.s64":
		in.kind = notLess64
	}
	return nil
}

func relation(name, typ string, size int) func(a, b uint64) uint64 {
	if isFloat(typ) {
		value := f64
		if typ == "f32" {
			value = func(v uint64) float64 { return float64(f32(v)) }
		}
		// The names that end in u hold if a number is NaN, too.
		plainName, unordered := name, false
		if len(name) == 3 && name[2] == 'u' {
			plainName, unordered = name[:2], true
		}
		var f func(a, b float64) bool
		switch plainName {
		case "eq":
			f = func(a, b float64) bool { return a == b }
		case "ne":
			f = func(a, b float64) bool { return a < b || a > b }
		case "lt":
			f = func(a, b float64) bool { return a < b }
		case "le":
			f = func(a, b float64) bool { return a <= b }
		case "gt":
			f = func(a, b float64) bool { return a > b }
		case "ge":
			f = func(a, b float64) bool { return a >= b }
		case "num":
			f = func(a, b float64) bool { return !math.IsNaN(a) && !math.IsNaN(b) }
		case "nan":
			f = func(a, b float64) bool { return math.IsNaN(a) || math.IsNaN(b) }
		default:
			return nil
		}
		return func(a, b uint64) uint64 {
			x, y := value(a), value(b)
			return b1(f(x, y) || unordered && (math.IsNaN(x) || math.IsNaN(y)))
		}
	}
	// Signed numbers keep their order as unsigned ones if their sign bit is flipped.
	var flip uint64
	if typ[0] == 's' {
		flip = 1 << (8*size - 1)
	}
	switch name {
	case "eq":
		return func(a, b uint64) uint64 { return b1(a == b) }
	case "ne":
		return func(a, b uint64) uint64 { return b1(a != b) }
	case "lt", "lo":
		return func(a, b uint64) uint64 { return b1(a^flip < b^flip) }
	case "le", "ls":
		return func(a, b uint64) uint64 { return b1(a^flip <= b^flip) }
	case "gt", "hi":
		return func(a, b uint64) uint64 { return b1(a^flip > b^flip) }
	case "ge", "hs":
		return func(a, b uint64) uint64 { return b1(a^flip >= b^flip) }
	}
	return nil
}

// convert reads a conversion, such as cvt.rn.f64.s64.
func (p *parser) convert(in *instruction, words, args []string) (err error) {
	to, typ := words[len(words)-2], words[len(words)-1]
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	if in.a, err = p.source(args[1], typ); err != nil {
		return err
	}
	toSize, err := sizeOf(to)
	if err != nil {
		return err
	}
	fromSize, err := sizeOf(typ)
	if err != nil {
		return err
	}
	mode := strings.Join(words[1:len(words)-2], ".")
	var f func(v uint64) uint64
	switch {
	case isFloat(to) && isFloat(typ):
		round := rounding(mode)
		if toSize != fromSize && mode != "rn" && mode != "" || round == nil {
			return fmt.Errorf("unknown conversion")
		}
		if toSize != fromSize {
			round = func(v float64) float64 { return v }
		}
		f = func(v uint64) uint64 { return floatBits(round(floatOf(v, fromSize)), toSize) }
	case isFloat(to): // from an integer, which is rounded once
		if mode != "rn" {
			return fmt.Errorf("unknown rounding")
		}
		signed := typ[0] == 's'
		f = func(v uint64) uint64 {
			switch {
			case toSize == 4 && signed:
				return b32(float32(extend(v, fromSize)))
			case toSize == 4:
				return b32(float32(v))
			case signed:
				return b64(float64(extend(v, fromSize)))
			}
			return b64(float64(v))
		}
	case isFloat(typ): // to an integer, which saturates
		round := rounding(mode)
		if round == nil || mode == "" || mode == "rn" {
			return fmt.Errorf("unknown rounding")
		}
		signed := to[0] == 's'
		nan := uint64(0) // as the PTX ISA says of cvt
		if max(fromSize, toSize) == 8 {
			nan = 1 << (8*toSize - 1)
		}
		f = func(v uint64) uint64 { return saturate(round(floatOf(v, fromSize)), nan, signed, toSize) }
	case mode != "":
		return fmt.Errorf("unknown conversion")
	case typ[0] == 's':
		f = func(v uint64) uint64 { return truncate(uint64(extend(v, fromSize)), toSize) }
	default:
		f = func(v uint64) uint64 { return truncate(truncate(v, fromSize), toSize) }
	}
	in.kind, in.f1 = onefold, f
	if !isFloat(to) && !isFloat(typ) && typ[0] != 's' && min(fromSize, toSize) == 4 {
		in.kind = narrow
	}
	return nil
}

func floatOf(v uint64, size int) float64 {
	if size == 4 {
		return float64(f32(v))
	}
	return f64(v)
}

func floatBits(v float64, size int) uint64 {
	if size == 4 {
		return b32(float32(v))
	}
	return b64(v)
}

// rounding returns the function that rounds to an integer in a mode.
func rounding(mode string) func(float64) float64 {
	switch mode {
	case "", "rn":
		return func(v float64) float64 { return v }
	case "rni":
		return math.RoundToEven
	case "rzi":
		return math.Trunc
	case "rmi":
		return math.Floor
	case "rpi":
		return math.Ceil
	}
	return nil
}

// saturate returns the integer v within the range of its type, and nan for NaN.
func saturate(v float64, nan uint64, signed bool, size int) uint64 {
	lo, hi := 0.0, math.Ldexp(1, 8*size)
	if signed {
		lo, hi = -hi/2, hi/2
	}
	switch {
	case math.IsNaN(v):
		return nan
	case v < lo:
		v = lo
	case v >= hi && signed:
		return 1<<(8*size-1) - 1
	case v >= hi:
		return truncate(^uint64(0), size)
	}
	if signed {
		return truncate(uint64(int64(v)), size)
	}
	return uint64(v)
}

// warpBarrier reads bar.warp.sync, at which the threads of a warp wait for each other.
func warpBarrier(in *instruction, args []string) error {
	if !slices.Equal(args, []string{"-1"}) {
		return fmt.Errorf("only a barrier of a whole warp is known, found %q", args)
	}
	in.kind = shuffle
	in.all = func(lanes []thread) bool {
		if len(lanes) < warp {
			return false
		}
		for i := range lanes {
			lanes[i].round++
		}
		return true
	}
	return nil
}

// shuffle reads shfl.sync, which exchanges values between the lanes of a warp.
func (p *parser) shuffle(in *instruction, words, args []string) (err error) {
	if len(words) != 4 || words[1] != "sync" || words[3] != "b32" || len(args) != 5 || args[4] != "-1" {
		return fmt.Errorf("only shfl.sync of b32 of a whole warp is known")
	}
	in.kind = shuffle
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	if in.a, err = p.source(args[1], "b32"); err != nil {
		return err
	}
	set, get := in.to, in.a
	by, err := p.source(args[2], "b32")
	if err != nil {
		return err
	}
	// The last five bits of c are the last lane (the first for up) of a segment, whose
	// mask is the bits above.
	c, err := strconv.ParseUint(args[3], 0, 32)
	if err != nil {
		return err
	}
	mask, clamp := int(c>>8&31), int(c&31)
	var to func(own, by int) int
	switch words[2] {
	case "down":
		to = func(own, by int) int { return own + by }
	case "up":
		to = func(own, by int) int { return own - by }
	case "bfly":
		to = func(own, by int) int { return own ^ by }
	case "idx":
		to = func(own, by int) int { return own&mask | by&^mask&31 }
	default:
		return fmt.Errorf("unknown shuffle %s", words[2])
	}
	up := words[2] == "up"
	from := func(t *thread, own int) int {
		lane := to(own, int(t.regs[by]))
		last := own&mask | clamp&^mask
		if up && lane < last || !up && lane > last {
			return own
		}
		return lane
	}
	in.all = func(lanes []thread) bool {
		if len(lanes) < warp {
			return false
		}
		var values [warp]uint64
		for i := range lanes {
			values[i] = lanes[i].regs[get]
		}
		for i := range lanes {
			lane := from(&lanes[i], i)
			if lane < 0 || lane >= warp {
				lane = i
			}
			lanes[i].regs[set] = values[lane]
		}
		return true
	}
	return nil
}

// vote reads vote.sync.any, which tells the lanes of a warp whether one of them has a predicate.
func (p *parser) vote(in *instruction, words, args []string) (err error) {
	if !slices.Equal(words, []string{"vote", "sync", "any", "pred"}) || len(args) != 3 || args[2] != "-1" {
		return fmt.Errorf("only vote.sync.any of a whole warp is known")
	}
	in.kind = shuffle
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	if in.a, err = p.source(args[1], "pred"); err != nil {
		return err
	}
	set, get := in.to, in.a
	in.all = func(lanes []thread) bool {
		if len(lanes) < warp {
			return false
		}
		var any uint64
		for i := range lanes {
			any |= lanes[i].regs[get]
		}
		for i := range lanes {
			lanes[i].regs[set] = any
		}
		return true
	}
	return nil
}

// reduce reads redux.sync, which gives the lanes of a warp the largest or the smallest of their numbers.
func (p *parser) reduce(in *instruction, words, args []string) (err error) {
	name := strings.Join(words, ".")
	if name != "redux.sync.max.u32" && name != "redux.sync.min.u32" || len(args) != 3 || args[2] != "-1" {
		return fmt.Errorf("only the largest and the smallest u32 of a whole warp are known")
	}
	in.kind = shuffle
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	if in.a, err = p.source(args[1], "u32"); err != nil {
		return err
	}
	set, get, choose := in.to, in.a, func(x, y uint64) uint64 { return max(x, y) }
	if words[2] == "min" {
		choose = func(x, y uint64) uint64 { return min(x, y) }
	}
	in.all = func(lanes []thread) bool {
		if len(lanes) < warp {
			return false
		}
		of := truncate(lanes[0].regs[get], 4)
		for i := range lanes {
			of = choose(of, truncate(lanes[i].regs[get], 4))
		}
		for i := range lanes {
			lanes[i].regs[set] = of
		}
		return true
	}
	return nil
}

// multiply reads mma.sync of double: D = A·B + C, where A has rows×terms elements and B terms×8. Lane i
// has the elements a[i/4 + 8·(h%(rows/8))][i%4 + 4·(h/(rows/8))], b[i%4 + 4·h][i/4] and
// c[i/4 + 8·(h/2)][2·(i%4) + h%2]. The hardware's order of summation is not specified. Here it is that of
// the columns of A, each a fused multiply-add. It also reads mma.sync of bytes, of which an element of A or B has
// four, and their product is the sum of four products.
func (p *parser) multiply(in *instruction, words, args []string) error {
	known := map[string][2]int{"m8n8k4": {8, 4}, "m16n8k8": {16, 8}}
	typ, add := "f64", threeOperands("fma.rn", "f64", 8)
	name := strings.Join(words, ".")
	if len(words) == 10 && words[6] == "s32" {
		known = map[string][2]int{"m8n8k16": {8, 4}, "m16n8k32": {16, 8}}
		typ, add = "b32", fourProducts(words[7] == "s8", words[8] == "s8")
		name = strings.NewReplacer("s8", "u8").Replace(name)
	}
	var shape [2]int
	if len(words) > 3 {
		shape = known[words[3]]
	}
	if shape[0] == 0 || name != "mma.sync.aligned."+words[3]+".row.col.f64.f64.f64.f64" && name != "mma.sync.aligned."+words[3]+".row.col.s32.u8.u8.s32" {
		return fmt.Errorf("only mma.sync of 8×8×4 and 16×8×8 elements of f64, and of 8×8×16 and 16×8×32 bytes, are known")
	}
	rows, terms := shape[0], shape[1]
	if len(args) != 4 {
		return fmt.Errorf("want 4 operands, found %q", args)
	}
	var lists [4][]int32 // registers of d, a, b, c
	for i, n := range [4]int{rows / 4, rows * terms / warp, terms / 4, rows / 4} {
		names, err := operands(strings.Trim(args[i], "{}"))
		if err != nil || len(names) != n {
			return fmt.Errorf("want %d registers, found %s", n, args[i])
		}
		lists[i] = make([]int32, n)
		for j, name := range names {
			if p.types[name] != typ {
				return fmt.Errorf("want registers of type %s, found %s", typ, name)
			}
			lists[i][j] = p.regs[name]
		}
	}
	d, a, b, c := lists[0], lists[1], lists[2], lists[3]
	in.kind = shuffle
	in.all = func(lanes []thread) bool {
		if len(lanes) < warp {
			return false
		}
		var as [16][8]uint64
		var bs [8][8]uint64
		for i := range lanes {
			for h, r := range a {
				as[i/4+8*(h%(rows/8))][i%4+4*(h/(rows/8))] = lanes[i].regs[r]
			}
			for h, r := range b {
				bs[i%4+4*h][i/4] = lanes[i].regs[r]
			}
		}
		for i := range lanes {
			for h := range c {
				s := lanes[i].regs[c[h]]
				for k := range terms {
					s = add(as[i/4+8*(h/2)][k], bs[k][i%4*2+h%2], s)
				}
				lanes[i].regs[d[h]] = s
			}
		}
		return true
	}
	return nil
}

// fourProducts returns a function that adds the products of the four bytes of a and b to c. Those of a or b may have signs.
func fourProducts(signA, signB bool) func(a, b, c uint64) uint64 {
	value := func(v uint64, sign bool) int64 {
		if sign {
			return extend(v, 1)
		}
		return int64(truncate(v, 1))
	}
	return func(a, b, c uint64) uint64 {
		for range 4 {
			c += uint64(value(a, signA) * value(b, signB))
			a, b = a>>8, b>>8
		}
		return truncate(c, 4)
	}
}
