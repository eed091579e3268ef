package main

import (
	"fmt"
	"go/format"
	"math"
	"os"
	"slices"
	"strings"

	. "revnum/internal/simd/_gen/asm"
	"revnum/internal/simd/vec/internal/coef"
)

// The functions below are over float32, unless they say otherwise. The comments of coef, and those
// of generic.go on the functions over float64, explain them.

// An exponent is exp(x) = 2ⁿ·(hi + rest) with hi = 2^(j/8), for n a multiple of 1/8 near x/ln2, over
// both types. Over float32, rest is hi·q.
type exponent struct {
	p              *core
	hi, rest, n, t val
	q              val
}

// notLow and notHigh return x, or a number whose exponential is also 0 or infinite. NaN stays.
func (p *core) notLow(x val) val {
	if p.wide {
		return x
	}
	return p.max(p.num(pick(p, -750., -105)), x)
}

func (p *core) notHigh(x val) val {
	if p.wide {
		return x
	}
	return p.min(p.num(pick(p, 710., 90)), x)
}

// exponent returns exp(x - Σ less) for small numbers less. x is neither low nor high, or a little.
func (p *core) exponent(x val, less ...val) exponent {
	magic := p.num(pick(p, 0x1.8p49+2*1023, 0x1.8p20+2*127)) // its unit is 1/8
	t := p.fma(x, p.num(coef.Log2e), magic)
	n := p.sub(t, magic)
	r := p.fnma(n, p.num(pick(p, coef.Ln2, coef.Ln2F)), x)
	r = p.fnma(n, p.num(pick(p, coef.Ln2Lo, coef.Ln2LoF)), r)
	for _, l := range less {
		r = p.sub(r, l)
	}
	if p.wide { // VSCALEF is right for all n, if only the other factor is finite
		r = p.step("bound", 0, r, p.num(0.5))
	}
	if p.size == 8 {
		q := &coef.Exp64
		r2 := p.mul(r, r)
		even, odd := p.poly([]float64{q[0], q[2], q[4]}, r2), p.poly([]float64{q[1], q[3], q[5]}, r2)
		var hi, lo []uint64
		for _, e := range coef.Eighths64 {
			hi, lo = append(hi, math.Float64bits(e[0])), append(lo, math.Float64bits(e[1]))
		}
		h := p.look(hi, t)
		return exponent{p: p, hi: h, rest: p.fma(h, p.fma(p.fma(odd, r, even), r2, r), p.look(lo, t)), n: n, t: t}
	}
	q := p.fma(p.poly(coef.Exp32[:], r), p.mul(r, r), p.add(r, p.look(coef.Eighths32Lo[:], t)))
	return exponent{p: p, hi: p.look(coef.Eighths32[:], t), q: q, n: n, t: t}
}

// scale returns a·2ⁿ for the integer part of n. A subnormal result is rounded once.
func (e exponent) scale(a val) val {
	p := e.p
	if p.wide {
		return p.step("scalef", 0, a, e.n)
	}
	half, rest := e.halves()
	return p.mul(p.mul(a, half), rest)
}

// halves returns two powers of two with the product 2ⁿ, which need not be a normal number.
func (e exponent) halves() (half, rest val) {
	p, mantissa := e.p, pick(e.p, uint64(52), 23)
	sum := p.shr(e.t, 3) // n and twice the bias
	h := p.shr(sum, 1)
	return p.shl(h, mantissa), p.shl(p.isub(sum, h), mantissa)
}

func (p *core) exp(x val, less ...val) val {
	return p.exponent(p.notLow(p.notHigh(x)), less...).value()
}

func (e exponent) value() val {
	p := e.p
	switch {
	case p.size == 8:
		return e.scale(p.add(e.hi, e.rest))
	case p.wide:
		return e.scale(p.fma(e.hi, e.q, e.hi))
	}
	hi, rest := e.upper()
	return p.mul(p.fma(hi, e.q, hi), rest)
}

// power returns hi·2ⁿ over float32.
func (e exponent) power() val {
	if e.p.wide {
		return e.scale(e.hi)
	}
	hi, rest := e.upper()
	return e.p.mul(hi, rest)
}

// upper returns the product of hi and one half of 2ⁿ, a normal number whose exponents are added, and the
// other half, over float32.
func (e exponent) upper() (hi, rest val) {
	p := e.p
	half, rest := e.halves()
	var table []uint64
	for _, b := range coef.Eighths32 {
		table = append(table, (b-127<<23)&math.MaxUint32)
	}
	return p.iadd(p.look(table, e.t), half), rest
}

