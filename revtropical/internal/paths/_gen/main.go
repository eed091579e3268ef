// Command _gen writes the assembly of package paths.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// width is the bytes of a row of a panel.
const width = 128

func main() {
	Files(func() {
		for _, least := range []bool{false, true} {
			name := map[bool]string{false: "max", true: "min"}[least]
			Floats(name+"Plus", "func(c *T, ldc int, sign T, a *T, lda, rows int, b *T, ldb, k int)", "is AddBest for the "+name+"imum.", func(g ISA) { tile{ISA: g, least: least}.emit() })
			Floats(name+"Winners", "func(best, label, a *T, lda, rows int, b *T, ldb, k int)", "is Best for the "+name+"imum.", func(g ISA) { tile{ISA: g, least: least, winners: true}.emit() })
		}
	})
}

// A tile has the best values of some rows of a panel in registers, and the labels of the
// winners.
type tile struct {
	ISA
	least, winners bool

	best, label, a, b GPVirtual // best is c without winners
	ldb, ldc          GPVirtual
	sign              VecVirtual
	walk              Walk
}

// rows returns the number of rows that registers suffice for.
func (t tile) rows() int {
	switch {
	case t.Wide && t.winners:
		return 4
	case t.Wide:
		return 8
	case t.winners:
		return 1
	}
	return 2
}

func (t tile) emit() {
	t.a, t.b, t.ldb = Arg("a"), Arg("b"), t.Stride("ldb")
	if t.winners {
		t.best, t.label = Arg("best"), Arg("label")
	} else {
		t.best, t.ldc, t.sign = Arg("c"), t.Stride("ldc"), t.BroadcastArg("sign")
	}
	t.walk = NewWalk(t.Stride("lda"), t.rows())
	left := Arg("rows")
	for rows := t.rows(); rows > 0; rows /= 2 {
		Label(fmt.Sprint("rows", rows))
		CMPQ(left, Imm(uint64(rows)))
		JL(LabelRef(fmt.Sprint("below", rows)))
		t.some(rows)
		SUBQ(Imm(uint64(rows)), left)
		JMP(LabelRef(fmt.Sprint("rows", rows)))
		Label(fmt.Sprint("below", rows))
	}
}

// some looks at all sums of some rows.
func (t tile) some(rows int) {
	n := width / t.Width() // vectors in a row
	best, label := t.Regs(rows*n), []VecVirtual(nil)
	load := func(p Register, r []VecVirtual) {
		for i, r := range r {
			t.Mov(Mem{Base: p, Disp: i * t.Width()}, r)
		}
	}
	store := func(r []VecVirtual, p Register) {
		for i, r := range r {
			t.Mov(r, Mem{Base: p, Disp: i * t.Width()})
		}
		ADDQ(I32(rows*width), p)
	}
	at, one := t.Reg(), t.Reg()
	if t.winners {
		label = t.Regs(rows * n)
		load(t.best, best)
		load(t.label, label)
		t.Mov(t.Const(0), at)
		t.Mov(t.Const(1), one)
	} else {
		none := -1
		if t.least {
			none = 1
		}
		for i, r := range best {
			if i == 0 {
				t.Mov(t.Const(math.Inf(none)), r)
			} else {
				t.Mov(best[0], r)
			}
		}
	}
	better, bound := uint64(GT), Pick(t, VMAXPD, VMAXPS)
	if t.least {
		better, bound = LT, Pick(t, VMINPD, VMINPS)
	}
	pa, pb, l := GP64(), GP64(), Arg("k")
	MOVQ(t.a, pa)
	MOVQ(t.b, pb)
	Times(l, func() {
		column := make([]Op, n)
		for v := range column {
			column[v] = Mem{Base: pb, Disp: v * t.Width()}
			if t.Wide {
				column[v] = t.Load(column[v].(Mem), nil)
			}
		}
		a, sum := t.Reg(), t.Reg()
		for i := range rows {
			t.BroadcastTo(t.walk.Row(pa, i), a)
			for v := range n {
				t.Add(column[v], a, sum)
				best := best[i*n+v]
				if t.winners {
					t.Choose(better, best, sum, sum, best, at, label[i*n+v])
				} else {
					bound(best, sum, best)
				}
			}
		}
		if t.winners {
			t.Add(one, at, at)
		}
		ADDQ(Imm(uint64(t.Size)), pa)
		ADDQ(t.ldb, pb)
	})
	if t.winners {
		store(best, t.best)
		store(label, t.label)
	} else {
		for i := range rows {
			for v := range n {
				c, sum := Mem{Base: t.best, Disp: v * t.Width()}, t.Reg()
				t.Mov(c, sum)
				t.Fmadd231(t.sign, best[i*n+v], sum)
				t.Mov(sum, c)
			}
			ADDQ(t.ldc, t.best)
		}
	}
	t.walk.Skip(t.a, rows)
}
