// Command _gen writes the assembly of package pairs.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		each := func(name, sig, doc string, body func(vec)) {
			Floats(name, sig, doc, func(g ISA) { body(vec{g}) }).Short("n")
		}
		each("distances", "func(n int, dst, x *T, ldx int, c *T, rows int)", "computes the distances of n points from c.", distances)
		each("invDistances", "func(n int, dst, x *T, ldx int, c *T, rows int)", "computes the inverses of the distances of n points from c, 0 where that is infinite.", invDistances)
		each("diffDots", "func(n int, dst, x *T, ld int, c, y, e *T, rows int)", "computes the products of the differences of n points from c and from e.", diffDots)
		each("addDiffs", "func(n int, dst, x *T, ld int, c, w *T, ldw int, sums *T, rows int)", "adds the weighted differences of n points from four others to dst and to sums.", addDiffs)
		each("kindSums", "func(n int, x *T, bits0, bits1 *byte, origin, sums *T)", "stores the sums of n elements over each kind, and of their squares.", kindSums)
		each("kindAffine", "func(n int, dst, x *T, bits0, bits1 *byte, add, mul *T)", "computes dst_p = add + mul·x_p by kind.", kindAffine)
		each("kindDistances", "func(n int, x *T, ldx int, c *T, rows int, bits0, bits1 *byte, origin, sums *T)", "is vectorKindSums of distances.", kindDistances)
		each("kindInvDistances", "func(n int, dst, x *T, ldx int, c *T, rows int, bits0, bits1 *byte, add, mul *T)", "is vectorKindAffine of inverse distances.", kindInvDistances)

		perDim("pairMoments", "func(a *AllPairs[T], q, rows, p, n int, origin, sums *T)", "stores the sums of Moments and then the sums of squares, for rows from q on and n columns from p on.", loop.moments)
		perDim("addPairForces", "func(a *AllPairs[T], q, rows, p, n int, add, mul, dst, own *T)", "is AddForces for rows from q on and n columns from p on. Those are where dst and own begin.", loop.forces)
	})
}

// A vec emits vector instructions for one tier and type of elements.
type vec struct{ ISA }

// overRows runs body for each row of a column of differences; body gets the
// addresses of the row of x and of c, and of the row of y and of e if there
// are such.
func overRows(v vec, ld Register, x, c, y, e Register, body func(x Register, c Mem, y Register, e Mem)) {
	k, xRow := GP64(), GP64()
	XORQ(k, k)
	MOVQ(x, xRow)
	var yRow Register
	var eAt Mem
	if y != nil {
		r := GP64()
		MOVQ(y, r)
		yRow, eAt = r, Mem{Base: e, Index: k, Scale: uint8(v.Size)}
	}
	row := Unique("row")
	Label(row)
	body(xRow, Mem{Base: c, Index: k, Scale: uint8(v.Size)}, yRow, eAt)
	ADDQ(ld, xRow)
	if y != nil {
		ADDQ(ld, yRow)
	}
	INCQ(k)
	CMPQ(k, ArgAddr("rows"))
	JL(LabelRef(row))
}

// overSquares runs body for each vector of squared distances.
func overSquares(v vec, body func(l Step, squares VecVirtual)) {
	n, x, ldx, c := Arg("n"), Arg("x"), v.Stride("ldx"), Arg("c")
	v.Groups(n, 4, func(ls []Step) {
		sums := v.Zeros(len(ls))
		overRows(v, ldx, x, c, nil, nil, func(x Register, c Mem, _ Register, _ Mem) {
			ci := v.Broadcast(c)
			for u, l := range ls {
				t := l.Load(x)
				v.Sub(ci, t, t)
				v.Fmadd231(t, t, sums[u])
			}
		})
		for u, l := range ls {
			body(l, sums[u])
		}
	}, nil)
}

func distances(v vec) {
	dst := Arg("dst")
	overSquares(v, func(l Step, s VecVirtual) { l.Store(v.Root(s), dst) })
}

func invDistances(v vec) {
	dst := Arg("dst")
	overSquares(v, func(l Step, s VecVirtual) { l.Store(v.InverseRoot(s), dst) })
}

