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

// TestMisuse asks for a block that is not there.
func TestMisuse(t *testing.T) {
	s, err := shard.NewSet(3, shard.Matrix("m", mat.NewDense(7, 3, numbers(21))))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range []int{-1, 3} {
		func() {
			defer func() {
				if err, _ := recover().(*rev.OperandError); !errors.Is(err, mat.ErrRowAccess) {
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
		{"", 0, nil, true}, {"12", 12, nil, true}, {"x", 0, []string{"x"}, true}, {"x,2", 0, []string{"x", "2"}, true},
		{"0", 0, nil, false}, {"-1", 0, nil, false}, {"x,", 0, nil, false}, {"x,y,x", 0, nil, false},
	} {
		got, err := shard.ParseColumns(c.text)
		if got.Count != c.count || !slices.Equal(got.Names, c.names) || (err == nil) != c.good {
			t.Errorf("%q: %v (%v)", c.text, got, err)
		}
	}
}
