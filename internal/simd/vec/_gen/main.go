// Command _gen writes the assembly of package vec. Each loop is written once, over a vec.
package main

import (
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(emit)
	writeGeneric()
}

// A vec emits vector instructions for one tier and type of elements.
type vec struct{ ISA }

// loop emits a function for both types of elements. If the number of elements is its last
// argument, it takes chunks, and the Go function with its checks is written too.
func loop(name, sig, doc string, body func(vec)) {
	chunks(Floats(name, sig, doc, func(g ISA) { body(vec{g}) }), name, sig)
}

func chunks(f *Routine, name, sig string) {
	if strings.Contains(sig, "n int") {
		f.Short("n")
	}
	switch before, result, _ := strings.Cut(sig, ", n int)"); {
	case before == sig:
	case result == "":
		f.Chunks("|")
	case strings.HasPrefix(name, "max"):
		f.Chunks("s := generic" + strings.ToUpper(name[:1]) + name[1:] + "(x[:0])|s = max(s, ")
	default:
		f.Chunks("var s" + result + "|s += ")
	}
}

func emit() {
	loop("axpyTo", "func(dst *T, alpha T, x, y *T, n int)", "computes dst_i = alpha·x_i + y_i.", axpyTo)
	loop("addProduct", "func(dst *T, alpha T, x, y *T, n int)", "computes dst_i += alpha·(x_i·y_i). It rounds both products.", func(v vec) { addBinary(v, v.Mul) })
	loop("addQuotient", "func(dst *T, alpha T, x, y *T, n int)", "computes dst_i += alpha·(x_i/y_i). It rounds the quotient and the product.", func(v vec) { addBinary(v, v.Div) })
	loop("addTo", "func(dst, x, y *T, n int)", "computes dst_i = x_i + y_i.", func(v vec) { binaryTo(v, v.Add) })
	loop("mulTo", "func(dst, x, y *T, n int)", "computes dst_i = x_i·y_i.", func(v vec) { binaryTo(v, v.Mul) })
	loop("divTo", "func(dst, x, y *T, n int)", "computes dst_i = x_i/y_i.", func(v vec) { binaryTo(v, v.Div) })
	loop("maxTo", "func(dst, x, y *T, n int)", "computes dst_i = max(x_i, y_i). It is NaN if either is NaN. +0 is larger than -0.",
		func(v vec) { binaryTo(v, v.maximum) })
	loop("scaleTo", "func(dst *T, alpha T, x *T, n int)", "computes dst_i = alpha·x_i.", scaleTo)
	loop("affineMax", "func(x, top *T, scale, shift T, n int)",
		"computes x_i = scale·x_i + shift, and then top_i = max(top_i, x_i) as MaxTo does.\nThe product is rounded before the sum.", affineMax)
	loop("subColumn", "func(n int, dst *T, ldd int, x *T, ldx int, c *T, rows int)", "computes dst[i,p] = x[i,p] - c[i] for rows i and n columns p.", func(v vec) { subColumn(v, false) })
	loop("centerScale", "func(n int, dst *T, ldd int, x *T, ldx int, c, s *T, rows int)", "computes dst[i,p] = (x[i,p] - c[i])·s[p] for rows i and n columns p.", func(v vec) { subColumn(v, true) })

	loop("addAffine", "func(y *T, a T, x *T, b T, n int)", "computes y_i += a·x_i and then y_i += b. It rounds the product and both sums.", func(v vec) {
		v.addLines(Arg("x"), nil, v.BroadcastArg("a"), v.BroadcastArg("b"), nil)
	})
	loop("addAffineProduct", "func(y *T, a T, x, gain *T, b T, bias *T, n int)", "computes y_i += a·(x_i·gain_i) and then y_i += b·bias_i. It rounds all products and sums.", func(v vec) {
		v.addLines(Arg("x"), Arg("gain"), v.BroadcastArg("a"), v.BroadcastArg("b"), Arg("bias"))
	})
	loop("centerSquares", "func(dst, x *T, c T, n int) T", "computes dst_i = x_i - c and returns Σ dst_i².", centerSquares)
	loop("huber", "func(d, x, y *T, delta T, n int) T", "computes d_i = min(max(x_i - y_i, -delta), delta), which is NaN if the difference is, and\nreturns Σ d_i·(x_i - y_i - d_i/2), for delta > 0.", huber)

	loop("maxRows", "func(n int, x *T, ldx int, top *T, rows int)", "computes top[i] = max x[i,p] of n columns p for rows i.", maxRows)
	loop("axpyRows", "func(n int, dst *T, ldd int, x *T, ldx int, c *T, rows int)", "computes dst[i,p] += c[i]·x[i,p] for rows i and n columns p.", axpyRows)
	loop("addSquares", "func(n int, dst, x *T, ldx int, c, q *T, rows int)", "computes dst[p] += (q[i]·(x[i,p] - c[i]))² for rows i and n columns p. It rounds each operation.", addSquares)
	loop("addMoments", "func(n int, w, x *T, ldx int, c, m1, m2 *T, rows int)", "computes m1[i] += Σ w[p]·(x[i,p] - c[i]) and m2[i] += Σ w[p]·(x[i,p] - c[i])² of n columns p for rows i.", addMoments)
	loop("expRows", "func(n int, dst *T, ldd int, x *T, ldx int, c, sum *T, rows int)", "computes dst[i,p] = exp(x[i,p] - c[i]) and adds the sum of row i to sum[i], for n columns p.", expRows)

	loop("dotRows", "func(n int, x *T, ldx int, y *T, ldy int, sum *T, rows int)", "computes sum[i] = Σ x[i,p]·y[i,p] of n columns p for rows i.", func(v vec) { v.sumRows(v.addDot, "x", "y") })
	loop("sumRows", "func(n int, x *T, ldx int, sum *T, rows int)", "computes sum[i] = Σ x[i,p] of n columns p for rows i.", func(v vec) { v.sumRows(v.addSum, "x") })
	loop("sumSquaresRows", "func(n int, x *T, ldx int, sum *T, rows int)", "computes sum[i] = Σ x[i,p]² of n columns p for rows i.", func(v vec) { v.sumRows(v.addSquare, "x") })

	loop("dot", "func(x, y *T, n int) T", "returns Σ x_i·y_i.", func(v vec) { v.sumOf(v.addDot, "x", "y") })
	loop("dotFar", "func(n int, x, y *T) T", "returns Σ x_i·y_i of n elements, which must be whole turns of the loop of dot.", dotFar)
	loop("sum", "func(x *T, n int) T", "returns Σ x_i.", func(v vec) { v.sumOf(v.addSum, "x") })
	loop("sumSquares", "func(x *T, n int) T",
		"returns Σ x_i². It overflows and underflows as the squares do. Scale x if that\nmay happen.", func(v vec) { v.sumOf(v.addSquare, "x") })
	loop("max", "func(x *T, n int) T",
		"returns the largest element of x. It returns -Inf if x is empty, and NaN if any\nelement is NaN. +0 is larger than -0.", func(v vec) { v.maxOf(negInf, Arg("n"), Arg("x"), Result(), func(VecVirtual) {}) })
	loop("sumAbs", "func(x *T, n int) T", "returns Σ |x_i|.", sumAbs)
	loop("dotSign", "func(x, y *T, n int) T", "returns Σ sign(x_i)·y_i with the signs of Sign.", dotSign)
	loop("maxAbs", "func(x *T, n int) T", "returns the largest |x_i|. It returns 0 if x is empty, and NaN if any element is NaN.",
		func(v vec) { v.maxOf(0, Arg("n"), Arg("x"), Result(), v.abs) })

	loop("addConstant", "func(dst *T, c T, n int)", "computes dst_i += c.", addConstant)
	complexLoops()

	loop("exp", "func(dst, x *T, n int)", "computes dst_i = exp(x_i).", exp)
	loop("expSubTo", "func(dst, x, y *T, n int)",
		"computes dst_i = exp(x_i - y_i). It computes the difference in float64.", inFloat64(expSubTo))
	loop("expShiftSum", "func(dst, x *T, shift T, n int) float64",
		"computes dst_i = exp(x_i - shift) and returns their sum. It computes the\ndifference and the sum in float64.", inFloat64(expShiftSum))
	loop("sumExp", "func(x *T, shift T, n int) float64", `returns the sum of ExpShiftSum, Σ exp(x_i - shift), and stores nothing.

On the vector tiers it prefetches the 1024 elements after x, if there are any. Scan a
slice in pieces of 1024, and find the maximum of each piece before its sum. The next piece
is then in cache.`, inFloat64(sumExp))
	loop("expSubAdd", "func(x, y, sum *T, n int)",
		"computes x_i = exp(x_i - y_i) and then sum_i += x_i. It computes the difference\nand the sum in float64.", inFloat64(expSubAdd))
	loop("log", "func(dst, x *T, n int)",
		"computes dst_i = log(x_i). The result is -Inf for zeros, and NaN for numbers below\nzero.", log)

	loop("sinCos", "func(n int, sin, cos, x *T) int", "computes sines and cosines up to a vector with an element that is too large, infinite or NaN. It returns the number of elements before, or n or more.", inFloat64(vec.sinCos))

	for _, f := range []string{"sin", "cos"} {
		loop(f, "func(n int, dst, x *T) int", "computes the function up to elements that are too large, infinite or NaN, as sinCos does.", func(v vec) { v.loop(lanes(f)) })
	}

	loop("tan", "func(n int, y, d, x *T) int", "computes y_i = tan(x_i) and d_i = 1 + y_i² up to elements that are too large, infinite or NaN, as sinCos does.", func(v vec) { v.loop(lanes("tan")) })
	for _, f := range [][2]string{
		{"expm1", "computes y_i = exp(x_i) - 1 and d_i = exp(x_i)."},
		{"log1p", "computes y_i = log(1 + x_i) and d_i = 1/(1 + x_i). Below -1, y_i is NaN."},
		{"erf", "computes y_i = erf(x_i) and d_i = 2/√π·exp(-x_i²)."},
	} {
		loop(f[0], "func(y, d, x *T, n int)", f[1], func(v vec) { v.loop(lanes(f[0])) })
	}

	loop("above", "func(n int, x *T, bound T) int", "returns the number of elements before a group with one that is not above a bound, which must be below 1, or n.", func(v vec) {
		bound := v.BroadcastArg("bound")
		v.prefix(1, func(x VecVirtual, m Op) { v.Compare(NLT, x, bound, m) })
	})
	loop("nonzero", "func(n int, x *T) int", "returns the number of elements before a group with one that is 0, or n.", func(v vec) {
		zero := v.Zeros(1)[0]
		v.prefix(1, func(x VecVirtual, m Op) { v.Compare(EQ, zero, x, m) })
	})
	loop("smaller", "func(n int, x *T, bound T) int", "returns the number of elements before a group with one that is NaN or whose magnitude is not below bound, or n.", smaller)

	for _, f := range simple {
		loop(f.name, "func(dst, x *T, n int)", f.doc, func(v vec) { v.loop(f.function) })
	}
	for _, a := range additions {
		for _, sum := range a.kinds {
			f, doc := lanes(a.of).adding(a.result, sum), "computes dst_i += sign·"+a.doc
			if sum == sumOfProducts {
				doc += "·from_i"
			}
			if a.name == "addSign" {
				doc += " for any number sign, as the products are exact."
			} else {
				doc += " for a sign of 1 or -1."
			}
			if sum == sumOfProducts {
				doc += " The product is rounded."
			}
			sig := "func(" + f.sumParameters("*", sum) + ", n int)"
			if f.limit != 0 {
				sig = "func(n int, " + f.sumParameters("*", sum) + ") int"
			}
			loop(a.name+sum.suffix(), sig, doc, func(v vec) {
				if v.Double() && !f.both {
					v.addLoop(a.of, sum)
					return
				}
				v.loop(f)
			})
		}
	}
	loop("hypot", "func(dst, x, y *T, n int)", "computes dst_i = √(x_i² + y_i²), and +Inf where one is infinite, even if the other is NaN.\nNo square overflows or underflows.",
		func(v vec) { v.loop(lanes("hypot")) })
	loop("direction", "func(u, v, x, y *T, n int)", "computes u_i = x_i/r and v_i = y_i/r with r = √(x_i² + y_i²), and zeros where r is 0. An infinite\nnumber is to a finite one as 1 is to 0.",
		func(v vec) { v.loop(lanes("direction")) })
	emitBinary()
	emitActivations()
	loop("rectify", "func(dst *T, pos, neg T, x, from *T, n int)",
		"computes dst_i += pos·from_i where x_i is positive or NaN, and neg·from_i\nelsewhere. A factor of 0 adds nothing, whatever it multiplies.", rectify)
}

