package main

import (
	"fmt"
	"go/format"
	"math"
	"os"
	"slices"
	"strings"

	. "revnum/internal/simd/asm"
	"revnum/internal/simd/vec/internal/coef"
)

// The functions below are over float32, unless they say otherwise. The comments of coef, and those
// of generic.go on the functions over float64, explain them.

// An exponent is exp(x) = 2ⁿ·(hi + hi·q) with hi = 2^(j/8), for n a multiple of 1/8 near x/ln2.
type exponent struct {
	p           *core
	hi, q, n, t val
}

// exponent returns exp(x - Σ less) for small numbers less.
func (p *core) exponent(x val, less ...val) exponent {
	const magic = 0x1.8p20 + 2*127 // its unit is 1/8
	if !p.wide {
		x = p.max(p.num(-105), p.min(p.num(90), x)) // NaN stays
	}
	t := p.fma(x, p.num(coef.Log2e), p.num(magic))
	n := p.sub(t, p.num(magic))
	r := p.fnma(n, p.num(coef.Ln2F), x)
	r = p.fnma(n, p.num(coef.Ln2LoF), r)
	for _, l := range less {
		r = p.sub(r, l)
	}
	if p.wide { // VSCALEF is right for all n, if only the other factor is finite
		r = p.step("bound", 0, r, p.num(0.5))
	}
	q := p.fma(p.poly(coef.Exp32[:], r), p.mul(r, r), p.add(r, p.look(coef.Eighths32Lo[:], t)))
	return exponent{p, p.look(coef.Eighths32[:], t), q, n, t}
}

// scale returns a·2ⁿ for the integer part of n. A subnormal result is rounded once.
func (e exponent) scale(a val) val {
	p := e.p
	if p.wide {
		return p.step("scalef", 0, a, e.n)
	}
	sum := p.shr(e.t, 3) // n + 2·127, which is split because 2ⁿ need not be a normal number
	half := p.shr(sum, 1)
	return p.mul(p.mul(a, p.shl(half, 23)), p.shl(p.isub(sum, half), 23))
}

func (p *core) exp(x val, less ...val) val {
	e := p.exponent(x, less...)
	return e.scale(p.fma(e.hi, e.q, e.hi))
}

// log takes x = 2ᵏ·(1 + f), f in [-1/4, 1/2), and adds to k·ln2 + f what f exceeds log(1 + f) by.
func (p *core) log(x val) val {
	const from, mantissa, subnormal = 0x3f400000, 1<<23 - 1, 0x1p-126 // bits of 3/4
	var k, m val
	if p.wide {
		m = p.step("getmant", 0xb, x) // in [3/4, 3/2), or NaN if x is negative
		k = p.sub(p.step("getexp", 0, x), p.step("getexp", 0, m))
	} else {
		small := p.cmp(LT, x, p.num(subnormal))
		b := p.isub(p.blend(small, p.mul(x, p.num(0x1p24)), x), p.word(from))
		m = p.iadd(p.and(b, p.word(mantissa)), p.word(from))
		k = p.sub(p.step("cvt", 0, p.step("sar", 23, b)), p.blend(small, p.num(24), p.num(0)))
	}
	f := p.sub(m, p.num(1))
	z := p.mul(f, f)
	g := p.fma(p.fma(p.poly(coef.Log32P[:], f), f, p.num(-0.5)), z, p.mul(k, p.num(coef.Ln2LoF)))
	hi := p.fma(k, p.num(coef.Ln2F), f)
	lo := p.sub(f, p.fnma(k, p.num(coef.Ln2F), hi)) // what hi lacks
	y := p.add(hi, p.add(g, lo))
	if p.wide {
		return p.step("fixup", 0x03530422, x, y)
	}
	y = p.blend(p.cmp(NLT, x, p.num(math.Inf(1))), x, y)
	y = p.blend(p.cmp(EQ, x, p.num(0)), p.num(math.Inf(-1)), y)
	return p.blend(p.cmp(LT, x, p.num(0)), p.num(math.NaN()), y)
}

