package num

import (
	"slices"
	"testing"

	"revnum/rev"
)

// A histogram adds squares to elements that indices choose, and has their sum.
type histogram struct {
	parts *Loop[float64]
	x     []float64
	n     *float64
	v     rev.Vector[float64]
	m     rev.General[float64]
}

func (h *histogram) Block(_, part int) {
	lo, hi, own := h.parts.Part(part)
	n, v, m := h.n, h.v, h.m
	own.Number(&n)
	own.Vector(&v)
	own.Matrix(&m)
	sum := 0.0
	for i := lo; i < hi; i++ {
		sum += h.x[i]
		if n != nil {
			*n++
		}
		if v.Data != nil {
			v.Data[i%3] += h.x[i]
		}
		if m.Data != nil {
			m.Row(i % 2)[1] += h.x[i]
		}
	}
	own.Sum(sum)
}

// The parts of a loop cover it, and what they add has the same bits for any number of
// workers. Operands that are nil stay nil.
func TestLoop(t *testing.T) {
	x := make([]float64, 1000)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	for _, n := range []int{-1, 0, 1, 7, 1000} {
		var want []float64
		for _, workers := range []int{1, 2, 7} {
			count, v := 0.0, make([]float64, 3)
			m := rev.General[float64]{Rows: 2, Cols: 2, Stride: 3, Data: make([]float64, 5)}
			l, h := NewLoop[float64](min(1, n), n, 5), NewTask[histogram]()
			*h = histogram{parts: l, x: x, n: &count, v: rev.ViewSlice(v), m: m}
			l.Number(&count)
			l.Vector(h.v)
			l.Matrix(m)
			l.Run(workers, 1, h)
			got := append(append([]float64{count, l.Sum()}, v...), m.Data...)
			FreeTask(h)
			l.Free()
			if count != float64(max(n-1, 0)) {
				t.Errorf("%v of %d iterations", count, n)
			}
			if want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("%d workers: %v, want %v", workers, got, want)
			}
		}
	}
	l, h := NewLoop[float64](0, 1000, 5), NewTask[histogram]()
	*h = histogram{parts: l, x: x}
	l.Number(h.n)
	l.Vector(h.v)
	l.Matrix(h.m)
	l.Run(2, 1, h)
	if l.Parts() != MaxParts || l.Sum() < 7 {
		t.Errorf("%d parts", l.parts)
	}
}
