package problem_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"revnum/benchmarks/internal/problem"
)

// TestBADifferences compares the Jacobian of a generated problem with differences. All
// copies of a parameter move together.
func TestBADifferences(t *testing.T) {
	p, err := problem.GenerateBA(3, 4, 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	o := problem.NewBAObjective[float64](p, 1)
	k := &o.Kernel
	params := [][]float64{k.Cameras.Data, k.Points.Data, k.Weights.Data}
	for i, x := range params {
		for j := range x {
			x[j] *= 1 + 1e-3*float64((7*i+3*j)%11)
		}
	}
	o.ValueJacobian()
	a := o.Jacobian
	got := make([]float64, a.Rows*a.Cols)
	for i := range a.Rows {
		for q := a.Ptr[i]; q < a.Ptr[i+1]; q++ {
			got[i*a.Cols+int(a.Ind[q])] = a.Data[q]
		}
	}
	errorsAt := func() []float64 {
		o.Value()
		return append(append([]float64(nil), k.R.Data...), k.Z.Data...)
	}
	col := 0
	for _, x := range params {
		for j := range x {
			keep, h := x[j], 1e-5*(1+math.Abs(x[j]))
			x[j] = keep + h
			up := errorsAt()
			x[j] = keep - h
			down := errorsAt()
			x[j] = keep
			for i := range up {
				want := (up[i] - down[i]) / (2 * h)
				if d := math.Abs(got[i*a.Cols+col] - want); !(d <= 1e-5*(1+math.Abs(want))) {
					t.Fatalf("row %d, column %d: %v, want %v", i, col, got[i*a.Cols+col], want)
				}
			}
			col++
		}
	}
	if col != a.Cols {
		t.Errorf("%d columns, want %d", a.Cols, col)
	}
}

func TestGenerateBA(t *testing.T) {
	for seed := range uint64(20) {
		p, err := problem.GenerateBA(2, 3, 4, seed)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		q, err := problem.ReadBA(strings.NewReader(b.String()), "it")
		if err != nil || *q != *p {
			t.Fatalf("read back as %+v, %v, want %+v", q, err, p)
		}
		o := problem.NewBAObjective[float64](p, 1)
		o.Value()
		for _, r := range o.Kernel.R.Data {
			if !(math.Abs(r) < 10) {
				t.Errorf("seed %d: an error of %v", seed, r)
			}
		}
	}
	for _, size := range [][3]int{{0, 1, 1}, {1, -1, 1}, {1, 1, 0}} {
		if _, err := problem.GenerateBA(size[0], size[1], size[2], 1); !errors.Is(err, problem.ErrSize) {
			t.Errorf("%v: %v, want ErrSize", size, err)
		}
	}
	if _, err := problem.GenerateBA(math.MaxInt, 1, 1, 1); err == nil {
		t.Error("a problem larger than the memory is drawn")
	}
}

const smallBA = "1 1 1\n0 0 0 0 0 0 1 0 0 0 0\n0 0 1\n1\n0 0\n"

func TestReadBAErrors(t *testing.T) {
	if _, err := problem.ReadBA(strings.NewReader(smallBA), "it"); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"":                                  "it:1: expected the number of cameras n",
		"1 0 1":                             "it:1: expected the number of points m",
		"1 1 x":                             "it:1: expected the number of observations p",
		"1 1 1\n1 2 nan":                    "it:2: expected a finite number for the camera, entry 3 of 11",
		smallBA[:len(smallBA)-3]:            "it:5: expected a finite number for the feature, entry 2 of 2, found the end",
		smallBA + "7":                       "it:6: expected the end of the file",
		"9223372036854775807" + smallBA[1:]: "it: n = 9223372036854775807, m = 1, p = 1",
	} {
		if _, err := problem.ReadBA(strings.NewReader(in), "it"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
	if _, err := problem.LoadBA(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := problem.LoadBA("missing.txt"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzReadBA(f *testing.F) {
	f.Add(smallBA)
	f.Add("2 10 10\n1 2 3")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := problem.ReadBA(strings.NewReader(s), "it")
		if (p == nil) != (err != nil) {
			t.Errorf("%v, %v", p, err)
		}
	})
}
