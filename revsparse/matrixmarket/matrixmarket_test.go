package matrixmarket_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/cmplx"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"revnum/revsparse"
	"revnum/revsparse/matrixmarket"
)

// dense returns the elements of a, row by row.
func dense[T matrixmarket.Number](a revsparse.CSR[T, int]) []T {
	d := make([]T, a.Rows*a.Cols)
	for i := range a.Rows {
		for e := a.Ptr[i]; e < a.Ptr[i+1]; e++ {
			d[i*a.Cols+a.Ind[e]] += a.Data[e]
		}
	}
	return d
}

// checkSorted checks that the columns of each row increase.
func checkSorted[T matrixmarket.Number](t *testing.T, a revsparse.CSR[T, int]) {
	t.Helper()
	if len(a.Ptr) != a.Rows+1 || a.Ptr[0] != 0 || a.Ptr[a.Rows] != len(a.Ind) || len(a.Ind) != len(a.Data) {
		t.Fatalf("rows at %v, %d columns, %d values", a.Ptr, len(a.Ind), len(a.Data))
	}
	for i := range a.Rows {
		for e := a.Ptr[i]; e < a.Ptr[i+1]; e++ {
			if a.Ind[e] < 0 || a.Ind[e] >= a.Cols || e > a.Ptr[i] && a.Ind[e] <= a.Ind[e-1] {
				t.Fatalf("columns of row %d: %v", i, a.Ind[a.Ptr[i]:a.Ptr[i+1]])
			}
		}
	}
}

func TestReadReal(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name, file   string
		field        matrixmarket.Field
		symmetry     matrixmarket.Symmetry
		stored, full []float64
	}{
		{"general", "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 4\n2 3 4e0\n1 2 -2.5\n% another\n1 1 1\n2 1 .5\n\n",
			matrixmarket.Real, matrixmarket.General, []float64{1, -2.5, 0, .5, 0, 4}, []float64{1, -2.5, 0, .5, 0, 4}},
		{"summed", "%%matrixmarket MATRIX Coordinate Real GENERAL\r\n1 2 4\r\n1 2 1\r\n1 1 2\r\n1 2 3\r\n1 2 -8\r\n",
			matrixmarket.Real, matrixmarket.General, []float64{2, -4}, []float64{2, -4}},
		{"integer symmetric", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n1 1 +7\n3 1 -2\n3 3 5\n2 1 4",
			matrixmarket.Integer, matrixmarket.Symmetric,
			[]float64{7, 0, 0, 4, 0, 0, -2, 0, 5}, []float64{7, 4, -2, 4, 0, 0, -2, 0, 5}},
		{"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n 2\t1   3 \n",
			matrixmarket.Real, matrixmarket.Skew, []float64{0, 0, 3, 0}, []float64{0, -3, 3, 0}},
		{"pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n",
			matrixmarket.Pattern, matrixmarket.Symmetric, []float64{0, 0, 1, 1}, []float64{0, 1, 1, 1}},
		{"marked", "\ufeff%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 3\n",
			matrixmarket.Real, matrixmarket.General, []float64{0, 3}, []float64{0, 3}},
		{"infinite", "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 -Inf\n1 2 inf\n",
			matrixmarket.Real, matrixmarket.General, []float64{-inf, inf}, []float64{-inf, inf}},
		{"empty", "%%MatrixMarket matrix coordinate real general\n0 4 0\n", matrixmarket.Real, matrixmarket.General, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := matrixmarket.Read[float64](iotest.OneByteReader(strings.NewReader(c.file)))
			if err != nil {
				t.Fatal(err)
			}
			full := m.Full()
			checkSorted(t, m.Stored)
			checkSorted(t, full)
			if m.Field != c.field || m.Symmetry != c.symmetry || !slices.Equal(dense(m.Stored), c.stored) || !slices.Equal(dense(full), c.full) {
				t.Errorf("%v %v, stored %v, full %v", m.Field, m.Symmetry, dense(m.Stored), dense(full))
			}
			// A real matrix is a complex one too.
			z, err := matrixmarket.Read[complex128](strings.NewReader(c.file))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range dense(z.Full()) {
				if v != complex(c.full[i], 0) {
					t.Errorf("complex element %d is %v, want %v", i, v, c.full[i])
				}
			}
		})
	}
}

