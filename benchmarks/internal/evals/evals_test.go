package evals

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const table = header + `
gmm,objective,d2,revnum,1,10,30,5,20,valid
gmm,objective,d64,revnum,1,10,30,10,40,valid
gmm,jacobian,d2,revnum,1,10,30,10,10,valid
hello,square,3,revnum,0,1,30,10,10,valid
gmm,objective,d2,manual,1,10,60,10,100,valid
gmm,objective,d2,other,1,10,90,30,60,valid
gmm,objective,d2,wrong,1,10,1,1,1,invalid
gmm,objective,d64,manual,1,10,30,10,40,valid
gmm,objective,d64,dead,1,0,0,0,0,silent
gmm,jacobian,d2,manual,1,10,30,10,50,valid
gmm,jacobian,d2,revgen,1,10,30,10,100,valid
gmm,jacobian,d2,revgen-minors,1,10,30,10,25,unjudged
`

func load(t *testing.T, text string) ([]Row, error) {
	path := filepath.Join(t.TempDir(), "evals.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

// TestRatios wants the fastest other tool by each time, the range over the sizes, nothing for an
// eval that no other tool has, and nothing of evaluations that are not valid.
func TestRatios(t *testing.T) {
	rows, err := load(t, table)
	if err != nil {
		t.Fatal(err)
	}
	got := Ratios(rows)
	want := []Ratio{
		{"gmm", "objective", "revnum", Range{1, 3}, Range{1, 2}, Range{1, 2}, "d64, manual"},
		{"gmm", "jacobian", "revnum", Range{5, 5}, Range{1, 1}, Range{1, 1}, "d2, manual"},
		{"gmm", "jacobian", "revgen", Range{0.5, 0.5}, Range{1, 1}, Range{1, 1}, "d2, manual"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var text strings.Builder
	if err := WriteRatios(&text, got); err != nil || !strings.Contains(text.String(), "revnum: gmm objective") || !strings.Contains(text.String(), "1 to 3") {
		t.Errorf("%s (%v)", &text, err)
	}
	var csv strings.Builder
	if err := Write(&csv, rows); err != nil || csv.String() != table {
		t.Errorf("written again, the table is\n%s (%v)", &csv, err)
	}
	path := filepath.Join(t.TempDir(), "speed.svg")
	if err := SaveFigure(rows, path); err != nil {
		t.Fatal(err)
	}
	if svg, err := os.ReadFile(path); err != nil || !strings.Contains(string(svg), "gmm jacobian") {
		t.Errorf("the figure does not name gmm jacobian (%v)", err)
	}
	minors := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Tool == "revnum" || r.Tool == "revgen" })
	for i := range minors {
		if minors[i].Tool == "revgen-minors" {
			minors[i].Tool, minors[i].Outcome = "revnum-minors", valid
		}
	}
	if err := SaveFigure(minors, path); err != nil {
		t.Fatal(err)
	}
	if svg, err := os.ReadFile(path); err != nil || !strings.Contains(string(svg), "another algorithm") || strings.Contains(string(svg), "revgen") {
		t.Errorf("the figure says that revgen wrote revnum-minors (%v)", err)
	}
}

// TestMerge wants a row measured again in its place, and new ones after those of their eval and tool.
func TestMerge(t *testing.T) {
	row := func(eval, size, tool string, seconds, mean float64) Row {
		return Row{Eval: eval, Size: size, Tool: tool, MinSeconds: seconds, Mean: mean}
	}
	old := []Row{row("a", "1", "x", 1, 1), row("a", "1", "y", 1, 1), row("b", "1", "x", 1, 1)}
	more := []Row{row("a", "1", "x", 1, 2), row("a", "2", "x", 1, 3), row("a", "1", "z", 1, 4), row("a", "1", "y", 0.1, 5), row("c", "1", "x", 1, 6)}
	want := []Row{more[0], more[1], old[1], more[3], more[2], old[2], more[4]}
	if got := Merge(old, more); !slices.Equal(got, want) || old[0].Mean != 1 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "evals.csv:1: expected eval,function"},
		{"a,b\n", "evals.csv:1: expected eval,function"},
		{header + "\ngmm,objective,d2,revnum,1,10,30,-1,20,valid\n", `evals.csv:2: expected a number, found "-1"`},
		{header + "\ngmm,objective\n", "wrong number of fields"},
	} {
		if _, err := load(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
