package borrowed

import (
	m "math"

	"gonum.org/v1/gonum/mat"
)

// parts has products of several matrices, parts of matrices, and matrices made of others.
//
//revgen:gradient p hessian
func parts(p []float64) float64 {
	a := mat.NewDense(3, 4, p)
	left := a.Slice(0, 2, 0, 2)
	right := a.Slice(1, 3, 2, 4).(*mat.Dense)
	var c, d, e, f, g mat.Dense
	c.Product(left, right, left.T(), a.Slice(0, 2, 1, 4))
	d.Product(&c)
	e.Stack(left, right.T())
	f.Augment(&e, &e)
	g.Product(&f, f.T())
	w := mat.NewDense(3, 4, nil)
	inner := w.Slice(0, 3, 1, 3).(*mat.Dense)
	inner.Mul(a.Slice(0, 3, 0, 2), right)
	inner.Set(2, 1, p[4]*p[5])
	w.Set(1, 2, 3*inner.At(1, 0)*w.At(2, 2))
	return mat.Sum(&d) + mat.Max(&c)*mat.Min(&c) + mat.Norm(&c, 1) + mat.Norm(c.T(), m.Inf(1))*mat.Norm(&d, m.Inf(1)) +
		g.Norm(1) + mat.Norm(w, 2) + mat.Sum(inner)
}