// inFloat64 makes a body compute in float64 whatever the type of the elements.
func inFloat64(body func(vec)) func(vec) {
	return func(v vec) { body(vec{ISA{Wide: v.Wide, Size: 8, Narrow: v.Size == 4, NEON: v.NEON}}) }
}

// --- Elementwise -----------------------------------------------------------

// axpyTo rounds the product before the sum: all tiers give the same bits, and
// y -= alpha·x restores y after y += alpha·x to within one rounding.
func axpyTo(v vec) {
	dst, x, y, n := Arg("dst"), Arg("x"), Arg("y"), Arg("n")
	alpha := v.BroadcastArg("alpha")
	v.Loop(n, 4, func(l Step, _ int) {
		t := l.Load(x)
		v.Mul(alpha, t, t)
		v.Add(l.Load(y), t, t)
		l.Store(t, dst)
	}, nil)
}

func addBinary(v vec, op func(b, a, dst Op)) {
	dst, x, y, n := Arg("dst"), Arg("x"), Arg("y"), Arg("n")
	alpha := v.BroadcastArg("alpha")
	v.Loop(n, 4, func(l Step, _ int) {
		t := l.Load(x)
		op(l.Load(y), t, t)
		v.Mul(alpha, t, t)
		v.Add(l.Load(dst), t, t)
		l.Store(t, dst)
	}, nil)
}

