// Command allpairs generates the assembly of package pairs over all pairs of
// points of a triangle, for AVX-512, unrolled for each number of coordinates.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// maxDim is the most coordinates that there is code for.
const maxDim = 8

func main() {
	Files("allpairs", func() {
		function("pairMoments", "func(a *AllPairs[T], q, rows, p, n int, origin, sums *T)", "stores the sums of Moments and then those of squares, for rows from q on and n columns from p on.", loop.moments)
		function("addPairForces", "func(a *AllPairs[T], q, rows, p, n int, add, mul, dst, own *T)", "is AddForces for rows from q on and n columns from p on. Those are where dst and own begin.", loop.forces)
		table.Emit()
	})
}

// function emits a function for both types, which branches by dim.
func function(name, sig, doc string, body func(loop)) {
	for _, size := range []int{8, 4} {
		g := ISA{Wide: true, Size: size}
		g.Text(name, sig, doc)
		start(g)
		for dim := 1; dim <= maxDim; dim++ {
			if dim < maxDim {
				CMPQ(ArgAddr("Dim"), Imm(uint64(dim)))
				JNE(LabelRef(fmt.Sprint("not", dim)))
			}
			body(loop{g, dim})
			VZEROUPPER()
			RET()
			if dim < maxDim {
				Label(fmt.Sprint("not", dim))
			}
		}
	}
}

// start sets X, C, Near and From to what they are from row q and column p on.
func start(g ISA) {
	Keep("Dim", "From", "X", "C", "Near")
	at := g.Stride("p")
	ADDQ(at, ArgAddr("X"))
	at = Arg("q")
	IMULQ(ArgAddr("Dim"), at)
	g.ToBytes(at)
	ADDQ(at, ArgAddr("C"))
	at = Arg("LdNear")
	IMULQ(ArgAddr("q"), at)
	ADDQ(at, ArgAddr("Near"))
	at = Arg("p")
	SHRQ(Imm(3), at)
	ADDQ(at, ArgAddr("Near"))
	at = Arg("q")
	SUBQ(ArgAddr("p"), at)
	ADDQ(at, ArgAddr("From"))
}

// A loop is one over the pairs of points of dim coordinates.
type loop struct {
	ISA
	dim int
}

// label makes the name of a label one of this loop.
func (l loop) label(name string) string { return fmt.Sprint(name, "Of", l.dim) }

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
	at := place{x: GP64(), near: GP64(), ldn: Arg("LdNear")}
	if withDst {
		at.dst = GP64()
	}
	valid := []reg.Register{K(), K()}
	left := GP64()
	lanes := l.Lanes()

	Label(row)
	start, zero, bits := GP64(), GP64(), GP64()
	first := [2]reg.GPVirtual{GP64(), GP64()} // pair of each row
	MOVQ(ArgAddr("From"), first[0])
	LEAQ(Mem{Base: first[0], Disp: 1}, first[1])
	XORQ(zero, zero)
	for _, f := range first {
		TESTQ(f, f)
		CMOVQLT(zero, f)
	}
	MOVQ(first[0], start)
	ANDQ(I32(-lanes), start)
	MOVQ(ArgAddr("n"), left)
	SUBQ(start, left)
	JLE(LabelRef(done)) // later rows have no pairs either
	for q, f := range first {
		SUBQ(start, f)
		MOVQ(I32(-1), bits)
		SHLXQ(f, bits, bits)
		KMOVW(bits.As32(), valid[q])
	}
	MOVQ(ArgAddr("X"), at.x)
	LEAQ(Mem{Base: at.x, Index: start, Scale: uint8(l.Size)}, at.x)
	if withDst {
		MOVQ(ArgAddr("dst"), at.dst)
		LEAQ(Mem{Base: at.dst, Index: start, Scale: uint8(l.Size)}, at.dst)
	}
	SHRQ(Imm(3), start)
	MOVQ(ArgAddr("Near"), at.near)
	ADDQ(start, at.near)
	begin()
	CMPQ(left, Imm(uint64(lanes)))
	JGE(LabelRef(masked))
	Label(tail)
	k := K()
	FirstLanes(left, k)
	for _, v := range valid {
		KANDW(k, v, v)
	}

	next := func(vectors int) {
		ADDQ(I32(vectors*lanes*l.Size), at.x)
		ADDQ(I32(vectors*lanes/8), at.near)
		if withDst {
			ADDQ(I32(vectors*lanes*l.Size), at.dst)
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
	ADDQ(start, ArgAddr("Near"))
	ADDQ(I32(2*l.dim*l.Size), ArgAddr("C"))
	ADDQ(Imm(2), ArgAddr("From"))
	SUBQ(Imm(2), ArgAddr("rows"))
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
		c.regs = [2][]reg.VecVirtual{l.Regs(l.dim), l.Regs(l.dim)}
	}
	return c
}

