// Package byname makes passes of kernels by their names.
package byname

import (
	"reflect"
	"unsafe"

	"revnum/rev"
)

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

// A Frame has a kernel, its cotangents, its tangents and the tangents of its
// cotangents: four values of the kernel's type. Use it if you know the type only when
// the program runs.
//
// Of a Frame, only the function do is compiled for each type of kernel. A kernel whose type has
// numbers of another type is another type, so there are hundreds.
type Frame struct {
	parts [NumParts]unsafe.Pointer
	pass  *rev.Pass[struct{}] // of which only the fields before G may be used

	hasMethods bool // of sure or fallible

	do func(action) error

	// For many problems, of which runMany takes those from from to to-1. each is nil for most kernels.
	each        each
	args        [3]any // of its RunEach
	from, to, n int
	move        func(by int)
	at          *int
}

// An action is what a frame does that depends on the type of its kernel.
type action int

const (
	operands action = iota // check the operands
	check                  // check the operands for a pass, and forget derivatives that it does not take
	run                    // make the pass that was checked
	gradient               // check and make the pass for value and gradient
	method                 // make the pass by a method of the kernel
	keep                   // copy the kernel and the pass
	runMany                // make the pass for many kernels
	clear                  // set all parts to zero
)

// What a frame for kernels K holds.
type values[K any] struct {
	k, kept     K
	p, keptPass rev.Pass[K]
}

// Kernels have one of two sets of methods: those that have errors, and others.
type (
	sure[K any] interface {
		Forward()
		Inverse()
		Adjoint(g K)
		Tangent(t K)
	}
	fallible[K any] interface {
		Forward() error
		Inverse() error
		Adjoint(g K) error
		Tangent(t K) error
	}
)

// NewFrame returns a frame for kernels K.
func NewFrame[K rev.Kernel[K]]() *Frame {
	v := new(values[K])
	k, p := &v.k, &v.p
	f := newFrame(unsafe.Pointer(k), unsafe.Pointer(&p.G), unsafe.Pointer(&p.T), unsafe.Pointer(&p.GT), unsafe.Pointer(p), k)
	if f.each != nil {
		f.args = [...]any{p, &v.kept, &v.keptPass}
	}
	always, _ := any(k).(sure[K])
	mostly, _ := any(k).(fallible[K])
	f.hasMethods = always != nil || mostly != nil
	f.do = func(a action) error {
		switch a {
		case operands:
			rev.Check(k, nil, nil, nil)
		case check:
			var none K
			g, t, gt := &p.G, &p.T, &p.GT
			if !p.Adjoint {
				p.G, g = none, nil
			}
			if !p.Tangent {
				p.T, t = none, nil
			}
			if g == nil || t == nil {
				p.GT, gt = none, nil
			}
			rev.Check(k, g, t, gt)
		case run:
			return (*k).Run(*p)
		case gradient:
			return rev.Gradient(*k, p.G)
		case method:
			switch {
			case p.Adjoint && always != nil:
				always.Adjoint(p.G)
			case p.Adjoint:
				return mostly.Adjoint(p.G)
			case p.Tangent && always != nil:
				always.Tangent(p.T)
			case p.Tangent:
				return mostly.Tangent(p.T)
			case p.Back && always != nil:
				always.Inverse()
			case p.Back:
				return mostly.Inverse()
			case always != nil:
				always.Forward()
			default:
				return mostly.Forward()
			}
		case keep:
			v.kept, v.keptPass = *k, *p
		case runMany:
			q, n, move, at := *p, f.n, f.move, f.at
			for i := f.from; i < f.to; i++ {
				if q.Adjoint {
					q.G = p.G
				}
				if q.Tangent {
					q.T = p.T
				}
				if q.Adjoint && q.Tangent {
					q.GT = p.GT
				}
				kernel := *k
				// What move writes is read after the pass: a processor waits for a copy of what was just written.
				if i+1 < n {
					move(1)
				}
				*at = i
				if err := kernel.Run(q); err != nil {
					return err
				}
			}
		case clear:
			*v = values[K]{}
		}
		return nil
	}
	return f
}

// newFrame is not compiled for each kernel.
func newFrame(k, g, t, gt, p unsafe.Pointer, kernel any) *Frame {
	f := &Frame{parts: [...]unsafe.Pointer{k, g, t, gt}, pass: (*rev.Pass[struct{}])(p)}
	f.each, _ = kernel.(each)
	return f
}

// At returns the address of the kernel, or of the value that holds derivatives.
func (f *Frame) At(p Part) unsafe.Pointer { return f.parts[p] }

