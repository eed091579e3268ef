package revnum_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unused are the exported names that may lack a user, and why.
var unused = map[string]string{
	"revmodels/ba.Model":               "for minimisers that do not know this package",
	"revmodels/flow.Model.Flow":        "a program that others may contain",
	"revmodels/wave.MaxCourant":        "the limit of stability, which errors quote",
	"revsparse/matrixmarket.WriteFile": "the inverse of ReadFile",
}

// TestExports finds exported names of the library that nobody uses. A user is another
// package of this repository, or an Example. These count as used too: names in the
// declaration of another exported name, such as the type of a result; constants beside a
// used one or of a used type; kernels, which the registry lists, and their constructors;
// methods of interfaces; errors, which callers compare; the checked and saturating forms of
// a function that is used; and in rev/num what cmd/revgen writes. Methods are told apart by
// their names only.
func TestExports(t *testing.T) {
	module := modulePath(t)
	declared := map[string]string{} // where names stand: folder.Name or folder.Type.Method
	groups := map[string][]string{} // by the first constant of a group, all
	used := map[string]bool{}       // folder.Name, and .Method
	for _, name := range stdMethods {
		used["."+name] = true
	}
	fset := token.NewFileSet()
	sources(t, func(name string) {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(filepath.ToSlash(name))
		imports := map[string]string{} // the folders of imported packages, or "" outside the module
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			local := path.Base(imported)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			imports[local], _ = strings.CutPrefix(imported, module+"/")
		}
		test := strings.HasSuffix(name, "_test.go")
		for _, decl := range f.Decls {
			fn, _ := decl.(*ast.FuncDecl)
			example := test && fn != nil && strings.HasPrefix(fn.Name.Name, "Example")
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					x, _ := n.X.(*ast.Ident)
					if from, ok := imports[fmt.Sprint(x)]; x != nil && ok {
						if from != folder || example {
							used[from+"."+n.Sel.Name] = true
						}
					} else {
						used["."+n.Sel.Name] = used["."+n.Sel.Name] || example
						used[folder+"/."+n.Sel.Name] = true // counts for other packages
					}
				case *ast.BasicLit:
					if strings.HasPrefix(folder, "cmd/revgen") && !test && n.Kind == token.STRING {
						for _, word := range words.FindAllString(n.Value, -1) {
							used["rev/num."+word], used[folder+"/."+word] = true, true
						}
					}
				case *ast.InterfaceType:
					for _, m := range n.Methods.List {
						for _, id := range m.Names {
							used["."+id.Name] = true
						}
					}
				}
				return true
			})
			if !test && !ast.IsGenerated(f) && isLibrary(folder) {
				declare(folder, decl, fset, declared, groups, used)
			}
		}
	})
	// A selector counts for the methods of all packages but its own.
	users := map[string][]string{}
	for key := range used {
		if folder, method, ok := strings.Cut(key, "/."); ok {
			users[method] = append(users[method], folder)
		}
	}
	isUsed := func(name string) bool {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "Checked"), "Sat")
		folder, rest, _ := strings.Cut(name, ".")
		_, method, ok := strings.Cut(rest, ".")
		if !ok {
			constructor, _ := strings.CutPrefix(rest, "New")
			return used[name] || strings.HasPrefix(rest, "Err") || used[folder+".kernel "+constructor]
		}
		return used["."+method] || slices.ContainsFunc(users[method], func(user string) bool { return user != folder })
	}
	var names []string
	for name, at := range declared {
		if isUsed(name) || slices.ContainsFunc(groups[name], isUsed) {
			if unused[name] != "" {
				t.Errorf("%s has a user: take it off the list of this test", name)
			}
		} else if unused[name] == "" {
			names = append(names, fmt.Sprintf("%s: nothing uses %s outside its package: delete it, or show its use in an Example", at, name))
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t.Error(name)
	}
	for name := range unused {
		if declared[name] == "" {
			t.Errorf("%s is on the list of this test, but does not exist", name)
		}
	}
	if len(declared) < 500 {
		t.Errorf("only %d exported names were found", len(declared))
	}
}

var words = regexp.MustCompile(`\w+`)

// stdMethods are methods that the standard library and gonum call.
var stdMethods = strings.Fields("String Format Scan Error Unwrap Is As MarshalText AppendText UnmarshalText MarshalBinary UnmarshalBinary " +
	"MarshalJSON UnmarshalJSON Read Write Close Len Less Swap Dims At T Func Grad Hess Run")

// isLibrary reports whether the package in folder has users outside this repository.
func isLibrary(folder string) bool {
	if strings.Contains(folder+"/", "/internal/") || strings.HasPrefix(folder, "cluster/") && folder != "cluster/shard" {
		return false
	}
	room, _, _ := strings.Cut(folder, "/")
	return slices.Contains(strings.Fields("fixed ulog rev revlinalg revnn revlog revmath revsparse revtropical revmodels optim trust rules cluster"), room)
}

// runs returns the kernel type of a function in place of the method Run, such as dotRun, or "".
func runs(f *ast.FuncDecl) string {
	params := f.Type.Params.List
	if !strings.HasSuffix(f.Name.Name, "Run") || len(params) != 2 || !strings.HasPrefix(strings.TrimPrefix(types.ExprString(params[1].Type), "*"), "rev.Pass[") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(params[0].Type), "*"), "[")
	return name
}

// declare notes the exported names of decl in declared, and in used those that it mentions.
func declare(folder string, decl ast.Decl, fset *token.FileSet, declared map[string]string, groups map[string][]string, used map[string]bool) {
	note := func(id *ast.Ident, name string) {
		if ast.IsExported(id.Name) {
			declared[folder+"."+name] = fset.Position(id.Pos()).String()
		}
	}
	// mentions notes that n has the names of types in it.
	mentions := func(self string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name != self {
				used[folder+"."+id.Name] = true
			}
			return true
		})
	}
	kernel := func(name string) {
		used[folder+"."+name], used[folder+".kernel "+name], used[folder+".kernel "+name+"Trans"] = true, true, true
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			note(decl.Name, decl.Name.Name)
			if decl.Name.IsExported() {
				mentions("", decl.Type)
			}
			if on := runs(decl); on != "" {
				kernel(on)
			}
			return
		}
		on := receiver(decl)
		if !ast.IsExported(on) {
			return
		}
		note(decl.Name, on+"."+decl.Name.Name)
		if decl.Name.IsExported() {
			mentions(on, decl.Type)
		}
		switch decl.Name.Name {
		case "Error":
			used[folder+"."+on] = true
		case "Run": // a kernel
			kernel(on)
		}
	case *ast.GenDecl:
		var group []string
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				note(spec.Name, spec.Name.Name)
				if spec.Name.IsExported() {
					mentions(spec.Name.Name, spec.Type)
				}
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					note(id, id.Name)
					if decl.Tok == token.CONST {
						group = append(group, folder+"."+id.Name)
					}
				}
				if id, ok := spec.Type.(*ast.Ident); ok && decl.Tok == token.CONST {
					group = append(group, folder+"."+id.Name)
				}
				if spec.Type != nil && spec.Names[0].IsExported() {
					mentions("", spec.Type)
				}
			}
		}
		for _, name := range group {
			groups[name] = group
		}
	}
}

// receiver returns the name of the type of which decl is a method.
func receiver(decl *ast.FuncDecl) string {
	x := decl.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y.Name
		}
	}
}
