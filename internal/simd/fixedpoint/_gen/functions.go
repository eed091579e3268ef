package main

import (
	"slices"

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
		value          func(x vectors) (y vectors, bad masks)
		unroll         int
	}{
		{"addSqrt", "√x_i", "", sqrt, 2}, {"addExp", "exp(x_i)", ", coarse, fine *uint64", exp, 2}, {"addLog", "log(x_i)", ", table *uint64", logarithm, 2},
		{"addTan", "tan(x_i)", "", tangent, 2},
	} {
		only(f.name, "func(n int, x, y *int64, minus int"+f.tables+") int", "computes y_i += "+f.equation+", or -= if minus is -1 and not 0."+stops, func() {
			x := Arg("x")
			addValues("y", f.unroll, func(ls []Step) (vectors, masks) { return f.value(loadAll(ls, x)) })
		})
	}
	only("addAtan2", "func(n int, y, x, z *int64, minus int, table *uint64) int", "computes z_i += atan2(y_i, x_i), or -= if minus is -1 and not 0."+stops, atan2)
	only("addAtan2Slopes", "func(n int, y, x, v, gy, gx *int64) int", "computes gy_i += x_i·v_i/h_i² and gx_i -= y_i·v_i/h_i², with h_i² = x_i² + y_i²."+stops, atan2Slopes)
	only("addPow", "func(n int, x, y, z *int64, minus int, coarse, fine, logs *uint64) int", "computes z_i += x_i to the power y_i, or -= if minus is -1 and not 0."+stops, pow)
	only("powers", "func(n int, x, y, p, q *int64, coarse, fine, logs *uint64) int", "sets p_i and q_i to x_i to the powers y_i and y_i - 1."+stops, powers)
	only("addSigned", "func(n int, x, v, y *int64, below, minus int)", "computes y_i += v_i where x_i > 0, and y_i -= v_i where x_i < 0 if below is -1 and not 0; or -= and += if minus is -1 and not 0.", signed)
	only("toFloats", "func(n int, x *int64, y *float64)", "sets y_i to x_i rounded to nearest.", floats)
	only("addRounded", "func(n int, v *float64, y *int64, minus int) int", "computes y_i += v_i rounded to nearest, or -= if minus is -1 and not 0."+stops, func() {
		v := Arg("v")
		addValues("y", 2, func(ls []Step) (vectors, masks) { return rounded(loadAll(ls, v)) })
	})
	only("addSine", "func(n int, x, y *int64, minus, quarter int) int", "computes y_i += sin(x_i), or cos(x_i) if quarter is 1 and not 0, or -= if minus is -1 and not 0. It returns n.", func() {
		x := Arg("x")
		quarter, odd := g.Reg(), g.Reg()
		VPBROADCASTQ(Arg("quarter"), quarter)
		VPSUBQ(Bits(1), quarter, odd) // all ones for the sine
		addValues("y", 2, func(ls []Step) (vectors, masks) { return sine(loadAll(ls, x), quarter, odd), nil })
	})
}

var g = ifma

// signed adds v where x is positive, and subtracts the words that are in both v and below where x is negative.
func signed() {
	n, x, v, y, below, minus, zero := Arg("n"), Arg("x"), Arg("v"), Arg("y"), g.Reg(), g.Reg(), g.Zeros(1)[0]
	VPBROADCASTQ(Arg("minus"), minus)
	VPBROADCASTQ(Arg("below"), below)
	g.Loop(n, 2, func(l Step, _ int) {
		a, b, sum, positive, negative := l.Load(x), l.Load(v), l.Load(y), K(), K()
		VPCMPQ(Imm(greater), zero, a, positive)
		VPMOVQ2M(a, negative)
		VPXORQ(minus, b, b)
		VPSUBQ(minus, b, b)
		VPADDQ(b, sum, positive, sum)
		VPANDQ(below, b, b)
		VPSUBQ(b, sum, negative, sum)
		l.Store(sum, y)
	}, nil)
}

// floats converts to nearest float64.
func floats() {
	n, x, y := Arg("n"), Arg("x"), Arg("y")
	g.Loop(n, 2, func(l Step, _ int) {
		v := l.Load(x)
		VCVTQQ2PD(v, v)
		VMULPD(g.Const(1.0/(1<<fraction)), v, v)
		l.Store(v, y)
	}, nil)
}

// rounded is like fixed.FromFloat64. It does not handle NaN and numbers out of range.
func rounded(v vectors) (vectors, masks) {
	bad := make(masks, len(v))
	return v.each(func(v, to VecVirtual, i int) {
		bad[i] = K()
		VPANDQ(Bits(1<<63-1), v, to)
		VCMPPD(Imm(NLT), g.Const(1<<(63-fraction)), to, bad[i])
		VMULPD(g.Const(1<<fraction), v, v)
		VCVTPD2QQ(v, to)
	}), bad
}

// untilBad runs a loop, some registers at a time, which stops before some are bad. body returns where, and
// a function that stores.
func untilBad(unroll int, body func(ls []Step) (bad masks, store func())) {
	n, done := Arg("n"), GP64()
	g.Groups(n, unroll, func(ls []Step) {
		bad, store := body(ls)
		if bad != nil {
			bad[:1].or(bad[1:]...)
			if ls[0].Mask != nil {
				KANDB(ls[0].Mask.K, bad[0], bad[0])
			}
			KTESTB(bad[0], bad[0])
			good := Unique("good")
			JZ(LabelRef(good))
			MOVQ(ls[0].I, done)
			JMP(LabelRef("stopped"))
			Label(good)
		}
		store()
	}, nil)
	MOVQ(n, done)
	Label("stopped")
	MOVQ(done, Result())
}

