package gradient

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A deferred call runs at the one way out of its function, after the results are set. flag says whether its statement
// has run, and is nil if it always has.
type deferred struct {
	call *ast.CallExpr
	flag *variable
}

// deferStmt reads a defer statement.
func (l *lowerer) deferStmt(s *ast.DeferStmt) {
	f := l.frames[len(l.frames)-1]
	if d, ok := l.lockOf(s.Call); ok {
		l.refuse(s, "%s is not differentiated here: lock and defer at the beginning of the function that has derivatives", d.text())
	}
	k := slices.IndexFunc(f.deferred, func(d deferred) bool { return d.call == s.Call })
	if k < 0 || len(l.loops) > f.depth {
		l.refuse(s, "a defer in a loop, or where a function is returned, is not differentiated: write its call at the end")
	}
	c := *s.Call
	l.fix(s, &c)
	c.Args = slices.Clone(l.spread(s.Call.Args))
	for i, a := range c.Args { // as they are now
		t := l.typeOf(a)
		switch {
		case !isBasic(t):
			l.refuse(a, "an argument of a deferred call is a number here: write defer func() { ... }()")
		case l.Info.Types[a].Value == nil:
			c.Args[i] = l.nameFor(a, "arg", ref(l.define("arg", t, l.expr(a))))
		}
	}
	f.deferred[k].call = &c
	if v := f.deferred[k].flag; v != nil {
		l.assign(ref(v), lit("true", boolean))
	}
}

// fix makes the call of a defer statement one of the function and of the receiver that there are now.
func (l *lowerer) fix(at *ast.DeferStmt, c *ast.CallExpr) {
	if f := l.indexed(c); f != nil {
		c.Fun = f
	}
	if _, made := ast.Unparen(c.Fun).(*ast.CallExpr); made || l.choiceOf(c.Fun) != nil {
		v := types.NewVar(c.Fun.Pos(), l.Pkg, "f", l.Info.TypeOf(c.Fun))
		bind := l.functionValue(v, c.Fun)
		if bind == nil {
			l.refuse(at, "which function %s is is not known", types.ExprString(c.Fun))
		}
		bind()
		c.Fun = l.useOf(v)
	}
	m, ok := l.callee(c).(*types.Func)
	if !ok || m.Signature().Recv() == nil {
		return
	}
	text := types.ExprString(c.Fun)
	if !isPointer(m.Signature().Recv().Type()) {
		l.refuse(at, "a deferred call of %s copies its receiver: write defer func() { ... }()", text)
	}
	sel, _ := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	for sel != nil {
		if s := l.Info.Selections[sel]; s != nil && (s.Kind() == types.FieldVal && isPointer(s.Type()) || len(s.Index()) > 1 && s.Indirect()) {
			break // a pointer in a field, which may change
		}
		switch x := ast.Unparen(sel.X).(type) {
		case *ast.Ident:
			return
		case *ast.SelectorExpr:
			sel = x
			continue
		}
		break
	}
	l.refuse(at, "which receiver a deferred call of %s has may change: write defer func() { ... }(), or call the method of a variable", text)
}

// defers declares the flags of the deferred calls of a function.
func (l *lowerer) defers(f *frame, body *ast.BlockStmt) {
	f.depth = len(l.loops)
	for k, s := range body.List {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.DeferStmt:
				d := deferred{call: n.Call}
				if earlier := (&ast.BlockStmt{List: body.List[:k]}); s != ast.Stmt(n) || returns(earlier) > 0 {
					d.flag = l.define("deferred", boolean, lit("false", boolean))
				}
				f.deferred = append(f.deferred, d)
				return false
			}
			return true
		})
	}
}

