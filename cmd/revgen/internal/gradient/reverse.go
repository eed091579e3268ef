package gradient

import (
	"go/token"
	"go/types"
	"slices"
)

// A reverser writes the forward and the backward sweep of a function. The adjoint of an
// assignment v = e, with v̄ for the cotangent of v, is
//
//	ē := v̄;  v̄ = 0;  x̄ += ē·∂e/∂x for each x in e
//
// The backward sweep takes the statements in the opposite order. Where it reads a value that a
// later statement has overwritten, that statement saves the value on a tape first. The locals
// of a loop's body are computed again from what is there at the end of the body, or saved if
// they are costly or what they were computed from has changed.
type reverser struct {
	lowerer *lowerer
	*analysis
	pos     int
	inside  []*loopInfo
	block   *block // nil outside of loops
	into    *[]stmt
	hoist   []*variable        // locals of the function that are declared at its beginning
	parts   map[*variable]bool // that may have more memory after them
	nest    int                // the number of branches, outside of loops, around a statement
	bars    []*variable        // cotangents of locals outside of loops
	pairs   []*pairOf
	blocks  []*block
	defs    map[*variable]*assignment
	defPos  map[*variable]int
	sets    map[*variable]int       // how often a variable itself is set
	direct  map[int]*directly       // assignments, by their places in the function
	grad    map[*variable]*variable // the parameters of the gradient
	slots   map[*slot]*slot         // of cotangents
	base    int                     // the number of loops around the function, if it is inlined
	shadows []*variable             // parameters whose cotangents are memory of the function's own
	whiles  map[*loopInfo]*while
	body    *block // what the next block is, if it is the body of a loop
}

// A directly is an assignment to l in a block itself, not in a block inside.
type directly struct {
	block *block
	l     expr
}

// A pairOf is a pair with the place that it saves, and the block that it is in.
type pairOf struct {
	*pair
	x     expr
	block *block
}

// sweep returns both sweeps of statements. The second is in the order in which it runs.
func (r *reverser) sweep(list []stmt) (forward, back []stmt) {
	var groups [][]stmt
	for _, s := range list {
		f, b := r.statement(s)
		forward = append(forward, f...)
		groups = append(groups, b)
	}
	for _, b := range slices.Backward(groups) {
		back = append(back, b...)
	}
	return forward, back
}

// group returns what f emits, as the statements that belong to the present place.
func (r *reverser) group(f func()) []stmt {
	outer := r.into
	g := &backward{pos: r.pos, loops: slices.Clone(r.inside)}
	r.into = &g.list
	f()
	r.into = outer
	if len(g.list) == 0 {
		return nil
	}
	return []stmt{g}
}

func (r *reverser) put(s stmt) { *r.into = append(*r.into, s) }

func (r *reverser) newPair(x expr) *pair {
	p := &pair{pos: r.pos, loops: slices.Clone(r.inside), slot: slot{level: r.lowerer.depth}}
	r.pairs = append(r.pairs, &pairOf{p, x, r.block})
	return p
}

func (r *reverser) statement(s stmt) (forward, back []stmt) {
	r.pos++
	switch s := s.(type) {
	case *assignment:
		return r.assignment(s)
	case *swap:
		forward = []stmt{s}
		back = r.group(func() { r.put(s) })
		for _, e := range []expr{s.x, s.y} {
			r.record(e, r.pos)
			if ref, ok := e.(*reference); ok {
				r.sets[ref.v]++
			}
		}
		if x, y := r.bar(s.x), r.bar(s.y); x != nil {
			b, c := r.statement(&swap{x, y})
			forward, back = append(forward, b...), append(back, c...)
		}
		return forward, back
	case *growth:
		return r.growth(s)
	case *kernel:
		return r.kernel(s)
	case *product:
		return r.product(s)
	case *running:
		return r.running(s)
	case *push:
		return r.push(s)
	case *pop:
		return r.pop(s)
	case *cleared:
		return r.cleared(s)
	case *effect:
		if e, ok := s.call.(*invocation); ok {
			panic(Refusal{Msg: e.of.name + " calls itself: its derivatives have none in reverse"})
		}
	case *branch:
		return r.branch(s)
	case *ranged:
		return r.ranged(s)
	case *while:
		return r.while(s)
	}
	return []stmt{s}, nil
}

