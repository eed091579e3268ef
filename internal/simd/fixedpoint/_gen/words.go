package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/asm"
)

// Loops of AVX2 over products of 32 bits, as the comment of the package says.

var avx2 = ISA{Size: 8}

// emitWords emits these loops after all others.
var emitWords []func()

// A wordSum is a sum of products by their weights. Each lane of low and middle is mod 2⁶⁴, and so is the sum of the
// high halves of what it got, in lowTop and middleTop.
type wordSum struct{ low, lowTop, middle, middleTop, high VecVirtual }

func newWordSum() wordSum {
	v := avx2.Zeros(5)
	return wordSum{v[0], v[1], v[2], v[3], v[4]}
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

// dotWords sums products of x_i + 2⁶³ and y_i + 2⁶³, and these factors.
func dotWords() {
	g := avx2
	n, x, y, t, factors, sign := Arg("n"), Arg("x"), Arg("y"), newWordSum(), g.Zeros(1)[0], g.CopyOf(Bits(1<<63))
	g.Loop(n, 2, func(l Step, _ int) {
		x0, y0 := l.Load(x), l.Load(y)
		VPXOR(sign, x0, x0)
		VPXOR(sign, y0, y0)
		VPADDQ(x0, factors, factors)
		VPADDQ(y0, factors, factors)
		x1, y1 := highHalf(x0), highHalf(y0)
		addHalves(times32(x0, y0), t.low, t.lowTop)
		addHalves(times32(x0, y1), t.middle, t.middleTop)
		addHalves(times32(x1, y0), t.middle, t.middleTop)
		VPADDQ(times32(x1, y1), t.high, t.high)
	}, nil)
	lo, middle, hi, tmp := apart(t.low, t.lowTop), apart(t.middle, t.middleTop), t.high, g.Reg()
	VPADDQ(t.lowTop, middle, middle)
	VPADDQ(t.middleTop, hi, hi)
	VPSLLQ(Imm(64-fraction), hi, hi)
	VPSRLQ(Imm(fraction-32), middle, tmp)
	VPADDQ(tmp, hi, hi)
	VPSLLQ(Imm(63-fraction), factors, factors)
	VPSUBQ(factors, hi, hi)
	VPAND(Bits(1<<(fraction-32)-1), middle, middle)
	VPSLLQ(Imm(32), middle, middle)
	VPADDQ(middle, lo, lo)
	storeTotals("sum", 8, lo, hi)
}

// squareWords sums products of |x|. Those of both halves count twice, which comes last.
func squareWords() {
	g := avx2
	n, x, t, zero := Arg("n"), Arg("x"), newWordSum(), g.Zeros(1)[0]
	g.Loop(n, 2, func(l Step, _ int) {
		x := newMagnitude(l.Load(x), zero)
		addHalves(times32(x.low, x.low), t.low, t.lowTop)
		addHalves(times32(x.low, x.high), t.middle, t.middleTop)
		VPADDQ(times32(x.high, x.high), t.high, t.high)
	}, nil)
	lo, middle, tmp := apart(t.low, t.lowTop), apart(t.middle, t.middleTop), g.Reg()
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

// wordRounding has the constants of products that are rounded one by one.
type wordRounding struct{ half, tie VecVirtual }

func newWordRounding() wordRounding {
	return wordRounding{avx2.CopyOf(Bits(1 << (fraction - 32 - 1))), avx2.CopyOf(Bits(1 << 62))}
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
	VPSLLQ(Imm(64-fraction), high, high)
	VPADDQ(middle, high, high)
	return high
}

// wordProducts is products.
func wordProducts(alpha bool) {
	g := avx2
	n, minus, zero, r := Arg("n"), g.BroadcastArg("minus"), g.Zeros(1)[0], newWordRounding()
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
		VPADDQ(l.Load(from), v, v)
		l.Store(v, z)
	}, nil)
}
