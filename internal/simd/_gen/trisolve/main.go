// Command trisolve generates the assembly of the triangular solves of package
// dense: the tiles of a matrix product, which end in a solve within the registers.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Prefix = "triSolve"
	Files("trisolve", func() {
		for _, tier := range Tiers {
			g := isa{ISA: tier, rows: 4}
			if g.Wide {
				g.rows = 8
			}
			g.triSolve()
		}
	})
}

// maxCols is the width of the widest tile, in vectors.
const maxCols = 3

// isa is a tier with an element type.
type isa struct {
	ISA
	rows int // rows of the tallest tile
}

// subtract emits acc[i][v] -= t_i·x_v for the rows from the given one on, where
// t_i is broadcast from row i of w at pt.
func (g isa) subtract(acc [][]VecVirtual, w Walk, pt GPVirtual, x []VecVirtual, from int) {
	for i := from; i < len(acc); i++ {
		if g.Wide && len(x) == 1 {
			Pick(g, VFNMADD231PD_BCST, VFNMADD231PS_BCST)(w.Row(pt, i), x[0], acc[i][0])
			continue
		}
		t := g.Broadcast(w.Row(pt, i))
		for v := range x {
			g.Fnmadd231(t, x[v], acc[i][v])
		}
	}
}

// triSolve: X <- T⁻¹·X over one panel of at most maxCols vectors of columns.
//
// A tile of X, of the rows i, i+1, ..., stays in registers while the rows l < i,
// which are solved, are multiplied by T and subtracted. Then each row is divided
// by its diagonal element and subtracted from those below.
func (g isa) triSolve() {
	g.Text("triSolve", "func(i0, rows, n int, t *T, rst, cst int, r, x *T, ldx int)",
		"solves for the rows i0 <= i < i0+rows of X, of at most three vectors of columns, T·X = B, where those before are solved; t is row i0 of T, r the reciprocals of the diagonal from there, x row 0 of X. n, rows >= 1.")
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
		cols := fmt.Sprintf("cols%d", nv)
		Label(cols)
		SUBQ(U32((nv-1)*g.Lanes()), n)
		k := g.NewMask(n)
		for rows := g.rows; rows >= 1; rows-- {
			if rows > 4 && rows < g.rows {
				continue
			}
			here := fmt.Sprintf("%srows%d", cols, rows)
			Label(here)
			CMPQ(left, U32(rows))
			JL(LabelRef(here + "end"))
			g.tile(here, rows, nv, k, w, i, t, r, at, cst, ldx)
			for range rows { // rst may be negative, and so are its multiples
				ADDQ(rst, t)
			}
			ADDQ(U32(rows), i)
			SUBQ(U32(rows), left)
			JMP(LabelRef(here))
			Label(here + "end")
		}
		VZEROUPPER()
		RET()
	}
}

// tile solves for some rows, and leaves at and r behind them.
func (g isa) tile(label string, rows, nv int, k *Mask, w Walk, i, t, r, at, cst, ldx GPVirtual) {
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
	Label(label + "loop")
	g.subtract(acc, w, pt, g.LoadRow(px, nv, k), 0)
	ADDQ(cst, pt)
	ADDQ(ldx, px)
	DECQ(l)
	JNE(LabelRef(label + "loop"))
	Label(label + "diagonal")
	for q, x := range acc {
		d := g.Broadcast(Mem{Base: r, Disp: q * g.Size})
		for v := range x {
			g.Mul(d, x[v], x[v])
			g.Store(x[v], Mem{Base: at, Disp: v * g.Width()}, k.LastOf(v, nv))
		}
		ADDQ(ldx, at)
		if q < rows-1 {
			g.subtract(acc, w, pt, x, q+1)
			ADDQ(cst, pt)
		}
	}
	ADDQ(U32(rows*g.Size), r)
}
