package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// A core is a function of single numbers that is written once, as Go code that records its steps.
// From these come the assembly of both tiers, which takes the steps for several vectors in turn,
// and the pure Go function of one number. All have the same bits, because each step is one
// instruction of IEEE arithmetic or of integers.
type core struct {
	size  int  // bytes of a number
	wide  bool // it is recorded for AVX-512
	usual bool // it is for normal positive finite numbers alone
	steps []step
}

// A val is a value: the index of the step that computes it.
type val int

type step struct {
	op   string
	args []val
	bits uint64   // of a constant, a shift or a predicate
	rows []uint64 // of a table
}

// pick returns f64 or f32, for the type of numbers.
func pick[F any](p *core, f64, f32 F) F {
	if p.size == 8 {
		return f64
	}
	return f32
}

func (p *core) step(op string, bits uint64, args ...val) val {
	p.steps = append(p.steps, step{op: op, bits: bits, args: args})
	return val(len(p.steps) - 1)
}

// in returns input i.
func (p *core) in(i int) val { return p.step("in", uint64(i)) }

// word returns a constant by its bits.
func (p *core) word(bits uint64) val { return p.step("const", bits) }

// num returns a constant, rounded to the type.
func (p *core) num(x float64) val {
	return p.word(pick(p, math.Float64bits(x), uint64(math.Float32bits(float32(x)))))
}

func (p *core) add(a, b val) val     { return p.step("add", 0, a, b) }
func (p *core) sub(a, b val) val     { return p.step("sub", 0, a, b) }
func (p *core) mul(a, b val) val     { return p.step("mul", 0, a, b) }
func (p *core) div(a, b val) val     { return p.step("div", 0, a, b) }
func (p *core) min(a, b val) val     { return p.step("min", 0, a, b) } // b if either is NaN
func (p *core) max(a, b val) val     { return p.step("max", 0, a, b) } // b if either is NaN
func (p *core) fma(a, b, c val) val  { return p.step("fma", 0, a, b, c) }
func (p *core) fnma(a, b, c val) val { return p.step("fnma", 0, a, b, c) } // c - a·b
func (p *core) fms(a, b, c val) val  { return p.step("fms", 0, a, b, c) }  // a·b - c

func (p *core) and(a, b val) val              { return p.step("and", 0, a, b) }
func (p *core) or(a, b val) val               { return p.step("or", 0, a, b) }
func (p *core) xor(a, b val) val              { return p.step("xor", 0, a, b) }
func (p *core) iadd(a, b val) val             { return p.step("iadd", 0, a, b) }
func (p *core) isub(a, b val) val             { return p.step("isub", 0, a, b) }
func (p *core) shl(a val, n uint64) val       { return p.step("shl", n, a) }
func (p *core) shr(a val, n uint64) val       { return p.step("shr", n, a) }
func (p *core) cmp(pred uint64, a, b val) val { return p.step("cmp", pred, a, b) }

// blend returns a where m holds, and b elsewhere.
func (p *core) blend(m, a, b val) val { return p.step("blend", 0, m, a, b) }

// look returns the entry of a table of 8 at the low bits of i.
func (p *core) look(rows []uint64, i val) val {
	v := p.step("look", 0, i)
	p.steps[v].rows = rows
	return v
}

func (p *core) signBit() uint64 { return 1 << (8*p.size - 1) }
func (p *core) abs(a val) val   { return p.and(a, p.word(p.signBit()-1)) }
func (p *core) neg(a val) val   { return p.xor(a, p.word(p.signBit())) }

// withSign returns a, which has none, with the sign of s.
func (p *core) withSign(a, s val) val { return p.or(a, p.and(s, p.word(p.signBit()))) }

// poly returns a₀ + a₁·x + ...
func (p *core) poly(a []float64, x val) val {
	s := p.num(a[len(a)-1])
	for i := len(a) - 2; i >= 0; i-- {
		s = p.fma(s, x, p.num(a[i]))
	}
	return s
}

