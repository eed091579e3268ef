package gradient

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// elementwise are the functions of package math that package num has for all elements of a slice.
var elementwise = map[string]string{"math.Exp": "num.ExpTo", "math.Log": "num.LogTo", "math.Tanh": "num.TanhTo", "math.Sin": "num.SinTo", "math.Cos": "num.CosTo"}

// strip is the number of iterations whose values staged loops keep: they stay in the cache.
const strip = 256

// staged returns a loop whose iterations are independent as several loops, between which functions are computed for
// all iterations, or nil:
//
//	                                   for lo := 0; lo < n; lo += 256 {
//	                                       hi := min(lo + 256, n)
//	                                       exps := scratch.Make(hi - lo)
//	for i := range n {                     for i := lo; i < hi; i++ {
//		e := math.Exp(-x[i])       →           exps[i-lo] = -x[i]
//		y[i] = 1 / (1 + e)                 }
//	}                                      num.ExpTo(exps, exps)
//	                                       for i := lo; i < hi; i++ {
//	                                           e := exps[i-lo]
//	                                           y[i] = 1 / (1 + e)
//	                                       }
//	                                   }
//
// Each statement has a stage: that of the last one before it that it must not be exchanged with, or if that is a
// function, the next one.
func (v *vectorizer) staged(s *ranged) []stmt {
	from, n := s.lo, s.hi
	if s.step == -1 {
		from, n = s.hi, plus(s.lo, 1)
	}
	if s.step != 1 && s.step != -1 || s.v.typ != integer || !isLit(from, "0") || isConstant(n) || s.mark != nil {
		return nil
	}
	fixed := true // what is not set in the loop: its integers are not
	visit(n, func(e expr) {
		switch e := e.(type) {
		case *literal, *reference, *binary:
		case *call:
			fixed = fixed && e.fn == "len"
		default:
			fixed = false
		}
	})
	if !fixed {
		return nil
	}
	stages, locals := v.stages(s)
	if stages == nil {
		return nil
	}
	outer := s.v.scope[:len(s.v.scope)-1]
	local := func(name string, t types.Type) *variable {
		return &variable{name: v.lowerer.unique(name), typ: t, scope: slices.Clone(outer)}
	}
	lo, hi := local("lo", integer), local("hi", integer)
	all := &ranged{v: lo, lo: integerLit(0), hi: n, step: strip, info: &loopInfo{s.info.depth}, mark: local("mark", integer)}
	put := func(l, r expr, define bool) {
		all.body = append(all.body, &assignment{l: l, op: token.ASSIGN, r: r, define: define})
	}
	put(ref(hi), &call{"min", "", []expr{plus(ref(lo), strip), n}, integer}, true)
	size := &binary{token.SUB, ref(hi), ref(lo), integer}
	rows := map[*variable]*variable{} // of values from one stage to another
	row := func(x *variable) expr {
		if rows[x] == nil {
			rows[x] = local(x.name+"s", types.NewSlice(float))
			put(ref(rows[x]), makeVector(size), true)
		}
		return &element{ref(rows[x]), &binary{token.SUB, ref(s.v), ref(lo), integer}, float}
	}
	inOrder := func(x, y *variable) int { return locals[x].first - locals[y].first }
	last := slices.Max(stages)
	loops := make([][]stmt, last+1)
	for k := range loops {
		needed := map[*variable]bool{} // what is read in this stage and comes from before
		var body []stmt
		for t := len(s.body) - 1; t >= 0; t-- {
			a := s.body[t].(*assignment)
			x, isLocal := a.l.(*reference)
			isLocal = isLocal && locals[x.v] != nil
			if stages[t] != k {
				continue
			}
			body = append(body, a)
			expressions(a, func(e expr) { v.locals(e, locals, needed) })
			if isLocal && a.define {
				delete(needed, x.v)
			}
		}
		slices.Reverse(body)
		for _, x := range slices.SortedFunc(maps.Keys(needed), inOrder) {
			loops[k] = append(loops[k], &assignment{l: ref(x), op: token.ASSIGN, r: row(x), define: true})
		}
		loops[k] = append(loops[k], body...)
	}
	for k, body := range loops {
		var calls []stmt
		for i, st := range body {
			a := st.(*assignment)
			if f, ok := a.r.(*call); ok && elementwise[f.fn] != "" && a.define && locals[root(a.l)].function {
				body[i] = &assignment{l: row(root(a.l)), op: token.ASSIGN, r: f.args[0]}
				x := ref(rows[root(a.l)])
				calls = append(calls, &effect{&call{elementwise[f.fn], numPath, []expr{x, x}, nil}})
			}
		}
		for _, x := range slices.SortedFunc(maps.Keys(rows), inOrder) {
			if at := locals[x]; !at.function && stages[at.first] == k {
				body = append(body, &assignment{l: row(x), op: token.ASSIGN, r: ref(x)})
			}
		}
		loop := &ranged{v: s.v, lo: ref(lo), hi: ref(hi), step: 1, body: body, info: s.info}
		all.body = append(all.body, loop)
		all.body = append(all.body, calls...)
	}
	return []stmt{all}
}

