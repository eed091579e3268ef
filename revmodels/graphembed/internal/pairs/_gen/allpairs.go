package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// The loops over all pairs of points of a triangle, for AVX-512, unrolled for each number
// of coordinates.

// maxDim is the most coordinates that there is code for.
const maxDim = 8

// perDim emits a function for both types, which branches by Dim.
func perDim(name, sig, doc string, body func(loop)) {
	for _, size := range []int{8, 4} {
		g := ISA{Wide: true, Size: size}
		Func(name, Variant{Tier: g.Tier(), Size: size}, sig, doc, func() {
			start(g)
			for dim := 1; dim <= maxDim; dim++ {
				if dim < maxDim {
					CMPQ(ArgAddr("Dim"), Imm(uint64(dim)))
					JNE(LabelRef(fmt.Sprint("not", dim)))
				}
				body(loop{g, dim})
				if dim < maxDim {
					JMP(LabelRef("done"))
					Label(fmt.Sprint("not", dim))
				}
			}
			Label("done")
		})
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
	x, near, dst GPVirtual // dst is nil if there is none
	ldn          Register
	valid        []OpmaskVirtual // of each row the lanes that are pairs; nil: all
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
	valid := []OpmaskVirtual{K(), K()}
	left := GP64()
	lanes := l.Lanes()

	Label(row)
	start, zero, bits := GP64(), GP64(), GP64()
	first := [2]GPVirtual{GP64(), GP64()} // pair of each row
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
	SetFirst(left, k)
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
	regs [2][]VecVirtual // nil: they stay in memory
	p    GPVirtual
}

func (l loop) centers(inRegisters bool) *centers {
	c := &centers{l: l, p: GP64()}
	if inRegisters {
		c.regs = [2][]VecVirtual{l.Regs(l.dim), l.Regs(l.dim)}
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
func (c *centers) subtract(q, i int, x, d VecVirtual) {
	if c.regs[q] != nil {
		c.l.Sub(c.regs[q][i], x, d)
	} else {
		Pick(c.l, VSUBPD_BCST, VSUBPS_BCST)(c.at(q, i), x, d)
	}
}

// mask returns the lanes that are pairs of any row.
func (at place) mask() *Mask {
	if at.valid == nil {
		return nil
	}
	return &Mask{K: at.valid[0]}
}

// squares returns the squared distances of each row in each vector, and leaves
// differences to body.
func (l loop) squares(at place, vectors int, r Walk, c *centers, body func(q, u, i int, d VecVirtual)) [2][]VecVirtual {
	s := [2][]VecVirtual{l.Zeros(vectors), l.Zeros(vectors)}
	for i := range l.dim {
		for u := range vectors {
			x := l.Load(r.Row(at.x, i).Offset(64*u), at.mask())
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

// series returns the series for squared distances s. Less than tiny counts as tiny, so
// that 1/√s is finite.
func (l loop) series(s VecVirtual) Series { return l.NewSeries(s, Pick(l, 0x1p-1020, 0x1p-124)) }

// kinds returns the masks of the pairs of row q in vector u that are not near, and
// of those that are.
func (l loop) kinds(at place, q, u int) [2]Register {
	far, near := K(), K()
	from := Mem{Base: at.near, Disp: u * l.Lanes() / 8}
	if q > 0 {
		from.Index, from.Scale = at.ldn, 1
	}
	Pick(l, KMOVB, KMOVW)(from, near)
	if at.valid == nil {
		KNOTW(near, far)
	} else {
		KANDNW(at.valid[q], near, far)
		KANDW(at.valid[q], near, near)
	}
	return [2]Register{far, near}
}

// moments adds the distances less their origin, and the squares of that.
func (l loop) moments() {
	r, c := NewWalk(l.Stride("Ld"), l.dim), l.centers(l.dim <= 6)
	origin, sums := pair(l.ISA, "origin"), l.Zeros(4)
	l.eachTwo(2, false, c.load, func(at place, vectors int) {
		squares := l.squares(at, vectors, r, c, func(_, _, _ int, _ VecVirtual) {})
		for u := range vectors {
			for q := range squares {
				v := l.series(squares[q][u])
				l.Mul(v.T, v.E, v.E)
				l.Fmadd213(v.T, v.E, v.P)
				for k, mask := range l.kinds(at, q, u) {
					e := ZMM()
					l.Sub(origin[k], v.P, e)
					Pick(l, VADDPD, VADDPS)(e, sums[k], mask, sums[k])
					Pick(l, VFMADD231PD, VFMADD231PS)(e, e, mask, sums[2+k])
				}
			}
		}
	}, func() {})
	storeSums(l.ISA, sums...)
}

// forces adds the differences times add + mul/d of their kind.
func (l loop) forces() {
	keep := l.dim <= 5 // the differences in registers; else they are made again
	r, c := NewWalk(l.Stride("Ld"), l.dim), l.centers(l.dim <= 3)
	add, mul := Arg("add"), pair(l.ISA, "mul")
	own := [2][]VecVirtual{l.Regs(l.dim), l.Regs(l.dim)}
	l.eachTwo(1, true, func() {
		c.load()
		for q := range own {
			for _, s := range own[q] {
				l.Clear(s)
			}
		}
	}, func(at place, _ int) {
		var diffs [2][maxDim]VecVirtual
		squares := l.squares(at, 1, r, c, func(q, _, i int, d VecVirtual) { diffs[q][i] = d })
		var w [2]VecVirtual
		for q := range w {
			v := l.series(squares[q][0])
			w[q] = v.P
			l.Mul(v.Y, v.E, v.E)
			if at.valid == nil {
				l.Fmadd213(v.Y, v.E, w[q])
			} else {
				Pick(l, VFMADD213PD_Z, VFMADD213PS_Z)(v.Y, v.E, at.valid[q], w[q])
			}
			for k, mask := range l.kinds(at, q, 0) {
				Pick(l, VFMADD213PD_BCST, VFMADD213PS_BCST)(Mem{Base: add, Disp: k * l.Size}, mul[k], mask, w[q])
			}
		}
		for i := range l.dim {
			m := r.Row(at.dst, i)
			sum := l.Load(m, at.mask())
			var x VecVirtual
			if !keep {
				x = l.Load(r.Row(at.x, i), at.mask())
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
			l.Store(sum, m, at.mask())
		}
	}, func() {
		to := Arg("own")
		for q := range own {
			for i, s := range own[q] {
				l.Reduce(s, l.Add)
				m := Mem{Base: to, Disp: (q*l.dim + i) * l.Size}
				l.AddOne(m, s.AsX(), s.AsX())
				l.MovOne(s.AsX(), m)
			}
		}
		ADDQ(I32(2*l.dim*l.Size), ArgAddr("own"))
	})
}
