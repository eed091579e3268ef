package revgen

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A kernel is a function that has been read.
type kernel struct {
	name, generic string  // Axpy, and [T rev.Real] or nothing
	constraint    string  // rev.Real, rev.Float, or nothing for float64
	source, doc   string  // of the function
	params        []any   // in order: *operand or *local
	shapes        []*stmt // conditions on lengths, under which the function panics
	body          []*stmt
}

func (k *kernel) operands() (xs []*operand) {
	for _, p := range k.params {
		if x, ok := p.(*operand); ok {
			xs = append(xs, x)
		}
	}
	return xs
}

// accumulates reports whether no operand is transformed in place.
func (k *kernel) accumulates() bool {
	return !slices.ContainsFunc(k.operands(), func(x *operand) bool { return x.role() == "inout" })
}

// A Refusal says where and why a function is not in the subset.
type Refusal struct {
	Pos token.Position
	Msg string
}

func (r Refusal) Error() string { return fmt.Sprintf("%v: %s", r.Pos, r.Msg) }

// A reader turns a function into a program. Locals that change get a new name
// each time, except where a loop or a branch changes them: in the program a
// local is defined once, or it is a sum that is complete before it is read, or
// the result of a branch, or carried from one iteration to the next.
type reader struct {
	*source
	k        *kernel
	env      map[types.Object]binding
	out      []*stmt
	scope    int // number of the block being read
	scopes   int
	calls    []*ast.FuncDecl // being inlined
	refusals []error
}

// A binding is what a name of the source stands for: a local, or an operand or
// its row.
type binding struct {
	v     *local
	x     *operand
	at    []*node
	sum   bool // v is only added to where it is now
	scope int  // where v was defined, or -1 if v may not be changed
}

type refusal struct{ error }

func (r *reader) refusal(pos token.Pos, format string, args ...any) error {
	return Refusal{r.fset.Position(pos), fmt.Sprintf(format, args...)}
}

// refuse leaves the statement being read.
func (r *reader) refuse(n ast.Node, format string, args ...any) { r.refuseAt(n.Pos(), format, args...) }

func (r *reader) refuseAt(pos token.Pos, format string, args ...any) {
	panic(refusal{r.refusal(pos, format, args...)})
}

// guarded runs f, and notes if it refuses.
func (r *reader) guarded(f func()) {
	defer func() {
		v := recover()
		if e, ok := v.(refusal); ok && e.error != nil {
			r.refusals = append(r.refusals, e.error)
		} else if v != nil && !ok {
			panic(v)
		}
	}()
	f()
}

// read reads a function that asks for a kernel.
func (r *reader) read(f *ast.FuncDecl, d directive) {
	r.k, r.env = &kernel{name: d.kernel, source: f.Name.Name}, map[types.Object]binding{}
	r.guarded(func() { r.header(f, d) })
	for _, p := range f.Type.Params.List {
		for _, id := range p.Names {
			r.guarded(func() { r.param(id, slices.Contains(d.consts, id.Name)) })
		}
	}
	list := f.Body.List
	for ; len(list) > 0 && isPanic(list[0]); list = list[1:] {
		r.guarded(func() {
			c := list[0].(*ast.IfStmt).Cond
			r.k.shapes = append(r.k.shapes, &stmt{op: "cond", e: r.expr(c), pos: c.Pos()})
		})
	}
	r.stmts(list)
	if len(r.refusals) > 0 {
		return
	}
	r.k.body = alive(r.out)
	activate(r.k.body)
	r.shape()
	src := sources{}
	src.find(r.k.body, nil)
	r.check(r.k.body, src, facts{})
}