// growth appends elements. Afterwards the slice may lie elsewhere, with its cotangents.
func (r *reverser) growth(s *growth) (forward, back []stmt) {
	x := s.xs[0]
	note := func(e expr) {
		r.record(e, r.pos)
		if ref, ok := e.(*reference); ok {
			r.sets[ref.v]++
		}
	}
	note(x)
	if r.parts[root(x)] {
		panic(Refusal{Msg: "append to a part of another slice may overwrite that slice: make a slice of its own"})
	}
	p := r.newPair(x)
	if v, ok := x.(*reference); ok && r.alone(v.v) {
		return r.shrinking(v, s.n, p)
	}
	g := &growth{[]expr{x}, s.n, true}
	forward = []stmt{&save{x: x, pair: p}}
	back = r.group(func() { r.put(&restore{x: x, pair: p}) })
	if bar := r.bar(x); bar != nil {
		note(bar)
		g.xs = append(g.xs, bar)
		f := &fold{bar, &slot{level: r.lowerer.depth}}
		forward = append(forward, &push{x: bar, slot: f.slot})
		back = append(r.group(func() { r.put(f) }), back...)
	}
	return append(forward, g), back
}

// shrinking appends zeros to a slice that alone knows its memory. The backward sweep takes its last
// elements away, in place of the slice from before: nobody sees where it lies.
func (r *reverser) shrinking(x *reference, more expr, p *pair) (forward, back []stmt) {
	n := ref(&variable{name: r.lowerer.unique("n"), typ: integer, scope: slices.Clone(r.inside)})
	shorter := func(e expr) *assignment { return &assignment{l: e, op: token.ASSIGN, r: &part{x: e, hi: n}} }
	forward = []stmt{&growth{[]expr{x}, more, false}}
	back = r.group(func() {
		r.put(&assignment{l: n, op: token.ASSIGN, r: &binary{token.SUB, length(x), more, integer}, define: true})
		r.put(&restore{x: x, pair: p, inverse: shorter(x)})
		if bar := r.bar(x); bar != nil {
			r.record(bar, r.pos)
			r.sets[root(bar)]++
			forward = append(forward, &growth{[]expr{bar}, more, false})
			r.put(shorter(bar))
		}
	})
	return forward, back
}

// bar returns the place of the cotangent of a place, or nil if it has none.
func (r *reverser) bar(e expr) expr {
	v := root(e)
	if v == nil || v.bar == nil || !slices.ContainsFunc(r.held(e), (*key).active) {
		return nil
	}
	return replaceRoot(e, v.bar)
}

func replaceRoot(e expr, v *variable) expr {
	switch x := e.(type) {
	case *reference:
		return ref(v)
	case *element:
		return &element{replaceRoot(x.x, v), x.i, x.typ}
	case *field:
		return &field{replaceRoot(x.x, v), x.name, x.typ}
	case *target:
		return &target{replaceRoot(x.x, v), x.typ}
	case *part:
		return &part{replaceRoot(x.x, v), x.lo, x.hi, x.bounded}
	case *view:
		return &view{x.fn, replaceRoot(x.x, v), x.args, x.typ}
	}
	return e
}

// declared notes a variable of the present block.
func (r *reverser) declared(v *variable, s *assignment) {
	r.defs[v], r.defPos[v] = s, r.pos
	switch {
	case r.block != nil:
		r.block.vars = append(r.block.vars, v)
	case r.nest > 0:
		r.hoist = append(r.hoist, v)
		v.hoisted = true
		s.define = false
		if s.r == nil {
			s.r = zeroOf(v.typ)
		}
	}
}

// zeroOf returns the zero of a type, or nil if it has no short name.
func zeroOf(t types.Type) expr {
	switch {
	case isFloat(t), isInteger(t):
		return lit("0", t)
	case isBoolean(t):
		return lit("false", t)
	case isMatrix(t):
		return lit("num.Matrix{}", t)
	case isHeader(t):
		return lit("nil", t)
	}
	return nil
}

