package gradient

import (
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"
)

// A fuser makes one loop of a loop and of the one that goes back, so that each iteration goes back right
// after it went ahead:
//
//	for i := range x {                         for i := range x {
//		r := x[i] - y[i]                           r := x[i] - y[i]
//		sum += r * r                               sum += r * r
//	}                                  →           grad[i] += sumBar * 2 * r
//	for i := len(x) - 1; i >= 0; i-- {         }
//		r := x[i] - y[i]
//		grad[i] += sumBar * 2 * r
//	}
//
// What an iteration saves is then on the tape for that iteration alone, or needs no tape. This is right
// if the cotangents that the second loop reads are known before the first, and if iterations only add to
// what is outside of them, and going back reads nothing of that. Derivatives are added in another order.
//
// A local that the second loop restores changes after all that goes back:
//
//	w := w0                                    w := w0
//	for i := range x {                         for i := range x {
//		sum += w * x[i]                            sum += w * x[i]
//		tape.Push(w)                               grad[i] += sumBar * w
//		w *= 0.5                       →           w *= 0.5
//	}                                          }
//	for i := len(x) - 1; i >= 0; i-- {
//		w = tape.Pop()
//		grad[i] += sumBar * w
//	}
//
// Memory that is restored last, for the iterations before, stays as it is. A call of a function that calls
// itself, and that of its adjoint, become one call of the adjoint, which returns the value too.
type fuser struct {
	lowerer *lowerer
	*analysis
	apart map[*loopInfo]bool // loops that are better left alone
	back  []stmt             // the whole of the second sweep
	known map[stmt]accesses  // those that have been looked at
}

// fused returns both sweeps with such loops. If calls is set, those that become calls of package num stay
// as they are.
func (l *lowerer) fused(forward, back []stmt, calls bool) (first, second []stmt) {
	u := l.fuser(slices.Concat(forward, back))
	u.back = back
	if !calls {
		return u.lists(forward, back, len(l.loops))
	}
	names := maps.Clone(l.names)
	f, _ := l.vectorized(forward, back)
	l.names = names
	left := map[*loopInfo]bool{}
	each(f, func(s stmt) {
		if r, ok := s.(*ranged); ok {
			left[r.info] = true
		}
	})
	each(forward, func(s stmt) {
		if r, ok := s.(*ranged); ok && !left[r.info] {
			u.apart[r.info] = true
		}
	})
	return u.lists(forward, back, len(l.loops))
}

// fuser returns what knows the accesses of statements.
func (l *lowerer) fuser(list []stmt) *fuser {
	u := &fuser{l, &analysis{keys: map[path]*key{}, kept: map[*slot]*key{}}, map[*loopInfo]bool{}, nil, map[stmt]accesses{}}
	each(list, func(s stmt) {
		if s, ok := s.(*push); ok { // is memory of an iteration if what is saved is
			u.kept[s.slot] = &key{depth: math.MaxInt}
		}
		expressions(s, func(e expr) {
			visit(e, func(e expr) { // what a call of a function reaches has keys
				if isPlace(e) {
					u.key(e)
				}
			})
		})
	})
	u.share(list, nil)
	return u
}

// lists does so with the loops of two lists that are in so many loops.
func (u *fuser) lists(forward, back []stmt, depth int) (first, second []stmt) {
	for i := 0; i < len(forward); i++ {
		k := slices.IndexFunc(back, func(s stmt) bool { return u.pair(forward[i], s) })
		if k < 0 {
			continue
		}
		before, others := u.needed(back[:k], back[k])
		at := u.place(forward, i, before, back[k])
		if at < 0 {
			continue
		}
		var one stmt
		switch f := forward[i].(type) {
		case *assignment:
			one = &assignment{f.l, f.op, back[k].(*effect).call, f.define}
		case *ranged:
			first, second, last, restored := u.unrestored(f, back[k].(*ranged))
			if !u.independent(slices.Concat(first, last), second, depth, restored) {
				continue
			}
			c := *f
			c.body, c.fused = append(u.body(first, second, depth+1), last...), true
			if makesIn(c.body) && !u.keeps(f.body, depth) {
				c.mark = &variable{name: u.lowerer.unique("mark"), typ: integer}
			}
			one = &c
		case *branch:
			b := back[k].(*branch)
			then, els := b.then, b.els
			if !sameText(f.cond, b.cond) {
				then, els = els, then
			}
			if !u.exchangeable([]stmt{&effect{&call{"panic", "", []expr{f.cond}, nil}}}, slices.Concat(f.then, f.els)) { // the condition is changed
				continue
			}
			one = &branch{f.cond, u.body(f.then, then, depth), u.body(f.els, els, depth)}
		}
		forward = slices.Concat(forward[:i], forward[i+1:at+1], before, []stmt{one}, forward[at+1:])
		back, i = slices.Concat(others, back[k+1:]), -1
	}
	return forward, back
}

