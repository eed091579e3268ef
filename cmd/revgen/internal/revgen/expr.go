package revgen

import (
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

// A view is an operand, a row of it, a part of a vector or of a row, or an element.
type view struct {
	x          *operand
	at         []*node
	from, size *node // of a part: where it begins, and its length
}

// length returns the length of v.
func (v *view) length() *node {
	if v.size != nil {
		return v.size
	}
	return length(v.x, len(v.at))
}

// index returns v[i].
func (v *view) index(i *node) *view {
	if v.from != nil {
		i = binary("+", v.from, i)
	}
	return &view{x: v.x, at: append(slices.Clone(v.at), i)}
}

// withPlainIndices returns v with locals or constants as its indices.
func (r *reader) withPlainIndices(v *view) *view {
	c := *v
	c.at = slices.Clone(v.at)
	for i := range c.at {
		c.at[i] = r.atom(c.at[i])
	}
	return &c
}

// view returns the operand that e is, or is a part of.
func (r *reader) view(e ast.Expr) *view {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if b := r.lookup(e, r.info.Uses[e]); b.view != nil {
			return b.view
		}
	case *ast.IndexExpr:
		v, i := r.view(e.X), r.expr(e.Index)
		switch {
		case v.size != nil && !r.facts.within(i, v.size):
			r.refuse(e, "%s: nothing says that %s is not beyond the end of the part, %s: loop over the part, or test it", types.ExprString(e), types.ExprString(e.Index), show(v.size))
		case i.has(func(e *node) bool { return e.op == "elem" }):
			i = ref(r.define("row", fn("Index", i, v.length())))
		}
		return v.index(i)
	case *ast.SliceExpr:
		return r.part(e)
	case *ast.StarExpr:
		return r.view(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return r.view(e.X)
		}
	case *ast.CallExpr:
		if id := identOf(e.Fun); id != nil && id.Name == "make" {
			r.refuse(e, "%s: there are no local slices; use an array, or a parameter to whose elements you add", types.ExprString(e))
		}
	}
	r.refuse(e, "%s is not a parameter, an element or a row of one", types.ExprString(e))
	return nil
}

// part reads x[lo:hi].
func (r *reader) part(e *ast.SliceExpr) *view {
	v := r.view(e.X)
	if v.x.index || len(v.at) != v.x.rank-1 {
		r.refuse(e, "%s: only vectors and rows have parts", types.ExprString(e))
	}
	lo, hi := none, v.length()
	if e.Low != nil {
		lo = r.expr(e.Low)
	}
	if e.High != nil {
		hi = r.expr(e.High)
	}
	c := *v
	if c.from = lo; v.from != nil {
		c.from = binary("+", v.from, lo)
	}
	c.from = r.atom(c.from)
	c.size = difference(hi, lo)
	return &c
}

// difference returns x-y. If x is the sum of y and another term, it returns that term.
func difference(x, y *node) *node {
	switch {
	case y.is(none):
		return x
	case x.op == "+" && x.args[0].key() == y.key():
		return x.args[1]
	case x.op == "+" && x.args[1].key() == y.key():
		return x.args[0]
	}
	return binary("-", x, y)
}

