package main

import (
	"math"
	"strings"

	. "revnum/internal/simd/_gen/asm"
	"revnum/internal/simd/vec/internal/coef"
)

// The functions of two numbers, and their derivatives, over both types.

// scale returns max(|x|, |y|) and the power of two s for which 2 <= s·max(|x|, |y|) < 4. It is 0 if
// either is infinite, and the largest power if both are subnormal.
func (p *core) scale(x, y val) (s, largest val) {
	exponents, most := pick[uint64](p, 0x7ff<<52, 0xff<<23), pick(p, 0x1p1023, 0x1p127)
	largest = p.max(p.abs(x), p.abs(y))
	return p.min(p.num(most), p.isub(p.word(exponents), p.and(largest, p.word(exponents)))), largest
}

// atan2 returns the angle of ordinate x and abscissa y. With n <= d the magnitudes of both, it is a
// multiple of π/2 and ±atan(n/d). The quotient is q + e, and atan(q + e) is nearly
// q + q³·Atan(q²) + e·(1 - q²/2).
func (p *core) atan2(x, y, s, largest val) val {
	d := p.max(p.mul(largest, s), p.num(0x1p-60)) // also where infinity·0 is NaN
	n := p.min(p.mul(p.min(p.abs(x), p.abs(y)), s), d)
	r := p.div(p.num(1), d)
	q := p.mul(n, r)
	e := p.mul(p.fnma(q, d, n), r)
	z := p.mul(q, q)
	rest := p.fma(p.pairs(pick(p, coef.Atan64[:], coef.Atan32[:]), z), p.mul(q, z), p.mul(e, p.fnma(z, p.num(0.5), p.num(1))))

	x, y = p.in(0), p.in(1) // again, so that they occupy no registers meanwhile
	steep, left := p.cmp(GT, p.abs(x), p.abs(y)), p.step("negative", 0, y)
	sign := p.xor(p.and(y, p.word(p.signBit())), p.blend(steep, p.word(p.signBit()), p.num(0)))
	q, rest = p.xor(q, sign), p.xor(rest, sign)
	pi := pick(p, coef.Pi64[:], coef.Pi32[:])
	part := func(pi float64) val {
		return p.blend(steep, p.num(pi/2), p.blend(left, p.num(pi), p.num(0)))
	}
	base := part(pi[0])
	hi := p.add(base, q)
	lo := p.sub(q, p.sub(hi, base))
	angle := p.add(hi, p.add(lo, p.add(rest, part(pi[1]))))
	return p.blend(p.cmp(UNORD, x, y), p.add(x, y), p.withSign(angle, x))
}

// quarter returns u = s·x, v = s·y, 4/(u² + v²), which is at most 1 for normal numbers, and s/4. If x or
// y is infinite, u and v are 0.
func (p *core) quarter(x, y, s val) (u, v, h, quarter val) {
	most := pick(p, math.MaxFloat64, math.MaxFloat32)
	finite := func(x val) val { return p.max(p.num(-most), p.min(p.num(most), x)) }
	u, v = p.mul(finite(x), s), p.mul(finite(y), s)
	h = p.div(p.num(4), p.max(p.num(0x1p-120), p.fma(u, u, p.mul(v, v))))
	return u, v, h, p.mul(s, p.num(0.25))
}

func (p *core) atan2Slopes(x, y val) []val {
	s, largest := p.scale(x, y)
	z := p.atan2(x, y, s, largest)
	u, v, h, s := p.quarter(x, y, s)
	return []val{z, p.mul(p.mul(v, h), s), p.neg(p.mul(p.mul(u, h), s))}
}

func (p *core) atan2Curves(x, y val) []val {
	s, _ := p.scale(x, y)
	u, v, h, s := p.quarter(x, y, s)
	over := func(a, b val) val { return p.mul(p.mul(p.mul(p.mul(a, h), p.mul(b, h)), s), s) }
	xy, yy := over(p.sub(u, v), p.add(u, v)), over(p.add(u, u), v)
	return []val{p.neg(yy), xy, yy}
}

// A power is |x|^y = exp(y·log|x|), with hi + lo = log|x| and top - less = y·log|x|.
type power struct {
	p                 *core
	hi, lo, top, less val
}

