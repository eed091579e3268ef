package gradient

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
)

// A function may call derivatives that are written beside it, and have derivatives itself. What
// would be written for the call, both sweeps with their tape, then stands in its place. Each level
// has a tape of its own. The inner tape is empty after the inner backward sweep. The outer backward
// sweep runs it once more in the opposite order, with cotangents:
//
//	push(x)     x̄ += pop()
//	x = pop()   push(x̄);  x̄ = 0

// A Written is a derivative that is written for a function.
type Written struct {
	decl *ast.FuncDecl // of the function
	end  string        // of the name
	by   []string      // the parameters that it is by

	refused bool // for what the directive says
}

// Declarations returns a file that declares what is written for functions, so that calls of it have
// types, and what the declarations stand for, in their order. info has the types of the functions.
func Declarations(fset *token.FileSet, files []*ast.File, info *types.Info, pkg *types.Package) (*ast.File, []*Written) {
	w := &writer{pkg: pkg, imports: &imports{scope: pkg.Scope()}}
	var all []*Written
	asking(files, func(f *ast.FuncDecl, directive string, words []string) {
		fn, ok := info.Defs[f.Name].(*types.Func)
		if !ok || fn.Signature().TypeParams() != nil || fn.Signature().RecvTypeParams() != nil {
			return
		}
		word := "hessian"
		if directive == JacobianDirective {
			word = "jvp"
		}
		by, named := withoutWord(f, words, word)
		other := "value"
		if directive == JacobianDirective {
			other = "sparse"
		}
		by, value := withoutWord(f, by, other)
		last := "both"
		if directive == JacobianDirective {
			last = "rows"
		}
		by, more := withoutWord(f, by, last)
		both := more && directive == Directive
		hessian := named && directive == Directive
		refused := len(by) == 0 || len(by) > 1 && (hessian || both || directive == JacobianDirective)
		var recv string
		var params, directed, two, results []string // directed has directions beside the parameters, and two has two
		grads := make([]string, len(by))
		y := output(f, fn.Signature(), by)
		note := func(v *types.Var) {
			k := slices.Index(by, v.Name())
			if k >= 0 {
				refused = refused || !hasFloats(v.Type()) || containsItself(v.Type()) || !isVector(v.Type()) && (hessian || both || directive == JacobianDirective)
			}
			if k >= 0 && isHeader(v.Type()) {
				grads[k] = w.typ(v.Type())
			} else if k >= 0 {
				grads[k] = "*" + w.typ(v.Type())
			}
		}
		if r := fn.Signature().Recv(); r != nil {
			recv = "(_ " + w.typ(r.Type()) + ") "
			note(r)
		}
		for v := range fn.Signature().Params().Variables() {
			note(v)
			t := w.typ(v.Type())
			params = append(params, t)
			if v != y || directive == Directive {
				directed, two = append(directed, t), append(two, t)
			}
			if slices.Contains(by, v.Name()) {
				directed, two = append(directed, t), append(two, "[2]"+t)
			}
		}
		for v := range fn.Signature().Results().Variables() {
			results = append(results, w.typ(v.Type()))
		}
		for k, g := range grads {
			if g == "" { // no parameter has the name
				grads[k], refused = "any", true
			}
		}
		declare := func(end string, params []string, results string) {
			all = append(all, &Written{f, end, by, refused})
			w.line("func %s%s%s(%s) (%s)", recv, f.Name.Name, end, strings.Join(params, ", "), results)
		}
		directed, two = append([]string{"[]float64"}, directed...), append([]string{"[2][]float64"}, two...)
		if directive == JacobianDirective {
			declare("JVP", directed, "")
			if !named {
				declare("VJP", directed, "")
			}
			if more {
				declare("VJP2", two, "")
			}
			return
		}
		declare("Gradient", append(grads, params...), strings.Join(results, ", "))
		if value && directive == Directive {
			declare("Value", params, strings.Join(results, ", "))
		}
		if hessian {
			declare("HessVec", directed, "")
		}
		if both {
			declare("GradientHessVec", append([]string{"[]float64"}, directed...), strings.Join(results, ", "))
		}
	})
	text := "package " + files[0].Name.Name + "\n" + w.imports.declarations(func(string) bool { return true })
	file, err := parser.ParseFile(fset, "declarations", text+w.String(), parser.SkipObjectResolution)
	if err != nil {
		return nil, nil
	}
	return file, all
}

