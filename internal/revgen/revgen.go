// Package revgen reads functions of a reversible subset of Go and writes kernels.
// Command cmd/revgen is its face; docs/revgen.md says what functions may contain.
//
// A function becomes a small program (ir.go), from which the others follow by
// transformations:
//
//	inverse(F)   statements that change operands, in the opposite order
//	adjoint(F)   inverse(F), with what each statement does to cotangents
//	tangent(P)   P, with the tangent of each statement beside it
//	undone(F)    F, with what takes back the cotangents of each statement
//
// Adjoint is adjoint(F), Tangent is tangent(F) and AdjointTangent is
// tangent(adjoint(F)). For kernels in place undone(F) undoes adjoint(F), and its
// tangent that of adjoint(F). A kernel that accumulates needs no inverse(F): its
// passes multiply what they add to outputs by the sign of the pass.
//
//	read.go      functions and statements to a program
//	locals.go    variables, arrays and structs
//	blocks.go    branches and loops
//	expr.go      operands, expressions, and calls, which are inlined
//	exact.go     sums of products over fixed point
//	library.go   calls of kernels
//	workers.go   loops that run on several workers
//	check.go     what has no inverse, and why
//	order.go     what iterations of a loop change behind other ones that read it
//	shape.go     shape tags, from conditions and loops
//	reverse.go   inverse and adjoint
//	undo.go      what undoes the adjoint
//	tape.go      what a loop that carries locals keeps for the way back
//	forward.go   loops whose derivatives go along with the values
//	tangent.go   tangent
//	complex.go   complex numbers
//	rules.go     the derivatives of the functions of package math
//	tidy.go      common expressions, locals
//	write.go     a program to Go
//	explain.go   a program as equations, and a picture
package revgen

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Directive begins the comment that asks for a kernel, as in
//
//	//revgen:kernel Axpy[T rev.Real]
const Directive = "//revgen:kernel "

// Suffix is the end of the names of written files.
const Suffix = "_rev.go"

// Dir reads the functions of the package in dir that ask for kernels, and returns
// the files to write, by name. The errors are Refusals, or what keeps the package
// from being read.
func Dir(dir string) (map[string][]byte, error) {
	p, files, err := parse(dir)
	if err != nil {
		return nil, err
	}
	return p.written(files)
}

// parse reads the package in dir, without what revgen has written.
func parse(dir string) (*source, []*ast.File, error) {
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	var files []*ast.File
	for _, name := range names {
		built, err := build.Default.MatchFile(dir, filepath.Base(name))
		if strings.HasSuffix(name, "_test.go") || err == nil && !built {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		switch {
		case strings.HasSuffix(name, Suffix) && (err != nil || ast.IsGenerated(f)):
		case err != nil:
			return nil, nil, err
		default:
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("%s: no Go files", dir)
	}
	imports, err := newImporter(fset, dir)
	if err != nil {
		return nil, nil, err
	}
	return load(fset, files, imports), files, nil
}

// written returns what is written for files.
func (p *source) written(files []*ast.File) (map[string][]byte, error) {
	out := map[string][]byte{}
	var errs []error
	said := map[string]bool{}
	for _, file := range files {
		kernels, refusals := p.kernels(file)
		errs = append(errs, refusals...)
		for _, k := range kernels {
			for _, name := range []string{k.name, "New" + k.name} {
				if said[name] || p.pkg.Scope().Lookup(name) != nil {
					errs = append(errs, Refusal{p.fset.Position(k.pos), fmt.Sprintf("%s is declared already: choose another name for the kernel", name)})
				}
				said[name] = true
			}
		}
		if len(kernels) == 0 || len(errs) > 0 {
			continue
		}
		name := p.fset.Position(file.Pos()).Filename
		if to := strings.TrimSuffix(name, ".go") + Suffix; slices.ContainsFunc(files, func(f *ast.File) bool { return p.fset.Position(f.Pos()).Filename == to }) {
			return nil, fmt.Errorf("%s was not written by revgen, and would be overwritten: give it another name", to)
		}
		text, err := write(file.Name.Name, filepath.Base(name), kernels)
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(name, ".go")+Suffix] = text
	}
	if len(said) == 0 && len(errs) == 0 {
		dir := filepath.Dir(p.fset.Position(files[0].Pos()).Filename)
		return nil, fmt.Errorf("%s: no function has the comment %sName[T rev.Real]", dir, Directive)
	}
	return out, errors.Join(errs...)
}

// A source is a package that has been type-checked.
type source struct {
	fset  *token.FileSet
	pkg   *types.Package
	info  *types.Info
	funcs map[types.Object]*ast.FuncDecl
	wrong map[string]error // the first error in a file, by its name
}

// load type-checks files. An error in a file matters only if the file asks for kernels.
// Other files may use kernels that are not written yet.
func load(fset *token.FileSet, files []*ast.File, imports types.Importer) *source {
	p := &source{
		fset:  fset,
		info:  &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}},
		funcs: map[types.Object]*ast.FuncDecl{},
		wrong: map[string]error{},
	}
	conf := types.Config{Importer: imports, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !e.Soft {
			if name := fset.Position(e.Pos).Filename; p.wrong[name] == nil {
				p.wrong[name] = err
			}
		}
	}}
	p.pkg, _ = conf.Check("p", fset, files, p.info)
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				p.funcs[p.info.Defs[f.Name]] = f
			}
		}
	}
	return p
}

