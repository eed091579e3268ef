package problem_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"revnum/benchmarks/internal/problem"
	"revnum/revmodels/gmm"
)

func read(s string, replicate bool) (*problem.GMM, error) {
	return problem.ReadGMM(strings.NewReader(s), "p.txt", int64(len(s)), replicate)
}

const small = `2 2 3
0.5
-1
1 2
3 4
0.1 0.2 0.3
0.4 0.5 0.6
1 1
2 -2.5e-1
3 3
1.5 2
`

func TestReadGMM(t *testing.T) {
	want := &problem.GMM{
		D: 2, K: 2, N: 3, Params: []float64{0.5, -1, 1, 2, 3, 4, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
		X: []float64{1, 1, 2, -0.25, 3, 3}, Gamma: 1.5, M: 2,
	}
	for name, s := range map[string]string{
		"lines":      small,
		"one line":   strings.Join(strings.Fields(small), " "),
		"one a line": strings.Join(strings.Fields(small), "\n") + "\n\n",
		"CRLF, tabs": strings.ReplaceAll(strings.ReplaceAll(small, "\n", " \r\n"), " ", "\t"),
	} {
		got, err := read(s, false)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
		// Read through a source of unknown size that gives one byte at a time.
		got, err = problem.ReadGMM(iotest.OneByteReader(strings.NewReader(s)), "p.txt", -1, false)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, by bytes: %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func TestReadGMMReplicated(t *testing.T) {
	s := "1 1 4\n0\n0\n0\n7\n1 0\n"
	got, err := read(s, true)
	if want := []float64{7, 7, 7, 7}; err != nil || !reflect.DeepEqual(got.X, want) {
		t.Errorf("%+v, %v, want points %v", got, err, want)
	}
}

func TestReadGMMErrors(t *testing.T) {
	lines := strings.SplitAfter(small, "\n")
	edit := func(line int, to string) string {
		l := append([]string(nil), lines...)
		l[line-1] = to
		return strings.Join(l, "")
	}
	for _, c := range []struct {
		name, in  string
		replicate bool
		want      string
	}{
		{name: "empty", in: "", want: "p.txt:1: expected the dimension d, a positive integer, found the end of the file"},
		{name: "no k", in: "2", want: "p.txt:1: expected the number of components k, a positive integer, found the end"},
		{name: "word for d", in: edit(1, "two 2 3\n"), want: `p.txt:1: expected the dimension d, a positive integer, found "two"`},
		{name: "fraction for d", in: edit(1, "2.5 2 3\n"), want: `p.txt:1: expected the dimension d, a positive integer, found "2.5"`},
		{name: "negative d", in: edit(1, "-2 2 3\n"), want: `p.txt:1: expected the dimension d, a positive integer, found "-2"`},
		{name: "negative k", in: edit(1, "2 -2 3\n"), want: `p.txt:1: expected the number of components k`},
		{name: "zero n", in: edit(1, "2 2 0\n"), want: `p.txt:1: expected the number of points n, a positive integer, found "0"`},
		{name: "huge d", in: edit(1, "99999999999999999999 2 3\n"), want: `p.txt:1: expected the dimension d`},
		{name: "d*n overflows", in: edit(1, "2 2 9223372036854775807\n"), want: "p.txt:1: "},
		{name: "d*d overflows", in: edit(1, "2147483647 2147483647 3\n"), want: "p.txt:1: d = 2147483647, k = 2147483647, n = 3: "},
		{name: "more than the file holds", in: edit(1, "2 2 1000000\n"), want: "p.txt:1: d = 2, k = 2, n = 1000000: expected 2000012 numbers, more than the file's"},
		{name: "replicated bomb", in: edit(1, "2 2 1000000000000\n"), replicate: true, want: "p.txt:1: "},
		{name: "word for alpha", in: edit(2, "x\n"), want: `p.txt:2: expected a finite number for alpha 1 of 2, found "x"`},
		{name: "NaN mean", in: edit(5, "3 NaN\n"), want: `p.txt:5: expected a finite number for mean 2 of 2, entry 2 of 2, found "NaN"`},
		{name: "infinite factor", in: edit(6, "0.1 -Inf 0.3\n"), want: `p.txt:6: expected a finite number for factor 1 of 2, entry 2 of 3, found "-Inf"`},
		{name: "overflowing point", in: edit(9, "2 1e999\n"), want: `p.txt:9: expected a finite number for point 2 of 3, entry 2 of 2, found "1e999"`},
		{name: "truncated", in: strings.Join(lines[:8], ""), want: "p.txt:9: expected a finite number for point 2 of 3, entry 1 of 2, found the end of the file"},
		{name: "no prior", in: strings.Join(lines[:10], ""), want: "p.txt:11: expected the prior's gamma, a positive number, found the end of the file"},
		{name: "ragged mean", in: edit(5, "3\n"), want: "line 5, near mean 2 of 2"},
		{name: "long point", in: edit(9, "2 2 2\n"), want: "line 9, near point 3 of 3"},
		{name: "zero gamma", in: edit(11, "0 0\n"), want: `p.txt:11: expected the prior's gamma, a positive number, found "0"`},
		{name: "fraction for m", in: edit(11, "1 0.5\n"), want: `p.txt:11: expected the prior's m, an integer of at least 0, found "0.5"`},
		{name: "negative m", in: edit(11, "1 -1\n"), want: `p.txt:11: expected the prior's m, an integer of at least 0, found "-1"`},
		{name: "trailing number", in: small + "17\n", want: `p.txt:12: expected the end of the file, found "17"`},
		{name: "binary", in: "\x00\x01\x02" + small, want: `p.txt:1: expected the dimension d, a positive integer, found "\x00\x01\x022"`},
		{name: "endless word", in: edit(2, strings.Repeat("1", 1<<20)+"\n"), want: "p.txt:2: expected a finite number for alpha 1 of 2: a word of more than 4096 characters"},
		{name: "long word", in: edit(2, strings.Repeat("x", 100)+"\n"), want: `found "` + strings.Repeat("x", 40) + `..."`},
		{name: "replicated, all points there", in: small, replicate: true, want: `p.txt:9: `},
	} {
		g, err := read(c.in, c.replicate)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, error %v, want one with %q", c.name, g, err, c.want)
		}
	}
}

func TestReadGMMReaderFails(t *testing.T) {
	broken := errors.New("broken")
	r := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(small)))
	if _, err := problem.ReadGMM(r, "p.txt", -1, false); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("error %v, want %v", err, iotest.ErrTimeout)
	}
	if _, err := problem.ReadGMM(iotest.ErrReader(broken), "p.txt", -1, false); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestLoadGMMErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := problem.LoadGMM(filepath.Join(dir, "missing.txt"), false); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "missing.txt") {
		t.Errorf("error %v, want one that says that missing.txt does not exist", err)
	}
	if _, err := problem.LoadGMM(dir, false); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("error %v, want one that says that it is a folder", err)
	}
}

