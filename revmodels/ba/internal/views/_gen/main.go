// Command _gen writes the assembly of package views.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// The rows of a block, as package views has them.
const (
	stride    = 64 + 8
	rowShift  = 6
	rowF      = 9
	rowPoint  = 24
	rowTurn   = rowPoint + 3
	jacobian  = rowTurn + 3
	lensRows  = 12 // of the camera without a principal point
	snavely   = false
	weighted  = true
	spare     = jacobian + 16 // rows that the adjoint and the tangent do not use
	columnsOf = 4             // columns that gather and scatter move at a time

	prefetched = 64 // observations that observe asks for at a time
)

// A task is a views.Task.
type task int

const (
	residuals task = iota
	derivative
	adjoint
	tangent
)

func main() { Files(emit) }

func emit() {
	for _, m := range []struct {
		name     string
		weighted bool
	}{{"Snavely", snavely}, {"Weighted", weighted}} {
		for do, name := range []string{"Residuals", "Derivative", "Adjoint", "Tangent"} {
			Floats("reproject"+m.name+name, "func(v *T, o *Operands[T], n int, sign T)", "is Reproject for n observations, at the block v.",
				func(g ISA) { reproject(vec{g}, m.weighted, task(do)) })
		}
		for do, name := range []string{"Residuals", "Derivative"} {
			Float64("observe"+m.name+name, "func(v *T, o *Operands[T], cameras, n int, sign T, past bool) bool",
				"is Observe for n observations, a multiple of 8. J is aligned to 64 bytes if past is set.",
				func(g ISA) { observe(vec{g}, m.weighted, task(do)) })
		}
	}
	Float64("addRows", "func(dst *T, ldd int, src *T, lds, cols int, index *int, n int)",
		"adds n rows of src with cols elements to the rows of dst that index says.", func(g ISA) { addRows(vec{g}) })
	Float64("gatherRows", "func(v, src *T, rows, lds, cols int, index *int, n int) bool",
		"copies cols elements from each of n rows of src, n a multiple of 8, to the columns of v, until an index is not below rows.", func(g ISA) { gatherRows(vec{g}) })
	Float64("within", "func(v *T, n int) int",
		"returns how many observations, of registers without one that is not within its limits, come first of n at least.", func(g ISA) { within(vec{g}) })
	Float64("scatterRows", "func(dst *T, ldd int, v *T, cols, n int)",
		"copies cols elements of n columns of v, n a multiple of 8, to the rows of dst.", func(g ISA) { scatterRows(vec{g}) })
	Float64("prefetchRows", "func(src *T, lds int, index *int, n int)",
		"asks for the lines that n rows of src begin in and those 16 bytes on, n a multiple of 8.", func(g ISA) { prefetchRows(vec{g}) })
}

// A vec emits vector instructions for one tier and type of elements.
type vec struct{ ISA }

// The operations return a new register. One operand may be in memory: either one of add
// and mul, only b of sub and div.

func (v vec) add(a, b Op) VecVirtual { return v.commute(VADDPD, VADDPS, a, b) }
func (v vec) mul(a, b Op) VecVirtual { return v.commute(VMULPD, VMULPS, a, b) }
func (v vec) sub(a, b Op) VecVirtual { return v.binary(VSUBPD, VSUBPS, a, b) }
func (v vec) div(a, b Op) VecVirtual { return v.binary(VDIVPD, VDIVPS, a, b) }

func (v vec) commute(pd, ps func(...Op), a, b Op) VecVirtual {
	if _, ok := a.(Mem); ok {
		a, b = b, a
	}
	return v.binary(pd, ps, a, b)
}

func (v vec) binary(pd, ps func(...Op), a, b Op) VecVirtual {
	if m, ok := a.(Mem); ok {
		a = v.load(m)
	}
	r := v.Reg()
	Pick(v, pd, ps)(b, a, r)
	return r
}

// load returns a register itself.
func (v vec) load(a Op) VecVirtual {
	m, ok := a.(Mem)
	if !ok {
		return a.(VecVirtual)
	}
	return v.CopyOf(m)
}

// sum returns a₀·b₀ + a₁·b₁ + a₂·b₂.
func (v vec) sum(a, b [3]Op) VecVirtual {
	return v.add(v.add(v.mul(a[0], b[0]), v.mul(a[1], b[1])), v.mul(a[2], b[2]))
}

// cross returns a·d - b·c.
func (v vec) cross(a, b, c, d Op) VecVirtual {
	t := v.mul(b, c)
	return v.sub(v.mul(a, d), t)
}

// negate returns -a.
func (v vec) negate(a Op) VecVirtual {
	r := v.Reg()
	VXORPS(v.Const(math.Copysign(0, -1)), a, r)
	return r
}

// merge returns elements of a and b by their numbers; the elements of b are numbered after
// the elements of a.
func (v vec) merge(a, b VecVirtual, order func(i int) int) VecVirtual {
	lanes := make([]Constant, 64/v.Size)
	for i := range lanes {
		lanes[i] = Pick[Constant](v, U64(order(i)), U32(order(i)))
	}
	r := v.CopyOf(Entry(lanes...))
	Pick(v, VPERMI2PD, VPERMI2PS)(b, a, r)
	return r
}