// prefix ends before a group with an element for which bad holds. It does not hold for good.
func (v vec) prefix(good float64, bad func(x VecVirtual, m Op)) {
	n, x, done := Arg("n"), Arg("x"), Unique("done")
	v.Groups(n, 4, func(ls []Step) {
		v.leave(ls, done, func(l Step, m Op) { bad(loadOr(l, x, good), m) })
	}, nil)
	MOVQ(n, Result())
	Label(done)
}

func smaller(v vec) {
	bound := v.BroadcastArg("bound")
	v.prefix(0, func(x VecVirtual, m Op) {
		v.abs(x)
		v.Compare(NLT, bound, x, m)
	})
}

// leave stores the index of a group of vectors in the result, and jumps to done, if a lane of a
// vector is bad.
func (v vec) leave(ls []Step, done string, bad func(l Step, m Op)) {
	ok, any := Unique("ok"), v.maskRegister()
	bad(ls[0], any)
	for _, l := range ls[1:] {
		m := v.maskRegister()
		if bad(l, m); v.Wide {
			KORW(m, any, any)
		} else {
			VORPS(m, any, any)
		}
	}
	if v.Wide {
		KORTESTW(any, any)
	} else {
		signs := GP32()
		VMOVMSKPS(any, signs)
		TESTL(signs, signs)
	}
	JZ(LabelRef(ok))
	MOVQ(ls[0].I, Result())
	JMP(LabelRef(done))
	Label(ok)
}

