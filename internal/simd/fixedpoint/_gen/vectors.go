package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

var ifma = ISA{Wide: true, Size: 8}

func vectorLoops() {
	only := func(name, sig, doc string, body func()) {
		Func(name, Variant{Tier: "AVX512"}, sig, doc, body)
	}
	byWords := func(name, sig, doc string, body, words func()) {
		only(name, sig, doc, body)
		onlyAVX2(name, sig, doc, words)
	}
	byWords("dot", "func(n int, x, y *int64, sum *uint64)", "sets sum to the low 43 bits, and some more, and the high words of Σ x_i·y_i. n is at most 2¹⁴.", dot, dotWords)
	byWords("squares", "func(n int, x *int64, sums *uint64)", "sets sums to what Σ x_i² has of the weights 1, 2⁵² and 2¹⁰⁴, eight of each, or one with AVX2. n is at most 2¹⁴.", squares, squareWords)
	for _, x := range Indices {
		byWords("rowSums"+x.Suffix(), "func(n, entries int, a *int64, ind *"+string(x)+", u *int64, rows, ldu int, sums *int64, add, minus int) bool",
			"sets n sums to Σ a_q·u_cq, rounded, where u_cq is element c of row ind_q of u. If add is -1 and not 0, it adds that to sums, or subtracts it if minus is. There are at most 2¹² entries, and at least one. It returns false, and changes nothing, if an index is not below rows.",
			func() { rowSums(ifma, x, 2, newApartSums()) }, func() { rowSums(avx2, x, 1, newWordSums()) })
	}
	for _, x := range Indices {
		byWords("rowDots"+x.Suffix(), "func(n, entries int, v *int64, ind *"+string(x)+", u *int64, rows, ldu int, dots *int64) bool",
			"adds Σ_c v_c·u_qc, rounded, to dots_q, where u_qc is element c of row ind_q of u. n is at most 2¹⁰, and there is at least one entry. It returns false at an index that is not below rows.",
			func() { rowDots(ifma, x, newPairSums()) }, func() { rowDots(avx2, x, newWordSums()) })
	}
	for _, x := range Indices {
		byWords("segmentDots"+x.Suffix(), "func(segments int, ptr *"+string(x)+", a, u, sums *int64)",
			"sets sums to those of a_i·u_i in segments, rounded. Segment s has ptr_(s+1) - ptr_s products, at most 2¹⁰, and follows on the one before it. There is at least one.",
			func() { segmentDots(ifma, x, newPairSums()) }, func() { segmentDots(avx2, x, newWordSums()) })
	}
	byWords("axpy", "func(n int, alpha int64, x, y *int64, minus int)", "computes y_i += alpha·x_i, or -= if minus is -1 and not 0.", func() { products(true, false) }, func() { wordProducts(true, false) })
	byWords("shearRows", "func(n int, t, s int64, a, b *int64, back, before, after int)",
		"computes a -= t·b, b += s·a, a -= t·b, or the same with other signs if back is not 0. 0 <= t, s < 2⁵² units. Rows whose flag before or after is -1, else 0, are negated there.", shearRows, shearWords)
	for _, back := range []bool{false, true} {
		name, order := "shearChain", "up: row i and the row below it, whose result is the first that it stores"
		if back {
			name, order = "unshearChain", "down, which undoes that"
		}
		only(name, "func(n, steps int, t, s *int64, half *bool, next int, x *int64, stride int)",
			"does what shearRows does for n columns of pairs of neighbouring rows, "+order+". x is in the first row, and stride leads to the next, as next does in the tables. t and s have the same sign, and are below 2⁵² units.",
			func() { shearChain(back) })
	}
	only("unshearCross", "func(n, steps int, table *uint64, x *int64, ldx int, gx *int64, ldg int)",
		"does what unshearChain does for x and gx. Before each step it adds to the sums of the table what the products of the rows are: the first of x and the second of gx, and the second and the first.", unshearCross)
	byWords("addProducts", "func(n int, x, y, from, z *int64, minus int)", "sets z_i to from_i + x_i·y_i, or to from_i - x_i·y_i if minus is -1 and not 0.", func() { products(false, false) }, func() { wordProducts(false, false) })
}

