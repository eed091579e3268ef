package revgen

import (
	"encoding/json"
	"go/parser"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	// What the tests that run here import, so that go test runs them again when it changes. They import examples too:
	// its files count because TestExplain opens them.
	_ "revnum/rev/num"
	_ "revnum/rev/revtest"
	_ "revnum/revlinalg"
	_ "revnum/revnn"
	_ "revnum/revsparse"

	"revnum/internal/long"
)

const corner = "testdata/corner"

// TestCorner writes the kernels of package corner, and runs its tests.
func TestCorner(t *testing.T) {
	if !long.Tests() {
		t.Skip("compiles 20,000 lines; set REVNUM_LONG to run it")
	}
	testFolder(t, corner)
}

// testFolder writes the derivatives of the package in a folder, and runs its tests, some only in the long run.
func testFolder(t *testing.T, dir string, slow ...string) {
	t.Helper()
	files := folder(t, dir)
	if !long.Tests() {
		files = part(t, dir, slow...)
	}
	if out, err := testPackage(t, files); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// folder returns the files of a folder, with what revgen writes, whose types are right. Tests share them: do not change them.
func folder(t testing.TB, dir string) map[string]string {
	t.Helper()
	if files := folders[dir]; files != nil {
		return files
	}
	p, sources, err := parse(dir)
	if err != nil {
		t.Fatal(err)
	}
	written, err := p.written(sources)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	for name, text := range written { // in place of what somebody may have written there
		files[filepath.Base(name)] = string(text)
	}
	checked := sources[:0]
	for name, text := range files { // parsed again, because revgen changes what it reads
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		checked = append(checked, f)
	}
	if _, err := (&types.Config{Importer: p.imports}).Check("written", p.fset, checked, nil); err != nil {
		t.Fatal(err)
	}
	folders[dir] = files
	return files
}

var folders = map[string]map[string]string{}

// testPackage runs the tests of a package with the given files, and returns what they print.
func testPackage(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	build := []string{"-gcflags=./written/...=-l -dwarf=false"} // inlining takes half of the time, and a tenth is for debuggers
	if testing.Short() {
		return runPackage(t, files, build, "-test.short")
	}
	return runPackage(t, files, build)
}

// runPackage builds the tests of a package with the given files, and runs them. The package is in
// an overlay, inside this module, and is built with the tags of this test.
func runPackage(t testing.TB, files map[string]string, build []string, run ...string) (string, error) {
	t.Helper()
	dir, err := filepath.Abs("written")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(tmp, strings.ReplaceAll(name, "/", "_")+".txt")
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(dir, filepath.FromSlash(name))] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	at, binary := filepath.Join(tmp, "overlay.json"), filepath.Join(tmp, "written.test")
	if err := os.WriteFile(at, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", at, "-o", binary}, build...)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" || s.Key == "-tags" {
				args = append(args, s.Key+"="+s.Value)
			}
		}
	}
	if out, err := exec.Command("go", append(args, "./written")...).CombinedOutput(); err != nil {
		return string(out), err
	}
	cmd := exec.Command(binary, run...)
	cmd.Dir = tmp
	out, err := cmd.CombinedOutput()
	return string(out), err
}