// sin returns the sine of x + quadrants·π/2, over both types. With the integer k nearest to
// x·2/π and r = x - k·π/2, that is ±sin r or ±cos r. Bit 0 of k + quadrants says which, and bit 1
// is the sign.
func (p *core) sin(x val, quadrants float64) val {
	magic := p.num(pick(p, 0x1.8p52, 0x1.8p23) + quadrants)
	t := p.fma(x, p.num(coef.TwoOverPi), magic) // its lowest bits are those of k + quadrants
	k, r := p.sub(t, magic), x
	for _, part := range pick(p, coef.HalfPi64[:], coef.HalfPi32[:]) {
		r = p.fnma(k, p.num(part), r)
	}
	z := p.mul(r, r)
	s := p.fma(p.poly(pick(p, coef.Sin[:], coef.Sin32[:]), z), p.mul(r, z), r)
	c := p.fma(p.fma(p.poly(pick(p, coef.Cos[:], coef.Cos32[:]), z), z, p.num(-0.5)), z, p.num(1))
	y := p.blend(p.step("odd", 0, t), c, s)
	return p.xor(y, p.and(p.shl(t, uint64(8*p.size-2)), p.word(p.signBit())))
}

// halves returns e = exp(-|x|), small = e/(1 + e) and large = 1 - small. The remainder
// e - small·(1 + e) = (e - small) - small·e corrects the quotient. Its difference is exact.
func (p *core) halves(x val) (e, small, large val) {
	e = p.exp(p.or(x, p.word(p.signBit())))
	r := p.div(p.num(1), p.add(e, p.num(1)))
	small = p.mul(e, r)
	small = p.fma(p.fnma(small, e, p.sub(e, small)), r, small)
	return e, small, p.sub(p.num(1), small)
}

// bySign returns neg if x is negative, and pos otherwise.
func (p *core) bySign(x, neg, pos val) val { return p.blend(p.cmp(LT, x, p.num(0)), neg, pos) }

func (p *core) sigmoid(x val) (y, d val) {
	_, small, large := p.halves(x)
	return p.bySign(x, small, large), p.mul(small, large)
}

func (p *core) siLU(x val) (y, d val) {
	s, d := p.sigmoid(x)
	return p.product(x, s, coef.SiLUBound, d)
}

// product returns max(x, -bound)·s and x·d + s, with x no larger than bound.
func (p *core) product(x, s val, bound float64, d val) (y, slope val) {
	return p.mul(p.max(p.num(-bound), x), s), p.fma(d, p.min(p.num(bound), p.max(p.num(-bound), x)), s)
}

// tanh returns tanh m = (1 - e)/(1 + e) and e·(1 + tanh m)², m = |x|, e = exp(-2m) = S + S·q. The
// difference 1 - e = (1 - S) - S·q has all its digits.
func (p *core) tanh(x val) (y, d val) {
	e := p.exponent(p.mul(p.abs(x), p.num(-2)))
	s := e.scale(e.hi)
	power := p.fma(s, e.q, s)
	y = p.div(p.fnma(s, e.q, p.sub(p.num(1), s)), p.add(power, p.num(1)))
	c := p.add(y, p.num(1))
	return p.withSign(y, x), p.mul(p.mul(power, c), c)
}

// softplus returns max(x, 0) + log(1 + e) and σ(x).
func (p *core) softplus(x val) (y, d val) {
	e, small, large := p.halves(x)
	log := p.fma(p.poly(coef.Log1p32[:], e), p.mul(e, e), e)
	return p.add(log, p.max(x, p.num(0))), p.bySign(x, small, large)
}

// gELU takes exp(-u²/2) from u² = h + 2·low. Near 0, where Φ(-u) by Mills' ratio would lose digits,
// Φ(x) is 1/2 + x·Normal32(x²).
func (p *core) gELU(x val) (y, d val) {
	const (
		bound = 14.5 // from which Φ(-u) is 0
		near  = 0.7
	)
	u := p.min(p.num(bound), p.abs(x))
	h := p.mul(u, u)
	low := p.mul(p.fms(u, u, h), p.num(0.5))
	e := p.exp(p.mul(h, p.num(-0.5)), low)
	r := p.div(p.num(1), p.add(u, p.num(coef.MillsCenter)))
	t := p.mul(p.sub(u, p.num(coef.MillsCenter)), r)
	tail := p.mul(p.mul(p.poly(coef.Mills32[:], t), r), e)
	centre := p.fma(x, p.poly(coef.Normal32[:], h), p.num(0.5))
	cdf := p.blend(p.cmp(LT, u, p.num(near)), centre, p.bySign(x, tail, p.sub(p.num(1), tail)))
	return p.product(x, cdf, bound, p.mul(e, p.num(coef.InvSqrt2Pi)))
}

