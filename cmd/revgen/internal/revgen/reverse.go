package revgen

import "slices"

// A reverser runs a program backward, with cotangents if adjoint is true.
//
// A program that only accumulates is different. Its locals are computed in the order
// of the function, and what it adds to operands is added along with them: the passes
// multiply it by their sign, so a value has the same bits in all of them. Only the
// cotangents go backward, and loops that carry nothing from one iteration to the next
// run forward.
type reverser struct {
	adjoint bool
	sums    bool // the program only accumulates
	body    []*stmt
	added   map[*stmt]bool // what has been added to operands
	src     sources
	cots    map[*local]*local
	tapes   map[*local]*local // by the variable of the loop
	k       *kernel
	kept    map[*stmt]bool     // branches whose locals outlive them
	fused   map[*local]bool    // sums that are computed in the backward pass
	runs    map[*stmt]*run     // what is differentiated forward
	fed     map[*local]bool    // what has a cotangent that is not zero
	ran     map[*stmt]*stmt    // by loops, what runs them ahead
	given   map[*stmt][]*local // by loops, what they carry and operands give cotangents to
	passing bool               // cotangents go back through locals alone, and operands stay as they are
	out     []*stmt
}

// reversed returns b, a program of k, backward.
func (k *kernel) reversed(b []*stmt, adjoint bool) []*stmt {
	r := k.reverser(b)
	r.adjoint = adjoint
	r.sums = adjoint && k.accumulates()
	if adjoint {
		r.findRuns(b)
	}
	return r.block(b, facts{}, false)
}

func (k *kernel) reverser(b []*stmt) *reverser {
	return &reverser{
		k: k, adjoint: true, body: b, added: map[*stmt]bool{}, src: sourcesOf(b), cots: map[*local]*local{}, tapes: map[*local]*local{},
		kept: map[*stmt]bool{}, fused: map[*local]bool{}, runs: map[*stmt]*run{}, ran: map[*stmt]*stmt{}, given: map[*stmt][]*local{}, fed: map[*local]bool{},
	}
}

func (r *reverser) emit(s *stmt) { r.out = append(r.out, s) }

// cot returns the cotangent of v.
func (r *reverser) cot(v *local) *local {
	if r.cots[v] == nil {
		r.cots[v] = &local{name: "g", of: v, active: true, temp: true, derived: true}
	}
	return r.cots[v]
}

// block returns b backward. If kept is true, its locals are there already.
func (r *reverser) block(b []*stmt, f facts, kept bool) []*stmt {
	out, own := r.out, defined(b)
	r.out = nil
	at := places(b, f)
	last := map[int][]*stmt{}
	if r.sums && !kept {
		last = r.fuse(b, own)
	}
	recompute := func(after int) {
		for i, s := range b {
			if at[i] != after {
				continue
			}
			first := last[i] == nil && r.addsFirst(s, b, own)
			keeping := s.op == "cond" && r.adjoint && r.worthKeeping(s)
			p := r.part(s, own, first, keeping || s.op == "loop")
			if first {
				r.mark(s)
			}
			switch {
			case kept && s.op == "def" && !contains(b, func(u *stmt) bool { return u != s && u.writes() == s.v }):
				r.emit(&stmt{op: "known", v: s.v, e: s.e})
			case kept || p == nil || last[i] != nil:
			case keeping:
				r.keep(s, p)
			case r.runs[s] != nil:
				r.out = append(r.out, r.runs[s].forward(s, p)...)
			default:
				r.emit(p)
			}
			if s.op == "def" && r.adjoint && s.v.active && after == len(b) {
				r.emit(def(r.cot(s.v), zero))
			}
		}
	}
	for i, s := range b {
		if s.op == "def" && r.adjoint && s.v.active && at[i] < len(b) {
			r.emit(def(r.cot(s.v), zero)) // what uses v may come before v
		}
	}
	recompute(len(b))
	for i := len(b) - 1; i >= 0; i-- {
		if n := r.runs[b[i]]; n == nil {
			r.stmt(b[i], f)
		} else if n.first == b[i] {
			r.throughRun(n)
		}
		for _, s := range last[i] {
			r.emit(s)
		}
		recompute(i)
	}
	b, r.out = r.out, out
	return b
}

