package revnum_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestConstants finds constants that mean something else over fixed.Q43 than over floats. In
// code that is generic over both, 1 is 2⁻⁴³ over fixed.Q43. Zero is the same over all numbers,
// and an integer may multiply or divide. Write fixed.Of[T](1) elsewhere, or say with a comment
// that begins with "raw" why the bits are meant, such as for a sign.
func TestConstants(t *testing.T) {
	pkgs, imports := checkedPackages(t, "./rev/...", "./revlinalg", "./revnn", "./revlog", "./revmath", "./revsparse", "./revtropical", "./revmodels/...", "./optim", "./internal/...")
	generic := 0
	for _, p := range pkgs {
		for _, v := range p.info.Types {
			if overFixed(v.Type) {
				generic++
			}
		}
		for _, at := range rawConstants(p.fset, p.info, p.files) {
			t.Error(at)
		}
	}
	if generic < 1000 {
		t.Errorf("only %d generic expressions were found", generic)
	}

	// It finds the four that are marked with a comment, and no other.
	fset := token.NewFileSet()
	source, err := parser.ParseFile(fset, "source.go", `package source

import "revnum/fixed"

type pair[T float64 | fixed.Q43] struct{ a, b T }

func f[T float64 | fixed.Q43](x T) T {
	y := pair[T]{a: 1, b: 0} // found
	if x > 2 || x < 0 {      // found
		return 2*x - x/4
	}
	z := T(1) // found
	z *= 3
	x += 1 // found
	z = 1  // raw: meant
	return T(2)*y.a + x*z
}
`, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	files := []*ast.File{source}
	if _, err := (&types.Config{Importer: imports}).Check("source", fset, files, info); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, place := range rawConstants(fset, info, files) {
		lines = append(lines, strings.Split(place, ":")[1])
	}
	if got := strings.Join(lines, " "); got != "8 9 12 14" {
		t.Errorf("constants are found in the lines %s, want 8 9 12 14", got)
	}
}

// A checkedPackage is a package of the module that has been type-checked, without its tests.
type checkedPackage struct {
	path  string
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// checkedPackages returns the packages that the patterns name, and an importer of them and of all
// that they import.
func checkedPackages(t *testing.T, patterns ...string) (pkgs []checkedPackage, imports types.Importer) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	var list []listed
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			list = append(list, p)
		}
	}
	fset := token.NewFileSet()
	imports = importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range list {
		c := checkedPackage{path: p.ImportPath, fset: fset, info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			c.files = append(c.files, f)
		}
		if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, c.files, c.info); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, c)
	}
	return pkgs, imports
}

// rawConstants returns the places of such constants.
func rawConstants(fset *token.FileSet, info *types.Info, files []*ast.File) (places []string) {
	for _, file := range files {
		meant := map[int]bool{} // the lines with a comment that says so
		for _, group := range file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "// raw") {
					meant[fset.Position(c.Pos()).Line] = true
				}
			}
		}
		report := func(e ast.Expr, v constant.Value) {
			if at := fset.Position(e.Pos()); !meant[at.Line] {
				places = append(places, fmt.Sprintf("%v: %s is raw bits over fixed.Q43: write fixed.Of[T](%v), or end the line with // raw: and the reason", at, types.ExprString(e), v))
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
	return places
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