// output returns the parameter that a function with a Jacobian stores its results in, as far as can be
// seen before the function is read: the first vector with an element that its body sets, or the first.
func output(decl *ast.FuncDecl, sig *types.Signature, by []string) (first *types.Var) {
	set := map[string]bool{}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.AssignStmt); ok {
			for _, e := range s.Lhs {
				if e, ok := e.(*ast.IndexExpr); ok {
					set[types.ExprString(e.X)] = true
				}
			}
		}
		return true
	})
	for v := range sig.Params().Variables() {
		switch {
		case !isVector(v.Type()) || slices.Contains(by, v.Name()):
		case set[v.Name()]:
			return v
		case first == nil:
			first = v
		}
	}
	return first
}

// asking calls do for the functions that ask for derivatives, with the words of the directives.
func asking(files []*ast.File, do func(f *ast.FuncDecl, directive string, words []string)) {
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil || f.Body == nil {
				continue
			}
			for _, c := range f.Doc.List {
				if words := strings.FieldsFunc(c.Text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }); words[0] == Directive || words[0] == JacobianDirective {
					do(f, words[0], words[1:])
				}
			}
		}
	}
}

// derivative reads a call of what is written for a function.
func (l *lowerer) derivative(c *ast.CallExpr, d *Written) (values []expr) {
	if d.end == "VJP2" {
		l.refuse(c, "%s is not differentiated: call %sVJP twice", types.ExprString(c.Fun), d.decl.Name.Name)
	}
	if d.refused {
		l.refuse(c, "%s is not differentiated: the directive of %s is refused", types.ExprString(c.Fun), d.decl.Name.Name)
	}
	if d.end == "GradientHessVec" {
		l.refuse(c, "%s is not differentiated: call Gradient and HessVec", types.ExprString(c.Fun))
	}
	if l.inlining[d.decl] {
		l.refuse(c, "%s calls itself, which is not differentiated", types.ExprString(c.Fun))
	}
	l.depth++
	defer func() { l.depth-- }()
	f := &function{lowerer: l, decl: d.decl, named: map[string]*variable{}, given: map[*variable]*variable{}, pointed: map[*variable]bool{}, before: len(l.foreign)}
	count := 1
	if d.end == "Gradient" {
		count = len(d.by)
	}
	into, args := c.Args[:count], c.Args[count:]
	fields := d.decl.Type.Params.List
	if d.decl.Recv != nil {
		fields = append(slices.Clone(d.decl.Recv.List), fields...)
		args = append([]ast.Expr{ast.Unparen(c.Fun).(*ast.SelectorExpr).X}, args...)
	}

	var dst, y, direction *variable
	vector := func(name string, e ast.Expr) *variable { return l.define(name, types.NewSlice(float), l.expr(e)) }
	if d.end != "Gradient" {
		dst = vector("dst", into[0])
		l.setZero(ref(dst))
	}
	out := output(d.decl, l.Info.Defs[d.decl.Name].(*types.Func).Signature(), d.by)
	stored := map[*variable]expr{} // where the derivatives by numbers and structs go
	for _, field := range fields {
		for _, id := range field.Names {
			obj := l.Info.Defs[id]
			if obj == out && (d.end == "JVP" || d.end == "VJP") {
				y = l.variable(id.Name, obj.Type())
				l.bound[obj], f.named[id.Name], f.params = ref(y), y, append(f.params, y)
				continue
			}
			v := f.argumentOf(id, args[0])
			args = args[1:]
			k := slices.Index(d.by, id.Name)
			switch {
			case k < 0:
			case v == nil:
				l.refuse(c, "give what %s points to a name of its own: its derivatives are differentiated again", id.Name)
			case d.end != "Gradient":
				direction = vector("direction", args[0])
				direction.slope = true
				args = args[1:]
			default:
				stored[v] = f.storedIn(into[k], v)
			}
		}
		args = args[min(len(args), max(0, 1-len(field.Names))):] // one without a name
	}

	outer, fixed, overlaps, frozen, caps, exits := l.out, l.fixed, l.overlaps, l.frozen, l.caps, len(l.exits)
	l.out, l.fixed, l.overlaps, l.frozen, l.caps = nil, nil, nil, nil, nil
	l.inlining[d.decl] = true
	f.lower()
	delete(l.inlining, d.decl)
	l.exits, l.fixed, l.overlaps, l.frozen, l.caps = l.exits[:exits], fixed, overlaps, frozen, caps

	// What others see is memory of parameters for as long as the inner sweeps are written.
	var outside []*variable
	seen := func(v *variable) {
		if v != nil && !v.param {
			v.param, outside = true, append(outside, v)
		}
	}
	seen(dst)
	seen(direction)
	for _, v := range f.params {
		if v != y && (isHeader(v.typ) || f.pointed[v]) {
			seen(v)
		}
		seen(f.given[v])
		if stored[v] != nil {
			seen(root(stored[v]))
		}
	}
	if y != nil {
		y.param = true
		if f.output(f.named[d.by[0]]) != y {
			l.refuse(c, "%s stores its results in another vector than its first: set its elements there, or make it the first, as its derivatives are differentiated again", d.decl.Name.Name)
		}
	}
	by := f.by(Directive, d.by)
	var forward, back []stmt
	switch d.end {
	case "Gradient":
		_, forward, back = f.gradientOf(by)
		forward, values = f.values(forward, func(*variable) bool { return true })
		for _, v := range by {
			if stored[v] != nil {
				back = append(back, l.nested(func() { l.assign(stored[v], ref(v.bar)) })...)
			}
		}
	case "HessVec":
		r, first, second := f.gradientOf(by)
		first, second = tidied(first, append(second, &returned{}), len(l.loops))
		forward, back = f.along(r, by[0], dst, direction, first, second[:len(second)-1], true)
	case "JVP":
		forward = f.jvp(by[0], y, dst, direction)
	case "VJP":
		f.given[by[0]] = dst
		_, forward, back = f.vjp(by, y, direction)
	}
	forward, back = tidied(forward, append(back, &returned{values}), len(l.loops))
	back = back[:len(back)-1]
	for _, v := range outside {
		v.param = false
	}
	n := &renamer{base: len(l.loops), lowerer: l, loops: map[*loopInfo]*loopInfo{}, vars: map[*variable]*variable{}}
	all := slices.Concat(forward, n.list(back))
	each(all, func(s stmt) {
		if g, ok := s.(*growth); ok && (len(g.xs) > 1 || isCotangent(g.xs[0])) {
			l.refuse(c, "%s appends to what has derivatives, and its derivatives have none: make the slice with its length there", d.decl.Name.Name)
		}
	})
	each(all, func(s stmt) {
		if p, ok := s.(*push); ok && isAggregate(p.x.typeOf()) && hasHeaders(p.x.typeOf()) {
			l.refuse(c, "%s keeps a struct with slices for its gradient, which has no derivatives then: use slices there", d.decl.Name.Name)
		}
		expressions(s, func(e expr) {
			visit(e, func(e expr) {
				if x, ok := e.(*reference); ok {
					x.v.bar, x.v.of = nil, nil
				}
			})
		})
	})
	for _, v := range f.params {
		v.bar, v.of = nil, nil
	}
	l.out = slices.Concat(outer, all)
	return values
}

