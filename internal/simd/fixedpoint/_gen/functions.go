package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"revnum/internal/fixedtables"
	. "revnum/internal/simd/asm"
)

// Functions of single numbers. They do what the functions of package fixed do, step by step, and
// so have their bits. Numbers are words without a sign where those of package fixed are.

func functions() {
	const stops = " It stops before a vector with a number that it does not handle, and returns how many numbers are done."
	only := func(name, sig, doc string, body func()) {
		Func(name, Variant{Tier: "AVX512"}, sig, doc, body)
	}
	only("addQuotients", "func(n int, x, y, z *int64, minus int) int", "computes z_i += x_i/y_i, or -= if minus is -1 and not 0."+stops, quotients)
	for _, f := range []struct {
		name, equation string
		tables         string
		value          func(x VecVirtual) (y VecVirtual, bad Register)
	}{
		{"addSqrt", "√x_i", "", sqrt}, {"addExp", "exp(x_i)", ", coarse, fine *uint64", exp}, {"addLog", "log(x_i)", ", table *uint64", logarithm},
	} {
		only(f.name, "func(n int, x, y *int64, minus int"+f.tables+") int", "computes y_i += "+f.equation+", or -= if minus is -1 and not 0."+stops, func() {
			x := Arg("x")
			addValues("y", func(l Step) (VecVirtual, Register) { return f.value(l.Load(x)) })
		})
	}
	only("addSine", "func(n int, x, y *int64, minus, quarter int) int", "computes y_i += sin(x_i), or cos(x_i) if quarter is 1 and not 0, or -= if minus is -1 and not 0. It returns n.", func() {
		x := Arg("x")
		quarter, odd := g.Reg(), g.Reg()
		VPBROADCASTQ(Arg("quarter"), quarter)
		VPSUBQ(Bits(1), quarter, odd) // all ones for the sine
		addValues("y", func(l Step) (VecVirtual, Register) { return sine(l.Load(x), quarter, odd), nil })
	})
}

var g = ifma

// addValues adds values to a vector, and stops where some are bad.
func addValues(to string, value func(l Step) (v VecVirtual, bad Register)) {
	n, p, minus, done := Arg("n"), Arg(to), g.Reg(), GP64()
	VPBROADCASTQ(Arg("minus"), minus)
	g.Loop(n, 1, func(l Step, _ int) {
		v, bad := value(l)
		if bad != nil {
			if l.Mask != nil {
				KANDB(l.Mask.K, bad, bad)
			}
			KTESTB(bad, bad)
			good := Unique("good")
			JZ(LabelRef(good))
			MOVQ(l.I, done)
			JMP(LabelRef("stopped"))
			Label(good)
		}
		VPXORQ(minus, v, v)
		VPSUBQ(minus, v, v)
		VPADDQ(l.Load(p), v, v)
		l.Store(v, p)
	}, nil)
	MOVQ(n, done)
	Label("stopped")
	MOVQ(done, Result())
}

// Arithmetic of vectors. Results are new registers.

func shiftRight(x Op, bits int) VecVirtual {
	r := g.Reg()
	VPSRLQ(Imm(uint64(bits)), x, r)
	return r
}

func shiftLeft(x Op, bits int) VecVirtual {
	r := g.Reg()
	VPSLLQ(Imm(uint64(bits)), x, r)
	return r
}

func add(x, y Op) VecVirtual {
	r := g.Reg()
	VPADDQ(y, x, r)
	return r
}

// sub returns x - y.
func sub(x, y Op) VecVirtual {
	r := g.Reg()
	VPSUBQ(y, x, r)
	return r
}

func or(x, y Op) VecVirtual {
	r := g.Reg()
	VPORQ(y, x, r)
	return r
}

func and(x, y Op) VecVirtual {
	r := g.Reg()
	VPANDQ(y, x, r)
	return r
}

func abs(x Op) VecVirtual {
	r := g.Reg()
	VPABSQ(x, r)
	return r
}

// mulLow returns the low words of the products.
func mulLow(x, y Op) VecVirtual {
	r := g.Reg()
	VPMULLQ(y, x, r)
	return r
}

// A factor of mulHigh has its bits from 52 on. Short factors have none.
type factor struct {
	x   Op // the other bits are its low 52
	top Op // nil if 0
}

