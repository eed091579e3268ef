package rev

import (
	"fmt"
	"sync"
	"unsafe"
)

// A missing records derivatives that a program would lose. Where a kernel
// reads x and the state of cotangents has none for it, x may be an input that
// nobody wants the gradient of. If an earlier step writes x, the gradient of all
// that went into x would lack that part. The same holds for tangents, which are
// lost where they are written.
type missing struct {
	mu   sync.Mutex // branches of ParallelShared run at the same time
	g, t []lostRegion
}

// A lostRegion is memory of the state of which the derivatives are not there.
type lostRegion struct {
	region
	layout *layout
	field  int
}

var missings = sync.Pool{New: func() any { return new(missing) }}

// release puts m into the pool.
func (m *missing) release() {
	clear(m.g)
	clear(m.t)
	m.g, m.t = m.g[:0], m.t[:0]
	missings.Put(m)
}

// check returns an error if derivatives that are wanted would lack a part that
// another kernel has lost, and records what k loses.
func (m *missing) check(l *layout, back bool, k, g, t, gt unsafe.Pointer) error {
	switch {
	case back && gt != nil:
		if err := m.follow(&m.g, l, k, gt, Role.writes, Role.reads, "tangent of the cotangent"); err != nil {
			return err
		}
		fallthrough
	case back && g != nil:
		return m.follow(&m.g, l, k, g, Role.writes, Role.reads, "cotangent")
	case !back && g == nil && t != nil:
		return m.follow(&m.t, l, k, t, Role.reads, Role.writes, "tangent")
	}
	return nil
}

// follow follows derivatives through a kernel, from operands of one role to those of
// another. What comes to a nil operand is lost. What comes from memory where it
// was lost must not be added to what is wanted.
func (m *missing) follow(list *[]lostRegion, l *layout, k, d unsafe.Pointer, from, to func(Role) bool, what string) error {
	var absent [maxOperands]bool
	found, comes := false, false
	for i := range l.fields {
		if f := &l.fields[i]; f.Role != Index {
			absent[i] = l.isNil(i, d) && !l.isNil(i, k)
			found = found || absent[i]
			comes = comes || from(f.Role) && !l.isNil(i, d)
		}
	}
	if !found {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range l.fields {
		var r region
		if !absent[i] || !from(l.fields[i].Role) || l.load(i, &r, k, "") != nil {
			continue
		}
		other := findLost(*list, &r)
		if other == nil {
			continue
		}
		comes = true
		for j := range l.fields {
			if to(l.fields[j].Role) && !l.isNil(j, d) {
				first, second := l.operand(i), other.layout.operand(other.field)
				if what == "tangent" {
					first, second = second, first
				}
				return fmt.Errorf("the %s of %s is nil, and %s reads what it is the %s of: ZeroLike makes a state that has all", what, first, second, what)
			}
		}
	}
	for i := range l.fields {
		var r region
		if comes && absent[i] && to(l.fields[i].Role) && l.load(i, &r, k, "") == nil {
			add(list, lostRegion{r, l, i})
		}
	}
	return nil
}

func findLost(list []lostRegion, r *region) *lostRegion {
	for i := range list {
		if overlap(&list[i].region, r) {
			return &list[i]
		}
	}
	return nil
}

// maxLost bounds how many regions are watched, so that a step takes no longer
// the more memory its program goes through.
const maxLost = 64

// add records a region, together with one before or after it.
func add(list *[]lostRegion, r lostRegion) {
	dense := func(r *region) bool { return r.rows == 1 || r.stride == r.cols }
	for i := len(*list) - 1; i >= 0; i-- {
		other := &(*list)[i]
		if other.region == r.region || r.bytes == 0 {
			return
		}
		if !dense(&other.region) || !dense(&r.region) || other.layout != r.layout || other.field != r.field {
			continue
		}
		lo, hi := uintptr(other.data), uintptr(r.data)
		first := other.data
		if hi < lo {
			lo, hi, first = hi, lo, r.data
		}
		if lo+other.bytes == hi && lo == uintptr(other.data) || lo+r.bytes == hi && lo == uintptr(r.data) {
			n := other.span() + r.span()
			other.region = region{first, 1, n, n, other.bytes + r.bytes}
			return
		}
	}
	if len(*list) < maxLost {
		*list = append(*list, r)
	}
}

// writes reports whether a kernel changes operands of role r, and reads whether
// what it changes depends on them.
func (r Role) writes() bool { return r == Acc || r == InOut }
func (r Role) reads() bool  { return r == In || r == InOut }

// isNil reports whether operand i of the kernel value at k is nil.
func (l *layout) isNil(i int, k unsafe.Pointer) bool {
	f := &l.fields[i]
	p := unsafe.Add(k, f.offset)
	switch f.Kind {
	case Scalar:
		return *(*unsafe.Pointer)(p) == nil
	case Slice:
		return *(*[]byte)(p) == nil
	case Vec:
		return (*Vector[byte])(p).Data == nil
	case Gen:
		return (*General[byte])(p).Data == nil
	}
	return (*sparse)(p).Data == nil
}

// operand names operand i.
func (l *layout) operand(i int) string {
	return l.fields[i].Name + " of " + l.kernel.String()
}
