package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// rotations emits the chains of plane rotations.
func rotations(emit func(name, sig, doc string, body func(g ISA)) *Routine, name string, phases bool) {
	const doc = ", for n columns and a shape of chains, vectors and direction."
	both := func(name, args, does string, body func(vec)) {
		emit(name, "func(r *Rotations[T], at, steps int, "+args+", n, shape int)", does+doc, func(g ISA) {
			at := g.Stride("at")
			MOVQ(at, ArgAddr("at"))
			body(vec{g})
			Label("done")
		})
	}
	rotate := func(tangent bool) func(v vec) {
		return func(v vec) {
			for _, back := range []bool{false, true} {
				v.shapes(tangent, back, func(chains, n int) { v.rotate(chains, n, back, phases, tangent) })
			}
		}
	}
	both(name, "x *T, ldx int", "is Forward or Back", rotate(false))
	both(name+"BackCross", "x *T, ldx int, y *T, ldy int, sums *T", "is BackCross", func(v vec) {
		v.shapes(true, false, func(chains, n int) { v.rotateCross(chains, n, phases) })
	})
	both(name+"Tangent", "x *T, ldx int, y *T, ldy int", "is Tangent or TangentBack", rotate(true))
}

// The bits of the parameter shape.
const (
	severalChains  = 1 // RotateChains of them, else one
	severalVectors = 2 // of columns, else one
	backward       = 4
)

// shapes emits body for each shape of the direction, and takes the one that the parameter
// asks for. Several vectors of a row, or of a row of each of two matrices, are as many as
// leave registers for the rest.
func (v vec) shapes(two, back bool, body func(chains, n int)) {
	most := 2
	if v.Wide {
		most = 4
	}
	if two {
		most /= 2
	}
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
			JMP(LabelRef("done"))
			Label(next)
		}
	}
}

// A vec emits the chains for one tier and type of elements.
type vec struct{ ISA }

// newMasks makes the masks of the n columns in some vectors. Several vectors of AVX2
// are full.
func (v vec) newMasks(vectors int) []*Mask {
	m := make([]*Mask, vectors)
	switch {
	case v.Wide:
		bits := GP64()
		MOVQ(I32(-1), bits)
		BZHIQ(Arg("n"), bits, bits)
		for i := range m {
			if i > 0 {
				SHRQ(U8(64/v.Size), bits)
			}
			m[i] = &Mask{K: K()}
			KMOVW(bits.As32(), m[i].K)
		}
	case vectors == 1:
		m[0] = v.HeldMask(Arg("n"))
	}
	return m
}

// A row is some vectors of a row of a matrix.
type row []VecVirtual

func (v vec) loadRow(r row, p Mem, m []*Mask) {
	for i := range r {
		v.LoadTo(p.Offset(i*v.Width()), m[i], r[i])
	}
}

func (v vec) storeRow(r row, p Mem, m []*Mask) {
	for i := range r {
		v.Store(r[i], p.Offset(i*v.Width()), m[i])
	}
}

