package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// logLoops are the sums of package ulog.
func logLoops() {
	only := func(name, sig, doc string, body func()) {
		Func(name, Variant{Tier: "AVX512"}, sig, doc, body)
	}
	only("largest", "func(n int, x *int64) int64", "returns the largest number, or the least of all if n is 0.", largest)
	only("sumWords", "func(n int, x *int64, sums *uint64) bool", "sets sums to the low words of eight sums, and to their high words, and returns whether the least number of all is there.", sumWords)
	only("sumPowers", "func(n int, x, a *int64, sums *uint64) bool",
		"sets sums to the low words of eight sums of positive a_i·x_i, each rounded, to their high words, and to the same of the negative ones without their signs. It returns whether the least number of all is among x.", sumPowers)
	only("sumExp", "func(n int, x *int64, most int64, table *float64, sums *uint64)",
		"sets sums to the low words of eight sums of ⌊e^(x_i-most)·2⁹⁰⌋, and to their high words. It leaves out the least number of all, and those that are more than 63 below most.", sumExp)
}

func sumPowers() {
	n, px, pa, found, result := Arg("n"), Arg("x"), Arg("a"), K(), Result()
	positive, negative, least := g.Zeros(2), g.Zeros(2), g.CopyOf(Bits(1<<63))
	KXORB(found, found, found)
	g.Loop(n, 1, func(l Step, _ int) {
		x, a, k, minus, plus := l.Load(px), l.Load(pa), K(), K(), K()
		VPCMPEQQ(least, x, k)
		KORB(k, found, found)
		sign := g.Reg()
		VPXORQ(x, a, sign)
		VPMOVQ2M(sign, minus)
		KNOTB(minus, plus)
		u, v := abs(vectors{x}), abs(vectors{a})
		hi, lo := mulBoth(wide(u), wide(v))
		// To nearest, and to even: half a unit less one bit is added, and one more if the result is odd.
		half := add(and(shiftRight(lo, fraction), Bits(1)), Bits(1<<(fraction-1)-1))
		lo = addCarry(half, lo, hi)
		whole := or(shiftRight(lo, fraction), shiftLeft(hi, 64-fraction))
		top := shiftRight(hi, fraction)
		for _, s := range []struct {
			sum []VecVirtual
			k   Op
		}{{positive, plus}, {negative, minus}} {
			VPADDQ(top[0], s.sum[1], s.k, s.sum[1])
			addWords(s.sum[0], s.sum[1], whole[0], s.k)
		}
	}, nil)
	for i, v := range append(positive, negative...) {
		g.Mov(v, Mem{Base: Arg("sums"), Disp: i * line})
	}
	KTESTB(found, found)
	SETNE(result)
}

func largest() {
	n, x, most := Arg("n"), Arg("x"), g.CopyOf(Bits(1<<63))
	g.Loop(n, 1, func(l Step, _ int) {
		v := l.Load(x)
		if l.Mask == nil {
			VPMAXSQ(v, most, most)
		} else {
			VPMAXSQ(v, most, l.Mask.K, most)
		}
	}, nil)
	g.Reduce(most, func(b, a, dst Op) { VPMAXSQ(b, a, dst) })
	VMOVQ(most.AsX(), Result())
}

func sumWords() {
	n, x, found, result := Arg("n"), Arg("x"), K(), Result()
	lo, hi, least := g.Zeros(1)[0], g.Zeros(1)[0], g.CopyOf(Bits(1<<63))
	KXORB(found, found, found)
	g.Loop(n, 2, func(l Step, _ int) {
		v, k := l.Load(x), K() // 0 in lanes that are masked out
		VPCMPEQQ(least, v, k)
		KORB(k, found, found)
		addWords(lo, hi, v)
		VPSRAQ(Imm(63), v, v)
		VPADDQ(v, hi, hi)
	}, nil)
	storeSums(lo, hi)
	KTESTB(found, found)
	SETNE(result)
}

// addWords adds v, which has no sign, to the words of sums, where k is set if there is one.
func addWords(lo, hi, v VecVirtual, k ...Op) {
	carry, one := K(), Bits(1<<64-1)
	VPADDQ(append(append([]Op{v, lo}, k...), lo)...)
	VPCMPUQ(append(append([]Op{Imm(less), v, lo}, k...), carry)...)
	VPSUBQ(one, hi, carry, hi)
}

