package sparse

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"revnum/rev"
	"revnum/revsparse"
)

func generate(t *testing.T, kind string, n, entries int, seed uint64) Matrix {
	t.Helper()
	a, err := Generate(kind, n, entries, seed)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestGenerate(t *testing.T) {
	const n, entries = 400, 7
	for _, kind := range Kinds {
		a := generate(t, kind, n, entries, 1)
		if _, err := revsparse.NewCSR(n, n, a.Ptr, a.Ind, a.Data); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		longest := 0
		for i := range n {
			row := a.Ind[a.Ptr[i]:a.Ptr[i+1]]
			longest = max(longest, len(row))
			for q := 1; q < len(row); q++ {
				if row[q] <= row[q-1] {
					t.Fatalf("%s: row %d has the columns %v, want them sorted", kind, i, row)
				}
			}
			if fixed := kind == "banded" || kind == "uniform"; fixed && len(row) != entries {
				t.Fatalf("%s: row %d has %d entries, want %d", kind, i, len(row), entries)
			}
			if kind == "banded" && (int(row[entries-1]-row[0]) != entries-1 || int(row[0]) > i || int(row[entries-1]) < i) {
				t.Fatalf("banded: row %d has the columns %v", i, row)
			}
		}
		if kind == "power-law" && (longest < 5*entries || a.NNZ() < n*entries/2 || a.NNZ() > 2*n*entries) {
			t.Errorf("power-law: %d entries, %d in the longest row, want about %d and a much longer one", a.NNZ(), longest, n*entries)
		}
		if kind == "laplacian" {
			continue
		}
		if b := generate(t, kind, n, entries, 1); !slices.Equal(a.Ind, b.Ind) || !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s: another matrix of the same seed", kind)
		}
		if b := generate(t, kind, n, entries, 2); slices.Equal(a.Data, b.Data) {
			t.Errorf("%s: the same matrix of another seed", kind)
		}
	}
}

func TestGenerateLaplacian(t *testing.T) {
	a := generate(t, "laplacian", 17, 1, 1)
	if a.Rows != 16 || a.NNZ() != 16+4*12 {
		t.Fatalf("%d rows and %d entries, want 16 and 64", a.Rows, a.NNZ())
	}
	d := revsparse.Dense(a)
	for i := range 16 {
		for j := range 16 {
			want := 0.0
			switch di, dj := i/4-j/4, i%4-j%4; di*di + dj*dj {
			case 0:
				want = 4
			case 1:
				want = -1
			}
			if got := d.Data[16*i+j]; got != want {
				t.Errorf("element %d, %d is %v, want %v", i, j, got, want)
			}
		}
	}
}

// The loops by hand do what loops over all elements do.
func TestByHand(t *testing.T) {
	const n = 30
	a, b := generate(t, "uniform", n, 4, 1), generate(t, "uniform", n, 9, 2)
	da, db := revsparse.Dense(a).Data, revsparse.Dense(b).Data
	for _, cols := range []int{1, 3} {
		p := newProduct(a, cols)
		c, trans := make([]float64, n*cols), make([]float64, n*cols)
		byHand(c, a, p.k.B.Data, cols)
		byHandTrans(trans, a, p.k.B.Data, cols)
		want, wantTrans := make([]float64, n*cols), make([]float64, n*cols)
		for i := range n {
			for j := range n {
				for l := range cols {
					want[i*cols+l] += da[i*n+j] * p.k.B.Data[j*cols+l]
					wantTrans[j*cols+l] += da[i*n+j] * p.k.B.Data[i*cols+l]
				}
			}
		}
		if e := max(difference(c, want), difference(trans, wantTrans)); e > 1e-14 {
			t.Errorf("%d columns: wrong by %v", cols, e)
		}
	}
	want := 0.0
	for i, x := range da {
		want += x * db[i]
	}
	if got := dotByHand(a, b); math.Abs(got-want) > 1e-13 || want == 0 {
		t.Errorf("the dot product is %v, want %v", got, want)
	}
}