func (r *reverser) assignment(s *assignment) (forward, back []stmt) {
	t := s.l.typeOf()
	barOf := r.bar(s.l)
	if s.define {
		v := s.l.(*reference).v
		def := &assignment{l: s.l, op: s.op, r: s.r, define: true}
		r.declared(v, def)
		if def.r != nil || def.define {
			forward = []stmt{def}
		}
		switch {
		case v.bar == nil:
		case hasHeaders(t):
			if barOf == nil && isHeader(t) {
				break
			}
			if !isHeader(t) { // its slices are set one by one
				barOf = ref(v.bar)
			}
			b := &assignment{l: barOf, op: token.ASSIGN, define: true}
			if isHeader(t) {
				b.r = r.barHeader(s.r)
			}
			r.declared(v.bar, b)
			if b.r != nil || b.define {
				forward = append(forward, b)
			}
		case r.block == nil:
			r.bars = append(r.bars, v.bar)
		}
	} else {
		if ref, ok := s.l.(*reference); ok {
			r.sets[ref.v]++
		}
		r.record(s.l, r.pos)
		p := r.newPair(s.l)
		res := &restore{x: s.l, pair: p}
		switch {
		case isInteger(t) && s.op != token.ASSIGN && steady(s.r) && !r.mentions(s.r, s.l):
			res.inverse = &assignment{l: s.l, op: flip(s.op), r: s.r}
		case r.ends(s):
			res.inverse = &assignment{l: s.l, op: token.ASSIGN, r: lit("false", boolean)}
		default:
			forward = append(forward, &save{x: s.l, pair: p})
		}
		forward = append(forward, s)
		back = r.group(func() { r.put(res) })
		if barOf != nil && isHeader(t) {
			if ref, ok := barOf.(*reference); ok {
				r.sets[ref.v]++
			}
			r.record(barOf, r.pos)
			p := r.newPair(barOf)
			// First, because bounds may be of s.l.
			forward = slices.Insert(forward, 0, stmt(&save{x: barOf, pair: p}), stmt(&assignment{l: barOf, op: token.ASSIGN, r: r.barHeader(s.r)}))
			back = append(back, r.group(func() { r.put(&restore{x: barOf, pair: p}) })...)
		}
		if r.block != nil { // after both have come back
			r.direct[r.pos] = &directly{r.block, s.l}
			back = append(back, &locals{r.block, true, r.pos})
		}
	}
	if barOf == nil || !isFloat(t) || s.r == nil {
		return forward, back
	}
	return forward, append(back, r.group(func() { r.adjointOf(s, barOf) })...)
}

// steady reports whether an integer is computed from variables and lengths alone.
func steady(e expr) bool {
	yes := true
	visit(e, func(e expr) {
		switch e := e.(type) {
		case *literal, *reference:
		case *binary:
			yes = yes && (e.op == token.ADD || e.op == token.SUB || e.op == token.MUL)
		case *call:
			yes = yes && (e.fn == "len" && isReference(e.args[0]) || e.fn == conversion)
		default:
			yes = false
		}
	})
	return yes
}

// barHeader returns the cotangents that belong to a slice.
func (r *reverser) barHeader(e expr) expr {
	if c, ok := e.(*call); ok && c.fn == "make" {
		return &call{"make", "", c.args, c.typ}
	}
	switch e.(type) {
	case nil, *literal:
		return e
	}
	if b := r.bar(e); b != nil {
		if p, ok := e.(*part); ok && isAggregate(p.x.typeOf()) && !sharesMemory(p.x) && !root(p).param {
			panic(Refusal{Msg: "a part of an array in a struct is not differentiated: give the array a name"})
		}
		return b
	}
	panic(Refusal{Msg: "a slice is sometimes a variable and sometimes a constant: the gradient has no place for the constant's derivatives"})
}

// adjointOf emits what an assignment does to cotangents.
func (r *reverser) adjointOf(s *assignment, barOf expr) {
	g := barOf
	active := r.active(s.r)
	if s.op != token.ASSIGN {
		if !active {
			return
		}
		if r.mentions(s.r, s.l) || !atom(g) && !isPlace(s.r) {
			g = r.copied(g)
		}
		if s.op == token.SUB_ASSIGN {
			g = negative(g)
		}
		r.adjoint(s.r, g, nil)
		return
	}
	if s.define {
		if active {
			r.adjoint(s.r, g, s.l)
		}
		return
	}
	zero := &assignment{l: barOf, op: token.ASSIGN, r: lit("0", s.l.typeOf())}
	if !active {
		r.put(zero)
		return
	}
	if !r.mentions(s.r, s.l) && atom(g) {
		r.adjoint(s.r, g, nil)
		r.put(zero)
		return
	}
	g = r.copied(g)
	r.put(zero)
	r.adjoint(s.r, g, nil)
}

