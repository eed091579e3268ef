// Vet finds what go vet does not know of numbers:
//
//	go run ./tools/vet [-test=false] [-fix] PKG...
//
// It has three checks: fused finds products that a machine may not round before they are added, raw
// finds constants that mean something else over fixed.Q43, and logs finds logarithms and powers that
// are wrong for subnormal numbers. A flag of that name, such as -fused, makes only that check.
//
// Packages are read from their source, with all that they import. With -types there is no check but
// that of the types, which says within seconds whether packages compile for other machines:
//
//	go build ./tools/vet
//	GOOS=windows ./vet -types work
package main

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"
)

func main() { multichecker.Main(fused, raw, logs, typesOnly) }

// typesOnly reports nothing: errors of types come before any check. With facts, imports are read from
// source, too, and not compiled.
var typesOnly = &analysis.Analyzer{
	Name:      "types",
	Doc:       "checks types alone, for the machine of GOOS and GOARCH",
	Run:       func(*analysis.Pass) (any, error) { return nil, nil },
	FactTypes: []analysis.Fact{new(noFact)},
}

type noFact struct{}

func (*noFact) AFact() {}
