package gradient

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// A variable is a parameter or a local of the function, or of one that is inlined.
type variable struct {
	name    string
	typ     types.Type
	outer   *outer // how it is declared, if it is a parameter that is a vector or a matrix of gonum
	param   bool
	number  int         // in the order of declarations
	unnamed bool        // in the source
	unmade  bool        // it is declared without a value
	slope   bool        // it is a tangent of a derivative that is inlined
	copied  bool        // it is a copy of half a matrix (symmetric.go)
	sink    bool        // what its elements are matters only if they are read here
	hoisted bool        // it is declared before the branch that it is a local of
	winner  bool        // it is an iteration of the loop that it is compared in, or the one before the first
	scope   []*loopInfo // the loops that its declaration is in
	bar     *variable   // its cotangent, if it has one
	of      *variable   // the variable whose cotangent or tangent it is
}

// An outer is a parameter of a type of gonum.
type outer struct {
	name string
	typ  types.Type
}

// A loopInfo is the identity of a loop of the function.
type loopInfo struct{ depth int }

// An expr has no side effects, and does not change once it is made.
type expr interface{ typeOf() types.Type }

type (
	// A literal is a constant, as its text.
	literal struct {
		text string
		typ  types.Type
	}
	// A reference is the value of a variable. slope says that it stands for a tangent: a product with it
	// is 0 if it is 0, whatever the other factor is.
	reference struct {
		v     *variable
		slope bool
	}
	// An element is x[i] of a slice or an array.
	element struct {
		x, i expr
		typ  types.Type
	}
	// A field is x.name of a struct, or of a pointer to one.
	field struct {
		x    expr
		name string
		typ  types.Type
	}
	// A target is what a pointer points to.
	target struct {
		x   expr
		typ types.Type
	}
	// A unary is an operation with one operand.
	unary struct {
		op token.Token
		x  expr
	}
	// A binary is an operation with two operands.
	binary struct {
		op   token.Token
		x, y expr
		typ  types.Type
	}
	// A call is a call of a function that has no side effects, by its name.
	call struct {
		fn   string
		path string // of the package to import, if any
		args []expr
		typ  types.Type
	}
	// A part is x[lo:hi]. lo and hi may be nil. A bounded one ends within the length of x, where Go
	// would allow its capacity.
	part struct {
		x, lo, hi expr
		bounded   bool
	}
)

func (e *literal) typeOf() types.Type   { return e.typ }
func (e *reference) typeOf() types.Type { return e.v.typ }
func (e *element) typeOf() types.Type   { return e.typ }
func (e *field) typeOf() types.Type     { return e.typ }
func (e *target) typeOf() types.Type    { return e.typ }
func (e *binary) typeOf() types.Type    { return e.typ }
func (e *call) typeOf() types.Type      { return e.typ }
func (e *unary) typeOf() types.Type {
	if e.op == token.AND {
		return types.NewPointer(e.x.typeOf())
	}
	return e.x.typeOf()
}
func (e *part) typeOf() types.Type {
	if a, ok := e.x.typeOf().Underlying().(*types.Array); ok {
		return types.NewSlice(a.Elem())
	}
	return e.x.typeOf()
}

// A stmt is a statement of the function, or of what is written.
type stmt interface{}

type (
	// An assignment sets l to r, or with op adds r to it or subtracts r from it. It declares
	// the variable l if define is set.
	assignment struct {
		l      expr
		op     token.Token // ASSIGN, ADD_ASSIGN or SUB_ASSIGN
		r      expr
		define bool
	}
	// A swap exchanges two slices.
	swap struct{ x, y expr }
	// A growth appends n elements to each of some slices: to one, its cotangents and its tangents. They are
	// zero, or with keep, where there is room, what the memory has: an assignment to them follows, which may
	// save that, as another name may have the memory.
	growth struct {
		xs   []expr
		n    expr
		keep bool
	}
	// A fold brings back the slice of cotangents from before a growth, and adds to it what is in
	// the present one, if that lies elsewhere.
	fold struct {
		x    expr
		slot *slot
	}
	// A branch is if and else.
	branch struct {
		cond      expr
		then, els []stmt
	}
	// A ranged loop runs body for v = lo, lo+step, ... while v < hi, or with a negative step
	// while v >= hi.
	ranged struct {
		v      *variable
		lo, hi expr
		step   int
		body   []stmt
		info   *loopInfo
		fused  bool      // each iteration goes ahead and back
		mark   *variable // where an iteration begins in scratch memory, which ends with it, or nil
	}
	// A while loop runs body while cond holds. count, if not nil, counts the iterations.
	while struct {
		cond  expr
		body  []stmt
		count *variable
		info  *loopInfo
	}
	// An effect is a call for its effect, such as panic.
	effect struct{ call expr }
	// A save puts a value on a tape before something changes it, and a restore brings it back.
	save struct {
		x     expr
		pair  *pair
		whole bool // all elements of the matrix x
	}
	restore struct {
		x       expr
		pair    *pair
		inverse *assignment // takes the place of the tape
		whole   bool
	}
	// A backward group has the statements that belong to a statement of the function.
	backward struct {
		list  []stmt
		pos   int
		loops []*loopInfo
	}
	// A locals statement brings back the locals of a block at its end, or in the backward sweep at
	// its beginning, or after the inverse of the change at a place.
	locals struct {
		block *block
		back  bool
		at    int
	}
)