// pairs returns the same as a₀ + x·((a₁ + a₂·x) + x²·((a₃ + a₄·x) + ...)): the chain of steps is half
// as long.
func (p *core) pairs(a []float64, x val) val {
	x2 := p.mul(x, x)
	i := len(a) - 1
	s := p.num(a[i])
	if i -= 2; len(a)%2 == 1 {
		s = p.fma(s, x, p.num(a[i+1]))
	} else {
		i++
	}
	for ; i > 0; i -= 2 {
		s = p.fma(s, x2, p.fma(p.num(a[i]), x, p.num(a[i-1])))
	}
	return p.fma(s, x, p.num(a[0]))
}

// --- Go ----------------------------------------------------------------------

// goText returns a function of Go with the steps.
func (p *core) goText(name string, inputs []string, out []val) string {
	var b strings.Builder
	typ := pick(p, "float64", "float32")
	fmt.Fprintf(&b, "func %s(%s %s) (%s) {\n", name, strings.Join(inputs, ", "), typ,
		strings.TrimSuffix(strings.Repeat(typ+", ", len(out)), ", "))
	word, reads := make([]bool, len(p.steps)), p.reads(out) // whether the value is an integer in Go; and is read
	bits := pick(p, "math.Float64bits", "math.Float32bits")
	from := pick(p, "math.Float64frombits", "math.Float32frombits")
	text := func(v val, asWord bool) string {
		s := p.steps[v]
		switch {
		case s.op == "const" && asWord:
			return fmt.Sprintf("%#x", s.bits)
		case s.op == "const":
			x := pick(p, math.Float64frombits(s.bits), float64(math.Float32frombits(uint32(s.bits))))
			if math.IsInf(x, 0) || math.IsNaN(x) || x == 0 && s.bits != 0 {
				return fmt.Sprintf("%s(%#x)", from, s.bits)
			}
			return fmt.Sprintf("%s(%v)", typ, x)
		}
		t := fmt.Sprint("v", int(v))
		if s.op == "in" {
			t = inputs[s.bits]
		}
		switch {
		case asWord && !word[v]:
			return bits + "(" + t + ")"
		case !asWord && word[v]:
			return from + "(" + t + ")"
		}
		return t
	}
	for i, s := range p.steps {
		if reads[i] == 0 {
			continue
		}
		f := func(j int) string { return text(s.args[j], false) }
		w := func(j int) string { return text(s.args[j], true) }
		var e string
		// fma returns x·y + z. Over float32 it first writes the sum in float64: see lanes.go.
		fma := func(x, y, z string) string {
			if p.size == 8 {
				return fmt.Sprintf("math.FMA(%s, %s, %s)", x, y, z)
			}
			fmt.Fprintf(&b, "p%[1]d, z%[1]d := float64(float64(%[2]s)*float64(%[3]s)), float64(%[4]s)\n", i, x, y, z)
			fmt.Fprintf(&b, "s%[1]d := p%[1]d + z%[1]d\nif halfway(s%[1]d) {\ns%[1]d = toOdd(s%[1]d, p%[1]d, z%[1]d)\n}\n", i)
			return fmt.Sprintf("float32(s%d)", i)
		}
		switch s.op {
		case "in", "const":
			continue
		case "add":
			e = f(0) + " + " + f(1)
		case "sub":
			e = f(0) + " - " + f(1)
		case "mul":
			e = typ + "(" + f(0) + " * " + f(1) + ")"
		case "div":
			e = f(0) + " / " + f(1)
		case "min", "max":
			e = fmt.Sprintf("%sOf(%s, %s)", s.op, f(0), f(1))
		case "fma":
			e = fma(f(0), f(1), f(2))
		case "fnma":
			e = fma("-"+f(0), f(1), f(2))
		case "fms":
			e = fma(f(0), f(1), "-"+f(2))
		case "and":
			e, word[i] = w(0)+" & "+w(1), true
		case "or":
			e, word[i] = w(0)+" | "+w(1), true
		case "xor":
			e, word[i] = w(0)+" ^ "+w(1), true
		case "iadd":
			e, word[i] = w(0)+" + "+w(1), true
		case "isub":
			e, word[i] = w(0)+" - "+w(1), true
		case "shl":
			e, word[i] = fmt.Sprint(w(0), " << ", s.bits), true
		case "shr":
			e, word[i] = fmt.Sprint(w(0), " >> ", s.bits), true
		case "look":
			rows := strings.NewReplacer("[]uint64{", "", "}", "").Replace(fmt.Sprintf("%#v", s.rows))
			e, word[i] = fmt.Sprintf("[8]%s{%s}[%s&7]", pick(p, "uint64", "uint32"), rows, w(0)), true
		case "cmp":
			e = goCompare(s.bits, f(0), f(1))
		case "odd":
			e = w(0) + "&1 != 0"
		case "negative":
			e = fmt.Sprintf("%s>>%d != 0", w(0), 8*p.size-1)
		case "round":
			e = typ + "(math.RoundToEven(float64(" + f(0) + ")))"
		case "blend":
			e = fmt.Sprintf("choose(v%d, %s, %s)", int(s.args[0]), f(1), f(2))
		case "sqrt":
			e = typ + "(math.Sqrt(float64(" + f(0) + ")))"
		case "sar":
			e, word[i] = fmt.Sprintf("uint32(int32(%s) >> %d)", w(0), s.bits), true
		case "cvt":
			e = "float32(int32(" + w(0) + "))"
		default:
			panic(s.op)
		}
		fmt.Fprintf(&b, "v%d := %s\n", i, e)
	}
	b.WriteString("return ")
	for i, v := range out {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text(v, false))
	}
	b.WriteString("\n}\n\n")
	return b.String()
}