func (c *centers) at(q, i int) Mem { return Mem{Base: c.p, Disp: (q*c.l.dim + i) * c.l.Size} }

func (c *centers) load() {
	MOVQ(ArgAddr("C"), c.p)
	for q := range c.regs {
		for i, r := range c.regs[q] {
			c.l.BroadcastTo(c.at(q, i), r)
		}
	}
}

// subtract emits d = x - coordinate i of row q.
func (c *centers) subtract(q, i int, x, d reg.VecVirtual) {
	if c.regs[q] != nil {
		Pick(c.l, VSUBPD, VSUBPS)(c.regs[q][i], x, d)
	} else {
		Pick(c.l, VSUBPD_BCST, VSUBPS_BCST)(c.at(q, i), x, d)
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
func (l loop) squares(at place, vectors int, r Walk, c *centers, body func(q, u, i int, d reg.VecVirtual)) [2][]reg.VecVirtual {
	s := [2][]reg.VecVirtual{l.Regs(vectors), l.Regs(vectors)}
	for q := range s {
		for _, s := range s[q] {
			VPXORQ(s, s, s)
		}
	}
	for i := range l.dim {
		for u := range vectors {
			x := ZMM()
			l.load(r.Row(at.x, i).Offset(64*u), at.mask(), x)
			for q := range s {
				d := ZMM()
				c.subtract(q, i, x, d)
				l.Fmadd231(d, d, s[q][u])
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
	Pick(l, VMAXPD, VMAXPS)(s, r.t, s) // NaN if s is
	Pick(l, VRSQRT14PD, VRSQRT14PS)(s, r.y)
	l.Mul(s, r.y, r.t)
	VMOVUPS(l.constant(1), r.e)
	l.Fnmadd231(r.y, r.t, r.e)
	if l.Double() {
		VMOVUPS(l.constant(0.3125), r.p)
		VFMADD213PD(l.constant(0.375), r.e, r.p)
	} else {
		VMOVUPS(l.constant(0.375), r.p)
	}
	l.Fmadd213(l.constant(0.5), r.e, r.p)
	return r
}

// kinds returns the masks of the pairs of row q in vector u that are not near, and
// of those that are.
func (l loop) kinds(at place, q, u int) [2]reg.Register {
	far, near := K(), K()
	from := Mem{Base: at.near, Disp: u * l.Lanes() / 8}
	if q > 0 {
		from.Index, from.Scale = at.ldn, 1
	}
	if l.Double() {
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
	p := Arg(name)
	return [2]reg.VecVirtual{l.Broadcast(Mem{Base: p}), l.Broadcast(Mem{Base: p, Disp: l.Size})}
}

// moments adds the distances less their origin, and the squares of that.
func (l loop) moments() {
	r, c := NewWalk(l.Stride("Ld"), l.dim), l.centers(l.dim <= 6)
	origin, sums := l.pair("origin"), l.Regs(4)
	for _, s := range sums {
		VPXORQ(s, s, s)
	}
	l.eachTwo(2, false, c.load, func(at place, vectors int) {
		squares := l.squares(at, vectors, r, c, func(_, _, _ int, _ reg.VecVirtual) {})
		for u := range vectors {
			for q := range squares {
				v := l.series(squares[q][u])
				l.Mul(v.t, v.e, v.e)
				l.Fmadd213(v.t, v.e, v.p)
				for k, mask := range l.kinds(at, q, u) {
					e := ZMM()
					l.Sub(origin[k], v.p, e)
					Pick(l, VADDPD, VADDPS)(e, sums[k], mask, sums[k])
					Pick(l, VFMADD231PD, VFMADD231PS)(e, e, mask, sums[2+k])
				}
			}
		}
	}, func() {})
	to := Arg("sums")
	for i, s := range sums {
		l.Reduce(s, l.Add)
		Pick(l, VMOVSD, VMOVSS)(s.AsX(), Mem{Base: to, Disp: i * l.Size})
	}
}

// forces adds the differences times add + mul/d of their kind.
func (l loop) forces() {
	keep := l.dim <= 5 // the differences in registers; else they are made again
	r, c := NewWalk(l.Stride("Ld"), l.dim), l.centers(l.dim <= 3)
	add, mul := Arg("add"), l.pair("mul")
	own := [2][]reg.VecVirtual{l.Regs(l.dim), l.Regs(l.dim)}
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
			l.Mul(v.y, v.e, v.e)
			switch {
			case at.valid == nil:
				l.Fmadd213(v.y, v.e, w[q])
			case l.Double():
				VFMADD213PD_Z(v.y, v.e, at.valid[q], w[q])
			default:
				VFMADD213PS_Z(v.y, v.e, at.valid[q], w[q])
			}
			for k, mask := range l.kinds(at, q, 0) {
				Pick(l, VFMADD213PD_BCST, VFMADD213PS_BCST)(Mem{Base: add, Disp: k * l.Size}, mul[k], mask, w[q])
			}
		}
		for i := range l.dim {
			sum, m := ZMM(), r.Row(at.dst, i)
			l.load(m, at.mask(), sum)
			var x reg.VecVirtual
			if !keep {
				x = ZMM()
				l.load(r.Row(at.x, i), at.mask(), x)
			}
			for q := range w {
				d := diffs[q][i]
				if !keep {
					d = ZMM()
					c.subtract(q, i, x, d)
				}
				if at.valid == nil {
					l.Fmadd231(w[q], d, own[q][i])
					l.Fmadd231(w[q], d, sum)
				} else { // other lanes may hold infinities
					Pick(l, VFMADD231PD, VFMADD231PS)(w[q], d, at.valid[q], own[q][i])
					Pick(l, VFMADD231PD, VFMADD231PS)(w[q], d, at.valid[q], sum)
				}
			}
			if at.valid == nil {
				VMOVUPS(sum, m)
			} else {
				Pick(l, VMOVUPD, VMOVUPS)(sum, at.mask(), m)
			}
		}
	}, func() {
		to := Arg("own")
		for q := range own {
			for i, s := range own[q] {
				l.Reduce(s, l.Add)
				m := Mem{Base: to, Disp: (q*l.dim + i) * l.Size}
				Pick(l, VADDSD, VADDSS)(m, s.AsX(), s.AsX())
				Pick(l, VMOVSD, VMOVSS)(s.AsX(), m)
			}
		}
		ADDQ(I32(2*l.dim*l.Size), ArgAddr("own"))
	})
}

// tiny is what squared distances count as if they are less: 1/√s is finite.
func (l loop) tiny() float64 {
	if l.Double() {
		return 0x1p-1020
	}
	return 0x1p-124
}

// load loads what mask takes, all if it is nil, and 0 elsewhere.
func (l loop) load(m Mem, mask reg.Register, r reg.VecVirtual) {
	switch {
	case mask == nil:
		VMOVUPS(m, r)
	case l.Double():
		VMOVUPD_Z(m, mask, r)
	default:
		VMOVUPS_Z(m, mask, r)
	}
}

// table holds the constants in use.
var table = Table{Name: "pairConstants"}

func (l loop) constant(x float64) Mem { return table.Float(l.ISA, x) }