// header reads what stands around the body.
func (r *reader) header(f *ast.FuncDecl, d directive) {
	if i := strings.IndexByte(d.kernel, '['); i >= 0 {
		r.k.name, r.k.generic, r.k.constraint = d.kernel[:i], d.kernel[i:], strings.TrimSuffix(strings.TrimPrefix(d.kernel[i:], "[T "), "]")
		if r.k.constraint != "rev.Real" && r.k.constraint != "rev.Float" {
			r.refuse(f, "%s: a kernel is over float64 (Name), over both floats (Name[T rev.Float]) or over fixed point too (Name[T rev.Real])", d.kernel)
		}
	}
	if !token.IsIdentifier(r.k.name) {
		r.refuse(f, "%q is no name for a kernel", r.k.name)
	}
	for _, c := range f.Doc.List {
		if !strings.HasPrefix(c.Text, "//revgen:") {
			r.k.doc += strings.ReplaceAll(c.Text, f.Name.Name, r.k.name) + "\n"
		}
	}
	r.k.doc = strings.TrimSuffix(r.k.doc, "//\n")
	for _, name := range []string{"fixed", "mat", "num", "rev"} {
		if r.pkg.Scope().Lookup(name) != nil {
			r.refuse(f, "what is written imports a package %s, but this package declares %s itself", name, name)
		}
	}
	switch {
	case f.Recv != nil:
		r.refuse(f, "%s is a method: make it a function", f.Name.Name)
	case f.Type.TypeParams != nil:
		r.refuse(f, "%s has type parameters: write it over float64", f.Name.Name)
	case f.Type.Results != nil:
		r.refuse(f.Type.Results, "a kernel returns nothing: add the result into a parameter")
	case f.Body == nil:
		r.refuse(f, "%s has no body", f.Name.Name)
	}
	for _, id := range d.consts {
		if !slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
			return slices.ContainsFunc(p.Names, func(n *ast.Ident) bool { return n.Name == id })
		}) {
			r.refuse(f, "revgen:const: %s has no parameter %s", f.Name.Name, id)
		}
	}
}

// isPanic reports whether s is if ... { panic(...) }.
func isPanic(s ast.Stmt) bool {
	i, ok := s.(*ast.IfStmt)
	if !ok || i.Init != nil || i.Else != nil || len(i.Body.List) != 1 {
		return false
	}
	x, _ := i.Body.List[0].(*ast.ExprStmt)
	if x == nil {
		return false
	}
	c, _ := x.X.(*ast.CallExpr)
	return c != nil && identOf(c.Fun) != nil && identOf(c.Fun).Name == "panic"
}

func (r *reader) param(id *ast.Ident, plain bool) {
	obj := r.info.Defs[id]
	t := obj.Type().String()
	if slices.Contains(strings.Fields("Run Forward Inverse Adjoint Tangent AdjointTangent"), title(id.Name)) {
		r.refuse(id, "%s would be a field with the name of a method: choose another name", id.Name)
	}
	rank, ok := map[string]int{"float64": 0, "*float64": 0, "[]float64": 1, "[][]float64": 2, "[]int": 1}[t]
	switch {
	case t == "int" || t == "bool" || plain && t == "float64":
		v := &local{name: id.Name, plain: true, kind: map[string]kind{"int": integer, "bool": boolean}[t]}
		r.k.params = append(r.k.params, v)
		r.env[obj] = binding{v: v, scope: -1}
	case !ok:
		r.refuse(id, "%s is a %s: parameters are float64, *float64, []float64, [][]float64, []int, int and bool", id.Name, t)
	default:
		x := &operand{name: id.Name, rank: rank, index: t == "[]int", read: t == "float64"}
		r.k.params = append(r.k.params, x)
		r.env[obj] = binding{x: x}
		if x.read {
			r.env[obj] = binding{v: r.define(id.Name, elem(x, nil)), scope: -1}
		}
	}
}

func elem(x *operand, at []*node) *node {
	e := &node{op: "elem", x: x, args: at}
	if x.index {
		e.kind = integer
	}
	return e
}

func length(x *operand, axis int) *node { return &node{op: "len", kind: integer, x: x, axis: axis} }

func (r *reader) emit(s *stmt) { r.out = append(r.out, s) }

