// Command _gen writes the assembly of package fft.
//
// The passes of all radices differ only in the transform of a few numbers in registers, a
// butterfly. A lane of a register is a column. Columns in the user's memory are pairs of
// real and imaginary part, those between passes are blocks of a register with real parts and
// one with imaginary parts.
package main

import (
	"fmt"
	"math"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		for _, g := range []ISA{{Wide: true, Size: 8}, {Size: 8}} {
			v := vec{g}
			emit := func(name, args, doc string, body func()) {
				Func(name, Variant{Tier: g.Tier(), Size: 8}, "func("+args+")", doc, body)
			}
			for _, r := range radices(g) {
				emit(fmt.Sprint("first", r), "dst *float64, x *complex128, tw *float64, m, stride, back int",
					fmt.Sprintf("is the first pass, of radix %d, from rows of x that lie a stride apart.", r), func() { v.first(r) })
				emit(fmt.Sprint("middle", r), "dst, src, tw *float64, m, s int",
					fmt.Sprintf("is a pass of radix %d between blocks.", r), func() { v.middle(r) })
				emit(fmt.Sprint("last", r), "x *complex128, src *float64, s, stride, back int",
					fmt.Sprintf("is the last pass, of radix %d, to rows of x that lie a stride apart.", r), func() { v.last(r) })
			}
			emit("load", "dst *float64, x *complex128, n, cols, stride, back int",
				"copies n rows of x to blocks, with zeros in other lanes than cols.", func() { v.load() })
			emit("store", "x *complex128, src *float64, n, cols, stride, back int, scale float64",
				"copies cols lanes of n blocks, times scale, to rows of x.", func() { v.store() })
			emit("middleOdd", "dst, src, tw, roots, sums *float64, r, m, s int",
				"is a pass between blocks of an odd radix r. roots are pairs of cos(2πjk/r) and sin(2πjk/r), by j and k up to r/2. sums is memory for 2·(r/2) blocks.", func() { v.middleOdd() })
			emit("turn", "dst, src, lanes, rows *float64, n, stride int",
				"multiplies n groups of blocks by the twiddle of each row and lane, and transposes each group. Those of dst lie stride blocks apart.", func() { v.turn() })
			emit("mul", "dst, a, b *complex128, n, back int",
				"computes dst[i] = a[i]·b[i], or a[i]·conj(b[i]), for n numbers, n > 0 a multiple of 8.", func() { v.mul() })
			for _, name := range []string{"fold", "foldAdd"} {
				emit(name, "dst, z, t *complex128, n, h, back int, scale float64",
					"is a fold of n registers of numbers from z_0 on and of as many down from z_h.", func() { v.fold(name == "foldAdd") })
			}
		}
	})
}

// radices returns the radices whose butterflies fit the registers.
func radices(g ISA) []int {
	if g.Wide {
		return []int{2, 3, 4, 5, 7, 8}
	}
	return []int{2, 3, 4}
}

// A vec emits code for one tier.
type vec struct{ ISA }

// A number is complex, in each lane.
type number struct{ re, im VecVirtual }

func (v vec) number() number { return number{v.Reg(), v.Reg()} }

// block returns the bytes of a block.
func (v vec) block() int { return 2 * v.Width() }

func (v vec) loadBlock(m Mem) number { return number{v.Load(m, nil), v.Load(m.Offset(v.Width()), nil)} }

func (v vec) storeBlock(a number, m Mem) {
	v.Store(a.re, m, nil)
	v.Store(a.im, m.Offset(v.Width()), nil)
}

// deinterleaved returns the numbers of a row, which is in two registers. Lanes 2i and 2i+1 get
// columns i and lanes/2+i. Back exchanges real and imaginary parts, which makes the transform
// its inverse.
func (v vec) deinterleaved(a, b VecVirtual, back bool) number {
	z := v.number()
	VUNPCKLPD(b, a, z.re)
	VUNPCKHPD(b, a, z.im)
	if back {
		z.re, z.im = z.im, z.re
	}
	return z
}

