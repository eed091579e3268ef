// Command rotate generates the assembly of the chains of plane rotations of
// package dense.
package main

import (
	"math"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files("rotate", func() {
		for _, size := range []int{8, 4} {
			functions(size, "rotate", false)
			if size == 8 {
				functions(size, "rotatePhases", true)
			}
		}
		table.Emit()
		Ones("rotateOnes")
	})
}

func functions(size int, name string, phases bool) {
	const doc = ", for n columns and a shape of chains, vectors and direction."
	both := func(name, args, does string, body func(vec)) {
		BothTiers(size, name, "func(r *Rotations[T], at, steps int, "+args+", n, shape int)", does+doc, func(g ISA) {
			at := g.Stride("at")
			MOVQ(at, ArgAddr("at"))
			body(vec{g})
		})
	}
	both(name, "x *T, ldx int", "is Forward or Back", func(v vec) {
		for _, back := range []bool{false, true} {
			v.shapes(v.mostVectors(false), back, func(chains, n int) { v.rotate(chains, n, back, phases) })
		}
	})
	both(name+"BackCross", "x *T, ldx int, y *T, ldy int, sums *T", "is BackCross", func(v vec) {
		v.shapes(v.mostVectors(true), false, func(chains, n int) { v.rotateCross(chains, n, phases) })
	})
	both(name+"Tangent", "x *T, ldx int, y *T, ldy int", "is Tangent or TangentBack", func(v vec) {
		for _, back := range []bool{false, true} {
			v.shapes(v.mostVectors(true), back, func(chains, n int) { v.rotateTangent(chains, n, back, phases) })
		}
	})
}

// The bits of the parameter shape.
const (
	severalChains  = 1 // RotateChains of them, else one
	severalVectors = 2 // of columns, else one
	backward       = 4
)

// mostVectors returns how many vectors of a row, or of a row of each of two
// matrices, leave registers for the rest.
func (v vec) mostVectors(two bool) int {
	switch {
	case v.Wide && two:
		return 2
	case v.Wide:
		return 4
	case two:
		return 1
	}
	return 2
}

// shapes emits body for each shape of the direction, and takes that which the
// parameter asks for.
func (v vec) shapes(most int, back bool, body func(chains, n int)) {
	for _, several := range []int{0, severalChains} {
		for _, n := range []int{1, most}[:min(2, most)] {
			shape, chains := several, 1
			if several != 0 {
				chains = 4
			}
			if n > 1 {
				shape |= severalVectors
			}
			if back {
				shape |= backward
			}
			next := Unique("next")
			CMPQ(Arg("shape"), Imm(uint64(shape)))
			JNE(LabelRef(next))
			body(chains, n)
			VZEROUPPER()
			RET()
			Label(next)
		}
	}
}

// A vec emits the chains for one tier and type of elements.
type vec struct{ ISA }

func (v vec) fnmadd213(b, a, dst Op)    { Pick(v, VFNMADD213PD, VFNMADD213PS)(b, a, dst) } // dst = b - a·dst
func (v vec) unpackLow(b, a, dst Op)    { Pick(v, VUNPCKLPD, VUNPCKLPS)(b, a, dst) }
func (v vec) unpackHigh(b, a, dst Op)   { Pick(v, VUNPCKHPD, VUNPCKHPS)(b, a, dst) }
func (v vec) loadScalar(m Mem, r Op)    { Pick(v, VMOVSD, VMOVSS)(m, r) }
func (v vec) storeScalar(r Op, m Mem)   { Pick(v, VMOVSD, VMOVSS)(r, m) }
func (v vec) addScalar(b, a Op, dst Op) { Pick(v, VADDSD, VADDSS)(b, a, dst) }

// A mask says which lanes of a row are columns.
type mask struct {
	k []Register // AVX-512: an opmask for each vector
	y Register   // AVX2: a vector of ones and zeros; nil for all lanes
}

// newMask makes the mask of cols elements in n vectors. Several vectors of AVX2
// are full.
func (v vec) newMask(n int) (m mask) {
	switch {
	case v.Wide:
		bits := GP64()
		MOVQ(I32(-1), bits)
		BZHIQ(Arg("n"), bits, bits)
		for i := range n {
			k := K()
			if i > 0 {
				SHRQ(U8(64/v.Size), bits)
			}
			KMOVW(bits.As32(), k)
			m.k = append(m.k, k)
		}
	case n == 1:
		cols := v.Stride("n")
		NEGQ(cols)
		base := GP64()
		LEAQ(NewDataAddr(NewStaticSymbol("rotateOnes"), 32), base)
		m.y = YMM()
		VMOVDQU(Mem{Base: base, Index: cols, Scale: 1}, m.y)
	}
	return m
}

