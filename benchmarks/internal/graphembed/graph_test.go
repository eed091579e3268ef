package graphembed

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	for name, want := range map[string]struct{ vertices, edges int }{
		"petersen": {10, 15}, "complete:5": {5, 10}, "cycle:7": {7, 7}, "path:4": {4, 3}, "star:6": {6, 5},
		"wheel:5": {5, 8}, "tree:7": {7, 6}, "complete:1": {1, 0},
	} {
		g, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if g.Name != name || len(g.Labels) != want.vertices || g.Order() != want.vertices || g.Edges() != want.edges {
			t.Errorf("%s has %d vertices and %d edges, want %v", g.Name, len(g.Labels), g.Edges(), want)
		}
	}
}

// TestPetersen checks what makes it that graph: every vertex has three
// neighbours, connected ones have none in common, and others exactly one.
func TestPetersen(t *testing.T) {
	var next [10][10]int
	g, err := Load("petersen")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		for _, j := range g.Later(i) {
			next[i][j], next[j][i] = 1, 1
		}
	}
	for i := range 10 {
		for j := range 10 {
			common := 0
			for k := range 10 {
				common += next[i][k] * next[j][k]
			}
			want := 1 - next[i][j]
			if i == j {
				want = 3
			}
			if common != want {
				t.Errorf("%d and %d have %d neighbours in common, want %d", i, j, common, want)
			}
		}
	}
}

func TestReadEdges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edges.txt")
	const text = "\ufeffann # a comment\n\nann bob\nbob,ann\r\n\tbob \t cleo % another\ndora\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	g, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"ann", "bob", "cleo", "dora"}; !slices.Equal(g.Labels, want) {
		t.Errorf("vertices %q, want %q", g.Labels, want)
	}
	if g.Order() != 4 || g.Edges() != 2 || !g.Connected(0, 1) || !g.Connected(1, 2) {
		t.Errorf("%d vertices, %d edges", g.Order(), g.Edges())
	}
}

// TestReadEdgesCompressed checks that a compressed list is the graph of its text,
// and no vertex whose name is its bytes.
func TestReadEdgesCompressed(t *testing.T) {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	if _, err := z.Write([]byte("a b\nb c\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := file.String()
	g, err := ReadEdges(&file, "x.gz")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(g.Labels, want) || g.Edges() != 2 {
		t.Errorf("vertices %q and %d edges, want %q and 2", g.Labels, g.Edges(), want)
	}
	// A list that expands without end is ended by the limit of memory.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(32 << 20))
	r, w := io.Pipe()
	go func() {
		z := gzip.NewWriter(w)
		text := strings.Repeat("a b\n", 4096)
		for err := error(nil); err == nil; {
			_, err = io.WriteString(z, text)
		}
	}()
	if _, err := ReadEdges(r, "x.gz"); err == nil || !strings.HasPrefix(err.Error(), "x.gz: the numbers need ") {
		t.Error(err)
	}
	r.Close()
	if _, err := ReadEdges(strings.NewReader(whole[:len(whole)-4]), "x.gz"); err == nil {
		t.Error("no error for a file that ends early")
	}
}

func TestReadEdgesErrors(t *testing.T) {
	many := &strings.Builder{}
	for i := range maxVertices + 1 {
		fmt.Fprintf(many, "v%d\n", i)
	}
	for text, want := range map[string]string{
		"a b\nc d e\n":                       "x.txt:2: expected two vertices, or one, found 3 words",
		"a b\n\nc c\n":                       `x.txt:3: expected two different vertices, found "c" twice`,
		"":                                   "x.txt:1: expected vertices, found none",
		"# nothing\n":                        "x.txt:2: expected vertices, found none",
		"a b\n" + strings.Repeat("x", 70000): "x.txt:2: the line is longer than 65536 bytes",
		"a b\nc\x00 d\n":                     `x.txt:2: expected the name of a vertex, found "c\x00"`,
		"PK\x03\x04\xff":                     `x.txt:1: expected the name of a vertex, found "PK\x03\x04\xff"`,
		"\x1f\x8b\x00":                       "x.txt: unexpected EOF",
		many.String():                        `x.txt:401: expected at most 400 vertices, found another, "v400"`,
	} {
		if _, err := ReadEdges(strings.NewReader(text), "x.txt"); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"nonsense": "nonsense: neither a file nor one of petersen, complete:N",
		"cycle":    "cycle: expected a number of vertices, as in cycle:5",
		"cycle:2":  `cycle:2: expected 3 to 400 vertices, found "2"`,
		"path:1e9": `path:1e9: expected 2 to 400 vertices, found "1e9"`,
		"star:":    `star:: expected 2 to 400 vertices, found ""`,
		"tree:401": `tree:401: expected 1 to 400 vertices, found "401"`,
		dir:        "is a directory",
	} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// FuzzReadEdges checks that a list gives a graph as it should be, or an error
// that names the file and a line.
func FuzzReadEdges(f *testing.F) {
	f.Add("a b\nb c\nd\n")
	f.Add("1,2\r\n# x\n%\n\n2 1\n")
	f.Add("a a")
	f.Add("a b c")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadEdges(strings.NewReader(text), "x.txt")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.txt:") {
				t.Errorf("%v", err)
			}
			return
		}
		if len(g.Labels) == 0 || len(g.Labels) > maxVertices || g.Order() != len(g.Labels) {
			t.Errorf("%d vertices, %d labels", g.Order(), len(g.Labels))
		}
		for i, label := range g.Labels {
			if label == "" || strings.ContainsAny(label, " \t,#%\n") || slices.Contains(g.Labels[:i], label) {
				t.Errorf("vertices %q", g.Labels)
			}
		}
	})
}