func diffDots(v vec) {
	n, dst, x, ld, c := Arg("n"), Arg("dst"), Arg("x"), v.Stride("ld"), Arg("c")
	y, e := Arg("y"), Arg("e")
	v.Groups(n, 2, func(ls []Step) {
		sums := v.Zeros(len(ls))
		overRows(v, ld, x, c, y, e, func(x Register, c Mem, y Register, e Mem) {
			ci, ei := v.Broadcast(c), v.Broadcast(e)
			for k, l := range ls {
				t, u := l.Load(x), l.Load(y)
				v.Sub(ci, t, t)
				v.Sub(ei, u, u)
				v.Fmadd231(u, t, sums[k])
			}
		})
		for u, l := range ls {
			l.Store(sums[u], dst)
		}
	}, nil)
}

// addDiffs keeps what a row of x takes of the four points in registers.
func addDiffs(v vec) {
	n, dst, x, ld, c := Arg("n"), Arg("dst"), Arg("x"), v.Stride("ld"), Arg("c")
	ldw, sums, rows := v.Stride("ldw"), Arg("sums"), Arg("rows")
	w := [4]GPVirtual{Arg("w"), GP64(), GP64(), GP64()}
	for q := range w[1:] {
		LEAQ(Mem{Base: w[q], Index: ldw, Scale: 1}, w[q+1])
	}
	// Points follow each other in c and sums, each with its coordinates.
	next := ldw
	MOVQ(rows, next)
	v.ToBytes(next)
	Times(rows, func() {
		at := GP64()
		overPoints := func(base Register, body func(q int, m Mem)) {
			MOVQ(base, at)
			for q := range w {
				if q > 0 {
					ADDQ(next, at)
				}
				body(q, Mem{Base: at})
			}
		}
		ci, acc := v.Regs(4), v.Zeros(4)
		overPoints(c, func(q int, m Mem) { v.BroadcastTo(m, ci[q]) })
		v.Loop(n, 1, func(l Step, _ int) {
			xs, d := l.Load(x), l.Load(dst)
			for q := range w {
				t, wq := v.Reg(), l.Load(w[q])
				v.Sub(ci[q], xs, t)
				// Masked lanes hold ci·0, which is not zero if ci is infinite.
				if l.Mask != nil {
					t = keep(l, t)
				}
				v.Fmadd231(wq, t, acc[q])
				v.Fmadd231(wq, t, d)
			}
			l.Store(d, dst)
		}, nil)
		overPoints(sums, func(q int, m Mem) {
			v.Reduce(acc[q], v.Add)
			v.AddOne(m, acc[q].AsX(), acc[q].AsX())
			v.MovOne(acc[q].AsX(), m)
		})
		ADDQ(ld, dst)
		ADDQ(ld, x)
		ADDQ(Imm(uint64(v.Size)), c)
		ADDQ(Imm(uint64(v.Size)), sums)
	})
}

// keep returns r with zeros in the lanes that are masked out.
func keep(l Step, r VecVirtual) VecVirtual {
	t := l.Reg()
	if l.Wide {
		Pick(l, VMOVAPD_Z, VMOVAPS_Z)(r, l.Mask.K, t)
	} else {
		VANDPS(r, l.Mask.Y, t)
	}
	return t
}

// kinds are the operands of the loops over elements of two kinds: element i is
// of kind k if its bit in bits[k] is set.
type kinds struct {
	vec
	bits [2]Register
}

func (v vec) kinds() kinds { return kinds{v, [2]Register{Arg("bits0"), Arg("bits1")}} }

// pair returns what a parameter points at: an element for each kind.
func pair(g ISA, name string) [2]VecVirtual {
	p := Arg(name)
	return [2]VecVirtual{g.Broadcast(Mem{Base: p}), g.Broadcast(Mem{Base: p, Disp: g.Size})}
}

// storeSums stores the sums of the lanes, one after the other, where the parameter sums points at.
func storeSums(g ISA, vectors ...VecVirtual) {
	to := Arg("sums")
	for i, v := range vectors {
		g.Reduce(v, g.Add)
		g.MovOne(v.AsX(), Mem{Base: to, Disp: i * g.Size})
	}
}

