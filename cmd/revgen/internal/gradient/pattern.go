package gradient

import (
	"go/token"
	"maps"
	"slices"
	"strings"
)

// A noter writes a program that notes which columns of a Jacobian its rows may have, for package num's
// Pattern. It is the function without its numbers: x and y hold the numbers of their elements, what
// depends on x is not computed, and what is read of x and stored to y is noted.
//
//	for i := range y {                      for i := range rows {
//		d := y[i] - exp(p[0]*t[i])              pattern.Group()
//		e := d * x[at[i]]              →        pattern.Read(columns[at[i]])
//		y[i] = e                                pattern.Write(rows[i])
//	}                                       }
//
// A group is an iteration of a loop that stores to y, and to nothing else outside of it that depends on
// x. What it reads that was computed from x before depends on columns that were noted outside of groups,
// and these may be in all rows. So the rows of a group have the columns that it notes, and those.
//
// Both sides of a branch whose condition depends on x are noted. Indices, lengths, and how often a loop runs
// must not depend on x, or the pattern is unclear.
type noter struct {
	lowerer *lowerer
	*analysis
	x, y                   *key
	pattern, columns, rows *variable
	varies                 map[*key]bool   // memory whose numbers depend on x
	moves                  map[*key]bool   // slices that lie elsewhere, depending on x
	given                  map[*key]bool   // memory of parameters
	group                  int             // the number of loops around the present group, with its own, or 0
	noted                  map[string]bool // what the present group has noted in any case
	loops                  []string        // the variables of loops whose iterations are groups
	private                bool            // some group notes what another one may not
	unclear                bool
}

// noted returns the statements that note the pattern of the Jacobian of y by x, and the variables of the
// loops whose iterations are groups. It returns nil if the pattern is unclear, or has all columns in each
// row.
func (f *function) noted(x, y *variable, pattern *variable) (list []stmt, loops []string) {
	n := &noter{lowerer: f.lowerer, analysis: &analysis{keys: map[path]*key{}, changes: map[*key][]change{}}, pattern: pattern, varies: map[*key]bool{}, moves: map[*key]bool{}, given: map[*key]bool{}, noted: map[string]bool{}}
	n.share(f.out, nil)
	each(f.out, func(s stmt) { // all memory has a key
		if _, ok := s.(*effect); !ok {
			expressions(s, func(e expr) { n.uses(e) })
		}
	})
	n.x, n.y = n.key(ref(x)), n.key(ref(y))
	n.varies[n.x], n.varies[n.y] = true, true
	each(f.out, func(s stmt) {
		n.unclear = n.unclear || !n.plain(s)
		sets(s, func(e expr, define bool) {
			if !define {
				n.record(e, 1)
			}
		})
	})
	for p, k := range n.keys {
		k = k.root()
		n.unclear = n.unclear || p.v.param && p.v != x && p.v != y && (k == n.x || k == n.y)
		n.given[k] = n.given[k] || p.v.param
	}
	if n.unclear || n.x == n.y {
		return nil, nil
	}
	for before := -1; before < len(n.varies)+len(n.moves); {
		before = len(n.varies) + len(n.moves)
		n.vary(f.out, nil)
	}
	n.columns = &variable{name: f.unique("columns"), typ: x.typ, param: true}
	n.rows = &variable{name: f.unique("rows"), typ: y.typ, param: true}
	list = rewrittenList(n.list(f.out, 0), func(e expr) expr {
		switch r, ok := e.(*reference); {
		case ok && r.v == x:
			return ref(n.columns)
		case ok && r.v == y:
			return ref(n.rows)
		}
		return e
	}, sameLoop)
	list, _ = tidied(list, nil, 0)
	list = n.unguarded(list, false)
	if n.unclear || !n.private {
		return nil, nil
	}
	call := func(name string) expr { return &call{pattern.name + "." + name, "", nil, x.typ} }
	head := []stmt{&assignment{ref(n.columns), token.ASSIGN, call("Columns"), true}, &assignment{ref(n.rows), token.ASSIGN, call("Rows"), true}}
	return append(head, list...), n.loops
}

