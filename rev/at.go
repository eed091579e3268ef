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
	return Step[S]{&kernelNode[S, K]{bind, layoutFor[K]()}}
}

type kernelNode[S any, K Kernel[K]] struct {
	bind   func(s, v *S) K
	layout *layout
}

func (n *kernelNode[S, K]) run(p pass[S]) error {
	k, q, err := n.operands(p)
	if err == nil {
		err = run(n.layout, &k, &q)
	}
	return n.within(p, err)
}

// gradient implements gradientNode.
func (n *kernelNode[S, K]) gradient(p pass[S], output unsafe.Pointer) (bool, error) {
	k, q, err := n.operands(p)
	if err != nil {
		return true, n.within(p, err)
	}
	for i := range n.layout.fields {
		f := &n.layout.fields[i]
		if !f.Role.writes() || f.Optional && f.isNil(addr(&k)) {
			continue
		}
		var r region
		if f.Role == InOut || !f.load(addr(&k), &r) || r.data != output || r.bytes != f.size {
			return false, nil
		}
	}
	q.Back = false
	return true, n.within(p, k.Run(q))
}

// within returns err with the path of the step.
func (n *kernelNode[S, K]) within(p pass[S], err error) error {
	if err == nil {
		return nil // without the cost of the name
	}
	if errors.Is(err, ErrUnsupported) {
		err = &Unsupported{n.layout.kernel.String(), p.String()}
	}
	return within(n.name(), err)
}

func (n *kernelNode[S, K]) name() string { return "At(" + n.layout.kernel.String() + ")" }

// operands returns the kernel in the state of p and the pass that the kernel makes,
// both checked.
func (n *kernelNode[S, K]) operands(p pass[S]) (k K, q Pass[K], err error) {
	k = n.bind(p.s, p.s)
	q.Back, q.Adjoint, q.Tangent = p.back, p.g != nil, p.t != nil
	var g, t, gt unsafe.Pointer // nil where there is no such state
	if p.g != nil {
		q.G, g = n.bind(p.s, p.g), addr(&q.G)
	}
	if p.t != nil {
		q.T, t = n.bind(p.s, p.t), addr(&q.T)
	}
	if p.gt != nil {
		q.GT, gt = n.bind(p.s, p.gt), addr(&q.GT)
	}
	err = n.check(p, addr(&k), g, t, gt) // which may set dimensions of k
	return k, q, err
}

// check checks the operands, and that no derivative is lost.
func (n *kernelNode[S, K]) check(p pass[S], k, g, t, gt unsafe.Pointer) error {
	if p.own != nil {
		for _, d := range [...]unsafe.Pointer{g, gt} {
			if d == nil {
				continue
			}
			if err := n.layout.substitute(d, p.own); err != nil {
				return err
			}
		}
	}
	if err := n.layout.check(k, g, t, gt); err != nil {
		return err
	}
	if p.missing != nil {
		return p.missing.check(n.layout, k, g, t, gt)
	}
	return nil
}

// run makes the pass q, whose operands have been checked. The inverse of the adjoint of
// a kernel that accumulates is:
//
//	y += f(x),  x̄ -= Jᵀ·ȳ
//
// and likewise for the tangents. For it, run changes the signs of the cotangents ȳ and
// ġy, runs the pass forward, which adds Jᵀ·ȳ, and changes the signs back. All that the
// pass adds is linear in these cotangents. Changing a sign is exact and rounding is
// symmetric, so the same numbers are subtracted as the adjoint adds.
func run[K Kernel[K]](l *layout, k *K, q *Pass[K]) error {
	if l.inPlace && q.Adjoint && !q.Back && q.Tangent && l.lacksTangents(addr(k), addr(&q.T)) {
		return ErrUnsupported
	}
	if !q.Adjoint || q.Back || l.inPlace {
		return (*k).Run(*q)
	}
	if !l.hasSigns() {
		return ErrUnsupported
	}
	l.negate(addr(&q.G))
	l.negate(addr(&q.GT))
	err := (*k).Run(*q)
	l.negate(addr(&q.G))
	l.negate(addr(&q.GT))
	return err
}

// lacksTangents reports whether the tangents t of the kernel k have some of what it reads, but
// not those of operands in place. The inverse of AdjointTangent does not know these.
func (l *layout) lacksTangents(k, t unsafe.Pointer) bool {
	lacks, reads := false, false
	for i := range l.fields {
		var r region
		switch f := &l.fields[i]; f.Role {
		case In:
			reads = reads || !f.isNil(t)
		case InOut:
			lacks = lacks || f.isNil(t) && f.load(k, &r) && r.bytes > 0
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
