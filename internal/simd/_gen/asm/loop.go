package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Times runs body n > 0 times, and destroys n.
func Times(n Op, body func()) {
	loop := Unique("loop")
	Label(loop)
	body()
	DECQ(n)
	JNZ(LabelRef(loop))
}

// A Step is where one turn of a loop reads and writes: the elements from index I
// plus Off on, in the last turn under Mask.
type Step struct {
	ISA
	I    Register
	Off  int
	Mask *Mask
}

// At returns where the elements of p are.
func (l Step) At(p Register) Mem {
	return Mem{Base: p, Index: l.I, Scale: uint8(l.Stored()), Disp: l.Off * l.Stored()}
}

// Load returns the elements at p, and 0 in lanes that are masked out.
func (l Step) Load(p Register) VecVirtual { return l.ISA.Load(l.At(p), l.Mask) }

// Store writes r to p. If l is Narrow, it destroys r.
func (l Step) Store(r VecVirtual, p Register) { l.ISA.Store(r, l.At(p), l.Mask) }

// Loop runs body over n elements (n may be 0): unroll vectors at a time, then
// one at a time, then under a mask. The index of the vector within the step is
// the last argument of body. If steps of several vectors have an accumulator each,
// combine must add all of these to the accumulator of vector 0. It may be nil.
func (g ISA) Loop(n Register, unroll int, body func(l Step, u int), combine func()) {
	g.Groups(n, unroll, func(ls []Step) {
		for u, l := range ls {
			body(l, u)
		}
	}, combine)
}

// Groups is Loop with a body that gets all the vectors of a turn at once.
func (g ISA) Groups(n Register, unroll int, body func(ls []Step), combine func()) {
	w := g.Lanes()
	many, one, oneTest, tail, done := Unique("many"), Unique("one"), Unique("oneTest"), Unique("tail"), Unique("done")
	i, last := GP64(), GP64()
	XORQ(i, i)
	if unroll > 1 {
		LEAQ(Mem{Base: n, Disp: -unroll * w}, last)
		TESTQ(last, last)
		JL(LabelRef(oneTest))
		Label(many)
		ls := make([]Step, unroll)
		for u := range ls {
			ls[u] = Step{g, i, u * w, nil}
		}
		body(ls)
		ADDQ(Imm(uint64(unroll*w)), i)
		CMPQ(i, last)
		JLE(LabelRef(many))
		if combine != nil {
			combine()
		}
		Label(oneTest)
	}
	LEAQ(Mem{Base: n, Disp: -w}, last)
	CMPQ(i, last)
	JG(LabelRef(tail))
	Label(one)
	body([]Step{{g, i, 0, nil}})
	ADDQ(Imm(uint64(w)), i)
	CMPQ(i, last)
	JLE(LabelRef(one))
	Label(tail)
	rest := GP64()
	MOVQ(n, rest)
	SUBQ(i, rest)
	JZ(LabelRef(done))
	body([]Step{{g, i, 0, g.HeldMask(rest)}})
	Label(done)
}

// Predicates of Compare, with Intel's names.
const (
	EQ    = 0x00
	UNORD = 0x03 // either is NaN
	NEQ   = 0x04 // or either is NaN
	ORD   = 0x07
	LT    = 0x11
	NLT   = 0x15 // or either is NaN
	NLE   = 0x16 // or either is NaN
	GT    = 0x1e
)

// Compare emits the comparison of a to b: dst is an opmask on AVX-512, else a vector.
func (g ISA) Compare(pred uint64, b, a, dst Op) { Pick(g, VCMPPD, VCMPPS)(Imm(pred), b, a, dst) }

// Choose emits dst = x where a compares to b as pred says, for pairs of x and dst; dst stays
// elsewhere.
func (g ISA) Choose(pred uint64, b, a Op, pairs ...Op) {
	m := g.maskRegister()
	g.Compare(pred, b, a, m)
	for ; len(pairs) > 0; pairs = pairs[2:] {
		x, dst := pairs[0], pairs[1]
		if g.Wide {
			Pick(g, VMOVUPD, VMOVUPS)(x, m, dst)
		} else {
			Pick(g, VBLENDVPD, VBLENDVPS)(m, x, dst, dst)
		}
	}
}

func (g ISA) maskRegister() Register {
	if g.Wide {
		return K()
	}
	return g.Reg()
}
