package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// fused finds products that a compiler may fuse with a sum, so that they are not rounded. On arm64,
// and on other machines, Go computes x*y + z with one rounding. The inverse of such a kernel may then
// not restore its state, and results differ from those of amd64. Write T(x*y) + z, or
// math.FMA(x, y, z).
//
// Go fuses across statements and inlined calls too. Products are therefore, beside a*b itself: what
// holds one, in the same function; what a function returns that returns one. A product is fused in a
// sum, and in a call of a function that adds its parameter.
var fused = &analysis.Analyzer{
	Name:      "fused",
	Doc:       "finds products that are added without a conversion, which some machines do not round",
	Run:       runFused,
	FactTypes: []analysis.Fact{new(function)},
}

// A function is what callers must know of a function.
type function struct {
	Product bool  // it returns a product
	Adds    []int // parameters that it adds to something
}

func (*function) AFact() {}

type checker struct {
	*analysis.Pass
	decl      *ast.FuncDecl             // the function
	holds     map[string]bool           // its expressions that hold a product
	params    map[types.Object]int      // of the function
	facts     map[types.Object]function // of functions, and of variables that hold them
	fact      *function
	results   map[types.Object][]ast.Expr // products that functions return
	returned  []ast.Expr
	fixed     map[token.Pos]bool
	reporting bool
}

func runFused(pass *analysis.Pass) (any, error) {
	if !own(pass) {
		return nil, nil
	}
	c := &checker{Pass: pass, facts: map[types.Object]function{}, results: map[types.Object][]ast.Expr{}, fixed: map[token.Pos]bool{}}
	// Until nothing is new: a function may return what another one returns.
	for changed := true; changed; {
		changed = false
		c.functions(func(object types.Object, fact function) {
			if old := c.facts[object]; old.Product != fact.Product || !slices.Equal(old.Adds, fact.Adds) {
				c.facts[object] = fact
				changed = true
			}
			if fact.Product {
				c.results[object] = c.returned
			}
		})
	}
	for object, fact := range c.facts {
		if f, ok := object.(*types.Func); ok && (fact.Product || fact.Adds != nil) {
			pass.ExportObjectFact(f, &fact)
		}
	}
	c.reporting = true
	c.functions(func(types.Object, function) {})
	return nil, nil
}

// functions looks at each function.
func (c *checker) functions(f func(types.Object, function)) {
	for _, file := range c.Files {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			c.decl, c.holds = fn, map[string]bool{}
			for n := -1; n < len(c.holds); { // a variable may hold what another one holds
				n = len(c.holds)
				ast.Inspect(fn.Body, c.assignments)
			}
			fact := c.body(fn.Type, fn.Body)
			f(c.TypesInfo.Defs[fn.Name], fact)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
					for i, r := range a.Rhs {
						lit, ok := r.(*ast.FuncLit)
						id, named := a.Lhs[i].(*ast.Ident)
						if ok && named && c.TypesInfo.Defs[id] != nil {
							f(c.TypesInfo.Defs[id], c.body(lit.Type, lit.Body))
						}
					}
				}
				return true
			})
		}
	}
}

// body looks at the sums in a function. Those in function literals in it count for the
// reports, but not for what callers must know.
func (c *checker) body(typ *ast.FuncType, body *ast.BlockStmt) function {
	var fact function
	c.returned = nil
	c.fact, c.params = &fact, map[types.Object]int{}
	n := 0
	for _, field := range typ.Params.List {
		for _, name := range field.Names {
			c.params[c.TypesInfo.Defs[name]] = n
			n++
		}
		if field.Names == nil {
			n++
		}
	}
	depth := 0
	var stack []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			if _, ok := stack[len(stack)-1].(*ast.FuncLit); ok {
				depth--
			}
			stack = stack[:len(stack)-1]
			return false
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.FuncLit:
			depth++
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				if depth == 0 && len(n.Results) == 1 && c.product(e) {
					fact.Product = true
					c.returned = append(c.returned, e)
				}
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD || n.Op == token.SUB {
				c.added(n.X)
				c.added(n.Y)
			}
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
				c.added(n.Lhs[0])
				c.added(n.Rhs[0])
			}
		case *ast.CallExpr:
			callee := c.callee(n)
			for i, e := range n.Args {
				if slices.Contains(callee.Adds, i) {
					c.added(e)
				}
			}
		}
		return true
	})
	slices.Sort(fact.Adds)
	fact.Adds = slices.Compact(fact.Adds)
	return fact
}

// assignments finds what holds products.
func (c *checker) assignments(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			if n.Tok == token.MUL_ASSIGN && c.float(l) || len(n.Lhs) == len(n.Rhs) && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) && c.product(n.Rhs[i]) {
				c.holds[types.ExprString(l)] = true
			}
		}
	case *ast.ValueSpec:
		for i, e := range n.Values {
			if len(n.Names) == len(n.Values) && c.product(e) {
				c.holds[n.Names[i].Name] = true
			}
		}
	}
	return true
}

// added reports a product that is added.
func (c *checker) added(e ast.Expr) {
	e = unsigned(e)
	if id, ok := e.(*ast.Ident); ok && c.float(e) {
		if i, ok := c.params[c.TypesInfo.Uses[id]]; ok {
			c.fact.Adds = append(c.fact.Adds, i)
		}
	}
	if c.reporting && c.product(e) {
		c.Report(analysis.Diagnostic{
			Pos: e.Pos(), End: e.End(),
			Message:        types.ExprString(e) + " may be fused with the sum: convert it, or use math.FMA",
			SuggestedFixes: []analysis.SuggestedFix{{Message: "convert it", TextEdits: c.convert(e)}},
		})
	}
}