// dot sums products of limbs as tile does.
func dot() {
	g := ifma
	f := newForm(g, false)
	n, x, y := Arg("n"), Arg("x"), Arg("y")
	const unroll = 2
	acc := make([][]VecVirtual, unroll)
	for u := range acc {
		acc[u] = g.Zeros(len(f.weight) + 1) // and the sum of both factors
	}
	sign, low := g.CopyOf(Bits(1<<63)), g.CopyOf(Bits(1<<40-1))
	g.Loop(n, unroll, func(l Step, u int) {
		x0, x1, y0, y1, t := l.Load(x), g.Reg(), g.Reg(), g.Reg(), acc[u]
		v := l.Load(y)
		VPXORQ(sign, x0, x1)
		VPSRLQ(Imm(52), x1, x1)
		VPXORQ(sign, v, y1)
		VPSRLQ(Imm(40), y1, y1)
		VPANDQ(low, v, y0)
		VPADDQ(x0, t[4], t[4])
		VPADDQ(v, t[4], t[4])
		addLimbs(t, x0, x1, y0, y1)
	}, func() {
		for i, t := range acc[1] {
			VPADDQ(t, acc[0][i], acc[0][i])
		}
	})
	hi, lo := f.join(acc[0][:4])
	VPSLLQ(Imm(63-fraction), acc[0][4], acc[0][4])
	VPSUBQ(acc[0][4], hi, hi)
	sum := Arg("sum")
	for i, v := range []VecVirtual{lo, hi} {
		g.Reduce(v, func(b, a, dst Op) { VPADDQ(b, a, dst) })
		VMOVQ(v.AsX(), Mem{Base: sum, Disp: 8 * i})
	}
}

// squares sums products of the limbs x₁·2⁵² + x₀ of |x|. With x₁ <= 2¹¹,
//
//	x² = x₀² + 2⁵²·x₀·(2·x₁) + 2¹⁰⁴·x₁².
//
// A sum gets at most 2·2¹¹ terms below 2⁵².
func squares() {
	g := ifma
	n, x := Arg("n"), Arg("x")
	const unroll = 2
	acc := make([][]VecVirtual, unroll)
	for u := range acc {
		acc[u] = g.Zeros(4)
	}
	g.Loop(n, unroll, func(l Step, u int) {
		x0, x1, twice, t := l.Load(x), g.Reg(), g.Reg(), acc[u]
		VPABSQ(x0, x0)
		VPSRLQ(Imm(52), x0, x1)
		VPADDQ(x1, x1, twice)
		VPMADD52LUQ(x0, x0, t[0])
		VPMADD52HUQ(x0, x0, t[1])
		VPMADD52LUQ(x0, twice, t[2])
		VPMADD52HUQ(x0, twice, t[3])
		VPMADD52LUQ(x1, x1, t[3])
	}, func() {
		for i, t := range acc[1] {
			VPADDQ(t, acc[0][i], acc[0][i])
		}
	})
	t, sums := acc[0], Arg("sums")
	VPADDQ(t[2], t[1], t[1])
	for i, v := range []VecVirtual{t[0], t[1], t[3]} {
		g.Mov(v, Mem{Base: sums, Disp: line * i})
	}
}

// productSums are sums of products.
type productSums interface {
	add(a VecVirtual, u vectors) // adds products. It destroys the factors.
	lanes(v int) VecVirtual      // rounds the sums of vector v, lane by lane
	sum() GPVirtual              // adds up the lanes of vector 0, and rounds
}

// apartSums are words of sums, as addApart takes them.
type apartSums struct {
	rounding
	hi, far, rest vectors
}

