package gradient

import (
	"go/token"
	"slices"
)

// A sincos statement is sin, cos := math.Sincos(x), which takes little more than one of both.
type sincos struct {
	sin, cos *variable
	x        expr
	define   bool
}

// A pairing looks for sines and cosines of one variable.
type pairing struct {
	lowerer *lowerer
	sets    map[*variable]int // but for definitions
}

// paired returns the statements of what is written, in which a sine and a cosine of one variable come from one call. Both stand in
// the same list, and nothing between them sets the variable.
func (l *lowerer) paired(list []stmt) []stmt {
	p := &pairing{l, map[*variable]int{}}
	each(list, func(s stmt) {
		sets(s, func(e expr, define bool) {
			if !define {
				p.sets[root(e)]++
			}
		})
	})
	list, _ = p.in(list)
	return slices.Concat(l.locks, list)
}

// argument returns x if e is fn(x).
func argument(e expr, fn string) *variable {
	if c, ok := e.(*call); ok && c.fn == fn {
		if x, ok := c.args[0].(*reference); ok {
			return x.v
		}
	}
	return nil
}

// before returns the statements up to the first that sets x.
func before(list []stmt, x *variable) []stmt {
	for i, s := range list {
		set := false
		each([]stmt{s}, func(s stmt) { sets(s, func(e expr, _ bool) { set = set || root(e) == x }) })
		if set {
			return list[:i]
		}
	}
	return list
}

// once tells whether v is a local of a branch that is declared before it and set once in it. Nothing reads it
// before.
func (p *pairing) once(v *variable) bool { return v.hoisted && p.sets[v] == 1 }

// in does that with a list and those inside. It also returns the pairs that statements after the list may read.
func (p *pairing) in(list []stmt) (out []stmt, later []*sincos) {
	list = slices.Clone(list)
	for i := 0; i < len(list); i++ {
		var calls []*variable
		expressions(list[i], func(e expr) {
			visit(e, func(e expr) {
				for _, fn := range []string{"math.Sin", "math.Cos"} {
					if x := argument(e, fn); x != nil {
						calls = append(calls, x)
					}
				}
			})
		})
		for _, x := range calls {
			same := before(list[i:], x)
			if pair := p.pair(same, x); pair != nil {
				rest := slices.DeleteFunc(slices.Clone(same), func(s stmt) bool {
					a, ok := s.(*assignment)
					return ok && a.r != nil && (a.define || !pair.define) && (isVariable(a.l, pair.sin) || isVariable(a.l, pair.cos))
				})
				list = slices.Concat(list[:i], []stmt{pair}, rereading(rest, pair), list[i+len(same):])
				if !pair.define {
					later = append(later, pair)
				}
				break
			}
		}
		var pairs []*sincos // inside of the statement
		within := func(body []stmt) []stmt {
			body, more := p.in(body)
			pairs = append(pairs, more...)
			return body
		}
		list[i] = descend(list[i], within)
		pairs = slices.DeleteFunc(pairs, func(pair *sincos) bool { return !setsInside(list[i], root(pair.x)) })
		for _, pair := range pairs {
			list = slices.Concat(list[:i+1], rereading(list[i+1:], pair))
		}
		later = append(later, pairs...)
	}
	return list, later
}

// rereading returns statements that read the numbers of a pair.
func rereading(list []stmt, pair *sincos) []stmt {
	return rewrittenList(list, func(e expr) expr {
		switch root(pair.x) {
		case argument(e, "math.Sin"):
			return ref(pair.sin)
		case argument(e, "math.Cos"):
			return ref(pair.cos)
		}
		return e
	}, sameLoop)
}

// pair returns the sine and the cosine of x, if statements themselves compute both.
func (p *pairing) pair(list []stmt, x *variable) *sincos {
	s := &sincos{x: ref(x), define: true}
	var sin, cos *variable // set in a branch
	for fn, v := range map[string]struct{ defined, set **variable }{"math.Sin": {&s.sin, &sin}, "math.Cos": {&s.cos, &cos}} {
		found := false
		for _, st := range list {
			if a, ok := st.(*assignment); ok && a.r != nil && argument(a.r, fn) == x {
				if l, ok := a.l.(*reference); ok && a.define && p.sets[l.v] == 0 {
					*v.defined, found = l.v, true
					break
				} else if ok && a.op == token.ASSIGN && p.once(l.v) && p.once(x) {
					*v.set, found = l.v, true
					break
				}
			}
			expressions(st, func(e expr) { visit(e, func(e expr) { found = found || argument(e, fn) == x }) })
		}
		if !found {
			return nil
		}
	}
	if sin != nil && cos != nil {
		return &sincos{sin: sin, cos: cos, x: s.x}
	}
	if s.sin == nil {
		s.sin = &variable{name: p.lowerer.unique("sin"), typ: float}
	}
	if s.cos == nil {
		s.cos = &variable{name: p.lowerer.unique("cos"), typ: float}
	}
	return s
}
