package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// Loops of AVX2 over products of 32 bits, as the comment of the package says.

var avx2 = ISA{Size: 8}

// sameBody emits a function for AVX-512, and for AVX2 from the same steps.
func sameBody(name, sig, doc string, body func()) {
	Func(name, Variant{Tier: "AVX512"}, sig, doc, body)
	onlyAVX2(name, sig, doc, func() {
		g, kept = avx2, nil
		body()
		g = ifma
	})
}

// onlyAVX2 emits a function for AVX2.
func onlyAVX2(name, sig, doc string, body func()) {
	emitWords = append(emitWords, func() { Func(name, Variant{Tier: "AVX2", X86: true}, sig, doc, body) })
}

// emitWords emits these loops after all others.
var emitWords []func()

// A wordSum is a sum of products of x + 2⁶³ and y + 2⁶³ by their weights. Each lane of low and middle is mod 2⁶⁴, and so
// is the sum of the high halves of what it got, in lowTop and middleTop. factors is the sum of the factors. In exact sums
// high and factors have such sums too.
type wordSum struct {
	low, lowTop, middle, middleTop, high, factors, sign VecVirtual
	highTop, factorsTop                                 VecVirtual // or nil
}

// newWordSums is newApartSums for n = 1.
func newWordSums() func(n int) productSums {
	sign := avx2.CopyOf(Bits(1 << 63))
	return func(int) productSums { return newWordSum(sign) }
}

// newWordSum takes a register with 2⁶³.
func newWordSum(sign VecVirtual) wordSum {
	v := avx2.Zeros(6)
	return wordSum{low: v[0], lowTop: v[1], middle: v[2], middleTop: v[3], high: v[4], factors: v[5], sign: sign}
}

// add adds the products of x and y[0], and destroys these.
func (t wordSum) add(x VecVirtual, y vectors) {
	x0, y0 := x, y[0]
	VPXOR(t.sign, x0, x0)
	VPXOR(t.sign, y0, y0)
	VPADDQ(x0, t.factors, t.factors)
	VPADDQ(y0, t.factors, t.factors)
	x1, y1 := highHalf(x0), highHalf(y0)
	addHalves(times32(x0, y0), t.low, t.lowTop)
	addHalves(times32(x0, y1), t.middle, t.middleTop)
	addHalves(times32(x1, y0), t.middle, t.middleTop)
	if t.highTop == nil {
		VPADDQ(times32(x1, y1), t.high, t.high)
		return
	}
	addHalves(times32(x1, y1), t.high, t.highTop)
	VPADDQ(x1, t.factorsTop, t.factorsTop)
	VPADDQ(y1, t.factorsTop, t.factorsTop)
}

// words returns the low 43 bits, and some more, and the high words of the lanes.
func (t wordSum) words() (lo, hi VecVirtual) {
	lo, middle, hi, tmp := apart(t.low, t.lowTop), apart(t.middle, t.middleTop), t.high, avx2.Reg()
	VPADDQ(t.lowTop, middle, middle)
	VPADDQ(t.middleTop, hi, hi)
	VPSLLQ(Imm(64-fraction), hi, hi)
	VPSRLQ(Imm(fraction-32), middle, tmp)
	VPADDQ(tmp, hi, hi)
	VPSLLQ(Imm(63-fraction), t.factors, t.factors)
	VPSUBQ(t.factors, hi, hi)
	VPAND(Bits(1<<(fraction-32)-1), middle, middle)
	VPSLLQ(Imm(32), middle, middle)
	VPADDQ(middle, lo, lo)
	return lo, hi
}

// lanes returns the lanes, rounded.
func (t wordSum) lanes(int) VecVirtual {
	lo, hi := t.words()
	carry := avx2.Reg()
	VPSRLQ(Imm(fraction), lo, carry)
	VPADDQ(carry, hi, hi)
	VPAND(Bits(1<<fraction-1), lo, lo)
	VPADDQ(Bits(1<<(fraction-1)-1), lo, lo)
	VPAND(Bits(1), hi, carry)
	VPADDQ(carry, lo, lo)
	VPSRLQ(Imm(fraction), lo, lo)
	VPADDQ(lo, hi, hi)
	return hi
}

// sum returns the sum of the lanes, rounded.
func (t wordSum) sum() GPVirtual {
	lo, hi := t.words()
	VPSLLQ(Imm(52-fraction), lo, lo)
	return total(hi, lo)
}

// addHalves adds a product, which it destroys, to a sum and to that of its high half.
func addHalves(product, sum, top VecVirtual) {
	VPADDQ(product, sum, sum)
	VPSRLQ(Imm(32), product, product)
	VPADDQ(product, top, top)
}

// apart returns the sum of the low halves.
func apart(sum, top VecVirtual) VecVirtual {
	low := avx2.Reg()
	VPSLLQ(Imm(32), top, low)
	VPSUBQ(low, sum, low)
	return low
}