// newApartSums returns what makes sums of n vectors.
func newApartSums() func(n int) productSums {
	r := newRounding()
	return func(n int) productSums { return apartSums{r, ifma.Zeros(n), ifma.Zeros(n), ifma.Zeros(n)} }
}

// newPairSums is newApartSums without far, for sum alone.
func newPairSums() func(n int) productSums {
	r := newRounding()
	return func(n int) productSums {
		hi := ifma.Zeros(n)
		return apartSums{r, hi, hi, ifma.Zeros(n)}
	}
}

func (s apartSums) add(a VecVirtual, u vectors) {
	f := newLeftFactor(a)
	for v, u := range u {
		s.addApart(s.hi[v], s.far[v], s.rest[v], f, u)
	}
}

func (s apartSums) lanes(v int) VecVirtual {
	VPADDQ(s.far[v], s.hi[v], s.hi[v])
	s.finish(s.hi[v], s.rest[v])
	return s.hi[v]
}

func (s apartSums) sum() GPVirtual { return total(s.hi[0], s.rest[0]) }

// rowSums sums products of some vectors of columns at a time.
func rowSums(g ISA, x IndexType, unroll int, open func(n int) productSums) {
	n, a, u, ldu, sums, add, minus, result := Arg("n"), Arg("a"), Arg("u"), g.Stride("ldu"), Arg("sums"), g.BroadcastArg("add"), g.BroadcastArg("minus"), Result()
	f, bad := form{ISA: g}, Unique("bad")
	MOVB(Imm(0), result)
	g.Groups(n, unroll, func(ls []Step) {
		s := open(len(ls))
		left, pa, ind := Arg("entries"), GP64(), Arg("ind")
		MOVQ(a, pa)
		Times(left, func() {
			row := rowAt(x, ind, ldu, u, bad)
			s.add(g.Broadcast(Mem{Base: pa}), loadAll(ls, row))
			ADDQ(Imm(8), pa)
			ADDQ(U32(x.Bytes()), ind)
		})
		for v, l := range ls {
			total := s.lanes(v)
			f.xor(minus, total)
			VPSUBQ(minus, total, total)
			old := l.Load(sums)
			f.and(add, old)
			VPADDQ(old, total, total)
			l.Store(total, sums)
		}
	}, nil)
	MOVB(Imm(1), result)
	Label(bad)
}

// rowAt returns where the row of the index at ind is, or jumps.
func rowAt(x IndexType, ind, ldu, u GPVirtual, bad string) GPVirtual {
	row := GP64()
	x.LoadIndex(Mem{Base: ind}, row)
	CMPQ(row, ArgAddr("rows"))
	JCC(LabelRef(bad))
	IMULQ(ldu, row)
	ADDQ(u, row)
	return row
}

// addLimbs adds the products of the limbs of 8 numbers each.
func addLimbs(t []VecVirtual, x0, x1, y0, y1 VecVirtual) {
	VPMADD52LUQ(y0, x0, t[0])
	VPMADD52HUQ(y0, x0, t[1])
	VPMADD52LUQ(y1, x0, t[2])
	VPMADD52HUQ(y1, x0, t[3])
	VPMADD52LUQ(y0, x1, t[1])
	VPMADD52LUQ(y1, x1, t[3])
}

// A rounding has the constants of products that are rounded one by one.
type rounding struct{ half, one, low VecVirtual }

func newRounding() rounding {
	g := ifma
	return rounding{g.CopyOf(Bits(1<<51 - 1)), g.CopyOf(Bits(1)), g.CopyOf(Bits(1<<fraction - 1))}
}

// A leftFactor is the first factor of products.
type leftFactor struct{ a, low, high VecVirtual }

func newLeftFactor(a VecVirtual) leftFactor {
	g := ifma
	f := leftFactor{a, g.Reg(), g.Reg()}
	VPSLLQ(Imm(52-fraction), a, f.low)
	VPSRAQ(Imm(fraction), a, f.high)
	return f
}

