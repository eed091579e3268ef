package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRename(t *testing.T) {
	dir := t.TempDir()
	before := map[string]string{
		"go.mod":            "module old\n\ngo 1.26.0\n",
		"inner/go.mod":      "module old/inner\n\nrequire (\n\told v0.0.0\n\tolder v1.0.0\n)\n",
		"a.go":              "package a\n\nimport (\n\t\"fmt\"\n\n\t\"old/b\"\n\t\"older/c\"\n)\n\n// old is not renamed in words.\nvar x = fmt.Sprint(`old/b`, \"an old thing\", b.X)\n",
		"README.md":         "old things\n\tgo mod edit -require=old@v0.0.0 -replace=old=../old\n\t\"old/rev\"\n",
		".golangci.yml":     "local-prefixes: [old]\n",
		".git/go.mod":       "module old\n",
		"testdata/data.txt": "\"old/b\"\n",
	}
	after := map[string]string{
		"go.mod":        "module example.org/x/new\n\ngo 1.26.0\n",
		"inner/go.mod":  "module example.org/x/new/inner\n\nrequire (\n\texample.org/x/new v0.0.0\n\tolder v1.0.0\n)\n",
		"a.go":          "package a\n\nimport (\n\t\"fmt\"\n\n\t\"example.org/x/new/b\"\n\t\"older/c\"\n)\n\n// old is not renamed in words.\nvar x = fmt.Sprint(`example.org/x/new/b`, \"an old thing\", b.X)\n",
		"README.md":     "old things\n\tgo mod edit -require=example.org/x/new@v0.0.0 -replace=example.org/x/new=../old\n\t\"example.org/x/new/rev\"\n",
		".golangci.yml": "local-prefixes: [example.org/x/new]\n",
	}
	for name, text := range before {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := rename(dir, "example.org/x/new")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for name, text := range before {
		if w, ok := after[name]; ok {
			text = w
			want = append(want, filepath.Join(dir, name))
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != text {
			t.Errorf("%s is now\n%swant\n%s", name, got, text)
		}
	}
	slices.Sort(changed)
	slices.Sort(want)
	if !slices.Equal(changed, want) {
		t.Errorf("changed %v, want %v", changed, want)
	}
}

func TestRenameRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, to := range []string{"", "a b", "/a", "a/", "a//b", "$1"} {
		if _, err := rename(dir, to); err == nil {
			t.Errorf("%q is taken for a path", to)
		}
	}
	if _, err := rename(dir, "a"); err == nil {
		t.Error("a folder without go.mod is renamed")
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("go 1.26\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := rename(dir, "a"); err == nil {
		t.Error("a go.mod without a module is renamed")
	}
}