// runDeferred reads the deferred calls of a function at its end. Its statements begin with the one at start.
func (l *lowerer) runDeferred(f *frame, start int) {
	for _, d := range slices.Backward(f.deferred) {
		run := func() { l.exprStmt(&ast.ExprStmt{X: d.call}) }
		if d.flag == nil {
			run()
			continue
		}
		then := l.nested(run)
		l.out = append(l.out[:start:start], l.lifted(d.call, l.out[start:], then)...)
		l.emit(&branch{cond: ref(d.flag), then: then})
	}
}

// lifted returns statements that declare at their beginning what later ones use of the locals of branches, once.
func (l *lowerer) lifted(at ast.Node, list, later []stmt) []stmt {
	used := map[*variable]bool{}
	each(later, func(s stmt) {
		expressions(s, func(e expr) {
			visit(e, func(e expr) {
				if x, ok := e.(*reference); ok {
					used[x.v] = true
				}
			})
		})
	})
	var first []stmt
	var inside func(list []stmt) []stmt
	inside = func(list []stmt) (out []stmt) {
		for _, s := range list {
			s = descend(s, inside)
			if a, ok := s.(*assignment); ok && a.define && used[root(a.l)] {
				v := root(a.l)
				if isHeader(v.typ) || hasHeaders(v.typ) {
					l.refuse(at, "%s, which this deferred call uses, is declared in a branch, or where the function may have returned: declare it before", v.name)
				}
				first = append(first, &assignment{l: ref(v), op: token.ASSIGN, define: true})
				if a.r == nil {
					continue
				}
				s = &assignment{l: a.l, op: a.op, r: a.r}
			}
			out = append(out, s)
		}
		return out
	}
	for k, s := range list {
		list[k] = descend(s, inside)
	}
	return append(first, list...)
}

// hasDefer reports whether a function defers calls.
func hasDefer(body *ast.BlockStmt) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		_, isLit := n.(*ast.FuncLit)
		_, isDefer := n.(*ast.DeferStmt)
		yes = yes || isDefer
		return !isLit
	})
	return yes
}

// A lock is a call of a method of sync.Mutex or sync.RWMutex.
type lock struct {
	x    ast.Expr
	path []int // from x to an embedded one
	name string
}

func (d lock) text() string { return types.ExprString(d.x) + "." + d.name }

// lockOf reads a call of such a method.
func (l *lowerer) lockOf(c *ast.CallExpr) (d lock, ok bool) {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return lock{}, false
	}
	f, ok := l.Info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "sync" || !strings.HasSuffix(f.Name(), "ock") || f.Signature().Recv() == nil {
		return lock{}, false
	}
	path := l.Info.Selections[sel].Index()
	return lock{sel.X, path[:len(path)-1], f.Name()}, true
}

// unlocked returns the body of a function without the locks that it begins with, and their unlocks, which are deferred.
// Each of what is written begins with them: the backward sweep too reads what they protect.
func (f *function) unlocked(body *ast.BlockStmt) *ast.BlockStmt {
	for len(body.List) > 1 {
		first, ok := body.List[0].(*ast.ExprStmt)
		second, also := body.List[1].(*ast.DeferStmt)
		if !ok || !also {
			break
		}
		c, ok := first.X.(*ast.CallExpr)
		if !ok {
			break
		}
		x, ok := f.lockOf(c)
		y, also := f.lockOf(second.Call)
		if !ok || !also || y.name != map[string]string{"Lock": "Unlock", "RLock": "RUnlock"}[x.name] || types.ExprString(x.x) != types.ExprString(y.x) {
			break
		}
		if f.given != nil {
			f.refuse(f.decl, "%s locks %s for as long as its gradient runs, and so has no derivatives in another function: lock it there", f.decl.Name.Name, types.ExprString(x.x))
		}
		e := f.fields(f.lowerer.expr(x.x), x.path, "")
		for _, name := range []string{"%s." + x.name, "defer %s." + y.name} {
			f.locks = append(f.locks, &effect{&call{name, "", []expr{e}, nil}})
		}
		body = &ast.BlockStmt{Lbrace: body.Lbrace, List: body.List[2:], Rbrace: body.Rbrace}
	}
	return body
}
