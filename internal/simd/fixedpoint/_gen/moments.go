package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// Loops of mixtures of Gaussians, over one limb or two.

func moments() {
	for _, narrow := range []bool{true, false} {
		name := "Wide"
		if narrow {
			name = "Narrow"
		}
		Func("triNorms"+name, Variant{Tier: "AVX512"}, "func(n, d int, l, c *int64, ldc int, mu, y *int64, ldy int, hi, lo uint64, half *int64, scratch *int64) uint64",
			"sets y to L·(c - mu), rounded, and half to minus half of hi·2⁴³ + lo + Σ y², rounded twice. It returns the bits of all |y|. 0 <= lo < 2⁴³, and d is at most 2⁸.",
			func() { triNorms(newForm(ifma, narrow)) })
		Func("triDots"+name, Variant{Tier: "AVX512"}, "func(n, d, first, rows int, z *int64, ldz int, c *int64, ldc int, mu *int64, sums *uint64, scratch *int64)",
			"adds to sums the products of rows of z, from row first on, with rows of c - mu. Four sums lie side by side. The first row computes c - mu for all. n is at most 2⁷.",
			func() { triDots(newForm(ifma, narrow)) })
	}
	Func("weighRows", Variant{Tier: "AVX512"}, "func(n, d int, w, y *int64, ldy int, sums *int64) uint64",
		"multiplies d rows y by w, rounded, adds their sums to sums, and returns the bits of all magnitudes.", weighRows)
}

// subtract sets rows of scratch to c - mu for the columns of a turn. Over one limb they get the offset.
func (f form) subtract(ls []Step, d, c, ldc, mu, scratch Register) {
	Times(d, func() {
		m := f.Broadcast(Mem{Base: mu})
		if f.narrow {
			VPSUBQ(Bits(1<<51), m, m)
		}
		for u, v := range loadAll(ls, c) {
			VPSUBQ(m, v, v)
			f.Mov(v, Mem{Base: scratch, Disp: line * u})
		}
		ADDQ(Imm(8), mu)
		ADDQ(ldc, c)
		ADDQ(U32(turn), scratch)
	})
}

const turn = 2 * line // bytes of a row of scratch

// addProducts adds the products of x, which it may change, with vectors in memory.
func (f form) addProducts(acc [][]VecVirtual, x VecVirtual, y Register, sign, low VecVirtual) {
	if f.narrow {
		VPADDQ(sign, x, x)
		for u, t := range acc {
			at := Mem{Base: y, Disp: line * u}
			VPMADD52LUQ(at, x, t[0])
			VPMADD52HUQ(at, x, t[1])
		}
		return
	}
	x1 := f.Reg()
	VPXORQ(sign, x, x1)
	VPSRLQ(Imm(52), x1, x1)
	for u, t := range acc {
		v, y0, y1 := f.CopyOf(Mem{Base: y, Disp: line * u}), f.Reg(), f.Reg()
		VPXORQ(sign, v, y1)
		VPSRLQ(Imm(40), y1, y1)
		VPANDQ(low, v, y0)
		addLimbs(t, x, x1, y0, y1)
	}
}

