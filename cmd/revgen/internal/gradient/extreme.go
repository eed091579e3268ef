package gradient

import (
	"go/token"
	"slices"
)

// A running statement makes m the larger or the smaller of m and v, in each iteration of a loop.
// at is the last iteration that changed m, or the one before the first. The derivative by m goes to the v
// of that iteration, so nothing else need be kept.
type running struct {
	list  []stmt // what it does
	m, v  expr
	at, i *variable
}

// extremes returns statements in which running maxima and minima are found.
func (l *lowerer) extremes(list []stmt) (out []stmt) {
	for _, s := range list {
		s = descend(s, l.extremes)
		if c, ok := s.(*ranged); ok {
			for k := 0; k < len(c.body); k++ {
				if r, own := l.runningIn(c, k); r != nil {
					least := c.lo
					if c.step < 0 {
						least = c.hi
					}
					out = append(out, &assignment{l: ref(r.at), op: token.ASSIGN, r: plus(least, -1), define: true})
					c.body = slices.Concat(c.body[:k+1-own], []stmt{r}, c.body[k+1:])
					k -= own - 1
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// runningIn returns statement k of a loop as a running statement, or nil if it is none, and how many
// statements up to k are of it.
func (l *lowerer) runningIn(loop *ranged, k int) (r *running, count int) {
	var m, v, cond expr
	own := loop.body[k : k+1] // the statements that may mention m
	set, ok := loop.body[k].(*assignment)
	if b, isBranch := loop.body[k].(*branch); isBranch && len(b.els) == 0 && len(b.then) == 1 { // if v > m { m = v }
		set, ok = b.then[0].(*assignment)
		if c, isBinary := b.cond.(*binary); ok && isBinary && set.op == token.ASSIGN && isOrder(c.op) {
			m, v, cond = set.l, set.r, c
			ok = same(c.x, m) && same(c.y, v) || same(c.x, v) && same(c.y, m)
		} else {
			ok = false
		}
	} else if ok && set.op == token.ASSIGN && !set.define { // m = max(m, v)
		e := set.r
		if k > 0 && isReference(e) {
			if d, isSet := loop.body[k-1].(*assignment); isSet && d.define && root(d.l) == root(e) && mentionsOf(loop.body, root(e)) == 2 {
				e, own = d.r, loop.body[k-1:k+1]
			}
		}
		var c *call
		if c, ok = e.(*call); ok {
			ok = (c.fn == "max" || c.fn == "min") && same(c.args[0], set.l)
		}
		if ok {
			op := token.GEQ
			if c.fn == "min" {
				op = token.LEQ
			}
			m, v, cond = set.l, c.args[1], inverted(&binary{op, c.args[0], c.args[1], boolean})
			set = &assignment{l: set.l, op: token.ASSIGN, r: c}
		}
	} else {
		ok = false
	}
	if !ok || !isReference(m) || !isFloat(m.typeOf()) || !isPlace(v) || loop.v.typ != integer {
		return nil, 0
	}
	if j := k - len(own); j >= 0 && isReference(v) { // v := x[i] right before it, and nowhere else
		d, isSet := loop.body[j].(*assignment)
		if isSet && d.define && root(d.l) == root(v) && isPlace(d.r) && mentionsOf(loop.body, root(v)) == 1+mentionsOf(own, root(v)) {
			x := root(v)
			of := func(e expr) expr {
				if y, ok := e.(*reference); ok && y.v == x {
					return d.r
				}
				return e
			}
			v, cond, own = d.r, rewritten(cond, of), loop.body[j:k+1]
			set = &assignment{l: set.l, op: token.ASSIGN, r: rewritten(set.r, of)}
		}
	}
	// The loop mentions m nowhere else.
	mv := root(m)
	if slices.Contains(mv.scope, loop.info) || mentionsOf(loop.body, mv) != mentionsOf(own, mv) {
		return nil, 0
	}
	at := l.variable(mv.name+"At", integer)
	at.winner = true
	at.scope = slices.Clone(loop.v.scope[:len(loop.v.scope)-1])
	r = &running{m: m, v: v, at: at, i: loop.v}
	note := &assignment{l: ref(at), op: token.ASSIGN, r: ref(loop.v)}
	if _, isBranch := loop.body[k].(*branch); isBranch {
		r.list = []stmt{&branch{cond: cond, then: []stmt{set, note}}}
	} else {
		r.list = []stmt{&branch{cond: cond, then: []stmt{note}}, set}
	}
	return r, len(own)
}

// winners returns statements in which a loop that does something only in the iteration which changed a
// running maximum last does that alone.
func winners(list []stmt) (out []stmt) {
	for _, s := range list {
		if x, ok := s.(*ranged); ok {
			if b := winner(x); b != nil {
				out = append(out, b)
				continue
			}
		}
		out = append(out, descend(s, winners))
	}
	return out
}

// winner returns if at >= m && at <= n { ... } for a loop over i = n, n-1, ... m that has definitions,
// if i == at { ... }, and what does nothing while the cotangents that the branch sets are 0. It returns nil
// for another loop.
func winner(loop *ranged) *branch {
	if loop.step != -1 {
		return nil
	}
	k := slices.IndexFunc(loop.body, func(s stmt) bool { _, ok := s.(*branch); return ok })
	if k < 0 {
		return nil
	}
	b := loop.body[k].(*branch)
	c, ok := b.cond.(*binary)
	if !ok || len(b.els) > 0 || c.op != token.EQL || !isReference(c.x) || root(c.x) != loop.v || !isReference(c.y) || slices.Contains(root(c.y).scope, loop.info) {
		return nil
	}
	zeros := map[*variable]bool{}
	for _, s := range loop.body[:k] {
		d, ok := s.(*assignment)
		if !ok || !d.define {
			return nil
		}
		zeros[root(d.l)] = isFloat(d.l.typeOf()) && (d.r == nil || isLit(d.r, "0"))
	}
	if !idle(loop.body[k+1:], zeros) {
		return nil
	}
	then := rewrittenList(slices.Concat(loop.body[:k], b.then, loop.body[k+1:]), func(e expr) expr {
		if x, ok := e.(*reference); ok && x.v == loop.v {
			return c.y
		}
		return e
	}, sameLoop)
	cond := &binary{token.GEQ, c.y, loop.hi, boolean}
	if !root(c.y).winner {
		cond = &binary{token.LAND, cond, &binary{token.LEQ, c.y, loop.lo, boolean}, boolean}
	}
	return &branch{cond: cond, then: then}
}

// idle reports whether statements do nothing if some variables are 0.
func idle(list []stmt, zeros map[*variable]bool) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *assignment:
			zero := s.r != nil && vanishes(s.r, zeros)
			if s.define {
				zeros[root(s.l)] = zero
			} else if !zero || s.op == token.ASSIGN {
				return false
			}
		case *ranged:
			if !idle(s.body, zeros) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// vanishes reports whether a derivative is 0 if some variables are 0.
func vanishes(e expr, zeros map[*variable]bool) bool {
	switch e := e.(type) {
	case *reference:
		return zeros[e.v]
	case *unary:
		return vanishes(e.x, zeros)
	case *call:
		return e.fn == conversion && vanishes(e.args[0], zeros)
	case *binary:
		x, y := vanishes(e.x, zeros), vanishes(e.y, zeros)
		switch e.op {
		case token.ADD, token.SUB:
			return x && y
		case token.MUL:
			return x || y
		case token.QUO:
			return x
		}
	}
	return false
}
func isOrder(op token.Token) bool {
	return op == token.LSS || op == token.GTR || op == token.LEQ || op == token.GEQ
}

// mentionsOf counts how often statements mention v.
func mentionsOf(list []stmt, v *variable) int { return mentions(list)[v] }

// mentions counts how often statements mention each variable.
func mentions(list []stmt) map[*variable]int {
	n := map[*variable]int{}
	count := func(e expr) {
		visit(e, func(e expr) {
			if x, ok := e.(*reference); ok {
				n[x.v]++
			}
		})
	}
	each(list, func(s stmt) { expressions(s, count) })
	return n
}

// expressions calls f for the expressions of a statement itself, with places that it sets. It must name every one:
// otherwise twice would not double a statement that depends on cotangents.
func expressions(s stmt, f func(expr)) {
	switch s := s.(type) {
	case *assignment:
		f(s.l)
		f(s.r)
	case *swap:
		f(s.x)
		f(s.y)
	case *growth:
		for _, x := range s.xs {
			f(x)
		}
		f(s.n)
	case *fold:
		f(s.x)
	case *branch:
		f(s.cond)
	case *ranged:
		f(s.lo)
		f(s.hi)
	case *while:
		f(s.cond)
	case *effect:
		f(s.call)
	case *kernel:
		s.expressions(f)
	case *product:
		f(s.a)
		f(s.b)
		f(s.c)
	case *cleared:
		f(s.x)
	case *push:
		f(s.x)
	case *pop:
		f(s.x)
	case *returned:
		for _, e := range s.values {
			f(e)
		}
	}
}

// running returns both sweeps of a running statement.
func (r *reverser) running(s *running) (forward, back []stmt) {
	for _, v := range []*variable{root(s.m), s.at} {
		r.record(ref(v), r.pos)
		r.sets[v]++
	}
	p := r.newPair(s.m)
	forward = append([]stmt{&save{x: s.m, pair: p}}, s.list...)
	back = r.group(func() { r.put(&restore{x: s.m, pair: p}) })
	bar := r.bar(s.m)
	if bar == nil {
		return forward, back
	}
	return forward, append(back, r.group(func() {
		b := &branch{cond: &binary{token.EQL, ref(s.i), ref(s.at), boolean}}
		outer := r.into
		r.into = &b.then
		r.adjoint(s.v, bar, nil)
		r.put(&assignment{l: bar, op: token.ASSIGN, r: lit("0", s.m.typeOf())})
		r.into = outer
		r.put(b)
	})...)
}
