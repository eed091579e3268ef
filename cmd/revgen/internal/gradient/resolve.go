package gradient

import (
	"go/token"
	"slices"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A read is what the backward sweep reads, at a place of the function.
type read struct {
	use
	pos   int
	loops []*loopInfo
}

// resolve decides which values are saved, and how locals of loops come back.
func (r *reverser) resolve(back []stmt) {
	for {
		reads, mentioned := r.readings(back)
		changed := false
		for _, b := range r.blocks {
			if r.plan(b, reads, mentioned) {
				changed = true
			}
		}
		for _, p := range r.pairs {
			if !p.kept && r.needed(p, reads) {
				p.kept, changed = true, true
			}
		}
		if !changed {
			return
		}
	}
}

// plan decides how the locals of a block that the backward sweep mentions come back, and reports whether
// that is news. A local is computed again at the beginning, or where the statement that changes what it
// comes from has been inverted, if nothing reads it before.
func (r *reverser) plan(b *block, reads []read, mentioned map[*variable]bool) (changed bool) {
	var plans []*plan
	for _, v := range b.vars {
		if !mentioned[v] {
			continue
		}
		i := slices.IndexFunc(b.plans, func(p *plan) bool { return p.v == v })
		if i < 0 {
			p := &plan{v: v, slot: slot{level: r.lowerer.depth}}
			if d := r.defs[v]; d.r != nil && r.sets[v] == 0 && !expensive(d.r) {
				p.at = r.firstChange(d.r, r.defPos[v], b.pos)
				if a := r.direct[p.at]; p.at == 0 || a != nil && a.block == b && mentionsOf([]stmt{&effect{a.l}}, v) == 0 {
					p.expr = d.r
				}
			}
			plans, changed = append(plans, p), true
			continue
		}
		p := b.plans[i]
		if p.expr != nil && p.at > 0 && slices.ContainsFunc(reads, func(x read) bool { return x.k == r.key(ref(v)) && x.pos > p.at }) {
			p.expr, changed = nil, true
		}
		plans = append(plans, p)
	}
	b.plans = plans
	return changed
}

// needed reports whether the backward sweep reads what the statement of p overwrites.
func (r *reverser) needed(p *pairOf, reads []read) bool {
	k, header := r.key(p.x), isHeader(p.x.typeOf()) && !p.whole
	depth, since := k.depth, 0
	if v := r.fresh(p.x); v != nil { // nothing read its memory before it was made
		depth, since = len(v.scope), r.defPos[v]
	}
	v, i := variables(p.x)
	for _, x := range reads {
		if x.k != k || x.header && !header || x.pos < since {
			continue
		}
		if x.pos <= p.pos {
			return true
		}
		same := common(x.loops, p.loops)
		if x.x == v && x.i == i && v != nil && r.sets[v] == 0 && r.defs[i] == nil && same == len(i.scope) {
			same-- // each iteration of the loop of i has an element of its own
		}
		if same > depth && !r.replaced(p, x, same) {
			return true
		}
	}
	return false
}

// replaced reports whether each iteration of a loop sets all elements of a slice before it comes to p. What they
// were before comes back from there, for the iteration before, which has the read x. Both are in so many loops.
func (r *reverser) replaced(p *pairOf, x read, loops int) bool {
	return isElement(p.x) && isFloat(p.x.typeOf()) && slices.ContainsFunc(r.pairs, func(w *pairOf) bool {
		return w.pos < p.pos && len(w.loops) == loops+1 && w.block.of != nil && w.block.outer.body && len(w.block.outer.loops) == loops &&
			common(w.loops, x.loops) >= loops && common(w.loops, p.loops) >= loops && r.key(w.x) == r.key(p.x) && r.covers(w)
	})
}

// covers reports whether the loop of a pair sets all elements of the slice that is alone in its memory.
func (r *reverser) covers(w *pairOf) bool {
	v, loop, n := r.fresh(w.x), w.block.of, w.block.of.hi
	if v != nil && len(r.defs[v].r.(*call).args) > 1 { // there are elements beyond its length
		return false
	}
	if loop.step == -1 {
		n = plus(loop.lo, 1)
	}
	first := loop.step == 1 && isLit(loop.lo, "0") || loop.step == -1 && isLit(loop.hi, "0")
	if v == nil || !first || !same(w.x.(*element).i, ref(loop.v)) || r.sets[loop.v] > 0 {
		return false
	}
	k := r.key(w.x)
	for p, other := range r.keys {
		if other.root() != k || p.v == v {
			continue
		}
		if d := r.defs[p.v]; d == nil || p.fields != "" || r.sets[p.v] > 0 || d.r == nil || !isPlace(d.r) {
			return false
		}
	}
	for _, other := range r.kept {
		if other.root() == k {
			return false
		}
	}
	return r.equal(r.size(length(ref(v))), r.size(n))
}

// equal reports whether two integers are the same, by what does not change.
func (r *reverser) equal(x, y expr) bool {
	switch x := x.(type) {
	case *literal:
		return isLit(y, x.text)
	case *reference:
		return isVariable(y, x.v) && r.sets[x.v] == 0
	case *binary:
		z, ok := y.(*binary)
		return ok && x.op == z.op && r.equal(x.x, z.x) && r.equal(x.y, z.y)
	case *call:
		z, ok := y.(*call)
		return ok && x.fn == "len" && z.fn == "len" && isReference(x.args[0]) && r.equal(x.args[0], z.args[0])
	}
	return false
}

// size returns an integer in terms of what does not change, as far as that is known.
func (r *reverser) size(e expr) expr {
	definition := func(e expr) expr { // of a variable that is set once
		x, ok := e.(*reference)
		if !ok || r.sets[x.v] > 0 || r.defs[x.v] == nil {
			return nil
		}
		return r.defs[x.v].r
	}
	switch x := e.(type) {
	case *reference:
		if d := definition(x); d != nil && steady(d) {
			return r.size(d)
		}
	case *call:
		if x.fn != "len" {
			break
		}
		switch d := definition(x.args[0]).(type) {
		case *call:
			if d.fn == "make" && len(d.args) == 1 {
				return r.size(d.args[0])
			}
		case *reference:
			return r.size(length(d))
		case *part:
			if d.hi == nil {
				break
			}
			if d.lo == nil || isLit(d.lo, "0") {
				return r.size(d.hi)
			}
			if b, ok := d.hi.(*binary); ok && b.op == token.ADD && sameText(b.x, d.lo) {
				return r.size(b.y)
			}
		}
	}
	return e
}

// fresh returns the variable of which e is an element, if that is memory made for it alone.
func (r *reverser) fresh(e expr) *variable {
	x, ok := e.(*element)
	if !ok {
		return nil
	}
	v, ok := x.x.(*reference)
	if !ok || r.sets[v.v] > 0 {
		return nil
	}
	if d := r.defs[v.v]; d == nil || !isMake(d.r) {
		return nil
	}
	return v.v
}

func isMake(e expr) bool {
	c, ok := e.(*call)
	return ok && c.fn == "make"
}

// common returns the number of loops that two places are both in.
func common(x, y []*loopInfo) (n int) {
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// readings returns what the backward sweep reads, and the variables that it mentions.
func (r *reverser) readings(back []stmt) (reads []read, mentioned map[*variable]bool) {
	mentioned = map[*variable]bool{}
	pos, loops := r.pos+1, []*loopInfo(nil)
	expression := func(e expr) {
		if e == nil {
			return
		}
		for _, u := range r.uses(e) {
			reads = append(reads, read{u, pos, loops})
		}
		visit(e, func(e expr) {
			if x, ok := e.(*reference); ok {
				mentioned[x.v] = true
			}
		})
	}
	// A place that is set is not read, but where it lies is.
	place := func(e expr) {
		switch x := e.(type) {
		case *reference:
			mentioned[x.v] = mentioned[x.v] || !isFloat(x.v.typ)
			return
		case *element:
			expression(x.i)
		}
		v := root(e)
		mentioned[v] = true
		reads = append(reads, read{use{k: r.key(e), header: true}, pos, loops})
		for _, c := range children(e) {
			if _, ok := c.(*reference); !ok && isPlace(c) {
				expression(c)
			}
		}
	}
	var walk func(list []stmt)
	walk = func(list []stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *backward:
				outer, outerLoops := pos, loops
				pos, loops = s.pos, s.loops
				walk(s.list)
				pos, loops = outer, outerLoops
			case *assignment:
				expression(s.r)
				if _, direct := s.l.(*reference); !direct || s.op != token.ASSIGN && !isCotangent(s.l) {
					place(s.l)
				}
			case *restore:
				if s.pair.kept && s.inverse != nil && s.inverse.op != token.ASSIGN {
					at := pos
					pos++ // before the inverse of the change
					expression(s.inverse.r)
					pos = at
				}
				switch {
				case !s.pair.kept:
				case s.whole:
					expression(s.x)
				case !isReference(s.x):
					place(s.x)
				}
			case *fold:
				place(s.x)
			case *kernel:
				for _, o := range s.operands {
					if o.role != "acc" {
						expression(o.x)
						reads = append(reads, read{use{k: r.key(o.x)}, pos, loops})
					}
					if o.bar != nil {
						expression(o.bar)
					}
				}
			case *product:
				for _, x := range []expr{s.a, s.b} {
					expression(x)
					reads = append(reads, read{use{k: r.key(x)}, pos, loops})
				}
				expression(s.c)
			case *cleared:
				expression(s.x)
			case *effect:
				expression(s.call)
			case *swap:
				place(s.x)
				place(s.y)
			case *push:
				expression(s.x)
			case *pop:
				if s.whole {
					expression(s.x)
				} else if !isReference(s.x) {
					place(s.x)
				}
			case *branch:
				if r.empty(s.then) && r.empty(s.els) {
					break
				}
				expression(s.cond)
				walk(s.then)
				walk(s.els)
			case *ranged:
				if r.empty(s.body) {
					break
				}
				expression(s.lo)
				expression(s.hi)
				walk(s.body)
			case *locals:
				outer, outerLoops := pos, loops
				pos, loops = s.block.pos, s.block.loops
				if s.at > 0 {
					pos = s.at
				}
				for _, p := range s.block.plans {
					if p.expr != nil && p.at == s.at {
						expression(p.expr)
					}
				}
				pos, loops = outer, outerLoops
			}
		}
	}
	walk(back)
	return reads, mentioned
}

