package gradient

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// A function in a variable that changes is an integer in what is written, which says which of the functions it is that
// the source sets the variable to. A call becomes a branch for each of them:
//
//	f := g
//	if c {                     f := 0
//		f = h                  if c { f = 1 }
//	}                          if f == 0 { y = g(x) } else { y = h(x) }
//	y := f(x)
type choice struct {
	which expr
	of    []types.Object   // the functions; one that is nil is none
	at    map[ast.Expr]int // where those begin that an expression gives
}

// settings returns what the source sets a variable to after its declaration. It refuses a function that is set in a way
// that cannot be followed.
func (l *lowerer) settings(obj types.Object) (list []ast.Expr) {
	unclear := func(n ast.Node, e ast.Expr, format string) {
		if isFunction(obj.Type()) {
			l.refuse(n, format, obj.Name())
		}
		list = append(list, e)
	}
	for _, d := range l.Funcs {
		if d.Pos() > obj.Pos() || obj.Pos() >= d.End() {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if id, ok := ast.Unparen(to).(*ast.Ident); ok && l.Info.Uses[id] == obj {
						if len(n.Lhs) != len(n.Rhs) {
							unclear(n, n.Rhs[0], "which function this is is not known: set %s by itself")
							continue
						}
						list = append(list, n.Rhs[i])
					}
				}
			case *ast.RangeStmt:
				for _, to := range []ast.Expr{n.Key, n.Value} {
					if id, ok := to.(*ast.Ident); ok && l.Info.Uses[id] == obj {
						unclear(n, n.X, "which function this is is not known: set %s by itself")
					}
				}
			case *ast.UnaryExpr:
				if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND && l.Info.Uses[id] == obj {
					unclear(n, n, "a pointer to a function in a variable is not differentiated: set %s itself")
				}
			}
			return true
		})
	}
	return list
}

// changing returns what declares a function variable that changes, with its first value, or with none if first is nil.
// It returns nil for other variables.
func (l *lowerer) changing(obj types.Object, first ast.Expr) (bind func()) {
	if obj == nil || !isFunction(obj.Type()) {
		return nil
	}
	list := l.settings(obj)
	if len(list) == 0 && first != nil {
		return nil
	}
	c := &choice{at: map[ast.Expr]int{}}
	if first == nil {
		c.of = append(c.of, nil)
	} else {
		c.add(l, obj, first)
	}
	for _, e := range list {
		c.later(l, obj, e, func(v *types.Var) bool { return v.Parent().Contains(obj.Pos()) })
	}
	start := expr(integerLit(0))
	if first != nil {
		start = l.indexIn(c, first)
	}
	c.which = ref(l.define(obj.Name(), integer, start))
	return func() { l.know(obj, c) }
}

// know binds a variable to a choice.
func (l *lowerer) know(obj types.Object, c *choice) {
	l.lits[obj], l.alias[obj], l.envs[obj], l.choices[obj] = nil, nil, nil, c
}

// add adds the functions that e may be.
func (c *choice) add(l *lowerer, obj types.Object, e ast.Expr) {
	c.at[e] = len(c.of)
	if other := l.choiceOf(e); other != nil {
		c.of = append(c.of, other.of...)
		return
	}
	if l.Info.Types[e].IsNil() {
		c.of = append(c.of, nil)
		return
	}
	f := types.NewVar(e.Pos(), l.Pkg, obj.Name(), obj.Type())
	bind := l.functionValue(f, e)
	if bind == nil {
		l.refuse(e, "which function %s is is not known where %s is declared: name one of a package, write a literal, or declare it before", types.ExprString(e), obj.Name())
	}
	bind()
	c.of = append(c.of, f)
}

// choiceOf returns the choice of a variable, and nil for other expressions.
func (l *lowerer) choiceOf(e ast.Expr) *choice {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	return l.choices[l.Info.Uses[id]]
}

// indexIn returns which function of c an expression is that c knows.
func (l *lowerer) indexIn(c *choice, e ast.Expr) expr {
	at := c.at[e]
	other := l.choiceOf(e)
	if other == nil {
		return integerLit(at)
	}
	if at == 0 {
		return other.which
	}
	return &binary{token.ADD, other.which, integerLit(at), integer}
}