// addValues adds values to a vector.
func addValues(to string, unroll int, values func(ls []Step) (v vectors, bad masks)) {
	p, minus := Arg(to), g.Reg()
	VPBROADCASTQ(Arg("minus"), minus)
	untilBad(unroll, func(ls []Step) (masks, func()) {
		v, bad := values(ls)
		return bad, func() {
			for i, l := range ls {
				VPXORQ(minus, v[i], v[i])
				VPSUBQ(minus, v[i], v[i])
				VPADDQ(l.Load(p), v[i], v[i])
				l.Store(v[i], p)
			}
		}
	})
}

// vectors are registers that go through the same steps side by side. A step waits for the one
// before it, so the processor has more to do with two.
type vectors []VecVirtual

// masks are a mask for each of them.
type masks []Register

// or adds other masks to k[0].
func (k masks) or(others ...Register) {
	for _, other := range others {
		KORB(other, k[0], k[0])
	}
}

func loadAll(ls []Step, p Register) vectors {
	x := make(vectors, len(ls))
	for i, l := range ls {
		x[i] = l.Load(p)
	}
	return x
}

// of returns what step i uses of x: vectors, or one operand for all.
func of(x any, i int) Op {
	if x, ok := x.(vectors); ok {
		return x[i]
	}
	return x.(Op)
}

// Arithmetic of vectors. Results are new registers.

func (x vectors) each(f func(x, to VecVirtual, i int)) vectors {
	to := make(vectors, len(x))
	for i := range x {
		to[i] = g.Reg()
		f(x[i], to[i], i)
	}
	return to
}

func shiftRight(x vectors, bits int) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VPSRLQ(Imm(uint64(bits)), x, to) })
}

func shiftLeft(x vectors, bits int) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VPSLLQ(Imm(uint64(bits)), x, to) })
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

func or(x, y vectors) vectors {
	return x.each(func(x, to VecVirtual, i int) { VPORQ(y[i], x, to) })
}

func and(x vectors, y any) vectors {
	return x.each(func(x, to VecVirtual, i int) { VPANDQ(of(y, i), x, to) })
}

func xor(x, y vectors) vectors {
	return x.each(func(x, to VecVirtual, i int) { VPXORQ(y[i], x, to) })
}

// toFloat returns words without a sign as float64.
func toFloat(x vectors) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VCVTUQQ2PD(x, to) })
}

// times returns products of float64.
func times(x vectors, c float64) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VMULPD(g.Const(c), x, to) })
}

func abs(x vectors) vectors {
	return x.each(func(x, to VecVirtual, _ int) { VPABSQ(x, to) })
}

// mulLow returns the low words of the products.
func mulLow(x vectors, y any) vectors {
	return x.each(func(x, to VecVirtual, i int) { VPMULLQ(of(y, i), x, to) })
}

// copies returns a register for each of x, with the operand y.
func (x vectors) copies(y Op) vectors {
	return x.each(func(_, to VecVirtual, _ int) { g.Mov(y, to) })
}

// zeros returns a register of zeros for each of x.
func (x vectors) zeros() vectors { return g.Zeros(len(x)) }

// A factor of mulHigh has its bits from 52 on. Short factors have none, and tiny ones no bits from
// 40 on.
type factor struct {
	x    any // the other bits are its low 52
	top  any // nil if 0
	tiny bool
}

func wide(x vectors) factor { return factor{x: x, top: shiftRight(x, 52)} }

// upTo returns x as a factor that is at most as large as the given number.
func upTo(most uint64, x vectors) factor {
	if most>>52 != 0 {
		return wide(x)
	}
	return factor{x: x, tiny: most>>40 == 0}
}

func constant(x uint64) factor { return factor{x: Bits(x), top: Bits(x >> 52)} }

