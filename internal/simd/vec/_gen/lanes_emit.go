package main

import (
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// A form is an instruction for both types, from registers and with one number in memory.
type form struct{ pd, ps, pdOne, psOne func(...Op) }

var forms = map[string]form{
	"add":     {VADDPD, VADDPS, VADDPD_BCST, VADDPS_BCST},
	"sub":     {VSUBPD, VSUBPS, VSUBPD_BCST, VSUBPS_BCST},
	"mul":     {VMULPD, VMULPS, VMULPD_BCST, VMULPS_BCST},
	"div":     {VDIVPD, VDIVPS, VDIVPD_BCST, VDIVPS_BCST},
	"min":     {VMINPD, VMINPS, VMINPD_BCST, VMINPS_BCST},
	"max":     {VMAXPD, VMAXPS, VMAXPD_BCST, VMAXPS_BCST},
	"and":     {VANDPD, VANDPS, VANDPD_BCST, VANDPS_BCST},
	"or":      {VORPD, VORPS, VORPD_BCST, VORPS_BCST},
	"xor":     {VXORPD, VXORPS, VXORPD_BCST, VXORPS_BCST},
	"iadd":    {VPADDQ, VPADDD, VPADDQ_BCST, VPADDD_BCST},
	"isub":    {VPSUBQ, VPSUBD, VPSUBQ_BCST, VPSUBD_BCST},
	"fma213":  {VFMADD213PD, VFMADD213PS, VFMADD213PD_BCST, VFMADD213PS_BCST},
	"fma231":  {VFMADD231PD, VFMADD231PS, VFMADD231PD_BCST, VFMADD231PS_BCST},
	"fnma213": {VFNMADD213PD, VFNMADD213PS, VFNMADD213PD_BCST, VFNMADD213PS_BCST},
	"fnma231": {VFNMADD231PD, VFNMADD231PS, VFNMADD231PD_BCST, VFNMADD231PS_BCST},
	"fms213":  {VFMSUB213PD, VFMSUB213PS, VFMSUB213PD_BCST, VFMSUB213PS_BCST},
	"fms231":  {VFMSUB231PD, VFMSUB231PS, VFMSUB231PD_BCST, VFMSUB231PS_BCST},
	"shl":     {VPSLLQ, VPSLLD, nil, nil},
	"shr":     {VPSRLQ, VPSRLD, nil, nil},
	"sar":     {nil, VPSRAD, nil, nil},
	"scalef":  {VSCALEFPD, VSCALEFPS, nil, nil},
	"getexp":  {VGETEXPPD, VGETEXPPS, nil, nil},
	"getmant": {VGETMANTPD, VGETMANTPS, nil, nil},
	"fixup":   {VFIXUPIMMPD, VFIXUPIMMPS, nil, nil},
}

// An emitter emits the steps of a core for several vectors.
type emitter struct {
	vec
	*core
	left []int  // how often each value is still to be read
	regs [][]Op // of each value and vector
	load func(u, input int) VecVirtual
	held held
}

// held are registers with constants and, on AVX-512, tables, by where these are in memory.
type held map[Mem]VecVirtual

// reads returns how often each value is read for out.
func (p *core) reads(out []val) []int {
	n := make([]int, len(p.steps))
	for _, o := range out {
		n[o]++
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
		if n[i] > 0 {
			for _, a := range p.steps[i].args {
				n[a]++
			}
		}
	}
	return n
}

// live returns the largest number of values, but for constants, that are still to be read at a time.
func (p *core) live(out []val) int {
	left, now, most := p.reads(out), 0, 0
	for i, s := range p.steps {
		if left[i] == 0 || s.op == "const" {
			continue
		}
		for _, a := range s.args {
			if left[a]--; left[a] == 0 && p.steps[a].op != "const" {
				now--
			}
		}
		now++
		most = max(most, now)
	}
	return most
}

// hold loads up to n constants and tables that the steps of out read into registers, those that are read most.
func (v vec) hold(p *core, out []val, n int) held {
	left, h := p.reads(out), held{}
	count := map[Mem]int{}
	var order []Mem
	use := func(m Mem, times int) {
		if count[m] == 0 {
			order = append(order, m)
		}
		count[m] += times
	}
	e := &emitter{vec: v, core: p}
	for i, s := range p.steps {
		switch {
		case left[i] == 0:
		case s.op == "const":
			use(e.at(s.bits), left[i])
		case s.op == "look" && v.Wide:
			use(e.table(s.rows), 1)
		}
	}
	slices.SortStableFunc(order, func(a, b Mem) int { return count[b] - count[a] })
	for _, m := range order[:max(0, min(n, len(order)))] {
		h[m] = v.CopyOf(m)
	}
	return h
}

// emit emits the steps that out needs for n vectors, and returns the vectors of out.
func (v vec) emit(p *core, n int, load func(u, input int) VecVirtual, h held, out []val) [][]VecVirtual {
	e := emitter{v, p, p.reads(out), make([][]Op, len(p.steps)), load, h}
	for i, s := range p.steps {
		if e.left[i] == 0 || s.op == "const" {
			continue
		}
		e.regs[i] = make([]Op, n)
		for _, a := range s.args {
			e.left[a]--
		}
		for u := range n {
			e.regs[i][u] = e.one(s, u)
		}
	}
	r := make([][]VecVirtual, len(out))
	for i, o := range out {
		for u := range n {
			r[i] = append(r[i], e.reg(o, u))
		}
	}
	return r
}

func (e *emitter) isConst(v val) bool { return e.steps[v].op == "const" }

// at returns where a constant lies, in all lanes.
func (e *emitter) at(bits uint64) Mem {
	if e.Double() {
		return Bits(bits)
	}
	return Entry(U32(bits))
}

// constant returns where a constant is.
func (e *emitter) constant(v val) Op {
	return e.held.of(e.at(e.steps[v].bits))
}

// of returns where a constant or table is: a register, or m.
func (h held) of(m Mem) Op {
	if r, ok := h[m]; ok {
		return r
	}
	return m
}

func isRegister(o Op) bool { _, ok := o.(VecVirtual); return ok }

// reg returns a register with a value, which must stay unless the value is free.
func (e *emitter) reg(v val, u int) VecVirtual {
	if e.isConst(v) {
		if r, ok := e.constant(v).(VecVirtual); ok {
			return r
		}
		return e.Broadcast(e.constant(v).(Mem))
	}
	return e.regs[v][u].(VecVirtual)
}

// free reports whether v is in a register that no later step reads.
func (e *emitter) free(v val) bool { return !e.isConst(v) && e.left[v] == 0 }

// do emits the instruction name with last, which may be a constant in memory, and then others.
func (e *emitter) do(name string, last val, u int, others ...Op) {
	f := forms[name]
	if !e.isConst(last) {
		Pick(e.vec, f.pd, f.ps)(append([]Op{e.reg(last, u)}, others...)...)
		return
	}
	c, run := e.constant(last), Pick(e.vec, f.pd, f.ps)
	if e.Wide && !isRegister(c) {
		run = Pick(e.vec, f.pdOne, f.psOne)
	}
	run(append([]Op{c}, others...)...)
}

// one emits a step for vector u and returns its result.
func (e *emitter) one(s step, u int) Op {
	r := e.Reg()
	arg := func(i int) VecVirtual { return e.reg(s.args[i], u) }
	switch s.op {
	case "in":
		return e.load(u, int(s.bits))
	case "add", "mul", "and", "or", "xor", "iadd":
		a, b := s.args[0], s.args[1]
		if e.isConst(a) {
			a, b = b, a
		}
		e.do(s.op, b, u, e.reg(a, u), r)
	case "sub", "div", "min", "max", "isub":
		e.do(s.op, s.args[1], u, arg(0), r)
	case "fma", "fnma", "fms":
		return e.multiplyAdd(s, u)
	case "shl", "shr", "sar":
		Pick(e.vec, forms[s.op].pd, forms[s.op].ps)(U8(s.bits), arg(0), r)
	case "sqrt":
		Pick(e.vec, VSQRTPD, VSQRTPS)(arg(0), r)
	case "cvt":
		VCVTDQ2PS(arg(0), r)
	case "getexp":
		e.do(s.op, s.args[0], u, r)
	case "getmant":
		Pick(e.vec, VGETMANTPD, VGETMANTPS)(U8(s.bits), arg(0), r)
	case "fixup": // of y where x is special
		y := arg(1)
		if !e.free(s.args[1]) {
			y = e.CopyOf(y)
		}
		if e.Double() {
			VFIXUPIMMPD(Imm(0), Entry(U64(s.bits)), arg(0), y)
		} else {
			VFIXUPIMMPS(Imm(0), Entry(U32(s.bits)), arg(0), y)
		}
		return y
	case "scalef":
		e.do(s.op, s.args[1], u, arg(0), r)
	case "bound": // the one with the smaller magnitude, or with the larger one if bits is 1
		const leastMagnitude = 2
		c, run := e.constant(s.args[1]), Pick(e.vec, VRANGEPD_BCST, VRANGEPS_BCST)
		if isRegister(c) {
			run = Pick(e.vec, VRANGEPD, VRANGEPS)
		}
		run(U8(leastMagnitude+s.bits), c, arg(0), r)
	case "cmp":
		m := Register(r)
		if e.Wide {
			m = K()
		}
		var b Op = e.reg(s.args[1], u)
		Pick(e.vec, VCMPPD, VCMPPS)(Imm(s.bits), b, arg(0), m)
		return m
	case "round":
		const nearestEven = 0
		if e.Wide {
			Pick(e.vec, VRNDSCALEPD, VRNDSCALEPS)(Imm(nearestEven), arg(0), r)
		} else {
			Pick(e.vec, VROUNDPD, VROUNDPS)(Imm(nearestEven), arg(0), r)
		}
	case "negative": // whether the sign is set
		if e.Wide {
			m := K()
			Pick(e.vec, VPMOVQ2M, VPMOVD2M)(arg(0), m)
			return m
		}
		return e.CopyOf(arg(0))
	case "odd": // whether the lowest bit is set; on AVX2 in the sign
		if e.Wide {
			m := K()
			if e.Double() {
				VPTESTMQ_BCST(Bits(1), arg(0), m)
			} else {
				VPTESTMD_BCST(Entry(U32(1)), arg(0), m)
			}
			return m
		}
		Pick(e.vec, VPSLLQ, VPSLLD)(U8(8*e.size-1), arg(0), r)
	case "blend":
		m := e.regs[s.args[0]][u]
		if e.Wide {
			return e.merge(m, s.args[1], s.args[2], u)
		}
		Pick(e.vec, VBLENDVPD, VBLENDVPS)(m, arg(1), arg(2), r)
	case "look":
		e.look(s, arg(0), r)
	default:
		panic(s.op)
	}
	return r
}

// merge emits b with a where m holds. (VBLENDM would do, but avo takes its result for an operand, whose
// register would be in use from the function's beginning.)
func (e *emitter) merge(m Op, a, b val, u int) VecVirtual {
	r := e.reg(b, u)
	if e.isConst(b) && isRegister(e.constant(b)) || !e.isConst(b) && (!e.free(b) || a == b) {
		r = e.CopyOf(r)
	}
	if e.isConst(a) && !isRegister(e.constant(a)) {
		Pick(e.vec, VBROADCASTSD, VBROADCASTSS)(e.constant(a), m, r)
	} else {
		Pick(e.vec, VMOVUPD, VMOVUPS)(e.reg(a, u), m, r)
	}
	return r
}

// multiplyAdd emits ±a·b ± c in place of an operand that nothing reads later.
func (e *emitter) multiplyAdd(s step, u int) VecVirtual {
	a, b, c := s.args[0], s.args[1], s.args[2]
	if e.isConst(a) || !e.free(a) && e.free(b) {
		a, b = b, a
	}
	switch {
	case e.free(c) && c != a && c != b:
		r := e.reg(c, u)
		e.do(s.op+"231", b, u, e.reg(a, u), r)
		return r
	case e.free(a) && a != b && a != c && !e.isConst(b):
		r := e.reg(a, u)
		e.do(s.op+"213", c, u, e.reg(b, u), r)
		return r
	case e.isConst(c):
		r := e.own(b, u)
		e.do(s.op+"213", c, u, e.reg(a, u), r)
		return r
	}
	r := e.own(c, u)
	e.do(s.op+"231", b, u, e.reg(a, u), r)
	return r
}

// own returns a register with a value that may be overwritten.
func (e *emitter) own(v val, u int) VecVirtual {
	if e.isConst(v) && !isRegister(e.constant(v)) {
		return e.reg(v, u)
	}
	return e.CopyOf(e.reg(v, u))
}

// table returns where a table of eight lies.
func (e *emitter) table(rows []uint64) Mem {
	c := make([]Constant, 8)
	for j, x := range rows {
		if c[j] = U32(x); e.Double() {
			c[j] = U64(x)
		}
	}
	return Entry(c...)
}

// look emits a look-up in a table of eight.
func (e *emitter) look(s step, i, r VecVirtual) {
	if e.Wide || !e.Double() {
		look := Pick(e.vec, VPERMPD, VPERMPS)
		if !e.Wide {
			look = VPERMD
		}
		look(e.held.of(e.table(s.rows)), i, r)
		return
	}
	// By words, with the index in both of each element.
	low, high := make([]Constant, 16), make([]Constant, 16)
	for j, x := range s.rows {
		low[j], high[j] = U32(x&math.MaxUint32), U32(x>>32)
		low[j+8], high[j+8] = low[j], high[j]
	}
	both, l := e.Reg(), e.Reg()
	VMOVSLDUP(i, both)
	VPERMD(Entry(low...), both, l)
	VPERMD(Entry(high...), both, r)
	VPBLENDD(Imm(0xaa), r, l, r)
}