// TestReadGMMAllocations checks that memory is allocated for arrays but not for single
// numbers.
func TestReadGMMAllocations(t *testing.T) {
	allocs := func(n int) float64 {
		g, err := problem.GenerateGMM(4, 2, n, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := g.Write(&b, false); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(5, func() {
			if _, err := problem.ReadGMM(bytes.NewReader(b.Bytes()), "p.txt", int64(b.Len()), false); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(10), allocs(1000); many > few {
		t.Errorf("%v allocations for 1000 points, %v for 10", many, few)
	}
}

// TestGenerateGMMFile checks that a problem in memory equals the one read back from its
// file.
func TestGenerateGMMFile(t *testing.T) {
	for _, replicate := range []bool{false, true} {
		g, err := problem.GenerateGMM(3, 4, 50, 7, replicate)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := g.Write(&b, replicate); err != nil {
			t.Fatal(err)
		}
		got, err := problem.ReadGMM(&b, "p.txt", -1, replicate)
		if err != nil || !reflect.DeepEqual(got, g) {
			t.Errorf("replicate %t: read back %+v, %v, want %+v", replicate, got, err, g)
		}
	}
}

// TestGenerateGMMDistribution compares means and variances with those of the
// distributions; all deviations are below 4 standard errors.
func TestGenerateGMMDistribution(t *testing.T) {
	g, err := problem.GenerateGMM(10, 500, 2000, 3, false)
	if err != nil {
		t.Fatal(err)
	}
	p := g.Parameters()
	for _, c := range []struct {
		name                     string
		x                        []float64
		mean, variance, kurtosis float64
	}{
		{"alpha", p.Alpha.Data, 0, 1, 3},
		{"means", p.Means.Data, 0.5, 1. / 12, 1.8},
		{"factors", p.Factors.Data, 0, 1, 3},
		{"x", g.X, 0, 1, 3},
	} {
		n := float64(len(c.x))
		var mean, variance float64
		for _, v := range c.x {
			mean += v / n
		}
		for _, v := range c.x {
			variance += (v - mean) * (v - mean) / n
		}
		if d := math.Abs(mean - c.mean); d > 4*math.Sqrt(c.variance/n) {
			t.Errorf("%s: mean %v, want %v", c.name, mean, c.mean)
		}
		if d := math.Abs(variance - c.variance); d > 4*c.variance*math.Sqrt((c.kurtosis-1)/n) {
			t.Errorf("%s: variance %v, want %v", c.name, variance, c.variance)
		}
	}
}

func TestGenerateGMMErrors(t *testing.T) {
	for _, c := range [][3]int{{0, 1, 1}, {1, 0, 1}, {1, 1, -1}, {math.MaxInt32, math.MaxInt32, 1}, {2, 1, math.MaxInt}, {1, 1, math.MaxInt / 8}} {
		if _, err := problem.GenerateGMM(c[0], c[1], c[2], 1, false); err == nil {
			t.Errorf("no error for d, k, n = %v", c)
		}
	}
}

func FuzzReadGMM(f *testing.F) {
	f.Add([]byte(small), false)
	f.Add([]byte("1 1 4\n0\n0\n0\n7\n1 0\n"), true)
	f.Add([]byte("2 2 9223372036854775807"), false)
	f.Add([]byte("1 1 3 nan"), false)
	f.Fuzz(func(t *testing.T, in []byte, replicate bool) {
		if n := bytes.Fields(in); replicate && len(n) > 2 && len(n[2]) > 6 {
			return // a million points are enough
		}
		g, err := problem.ReadGMM(bytes.NewReader(in), "p.txt", int64(len(in)), replicate)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.txt:") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		if len(g.Params) != g.K*(1+g.D+g.D*(g.D+1)/2) || len(g.X) != g.N*g.D {
			t.Errorf("sizes of %+v do not fit", g)
		}
		for _, x := range [][]float64{g.Params, g.X} {
			for _, v := range x {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%v was read", v)
				}
			}
		}
	})
}

// TestSigns compares both signs of the prior with known values for a problem of
// ADBench.
func TestSigns(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "shared", "data", "gmm", "gmm_10k_d10_K5.txt")
	if _, err := os.Stat(path); err != nil {
		t.Skip("ADBench's data is not here")
	}
	g, err := problem.LoadGMM(path, false)
	if err != nil {
		t.Fatal(err)
	}
	for sign, want := range map[gmm.Sign]float64{gmm.ADBench: -315926.3210425815, gmm.GradBench: -317141.3974} {
		if got := problem.NewGMMObjective[float64](g, sign, 0).Value(); !(math.Abs(got-want) <= 1e-4) {
			t.Errorf("sign %v: %v, want %v", sign, got, want)
		}
	}
}

// TestGenerated checks that the generator still writes the file that tests of adbench use.
func TestGenerated(t *testing.T) {
	g, err := problem.GenerateGMM(3, 4, 20, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := g.Write(&got, false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "adbench", "testdata", "gmm_d3_K4.txt")
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is not what gen gmm --d 3 --k 4 --n 20 --seed 1 writes (%v)", path, err)
	}
}
