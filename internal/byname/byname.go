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
// Little of it is compiled for each type of kernel. A kernel whose type has numbers of another
// type is another type, so there are hundreds.
type Frame struct {
	kernel reflect.Type
	parts  [NumParts]unsafe.Pointer
	pass   *rev.Pass[struct{}] // of which only the fields before G may be used

	values        reflect.Value // all of what follows
	derivatives   [NumParts]reflect.Value
	without, kept reflect.Value // where passOfGradient and RunEach keep values for a while

	run    func() error // makes the pass that was checked
	method func() error // makes the pass by a method of the kernel, nil if it has none

	// RunEach makes a pass over n problems. many makes it over those in [from, to), one by one. Most kernels have
	// no each.
	each        each
	many        func() error
	args        [3]any // of each.RunEach
	from, to, n int
	move        func(by int)
	at          *int
}

// What a frame for kernels K holds.
type values[K any] struct {
	K K
	P rev.Pass[K]
}

// NewFrame returns a frame for kernels K, which has no RunEach. Its Call is Run.
func NewFrame[K rev.Kernel[K]]() *Frame {
	v := new(values[K])
	return newFrame(v, func() error { return v.K.Run(v.P) })
}

// NewCaller returns a frame for kernels K, with a Call that is faster than Run, and with RunEach.
func NewCaller[K rev.Kernel[K]]() *Frame {
	v := new(values[K])
	k, p := &v.K, &v.P
	f := newFrame(v, func() error { return (*k).Run(*p) })
	// Kernels have one of two sets of methods: those that have errors, and others. (An interface with one of these
	// sets would have methods of its own, which are compiled for each kernel.)
	m := methodsOf(k)
	switch forward := m.forward.(type) {
	case func(*K):
		inverse, adjoint, tangent := m.inverse.(func(*K)), m.adjoint.(func(*K, K)), m.tangent.(func(*K, K))
		f.method = func() error {
			switch {
			case p.Adjoint:
				adjoint(k, p.G)
			case p.Tangent:
				tangent(k, p.T)
			case p.Back:
				inverse(k)
			default:
				forward(k)
			}
			return nil
		}
	case func(*K) error:
		inverse, adjoint, tangent := m.inverse.(func(*K) error), m.adjoint.(func(*K, K) error), m.tangent.(func(*K, K) error)
		f.method = func() error {
			switch {
			case p.Adjoint:
				return adjoint(k, p.G)
			case p.Tangent:
				return tangent(k, p.T)
			case p.Back:
				return inverse(k)
			}
			return forward(k)
		}
	}
	f.setEach()
	f.many = func() error {
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
		return nil
	}
	return f
}

// An Instance is a type of kernels, with what returns frames for them, by NewCaller.
type Instance struct {
	Kernel   reflect.Type
	NewFrame func() *Frame
}

// InstanceOf returns the instance of kernels K.
func InstanceOf[K rev.Kernel[K]]() Instance {
	return Instance{reflect.TypeOf((*K)(nil)).Elem(), NewCaller[K]}
}

// methods are methods of a kernel as functions of a pointer to it, or nil.
type methods struct{ forward, inverse, adjoint, tangent any }

// methodsOf returns the methods of what k points to, none unless it has all. It looks for constant names, so that
// the linker drops methods with other names.
func methodsOf(k any) methods {
	t := reflect.TypeOf(k)
	forward, ok0 := t.MethodByName("Forward")
	inverse, ok1 := t.MethodByName("Inverse")
	adjoint, ok2 := t.MethodByName("Adjoint")
	tangent, ok3 := t.MethodByName("Tangent")
	if !ok0 || !ok1 || !ok2 || !ok3 {
		return methods{}
	}
	return methods{forward.Func.Interface(), inverse.Func.Interface(), adjoint.Func.Interface(), tangent.Func.Interface()}
}

// newFrame returns a frame that holds v, which points to values of a kernel. It is not compiled for
// each kernel.
func newFrame(v any, run func() error) *Frame {
	f := &Frame{values: reflect.ValueOf(v).Elem(), run: run}
	k, p := f.values.Field(0), f.values.Field(1)
	f.derivatives = [NumParts]reflect.Value{k, p.FieldByName("G"), p.FieldByName("T"), p.FieldByName("GT")}
	f.kernel, f.pass = k.Type(), (*rev.Pass[struct{}])(p.Addr().UnsafePointer())
	for part, v := range f.derivatives {
		f.parts[part] = v.Addr().UnsafePointer()
	}
	return f
}