// place returns the index in forward of a statement after which statement i may go ahead and back, by what is
// before and s, or -1 if there is none.
func (u *fuser) place(forward []stmt, i int, before []stmt, s stmt) int {
	if !u.exchangeable(before, forward[i:i+1]) {
		return -1
	}
	for at := i; at < len(forward) && (at == i || u.exchangeable(forward[i:i+1], forward[at:at+1])); at++ {
		if u.exchangeable(append(slices.Clone(before), s), forward[at+1:]) {
			return at
		}
	}
	return -1
}

// needed returns which statements must come before s, and the others, which may come after it.
func (u *fuser) needed(list []stmt, s stmt) (before, others []stmt) {
	after := u.accesses([]stmt{s})
	for _, t := range slices.Backward(list) {
		if x := u.accesses([]stmt{t}); exchangeable(x, after) {
			others = append(others, t)
		} else {
			before = append(before, t)
			after.merge(x)
		}
	}
	slices.Reverse(before)
	slices.Reverse(others)
	return before, others
}

// unrestored returns the bodies of two loops without what the second one restores, what an iteration sets
// after it went back, and what was restored.
func (u *fuser) unrestored(forward, back *ranged) (first, second, last []stmt, restored map[access]bool) {
	first, second = joined(forward.body, back.body)
	restored = map[access]bool{}
	elsewhere := u.accesses(spliced(u.back, func(s stmt) ([]stmt, bool) {
		r, ok := s.(*ranged)
		return nil, ok && r.info == forward.info
	})).reads
	gone := map[*slot]bool{}
	for k := len(second) - 1; k >= 0; k-- {
		x, rest := u.accesses(second[k:k+1]), u.accesses(second[k+1:])
		if slots := restores(second[k]); slots != nil && !intersect(x.sets, rest.reads) && !intersect(x.sets, elsewhere) {
			second = slices.Delete(slices.Clone(second), k, k+1)
			maps.Copy(restored, x.sets)
			for _, s := range slots {
				gone[s] = true
			}
		}
	}
	first = spliced(first, func(s stmt) ([]stmt, bool) {
		p, ok := s.(*push)
		return nil, ok && gone[p.slot]
	})
	for i := len(first) - 2; i >= 0; i-- {
		if i+2 > len(first) {
			continue
		}
		save, ok := first[i].(*push)
		set, also := first[i+1].(*assignment)
		if !ok || !also || set.define || save.whole || !sameText(save.x, set.l) {
			continue
		}
		k := slices.IndexFunc(second, func(s stmt) bool {
			p, ok := s.(*pop)
			return ok && p.slot == save.slot && !p.define && !p.adds
		})
		if k < 0 || !u.exchangeable(first[i+1:i+2], first[i+2:]) {
			continue
		}
		others := slices.Delete(slices.Clone(second), k, k+1)
		x, y := u.accesses(first[i+1:i+2]), u.accesses(others)
		touched := func(a map[access]bool) bool { return intersect(a, y.sets) || intersect(a, y.adds) }
		if touched(x.sets) || touched(x.adds) || touched(x.reads) || intersect(u.accesses(first[i:i+1]).reads, u.accesses(second[:k]).reads) || intersect(x.sets, elsewhere) || intersect(x.adds, elsewhere) {
			continue
		}
		maps.Copy(restored, x.sets)
		maps.Copy(restored, x.adds)
		first, second, last = slices.Delete(slices.Clone(first), i, i+2), others, slices.Insert(last, 0, stmt(set))
	}
	return first, second, last, restored
}

// restores returns the slots of a statement that does nothing but restore what is on tapes, or nil.
func restores(s stmt) (slots []*slot) {
	only := true
	each([]stmt{s}, func(s stmt) {
		switch s := s.(type) {
		case *pop:
			only = only && !s.define && !s.adds && !s.whole
			slots = append(slots, s.slot)
		case *ranged:
		default:
			only = false
		}
	})
	if !only {
		return nil
	}
	return slots
}

// pair reports whether one statement is of the first sweep and the other one goes back.
func (u *fuser) pair(forward, back stmt) bool {
	switch b := back.(type) {
	case *ranged:
		f, ok := forward.(*ranged)
		return ok && f.info == b.info && !u.apart[b.info]
	case *branch:
		f, ok := forward.(*branch)
		return ok && (sameText(f.cond, b.cond) || sameText(f.cond, inverted(b.cond)) || sameText(inverted(f.cond), b.cond))
	case *effect:
		f, ok := forward.(*assignment)
		y, also := b.call.(*invocation)
		if !ok || !also || y.kind != adjoint {
			return false
		}
		x, ok := f.r.(*invocation)
		if !ok || x.kind != itself || x.decl != y.decl {
			return false
		}
		_, args := y.parts()
		return slices.EqualFunc(x.args, args[:len(args)-1], sameText)
	}
	return false
}

