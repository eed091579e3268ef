package gradient

import (
	"fmt"
	"go/types"
	"slices"
)

// A Jacobian with few rows is one product on the left for each row. The products of all rows have the
// forward sweep, and the partial derivatives, in common: they differ in cotangents alone, on which no
// branch and no index depends. So a product with two vectors has each statement over cotangents twice,
// and the others once.

// two writes the product on the left with two vectors, and returns a function that calls it, or nil if there
// is none. params are those of the product with one.
func (f *function) two(x, grad, w *variable, params []*variable, forward, back []stmt) string {
	grad2, w2 := f.vectorOf(grad.name), f.vectorOf(w.name)
	first, second := f.twice(forward, back, map[*variable]*variable{grad: grad2, w: w2})
	if second == nil {
		return "nil"
	}
	first, second = f.common(tidied(first, second, 0))
	vectors := types.NewArray(w.typ, 2)
	rows, ws := &variable{name: f.unique("rows"), typ: vectors}, &variable{name: f.unique("ws"), typ: vectors}
	params = slices.Clone(params)
	params[slices.Index(params, w)] = ws
	name := f.decl.Name.Name + "VJP2"
	f.line("// %s stores Jᵀ·%s[k] in %s[k], for both k. The rows must not overlap.", name, ws.name, rows.name)
	f.write(name, []string{f.declared(rows)}, params, false, func(out *writer) {
		part := func(v *variable, k int) *variable { return &variable{name: fmt.Sprintf("%s[%d]", v.name, k)} }
		out.sameLengths(name, x, part(rows, 0), part(rows, 1))
		out.sameLengths(name, part(ws, 0), part(ws, 1))
		out.line("%s, %s := %[3]s[0], %[3]s[1]", grad.name, grad2.name, rows.name)
		out.line("%s, %s := %[3]s[0], %[3]s[1]", w.name, w2.name, ws.name)
		out.line("clear(%s)\nclear(%s)", grad.name, grad2.name)
		out.program(f.paired(slices.Concat(first, second)))
	})
	call, args := f.arguments(name, params)
	return fmt.Sprintf("func(%s, %s [2][]float64) { %s(%s, %s) }", rows.name, ws.name, call, rows.name, args)
}

// twice returns both sweeps of a product on the left with the statements over cotangents once more, or nil if
// some of these are no assignments. second has the other places of the vector and of the product.
func (f *function) twice(forward, back []stmt, second map[*variable]*variable) (_, _ []stmt) {
	list := slices.Concat(forward, back)
	var depends func(e expr) bool
	depends = func(e expr) (yes bool) { // but on lengths, which are the same
		if c, ok := e.(*call); ok && c.fn == "len" || e == nil {
			return false
		}
		if r, ok := e.(*reference); ok && second[r.v] != nil {
			return true
		}
		for _, c := range children(e) {
			yes = yes || depends(c)
		}
		return yes
	}
	ok := true
	another := func(v *variable) {
		if second[v] == nil && v.param {
			ok = false
		} else if second[v] == nil {
			c := *v
			c.name = f.unique(v.name)
			second[v] = &c
		}
	}
	for n := -1; ok && n < len(second); { // until no more variables depend on them
		n = len(second)
		each(list, func(s stmt) {
			a, _ := s.(*assignment)
			if a == nil {
				expressions(s, func(e expr) { ok = ok && !depends(e) })
				return
			}
			if !depends(a.l) && !depends(a.r) {
				return
			}
			another(root(a.l))
			if !hasHeaders(a.l.typeOf()) {
				_, call := a.r.(*invocation)
				ok = ok && !call
			} else if v := root(a.r); v != nil { // both have the memory
				another(v)
			} else if c, made := a.r.(*call); a.r != nil && !isLit(a.r, "nil") && (!made || c.fn != "make") {
				ok = false
			}
		})
	}
	if !ok {
		return nil, nil
	}
	var doubled func(list []stmt) []stmt
	doubled = func(list []stmt) (out []stmt) {
		for _, s := range list {
			out = append(out, descend(s, doubled))
			if a, ok := s.(*assignment); ok && second[root(a.l)] != nil {
				out = append(out, rewrittenList([]stmt{s}, func(e expr) expr {
					if r, ok := e.(*reference); ok && second[r.v] != nil {
						return ref(second[r.v])
					}
					return e
				}, sameLoop)...)
			}
		}
		return out
	}
	return doubled(forward), doubled(back)
}
