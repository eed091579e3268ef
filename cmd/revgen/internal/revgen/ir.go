package revgen

import (
	"fmt"
	"go/token"
	"slices"
	"strconv"
)

type kind uint8

const (
	number kind = iota
	integer
	boolean
)

// A space says whose element it is: of the operands, or of their cotangents or
// tangents, or of the tangents of cotangents.
type space uint8

const (
	value     space = 0
	cotangent space = 1
	tangent   space = 2
)

var spacePrefix = [4]string{"", "g", "t", "gt"}

// An operand is a parameter that becomes a field with a rev tag.
type operand struct {
	name          string
	rank          int  // 0 for a number, 1 for a vector, 2 for a matrix
	index         bool // of integers
	read, written bool
	shape         string // the shape tag
}

func (x *operand) role() string {
	switch {
	case x.index:
		return "index"
	case !x.written:
		return "in"
	case !x.read:
		return "acc"
	}
	return "inout"
}

// A local is a variable of a program.
type local struct {
	name    string
	kind    kind
	plain   bool   // a parameter that is no operand: the field of that name
	active  bool   // depends on operands
	exact   bool   // a fixed.Sum, which only exact products and numbers are added to
	temp    bool   // without a name in the function: tidy.go may leave it out
	derived bool   // a cotangent or a tangent
	of      *local // what it is the cotangent or tangent of; its name is then a prefix
	read    bool   // so far, while the function is read
}

// A node is an expression, without side effects and never changed once made.
type node struct {
	op   string // lit, ref, elem, whole (an operand), len, neg, !, an operator of Go with two operands, over, exact, or a function of package num, or with its package
	kind kind
	text string   // of a lit
	v    *local   // of a ref
	x    *operand // of an elem or a len
	in   space    // of an elem
	row  *local   // of an elem: the row that it is in, if that has a name
	axis int      // of a len
	args []*node  // indices, operands or arguments
}

func lit(k kind, text string) *node { return &node{op: "lit", kind: k, text: text} }
func ref(v *local) *node            { return &node{op: "ref", kind: v.kind, v: v} }

// fn returns a call of a function of package num.
func fn(name string, args ...*node) *node {
	e := &node{op: name, args: args}
	if name == "Index" {
		e.kind = integer
	}
	return e
}

func integerLit(n int) *node { return lit(integer, strconv.Itoa(n)) }

// integer returns the value of e, if it is an integer literal.
func (e *node) integer() (int, bool) {
	if e.op != "lit" || e.kind != integer {
		return 0, false
	}
	n, err := strconv.Atoi(e.text)
	return n, err == nil
}

// folded returns the result of an operation on integers.
func folded(op string, x, y int) *node {
	truth := func(b bool) *node { return lit(boolean, strconv.FormatBool(b)) }
	switch op {
	case "+":
		return integerLit(x + y)
	case "-":
		return integerLit(x - y)
	case "*":
		return integerLit(x * y)
	case "/":
		if y != 0 {
			return integerLit(x / y)
		}
	case "%":
		if y != 0 {
			return integerLit(x % y)
		}
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<":
		return truth(x < y)
	case "<=":
		return truth(x <= y)
	case ">":
		return truth(x > y)
	case ">=":
		return truth(x >= y)
	}
	return nil
}

// binary returns an operation of Go.
func binary(op string, x, y *node) *node {
	m, ok := x.integer()
	if n, ok2 := y.integer(); ok && ok2 {
		if e := folded(op, m, n); e != nil {
			return e
		}
	}
	if x.kind == integer && (op == "+" || op == "-") && y.is(none) {
		return x
	}
	if op == "+" && x.is(none) {
		return y
	}
	if op == "+" && x.op == "-" && x.kind == integer && x.args[1].key() == y.key() {
		return x.args[0]
	}
	e := &node{op: op, kind: x.kind, args: []*node{x, y}}
	if p, ok := precedence[op]; ok && p < precedence["+"] {
		e.kind = boolean
	}
	return e
}

var zero, one, two, none = lit(number, "0"), lit(number, "1"), lit(number, "2"), lit(integer, "0")

var half = lit(number, "0.5")

