package gradient

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
)

const revPath = "revnum/rev"

// A kernel statement is a pass of a kernel of another package, such as
//
//	revlinalg.NewMatMul(c, a, b).Forward()
//
// Its adjoint is the pass Adjoint and its tangent the pass Tangent. What the kernel has changed comes from a
// tape where it is needed. An operand in place comes back by Adjoint, within rounding.
type kernel struct {
	typ      *types.Named
	pass     string
	plain    []string // other fields, as Go
	operands []*kernelOperand
	err      *variable // of Forward, or nil
	fails    bool      // a pass may return an error
	ignored  bool      // which nothing reads
}

// A kernelOperand is x, with its cotangent, its tangent, and the tangent of its cotangent, or nil for those
// that are zero.
type kernelOperand struct {
	field, role       string
	x, bar, dot, both expr
}

func (o *kernelOperand) changes() bool { return o.role == "acc" || o.role == "inout" }

func (o *kernelOperand) reads() bool { return o.role == "in" || o.role == "inout" }

// changed returns the places that a pass changes: what is set, or within what is set.
func (s *kernel) changed() (out []expr) {
	for _, o := range s.operands {
		switch {
		case s.pass == "Forward" || s.pass == "Tangent":
			if o.changes() {
				out = append(out, o.x, o.dot)
			}
		case o.role == "inout":
			out = append(out, o.x, o.bar, o.dot, o.both)
		case o.role == "in":
			out = append(out, o.bar, o.both)
		}
	}
	out = slices.DeleteFunc(out, func(e expr) bool { return e == nil })
	if s.err != nil {
		out = append(out, ref(s.err))
	}
	return out
}

// inside returns a place within what a pass changes.
func inside(e expr) expr {
	switch {
	case isMatrix(e.typeOf()):
		return entry(e, integerLit(0), integerLit(0))
	case isVector(e.typeOf()):
		return &element{e, integerLit(0), float}
	}
	return e
}

// rewritten returns s with f applied to its expressions.
func (s *kernel) rewritten(f func(e expr) expr) *kernel {
	c := *s
	c.operands = nil
	for _, o := range s.operands {
		n := &kernelOperand{field: o.field, role: o.role, x: f(o.x)}
		for _, p := range [][2]*expr{{&n.bar, &o.bar}, {&n.dot, &o.dot}, {&n.both, &o.both}} {
			if *p[1] != nil {
				*p[0] = f(*p[1])
			}
		}
		c.operands = append(c.operands, n)
	}
	if s.err != nil {
		c.err = root(f(ref(s.err)))
	}
	return &c
}

// unread returns s without its error.
func (s *kernel) unread() *kernel {
	c := *s
	c.err, c.ignored = nil, s.err != nil || s.ignored
	return &c
}

// expressions calls f for the expressions of s.
func (s *kernel) expressions(f func(e expr)) {
	s.rewritten(func(e expr) expr { f(e); return e })
}

// kernelCall reads a call of a pass of a kernel, and reports whether it is one.
func (l *lowerer) kernelCall(c *ast.CallExpr) (values []expr, ok bool) {
	method, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	named, ok := l.Info.TypeOf(method.X).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == l.Pkg {
		return nil, false
	}
	t, ok := named.Underlying().(*types.Struct)
	if !ok || !slices.ContainsFunc(slices.Collect(fieldsOf(t)), func(i int) bool { return operandRole(t, i) != "" }) {
		return nil, false
	}
	if method.Sel.Name != "Forward" {
		l.refuse(c, "%s: a function calls Forward of a kernel to have derivatives", types.ExprString(c.Fun))
	}
	for a := range named.TypeArgs().Types() {
		if !types.Identical(a, float) {
			l.refuse(c, "%s is not over float64", types.TypeString(named, func(p *types.Package) string { return p.Name() }))
		}
	}
	s := &kernel{typ: named, pass: "Forward"}
	for _, pass := range []string{"Forward", "Adjoint", "Tangent"} {
		f, _, _ := types.LookupFieldOrMethod(named, false, named.Obj().Pkg(), pass)
		if f == nil {
			l.refuse(c, "%s has no %s", named.Obj().Name(), pass)
		}
		s.fails = s.fails || f.Type().(*types.Signature).Results().Len() > 0
	}
	l.kernelFields(s, t, method.X)
	for i, o := range s.operands {
		for _, p := range s.operands[:i] {
			if (o.changes() || p.changes()) && same(o.x, p.x) {
				l.refuse(c, "%s and %s of %s are the same, and one of them changes", p.field, o.field, named.Obj().Name())
			}
		}
	}
	if s.fails {
		s.err = l.define("err", types.Universe.Lookup("error").Type(), nil)
		values = []expr{ref(s.err)}
	}
	l.emit(s)
	return values, true
}