// halves exchanges the middle quarters of a register, which the shuffles of AVX2 leave in
// the other half.
func (v vec) halves(a VecVirtual) VecVirtual {
	r := v.Reg()
	VPERMPD(Imm(0xd8), a, r)
	return r
}

// pairs returns the first and the second elements of the pairs at m.
func (v vec) pairs(m Mem) (x, y VecVirtual) {
	a := v.load(m)
	b := m.Offset(v.Width())
	if v.Wide {
		c := v.load(b)
		return v.merge(a, c, func(i int) int { return 2 * i }), v.merge(a, c, func(i int) int { return 2*i + 1 })
	}
	x, y = v.Reg(), v.Reg()
	if v.Size == 8 {
		VUNPCKLPD(b, a, x)
		VUNPCKHPD(b, a, y)
	} else {
		VSHUFPS(Imm(0x88), b, a, x)
		VSHUFPS(Imm(0xdd), b, a, y)
	}
	return v.halves(x), v.halves(y)
}

// addPairs adds x and y to the first and the second elements of the pairs at m.
func (v vec) addPairs(m Mem, x, y VecVirtual) {
	var a, b VecVirtual
	if v.Wide {
		lanes := v.Width() / v.Size
		a = v.merge(x, y, func(i int) int { return i%2*lanes + i/2 })
		b = v.merge(x, y, func(i int) int { return i%2*lanes + i/2 + lanes/2 })
	} else {
		x, y = v.halves(x), v.halves(y)
		a, b = v.Reg(), v.Reg()
		Pick(v, VUNPCKLPD, VUNPCKLPS)(y, x, a)
		Pick(v, VUNPCKHPD, VUNPCKHPS)(y, x, b)
	}
	VMOVUPS(v.add(a, m), m)
	m = m.Offset(v.Width())
	VMOVUPS(v.add(b, m), m)
}

// A projector emits the work on as many observations as a register has
// elements. Values are reloaded from the block, because AVX2 has 16 registers. Rows in
// held stay in registers.
type projector struct {
	vec
	weighted bool
	row      func(row int) Mem // of the block
	held     map[int]Op        // rows that are in registers instead
	i        GPVirtual         // position of the observations in the operands, in bytes
	weight   Mem

	t                              [3]Op
	p                              [2]Op
	s, square, bend, slope, radial VecVirtual // as in genericReproject, but 2·(bend + slope) in place of bend
}

// operand returns where the observations have their first element of size.
func (v *projector) operand(name string, size int) Mem {
	return Mem{Base: Arg(name), Index: v.i, Scale: uint8(size)}
}

func (v *projector) at(row int) Op {
	if r, ok := v.held[row]; ok {
		return r
	}
	return v.row(row)
}

func (v *projector) store(a Op, row int) {
	if _, ok := v.held[row]; ok {
		v.held[row] = a
		return
	}
	if m, ok := a.(Mem); ok {
		a = v.load(m)
	}
	VMOVUPS(a, v.row(row))
}

// turn returns element k of the rotation, by rows.
func (v *projector) turn(k int) Op {
	if k >= 6 {
		return v.at(rowTurn + k - 6)
	}
	return v.at(k)
}

// leftElement returns element k of K, by rows.
func (v *projector) leftElement(k int) Op { return v.at(v.lens() + 5 + k) }

// lens returns the column of k1.
func (v *projector) lens() int {
	if v.weighted {
		return 9
	}
	return 7
}

// column returns the row of column k of residual c.
func (v *projector) column(c, k int) int {
	if v.weighted {
		return jacobian + 15*c + k
	}
	return jacobian + 12*c + k
}

// reproject goes along the columns of a block of views.Views.
func reproject(vec vec, weighted bool, do task) {
	v := &projector{vec: vec, weighted: weighted, i: GP64()}
	keep(weighted, do)
	block, n := Arg("v"), Arg("n")
	v.row = func(row int) Mem { return Mem{Base: block, Index: v.i, Scale: 1, Disp: row * stride * v.Size} }
	sign := v.Broadcast(ArgAddr("sign"))
	XORQ(v.i, v.i)
	v.ToBytes(n)
	loop := Unique("loop")
	Label(loop)
	v.project(do, sign)
	ADDQ(Imm(uint64(v.Width())), v.i)
	CMPQ(v.i, n)
	JL(LabelRef(loop))
}

// keep keeps the operands that each turn of a loop needs.
func keep(weighted bool, do task) {
	Keep("X", "R")
	if weighted {
		Keep("W", "Z")
	}
	if do >= adjoint {
		Keep("G")
	}
}

