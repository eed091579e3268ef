// Command _gen writes the assembly of package block9.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		Float64("subProducts", "func(blocks *float64, which *int32, n int, a, b *float64)", "is SubProducts for n blocks.", func(g ISA) { vec{g}.subProducts() })
		Float64("addNormal", "func(block, grad, j, r *float64, which *int, n int)", "is AddNormal for n Jacobians.", func(g ISA) { vec{g}.addNormal() })
	})
}

const (
	order  = 9
	column = 8 * order // where the last column of a block begins
	corner = column + order - 1
	length = column + 16 // of a block, in elements
)

// A vec emits instructions on rows of eight float64 for one tier.
type vec struct{ ISA }

// load loads eight elements.
func (v vec) load(p Mem) []VecVirtual {
	r := v.Regs(64 / v.Width())
	for i := range r {
		v.Mov(p.Offset(i*v.Width()), r[i])
	}
	return r
}

func (v vec) store(r []VecVirtual, p Mem) {
	for i := range r {
		v.Mov(r[i], p.Offset(i*v.Width()))
	}
}

// fma adds the element at m, times x, to acc, or subtracts it.
func (v vec) fma(minus bool, m Mem, x, acc []VecVirtual) {
	if v.Wide {
		op := VFMADD231PD_BCST
		if minus {
			op = VFNMADD231PD_BCST
		}
		op(m, x[0], acc[0])
		return
	}
	op, b := v.Fmadd231, v.Broadcast(m)
	if minus {
		op = v.Fnmadd231
	}
	for i := range x {
		op(b, x[i], acc[i])
	}
}

func at(p Register, element int) Mem { return Mem{Base: p, Disp: 8 * element} }

// subProducts subtracts the outer products of the rows of a with those of each
// b. A row of a block, and its last column, are loaded and stored once for three.
func (v vec) subProducts() {
	const depth = 3
	blocks, which := Arg("blocks"), Arg("which")
	n := Arg("n")
	a, b := Arg("a"), Arg("b")
	var last [depth][]VecVirtual // the first eight elements of rows of a
	for q := range last {
		last[q] = v.load(at(a, order*q))
	}
	Times(n, func() {
		block := GP64()
		MOVLQSX(Mem{Base: which}, block)
		IMUL3Q(I32(8*length), block, block)
		ADDQ(blocks, block)
		var rows [depth][]VecVirtual
		for q := range rows {
			rows[q] = v.load(at(b, order*q))
		}
		for r := range order {
			acc := v.load(at(block, 8*r))
			for q := range depth {
				v.fma(true, at(a, order*q+r), rows[q], acc)
			}
			v.store(acc, at(block, 8*r))
		}
		acc := v.load(at(block, column))
		for q := range depth {
			v.fma(true, at(b, order*q+order-1), last[q], acc)
		}
		v.store(acc, at(block, column))
		s, x := XMM(), XMM()
		VMOVSD(at(block, corner), s)
		for q := range depth {
			VMOVSD(at(a, order*q+order-1), x)
			VFNMADD231SD(at(b, order*q+order-1), x, s)
		}
		VMOVSD(s, at(block, corner))
		ADDQ(Imm(4), which)
		ADDQ(Imm(8*depth*order), b)
	})
}

const (
	rowStride = 12 // between the two rows of a Jacobian
	jacobian  = 2 * rowStride
)

// addNormal adds the squares of the Jacobians in which, and their products with
// the residuals. What is summed stays in registers: with AVX2 in three passes.
func (v vec) addNormal() {
	block, g := Arg("block"), Arg("grad")
	if v.Wide {
		v.pass(func(j, r Register) (begin, step, end func()) {
			b1, s1, e1 := v.rows(block, j, 0)
			b2, s2, e2 := v.borders(block, g, j, r)
			return func() { b1(); b2() }, func() { s1(); s2() }, func() { e1(); e2() }
		})
	} else {
		for h := range 2 {
			v.pass(func(j, _ Register) (begin, step, end func()) { return v.rows(block, j, 4*h) })
		}
		v.pass(func(j, r Register) (begin, step, end func()) { return v.borders(block, g, j, r) })
	}
}

// pass emits a loop over the Jacobians. body gets pointers to one and to its
// residuals.
func (v vec) pass(body func(j, r Register) (begin, step, end func())) {
	which, n := Arg("which"), Arg("n")
	j0, r0 := Arg("j"), Arg("r")
	j, r := GP64(), GP64()
	begin, step, end := body(j, r)
	begin()
	Times(n, func() {
		MOVQ(Mem{Base: which}, r)
		IMUL3Q(I32(8*jacobian), r, j)
		ADDQ(j0, j)
		SHLQ(U8(4), r)
		ADDQ(r0, r)
		step()
		ADDQ(Imm(8), which)
	})
	end()
}

// rows adds to one vector of each row of the block, from column c.
func (v vec) rows(block, j Register, c int) (begin, step, end func()) {
	acc := make([]VecVirtual, order)
	begin = func() {
		for i := range acc {
			acc[i] = v.Load(at(block, 8*i+c), nil)
		}
	}
	step = func() {
		for q := range 2 {
			x := v.Load(at(j, rowStride*q+c), nil)
			for i := range acc {
				v.fma(false, at(j, rowStride*q+i), []VecVirtual{x}, acc[i:i+1])
			}
		}
	}
	end = func() {
		for i := range acc {
			VMOVUPD(acc[i], at(block, 8*i+c))
		}
	}
	return begin, step, end
}

// borders adds to the last column of the block and to g.
func (v vec) borders(block, g, j, r Register) (begin, step, end func()) {
	var col, grad []VecVirtual
	c, last := XMM(), XMM()
	begin = func() {
		col, grad = v.load(at(block, column)), v.load(at(g, 0))
		VMOVSD(at(block, corner), c)
		VMOVSD(at(g, order-1), last)
	}
	step = func() {
		for q := range 2 {
			x := v.load(at(j, rowStride*q))
			v.fma(false, at(j, rowStride*q+order-1), x, col)
			v.fma(false, at(r, q), x, grad)
			s := XMM()
			VMOVSD(at(j, rowStride*q+order-1), s)
			VFMADD231SD(s, s, c)
			VFMADD231SD(at(r, q), s, last)
		}
	}
	end = func() {
		v.store(col, at(block, column))
		v.store(grad, at(g, 0))
		VMOVSD(c, at(block, corner))
		VMOVSD(last, at(g, order-1))
	}
	return begin, step, end
}
