package gradient

import (
	"fmt"
	"go/token"
	"slices"
)

// A sharer finds expressions that have a value which is there already. A second definition with the same
// value becomes another name for the first. Quotients and functions that come twice get a name:
//
//	a := exp(x)/y                q := exp(x) / y
//	b := c * (exp(x)/y)    →     b := c * q
//
// The derivative of a root, 1/2y, needs no quotient where there is 1/y.
//
// Expressions have the same value if they are the same and their variables have not changed in between.
// Memory is one variable for this.
type sharer struct {
	lowerer  *lowerer
	written  bool               // no statement is differentiated any more
	constant map[*variable]bool // keeps the value of each of its definitions
	version  map[*variable]int
	memory   int
	scopes   []map[string]*shared
	names    map[*variable]*variable // other names, of variables in the present lists
	inside   []*loopInfo
	found    []*shared // in the order in which they come first
	next     int       // of found, in the second walk
	again    bool
	out      []stmt
}

// A shared value comes some number of times. v is its name.
type shared struct {
	v     *variable
	count int
}

// common returns both sweeps as they are written, in which values that come twice have names.
func (l *lowerer) common(forward, back []stmt) (first, second []stmt) {
	return l.shared(forward, back, true)
}

// shared is common for sweeps of which written says whether they are written as they are. Others may be differentiated: the
// derivative of Ratio knows roots, and there is none of HalfInverse.
func (l *lowerer) shared(forward, back []stmt, written bool) (first, second []stmt) {
	s := &sharer{lowerer: l, constant: map[*variable]bool{}, written: written}
	changed := map[*variable]bool{}
	each(slices.Concat(forward, back), func(st stmt) {
		sets(st, func(e expr, define bool) {
			if v := root(e); define {
				s.constant[v] = true
			} else if isReference(e) {
				changed[v] = true
			}
		})
	})
	for v := range changed {
		delete(s.constant, v)
	}
	units := map[*variable]string{} // variables that are 1, or 0
	each(slices.Concat(forward, back), func(st stmt) {
		if a, ok := st.(*assignment); ok && a.define && s.constant[root(a.l)] && isFloat(a.l.typeOf()) {
			text := ""
			switch x := a.r.(type) {
			case *literal:
				text = x.text
			case *reference:
				text = units[x.v]
			}
			v := root(a.l)
			if before, known := units[v]; known && before != text {
				text = ""
			}
			units[v] = text
		}
	})
	zero := number("0")
	fold := func(e expr) expr {
		if x, ok := e.(*unary); ok && x.x == zero {
			return zero
		}
		x, ok := e.(*binary)
		if !ok || !isFloat(x.typ) {
			return e
		}
		is := func(e expr, text string) bool {
			f, ok := e.(*reference)
			return ok && units[f.v] == text && (text == "1" || f.slope) || text == "0" && e == zero
		}
		switch {
		case x.op == token.MUL && (is(x.x, "0") || is(x.y, "0")):
			return zero
		case x.op == token.MUL && is(x.x, "1"), x.op == token.ADD && is(x.x, "0"):
			return x.y
		case x.op == token.MUL && is(x.y, "1"), (x.op == token.ADD || x.op == token.SUB) && is(x.y, "0"):
			return x.x
		case x.op == token.SUB && is(x.x, "0"):
			return negative(x.y)
		}
		return e
	}
	forward, back = rewrittenList(forward, fold, sameLoop), rewrittenList(back, fold, sameLoop)
	for _, c := range l.foreign {
		visit(c.call, func(e expr) { delete(s.constant, root(e)) })
	}
	for _, again := range []bool{false, true} {
		s.version, s.names, s.memory, s.again = map[*variable]int{}, map[*variable]*variable{}, 0, again
		s.scopes, s.out = []map[string]*shared{{}}, nil
		for _, st := range forward {
			s.stmt(st)
		}
		first, s.out = s.out, nil
		for _, st := range back {
			s.stmt(st)
		}
	}
	return tidied(first, s.out, len(l.loops))
}