func goCompare(pred uint64, a, b string) string {
	switch pred {
	case LT:
		return a + " < " + b
	case GT:
		return a + " > " + b
	case EQ:
		return a + " == " + b
	case UNORD:
		return fmt.Sprintf("%[1]s != %[1]s || %[2]s != %[2]s", a, b)
	case NLT:
		return "!(" + a + " < " + b + ")"
	case NLE:
		return "!(" + a + " <= " + b + ")"
	}
	panic(pred)
}

// A function is what a core computes: names of its results and inputs, and the core.
type function struct {
	name            string
	results, inputs []string
	scalars         []string // inputs that all elements share, after the others
	of              func(p *core, x []val) []val

	// If it is not 0, the loop ends before a group of vectors with an input of a larger magnitude,
	// or NaN, and its result is the number of elements before, or n.
	limit float64

	both bool // the core is for float64, too

	usual bool // the core has a shorter way for normal positive finite numbers

	// If it is not 0, the loop adds sign times the only result to dst, or sign times the product
	// of the result and from.
	sum kind
}

type kind int

const (
	sumOf kind = iota + 1
	sumOfProducts
)

// adding returns the function that adds the result of f with the given name.
func (f function) adding(result string, sum kind) function {
	i := slices.Index(f.results, result)
	of := f.of
	f.of = func(p *core, x []val) []val { return of(p, x)[i : i+1] }
	f.sum = sum
	return f
}

// record returns the core of f, and its results.
func (f function) record(size int, wide, usual bool) (*core, []val) {
	p := &core{size: size, wide: wide, usual: usual}
	x := make([]val, len(f.inputs)+len(f.scalars))
	for i := range x {
		x[i] = p.in(i)
	}
	return p, f.of(p, x)
}

// chains are functions whose steps wait for each other. On NEON a turn takes two vectors of AVX2, so that
// there are four chains.
var chains = []string{"sin", "cos", "tan", "exp", "log", "sigmoid", "tanh", "softplus", "siLU", "atan2", "expm1", "log1p", "erf", "pow", "gELU", "atan2Slopes"}

