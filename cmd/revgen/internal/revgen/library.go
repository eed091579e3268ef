package revgen

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"revnum/rev"
)

// A function may call kernels, as in revlinalg.NewMatMul(c, a, b).Forward(), or a literal
// such as revlinalg.MatMul[float64]{C: rev.ViewDense(c), ...}.Forward(). The
// derivatives of such a statement are the passes of the kernel:
//
//	inverse   Inverse
//	adjoint   Adjoint
//	tangent   Tangent, and AdjointTangent of an adjoint
//	undone    the inverses of these

// A callee is a kernel that a function calls, with its operands.
type callee struct {
	pkg, name string // revnum/revlinalg, revlinalg.MatMul
	generic   bool
	second    bool // it has AdjointTangent
	fallible  bool // its passes may return errors
	operands  []calleeOperand
	plain     []string // other fields, as Go
}

type calleeOperand struct {
	field, role, shape string
	x                  *operand
}

// changes returns the operands that the call s changes, as nodes for the whole of each. An
// adjoint adds to the cotangents of what the kernel reads.
func (c *callee) changes(s *stmt) (xs []*node) {
	for _, o := range c.operands {
		for _, in := range []space{value, cotangent, tangent, cotangent | tangent} {
			passes := (s.adjoint || in&cotangent == 0) && (s.tangent || in&tangent == 0)
			changed := o.role == "acc" && !s.quiet || o.role == "inout"
			if in&cotangent != 0 {
				changed = o.role == "in" || o.role == "inout"
			}
			if passes && changed {
				xs = append(xs, &node{op: "whole", x: o.x, in: in})
			}
		}
	}
	return xs
}

const newVec = "gonum.org/v1/gonum/mat.NewVecDense"

var revPath = reflect.TypeFor[rev.Role]().PkgPath()

// kernelCall reads the call of a kernel, and reports whether it is one.
func (r *reader) kernelCall(e *ast.CallExpr) bool {
	method, ok := e.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	named, ok := r.info.Types[method.X].Type.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == r.pkg {
		return false
	}
	t, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	fields := r.fields(method.X, named, t)
	if fields == nil {
		return false
	}
	c := &callee{pkg: named.Obj().Pkg().Path(), name: named.Obj().Pkg().Name() + "." + named.Obj().Name(), generic: named.TypeArgs().Len() > 0}
	if back := method.Sel.Name; back != "Forward" && back != "Inverse" {
		r.refuse(e, "%s: a function calls Forward or Inverse of a kernel", types.ExprString(e.Fun))
	}
	for _, pass := range []string{"Forward", "Inverse", "Adjoint", "Tangent"} {
		c.fallible = c.fallible || !returnsNoError(named, pass)
	}
	s := &stmt{op: "kernel", callee: c, back: method.Sel.Name == "Inverse", pos: e.Pos()}
	if _, ok := r.failures[e]; ok {
		s.e = r.returned(e)
	} else if c.fallible && (!returnsNoError(named, method.Sel.Name) || !r.k.fallible) {
		r.refuseError(e, c.name)
	}
	second, _, _ := types.LookupFieldOrMethod(named, false, named.Obj().Pkg(), "AdjointTangent")
	c.second = second != nil
	r.overNumbers(e, named, c)
	for _, operands := range []bool{false, true} { // flags choose shapes of operands
		for _, f := range fields {
			if role := role(t, f.index); (role != "") == operands {
				r.field(c, t, f, role)
			}
		}
	}
	r.emit(s)
	return true
}

// A fieldValue is what a field of a kernel is set to.
type fieldValue struct {
	index int
	x     ast.Expr
}

