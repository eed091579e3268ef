package program_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"revnum/program"
)

func TestCheckOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, err := range []error{
		os.WriteFile("x.csv", []byte("1,2\n"), 0o666), os.WriteFile("old", nil, 0o666), os.Mkdir("d", 0o777),
		os.Link("x.csv", "hard"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	links := true
	if err := errors.Join(os.Symlink("x.csv", "link"), os.Symlink("d", "e")); err != nil {
		links = false
		if runtime.GOOS != "windows" { // which lets few users make symbolic links
			t.Fatal(err)
		}
	}
	whole, err := filepath.Abs("x.csv")
	if err != nil {
		t.Fatal(err)
	}
	other := "" // NEW is another file than new
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		other = "--ply: expected another file"
	}
	for _, c := range []struct{ out, ply, want string }{
		{"", "", ""},
		{"new", "old", ""},
		{"old", "", ""},
		{"d/new", "e/other", ""},
		{"new", "d/new", ""},
		{"-", "new", ""},
		{os.DevNull, os.DevNull, ""},
		{"x.csv", "", "--out: x.csv is an input"},
		{"d/../x.csv", "", "is an input"},
		{whole, "", "is an input"},
		{"link", "", "--out: link is an input"},
		{"hard", "", "--out: hard is an input"},
		{"new", "./link", "--ply: ./link is an input"},
		{"new", "new", "--ply: expected another file than that of --out, found new"},
		{"new", "NEW", other},
		{"new", "./new", "--ply: expected another file"},
		{"d/new", "e/new", "--ply: expected another file"},
		{"old", "d/../old", "--ply: expected another file"},
		{"-", "-", "--ply: expected another file"},
		{"d", "", "--out: d: cannot write: is a folder"},
		{"no/new", "", "--out: no/new: cannot write: "},
	} {
		if !links && (c.out == "link" || c.ply == "./link" || strings.HasPrefix(c.ply, "e/")) {
			continue
		}
		err := program.CheckOutputs([]string{"x.csv"}, program.Output{Flag: "out", Path: c.out}, program.Output{Flag: "ply", Path: c.ply})
		switch {
		case c.out == "no/new" && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("%q: %v, want %v", c.out, err, fs.ErrNotExist)
		case c.want == "" && err != nil:
			t.Errorf("%q, %q: %v", c.out, c.ply, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "--") || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q, %q: %v, want %q", c.out, c.ply, err, c.want)
		}
	}
	if text, err := os.ReadFile("x.csv"); err != nil || string(text) != "1,2\n" {
		t.Errorf("the input is now %q, %v", text, err)
	}
}
