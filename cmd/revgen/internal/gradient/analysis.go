package gradient

import (
	"go/token"
	"slices"
	"strings"
)

// A key stands for memory: the elements of a slice, wherever they are reached from, or a
// variable, or a field of one.
type key struct {
	same   *key // the key of the memory that it is found to share, or nil
	depth  int  // the number of loops that its variable is declared in
	behind bool // a slice is a part of another one, and begins after its first element
	varied bool // it may depend on what the gradient is by
	useful bool // what is returned may depend on it
}

func (k *key) root() *key {
	for k.same != nil {
		k = k.same
	}
	return k
}

type path struct {
	v      *variable
	fields string
}

// An analysis knows what statements read and change.
type analysis struct {
	keys    map[path]*key
	kept    map[*slot]*key // what is on tapes
	changes map[*key][]change
	seeds   []*variable
}

// A change is an assignment at a place in the function.
type change struct {
	pos    int
	header bool // a slice itself, not its elements
}

func (a *analysis) key(e expr) *key {
	var names []string
	var v *variable
	for v == nil {
		switch x := e.(type) {
		case *reference:
			v = x.v
		case *element:
			names, e = nil, x.x
		case *field:
			names = append(names, x.name)
			if _, direct := x.x.(*reference); !direct && isPointer(x.x.typeOf()) {
				names = nil // what a pointer in memory points to is that memory
			}
			e = x.x
		case *target:
			e = x.x
		case *part:
			e = x.x
		case *view:
			e = x.x
		default:
			return nil
		}
	}
	slices.Reverse(names)
	return a.keyOf(path{v, strings.Join(names, ".")})
}

func (a *analysis) keyOf(p path) *key {
	k := a.keys[p]
	if k == nil {
		k = &key{depth: len(p.v.scope), varied: slices.Contains(a.seeds, p.v)}
		a.keys[p] = k
	}
	return k.root()
}

// alone reports whether no other variable, and nothing on a tape, has the memory of a local slice.
func (a *analysis) alone(v *variable) bool {
	k := a.key(ref(v))
	for p, other := range a.keys {
		if other.root() == k && p.v != v {
			return false
		}
	}
	for _, other := range a.kept {
		if other.root() == k {
			return false
		}
	}
	return !v.param
}

// slotKey returns the key of what is in a slot.
func (a *analysis) slotKey(s *slot) *key {
	if a.kept == nil {
		a.kept = map[*slot]*key{}
	}
	if a.kept[s] == nil {
		a.kept[s] = &key{}
	}
	return a.kept[s].root()
}

// held returns the keys of what a place holds: of all fields, if it is a struct.
func (a *analysis) held(e expr) []*key {
	keys := []*key{a.key(e)}
	if isAggregate(e.typeOf()) {
		for p, k := range a.keys {
			if p.v == root(e) {
				keys = append(keys, k.root())
			}
		}
	}
	return keys
}

func (a *analysis) unite(x, y *key) {
	if x != y {
		x.depth = min(x.depth, y.depth)
		x.varied, x.behind = x.varied || y.varied, x.behind || y.behind
		y.same = x
	}
}

// each calls f for all statements of a list.
func each(list []stmt, f func(stmt)) {
	for _, s := range list {
		f(s)
		switch s := s.(type) {
		case *branch:
			each(s.then, f)
			each(s.els, f)
		case *ranged:
			each(s.body, f)
		case *while:
			each(s.body, f)
		case *running:
			each(s.list, f)
		case *backward:
			each(s.list, f)
		}
	}
}

// descend returns a statement with f applied to its lists of statements, and another one as it is.
func descend(s stmt, f func([]stmt) []stmt) stmt {
	switch x := s.(type) {
	case *branch:
		return &branch{x.cond, f(x.then), f(x.els)}
	case *ranged:
		c := *x
		c.body = f(x.body)
		return &c
	case *while:
		c := *x
		c.body = f(x.body)
		return &c
	}
	return s
}

