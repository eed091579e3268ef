package revgen

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// tidy returns b without useless and repeated computations, and without locals of the
// derivatives that do not help a reader. It gives names to rows.
func tidy(b []*stmt) []*stmt { return arranged(simple(b)) }

// simple is the first part of tidy, and arranged the second.
func simple(b []*stmt) []*stmt {
	b = fresh(named(b), nil)
	return shortened(named(invariant(b, count(b))))
}

func arranged(b []*stmt) []*stmt { return rows(sincos(b, count(b)), nil, nil) }

// shortened returns b without useless computations, and without locals that do not help.
func shortened(b []*stmt) []*stmt {
	for before := 0; before != size(b); {
		before = size(b)
		b = withoutCopies(alive(unread(overwritten(b))))
		m := merger{counts: count(b)}
		b = m.merged(b)
	}
	return b
}

// overwritten returns b without values of locals that nothing reads.
func overwritten(b []*stmt) []*stmt {
	carried := map[*local]bool{}
	each(b, func(s *stmt) {
		for _, v := range s.carried {
			carried[v] = true
		}
	})
	// trim drops dead sets from b. live holds the locals read after b; on return, those read by b
	// or after it.
	var trim func(b []*stmt, live map[*local]bool) []*stmt
	trim = func(b []*stmt, live map[*local]bool) (out []*stmt) {
		for _, s := range slices.Backward(b) {
			if s.op == "set" && !live[s.v] && !carried[s.v] {
				continue
			}
			if s.op == "set" || s.op == "def" {
				delete(live, s.v)
			}
			if s.op == "loop" { // the next iteration may read what one has set
				n := count([]*stmt{s})
				for v := range n.reads {
					live[v] = live[v] || !n.defined[v]
				}
			}
			c := *s
			if len(s.inner)+len(s.els) > 0 {
				other := maps.Clone(live)
				c.inner, c.els = trim(s.inner, live), trim(s.els, other)
				for v, yes := range other {
					live[v] = live[v] || yes
				}
			}
			for _, e := range s.reads() {
				e.each(func(e *node) { live[e.v] = true })
			}
			out = append(out, &c)
		}
		slices.Reverse(out)
		return out
	}
	return trim(b, map[*local]bool{})
}

// withoutCopies returns b without the locals that are declared before a branch and set in it, if
// they are copies of another local or are read only in the branch.
func withoutCopies(b []*stmt) []*stmt {
	n := count(b)
	type block struct{ around *block }
	home := map[*local]*block{}
	seen := func(v, from *local) bool { // whether v is in scope where from is declared
		for at := home[from]; at != nil; at = at.around {
			if home[v] == at {
				return true
			}
		}
		return false
	}
	same, within := map[*local]*local{}, map[*local]bool{}
	carried := map[*local]bool{}
	var visit func(b []*stmt, at *block)
	visit = func(b []*stmt, at *block) {
		for i, s := range b {
			if s.op == "def" {
				home[s.v] = at
			}
			for _, v := range s.carried {
				carried[v] = true
			}
			if s.op == "set" && n.declared[s.v] && n.once(s.v) && !s.v.exact {
				if w := s.e.v; s.e.op == "ref" && n.once(w) && !w.exact && seen(w, s.v) {
					same[s.v] = w
				} else if count(b[i+1:]).reads[s.v] == n.reads[s.v] {
					within[s.v] = true
				}
			}
			visit(s.inner, &block{at})
			visit(s.els, &block{at})
		}
	}
	visit(b, &block{})
	for v := range carried {
		delete(same, v)
		delete(within, v)
	}
	for v, w := range same {
		for same[w] != nil {
			w = same[w]
		}
		same[v] = w
		delete(within, w) // which is read wherever v is
	}
	var out func(b []*stmt) []*stmt
	out = func(b []*stmt) (kept []*stmt) {
		for _, s := range b {
			if same[s.v] != nil && (s.op == "def" || s.op == "set") || within[s.v] && s.declares {
				continue
			}
			c := s.mapped(func(e *node) *node { return renamed(e, same) })
			if within[s.v] && s.op == "set" {
				c.op = "def"
			}
			c.inner, c.els = out(s.inner), out(s.els)
			kept = append(kept, c)
		}
		return kept
	}
	return out(b)
}

