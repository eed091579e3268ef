package gradient

import (
	"go/token"
	"slices"
)

// accumulated returns statements in which a loop that only adds to an element of cotangents adds to a
// local, which stays in a register:
//
//	for i := range t {                  grad0 := 0.0
//		grad[0] += f(t[i])              for i := range t {
//	}                            →          grad0 += f(t[i])
//	                                    }
//	                                    if grad0 != 0 {
//	                                        grad[0] += grad0
//	                                    }
//
// The slice may be empty if the loop is not run.
func (l *lowerer) accumulated(forward, back []stmt) (first, second []stmt) {
	a := &analysis{keys: map[path]*key{}}
	all := slices.Concat(forward, back)
	each(all, func(s stmt) {
		expressions(s, func(e expr) {
			visit(e, func(e expr) {
				if isPlace(e) {
					a.key(e)
				}
			})
		})
	})
	a.share(all, nil)
	known := map[*key]*variable{} // whose memory it is, or nil if several variables reach it
	for p, k := range a.keys {
		if v, seen := known[k.root()]; seen && v != p.v {
			known[k.root()] = nil
		} else {
			known[k.root()] = p.v
		}
	}
	alone := func(v *variable) bool { return known[a.key(ref(v))] == v }
	return l.accumulatedIn(forward, alone), l.accumulatedIn(back, alone)
}

// accumulatedIn does so in a list. alone reports whether the memory of a slice has no other name.
func (l *lowerer) accumulatedIn(list []stmt, alone func(v *variable) bool) (out []stmt) {
	for _, s := range list {
		switch s.(type) {
		case *ranged, *while:
		default:
			out = append(out, s)
			continue
		}
		mentions := map[*variable]int{} // how often, but for additions to such elements
		locals := map[*variable]map[string]*variable{}
		var after []stmt
		each([]stmt{s}, func(s stmt) {
			expressions(s, func(e expr) {
				visit(e, func(e expr) {
					if isReference(e) {
						mentions[root(e)]++
					}
				})
			})
			if v, _ := added(s); v != nil {
				mentions[v]--
			}
		})
		each([]stmt{s}, func(s stmt) {
			v, i := added(s)
			if v == nil || mentions[v] > 0 || !alone(v) || locals[v][i] != nil {
				return
			}
			if locals[v] == nil {
				locals[v] = map[string]*variable{}
			}
			place := s.(*assignment).l
			sum := &variable{name: l.unique(v.name + i), typ: place.typeOf(), scope: slices.Clone(l.loops), of: v}
			locals[v][i] = sum
			out = append(out, &assignment{l: ref(sum), op: token.ASSIGN, r: lit("0", sum.typ), define: true})
			after = append(after, &branch{
				cond: &binary{token.NEQ, ref(sum), lit("0", sum.typ), boolean},
				then: []stmt{&assignment{l: place, op: token.ADD_ASSIGN, r: ref(sum)}},
			})
		})
		out = append(out, rewrittenList([]stmt{s}, func(e expr) expr {
			if v, i := constantElement(e); v != nil && locals[v] != nil {
				return ref(locals[v][i])
			}
			return e
		}, sameLoop)...)
		out = append(out, after...)
	}
	return out
}

// added returns the slice of cotangents and the index of an element that a statement adds to.
func added(s stmt) (v *variable, i string) {
	x, ok := s.(*assignment)
	if !ok || x.op == token.ASSIGN {
		return nil, ""
	}
	if v, i = constantElement(x.l); v == nil || v.of == nil || !isFloat(x.l.typeOf()) {
		return nil, ""
	}
	return v, i
}

// constantElement returns v and i of an element v[i] with a constant index.
func constantElement(e expr) (v *variable, i string) {
	x, ok := e.(*element)
	if !ok || !isReference(x.x) {
		return nil, ""
	}
	c, ok := x.i.(*literal)
	if !ok {
		return nil, ""
	}
	return root(x.x), c.text
}