func wide(x VecVirtual) factor { return factor{x, shiftRight(x, 52)} }

func short(x VecVirtual) factor { return factor{x, nil} }

func constant(x uint64) factor {
	if x>>52 == 0 {
		return factor{Bits(x), nil}
	}
	return factor{Bits(x), Bits(x >> 52)}
}

// mulHigh returns the high words of the products. With x = x₁·2⁵² + x₀, the high word has nothing of
// the lo of x₀·y₀. It is ⌊(hi of x₀·y₀ + los of x₁·y₀ and x₀·y₁)/2¹²⌋ + 2⁴⁰·(their his + x₁·y₁). x is
// in a register.
func mulHigh(x, y factor) VecVirtual {
	low, high := g.Zeros(1)[0], VecVirtual(nil)
	x0 := x.x.(VecVirtual)
	VPMADD52HUQ(y.x, x0, low)
	cross := func(a VecVirtual, b Op) {
		if high == nil {
			high = g.Zeros(1)[0]
		}
		VPMADD52LUQ(b, a, low)
		VPMADD52HUQ(b, a, high)
	}
	if y.top != nil {
		cross(x0, y.top)
	}
	if x.top != nil {
		cross(x.top.(VecVirtual), y.x)
	}
	if x.top != nil && y.top != nil {
		VPMADD52LUQ(y.top, x.top.(VecVirtual), high)
	}
	VPSRLQ(Imm(12), low, low)
	if high != nil {
		VPSLLQ(Imm(40), high, high)
		VPADDQ(high, low, low)
	}
	return low
}

// addCarry returns x + y, and adds 1 to high where it wraps.
func addCarry(x, y, high VecVirtual) VecVirtual {
	s, k := add(x, y), K()
	VPCMPUQ(Imm(less), x, s, k)
	VPSUBQ(Bits(1<<64-1), high, k, high)
	return s
}

// Predicates of VPCMPQ and VPCMPUQ.
const (
	less         = 1
	lessEqual    = 2
	greaterEqual = 5
	greater      = 6
)

// compare returns where x compares to y, as numbers with a sign.
func compare(predicate uint64, x, y Op) Register {
	k := K()
	VPCMPQ(Imm(predicate), y, x, k)
	return k
}

// negateWhere negates x in the lanes of k.
func negateWhere(k Register, x, zero VecVirtual) { VPSUBQ(x, zero, k, x) }

// mul64 returns ⌊c·x/2⁶⁴⌋, two words, for a constant of two words.
func mul64(c [2]uint64, x VecVirtual) (high, low VecVirtual) {
	f := wide(x)
	h := mulHigh(f, constant(c[1]))
	high, low = mulHigh(f, constant(c[0])), mulLow(x, Bits(c[0]))
	return high, addCarry(low, h, high)
}

// quotients adds quotients n/d of magnitudes, with a sign. q₀ = n·2⁴³/d in float64 is within 2⁻⁵⁰ times
// itself. If it is below 2⁶², and d too, the remainder r = n·2⁴³ - q₀·d is within n·2⁻⁷ + d/2, so
// that its low word is all of it. The same step for r/d, which is below 2¹³, leaves a remainder within
// d/2 and a little more. That one decides.
func quotients() {
	px, py := Arg("x"), Arg("y")
	one, zero := g.CopyOf(g.Const(1)), g.Zeros(1)[0]
	addValues("z", func(l Step) (VecVirtual, Register) {
		x, y := l.Load(px), l.Load(py)
		sign, n, d := g.Reg(), abs(x), abs(y)
		VPXORQ(x, y, sign)
		reciprocal, q, bad, tooLarge := g.Reg(), g.Reg(), K(), K()
		VCVTUQQ2PD(d, reciprocal)
		VDIVPD(reciprocal, one, reciprocal)
		VCVTUQQ2PD(n, q)
		VMULPD(g.Const(1<<fraction), q, q)
		VMULPD(reciprocal, q, q)
		VCMPPD(Imm(NLT), g.Const(0x1p62), q, bad) // or y is 0
		VPTESTMQ(Bits(3<<62), d, tooLarge)
		KORB(tooLarge, bad, bad)
		VCVTPD2QQ(q, q)
		r := sub(shiftLeft(n, fraction), mulLow(q, d))
		step := g.Reg()
		VCVTQQ2PD(r, step)
		VMULPD(reciprocal, step, step)
		VCVTPD2QQ(step, step)
		VPADDQ(step, q, q)
		VPSUBQ(mulLow(step, d), r, r)
		// 2r + 1 > d is 2r >= d, where an odd q is rounded up.
		odd := and(q, Bits(1))
		up := compare(greater, add(r, odd), sub(d, r))
		down := compare(greater, sub(odd, r), add(d, r))
		VPSUBQ(Bits(1<<64-1), q, up, q)
		VPADDQ(Bits(1<<64-1), q, down, q)
		negative := compare(less, sign, zero)
		negateWhere(negative, q, zero)
		return q, bad
	})
}

