package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/asm"
)

var ifma = ISA{Wide: true, Size: 8}

func vectorLoops() {
	only := func(name, sig, doc string, body func()) {
		Func(name, Variant{Tier: "AVX512"}, sig, doc, body)
	}
	only("dot", "func(n int, x, y *int64, sum *uint64)", "sets sum to the low 43 bits, and some more, and the high words of Σ x_i·y_i. n is at most 2¹⁴.", dot)
	only("squares", "func(n int, x *int64, sums *uint64)", "sets sums to what Σ x_i² has of the weights 1, 2⁵² and 2¹⁰⁴, eight of each. n is at most 2¹⁴.", squares)
	for _, x := range Indices {
		only("rowSums"+x.Suffix(), "func(n, entries int, a *int64, ind *"+string(x)+", u *int64, ldu int, sums *int64)",
			"sets n sums to Σ a_q·u_cq, rounded, where u_cq is element c of row ind_q of u. There are at most 2¹² entries, and at least one.",
			func() { rowSums(x) })
	}
	only("axpy", "func(n int, alpha int64, x, y *int64, minus int)", "computes y_i += alpha·x_i, or -= if minus is -1 and not 0.", func() { products(true) })
	only("shearRows", "func(n int, t, s int64, a, b *int64, back, before, after int)",
		"computes a -= t·b, b += s·a, a -= t·b, or the same with other signs if back is not 0. 0 <= t, s < 1. Rows whose flag before or after is -1, else 0, are negated there.", shearRows)
	for _, back := range []bool{false, true} {
		name, order := "shearChain", "up: row i and the row below it, whose result is the first that it stores"
		if back {
			name, order = "unshearChain", "down, which undoes that"
		}
		only(name, "func(n, steps int, t, s *int64, half *bool, next int, x *int64, stride int)",
			"does what shearRows does for n columns of pairs of neighbouring rows, "+order+". x is in the first row, and stride leads to the next, as next does in the tables. -1 < t, s < 1 have the same sign.",
			func() { shearChain(back) })
	}
	only("addProducts", "func(n int, x, y, z *int64, minus int)", "computes z_i += x_i·y_i, or -= if minus is -1 and not 0.", func() { products(false) })
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

// rowSums sums products of limbs as dot does, for 16 columns at a time.
func rowSums(x IndexType) {
	g := ifma
	f := newForm(g, false)
	n, a, u, ldu, sums := Arg("n"), Arg("a"), Arg("u"), g.Stride("ldu"), Arg("sums")
	sign, low := g.CopyOf(Bits(1<<63)), g.CopyOf(Bits(1<<40-1))
	g.Groups(n, 2, func(ls []Step) {
		acc := make([][]VecVirtual, len(ls))
		for v := range acc {
			acc[v] = g.Zeros(len(f.weight) + 1) // and the sum of both factors
		}
		left, pa, ind, row := Arg("entries"), GP64(), Arg("ind"), GP64()
		MOVQ(a, pa)
		Times(left, func() {
			x.LoadIndex(Mem{Base: ind}, row)
			IMULQ(ldu, row)
			ADDQ(u, row)
			x0, x1 := g.Broadcast(Mem{Base: pa}), g.Reg()
			VPXORQ(sign, x0, x1)
			VPSRLQ(Imm(52), x1, x1)
			for v, l := range ls {
				y, y0, y1, t := l.Load(row), g.Reg(), g.Reg(), acc[v]
				VPXORQ(sign, y, y1)
				VPSRLQ(Imm(40), y1, y1)
				VPANDQ(low, y, y0)
				VPADDQ(x0, y, y)
				VPADDQ(y, t[4], t[4])
				addLimbs(t, x0, x1, y0, y1)
			}
			ADDQ(Imm(8), pa)
			ADDQ(U32(x.Bytes()), ind)
		})
		for v, l := range ls {
			t, tmp := acc[v], g.Reg()
			hi, lo := f.join(t[:4])
			VPSLLQ(Imm(63-fraction), t[4], t[4])
			VPSUBQ(t[4], hi, hi)
			f.round(hi, lo, tmp)
			l.Store(hi, sums)
		}
	}, nil)
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

// products adds products that are rounded one by one, as the comment of the package says.
// alpha is the factor x of all, or each has its own.
func products(alpha bool) {
	g := ifma
	n, minus := Arg("n"), g.Reg()
	VPBROADCASTQ(Arg("minus"), minus)
	x, y, z := GP64(), GP64(), GP64()
	if alpha {
		Load(Param("x"), y)
		Load(Param("y"), z)
	} else {
		Load(Param("x"), x)
		Load(Param("y"), y)
		Load(Param("z"), z)
	}
	sign, low, half, one := g.CopyOf(Bits(1<<63)), g.CopyOf(Bits(1<<fraction-1)), g.CopyOf(Bits(1<<51-1)), g.CopyOf(Bits(1))
	limbs := func(a VecVirtual) (a0, a1, top, lack VecVirtual) {
		a0, a1, top, lack = g.Reg(), g.Reg(), g.Reg(), g.Reg()
		VPSLLQ(Imm(52-fraction), a, a0)
		VPXORQ(sign, a, a1)
		VPSRLQ(Imm(fraction), a1, a1)
		VPSRLQ(Imm(52), a, top)
		VPSLLQ(Imm(63-fraction), a, lack)
		return a0, a1, top, lack
	}
	var a, a0, a1, top, lack VecVirtual
	if alpha {
		a = g.Reg()
		VPBROADCASTQ(Arg("alpha"), a)
		a0, a1, top, lack = limbs(a)
	}
	g.Loop(n, 2, func(l Step, _ int) {
		if !alpha {
			a = l.Load(x)
			a0, a1, top, lack = limbs(a)
		}
		b0, b1 := l.Load(y), g.Reg()
		VPXORQ(sign, b0, b1)
		VPSRLQ(Imm(fraction), b1, b1)
		VPANDQ(low, b0, b0)
		rest, hi, far := g.Reg(), g.Reg(), g.Reg()
		g.Clear(far)
		VPSLLQ(Imm(63-fraction), b0, hi)
		VPADDQ(lack, hi, hi)
		tmp := g.Reg()
		g.Clear(tmp)
		VPSUBQ(hi, tmp, hi)
		g.Mov(half, rest)
		VPMADD52LUQ(b0, a0, rest)
		VPMADD52HUQ(b0, a0, hi)
		VPMADD52LUQ(b0, a1, hi)
		VPMADD52HUQ(b0, a1, far)
		VPMADD52LUQ(b1, a, hi)
		VPMADD52HUQ(b1, a, far)
		VPMADD52LUQ(b1, top, far)
		VPSLLQ(Imm(52), far, far)
		VPADDQ(far, hi, hi)
		VPANDQ(one, hi, tmp)
		VPADDQ(tmp, rest, rest)
		VPSRLQ(Imm(52), rest, rest)
		VPADDQ(rest, hi, hi)
		VPXORQ(minus, hi, hi)
		VPSUBQ(minus, hi, hi)
		VPADDQ(l.Load(z), hi, hi)
		l.Store(hi, z)
	}, nil)
}

// shearChain keeps a row in registers from one rotation to the next, which is of this row and another.
func shearChain(back bool) {
	g := ifma
	n, stride, next := Arg("n"), g.Stride("stride"), Arg("next")
	sign, rounding, one, zero := g.CopyOf(Bits(1<<63)), g.CopyOf(Bits(1<<51-1)), g.CopyOf(Bits(1)), g.Zeros(1)[0]
	g.Groups(n, 4, func(ls []Step) {
		steps, pt, ps, half, row, other, ahead := Arg("steps"), Arg("t"), Arg("s"), Arg("half"), Arg("x"), GP64(), GP64()
		LEAQ(Mem{Base: row, Index: stride, Scale: 1}, other)
		kept, moving := loadAll(ls, row), loadAll(ls, other)
		Times(steps, func() {
			negative, m, t, s := GP64(), GP64(), g.Reg(), g.Reg()
			MOVQ(Mem{Base: pt}, negative)
			ORQ(Mem{Base: ps}, negative)
			SARQ(Imm(63), negative)
			factor := func(p Register, shifted VecVirtual) (lack VecVirtual) {
				lack = g.Reg()
				MOVQ(Mem{Base: p}, m)
				XORQ(negative, m)
				SUBQ(negative, m)
				SHLQ(Imm(52-fraction), m)
				VPBROADCASTQ(m, shifted)
				SHLQ(Imm(63-52), m)
				NEGQ(m)
				VPBROADCASTQ(m, lack)
				return lack
			}
			lackT, lackS := factor(pt, t), factor(ps, s)
			turned, plus, minus := K(), K(), K() // where a grows, and where b does
			KMOVB(negative.As32(), plus)
			KNOTB(plus, minus)
			MOVBLZX(Mem{Base: half}, m.As32())
			NEGQ(m)
			KMOVB(m.As32(), turned)
			a, b := moving, kept
			if back {
				a, b, plus, minus = kept, moving, minus, plus
			}
			negate := func() {
				for i := range a {
					VPSUBQ(a[i], zero, turned, a[i])
					VPSUBQ(b[i], zero, turned, b[i])
				}
			}
			shear := func(m, lack VecVirtual, from, to vectors, plus, minus Register) {
				for i := range from {
					top, rest, hi, far := g.Reg(), g.CopyOf(rounding), g.CopyOf(lack), g.Zeros(1)[0]
					VPXORQ(sign, from[i], top)
					VPSRLQ(Imm(52), top, top)
					VPMADD52LUQ(from[i], m, rest)
					VPMADD52HUQ(from[i], m, hi)
					VPMADD52HUQ(top, m, far)
					VPMADD52LUQ(top, m, hi)
					VPSLLQ(Imm(52), far, far)
					VPADDQ(far, hi, hi)
					VPANDQ(one, hi, far)
					VPADDQ(far, rest, rest)
					VPSRLQ(Imm(52), rest, rest)
					VPADDQ(rest, hi, hi)
					VPADDQ(hi, to[i], plus, to[i])
					VPSUBQ(hi, to[i], minus, to[i])
				}
			}
			if back {
				negate()
			}
			shear(t, lackT, b, a, plus, minus)
			shear(s, lackS, a, b, minus, plus)
			shear(t, lackT, b, a, plus, minus)
			if !back {
				negate()
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

// shearRows does three of products that are rounded one by one. With m = t·2⁴³ and b' = b + 2⁶³ =
// b₁·2⁵² + b₀, the terms of m·b·2⁹ are (m·2⁹)·b₀, (m·2⁹)·b₁·2⁵² and -m·2⁷². All but the low half
// of the first go to the high words.
func shearRows() {
	g := ifma
	n, pa, pb := Arg("n"), Arg("a"), Arg("b")
	sign, half, one := g.CopyOf(Bits(1<<63)), g.CopyOf(Bits(1<<51-1)), g.CopyOf(Bits(1))
	factor := func(name string) (shifted, lack VecVirtual) {
		shifted, lack, zero := g.Reg(), g.Reg(), g.Reg()
		VPBROADCASTQ(Arg(name), shifted)
		VPSLLQ(Imm(63-fraction), shifted, lack)
		g.Clear(zero)
		VPSUBQ(lack, zero, lack)
		VPSLLQ(Imm(52-fraction), shifted, shifted)
		return shifted, lack
	}
	t, lackT := factor("t")
	s, lackS := factor("s")
	mask := func(name string) VecVirtual {
		r := g.Reg()
		VPBROADCASTQ(Arg(name), r)
		return r
	}
	before, after := mask("before"), mask("after")
	negate := func(mask, x VecVirtual) {
		VPXORQ(mask, x, x)
		VPSUBQ(mask, x, x)
	}
	shear := func(add bool, m, lack, from, to VecVirtual) {
		top, rest, hi, far := g.Reg(), g.CopyOf(half), g.CopyOf(lack), g.Reg()
		g.Clear(far)
		VPXORQ(sign, from, top)
		VPSRLQ(Imm(52), top, top)
		VPMADD52LUQ(from, m, rest)
		VPMADD52HUQ(from, m, hi)
		VPMADD52HUQ(top, m, far)
		VPMADD52LUQ(top, m, hi)
		VPSLLQ(Imm(52), far, far)
		VPADDQ(far, hi, hi)
		VPANDQ(one, hi, far)
		VPADDQ(far, rest, rest)
		VPSRLQ(Imm(52), rest, rest)
		VPADDQ(rest, hi, hi)
		if add {
			VPADDQ(hi, to, to)
		} else {
			VPSUBQ(hi, to, to)
		}
	}
	rows := func(back bool) {
		g.Groups(n, 2, func(ls []Step) {
			a, b := make([]VecVirtual, len(ls)), make([]VecVirtual, len(ls))
			for u, l := range ls {
				a[u], b[u] = l.Load(pa), l.Load(pb)
				negate(before, a[u])
				negate(before, b[u])
			}
			for u := range ls {
				shear(back, t, lackT, b[u], a[u])
			}
			for u := range ls {
				shear(!back, s, lackS, a[u], b[u])
			}
			for u := range ls {
				shear(back, t, lackT, b[u], a[u])
			}
			for u, l := range ls {
				negate(after, a[u])
				negate(after, b[u])
				l.Store(a[u], pa)
				l.Store(b[u], pb)
			}
		}, nil)
	}
	back := Arg("back")
	TESTQ(back, back)
	JNE(LabelRef("back"))
	rows(false)
	JMP(LabelRef("done"))
	Label("back")
	rows(true)
	Label("done")
}