// share finds which variables share memory. exchanged says that those of a swap do.
func (a *analysis) share(list []stmt, exchanged func(*swap) bool) {
	each(list, func(s stmt) {
		switch s := s.(type) {
		case *assignment:
			if s.r != nil && isHeader(s.l.typeOf()) && isPlace(s.r) {
				a.unite(a.key(s.l), a.key(s.r))
				if p, ok := s.r.(*part); ok && p.lo != nil {
					a.key(s.l).behind = true
				}
			}
			if c, ok := s.r.(*call); ok && c.path != "" && isHeader(s.l.typeOf()) { // such as slices.Clip
				for _, x := range c.args {
					if isPlace(x) && hasHeaders(x.typeOf()) {
						a.unite(a.key(s.l), a.key(x))
					}
				}
			}
		case *swap:
			if exchanged == nil || exchanged(s) {
				a.unite(a.key(s.x), a.key(s.y))
			}
		case *push:
			if isHeader(s.x.typeOf()) && !s.whole {
				a.unite(a.key(s.x), a.slotKey(s.slot))
			}
		case *pop:
			if isHeader(s.x.typeOf()) && !s.whole {
				a.unite(a.key(s.x), a.slotKey(s.slot))
			}
		}
	})
}

// shareCotangents lets the cotangents of variables that share memory share theirs.
func (a *analysis) shareCotangents() {
	bars := map[*key][]path{}
	for p, k := range a.keys {
		if p.v.bar != nil {
			bars[k.root()] = append(bars[k.root()], path{p.v.bar, p.fields})
		}
	}
	for _, paths := range bars {
		for _, p := range paths {
			a.unite(a.keyOf(paths[0]), a.keyOf(p))
		}
	}
}

// parts returns the variables that may be parts of other slices, with more memory after them.
func parts(list []stmt) map[*variable]bool {
	out := map[*variable]bool{}
	for n := -1; n < len(out); {
		n = len(out)
		pass := func(to, from expr) {
			if p, ok := from.(*part); ok && p.hi != nil || out[root(from)] {
				out[root(to)] = true
			}
		}
		each(list, func(s stmt) {
			switch s := s.(type) {
			case *assignment:
				if s.r != nil && isHeader(s.l.typeOf()) && isPlace(s.r) {
					pass(s.l, s.r)
				}
			case *swap:
				pass(s.x, s.y)
				pass(s.y, s.x)
			}
		})
	}
	return out
}

// activate finds what depends on the seeds, and what the result depends on. Everything matters
// if there is no result.
func (a *analysis) activate(list []stmt, result expr) {
	if result != nil {
		a.key(result).useful = true
	}
	each(list, func(s stmt) { // fields have keys where structs are on tapes
		expressions(s, func(e expr) {
			visit(e, func(e expr) {
				if isPlace(e) {
					a.key(e)
				}
			})
		})
	})
	for changed := true; changed; {
		changed = false
		flow := func(from, to *key) {
			if from.varied && !to.varied {
				to.varied, changed = true, true
			}
			if to.useful && !from.useful {
				from.useful, changed = true, true
			}
		}
		each(list, func(s stmt) {
			switch s := s.(type) {
			case *kernel:
				a.flowsKernel(s, flow)
			case *product:
				flow(a.key(s.a), a.key(s.c))
				flow(a.key(s.b), a.key(s.c))
			case *effect:
				if e, ok := s.call.(*invocation); ok {
					a.flowsInvocation(e, flow)
				}
			case *push:
				for _, k := range a.held(s.x) {
					flow(k, a.slotKey(s.slot))
				}
			case *pop:
				for _, k := range a.held(s.x) {
					flow(a.slotKey(s.slot), k)
				}
			case *assignment:
				if s.r != nil && isFloat(s.l.typeOf()) {
					to := a.key(s.l)
					a.flows(s.r, func(from *key) { flow(from, to) })
				}
			}
		})
	}
	if result == nil {
		for _, k := range a.keys {
			k.root().useful = true
		}
	}
}

func (k *key) active() bool { return k.varied && k.useful }

