package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// A form says how products are computed: on AVX-512 by integers, on AVX2 by float64, with one
// limb or two.
type form struct {
	ISA
	narrow bool
	rows   int   // of C in registers
	weight []int // bits below each sum
}

const (
	fraction = 43        // bits of a number
	panel    = 8         // rows or columns of a panel
	line     = 8 * panel // bytes of a limb of a step of a panel
)

func newForm(g ISA, narrow bool) form {
	switch {
	case g.Wide && narrow:
		return form{g, narrow, 8, []int{0, 52}}
	case g.Wide:
		return form{g, narrow, 4, []int{0, 52, 40, 92}}
	case narrow:
		return form{g, narrow, 2, []int{0, 51}}
	}
	return form{g, narrow, 1, []int{0, 51, 39, 90}}
}

func (f form) planes() int  { return len(f.weight) / 2 }
func (f form) vectors() int { return line / f.Width() }

func gemm() {
	for _, narrow := range []bool{true, false} {
		name, limbs := "Wide", "two limbs"
		if narrow {
			name, limbs = "Narrow", "one limb"
		}
		bothTiers("tile"+name, "func(rows, k int, a, b *uint64, c *int64, ldc, minus int, sums *uint64, flags int, bad *uint64)",
			"computes rows of C ± A·B for a panel of B, over "+limbs+". minus is -1 for the difference, else 0. Rows are a multiple of those of a group. If a flag asks for it, bits from 20 on are set in a word of bad if an element of its column is out of range.",
			func(g ISA) { newForm(g, narrow).tile() })
	}
	const sig = "func(k int, x *int64, stride int, panel *uint64)"
	bothTiers("splitNarrow", sig, "writes the limb of k steps of a panel, and what its sums lack. Step l has 8 numbers from x[l*stride] on.",
		func(g ISA) { newForm(g, true).split(nil) })
	bothTiers("splitRows", sig, "is splitNarrow with the two limbs of A.", func(g ISA) {
		newForm(g, false).split(newForm(g, false).limbsOfA)
	})
	bothTiers("splitColumns", sig, "is splitNarrow with the two limbs of B.", func(g ISA) {
		newForm(g, false).split(newForm(g, false).limbsOfB)
	})
	bothTiers("span", "func(n int, x *int64) uint64", "returns the bits of x + 2⁵¹ of all n numbers, a multiple of 8.", span)
	Func("madds", Variant{Tier: "AVX512"}, "func(rounds int) uint64", "does rounds of 16 VPMADD52LUQ.", madds)
}

// tile computes rows of C: a group at a time, whose sums stay in registers.
func (f form) tile() {
	rows, a, c, ldc, sums := Arg("rows"), Arg("a"), Arg("c"), Arg("ldc"), Arg("sums")
	flags := Arg("flags")
	SHLQ(Imm(3), ldc)
	offset, pa, pb, l := GP64(), GP64(), GP64(), GP64()
	var magic, magicLow VecVirtual
	if !f.Wide {
		magic, magicLow = f.CopyOf(f.Const(magicHi)), f.CopyOf(f.Const(magicHi+magicLo))
	}
	Label("panel")
	XORQ(offset, offset)
	Label("group")
	LEAQ(Mem{Base: a, Index: offset, Scale: 1}, pa)
	Load(Param("b"), pb)
	Load(Param("k"), l)
	acc := make([][][]VecVirtual, f.rows) // of a row, a vector and a weight
	for i := range acc {
		for range f.vectors() {
			acc[i] = append(acc[i], f.Zeros(len(f.weight)))
		}
	}
	Times(l, func() {
		f.step(acc, pa, pb, magic, magicLow)
		ADDQ(U32(f.planes()*line), pa)
		ADDQ(U32(f.planes()*line), pb)
	})
	for i := range acc {
		for v, sum := range acc[i] {
			f.finish(i, v, sum, pa, pb, c, sums, flags)
		}
		ADDQ(ldc, c)
		ADDQ(U32(3*line), sums)
	}
	SUBQ(U32(f.rows), rows)
	JLE(LabelRef("done"))
	ADDQ(U32(8*f.rows), offset)
	CMPQ(offset, U32(line))
	JL(LabelRef("group"))
	LEAQ(Mem{Base: pa, Disp: 8*f.rows + line}, a) // after the constants of the panel
	JMP(LabelRef("panel"))
	Label("done")
}

// Numbers that make products of float64 integers, as the comment of the package says.
const (
	magicHi = 0x1.8p103
	magicLo = 0x1.8p52
)