// fields returns what the fields of a kernel are set to, which is a call of its constructor
// or a literal. It returns nil for another expression.
func (r *reader) fields(e ast.Expr, named *types.Named, t *types.Struct) (fields []fieldValue) {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		f, _ := r.info.Uses[calledName(e.Fun)].(*types.Func)
		if f == nil || f.Name() != "New"+named.Obj().Name() {
			return nil
		}
		params := f.Type().(*types.Signature).Params()
		for i, arg := range e.Args {
			at := fieldNamed(t, params.At(i).Name(), strings.EqualFold)
			if at < 0 {
				return nil // the constructor makes operands of its parameters
			}
			fields = append(fields, fieldValue{at, arg})
		}
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			kv, ok := x.(*ast.KeyValueExpr)
			if !ok {
				r.refuse(e, "%s: name the fields of a kernel", types.ExprString(e.Type))
			}
			fields = append(fields, fieldValue{fieldNamed(t, identOf(kv.Key).Name, func(s, t string) bool { return s == t }), kv.Value})
		}
	}
	return fields
}

// role returns the role of the operand in a field, or nothing.
func role(t *types.Struct, field int) string {
	role, _ := strings.CutSuffix(reflect.StructTag(t.Tag(field)).Get("rev"), ",optional")
	return role
}

// returnsNoError reports whether a kernel has a method that returns no error.
func returnsNoError(kernel *types.Named, method string) bool {
	f, _, _ := types.LookupFieldOrMethod(kernel, false, kernel.Obj().Pkg(), method)
	return f != nil && f.Type().(*types.Signature).Results().Len() == 0
}

func calledName(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return calledName(e.X)
	}
	return identOf(e)
}

// overNumbers refuses a kernel that is not over all number types of the function's kernel.
func (r *reader) overNumbers(e ast.Node, named *types.Named, c *callee) {
	ok := r.k.generic == ""
	if params := named.Origin().TypeParams(); !ok && c.generic && params.Len() == 1 {
		constraint := params.At(0).Constraint().String()
		constraint = constraint[strings.LastIndexByte(constraint, '.')+1:]
		ok = constraint == "Real" || constraint == "Number" || constraint == "Float" && r.k.constraint == "rev.Float"
	}
	if !ok {
		r.refuse(e, "%s is not over all number types of %s[T %s]: ask for fewer", c.name, r.k.name, r.k.constraint)
	}
}

// fieldNamed returns the index of the first field whose name is equal to name, or -1.
func fieldNamed(t *types.Struct, name string, equal func(s, t string) bool) int {
	for i := range t.NumFields() {
		if equal(t.Field(i).Name(), name) {
			return i
		}
	}
	return -1
}

// viewed returns the parameter that e is a view of: x for mat.NewVecDense(n, x),
// rev.ViewSlice(x) and the like.
func (r *reader) viewed(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return e
	}
	f, _ := r.info.Uses[calledName(call.Fun)].(*types.Func)
	if f == nil || f.FullName() != newVec && !strings.HasPrefix(f.FullName(), revPath+".View") {
		return e
	}
	return r.viewed(call.Args[len(call.Args)-1])
}

// field notes what a field of a kernel is set to.
func (r *reader) field(c *callee, t *types.Struct, f fieldValue, role string) {
	i, arg, name := f.index, f.x, t.Field(f.index).Name()
	if role == "" {
		v := r.info.Types[arg].Value
		if v == nil {
			r.refuse(arg, "%s of %s is a constant here", name, c.name)
		}
		text := v.ExactString()
		if v.Kind() == constant.Float { // a fraction, which Go would read as a division of integers
			x, _ := constant.Float64Val(v)
			text = strconv.FormatFloat(x, 'g', -1, 64)
		}
		c.plain = append(c.plain, name+": "+text)
		return
	}
	if id := identOf(arg); id != nil && id.Name == "nil" {
		return
	}
	arg = r.viewed(arg)
	v := r.view(arg)
	if field := t.Field(i).Type().String(); len(v.at) > 0 || v.size != nil || v.x.rank == 2 != strings.Contains(field, "General[") {
		r.refuse(arg, "%s: a kernel takes whole parameters, a vector as a vector and a matrix as a matrix", types.ExprString(arg))
	}
	v.x.read = v.x.read || role == "in" || role == "inout"
	v.x.written = v.x.written || role == "acc" || role == "inout"
	if slices.ContainsFunc(c.operands, func(o calleeOperand) bool { return o.x == v.x && (o.role != "in" || role != "in") }) {
		r.refuse(arg, "%s is in two places of %s, which changes one of them", v.x.name, c.name)
	}
	shape := reflect.StructTag(t.Tag(i)).Get("shape")
	if flag, shapes, ok := strings.Cut(shape, "?"); ok {
		set, otherwise, _ := strings.Cut(shapes, ":")
		if shape = strings.TrimSpace(otherwise); slices.Contains(c.plain, strings.TrimSpace(flag)+": true") {
			shape = strings.TrimSpace(set)
		}
	}
	c.operands = append(c.operands, calleeOperand{name, role, shape, v.x})
}