// power takes |x| = 2ᵏ·(1 + f), f in [-1/4, 1/2), and s = f/(1 + f/2):
//
//	log(1 + f) = s + s³·c(s²),  c = LogRatio
//
// The quotient, the cube and the sums are computed as sums of two numbers. The second part of the
// quotient moves the logarithm by itself times 1/(1 - s²/4). For x = 0 and infinity, k is so large
// that all powers are 0 or infinite. y is clamped to magnitudes beyond which they are 0, 1 or infinite.
func (p *core) power(x, y val) power {
	k, m := p.binade(x)
	f := p.sub(m, p.num(1))
	half := p.mul(f, p.num(0.5))
	d := p.add(half, p.num(1))
	r := p.div(p.num(1), d)
	s := p.mul(f, r)
	e := p.fnma(s, p.sub(half, p.sub(d, p.num(1))), p.fnma(s, d, f))
	z := p.mul(s, s)
	rest := p.mul(p.mul(e, r), p.fma(p.fma(z, p.num(0.0671), p.num(0.2496)), z, p.num(1)))

	c := pick(p, coef.LogRatio64[:], coef.LogRatio32[:])
	q := p.pairs(c[1:], z)
	cHi := p.fma(q, z, p.num(c[0]))
	cLo := p.fma(q, z, p.sub(p.num(c[0]), cHi))
	t := p.mul(z, cHi)
	tLo := p.fma(p.fms(s, s, z), cHi, p.fma(z, cLo, p.fms(z, cHi, t)))
	cube := p.mul(s, t)
	rest = p.add(rest, p.fma(s, tLo, p.fms(s, t, cube)))

	log := p.add(s, cube)
	rest = p.add(rest, p.sub(cube, p.sub(log, s)))
	ln2, ln2Lo := p.num(pick(p, coef.Ln2, coef.Ln2F)), p.num(pick(p, coef.Ln2Lo, coef.Ln2LoF))
	hi := p.fma(k, ln2, log)
	lo := p.add(p.sub(log, p.fnma(k, ln2, hi)), p.fma(k, ln2Lo, rest))

	b := p.magnitude(y, pick(p, 0x1p-70, 0x1p-40), pick(p, 0x1p70, 0x1p40))
	top := p.mul(b, hi)
	return power{p, hi, lo, top, p.fnma(b, lo, p.fnma(b, hi, top))}
}

// x and y are loaded again, so that they occupy no register meanwhile.
func (w power) x() val { return w.p.in(0) }
func (w power) y() val { return w.p.in(1) }

// binade returns k and m in [3/4, 3/2) with |x| = 2ᵏ·m. If x is 0 or infinite, k is very large. If
// it is NaN, k and m are any numbers.
func (p *core) binade(x val) (k, m val) {
	far := pick(p, 0x1p100, 0x1p60)
	if p.wide {
		m = p.step("getmant", 7, x)
		return p.step("bound", 0, p.sub(p.step("getexp", 0, x), p.step("getexp", 0, m)), p.num(far)), m
	}
	digits := pick[uint64](p, 52, 23)
	from := pick[uint64](p, 0x3fe8<<48, 0x3f400000) // bits of 3/4
	a := p.abs(x)
	small := p.cmp(LT, a, p.num(pick(p, 0x1p-1022, 0x1p-126)))
	shift := pick(p, 54., 24.)
	b := p.isub(p.blend(small, p.mul(a, p.num(math.Ldexp(1, int(shift)))), a), p.word(from^p.signBit()))
	m = p.iadd(p.and(b, p.word(1<<digits-1)), p.word(from))
	unit := pick(p, 0x1p52, 0x1p23) // the exponent, and a bias, become digits of a number
	k = p.sub(p.or(p.shr(b, digits), p.num(unit)), p.num(unit+pick(p, 2048., 256.)))
	k = p.sub(k, p.blend(small, p.num(shift), p.num(0)))
	k = p.blend(p.cmp(EQ, a, p.num(0)), p.num(-far), k)
	return p.blend(p.cmp(NLT, a, p.num(math.Inf(1))), p.num(far), k), m
}

// magnitude returns y with its magnitude clamped.
func (p *core) magnitude(y val, least, most float64) val {
	if p.wide {
		return p.step("bound", 1, p.step("bound", 0, y, p.num(most)), p.num(least))
	}
	return p.withSign(p.max(p.num(least), p.min(p.num(most), p.abs(y))), y)
}

// to returns x^(y-j), for j = 0 to 2. It has all special cases of math.Pow.
func (w power) to(j int) val {
	p, top, less := w.p, w.top, w.less
	if j > 0 { // the sum top - j·hi, and its rounding error
		hi, lo := w.hi, w.lo
		if j == 2 {
			hi, lo = p.add(hi, hi), p.add(lo, lo)
		}
		sum := p.sub(top, hi)
		back := p.sub(sum, top)
		err := p.sub(p.sub(top, p.sub(sum, back)), p.add(hi, back))
		top, less = sum, p.sub(p.add(less, lo), err)
	}
	if !p.wide {
		less = p.max(p.num(-0.01), p.min(p.num(0.01), less)) // it is larger only if top is out of range
	}
	r := p.exp(top, less)

	x, y := w.x(), w.y()
	whole := func(y val) val { return p.cmp(EQ, p.step("round", 0, y), y) }
	even := whole(p.mul(y, p.num(0.5)))
	bit, none := p.word(p.signBit()), p.num(0)
	var odd val // bit where y - j is odd, if it is an integer
	if j == 1 { // infinities are even
		finite := p.cmp(LT, p.abs(y), p.num(math.Inf(1)))
		odd = p.blend(finite, p.blend(even, bit, none), none)
	} else {
		odd = p.blend(even, none, bit)
	}
	integer := whole(y)
	sign := p.and(x, p.blend(integer, odd, none))
	r = p.xor(p.nan(r, x, y, integer), sign)
	return p.blend(p.cmp(EQ, y, p.num(float64(j))), p.num(1), r)
}

