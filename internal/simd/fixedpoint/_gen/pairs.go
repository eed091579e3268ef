package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// pairLoops are sums, and loops over pairs of numbers.
func pairLoops() {
	only := func(name, sig, doc string, body func()) {
		Func(name, Variant{Tier: "AVX512"}, sig, doc, body)
	}
	only("sums", "func(n int, x, y, z *int64, minus int)", "sets z_i to x_i + y_i, or to x_i - y_i if minus is -1 and not 0.", sums)
	only("split", "func(n int, pairs, x, y *int64)", "sets x_i and y_i to the numbers of pair i. n is a multiple of 8.", split)
	only("addPairs", "func(n int, x, y, pairs *int64, minus int)", "adds x_i and y_i to the numbers of pair i, or subtracts them if minus is -1 and not 0. n is a multiple of 8.", addPairs)
}

func sums() {
	n, x, y, z, minus := Arg("n"), Arg("x"), Arg("y"), Arg("z"), g.Reg()
	VPBROADCASTQ(Arg("minus"), minus)
	g.Loop(n, 4, func(l Step, _ int) {
		v := l.Load(y)
		VPXORQ(minus, v, v)
		VPSUBQ(minus, v, v)
		VPADDQ(l.Load(x), v, v)
		l.Store(v, z)
	}, nil)
}

// merge returns elements of a and b by their numbers. Those of b are numbered after those of a.
func merge(a, b VecVirtual, order func(i int) int) VecVirtual {
	numbers := make([]Constant, g.Lanes())
	for i := range numbers {
		numbers[i] = U64(order(i))
	}
	r := g.CopyOf(Entry(numbers...))
	VPERMI2Q(b, a, r)
	return r
}

// eachPair runs body for the pairs of two registers at a time.
func eachPair(body func(pair [2]Mem, at func(p Register) Mem)) {
	n, pairs, i := Arg("n"), Arg("pairs"), GP64()
	XORQ(i, i)
	Times(n, func() {
		body([2]Mem{{Base: pairs, Index: i, Scale: 2}, {Base: pairs, Index: i, Scale: 2, Disp: g.Width()}},
			func(p Register) Mem { return Mem{Base: p, Index: i, Scale: 1} })
		ADDQ(Imm(uint64(g.Width())), i)
		SUBQ(Imm(uint64(g.Lanes()-1)), n)
	})
}

func split() {
	x, y := Arg("x"), Arg("y")
	eachPair(func(pair [2]Mem, at func(p Register) Mem) {
		a, b := g.CopyOf(pair[0]), g.CopyOf(pair[1])
		g.Mov(merge(a, b, func(i int) int { return 2 * i }), at(x))
		g.Mov(merge(a, b, func(i int) int { return 2*i + 1 }), at(y))
	})
}

func addPairs() {
	x, y, minus := Arg("x"), Arg("y"), g.Reg()
	VPBROADCASTQ(Arg("minus"), minus)
	eachPair(func(pair [2]Mem, at func(p Register) Mem) {
		a, b := g.CopyOf(at(x)), g.CopyOf(at(y))
		for h, m := range pair {
			v := merge(a, b, func(i int) int { return i%2*g.Lanes() + i/2 + h*g.Lanes()/2 })
			VPXORQ(minus, v, v)
			VPSUBQ(minus, v, v)
			VPADDQ(m, v, v)
			g.Mov(v, m)
		}
	})
}