// project emits the residuals of the observations, and the task.
func (v *projector) project(do task, sign VecVirtual) {
	weighted := v.weighted
	if weighted {
		v.weight = v.operand("W", 1)
	}
	one := v.Const(1)

	// The third row of the rotation is the product of the others.
	{
		r1, r2 := v.load(v.at(1)), v.load(v.at(2))
		v.store(v.cross(r1, r2, v.turn(4), v.turn(5)), rowTurn)
		r0 := v.load(v.at(0))
		v.store(v.cross(r2, r0, v.turn(5), v.turn(3)), rowTurn+1)
		v.store(v.cross(r0, r1, v.turn(3), v.turn(4)), rowTurn+2)
	}
	var p3 [3]Op
	for k := range p3 {
		a := v.load(v.at(rowPoint + k))
		if weighted {
			a = v.sub(a, v.at(rowShift+k))
		}
		p3[k] = a
	}
	for k := range v.t {
		v.t[k] = v.sum([3]Op{v.turn(3 * k), v.turn(3*k + 1), v.turn(3*k + 2)}, p3)
	}
	y := v.t
	if !weighted {
		for k := range y {
			y[k] = v.add(v.t[k], v.at(rowShift+k))
		}
	}
	if do >= adjoint {
		for k := range v.t {
			v.store(v.t[k], spare+k)
			v.t[k] = v.at(spare + k)
		}
	}
	numerator := 1.0
	if !weighted {
		numerator = -1
	}
	v.s = v.div(v.Const(numerator), y[2])
	v.p = [2]Op{v.mul(y[0], v.s), v.mul(y[1], v.s)}
	v.square = v.add(v.mul(v.p[0], v.p[0]), v.mul(v.p[1], v.p[1]))
	v.bend = v.mul(v.square, v.at(rowF+2))
	v.slope = v.add(v.bend, v.at(rowF+1))
	v.radial = v.add(v.mul(v.slope, v.square), one)

	// The columns that are at hand go to the block before the residuals change.
	fx, fy := v.pairs(v.operand("X", 2))
	feature := [2]Op{fx, fy}
	var e [2]VecVirtual
	for c := range e {
		distorted := v.mul(v.radial, v.p[c])
		if do == derivative {
			if weighted {
				v.store(v.mul(distorted, v.weight), v.column(c, 6))
			} else {
				v.store(distorted, v.column(c, 6))
			}
		}
		e[c] = v.mul(distorted, v.at(rowF))
		if weighted {
			e[c] = v.add(e[c], v.at(lensRows+c))
		}
		e[c] = v.sub(e[c], feature[c])
		if weighted {
			switch do {
			case derivative:
				v.store(e[c], v.column(c, 14))
			case adjoint, tangent:
				v.store(e[c], spare+3+c)
			}
			e[c] = v.mul(e[c], v.weight)
		}
		e[c] = v.mul(e[c], sign)
	}
	v.addPairs(v.operand("R", 2), e[0], e[1])
	if weighted {
		square := v.load(v.weight)
		square = v.mul(square, square)
		zi := v.operand("Z", 1)
		VMOVUPS(v.add(v.mul(v.sub(one, square), sign), zi), zi)
	}
	if do != residuals {
		v.bend = v.add(v.bend, v.slope)
		v.bend = v.add(v.bend, v.bend)
	}
	switch do {
	case derivative:
		v.differentiate()
	case adjoint:
		x, y := v.pairs(v.operand("G", 2))
		v.adjoint([2]VecVirtual{x, y})
	case tangent:
		d := v.tangent()
		for c := range d {
			d[c] = v.mul(d[c], sign)
		}
		v.addPairs(v.operand("G", 2), d[0], d[1])
	}
}

// differentiate stores the Jacobian.
func (v *projector) differentiate() {
	p := v.p
	stretch := v.add(v.mul(v.bend, v.square), v.radial)
	g := v.load(v.at(rowF))
	if v.weighted {
		g = v.mul(g, v.weight)
	}
	h := v.mul(g, v.s)
	m := [2]VecVirtual{v.mul(v.bend, p[0]), v.mul(v.bend, p[1])}
	// d[c][k] is the derivative of residual c by y[k].
	corner := v.mul(h, v.mul(m[0], p[1]))
	d := [2][3]Op{{v.mul(h, v.add(v.mul(m[0], p[0]), v.radial)), corner}, {corner, v.mul(h, v.add(v.mul(m[1], p[1]), v.radial))}}
	if v.weighted {
		h = v.negate(h)
	}
	for c := range d {
		d[c][2] = v.mul(h, v.mul(stretch, p[c]))
	}
	if v.weighted {
		u := v.load(v.weight)
		zero := v.Zeros(1)[0]
		for c := range d {
			v.store(u, v.column(c, 7+c))
			v.store(zero, v.column(c, 8-c))
		}
	}
	for c := range d {
		far := v.mul(v.square, p[c])
		v.store(v.mul(g, far), v.column(c, v.lens()))
		v.store(v.mul(g, v.mul(v.square, far)), v.column(c, v.lens()+1))
	}
	for c := range d {
		v.storeBack(c, d[c])
	}
}