// triNorms keeps c - mu in scratch, for the columns of a turn.
//
// With |y| = y₁·2⁵² + y₀, y² = y₀² + 2⁵²·y₁·(y₀ + |y|), and y₁·(y₀ + |y|) counts mod 2⁶⁴.
func triNorms(f form) {
	n, or := Arg("n"), f.Zeros(1)[0]
	bits := Bits(1 << 63)
	if f.narrow {
		bits = Bits(1 << 51)
	}
	sign, low := f.CopyOf(bits), f.CopyOf(Bits(1<<40-1))
	f.Groups(n, 2, func(ls []Step) {
		f.subtract(ls, Arg("d"), Arg("c"), f.Stride("ldc"), Arg("mu"), Arg("scratch"))
		// Of each vector: the sum of c - mu, and the low and high sums of squares.
		sums, squares, high := vectors(f.Zeros(len(ls))), vectors(f.Zeros(len(ls))), vectors(f.Zeros(len(ls)))
		rows, length, l, y, ldl, ldy := Arg("d"), GP64(), Arg("l"), Arg("y"), f.Stride("d"), f.Stride("ldy")
		MOVQ(U32(1), length)
		Times(rows, func() {
			acc := make([][]VecVirtual, len(ls))
			for u := range acc {
				acc[u] = f.Zeros(len(f.weight))
			}
			factors, left, at, c := f.Zeros(1)[0], GP64(), GP64(), Arg("scratch")
			MOVQ(length, left)
			MOVQ(l, at)
			Times(left, func() {
				x := f.Broadcast(Mem{Base: at})
				VPADDQ(x, factors, factors)
				f.addProducts(acc, x, c, sign, low)
				ADDQ(Imm(8), at)
				ADDQ(U32(turn), c)
			})
			for u, step := range ls {
				tmp, lack := f.Reg(), f.Reg()
				VPADDQ(Mem{Base: c, Disp: line*u - turn}, sums[u], sums[u])
				VPADDQ(sums[u], factors, lack)
				hi, lo := f.join(acc[u])
				VPSLLQ(Imm(uint64(f.offset()-fraction)), lack, lack)
				VPSUBQ(lack, hi, hi)
				f.round(hi, lo, tmp)
				step.Store(hi, y)
				VPABSQ(hi, hi)
				if step.Mask != nil {
					VPORQ(hi, or, step.Mask.K, or)
				} else {
					VPORQ(hi, or, or)
				}
				VPMADD52LUQ(hi, hi, squares[u])
				VPMADD52HUQ(hi, hi, high[u])
				VPSRLQ(Imm(52), hi, tmp)
				VPANDQ(Bits(1<<52-1), hi, lo)
				VPADDQ(lo, hi, hi)
				VPMULLQ(tmp, hi, hi)
				VPADDQ(hi, high[u], high[u])
			}
			ADDQ(ldl, l)
			ADDQ(ldy, y)
			INCQ(length)
		})
		half := Arg("half")
		for u, step := range ls {
			hi, lo, tmp := f.Reg(), f.Reg(), f.Reg()
			VPBROADCASTQ(Arg("hi"), hi)
			VPBROADCASTQ(Arg("lo"), lo)
			VPSLLQ(Imm(52-fraction), high[u], high[u])
			VPADDQ(high[u], hi, hi)
			VPSRLQ(Imm(fraction), squares[u], tmp)
			VPADDQ(tmp, hi, hi)
			f.and(Bits(1<<fraction-1), squares[u])
			VPADDQ(squares[u], lo, lo)
			f.round(hi, lo, tmp)
			VPSUBQ(hi, f.zero(), hi)
			VPSRAQ(Imm(1), hi, tmp)
			VPANDQ(tmp, hi, hi)
			f.and(Bits(1), hi)
			VPADDQ(tmp, hi, hi)
			step.Store(hi, half)
		}
	}, nil)
	f.Reduce(or, func(b, a, dst Op) { VORPD(b, a, dst) })
	VMOVSD(or.AsX(), Result())
}

func (f form) zero() VecVirtual { return f.Zeros(1)[0] }

// weighRows multiplies rows by the same weights.
func weighRows() {
	g := ifma
	n, rows, y, ldy, sums, or := Arg("n"), Arg("d"), Arg("y"), g.Stride("ldy"), Arg("sums"), g.Zeros(1)[0]
	r := newRounding()
	Times(rows, func() {
		w, sum := Arg("w"), g.Zeros(1)[0]
		g.Loop(n, 2, func(l Step, _ int) {
			z := r.product(newLeftFactor(l.Load(w)), l.Load(y))
			l.Store(z, y)
			VPADDQ(z, sum, sum)
			VPABSQ(z, z)
			VPORQ(z, or, or)
		}, nil)
		g.Reduce(sum, func(b, a, dst Op) { VPADDQ(b, a, dst) })
		total := GP64()
		VMOVQ(sum.AsX(), total)
		ADDQ(total, Mem{Base: sums})
		ADDQ(Imm(8), sums)
		ADDQ(ldy, y)
	})
	g.Reduce(or, func(b, a, dst Op) { VORPD(b, a, dst) })
	VMOVSD(or.AsX(), Result())
}

// quad is how many sums lie side by side: their high words, and then their low words.
const quad = 4