// kernels reads the functions of a file that ask for kernels.
func (p *source) kernels(file *ast.File) (kernels []*kernel, refusals []error) {
	docs := map[*ast.CommentGroup]*ast.FuncDecl{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			docs[f.Doc] = f
		}
	}
	for _, doc := range file.Comments {
		d, f := directives(doc), docs[doc]
		switch pos := p.fset.Position(doc.Pos()); {
		case d.spaced:
			return nil, []error{Refusal{pos, "write " + Directive + "Name[T rev.Real] without a space behind the //"}}
		case d.count == 0:
			continue
		case f == nil:
			return nil, []error{Refusal{pos, "//revgen: stands above no function: put it into the comment of one"}}
		case !d.asked && d.unknown == "":
			return nil, []error{Refusal{pos, "the comment of " + f.Name.Name + " asks for no kernel: add " + Directive + "Name[T rev.Real]"}}
		}
		if err := p.wrong[p.fset.Position(file.Pos()).Filename]; err != nil {
			return nil, []error{err}
		}
		r := &reader{source: p}
		r.read(f, d)
		refusals = append(refusals, r.refusals...)
		kernels = append(kernels, r.k)
	}
	return kernels, refusals
}

// A directive is the request in the comment of a function.
type directive struct {
	count     int      // of directives
	asked     bool     // for a kernel
	spaced    bool     // with a space behind the slashes, which Go does not take for a directive
	kernel    string   // Axpy[T rev.Real]
	workers   bool     // independent iterations run on workers
	consts    []string // parameters that have no derivative
	snapshots string   // the number of states that a tape keeps
	unknown   string   // what no directive is called
}

func directives(doc *ast.CommentGroup) (d directive) {
	for _, c := range doc.List {
		name, s, _ := strings.Cut(strings.TrimPrefix(c.Text, "//"), " ")
		d.spaced = d.spaced || strings.HasPrefix(c.Text, "// "+strings.TrimSpace(Directive[2:]))
		if strings.HasPrefix(name, "revgen:") {
			d.count++
		}
		switch {
		case name+" " == Directive[2:]:
			d.asked = true
			d.kernel, d.workers = strings.CutSuffix(strings.TrimSpace(s), " workers")
		case name == "revgen:const":
			d.consts = strings.Fields(s)
		case name == "revgen:snapshots":
			d.snapshots = strings.TrimSpace(s)
		case strings.HasPrefix(name, "revgen:"):
			d.unknown = name
		}
	}
	return d
}

// newImporter returns an importer of what the packages that dir imports export.
func newImporter(fset *token.FileSet, dir string) (types.Importer, error) {
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Export", ".")
	cmd.Dir = dir
	text, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("package %s is not built", path)
		}
		return os.Open(exports[path])
	}), nil
}