// storeBack stores the columns of residual c by the rotation, the shift and the
// point, given d by y.
func (v *projector) storeBack(c int, d [3]Op) {
	turned := v.crossProduct(v.t, d)
	for k := range 3 {
		v.store(v.sum([3]Op{v.leftElement(k), v.leftElement(3 + k), v.leftElement(6 + k)}, turned), v.column(c, k))
	}
	for k := range 3 {
		point := v.sum([3]Op{v.turn(k), v.turn(3 + k), v.turn(6 + k)}, d)
		if v.weighted {
			v.store(point, v.column(c, 11+k))
			v.store(v.negate(point), v.column(c, 3+k))
		} else {
			v.store(point, v.column(c, 9+k))
			v.store(d[k], v.column(c, 3+k))
		}
	}
}

// crossProduct returns a × b.
func (v *projector) crossProduct(a, b [3]Op) [3]Op {
	return [3]Op{v.cross(a[1], a[2], b[1], b[2]), v.cross(a[2], a[0], b[2], b[0]), v.cross(a[0], a[1], b[0], b[1])}
}

// adjoint stores the cotangents of the operands, given the cotangents g of the residuals.
func (v *projector) adjoint(g [2]VecVirtual) {
	p := v.p
	if v.weighted {
		v.store(v.add(v.mul(g[0], v.at(spare+3)), v.mul(g[1], v.at(spare+4))), v.column(0, 14))
		for c := range g {
			g[c] = v.mul(g[c], v.weight)
			v.store(g[c], v.column(0, 7+c))
		}
	}
	along := v.add(v.mul(p[0], g[0]), v.mul(p[1], g[1]))
	v.store(v.mul(v.radial, along), v.column(0, 6))
	far := v.mul(v.square, along)
	v.store(v.mul(far, v.at(rowF)), v.column(0, v.lens()))
	v.store(v.mul(v.mul(v.square, far), v.at(rowF)), v.column(0, v.lens()+1))
	h, bent := v.mul(v.s, v.at(rowF)), v.mul(v.bend, along)
	var d [3]Op
	for c := range p {
		d[c] = v.mul(h, v.add(v.mul(v.radial, g[c]), v.mul(bent, p[c])))
	}
	depth := v.add(v.mul(p[0], d[0]), v.mul(p[1], d[1]))
	if v.weighted {
		depth = v.negate(depth)
	}
	d[2] = depth
	v.storeBack(0, d)
}

// tangent returns the tangents of the residuals.
func (v *projector) tangent() (d [2]VecVirtual) {
	p := v.p
	in := func(k int) Op { return v.at(v.column(0, k)) }
	var omega, x, y [3]Op
	for k := range omega {
		v.store(v.sum([3]Op{v.leftElement(3 * k), v.leftElement(3*k + 1), v.leftElement(3*k + 2)}, [3]Op{v.load(in(0)), v.load(in(1)), v.load(in(2))}), spare+5+k)
		omega[k] = v.at(spare + 5 + k)
	}
	for k := range x {
		if v.weighted {
			x[k] = v.sub(in(11+k), in(3+k))
		} else {
			x[k] = v.load(in(9 + k))
		}
	}
	turned := func(k int) VecVirtual {
		a, b := (k+1)%3, (k+2)%3
		return v.cross(omega[a], omega[b], v.t[a], v.t[b])
	}
	for k := range y {
		a := v.add(v.sum([3]Op{v.turn(3 * k), v.turn(3*k + 1), v.turn(3*k + 2)}, x), turned(k))
		if !v.weighted {
			a = v.add(a, in(3+k))
		}
		y[k] = a
	}
	var dp [2]Op
	for c := range dp {
		by := v.sub
		if !v.weighted {
			by = v.add
		}
		dp[c] = v.mul(v.s, by(y[c], v.mul(p[c], y[2])))
	}
	along := v.add(v.mul(p[0], dp[0]), v.mul(p[1], dp[1]))
	radial := v.add(v.mul(v.bend, along), v.mul(v.square, v.add(v.mul(v.square, in(v.lens()+1)), in(v.lens()))))
	for c := range d {
		bent := v.mul(v.add(v.mul(radial, p[c]), v.mul(v.radial, dp[c])), v.at(rowF))
		d[c] = v.add(bent, v.mul(v.mul(v.radial, p[c]), in(6)))
		if v.weighted {
			d[c] = v.add(v.mul(v.add(d[c], in(7+c)), v.weight), v.mul(v.load(in(14)), v.at(spare+3+c)))
		}
	}
	return d
}

// within goes along the columns of a block. A difference that is negative is of a bound that does not hold.
func within(v vec) {
	block, n, i, result := Arg("v"), Arg("n"), GP64(), Result()
	row := func(row int) Op { return Mem{Base: block, Index: i, Scale: 1, Disp: row * stride * v.Size} }
	v.ToBytes(n)
	XORQ(i, i)
	loop, outside := Unique("loop"), Unique("outside")
	Label(loop)
	var x, y [3]Op
	for k := range x {
		x[k] = v.sub(row(rowPoint+k), row(9+k))
	}
	for k := range y {
		y[k] = v.add(v.sum([3]Op{row(3 * k), row(3*k + 1), row(3*k + 2)}, x), row(12+k))
	}
	square := v.mul(y[2], y[2])
	bad := v.sub(row(15), v.sum(x, x))
	VORPD(v.sub(square, row(16)), bad, bad)
	VORPD(v.sub(v.mul(square, row(17)), v.add(v.mul(y[0], y[0]), v.mul(y[1], y[1]))), bad, bad)
	if v.Wide {
		k := K()
		VPMOVQ2M(bad, k)
		KTESTB(k, k)
	} else {
		signs := GP32()
		VMOVMSKPD(bad, signs)
		TESTL(signs, signs)
	}
	JNZ(LabelRef(outside))
	ADDQ(Imm(uint64(v.Width())), i)
	CMPQ(i, n)
	JL(LabelRef(loop))
	Label(outside)
	SHRQ(Imm(3), i)
	MOVQ(i, result)
}

