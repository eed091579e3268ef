// Command allpairs generates the assembly of package simd over all pairs of
// points of a triangle, for AVX-512, unrolled for each number of coordinates.
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

// maxDim is the most coordinates that there is code for.
const maxDim = 8

func main() {
	ConstraintExpr("amd64,!noasm")
	const pairs = "dim, n, rows, from int, x *T, ld int, c *T, near *byte, ldn int, "
	function("pairMoments", "func("+pairs+"origin, sums *T)", loop.moments)
	function("addPairForces", "func("+pairs+"add, mul, dst, own *T)", loop.forces)
	emitConstants()
	Generate()
}

// function emits a function for each type, T in sig, which branches by dim.
func function(name, sig string, body func(loop)) {
	for _, v := range []vec{{8, "float64"}, {4, "float32"}} {
		TEXT(fmt.Sprint(name, 8*v.size), attr.NOSPLIT, strings.ReplaceAll(sig, "T", v.elem))
		Pragma("noescape")
		for dim := 1; dim <= maxDim; dim++ {
			if dim < maxDim {
				CMPQ(mustAddr("dim"), Imm(uint64(dim)))
				JNE(LabelRef(fmt.Sprint("not", dim)))
			}
			body(loop{v, dim})
			VZEROUPPER()
			RET()
			if dim < maxDim {
				Label(fmt.Sprint("not", dim))
			}
		}
	}
}

func mustAddr(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// A loop is one over the pairs of points of dim coordinates.
type loop struct {
	vec
	dim int
}

// label makes the name of a label one of this loop.
func (l loop) label(name string) string { return fmt.Sprint(name, "Of", l.dim) }

// rows are pointers that move along the rows of a matrix, which share ld.
type rows struct {
	ld [4]reg.Register // 1, 3, 5 and 7 times the distance of two rows
}

func (l loop) rows() rows {
	ld := pointer("ld")
	SHLQ(Imm(uint64(l.shift())), ld)
	r := rows{}
	r.ld[0] = ld
	if l.dim > 3 {
		r.ld[1] = GP64()
		LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, r.ld[1].(reg.GPVirtual))
	}
	if l.dim > 5 {
		r.ld[2] = GP64()
		LEAQ(Mem{Base: ld, Index: ld, Scale: 4}, r.ld[2].(reg.GPVirtual))
	}
	if l.dim > 7 {
		r.ld[3] = GP64()
		LEAQ(Mem{Base: r.ld[1], Index: ld, Scale: 4}, r.ld[3].(reg.GPVirtual))
	}
	return r
}

// at returns where coordinate i is, for i < 8.
func (r rows) at(p reg.Register, i int) Mem {
	if i == 0 {
		return Mem{Base: p}
	}
	scale := uint8(1)
	for i%2 == 0 {
		i, scale = i/2, 2*scale
	}
	return Mem{Base: p, Index: r.ld[i/2], Scale: scale}
}

// A place is where the vectors at hand begin, of two rows.
type place struct {
	x, near, dst reg.GPVirtual // dst is nil if there is none
	ldn          reg.Register
	valid        []reg.Register // of each row the lanes that are pairs; nil: all
}