func (v vec) load(p Mem, i int, m mask, r VecVirtual) {
	p.Disp += i * v.Width()
	switch {
	case v.Wide:
		Pick(v, VMOVUPD_Z, VMOVUPS_Z)(p, m.k[i], r)
	case m.y != nil:
		Pick(v, VMASKMOVPD, VMASKMOVPS)(p, m.y, r)
	default:
		VMOVUPS(p, r)
	}
}

func (v vec) store(r VecVirtual, p Mem, i int, m mask) {
	p.Disp += i * v.Width()
	switch {
	case v.Wide:
		Pick(v, VMOVUPD, VMOVUPS)(r, m.k[i], p)
	case m.y != nil:
		Pick(v, VMASKMOVPD, VMASKMOVPS)(r, m.y, p)
	default:
		VMOVUPS(r, p)
	}
}

// A row is n vectors of a row of a matrix.
type row []VecVirtual

func (v vec) loadRow(r row, p Mem, m mask) {
	for i := range r {
		v.load(p, i, m, r[i])
	}
}

func (v vec) storeRow(r row, p Mem, m mask) {
	for i := range r {
		v.store(r[i], p, i, m)
	}
}

// turn rotates a pair of rows: kept stays in registers and moving goes on to the
// next chain. With a row a above b, the way forward keeps b and takes the new a
// instead, as the next rotation of the chain is of a and the row above; on the
// way back it is a that was kept, and the new b is. The equations are those of
// each other but for the names:
//
//	forward          back
//	b' = s·a + c·b   a = s·b' + c·a'   moving <- s·moving + c·kept
//	a' = c·a - s·b   b = c·b' - s·a'   kept   <- c·moving - s·kept
func (v vec) turn(kept, moving row, c, s VecVirtual) {
	for i := range kept {
		t := v.Reg()
		v.Mul(moving[i], c, t)
		v.Mul(moving[i], s, moving[i])
		v.Fmadd231(kept[i], c, moving[i])
		v.fnmadd213(t, s, kept[i])
	}
}

// swap returns rows of complex numbers with real and imaginary parts exchanged.
func (v vec) swap(z row) row {
	w := row(v.Regs(len(z)))
	for i := range z {
		VPERMILPD(Imm(0x55), z[i], w[i])
	}
	return w
}

// phase multiplies complex numbers z by c + i·s, or by c - i·s on the way back,
// where w is swap(z), which it destroys.
func (v vec) phase(z, w row, c, s VecVirtual, back bool) {
	for i := range z {
		VMULPD(s, w[i], w[i])
		if back {
			VFMSUBADD132PD(c, w[i], z[i])
		} else {
			VFMADDSUB132PD(c, w[i], z[i])
		}
	}
}

// addImaginary adds i·d times z to y, or subtracts it on the way back.
func (v vec) addImaginary(y, z row, d VecVirtual, back bool) {
	w := v.swap(z)
	for i := range z {
		VMULPD(d, w[i], w[i])
		if back {
			VFMSUBADD132PD(v.constant(1), w[i], y[i])
		} else {
			VFMADDSUB132PD(v.constant(1), w[i], y[i])
		}
	}
}

// coefficients are where the sines and cosines of the chains are: those of
// chain q lie q strides behind those of the first.
type coefficients struct {
	c, s, stride, triple GPVirtual
	pc, ps               GPVirtual // those of phases, if there are any
	d, pd                GPVirtual // tangents of angles and phases, if they are loaded
	bases                []GPVirtual
}

func (v vec) coefficients(chains int, phases, tangents bool) (w coefficients) {
	load := func(name string) GPVirtual {
		r := Arg(name)
		ADDQ(ArgAddr("at"), r)
		w.bases = append(w.bases, r)
		return r
	}
	w.c, w.s = load("C"), load("S")
	if phases {
		w.pc, w.ps = load("PC"), load("PS")
	}
	if chains > 1 {
		w.stride = v.Stride("Ld")
		w.triple = GP64()
		LEAQ(Mem{Base: w.stride, Index: w.stride, Scale: 2}, w.triple)
	}
	if tangents {
		w.d = load("D")
		if phases {
			w.pd = load("PD")
		}
	}
	return w
}