// triDots multiplies a row of z with four rows of c - mu, which are in scratch. A row of scratch ends with its sum.
func triDots(f form) {
	bits := Bits(1 << 63)
	if f.narrow {
		bits = Bits(1 << 51)
	}
	sign, low := f.CopyOf(bits), f.CopyOf(Bits(1<<40-1))
	high, lowHalf, half := K(), K(), GP64() // of the lanes
	MOVQ(U32(1<<quad-1), half)
	KMOVB(half.As32(), high)
	KNOTB(high, lowHalf)
	first, stride := Arg("first"), GP64()
	MOVQ(Arg("n"), stride)
	ADDQ(Imm(7), stride)
	ANDQ(I32(-8), stride)
	SHLQ(Imm(3), stride)
	ADDQ(Imm(line), stride)
	TESTQ(first, first)
	JNZ(LabelRef("subtracted"))
	rows, c, ldc, mu, scratch := Arg("d"), Arg("c"), f.Stride("ldc"), Arg("mu"), Arg("scratch")
	Times(rows, func() {
		m, sum := f.Broadcast(Mem{Base: mu}), f.Zeros(1)[0]
		if f.narrow {
			VPSUBQ(sign, m, m)
		}
		to := GP64()
		MOVQ(scratch, to)
		f.Loop(Arg("n"), 2, func(l Step, _ int) {
			v := l.Load(c)
			if l.Mask != nil { // mu may be large
				VPSUBQ_Z(m, v, l.Mask.K, v)
			} else {
				VPSUBQ(m, v, v)
			}
			VPADDQ(v, sum, sum)
			f.Mov(v, l.At(to))
		}, nil)
		ADDQ(stride, scratch)
		f.Mov(sum, Mem{Base: scratch, Disp: -line})
		ADDQ(ldc, c)
		ADDQ(Imm(8), mu)
	})
	Label("subtracted")

	left, z, sums := Arg("rows"), Arg("z"), Arg("sums")
	Times(left, func() {
		quads, at := GP64(), []GPVirtual{Arg("scratch"), GP64(), GP64(), GP64()} // row i has 1 + i/4
		MOVQ(first, quads)
		SHRQ(Imm(2), quads)
		INCQ(quads)
		Times(quads, func() {
			acc, total := make([][]VecVirtual, quad), f.Zeros(1)[0]
			for q := range acc {
				acc[q] = f.Zeros(len(f.weight))
			}
			for q := range quad - 1 {
				LEAQ(Mem{Base: at[q], Index: stride, Scale: 1}, at[q+1])
			}
			f.Loop(Arg("n"), 1, func(l Step, _ int) {
				x := l.Load(z)
				VPADDQ(x, total, total)
				x1 := f.Reg()
				if f.narrow {
					VPADDQ(sign, x, x)
				} else {
					VPXORQ(sign, x, x1)
					VPSRLQ(Imm(52), x1, x1)
				}
				for q, t := range acc {
					m := l.At(at[q])
					if f.narrow {
						VPMADD52LUQ(m, x, t[0])
						VPMADD52HUQ(m, x, t[1])
						continue
					}
					y, y0, y1 := f.CopyOf(m), f.Reg(), f.Reg()
					VPXORQ(sign, y, y1)
					VPSRLQ(Imm(40), y1, y1)
					VPANDQ(low, y, y0)
					addLimbs(t, x, x1, y0, y1)
				}
			}, nil)
			var words vectors // the high words, and the low ones
			for q, t := range acc {
				lack := f.CopyOf(total)
				VPADDQ(Mem{Base: at[q], Index: stride, Scale: 1, Disp: -line}, lack, lack)
				VPSLLQ(Imm(uint64(f.offset()-fraction)), lack, lack)
				hi, lo := f.join(t)
				VPSUBQ(lack, hi, hi)
				words = append(words, hi, lo)
			}
			all := sumLanes(vectors{words[0], words[2], words[4], words[6], words[1], words[3], words[5], words[7]})
			VPADDQ(Mem{Base: sums}, all, all)
			carry := f.Reg()
			VPSRLQ(Imm(fraction), all, carry)
			VSHUFI64X2(Imm(0x4e), carry, carry, carry) // the low words' carry beside the high words
			VPADDQ(carry, all, high, all)
			VPANDQ(Bits(1<<fraction-1), all, lowHalf, all)
			f.Mov(all, Mem{Base: sums})
			ADDQ(Imm(line), sums)
			LEAQ(Mem{Base: at[quad-1], Index: stride, Scale: 1}, at[0])
		})
		INCQ(first)
		ADDQ(f.Stride("ldz"), z)
	})
}

// sumLanes returns a vector whose lane q is the sum of the lanes of x[q]. It destroys x.
func sumLanes(x vectors) VecVirtual {
	pairs := func(x vectors, low, high func(b, a, dst Op)) (sums vectors) {
		for q := 0; q < len(x); q += 2 {
			t := ifma.Reg()
			low(x[q+1], x[q], t)
			high(x[q+1], x[q], x[q])
			VPADDQ(x[q], t, t)
			sums = append(sums, t)
		}
		return sums
	}
	blocks := func(choice uint64) func(b, a, dst Op) {
		return func(b, a, dst Op) { VSHUFI64X2(Imm(choice), b, a, dst) }
	}
	x = pairs(x, func(b, a, dst Op) { VPUNPCKLQDQ(b, a, dst) }, func(b, a, dst Op) { VPUNPCKHQDQ(b, a, dst) })
	x = pairs(x, blocks(0x88), blocks(0xdd))
	return pairs(x, blocks(0x88), blocks(0xdd))[0]
}
