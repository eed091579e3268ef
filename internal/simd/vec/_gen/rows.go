package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// next moves vectors by an element, and then matrices by their strides.
func (v vec) next(vectors []Register, matrices ...Register) {
	for _, x := range vectors {
		ADDQ(Imm(uint64(v.Size)), x)
	}
	for ; len(matrices) > 0; matrices = matrices[2:] {
		ADDQ(matrices[1], matrices[0])
	}
}

func maxRows(v vec) {
	n, x, ldx, top, rows := Arg("n"), Arg("x"), v.Stride("ldx"), Arg("top"), Arg("rows")
	Times(rows, func() {
		v.maxOf(negInf, n, x, Mem{Base: top}, func(VecVirtual) {})
		v.next([]Register{top}, x, ldx)
	})
}

// sumRows stores a sum of each row of some matrices, which add adds to.
func (v vec) sumRows(add func(l Step, x []Register, acc VecVirtual), matrices ...string) {
	n, sum, rows := Arg("n"), Arg("sum"), Arg("rows")
	var at, moves []Register
	for _, m := range matrices {
		at = append(at, Arg(m))
		moves = append(moves, at[len(at)-1], v.Stride("ld"+m))
	}
	Times(rows, func() {
		acc := accumulate(v, n, func(l Step, acc VecVirtual) { add(l, at, acc) })
		v.Reduce(acc, v.Add)
		v.MovOne(acc.AsX(), Mem{Base: sum})
		v.next([]Register{sum}, moves...)
	})
}

func axpyRows(v vec) {
	n, dst, ldd, x, ldx := Arg("n"), Arg("dst"), v.Stride("ldd"), Arg("x"), v.Stride("ldx")
	c, rows := Arg("c"), Arg("rows")
	Times(rows, func() {
		ci := v.Broadcast(Mem{Base: c})
		v.Loop(n, 4, func(l Step, _ int) {
			t := l.Load(x)
			v.Mul(ci, t, t)
			v.Add(l.Load(dst), t, t)
			l.Store(t, dst)
		}, nil)
		v.next([]Register{c}, dst, ldd, x, ldx)
	})
}

func addSquares(v vec) {
	n, dst, x, ldx := Arg("n"), Arg("dst"), Arg("x"), v.Stride("ldx")
	c, q, rows := Arg("c"), Arg("q"), Arg("rows")
	Times(rows, func() {
		ci, qi := v.Broadcast(Mem{Base: c}), v.Broadcast(Mem{Base: q})
		v.Loop(n, 4, func(l Step, _ int) {
			t := l.Load(x)
			v.Sub(ci, t, t)
			v.Mul(qi, t, t)
			v.Mul(t, t, t)
			v.Add(l.Load(dst), t, t)
			l.Store(t, dst)
		}, nil)
		v.next([]Register{c, q}, x, ldx)
	})
}

// addMoments reads weights of 0 where lanes are masked out.
func addMoments(v vec) {
	n, w, x, ldx := Arg("n"), Arg("w"), Arg("x"), v.Stride("ldx")
	c, m1, m2, rows := Arg("c"), Arg("m1"), Arg("m2"), Arg("rows")
	Times(rows, func() {
		ci := v.Broadcast(Mem{Base: c})
		sums := accumulateAll(v, n, 2, func(l Step, acc []VecVirtual) {
			t, wt := l.Load(x), v.Reg()
			v.Sub(ci, t, t)
			v.Mul(l.Load(w), t, wt)
			v.Add(wt, acc[0], acc[0])
			v.Fmadd231(wt, t, acc[1])
		})
		for i, m := range []Register{m1, m2} {
			v.Reduce(sums[i], v.Add)
			Pick(v, VADDSD, VADDSS)(Mem{Base: m}, sums[i].AsX(), sums[i].AsX())
			v.MovOne(sums[i].AsX(), Mem{Base: m})
		}
		v.next([]Register{c, m1, m2}, x, ldx)
	})
}

// expRows sums float32 by pairs of vectors, which it adds up in float64.
func expRows(v vec) {
	n, dst, ldd, x, ldx := Arg("n"), Arg("dst"), v.Stride("ldd"), Arg("x"), v.Stride("ldx")
	c, sum, rows := Arg("c"), Arg("sum"), Arg("rows")
	wide := vec{ISA{Wide: v.Wide, Size: 8, NEON: v.NEON}}
	exponentials := v.Exponential(true)
	p := &core{size: 4, wide: v.Wide}
	out := []val{p.exp(p.in(0))}
	h := v.hold(p, out, v.Unroll(16, 0, 0))
	Times(rows, func() {
		ci, s := v.Broadcast(Mem{Base: c}), wide.Zeros(2)
		v.Groups(n, 2, func(ls []Step) {
			e := make([]VecVirtual, len(ls))
			for u, l := range ls {
				e[u] = difference(l, x, ci)
			}
			if v.Double() {
				e = exponentials(e)
			} else {
				e = v.emit(p, len(ls), func(u, _ int) VecVirtual { return e[u] }, h, out)[0]
			}
			for u, l := range ls {
				l.Store(e[u], dst)
				v.first(l, e[u])
			}
			if v.Double() {
				for u := range e {
					v.Add(e[u], s[u], s[u])
				}
				return
			}
			if len(e) > 1 {
				v.Add(e[1], e[0], e[0])
			}
			for i, half := range wide.widened(e[0]) {
				wide.Add(half, s[i], s[i])
			}
		}, nil)
		wide.Add(s[1], s[0], s[0])
		wide.Reduce(s[0], wide.Add)
		if total := s[0].AsX(); v.Double() {
			VADDSD(Mem{Base: sum}, total, total)
			VMOVSD(total, Mem{Base: sum})
		} else {
			VCVTPD2PSY(s[0].AsY(), total)
			VADDSS(Mem{Base: sum}, total, total)
			VMOVSS(total, Mem{Base: sum})
		}
		v.next([]Register{c, sum}, dst, ldd, x, ldx)
	})
}

// first clears those lanes of x that are masked out.
func (v vec) first(l Step, x VecVirtual) {
	switch {
	case l.Mask == nil:
	case v.Wide:
		Pick(v, VMOVUPD_Z, VMOVUPS_Z)(x, l.Mask.K, x)
	default:
		VANDPS(l.Mask.Y, x, x)
	}
}

// widened returns the float32 in x as two vectors of float64.
func (v vec) widened(x VecVirtual) []VecVirtual {
	r := v.Regs(2)
	if v.Wide {
		VCVTPS2PD(x.AsY(), r[0])
		VEXTRACTF64X4(Imm(1), x, r[1].AsY())
		VCVTPS2PD(r[1].AsY(), r[1])
	} else {
		VCVTPS2PD(x.AsX(), r[0])
		VEXTRACTF128(Imm(1), x, r[1].AsX())
		VCVTPS2PD(r[1].AsX(), r[1])
	}
	return r
}