// masks returns the masks of the lanes of both kinds, within the mask of l.
func (k kinds) masks(l Step) (m [2]Register) {
	at := GP64()
	LEAQ(Mem{Base: l.I, Disp: l.Off}, at)
	half := l.Double() && !l.Wide // a vector has half a byte
	shift := GP64()
	if half {
		MOVQ(at, shift)
		ANDQ(Imm(4), shift)
	}
	SHRQ(Imm(3), at)
	for i, p := range k.bits {
		from := Mem{Base: p, Index: at, Scale: 1}
		if l.Wide {
			m[i] = K()
			Pick(l, KMOVB, KMOVW)(from, m[i])
			if l.Mask != nil {
				KANDW(l.Mask.K, m[i], m[i])
			}
			continue
		}
		b, r := GP64(), YMM()
		m[i] = r
		MOVBQZX(from, b)
		if half {
			SHRXQ(shift, b, b)
		}
		VMOVQ(b, r.AsX())
		Pick(l, VPBROADCASTQ, VPBROADCASTD)(r.AsX(), r)
		lanes := Entry(Pick(l, []Constant{U64(1), U64(2), U64(4), U64(8)}, []Constant{U32(1), U32(2), U32(4), U32(8), U32(16), U32(32), U32(64), U32(128)})...)
		VPAND(lanes, r, r)
		Pick(l, VPCMPEQQ, VPCMPEQD)(lanes, r, r)
		if l.Mask != nil {
			VPAND(l.Mask.Y, r, r)
		}
	}
	return m
}

// A splitter adds elements less their origin, and the squares of that, apart
// for each kind.
type splitter struct {
	kinds
	origin       [2]VecVirtual
	sum, squares []VecVirtual
}

func (v vec) splitter() splitter {
	k := v.kinds()
	return splitter{k, pair(k.ISA, "origin"), v.Zeros(2), v.Zeros(2)}
}

func (s splitter) add(l Step, x VecVirtual) {
	for i, mask := range s.masks(l) {
		e := s.Reg()
		s.Sub(s.origin[i], x, e)
		if s.Wide {
			Pick(s, VADDPD, VADDPS)(e, s.sum[i], mask, s.sum[i])
			Pick(s, VFMADD231PD, VFMADD231PS)(e, e, mask, s.squares[i])
			continue
		}
		VANDPS(e, mask, e)
		s.Add(e, s.sum[i], s.sum[i])
		s.Fmadd231(e, e, s.squares[i])
	}
}

// store stores the two sums, and then the two sums of squares.
func (s splitter) store() { storeSums(s.ISA, append(s.sum, s.squares...)...) }

func kindSums(v vec) {
	s := v.splitter()
	x := Arg("x")
	v.Loop(Arg("n"), 2, func(l Step, _ int) { s.add(l, l.Load(x)) }, nil)
	s.store()
}

func kindDistances(v vec) {
	s := v.splitter()
	overSquares(v, func(l Step, squares VecVirtual) { s.add(l, v.Root(squares)) })
	s.store()
}

// affine returns add + mul·x, by the kind, and 0 for elements of no kind.
func (k kinds) affine(l Step, add, mul [2]VecVirtual, x VecVirtual) VecVirtual {
	m := k.masks(l)
	if k.Wide {
		r := k.Reg()
		Pick(k, VMOVAPD_Z, VMOVAPS_Z)(add[0], m[0], r)
		Pick(k, VMOVAPD, VMOVAPS)(add[1], m[1], r)
		Pick(k, VFMADD231PD, VFMADD231PS)(x, mul[0], m[0], r)
		Pick(k, VFMADD231PD, VFMADD231PS)(x, mul[1], m[1], r)
		return r
	}
	var r [2]VecVirtual
	for i := range r {
		r[i] = k.Reg()
		VMOVAPS(add[i], r[i])
		k.Fmadd231(mul[i], x, r[i])
		VANDPS(r[i], m[i], r[i])
	}
	VORPS(r[1], r[0], r[0])
	return r[0]
}

func kindAffine(v vec) {
	k := v.kinds()
	dst, x, add, mul := Arg("dst"), Arg("x"), pair(k.ISA, "add"), pair(k.ISA, "mul")
	v.Loop(Arg("n"), 2, func(l Step, _ int) { l.Store(k.affine(l, add, mul, l.Load(x)), dst) }, nil)
}

func kindInvDistances(v vec) {
	k := v.kinds()
	dst, add, mul := Arg("dst"), pair(k.ISA, "add"), pair(k.ISA, "mul")
	overSquares(v, func(l Step, s VecVirtual) { l.Store(k.affine(l, add, mul, v.InverseRoot(s)), dst) })
}