// argumentOf gives a parameter the value of an argument, and returns its variable, or nil if it points
// to a part of one.
func (f *function) argumentOf(id *ast.Ident, arg ast.Expr) *variable {
	obj := f.Info.Defs[id]
	if bind := f.function(obj, arg); bind != nil {
		bind()
		return nil
	}
	e := f.parameter(id, f.substituted(obj.Type()), f.sized(arg, f.value(arg)), false)
	f.bound[obj] = e
	if u, ok := e.(*unary); ok {
		e = u.x
	}
	v := root(e)
	if !isReference(e) {
		return nil
	}
	if isPointer(obj.Type()) && !isGonum(obj.Type()) {
		f.pointed[v] = true
	}
	f.named[id.Name], f.params = v, append(f.params, v)
	return v
}

// storedIn returns where the derivative by a number or a struct is stored. A slice, or what a
// pointer points to, is the cotangent itself.
func (f *function) storedIn(arg ast.Expr, v *variable) expr {
	e := f.sized(arg, f.value(arg))
	switch {
	case f.pointed[v]:
		e = f.pinned(arg, e)
		if u, ok := e.(*unary); ok {
			e = u.x
		}
		if !isReference(e) || !types.Identical(e.typeOf(), v.typ) {
			f.refuse(arg, "pass this as %s is passed: its derivatives are differentiated again", v.name)
		}
	case isHeader(v.typ):
		e = ref(f.define("grad", v.typ, e))
	default:
		e = f.pinned(arg, e)
		if u, ok := e.(*unary); ok {
			return u.x
		}
		return &target{e, v.typ}
	}
	f.setZero(e)
	f.given[v] = root(e)
	return nil
}

