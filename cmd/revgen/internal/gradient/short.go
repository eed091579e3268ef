package gradient

import (
	"cmp"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
)

// Slices and arrays of few elements become a local for each element, if all indices are known once the
// loops over them are written out:
//
//	g := make([]float64, 2)
//	for i := range g {        g0 := x[0]
//		g[i] = x[i]       g1 := x[1]
//	}
//
// Locals stay in registers, have no bounds to check and need no memory from the pool, and each depends
// on the variables of the derivative or not. Second names of slices go first: most are parameters of
// functions that are inlined.

const (
	few  = 8  // the most elements, and the most iterations of a loop that is written out
	long = 64 // the most statements that it becomes

	tinyLength = 12 // the most statements of a loop that is written out without short slices
)

// A shortener knows which variables keep their values.
type shortener struct {
	f       *function
	defs    map[*variable]*assignment
	changed map[*variable]bool
	loops   map[*variable]*ranged
	whole   map[*variable]bool // slices that must stay slices
	wanted  map[*ranged]*variable
}

// shorten replaces short slices and arrays in a function.
func (f *function) shorten() {
	written := map[*variable]bool{} // variables of loops that are written out
	for {
		s := &shortener{
			f, map[*variable]*assignment{}, map[*variable]bool{}, map[*variable]*ranged{}, map[*variable]bool{}, map[*ranged]*variable{},
		}
		each(f.out, s.look)
		if s.renamed() || s.writtenOut(written) || s.split(written) || s.fields() {
			continue
		}
		break
	}
	list, end := f.shared(f.out, []stmt{&returned{f.results}}, false)
	f.out, f.results = list, end[len(end)-1].(*returned).values
	f.out = append(f.out, end[:len(end)-1]...)
}

// look notes what a statement defines and changes.
func (s *shortener) look(st stmt) {
	change := func(e expr) {
		if x, ok := e.(*reference); ok {
			s.changed[x.v] = true
		}
	}
	switch st := st.(type) {
	case *assignment:
		x, ok := st.l.(*reference)
		if ok && st.define && s.defs[x.v] == nil {
			s.defs[x.v] = st
		} else {
			change(st.l)
		}
	case *swap:
		change(st.x)
		change(st.y)
	case *growth:
		for _, x := range st.xs {
			change(x)
		}
	case *fold:
		change(st.x)
	case *pop:
		change(st.x)
	case *ranged:
		s.loops[st.v] = st
	case *while:
		if st.count != nil {
			s.changed[st.count] = true
		}
	}
}

// definition returns what a variable is, if it keeps that value.
func (s *shortener) definition(v *variable) expr {
	if d := s.defs[v]; d != nil && !s.changed[v] {
		return d.r
	}
	return nil
}

// rewrite applies g to all expressions of the function.
func (s *shortener) rewrite(g func(expr) expr) {
	s.f.out = rewrittenList(s.f.out, g, sameLoop)
	for i, e := range s.f.results {
		s.f.results[i] = rewritten(e, g)
	}
	for i, c := range s.f.foreign {
		s.f.foreign[i].call = rewritten(c.call, g).(*call)
	}
}

// renamed replaces second names of slices, and reports whether there were any.
func (s *shortener) renamed() bool {
	names := map[*variable]*variable{}
	for v := range s.defs {
		x, ok := s.definition(v).(*reference)
		if _, isSlice := v.typ.Underlying().(*types.Slice); ok && isSlice && !s.changed[x.v] && types.Identical(v.typ, x.v.typ) {
			names[v] = x.v
		}
	}
	if len(names) == 0 {
		return false
	}
	s.f.out = spliced(s.f.out, func(st stmt) ([]stmt, bool) {
		a, ok := st.(*assignment)
		return nil, ok && a.define && names[root(a.l)] != nil
	})
	s.rewrite(func(e expr) expr {
		for x, ok := e.(*reference); ok && names[x.v] != nil; x = e.(*reference) {
			e = &reference{names[x.v], x.slope}
		}
		return e
	})
	return true
}

// spliced returns statements in which others stand in the place of those for which f returns true.
func spliced(list []stmt, f func(stmt) ([]stmt, bool)) (out []stmt) {
	for _, s := range list {
		if others, ok := f(s); ok {
			out = append(out, others...)
			continue
		}
		out = append(out, descend(s, func(list []stmt) []stmt { return spliced(list, f) }))
	}
	return out
}

