// Vet finds what go vet does not know of numbers:
//
//	go run ./tools/vet [-test=false] [-fix] PKG...
//
// It has three checks: fused finds products that a machine may not round before they are added, raw
// finds constants that mean something else over fixed.Q43, and logs finds logarithms and powers that
// are wrong for subnormal numbers. A flag of that name, such as -fused, makes only that check.
package main

import "golang.org/x/tools/go/analysis/multichecker"

func main() { multichecker.Main(fused, raw, logs) }
