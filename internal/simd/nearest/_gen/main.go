// Command _gen writes the assembly of package nearest.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// maxCenters is how many centres are looked at together.
const maxCenters = 8

func main() {
	Files(func() {
		Floats("two", "func(best, second, label, points *T, ld, n int, c, halves *T, k, d int, first T)", "is Two for n points and k centres.", func(g ISA) { search{ISA: g, two: true}.emit() })
		Float64("one", "func(best, label, points *float64, ld, n int, c *float64, k, d int, first float64)", "is One for n points and k centres.", func(g ISA) { search{ISA: g}.emit() })
		Float64("addRows", "func(sums, base *float64, ld int, label *int32, x *float64, ldx, n, d int, w *float64, step int)", "is AddRows for n points, with a weight every step elements.", addRows)
		Float64("distances", "func(dists, c *float64, ld int, label *int32, x *float64, ldx, n, d int)", "is Distances for n points.", distances)
		Float64("subRound", "func(dst *float32, x *float64, n int, c float64)", "is SubRound for n numbers.", subRound)
	})
}

// A search finds the least values of points along the lanes, a vector of them at
// a time. Values of some centres add up in registers.
type search struct {
	ISA
	two bool

	x, c, j      GPVirtual // the coordinate at hand of the points and the first centre
	center       GPVirtual // the first centre
	half, left   GPVirtual // its half, and centres left
	ld           GPVirtual
	walk         Walk
	best, second VecVirtual
	label, at    VecVirtual // of the best, and of the first centre
	one          VecVirtual
}

func (s search) emit() {
	s.ld = s.Stride("ld")
	s.walk = NewWalk(s.Stride("d"), maxCenters)
	s.x, s.c, s.j, s.center, s.half, s.left = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	p, size := GP64(), GP64()
	s.best, s.label, s.at, s.one = s.Reg(), s.Reg(), s.Reg(), s.Reg()
	s.Mov(s.Const(1), s.one)
	if s.two {
		s.second = s.Reg()
	}
	XORQ(p, p)

	Label("points")
	s.state(p, func(r VecVirtual, m Mem) { s.Mov(m, r) })
	s.BroadcastTo(ArgAddr("first"), s.at)
	MOVQ(ArgAddr("c"), s.center)
	if s.two {
		MOVQ(ArgAddr("halves"), s.half)
	}
	MOVQ(ArgAddr("k"), s.left)

	// Groups of maxCenters, the last two of equal size.
	Label("centers")
	MOVQ(s.left, size)
	CMPQ(size, Imm(maxCenters))
	JLE(LabelRef("rest"))
	CMPQ(size, Imm(2*maxCenters))
	JGE(LabelRef("group8"))
	INCQ(size)
	SHRQ(Imm(1), size)
	Label("rest")
	for rows := 1; rows < maxCenters; rows++ {
		CMPQ(size, Imm(uint64(rows)))
		JE(LabelRef(fmt.Sprint("group", rows)))
	}
	for rows := maxCenters; rows >= 1; rows-- {
		Label(fmt.Sprint("group", rows))
		s.group(rows, p)
		SUBQ(Imm(uint64(rows)), s.left)
		JNZ(LabelRef("centers"))
		if rows > 1 {
			JMP(LabelRef("next"))
		}
	}

	Label("next")
	s.state(p, func(r VecVirtual, m Mem) { s.Mov(r, m) })
	ADDQ(Imm(uint64(s.Lanes())), p)
	CMPQ(p, ArgAddr("n"))
	JL(LabelRef("points"))
}

// state calls f for the registers that hold operands, and their places from point p on.
func (s search) state(p GPVirtual, f func(r VecVirtual, m Mem)) {
	names, regs := []string{"best", "label"}, []VecVirtual{s.best, s.label}
	if s.two {
		names, regs = append(names, "second"), append(regs, s.second)
	}
	for i, name := range names {
		f(regs[i], Mem{Base: Arg(name), Index: p, Scale: uint8(s.Size)})
	}
}

// group takes the values of some centres into the least, and goes on after them.
func (s search) group(rows int, p GPVirtual) {
	var acc []VecVirtual
	if s.two {
		for q := range rows {
			acc = append(acc, s.Broadcast(Mem{Base: s.half, Disp: q * s.Size}))
		}
		ADDQ(I32(rows*s.Size), s.half)
	} else {
		acc = s.Zeros(rows)
	}
	x, t := s.Reg(), s.Reg()
	MOVQ(ArgAddr("points"), s.x)
	LEAQ(Mem{Base: s.x, Index: p, Scale: uint8(s.Size)}, s.x)
	MOVQ(s.center, s.c)
	MOVQ(ArgAddr("d"), s.j)
	Times(s.j, func() {
		s.Mov(Mem{Base: s.x}, x)
		for q := range rows {
			m := s.walk.Row(s.c, q)
			switch {
			case s.two && s.Wide:
				Pick(s, VFNMADD231PD_BCST, VFNMADD231PS_BCST)(m, x, acc[q])
			case s.two:
				s.BroadcastTo(m, t)
				s.Fnmadd231(t, x, acc[q])
			default: // not fused, for the same bits as everywhere
				if s.Wide {
					VSUBPD_BCST(m, x, t)
				} else {
					s.BroadcastTo(m, t)
					s.Sub(t, x, t)
				}
				s.Mul(t, t, t)
				s.Add(t, acc[q], acc[q])
			}
		}
		ADDQ(s.ld, s.x)
		ADDQ(Imm(uint64(s.Size)), s.c)
	})

	for q := range rows {
		s.Choose(LT, s.best, acc[q], s.at, s.label)
		if s.two {
			Pick(s, VMAXPD, VMAXPS)(s.best, acc[q], t)
			Pick(s, VMINPD, VMINPS)(t, s.second, s.second)
		}
		Pick(s, VMINPD, VMINPS)(s.best, acc[q], s.best) // best where acc is NaN
		s.Add(s.one, s.at, s.at)
	}
	s.walk.Skip(s.center, rows)
}

