package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
)

func TestReadCSV(t *testing.T) {
	want := mat.NewDense(2, 2, []float64{1, -2.5, 3e2, 4})
	for name, c := range map[string]struct {
		in    string
		names string
	}{
		"plain":       {in: "1,-2.5\n3e2,4\n"},
		"no newline":  {in: "1,-2.5\n300,4"},
		"header":      {in: "a,b c\n1,-2.5\n300,4\n", names: "a|b c"},
		"quoted":      {in: "\"a\",\"b,c\"\r\n\"1\",\"-2.5\"\r\n300,4\r\n", names: "a|b,c"},
		"semicolons":  {in: "a;b\n1;-2.5\n300;4\n", names: "a|b"},
		"tabs":        {in: "1\t-2.5\n300\t4\n"},
		"spaces":      {in: " 1 , -2.5 \n 300 , 4 \n"},
		"by spaces":   {in: "1 -2.5\n  300   4\n"},
		"names apart": {in: "# by, hand\na b\n1 -2.5\n300 4\n", names: "a|b"},
		"comments":    {in: "# by hand\n1,-2.5\n\n# more\n300,4\n"},
		"byte order":  {in: "\xef\xbb\xbfa,b\n1,-2.5\n300,4\n", names: "a|b"},
		"long header": {in: strings.Repeat("a", 1<<17) + ",b\n1,-2.5\n300,4\n", names: strings.Repeat("a", 1<<17) + "|b"},
	} {
		got, err := read(strings.NewReader(c.in), "x.csv", -1)
		if err != nil || !mat.Equal(got.X, want) || strings.Join(got.Names, "|") != c.names {
			t.Errorf("%s: %v, %v, want %v with names %q", name, got, err, want, c.names)
		}
	}
}

func TestReadCSVErrors(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"empty":           {"", "x.csv: expected rows of numbers, found none"},
		"header only":     {"a,b\n", "x.csv: expected rows of numbers, found none"},
		"ragged, short":   {"a,b\n1,2\n3\n", "x.csv:3: expected 2 numbers, found 1"},
		"ragged, long":    {"1,2\n3,4,5\n", "x.csv:2: expected 2 numbers, found 3"},
		"truncated":       {"1,2\n3,", `x.csv:2: expected a finite number for column 1, found ""`},
		"word":            {"width,height\n1,2\n3,tall\n", `x.csv:3: expected a finite number for height, found "tall"`},
		"word at first":   {"1,tall\n", `x.csv:1: expected a finite number for column 1, found "tall"`},
		"long word":       {"1," + strings.Repeat("x", 1000) + "\n", `found "` + strings.Repeat("x", 40) + `"...`},
		"missing":         {"1,2\n,4\n", `x.csv:2: expected a finite number for column 0, found ""`},
		"NaN":             {"1,2\n3,NaN\n", `x.csv:2: expected a finite number for column 1, found "NaN"`},
		"infinite":        {"1,2\n-inf,4\n", `x.csv:2: expected a finite number for column 0, found "-inf"`},
		"overflow first":  {"1e400,-1e400\n1,2\n", `x.csv:1: expected a finite number for column 0, found "1e400"`},
		"overflow":        {"1,2\n3,1e400\n", `x.csv:2: expected a finite number for column 1, found "1e400"`},
		"open quote":      {"1,2\n\"3,4\n", `x.csv:`},
		"stray quote":     {"1,2\n3\"3,4\n", `x.csv:2: expected CSV: bare "`},
		"binary":          {"\x00\x01\x02\x03", "x.csv"},
		"decimal commas":  {"1,5;2,5\n", `x.csv:1: expected a finite number for column 1, found "5;2"`},
		"the line counts": {"a,b\n# comment\n\n1,2\n3,x\n", `x.csv:5: `},
	} {
		got, err := read(strings.NewReader(c.in), "x.csv", -1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, error %v, want one with %q", name, got, err, c.want)
		}
	}
}

// endless is a text that repeats a line without end.
type endless string

// Read implements io.Reader.
func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	if n == 0 {
		n = copy(p, e)
	}
	return n, nil
}

// TestEndless reads files without end: the limits of a row and of memory end them.
func TestEndless(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		rest  endless
		want  string
	}{
		"rows":           {"a,b\n", "1.5,2\n", "x.csv: the numbers need "},
		"zeros":          {"", "\x00", "x.csv:1: expected a row of at most 16 MiB"},
		"a line":         {"1,2\n3,4\n", "5,", "x.csv:3: expected a row of at most 16 MiB"},
		"a number":       {"1,2\n", "5", "x.csv:2: expected a row of at most 16 MiB"},
		"quotes":         {"1,2\n\"", "5\n", "x.csv:2: expected a row of at most 16 MiB"},
		"comments":       {"1,2\n", "# 3\n", "x.csv:2: expected a row of at most 16 MiB"},
		"npy":            {string(npyFile("<f8", "False", "(1000000000000, 2)", []float64{})), "\x00", "x.csv: the numbers need "},
		"npy of columns": {string(npyFile("|u1", "True", "(1000000000000, 2)", []float64{})), "\x00", "x.csv: the numbers need "},
	} {
		limit := debug.SetMemoryLimit(-1)
		if strings.Contains(c.want, "need") { // below it, rows would be collected all the time
			debug.SetMemoryLimit(16 << 20)
		}
		got, err := read(io.MultiReader(strings.NewReader(c.first), endless(strings.Repeat(string(c.rest), 4096))), "x.csv", -1)
		debug.SetMemoryLimit(limit)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, error %v, want one with %q", name, got, err, c.want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "missing.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("error %v, want one that says that it is a folder", err)
	}
}

