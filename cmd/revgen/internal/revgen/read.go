package revgen

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"revnum/cmd/revgen/internal/gradient"
	"revnum/rev"
)

// A kernel is a function that has been read.
type kernel struct {
	name, generic string // Axpy, and [T rev.Real] or nothing
	constraint    string // rev.Real, rev.Float, or nothing for float64
	source, doc   string // of the function
	pos           token.Pos
	params        []any   // in order: *operand or *local
	shapes        []*stmt // conditions on lengths, under which the function panics
	fallible      bool    // it returns an error
	checks        []*stmt // what returns errors
	snapshots     *node   // how many states a tape keeps, or nil if it keeps all
	body          []*stmt
	complex       bool         // its numbers are complex128
	exact         bool         // sums of products are rounded once over fixed point
	workers       bool         // it has a field Workers
	scope         *types.Scope // of the package
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

// A Refusal says why a function is not in the subset, and names the place.
type Refusal = gradient.Refusal

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
	facts    facts           // what is known of integers there
	calls    []*ast.FuncDecl // being inlined
	checking bool            // statements may return errors
	err      types.Object    // the error of the call being read
	around   *node           // the error that the functions being inlined return, or nil
	pos      token.Pos       // of the statement being read
	refusals []error
}

type refusal struct{ error }

func (r *reader) refusal(pos token.Pos, format string, args ...any) error {
	return Refusal{Pos: r.fset.Position(pos), Msg: fmt.Sprintf(format, args...)}
}

// refuse leaves the statement being read.
func (r *reader) refuse(n ast.Node, format string, args ...any) { r.refuseAt(n.Pos(), format, args...) }

func (r *reader) refuseAt(pos token.Pos, format string, args ...any) {
	panic(refusal{r.refusal(pos, format, args...)})
}

// guarded runs f, and records a refusal.
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
	r.k, r.env = &kernel{name: d.kernel, source: f.Name.Name, pos: f.Pos(), workers: d.workers, scope: r.pkg.Scope()}, map[types.Object]binding{}
	r.facts.equal = map[string]affineForm{}
	if results := f.Type.Results; results != nil && len(results.List) == 1 && len(results.List[0].Names) == 0 {
		r.k.fallible = types.ExprString(results.List[0].Type) == "error"
	}
	r.guarded(func() { r.header(f, d) })
	if len(r.refusals) > 0 {
		return
	}
	for _, p := range f.Type.Params.List {
		if len(p.Names) == 0 {
			r.guarded(func() { r.refuse(p, "a parameter without a name: it becomes a field of the kernel") })
		}
		for _, id := range p.Names {
			r.guarded(func() { r.param(id, slices.Contains(d.consts, id.Name)) })
		}
	}
	if n := len(r.k.operands()); n > maxOperands {
		r.guarded(func() {
			r.refuse(f, "%s has %d operands, and a kernel has at most %d: make rows of one matrix of some", f.Name.Name, n, maxOperands)
		})
	}
	if len(r.refusals) > 0 {
		return
	}
	r.guarded(func() { r.snapshots(f, d.snapshots) })
	list := f.Body.List
	for ; len(list) > 0 && isPanic(list[0]); list = list[1:] {
		r.guarded(func() {
			c := list[0].(*ast.IfStmt).Cond
			cond := &stmt{op: "cond", e: r.expr(c), pos: c.Pos()}
			r.k.shapes = append(r.k.shapes, cond)
			for _, e := range disjuncts(cond.e) {
				r.facts.noteEqualLengths(e)
			}
		})
	}
	if r.k.fallible {
		list = r.prologue(list)
	}
	r.stmts(r.withoutExits(list, func(s ast.Stmt) ([]ast.Stmt, bool) {
		_, ok := s.(*ast.ReturnStmt)
		return nil, ok
	}))
	if len(r.refusals) > 0 {
		return
	}
	each(r.k.checks, func(s *stmt) {
		for _, e := range s.reads() {
			e.each(func(e *node) {
				if e.op == "elem" && e.x.written {
					r.guarded(func() {
						r.refuse(f, "%s decides on an error, and changes: the inverse would decide otherwise", e.x.name)
					})
				}
			})
		}
	})
	if len(r.refusals) > 0 {
		return
	}
	if !slices.ContainsFunc(r.k.operands(), func(x *operand) bool { return x.written }) {
		r.guarded(func() { r.refuse(f, "%s changes none of its parameters: add the result into one", f.Name.Name) })
		return
	}
	r.checkRange(r.out)
	r.k.body = alive(without(r.out, "fail"))
	activate(r.k.body)
	r.shape()
	r.check(r.k.body, facts{})
	if d.workers && len(r.refusals) == 0 {
		r.divide(f)
	}
	if r.k.snapshots != nil && len(r.refusals) == 0 {
		r.guarded(func() { r.needTape(f) })
	}
}