func (r *reader) element(e ast.Expr, write bool) *node {
	v := r.view(e)
	x := v.x
	if len(v.at) != x.rank || v.size != nil {
		r.refuse(e, "%s is no number", types.ExprString(e))
	}
	if write && x.index {
		r.refuse(e, "%s is an index, and is only read", x.name)
	}
	x.written, x.read = x.written || write, x.read || !write
	return elem(x, v.at)
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
		b := r.lookup(e, r.info.Uses[e])
		switch {
		case b.c != nil:
			return b.c
		case b.view != nil && len(b.view.at) == b.view.x.rank && b.view.size == nil:
			r.refuse(e, "%s is a pointer: use *%s", e.Name, e.Name)
		case b.leaves != nil:
			r.refuse(e, "%s is an array or a struct: compare its parts one by one", e.Name)
		case b.v == nil:
			r.refuse(e, "%s is a slice: use its elements", e.Name)
		}
		b.v.read = true
		return ref(b.v)
	case *ast.IndexExpr, *ast.StarExpr, *ast.SelectorExpr:
		if objs := r.locals(e); len(objs) == 1 {
			return r.load(e, objs[0])
		}
		if s, ok := e.(*ast.SelectorExpr); ok {
			if id := identOf(s.X); id != nil {
				r.lookup(e, r.info.Uses[id]) // which abandons what was refused
			}
			r.refuse(e, "%s is not known: numbers come from parameters and locals", types.ExprString(e))
		}
		return r.element(e, false)
	case *ast.UnaryExpr:
		switch x := r.expr(e.X); e.Op {
		case token.ADD:
			return x
		case token.SUB:
			return neg(x)
		case token.NOT:
			return not(x)
		}
	case *ast.BinaryExpr:
		return r.operation(e.Op.String(), r.expr(e.X), r.expr(e.Y))
	case *ast.CallExpr:
		return r.call(e)
	case *ast.FuncLit:
		r.refuse(e, "closures cannot be run backward: make it a function")
	case *ast.CompositeLit:
		r.refuse(e, "local slices and maps are not known: use arrays, structs or parameters")
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
	case info&types.IsComplex != 0 && r.k.complex:
		re, _ := constant.Float64Val(constant.Real(tv.Value))
		im, _ := constant.Float64Val(constant.Imag(tv.Value))
		return complexLit(complex(re, im))
	case info&types.IsFloat == 0:
		r.refuse(e, "%s is no real number", types.ExprString(e))
	}
	v, _ := constant.Float64Val(tv.Value)
	return complexLit(complex(v, 0))
}

// largest stands for the largest number of each type that a kernel is over.
var largest = complexLit(math.MaxFloat64)

// checkRange refuses constants of b that a type of the kernel cannot hold.
func (r *reader) checkRange(b []*stmt) {
	name, most := "fixed point, ±2²⁰", math.Nextafter(1<<20, 0)
	switch r.k.constraint {
	case "":
		return
	case "rev.Float":
		name, most = "float32", math.MaxFloat32
	}
	var visit func(s *stmt, e *node)
	visit = func(s *stmt, e *node) {
		if e.op == "lit" && e.kind == number && !e.is(largest) {
			if v, err := strconv.ParseFloat(e.text, 64); err != nil || math.Abs(v) > most {
				r.guarded(func() {
					r.refuseAt(s.pos, "%s is out of the range of %s: write math.MaxFloat64 for the largest number of each type", e.text, name)
				})
			}
		}
		if !e.comparesConstants() {
			for _, a := range e.args {
				visit(s, a)
			}
		}
	}
	each(b, func(s *stmt) {
		for _, e := range s.reads() {
			if s.op != "fail" { // what errors say is not rounded
				visit(s, e)
			}
		}
	})
}

// mathFunc returns the name of the function that e calls in the package of Go's library
// with the given path, or nothing if it calls none.
func (r *reader) mathFunc(e *ast.CallExpr, path string) string {
	f, ok := r.info.Uses[calledName(e.Fun)].(*types.Func)
	if ok && f.Pkg() != nil && f.Pkg().Path() == path {
		return f.Name()
	}
	return ""
}

