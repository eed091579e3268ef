package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const source = `package p

//revgen:kernel Scale
func scale(y, x []float64, a float64) {
	for i, v := range x {
		y[i] += a * v
	}
}
`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module p\n\ngo 1.26\n")
	write("p.go", source)
	if err := run([]string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "p_rev.go"))
	if err != nil || !strings.Contains(string(text), "func NewScale(y *mat.VecDense, x *mat.VecDense, a *float64) Scale {") {
		t.Errorf("%v: %s", err, text)
	}
	var out bytes.Buffer
	if err := run([]string{"explain", "scale", dir}, &out); err != nil || !strings.Contains(out.String(), "y[i] += a·v") {
		t.Errorf("%v: %s", err, &out)
	}
	if err := run([]string{"explain"}, &out); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("explain of nothing: %v", err)
	}
	write("p.go", strings.Replace(source, "+=", "*=", 1))
	if err := run([]string{dir}, nil); err == nil || !strings.Contains(err.Error(), "p.go:6:3: y[i] *=: a rounded product cannot be undone") {
		t.Errorf("a product in place: %v", err)
	}
	if err := run([]string{filepath.Join(dir, "nothing")}, nil); err == nil || !strings.Contains(err.Error(), "no Go files") {
		t.Errorf("no package: %v", err)
	}
}

// What is wrong with files and comments is said with the place and what to do.
func TestErrors(t *testing.T) {
	const head, kernel = "package p\n\n", "//revgen:kernel Scale\nfunc scale(y *float64, a float64) { *y += a }\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing is asked for", map[string]string{"p.go": head + "func f() {}\n"}, "no function has the comment //revgen:kernel Name[T rev.Real]"},
		{"Go's syntax", map[string]string{"p.go": head + kernel + "func {"}, "p.go:5:6: expected 'IDENT'"},
		{"a type error", map[string]string{"p.go": head + kernel + "var x int = \"a\"\n"}, "p.go:5:13: cannot use"},
		{"a type error elsewhere", map[string]string{"p.go": head + kernel, "q.go": head + "var x Scale = 1\n"}, ""},
		{"a space", map[string]string{"p.go": head + "// revgen:kernel Scale\nfunc f() {}\n"}, "p.go:3:1: write //revgen:kernel Name[T rev.Real] without a space behind the //"},
		{"an empty line", map[string]string{"p.go": head + "//revgen:kernel Scale\n\nfunc f() {}\n"}, "p.go:3:1: //revgen: stands above no function"},
		{"no name", map[string]string{"p.go": head + "//revgen:kernel\nfunc f(x *float64) { *x += 1 }\n"}, `p.go:4:1: "" is no name for a kernel`},
		{"no kernel", map[string]string{"p.go": head + "//revgen:const x\nfunc f(x float64) {}\n"}, "p.go:3:1: the comment of f asks for no kernel: add //revgen:kernel Name[T rev.Real]"},
		{"another directive", map[string]string{"p.go": head + "//revgen:kernal F\nfunc f(x float64) {}\n"}, "revgen:kernal is not known"},
		{"two of one name", map[string]string{"p.go": head + kernel + "\n//revgen:kernel Scale\nfunc g(y *float64) { *y += 1 }\n"}, "p.go:7:1: Scale is declared already: choose another name for the kernel"},
		{"two files", map[string]string{"p.go": head + kernel, "q.go": head + "//revgen:kernel Scale\nfunc g(y *float64) { *y += 1 }\n"}, "q.go:4:1: Scale is declared already"},
		{"a declared name", map[string]string{"p.go": head + kernel + "func NewScale() {}\n"}, "p.go:4:1: NewScale is declared already"},
		{"a file for another system", map[string]string{"p.go": head + kernel, "p_plan9.go": head + "func scale() {}\n", "gen.go": "//go:build ignore\n\npackage main\n"}, ""},
		{"a file of somebody else", map[string]string{"p.go": head + kernel, "p_rev.go": head + "var x = 1\n"}, "p_rev.go was not written by revgen, and would be overwritten: give it another name"},
	} {
		dir := t.TempDir()
		c.files["go.mod"] = "module p\n\ngo 1.26\n"
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		err := run([]string{dir}, nil)
		_, absent := os.Stat(filepath.Join(dir, "p_rev.go"))
		switch {
		case c.want == "" && (err != nil || absent != nil):
			t.Errorf("%s: %v, %v", c.name, err, absent)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// A file that cannot be written is named.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": source, "p_rev.go/x": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{dir}, nil); err == nil || !strings.Contains(err.Error(), "p_rev.go") {
		t.Errorf("%v", err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"explain", "-h"}} {
		var out bytes.Buffer
		if err := run(args, &out); err != nil || out.String() != usage {
			t.Errorf("%q: %v: %s", args, err, &out)
		}
	}
	if err := run([]string{"-x"}, nil); err == nil || !strings.Contains(err.Error(), usage) {
		t.Errorf("a flag that is not there: %v", err)
	}
}