// A pair is a save and its restore.
type pair struct {
	whole bool // all elements of a matrix
	kept  bool
	slot  slot
	pos   int
	loops []*loopInfo
}

// A block is a list of statements in a loop, whose locals are gone at its end.
type block struct {
	vars  []*variable
	plans []*plan // what becomes of vars that are needed, in their order
	pos   int     // the end
	loops []*loopInfo
	outer *block  // nil outside of loops
	of    *ranged // of which it is the body, or nil
	body  bool    // it is the body of a loop, not of a branch
}

// A plan says how a local comes back: by its definition, or from a tape if that is nil. at is 0, or the
// place of the change whose inverse runs before.
type plan struct {
	v    *variable
	expr expr
	at   int
	slot slot
}

var (
	float   = types.Typ[types.Float64]
	integer = types.Typ[types.Int]
	boolean = types.Typ[types.Bool]
)

func isFloat(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func isBoolean(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// isHeader reports whether a value of type t shares memory with its copies.
func isHeader(t types.Type) bool {
	if isMatrix(t) {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Pointer:
		return true
	}
	return false
}

// hasHeaders reports whether a value of type t shares memory with its copies in some part.
func hasHeaders(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return hasHeaders(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasHeaders(f.Type()) {
				return true
			}
		}
	}
	return isHeader(t)
}

// hasFloats reports whether a value of type t reaches numbers that may have derivatives.
func hasFloats(t types.Type) bool {
	return anyPart(t, nil, func(t types.Type, _ bool) bool { return isFloat(t) })
}

// containsItself reports whether a value of type t reaches others of its type.
func containsItself(t types.Type) bool {
	return anyPart(t, nil, func(_ types.Type, again bool) bool { return again })
}

// anyPart reports whether yes holds for the type of what a value of type t reaches. outer are the types
// around t, and again says that t is one of them: its parts have been looked at.
func anyPart(t types.Type, outer []types.Type, yes func(t types.Type, again bool) bool) bool {
	again := slices.Contains(outer, t)
	if found := yes(t, again); found || again {
		return found
	}
	outer = append(slices.Clone(outer), t)
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return anyPart(u.Elem(), outer, yes)
	case *types.Array:
		return anyPart(u.Elem(), outer, yes)
	case *types.Pointer:
		return anyPart(u.Elem(), outer, yes)
	case *types.Struct:
		for f := range u.Fields() {
			if anyPart(f.Type(), outer, yes) {
				return true
			}
		}
	}
	return false
}

func number(text string) expr { return &literal{text, float} }

// lit returns a constant of a type.
func lit(text string, t types.Type) expr { return &literal{text, t} }

func integerLit(n int) expr { return &literal{strconv.Itoa(n), integer} }

func ref(v *variable) expr { return &reference{v, v.slope} }

func isLit(e expr, text string) bool {
	l, ok := e.(*literal)
	return ok && l.text == text
}

// atom reports whether e may stand twice at no cost.
func atom(e expr) bool {
	switch e.(type) {
	case *literal, *reference:
		return true
	}
	return false
}

// The constructors of arithmetic leave out zeros and ones, which are frequent in derivatives.

func negative(x expr) expr {
	switch x := x.(type) {
	case *unary:
		if x.op == token.SUB {
			return x.x
		}
	case *literal:
		if x.text == "0" {
			return x
		}
	}
	return &unary{token.SUB, x}
}

func add(x, y expr) expr {
	switch {
	case isLit(x, "0"):
		return y
	case isLit(y, "0"):
		return x
	}
	if u, ok := y.(*unary); ok && u.op == token.SUB {
		return &binary{token.SUB, x, u.x, x.typeOf()}
	}
	return &binary{token.ADD, x, y, x.typeOf()}
}

func subtract(x, y expr) expr {
	if u, ok := y.(*unary); ok && u.op == token.SUB {
		return add(x, u.x)
	}
	if isLit(y, "0") {
		return x
	}
	return &binary{token.SUB, x, y, x.typeOf()}
}

func times(x, y expr) expr {
	switch {
	case isLit(x, "0"), isLit(y, "1"):
		return x
	case isLit(y, "0"), isLit(x, "1"):
		return y
	case isLit(x, "-1"):
		return negative(y)
	case isLit(y, "-1"):
		return negative(x)
	}
	if u, ok := x.(*unary); ok && u.op == token.SUB {
		return negative(times(u.x, y))
	}
	if u, ok := y.(*unary); ok && u.op == token.SUB {
		return negative(times(x, u.x))
	}
	return &binary{token.MUL, x, y, x.typeOf()}
}

func over(x, y expr) expr {
	if isLit(x, "0") || isLit(y, "1") {
		return x
	}
	if u, ok := x.(*unary); ok && u.op == token.SUB {
		return negative(over(u.x, y))
	}
	return &binary{token.QUO, x, y, x.typeOf()}
}