// addRows adds whole registers, and then halves for the rest of a row: stores
// with a mask would hold up the loads of the next row.
func addRows(v vec) {
	to, ldd, from, lds := Arg("dst"), Arg("ldd"), Arg("src"), Arg("lds")
	cols, index, n := Arg("cols"), Arg("index"), Arg("n")
	SHLQ(Imm(3), ldd)
	SHLQ(Imm(3), lds)
	lanes := v.Width() / 8
	whole := GP64() // bytes of whole registers
	MOVQ(cols, whole)
	ANDQ(I32(-lanes), whole)
	SHLQ(Imm(3), whole)
	row, column, last := Unique("row"), Unique("column"), Unique("last")
	Label(row)
	dst, k := GP64(), GP64()
	MOVQ(Mem{Base: index}, dst)
	IMULQ(ldd, dst)
	ADDQ(to, dst)
	XORQ(k, k)
	d, s := Mem{Base: dst, Index: k, Scale: 1}, Mem{Base: from, Index: k, Scale: 1}
	Label(column)
	CMPQ(k, whole)
	JE(LabelRef(last))
	VMOVUPD(v.add(v.load(d), s), d)
	ADDQ(Imm(uint64(v.Width())), k)
	JMP(LabelRef(column))
	Label(last)
	for part := lanes / 2; part > 0; part /= 2 {
		next := Unique("next")
		TESTQ(U32(uint32(part)), cols)
		JZ(LabelRef(next))
		if part == 1 {
			a := XMM()
			VMOVSD(d, a)
			VADDSD(s, a, a)
			VMOVSD(a, d)
		} else {
			a := VecVirtual(XMM())
			if part == 4 {
				a = YMM()
			}
			VMOVUPD(d, a)
			VADDPD(s, a, a)
			VMOVUPD(a, d)
			ADDQ(Imm(uint64(8*part)), k)
		}
		Label(next)
	}
	ADDQ(lds, from)
	ADDQ(Imm(8), index)
	DECQ(n)
	JNZ(LabelRef(row))
}

// gatherRows transposes tiles of 4 columns by as many rows as a register has
// elements.
func gatherRows(v vec) {
	to, src, rows, lds := Arg("v"), Arg("src"), Arg("rows"), v.Stride("lds")
	cols, index, n := Arg("cols"), Arg("index"), Arg("n")
	result := Result()
	MOVB(Imm(0), result)
	lanes := v.Width() / 8
	block, column, last := Unique("block"), Unique("column"), Unique("last")
	done, bad := Unique("done"), Unique("bad")
	Label(block)
	for i := range lanes {
		CMPQ(Mem{Base: index, Disp: 8 * i}, rows)
		JCC(LabelRef(bad))
	}
	from, dst, left := GP64(), GP64(), GP64()
	MOVQ(src, from)
	MOVQ(to, dst)
	MOVQ(cols, left)
	row := func(i int) Mem {
		at := GP64()
		MOVQ(Mem{Base: index, Disp: 8 * i}, at)
		IMULQ(lds, at)
		return Mem{Base: from, Index: at, Scale: 1}
	}
	SUBQ(Imm(columnsOf), left)
	JL(LabelRef(last))
	Label(column)
	v.tile(columnsOf, func(i int, dst VecVirtual) { v.loadFour(row(i), dst) },
		func(i int, dst VecVirtual) { VINSERTF64X4(Imm(1), row(i), dst, dst) },
		func(k int, a VecVirtual) { VMOVUPD(a, Mem{Base: dst, Disp: k * stride * 8}) })
	ADDQ(Imm(columnsOf*8), from)
	ADDQ(I32(columnsOf*stride*8), dst)
	SUBQ(Imm(columnsOf), left)
	JGE(LabelRef(column))
	Label(last)
	ADDQ(Imm(columnsOf), left)
	JZ(LabelRef(done))
	mask := v.firstColumns(left)
	stored := Unique("stored")
	v.tile(columnsOf, func(i int, dst VecVirtual) { v.loadPart(row(i), mask, dst) },
		func(i int, dst VecVirtual) { v.insertPart(row(i), mask, dst) },
		func(k int, a VecVirtual) {
			if k > 0 {
				CMPQ(left, Imm(uint64(k)))
				JE(LabelRef(stored))
			}
			VMOVUPD(a, Mem{Base: dst, Disp: k * stride * 8})
		})
	Label(stored)
	Label(done)
	ADDQ(Imm(uint64(8*lanes)), index)
	ADDQ(Imm(uint64(8*lanes)), to)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef(block))
	MOVB(Imm(1), result)
	Label(bad)
}