// body returns one body for both.
func (u *fuser) body(forward, back []stmt, depth int) []stmt {
	forward, back = joined(forward, back)
	forward, back = u.lists(forward, back, depth)
	return slices.Concat(forward, back)
}

// keeps reports whether an iteration, in depth loops besides its own, sets a slice that lasts longer.
func (u *fuser) keeps(body []stmt, depth int) bool {
	for x := range u.accesses(body).sets {
		if x.depth() <= depth && (x.header || x.v != nil && hasHeaders(x.v.typ)) {
			return true
		}
	}
	return false
}

// makesIn reports whether statements make slices or matrices of float64.
func makesIn(list []stmt) (yes bool) {
	each(list, func(s stmt) {
		expressions(s, func(e expr) {
			visit(e, func(e expr) {
				if isMake(e) {
					s, isSlice := e.typeOf().Underlying().(*types.Slice)
					yes = yes || isMatrix(e.typeOf()) || isSlice && types.Identical(s.Elem(), float)
				}
			})
		})
	})
	return yes
}

// joined returns the bodies of both loops as two parts of one body: what the first saves last and the second
// brings back first is there, and the second needs no definitions that the first has.
func joined(forward, back []stmt) (first, second []stmt) {
	for len(forward) > 0 && len(back) > 0 {
		save, isPush := forward[len(forward)-1].(*push)
		restore, isPop := back[0].(*pop)
		if !isPush || !isPop || save.slot != restore.slot || save.whole || restore.adds || !isReference(save.x) || root(save.x) != root(restore.x) {
			break
		}
		forward, back = forward[:len(forward)-1], back[1:]
	}
	defined := map[*variable]bool{}
	for _, s := range forward {
		if a, ok := s.(*assignment); ok && a.define {
			defined[root(a.l)] = true
		}
	}
	for _, s := range back {
		switch x := s.(type) {
		case *assignment:
			if x.define && defined[root(x.l)] { // has this value: a local is computed again only if it does not change
				continue
			}
		case *pop:
			if x.define && defined[root(x.x)] {
				c := *x
				c.define = false
				s = &c
			}
		}
		second = append(second, s)
	}
	return forward, second
}

// An access is a variable, or memory that others reach: elements that are numbers, or that lie elsewhere.
type access struct {
	v      *variable
	k      *key
	header bool
}

func (a access) depth() int {
	if a.v != nil {
		return len(a.v.scope)
	}
	return a.k.depth
}

// accesses are what statements read, set, and only add to. They are unknown if opaque is set.
type accesses struct {
	reads, sets, adds map[access]bool
	tape, opaque      bool
}

// at returns what a place is.
func (u *fuser) at(e expr) (list []access) {
	x, ok := e.(*reference)
	if !ok {
		list = append(list, access{k: u.key(e), header: isHeader(e.typeOf())})
		for ok := true; ok; { // a part of a variable
			switch x := e.(type) {
			case *element:
				e, ok = x.x, !isHeader(x.x.typeOf())
			case *field:
				e, ok = x.x, !isHeader(x.x.typeOf())
			default:
				ok = false
			}
		}
		if x, ok = e.(*reference); !ok || isHeader(e.typeOf()) {
			return list
		}
	}
	list = append(list, access{v: x.v})
	if isAggregate(x.v.typ) {
		for _, k := range u.held(x) {
			list = append(list, access{k: k})
		}
	}
	return list
}

func newAccesses() accesses {
	return accesses{reads: map[access]bool{}, sets: map[access]bool{}, adds: map[access]bool{}}
}

// merge adds other accesses to a.
func (a *accesses) merge(b accesses) {
	maps.Copy(a.reads, b.reads)
	maps.Copy(a.sets, b.sets)
	maps.Copy(a.adds, b.adds)
	a.tape, a.opaque = a.tape || b.tape, a.opaque || b.opaque
}

// accesses returns those of statements.
func (u *fuser) accesses(list []stmt) accesses {
	a := newAccesses()
	for _, s := range list {
		b, ok := u.known[s]
		if !ok {
			b = u.look(s)
			u.known[s] = b
		}
		a.merge(b)
	}
	return a
}