// interleaved is the inverse of deinterleaved.
func (v vec) interleaved(z number, back bool) (a, b VecVirtual) {
	if back {
		z.re, z.im = z.im, z.re
	}
	a, b = v.Reg(), v.Reg()
	VUNPCKLPD(z.im, z.re, a)
	VUNPCKHPD(z.im, z.re, b)
	return a, b
}

func (v vec) loadRow(m Mem, back bool) number {
	return v.deinterleaved(v.Load(m, nil), v.Load(m.Offset(v.Width()), nil), back)
}

func (v vec) storeRow(z number, m Mem, back bool) {
	a, b := v.interleaved(z, back)
	v.Store(a, m, nil)
	v.Store(b, m.Offset(v.Width()), nil)
}

func (v vec) add(a, b number) number {
	z := v.number()
	v.Add(b.re, a.re, z.re)
	v.Add(b.im, a.im, z.im)
	return z
}

func (v vec) sub(a, b number) number {
	z := v.number()
	v.Sub(b.re, a.re, z.re)
	v.Sub(b.im, a.im, z.im)
	return z
}

// addTurned returns a - ib and a + ib.
func (v vec) addTurned(a, b number) (minus, plus number) {
	minus, plus = v.number(), v.number()
	v.Add(b.im, a.re, minus.re)
	v.Sub(b.re, a.im, minus.im)
	v.Sub(b.im, a.re, plus.re)
	v.Add(b.re, a.im, plus.im)
	return minus, plus
}

// twiddled returns a times the number at m.
func (v vec) twiddled(a number, m Mem) number {
	z := v.number()
	if v.Wide {
		VMULPD_BCST(m.Offset(8), a.im, z.re)
		VMULPD_BCST(m, a.im, z.im)
		VFMSUB231PD_BCST(m, a.re, z.re)
		VFMADD231PD_BCST(m.Offset(8), a.re, z.im)
		return z
	}
	re, im := v.Broadcast(m), v.Broadcast(m.Offset(8))
	return v.times(a, re, im)
}

// times returns a·(re + i·im).
func (v vec) times(a number, re, im Op) number {
	z := v.number()
	VMULPD(im, a.im, z.re)
	VMULPD(re, a.im, z.im)
	VFMSUB231PD(re, a.re, z.re)
	VFMADD231PD(im, a.re, z.im)
	return z
}

// butterfly returns the transform b_j = Σ_k a_k·exp(-2πijk/r) of r numbers.
func (v vec) butterfly(a []number) []number {
	switch len(a) {
	case 2:
		return []number{v.add(a[0], a[1]), v.sub(a[0], a[1])}
	case 4:
		s, d := v.add(a[0], a[2]), v.sub(a[0], a[2])
		t, u := v.add(a[1], a[3]), v.sub(a[1], a[3])
		minus, plus := v.addTurned(d, u)
		return []number{v.add(s, t), minus, v.sub(s, t), plus}
	case 8:
		return v.butterfly8(a)
	}
	return v.butterflyOdd(a)
}

// butterfly8 joins the transforms e of the even numbers and o of the odd ones:
//
//	b_j = e_j + w^j·o_j,  b_(j+4) = e_j - w^j·o_j,  w = (1-i)/√2
func (v vec) butterfly8(a []number) []number {
	e := v.butterfly([]number{a[0], a[2], a[4], a[6]})
	o := v.butterfly([]number{a[1], a[3], a[5], a[7]})
	b := make([]number, 8)
	b[0], b[4] = v.add(e[0], o[0]), v.sub(e[0], o[0])
	b[2], b[6] = v.addTurned(e[2], o[2])
	root := v.Const(math.Sqrt2 / 2)
	diagonal := func(e, o VecVirtual) (plus, minus VecVirtual) {
		minus = v.CopyOf(e)
		v.Fnmadd231(root, o, minus)
		v.Fmadd231(root, o, e)
		return e, minus
	}
	// √2·w·o is (re + im, im - re), and √2·w³·o is (im - re, -re - im).
	t := v.number()
	v.Add(o[1].im, o[1].re, t.re)
	v.Sub(o[1].re, o[1].im, t.im)
	b[1].re, b[5].re = diagonal(e[1].re, t.re)
	b[1].im, b[5].im = diagonal(e[1].im, t.im)
	t = v.number()
	v.Sub(o[3].re, o[3].im, t.re)
	v.Add(o[3].im, o[3].re, t.im)
	b[3].re, b[7].re = diagonal(e[3].re, t.re)
	b[7].im, b[3].im = diagonal(e[3].im, t.im)
	return b
}