// mulHigh returns the high words of the products. With x = x₁·2⁵² + x₀, the high word has nothing of
// the lo of x₀·y₀. It is ⌊(hi of x₀·y₀ + los of x₁·y₀ and x₀·y₁)/2¹²⌋ + 2⁴⁰·(their his + x₁·y₁).
func mulHigh(x, y factor) vectors {
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

// addCarry returns x + y, and adds 1 to high where it wraps.
func addCarry(x, y, high vectors) vectors {
	s := add(x, y)
	for i := range s {
		k := K()
		VPCMPUQ(Imm(less), x[i], s[i], k)
		VPSUBQ(Bits(1<<64-1), high[i], k, high[i])
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
	k := make(masks, len(x))
	for i := range x {
		k[i] = K()
		VPCMPQ(Imm(predicate), of(y, i), x[i], k[i])
	}
	return k
}

// addWhere adds the constant y to x in the lanes of k.
func addWhere(k masks, y uint64, x vectors) {
	for i := range x {
		VPADDQ(Bits(y), x[i], k[i], x[i])
	}
}

// negateWhere negates x in the lanes where y is negative.
func negateWhere(y, x vectors) {
	zero := g.Zeros(1)[0]
	for i := range x {
		k := K()
		VPMOVQ2M(y[i], k)
		VPSUBQ(x[i], zero, k, x[i])
	}
}

// quotients adds quotients n/d of magnitudes, with a sign.
func quotients() {
	px, py := Arg("x"), Arg("y")
	addValues("z", 1, func(ls []Step) (vectors, masks) {
		x, y := loadAll(ls, px), loadAll(ls, py)
		n, divisor := abs(x), newDivisor(abs(y))
		q, bad := divisor.divide(shiftLeft(n, fraction), times(toFloat(n), 1<<fraction), tiesToEven)
		negateWhere(xor(x, y), q)
		return q, bad
	})
}

// A divisor is a number d without a sign, with 1/d in float64.
type divisor struct{ d, reciprocal vectors }

func newDivisor(d vectors) divisor {
	one := g.CopyOf(g.Const(1))
	return divisor{d, toFloat(d).each(func(d, to VecVirtual, _ int) { VDIVPD(d, one, to) })}
}

// How a quotient that ends in a half is rounded.
type ties int

const (
	tiesToEven ties = iota
	tiesDown
)

// divide returns n/d rounded to nearest. It takes the low word of n, and n in float64, within 2⁻⁵¹ times
// itself. q₀ = n/d in float64 is within 2⁻⁵⁰ times itself. If n < 2¹¹², the remainder r = n - q₀·d is
// within 2⁶² + d/2. If q₀ and d are below 2⁶², the low word of r is all of it. The same step for r/d,
// which is below 2¹³, leaves a remainder within d/2 and a little more. That one decides. It does not
// handle larger q₀ and d, nor 0/0.
func (v divisor) divide(low, n vectors, t ties) (vectors, masks) {
	d, bad := v.d, make(masks, len(v.d))
	q := n.each(func(n, q VecVirtual, i int) {
		VMULPD(v.reciprocal[i], n, q)
		tooLarge := K()
		bad[i] = K()
		VCMPPD(Imm(NLT), g.Const(0x1p62), q, bad[i]) // or d is 0
		VPTESTMQ(Bits(3<<62), d[i], tooLarge)
		KORB(tooLarge, bad[i], bad[i])
		VCVTPD2QQ(q, q)
	})
	r := sub(low, mulLow(q, d))
	step := r.each(func(r, step VecVirtual, i int) {
		VCVTQQ2PD(r, step)
		VMULPD(v.reciprocal[i], step, step)
		VCVTPD2QQ(step, step)
	})
	q, r = add(q, step), sub(r, mulLow(step, d))
	// 2r + 1 > d is 2r >= d, where an odd q is rounded up.
	var up, down masks
	if t == tiesToEven {
		odd := and(q, Bits(1))
		up, down = compare(greater, add(r, odd), sub(d, r)), compare(greater, sub(odd, r), add(d, r))
	} else {
		up, down = compare(greater, r, sub(d, r)), compare(lessEqual, add(r, r), subFrom(0, d))
	}
	addWhere(up, 1, q)
	addWhere(down, 1<<64-1, q)
	return q, bad
}

// sqrt is like fixed.Sqrt: the root s in float64 is within one of the result.
func sqrt(x vectors) (vectors, masks) {
	bad := compare(less, x, g.Zeros(1)[0])
	s := x.each(func(x, s VecVirtual, _ int) {
		VCVTQQ2PD(x, s)
		VMULPD(g.Const(1<<fraction), s, s)
		VSQRTPD(s, s)
		VCVTPD2QQ(s, s)
	})
	nearestRoot(s, sub(shiftLeft(x, fraction), mulLow(s, s)))
	return s, bad
}

// nearestRoot is like that of package fixed for n = s² + r, where s is within one of the result.
func nearestRoot(s, r vectors) {
	zero, lowest := g.Zeros(1)[0], add(r, s)
	for i := range s {
		up, positive, down := K(), K(), K()
		VPCMPQ(Imm(greater), s[i], r[i], up)
		VPTESTMQ(s[i], s[i], positive)
		VPCMPQ(Imm(lessEqual), zero, lowest[i], positive, down)
		VPSUBQ(Bits(1<<64-1), s[i], up, s[i])
		VPADDQ(Bits(1<<64-1), s[i], down, s[i])
	}
}

// hypot returns what fixed.Hypot does for magnitudes, which it does not handle from 2⁵⁵ on. The root
// s in float64 is within 13 of the result then, and r = x² + y² - s² below 2⁶², so that its low word is
// all of it. A step of Newton's method leaves a root that is within one.
func hypot(x, y vectors) (vectors, masks) {
	bad := make(masks, len(x))
	s := x.each(func(x, s VecVirtual, i int) {
		bad[i] = K()
		VPORQ(x, y[i], s)
		VPTESTMQ(Bits(1<<64-1<<55), s, bad[i])
		square := g.Reg()
		VCVTQQ2PD(x, s)
		VMULPD(s, s, s)
		VCVTQQ2PD(y[i], square)
		VFMADD231PD(square, square, s)
		VSQRTPD(s, s)
		VCVTPD2QQ(s, s)
	})
	r := sub(add(mulLow(x, x), mulLow(y, y)), mulLow(s, s))
	twice := add(s, s)
	step := r.each(func(r, step VecVirtual, i int) {
		d := g.Reg()
		VCVTQQ2PD(r, step)
		VCVTQQ2PD(twice[i], d)
		VMAXPD(g.Const(1), d, d)
		VDIVPD(d, step, step)
		VCVTPD2QQ(step, step)
	})
	s, r = add(s, step), sub(r, mulLow(step, add(twice, step)))
	nearestRoot(s, r)
	return s, bad
}

// atan2Slopes adds what fixed.Atan2Adjoint returns.
func atan2Slopes() {
	py, px, pv, gy, gx := Arg("y"), Arg("x"), Arg("v"), Arg("gy"), Arg("gx")
	untilBad(1, func(ls []Step) (masks, func()) {
		h, bad := hypot(abs(loadAll(ls, py)), abs(loadAll(ls, px)))
		by := newDivisor(h)
		slope := func(other Register) vectors { // v·u/h/h
			v, u := loadAll(ls, pv), loadAll(ls, other)
			sign := xor(v, u)
			v, u = abs(v), abs(u)
			product := toFloat(v)
			for i, u := range toFloat(u) {
				tooLarge := K()
				VMULPD(u, product[i], product[i])
				VCMPPD(Imm(NLT), g.Const(0x1p112), product[i], tooLarge)
				bad.or(tooLarge)
			}
			q, bad1 := by.divide(mulLow(v, u), product, tiesDown)
			q, bad2 := by.divide(shiftLeft(q, fraction), times(toFloat(q), 1<<fraction), tiesToEven)
			bad.or(slices.Concat(bad1, bad2)...)
			negateWhere(sign, q)
			return q
		}
		toY, toX := slope(px), slope(py)
		return bad, func() {
			for i, l := range ls {
				VPADDQ(l.Load(gy), toY[i], toY[i])
				l.Store(toY[i], gy)
				minus := l.Load(gx)
				VPSUBQ(toX[i], minus, minus)
				l.Store(minus, gx)
			}
		}
	})
}

// atan2 is like fixed.Atan2. It does not handle points next to the diagonals whose larger coordinate is
// within 2⁻¹⁷ times itself of the next power of two.
func atan2() {
	py, px := Arg("y"), Arg("x")
	table := Arg("table")
	addValues("z", 2, func(ls []Step) (vectors, masks) {
		a, b := abs(loadAll(ls, py)), abs(loadAll(ls, px))
		a, b = a.each(func(a, to VecVirtual, i int) { VPMINUQ(b[i], a, to) }), a.each(func(a, to VecVirtual, i int) { VPMAXUQ(b[i], a, to) })
		// One of both shifts is negative, which as a number without a sign shifts out all, or both are 0.
		left := b.each(func(b, to VecVirtual, _ int) {
			VPLZCNTQ(b, to)
			VPSUBQ(Bits(7), to, to)
		})
		right := subFrom(0, left)
		scale := func(x vectors) vectors {
			return x.each(func(x, to VecVirtual, i int) {
				other := g.Reg()
				VPSLLVQ(left[i], x, to)
				VPSRLVQ(right[i], x, other)
				VPORQ(other, to, to)
			})
		}
		a, b = scale(a), scale(b)
		// i is ⌊p/q⌋ <= 64. The quotient in float64, times more than 1, is not below it, and at most 1 above.
		p, q := add(a, shiftRight(b, 7)), shiftRight(b, 6)
		i := times(toFloat(p), 1+0x1p-50).each(func(p, to VecVirtual, i int) {
			VCVTUQQ2PD(q[i], to)
			VDIVPD(to, p, to)
			VCVTTPD2QQ(to, to)
		})
		addWhere(compare(less, sub(p, mulLow(i, q)), g.Zeros(1)[0]), 1<<64-1, i)
		angle := gather(table, i, 0)
		n, d := sub(shiftLeft(a, 6), mulLow(i, b)), add(shiftLeft(b, 6), mulLow(i, a))
		back := n
		t := fraction64(abs(n), d)

		z := factor{x: mulHigh(wide(t), wide(t))} // below 2⁵¹
		const third, fifth, seventh = (1<<64 - 1) / 3, (1<<64 - 1) / 5, (1<<64 - 1) / 7
		v := subFrom(third, mulHigh(z, wide(subFrom(fifth, mulHigh(z, constant(seventh))))))
		t = sub(t, mulHigh(factor{x: mulHigh(z, wide(v))}, wide(t)))

		t = shiftRight(t, 1)
		negateWhere(back, t)
		angle = shiftRight(add(angle, t), 2)
		// flip computes c - angle.
		flip := func(c uint64, where func(i int) Register) {
			for i := range angle {
				from := g.CopyOf(Bits(c))
				VPSUBQ(angle[i], from, where(i), angle[i])
			}
		}
		y, x := loadAll(ls, py), loadAll(ls, px)
		flip(fixedtables.PiQ61/2, func(i int) Register {
			k, a, b := K(), g.Reg(), g.Reg()
			VPABSQ(y[i], a)
			VPABSQ(x[i], b)
			VPCMPUQ(Imm(greater), b, a, k)
			return k
		})
		flip(fixedtables.PiQ61, func(i int) Register {
			k := K()
			VPMOVQ2M(x[i], k)
			return k
		})
		angle = shiftRight(add(angle, Bits(1<<(60-fraction))), 61-fraction)
		negateWhere(y, angle)
		origin, bad := or(y, x), make(masks, len(ls))
		for i := range ls {
			k := K()
			VPTESTMQ(origin[i], origin[i], k)
			VMOVUPD_Z(angle[i], k, angle[i])
			bad[i] = K()
			VPCMPUQ(Imm(greaterEqual), Bits(1<<64-1<<47), d[i], bad[i])
		}
		return angle, bad
	})
}

// fraction64 returns ⌊n·2⁶⁴/d⌋ for n <= d/127 and 2⁶² <= d < 2⁶⁴ - 2⁴⁷, or d = 0, as two digits of 32 bits. Each
// is a quotient in float64 times a little less than 1: its floor or 1 less, and 1 less only if the
// rest is next to d. The rest after the first digit is below d·(1 + 2⁻²⁴), and that after the second
// below d·(1 + 2⁻¹⁷), so that both fit a word.
func fraction64(n, d vectors) vectors {
	one := g.CopyOf(g.Const(1 - 0x1p-50))
	reciprocal := times(toFloat(d), 0x1p-32).each(func(d, to VecVirtual, _ int) { VDIVPD(d, one, to) })
	digit := func(n vectors) (q, rest vectors) {
		q = toFloat(n).each(func(n, to VecVirtual, i int) {
			VMULPD(reciprocal[i], n, to)
			VCVTTPD2QQ(to, to)
		})
		return q, sub(shiftLeft(n, 32), mulLow(q, d))
	}
	high, rest := digit(n)
	low, rest := digit(rest)
	for i := range low {
		k := K()
		VPCMPUQ(Imm(greaterEqual), d[i], rest[i], k)
		VPSUBQ(Bits(1<<64-1), low[i], k, low[i])
	}
	return add(shiftLeft(high, 32), low)
}

// reduce returns the number of quarters of a turn that are nearest to |x|, in its low bits, the rest, in
// units of 2⁻⁶⁴ turns, and the angle of its magnitude with its square, as fixed.SinCos has them.
func reduce(x vectors) (q, rest vectors, angle, z factor) {
	// turns are the bits from 64+fraction on of the product of |x| and c = 2¹²⁸/2π. With limbs of 52 bits, they
	// begin at bit 3 of the words of weight 2¹⁰⁴.
	c := fixedtables.InvTauQ128
	c0, c1, c2 := Bits(c[1]), Bits(c[1]>>52|c[0]<<12&(1<<52-1)), Bits(c[0]>>40)
	x0 := abs(x)
	x1 := shiftRight(x0, 52)
	w1, w2, w3 := x0.zeros(), x0.zeros(), x0.zeros()
	for i := range x0 {
		VPMADD52HUQ(c0, x0[i], w1[i])
		VPMADD52HUQ(c1, x0[i], w2[i])
		VPMADD52HUQ(c2, x0[i], w3[i])
		VPMADD52LUQ(c1, x0[i], w1[i])
		VPMADD52LUQ(c2, x0[i], w2[i])
		VPMADD52HUQ(c1, x1[i], w3[i])
		VPMADD52LUQ(c0, x1[i], w1[i])
		VPMADD52HUQ(c0, x1[i], w2[i])
		VPMADD52LUQ(c2, x1[i], w3[i])
		VPMADD52LUQ(c1, x1[i], w2[i])
	}
	turns := add(shiftLeft(w3, 52-(64+fraction-104)), shiftRight(add(w2, shiftRight(w1, 52)), 64+fraction-104))
	q = shiftRight(add(turns, Bits(1<<61)), 62)
	rest = sub(turns, shiftLeft(q, 62))
	angle = wide(mulHigh(wide(shiftLeft(abs(rest), 2)), constant(fixedtables.TauQ61)))
	return q, rest, angle, wide(shiftLeft(mulHigh(angle, angle), 2))
}

// series returns 1 - z·(c_2 - z·(c_4 - ... z·c_16)), with 63 fraction bits. c_k is at most 1/k!.
func series(z factor, c func(k int) vectors) vectors {
	v := c(16)
	for k := 14; k >= 2; k -= 2 {
		v = sub(c(k), mulHigh(z, upTo(fixedtables.InvFactorial[k+2], v)))
	}
	return subFrom(1<<63, shiftRight(mulHigh(z, wide(v)), 1))
}

// roundedSine and roundedCosine take what series returns.
func roundedSine(angle factor, v vectors) vectors {
	return shiftRight(add(mulHigh(angle, wide(v)), Bits(1<<(61-fraction))), 62-fraction)
}

func roundedCosine(v vectors) vectors {
	return shiftRight(add(v, Bits(1<<(62-fraction))), 63-fraction)
}

// sine is like fixed.SinCos. The cosine is the sine of a quarter more, but for the sign of x.
// odd is all ones for the sine, and 0 for the cosine.
func sine(x vectors, quarter, odd VecVirtual) vectors {
	q, rest, angle, z := reduce(x)
	turn := add(q, quarter)
	isCosine := make(masks, len(x))
	for i := range x {
		isCosine[i] = K()
		VPTESTMQ(Bits(1), turn[i], isCosine[i])
	}
	// The sign is that of rest for sines, the half turn, which is bit 1, and that of x.
	sign := x.each(func(x, to VecVirtual, i int) {
		VPSLLQ(Imm(62), turn[i], to)
		VPXORQ(rest[i], to, to)
		VPSLLQ(Imm(62), turn[i], isCosine[i], to)
		VPANDQ(odd, x, x)
		VPXORQ(x, to, to)
	})
	// choose puts the constant c in the lanes of cosines.
	choose := func(c uint64, to vectors) vectors {
		for i := range to {
			VMOVUPD(Bits(c), isCosine[i], to[i])
		}
		return to
	}
	inverse := fixedtables.InvFactorial
	v := series(z, func(k int) vectors {
		c := x.zeros()
		if k < 16 {
			c = x.copies(Bits(inverse[k+1]))
		}
		return choose(inverse[k], c)
	})
	s := roundedSine(angle, v)
	v = roundedCosine(v)
	for i := range s {
		VMOVUPD(v[i], isCosine[i], s[i])
	}
	negateWhere(sign, s)
	return s
}

// tangent returns the quotient of what fixed.SinCos returns.
func tangent(x vectors) (vectors, masks) {
	q, rest, angle, z := reduce(x)
	// After an odd number of quarters, the tangent is -cos/sin of the rest.
	sign, odd := xor(xor(x, rest), shiftLeft(q, 63)), make(masks, len(x))
	for i := range odd {
		odd[i] = K()
		VPTESTMQ(Bits(1), q[i], odd[i])
	}
	// The series of sines and of cosines wait for themselves, and so go side by side.
	both := series(factor{x: slices.Concat(z.x.(vectors), z.x.(vectors)), top: slices.Concat(z.top.(vectors), z.top.(vectors))}, func(k int) vectors {
		c := x.zeros()
		if k < 16 {
			c = x.copies(Bits(fixedtables.InvFactorial[k+1]))
		}
		return slices.Concat(c, x.copies(Bits(fixedtables.InvFactorial[k])))
	})
	s, c := roundedSine(wide(angle.x.(vectors)), both[:len(x)]), roundedCosine(both[len(x):])
	above := s.each(func(s, to VecVirtual, i int) {
		g.Mov(s, to)
		VMOVUPD(c[i], odd[i], to)
		VMOVUPD(s, odd[i], c[i])
	})
	t, bad := newDivisor(c).divide(shiftLeft(above, fraction), times(toFloat(above), 1<<fraction), tiesToEven)
	negateWhere(sign, t)
	return t, bad
}

// exp is like fixed.Exp. Below 2⁻⁴⁴ all bits are shifted out. It does not handle numbers above 13.8.
func exp(x vectors) (vectors, masks) {
	const one = 1 << fraction
	bad := compare(greaterEqual, x, Bits(138*one/10))
	least := -31 * one
	x = x.each(func(x, to VecVirtual, _ int) { VPMAXSQ(Bits(uint64(least)), x, to) })
	u := shiftLeft(add(x, Bits(32*one)), 57-fraction)
	// u < 2⁶³ is a multiple of 2¹², so its product with c₁·2⁵² + c₀ over 2⁶⁴ is that of u/2¹² over 2⁵².
	short, c := shiftRight(u, 12), fixedtables.Log2eLess1Q128
	times := func(c uint64) vectors {
		low, high := u.zeros(), u.zeros()
		for i := range short {
			VPMADD52HUQ(Bits(c), short[i], low[i])
			VPMADD52LUQ(Bits(c>>52), short[i], low[i])
			VPMADD52HUQ(Bits(c>>52), short[i], high[i])
		}
		return add(low, shiftLeft(high, 52))
	}
	high, low := times(c[0]), mulLow(u, Bits(c[0]))
	low = addCarry(low, times(c[1]), high)
	high = add(high, Bits(fixedtables.ExpOffsetQ121[0]))
	low = addCarry(x.copies(Bits(fixedtables.ExpOffsetQ121[1])), low, high)
	return exp2(add(high, u), low), bad
}

// exp2 is like that of package fixed for k + 64 and a fraction, together 128 bits with 121 of the
// fraction. Where k is 20 or more, the result is 0.
func exp2(high, low vectors) vectors {
	shift := subFrom(19+64, shiftRight(high, 57)) // 19 - k

	// The 121 bits of the fraction are i, the index for b, and r.
	coarse, fine := Arg("coarse"), Arg("fine")
	i := and(shiftRight(high, 57-8-1), Bits(2*0xff)) // twice, for rows of two words
	b := gather(fine, and(shiftRight(high, 57-16), Bits(0xff)), 0)
	r := or(shiftLeft(high, 23), shiftRight(low, 64-23))

	z := mulHigh(wide(r), constant(fixedtables.Ln2Q64))
	short := shiftRight(z, 12)
	z2, z3 := z.zeros(), z.zeros()
	for i := range short {
		VPMADD52HUQ(short[i], short[i], z2[i])
	}
	for i := range short {
		VPMADD52HUQ(short[i], z2[i], z3[i])
	}
	// v/6 is v·0xaaaaaaab/2³⁴ for words of 32 bits.
	z3 = shiftRight(z3, 20).each(func(z3, to VecVirtual, _ int) { VPMULUDQ(Bits(0xaaaaaaab), z3, to) })
	p := add(add(z, shiftRight(z2, 5)), shiftRight(z3, 34))
	s := add(add(b, shiftRight(p, 8)), shiftRight(mulHigh(wide(b), wide(p)), 16))
	a := gather(coarse, i, 0)
	t := mulHigh(wide(a), wide(s))
	m := add(a, shiftRight(t, 8))
	addCarry(gather(coarse, i, 8), shiftLeft(t, 56), m)
	twice := m.each(func(m, to VecVirtual, i int) { VPSRLVQ(shift[i], m, to) })
	return shiftRight(add(twice, Bits(1)), 1)
}

// limbs are like those of package fixed. The low 52 bits of lo count.
type limbs struct{ hi, lo vectors }

func limbsOf(high, low vectors) limbs {
	return limbs{shiftRight(high, 12), and(or(shiftLeft(high, 40), shiftRight(low, 24)), Bits(1<<52-1))}
}

func constantLimbs(c [2]uint64) (hi, lo uint64) {
	return c[0] >> 12, (c[0]<<40 | c[1]>>24) & (1<<52 - 1)
}

// times returns the limbs of x·(hi + lo), of which lo may have more bits than 52.
func (x limbs) times(hi, lo any) limbs {
	h, l := x.hi.zeros(), x.hi.zeros()
	for i := range h {
		VPMADD52HUQ(of(lo, i), x.hi[i], l[i])
		VPMADD52HUQ(of(hi, i), x.hi[i], h[i])
		VPMADD52HUQ(of(hi, i), x.lo[i], l[i])
	}
	for i := range h {
		VPMADD52LUQ(of(hi, i), x.hi[i], l[i])
	}
	return limbs{h, l}
}

func (x limbs) plus(y limbs) limbs {
	lo := add(x.lo, y.lo)
	return limbs{add(add(x.hi, y.hi), shiftRight(lo, 52)), and(lo, Bits(1<<52-1))}
}

// negatePair negates two words where sign is negative. Of the low one, the low 52 bits count for limbs.
func negatePair(sign, high, low vectors) {
	for i, s := range sign {
		negative, zero := K(), K()
		VPMOVQ2M(s, negative)
		VPXORQ(Bits(1<<64-1), high[i], negative, high[i])
		VPTESTNMQ(low[i], low[i], negative, zero)
		VPSUBQ(Bits(1<<64-1), high[i], zero, high[i])
	}
	negateWhere(sign, low)
}

// A log2 is a number with the sign of the word sign and the magnitude whole + f. Of whole and the
// limbs, the low 52 bits count.
type log2 struct {
	sign, whole vectors
	f           limbs
}

// newLog2 is like log2Parts of package fixed and the beginning of pow, for positive x.
func newLog2(x vectors) log2 {
	zeros := x.each(func(x, to VecVirtual, _ int) { VPLZCNTQ(x, to) })
	m := x.each(func(x, to VecVirtual, i int) { VPSLLVQ(zeros[i], x, to) })
	exponent := subFrom(63-fraction, zeros)
	table := Arg("logs")
	i := and(shiftRight(m, 55), Bits(0xff))
	i = add(add(i, i), i)
	inverse := gather(table, i, 0)
	high, low := mulHigh(wide(m), wide(inverse)), mulLow(m, inverse)
	u := limbs{and(shiftRight(high, 10), Bits(1<<52-1)), or(shiftLeft(high, 42), shiftRight(low, 22))}
	p := limbs{hi: x.copies(Bits(fixedtables.Reciprocal[12][0] >> 12))}
	for k := 11; k >= 7; k-- {
		h := x.zeros()
		for i := range h {
			VPMADD52HUQ(p.hi[i], u.hi[i], h[i])
		}
		p.hi = subFrom(fixedtables.Reciprocal[k][0]>>12, h)
	}
	p.lo = x.zeros()
	for k := 6; k >= 1; k-- {
		v := u.times(p.hi, p.lo)
		hi, lo := constantLimbs(fixedtables.Reciprocal[k])
		p.lo = subFrom(lo, v.lo)
		p.hi = add(subFrom(hi, v.hi), p.lo.each(func(lo, to VecVirtual, _ int) { VPSRAQ(Imm(52), lo, to) }))
	}
	ln := limbsOf(gather(table, i, 8), gather(table, i, 16)).plus(u.times(p.hi, p.lo))
	hi, lo := constantLimbs(fixedtables.Log2eLess1Q128)
	f := ln.plus(ln.times(Bits(hi), Bits(lo)))

	// The negative of e + f is -1-e + 1-f if f is not 0, and else -e.
	whole := exponent.each(func(e, to VecVirtual, i int) {
		negative, zero, both := K(), K(), g.Reg()
		VPSRAQ(Imm(63), e, to)
		VPXORQ(e, to, to)
		VPMOVQ2M(e, negative)
		VPORQ(f.hi[i], f.lo[i], both)
		VPTESTNMQ(both, both, negative, zero)
		VPSUBQ(Bits(1<<64-1), to, zero, to)
	})
	negatePair(exponent, f.hi, f.lo)
	return log2{exponent, whole, f}
}

// power is like pow of package fixed. It does not handle powers out of range.
func power(log log2, y vectors) (vectors, masks) {
	n0 := abs(y)
	n1 := shiftRight(n0, 52)
	rest, whole, over := y.zeros(), y.zeros(), y.zeros()
	for i := range y {
		VPMADD52HUQ(log.f.lo[i], n0[i], rest[i])
		VPMADD52HUQ(log.f.hi[i], n0[i], whole[i])
		VPMADD52HUQ(log.whole[i], n0[i], over[i])
		VPMADD52LUQ(log.f.hi[i], n0[i], rest[i])
		VPMADD52LUQ(log.whole[i], n0[i], whole[i])
		VPMADD52LUQ(log.whole[i], n1[i], over[i])
		VPMADD52LUQ(log.f.lo[i], n1[i], rest[i])
		VPMADD52LUQ(log.f.hi[i], n1[i], whole[i])
		VPMADD52HUQ(log.f.hi[i], n1[i], over[i])
		VPMADD52HUQ(log.f.lo[i], n1[i], whole[i])
	}
	whole = add(whole, shiftRight(rest, 52))
	rest = and(rest, Bits(1<<52-1))
	for i := range y { // from 64 on, it is 64 less a little
		large, larger := K(), K()
		VPTESTMQ(Bits(1<<64-64<<fraction), whole[i], large)
		VPTESTMQ(over[i], over[i], larger)
		KORB(larger, large, large)
		VMOVUPD(Bits(64<<fraction-1), large, whole[i])
	}
	high, low := or(shiftLeft(whole, 57-fraction), shiftRight(rest, 38)), shiftLeft(rest, 64-38)
	negatePair(xor(y, log.sign), high, low)
	high = add(high, Bits(64<<57))
	bad := make(masks, len(y))
	for i := range bad {
		bad[i] = K()
		VPCMPUQ(Imm(greaterEqual), Bits((64+20)<<57), high[i], bad[i])
	}
	v := exp2(high, low)
	for i := range v {
		tooLarge := K()
		VPMOVQ2M(v[i], tooLarge)
		KORB(tooLarge, bad[i], bad[i])
	}
	return v, bad
}

// pow is like fixed.Pow. It does not handle bases that are not positive.
func pow() {
	px, py := Arg("x"), Arg("y")
	addValues("z", 2, func(ls []Step) (vectors, masks) {
		x := loadAll(ls, px)
		notPositive := compare(lessEqual, x, g.Zeros(1)[0])
		v, bad := power(newLog2(x), loadAll(ls, py))
		for i, k := range notPositive {
			KORB(k, bad[i], bad[i])
		}
		return v, bad
	})
}

// powers sets p to what pow adds, and q to the power that is 1 less, with the same logarithm.
func powers() {
	px, py, pp, pq := Arg("x"), Arg("y"), Arg("p"), Arg("q")
	untilBad(2, func(ls []Step) (masks, func()) {
		x := loadAll(ls, px)
		bad := compare(lessEqual, x, g.Zeros(1)[0])
		log := newLog2(x)
		p, bad1 := power(log, loadAll(ls, py))
		const one = 1 << fraction
		less1 := loadAll(ls, py).each(func(y, to VecVirtual, _ int) { // saturated
			VPMAXSQ(Bits(1<<63+one), y, to)
			VPSUBQ(Bits(one), to, to)
		})
		q, bad2 := power(log, less1)
		bad[:1].or(slices.Concat(bad1, bad2)...)
		return bad, func() {
			for i, l := range ls {
				l.Store(p[i], pp)
				l.Store(q[i], pq)
			}
		}
	})
}

// gather returns the words of a table.
func gather(table Register, index vectors, disp int) vectors {
	r := index.zeros()
	for i := range r {
		all := compare(greaterEqual, r[i:i+1], r[i])[0]
		VPGATHERQQ(Mem{Base: table, Index: index[i], Scale: 8, Disp: disp}, all, r[i])
	}
	return r
}

// logarithm is like fixed.Log. It does not handle numbers that are not positive.
func logarithm(x vectors) (vectors, masks) {
	bad := compare(lessEqual, x, g.Zeros(1)[0])
	zeros := x.each(func(x, to VecVirtual, _ int) { VPLZCNTQ(x, to) })
	m := x.each(func(x, to VecVirtual, i int) { VPSLLVQ(zeros[i], x, to) })
	exponent := subFrom(63-fraction, zeros)
	table := Arg("table")
	i := and(shiftRight(m, 55), Bits(0xff))
	i = add(add(i, i), i)
	inverse := gather(table, i, 0)
	u := or(shiftLeft(mulHigh(wide(m), wide(inverse)), 10), shiftRight(mulLow(m, inverse), 54))
	uf := wide(u)
	w := wide(mulHigh(uf, uf))
	shifted := wide(shiftRight(u, 8))
	// v/5 and v/3 are the high words of these products over 4 and 2.
	p := subFrom(1<<62, shiftRight(mulHigh(shifted, constant(0xcccccccccccccccd)), 2))
	p = add(subFrom(1<<63, shiftRight(mulHigh(shifted, constant(0xaaaaaaaaaaaaaaab)), 1)), shiftRight(mulHigh(w, wide(p)), 16))
	u = sub(u, shiftRight(mulHigh(w, wide(p)), 8))
	ln := add(gather(table, i, 8), shiftRight(u, 8))
	v := add(mulLow(exponent, Bits(fixedtables.Ln2Q57)), shiftRight(ln, 7))
	v = add(v, Bits(1<<(56-fraction)))
	return v.each(func(v, to VecVirtual, _ int) { VPSRAQ(Imm(57-fraction), v, to) }), bad
}
