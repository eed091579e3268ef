package gradient

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// place reads what can be assigned to. Indices that read what the assignment changes have names.
func (l *lowerer) place(e ast.Expr) expr {
	if c := l.choiceOf(e); c != nil {
		return c.which
	}
	if l.heldBy(e) != nil {
		l.refuse(e, "%s may not change here, as its type is asserted once: write a function with a parameter for the value", types.ExprString(e))
	}
	p := l.expr(e)
	v := root(p)
	switch {
	case v == nil:
		l.refuse(e, "this cannot be assigned to")
	case inMap(p):
		l.refuse(e, "an element of a map may not change here: use a slice")
	case isPointer(p.typeOf()):
		l.refuse(e, "a pointer that changes is not differentiated: use an index")
	case isHeader(p.typeOf()) && v.param && !isReference(p):
		l.refuse(e, "%s would keep memory of the gradient: use a local slice", v.name)
	}
	l.settable(e, v)
	l.wholly(e, p)
	return l.steady(p, p)
}

// inMap reports whether a place is in an element of a map.
func inMap(p expr) (yes bool) {
	visit(p, func(e expr) {
		if x, ok := e.(*element); ok {
			_, isMap := x.x.typeOf().Underlying().(*types.Map)
			yes = yes || isMap
		}
	})
	return yes
}

func isReference(e expr) bool {
	_, ok := e.(*reference)
	return ok
}

func isVariable(e expr, v *variable) bool {
	x, ok := e.(*reference)
	return ok && x.v == v
}

func (l *lowerer) globals() (out []*variable) {
	for _, v := range l.global {
		out = append(out, v)
	}
	return out
}

// condition reads a condition as an expression.
func (l *lowerer) condition(e ast.Expr) expr { return l.expr(e) }

// value reads the value of a definition. A call at its top needs no name of its own.
func (l *lowerer) value(e ast.Expr) expr {
	if e := l.plain(e); e != nil {
		return e
	}
	return l.expr(e)
}

// plain reads a function of package math or a quotient, without giving its value a name, and
// returns nil for anything else.
func (l *lowerer) plain(e ast.Expr) expr {
	e = ast.Unparen(e)
	if l.Info.Types[e].Value != nil {
		return nil
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		if obj := l.callee(e); obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "math" {
			return l.mathCall(e, obj)
		}
		if l.isBuiltin(e.Fun, "min") || l.isBuiltin(e.Fun, "max") {
			return l.extreme(e)
		}
		if l.isBuiltin(e.Fun, "make") {
			c := &call{fn: "make", typ: l.typeOf(e)}
			for _, n := range e.Args[1:] {
				c.args = append(c.args, l.temporary("n", l.expr(n)))
			}
			return c
		}
		if x := l.fresh(e); x != nil {
			return x
		}
	case *ast.BinaryExpr:
		if e.Op == token.QUO && isFloat(l.typeOf(e)) {
			x, y := l.operands(e)
			return &binary{token.QUO, x, y, l.typeOf(e)}
		}
	}
	return nil
}

func (l *lowerer) operands(e *ast.BinaryExpr) (x, y expr) {
	x, y = l.expr(e.X), l.expr(e.Y)
	t := l.typeOf(e)
	if _, compare := comparisons[e.Op]; compare {
		if t = l.typeOf(e.X); l.Info.Types[e.X].Value != nil {
			t = l.typeOf(e.Y)
		}
	}
	if e.Op != token.SHL && e.Op != token.SHR {
		x, y = l.converted(x, t), l.converted(y, t)
	} else if _, constant := x.(*literal); constant && !types.Identical(t, integer) {
		x = convert(x, t)
	}
	return x, y
}

var comparisons = map[token.Token]bool{token.EQL: true, token.NEQ: true, token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true}

