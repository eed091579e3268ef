// Command vec writes the assembly of the elementwise loops and reductions of
// package vec, or with the flag -pairs that of the loops over pairs of points. Each
// function holds the AVX-512 and the AVX2 version of its loop, written once below
// over type vec, and takes the one that the package variable tier asks for.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	ConstraintExpr("!noasm")
	pairs := flag.Bool("pairs", false, "the loops over pairs of points")
	flag.Parse()
	if *pairs {
		pairLoops()
	} else {
		loops()
	}
	Generate()
}

func loops() {
	function("axpyTo", "func(dst *T, alpha T, x, y *T, n int)", axpyTo)
	function("addTo", "func(dst, x, y *T, n int)", func(v vec) { binaryTo(v, v.Add) })
	function("mulTo", "func(dst, x, y *T, n int)", func(v vec) { binaryTo(v, v.Mul) })
	function("maxTo", "func(dst, x, y *T, n int)", func(v vec) { binaryTo(v, v.maximum) })
	function("scaleTo", "func(dst *T, alpha T, x *T, n int)", scaleTo)
	function("affineMax", "func(x, top *T, scale, shift T, n int)", affineMax)
	function("subColumn", "func(n int, dst *T, ldd int, x *T, ldx int, c *T, rows int)", func(v vec) { subColumn(v, false) })
	function("centerScale", "func(n int, dst *T, ldd int, x *T, ldx int, c, s *T, rows int)", func(v vec) { subColumn(v, true) })

	function("dot", "func(x, y *T, n int) T", dot)
	function("sum", "func(x *T, n int) T", sum)
	function("sumSquares", "func(x *T, n int) T", sumSquares)
	function("maxOf", "func(x *T, n int) T", maxOf)

	function("expTo", "func(dst, x *T, n int)", inFloat64(expTo))
	function("expSubTo", "func(dst, x, y *T, n int)", inFloat64(expSubTo))
	function("expShiftSum", "func(dst, x *T, shift T, n int) float64", inFloat64(expShiftSum(true)))
	function("sumExp", "func(x *T, shift T, n int) float64", inFloat64(expShiftSum(false)))
	function("expSubAdd", "func(x, y, sum *T, n int)", inFloat64(expSubAdd))
	function("logTo", "func(dst, x *T, n int)", inFloat64(logTo))

	function("sinCos", "func(sin, cos, x *T, n int, done *int)", inFloat64(vec.sinCos))

	function("peakFMA", "func(rounds int, mul, add *T) T", peakFMA)

	emitExpTables()
	emitConstants()
}

func pairLoops() {
	function("distances", "func(n int, dst, x *T, ldx int, c *T, rows int)", distances)
	function("invDistances", "func(n int, dst, x *T, ldx int, c *T, rows int)", invDistances)
	function("diffDots", "func(n int, dst, x *T, ld int, c, y, e *T, rows int)", diffDots)
	function("addDiffs", "func(n int, dst, x *T, ld int, c, w *T, ldw int, sums *T, rows int)", addDiffs)
	function("kindSums", "func(n int, x *T, bits0, bits1 *byte, origin, sums *T)", kindSums)
	function("kindAffine", "func(n int, dst, x *T, bits0, bits1 *byte, add, mul *T)", kindAffine)
	function("kindDistances", "func(n int, x *T, ldx int, c *T, rows int, bits0, bits1 *byte, origin, sums *T)", kindDistances)
	function("kindInvDistances", "func(n int, dst, x *T, ldx int, c *T, rows int, bits0, bits1 *byte, add, mul *T)", kindInvDistances)

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