// sqrt is like fixed.Sqrt: the root s in float64 is within one of the result.
func sqrt(x VecVirtual) (VecVirtual, Register) {
	zero, s := g.Zeros(1)[0], g.Reg()
	bad := compare(less, x, zero)
	VCVTQQ2PD(x, s)
	VMULPD(g.Const(1<<fraction), s, s)
	VSQRTPD(s, s)
	VCVTPD2QQ(s, s)
	r := sub(shiftLeft(x, fraction), mulLow(s, s))
	up := compare(greater, r, s)
	positive, down := compare(greater, s, zero), K()
	VPCMPQ(Imm(lessEqual), zero, add(r, s), positive, down)
	VPSUBQ(Bits(1<<64-1), s, up, s)
	VPADDQ(Bits(1<<64-1), s, down, s)
	return s, bad
}

// sine is like fixed.SinCos. The cosine is the sine of a quarter more, but for the sign of x.
// odd is all ones for the sine, and 0 for the cosine.
func sine(x, quarter, odd VecVirtual) VecVirtual {
	zero := g.Zeros(1)[0]
	high, low := mul64(fixedtables.InvTauQ128, abs(x))
	turns := or(shiftLeft(high, 64-fraction), shiftRight(low, fraction))
	q := shiftRight(add(turns, Bits(1<<61)), 62)
	rest := sub(turns, shiftLeft(q, 62))
	back := compare(less, rest, zero)
	theta := mulHigh(wide(shiftLeft(abs(rest), 2)), constant(fixedtables.TauQ61))
	angle := wide(theta)
	z := wide(shiftLeft(mulHigh(angle, angle), 2))
	inverse := fixedtables.InvFactorial
	s, c := g.CopyOf(Bits(inverse[15])), g.CopyOf(Bits(inverse[16]))
	next := func(sum VecVirtual, k int) VecVirtual { // after the one of 1/k!
		f := factor{sum, nil}
		if inverse[k]>>52 != 0 {
			f = wide(sum)
		}
		return mulHigh(z, f)
	}
	for k := 13; k >= 3; k -= 2 {
		s = subFrom(inverse[k], next(s, k+2))
	}
	for k := 14; k >= 2; k -= 2 {
		c = subFrom(inverse[k], next(c, k+2))
	}
	s = mulHigh(angle, wide(subFrom(1<<63, shiftRight(next(s, 3), 1))))
	c = subFrom(1<<63, shiftRight(next(c, 2), 1))
	s = shiftRight(add(s, Bits(1<<(61-fraction))), 62-fraction)
	c = shiftRight(add(c, Bits(1<<(62-fraction))), 63-fraction)
	negateWhere(back, s, zero)

	turn, cosine, half, negative := add(q, quarter), K(), K(), and(x, odd)
	VPTESTMQ(Bits(1), turn, cosine)
	VPTESTMQ(Bits(2), turn, half)
	VMOVUPD(c, cosine, s)
	negateWhere(half, s, zero)
	negateWhere(compare(less, negative, zero), s, zero)
	return s
}

// subFrom returns c - x for a constant.
func subFrom(c uint64, x VecVirtual) VecVirtual {
	VPSUBQ(x, g.CopyOf(Bits(c)), x)
	return x
}

