package borrowed

import (
	std "math"

	"gonum.org/v1/gonum/mat"
)

// revsparse has the name of a package that is written.
var revsparse = struct{ x, y float64 }{3, 4}

type profile interface{ at(x float64) float64 }

type bell struct{ scale float64 }

func (b bell) at(x float64) float64 { return std.Exp(-x * b.scale) }

func summed(k profile, x []float64) float64 {
	if k == nil || !(nil != k) {
		return 0
	}
	s := 0.0
	for _, v := range x {
		s += k.at(v)
	}
	return s
}

type holder[T any] struct{ v T }

func (h holder[T]) get() T { x := h.v; return x }

func (h *holder[T]) set(x T) {
	var old T
	old, h.v = h.v, x
	_ = old
}

type both[K, V any] struct {
	holder[V]
	key K
}

func (b both[K, V]) swapped() both[V, K] { return both[V, K]{holder[K]{b.key}, b.v} }

type weight float64

//revgen:gradient p hessian
func named(p []float64) float64 {
	h := holder[float64]{p[0]}
	h.set(h.get() * p[1])
	w := both[float64, weight]{holder[weight]{weight(p[2])}, p[3]}.swapped()
	var x mat.Dense
	a := mat.NewDense(2, 2, []float64{p[4], p[5], p[6], p[7]})
	_ = x.Inverse(a)
	s := h.get()*float64(w.key)*w.get()*revsparse.x + revsparse.y*mat.Det(a)
	return s * summed(bell{p[8]}, p[9:])
}

//revgen:gradient m
func strided(m *mat.Dense) float64 {
	raw := m.RawMatrix()
	return m.At(1, 1) * float64(raw.Stride)
}

// rows takes the row that gonum makes in the first iteration again in the others.
//
//revgen:gradient p hessian
func rows(p []float64) float64 {
	a := mat.NewDense(3, 3, p[:9])
	var row, col []float64
	s := 1.0
	for i := range 3 {
		row = mat.Row(row, i, a)
		for j, v := range row {
			s += v * v * float64(i+j)
		}
		row[0] *= 2
		if i > 0 {
			col = mat.Col(col, i, a)
			s += col[0] * col[1]
		}
		s += row[0] * row[1]
	}
	return s * col[2]
}