// fuse finds loops of b that are sums whose values the derivatives do not need:
// the backward pass through such a loop computes them too. It returns what follows
// each loop then.
func (r *reverser) fuse(b []*stmt, own map[*local]bool) map[int][]*stmt {
	last := map[int][]*stmt{}
	for i, l := range b {
		vs := results(l, own)
		if l.op != "loop" || l.e != nil || len(vs) != 1 ||
			contains([]*stmt{l}, func(s *stmt) bool { return len(s.carried) > 0 || len(s.targets()) > 0 || s.op == "set" && s.v == vs[0] }) {
			continue
		}
		linear := true
		var uses []*stmt
		for _, u := range b[i+1:] {
			if !contains([]*stmt{u}, func(s *stmt) bool { return reads(s, vs[0]) > 0 || s.writes() == vs[0] }) {
				continue
			}
			uses = append(uses, u)
			linear = linear && u.op == "add" && u.to.op == "elem" && isTerm(u.e, vs[0]) && !r.meets(u, r.body)
		}
		if linear && len(uses) > 0 {
			r.fused[vs[0]] = true
			for _, u := range uses {
				last[i] = append(last[i], u)
				r.added[u] = true
			}
		}
	}
	return last
}

// isTerm reports whether v is in e only as a term of a sum.
func isTerm(e *node, v *local) bool {
	if e.op == "+" || e.op == "-" || e.op == "neg" {
		ok := true
		for _, a := range e.args {
			ok = ok && isTerm(a, v)
		}
		return ok
	}
	return e.op == "ref" || !e.has(func(e *node) bool { return e.v == v })
}

// worthKeeping reports whether keeping the locals of a branch is better than computing them
// twice. It is not if something changes them in between.
func (r *reverser) worthKeeping(c *stmt) bool {
	return !contains([]*stmt{c}, func(s *stmt) bool {
		return s.op == "loop" && s.e != nil || r.runs[s] != nil || s.op == "def" && len(r.src[s.v]) > 0
	}) && contains([]*stmt{c}, func(s *stmt) bool {
		return s.e != nil && s.e.active() && s.e.has(func(e *node) bool { return e.op == "/" || rules[e.op] != nil })
	})
}

// keep emits part, which is c without what it does to operands, with its locals
// defined before it.
func (r *reverser) keep(c, part *stmt) {
	r.kept[c] = true
	p := *part
	for _, b := range []*[]*stmt{&p.inner, &p.els} {
		var out []*stmt
		for _, s := range *b {
			if s.op == "def" {
				r.emit(&stmt{op: "def", v: s.v, e: map[kind]*node{number: zero, integer: none, boolean: lit(boolean, "false")}[s.v.kind], declares: true})
				s = set(s.v, s.e)
			}
			out = append(out, s)
		}
		*b = out
	}
	r.emit(&p)
}

// addsFirst reports whether s, a statement of b that only accumulates, adds to operands
// before cotangents go backward: because it runs then anyway to compute locals, or
// because another statement of b adds to the same elements, and the order matters.
func (r *reverser) addsFirst(s *stmt, b []*stmt, own map[*local]bool) bool {
	if !r.sums || s.op == "add" || s.op == "kernel" {
		return r.sums
	}
	if r.part(s, own, false, false) != nil {
		return true
	}
	meets := false
	s.each(func(u *stmt) { meets = meets || len(u.targets()) > 0 && !r.added[u] && r.meets(u, b, s) })
	return meets
}

// meets reports whether statements of b but u and those in s may add to the element
// that u adds to.
func (r *reverser) meets(u *stmt, b []*stmt, in ...*stmt) bool {
	return contains(b, func(o *stmt) bool {
		return o != u && meet(o.targets(), u.targets()) && !contains(in, func(s *stmt) bool { return s == o })
	})
}

// meet reports whether an element of xs may be one of ys.
func meet(xs, ys []*node) bool {
	return slices.ContainsFunc(xs, func(x *node) bool {
		return slices.ContainsFunc(ys, func(y *node) bool { return facts{}.meet(x, y) })
	})
}

// mark notes that the additions of s to operands have been made.
func (r *reverser) mark(s *stmt) {
	s.each(func(s *stmt) { r.added[s] = r.added[s] || len(s.targets()) > 0 })
}

// part returns the part of s that changes the locals own and those defined in s, or nil if
// nothing after s reads these. If adds is set, it includes what s adds to operands. If
// tapes is set, it includes what loops put on tapes: s itself, or the loops in s if s is a
// branch. Loops further in are computed again later, and write their tapes then.
func (r *reverser) part(s *stmt, own map[*local]bool, adds, tapes bool) *stmt {
	add := adds && contains([]*stmt{s}, func(s *stmt) bool { return len(s.targets()) > 0 && !r.added[s] })
	if len(results(s, own)) == 0 && (s.op != "loop" || s.e == nil || r.runs[s] != nil) && !add {
		return nil
	}
	c := *s
	c.keep, c.inner, c.els = s.op == "loop" && s.e != nil && r.runs[s] == nil, nil, nil
	if tapes && r.tape(s) != nil {
		c.inner = r.pushes(s)
	}
	for _, b := range []struct{ from, to *[]*stmt }{{&s.inner, &c.inner}, {&s.els, &c.els}} {
		o := defined(*b.from)
		for v := range own {
			o[v] = true
		}
		for _, s := range *b.from {
			if p := r.part(s, o, adds, tapes && c.op == "cond" && s.op == "loop"); p != nil {
				*b.to = append(*b.to, p)
			}
		}
	}
	return &c
}

