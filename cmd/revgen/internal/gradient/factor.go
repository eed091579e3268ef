package gradient

import (
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A factorer adds up what a cotangent gets from another one before the product:
//
//	g := yBar / d                   g := yBar / d
//	xBar += g * x             →     h := g * y
//	h := g * y                      xBar += g * (x - y*z)
//	xBar -= h * z
//
// If xBar is carried from one iteration to the next, these then wait for one product and one sum. What
// differs in a constant alone is one product: 2*x*x + x*x is 3*x*x.
type factorer struct {
	sets  map[*variable]int      // how often a variable is set
	parts map[*variable]*summand // cotangents that are products with other ones
	bars  map[*variable]bool     // cotangents, and what is computed from them
	read  map[*variable]int      // how often a variable is mentioned
}

// A summand is a product with c, or its negative.
type summand struct {
	c        *variable
	factors  []expr
	negative bool
}

// A batch is a run of additions of products with c to x. They begin at an index of a list.
type batch struct {
	terms []*summand
	at    []int
}

// factored returns statements with such sums.
func factored(list []stmt) []stmt {
	for n := 0; n != size(list); { // a sum is set once, and may be a factor of others
		n = size(list)
		list = factoredOnce(list)
	}
	return list
}

func factoredOnce(list []stmt) []stmt {
	f := &factorer{map[*variable]int{}, map[*variable]*summand{}, map[*variable]bool{}, mentions(list)}
	each(list, func(s stmt) {
		sets(s, func(e expr, _ bool) { f.sets[root(e)]++ })
	})
	return f.list(list)
}

func (f *factorer) list(list []stmt) []stmt {
	list = slices.Clone(list)
	open := map[*variable]*batch{}
	here := map[*variable]bool{} // is defined in this list
	gone := map[int]bool{}
	end := func(x *variable) {
		if b := open[x]; b != nil && len(b.terms) > 1 {
			first, last := list[b.at[0]].(*assignment), b.at[len(b.at)-1]
			for _, i := range b.at[:len(b.at)-1] {
				gone[i] = true
			}
			list[last] = b.sum(first)
		}
		delete(open, x)
	}
	for i, s := range list {
		list[i] = descend(s, f.list)
		a, ok := s.(*assignment)
		var to *variable
		var p *summand
		if ok && isReference(a.l) && isFloat(a.l.typeOf()) && a.r != nil {
			to = root(a.l)
			p = f.product(a.r)
			if a.op == token.SUB_ASSIGN && p != nil {
				p.negative = !p.negative
			}
			if a.op == token.ASSIGN && !a.define || p != nil && (!here[p.c] || p.c == to) {
				p = nil
			}
			visit(a.r, func(e expr) {
				if y, ok := e.(*reference); ok && (f.bars[y.v] || y.v.of != nil) {
					f.bars[to] = true
				}
			})
			if a.define {
				here[to] = true
				if p != nil && f.sets[to] == 1 {
					f.parts[to] = p
				}
			}
		}
		// What s sets ends the batches that read it, and what it reads ends the batches that add to it.
		used, memory := map[*variable]bool{}, false
		set := map[*variable]bool{}
		each([]stmt{s}, func(s stmt) {
			expressions(s, func(e expr) {
				visit(e, func(e expr) {
					if x, ok := e.(*reference); ok {
						used[x.v] = true
					}
				})
			})
			sets(s, func(e expr, _ bool) {
				set[root(e)] = true
				memory = memory || !isReference(e)
			})
			if _, ok := s.(*effect); ok {
				memory = true
			}
		})
		maps.DeleteFunc(f.parts, func(_ *variable, q *summand) bool { return q.changes(set, memory) })
		for x, b := range maps.Clone(open) {
			same := x == to && p != nil && b.terms[0].c == p.c && !a.define && mentionsOf([]stmt{&effect{a.r}}, x) == 0
			if used[x] && !same || slices.ContainsFunc(b.terms, func(t *summand) bool { return t.changes(set, memory) }) {
				end(x)
			}
		}
		if p == nil {
			continue
		}
		if b := open[to]; b != nil {
			b.terms, b.at = append(b.terms, p), append(b.at, i)
		} else {
			open[to] = &batch{[]*summand{p}, []int{i}}
		}
	}
	for x := range maps.Clone(open) {
		end(x)
	}
	var out []stmt
	for i, s := range list {
		if !gone[i] {
			out = append(out, s)
		}
	}
	return out
}

// product returns e as a product with a cotangent that is set once, or nil. A cotangent that is a product with a
// long sum stays a factor if it is mentioned elsewhere, too: its copies would have copies of those before it.
func (f *factorer) product(e expr) *summand {
	p := &summand{}
	slope, at := false, 0
	var walk func(e expr)
	walk = func(e expr) {
		switch x := e.(type) {
		case *unary:
			if x.op == token.SUB {
				p.negative = !p.negative
				walk(x.x)
				return
			}
		case *binary:
			if x.op == token.MUL {
				walk(x.x)
				walk(x.y)
				return
			}
		case *reference:
			slope = slope || x.slope
			if p.c == nil && f.sets[x.v] == 1 && (f.bars[x.v] || x.v.of != nil) {
				p.c, at = x.v, len(p.factors)
				return
			}
		}
		p.factors = append(p.factors, e)
	}
	walk(e)
	if p.c == nil || slope || !isFloat(e.typeOf()) {
		return nil
	}
	if q := f.parts[p.c]; q != nil && (f.read[p.c] == 2 || !slices.ContainsFunc(q.factors, hasSum)) { // its definition, and here
		factors := slices.Insert(slices.Clone(p.factors), at, q.factors...)
		if _, _, ok := coefficient(factors, e.typeOf()); ok {
			return &summand{q.c, factors, p.negative != q.negative}
		}
	}
	if _, _, ok := coefficient(p.factors, e.typeOf()); !ok {
		return nil
	}
	return p
}

// hasSum reports whether there is a sum in e that is longer than x + y*z.
func hasSum(e expr) (yes bool) {
	visit(e, func(e expr) {
		if x, ok := e.(*binary); ok && isFloat(x.typ) && (x.op == token.ADD || x.op == token.SUB) {
			n := 0
			visit(e, func(expr) { n++ })
			yes = yes || n > 5
		}
	})
	return yes
}

// coefficient returns the product of the constants among factors of a type, and the others. It is not ok if the
// product is out of the range of normal numbers of that type.
func coefficient(factors []expr, t types.Type) (c float64, others []expr, ok bool) {
	c, ok = 1, true
	for _, e := range factors {
		if v, isNumber := number64(e); isNumber {
			ok = ok && (v == 0 || c == 0 || normal(c*v, t))
			c *= v
		} else {
			others = append(others, e)
		}
	}
	return c, others, ok
}

// number64 returns the value of a literal.
func number64(e expr) (v float64, ok bool) {
	c, isLiteral := e.(*literal)
	if !isLiteral || c.text == "" || c.text[0] != '.' && (c.text[0] < '0' || c.text[0] > '9') { // a constant may have the name inf
		return 0, false
	}
	x := constant.MakeFromLiteral(c.text, token.INT, 0)
	if x.Kind() == constant.Unknown {
		x = constant.MakeFromLiteral(c.text, token.FLOAT, 0)
	}
	if x.Kind() == constant.Unknown {
		return 0, false
	}
	v, _ = constant.Float64Val(x)
	return v, true
}

// normal reports whether v is a normal number of a type.
func normal(v float64, t types.Type) bool {
	lo, hi := 0x1p-1022, math.MaxFloat64
	if !types.Identical(t.Underlying(), float) {
		lo, hi = 0x1p-126, math.MaxFloat32
	}
	return math.Abs(v) >= lo && math.Abs(v) <= hi
}

// changes reports whether one of the variables set, or memory, is in a product.
func (p *summand) changes(set map[*variable]bool, memory bool) (yes bool) {
	yes = set[p.c]
	for _, e := range p.factors {
		visit(e, func(e expr) {
			x, ok := e.(*reference)
			yes = yes || ok && set[x.v] || !ok && memory && isPlace(e)
		})
	}
	return yes
}

// sum returns the statement that adds all products of a batch. first is the first of those that did so.
func (b *batch) sum(first *assignment) stmt {
	var total expr
	b.terms = alike(b.terms)
	for _, p := range b.terms {
		e := lit("1", first.l.typeOf())
		for _, x := range p.factors {
			e = times(e, x)
		}
		switch {
		case total == nil:
			total = e
		case p.negative == b.terms[0].negative:
			total = add(total, e)
		default:
			total = subtract(total, e)
		}
	}
	a := &assignment{first.l, first.op, times(ref(b.terms[0].c), total), first.define}
	switch {
	case first.define && b.terms[0].negative:
		a.r = negative(a.r)
	case first.define:
	case b.terms[0].negative:
		a.op = token.SUB_ASSIGN
	default:
		a.op = token.ADD_ASSIGN
	}
	return a
}

// alike returns terms in which those that differ in a constant alone are one, if its constant is a number of their
// type.
func alike(terms []*summand) (out []*summand) {
	type group struct {
		*summand
		times float64
		count int
	}
	groups := map[string]*group{}
	var order []*group
	for _, p := range terms {
		c, others, ok := coefficient(p.factors, p.c.typ)
		g := &group{&summand{p.c, others, p.negative}, c, 0}
		if p.negative {
			g.times = -c
		}
		var texts []string
		for _, x := range others {
			texts = append(texts, text(x))
		}
		slices.Sort(texts)
		key := strings.Join(texts, "*")
		first := groups[key]
		if sum := g.times; ok && first != nil {
			if sum += first.times; sum == 0 || normal(sum, p.c.typ) {
				first.times = sum
				first.count++
				continue
			}
		}
		if ok && first == nil {
			groups[key] = g
		}
		order = append(order, g)
		out = append(out, p)
	}
	for i, g := range order {
		if g.count > 0 {
			c := lit(strconv.FormatFloat(math.Abs(g.times), 'g', -1, 64), g.c.typ)
			out[i] = &summand{g.c, append([]expr{c}, g.factors...), g.times < 0}
		}
	}
	return out
}