// plain reports whether a statement is of those that are understood.
func (n *noter) plain(s stmt) bool {
	ours := func(e expr) bool { k := n.key(e); return k == n.x || k == n.y }
	switch s := s.(type) {
	case *assignment:
		switch {
		case isHeader(s.l.typeOf()) && ours(s.l):
			_, isView := s.r.(*view)
			return s.r == nil || isLit(s.r, "nil") || isPlace(s.r) && !isView
		case isFloat(s.l.typeOf()):
			return n.key(s.l) != n.x
		}
		return true
	case *swap:
		return !ours(s.x)
	case *effect:
		c, ok := s.call.(*call)
		return ok && (c.fn == "panic" || c.fn == assertion)
	case *branch, *ranged, *while:
		return true
	}
	return false
}

// depends reports whether e has another value for another x.
func (n *noter) depends(e expr) bool { return e != nil && n.any(n.uses(e)) }

func (n *noter) any(uses []use) bool {
	return slices.ContainsFunc(uses, func(u use) bool { return !u.header && n.varies[u.k] || n.moves[u.k] })
}

// vary finds what depends on x. inside are the variables that are declared where a condition that does is
// known to hold, or nil without one.
func (n *noter) vary(list []stmt, inside map[*variable]bool) {
	note := func(l expr) {
		if isHeader(l.typeOf()) {
			n.moves[n.key(l)] = true
		} else {
			n.varies[n.key(l)] = true
		}
	}
	guard := func(yes bool) map[*variable]bool {
		if yes {
			return map[*variable]bool{}
		}
		return inside
	}
	for _, s := range list {
		switch s := s.(type) {
		case *assignment:
			if s.define && inside != nil {
				inside[root(s.l)] = true
			}
			own := isReference(s.l) && inside[root(s.l)] // an element may be reached from outside too
			if n.depends(s.r) || inside != nil && !own || n.any(n.uses(s.l)[1:]) {
				note(s.l)
			}
		case *swap:
			if inside != nil {
				note(s.x)
				note(s.y)
			}
		case *branch:
			guard := guard(n.depends(s.cond))
			n.vary(s.then, guard)
			n.vary(s.els, guard)
		case *ranged:
			yes := n.depends(s.lo) || n.depends(s.hi)
			if yes {
				n.varies[n.key(ref(s.v))] = true
			}
			n.vary(s.body, guard(yes))
		case *while:
			yes := n.depends(s.cond)
			if s.count != nil && (yes || inside != nil) {
				n.varies[n.key(ref(s.count))] = true
			}
			n.vary(s.body, guard(yes))
		}
	}
}

// list returns the statements that note what others read and store. depth is the number of loops that
// they are in.
func (n *noter) list(list []stmt, depth int) (out []stmt) {
	outer := n.noted
	n.noted = maps.Clone(outer)
	defer func() { n.noted = outer }()
	for _, s := range list {
		switch s := s.(type) {
		case *assignment:
			out = append(out, n.assignment(s)...)
		case *swap:
			n.unclear = n.unclear || n.moves[n.key(s.x)] || n.given[n.key(s.x)] || n.given[n.key(s.y)]
			out = append(out, s)
		case *branch:
			out = append(out, n.branch(s, depth)...)
		case *ranged:
			c := *s
			var group []stmt
			c.body, group = n.body(s.v, s.body, depth)
			out = append(out, n.loop(&c, c.body, n.depends(s.lo) || n.depends(s.hi))...)
			out = append(out, group...)
		case *while:
			c := *s
			var group []stmt
			c.body, group = n.body(s.count, s.body, depth)
			out = append(out, n.loop(&c, c.body, n.depends(s.cond))...)
			out = append(out, group...)
		}
	}
	return out
}

// loop returns a loop, or nothing if how often it runs depends on x and it notes nothing.
func (n *noter) loop(s stmt, body []stmt, depends bool) []stmt {
	if !depends {
		return []stmt{s}
	}
	each(body, func(s stmt) { _, note := s.(*effect); n.unclear = n.unclear || note })
	return nil
}

// body returns the body of a loop, and what comes after the loop.
func (n *noter) body(v *variable, body []stmt, depth int) (list, after []stmt) {
	if n.group > 0 || !n.isGroup(body, depth) {
		return n.list(body, depth+1), nil
	}
	n.group = depth + 1
	list = append([]stmt{n.note("Group", nil)}, n.list(body, depth+1)...)
	n.group = 0
	name := "?"
	if v != nil {
		name = v.name
	}
	n.loops = append(n.loops, name)
	return list, []stmt{n.note("Shared", nil)}
}

