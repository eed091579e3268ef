package revgen

import (
	"maps"
	"slices"
	"strings"
)

// To run backward, a block needs its locals again. They are computed anew from
// operands. If later statements have changed these operands, the statements must be
// inverted first. So a local may be used as long as the operands from which it is
// computed do not change. This file finds out where that holds.

// An affineForm form is a sum of integers times terms: products of what is not known, by
// their keys, the term "" being 1.
type affineForm map[string]int

func affineOf(e *node) affineForm {
	if n, ok := e.integer(); ok {
		return affineForm{"": n}
	}
	if len(e.args) == 2 {
		x, y := affineOf(e.args[0]), affineOf(e.args[1])
		switch e.op {
		case "+":
			return x.plus(1, y)
		case "-":
			return x.plus(-1, y)
		case "*":
			return x.times(y)
		}
	}
	return affineForm{e.key(): 1}
}

func (a affineForm) times(b affineForm) affineForm {
	c := affineForm{}
	for s, m := range a {
		for t, n := range b {
			factors := strings.Fields(s + " " + t)
			slices.Sort(factors)
			c = c.plus(m*n, affineForm{strings.Join(factors, " "): 1})
		}
	}
	return c
}

func (a affineForm) plus(n int, b affineForm) affineForm {
	c := maps.Clone(a)
	for t, v := range b {
		if c[t] += n * v; c[t] == 0 {
			delete(c, t)
		}
	}
	return c
}

func (a affineForm) constant() (int, bool) {
	_, ok := a[""]
	return a[""], len(a) == 0 || len(a) == 1 && ok
}

// facts are the known relations of integers where a block runs.
type facts struct {
	positive, nonzero []affineForm          // positive: at least 1
	equal             map[string]affineForm // lengths, by their keys
}

// of returns the affine form of e, in which each length is replaced by what it is equal to.
func (f facts) of(e *node) affineForm { return f.substituted(affineOf(e)) }

func (f facts) substituted(a affineForm) affineForm {
	out := affineForm{}
	for t, n := range a {
		product := affineForm{"": n}
		for _, factor := range strings.Fields(t) {
			if e := f.equal[factor]; e != nil {
				product = product.times(e)
			} else {
				product = product.times(affineForm{factor: 1})
			}
		}
		out = out.plus(1, product)
	}
	return out
}

// noteEqualLengths notes that two lengths are equal, if e says that they are not.
func (f *facts) noteEqualLengths(e *node) {
	if e.op != "!=" {
		return
	}
	x, y := e.args[0], e.args[1]
	if x.op != "len" || f.equal[x.key()] != nil {
		x, y = y, x
	}
	if a := f.of(y); x.op == "len" && f.equal[x.key()] == nil && a[x.key()] == 0 {
		for k, b := range f.equal {
			f.equal[k] = facts{equal: map[string]affineForm{x.key(): a}}.substituted(b)
		}
		f.equal[x.key()] = a
	}
}

// inside returns the facts in the first or second block of s.
func (f facts) inside(s *stmt, els bool) facts {
	f = facts{slices.Clip(f.positive), slices.Clip(f.nonzero), f.equal}
	if s.op == "loop" {
		f.less(s.lo, ref(s.v), 1)
		if s.hi != nil {
			f.less(ref(s.v), s.hi, 0)
		}
		return f
	}
	f.assume(s.e, els)
	return f
}

// less notes that x < y + by.
func (f *facts) less(x, y *node, by int) {
	f.positive = append(f.positive, affineOf(y).plus(-1, affineOf(x)).plus(by, affineForm{"": 1}))
}

