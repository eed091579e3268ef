// Command vec writes the assembly of the elementwise loops and reductions of package
// vec. With the flag -loops it writes others: the loops over pairs of points, the cells
// of recurrent layers, or the multiply-adds that measure the machine. Each loop is
// written once, over type vec.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	name := flag.String("loops", "vec", "which loops: vec, pairs, cells, gravity or peak")
	flag.Parse()
	Files(*name, map[string]func(){"vec": loops, "pairs": pairLoops, "cells": cellLoops, "gravity": gravityLoops, "peak": peakLoops}[*name])
}

func loops() {
	function("axpyTo", "func(dst *T, alpha T, x, y *T, n int)", "computes dst_i = alpha·x_i + y_i.", axpyTo)
	function("addTo", "func(dst, x, y *T, n int)", "computes dst_i = x_i + y_i.", func(v vec) { binaryTo(v, v.Add) })
	function("mulTo", "func(dst, x, y *T, n int)", "computes dst_i = x_i·y_i.", func(v vec) { binaryTo(v, v.Mul) })
	function("divTo", "func(dst, x, y *T, n int)", "computes dst_i = x_i/y_i.", func(v vec) { binaryTo(v, v.div) })
	function("maxTo", "func(dst, x, y *T, n int)", "computes dst_i = max(x_i, y_i).", func(v vec) { binaryTo(v, v.maximum) })
	function("scaleTo", "func(dst *T, alpha T, x *T, n int)", "computes dst_i = alpha·x_i.", scaleTo)
	function("affineMax", "func(x, top *T, scale, shift T, n int)", "computes x_i = scale·x_i + shift and top_i = max(top_i, x_i).", affineMax)
	function("subColumn", "func(n int, dst *T, ldd int, x *T, ldx int, c *T, rows int)", "computes dst[i,p] = x[i,p] - c[i] for rows i and n columns p.", func(v vec) { subColumn(v, false) })
	function("centerScale", "func(n int, dst *T, ldd int, x *T, ldx int, c, s *T, rows int)", "computes dst[i,p] = (x[i,p] - c[i])·s[p] for rows i and n columns p.", func(v vec) { subColumn(v, true) })

	function("dot", "func(x, y *T, n int) T", "returns Σ x_i·y_i.", dot)
	function("sum", "func(x *T, n int) T", "returns Σ x_i.", sum)
	function("sumSquares", "func(x *T, n int) T", "returns Σ x_i².", sumSquares)
	function("maxOf", "func(x *T, n int) T", "returns the largest element.", maxOf)

	function("expTo", "func(dst, x *T, n int)", "computes dst_i = exp(x_i).", inFloat64(expTo))
	function("expSubTo", "func(dst, x, y *T, n int)", "computes dst_i = exp(x_i - y_i).", inFloat64(expSubTo))
	function("expShiftSum", "func(dst, x *T, shift T, n int) float64", "computes dst_i = exp(x_i - shift) and returns their sum.", inFloat64(expShiftSum(true)))
	function("sumExp", "func(x *T, shift T, n int) float64", "returns Σ exp(x_i - shift).", inFloat64(expShiftSum(false)))
	function("expSubAdd", "func(x, y, sum *T, n int)", "computes x_i = exp(x_i - y_i) and sum_i += x_i.", inFloat64(expSubAdd))
	function("logTo", "func(dst, x *T, n int)", "computes dst_i = log(x_i).", inFloat64(logTo))

	function("sinCos", "func(n int, sin, cos, x *T) int", "computes sines and cosines up to a vector with an element that is too large, infinite or NaN. It returns the number of elements before, or n or more.", inFloat64(vec.sinCos))

	activations()
	function("rectify", "func(dst *T, pos, neg T, x, from *T, n int)", "computes dst_i += pos·from_i where x_i is positive or NaN, and neg·from_i elsewhere. A factor of 0 adds nothing.", rectify)

	emitExpTables()
	emitConstants()
}

func peakLoops() {
	function("peakFMA", "func(rounds int, mul, add *T) T", "does rounds of multiply-adds on registers, and returns a sum of all.", peakFMA)
}

func pairLoops() {
	function("distances", "func(n int, dst, x *T, ldx int, c *T, rows int)", "computes the distances of n points from c.", distances)
	function("invDistances", "func(n int, dst, x *T, ldx int, c *T, rows int)", "computes the inverses of the distances of n points from c, 0 where that is infinite.", invDistances)
	function("diffDots", "func(n int, dst, x *T, ld int, c, y, e *T, rows int)", "computes the products of the differences of n points from c and from e.", diffDots)
	function("addDiffs", "func(n int, dst, x *T, ld int, c, w *T, ldw int, sums *T, rows int)", "adds the weighted differences of n points from four others to dst and to sums.", addDiffs)
	function("kindSums", "func(n int, x *T, bits0, bits1 *byte, origin, sums *T)", "stores the sums of n elements over each kind, and of their squares.", kindSums)
	function("kindAffine", "func(n int, dst, x *T, bits0, bits1 *byte, add, mul *T)", "computes dst_p = add + mul·x_p by kind.", kindAffine)
	function("kindDistances", "func(n int, x *T, ldx int, c *T, rows int, bits0, bits1 *byte, origin, sums *T)", "is vectorKindSums of distances.", kindDistances)
	function("kindInvDistances", "func(n int, dst, x *T, ldx int, c *T, rows int, bits0, bits1 *byte, add, mul *T)", "is vectorKindAffine of inverse distances.", kindInvDistances)

	emitLaneBits()
	emitConstants()
}

// inFloat64 makes a body compute in float64 whatever the type of the elements.
func inFloat64(body func(vec)) func(vec) {
	return func(v vec) {
		v.Size = 8
		body(v)
	}
}

