package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"revnum/internal/long"
)

// run runs a command and returns what it printed.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// This builds the library and checks that it exports exactly the functions of revnum.h.
// The library must pass its test in C, with and without the sanitizers. This takes a
// minute, because all packages are compiled for a shared library.
func TestLibrary(t *testing.T) {
	if !long.Tests() {
		t.Skip("takes a minute: set REVNUM_LONG")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	dir := t.TempDir()
	library := filepath.Join(dir, "librevnum.so")
	run(t, "go", "build", "-buildmode=c-shared", "-o", library, ".")

	header, err := os.ReadFile("revnum.h")
	if err != nil {
		t.Fatal(err)
	}
	if nm, err := exec.LookPath("nm"); err == nil {
		var names []string
		for line := range strings.Lines(run(t, nm, "-D", "--defined-only", library)) {
			name := strings.Fields(line)[2]
			if !bytes.Contains(header, []byte(name+"(")) {
				t.Errorf("the library shows %s", name)
			}
			names = append(names, name)
		}
		if !slices.Contains(names, "rev_call") || len(names) < 8 {
			t.Errorf("the library shows %q only", names)
		}
	}
	test := []string{"-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "testdata/test.c", "-L" + dir, "-lrevnum", "-Wl,-rpath," + dir, "-lpthread", "-lm"}
	for _, flags := range [][]string{nil, {"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"}} {
		program := filepath.Join(dir, "test")
		if out, err := exec.Command(cc, slices.Concat(flags, test, []string{"-o", program})...).CombinedOutput(); err != nil {
			if flags != nil && bytes.Contains(out, []byte("cannot find")) {
				t.Logf("no sanitizers here: %s", out)
				continue
			}
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%v: %s", flags, run(t, program, "50000"))
	}
	// The program of ports/README.md, whose gradient is x/‖x‖.
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```c\n")
	example, _, _ := strings.Cut(rest, "```")
	source, program := filepath.Join(dir, "norm.c"), filepath.Join(dir, "norm")
	if err := os.WriteFile(source, []byte(example), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, cc, "-Wall", "-Wextra", "-Werror", "-I.", source, "-L"+dir, "-lrevnum", "-Wl,-rpath,"+dir, "-o", program)
	if out, want := run(t, program), "3.74166, [0.267261 0.534522 0.801784]\n"; out != want {
		t.Errorf("the program of the README prints %q, want %q", out, want)
	}
	if valgrind, err := exec.LookPath("valgrind"); err == nil {
		run(t, valgrind, "--suppressions=valgrind.supp", "--leak-check=full", "--error-exitcode=1", program)
	}
	if cxx, err := exec.LookPath("c++"); err == nil {
		run(t, cxx, "-std=c++14", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "revnum_kernels.h")
	}
}
