package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// symv: the rows from i on of Symv, in blocks of as many rows as a vector has lanes. a
// is row i of A.
//
// A block of A to the left of the diagonal is read once, for its rows and for its mirror
// image: the sums of the rows stay in registers, and y is loaded and stored.
func symv(g ISA) {
	rows := g.Lanes()
	i, blocks := Arg("i"), Arg("blocks")
	a, x, y := Arg("a"), Arg("x"), Arg("y")
	w := NewWalk(g.Stride("lda"), rows)
	left, p, j := GP64(), GP64(), GP64()
	sums, of := g.Regs(rows), g.Regs(rows)
	Times(blocks, func() {
		for r := range rows {
			g.Clear(sums[r])
			g.BroadcastTo(Mem{Base: x, Index: i, Scale: 8, Disp: r * g.Size}, of[r])
		}
		MOVQ(a, p)
		XORQ(j, j)
		diagonal := Unique("diagonal")
		MOVQ(i, left)
		TESTQ(left, left)
		JZ(LabelRef(diagonal))
		step := func(mirror func(r int, v VecVirtual)) {
			xj := g.Load(Mem{Base: x, Index: j, Scale: 8}, nil)
			for r := range rows {
				v := g.Load(w.Row(p, r), nil)
				g.Fmadd231(xj, v, sums[r])
				mirror(r, v)
			}
		}
		loop := Unique("loop")
		Label(loop)
		at := Mem{Base: y, Index: j, Scale: 8}
		yj := g.Load(at, nil)
		step(func(r int, v VecVirtual) { g.Fmadd231(of[r], v, yj) })
		g.Store(yj, at, nil)
		ADDQ(U32(g.Width()), p)
		ADDQ(U32(rows), j)
		CMPQ(j, left)
		JNE(LabelRef(loop))
		Label(diagonal)
		step(func(int, VecVirtual) {})
		total := g.SumFour(g.Neighbours(sums[0], sums[1]), g.Neighbours(sums[2], sums[3]))
		if g.Wide {
			rest := g.SumFour(g.Neighbours(sums[4], sums[5]), g.Neighbours(sums[6], sums[7]))
			VINSERTF64X4(Imm(1), rest, total.AsZ(), sums[0])
			total = sums[0]
		}
		at = Mem{Base: y, Index: i, Scale: 8}
		g.Add(at, total, total)
		g.Store(total, at, nil)
		w.Advance(a, rows)
		ADDQ(U32(rows), i)
	})
}
