package gradient

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// An environment is what a function that another one returned sees of that: its parameters, locals and type
// parameters. Another call of that function makes another environment.
type environment struct {
	bound map[types.Object]expr
	lits  map[types.Object]*ast.FuncLit
	alias map[types.Object]types.Object
	lists map[types.Object][]types.Object
	envs  map[types.Object]*environment
	types map[*types.TypeParam]types.Type

	choices map[types.Object]*choice
}

// enter makes an environment that of what is read, and returns what undoes that. It may be nil.
func (l *lowerer) enter(e *environment) (leave func()) {
	if e == nil {
		return func() {}
	}
	outer := environment{maps.Clone(l.bound), maps.Clone(l.lits), maps.Clone(l.alias), maps.Clone(l.lists), maps.Clone(l.envs), l.types, maps.Clone(l.choices)}
	e.copyTo(l.known())
	l.types = e.types
	return func() {
		restored(l.bound, outer.bound, e.bound)
		restored(l.lits, outer.lits, e.lits)
		restored(l.alias, outer.alias, e.alias)
		restored(l.lists, outer.lists, e.lists)
		restored(l.envs, outer.envs, e.envs)
		restored(l.choices, outer.choices, e.choices)
		l.types = outer.types
	}
}

// restored sets those of the values of m that changed has to those of old.
func restored[V any](m, old, changed map[types.Object]V) {
	for k := range changed {
		delete(m, k)
		if v, ok := old[k]; ok {
			m[k] = v
		}
	}
}

// within returns the values of the objects that are declared in a part of the source.
func within[V any](m map[types.Object]V, n ast.Node) map[types.Object]V {
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(x types.Object, _ V) bool { return x == nil || x.Pos() < n.Pos() || x.Pos() >= n.End() })
	return m
}

// around returns what is known of the objects that are declared in a part of the source.
func (l *lowerer) around(n ast.Node) *environment {
	return &environment{within(l.bound, n), within(l.lits, n), within(l.alias, n), within(l.lists, n), within(l.envs, n), l.types, within(l.choices, n)}
}

// known returns what l knows, which changes with it, but for the type parameters.
func (l *lowerer) known() *environment {
	return &environment{l.bound, l.lits, l.alias, l.lists, l.envs, nil, l.choices}
}

// copyTo adds what e knows to other, or changes it there.
func (e *environment) copyTo(other *environment) {
	maps.Copy(other.bound, e.bound)
	maps.Copy(other.lits, e.lits)
	maps.Copy(other.alias, e.alias)
	maps.Copy(other.lists, e.lists)
	maps.Copy(other.envs, e.envs)
	maps.Copy(other.choices, e.choices)
	other.types = e.types
}

// again begins to read a function in itself, which one that another one returned may call with other variables, and
// returns what goes on with those of the outer one.
func (l *lowerer) again(at ast.Node, f ast.Node, name string) (end func()) {
	if !l.inlining[f] {
		return func() {}
	}
	const deep = 20
	if _, ok := f.(*ast.FuncLit); !ok || l.nests == deep {
		l.refuse(at, "%s calls itself, which is not differentiated", name)
	}
	l.nests++
	outer := l.around(f)
	return func() {
		l.nests--
		l.inlining[f] = true
		outer.copyTo(l.known())
	}
}

// made reads a call of a function that returns a function, and returns what binds a variable to that. It returns nil if
// the call is none of that kind.
func (l *lowerer) made(obj types.Object, c *ast.CallExpr) (bind func()) {
	if !isFunction(l.Info.TypeOf(c)) || l.Info.Types[c.Fun].IsType() {
		return nil
	}
	var id ast.Node
	var sig *ast.FuncType
	var recv *ast.FieldList
	var body *ast.BlockStmt
	callee := l.callee(c)
	if f, ok := callee.(*types.Func); ok {
		callee = f.Origin()
	}
	if f := l.lits[callee]; f != nil {
		id, sig, body = f, f.Type, f.Body
	} else if d := l.declOf(callee); d != nil && !l.recursive(d) {
		id, sig, recv, body = d, d.Type, d.Recv, d.Body
	}
	if id == nil || l.inlining[id] || sig.Results.NumFields() != 1 {
		return nil
	}
	defer l.instantiate(c)()
	outer := l.around(id)
	making := l.making // an argument may be made too
	l.making = true
	leave := l.arguments(c, sig, recv, body)
	l.making = making
	defer leave()
	l.inlining[id] = true
	defer delete(l.inlining, id)
	n := len(l.exits)
	frame := &frame{}
	l.frames = append(l.frames, frame)
	var set func()
	if last, ok := body.List[len(body.List)-1].(*ast.ReturnStmt); ok && returns(body) == 1 && len(last.Results) == 1 {
		l.exits = append(l.exits, &exit{})
		if j := l.list(body.List[:len(body.List)-1]); len(j.may) > 0 {
			l.refuse(c, "this call is left in an unknown way")
		}
		set = l.functionValue(obj, last.Results[0])
		if set == nil {
			l.refuse(c, "which function %s returns is not known: return a function literal", types.ExprString(c.Fun))
		}
	} else {
		frame.choice = l.returned(c, body)
		l.body(frame, sig, body)
		set = func() { l.know(obj, frame.choice) }
	}
	l.exits, l.frames = l.exits[:n], l.frames[:len(l.frames)-1]
	e := l.around(id)
	outer.copyTo(l.known())
	of := []types.Object{obj}
	if frame.choice != nil {
		of = frame.choice.of
	}
	return func() {
		set()
		if c := l.choices[obj]; c != nil { // it returns a variable that changes
			of = c.of
		}
		for _, f := range of {
			if inner := l.envs[f]; inner != nil { // of a function that this one has called
				inner.copyTo(e)
			}
			l.envs[f] = e
		}
	}
}