func (w coefficients) at(base GPVirtual, q int) Mem {
	switch q {
	case 0:
		return Mem{Base: base}
	case 3:
		return Mem{Base: base, Index: w.triple, Scale: 1}
	}
	return Mem{Base: base, Index: w.stride, Scale: uint8(q)}
}

// skip moves on by a number of steps that is in a register, or by one if it is
// nil.
func (v vec) skip(w coefficients, steps Register, back bool) {
	for _, p := range w.bases {
		switch {
		case steps != nil:
			LEAQ(Mem{Base: p, Index: steps, Scale: uint8(v.Size), Disp: -v.Size}, p)
		case back:
			SUBQ(Imm(uint64(v.Size)), p)
		default:
			ADDQ(Imm(uint64(v.Size)), p)
		}
	}
}

// A strip is n vectors of each row of a matrix.
type strip struct {
	vec
	n      int
	mask   mask
	p, ld  GPVirtual // the next row above the chains, and how far rows are apart
	ahead  GPVirtual // from p to the row that is chains further down
	kept   []row     // one for each chain
	moving row
	chains int
	back   bool
}

// newStrip loads the rows that the chains keep at first: on the way forward
// those at the bottom, on the way back those at the top.
func (v vec) newStrip(name, ld string, chains, n int, m mask, steps GPVirtual, back bool) *strip {
	s := &strip{vec: v, n: n, mask: m, chains: chains, back: back}
	s.p, s.ld = Arg(name), v.Stride(ld)
	s.moving = v.Regs(n)
	if !back {
		// From row 0 to row steps.
		t := GP64()
		MOVQ(s.ld, t)
		IMULQ(steps, t)
		ADDQ(t, s.p)
	}
	at := GP64()
	MOVQ(s.p, at)
	for range chains {
		r := row(v.Regs(n))
		v.loadRow(r, Mem{Base: at}, m)
		s.kept = append(s.kept, r)
		ADDQ(s.ld, at)
	}
	s.ahead = GP64()
	MOVQ(s.ld, s.ahead)
	if chains == 4 {
		SHLQ(U8(2), s.ahead)
	}
	if !back {
		SUBQ(s.ld, s.p)
	}
	return s
}

func (s *strip) above() Mem { return Mem{Base: s.p} }
func (s *strip) below() Mem { return Mem{Base: s.p, Index: s.ahead, Scale: 1} }

// begin loads the row that moves through the chains in this step.
func (s *strip) begin() {
	if s.back {
		s.loadRow(s.moving, s.below(), s.mask)
	} else {
		s.loadRow(s.moving, s.above(), s.mask)
	}
}

// end stores it.
func (s *strip) end() {
	if s.back {
		s.storeRow(s.moving, s.above(), s.mask)
		ADDQ(s.ld, s.p)
	} else {
		s.storeRow(s.moving, s.below(), s.mask)
		SUBQ(s.ld, s.p)
	}
}

// finish stores the rows that the chains have kept.
func (s *strip) finish() {
	if !s.back {
		ADDQ(s.ld, s.p)
	}
	for _, r := range s.kept {
		s.storeRow(r, Mem{Base: s.p}, s.mask)
		ADDQ(s.ld, s.p)
	}
}

func (v vec) rotate(chains, n int, back, phases bool) {
	steps := Arg("steps")
	m := v.newMask(n)
	x := v.newStrip("x", "ldx", chains, n, m, steps, back)
	w := v.coefficients(chains, phases, false)
	if back {
		v.skip(w, steps, false)
	}
	c, s := v.Reg(), v.Reg()
	phase := func(q int) {
		v.BroadcastTo(w.at(w.pc, q), c)
		v.BroadcastTo(w.at(w.ps, q), s)
		v.phase(x.moving, v.swap(x.moving), c, s, back)
	}
	step := Unique("step")
	Label(step)
	x.begin()
	for i := range chains {
		q := i
		if back {
			q = chains - 1 - i
		}
		if phases && !back {
			phase(q)
		}
		v.BroadcastTo(w.at(w.c, q), c)
		v.BroadcastTo(w.at(w.s, q), s)
		v.turn(x.kept[q], x.moving, c, s)
		if phases && back {
			phase(q)
		}
	}
	x.end()
	v.skip(w, nil, back)
	DECQ(steps)
	JNZ(LabelRef(step))
	x.finish()
}