// loadFour loads four elements, to the low half of a wide dst. It writes all of dst,
// as the allocator of registers would keep dst from the beginning of the function
// on where only a half is written.
func (v vec) loadFour(m Mem, dst VecVirtual) {
	if v.Wide {
		VBROADCASTF64X4(m, dst)
	} else {
		VMOVUPD(m, dst)
	}
}

// loadPart loads the elements of the mask, fewer than four, like loadFour. Loads and stores of
// eight elements under a mask would cross lines of the cache more often.
func (v vec) loadPart(m Mem, mask *Mask, dst VecVirtual) {
	if v.Wide {
		VBROADCASTF64X4_Z(m, mask.K, dst)
	} else {
		v.LoadTo(m, mask, dst)
	}
}

// insertPart loads the elements of the mask to the high half.
func (v vec) insertPart(m Mem, mask *Mask, dst VecVirtual) {
	part := v.Reg()
	v.loadPart(m, mask, part)
	VINSERTF64X4(Imm(1), part.AsY(), dst, dst)
}

// tile transposes: load and insert fill the low and the high half of a register
// with four elements of row i, and store gets the elements of column k < cols. The high
// half of each register is two rows on, so that the last shuffle brings the rows
// in order.
func (v vec) tile(cols int, load, insert func(i int, dst VecVirtual), store func(k int, a VecVirtual)) {
	var a [4]VecVirtual
	for i := range a {
		a[i] = v.Reg()
		if !v.Wide {
			load(i, a[i])
			continue
		}
		first := []int{0, 1, 4, 5}[i]
		load(first, a[i])
		insert(first+2, a[i])
	}
	u := v.unpack(a)
	for k := range cols {
		low, high, dst := u[k%2], u[2+k%2], v.Reg()
		switch {
		case v.Wide:
			VSHUFF64X2(Imm([]uint64{0x88, 0xdd}[k/2]), high, low, dst)
		default:
			VPERM2F128(Imm([]uint64{0x20, 0x31}[k/2]), high, low, dst)
		}
		store(k, dst)
	}
}

// unpack returns the even and odd columns of the first two rows, then of the others.
func (v vec) unpack(a [4]VecVirtual) (u [4]VecVirtual) {
	for i := range u {
		u[i] = v.Reg()
		if i%2 == 0 {
			VUNPCKLPD(a[i+1], a[i], u[i])
		} else {
			VUNPCKHPD(a[i], a[i-1], u[i])
		}
	}
	return u
}

// scatterRows transposes tiles of 4 rows of the block.
func scatterRows(v vec) {
	to, ldd, from, cols, n := Arg("dst"), v.Stride("ldd"), Arg("v"), Arg("cols"), Arg("n")
	lanes := v.Width() / 8
	block := Unique("block")
	Label(block)
	dst := GP64()
	MOVQ(to, dst)
	v.scatterTile(dst, ldd, from, cols)
	step := GP64()
	IMUL3Q(Imm(uint64(lanes)), ldd, step)
	ADDQ(step, to)
	ADDQ(Imm(uint64(8*lanes)), from)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef(block))
}

// scatterTile transposes as many columns as a register has elements to rows from
// dst on, which it changes.
func (v vec) scatterTile(dst, ldd, from, cols GPVirtual) {
	column, last, done := Unique("column"), Unique("last"), Unique("done")
	src, left := GP64(), GP64()
	MOVQ(from, src)
	MOVQ(cols, left)
	rows := func(store func(a VecVirtual, m Mem)) {
		at := GP64()
		MOVQ(dst, at)
		v.rows(src, func(a VecVirtual, last bool) {
			store(a, Mem{Base: at})
			if !last {
				ADDQ(ldd, at)
			}
		})
	}
	SUBQ(Imm(columnsOf), left)
	JL(LabelRef(last))
	Label(column)
	rows(func(a VecVirtual, m Mem) { VMOVUPD(a.AsY(), m) })
	ADDQ(Imm(columnsOf*8), dst)
	ADDQ(I32(columnsOf*stride*8), src)
	SUBQ(Imm(columnsOf), left)
	JGE(LabelRef(column))
	Label(last)
	ADDQ(Imm(columnsOf), left)
	JZ(LabelRef(done))
	mask := v.firstColumns(left)
	rows(func(a VecVirtual, m Mem) {
		if v.Wide {
			VMOVUPD(a.AsY(), mask.K, m)
		} else {
			v.Store(a, m, mask)
		}
	})
	Label(done)
}