// butterflyOdd has sums t and differences d of a_k and a_(r-k):
//
//	b_j, b_(r-j) = u ∓ iv,  u = a_0 + Σ_k cos(2πjk/r)·t_k,  v = Σ_k sin(2πjk/r)·d_k
func (v vec) butterflyOdd(a []number) []number {
	r := len(a)
	var t, d []number
	for k := 1; 2*k < r; k++ {
		t, d = append(t, v.add(a[k], a[r-k])), append(d, v.sub(a[k], a[r-k]))
	}
	b := make([]number, r)
	for j := 1; 2*j < r; j++ {
		u, w := number{v.CopyOf(a[0].re), v.CopyOf(a[0].im)}, v.number()
		for i := range t {
			sin, cos := math.Sincos(2 * math.Pi * float64(j*(i+1)%r) / float64(r))
			v.Fmadd231(v.Const(cos), t[i].re, u.re)
			v.Fmadd231(v.Const(cos), t[i].im, u.im)
			if i == 0 {
				v.Mul(v.Const(sin), d[i].re, w.re)
				v.Mul(v.Const(sin), d[i].im, w.im)
				continue
			}
			v.Fmadd231(v.Const(sin), d[i].re, w.re)
			v.Fmadd231(v.Const(sin), d[i].im, w.im)
		}
		b[j], b[r-j] = v.addTurned(u, w)
	}
	b[0] = a[0]
	for _, t := range t {
		v.Add(t.re, b[0].re, b[0].re)
		v.Add(t.im, b[0].im, b[0].im)
	}
	return b
}

// prefetch fetches the numbers of the next group of columns in a row.
func (v vec) prefetch(m Mem) {
	for at := 0; at < v.block(); at += 64 {
		PREFETCHT0(m.Offset(v.block() + at))
	}
}

// pass emits a butterfly and the twiddles, if there are any.
func (v vec) pass(r int, load func(k int) number, tw Register, store func(b number, j int)) {
	a := make([]number, r)
	for k := range a {
		a[k] = load(k)
	}
	for j, b := range v.butterfly(a) {
		if tw != nil && j > 0 {
			b = v.twiddled(b, Mem{Base: tw, Disp: 16 * (j - 1)})
		}
		store(b, j)
	}
}

// rowsOf returns a walk over rows of the user's memory that are n times a stride apart, and the
// stride in bytes.
func rowsOf(n string, count int) (w Walk, stride GPVirtual) {
	stride = Arg("stride")
	SHLQ(U8(4), stride)
	step := GP64()
	MOVQ(stride, step)
	if n != "" {
		IMULQ(ArgAddr(n), step)
	}
	return NewWalk(step, count), stride
}

// directions emits body for both directions.
func directions(body func(back bool)) {
	back := Unique("back")
	CMPQ(ArgAddr("back"), Imm(0))
	JNE(LabelRef(back))
	body(false)
	VZEROUPPER()
	RET()
	Label(back)
	body(true)
}

