package revgen

import (
	"slices"
	"strings"
)

// Shape tags name the dimensions of operands. They come from the conditions with
// which a function begins,
//
//	if len(y) != len(x) || len(w) != 2*len(x) {
//		panic("shape")
//	}
//
// and from its loops. Suppose that the conditions say nothing about an operand, and
// that it is only indexed by variables that run over another operand. Then it has the
// length of that operand.

// Package rev takes kernels with at most so many operands and so many names in their tags.
const (
	maxOperands = 32
	maxNames    = 14
)

// A shaper finds the names. A dimension is known by the key of the node that is its
// length.
type shaper struct {
	k     *kernel
	same  map[string]string // another dimension that is equal
	value map[string]*node  // what it is by a condition
	names map[string]string
}

// shape sets the shape tags of the operands of k.
func (r *reader) shape() {
	s := &shaper{k: r.k, same: map[string]string{}, value: map[string]*node{}, names: map[string]string{}}
	said := map[string]bool{}
	for _, c := range r.k.shapes {
		for _, e := range disjuncts(c.e) {
			r.guarded(func() { s.relation(r, c, e) })
			e.each(func(e *node) { said[e.key()] = said[e.key()] || e.op == "len" })
		}
	}
	s.noteCallShapes()
	s.loops(said)
	for _, x := range r.k.operands() {
		var tags []string
		for axis := range x.rank {
			tags = append(tags, s.text(length(x, axis), 0))
		}
		x.shape = strings.Join(tags, ",")
	}
	if n := len(s.names); n > maxNames {
		r.guarded(func() {
			r.refuseAt(r.k.pos, "the operands have %d lengths that may differ, and a kernel has at most %d: say by a first statement if len(x) != len(y) { panic(...) } which are equal", n, maxNames)
		})
	}
}

func disjuncts(e *node) []*node {
	if e.op == "||" {
		return append(disjuncts(e.args[0]), disjuncts(e.args[1])...)
	}
	return []*node{e}
}

func (s *shaper) find(key string) string {
	for s.same[key] != "" {
		key = s.same[key]
	}
	return key
}

// relation notes what follows if e is false.
func (s *shaper) relation(r *reader, at *stmt, e *node) {
	const form = "the shape of operands is said by if len(x) != n { panic(...) }, where n is made of lengths, integers and +, -, *, /"
	if e.op != "!=" || e.args[0].kind != integer || e.has(func(e *node) bool { return e.op == "elem" || e.op == "%" }) {
		r.refuseAt(at.pos, form)
	}
	x, y := e.args[0], e.args[1]
	if x.op != "len" {
		x, y = y, x
	}
	a, b := s.find(x.key()), s.find(y.key())
	switch {
	case x.op != "len":
		r.refuseAt(at.pos, form)
	case y.op == "len" && a == b:
	case y.op == "len" && s.value[a] != nil && s.value[b] != nil, y.op != "len" && s.value[a] != nil:
		r.refuseAt(at.pos, "two conditions on %s: say each length once", show(x))
	case y.op == "len" && s.value[a] != nil:
		s.same[b] = a
	case y.op == "len":
		s.same[a] = b
	case y.has(func(e *node) bool { return e.op == "len" && s.find(e.key()) == a }):
		r.refuseAt(at.pos, "%s is said by itself", show(x))
	default:
		s.value[a] = y
	}
}

// loops finds dimensions that no condition mentions, and notes the dimensions that
// loops run over together with them.
func (s *shaper) loops(said map[string]bool) {
	over := map[*local]*node{} // by the variable of a loop from 0
	each(s.k.body, func(l *stmt) {
		if l.op == "loop" && l.lo.is(none) && l.hi != nil && (l.hi.op == "len" || l.hi.op == "ref" && l.hi.v.plain) {
			over[l.v] = l.hi
		}
	})
	ends := map[string][]*node{} // where the indices of a dimension end
	each(s.k.body, func(u *stmt) {
		for _, e := range append(u.reads(), u.targets()...) {
			e.each(func(e *node) {
				for axis, i := range e.args {
					if e.op == "elem" {
						k := length(e.x, axis).key()
						ends[k] = append(ends[k], over[i.v])
					}
				}
			})
		}
	})
	for _, x := range s.k.operands() {
		for axis := range x.rank {
			key := length(x, axis).key()
			if said[key] || len(ends[key]) == 0 || slices.Contains(ends[key], nil) {
				continue
			}
			first := ends[key][0]
			if slices.ContainsFunc(ends[key], func(e *node) bool { return e.key() != first.key() && s.find(e.key()) != s.find(first.key()) }) {
				continue
			}
			if a := s.find(key); first.op == "len" && s.find(first.key()) != a {
				s.same[a] = s.find(first.key())
			} else if first.op == "ref" {
				s.value[a] = first
			}
		}
	}
}

// text returns a dimension as a shape tag has it, in parentheses if its operator
// binds less than prec.
func (s *shaper) text(e *node, prec int) string {
	switch e.op {
	case "lit":
		return e.text
	case "ref":
		return title(e.v.name)
	case "len":
		key := s.find(e.key())
		if v := s.value[key]; v != nil {
			return s.text(v, prec)
		}
		if s.names[key] == "" {
			s.names[key] = string("nmpqlrstuvwxyz"[len(s.names)%maxNames])
		}
		return s.names[key]
	}
	p := precedence[e.op]
	out := s.text(e.args[0], p) + e.op + s.text(e.args[1], p+1)
	if p < prec {
		return "(" + out + ")"
	}
	return out
}