func (e *node) is(c *node) bool { return e.op == "lit" && e.kind == c.kind && e.text == c.text }
func (e *node) atom() bool      { return e.op == "lit" || e.op == "ref" }

// minus returns x if e is -x.
func (e *node) minus() *node {
	if e.op == "neg" {
		return e.args[0]
	}
	return nil
}

// The constructors of sums, products and quotients of numbers simplify zeros, ones and
// double signs, which are frequent in derivatives.

func neg(x *node) *node {
	if y := x.minus(); y != nil {
		return y
	}
	if x.is(zero) {
		return x
	}
	return &node{op: "neg", kind: x.kind, args: []*node{x}}
}

func sum(x, y *node) *node {
	switch z := y.minus(); {
	case x.is(zero):
		return y
	case y.is(zero):
		return x
	case z != nil:
		return binary("-", x, z)
	}
	return binary("+", x, y)
}

func product(x, y *node) *node {
	switch {
	case x.minus() != nil:
		return neg(product(x.minus(), y))
	case y.minus() != nil:
		return neg(product(x, y.minus()))
	case x.is(zero), y.is(one):
		return x
	case y.is(zero), x.is(one):
		return y
	case y.op == "lit":
		return binary("*", y, x)
	}
	return binary("*", x, y)
}

func quotient(op string, x, y *node) *node {
	switch {
	case x.minus() != nil:
		return neg(quotient(op, x.minus(), y))
	case x.is(zero), y.is(one):
		return x
	}
	return binary(op, x, y)
}

func signed(minus bool, e *node) *node {
	if minus {
		return neg(e)
	}
	return e
}

// each calls f for e and all its parts.
func (e *node) each(f func(*node)) {
	f(e)
	for _, a := range e.args {
		a.each(f)
	}
}

func (e *node) has(f func(*node) bool) (yes bool) {
	e.each(func(p *node) { yes = yes || f(p) })
	return yes
}

// replaced returns e with f(p) in place of each part p.
func (e *node) replaced(f func(*node) *node) *node {
	c := *e
	c.args = slices.Clone(e.args)
	for i := range c.args {
		c.args[i] = c.args[i].replaced(f)
	}
	if a := c.args; c.kind == number {
		switch c.op {
		case "+":
			return f(sum(a[0], a[1]))
		case "-":
			return f(sum(a[0], neg(a[1])))
		case "*":
			return f(product(a[0], a[1]))
		case "exact":
			return f(exact(a[0], a[1]))
		case "neg":
			return f(neg(a[0]))
		case "cmplx.Conj":
			return f(conj(a[0]))
		}
	}
	return f(&c)
}

// largest returns e with f(p) in place of each part p for which is(p) holds, and which
// is not in a larger one.
func (e *node) largest(is func(*node) bool, f func(*node) *node) *node {
	if is(e) {
		return f(e)
	}
	c := *e
	c.args = slices.Clone(e.args)
	for i := range c.args {
		c.args[i] = c.args[i].largest(is, f)
	}
	return &c
}

// active reports whether e has a derivative.
func (e *node) active() bool {
	switch {
	case e.kind != number:
		return false
	case e.op == "ref":
		return e.v.active
	}
	return e.op == "elem" || slices.ContainsFunc(e.args, (*node).active)
}

// key returns a text that is the same for equal expressions.
func (e *node) key() string {
	s := e.op + e.text
	switch e.op {
	case "ref":
		s = fmt.Sprintf("%p", e.v)
	case "elem", "len", "whole":
		s = fmt.Sprint(e.op, spacePrefix[e.in], ":", e.x.name, ".", e.axis)
	}
	for _, a := range e.args {
		s += "(" + a.key() + ")"
	}
	return s
}