// expm1 returns exp(x) - 1 and exp(x), over both types. The difference 2ⁿ·hi - 1 is exact where digits
// cancel. From exp 64 on, 1 makes no difference.
func (p *core) expm1(x val) (y, d val) {
	e, one := p.exponent(p.notLow(p.notHigh(x))), p.num(1)
	d = e.value()
	if p.size == 8 {
		power := e.scale(one)
		y = p.fma(power, e.rest, p.fms(power, e.hi, one))
	} else {
		s := e.power()
		y = p.fma(s, e.q, p.sub(s, one))
	}
	return p.withSign(p.blend(p.cmp(GT, x, p.num(64)), d, y), x), d
}

// log1p returns log(1 + x) and 1/(1 + x), over both types. The sum u of 1 and x lacks c. With u = 2ᵏ·(1 +
// f), c·2⁻ᵏ is added to f, and what this sum lacks to the small terms of the logarithm.
func (p *core) log1p(x val) (y, d val) {
	one := p.num(1)
	u := p.add(x, one)
	v := p.sub(u, one)
	c := p.add(p.sub(one, p.sub(u, v)), p.sub(x, v))
	mantissa := pick(p, uint64(1<<52-1), 1<<23-1)
	from := pick(p, uint64(sqrtHalf), 0x3f400000) // bits of √½ or 3/4
	b := p.isub(u, p.word(from))
	m := p.iadd(p.and(b, p.word(mantissa)), p.word(from))
	inverse := p.isub(one, p.and(b, p.word(pick(p, ^mantissa, ^mantissa&0xffffffff)))) // 2⁻ᵏ, but wrong if u is too large for c
	f0 := p.sub(m, one)
	c = p.mul(c, p.max(inverse, p.num(0)))
	f := p.add(f0, c)
	c = p.add(p.sub(f0, f), c)
	if p.size == 8 {
		k := p.sub(p.or(p.shr(p.isub(u, p.word(logOffset)), 52), p.word(two52)), p.num(0x1p52+2048))
		s := p.div(f, p.add(f, p.num(2)))
		z, a := p.mul(s, s), &coef.Log64
		w := p.mul(z, z)
		even, odd := p.poly([]float64{a[0], a[2], a[4], a[6]}, w), p.poly([]float64{a[1], a[3], a[5]}, w)
		half := p.mul(f, p.num(0.5))
		h := p.mul(half, f)
		g := p.fma(z, p.fma(odd, z, even), h)
		kLn2 := p.mul(k, p.num(coef.Ln2Hi42))
		hi := p.add(kLn2, f)
		lo := p.fma(k, p.num(coef.Ln2Lo42), p.sub(f, p.sub(hi, kLn2)))
		lo = p.add(p.sub(lo, p.fms(half, f, h)), c)
		y = p.add(hi, p.sub(p.fma(s, g, lo), h))
	} else {
		k := p.step("cvt", 0, p.step("sar", 23, b))
		z := p.mul(f, f)
		g := p.fma(p.fma(p.poly(coef.Log32P[:], f), f, p.num(-0.5)), z, p.mul(k, p.num(coef.Ln2LoF)))
		hi := p.fma(k, p.num(coef.Ln2F), f)
		lo := p.sub(f, p.fnma(k, p.num(coef.Ln2F), hi))
		y = p.add(hi, p.add(g, p.add(lo, c)))
	}
	return p.logSpecial(u, p.withSign(y, x)), p.div(one, u)
}

// erf returns erf(x) and 2/√π·exp(-x²), over both types. Near 0, erf(x) is x + x·Erf(x²), and
// elsewhere 1 - exp(-x²)·Erfcx(x), which is 1 from 6 or 4 on. The squared x lacks low.
func (p *core) erf(x val) (y, d val) {
	const near = 1
	u := p.min(p.num(pick(p, 27.5, 10.25)), p.abs(x)) // from there on exp(-x²) is 0
	h := p.mul(u, u)
	e := p.exponent(p.neg(h), p.fms(u, u, h)).value()
	t := p.sub(p.min(p.num(pick(p, 6., 4)), u), p.num(pick(p, 3.5, 2.5)))
	tail := p.mul(p.evenOdd(pick(p, coef.Erfcx64[:], coef.Erfcx32[:]), t), e)
	centre := p.fma(u, p.evenOdd(pick(p, coef.Erf64[:], coef.Erf32[:]), h), u)
	y = p.blend(p.cmp(LT, u, p.num(near)), centre, p.sub(p.num(1), tail))
	return p.withSign(y, x), p.mul(e, p.num(coef.TwoOverRoot))
}

