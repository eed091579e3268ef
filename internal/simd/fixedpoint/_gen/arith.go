package main

import (
	"math"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// Arithmetic of vectors, on the tier that g says. Results are new registers.
//
// AVX2 has no products of 64 bits, no comparisons without a sign, and no conversions between integers of 64 bits
// and float64. Products are made of those of 32 bits, and conversions of sums with numbers whose last bit is a
// unit, or 2³² units.

var g = ifma

// vectors are registers that go through the same steps side by side. A step waits for the one
// before it, so the processor has more to do with two.
type vectors []VecVirtual

// masks are a mask for each of them: an opmask, or on AVX2 a vector of ones and zeros.
type masks []Register

func newMask() Register {
	if g.Wide {
		return K()
	}
	return g.Reg()
}

func loadAll(ls []Step, p Register) vectors {
	x := make(vectors, len(ls))
	for i, l := range ls {
		x[i] = l.Load(p)
	}
	return x
}

// loader returns a function that returns the elements at p. With AVX2 each call loads them.
func loader(ls []Step, p Register) func() vectors {
	if g.Wide {
		x := loadAll(ls, p)
		return func() vectors { return x }
	}
	return func() vectors { return loadAll(ls, p) }
}

// kept are places on the stack, of which the first are taken in this turn of a loop.
var (
	kept  []Mem
	taken int
)

// aside returns a function that returns x. With AVX2, which has few registers, x is in memory until then.
func aside(x vectors) func() vectors {
	if g.Wide {
		return func() vectors { return x }
	}
	var at []Mem
	for _, x := range x {
		if taken == len(kept) {
			kept = append(kept, AllocLocal(g.Width()))
		}
		g.Mov(x, kept[taken])
		at = append(at, kept[taken])
		taken++
	}
	return func() vectors { return x.each(func(_, to VecVirtual, i int) { g.Mov(at[i], to) }) }
}

// of returns what step i uses of x: vectors, or one operand for all.
func of(x any, i int) Op {
	switch x := x.(type) {
	case vectors:
		return x[i]
	case masks:
		return x[i]
	}
	return x.(Op)
}

func (x vectors) each(f func(x, to VecVirtual, i int)) vectors {
	to := make(vectors, len(x))
	for i := range x {
		to[i] = g.Reg()
		f(x[i], to[i], i)
	}
	return to
}

func (x vectors) eachMask(f func(x VecVirtual, k Register, i int)) masks {
	k := make(masks, len(x))
	for i := range x {
		k[i] = newMask()
		f(x[i], k[i], i)
	}
	return k
}

func shiftRight(x vectors, bits int) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VPSRLQ(Imm(uint64(bits)), x, to) })
}

func shiftLeft(x vectors, bits int) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VPSLLQ(Imm(uint64(bits)), x, to) })
}

// shiftSigned shifts numbers with a sign to the right.
func shiftSigned(x vectors, bits int) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VPSRAQ(Imm(uint64(bits)), x, to) })
	}
	if bits == 63 {
		return vectorsOf(negative(x))
	}
	return sub(shiftRight(xor(x, Bits(1<<63)), bits), Bits(1<<63>>bits))
}

func add(x vectors, y any) vectors {
	return x.each(func(x, to VecVirtual, i int) { VPADDQ(of(y, i), x, to) })
}

// sub returns x - y.
func sub(x vectors, y any) vectors {
	return x.each(func(x, to VecVirtual, i int) { VPSUBQ(of(y, i), x, to) })
}

// subFrom returns c - x for a constant.
func subFrom(c uint64, x vectors) vectors {
	return x.each(func(x, to VecVirtual, _ int) {
		g.Mov(Bits(c), to)
		VPSUBQ(x, to, to)
	})
}

func or(x vectors, y any) vectors {
	return x.each(func(x, to VecVirtual, i int) { orTo(of(y, i), x, to) })
}

func orTo(y, x, to Op) {
	if g.Wide {
		VPORQ(y, x, to)
	} else {
		VPOR(y, x, to)
	}
}

func and(x vectors, y any) vectors {
	return x.each(func(x, to VecVirtual, i int) { andTo(of(y, i), x, to) })
}

func andTo(y, x, to Op) {
	if g.Wide {
		VPANDQ(y, x, to)
	} else {
		VPAND(y, x, to)
	}
}

