package revgen

import (
	"maps"
	"slices"
	"strings"
)

// A local that is defined before a loop gets a value from all iterations. It may be read
// there as long as no later statement changes what it was computed from:
//
//	for i := range x {
//		x[i] += a * h
//		h = math.Tanh(h + x[i])
//	}
//
// The backward pass finds each x[i] as it was read, and computes h again from these. With
// x[i+1] in the second statement it would find other numbers, because the next iteration
// changes x[i+1] after it was read. This file tells the two apart.

// ranges returns f with the bounds of the variables of all loops in b, or of what stands
// for these variables.
func (f facts) ranges(b []*stmt, other map[*local]*local) facts {
	f.positive = slices.Clip(f.positive)
	each(b, func(s *stmt) {
		if s.op != "loop" {
			return
		}
		v := renamed(ref(s.v), other)
		f.less(renamed(s.lo, other), v, 1)
		if s.hi != nil {
			f.less(v, renamed(s.hi, other), 0)
		}
	})
	return f
}

// renamed returns e with other locals in the places of those given.
func renamed(e *node, other map[*local]*local) *node {
	return e.replaced(func(e *node) *node {
		if w := other[e.v]; w != nil {
			return ref(w)
		}
		return e
	})
}

// change returns the name of an element that s changes and that may be one of read.
// These are read by statements of the same block, perhaps by s itself. f has the ranges
// of that block.
func (f facts) change(s *stmt, read []*node) (name string) {
	other := map[*local]*local{} // for iterations other than those that read
	each([]*stmt{s}, func(l *stmt) {
		if l.op == "loop" {
			other[l.v] = new(local)
			each(l.inner, func(s *stmt) {
				if s.op == "def" {
					other[s.v] = new(local)
				}
			})
		}
	})
	g := f.ranges([]*stmt{s}, other)
	each([]*stmt{s}, func(u *stmt) {
		for _, x := range u.targets() {
			for _, y := range read {
				if name == "" && g.meet(renamed(x, other), y) && !f.before(s, x, y) {
					name = show(x)
				}
			}
		}
	})
	return name
}

// before reports whether the loop l changes x only before it reads y, if they are the
// same element.
func (f facts) before(l *stmt, x, y *node) bool {
	if l.op != "loop" || l.e != nil || !y.has(func(e *node) bool { return e.v == l.v }) {
		return false
	}
	f = f.inside(l, false)
	return f.neverLater(l, x, y) && (!f.meet(x, y) || l.writesFirst(x, y))
}

// neverLater reports whether no later iteration of l touches in x the element that this one
// touches in y. That holds if some index of both has the same slope in l's variable and x's
// offset is not larger.
func (f facts) neverLater(l *stmt, x, y *node) bool {
	k := ref(l.v).key()
	defines := func(s *stmt, v *local) bool { return (s.op == "def" || s.op == "loop") && s.v == v }
	for i := range min(len(x.args), len(y.args)) {
		alike := true
		a, b := affineOf(x.args[i]), affineOf(y.args[i])
		for _, e := range []*node{x.args[i], y.args[i]} {
			e.each(func(e *node) {
				if e.v != nil {
					alike = alike && !contains(l.inner, func(s *stmt) bool { return defines(s, e.v) })
				}
			})
		}
		for t := range maps.Keys(b) {
			alike = alike && (t == k || !strings.Contains(t, k))
		}
		slope := b[k]
		gap, known := a.plus(-1, b).constant()
		if !alike || !known || slope == 0 && gap == 0 {
			continue
		}
		if slope == 0 || gap%slope != 0 {
			return true
		}
		if steps := -gap / slope; l.down && steps >= 0 || !l.down && steps <= 0 {
			return true
		}
	}
	return false
}

// writesFirst reports whether all statements in the body of l that change x are before
// those that read y.
func (l *stmt) writesFirst(x, y *node) bool {
	last, first := -1, len(l.inner)
	for i, s := range l.inner {
		has := func(es func(*stmt) []*node, x *node) bool {
			return contains([]*stmt{s}, func(s *stmt) bool {
				return slices.ContainsFunc(es(s), func(e *node) bool {
					return e.has(func(e *node) bool { return e.key() == x.key() })
				})
			})
		}
		if has((*stmt).targets, x) {
			last = i
		}
		if has((*stmt).reads, y) {
			first = min(first, i)
		}
	}
	return last < first
}
