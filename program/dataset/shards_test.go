package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster/shard"
	"revnum/program/dataset"
)

// numbers returns n numbers 0, 0.5, ...
func numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) / 2
	}
	return x
}

func write(t *testing.T, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWriteNpy reads the file of WriteNpy with another reader.
func TestWriteNpy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	x := numbers(20000)
	if err := dataset.WriteNpy(path, 4000, 5, x); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var m mat.Dense
	if err := npyio.Read(f, &m); err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(&m, mat.NewDense(4000, 5, x)) {
		t.Error("read something else")
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, f := range []struct {
		name       string
		rows, cols int
	}{{"good.npy", 4, 3}, {"wide.npy", 3, 4}} {
		if err := dataset.WriteNpy(at(f.name), f.rows, f.cols, numbers(12)); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(at("good.npy"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, at("short.npy"), good[:len(good)-8])
	write(t, at("float32.npy"), []byte(strings.Replace(string(good), "<f8", "<f4", 1)))
	write(t, at("columns.npy"), []byte(strings.NewReplacer("False", "True", "}", "} ").Replace(string(good))))
	write(t, at("text.npy"), []byte("1,2\n"))
	write(t, at("odd.f64"), good[:41])
	write(t, at("x.txt"), good)
	for _, c := range []struct {
		cols  int
		names []string
		paths []string
		want  string
	}{
		{0, nil, []string{"good.npy", "wide.npy"}, "wide.npy: expected 3 columns, as "},
		{0, nil, []string{"missing.npy"}, "missing.npy: "},
		{0, nil, []string{"short.npy"}, "short.npy: 4×3 numbers are 96 bytes, and 88 follow the header"},
		{0, nil, []string{"float32.npy"}, `float32.npy: expected numbers of type "<f8", found "<f4"`},
		{0, nil, []string{"columns.npy"}, "columns.npy: expected a matrix by rows"},
		{0, nil, []string{"text.npy"}, "text.npy: expected a file in the .npy format"},
		{3, nil, []string{"odd.f64"}, "odd.f64: expected rows of 24 bytes for 3 columns, found 41 bytes"},
		{0, nil, []string{"odd.f64"}, "odd.f64: plain numbers, but the number of columns is not known"},
		{0, nil, []string{"x.txt"}, "x.txt: expected a name that ends in one of .bin, .f64, .npy, .raw"},
		{0, []string{"x", "y"}, []string{"good.npy"}, "good.npy: the columns have no names, expected none and found x, y"},
		{0, nil, []string{"x.parquet"}, "x.parquet: this program was built without Parquet"},
		{0, nil, nil, "no files"},
	} {
		var paths []string
		for _, p := range c.paths {
			paths = append(paths, at(p))
		}
		if _, err := dataset.Shards().OpenSet(0, shard.Columns{Count: c.cols, Names: c.names}, paths...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.paths, err, c.want)
		}
	}
	if _, err := shard.Glob(at("*.nothing")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a pattern of no file: %v", err)
	}
}

func TestSplit(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("a,b\n")
	for i := range 25 {
		fmt.Fprintf(&b, "%d,%g\n", i, float64(i)/4)
	}
	path, parts := write(t, filepath.Join(dir, "x.csv"), []byte(b.String())), filepath.Join(dir, "parts")
	paths, err := dataset.Split(t.Context(), path, parts, 10, false)
	if err != nil || len(paths) != 3 {
		t.Fatalf("%v (%v)", paths, err)
	}
	s, err := dataset.Shards().OpenSet(0, shard.Columns{}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if rows, cols := s.Dims(); rows != 25 || cols != 2 {
		t.Errorf("%d×%d, want 25×2", rows, cols)
	}
	if x, err := s.ReadRow(24); err != nil || x[0] != 24 || x[1] != 6 {
		t.Errorf("the last row is %v (%v)", x, err)
	}
}

// TestSplitAgain splits into a folder that has parts. Its files are all old or all new.
func TestSplitAgain(t *testing.T) {
	dir := t.TempDir()
	old := write(t, filepath.Join(dir, "old.csv"), []byte("1\n2\n3\n"))
	fresh := write(t, filepath.Join(dir, "new.csv"), []byte("4\n5\n"))
	bad := write(t, filepath.Join(dir, "bad.csv"), []byte("6\nseven\n"))
	parts := filepath.Join(dir, "parts")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		ctx     context.Context
		csv     string
		replace bool
		want    string // of the error
		files   []string
	}{
		{t.Context(), bad, false, "bad.csv:2: ", nil},
		{t.Context(), old, false, "", []string{"part-00000.npy", "part-00001.npy", "part-00002.npy"}},
		{t.Context(), fresh, false, "expected a folder without parts, found 3: part-00000.npy", []string{"part-00000.npy", "part-00001.npy", "part-00002.npy"}},
		{t.Context(), bad, true, "bad.csv:2: ", []string{"part-00000.npy", "part-00001.npy", "part-00002.npy"}},
		{stopped, fresh, true, "context canceled", []string{"part-00000.npy", "part-00001.npy", "part-00002.npy"}},
		{t.Context(), fresh, true, "", []string{"part-00000.npy", "part-00001.npy"}},
	} {
		_, err := dataset.Split(c.ctx, c.csv, parts, 1, c.replace)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.csv, err, c.want)
		}
		entries, err := os.ReadDir(parts)
		if c.files == nil {
			if !os.IsNotExist(err) {
				t.Errorf("%s: the folder is there (%v)", c.csv, err)
			}
			continue
		}
		var files []string
		for _, e := range entries {
			files = append(files, e.Name())
		}
		if !slices.Equal(files, c.files) {
			t.Errorf("%s: files %v, want %v", c.csv, files, c.files)
		}
	}
	s, err := dataset.Shards().OpenSet(0, shard.Columns{}, filepath.Join(parts, "part-00000.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if x, err := s.ReadRow(0); err != nil || x[0] != 4 {
		t.Errorf("the first row is %v (%v), want 4", x, err)
	}
}