// addTo adds the product with b, which it destroys, to the words hi and rest: without the carry from rest, which
// has 2⁹·L.
func (r rounding) addTo(hi, rest VecVirtual, f leftFactor, b VecVirtual) {
	r.addApart(hi, hi, rest, f, b)
}

// addApart is addTo with a sum far of what goes to hi in whole words.
func (r rounding) addApart(hi, far, rest VecVirtual, f leftFactor, b VecVirtual) {
	g := ifma
	high, low := g.Reg(), g.Reg()
	VPSRAQ(Imm(fraction), b, high)
	VPANDQ(r.low, b, b)
	VPMULLQ(f.a, high, high)
	VPMULLQ(f.high, b, low)
	VPMADD52LUQ(b, f.low, rest)
	VPMADD52HUQ(b, f.low, hi)
	VPADDQ(high, low, low)
	VPADDQ(low, far, far)
}

// finish rounds a sum. Its words are no longer apart.
func (r rounding) finish(hi, rest VecVirtual) {
	carry := ifma.Reg()
	VPSRLQ(Imm(52), rest, carry)
	VPADDQ(carry, hi, hi)
	VPANDQ(Bits(1<<52-1), rest, rest)
	VPADDQ(r.half, rest, rest)
	r.round(hi, rest)
}

// round adds the carry from rest to hi. Both are the words of a sum, and rest has half a unit more.
func (r rounding) round(hi, rest VecVirtual) {
	odd := ifma.Reg()
	VPANDQ(r.one, hi, odd)
	VPADDQ(odd, rest, rest)
	VPSRLQ(Imm(52), rest, rest)
	VPADDQ(rest, hi, hi)
}

// product returns the product with b, which it destroys.
func (r rounding) product(f leftFactor, b VecVirtual) VecVirtual {
	hi, rest := ifma.Zeros(1)[0], ifma.CopyOf(r.half)
	r.addTo(hi, rest, f, b)
	r.round(hi, rest)
	return hi
}

// total returns the sum of the lanes, rounded. Their words rest are below 2⁵⁹.
func total(hi, rest VecVirtual) GPVirtual {
	g := ISA{Wide: hi.Size() == 64, Size: 8}
	pairs := g.Reg() // of both words, side by side
	VPUNPCKLQDQ(hi, rest, pairs)
	VPUNPCKHQDQ(hi, rest, rest)
	VPADDQ(rest, pairs, pairs)
	for pairs.Size() > 16 {
		upper := g.Upper(pairs)
		VPADDQ(upper, lower(pairs), upper)
		pairs = upper
	}
	low, sum, bits := GP64(), GP64(), GP64()
	VMOVQ(pairs.AsX(), low)
	VPEXTRQ(Imm(1), pairs.AsX(), sum)
	MOVQ(low, bits)
	SHRQ(Imm(52), bits)
	ADDQ(bits, sum)
	MOVQ(U64(1<<52-1), bits)
	ANDQ(bits, low)
	MOVQ(sum, bits)
	ANDQ(Imm(1), bits)
	ADDQ(bits, low)
	MOVQ(U64(1<<51-1), bits)
	ADDQ(bits, low)
	SHRQ(Imm(52), low)
	ADDQ(low, sum)
	return sum
}

// lower returns the lower half of v.
func lower(v VecVirtual) Register {
	if v.Size() == 64 {
		return v.AsY()
	}
	return v.AsX()
}

// segmentDots sums products of two vectors, one segment after the other.
func segmentDots(g ISA, x IndexType, open func(n int) productSums) {
	ptr, left, a, u, sums := Arg("ptr"), Arg("segments"), Arg("a"), Arg("u"), Arg("sums")
	from := GP64()
	x.LoadIndex(Mem{Base: ptr}, from)
	Times(left, func() {
		n, to := GP64(), GP64()
		ADDQ(U32(x.Bytes()), ptr)
		x.LoadIndex(Mem{Base: ptr}, to)
		MOVQ(to, n)
		SUBQ(from, n)
		MOVQ(to, from)
		s := open(1)
		g.Loop(n, 1, func(l Step, _ int) { s.add(l.Load(a), vectors{l.Load(u)}) }, nil)
		LEAQ(Mem{Base: a, Index: n, Scale: 8}, a)
		LEAQ(Mem{Base: u, Index: n, Scale: 8}, u)
		MOVQ(s.sum(), Mem{Base: sums})
		ADDQ(Imm(8), sums)
	})
}