// later adds what the variable is set to after its declaration. there reports whether a local that a literal uses is
// there in all places where the variable is called.
func (c *choice) later(l *lowerer, obj types.Object, e ast.Expr, there func(v *types.Var) bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		l.refuse(e, "which function this is is not known where %s is declared: give it a name before that", obj.Name())
	case *ast.SelectorExpr:
		if s := l.Info.Selections[e]; s != nil && s.Kind() == types.MethodVal {
			l.refuse(e, "what %s is a method of is not known where %s is declared: give %s a name before that", types.ExprString(e), obj.Name(), types.ExprString(e))
		}
	}
	c.add(l, obj, e)
	f, ok := ast.Unparen(e).(*ast.FuncLit)
	if !ok {
		return
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := l.Info.Uses[id].(*types.Var)
		switch {
		case !ok || v.IsField() || v.Parent() == nil || f.Pos() <= v.Pos() && v.Pos() < f.End():
		case v == obj:
			l.refuse(id, "a literal that calls itself is not differentiated: make it a function of the package")
		case v.Parent() == obj.Parent() && l.isCounter(obj):
			l.refuse(id, "%s is another variable in each iteration, and %s is called in the next one: declare %s before the loop", v.Name(), obj.Name(), obj.Name())
		case v.Parent() != v.Pkg().Scope() && !there(v):
			l.refuse(id, "%s is not there in all places where %s is called: declare it before %s", v.Name(), obj.Name(), obj.Name())
		}
		return true
	})
}

// isCounter reports whether a variable is declared at the beginning of a for statement.
func (l *lowerer) isCounter(obj types.Object) (yes bool) {
	for _, d := range l.Funcs {
		ast.Inspect(d, func(n ast.Node) bool {
			s, ok := n.(*ast.ForStmt)
			yes = yes || ok && s.Init != nil && s.Init.Pos() <= obj.Pos() && obj.Pos() < s.Init.End()
			return !yes
		})
	}
	return yes
}

// chosen reads a call of a function variable that changes.
func (l *lowerer) chosen(c *ast.CallExpr, of *choice) (out []expr) {
	args := slices.Clone(l.spread(c.Args))
	if !slices.ContainsFunc(args, func(e ast.Expr) bool { return !isBasic(l.typeOf(e)) }) {
		for i, e := range args { // once for all branches
			if l.Info.Types[e].Value == nil {
				args[i] = l.nameFor(e, "arg", l.temporary("arg", l.expr(e)))
			}
		}
	}
	sig := l.Info.TypeOf(c.Fun).Underlying().(*types.Signature)
	var results []*variable
	for r := range sig.Results().Variables() {
		t := l.substituted(r.Type())
		if isPointer(t) || isFunction(t) {
			l.refuse(c, "%s may be one of several functions: let them return numbers, slices or structs", types.ExprString(c.Fun))
		}
		results = append(results, l.define("result", t, nil))
	}
	var branches func(k int) []stmt
	branches = func(k int) []stmt {
		this := l.nested(func() {
			f := of.of[k]
			if f == nil {
				l.emit(&effect{&call{nilCall, "", nil, nil}})
				return
			}
			if lit := l.lits[f]; lit != nil && l.inlining[lit] {
				l.refuse(c, "%s may call itself, which is not differentiated", types.ExprString(c.Fun))
			}
			named := *c
			named.Fun, named.Args = l.useOf(f), args
			l.Info.Types[&named] = l.Info.Types[c]
			for i, e := range l.results(&named) {
				l.assign(ref(results[i]), l.converted(e, results[i].typ))
			}
		})
		if k == len(of.of)-1 {
			return this
		}
		return []stmt{&branch{&binary{token.EQL, of.which, integerLit(k), boolean}, this, branches(k + 1)}}
	}
	l.out = append(l.out, branches(0)...)
	for _, v := range results {
		out = append(out, ref(v))
	}
	return out
}

// nilCall panics as the call of no function does.
const nilCall = "(func())(nil)"

func isBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// none returns whether the variable of a choice is nil, or with NEQ that it is not.
func (c *choice) none(op token.Token) expr {
	join := token.LOR
	if op == token.NEQ {
		join = token.LAND
	}
	var cond expr
	for k, f := range c.of {
		switch is := (&binary{op, c.which, integerLit(k), boolean}); {
		case f != nil:
		case cond == nil:
			cond = is
		default:
			cond = &binary{join, cond, is, boolean}
		}
	}
	if cond == nil {
		return lit(strconv.FormatBool(op == token.NEQ), boolean)
	}
	return cond
}

// literals returns the function literals that a variable may be.
func (l *lowerer) literals(obj types.Object) (list []*ast.FuncLit) {
	of := []types.Object{obj}
	if c := l.choices[obj]; c != nil {
		of = c.of
	}
	for _, f := range of {
		if lit := l.lits[f]; lit != nil {
			list = append(list, lit)
		}
	}
	return list
}

// function returns what binds a variable to a function, and nil if the value is none that is known.
func (l *lowerer) function(obj types.Object, value ast.Expr) (bind func()) {
	if bind := l.changing(obj, value); bind != nil {
		return bind
	}
	return l.functionValue(obj, value)
}