// expr reads an expression. The values of calls and quotients get names.
func (l *lowerer) expr(e ast.Expr) expr {
	tv := l.Info.Types[e]
	if tv.Value != nil {
		return l.constant(e, tv)
	}
	if p := l.plain(e); p != nil {
		if isBoolean(p.typeOf()) {
			return p
		}
		if b, ok := p.(*binary); ok {
			if _, ok := b.y.(*literal); ok {
				return p // the derivative needs no value
			}
		}
		return l.valued(nameOf(p), p)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return l.expr(e.X)
	case *ast.Ident:
		return l.ident(e)
	case *ast.UnaryExpr:
		switch e.Op {
		case token.ADD:
			return l.expr(e.X)
		case token.AND:
			return l.address(e)
		case token.SUB:
			if isComplex(l.Info.TypeOf(e.X)) {
				x := l.expr(e.X)
				return &complexPair{negative(re(x)), negative(im(x))}
			}
			return negative(l.expr(e.X))
		case token.NOT:
			x := l.expr(e.X)
			if isLit(x, "true") || isLit(x, "false") {
				return lit(strconv.FormatBool(isLit(x, "false")), boolean)
			}
			return &unary{e.Op, x}
		case token.XOR:
			return &unary{e.Op, l.expr(e.X)}
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return l.shortcut(e)
		}
		if l.holds(e.X, e.Y) || l.holds(e.Y, e.X) {
			return lit(strconv.FormatBool(e.Op == token.NEQ), boolean)
		}
		for x, y := range map[ast.Expr]ast.Expr{e.X: e.Y, e.Y: e.X} {
			if c := l.choiceOf(x); c != nil && l.Info.Types[y].IsNil() {
				return c.none(e.Op)
			}
		}
		l.notNil(e)
		x, y := l.sides(e)
		if isComplex(l.Info.TypeOf(e.X)) || isComplex(l.Info.TypeOf(e.Y)) {
			return l.complexOperation(e, e.Op, x, y)
		}
		return l.operation(e.Op, x, y, l.typeOf(e))
	case *ast.StarExpr:
		return l.deref(e.X)
	case *ast.IndexExpr:
		if m, ok := l.typeOf(e.X).Underlying().(*types.Map); ok {
			return viewed(&element{l.placed(e.X, l.expr(e.X)), l.temporary("k", l.converted(l.expr(e.Index), m.Key())), l.instance(m.Elem())})
		}
		if b, ok := l.typeOf(e.X).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			return &element{l.header("text", l.expr(e.X)), l.index(e.Index), types.Typ[types.Uint8]}
		}
		if elemOf(l.typeOf(e.X)) == nil {
			l.refuse(e, "an element of %s is not differentiated", l.typeOf(e.X))
		}
		x := l.expr(e.X)
		if isPointer(x.typeOf()) {
			x = pointee(x)
		}
		return viewed(&element{l.placed(e.X, x), l.index(e.Index), l.instance(elemOf(x.typeOf()))})
	case *ast.SliceExpr:
		if e.Slice3 {
			l.refuse(e, "a part with a capacity is not differentiated: leave the capacity out")
		}
		x := l.placed(e.X, l.expr(e.X))
		p := &part{x: x}
		if e.Low != nil {
			p.lo = l.index(e.Low)
		}
		if e.High != nil {
			p.hi = l.index(e.High)
		}
		if p.lo == nil && p.hi == nil {
			if _, ok := x.typeOf().Underlying().(*types.Slice); ok {
				return x
			}
		}
		return p
	case *ast.SelectorExpr:
		return l.selector(e)
	case *ast.CallExpr:
		values := l.results(e)
		if len(values) != 1 {
			l.refuse(e, "a call with one result belongs here")
		}
		return values[0]
	case *ast.CompositeLit:
		return l.composite(e)
	case *ast.TypeAssertExpr:
		if c, ok := ast.Unparen(e.X).(*ast.CallExpr); ok && e.Type != nil { // of a view
			f, _ := l.callee(c).(*types.Func)
			views := map[string]string{matPath + ".Dense).Slice": "Dense", matPath + ".Dense).RowView": "VecDense"}
			if f != nil && views[strings.TrimPrefix(f.FullName(), "(*")] == gonumType(l.Info.TypeOf(e)) && isPointer(l.Info.TypeOf(e)) {
				return l.expr(c)
			}
		}
	}
	l.refuse(e, "%s is not differentiated", describe(e))
	return nil
}

// nameOf returns a name for the value of an expression.
func nameOf(e expr) string {
	if c, ok := e.(*call); ok {
		_, name, _ := strings.Cut(c.fn, ".")
		if name == "" {
			name = c.fn
		}
		return strings.ToLower(name[:1]) + name[1:]
	}
	return "q"
}

func (l *lowerer) index(e ast.Expr) expr { return l.expr(e) }

// placed gives a name to what is no place.
func (l *lowerer) placed(at ast.Expr, x expr) expr {
	if isPlace(x) {
		return x
	}
	if _, ok := x.(*call); ok {
		return ref(l.define("x", x.typeOf(), x))
	}
	l.refuse(at, "give this a name first")
	return nil
}

// holds reports whether y is nil, and x a function that is known, or an interface of which it is known what it holds.
func (l *lowerer) holds(x, y ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if ok && l.Info.Types[y].IsNil() && (l.lits[l.Info.Uses[id]] != nil || l.alias[l.Info.Uses[id]] != nil) {
		return true
	}
	if !ok || !l.Info.Types[y].IsNil() || !types.IsInterface(l.Info.TypeOf(x)) || l.bound[l.Info.Uses[id]] == nil {
		return false
	}
	e := l.bound[l.Info.Uses[id]]
	return !isLit(e, "nil") && e.typeOf() != nil && !types.IsInterface(e.typeOf())
}

// notNil refuses to compare a vector or a matrix with nil.
func (l *lowerer) notNil(e *ast.BinaryExpr) {
	for _, p := range [][2]ast.Expr{{e.X, e.Y}, {e.Y, e.X}} {
		if isGonum(l.Info.TypeOf(p[0])) && l.Info.Types[p[1]].IsNil() {
			l.refuse(e, "whether %s is nil is not known here: use a bool or a number that says so", types.ExprString(p[0]))
		}
	}
}

func (l *lowerer) operation(op token.Token, x, y expr, t types.Type) expr {
	if op == token.QUO && isFloat(t) {
		q := &binary{op, x, y, t}
		if _, ok := y.(*literal); ok {
			return q
		}
		return ref(l.define("q", t, q))
	}
	if comparisons[op] {
		t = boolean
		if isLit(x, "nil") && isLit(y, "nil") {
			return lit(strconv.FormatBool(op == token.EQL), t)
		}
	}
	return &binary{op, x, y, t}
}

// shortcut reads && and ||. What the right side computes, it computes only if it is needed.
func (l *lowerer) shortcut(e *ast.BinaryExpr) expr {
	x := l.expr(e.X)
	if c, ok := x.(*literal); ok && (isLit(c, "true") || isLit(c, "false")) {
		if isLit(c, "true") == (e.Op == token.LAND) {
			return l.expr(e.Y)
		}
		return c
	}
	var y expr
	before := l.nested(func() { y = l.expr(e.Y) })
	if len(before) == 0 {
		return &binary{e.Op, x, y, boolean}
	}
	v := ref(l.define("ok", boolean, x))
	cond := v
	if e.Op == token.LOR {
		cond = &unary{token.NOT, v}
	}
	b := &branch{cond: cond}
	b.then = slices.Concat(before, []stmt{&assignment{l: v, op: token.ASSIGN, r: y}})
	l.emit(b)
	return v
}

