package rev

import (
	"reflect"
	"sync"
	"unsafe"
)

// At returns the step that runs a kernel on the operands that bind finds in a
// state. bind is also called with the states that hold cotangents and
// tangents, so what it returns must depend on the addresses in its argument
// only; see AtIndex for operands that the state selects.
func At[S any, K Kernel[K]](bind func(s *S) K) Step[S] {
	return AtIndex(func(_, v *S) K { return bind(v) })
}

// AtIndex is At for operands that the state selects, such as row s.I of a
// matrix. bind returns the operands in v, which is s itself or a state that
// holds cotangents or tangents; the selection is to be read from s. The kernel
// must not change what selects its operands.
func AtIndex[S any, K Kernel[K]](bind func(s, v *S) K) Step[S] {
	return newKernelNode(bind, callKernel[K])
}

// AtErr is At for a kernel that can fail.
func AtErr[S any, K FallibleKernel[K]](bind func(s *S) K) Step[S] {
	return AtIndexErr(func(_, v *S) K { return bind(v) })
}

// AtIndexErr is AtIndex for a kernel that can fail.
func AtIndexErr[S any, K FallibleKernel[K]](bind func(s, v *S) K) Step[S] {
	return newKernelNode(bind, callFallible[K])
}

// A kernelNode runs a kernel. The backward companions of its methods come from
// InPlace if the kernel has them. A kernel K that only accumulates,
// y += f(x), needs none: with the map N: y -> -y,
//
//	N·K·N: y -> -(-y + f(x)) = y - f(x)
//
// is the inverse of K, so the adjoint, tangent and adjoint's tangent of the
// inverse are those of K between two changes of the sign of y, ḡy, ṫy and ġy
// (N is linear, and its own transpose):
//
//	InverseTangent:        y -= f(x),  ṫy -= J·ṫx
//	InverseAdjoint:        y += f(x),  ḡx -= Jᵀ·ḡy
//	InverseAdjointTangent: y += f(x),  ṫy += J·ṫx,  ḡx -= Jᵀ·ḡy,
//	                       ġx -= Jᵀ·ġy + (∂J[ṫx])ᵀ·ḡy
//
// Changing a sign is exact and rounding is symmetric, so the same numbers are
// subtracted as the kernel's own methods add.
type kernelNode[S, K any] struct {
	bind   func(s, v *S) K
	call   func(f *frame[K], o op) (ok bool, err error) // ok is false if K has no such method
	frames sync.Pool
	layout *layout
	name   string
}

// A frame holds the kernel values of a call. They are kept on the heap because
// a call through a type parameter makes its receiver escape.
type frame[K any] struct {
	k, g, t, gt K
	isPointer   bool
}

func newKernelNode[S, K any](bind func(s, v *S) K, call func(f *frame[K], o op) (bool, error)) Step[S] {
	t := reflect.TypeFor[K]()
	n := &kernelNode[S, K]{bind: bind, call: call, name: structOf(t).String()}
	n.frames.New = func() any { return &frame[K]{isPointer: t.Kind() == reflect.Pointer} }
	n.layout = layoutOf(structOf(t))
	return program[S]{n}
}

func (n *kernelNode[S, K]) run(p pass[S]) error {
	f := n.frames.Get().(*frame[K])
	f.k = n.bind(p.s, p.s)
	if p.g != nil {
		f.g = n.bind(p.s, p.g)
	}
	if p.t != nil {
		f.t = n.bind(p.s, p.t)
	}
	if p.gt != nil {
		f.gt = n.bind(p.s, p.gt)
	}
	if p.own != nil {
		n.substitute(&f.g, f.isPointer, p.own)
		if p.gt != nil {
			n.substitute(&f.gt, f.isPointer, p.own)
		}
	}
	err := n.apply(f, p.op)
	*f = frame[K]{isPointer: f.isPointer}
	n.frames.Put(f)
	if err != nil {
		return within("At("+n.name+")", err)
	}
	return nil
}

// substitute has the kernel value k use what a branch has of its own. A value
// behind a pointer may be the user's to keep, so it is copied first.
func (n *kernelNode[S, K]) substitute(k *K, isPointer bool, own *substitution) {
	p := unsafe.Pointer(k)
	if isPointer {
		if *(*unsafe.Pointer)(p) == nil {
			return
		}
		v := reflect.New(n.layout.kernel)
		v.Elem().Set(reflect.ValueOf(*k).Elem())
		*k = v.Interface().(K)
		p = v.UnsafePointer()
	}
	n.layout.substitute(p, own)
}