func isCotangent(e expr) bool {
	v := root(e)
	return v != nil && v.of != nil
}

// empty reports whether statements of the backward sweep do nothing.
func (r *reverser) empty(list []stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *locals:
			continue
		case *restore:
			if s.pair.kept {
				return false
			}
		case *backward:
			if !r.empty(s.list) {
				return false
			}
		case *branch:
			if !r.empty(s.then) || !r.empty(s.els) {
				return false
			}
		case *ranged:
			if !r.empty(s.body) {
				return false
			}
		case *assignment:
			if !s.define {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// A push and a pop of one slot are what is left of saves, restores and locals.
type (
	push struct {
		x     expr
		slot  *slot
		whole bool // all elements of the matrix x
	}
	pop struct {
		x      expr
		define bool
		slot   *slot
		whole  bool
		adds   bool // to x
	}
	// A slot is unused if nothing reads what is popped.
	slot struct {
		unused bool
		level  int // of the tape
	}
)

// flat returns statements without groups, saves that are not kept, and loops and branches that
// do nothing.
func (r *reverser) flat(list []stmt) (out []stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *backward:
			out = append(out, r.flat(s.list)...)
		case *save:
			if s.pair.kept {
				out = append(out, &push{s.x, &s.pair.slot, s.whole})
			}
		case *restore:
			switch {
			case !s.pair.kept:
			case s.inverse != nil:
				out = append(out, s.inverse)
			default:
				out = append(out, &pop{x: s.x, slot: &s.pair.slot, whole: s.whole})
			}
		case *locals:
			out = append(out, s.statements()...)
		case *branch:
			if len(s.then)+len(s.els) > 0 && r.empty(s.then) && r.empty(s.els) {
				break
			}
			b := &branch{s.cond, r.flat(s.then), r.flat(s.els)}
			if len(b.then) == 0 && len(b.els) > 0 {
				b = &branch{inverted(b.cond), b.els, nil}
			}
			if len(b.then)+len(b.els) > 0 {
				out = append(out, b)
			}
		case *ranged:
			if r.empty(s.body) {
				break
			}
			out = append(out, descend(s, r.flat))
		case *while:
			out = append(out, descend(s, r.flat))
		default:
			out = append(out, s)
		}
	}
	return out
}