// define emits the definition of a new local.
func (r *reader) define(name string, e *node) *local {
	v := &local{name: name, kind: e.kind}
	r.emit(def(v, e))
	return v
}

// within returns what f emits, in a block of its own.
func (r *reader) within(f func()) []*stmt {
	out, scope := r.out, r.scope
	r.scopes++
	r.out, r.scope = nil, r.scopes
	f()
	b := r.out
	r.out, r.scope = out, scope
	return b
}

func (r *reader) stmts(list []ast.Stmt) {
	for _, s := range list {
		r.guarded(func() { r.stmt(s) })
	}
}

func (r *reader) stmt(s ast.Stmt) {
	const unknowing = "the way back would not know that it was taken; use if and else"
	switch s := s.(type) {
	case *ast.AssignStmt:
		r.assign(s)
	case *ast.IncDecStmt:
		r.update(s, s.X, map[token.Token]string{token.INC: "+=", token.DEC: "-="}[s.Tok], func() *node { return one })
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			v, ok := spec.(*ast.ValueSpec)
			for i := 0; ok && i < len(v.Names); i++ {
				id := v.Names[i]
				if i < len(v.Values) {
					r.bind(id, v.Values[i])
				} else if t := r.info.Defs[id].Type().String(); t != "float64" {
					r.refuse(id, "%s is a %s: locals are float64, or defined by :=", id.Name, t)
				} else {
					r.store(id, zero)
				}
			}
		}
	case *ast.ForStmt:
		r.forLoop(s)
	case *ast.RangeStmt:
		r.rangeLoop(s)
	case *ast.IfStmt:
		r.branch(s)
	case *ast.BlockStmt:
		r.stmts(s.List)
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			r.refuse(s, "this value is not used")
		}
		r.inline(c, false)
	case *ast.ReturnStmt:
		r.refuse(s, "return before the end: %s", unknowing)
	case *ast.BranchStmt:
		r.refuse(s, "%s: %s", s.Tok, unknowing)
	case *ast.EmptyStmt:
	default:
		r.refuse(s, "a %s cannot be run backward", strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast."), "Stmt"))
	}
}

func (r *reader) assign(s *ast.AssignStmt) {
	if s.Tok != token.DEFINE && s.Tok != token.ASSIGN {
		r.update(s, s.Lhs[0], s.Tok.String(), func() *node { return r.expr(s.Rhs[0]) })
		return
	}
	if len(s.Lhs) != len(s.Rhs) {
		c, ok := s.Rhs[0].(*ast.CallExpr)
		if !ok || r.mathFunc(c) != "Sincos" {
			r.refuse(s, "only math.Sincos may return several values")
		}
		x := r.atom(r.expr(c.Args[0]))
		r.store(s.Lhs[0], fn("Sin", x))
		r.store(s.Lhs[1], fn("Cos", x))
		return
	}
	if identOf(s.Lhs[0]) == nil {
		r.permute(s)
		return
	}
	es := make([]*node, len(s.Rhs))
	for i, e := range s.Rhs {
		if r.isSlice(e) && s.Tok == token.DEFINE {
			r.bind(identOf(s.Lhs[i]), e)
			continue
		}
		es[i] = r.expr(e)
		if s.Tok == token.ASSIGN && len(s.Rhs) > 1 {
			es[i] = r.atom(es[i]) // before any of them is stored
		}
	}
	for i, to := range s.Lhs {
		if es[i] != nil {
			r.store(to, es[i])
		}
	}
}

