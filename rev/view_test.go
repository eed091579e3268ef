package rev_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// TestViewsShareStorage writes through views of gonum's types.
func TestViewsShareStorage(t *testing.T) {
	m := mat.NewDense(3, 4, nil)
	block := m.Slice(1, 3, 1, 3).(*mat.Dense)
	v := rev.ViewDense(block)
	if v.Rows != 2 || v.Cols != 2 || v.Stride != 4 {
		t.Errorf("view %d×%d with stride %d", v.Rows, v.Cols, v.Stride)
	}
	row := v.Row(1)
	row[1] = 5
	if m.At(2, 2) != 5 || len(row) != 2 || cap(row) != 2 {
		t.Errorf("element %v, row of length %d and capacity %d", m.At(2, 2), len(row), cap(row))
	}
	col := rev.ViewVec(m.ColView(2).(*mat.VecDense))
	if col.N != 3 || col.Inc != 4 || col.Data[2*col.Inc] != 5 {
		t.Errorf("column %v", col)
	}
	c := mat.NewCDense(3, 4, nil)
	z := rev.ViewCDense(c.Slice(1, 3, 1, 3).(*mat.CDense))
	z.Row(1)[1] = 5i
	if c.At(2, 2) != 5i || z.Rows != 2 || z.Cols != 2 || z.Stride != 4 {
		t.Errorf("element %v of the view %v", c.At(2, 2), z)
	}
	if v, m, z := rev.ViewVec(nil), rev.ViewDense(nil), rev.ViewCDense(nil); v.Data != nil || m.Data != nil || z.Data != nil {
		t.Errorf("views %v, %v and %v of nothing", v, m, z)
	}
	x := []float32{1, 2}
	s := rev.ViewSlice(x)
	s.Data[1] = 3
	if s.N != 2 || s.Inc != 1 || x[1] != 3 {
		t.Errorf("slice %v", s)
	}
}

func TestNewGeneral(t *testing.T) {
	data := []int{1, 2, 3, 4, 5, 6}
	m := rev.NewGeneral(2, 3, data)
	if !slices.Equal(m.Row(1), []int{4, 5, 6}) || m.Stride != 3 || &m.Data[0] != &data[0] {
		t.Errorf("matrix %v", m)
	}
	if z := rev.NewGeneral[int](2, 0, nil); z.Rows != 2 || z.Stride != 1 || z.Data == nil || len(z.Row(1)) != 0 {
		t.Errorf("empty matrix %v", z)
	}
	checkPanic(t, "short", mat.ErrShape, func() { rev.NewGeneral(2, 2, data) })
	checkPanic(t, "negative", mat.ErrNegativeDimension, func() { rev.NewGeneral[int](2, -1, nil) })
	checkPanic(t, "huge", mat.ErrShape, func() { rev.NewGeneral[int](1<<30, 1<<30, []int{}) })
}