// isGroup reports whether iterations of a loop, which is in depth others, store to y and otherwise only to
// what is their own. Loops inside are better groups if all is stored there.
func (n *noter) isGroup(body []stmt, depth int) bool {
	stores, own := false, true
	each(body, func(s stmt) {
		a, ok := s.(*assignment)
		if !ok || !n.varies[n.key(a.l)] || !isFloat(a.l.typeOf()) {
			return
		}
		k := n.key(a.l)
		stores = stores || k == n.y
		own = own && (k == n.y || k.depth > depth)
	})
	return stores && own && !n.inner(body, depth)
}

// inner reports whether what depends on x is set by loops of a body alone that are groups, or have such loops.
func (n *noter) inner(body []stmt, depth int) bool {
	return !slices.ContainsFunc(body, func(s stmt) bool {
		loop := func(body []stmt) bool { return !n.isGroup(body, depth+1) && !n.inner(body, depth+1) }
		switch s := s.(type) {
		case *assignment:
			return n.varies[n.key(s.l)]
		case *branch:
			return !n.inner(s.then, depth) || !n.inner(s.els, depth)
		case *ranged:
			return loop(s.body)
		case *while:
			return loop(s.body)
		}
		return false
	})
}

func (n *noter) assignment(s *assignment) []stmt {
	k, v := n.key(s.l), root(s.l)
	switch {
	case isHeader(s.l.typeOf()) && n.moves[k]:
		n.unclear = n.unclear || k == n.x || k == n.y
		return nil
	case isHeader(s.l.typeOf()) || !n.varies[k]:
		// What is a parameter's must be as it was, for the products.
		n.unclear = n.unclear || isReference(s.l) && v.param && k != n.x && k != n.y || !isReference(s.l) && n.given[k]
		return []stmt{s}
	}
	var reads, writes []expr
	n.collect(s.r, &reads, &writes)
	if n.group == 0 {
		n.unclear = n.unclear || len(writes) > 0
	} else if k == n.y {
		n.collect(s.l, nil, &writes)
	}
	var out []stmt
	reads, writes = n.once("Read", reads), n.once("Write", writes)
	for _, e := range reads {
		n.private = n.private || n.group > 0 && n.changing(e)
		visit(e, func(e expr) {
			r, ok := e.(*reference)
			n.private = n.private || ok && n.group > 0 && len(r.v.scope) >= n.group
		})
	}
	if len(reads) > 0 {
		out = append(out, n.note("Read", reads))
	}
	if len(writes) > 0 {
		out = append(out, n.note("Write", writes))
	}
	return out
}

// once returns those of a list that are not noted in any case.
func (n *noter) once(name string, list []expr) []expr {
	return slices.DeleteFunc(list, func(e expr) bool {
		w := &writer{imports: &imports{}}
		text := name + w.expr(e, 0)
		known := n.noted[text]
		n.noted[text] = !n.changing(e)
		return known
	})
}

// changing reports whether e may be another element later, while its variables are the same.
func (n *noter) changing(e expr) bool {
	return slices.ContainsFunc(n.uses(e)[1:], func(u use) bool {
		return slices.ContainsFunc(n.changes[u.k], func(c change) bool { return c.header || !u.header })
	})
}

// note returns a call of a method of the pattern.
func (n *noter) note(name string, args []expr) stmt {
	return &effect{&call{n.pattern.name + "." + name, "", args, nil}}
}

// collect appends the elements of x and of y that e reads.
func (n *noter) collect(e expr, reads, writes *[]expr) {
	switch e := e.(type) {
	case nil:
	case *reference, *element, *field, *target:
		list := reads
		switch n.key(e) {
		case n.y:
			list = writes
		case n.x:
		default:
			return
		}
		n.unclear = n.unclear || !isFloat(e.typeOf()) || n.any(n.uses(e)[1:])
		if !slices.ContainsFunc(*list, func(x expr) bool { return sameText(x, e) }) {
			*list = append(*list, e)
		}
	case *part, *view, *invocation:
		n.unclear = n.unclear || slices.ContainsFunc(n.uses(e), func(u use) bool { return u.k == n.x || u.k == n.y })
	case *call:
		if e.fn != "len" {
			for _, x := range e.args {
				n.collect(x, reads, writes)
			}
		}
	default:
		for _, x := range children(e) {
			n.collect(x, reads, writes)
		}
	}
}