// permute reads x, y = y, x and x = -x, of elements.
func (r *reader) permute(s *ast.AssignStmt) {
	to, text := types.ExprString(s.Lhs[0]), types.ExprString
	p := &stmt{op: "swap", pos: s.Pos()}
	u, minus := s.Rhs[0].(*ast.UnaryExpr)
	switch {
	case len(s.Lhs) == 2 && text(s.Lhs[1]) == text(s.Rhs[0]) && to == text(s.Rhs[1]):
		p.to, p.with = r.element(s.Lhs[0], true), r.element(s.Lhs[1], true)
		p.with.x.read = true
	case len(s.Lhs) == 1 && minus && u.Op == token.SUB && text(u.X) == to:
		p.to = r.element(s.Lhs[0], true)
	default:
		r.refuse(s, "%s is overwritten, and what it was could not be restored: use += or -=, exchange two elements, or write %s = -%s", to, to, to)
	}
	p.to.x.read = true
	r.emit(p)
}

func (r *reader) isSlice(e ast.Expr) bool {
	_, ok := r.info.Types[e].Type.Underlying().(*types.Slice)
	return ok
}

// bind reads id := e.
func (r *reader) bind(id *ast.Ident, e ast.Expr) {
	if !r.isSlice(e) {
		r.store(id, r.expr(e))
		return
	}
	x, at := r.view(e)
	if len(at) == 0 {
		r.refuse(e, "%s would be a second name for %s", id.Name, x.name)
	}
	for i := range at {
		at[i] = r.atom(at[i])
	}
	r.env[r.info.Defs[id]] = binding{x: x, at: at}
}

// store reads id = e or id := e, for a local.
func (r *reader) store(to ast.Expr, e *node) {
	id := identOf(to)
	switch {
	case id == nil:
		r.refuse(to, "%s is overwritten, and what it was could not be restored: use += or -=", types.ExprString(to))
	case id.Name == "_":
		return
	case r.info.Defs[id] == nil:
		r.variable(id)
	}
	r.env[r.info.ObjectOf(id)] = binding{v: r.define(id.Name, e), scope: r.scope}
}

// variable returns the binding of a local that may change.
func (r *reader) variable(id *ast.Ident) binding {
	b := r.lookup(id)
	if b.v == nil || b.v.kind != number {
		r.refuse(id, "%s changes: what is not float64 keeps the value that it is defined with; count with the variable of a loop", id.Name)
	}
	return b
}

// update reads to op e.
func (r *reader) update(s ast.Stmt, to ast.Expr, op string, value func() *node) {
	id := identOf(to)
	if id == nil {
		if op != "+=" && op != "-=" {
			r.refuse(s, "%s %s: a rounded product cannot be undone; add the product to another element", types.ExprString(to), op)
		}
		e := value()
		a := add(r.element(to, true), e)
		a.e, a.neg, a.pos = e, op == "-=", s.Pos()
		r.emit(a)
		return
	}
	b, e := r.variable(id), value()
	op = strings.TrimSuffix(op, "=")
	if b.sum {
		r.emit(&stmt{op: "add", to: ref(b.v), neg: op == "-", e: e, pos: s.Pos()})
		return
	}
	b.v.read = true
	r.store(id, r.operation(op, ref(b.v), e))
}

func (r *reader) lookup(id *ast.Ident) binding {
	b, ok := r.env[r.info.Uses[id]]
	if v, isVar := r.info.Uses[id].(*types.Var); !ok && isVar && v.Parent() == v.Pkg().Scope() {
		r.refuse(id, "%s is a variable outside of the function: make it a parameter", id.Name)
	}
	if !ok {
		panic(refusal{}) // its definition was refused
	}
	return b
}

// A usage says what statements do with a local that is defined before them.
type usage struct{ read, added, stored bool }

