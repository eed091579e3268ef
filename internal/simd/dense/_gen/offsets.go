package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// rowAt returns the address of the row of b that begins at the element whose number is at p.
func (g isa) rowAt(b, p Register) GPVirtual {
	row := GP64()
	MOVQ(Mem{Base: p}, row)
	LEAQ(Mem{Base: b, Index: row, Scale: uint8(g.Size)}, row)
	return row
}

// gemmOffsets is gemmNN where a list says where the rows of B begin.
func (g isa) gemmOffsets() {
	b := Arg("b")
	g.outer(func() GPVirtual { return Arg("offsets") }, func(p GPVirtual) { ADDQ(U32(8), p) }, func(p GPVirtual) Register { return g.rowAt(b, p) })
}

// gemmOffsetsRows: rows of C of any length, each by the same row of A and by rows of B that begin ldb
// elements later. Up to eight vectors at a time have sums of their own, so that an addition need not wait for
// the one before it. The last ones of a row are one to four, of which the last is masked. On AVX2 and NEON, where
// masked stores are slow or missing, the last of several has some elements of the one before it instead.
func (g isa) gemmOffsetsRows() {
	m, b, c, csa := Arg("m"), Arg("b"), Arg("c"), g.Stride("csa")
	alpha := g.BroadcastArg("alpha")
	Times(m, func() {
		n, pb, pc := Arg("n"), GP64(), GP64()
		MOVQ(b, pb)
		MOVQ(c, pc)
		part := func(vectors int, k *Mask, end Register) { // k is that of the last one, which begins at end if that is not nil
			mask := func(v int) *Mask {
				if v == vectors-1 {
					return k
				}
				return nil
			}
			at := func(p Register, v int) Mem {
				if v == vectors-1 && end != nil {
					return Mem{Base: p, Index: end, Scale: 1}
				}
				return Mem{Base: p, Disp: v * g.Width()}
			}
			acc := g.Zeros(vectors)
			pa, rows, l := Arg("a"), Arg("offsets"), Arg("k")
			Times(l, func() {
				x, row := g.Broadcast(Mem{Base: pa}), g.rowAt(pb, rows)
				for v := range acc {
					if m := at(row, v); mask(v) == nil {
						g.Fmadd231(m, x, acc[v])
					} else {
						g.Fmadd231(g.Load(m, mask(v)), x, acc[v])
					}
				}
				ADDQ(csa, pa)
				ADDQ(U32(8), rows)
			})
			for v := range acc { // all of C is loaded before any of it is stored
				t := g.Load(at(pc, v), mask(v))
				g.Fmadd231(alpha, acc[v], t)
				acc[v] = t
			}
			for v, t := range acc {
				g.Store(t, at(pc, v), mask(v))
			}
		}
		last := func(vectors int) { // if there are more elements than one vector less has
			fewer := Unique("fewer")
			CMPQ(n, U32((vectors-1)*g.Lanes()))
			JLE(LabelRef(fewer))
			if vectors > 1 && !g.Wide {
				g.ToBytes(n)
				SUBQ(U32(g.Width()), n)
				part(vectors, nil, n)
			} else {
				if vectors > 1 {
					SUBQ(U32((vectors-1)*g.Lanes()), n)
				}
				part(vectors, g.HeldMask(n), nil)
			}
			JMP(LabelRef("next"))
			Label(fewer)
		}
		for vectors := 8; vectors >= 2; vectors /= 2 {
			if vectors == 2 {
				last(4)
				last(3)
			}
			here := fmt.Sprintf("vectors%d", vectors)
			Label(here)
			CMPQ(n, U32(vectors*g.Lanes()))
			JL(LabelRef(here + "end"))
			part(vectors, nil, nil)
			ADDQ(U32(vectors*g.Width()), pb)
			ADDQ(U32(vectors*g.Width()), pc)
			SUBQ(U32(vectors*g.Lanes()), n)
			JMP(LabelRef(here))
			Label(here + "end")
		}
		last(2)
		last(1)
		Label("next")
		g.addStride("ldb", b)
		g.addStride("ldc", c)
	})
}

// addStride adds the stride with the given name to p.
func (g isa) addStride(name string, p Register) {
	d := g.Stride(name)
	ADDQ(d, p)
}

// maxDots is the largest number of sums that rowDots has at a time.
const maxDots = 5

