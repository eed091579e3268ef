package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// Loops that tell whether a result may be out of range.

func checked() {
	both := func(name, sig, doc string, body, words func()) {
		Func(name, Variant{Tier: "AVX512"}, sig, doc, body)
		onlyAVX2(name, sig, doc, words)
	}
	const returns = " It returns whether all results are surely in range."
	both("axpyChecked", "func(n int, alpha int64, x, y *int64, minus int) bool", "does what axpy does."+returns, func() { products(true, true) }, func() { wordProducts(true, true) })
	both("addProductsChecked", "func(n int, x, y, from, z *int64, minus int) bool", "does what addProducts does."+returns, func() { products(false, true) }, func() { wordProducts(false, true) })
	both("dotChecked", "func(n int, x, y *int64, sums *uint64)",
		"sets sums to the sums of the products of limbs of x_i + 2⁶³ and y_i + 2⁶³, those of weight 1, 2⁵², 2⁴⁰ and 2⁹², and to Σ x_i + y_i and the sums of the high limbs; with AVX2 to those of weight 1, 2³², 2⁶⁴ and 2⁹⁶, and to the sums of the low and of the high halves of the factors. The last lanes count, where n is no multiple of 8, or of 4. n is at most 2¹¹.", dotChecked, dotWordsChecked)
	onlyAVX2("squaresChecked", "func(n int, x *int64, sums *uint64)", "sets sums to what Σ x_i² has of the weights 1, 2³², 2⁶⁴ and 2⁹⁶. n is at most 2¹⁴.", squareWordsChecked)
	sameBody("magnitudes", "func(n int, x *int64) uint64", "returns the bits of all |x_i|.", func() {
		n, x, bits := Arg("n"), Arg("x"), g.Zeros(1)[0]
		g.Groups(n, 2, func(ls []Step) {
			for _, v := range abs(loadAll(ls, x)) {
				orTo(v, bits, bits)
			}
		}, nil)
		g.Reduce(bits, func(b, a, dst Op) { VORPD(b, a, dst) })
		VMOVSD(bits.AsX(), Result())
	})
}

// An estimate keeps the largest magnitude of sums z + x·y or z - x·y in float64.
type estimate struct {
	scale, largest VecVirtual
	plus, minus    Register // all lanes, or none
}

// newEstimate takes the words -1 for a difference, else 0.
func newEstimate(minus VecVirtual) estimate {
	g := ifma
	e := estimate{g.Reg(), g.Zeros(1)[0], K(), K()}
	VPMOVQ2M(minus, e.minus)
	KNOTB(e.minus, e.plus)
	VPSLLQ(Imm(63), minus, e.scale)
	VXORPD(g.Const(math.Ldexp(1, -fraction)), e.scale, e.scale)
	return e
}

// factor returns x in float64, in units of products.
func (e estimate) factor(x VecVirtual) VecVirtual {
	f := ifma.Reg()
	VCVTQQ2PD(x, f)
	VMULPD(e.scale, f, f)
	return f
}

// see takes the sum of z and the product of y with a factor.
func (e estimate) see(factor, y, z VecVirtual) {
	a, sum := ifma.Reg(), ifma.Reg()
	VCVTQQ2PD(y, a)
	VCVTQQ2PD(z, sum)
	VFMADD231PD(a, factor, sum)
	const largestMagnitude = 0x0b
	VRANGEPD(Imm(largestMagnitude), sum, e.largest, e.largest)
}

// store stores whether the largest is below 2⁶³ by more than float64 rounds a + x·y of any three numbers, which is less
// than 2³³ units.
func (e estimate) store() {
	ifma.Reduce(e.largest, func(b, a, dst Op) { VMAXPD(b, a, dst) })
	VUCOMISD(ifma.Const(1<<63-1<<34), e.largest.AsX())
	SETCS(Result())
}

// dotChecked sums as dot does, and the high limbs too. No sum wraps but that of x + y.
func dotChecked() {
	g := ifma
	n, x, y, acc := Arg("n"), Arg("x"), Arg("y"), []vectors{g.Zeros(7), g.Zeros(7)}
	sign, low := g.CopyOf(Bits(1<<63)), g.CopyOf(Bits(1<<40-1))
	g.Loop(n, len(acc), func(l Step, u int) {
		x0, x1, y0, y1, t := l.Load(x), g.Reg(), g.Reg(), g.Reg(), acc[u]
		v := l.Load(y)
		VPXORQ(sign, x0, x1)
		VPSRLQ(Imm(52), x1, x1)
		VPXORQ(sign, v, y1)
		VPSRLQ(Imm(40), y1, y1)
		VPANDQ(low, v, y0)
		VPADDQ(x0, t[4], t[4])
		VPADDQ(v, t[4], t[4])
		VPADDQ(x1, t[5], t[5])
		VPADDQ(y1, t[6], t[6])
		addLimbs(t, x0, x1, y0, y1)
	}, func() {
		for i, t := range acc[1] {
			VPADDQ(t, acc[0][i], acc[0][i])
		}
	})
	g.Mov(sumLanes(append(acc[0], g.Zeros(1)...)), Mem{Base: Arg("sums")})
}
