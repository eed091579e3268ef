package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTradeoff(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tradeoff")
	stdout := must(t, "tradeoff", "--most", "20", "--time", "1ms", "--out", dir)
	wantFiles(t, dir, "bytes.png", "bytes.svg", "steps.png", "steps.svg", "times.png", "times.svg", "tradeoff.csv", "tradeoff.json", "tradeoff.txt")
	text, err := os.ReadFile(filepath.Join(dir, "tradeoff.txt"))
	if err != nil || !strings.HasPrefix(stdout, string(text)) {
		t.Errorf("printed\n%sbut wrote\n%s(%v)", stdout, text, err)
	}
	f, err := os.Open(filepath.Join(dir, "tradeoff.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil || len(records) != 1+3*6 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestTradeoffBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tradeoff", "--most", "0"}, "--most: expected an integer from 1 to 4194304, found"},
		{[]string{"tradeoff", "--time", "0s"}, "--time: expected a duration from 1ns to 1h0m0s, found"},
		{[]string{"tradeoff", "x"}, `unknown command "x"`},
		{[]string{"tradeoff", "--out", "tradeoff_test.go"}, "tradeoff_test.go: expected a folder"},
	} {
		status, stdout, stderr := run("", c.args...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit status %d, %q, %q, want 1 and %q", c.args, status, stdout, stderr, c.want)
		}
	}
}