// turn rotates a pair of rows: kept stays in registers and moving goes on to the
// next chain. With a row a above b, the rotation forward keeps b and takes the new a
// instead, as the next rotation of the chain is of a and the row above; backward it is a
// that was kept, and the new b is. Both directions are the same two equations with kept and
// moving exchanged:
//
//	forward          backward
//	b' = s·a + c·b   a = s·b' + c·a'   moving <- s·moving + c·kept
//	a' = c·a - s·b   b = c·b' - s·a'   kept   <- c·moving - s·kept
func (v vec) turn(kept, moving row, c, s VecVirtual) {
	for i := range kept {
		t := v.Reg()
		v.Mul(moving[i], c, t)
		v.Mul(moving[i], s, moving[i])
		v.Fmadd231(kept[i], c, moving[i])
		Pick(v, VFNMADD213PD, VFNMADD213PS)(t, s, kept[i]) // kept = t - s·kept
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

// phase multiplies complex numbers z by c + i·s, or by c - i·s backward,
// where w is swap(z), which it destroys.
func (v vec) phase(z, w row, c, s VecVirtual, back bool) {
	for i := range z {
		VMULPD(s, w[i], w[i])
		alternate(back)(c, w[i], z[i])
	}
}

// addImaginary adds i·d times z to y, or subtracts it backward.
func (v vec) addImaginary(y, z row, d VecVirtual, back bool) {
	w := v.swap(z)
	for i := range z {
		VMULPD(d, w[i], w[i])
		alternate(back)(v.Const(1), w[i], y[i])
	}
}

// alternate returns the instruction dst = dst·a ∓ b, which subtracts b from even elements
// and adds it to odd ones, or the opposite backward.
func alternate(back bool) func(a, b, dst Op) {
	if back {
		return func(a, b, dst Op) { VFMSUBADD132PD(a, b, dst) }
	}
	return func(a, b, dst Op) { VFMADDSUB132PD(a, b, dst) }
}

// coefficients locates the sines and cosines; chain q starts q strides after chain 0.
type coefficients struct {
	c, s, stride, triple GPVirtual
	pc, ps               GPVirtual // of phases, if there are any
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
	masks  []*Mask
	p, ld  GPVirtual // the next row above the chains, and how far rows are apart
	ahead  GPVirtual // from p to the row that is chains further down
	kept   []row     // one for each chain
	moving row
	chains int
	back   bool
}

// newStrip loads the rows that the chains keep at first: forward those at the bottom,
// backward those at the top.
func (v vec) newStrip(name, ld string, chains int, m []*Mask, steps GPVirtual, back bool) *strip {
	s := &strip{vec: v, masks: m, chains: chains, back: back}
	s.p, s.ld = Arg(name), v.Stride(ld)
	s.moving = v.Regs(len(m))
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
		r := row(v.Regs(len(m)))
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
		s.loadRow(s.moving, s.below(), s.masks)
	} else {
		s.loadRow(s.moving, s.above(), s.masks)
	}
}

// end stores it.
func (s *strip) end() {
	if s.back {
		s.storeRow(s.moving, s.above(), s.masks)
		ADDQ(s.ld, s.p)
	} else {
		s.storeRow(s.moving, s.below(), s.masks)
		SUBQ(s.ld, s.p)
	}
}

// finish stores the rows that the chains have kept.
func (s *strip) finish() {
	if !s.back {
		ADDQ(s.ld, s.p)
	}
	for _, r := range s.kept {
		s.storeRow(r, Mem{Base: s.p}, s.masks)
		ADDQ(s.ld, s.p)
	}
}

// rotate takes a matrix forward or back, and its tangent y if tangent is set.
func (v vec) rotate(chains, n int, back, phases, tangent bool) {
	steps := Arg("steps")
	m := v.newMasks(n)
	x := v.newStrip("x", "ldx", chains, m, steps, back)
	strips := []*strip{x}
	if tangent {
		strips = append(strips, v.newStrip("y", "ldy", chains, m, steps, back))
	}
	y := strips[len(strips)-1]
	w := v.coefficients(chains, phases, tangent)
	if back {
		v.skip(w, steps, false)
	}
	c, s, d := v.Reg(), v.Reg(), v.Reg()
	load := func(cosines, sines, tangents GPVirtual, q int) {
		v.BroadcastTo(w.at(cosines, q), c)
		v.BroadcastTo(w.at(sines, q), s)
		if tangent {
			v.BroadcastTo(w.at(tangents, q), d)
		}
	}
	phase := func(q int) {
		load(w.pc, w.ps, w.pd, q)
		if tangent && back {
			v.addImaginary(y.moving, x.moving, d, true)
		}
		for _, z := range strips {
			v.phase(z.moving, v.swap(z.moving), c, s, back)
		}
		if tangent && !back {
			v.addImaginary(y.moving, x.moving, d, false)
		}
	}
	Times(steps, func() {
		for _, z := range strips {
			z.begin()
		}
		for i := range chains {
			q := i
			if back {
				q = chains - 1 - i
			}
			if phases && !back {
				phase(q)
			}
			load(w.c, w.s, w.d, q)
			// The upper row of a pair is kept backward, and forward after a rotation.
			if tangent && back {
				for i := range n {
					v.Fmadd231(x.moving[i], d, y.kept[q][i])
					v.Fnmadd231(x.kept[q][i], d, y.moving[i])
				}
			}
			for _, z := range strips {
				v.turn(z.kept[q], z.moving, c, s)
			}
			if tangent && !back {
				for i := range n {
					v.Fnmadd231(x.moving[i], d, y.kept[q][i])
					v.Fmadd231(x.kept[q][i], d, y.moving[i])
				}
			}
			if phases && back {
				phase(q)
			}
		}
		for _, z := range strips {
			z.end()
		}
		v.skip(w, nil, back)
	})
	for _, z := range strips {
		z.finish()
	}
}

// rotateCross rotates two matrices backward, and adds up the derivatives of their product
// by the angles and phases.
func (v vec) rotateCross(chains, n int, phases bool) {
	steps := Arg("steps")
	m := v.newMasks(n)
	x := v.newStrip("x", "ldx", chains, m, steps, true)
	g := v.newStrip("y", "ldy", chains, m, steps, true)
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
	Times(steps, func() {
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
			if terms = append(terms, acc); !phases && chains == 4 && q%2 == 0 {
				// Sums of two chains alternate from here on, in one register.
				n := len(terms) - 2
				terms = append(terms[:n], v.Neighbours(terms[n+1], terms[n]))
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
			}
		}
		x.end()
		g.end()
		switch {
		case phases:
		case chains == 4:
			t := v.SumFour(terms[1], terms[0])
			v.Add(Mem{Base: sums}, t, t)
			v.Mov(t, Mem{Base: sums})
		default:
			v.Reduce(terms[0], v.Add)
			v.AddOne(Mem{Base: sums}, terms[0].AsX(), terms[0].AsX())
			v.MovOne(terms[0].AsX(), Mem{Base: sums})
		}
		SUBQ(Imm(uint64(ofStep*v.Size)), sums)
		v.skip(w, nil, true)
	})
	x.finish()
	g.finish()
}

// addPair adds to two elements of memory the sum over a with odd elements
// negated, and the sum over b.
func (v vec) addPair(a, b VecVirtual, m Mem) {
	t := v.Reg()
	VUNPCKLPD(b, a, t)
	VUNPCKHPD(b, a, a)
	VFMADDSUB132PD(v.Const(1), a, t) // t minus and plus a in turn
	for t.Size() > 16 {
		t = v.Fold(t)
	}
	v.Add(m, t, t)
	v.Mov(t, m)
}
