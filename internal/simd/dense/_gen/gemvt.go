package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	. "revnum/internal/simd/_gen/asm"
)

// gemvt: Gemvt for groups of four rows, and n columns, a multiple of the lanes of a vector.
//
// The products of a group with u are made in the same loop as what the group before it adds
// to y. The group before is in the first-level cache or the second-level one, and the memory
// has all of that time for the next one.
func gemvt(g ISA) {
	const rows = 4
	groups, n := Arg("groups"), Arg("n")
	a := Arg("a")
	w := NewWalk(g.Stride("lda"), rows)
	u, x, z, y := Arg("u"), Arg("x"), Arg("z"), Arg("y")
	p, before, j := GP64(), GP64(), GP64()
	sums, of := g.Regs(rows), g.Regs(rows)
	columns := func(dots, adds bool) {
		loop := Unique("columns")
		MOVQ(a, p)
		XORQ(j, j)
		Label(loop)
		if dots {
			uj := g.Load(Mem{Base: u, Index: j, Scale: 8}, nil)
			for r := range rows {
				g.Fmadd231(w.Row(p, r), uj, sums[r])
			}
			ADDQ(U32(g.Width()), p)
		}
		if adds {
			at := Mem{Base: y, Index: j, Scale: 8}
			yj := g.Load(at, nil)
			for r := range rows {
				g.Fmadd231(w.Row(before, r), of[r], yj)
			}
			g.Store(yj, at, nil)
			ADDQ(U32(g.Width()), before)
		}
		ADDQ(U32(g.Lanes()), j)
		CMPQ(j, n)
		JNE(LabelRef(loop))
	}
	scalars := func() {
		total := g.SumFour(g.Neighbours(sums[0], sums[1]), g.Neighbours(sums[2], sums[3]))
		VADDPD(Mem{Base: x}, total, total)
		VMOVUPD(total, Mem{Base: x})
		rest := YMM()
		VMOVUPD(Mem{Base: z}, rest)
		VSUBPD(total, rest, rest)
		VMOVUPD(rest, Mem{Base: z})
		for r := range rows {
			g.BroadcastTo(Mem{Base: z, Disp: r * g.Size}, of[r])
			g.Clear(sums[r])
		}
		ADDQ(U8(rows*g.Size), x)
		ADDQ(U8(rows*g.Size), z)
		MOVQ(a, before)
		w.Advance(a, rows)
		DECQ(groups)
	}
	for r := range rows {
		g.Clear(sums[r])
	}
	columns(true, false)
	scalars()
	loop, last := Unique("groups"), Unique("last")
	JZ(LabelRef(last))
	Label(loop)
	columns(true, true)
	scalars()
	JNZ(LabelRef(loop))
	Label(last)
	columns(false, true)
}