// value returns an int that is known. Other integers may wrap around.
func (s *shortener) value(e expr) (n int, ok bool) {
	if e == nil || e.typeOf() == nil || e.typeOf().Underlying() != integer {
		return 0, false
	}
	switch e := e.(type) {
	case *literal:
		n, err := strconv.ParseInt(e.text, 0, 32)
		return int(n), err == nil
	case *reference:
		return s.value(s.definition(e.v))
	case *call:
		switch e.fn {
		case "len":
			if x, ok := e.args[0].(*reference); ok {
				return s.size(x.v)
			}
		case "min", "max":
			x, known := s.value(e.args[0])
			y, too := s.value(e.args[1])
			if e.fn == "max" {
				return max(x, y), known && too
			}
			return min(x, y), known && too
		}
	case *binary:
		x, known := s.value(e.x)
		y, too := s.value(e.y)
		switch {
		case !known || !too:
		case e.op == token.ADD:
			return x + y, true
		case e.op == token.SUB:
			return x - y, true
		case e.op == token.MUL:
			return x * y, true
		case e.op == token.REM && y != 0:
			return x % y, true
		}
	}
	return 0, false
}

// atMost returns an integer that e does not exceed, if one is known.
func (s *shortener) atMost(e expr) (n int, ok bool) {
	if n, ok := s.value(e); ok {
		return n, true
	}
	switch e := e.(type) {
	case *reference:
		return s.atMost(s.definition(e.v))
	case *call:
		if e.fn == "min" {
			if n, ok := s.atMost(e.args[0]); ok {
				return n, true
			}
			return s.atMost(e.args[1])
		}
	}
	return 0, false
}

// size returns the number of elements of a short slice or array that keeps its memory.
func (s *shortener) size(v *variable) (n int, ok bool) {
	d := s.defs[v]
	if d == nil || s.changed[v] {
		return 0, false
	}
	switch t := v.typ.Underlying().(type) {
	case *types.Array:
		n = int(t.Len())
	case *types.Slice:
		c, isCall := d.r.(*call)
		if !isCall || c.fn != "make" {
			return 0, false
		}
		if n, ok = s.value(c.args[0]); !ok {
			return 0, false
		}
	default:
		return 0, false
	}
	switch elemOf(v.typ).Underlying().(type) {
	case *types.Basic, *types.Array:
		return n, n >= 0 && n <= few
	}
	return 0, false
}

// holds reports whether a condition on integers is known, or on a slice that is made, and what it is.
func (s *shortener) holds(e expr) (yes, known bool) {
	switch e := e.(type) {
	case *unary:
		if e.op == token.NOT {
			yes, known = s.holds(e.x)
			return !yes, known
		}
	case *binary:
		if e.op == token.LAND || e.op == token.LOR {
			x, knownX := s.holds(e.x)
			y, knownY := s.holds(e.y)
			end := e.op == token.LOR // what one side decides
			if knownX && x == end || knownY && y == end {
				return end, true
			}
			return !end, knownX && knownY
		}
		if v, ok := e.x.(*reference); ok && isLit(e.y, "nil") && isMake(s.definition(v.v)) {
			return e.op == token.NEQ, true
		}
		x, knownX := s.value(e.x)
		y, knownY := s.value(e.y)
		if !knownX || !knownY {
			return false, false
		}
		switch e.op {
		case token.LSS:
			return x < y, true
		case token.LEQ:
			return x <= y, true
		case token.GTR:
			return x > y, true
		case token.GEQ:
			return x >= y, true
		case token.EQL:
			return x == y, true
		case token.NEQ:
			return x != y, true
		}
	}
	return false, false
}

// iterations returns the values of the variable of a loop that can be written out, and reports whether
// the loop may end before.
func (s *shortener) iterations(r *ranged) (at []int, guarded, ok bool) {
	taped := false // a place on a tape has one push and one pop
	each(r.body, func(st stmt) {
		switch st.(type) {
		case *push, *pop, *fold:
			taped = true
		}
	})
	if taped {
		return nil, false, false
	}
	lo, known := s.value(r.lo)
	hi, exact := s.value(r.hi)
	if !exact && r.step > 0 {
		hi, exact = s.atMost(r.hi)
		guarded = true
	}
	if !known || !exact {
		return nil, false, false
	}
	for i := lo; r.step > 0 && i < hi || r.step < 0 && i >= hi; i += r.step {
		if len(at) == few {
			return nil, false, false
		}
		at = append(at, i)
	}
	return at, guarded, len(at)*size(r.body) <= long
}

