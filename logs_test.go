package revnum_test

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// TestLogs finds functions of packages math and math/cmplx that are wrong for subnormal numbers:
// internal/logs has those that are right. Constants may be their arguments, and revgen replaces
// them in the functions that it reads.
func TestLogs(t *testing.T) {
	wrong := []string{"math.Log", "math.Log10", "math.Pow", "math.Y0", "math.Y1", "math.Yn", "math/cmplx.Log", "math/cmplx.Log10", "math/cmplx.Pow"}
	pkgs, _ := checkedPackages(t, "./...")
	found := 0
	for _, p := range pkgs {
		if strings.Contains(p.path, "/cmd/") {
			continue
		}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					return n.Doc == nil || !slices.ContainsFunc(n.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//revgen:kernel ") })
				case *ast.CallExpr:
					return len(n.Args) == 0 || p.info.Types[n.Args[0]].Value == nil
				case *ast.Ident:
					f, ok := p.info.Uses[n].(*types.Func)
					if !ok || f.Pkg() == nil || !slices.Contains(wrong, f.Pkg().Path()+"."+f.Name()) {
						return true
					}
					if strings.HasSuffix(p.path, "/internal/logs") {
						found++
					} else {
						t.Errorf("%v: %s is wrong for subnormal numbers: call that of internal/logs", p.fset.Position(n.Pos()), f.FullName())
					}
				}
				return true
			})
		}
	}
	if found == 0 {
		t.Error("the functions that internal/logs calls were not found")
	}
}