// named gives a value a name in the backward sweep.
func (r *reverser) named(name string, e expr) expr {
	if atom(e) {
		return e
	}
	return r.copyAs(name, e)
}

// copied returns the value that a place has now.
func (r *reverser) copied(e expr) expr { return r.copyAs("g", e) }

func (r *reverser) copyAs(name string, e expr) expr {
	v := &variable{name: r.lowerer.unique(name), typ: e.typeOf(), scope: r.inside}
	r.put(&assignment{l: ref(v), op: token.ASSIGN, r: e, define: true})
	return ref(v)
}

// adjoint emits x̄ += g·∂e/∂x for each x in e. value is e, if that has a name.
func (r *reverser) adjoint(e, g expr, value expr) {
	if !r.active(e) {
		return
	}
	switch e := e.(type) {
	case *reference, *element, *field, *target:
		op := token.ADD_ASSIGN
		if u, ok := g.(*unary); ok && u.op == token.SUB {
			op, g = token.SUB_ASSIGN, u.x
		}
		r.put(&assignment{l: r.bar(e), op: op, r: g})
	case *unary:
		r.adjoint(e.x, negative(g), nil)
	case *binary:
		x, y := r.active(e.x), r.active(e.y)
		if x && y || !atom(g) && (x && !isPlace(e.x) || y && !isPlace(e.y)) {
			g = r.namedFactor(g)
		}
		switch e.op {
		case token.ADD:
			r.adjoint(e.x, g, nil)
			r.adjoint(e.y, g, nil)
		case token.SUB:
			r.adjoint(e.x, g, nil)
			r.adjoint(e.y, negative(g), nil)
		case token.MUL:
			if x && same(e.x, e.y) {
				r.adjoint(e.x, times(times(number("2"), g), e.y), nil)
				break
			}
			if x {
				r.adjoint(e.x, times(g, e.y), nil)
			}
			if y {
				r.adjoint(e.y, times(g, e.x), nil)
			}
		case token.QUO:
			if isLit(e.x, "1") {
				if value == nil {
					value = r.named("q", e)
				}
				r.adjoint(e.y, negative(times(times(g, value), value)), nil)
				return
			}
			if y {
				g = r.namedFactor(over(g, e.y))
				r.adjoint(e.x, g, nil)
				if value == nil {
					value = e
				}
				r.adjoint(e.y, negative(times(g, value)), nil)
				return
			}
			r.adjoint(e.x, over(g, e.y), nil)
		}
	case *call:
		r.adjointCall(e, g, value)
	case *invocation:
		r.adjointInvocation(e, g)
	}
}

// same reports whether two places are the same.
func same(x, y expr) bool {
	return isPlace(x) && isPlace(y) && sameText(x, y)
}

// sameText reports whether two expressions are written in the same way.
func sameText(x, y expr) bool { return text(x) == text(y) }

// text returns an expression as it is written.
func text(e expr) string {
	w := writer{imports: &imports{}}
	return w.expr(e, 0)
}

// namedFactor gives a value a name, but for its sign.
func (r *reverser) namedFactor(g expr) expr {
	if u, ok := g.(*unary); ok && u.op == token.SUB {
		return negative(r.named("g", u.x))
	}
	return r.named("g", g)
}

func (r *reverser) adjointCall(e *call, g, value expr) {
	switch e.fn {
	case "max", "min":
		x, y := e.args[0], e.args[1]
		op := token.GEQ
		if e.fn == "min" {
			op = token.LEQ
		}
		first := &binary{op, x, y, boolean}
		if types.Identical(e.typ, float) && !r.active(y) {
			r.adjoint(x, where(first, g), nil)
			return
		}
		if types.Identical(e.typ, float) && !r.active(x) {
			r.adjoint(y, where(&unary{token.NOT, first}, g), nil)
			return
		}
		b := &branch{cond: first}
		outer := r.into
		r.into = &b.then
		r.adjoint(x, g, nil)
		r.into = &b.els
		r.adjoint(y, g, nil)
		r.into = outer
		r.put(b)
		return
	}
	d, ok := derivativeOf(e)
	if !ok { // a conversion
		x := e.args[0]
		if !types.Identical(x.typeOf(), e.typ) {
			g = convert(g, x.typeOf())
		}
		r.adjoint(x, g, nil)
		return
	}
	if len(e.args) > 1 {
		g = r.namedFactor(g)
	}
	if value == nil {
		value = e
	}
	var which []int
	for i, x := range e.args {
		if r.active(x) {
			which = append(which, i)
		}
	}
	for i, d := range d.partials(e.args, value) {
		if slices.Contains(which, i) {
			r.adjoint(e.args[i], scaled(g, d), nil)
		}
	}
}