// changes returns the locals defined outside of nodes that these change, in order.
func (r *reader) changes(nodes ...ast.Node) (objs []types.Object, uses map[types.Object]*usage) {
	uses = map[types.Object]*usage{}
	of := func(id *ast.Ident) *usage {
		obj := r.info.Uses[id]
		if uses[obj] == nil && r.env[obj].v != nil {
			uses[obj] = new(usage)
		} else if uses[obj] == nil {
			return new(usage)
		}
		return uses[obj]
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if id := identOf(to); id == nil {
					ast.Inspect(to, visit)
				} else if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
					of(id).added = true
				} else {
					of(id).stored = true
					of(id).read = of(id).read || n.Tok != token.ASSIGN && n.Tok != token.DEFINE
				}
			}
			for _, e := range n.Rhs {
				ast.Inspect(e, visit)
			}
			return false
		case *ast.IncDecStmt:
			if id := identOf(n.X); id != nil {
				of(id).added = true
				return false
			}
		case *ast.Ident:
			of(n).read = true
		}
		return true
	}
	for _, n := range nodes {
		ast.Inspect(n, visit)
	}
	for obj, u := range uses {
		if u.added || u.stored {
			objs = append(objs, obj)
		}
	}
	slices.SortFunc(objs, func(a, b types.Object) int { return int(a.Pos() - b.Pos()) })
	return objs, uses
}

// changing prepares the locals that a loop or branch changes: those that are
// only added to are sums in it, and for the others it returns the locals that
// have the results.
func (r *reader) changing(branch bool, nodes ...ast.Node) (objs []types.Object, result map[types.Object]*local) {
	all, uses := r.changes(nodes...)
	result = map[types.Object]*local{}
	for _, obj := range all {
		b, u := r.env[obj], uses[obj]
		if b.sum || b.v.kind != number {
			continue // complete elsewhere, or refused where it changes
		}
		v, sum := b.v, !u.stored && !u.read
		if v.read || b.scope != r.scope || branch && u.read {
			v.read = true
			v = r.define(v.name, ref(v))
		}
		if !sum {
			result[obj] = v
		}
		if sum || !branch || !u.read {
			r.env[obj] = binding{v: v, sum: sum, scope: r.scope}
		}
		objs = append(objs, obj)
	}
	return objs, result
}

// settle binds what a loop or a branch has changed to its results.
func (r *reader) settle(objs []types.Object, result map[types.Object]*local) {
	for _, obj := range objs {
		v := result[obj]
		if v == nil {
			v = r.env[obj].v
		}
		r.env[obj] = binding{v: v, scope: r.scope}
	}
}

func (r *reader) branch(s *ast.IfStmt) {
	if s.Init != nil {
		r.stmt(s.Init)
	}
	if isPanic(s) {
		r.refuse(s, "conditions that panic belong to the beginning of the function")
	}
	c := &stmt{op: "cond", e: r.expr(s.Cond), pos: s.Pos()}
	sides := []ast.Node{s.Body}
	if s.Else != nil {
		sides = append(sides, s.Else)
	}
	objs, result := r.changing(true, sides...)
	entry := maps.Clone(r.env)
	side := func(n ast.Stmt) []*stmt {
		return r.within(func() {
			r.stmts([]ast.Stmt{n})
			for _, obj := range objs {
				if v := r.env[obj].v; result[obj] != nil && v != entry[obj].v {
					v.read = true
					r.emit(set(result[obj], ref(v)))
				}
				r.env[obj] = entry[obj]
			}
		})
	}
	c.inner = side(s.Body)
	if s.Else != nil {
		c.els = side(s.Else)
	}
	r.emit(c)
	r.settle(objs, result)
}

// repeat reads the body of a loop. start runs before the body, in its block.
func (r *reader) repeat(l *stmt, body *ast.BlockStmt, while ast.Expr, start func()) {
	nodes := []ast.Node{body}
	if while != nil {
		nodes = append(nodes, while)
	}
	objs, result := r.changing(false, nodes...)
	var carried []types.Object
	for _, obj := range objs {
		if result[obj] != nil {
			carried = append(carried, obj)
			l.carried = append(l.carried, result[obj])
			r.env[obj] = binding{v: result[obj], scope: -1}
		}
	}
	l.inner = r.within(func() {
		if while != nil {
			if l.e = r.expr(while); len(r.out) > 0 {
				r.refuse(while, "the condition of a loop cannot hold calls that take statements")
			}
		}
		start()
		r.stmts(body.List)
		last := make([]*local, len(carried))
		for i, obj := range carried {
			last[i] = r.env[obj].v
			last[i].read = true
			if last[i] != l.carried[i] && slices.Contains(l.carried, last[i]) {
				last[i] = r.define(last[i].name, ref(last[i]))
			}
		}
		for i, v := range l.carried {
			if last[i] != v {
				r.emit(set(v, ref(last[i])))
			}
		}
	})
	r.emit(l)
	r.settle(objs, result)
}