// flows calls f for the memory that e depends on, but for constants and steps.
func (a *analysis) flows(e expr, f func(from *key)) {
	if !isFloat(e.typeOf()) {
		return
	}
	switch e := e.(type) {
	case *reference, *element, *field, *target:
		f(a.key(e))
	case *unary, *binary:
		for _, x := range children(e) {
			a.flows(x, f)
		}
	case *call:
		if d, ok := derivativeOf(e); ok && d.partials == nil {
			return
		}
		for _, x := range e.args {
			a.flows(x, f)
		}
	case *invocation:
		for _, x := range e.args {
			a.passes(x, f)
		}
	}
}

// active reports whether the derivative of e may differ from zero and matter.
func (a *analysis) active(e expr) (yes bool) {
	a.flows(e, func(from *key) { yes = yes || from.active() })
	return yes
}

// A use is what an expression reads: memory, or with header set only where it lies. If it is x[i]
// of two variables, these are there too.
type use struct {
	k      *key
	header bool
	x, i   *variable
}

// uses returns what e reads, without what it stores to if it is a place on the left.
func (a *analysis) uses(e expr) (out []use) {
	var read func(e expr, header bool)
	read = func(e expr, header bool) {
		switch e := e.(type) {
		case nil:
		case *reference:
			out = append(out, use{k: a.key(e), header: header})
		case *element:
			x, i := variables(e)
			out = append(out, use{a.key(e), header, x, i})
			read(e.x, true)
			read(e.i, false)
		case *field:
			out = append(out, use{k: a.key(e), header: header})
			if _, ok := e.x.(*reference); !ok {
				read(e.x, true)
			}
		case *target:
			out = append(out, use{k: a.key(e), header: header})
			read(e.x, true)
		case *part:
			read(e.x, true)
			read(e.lo, false)
			read(e.hi, false)
		case *view:
			read(e.x, true)
			for _, x := range e.args {
				read(x, false)
			}
		case *call:
			if e.fn == assertion { // of what is constant
				break
			}
			for _, x := range e.args {
				read(x, e.fn == "len" || isMatrix(x.typeOf()))
				switch x.(type) {
				case *part, *view:
					if e.fn != "len" {
						out = append(out, use{k: a.key(x)})
					}
				}
			}
		case *invocation:
			for _, x := range e.args {
				read(x, isHeader(x.typeOf()))
				for _, k := range a.reached(x) {
					out = append(out, use{k: k})
				}
			}
		default:
			for _, c := range children(e) {
				read(c, false)
			}
		}
	}
	read(e, e != nil && isHeader(e.typeOf()))
	return out
}

// variables returns x and i of x[i], and nil if e is something else.
func variables(e expr) (x, i *variable) {
	if e, ok := e.(*element); ok {
		x, isX := e.x.(*reference)
		i, isI := e.i.(*reference)
		if isX && isI {
			return x.v, i.v
		}
	}
	return nil, nil
}

// mentions reports whether e reads memory that a place is in.
func (a *analysis) mentions(e, place expr) bool {
	k := a.key(place)
	return slices.ContainsFunc(a.uses(e), func(u use) bool { return u.k == k && !u.header })
}

// record notes what statements change, in the order in which they stand. at gives their places.
func (a *analysis) record(l expr, pos int) {
	k := a.key(l)
	a.changes[k] = append(a.changes[k], change{pos, isHeader(l.typeOf())})
}

// firstChange returns the first place after from, up to and with to, where what e reads may change, and
// 0 if there is none.
func (a *analysis) firstChange(e expr, from, to int) (first int) {
	for _, u := range a.uses(e) {
		for _, c := range a.changes[u.k] {
			if from < c.pos && c.pos <= to && (c.header || !u.header) && (first == 0 || c.pos < first) {
				first = c.pos
			}
		}
	}
	return first
}

// expensive reports whether e is better kept than computed again.
func expensive(e expr) (yes bool) {
	visit(e, func(e expr) {
		if _, ok := e.(*invocation); ok {
			yes = true
		}
		if c, ok := e.(*call); ok {
			d, known := derivativeOf(c)
			switch {
			case known:
				yes = yes || !d.cheap
			case c.path != "", c.fn == "make":
				yes = true
			}
		}
	})
	return yes
}

// flip returns the operation that takes an assignment back.
func flip(op token.Token) token.Token {
	if op == token.ADD_ASSIGN {
		return token.SUB_ASSIGN
	}
	return token.ADD_ASSIGN
}
