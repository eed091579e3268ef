package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// raw finds constants that mean something else over fixed.Q43 than over floats. In code that is
// generic over both, 1 is 2⁻⁴³ over fixed.Q43. Zero is the same over all numbers, and an integer may
// multiply or divide. Write fixed.Of[T](1) elsewhere, or say with a comment that begins with "raw"
// why the bits are meant, such as for a sign.
var raw = &analysis.Analyzer{
	Name: "raw",
	Doc:  "finds constants that mean something else over fixed.Q43",
	Run:  runRaw,
}

func runRaw(pass *analysis.Pass) (any, error) {
	if !own(pass) {
		return nil, nil
	}
	info := pass.TypesInfo
	for _, file := range pass.Files {
		meant := map[int]bool{} // the lines with a comment that says so
		for _, group := range file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "// raw") {
					meant[pass.Fset.Position(c.Pos()).Line] = true
				}
			}
		}
		report := func(e ast.Expr, v constant.Value) {
			if !meant[pass.Fset.Position(e.Pos()).Line] {
				pass.Reportf(e.Pos(), "%s is raw bits over fixed.Q43: write fixed.Of[T](%v), or end the line with // raw: and the reason", types.ExprString(e), v)
			}
		}
		factors := map[ast.Expr]bool{} // what multiplies or divides
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.MUL || n.Op == token.QUO {
					factors[ast.Unparen(n.X)], factors[ast.Unparen(n.Y)] = true, true
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN || n.Tok == token.QUO_ASSIGN {
					factors[ast.Unparen(n.Rhs[0])] = true
				}
			case *ast.CallExpr: // T(1)
				if len(n.Args) == 1 && overFixed(info.TypeOf(n)) && info.Types[n.Fun].IsType() {
					if v := info.Types[n.Args[0]].Value; v != nil && !isZero(v) && !factors[n] {
						report(n, v)
					}
					return false
				}
			case ast.Expr:
				v := info.Types[n].Value
				if v == nil {
					return true
				}
				if overFixed(info.TypeOf(n)) && !isZero(v) && (!factors[n] || v.Kind() != constant.Int) {
					report(n, v)
				}
				return false
			}
			return true
		})
	}
	return nil, nil
}

func isZero(v constant.Value) bool { return constant.Sign(constant.Real(v)) == 0 }

// overFixed reports whether t is a type parameter that fixed.Q43 may stand for.
func overFixed(t types.Type) bool {
	p, ok := t.(*types.TypeParam)
	if !ok {
		return false
	}
	return hasFixed(p.Constraint().Underlying())
}

func hasFixed(t types.Type) bool {
	switch t := t.(type) {
	case *types.Interface:
		for i := range t.NumEmbeddeds() {
			if hasFixed(t.EmbeddedType(i)) {
				return true
			}
		}
	case *types.Union:
		for i := range t.Len() {
			if hasFixed(t.Term(i).Type()) {
				return true
			}
		}
	case *types.Named:
		if _, ok := t.Underlying().(*types.Interface); ok {
			return hasFixed(t.Underlying())
		}
		return strings.HasSuffix(t.String(), "fixed.Q43")
	}
	return false
}