// inverted returns the opposite of a condition. Comparisons of order keep their sense, as they are false
// for NaN.
func inverted(e expr) expr {
	switch e := e.(type) {
	case *unary:
		if e.op == token.NOT {
			return e.x
		}
	case *binary:
		switch e.op {
		case token.EQL:
			return &binary{token.NEQ, e.x, e.y, e.typ}
		case token.NEQ:
			return &binary{token.EQL, e.x, e.y, e.typ}
		}
	}
	return &unary{token.NOT, e}
}

func (s *locals) statements() (out []stmt) {
	if !s.back {
		for _, p := range s.block.plans {
			if p.expr == nil {
				out = append(out, &push{x: ref(p.v), slot: &p.slot})
			}
		}
		return out
	}
	for _, p := range slices.Backward(s.block.plans) {
		if p.expr == nil && s.at == 0 {
			out = append(out, &pop{x: ref(p.v), define: true, slot: &p.slot})
		}
	}
	for _, p := range s.block.plans {
		if p.expr != nil && p.at == s.at {
			out = append(out, &assignment{l: ref(p.v), op: token.ASSIGN, r: p.expr, define: true})
		}
	}
	return out
}

// tidied returns both sweeps without assignments to locals that nothing reads, and with the
// first addition to a sum as its definition. The locals of loops, further inside than base, are
// declared in each of them.
func tidied(forward, back []stmt, base int) (first, second []stmt) {
	for {
		n := size(forward) + size(back)
		here, there := used(forward, back, base)
		back = withoutUnused(back, there)
		forward = withoutUnused(forward, here)
		if size(forward)+size(back) < n {
			continue
		}
		forward, back = merged(forward), settled(merged(winners(back)), func(*variable) bool { return false })
		if size(forward)+size(back) == n {
			return forward, back
		}
	}
}

