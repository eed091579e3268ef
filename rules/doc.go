// Package rules is the registry of the kernels of this module, for programs that
// choose a kernel by its name: bindings to other languages, and rules for the
// differentiation of other tools.
//
// A [Rule] is a kernel over one type of numbers, such as "revlinalg.Dot[float64]". It
// says which operands the kernel has, with their roles, shapes and types, which
// parameters, and which passes. The registry is made from the tags of the kernels, so
// it has all of them. docs/rules.json is the registry as a file, and docs/adjoints.md
// has the equations.
//
// [Rule.Call] makes a pass in place, on memory that the caller owns, as the methods of
// the kernel do. [Rule.VJP] and [Rule.JVP] leave their inputs as they are:
//
//	r, err := rules.Lookup("revlinalg.Dot[float64]")
//	out, pullback, err := r.VJP([]rules.Buffer{{}, rules.Slice(x), rules.Slice(y)}, nil)
//	gradients, err := pullback([]rules.Buffer{rules.Scalar(&one)})
//
// Operands are [Buffer] values, in the order of the fields of the kernel. What is left
// out is the zero Buffer. Unlike the methods of kernels, nothing here panics: wrong
// operands are errors.
package rules