// rowDots sums products of a vector with rows.
func rowDots(g ISA, x IndexType, open func(n int) productSums) {
	n, v, left, ind, u, ldu, dots, result := Arg("n"), Arg("v"), Arg("entries"), Arg("ind"), Arg("u"), g.Stride("ldu"), Arg("dots"), Result()
	bad := Unique("bad")
	MOVB(Imm(0), result)
	Times(left, func() {
		row := rowAt(x, ind, ldu, u, bad)
		s := open(1)
		g.Loop(n, 1, func(l Step, _ int) { s.add(l.Load(v), vectors{l.Load(row)}) }, nil)
		ADDQ(s.sum(), Mem{Base: dots})
		ADDQ(Imm(8), dots)
		ADDQ(U32(x.Bytes()), ind)
	})
	MOVB(Imm(1), result)
	Label(bad)
}

// products adds products that are rounded one by one, as the comment of the package says.
// alpha is the factor x of all, or each has its own. If checked is set, it returns the largest magnitude of an estimate.
func products(alpha, checked bool) {
	g := ifma
	n, minus := Arg("n"), g.Reg()
	VPBROADCASTQ(Arg("minus"), minus)
	var x, y, from, z Register
	if alpha {
		y, z = Arg("x"), Arg("y")
		from = z
	} else {
		x, y, from, z = Arg("x"), Arg("y"), Arg("from"), Arg("z")
	}
	r := newRounding()
	var f leftFactor
	var e estimate
	var factor VecVirtual
	if checked {
		e = newEstimate(minus)
	}
	first := func(a VecVirtual) {
		f = newLeftFactor(a)
		if checked {
			factor = e.factor(a)
		}
	}
	if alpha {
		a := g.Reg()
		VPBROADCASTQ(Arg("alpha"), a)
		first(a)
	}
	g.Loop(n, 2, func(l Step, _ int) {
		if !alpha {
			first(l.Load(x))
		}
		b := l.Load(y)
		if checked {
			sum := l.Load(from)
			e.see(factor, b, sum)
			v := r.product(f, b)
			VPADDQ(v, sum, e.plus, sum)
			VPSUBQ(v, sum, e.minus, sum)
			l.Store(sum, z)
			return
		}
		v := r.product(f, b)
		VPXORQ(minus, v, v)
		VPSUBQ(minus, v, v)
		VPADDQ(l.Load(from), v, v)
		l.Store(v, z)
	}, nil)
	if checked {
		e.store()
	}
}

// A shearing has the constants of shears. With x = x₁·2⁴³ + x₀ and a factor 0 <= m < 2⁵², the product is
// x₀·m + 2⁴³·x₁·m, and the words are those of a product.
type shearing struct{ half, one, zero VecVirtual }

func newShearing() shearing {
	g := ifma
	return shearing{g.CopyOf(Bits(1<<51 - 1)), g.CopyOf(Bits(1)), g.Zeros(1)[0]}
}

// product returns m·x.
func (s shearing) product(m, x VecVirtual) VecVirtual {
	g := ifma
	low, hi, rest := g.Reg(), g.Reg(), g.CopyOf(s.half)
	VPSLLQ(Imm(52-fraction), x, low)
	VPSRAQ(Imm(fraction), x, hi)
	VPMULLQ(m, hi, hi)
	VPMADD52LUQ(low, m, rest)
	VPMADD52HUQ(low, m, hi)
	rounding{one: s.one}.round(hi, rest)
	return hi
}

