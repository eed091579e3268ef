// Command _gen writes the assembly of package gravity.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		const sig = "func(target, acc, sources *T, count, lanes int, soft2 T)"
		Floats("attract", sig, "adds the accelerations of up to 16 targets by count sources.", attract)
		Floats("kick", "func(state, block *T, count, lanes int, soft2, dt T)", "changes the velocities of up to 16 targets by the count bodies of all blocks.", kick)
		Floats("tides", sig, "adds the derivatives of the accelerations of up to 16 targets.", tides)
	})
}

// A block has that many targets: its rows are that many elements apart.
const blockLanes = 16

// A gravity loop takes vectors of targets, and for each of these all sources.
type gravity struct {
	ISA
	target, source GPVirtual
	apart          int // how far the numbers of a source are apart
	from           int // where the vector begins in a row of the block, in bytes
	soft           VecVirtual
}

// row returns row c of a block at p.
func (g gravity) row(p Register, c int) Mem {
	return Mem{Base: p, Disp: c*blockLanes*g.Size + g.from}
}

// of returns number c of the source.
func (g gravity) of(c int) Mem { return Mem{Base: g.source, Disp: c * g.apart * g.Size} }

// overSources runs body for each vector of targets and each source, which has the given
// number of fields, and adds sums to acc. Two vectors of AVX-512 go together, because a few
// sources are not enough to fill its units.
func overSources(isa ISA, fields, sums int, body func(g gravity, sums []VecVirtual)) {
	g := gravity{ISA: isa, target: Arg("target"), source: GP64(), apart: 1, soft: isa.BroadcastArg("soft2")}
	acc, lanes, n := Arg("acc"), Arg("lanes"), GP64()
	some := func(vectors int) {
		MOVQ(ArgAddr("sources"), g.source)
		MOVQ(ArgAddr("count"), n)
		s := make([][]VecVirtual, vectors)
		for v := range s {
			s[v] = g.Zeros(sums)
		}
		Times(n, func() {
			for v := range vectors {
				g.from = v * g.Width()
				body(g, s[v])
			}
			ADDQ(Imm(uint64(fields*g.Size)), g.source)
		})
		for v := range vectors {
			g.from = v * g.Width()
			for c, r := range s[v] {
				g.Add(g.row(acc, c), r, r)
				g.Mov(r, g.row(acc, c))
			}
		}
		g.from = 0
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
	square := g.copyOf(g.soft)
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

// copyOf returns a register with x, or with its lower half.
func (g gravity) copyOf(x VecVirtual) VecVirtual {
	if g.Half {
		x = x.AsY().(VecVirtual)
	}
	return g.CopyOf(x)
}

// attract adds the acceleration by a source of the given mass to sums.
func (g gravity) attract(mass Mem, sums []VecVirtual) {
	d, w, inv2 := g.pair()
	g.Mul(inv2, w, w)
	m := g.Broadcast(mass)
	g.Mul(m, w, w)
	for c := range d {
		g.Fmadd231(w, d[c], sums[c])
	}
}

func attract(g ISA) {
	overSources(g, 4, 3, func(g gravity, sums []VecVirtual) { g.attract(g.of(3), sums) })
}

// kick has blocks of bodies that are sources and targets, with rows of positions, velocities and
// masses. What few targets leave of a register of AVX-512 takes half a register if that is enough:
// the time is that of its units.
func kick(isa ISA) {
	const velocity, mass, rows = 3, 6, 7
	g := gravity{ISA: isa, target: Arg("block"), source: GP64(), apart: blockLanes, soft: isa.BroadcastArg("soft2")}
	dt, lanes, n, left := isa.BroadcastArg("dt"), Arg("lanes"), GP64(), GP64()
	half := isa
	half.Half = true
	some := func(parts ...ISA) {
		of, sums, from := make([]gravity, len(parts)), make([][]VecVirtual, len(parts)), 0
		for i, part := range parts {
			of[i] = g
			of[i].ISA, of[i].from = part, from
			sums[i] = part.Zeros(3)
			from += part.Width()
		}
		MOVQ(ArgAddr("state"), g.source)
		MOVQ(ArgAddr("count"), left)
		block, short := Unique("block"), Unique("short")
		Label(block)
		MOVQ(U32(blockLanes), n)
		CMPQ(left, n)
		JGE(LabelRef(short))
		MOVQ(left, n)
		Label(short)
		Times(n, func() {
			for i, g := range of {
				g.attract(g.of(mass), sums[i])
			}
			ADDQ(Imm(uint64(g.Size)), g.source)
		})
		ADDQ(U32((rows-1)*blockLanes*g.Size), g.source)
		SUBQ(Imm(blockLanes), left)
		JG(LabelRef(block))
		for i, g := range of {
			for c, r := range sums[i] {
				g.Mul(g.copyOf(dt), r, r)
				g.Add(g.row(g.target, velocity+c), r, r)
				g.Mov(r, g.row(g.target, velocity+c))
			}
		}
	}
	done := Unique("done")
	upTo := func(most int, parts ...ISA) {
		next := Unique("next")
		CMPQ(lanes, Imm(uint64(most)))
		JG(LabelRef(next))
		some(parts...)
		JMP(LabelRef(done))
		Label(next)
	}
	switch w := isa.Lanes(); {
	case !isa.Wide:
		block := Unique("block")
		Label(block)
		some(isa)
		ADDQ(Imm(uint64(g.Width())), g.target)
		SUBQ(Imm(uint64(w)), lanes)
		JG(LabelRef(block))
	case w == blockLanes:
		upTo(w/2, half)
		some(isa)
	default:
		upTo(w/2, half)
		upTo(w, isa)
		upTo(w+w/2, isa, half)
		some(isa, isa)
	}
	Label(done)
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