func xor(x vectors, y any) vectors {
	return x.each(func(x, to VecVirtual, i int) {
		if g.Wide {
			VPXORQ(of(y, i), x, to)
		} else {
			VPXOR(of(y, i), x, to)
		}
	})
}

// times returns products of float64.
func times(x vectors, c float64) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VMULPD(g.Const(c), x, to) })
}

func abs(x vectors) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VPABSQ(x, to) })
	}
	k := vectorsOf(negative(x))
	return sub(xor(x, k), k)
}

// vectorsOf returns the masks of AVX2.
func vectorsOf(k masks) (x vectors) {
	for _, k := range k {
		x = append(x, k.(VecVirtual))
	}
	return x
}

// copies returns a register for each of x, with the operand y.
func (x vectors) copies(y Op) vectors {
	return x.each(func(_, to VecVirtual, _ int) { g.Mov(y, to) })
}

// zeros returns a register of zeros for each of x.
func (x vectors) zeros() vectors { return g.Zeros(len(x)) }

const (
	unit52 = 0x1p52 // has a last bit of 1
	unit84 = 0x1p84 // of 2³²
	middle = 0x1.8p52
)

// toFloat returns words without a sign as float64, rounded to nearest.
func toFloat(x vectors) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VCVTUQQ2PD(x, to) })
	}
	return halvesToFloat(x, or(shiftRight(x, 32), Bits(math.Float64bits(unit84))), unit84+unit52)
}

// signedToFloat is toFloat of numbers with a sign.
func signedToFloat(x vectors) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VCVTQQ2PD(x, to) })
	}
	return halvesToFloat(x, xor(shiftRight(x, 32), Bits(math.Float64bits(unit84)|1<<31)), unit84+0x1p63+unit52)
}

// halvesToFloat returns the sum of 2³² times the high halves, which are the last bits of high, and the low halves of x.
// The first two steps are exact.
func halvesToFloat(x, high vectors, excess float64) vectors {
	return x.each(func(x, to VecVirtual, i int) {
		VSUBPD(g.Const(excess), high[i], high[i])
		VPBLENDD(Imm(0xaa), g.Const(unit52), x, to)
		VADDPD(high[i], to, to)
	})
}

// toInteger returns float64 below 2⁶³, rounded to nearest, ties to even.
func toInteger(x vectors) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VCVTPD2QQ(x, to) })
	}
	return x.each(func(x, to VecVirtual, _ int) {
		rest := g.Reg()
		g.Mov(g.Const(0x1p-32), to)
		VFMADD213PD(g.Const(middle), x, to) // the last bits are x/2³²
		VSUBPD(g.Const(middle), to, rest)
		VFNMADD132PD(g.Const(0x1p32), x, rest) // exact
		VADDPD(g.Const(middle), rest, rest)
		VPSLLQ(Imm(32), to, to)
		VPSUBQ(g.Const(middle), rest, rest)
		VPADDQ(rest, to, to)
	})
}

// toShort is toInteger of float64 below 2⁵¹.
func toShort(x vectors) vectors {
	if g.Wide {
		return toInteger(x)
	}
	return x.each(func(x, to VecVirtual, _ int) {
		VADDPD(g.Const(middle), x, to)
		VPSUBQ(g.Const(middle), to, to)
	})
}

// truncated is toShort, rounded towards 0. With AVX2, NaN becomes 0.
func truncated(x vectors) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VCVTTPD2QQ(x, to) })
	}
	const towardsZero = 3
	return toShort(x.each(func(x, to VecVirtual, _ int) {
		VMAXPD(g.Zeros(1)[0], x, to)
		VROUNDPD(Imm(towardsZero), to, to)
	}))
}

// A factor of a product has top, its bits from 52 on, or from 32 on with AVX2. Short factors have none, and tiny ones no
// bits from 40 on.
type factor struct {
	x    any // the other bits are its low 52, or 32
	top  any // nil if 0
	tiny bool
}

// limb returns how many bits of a factor are not in top.
func limb() int {
	if g.Wide {
		return 52
	}
	return 32
}

func wide(x vectors) factor { return factor{x: x, top: shiftRight(x, limb())} }