// shear adds m·from to the vectors in the lanes of plus, and subtracts it in those of minus.
func (s shearing) shear(m VecVirtual, from, to vectors, plus, minus Register) {
	for i := range from {
		v := s.product(m, from[i])
		VPADDQ(v, to[i], plus, to[i])
		VPSUBQ(v, to[i], minus, to[i])
	}
}

// rotate does three shears. Where turned is set, a and b are negated before them if back is set, else after them.
func (s shearing) rotate(back bool, t, sine VecVirtual, a, b vectors, plus, minus, turned Register) {
	negate := func() {
		for i := range a {
			VPSUBQ(a[i], s.zero, turned, a[i])
			VPSUBQ(b[i], s.zero, turned, b[i])
		}
	}
	if back {
		negate()
	}
	s.shear(t, b, a, plus, minus)
	s.shear(sine, a, b, minus, plus)
	s.shear(t, b, a, plus, minus)
	if !back {
		negate()
	}
}

// shearChain keeps a row in registers from one rotation to the next, which is of this row and another.
func shearChain(back bool) {
	g := ifma
	n, stride, next := Arg("n"), g.Stride("stride"), Arg("next")
	consts := newShearing()
	g.Groups(n, 4, func(ls []Step) {
		steps, pt, ps, half, row, other, ahead := Arg("steps"), Arg("t"), Arg("s"), Arg("half"), Arg("x"), GP64(), GP64()
		LEAQ(Mem{Base: row, Index: stride, Scale: 1}, other)
		kept, moving := loadAll(ls, row), loadAll(ls, other)
		Times(steps, func() {
			negative, m, t, s := GP64(), GP64(), g.Reg(), g.Reg()
			MOVQ(Mem{Base: pt}, negative)
			ORQ(Mem{Base: ps}, negative)
			SARQ(Imm(63), negative)
			factor := func(p Register, v VecVirtual) {
				VPBROADCASTQ(Mem{Base: p}, v)
				VPABSQ(v, v)
			}
			factor(pt, t)
			factor(ps, s)
			turned, plus, minus := K(), K(), K() // where a grows, and where b does
			KMOVB(negative.As32(), plus)
			KNOTB(plus, minus)
			MOVBLZX(Mem{Base: half}, m.As32())
			NEGQ(m)
			KMOVB(m.As32(), turned)
			if back {
				consts.rotate(true, t, s, kept, moving, minus, plus, turned)
			} else {
				consts.rotate(false, t, s, moving, kept, plus, minus, turned)
			}
			// The next row is loaded before this one is stored. If their addresses differ by a multiple of
			// 4096, the load would wait for the store.
			LEAQ(Mem{Base: other, Index: stride, Scale: 1}, ahead)
			CMPQ(steps, Imm(1))
			CMOVQEQ(other, ahead)
			following := loadAll(ls, ahead)
			for i, l := range ls {
				l.Store(kept[i], row)
				g.Mov(moving[i], kept[i])
				g.Mov(following[i], moving[i])
			}
			MOVQ(other, row)
			MOVQ(ahead, other)
			LEAQ(Mem{Base: pt, Index: next, Scale: 8}, pt)
			LEAQ(Mem{Base: ps, Index: next, Scale: 8}, ps)
			ADDQ(next, half)
		})
		for i, l := range ls {
			l.Store(kept[i], row)
		}
	}, nil)
}

// crossStep is the size of a step of the table of unshearCross: |t|, |s|, -1 if these are negative, -1 if half a turn follows, and the sums.
const crossStep = 8 * 8