func (v vec) maskRegister() Register {
	if v.Wide {
		return K()
	}
	return v.Reg()
}

func addConstant(v vec) {
	dst, n, c := Arg("dst"), Arg("n"), v.BroadcastArg("c")
	v.Loop(n, 4, func(l Step, _ int) {
		t := l.Load(dst)
		v.Add(c, t, t)
		l.Store(t, dst)
	}, nil)
}

// addLines emits y += a·x·gain and then y += b·bias. A nil gain or bias is 1.
func (v vec) addLines(x, gain Register, a, b VecVirtual, bias Register) {
	y, n := Arg("y"), Arg("n")
	v.Loop(n, 4, func(l Step, _ int) {
		t, u := l.Load(x), b
		if gain != nil {
			v.Mul(l.Load(gain), t, t)
			u = l.Load(bias)
			v.Mul(b, u, u)
		}
		v.Mul(a, t, t)
		v.Add(l.Load(y), t, t)
		v.Add(u, t, t)
		l.Store(t, y)
	}, nil)
}

func binaryTo(v vec, op func(b, a, dst Op)) {
	dst, x, y, n := Arg("dst"), Arg("x"), Arg("y"), Arg("n")
	v.Loop(n, 4, func(l Step, _ int) {
		t := l.Load(x)
		op(l.Load(y), t, t)
		l.Store(t, dst)
	}, nil)
}

func scaleTo(v vec) {
	dst, x, n := Arg("dst"), Arg("x"), Arg("n")
	alpha := v.BroadcastArg("alpha")
	v.Loop(n, 4, func(l Step, _ int) {
		t := l.Load(x)
		v.Mul(alpha, t, t)
		l.Store(t, dst)
	}, nil)
}