// method reads a method of gonum's matrices: At, AtVec and Len.
func (r *reader) method(e *ast.CallExpr) *node {
	s, ok := e.Fun.(*ast.SelectorExpr)
	if !ok || identOf(s.X) == nil {
		return nil
	}
	b := r.env[r.info.Uses[identOf(s.X)]]
	if b.view == nil || len(b.view.at) > 0 {
		return nil
	}
	v := b.view
	switch s.Sel.Name {
	case "Len":
		return v.length()
	case "At", "AtVec":
		for _, a := range e.Args[:v.x.rank] {
			v = v.index(r.expr(a))
		}
		v = r.withPlainIndices(v)
		v.x.read = true
		return elem(v.x, v.at)
	}
	return nil
}

// noteCallShapes notes that dimensions are equal if they have the same name in the shape tags of
// a callee.
func (s *shaper) noteCallShapes() {
	each(s.k.body, func(u *stmt) {
		if u.op != "kernel" {
			return
		}
		first := map[string]string{}
		for _, o := range u.callee.operands {
			for axis, name := range strings.Split(o.shape, ",") {
				if axis >= o.x.rank || !token.IsIdentifier(name) {
					continue
				}
				key := s.find(length(o.x, axis).key())
				if was := first[name]; was == "" {
					first[name] = key
				} else if was = s.find(was); was != key && s.value[key] == nil {
					s.same[key] = was
				} else if was != key && s.value[was] == nil {
					s.same[was] = key
				}
			}
		}
	})
}

// library writes a call of a kernel.
func (w *writer) library(s *stmt) {
	c := s.callee
	typ := c.name
	if c.generic {
		typ += "[" + w.elem + "]"
	}
	value := func(in space) string {
		fields := slices.Clone(c.plain)
		for _, o := range c.operands {
			if o.role == "index" && in != 0 || s.quiet && o.role == "acc" && in&cotangent == 0 {
				continue
			}
			fields = append(fields, o.field+": "+field(o.x, in))
		}
		return typ + "{" + strings.Join(fields, ", ") + "}"
	}
	in := []space{0}
	name := "Forward"
	switch {
	case s.adjoint && s.tangent:
		name, in = "AdjointTangent", []space{0, cotangent, tangent, cotangent | tangent}
	case s.adjoint:
		name, in = "Adjoint", []space{0, cotangent}
	case s.tangent:
		name, in = "Tangent", []space{0, tangent}
	case s.back:
		name = "Inverse"
	}
	w.scopes = append(w.scopes, map[string]bool{})
	w.printf("{\n")
	var args []string
	for _, in := range in {
		v := w.name(&local{name: spacePrefix[in] + "f"})
		w.printf("%s := %s\n", v, value(in))
		args = append(args, "&"+v)
	}
	p := w.name(&local{name: "p"})
	w.printf("%s := rev.%sPass(%s)\n", p, name, strings.Join(args, ", "))
	f := args[0][1:]
	run := f + ".Run(" + p + ")"
	sign := "sign"
	if w.k.complex {
		sign = "real(sign)"
	}
	switch back := map[bool]string{false: "<", true: ">"}[s.back]; {
	case s.undoes():
		run = "rev.Undo(" + f + ", " + p + ")"
	case s.adjoint:
	case w.k.accumulates():
		w.printf("%s.Back = %s %s 0\n", p, sign, back)
	case s.back && s.tangent:
		w.printf("%s.Back = true\n", p)
	}
	err := w.name(&local{name: "err"})
	w.printf("if %s := %s; %s != nil {\n", err, run, err)
	w.writeFailure(s, err)
	w.printf("}\n}\n")
	w.scopes = w.scopes[:len(w.scopes)-1]
}
