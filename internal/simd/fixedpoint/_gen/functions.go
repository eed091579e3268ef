package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"revnum/internal/fixedtables"
	. "revnum/internal/simd/_gen/asm"
)

// Functions of single numbers. They do what the functions of package fixed do, step by step, and
// so have their bits. Numbers are words without a sign where those of package fixed are.

func functions() {
	const stops = " It stops before a vector with a number that it does not handle, and returns how many numbers are done."
	sameBody("addQuotients", "func(n int, x, y, z *int64, minus int) int", "computes z_i += x_i/y_i, or -= if minus is -1 and not 0."+stops, quotients)
	for _, f := range []struct {
		name, equation string
		tables         string
		value          func(x func() vectors) (y vectors, bad masks) // x loads
	}{
		{"addSqrt", "√x_i", "", sqrt}, {"addExp", "exp(x_i)", ", coarse, fine *uint64", exp}, {"addLog", "log(x_i)", ", table *uint64", logarithm},
		{"addTan", "tan(x_i)", "", tangent},
	} {
		sameBody(f.name, "func(n int, x, y *int64, minus int"+f.tables+") int", "computes y_i += "+f.equation+", or -= if minus is -1 and not 0."+stops, func() {
			x := Arg("x")
			addValues("y", 2, func(ls []Step) (vectors, masks) { return f.value(loader(ls, x)) })
		})
	}
	sameBody("addAtan2", "func(n int, y, x, z *int64, minus int, table *uint64) int", "computes z_i += atan2(y_i, x_i), or -= if minus is -1 and not 0."+stops, atan2)
	sameBody("addAtan2Slopes", "func(n int, y, x, v, gy, gx *int64) int", "computes gy_i += x_i·v_i/h_i² and gx_i -= y_i·v_i/h_i², with h_i² = x_i² + y_i²."+stops, atan2Slopes)
	sameBody("addPow", "func(n int, x, y, z *int64, minus int, coarse, fine, logs *uint64) int", "computes z_i += x_i to the power y_i, or -= if minus is -1 and not 0."+stops, pow)
	sameBody("powers", "func(n int, x, y, p, q *int64, coarse, fine, logs *uint64) int", "sets p_i and q_i to x_i to the powers y_i and y_i - 1."+stops, powers)
	sameBody("addSigned", "func(n int, x, v, y *int64, below, minus int)", "computes y_i += v_i where x_i > 0, and y_i -= v_i where x_i < 0 if below is -1 and not 0; or -= and += if minus is -1 and not 0.", signed)
	sameBody("toFloats", "func(n int, x *int64, y *float64)", "sets y_i to x_i rounded to nearest.", floats)
	sameBody("addRounded", "func(n int, v *float64, y *int64, minus int) int", "computes y_i += v_i rounded to nearest, or -= if minus is -1 and not 0."+stops, func() {
		v := Arg("v")
		addValues("y", 2, func(ls []Step) (vectors, masks) { return rounded(loadAll(ls, v)) })
	})
	sameBody("addSine", "func(n int, x, y *int64, minus, quarter int) int", "computes y_i += sin(x_i), or cos(x_i) if quarter is 1 and not 0, or -= if minus is -1 and not 0. It returns n.", func() {
		x := Arg("x")
		addValues("y", 2, func(ls []Step) (vectors, masks) { return sine(loader(ls, x)), nil })
	})
}

// signed adds v where x is positive, and subtracts the words that are in both v and below where x is negative.
func signed() {
	n, x, v, y, below, minus := Arg("n"), Arg("x"), Arg("v"), Arg("y"), g.BroadcastArg("below"), g.BroadcastArg("minus")
	g.Groups(n, 2, func(ls []Step) {
		a, sum := loadAll(ls, x), loadAll(ls, y)
		b := sub(xor(loadAll(ls, v), minus), minus)
		addMasked(compare(greater, a, g.Zeros(1)[0]), b, sum)
		subMasked(negative(a), and(b, below), sum)
		for i, l := range ls {
			l.Store(sum[i], y)
		}
	}, nil)
}

// floats converts to nearest float64.
func floats() {
	n, x, y := Arg("n"), Arg("x"), Arg("y")
	g.Groups(n, 2, func(ls []Step) {
		v := times(signedToFloat(loadAll(ls, x)), 1.0/(1<<fraction))
		for i, l := range ls {
			l.Store(v[i], y)
		}
	}, nil)
}