func (r *reader) forLoop(s *ast.ForStmt) {
	l := &stmt{op: "loop", v: &local{name: "n", kind: integer}, lo: none, pos: s.Pos()}
	var obj types.Object
	if s.Init != nil {
		init, ok := s.Init.(*ast.AssignStmt)
		if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
			r.refuse(s.Init, "a loop defines one variable")
		}
		id := identOf(init.Lhs[0])
		obj = r.info.Defs[id]
		l.v.name, l.lo = id.Name, r.expr(init.Rhs[0])
		if l.lo.kind != integer {
			r.refuse(s.Init, "%s is no integer: its steps would round, and the way back take others", id.Name)
		}
		r.env[obj] = binding{v: l.v, scope: -1}
	}
	if s.Cond == nil {
		r.refuse(s, "a loop without end")
	}
	up, down := false, false
	if s.Post != nil {
		p, ok := s.Post.(*ast.IncDecStmt)
		if !ok || obj == nil || r.info.Uses[identOf(p.X)] != obj {
			r.refuse(s.Post, "a loop ends with its variable's ++ or --")
		}
		up, down = p.Tok == token.INC, p.Tok == token.DEC
	}
	if _, uses := r.changes(s.Body); obj != nil && uses[obj] != nil && (uses[obj].added || uses[obj].stored) {
		r.refuse(s, "%s changes in the loop that counts with it", l.v.name)
	}
	c, _ := s.Cond.(*ast.BinaryExpr)
	if c == nil || obj == nil || identOf(c.X) == nil || r.info.Uses[identOf(c.X)] != obj {
		if down {
			r.refuse(s.Cond, "a loop with a condition counts up")
		}
		r.repeat(l, s.Body, s.Cond, func() {})
		return
	}
	next := func(e *node) *node { return binary("+", e, lit(integer, "1")) }
	bound := r.expr(c.Y)
	switch {
	case up && c.Op == token.LSS:
		l.hi = bound
	case up && c.Op == token.LEQ:
		l.hi = next(bound)
	case down && c.Op == token.GEQ:
		l.lo, l.hi, l.down = bound, next(l.lo), true
	case down && c.Op == token.GTR:
		l.lo, l.hi, l.down = next(bound), next(l.lo), true
	default:
		r.refuse(s.Cond, "a loop up ends with < or <=, a loop down with > or >=")
	}
	r.repeat(l, s.Body, nil, func() {})
}

func identOf(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

func (r *reader) rangeLoop(s *ast.RangeStmt) {
	l := &stmt{op: "loop", v: &local{name: "i", kind: integer}, lo: none, pos: s.Pos()}
	var x *operand
	var at []*node
	if r.isSlice(s.X) {
		x, at = r.view(s.X)
		l.hi = length(x, len(at))
	} else if l.hi = r.expr(s.X); l.hi.kind != integer {
		r.refuse(s.X, "only ranges over integers and slices keep their order")
	}
	if id := identOf(s.Key); id != nil && id.Name != "_" {
		l.v.name = id.Name
		r.env[r.info.Defs[id]] = binding{v: l.v, scope: -1}
	}
	r.repeat(l, s.Body, nil, func() {
		id := identOf(s.Value)
		if id == nil || id.Name == "_" {
			return
		}
		at := append(slices.Clone(at), ref(l.v))
		if len(at) < x.rank {
			r.env[r.info.Defs[id]] = binding{x: x, at: at}
			return
		}
		x.read = true
		r.store(id, elem(x, at))
	})
}

// view returns the operand that e is, or is a part of.
func (r *reader) view(e ast.Expr) (x *operand, at []*node) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if b := r.lookup(e); b.x != nil {
			return b.x, slices.Clone(b.at)
		}
	case *ast.IndexExpr:
		x, at = r.view(e.X)
		i := r.expr(e.Index)
		if i.has(func(e *node) bool { return e.op == "elem" }) {
			i = ref(r.define("row", fn("Index", i, length(x, len(at)))))
		}
		return x, append(at, i)
	case *ast.StarExpr:
		return r.view(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return r.view(e.X)
		}
	case *ast.SliceExpr:
		r.refuse(e, "parts of slices are not known: index %s itself", types.ExprString(e.X))
	}
	r.refuse(e, "%s is not a parameter, an element or a row of one", types.ExprString(e))
	return nil, nil
}