// evenOdd returns a₀ + a₁·x + ... as two chains in x².
func (p *core) evenOdd(a []float64, x val) val {
	var half [2][]float64
	for i, a := range a {
		half[i%2] = append(half[i%2], a)
	}
	x2 := p.mul(x, x)
	return p.fma(p.poly(half[1], x2), x, p.poly(half[0], x2))
}

// log takes x = 2ᵏ·(1 + f), f in [-1/4, 1/2), and adds to k·ln2 + f what f exceeds log(1 + f) by.
func (p *core) log(x val) val {
	const from, mantissa, subnormal = 0x3f400000, 1<<23 - 1, 0x1p-126 // bits of 3/4
	var k, m val
	reduce := func(x val) {
		b := p.isub(x, p.word(from))
		m = p.iadd(p.and(b, p.word(mantissa)), p.word(from))
		k = p.step("cvt", 0, p.step("sar", 23, b))
	}
	switch {
	case p.wide:
		m = p.step("getmant", 0xb, x) // in [3/4, 3/2), or NaN if x is negative
		k = p.sub(p.step("getexp", 0, x), p.step("getexp", 0, m))
	case p.usual:
		reduce(x)
	default:
		small := p.cmp(LT, x, p.num(subnormal))
		reduce(p.blend(small, p.mul(x, p.num(0x1p24)), x))
		k = p.sub(k, p.blend(small, p.num(24), p.num(0)))
	}
	f := p.sub(m, p.num(1))
	z := p.mul(f, f)
	g := p.fma(p.fma(p.poly(coef.Log32P[:], f), f, p.num(-0.5)), z, p.mul(k, p.num(coef.Ln2LoF)))
	hi := p.fma(k, p.num(coef.Ln2F), f)
	lo := p.sub(f, p.fnma(k, p.num(coef.Ln2F), hi)) // what hi lacks
	y := p.add(hi, p.add(g, lo))
	return p.logSpecial(x, y)
}