// look returns the accesses of a statement.
func (u *fuser) look(s stmt) accesses {
	a := newAccesses()
	note := func(to map[access]bool, list ...access) {
		for _, x := range list {
			to[x] = true
		}
	}
	elements := func(e expr) access { return access{k: u.key(e)} }
	var read func(e expr)
	var set func(e expr, only bool)
	read = func(e expr) {
		if x, ok := e.(*invocation); ok {
			var bars []expr
			args := x.args
			if x.kind == adjoint {
				bars, args = x.parts()
			}
			a.opaque = a.opaque || x.kind != itself && x.kind != adjoint
			reach := func(to map[access]bool, e expr) {
				for _, k := range u.reached(e) {
					note(to, access{k: k})
					note(a.reads, access{k: k, header: true})
				}
			}
			for _, e := range args {
				read(e)
				if hasHeaders(e.typeOf()) || isAggregate(e.typeOf()) {
					reach(a.reads, e)
				}
			}
			for _, e := range bars {
				if u, ok := e.(*unary); ok {
					set(u.x, true)
				} else {
					read(e)
				}
				reach(a.adds, e)
			}
			return
		}
		visit(e, func(e expr) {
			switch x := e.(type) {
			case *call:
				for _, arg := range x.args {
					if x.fn != "len" && isPlace(arg) && isHeader(arg.typeOf()) {
						note(a.reads, elements(arg))
					}
				}
			default:
				if isPlace(e) {
					note(a.reads, u.at(e)...)
				}
			}
		})
	}
	set = func(e expr, only bool) {
		to := a.sets
		if only {
			to = a.adds
		}
		note(to, u.at(e)...)
		for !isReference(e) {
			parts := children(e)
			for _, x := range parts[1:] {
				read(x)
			}
			if e = parts[0]; isHeader(e.typeOf()) {
				read(e)
				break
			}
		}
	}
	each([]stmt{s}, func(s stmt) {
		switch s := s.(type) {
		case *assignment:
			read(s.r)
			set(s.l, s.op != token.ASSIGN)
		case *push:
			a.tape = true
			read(s.x)
			if s.whole {
				note(a.reads, elements(s.x))
			}
		case *pop:
			a.tape = true
			if s.whole || s.adds {
				read(s.x)
				note(a.sets, elements(s.x))
			} else {
				set(s.x, false)
			}
		case *product:
			for _, x := range []expr{s.a, s.b, s.c} {
				read(x)
			}
			note(a.reads, elements(s.a), elements(s.b))
			if s.adds {
				note(a.adds, elements(s.c))
			} else {
				note(a.sets, elements(s.c))
			}
		case *cleared:
			read(s.x)
			note(a.sets, elements(s.x))
		case *branch:
			read(s.cond)
		case *ranged:
			read(s.lo)
			read(s.hi)
			set(ref(s.v), false)
		case *while:
			read(s.cond)
			if s.count != nil {
				set(ref(s.count), false)
			}
		case *effect:
			c, isCall := s.call.(*call)
			a.opaque = a.opaque || isCall && c.fn != "panic" && c.fn != assertion
			read(s.call)
		case *returned:
			for _, e := range s.values {
				read(e)
			}
		default:
			a.opaque = true
		}
	})
	return a
}

func intersect(x, y map[access]bool) bool {
	for k := range x {
		if y[k] {
			return true
		}
	}
	return false
}

// exchangeable reports whether two lists may run in either order.
func (u *fuser) exchangeable(first, second []stmt) bool {
	return exchangeable(u.accesses(first), u.accesses(second))
}

// exchangeable reports whether statements with such accesses may run in either order.
func exchangeable(x, y accesses) bool {
	if x.opaque || y.opaque || x.tape && y.tape {
		return false
	}
	for range 2 {
		if intersect(x.sets, y.sets) || intersect(x.sets, y.reads) || intersect(x.sets, y.adds) || intersect(x.adds, y.reads) {
			return false
		}
		x, y = y, x
	}
	return true
}

// independent reports whether an iteration may go back right after it went ahead. Both bodies are in depth
// loops, besides their own. What is restored may be read: it is as it was.
func (u *fuser) independent(forward, back []stmt, depth int, restored map[access]bool) bool {
	f, b := u.accesses(forward), u.accesses(back)
	if f.opaque || b.opaque {
		return false
	}
	for _, m := range []map[access]bool{f.reads, f.sets, f.adds, b.reads, b.sets, b.adds} {
		for x := range m {
			if x.depth() > depth { // is of an iteration
				delete(m, x)
			}
		}
	}
	maps.DeleteFunc(b.reads, func(x access, _ bool) bool { return restored[x] && (f.sets[x] || f.adds[x]) })
	return len(b.sets) == 0 && !intersect(b.adds, b.reads) && !intersect(b.adds, f.reads) && !intersect(b.reads, f.sets) && !intersect(b.reads, f.adds) && !intersect(b.adds, f.sets)
}
