package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// gravityLanes is how many targets a block has: the rows of a block lie that many
// elements apart.
const gravityLanes = 16

// A gravity loop takes vectors of targets, and for each of these all sources.
type gravity struct {
	vec
	target, source, acc reg.GPVirtual
	soft                reg.VecVirtual
	fields              int // numbers of a source
}

// row returns row c of a block at p.
func (g gravity) row(p reg.Register, c int) Mem {
	return Mem{Base: p, Disp: c * gravityLanes * g.size}
}

// of returns number c of the source.
func (g gravity) of(c int) Mem { return Mem{Base: g.source, Disp: c * g.size} }

// over runs body for each vector of targets and each source, and adds sums to acc.
func (v vec) overSources(fields, sums int, body func(g gravity, sums []reg.VecVirtual)) {
	g := gravity{vec: v, target: Arg("target"), acc: Arg("acc"), source: GP64(), fields: fields}
	lanes, n := Arg("lanes"), GP64()
	g.soft = v.broadcastParam("soft2")
	block, loop := Unique("block"), Unique("source")
	Label(block)
	MOVQ(ArgAddr("sources"), g.source)
	MOVQ(ArgAddr("count"), n)
	s := v.Zeros(sums)
	Label(loop)
	body(g, s)
	ADDQ(Imm(uint64(fields*v.size)), g.source)
	DECQ(n)
	JNZ(LabelRef(loop))
	for c, r := range s {
		v.Add(g.row(g.acc, c), r, r)
		v.Mov(r, g.row(g.acc, c))
	}
	ADDQ(Imm(uint64(v.Width())), g.target)
	ADDQ(Imm(uint64(v.Width())), g.acc)
	SUBQ(Imm(uint64(v.Lanes())), lanes)
	JG(LabelRef(block))
}

// pair returns the difference d of source and target, 1/r and 1/r², which are 0 where r
// is.
func (g gravity) pair() (d []reg.VecVirtual, inv, inv2 reg.VecVirtual) {
	d = g.Regs(3)
	square := g.Reg()
	g.Mov(g.soft, square)
	for c := range d {
		g.BroadcastTo(g.of(c), d[c])
		g.Sub(g.row(g.target, c), d[c], d[c])
		g.Fmadd231(d[c], d[c], square)
	}
	inv = g.root(square, true)
	inv2 = g.Reg()
	g.Mul(inv, inv, inv2)
	return d, inv, inv2
}

func attract(v vec) {
	v.overSources(4, 3, func(g gravity, sums []reg.VecVirtual) {
		d, w, inv2 := g.pair()
		g.Mul(inv2, w, w)
		m := g.Reg()
		g.BroadcastTo(g.of(3), m)
		g.Mul(m, w, w)
		for c := range d {
			g.Fmadd231(w, d[c], sums[c])
		}
	})
}

// tides has s = α·a - m·b, with a and m of the source and α and b of the target. The
// products are rounded apart, so that s is 0 where source and target are one body.
func tides(v vec) {
	v.overSources(7, 4, func(g gravity, sums []reg.VecVirtual) {
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
		m := g.Reg()
		s := g.Regs(3)
		g.BroadcastTo(g.of(3), m)
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
		g.Mul(g.constant(-3), inv2, inv2)
		g.Mul(inv2, dot, dot)
		for c := range d {
			g.Fmadd231(dot, d[c], s[c])
			g.Fmadd231(w, s[c], sums[c])
		}
	})
}

func gravityLoops() {
	function("attract", "func(target, acc, sources *T, count, lanes int, soft2 T)", "adds the accelerations of up to 16 targets by count sources.", attract)
	function("tides", "func(target, acc, sources *T, count, lanes int, soft2 T)", "adds the derivatives of the accelerations of up to 16 targets.", tides)
	emitConstants()
}
