package rev

import (
	"fmt"
	"sync"
	"unsafe"
)

// lostDerivatives finds derivatives that a program would lose silently. The state of
// cotangents may have no cotangent for an operand x that a kernel reads. That is
// right if x is an input whose gradient is not wanted. But if an earlier step writes
// x, the gradients of the operands of that step would lack a part. Likewise a tangent
// is lost if a kernel writes an operand that has none, and a later one reads it.
type lostDerivatives struct {
	mu   sync.Mutex // branches of ParallelShared run at the same time
	lost [4][]lostRegion
}

// The lists of lost derivatives: cotangents, tangents, tangents of cotangents, and the tangents
// that AdjointTangent reads.
const (
	lostG = iota
	lostT
	lostGT
	lostRead
)

// A lostRegion is the memory of an operand whose derivatives are lost.
type lostRegion struct {
	region
	layout *layout
	field  int
}

var missings = sync.Pool{New: func() any { return new(lostDerivatives) }}

// release puts m into the pool.
func (m *lostDerivatives) release() {
	for i := range m.lost {
		clear(m.lost[i])
		m.lost[i] = m.lost[i][:0]
	}
	missings.Put(m)
}

// check returns an error if a wanted derivative would lack a part that another kernel
// has lost. It also records what k loses.
func (m *lostDerivatives) check(l *layout, k, g, t, gt unsafe.Pointer) error {
	if g == nil {
		return m.follow(lostT, l, k, t, l.some(t, Role.reads))
	}
	comes := l.some(g, Role.writes)
	if gt != nil {
		if err := m.follow(lostGT, l, k, gt, comes || l.some(gt, Role.writes)); err != nil {
			return err
		}
		if err := m.follow(lostRead, l, k, t, comes && l.some(gt, Role.reads)); err != nil {
			return err
		}
	}
	return m.follow(lostG, l, k, g, comes)
}

// some reports whether a field of such a role is there.
func (l *layout) some(d unsafe.Pointer, is func(Role) bool) bool {
	for i := range l.fields {
		if f := &l.fields[i]; d != nil && is(f.Role) && !f.isNil(d) {
			return true
		}
	}
	return false
}

// follow follows the derivatives d through a kernel, if any come to it. Cotangents go from the
// operands that the kernel writes to those that it reads, and tangents go the other way.
// Tangents of cotangents come from the cotangents as well.
//
// A derivative that goes to an operand without one in d is lost. A derivative that
// comes from memory where one was lost is incomplete, so it is an error if it goes to
// an operand that has one.
//
// AdjointTangent reads the tangents of the operands that a kernel reads, if it makes tangents of
// their cotangents. It finds the kernel that writes such an operand later than the one that reads
// it. So it follows the need for a tangent, which goes the way of cotangents: it is an error
// if the need for a tangent that is not there comes to a kernel that has a tangent to make it of.
func (m *lostDerivatives) follow(which int, l *layout, k, d unsafe.Pointer, comes bool) error {
	from, to := Role.writes, Role.reads
	if which == lostT {
		from, to = to, from
	}
	absent := func(f *field) bool { return f.Role != Index && (d == nil || f.isNil(d)) && !f.isNil(k) }
	found := false
	for i := range l.fields {
		found = found || absent(&l.fields[i])
	}
	if !found {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := &m.lost[which]
	for i := range l.fields {
		var r region
		if !absent(&l.fields[i]) || !from(l.fields[i].Role) || !l.fields[i].load(k, &r) {
			continue
		}
		other := findLost(*list, &r)
		if other == nil {
			continue
		}
		comes = true
		for j := range l.fields {
			if to(l.fields[j].Role) && !l.fields[j].isNil(d) {
				return lostError(which, l.fields[i].Name, other)
			}
		}
	}
	for i := range l.fields {
		var r region
		if comes && absent(&l.fields[i]) && to(l.fields[i].Role) && l.fields[i].load(k, &r) {
			add(list, lostRegion{r, l, i})
		}
	}
	return nil
}

// lostError returns the error of a kernel whose operand of the given name is memory
// where other, an operand of another kernel, lost its derivatives.
func lostError(which int, name string, other *lostRegion) error {
	state, what, verb := "g", "cotangent", "reads"
	switch which {
	case lostT:
		state, what, verb = "t", "tangent", "writes"
	case lostGT:
		state = "gt"
	case lostRead:
		state, what = "t", "tangent"
	}
	return fmt.Errorf("a part of the derivatives is lost: the state %s has no %s of %s, which %v %s as %s (ZeroLike makes a state that has all)",
		state, what, name, other.layout.kernel, verb, other.layout.fields[other.field].Name)
}

func findLost(list []lostRegion, r *region) *lostRegion {
	for i := range list {
		if overlap(&list[i].region, r) {
			return &list[i]
		}
	}
	return nil
}

// maxLost bounds the number of regions that are watched. Without it, a step would
// take longer the more memory its program uses.
const maxLost = 64

// add records a region. It joins the region with an adjacent one if there is one.
func add(list *[]lostRegion, r lostRegion) {
	if r.bytes == 0 {
		return
	}
	dense := func(r *region) bool { return r.rows == 1 || r.stride == r.cols }
	for i := len(*list) - 1; i >= 0; i-- {
		other := &(*list)[i]
		if other.region == r.region {
			return
		}
		if !dense(&other.region) || !dense(&r.region) || other.layout != r.layout || other.field != r.field {
			continue
		}
		lo, hi := uintptr(other.data), uintptr(r.data)
		if lo <= hi && hi+r.bytes <= lo+other.bytes {
			return
		}
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

// writes reports whether a kernel changes operands of role r. reads reports whether
// the changes depend on them.
func (r Role) writes() bool { return r == Acc || r == InOut }
func (r Role) reads() bool  { return r == In || r == InOut }
