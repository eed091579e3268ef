// Command _gen writes the assembly of package paths.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/asm"
)

// width is the bytes of a row of a panel.
const width = 128

func main() {
	Files(func() {
		for _, least := range []bool{false, true} {
			name := map[bool]string{false: "max", true: "min"}[least]
			Floats(name+"Best", "func(best, a *T, lda, rows int, b *T, k int)", "is Best for the "+name+"imum.", func(g ISA) { tile{ISA: g, least: least}.emit() })
			Floats(name+"Winners", "func(best, label, a *T, lda, rows int, b *T, k int)", "is Best with labels, for the "+name+"imum.", func(g ISA) { tile{ISA: g, least: least, winners: true}.emit() })
		}
	})
}

// A tile has the best values of some rows of a panel in registers, and the labels of the
// winners.
type tile struct {
	ISA
	least, winners bool

	best, label, a, b GPVirtual
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
	t.best, t.a, t.b = Arg("best"), Arg("a"), Arg("b")
	if t.winners {
		t.label = Arg("label")
	}
	t.walk = NewWalk(t.Stride("lda"), t.rows())
	left := Arg("rows")
	for _, rows := range []int{t.rows(), 1} {
		Label(fmt.Sprint("rows", rows))
		CMPQ(left, Imm(uint64(rows)))
		JL(LabelRef(fmt.Sprint("below", rows)))
		t.some(rows)
		SUBQ(Imm(uint64(rows)), left)
		JMP(LabelRef(fmt.Sprint("rows", rows)))
		Label(fmt.Sprint("below", rows))
		if rows == 1 {
			break
		}
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
	load(t.best, best)
	at, one := t.Reg(), t.Reg()
	if t.winners {
		label = t.Regs(rows * n)
		load(t.label, label)
		t.Mov(t.Const(0), at)
		t.Mov(t.Const(1), one)
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
		ADDQ(I32(width), pb)
	})
	store(best, t.best)
	if t.winners {
		store(label, t.label)
	}
	t.walk.Skip(t.a, rows)
}
