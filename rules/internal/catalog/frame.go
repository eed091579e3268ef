package catalog

import (
	"unsafe"

	"revnum/internal/byname"
	"revnum/rev"
)

// A Frame has a kernel, its cotangents, its tangents and the tangents of its
// cotangents: four values of the kernel's type. Use it if you know the type only when
// the program runs.
type Frame interface {
	// At returns the address of the kernel, or of the value that holds derivatives.
	At(p Part) unsafe.Pointer
	// Clear sets all four to zero.
	Clear()

	// Check checks the operands, and sets the dimensions of absent outputs.
	Check()
	// Run makes the pass of package rev with this name, and panics as it does. It returns
	// rev.ErrUnsupported if there is no such pass.
	Run(pass string) error
	// RunEach makes the pass for n kernels, which move puts in the place of each other: see
	// byname.RunEach.
	RunEach(pass string, n int, move func(by int), at *int) error
}

// A Part says which of the four values of a Frame is meant.
type Part int

// The parts of a Frame.
const (
	Primal           Part = iota
	Cotangent             // g
	Tangent               // t
	CotangentTangent      // gt
	NumParts         = 4
)

type frame[K rev.Kernel[K]] struct{ k, g, t, gt K }

func (f *frame[K]) At(p Part) unsafe.Pointer {
	return unsafe.Pointer([...]*K{&f.k, &f.g, &f.t, &f.gt}[p])
}

func (f *frame[K]) Clear() { *f = frame[K]{} }

func (f *frame[K]) Check() { rev.ForwardPass(&f.k) }

func (f *frame[K]) Run(pass string) error { return byname.Run(pass, &f.k, &f.g, &f.t, &f.gt) }

func (f *frame[K]) RunEach(pass string, n int, move func(by int), at *int) error {
	return byname.RunEach(pass, n, move, at, &f.k, &f.g, &f.t, &f.gt)
}
