package gradient

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A function that calls itself is not inlined. The forward sweep calls it as it stands. The backward
// sweep calls a function that is written for it, which computes it again, adds the gradient to cotangents and
// returns the value. A fuser makes one call of both:
//
//	v = f(x)     fAdjoint(&x̄, x, v̄)          x̄ += v̄·∂f/∂x
//	             fTangent(&v, &v̇, x, ẋ)       v̇ = ẋ·∂f/∂x
//
// These call themselves for the calls of f in f. The tangent of fAdjoint is another such function.

// An invocation is a call of a function that calls itself, or of one that is written for it.
type invocation struct {
	of   *invocation // of the function, if this is one of what is written for it
	name string
	args []expr // the receiver first
	typ  types.Type
	kind kind
	by   []bool        // the parameters that a written one is by
	decl *ast.FuncDecl // the function
}

func (e *invocation) typeOf() types.Type { return e.typ }

// A kind is what is written for a function that calls itself.
type kind string

const (
	itself         kind = ""
	adjoint        kind = "Adjoint"
	tangent        kind = "Tangent"
	adjointTangent kind = "AdjointTangent"
)

// A variant is a function to be written.
type variant struct {
	decl *ast.FuncDecl
	kind kind
	by   string // which parameters the derivatives are by
}

// recursive reports whether a function may call itself, through others too.
func (s *Source) recursive(d *ast.FuncDecl) bool {
	seen := map[*ast.FuncDecl]bool{}
	var reaches func(n *ast.FuncDecl) bool
	reaches = func(n *ast.FuncDecl) (yes bool) {
		ast.Inspect(n.Body, func(x ast.Node) bool {
			id, ok := x.(*ast.Ident)
			if !ok {
				return true
			}
			obj := s.Info.Uses[id]
			if f, ok := obj.(*types.Func); ok {
				obj = f.Origin()
			}
			if f := s.Funcs[obj]; f != nil && f.Body != nil {
				yes = yes || f == d
				if !seen[f] {
					seen[f] = true
					yes = yes || reaches(f)
				}
			}
			return true
		})
		return yes
	}
	return reaches(d)
}

// recursion reads a call of a function that calls itself.
func (l *lowerer) recursion(c *ast.CallExpr, d *ast.FuncDecl) expr {
	name := d.Name.Name
	sig := l.Info.Defs[d.Name].Type().(*types.Signature)
	switch {
	case sig.Results().Len() != 1 || !types.Identical(sig.Results().At(0).Type().Underlying(), float):
		l.refuse(c, "%s calls itself, and must return one float64 to have derivatives", name)
	case sig.TypeParams() != nil || sig.RecvTypeParams() != nil:
		l.refuse(c, "%s is generic and calls itself, which is not differentiated: write it for float64", name)
	case sig.Variadic() || len(c.Args) != sig.Params().Len():
		l.refuse(c, "%s calls itself: give it its arguments one by one", name)
	}
	args := c.Args
	var params []*types.Var
	if d.Recv != nil {
		args = append([]ast.Expr{ast.Unparen(c.Fun).(*ast.SelectorExpr).X}, args...)
		params = append(params, sig.Recv())
	}
	params = append(params, slices.Collect(sig.Params().Variables())...)
	e := &invocation{decl: d, name: name, typ: sig.Results().At(0).Type()}
	for i, a := range args {
		t := params[i].Type()
		if _, function := t.Underlying().(*types.Signature); function || isGonum(t) || hasComplex(t) {
			l.refuse(a, "%s calls itself: its parameters are real numbers, slices and structs to have derivatives", name)
		}
		x := l.converted(l.value(a), t)
		switch {
		case isPointer(t):
			x = l.pinned(a, x)
		case isHeader(t):
			x = l.header("x", x)
		default:
			x = l.temporary("x", x)
		}
		e.args = append(e.args, x)
	}
	return ref(l.define(name, e.typ, e))
}

// reached returns the memory that an argument passes on.
func (a *analysis) reached(e expr) (keys []*key) {
	if u, ok := e.(*unary); ok && u.op == token.AND {
		e = u.x
	}
	v := root(e)
	if v == nil {
		return nil
	}
	keys = []*key{a.key(e)}
	if isAggregate(e.typeOf()) || isPointer(e.typeOf()) {
		for p, k := range a.keys {
			if p.v == v {
				keys = append(keys, k.root())
			}
		}
	}
	return keys
}

// by returns which arguments of an invocation the derivatives are by, where holds says so of memory.
func (a *analysis) by(e *invocation, holds func(k *key) bool) (by []bool) {
	for _, x := range e.args {
		by = append(by, hasFloats(x.typeOf()) && slices.ContainsFunc(a.reached(x), holds))
	}
	return by
}

// The recursions of a function are what is written for the functions that call themselves.
type recursions struct {
	first    string // the function that asks for derivatives
	variants map[variant]string
	queue    []func(w *writer)
}

