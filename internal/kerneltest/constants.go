package kerneltest

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Constants checks that the constants of the file of tests that calls it, such as sizes of blocks, are those
// of the same names in the package in the current folder.
func Constants(t *testing.T, file string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			constants(t, name, own)
		}
	}
	tests := map[string]string{}
	constants(t, file, tests)
	if len(tests) == 0 {
		t.Errorf("%s has no constants", file)
	}
	for name, value := range tests {
		if own[name] != value {
			t.Errorf("%s is %s, and the package has %q", name, value, own[name])
		}
	}
}

// constants adds the constants of a file and how they are written.
func constants(t *testing.T, file string, to map[string]string) {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		for _, s := range d.Specs {
			s := s.(*ast.ValueSpec)
			for i, v := range s.Values {
				var b strings.Builder
				if err := printer.Fprint(&b, fset, v); err != nil {
					t.Fatal(err)
				}
				to[s.Names[i].Name] = b.String()
			}
		}
	}
}
