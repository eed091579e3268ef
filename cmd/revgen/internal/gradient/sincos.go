package gradient

import "slices"

// A sincos statement is sin, cos := math.Sincos(x), which takes little more than one of both.
type sincos struct {
	sin, cos *variable
	x        expr
}

// paired returns statements in which a sine and a cosine of one variable come from one call. Both stand in
// the same list, so that both are computed.
func (l *lowerer) paired(list []stmt) []stmt {
	changed := map[*variable]bool{}
	each(list, func(s stmt) {
		sets(s, func(e expr, define bool) {
			if !define {
				changed[root(e)] = true
			}
		})
	})
	return l.pairedIn(list, func(e expr, fn string) *variable {
		if c, ok := e.(*call); ok && c.fn == fn {
			if x, ok := c.args[0].(*reference); ok && !changed[x.v] {
				return x.v
			}
		}
		return nil
	})
}

// pairedIn does that with a list and those inside. argument returns the argument of a call of fn.
func (l *lowerer) pairedIn(list []stmt, argument func(e expr, fn string) *variable) []stmt {
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
			if names := l.pair(list[i:], x, argument); names != nil {
				rest := rewrittenList(slices.DeleteFunc(slices.Clone(list[i:]), func(s stmt) bool {
					a, ok := s.(*assignment)
					return ok && a.define && a.r != nil && (root(a.l) == names.sin || root(a.l) == names.cos)
				}), func(e expr) expr {
					switch x {
					case argument(e, "math.Sin"):
						return ref(names.sin)
					case argument(e, "math.Cos"):
						return ref(names.cos)
					}
					return e
				}, sameLoop)
				list = slices.Concat(list[:i], []stmt{names}, rest)
				break
			}
		}
		switch s := list[i].(type) {
		case *branch:
			list[i] = &branch{s.cond, l.pairedIn(s.then, argument), l.pairedIn(s.els, argument)}
		case *ranged:
			c := *s
			c.body = l.pairedIn(s.body, argument)
			list[i] = &c
		case *while:
			c := *s
			c.body = l.pairedIn(s.body, argument)
			list[i] = &c
		}
	}
	return list
}

// pair returns the names of the sine and the cosine of x, if statements themselves compute both.
func (l *lowerer) pair(list []stmt, x *variable, argument func(e expr, fn string) *variable) *sincos {
	s := &sincos{x: ref(x)}
	for fn, name := range map[string]**variable{"math.Sin": &s.sin, "math.Cos": &s.cos} {
		found := false
		for _, st := range list {
			if a, ok := st.(*assignment); ok && a.define && argument(a.r, fn) == x {
				*name, found = root(a.l), true
				break
			}
			expressions(st, func(e expr) { visit(e, func(e expr) { found = found || argument(e, fn) == x }) })
		}
		if !found {
			return nil
		}
	}
	if s.sin == nil {
		s.sin = &variable{name: l.unique("sin"), typ: float}
	}
	if s.cos == nil {
		s.cos = &variable{name: l.unique("cos"), typ: float}
	}
	return s
}