// header reads the function without its body.
func (r *reader) header(f *ast.FuncDecl, d directive) {
	if i := strings.IndexByte(d.kernel, '['); i >= 0 {
		r.k.name, r.k.generic, r.k.constraint = d.kernel[:i], d.kernel[i:], strings.TrimSuffix(strings.TrimPrefix(d.kernel[i:], "[T "), "]")
		if _, word, ok := strings.Cut(d.kernel, "] "); ok {
			r.refuse(f, "%s: only the word workers may follow the name of a kernel", word)
		}
		if r.k.constraint != "rev.Real" && r.k.constraint != "rev.Float" {
			r.refuse(f, "%s: a kernel is over float64 (Name), over both floats (Name[T rev.Float]) or over fixed point too (Name[T rev.Real])", d.kernel)
		}
	}
	switch {
	case d.unknown != "":
	case r.k.name == "":
		r.refuse(f, "the kernel has no name: write %sName[T rev.Real]", Directive)
	case !token.IsIdentifier(r.k.name):
		r.refuse(f, "%q is no name for a kernel", r.k.name)
	}
	for _, c := range f.Doc.List {
		if text, ok := strings.CutPrefix(c.Text, "// "+f.Name.Name+" "); ok && r.k.doc == "" {
			r.k.doc = "// " + r.k.name + " " + text + "\n"
		} else if !strings.HasPrefix(c.Text, "//revgen:") {
			r.k.doc += c.Text + "\n"
		}
	}
	r.k.doc = strings.TrimSuffix(r.k.doc, "//\n")
	for _, name := range []string{"cmplx", "fixed", "fmt", "mat", "num", "rev", "bool", "complex", "complex128", "error", "false", "float64", "int", "len", "max", "min", "new", "nil", "true"} {
		if r.pkg.Scope().Lookup(name) != nil {
			r.refuse(f, "what is written needs the name %s for Go's own or for a package, but this package declares it: choose another name", name)
		}
	}
	switch {
	case d.unknown != "":
		r.refuse(f, "%s is not known: there are revgen:kernel, revgen:const and revgen:snapshots", d.unknown)
	case f.Recv != nil:
		r.refuse(f, "%s is a method: make it a function", f.Name.Name)
	case f.Type.TypeParams != nil:
		r.refuse(f, "%s has type parameters: write it over float64", f.Name.Name)
	case f.Type.Results != nil && !r.k.fallible:
		r.refuse(f.Type.Results, "a kernel returns nothing, or an error: add the result into a parameter")
	}
	for _, id := range d.consts {
		if !slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
			return slices.ContainsFunc(p.Names, func(n *ast.Ident) bool { return n.Name == id })
		}) {
			r.refuse(f, "revgen:const: %s has no parameter %s", f.Name.Name, id)
		}
	}
}

// prologue reads the statements that may return errors, and returns the others. They
// come first, so that a kernel that fails has changed nothing.
func (r *reader) prologue(list []ast.Stmt) []ast.Stmt {
	if n := len(list) - 1; n < 0 || !returns(list[n], "nil") {
		r.guarded(func() { r.refuse(list[max(n, 0)], "a function that may fail ends with return nil") })
		return nil
	}
	list = list[:len(list)-1]
	end := 0
	for i, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if s, ok := n.(*ast.ReturnStmt); ok && !returns(s, "nil") {
				end = i + 1
			}
			return true
		})
	}
	r.checking = true
	r.stmts(list[:end])
	r.checking = false
	for _, x := range r.k.operands() {
		if x.written || x.read && x.role() != "in" {
			r.guarded(func() {
				r.refuse(list[0], "%s changes before the last error is returned: return all errors first", x.name)
			})
		}
	}
	r.k.checks = failing(r.out)
	return list[end:]
}