func times32(x, y VecVirtual) VecVirtual {
	p := avx2.Reg()
	VPMULUDQ(y, x, p)
	return p
}

func highHalf(x VecVirtual) VecVirtual {
	h := avx2.Reg()
	VPSRLQ(Imm(32), x, h)
	return h
}

// dotWords is dot.
func dotWords() {
	n, x, y, t := Arg("n"), Arg("x"), Arg("y"), newWordSum(avx2.CopyOf(Bits(1<<63)))
	avx2.Loop(n, 2, func(l Step, _ int) { t.add(l.Load(x), vectors{l.Load(y)}) }, nil)
	lo, hi := t.words()
	storeTotals("sum", 8, lo, hi)
}

// dotWordsChecked is dotChecked.
func dotWordsChecked() {
	n, x, y, t, top := Arg("n"), Arg("x"), Arg("y"), newWordSum(avx2.CopyOf(Bits(1<<63))), avx2.Zeros(2)
	t.highTop, t.factorsTop = top[0], top[1]
	avx2.Loop(n, 2, func(l Step, _ int) { t.add(l.Load(x), vectors{l.Load(y)}) }, nil)
	storeTotals("sums", 8, append(t.exact(), apart(t.factors, t.factorsTop), t.factorsTop)...)
}

// exact returns the sums of weight 1, 2³², 2⁶⁴ and 2⁹⁶. None of them wraps.
func (t wordSum) exact() vectors {
	low, middle, high := apart(t.low, t.lowTop), apart(t.middle, t.middleTop), apart(t.high, t.highTop)
	VPADDQ(t.lowTop, middle, middle)
	VPADDQ(t.middleTop, high, high)
	return vectors{low, middle, high, t.highTop}
}

// squareWordsChecked is squares without the wrapping of the highest sum.
func squareWordsChecked() {
	t := squareSums(true)
	for _, v := range []VecVirtual{t.middle, t.middleTop} {
		VPADDQ(v, v, v)
	}
	storeTotals("sums", 8, t.exact()...)
}

// squareWords is squares.
func squareWords() {
	t := squareSums(false)
	lo, middle, tmp := apart(t.low, t.lowTop), apart(t.middle, t.middleTop), avx2.Reg()
	for _, v := range []VecVirtual{middle, t.middleTop} {
		VPADDQ(v, v, v)
	}
	VPADDQ(t.lowTop, middle, middle)
	VPADDQ(t.middleTop, t.high, t.high)
	// The sum is lo + 2³²·middle + 2⁶⁴·high.
	VPAND(Bits(1<<20-1), middle, tmp)
	VPSLLQ(Imm(32), tmp, tmp)
	VPADDQ(tmp, lo, lo)
	VPSRLQ(Imm(52-32), middle, middle)
	VPAND(Bits(1<<40-1), t.high, tmp)
	VPSLLQ(Imm(64-52), tmp, tmp)
	VPADDQ(tmp, middle, middle)
	VPSRLQ(Imm(104-64), t.high, t.high)
	storeTotals("sums", line, lo, middle, t.high)
}

// squareSums sums products of |x|, of which those of both halves count twice.
func squareSums(exact bool) wordSum {
	g := avx2
	n, x, v, zero := Arg("n"), Arg("x"), g.Zeros(5), g.Zeros(1)[0]
	t := wordSum{low: v[0], lowTop: v[1], middle: v[2], middleTop: v[3], high: v[4]}
	if exact {
		t.highTop = g.Zeros(1)[0]
	}
	g.Loop(n, 2, func(l Step, _ int) {
		x := newMagnitude(l.Load(x), zero)
		addHalves(times32(x.low, x.low), t.low, t.lowTop)
		addHalves(times32(x.low, x.high), t.middle, t.middleTop)
		if square := times32(x.high, x.high); exact {
			addHalves(square, t.high, t.highTop)
		} else {
			VPADDQ(square, t.high, t.high)
		}
	}, nil)
	return t
}

// storeTotals stores the sums of the lanes, some bytes apart.
func storeTotals(to string, apart int, v ...VecVirtual) {
	p := Arg(to)
	for i, v := range v {
		avx2.Reduce(v, func(b, a, dst Op) { VPADDQ(b, a, dst) })
		VMOVQ(v.AsX(), Mem{Base: p, Disp: apart * i})
	}
}

// A magnitude is |x| and its high half, and all ones where x is negative.
type magnitude struct{ low, high, sign VecVirtual }

// newMagnitude destroys x.
func newMagnitude(x, zero VecVirtual) magnitude {
	sign := avx2.Reg()
	VPCMPGTQ(x, zero, sign)
	VPXOR(sign, x, x)
	VPSUBQ(sign, x, x)
	return magnitude{x, highHalf(x), sign}
}

// wordRounding has the constants of products that are rounded one by one. If there is a register for high, it gets all bits of
// the products of the high halves.
type wordRounding struct {
	half, tie Op
	high      VecVirtual
}

