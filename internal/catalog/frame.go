package catalog

import (
	"unsafe"

	"revnum/rev"
)

// A Frame has a kernel, its cotangents, its tangents and the tangents of its
// cotangents: four values of the kernel's type. Use it if you know the type only when
// the program runs. The methods make the passes of package rev, and panic as these do.
type Frame interface {
	// At returns the address of the kernel, or of the value that holds derivatives.
	At(p Part) unsafe.Pointer
	// Clear sets all four to zero.
	Clear()

	Check() // only checks the operands, and sets the dimensions of absent outputs
	Forward() error
	Inverse() error
	Adjoint() error
	Tangent() error
	AdjointTangent() error
	Gradient() error
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

func (f *frame[K]) Forward() error { p := rev.ForwardPass(&f.k); return f.k.Run(p) }

func (f *frame[K]) Inverse() error { p := rev.InversePass(&f.k); return f.k.Run(p) }

func (f *frame[K]) Adjoint() error { p := rev.AdjointPass(&f.k, &f.g); return f.k.Run(p) }

func (f *frame[K]) Tangent() error { p := rev.TangentPass(&f.k, &f.t); return f.k.Run(p) }

func (f *frame[K]) AdjointTangent() error {
	p := rev.AdjointTangentPass(&f.k, &f.g, &f.t, &f.gt)
	return f.k.Run(p)
}

func (f *frame[K]) Gradient() error { return rev.Gradient(f.k, f.g) }