func (n *kernelNode[S, K]) apply(f *frame[K], o op) error {
	ok, err := n.call(f, o)
	if !ok && !o.ofKernel() && n.layout.accumulates() {
		n.negate(f)
		o = o.inverse()
		ok, err = n.call(f, o)
		n.negate(f)
	}
	if !ok {
		return &Unsupported{n.name, o.String()}
	}
	return err
}

// negate changes the sign of all acc operands of the frame.
func (n *kernelNode[S, K]) negate(f *frame[K]) {
	for _, k := range [...]*K{&f.k, &f.g, &f.t, &f.gt} {
		p := unsafe.Pointer(k)
		if f.isPointer {
			p = *(*unsafe.Pointer)(p)
		}
		if p != nil {
			n.layout.negate(p)
		}
	}
}

// receiver returns the kernel as an interface, without allocating.
func (f *frame[K]) receiver() any {
	if f.isPointer {
		return f.k
	}
	return &f.k
}

func callKernel[K Kernel[K]](f *frame[K], o op) (bool, error) {
	switch o {
	case forward:
		f.k.Forward()
	case inverse:
		f.k.Inverse()
	case tangent:
		f.k.Tangent(f.t)
	case adjoint:
		f.k.Adjoint(f.g)
	case inverseTangent, inverseAdjoint:
		k, ok := f.receiver().(InPlace[K])
		if !ok {
			return false, nil
		}
		if o == inverseTangent {
			k.InverseTangent(f.t)
		} else {
			k.InverseAdjoint(f.g)
		}
	case adjointTangent:
		k, ok := f.receiver().(SecondOrder[K])
		if !ok {
			return false, nil
		}
		k.AdjointTangent(f.g, f.t, f.gt)
	case inverseAdjointTangent:
		k, ok := f.receiver().(SecondOrderInPlace[K])
		if !ok {
			return false, nil
		}
		k.InverseAdjointTangent(f.g, f.t, f.gt)
	}
	return true, nil
}

func callFallible[K FallibleKernel[K]](f *frame[K], o op) (bool, error) {
	switch o {
	case forward:
		return true, f.k.Forward()
	case inverse:
		return true, f.k.Inverse()
	case tangent:
		return true, f.k.Tangent(f.t)
	case adjoint:
		return true, f.k.Adjoint(f.g)
	case inverseTangent:
		if k, ok := f.receiver().(interface{ InverseTangent(t K) error }); ok {
			return true, k.InverseTangent(f.t)
		}
	case inverseAdjoint:
		if k, ok := f.receiver().(interface{ InverseAdjoint(g K) error }); ok {
			return true, k.InverseAdjoint(f.g)
		}
	case adjointTangent:
		if k, ok := f.receiver().(interface{ AdjointTangent(g, t, gt K) error }); ok {
			return true, k.AdjointTangent(f.g, f.t, f.gt)
		}
	case inverseAdjointTangent:
		if k, ok := f.receiver().(interface {
			InverseAdjointTangent(g, t, gt K) error
		}); ok {
			return true, k.InverseAdjointTangent(f.g, f.t, f.gt)
		}
	}
	return false, nil
}

// accumulates reports whether the kernel is y += f(x) in all that it writes,
// in numbers whose sign can be changed.
func (l *layout) accumulates() bool {
	writes := false
	for _, f := range l.fields {
		if f.Role == InOut || f.Role == Acc && !hasSign(f.Elem) {
			return false
		}
		writes = writes || f.Role == Acc
	}
	return writes
}

func hasSign(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 ||
		t.Kind() >= reflect.Float32 && t.Kind() <= reflect.Complex128
}

// negate changes the sign of the acc operands of the kernel at k.
func (l *layout) negate(k unsafe.Pointer) {
	var r regions
	l.load(&r, k)
	for i := range l.fields {
		if l.fields[i].Role == Acc && r[i].data != nil && !r[i].empty() {
			r[i].negate(l.fields[i].Elem.Kind())
		}
	}
}

// negate changes the sign of all elements of r, which are of the given kind.
func (r *region) negate(kind reflect.Kind) {
	switch kind {
	case reflect.Int:
		negate[int](r)
	case reflect.Int8:
		negate[int8](r)
	case reflect.Int16:
		negate[int16](r)
	case reflect.Int32:
		negate[int32](r)
	case reflect.Int64:
		negate[int64](r)
	case reflect.Float32:
		negate[float32](r)
	case reflect.Float64:
		negate[float64](r)
	case reflect.Complex64:
		negate[complex64](r)
	case reflect.Complex128:
		negate[complex128](r)
	}
}

func negate[T int | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128](r *region) {
	x := unsafe.Slice((*T)(r.data), r.span())
	for i := range r.rows {
		row := x[i*r.stride:][:r.cols]
		for j, v := range row {
			row[j] = -v
		}
	}
}
