package gradient

import (
	"go/token"
	"go/types"
	"slices"
)

// interchanged returns statements in which a loop over the rows of matrices, inside one over their columns,
// goes over each row at once, before or after the loop over columns. What an iteration of that loop has from
// the sum, or gives to it, is in a vector:
//
//	for c := range d {                     sums := scratch.Make(d)
//		o := 0.0                           for j := range w {
//		for j := range w {                     for c := range d {
//			o += w[j] * v[j][c]       →                sums[c] += w[j] * v[j][c]
//		}                                      }
//		f(o)                               }
//	}                                      for c := range d {
//	                                           o := sums[c]
//	                                           f(o)
//	                                       }
//
// The backward sweep ends an iteration with such a loop, which then comes last.
func (v *vectorizer) interchanged(list []stmt) (out []stmt) {
	for _, s := range list {
		s = descend(s, v.interchanged)
		if x, ok := s.(*ranged); ok {
			if parts := v.columns(x); parts != nil {
				out = append(out, parts...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// columns does so with a loop over columns, or returns nil.
func (v *vectorizer) columns(s *ranged) []stmt {
	n := s.hi
	if s.step == -1 {
		n = plus(s.lo, 1)
		if !isLit(s.hi, "0") {
			return nil
		}
	}
	if s.step != -1 && (s.step != 1 || !isLit(s.lo, "0")) || s.v.typ != integer || isConstant(n) || s.mark != nil {
		return nil
	}
	plain := true
	inside := map[*variable]bool{s.v: true} // what an iteration sets
	each(s.body, func(st stmt) {
		switch st.(type) {
		case *assignment, *push, *pop, *branch, *ranged:
		default:
			plain = false
		}
		expressions(st, func(e expr) {
			visit(e, func(e expr) {
				switch e := e.(type) {
				case *invocation, *part:
					plain = false
				case *call:
					plain = plain && e.fn != "make"
				}
			})
		})
		sets(st, func(e expr, _ bool) {
			if isReference(e) {
				inside[root(e)] = true
				plain = plain && !isHeader(e.typeOf())
			}
		})
	})
	if !plain {
		return nil
	}
	l := &columnLoop{vectorizer: v, s: s, n: n, inside: inside}
	for k := range s.body {
		if l.sum(k) {
			break
		}
	}
	l.last()
	if l.vectors == nil {
		return nil
	}
	mark := &variable{name: v.lowerer.unique("mark"), typ: integer}
	release := &effect{&call{"scratch.Release", "", []expr{ref(mark)}, nil}}
	out := []stmt{&assignment{l: ref(mark), op: token.ASSIGN, r: &call{"scratch.Mark", "", nil, integer}, define: true}}
	return slices.Concat(out, l.vectors, l.before, []stmt{s}, l.after, []stmt{release})
}

// A columnLoop is a loop over columns, with n iterations.
type columnLoop struct {
	vectorizer             *vectorizer
	s                      *ranged
	n                      expr
	inside                 map[*variable]bool
	vectors, before, after []stmt
}

// rows returns the loop over rows at a place of the body, if it only adds and takes matrices by columns.
func (l *columnLoop) rows(k int) *ranged {
	j, ok := l.s.body[k].(*ranged)
	if !ok || j.step != 1 && j.step != -1 || l.mentionsInside(j.lo) || l.mentionsInside(j.hi) {
		return nil
	}
	column := false
	for _, st := range j.body {
		a, ok := st.(*assignment)
		if !ok || a.define || a.op == token.ASSIGN || !types.Identical(a.l.typeOf(), float) {
			return nil
		}
		expressions(a, func(e expr) {
			visit(e, func(e expr) {
				if x, ok := e.(*element); ok && same(x.i, ref(l.s.v)) {
					row, ok := x.x.(*element)
					column = column || ok && same(row.i, ref(j.v)) && isReference(row.x)
				}
			})
		})
	}
	if !column {
		return nil
	}
	return j
}

// mentionsInside reports whether e has a variable that an iteration sets.
func (l *columnLoop) mentionsInside(e expr) (yes bool) {
	visit(e, func(e expr) {
		x, ok := e.(*reference)
		yes = yes || ok && l.inside[x.v]
	})
	return yes
}

// vector returns the element of a new vector for an iteration.
func (l *columnLoop) vector(name string) expr {
	x := &variable{name: l.vectorizer.lowerer.unique(name), typ: types.NewSlice(float), scope: slices.Clone(l.s.v.scope[:len(l.s.v.scope)-1])}
	n := l.n
	if !isLen(n) { // it may be negative
		n = &call{"max", "", []expr{n, integerLit(0)}, integer}
	}
	l.vectors = append(l.vectors, &assignment{l: ref(x), op: token.ASSIGN, r: makeVector(n), define: true})
	return &element{ref(x), ref(l.s.v), float}
}

// swapped returns the loop over rows with one over columns inside.
func (l *columnLoop) swapped(j *ranged, of func(e expr) expr) stmt {
	outer, inner := *j, *l.s
	outer.info, inner.info = &loopInfo{j.info.depth}, &loopInfo{l.s.info.depth}
	inner.lo, inner.hi, inner.step = integerLit(0), l.n, 1
	inner.body = rewrittenList(j.body, of, sameLoop)
	outer.body = []stmt{&inner}
	return &outer
}

// disturbed reports whether statements set memory that others have, or have memory that others set.
func (l *columnLoop) disturbed(j *ranged, others []stmt) (yes bool) {
	reads := func(list []stmt, k *key) (yes bool) {
		each(list, func(s stmt) { expressions(s, func(e expr) { yes = yes || e != nil && l.vectorizer.reads(e, k) }) })
		return yes
	}
	written := func(list []stmt, other []stmt) {
		each(list, func(s stmt) {
			sets(s, func(e expr, _ bool) { yes = yes || !isReference(e) && reads(other, l.vectorizer.key(e)) })
		})
	}
	written(j.body, others)
	written(others, j.body)
	for _, s := range j.body { // a sum that another statement reads
		a := s.(*assignment)
		yes = yes || slices.ContainsFunc(j.body, func(s stmt) bool { return l.vectorizer.reads(s.(*assignment).r, l.vectorizer.key(a.l)) })
	}
	return yes
}

// sum takes the loop at a place of the body before the loop over columns, if it makes a sum.
func (l *columnLoop) sum(k int) bool {
	j := l.rows(k)
	if j == nil || len(j.body) != 1 || l.disturbed(j, slices.Concat(l.s.body[:k], l.s.body[k+1:])) {
		return false
	}
	a := j.body[0].(*assignment)
	if !isReference(a.l) {
		return false
	}
	o, ok := root(a.l), true
	visit(a.r, func(e expr) {
		x, isRef := e.(*reference)
		ok = ok && (!isRef || !l.inside[x.v] || x.v == l.s.v || x.v == j.v)
	})
	at := slices.IndexFunc(l.s.body[:k], func(s stmt) bool {
		d, ok := s.(*assignment)
		return ok && d.define && same(d.l, a.l) && (d.r == nil || isLit(d.r, "0") || isLit(d.r, "0.0"))
	})
	if !ok || at < 0 || mentionsOf(l.s.body[at+1:k], o) > 0 {
		return false
	}
	sum := l.vector("sums")
	l.before = []stmt{l.swapped(j, func(e expr) expr {
		if same(e, a.l) {
			return sum
		}
		return e
	})}
	l.s.body = slices.Concat(l.s.body[:at], []stmt{&assignment{l: a.l, op: token.ASSIGN, r: sum, define: true}}, l.s.body[at+1:k], l.s.body[k+1:])
	return true
}

// last takes the loop at the end of the body after the loop over columns, if it adds to memory.
func (l *columnLoop) last() {
	k := len(l.s.body) - 1
	if k < 0 {
		return
	}
	j := l.rows(k)
	if j == nil || l.disturbed(j, l.s.body[:k]) {
		return
	}
	var locals []*variable
	for _, st := range j.body {
		a := st.(*assignment)
		if !isElement(a.l) {
			return
		}
		wrong := false
		expressions(a, func(e expr) {
			visit(e, func(e expr) {
				x, ok := e.(*reference)
				if !ok || !l.inside[x.v] || x.v == l.s.v || x.v == j.v || slices.Contains(locals, x.v) {
					return
				}
				wrong = wrong || !types.Identical(x.v.typ, float)
				locals = append(locals, x.v)
			})
		})
		if wrong {
			return
		}
	}
	if len(locals) == 0 {
		return
	}
	places := map[*variable]expr{}
	l.s.body = slices.Clone(l.s.body[:k])
	for _, x := range locals {
		places[x] = l.vector(x.name + "s")
		l.s.body = append(l.s.body, &assignment{l: places[x], op: token.ASSIGN, r: ref(x)})
	}
	l.after = []stmt{l.swapped(j, func(e expr) expr {
		if x, ok := e.(*reference); ok && places[x.v] != nil {
			return places[x.v]
		}
		return e
	})}
}
