package gradient

import (
	_ "embed"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Calls of gonum become calls of models, which are inlined as functions of the package are, or
// for products of matrices statements of their own. Within a function a *mat.VecDense is a
// slice, and a *mat.Dense a num.Matrix, which like a slice shares its elements with its copies.

const (
	matPath    = "gonum.org/v1/gonum/mat"
	floatsPath = "gonum.org/v1/gonum/floats"
)

//go:embed models/models.go
var modelText string

// numPkg has what models use of package num, so that they need no package to be built.
var numPkg, matrixType = func() (*types.Package, types.Type) {
	pkg := types.NewPackage(numPath, "num")
	vector := types.NewSlice(float)
	name := types.NewTypeName(token.NoPos, pkg, "Matrix", nil)
	var fields []*types.Var
	for _, f := range []string{"Rows", "Cols", "Stride"} {
		fields = append(fields, types.NewField(token.NoPos, pkg, f, integer, false))
	}
	matrix := types.NewNamed(name, types.NewStruct(append(fields, types.NewField(token.NoPos, pkg, "Data", vector, false)), nil), nil)
	pkg.Scope().Insert(name)
	tuple := func(of ...types.Type) *types.Tuple {
		var vars []*types.Var
		for _, t := range of {
			vars = append(vars, types.NewParam(token.NoPos, pkg, "", t))
		}
		return types.NewTuple(vars...)
	}
	declare := func(name string, params, results *types.Tuple, variadic bool) {
		sig := types.NewSignatureType(nil, nil, nil, params, results, variadic)
		pkg.Scope().Insert(types.NewFunc(token.NoPos, pkg, name, sig))
	}
	declare("Row", tuple(matrix, integer), tuple(vector), false)
	declare("Constant", tuple(float), tuple(float), false)
	declare("SameLengths", tuple(vector, types.NewSlice(vector)), nil, true)
	declare("SameShapes", tuple(matrix, types.NewSlice(matrix)), nil, true)
	pkg.MarkComplete()
	return pkg, matrix
}()

func isMatrix(t types.Type) bool { return t == matrixType }

// isVector reports whether t is []float64.
func isVector(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), float)
}

// gonumType returns the name of a type of package mat, or of a pointer to one.
func gonumType(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != matPath {
		return ""
	}
	return n.Obj().Name()
}

// memoryType returns what a vector or a matrix of gonum is within a function, and t for other
// types.
func memoryType(t types.Type) types.Type {
	switch gonumType(t) {
	case "VecDense", "Vector":
		return types.NewSlice(float)
	case "Dense", "Matrix", "SymDense", "Symmetric", "TriDense", "Triangular", "DiagDense", "Diagonal", "Cholesky":
		return matrixType
	}
	return t
}

// deepMemory does the same with the parts of slices, arrays, pointers and structs, for locals. What comes from a
// parameter keeps the type that it has there.
func deepMemory(t types.Type) types.Type {
	if m := memoryType(t); m != t || !hasGonum(t) || containsItself(t) {
		return m
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		return remade(s, deepMemory)
	}
	return remade(types.Unalias(t), deepMemory)
}

// hasGonum reports whether a value of type t reaches a vector or a matrix of gonum.
func hasGonum(t types.Type) bool {
	return anyPart(t, nil, func(t types.Type, _ bool) bool { return isGonum(t) })
}

// sameMemory reports whether types are the same but for how vectors and matrices are kept.
func sameMemory(x, y types.Type) bool {
	return types.Identical(deepMemory(x).Underlying(), deepMemory(y).Underlying())
}

// isRaw reports whether t is what RawVector or RawMatrix returns, which within a function is memory too.
func isRaw(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "gonum.org/v1/gonum/blas/blas64" && (n.Obj().Name() == "Vector" || n.Obj().Name() == "General")
}

// rawField returns a field of what RawVector or RawMatrix returned. The elements of a matrix are one slice if there are
// no gaps between its rows.
func rawField(x expr, name string) expr {
	switch vector := isVector(x.typeOf()); {
	case name == "Data" && vector:
		return x
	case name == "Data":
		return &view{"num.MatrixData", x, nil, types.NewSlice(float)}
	case name == "N":
		return length(x)
	case name == "Inc":
		return integerLit(1)
	case name == "Rows":
		return &call{"rows", "", []expr{x}, integer}
	}
	return &call{strings.ToLower(name), "", []expr{x}, integer} // Cols and Stride
}

// isGonum reports whether t is a vector or a matrix of gonum.
func isGonum(t types.Type) bool {
	name := gonumType(t)
	return name == "VecDense" || name == "Dense" || isHalf(t)
}

type (
	// A view is memory of x under another type, as num's function fn returns it.
	view struct {
		fn   string
		x    expr
		args []expr
		typ  types.Type
	}
	// A transposed matrix stands only in calls.
	transposed struct{ x expr }
	// An unsized vector or matrix gets its size by the first method that stores in it.
	unsized struct {
		typ types.Type
		of  string // gonum's type
		v   *variable
		in  int // the number of loops around it

		perhaps bool // it has got a size on some ways
	}
	// A product sets C = op(A)·op(B), or adds that to C.
	product struct {
		c, a, b        expr
		transA, transB bool
		adds           bool
	}
	// A cleared matrix is zero.
	cleared struct{ x expr }
)