// convert returns the edits that round the product e, where it is computed.
func (c *checker) convert(e ast.Expr) (edits []analysis.TextEdit) {
	e = unsigned(e)
	if call, ok := e.(*ast.CallExpr); ok {
		if results := c.results[c.object(call)]; results != nil {
			for _, r := range results {
				edits = append(edits, c.convert(r)...)
			}
			return edits
		}
	}
	switch e.(type) {
	case *ast.BinaryExpr, *ast.CallExpr:
		if c.fixed[e.Pos()] {
			return nil
		}
		c.fixed[e.Pos()] = true
		name := types.TypeString(c.TypesInfo.Types[e].Type, types.RelativeTo(c.Pkg))
		return []analysis.TextEdit{
			{Pos: e.Pos(), End: e.Pos(), NewText: []byte(name + "(")},
			{Pos: e.End(), End: e.End(), NewText: []byte(")")},
		}
	}
	key := types.ExprString(e)
	ast.Inspect(c.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				switch {
				case types.ExprString(l) != key || c.fixed[n.Pos()+token.Pos(i)]:
				case n.Tok == token.MUL_ASSIGN:
					c.fixed[n.Pos()] = true
					name := types.TypeString(c.TypesInfo.Types[l].Type, types.RelativeTo(c.Pkg))
					text := "= " + name + "(" + key + " * "
					edits = append(edits, analysis.TextEdit{Pos: n.TokPos, End: n.Rhs[0].Pos(), NewText: []byte(text)},
						analysis.TextEdit{Pos: n.End(), End: n.End(), NewText: []byte(")")})
				case len(n.Lhs) == len(n.Rhs) && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) && c.product(n.Rhs[i]):
					c.fixed[n.Pos()+token.Pos(i)] = true
					edits = append(edits, c.convert(n.Rhs[i])...)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Names) == len(n.Values) && name.Name == key && c.product(n.Values[i]) {
					edits = append(edits, c.convert(n.Values[i])...)
				}
			}
		}
		return true
	})
	return edits
}

// product reports whether e is a product that is not rounded yet.
func (c *checker) product(e ast.Expr) bool {
	e = unsigned(e)
	if !c.float(e) {
		return false
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.MUL && !c.exact(e.X) && !c.exact(e.Y)
	case *ast.CallExpr:
		return c.callee(e).Product
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return c.holds[types.ExprString(e)]
	}
	return false
}

// exact reports whether e is a constant power of two that is not below 1: products with it are
// exact, unless they overflow.
func (c *checker) exact(e ast.Expr) bool {
	v := c.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.Int && v.Kind() != constant.Float {
		return false
	}
	f, _ := constant.Float64Val(v)
	fraction, _ := math.Frexp(f)
	return math.Abs(fraction) == 0.5 && math.Abs(f) >= 1
}

// callee returns what is known of the function that is called.
func (c *checker) callee(call *ast.CallExpr) function {
	object := c.object(call)
	f, ok := object.(*types.Func)
	if !ok {
		return c.facts[object]
	}
	if fact, ok := c.facts[f]; ok {
		return fact
	}
	var fact function
	c.ImportObjectFact(f, &fact)
	return fact
}

// object returns the function that is called, or the variable that holds it.
func (c *checker) object(call *ast.CallExpr) types.Object {
	fun := ast.Unparen(call.Fun)
	switch index := fun.(type) {
	case *ast.IndexExpr:
		fun = index.X
	case *ast.IndexListExpr:
		fun = index.X
	}
	var object types.Object
	switch fun := fun.(type) {
	case *ast.Ident:
		object = c.TypesInfo.Uses[fun]
	case *ast.SelectorExpr:
		object = c.TypesInfo.Uses[fun.Sel]
	}
	if f, ok := object.(*types.Func); ok {
		return f.Origin()
	}
	return object
}

// float reports whether e is not constant, and a floating-point or complex number, or of a type
// parameter that allows one.
func (c *checker) float(e ast.Expr) bool {
	t := c.TypesInfo.Types[e]
	if id, ok := e.(*ast.Ident); ok && t.Type == nil {
		if object := c.TypesInfo.ObjectOf(id); object != nil {
			t.Type = object.Type()
		}
	}
	return t.Type != nil && t.Value == nil && floats(t.Type)
}

func floats(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsFloat|types.IsComplex) != 0
	case *types.Interface:
		if _, ok := types.Unalias(t).(*types.TypeParam); !ok {
			return false
		}
		return anyTerm(u)
	}
	return false
}

// anyTerm reports whether a constraint allows floats.
func anyTerm(constraint *types.Interface) bool {
	for e := range constraint.EmbeddedTypes() {
		switch e := types.Unalias(e).(type) {
		case *types.Union:
			for term := range e.Terms() {
				if floats(term.Type()) {
					return true
				}
				if i, ok := term.Type().Underlying().(*types.Interface); ok && anyTerm(i) {
					return true
				}
			}
		default:
			if i, ok := e.Underlying().(*types.Interface); ok && anyTerm(i) || floats(e) {
				return true
			}
		}
	}
	return false
}

// unsigned returns e without parentheses and signs.
func unsigned(e ast.Expr) ast.Expr {
	for {
		switch u := e.(type) {
		case *ast.ParenExpr:
			e = u.X
			continue
		case *ast.UnaryExpr:
			if u.Op == token.SUB || u.Op == token.ADD {
				e = u.X
				continue
			}
		}
		return e
	}
}