// nan returns r, or NaN if x or y is NaN, unless x is 1, or if x is negative and finite and y not whole.
func (p *core) nan(r, x, y, whole val) val {
	if p.wide {
		r = p.step("fixup", 0x22, y, r)
		return p.step("fixup", 0x0300a022, p.blend(whole, p.abs(x), x), r)
	}
	r = p.blend(p.cmp(UNORD, x, y), p.num(math.NaN()), r)
	r = p.blend(p.cmp(EQ, x, p.num(1)), p.num(1), r)
	x = p.blend(whole, p.num(0), x)
	finite := p.cmp(NLT, x, p.num(-pick(p, math.MaxFloat64, math.MaxFloat32)))
	return p.blend(p.cmp(LT, x, p.num(0)), p.blend(finite, p.num(math.NaN()), r), r)
}

// times returns c·r, or 0 if r is 0, also for an infinite c.
func (w power) times(c, r val) val { return w.p.blend(w.p.cmp(EQ, r, w.p.num(0)), r, w.p.mul(c, r)) }

// log returns log x, also of infinity and NaN.
func (w power) log() val {
	return w.p.blend(w.p.cmp(NLT, w.x(), w.p.num(math.Inf(1))), w.x(), w.p.add(w.hi, w.lo))
}

// positive returns v, or 0 where x <= 0.
func (w power) positive(v val) val { return w.p.blend(w.p.cmp(NLE, w.x(), w.p.num(0)), v, w.p.num(0)) }

// unless returns v, or 0 where y is the number at.
func (w power) unless(at float64, v val) val {
	return w.p.blend(w.p.cmp(EQ, w.y(), w.p.num(at)), w.p.num(0), v)
}

func (p *core) powSlopes(x, y val) []val {
	w := p.power(x, y)
	z, dx := w.to(0), w.unless(0, w.times(w.y(), w.to(1)))
	return []val{z, dx, w.positive(w.times(w.log(), z))}
}

func (p *core) powCurves(x, y val) []val {
	w := p.power(x, y)
	one := p.num(1)
	xx := w.unless(1, w.unless(0, w.times(p.mul(y, p.sub(y, one)), w.to(2))))
	c := p.blend(p.cmp(EQ, w.y(), p.num(0)), one, p.fma(w.y(), w.log(), one))
	xy := w.positive(w.times(c, w.to(1)))
	l := w.log()
	return []val{xx, xy, w.positive(w.times(p.mul(l, l), w.to(0)))}
}

// two makes functions of x and y.
func two(name string, results string, of func(p *core, x, y val) []val) function {
	f := function{name: name, results: strings.Fields(results), inputs: []string{"x", "y"}}
	f.of = func(p *core, x []val) []val { return of(p, x[0], x[1]) }
	return f.overBoth()
}

var binary = []struct {
	function
	doc string
}{
	{two("atan2", "dst", func(p *core, x, y val) []val {
		s, largest := p.scale(x, y)
		return []val{p.atan2(x, y, s, largest)}
	}),
		"computes dst_i = atan2(x_i, y_i), with the special cases of math.Atan2."},
	{two("atan2Slopes", "z dx dy", (*core).atan2Slopes),
		"computes z_i = atan2(x_i, y_i) and its derivatives dx_i by x and dy_i by y.\nAt infinity these are 0."},
	{two("atan2Curves", "xx xy yy", (*core).atan2Curves),
		"computes the second derivatives of atan2(x_i, y_i). At infinity they are 0."},
	{two("pow", "dst", func(p *core, x, y val) []val { return []val{p.power(x, y).to(0)} }),
		"computes dst_i = x_i^y_i, with the special cases of math.Pow."},
	{two("powSlopes", "z dx dy", (*core).powSlopes),
		"computes z_i = x_i^y_i, dx_i = y_i·x_i^(y_i-1), and dy_i = log(x_i)·x_i^y_i, which is 0 for\nx_i <= 0. The product of a power of 0 and an infinite factor is 0."},
	{two("powCurves", "xx xy yy", (*core).powCurves),
		"computes xx_i = y_i·(y_i-1)·x_i^(y_i-2), and for x_i > 0 the derivatives of dy of\nPowSlopes by x and y. These are 0 for x_i <= 0."},
}

// emitBinary emits them, and the sums of the functions themselves.
func emitBinary() {
	for _, f := range binary {
		loop(f.name, "func("+strings.Join(append(f.results[:len(f.results):len(f.results)], f.inputs...), ", ")+" *T, n int)", f.doc,
			func(v vec) { v.loop(f.function) })
	}
	for _, f := range binary {
		if len(f.results) == 1 {
			name := "add" + upper(f.name)
			loop(name, "func(dst *T, sign T, x, y *T, n int)", "computes dst_i += sign·"+f.name+"(x_i, y_i) for a sign of 1 or -1.",
				func(v vec) { v.loop(f.adding("dst", sumOf)) })
		}
	}
}

func upper(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
