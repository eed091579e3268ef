package gradient

import (
	"go/token"
	"slices"
)

// A tangenter adds tangents to statements, which may be both sweeps of a gradient. The tangent
// of v = e, with v̇ for the derivative of v along the direction, is
//
//	v̇ = Σ ẋ·∂e/∂x over the x in e
//
// It stands before the statement, because e may read the old v. The tangent of a value on a
// tape is on a tape of its own.
type tangenter struct {
	lowerer *lowerer
	*analysis
	dots  map[*variable]*variable
	slots map[*slot]*slot
	out   []stmt
	start []stmt // the tangents of parameters that are numbers, which begin as zeros

	roots map[*variable]bool        // whose values are square roots
	lanes []map[*variable]*variable // dots of several directions, or nil
	alone bool                      // some statement has one direction alone
}

// tangents returns statements with their tangents in several directions, or false if they have one
// alone.
func (l *lowerer) tangents(list []stmt, lanes []map[*variable]*variable) (out []stmt, ok bool) {
	t := &tangenter{lowerer: l, analysis: &analysis{keys: map[path]*key{}}, lanes: lanes}
	for v := range lanes[0] {
		t.seeds = append(t.seeds, v)
	}
	t.begin(list)
	out = t.list(list)
	return slices.Concat(t.start, out), !t.alone
}

// several adds the tangents in several directions to a statement.
func (t *tangenter) several(s stmt) {
	var before, after []stmt
	for _, t.dots = range t.lanes {
		outer := t.out
		t.out = nil
		switch s := s.(type) {
		case *assignment:
			t.assignment(s)
		case *swap:
			t.put(s)
			if d := t.dot(s.x); d != nil {
				t.put(&swap{d, t.dot(s.y)})
			}
		case *effect:
			if c, ok := s.call.(*call); ok && c.fn == "panic" {
				t.put(s)
			}
		}
		list := t.out
		t.out = outer
		i := slices.Index(list, s)
		if i < 0 {
			t.alone = true
			return
		}
		before, after = append(before, list[:i]...), append(after, list[i+1:]...)
	}
	t.out = slices.Concat(t.out, before, []stmt{s}, after)
}

// slot returns the slot of the tangents of what is in a slot.
func (t *tangenter) slot(s *slot) *slot {
	if t.slots[s] == nil {
		t.slots[s] = &slot{level: s.level}
	}
	return t.slots[s]
}

// tangent returns both sweeps with their tangents. dots has the tangents of parameters.
func (l *lowerer) tangent(forward, back []stmt, dots map[*variable]*variable) (first, second []stmt) {
	t := &tangenter{lowerer: l, analysis: &analysis{keys: map[path]*key{}}, dots: dots, slots: map[*slot]*slot{}}
	for v := range dots {
		t.seeds = append(t.seeds, v)
	}
	list := slices.Concat(forward, back)
	t.begin(list)
	first, second = t.list(forward), t.list(back)
	return slices.Concat(t.start, first), second
}

// begin finds what has tangents.
func (t *tangenter) begin(list []stmt) {
	t.share(list, nil)
	t.activate(list, nil)
	t.roots = map[*variable]bool{}
	each(list, func(s stmt) {
		if a, ok := s.(*assignment); ok && isReference(a.l) {
			v := root(a.l)
			c, ok := a.r.(*call)
			isRoot, set := t.roots[v]
			t.roots[v] = (isRoot || !set) && !v.param && a.op == token.ASSIGN && ok && c.fn == "math.Sqrt"
		}
	})
}

func (t *tangenter) put(s stmt) { t.out = append(t.out, s) }

func (t *tangenter) list(list []stmt) []stmt {
	outer := t.out
	t.out = nil
	for _, s := range list {
		t.statement(s)
	}
	out := t.out
	t.out = outer
	return out
}

// dot returns the place of the tangent of a place, or nil if that is zero.
func (t *tangenter) dot(e expr) expr {
	v := root(e)
	if v == nil || !hasFloats(e.typeOf()) {
		return nil
	}
	varied := t.key(e).varied
	if _, ok := e.(*reference); ok && isAggregate(e.typeOf()) {
		for p, k := range t.keys {
			varied = varied || p.v == v && k.root().varied
		}
	}
	if !varied {
		return nil
	}
	return replaceRoot(e, t.dotOf(v))
}

func (t *tangenter) dotOf(v *variable) *variable {
	d := t.dots[v]
	if d == nil {
		if v.param && !isFloat(v.typ) {
			panic(Refusal{Msg: v.name + " gets values that depend on the direction, but has no tangent"})
		}
		d = &variable{name: t.lowerer.unique(v.name + "Dot"), typ: v.typ, of: v, scope: v.scope}
		if v.param {
			t.start = append(t.start, &assignment{l: ref(d), op: token.ASSIGN, define: true})
		}
		t.dots[v] = d
	}
	return d
}