// returned returns the choice of the functions that a function returns in several places.
func (l *lowerer) returned(c *ast.CallExpr, body *ast.BlockStmt) *choice {
	out := &choice{at: map[ast.Expr]int{}}
	obj := types.NewVar(c.Pos(), l.Pkg, calleeName(c), l.Info.TypeOf(c))
	first := body.End() // locals that are declared later are not there where the function is called
	for _, s := range slices.Backward(body.List) {
		if returns(s) > 0 {
			first = s.Pos()
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) != 1 {
				l.refuse(n, "which function is returned is not known: write it here")
			}
			out.later(l, obj, n.Results[0], func(v *types.Var) bool { return v.Pos() < first })
		}
		return true
	})
	return out
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// A yield is what an iterator calls with each element.
type yield struct {
	body *ast.BlockStmt
	call func(c *ast.CallExpr) []expr
}

// iterated reads a loop over a function. The function is inlined, and the body of the loop in the places where it calls
// its argument.
func (l *lowerer) iterated(s *ast.RangeStmt, label string) (j jump) {
	f := types.NewVar(s.X.Pos(), l.Pkg, "iterator", l.Info.TypeOf(s.X))
	bind := l.functionValue(f, s.X)
	if bind == nil {
		l.refuse(s, "a loop over a function whose body is not known is not differentiated: write the loop that the function makes")
	}
	bind()
	var id ast.Node = l.lits[f]
	var sig *ast.FuncType
	var body *ast.BlockStmt
	if lit := l.lits[f]; lit != nil {
		sig, body = lit.Type, lit.Body
	} else if d := l.declOf(l.alias[f]); d != nil && !l.recursive(d) {
		id, sig, body = d, d.Type, d.Body
	} else {
		l.refuse(s, "a loop over a function whose body is not known is not differentiated: write the loop that the function makes")
	}
	defer l.again(s, id, types.ExprString(s.X))()
	stop := l.newExit("stop", true)
	exits, frames, kinds := slices.Clone(l.exits), slices.Clone(l.frames), l.types
	obj := l.Info.Defs[sig.Params.List[0].Names[0]]
	first := l.count
	defer func(outer *yield) { l.yields[obj] = outer }(l.yields[obj])
	l.yields[obj] = &yield{s.Body, func(c *ast.CallExpr) []expr {
		var values []expr
		for _, a := range c.Args {
			values = append(values, l.valued("v", l.expr(a)))
		}
		inner, innerFrames, innerKinds := l.exits, l.frames, l.types
		l.exits, l.frames, l.types = slices.Clone(exits), slices.Clone(frames), kinds
		for i, to := range []ast.Expr{s.Key, s.Value} {
			switch {
			case to == nil || isBlank(to):
			case s.Tok == token.DEFINE:
				l.bind(to.(*ast.Ident), values[i])
			default:
				p := l.place(to)
				l.assign(p, l.converted(values[i], p.typeOf()))
			}
		}
		k := l.loopBody(s.Body, stop, label)
		l.exits, l.frames, l.types = inner, innerFrames, innerKinds
		j.add(k)
		goes := expr(lit("true", boolean))
		if cond := l.untaken(k.may); cond != nil {
			goes = ref(l.define("goes", boolean, cond))
		}
		return []expr{goes}
	}}
	defer l.enter(l.envs[f])()
	l.inlined(&ast.CallExpr{Fun: s.X}, id, sig, body, first)
	return outside(j, stop)
}

// functions returns the functions of a slice or an array that is a variable, and nil for other expressions.
func (l *lowerer) functions(e ast.Expr) []types.Object {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return l.lists[l.Info.Uses[id]]
}

