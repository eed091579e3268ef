package gradient

import (
	"go/token"
	"go/types"
	"slices"
)

// nearest returns a loop over points in which the search for the row of a matrix that is nearest to a point is a
// call, with what comes before and after the loop. It returns nil if there is no such search.
//
//	for i := range points {                            near := num.NewNearest(points, x)
//		p := points[i]                             for i := range points {
//		for k := range n {                             p := points[i]
//			row := x[k*len(p):][:len(p)]           at = near.At(i, n, m)
//			d := 0.0                       →       if at >= 0 {
//			for j := range p {                         m = near.Distance(i)
//				e := p[j] - row[j]             }
//				d += e * e                     ...
//			}                                  }
//			if !(m <= d) {                     near.Free()
//				at = k
//			}
//			m = min(m, d)
//		}
//		...
//	}
//
// The calls look at several points at once, so the loop may change neither points nor x. All are of the types
// that the calls have.
func (v *vectorizer) nearest(s *ranged) (loop *ranged, first, last stmt) {
	if s.step != 1 || !isLit(s.lo, "0") || !isLen(s.hi) {
		return nil, nil, nil
	}
	for k, st := range s.body {
		c, ok := st.(*ranged)
		if !ok {
			continue
		}
		m, at, points, x := v.search(c)
		if m == nil || !same(s.hi.(*call).args[0], points.x) || !sameText(points.i, ref(s.v)) || v.changed(s, points.x, x) {
			continue
		}
		slice := types.NewSlice(float)
		if !types.Identical(points.x.typeOf(), types.NewSlice(slice)) || !types.Identical(x.typeOf(), slice) || !types.Identical(m.typeOf(), float) {
			continue
		}
		near := &variable{name: v.lowerer.unique("near"), typ: integer, scope: s.v.scope[:len(s.v.scope)-1]}
		method := func(name string, args ...expr) *call { return &call{near.name + "." + name, "", args, float} }
		var calls []stmt
		if at == nil {
			calls = []stmt{&assignment{l: m, op: token.ASSIGN, r: method("Least", ref(s.v), c.hi, m)}}
		} else {
			calls = found(m, at, method("At", ref(s.v), c.hi, m), method("Distance", ref(s.v)))
		}
		l := *s
		l.body = slices.Concat(s.body[:k], calls, s.body[k+1:])
		counts := mentions(l.body)
		l.body = slices.DeleteFunc(l.body, func(st stmt) bool { // the point, if nothing else reads it
			a, ok := st.(*assignment)
			return ok && a.define && same(a.r, points) && counts[root(a.l)] == 1
		})
		first = &assignment{l: ref(near), op: token.ASSIGN, define: true, r: &call{"num.NewNearest", numPath, []expr{points.x, x}, integer}}
		return &l, first, &effect{method("Free")}
	}
	return nil, nil, nil
}

// search returns the least distance m, the index at of its row or nil, the point and the matrix of a search. m is nil if
// c is another loop.
func (v *vectorizer) search(c *ranged) (m, at expr, point *element, x expr) {
	if c.step != 1 || !isLit(c.lo, "0") || len(c.body) < 4 {
		return nil, nil, nil, nil
	}
	var inner *ranged
	defs := map[*variable]expr{}
	for _, st := range c.body[:3] {
		switch st := st.(type) {
		case *assignment:
			if st.define {
				defs[root(st.l)] = st.r
			}
		case *ranged:
			inner = st
		}
	}
	m, at, d := extremeOf(c.body[3:], c.v, "min", token.LEQ)
	if m == nil || !isReference(d) || inner == nil || len(defs) != 2 || inner.step*inner.step != 1 || !isLen(inner.hi) || !isLit(inner.lo, "0") {
		return nil, nil, nil, nil
	}
	sum := v.effects(inner)
	zero, isZero := defs[root(d)]
	if len(sum) != 1 || sum[0].op != token.ADD_ASSIGN || !same(sum[0].l, d) || !isZero || zero != nil && text(zero) != "0.0" {
		return nil, nil, nil, nil
	}
	square, ok := sum[0].r.(*binary)
	if !ok || square.op != token.MUL || !sameText(square.x, square.y) {
		return nil, nil, nil, nil
	}
	e, ok := square.x.(*binary)
	if !ok || e.op != token.SUB {
		return nil, nil, nil, nil
	}
	p := inner.hi.(*call).args[0]
	point, isPoint := v.defs[root(p)].(*element)
	if !isPoint || !isReference(point.x) {
		return nil, nil, nil, nil
	}
	for _, y := range [][2]expr{{e.x, e.y}, {e.y, e.x}} {
		j := ref(inner.v)
		row, ok := y[1].(*element)
		if !ok || !sameText(y[0], &element{p, j, float}) || !isReference(row.x) || !sameText(row.i, j) {
			continue
		}
		length := &call{"len", "", []expr{p}, integer}
		short, ok := defs[root(row.x)].(*part)
		if ok && short.lo == nil && short.hi != nil && sameText(short.hi, length) {
			if from, ok := short.x.(*part); ok && isReference(from.x) && from.hi == nil && sameText(from.lo, &binary{token.MUL, ref(c.v), length, integer}) {
				return m, at, point, from.x
			}
		}
	}
	return nil, nil, nil, nil
}

// changed reports whether a loop may change points or x, or what they have.
func (v *vectorizer) changed(s *ranged, points, x expr) (yes bool) {
	for _, e := range []expr{points, x} {
		yes = yes || slices.Contains(root(e).scope, s.info)
		k := v.key(&element{e, integerLit(0), float})
		each(s.body, func(st stmt) {
			sets(st, func(to expr, _ bool) {
				yes = yes || root(to) == root(e) && isReference(to) || !isReference(to) && v.key(to) == k
			})
		})
	}
	return yes
}