// first emits the pass for numbers p, p+m, ..., p+(r-1)·m, which become numbers rp, ..., rp+r-1.
func (v vec) first(r int) {
	directions(func(back bool) {
		dst, x, tw, m := Arg("dst"), Arg("x"), Arg("tw"), Arg("m")
		w, stride := rowsOf("m", r)
		once := func(tw Register) {
			v.pass(r, func(k int) number {
				v.prefetch(w.Row(x, k))
				return v.loadRow(w.Row(x, k), back)
			}, tw,
				func(b number, j int) { v.storeBlock(b, Mem{Base: dst, Disp: j * v.block()}) })
			ADDQ(stride, x)
			ADDQ(I32(r*v.block()), dst)
		}
		done := Unique("done")
		once(nil)
		DECQ(m)
		JZ(LabelRef(done))
		Times(m, func() {
			once(tw)
			ADDQ(I32(16*(r-1)), tw)
		})
		Label(done)
	})
}

// blocksOf returns the bytes of as many blocks as the product of some arguments.
func (v vec) blocksOf(names ...string) GPVirtual {
	step := Arg(names[0])
	for _, n := range names[1:] {
		IMULQ(ArgAddr(n), step)
	}
	SHLQ(U8(bits.TrailingZeros(uint(v.block()))), step)
	return step
}

// middle emits the pass for blocks q + s·(p + m·k), which become blocks q + s·(rp + j).
func (v vec) middle(r int) {
	dst, src, tw, m := Arg("dst"), Arg("src"), Arg("tw"), Arg("m")
	in, out := NewWalk(v.blocksOf("m", "s"), r), NewWalk(v.blocksOf("s"), r)
	q := GP64()
	once := func(tw Register) {
		MOVQ(ArgAddr("s"), q)
		Times(q, func() {
			v.pass(r, func(k int) number { return v.loadBlock(in.Row(src, k)) }, tw,
				func(b number, j int) { v.storeBlock(b, out.Row(dst, j)) })
			ADDQ(I32(v.block()), src)
			ADDQ(I32(v.block()), dst)
		})
		out.Skip(dst, r-1)
	}
	done := Unique("done")
	once(nil)
	DECQ(m)
	JZ(LabelRef(done))
	Times(m, func() {
		once(tw)
		ADDQ(I32(16*(r-1)), tw)
	})
	Label(done)
}

// last emits the pass for blocks q + s·k, which become rows q + s·j.
func (v vec) last(r int) {
	directions(func(back bool) {
		x, src, s := Arg("x"), Arg("src"), Arg("s")
		in := NewWalk(v.blocksOf("s"), r)
		w, stride := rowsOf("s", r)
		Times(s, func() {
			v.pass(r, func(k int) number { return v.loadBlock(in.Row(src, k)) }, nil,
				func(b number, j int) {
					v.prefetch(w.Row(x, j))
					v.storeRow(b, w.Row(x, j), back)
				})
			ADDQ(I32(v.block()), src)
			ADDQ(stride, x)
		})
	})
}

// columnMasks returns the masks of the two registers of a row with cols columns.
func (v vec) columnMasks() (a, b *Mask) {
	first, second, lanes, zero := GP64(), Arg("cols"), GP64(), GP64()
	ADDQ(second, second)
	MOVQ(second, first)
	MOVQ(I32(v.Lanes()), lanes)
	XORQ(zero, zero)
	SUBQ(lanes, second)
	CMOVQGT(lanes, first)
	CMOVQLT(zero, second)
	return v.HeldMask(first), v.HeldMask(second)
}

// load emits a pass of radix 1 with the layouts of first.
func (v vec) load() {
	directions(func(back bool) {
		dst, x, n := Arg("dst"), Arg("x"), Arg("n")
		_, stride := rowsOf("", 1)
		a, b := v.columnMasks()
		Times(n, func() {
			v.storeBlock(v.deinterleaved(v.Load(Mem{Base: x}, a), v.Load(Mem{Base: x, Disp: v.Width()}, b), back), Mem{Base: dst})
			ADDQ(stride, x)
			ADDQ(I32(v.block()), dst)
		})
	})
}