func (e *view) typeOf() types.Type       { return e.typ }
func (e *transposed) typeOf() types.Type { return matrixType }
func (e *unsized) typeOf() types.Type    { return e.typ }

func row(m, i expr) expr      { return &view{"num.Row", m, []expr{i}, types.NewSlice(float)} }
func column(x expr) expr      { return &view{"num.Column", x, nil, matrixType} }
func entry(m, i, j expr) expr { return &element{row(m, i), j, float} }

// dims returns the shape of op(m).
func dims(m expr, trans bool) (rows, cols expr) {
	rows, cols = &call{"rows", "", []expr{m}, integer}, &call{"cols", "", []expr{m}, integer}
	if v, ok := m.(*view); ok && v.fn == "num.Column" {
		rows, cols = length(v.x), integerLit(1)
	}
	if trans {
		rows, cols = cols, rows
	}
	return rows, cols
}

// viewed returns the memory of a place that is a vector or a matrix of gonum, and other places as
// they are.
func viewed(e expr) expr {
	switch t := e.typeOf(); gonumType(t) {
	case "VecDense":
		return &view{"num.VectorOf", e, nil, types.NewSlice(float)}
	case "Dense":
		return &view{"num.MatrixOf", e, nil, matrixType}
	case "SymDense":
		return &view{"num.SymmetricOf", e, nil, matrixType}
	case "TriDense":
		return &view{"num.TriangularOf", e, nil, matrixType}
	case "DiagDense":
		return &view{"num.DiagonalOf", e, nil, matrixType}
	case "Cholesky":
		return &view{"num.FactorOf", e, nil, matrixType}
	}
	return e
}

// hoisted gives a vector or a matrix in a field of a parameter a name at the beginning of the
// function. Such fields do not change.
func (l *lowerer) hoisted(e expr) expr {
	v, ok := e.(*view)
	if !ok {
		return e
	}
	name := ""
	for x := v.x; ; {
		switch y := x.(type) {
		case *field:
			if name == "" {
				name = strings.ToLower(y.name[:1]) + y.name[1:]
			}
			x = y.x
			continue
		case *target:
			x = y.x
			continue
		case *reference:
			if !y.v.param {
				return e
			}
		default:
			return e
		}
		break
	}
	for _, s := range l.fixed {
		if w, ok := s.r.(*view); ok && same(w.x, v.x) {
			return s.l
		}
	}
	s := &assignment{l: ref(&variable{name: l.unique(name), typ: v.typ, copied: isCopy(v)}), op: token.ASSIGN, r: v, define: true}
	l.fixed = append(l.fixed, s)
	return s.l
}

// model returns the model with a name, or nil.
func (s *Source) model(name string) *ast.FuncDecl {
	if s.models == nil {
		s.models = map[string]*ast.FuncDecl{}
		file, err := parser.ParseFile(s.Fset, "models.go", modelText, parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		conf := types.Config{Importer: modelImports{s.Imports}}
		if _, err := conf.Check("models", s.Fset, []*ast.File{file}, s.Info); err != nil {
			panic(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				s.models[f.Name.Name] = f
				s.Funcs[s.Info.Defs[f.Name]] = f
			}
		}
	}
	return s.models[name]
}

// modelImports imports what models import.
type modelImports struct{ types.Importer }

func (m modelImports) Import(path string) (*types.Package, error) {
	if strings.HasSuffix(path, "rev/num") {
		return numPkg, nil
	}
	return m.Importer.Import(path)
}

// use inlines a model. Vectors and matrices among the arguments have names.
func (l *lowerer) use(c *ast.CallExpr, d *ast.FuncDecl, args ...any) []expr {
	first, k := l.count, 0
	for _, f := range d.Type.Params.List {
		for _, id := range f.Names {
			obj := l.Info.Defs[id]
			switch a := args[k].(type) {
			case ast.Expr:
				l.functionValue(obj, a)()
			case expr:
				if isHeader(obj.Type()) {
					l.bound[obj] = l.header(id.Name, a)
				} else {
					l.bound[obj] = l.temporary(id.Name, l.converted(a, obj.Type()))
				}
			}
			k++
		}
	}
	return l.inlined(c, d, d.Type, d.Body, first)
}

// memory reads a vector or a matrix.
func (l *lowerer) memory(e ast.Expr) expr {
	if c, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if f, ok := l.callee(c).(*types.Func); ok && f.FullName() == "(*"+matPath+".Dense).ColView" {
			m, trans := l.matrix(ast.Unparen(c.Fun).(*ast.SelectorExpr).X)
			return l.lineOf("col", m, !trans, l.temporary("j", l.expr(c.Args[0])), nil)
		}
	}
	x := l.sized(e, l.expr(e))
	if types.IsInterface(x.typeOf()) {
		l.refuse(e, "%s may be of any type: make it a *mat.Dense or a *mat.VecDense", types.ExprString(e))
	}
	return x
}

