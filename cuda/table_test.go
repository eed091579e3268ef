package cuda

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// A tableRow is the row of a kernel in docs/cuda.md: its package and name on the CPU, and its
// number types.
type tableRow struct{ of, name, numbers string }

// kernelTable reads the table of kernels in docs/cuda.md.
func kernelTable(t *testing.T) map[string]tableRow {
	t.Helper()
	text, err := os.ReadFile("../docs/cuda.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, ok := strings.Cut(string(text), "| kernels | of | number types |\n|---|---|---|\n")
	if !ok {
		t.Fatal("docs/cuda.md has no table of kernels")
	}
	table := map[string]tableRow{}
	for line := range strings.Lines(rows) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			break
		}
		// Kernels with other types follow a semicolon, and a remark follows their name.
		lists, types := strings.Split(cells[1], ";"), strings.Split(cells[3], ";")
		if len(lists) != len(types) {
			t.Fatalf("%s has %d lists of kernels, and %d of number types", line, len(lists), len(types))
		}
		for i, list := range lists {
			for name := range strings.SplitSeq(list, ", ") {
				name, there, renamed := strings.Cut(strings.TrimSpace(name), " (")
				if strings.HasPrefix(name, "of ") { // a remark
					continue
				}
				if there = strings.TrimSuffix(there, " there)"); !renamed {
					there = name
				}
				if _, ok := table[name]; ok {
					t.Errorf("docs/cuda.md has %s twice", name)
				}
				table[name] = tableRow{strings.TrimSpace(cells[2]), there, strings.TrimSuffix(strings.TrimSpace(types[i]), ", as on the CPU")}
			}
		}
	}
	return table
}

// declared returns the exported types of a package, and those of them that have a method Run.
func declared(t *testing.T, dir string) (types map[string]*ast.TypeSpec, kernels map[string]bool) {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no Go files: %v", dir, err)
	}
	types, kernels = map[string]*ast.TypeSpec{}, map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
						types[s.Name.Name] = s
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "Run" && name != "stream.go" { // OnStream is a pair of both
					of := d.Recv.List[0].Type
					switch generic := of.(type) {
					case *ast.IndexExpr:
						of = generic.X
					case *ast.IndexListExpr:
						of = generic.X
					}
					if name, ok := of.(*ast.Ident); ok {
						kernels[name.Name] = true
					}
				}
			}
		}
	}
	return types, kernels
}

// numbersOf returns the number types for which a kernel can be made.
func numbersOf(s *ast.TypeSpec) string {
	if s.TypeParams == nil { // the types of fields
		for _, f := range s.Type.(*ast.StructType).Fields.List {
			if v, ok := f.Type.(*ast.IndexExpr); ok {
				if of, ok := v.Index.(*ast.Ident); ok && of.Name == "complex128" {
					return of.Name
				}
			}
		}
		return "Q43"
	}
	switch s.TypeParams.List[0].Type.(*ast.SelectorExpr).Sel.Name {
	case "Real":
		return "float64, float32, Q43"
	case "Float":
		return "float64, float32"
	}
	return "other types"
}

// TestTable compares the table of docs/cuda.md with the kernels that are here, with the number types
// that their declarations allow, and with the packages that their equations are of.
func TestTable(t *testing.T) {
	table := kernelTable(t)
	types, kernels := declared(t, ".")
	for name := range kernels {
		row, ok := table[name]
		if !ok {
			t.Errorf("docs/cuda.md lacks %s", name)
			continue
		}
		if got := numbersOf(types[name]); got != row.numbers {
			t.Errorf("docs/cuda.md has %s over %s, but it is over %s", name, row.numbers, got)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if !kernels[name] {
			t.Errorf("docs/cuda.md has %s, which is no kernel", name)
		}
		if _, onCPU := declared(t, path.Join("..", table[name].of)); !onCPU[table[name].name] {
			t.Errorf("docs/cuda.md has %s of %s, which has no kernel %s", name, table[name].of, table[name].name)
		}
	}
}