// branch returns both sides of a branch, one after the other if its condition depends on x. Then they are in
// branches whose condition is true.
func (n *noter) branch(s *branch, depth int) []stmt {
	then, els := n.list(s.then, depth), n.list(s.els, depth)
	if !n.depends(s.cond) {
		return []stmt{&branch{s.cond, then, els}}
	}
	guard := func(list []stmt) []stmt {
		if len(list) == 0 {
			return nil
		}
		return []stmt{&branch{lit("true", boolean), list, nil}}
	}
	then = guard(then)
	for _, e := range slices.Backward(n.independent(s.cond)) {
		if len(then) > 0 {
			then = []stmt{&branch{e, then, nil}}
		}
	}
	return append(then, guard(els)...)
}

// independent returns those terms of a conjunction that do not depend on x. After one that does they are
// left out if they could fail without it.
func (n *noter) independent(cond expr) (list []expr) {
	before := true
	var terms func(e expr)
	terms = func(e expr) {
		if b, ok := e.(*binary); ok && b.op == token.LAND {
			terms(b.x)
			terms(b.y)
		} else if n.depends(e) {
			before = false
		} else if before || safe(e) {
			list = append(list, e)
		}
	}
	terms(cond)
	return list
}

// unguarded returns statements without the conditions that are true. What these guard may run where the
// function does not run it, so it must not fail, or run on and on.
func (n *noter) unguarded(list []stmt, guarded bool) (out []stmt) {
	check := func(list ...expr) {
		for _, e := range list {
			n.unclear = n.unclear || guarded && !safe(e)
		}
	}
	for _, s := range list {
		switch s := s.(type) {
		case *branch:
			if isLit(s.cond, "true") {
				out = append(out, n.unguarded(s.then, true)...)
				continue
			}
			check(s.cond)
			s.then, s.els = n.unguarded(s.then, guarded), n.unguarded(s.els, guarded)
		case *ranged:
			n.unclear = n.unclear || guarded && !isLen(s.hi) && !isConstant(s.hi)
			check(s.lo)
			s.body = n.unguarded(s.body, guarded)
		case *while:
			n.unclear = n.unclear || guarded
			s.body = n.unguarded(s.body, false)
		case *swap:
			n.unclear = n.unclear || guarded
		case *assignment:
			check(s.l, s.r)
		case *effect:
			c := s.call.(*call)
			if !guarded || len(c.args) == 0 {
				break
			}
			if c.fn == assertion {
				continue
			}
			for _, e := range c.args {
				x, ok := e.(*element)
				if !ok || !isReference(x.x) || !safe(x.i) {
					n.unclear = true
					continue
				}
				out = append(out, &effect{&call{c.fn + "At", "", []expr{x.x, x.i}, nil}})
			}
			continue
		}
		out = append(out, s)
	}
	return gathered(out)
}

// gathered returns statements with one note in place of several that follow each other.
func gathered(list []stmt) (out []stmt) {
	last := map[string]*call{}
	for _, s := range list {
		e, ok := s.(*effect)
		if !ok {
			clear(last)
			out = append(out, s)
			continue
		}
		c := e.call.(*call)
		if before := last[c.fn]; before != nil && len(c.args) > 0 && !strings.HasSuffix(c.fn, "At") {
			before.args = append(before.args, c.args...)
			continue
		}
		last[c.fn] = c
		out = append(out, s)
	}
	return out
}

// safe reports whether e can be computed wherever it stands.
func safe(e expr) bool {
	switch e := e.(type) {
	case nil, *literal, *reference:
		return true
	case *unary:
		return safe(e.x)
	case *binary:
		return e.op != token.QUO && e.op != token.REM && e.op != token.SHL && e.op != token.SHR && safe(e.x) && safe(e.y)
	case *call:
		return e.fn == "len" && safe(e.args[0])
	}
	return false
}