// Functions over both types, of a step or two.
var simple = []struct {
	function
	doc string
}{
	{one("sqrt", func(p *core, x val) val { return p.step("sqrt", 0, x) }), "computes dst_i = √x_i."},
	{one("abs", (*core).abs), "computes dst_i = |x_i|."},
	{one("sign", func(p *core, x val) val {
		return p.blend(p.cmp(GT, p.abs(x), p.num(0)), p.withSign(p.num(1), x), x)
	}), "computes dst_i = sign(x_i), which is x_i if that is 0 or NaN."},
	{one("recip", func(p *core, x val) val { return p.div(p.num(1), x) }), "computes dst_i = 1/x_i."},
}

// one and pair make functions of a core.
func one(name string, f func(p *core, x val) val) function {
	return function{name: name, results: []string{"dst"}, inputs: []string{"x"}, of: func(p *core, x []val) []val { return []val{f(p, x[0])} }}
}

func pair(name string, f func(p *core, x val) (y, d val)) function {
	return function{name: name, results: []string{"y", "d"}, inputs: []string{"x"}, of: func(p *core, x []val) []val {
		y, d := f(p, x[0])
		return []val{y, d}
	}}
}

// angle returns the function sin(x + quadrants·π/2).
func angle(name string, quadrants float64) function {
	a := one(name, func(p *core, x val) val { return p.sin(x, quadrants) })
	a.limit = most
	return a.overBoth()
}

// overBoth returns f, whose core is for float64, too.
func (f function) overBoth() function {
	f.both = true
	return f
}

var functions = []function{
	one("exp", func(p *core, x val) val { return p.exp(x) }), one("log", (*core).log),
	angle("sin", 0), angle("cos", 1),
	pair("sigmoid", (*core).sigmoid), pair("tanh", (*core).tanh), pair("softplus", (*core).softplus),
	pair("gELU", (*core).gELU), pair("siLU", (*core).siLU),
}

// additions are the functions that Add… and Add…Product are written for.
var additions = []struct{ name, of, result, doc string }{
	{"addExp", "exp", "dst", "exp(x_i)"}, {"addLog", "log", "dst", "log(x_i)"},
	{"addSin", "sin", "dst", "sin(x_i)"}, {"addCos", "cos", "dst", "cos(x_i)"},
	{"addSqrt", "sqrt", "dst", "√x_i"}, {"addRecip", "recip", "dst", "(1/x_i)"},
	{"addAbs", "abs", "dst", "|x_i|"}, {"addSign", "sign", "dst", "sign(x_i)"},
}

func lanes(name string) function {
	for _, f := range simple {
		if f.name == name {
			return f.overBoth()
		}
	}
	return functions[slices.IndexFunc(functions, func(f function) bool { return f.name == name })]
}

// writeGeneric writes the pure Go of the functions.
func writeGeneric() {
	var b strings.Builder
	b.WriteString("// Code generated by ./_gen. DO NOT EDIT.\n\npackage vec\n\nimport (\n\"math\"\n\n\"revnum/internal/simd/cpu\"\n)\n\n")
	all := slices.Clone(functions)
	for _, f := range simple {
		all = append(all, f.overBoth())
	}
	for _, f := range all {
		b.WriteString(f.goLoop())
		for _, a := range additions {
			if a.of == f.name {
				b.WriteString(f.goSums(strings.ToUpper(a.name[:1])+a.name[1:], a.result))
			}
		}
		b.WriteString(f.goText(4))
		if f.both {
			b.WriteString(f.goText(8))
		}
	}
	out, err := format.Source([]byte(b.String()))
	if err != nil {
		panic(fmt.Sprint(err, b.String()))
	}
	if err := os.WriteFile("zgeneric.go", out, 0o666); err != nil {
		panic(err)
	}
}
