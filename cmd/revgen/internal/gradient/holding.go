package gradient

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// An interface in a field of a parameter, or of a variable of the package, embedded or not, holds what the package sets
// the field to. If that always has one type, methods of this type are inlined. What is written asserts it at its
// beginning, where the interface may be nil, and again in all places that use it:
//
//	kernel, _ := m.Kernel.(*rbf)
//	...
//	_ = m.Kernel.(*rbf)

// assertion is the function of a call that asserts the type of an interface.
const assertion = "assert"

// heldTypes returns the types of what the package sets a field to, in the order of their names. known says that no
// value is of an interface, and that the field's address is not taken.
func (l *lowerer) heldTypes(field *types.Var) (list []types.Type, known bool) {
	known = true
	add := func(e ast.Expr) {
		t := l.Info.TypeOf(e)
		switch {
		case l.Info.Types[e].IsNil() || slices.ContainsFunc(list, func(u types.Type) bool { return types.Identical(t, u) }):
		case types.IsInterface(t):
			known = false
		default:
			list = append(list, t)
		}
	}
	for e := range l.Info.Types {
		switch e := e.(type) {
		case *ast.CompositeLit:
			s, ok := l.Info.TypeOf(e).Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i, x := range e.Elts {
				if kv, ok := x.(*ast.KeyValueExpr); ok {
					if key, ok := kv.Key.(*ast.Ident); ok && l.Info.Uses[key] == field {
						add(kv.Value)
					}
				} else if s.Field(i) == field {
					add(x)
				}
			}
		case *ast.UnaryExpr:
			if sel, ok := ast.Unparen(e.X).(*ast.SelectorExpr); ok && e.Op == token.AND && l.Info.Uses[sel.Sel] == field {
				known = false
			}
		}
	}
	for _, d := range l.Funcs {
		ast.Inspect(d, func(n ast.Node) bool {
			var to, from []ast.Expr
			switch s := n.(type) {
			case *ast.AssignStmt:
				to, from = s.Lhs, s.Rhs
			case *ast.RangeStmt:
				to = []ast.Expr{s.Key, s.Value}
			}
			for i, e := range to {
				if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); !ok || l.Info.Uses[sel.Sel] != field {
					continue
				}
				if len(to) != len(from) {
					known = false
					continue
				}
				add(from[i])
			}
			return true
		})
	}
	slices.SortFunc(list, func(x, y types.Type) int { return strings.Compare(x.String(), y.String()) })
	return list, known
}

// isOne reports whether an interface in a variable holds e, of a known type, and nothing else later.
func (l *lowerer) isOne(obj types.Object, e expr) bool {
	t := e.typeOf()
	return t != nil && !types.IsInterface(t) && !isLit(e, "nil") && len(l.settings(obj)) == 0
}

// fieldOf returns the field that e selects if it is an interface whose methods are the package's own, and nil for other
// expressions.
func (l *lowerer) fieldOf(e ast.Expr) *types.Var {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	s := l.Info.Selections[sel]
	if s == nil || s.Kind() != types.FieldVal || !types.IsInterface(s.Type()) || memoryType(s.Type()) != s.Type() {
		return nil
	}
	return s.Obj().(*types.Var)
}

// heldBy returns the one type of what an interface in a field holds, or nil.
func (l *lowerer) heldBy(e ast.Expr) types.Type {
	if f := l.fieldOf(e); f != nil {
		return l.heldIn(f)
	}
	return nil
}

func (l *lowerer) heldIn(f *types.Var) types.Type {
	if list, known := l.heldTypes(f); known && len(list) == 1 {
		return list[0]
	}
	return nil
}

// embedded returns the embedded interface that a method comes from, and its path in the struct, or nil.
func (l *lowerer) embedded(method *ast.SelectorExpr) (f *types.Var, path []int) {
	s := l.Info.Selections[method]
	if s == nil || s.Kind() != types.MethodVal {
		return nil, nil
	}
	path = s.Index()[:len(s.Index())-1]
	t := s.Recv()
	for _, i := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		f = t.Underlying().(*types.Struct).Field(i)
		t = f.Type()
	}
	if f == nil || !types.IsInterface(t) {
		return nil, nil
	}
	return f, path
}