// The check of a product finds errors.
func TestCheck(t *testing.T) {
	for _, cols := range []int{1, 3} {
		for _, c := range []struct {
			name  string
			spoil func(p *product)
		}{
			{"nothing", func(*product) {}},
			{"a value", func(p *product) { p.k.A.Data[5] += 1e-6 }},
			{"a transposed product", func(p *product) { p.k.Trans = true }},
			{"a column", func(p *product) { p.k.A.Ind[0] = (p.k.A.Ind[0] + 1) % 50 }},
		} {
			p := newProduct(generate(t, "uniform", 50, 5, 3), cols)
			p.k.A.Data, p.k.A.Ind = slices.Clone(p.a.Data), slices.Clone(p.a.Ind)
			c.spoil(p)
			if err := p.check(); (err == nil) != (c.name == "nothing") {
				t.Errorf("%d columns, %s spoilt: %v", cols, c.name, err)
			}
		}
	}
	if e := difference([]float64{1, 2, math.NaN()}, []float64{1, 2, 4}); e <= 1 {
		t.Errorf("NaN differs by %v", e)
	}
	if sameBits([]float64{0}, []float64{math.Copysign(0, -1)}) || !sameBits([]float64{math.NaN()}, []float64{math.NaN()}) {
		t.Error("sameBits does not compare bits")
	}
}

// A small matrix has no bars, whatever its name.
func TestMatrixBars(t *testing.T) {
	var r Report
	calls := 0
	if err := r.Matrix("banded", generate(t, "banded", 100, 5, 1), time.Microsecond, func() { calls++ }); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 6 || calls != 2 {
		t.Fatalf("%d rows and %d steps, want 6 and 2", len(r.Rows), calls)
	}
	for _, x := range r.Rows {
		if x.AtLeast != 0 || x.AtMost != 0 || x.OfPeak != 0 || !strings.HasSuffix(x.Matrix, "500 entries, less than 64 MiB: no bars") {
			t.Errorf("%+v", x)
		}
	}
	// A product with several columns has one more row, for the gradients alone.
	r.Rows = nil
	if err := r.measure("several", newProduct(generate(t, "banded", 100, 5, 1), 3), time.Microsecond, bars{gradients: 1e9, byHand: 1e9}, func() {}); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 8 {
		t.Fatalf("%d rows of several columns, want 8", len(r.Rows))
	}
	for i, x := range r.Rows {
		gradients := x.Call == "  all gradients alone"
		if gradients != (i%4 == 2) || gradients && x.AtMost != 1e9 || !(x.Ratio > 0) {
			t.Errorf("row %d: %+v", i, x)
		}
	}
	for _, c := range []struct {
		r    Row
		want bool
	}{
		{Row{Ratio: 9}, true},
		{Row{Ratio: 9, AtMost: 8}, false},
		{Row{Ratio: 8, AtMost: 8}, true},
		{Row{OfPeak: 0.5, AtLeast: 0.6}, false},
		{Row{OfPeak: 0.6, AtLeast: 0.6, Ratio: 2, AtMost: 1}, false},
	} {
		if c.r.Met() != c.want {
			t.Errorf("%+v: met %v", c.r, c.r.Met())
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	load := func(content string) (Matrix, error) {
		path := filepath.Join(dir, "a.mtx")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return Load(path)
	}
	const banner = "%%MatrixMarket matrix coordinate real "
	a, err := load(banner + "symmetric\n3 3 4\n1 1 2\n2 1 -1\n3 2 5\n3 3 7\n")
	if err != nil {
		t.Fatal(err)
	}
	want := rev.General[float64]{Rows: 3, Cols: 3, Stride: 3, Data: []float64{2, -1, 0, -1, 0, 5, 0, 5, 7}}
	if got := revsparse.Dense(a); !slices.Equal(got.Data, want.Data) {
		t.Errorf("read %v, want %v", got.Data, want.Data)
	}
	for content, want := range map[string]string{
		banner + "general\n2 2 1\n1 3 1\n":                "a.mtx:3: ",
		banner + "general\n2 2 2\n1 1 1\nx 1 1\n":         "a.mtx:4: ",
		banner + "general\n% note\n2 2\n":                 "a.mtx:3: ",
		banner + "general\n2 2 2\n1 1 1\n":                "a.mtx:",
		banner + "general\n0 0 0\n":                       "a.mtx: expected a matrix with entries",
		banner + "general\n1 1 1\n1 1 Inf\n":              "a.mtx: expected finite numbers",
		"%%MatrixMarket matrix array real general\n1 1\n": "a.mtx:1: ",
	} {
		if _, err := load(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", content, err, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.mtx")); err == nil || !strings.Contains(err.Error(), "none.mtx") {
		t.Errorf("a file that is not there: %v", err)
	}
}