func (r *reader) call(e *ast.CallExpr) *node {
	if tv := r.info.Types[e.Fun]; tv.IsType() {
		x, to := r.expr(e.Args[0]), types.Invalid
		if b, ok := tv.Type.Underlying().(*types.Basic); ok {
			to = b.Kind()
		}
		switch {
		case to == types.Float64 && x.kind == integer:
			return fn("Int", x)
		case to == types.Float64 || to == types.Complex128 || to == types.Int && x.kind == integer:
			return x
		}
		r.refuse(e, "the conversion to %s has no derivative: numbers are float64 and int", r.typeName(tv.Type))
	}
	f := r.mathFunc(e, "math")
	name := strings.ToLower(f)
	if id := identOf(e.Fun); id != nil {
		if _, ok := r.info.Uses[id].(*types.Builtin); ok {
			name = id.Name
		}
	}
	if e := r.method(e); e != nil {
		return e
	}
	if e := r.complexCall(e, name); e != nil {
		return e
	}
	switch {
	case name == "":
		es := r.inline(e)
		if len(es) != 1 {
			r.abandon(e)
		}
		return es[0]
	case name == "len":
		return r.view(e.Args[0]).length()
	case name == "max" || name == "min":
		x := r.atom(r.expr(e.Args[0]))
		for _, a := range e.Args[1:] {
			x = r.extremum(x, r.atom(r.expr(a)), name)
		}
		return x
	case f == "Inf":
		r.refuse(e, "math.Inf: fixed point has no infinity; begin with the first number, or with math.MaxFloat64, which becomes the largest number of each type")
	case f == "" || rules[f] == nil || name == "sign":
		r.refuse(e, "%s has no derivative here; there are %s", types.ExprString(e.Fun), known(false))
	}
	c := fn(f)
	for _, a := range e.Args {
		c.args = append(c.args, r.expr(a))
	}
	return c
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

// inline reads the body of a function of the same package in place of its call, and
// returns its results.
func (r *reader) inline(e *ast.CallExpr) []*node {
	f, args := r.called(e)
	if f == nil || f.Body == nil {
		r.refuseCall(e)
	}
	if slices.Contains(r.calls, f) {
		r.refuse(e, "%s calls itself", f.Name.Name)
	}
	if f.Type.TypeParams != nil {
		r.refuse(e, "%s has type parameters: write it over float64", f.Name.Name)
	}
	r.bindParams(e, f, args)
	r.calls = append(r.calls, f)
	defer func() { r.calls = r.calls[:len(r.calls)-1] }()
	list := f.Body.List
	for ; len(list) > 0 && isPanic(list[0]); list = list[1:] { // its caller knows the shapes
		c := r.expr(list[0].(*ast.IfStmt).Cond)
		if !c.has(func(e *node) bool { return e.op == "len" }) && !c.is(lit(boolean, "false")) {
			r.refuse(list[0], "only conditions on lengths panic: what is written would not")
		}
	}
	returned := func(s ast.Stmt) ([]ast.Stmt, bool) {
		_, ok := s.(*ast.ReturnStmt)
		return nil, ok
	}
	if f.Type.Results == nil {
		r.stmts(r.withoutExits(list, returned))
		return nil
	}
	if types.ExprString(f.Type.Results.List[0].Type) == "error" && f.Type.Results.NumFields() == 1 {
		r.inlineFailing(e, f, list)
		return nil
	}
	results := r.declareResults(f)
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if early := slices.ContainsFunc(list[:len(list)-1], func(s ast.Stmt) bool { return leaves(s, returned) }); ok && !early && len(last.Results) > 0 {
		r.stmts(list[:len(list)-1])
		return r.all(last.Results)
	}
	r.stmts(r.withoutExits(list, func(s ast.Stmt) ([]ast.Stmt, bool) {
		ret, ok := s.(*ast.ReturnStmt)
		if !ok || len(ret.Results) == 0 {
			return nil, ok
		}
		to := make([]ast.Expr, len(results))
		for i, id := range results {
			to[i] = id
		}
		return []ast.Stmt{&ast.AssignStmt{Lhs: to, TokPos: s.Pos(), Tok: token.ASSIGN, Rhs: ret.Results}}, true
	}))
	var es []*node
	for _, id := range results {
		for _, obj := range r.locals(id) {
			es = append(es, r.load(e, obj))
		}
	}
	return es
}

// refuseCall refuses a call of what cannot be called.
func (r *reader) refuseCall(e *ast.CallExpr) {
	name := types.ExprString(e.Fun)
	if id := identOf(e.Fun); id != nil {
		if _, ok := r.info.Uses[id].(*types.Builtin); ok {
			r.refuse(e, "%s: of the functions that are built in there are len, min and max", name)
		}
	}
	if r.mathFunc(e, "math") != "" {
		r.refuse(e, "%s has no derivative here; there are %s", name, known(false))
	}
	s, ok := e.Fun.(*ast.SelectorExpr)
	if ok && identOf(s.X) != nil && r.info.Selections[s] != nil {
		if strings.HasPrefix(s.Sel.Name, "Set") {
			r.refuse(e, "%s overwrites, and what it was could not be restored: take a slice, and add to its elements", name)
		}
		r.refuse(e, "%s is a method: only At, AtVec, Len and Dims of matrices, Forward and Inverse of kernels, and methods of structs of this package can be called", name)
	}
	r.refuse(e, "%s: only kernels, and functions of math and of this package, can be called", name)
}

func (r *reader) all(list []ast.Expr) (es []*node) {
	for _, e := range list {
		es = append(es, r.values(e)...)
	}
	return es
}

// called returns the function or the method of this package that e calls, or nil, and
// the arguments. The receiver is the first of them.
func (r *reader) called(e *ast.CallExpr) (*ast.FuncDecl, []ast.Expr) {
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		return r.funcs[r.info.Uses[fun]], e.Args
	case *ast.SelectorExpr:
		if m := r.info.Selections[fun]; m != nil && m.Kind() == types.MethodVal && len(m.Index()) == 1 {
			return r.funcs[m.Obj()], append([]ast.Expr{fun.X}, e.Args...)
		}
	}
	return nil, nil
}