func affineMax(v vec) {
	x, top, n := Arg("x"), Arg("top"), Arg("n")
	scale, shift := v.BroadcastArg("scale"), v.BroadcastArg("shift")
	v.Loop(n, 2, func(l Step, _ int) {
		t := l.Load(x)
		v.Mul(scale, t, t)
		v.Add(shift, t, t)
		l.Store(t, x)
		v.maximum(t, l.Load(top), t)
		l.Store(t, top)
	}, nil)
}

// subColumn subtracts an element of c from each row, and then multiplies the
// row by the elements of s if scale says so.
func subColumn(v vec, scale bool) {
	n, dst, ldd, x, ldx := Arg("n"), Arg("dst"), v.Stride("ldd"), Arg("x"), v.Stride("ldx")
	c, rows := Arg("c"), Arg("rows")
	var s Register
	if scale {
		s = Arg("s")
	}
	Times(rows, func() {
		ci := v.Broadcast(Mem{Base: c})
		v.Loop(n, 4, func(l Step, _ int) {
			t := l.Load(x)
			v.Sub(ci, t, t)
			if scale {
				v.Mul(l.Load(s), t, t)
			}
			l.Store(t, dst)
		}, nil)
		ADDQ(ldd, dst)
		ADDQ(ldx, x)
		ADDQ(Imm(uint64(v.Size)), c)
	})
}

// --- Reductions ------------------------------------------------------------

// accumulate runs body over the elements with as many accumulators as hide the
// latency of an FMA or an addition, and leaves their sum in the one it returns.
func accumulate(v vec, n Register, body func(l Step, acc VecVirtual)) VecVirtual {
	return accumulateAll(v, n, 1, func(l Step, acc []VecVirtual) { body(l, acc[0]) })[0]
}

// accumulateAll is accumulate for several sums.
func accumulateAll(v vec, n Register, sums int, body func(l Step, acc []VecVirtual)) []VecVirtual {
	var acc [4][]VecVirtual
	for u := range acc {
		acc[u] = v.Zeros(sums)
	}
	v.Loop(n, len(acc), func(l Step, u int) { body(l, acc[u]) }, func() {
		for i := range sums {
			v.Add(acc[1][i], acc[0][i], acc[0][i])
			v.Add(acc[3][i], acc[2][i], acc[2][i])
			v.Add(acc[2][i], acc[0][i], acc[0][i])
		}
	})
	return acc[0]
}

// sumOf returns a sum over elements of some vectors, which add adds to.
func (v vec) sumOf(add func(l Step, x []Register, acc VecVirtual), vectors ...string) {
	var at []Register
	for _, x := range vectors {
		at = append(at, Arg(x))
	}
	v.ReturnSum(accumulate(v, Arg("n"), func(l Step, acc VecVirtual) { add(l, at, acc) }))
}

func (v vec) addDot(l Step, x []Register, acc VecVirtual) {
	t := l.Load(x[0])
	v.Fmadd231(l.Load(x[1]), t, acc)
}

func (v vec) addSum(l Step, x []Register, acc VecVirtual) { v.Add(l.Load(x[0]), acc, acc) }

func (v vec) addSquare(l Step, x []Register, acc VecVirtual) {
	t := l.Load(x[0])
	v.Fmadd231(t, t, acc)
}

// dotFar has the accumulators of dot. On AVX-512 it loads a quarter of a vector at a time: a load of a whole one
// mostly covers parts of two lines of the cache, which takes longer where lines come from far.
func dotFar(v vec) {
	if !v.Wide {
		v.sumOf(v.addDot, "x", "y")
		return
	}
	x, y, n := Arg("x"), Arg("y"), Arg("n")
	const quarters, bytes = 4, 16
	acc := v.Zeros(4 * quarters)
	turn := Unique("turn")
	Label(turn)
	for i, sum := range acc {
		t := v.Reg().AsX()
		VMOVUPS(Mem{Base: x, Disp: bytes * i}, t)
		v.Fmadd231(Mem{Base: y, Disp: bytes * i}, t, sum.AsX())
	}
	ADDQ(U32(bytes*len(acc)), x)
	ADDQ(U32(bytes*len(acc)), y)
	SUBQ(Imm(uint64(4*v.Lanes())), n)
	JNZ(LabelRef(turn))
	for i, sum := range acc {
		if q := i % quarters; q > 0 {
			VINSERTF64X2(Imm(uint64(q)), sum.AsX(), acc[i-q], acc[i-q])
		}
	}
	v.Add(acc[quarters], acc[0], acc[0])
	v.Add(acc[3*quarters], acc[2*quarters], acc[2*quarters])
	v.Add(acc[2*quarters], acc[0], acc[0])
	v.ReturnSum(acc[0])
}