func (l *lowerer) constant(e ast.Expr, tv types.TypeAndValue) expr {
	if isComplex(tv.Type) {
		return complexConstant(tv.Value)
	}
	text := types.ExprString(e)
	t := l.substituted(types.Default(tv.Type))
	simple := true
	path := ""
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && id.Name == "math" {
				if p, ok := l.Info.Uses[id].(*types.PkgName); ok && p.Imported().Path() == "math" {
					path = "math"
					return false
				}
			}
			simple = false
		case *ast.Ident:
			obj := l.Info.Uses[n]
			simple = simple && obj != nil && (obj.Parent() == l.Pkg.Scope() || obj.Parent() == types.Universe) && !l.names[n.Name]
		case *ast.CallExpr:
			simple = false
		}
		return true
	})
	if !simple {
		text = tv.Value.ExactString()
		if isFloat(t) {
			text = exactFloat(tv.Value)
		}
	}
	if path != "" {
		l.imports.add(path)
	}
	return &literal{text, t}
}

func (l *lowerer) ident(e *ast.Ident) expr {
	obj := l.Info.Uses[e]
	if obj == nil {
		obj = l.Info.Defs[e]
	}
	if x := l.bound[obj]; x != nil {
		if u, ok := x.(*unsized); ok && u.v != nil {
			return ref(u.v)
		}
		return x
	}
	switch obj := obj.(type) {
	case *types.Var:
		if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			return l.packageVariable(e, obj)
		}
		if !obj.IsField() && len(l.inlining) > 0 && !isFunction(obj.Type()) {
			l.refuse(e, "%s is not there in all places where the function that uses it is called: declare it before that function", e.Name)
		}
	case *types.Nil:
		return &literal{"nil", types.Typ[types.UntypedNil]}
	}
	l.refuse(e, "%s is not differentiated", e.Name)
	return nil
}

// packageVariable reads a variable of this package or another one.
func (l *lowerer) packageVariable(at ast.Node, obj *types.Var) expr {
	v := l.global[obj]
	if v == nil {
		name := obj.Name()
		if obj.Pkg() != l.Pkg {
			if !obj.Exported() {
				l.refuse(at, "%s is a variable of package %s, which is not exported", name, obj.Pkg().Name())
			}
			name = l.imports.name(obj.Pkg().Path(), obj.Pkg().Name()) + "." + name
		} else if own[name] != "" && !isNumber(obj.Type().String()) {
			name = "(" + name + ")" // name.x is of a package that is written
		}
		v = &variable{name: name, typ: apart(l.instance(obj.Type())), param: true}
		l.global[obj] = v
	}
	if isGonum(v.typ) {
		memory := l.hoisted(viewed(ref(v)))
		root(memory).copied = true // it may not change
		return memory
	}
	return ref(v)
}

func (l *lowerer) address(e *ast.UnaryExpr) expr {
	x := l.expr(e.X)
	if isGonum(l.Info.TypeOf(e.X)) {
		return x
	}
	if !isPlace(x) {
		l.refuse(e, "the address of this is not known")
	}
	return &unary{token.AND, l.anchored(e.X, x)}
}

// anchored returns a place whose slices keep their values: one that is set elsewhere gets a name.
func (l *lowerer) anchored(e ast.Expr, x expr) expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if f, ok := x.(*field); ok {
			return &field{l.anchored(e.X, f.x), f.name, f.typ}
		}
	case *ast.IndexExpr:
		y, ok := x.(*element)
		switch {
		case !ok:
		case !isHeader(y.x.typeOf()):
			return &element{l.anchored(e.X, y.x), y.i, y.typ}
		case l.changes(e.X):
			return &element{ref(l.define(nameOf(y.x), y.x.typeOf(), y.x)), y.i, y.typ}
		}
	}
	return x
}

// changes reports whether the package may set the slice e after it is made: a variable by its name, another slice by a
// place of its type, or by one that reaches such slices.
func (l *lowerer) changes(e ast.Expr) (yes bool) {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		return len(l.settings(l.Info.Uses[id])) > 0
	}
	of := l.Info.TypeOf(e)
	for _, d := range l.Funcs {
		ast.Inspect(d, func(n ast.Node) bool {
			var to []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				to = n.Lhs
			case *ast.RangeStmt:
				to = []ast.Expr{n.Key, n.Value}
			}
			for _, place := range to {
				_, variable := place.(*ast.Ident)
				if t := l.Info.TypeOf(place); t != nil && (!variable || !types.Identical(t, of)) {
					yes = yes || anyPart(t, nil, func(t types.Type, _ bool) bool { return types.Identical(t, of) })
				}
			}
			return !yes
		})
	}
	return yes
}

// deref returns what a pointer points to.
func (l *lowerer) deref(e ast.Expr) expr {
	x := l.expr(e)
	if isGonum(l.Info.TypeOf(e)) {
		return x
	}
	return pointee(x)
}

// pointee returns what a pointer points to.
func pointee(x expr) expr {
	if u, ok := x.(*unary); ok && u.op == token.AND {
		return u.x
	}
	return &target{x, x.typeOf().Underlying().(*types.Pointer).Elem()}
}

func (l *lowerer) selector(e *ast.SelectorExpr) expr {
	s := l.Info.Selections[e]
	if s == nil {
		v, ok := l.Info.Uses[e.Sel].(*types.Var)
		if !ok {
			l.refuse(e, "%s is not differentiated", types.ExprString(e))
		}
		return l.packageVariable(e, v)
	}
	if s.Kind() != types.FieldVal {
		l.refuse(e, "%s is a method: call it, here or in a function literal", types.ExprString(e))
	}
	x := l.fieldAt(e)
	if t := l.heldBy(e); t != nil {
		return l.asserted(e, x, t)
	}
	return x
}

func (l *lowerer) fieldAt(e *ast.SelectorExpr) expr {
	return l.fields(l.expr(e.X), l.Info.Selections[e].Index(), e.Sel.Name)
}