func sameLoop(l *loopInfo) *loopInfo { return l }

// sets calls f for the places that a statement itself sets.
func sets(s stmt, f func(e expr, define bool)) {
	switch s := s.(type) {
	case *assignment:
		f(s.l, s.define)
		if c, ok := s.r.(*invocation); ok && c.kind != itself {
			sets(&effect{c}, f)
		}
	case *swap:
		f(s.x, false)
		f(s.y, false)
	case *growth:
		for _, x := range s.xs {
			f(x, false)
		}
	case *fold:
		f(s.x, false)
	case *pop:
		f(s.x, s.define)
	case *kernel:
		for _, e := range s.changed() {
			f(inside(e), false)
		}
	case *product:
		f(entry(s.c, integerLit(0), integerLit(0)), false)
	case *cleared:
		f(entry(s.x, integerLit(0), integerLit(0)), false)
	case *effect:
		if c, ok := s.call.(*invocation); ok { // what its arguments point to
			for _, x := range c.args {
				if u, ok := x.(*unary); ok && u.op == token.AND {
					f(u.x, false)
				}
			}
			f(&target{ref(&variable{}), float}, false)
		}
	case *while:
		if s.count != nil {
			f(ref(s.count), false)
		}
	case *ranged:
		f(ref(s.v), true)
	}
}

// forget notes that a statement, with all that it contains, has changed what it sets.
func (s *sharer) forget(st stmt) {
	each([]stmt{st}, func(st stmt) {
		sets(st, func(e expr, _ bool) {
			if isReference(e) {
				s.version[root(e)]++
			} else {
				s.memory++
			}
		})
	})
}

func (s *sharer) list(list []stmt) []stmt {
	outer := s.out
	s.out = nil
	s.scopes = append(s.scopes, map[string]*shared{})
	for _, st := range list {
		s.stmt(st)
	}
	s.scopes = s.scopes[:len(s.scopes)-1]
	list, s.out = s.out, outer
	return list
}

func (s *sharer) body(info *loopInfo, list []stmt) []stmt {
	s.inside = append(s.inside, info)
	list = s.list(list)
	s.inside = s.inside[:len(s.inside)-1]
	return list
}

func (s *sharer) stmt(st stmt) {
	sets(st, func(e expr, define bool) {
		if define {
			delete(s.names, root(e))
		}
	})
	switch x := st.(type) {
	case *assignment:
		s.assignment(x)
	case *branch:
		cond := s.value(x.cond)
		s.out = append(s.out, &branch{cond, s.list(x.then), s.list(x.els)})
	case *ranged:
		c := *x
		c.lo, c.hi = s.named(x.lo), s.named(x.hi)
		s.forget(x)
		c.body = s.body(x.info, x.body)
		s.out = append(s.out, &c)
	case *while:
		c := *x
		c.cond = s.named(x.cond)
		s.forget(x)
		c.body = s.body(x.info, x.body)
		s.out = append(s.out, &c)
	case *push:
		s.out = append(s.out, &push{s.value(x.x), x.slot, x.whole})
	default:
		s.out = append(s.out, rewrittenList([]stmt{st}, s.name, sameLoop)...)
	}
	s.forget(st)
}

func (s *sharer) assignment(x *assignment) {
	v := root(x.l)
	if !x.define || x.r == nil || !s.constant[v] || !isFloat(v.typ) {
		s.out = append(s.out, &assignment{s.named(x.l), x.op, s.value(x.r), x.define})
		return
	}
	if y, ok := x.r.(*reference); ok {
		if u := root(s.name(y)); s.constant[u] {
			s.names[v] = u
			return
		}
	}
	key, pure := s.key(x.r)
	if _, constant := x.r.(*literal); constant || !pure {
		s.out = append(s.out, &assignment{x.l, x.op, s.value(x.r), true})
		return
	}
	if e := s.lookUp(key); e != nil {
		e.count++
		s.names[v] = e.v
		return
	}
	s.out = append(s.out, &assignment{x.l, x.op, s.parts(x.r), true})
	s.scopes[len(s.scopes)-1][key] = &shared{v: v}
}