// addRows adds w·(x - base) to the row of sums of each point's label, of full vectors
// and then of halves, because a load after a masked store waits.
func addRows(g ISA) {
	sums, base, x, w, label := Arg("sums"), Arg("base"), Arg("x"), Arg("w"), Arg("label")
	ldx, step, n := g.Stride("ldx"), g.Stride("step"), Arg("n")
	row, ld, d, j, t, limit := GP64(), Arg("ld"), Arg("d"), GP64(), GP64(), GP64()
	weight, v := g.Reg(), g.Reg()
	MOVQ(d, limit)
	SUBQ(Imm(uint64(g.Lanes())), limit)
	Times(n, func() {
		MOVLQSX(Mem{Base: label}, row)
		IMULQ(ld, row)
		g.BroadcastTo(Mem{Base: w}, weight)
		XORQ(j, j)
		add := func(lanes int, v, weight Register) {
			mov, sub, mul, add := VMOVUPD, VSUBPD, VMULPD, VADDPD
			if lanes == 1 {
				mov, sub, mul, add = VMOVSD, VSUBSD, VMULSD, VADDSD
			}
			mov(Mem{Base: x, Index: j, Scale: 8}, v)
			LEAQ(Mem{Base: row, Index: j, Scale: 1}, t)
			sub(Mem{Base: base, Index: t, Scale: 8}, v, v)
			mul(weight, v, v)
			add(Mem{Base: sums, Index: t, Scale: 8}, v, v)
			mov(v, Mem{Base: sums, Index: t, Scale: 8})
			ADDQ(Imm(uint64(lanes)), j)
		}
		CMPQ(j, limit)
		JG(LabelRef("halves"))
		Label("vectors")
		add(g.Lanes(), v, weight)
		CMPQ(j, limit)
		JLE(LabelRef("vectors"))
		Label("halves")
		for lanes := g.Lanes() / 2; lanes >= 1; lanes /= 2 {
			next := fmt.Sprint("below", lanes)
			TESTQ(U32(lanes), d)
			JZ(LabelRef(next))
			if lanes == 4 {
				add(lanes, v.AsY(), weight.AsY())
			} else {
				add(lanes, v.AsX(), weight.AsX())
			}
			Label(next)
		}
		ADDQ(ldx, x)
		ADDQ(step, w)
		ADDQ(Imm(4), label)
	})
}

// distances stores the squared distance of each point from the row of c that is its
// label's.
func distances(g ISA) {
	dists, c, ld, x, label := Arg("dists"), Arg("c"), Arg("ld"), Arg("x"), Arg("label")
	ldx, n, limit, t := g.Stride("ldx"), Arg("n"), Arg("d"), GP64()
	MOVQ(limit, t)
	ANDQ(I32(g.Lanes()-1), t)
	SUBQ(t, limit)
	k := g.HeldMask(t)
	row, j, pairs := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: limit, Disp: -g.Lanes()}, pairs)
	Times(n, func() {
		MOVLQSX(Mem{Base: label}, row)
		IMULQ(ld, row)
		LEAQ(Mem{Base: c, Index: row, Scale: 8}, row)
		sums := g.Zeros(2) // a vector need not wait for the one before
		add := func(q int) {
			v := g.Reg()
			VMOVUPD(Mem{Base: x, Index: j, Scale: 8, Disp: 8 * q * g.Lanes()}, v)
			VSUBPD(Mem{Base: row, Index: j, Scale: 8, Disp: 8 * q * g.Lanes()}, v, v)
			VFMADD231PD(v, v, sums[q])
		}
		XORQ(j, j)
		CMPQ(j, pairs)
		JGE(LabelRef("one"))
		Label("pairs")
		add(0)
		add(1)
		ADDQ(Imm(uint64(2*g.Lanes())), j)
		CMPQ(j, pairs)
		JL(LabelRef("pairs"))
		Label("one")
		CMPQ(j, limit)
		JGE(LabelRef("tail"))
		add(0)
		ADDQ(Imm(uint64(g.Lanes())), j)
		Label("tail")
		sum := sums[0]
		g.Add(sums[1], sum, sum)
		last := g.Load(Mem{Base: x, Index: j, Scale: 8}, k)
		g.Sub(g.Load(Mem{Base: row, Index: j, Scale: 8}, k), last, last)
		g.Fmadd231(last, last, sum)
		g.Reduce(sum, g.Add)
		VMOVSD(sum.AsX(), Mem{Base: dists})
		ADDQ(ldx, x)
		ADDQ(Imm(8), dists)
		ADDQ(Imm(4), label)
	})
}

// subRound stores x - c over float32.
func subRound(g ISA) {
	dst, x, n, c := Arg("dst"), Arg("x"), Arg("n"), g.BroadcastArg("c")
	narrow := g
	narrow.Narrow = true
	Label("next")
	v := g.Reg()
	g.Mov(Mem{Base: x}, v)
	g.Sub(c, v, v)
	narrow.Store(v, Mem{Base: dst}, nil)
	ADDQ(Imm(uint64(8*g.Lanes())), x)
	ADDQ(Imm(uint64(4*g.Lanes())), dst)
	SUBQ(Imm(uint64(g.Lanes())), n)
	JNZ(LabelRef("next"))
}