func (r *reader) element(e ast.Expr, write bool) *node {
	x, at := r.view(e)
	if len(at) != x.rank {
		r.refuse(e, "%s is no number", types.ExprString(e))
	}
	if write && x.index {
		r.refuse(e, "%s is an index, and is only read", x.name)
	}
	x.written, x.read = x.written || write, x.read || !write
	return elem(x, at)
}

// atom returns a local or a constant with the value of e.
func (r *reader) atom(e *node) *node {
	if e.atom() {
		return e
	}
	return ref(r.define(nameFor(e), e))
}

func (r *reader) expr(e ast.Expr) *node {
	if tv := r.info.Types[e]; tv.Value != nil {
		return r.constant(e, tv)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.expr(e.X)
	case *ast.Ident:
		b := r.lookup(e)
		if b.v == nil {
			r.refuse(e, "%s is a slice: use its elements", e.Name)
		}
		b.v.read = true
		return ref(b.v)
	case *ast.IndexExpr, *ast.StarExpr:
		return r.element(e, false)
	case *ast.UnaryExpr:
		switch x := r.expr(e.X); e.Op {
		case token.ADD:
			return x
		case token.SUB:
			return neg(x)
		case token.NOT:
			return &node{op: "!", kind: boolean, args: []*node{x}}
		}
	case *ast.BinaryExpr:
		return r.operation(e.Op.String(), r.expr(e.X), r.expr(e.Y))
	case *ast.CallExpr:
		return r.call(e)
	case *ast.FuncLit:
		r.refuse(e, "closures cannot be run backward: make it a function")
	case *ast.CompositeLit:
		r.refuse(e, "local slices, arrays, maps and structs are not known: use locals or parameters")
	}
	r.refuse(e, "%s is not known", types.ExprString(e))
	return nil
}

// operation returns x op y. A quotient by a power of two is a product, which is
// the same and takes less time.
func (r *reader) operation(op string, x, y *node) *node {
	if x.kind == number && op == "*" {
		return product(x, y)
	}
	if x.kind == number && op == "/" && y.op == "lit" {
		v, _ := strconv.ParseFloat(y.text, 64)
		if f, _ := math.Frexp(v); f == 0.5 {
			return product(lit(number, strconv.FormatFloat(1/v, 'g', -1, 64)), x)
		}
	}
	return binary(op, x, y)
}

func (r *reader) constant(e ast.Expr, tv types.TypeAndValue) *node {
	switch info := tv.Type.Underlying().(*types.Basic).Info(); {
	case info&types.IsBoolean != 0:
		return lit(boolean, tv.Value.String())
	case info&types.IsInteger != 0:
		return lit(integer, tv.Value.ExactString())
	case info&types.IsFloat == 0:
		r.refuse(e, "%s is no real number", types.ExprString(e))
	}
	v, _ := constant.Float64Val(tv.Value)
	return signed(v < 0, lit(number, strconv.FormatFloat(math.Abs(v), 'g', -1, 64)))
}

