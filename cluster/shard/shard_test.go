package shard_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/cluster/shard"
	"revnum/rev"
)

// numbers returns n numbers 0, 0.5, ...
func numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) / 2
	}
	return x
}

// write writes plain numbers to a file.
func write(t *testing.T, path string, x []float64) string {
	t.Helper()
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSet(t *testing.T) {
	dir := t.TempDir()
	x := numbers(7 * 3)
	a, b := write(t, filepath.Join(dir, "a.f64"), x[:12]), write(t, filepath.Join(dir, "b.raw"), x[12:])

	s, err := shard.Raw().OpenSet(3, shard.Columns{Count: 3}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if rows, cols := s.Dims(); rows != 7 || cols != 3 || s.Blocks() != 3 {
		t.Fatalf("%d×%d numbers in %d blocks, want 7×3 in 3", rows, cols, s.Blocks())
	}
	var all []float64
	for block := range s.Blocks() {
		p, err := s.Read(block, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first, end := s.Rows(block); first != len(all)/3 || end-first != p.Rows {
			t.Errorf("block %d has rows %d to %d", block, first, end)
		}
		all = append(all, p.Data...)
	}
	if !slices.Equal(all, x) {
		t.Errorf("read %v, want %v", all, x)
	}
	for row := range 7 {
		if got, err := s.ReadRow(row); err != nil || !slices.Equal(got, x[3*row:3*row+3]) {
			t.Errorf("row %d is %v (%v)", row, got, err)
		}
	}
	if want := "blocks of 3 rows, a.f64 with 4×3 numbers, b.raw with 3×3 numbers"; s.String() != want {
		t.Errorf("%q, want %q", s, want)
	}
	if same, err := shard.NewSet(3, shard.Matrix("m", mat.NewDense(7, 3, x))); err != nil || same.Blocks() != 3 {
		t.Errorf("%v (%v), want 3 blocks", same, err)
	} else if p, err := same.Read(2, nil); err != nil || p.Rows != 1 || p.Data[0] != 9 {
		t.Errorf("block 2 is %v (%v)", p, err)
	}
}

// TestFiles reads rows of files, the last of them too, and some that are not there.
func TestFiles(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "a.f64"), numbers(21))
	raw, err := shard.Raw()[".f64"](path, shard.Columns{Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	after, err := shard.OpenAfter(path, 3*8, 6, 3)
	if err != nil {
		t.Fatal(err)
	}
	for rows, f := range map[int]shard.File{7: raw, 6: after, 5: shard.Matrix("m", mat.NewDense(5, 3, numbers(15)))} {
		dst := make([]float64, 6)
		last := numbers(21)[15:]
		if rows == 5 {
			last = numbers(15)[9:]
		}
		if err := f.Read(dst, rows-2); err != nil || !slices.Equal(dst, last) {
			t.Errorf("%s: the last rows are %v, want %v (%v)", f.Name(), dst, last, err)
		}
		for _, first := range []int{-1, rows - 1, rows} {
			want := fmt.Sprintf("%s: rows %d to %d, and there are %d", f.Name(), first, first+2, rows)
			if err := f.Read(dst, first); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := raw.Read(make([]float64, 3), 0); !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), path) {
		t.Errorf("a closed file: %v", err)
	}
}

// TestOpenErrors opens what are no sets of shards.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("a.f64"), numbers(6))
	write(t, at("empty.f64"), nil)
	if err := os.Mkdir(at("folder.f64"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		count int
		name  string
		want  string
	}{
		{0, "a.f64", "the number of columns is not known"},
		{4, "a.f64", "expected rows of 32 bytes for 4 columns, found 48 bytes"},
		{2, "empty.f64", "expected rows of 16 bytes for 2 columns, found 0 bytes"},
		{2, "folder.f64", "folder.f64: expected a file"},
		{2, "missing.f64", "missing.f64: "},
		{2, "a.csv", "expected a name that ends in one of .bin, .f64, .raw"},
		{2, "a.parquet", "built without Parquet"},
	} {
		if _, err := shard.Raw().OpenSet(0, shard.Columns{Count: c.count}, at(c.name)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := shard.Raw().OpenSet(0, shard.Columns{Names: []string{"x"}}, at("a.f64")); err == nil || !strings.Contains(err.Error(), "the columns have no names") {
		t.Errorf("names: %v", err)
	}
	if _, err := shard.OpenAfter(at("a.f64"), 8, 3, 2); err == nil || !strings.Contains(err.Error(), "3×2 numbers are 48 bytes, and 40 follow the header") {
		t.Errorf("a header: %v", err)
	}
	one := shard.Matrix("one", mat.NewDense(1, 1, nil))
	for _, c := range []struct {
		rows  int
		files []shard.File
		want  string
	}{
		{1, nil, "no files"},
		{-1, []shard.File{one}, "blocks of -1 rows, expected at least 1"},
		{1, []shard.File{one, shard.Matrix("two", mat.NewDense(1, 2, nil))}, "two: expected 1 columns, as one has, found 2"},
	} {
		if _, err := shard.NewSet(c.rows, c.files...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for rows, want := range map[int]int{0: shard.DefaultBlock, 1: 1} {
		if s, err := shard.NewSet(rows, one); err != nil || s.BlockRows() != want {
			t.Errorf("blocks of %d rows: %v", rows, err)
		}
	}
}

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	b, a := write(t, filepath.Join(dir, "b.f64"), numbers(1)), write(t, filepath.Join(dir, "a.f64"), numbers(1))
	if got, err := shard.Glob(filepath.Join(dir, "*.f64"), a); err != nil || !slices.Equal(got, []string{a, b, a}) {
		t.Errorf("%v (%v)", got, err)
	}
	s, err := shard.Raw().OpenSet(0, shard.Columns{Count: 1}, a, b)
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	for pattern, want := range map[string]string{filepath.Join(dir, "*.raw"): "no such file", "[": "syntax error"} {
		if _, err := shard.Glob(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}

// TestPowers compares with sums by hand.
func TestPowers(t *testing.T) {
	x := rev.General[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 5, 10}}
	for power, want := range map[int][]float64{1: {-1.5 + 2.5, -2.5 + 5.5}, 2: {1.5*1.5 + 2.5*2.5, 2.5*2.5 + 5.5*5.5}} {
		dst := []float64{100, 100}
		shard.Powers(dst, x, power, []float64{2, 4}, []float64{0.5, 0.5})
		if !slices.Equal(dst, want) {
			t.Errorf("power %d: %v, want %v", power, dst, want)
		}
	}
}

func TestCheckFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := numbers(12)
		s, err := shard.NewSet(2, shard.Matrix("good", mat.NewDense(3, 2, numbers(6))), shard.Matrix("bad", mat.NewDense(6, 2, x)))
		if err != nil {
			t.Fatal(err)
		}
		check := func(block int) error {
			p, err := s.Read(block, nil)
			if err != nil {
				t.Fatal(err)
			}
			return s.CheckFinite(block, p)
		}
		if err := check(3); err != nil {
			t.Error(err)
		}
		x[7] = bad
		if err, want := check(3), fmt.Sprintf("bad: expected finite numbers, found %v at row 3, column 1", bad); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestTruncated truncates a file after it was opened, within a page of memory and to nothing.
func TestTruncated(t *testing.T) {
	for _, size := range []int64{8*21 - 1, 0} {
		path := write(t, filepath.Join(t.TempDir(), "a.f64"), numbers(21))
		s, err := shard.Raw().OpenSet(7, shard.Columns{Count: 3}, path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(0, nil); err == nil || !strings.Contains(err.Error(), path+": expected 168 bytes from byte 0 on, found "+fmt.Sprint(size)) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestHash wants another hash for numbers that differ in a bit, a sign or their order, and
// the same for other blocks.
func TestHash(t *testing.T) {
	hash := func(blockRows int, x ...float64) (sums [2]uint64) {
		t.Helper()
		s, err := shard.NewSet(blockRows, shard.Matrix("a", mat.NewDense(len(x)-2, 1, x[:len(x)-2])), shard.Matrix("b", mat.NewDense(2, 1, x[len(x)-2:])))
		if err != nil {
			t.Fatal(err)
		}
		for b := range s.Blocks() {
			p, err := s.Read(b, nil)
			if err != nil {
				t.Fatal(err)
			}
			file, v := s.Hash(b, p)
			sums[file] += v
		}
		return sums
	}
	want := hash(1, 1, 2, 3, 4, 5)
	if got := hash(2, 1, 2, 3, 4, 5); got != want {
		t.Errorf("other blocks: %x, want %x", got, want)
	}
	for _, x := range [][]float64{{1, 2, math.Nextafter(3, 4), 4, 5}, {2, 1, 3, 4, 5}, {-1, -2, 3, 4, 5}, {0, 2, 3, 4, 5}} {
		if got := hash(1, x...); got[0] == want[0] || got[1] != want[1] {
			t.Errorf("%v: %x, want another first number than in %x", x, got, want)
		}
	}
}

// TestEmpty makes a set of files without rows.
func TestEmpty(t *testing.T) {
	none := shard.Matrix("none", new(mat.Dense))
	if _, err := shard.NewSet(3, none, none); err == nil || !strings.Contains(err.Error(), "none: expected rows, found none") {
		t.Error(err)
	}
}

// TestMisuse asks for a block that is not there.
func TestMisuse(t *testing.T) {
	s, err := shard.NewSet(3, shard.Matrix("m", mat.NewDense(7, 3, numbers(21))))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range []int{-1, 3} {
		func() {
			defer func() {
				if err, _ := recover().(*rev.OperandError); !errors.Is(err, mat.ErrRowAccess) || !strings.Contains(err.Error(), "want 0 to 2") {
					t.Errorf("block %d: %v", block, err)
				}
			}()
			s.Rows(block)
		}()
	}
}

func TestParseColumns(t *testing.T) {
	for _, c := range []struct {
		text  string
		count int
		names []string
		good  bool
	}{
		{"", 0, nil, true}, {"1", 1, nil, true}, {"12", 12, nil, true}, {"x", 0, []string{"x"}, true}, {"x,2", 0, []string{"x", "2"}, true},
		{"0", 0, nil, false}, {"-1", 0, nil, false}, {"x,", 0, nil, false}, {"x,y,x", 0, nil, false},
	} {
		got, err := shard.ParseColumns(c.text)
		if got.Count != c.count || !slices.Equal(got.Names, c.names) || (err == nil) != c.good {
			t.Errorf("%q: %v (%v)", c.text, got, err)
		}
	}
}