// rounded is like fixed.FromFloat64. It does not handle NaN and numbers out of range.
func rounded(v vectors) (vectors, masks) {
	return toInteger(times(v, 1<<fraction)), notBelow(and(v, Bits(1<<63-1)), 1<<(63-fraction))
}

// untilBad runs a loop, some registers at a time, which stops before some are bad. body returns where, and
// a function that stores.
func untilBad(unroll int, body func(ls []Step) (bad masks, store func())) {
	n, done := Arg("n"), GP64()
	g.Groups(n, unroll, func(ls []Step) {
		taken = 0
		bad, store := body(ls)
		if bad != nil {
			bad[:1].or(bad[1:]...)
			mask := ls[0].Mask
			if g.Wide {
				if mask != nil {
					KANDB(mask.K, bad[0], bad[0])
				}
				KTESTB(bad[0], bad[0])
			} else {
				if mask == nil {
					VPTEST(bad[0], bad[0])
				} else {
					VPTEST(bad[0], mask.Y)
				}
			}
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
	p := Arg(to)
	untilBad(unroll, func(ls []Step) (masks, func()) {
		v, bad := values(ls)
		return bad, func() {
			minus := g.BroadcastArg("minus")
			v := sub(xor(v, minus), minus)
			for i, l := range ls {
				VPADDQ(l.Load(p), v[i], v[i])
				l.Store(v[i], p)
			}
		}
	})
}

// quotients adds quotients n/d of magnitudes, with a sign.
func quotients() {
	px, py := Arg("x"), Arg("y")
	addValues("z", g.Unroll(1, 2, 2), func(ls []Step) (vectors, masks) {
		x, y := loader(ls, px), loader(ls, py)
		n, divisor := abs(x()), newDivisor(abs(y()))
		q, bad := divisor.divide(shiftLeft(n, fraction), times(toFloat(n), 1<<fraction), tiesToEven)
		negateWhere(xor(x(), y()), q)
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
	d := v.d
	byReciprocal := func(n vectors) vectors {
		return n.each(func(n, q VecVirtual, i int) { VMULPD(v.reciprocal[i], n, q) })
	}
	q := byReciprocal(n)
	bad := notBelow(q, 0x1p62).orAll(has(d, 3<<62)) // or d is 0
	q = toInteger(q)
	r := sub(low, mulLow(q, d))
	step := toShort(byReciprocal(signedToFloat(r)))
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
func sqrt(load func() vectors) (vectors, masks) {
	x := load()
	s := toInteger(root(times(signedToFloat(x), 1<<fraction)))
	nearestRoot(s, sub(shiftLeft(x, fraction), mulLow(s, s)))
	return s, negative(load())
}

// nearestRoot is like that of package fixed for n = s² + r, where s is within one of the result.
func nearestRoot(s, r vectors) {
	zero, lowest := g.Zeros(1)[0], add(r, s)
	addWhere(compare(greater, r, s), 1, s)
	addWhere(compare(lessEqual, lowest, zero).and(compare(greater, s, zero)), 1<<64-1, s)
}

func root(x vectors) vectors { return x.each(func(x, to VecVirtual, _ int) { VSQRTPD(x, to) }) }

// hypot returns what fixed.Hypot does for magnitudes, which it does not handle from 2⁵⁵ on. The root
// s in float64 is within 13 of the result then, and r = x² + y² - s² below 2⁶², so that its low word is
// all of it. A step of Newton's method leaves a root that is within one.
func hypot(x, y vectors) (vectors, masks) {
	bad := has(or(x, y), 1<<64-1<<55)
	square := func(x vectors) vectors {
		x = toFloat(x)
		return x.each(func(x, to VecVirtual, _ int) { VMULPD(x, x, to) })
	}
	second := toFloat(y)
	s := square(x).each(func(first, to VecVirtual, i int) {
		VFMADD231PD(second[i], second[i], first)
		g.Mov(first, to)
	})
	s = toInteger(root(s))
	r := sub(add(mulLow(x, x), mulLow(y, y)), mulLow(s, s))
	twice := add(s, s)
	divisor := toFloat(twice)
	step := toShort(signedToFloat(r).each(func(r, to VecVirtual, i int) {
		VMAXPD(g.Const(1), divisor[i], to)
		VDIVPD(to, r, to)
	}))
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
				VMULPD(u, product[i], product[i])
			}
			bad.or(notBelow(product, 0x1p112)...)
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
		a, b := inOrder(abs(loadAll(ls, py)), abs(loadAll(ls, px)))
		// One of both shifts is negative, which as a number without a sign shifts out all, or both are 0.
		left := sub(leadingZeros(b), Bits(7))
		right := subFrom(0, left)
		scale := func(x vectors) vectors {
			return x.each(func(x, to VecVirtual, i int) {
				other := g.Reg()
				VPSLLVQ(left[i], x, to)
				VPSRLVQ(right[i], x, other)
				orTo(other, to, to)
			})
		}
		a, b = scale(a), scale(b)
		least, most := aside(a), aside(b)
		// i is ⌊p/q⌋ <= 64. The quotient in float64, times more than 1, is not below it, and at most 1 above.
		p, q := add(a, shiftRight(b, 7)), shiftRight(b, 6)
		divisor := toFloat(q)
		i := truncated(times(toFloat(p), 1+0x1p-50).each(func(p, to VecVirtual, i int) { VDIVPD(divisor[i], p, to) }))
		addWhere(compare(less, sub(p, mulLow(i, q)), g.Zeros(1)[0]), 1<<64-1, i)
		index := aside(i)
		n := sub(shiftLeft(least(), 6), mulLow(i, most()))
		back := aside(n)
		d := add(shiftLeft(most(), 6), mulLow(index(), least()))
		divisors := aside(d)
		t := fraction64(abs(n), d)

		whole, f := aside(t), wide(t)
		z := upTo(1<<51, mulHigh(f, f))
		const third, fifth, seventh = (1<<64 - 1) / 3, (1<<64 - 1) / 5, (1<<64 - 1) / 7
		v := subFrom(third, mulHigh(z, wide(subFrom(fifth, mulHigh(z, constant(seventh))))))
		v = mulHigh(z, wide(v))
		t = sub(whole(), mulHigh(upTo(1<<51, v), wide(whole())))

		t = shiftRight(t, 1)
		negateWhere(back(), t)
		angle := shiftRight(add(gather(table, index(), 0), t), 2)
		// flip computes c - angle.
		flip := func(c uint64, where masks) { choose(where, subFrom(c, angle), angle) }
		y, x := loadAll(ls, py), loadAll(ls, px)
		flip(fixedtables.PiQ61/2, compareUnsigned(greater, abs(y), abs(x)))
		flip(fixedtables.PiQ61, negative(x))
		angle = shiftRight(add(angle, Bits(1<<(60-fraction))), 61-fraction)
		negateWhere(y, angle)
		has(or(y, x), 1<<64-1).keep(angle) // the angle of the origin is 0
		d = divisors()
		return angle, compareUnsigned(greaterEqual, d, d.copies(Bits(1<<64-1<<47)))
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
		q = truncated(toFloat(n).each(func(n, to VecVirtual, i int) { VMULPD(reciprocal[i], n, to) }))
		return q, sub(shiftLeft(n, 32), mulLow(q, d))
	}
	high, rest := digit(n)
	low, rest := digit(rest)
	addWhere(compareUnsigned(greaterEqual, rest, d), 1, low)
	return add(shiftLeft(high, 32), low)
}

// reduce returns the number of quarters of a turn that are nearest to |x|, in its low bits, the rest, in
// units of 2⁻⁶⁴ turns, and the angle of its magnitude with its square, as fixed.SinCos has them.
func reduce(x vectors) (q, rest, angle func() vectors, z factor) {
	turns := turnsOf(abs(x))
	quarters := shiftRight(add(turns, Bits(1<<61)), 62)
	remainder := sub(turns, shiftLeft(quarters, 62))
	q, rest = aside(quarters), aside(remainder)
	theta := wide(mulHigh(wide(shiftLeft(abs(remainder), 2)), constant(fixedtables.TauQ61)))
	angle = aside(theta.x.(vectors))
	return q, rest, angle, wide(shiftLeft(mulHigh(theta, theta), 2))
}

// turnsOf returns the bits from 64+fraction on of the product of x and c = 2¹²⁸/2π.
func turnsOf(x vectors) vectors {
	c := fixedtables.InvTauQ128
	if !g.Wide {
		x := wide(x)
		high, low := mulBoth(x, constant(c[0]))
		low = addCarry(low, mulHigh(x, constant(c[1])), high)
		return or(shiftLeft(high, 64-fraction), shiftRight(low, fraction))
	}
	// With limbs of 52 bits, they begin at bit 3 of the words of weight 2¹⁰⁴.
	c0, c1, c2 := Bits(c[1]), Bits(c[1]>>52|c[0]<<12&(1<<52-1)), Bits(c[0]>>40)
	x1 := shiftRight(x, 52)
	w1, w2, w3 := x.zeros(), x.zeros(), x.zeros()
	for i, x0 := range x {
		VPMADD52HUQ(c0, x0, w1[i])
		VPMADD52HUQ(c1, x0, w2[i])
		VPMADD52HUQ(c2, x0, w3[i])
		VPMADD52LUQ(c1, x0, w1[i])
		VPMADD52LUQ(c2, x0, w2[i])
		VPMADD52HUQ(c1, x1[i], w3[i])
		VPMADD52LUQ(c0, x1[i], w1[i])
		VPMADD52HUQ(c0, x1[i], w2[i])
		VPMADD52LUQ(c2, x1[i], w3[i])
		VPMADD52LUQ(c1, x1[i], w2[i])
	}
	return add(shiftLeft(w3, 52-(64+fraction-104)), shiftRight(add(w2, shiftRight(w1, 52)), 64+fraction-104))
}

// series returns 1 - z·(c_2 - z·(c_4 - ... z·c_16)), with 63 fraction bits. c_k is at most 1/k!.
func series(z factor, c func(k int) vectors) vectors {
	v := c(16)
	for k := 14; k >= 2; k -= 2 {
		v = mulHigh(z, upTo(fixedtables.InvFactorial[k+2], v))
		v = sub(c(k), v)
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
func sine(load func() vectors) vectors {
	q, rest, angle, z := reduce(load())
	quarter := g.BroadcastArg("quarter") // 1 for the cosine, else 0
	turns := add(q(), quarter)
	isCosine, turn := has(turns, 1), aside(turns)
	inverse := fixedtables.InvFactorial
	v := series(z, func(k int) vectors {
		c := vectors(g.Zeros(len(isCosine)))
		if k < 16 {
			c = c.copies(Bits(inverse[k+1]))
		}
		choose(isCosine, Bits(inverse[k]), c)
		return c
	})
	s := roundedSine(wide(angle()), v)
	choose(isCosine, roundedCosine(v), s)
	// The sign is that of rest for sines, the half turn, which is bit 1, and that of x for the sine.
	half := shiftLeft(turn(), 62)
	sign, odd := xor(half, rest()), g.BroadcastArg("quarter")
	choose(isCosine, half, sign)
	VPSUBQ(Bits(1), odd, odd)
	negateWhere(xor(sign, and(load(), odd)), s)
	return s
}

// tangent returns the quotient of what fixed.SinCos returns.
func tangent(load func() vectors) (vectors, masks) {
	q, rest, angle, z := reduce(load())
	s, c := sineAndCosine(angle, z)
	// After an odd number of quarters, the tangent is -cos/sin of the rest.
	odd := has(q(), 1)
	above := s.each(func(s, to VecVirtual, _ int) { g.Mov(s, to) })
	choose(odd, c, above)
	choose(odd, s, c)
	t, bad := newDivisor(c).divide(shiftLeft(above, fraction), times(toFloat(above), 1<<fraction), tiesToEven)
	negateWhere(xor(xor(load(), rest()), shiftLeft(q(), 63)), t)
	return t, bad
}

// sineAndCosine returns the sines and cosines of angles with their squares z.
func sineAndCosine(angle func() vectors, z factor) (s, c vectors) {
	n := len(z.x.(vectors))
	at := func(of func(k int) uint64) func(k int) vectors {
		return func(k int) vectors {
			if of(k) == 0 {
				return g.Zeros(n)
			}
			return make(vectors, n).copies(Bits(of(k)))
		}
	}
	odd := at(func(k int) uint64 {
		if k == 16 {
			return 0
		}
		return fixedtables.InvFactorial[k+1]
	})
	even := at(func(k int) uint64 { return fixedtables.InvFactorial[k] })
	if !g.Wide { // it has too few registers for both
		v := series(z, odd)
		sines := aside(roundedSine(wide(angle()), v))
		c = roundedCosine(series(z, even))
		return sines(), c
	}
	// Both series wait for themselves, and so go side by side.
	twice := func(x any) vectors { return slices.Concat(x.(vectors), x.(vectors)) }
	both := series(factor{x: twice(z.x), top: twice(z.top)}, func(k int) vectors { return slices.Concat(odd(k), even(k)) })
	return roundedSine(wide(angle()), both[:n]), roundedCosine(both[n:])
}

// exp is like fixed.Exp. Below 2⁻⁴⁴ all bits are shifted out. It does not handle numbers above 13.8.
func exp(load func() vectors) (vectors, masks) {
	const one = 1 << fraction
	least := -31 * one
	u := shiftLeft(add(atLeast(uint64(least), load()), Bits(32*one)), 57-fraction)
	high, low := timesLog2e(u)
	high = add(high, Bits(fixedtables.ExpOffsetQ121[0]))
	low = addCarry(u.copies(Bits(fixedtables.ExpOffsetQ121[1])), low, high)
	v := exp2(add(high, u), low)
	return v, compare(greaterEqual, load(), Bits(138*one/10))
}

// timesLog2e returns u·(log2(e)-1), of which the last word is cut. u < 2⁶³ is a multiple of 2¹².
func timesLog2e(u vectors) (high, low vectors) {
	c := fixedtables.Log2eLess1Q128
	if !g.Wide {
		u := wide(u)
		high, low := mulBoth(u, constant(c[0]))
		low = addCarry(low, mulHigh(u, constant(c[1])), high)
		return high, low
	}
	// The product with c₁·2⁵² + c₀ over 2⁶⁴ is that of u/2¹² over 2⁵².
	short := shiftRight(u, 12)
	times := func(c uint64) vectors {
		low, high := u.zeros(), u.zeros()
		for i := range short {
			VPMADD52HUQ(Bits(c), short[i], low[i])
			VPMADD52LUQ(Bits(c>>52), short[i], low[i])
			VPMADD52HUQ(Bits(c>>52), short[i], high[i])
		}
		return add(low, shiftLeft(high, 52))
	}
	high, low = times(c[0]), mulLow(u, c[0])
	low = addCarry(low, times(c[1]), high)
	return high, low
}

// exp2 is like that of package fixed for k + 64 and a fraction, together 128 bits with 121 of the
// fraction. Where k is 20 or more, the result is 0.
func exp2(high, low vectors) vectors {
	// The 121 bits of the fraction are i, the index for b, and r.
	coarse, fine, top := Arg("coarse"), Arg("fine"), aside(high)
	r := or(shiftLeft(high, 23), shiftRight(low, 64-23))

	z := mulHigh(wide(r), constant(fixedtables.Ln2Q64))
	short := shiftRight(z, 12)
	z2 := mulLimbs(short, short)
	z3 := mulLimbs(z2, short)
	// v/6 is v·0xaaaaaaab/2³⁴ for words of 32 bits.
	z3 = shiftRight(z3, 20).each(func(z3, to VecVirtual, _ int) { VPMULUDQ(Bits(0xaaaaaaab), z3, to) })
	p := add(add(z, shiftRight(z2, 5)), shiftRight(z3, 34))
	b := gather(fine, and(shiftRight(top(), 57-16), Bits(0xff)), 0)
	s := add(add(b, shiftRight(p, 8)), shiftRight(mulHigh(wide(b), wide(p)), 16))
	i := and(shiftRight(top(), 57-8-1), Bits(2*0xff)) // twice, for rows of two words
	a := gather(coarse, i, 0)
	t := mulHigh(wide(a), wide(s))
	m := add(a, shiftRight(t, 8))
	addCarry(gather(coarse, i, 8), shiftLeft(t, 56), m)
	shift := subFrom(19+64, shiftRight(top(), 57)) // 19 - k
	twice := m.each(func(m, to VecVirtual, i int) { VPSRLVQ(shift[i], m, to) })
	return shiftRight(add(twice, Bits(1)), 1)
}

// addHigh and addLow add to sums what hi52 and lo52 of package fixed return: the limbs of products of limbs. y is vectors or a
// constant. Of the factors, the low 52 bits count.
func addHigh(sums, x vectors, y any) {
	if g.Wide {
		for i := range x {
			VPMADD52HUQ(of(operand(y), i), x[i], sums[i])
		}
		return
	}
	var f factor
	if v, ok := y.(vectors); ok {
		f = wide(and(v, Bits(1<<52-1)))
	} else {
		f = constant(y.(uint64))
	}
	addTo(sums, mulHigh(wide(shiftLeft(x, 12)), f))
}

func addLow(sums, x vectors, y any) {
	if g.Wide {
		for i := range x {
			VPMADD52LUQ(of(operand(y), i), x[i], sums[i])
		}
		return
	}
	addTo(sums, and(mulLow(x, y), Bits(1<<52-1)))
}

// operand returns constants in memory.
func operand(y any) any {
	if c, ok := y.(uint64); ok {
		return Bits(c)
	}
	return y
}

func addTo(sums, x vectors) {
	for i := range sums {
		VPADDQ(x[i], sums[i], sums[i])
	}
}

// mulLimbs returns the high limbs of products.
func mulLimbs(x, y vectors) vectors {
	h := x.zeros()
	addHigh(h, x, y)
	return h
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
	addHigh(l, x.hi, lo)
	addHigh(h, x.hi, hi)
	addHigh(l, x.lo, hi)
	addLow(l, x.hi, hi)
	return limbs{h, l}
}

func (x limbs) plus(y limbs) limbs {
	lo := add(x.lo, y.lo)
	return limbs{add(add(x.hi, y.hi), shiftRight(lo, 52)), and(lo, Bits(1<<52-1))}
}

// negatePair negates two words where sign is negative. Of the low one, the low 52 bits count for limbs.
func negatePair(sign, high, low vectors) {
	for i := range sign { // one by one, as there are few masks
		k, high := negative(sign[i:i+1]), high[i:i+1]
		if g.Wide {
			VPXORQ(Bits(1<<64-1), high[0], k[0], high[0])
		} else {
			VPXOR(k[0], high[0], high[0])
		}
		addWhere(k.and(isZero(low[i:i+1])), 1, high)
	}
	negateWhere(sign, low)
}

// A log2 is a number with the sign of the word sign and the magnitude whole + f. Of whole and the
// limbs, the low 52 bits count.
type log2 struct {
	sign, whole func() vectors
	hi, lo      func() vectors // of f
}

// newLog2 is like log2Parts of package fixed and the beginning of pow, for positive x.
func newLog2(x vectors) log2 {
	zeros := leadingZeros(x)
	m := x.each(func(x, to VecVirtual, i int) { VPSLLVQ(zeros[i], x, to) })
	exponentAside := aside(subFrom(63-fraction, zeros))
	table := Arg("logs")
	i := and(shiftRight(m, 55), Bits(0xff))
	i = add(add(i, i), i)
	inverse, index := gather(table, i, 0), aside(i)
	high, low := mulBoth(wide(m), wide(inverse))
	u := limbs{and(shiftRight(high, 10), Bits(1<<52-1)), or(shiftLeft(high, 42), shiftRight(low, 22))}
	p := limbs{hi: x.copies(Bits(fixedtables.Reciprocal[12][0] >> 12))}
	for k := 11; k >= 7; k-- {
		p.hi = subFrom(fixedtables.Reciprocal[k][0]>>12, mulLimbs(u.hi, p.hi))
	}
	p.lo = x.zeros()
	for k := 6; k >= 1; k-- {
		v := u.times(p.hi, p.lo)
		hi, lo := constantLimbs(fixedtables.Reciprocal[k])
		p.lo = subFrom(lo, v.lo)
		p.hi = add(subFrom(hi, v.hi), shiftSigned(p.lo, 52))
	}
	p = u.times(p.hi, p.lo)
	i = index()
	ln := limbsOf(gather(table, i, 8), gather(table, i, 16)).plus(p)
	hi, lo := constantLimbs(fixedtables.Log2eLess1Q128)
	f := ln.plus(ln.times(hi, lo))

	// The negative of e + f is -1-e + 1-f if f is not 0, and else -e.
	exponent := exponentAside()
	whole := xor(exponent, shiftSigned(exponent, 63))
	addWhere(isZero(or(f.hi, f.lo)).and(negative(exponent)), 1, whole)
	negatePair(exponent, f.hi, f.lo)
	return log2{aside(exponent), aside(whole), aside(f.hi), aside(f.lo)}
}

// power is like pow of package fixed. It does not handle powers out of range.
func power(log log2, y vectors) (vectors, masks) {
	n, sign := abs(y), aside(y)
	n0, n1 := aside(n), aside(shiftRight(n, 52))
	rest, whole, over := y.zeros(), y.zeros(), y.zeros()
	addHigh(rest, n0(), log.lo())
	addHigh(whole, n0(), log.hi())
	addHigh(over, n0(), log.whole())
	addLow(rest, n0(), log.hi())
	addLow(whole, n0(), log.whole())
	addLow(over, n1(), log.whole())
	addLow(rest, n1(), log.lo())
	addLow(whole, n1(), log.hi())
	addHigh(over, n1(), log.hi())
	addHigh(whole, n1(), log.lo())
	whole = add(whole, shiftRight(rest, 52))
	rest = and(rest, Bits(1<<52-1))
	choose(has(whole, 1<<64-64<<fraction).orAll(has(over, 1<<64-1)), Bits(64<<fraction-1), whole) // from 64 on, it is 64 less a little
	high, low := or(shiftLeft(whole, 57-fraction), shiftRight(rest, 38)), shiftLeft(rest, 64-38)
	negatePair(xor(sign(), log.sign()), high, low)
	high = add(high, Bits(64<<57))
	bad := compareUnsigned(greaterEqual, high, high.copies(Bits((64+20)<<57)))
	v := exp2(high, low)
	return v, bad.orAll(negative(v))
}

// pow is like fixed.Pow. It does not handle bases that are not positive.
func pow() {
	px, py := Arg("x"), Arg("y")
	addValues("z", g.Unroll(2, 1, 1), func(ls []Step) (vectors, masks) {
		v, bad := power(newLog2(loadAll(ls, px)), loadAll(ls, py))
		return v, bad.orAll(compare(lessEqual, loadAll(ls, px), g.Zeros(1)[0]))
	})
}

// powers sets p to what pow adds, and q to the power that is 1 less, with the same logarithm.
func powers() {
	px, py, pp, pq := Arg("x"), Arg("y"), Arg("p"), Arg("q")
	untilBad(g.Unroll(2, 1, 1), func(ls []Step) (masks, func()) {
		log := newLog2(loadAll(ls, px))
		p, bad := power(log, loadAll(ls, py))
		bad.orAll(compare(lessEqual, loadAll(ls, px), g.Zeros(1)[0]))
		const one = 1 << fraction
		less1 := sub(atLeast(1<<63+one, loadAll(ls, py)), Bits(one)) // saturated
		q, tooLarge := power(log, less1)
		bad.orAll(tooLarge)
		return bad, func() {
			for i, l := range ls {
				l.Store(p[i], pp)
				l.Store(q[i], pq)
			}
		}
	})
}

// logarithm is like fixed.Log. It does not handle numbers that are not positive.
func logarithm(load func() vectors) (vectors, masks) {
	x := load()
	zeros := leadingZeros(x)
	m := x.each(func(x, to VecVirtual, i int) { VPSLLVQ(zeros[i], x, to) })
	exponent := aside(subFrom(63-fraction, zeros))
	table := Arg("table")
	i := and(shiftRight(m, 55), Bits(0xff))
	i = add(add(i, i), i)
	index := aside(i)
	inverse := gather(table, i, 0)
	high, low := mulBoth(wide(m), wide(inverse))
	u := or(shiftLeft(high, 10), shiftRight(low, 54))
	uf, whole := wide(u), aside(u)
	squares := aside(mulHigh(uf, uf))
	shifted := wide(shiftRight(u, 8))
	// v/5 and v/3 are the high words of these products over 4 and 2.
	third := aside(subFrom(1<<63, shiftRight(mulHigh(shifted, constant(0xaaaaaaaaaaaaaaab)), 1)))
	p := subFrom(1<<62, shiftRight(mulHigh(shifted, constant(0xcccccccccccccccd)), 2))
	w := wide(squares())
	p = shiftRight(mulHigh(w, wide(p)), 16)
	p = shiftRight(mulHigh(w, wide(add(p, third()))), 8)
	ln := add(gather(table, index(), 8), shiftRight(sub(whole(), p), 8))
	v := add(mulLow(exponent(), uint64(fixedtables.Ln2Q57)), shiftRight(ln, 7))
	v = add(v, Bits(1<<(56-fraction)))
	return shiftSigned(v, 57-fraction), compare(lessEqual, load(), g.Zeros(1)[0])
}