func fn(name string, args ...expr) expr {
	return &call{"math." + name, "math", args, float}
}

// children returns the operands of e.
func children(e expr) []expr {
	switch e := e.(type) {
	case *element:
		return []expr{e.x, e.i}
	case *field:
		return []expr{e.x}
	case *target:
		return []expr{e.x}
	case *unary:
		return []expr{e.x}
	case *binary:
		return []expr{e.x, e.y}
	case *call:
		return e.args
	case *invocation:
		return e.args
	case *comparison:
		return []expr{e.before}
	case *view:
		return append([]expr{e.x}, e.args...)
	case *part:
		out := []expr{e.x}
		if e.lo != nil {
			out = append(out, e.lo)
		}
		if e.hi != nil {
			out = append(out, e.hi)
		}
		return out
	}
	return nil
}

// visit calls f for e and all that it consists of.
func visit(e expr, f func(expr)) {
	if e == nil {
		return
	}
	f(e)
	for _, c := range children(e) {
		visit(c, f)
	}
}

// rewritten returns e with f applied to all that it consists of, from the inside out.
func rewritten(e expr, f func(expr) expr) expr {
	all := func(list []expr) []expr {
		out := make([]expr, len(list))
		for i, e := range list {
			out[i] = rewritten(e, f)
		}
		return out
	}
	switch x := e.(type) {
	case nil:
		return nil
	case *element:
		e = &element{rewritten(x.x, f), rewritten(x.i, f), x.typ}
	case *field:
		e = &field{rewritten(x.x, f), x.name, x.typ}
	case *target:
		e = &target{rewritten(x.x, f), x.typ}
	case *unary:
		e = &unary{x.op, rewritten(x.x, f)}
	case *binary:
		e = &binary{x.op, rewritten(x.x, f), rewritten(x.y, f), x.typ}
	case *call:
		e = &call{x.fn, x.path, all(x.args), x.typ}
	case *invocation:
		c := *x
		c.args = all(x.args)
		e = &c
	case *comparison:
		c := &comparison{x.i, x.j, rewritten(x.before, f)}
		for _, v := range []**variable{&c.i, &c.j} { // they may get other names
			if r, ok := f(ref(*v)).(*reference); ok {
				*v = r.v
			}
		}
		return c
	case *part:
		e = &part{rewritten(x.x, f), rewritten(x.lo, f), rewritten(x.hi, f), x.bounded}
	case *view:
		e = &view{x.fn, rewritten(x.x, f), all(x.args), x.typ}
	}
	return f(e)
}

// rewrittenList returns statements with f applied to all expressions, and loop to the loops.
func rewrittenList(list []stmt, f func(expr) expr, loop func(*loopInfo) *loopInfo) (out []stmt) {
	of := func(e expr) expr { return rewritten(e, f) }
	inner := func(list []stmt) []stmt { return rewrittenList(list, f, loop) }
	variable := func(v *variable) *variable {
		if v == nil {
			return nil
		}
		return root(f(ref(v)))
	}
	for _, s := range list {
		switch x := s.(type) {
		case *assignment:
			s = &assignment{of(x.l), x.op, of(x.r), x.define}
		case *swap:
			s = &swap{of(x.x), of(x.y)}
		case *growth:
			g := &growth{n: of(x.n), keep: x.keep}
			for _, e := range x.xs {
				g.xs = append(g.xs, of(e))
			}
			s = g
		case *fold:
			s = &fold{of(x.x), x.slot}
		case *branch:
			s = &branch{of(x.cond), inner(x.then), inner(x.els)}
		case *ranged:
			s = &ranged{variable(x.v), of(x.lo), of(x.hi), x.step, inner(x.body), loop(x.info), x.fused, x.mark}
		case *while:
			s = &while{of(x.cond), inner(x.body), variable(x.count), loop(x.info)}
		case *effect:
			s = &effect{of(x.call)}
		case *push:
			s = &push{of(x.x), x.slot, x.whole}
		case *pop:
			s = &pop{of(x.x), x.define, x.slot, x.whole, x.adds}
		case *kernel:
			s = x.rewritten(of)
		case *reserve:
			s = &reserve{x.v, of(x.n), x.last, x.slot}
		case *product:
			s = &product{of(x.c), of(x.a), of(x.b), x.transA, x.transB, x.adds}
		case *cleared:
			s = &cleared{of(x.x)}
		case *returned:
			r := &returned{}
			for _, e := range x.values {
				r.values = append(r.values, of(e))
			}
			s = r
		default:
			panic(fmt.Sprintf("statement %T", s))
		}
		out = append(out, s)
	}
	return out
}

// root returns the variable that a place belongs to, and nil if e is no place.
func root(e expr) *variable {
	switch e := e.(type) {
	case *reference:
		return e.v
	case *element:
		return root(e.x)
	case *field:
		return root(e.x)
	case *target:
		return root(e.x)
	case *part:
		return root(e.x)
	case *view:
		return root(e.x)
	}
	return nil
}

// isPlace reports whether e can be assigned to.
func isPlace(e expr) bool { return root(e) != nil }
