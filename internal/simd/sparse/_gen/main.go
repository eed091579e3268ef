// Command _gen writes the assembly of package sparse.
package main

import (
	"fmt"

	. "revnum/internal/simd/_gen/asm"
)

func main() { Files(emit) }

func emit() {
	for _, g := range []ISA{{Size: 8}, {Size: 4}, {Wide: true, Size: 8}, {Wide: true, Size: 4}} {
		for _, index := range Indices {
			tier := Variant{Tier: g.Tier(), Size: g.Size, Index: index}
			rows := func(name string, sum, dots, spread bool) {
				Func(name, tier, "func(e *Entries[T, I], n, rows int)", "is Columns for some of Out, W and GA.",
					func() { isa{g, index}.rows(sum, dots, spread) })
			}
			rows("rows", true, false, false)
			rows("dots", false, true, false)
			rows("rowsDots", true, true, false)
			rows("spread", false, false, true)
			rows("rowsSpread", true, false, true)
			rows("rowsDotsSpread", true, true, true)
			for _, name := range []string{"pairs", "pairsGrad"} {
				Func(name, tier, "func(e *Entries[T, I], rows, pairs, fetch int) bool",
					fmt.Sprintf("is Pairs for so many pairs. There are %d more entries after each of the first fetch ones.", pairsAhead+7),
					func() { isa{g, index}.pairs(name == "pairsGrad") })
			}
			if g.Wide {
				continue
			}
			both := Variant{Size: g.Size, Index: index}
			column := func(name string, gather, scatter, grad bool) {
				Func(name, both, "func(e *Entries[T, I], rows int)", "is Column for some of Out, W and GA.",
					func() { isa{g, index}.column(gather, scatter, grad, name == "gatherFar") })
			}
			column("gather", true, false, false)
			column("gatherFar", true, false, false)
			column("scatter", false, true, false)
			column("gatherScatter", true, true, false)
			column("gatherGrad", true, false, true)
			column("gatherScatterGrad", true, true, true)
			product := func(name string, product, left, right bool) {
				Func(name, both, "func(s *SpGEMM[T, I], lo, rows, budget int) int",
					"is what of Rows its name says, for so many rows as have no more products and entries than budget and are of no indices outside.",
					func() { loop{ISA: g, IndexType: index}.rowsOfC(product, left, right) })
			}
			for _, name := range []string{"product", "productColumns"} {
				Func(name, Variant{Size: g.Size, Index: index, X86: true}, "func(s *Product[T, I], lo, rows, budget int) int",
					"is Rows for at most so many rows, with values or for columns alone. They have no more entries and products, and looks at flags, than budget.",
					func() { loop{ISA: g, IndexType: index}.product(name == "product") })
			}
			product("spgemmProduct", true, false, false)
			product("spgemmLeft", false, true, false)
			product("spgemmRight", false, false, true)
			product("spgemmGradient", false, true, true)
			product("spgemmAdjoint", true, true, true)
		}
	}
	for _, v := range []Variant{{Tier: "AVX512", Index: "int"}, {Tier: "AVX512", Index: "int32"}, {Tier: "AVX2", Index: "int32"}} {
		Func("indexRange", v, "func(ind *I, n int, lo, hi *I)",
			"stores the least and the largest index of each lane. There are as many as lanes or more. AVX2 has no code for int.",
			func() { indexRange(ISA{Wide: v.Tier == "AVX512", Size: v.Index.Bytes()}, v.Index) })
	}
	Func("prefetchLines", Variant{}, "func(p *byte, n int)", "asks for the lines that n > 0 bytes at p are in.", prefetchLines)
}