// size counts statements.
func size(list []stmt) (n int) {
	each(list, func(stmt) { n++ })
	return n
}

// used returns the variables that each of both sweeps reads. What is only read to set variables that nothing reads is none
// of them, also if these set each other.
func used(forward, back []stmt, base int) (here, there map[*variable]bool) {
	type sweep struct {
		used map[*variable]bool
		sets map[*variable][]*assignment // of variables that nothing has read yet
	}
	sweeps := [2]sweep{}
	var note func(k int, v *variable)
	note = func(k int, v *variable) {
		s := sweeps[k]
		if s.used[v] {
			return
		}
		s.used[v] = true
		for _, a := range s.sets[v] {
			readBy(a, func(v *variable) { note(k, v) })
		}
		if len(v.scope) <= base {
			note(1-k, v)
		}
	}
	for k, list := range [][]stmt{forward, back} {
		s := sweep{map[*variable]bool{}, map[*variable][]*assignment{}}
		each(list, func(st stmt) {
			if a, ok := st.(*assignment); ok && isOwn(a.l) {
				s.sets[root(a.l)] = append(s.sets[root(a.l)], a)
			}
		})
		sweeps[k] = s
	}
	for k, list := range [][]stmt{forward, back} {
		each(list, func(st stmt) {
			a, ok := st.(*assignment)
			if !ok || !isOwn(a.l) {
				readBy(st, func(v *variable) { note(k, v) })
			} else if c, ok := a.r.(*invocation); ok && c.kind != itself {
				readBy(&effect{c}, func(v *variable) { note(k, v) })
			}
		})
	}
	return sweeps[0].used, sweeps[1].used
}