// mention notes the slices of an expression that must stay slices, and the loops that the others want
// written out.
func (s *shortener) mention(e expr) {
	switch e := e.(type) {
	case *reference:
		s.whole[e.v] = true
		return
	case *element:
		if x, ok := e.x.(*reference); ok {
			n, short := s.size(x.v)
			if i, known := s.value(e.i); known && (i < 0 || i >= n) || !short {
				s.whole[x.v] = true
			}
			visit(e.i, func(e expr) {
				y, ok := e.(*reference)
				if !ok {
					return
				}
				if _, known := s.value(y); known {
					return
				}
				r := s.loops[y.v]
				if r == nil {
					s.whole[x.v] = true
					return
				}
				if _, _, ok := s.iterations(r); !ok {
					s.whole[x.v] = true
				} else if s.wanted[r] == nil || s.whole[s.wanted[r]] {
					s.wanted[r] = x.v
				}
			})
			s.mention(e.i)
			return
		}
	case *call:
		if e.fn == "len" && isReference(e.args[0]) {
			if _, short := s.size(root(e.args[0])); short {
				return
			}
		}
	}
	for _, c := range children(e) {
		s.mention(c)
	}
}

// writtenOut writes out loops over short slices, and reports whether there are any.
func (s *shortener) writtenOut(written map[*variable]bool) (changed bool) {
	for n := -1; n < len(s.whole); { // a loop is wanted by a slice that does not stay one
		n = len(s.whole)
		clear(s.wanted)
		each(s.f.out, func(st stmt) {
			if a, ok := st.(*assignment); ok && a.define {
				s.mention(a.r)
				return
			}
			expressions(st, s.mention)
		})
		for _, e := range s.f.results {
			s.mention(e)
		}
	}
	s.f.out = spliced(s.f.out, func(st stmt) (out []stmt, ok bool) {
		switch st := st.(type) {
		case *branch:
			yes, known := s.holds(st.cond)
			if !known {
				return nil, false
			}
			changed = true
			if yes {
				return st.then, true
			}
			return st.els, true
		case *ranged:
			if v := s.wanted[st]; (v == nil || s.whole[v]) && !s.tiny(st) {
				return nil, false
			}
			changed = true
			at, guarded, _ := s.iterations(st)
			for _, i := range at {
				base := len(st.v.scope) - 1
				n := &renamer{base: base, gone: st.info, lowerer: s.f.lowerer, loops: map[*loopInfo]*loopInfo{}, vars: map[*variable]*variable{}}
				v := n.variable(st.v)
				written[v] = true
				out = append(out, &assignment{l: ref(v), op: token.ASSIGN, r: lit(itoa(i), v.typ), define: true})
				body := n.list(st.body)
				if guarded {
					body = []stmt{&branch{cond: &binary{token.LSS, integerLit(i), st.hi, boolean}, then: body}}
				}
				out = append(out, body...)
			}
			return out, true
		}
		return nil, false
	})
	return changed
}

// tiny reports whether a loop in another one is so short that it is written out in any case.
func (s *shortener) tiny(r *ranged) bool {
	if len(r.v.scope) < 2 || slices.ContainsFunc(r.body, func(st stmt) bool { _, ok := st.(*assignment); return !ok }) {
		return false
	}
	at, guarded, ok := s.iterations(r)
	return ok && !guarded && len(at)*len(r.body) <= tinyLength
}

// beyond reports whether x is an array without an element i, which Go refuses to compile.
func beyond(x expr, i int) bool {
	a, ok := x.typeOf().Underlying().(*types.Array)
	return ok && int64(i) >= a.Len()
}

// declared returns the variables with definitions in their order, in which their parts get names.
func (s *shortener) declared() []*variable {
	return slices.SortedFunc(maps.Keys(s.defs), func(x, y *variable) int {
		return cmp.Or(cmp.Compare(x.number, y.number), cmp.Compare(x.name, y.name))
	})
}

