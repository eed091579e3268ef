package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// DivElem is the kernel
//
//	z_i += x_i/y_i
//
// for vectors of the same length. With q = x/y, ω = z̄/y and ġz the tangent of z̄, the
// derivatives are
//
//	x̄ += ω,  ȳ -= ω·q,  ż += q̇ = (ẋ - q·ẏ)/y,
//	ġx += ω̇ = (ġz - ω·ẏ)/y,  ġy -= ω̇·q + ω·q̇.
//
// If an element of Y is zero, all passes return a *rev.DomainError that names it, and change
// nothing. A NaN is passed on. Each quotient is rounded once. In fixed point a quotient of
// magnitude 2²⁰ or more wraps and is meaningless.
type DivElem[T rev.Real] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// Run implements rev.Kernel. It returns a *rev.DomainError where y is zero.
func (k DivElem[T]) Run(p rev.Pass[DivElem[T]]) error {
	for i := range k.Y.N {
		if y := k.Y.Data[i*k.Y.Inc]; y == 0 {
			x := k.X.Data[i*k.X.Inc]
			return &rev.DomainError{Func: "quotient", Args: []float64{fixed.Float(x), fixed.Float(y)}, Index: i}
		}
	}
	w := workspace.Get[quotients[T]]()
	w.k, w.g, w.t, w.gt, w.sign = binaryOperands[T](k), binaryOperands[T](p.G), binaryOperands[T](p.T), binaryOperands[T](p.GT), p.Sign()
	workers, blocks := parallel.Workers(k.Workers), (k.X.N+elementwise.BlockSize-1)/elementwise.BlockSize
	w.buffers = workspace.Grow(w.buffers, min(workers, max(1, blocks)))
	parallel.Run(workers, blocks, w)
	*w = quotients[T]{buffers: w.buffers} // without the caller's storage
	workspace.Put(w)
	return nil
}

// quotients are a pass of DivElem in progress.
type quotients[T rev.Real] struct {
	k, g, t, gt binaryOperands[T]
	sign        int
	buffers     [][elementwise.PieceSize]T // one for each worker
}

// Block works on a block of elements.
func (w *quotients[T]) Block(worker, block int) {
	g, t, gt := &w.g, &w.t, &w.gt
	lo := block * elementwise.BlockSize
	n := min(elementwise.BlockSize, w.k.X.N-lo)
	if w.k.Z.Data != nil {
		w.add(lo, n, &w.buffers[worker])
	}
	tangent := t.X.Data != nil || t.Y.Data != nil
	if !tangent && g.Z.Data == nil && gt.Z.Data == nil {
		return
	}
	for i := lo; i < lo+n; i++ {
		y := w.k.Y.Data[i*w.k.Y.Inc]
		q := fixed.Quotient(w.k.X.Data[i*w.k.X.Inc], y)
		dy := vector.Element(t.Y, i)
		dq := fixed.Quotient(vector.Element(t.X, i)-fixed.Product(q, dy), y)
		if t.Z.Data != nil {
			t.Z.Data[i*t.Z.Inc] += number.Signed(w.sign, dq)
		}
		omega := fixed.Quotient(vector.Element(g.Z, i), y)
		if g.Z.Data != nil {
			g.addInputs(i, omega, -fixed.Product(omega, q))
		}
		if gt.Z.Data != nil || tangent && g.Z.Data != nil {
			domega := fixed.Quotient(vector.Element(gt.Z, i)-fixed.Product(omega, dy), y)
			gt.addInputs(i, domega, -fixed.Product(domega, q)-fixed.Product(omega, dq))
		}
	}
}

// add computes Z += sign·x/y for n elements.
func (w *quotients[T]) add(lo, n int, buffer *[elementwise.PieceSize]T) {
	x, y, z := vector.Between(w.k.X, lo, n), vector.Between(w.k.Y, lo, n), vector.Between(w.k.Z, lo, n)
	if number.IsFixed[T]() || x.Inc != 1 || y.Inc != 1 || z.Inc != 1 {
		for i := range n {
			z.Data[i*z.Inc] += number.Signed(w.sign, fixed.Quotient(x.Data[i*x.Inc], y.Data[i*y.Inc]))
		}
		return
	}
	for i := 0; i < n; i += len(buffer) {
		end := min(i+len(buffer), n)
		switch q := any(buffer[:end-i]).(type) {
		case []float64:
			vec.DivTo(q, number.As[[]float64](x.Data[i:end]), number.As[[]float64](y.Data[i:end]))
			vec.Axpy(float64(w.sign), q, number.As[[]float64](z.Data[i:end]))
		case []float32:
			vec.DivTo(q, number.As[[]float32](x.Data[i:end]), number.As[[]float32](y.Data[i:end]))
			vec.Axpy(float32(w.sign), q, number.As[[]float32](z.Data[i:end]))
		}
	}
}