// vector reads an argument that is a vector.
func (l *lowerer) vector(e ast.Expr) expr {
	x := l.memory(e)
	if !isVector(x.typeOf()) {
		l.refuse(e, "%s is no vector that lies in memory: copy it to a *mat.VecDense", types.ExprString(e))
	}
	return l.header("x", x)
}

// matrix reads an argument that is a matrix, or the transpose of one.
func (l *lowerer) matrix(e ast.Expr) (m expr, trans bool) {
	l.notCholesky(e)
	x := l.memory(e)
	if t, ok := x.(*transposed); ok {
		x, trans = t.x, true
	}
	switch {
	case isMatrix(x.typeOf()):
		return l.header("m", x), trans
	case isVector(x.typeOf()):
		return column(l.header("x", x)), trans
	}
	l.refuse(e, "%s is no matrix that lies in memory: copy it to a *mat.Dense", types.ExprString(e))
	return nil, false
}

// plainMatrix reads an argument that is a matrix, and writes out a transpose.
func (l *lowerer) plainMatrix(c *ast.CallExpr, e ast.Expr) expr {
	m, trans := l.matrix(e)
	if !trans {
		return l.header("m", m)
	}
	t := ref(l.define("transpose", matrixType, makeMatrix(dims(m, true))))
	l.use(c, l.model("DenseTranspose"), t, l.header("m", m))
	return t
}

func makeMatrix(r, c expr) expr { return &call{"make", "", []expr{r, c}, matrixType} }

func makeVector(n expr) expr { return &call{"make", "", []expr{n}, types.NewSlice(float)} }

// unsized returns a vector or a matrix of gonum without a size.
func (l *lowerer) unsized(t types.Type) expr {
	return &unsized{typ: memoryType(t), of: gonumType(t), in: len(l.loops)}
}

// sharedArgument reads a vector or a matrix that is the argument of a function, and returns what
// binds it to the parameter.
func (l *lowerer) sharedArgument(id *ast.Ident, obj types.Object, arg ast.Expr, body *ast.BlockStmt) (bind func()) {
	e := l.value(arg)
	if gonumType(obj.Type()) != "Cholesky" {
		l.notCholesky(arg)
	}
	switch e.(type) {
	case *unsized, *transposed:
	default:
		if _, isRef := e.(*reference); !isRef || l.assigned(obj, body) {
			e = ref(l.define(id.Name, e.typeOf(), e))
		}
	}
	return func() { l.bound[obj] = e }
}

// sized refuses what has no size.
func (l *lowerer) sized(at ast.Node, x expr) expr {
	if u, ok := x.(*unsized); ok {
		makes := map[string]string{"VecDense": "n, nil", "Dense": "r, c, nil", "SymDense": "n, nil", "TriDense": "n, kind, nil", "DiagDense": "n, nil"}[u.of]
		if makes == "" {
			l.refuse(at, "this has no factor here: declare it in the loop that Factorize is called in, and call that before a branch")
		}
		l.refuse(at, "this has no size here: make it by mat.New%s(%s)", u.of, makes)
	}
	return x
}

// receiver returns what a method stores in, which gets the size that makes has if it has none.
func (l *lowerer) receiver(at ast.Expr, makes expr) expr {
	x := l.expr(at)
	if u, ok := x.(*unsized); ok {
		if u.in != len(l.loops) || makes == nil {
			l.sized(at, x) // it would have a size in all iterations but the first
		}
		u.v = l.define(rootOf(at), u.typ, makes)
		l.unsizes = append(l.unsizes, u)
		return ref(u.v)
	}
	v := root(x)
	l.settable(at, v)
	if t := l.Info.TypeOf(at); makes != nil && v != nil && !v.param && !isReference(x) && isGonum(t) && !isPointer(t) {
		l.sized(at, l.unsized(t)) // it is empty, unless it was made: then a pointer to it is as good
	}
	if isCopy(x) {
		l.refuse(at, "%s may not change here: make it a variable of the function's own", types.ExprString(at))
	}
	return l.header("x", x)
}

// isEmpty reports whether a vector or a matrix has no size. What has one here had it before on all ways.
func (l *lowerer) isEmpty(at ast.Expr) expr {
	x := l.expr(at)
	if u, ok := x.(*unsized); ok {
		if u.perhaps {
			l.refuse(at, "whether %s has a size here is not known", types.ExprString(at))
		}
		return lit("true", boolean)
	}
	if v := root(x); v == nil || !v.param {
		return lit("false", boolean)
	}
	if isVector(x.typeOf()) {
		return &binary{token.EQL, length(x), integerLit(0), boolean}
	}
	rows, _ := dims(x, false)
	return &binary{token.EQL, rows, integerLit(0), boolean}
}

// named returns what a name or a field stands for, and nil for other expressions.
func (l *lowerer) named(e ast.Expr) expr {
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return l.expr(e)
	}
	return nil
}