// rows loads 4 rows of a block and hands their columns to store one by one, in the
// low halves of registers. Rows below the wanted ones are loaded too.
func (v vec) rows(src GPVirtual, store func(a VecVirtual, last bool)) {
	var a [4]VecVirtual
	for k := range a {
		a[k] = v.load(Mem{Base: src, Disp: k * stride * 8})
	}
	u := v.unpack(a)
	if !v.Wide {
		for i := range 4 {
			r := v.Reg()
			VPERM2F128(Imm([]uint64{0x20, 0x31}[i/2]), u[2+i%2], u[i%2], r)
			store(r, i == 3)
		}
		return
	}
	// Each register has columns i and i+2 in its halves; they go out in order.
	for half := range 2 {
		order := []Constant{U64(0), U64(1), U64(8), U64(9), U64(2), U64(3), U64(10), U64(11)}
		if half == 1 {
			order = []Constant{U64(4), U64(5), U64(12), U64(13), U64(6), U64(7), U64(14), U64(15)}
		}
		var r [2]VecVirtual
		for i := range r {
			r[i] = v.CopyOf(u[i])
			VPERMT2PD(u[2+i], v.CopyOf(Entry(order...)), r[i])
		}
		for i := range 4 {
			a := r[i%2]
			if i >= 2 {
				high := v.Reg()
				VEXTRACTF64X4(Imm(1), a, high.AsY())
				a = high
			}
			store(a, half == 1 && i == 3)
		}
	}
}

// observe goes from one group of observations to the next without a block of many,
// so that little of one waits for memory while another is computed. A group has its
// columns in a block with rows of one register. Where there are 32 registers, the rows of
// the residuals stay in them.
func observe(vec vec, weighted bool, do task) {
	v := &projector{vec: vec, weighted: weighted, i: GP64()}
	keep(weighted, do)
	Keep("Cameras", "Points", "NumPoints", "PointStride", "Camera", "Point")
	block := Arg("v")
	v.row = func(row int) Mem { return Mem{Base: block, Disp: row * v.Width()} }
	cameraRows := lensRows
	if weighted {
		cameraRows += 2
	}
	if v.Wide {
		v.held = map[int]Op{rowPoint: nil, rowPoint + 1: nil, rowPoint + 2: nil, rowTurn: nil, rowTurn + 1: nil, rowTurn + 2: nil}
		for k := range cameraRows {
			v.held[k] = nil
		}
	}
	if do == derivative {
		cameraRows += 9
	}
	result := Result()
	MOVB(Imm(0), result)
	sign := v.Broadcast(ArgAddr("sign"))
	three := GP64()
	MOVQ(U32(3), three)
	coordinates := v.firstColumns(three)
	XORQ(v.i, v.i)
	some, group, bad := Unique("some"), Unique("group"), Unique("bad")
	end := Arg("n") // of the observations that are prefetched together, in bytes
	SHLQ(Imm(3), end)
	Label(some)
	if do == derivative {
		n := Arg("n")
		SHLQ(Imm(3), n)
		LEAQ(Mem{Base: v.i, Disp: 8 * prefetched}, end)
		CMPQ(end, n)
		CMOVQGT(n, end)
		v.prefetch(end)
	}
	Label(group)
	cameras := v.rowsOf("Camera", "Cameras", "cameras", bad)
	for k := 0; k < cameraRows; k += columnsOf {
		at := func(i int) Mem { return Mem{Base: cameras[i], Disp: 8 * k} }
		v.tile(min(columnsOf, cameraRows-k), func(i int, dst VecVirtual) { v.loadFour(at(i), dst) },
			func(i int, dst VecVirtual) { VINSERTF64X4(Imm(1), at(i), dst, dst) },
			func(c int, a VecVirtual) { v.store(a, k+c) })
	}
	points := v.rowsOf("Point", "Points", "NumPoints", bad)
	v.tile(3, func(i int, dst VecVirtual) { v.LoadTo(Mem{Base: points[i]}, coordinates, dst) },
		func(i int, dst VecVirtual) { v.insertPart(Mem{Base: points[i]}, coordinates, dst) },
		func(c int, a VecVirtual) { v.store(a, rowPoint+c) })
	v.project(do, sign)
	if do == derivative {
		if weighted {
			VMOVUPD(v.mul(v.load(v.weight), v.Const(-2)), v.operand("DZ", 1))
		}
		v.storeRows()
	}
	ADDQ(Imm(uint64(v.Width())), v.i)
	CMPQ(v.i, end)
	JL(LabelRef(group))
	if do == derivative {
		n := Arg("n")
		SHLQ(Imm(3), n)
		CMPQ(v.i, n)
		JL(LabelRef(some))
	}
	MOVB(Imm(1), result)
	Label(bad)
	if do == derivative {
		SFENCE()
	}
}

// prefetch asks for the operands of the observations up to end. The stores of a Jacobian
// keep the buffers between the caches busy, and single loads would wait for these.
func (v *projector) prefetch(end GPVirtual) {
	at := GP64()
	MOVQ(v.i, at)
	loop := Unique("ahead")
	Label(loop)
	line := func(name string, size, disp int) {
		PREFETCHT0(Mem{Base: Arg(name), Index: at, Scale: uint8(size), Disp: disp})
	}
	line("Camera", 1, 0)
	for disp := range 2 {
		line("X", 2, 64*disp)
		line("R", 2, 64*disp)
	}
	if v.weighted {
		line("W", 1, 0)
		line("Z", 1, 0)
		line("DZ", 1, 0)
	}
	index, points, ld := Arg("Point"), Arg("Points"), Arg("PointStride")
	for i := range 8 {
		row := GP64()
		MOVQ(Mem{Base: index, Index: at, Scale: 1, Disp: 8 * i}, row)
		IMULQ(ld, row)
		PREFETCHT0(Mem{Base: points, Index: row, Scale: 8})
		PREFETCHT0(Mem{Base: points, Index: row, Scale: 8, Disp: 16})
	}
	ADDQ(Imm(64), at)
	CMPQ(at, end)
	JL(LabelRef(loop))
}

