// Command _gen writes the assembly of package fixedpoint. The comments of the package give
// the equations.
package main

import (
	. "revnum/internal/simd/_gen/asm"
)

func main() {
	Files(func() {
		gemm()
		vectorLoops()
		functions()
		pairLoops()
		logLoops()
		moments()
		checked()
		for _, emit := range emitWords {
			emit()
		}
	})
}

// bothTiers emits a function for AVX-512 IFMA and for AVX2.
func bothTiers(name, sig, doc string, body func(g ISA)) {
	for _, g := range []ISA{{Wide: true, Size: 8}, {Size: 8}} {
		Func(name, Variant{Tier: g.Tier()}, sig, doc, func() { body(g) })
	}
}