// fresh reads the constructors of vectors and matrices, and returns nil for other calls.
func (l *lowerer) fresh(c *ast.CallExpr) expr {
	obj := l.callee(c)
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != matPath {
		return nil
	}
	switch obj.Name() {
	case "NewVecDense":
		if l.isNil(c.Args[1]) {
			return makeVector(l.temporary("n", l.expr(c.Args[0])))
		}
		x := l.header("x", l.expr(c.Args[1]))
		return &part{x: x, hi: l.temporary("n", l.expr(c.Args[0]))}
	case "NewDense":
		rows, cols := l.temporary("rows", l.expr(c.Args[0])), l.temporary("cols", l.expr(c.Args[1]))
		if l.isNil(c.Args[2]) {
			return makeMatrix(rows, cols)
		}
		x := l.header("x", l.expr(c.Args[2]))
		return &view{"num.Shaped", x, []expr{rows, cols}, matrixType}
	case "NewSymDense", "NewTriDense", "NewDiagDense":
		return l.newHalf(c, obj.Name())
	}
	return nil
}

// gonum reads a call of gonum, or of what models call.
func (l *lowerer) gonum(c *ast.CallExpr, obj types.Object) (values []expr, ok bool) {
	f, isFunc := obj.(*types.Func)
	if !isFunc || f.Pkg() == nil {
		return nil, false
	}
	switch f.Pkg().Path() {
	case numPath:
		if f.Pkg() != numPkg {
			return nil, false
		}
		return l.intrinsic(c, f.Name()), true
	case floatsPath:
		return l.floats(c, f)
	case matPath:
		if f.Signature().Recv() != nil {
			return l.method(c, f), true
		}
		return l.matCall(c, f), true
	}
	return nil, false
}

// intrinsic reads what models call.
func (l *lowerer) intrinsic(c *ast.CallExpr, name string) []expr {
	var args []expr
	for _, a := range c.Args {
		args = append(args, l.expr(a))
	}
	switch name {
	case "Row":
		return []expr{row(args[0], args[1])}
	case "Constant":
		e := &call{"num.Constant", numPath, []expr{l.temporary("x", args[0])}, float}
		return []expr{ref(l.define("constant", float, e))}
	}
	l.emit(&effect{&call{"num." + name, numPath, args, nil}})
	return nil
}

// floats reads a function of package floats, if there is a model. Most of their sources are assembly.
func (l *lowerer) floats(c *ast.CallExpr, f *types.Func) (results []expr, ok bool) {
	name, args := "Floats"+f.Name(), c.Args
	if sig := f.Signature(); sig.Params().Len() > 0 {
		if last := len(args) - 1; sig.Params().At(last).Name() == "L" {
			name += l.norm(c, args[last])
			args = args[:last]
		}
	}
	d := l.model(name)
	if d == nil {
		return nil, false
	}
	var values []any
	for _, a := range args {
		x := l.expr(a)
		if isHeader(x.typeOf()) {
			x = l.vector(a)
		}
		values = append(values, x)
	}
	return l.use(c, d, values...), true
}

// isNil reports whether e is nil, or a parameter that is.
func (l *lowerer) isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return l.Info.Types[e].IsNil() || ok && l.bound[l.Info.Uses[id]] != nil && isLit(l.bound[l.Info.Uses[id]], "nil")
}

// norm returns the end of the name of a norm.
func (l *lowerer) norm(at ast.Node, e ast.Expr) string {
	if v := l.Info.Types[e].Value; v != nil {
		if n, exact := constant.Int64Val(constant.ToInt(v)); exact && (n == 1 || n == 2) {
			return constant.ToInt(v).String()
		}
	}
	if c, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		f, isFunc := l.callee(c).(*types.Func)
		if isFunc && f.FullName() == "math.Inf" && l.Info.Types[c.Args[0]].Value != nil && constant.Sign(l.Info.Types[c.Args[0]].Value) >= 0 {
			return "Inf"
		}
	}
	l.refuse(at, "this norm is not differentiated: 1, 2 and math.Inf(1) are")
	return ""
}