// named returns e with the names that its variables have now.
func (s *sharer) named(e expr) expr { return rewritten(e, s.name) }

func (s *sharer) name(e expr) expr {
	if x, ok := e.(*reference); ok && s.names[x.v] != nil {
		return ref(s.names[x.v])
	}
	return e
}

func (s *sharer) lookUp(key string) *shared {
	for _, scope := range slices.Backward(s.scopes) {
		if e := scope[key]; e != nil {
			return e
		}
	}
	return nil
}

// value returns e by the names of values that are there. What is costly and comes again gets a name.
func (s *sharer) value(e expr) expr {
	if e == nil || !isCostly(e) {
		return s.parts(e)
	}
	key, pure := s.key(e)
	if !pure {
		return s.parts(e)
	}
	if known := s.lookUp(key); known != nil {
		known.count++
		return ref(known.v)
	}
	if !s.again {
		known := &shared{&variable{typ: e.typeOf(), scope: slices.Clone(s.inside)}, 1}
		s.constant[known.v] = true
		s.found = append(s.found, known)
		e = s.parts(e)
		s.scopes[len(s.scopes)-1][key] = known
		return e
	}
	known := s.found[s.next]
	s.next++
	r := s.parts(e)
	if known.count == 1 {
		return r
	}
	known.v.name = s.lowerer.unique(nameOf(e))
	s.scopes[len(s.scopes)-1][key] = known
	s.out = append(s.out, &assignment{l: ref(known.v), op: token.ASSIGN, r: r, define: true})
	return ref(known.v)
}

// parts returns e with its operands by value.
func (s *sharer) parts(e expr) expr {
	switch x := e.(type) {
	case *unary:
		return &unary{x.op, s.value(x.x)}
	case *binary:
		if x.op == token.LAND || x.op == token.LOR { // the second may not be computed
			return &binary{x.op, s.value(x.x), s.named(x.y), x.typ}
		}
		return &binary{x.op, s.value(x.x), s.value(x.y), x.typ}
	case *call:
		c := *x
		c.args = nil
		for _, a := range x.args {
			c.args = append(c.args, s.value(a))
		}
		// Only the derivative of Sqrt has a Ratio of 0.5, and of its value. HalfInverse holds for no other numbers.
		if s.written && c.fn == "num.Ratio" && isLit(c.args[0], "0.5") && isReference(x.args[1]) {
			if q := s.value(over(number("1"), x.args[1])); isReference(q) {
				return &call{"num.HalfInverse", numPath, []expr{q, c.args[1]}, float}
			}
		}
		return &c
	}
	return s.named(e)
}

// isCostly reports whether computing e itself takes so long that it is worth a name.
func isCostly(e expr) bool {
	switch e := e.(type) {
	case *binary:
		return e.op == token.QUO && isFloat(e.typ) && !isConstant(e)
	case *call:
		return isFloat(e.typ) && len(e.args) > 0 && (e.path == "math" && !isConstant(&binary{x: e.args[0], y: e.args[len(e.args)-1]}) || e.fn == "num.Ratio")
	}
	return false
}

// key returns a text that stands for the value of e now, and whether there is one.
func (s *sharer) key(e expr) (text string, pure bool) {
	pure = true
	w := &writer{imports: &imports{}, tapes: map[string]string{}, pkg: s.lowerer.Pkg}
	text = w.expr(rewritten(e, func(e expr) expr {
		switch x := s.name(e).(type) {
		case *reference:
			return &literal{fmt.Sprintf("%p#%d", x.v, s.version[x.v]), x.v.typ}
		case *element:
			return &call{fmt.Sprint("memory#", s.memory), "", []expr{x.x, x.i}, x.typ}
		case *field, *target, *part, *view, *invocation:
			pure = false
		case *call:
			pure = pure && (x.path == "" || x.path == "math" || x.path == numPath) && x.fn != "make"
		}
		return e
	}), 0)
	return text, pure
}