// returns reports whether s is the return of an identifier.
func returns(s ast.Stmt, name string) bool {
	ret, ok := s.(*ast.ReturnStmt)
	return ok && len(ret.Results) == 1 && identOf(ret.Results[0]) != nil && identOf(ret.Results[0]).Name == name
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
	t := r.typeName(obj.Type())
	for _, p := range r.k.params {
		other := ""
		switch p := p.(type) {
		case *operand:
			other = p.name
		case *local:
			other = p.name
		}
		if title(other) == title(id.Name) {
			r.refuse(id, "%s and %s would be fields of the same name: choose another name", other, id.Name)
		}
	}
	if id.Name == "_" {
		r.refuse(id, "a parameter without a name: it becomes a field of the kernel")
	}
	if !token.IsExported(title(id.Name)) {
		r.refuse(id, "%s would be a field that is not exported: begin the name with a letter that has a capital", id.Name)
	}
	if r.k.workers && title(id.Name) == "Workers" {
		r.refuse(id, "%s would be a field with the name of the number of workers: choose another name", id.Name)
	}
	if slices.Contains(strings.Fields("Run Forward Inverse Adjoint Tangent AdjointTangent"), title(id.Name)) {
		r.refuse(id, "%s would be a field with the name of a method: choose another name", id.Name)
	}
	rank, ok := map[string]int{
		"float64": 0, "*float64": 0, "[]float64": 1, "[][]float64": 2, "[]int": 1,
		"*gonum.org/v1/gonum/mat.VecDense": 1, "*gonum.org/v1/gonum/mat.Dense": 2,
		"complex128": 0, "*complex128": 0, "[]complex128": 1, "[][]complex128": 2,
		"*gonum.org/v1/gonum/mat.CDense": 2,
	}[t]
	if ok && t != "[]int" {
		r.number(id, strings.HasSuffix(t, "complex128") || strings.HasSuffix(t, "CDense"))
	}
	switch {
	case t == "int" || t == "bool" || plain && (t == "float64" || t == "complex128"):
		v := &local{name: id.Name, plain: true, kind: map[string]kind{"int": integer, "bool": boolean}[t]}
		r.k.params = append(r.k.params, v)
		r.env[obj] = binding{v: v, scope: -1}
	case !ok:
		r.refuse(id, "%s is a %s: parameters are float64, *float64, []float64, [][]float64, *mat.VecDense, *mat.Dense, []int, int and bool, and the same over complex128", id.Name, t)
	default:
		x := &operand{name: id.Name, rank: rank, index: t == "[]int", read: t == "float64" || t == "complex128"}
		r.k.params = append(r.k.params, x)
		r.env[obj] = binding{view: &view{x: x}}
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

func (r *reader) emit(s *stmt) {
	if s.pos == token.NoPos {
		s.pos = r.pos
	}
	r.out = append(r.out, s)
}

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
	const unknowing = "the inverse would not know that it was taken; use if and else"
	r.pos = s.Pos()
	switch s := s.(type) {
	case *ast.AssignStmt:
		r.assign(s)
	case *ast.IncDecStmt:
		r.update(s, s.X, map[token.Token]string{token.INC: "+=", token.DEC: "-="}[s.Tok], func() *node { return r.one(s.X) })
	case *ast.DeclStmt:
		r.declaration(s.Decl.(*ast.GenDecl))
	case *ast.ForStmt:
		r.forLoop(s)
	case *ast.RangeStmt:
		r.rangeLoop(s)
	case *ast.IfStmt:
		r.branch(s)
	case *ast.SwitchStmt:
		r.stmts(r.ifChain(s))
	case *ast.BlockStmt:
		r.stmts(s.List)
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			r.refuse(s, "this value is not used")
		}
		if !r.kernelCall(c) {
			r.inline(c)
		}
	case *ast.ReturnStmt:
		if r.checking && len(s.Results) == 1 {
			r.fail(s)
			return
		}
		r.refuse(s, "return out of a loop: %s", unknowing)
	case *ast.BranchStmt:
		if s.Tok == token.BREAK {
			r.refuse(s, "break: the inverse would not know in which iteration; put the condition into the for statement, or the rest of the loop under if")
		}
		r.refuse(s, "%s: %s", s.Tok, unknowing)
	case *ast.EmptyStmt:
	default:
		r.refuse(s, "a %s statement cannot be run backward", strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", s), "*ast."), "Stmt")))
	}
}

// fail reads the return of an error: a variable, a text with numbers, or a rev.DomainError.
func (r *reader) fail(s *ast.ReturnStmt) {
	e, ok := r.failure(s.Results[0])
	switch x := s.Results[0].(type) {
	case *ast.CallExpr:
		if ok = r.mathFunc(x, "fmt") == "Errorf"; ok {
			e = r.errorf(x)
		}
	case *ast.UnaryExpr:
		c, isLit := x.X.(*ast.CompositeLit)
		if ok = isLit && x.Op == token.AND && isDomainError(r.info.TypeOf(c)); ok {
			e = r.domain(c)
		}
	}
	if !ok {
		r.refuse(s, "return an error that is a variable of the package, fmt.Errorf of a text with numbers and such variables, or a *rev.DomainError: what is written returns it too")
	}
	r.emit(&stmt{op: "fail", e: e})
}

// errorf reads a call of fmt.Errorf.
func (r *reader) errorf(c *ast.CallExpr) *node {
	e := &node{op: "Errorf", kind: boolean}
	for i, a := range c.Args {
		x, isError := r.failure(a)
		switch v := r.info.Types[a].Value; {
		case isError:
		case v != nil && v.Kind() == constant.String:
			x = lit(boolean, strconv.Quote(constant.StringVal(v)))
		case i == 0:
			r.refuse(a, "the format of an error is a constant")
		default:
			x = r.expr(a)
		}
		e.args = append(e.args, x)
	}
	return e
}

// domain reads a rev.DomainError: the name of the function, the index, and the arguments.
func (r *reader) domain(c *ast.CompositeLit) *node {
	e := &node{op: "DomainError", kind: boolean, args: []*node{lit(boolean, `""`), none}}
	for _, x := range c.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		args, isLit := (*ast.CompositeLit)(nil), false
		if ok {
			args, isLit = kv.Value.(*ast.CompositeLit)
		}
		switch {
		case ok && identOf(kv.Key).Name == "Func" && r.info.Types[kv.Value].Value != nil:
			e.args[0] = lit(boolean, strconv.Quote(constant.StringVal(r.info.Types[kv.Value].Value)))
		case ok && identOf(kv.Key).Name == "Index":
			e.args[1] = r.expr(kv.Value)
		case isLit && identOf(kv.Key).Name == "Args":
			for _, a := range args.Elts {
				e.args = append(e.args, r.expr(a))
			}
		default:
			r.refuse(x, "a rev.DomainError has a constant Func, an Index, and Args: []float64{...}")
		}
	}
	return e
}

