package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// logs finds functions of packages math and math/cmplx that are wrong for subnormal numbers. The
// package internal/logs has those that are right. Constants may be their arguments, and revgen
// replaces them in the functions that it reads.
var logs = &analysis.Analyzer{
	Name: "logs",
	Doc:  "finds logarithms and powers that are wrong for subnormal numbers",
	Run:  runLogs,
}

var wrongLogs = []string{"math.Log", "math.Log10", "math.Pow", "math.Y0", "math.Y1", "math.Yn", "math/cmplx.Log", "math/cmplx.Log10", "math/cmplx.Pow"}

func runLogs(pass *analysis.Pass) (any, error) {
	if !own(pass) || strings.HasSuffix(pass.Pkg.Path(), "/internal/logs") {
		return nil, nil
	}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return n.Doc == nil || !slices.ContainsFunc(n.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//revgen:kernel ") })
			case *ast.CallExpr:
				return len(n.Args) == 0 || pass.TypesInfo.Types[n.Args[0]].Value == nil
			case *ast.Ident:
				if f, ok := pass.TypesInfo.Uses[n].(*types.Func); ok && f.Pkg() != nil && slices.Contains(wrongLogs, f.Pkg().Path()+"."+f.Name()) {
					pass.Reportf(n.Pos(), "%s is wrong for subnormal numbers: call that of internal/logs", f.FullName())
				}
			}
			return true
		})
	}
	return nil, nil
}

// own reports whether a package is not of the standard library.
func own(pass *analysis.Pass) bool { return pass.Module != nil && pass.Module.Path != "" }
