// Command _gen writes the assembly of package band.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		Float64("set", "func(c1, c2, c3, c4, x *T, h T, n int)", "is Set for n elements.", set)
		const sig = "func(dst, y, c1, c2, c3, c4 *T, n int)"
		Float64("mul", sig, "is Mul for n elements.", func(g ISA) { mul(g, -1) })
		Float64("mulTrans", sig, "is MulTrans for n elements. c1 to c4 begin 1 to 4 elements later.", func(g ISA) { mul(g, 1) })
		Float64("outer", "func(x, y, la, c1, c2, c3 *T, h T, n int)", "is Outer for n elements.", outer)
	})
}

func set(g ISA) {
	c := []Register{Arg("c1"), Arg("c2"), Arg("c3"), Arg("c4")}
	x, h := Arg("x"), g.BroadcastArg("h")
	g.Loop(Arg("n"), 1, func(l Step, _ int) {
		var product VecVirtual
		for k, c := range c {
			q := near(l, x, -k)
			g.Mul(h, q, q)
			if k > 0 {
				g.Mul(g.Const(1/float64(k+1)), q, q)
				g.Mul(product, q, q)
			}
			product = q
			l.Store(product, c)
		}
	}, nil)
}

// mul adds to y the products with neighbours in the direction of sign. The step before has just stored
// vectors of y. A load from two of them waits until both are in the cache, so AVX-512 loads y as it
// was stored, and shifts the neighbours out of two vectors.
func mul(g ISA, sign int) {
	dst, y := Arg("dst"), Arg("y")
	c := []Register{Arg("c1"), Arg("c2"), Arg("c3"), Arg("c4")}
	if !g.Wide {
		g.Loop(Arg("n"), 2, func(l Step, _ int) {
			sum := l.Load(y)
			for k, c := range c {
				g.Fmadd231(l.Load(c), near(l, y, sign*(k+1)), sum)
			}
			l.Store(sum, dst)
		}, nil)
		return
	}
	const lanes = 8
	low := g.Load(Mem{Base: y, Disp: min(sign, 0) * g.Width()}, nil)
	g.Loop(Arg("n"), 2, func(l Step, _ int) {
		high := near(l, y, max(sign, 0)*lanes)
		sum := g.Reg()
		g.Mov(map[int]Op{-1: high, 1: low}[sign], sum)
		for k, c := range c {
			neighbour := g.Reg()
			VALIGNQ(U8((lanes+sign*(k+1))%lanes), low, high, neighbour)
			g.Fmadd231(l.Load(c), neighbour, sum)
		}
		l.Store(sum, dst)
		g.Mov(high, low)
	}, nil)
}

// near loads the elements that are offset elements away.
func near(l Step, p Register, offset int) VecVirtual {
	return l.ISA.Load(l.At(p).Offset(offset*l.Size), l.Mask)
}

func outer(g ISA) {
	x, y, la := Arg("x"), Arg("y"), Arg("la")
	c := []Register{Arg("c1"), Arg("c2"), Arg("c3")}
	h := g.BroadcastArg("h")
	g.Loop(Arg("n"), 1, func(l Step, _ int) {
		t := []VecVirtual{near(l, y, -1)}
		u := []VecVirtual{near(l, la, 0)}
		for k, c := range c {
			r := near(l, y, -2-k)
			g.Mul(near(l, c, -1), r, r)
			t = append(t, r)
			r = near(l, la, k+1)
			g.Mul(near(l, c, k+1), r, r)
			u = append(u, r)
		}
		// The sum over b of t_b times a weight, for each a.
		total := g.Zeros(1)[0]
		for a, weights := range [][]float64{{1, 1. / 2, 1. / 3, 1. / 4}, {1. / 2, 1. / 6, 1. / 12}, {1. / 3, 1. / 12}, {1. / 4}} {
			sum := g.Zeros(1)[0]
			for b, w := range weights {
				g.Fmadd231(g.Const(w), t[b], sum)
			}
			g.Fmadd231(u[a], sum, total)
		}
		r := l.Load(x)
		g.Fmadd231(h, total, r)
		l.Store(r, x)
	}, nil)
}