// sincos returns b with one statement for the sine and the cosine of the same local.
func sincos(b []*stmt, n counts) []*stmt {
	calls := func(e *node, f string, v *local) bool { return e != nil && e.op == f && e.args[0].v == v }
	uses := func(b []*stmt, f string, v *local) bool {
		return contains(b, func(s *stmt) bool {
			return slices.ContainsFunc(s.reads(), func(e *node) bool { return e.has(func(e *node) bool { return calls(e, f, v) }) })
		})
	}
	for i := 0; i < len(b); i++ {
		var angle *local
		for _, e := range b[i].reads() {
			e.each(func(e *node) {
				if v := e; (v.op == "Sin" || v.op == "Cos") && n.once(v.args[0].v) && uses(b[i:], "Sin", v.args[0].v) && uses(b[i:], "Cos", v.args[0].v) {
					angle = v.args[0].v
				}
			})
		}
		if angle == nil {
			continue
		}
		both, same, declared := map[string]*local{}, map[*local]*local{}, 0
		for _, f := range []string{"Sin", "Cos"} {
			v := &local{name: strings.ToLower(f), active: true}
			each(b[i:], func(s *stmt) {
				if (s.op == "def" || s.op == "set") && calls(s.e, f, angle) && n.once(s.v) {
					if v.name = s.v.name; s.op == "set" {
						v = s.v
						declared++
					}
					same[s.v] = v
				}
			})
			both[f] = v
		}
		if declared > 0 && (declared != 2 || len(same) != 2) {
			continue // before the branch there is only one of the two
		}
		rest := fresh(dropped(b[i:], same), same)
		for f, v := range both {
			rest = mappedAll(rest, func(e *node) *node {
				if calls(e, f, angle) {
					return ref(v)
				}
				return e
			})
		}
		b = append(append(slices.Clone(b[:i]), &stmt{op: "sincos", v: both["Sin"], with: ref(both["Cos"]), e: ref(angle), keep: declared > 0}), rest...)
	}
	out := slices.Clone(b)
	for i, s := range b {
		if len(s.inner)+len(s.els) > 0 {
			c := *s
			c.inner, c.els = sincos(s.inner, n), sincos(s.els, n)
			out[i] = &c
		}
	}
	return out
}

// dropped returns b without the definitions of vs.
func dropped(b []*stmt, vs map[*local]*local) (out []*stmt) {
	for _, s := range b {
		if (s.op == "def" || s.op == "set") && vs[s.v] != nil {
			continue
		}
		c := *s
		c.inner, c.els = dropped(s.inner, vs), dropped(s.els, vs)
		out = append(out, &c)
	}
	return out
}

// mappedAll returns b with f(p) in place of each part p of its expressions.
func mappedAll(b []*stmt, f func(*node) *node) (out []*stmt) {
	for _, s := range b {
		c := s.mapped(func(e *node) *node { return e.replaced(f) })
		c.inner, c.els = mappedAll(s.inner, f), mappedAll(s.els, f)
		out = append(out, c)
	}
	return out
}

// invariant returns b with the numbers that are the same in each iteration of a loop
// computed before the loop. It leaves what is in branches, and elements: an index may be
// out of range where the loop does not run. An exact product goes with its sum.
func invariant(b []*stmt, n counts) (out []*stmt) {
	for _, l := range b {
		c := *l
		c.inner, c.els = invariant(l.inner, n), invariant(l.els, n)
		if l.op != "loop" {
			out = append(out, &c)
			continue
		}
		changes := map[*local]bool{l.v: true}
		each(c.inner, func(s *stmt) { changes[s.v], changes[s.writes()] = true, true })
		still := func(e *node) bool {
			return e.kind == number && weight(e) >= 2 && e.has(func(e *node) bool { return e.op == "ref" && e.kind == number }) &&
				!e.has(func(e *node) bool {
					return e.op == "elem" || e.op == "exact" || e.kind != number || changes[e.v] && e.v != nil
				})
		}
		names := map[string]*local{}
		var inner []*stmt
		for _, s := range c.inner {
			if s.op == "def" && n.writes[s.v] == 1 && still(s.e) {
				out = append(out, s)
				delete(changes, s.v)
				continue
			}
			inner = append(inner, s.mapped(func(e *node) *node {
				return e.largest(still, func(e *node) *node {
					k := e.key()
					if names[k] == nil {
						names[k] = &local{name: nameFor(e), active: e.active(), temp: true}
						out = append(out, def(names[k], e))
					}
					return ref(names[k])
				})
			}))
		}
		c.inner = inner
		out = append(out, &c)
	}
	return out
}