func (r *reader) mathFunc(e *ast.CallExpr) string {
	if s, ok := e.Fun.(*ast.SelectorExpr); ok {
		if p, ok := r.info.Uses[identOf(s.X)].(*types.PkgName); ok && p.Imported().Path() == "math" {
			return s.Sel.Name
		}
	}
	return ""
}

func (r *reader) call(e *ast.CallExpr) *node {
	if tv := r.info.Types[e.Fun]; tv.IsType() {
		x, to := r.expr(e.Args[0]), tv.Type.String()
		switch {
		case to == "float64" && x.kind == integer:
			return fn("Int", x)
		case to == "float64" || to == "int" && x.kind == integer:
			return x
		}
		r.refuse(e, "the conversion to %s has no derivative", to)
	}
	name := strings.ToLower(r.mathFunc(e))
	if id := identOf(e.Fun); id != nil {
		if _, ok := r.info.Uses[id].(*types.Builtin); ok {
			name = id.Name
		}
	}
	switch {
	case name == "":
		return r.inline(e, true)
	case name == "len":
		x, at := r.view(e.Args[0])
		return length(x, len(at))
	case (name == "max" || name == "min") && len(e.Args) == 2:
		return r.extremum(r.atom(r.expr(e.Args[0])), r.atom(r.expr(e.Args[1])), name)
	case r.mathFunc(e) == "" || rules[r.mathFunc(e)] == nil || name == "sign":
		r.refuse(e, "%s has no derivative here; there are %s", types.ExprString(e.Fun), known())
	}
	f := fn(r.mathFunc(e))
	for _, a := range e.Args {
		f.args = append(f.args, r.expr(a))
	}
	return f
}

// extremum returns max(x, y) or min(x, y), as a branch. A NaN wins.
func (r *reader) extremum(x, y *node, name string) *node {
	v := r.define(name, x)
	v.read = true
	c := binary("&&", not(binary(map[string]string{"max": ">=", "min": "<="}[name], x, y)), binary("==", x, x))
	r.emit(&stmt{op: "cond", e: c, inner: []*stmt{set(v, y)}})
	return ref(v)
}

func not(x *node) *node { return &node{op: "!", kind: boolean, args: []*node{x}} }

// inline reads the body of a function of the same package in place of its call.
func (r *reader) inline(e *ast.CallExpr, result bool) *node {
	var f *ast.FuncDecl
	if id := identOf(e.Fun); id != nil {
		f = r.funcs[r.info.Uses[id]]
	}
	if f == nil || f.Body == nil {
		r.refuse(e, "%s: only functions of math and of this package can be called", types.ExprString(e.Fun))
	}
	if slices.Contains(r.calls, f) {
		r.refuse(e, "%s calls itself", f.Name.Name)
	}
	bound := map[types.Object]binding{}
	args := e.Args
	for _, p := range f.Type.Params.List {
		for _, id := range p.Names {
			switch obj := r.info.Defs[id]; obj.Type().Underlying().(type) {
			case *types.Slice, *types.Pointer:
				x, at := r.view(args[0])
				for i := range at {
					at[i] = r.atom(at[i])
				}
				bound[obj] = binding{x: x, at: at}
			default:
				x := r.expr(args[0])
				if x.op != "ref" {
					x = ref(r.define(id.Name, x))
				}
				bound[obj] = binding{v: x.v, scope: -1}
			}
			args = args[1:]
		}
	}
	maps.Copy(r.env, bound)
	r.calls = append(r.calls, f)
	defer func() { r.calls = r.calls[:len(r.calls)-1] }()
	list := f.Body.List
	for len(list) > 0 && isPanic(list[0]) {
		list = list[1:] // its caller knows the shapes
	}
	if !result {
		r.stmts(list)
		return nil
	}
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(last.Results) != 1 {
		r.refuse(f.Body, "%s ends with the return of one number", f.Name.Name)
	}
	r.stmts(list[:len(list)-1])
	return r.expr(last.Results[0])
}
