package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"revnum/internal/long"
	"revnum/program"
)

func TestGraphEmbed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	stdout := must(t, "graphembed", "--k", "1..5", "--starts", "25", "--time", "1ms", "--out", dir)
	wantFiles(t, dir, "embedding_k2.png", "embedding_k2.svg", "embedding_k3.png", "embedding_k3.svg", "large.csv", "loss.png", "loss.svg",
		"results.csv", "results.json", "table.txt", "times.png", "times.svg")
	table, err := os.ReadFile(filepath.Join(dir, "table.txt"))
	if err != nil || !strings.HasPrefix(stdout, string(table)) {
		t.Errorf("printed\n%sbut wrote\n%s(%v)", stdout, table, err)
	}
	for _, want := range []string{
		`(?m)^petersen: 10 vertices, 15 edges, 2 held; 25 starts of Newton, seed 1$`,
		`(?m)^ +4 .* 0 of 25 `, `(?m)^ +5 .* 1\.41421356\d `,
		`(?m)^ +k +parameters +objective +gradient .* unstructured .* fd Hessian +error *$`, `(?m)^ +5 +50 +\d.* \d\.\de-\d\d *$`,
		`(?m)^random graph +n=2000 k=5 +1 +\d.*%`, `written to .*results\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("the output has no %s:\n%s", want, stdout)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Graph string
		Large []struct{ Params int }
		Rows  []struct {
			K            int
			Losses       []float64
			Unstructured float64 `json:"unstructured_error"`
			Differences  float64 `json:"fd_h_error"`
		}
	}
	if err := json.Unmarshal(b, &report); err != nil || report.Graph != "petersen" || len(report.Rows) != 5 || len(report.Large) != 1 {
		t.Fatalf("%v: results.json holds %.200s", err, b)
	}
	for i, row := range report.Rows {
		if row.K != i+1 || len(row.Losses) != 25 || (row.Losses[0] < 1e-20) != (row.K == 5) {
			t.Errorf("k = %d: losses %v", row.K, row.Losses)
		}
		if !(row.Unstructured < row.Differences) {
			t.Errorf("k = %d: errors of the Hessian %v by products and %v by differences", row.K, row.Unstructured, row.Differences)
		}
	}
}

func TestGraphEmbedFile(t *testing.T) {
	if !long.Tests() {
		t.Skip("measures the large graph again")
	}
	dir := t.TempDir()
	edges, out := filepath.Join(dir, "edges.txt"), filepath.Join(dir, "out")
	if err := os.WriteFile(edges, []byte("# a square\na b\nb c\nc d\nd a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout := must(t, "graphembed", "--graph", edges, "-k", "2", "--starts", "3", "--time", "1ms", "--seed", "5", "--out", out)
	if !strings.Contains(stdout, "4 vertices, 4 edges") || !strings.Contains(stdout, "seed 5") || !strings.Contains(stdout, "1.41421356") {
		t.Errorf("printed\n%s", stdout)
	}
	wantFiles(t, out, "embedding_k2.png", "embedding_k2.svg", "large.csv", "loss.png", "loss.svg", "results.csv", "results.json",
		"table.txt", "times.png", "times.svg")
}

func TestGraphEmbedErrors(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop.txt")
	if err := os.WriteFile(loop, []byte("a b\nc c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"x"}, `unknown command "x"`},
		{[]string{"--graph", "nonsense"}, "--graph: nonsense: neither a file nor one of petersen, complete:N"},
		{[]string{"--graph", loop}, "loop.txt:2: expected two different vertices"},
		{[]string{"--graph", dir}, "is a directory"},
		{[]string{"--k", "0"}, `--k: expected a number or a range such as 1..10, within 1..20, found "0"`},
		{[]string{"--k", "5..4"}, `found "5..4"`},
		{[]string{"--k", "1..21"}, `found "1..21"`},
		{[]string{"--k", "x"}, `found "x"`},
		{[]string{"--k", ".."}, `found ".."`},
		{[]string{"--starts", "0"}, "--starts: expected an integer from 1 to 1000000, found"},
		{[]string{"--time", "0s"}, "--time: expected a duration from 1ns"},
		{[]string{"--method", "magic"}, `--method: expected one of Newton, L-BFGS, Adam, found "magic"`},
		{[]string{"--out", filepath.Join(dir, "no", "such")}, "no such file"},
		{[]string{"--out", loop}, "loop.txt: expected a folder"},
	} {
		status, _, stderr := run("", append([]string{"graphembed", "--out", out}, c.args...)...)
		if status != 1 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "bug") {
			t.Errorf("%v: exit status %d, %q, want 1 and %q", c.args, status, stderr, c.want)
		}
	}
	wantFiles(t, dir, "loop.txt")
}

// TestGraphEmbedFull makes the command write to a device that is always full, first
// through a file and then as standard output.
func TestGraphEmbedFull(t *testing.T) {
	const full = "/dev/full"
	f, err := os.OpenFile(full, os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	dir := t.TempDir()
	if err := os.Symlink(full, filepath.Join(dir, "loss.svg")); err != nil {
		t.Skip(err)
	}
	args := []string{"graphembed", "--graph", "path:3", "--k", "1", "--starts", "1", "--time", "1ms", "--out", dir}
	if status, _, stderr := run("", args...); status != 1 || !strings.Contains(stderr, "loss.svg: cannot write: no space left on device") {
		t.Errorf("exit status %d, %q, want 1 and that no space is left", status, stderr)
	}
	var errs bytes.Buffer
	if status := program.Execute(newRoot(), args, strings.NewReader(""), f, &errs); status != 1 || !strings.Contains(errs.String(), "no space left on device") {
		t.Errorf("exit status %d, %q, want 1 and that no space is left", status, errs.String())
	}
	wantFiles(t, dir, "large.csv", "loss.png", "loss.svg", "results.csv", "results.json", "table.txt")
}