// isOwn reports whether a place is memory of a variable alone.
func isOwn(e expr) bool {
	v := root(e)
	return v != nil && !v.param && (v.sink || !sharesMemory(e))
}

// reading notes the variables that statements read.
func reading(list []stmt, used map[*variable]bool) {
	each(list, func(s stmt) { readBy(s, func(v *variable) { used[v] = true }) })
}

// readBy notes the variables that a statement reads, without those that the statements in it read.
func readBy(s stmt, note func(v *variable)) {
	expression := func(e expr) {
		visit(e, func(e expr) {
			if x, ok := e.(*reference); ok {
				note(x.v)
			}
		})
	}
	place := func(e expr) {
		if isOwn(e) {
			for x, ok := e.(*element); ok; x, ok = x.x.(*element) {
				expression(x.i)
			}
			return
		}
		expression(e)
	}
	switch s := s.(type) {
	case *assignment:
		expression(s.r)
		place(s.l)
	case *pop:
		if s.whole {
			expression(s.x)
		} else {
			place(s.x)
		}
	case *kernel:
		expressions(s.unread(), expression)
	default:
		expressions(s, expression)
	}
}

// sharesMemory reports whether setting a place may be seen through another variable.
func sharesMemory(e expr) bool {
	switch x := e.(type) {
	case *reference:
		return false
	case *field:
		return isHeader(x.x.typeOf()) || sharesMemory(x.x)
	case *element:
		return isHeader(x.x.typeOf()) || sharesMemory(x.x)
	}
	return true
}

// withoutUnused leaves out assignments to variables that nothing reads.
func withoutUnused(list []stmt, used map[*variable]bool) (out []stmt) {
	dead := func(e expr) bool { return isOwn(e) && !used[root(e)] }
	for _, s := range list {
		switch x := s.(type) {
		case *assignment:
			if dead(x.l) {
				if c, ok := x.r.(*invocation); ok && c.kind != itself {
					out = append(out, &effect{c})
				}
				continue
			}
		case *pop:
			if !x.whole && dead(x.x) {
				x.slot.unused = true
				continue
			}
		case *push:
			if x.slot.unused {
				continue
			}
		case *kernel:
			if x.err != nil && !used[x.err] {
				s = x.unread()
			}
		case *branch:
			b := &branch{cond: x.cond}
			b.then, b.els = withoutUnused(x.then, used), withoutUnused(x.els, used)
			if len(b.then) == 0 && len(b.els) > 0 {
				b = &branch{inverted(b.cond), b.els, nil}
			}
			if len(b.then)+len(b.els) == 0 {
				continue
			}
			s = b
		case *ranged:
			b := *x
			b.body = withoutUnused(x.body, used)
			if len(b.body) == 0 {
				continue
			}
			s = &b
		case *while:
			b := *x
			b.body = withoutUnused(x.body, used)
			if b.count != nil && !used[b.count] {
				b.count = nil
			}
			s = &b
		}
		out = append(out, s)
	}
	return out
}