// loop emits the loop over the elements of arguments with the names of results and inputs.
func (v vec) loop(f function) {
	args := map[string]Register{}
	names := slices.Concat(f.results, f.inputs)
	var sign VecVirtual
	if f.sum != 0 {
		names = append([]string{"dst"}, f.inputs...)
		sign = v.BroadcastArg("sign")
	}
	if f.sum == sumOfProducts {
		names = append(names, "from")
	}
	var scalars []VecVirtual // no step may write to them, as a multiply-add does
	for _, name := range f.scalars {
		scalars = append(scalars, v.BroadcastArg(name))
	}
	for _, name := range names {
		args[name] = Arg(name)
	}
	p, out := f.record(v.Size, v.Wide, false)
	short, shortOut := &core{}, out
	if f.usual && v.Unroll(0, 1, 0) == 1 {
		short, shortOut = f.record(v.Size, v.Wide, true)
	}
	n, done, neon := Arg("n"), Unique("done"), 1
	// On AVX2 a turn takes two vectors if their values fit the registers, and those that are left hold constants.
	const spare = 3
	narrow, room, live := 1, v.Unroll(32, 16, 16)-spare-len(scalars), p.live(out)
	if f.sum != 0 {
		room--
	}
	hold, holdOut := p, out
	if len(short.steps) > 0 {
		live, hold, holdOut = max(short.live(shortOut), (live+1)/2), short, shortOut
	}
	if slices.Contains(chains, f.name) {
		neon = 2
		if 2*live <= room {
			narrow = 2
		}
	}
	var h held
	if n := v.Unroll(room-2*live, room-narrow*live, 0); n > 0 {
		h = v.hold(hold, holdOut, n)
	}
	v.Groups(n, v.Unroll(2, narrow, neon), func(ls []Step) {
		load := func(u, input int) VecVirtual {
			if i := input - len(f.inputs); i >= 0 {
				return scalars[i]
			}
			return ls[u].Load(args[f.inputs[input]])
		}
		if f.limit != 0 {
			v.leave(ls, done, func(l Step, m Op) {
				a := l.Load(args[f.inputs[0]])
				v.abs(a)
				v.Compare(NLE, v.Const(Pick(v, f.limit, f.limit/8)), a, m)
			})
		}
		use := func(ls []Step, results [][]VecVirtual) {
			for i, r := range results {
				for u, l := range ls {
					if f.sum != 0 {
						if f.sum == sumOfProducts {
							v.Mul(l.Load(args["from"]), r[u], r[u])
						}
						t := l.Load(args["dst"])
						v.Fmadd231(r[u], sign, t) // the product by 1 or -1 is exact
						l.Store(t, args["dst"])
						continue
					}
					l.Store(r[u], args[f.results[i]])
				}
			}
		}
		if len(short.steps) == 0 || ls[0].Mask != nil {
			use(ls, v.emit(p, len(ls), load, h, out))
			return
		}
		usual, done := Unique("usual"), Unique("stored")
		v.jumpIfUsual(ls, args[f.inputs[0]], usual)
		for u, l := range ls {
			use([]Step{l}, v.emit(p, 1, func(_, input int) VecVirtual { return load(u, input) }, h, out))
		}
		JMP(LabelRef(done))
		Label(usual)
		use(ls, v.emit(short, len(ls), load, h, shortOut))
		Label(done)
	}, nil)
	if f.limit != 0 {
		MOVQ(n, Result())
		Label(done)
	}
}

// jumpIfUsual jumps if all elements at x are normal, positive and finite float32.
func (v vec) jumpIfUsual(ls []Step, x Register, label string) {
	const toSigned, last = 1<<31 - minNormal32, maxFinite32 - minNormal32 + 1<<31
	any, signs := v.Reg(), GP32()
	for u, l := range ls {
		t := any
		if u > 0 {
			t = v.Reg()
		}
		VMOVUPS(l.At(x), t)
		VPADDD(Entry(U32(toSigned)), t, t)
		VPCMPGTD(Entry(U32(last)), t, t)
		if u > 0 {
			VORPS(t, any, any)
		}
	}
	VMOVMSKPS(any, signs)
	TESTL(signs, signs)
	JZ(LabelRef(label))
}

