// Command _gen writes the assembly of package cpu.
package main

import (
	. "github.com/mmcloughlin/avo/operand"

	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		Floats("peakFMA", "func(rounds int, mul, add *T) T", "does rounds of multiply-adds on registers, and returns a sum of all.", peakFMA)
	})
}

// peakFMA does rounds of twelve independent chains a += mul·add: more than the four cycles of
// latency times two units of any core so far.
func peakFMA(g ISA) {
	rounds := Arg("rounds")
	mul, add := g.Broadcast(Mem{Base: Arg("mul")}), g.Broadcast(Mem{Base: Arg("add")})
	acc := g.Regs(12)
	for _, a := range acc {
		g.Mov(add, a)
	}
	Times(rounds, func() {
		for _, a := range acc {
			g.Fmadd231(add, mul, a)
		}
	})
	for _, a := range acc[1:] {
		g.Add(a, acc[0], acc[0])
	}
	g.ReturnSum(acc[0])
}
