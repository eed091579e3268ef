package corner

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
)

// layers is a layer of a network that adds to h. y gets a function of h, and out the
// norm of h.
//
//revgen:kernel Layers[T rev.Real]
func layers(out *float64, y []float64, h *mat.VecDense, w *mat.Dense, x, b *mat.VecDense) {
	if len(y) != h.Len() {
		panic("shape")
	}
	revlinalg.NewAffine(h, w, x, b).Forward()
	for i := range y {
		y[i] += math.Tanh(h.AtVec(i)) * x.AtVec(0)
	}
	revlinalg.NewNorm2(out, h).Forward()
}

// products adds a product to c and the square of ‖x‖ to out, in a loop.
//
//revgen:kernel Products[T rev.Real]
func products(c, a, b *mat.Dense, out *float64, x []float64, times int) {
	revlinalg.NewMatMul(c, a, b).Forward()
	for i := range times {
		revlinalg.NewDot(out, mat.NewVecDense(len(x), x), mat.NewVecDense(len(x), x)).Forward()
		*out += a.At(0, 0) * float64(i)
	}
	revlinalg.NewMatMul(c, a, b).Forward()
	m, n := b.Dims()
	*out -= b.At(m-1, n-1)
}

// rectified adds the elements of x to y, those below zero with a constant slope.
//
//revgen:kernel Rectified[T rev.Real]
func rectified(y, x *mat.VecDense) {
	revnn.NewLeakyReLU(y, x, 0.25).Forward()
}

// subtracted subtracts a product from c.
//
//revgen:kernel Subtracted[T rev.Real]
func subtracted(c, a, b *mat.Dense, out *float64) {
	revlinalg.NewMatMul(c, a, b).Inverse()
	*out += a.At(0, 0) * b.At(0, 0)
}

// around computes a number before a call, and subtracts a function of it after the call
// from an element that the call reads.
//
//revgen:kernel Around[T rev.Real]
func around(y, x, v []float64) {
	q := math.Sin(v[0])
	revlinalg.NewMulElem(mat.NewVecDense(len(y), y), mat.NewVecDense(len(x), x), mat.NewVecDense(len(v), v)).Forward()
	x[0] -= math.Cos(q)
}

// threaded carries a number through h between calls that add to it and read it.
//
//revgen:kernel Threaded[T rev.Real]
func threaded(h []float64, w *mat.Dense, x, b []float64, c *mat.Dense, a, out *float64) {
	if len(b) != len(h) {
		panic("shape")
	}
	revlinalg.NewAffine(mat.NewVecDense(len(h), h), w, mat.NewVecDense(len(x), x), mat.NewVecDense(len(b), b)).Forward()
	s := 0.1
	for i := range h {
		u := *a * s
		h[i] += u + 0.5*s
		s = math.Sin(u + s*h[i])
	}
	revlinalg.NewOuter(c, a, mat.NewVecDense(len(h), h), mat.NewVecDense(len(x), x)).Inverse()
	for i := range x {
		x[i] += s * c.At(0, 0)
	}
	revlinalg.NewDot(out, mat.NewVecDense(len(x), x), mat.NewVecDense(len(x), x)).Forward()
}

// transposed adds the product of a transposed matrix and another one, whose shapes follow from
// the flag.
//
//revgen:kernel Transposed[T rev.Real]
func transposed(c, a, b *mat.Dense) {
	revlinalg.MatMul[float64]{C: rev.ViewDense(c), A: rev.ViewDense(a), B: rev.ViewDense(b), TransA: true}.Forward()
}