// isDomainError reports whether t is rev.DomainError.
func isDomainError(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == "DomainError" && named.Obj().Pkg().Path() == reflect.TypeFor[rev.DomainError]().PkgPath()
}

// failure returns the error e, if it is a variable of the package.
func (r *reader) failure(e ast.Expr) (*node, bool) {
	id := identOf(e)
	if id != nil && r.err != nil && r.info.Uses[id] == r.err {
		return failure, true
	}
	v, ok := r.info.Uses[id].(*types.Var)
	if id == nil || !ok || v.Parent() != r.pkg.Scope() || !types.AssignableTo(v.Type(), types.Universe.Lookup("error").Type()) {
		return nil, false
	}
	if id.Name == "k" {
		r.refuse(e, "k is what the kernel is called in what is written: choose another name for the error")
	}
	return lit(boolean, id.Name), true
}

func (r *reader) declaration(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		for i := 0; ok && d.Tok == token.VAR && i < len(v.Names); i++ {
			id := v.Names[i]
			if i < len(v.Values) {
				r.bind(id, v.Values[i])
			} else {
				r.store(id, r.zeros(id, r.info.Defs[id].Type())...)
			}
		}
	}
}

func (r *reader) assign(s *ast.AssignStmt) {
	if s.Tok != token.DEFINE && s.Tok != token.ASSIGN {
		r.update(s, s.Lhs[0], s.Tok.String(), func() *node { return r.expr(s.Rhs[0]) })
		return
	}
	if len(s.Lhs) != len(s.Rhs) {
		r.several(s)
		return
	}
	if identOf(s.Lhs[0]) == nil && r.locals(s.Lhs[0]) == nil {
		r.permute(s)
		return
	}
	values := make([][]*node, len(s.Rhs))
	for i, e := range s.Rhs {
		c, isCall := e.(*ast.CallExpr)
		if isCall && r.mayFail(c) {
			r.refuseError(c, types.ExprString(c.Fun))
		}
		if id := identOf(s.Lhs[i]); id != nil && id.Name == "_" {
			if isCall {
				r.values(e) // which may change operands
			}
			continue
		}
		if r.isSlice(e) && s.Tok == token.DEFINE {
			r.bind(identOf(s.Lhs[i]), e)
			continue
		}
		values[i] = r.values(e)
		for j, e := range values[i] {
			if s.Tok == token.ASSIGN && len(s.Rhs)+len(values[i]) > 2 {
				values[i][j] = r.atom(e) // before any of them is stored
			}
		}
	}
	for i, to := range s.Lhs {
		if values[i] != nil {
			r.store(to, values[i]...)
		}
	}
}

