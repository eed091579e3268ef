package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A vec emits vector instructions for one tier and type of elements. Operands
// are in Go's order: sources from last to first, then the destination.
type vec struct {
	wide  bool // AVX-512, else AVX2
	size  int  // bytes of an element in memory
	widen bool // registers hold float64 though memory holds float32
}

// function emits name64 and name32. In sig, T stands for the type of elements.
func function(name, sig string, body func(vec)) {
	for _, e := range []struct {
		size int
		typ  string
	}{{8, "float64"}, {4, "float32"}} {
		TEXT(fmt.Sprint(name, 8*e.size), attr.NOSPLIT, strings.ReplaceAll(sig, "T", e.typ))
		Pragma("noescape")
		CMPQ(NewDataAddr(Symbol{Name: "·tier"}, 0), Imm(2)) // AVX512
		JNE(LabelRef("avx2"))
		if n, err := Param("n").Resolve(); err == nil {
			// What fits in a register of AVX2 is faster there, and a masked store
			// of AVX-512 would delay loads from what lies behind it.
			CMPQ(n.Addr, Imm(4))
			JLE(LabelRef("avx2"))
		}
		body(vec{wide: true, size: e.size})
		VZEROUPPER()
		RET()
		Label("avx2")
		body(vec{wide: false, size: e.size})
		VZEROUPPER()
		RET()
	}
}

// labels counts the labels given out, which makes them unique.
var labels int

func (v vec) label(name string) string {
	labels++
	return fmt.Sprint(name, labels)
}

func (v vec) reg() reg.VecVirtual {
	if v.wide {
		return ZMM()
	}
	return YMM()
}

func (v vec) regs(n int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, n)
	for i := range r {
		r[i] = v.reg()
	}
	return r
}

// double reports whether registers hold float64.
func (v vec) double() bool { return v.size == 8 || v.widen }

