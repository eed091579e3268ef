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
type fuser struct {
	*lowerer
	*analysis
	apart map[*loopInfo]bool // loops that are better left alone
}

// fused returns both sweeps with such loops. If calls is set, those that become calls of package num stay
// as they are.
func (l *lowerer) fused(forward, back []stmt, calls bool) (first, second []stmt) {
	u := &fuser{l, &analysis{keys: map[path]*key{}, kept: map[*slot]*key{}}, map[*loopInfo]bool{}}
	each(forward, func(s stmt) {
		if s, ok := s.(*push); ok { // is memory of an iteration if what is saved is
			u.kept[s.slot] = &key{depth: math.MaxInt}
		}
	})
	u.share(slices.Concat(forward, back), nil)
	if !calls {
		return u.lists(forward, back, len(l.loops))
	}
	names := maps.Clone(l.names)
	f, b := l.vectorized(forward, back)
	l.names = names
	for _, pair := range [][2][]stmt{{forward, f}, {back, b}} {
		left := map[*loopInfo]bool{}
		each(pair[1], func(s stmt) {
			if r, ok := s.(*ranged); ok {
				left[r.info] = true
			}
		})
		each(pair[0], func(s stmt) {
			if r, ok := s.(*ranged); ok && !left[r.info] {
				u.apart[r.info] = true
			}
		})
	}
	return u.lists(forward, back, len(l.loops))
}

// lists does so with the loops of two lists that are in so many loops.
func (u *fuser) lists(forward, back []stmt, depth int) (first, second []stmt) {
	for k := 0; k < len(back); k++ {
		i := slices.IndexFunc(forward, func(s stmt) bool { return u.pair(s, back[k]) })
		if i < 0 {
			continue
		}
		after, before := forward[i+1:], back[:k]
		if !u.exchangeable(before, forward[i:]) || !u.exchangeable(back[k:k+1], after) {
			continue
		}
		var one stmt
		switch f := forward[i].(type) {
		case *ranged:
			b := back[k].(*ranged)
			if !u.independent(f.body, b.body, depth) {
				continue
			}
			c := *f
			c.body, c.fused = u.body(f.body, b.body, depth+1), true
			if makesIn(c.body) && !u.keeps(f.body, depth) {
				c.mark = &variable{name: u.unique("mark"), typ: integer}
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
		forward = slices.Concat(forward[:i], before, []stmt{one}, after)
		back, k = back[k+1:], -1
	}
	return forward, back
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

// accesses returns those of statements.
func (u *fuser) accesses(list []stmt) (a accesses) {
	a.reads, a.sets, a.adds = map[access]bool{}, map[access]bool{}, map[access]bool{}
	note := func(to map[access]bool, list ...access) {
		for _, x := range list {
			to[x] = true
		}
	}
	elements := func(e expr) access { return access{k: u.key(e)} }
	read := func(e expr) {
		visit(e, func(e expr) {
			switch x := e.(type) {
			case *invocation:
				a.opaque = true
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
	set := func(e expr, only bool) {
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
	each(list, func(s stmt) {
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
			a.opaque = a.opaque || !isCall || c.fn != "panic"
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
	x, y := u.accesses(first), u.accesses(second)
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
// loops, besides their own.
func (u *fuser) independent(forward, back []stmt, depth int) bool {
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
	return len(b.sets) == 0 && !intersect(b.adds, b.reads) && !intersect(b.adds, f.reads) && !intersect(b.reads, f.sets) && !intersect(b.reads, f.adds) && !intersect(b.adds, f.sets)
}