// called returns a call of what is written for an invocation by some of its arguments: with those that it
// stores in first, and then those of the function.
func (l *lowerer) called(e *invocation, k kind, by []bool, into, args []expr) *invocation {
	v := variant{e.decl, k, fmt.Sprint(by)}
	name := l.variants[v]
	if name == "" {
		first, n := utf8.DecodeRuneInString(l.first)
		name = string(unicode.ToLower(first)) + l.first[n:] + title(e.name) + string(k)
		for n, base := 2, name; slices.Contains(slices.Collect(maps.Values(l.variants)), name); n++ {
			name = fmt.Sprint(base, n)
		}
		l.variants[v] = name
		l.queue = append(l.queue, func(w *writer) {
			f := l.read(w, e.decl)
			f.recursions = l.recursions
			f.variant(name, k, by)
		})
	}
	all := slices.Concat(into, args)
	if e.decl.Recv != nil {
		all = slices.Concat(args[:1], into, args[1:])
	}
	return &invocation{of: e, name: name, args: all, typ: e.typ, kind: k, by: by, decl: e.decl}
}

// adjointInvocation emits the call of the adjoint of an invocation, whose cotangent is g.
func (r *reverser) adjointInvocation(e *invocation, g expr) {
	by := r.by(e, (*key).active)
	var bars []expr
	for i, x := range e.args {
		if by[i] {
			bars = append(bars, e.pointed(x, r.bar))
		}
	}
	r.put(&effect{r.lowerer.called(e, adjoint, by, bars, append(slices.Clone(e.args), g))})
}

// pointed returns the cotangent or the tangent of an argument: as it is if it is a slice or a pointer,
// and else a pointer to it.
func (e *invocation) pointed(x expr, of func(x expr) expr) expr {
	u, address := x.(*unary)
	if address {
		x = u.x
	}
	b := of(x)
	switch {
	case b == nil:
		panic(Refusal{Msg: e.name + " calls itself: pass it slices and numbers to have derivatives"})
	case isHeader(x.typeOf()) && !address:
		return b
	}
	return &unary{token.AND, b}
}

// invocation puts the call that computes the value and the tangent of an invocation.
func (t *tangenter) invocation(s *assignment, e *invocation, d expr) {
	if s.define {
		t.put(&assignment{l: s.l, op: token.ASSIGN, define: true})
		t.put(&assignment{l: d, op: token.ASSIGN, define: true})
	}
	by := t.by(e, func(k *key) bool { return k.varied })
	t.put(&effect{t.lowerer.called(e, tangent, by, []expr{&unary{token.AND, s.l}, &unary{token.AND, d}}, t.beside(e, by, e.args))})
}

// beside returns arguments with their tangents beside them, where by says so.
func (t *tangenter) beside(e *invocation, by []bool, args []expr) (out []expr) {
	for i, x := range args {
		out = append(out, x)
		if i >= len(by) || !by[i] {
			continue
		}
		if isFloat(x.typeOf()) {
			out = append(out, t.derivative(x, nil))
			continue
		}
		out = append(out, e.pointed(x, t.dot))
	}
	return out
}

// parts returns the cotangents that a call of an adjoint adds to, and its other arguments.
func (e *invocation) parts() (bars, args []expr) {
	n := 0
	for _, yes := range e.by {
		if yes {
			n++
		}
	}
	if e.decl.Recv != nil {
		return e.args[1 : n+1], slices.Concat(e.args[:1], e.args[n+1:])
	}
	return e.args[:n], e.args[n:]
}

// effect puts the tangent of a call of an adjoint in the place of the call.
func (t *tangenter) effect(s *effect) {
	e, ok := s.call.(*invocation)
	varied := false
	if ok {
		for _, x := range e.args {
			t.passes(x, func(k *key) { varied = varied || k.varied })
		}
	}
	if !varied {
		t.put(s)
		return
	}
	if e.kind != adjoint {
		panic(Refusal{Msg: e.of.name + " calls itself, and has no third derivatives"})
	}
	bars, args := e.parts()
	var into []expr
	for _, x := range bars {
		into = append(into, x, e.of.pointed(x, t.dot))
	}
	t.put(&effect{t.lowerer.called(e.of, adjointTangent, e.by, into, t.beside(e.of, append(slices.Clone(e.by), true), args))})
}

// flowsInvocation calls flow for what a call of an adjoint reads and what it adds to.
func (a *analysis) flowsInvocation(e *invocation, flow func(from, to *key)) {
	bars, _ := e.parts()
	for _, x := range e.args {
		for _, y := range bars {
			for _, to := range a.reached(y) {
				a.passes(x, func(from *key) { flow(from, to) })
			}
		}
	}
}

// passes calls f for the memory with derivatives that an argument passes on.
func (a *analysis) passes(x expr, f func(from *key)) {
	if isFloat(x.typeOf()) {
		a.flows(x, f)
	} else if hasFloats(x.typeOf()) {
		for _, k := range a.reached(x) {
			f(k)
		}
	}
}