// step adds the products of a step of the panels.
func (f form) step(acc [][][]VecVirtual, pa, pb GPVirtual, magic, magicLow VecVirtual) {
	limb := func(p GPVirtual, plane, disp int) Mem { return Mem{Base: p, Disp: plane*line + disp} }
	if f.Wide {
		y := make([]VecVirtual, f.planes())
		for q := range y {
			y[q] = f.CopyOf(limb(pb, q, 0))
		}
		for i := range acc {
			t := acc[i][0]
			x0 := f.Broadcast(limb(pa, 0, 8*i))
			if f.narrow {
				VPMADD52LUQ(y[0], x0, t[0])
				VPMADD52HUQ(y[0], x0, t[1])
				continue
			}
			x1 := f.Broadcast(limb(pa, 1, 8*i))
			addLimbs(t, x0, x1, y[0], y[1])
		}
		return
	}
	for i := range acc {
		x0 := f.Broadcast(limb(pa, 0, 8*i))
		var x1 VecVirtual
		if !f.narrow {
			x1 = f.Broadcast(limb(pa, 1, 8*i))
		}
		for v, t := range acc[i] {
			for q := range f.planes() {
				y, hi, lo := limb(pb, q, v*f.Width()), f.CopyOf(magic), f.Reg()
				f.Fmadd231(y, x0, hi)
				f.Sub(hi, magicLow, lo)
				f.Fmadd231(y, x0, lo)
				if !f.narrow {
					f.Fmadd231(y, x1, hi)
				}
				VPADDQ(lo, t[2*q], t[2*q])
				VPADDQ(hi, t[2*q+1], t[2*q+1])
			}
		}
	}
}

// finish adds vector v of row i of a group to C, or to the sums so far. pa and pb are at the
// ends of the panels.
func (f form) finish(i, v int, t []VecVirtual, pa, pb, c, sums, flags GPVirtual) {
	at := func(p GPVirtual, disp int) Mem { return Mem{Base: p, Disp: disp + v*f.Width()} }
	tmp := f.Reg()
	if !f.Wide {
		for q := 0; q < len(t); q += 2 {
			f.BroadcastTo(Mem{Base: pb, Disp: line}, tmp)
			VPADDQ(tmp, t[q], t[q])
		}
	}
	plain := Unique("plain")
	top := f.Zeros(1)[0]
	TESTQ(U32(4), flags)
	JZ(LabelRef(plain))
	f.top(top, i, v, t, pa, pb)
	Label(plain)
	hi, lo := f.join(t)
	if f.Wide {
		f.BroadcastTo(Mem{Base: pa, Disp: 8 * i}, tmp)
		VPSUBQ(tmp, hi, hi)
	}
	VPSUBQ(at(pb, 0), hi, hi)

	first, last, done := Unique("first"), Unique("last"), Unique("row")
	TESTQ(U32(1), flags)
	JZ(LabelRef(first))
	VPADDQ(at(sums, 0), lo, lo)
	VPADDQ(at(sums, line), hi, hi)
	VPADDQ(at(sums, 2*line), top, top)
	Label(first)
	f.carry(hi, lo, tmp)
	TESTQ(U32(2), flags)
	JZ(LabelRef(last))
	f.Mov(lo, at(sums, 0))
	f.Mov(hi, at(sums, line))
	f.Mov(top, at(sums, 2*line))
	JMP(LabelRef(done))
	Label(last)
	f.roundLow(hi, lo, tmp)
	sign := f.Reg()
	minus := Arg("minus")
	if f.Wide {
		VPBROADCASTQ(minus, sign)
	} else {
		VMOVQ(minus, sign.AsX())
		VPBROADCASTQ(sign.AsX(), sign)
	}
	f.xor(sign, hi)
	VPSUBQ(sign, hi, hi)
	f.Mov(at(c, 0), tmp)
	VPADDQ(tmp, hi, hi)
	f.Mov(hi, at(c, 0))
	TESTQ(U32(4), flags)
	JZ(LabelRef(done))
	// top and the difference of the old and the new element, both without their low 44 bits, are those of a
	// multiple of 2⁶⁴, up to 2¹⁸ of these units. It is 0 if the new element is in range.
	f.xor(sign, top)
	VPSUBQ(sign, top, top)
	for _, x := range []VecVirtual{tmp, hi} {
		f.xor(Bits(1<<63), x)
		VPSRLQ(Imm(topUnit), x, x)
	}
	VPADDQ(tmp, top, top)
	VPSUBQ(hi, top, top)
	VPADDQ(Bits(1<<(63-topUnit)), top, top)
	bad := Arg("bad")
	f.or(at(bad, 0), top)
	f.Mov(top, at(bad, 0))
	Label(done)
}

// topUnit is the exponent of the units of the estimates of products, beyond those of elements. It is also
// in ../gemm.go.
const topUnit = 44

