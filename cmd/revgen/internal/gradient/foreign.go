package gradient

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
	"strings"
)

// Functions of other packages are inlined too, from their source. It is type-checked when the first of them is called.
// Its types are others than those of the same names that the function sees, which take their places (home).

// A foreignPackage is another package, read from its source.
type foreignPackage struct {
	pkg   *types.Package // nil if there is no source
	decls map[string]*ast.FuncDecl
}

// declOf returns the declaration of a function of the package or of another one, or nil if there is none with a body.
func (s *Source) declOf(obj types.Object) *ast.FuncDecl {
	f, ok := obj.(*types.Func)
	if !ok {
		return nil
	}
	if d := s.Funcs[f]; d != nil {
		if d.Body == nil {
			return nil
		}
		return d
	}
	if f.Pkg() == nil || f.Pkg() == s.Pkg || !hasSource(f.Pkg().Path()) {
		return nil
	}
	return s.foreignPackage(f.Pkg().Path()).decls[methodName(f)]
}

// hasSource reports whether functions of a package may be inlined. Of those of Go, these have code as people write it.
func hasSource(path string) bool {
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return slices.Contains([]string{"cmp", "slices", "sort"}, path)
	}
	return path != matPath
}

// methodName returns the name of a function in its package, after that of its receiver.
func methodName(f *types.Func) string {
	r := f.Signature().Recv()
	if r == nil {
		return f.Name()
	}
	t := r.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	return n.Obj().Name() + "." + f.Name()
}

// foreignPackage reads another package.
func (s *Source) foreignPackage(path string) *foreignPackage {
	if p := s.foreignPackages[path]; p != nil {
		return p
	}
	p := &foreignPackage{decls: map[string]*ast.FuncDecl{}}
	if s.foreignPackages == nil {
		s.foreignPackages = map[string]*foreignPackage{}
	}
	s.foreignPackages[path] = p
	if s.Files == nil {
		return p
	}
	var files []*ast.File
	for _, name := range s.Files(path) {
		f, err := parser.ParseFile(s.Fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return p
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: s.Imports, Error: func(error) {}}
	p.pkg, _ = conf.Check(path, s.Fset, files, s.Info)
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				obj, _ := s.Info.Defs[f.Name].(*types.Func)
				p.decls[methodName(obj)], s.Funcs[obj] = f, f
			}
		}
	}
	return p
}

// isElsewhere reports whether a function is of another package.
func (s *Source) isElsewhere(d *ast.FuncDecl) bool {
	f := s.Info.Defs[d.Name]
	return f.Pkg() != s.Pkg && f.Pkg().Path() != "models"
}

// home returns the type that stands for one of another package's source, and t if it is of no such source.
func (s *Source) home(t *types.Named) types.Type {
	name := t.Obj()
	if name.Pkg() == nil {
		return t
	}
	if p := s.foreignPackages[name.Pkg().Path()]; p == nil || p.pkg != name.Pkg() || t.TypeArgs().Len() > 0 {
		return t
	}
	if name.Exported() && !isLocal(name) {
		if pkg, err := s.Imports.Import(name.Pkg().Path()); err == nil {
			if x := pkg.Scope().Lookup(name.Name()); x != nil {
				return x.Type()
			}
		}
	}
	if containsItself(t) {
		return t
	}
	return t.Underlying()
}

// inlineForeign reads the body of a function of another package. What is refused there is said at the call.
func (l *lowerer) inlineForeign(c *ast.CallExpr, d *ast.FuncDecl) []expr {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case Refusal:
			if at := l.Fset.Position(c.Pos()); at.Filename != e.Pos.Filename {
				e = Refusal{at, fmt.Sprintf("%s is not differentiated: in its source, %v", types.ExprString(c.Fun), e)}
			}
			panic(e)
		default:
			panic(e)
		}
	}()
	if l.recursive(d) {
		l.refuse(c, "%s calls itself, and is of another package: write it in this one", types.ExprString(c.Fun))
	}
	return l.inline(c, d, d.Type, d.Recv, d.Body)
}