// unshearCross does what unshearChain does for two matrices. Before each rotation, of rows a and b, it adds
// Σ x_a·g_b and Σ x_b·g_a to the sums: the low 43 bits and some more, and the high word of each.
func unshearCross() {
	g := ifma
	n, ldx, ldg := Arg("n"), g.Stride("ldx"), g.Stride("ldg")
	consts, low := newShearing(), g.CopyOf(Bits(1<<fraction-1))
	g.Groups(n, 4, func(ls []Step) {
		steps, table := Arg("steps"), Arg("table")
		type matrix struct {
			row, other, stride Register
			kept, moving       vectors
		}
		open := func(name string, stride Register) matrix {
			m := matrix{row: Arg(name), other: GP64(), stride: stride}
			LEAQ(Mem{Base: m.row, Index: stride, Scale: 1}, m.other)
			m.kept, m.moving = loadAll(ls, m.row), loadAll(ls, m.other)
			return m
		}
		x, gx := open("x", ldx), open("gx", ldg)
		field := func(i int) Mem { return Mem{Base: table, Disp: 8 * i} }
		Times(steps, func() {
			for i, f := range [][2]vectors{{x.kept, gx.moving}, {x.moving, gx.kept}} {
				hi, lo := g.Zeros(1)[0], g.Zeros(1)[0]
				for u := range ls {
					b := g.CopyOf(f[1][u])
					rounding{low: low}.addTo(hi, lo, newLeftFactor(f[0][u]), b)
				}
				for j, v := range []VecVirtual{lo, hi} {
					sum := GP64()
					g.Reduce(v, func(b, a, dst Op) { VPADDQ(b, a, dst) })
					VMOVQ(v.AsX(), sum)
					if j == 0 {
						SHRQ(Imm(52-fraction), sum)
					}
					ADDQ(sum, field(4+2*i+j))
				}
			}
			t, s, mask := g.Reg(), g.Reg(), GP64()
			VPBROADCASTQ(field(0), t)
			VPBROADCASTQ(field(1), s)
			plus, minus, turned := K(), K(), K()
			MOVQ(field(2), mask)
			KMOVB(mask.As32(), minus)
			KNOTB(minus, plus)
			MOVQ(field(3), mask)
			KMOVB(mask.As32(), turned)
			for _, m := range []matrix{x, gx} {
				consts.rotate(true, t, s, m.kept, m.moving, plus, minus, turned)
				ahead := GP64()
				LEAQ(Mem{Base: m.other, Index: m.stride, Scale: 1}, ahead)
				CMPQ(steps, Imm(1))
				CMOVQEQ(m.other, ahead)
				following := loadAll(ls, ahead)
				for i, l := range ls {
					l.Store(m.kept[i], m.row)
					g.Mov(m.moving[i], m.kept[i])
					g.Mov(following[i], m.moving[i])
				}
				MOVQ(m.other, m.row)
				MOVQ(ahead, m.other)
			}
			ADDQ(Imm(crossStep), table)
		})
		for _, m := range []matrix{x, gx} {
			for i, l := range ls {
				l.Store(m.kept[i], m.row)
			}
		}
	}, nil)
}

// shearRows does three of products that are rounded one by one.
func shearRows() {
	g := ifma
	n, pa, pb := Arg("n"), Arg("a"), Arg("b")
	consts := newShearing()
	vector := func(name string) VecVirtual {
		r := g.Reg()
		VPBROADCASTQ(Arg(name), r)
		return r
	}
	mask := func(name string) Register {
		k, r := K(), Arg(name)
		KMOVB(r.As32(), k)
		return k
	}
	t, s, before, after, plus, minus := vector("t"), vector("s"), mask("before"), mask("after"), mask("back"), K()
	KNOTB(plus, minus)
	negate := func(k Register, x vectors) {
		for i := range x {
			VPSUBQ(x[i], consts.zero, k, x[i])
		}
	}
	g.Groups(n, 2, func(ls []Step) {
		a, b := loadAll(ls, pa), loadAll(ls, pb)
		negate(before, a)
		negate(before, b)
		consts.shear(t, b, a, plus, minus)
		consts.shear(s, a, b, minus, plus)
		consts.shear(t, b, a, plus, minus)
		negate(after, a)
		negate(after, b)
		for u, l := range ls {
			l.Store(a[u], pa)
			l.Store(b[u], pb)
		}
	}, nil)
}