// setEach sets what RunEach needs of a kernel that has its own.
func (f *Frame) setEach() {
	k, p := f.values.Field(0), f.values.Field(1)
	if f.each, _ = k.Addr().Interface().(each); f.each != nil {
		f.kept = reflect.New(f.values.Type()).Elem()
		f.args = [...]any{p.Addr().Interface(), f.kept.Field(0).Addr().Interface(), f.kept.Field(1).Addr().Interface()}
	}
}

// At returns the address of the kernel, or of the value that holds derivatives.
func (f *Frame) At(p Part) unsafe.Pointer { return f.parts[p] }

// Clear sets all four values to zero.
func (f *Frame) Clear() { f.values.SetZero() }

// Check checks the operands, and sets the dimensions of absent outputs.
func (f *Frame) Check() { rev.CheckOf(f.kernel, f.parts[Primal], nil, nil, nil) }

// check checks the operands for a pass with the given name. It reports whether there is one. It
// knows no Gradient, which may be several passes.
func (f *Frame) check(pass string) bool {
	if !f.set(pass) {
		return false
	}
	f.checkDerivatives()
	return true
}

// checkDerivatives checks the operands for the pass, and forgets derivatives that it does not take.
func (f *Frame) checkDerivatives() {
	takes := [NumParts]bool{true, f.pass.Adjoint, f.pass.Tangent, f.pass.Adjoint && f.pass.Tangent}
	parts := f.parts
	for part, takes := range takes {
		if !takes {
			f.derivatives[part].SetZero()
			parts[part] = nil
		}
	}
	rev.CheckOf(f.kernel, parts[Primal], parts[Cotangent], parts[Tangent], parts[CotangentTangent])
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
	if f.method == nil || pass == "AdjointTangent" || !f.set(pass) {
		return f.Run(pass)
	}
	return f.method()
}

// Run makes the pass of package rev that has the given name, such as "Adjoint", and panics as it
// does. It also gives absent outputs their dimensions. Derivatives that the pass does not take may
// be forgotten. Run returns rev.ErrUnsupported if there is no such pass.
func (f *Frame) Run(pass string) error {
	if pass == "Gradient" {
		f.check("Adjoint")
		return rev.GradientOf(f.kernel, f.passOfGradient)
	}
	if !f.check(pass) {
		return rev.ErrUnsupported
	}
	return f.run()
}

// passOfGradient makes a pass with or without cotangents.
func (f *Frame) passOfGradient(adjoint, back bool) error {
	f.pass.Adjoint, f.pass.Back = adjoint, back
	if adjoint {
		return f.run()
	}
	if !f.without.IsValid() {
		f.without = reflect.New(f.kernel).Elem()
	}
	g := f.derivatives[Cotangent]
	f.without.Set(g)
	g.SetZero()
	defer func() { // also if the pass panics
		g.Set(f.without)
		f.without.SetZero() // so that a frame in a pool keeps no memory of a caller
	}()
	return f.run()
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
	if f.many == nil {
		panic("byname: RunEach of a frame that is not from NewCaller")
	}
	value := pass == "Gradient"
	if value {
		pass = "Adjoint"
	}
	if !f.check(pass) {
		return rev.ErrUnsupported
	}
	f.pass.Back = f.pass.Back && !value
	f.n, f.move, f.at = n, move, at
	defer func() {
		f.move, f.at = nil, nil
		if f.each != nil {
			f.kept.SetZero() // as without
		}
	}()
	i := 0
	for idle := 0; f.each != nil && n-i > 1 && idle < 2; { // it does not ask in vain again and again
		move(1)
		f.kept.Set(f.values)
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
		if err := f.many(); err != nil {
			return err
		}
		i++
	}
	f.from, f.to = i, n
	return f.many()
}

// RunOn makes a pass as Run does, of a kernel and its derivatives that k, g, t and gt point to. Those
// that the pass does not take may be nil. RunOn panics if one is of another type.
func (f *Frame) RunOn(pass string, k, g, t, gt any) error {
	for part, v := range [NumParts]any{k, g, t, gt} {
		if v != nil {
			f.derivatives[part].Set(reflect.ValueOf(v).Elem())
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
