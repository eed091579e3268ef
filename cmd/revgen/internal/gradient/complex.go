package gradient

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// A complex number of a function is a num.Complex in what is written, a struct of its parts, so that
// their derivatives are those of real numbers. Parameters stay as they are, and have no derivatives.

// A complexPair is a complex number that is not in memory.
type complexPair struct{ re, im expr }

func (e *complexPair) typeOf() types.Type { return complexType }

var complexType = func() types.Type {
	name := types.NewTypeName(token.NoPos, numPkg, "Complex", nil)
	re := types.NewField(token.NoPos, numPkg, "Re", float, false)
	im := types.NewField(token.NoPos, numPkg, "Im", float, false)
	return types.NewNamed(name, types.NewStruct([]*types.Var{re, im}, nil), nil)
}()

// isComplex reports whether t is a complex type of Go.
func isComplex(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsComplex != 0
}

func hasComplex(t types.Type) bool {
	return anyPart(t, nil, func(t types.Type, _ bool) bool { return isComplex(t) })
}

// apart returns t with num.Complex for complex numbers.
func apart(t types.Type) types.Type {
	if isComplex(t) {
		if b := t.Underlying().(*types.Basic); b.Kind() == types.Complex64 {
			panic(Refusal{Msg: "complex64 is not differentiated: use complex128"})
		}
		return complexType
	}
	if !hasComplex(t) {
		return t
	}
	switch t := t.(type) {
	case *types.Slice:
		return types.NewSlice(apart(t.Elem()))
	case *types.Array:
		return types.NewArray(apart(t.Elem()), t.Len())
	case *types.Pointer:
		return types.NewPointer(apart(t.Elem()))
	}
	return t
}

// re and im return the parts of a complex number.
func re(e expr) expr { return component(e, "Re", "real") }
func im(e expr) expr { return component(e, "Im", "imag") }

func component(e expr, name, builtin string) expr {
	switch x := e.(type) {
	case *complexPair:
		if name == "Re" {
			return x.re
		}
		return x.im
	case *literal:
		return x // the real and the imaginary part of a zero
	}
	if isComplex(e.typeOf()) {
		return &call{builtin, "", []expr{e}, float}
	}
	return &field{e, name, float}
}

// structField returns a field of a struct.
func structField(e expr, f *types.Var) expr {
	if _, ok := e.(*complexPair); ok || isComplex(e.typeOf()) {
		return component(e, f.Name(), map[string]string{"Re": "real", "Im": "imag"}[f.Name()])
	}
	for own := range e.typeOf().Underlying().(*types.Struct).Fields() {
		if own.Name() == f.Name() { // a matrix of a parameter has another type there
			return &field{e, f.Name(), own.Type()}
		}
	}
	return &field{e, f.Name(), f.Type()}
}

// complexConstant returns a constant.
func complexConstant(v constant.Value) expr {
	part := func(v constant.Value) expr { return lit(exactFloat(v), float) }
	return &complexPair{part(constant.Real(v)), part(constant.Imag(v))}
}

// complexOperation returns what an operator does to complex numbers.
func (l *lowerer) complexOperation(at ast.Node, op token.Token, x, y expr) expr {
	a, b, c, d := re(x), im(x), re(y), im(y)
	switch op {
	case token.ADD:
		return &complexPair{add(a, c), add(b, d)}
	case token.SUB:
		return &complexPair{subtract(a, c), subtract(b, d)}
	case token.MUL:
		return l.multiplied(x, y)
	case token.QUO:
		if isLit(d, "0") {
			return &complexPair{l.operation(op, a, c, float), l.operation(op, b, c, float)}
		}
		return l.complexModel(at, "CmplxQuo", a, b, ref(l.define("re", float, c)), ref(l.define("im", float, d)))
	case token.EQL, token.NEQ:
		join := map[token.Token]token.Token{token.EQL: token.LAND, token.NEQ: token.LOR}[op]
		return &binary{join, &binary{op, a, c, boolean}, &binary{op, b, d, boolean}, boolean}
	}
	l.refuse(at, "%s of complex numbers is not differentiated", op)
	return nil
}