func fieldsOf(t *types.Struct) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < t.NumFields() && yield(i); i++ {
		}
	}
}

// operandRole returns the role of the operand in a field, or nothing.
func operandRole(t *types.Struct, i int) string {
	role, _, _ := strings.Cut(reflect.StructTag(t.Tag(i)).Get("rev"), ",")
	return role
}

// kernelFields reads what the fields of a kernel are set to, by its constructor or in a literal.
func (l *lowerer) kernelFields(s *kernel, t *types.Struct, e ast.Expr) {
	set := func(name string, equal func(a, b string) bool, x ast.Expr) {
		for i := range fieldsOf(t) {
			if equal(t.Field(i).Name(), name) {
				l.kernelField(s, t, i, x)
				return
			}
		}
		l.refuse(x, "%s has no field %s: set its fields by a literal", s.typ.Obj().Name(), name)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if f, ok := l.callee(e).(*types.Func); ok && f.Name() == "New"+s.typ.Obj().Name() {
			for i, x := range e.Args {
				set(f.Signature().Params().At(i).Name(), strings.EqualFold, x)
			}
			return
		}
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			kv, ok := x.(*ast.KeyValueExpr)
			if !ok {
				l.refuse(e, "%s: name the fields of a kernel", types.ExprString(e.Type))
			}
			set(kv.Key.(*ast.Ident).Name, func(a, b string) bool { return a == b }, kv.Value)
		}
		return
	}
	l.refuse(e, "%s: call the pass of a literal of a kernel, or of its constructor", types.ExprString(e))
}

func (l *lowerer) kernelField(s *kernel, t *types.Struct, i int, x ast.Expr) {
	name, role := t.Field(i).Name(), operandRole(t, i)
	if role == "" {
		v := l.Info.Types[x].Value
		if v == nil {
			l.refuse(x, "%s of %s is a constant here", name, s.typ.Obj().Name())
		}
		text := v.ExactString()
		if v.Kind() == constant.Float {
			f, _ := constant.Float64Val(v)
			text = strconv.FormatFloat(f, 'g', -1, 64)
		}
		s.plain = append(s.plain, name+": "+text)
		return
	}
	if l.Info.Types[x].IsNil() {
		return
	}
	for { // rev.ViewSlice(x) and the like
		c, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok {
			break
		}
		f, ok := l.callee(c).(*types.Func)
		if !ok || f.FullName() != matPath+".NewVecDense" && !strings.HasPrefix(f.FullName(), revPath+".View") {
			break
		}
		x = c.Args[len(c.Args)-1]
	}
	o := &kernelOperand{field: name, role: role}
	switch of := t.Field(i).Type().String(); {
	case strings.HasPrefix(of, revPath+".General["):
		m, trans := l.matrix(x)
		if trans {
			l.refuse(x, "a kernel takes a matrix as it lies in memory")
		}
		o.x = m
	case strings.HasPrefix(of, revPath+".Vector["):
		o.x = l.vector(x)
	case of == "*float64":
		o.x = l.pinned(x, l.deref(x))
	case of == "[]int" && role == "index":
		o.x = l.header("x", l.expr(x))
	default:
		l.refuse(x, "%s of %s is of type %s, which has no derivatives here", name, s.typ.Obj().Name(), of)
	}
	if o.changes() {
		l.settable(x, root(o.x))
	}
	s.operands = append(s.operands, o)
}

// flowsKernel calls flow for what a kernel changes, and what that depends on.
func (a *analysis) flowsKernel(s *kernel, flow func(from, to *key)) {
	for _, from := range s.operands {
		for _, to := range s.operands {
			if from.reads() && to.changes() {
				flow(a.key(from.x), a.key(to.x))
			}
			if s.pass == "Adjoint" && to.bar != nil && to.reads() {
				flow(a.key(from.x), a.key(to.bar))
				if from.bar != nil {
					flow(a.key(from.bar), a.key(to.bar))
				}
			}
		}
	}
}