// upTo returns x as a factor that is at most as large as the given number.
func upTo(most uint64, x vectors) factor {
	if most>>limb() != 0 {
		return wide(x)
	}
	return factor{x: x, tiny: most>>40 == 0}
}

func constant(x uint64) factor { return factor{x: Bits(x), top: Bits(x >> limb())} }

// mulHigh returns the high words of the products. With x = x₁·2⁵² + x₀, the high word has nothing of
// the lo of x₀·y₀. It is ⌊(hi of x₀·y₀ + los of x₁·y₀ and x₀·y₁)/2¹²⌋ + 2⁴⁰·(their his + x₁·y₁).
func mulHigh(x, y factor) vectors {
	if !g.Wide {
		high, _ := mulWords(x, y, false)
		return high
	}
	x0 := x.x.(vectors)
	low, high := x0.zeros(), vectors(nil)
	for i := range x0 {
		VPMADD52HUQ(of(y.x, i), x0[i], low[i])
	}
	cross := func(a vectors, b any) {
		for i := range a {
			VPMADD52LUQ(of(b, i), a[i], low[i])
		}
		if y.tiny {
			return // x₁·y₀ is below 2⁵²
		}
		if high == nil {
			high = x0.zeros()
		}
		for i := range a {
			VPMADD52HUQ(of(b, i), a[i], high[i])
		}
	}
	if y.top != nil {
		cross(x0, y.top)
	}
	if x.top != nil {
		cross(x.top.(vectors), y.x)
	}
	for i := range x0 {
		if x.top != nil && y.top != nil {
			VPMADD52LUQ(of(y.top, i), x.top.(vectors)[i], high[i])
		}
		VPSRLQ(Imm(12), low[i], low[i])
		if high != nil {
			VPSLLQ(Imm(40), high[i], high[i])
			VPADDQ(high[i], low[i], low[i])
		}
	}
	return low
}

// mulBoth returns the high and the low words of the products.
func mulBoth(x, y factor) (high, low vectors) {
	if !g.Wide {
		return mulWords(x, y, true)
	}
	return mulHigh(x, y), x.x.(vectors).each(func(x, to VecVirtual, i int) { VPMULLQ(of(y.x, i), x, to) })
}

// mulWords is mulBoth with limbs of 32 bits, without the low words if both is not set. With
//
//	m = x₁·y₀ + ⌊x₀·y₀/2³²⌋ and n = x₀·y₁ + m mod 2³²,
//
// which do not wrap, the high word is x₁·y₁ + ⌊m/2³²⌋ + ⌊n/2³²⌋, and 2³²·n has the rest of the low word.
func mulWords(x, y factor, both bool) (high, low vectors) {
	high = x.x.(vectors).each(func(x0, high VecVirtual, i int) {
		l, n := g.Reg(), g.Reg()
		product := func(to VecVirtual, x VecVirtual, y any) VecVirtual {
			VPMULUDQ(of(y, i), x, to)
			return to
		}
		product(l, x0, y.x)
		m := l
		if both {
			m = g.Reg()
		}
		VPSRLQ(Imm(32), l, m)
		if x.top != nil {
			VPADDQ(product(high, x.top.(vectors)[i], y.x), m, m)
		}
		if y.top == nil {
			g.Mov(m, n)
			VPSRLQ(Imm(32), m, high)
		} else {
			VPAND(Bits(1<<32-1), m, n)
			VPADDQ(product(high, x0, y.top), n, n)
			VPSRLQ(Imm(32), m, high)
			rest := g.Reg()
			VPSRLQ(Imm(32), n, rest)
			VPADDQ(rest, high, high)
			if x.top != nil {
				VPADDQ(product(rest, x.top.(vectors)[i], y.top), high, high)
			}
		}
		if both {
			VPSLLQ(Imm(32), n, n)
			VPBLENDD(Imm(0xaa), n, l, l)
			low = append(low, l)
		}
	})
	return high, low
}