// variant writes a function for one that calls itself.
func (f *function) variant(name string, k kind, by []bool) {
	var wrt []*variable
	for i, v := range f.params {
		if by[i] {
			if isAggregate(v.typ) {
				f.refuse(f.decl, "%s calls itself, and gets a struct or an array that has derivatives: pass a slice", f.decl.Name.Name)
			}
			wrt = append(wrt, v)
		}
	}
	f.pure()
	result := f.results[0]
	if k == tangent {
		f.tangentVariant(name, wrt, result)
		return
	}
	g := &variable{name: f.unique("g"), typ: result.typeOf(), param: true}
	f.accumulates = true
	r, forward, back := f.sweeps(wrt, result, func(bar *variable) []stmt {
		return []stmt{&assignment{l: ref(bar), op: token.ASSIGN, r: ref(g)}}
	})
	var values []expr
	if k == adjoint {
		forward, values = f.values(forward, func(v *variable) bool {
			return slices.ContainsFunc(back, func(s stmt) bool { return setsInside(s, v) })
		})
	}
	forward, back = tidied(forward, append(back, &returned{values}), 0)
	var args []*variable
	for _, v := range wrt {
		args = append(args, f.pointerTo(r.grad[v]))
	}
	params := append(slices.Clone(f.params), g)
	what := "adds " + g.name + " times the gradient of " + f.decl.Name.Name + " to what its first arguments point to"
	if k == adjointTangent {
		dots := map[*variable]*variable{}
		with := func(list []*variable) (out []*variable) {
			for _, v := range list {
				out = append(out, v)
				if inner := slices.Contains(wrt, v) || v == g || slices.Contains(args, v); inner {
					d := &variable{name: f.unique(v.name + "Dot"), typ: v.typ, param: true}
					dots[v] = d
					out = append(out, d)
				}
			}
			return out
		}
		args, params = with(args), with(params)
		for _, v := range wrt { // what the sweeps call it
			if g := r.grad[v]; !isFloat(v.typ) {
				dots[v.bar] = dots[g]
			}
		}
		forward, back = f.tangent(forward, back[:len(back)-1], dots)
		forward, back = tidied(forward, append(back, &returned{}), 0)
		back = back[:len(back)-1]
		what += ",\nand the tangents of that to the tangents beside them"
	} else {
		forward, back = f.fused(forward, back, true)
		forward, back = f.vectorized(f.common(f.accumulated(factored(forward), factored(back))))
		what += ",\nand returns its value"
	}
	f.variantOf(name, what, args, params, k == adjoint, append(forward, back...))
}

// pointerTo returns a variable by its name, as a pointer if it is a number.
func (f *function) pointerTo(v *variable) *variable {
	if isFloat(v.typ) {
		v.typ = types.NewPointer(v.typ)
	}
	return v
}

// tangentVariant writes the function that stores a result and its tangent.
func (f *function) tangentVariant(name string, by []*variable, result expr) {
	pointer := types.NewPointer(result.typeOf())
	value, dot := &variable{name: f.unique("value"), typ: pointer, param: true}, &variable{name: f.unique("dot"), typ: pointer, param: true}
	dots := map[*variable]*variable{value: dot}
	params := slices.Clone(f.params)
	for _, v := range by {
		dots[v] = &variable{name: f.unique(v.name + "Dot"), typ: v.typ, param: true}
		params = beside(params, v, dots[v])
	}
	f.results = nil
	list := slices.Concat(f.out, []stmt{&assignment{l: &target{ref(value), result.typeOf()}, op: token.ASSIGN, r: result}})
	list, _ = f.tangent(list, nil, dots)
	list, _ = tidied(list, []stmt{&returned{}}, 0)
	what := "stores " + f.decl.Name.Name + " and its tangent in what its first arguments point to"
	f.variantOf(name, what, []*variable{value, dot}, params, false, list)
}

func (f *function) variantOf(name, what string, args, params []*variable, returns bool, body []stmt) {
	f.line("// %s %s", name, strings.ReplaceAll(what, "\n", "\n// ")+".")
	var texts []string
	for _, v := range args {
		texts = append(texts, f.declared(v))
	}
	f.write(name, texts, params, returns, func(w *writer) { w.program(f.paired(body)) })
}

// pure refuses a function that changes memory of its caller.
func (f *function) pure() {
	a := &analysis{keys: map[path]*key{}}
	a.share(f.out, nil)
	refuse := func(e expr) {
		if e == nil || !sharesMemory(e) {
			return
		}
		for _, v := range f.params {
			for p, k := range a.keys {
				if p.v == v && k.root() == a.key(e) {
					f.refuse(f.decl, "%s calls itself, and may not change what %s points to: return a number", f.decl.Name.Name, v.name)
				}
			}
		}
	}
	for _, v := range f.params {
		a.key(ref(v))
	}
	each(f.out, func(s stmt) {
		switch s := s.(type) {
		case *assignment:
			a.key(s.l)
			refuse(s.l)
		case *swap:
			refuse(s.x)
		case *kernel:
			for _, e := range s.changed() {
				refuse(e)
			}
		case *product:
			refuse(s.c)
		case *cleared:
			refuse(s.x)
		}
	})
}