// alive returns b without statements that have no effect on operands.
func alive(b []*stmt) []*stmt {
	needed, effective := map[*local]bool{}, map[*stmt]bool{}
	var mark func(b []*stmt) (effect bool)
	mark = func(b []*stmt) (effect bool) {
		for _, s := range b {
			inner, els := mark(s.inner), mark(s.els)
			if inner || els || len(s.targets()) > 0 || s.op == "push" || s.op == "back" || s.op == "fail" || s.op == "note" || s.op == "kernel" || needed[s.writes()] || s.keep && needed[s.v] {
				effect, effective[s] = true, true
				for _, e := range s.reads() {
					e.each(func(e *node) { needed[e.v] = needed[e.v] || e.v != nil })
				}
			}
		}
		return effect
	}
	for before := -1; before != len(needed)+len(effective); {
		before = len(needed) + len(effective)
		mark(b)
	}
	var kept func(b []*stmt) []*stmt
	kept = func(b []*stmt) (out []*stmt) {
		for _, s := range b {
			if effective[s] {
				c := *s
				c.inner, c.els = kept(s.inner), kept(s.els)
				c.carried = slices.DeleteFunc(slices.Clone(s.carried), func(v *local) bool {
					return !needed[v] || !contains(c.inner, func(s *stmt) bool { return s.writes() == v })
				})
				out = append(out, &c)
			}
		}
		return out
	}
	return kept(b)
}

func size(b []*stmt) (n int) {
	each(b, func(*stmt) { n++ })
	return n
}

// fresh returns b with locals of its own for each definition. A block that runs
// twice, to compute locals and to invert what it did, has two of each.
func fresh(b []*stmt, names map[*local]*local) (out []*stmt) {
	names = maps.Clone(names)
	if names == nil {
		names = map[*local]*local{}
	}
	now := func(v *local) *local {
		if names[v] != nil {
			return names[v]
		}
		return v
	}
	clone := func(v *local) *local {
		c := *v
		c.of = now(c.of)
		names[v] = &c
		return &c
	}
	for _, s := range b {
		c := s.mapped(func(e *node) *node { return renamed(e, names) })
		if s.op == "def" || s.op == "back" || s.op == "loop" && !s.keep && !s.again {
			if c.v = clone(s.v); s.op == "loop" && s.e != nil {
				c.e = renamed(s.e, names) // it may read the variable of the loop
			}
		} else if s.v != nil {
			c.v = now(s.v)
		}
		c.carried = slices.Clone(s.carried)
		for i, v := range c.carried {
			c.carried[i] = now(v)
		}
		c.inner, c.els = fresh(s.inner, names), fresh(s.els, names)
		out = append(out, c)
	}
	return out
}

// counts holds how often locals are read and written, which are defined, and which of them are
// only declared there, before a branch.
type counts struct {
	reads, writes     map[*local]int
	defined, declared map[*local]bool
}

// once reports whether v gets a value in one place. A declaration gives it none.
func (n counts) once(v *local) bool {
	writes := n.writes[v]
	if n.declared[v] {
		writes--
	}
	return writes == 1
}

func count(b []*stmt) counts {
	n := counts{map[*local]int{}, map[*local]int{}, map[*local]bool{}, map[*local]bool{}}
	each(b, func(s *stmt) {
		for _, e := range s.reads() {
			e.each(func(e *node) {
				if e.v != nil {
					n.reads[e.v]++
				}
			})
		}
		if v := s.writes(); v != nil {
			n.writes[v]++
			n.defined[v] = n.defined[v] || s.op == "def"
			n.declared[v] = n.declared[v] || s.declares
		}
	})
	return n
}

func reads(s *stmt, v *local) (n int) {
	each([]*stmt{s}, func(s *stmt) {
		for _, e := range s.reads() {
			e.each(func(e *node) {
				if e.v == v {
					n++
				}
			})
		}
	})
	return n
}

// A merger leaves out one local of a program, or one sum into a local that is zero.
type merger struct {
	counts
	done bool
}