func TestReadComplex(t *testing.T) {
	const file = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n2 2 5 0\n1 1 1 0\n2 1 3 -4\n"
	m, err := matrixmarket.Read[complex128](strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dense(m.Full()), []complex128{1, 3 + 4i, 3 - 4i, 5}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	m, err = matrixmarket.Read[complex128](strings.NewReader(strings.Replace(file, "hermitian", "symmetric", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dense(m.Full()), []complex128{1, 3 - 4i, 3 - 4i, 5}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReadBadInput(t *testing.T) {
	const banner = "%%MatrixMarket matrix coordinate "
	real := banner + "real general\n"
	most := fmt.Sprint(math.MaxInt)
	for _, c := range []struct{ file, want string }{
		{"", "line 1: expected \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\", found the end of the file"},
		{"1 2 3\n", `line 1: expected "%%MatrixMarket matrix coordinate FIELD SYMMETRY", found "1 2 3"`},
		{"%%MatrixMarket vector coordinate real general\n", `line 1: expected matrix, found "vector"`},
		{"%%MatrixMarket matrix array real general\n", `line 1: expected coordinate, found "array"`},
		{banner + "quaternion general\n", "line 1: expected real, integer, complex or pattern as the fourth word"},
		{banner + "real\n", "line 1: expected general, symmetric, skew-symmetric or hermitian as the fifth word"},
		{banner + "real general x\n", `line 1: expected the end of the line, found "x"`},
		{banner + "complex general\n", "line 1: expected real numbers, found a complex matrix"},
		{banner + "real hermitian\n", "no real matrix is hermitian"},
		{banner + "pattern skew-symmetric\n", "no pattern matrix is skew-symmetric"},
		{real, "line 1: expected the numbers of rows, columns and entries, found the end of the file"},
		{real + "% only\n1 2\n", `line 3: expected the number of entries, found ""`},
		{real + "1 -2 3\n", `line 2: expected the number of columns, found "-2"`},
		{real + "99999999999999999999 2 3\n", `line 2: expected the number of rows, found "99999999999999999999"`},
		{real + "1 2 3 4\n", `line 2: expected the end of the line, found "4"`},
		{banner + "real symmetric\n2 3 0\n", "line 2: expected as many rows as columns of a symmetric matrix, found 2 and 3"},
		{real + "2 2 2\n1 1 1\n", "line 3: expected entry 2 of 2, found the end of the file"},
		{real + "2 2 1\n1 1 1\n2 2 1\n", "line 4: expected the end of the file after 1 entries"},
		{real + "2 2 1\n3 1 1\n", `line 3: expected a row from 1 to 2, found "3"`},
		{real + "2 2 1\n1 0 1\n", `line 3: expected a column from 1 to 2, found "0"`},
		{real + "2 2 1\n1 1\n", `line 3: expected a number (real), found ""`},
		{real + "2 2 1\n1 1 1e999\n", `line 3: expected a number (real), found "1e999"`},
		{real + "2 2 1\n1 1 1 1\n", `line 3: expected the end of the line, found "1"`},
		{real + "2 2 1\n1 1 " + strings.Repeat("x", 100) + "\n", `found "` + strings.Repeat("x", 40) + `..."`},
		{banner + "integer general\n2 2 1\n1 1 1.5\n", `line 3: expected an integer, found "1.5"`},
		{banner + "real symmetric\n2 2 1\n1 2 1\n", "line 3: expected no entry above the diagonal of a symmetric matrix, found row 1, column 2"},
		{banner + "real skew-symmetric\n2 2 1\n1 1 1\n", "line 3: expected zeros on the diagonal of a skew-symmetric matrix"},
		{real + most + " 1 0\n", "expected at most 64 rows for each entry, found " + most + " with 0"},
		{real + "2000000 1 1\n1 1 1\n", "expected at most 64 rows for each entry"},
		{real + "2 2 " + most + "\n1 1 1\n", "line 3: expected entry 2 of " + most + ", found the end of the file"},
		{real + "%" + strings.Repeat("x", 2<<20) + "\n", "line 2: expected a line of at most 1048576 characters"},
		{"\x1f\x8bnot gzip", "line 1: "},
	} {
		_, err := matrixmarket.Read[float64](strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "matrixmarket: line ") {
			t.Errorf("%.80q: error %v, want %s", c.file, err, c.want)
		}
	}
	for _, c := range []struct{ file, want string }{
		{banner + "complex hermitian\n1 1 1\n1 1 2 3\n", "line 3: expected real numbers on the diagonal of a hermitian matrix"},
		{banner + "complex general\n1 1 1\n1 1 2\n", `line 3: expected a number (imaginary part), found ""`},
	} {
		if _, err := matrixmarket.Read[complex128](strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.file, err, c.want)
		}
	}

	broken := errors.New("broken")
	whole := []byte(real + "1 1 1\n1 1 1\n")
	for n := range whole {
		if _, err := matrixmarket.Read[float64](&failing{bytes.NewReader(whole[:n]), broken}); !errors.Is(err, broken) {
			t.Errorf("error %v after %d bytes, want that of the reader", err, n)
		}
	}
}

// failing reads r, and has an error where that ends.
type failing struct {
	r   *bytes.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.r.Len() == 0 {
		return 0, f.err
	}
	return f.r.Read(p)
}

func TestFiles(t *testing.T) {
	m := &matrixmarket.Matrix[float64]{Symmetry: matrixmarket.Symmetric, Stored: revsparse.CSR[float64, int]{
		Rows: 3, Cols: 3, Ptr: []int{0, 1, 2, 4}, Ind: []int{0, 1, 0, 2},
		Data: []float64{1.0 / 3, math.SmallestNonzeroFloat64, math.Inf(-1), math.Copysign(0, -1)},
	}}
	dir := t.TempDir()
	for _, name := range []string{"a.mtx", "a.mtx.gz"} {
		path := filepath.Join(dir, name)
		if err := matrixmarket.WriteFile(path, m); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(b, []byte("%%MatrixMarket")) != (name == "a.mtx") {
			t.Errorf("%s begins with %.10q, %v", name, b, err)
		}
		got, err := matrixmarket.ReadFile[float64](path)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%b %v", got.Stored.Data, got) != fmt.Sprintf("%b %v", m.Stored.Data, m) {
			t.Errorf("%s: read %v, want %v", name, got, m)
		}
	}

	// A compressed file that is cut off.
	path := filepath.Join(dir, "a.mtx.gz")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b[:len(b)-10], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := matrixmarket.ReadFile[float64](path); err == nil || !strings.HasPrefix(err.Error(), path+":") {
		t.Errorf("error %v for a truncated file, want one that names it", err)
	}
	if _, err := matrixmarket.ReadFile[float64](filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v for no file", err)
	}

	// A matrix that cannot be written leaves the file as it is.
	path = filepath.Join(dir, "a.mtx")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m.Field = matrixmarket.Pattern
	if err := matrixmarket.WriteFile(path, m); err == nil || !strings.Contains(err.Error(), "a.mtx: cannot write: matrixmarket: expected 1, found 0.333") {
		t.Errorf("error %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file holds %q, %v, want %q", after, err, before)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestWriteBadInput(t *testing.T) {
	one := func(v float64) revsparse.CSR[float64, int] {
		return revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 1, 1}, Ind: []int{1}, Data: []float64{v}}
	}
	for _, c := range []struct {
		m    matrixmarket.Matrix[float64]
		want string
	}{
		{matrixmarket.Matrix[float64]{Symmetry: matrixmarket.Symmetric, Stored: one(1)}, "no entry above the diagonal"},
		{matrixmarket.Matrix[float64]{Field: matrixmarket.Integer, Stored: one(math.NaN())}, "expected an integer, found NaN"},
		{matrixmarket.Matrix[float64]{Symmetry: matrixmarket.Hermitian, Stored: one(1)}, "no real matrix is hermitian"},
		{matrixmarket.Matrix[float64]{Symmetry: matrixmarket.Skew, Stored: revsparse.CSR[float64, int]{Cols: 1, Ptr: []int{0}}}, "found 0 and 1"},
		{matrixmarket.Matrix[float64]{Stored: revsparse.CSR[float64, int]{Rows: 1 << 21, Ptr: make([]int, 1<<21+1)}}, "found 2097152 with 0"},
		{matrixmarket.Matrix[float64]{Field: matrixmarket.Pattern, Stored: one(1).With(nil)}, "0 values for 1"},
		{matrixmarket.Matrix[float64]{Stored: revsparse.CSR[float64, int]{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{1}, Data: []float64{1}}}, "column 1 is not in"},
	} {
		var b bytes.Buffer
		if err := matrixmarket.Write(&b, &c.m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	if err := matrixmarket.Write(full, &matrixmarket.Matrix[float64]{Stored: one(1)}); err == nil {
		t.Error("no error where no space is left")
	}
}

// TestEndless reads a file that expands without end. The limit of memory ends it.
func TestEndless(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	r, w := io.Pipe()
	go func() {
		z := gzip.NewWriter(w)
		text := strings.Repeat("2 2 1\n", 4096)
		for _, err := io.WriteString(z, "%%MatrixMarket matrix coordinate real general\n2 2 900000000000\n"); err == nil; {
			_, err = io.WriteString(z, text)
		}
	}()
	_, err := matrixmarket.Read[float64](r)
	r.Close()
	if err == nil || !strings.HasPrefix(err.Error(), "matrixmarket: the numbers need ") {
		t.Error(err)
	}
}

// FuzzReadMatrixMarket checks that what is read is well formed, and the same if it
// is written and read again.
func FuzzReadMatrixMarket(f *testing.F) {
	const banner = "%%MatrixMarket matrix coordinate "
	for _, s := range []string{
		"real general\n2 3 2\n1 1 1.5\n2 3 -2\n", "integer symmetric\n2 2 2\n2 1 4\n2 1 4\n", "pattern general\n1 1 1\n1 1\n",
		"complex hermitian\n2 2 2\n1 1 1 0\n2 1 0 1\n", "real skew-symmetric\n2 2 1\n2 1 NaN\n", "real general\n1000000 0 0\n",
	} {
		f.Add([]byte(banner + s))
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(banner + "real general\n1 1 1\n1 1 1\n"))
	_ = w.Close()
	f.Add(z.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := matrixmarket.Read[complex128](bytes.NewReader(file))
		if err != nil {
			return
		}
		checkSorted(t, m.Stored)
		checkSorted(t, m.Full())
		if m.Field == matrixmarket.Pattern || m.Field == matrixmarket.Integer {
			m.Field = matrixmarket.Real // sums of entries need not be ones, or finite
		}
		var b bytes.Buffer
		if err := matrixmarket.Write(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := matrixmarket.Read[complex128](&b)
		if err != nil {
			t.Fatal(err)
		}
		same := again.Field == m.Field && again.Symmetry == m.Symmetry && again.Stored.Cols == m.Stored.Cols &&
			slices.Equal(again.Stored.Ptr, m.Stored.Ptr) && slices.Equal(again.Stored.Ind, m.Stored.Ind) &&
			slices.EqualFunc(again.Stored.Data, m.Stored.Data, func(a, b complex128) bool { return a == b || cmplx.IsNaN(a) && cmplx.IsNaN(b) })
		if !same {
			t.Errorf("read %v, and after it was written %v", m, again)
		}
	})
}

func ExampleRead() {
	const file = `%%MatrixMarket matrix coordinate real symmetric
3 3 4
1 1 2
2 1 -1
2 2 2
3 2 -1
`
	m, err := matrixmarket.Read[float64](strings.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	a := m.Full()
	fmt.Println(m.Field, m.Symmetry, len(m.Stored.Data), "stored")
	fmt.Println(a.Ptr, a.Ind, a.Data)
	// Output:
	// real symmetric 4 stored
	// [0 2 5 6] [0 1 0 1 2 1] [2 -1 -1 2 -1 -1]
}

func ExampleWrite() {
	m := &matrixmarket.Matrix[float64]{Field: matrixmarket.Real, Symmetry: matrixmarket.Symmetric}
	m.Stored, _ = revsparse.NewCSR(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{2, -1, 2})
	if err := matrixmarket.Write(os.Stdout, m); err != nil {
		log.Fatal(err)
	}
	// Output:
	// %%MatrixMarket matrix coordinate real symmetric
	// 2 2 3
	// 1 1 2
	// 2 1 -1
	// 2 2 2
}