// Clear sets all four values to zero.
func (f *Frame) Clear() { _ = f.do(clear) }

// Check checks the operands, and sets the dimensions of absent outputs.
func (f *Frame) Check() { _ = f.do(operands) }

// check checks the operands for a pass with the given name. It reports whether there is one. It
// knows no Gradient, which may be several passes.
func (f *Frame) check(pass string) bool {
	if !f.set(pass) {
		return false
	}
	_ = f.do(check)
	return true
}

// set sets the pass to the one with the given name, as check does.
func (f *Frame) set(pass string) bool {
	p := f.pass
	switch pass {
	case "Forward":
		p.Back, p.Adjoint, p.Tangent = false, false, false
	case "Inverse":
		p.Back, p.Adjoint, p.Tangent = true, false, false
	case "Adjoint":
		p.Back, p.Adjoint, p.Tangent = true, true, false
	case "Tangent":
		p.Back, p.Adjoint, p.Tangent = false, false, true
	case "AdjointTangent":
		p.Back, p.Adjoint, p.Tangent = true, true, true
	default:
		return false
	}
	return true
}

// Call makes a pass as Run does, by the method of the kernel if it has one. The checks of methods are shorter. Absent
// outputs get no dimensions.
func (f *Frame) Call(pass string) error {
	if !f.hasMethods || pass == "AdjointTangent" || !f.set(pass) {
		return f.Run(pass)
	}
	return f.do(method)
}

// Run makes the pass of package rev that has the given name, such as "Adjoint", and panics as it
// does. It also gives absent outputs their dimensions. Derivatives that the pass does not take may
// be forgotten. Run returns rev.ErrUnsupported if there is no such pass.
func (f *Frame) Run(pass string) error {
	if pass == "Gradient" {
		return f.do(gradient)
	}
	if !f.check(pass) {
		return rev.ErrUnsupported
	}
	return f.do(run)
}

// An each is a kernel that makes passes over many small problems in less time than calls of Run do, and to the
// same bits.
type each interface {
	// RunEach makes a pass over the first of n problems of the same shapes, and returns how many it has done. pass
	// points to it. next and nextPass point to the kernel and the pass of the second problem, and the others are as far
	// apart as the first two. RunEach leaves problems that may have errors, and passes that it does not make, to Run. It
	// does not panic.
	RunEach(pass, next, nextPass any, n int) int
}

// RunEach makes a pass as Run does for each of n kernels that have operands of the same shapes and in
// the same places. It checks only the first. move moves the data of the operands of the kernel and its derivatives to
// those of a later problem, or back. RunEach returns the first error, and sets at to the number of
// the kernel that it runs. It has no Gradient of kernels in place, which is many passes.
func (f *Frame) RunEach(pass string, n int, move func(by int), at *int) error {
	value := pass == "Gradient"
	if value {
		pass = "Adjoint"
	}
	if !f.check(pass) {
		return rev.ErrUnsupported
	}
	f.pass.Back = f.pass.Back && !value
	f.n, f.move, f.at = n, move, at
	defer func() { f.move, f.at = nil, nil }()
	i := 0
	for idle := 0; f.each != nil && n-i > 1 && idle < 2; { // it does not ask in vain again and again
		move(1)
		_ = f.do(keep)
		move(-1)
		done := f.each.RunEach(f.args[0], f.args[1], f.args[2], n-i)
		if i += done; i == n {
			return nil
		}
		if idle++; done > 0 {
			idle = 0
			move(done)
		}
		f.from, f.to = i, i+1
		if err := f.do(runMany); err != nil {
			return err
		}
		i++
	}
	f.from, f.to = i, n
	return f.do(runMany)
}

// RunOn makes a pass as Run does, of a kernel and its derivatives that k, g, t and gt point to. Those
// that the pass does not take may be nil.
func (f *Frame) RunOn(pass string, k, g, t, gt any) error {
	for part, v := range [NumParts]any{k, g, t, gt} {
		if v != nil {
			from := reflect.ValueOf(v).Elem()
			reflect.NewAt(from.Type(), f.parts[part]).Elem().Set(from)
		}
	}
	return f.Run(pass)
}

// Run makes a pass of a kernel as [Frame.RunOn] does. It also gives absent outputs of k their
// dimensions.
func Run[K rev.Kernel[K]](pass string, k, g, t, gt *K) error {
	f := NewFrame[K]()
	for part, v := range [NumParts]*K{k, g, t, gt} {
		if v != nil {
			*(*K)(f.parts[part]) = *v
		}
	}
	err := f.Run(pass)
	*k = *(*K)(f.parts[Primal])
	return err
}