// centerSquares and huber clear the lanes that are masked out before they sum.
func centerSquares(v vec) {
	dst, x, n, c := Arg("dst"), Arg("x"), Arg("n"), v.BroadcastArg("c")
	acc := accumulate(v, n, func(l Step, acc VecVirtual) {
		t := l.Load(x)
		v.Sub(c, t, t)
		l.Store(t, dst)
		v.first(l, t)
		v.Fmadd231(t, t, acc)
	})
	v.ReturnSum(acc)
}

func huber(v vec) {
	d, x, y, n, most := Arg("d"), Arg("x"), Arg("y"), Arg("n"), v.BroadcastArg("delta")
	least, half := v.Zeros(1)[0], v.CopyOf(v.Const(0.5))
	v.Sub(most, least, least)
	acc := accumulate(v, n, func(l Step, acc VecVirtual) {
		r, t := l.Load(x), v.Reg()
		v.Sub(l.Load(y), r, r)
		Pick(v, VMAXPD, VMAXPS)(r, least, t) // NaN stays: it is the last operand
		Pick(v, VMINPD, VMINPS)(t, most, t)
		l.Store(t, d)
		v.Fnmadd231(half, t, r)
		v.Fmadd231(r, t, acc)
	})
	v.ReturnSum(acc)
}

func sumAbs(v vec) {
	x, n := Arg("x"), Arg("n")
	acc := accumulate(v, n, func(l Step, acc VecVirtual) {
		t := l.Load(x)
		v.abs(t)
		v.Add(t, acc, acc)
	})
	v.ReturnSum(acc)
}

// abs clears the signs of x.
func (v vec) abs(x VecVirtual) { Pick(v, VANDPD, VANDPS)(v.magnitudeBits(), x, x) }

func dotSign(v vec) {
	x, y, n := Arg("x"), Arg("y"), Arg("n")
	p, sign := lanes("sign").record(v.Size, v.Wide, false)
	acc := accumulate(v, n, func(l Step, acc VecVirtual) {
		s := v.emit(p, 1, func(int, int) VecVirtual { return l.Load(x) }, nil, sign)[0][0]
		v.Fmadd231(l.Load(y), s, acc)
	})
	v.ReturnSum(acc)
}

// maxOf stores the largest of n elements after change, and least if there is none. change keeps least. It
// keeps maxima in four accumulators, without NaN. Apart from them it keeps
// whether all elements so far were ordered, with one comparison for two elements.
func (v vec) maxOf(least float64, n, x Register, dst Mem, change func(x VecVirtual)) {
	m := v.maxima(4, least)
	v.Groups(n, len(m.acc), func(ls []Step) {
		e := make([]VecVirtual, len(ls))
		for u, l := range ls {
			e[u] = loadOr(l, x, least)
			change(e[u])
			m.add(u, e[u])
		}
		for u := 0; u < len(e); u += 2 {
			m.note(u/2, e[u], e[min(u+1, len(e)-1)])
		}
	}, nil)
	m.store(dst)
}

// maximum emits dst = max(a, b) as Go defines it: NaN if either is, and +0
// above -0. AVX-512 has an instruction for the latter. That of AVX2 returns b in
// both cases, so that the two orders of operands agree but there; their
// conjunction is right for zeros. A NaN in either operand is put back as a + b.
func (v vec) maximum(b, a, dst Op) {
	t := v.Reg()
	if v.Wide {
		nan := K()
		v.rangeMax(b, a, t)
		v.Compare(UNORD, b, a, nan)
		Pick(v, VADDPD, VADDPS)(b, a, nan, t)
	} else {
		v.OnNEON("FMAX", []Op{t, a, b}, func() {
			u, nan := v.Reg(), v.Reg()
			Pick(v, VMAXPD, VMAXPS)(b, a, t)
			Pick(v, VMAXPD, VMAXPS)(a, b, u)
			Pick(v, VANDPD, VANDPS)(t, u, t)
			v.Add(b, a, nan)
			v.Choose(UNORD, b, a, nan, t)
		})
	}
	VMOVAPS(t, dst)
}