// fields returns the field at a path of embedded structs.
func (l *lowerer) fields(x expr, path []int, name string) expr {
	if u, ok := x.(*unary); ok && u.op == token.AND {
		x = u.x
	}
	t := x.typeOf()
	if isMatrix(t) || isVector(t) {
		return rawField(x, name)
	}
	for _, i := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		f := t.Underlying().(*types.Struct).Field(i)
		t = l.instance(f.Type())
		x = &field{x, f.Name(), t}
	}
	return l.hoisted(viewed(x))
}

func (l *lowerer) composite(e *ast.CompositeLit) expr {
	if isGonum(l.Info.TypeOf(e)) {
		return l.unsized(l.Info.TypeOf(e))
	}
	t := l.typeOf(e)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		v := ref(l.define("s", t, nil))
		for i, x := range e.Elts {
			f := u.Field(i)
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
				for g := range u.Fields() {
					if g.Name() == kv.Key.(*ast.Ident).Name {
						f = g
					}
				}
			}
			l.assign(&field{v, f.Name(), f.Type()}, l.converted(l.sized(x, l.expr(x)), f.Type()))
		}
		return v
	case *types.Array, *types.Slice:
		elem, at, n := elemOf(t), make([]int, len(e.Elts)), 0
		values := slices.Clone(e.Elts)
		for i, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				k, _ := constant.Int64Val(l.Info.Types[kv.Key].Value)
				n, values[i] = int(k), kv.Value
			}
			at[i] = n
			n++
		}
		v := ref(l.define("a", t, nil))
		if _, ok := u.(*types.Slice); ok {
			v = l.valued("a", &call{"make", "", []expr{integerLit(slices.Max(append(at, -1)) + 1)}, t})
		}
		for i, x := range values {
			if c, ok := x.(*ast.CompositeLit); ok && c.Type == nil && (l.Info.TypeOf(c) == nil || !isGonum(l.Info.TypeOf(c))) {
				l.Info.Types[c] = types.TypeAndValue{Type: elem}
			}
			l.assign(&element{v, integerLit(at[i]), elem}, l.converted(l.sized(x, l.expr(x)), elem))
		}
		return v
	}
	l.refuse(e, "a literal of %s is not differentiated: make it a variable of the package", t)
	return nil
}

// callee returns the function that a call names, or nil.
func (l *lowerer) callee(c *ast.CallExpr) types.Object {
	obj := l.calledName(c)
	if f := l.alias[obj]; f != nil {
		return f
	}
	return obj
}

func (l *lowerer) calledName(c *ast.CallExpr) types.Object {
	f := ast.Unparen(c.Fun)
	switch x := f.(type) {
	case *ast.IndexExpr:
		f = x.X
	case *ast.IndexListExpr:
		f = x.X
	}
	switch f := f.(type) {
	case *ast.Ident:
		return l.Info.Uses[f]
	case *ast.SelectorExpr:
		if _, m, ok := l.concrete(f); ok {
			return m
		}
		return l.Info.Uses[f.Sel]
	}
	return nil
}

// concrete returns the method that a call of one of an interface reaches, if it is known what the interface holds. path
// is that to an embedded struct, and to the method.
func (l *lowerer) concrete(f *ast.SelectorExpr) (path []int, m types.Object, ok bool) {
	t := l.heldBy(f.X)
	if in, _ := l.embedded(f); in != nil {
		t = l.heldIn(in)
	}
	if id, ok := ast.Unparen(f.X).(*ast.Ident); ok && l.bound[l.Info.Uses[id]] != nil && types.IsInterface(l.Info.TypeOf(id)) {
		t = l.bound[l.Info.Uses[id]].typeOf()
	}
	if t == nil || types.IsInterface(t) {
		return nil, nil, false
	}
	m, path, _ = types.LookupFieldOrMethod(t, true, l.Pkg, f.Sel.Name)
	return path, m, m != nil
}

// results reads a call, and returns its results.
func (l *lowerer) results(c *ast.CallExpr) []expr {
	if tv := l.Info.Types[c.Fun]; tv.IsType() {
		return []expr{l.conversion(c, l.substituted(tv.Type))}
	}
	if l.isBuiltin(c.Fun, "new") && isGonum(l.Info.TypeOf(c.Args[0])) {
		return []expr{l.unsized(l.Info.TypeOf(c.Args[0]))}
	}
	if e := l.complexCall(c); e != nil {
		return []expr{e}
	}
	if values, ok := l.kernelCall(c); ok {
		return values
	}
	for _, name := range []string{"len", "cap", "min", "max", "append", "new"} {
		if l.isBuiltin(c.Fun, name) {
			return []expr{l.builtin(name, c)}
		}
	}
	if f, ok := ast.Unparen(c.Fun).(*ast.FuncLit); ok {
		return l.inline(c, f, f.Type, nil, f.Body)
	}
	f := l.indexed(c)
	if of, ok := ast.Unparen(c.Fun).(*ast.CallExpr); ok { // of what another call returns
		f = of
	}
	if f != nil {
		v := types.NewVar(f.Pos(), l.Pkg, "f", l.Info.TypeOf(f))
		if bind := l.functionValue(v, f); bind != nil {
			bind()
			named := *c
			named.Fun = l.useOf(v)
			l.Info.Types[&named] = l.Info.Types[c]
			return l.results(&named)
		}
	}
	obj := l.callee(c)
	if y := l.yields[obj]; y != nil {
		return y.call(c)
	}
	if f := l.lits[obj]; f != nil {
		return l.inline(c, f, f.Type, nil, f.Body)
	}
	if of := l.choices[obj]; of != nil {
		return l.chosen(c, of)
	}
	if g, ok := obj.(*types.Func); ok {
		obj = g.Origin()
	}
	if d := l.Written[obj]; d != nil && d.end == "Value" {
		obj = l.Info.Defs[d.decl.Name]
	}
	if values, ok := l.gonum(c, obj); ok {
		return values
	}
	if sorts(obj) {
		l.sort(c, obj)
		return []expr{}
	}
	if obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "slices" && obj.Name() == "Clone" {
		return []expr{l.clone(c.Args[0])}
	}
	if d := l.declOf(obj); d != nil && l.isElsewhere(d) {
		if !l.isPlain(c) {
			return l.inlineForeign(c, d)
		}
	} else if d != nil {
		if l.recursive(d) {
			return []expr{l.recursion(c, d)}
		}
		return l.inline(c, d, d.Type, d.Recv, d.Body)
	}
	if d := l.Written[obj]; d != nil {
		return l.derivative(c, d)
	}
	if obj != nil && obj.Pkg() != nil {
		if obj.Pkg().Path() == "math" {
			return l.several(c, obj)
		}
		if obj.Pkg().Path() == "math/cmplx" {
			return l.cmplxCall(c, obj.Name())
		}
		if f, ok := obj.(*types.Func); ok && obj.Pkg() != l.Pkg && f.Signature().Recv() == nil && f.Signature().Results().Len() == 1 {
			e := l.verbatim(c)
			return []expr{ref(l.define(nameOf(e), e.typeOf(), e))} // it may give another value next time
		}
	}
	for end, cure := range map[string]string{"Hessian": "HessVec for its columns or rows", "Jacobian": "JVP or VJP for its columns or rows"} {
		if obj == nil && strings.HasSuffix(types.ExprString(c.Fun), end) {
			l.refuse(c, "%s is not differentiated: call %s", types.ExprString(c.Fun), cure)
		}
	}
	if d, ok := l.lockOf(c); ok {
		l.refuse(c, "%s is not differentiated here: the function that has derivatives may begin with a lock and defer its unlock", d.text())
	}
	if l.isBuiltin(c.Fun, "recover") {
		l.refuse(c, "recover is not differentiated: a gradient panics where its function does")
	}
	if f, ok := obj.(*types.Func); ok && l.isUnknown(f) {
		l.unknown(c)
	}
	l.refuse(c, "%s is not differentiated: its body is not in this package", types.ExprString(c.Fun))
	return nil
}

