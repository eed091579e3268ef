package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// Rows of weights and of their gradients, each of blockLanes elements: the four
// weights, the four biases, and behind the gradients the cotangents of the state.
const (
	forget = iota
	ingate
	outgate
	change
	biases
	hiddenBar = 2 * biases
	cellBar   = hiddenBar + 1

	blockLanes = 16
)

func cellLoops() {
	for _, wide := range []bool{true, false} {
		v := vec{ISA{Wide: wide, Size: 8}, 8}
		v.cellsForward()
		v.cellsBackward()
	}
	emitExpTables()
	emitConstants()
}

// A cell emits the gates of two vectors of cells. What it computes it keeps in
// locals: there are more values than registers.
type cell struct {
	vec
	exp      func([]reg.VecVirtual) []reg.VecVirtual
	one      reg.VecVirtual
	x, h, c  reg.Register // rows of the step
	w, ld    reg.Register
	gates    Mem // forget, ingate, outgate and change
	together int // sigmoids that are computed at once
}

const vectors = 2

func (v vec) newCell() cell {
	k := cell{vec: v, together: 1}
	k.x, k.h, k.c, k.w, k.ld = Arg("x"), Arg("h"), Arg("c"), Arg("w"), Arg("ld")
	v.ToBytes(k.ld)
	k.gates = AllocLocal(4 * vectors * v.Width())
	if v.Wide {
		k.exp, k.together = v.exponential64Wide(normalScale), 2
	} else {
		k.exp = v.exponential64(normalScale)
	}
	k.one = v.copyOf(v.constant(1))
	return k
}

// at returns vector u of a row.
func (k cell) at(row reg.Register, u int) Mem { return Mem{Base: row, Disp: u * k.Width()} }

// next returns vector u of the row after one.
func (k cell) next(row reg.Register, u int) Mem {
	return Mem{Base: row, Index: k.ld, Scale: 1, Disp: u * k.Width()}
}

// weight returns vector u of a row of weights or gradients.
func (k cell) weight(w reg.Register, row, u int) Mem {
	return Mem{Base: w, Disp: 8*blockLanes*row + u*k.Width()}
}

func (k cell) gate(gate, u int) Mem { return k.gates.Offset((vectors*gate + u) * k.Width()) }

// sigmoids overwrites each z with 1/(1 + exp(z)).
func (k cell) sigmoids(z []reg.VecVirtual) []reg.VecVirtual {
	s := k.exp(z)
	for _, s := range s {
		k.Add(k.one, s, s)
		VDIVPD(s, k.one, s)
	}
	return s
}

// twiceLess1 makes sigmoids of 2z tanh(z).
func (k cell) twiceLess1(s reg.VecVirtual) {
	k.Add(s, s, s)
	k.Sub(k.one, s, s)
}

// allGates computes the gates.
func (k cell) allGates() {
	// Those of the hidden state first: the next step waits for them.
	for _, pair := range [][]int{{ingate, change}, {forget, outgate}} {
		row := k.x
		if pair[0] == ingate {
			row = k.h
		}
		for first := 0; first < len(pair); first += k.together {
			var z []reg.VecVirtual
			for _, gate := range pair[first : first+k.together] {
				for u := range vectors {
					zu := k.copyOf(k.at(row, u))
					r := k.copyOf(k.weight(k.w, biases+gate, u))
					VFMADD132PD(k.weight(k.w, gate, u), r, zu)
					k.negate(zu)
					if gate == change {
						k.Add(zu, zu, zu)
					}
					z = append(z, zu)
				}
			}
			for i, s := range k.sigmoids(z) {
				gate := pair[first+i/vectors]
				if gate == change {
					k.twiceLess1(s)
				}
				k.Mov(s, k.gate(gate, i%vectors))
			}
		}
	}
}

func (k cell) negate(x reg.VecVirtual) { VXORPD(k.constant(math.Copysign(0, -1)), x, x) }

// tanhs returns tanh of vectors.
func (k cell) tanhs(c []reg.VecVirtual) []reg.VecVirtual {
	for _, c := range c {
		k.Add(c, c, c)
		k.negate(c)
	}
	q := k.sigmoids(c)
	for _, q := range q {
		k.twiceLess1(q)
	}
	return q
}

