package revgen

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A function may call kernels that may fail, and functions that call such kernels:
//
//	if err := revlinalg.NewSolve(x, a, b).Forward(); err != nil {
//		return err
//	}
//
// A kernel that fails leaves its operands as they were. So does the function's kernel: each
// pass copies what it changes before a call that may fail, and puts that back if it fails.
// To undo the statements before the call instead would not restore the bits of floats.
// It would also need another program for each call: in the middle of an adjoint, locals
// have parts of their cotangents. Copies are right in loops, under conditions and in all
// passes. A call that comes first needs none.

// A returnedError is the error that a function returns if a call in it fails.
type returnedError struct {
	err types.Object // the error of the call, or nil
	e   ast.Expr     // what is returned, or nil for the error of the call itself
}

// findFailing replaces each statement in f that returns the error of a call by the call
// alone.
func (p *source) findFailing(f *ast.FuncDecl) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			n.List = p.withoutErrors(n.List)
		case *ast.CaseClause:
			n.Body = p.withoutErrors(n.Body)
		}
		return true
	})
}

func (p *source) withoutErrors(list []ast.Stmt) (out []ast.Stmt) {
	for _, s := range list {
		c, returned := p.failingCall(s)
		if c == nil {
			out = append(out, s)
			continue
		}
		p.failures[c] = returned
		out = append(out, &ast.ExprStmt{X: c})
		if ret, ok := s.(*ast.ReturnStmt); ok {
			out = append(out, &ast.ReturnStmt{Return: ret.Pos(), Results: []ast.Expr{&ast.Ident{NamePos: ret.Pos(), Name: "nil"}}})
		}
	}
	return out
}

// failingCall returns the call whose error s returns, or nil. s is one of
//
//	if err := f(x); err != nil { return err }
//	return f(x)
func (p *source) failingCall(s ast.Stmt) (*ast.CallExpr, returnedError) {
	switch s := s.(type) {
	case *ast.IfStmt:
		init, _ := s.Init.(*ast.AssignStmt)
		cond, _ := s.Cond.(*ast.BinaryExpr)
		if init == nil || cond == nil || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 || s.Else != nil || len(s.Body.List) != 1 {
			break
		}
		c, _ := init.Rhs[0].(*ast.CallExpr)
		ret, _ := s.Body.List[0].(*ast.ReturnStmt)
		err := p.info.Defs[identOf(init.Lhs[0])]
		if c == nil || ret == nil || len(ret.Results) != 1 || err == nil || cond.Op != token.NEQ || !p.is(cond.X, err) || !p.is(cond.Y, types.Universe.Lookup("nil")) || !isError(err.Type()) {
			break
		}
		return c, returnedError{err, ret.Results[0]}
	case *ast.ReturnStmt:
		if len(s.Results) != 1 {
			break
		}
		if c, ok := s.Results[0].(*ast.CallExpr); ok && p.mayFail(c) {
			return c, returnedError{}
		}
	}
	return nil, returnedError{}
}

// is reports whether e is the name of obj.
func (p *source) is(e ast.Expr, obj types.Object) bool {
	id := identOf(e)
	return id != nil && p.info.Uses[id] == obj
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// mayFail reports whether c returns an error, and calls a function of the package or makes
// a pass of a kernel, as in revlinalg.NewSolve(x, a, b).Forward().
func (p *source) mayFail(c *ast.CallExpr) bool {
	if !isError(p.info.Types[c].Type) {
		return false
	}
	method, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return p.funcs[p.info.Uses[identOf(c.Fun)]] != nil
	}
	made := false
	switch ast.Unparen(method.X).(type) {
	case *ast.CallExpr, *ast.CompositeLit:
		made = true
	}
	return made && (method.Sel.Name == "Forward" || method.Sel.Name == "Inverse")
}

// failure is the error of a call.
var failure = &node{op: "err", kind: boolean}

// refuseError refuses a call whose error is not returned.
func (r *reader) refuseError(c *ast.CallExpr, name string) {
	r.refuse(c, "%s may fail: write if err := %s; err != nil { return err }", name, types.ExprString(c))
}