func (t *tangenter) statement(s stmt) {
	switch s.(type) {
	case *branch, *ranged, *while:
	default:
		if t.lanes != nil {
			t.several(s)
			return
		}
	}
	switch s := s.(type) {
	case *assignment:
		t.assignment(s)
	case *branch, *ranged, *while:
		t.put(descend(s, t.list))
	case *kernel:
		t.kernel(s)
	case *product:
		t.product(s)
	case *cleared:
		if d := t.dot(s.x); d != nil {
			t.put(&cleared{d})
		}
		t.put(s)
	case *growth:
		xs := slices.Clone(s.xs)
		for _, x := range s.xs {
			if d := t.dot(x); d != nil {
				xs = append(xs, d)
			}
		}
		t.put(&growth{xs, s.n, s.keep})
	case *fold:
		if d := t.dot(s.x); d != nil {
			t.put(&fold{d, t.slot(s.slot)})
		}
		t.put(s)
	case *swap:
		t.put(s)
		if d := t.dot(s.x); d != nil {
			t.put(&swap{d, t.dot(s.y)})
		}
	case *push:
		t.put(s)
		if d := t.dot(s.x); d != nil {
			t.put(&push{d, t.slot(s.slot), s.whole})
		}
	case *pop:
		if d := t.dot(s.x); d != nil {
			t.put(&pop{d, s.define, t.slot(s.slot), s.whole, s.adds})
		}
		t.put(s)
	case *effect:
		t.effect(s)
	default:
		t.put(s)
	}
}

func (t *tangenter) assignment(s *assignment) {
	d := t.dot(s.l)
	switch {
	case isAggregate(s.l.typeOf()): // a definition
		t.put(s)
		if d != nil {
			t.put(&assignment{l: d, op: token.ASSIGN, define: true})
		}
		return
	case d == nil:
		t.put(s)
		return
	case !isFloat(s.l.typeOf()):
		dot := &assignment{l: d, op: s.op, r: t.header(s.r), define: s.define}
		if s.define {
			t.put(s)
			t.put(dot)
		} else { // bounds may be of s.l
			t.put(dot)
			t.put(s)
		}
		return
	}
	e := expr(lit("0", s.l.typeOf()))
	if s.r != nil {
		if e, ok := s.r.(*invocation); ok && t.active(e) {
			t.invocation(s, e, d)
			return
		}
		if c, ok := s.r.(*call); ok && (c.fn == "max" || c.fn == "min") {
			t.extreme(s, c, d)
			return
		}
		if s.define { // what it computes has a name then
			t.put(s)
			t.put(&assignment{l: d, op: s.op, r: t.derivative(s.r, s.l), define: true})
			return
		}
		e = t.derivative(s.r, nil)
	}
	if s.op == token.ASSIGN && !same(d, e) || s.op != token.ASSIGN && !isLit(e, "0") { // x = x + 1 keeps the tangent
		t.put(&assignment{l: d, op: s.op, r: e, define: s.define})
	}
	t.put(s)
}

// header returns the tangents that belong to a slice.
func (t *tangenter) header(e expr) expr {
	if e == nil {
		return nil
	}
	if c, ok := e.(*call); ok && c.fn == "make" {
		return c
	}
	if d := t.dot(e); d != nil {
		return d
	}
	if _, ok := e.(*literal); ok {
		return e
	}
	panic(Refusal{Msg: "a slice is sometimes a variable and sometimes a constant: the derivative has no place for the constant's tangents"})
}

func (t *tangenter) extreme(s *assignment, c *call, d expr) {
	x, y := c.args[0], c.args[1]
	op := token.GEQ
	if c.fn == "min" {
		op = token.LEQ
	}
	if s.define {
		t.put(&assignment{l: d, op: token.ASSIGN, r: lit("0", d.typeOf()), define: true})
	}
	first := expr(&binary{op, x, y, boolean})
	then := []stmt{&assignment{l: d, op: token.ASSIGN, r: t.derivative(x, nil)}}
	els := []stmt{&assignment{l: d, op: token.ASSIGN, r: t.derivative(y, nil)}}
	switch {
	case same(x, s.l): // m = max(m, y)
		first, then, els = inverted(first), els, nil
	case same(y, s.l):
		els = nil
	}
	t.put(&branch{first, then, els})
	t.put(s)
}

// derivative returns the tangent of e. value is e, if that has a name.
func (t *tangenter) derivative(e, value expr) expr {
	zero := lit("0", e.typeOf())
	if !t.active(e) {
		return zero
	}
	switch e := e.(type) {
	case *reference, *element, *field, *target:
		return t.dot(e)
	case *unary:
		return negative(t.derivative(e.x, nil))
	case *binary:
		dx, dy := t.derivative(e.x, nil), t.derivative(e.y, nil)
		switch e.op {
		case token.ADD:
			return add(dx, dy)
		case token.SUB:
			if isLit(dx, "0") {
				return negative(dy)
			}
			return subtract(dx, dy)
		case token.MUL:
			if same(e.x, e.y) {
				return times(times(number("2"), e.x), dx)
			}
			return add(times(dx, e.y), times(e.x, dy))
		case token.QUO:
			if value == nil {
				value = e
			}
			if isLit(dy, "0") {
				return over(dx, e.y)
			}
			if isLit(e.x, "1") {
				if isReference(e.y) && t.roots[root(e.y)] { // its square serves all directions
					return negative(&call{"num.SquareTimes", numPath, []expr{value, dy}, float})
				}
				return negative(times(times(value, dy), value))
			}
			if isLit(dx, "0") {
				return negative(over(times(value, dy), e.y))
			}
			return over(subtract(dx, times(value, dy)), e.y)
		}
	case *call:
		if value == nil {
			value = e
		}
		d, ok := derivativeOf(e)
		if !ok {
			return &call{e.fn, e.path, []expr{t.derivative(e.args[0], nil)}, e.typ}
		}
		sum := zero
		partials := d.partials(e.args, value)
		for i, x := range e.args {
			if t.active(x) {
				sum = add(sum, scaled(t.derivative(x, nil), partials[i]))
			}
		}
		return sum
	}
	return zero
}