// lanes returns the number of elements in a register.
func (v vec) lanes() int {
	n := 4
	if v.wide {
		n = 8
	}
	if !v.double() {
		n *= 2
	}
	return n
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
	w := v.lanes()
	many, one, oneTest, tail, done := v.label("many"), v.label("one"), v.label("oneTest"), v.label("tail"), v.label("done")
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
	if v.wide {
		bits, mask := GP64(), K()
		MOVQ(I32(-1), bits)
		SHLXQ(n, bits, bits)
		NOTQ(bits)
		KMOVW(bits.As32(), mask)
		return mask
	}
	// The table is 32 bytes of ones, then 32 bytes of zeros.
	base := GP64()
	LEAQ(NewDataAddr(NewStaticSymbol("mask"), 32), base)
	NEGQ(n)
	from := Mem{Base: base, Index: n, Scale: uint8(v.size)}
	if v.widen {
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
	r := l.reg()
	switch m := l.at(p); {
	case l.widen && l.mask == nil:
		VCVTPS2PD(m, r)
	case l.widen && l.wide:
		VCVTPS2PD_Z(m, l.mask, r)
	case l.widen:
		VMASKMOVPS(m, l.mask, r.AsX())
		VCVTPS2PD(r.AsX(), r)
	case l.mask == nil:
		VMOVUPS(m, r)
	case l.wide && l.double():
		VMOVUPD_Z(m, l.mask, r)
	case l.wide:
		VMOVUPS_Z(m, l.mask, r)
	case l.double():
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
	case l.wide:
		k := K()
		KNOTW(l.mask, k)
		if l.double() {
			VBROADCASTSD(l.constant(fill), k, r)
		} else {
			VBROADCASTSS(l.constant(fill), k, r)
		}
	default:
		f := l.reg()
		VMOVUPS(l.constant(fill), f)
		VBLENDVPS(l.mask, r, f, r)
	}
	return r
}

// store writes r to p.
func (l step) store(r reg.VecVirtual, p reg.Register) {
	m := l.at(p)
	if l.widen {
		if l.wide {
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
	case l.wide && l.size == 8:
		VMOVUPD(r, l.mask, m)
	case l.wide:
		VMOVUPS(r, l.mask, m)
	case l.size == 8:
		VMASKMOVPD(r, l.mask, m)
	default:
		VMASKMOVPS(r, l.mask, m)
	}
}

// --- Arithmetic ------------------------------------------------------------

func (v vec) pick(pd, ps func(...Op), ops ...Op) {
	if v.double() {
		pd(ops...)
	} else {
		ps(ops...)
	}
}

func (v vec) add(b, a Op, dst reg.VecVirtual) { v.pick(VADDPD, VADDPS, b, a, dst) } // dst = a + b
func (v vec) sub(b, a Op, dst reg.VecVirtual) { v.pick(VSUBPD, VSUBPS, b, a, dst) } // dst = a - b
func (v vec) mul(b, a Op, dst reg.VecVirtual) { v.pick(VMULPD, VMULPS, b, a, dst) } // dst = a·b

// dst += a·b
func (v vec) fmadd231(b, a Op, dst reg.VecVirtual) { v.pick(VFMADD231PD, VFMADD231PS, b, a, dst) }

// dst -= a·b
func (v vec) fnmadd231(b, a Op, dst reg.VecVirtual) { v.pick(VFNMADD231PD, VFNMADD231PS, b, a, dst) }

// dst = dst·a + b
func (v vec) fmadd213(b, a Op, dst reg.VecVirtual) { v.pick(VFMADD213PD, VFMADD213PS, b, a, dst) }

// Arithmetic on float64 with a constant, which AVX-512 takes from memory as one element.

func (v vec) withConst(memory, broadcast func(...Op), c float64, ops ...Op) {
	if v.wide {
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
func (v vec) maximum(b, a Op, dst reg.VecVirtual) {
	t := v.reg()
	if v.wide {
		nan := K()
		v.rangeMax(b, a, t)
		v.pick(VCMPPD, VCMPPS, Imm(unordered), b, a, nan)
		v.pick(VADDPD, VADDPS, b, a, nan, t)
	} else {
		u, nan := v.reg(), v.reg()
		v.pick(VMAXPD, VMAXPS, b, a, t)
		v.pick(VMAXPD, VMAXPS, a, b, u)
		v.pick(VANDPD, VANDPS, t, u, t)
		v.add(b, a, nan)
		v.choose(unordered, b, a, nan, t)
	}
	VMOVAPS(t, dst)
}

// rangeMax emits dst = max(a, b) with +0 above -0, and a number instead of NaN,
// for AVX-512.
func (v vec) rangeMax(b, a Op, dst reg.VecVirtual) {
	const signedMax = 5
	v.pick(VRANGEPD, VRANGEPS, Imm(signedMax), b, a, dst)
}

// maxima are maxima so far. Those of AVX2 do not tell zeros apart: +0 is among
// the elements if the maximum is 0 and not all have the sign.
type maxima struct {
	vec
	acc, signs, nan []reg.VecVirtual
	ordered         []reg.Register
}

func (v vec) maxima(n int) maxima {
	m := maxima{vec: v, acc: v.regs(n)}
	for _, a := range m.acc {
		VMOVUPS(v.constant(negInf), a)
	}
	if v.wide {
		m.ordered = []reg.Register{K(), K()}
		for _, k := range m.ordered {
			KXNORW(k, k, k)
		}
		return m
	}
	m.signs, m.nan = v.regs(2), v.regs(2)
	for i := range m.nan {
		VMOVUPS(v.constant(negInf), m.signs[i])
		v.zero(m.nan[i])
	}
	return m
}

func (m maxima) add(u int, x reg.VecVirtual) {
	if m.wide {
		m.rangeMax(x, m.acc[u], m.acc[u])
		return
	}
	m.pick(VMAXPD, VMAXPS, m.acc[u], x, m.acc[u])
	VANDPS(x, m.signs[u%2], m.signs[u%2])
}

// compare takes note of whether x and y are NaN.
func (m maxima) compare(u int, x, y reg.VecVirtual) {
	if m.wide {
		k := m.ordered[u]
		m.pick(VCMPPD, VCMPPS, Imm(ordered), x, y, k, k)
		return
	}
	t := m.reg()
	m.pick(VCMPPD, VCMPPS, Imm(unordered), x, y, t)
	VORPS(t, m.nan[u], m.nan[u])
}

func (m maxima) storeReturn() {
	numbers := m.label("numbers")
	larger := m.rangeMax
	if !m.wide {
		larger = func(b, a Op, dst reg.VecVirtual) { m.pick(VMAXPD, VMAXPS, b, a, dst) }
	}
	top := m.acc[0]
	for _, a := range m.acc[1:] {
		larger(a, top, top)
	}
	m.reduce(top, larger)
	if m.wide {
		KANDW(m.ordered[0], m.ordered[1], m.ordered[0])
		if m.double() {
			KORTESTB(m.ordered[0], m.ordered[0])
		} else {
			KORTESTW(m.ordered[0], m.ordered[0])
		}
		JCS(LabelRef(numbers))
	} else {
		VANDPS(m.signs[1], m.signs[0], m.signs[0])
		m.reduce(m.signs[0], func(b, a Op, dst reg.VecVirtual) { VANDPS(b, a, dst) })
		zero := m.reg()
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
	if v.wide {
		k := K()
		v.pick(VCMPPD, VCMPPS, Imm(uint64(pred)), b, a, k)
		v.pick(VMOVUPD, VMOVUPS, x, k, dst)
		return
	}
	m := v.reg()
	v.pick(VCMPPD, VCMPPS, Imm(uint64(pred)), b, a, m)
	if v.double() {
		VBLENDVPD(m, x, dst, dst)
	} else {
		VBLENDVPS(m, x, dst, dst)
	}
}

func (v vec) zero(r reg.VecVirtual) {
	if v.wide {
		VPXORQ(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

func (v vec) broadcast(m Op, r reg.VecVirtual) {
	if v.double() {
		VBROADCASTSD(m, r)
	} else {
		VBROADCASTSS(m, r)
	}
}

// broadcastParam returns a register with a scalar argument in all lanes.
func (v vec) broadcastParam(name string) reg.VecVirtual {
	r := v.reg()
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	if v.widen {
		VBROADCASTSS(p.Addr, r)
		if v.wide {
			VCVTPS2PD(r.AsY(), r)
		} else {
			VCVTPS2PD(r.AsX(), r)
		}
		return r
	}
	v.broadcast(p.Addr, r)
	return r
}

// reduce leaves in lane 0 of r what op makes of all lanes.
func (v vec) reduce(r reg.VecVirtual, op func(b, a Op, dst reg.VecVirtual)) {
	half := v.reg()
	if v.wide {
		VEXTRACTF64X4(Imm(1), r, half.AsY())
		op(half, r, r)
		VEXTRACTF64X2(Imm(1), r.AsY(), half.AsX())
	} else {
		VEXTRACTF128(Imm(1), r, half.AsX())
	}
	op(half, r, r)
	VPERMILPD(Imm(1), r.AsX(), half.AsX())
	op(half, r, r)
	if !v.double() {
		VMOVSHDUP(r.AsX(), half.AsX())
		op(half, r, r)
	}
}

// storeReturn returns lane 0 of r. (avo's Store would take MOVSD, which does not
// reach the upper half of the registers.)
func (v vec) storeReturn(r reg.VecVirtual) {
	result, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	v.pick(VMOVSD, VMOVSS, r.AsX(), result.Addr)
}

func (v vec) returnSum(r reg.VecVirtual) {
	v.reduce(r, v.add)
	v.storeReturn(r)
}

// --- Constants -------------------------------------------------------------

var negInf = math.Inf(-1)

// table holds the constants in use, each as often as fills 64 bytes.
var table struct {
	offset map[any]int
	values []any
}

func entry(x any) Mem {
	off, ok := table.offset[x]
	if !ok {
		if table.offset == nil {
			table.offset = make(map[any]int)
		}
		off = 64 * len(table.values)
		table.offset[x] = off
		table.values = append(table.values, x)
	}
	return NewDataAddr(NewStaticSymbol("constants"), off)
}

// constant returns the constant x in all lanes, in memory.
func (v vec) constant(x float64) Mem {
	if v.double() {
		return entry(math.Float64bits(x))
	}
	return entry(math.Float32bits(float32(x)))
}

func emitConstants() {
	GLOBL("constants", attr.RODATA|attr.NOPTR)
	off := 0
	for _, x := range table.values {
		for range 8 {
			switch x := x.(type) {
			case uint64:
				DATA(off, U64(x))
			case uint32:
				DATA(off, U32(x))
				DATA(off+4, U32(x))
			}
			off += 8
		}
	}
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
	GLOBL("laneBits", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(4*i, U32(1<<i))
	}
	for i := range 4 {
		DATA(32+8*i, U64(1<<i))
	}
	GLOBL("mask", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		ones := uint64(math.MaxUint64)
		if i >= 4 {
			ones = 0
		}
		DATA(8*i, U64(ones))
	}
}