// logSpecial returns y, or log(x) where that is no finite number.
func (p *core) logSpecial(x, y val) val {
	switch {
	case p.usual:
		return y
	case p.wide:
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
	var y val
	t, r, z := p.turns(x, quadrants)
	if p.wide {
		y = p.sinOrCos(t, r, z)
	} else {
		s, c := p.sinAndCos(r, z)
		y = p.blend(p.step("odd", 0, t), c, s)
	}
	return p.xor(y, p.and(p.shl(t, uint64(8*p.size-2)), p.word(p.signBit())))
}

// sinOrCos returns cos r where t is odd, and sin r elsewhere, with the bits of sinAndCos, by one polynomial
// whose coefficients come from tables.
func (p *core) sinOrCos(t, r, z val) val {
	sin, cos := pick(p, coef.Sin[:], coef.Sin32[:]), pick(p, coef.Cos[:], coef.Cos32[:])
	coefficient := func(i int) val {
		var rows []uint64
		for j := range 8 {
			rows = append(rows, p.steps[p.num([2]float64{sin[i], cos[i]}[j%2])].bits)
		}
		return p.look(rows, t)
	}
	y := coefficient(len(sin) - 1)
	for i := len(sin) - 2; i >= 0; i-- {
		y = p.fma(y, z, coefficient(i))
	}
	odd := p.step("odd", 0, t)
	y = p.blend(odd, p.fma(y, z, p.num(-0.5)), y)
	return p.fma(y, p.blend(odd, z, p.mul(r, z)), p.blend(odd, p.num(1), r))
}

// tan returns tan(x), which is s/c or -c/s, and 1 + tan²(x), over both types.
func (p *core) tan(x val) (y, d val) {
	t, r, z := p.turns(x, 0)
	s, c := p.sinAndCos(r, z)
	odd := p.step("odd", 0, t)
	y = p.div(p.blend(odd, c, s), p.blend(odd, s, c))
	y = p.xor(y, p.shl(t, uint64(8*p.size-1)))
	return y, p.fma(y, y, p.num(1))
}

// turns returns t, whose lowest bits are those of k + quadrants, and r and its square.
func (p *core) turns(x val, quadrants float64) (t, r, z val) {
	magic := p.num(pick(p, 0x1.8p52, 0x1.8p23) + quadrants)
	t = p.fma(x, p.num(coef.TwoOverPi), magic)
	k := p.sub(t, magic)
	r = x
	for _, part := range pick(p, coef.HalfPi64[:], coef.HalfPi32[:]) {
		r = p.fnma(k, p.num(part), r)
	}
	return t, r, p.mul(r, r)
}

// sinAndCos returns the sine and cosine of r, given its square.
func (p *core) sinAndCos(r, z val) (s, c val) {
	s = p.fma(p.poly(pick(p, coef.Sin[:], coef.Sin32[:]), z), p.mul(r, z), r)
	c = p.fma(p.fma(p.poly(pick(p, coef.Cos[:], coef.Cos32[:]), z), z, p.num(-0.5)), z, p.num(1))
	return s, c
}

// halves returns e = exp(-|x|), small = e/(1 + e) and large = 1 - small. The remainder
// e - small·(1 + e) = (e - small) - small·e corrects the quotient. Its difference is exact.
func (p *core) halves(x val) (e, small, large val) {
	e = p.exponent(p.notLow(p.or(x, p.word(p.signBit())))).value()
	r := p.div(p.num(1), p.add(e, p.num(1)))
	small = p.mul(e, r)
	small = p.fma(p.fnma(small, e, p.sub(e, small)), r, small)
	return e, small, p.sub(p.num(1), small)
}

// bySign returns neg if the sign of x is set, and pos otherwise.
func (p *core) bySign(x, neg, pos val) val { return p.blend(p.step("negative", 0, x), neg, pos) }

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
	e := p.exponent(p.notLow(p.mul(p.abs(x), p.num(-2))))
	s := e.power()
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

// gELU takes exp(-u²/2) as 2ⁿ·exp(-r/2), where the products in r = u² + n·2·ln2 are exact but for a small one. The
// polynomial is one of eight.
func (p *core) gELU(x val) (y, d val) {
	const (
		bound = 14.5       // from which Φ(-u) is 0
		ln2   = 0x1.62ep-1 // 13 bits of log 2
	)
	u, magic := p.min(p.num(bound), p.abs(x)), p.num(0x1.8p20+2*127) // as that of exponent
	t := p.fma(p.mul(u, p.num(-0.5*coef.Log2e)), u, magic)
	n := p.sub(t, magic)
	r := p.fma(u, u, p.mul(n, p.num(2*ln2)))
	r = p.fma(n, p.num(2*(coef.Ln2-ln2)), r)
	c := &coef.Exp32
	q := p.fma(p.poly([]float64{-0.5, c[0] / 4, c[1] / -8, c[2] / 16}, r), r, p.look(coef.Eighths32Lo[:], t))
	e := exponent{p: p, hi: p.look(coef.Eighths32[:], t), q: q, n: n, t: t}.value()
	at := p.add(u, p.num(5)) // rounded: just below 1, u is in the part from 1 on
	part := p.shr(at, 21)
	look := func(a [8]float64) val {
		var rows []uint64
		for _, x := range a {
			rows = append(rows, uint64(math.Float32bits(float32(x))))
		}
		return p.look(rows, part)
	}
	from, last := p.sub(u, look(coef.NormalAt32)), len(coef.Normal32)-1
	tail := look(coef.Normal32[last])
	for i := last - 1; i >= 0; i-- {
		tail = p.fma(tail, from, look(coef.Normal32[i]))
	}
	tail = p.mul(tail, p.blend(p.cmp(LT, at, p.num(1+5)), p.num(1), e))
	cdf := p.bySign(x, tail, p.sub(p.num(1), tail))
	return p.product(x, cdf, bound, p.mul(e, p.num(coef.InvSqrt2Pi)))
}

// scaled returns a and b times 2⁻ᵏ, and 2ᵏ, which is the power of two in the larger magnitude, or near
// it where that or 2⁻ᵏ has no normal number. No square of them overflows, and none underflows but beside
// a much larger one.
func (p *core) scaled(a, b val) (x, y, power val) {
	most := pick(p, 0x1p1022, 0x1p126)
	m := p.max(p.num(1/most), p.min(p.num(most), p.max(p.abs(a), p.abs(b))))
	power = p.and(m, p.word(pick[uint64](p, 0x7ff<<52, 0xff<<23)))
	inverse := p.isub(p.word(pick[uint64](p, 2046<<52, 254<<23)), power)
	return p.mul(a, inverse), p.mul(b, inverse), power
}

// isInf returns where a is infinite.
func (p *core) isInf(a val) val { return p.cmp(EQ, p.abs(a), p.num(math.Inf(1))) }

// hypot returns √(a² + b²), which is +Inf where a or b is infinite, even if the other is NaN.
func (p *core) hypot(a, b val) val {
	x, y, power := p.scaled(a, b)
	r := p.mul(p.step("sqrt", 0, p.fma(x, x, p.mul(y, y))), power)
	r = p.blend(p.isInf(b), p.num(math.Inf(1)), r)
	return p.blend(p.isInf(a), p.num(math.Inf(1)), r)
}

// direction returns a/r and b/r with r = √(a² + b²), and zeros where r is 0. An infinite number is
// to a finite one as 1 is to 0.
func (p *core) direction(a, b val) (u, v val) {
	x, y, _ := p.scaled(a, b)
	x, y = p.finite(a, b, x), p.finite(b, a, y)
	s := p.fma(x, x, p.mul(y, y))
	t := p.blend(p.cmp(EQ, s, p.num(0)), p.num(0), p.div(p.num(1), p.step("sqrt", 0, s)))
	return p.mul(x, t), p.mul(y, t)
}

// finite returns x, or ±1 where a is infinite, or ±0 where only b is. That of a NaN is NaN.
func (p *core) finite(a, b, x val) val {
	x = p.blend(p.isInf(b), p.mul(a, p.num(0)), x)
	return p.blend(p.isInf(a), p.withSign(p.num(1), a), x)
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

func tangent() function {
	f := pair("tan", (*core).tan)
	f.limit = most
	return f.overBoth()
}

// overBoth returns f, whose core is for float64, too.
func (f function) overBoth() function {
	f.both = true
	return f
}

// shortly returns f, whose core has a shorter way for usual numbers.
func (f function) shortly() function {
	f.usual = true
	return f
}

var functions = []function{
	one("exp", func(p *core, x val) val { return p.exp(x) }), one("log", (*core).log).shortly(),
	angle("sin", 0), angle("cos", 1),
	pair("sigmoid", (*core).sigmoid), pair("tanh", (*core).tanh), pair("softplus", (*core).softplus),
	pair("gELU", (*core).gELU), pair("siLU", (*core).siLU),
	tangent(), pair("expm1", (*core).expm1).overBoth(), pair("log1p", (*core).log1p).overBoth(), pair("erf", (*core).erf).overBoth(),
	function{name: "hypot", results: []string{"dst"}, inputs: []string{"x", "y"}, of: func(p *core, x []val) []val {
		return []val{p.hypot(x[0], x[1])}
	}}.overBoth(),
	function{name: "direction", results: []string{"u", "v"}, inputs: []string{"x", "y"}, of: func(p *core, x []val) []val {
		u, v := p.direction(x[0], x[1])
		return []val{u, v}
	}}.overBoth(),
}

// An addition is a loop Add… or Add…Product of the result of a function.
type addition struct {
	name, of, result, doc string
	kinds                 []kind
}

var (
	both = []kind{sumOf, sumOfProducts}
	sums = []kind{sumOf}
)

var additions = []addition{
	{"addExp", "exp", "dst", "exp(x_i)", both}, {"addLog", "log", "dst", "log(x_i)", both},
	{"addSin", "sin", "dst", "sin(x_i)", both}, {"addCos", "cos", "dst", "cos(x_i)", both},
	{"addSqrt", "sqrt", "dst", "√x_i", both}, {"addRecip", "recip", "dst", "(1/x_i)", both},
	{"addAbs", "abs", "dst", "|x_i|", sums}, {"addSign", "sign", "dst", "sign(x_i)", both},
	{"addTan", "tan", "y", "tan(x_i)", sums}, {"addExpm1", "expm1", "y", "(exp(x_i) - 1)", sums},
	{"addLog1p", "log1p", "y", "log(1 + x_i)", sums}, {"addErf", "erf", "y", "erf(x_i)", sums},
	{"addSigmoid", "sigmoid", "y", "σ(x_i)", sums}, {"addTanh", "tanh", "y", "tanh(x_i)", sums},
	{"addSoftplus", "softplus", "y", "log(1 + exp(x_i))", sums}, {"addGELU", "gELU", "y", "x_i·Φ(x_i)", sums},
	{"addSiLU", "siLU", "y", "x_i·σ(x_i)", sums},
	{"addMax", "max", "dst", "max(x_i, y_i), which is NaN if either is,", sums}, {"addMin", "min", "dst", "min(x_i, y_i), which is NaN if either is,", sums},
	{"addGreater", "greater", "dst", "from_i where x_i > y_i or either is NaN, and half of\nit where they are equal,", sums},
	{"addClip", "clip", "dst", "min(max(x_i, lo), hi), which is NaN if x_i is,", sums},
	{"addWithin", "within", "dst", "from_i where x_i is in [lo, hi] or NaN,", sums},
	{"addWhere", "where", "dst", "x_i where cond_i is positive or NaN, and y_i\nelsewhere,", sums},
}

// selections are functions over both types that choose one of their inputs. Only additions use them.
var selections = []function{
	selection("max", []string{"x", "y"}, nil, func(p *core, x []val) val { return p.orNaN(x[0], p.max(x[0], x[1])) }),
	selection("min", []string{"x", "y"}, nil, func(p *core, x []val) val { return p.orNaN(x[0], p.min(x[0], x[1])) }),
	selection("greater", []string{"x", "y", "from"}, nil, func(p *core, x []val) val {
		equal := p.blend(p.cmp(EQ, x[0], x[1]), p.mul(x[2], p.num(0.5)), x[2])
		return p.blend(p.cmp(LT, x[0], x[1]), p.num(0), equal)
	}),
	selection("clip", []string{"x"}, []string{"lo", "hi"}, func(p *core, x []val) val { return p.min(x[2], p.max(x[1], x[0])) }),
	selection("within", []string{"x", "from"}, []string{"lo", "hi"}, func(p *core, x []val) val {
		below := p.blend(p.cmp(LT, x[0], x[2]), p.num(0), x[1])
		return p.blend(p.cmp(GT, x[0], x[3]), p.num(0), below)
	}),
	selection("where", []string{"cond", "x", "y"}, nil, func(p *core, x []val) val {
		return p.blend(p.cmp(NLE, x[0], p.num(0)), x[1], x[2])
	}),
}

func selection(name string, inputs, scalars []string, f func(p *core, x []val) val) function {
	return function{name: name, results: []string{"dst"}, inputs: inputs, scalars: scalars, both: true,
		of: func(p *core, x []val) []val { return []val{f(p, x)} }}
}

// orNaN returns y, or x if that is NaN.
func (p *core) orNaN(x, y val) val { return p.blend(p.cmp(EQ, x, x), y, x) }

func lanes(name string) function {
	for _, f := range simple {
		if f.name == name {
			return f.overBoth()
		}
	}
	all := slices.Concat(functions, selections)
	return all[slices.IndexFunc(all, func(f function) bool { return f.name == name })]
}

// writeGeneric writes the pure Go of the functions.
func writeGeneric() {
	var b strings.Builder
	b.WriteString("// Code generated by ./_gen. DO NOT EDIT.\n\npackage vec\n\nimport (\n\"math\"\n\n\"revnum/internal/simd/cpu\"\n)\n\n")
	all := slices.Clone(functions)
	for _, f := range simple {
		all = append(all, f.overBoth())
	}
	for _, f := range append(all, selections...) {
		if i := slices.IndexFunc(selections, func(s function) bool { return s.name == f.name }); i < 0 {
			b.WriteString(f.goLoop())
		}
		for _, a := range additions {
			for _, kind := range a.kinds {
				if a.of == f.name {
					b.WriteString(f.goSum(a, kind))
				}
			}
		}
		b.WriteString(f.goText(4))
		if f.both {
			b.WriteString(f.goText(8))
		}
	}
	for _, f := range binary {
		b.WriteString(f.goLoop())
		if len(f.results) == 1 {
			b.WriteString(f.goSumOfTwo(upper(f.name)))
		}
		b.WriteString(f.goText(4) + f.goText(8))
	}
	out, err := format.Source([]byte(b.String()))
	if err != nil {
		panic(fmt.Sprint(err, b.String()))
	}
	if err := os.WriteFile("zgeneric.go", out, 0o666); err != nil {
		panic(err)
	}
}