// A stmt is a statement.
type stmt struct {
	op   string // def, known, set, add, swap, loop, cond, push, pop, keep, back, row, given, note, sincos, fail or kernel
	v    *local // what is defined, set, kept on a tape, or counts a loop
	to   *node  // what is added to: a ref or an elem; or what is exchanged
	with *node  // what it is exchanged with; if nil, the sign changes
	e    *node  // the value, or the condition of a branch or a loop
	neg  bool   // of add: -=
	pos  token.Pos
	tape *local // of push, pop, keep and back
	x    *operand
	in   space

	// Of row: v becomes row e of x in that space. Of given: x must not be nil there. Of sincos:
	// v and with become the sine and cosine of e; with keep they are declared already.

	// Of kernel: the pass that is made. If quiet is set, it is made for the cotangents
	// alone: outputs have been added to. If it fails, e is the error that is returned.
	callee                        *callee
	back, adjoint, tangent, quiet bool

	declares bool // of def: e is a placeholder; a branch sets v before any read

	inner []*stmt
	els   []*stmt

	// A loop runs v from lo up to hi-1, or the other way. With a condition, v
	// counts up from lo; keep says that v is used after the loop, and again that the
	// loop counts v back from there.
	lo, hi            *node
	down, keep, again bool
	carried           []*local // the locals that an iteration takes from the one before
	fork              *fork    // how the iterations are divided among workers, or nil
	vector            bool     // one addition, which vector code does
}

func def(v *local, e *node) *stmt  { return &stmt{op: "def", v: v, e: e} }
func set(v *local, e *node) *stmt  { return &stmt{op: "set", v: v, e: e} }
func add(to, e *node) *stmt        { return &stmt{op: "add", to: to, neg: e.op == "neg", e: abs(e)} }
func (s *stmt) adds(v *local) bool { return s.op == "add" && s.to.v == v }

func abs(e *node) *node {
	if x := e.minus(); x != nil {
		return x
	}
	return e
}

// mapped returns s with f(e) in place of each expression e of its own.
func (s *stmt) mapped(f func(*node) *node) *stmt {
	c := *s
	for _, e := range []**node{&c.to, &c.with, &c.e, &c.lo, &c.hi} {
		if *e != nil {
			*e = f(*e)
		}
	}
	if c.op == "add" && c.e.op == "neg" {
		c.e, c.neg = c.e.args[0], !c.neg
	}
	return &c
}

// reads returns the expressions that s itself reads.
func (s *stmt) reads() (es []*node) {
	for _, e := range []*node{s.e, s.lo, s.hi} {
		if e != nil {
			es = append(es, e)
		}
	}
	for _, x := range s.targets() {
		es = append(es, x.args...)
	}
	if s.op == "push" || s.op == "pop" || s.again {
		es = append(es, ref(s.v))
	}
	return es
}

// writes returns the local that s itself writes, or nil.
func (s *stmt) writes() *local {
	switch s.op {
	case "def", "set", "pop", "back":
		return s.v
	case "add":
		return s.to.v
	}
	return nil
}

// targets returns the elements that s itself changes.
func (s *stmt) targets() (xs []*node) {
	if s.op == "kernel" {
		return s.callee.changes(s)
	}
	for _, x := range []*node{s.to, s.with} {
		if x != nil && x.op == "elem" {
			xs = append(xs, x)
		}
	}
	return xs
}

// each calls f for s and all statements in it, from the outside in.
func (s *stmt) each(f func(*stmt)) { f(s); each(s.inner, f); each(s.els, f) }

func each(b []*stmt, f func(*stmt)) {
	for _, s := range b {
		s.each(f)
	}
}

func contains(b []*stmt, f func(*stmt) bool) (yes bool) {
	each(b, func(s *stmt) { yes = yes || f(s) })
	return yes
}

// without returns b without the statements of the given kind.
func without(b []*stmt, op string) (out []*stmt) {
	for _, s := range b {
		if s.op != op {
			c := *s
			c.inner, c.els = without(s.inner, op), without(s.els, op)
			out = append(out, &c)
		}
	}
	return out
}

// failing returns the part of b that decides whether it fails.
func failing(b []*stmt) []*stmt {
	for _, op := range []string{"add", "swap"} {
		b = slices.DeleteFunc(slices.Clone(b), func(s *stmt) bool { return s.op == op && len(s.targets()) > 0 })
	}
	return alive(b)
}

// activate sets which locals depend on operands.
func activate(b []*stmt) {
	for changed := true; changed; {
		changed = false
		each(b, func(s *stmt) {
			if v := s.writes(); v != nil && !v.active && s.e.active() {
				v.active, changed = true, true
			}
		})
	}
}