// rangeMax emits dst = max(a, b) with +0 above -0, and a number instead of NaN,
// for AVX-512.
func (v vec) rangeMax(b, a, dst Op) {
	const signedMax = 5
	Pick(v, VRANGEPD, VRANGEPS)(Imm(signedMax), b, a, dst)
}

// maxima are maxima so far. Those of AVX2 do not tell zeros apart: +0 is among
// the elements if the maximum is 0 and not all have the sign.
type maxima struct {
	vec
	acc, signs, nan []VecVirtual
	ordered         []Register
}

func (v vec) maxima(n int, least float64) maxima {
	m := maxima{vec: v, acc: v.Regs(n)}
	for _, a := range m.acc {
		VMOVUPS(v.Const(least), a)
	}
	if v.Wide {
		m.ordered = []Register{K(), K()}
		for _, k := range m.ordered {
			KXNORW(k, k, k)
		}
		return m
	}
	m.signs, m.nan = v.Regs(2), v.Zeros(2)
	for _, s := range m.signs {
		v.Mov(v.Const(negInf), s)
	}
	return m
}

func (m maxima) add(u int, x VecVirtual) {
	if m.Wide {
		m.rangeMax(x, m.acc[u], m.acc[u])
		return
	}
	m.OnNEON("FMAX", []Op{m.acc[u], m.acc[u], x}, func() {
		Pick(m, VMAXPD, VMAXPS)(m.acc[u], x, m.acc[u])
		VANDPS(x, m.signs[u%2], m.signs[u%2])
	})
}

// note remembers whether x and y are NaN.
func (m maxima) note(u int, x, y VecVirtual) {
	if m.Wide {
		k := m.ordered[u]
		Pick(m, VCMPPD, VCMPPS)(Imm(ORD), x, y, k, k)
		return
	}
	m.OnNEON("", nil, func() { // a maximum is NaN there
		t := m.Reg()
		m.Compare(UNORD, x, y, t)
		VORPS(t, m.nan[u], m.nan[u])
	})
}

func (m maxima) store(dst Mem) {
	numbers := Unique("numbers")
	larger := m.rangeMax
	if !m.Wide {
		larger = func(b, a, dst Op) {
			m.OnNEON("FMAX", []Op{dst, a, b}, func() { Pick(m, VMAXPD, VMAXPS)(b, a, dst) })
		}
	}
	top := m.acc[0]
	for _, a := range m.acc[1:] {
		larger(a, top, top)
	}
	m.Reduce(top, larger)
	if m.Wide {
		KANDW(m.ordered[0], m.ordered[1], m.ordered[0])
		if m.Double() {
			KORTESTB(m.ordered[0], m.ordered[0])
		} else {
			KORTESTW(m.ordered[0], m.ordered[0])
		}
		JCS(LabelRef(numbers))
	}
	m.OnNEON("", nil, func() {
		if !m.Wide {
			VANDPS(m.signs[1], m.signs[0], m.signs[0])
			m.Reduce(m.signs[0], func(b, a, dst Op) { VANDPS(b, a, dst) })
			zero := m.Zeros(1)[0]
			VANDPS(m.Const(math.Copysign(0, -1)), m.signs[0], m.signs[0])
			m.Choose(EQ, zero, top, m.signs[0], top)
			some := GP32()
			VORPS(m.nan[1], m.nan[0], m.nan[0])
			VMOVMSKPS(m.nan[0], some)
			TESTL(some, some)
			JZ(LabelRef(numbers))
		}
		VMOVUPS(m.Const(math.NaN()), top)
	})
	Label(numbers)
	m.MovOne(top.AsX(), dst)
}

// loadOr is Load with fill in lanes that are masked out.
func loadOr(l Step, p Register, fill float64) VecVirtual {
	r := l.Load(p)
	switch {
	case l.Mask == nil:
	case l.Wide:
		k := K()
		KNOTW(l.Mask.K, k)
		Pick(l, VBROADCASTSD, VBROADCASTSS)(l.Const(fill), k, r)
	default:
		VBLENDVPS(l.Mask.Y, r, l.CopyOf(l.Const(fill)), r)
	}
	return r
}

var negInf = math.Inf(-1)