func (f *facts) assume(e *node, not bool) {
	if len(e.args) < 2 || e.op != "&&" && e.args[0].kind != integer {
		return
	}
	x, y, op := e.args[0], e.args[1], e.op
	if not {
		op = map[string]string{"==": "!=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
	}
	switch op {
	case "&&":
		f.assume(x, false)
		f.assume(y, false)
	case "!=":
		f.nonzero = append(f.nonzero, affineOf(x).plus(-1, affineOf(y)))
	case "<":
		f.less(x, y, 0)
	case "<=":
		f.less(x, y, 1)
	case ">":
		f.less(y, x, 0)
	case ">=":
		f.less(y, x, 1)
	}
}

// within reports whether 0 <= i < n is known.
func (f facts) within(i, n *node) bool { return f.inRange(f.of(i), f.of(n)) }

// inRange reports whether 0 <= i < n is known.
func (f facts) inRange(i, n affineForm) bool {
	atLeast := func(a affineForm, least int) bool {
		if c, ok := a.constant(); ok && c >= least {
			return true
		}
		return slices.ContainsFunc(f.positive, func(b affineForm) bool {
			c, ok := a.plus(-1, f.substituted(b)).constant()
			return ok && c+1 >= least
		})
	}
	return atLeast(i, 0) && atLeast(n.plus(-1, i), 1)
}

// differ reports whether x and y are known to be different integers.
func (f facts) differ(x, y *node) bool {
	d := affineOf(x).plus(-1, affineOf(y))
	if n, ok := d.constant(); ok {
		return n != 0
	}
	for _, b := range f.nonzero {
		if n, ok := d.plus(-1, b).constant(); ok && n == 0 {
			return true
		}
		if n, ok := d.plus(1, b).constant(); ok && n == 0 {
			return true
		}
	}
	return f.exceeds(d) || f.exceeds(affineForm{}.plus(-1, d))
}

// exceeds reports whether d is known to be at least 1: from one bound, or from two, as i - k > 0
// from k < j and j <= i.
func (f facts) exceeds(d affineForm) bool {
	for i, b := range f.positive {
		rest := d.plus(-1, b)
		if n, ok := rest.constant(); ok && n >= 0 {
			return true
		}
		for _, c := range f.positive[i+1:] {
			if n, ok := rest.plus(-1, c).constant(); ok && n >= -1 {
				return true
			}
		}
	}
	return false
}

// meet reports whether x and y may be the same element.
func (f facts) meet(x, y *node) bool {
	if x.x != y.x || x.in != y.in {
		return false
	}
	for i := range min(len(x.args), len(y.args)) {
		if f.differ(x.args[i], y.args[i]) {
			return false
		}
	}
	return true
}

// sources are the elements of operands in place that the locals of a block are computed
// from. Locals that are defined outside of the block have none: the block that defines
// them says where they may be used.
type sources map[*local][]*node

func sourcesOf(b []*stmt) sources {
	src := sources{}
	each(b, func(s *stmt) {
		if s.op == "def" {
			src[s.v] = nil
		}
	})
	src.find(b, nil)
	return src
}

// find sets the sources of all locals in b, which runs under the control of the
// elements given.
func (src sources) find(b []*stmt, control []*node) {
	for range 2 { // twice for what loops carry
		for _, s := range b {
			from := union(src.of(s.reads()...), control)
			if _, ok := src[s.writes()]; ok {
				src[s.writes()] = union(src[s.writes()], from)
			}
			src.find(s.inner, from)
			src.find(s.els, from)
		}
	}
}

// of returns the elements that expressions are computed from.
func (src sources) of(es ...*node) (xs []*node) {
	for _, e := range es {
		e.each(func(e *node) {
			if (e.op == "elem" || e.op == "whole") && e.x.role() == "inout" {
				xs = union(xs, []*node{e})
			} else if e.op == "ref" {
				xs = union(xs, src[e.v])
			}
		})
	}
	return xs
}

func union(x, y []*node) []*node {
	x = slices.Clip(x)
	for _, e := range y {
		if !slices.ContainsFunc(x, func(o *node) bool { return o.key() == e.key() }) {
			x = append(x, e)
		}
	}
	return x
}

// results returns the locals of own that s writes.
func results(s *stmt, own map[*local]bool) (vs []*local) {
	s.each(func(s *stmt) {
		if v := s.writes(); own[v] {
			vs = append(vs, v)
		}
	})
	return vs
}

// defined returns the locals that b itself defines.
func defined(b []*stmt) map[*local]bool {
	own := map[*local]bool{}
	for _, s := range b {
		if s.op == "def" {
			own[s.v] = true
		}
	}
	return own
}

// places returns for each statement of b which later one is the first to change
// what its results are computed from, or len(b).
func places(b []*stmt, f facts) []int {
	at, own, src := make([]int, len(b)), defined(b), sourcesOf(b)
	f = f.ranges(b, nil)
	for i, s := range b {
		at[i] = len(b)
		var from []*node
		for _, v := range results(s, own) {
			from = union(from, src[v])
		}
		for j := len(b) - 1; j >= i && len(from) > 0; j-- {
			if f.change(b[j], from) != "" {
				at[i] = j
			}
		}
		// To compute s again, what it reads and what it writes again is computed first.
		for j, u := range b[:i] {
			if at[j] < at[i] && slices.ContainsFunc(results(u, own), func(v *local) bool {
				return reads(s, v) > 0 || slices.Contains(results(s, own), v)
			}) {
				at[i] = max(at[j], i)
			}
		}
	}
	return at
}

// check returns why b cannot be run backward.
func (r *reader) check(b []*stmt, f facts) {
	refuse := func(s *stmt, format string, args ...any) {
		if err := r.refusal(s.pos, format, args...); !slices.Contains(r.refusals, err) {
			r.refusals = append(r.refusals, err)
		}
	}
	at, own, src := places(b, f), defined(b), sourcesOf(b)
	ranges := f.ranges(b, nil)
	for i, s := range b {
		for _, v := range results(s, own) {
			late := false
			each(b[at[i]:], func(u *stmt) {
				for _, e := range u.reads() {
					if !late && e.has(func(e *node) bool { return e.v == v }) {
						late = true
						refuse(u, "%s is used where %s, which it is computed from, changes or has changed: compute it again after that", v.name, ranges.change(b[at[i]], src[v]))
					}
				}
			})
		}
		if s.op == "add" && s.to.op == "elem" {
			for _, x := range (sources{}).of(s.e) {
				if s.to.key() == x.key() {
					refuse(s, "%s is read and written in the same statement, which has no inverse in general", show(x))
				} else if f.meet(s.to, x) {
					refuse(s, "%s and %s may be the same element, which the inverse would not find as it was: if they are not, say so by if i != j", show(s.to), show(x))
				}
			}
		}
		if s.op == "loop" && s.e != nil && contains(s.inner, func(s *stmt) bool { return len(s.targets()) > 0 }) {
			refuse(s, "a loop that changes operands runs over a range: from a condition the inverse would not know how often")
		}
		if x := ranges.change(s, (sources{}).of(s.reads()...)); s.op == "cond" && x != "" {
			refuse(s, "the condition reads %s, which the branch changes: the inverse would not know that it was taken", x)
		}
		if len(s.inner)+len(s.els) > 0 {
			r.check(s.inner, f.inside(s, false))
			r.check(s.els, f.inside(s, true))
		}
	}
}

// show returns e as in the source.
func show(e *node) string {
	switch {
	case e.op == "lit":
		return e.text
	case e.op == "Index":
		return show(e.args[0])
	case e.op == "whole":
		return e.x.name
	case e.op == "ref":
		return e.v.name
	case e.op == "len" && e.axis == 1:
		return "len(" + e.x.name + "[0])"
	case e.op == "len":
		return "len(" + e.x.name + ")"
	case e.op == "elem":
		s := e.x.name
		for _, i := range e.args {
			s += "[" + show(i) + "]"
		}
		return s
	case len(e.args) == 2:
		return show(e.args[0]) + e.op + show(e.args[1])
	}
	return "-" + show(e.args[0])
}