// stmt inverts what s did to operands, and passes cotangents through it.
func (r *reverser) stmt(s *stmt, f facts) {
	c := *s
	if r.passing && len(s.targets()) > 0 {
		return
	}
	switch s.op {
	case "def":
		if r.adjoint && s.v.active {
			r.pass(s.e, ref(r.cot(s.v)), s.v)
		}
	case "set":
		if r.adjoint && s.v.active {
			h := &local{name: "h", active: true, temp: true}
			r.emit(def(h, ref(r.cot(s.v))))
			r.emit(set(r.cot(s.v), zero))
			r.pass(s.e, ref(h), nil)
		}
	case "add":
		h := s.to.moved(cotangent)
		if v := s.to.v; v != nil {
			if h = ref(r.cot(v)); r.fused[v] {
				r.emit(s)
			}
		} else if !r.sums {
			c.neg = !s.neg
			r.emit(&c)
		}
		if r.adjoint && s.e.active() {
			r.pass(s.e, signed(s.neg, h), nil)
		}
	case "kernel":
		c.adjoint = r.adjoint
		c.quiet = r.sums
		c.back = !s.back
		r.emit(&c)
	case "swap":
		r.emit(s)
		if r.adjoint {
			r.emit(s.moved(cotangent))
		}
	case "loop":
		c.inner = nil
		if r.tape(s) != nil {
			c.inner = r.pops(s)
		}
		if !r.sums || len(s.carried) > 0 {
			c.down = !s.down
		}
		c.again = s.e != nil
		c.inner = append(c.inner, r.block(s.inner, f.inside(s, false), false)...)
		r.emit(&c)
	case "cond":
		c.inner, c.els = r.block(s.inner, f.inside(s, false), r.kept[s]), r.block(s.els, f.inside(s, true), r.kept[s])
		r.emit(&c)
	}
}

// moved returns the same element of another space.
func (e *node) moved(in space) *node {
	c := *e
	c.in |= in
	return &c
}

func (s *stmt) moved(in space) *stmt {
	return s.mapped(func(e *node) *node { return e.moved(in) })
}

// pass adds the derivatives of e times h to the cotangents of what e is
// computed from. v has the value of e, if e is a call or a quotient.
func (r *reverser) pass(e, h *node, v *local) {
	if !e.active() || h.is(zero) {
		return
	}
	a := e.args
	switch e.op {
	case "ref":
		r.fed[e.v] = true
		r.emit(add(ref(r.cot(e.v)), h))
	case "elem":
		r.emit(add(e.moved(cotangent), h))
	case "neg":
		r.pass(a[0], neg(h), nil)
	case "+", "-":
		h = r.atom(h)
		r.pass(a[0], h, nil)
		r.pass(a[1], signed(e.op == "-", h), nil)
	case "*", "exact":
		switch {
		case a[0].op == "ref" && a[0].v == a[1].v:
			r.pass(a[0], product(twice(h), r.conj(a[0])), nil)
			return
		case a[0].active() && a[1].active():
			h = r.atom(h)
		}
		r.pass(a[0], product(h, r.conj(a[1])), nil)
		r.pass(a[1], product(h, r.conj(a[0])), nil)
	case "/", "over":
		h = quotient(e.op, h, r.conj(a[1]))
		if a[1].active() {
			h = r.atom(h)
			r.pass(a[1], neg(product(h, r.conj(ref(v)))), nil)
		}
		r.pass(a[0], h, nil)
	default:
		if e.toReal() {
			h = realPart(h)
		}
		if len(a) > 1 {
			h = r.atom(h)
		}
		for i, d := range rules[e.op](a, ref(v), r.conj(h)) {
			r.pass(a[i], r.conj(d), nil)
		}
	}
}

// twice returns 2h.
func twice(h *node) *node {
	if h.op == "*" && h.args[0].is(half) {
		return h.args[1]
	}
	return product(two, h)
}

// atom returns h as a local, or as minus a local.
func (r *reverser) atom(h *node) *node {
	if x := h.minus(); x != nil {
		return neg(r.atom(x))
	}
	if h.atom() {
		return h
	}
	v := &local{name: "h", active: true, temp: true}
	if h.op == "elem" {
		v.name = nameFor(h)
	}
	r.emit(def(v, h))
	return ref(v)
}