// merged turns v := 0 and a later v += e into v := e, if nothing mentions v in between. An element of cotangents may
// stand for v, if v += e is next and e reads no cotangents in memory.
func merged(list []stmt) []stmt {
	known := map[stmt][2]map[*variable]bool{} // what statements read, and what they set
	look := func(s stmt) [2]map[*variable]bool {
		if known[s][0] == nil {
			used := map[*variable]bool{}
			reading([]stmt{s}, used)
			known[s] = [2]map[*variable]bool{used, setting(s)}
		}
		return known[s]
	}
	for i := 0; i < len(list); i++ {
		switch s := list[i].(type) {
		case *branch:
			s.then, s.els = merged(s.then), merged(s.els)
		case *ranged:
			s.body = merged(s.body)
		case *while:
			s.body = merged(s.body)
		case *assignment:
			if s.op != token.ASSIGN || s.r != nil && !isLit(s.r, "0") || !isFloat(s.l.typeOf()) {
				break
			}
			if isElement(s.l) && isCotangent(s.l) && i+1 < len(list) {
				t, ok := list[i+1].(*assignment)
				if ok && t.op != token.ASSIGN && sameText(s.l, t.l) && !readsCotangents(t.r) {
					e := t.r
					if t.op == token.SUB_ASSIGN {
						e = negative(e)
					}
					list[i] = &assignment{l: t.l, op: token.ASSIGN, r: e}
					list = slices.Delete(list, i+1, i+2)
				}
			}
			x, ok := s.l.(*reference)
			if !ok {
				break
			}
			v := x.v
			for j := i + 1; j < len(list); j++ {
				reads, sets := look(list[j])[0], look(list[j])[1]
				if !reads[v] && !sets[v] {
					continue
				}
				if t, ok := list[j].(*assignment); ok && isVariable(t.l, v) && !t.define && !reads[v] {
					e := t.r
					if t.op == token.SUB_ASSIGN {
						e = negative(e)
					}
					if t.op == token.ASSIGN && !s.define {
						break
					}
					list[j] = &assignment{l: t.l, op: token.ASSIGN, r: e, define: s.define}
					list = slices.Delete(list, i, i+1)
					i--
				}
				break
			}
		}
	}
	return list
}

// readsCotangents reports whether e reads cotangents in memory.
func readsCotangents(e expr) (yes bool) {
	visit(e, func(e expr) {
		_, isPart := e.(*part)
		yes = yes || (isElement(e) || isPart || isHeader(e.typeOf())) && isCotangent(e)
	})
	return yes
}

// setsInside reports whether a statement sets v.
func setsInside(s stmt, v *variable) bool { return setting(s)[v] }

// setting returns the variables that a statement sets.
func setting(s stmt) map[*variable]bool {
	set := map[*variable]bool{}
	each([]stmt{s}, func(s stmt) {
		switch s := s.(type) {
		case *assignment:
			set[root(s.l)] = true
		case *pop:
			set[root(s.x)] = true
		case *kernel:
			for _, e := range s.changed() {
				set[root(e)] = true
			}
		}
	})
	return set
}

// settled returns statements without those that set a cotangent which nothing reads until its
// scope ends. after reports whether what follows the list mentions a variable.
func settled(list []stmt, after func(v *variable) bool) (out []stmt) {
	used := map[*variable]bool{} // by what comes later
	usedLater := func(v *variable) bool { return used[v] || after(v) }
	for _, s := range slices.Backward(list) {
		switch x := s.(type) {
		case *assignment:
			if ref, ok := x.l.(*reference); ok && !x.define && x.op == token.ASSIGN && ref.v.of != nil && isFloat(ref.v.typ) && !ref.v.param && !usedLater(ref.v) {
				continue
			}
		case *branch:
			s = &branch{x.cond, settled(x.then, usedLater), settled(x.els, usedLater)}
		case *ranged:
			b := *x
			b.body = settled(x.body, func(v *variable) bool { return usedLater(v) || !definedIn(x.body, v) })
			s = &b
		}
		reading([]stmt{s}, used)
		for v := range setting(s) {
			used[v] = used[v] || !setsFirst(s, v)
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// setsFirst reports whether a statement does nothing but set v.
func setsFirst(s stmt, v *variable) bool {
	a, ok := s.(*assignment)
	return ok && a.op == token.ASSIGN && isVariable(a.l, v)
}

// definedIn reports whether statements declare v.
func definedIn(list []stmt, v *variable) bool {
	return slices.ContainsFunc(list, func(s stmt) bool {
		a, ok := s.(*assignment)
		return ok && a.define && root(a.l) == v
	})
}