// eachTwo runs begin, then body for the vectors of pairs of two rows, some or one
// at a time, then end, for all rows. The first and the last vector are under a
// mask.
func (l loop) eachTwo(some int, withDst bool, begin func(), body func(at place, vectors int), end func()) {
	row, masked, many, one, single, tail, rowEnd, done := l.label("row"), l.label("masked"), l.label("many"), l.label("one"), l.label("single"), l.label("tail"), l.label("rowEnd"), l.label("done")
	at := place{x: GP64(), near: GP64(), ldn: pointer("ldn")}
	if withDst {
		at.dst = GP64()
	}
	valid := []reg.Register{K(), K()}
	left := GP64()
	lanes := l.lanes()

	Label(row)
	start, zero, bits := GP64(), GP64(), GP64()
	first := [2]reg.GPVirtual{GP64(), GP64()} // pair of each row
	MOVQ(mustAddr("from"), first[0])
	LEAQ(Mem{Base: first[0], Disp: 1}, first[1])
	XORQ(zero, zero)
	for _, f := range first {
		TESTQ(f, f)
		CMOVQLT(zero, f)
	}
	MOVQ(first[0], start)
	ANDQ(I32(-lanes), start)
	MOVQ(mustAddr("n"), left)
	SUBQ(start, left)
	JLE(LabelRef(done)) // later rows have no pairs either
	for q, f := range first {
		SUBQ(start, f)
		MOVQ(I32(-1), bits)
		SHLXQ(f, bits, bits)
		KMOVW(bits.As32(), valid[q])
	}
	MOVQ(mustAddr("x"), at.x)
	LEAQ(Mem{Base: at.x, Index: start, Scale: uint8(l.size)}, at.x)
	if withDst {
		MOVQ(mustAddr("dst"), at.dst)
		LEAQ(Mem{Base: at.dst, Index: start, Scale: uint8(l.size)}, at.dst)
	}
	SHRQ(Imm(3), start)
	MOVQ(mustAddr("near"), at.near)
	ADDQ(start, at.near)
	begin()
	CMPQ(left, Imm(uint64(lanes)))
	JGE(LabelRef(masked))
	Label(tail)
	mask, k := GP64(), K()
	MOVQ(I32(-1), mask)
	SHLXQ(left, mask, mask)
	NOTQ(mask)
	KMOVW(mask.As32(), k)
	for _, v := range valid {
		KANDW(k, v, v)
	}

	next := func(vectors int) {
		ADDQ(I32(vectors*lanes*l.size), at.x)
		ADDQ(I32(vectors*lanes/8), at.near)
		if withDst {
			ADDQ(I32(vectors*lanes*l.size), at.dst)
		}
		SUBQ(I32(vectors*lanes), left)
	}
	Label(masked)
	at.valid = valid
	body(at, 1)
	next(1)
	JLE(LabelRef(rowEnd))
	for _, v := range valid {
		KXNORW(v, v, v)
	}
	at.valid = nil
	if some > 1 {
		CMPQ(left, I32(some*lanes))
		JL(LabelRef(one))
		Label(many)
		body(at, some)
		next(some)
		CMPQ(left, I32(some*lanes))
		JGE(LabelRef(many))
	}
	Label(one)
	CMPQ(left, I32(lanes))
	JL(LabelRef(single))
	body(at, 1)
	next(1)
	JMP(LabelRef(one))
	Label(single)
	TESTQ(left, left)
	JG(LabelRef(tail))
	Label(rowEnd)
	end()
	LEAQ(Mem{Base: at.ldn, Index: at.ldn, Scale: 1}, start)
	ADDQ(start, mustAddr("near"))
	ADDQ(I32(2*l.dim*l.size), mustAddr("c"))
	ADDQ(Imm(2), mustAddr("from"))
	SUBQ(Imm(2), mustAddr("rows"))
	JNZ(LabelRef(row))
	Label(done)
}

// centers hold the coordinates of the points of two rows.
type centers struct {
	l    loop
	regs [2][]reg.VecVirtual // nil: they stay in memory
	p    reg.GPVirtual
}

func (l loop) centers(inRegisters bool) *centers {
	c := &centers{l: l, p: GP64()}
	if inRegisters {
		c.regs = [2][]reg.VecVirtual{l.regs(l.dim), l.regs(l.dim)}
	}
	return c
}

func (c *centers) at(q, i int) Mem { return Mem{Base: c.p, Disp: (q*c.l.dim + i) * c.l.size} }

func (c *centers) load() {
	MOVQ(mustAddr("c"), c.p)
	for q := range c.regs {
		for i, r := range c.regs[q] {
			c.l.broadcast(c.at(q, i), r)
		}
	}
}

// subtract emits d = x - coordinate i of row q.
func (c *centers) subtract(q, i int, x, d reg.VecVirtual) {
	if c.regs[q] != nil {
		c.l.pick(VSUBPD, VSUBPS, c.regs[q][i], x, d)
	} else {
		c.l.pick(VSUBPD_BCST, VSUBPS_BCST, c.at(q, i), x, d)
	}
}

// mask returns the lanes that are pairs of any row.
func (at place) mask() reg.Register {
	if at.valid == nil {
		return nil
	}
	return at.valid[0]
}

// squares returns the squared distances of each row in each vector, and leaves
// differences to body.
func (l loop) squares(at place, vectors int, r rows, c *centers, body func(q, u, i int, d reg.VecVirtual)) [2][]reg.VecVirtual {
	s := [2][]reg.VecVirtual{l.regs(vectors), l.regs(vectors)}
	for q := range s {
		for _, s := range s[q] {
			VPXORQ(s, s, s)
		}
	}
	for i := range l.dim {
		for u := range vectors {
			x := ZMM()
			l.load(r.at(at.x, i).Offset(64*u), at.mask(), x)
			for q := range s {
				d := ZMM()
				c.subtract(q, i, x, d)
				l.pick(VFMADD231PD, VFMADD231PS, d, d, s[q][u])
				body(q, u, i, d)
			}
		}
	}
	return s
}

