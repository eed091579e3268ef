package ulog

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
)

func TestVector(t *testing.T) {
	logs := mat.NewVecDense(3, []float64{0, math.Log(2), -inf})
	v := VectorOfLogs(logs)
	if v.Len() != 3 || !mat.EqualApprox(v, mat.NewVecDense(3, []float64{1, 2, 0}), 1e-15) {
		t.Errorf("values are %v", mat.Formatted(v))
	}
	if !mat.EqualApprox(v.T(), mat.NewDense(1, 3, []float64{1, 2, 0}), 1e-15) {
		t.Errorf("transpose is %v", mat.Formatted(v.T()))
	}
	if d := mat.Dot(v, v); math.Abs(d-5) > 1e-14 {
		t.Errorf("dot is %v", d)
	}
	v.SetLogAt(2, Float64{1000})
	if logs.AtVec(2) != 1000 || v.AtVec(2) != inf || v.LogAt(2).Log != 1000 {
		t.Errorf("the vector does not share storage: %v", logs)
	}
	// A strided view, over each type.
	s := Vector[Fixed]{2, []Fixed{NewFixed(1), NewFixed(7), NewFixed(2)}, 2}
	if s.AtVec(0) != 1 || s.At(1, 0) != NewFixed(2).Float64() {
		t.Errorf("strided vector is %v", mat.Formatted(s))
	}
	if x := NewVector([]Signed{NewSigned(-1)}).AtVec(0); x != -1 {
		t.Errorf("signed element is %v", x)
	}
	if x := NewVector([]Float32{{1}}).AtVec(0); x != exp(1) {
		t.Errorf("Float32 element is %v", x)
	}
}

func TestMatrix(t *testing.T) {
	logs := mat.NewDense(2, 3, []float64{0, math.Log(2), math.Log(3), -inf, math.Log(5), math.Log(6)})
	want := mat.NewDense(2, 3, []float64{1, 2, 3, 0, 5, 6})
	m := MatrixOfLogs(logs)
	if !mat.EqualApprox(m, want, 1e-15) || !mat.EqualApprox(m.T(), want.T(), 1e-15) {
		t.Errorf("values are %v", mat.Formatted(m))
	}
	var p, q mat.Dense
	p.Mul(m, m.T())
	q.Mul(want, want.T())
	if !mat.EqualApprox(&p, &q, 1e-13) {
		t.Errorf("product is %v", mat.Formatted(&p))
	}
	m.SetLogAt(1, 0, Float64{-5})
	if logs.At(1, 0) != -5 {
		t.Error("the matrix does not share storage")
	}
	for j := range 3 {
		c := m.Col(j)
		for i := range 2 {
			r := m.Row(i)
			if c.LogAt(i) != m.LogAt(i, j) || r.LogAt(j) != m.LogAt(i, j) || r.Len() != 3 || c.Len() != 2 {
				t.Errorf("row or column at %d, %d is not the matrix", i, j)
			}
		}
	}
	// A view with gaps.
	view := MatrixOfLogs(logs.Slice(0, 2, 1, 3).(*mat.Dense))
	if r, c := view.Dims(); r != 2 || c != 2 || view.LogAt(1, 1) != m.LogAt(1, 2) || view.Row(1).LogAt(0) != m.LogAt(1, 1) || view.Col(1).LogAt(1) != m.LogAt(1, 2) {
		t.Errorf("view is %v", mat.Formatted(view))
	}
	if x := NewMatrix[Fixed](2, 2, nil).At(1, 1); x != 1 {
		t.Errorf("new element is %v", x)
	}
	if c := NewMatrix[Float64](0, 3, nil).Col(2); c.Len() != 0 {
		t.Errorf("column of nothing has length %d", c.Len())
	}
}

func TestViewsPanic(t *testing.T) {
	v, m := NewVector(make([]Float64, 2)), NewMatrix[Float64](2, 3, nil)
	for name, c := range map[string]struct {
		f    func()
		want error
	}{
		"AtVec(2)":     {func() { v.AtVec(2) }, mat.ErrRowAccess},
		"AtVec(-1)":    {func() { v.AtVec(-1) }, mat.ErrRowAccess},
		"SetLogAt(2)":  {func() { v.SetLogAt(2, Float64{}) }, mat.ErrRowAccess},
		"At(0, 1)":     {func() { v.At(0, 1) }, mat.ErrColAccess},
		"At(2, 0)":     {func() { m.At(2, 0) }, mat.ErrRowAccess},
		"At(0, 3)":     {func() { m.At(0, 3) }, mat.ErrColAccess},
		"At(0, -1)":    {func() { m.At(0, -1) }, mat.ErrColAccess},
		"Set(0, 3)":    {func() { m.SetLogAt(0, 3, Float64{}) }, mat.ErrColAccess},
		"Row(2)":       {func() { m.Row(2) }, mat.ErrRowAccess},
		"Col(3)":       {func() { m.Col(3) }, mat.ErrColAccess},
		"negative":     {func() { NewMatrix[Float64](-1, 3, nil) }, mat.ErrNegativeDimension},
		"wrong length": {func() { NewMatrix(2, 2, make([]Float64, 5)) }, mat.ErrShape},
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, c.want) {
					t.Errorf("%s panics with %v, want %v", name, err, c.want)
				}
			}()
			c.f()
		}()
	}
}

// TestViews checks that slices of logs and of numbers share storage, both ways, and have the
// same lengths and capacities.
func TestViews(t *testing.T) {
	a := make([]float64, 3, 5)
	x := OfLogs(a)
	x[1].Log = 7
	if a[1] != 7 || len(x) != 3 || cap(x) != 5 || &Logs(x)[0] != &a[0] {
		t.Errorf("%v %v", a, x)
	}
	b := make([]float32, 3)
	y := OfLogs32(b)
	y[1].Log = 7
	if b[1] != 7 || &Logs32(y)[0] != &b[0] {
		t.Errorf("%v %v", b, y)
	}
	c := []fixed.Q43{1, ZeroLog}
	z := OfFixedLogs(c)
	if !z[1].IsZero() || &FixedLogs(z)[0] != &c[0] {
		t.Errorf("%v %v", c, z)
	}
	if OfLogs(nil) != nil || len(OfLogs([]float64{})) != 0 || Logs(nil) != nil {
		t.Error("empty views are not empty")
	}
}