func storeSums(lo, hi VecVirtual) {
	sums := Arg("sums")
	g.Mov(lo, Mem{Base: sums})
	g.Mov(hi, Mem{Base: sums, Disp: line})
}

// sumExp takes the steps of package ulog. With n the integer nearest to d·32/log 2, e^-d is 2^(-n/32) from a
// table, which has it in two float64, times a polynomial of what is left.
func sumExp() {
	n, x, table, most := Arg("n"), Arg("x"), Arg("table"), g.Reg()
	VPBROADCASTQ(Arg("most"), most)
	// Entries with four bits of the index, for either value of the fifth.
	var first, rest [2][2]VecVirtual
	for i := range 4 {
		a, b := g.CopyOf(Mem{Base: table, Disp: 2 * line * i}), g.CopyOf(Mem{Base: table, Disp: 2*line*i + line})
		first[i/2][i%2], rest[i/2][i%2] = merge(a, b, func(i int) int { return 2 * i }), merge(a, b, func(i int) int { return 2*i + 1 })
	}
	find := func(table [2][2]VecVirtual, index VecVirtual, high Register) VecVirtual {
		a, b := g.CopyOf(index), g.CopyOf(index)
		VPERMI2PD(table[0][1], table[0][0], a)
		VPERMI2PD(table[1][1], table[1][0], b)
		VMOVAPD(b, high, a)
		return a
	}
	const shift = 0x1.8p52
	lo, hi := g.Zeros(1)[0], g.Zeros(1)[0]
	g.Loop(n, 1, func(l Step, _ int) {
		v, k, d := l.Load(x), K(), g.Reg()
		VPSUBQ(v, most, d)
		VPCMPUQ(Imm(lessEqual), Bits(63<<fraction), d, k)
		there := K()
		VPCMPQ(Imm(notEqual), Bits(1<<63), v, k, there)
		if l.Mask != nil {
			KANDB(l.Mask.K, there, there)
		}
		f := vec{}
		d = f.mul(toFloat(vectors{d})[0], g.Const(-1.0/(1<<fraction)))
		z := f.add(f.mul(d, g.Const(0x1.71547652b82fep+5)), g.Const(shift))
		count := f.sub(z, g.Const(shift))
		r := f.sub(f.sub(d, f.mul(count, g.Const(0x1.62e42fefa0000p-6))), f.mul(count, g.Const(0x1.cf79abc9e3b3ap-45)))
		r2 := f.mul(r, r)
		q := f.add(f.add(f.mul(r, g.Const(1./6)), g.Const(0.5)),
			f.mul(r2, f.add(f.add(f.mul(r, g.Const(1./120)), g.Const(1./24)), f.mul(r2, g.Const(1./720)))))
		p := f.add(r, f.mul(r2, q))
		high := K()
		VPTESTMQ(Bits(16), z, high)
		e := find(first, z, high)
		e = f.add(f.add(f.mul(e, p), find(rest, z, high)), e)
		VPSRLQ(Imm(5), z, z)
		VPSLLQ(Imm(52), z, z)
		VPADDQ(z, e, e)
		t := f.mul(e, g.Const(math.Ldexp(1, 90-64)))
		whole, back := g.Reg(), g.Reg()
		VCVTTPD2QQ(t, whole)
		VCVTQQ2PD(whole, back)
		t = f.mul(f.sub(t, back), g.Const(0x1p64))
		VCVTTPD2UQQ(t, t)
		VPADDQ(whole, hi, there, hi)
		addWords(lo, hi, t, there)
	}, nil)
	storeSums(lo, hi)
}

// vec has arithmetic of float64. The results are new registers.
type vec struct{}

func (vec) add(a VecVirtual, b Op) VecVirtual { return vec{}.op(VADDPD, a, b) }
func (vec) sub(a VecVirtual, b Op) VecVirtual { return vec{}.op(VSUBPD, a, b) }
func (vec) mul(a VecVirtual, b Op) VecVirtual { return vec{}.op(VMULPD, a, b) }

func (vec) op(op func(...Op), a VecVirtual, b Op) VecVirtual {
	r := g.Reg()
	op(b, a, r)
	return r
}
