package gradient

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	pathpkg "path"
	"slices"
	"strings"
)

// Imports are what a written file imports, by the names that packages have in it.
type imports struct {
	scope *types.Scope // of the package, whose names hide those of packages
	names map[string]string
}

// own are the packages that statements are written with under these names.
var own = map[string]string{"math": "math", "num": numPath, "mat": matPath, "rev": revPath, "revsparse": "revnum/revsparse"}

// name returns the name of a package in the file, which imports it.
func (m *imports) name(path, name string) string {
	if m.names[path] == "" {
		if m.names == nil {
			m.names = map[string]string{}
		}
		taken := slices.Collect(maps.Values(m.names))
		for slices.Contains(taken, name) || own[name] != "" && own[name] != path || m.scope != nil && m.scope.Lookup(name) != nil {
			name += "Pkg"
		}
		m.names[path] = name
	}
	return m.names[path]
}

// add imports a package of which text is written.
func (m *imports) add(path string) { m.name(path, pathpkg.Base(path)) }

// declarations returns the declarations of what is mentioned in a text.
func (m *imports) declarations(mentioned func(name string) bool) string {
	var text strings.Builder
	for _, own := range []bool{true, false} {
		for _, p := range slices.Sorted(maps.Keys(m.names)) {
			name := m.names[p]
			if std := !strings.Contains(p, ".") && !strings.HasPrefix(p, "revnum/"); std != own || !mentioned(name) {
				continue
			}
			if name == pathpkg.Base(p) {
				name = ""
			}
			fmt.Fprintf(&text, "%s %q\n", name, p)
		}
		text.WriteString("\n")
	}
	if strings.TrimSpace(text.String()) == "" {
		return ""
	}
	return "import (\n" + text.String() + ")\n"
}

// file returns the text of a file with declarations. It refuses to if the package declares what they call of Go itself.
func (m *imports) file(head, pkg string, declarations []byte, of *token.FileSet) ([]byte, error) {
	text := slices.Concat([]byte("package "+pkg+"\n"), declarations)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return text, err
	}
	mentioned := map[string]bool{}
	var out bytes.Buffer
	from := len("package " + pkg)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			name := id.Name
			if as := m.names[own[name]]; as != "" && as != name { // the package hides the name
				at := fset.Position(id.Pos()).Offset
				out.Write(text[from:at])
				out.WriteString(as)
				name, from = as, at+len(name)
			}
			mentioned[name] = true
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			if ok && types.Universe.Lookup(id.Name) != nil && m.scope.Lookup(id.Name) != nil {
				at := m.scope.Lookup(id.Name)
				err = Refusal{of.Position(at.Pos()), fmt.Sprintf("what is written calls %s of Go, which this declaration hides: give it another name", at.Name())}
			}
		}
		return true
	})
	out.Write(text[from:])
	if err != nil {
		return nil, err
	}
	return format.Source(slices.Concat([]byte(head+"\n\npackage "+pkg+"\n"+m.declarations(func(name string) bool { return mentioned[name] })), out.Bytes()))
}
