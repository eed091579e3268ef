package rev

import (
	"errors"
	"reflect"
	"unsafe"
)

// At returns the step that runs a kernel. bind returns the kernel with its operands,
// which it finds in the state s. At also calls bind with the states that hold
// cotangents and tangents. bind must therefore not look at the numbers in s; use
// AtIndex for operands that the state selects.
//
// The step adds some tens of nanoseconds to its kernel, mostly for the checks. After
// its first run it allocates only what bind and the kernel allocate.
func At[S any, K Kernel[K]](bind func(s *S) K) Step[S] {
	return AtIndex(func(_, v *S) K { return bind(v) })
}

// AtIndex is like At, for operands that the state selects, such as row s.I of a
// matrix. bind reads the selection from s and returns the operands in v. v is s
// itself, or a state that holds cotangents or tangents. The kernel must not change
// what selects its operands.
func AtIndex[S any, K Kernel[K]](bind func(s, v *S) K) Step[S] {
	l := layoutAt((*K)(nil))
	return Step[S]{node: &kernelNode{l, func(p pass, output unsafe.Pointer) error {
		s := (*S)(p.s)
		k, q := bind(s, s), Pass[K]{Back: p.back, Adjoint: p.g != nil, Tangent: p.t != nil}
		c := call{layout: l, k: noescape(unsafe.Pointer(&k))}
		if q.Adjoint {
			q.G, c.g = bind(s, (*S)(p.g)), noescape(unsafe.Pointer(&q.G))
		}
		if q.Tangent {
			q.T, c.t = bind(s, (*S)(p.t)), noescape(unsafe.Pointer(&q.T))
		}
		if p.gt != nil {
			q.GT, c.gt = bind(s, (*S)(p.gt)), noescape(unsafe.Pointer(&q.GT))
		}
		if err := c.start(p, output, &q.Back); err != nil {
			return err
		}
		err := k.Run(q)
		c.end()
		return err
	}}}
}

// A kernelNode is the step of a kernel. Only the function that makes a pass is compiled for
// each kernel.
type kernelNode struct {
	layout *layout
	// make makes a pass. If output is not nil, it makes the pass for value and gradient in
	// place of the adjoint, or returns errOthers if the kernel writes more than the number at
	// output.
	make func(p pass, output unsafe.Pointer) error
}

var errOthers = errors.New("rev: the kernel writes other operands too")

func (n *kernelNode) run(p pass) error { return n.within(p, n.make(p, nil)) }

// gradient makes the kernel's pass for value and gradient in place of the adjoint p. If the
// kernel writes more than the number at output, gradient does nothing and returns false.
func (n *kernelNode) gradient(p pass, output unsafe.Pointer) (bool, error) {
	err := n.make(p, output)
	if err == errOthers { //nolint:errorlint // from this package, never wrapped
		return false, nil
	}
	return true, n.within(p, err)
}

// within returns err with the path of the step.
func (n *kernelNode) within(p pass, err error) error {
	if err == nil {
		return nil // without the cost of the name
	}
	if errors.Is(err, ErrUnsupported) {
		err = &Unsupported{n.layout.kernel.String(), p.String()}
	}
	return within(n.name(), err)
}

func (n *kernelNode) name() string { return "At(" + n.layout.kernel.String() + ")" }

// A call is a pass of a kernel, of any type. The pointers to derivatives may be nil.
type call struct {
	layout      *layout
	k, g, t, gt unsafe.Pointer
	turned      bool // begin has changed the signs of cotangents
}

// start checks the operands and prepares the pass of the kernel in p, which runs back if back is set.
// output is as for make.
func (c *call) start(p pass, output unsafe.Pointer, back *bool) error {
	if err := c.check(p.own, p.missing); err != nil {
		return err
	}
	if output == nil {
		return c.begin(p.g != nil, *back)
	}
	*back = false
	if !c.writesOnly(output) {
		return errOthers
	}
	return nil
}

// check checks the operands, and that no derivative is lost.
func (c *call) check(own *substitution, missing *lostDerivatives) error {
	if own != nil {
		for _, d := range [...]unsafe.Pointer{c.g, c.gt} {
			if d == nil {
				continue
			}
			if err := c.layout.substitute(d, own); err != nil {
				return err
			}
		}
	}
	if err := c.layout.check(c.k, c.g, c.t, c.gt); err != nil { // which may set dimensions of k
		return err
	}
	if missing != nil {
		return missing.check(c.layout, c.k, c.g, c.t, c.gt)
	}
	return nil
}

// writesOnly reports whether the kernel writes the number at output and nothing else.
func (c *call) writesOnly(output unsafe.Pointer) bool {
	for i := range c.layout.fields {
		f := &c.layout.fields[i]
		if !f.Role.writes() || f.Optional && f.isNil(c.k) {
			continue
		}
		var r region
		if f.Role == InOut || !f.load(c.k, &r) || r.data != output || r.bytes != f.size {
			return false
		}
	}
	return true
}

// begin prepares a pass whose operands have been checked, and end ends it. The inverse of the
// adjoint of a kernel that accumulates is:
//
//	y += f(x),  x̄ -= Jᵀ·ȳ
//
// and likewise for the tangents. For it, begin changes the signs of the cotangents ȳ and
// ġy, the kernel runs forward, which adds Jᵀ·ȳ, and end changes the signs back. All that the
// pass adds is linear in these cotangents. Changing a sign is exact and rounding is
// symmetric, so the same numbers are subtracted as the adjoint adds.
func (c *call) begin(adjoint, back bool) error {
	if !adjoint || back {
		return nil
	}
	if c.layout.inPlace {
		if c.t != nil && c.lacksTangents() {
			return ErrUnsupported
		}
		return nil
	}
	if !c.layout.hasSigns() {
		return ErrUnsupported
	}
	c.turned = true
	c.negate()
	return nil
}

func (c *call) end() {
	if c.turned {
		c.negate()
	}
}

// negate changes the signs of the cotangents of acc operands and of their tangents.
func (c *call) negate() {
	for _, d := range [...]unsafe.Pointer{c.g, c.gt} {
		if d != nil {
			c.layout.negate(d)
		}
	}
}

// lacksTangents reports whether the tangents of the kernel have some of what it reads, but
// not those of operands in place. The inverse of AdjointTangent does not know these.
func (c *call) lacksTangents() bool {
	lacks, reads := false, false
	for i := range c.layout.fields {
		var r region
		switch f := &c.layout.fields[i]; f.Role {
		case In:
			reads = reads || !f.isNil(c.t)
		case InOut:
			lacks = lacks || f.isNil(c.t) && f.load(c.k, &r) && r.bytes > 0
		}
	}
	return lacks && reads
}

// hasSigns reports whether the numbers that the kernel adds into have a sign
// that can be changed.
func (l *layout) hasSigns() bool {
	for _, f := range l.fields {
		if f.Role == Acc && !hasSign(f.Elem) {
			return false
		}
	}
	return true
}

func hasSign(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 ||
		t.Kind() >= reflect.Float32 && t.Kind() <= reflect.Complex128
}

// negate changes the sign of the acc operands of the kernel value at k, which
// is well formed.
func (l *layout) negate(k unsafe.Pointer) {
	for i := range l.fields {
		f := &l.fields[i]
		var r region
		if f.Role != Acc || !f.load(k, &r) || r.bytes == 0 {
			continue
		}
		r.negate(f.Elem.Kind())
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