// bindParams binds the parameters of f to the arguments of a call.
func (r *reader) bindParams(e *ast.CallExpr, f *ast.FuncDecl, args []ast.Expr) {
	bound := map[types.Object]binding{}
	params := f.Type.Params.List
	if f.Recv != nil {
		params = append(slices.Clone(f.Recv.List), params...)
		if len(f.Recv.List[0].Names) == 0 {
			params, args = params[1:], args[1:]
		}
	}
	for _, p := range params {
		if _, variadic := p.Type.(*ast.Ellipsis); variadic || len(p.Names) > len(args) {
			r.refuse(e, "%s: a call has one argument for each parameter", types.ExprString(e))
		}
		for _, id := range p.Names {
			obj, arg := r.info.Defs[id], args[0]
			args = args[1:]
			switch obj.Type().Underlying().(type) {
			case *types.Slice, *types.Pointer:
				if objs := r.locals(pointee(arg)); objs != nil {
					r.refuse(arg, "%s: a function cannot change a local of its caller: let it return the value", types.ExprString(arg))
				}
				bound[obj] = binding{view: r.withPlainIndices(r.view(arg))}
			case *types.Array, *types.Struct:
				r.declare(obj, r.values(arg))
				bound[obj] = r.env[obj]
			default:
				x := r.expr(arg)
				if c, ok := x.integer(); ok {
					bound[obj] = binding{c: integerLit(c)}
					continue
				}
				if x.op != "ref" {
					x = ref(r.define(id.Name, x))
				}
				bound[obj] = binding{v: x.v, scope: -1}
			}
		}
	}
	maps.Copy(r.env, bound)
}

// pointee returns x for &x.
func pointee(e ast.Expr) ast.Expr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return u.X
	}
	return e
}

// declareResults declares the results of f, and names those that have no name.
func (r *reader) declareResults(f *ast.FuncDecl) (ids []*ast.Ident) {
	for _, p := range f.Type.Results.List {
		names := p.Names
		if len(names) == 0 {
			id := &ast.Ident{NamePos: p.Pos(), Name: "result"}
			obj := types.NewVar(p.Pos(), r.pkg, id.Name, r.info.Types[p.Type].Type)
			r.info.Uses[id] = obj
			r.declare(obj, r.zeros(p, obj.Type()))
			ids = append(ids, id)
			continue
		}
		for _, id := range names {
			obj := r.info.Defs[id]
			name := id.Name
			if name == "_" {
				name = "result"
				obj = types.NewVar(p.Pos(), r.pkg, name, obj.Type())
			}
			r.declare(obj, r.zeros(p, obj.Type()))
			use := &ast.Ident{NamePos: p.Pos(), Name: name}
			r.info.Uses[use] = obj
			ids = append(ids, use)
		}
	}
	return ids
}