// isPlain reports whether a call of another package gives one value that has no derivatives, and can change nothing.
func (l *lowerer) isPlain(c *ast.CallExpr) bool {
	f := l.callee(c).(*types.Func)
	if !f.Exported() || f.Signature().TypeParams() != nil && strings.Contains(f.Pkg().Path(), ".") || f.Signature().Recv() != nil || f.Signature().Results().Len() != 1 || hasFloats(l.typeOf(c)) && len(c.Args) > 0 {
		return false
	}
	return !slices.ContainsFunc(c.Args, func(e ast.Expr) bool {
		t := l.typeOf(e)
		_, function := t.Underlying().(*types.Signature)
		return function || hasHeaders(t) && hasFloats(t) && !formats(f, t)
	})
}

// formats reports whether a function only writes what a slice of numbers has.
func formats(f *types.Func, t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && f.Pkg().Path() == "fmt" && isPlain(s.Elem())
}

// several reads functions of math with one result or two.
func (l *lowerer) several(c *ast.CallExpr, obj types.Object) []expr {
	x := func() expr { return l.temporary("x", l.converted(l.expr(c.Args[0]), float)) }
	switch obj.Name() {
	case "Sincos":
		a := x()
		return []expr{ref(l.define("sin", float, fn("Sin", a))), ref(l.define("cos", float, fn("Cos", a)))}
	case "Lgamma":
		a := x()
		sign := &call{"num.GammaSign", numPath, []expr{a}, integer}
		return []expr{ref(l.define("lgamma", float, &call{"num.Lgamma", numPath, []expr{a}, float})), sign}
	case "Frexp": // a power of two is constant between its steps
		a := x()
		n := ref(l.define("exponent", integer, &call{"num.Exponent", numPath, []expr{a}, integer}))
		return []expr{ref(l.define("fraction", float, fn("Ldexp", a, negative(n)))), n}
	case "Modf":
		a := x()
		whole := ref(l.define("whole", float, fn("Trunc", a)))
		return []expr{whole, &binary{token.SUB, a, whole, float}}
	}
	e := l.mathCall(c, obj)
	if isFloat(e.typeOf()) {
		e = ref(l.define(nameOf(e), e.typeOf(), e))
	}
	return []expr{e}
}

// mathCall reads a function of math with one result.
func (l *lowerer) mathCall(c *ast.CallExpr, obj types.Object) expr {
	name := obj.Name()
	if _, ok := derivatives[name]; !ok {
		l.refuse(c, "math.%s has no derivative here: those that have one are %s", name, known())
	}
	e := &call{"math." + name, "math", nil, l.typeOf(c)}
	if name == "Max" || name == "Min" {
		return l.extreme(c)
	}
	sig := obj.Type().(*types.Signature)
	for i, a := range c.Args {
		x := l.converted(l.expr(a), sig.Params().At(i).Type())
		if derivatives[name].partials != nil {
			x = l.temporary("x", x)
		}
		e.args = append(e.args, x)
	}
	return e
}

// extreme reads min and max.
func (l *lowerer) extreme(c *ast.CallExpr) expr {
	obj := l.callee(c)
	t := l.typeOf(c)
	var out expr
	for i, a := range c.Args {
		x := l.temporary("x", l.converted(l.expr(a), t))
		switch {
		case i == 0:
			out = x
		case isFloat(t):
			if i > 1 {
				out = ref(l.define(strings.ToLower(obj.Name()), t, out))
			}
			out = &call{strings.ToLower(obj.Name()), "", []expr{out, x}, t}
		default:
			out = &call{obj.Name(), "", []expr{out, x}, t}
		}
	}
	return out
}