// several reads x, y := f(...).
func (r *reader) several(s *ast.AssignStmt) {
	c, ok := s.Rhs[0].(*ast.CallExpr)
	if !ok {
		r.refuse(s, "only a function has several values")
	}
	var values []*node
	method, ok := c.Fun.(*ast.SelectorExpr)
	switch {
	case ok && method.Sel.Name == "Dims" && identOf(method.X) != nil && r.env[r.info.Uses[identOf(method.X)]].view != nil:
		x := r.view(method.X).x
		values = []*node{length(x, 0), length(x, 1)}
	case r.mathFunc(c, "math") == "Sincos":
		x := r.atom(r.expr(c.Args[0]))
		values = []*node{fn("Sin", x), fn("Cos", x)}
	case r.k.complex && r.mathFunc(c, "math/cmplx") == "Polar":
		x := r.atom(r.expr(c.Args[0]))
		values = []*node{fn("cmplx.Abs", x), fn("cmplx.Phase", x)}
	default:
		values = r.inline(c)
	}
	for i, e := range values {
		values[i] = r.atom(e)
	}
	for _, to := range s.Lhs {
		n := 1
		if t := r.typeOf(to); t != nil { // not the blank identifier
			n = len(r.leafTypes(to, t))
		}
		r.store(to, values[:n]...)
		values = values[n:]
	}
}

func (r *reader) typeOf(e ast.Expr) types.Type {
	if id := identOf(e); id != nil && r.info.ObjectOf(id) != nil {
		return r.info.ObjectOf(id).Type()
	}
	return r.info.Types[e].Type
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
		r.view(s.Lhs[0]) // which abandons what was refused
		r.refuse(s, "%s is overwritten, and what it was could not be restored: use += or -=, exchange two elements, or write %s = -%s", to, to, to)
	}
	p.to.x.read = true
	r.emit(p)
}

func (r *reader) isSlice(e ast.Expr) bool {
	t := r.info.Types[e].Type
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// bind reads id := e.
func (r *reader) bind(id *ast.Ident, e ast.Expr) {
	if !r.isSlice(e) {
		r.store(id, r.values(e)...)
		return
	}
	v := r.view(e)
	if len(v.at) == 0 && v.size == nil {
		r.refuse(e, "%s would be a second name for %s", id.Name, v.x.name)
	}
	r.env[r.info.Defs[id]] = binding{view: r.withPlainIndices(v)}
}

// update reads to op e.
func (r *reader) update(s ast.Stmt, to ast.Expr, op string, value func() *node) {
	objs := r.locals(to)
	if objs == nil {
		if op != "+=" && op != "-=" {
			r.refuse(s, "%s %s: a rounded product cannot be undone; add the product to another element", types.ExprString(to), op)
		}
		e := value()
		a := add(r.element(to, true), e)
		a.e, a.neg, a.pos = e, op == "-=", s.Pos()
		r.emit(a)
		return
	}
	b, e := r.variable(to, objs[0]), value()
	op = strings.TrimSuffix(op, "=")
	if b.v == nil {
		r.set(objs[0], r.operation(op, b.c, e))
		return
	}
	if b.sum && (op == "+" || op == "-") {
		r.emit(&stmt{op: "add", to: ref(b.v), neg: op == "-", e: e, pos: s.Pos()})
		return
	}
	b.v.read = true
	r.set(objs[0], r.operation(op, ref(b.v), e))
}

// one returns the number by which ++ changes e.
func (r *reader) one(e ast.Expr) *node {
	if b, ok := r.typeOf(e).Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
		return integerLit(1)
	}
	return one
}

func identOf(e ast.Expr) *ast.Ident {
	if e == nil {
		return nil
	}
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}