// store emits a pass of radix 1 with the layouts of last.
func (v vec) store() {
	directions(func(back bool) {
		x, src, n := Arg("x"), Arg("src"), Arg("n")
		_, stride := rowsOf("", 1)
		scale := v.BroadcastArg("scale")
		a, b := v.columnMasks()
		Times(n, func() {
			z := v.loadBlock(Mem{Base: src})
			v.Mul(scale, z.re, z.re)
			v.Mul(scale, z.im, z.im)
			lo, hi := v.interleaved(z, back)
			v.Store(lo, Mem{Base: x}, a)
			v.Store(hi, Mem{Base: x, Disp: v.Width()}, b)
			ADDQ(stride, x)
			ADDQ(I32(v.block()), src)
		})
	})
}

// middleOdd is middle with butterflyOdd for a radix that is an argument. It keeps t and d
// of a butterfly in sums.
func (v vec) middleOdd() {
	dst, src, tw := Arg("dst"), Arg("src"), Arg("tw")
	inStep, outStep := v.blocksOf("m", "s"), v.blocksOf("s")
	// Block r-1 of a butterfly is r-1 steps after block 0.
	lastOf := func(step GPVirtual) Mem {
		t, m := Arg("r"), AllocLocal(8)
		DECQ(t)
		IMULQ(step, t)
		MOVQ(t, m)
		return m
	}
	in, out := lastOf(inStep), lastOf(outStep)
	q := AllocLocal(8)
	half, roots := AllocLocal(8), Arg("roots")
	t := Arg("r")
	SHRQ(U8(1), t)
	MOVQ(t, half)

	once := func(twiddled bool) {
		MOVQ(Arg("s"), t)
		MOVQ(t, q)
		loop := Unique("columns")
		Label(loop)
		// Sums and differences, and b_0.
		lo, hi, sums := GP64(), GP64(), Arg("sums")
		MOVQ(src, lo)
		MOVQ(src, hi)
		ADDQ(in, hi)
		first := v.loadBlock(Mem{Base: src})
		total := number{v.CopyOf(first.re), v.CopyOf(first.im)}
		n := GP64()
		MOVQ(half, n)
		Times(n, func() {
			ADDQ(inStep, lo)
			a, b := v.loadBlock(Mem{Base: lo}), v.loadBlock(Mem{Base: hi})
			SUBQ(inStep, hi)
			s, d := v.add(a, b), v.sub(a, b)
			v.storeBlock(s, Mem{Base: sums})
			v.storeBlock(d, Mem{Base: sums, Disp: v.block()})
			ADDQ(I32(2*v.block()), sums)
			v.Add(s.re, total.re, total.re)
			v.Add(s.im, total.im, total.im)
		})
		v.storeBlock(total, Mem{Base: dst})
		// The others in pairs, from both ends.
		outLo, outHi, twLo, twHi, j := GP64(), GP64(), GP64(), GP64(), AllocLocal(8)
		MOVQ(dst, outLo)
		MOVQ(dst, outHi)
		ADDQ(out, outHi)
		if twiddled {
			MOVQ(tw, twLo)
			t := Arg("r")
			SHLQ(U8(4), t)
			LEAQ(Mem{Base: tw, Index: t, Scale: 1, Disp: -32}, twHi)
		}
		MOVQ(roots, lo)
		MOVQ(half, n)
		MOVQ(n, j)
		pairs := Unique("pairs")
		Label(pairs)
		sums = Arg("sums")
		u, w := number{v.CopyOf(first.re), v.CopyOf(first.im)}, number{}
		z := v.Zeros(2)
		w.re, w.im = z[0], z[1]
		MOVQ(half, n)
		Times(n, func() {
			cos, sin := v.Broadcast(Mem{Base: lo}), v.Broadcast(Mem{Base: lo, Disp: 8})
			v.Fmadd231(Mem{Base: sums}, cos, u.re)
			v.Fmadd231(Mem{Base: sums, Disp: v.Width()}, cos, u.im)
			v.Fmadd231(Mem{Base: sums, Disp: v.block()}, sin, w.re)
			v.Fmadd231(Mem{Base: sums, Disp: v.block() + v.Width()}, sin, w.im)
			ADDQ(I32(2*v.block()), sums)
			ADDQ(Imm(16), lo)
		})
		ADDQ(outStep, outLo)
		minus, plus := v.addTurned(u, w)
		if twiddled {
			minus, plus = v.twiddled(minus, Mem{Base: twLo}), v.twiddled(plus, Mem{Base: twHi})
			ADDQ(Imm(16), twLo)
			SUBQ(Imm(16), twHi)
		}
		v.storeBlock(minus, Mem{Base: outLo})
		v.storeBlock(plus, Mem{Base: outHi})
		SUBQ(outStep, outHi)
		DECQ(j)
		JNZ(LabelRef(pairs))
		ADDQ(I32(v.block()), src)
		ADDQ(I32(v.block()), dst)
		DECQ(q)
		JNZ(LabelRef(loop))
		ADDQ(out, dst)
	}
	done, m := Unique("done"), AllocLocal(8)
	MOVQ(Arg("m"), t)
	MOVQ(t, m)
	once(false)
	DECQ(m)
	JZ(LabelRef(done))
	next := Unique("next")
	Label(next)
	once(true)
	t = Arg("r")
	DECQ(t)
	SHLQ(U8(4), t)
	ADDQ(t, tw)
	DECQ(m)
	JNZ(LabelRef(next))
	Label(done)
}

