package revgen

import (
	"slices"
	"strconv"
)

// A loop over whole vectors and rows that adds products, as in
//
//	for j := range x {
//		y[j] += a * x[j]
//		s += x[j] * z[j]
//	}
//
// with an a that is the same in each iteration, is written as calls of num.AddScaled and
// num.Dot, which run vector code. Over fixed point no bit depends on that. Over floats
// AddScaled rounds as the loop does, but Dot adds in another order. Sums of values therefore
// stay loops: they have the bits of the function. In a sum of several products,
// y[j] += a*x[j] + b*z[j], one is added after the other if it is a derivative.

// vectors returns b with a loop for each product that vector code can add. These loops
// have the mark vector. The kernel may be over fixed point, if exact is true.
func vectors(b []*stmt, exact bool) (out []*stmt) {
	for _, s := range b {
		if parts := s.vectorParts(exact); parts != nil {
			out = append(out, parts...)
			continue
		}
		c := *s
		c.inner, c.els = vectors(s.inner, exact), vectors(s.els, exact)
		out = append(out, &c)
	}
	return out
}

// vectorParts returns the loop l as a loop of what vector code does not do, and loops of one
// addition each. It returns nil if l has none that vector code can do, if it has an
// addition to derivatives that vector code cannot do, if it is short, or if the order of
// its statements matters.
func (l *stmt) vectorParts(exact bool) []*stmt {
	if l.op != "loop" || l.e != nil || l.fork != nil || len(l.carried) > 0 || l.hi.op != "len" {
		return nil
	}
	if _, err := strconv.Atoi(l.hi.x.tag(l.hi.axis)); err == nil {
		return nil
	}
	n := count(l.inner)
	values, changed := map[*local]*node{}, map[*local]bool{l.v: true}
	for v := range n.writes {
		changed[v] = true
	}
	still := func(e *node) bool {
		return !e.has(func(e *node) bool { return e.op == "elem" && e.kind == number || changed[e.v] })
	}
	var rest, parts []*stmt
	var kept, moved, read []*node // elements that the two change, and that either reads
	for _, s := range l.inner {
		c := s.mapped(func(e *node) *node {
			return e.replaced(func(e *node) *node {
				if x := values[e.v]; x != nil {
					return x
				}
				return e
			})
		})
		for _, e := range c.reads() {
			e.each(func(e *node) { read = append(read, e) })
		}
		switch {
		case s.op == "def" && n.writes[s.v] == 1:
			values[s.v] = c.e
			rest = append(rest, s)
		case s.op != "add":
			return nil
		default:
			ps := l.products(c, n, still, exact)
			if ps == nil && s.to.op == "elem" && s.to.in != value {
				return nil
			}
			if ps == nil {
				rest, kept = append(rest, s), append(kept, s.targets()...)
				continue
			}
			moved = append(moved, s.targets()...)
			parts = append(parts, ps...)
		}
	}
	if len(parts) == 0 || meetsOperand(moved, read) || meetsOperand(moved, kept) {
		return nil
	}
	c := *l
	if c.inner = rest; slices.ContainsFunc(rest, func(s *stmt) bool { return s.op == "add" }) {
		parts = append([]*stmt{&c}, parts...)
	}
	return parts
}

// meetsOperand reports whether an element of xs is of the same operand as one of es.
func meetsOperand(xs, es []*node) bool {
	return slices.ContainsFunc(xs, func(x *node) bool {
		return slices.ContainsFunc(es, func(e *node) bool { return e.op == "elem" && e.x == x.x && e.in == x.in })
	})
}

// products returns a loop as l for each product that s adds, or nil if vector code cannot
// do that.
func (l *stmt) products(s *stmt, n counts, still func(*node) bool, exact bool) (parts []*stmt) {
	along := func(e *node) bool { // whether e is element l.v of a whole vector or row
		if e.op != "elem" || e.x.index || e.x.rank == 0 {
			return false
		}
		last := e.x.rank - 1
		return e.args[last].op == "ref" && e.args[last].v == l.v && l.covers(e.x, last) &&
			!slices.ContainsFunc(e.args[:last], func(i *node) bool { return !still(i) })
	}
	terms := signedTerms(s.e, s.neg)
	for _, t := range terms {
		e, ok := t.e, false
		if v := s.to.v; v != nil {
			ok = v.derived && n.reads[v] == 0 && (e.op == "exact" || e.op == "*" && !exact) && along(e.args[0]) && along(e.args[1])
		} else if along(s.to) && (len(terms) == 1 || s.to.in != value) {
			if e.op == "*" && along(e.args[0]) {
				e = binary("*", e.args[1], e.args[0])
			}
			ok = along(e) || e.op == "*" && still(e.args[0]) && along(e.args[1])
		}
		if !ok {
			return nil
		}
		c := *l
		c.vector, c.inner = true, []*stmt{{op: "add", to: s.to, e: e, neg: t.neg}}
		parts = append(parts, &c)
	}
	return parts
}

// A term is a part of a sum.
type term struct {
	e   *node
	neg bool
}

// signedTerms returns the terms of e, or of -e.
func signedTerms(e *node, minus bool) []term {
	switch a := e.args; e.op {
	case "+", "-":
		return append(signedTerms(a[0], minus), signedTerms(a[1], minus != (e.op == "-"))...)
	case "neg":
		return signedTerms(a[0], !minus)
	}
	return []term{{e, minus}}
}

// vector writes a loop that has the mark.
func (w *writer) vector(l *stmt) {
	s := l.inner[0]
	if v := s.to.v; v != nil {
		dot := "num.Dot(" + w.data(s.e.args[0]) + ", " + w.data(s.e.args[1]) + ")"
		switch name := w.name(v); {
		case !v.exact:
			w.printf("%s %s= %s.Round()\n", name, map[bool]string{false: "+", true: "-"}[s.neg], dot)
		case s.neg:
			w.printf("%s = %s.SubSum(%s)\n", name, name, dot)
		default:
			w.printf("%s = %s.AddSum(%s)\n", name, name, dot)
		}
		return
	}
	a, x := one, s.e
	if x.op != "elem" {
		a, x = x.args[0], x.args[1]
	}
	args := w.data(s.to) + ", %s" + w.expr(a, 0) + ", " + w.data(x)
	sign := ""
	if w.k.accumulates() && s.to.in&cotangent == 0 {
		sign = "sign"
	}
	switch {
	case s.neg && sign == "":
		sign = "-1"
	case s.neg:
		sign = "-sign"
	}
	if sign == "" {
		w.printf("num.AddScaled("+args+")\n", "")
	} else {
		w.printf("num.AddSigned("+args+")\n", sign+", ")
	}
}
