package gradient

import (
	"go/token"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A vectorizer turns loops over elements into calls of package num: sums of products, slices
// times numbers that are added to slices, sums of exponentials, copies and zeros. Each statement
// of such a loop becomes a call for all iterations. This is right if no iteration reads what
// another one writes.
type vectorizer struct {
	lowerer *lowerer
	*analysis
	kept  map[*variable]bool // parts of a tape, of the length of their loop
	tapes map[*variable]bool // parts of a tape, of which an iteration has some places
	defs  map[*variable]expr // the definitions of variables that keep their values
}

// vectorized returns both sweeps with such calls.
func (l *lowerer) vectorized(forward, back []stmt) (first, second []stmt) {
	v := &vectorizer{l, &analysis{keys: map[path]*key{}}, map[*variable]bool{}, map[*variable]bool{}, map[*variable]expr{}}
	forward, back = cloned(forward), cloned(back)
	all := slices.Concat(forward, back)
	v.share(all, v.exchanged(all))
	forward, back = v.interchanged(forward), v.interchanged(back)
	all = slices.Concat(forward, back)
	loops := map[*loopInfo][]*ranged{}
	var order []*loopInfo
	set := map[*variable]bool{}
	each(all, func(s stmt) {
		switch s := s.(type) {
		case *ranged:
			if loops[s.info] == nil {
				order = append(order, s.info)
			}
			loops[s.info] = append(loops[s.info], s)
			if isLit(s.lo, "0") && s.step > 0 || isLit(s.hi, "0") && s.step < 0 {
				v.defs[s.v] = integerLit(0)
			}
		case *assignment:
			if x, ok := s.l.(*reference); ok {
				if s.define && s.r != nil && (v.defs[x.v] == nil || same(v.defs[x.v], s.r)) {
					v.defs[x.v] = s.r
				} else {
					set[x.v] = true
				}
			}
		case *pop:
			set[root(s.x)] = true
		}
	})
	for x := range set {
		delete(v.defs, x)
	}
	rows := map[*ranged][]stmt{}
	highest := 0 // level of a tape
	each(all, func(s stmt) {
		if p, ok := s.(*push); ok {
			highest = max(highest, p.slot.level)
		}
	})
	for _, t := range []types.Type{float, integer, boolean} {
		for level := range highest + 1 {
			var slots []map[*slot]int // before any loop has changed
			var widths []int
			for _, info := range order {
				s, width := kept(loops[info], t, level)
				slots, widths = append(slots, s), append(widths, width)
			}
			for k, info := range order {
				if slots[k] != nil {
					v.keep(loops[info][0], loops[info][1], t, slots[k], widths[k], rows)
				}
			}
		}
	}
	forward, back = v.list(forward, rows), v.list(back, rows)
	return merged(forward), merged(back)
}

// exchanged returns a function that reports whether the slices of a swap share memory. They do not
// if each has its memory for itself: what else is a name for it is gone where slices are swapped.
func (v *vectorizer) exchanged(all []stmt) func(s *swap) bool {
	swapping := map[*loopInfo]bool{}
	each(all, func(s stmt) {
		body, info := []stmt(nil), (*loopInfo)(nil)
		switch s := s.(type) {
		case *ranged:
			body, info = s.body, s.info
		case *while:
			body, info = s.body, s.info
		}
		each(body, func(s stmt) {
			if _, ok := s.(*swap); ok {
				swapping[info] = true
			}
		})
	})
	aliased, counts := map[*variable]bool{}, mentions(all)
	each(all, func(s stmt) {
		a, ok := s.(*assignment)
		if !ok || a.r == nil || !isHeader(a.l.typeOf()) || !isPlace(a.r) {
			return
		}
		x, y := root(a.l), root(a.r)
		gone := func(x *variable) bool {
			return !x.param && (counts[x] == 2 || len(x.scope) > 0 && !swapping[x.scope[len(x.scope)-1]])
		}
		if !gone(x) && !gone(y) {
			aliased[x], aliased[y] = true, true
		}
	})
	return func(s *swap) bool { return aliased[root(s.x)] || aliased[root(s.y)] || root(s.x) == root(s.y) }
}

// natural reports whether an integer is known not to be negative.
func (v *vectorizer) natural(e expr) bool {
	switch e := e.(type) {
	case *literal:
		return e.text[0] != '-'
	case *reference:
		d := v.defs[e.v]
		return d != nil && v.natural(d)
	case *call:
		if e.fn == "min" {
			return v.natural(e.args[0]) && v.natural(e.args[1])
		}
		return e.fn == "len"
	}
	return false
}

// cloned returns statements whose lists are others.
func cloned(list []stmt) (out []stmt) {
	for _, s := range list {
		out = append(out, descend(s, cloned))
	}
	return out
}

// A reserve declares v as the next n places of a tape, or the last n.
type reserve struct {
	v    *variable
	n    expr
	last bool
	slot *slot
}

// kept returns the slots for values of type t, on the tape of a level, of a loop, and of the one that goes back, with their places
// among the width places of an iteration. Both sides of a branch have the same places. It returns nil if
// these slots are not all that the loops have, or if an iteration may use less than half of its places.
func kept(loops []*ranged, t types.Type, level int) (slots map[*slot]int, width int) {
	if len(loops) != 2 {
		return nil, 0
	}
	forward, back := loops[0], loops[1]
	up := ascending(forward, back)
	if forward.step*back.step != -1 || up.v.typ != integer || !atom(up.lo) || !atom(up.hi) && !isLen(up.hi) {
		return nil, 0
	}
	slots = map[*slot]int{}
	ok := true
	on := func(s *slot, of types.Type, whole bool) bool {
		return s.level == level && (whole && t == float || types.Identical(of, t))
	}
	var places func(list []stmt, from int) (to, least int)
	places = func(list []stmt, from int) (to, least int) {
		for _, s := range list {
			switch s := s.(type) {
			case *push:
				if on(s.slot, s.x.typeOf(), false) {
					slots[s.slot] = from
					from++
					least++
				}
			case *branch:
				then, n := places(s.then, from)
				els, m := places(s.els, from)
				from, least = max(then, els), least+min(n, m)
			}
		}
		return from, least
	}
	width, least := places(forward.body, 0)
	pops, all := 0, 0 // those of loops inside, too
	each(slices.Concat(forward.body, back.body), func(s stmt) {
		switch s := s.(type) {
		case *push:
			if on(s.slot, s.x.typeOf(), s.whole) {
				all++
			}
		case *pop:
			if on(s.slot, s.x.typeOf(), s.whole) {
				all++
				_, known := slots[s.slot]
				ok = ok && known && !s.adds
				pops++
			}
		}
	})
	if !ok || len(slots) == 0 || pops != len(slots) || all != 2*pops || width > 2*least {
		return nil, 0
	}
	return slots, width
}

// keep gives both loops a part of the tape for all iterations, in place of pushes and pops.
func (v *vectorizer) keep(forward, back *ranged, of types.Type, slots map[*slot]int, width int, rows map[*ranged][]stmt) {
	lo, hi := ascending(forward, back).lo, ascending(forward, back).hi
	n := expr(&binary{token.SUB, hi, lo, integer})
	if isLit(lo, "0") {
		n = hi
	}
	if width > 1 {
		n = &binary{token.MUL, integerLit(width), n, integer}
	}
	for k, s := range []*ranged{forward, back} {
		row := &variable{name: v.lowerer.unique("kept"), typ: types.NewSlice(of), scope: s.v.scope[:len(s.v.scope)-1]}
		v.kept[row], v.tapes[row] = len(slots) == 1 && of == float, true
		place := func(slot *slot) expr {
			i := expr(ref(s.v))
			if !isLit(lo, "0") {
				i = &binary{token.SUB, i, lo, integer}
			}
			if width > 1 {
				i = shifted(&binary{token.MUL, integerLit(width), i, integer}, token.ADD, integerLit(slots[slot]))
			}
			return &element{ref(row), i, of}
		}
		var store func(list []stmt)
		store = func(list []stmt) {
			for j, t := range list {
				switch t := t.(type) {
				case *push:
					if _, known := slots[t.slot]; known {
						list[j] = &assignment{l: place(t.slot), op: token.ASSIGN, r: t.x}
					}
				case *pop:
					if _, known := slots[t.slot]; known {
						list[j] = &assignment{l: t.x, op: token.ASSIGN, r: place(t.slot), define: t.define}
					}
				case *branch:
					store(t.then)
					store(t.els)
				}
			}
		}
		store(s.body)
		for slot := range slots { // all are of one tape
			rows[s] = append(rows[s], &reserve{row, n, k == 1, slot})
			break
		}
	}
}

// ascending returns the loop that begins with the smallest index.
func ascending(forward, back *ranged) *ranged {
	if forward.step > 0 {
		return forward
	}
	return back
}

func isLen(e expr) bool {
	c, ok := e.(*call)
	return ok && c.fn == "len" && atom(c.args[0])
}

func (v *vectorizer) list(list []stmt, rows map[*ranged][]stmt) (out []stmt) {
	for _, s := range list {
		x, isLoop := s.(*ranged)
		if isLoop {
			out = append(out, rows[x]...)
			if loop, first, last := v.nearest(x); loop != nil {
				loop := descend(loop, func(list []stmt) []stmt { return v.list(list, rows) })
				out = append(out, first, loop, last)
				continue
			}
		}
		s = descend(s, func(list []stmt) []stmt { return v.list(list, rows) })
		if isLoop {
			if calls := v.loop(s.(*ranged)); calls != nil {
				out = append(out, calls...)
				continue
			}
			if loops := v.staged(s.(*ranged)); loops != nil {
				out = append(out, v.list(loops, rows)...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// A loopEffect is a statement of a loop, in terms of what the loop does not change and of elements.
type loopEffect struct {
	l    expr
	op   token.Token
	r    expr
	late bool // it overwrites what others read
}

// A term is coefficient·x·y, where x and y are elements of slices in the order of the loop. coef
// and y may be nil. x is nil if the coefficient alone is the term.
type term struct {
	coef expr
	x, y *element
}

// loop returns calls that do what a loop does, or nil.
func (v *vectorizer) loop(s *ranged) []stmt {
	lo, hi := s.lo, s.hi
	if s.step == -1 {
		lo, hi = s.hi, plus(s.lo, 1)
	}
	if s.step != 1 && s.step != -1 || s.v.typ != integer || !atom(lo) || isConstant(hi) {
		return nil
	}
	w := &loopWriter{vectorizer: v, i: s.v, lo: lo, hi: hi}
	if calls := w.maximum(s); calls != nil {
		return calls
	}
	effects := v.effects(s)
	if effects == nil {
		return nil
	}
	for k := 0; k < len(effects); k++ {
		e := effects[k]
		if x, shift := w.exponential(e.r); x != nil {
			// One call stores the exponentials and adds them up.
			if _, ok := w.row(e.l); isElement(e.l) && !ok {
				return nil
			}
			if k+1 < len(effects) && w.samePair(e, effects[k+1]) {
				k++
				if !isElement(e.l) {
					e, effects[k] = effects[k], e
				}
				w.put(&assignment{l: effects[k].l, op: effects[k].op, r: w.num("ExpSum", w.slice(x, true), w.slice(e.l.(*element), false), shift)})
				continue
			}
			if isElement(e.l) {
				if e.op != token.ASSIGN {
					return nil
				}
				w.put(&effect{w.num("ExpSum", w.slice(x, true), w.slice(e.l.(*element), false), shift)})
				continue
			}
			w.put(&assignment{l: e.l, op: e.op, r: w.num("SumExp", w.slice(x, true), nil, shift)})
			continue
		}
		if _, ok := w.row(e.l); ok && isLit(e.r, "0") && e.op == token.ASSIGN {
			w.put(&effect{&call{"clear", "", []expr{w.slice(e.l.(*element), true)}, nil}})
			continue
		}
		w.stores = isElement(e.l) && mentionsIn(e.l, w.i) && !isCotangent(e.l)
		terms := w.terms(e.r, nil)
		if terms == nil || len(terms) > 6 {
			return nil
		}
		if !w.sum(e, terms) {
			return nil
		}
	}
	out := w.paired(w.out)
	if !w.guarded {
		return out
	}
	return []stmt{&branch{cond: &binary{token.GTR, hi, lo, boolean}, then: out}}
}

// paired returns calls in which y += a·x and a sum of products with x right after it are one, as in the adjoint of
// y += a·x. A sum for the memory of y has a name first, as Go may read that before the call.
func (w *loopWriter) paired(list []stmt) []stmt {
	for i := 0; i+1 < len(list); i++ {
		first, ok := list[i].(*effect)
		second, also := list[i+1].(*assignment)
		if !ok || !also || second.op != token.ADD_ASSIGN {
			continue
		}
		axpy, ok := first.call.(*call)
		inner, also := second.r.(*call)
		if ok && also && axpy.fn == "num.Axpy" && inner.fn == "num.Inner" && sameText(axpy.args[2], inner.args[0]) {
			args := append(slices.Clone(axpy.args), inner.args[1])
			sum := expr(&call{"num.AxpyInner", numPath, args, float})
			var both []stmt
			if isElement(second.l) && w.vectorizer.key(second.l) == w.vectorizer.key(axpy.args[0]) {
				v := &variable{name: w.vectorizer.lowerer.unique("inner"), typ: float, scope: w.i.scope[:len(w.i.scope)-1]}
				both, sum = append(both, &assignment{l: ref(v), op: token.ASSIGN, r: sum, define: true}), ref(v)
			}
			both = append(both, &assignment{l: second.l, op: second.op, r: sum})
			list = slices.Replace(list, i, i+2, both...)
		}
	}
	return list
}

// maximum returns the call of a loop that finds a running maximum of a whole slice, or nil:
//
//	for i := range x {
//		if !(m >= x[i]) {            at = num.IndexMax(x, m)
//			at = i               if at >= 0 {
//		}                                    m = x[at]
//		m = max(m, x[i])             }
//	}
//
// If nobody wants to know where it is, that is m = num.Max(x, m).
func (w *loopWriter) maximum(s *ranged) []stmt {
	if s.step != 1 || !isLit(w.lo, "0") || !isLen(w.hi) {
		return nil
	}
	m, at, e := extremeOf(s.body, s.v, "max", token.GEQ)
	x, ok := w.row(e)
	if !ok || !same(w.hi.(*call).args[0], x.x) || !sameText(x.i, ref(s.v)) {
		return nil
	}
	if at == nil {
		return []stmt{&assignment{l: m, op: token.ASSIGN, r: &call{"num.Max", numPath, []expr{x.x, m}, float}}}
	}
	return found(m, at, &call{"num.IndexMax", numPath, []expr{x.x, m}, integer}, &element{x.x, at, x.typ})
}

// extremeOf returns m, at and v of the statements
//
//	if !(m >= v) {
//		at = i
//	}
//	m = max(m, v)
//
// or of the same with min and <=. at is nil if the branch is not there, and m if the statements are others.
func extremeOf(list []stmt, i *variable, fn string, op token.Token) (m, at, v expr) {
	n := len(list)
	if n == 0 || n > 2 {
		return nil, nil, nil
	}
	set, isSet := list[n-1].(*assignment)
	if !isSet || set.op != token.ASSIGN || !isReference(set.l) {
		return nil, nil, nil
	}
	c, isCall := set.r.(*call)
	if !isCall || c.fn != fn || !same(c.args[0], set.l) {
		return nil, nil, nil
	}
	if n == 1 {
		return set.l, nil, c.args[1]
	}
	b, isBranch := list[0].(*branch)
	if !isBranch || len(b.then) != 1 || len(b.els) > 0 || !sameText(b.cond, inverted(&binary{op, set.l, c.args[1], boolean})) {
		return nil, nil, nil
	}
	note, isNote := b.then[0].(*assignment)
	if !isNote || !isReference(note.l) || !isReference(note.r) || root(note.r) != i {
		return nil, nil, nil
	}
	return set.l, note.l, c.args[1]
}

// found returns at = index and, where that is not negative, m = v.
func found(m, at, index, v expr) []stmt {
	return []stmt{
		&assignment{l: at, op: token.ASSIGN, r: index},
		&branch{
			cond: &binary{token.GEQ, at, integerLit(0), boolean},
			then: []stmt{&assignment{l: m, op: token.ASSIGN, r: v}},
		},
	}
}

func isElement(e expr) bool {
	_, ok := e.(*element)
	return ok
}

// effects returns what the iterations of a loop do, in an order in which each may be done for all
// of them at once, or nil.
func (v *vectorizer) effects(s *ranged) (out []loopEffect) {
	env := map[*variable]expr{}
	for t, st := range s.body {
		a, ok := st.(*assignment)
		if !ok || !types.Identical(a.l.typeOf(), float) {
			return nil
		}
		e := expr(number("0"))
		if a.r != nil {
			e = expanded(a.r, env)
		}
		if x, ok := a.l.(*reference); ok {
			old, known := env[x.v]
			switch {
			case a.define || known && a.op == token.ASSIGN:
				env[x.v] = e
				continue
			case known && a.op == token.ADD_ASSIGN:
				env[x.v] = add(old, e)
				continue
			case known:
				env[x.v] = subtract(old, e)
				continue
			case a.op == token.ASSIGN:
				return nil
			}
			out = append(out, loopEffect{a.l, a.op, e, false})
			continue
		}
		l, ok := a.l.(*element)
		if !ok {
			return nil
		}
		if !mentionsIn(l, s.v) { // a sum in memory
			if a.op == token.ASSIGN || mentionsAny(l, env) {
				return nil
			}
			out = append(out, loopEffect{l, a.op, e, false})
			continue
		}
		// A value that this overwrites may be read under another name.
		k, late := v.key(l), false
		for x, e := range env {
			if v.reads(e, k) && mentionsOf(s.body[t+1:], x) > 0 {
				late = true
			}
		}
		if late {
			for _, st := range s.body[t+1:] {
				a, ok := st.(*assignment)
				if !ok || a.r != nil && v.reads(a.r, k) || isElement(a.l) && v.key(a.l) == k {
					return nil
				}
			}
		}
		out = append(out, loopEffect{l, a.op, e, late})
	}
	// A late store comes after the others, and reads what they have set.
	for i, a := range out {
		for _, b := range out[i+1:] {
			if !a.late {
				continue
			}
			x, isElement := b.l.(*element)
			if isElement && v.reads(a.r, v.key(x)) || !isElement && mentionsIn(a.r, root(b.l)) || b.late && v.reads(b.r, v.key(a.l)) {
				return nil
			}
		}
	}
	slices.SortStableFunc(out, func(a, b loopEffect) int {
		switch {
		case a.late == b.late:
			return 0
		case b.late:
			return -1
		}
		return 1
	})
	for i, a := range out {
		k := v.key(a.l)
		if isElement(a.l) && !mentionsIn(a.l, s.v) {
			for j, b := range out {
				if v.reads(b.r, k) || j != i && v.key(b.l) == k && !isSum(b) {
					return nil
				}
			}
			continue
		}
		if !isElement(a.l) {
			for j, b := range out {
				if mentionsIn(b.r, root(a.l)) || j != i && root(b.l) == root(a.l) && !isSum(b) {
					return nil
				}
			}
			continue
		}
		for j, b := range out {
			// No iteration reads what another one writes.
			other := false
			visit(b.r, func(e expr) {
				x, ok := e.(*element)
				if ok && isFloat(x.typ) && v.key(x) == k {
					other = other || !same(x, a.l) && (k.behind || !sameText(x.i, a.l.(*element).i))
				}
			})
			if other {
				return nil
			}
			if i != j && isElement(b.l) && v.key(b.l) == k && !same(a.l, b.l) && (!isSum(a) || !isSum(b)) {
				return nil
			}
		}
	}
	return out
}

// mentionsAny reports whether e mentions a variable that has a value in env.
func mentionsAny(e expr, env map[*variable]expr) (yes bool) {
	visit(e, func(e expr) {
		r, ok := e.(*reference)
		yes = yes || ok && env[r.v] != nil
	})
	return yes
}

func isSum(e loopEffect) bool { return e.op != token.ASSIGN }

// reads reports whether e reads the elements of some memory.
func (v *vectorizer) reads(e expr, k *key) bool {
	return slices.ContainsFunc(v.uses(e), func(u use) bool { return u.k == k && !u.header })
}

// mentionsIn reports whether e mentions x.
func mentionsIn(e expr, x *variable) (yes bool) {
	visit(e, func(e expr) {
		r, ok := e.(*reference)
		yes = yes || ok && r.v == x
	})
	return yes
}

// expanded returns e with the values of variables in their place.
func expanded(e expr, env map[*variable]expr) expr {
	switch x := e.(type) {
	case *reference:
		if v := env[x.v]; v != nil {
			return v
		}
	case *element:
		return &element{expanded(x.x, env), expanded(x.i, env), x.typ}
	case *unary:
		y := expanded(x.x, env)
		if x.op == token.SUB {
			return negative(y)
		}
		return &unary{x.op, y}
	case *binary:
		return &binary{x.op, expanded(x.x, env), expanded(x.y, env), x.typ}
	case *call:
		c := *x
		c.args = slices.Clone(x.args)
		for i, a := range c.args {
			c.args[i] = expanded(a, env)
		}
		return &c
	case *invocation:
		c := *x
		c.args = slices.Clone(x.args)
		for i, a := range c.args {
			c.args[i] = expanded(a, env)
		}
		return &c
	}
	return e
}

// A loopWriter writes the calls that a loop becomes.
type loopWriter struct {
	vectorizer *vectorizer
	i          *variable
	lo, hi     expr
	out        []stmt
	guarded    bool // what the calls are of may not exist if there is no iteration
	stores     bool // values of the function: a quotient is no product with a rounded inverse, and factors keep their order
}

func (w *loopWriter) put(s stmt) { w.out = append(w.out, s) }

// offset returns c of an index i + c, which is nil for 0.
func (w *loopWriter) offset(e expr) (c expr, ok bool) {
	if x, isRef := e.(*reference); isRef && x.v == w.i {
		return nil, true
	}
	b, isBinary := e.(*binary)
	if !isBinary || b.op != token.ADD && b.op != token.SUB {
		return nil, false
	}
	c, ok = w.offset(b.x)
	if ok && c == nil && !mentionsIn(b.y, w.i) {
		if b.op == token.SUB {
			return &unary{token.SUB, b.y}, true
		}
		return b.y, true
	}
	if c, ok = w.offset(b.y); ok && c == nil && b.op == token.ADD && !mentionsIn(b.x, w.i) {
		return b.x, true
	}
	return nil, false
}

// row reports whether e is an element of a slice, in the order of the loop.
func (w *loopWriter) row(e expr) (*element, bool) {
	x, ok := e.(*element)
	if !ok || mentionsIn(x.x, w.i) || !types.Identical(x.typ, float) {
		return nil, false
	}
	_, isSlice := x.x.typeOf().Underlying().(*types.Slice)
	_, isPart := x.x.(*part)
	_, inOrder := w.offset(x.i)
	return x, isSlice && !isPart && inOrder
}

// terms returns e, times a number, as a sum of terms, or nil.
func (w *loopWriter) terms(e, coef expr) []term {
	if x, ok := w.row(e); ok {
		return []term{{coef, x, nil}}
	}
	if !mentionsIn(e, w.i) {
		if coef != nil {
			if w.stores && !isPower(coef) {
				return nil
			}
			e = times(coef, e)
		}
		return []term{{e, nil, nil}}
	}
	switch e := e.(type) {
	case *unary:
		if e.op == token.SUB {
			return w.terms(e.x, negated(coef))
		}
	case *binary:
		switch e.op {
		case token.ADD, token.SUB:
			first, c := w.terms(e.x, coef), coef
			if e.op == token.SUB {
				c = negated(coef)
			}
			second := w.terms(e.y, c)
			if first == nil || second == nil {
				return nil
			}
			return append(first, second...)
		case token.MUL:
			for k, c := range []expr{e.x, e.y} {
				if mentionsIn(c, w.i) {
					continue
				}
				if coef != nil {
					if w.stores && !isPower(coef) && !isPower(c) {
						return nil
					}
					c = times(coef, c)
				}
				return w.terms([]expr{e.y, e.x}[k], c)
			}
			x, y := w.terms(e.x, nil), w.terms(e.y, nil)
			if len(x) != 1 || len(y) != 1 || x[0].y != nil || y[0].y != nil {
				return nil
			}
			c := coef
			for _, t := range []term{x[0], y[0]} {
				switch {
				case t.coef == nil:
				case w.stores && !isPower(t.coef):
					return nil
				default:
					c = times(one(c), t.coef)
				}
			}
			return []term{{c, x[0].x, y[0].x}}
		case token.QUO: // by a number
			if u, ok := e.y.(*unary); ok && u.op == token.SUB {
				return w.terms(&binary{token.QUO, e.x, u.x, e.typ}, negated(coef))
			}
			y, ok := e.y.(*literal)
			if !ok {
				return nil
			}
			if text, ok := strings.CutPrefix(y.text, "-"); ok {
				return w.terms(&binary{token.QUO, e.x, number(text), e.typ}, negated(coef))
			}
			list := w.terms(e.x, coef)
			for i, t := range list {
				c := one(t.coef)
				if !w.divides(y, isConstant(c)) {
					return nil
				}
				if isConstant(c) { // of integers, the quotient would be rounded
					list[i].coef = times(c, inverse(y))
				} else {
					list[i].coef = over(c, y)
				}
			}
			return list
		}
	}
	return nil
}

// inverse returns 1/x, as a number if that is exact.
func inverse(x *literal) expr {
	v, _ := number64(x)
	if f, _ := math.Frexp(v); math.Abs(f) == 0.5 {
		return number(strconv.FormatFloat(1/v, 'g', -1, 64))
	}
	return &binary{token.QUO, number("1.0"), x, float}
}

// divides reports whether a coefficient may be divided by y in place of its product: y is so far from 0 and from
// infinity that the coefficient is, too, which of one that is not constant is known only for y near 1.
func (w *loopWriter) divides(y *literal, constant bool) bool {
	v, ok := number64(y)
	f, n := math.Frexp(v)
	most := 10
	if constant {
		most = 500
	}
	return ok && v > 0 && max(n, -n) <= most && (!w.stores || f == 0.5)
}

// isPower reports whether a coefficient is a power of two or its negative. Products with it are exact, where they do not become too large or too small for a float64.
func isPower(coef expr) bool {
	if u, ok := coef.(*unary); ok && u.op == token.SUB {
		coef = u.x
	}
	l, ok := coef.(*literal)
	if !ok {
		return false
	}
	v, ok := number64(number(strings.TrimPrefix(l.text, "-")))
	f, _ := math.Frexp(v)
	return ok && f == 0.5
}

func negated(coef expr) expr {
	if coef == nil {
		return number("-1")
	}
	if isLit(coef, "-1") {
		return nil
	}
	return negative(coef)
}

// exponential returns x and shift of exp(x - shift), or nil.
func (w *loopWriter) exponential(e expr) (x *element, shift expr) {
	c, ok := e.(*call)
	if !ok || c.fn != "math.Exp" {
		return nil, nil
	}
	arg, shift := c.args[0], expr(number("0"))
	if b, ok := arg.(*binary); ok && b.op == token.SUB && !mentionsIn(b.y, w.i) {
		arg, shift = b.x, b.y
	}
	if x, ok = w.row(arg); !ok {
		return nil, nil
	}
	return x, shift
}

// samePair reports whether of two effects one stores an exponential and the other one adds it up.
func (w *loopWriter) samePair(a, b loopEffect) bool {
	if isElement(a.l) == isElement(b.l) {
		return false
	}
	store, sum := a, b
	if isElement(b.l) {
		store, sum = b, a
	}
	if _, inOrder := w.row(store.l); !inOrder || store.op != token.ASSIGN || sum.op != token.ADD_ASSIGN {
		return false
	}
	return sameText(a.r, b.r) || isElement(a.l) && same(a.l, b.r)
}

// slice returns the elements of a loop. The first argument of a call has their number.
func (w *loopWriter) slice(e *element, first bool) expr {
	if !isReference(e.x) {
		w.guarded = true
	}
	lo, hi := w.lo, w.hi
	if c, _ := w.offset(e.i); c != nil {
		w.guarded = true
		if u, ok := c.(*unary); ok && u.op == token.SUB {
			lo, hi = shifted(lo, token.SUB, u.x), shifted(hi, token.SUB, u.x)
		} else {
			lo, hi = shifted(lo, token.ADD, c), shifted(hi, token.ADD, c)
		}
	}
	if w.vectorizer.kept[root(e.x)] && isLit(lo, "0") { // and not in a strip
		return e.x
	}
	if !isLit(lo, "0") {
		w.guarded = true
	}
	if r, ok := e.x.(*view); ok && r.fn == "num.Row" { // panics as At does
		return &view{"num.RowPart", r.x, []expr{r.args[0], lo, hi}, r.typ}
	}
	whole := isLen(hi) && same(hi.(*call).args[0], e.x)
	switch {
	case isLit(lo, "0") && (whole || !first):
		return e.x
	case isLit(lo, "0"):
		if !w.vectorizer.natural(hi) {
			w.guarded = true
		}
		return &part{e.x, nil, hi, true}
	case whole || !first:
		return &part{x: e.x, lo: lo}
	}
	return &part{e.x, lo, hi, true}
}

// shifted returns e + c or e - c for integers.
func shifted(e expr, op token.Token, c expr) expr {
	switch {
	case isLit(c, "0"):
		return e
	case op == token.SUB && same(e, c):
		return integerLit(0)
	}
	if l, ok := c.(*literal); ok {
		var n int
		for _, d := range l.text {
			if d < '0' || d > '9' {
				return &binary{op, e, c, integer}
			}
			n = 10*n + int(d-'0')
		}
		if op == token.SUB {
			n = -n
		}
		if b, ok := e.(*binary); ok && b.op == token.SUB && n < 0 {
			if m, isLit := b.y.(*literal); isLit {
				return &binary{token.SUB, b.x, plus(m, -n), integer}
			}
		}
		return plus(e, n)
	}
	if isLit(e, "0") && op == token.ADD {
		return c
	}
	return &binary{op, e, c, integer}
}

// num returns a call of ExpSum(y, x, shift) or SumExp(x, shift).
func (w *loopWriter) num(name string, x, y, shift expr) expr {
	args := []expr{x, shift}
	if y != nil {
		args = []expr{y, x, shift}
	}
	return &call{"num." + name, numPath, args, float}
}

// sum writes the calls of an effect of terms, and reports whether there are such calls.
func (w *loopWriter) sum(e loopEffect, terms []term) bool {
	l, stores := e.l.(*element)
	exact := stores && mentionsIn(l, w.i) && e.op == token.ASSIGN && len(terms) == 2 && (terms[0].coef == nil || terms[1].coef == nil)
	for i, t := range terms {
		for _, u := range terms[:i] {
			if !exact && sameText(one(t.coef), one(negated(u.coef))) {
				return false // a difference may be much smaller than its operands
			}
		}
	}
	numCall := func(name string, args ...expr) *call { return &call{"num." + name, numPath, args, float} }
	if c := slices.IndexFunc(terms, func(t term) bool { return t.x == nil }); c >= 0 {
		// It comes last, and may not exist if there is no iteration.
		constant := terms[c].coef
		terms = slices.Delete(slices.Clone(terms), c, c+1)
		if !stores || !mentionsIn(l, w.i) || slices.ContainsFunc(terms, func(t term) bool { return t.x == nil }) || e.op != token.ASSIGN && len(terms) > 0 {
			return false
		}
		if _, ok := w.row(l); !ok {
			return false
		}
		w.guarded = w.guarded || !atom(constant)
		if e.op == token.SUB_ASSIGN {
			constant = negative(constant)
		}
		z, x := w.slice(l, false), w.slice(l, true)
		switch {
		case len(terms) == 0 && e.op == token.ASSIGN:
			w.put(&effect{numCall("Fill", x, constant)})
			return true
		case len(terms) == 1 && terms[0].coef == nil && terms[0].y == nil:
			x = w.slice(terms[0].x, true)
		case len(terms) == 1 && terms[0].coef == nil:
			w.put(&effect{numCall("MulShift", z, constant, w.slice(terms[0].x, true), w.slice(terms[0].y, false))})
			return true
		case len(terms) > 0 && !w.sum(e, terms):
			return false
		}
		w.put(&effect{numCall("Shift", z, constant, x)})
		return true
	}
	whole := func(x *element) bool { return isLen(w.hi) && same(w.hi.(*call).args[0], x.x) }
	if !stores || !mentionsIn(l, w.i) {
		for _, t := range terms {
			var r expr
			switch {
			case t.y == nil:
				r = numCall("Sum", w.slice(t.x, true))
			case whole(t.y) && !whole(t.x):
				r = numCall("Inner", w.slice(t.y, true), w.slice(t.x, false))
			default:
				r = numCall("Inner", w.slice(t.x, true), w.slice(t.y, false))
			}
			if t.coef != nil {
				w.guarded = w.guarded || !isConstant(t.coef) // Inf times the sum of nothing is NaN
				r = times(t.coef, r)
			}
			op := e.op
			if u, ok := r.(*unary); ok && u.op == token.SUB {
				op, r = flip(op), u.x
			}
			w.put(&assignment{l: e.l, op: op, r: r})
		}
		return true
	}
	if _, ok := w.row(l); !ok {
		return false
	}
	// An element comes in one term.
	var merged []term
	for _, t := range terms {
		i := slices.IndexFunc(merged, func(u term) bool {
			return same(u.x, t.x) && (u.y == nil && t.y == nil || u.y != nil && t.y != nil && same(u.y, t.y))
		})
		if i < 0 {
			merged = append(merged, t)
			continue
		}
		merged[i].coef = add(one(merged[i].coef), one(t.coef))
	}
	// A term in the memory of l, under its name or maybe under another one, comes before any other call.
	inMemory := func(t term) bool {
		return w.vectorizer.key(t.x) == w.vectorizer.key(l) || t.y != nil && w.vectorizer.key(t.y) == w.vectorizer.key(l)
	}
	first := slices.IndexFunc(merged, inMemory)
	if first >= 0 {
		if slices.ContainsFunc(merged[first+1:], inMemory) {
			return false
		}
		merged[0], merged[first] = merged[first], merged[0]
	}
	own := first >= 0 && same(merged[0].x, l) && merged[0].y == nil
	switch {
	case e.op != token.ASSIGN:
		if own && len(merged) > 1 {
			return false
		}
	case own && merged[0].coef == nil: // it is there
		merged = merged[1:]
	default:
		i := 0
		if first < 0 { // a copy is the fastest
			i = max(slices.IndexFunc(merged, func(t term) bool { return t.coef == nil && t.y == nil }), 0)
		}
		t := merged[i]
		merged = slices.Delete(merged, i, i+1)
		switch {
		case t.y != nil && t.coef != nil:
			return false
		case t.y != nil:
			w.put(&effect{numCall("Mul", w.slice(l, false), w.slice(t.x, true), w.slice(t.y, false))})
		case t.coef == nil && len(merged) > 0 && merged[0].y == nil:
			u := merged[0]
			merged = merged[1:]
			w.put(&effect{numCall("AxpyTo", w.slice(l, false), one(u.coef), w.slice(u.x, true), w.slice(t.x, false))})
		case t.coef == nil:
			w.put(&effect{&call{"copy", "", []expr{w.slice(l, true), w.slice(t.x, true)}, nil}})
		default:
			w.put(&effect{numCall("Scale", w.slice(l, false), t.coef, w.slice(t.x, true))})
		}
	}
	for _, t := range merged {
		coef := one(t.coef)
		if e.op == token.SUB_ASSIGN {
			coef = negative(coef)
		}
		if t.y != nil {
			w.put(&effect{numCall("AddMul", w.slice(l, false), coef, w.slice(t.x, true), w.slice(t.y, false))})
			continue
		}
		w.put(&effect{numCall("Axpy", w.slice(l, false), coef, w.slice(t.x, true))})
	}
	return true
}

func one(coef expr) expr {
	if coef == nil {
		return number("1")
	}
	return coef
}