func (r *reverser) kernel(s *kernel) (forward, back []stmt) {
	if s.pass != "Forward" {
		panic(Refusal{Msg: s.typ.Obj().Name() + " is a kernel: what is written for it has no derivatives in reverse"})
	}
	adjoint := &kernel{typ: s.typ, pass: "Adjoint", plain: s.plain, fails: s.fails}
	active := false
	for _, o := range s.operands {
		p := &kernelOperand{field: o.field, role: o.role, x: o.x, bar: r.bar(o.x)}
		adjoint.operands = append(adjoint.operands, p)
		active = active || o.changes() && p.bar != nil
	}
	if s.err != nil {
		r.sets[s.err]++
		r.record(ref(s.err), r.pos)
	}
	var restores []stmt
	for _, o := range s.operands {
		if !o.changes() {
			continue
		}
		r.record(inside(o.x), r.pos)
		if ref, ok := o.x.(*reference); ok && isFloat(ref.v.typ) {
			r.sets[ref.v]++
		}
		if o.role == "inout" && active {
			continue
		}
		x := o.x
		if isVector(x.typeOf()) {
			x = column(x)
		}
		p := r.newPair(x)
		p.whole = isMatrix(x.typeOf())
		forward = append(forward, &save{x, p, p.whole})
		restores = append(restores, r.group(func() { r.put(&restore{x: x, pair: p, whole: p.whole}) })...)
	}
	forward = append(forward, s)
	if active {
		back = r.group(func() {
			if s.err == nil {
				r.put(adjoint)
				return
			}
			none := &binary{token.EQL, ref(s.err), lit("nil", s.err.typ), boolean}
			r.put(&branch{cond: none, then: []stmt{adjoint}})
		})
	}
	return forward, append(restores, back...)
}

func (t *tangenter) kernel(s *kernel) {
	c := s.rewritten(func(e expr) expr { return e })
	varied := false
	for _, o := range c.operands {
		if o.role == "index" {
			continue
		}
		if o.dot = t.dot(o.x); o.bar != nil {
			o.both = t.dot(o.bar)
		}
		varied = varied || o.dot != nil || o.both != nil
	}
	if !varied {
		t.put(s)
		return
	}
	switch s.pass {
	case "Forward":
		c.pass = "Tangent"
	case "Adjoint":
		if f, _, _ := types.LookupFieldOrMethod(s.typ, false, s.typ.Obj().Pkg(), "AdjointTangent"); f == nil {
			panic(Refusal{Msg: s.typ.Obj().Name() + " has no AdjointTangent, which second derivatives need"})
		}
		c.pass = "AdjointTangent"
	default:
		panic(Refusal{Msg: s.typ.Obj().Name() + " is a kernel, which has no third derivatives"})
	}
	t.put(c)
}

// kernel writes a pass. An adjoint leaves the values that have been added to as they are.
func (w *writer) kernel(s *kernel) {
	back := strings.HasPrefix(s.pass, "Adjoint")
	value := func(of func(o *kernelOperand) expr) string {
		fields := slices.Clone(s.plain)
		for _, o := range s.operands {
			if e := of(o); e != nil {
				fields = append(fields, o.field+": "+w.operand(e))
			}
		}
		return w.typ(s.typ) + "{" + strings.Join(fields, ", ") + "}"
	}
	primal := func(e func(o *kernelOperand) expr) func(o *kernelOperand) expr {
		return func(o *kernelOperand) expr {
			if back && o.role == "acc" {
				return nil
			}
			return e(o)
		}
	}
	bar, dot := func(o *kernelOperand) expr { return o.bar }, func(o *kernelOperand) expr { return o.dot }
	both := func(o *kernelOperand) expr { return o.both }
	var args []string
	switch s.pass {
	case "Adjoint":
		args = []string{value(bar)}
	case "Tangent":
		args = []string{value(dot)}
	case "AdjointTangent":
		args = []string{value(bar), value(primal(dot)), value(both)}
	}
	call := fmt.Sprintf("%s.%s(%s)", value(primal(func(o *kernelOperand) expr { return o.x })), s.pass, strings.Join(args, ", "))
	switch {
	case s.ignored:
		w.line("_ = %s", call)
	case s.err != nil:
		w.line("%s = %s", s.err.name, call)
	case s.fails:
		w.line("if err := (%s); err != nil {\npanic(err)\n}", call)
	default:
		w.line("%s", call)
	}
}

// operand returns an operand of a kernel.
func (w *writer) operand(e expr) string {
	switch {
	case isMatrix(e.typeOf()), !isHeader(e.typeOf()) && !isFloat(e.typeOf()), !hasFloats(e.typeOf()):
		return w.expr(e, 0)
	case isVector(e.typeOf()):
		w.imports.add(revPath)
		return "rev.ViewSlice(" + w.expr(e, 0) + ")"
	}
	if t, ok := e.(*target); ok {
		return w.expr(t.x, 0)
	}
	return "&" + w.expr(e, 6)
}
