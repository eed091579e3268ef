// Package catalog lists all kernels of the library: what they compute, over which
// numbers, and why not over others. Each has a constructor of random operands. The
// tests over number types and docs/kernels.md use the list. A test fails if a kernel is
// missing.
package catalog

import (
	"math/rand/v2"
	"reflect"
	"strings"

	"revnum/rev"
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
	// NewFrame returns room for a kernel and its derivatives.
	NewFrame func() Frame
}

type reasons = map[string]string

// Name returns the name of the kernel with its package, such as "revlinalg.Dot".
func (k *Kernel) Name() string {
	return nameOf(k.Over[0].Type)
}

func nameOf(kernel reflect.Type) string {
	name, _, _ := strings.Cut(kernel.Name(), "[")
	return strings.TrimPrefix(kernel.PkgPath(), "revnum/") + "." + name
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
