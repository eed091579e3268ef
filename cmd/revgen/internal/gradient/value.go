package gradient

import "slices"

// itself writes the function without derivatives. Its loops become calls of package num, as in its gradient.
func (f *function) itself(name string) {
	list := f.released(unwound(f.extremes(f.out)), len(f.loops))
	list, back := tidied(list, []stmt{&returned{f.results}}, 0)
	list, back = f.vectorized(f.common(list, back))
	f.line("// %s returns what %s returns.", name, f.decl.Name.Name)
	f.write(name, nil, f.params, true, func(w *writer) { w.program(f.paired(slices.Concat(list, back))) })
}

// unwound returns statements with what running ones do in their places.
func unwound(list []stmt) []stmt {
	return spliced(list, func(s stmt) ([]stmt, bool) {
		r, ok := s.(*running)
		if !ok {
			return nil, false
		}
		return r.list, true
	})
}

// released returns statements in which the slices that an iteration makes end with it. They are in depth loops.
func (f *function) released(list []stmt, depth int) []stmt {
	u := f.fuser(list)
	var inside func(list []stmt, depth int) []stmt
	inside = func(list []stmt, depth int) (out []stmt) {
		for _, s := range list {
			if c, ok := s.(*ranged); ok && makesIn(c.body) && !u.keeps(c.body, depth) {
				loop := *c
				loop.mark = &variable{name: f.unique("mark"), typ: integer}
				s = &loop
			}
			inner := depth
			if _, isBranch := s.(*branch); !isBranch {
				inner++
			}
			out = append(out, descend(s, func(list []stmt) []stmt { return inside(list, inner) }))
		}
		return out
	}
	return inside(list, depth)
}
