package asm

import (
	"math"
	"sync"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The functions below repeat exp64 and exp32 of generic.go in package vec step by
// step, in the same order, so that all tiers give the same bits. The comments there
// explain each step.

const (
	expMagic64 = 0x1.8p49 + 2046
	expMagic32 = 0x1.8p52 + 1023
	log2e      = 0x1.71547652b82fep+0
	ln2        = 0x1.62e42fefa39efp-1
	ln2Lo      = 0x1.abc9e3b39803fp-56
	two52      = 0x433 << 52 // bits of 2⁵²
)

// exp64Hi and exp64Lo are the bits of 2^(j/8) and of what that lacks.
var (
	exp64Hi = [8]uint64{
		0x3ff0000000000000, 0x3ff172b83c7d517b, 0x3ff306fe0a31b715, 0x3ff4bfdad5362a27,
		0x3ff6a09e667f3bcd, 0x3ff8ace5422aa0db, 0x3ffae89f995ad3ad, 0x3ffd5818dcfba487,
	}
	exp64Lo = [8]uint64{
		0, 0xbc819041bc819041, 0x3c86f46b3c86f46b, 0x3c7d43973c7d4397,
		0xbc9bdd33bc9bdd33, 0x3c96e9f13c96e9f1, 0x3c97a1cd3c97a1cd, 0x3c82ed033c82ed03,
	}
)

var (
	exp64Q = []float64{
		0x1.000000000010bp-1, 0x1.5555555555132p-3, 0x1.5555554810259p-5,
		0x1.11111125d793bp-7, 0x1.6c1cbd31145a8p-10, 0x1.a016398b5f79fp-13,
	}
	exp32Q = []float64{
		0x1.0000003a1aefap-1, 0x1.5555544368485p-3, 0x1.55548dd864c29p-5,
		0x1.1112708c36ee4p-7, 0x1.6d8cf41da61fcp-10, 0x1.9f08a7c58f4ffp-13,
	}
)

// expTables emits the two tables as float64, and then the lower and the upper words of
// the first and the words of the second.
var expTables = sync.OnceFunc(func() {
	GLOBL("exp64Table", attr.RODATA|attr.NOPTR)
	var words [3][8]uint32
	for j, x := range append(exp64Hi[:8:8], exp64Lo[:]...) {
		DATA(8*j, U64(x))
		words[j/8*2][j%8] = uint32(x)
	}
	for j, x := range exp64Hi {
		words[1][j] = uint32(x >> 32)
	}
	GLOBL("exp64Words", attr.RODATA|attr.NOPTR)
	for j := range 24 {
		DATA(4*j, U32(words[j/8][j%8]))
	}
})

func expTable(name string, offset int) Mem {
	expTables()
	return NewDataAddr(NewStaticSymbol(name), offset)
}

// Arithmetic on float64 with a constant, which AVX-512 takes from memory as one element.

func (g ISA) withConst(memory, broadcast func(...Op), c float64, ops ...Op) {
	if g.Wide {
		memory = broadcast
	}
	memory(append([]Op{Bits(math.Float64bits(c))}, ops...)...)
}

// AddConst emits dst = a + c.
func (g ISA) AddConst(c float64, a, dst VecVirtual) { g.withConst(VADDPD, VADDPD_BCST, c, a, dst) }

// SubConst emits dst = a - c.
func (g ISA) SubConst(c float64, a, dst VecVirtual) { g.withConst(VSUBPD, VSUBPD_BCST, c, a, dst) }

// FmaddConst emits dst = dst·a + c.
func (g ISA) FmaddConst(c float64, a, dst VecVirtual) {
	g.withConst(VFMADD213PD, VFMADD213PD_BCST, c, a, dst)
}

// fnmaddConst emits dst -= a·c.
func (g ISA) fnmaddConst(c float64, a, dst VecVirtual) {
	g.withConst(VFNMADD231PD, VFNMADD231PD_BCST, c, a, dst)
}

// Exponential returns a function that emits the exponentials of vectors of float64,
// overwriting these. It emits each step for all of them: the chain of steps is
// long, and a processor that waits for one finds work in the others. If subnormal
// is false, a subnormal result is right but slow.
func (g ISA) Exponential(subnormal bool) func(x []VecVirtual) []VecVirtual {
	scale := normalScale
	if subnormal {
		scale = g.eitherScale
	}
	switch {
	case g.Narrow:
		return g.exponential32()
	case g.Wide:
		return g.exponential64Wide(scale)
	}
	return g.exponential64(scale)
}

// A scaler emits what scale does, given the exponents of the results.
type scaler func(exponents []VecVirtual, least float64, scale func(subnormal bool))

func normalScale(_ []VecVirtual, _ float64, scale func(subnormal bool)) { scale(false) }

func (g ISA) exponential64Wide(either scaler) func(x []VecVirtual) []VecVirtual {
	hi, lo := g.CopyOf(expTable("exp64Table", 0)), g.CopyOf(expTable("exp64Table", 64))
	return func(x []VecVirtual) []VecVirtual {
		t, n := g.expReduce(x, expMagic64)
		for u := range x {
			g.fnmaddConst(ln2Lo, n[u], x[u])
		}
		g.boundReduced(x)
		p := g.expPolynomial(exp64Q, x)
		for u, p := range p {
			h, l := g.Reg(), t[u]
			VPERMPD(hi, t[u], h)
			VPERMPD(lo, t[u], l)
			g.Fmadd213(l, h, p)
			g.Add(h, p, p)
		}
		either(n, leastNormal, func(subnormal bool) {
			for u, p := range p {
				if !subnormal {
					VSCALEFPD(n[u], p, p)
					continue
				}
				k := K()
				VCMPPD_BCST(Imm(LT), Bits(math.Float64bits(leastNormal)), n[u], k)
				VADDPD_BCST(Bits(math.Float64bits(toInteger)), n[u], k, n[u])
				VMAXPD_BCST(Bits(math.Float64bits(-100)), n[u], k, n[u])
				VSCALEFPD(n[u], p, p)
				VADDPD_BCST(Bits(two52), p, k, p)
				VPSUBQ_BCST(Bits(two52), p, k, p)
			}
		})
		return p
	}
}

func (g ISA) exponential64(either scaler) func(x []VecVirtual) []VecVirtual {
	clamp := g.clamp(-750, 710)
	return func(x []VecVirtual) []VecVirtual {
		clamp(x)
		t, n := g.expReduce(x, expMagic64)
		for u := range x {
			g.fnmaddConst(ln2Lo, n[u], x[u])
		}
		p := g.expPolynomial(exp64Q, x)
		for u, p := range p {
			// The tables are looked up by words, with the index in both of each element.
			i, h, l := g.Reg(), g.Reg(), g.Reg()
			VMOVSLDUP(t[u], i)
			VPERMD(expTable("exp64Words", 0), i, l)
			VPERMD(expTable("exp64Words", 32), i, h)
			VPBLENDD(Imm(0xaa), h, l, h)
			VPERMD(expTable("exp64Words", 64), i, l)
			g.Fmadd213(l, h, p)
			g.Add(h, p, p)
		}
		either(t, expMagic64+leastNormal, func(subnormal bool) {
			for u, p := range p {
				t, half, m := t[u], g.Reg(), g.Reg()
				if subnormal {
					VCMPPD(Imm(LT), g.Const(expMagic64+leastNormal), t, m)
				}
				VPSRLQ(Imm(3), t, t)
				if subnormal {
					VPAND(Bits(toInteger), m, half)
					VPADDQ(half, t, t)
				}
				VPSRLQ(Imm(1), t, half)
				VPSUBQ(half, t, t)
				VPSLLQ(Imm(52), half, half)
				VPSLLQ(Imm(52), t, t)
				g.Mul(half, p, p)
				g.Mul(t, p, p)
				if subnormal {
					VPAND(Bits(two52), m, m)
					g.Add(m, p, p)
					VPSUBQ(m, p, p)
				}
			}
		})
		return p
	}
}

const (
	leastNormal = -1022 // the exponent of normal numbers
	toInteger   = 1074  // the exponent of a factor that makes subnormal numbers integers
)

// eitherScale emits the scaling by powers of two twice, and a branch to that for
// subnormal results if an exponent is below least. A processor may take hundreds of
// cycles to round to a subnormal number, or to 0. So such a result is made a number of
// units of subnormal numbers, and 2⁵² is added, which rounds it: the bits of the sum are
// the bits of 2⁵² plus the bits of the result. (A NaN may hide an exponent from the test,
// and the slow rounding then happens.)
func (g ISA) eitherScale(exponents []VecVirtual, least float64, scale func(subnormal bool)) {
	normal, done := Unique("normal"), Unique("scaled")
	e := exponents[0]
	if len(exponents) > 1 {
		e = g.Reg()
		VMINPD(exponents[0], exponents[1], e)
		for _, x := range exponents[2:] {
			VMINPD(e, x, e)
		}
	}
	if g.Wide {
		k := K()
		VCMPPD_BCST(Imm(LT), Bits(math.Float64bits(least)), e, k)
		KORTESTW(k, k)
	} else {
		m, signs := g.Reg(), GP32()
		VCMPPD(Imm(LT), g.Const(least), e, m)
		VMOVMSKPD(m, signs)
		TESTL(signs, signs)
	}
	JZ(LabelRef(normal))
	scale(true)
	JMP(LabelRef(done))
	Label(normal)
	scale(false)
	Label(done)
}

func (g ISA) exponential32() func(x []VecVirtual) []VecVirtual {
	clamp, least := func([]VecVirtual) {}, VecVirtual(nil)
	if g.Wide {
		least = g.CopyOf(g.Const(-1000)) // of exponents: no result is subnormal in float64
	} else {
		clamp = g.clamp(-105, 90)
	}
	return func(x []VecVirtual) []VecVirtual {
		clamp(x)
		t, n := g.expReduce(x, expMagic32)
		if g.Wide {
			g.boundReduced(x)
		}
		even := g.expPolynomial(exp32Q, x)
		for u, e := range even {
			g.AddConst(1, e, e)
			if g.Wide {
				VMAXPD(n[u], least, n[u])
				VSCALEFPD(n[u], e, e)
				continue
			}
			VPSLLQ(Imm(52), t[u], t[u])
			g.Mul(t[u], e, e)
		}
		return even
	}
}

// clamp returns a function that emits x = min(max(x, lo), hi). The minimum and
// maximum of a NaN in the last operand is that NaN.
func (g ISA) clamp(lo, hi float64) func(x []VecVirtual) {
	lowest, highest := g.CopyOf(g.Const(lo)), g.CopyOf(g.Const(hi))
	return func(x []VecVirtual) {
		for _, x := range x {
			VMAXPD(x, lowest, x)
		}
		for _, x := range x {
			VMINPD(x, highest, x)
		}
	}
}

// boundReduced stands for clamp on AVX-512, where VSCALEFPD does what is right
// for any n, NaN and infinities included, if only its other operand is finite
// and positive. So a bound is put on r, which exceeds it only where it means
// nothing, and which it replaces if it is NaN.
func (g ISA) boundReduced(r []VecVirtual) {
	const leastMagnitude = 2
	for _, r := range r {
		VRANGEPD_BCST(Imm(leastMagnitude), Bits(math.Float64bits(0.5)), r, r)
	}
}

// expReduce returns t and n, and leaves r₁ in x.
func (g ISA) expReduce(x []VecVirtual, magic float64) (t, n []VecVirtual) {
	t, n = g.Regs(len(x)), g.Regs(len(x))
	for u := range x {
		VBROADCASTSD(Bits(math.Float64bits(log2e)), t[u])
		g.FmaddConst(magic, x[u], t[u])
	}
	for u := range x {
		g.SubConst(magic, t[u], n[u])
	}
	for u := range x {
		g.fnmaddConst(ln2, n[u], x[u])
	}
	return t, n
}

// expPolynomial returns r + r²·q(r).
func (g ISA) expPolynomial(q []float64, r []VecVirtual) []VecVirtual {
	r2, even, odd := g.Regs(len(r)), g.Regs(len(r)), g.Regs(len(r))
	for u := range r {
		g.Mul(r[u], r[u], r2[u])
	}
	g.hornerConst(q[0], q[2], q[4], r2, even)
	g.hornerConst(q[1], q[3], q[5], r2, odd)
	for u := range r {
		g.Fmadd231(odd[u], r[u], even[u])
	}
	for u := range r {
		g.Fmadd213(r[u], r2[u], even[u])
	}
	return even
}

// hornerConst emits p = a + b·x + c·x².
func (g ISA) hornerConst(a, b, c float64, x, p []VecVirtual) {
	for u := range x {
		VBROADCASTSD(Bits(math.Float64bits(c)), p[u])
		g.FmaddConst(b, x[u], p[u])
	}
	for u := range x {
		g.FmaddConst(a, x[u], p[u])
	}
}
