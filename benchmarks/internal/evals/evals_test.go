package evals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const table = header + `
gmm,objective,d2,revnum,10,30,10,20
gmm,objective,d64,revnum,10,30,10,40
gmm,jacobian,d2,revnum,10,30,10,10
hello,square,3,revnum,10,30,10,10
gmm,objective,d2,manual,10,30,10,100
gmm,objective,d2,other,10,30,10,60
gmm,objective,d64,manual,10,30,10,40
gmm,jacobian,d2,manual,10,30,10,50
`

func load(t *testing.T, text string) ([]Row, error) {
	path := filepath.Join(t.TempDir(), "evals.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

// TestRatios wants the fastest other tool, the range over the sizes, and nothing for an eval
// that no other tool has.
func TestRatios(t *testing.T) {
	rows, err := load(t, table)
	if err != nil {
		t.Fatal(err)
	}
	got := Ratios(rows)
	want := []Ratio{{"gmm", "objective", 1, 3}, {"gmm", "jacobian", 5, 5}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, want %v", got, want)
	}
	path := filepath.Join(t.TempDir(), "speed.svg")
	if err := SaveFigure(rows, path); err != nil {
		t.Fatal(err)
	}
	if svg, err := os.ReadFile(path); err != nil || !strings.Contains(string(svg), "gmm jacobian") {
		t.Errorf("the figure does not name gmm jacobian (%v)", err)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "evals.csv:1: expected eval,function"},
		{"a,b\n", "evals.csv:1: expected eval,function"},
		{header + "\ngmm,objective,d2,revnum,10,30,0,20\n", `evals.csv:2: expected a number of nanoseconds, found "0"`},
		{header + "\ngmm,objective\n", "wrong number of fields"},
	} {
		if _, err := load(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
