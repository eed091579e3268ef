// Command _gen writes the assembly of package cells.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		Float64("forward", "func(x, h, c, w *float64, ld, n int)", "does n steps of some lanes.", forward)
		Float64("backward", "func(x, h, c, d, w, bars *float64, ld, n int)", "does n steps of some lanes, the last first.", backward)
	})
}

// Rows of weights and of their gradients, each of blockLanes elements: the four
// weights, the four biases, and after the gradients the cotangents of the state.
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

// A cell emits the gates of two vectors of cells. What it computes it keeps in
// locals: there are more values than registers.
type cell struct {
	ISA
	exp      func([]VecVirtual) []VecVirtual
	one      VecVirtual
	x, h, c  Register // rows of the step
	w, ld    Register
	gates    Mem // forget, ingate, outgate and change
	together int // sigmoids that are computed at once
}

const vectors = 2

func newCell(g ISA) cell {
	k := cell{ISA: g, exp: g.Exponential(false), together: 1}
	if g.Wide {
		k.together = 2
	}
	k.x, k.h, k.c, k.w, k.ld = Arg("x"), Arg("h"), Arg("c"), Arg("w"), g.Stride("ld")
	k.gates = AllocLocal(4 * vectors * g.Width())
	k.one = g.CopyOf(g.Const(1))
	return k
}

// at returns vector u of a row.
func (k cell) at(row Register, u int) Mem { return Mem{Base: row, Disp: u * k.Width()} }

// next returns vector u of the row after one.
func (k cell) next(row Register, u int) Mem {
	return Mem{Base: row, Index: k.ld, Scale: 1, Disp: u * k.Width()}
}

// weight returns vector u of a row of weights or gradients.
func (k cell) weight(w Register, row, u int) Mem {
	return Mem{Base: w, Disp: 8*blockLanes*row + u*k.Width()}
}

func (k cell) gate(gate, u int) Mem { return k.gates.Offset((vectors*gate + u) * k.Width()) }

// sigmoids overwrites each z with 1/(1 + exp(z)).
func (k cell) sigmoids(z []VecVirtual) []VecVirtual {
	s := k.exp(z)
	for _, s := range s {
		k.Add(k.one, s, s)
		k.Div(s, k.one, s)
	}
	return s
}

// twiceLess1 makes sigmoids of 2z tanh(z).
func (k cell) twiceLess1(s VecVirtual) {
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
			var z []VecVirtual
			for _, gate := range pair[first : first+k.together] {
				for u := range vectors {
					zu := k.CopyOf(k.at(row, u))
					r := k.CopyOf(k.weight(k.w, biases+gate, u))
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

func (k cell) negate(x VecVirtual) { VXORPD(k.Const(math.Copysign(0, -1)), x, x) }

// tanhs returns tanh of vectors.
func (k cell) tanhs(c []VecVirtual) []VecVirtual {
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

func forward(g ISA) {
	k := newCell(g)
	Times(Arg("n"), func() {
		k.allGates()
		var q []VecVirtual
		for u := range vectors {
			c := k.CopyOf(k.gate(forget, u))
			k.Mul(k.at(k.c, u), c, c)
			i := k.CopyOf(k.gate(ingate, u))
			k.Fmadd231(k.gate(change, u), i, c)
			k.Mov(c, k.next(k.c, u))
			q = append(q, c)
		}
		for u, q := range k.tanhs(q) {
			k.Mul(k.gate(outgate, u), q, q)
			k.Mov(q, k.next(k.h, u))
		}
		for _, row := range []Register{k.x, k.h, k.c} {
			ADDQ(k.ld, row)
		}
	})
}

func backward(isa ISA) {
	k := newCell(isa)
	d, g := Arg("d"), Arg("bars")
	Times(Arg("n"), func() {
		k.allGates()
		var c []VecVirtual
		for u := range vectors {
			c = append(c, k.CopyOf(k.next(k.c, u)))
		}
		for u, q := range k.tanhs(c) {
			mul := func(x VecVirtual, m Op) VecVirtual {
				r := k.Reg()
				k.Mul(m, x, r)
				return r
			}
			// sigmoidBar returns bar·s·(1 - s), with s a gate.
			sigmoidBar := func(bar VecVirtual, gate int) VecVirtual {
				s := k.CopyOf(k.gate(gate, u))
				z := mul(bar, s)
				k.Fnmadd231(s, z, z) // z - s·z
				return z
			}
			hBar := k.CopyOf(k.at(d, u))
			k.Add(k.weight(g, hiddenBar, u), hBar, hBar)
			through := mul(hBar, k.gate(outgate, u)) // h̄·o·(1 - q²)
			t := mul(q, q)
			k.Fnmadd231(t, through, through)
			cBar := through
			k.Add(k.weight(g, cellBar, u), cBar, cBar)

			zo := sigmoidBar(mul(hBar, q), outgate)
			zf := sigmoidBar(mul(cBar, k.at(k.c, u)), forget)
			zi := sigmoidBar(mul(cBar, k.gate(change, u)), ingate)
			zg := mul(cBar, k.gate(ingate, u))
			t = k.CopyOf(k.gate(change, u))
			k.Mul(t, t, t)
			k.Fnmadd231(t, zg, zg)

			k.Mov(mul(cBar, k.gate(forget, u)), k.weight(g, cellBar, u))
			xBar, hiddenOut := mul(zf, k.weight(k.w, forget, u)), mul(zi, k.weight(k.w, ingate, u))
			k.Fmadd231(k.weight(k.w, outgate, u), zo, xBar)
			k.Fmadd231(k.weight(k.w, change, u), zg, hiddenOut)
			x, h := k.CopyOf(k.at(k.x, u)), k.CopyOf(k.at(k.h, u))
			for gate, z := range []VecVirtual{zf, zi, zo, zg} {
				from := x
				if gate == ingate || gate == change {
					from = h
				}
				sum := k.CopyOf(k.weight(g, gate, u))
				k.Fmadd231(from, z, sum)
				k.Mov(sum, k.weight(g, gate, u))
				k.Add(k.weight(g, biases+gate, u), z, z)
				k.Mov(z, k.weight(g, biases+gate, u))
			}
			k.Mov(xBar, k.at(d, u))
			k.Mov(hiddenOut, k.weight(g, hiddenBar, u))
		}
		for _, row := range []Register{k.x, k.h, k.c, d} {
			SUBQ(k.ld, row)
		}
	})
}
