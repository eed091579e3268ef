package jsonfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.json")
	if err := Write(path, []int{1, 2}); err != nil {
		t.Fatal(err)
	}
	if v, err := Read[[]int](path, "numbers"); err != nil || len(*v) != 2 || (*v)[1] != 2 {
		t.Errorf("%v, %v", v, err)
	}
	for text, want := range map[string]string{
		"[1,\n2,\nx]": "v.json:3: expected numbers: ",
		`"a"`:         "v.json: expected numbers: ",
		"null":        "v.json: expected numbers, found null",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read[[]int](path, "numbers"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Read[int](filepath.Join(t.TempDir(), "none"), "a number"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

// TestNotRegular reads what has no end, or holds nothing.
func TestNotRegular(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(large, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxSize+1); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		os.DevNull:  ": expected a regular file with numbers",
		t.TempDir(): ": expected a regular file with numbers",
		large:       "large.json: expected numbers of at most 1 GiB, found 1073741825 bytes",
	} {
		if _, err := Read[[]int](path, "numbers"); err == nil || !strings.HasPrefix(err.Error(), path) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
