// Command _gen writes the assembly of package gravity.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/asm"
)

func main() {
	Files(func() {
		const sig = "func(target, acc, sources *T, count, lanes int, soft2 T)"
		Floats("attract", sig, "adds the accelerations of up to 16 targets by count sources.", attract)
		Floats("tides", sig, "adds the derivatives of the accelerations of up to 16 targets.", tides)
	})
}

// A block has that many targets: its rows are that many elements apart.
const blockLanes = 16

// A gravity loop takes vectors of targets, and for each of these all sources.
type gravity struct {
	ISA
	target, source GPVirtual
	vector         int // of the block
	soft           VecVirtual
}

// row returns row c of a block at p.
func (g gravity) row(p Register, c int) Mem {
	return Mem{Base: p, Disp: c*blockLanes*g.Size + g.vector*g.Width()}
}

// of returns number c of the source.
func (g gravity) of(c int) Mem { return Mem{Base: g.source, Disp: c * g.Size} }

// overSources runs body for each vector of targets and each source, which has the given
// number of fields, and adds sums to acc. Two vectors of AVX-512 go together, because a few
// sources are not enough to fill its units.
func overSources(isa ISA, fields, sums int, body func(g gravity, sums []VecVirtual)) {
	g := gravity{ISA: isa, target: Arg("target"), source: GP64(), soft: isa.BroadcastArg("soft2")}
	acc, lanes, n := Arg("acc"), Arg("lanes"), GP64()
	some := func(vectors int) {
		MOVQ(ArgAddr("sources"), g.source)
		MOVQ(ArgAddr("count"), n)
		s := make([][]VecVirtual, vectors)
		for v := range s {
			s[v] = g.Zeros(sums)
		}
		Times(n, func() {
			for g.vector = range vectors {
				body(g, s[g.vector])
			}
			ADDQ(Imm(uint64(fields*g.Size)), g.source)
		})
		for g.vector = range vectors {
			for c, r := range s[g.vector] {
				g.Add(g.row(acc, c), r, r)
				g.Mov(r, g.row(acc, c))
			}
		}
		g.vector = 0
	}
	block := Unique("block")
	if g.Wide && blockLanes == 2*g.Lanes() {
		CMPQ(lanes, Imm(uint64(g.Lanes())))
		JLE(LabelRef(block))
		some(2)
		done := Unique("done")
		JMP(LabelRef(done))
		defer Label(done)
	}
	Label(block)
	some(1)
	ADDQ(Imm(uint64(g.Width())), g.target)
	ADDQ(Imm(uint64(g.Width())), acc)
	SUBQ(Imm(uint64(g.Lanes())), lanes)
	JG(LabelRef(block))
}

// pair returns the difference d of source and target, 1/r and 1/r², which are 0 where r
// is.
func (g gravity) pair() (d []VecVirtual, inv, inv2 VecVirtual) {
	d = g.Regs(3)
	square := g.CopyOf(g.soft)
	for c := range d {
		g.BroadcastTo(g.of(c), d[c])
		g.Sub(g.row(g.target, c), d[c], d[c])
		g.Fmadd231(d[c], d[c], square)
	}
	inv = g.InverseRoot(square)
	inv2 = g.Reg()
	g.Mul(inv, inv, inv2)
	return d, inv, inv2
}

func attract(g ISA) {
	overSources(g, 4, 3, func(g gravity, sums []VecVirtual) {
		d, w, inv2 := g.pair()
		g.Mul(inv2, w, w)
		m := g.Broadcast(g.of(3))
		g.Mul(m, w, w)
		for c := range d {
			g.Fmadd231(w, d[c], sums[c])
		}
	})
}

// tides has s = α·a - m·b, with a and m of the source and α and b of the target. The
// products are rounded apart, so that s is 0 where source and target are one body.
func tides(g ISA) {
	overSources(g, 7, 4, func(g gravity, sums []VecVirtual) {
		d, w, inv2 := g.pair()
		g.Mul(inv2, w, w)
		dot, t := g.Reg(), g.Reg()
		for c := range d { // w·a·d
			g.BroadcastTo(g.of(4+c), t)
			if c == 0 {
				g.Mul(d[c], t, dot)
			} else {
				g.Fmadd231(d[c], t, dot)
			}
		}
		g.Fmadd231(w, dot, sums[3])
		s, m := g.Regs(3), g.Broadcast(g.of(3))
		for c := range d {
			g.BroadcastTo(g.of(4+c), s[c])
			g.Mul(g.row(g.target, 6), s[c], s[c])
			g.Mul(g.row(g.target, 3+c), m, t)
			g.Sub(t, s[c], s[c])
			if c == 0 {
				g.Mul(d[c], s[c], dot)
			} else {
				g.Fmadd231(d[c], s[c], dot)
			}
		}
		g.Mul(g.Const(-3), inv2, inv2)
		g.Mul(inv2, dot, dot)
		for c := range d {
			g.Fmadd231(dot, d[c], s[c])
			g.Fmadd231(w, s[c], sums[c])
		}
	})
}
