package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// triSolve: X <- T⁻¹·X over one panel of at most maxCols vectors of columns.
//
// A tile of X, of the rows i, i+1, ..., stays in registers while the rows l < i,
// which are solved, are multiplied by T and subtracted. Then each row is divided
// by its diagonal element and subtracted from those below.
func (g isa) triSolve() {
	n := Arg("n")
	i, left := Arg("i0"), Arg("rows")
	t, r := Arg("t"), Arg("r")
	rst, cst, ldx := g.Stride("rst"), g.Stride("cst"), g.Stride("ldx")
	w := NewWalk(rst, g.rows)
	at := GP64() // row i of X
	MOVQ(i, at)
	IMULQ(ldx, at)
	first := Arg("x")
	ADDQ(first, at)
	CMPQ(n, U32(2*g.Lanes()))
	JG(LabelRef("cols3"))
	CMPQ(n, U32(g.Lanes()))
	JG(LabelRef("cols2"))
	for nv := 1; nv <= maxCols; nv++ {
		label := cols{nv: nv}.label()
		Label(label)
		SUBQ(U32((nv-1)*g.Lanes()), n)
		k := g.NewMask(n)
		g.overRows(label, left, "done", func(rows int, label string) {
			g.solveTile(label, rows, nv, k, w, i, t, r, at, cst, ldx)
			for range rows { // rst may be negative, and so are its multiples
				ADDQ(rst, t)
			}
			ADDQ(U32(rows), i)
		})
	}
	Label("done")
}

// solveTile solves for some rows, and moves at and r on to the next ones.
func (g isa) solveTile(label string, rows, nv int, k *Mask, w Walk, i, t, r, at, cst, ldx GPVirtual) {
	acc := make([][]VecVirtual, rows)
	pt, px, l := GP64(), GP64(), GP64()
	MOVQ(at, px)
	for q := range acc {
		acc[q] = g.LoadRow(px, nv, k)
		if q < rows-1 {
			ADDQ(ldx, px)
		}
	}
	Load(Param("x"), px)
	MOVQ(t, pt)
	MOVQ(i, l)
	TESTQ(l, l)
	JZ(LabelRef(label + "diagonal"))
	Times(l, func() {
		g.addOuter(acc, w, pt, g.LoadRow(px, nv, k), 0, true)
		ADDQ(cst, pt)
		ADDQ(ldx, px)
	})
	Label(label + "diagonal")
	for q, x := range acc {
		d := g.Broadcast(Mem{Base: r, Disp: q * g.Size})
		for v := range x {
			g.Mul(d, x[v], x[v])
			g.Store(x[v], Mem{Base: at, Disp: v * g.Width()}, k.LastOf(v, nv))
		}
		ADDQ(ldx, at)
		if q < rows-1 {
			g.addOuter(acc, w, pt, x, q+1, true)
			ADDQ(cst, pt)
		}
	}
	ADDQ(U32(rows*g.Size), r)
}
