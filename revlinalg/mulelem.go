package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// MulElem is the kernel
//
//	z_i += x_i·y_i
//
// of vectors of the same length (also called the Hadamard product), with the derivatives
//
//	x̄ += conj(y)·z̄,  ȳ += conj(x)·z̄,  ż += ẋ·y + x·ẏ
//
// and, of second order,
//
//	ġx += conj(y)·ġz + conj(ẏ)·z̄,  ġy += conj(x)·ġz + conj(ẋ)·z̄.
//
// Each product is rounded once, and then added.
//
// A product with one number for all elements, a scaling, is Axpy.
type MulElem[T rev.Number] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// NewMulElem returns the kernel over gonum vectors, sharing their storage.
func NewMulElem(z, x, y *mat.VecDense) MulElem[float64] {
	return MulElem[float64]{Z: rev.ViewVec(z), X: rev.ViewVec(x), Y: rev.ViewVec(y)}
}

// Forward computes Z += x·y.
func (k MulElem[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Z -= x·y.
func (k MulElem[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Z -= x·y and x̄ += conj(y)·z̄, ȳ += conj(x)·z̄.
func (k MulElem[T]) Adjoint(g MulElem[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Z += x·y and ż += ẋ·y + x·ẏ.
func (k MulElem[T]) Tangent(t MulElem[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Z, and adds the
// tangents of the gradient in gt.
func (k MulElem[T]) AdjointTangent(g, t, gt MulElem[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k MulElem[T]) Run(p rev.Pass[MulElem[T]]) error {
	w := workspace.Get[multiplying[T]]()
	w.k, w.g, w.t, w.gt, w.sign = k, p.G, p.T, p.GT, p.Sign()
	workers, blocks := parallel.Workers(k.Workers), (k.X.N+elementwise.BlockSize-1)/elementwise.BlockSize
	w.buffers = workspace.Grow(w.buffers, min(workers, max(1, blocks)))
	parallel.Run(workers, blocks, w)
	*w = multiplying[T]{buffers: w.buffers} // without the caller's storage
	workspace.Put(w)
	return nil
}

// A multiplying is a pass of MulElem in progress.
type multiplying[T rev.Number] struct {
	k, g, t, gt MulElem[T]
	sign        int
	buffers     [][elementwise.PieceSize]T // of each worker
}

// Block works on a block of elements.
func (w *multiplying[T]) Block(worker, block int) {
	end := min((block+1)*elementwise.BlockSize, w.k.X.N)
	for lo := block * elementwise.BlockSize; lo < end; lo += elementwise.PieceSize {
		n := min(elementwise.PieceSize, end-lo)
		add := func(to rev.Vector[T], sign int, a, b rev.Vector[T]) {
			if to.Data != nil && a.Data != nil && b.Data != nil {
				addElementProducts(vector.Between(to, lo, n), sign, vector.Between(a, lo, n), vector.Between(b, lo, n), w.buffers[worker][:n])
			}
		}
		addConj := func(to rev.Vector[T], a, b rev.Vector[T]) {
			if !number.IsComplex[T]() {
				add(to, 1, a, b)
				return
			}
			for i := lo; i < lo+n && to.Data != nil && a.Data != nil && b.Data != nil; i++ {
				to.Data[i*to.Inc] += T(number.Conj(a.Data[i*a.Inc]) * b.Data[i*b.Inc])
			}
		}
		k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
		add(k.Z, w.sign, k.X, k.Y)
		add(t.Z, w.sign, t.X, k.Y)
		add(t.Z, w.sign, k.X, t.Y)
		addConj(g.X, k.Y, g.Z)
		addConj(g.Y, k.X, g.Z)
		addConj(gt.X, k.Y, gt.Z)
		addConj(gt.Y, k.X, gt.Z)
		addConj(gt.X, t.Y, g.Z)
		addConj(gt.Y, t.X, g.Z)
	}
}

// addElementProducts computes z_i += sign·x_i·y_i. The buffer has as many elements.
func addElementProducts[T rev.Number](z rev.Vector[T], sign int, x, y rev.Vector[T], buffer []T) {
	n := x.N
	if z.Inc == 1 && x.Inc == 1 && y.Inc == 1 {
		switch b := any(buffer).(type) {
		case []float64:
			vec.MulTo(b, number.As[[]float64](x.Data[:n]), number.As[[]float64](y.Data[:n]))
			vec.Axpy(float64(sign), b, number.As[[]float64](z.Data[:n]))
			return
		case []float32:
			vec.MulTo(b, number.As[[]float32](x.Data[:n]), number.As[[]float32](y.Data[:n]))
			vec.Axpy(float32(sign), b, number.As[[]float32](z.Data[:n]))
			return
		}
	}
	for i := range n {
		a, b := x.Data[i*x.Inc], y.Data[i*y.Inc]
		z.Data[i*z.Inc] += number.Signed(sign, number.Mul(a, b))
	}
}