// A series is what 1/√s and √s are made of, for s at least tiny: y = 1/√s to 14
// bits, t = s·y, e = 1 - t·y, and p so that
//
//	1/√s = y·(1 - e)^-½ = y + y·e·p,  p = 1/2 + 3e/8 + 5e²/16 + ...
//
// As e is below 2⁻¹³, p needs three terms, or two for float32.
type series struct{ y, t, e, p reg.VecVirtual }

func (l loop) series(s reg.VecVirtual) series {
	r := series{ZMM(), ZMM(), ZMM(), ZMM()}
	VMOVUPS(l.constant(l.tiny()), r.t)
	l.pick(VMAXPD, VMAXPS, s, r.t, s) // NaN if s is
	l.pick(VRSQRT14PD, VRSQRT14PS, s, r.y)
	l.pick(VMULPD, VMULPS, s, r.y, r.t)
	VMOVUPS(l.constant(1), r.e)
	l.pick(VFNMADD231PD, VFNMADD231PS, r.y, r.t, r.e)
	if l.size == 8 {
		VMOVUPS(l.constant(0.3125), r.p)
		VFMADD213PD(l.constant(0.375), r.e, r.p)
	} else {
		VMOVUPS(l.constant(0.375), r.p)
	}
	l.pick(VFMADD213PD, VFMADD213PS, l.constant(0.5), r.e, r.p)
	return r
}

// kinds returns the masks of the pairs of row q in vector u that are not near, and
// of those that are.
func (l loop) kinds(at place, q, u int) [2]reg.Register {
	far, near := K(), K()
	from := Mem{Base: at.near, Disp: u * l.lanes() / 8}
	if q > 0 {
		from.Index, from.Scale = at.ldn, 1
	}
	if l.size == 8 {
		KMOVB(from, near)
	} else {
		KMOVW(from, near)
	}
	if at.valid == nil {
		KNOTW(near, far)
	} else {
		KANDNW(at.valid[q], near, far)
		KANDW(at.valid[q], near, near)
	}
	return [2]reg.Register{far, near}
}

// pair returns what a parameter points at: an element for each kind.
func (l loop) pair(name string) [2]reg.VecVirtual {
	p, r := pointer(name), [2]reg.VecVirtual{ZMM(), ZMM()}
	for i := range r {
		l.broadcast(Mem{Base: p, Disp: i * l.size}, r[i])
	}
	return r
}

// moments adds the distances less their origin, and the squares of that.
func (l loop) moments() {
	r, c := l.rows(), l.centers(l.dim <= 6)
	origin, sums := l.pair("origin"), l.regs(4)
	for _, s := range sums {
		VPXORQ(s, s, s)
	}
	l.eachTwo(2, false, c.load, func(at place, vectors int) {
		squares := l.squares(at, vectors, r, c, func(_, _, _ int, _ reg.VecVirtual) {})
		for u := range vectors {
			for q := range squares {
				v := l.series(squares[q][u])
				l.pick(VMULPD, VMULPS, v.t, v.e, v.e)
				l.pick(VFMADD213PD, VFMADD213PS, v.t, v.e, v.p)
				for k, mask := range l.kinds(at, q, u) {
					e := ZMM()
					l.pick(VSUBPD, VSUBPS, origin[k], v.p, e)
					l.pick(VADDPD, VADDPS, e, sums[k], mask, sums[k])
					l.pick(VFMADD231PD, VFMADD231PS, e, e, mask, sums[2+k])
				}
			}
		}
	}, func() {})
	to := pointer("sums")
	for i, s := range sums {
		l.reduce(s)
		l.pick(VMOVSD, VMOVSS, s.AsX(), Mem{Base: to, Disp: i * l.size})
	}
}