// asserted returns the value of type t that an interface in a field holds, as a variable that does not change. It is
// declared at the beginning of the function. Where it is used, the interface must hold it.
func (l *lowerer) asserted(at *ast.SelectorExpr, x expr, t types.Type) expr {
	v, path := fieldPath(x)
	switch {
	case v == nil:
		l.refuse(at, "what %s holds is not known: use a parameter or a variable of the package", types.ExprString(at))
	case !v.param && !slices.Contains(l.globals(), v):
		l.refuse(at, "what %s holds is not known: it is a field of no parameter; give it a type", types.ExprString(at))
	}
	for _, p := range l.whole {
		if u, outer := fieldPath(p); u == v && isPrefix(outer, path) {
			l.refuse(at, "%s is set with the struct that it is a field of, and may hold another value then: set the other fields", types.ExprString(at))
		}
	}
	l.asserts = append(l.asserts, x)
	check := &call{assertion, "", []expr{x}, apart(t)}
	if !slices.ContainsFunc(l.out, func(s stmt) bool { e, ok := s.(*effect); return ok && sameText(e.call, check) }) {
		l.emit(&effect{check})
	}
	for _, s := range l.fixed {
		if c, ok := s.r.(*call); ok && same(c.args[0], x) {
			return s.l
		}
	}
	held := &variable{name: l.unique(strings.ToLower(at.Sel.Name[:1]) + at.Sel.Name[1:]), typ: apart(t)}
	l.global[types.NewVar(at.Pos(), l.Pkg, held.name, t)] = held // it may not change
	l.fixed = append(l.fixed, &assignment{l: ref(held), op: token.ASSIGN, r: &call{assertion, "", []expr{x}, held.typ}, define: true})
	return ref(held)
}

// wholly notes that a struct is set, which may hold an interface.
func (l *lowerer) wholly(at ast.Node, p expr) {
	v, outer := fieldPath(p)
	if v == nil || isBasic(p.typeOf()) {
		return
	}
	l.whole = append(l.whole, p)
	for _, x := range l.asserts {
		if u, path := fieldPath(x); u == v && isPrefix(outer, path) {
			l.refuse(at, "%s is set with the struct that it is a field of, and may hold another value then: set the other fields", text(x))
		}
	}
}

// fieldPath returns the variable that a field is in, and the names of the fields on the way. It returns nil for what is
// no field.
func fieldPath(x expr) (v *variable, path []string) {
	for {
		switch y := x.(type) {
		case *field:
			x, path = y.x, append(path, y.name)
		case *target:
			x = y.x
		case *reference:
			slices.Reverse(path)
			return y.v, path
		default:
			return nil, nil
		}
	}
}

func isPrefix(x, y []string) bool { return len(x) <= len(y) && slices.Equal(x, y[:len(x)]) }

// sides reads the operands of an operator. An interface in a field that is compared with nil may be nil.
func (l *lowerer) sides(e *ast.BinaryExpr) (x, y expr) {
	for _, p := range [][2]ast.Expr{{e.X, e.Y}, {e.Y, e.X}} {
		if l.Info.Types[p[1]].IsNil() && l.heldBy(p[0]) != nil {
			return l.fieldAt(ast.Unparen(p[0]).(*ast.SelectorExpr)), l.expr(p[1])
		}
	}
	return l.operands(e)
}

// settable refuses to change a variable of the package, or what an interface in a field holds.
func (l *lowerer) settable(at ast.Node, v *variable) {
	if !slices.Contains(l.globals(), v) {
		return
	}
	for _, s := range l.fixed {
		if c, ok := s.r.(*call); ok && c.fn == assertion && root(s.l) == v {
			l.refuse(at, "what %s holds may not change here: give the field its type", text(c.args[0]))
		}
	}
	l.refuse(at, "%s is a variable of the package, and may not change here: make it a parameter", v.name)
}

// unknown refuses a call of a method of an interface.
func (l *lowerer) unknown(c *ast.CallExpr) {
	text := types.ExprString(c.Fun)
	sel, _ := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	f, _ := l.embedded(sel)
	if f == nil {
		f = l.fieldOf(sel.X)
	}
	if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok && len(l.settings(l.Info.Uses[id])) > 0 {
		l.refuse(c, "%s is a method of an interface, and %s is set to other values: give each a variable with its type", text, id.Name)
	}
	if f == nil {
		l.refuse(c, "%s is a method of an interface, and what that holds is not known: give the variable its type", text)
	}
	list, known := l.heldTypes(f)
	var names []string
	for _, t := range list {
		names = append(names, types.TypeString(t, types.RelativeTo(l.Pkg)))
	}
	if !known {
		names = append(names, "another interface")
	}
	if len(names) == 0 {
		l.refuse(c, "%s is a method of an interface, and the package sets field %s to nothing: give the field its type", text, f.Name())
	}
	l.refuse(c, "%s is a method of an interface, and the package sets field %s to %s: give the field one type, or write a function with a parameter for the value", text, f.Name(), strings.Join(names, " and to "))
}