// mulLow returns the low words of the products. y is vectors, or a constant.
func mulLow(x vectors, y any) vectors {
	v, isVector := y.(vectors)
	var f factor
	if isVector {
		f.x = v
	} else {
		f = constant(y.(uint64))
	}
	if g.Wide {
		return x.each(func(x, to VecVirtual, i int) { VPMULLQ(of(f.x, i), x, to) })
	}
	square := isVector && &v[0] == &x[0]
	return x.each(func(x, to VecVirtual, i int) {
		cross := g.Reg()
		if isVector {
			VPSRLQ(Imm(32), v[i], cross)
			VPMULUDQ(cross, x, cross)
		} else {
			VPMULUDQ(of(f.top, i), x, cross)
		}
		if square {
			VPSLLQ(Imm(33), cross, cross)
		} else {
			VPSRLQ(Imm(32), x, to)
			VPMULUDQ(of(f.x, i), to, to)
			VPADDQ(to, cross, cross)
			VPSLLQ(Imm(32), cross, cross)
		}
		VPMULUDQ(of(f.x, i), x, to)
		VPADDQ(cross, to, to)
	})
}

// addCarry returns x + y, and adds 1 to high where it wraps.
func addCarry(x, y, high vectors) vectors {
	s := add(x, y)
	for i := range s { // one by one, as there are few masks
		k := compareUnsigned(less, s[i:i+1], x[i:i+1])[0]
		if g.Wide {
			VPSUBQ(Bits(1<<64-1), high[i], k, high[i])
		} else {
			VPSUBQ(k, high[i], high[i])
		}
	}
	return s
}

// Predicates of VPCMPQ and VPCMPUQ.
const (
	less         = 1
	lessEqual    = 2
	notEqual     = 4
	greaterEqual = 5
	greater      = 6
)

// compare returns where x compares to y, as numbers with a sign.
func compare(predicate uint64, x vectors, y any) masks {
	return x.eachMask(func(x VecVirtual, k Register, i int) {
		y := of(y, i)
		if g.Wide {
			VPCMPQ(Imm(predicate), y, x, k)
			return
		}
		switch predicate {
		case greater, lessEqual:
			VPCMPGTQ(y, x, k)
		case less, greaterEqual:
			if _, ok := y.(Mem); ok {
				y = g.CopyOf(y)
			}
			VPCMPGTQ(x, y, k)
		default:
			panic(predicate)
		}
		if predicate == lessEqual || predicate == greaterEqual {
			VPXOR(Bits(1<<64-1), k, k)
		}
	})
}

// compareUnsigned is compare of words without a sign.
func compareUnsigned(predicate uint64, x, y vectors) masks {
	if g.Wide {
		return x.eachMask(func(x VecVirtual, k Register, i int) { VPCMPUQ(Imm(predicate), y[i], x, k) })
	}
	return compare(predicate, xor(x, Bits(1<<63)), xor(y, Bits(1<<63)))
}

// notBelow returns where x is not below c, or NaN.
func notBelow(x vectors, c float64) masks {
	return x.eachMask(func(x VecVirtual, k Register, _ int) { VCMPPD(Imm(NLT), g.Const(c), x, k) })
}

// negative returns where x is below 0.
func negative(x vectors) masks {
	return x.eachMask(func(x VecVirtual, k Register, _ int) {
		if g.Wide {
			VPMOVQ2M(x, k)
		} else {
			VPCMPGTQ(x, g.Zeros(1)[0], k)
		}
	})
}

// has returns where x has some of the given bits.
func has(x vectors, ones uint64) masks {
	switch {
	case g.Wide:
		return x.eachMask(func(x VecVirtual, k Register, _ int) { VPTESTMQ(Bits(ones), x, k) })
	case ones&(ones-1) == 0:
		return negative(shiftLeft(x, bits.LeadingZeros64(ones)))
	}
	k := isZero(and(x, Bits(ones)))
	for _, k := range k {
		VPXOR(Bits(1<<64-1), k, k)
	}
	return k
}

// isZero returns where x is 0.
func isZero(x vectors) masks {
	return x.eachMask(func(x VecVirtual, k Register, _ int) {
		if g.Wide {
			VPTESTNMQ(x, x, k)
		} else {
			VPCMPEQQ(g.Zeros(1)[0], x, k)
		}
	})
}

// or adds other masks to k[0].
func (k masks) or(others ...Register) {
	for _, other := range others {
		if g.Wide {
			KORB(other, k[0], k[0])
		} else {
			VPOR(other, k[0], k[0])
		}
	}
}

// orAll adds masks to k, one by one.
func (k masks) orAll(others ...masks) masks {
	for _, other := range others {
		for i := range k {
			k[i : i+1].or(other[i])
		}
	}
	return k
}