// order returns the column that a lane holds, as deinterleaved says.
func (v vec) order(lane int) int { return lane/2 + lane%2*v.Lanes()/2 }

// turn emits the transposition of groups of as many blocks as a register has lanes. The twiddle
// of a block is the product of that in lanes, of each lane, and that in rows, for all lanes.
func (v vec) turn() {
	dst, src, lanes, rows, n := Arg("dst"), Arg("src"), Arg("lanes"), Arg("rows"), Arg("n")
	step := v.blocksOf("stride")
	Times(n, func() {
		re, im := make([]VecVirtual, v.Lanes()), make([]VecVirtual, v.Lanes())
		part := func(i int) number {
			at := v.order(i)
			m := Mem{Base: lanes, Disp: at * v.block()}
			w := v.twiddled(v.loadBlock(m), Mem{Base: rows, Disp: 16 * at})
			return v.times(v.loadBlock(Mem{Base: src, Disp: at * v.block()}), w.re, w.im)
		}
		out := func(x []VecVirtual, at int) {
			for i, x := range v.transposed(x) {
				v.Store(x, Mem{Base: dst, Disp: v.order(i)*v.block() + at}, nil)
			}
		}
		for i := range re {
			z := part(i)
			re[i], im[i] = z.re, z.im
		}
		out(re, 0)
		out(im, v.Width())
		ADDQ(I32(v.Lanes()*v.block()), src)
		ADDQ(I32(v.Lanes()*v.block()), lanes)
		ADDQ(I32(v.Lanes()*16), rows)
		ADDQ(step, dst)
	})
}

// transposed returns the transpose of a square matrix of float64.
func (v vec) transposed(x []VecVirtual) []VecVirtual {
	// Neighbours, then blocks of two, then of four.
	t := v.Regs(len(x))
	for i := 0; i < len(x); i += 2 {
		VUNPCKLPD(x[i+1], x[i], t[i])
		VUNPCKHPD(x[i+1], x[i], t[i+1])
	}
	y := v.Regs(len(x))
	if !v.Wide {
		for i := range 2 {
			VPERM2F128(Imm(0x20), t[2+i], t[i], y[i])
			VPERM2F128(Imm(0x31), t[2+i], t[i], y[2+i])
		}
		return y
	}
	// y[i] and y[i+2] have the even and odd pairs of columns of rows of four.
	for h := 0; h < 8; h += 4 {
		for i := range 2 {
			VSHUFF64X2(Imm(0x88), t[h+2+i], t[h+i], y[h+i])
			VSHUFF64X2(Imm(0xdd), t[h+2+i], t[h+i], y[h+2+i])
		}
	}
	z := v.Regs(len(x))
	for i := range 4 {
		VSHUFF64X2(Imm(0x88), y[4+i], y[i], z[i])
		VSHUFF64X2(Imm(0xdd), y[4+i], y[i], z[4+i])
	}
	return z
}

