// Command paths generates the assembly of package paths.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// width is the bytes of a row of a panel.
const width = 128

func main() {
	Prefix = "paths"
	Files("paths", func() {
		for _, g := range Tiers {
			for _, least := range []bool{false, true} {
				name := map[bool]string{false: "max", true: "min"}[least]
				g.Text(name+"Best", "func(best, a *T, lda, rows int, b *T, k int)", "is Best for the "+name+"imum.")
				tile{ISA: g, least: least}.emit()
				g.Text(name+"Winners", "func(best, label, a *T, lda, rows int, b *T, k int)", "is Best with labels, for the "+name+"imum.")
				tile{ISA: g, least: least, winners: true}.emit()
			}
		}
		table.Emit()
	})
}

var table = Table{Name: "pathsConstants"}

// A tile has the best values of some rows of a panel in registers, and the labels of the
// winners.
type tile struct {
	ISA
	least, winners bool

	best, label, a, b reg.GPVirtual
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
	VZEROUPPER()
	RET()
}

// some looks at all sums of some rows.
func (t tile) some(rows int) {
	n := width / t.Width() // vectors in a row
	best, label := t.Regs(rows*n), []reg.VecVirtual(nil)
	for i, r := range best {
		t.Mov(Mem{Base: t.best, Disp: i * t.Width()}, r)
	}
	at, one := t.Reg(), t.Reg()
	if t.winners {
		label = t.Regs(rows * n)
		for i, r := range label {
			t.Mov(Mem{Base: t.label, Disp: i * t.Width()}, r)
		}
		t.Mov(table.Float(t.ISA, 0), at)
		t.Mov(table.Float(t.ISA, 1), one)
	}
	pa, pb, l := GP64(), GP64(), Arg("k")
	MOVQ(t.a, pa)
	MOVQ(t.b, pb)
	loop := Unique("loop")
	Label(loop)
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
			if t.winners {
				t.keep(sum, at, best[i*n+v], label[i*n+v])
			} else if t.least {
				Pick(t, VMINPD, VMINPS)(best[i*n+v], sum, best[i*n+v])
			} else {
				Pick(t, VMAXPD, VMAXPS)(best[i*n+v], sum, best[i*n+v])
			}
		}
	}
	if t.winners {
		t.Add(one, at, at)
	}
	ADDQ(Imm(uint64(t.Size)), pa)
	ADDQ(I32(width), pb)
	DECQ(l)
	JNZ(LabelRef(loop))

	for i, r := range best {
		t.Mov(r, Mem{Base: t.best, Disp: i * t.Width()})
	}
	ADDQ(I32(rows*width), t.best)
	if t.winners {
		for i, r := range label {
			t.Mov(r, Mem{Base: t.label, Disp: i * t.Width()})
		}
		ADDQ(I32(rows*width), t.label)
	}
	for bit := 1; bit <= rows; bit *= 2 {
		if rows&bit != 0 {
			t.walk.Advance(t.a, bit)
		}
	}
}

// keep takes sum and at where sum is better than best.
func (t tile) keep(sum, at, best, label reg.VecVirtual) {
	const lessOrderedQuiet, greaterOrderedQuiet = 17, 30
	better := Imm(greaterOrderedQuiet)
	if t.least {
		better = Imm(lessOrderedQuiet)
	}
	if t.Wide {
		k := K()
		Pick(t, VCMPPD, VCMPPS)(better, best, sum, k)
		Pick(t, VMOVAPD, VMOVAPS)(sum, k, best)
		Pick(t, VMOVAPD, VMOVAPS)(at, k, label)
		return
	}
	k := t.Reg()
	Pick(t, VCMPPD, VCMPPS)(better, best, sum, k)
	Pick(t, VBLENDVPD, VBLENDVPS)(k, sum, best, best)
	Pick(t, VBLENDVPD, VBLENDVPS)(k, at, label, label)
}