// top estimates the sums t of a block in units of 2⁴⁴ of an element, up to one for each shift. It wraps beyond 2⁶³ of
// these units.
func (f form) top(top VecVirtual, i, v int, t []VecVirtual, pa, pb GPVirtual) {
	const unit = topUnit + fraction
	x := f.Reg()
	add := func(q int) {
		if w := f.weight[q]; w > unit {
			VPSLLQ(Imm(uint64(w-unit)), t[q], x)
		} else {
			VPSRLQ(Imm(uint64(unit-w)), t[q], x)
		}
		VPADDQ(x, top, top)
	}
	sub := func(m Mem) {
		f.BroadcastTo(m, x)
		VPSUBQ(x, top, top)
	}
	if f.Wide {
		for q := range f.weight[1:] {
			add(q + 1)
		}
		sub(Mem{Base: pa, Disp: line + 8*i})
		VPSUBQ(Mem{Base: pb, Disp: line + v*f.Width()}, top, top)
		return
	}
	f.BroadcastTo(Mem{Base: pb, Disp: line + 8}, top) // makes the sum positive
	VPADDQ(t[1], top, top)
	VPSRLQ(Imm(uint64(unit-f.weight[1])), top, top)
	for q := 2; q < len(t); q++ {
		add(q)
	}
	sub(Mem{Base: pb, Disp: line + 16})
}

// round makes hi the value of the sum hi·2⁴³ + lo. It destroys lo and tmp.
func (f form) round(hi, lo, tmp VecVirtual) {
	f.carry(hi, lo, tmp)
	f.roundLow(hi, lo, tmp)
}

// carry moves all of lo but 43 bits to hi.
func (f form) carry(hi, lo, tmp VecVirtual) {
	VPSRLQ(Imm(fraction), lo, tmp)
	VPADDQ(tmp, hi, hi)
	f.and(Bits(1<<fraction-1), lo)
}

// roundLow is round for a lo of 43 bits.
func (f form) roundLow(hi, lo, tmp VecVirtual) {
	f.Mov(hi, tmp)
	f.and(Bits(1), tmp)
	VPADDQ(tmp, lo, lo)
	VPADDQ(Bits(1<<(fraction-1)-1), lo, lo)
	VPSRLQ(Imm(fraction), lo, lo)
	VPADDQ(lo, hi, hi)
}

// join returns the high words and the low bits, and some more, of the sums. It destroys these.
func (f form) join(t []VecVirtual) (hi, lo VecVirtual) {
	hi, lo, tmp := f.Reg(), t[0], f.Reg()
	VPSRLQ(Imm(fraction), lo, hi)
	f.and(Bits(1<<fraction-1), lo)
	for q, w := range f.weight[1:] {
		x := t[q+1]
		if w > fraction {
			VPSLLQ(Imm(uint64(w-fraction)), x, x)
			VPADDQ(x, hi, hi)
			continue
		}
		VPSRLQ(Imm(uint64(fraction-w)), x, tmp)
		VPADDQ(tmp, hi, hi)
		VPSLLQ(Imm(uint64(64-fraction+w)), x, x)
		VPSRLQ(Imm(64-fraction), x, x)
		VPADDQ(x, lo, lo)
	}
	return hi, lo
}

func (f form) and(m, x Op) {
	if f.Wide {
		VPANDQ(m, x, x)
	} else {
		VPAND(m, x, x)
	}
}

func (f form) or(m, x Op) {
	if f.Wide {
		VPORQ(m, x, x)
	} else {
		VPOR(m, x, x)
	}
}

func (f form) xor(m, x Op) {
	if f.Wide {
		VPXORQ(m, x, x)
	} else {
		VPXOR(m, x, x)
	}
}

// split writes the limbs of a panel, and on AVX-512 the sums of its rows after these: for the high words, and for
// estimates.
func (f form) split(limbs func(x VecVirtual) []VecVirtual) {
	if f.narrow {
		limbs = f.limbNarrow
	}
	k, x, stride, p := Arg("k"), Arg("x"), Arg("stride"), Arg("panel")
	SHLQ(Imm(3), stride)
	sums := f.Zeros(f.vectors())
	high := f.Zeros(1)[0] // the sum of the bits from 12 on
	Times(k, func() {
		for v := range f.vectors() {
			y := f.CopyOf(Mem{Base: x, Disp: v * f.Width()})
			if f.Wide {
				VPADDQ(y, sums[v], sums[v])
				if !f.narrow {
					t := f.Reg()
					VPSRAQ(Imm(12), y, t)
					VPADDQ(t, high, high)
				}
			}
			for q, limb := range limbs(y) {
				f.Mov(limb, Mem{Base: p, Disp: q*line + v*f.Width()})
			}
		}
		ADDQ(stride, x)
		ADDQ(U32(f.planes()*line), p)
	})
	for v, s := range sums {
		if f.Wide {
			const unit = topUnit + fraction
			if f.narrow {
				VPSRAQ(Imm(uint64(unit-f.offset())), s, high)
			} else {
				VPSRAQ(Imm(uint64(unit-f.offset()-12)), high, high)
			}
			f.Mov(high, Mem{Base: p, Disp: line})
			VPSLLQ(Imm(uint64(f.offset()-fraction)), s, s)
		}
		f.Mov(s, Mem{Base: p, Disp: v * f.Width()})
	}
}