// rotateCross walks back two matrices, and adds up what the angles and phases
// have to do with their product.
func (v vec) rotateCross(chains, n int, phases bool) {
	steps := Arg("steps")
	m := v.newMask(n)
	x := v.newStrip("x", "ldx", chains, n, m, steps, true)
	g := v.newStrip("y", "ldy", chains, n, m, steps, true)
	w := v.coefficients(chains, phases, false)
	sums := Arg("sums")
	t := GP64()
	MOVQ(steps, t)
	ofStep := chains // sums
	if phases {
		ofStep *= 2
	}
	if ofStep > 1 {
		SHLQ(U8(bits.TrailingZeros(uint(ofStep))), t)
	}
	LEAQ(Mem{Base: sums, Index: t, Scale: uint8(v.Size), Disp: -ofStep * v.Size}, sums)
	v.skip(w, steps, false)
	step := Unique("step")
	Label(step)
	x.begin()
	g.begin()
	var terms []VecVirtual
	for q := chains - 1; q >= 0; q-- {
		a, b, ga, gb := x.kept[q], x.moving, g.kept[q], g.moving
		acc := v.Reg()
		v.Mul(gb[0], a[0], acc)
		for i := 1; i < n; i++ {
			v.Fmadd231(gb[i], a[i], acc)
		}
		for i := range n {
			v.Fnmadd231(ga[i], b[i], acc)
		}
		c, s := v.Reg(), v.Reg()
		v.BroadcastTo(w.at(w.c, q), c)
		v.BroadcastTo(w.at(w.s, q), s)
		v.turn(a, b, c, s)
		v.turn(ga, gb, c, s)
		if phases {
			// Of ⟨i·x, g⟩ even elements have the real part of x.
			swapped, ofPhase := v.swap(gb), v.Reg()
			v.Mul(swapped[0], b[0], ofPhase)
			for i := 1; i < n; i++ {
				v.Fmadd231(swapped[i], b[i], ofPhase)
			}
			v.BroadcastTo(w.at(w.pc, q), c)
			v.BroadcastTo(w.at(w.ps, q), s)
			v.phase(gb, swapped, c, s, true)
			v.phase(b, v.swap(b), c, s, true)
			v.addPair(ofPhase, acc, Mem{Base: sums, Disp: 2 * q * v.Size})
			continue
		}
		terms = append(terms, acc)
		if len(terms) == 2 && chains == 4 && q == 2 {
			// Sums of chains 2 and 3 alternate from here on.
			terms = []VecVirtual{v.zip(terms[1], terms[0])}
		}
	}
	x.end()
	g.end()
	switch {
	case phases:
	case chains == 4:
		v.addFour(v.zip(terms[2], terms[1]), terms[0], Mem{Base: sums})
	default:
		v.addOne(terms[0], Mem{Base: sums})
	}
	SUBQ(Imm(uint64(ofStep*v.Size)), sums)
	v.skip(w, nil, true)
	DECQ(steps)
	JNZ(LabelRef(step))
	x.finish()
	g.finish()
}

// rotateTangent takes two matrices forward or back, the second of which is the
// tangent of the first.
func (v vec) rotateTangent(chains, n int, back, phases bool) {
	steps := Arg("steps")
	m := v.newMask(n)
	x := v.newStrip("x", "ldx", chains, n, m, steps, back)
	y := v.newStrip("y", "ldy", chains, n, m, steps, back)
	w := v.coefficients(chains, phases, true)
	if back {
		v.skip(w, steps, false)
	}
	phase := func(q int) {
		c, s, d := v.Reg(), v.Reg(), v.Reg()
		v.BroadcastTo(w.at(w.pc, q), c)
		v.BroadcastTo(w.at(w.ps, q), s)
		v.BroadcastTo(w.at(w.pd, q), d)
		if back {
			v.addImaginary(y.moving, x.moving, d, true)
		}
		v.phase(x.moving, v.swap(x.moving), c, s, back)
		v.phase(y.moving, v.swap(y.moving), c, s, back)
		if !back {
			v.addImaginary(y.moving, x.moving, d, false)
		}
	}
	step := Unique("step")
	Label(step)
	x.begin()
	y.begin()
	for i := range chains {
		q := i
		if back {
			q = chains - 1 - i
		}
		if phases && !back {
			phase(q)
		}
		c, s, dtheta := v.Reg(), v.Reg(), v.Reg()
		v.BroadcastTo(w.at(w.c, q), c)
		v.BroadcastTo(w.at(w.s, q), s)
		v.BroadcastTo(w.at(w.d, q), dtheta)
		// The upper row of a pair is kept on the way back, and after a rotation on
		// the way forward.
		if back {
			for i := range n {
				v.Fmadd231(x.moving[i], dtheta, y.kept[q][i])
				v.Fnmadd231(x.kept[q][i], dtheta, y.moving[i])
			}
		}
		v.turn(x.kept[q], x.moving, c, s)
		v.turn(y.kept[q], y.moving, c, s)
		if !back {
			for i := range n {
				v.Fnmadd231(x.moving[i], dtheta, y.kept[q][i])
				v.Fmadd231(x.kept[q][i], dtheta, y.moving[i])
			}
		}
		if phases && back {
			phase(q)
		}
	}
	x.end()
	y.end()
	v.skip(w, nil, back)
	DECQ(steps)
	JNZ(LabelRef(step))
	x.finish()
	y.finish()
}