// merged returns b with v := 0; v += e as v := e, with e in place of v where
// v := e is read once, or with w in place of v where v := w.
func (n *merger) merged(b []*stmt) []*stmt {
	b = slices.Clone(b)
	for i := 0; i < len(b) && !n.done; i++ {
		s := b[i]
		if s.op == "set" && s.e.is(zero) && !s.v.exact && i+1 < len(b) && b[i+1].adds(s.v) && reads(b[i+1], s.v) == 0 {
			b[i] = set(s.v, signed(b[i+1].neg, b[i+1].e))
			n.done = true
			return slices.Delete(b, i+1, i+2)
		}
		if s.op != "def" {
			c := *s
			c.inner, c.els = n.merged(s.inner), n.merged(s.els)
			b[i] = &c
			continue
		}
		if s.e.is(zero) && n.writes[s.v] == 1 {
			n.done = true
			return append(b[:i], replaced(b[i+1:], s.v, zero)...)
		}
		if w := s.e.v; w != nil && n.writes[s.v] == 1 && n.writes[w] == 1 {
			if w.temp && !s.v.temp {
				w.name, w.of, w.temp = s.v.name, nil, false
			}
			n.done = true
			return append(b[:i], fresh(b[i+1:], map[*local]*local{s.v: w})...)
		}
		j := slices.IndexFunc(b[i+1:], func(u *stmt) bool {
			return contains([]*stmt{u}, func(u *stmt) bool { return reads(u, s.v) > 0 || u.writes() == s.v })
		}) + i + 1
		if j == i {
			continue
		}
		u := b[j]
		once := n.reads[s.v] == 1 && n.writes[s.v] == 1 && len(u.inner)+len(u.els) == 0 && reads(u, s.v) == 1
		copied := once && u.op == "set" && u.e.v == s.v
		switch {
		case copied && unchanged(b[i+1:j], s.e):
			b[j] = set(u.v, s.e)
		case !s.v.temp:
			continue
		case u.adds(s.v) && !s.v.exact && reads(u, s.v) == 0 && unchanged(b[i+1:j], s.e):
			b[j] = &stmt{op: "def", v: s.v, e: sum(s.e, signed(u.neg, u.e))}
		case once && (u.op == "def" || u.op == "set" || u.op == "add") && weight(s.e) <= 5 && unchanged(b[i+1:j], s.e):
			b[j] = replaced(b[j:j+1], s.v, s.e)[0]
		default:
			continue
		}
		b, n.done = slices.Delete(b, i, i+1), true
	}
	return b
}

// replaced returns b with e in place of the local v.
func replaced(b []*stmt, v *local, e *node) []*stmt {
	return mappedAll(b, func(x *node) *node {
		if x.op == "ref" && x.v == v {
			return e
		}
		return x
	})
}

func weight(e *node) (n int) {
	e.each(func(*node) { n++ })
	return n
}

// unchanged reports whether b does not change the value of e.
func unchanged(b []*stmt, e *node) bool {
	return !contains(b, func(s *stmt) bool {
		return e.has(func(p *node) bool {
			return p.v != nil && p.v == s.writes() ||
				p.op == "elem" && slices.ContainsFunc(s.targets(), func(x *node) bool { return x.x == p.x && x.in == p.in })
		})
	})
}

// unguarded yields s and the statements within, with the loops around them, but for those
// in branches and in loops with a condition. These may guard a row that is not there
// otherwise.
func unguarded(s *stmt) iter.Seq2[*stmt, []*stmt] {
	return func(yield func(*stmt, []*stmt) bool) {
		var visit func(s *stmt, loops []*stmt) bool
		visit = func(s *stmt, loops []*stmt) bool {
			if !yield(s, loops) {
				return false
			}
			if s.op == "cond" || s.op == "given" || s.op == "loop" && (s.e != nil || s.fork != nil) {
				return true
			}
			if s.op == "loop" {
				loops = append(slices.Clip(loops), s)
			}
			for _, c := range append(slices.Clone(s.inner), s.els...) {
				if !visit(c, loops) {
					return false
				}
			}
			return true
		}
		visit(s, nil)
	}
}

// tag returns the shape tag of an axis of x.
func (x *operand) tag(axis int) string {
	tags := strings.Split(x.shape, ",")
	return tags[min(axis, len(tags)-1)]
}

// covers reports whether l runs over all indices of an axis of x.
func (s *stmt) covers(x *operand, axis int) bool {
	if s.e != nil || s.hi == nil || !s.lo.is(none) {
		return false
	}
	return s.hi.op == "len" && s.hi.x.tag(s.hi.axis) == x.tag(axis) || s.hi.op == "lit" && s.hi.text == x.tag(axis)
}

// indexes reports whether each index v + k, with the variable v of the loop, is one of an
// axis of x.
func (s *stmt) indexes(at *node, x *operand, axis int) bool {
	k, m := 0, 0
	if v, n, ok := at.plus(); ok {
		at, k = v, n
	}
	if s.e != nil || s.hi == nil || at.op != "ref" || at.v != s.v {
		return false
	}
	hi := s.hi
	if v, n, ok := hi.plus(); ok {
		hi, m = v, n
	}
	lo, ok := s.lo.integer()
	return ok && lo+k >= 0 && m+k <= 0 && hi.op == "len" && hi.x.tag(hi.axis) == x.tag(axis)
}