// A staging says about a local of a loop where it is set first.
type staging struct {
	first    int
	function bool // it is an elementwise function
}

// locals notes the locals that e reads.
func (v *vectorizer) locals(e expr, locals map[*variable]*staging, read map[*variable]bool) {
	visit(e, func(e expr) {
		if x, ok := e.(*reference); ok && locals[x.v] != nil {
			read[x.v] = true
		}
	})
}

// stages returns the stages of the statements of a loop, and its locals. There are none if iterations depend on each
// other, if a local is no float64, or if there is but one stage.
func (v *vectorizer) stages(s *ranged) (stages []int, locals map[*variable]*staging) {
	locals = map[*variable]*staging{}
	places := map[*key]expr{} // the elements that are set
	sums := map[string]bool{}
	for t, st := range s.body {
		a, ok := st.(*assignment)
		if !ok || a.r == nil && !a.define {
			return nil, nil
		}
		x, isRef := a.l.(*reference)
		switch {
		case isRef && a.define:
			f, isCall := a.r.(*call)
			function := isCall && elementwise[f.fn] != ""
			if !types.Identical(x.v.typ, float) || locals[x.v] != nil {
				return nil, nil
			}
			locals[x.v] = &staging{t, function}
		case isRef && locals[x.v] != nil:
			if locals[x.v].function {
				return nil, nil
			}
		case isRef || isElement(a.l) && !mentionsIn(a.l, s.v): // a sum
			if a.op == token.ASSIGN || !isFloat(a.l.typeOf()) {
				return nil, nil
			}
			read := map[*variable]bool{}
			if v.locals(a.l, locals, read); len(read) > 0 {
				return nil, nil
			}
			sums[text(a.l)] = true
		default:
			l, isElement := a.l.(*element)
			if !isElement || !v.tapes[root(l.x)] && !v.own(l, s.v) || !types.Identical(l.typ, float) {
				return nil, nil
			}
			read := map[*variable]bool{}
			if v.locals(l, locals, read); len(read) > 0 { // elements of other iterations may be the same
				return nil, nil
			}
			k := v.key(l)
			known, seen := places[k].(*element) // maybe under another name
			if seen && !same(known, l) && (k.behind || !sameText(known.i, l.i)) && !v.tapes[root(l.x)] {
				return nil, nil
			}
			places[k] = l
		}
	}
	// No iteration reads what another one sets, nor a sum.
	ok := true
	for _, st := range s.body {
		a := st.(*assignment)
		look := func(e expr) {
			visit(e, func(e expr) {
				switch x := e.(type) {
				case *invocation:
					ok = false
				case *reference:
					ok = ok && !sums[text(x)]
				case *element:
					_, isView := x.x.(*view) // which panics as gonum does, and a slice of it would not
					ok = ok && !isView
					if k := v.key(x); places[k] != nil && hasFloats(x.typ) {
						ok = ok && isFloat(x.typ) && (same(x, places[k]) || !k.behind && sameText(x.i, places[k].(*element).i)) && !v.tapes[root(x.x)]
					}
				}
			})
		}
		look(a.r)
		if l, isElement := a.l.(*element); isElement {
			_, isView := l.x.(*view)
			ok = ok && !isView
			look(l.x)
			look(l.i)
			if !mentionsIn(l, s.v) { // a sum in memory that nothing else reads or sets
				k := v.key(l)
				ok = ok && places[k] == nil
				for _, st := range s.body {
					ok = ok && !v.reads(st.(*assignment).r, k)
				}
			}
		}
	}
	if !ok {
		return nil, nil
	}
	several := false
	for t, st := range s.body {
		a := st.(*assignment)
		stage := 0
		for u, before := range s.body[:t] {
			b := before.(*assignment)
			if !v.exchangeable(a, b) {
				x, isRef := b.l.(*reference)
				if isRef && locals[x.v] != nil && locals[x.v].function {
					stage = max(stage, stages[u]+1)
				} else {
					stage = max(stage, stages[u])
				}
			}
		}
		stages = append(stages, stage)
		several = several || stage > 0
	}
	for x, at := range locals { // all that sets a local is in one stage
		for t, st := range s.body {
			if l, isRef := st.(*assignment).l.(*reference); isRef && l.v == x && stages[t] != stages[at.first] {
				return nil, nil
			}
		}
	}
	if !several {
		return nil, nil
	}
	return stages, locals
}

// own reports whether each iteration has an element for itself.
func (v *vectorizer) own(l *element, i *variable) bool {
	w := &loopWriter{vectorizer: v, i: i}
	_, inOrder := w.offset(l.i)
	return inOrder && !mentionsIn(l.x, i)
}

// exchangeable reports whether a may come before b: neither sets what the other one reads or sets. Sums may be exchanged.
func (v *vectorizer) exchangeable(a, b *assignment) bool {
	disturbs := func(a, b *assignment) bool {
		if x, ok := a.l.(*reference); ok {
			return mentionsIn(b.r, x.v) || mentionsIn(b.l, x.v)
		}
		k := v.key(a.l)
		return v.reads(b.r, k) || isElement(b.l) && v.key(b.l) == k
	}
	return !disturbs(a, b) && !disturbs(b, a)
}