// rowDots: the sums of one matrix times others, which begin at several places of x. A vector
// of y serves all of them.
func (g isa) rowDots() {
	ldx, ldy := g.Stride("ldx"), g.Stride("ldy")
	m, left, offsets, out := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	MOVQ(Arg("k"), left)
	MOVQ(Arg("offsets"), offsets)
	MOVQ(Arg("out"), out)
	for dots := maxDots; dots >= 1; dots-- {
		here := fmt.Sprintf("dots%d", dots)
		Label(here)
		CMPQ(left, U32(dots))
		JL(LabelRef(here + "end"))
		acc, at, list := g.Zeros(dots), make([]GPVirtual, dots), GP64()
		MOVQ(offsets, list)
		for t := range at {
			at[t] = GP64()
			MOVQ(Mem{Base: list, Disp: 8 * t}, at[t])
			g.ToBytes(at[t])
		}
		x, y, row := Arg("x"), Arg("y"), Unique("row")
		MOVQ(Arg("m"), m)
		Label(row)
		px, py, n := GP64(), GP64(), Arg("n")
		MOVQ(x, px)
		MOVQ(y, py)
		step := func(k *Mask) {
			v := g.Load(Mem{Base: py}, k)
			for t := range acc {
				if m := (Mem{Base: px, Index: at[t], Scale: 1}); k == nil {
					g.Fmadd231(m, v, acc[t])
				} else {
					g.Fmadd231(g.Load(m, k), v, acc[t])
				}
			}
		}
		whole, tail, next := Unique("whole"), Unique("tail"), Unique("next")
		Label(whole)
		SUBQ(U32(g.Lanes()), n)
		JL(LabelRef(tail))
		step(nil)
		ADDQ(U32(g.Width()), px)
		ADDQ(U32(g.Width()), py)
		JMP(LabelRef(whole))
		Label(tail)
		ADDQ(U32(g.Lanes()), n)
		JZ(LabelRef(next))
		step(g.NewMask(n))
		Label(next)
		ADDQ(ldx, x)
		ADDQ(ldy, y)
		DECQ(m)
		JNZ(LabelRef(row))
		to := GP64()
		MOVQ(out, to)
		for t := 0; t < dots; t += 4 {
			g.addSums(acc[t:min(t+4, dots)], Mem{Base: to, Disp: t * g.Size}, nil)
		}
		ADDQ(U32(8*dots), offsets)
		ADDQ(U32(g.Size*dots), out)
		SUBQ(U32(dots), left)
		JMP(LabelRef(here))
		Label(here + "end")
	}
}

// addRows: y += alpha·x, row by row.
func (g isa) addRows() {
	m, n, x, y := Arg("m"), Arg("n"), Arg("x"), Arg("y")
	ldx, ldy := g.Stride("ldx"), g.Stride("ldy")
	alpha := g.BroadcastArg("alpha")
	Times(m, func() {
		g.Loop(n, 2, func(l Step, _ int) {
			s := l.Load(y)
			g.Fmadd231(alpha, l.Load(x), s)
			l.Store(s, y)
		}, nil)
		ADDQ(ldx, x)
		ADDQ(ldy, y)
	})
}

// copyRows: rows of x, or every second element of them. The latter takes eight float32 or four
// float64 from two vectors, of which shuffles within their halves bring every second element
// together, and the last ones one by one.
func (g isa) copyRows() {
	m, dst, x := Arg("m"), Arg("dst"), Arg("x")
	ldd, ldx := g.Stride("ldd"), g.Stride("ldx")
	CMPQ(ArgAddr("step"), U32(2))
	JE(LabelRef("second"))
	n := Arg("n")
	copyRow := func(l Step, _ int) { l.Store(l.Load(x), dst) }
	if !g.Wide { // AVX2 and NEON: masked stores are slow or missing, so the last vector has some elements of the one before it
		end := GP64()
		LEAQ(Mem{Base: n, Disp: -g.Lanes()}, end)
		TESTQ(end, end)
		JL(LabelRef("short"))
		Times(m, func() {
			i, whole, last := GP64(), Unique("whole"), Unique("last")
			XORQ(i, i)
			Label(whole)
			CMPQ(i, end)
			JGE(LabelRef(last))
			copyRow(Step{ISA: g.ISA, I: i}, 0)
			ADDQ(U32(g.Lanes()), i)
			JMP(LabelRef(whole))
			Label(last)
			copyRow(Step{ISA: g.ISA, I: end}, 0)
			ADDQ(ldx, x)
			ADDQ(ldd, dst)
		})
		JMP(LabelRef("done"))
		Label("short")
	}
	Times(m, func() {
		g.Loop(n, 2, copyRow, nil)
		ADDQ(ldx, x)
		ADDQ(ldd, dst)
	})
	JMP(LabelRef("done"))
	Label("second")
	lanes := 32 / g.Size
	Label("row")
	from, to, left := GP64(), GP64(), Arg("n")
	MOVQ(x, from)
	MOVQ(dst, to)
	Label("vector")
	CMPQ(left, U32(lanes+1)) // a vector reads an element after its last
	JL(LabelRef("one"))
	a, b := YMM(), YMM()
	VMOVUPS(Mem{Base: from}, a)
	VMOVUPS(Mem{Base: from, Disp: 32}, b)
	if g.Double() {
		VUNPCKLPD(b, a, a)
	} else {
		VSHUFPS(Imm(0x88), b, a, a)
	}
	VPERMPD(Imm(0xd8), a, a)
	VMOVUPS(a, Mem{Base: to})
	ADDQ(U32(64), from)
	ADDQ(U32(32), to)
	SUBQ(U32(lanes), left)
	JMP(LabelRef("vector"))
	Label("one")
	TESTQ(left, left)
	JZ(LabelRef("next"))
	e := XMM()
	g.MovOne(Mem{Base: from}, e)
	g.MovOne(e, Mem{Base: to})
	ADDQ(U32(2*g.Size), from)
	ADDQ(U32(g.Size), to)
	DECQ(left)
	JMP(LabelRef("one"))
	Label("next")
	ADDQ(ldx, x)
	ADDQ(ldd, dst)
	DECQ(m)
	JNZ(LabelRef("row"))
	Label("done")
}