// plus returns the parts of e = x + n or x - n, where n is a literal.
func (e *node) plus() (x *node, n int, ok bool) {
	if e.kind != integer || e.op != "+" && e.op != "-" {
		return nil, 0, false
	}
	n, ok = e.args[1].integer()
	if e.op == "-" {
		n = -n
	}
	return e.args[0], n, ok
}

// readable reports whether the row of e may be read before the loops within which e is
// evaluated, and which may be empty. It may if the row is there for sure: if its index
// comes from the variable of one of the loops around, or if each of the loops within runs
// or there are no columns.
func readable(e *node, around, within []*stmt) bool {
	for _, l := range around {
		if l.indexes(e.args[0], e.x, 0) || e.args[0].op == "ref" && e.args[0].v == l.v && l.covers(e.x, 0) {
			return true
		}
	}
	return !slices.ContainsFunc(within, func(l *stmt) bool {
		lo, ok := l.lo.integer()
		hi, ok2 := l.hi.integer()
		runs := ok && ok2 && lo < hi
		return !runs && !l.covers(e.x, 1)
	})
}

// withNilTests returns b with one test in front of each loop that does nothing if an operand is
// nil, because it only adds to that operand.
func withNilTests(b []*stmt) (out []*stmt) {
	for _, s := range b {
		c := *s
		if x := s.onlyTarget(); x != nil {
			c = stmt{op: "given", x: x.x, in: x.in, inner: []*stmt{s}}
		} else {
			c.inner, c.els = withNilTests(s.inner), withNilTests(s.els)
		}
		out = append(out, &c)
	}
	return out
}

// onlyTarget returns an element of the only operand that the loop s adds to, if that is the
// cotangent of an input, or nil. The loop changes nothing else.
func (s *stmt) onlyTarget() (x *node) {
	if s.op != "loop" || s.keep || s.again || s.vector {
		return nil
	}
	own, ok := map[*local]bool{}, true
	each(s.inner, func(u *stmt) {
		if own[u.v] = own[u.v] || u.op == "def"; u.op == "add" && u.to.op == "elem" {
			ok = ok && (x == nil || x.x == u.to.x && x.in == u.to.in)
			x = u.to
		}
	})
	s.each(func(u *stmt) {
		switch u.op {
		case "def", "add", "set":
			ok = ok && (u.writes() == nil || own[u.writes()])
		case "loop", "cond":
			ok = ok && u.fork == nil && !u.keep && !u.again
		default:
			ok = false
		}
	})
	if !ok || x == nil || x.x.rank == 0 || x.in&cotangent == 0 || x.x.role() != "in" {
		return nil
	}
	return x
}

// rows returns b, which is in the given loops, with names for the rows that it reads and
// writes, from where on the row is known.
func rows(b, loops []*stmt, named map[string]*local) (out []*stmt) {
	named = maps.Clone(named)
	if named == nil {
		named = map[string]*local{}
	}
	key := func(e *node) string { return e.prefix() + e.args[0].key() }
	for _, s := range b {
		if s.fork != nil {
			out = append(out, s) // its parts name rows for themselves
			continue
		}
		inside := map[*local]bool{}
		s.each(func(s *stmt) {
			if s.op == "def" || s.op == "loop" && !s.again {
				inside[s.v] = true
			}
		})
		for s, within := range unguarded(s) {
			for _, e := range append(s.reads(), s.targets()...) {
				e.each(func(e *node) {
					if e.op == "elem" && e.x.rank == 2 && named[key(e)] == nil && !e.args[0].has(func(e *node) bool { return inside[e.v] }) && readable(e, loops, within) {
						v := &local{name: nameFor(e)}
						named[key(e)] = v
						out = append(out, &stmt{op: "row", v: v, x: e.x, in: e.in, e: e.args[0]})
					}
				})
			}
		}
		c := s.mapped(func(e *node) *node {
			return e.replaced(func(e *node) *node {
				if e.op == "elem" && e.x.rank == 2 {
					e.row = named[key(e)]
				}
				return e
			})
		})
		around := loops
		if s.op == "loop" {
			around = append(slices.Clip(loops), s)
		}
		c.inner, c.els = rows(s.inner, around, named), rows(s.els, around, named)
		out = append(out, c)
	}
	return out
}