// setZero sets all numbers to zero that are in x or that x points to.
func (l *lowerer) setZero(x expr) {
	t := x.typeOf()
	u := t.Underlying()
	if p, ok := u.(*types.Pointer); ok {
		if u, ok = p.Elem().Underlying().(*types.Struct); !ok {
			x, u = &target{x, p.Elem()}, p.Elem().Underlying()
		}
	}
	switch u := u.(type) {
	case *types.Basic:
		l.assign(x, lit("0", t))
	case *types.Slice, *types.Array:
		x = l.header("x", x)
		l.over(length(x), func(i expr) { l.setZero(viewed(&element{x, i, elemOf(x.typeOf())})) })
	case *types.Struct:
		if isMatrix(t) {
			l.emit(&cleared{x})
			return
		}
		for f := range u.Fields() {
			if hasFloats(f.Type()) {
				l.setZero(viewed(&field{x, f.Name(), f.Type()}))
			}
		}
	}
}

// A renamer gives the loops of a backward sweep, and their locals, an identity of their own. In what
// is written both sweeps have them by the same name.
type renamer struct {
	lowerer *lowerer
	base    int       // the number of loops around the statements
	gone    *loopInfo // the loop that they were in, which is gone, if any
	loops   map[*loopInfo]*loopInfo
	vars    map[*variable]*variable
}

func (n *renamer) loop(info *loopInfo) *loopInfo {
	if n.loops[info] == nil {
		c := *info
		n.loops[info] = &c
	}
	return n.loops[info]
}

func (n *renamer) variable(v *variable) *variable {
	if v == nil || len(v.scope) <= n.base {
		return v
	}
	if n.vars[v] == nil {
		c := *v
		c.name, c.scope = n.lowerer.unique(v.name), slices.Clone(v.scope)
		for k := n.base; k < len(c.scope); k++ {
			c.scope[k] = n.loop(c.scope[k])
		}
		if n.gone != nil {
			c.scope = slices.Delete(c.scope, n.base, n.base+1)
		}
		n.vars[v] = &c
	}
	return n.vars[v]
}