// where returns g, or 0 where a condition does not hold. It takes no branch, which a processor could
// not foresee.
func where(cond, g expr) expr { return &call{"num.Where", numPath, []expr{cond, g}, float} }

// scaled returns g·d, and g/y if d is 1/y.
func scaled(g, d expr) expr {
	switch d := d.(type) {
	case *unary:
		if d.op == token.SUB {
			return negative(scaled(g, d.x))
		}
	case *binary:
		if d.op == token.QUO && isLit(d.x, "1") {
			return over(g, d.y)
		}
	case *call:
		if d.fn == "num.Ratio" && isLit(d.args[0], "1") {
			if u, ok := g.(*unary); ok {
				return negative(scaled(u.x, d))
			}
			return &call{d.fn, d.path, []expr{g, d.args[1]}, d.typ}
		}
	}
	return times(g, d)
}

// scoped reads the statements of a block, which in loops has locals of its own.
func (r *reverser) scoped(list []stmt) (forward, back []stmt) {
	outer, b := r.block, r.body
	r.body = nil
	if len(r.inside) > r.base {
		if b == nil {
			b = &block{}
		}
		b.loops, b.outer, r.block = slices.Clone(r.inside), outer, b
		r.blocks = append(r.blocks, r.block)
	} else {
		r.nest++
		defer func() { r.nest-- }()
	}
	forward, back = r.sweep(list)
	if b := r.block; b != outer {
		r.pos++
		b.pos = r.pos
		forward = append(forward, &locals{block: b})
		start := []stmt{&locals{block: b, back: true}}
		for _, v := range b.vars {
			if v.bar != nil && !hasHeaders(v.typ) {
				start = append(start, &assignment{l: ref(v.bar), op: token.ASSIGN, define: true})
			}
		}
		back = append(start, back...)
	}
	r.block = outer
	return forward, back
}

// ends reports whether an assignment ends the loop that it is in: it sets what the loop's condition wants to be
// false, and nothing else in the loop does.
func (r *reverser) ends(s *assignment) bool {
	if len(r.inside) == 0 || !isReference(s.l) || !isLit(s.r, "true") {
		return false
	}
	w := r.whiles[r.inside[len(r.inside)-1]]
	if w == nil || !wantsFalse(w.cond, root(s.l)) {
		return false
	}
	n := 0
	each(w.body, func(t stmt) {
		sets(t, func(e expr, _ bool) {
			if isVariable(e, root(s.l)) {
				n++
			}
		})
	})
	return n == 1
}

// wantsFalse reports whether a condition does not hold if v does.
func wantsFalse(cond expr, v *variable) bool {
	switch e := cond.(type) {
	case *unary:
		return e.op == token.NOT && isVariable(e.x, v)
	case *binary:
		return e.op == token.LAND && (wantsFalse(e.x, v) || wantsFalse(e.y, v))
	}
	return false
}

func (r *reverser) branch(s *branch) (forward, _ []stmt) {
	cond := s.cond
	b, c := &branch{}, &branch{}
	// What a branch that ends a loop sets says whether it was taken. A condition that the branch changes is kept.
	flag := func(list []stmt) *assignment {
		i := slices.IndexFunc(list, func(s stmt) bool { a, ok := s.(*assignment); return ok && r.ends(a) })
		if i < 0 {
			return nil
		}
		return list[i].(*assignment)
	}
	back := cond
	if a := flag(s.then); a != nil {
		back = a.l
	} else if a := flag(s.els); a != nil {
		back = inverted(a.l)
	} else if r.changesIn(s, cond) {
		v := r.lowerer.variable("taken", boolean)
		v.scope = r.inside
		def := &assignment{l: ref(v), op: token.ASSIGN, r: cond, define: true}
		r.declared(v, def)
		forward = append(forward, def)
		cond, back = ref(v), ref(v)
	}
	b.cond, c.cond = cond, back
	b.then, c.then = r.scoped(s.then)
	b.els, c.els = r.scoped(s.els)
	r.pos++
	forward = append(forward, b)
	return forward, r.group(func() { r.put(c) })
}

