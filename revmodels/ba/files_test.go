package ba

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
)

// shared returns the path of a reference file, and skips the test where the
// folder is missing.
func shared(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "ba", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	return path
}

func bal(t testing.TB, p *Problem) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteBAL(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRoundTripBAL(t *testing.T) {
	start, truth, err := Generate(&GenerateOptions{Cameras: 5, Points: 40, Observations: 150, Noise: 1, Start: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	extreme := twoViews()
	copy(extreme.Points, []float64{math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1), 1. / 3, -1e-310})
	for name, p := range map[string]*Problem{"empty": {}, "two": twoViews(), "extreme": extreme, "start": start, "truth": truth} {
		got, err := Read(strings.NewReader(bal(t, p)), name)
		if err != nil {
			t.Error(err)
			continue
		}
		if bal(t, got) != bal(t, p) || got.Validate() != nil {
			t.Errorf("%s: not the same numbers", name)
		}
		if name != "empty" && !reflect.DeepEqual(got, p) {
			t.Errorf("%s: not the same problem", name)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	p := twoViews()
	for _, name := range []string{"a.txt", "b.txt.gz", "c.GZ", "d"} {
		path := filepath.Join(dir, name)
		if err := WriteFile(path, p); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		b, err := os.ReadFile(path)
		if zipped := bytes.HasPrefix(b, []byte{0x1f, 0x8b}); err != nil || zipped != strings.HasSuffix(strings.ToLower(name), ".gz") {
			t.Errorf("%s: compressed: %v, %v", name, zipped, err)
		}
	}
	broken := twoViews()
	broken.Points[0] = math.NaN()
	for name, want := range map[string]string{
		"a.txt":     "a.txt: cannot write: ba: number 0 of point 0 is NaN",
		"b.txt.gz":  "b.txt.gz: cannot write: ba: number 0 of point 0 is NaN",
		"e.txt.bz2": "e.txt.bz2: cannot write: bzip2 is read only, use .gz",
	} {
		if err := WriteFile(filepath.Join(dir, name), broken); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	// The files are as they were, and nothing else is there.
	if got, err := ReadFile(filepath.Join(dir, "a.txt")); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%v, %v after a failure", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

// TestEndless reads files without end, as those that expand without end. The limit of memory ends
// them.
func TestEndless(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(32 << 20))
	for name, c := range map[string]struct{ first, rest string }{
		"observations":                 {"1 1 900000000000\n", "0 0 1 2\n"},
		"cameras":                      {"900000000 0 0\n", "1\n"},
		"bundle":                       {"# Bundle file v0.3\n1 900000000000\n1 0 0\n1 0 0 0 1 0 0 0 1\n0 0 0\n", "1 2 3 4 5 6 1 0 0 1 2\n"},
		"bundle without focal lengths": {"# Bundle file v0.3\n900000000 1\n", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"},
	} {
		pr, pw := io.Pipe()
		go func() {
			z := gzip.NewWriter(pw)
			text := strings.Repeat(c.rest, 4096)
			for _, err := io.WriteString(z, c.first); err == nil; {
				_, err = io.WriteString(z, text)
			}
		}()
		_, err := Read(pr, "x.gz")
		pr.Close()
		if err == nil || !strings.HasPrefix(err.Error(), "x.gz: the numbers need ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBzip2 reads a file that the program bzip2 wrote from the problem of the
// test.
func TestBzip2(t *testing.T) {
	p, err := ReadFile(filepath.Join("testdata", "two_views.txt.bz2"))
	if err != nil || !reflect.DeepEqual(p, twoViews()) {
		t.Errorf("%v, %v", p, err)
	}
}

// TestReferences reads the two reconstructions, of which one has a known cost.
func TestReferences(t *testing.T) {
	for name, want := range map[string]struct {
		counts [3]int
		cost   float64
	}{
		"bal-balbianello-5-544.txt": {[3]int{5, 544, 1417}, 126.92832321117257},
		"bal-dubrovnik-3-7-pre.txt": {[3]int{3, 7, 19}, math.NaN()},
	} {
		p, err := ReadFile(shared(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{p.NumCameras(), p.NumPoints(), p.NumObservations()}; got != want.counts {
			t.Errorf("%s: %v, want %v", name, got, want.counts)
		}
		r, _ := residuals(p)
		cost := 0.
		for _, v := range r {
			cost += v * v / 2
		}
		if !math.IsNaN(want.cost) && !(math.Abs(cost-want.cost) <= 1e-9*want.cost) {
			t.Errorf("%s: cost %v, want %v", name, cost, want.cost)
		}
	}
}

// bundler is a file of Bundler with three pictures, one of them not placed, and
// two points; the first camera has turned half around the second axis, and the
// third is that of the identity.
const bundler = `# Bundle file v0.3
3 2
5.0e+02 -1.0e-01 1.0e-02
-1 0 0
0 1 0
0 0 -1
1 2 -3
0 0 0
0 0 0
0 0 0
0 0 0
0 0 0
600 0 0
1 0 0
0 1 0
0 0 1
0 0 -4
0.5 0.25 -1
255 0 128
2 0 17 10.5 -20 2 3 1e1 2
1 2 3
0 0 0
0
`

func TestBundler(t *testing.T) {
	p, err := Read(strings.NewReader(bundler), "x.out")
	if err != nil {
		t.Fatal(err)
	}
	want := &Problem{
		Cameras: []float64{
			0, math.Pi, 0, 1, 2, -3, 500, -0.1, 0.01,
			0, 0, 0, 0, 0, 0, 0, 0, 0,
			0, 0, 0, 0, 0, -4, 600, 0, 0,
		},
		Points:   []float64{0.5, 0.25, -1, 1, 2, 3},
		Camera:   []int{0, 2},
		Point:    []int{0, 0},
		Features: []float64{10.5, -20, 10, 2},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// edit returns text with the line of that number, from 1, replaced.
func edit(text string, line int, with string) string {
	lines := strings.Split(text, "\n")
	lines[line-1] = with
	return strings.Join(lines, "\n")
}

// before returns the part of text before the string what.
func before(text, what string) string {
	first, _, _ := strings.Cut(text, what)
	return first
}

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMark reads files that begin with a byte-order mark.
func TestMark(t *testing.T) {
	for name, text := range map[string]string{"BAL": bal(t, twoViews()), "Bundler": bundler} {
		want, err := Read(strings.NewReader(text), name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(strings.NewReader("\ufeff"+text), name)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: not the same problem: %v", name, err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	good := bal(t, twoViews()) // lines: 1 header, 2 to 6 observations, 7 to 24 cameras, 25 to 33 points
	zipped := gzipped(t, good)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "x:1: expected the number of cameras of a BAL file, or # Bundle file v0.3, found the end of the file"},
		{"no number", "ply\n", `x:1: expected the number of cameras of a BAL file, or # Bundle file v0.3, found "ply"`},
		{"negative count", edit(good, 1, "2 -3 5"), `x:1: expected the number of points of a BAL file, or # Bundle file v0.3, found "-3"`},
		{"fraction", edit(good, 1, "2.5 3 5"), `found "2.5"`},
		{"count past all range", edit(good, 1, "2 3 99999999999999999999"), `x:1: expected the number of observations`},
		{"lying about observations", edit(good, 1, "2 3 100000000"), `x:12: expected the index of a point, 0 to 2, found "-5"`},
		{"lying about points", edit(good, 1, "2 100000000 5"), "x:34: expected a finite number for coordinate 1 of 3 of point 4 of 100000000, found the end of the file"},
		{"lying about cameras", edit(good, 1, "100000000 3 5"), "x:34: expected a finite number for parameter 1 of 9 of camera 4 of 100000000, found the end of the file"},
		{"no cameras", "0 1 1\n0 0 1 1\n0 0 0\n", `x:2: expected no observation, where there is no camera, found "0"`},
		{"camera out of range", edit(good, 3, "2 0 12.5 -3"), `x:3: expected the index of a camera, 0 to 1, found "2"`},
		{"negative camera", edit(good, 3, "-1 0 12.5 -3"), `x:3: expected the index of a camera, 0 to 1, found "-1"`},
		{"point out of range", edit(good, 6, "1 3 -120 7"), `x:6: expected the index of a point, 0 to 2, found "3"`},
		{"NaN feature", edit(good, 4, "0 1 NaN 51"), `x:4: expected a finite number for coordinate 1 of 2 of observation 3 of 5, found "NaN"`},
		{"infinite feature", edit(good, 4, "0 1 99 -Inf"), `x:4: expected a finite number for coordinate 2 of 2 of observation 3 of 5, found "-Inf"`},
		{"NaN camera", edit(good, 16, "nan"), `x:16: expected a finite number for parameter 1 of 9 of camera 2 of 2, found "nan"`},
		{"point too large", edit(good, 33, "1e400"), `x:33: expected a finite number for coordinate 3 of 3 of point 3 of 3, found "1e400"`},
		{"truncated in an observation", before(good, "12.5"), "x:3: expected a finite number for coordinate 1 of 2 of observation 2 of 5, found the end of the file"},
		{"truncated", good[:len(good)-4], "x:33: expected a finite number for coordinate 3 of 3 of point 3 of 3, found the end of the file"},
		{"too long", good + "7\n", `x:34: expected the end of the file, found "7"`},
		{"gzip without content", zipped[:5], "x: unexpected EOF"},
		{"gzip truncated", zipped[:len(zipped)/2], "unexpected EOF"},
		{"gzip without its sum", zipped[:len(zipped)-8], "x:34: expected the end of the file: unexpected EOF"},
		{"gzip with a wrong sum", zipped[:len(zipped)-8] + "12345678", "x:34: expected the end of the file: gzip: invalid checksum"},
		{"bzip2 without content", "BZh", "x:1: expected the number of cameras of a BAL file, or # Bundle file v0.3: unexpected EOF"},
		{"not bzip2", "BZh9 hello hello hello", "bzip2 data invalid"},

		{"another version", edit(bundler, 1, "# Bundle file v0.1"), `x:1: expected # Bundle file v0.3, found "v0.1"`},
		{"a comment", "# hello\n", `x:1: expected # Bundle file v0.3, found "hello"`},
		{"only a comment", "#", "x:1: expected # Bundle file v0.3, found the end of the file"},
		{"no counts", "# Bundle file v0.3\n", "expected the number of cameras, found the end of the file"},
		{"no points", "# Bundle file v0.3\n0\n", "expected the number of points, found the end of the file"},
		{"truncated camera", before(bundler, "600") + "600 0", "x:13: expected a finite number for number 3 of 15 of camera 3 of 3, found the end of the file"},
		{"not a rotation", edit(bundler, 14, "1.1 0 0"), "x:17: camera 3 of 3: expected a rotation matrix R, found one with an entry of R·Rᵀ - I, or det R - 1, of 0.21"},
		{"a reflection", edit(bundler, 14, "-1 0 0"), "camera 3 of 3: expected a rotation matrix R"},
		{"a point of NaN", edit(bundler, 18, "0.5 NaN -1"), `x:18: expected a finite number for number 2 of 6 of point 1 of 2, found "NaN"`},
		{"truncated point", before(bundler, " 128"), "x:19: expected a finite number for number 6 of 6 of point 1 of 2"},
		{"lying about views", edit(bundler, 20, "100000000 0 17 10.5 -20 2 3 1e1 2"), "x:21: expected a camera with a focal length, found 1"},
		{"negative views", edit(bundler, 23, "-1"), `x:23: expected the number of views of a point, found "-1"`},
		{"a camera out of range", edit(bundler, 20, "1 3 0 1 1"), `x:20: expected the index of a camera, 0 to 2, found "3"`},
		{"an absent camera", edit(bundler, 20, "1 1 0 1 1"), "x:20: expected a camera with a focal length, found 1"},
		{"a key that is none", edit(bundler, 20, "1 0 k 1 1"), `x:20: expected the key of a view, 0 or more, found "k"`},
		{"too long a bundle", bundler + "0", `x:24: expected the end of the file, found "0"`},
	} {
		p, err := Read(strings.NewReader(c.text), "x")
		if err == nil || !strings.HasPrefix(err.Error(), "x:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if p != nil && err == nil {
			t.Errorf("%s: %v", c.name, p)
		}
	}
}

// FuzzRead checks that whatever is read is a problem that is written and read
// again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(bal(f, twoViews())))
	f.Add([]byte(bundler))
	f.Add([]byte("0 0 0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Read(bytes.NewReader(text), "x")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x:") {
				t.Errorf("%v does not name the file", err)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		first := bal(t, p)
		again, err := Read(strings.NewReader(first), "y")
		if err != nil || bal(t, again) != first {
			t.Errorf("%v: %q became %v", err, first, again)
		}
	})
}