// offset is the exponent of what AVX-512 adds to numbers, so that they are not negative.
func (f form) offset() int {
	if f.narrow {
		return 51
	}
	return 63
}

// integer returns the float64 of the integer in the low bits of x, less 2^bias. Their unit is
// 2^exponent.
func (f form) integer(x VecVirtual, exponent, bias int) VecVirtual {
	one := math.Ldexp(1, 52+exponent)
	VPOR(Bits(math.Float64bits(one)), x, x)
	f.Sub(Bits(math.Float64bits(one+math.Ldexp(1, bias+exponent))), x, x)
	return x
}

func (f form) limbNarrow(x VecVirtual) []VecVirtual {
	VPADDQ(Bits(1<<51), x, x)
	if f.Wide {
		return []VecVirtual{x}
	}
	return []VecVirtual{f.integer(x, 0, 51)}
}

// limbsOfA cuts at bit 52.
func (f form) limbsOfA(x VecVirtual) []VecVirtual {
	hi := f.Reg()
	if f.Wide {
		VPXORQ(Bits(1<<63), x, hi)
		VPSRLQ(Imm(52), hi, hi)
		return []VecVirtual{x, hi}
	}
	lo := f.low(x, 52)
	return []VecVirtual{lo, f.integer(f.high(x, 52), 52, 11)}
}

// limbsOfB cuts at bit 40 for integers, and at bit 39 for float64.
func (f form) limbsOfB(x VecVirtual) []VecVirtual {
	hi := f.Reg()
	if f.Wide {
		lo := f.Reg()
		VPXORQ(Bits(1<<63), x, hi)
		VPSRLQ(Imm(40), hi, hi)
		VPANDQ(Bits(1<<40-1), x, lo)
		return []VecVirtual{lo, hi}
	}
	lo := f.low(x, 39)
	return []VecVirtual{lo, f.integer(f.high(x, 39), 0, 24)}
}

// low returns the float64 of the low bits of x with their sign.
func (f form) low(x VecVirtual, bits int) VecVirtual {
	lo := f.Reg()
	VPADDQ(Bits(1<<(bits-1)), x, lo)
	VPAND(Bits(1<<bits-1), lo, lo)
	return f.integer(lo, 0, bits-1)
}

// high returns the other bits of x + 2⁶³, and 1 more if low is negative.
func (f form) high(x VecVirtual, bits int) VecVirtual {
	hi := f.Reg()
	VPXOR(Bits(1<<63), x, hi)
	VPSRLQ(Imm(uint64(bits-1)), hi, hi)
	VPADDQ(Bits(1), hi, hi)
	VPSRLQ(Imm(1), hi, hi)
	return hi
}

func span(g ISA) {
	n, x := Arg("n"), Arg("x")
	SHRQ(Imm(3), n)
	or := g.Zeros(line / g.Width())
	Times(n, func() {
		for v, or := range or {
			y := g.CopyOf(Mem{Base: x, Disp: v * g.Width()})
			VPADDQ(Bits(1<<51), y, y)
			VORPD(y, or, or)
		}
		ADDQ(U32(line), x)
	})
	for _, o := range or[1:] {
		VORPD(o, or[0], or[0])
	}
	g.Reduce(or[0], func(b, a, dst Op) { VORPD(b, a, dst) })
	VMOVSD(or[0].AsX(), Result())
}

// madds does what bounds the speed of products on AVX-512: two of these instructions at a time.
func madds() {
	g := ISA{Wide: true, Size: 8}
	rounds := Arg("rounds")
	acc := g.Zeros(16)
	x := g.Broadcast(Bits(1<<52 - 3))
	Times(rounds, func() {
		for _, a := range acc {
			VPMADD52LUQ(x, x, a)
		}
	})
	for _, a := range acc[1:] {
		VPADDQ(a, acc[0], acc[0])
	}
	VMOVSD(acc[0].AsX(), Result())
}