// rowsOf returns the addresses of the rows of src that the indices of the
// observations say.
func (v *projector) rowsOf(index, src, rows, bad string) []GPVirtual {
	limit := ArgAddr(rows)
	from, base := v.operand(index, 1), Arg(src)
	at := make([]GPVirtual, v.Width()/8)
	for i := range at {
		at[i] = GP64()
		MOVQ(from.Offset(8*i), at[i])
		CMPQ(at[i], limit)
		JCC(LabelRef(bad))
		if src == "Cameras" {
			IMUL3Q(Imm(rowPoint), at[i], at[i])
		} else {
			IMULQ(ArgAddr("PointStride"), at[i])
		}
		LEAQ(Mem{Base: base, Index: at[i], Scale: 8}, at[i])
	}
	return at
}

// storeRows stores the columns of the Jacobian as rows; the rows of an observation follow
// each other. All are pairs of columns, which VUNPCK brings together for every
// other observation; four or two pairs then make a store, from the first half of
// the observations and in the same places from the second half.
func (v *projector) storeRows() {
	lanes := v.Width() / 8
	perStore, perRow := lanes/2, 12
	if v.weighted {
		perRow = 15
	}
	to := Arg("J")
	offset := GP64()
	IMUL3Q(Imm(uint64(2*perRow)), v.i, offset)
	ADDQ(offset, to)

	store := func(past bool) {
		pairs := map[[2]int]VecVirtual{}
		pair := func(odd, k int) VecVirtual {
			key := [2]int{odd, k}
			if _, ok := pairs[key]; !ok {
				a, b, u := v.load(v.at(v.column(0, 2*k))), v.at(v.column(0, 2*k+1)), v.Reg()
				if odd == 0 {
					VUNPCKLPD(b, a, u)
				} else {
					VUNPCKHPD(b, a, u)
				}
				pairs[key] = u
			}
			return pairs[key]
		}
		put := func(k int, a VecVirtual) {
			m := Mem{Base: to, Disp: k * v.Width()}
			if past {
				VMOVNTPD(a, m)
			} else {
				VMOVUPD(a, m)
			}
		}
		// Rows of even observations first: then few registers are in use at a time.
		odd := func(k int) bool {
			for i := range perStore {
				if (k*perStore+i)/perRow%2 == 1 {
					return true
				}
			}
			return false
		}
		for _, later := range []bool{false, true} {
			for k := range perRow {
				if odd(k) != later {
					continue
				}
				var u [4]VecVirtual
				var quarter [4]uint64 // where the pair of the first half is; the other is two on
				for i := range perStore {
					row := (k*perStore + i) / perRow
					u[i], quarter[i] = pair(row%2, (k*perStore+i)%perRow), uint64(row/2)
				}
				a, b := v.Reg(), v.Reg()
				if v.Wide {
					halves := func(i int) VecVirtual {
						r := v.Reg()
						p, q := quarter[i], quarter[i+1]
						VSHUFF64X2(Imm(p|(p+2)<<2|q<<4|(q+2)<<6), u[i+1], u[i], r)
						return r
					}
					low, high := halves(0), halves(2)
					VSHUFF64X2(Imm(0x88), high, low, a)
					VSHUFF64X2(Imm(0xdd), high, low, b)
				} else {
					VPERM2F128(Imm(0x20), u[1], u[0], a)
					VPERM2F128(Imm(0x31), u[1], u[0], b)
				}
				put(k, a)
				put(k+perRow, b)
			}
		}
	}
	past := ArgAddr("past")
	plain, done := Unique("plain"), Unique("done")
	CMPB(past, Imm(0))
	JEQ(LabelRef(plain))
	store(true)
	JMP(LabelRef(done))
	Label(plain)
	store(false)
	Label(done)
}

func prefetchRows(v vec) {
	src, lds, index, n := Arg("src"), v.Stride("lds"), Arg("index"), Arg("n")
	loop := Unique("loop")
	Label(loop)
	for i := range 8 {
		at := GP64()
		MOVQ(Mem{Base: index, Disp: 8 * i}, at)
		IMULQ(lds, at)
		PREFETCHT0(Mem{Base: src, Index: at, Scale: 1})
		PREFETCHT0(Mem{Base: src, Index: at, Scale: 1, Disp: 16})
	}
	ADDQ(Imm(64), index)
	SUBQ(Imm(8), n)
	JG(LabelRef(loop))
}

// firstColumns returns the mask of the first n < 4 elements.
func (v vec) firstColumns(n GPVirtual) *Mask {
	copied := GP64()
	MOVQ(n, copied)
	return v.HeldMask(copied)
}