// listed reads a literal of a slice or an array of functions, whose elements are made here, and returns nil for
// other literals.
func (l *lowerer) listed(c *ast.CompositeLit) (list []types.Object) {
	t := l.Info.TypeOf(c).Underlying()
	if e := elemOf(t); e == nil || !isFunction(e) {
		return nil
	}
	if a, ok := t.(*types.Array); ok && int(a.Len()) != len(c.Elts) {
		l.refuse(c, "write all functions of this array")
	}
	list = []types.Object{}
	for _, x := range c.Elts {
		if _, keyed := x.(*ast.KeyValueExpr); keyed {
			l.refuse(x, "write functions without their indices")
		}
		v := types.NewVar(x.Pos(), l.Pkg, "f", elemOf(t))
		bind := l.functionValue(v, x)
		if bind == nil {
			l.refuse(x, "which function this is is not known")
		}
		bind()
		list = append(list, v)
	}
	return list
}

// useOf returns an identifier that stands for a variable.
func (l *lowerer) useOf(v types.Object) *ast.Ident {
	id := &ast.Ident{Name: v.Name(), NamePos: v.Pos()}
	l.Info.Uses[id] = v
	l.Info.Types[id] = types.TypeAndValue{Type: v.Type()}
	return id
}

// indexed returns the function of a call such as f[1](x), of functions that are known, and nil for other calls.
func (l *lowerer) indexed(c *ast.CallExpr) ast.Expr {
	x, ok := ast.Unparen(c.Fun).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	list := l.functions(x.X)
	if list == nil {
		return nil
	}
	var index constant.Value
	if index = l.Info.Types[x.Index].Value; index == nil {
		e, ok := l.expr(x.Index).(*literal)
		if !ok {
			l.refuse(x.Index, "which function this is is not known: range over them")
		}
		index = constant.MakeFromLiteral(e.text, token.INT, 0)
	}
	i, ok := constant.Int64Val(index)
	if !ok || i < 0 || i >= int64(len(list)) {
		l.refuse(x.Index, "there is no such function")
	}
	return l.useOf(list[i])
}

// unrolled reads a loop over functions that are known, turn by turn.
func (l *lowerer) unrolled(s *ast.RangeStmt, label string, list []types.Object) (j jump) {
	if s.Tok == token.ASSIGN {
		l.refuse(s, "a loop over functions has variables of its own: write :=")
	}
	stop := l.newExit("stop", true)
	var turn func(i int)
	turn = func(i int) {
		if i == len(list) {
			return
		}
		if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" {
			key := l.Info.Defs[id]
			if l.bound[key] = integerLit(i); l.assigned(key, s.Body) {
				l.bound[key] = ref(l.define(id.Name, integer, integerLit(i)))
			}
		}
		if id, ok := s.Value.(*ast.Ident); ok && id.Name != "_" {
			l.bindTo(id, l.useOf(list[i]))
		}
		k := l.loopBody(s.Body, stop, label)
		j.add(k)
		if cond := l.untaken(k.may); cond != nil {
			l.emit(&branch{cond: cond, then: l.nested(func() { turn(i + 1) })})
			return
		}
		turn(i + 1)
	}
	turn(0)
	return outside(j, stop)
}

// methodValue returns the function that a method of a value is. Each call has a copy of that value as it is now, or a
// pointer to it. methodValue returns nil if e is no such method.
func (l *lowerer) methodValue(e *ast.SelectorExpr) *ast.FuncLit {
	s := l.Info.Selections[e]
	if s == nil || s.Kind() != types.MethodVal {
		return nil
	}
	m, path := s.Obj(), s.Index()
	if p, of, ok := l.concrete(e); ok {
		m, path = of, p
	}
	f := m.(*types.Func)
	d := l.declOf(f)
	if in, _ := l.embedded(e); in != nil || d == nil || f.Signature().RecvTypeParams() != nil || l.recursive(d) {
		return nil
	}
	body := *d.Body
	if names := d.Recv.List[0].Names; len(names) > 0 && names[0].Name != "_" {
		t := l.Info.Defs[names[0]].Type()
		if memoryType(t) != t {
			return nil
		}
		x := l.value(e.X)
		if isPointer(t) {
			x = l.anchored(e.X, x)
		}
		if len(path) > 1 {
			x = l.fields(x, path[:len(path)-1], "")
		}
		receiver := l.nameFor(e, names[0].Name, l.parameter(names[0], l.substituted(t), x, false))
		body.List = append([]ast.Stmt{&ast.AssignStmt{Lhs: []ast.Expr{names[0]}, Tok: token.DEFINE, TokPos: e.Pos(), Rhs: []ast.Expr{receiver}}}, body.List...)
	}
	return &ast.FuncLit{Type: d.Type, Body: &body}
}