func newWordRounding() wordRounding {
	return wordRounding{half: avx2.CopyOf(Bits(1 << (fraction - 32 - 1))), tie: avx2.CopyOf(Bits(1 << 62))}
}

// product returns the product of two magnitudes.
func (r wordRounding) product(x, y magnitude) VecVirtual {
	low, middle, high, tie := times32(x.low, y.low), times32(x.low, y.high), times32(x.high, y.high), avx2.Reg()
	VPADDQ(times32(x.high, y.low), middle, middle)
	VPADDQ(highHalf(low), middle, middle)
	// A tie that is rounded down has bits 43 and 42 of 01, and zeros after them.
	VPSLLQ(Imm(63-(fraction-32)), middle, tie)
	VPBLENDD(Imm(0x55), low, tie, tie)
	VPCMPEQQ(r.tie, tie, tie)
	VPADDQ(r.half, middle, middle)
	VPADDQ(tie, middle, middle)
	VPSRLQ(Imm(fraction-32), middle, middle)
	if r.high != nil {
		VPOR(high, r.high, r.high)
	}
	VPSLLQ(Imm(64-fraction), high, high)
	VPADDQ(middle, high, high)
	return high
}

// wordProducts is products. A product of magnitudes is in range if that of the high halves is below 2⁴¹, as it is then below
// 2⁶² + 2⁵³. The sum with a number is in range if it has not another sign than both.
func wordProducts(alpha, checked bool) {
	g := avx2
	n, minus, zero, r := Arg("n"), g.BroadcastArg("minus"), g.Zeros(1)[0], newWordRounding()
	var wrapped VecVirtual // signs of sums that are out of range
	if checked {
		wrapped, r.high = g.Zeros(1)[0], g.Zeros(1)[0]
	}
	var x, y, from, z Register
	var a magnitude
	first := func(v VecVirtual) {
		a = newMagnitude(v, zero)
		VPXOR(minus, a.sign, a.sign)
	}
	if alpha {
		y, z = Arg("x"), Arg("y")
		from = z
		first(g.BroadcastArg("alpha"))
	} else {
		x, y, from, z = Arg("x"), Arg("y"), Arg("from"), Arg("z")
	}
	g.Loop(n, 2, func(l Step, _ int) {
		if !alpha {
			first(l.Load(x))
		}
		b := newMagnitude(l.Load(y), zero)
		v := r.product(a, b)
		VPXOR(a.sign, b.sign, b.sign)
		VPXOR(b.sign, v, v)
		VPSUBQ(b.sign, v, v)
		old, sum := l.Load(from), g.Reg()
		VPADDQ(v, old, sum)
		l.Store(sum, z)
		if checked {
			VPXOR(sum, v, v)
			VPXOR(sum, old, old)
			VPAND(old, v, v)
			VPOR(v, wrapped, wrapped)
		}
	}, nil)
	if checked {
		VPSRLQ(Imm(63), wrapped, wrapped)
		VPSRLQ(Imm(fraction-2), r.high, r.high)
		VPOR(r.high, wrapped, wrapped)
		VPTEST(wrapped, wrapped)
		SETEQ(Result())
	}
}

// shearWords is shearRows.
func shearWords() {
	g := avx2
	n, pa, pb, zero, r := Arg("n"), Arg("a"), Arg("b"), g.Zeros(1)[0], wordRounding{half: Bits(1 << (fraction - 32 - 1)), tie: Bits(1 << 62)}
	factor := func(name string) magnitude {
		m := g.BroadcastArg(name)
		return magnitude{low: m, high: highHalf(m)}
	}
	t, s, back := factor("t"), factor("s"), g.BroadcastArg("back")
	g.Groups(n, 2, func(ls []Step) {
		a, b := loadAll(ls, pa), loadAll(ls, pb)
		negate := func(flag string) {
			m := g.BroadcastArg(flag)
			for i := range ls {
				for _, v := range []VecVirtual{a[i], b[i]} {
					VPXOR(m, v, v)
					VPSUBQ(m, v, v)
				}
			}
		}
		// shear subtracts the products with from, or adds them if back is set.
		shear := func(m magnitude, from, to vectors, sub func(...Op)) {
			for i, x := range from {
				y := newMagnitude(g.CopyOf(x), zero)
				v := r.product(m, y)
				VPXOR(back, y.sign, y.sign)
				VPXOR(y.sign, v, v)
				VPSUBQ(y.sign, v, v)
				sub(v, to[i], to[i])
			}
		}
		negate("before")
		shear(t, b, a, VPSUBQ)
		shear(s, a, b, VPADDQ)
		shear(t, b, a, VPSUBQ)
		negate("after")
		for i, l := range ls {
			l.Store(a[i], pa)
			l.Store(b[i], pb)
		}
	}, nil)
}
