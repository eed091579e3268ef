package revgen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"revnum/cmd/revgen/internal/gradient"
)

// TestGradients runs tests of gradients that are written for functions in texts.
func TestGradients(t *testing.T) {
	b := &batch{files: map[string]string{}}
	for _, c := range []struct {
		name string
		add  func(t *testing.T, b *batch)
	}{
		{"Passes", gradientPasses},
		{"Searches", gradientPassesOfSearches},
		{"Slices", gradientPassesOverSlices},
		{"Parts", gradientPassesOverParts},
		{"Functions", gradientPassesOfFunctions},
		{"Random", randomGradients},
		{"Jacobians", randomJacobians},
		{"Third", thirdOfEarlyEnd},
	} {
		t.Run(c.name, func(t *testing.T) { c.add(t, b) })
	}
	b.run(t)
}

// A batch has packages whose tests run in one binary. To build one for each takes far longer.
type batch struct {
	files          map[string]string
	imports, tests string
}

var testName = regexp.MustCompile(`(?m)^func (Test\w*)\(t \*testing\.T\)`)

// add adds a package with the functions in source, what is written for them, and tests. It returns what is written.
func (b *batch) add(t *testing.T, source, test string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "random.go")
	fset := testFiles
	file, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	files := []*ast.File{file}
	written, err := load(fset, files, importerFor(t, ".")).written(files)
	if err != nil {
		t.Fatalf("%v\nthe functions are in %s", err, kept(source, t.Name()))
	}
	text := string(written[strings.TrimSuffix(name, ".go")+gradient.Suffix])
	if strings.Contains(test, "func seen(") {
		source = watch(t, fset, file)
	}
	pkg := strings.ToLower(path.Base(t.Name()))
	b.files[pkg+"/random.go"], b.files[pkg+"/random_grad.go"], b.files[pkg+"/tests.go"] = source, text, test
	b.imports += fmt.Sprintf("import %s %q\n", pkg, reflect.TypeFor[batch]().PkgPath()+"/written/"+pkg)
	for _, f := range testName.FindAllStringSubmatch(test, -1) {
		b.tests += fmt.Sprintf("func Test_%s_%s(t *testing.T) { %[1]s.%[2]s(t) }\n", pkg, f[1])
	}
	return text
}

// run runs the tests of all packages.
func (b *batch) run(t *testing.T) {
	t.Helper()
	if b.tests == "" {
		return
	}
	b.files["written_test.go"] = "package written\n\nimport \"testing\"\n" + b.imports + b.tests
	out, err := testPackage(t, b.files)
	if err == nil {
		return
	}
	t.Errorf("%v\n%s", err, out)
	for name, text := range b.files {
		if pkg, base := path.Split(name); base == "random.go" {
			t.Logf("the functions of %s are in %s", pkg, kept(text, pkg))
		}
	}
}

// kept writes functions to a file that stays, and returns its name.
func kept(source, name string) string {
	at := filepath.Join(os.TempDir(), "gradients_"+strings.ToLower(path.Base(name))+".go")
	_ = os.WriteFile(at, []byte(source), 0o666)
	return at
}
