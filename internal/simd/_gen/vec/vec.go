package main

import (
	"math"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// A vec emits vector instructions for one tier and type of elements.
type vec struct {
	ISA      // of registers
	size int // bytes of an element in memory
}

// widens reports whether registers hold float64 though memory holds float32.
func (v vec) widens() bool { return v.size < v.Size }

// function emits a function for both types of elements, which takes chunks if the number
// of elements is its last argument.
func function(name, sig, doc string, body func(vec)) {
	for _, size := range []int{8, 4} {
		BothTiers(size, name, sig, doc, func(g ISA) { body(vec{g, size}) })
	}
	if strings.Contains(sig, "n int") {
		Short(name, "n")
	}
	switch before, result, _ := strings.Cut(sig, ", n int)"); {
	case before == sig:
	case name == "maxOf":
		Chunks(name, "s := genericMaxOf(x[:0])|s = max(s, ")
	case result == "":
		Chunks(name, "|")
	default:
		Chunks(name, "var s"+result+"|s += ")
	}
}

// --- Loops -----------------------------------------------------------------

// A step is where one turn of a loop reads and writes: the elements from index i
// plus off on, and only those of mask in the last turn.
type step struct {
	vec
	i    reg.Register
	off  int
	mask reg.Register // nil: all
}

// loop runs body over n elements (n may be 0): unroll vectors at a time, then
// one at a time, then under a mask. The index of the vector within the step is
// the last argument of body. What steps of several vectors accumulate apart,
// combine (if not nil) must bring together in that of vector 0.
func (v vec) loop(n reg.Register, unroll int, body func(l step, u int), combine func()) {
	v.groups(n, unroll, func(ls []step) {
		for u, l := range ls {
			body(l, u)
		}
	}, combine)
}

// groups is loop with a body that gets all the vectors of a turn at once.
func (v vec) groups(n reg.Register, unroll int, body func(ls []step), combine func()) {
	w := v.Lanes()
	many, one, oneTest, tail, done := Unique("many"), Unique("one"), Unique("oneTest"), Unique("tail"), Unique("done")
	i, last := GP64(), GP64()
	XORQ(i, i)
	if unroll > 1 {
		LEAQ(Mem{Base: n, Disp: -unroll * w}, last)
		TESTQ(last, last)
		JL(LabelRef(oneTest))
		Label(many)
		ls := make([]step, unroll)
		for u := range ls {
			ls[u] = step{v, i, u * w, nil}
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
	body([]step{{v, i, 0, nil}})
	ADDQ(Imm(uint64(w)), i)
	CMPQ(i, last)
	JLE(LabelRef(one))
	Label(tail)
	rest := GP64()
	MOVQ(n, rest)
	SUBQ(i, rest)
	JZ(LabelRef(done))
	body([]step{{v, i, 0, v.firstLanes(rest)}})
	Label(done)
}

// firstLanes returns the mask of the first n lanes.
func (v vec) firstLanes(n reg.Register) reg.Register {
	if v.Wide {
		mask := K()
		FirstLanes(n, mask)
		return mask
	}
	// The table is 32 bytes of ones, then 32 bytes of zeros.
	base := GP64()
	LEAQ(NewDataAddr(NewStaticSymbol("mask"), 32), base)
	NEGQ(n)
	from := Mem{Base: base, Index: n, Scale: uint8(v.size)}
	if v.widens() {
		mask := XMM()
		VMOVDQU(from, mask)
		return mask
	}
	mask := YMM()
	VMOVDQU(from, mask)
	return mask
}

func (l step) at(p reg.Register) Mem {
	return Mem{Base: p, Index: l.i, Scale: uint8(l.size), Disp: l.off * l.size}
}

// load returns the elements at p, and 0 in lanes that are masked out.
func (l step) load(p reg.Register) reg.VecVirtual {
	r := l.Reg()
	switch m := l.at(p); {
	case l.widens() && l.mask == nil:
		VCVTPS2PD(m, r)
	case l.widens() && l.Wide:
		VCVTPS2PD_Z(m, l.mask, r)
	case l.widens():
		VMASKMOVPS(m, l.mask, r.AsX())
		VCVTPS2PD(r.AsX(), r)
	case l.mask == nil:
		VMOVUPS(m, r)
	case l.Wide && l.Double():
		VMOVUPD_Z(m, l.mask, r)
	case l.Wide:
		VMOVUPS_Z(m, l.mask, r)
	case l.Double():
		VMASKMOVPD(m, l.mask, r)
	default:
		VMASKMOVPS(m, l.mask, r)
	}
	return r
}

// loadOr is load with fill in lanes that are masked out.
func (l step) loadOr(p reg.Register, fill float64) reg.VecVirtual {
	r := l.load(p)
	switch {
	case l.mask == nil:
	case l.Wide:
		k := K()
		KNOTW(l.mask, k)
		if l.Double() {
			VBROADCASTSD(l.constant(fill), k, r)
		} else {
			VBROADCASTSS(l.constant(fill), k, r)
		}
	default:
		f := l.Reg()
		VMOVUPS(l.constant(fill), f)
		VBLENDVPS(l.mask, r, f, r)
	}
	return r
}

// store writes r to p.
func (l step) store(r reg.VecVirtual, p reg.Register) {
	m := l.at(p)
	if l.widens() {
		if l.Wide {
			VCVTPD2PS(r, r.AsY())
			r = r.AsY().(reg.VecVirtual)
		} else {
			VCVTPD2PSY(r, r.AsX())
			r = r.AsX().(reg.VecVirtual)
		}
	}
	switch {
	case l.mask == nil:
		VMOVUPS(r, m)
	case l.Wide && l.size == 8:
		VMOVUPD(r, l.mask, m)
	case l.Wide:
		VMOVUPS(r, l.mask, m)
	case l.size == 8:
		VMASKMOVPD(r, l.mask, m)
	default:
		VMASKMOVPS(r, l.mask, m)
	}
}

// --- Arithmetic ------------------------------------------------------------

// Arithmetic on float64 with a constant, which AVX-512 takes from memory as one element.

func (v vec) withConst(memory, broadcast func(...Op), c float64, ops ...Op) {
	if v.Wide {
		memory = broadcast
	}
	memory(append([]Op{entry(math.Float64bits(c))}, ops...)...)
}

// dst = a + c
func (v vec) addConst(c float64, a, dst reg.VecVirtual) {
	v.withConst(VADDPD, VADDPD_BCST, c, a, dst)
}

// dst = a - c
func (v vec) subConst(c float64, a, dst reg.VecVirtual) {
	v.withConst(VSUBPD, VSUBPD_BCST, c, a, dst)
}

// dst = dst·a + c
func (v vec) fmaddConst(c float64, a, dst reg.VecVirtual) {
	v.withConst(VFMADD213PD, VFMADD213PD_BCST, c, a, dst)
}

// dst -= a·c
func (v vec) fnmaddConst(c float64, a, dst reg.VecVirtual) {
	v.withConst(VFNMADD231PD, VFNMADD231PD_BCST, c, a, dst)
}

// maximum emits dst = max(a, b) as Go defines it: NaN if either is, and +0
// above -0. AVX-512 has an instruction for the latter. That of AVX2 returns b in
// both cases, so that the two orders of operands agree but there; their
// conjunction is right for zeros. A NaN in either operand is put back as a + b.
func (v vec) maximum(b, a, dst Op) {
	t := v.Reg()
	if v.Wide {
		nan := K()
		v.rangeMax(b, a, t)
		Pick(v, VCMPPD, VCMPPS)(Imm(unordered), b, a, nan)
		Pick(v, VADDPD, VADDPS)(b, a, nan, t)
	} else {
		u, nan := v.Reg(), v.Reg()
		Pick(v, VMAXPD, VMAXPS)(b, a, t)
		Pick(v, VMAXPD, VMAXPS)(a, b, u)
		Pick(v, VANDPD, VANDPS)(t, u, t)
		v.Add(b, a, nan)
		v.choose(unordered, b, a, nan, t)
	}
	VMOVAPS(t, dst)
}

// rangeMax emits dst = max(a, b) with +0 above -0, and a number instead of NaN,
// for AVX-512.
func (v vec) rangeMax(b, a, dst Op) {
	const signedMax = 5
	Pick(v, VRANGEPD, VRANGEPS)(Imm(signedMax), b, a, dst)
}

// maxima are maxima so far. Those of AVX2 do not tell zeros apart: +0 is among
// the elements if the maximum is 0 and not all have the sign.
type maxima struct {
	vec
	acc, signs, nan []reg.VecVirtual
	ordered         []reg.Register
}

func (v vec) maxima(n int) maxima {
	m := maxima{vec: v, acc: v.Regs(n)}
	for _, a := range m.acc {
		VMOVUPS(v.constant(negInf), a)
	}
	if v.Wide {
		m.ordered = []reg.Register{K(), K()}
		for _, k := range m.ordered {
			KXNORW(k, k, k)
		}
		return m
	}
	m.signs, m.nan = v.Regs(2), v.Regs(2)
	for i := range m.nan {
		VMOVUPS(v.constant(negInf), m.signs[i])
		v.zero(m.nan[i])
	}
	return m
}

func (m maxima) add(u int, x reg.VecVirtual) {
	if m.Wide {
		m.rangeMax(x, m.acc[u], m.acc[u])
		return
	}
	Pick(m, VMAXPD, VMAXPS)(m.acc[u], x, m.acc[u])
	VANDPS(x, m.signs[u%2], m.signs[u%2])
}

// compare takes note of whether x and y are NaN.
func (m maxima) compare(u int, x, y reg.VecVirtual) {
	if m.Wide {
		k := m.ordered[u]
		Pick(m, VCMPPD, VCMPPS)(Imm(ordered), x, y, k, k)
		return
	}
	t := m.Reg()
	Pick(m, VCMPPD, VCMPPS)(Imm(unordered), x, y, t)
	VORPS(t, m.nan[u], m.nan[u])
}

func (m maxima) storeReturn() {
	numbers := Unique("numbers")
	larger := m.rangeMax
	if !m.Wide {
		larger = func(b, a, dst Op) { Pick(m, VMAXPD, VMAXPS)(b, a, dst) }
	}
	top := m.acc[0]
	for _, a := range m.acc[1:] {
		larger(a, top, top)
	}
	m.Reduce(top, larger)
	if m.Wide {
		KANDW(m.ordered[0], m.ordered[1], m.ordered[0])
		if m.Double() {
			KORTESTB(m.ordered[0], m.ordered[0])
		} else {
			KORTESTW(m.ordered[0], m.ordered[0])
		}
		JCS(LabelRef(numbers))
	} else {
		VANDPS(m.signs[1], m.signs[0], m.signs[0])
		m.Reduce(m.signs[0], func(b, a, dst Op) { VANDPS(b, a, dst) })
		zero := m.Reg()
		m.zero(zero)
		VANDPS(m.constant(math.Copysign(0, -1)), m.signs[0], m.signs[0])
		m.choose(equal, zero, top, m.signs[0], top)
		some := GP32()
		VORPS(m.nan[1], m.nan[0], m.nan[0])
		VMOVMSKPS(m.nan[0], some)
		TESTL(some, some)
		JZ(LabelRef(numbers))
	}
	VMOVUPS(m.constant(math.NaN()), top)
	Label(numbers)
	m.vec.storeReturn(top)
}

// choose emits dst = x where a compares to b as pred says; dst stays elsewhere.
func (v vec) choose(pred uint8, b, a Op, x Op, dst reg.VecVirtual) {
	if v.Wide {
		k := K()
		Pick(v, VCMPPD, VCMPPS)(Imm(uint64(pred)), b, a, k)
		Pick(v, VMOVUPD, VMOVUPS)(x, k, dst)
		return
	}
	m := v.Reg()
	Pick(v, VCMPPD, VCMPPS)(Imm(uint64(pred)), b, a, m)
	if v.Double() {
		VBLENDVPD(m, x, dst, dst)
	} else {
		VBLENDVPS(m, x, dst, dst)
	}
}

func (v vec) zero(r reg.VecVirtual) {
	if v.Wide {
		VPXORQ(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

// broadcastParam returns a register with a scalar argument in all lanes.
func (v vec) broadcastParam(name string) reg.VecVirtual {
	r := v.Reg()
	p := ArgAddr(name)
	if v.widens() {
		VBROADCASTSS(p, r)
		if v.Wide {
			VCVTPS2PD(r.AsY(), r)
		} else {
			VCVTPS2PD(r.AsX(), r)
		}
		return r
	}
	v.BroadcastTo(p, r)
	return r
}

// storeReturn returns lane 0 of r. (avo's Store would take MOVSD, which does not
// reach the upper half of the registers.)
func (v vec) storeReturn(r reg.VecVirtual) {
	Pick(v, VMOVSD, VMOVSS)(r.AsX(), Result())
}

func (v vec) returnSum(r reg.VecVirtual) {
	v.Reduce(r, v.Add)
	v.storeReturn(r)
}

// --- Constants -------------------------------------------------------------

var negInf = math.Inf(-1)

// table holds the constants in use.
var table = Table{Name: "constants"}

func entry(bits uint64) Mem { return table.Entry(U64(bits)) }

// constant returns the constant x in all lanes, in memory.
func (v vec) constant(x float64) Mem { return table.Float(v.ISA, x) }

func emitConstants() {
	table.Emit()
	Ones("mask")
}

func emitExpTables() {
	GLOBL(exp64Table.Name, attr.RODATA|attr.NOPTR)
	for j, x := range append(exp64Hi[:8:8], exp64Lo[:]...) {
		DATA(8*j, U64(x))
	}
	GLOBL(exp64Words.Name, attr.RODATA|attr.NOPTR)
	for j := range 8 {
		DATA(4*j, U32(exp64Hi[j]))
	}
	for j := range 8 {
		DATA(32+4*j, U32(exp64Hi[j]>>32))
	}
	for j := range 8 {
		DATA(64+4*j, U32(exp64Lo[j]))
	}
}

// emitLaneBits emits the numbers 2^i of the lanes i of AVX2.
func emitLaneBits() {
	GLOBL("laneBits", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(4*i, U32(1<<i))
	}
	for i := range 4 {
		DATA(32+8*i, U64(1<<i))
	}
}