// product returns x·y of complex numbers that are pairs, or x·conj(y).
func (v vec) product(x, y VecVirtual, conj bool) VecVirtual {
	re, im, swapped := v.Reg(), v.Reg(), v.Reg()
	VMOVDDUP(y, re)
	VPERMILPD(v.each(3), y, im)
	VPERMILPD(v.each(1), x, swapped)
	v.Mul(im, swapped, swapped)
	if conj {
		VFMSUBADD231PD(re, x, swapped)
	} else {
		VFMADDSUB231PD(re, x, swapped)
	}
	return swapped
}

// each returns the constant of VPERMILPD that has two bits for every pair.
func (v vec) each(two uint64) Op {
	if v.Wide {
		return U8(two * 0x55)
	}
	return U8(two * 0x5)
}

// mul emits products of complex numbers, two registers at a time.
func (v vec) mul() {
	directions(func(back bool) {
		dst, a, b, n := Arg("dst"), Arg("a"), Arg("b"), Arg("n")
		SHRQ(U8(bits.TrailingZeros(uint(v.Lanes()))), n)
		Times(n, func() {
			for i := range 2 {
				at := i * v.Width()
				z := v.product(v.Load(Mem{Base: a, Disp: at}, nil), v.Load(Mem{Base: b, Disp: at}, nil), back)
				v.Store(z, Mem{Base: dst, Disp: at}, nil)
			}
			ADDQ(I32(v.block()), a)
			ADDQ(I32(v.block()), b)
			ADDQ(I32(v.block()), dst)
		})
	})
}

// fold emits, for k from 0 on,
//
//	e, o = z_k ± conj(z_(h-k)),  dst_k = scale·(e + t_k·o),  dst_(h-k) = scale·conj(e - t_k·o)
//
// with the conjugate of t_k backward. It adds this to dst if add is set.
func (v vec) fold(add bool) {
	directions(func(back bool) {
		dst, lo, t, n, end := Arg("dst"), Arg("z"), Arg("t"), Arg("n"), Arg("h")
		hi, dstHi := GP64(), GP64()
		SHLQ(U8(4), end)
		LEAQ(Mem{Base: lo, Index: end, Scale: 1, Disp: 16 - v.Width()}, hi)
		LEAQ(Mem{Base: dst, Index: end, Scale: 1, Disp: 16 - v.Width()}, dstHi)
		scale, conj := v.BroadcastArg("scale"), v.CopyOf(Entry(U64(0), U64(1<<63)))
		mirrored := func(x VecVirtual) VecVirtual {
			y := v.Reg()
			if v.Wide {
				VSHUFF64X2(U8(0b00_01_10_11), x, x, y)
			} else {
				VPERM2F128(U8(1), x, x, y)
			}
			VXORPD(conj, y, y)
			return y
		}
		store := func(x VecVirtual, m Mem) {
			if add {
				VFMADD213PD(m, scale, x)
			} else {
				v.Mul(scale, x, x)
			}
			v.Store(x, m, nil)
		}
		Times(n, func() {
			a, b := v.Load(Mem{Base: lo}, nil), mirrored(v.Load(Mem{Base: hi}, nil))
			e, o := v.Reg(), v.Reg()
			v.Add(b, a, e)
			v.Sub(b, a, o)
			p := v.product(o, v.Load(Mem{Base: t}, nil), back)
			v.Add(p, e, a)
			v.Sub(p, e, b)
			store(a, Mem{Base: dst})
			store(mirrored(b), Mem{Base: dstHi})
			for _, p := range []GPVirtual{lo, t, dst} {
				ADDQ(I32(v.Width()), p)
			}
			SUBQ(I32(v.Width()), hi)
			SUBQ(I32(v.Width()), dstHi)
		})
	})
}
