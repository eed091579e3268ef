package command_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"revnum/program/command"
	"revnum/program/dataset"
)

func TestColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("a,1b,c\n1,2,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := dataset.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string][]int{"0,1": {0, 1}, "c, a": {2, 0}, "1b,2": {1, 2}, "c": {2}} {
		if got, err := command.Columns(table, s); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
}