// and leaves of k what is in the other masks, one by one.
func (k masks) and(other masks) masks {
	for i := range k {
		if g.Wide {
			KANDB(other[i], k[i], k[i])
		} else {
			VPAND(other[i], k[i], k[i])
		}
	}
	return k
}

// keep clears the other lanes of x.
func (k masks) keep(x vectors) {
	for i := range x {
		if g.Wide {
			VMOVUPD_Z(x[i], k[i], x[i])
		} else {
			VPAND(k[i], x[i], x[i])
		}
	}
}

// choose puts y in the lanes of k.
func choose(k masks, y any, x vectors) {
	for i := range x {
		if g.Wide {
			VMOVUPD(of(y, i), k[i], x[i])
		} else {
			VBLENDVPD(k[i], of(y, i), x[i], x[i])
		}
	}
}

// addWhere adds the constant y to x in the lanes of k.
func addWhere(k masks, y uint64, x vectors) { addMasked(k, Bits(y), x) }

// addMasked adds y to x in the lanes of k.
func addMasked(k masks, y any, x vectors) {
	for i := range x {
		if g.Wide {
			VPADDQ(of(y, i), x[i], k[i], x[i])
			continue
		}
		t := g.Reg()
		VPAND(of(y, i), k[i], t)
		VPADDQ(t, x[i], x[i])
	}
}

// subMasked subtracts y from x in the lanes of k.
func subMasked(k masks, y any, x vectors) {
	for i := range x {
		if g.Wide {
			VPSUBQ(of(y, i), x[i], k[i], x[i])
			continue
		}
		t := g.Reg()
		VPAND(of(y, i), k[i], t)
		VPSUBQ(t, x[i], x[i])
	}
}

// negateWhere negates x in the lanes where y is negative.
func negateWhere(y, x vectors) {
	for i := range x {
		k := negative(y[i : i+1])[0]
		if g.Wide {
			VPSUBQ(x[i], g.Zeros(1)[0], k, x[i])
		} else {
			VPXOR(k, x[i], x[i])
			VPSUBQ(k, x[i], x[i])
		}
	}
}

// inOrder returns the smaller and the larger of words without a sign.
func inOrder(a, b vectors) (least, most vectors) {
	if g.Wide {
		return a.each(func(a, to VecVirtual, i int) { VPMINUQ(b[i], a, to) }), a.each(func(a, to VecVirtual, i int) { VPMAXUQ(b[i], a, to) })
	}
	k := compareUnsigned(greater, a, b)
	least, most = a.each(func(a, to VecVirtual, _ int) { g.Mov(a, to) }), b.each(func(b, to VecVirtual, _ int) { g.Mov(b, to) })
	choose(k, b, least)
	choose(k, a, most)
	return least, most
}

// atLeast returns the larger of x, as numbers with a sign, and a constant.
func atLeast(c uint64, x vectors) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VPMAXSQ(Bits(c), x, to) })
	}
	to := x.copies(Bits(c))
	choose(compare(greater, x, to), x, to)
	return to
}

// leadingZeros returns how many bits of x are 0 before the first that is not. With AVX2 it is 64 or more for 0.
func leadingZeros(x vectors) vectors {
	if g.Wide {
		return x.each(func(x, to VecVirtual, _ int) { VPLZCNTQ(x, to) })
	}
	// Without the bit after its first, x is not rounded to the next power of two. The exponent then says where the first is.
	x = x.each(func(x, to VecVirtual, _ int) {
		VPSRLQ(Imm(1), x, to)
		VPANDN(x, to, to)
	})
	return subFrom(1023+63, shiftRight(toFloat(x), 52))
}

// gather returns the words of a table.
func gather(table Register, index vectors, disp int) vectors {
	return index.each(func(index, to VecVirtual, _ int) {
		g.Clear(to)
		all := newMask()
		if g.Wide {
			VPCMPQ(Imm(greaterEqual), to, to, all)
		} else {
			g.Mov(Bits(1<<64-1), all)
		}
		at := Mem{Base: table, Index: index, Scale: 8, Disp: disp}
		if g.Wide {
			VPGATHERQQ(at, all, to)
		} else {
			VPGATHERQQ(all, at, to)
		}
	})
}