// times emits body n times, and the end of the function.
func (v vec) times(body func()) {
	n := Arg("n")
	top := Unique("step")
	Label(top)
	body()
	DECQ(n)
	JNZ(LabelRef(top))
	VZEROUPPER()
	RET()
}

func (v vec) cellsForward() {
	Func("forward", Variant{Tier: v.Tier()}, "func(x, h, c, w *float64, ld, n int)", "does n steps of some lanes.")
	k := v.newCell()
	v.times(func() {
		k.allGates()
		var q []reg.VecVirtual
		for u := range vectors {
			c := k.copyOf(k.gate(forget, u))
			k.Mul(k.at(k.c, u), c, c)
			i := k.copyOf(k.gate(ingate, u))
			k.Fmadd231(k.gate(change, u), i, c)
			k.Mov(c, k.next(k.c, u))
			q = append(q, c)
		}
		for u, q := range k.tanhs(q) {
			k.Mul(k.gate(outgate, u), q, q)
			k.Mov(q, k.next(k.h, u))
		}
		for _, row := range []reg.Register{k.x, k.h, k.c} {
			ADDQ(k.ld, row)
		}
	})
}

func (v vec) cellsBackward() {
	Func("backward", Variant{Tier: v.Tier()}, "func(x, h, c, d, w, bars *float64, ld, n int)", "does n steps of some lanes, the last first.")
	k := v.newCell()
	d, g := Arg("d"), Arg("bars")
	v.times(func() {
		k.allGates()
		var c []reg.VecVirtual
		for u := range vectors {
			c = append(c, k.copyOf(k.next(k.c, u)))
		}
		for u, q := range k.tanhs(c) {
			mul := func(x reg.VecVirtual, m Op) reg.VecVirtual {
				r := v.Reg()
				k.Mul(m, x, r)
				return r
			}
			// sigmoidBar returns bar·s·(1 - s), with s a gate.
			sigmoidBar := func(bar reg.VecVirtual, gate int) reg.VecVirtual {
				s := k.copyOf(k.gate(gate, u))
				z := mul(bar, s)
				VFNMADD231PD(s, z, z) // z - s·z
				return z
			}
			hBar := k.copyOf(k.at(d, u))
			k.Add(k.weight(g, hiddenBar, u), hBar, hBar)
			through := mul(hBar, k.gate(outgate, u)) // h̄·o·(1 - q²)
			t := mul(q, q)
			VFNMADD231PD(t, through, through)
			cBar := through
			k.Add(k.weight(g, cellBar, u), cBar, cBar)

			zo := sigmoidBar(mul(hBar, q), outgate)
			zf := sigmoidBar(mul(cBar, k.at(k.c, u)), forget)
			zi := sigmoidBar(mul(cBar, k.gate(change, u)), ingate)
			zg := mul(cBar, k.gate(ingate, u))
			t = k.copyOf(k.gate(change, u))
			k.Mul(t, t, t)
			VFNMADD231PD(t, zg, zg)

			k.Mov(mul(cBar, k.gate(forget, u)), k.weight(g, cellBar, u))
			xBar, hiddenOut := mul(zf, k.weight(k.w, forget, u)), mul(zi, k.weight(k.w, ingate, u))
			VFMADD231PD(k.weight(k.w, outgate, u), zo, xBar)
			VFMADD231PD(k.weight(k.w, change, u), zg, hiddenOut)
			x, h := k.copyOf(k.at(k.x, u)), k.copyOf(k.at(k.h, u))
			for gate, z := range []reg.VecVirtual{zf, zi, zo, zg} {
				from := x
				if gate == ingate || gate == change {
					from = h
				}
				sum := k.copyOf(k.weight(g, gate, u))
				k.Fmadd231(from, z, sum)
				k.Mov(sum, k.weight(g, gate, u))
				k.Add(k.weight(g, biases+gate, u), z, z)
				k.Mov(z, k.weight(g, biases+gate, u))
			}
			k.Mov(xBar, k.at(d, u))
			k.Mov(hiddenOut, k.weight(g, hiddenBar, u))
		}
		for _, row := range []reg.Register{k.x, k.h, k.c, d} {
			SUBQ(k.ld, row)
		}
	})
}
