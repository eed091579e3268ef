package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSample finds the mutants of a small package that its tests do not find: two make no
// difference, and for the other a test is missing.
func TestSample(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	all := regexp.MustCompile("")
	var b bytes.Buffer
	tested, survivors, err := mutate(t.Context(), "./testdata/sample", "", "", all, 0, &b)
	if err != nil {
		t.Fatal(err)
	}
	want := `sample.go:7:13: <= changed to <
sample.go:16:11: && changed to ||
sample.go:16:7: > changed to >=
`
	if b.String() != want || survivors != 3 || tested != 17 {
		t.Errorf("%d of %d survived, want 3 of 17:\n%s", survivors, tested, &b)
	}
	b.Reset()
	if tested, survivors, err := mutate(t.Context(), "./testdata/sample", "TestMiddle|TestSum", "TestSum", all, 8, &b); err != nil || tested != 8 || !strings.Contains(b.String(), "sample.go:8:4: statement removed") {
		t.Errorf("without TestSum: %d of %d survived (%v)\n%s", survivors, tested, err, &b)
	}
	b.Reset()
	if tested, survivors, err := mutate(t.Context(), "./testdata/sample", "", "", regexp.MustCompile("go:16:.* && "), 0, &b); err != nil || tested != 1 || survivors != 1 || b.String() != "sample.go:16:11: && changed to ||\n" {
		t.Errorf("only one: %d of %d survived (%v)\n%s", survivors, tested, err, &b)
	}
	if _, _, err := mutate(t.Context(), "./testdata/...", "", "", all, 1, &b); err == nil {
		t.Error("no error for a folder without packages")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := mutate(stopped, "./testdata/sample", "", "", all, 0, &b); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "mutate*")); err != nil || len(left) > 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}
