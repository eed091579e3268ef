package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRename(t *testing.T) {
	dir := t.TempDir()
	before := map[string]string{
		"go.mod":            "module old\n\ngo 1.26.0\n",
		"inner/go.mod":      "module old/inner\n\nrequire (\n\told v0.0.0\n\tolder v1.0.0\n)\n",
		"a.go":              "package a\n\nimport (\n\t\"fmt\"\n\n\t\"old/b\"\n\t\"older/c\"\n)\n\n// old is not renamed in words.\nvar x = fmt.Sprint(`old/b`, \"an old thing\", b.X)\n\n//go:linkname f old/b.f\nfunc f()\n",
		"README.md":         "old things\n\tgo mod edit -require=old@v0.0.0 -replace=old=../old\n\t\"old/rev\"\n",
		".golangci.yml":     "local-prefixes: [old]\n",
		".git/go.mod":       "module old\n",
		"testdata/data.txt": "\"old/b\"\n",
	}
	after := map[string]string{
		"go.mod":        "module example.org/x/new\n\ngo 1.26.0\n",
		"inner/go.mod":  "module example.org/x/new/inner\n\nrequire (\n\texample.org/x/new v0.0.0\n\tolder v1.0.0\n)\n",
		"a.go":          "package a\n\nimport (\n\t\"fmt\"\n\n\t\"example.org/x/new/b\"\n\t\"older/c\"\n)\n\n// old is not renamed in words.\nvar x = fmt.Sprint(`example.org/x/new/b`, \"an old thing\", b.X)\n\n//go:linkname f example.org/x/new/b.f\nfunc f()\n",
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
	changed, err := rename(dir, "example.org/x/new", true)
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

// checkout makes a module in git, and returns its folder and a function that runs git there.
func checkout(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v, %s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "a module")
	return dir, git
}

const before = "module old.org/x\n"

// module returns the text of go.mod in dir.
func module(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPaths(t *testing.T) {
	for _, to := range []string{
		"", " ", "a b", "/a", "a/", "a//b", "$1", "--help", "-", "--", "..", ".", "std", "cmd", "revnum", "a/../b", "x/internal/y",
		"example.org/", "example.org/..", "example.org/a/../b", "example.org/./a", "example.org/.a", "example.org/a.", "example.org//a",
		"example.org/internal/y", "example.org/vendor/y", "Example.org/a", "example..org", "-example.org", ".org", "example.",
		"example.org/a b", "example.org/ä", "example.org/a\n", "example.org/a@v1", "example.org/con", "example.org/NUL.x", "example.org/a~1",
		"example.org/a/v0", "example.org/a/v1", "example.org/a/v2", "https://example.org/a", "example.org\\a", "example.org:80/a",
	} {
		if checkPath(to) == nil {
			t.Errorf("%q is taken for a path", to)
		}
	}
	for _, to := range []string{"example.org", "example.org/a", "a.b-c.org/A_b/c.d/~e-", "x.org/v2x", "github.com/you/revnum"} {
		if err := checkPath(to); err != nil {
			t.Error(err)
		}
	}
}

func TestRun(t *testing.T) {
	dir, git := checkout(t)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--help"}, 0, "usage:"},
		{[]string{"-h"}, 0, "usage:"},
		{nil, 1, "usage:"},
		{[]string{"example.org/a", "example.org/b"}, 1, "usage:"},
		{[]string{"--nonsense", "example.org/a"}, 1, "not defined: -nonsense"},
		{[]string{"--", "--help"}, 1, `"--help" is no module path`},
		{[]string{".."}, 1, `".." is no module path`},
		{[]string{"-force", "std"}, 1, `"std" is no module path`},
	} {
		var out, errs strings.Builder
		if status := run(dir, c.args, &out, &errs); status != c.status || out.String() != "" || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: status %d, %q, %q, want %d and %q", c.args, status, out.String(), errs.String(), c.status, c.want)
		}
	}
	if got := module(t, dir); got != before {
		t.Fatalf("go.mod is now %q", got)
	}

	renameTo := func(args ...string) (int, string) {
		var out, errs strings.Builder
		return run(dir, args, &out, &errs), errs.String()
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if status, errs := renameTo("example.org/a"); status != 1 || !strings.Contains(errs, `changes to commit, such as "?? new"`) || module(t, dir) != before {
		t.Errorf("a checkout with changes: status %d, %q, %q", status, errs, module(t, dir))
	}
	if status, errs := renameTo("-force", "example.org/a"); status != 0 || module(t, dir) != "module example.org/a\n" {
		t.Errorf("-force: status %d, %q, %q", status, errs, module(t, dir))
	}
	git("add", ".")
	git("commit", "-q", "-m", "renamed")
	if status, errs := renameTo("example.org/b"); status != 0 || module(t, dir) != "module example.org/b\n" {
		t.Errorf("a clean checkout: status %d, %q, %q", status, errs, module(t, dir))
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if status, errs := renameTo("example.org/c"); status != 1 || !strings.Contains(errs, "git status") {
		t.Errorf("no checkout: status %d, %q", status, errs)
	}
}

func TestRenameRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := rename(dir, "example.org/a", true); err == nil {
		t.Error("a folder without go.mod is renamed")
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("go 1.26\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := rename(dir, "example.org/a", true); err == nil {
		t.Error("a go.mod without a module is renamed")
	}
}
