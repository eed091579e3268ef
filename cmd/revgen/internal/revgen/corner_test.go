package revgen

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"

	// What the tests that run here import, so that go test runs them again when it changes.
	_ "revnum/cmd/revgen/internal/revgen/examples"
	_ "revnum/rev/num"
	_ "revnum/rev/revtest"
	_ "revnum/revlinalg"
	_ "revnum/revnn"
)

const corner = "testdata/corner"

// TestCorner writes the kernels of package corner, and runs its tests.
func TestCorner(t *testing.T) { testFolder(t, corner) }

// testFolder writes the derivatives of the package in a folder, and runs its tests.
func testFolder(t *testing.T, dir string) {
	t.Helper()
	written, err := Dir(dir)
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
	if out, err := testPackage(t, files); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// testPackage runs the tests of a package with the given files, and returns what they print. The
// package is in an overlay, inside this module, and is built with the tags of this test.
func testPackage(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	dir, err := filepath.Abs("written")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(tmp, name+".txt")
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(dir, name)] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	at, binary := filepath.Join(tmp, "overlay.json"), filepath.Join(tmp, "written.test")
	if err := os.WriteFile(at, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-c", "-vet=off", "-gcflags=-l", "-overlay", at, "-o", binary} // inlining takes half of the time
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
	cmd := exec.Command(binary)
	if testing.Short() {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	cmd.Dir = tmp
	out, err := cmd.CombinedOutput()
	return string(out), err
}