// forces adds the differences times add + mul/d of their kind.
func (l loop) forces() {
	keep := l.dim <= 5 // the differences in registers; else they are made again
	r, c := l.rows(), l.centers(l.dim <= 3)
	add, mul := pointer("add"), l.pair("mul")
	own := [2][]reg.VecVirtual{l.regs(l.dim), l.regs(l.dim)}
	l.eachTwo(1, true, func() {
		c.load()
		for q := range own {
			for _, s := range own[q] {
				VPXORQ(s, s, s)
			}
		}
	}, func(at place, _ int) {
		var diffs [2][maxDim]reg.VecVirtual
		squares := l.squares(at, 1, r, c, func(q, _, i int, d reg.VecVirtual) { diffs[q][i] = d })
		var w [2]reg.VecVirtual
		for q := range w {
			v := l.series(squares[q][0])
			w[q] = v.p
			l.pick(VMULPD, VMULPS, v.y, v.e, v.e)
			switch {
			case at.valid == nil:
				l.pick(VFMADD213PD, VFMADD213PS, v.y, v.e, w[q])
			case l.size == 8:
				VFMADD213PD_Z(v.y, v.e, at.valid[q], w[q])
			default:
				VFMADD213PS_Z(v.y, v.e, at.valid[q], w[q])
			}
			for k, mask := range l.kinds(at, q, 0) {
				l.pick(VFMADD213PD_BCST, VFMADD213PS_BCST, Mem{Base: add, Disp: k * l.size}, mul[k], mask, w[q])
			}
		}
		for i := range l.dim {
			sum, m := ZMM(), r.at(at.dst, i)
			l.load(m, at.mask(), sum)
			var x reg.VecVirtual
			if !keep {
				x = ZMM()
				l.load(r.at(at.x, i), at.mask(), x)
			}
			for q := range w {
				d := diffs[q][i]
				if !keep {
					d = ZMM()
					c.subtract(q, i, x, d)
				}
				if at.valid == nil {
					l.pick(VFMADD231PD, VFMADD231PS, w[q], d, own[q][i])
					l.pick(VFMADD231PD, VFMADD231PS, w[q], d, sum)
				} else { // other lanes may hold infinities
					l.pick(VFMADD231PD, VFMADD231PS, w[q], d, at.valid[q], own[q][i])
					l.pick(VFMADD231PD, VFMADD231PS, w[q], d, at.valid[q], sum)
				}
			}
			if at.valid == nil {
				VMOVUPS(sum, m)
			} else {
				l.pick(VMOVUPD, VMOVUPS, sum, at.mask(), m)
			}
		}
	}, func() {
		to := pointer("own")
		for q := range own {
			for i, s := range own[q] {
				l.reduce(s)
				m := Mem{Base: to, Disp: (q*l.dim + i) * l.size}
				l.pick(VADDSD, VADDSS, m, s.AsX(), s.AsX())
				l.pick(VMOVSD, VMOVSS, s.AsX(), m)
			}
		}
		ADDQ(I32(2*l.dim*l.size), mustAddr("own"))
	})
}

// A vec emits instructions on vectors of 64 bytes.
type vec struct {
	size int // of an element
	elem string
}

func (v vec) lanes() int { return 64 / v.size }

func (v vec) shift() int {
	if v.size == 8 {
		return 3
	}
	return 2
}

// tiny is what squared distances count as if they are less: 1/√s is finite.
func (v vec) tiny() float64 {
	if v.size == 8 {
		return 0x1p-1020
	}
	return 0x1p-124
}

func (v vec) regs(n int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, n)
	for i := range r {
		r[i] = ZMM()
	}
	return r
}

func (v vec) pick(pd, ps func(...Op), ops ...Op) {
	if v.size == 8 {
		pd(ops...)
	} else {
		ps(ops...)
	}
}

func (v vec) broadcast(m Op, r reg.VecVirtual) { v.pick(VBROADCASTSD, VBROADCASTSS, m, r) }

// load loads what mask takes, all if it is nil, and 0 elsewhere.
func (v vec) load(m Mem, mask reg.Register, r reg.VecVirtual) {
	switch {
	case mask == nil:
		VMOVUPS(m, r)
	case v.size == 8:
		VMOVUPD_Z(m, mask, r)
	default:
		VMOVUPS_Z(m, mask, r)
	}
}

// reduce leaves the sum of all lanes in lane 0.
func (v vec) reduce(r reg.VecVirtual) {
	half := ZMM()
	add := func() { v.pick(VADDPD, VADDPS, half, r, r) }
	VEXTRACTF64X4(Imm(1), r, half.AsY())
	add()
	VEXTRACTF64X2(Imm(1), r.AsY(), half.AsX())
	add()
	VPERMILPD(Imm(1), r.AsX(), half.AsX())
	add()
	if v.size == 4 {
		VMOVSHDUP(r.AsX(), half.AsX())
		add()
	}
}

// table holds the constants in use, each as often as fills 64 bytes.
var table []Constant

func (v vec) constant(x float64) Mem {
	var c Constant = U64(math.Float64bits(x))
	if v.size == 4 {
		c = U32(math.Float32bits(float32(x)))
	}
	for i, t := range table {
		if t == c {
			return NewDataAddr(NewStaticSymbol("pairConstants"), 64*i)
		}
	}
	table = append(table, c)
	return NewDataAddr(NewStaticSymbol("pairConstants"), 64*(len(table)-1))
}

func emitConstants() {
	GLOBL("pairConstants", attr.RODATA|attr.NOPTR)
	off := 0
	for _, c := range table {
		for range 64 / c.Bytes() {
			DATA(off, c)
			off += c.Bytes()
		}
	}
}
