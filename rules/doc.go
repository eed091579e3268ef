// Package rules is the registry of the kernels of this module. It is for programs that
// choose a kernel by its name: bindings to other languages, and differentiation rules
// for other tools.
//
// A [Rule] is a kernel over one type of numbers, such as "revlinalg.Dot[float64]". It
// lists the operands of the kernel with their roles, shapes and types, its parameters,
// and its passes. The registry is made from the tags of the kernels, so it is complete.
// docs/rules.json is the registry as a file, and docs/adjoints.md has the equations.
//
// [Rule.Call] makes a pass in place, on memory that you own, as the methods of the
// kernel do. [Rule.VJP] and [Rule.JVP] do not change their inputs:
//
//	r, err := rules.Lookup("revlinalg.Dot[float64]")
//	out, pullback, err := r.VJP([]rules.Buffer{{}, rules.Slice(x), rules.Slice(y)}, nil)
//	gradients, err := pullback([]rules.Buffer{rules.Scalar(&one)})
//
// Operands are [Buffer] values, in the order of the fields of the kernel. To leave an
// operand out, give the zero Buffer. Wrong operands are errors. Unlike the methods of
// kernels, this package does not panic, except for [Elements].
package rules

//go:generate go test . -run TestElementwise -update
//go:generate go test ./internal/catalog . -update