// --- Elementwise -----------------------------------------------------------

// axpyTo rounds the product before the sum: all tiers give the same bits, and
// y -= alpha·x undoes what y += alpha·x did to within one rounding.
func axpyTo(v vec) {
	dst, x, y, n := Arg("dst"), Arg("x"), Arg("y"), Arg("n")
	alpha := v.broadcastParam("alpha")
	v.loop(n, 4, func(l step, _ int) {
		t := l.load(x)
		v.Mul(alpha, t, t)
		v.Add(l.load(y), t, t)
		l.store(t, dst)
	}, nil)
}

func binaryTo(v vec, op func(b, a, dst Op)) {
	dst, x, y, n := Arg("dst"), Arg("x"), Arg("y"), Arg("n")
	v.loop(n, 4, func(l step, _ int) {
		t := l.load(x)
		op(l.load(y), t, t)
		l.store(t, dst)
	}, nil)
}

func scaleTo(v vec) {
	dst, x, n := Arg("dst"), Arg("x"), Arg("n")
	alpha := v.broadcastParam("alpha")
	v.loop(n, 4, func(l step, _ int) {
		t := l.load(x)
		v.Mul(alpha, t, t)
		l.store(t, dst)
	}, nil)
}

func affineMax(v vec) {
	x, top, n := Arg("x"), Arg("top"), Arg("n")
	scale, shift := v.broadcastParam("scale"), v.broadcastParam("shift")
	v.loop(n, 2, func(l step, _ int) {
		t := l.load(x)
		v.Mul(scale, t, t)
		v.Add(shift, t, t)
		l.store(t, x)
		v.maximum(t, l.load(top), t)
		l.store(t, top)
	}, nil)
}

// subColumn subtracts an element of c from each row, and then multiplies the
// row by the elements of s if scale says so.
func subColumn(v vec, scale bool) {
	n, dst, ldd, x, ldx := Arg("n"), Arg("dst"), Arg("ldd"), Arg("x"), Arg("ldx")
	c, rows := Arg("c"), Arg("rows")
	var s reg.Register
	if scale {
		s = Arg("s")
	}
	v.ToBytes(ldd)
	v.ToBytes(ldx)
	row := Unique("row")
	Label(row)
	ci := v.Reg()
	v.BroadcastTo(Mem{Base: c}, ci)
	v.loop(n, 4, func(l step, _ int) {
		t := l.load(x)
		v.Sub(ci, t, t)
		if scale {
			v.Mul(l.load(s), t, t)
		}
		l.store(t, dst)
	}, nil)
	ADDQ(ldd, dst)
	ADDQ(ldx, x)
	ADDQ(Imm(uint64(v.size)), c)
	DECQ(rows)
	JNZ(LabelRef(row))
}

// --- Reductions ------------------------------------------------------------

// accumulate runs body over the elements with as many accumulators as hide the
// latency of an FMA or an addition, and leaves their sum in the one it returns.
func accumulate(v vec, n reg.Register, body func(l step, acc reg.VecVirtual)) reg.VecVirtual {
	acc := v.Regs(4)
	for _, a := range acc {
		v.zero(a)
	}
	v.loop(n, len(acc), func(l step, u int) { body(l, acc[u]) }, func() {
		v.Add(acc[1], acc[0], acc[0])
		v.Add(acc[3], acc[2], acc[2])
		v.Add(acc[2], acc[0], acc[0])
	})
	return acc[0]
}

func dot(v vec) {
	x, y, n := Arg("x"), Arg("y"), Arg("n")
	acc := accumulate(v, n, func(l step, acc reg.VecVirtual) {
		t := l.load(x)
		v.Fmadd231(l.load(y), t, acc)
	})
	v.returnSum(acc)
}

func sum(v vec) {
	x, n := Arg("x"), Arg("n")
	acc := accumulate(v, n, func(l step, acc reg.VecVirtual) { v.Add(l.load(x), acc, acc) })
	v.returnSum(acc)
}

func sumSquares(v vec) {
	x, n := Arg("x"), Arg("n")
	acc := accumulate(v, n, func(l step, acc reg.VecVirtual) {
		t := l.load(x)
		v.Fmadd231(t, t, acc)
	})
	v.returnSum(acc)
}

// maxOf keeps maxima in four accumulators, without NaN, and apart from them
// whether all elements so far were ordered, which one comparison tells of two.
func maxOf(v vec) {
	x, n := Arg("x"), Arg("n")
	m := v.maxima(4)
	v.groups(n, len(m.acc), func(ls []step) {
		e := make([]reg.VecVirtual, len(ls))
		for u, l := range ls {
			e[u] = l.loadOr(x, negInf)
			m.add(u, e[u])
		}
		for u := 0; u < len(e); u += 2 {
			m.compare(u/2, e[u], e[min(u+1, len(e)-1)])
		}
	}, nil)
	m.storeReturn()
}

// --- Peak ------------------------------------------------------------------

// peakFMA does rounds of twelve independent chains a = a·mul + add: more than
// the four cycles of latency times two units of any core so far.
func peakFMA(v vec) {
	rounds := Arg("rounds")
	m, c := v.Reg(), v.Reg()
	v.BroadcastTo(Mem{Base: Arg("mul")}, m)
	v.BroadcastTo(Mem{Base: Arg("add")}, c)
	acc := v.Regs(12)
	for _, a := range acc {
		VMOVUPS(c, a)
	}
	round := Unique("round")
	Label(round)
	for _, a := range acc {
		v.Fmadd213(c, m, a)
	}
	DECQ(rounds)
	JNZ(LabelRef(round))
	for _, a := range acc[1:] {
		v.Add(a, acc[0], acc[0])
	}
	v.returnSum(acc[0])
}