func (l *lowerer) builtin(name string, c *ast.CallExpr) expr {
	switch name {
	case "len", "cap":
		if list := l.functions(c.Args[0]); list != nil {
			return integerLit(len(list))
		}
		x := l.expr(c.Args[0])
		if u, ok := x.(*unary); ok && u.op == token.AND {
			x = u.x
		}
		if name == "cap" && root(x) != nil {
			if _, isSlice := x.typeOf().Underlying().(*types.Slice); isSlice {
				l.caps = append(l.caps, capacity{x, c})
				return &call{"cap", "", []expr{x}, integer}
			}
		}
		return length(x)
	case "min", "max":
		e := l.extreme(c)
		return l.temporary(name, e)
	case "append":
		if e, ok := l.appendedTo(c); ok {
			return e
		}
		l.refuse(c, "append stands alone: write x = append(x, e)")
	}
	l.refuse(c, "%s is not differentiated", name)
	return nil
}

// isFresh reports whether e is memory that nothing else has: nil or a literal.
func (l *lowerer) isFresh(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr: // []float64(nil)
		return l.Info.Types[x.Fun].IsType() && l.Info.Types[x.Args[0]].IsNil()
	case *ast.CompositeLit:
		return true
	}
	return false
}

// appendedTo reads append of a literal, or of []float64(nil), and others, which is another slice.
func (l *lowerer) appendedTo(c *ast.CallExpr) (expr, bool) {
	if !l.isFresh(c.Args[0]) {
		return nil, false
	}
	var parts []ast.Expr
	if first, ok := ast.Unparen(c.Args[0]).(*ast.CompositeLit); ok {
		parts = first.Elts
	}
	if !c.Ellipsis.IsValid() {
		list := &ast.CompositeLit{Lbrace: c.Pos(), Elts: slices.Concat(parts, c.Args[1:])}
		l.Info.Types[list] = types.TypeAndValue{Type: l.Info.TypeOf(c)}
		return l.composite(list), true
	}
	if len(parts) == 0 {
		return l.clone(c.Args[1]), true
	}
	head, tail := l.expr(c.Args[0]), l.header("x", l.expr(c.Args[1]))
	t, n := head.typeOf(), integerLit(len(parts))
	to := ref(l.define("joined", t, &call{"make", "", []expr{&binary{token.ADD, n, length(tail), integer}}, t}))
	for k := range parts {
		l.assign(&element{to, integerLit(k), elemOf(t)}, &element{head, integerLit(k), elemOf(t)})
	}
	l.over(length(tail), func(i expr) {
		l.assign(&element{to, &binary{token.ADD, n, i, integer}, elemOf(t)}, &element{tail, i, elemOf(t)})
	})
	return to, true
}

func (l *lowerer) clone(x ast.Expr) expr {
	from := l.header("x", l.expr(x))
	t := from.typeOf()
	to := ref(l.define("copied", t, &call{"make", "", []expr{length(from)}, t}))
	l.over(length(from), func(i expr) { l.assign(&element{to, i, elemOf(t)}, &element{from, i, elemOf(t)}) })
	return to
}

func (l *lowerer) conversion(c *ast.CallExpr, to types.Type) expr {
	x := l.expr(c.Args[0])
	if types.Identical(x.typeOf(), to) || to == complexType {
		return x
	}
	if isFloat(x.typeOf()) && isInteger(to) {
		x = l.temporary("x", x)
	}
	if isHeader(to) || isAggregate(to) {
		return x
	}
	return convert(x, to)
}

// conversion is the function of a call that converts a number. A type may be called as any other
// function is.
const conversion = "type"

// convert returns x as a number of another type.
func convert(x expr, t types.Type) expr { return &call{conversion, "", []expr{x}, t} }

// verbatim reads a call of another package, whose arguments are numbers or text.
func (l *lowerer) verbatim(e ast.Expr) expr {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return l.expr(e)
	}
	f, ok := l.callee(c).(*types.Func)
	if !ok || f.Pkg() == l.Pkg {
		return l.expr(e)
	}
	out := &call{l.imports.name(f.Pkg().Path(), f.Pkg().Name()) + "." + f.Name(), f.Pkg().Path(), nil, l.typeOf(c)}
	for _, a := range c.Args {
		x := l.verbatim(a)
		if isHeader(x.typeOf()) && hasFloats(x.typeOf()) && !formats(f, x.typeOf()) || c.Ellipsis.IsValid() {
			l.refuse(a, "%s is not differentiated: its body is not in this package", types.ExprString(c.Fun))
		}
		out.args = append(out.args, x)
	}
	l.foreign = append(l.foreign, foreignCall{out, c})
	return out
}

// inline reads the body of a function that is called.
func (l *lowerer) inline(c *ast.CallExpr, id ast.Node, sig *ast.FuncType, recv *ast.FieldList, body *ast.BlockStmt) []expr {
	defer l.again(c, id, types.ExprString(c.Fun))()
	defer l.instantiate(c)()
	first := l.count
	defer l.arguments(c, sig, recv, body)()
	return l.inlined(c, id, sig, body, first)
}

