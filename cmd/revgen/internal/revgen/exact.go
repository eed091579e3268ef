package revgen

import "strconv"

// Over fixed point, sums of products are rounded once. A local that loops add products to
// is a fixed.Sum, and the products are exact there (the operation exact). These locals are
// chosen before the passes are derived, so that all passes compute the same bits. For
// values they are chosen in the function, and for cotangents in its adjoint. The tangent
// of such a sum is such a sum too.

// A total is a local that is only added to.
type total struct {
	depth    int  // how many loops are around its definition
	products bool // a loop adds products to it
	deep     bool // a loop reads it
	other    bool // something else happens to it
}

// withExactSums returns b with exact sums.
func withExactSums(b []*stmt) []*stmt {
	totals := map[*local]*total{}
	at := func(v *local) *total {
		if totals[v] == nil {
			totals[v] = &total{other: true} // not defined here
		}
		return totals[v]
	}
	var visit func(b []*stmt, depth int)
	visit = func(b []*stmt, depth int) {
		for _, s := range b {
			for _, e := range s.reads() {
				e.each(func(e *node) {
					if e.op == "ref" && depth > at(e.v).depth {
						at(e.v).deep = true
					}
				})
			}
			switch v := s.writes(); {
			case s.op == "def" && totals[v] == nil:
				totals[v] = &total{depth: depth, other: v.kind != number || v.exact}
			case s.op == "add" && v != nil:
				t := at(v)
				t.products = t.products || depth > t.depth && exactTerms(s.e).has(func(e *node) bool { return e.op == "exact" })
			case s.v != nil && s.op != "loop":
				at(s.v).other = true
			}
			inner := depth
			if s.op == "loop" {
				inner++
			}
			visit(s.inner, inner)
			visit(s.els, inner)
		}
	}
	visit(b, 0)
	return exactIn(b, totals)
}

// exactIn returns b with exact sums in place of the totals that have products. If a loop
// reads such a sum, it is rounded before that loop.
func exactIn(b []*stmt, totals map[*local]*total) (out []*stmt) {
	sums, rounded := map[*local]*local{}, map[int][]*local{} // by the last statement that adds to them
	for _, s := range b {
		if s.op != "def" || totals[s.v].other || !totals[s.v].products {
			continue
		}
		v, last := s.v, 0
		for i, u := range b {
			if contains([]*stmt{u}, func(u *stmt) bool { return u.adds(v) }) {
				last = i
			}
		}
		if !totals[v].deep {
			v.exact, sums[v] = true, v
		} else if count(b[:last+1]).reads[v] == 0 {
			w := *v
			w.exact, sums[v], rounded[last] = true, &w, append(rounded[last], v)
		}
	}
	for i, s := range addedTo(b, sums) {
		if w := sums[s.v]; s.op == "def" && w != nil {
			s.v = w
		}
		s.inner, s.els = exactIn(s.inner, totals), exactIn(s.els, totals)
		out = append(out, s)
		for _, v := range rounded[i] {
			out = append(out, def(v, ref(sums[v])))
		}
	}
	return out
}

// addedTo returns b, where what it adds to locals goes to their sums instead.
func addedTo(b []*stmt, sums map[*local]*local) (out []*stmt) {
	for _, s := range b {
		c := *s
		if s.op == "add" && sums[s.to.v] != nil {
			c.to, c.e = ref(sums[s.to.v]), exactTerms(s.e)
		}
		c.inner, c.els = addedTo(s.inner, sums), addedTo(s.els, sums)
		out = append(out, &c)
	}
	return out
}

// exactTerms returns e with exact products as its terms.
func exactTerms(e *node) *node {
	c := *e
	switch e.op {
	case "+", "-":
		c.args = []*node{exactTerms(e.args[0]), exactTerms(e.args[1])}
	case "neg":
		c.args = []*node{exactTerms(e.args[0])}
	case "*":
		if _, ok := e.args[0].factor(); !ok {
			c.op = "exact"
		}
	}
	return &c
}

// factor returns the integer n, if e is the literal of a number n. Products by n are exact
// over fixed point.
func (e *node) factor() (n int, ok bool) {
	n, err := strconv.Atoi(e.text)
	return n, e.op == "lit" && e.kind == number && err == nil
}

// exact returns an exact product.
func exact(x, y *node) *node {
	switch {
	case x.minus() != nil:
		return neg(exact(x.minus(), y))
	case y.minus() != nil:
		return neg(exact(x, y.minus()))
	case x.is(zero), y.is(one):
		return x
	case y.is(zero), x.is(one):
		return y
	}
	return &node{op: "exact", args: []*node{x, y}}
}

// exactSum returns e as Go, as a fixed.Sum.
func (w *writer) exactSum(e *node) string {
	a := e.args
	switch isExact := func(e *node) bool { return e.op == "exact" }; {
	case !e.has(isExact):
		return "fixed.SumOf(" + w.expr(e, 0) + ")"
	case e.op == "+" || e.op == "-":
		return w.exactSum(a[0]) + w.exactAdd(a[1], e.op == "-")
	case e.op == "neg" && !isExact(a[0]): // of a sum
		b := a[0].args
		return w.exactSum(neg(b[0])) + w.exactAdd(b[1], a[0].op == "+")
	case e.op == "neg":
		a = []*node{neg(a[0].args[0]), a[0].args[1]}
	}
	return "fixed.Exact(" + w.expr(a[0], 0) + ", " + w.expr(a[1], 0) + ")"
}

// exactAdd returns the call of a method that adds e to a fixed.Sum.
func (w *writer) exactAdd(e *node, minus bool) string {
	switch {
	case e.op == "neg":
		return w.exactAdd(e.args[0], !minus)
	case e.op == "exact" && minus:
		return ".SubMul(" + w.expr(e.args[0], 0) + ", " + w.expr(e.args[1], 0) + ")"
	case e.op == "exact":
		return ".AddMul(" + w.expr(e.args[0], 0) + ", " + w.expr(e.args[1], 0) + ")"
	case !e.has(func(e *node) bool { return e.op == "exact" }):
		return ".Add(" + w.expr(signed(minus, e), 0) + ")"
	case minus:
		return ".SubSum(" + w.exactSum(e) + ")"
	}
	return ".AddSum(" + w.exactSum(e) + ")"
}
