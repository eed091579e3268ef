package catalog_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/rules/internal/catalog"
)

// TestAllKernelsListed reads the sources for kernels, the exported structs with
// operands, and for the types that each is declared for, and compares them
// with the claims.
func TestAllKernelsListed(t *testing.T) {
	got := make(map[string]bool)
	for _, k := range slices.Concat(catalog.OverNumbers, catalog.OverLogs) {
		for _, i := range k.Over {
			name := k.Name() + " " + i.Elem().String()
			if got[name] {
				t.Errorf("%s is listed twice", name)
			}
			got[name] = true
		}
	}
	want := make(map[string]bool)
	var dirs []string
	for _, pattern := range []string{"/revlinalg", "/revnn", "/revlog", "/revmath", "/revtropical", "/revsparse", "/revmodels/*"} {
		found, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, found...)
	}
	if len(dirs) < 2 {
		t.Fatalf("the packages of kernels are not where they were: %q", dirs)
	}
	for _, dir := range dirs {
		declaredIn(t, dir, want)
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if !got[k] {
			t.Errorf("%s is declared, but not listed: add it to list.go, and run go test ./rules/internal/catalog ./rules -update", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if !want[k] {
			t.Errorf("%s is listed, but not declared", k)
		}
	}
}

// declaredIn adds the kernels of a package to found, each with the types of its
// elements.
func declaredIn(t *testing.T, dir string, found map[string]bool) {
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	pkg, _ := filepath.Rel(root, dir)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			decl, ok := n.(*ast.TypeSpec)
			if !ok || !decl.Name.IsExported() {
				return true
			}
			elem, ok := operandType(decl)
			if !ok {
				return true
			}
			types := map[string][]string{
				"rev.Real": {"float32", "float64", "fixed.Q43"}, "rev.Float": {"float32", "float64"}, "rev.Number": {"float32", "float64", "fixed.Q43", "complex128"}, "Scalar": {"float32", "float64", "fixed.Q43", "complex128"}, "fixed.Q43": {"fixed.Q43"}, "float64": {"float64"}, "complex128": {"complex128"},
			}[elem]
			if types == nil {
				t.Errorf("%s.%s has operands of type %s, which this test does not know", pkg, decl.Name, elem)
			}
			for _, typ := range types {
				found[filepath.ToSlash(pkg)+"."+decl.Name.Name+" "+typ] = true
			}
			return true
		})
	}
}

// operandType returns the constraint of the elements of a kernel, or their type
// if it has no type parameter, as Elem does, and whether the type is a kernel at all.
func operandType(decl *ast.TypeSpec) (elem string, ok bool) {
	s, isStruct := decl.Type.(*ast.StructType)
	if !isStruct {
		return "", false
	}
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		role, tagged := reflect.StructTag(tag).Lookup("rev")
		if err != nil || !tagged || role == "index" {
			continue
		}
		if decl.TypeParams != nil {
			return selector(decl.TypeParams.List[0].Type), true
		}
		typ := f.Type
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.ArrayType:
			typ = x.Elt
		case *ast.IndexExpr:
			typ = x.Index
		}
		if e := selector(typ); elem == "" || e == "complex128" {
			elem = e
		}
	}
	return elem, elem != ""
}

func selector(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.SelectorExpr:
		return selector(x.X) + "." + x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return fmt.Sprintf("%T", e)
}