// exp is like fixed.Exp. Below 2⁻⁴⁴ all bits are shifted out. It does not handle numbers above 13.8.
func exp(x VecVirtual) (VecVirtual, Register) {
	const one = 1 << fraction
	bad := compare(greaterEqual, x, Bits(138*one/10))
	least := -31 * one
	VPMAXSQ(Bits(uint64(least)), x, x)
	u := shiftLeft(add(x, Bits(32*one)), 57-fraction)
	high, low := mul64(fixedtables.Log2eLess1Q128, u)
	VPADDQ(Bits(fixedtables.ExpOffsetQ121[0]), high, high)
	low = addCarry(g.CopyOf(Bits(fixedtables.ExpOffsetQ121[1])), low, high)
	VPADDQ(u, high, high)
	shift := subFrom(20+64, shiftRight(high, 57)) // 20 - k
	fHigh, fLow := or(shiftLeft(high, 7), shiftRight(low, 57)), shiftLeft(low, 7)

	coarse, fine := Arg("coarse"), Arg("fine")
	i := shiftRight(fHigh, 56)
	VPADDQ(i, i, i)
	a, aLow := gather(coarse, i, 0), gather(coarse, i, 8)
	b := gather(fine, and(shiftRight(fHigh, 48), Bits(0xff)), 0)
	r := or(shiftLeft(fHigh, 16), shiftRight(fLow, 48))

	z := mulHigh(wide(r), constant(fixedtables.Ln2Q64))
	zf := wide(z)
	z2 := mulHigh(zf, zf)
	z3 := shiftRight(mulHigh(wide(z2), zf), 32)
	VPMULUDQ(Bits(0xaaaaaaab), z3, z3) // z3/6 is z3·0xaaaaaaab/2³⁴ for words of 32 bits
	p := add(add(z, shiftRight(z2, 17)), shiftRight(z3, 34))
	s := add(add(b, shiftRight(p, 8)), shiftRight(mulHigh(wide(b), wide(p)), 16))
	t := mulHigh(wide(a), wide(s))
	m := add(a, shiftRight(t, 8))
	addCarry(aLow, shiftLeft(t, 56), m)
	v, last := g.Reg(), g.Reg()
	VPSRLVQ(shift, m, v)
	VPSRLVQ(sub(shift, Bits(1)), m, last)
	return add(v, and(last, Bits(1))), bad
}

// gather returns the words of a table.
func gather(table Register, index VecVirtual, disp int) VecVirtual {
	r := g.Zeros(1)[0]
	VPGATHERQQ(Mem{Base: table, Index: index, Scale: 8, Disp: disp}, compare(greaterEqual, r, r), r)
	return r
}

// logarithm is like fixed.Log. It does not handle numbers that are not positive.
func logarithm(x VecVirtual) (VecVirtual, Register) {
	bad := compare(lessEqual, x, g.Zeros(1)[0])
	zeros, m := g.Reg(), g.Reg()
	VPLZCNTQ(x, zeros)
	VPSLLVQ(zeros, x, m)
	exponent := subFrom(63-fraction, zeros)
	table := Arg("table")
	i := and(shiftRight(m, 55), Bits(0xff))
	VPADDQ(add(i, i), i, i)
	inverse, ln := gather(table, i, 0), gather(table, i, 8)
	u := or(shiftLeft(mulHigh(wide(m), wide(inverse)), 10), shiftRight(mulLow(m, inverse), 54))
	uf := wide(u)
	w := wide(mulHigh(uf, uf))
	eighth := wide(shiftRight(u, 8))
	// v/5 and v/3 are the high words of these products over 4 and 2.
	p := subFrom(1<<62, shiftRight(mulHigh(eighth, constant(0xcccccccccccccccd)), 2))
	p = add(subFrom(1<<63, shiftRight(mulHigh(eighth, constant(0xaaaaaaaaaaaaaaab)), 1)), shiftRight(mulHigh(w, wide(p)), 16))
	u = sub(u, shiftRight(mulHigh(w, wide(p)), 8))
	ln = add(ln, shiftRight(u, 8))
	v := add(mulLow(exponent, Bits(fixedtables.Ln2Q57)), shiftRight(ln, 7))
	VPADDQ(Bits(1<<(56-fraction)), v, v)
	VPSRAQ(Imm(57-fraction), v, v)
	return v, bad
}
