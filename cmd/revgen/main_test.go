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