func (v vec) magnitudeBits() Mem {
	if v.Double() {
		return Bits(sign - 1)
	}
	return Entry(U32(sign>>32 - 1))
}

// goText returns the pure Go function of f for a size.
func (f function) goText(size int) string {

	p, out := f.record(size, false, false)
	name := fmt.Sprint(f.name, 8*size)
	if f.limit != 0 {
		name += "Small"
	}
	return p.goText(name, slices.Concat(f.inputs, f.scalars), out)
}

// goLoop returns the pure Go loop over both types.
func (f function) goLoop() string {
	join := func(format string, names []string) string {
		var s []string
		for _, n := range names {
			s = append(s, fmt.Sprintf(format, n))
		}
		return strings.Join(s, ", ")
	}
	all := append(f.results[:len(f.results):len(f.results)], f.inputs...)
	branch := func(size int) string {
		typ := fmt.Sprint("float", size)
		return fmt.Sprintf("%s := %s%d(%s)\n%s = %s", join("%s1", f.results), f.name, size, join(typ+"(%s[i])", f.inputs),
			join("%s[i]", f.results), join("T(%s1)", f.results))
	}
	return fmt.Sprintf("func generic%s[T cpu.Float](%s []T) {\nfor i := range %s {\nif cpu.Is64[T]() {\n%s\n} else {\n%s\n}\n}\n}\n\n",
		strings.ToUpper(f.name[:1])+f.name[1:], strings.Join(all, ", "), f.results[0], branch(64), branch(32))
}

// goSum returns the pure Go loop that adds a result, or its products, as a function.
func (f function) goSum(a addition, sum kind) string {
	var values, args []string
	for _, r := range f.results {
		if r == a.result {
			r = "v"
		} else {
			r = "_"
		}
		values = append(values, r)
	}
	for _, x := range f.inputs {
		args = append(args, x+"[i]")
	}
	call := func(size int) string {
		typ := fmt.Sprint("float", size)
		var s []string
		for _, x := range append(args, f.scalars...) {
			s = append(s, typ+"("+x+")")
		}
		return fmt.Sprintf("%s := %s%d(%s)\nr = T(v)", strings.Join(values, ", "), f.name, size, strings.Join(s, ", "))
	}
	value := "r"
	if sum == sumOfProducts {
		value = "T(r * from[i])"
	}
	return fmt.Sprintf("func generic%s[T cpu.Float](%s) {\nfor i := range dst {\nvar r T\nif cpu.Is64[T]() {\n%s\n} else {\n%s\n}\ndst[i] += T(sign * %s)\n}\n}\n\n",
		strings.ToUpper(a.name[:1])+a.name[1:]+sum.suffix(), f.sumParameters("[]", sum), call(64), call(32), value)
}

// sumParameters are the parameters of a loop that adds, where of is what a vector is of: a slice or a pointer.
func (f function) sumParameters(of string, sum kind) string {
	vectors := f.inputs
	if sum == sumOfProducts {
		vectors = append(vectors[:len(vectors):len(vectors)], "from")
	}
	return fmt.Sprintf("dst %sT, %s T, %s %sT", of, strings.Join(append([]string{"sign"}, f.scalars...), ", "), strings.Join(vectors, ", "), of)
}

// suffix ends the names of the loops.
func (k kind) suffix() string {
	if k == sumOfProducts {
		return "Product"
	}
	return ""
}

// goSumOfTwo returns the pure Go loop that adds the only result of a function of two numbers.
func (f function) goSumOfTwo(name string) string {
	return fmt.Sprintf("func genericAdd%s[T cpu.Float](dst []T, sign T, x, y []T) {\nfor i := range dst {\n"+
		"if cpu.Is64[T]() {\ndst[i] += T(sign * T(%[2]s64(float64(x[i]), float64(y[i]))))\n} else {\n"+
		"dst[i] += T(sign * T(%[2]s32(float32(x[i]), float32(y[i]))))\n}\n}\n}\n\n", name, f.name)
}