// arguments binds the parameters of a function to the arguments of a call, and enters its environment. It returns what
// leaves that.
func (l *lowerer) arguments(c *ast.CallExpr, sig *ast.FuncType, recv *ast.FieldList, body *ast.BlockStmt) (leave func()) {
	args := l.spread(c.Args)
	if n := len(sig.Params.List); n > 0 && !c.Ellipsis.IsValid() {
		if last := sig.Params.List[n-1]; l.isVariadic(last) { // the others are a slice
			before := sig.Params.NumFields() - 1
			list := &ast.CompositeLit{Lbrace: c.Pos(), Elts: args[before:]}
			l.Info.Types[list] = types.TypeAndValue{Type: l.Info.Defs[last.Names[0]].Type()}
			args = append(slices.Clone(args[:before]), list)
		}
	}
	var path []int
	var fields []*ast.Field
	if recv != nil {
		fields = append(fields, recv.List...)
		sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || l.Info.Selections[sel] == nil || l.Info.Selections[sel].Kind() != types.MethodVal {
			l.refuse(c, "call the method of a variable here")
		}
		path = l.Info.Selections[sel].Index()
		if p, _, ok := l.concrete(sel); ok {
			path = p
		}
		path = path[:len(path)-1] // to an embedded struct
		of := sel.X
		if f, at := l.embedded(sel); f != nil {
			named := &ast.SelectorExpr{X: of, Sel: &ast.Ident{Name: f.Name(), NamePos: sel.Sel.Pos()}}
			of = l.nameFor(c, f.Name(), l.asserted(named, l.fields(l.expr(of), at, f.Name()), l.heldIn(f)))
		}
		args = append([]ast.Expr{of}, args...)
	}
	fields = append(fields, sig.Params.List...)
	k := 0
	var binds []func() // arguments may call the same function
	for _, f := range fields {
		names := f.Names
		if len(names) == 0 {
			names = []*ast.Ident{{Name: "_"}}
		}
		for _, id := range names {
			binds = append(binds, l.argument(id, args[k], path, body))
			path = nil
			k++
		}
	}
	leave = l.enter(l.envs[l.callee(c)])
	for _, bind := range binds {
		bind()
	}
	return leave
}

// spread returns the arguments of f(g()), where g has several results, as names of these.
func (l *lowerer) spread(args []ast.Expr) (names []ast.Expr) {
	if len(args) != 1 {
		return args
	}
	c, ok := ast.Unparen(args[0]).(*ast.CallExpr)
	if !ok {
		return args
	}
	if t, ok := l.Info.TypeOf(c).(*types.Tuple); !ok || t.Len() < 2 {
		return args
	}
	for _, e := range l.results(c) {
		names = append(names, l.nameFor(c, calleeName(c), e))
	}
	return names
}

// nameFor returns a name in the source that stands for a value.
func (l *lowerer) nameFor(at ast.Node, name string, e expr) ast.Expr {
	v := types.NewVar(at.Pos(), l.Pkg, name, e.typeOf())
	id := &ast.Ident{Name: name, NamePos: at.Pos()}
	l.Info.Uses[id], l.bound[v] = v, e
	l.Info.Types[id] = types.TypeAndValue{Type: e.typeOf()}
	return id
}

// isVariadic reports whether a parameter takes all other arguments.
func (l *lowerer) isVariadic(f *ast.Field) bool {
	_, yes := f.Type.(*ast.Ellipsis)
	return yes && len(f.Names) > 0
}

// inlined reads the body of a function whose parameters are bound. Variables up to first are those of
// others.
func (l *lowerer) inlined(c *ast.CallExpr, id ast.Node, sig *ast.FuncType, body *ast.BlockStmt, first int) []expr {
	l.inlining[id] = true
	defer delete(l.inlining, id)
	n := len(l.exits)
	frame := &frame{}
	l.frames = append(l.frames, frame)
	var out []expr
	if r, ok := body.List[len(body.List)-1].(*ast.ReturnStmt); ok && returns(body) == 1 && len(r.Results) > 0 && !hasDefer(body) && (sig.Results.NumFields() == len(r.Results)) {
		// The only return is at the end.
		var j jump
		for _, r := range sig.Results.List {
			for _, id := range r.Names {
				l.bound[l.Info.Defs[id]] = ref(l.define(id.Name, l.typeOf(r.Type), nil))
			}
		}
		l.exits = append(l.exits, &exit{})
		j = l.list(body.List[:len(body.List)-1])
		if len(j.may) > 0 {
			l.refuse(c, "this call is left in an unknown way")
		}
		k := 0
		for _, f := range sig.Results.List {
			for range max(1, len(f.Names)) {
				t := l.typeOf(f.Type)
				e := l.converted(l.expr(r.Results[k]), t)
				if types.IsInterface(t) && memoryType(t) == t && e.typeOf() != nil && !types.IsInterface(e.typeOf()) && !isLit(e, "nil") && hasFloats(e.typeOf()) {
					l.refuse(r.Results[k], "%s returns an interface: let it return the type that this holds", calleeName(c))
				}
				if x, ok := e.(*reference); !ok && !isPointer(t) || ok && x.v.number <= first && !isHeader(t) {
					e = l.valued(calleeName(c), e) // as it is now
				}
				out = append(out, e)
				k++
			}
		}
	} else {
		out = l.body(frame, sig, body)
	}
	l.exits = l.exits[:n]
	l.frames = l.frames[:len(l.frames)-1]
	return out
}

// valued returns e, unless it is a constant, as a variable.
func (l *lowerer) valued(name string, e expr) expr {
	if _, ok := e.(*literal); ok {
		return e
	}
	v := l.define(name, e.typeOf(), e)
	v.unnamed = true
	return ref(v)
}

// calleeName returns a name for what a call returns.
func calleeName(c *ast.CallExpr) string {
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return "result"
}

