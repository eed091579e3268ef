package revgen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"revnum/cmd/revgen/internal/gradient"
)

// part returns the files of a package without some tests, and without the functions that no other test needs. To
// compile those takes long.
//
// A function is needed if anything that is left has its name in it, of whatever it may be the name. Methods that are
// not written are needed, as interfaces may have them.
func part(t *testing.T, dir string, tests ...string) map[string]string {
	t.Helper()
	files, fset := folder(t, dir), token.NewFileSet()
	parsed := map[string]*ast.File{}
	for name, text := range files {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = f
	}
	names := func(n ast.Node, found func(name string)) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				found(id.Name)
			}
			return true
		})
	}
	functions, needed := map[string][]*ast.FuncDecl{}, map[string]bool{}
	var need func(name string)
	need = func(name string) {
		if !needed[name] {
			needed[name] = true
			for _, f := range functions[name] {
				names(f, need)
			}
		}
	}
	var roots []ast.Node
	for name, f := range parsed {
		written := strings.HasSuffix(name, gradient.Suffix)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				functions[d.Name.Name] = append(functions[d.Name.Name], d)
				if d.Recv != nil && !written || d.Name.Name == "init" || strings.HasPrefix(d.Name.Name, "Test") && !slices.Contains(tests, d.Name.Name) {
					roots = append(roots, d)
				}
			case *ast.GenDecl:
				if d.Tok != token.IMPORT {
					roots = append(roots, d)
				}
			}
		}
	}
	for _, r := range roots {
		names(r, need)
	}
	version := regexp.MustCompile(`^v\d+$`)
	left := map[string]string{}
	for name, f := range parsed {
		text, from := "", f.FileStart
		replace := func(n ast.Node, by string) {
			text += files[name][from-f.FileStart:n.Pos()-f.FileStart] + by
			from = n.End()
		}
		used := map[string]bool{}
		var imports []*ast.ImportSpec
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && !needed[d.Name.Name] {
				continue
			}
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
				for _, s := range d.Specs {
					imports = append(imports, s.(*ast.ImportSpec))
				}
				continue
			}
			names(d, func(name string) { used[name] = true })
		}
		for _, i := range imports {
			at := strings.Trim(i.Path.Value, `"`)
			if version.MatchString(path.Base(at)) {
				at = path.Dir(at)
			}
			if i.Name == nil && !used[path.Base(at)] || i.Name != nil && !used[i.Name.Name] {
				replace(i, "_ "+i.Path.Value)
			}
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && !needed[d.Name.Name] {
				replace(d, "")
			}
		}
		left[name] = text + files[name][from-f.FileStart:]
	}
	return left
}