// modelled returns the names of the models with a prefix.
func (l *lowerer) modelled(prefix string) string {
	var names []string
	for name := range l.models {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// matCall reads a function of mat.
func (l *lowerer) matCall(c *ast.CallExpr, f *types.Func) []expr {
	if e := l.fresh(c); e != nil {
		return []expr{l.header("m", e)}
	}
	reduce := func(name string) []expr {
		m, trans := l.matrix(c.Args[0])
		if other := map[string]string{"Norm1": "NormInf", "NormInf": "Norm1"}[name]; trans && other != "" {
			name = other
		}
		if v, ok := m.(*view); ok && v.fn == "num.Column" {
			return l.use(c, l.model("Floats"+name), v.x)
		}
		return l.use(c, l.model("Dense"+name), m)
	}
	switch f.Name() {
	case "Dot", "Inner":
		if f.Name() == "Dot" {
			return l.use(c, l.model("FloatsDot"), l.vector(c.Args[0]), l.vector(c.Args[1]))
		}
		x, y := l.vector(c.Args[0]), l.vector(c.Args[2])
		a, trans := l.matrix(c.Args[1])
		rows, _ := dims(a, trans)
		t := ref(l.define("t", types.NewSlice(float), makeVector(rows)))
		l.emit(&product{c: column(t), a: a, transA: trans, b: column(y)})
		return l.use(c, l.model("FloatsDot"), x, t)
	case "Sum":
		return reduce("Sum")
	case "Norm":
		return reduce("Norm" + l.norm(c, c.Args[1]))
	case "Det", "LogDet":
		return l.determinant(c, f.Name())
	case "Trace":
		m, _ := l.matrix(c.Args[0])
		return l.use(c, l.model("DenseTrace"), m)
	case "Max", "Min":
		return reduce(f.Name())
	case "Row", "Col":
		m, trans := l.matrix(c.Args[2])
		i := l.temporary("i", l.expr(c.Args[1]))
		var to expr
		if !l.isNil(c.Args[0]) {
			to = l.vector(c.Args[0])
		}
		return []expr{l.lineOf(strings.ToLower(f.Name()), m, trans != (f.Name() == "Col"), i, to)}
	case "DenseCopyOf", "VecDenseCopyOf":
		return []expr{l.copyOf(c, c.Args[0])}
	}
	l.refuse(c, "%s is not differentiated: Det, Dot, Inner, LogDet, Sum, Norm, Trace, Row, Col, NewDense, NewDiagDense, NewSymDense, NewTriDense, NewVecDense, DenseCopyOf and VecDenseCopyOf are", types.ExprString(c.Fun))
	return nil
}

// copyPart copies the rows and columns that both have, which may share memory.
func (l *lowerer) copyPart(c *ast.CallExpr, to, from expr) {
	old := ref(l.define("old", matrixType, makeMatrix(dims(from, false))))
	l.use(c, l.model("DenseCopy"), old, from)
	l.use(c, l.model("DenseCopyPart"), to, old)
}

// lineOf copies row i of op(m) to a vector, or to one that it makes.
func (l *lowerer) lineOf(name string, m expr, trans bool, i, to expr) expr {
	_, n := dims(m, trans)
	switch {
	case to == nil:
		to = ref(l.define(name, types.NewSlice(float), makeVector(n)))
	case root(to).unmade: // it may be nil, as in the first iteration of a loop
		first := &binary{token.EQL, length(to), integerLit(0), boolean}
		to = ref(l.define(name, types.NewSlice(float), to))
		l.emit(&branch{cond: first, then: []stmt{&assignment{l: to, op: token.ASSIGN, r: makeVector(n)}}})
	}
	l.over(n, func(k expr) {
		e := entry(m, i, k)
		if trans {
			e = entry(m, k, i)
		}
		l.assign(&element{to, k, float}, e)
	})
	return to
}

// copyOf returns a copy of a vector or a matrix.
func (l *lowerer) copyOf(c *ast.CallExpr, e ast.Expr) expr {
	if x := l.sized(e, l.expr(e)); isVector(x.typeOf()) {
		x = l.header("x", x)
		to := ref(l.define("copied", x.typeOf(), makeVector(length(x))))
		l.use(c, l.model("VecCopyVec"), to, x)
		return to
	}
	m, trans := l.matrix(e)
	to := ref(l.define("copied", matrixType, makeMatrix(dims(m, trans))))
	name := "DenseCopy"
	if trans {
		name = "DenseTranspose"
	}
	l.use(c, l.model(name), to, m)
	return to
}

// method reads a method of a vector or a matrix.
func (l *lowerer) method(c *ast.CallExpr, f *types.Func) []expr {
	at := ast.Unparen(c.Fun).(*ast.SelectorExpr).X
	if gonumType(f.Signature().Recv().Type()) == "Cholesky" {
		return l.cholesky(c, f, at)
	}
	switch f.Name() {
	case "Len", "Dims", "At", "AtVec", "T", "TTri", "TVec", "RawRowView", "RowView", "RawMatrix", "RawVector", "Slice", "SymmetricDim", "Trace", "Norm":
		return l.inspect(c, f, at)
	}
	if f.Name() == "IsEmpty" {
		return []expr{l.isEmpty(at)}
	}
	if isCopy(l.named(at)) {
		l.refuse(at, "%s may not change here: make it a variable of the function's own", types.ExprString(at))
	}
	if isHalf(f.Signature().Recv().Type()) {
		return l.half(c, f, at)
	}
	arg := func(k int) expr { return l.expr(c.Args[k]) }
	none := []expr{}
	if vector := gonumType(f.Signature().Recv().Type()) == "VecDense"; vector {
		switch name := f.Name(); name {
		case "SetVec":
			l.assign(&element{l.sized(at, l.expr(at)), l.temporary("i", arg(0)), float}, l.converted(arg(1), float))
			return none
		case "MulVec":
			l.multiply(c, at, c.Args[0], c.Args[1])
			return none
		case "SolveVec":
			return l.solve(c, at)
		case "AddVec", "SubVec", "MulElemVec", "DivElemVec":
			x, y := l.vector(c.Args[0]), l.vector(c.Args[1])
			l.use(c, l.model("Vec"+name), l.receiver(at, makeVector(length(x))), x, y)
			return none
		case "AddScaledVec":
			x, a, y := l.vector(c.Args[0]), arg(1), l.vector(c.Args[2])
			l.use(c, l.model("Vec"+name), l.receiver(at, makeVector(length(x))), x, a, y)
			return none
		case "ScaleVec":
			a, x := arg(0), l.vector(c.Args[1])
			l.use(c, l.model("Vec"+name), l.receiver(at, makeVector(length(x))), a, x)
			return none
		case "CopyVec", "CloneFromVec":
			x := l.vector(c.Args[0])
			_, empty := l.expr(at).(*unsized)
			to := l.receiver(at, makeVector(length(x)))
			if empty {
				l.use(c, l.model("VecCopyVec"), to, x)
			} else {
				l.copied(to, x)
			}
			return none
		case "Zero":
			l.use(c, l.model("VecZero"), l.vector(at))
			return none
		}
		l.refuse(c, "%s is not differentiated: AddScaledVec, AddVec, At, AtVec, CopyVec, Dims, DivElemVec, Len, MulElemVec, MulVec, Norm, RawVector, ScaleVec, SetVec, SolveVec, SubVec, T and Zero are", types.ExprString(c.Fun))
	}
	switch name := f.Name(); name {
	case "Set":
		m := l.sized(at, l.expr(at))
		i, j := l.temporary("i", arg(0)), l.temporary("j", arg(1))
		l.assign(entry(l.header("m", m), i, j), l.converted(arg(2), float))
		return none
	case "Mul":
		l.multiply(c, at, c.Args[0], c.Args[1])
		return none
	case "Product":
		l.chained(c, at)
		return none
	case "Stack", "Augment":
		x, y := l.plainMatrix(c, c.Args[0]), l.plainMatrix(c, c.Args[1])
		rows, cols := dims(x, false)
		moreRows, moreCols := dims(y, false)
		if name == "Stack" {
			rows = &binary{token.ADD, rows, moreRows, integer}
		} else {
			cols = &binary{token.ADD, cols, moreCols, integer}
		}
		_, empty := l.expr(at).(*unsized)
		to := l.receiver(at, makeMatrix(rows, cols))
		if empty {
			l.use(c, l.model("Dense"+name), to, x, y)
			return none
		}
		l.use(c, l.model("Same"), to, rows, cols)
		top, left := dims(x, false)
		rest := []expr{top, rows, integerLit(0), cols}
		if name == "Augment" {
			rest = []expr{integerLit(0), rows, left, cols}
		}
		l.copyPart(c, to, x) // gonum does so one after the other
		l.copyPart(c, l.header("rest", &view{"num.Submatrix", to, rest, matrixType}), y)
		return none
	case "Solve", "Inverse":
		return l.solve(c, at)
	case "Add", "Sub", "MulElem", "DivElem":
		x, y := l.plainMatrix(c, c.Args[0]), l.plainMatrix(c, c.Args[1])
		l.use(c, l.model("Dense"+name), l.receiver(at, makeMatrix(dims(x, false))), x, y)
		return none
	case "Scale":
		a, x := arg(0), l.plainMatrix(c, c.Args[1])
		l.use(c, l.model("DenseScale"), l.receiver(at, makeMatrix(dims(x, false))), a, x)
		return none
	case "Apply":
		if l.functionValue(nil, c.Args[0]) == nil {
			l.refuse(c, "write a function literal here")
		}
		x := l.plainMatrix(c, c.Args[1])
		l.use(c, l.model("DenseApply"), l.receiver(at, makeMatrix(dims(x, false))), c.Args[0], x)
		return none
	case "Outer":
		a, x, y := arg(0), l.vector(c.Args[1]), l.vector(c.Args[2])
		l.use(c, l.model("DenseOuter"), l.receiver(at, makeMatrix(length(x), length(y))), a, x, y)
		return none
	case "CloneFrom":
		x := l.plainMatrix(c, c.Args[0])
		l.use(c, l.model("DenseCopy"), l.receiver(at, makeMatrix(dims(x, false))), x)
		return none
	case "Copy":
		x := l.plainMatrix(c, c.Args[0])
		m, _ := l.matrix(at)
		l.copyPart(c, m, x)
		rows, cols := dims(m, false)
		ofRows, ofCols := dims(x, false)
		return []expr{&call{"min", "", []expr{rows, ofRows}, integer}, &call{"min", "", []expr{cols, ofCols}, integer}}
	case "ColView":
		l.refuse(c, "use a column as an argument of package mat, or by its methods, or copy it by mat.Col")
	case "SetRow", "SetCol":
		m, _ := l.matrix(at)
		l.use(c, l.model("Dense"+name), m, arg(0), l.vector(c.Args[1]))
		return none
	case "Zero":
		m, _ := l.matrix(at)
		l.use(c, l.model("DenseZero"), m)
		return none
	}
	l.refuse(c, "%s is not differentiated: Add, Apply, At, Augment, CloneFrom, ColView, Copy, Dims, DivElem, Inverse, Mul, MulElem, Norm, Outer, Product, RawMatrix, RawRowView, RowView, Scale, Set, SetCol, SetRow, Slice, Solve, Stack, Sub, T, Trace and Zero are", types.ExprString(c.Fun))
	return nil
}

// inspect reads a method that changes nothing.
func (l *lowerer) inspect(c *ast.CallExpr, f *types.Func, at ast.Expr) []expr {
	x := l.memory(at)
	trans := false
	if t, ok := x.(*transposed); ok {
		x, trans = t.x, true
	}
	if !isVector(x.typeOf()) && !isMatrix(x.typeOf()) {
		l.refuse(c, "%s is not differentiated: its body is not in this package", types.ExprString(c.Fun))
	}
	if v, ok := x.(*view); ok && v.fn != "num.Row" {
		if f.Name() == "At" && isCopy(v) { // for each element
			l.refuse(at, "%s is copied here: give it a name of its own", types.ExprString(at))
		}
		x = l.header("m", x)
	}
	arg := func(k int) expr { return l.expr(c.Args[k]) }
	if isVector(x.typeOf()) {
		switch f.Name() {
		case "Len":
			return []expr{length(x)}
		case "AtVec":
			return []expr{&element{l.header("x", x), arg(0), float}}
		case "Dims":
			rows, cols := dims(column(x), trans)
			return []expr{rows, cols}
		case "At":
			i := arg(0)
			if trans {
				i = arg(1)
			}
			return []expr{&element{l.header("x", x), i, float}}
		case "T", "TVec":
			return []expr{&transposed{l.header("x", x)}}
		case "RawVector":
			return []expr{l.header("x", x)}
		case "Norm":
			return l.use(c, l.model("FloatsNorm"+l.norm(c, c.Args[0])), x)
		}
	}
	switch f.Name() {
	case "SymmetricDim":
		rows, _ := dims(x, trans)
		return []expr{rows}
	case "Dims":
		rows, cols := dims(x, trans)
		return []expr{rows, cols}
	case "At":
		i, j := arg(0), arg(1)
		if trans {
			i, j = j, i
		}
		return []expr{entry(l.header("m", x), i, j)}
	case "T", "TTri":
		if trans {
			return []expr{x}
		}
		return []expr{&transposed{l.header("m", x)}}
	case "RawRowView", "RowView":
		if !trans {
			return []expr{row(l.header("m", x), l.temporary("i", arg(0)))}
		}
	case "RawMatrix":
		if !trans {
			return []expr{l.header("m", x)}
		}
	case "Trace":
		return l.use(c, l.model("DenseTrace"), x)
	case "Norm":
		return l.use(c, l.model("DenseNorm"+l.norm(c, c.Args[0])), x)
	case "Slice":
		if !trans {
			return []expr{l.header("m", &view{"num.Submatrix", l.header("m", x), []expr{l.temporary("i", arg(0)), l.temporary("k", arg(1)), l.temporary("j", arg(2)), l.temporary("l", arg(3))}, matrixType})}
		}
	}
	l.refuse(c, "%s is not differentiated", types.ExprString(c.Fun))
	return nil
}

// multiply reads the product of matrices, or of a matrix and a vector.
func (l *lowerer) multiply(c *ast.CallExpr, at, x, y ast.Expr) {
	a, transA := l.matrix(x)
	b, transB := l.matrix(y)
	rows, _ := dims(a, transA)
	_, cols := dims(b, transB)
	makes := makeMatrix(rows, cols)
	vector := isVector(l.expr(at).typeOf())
	if vector {
		makes = makeVector(rows)
	}
	to := l.receiver(at, makes)
	l.apart(c, to, &a, &b)
	if vector {
		to = column(to)
	}
	l.emit(&product{c: to, a: a, transA: transA, b: b, transB: transB})
}

// chained reads Product, whose factors are multiplied from left to right. gonum chooses an order.
func (l *lowerer) chained(c *ast.CallExpr, at ast.Expr) {
	last := len(c.Args) - 1
	if last < 0 {
		l.refuse(c, "write the factors")
	}
	if last == 0 {
		x := l.plainMatrix(c, c.Args[0])
		l.use(c, l.model("DenseCopy"), l.receiver(at, makeMatrix(dims(x, false))), x)
		return
	}
	a, transA := l.matrix(c.Args[0])
	for i := 1; i <= last; i++ {
		b, transB := l.matrix(c.Args[i])
		rows, _ := dims(a, transA)
		_, cols := dims(b, transB)
		var to expr
		if i == last {
			to = l.receiver(at, makeMatrix(rows, cols))
			l.apart(c, to, &a, &b)
		} else {
			to = ref(l.define("product", matrixType, makeMatrix(rows, cols)))
		}
		l.emit(&product{c: to, a: a, transA: transA, b: b, transB: transB})
		a, transA = to, false
	}
}

// functionValue returns what binds a variable to a function, and nil if the argument is none whose body
// or derivative is known.
func (l *lowerer) functionValue(obj types.Object, arg ast.Expr) (bind func()) {
	to := func(f *ast.FuncLit, named types.Object) func() {
		return func() { l.lits[obj], l.alias[obj], l.envs[obj], l.choices[obj] = f, named, nil, nil }
	}
	var id *ast.Ident
	switch a := ast.Unparen(arg).(type) {
	case *ast.FuncLit:
		return to(a, nil)
	case *ast.CallExpr:
		return l.made(obj, a)
	case *ast.CompositeLit:
		if list := l.listed(a); list != nil {
			return func() { l.lists[obj] = list }
		}
	case *ast.Ident:
		if list := l.lists[l.Info.Uses[a]]; list != nil {
			return func() { l.lists[obj] = list }
		}
		id = a
	case *ast.SelectorExpr:
		if f := l.methodValue(a); f != nil {
			return to(f, nil)
		}
		id = a.Sel
	}
	use := l.Info.Uses[id]
	if use == nil {
		return nil
	}
	if c := l.choices[use]; c != nil {
		now := &choice{which: ref(l.define(use.Name(), integer, c.which)), of: c.of}
		return func() { l.know(obj, now) }
	}
	if l.lits[use] != nil || l.alias[use] != nil {
		env := l.envs[use]
		set := to(l.lits[use], l.alias[use])
		return func() {
			set()
			l.envs[obj] = env
		}
	}
	if f, ok := use.(*types.Func); ok && f.Signature().Recv() == nil && f.Signature().TypeParams() == nil {
		return to(nil, f)
	}
	return nil
}

// changesMemory reports whether a function of gonum stores in its arguments or its receiver.
func changesMemory(obj types.Object) bool {
	if obj == nil || obj.Pkg() == nil {
		return false
	}
	switch obj.Pkg().Path() {
	case floatsPath:
		return !slices.Contains([]string{"Dot", "Sum", "Prod", "Max", "Min", "MaxIdx", "MinIdx", "LogSumExp", "Norm", "Distance"}, obj.Name())
	case matPath:
		return !slices.Contains([]string{"At", "AtVec", "Len", "Dims", "T", "TVec", "RawRowView", "RowView", "RawMatrix", "RawVector", "Slice", "Dot", "Sum", "Norm", "Trace", "Inner", "Max", "Min", "NewDense", "NewVecDense", "NewSymDense", "NewTriDense", "NewDiagDense", "SymmetricDim", "TTri", "LogDet", "Det"}, obj.Name())
	}
	return obj.Name() == "Forward" || sorts(obj) // of a kernel
}

// product writes the sweeps of C = A·B. Its adjoint is Ā += C̄·Bᵀ, B̄ += Aᵀ·C̄, C̄ = 0.
func (r *reverser) product(s *product) (forward, back []stmt) {
	k := r.key(s.c)
	r.changes[k] = append(r.changes[k], change{pos: r.pos})
	p := r.newPair(s.c)
	p.whole = true
	forward = []stmt{&save{s.c, p, true}, s}
	back = r.group(func() { r.put(&restore{x: s.c, pair: p, whole: true}) })
	c := r.bar(s.c)
	if c == nil {
		return forward, back
	}
	return forward, append(back, r.group(func() {
		if a := r.bar(s.a); a != nil {
			if s.transA {
				r.put(&product{a, s.b, c, s.transB, true, true})
			} else {
				r.put(&product{a, c, s.b, false, !s.transB, true})
			}
		}
		if b := r.bar(s.b); b != nil {
			if s.transB {
				r.put(&product{b, c, s.a, true, s.transA, true})
			} else {
				r.put(&product{b, s.a, c, !s.transA, false, true})
			}
		}
		if !s.adds {
			r.put(&cleared{c})
		}
	})...)
}

// withoutLastClears leaves out the zeros of cotangents that nothing reads afterwards.
func (r *reverser) withoutLastClears(list []stmt) (out []stmt) {
	for i, s := range list {
		if c, ok := s.(*cleared); ok {
			v := root(c.x)
			used := map[*variable]bool{}
			reading(list[i+1:], used)
			later := v.param
			for u := range used {
				later = later || u.of != nil && r.key(ref(u.of)) == r.key(ref(v.of))
			}
			if !later {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// product puts Ċ = Ȧ·B + A·Ḃ before C = A·B.
func (t *tangenter) product(s *product) {
	d := t.dot(s.c)
	if d == nil {
		t.put(s)
		return
	}
	adds := s.adds
	if a := t.dot(s.a); a != nil {
		t.put(&product{d, a, s.b, s.transA, s.transB, adds})
		adds = true
	}
	if b := t.dot(s.b); b != nil {
		t.put(&product{d, s.a, b, s.transA, s.transB, adds})
		adds = true
	}
	if !adds {
		t.put(&cleared{d})
	}
	t.put(s)
}
