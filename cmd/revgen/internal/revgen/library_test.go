package revgen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// A kernel without AdjointTangent, in a package of its own.
const firstOrder = `package first

import "revnum/rev"

type Twice struct {
	Y rev.Vector[float64] ` + "`rev:\"acc\" shape:\"n\"`" + `
	X rev.Vector[float64] ` + "`rev:\"in\" shape:\"n\"`" + `
}

func NewTwice(y, x []float64) Twice { return Twice{rev.ViewSlice(y), rev.ViewSlice(x)} }

func (k Twice) Forward() {}
func (k Twice) Inverse() {}
func (k Twice) Adjoint(g Twice) {}
func (k Twice) Tangent(t Twice) {}
`

const callsFirstOrder = `package p

import "first"

//revgen:kernel Thrice
func thrice(y, x []float64) {
	first.NewTwice(y, x).Forward()
	for i := range y {
		y[i] += x[i]
	}
}
`

// An importerWith finds one more package.
type importerWith struct {
	types.Importer
	more *types.Package
}

func (i importerWith) Import(path string) (*types.Package, error) {
	if path == i.more.Path() {
		return i.more, nil
	}
	return i.Importer.Import(path)
}

// If a function calls a kernel without AdjointTangent, the written kernel has none
// either, and Run says so before it changes anything.
func TestFirstOrderCallee(t *testing.T) {
	fset := token.NewFileSet()
	parse := func(name, text string) *ast.File {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	imports := testImporter(t)
	first, err := (&types.Config{Importer: imports}).Check("first", fset, []*ast.File{parse("first.go", firstOrder)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := parse("p.go", callsFirstOrder)
	out, err := load(fset, []*ast.File{file}, importerWith{imports, first}).written([]*ast.File{file})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out["p_rev.go"])
	if strings.Contains(text, "AdjointTangent(") || strings.Contains(text, "adjointTangent(") {
		t.Error("a pass of second order is written")
	}
	_, run, _ := strings.Cut(text, ") Run(")
	if _, statements, _ := strings.Cut(run, "\n"); !strings.HasPrefix(statements, "\tif p.Adjoint && p.Tangent {\n\t\treturn rev.ErrUnsupported\n") {
		t.Errorf("Run is\n%s", run)
	}
}

// A function over complex128 may call kernels over complex128. The written code
// type-checks.
func TestComplexCallee(t *testing.T) {
	overComplex := strings.NewReplacer("float64", "complex128")
	fset := token.NewFileSet()
	parse := func(name, text string) *ast.File {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	imports := testImporter(t)
	run := "func (k Twice) Run(p rev.Pass[Twice]) error { return nil }\nfunc (k Twice) AdjointTangent(g, t, gt Twice) {}\n"
	first, err := (&types.Config{Importer: imports}).Check("first", fset, []*ast.File{parse("first.go", overComplex.Replace(firstOrder)+run)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := importerWith{imports, first}
	file := parse("p.go", overComplex.Replace(callsFirstOrder))
	out, err := load(fset, []*ast.File{file}, all).written([]*ast.File{file})
	if err != nil {
		t.Fatal(err)
	}
	written := parse("p_rev.go", string(out["p_rev.go"]))
	if _, err := (&types.Config{Importer: all}).Check("p", fset, []*ast.File{file, written}, nil); err != nil {
		t.Error(err)
	}
}

// A callee in place may have no inverse of its adjoint. The written kernel then puts back
// what it changed before, and copies nothing in other passes.
func TestCalleeInPlace(t *testing.T) {
	fset := token.NewFileSet()
	parse := func(name, text string) *ast.File {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	imports := testImporter(t)
	first, err := (&types.Config{Importer: imports}).Check("first", fset, []*ast.File{parse("first.go", strings.ReplaceAll(firstOrder, "acc", "inout"))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := "for i := range y {\n\t\ty[i] += x[i]\n\t}\n"
	file := parse("p.go", strings.Replace(callsFirstOrder, "\tfirst.", "\t"+body+"\tfirst.", 1))
	out, err := load(fset, []*ast.File{file}, importerWith{imports, first}).written([]*ast.File{file})
	if err != nil {
		t.Fatal(err)
	}
	passes := 0
	for _, text := range strings.Split(string(out["p_rev.go"]), "\nfunc (k Thrice) ") {
		name, _, _ := strings.Cut(text, "(")
		if restores := strings.Contains(text, "was.Restore()"); restores != (name == "undoAdjoint") {
			t.Errorf("%s restores: %v", name, restores)
		}
		passes++
	}
	if passes < 10 {
		t.Errorf("%d methods are written", passes)
	}
}
