// Package catalog lists all kernels of the library: what they compute, over which
// numbers, and why not over others, with a constructor of random operands of each.
// The tests over number types and docs/kernels.md are made of it, and a test fails
// where a kernel is missing.
package catalog

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"revnum/rev"
	"revnum/rev/revtest"
)

// A Kernel is a kernel of the library.
type Kernel struct {
	Equation string
	Over     []Instance
	Not      map[string]string // why it is not over other numbers, by their names
}

// An Instance is a kernel over one type of numbers.
type Instance struct {
	Type     reflect.Type // of the kernel
	Operands []rev.Operand

	// New returns a problem whose matrices are about r×c.
	New func(rnd *rand.Rand, r, c int) any
	// Test runs the conformance suite as far as the claims of the list go: the
	// rest of the contract is tested beside the kernel.
	Test func(t *testing.T)
}

type (
	over = []Instance
	not  = map[string]string
)

// of returns the instance of a constructor.
func of[K rev.Kernel[K]](problem func(rnd *rand.Rand, r, c int) K) Instance {
	const elsewhere = "tested beside the kernel"
	spec := revtest.Spec[K]{
		New:   func(rnd *rand.Rand, n int) K { return problem(rnd, n, n+1) },
		Sizes: []int{2, 3, 6}, // a variance needs two numbers
		// Of the kernels over logs, in whose tests it is derived.
		RoundTrip: 4 * 55,
		Skip: map[revtest.Property]string{
			revtest.Tangents: elsewhere, revtest.SecondOrder: elsewhere, revtest.SymmetricHessian: elsewhere,
			revtest.Accumulation: elsewhere, revtest.NilGradients: elsewhere, revtest.NilOutputs: elsewhere,
			revtest.SharedInputs: elsewhere, revtest.ReadOnly: elsewhere, revtest.Gaps: elsewhere,
			revtest.Shapes: elsewhere, revtest.NaN: elsewhere, revtest.Extremes: elsewhere, revtest.NoAllocation: elsewhere,
			revtest.Workers: elsewhere, revtest.Uncall: elsewhere, revtest.Errors: elsewhere,
		},
	}
	return Instance{
		Type: reflect.TypeFor[K](), Operands: rev.Operands[K](),
		New:  func(rnd *rand.Rand, r, c int) any { return problem(rnd, r, c) },
		Test: func(t *testing.T) { revtest.Kernel(t, spec) },
	}
}

// Name returns the name of the kernel with its package, such as "revlinalg.Dot".
func (k *Kernel) Name() string {
	t := k.Over[0].Type
	name, _, _ := strings.Cut(t.Name(), "[")
	return strings.TrimPrefix(t.PkgPath(), "revnum/") + "." + name
}

// Elem returns the type of the elements: complex128 if any are, though others may be
// their magnitudes.
func (i *Instance) Elem() reflect.Type {
	for _, op := range i.Operands {
		if op.Elem == reflect.TypeFor[complex128]() {
			return op.Elem
		}
	}
	return i.Operands[0].Elem
}

// Fallible reports whether passes may return errors.
func (i *Instance) Fallible() bool {
	forward, _ := i.Type.MethodByName("Forward")
	return forward.Type.NumOut() == 1
}

// SecondOrder reports whether the kernel has second derivatives.
func (i *Instance) SecondOrder() bool {
	_, ok := i.Type.MethodByName("AdjointTangent")
	return ok
}

// Parameters returns the names of the fields that are no operands but choose what is
// computed: all but the number of workers.
func (i *Instance) Parameters() []string {
	var names []string
	for n := range i.Type.NumField() {
		f := i.Type.Field(n)
		if _, operand := f.Tag.Lookup("rev"); !operand && f.IsExported() && f.Name != "Workers" {
			names = append(names, f.Name)
		}
	}
	return names
}
