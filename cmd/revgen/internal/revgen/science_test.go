package revgen

import (
	"os"
	"path/filepath"
	"testing"

	"revnum/cmd/revgen/internal/gradient"
)

// TestScience writes the gradients of package science, and runs its tests, which compare them
// with differences of values.
func TestScience(t *testing.T) {
	written, err := Dir("testdata/science")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range written {
		files[filepath.Base(name)] = string(text)
	}
	names, err := filepath.Glob("testdata/science/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if match, _ := filepath.Match("*"+gradient.Suffix, filepath.Base(name)); match {
			continue // somebody has run revgen there
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	if out, err := testPackage(t, files); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