// zip returns a vector where sums of pairs of elements of a and of b alternate.
// It destroys a.
func (v vec) zip(a, b VecVirtual) VecVirtual {
	t := v.Reg()
	v.unpackLow(b, a, t)
	v.unpackHigh(b, a, a)
	v.Add(t, a, a)
	return a
}

// half adds the upper half of a vector of 32 bytes or more to the lower one, and
// returns the sum.
func (v vec) half(a VecVirtual, bytes int) VecVirtual {
	if bytes == 64 {
		t := YMM()
		VEXTRACTF64X4(Imm(1), a, t)
		v.Add(t, a.AsY(), t)
		return t
	}
	t := XMM()
	if v.Wide {
		VEXTRACTF64X2(Imm(1), a.AsY(), t) // has registers from 16 on, too
	} else {
		VEXTRACTF128(Imm(1), a.AsY(), t)
	}
	v.Add(t, a.AsX(), t)
	return t
}

// addFour adds to four elements of memory the sums over what zip made of the
// terms of two chains, and of the next two.
func (v vec) addFour(a, b VecVirtual, m Mem) {
	if v.Size == 4 {
		t := v.Reg()
		VUNPCKLPD(b, a, t)
		VUNPCKHPD(b, a, a)
		v.Add(t, a, a)
		if v.Wide {
			a = v.half(a, 64)
		}
		a = v.half(a, 32)
		v.Add(m, a.AsX(), a.AsX())
		VMOVUPS(a.AsX(), m)
		return
	}
	if v.Wide {
		a, b = v.half(a, 64), v.half(b, 64)
	}
	t := YMM()
	VPERM2F128(Imm(0x20), b.AsY(), a.AsY(), t)
	VPERM2F128(Imm(0x31), b.AsY(), a.AsY(), a.AsY())
	v.Add(t, a.AsY(), t)
	v.Add(m, t, t)
	VMOVUPS(t, m)
}

// addOne adds the sum over a to an element of memory.
func (v vec) addOne(a VecVirtual, m Mem) {
	if v.Wide {
		a = v.half(a, 64)
	}
	a = v.half(a, 32)
	t := XMM()
	VPERMILPD(Imm(1), a.AsX(), t)
	v.Add(t, a.AsX(), a.AsX())
	if v.Size == 4 {
		VMOVSHDUP(a.AsX(), t)
		v.addScalar(t, a.AsX(), a.AsX())
	}
	v.loadScalar(m, t)
	v.addScalar(t, a.AsX(), a.AsX())
	v.storeScalar(a.AsX(), m)
}

// addPair adds to two elements of memory the sum over a with odd elements
// negated, and the sum over b.
func (v vec) addPair(a, b VecVirtual, m Mem) {
	t := v.Reg()
	v.unpackLow(b, a, t)
	v.unpackHigh(b, a, a)
	VFMADDSUB132PD(v.constant(1), a, t) // t minus and plus a in turn
	if v.Wide {
		t = v.half(t, 64)
	}
	t = v.half(t, 32)
	v.Add(m, t.AsX(), t.AsX())
	VMOVUPS(t.AsX(), m)
}

// --- Constants -------------------------------------------------------------

// table holds the constants in use.
var table = Table{Name: "rotateConstants"}

// bits returns the float64 constant of the given bits in all lanes, in memory.
func (v vec) bits(x uint64) Mem { return table.Entry(U64(x)) }

func (v vec) constant(x float64) Mem { return v.bits(math.Float64bits(x)) }