// returns counts the returns of a function in some of its source.
func returns(body ast.Node) (n int) {
	ast.Inspect(body, func(s ast.Node) bool {
		switch s.(type) {
		case *ast.ReturnStmt:
			n++
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return n
}

// body reads the body of a function, and returns its results.
func (l *lowerer) body(f *frame, sig *ast.FuncType, body *ast.BlockStmt) (out []expr) {
	if sig.Results != nil {
		for _, r := range sig.Results.List {
			t := l.typeOf(r.Type)
			if isPointer(t) && memoryType(t) == t && !isGonum(t) && hasFloats(t) {
				l.refuse(r, "a pointer that a function returns in several places, or with a deferred call, is not differentiated: return what it points to")
			}
			if f.choice != nil {
				v := l.define("f", integer, integerLit(0))
				f.results, f.choice.which = append(f.results, v), ref(v)
				continue
			}
			if len(r.Names) == 0 {
				f.results = append(f.results, l.define("result", t, nil))
			}
			for _, id := range r.Names {
				v := l.define(id.Name, t, nil)
				if obj := l.Info.Defs[id]; obj != nil {
					l.bound[obj] = ref(v)
				}
				f.results = append(f.results, v)
			}
		}
	}
	f.leave = l.newExit("returned", false)
	l.exits = append(l.exits, f.leave)
	start := len(l.out)
	l.defers(f, body)
	l.list(body.List)
	l.runDeferred(f, start)
	for _, v := range f.results {
		out = append(out, ref(v))
	}
	return out
}

// argument reads an argument of a function that is inlined, and returns what binds it to the
// parameter.
func (l *lowerer) argument(id *ast.Ident, arg ast.Expr, path []int, body *ast.BlockStmt) (bind func()) {
	obj := l.Info.Defs[id]
	if bind := l.function(obj, arg); bind != nil {
		return bind
	}
	if obj != nil && memoryType(obj.Type()) != obj.Type() {
		return l.sharedArgument(id, obj, arg, body)
	}
	if obj == nil || id.Name == "_" {
		l.expr(arg)
		return func() {}
	}
	value := l.value(arg)
	if len(path) > 0 {
		value = l.fields(value, path, "")
	}
	_, constant := value.(*literal)
	t := l.substituted(obj.Type())
	if types.IsInterface(t) && value.typeOf() != nil && !l.assigned(obj, body) { // what it holds is known
		t = value.typeOf()
	}
	keeps := !l.assigned(obj, body) && (constant || !l.making) && (constant || obj.Pkg().Path() == "models" || !l.stores(body)) // models change no variables of others
	e := l.parameter(id, t, value, keeps)
	return func() {
		if l.bound[obj] = e; isFunction(obj.Type()) { // nil, where an earlier call may have given another one
			l.know(obj, nil)
		}
	}
}

// parameter returns what stands for a parameter of type t, given the argument. keeps says that
// neither the parameter nor what it is made of changes in the function.
func (l *lowerer) parameter(id *ast.Ident, t types.Type, arg expr, keeps bool) expr {
	e := l.converted(arg, t)
	if isRaw(t) && (isMatrix(e.typeOf()) || isVector(e.typeOf())) {
		t = e.typeOf()
	}
	if p, ok := t.Underlying().(*types.Pointer); ok && sameMemory(p.Elem(), e.typeOf()) {
		e = &unary{token.AND, e} // the receiver of a method with a pointer
	}
	if isPointer(t) {
		return l.pinned(id, e)
	}
	if p, ok := e.typeOf().Underlying().(*types.Pointer); ok && !sameMemory(t, p) {
		e = pointee(e) // the receiver of a method without a pointer
	}
	if keeps && (atom(e) || isAggregate(t) && isPlace(e)) {
		return e
	}
	return ref(l.define(id.Name, t, e))
}

// stores reports whether a function may change memory or variables that are not its own.
func (l *lowerer) stores(body ast.Node) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		var to []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				to = n.Lhs
			}
		case *ast.IncDecStmt:
			to = []ast.Expr{n.X}
		case *ast.CallExpr:
			obj := l.callee(n)
			if f, ok := obj.(*types.Func); ok {
				obj = f.Origin()
			}
			switch {
			case l.isBuiltin(n.Fun, "copy") || l.isBuiltin(n.Fun, "clear") || changesMemory(obj) || l.Written[obj] != nil:
				yes = true
			case l.declOf(obj) != nil && !l.looking[obj]:
				l.looking[obj] = true
				yes = yes || l.stores(l.declOf(obj).Body)
				delete(l.looking, obj)
			case l.lits[obj] != nil && !l.looking[obj]:
				l.looking[obj] = true
				yes = yes || l.stores(l.lits[obj].Body)
				delete(l.looking, obj)
			case l.lits[obj] == nil && l.isUnknown(obj):
				yes = true
			}
		}
		for _, e := range to {
			id, ok := ast.Unparen(e).(*ast.Ident)
			own := ok && l.Info.Uses[id] != nil && body.Pos() <= l.Info.Uses[id].Pos() && l.Info.Uses[id].Pos() < body.End()
			yes = yes || !own && !isBlank(e)
		}
		return true
	})
	return yes
}

// isUnknown reports whether a function is what a variable or an interface holds.
func (l *lowerer) isUnknown(obj types.Object) bool {
	switch f := obj.(type) {
	case *types.Var:
		return true
	case *types.Func:
		return f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type())
	}
	return false
}

// instantiate binds the type parameters of a generic function, and returns what undoes it.
func (l *lowerer) instantiate(c *ast.CallExpr) func() {
	f := ast.Unparen(c.Fun)
	switch x := f.(type) {
	case *ast.IndexExpr:
		f = x.X
	case *ast.IndexListExpr:
		f = x.X
	}
	var id *ast.Ident
	switch f := f.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	}
	inst, ok := l.Info.Instances[id]
	args := inst.TypeArgs
	fn, _ := l.callee(c).(*types.Func)
	if !ok && fn != nil {
		args = receiverArgs(fn)
	}
	if args.Len() == 0 {
		return func() {}
	}
	outer := l.types
	inner := maps.Clone(outer)
	if ok {
		fn = l.Info.Uses[id].(*types.Func)
	}
	fn = fn.Origin()
	if d := l.declOf(fn); d != nil { // the type parameters in its source
		fn = l.Info.Defs[d.Name].(*types.Func)
	}
	params := fn.Signature().TypeParams()
	if !ok {
		params = fn.Signature().RecvTypeParams()
	}
	for i := range params.Len() {
		inner[params.At(i)] = l.instance(args.At(i))
	}
	l.types = inner
	return func() { l.types = outer }
}

// receiverArgs returns the type arguments of the receiver of a method, or nil.
func receiverArgs(f *types.Func) *types.TypeList {
	recv := f.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.TypeArgs()
	}
	return nil
}
