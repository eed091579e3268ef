package revnum_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestOrder holds the order of the packages: each imports only packages of its own line in
// the list of docs/design.md, and of the lines above.
func TestOrder(t *testing.T) {
	design, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(string(design), "\n```\n")[1]
	line := map[string]int{} // of the rooms, which are folders with all below that have no line of their own
	for i, text := range strings.Split(list, "\n") {
		if room := regexp.MustCompile(`^[\w/]+/ `).FindString(text); room != "" {
			line[strings.TrimSuffix(room, "/ ")] = i
		}
	}
	module := modulePath(t)
	found := map[string]bool{}
	room := func(folder string) string {
		for d := folder; d != "."; d = path.Dir(d) {
			if _, ok := line[d]; ok {
				found[d] = true
				return d
			}
		}
		t.Errorf("docs/design.md: no line for %s", folder)
		return ""
	}
	sources(t, func(name string) {
		if !strings.Contains(name, string(filepath.Separator)) || strings.HasSuffix(name, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		from := room(filepath.ToSlash(filepath.Dir(name)))
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if folder, ok := strings.CutPrefix(imported, module+"/"); ok {
				if to := room(folder); line[to] > line[from] {
					t.Errorf("%s imports %s, which stands below it in docs/design.md", name, folder)
				}
			}
		}
	})
	for room := range line {
		if !found[room] {
			t.Errorf("docs/design.md lists %s, which has no package", room)
		}
	}
}

// modulePath returns the path of the module of the library.
func modulePath(t *testing.T) string {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(mod))[1]
}

// sources calls visit for each Go file of the repository, of all modules.
func sources(t *testing.T, visit func(name string)) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(base, ".go"):
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