// changesIn reports whether statements change what e reads.
func (r *reverser) changesIn(s *branch, e expr) (yes bool) {
	uses := r.uses(e)
	f := func(s stmt) {
		switch s := s.(type) {
		case *assignment:
			k := r.key(s.l)
			yes = yes || slices.ContainsFunc(uses, func(u use) bool {
				return u.k == k && (isHeader(s.l.typeOf()) || !u.header)
			})
		case *kernel:
			for _, e := range s.changed() {
				k := r.key(e)
				yes = yes || slices.ContainsFunc(uses, func(u use) bool { return u.k == k && !u.header })
			}
		case *product:
			k := r.key(s.c)
			yes = yes || slices.ContainsFunc(uses, func(u use) bool { return u.k == k && !u.header })
		case *growth:
			k := r.key(s.xs[0])
			yes = yes || slices.ContainsFunc(uses, func(u use) bool { return u.k == k })
		case *swap:
			k := r.key(s.x)
			yes = yes || slices.ContainsFunc(uses, func(u use) bool { return u.k == k })
		}
	}
	each(s.then, f)
	each(s.els, f)
	return yes
}

// loop returns both sweeps of the body of a loop, which is a ranged one if of is not nil.
func (r *reverser) loop(info *loopInfo, of *ranged, body []stmt) (forward, back []stmt) {
	r.inside, r.body = append(r.inside, info), &block{of: of, body: true}
	forward, back = r.scoped(body)
	r.inside = slices.Clone(r.inside[:len(r.inside)-1])
	r.pos++
	return forward, back
}

func (r *reverser) ranged(s *ranged) (forward, back []stmt) {
	a, b := *s, *s
	a.body, b.body = r.loop(s.info, s, s.body)
	n := &literal{itoa(s.step), s.v.typ}
	span := func(x, y expr) expr { return &binary{token.SUB, x, y, s.v.typ} }
	op := func(t token.Token, x, y expr) expr { return &binary{t, x, y, s.v.typ} }
	switch {
	case s.v.name == "_": // it counts iterations
	case s.step == 1:
		b.lo, b.hi, b.step = plus(s.hi, -1), s.lo, -1
	case s.step == -1:
		b.lo, b.hi, b.step = s.hi, plus(s.lo, 1), 1
	case s.step > 0: // the last is lo + ((hi-lo+step-1)/step - 1)·step
		count := op(token.QUO, plus(span(s.hi, s.lo), s.step-1), n)
		b.lo, b.hi, b.step = op(token.ADD, s.lo, op(token.MUL, span(count, lit("1", s.v.typ)), n)), s.lo, -s.step
	default:
		n = &literal{itoa(-s.step), s.v.typ}
		count := op(token.QUO, plus(span(s.lo, s.hi), -s.step), n)
		b.lo, b.hi, b.step = op(token.SUB, s.lo, op(token.MUL, span(count, lit("1", s.v.typ)), n)), plus(s.lo, 1), -s.step
	}
	return []stmt{&a}, r.group(func() { r.put(&b) })
}

func (r *reverser) while(s *while) (forward, back []stmt) {
	a, v := *s, s.count
	if v == nil {
		v = r.lowerer.variable("count", integer)
		v.scope = r.inside
		def := &assignment{l: ref(v), op: token.ASSIGN, r: integerLit(0), define: true}
		r.declared(v, def)
		forward = []stmt{def}
	}
	r.sets[v]++
	a.count = v
	r.whiles[s.info] = s
	b := &ranged{v: &variable{name: "_", typ: integer}, lo: integerLit(0), hi: ref(v), step: 1, info: s.info}
	a.body, b.body = r.loop(s.info, nil, s.body)
	return append(forward, &a), r.group(func() { r.put(b) })
}