// npyFile returns a file of version 1 with the given header and array.
func npyFile(descr, order, shape string, array any) []byte {
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	h += strings.Repeat(" ", 63-(len(h)+10)%64) + "\n"
	b := bytes.NewBuffer(append(append([]byte(nil), npyMagic...), 1, 0))
	_ = binary.Write(b, binary.LittleEndian, uint16(len(h)))
	b.WriteString(h)
	if err := binary.Write(b, binary.LittleEndian, array); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestReadNpy(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	var written bytes.Buffer
	if err := npy.Write(&written, want); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]byte{
		"rows":          npyFile("<f8", "False", "(2, 3)", []float64{1, 2, 3, 4, 5, 6}),
		"columns":       npyFile("<f8", "True", "(2, 3)", []float64{1, 4, 2, 5, 3, 6}),
		"float32":       npyFile("<f4", "False", "(2, 3)", []float32{1, 2, 3, 4, 5, 6}),
		"int64":         npyFile("<i8", "False", "(2, 3)", []int64{1, 2, 3, 4, 5, 6}),
		"uint8":         npyFile("|u1", "True", "(2, 3)", []uint8{1, 4, 2, 5, 3, 6}),
		"the library's": written.Bytes(),
	} {
		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, in, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil || !mat.Equal(got.X, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}

	// More than one chunk, from a source of unknown size.
	long := make([]float64, 70000)
	for i := range long {
		long[i] = float64(i)
	}
	got, err := read(bytes.NewReader(npyFile("<f8", "False", "(70000,)", long)), "x.npy", -1)
	if err != nil || !mat.Equal(got.X, mat.NewDense(len(long), 1, long)) {
		t.Errorf("a vector: %v", err)
	}
}

func TestReadNpyErrors(t *testing.T) {
	six := []float64{1, 2, 3, 4, 5, 6}
	ok := npyFile("<f8", "False", "(2, 3)", six)
	version2 := append([]byte(nil), ok...)
	version2[6] = 2
	header := func(s string) []byte {
		b := append(append([]byte(nil), npyMagic...), 1, 0, byte(len(s)), 0)
		return append(b, s...)
	}
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"magic only":    {npyMagic, "the header is cut off"},
		"half a header": {ok[:50], "the header is cut off"},
		"long header":   {version2, "expected a header of at most 65536 bytes"},
		"no newline":    {header("{}"), "the header is malformed"},
		"cut shape":     {header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, \n"), "the header is malformed"},
		"no dictionary": {header("hello\n"), "the header is malformed"},
		"no shape":      {header("{'descr': '<f8', 'fortran_order': False, }\n"), "invalid dictionary"},
		"disordered":    {header("{'shape': (2,), 'fortran_order': False, 'descr': '<f8'}\n"), "malformed"},
		"order":         {npyFile("<f8", "Maybe", "(2, 3)", six), "fortran_order"},
		"word in shape": {npyFile("<f8", "False", "(2, x)", six), `"x"`},
		"3 dimensions":  {npyFile("<f8", "False", "(1, 2, 3)", six), "expected an array of 1 or 2 dimensions, found 3"},
		"scalar":        {npyFile("<f8", "False", "()", six), "expected an array of 1 or 2 dimensions, found 0"},
		"no rows":       {npyFile("<f8", "False", "(0, 3)", six), "expected a shape of positive numbers, found 0×3"},
		"negative":      {npyFile("<f8", "False", "(-2, -3)", six), "expected a shape of positive numbers, found -2×-3"},
		"overflow":      {npyFile("<f8", "False", "(4611686018427387904, 8)", six), "x.npy: "},
		"bomb":          {npyFile("<f8", "False", "(1000000000, 3)", six), "are 24000000000 bytes, and 48 follow the header"},
		"truncated":     {ok[:len(ok)-1], "are 48 bytes, and 47 follow the header"},
		"too long":      {append(ok[:len(ok):len(ok)], 0), "are 48 bytes, and 49 follow the header"},
		"unknown type":  {npyFile("<x8", "False", "(2, 3)", six), `unknown type "<x8"`},
		"complex":       {npyFile("<c16", "False", "(3,)", six), "expected real numbers, found complex128"},
		"NaN":           {npyFile("<f8", "False", "(2, 3)", []float64{1, 2, 3, math.NaN(), 5, 6}), "found NaN at row 1, column 0"},
		"infinite":      {npyFile("<f8", "True", "(2, 3)", []float64{1, 2, math.Inf(-1), 4, 5, 6}), "found -Inf at row 0, column 1"},
	} {
		got, err := read(bytes.NewReader(c.in), "x.npy", int64(len(c.in)))
		if err == nil || !strings.HasPrefix(err.Error(), "x.npy: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, error %v, want one with %q", name, got, err, c.want)
		}
	}
	// From a pipe, where only reading tells.
	for name, in := range map[string][]byte{"truncated": ok[:len(ok)-1], "too long": append(ok[:len(ok):len(ok)], 0)} {
		if got, err := read(bytes.NewReader(in), "x.npy", -1); err == nil {
			t.Errorf("%s: read %v", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a,b\n1,2\n"))
	f.Add([]byte("1;2\n3;4"))
	f.Add(npyFile("<f8", "False", "(2, 3)", []float64{1, 2, 3, 4, 5, 6}))
	f.Add(npyFile("|u1", "True", "(2,)", []uint8{1, 2}))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := read(bytes.NewReader(in), "x", int64(len(in)))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x:") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		r, c := got.X.Dims()
		if r < 1 || c < 1 || got.Names != nil && len(got.Names) != c {
			t.Errorf("%d×%d numbers, %d names", r, c, len(got.Names))
		}
		for _, v := range got.X.RawMatrix().Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v was read", v)
			}
		}
	})
}