// returned reads the error that the function returns if c fails. Functions that are being
// inlined may put texts around it.
func (r *reader) returned(c *ast.CallExpr) *node {
	around, inner := r.around, failure
	if around == nil {
		around = failure
	}
	if f := r.failures[c]; f.e != nil && !r.is(f.e, f.err) {
		was := r.err
		r.err = f.err
		call, ok := f.e.(*ast.CallExpr)
		if ok = ok && r.mathFunc(call, "fmt") == "Errorf"; ok {
			inner = r.errorf(call)
		} else {
			inner, ok = r.failure(f.e)
		}
		r.err = was
		if !ok || inner.has(func(e *node) bool { return e.kind == number }) {
			r.refuse(f.e, "if a call fails, return its error, a variable of the package, or fmt.Errorf of a text with integers and such errors")
		}
	}
	return around.replaced(func(e *node) *node {
		if e.op == failure.op {
			return inner
		}
		return e
	})
}

// inlineFailing reads a call of a function of the package that returns only an error.
func (r *reader) inlineFailing(c *ast.CallExpr, f *ast.FuncDecl, list []ast.Stmt) {
	if _, ok := r.failures[c]; !ok {
		r.refuseError(c, f.Name.Name)
	}
	returned := func(s ast.Stmt) ([]ast.Stmt, bool) {
		ret, ok := s.(*ast.ReturnStmt)
		if ok && !returns(s, "nil") {
			r.refuse(ret, "an error of its own that %s returns comes before all changes: return it in the function that asks for the kernel", f.Name.Name)
		}
		return nil, ok
	}
	was := r.around
	r.around = r.returned(c)
	r.stmts(r.withoutExits(list, returned))
	r.around = was
}

// mayFail reports whether s calls a kernel that may return an error. A kernel in place may
// have no inverse of its adjoint.
func (s *stmt) mayFail() bool {
	return s.op == "kernel" && (s.callee.fallible || s.undoes() && slices.ContainsFunc(s.callee.operands, func(o calleeOperand) bool { return o.role == "inout" }))
}

// undoes reports whether s is the inverse of an adjoint.
func (s *stmt) undoes() bool { return s.op == "kernel" && s.adjoint && !s.back }

// restored returns the operands that b changes before a call that may fail, as nodes for
// the whole of each.
func restored(b []*stmt) (xs []*node) {
	fails := func(s *stmt) bool { return contains([]*stmt{s}, (*stmt).mayFail) }
	last := len(b) - 1
	for last >= 0 && !fails(b[last]) {
		last--
	}
	for i, s := range b[:last+1] {
		if i < last || s.op == "loop" {
			s.each(func(s *stmt) {
				for _, x := range s.targets() {
					xs = union(xs, []*node{{op: "whole", x: x.x, in: x.in}})
				}
			})
			continue
		}
		xs = union(xs, restored(s.inner))
		xs = union(xs, restored(s.els))
	}
	return xs
}

// copies writes the statements that copy what b changes before a call that may fail.
func (w *writer) copies(b []*stmt) {
	w.was = nil
	xs := restored(b)
	if len(xs) == 0 {
		return
	}
	w.was = &local{name: "was"}
	name := w.name(w.was)
	w.printf("%s := num.NewCopies[%s]()\n", name, w.elem)
	for rank, method := range []string{"Numbers", "Vectors", "Matrices"} {
		var fields []string
		for _, x := range xs {
			if x.x.rank == rank {
				fields = append(fields, field(x.x, x.in))
			}
		}
		if slices.Sort(fields); len(fields) > 0 {
			w.printf("%s.%s(%s)\n", name, method, strings.Join(fields, ", "))
		}
	}
}

// writeFailure writes what happens if s, the call of a kernel, returns the error err.
func (w *writer) writeFailure(s *stmt, err string) {
	if s.mayFail() {
		if w.was != nil {
			w.printf("%s.Restore()\n", w.name(w.was))
		}
		w.freeTapes(w.tapes)
	}
	w.err = err
	if s.e != nil {
		err = w.failure(s.e)
	}
	w.printf("return %s\n", err)
}
