package main

import (
	mathbits "math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// Loops over complex numbers are loops over their parts, which are neighbours: a product is
//
//	x·y = re·y + im·ỹ,  re = (Re x, Re x),  im = (-Im x, Im x),  ỹ = (Im y, Re y).

// complexLoop is loop for complex numbers.
func complexLoop(name, sig, doc string, body func(v vec, n Register)) {
	f := Float64(name, sig, doc, func(g ISA) {
		n := Arg("n")
		ADDQ(n, n)
		body(vec{g}, n)
	})
	chunks(f.Short("n"), name, sig)
}

func complexLoops() {
	complexLoop("complexSum", "func(x *complex128, n int) complex128", "returns Σ x_i.", complexSum)
	complexLoop("complexDot", "func(x, y *complex128, n int) complex128", "returns Σ conj(x_i)·y_i.", complexDot)
	complexLoop("complexAddConstant", "func(dst *complex128, c complex128, n int)", "computes dst_i += c.", complexAddConstant)
	complexLoop("complexAxpy", "func(alpha complex128, x, y *complex128, n int)", "computes y_i += alpha·x_i.", complexAxpy)
	complexLoop("complexAddProduct", "func(dst *complex128, sign, turn float64, x, y *complex128, n int)",
		"computes dst_i += sign·x_i·y_i for a turn of 1, and sign·conj(x_i)·y_i for\n-1. sign is a power of two, or the opposite of one.", complexAddProduct)
	eights("split", "func(re, im *float64, z *complex128, n int)", "computes re_i = Re z_i and im_i = Im z_i. n is a multiple of 8.", split)
	eights("addParts", "func(z *complex128, re, im *float64, n int)", "computes z_i += re_i + i·im_i. n is a multiple of 8.", addParts)
}

// eights emits a function over a multiple of eight complex numbers, and calls body for one vector of
// parts at a time.
func eights(name, sig, doc string, body func(v vec, re, im, z Register)) {
	Float64(name, sig, doc, func(g ISA) {
		re, im, z, n := Arg("re"), Arg("im"), Arg("z"), Arg("n")
		SHRQ(U8(mathbits.TrailingZeros(uint(g.Lanes()))), n)
		Times(n, func() {
			body(vec{g}, re, im, z)
			ADDQ(Imm(uint64(g.Width())), re)
			ADDQ(Imm(uint64(g.Width())), im)
			ADDQ(Imm(uint64(2*g.Width())), z)
		})
	})
}

// merged returns the elements of a and b, which are numbered one after the other, that order says.
func (v vec) merged(a, b VecVirtual, order ...uint64) VecVirtual {
	var index []Constant
	for _, i := range order {
		index = append(index, U64(i))
	}
	r := v.CopyOf(a)
	VPERMT2PD(b, v.CopyOf(Entry(index...)), r)
	return r
}

func split(v vec, re, im, z Register) {
	a, b := v.CopyOf(Mem{Base: z}), v.CopyOf(Mem{Base: z, Disp: v.Width()})
	if v.Wide {
		v.Mov(v.merged(a, b, 0, 2, 4, 6, 8, 10, 12, 14), Mem{Base: re})
		v.Mov(v.merged(a, b, 1, 3, 5, 7, 9, 11, 13, 15), Mem{Base: im})
		return
	}
	x, y := v.Reg(), v.Reg()
	VUNPCKLPD(b, a, x)
	VUNPCKHPD(b, a, y)
	VPERMPD(U8(0b11_01_10_00), x, x)
	VPERMPD(U8(0b11_01_10_00), y, y)
	v.Mov(x, Mem{Base: re})
	v.Mov(y, Mem{Base: im})
}

func addParts(v vec, re, im, z Register) {
	a, b := v.CopyOf(Mem{Base: re}), v.CopyOf(Mem{Base: im})
	var low, high VecVirtual
	if v.Wide {
		low, high = v.merged(a, b, 0, 8, 1, 9, 2, 10, 3, 11), v.merged(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
	} else {
		x, y := v.Reg(), v.Reg()
		VUNPCKLPD(b, a, x)
		VUNPCKHPD(b, a, y)
		low, high = v.Reg(), v.Reg()
		VPERM2F128(Imm(0x20), y, x, low)
		VPERM2F128(Imm(0x31), y, x, high)
	}
	for i, t := range []VecVirtual{low, high} {
		at := Mem{Base: z, Disp: i * v.Width()}
		v.Add(at, t, t)
		v.Mov(t, at)
	}
}

// broadcastParts returns the parts of an argument in all lanes.
func (v vec) broadcastParts(name string) (re, im VecVirtual) {
	a, b := ArgParts(name)
	return v.Broadcast(a), v.Broadcast(b)
}

// swapped returns y with the parts of each number exchanged.
func (v vec) swapped(y VecVirtual) VecVirtual {
	t := v.Reg()
	VPERMILPD(U8(0b01010101), y, t)
	return t
}

// turn changes the signs of the real parts.
func (v vec) turn(im VecVirtual) { VXORPD(Entry(U64(sign), U64(0)), im, im) }

// times returns re·y + im·ỹ, and overwrites y.
func (v vec) times(re, im, y VecVirtual) VecVirtual {
	t := v.swapped(y)
	v.Mul(im, t, t)
	v.Mul(re, y, y)
	v.Add(t, y, y)
	return y
}

// foldPairs returns the sums of the real and of the imaginary parts.
func (v vec) foldPairs(x VecVirtual) VecVirtual {
	for x.Size() > 16 {
		x = v.Fold(x)
	}
	return x
}

func complexSum(v vec, n Register) {
	x := Arg("x")
	acc := accumulate(v, n, func(l Step, acc VecVirtual) { v.Add(l.Load(x), acc, acc) })
	both, _ := ResultParts()
	VMOVUPS(v.foldPairs(acc), both)
}

// complexDot sums x·y by parts, which is the real part, and x·ỹ, whose sum has the imaginary part as
// a difference of neighbours.
func complexDot(v vec, n Register) {
	x, y := Arg("x"), Arg("y")
	acc := accumulateAll(v, n, 2, func(l Step, acc []VecVirtual) {
		a, b := l.Load(x), l.Load(y)
		v.Fmadd231(b, a, acc[0])
		v.Fmadd231(v.swapped(b), a, acc[1])
	})
	re, im := ResultParts()
	a, b, t := v.foldPairs(acc[0]), v.foldPairs(acc[1]), XMM()
	VPERMILPD(U8(1), a, t)
	VADDSD(t, a, a)
	VMOVSD(a, re)
	VPERMILPD(U8(1), b, t)
	VSUBSD(t, b, b)
	VMOVSD(b, im)
}

func complexAddConstant(v vec, n Register) {
	dst, c := Arg("dst"), v.Reg()
	re, im := v.broadcastParts("c")
	VUNPCKLPD(im, re, c)
	v.Loop(n, 4, func(l Step, _ int) {
		t := l.Load(dst)
		v.Add(c, t, t)
		l.Store(t, dst)
	}, nil)
}

func complexAxpy(v vec, n Register) {
	x, y := Arg("x"), Arg("y")
	re, im := v.broadcastParts("alpha")
	v.turn(im)
	v.Loop(n, 4, func(l Step, _ int) {
		p := v.times(re, im, l.Load(x))
		v.Add(l.Load(y), p, p)
		l.Store(p, y)
	}, nil)
}

func complexAddProduct(v vec, n Register) {
	dst, x, y := Arg("dst"), Arg("x"), Arg("y")
	sign, turn := v.BroadcastArg("sign"), v.BroadcastArg("turn")
	v.turn(turn)
	v.Loop(n, 2, func(l Step, _ int) {
		re, im := l.Load(x), v.Reg()
		VPERMILPD(U8(0b11111111), re, im)
		v.Mul(turn, im, im) // exact, as the product by sign
		VMOVDDUP(re, re)
		p, t := v.times(re, im, l.Load(y)), l.Load(dst)
		v.Fmadd231(p, sign, t)
		l.Store(t, dst)
	}, nil)
}