// multiplied returns a product.
func (l *lowerer) multiplied(x, y expr) expr {
	a, b, c, d := l.twice(re(x)), l.twice(im(x)), l.twice(re(y)), l.twice(im(y))
	return &complexPair{subtract(times(a, c), times(b, d)), add(times(a, d), times(b, c))}
}

// twice returns e, which is read more than once, with a name if it is not in memory.
func (l *lowerer) twice(e expr) expr {
	if isPlace(e) {
		return e
	}
	return l.temporary("part", e)
}

// complexModel calls a model for two parts.
func (l *lowerer) complexModel(at ast.Node, name string, args ...expr) expr {
	var values []any
	for _, x := range args {
		values = append(values, x)
	}
	call := &ast.CallExpr{Fun: &ast.Ident{Name: name, NamePos: at.Pos()}}
	out := l.use(call, l.model(name), values...)
	return &complexPair{out[0], out[1]}
}

// cmplxCall reads a function of math/cmplx.
func (l *lowerer) cmplxCall(c *ast.CallExpr, name string) []expr {
	var args []expr
	for _, a := range c.Args {
		x := l.expr(a)
		if isFloat(x.typeOf()) {
			args = append(args, x)
			continue
		}
		args = append(args, re(x), im(x))
	}
	switch name {
	case "Conj":
		return []expr{&complexPair{args[0], negative(args[1])}}
	case "Abs":
		e := fn("Hypot", l.temporary("re", args[0]), l.temporary("im", args[1]))
		return []expr{ref(l.define("abs", float, e))}
	case "Phase":
		e := fn("Atan2", l.temporary("im", args[1]), l.temporary("re", args[0]))
		return []expr{ref(l.define("phase", float, e))}
	case "Polar":
		x, y := l.temporary("re", args[0]), l.temporary("im", args[1])
		return []expr{ref(l.define("abs", float, fn("Hypot", x, y))), ref(l.define("phase", float, fn("Atan2", y, x)))}
	}
	if l.model("Cmplx"+name) == nil {
		l.refuse(c, "cmplx.%s has no derivative here: those that have one are Abs, Conj, Phase, Polar, %s", name, l.modelled("Cmplx"))
	}
	return []expr{l.complexModel(c, "Cmplx"+name, args...)}
}

// complexCall reads real, imag and complex, and returns nil for other calls.
func (l *lowerer) complexCall(c *ast.CallExpr) expr {
	switch {
	case l.isBuiltin(c.Fun, "real"):
		return re(l.expr(c.Args[0]))
	case l.isBuiltin(c.Fun, "imag"):
		return im(l.expr(c.Args[0]))
	case l.isBuiltin(c.Fun, "complex"):
		return &complexPair{l.converted(l.expr(c.Args[0]), float), l.converted(l.expr(c.Args[1]), float)}
	}
	return nil
}

// parted returns a complex number whose parts keep their values while one of them is set.
func (l *lowerer) parted(to expr, e *complexPair) *complexPair {
	reads := func(x expr) (yes bool) { // perhaps by another name
		visit(x, func(x expr) {
			yes = yes || isPlace(x) && (root(x) == root(to) || sharesMemory(x) && sharesMemory(to))
		})
		return yes
	}
	if !reads(e.im) {
		return e
	}
	return &complexPair{ref(l.define("re", float, e.re)), ref(l.define("im", float, e.im))}
}

// complexSum reads z += e and z -= e.
func (l *lowerer) complexSum(p expr, op token.Token, e expr) {
	pair := l.parted(p, &complexPair{re(e), im(e)})
	l.emit(&assignment{l: re(p), op: op, r: pair.re})
	if !isLit(pair.im, "0") {
		l.emit(&assignment{l: im(p), op: op, r: pair.im})
	}
}
