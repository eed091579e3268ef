package revgen

import "strings"

// A namer gives names to the values that derivatives are made of, so that each is
// computed once. In the program that it returns, factors, divisors and arguments are
// locals or constants. A call, or a quotient by something active, is the definition of
// a local that does not change. Derivatives take the value from there.
type namer struct {
	known   []map[string]*local // by key, of the blocks around
	changed map[*local]bool     // after their definition
	out     []*stmt
}

func named(b []*stmt) []*stmt {
	n := &namer{changed: map[*local]bool{}}
	each(b, func(s *stmt) { n.changed[s.writes()] = n.changed[s.writes()] || s.op != "def" })
	return n.block(b)
}

func (n *namer) block(b []*stmt) []*stmt {
	out := n.out
	n.out = nil
	n.known = append(n.known, map[string]*local{})
	for _, s := range b {
		n.stmt(s)
	}
	n.known = n.known[:len(n.known)-1]
	b, n.out = n.out, out
	return b
}

func (n *namer) stmt(s *stmt) {
	c := *s
	switch s.op {
	case "def", "known":
		c.e = n.split(s.e, s.op == "known" || !n.changed[s.v])
		k := c.e.key()
		if v := n.lookup(k); v != nil {
			c.e = ref(v)
		} else if !c.e.atom() {
			n.known[len(n.known)-1][k] = s.v
		}
		if s.op == "known" {
			return
		}
	case "set", "add":
		c.e = n.split(s.e, s.op == "set")
	case "loop", "cond", "keep":
		n.forget(s)
		c.inner, c.els = n.block(s.inner), n.block(s.els)
	}
	n.out = append(n.out, &c)
	n.forget(s)
}

// forget drops the names of all that s changes.
func (n *namer) forget(s *stmt) {
	s.each(func(s *stmt) {
		v, xs := s.writes(), s.targets()
		if s.op == "def" || s.op == "back" || v == nil && len(xs) == 0 {
			return
		}
		for _, known := range n.known {
			for k, w := range known {
				stale := v != nil && (w == v || strings.Contains(k, ref(v).key()))
				for _, x := range xs {
					stale = stale || strings.Contains(k, x.prefix())
				}
				if stale {
					delete(known, k)
				}
			}
		}
	})
}

// prefix returns the text that the keys of all elements of an operand contain.
func (e *node) prefix() string { return (&node{op: "elem", x: e.x, in: e.in}).key() }

func (n *namer) lookup(k string) *local {
	for _, known := range n.known {
		if v := known[k]; v != nil {
			return v
		}
	}
	return nil
}

// atom returns a local or a constant with the value of e.
func (n *namer) atom(e *node) *node {
	if e.atom() {
		return e
	}
	k := e.key()
	v := n.lookup(k)
	if v == nil {
		v = &local{name: nameFor(e), kind: e.kind, active: e.active(), temp: true}
		n.out = append(n.out, def(v, e))
		n.known[len(n.known)-1][k] = v
	}
	return ref(v)
}

func nameFor(e *node) string {
	switch e.op {
	case "elem":
		return spacePrefix[e.in] + e.x.name
	case "+", "-", "neg":
		return "s"
	case "*":
		return "p"
	case "/", "over":
		return "q"
	case "Int":
		return "n"
	}
	return strings.ToLower(e.op[strings.IndexByte(e.op, '.')+1:])
}

// split returns e with names for its parts. The value of e itself will have a
// name if top is true.
func (n *namer) split(e *node, top bool) *node {
	if !e.active() || e.atom() || e.op == "elem" {
		return e
	}
	c := *e
	c.args = nil
	for _, a := range e.args {
		c.args = append(c.args, n.split(a, false))
	}
	switch a := c.args; c.op {
	case "+", "-", "neg":
		return &c
	case "*", "exact":
		if a[1].active() {
			a[0] = n.atom(a[0])
		}
		if a[0].active() {
			a[1] = n.atom(a[1])
		}
		return &c
	case "/", "over":
		if a[1] = n.atom(a[1]); !a[1].active() {
			return &c
		}
	default:
		for i := range a {
			a[i] = n.atom(a[i])
		}
	}
	if top {
		return &c
	}
	return n.atom(&c)
}