func (n *renamer) list(list []stmt) []stmt {
	return rewrittenList(list, func(e expr) expr {
		if x, ok := e.(*reference); ok {
			return &reference{n.variable(x.v), x.slope}
		}
		return e
	}, n.loop)
}

// push returns the sweeps of a push.
func (r *reverser) push(s *push) (forward, back []stmt) {
	forward = []stmt{s}
	bar, t := r.bar(s.x), s.x.typeOf()
	switch {
	case bar == nil:
	case isHeader(t) && !s.whole:
		forward = append(forward, &push{x: bar, slot: r.slot(s.slot)})
	case !r.slotKey(s.slot).active():
	case isAggregate(t):
		back = r.group(func() {
			g := &variable{name: r.lowerer.unique("g"), typ: t, scope: r.inside}
			r.put(&pop{x: ref(g), define: true, slot: r.slot(s.slot)})
			outer := r.lowerer.loops
			r.lowerer.loops = r.inside
			list := r.lowerer.nested(func() { r.lowerer.assign(bar, ref(g)) })
			r.lowerer.loops = outer
			each(list, func(s stmt) {
				if s, ok := s.(*assignment); ok {
					s.op = token.ADD_ASSIGN
				}
			})
			*r.into = append(*r.into, list...)
		})
	default:
		back = r.group(func() { r.put(&pop{x: bar, slot: r.slot(s.slot), whole: s.whole, adds: true}) })
	}
	return forward, back
}

// pop returns the sweeps of a pop.
func (r *reverser) pop(s *pop) (forward, back []stmt) {
	t := s.x.typeOf()
	bar, header := r.bar(s.x), isHeader(t) && !s.whole
	if s.define {
		v := root(s.x)
		def := &assignment{l: s.x, define: true}
		r.declared(v, def)
		c := *s
		c.define = def.define
		forward = []stmt{&c}
		if v.bar != nil && r.block == nil && !hasHeaders(t) {
			r.bars = append(r.bars, v.bar)
		}
	} else {
		k := r.key(s.x)
		r.changes[k] = append(r.changes[k], change{r.pos, header})
		if x, ok := s.x.(*reference); ok {
			r.sets[x.v]++
		}
		p := r.newPair(s.x)
		p.whole = s.whole
		forward = []stmt{&save{s.x, p, s.whole}, s}
		back = r.group(func() { r.put(&restore{x: s.x, pair: p, whole: s.whole}) })
	}
	switch {
	case bar == nil:
	case header:
		b, c := r.statement(&pop{x: bar, define: s.define, slot: r.slot(s.slot)})
		forward, back = append(b, forward...), append(back, c...)
	default:
		back = append(back, r.group(func() {
			if r.slotKey(s.slot).active() {
				r.put(&push{bar, r.slot(s.slot), s.whole})
			}
			switch {
			case s.adds, isAggregate(t): // a struct is gone then
			case s.whole:
				r.put(&cleared{bar})
			default:
				r.put(&assignment{l: bar, op: token.ASSIGN, r: lit("0", t)})
			}
		})...)
	}
	return forward, back
}

// slot returns the slot of the cotangents of what is in a slot.
func (r *reverser) slot(s *slot) *slot {
	if r.slots[s] == nil {
		r.slots[s] = &slot{level: s.level}
	}
	return r.slots[s]
}

// cleared returns the sweeps of a matrix that is set to zero.
func (r *reverser) cleared(s *cleared) (forward, back []stmt) {
	k := r.key(s.x)
	r.changes[k] = append(r.changes[k], change{pos: r.pos})
	p := r.newPair(s.x)
	p.whole = true
	return []stmt{&save{s.x, p, true}, s}, r.group(func() {
		r.put(&restore{x: s.x, pair: p, whole: true})
		if bar := r.bar(s.x); bar != nil {
			r.put(&cleared{bar})
		}
	})
}