// split replaces short slices by locals, and reports whether there are any.
func (s *shortener) split(written map[*variable]bool) (changed bool) {
	parts := map[*variable][]*variable{}
	lengths := map[*variable]*variable{}
	for _, v := range s.declared() {
		if n, short := s.size(v); short && !s.whole[v] {
			parts[v] = []*variable{}
			for i := range n {
				parts[v] = append(parts[v], &variable{name: s.f.unique(v.name + itoa(i)), typ: elemOf(v.typ), scope: v.scope, number: v.number})
			}
			lengths[v] = &variable{name: s.f.unique("n"), typ: integer, scope: v.scope, number: v.number}
		}
	}
	s.rewrite(func(e expr) expr {
		switch x := e.(type) {
		case *element:
			i, known := s.value(x.i)
			v, isName := x.x.(*reference)
			switch {
			case isName && parts[v.v] != nil:
				return &reference{parts[v.v][i], v.slope}
			case known && i >= 0 && isReference(x.i) && written[root(x.i)] && !beyond(x.x, i):
				return &element{x.x, integerLit(i), x.typ}
			}
		case *call:
			switch {
			case x.fn == "len" && isReference(x.args[0]) && lengths[root(x.args[0])] != nil:
				return ref(lengths[root(x.args[0])])
			case x.fn == "min" || x.fn == "max":
				for i, a := range x.args {
					for v, n := range lengths {
						if isReference(a) && root(a) == n {
							x.args[i] = integerLit(len(parts[v]))
						}
					}
				}
			}
		}
		return e
	})
	s.f.out = spliced(s.f.out, func(st stmt) (out []stmt, ok bool) {
		a, ok := st.(*assignment)
		if !ok || !a.define || parts[root(a.l)] == nil {
			return nil, false
		}
		v := root(a.l)
		for _, p := range parts[v] {
			out = append(out, &assignment{l: ref(p), op: token.ASSIGN, define: true})
		}
		n := lengths[v]
		return append(out, &assignment{l: ref(n), op: token.ASSIGN, r: lit(itoa(len(parts[v])), integer), define: true}), true
	})
	s.f.out = merged(s.f.out)
	return len(parts) > 0
}

// fields replaces structs of which only fields are mentioned by a local for each field, and reports whether
// there are any.
func (s *shortener) fields() bool {
	whole := map[*variable]bool{}
	var mention func(e expr)
	mention = func(e expr) {
		switch x := e.(type) {
		case *reference:
			whole[x.v] = true
		case *field:
			if !isReference(x.x) {
				mention(x.x)
			}
		default:
			for _, c := range children(e) {
				mention(c)
			}
		}
	}
	each(s.f.out, func(st stmt) {
		if a, ok := st.(*assignment); ok && a.define {
			mention(a.r)
			return
		}
		expressions(st, mention)
	})
	for _, e := range s.f.results {
		mention(e)
	}
	for _, c := range s.f.foreign {
		mention(c.call)
	}
	parts := map[*variable]map[string]*variable{}
	for _, v := range s.declared() {
		t, ok := v.typ.Underlying().(*types.Struct)
		if !ok || whole[v] || s.defs[v].r != nil || hasHeaders(t) {
			continue
		}
		parts[v] = map[string]*variable{}
		for f := range t.Fields() {
			name := s.f.unique(v.name + title(f.Name()))
			parts[v][f.Name()] = &variable{name: name, typ: f.Type(), scope: v.scope, number: v.number}
		}
	}
	s.rewrite(func(e expr) expr {
		if x, ok := e.(*field); ok && isReference(x.x) && parts[root(x)] != nil {
			return &reference{parts[root(x)][x.name], x.x.(*reference).slope}
		}
		return e
	})
	s.f.out = spliced(s.f.out, func(st stmt) (out []stmt, ok bool) {
		a, ok := st.(*assignment)
		if !ok || !a.define || parts[root(a.l)] == nil {
			return nil, false
		}
		for f := range root(a.l).typ.Underlying().(*types.Struct).Fields() {
			out = append(out, &assignment{l: ref(parts[root(a.l)][f.Name()]), op: token.ASSIGN, define: true})
		}
		return out, true
	})
	s.f.out = merged(s.f.out)
	return len(parts) > 0
}
