package revlinalg

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
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

// mulElemRun is Run of MulElem. It returns no error.
func mulElemRun[T rev.Number](k *MulElem[T], p *rev.Pass[MulElem[T]]) error {
	if k.X.N <= elementwise.PieceSize && k.Workers >= 0 { // parallel.Workers panics
		parallel.CheckInterrupt()
		mulElemAddProducts(k, p.Sign(), &p.G, &p.T, &p.GT, 0, k.X.N)
		return nil
	}
	w := workspace.Get[*elementProducts[T]]()
	w.k, w.g, w.t, w.gt, w.sign = *k, p.G, p.T, p.GT, p.Sign()
	workers, blocks := parallel.Workers(k.Workers), (k.X.N+elementwise.BlockSize-1)/elementwise.BlockSize
	parallel.Run(workers, blocks, w)
	*w = elementProducts[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

// mulElemRunChecked is RunChecked of MulElem. It finds elements of Z. It runs on one core, as memory bounds the pass soon, and what was
// done before an overflow must be undone in order.
func mulElemRunChecked[T rev.Number](k *MulElem[T], back bool) error {
	if !number.IsFixed[T]() {
		return mulElemRun(k, &rev.Pass[MulElem[T]]{Back: back})
	}
	_ = parallel.Workers(k.Workers) // panics if it is negative
	parallel.CheckInterrupt()
	sign := signOf(back)
	if q := (*MulElem[fixed.Q43])(unsafe.Pointer(k)); k.Z.Data != nil {
		if i := vector.AddProductsChecked(sign, &q.X, &q.Y, &q.Z); i >= 0 {
			return rev.Overflow[MulElem[T]]("Z", i)
		}
	}
	return nil
}

// elementProducts are a pass of MulElem in progress.
type elementProducts[T rev.Number] struct {
	k, g, t, gt MulElem[T]
	sign        int
}

// Block works on a block of elements.
func (w *elementProducts[T]) Block(_, block int) {
	size := elementwise.PieceSize // operands that are used again are in the first-level cache then
	if w.g.Z.Data == nil && w.t.Z.Data == nil && w.gt.Z.Data == nil {
		size = elementwise.BlockSize
	}
	end := min((block+1)*elementwise.BlockSize, w.k.X.N)
	for lo := block * elementwise.BlockSize; lo < end; lo += size {
		mulElemAddProducts(&w.k, w.sign, &w.g, &w.t, &w.gt, lo, min(size, end-lo))
	}
}

// mulElemAddProducts makes a pass for n elements from lo on.
func mulElemAddProducts[T rev.Number](k *MulElem[T], sign int, g, t, gt *MulElem[T], lo, n int) {
	addPiece(&k.Z, sign, &k.X, &k.Y, false, lo, n)
	addPiece(&t.Z, sign, &t.X, &k.Y, false, lo, n)
	addPiece(&t.Z, sign, &k.X, &t.Y, false, lo, n)
	addPiece(&g.X, 1, &k.Y, &g.Z, true, lo, n)
	addPiece(&g.Y, 1, &k.X, &g.Z, true, lo, n)
	addPiece(&gt.X, 1, &k.Y, &gt.Z, true, lo, n)
	addPiece(&gt.Y, 1, &k.X, &gt.Z, true, lo, n)
	addPiece(&gt.X, 1, &t.Y, &g.Z, true, lo, n)
	addPiece(&gt.Y, 1, &t.X, &g.Z, true, lo, n)
}

// addPiece computes z_i += sign·x_i·y_i for n elements from lo on, with the conjugate of x_i if conj
// is set, unless an operand is nil.
func addPiece[T rev.Number](z *rev.Vector[T], sign int, x, y *rev.Vector[T], conj bool, lo, n int) {
	if z.Data == nil || x.Data == nil || y.Data == nil {
		return
	}
	if z.Inc == 1 && x.Inc == 1 && y.Inc == 1 {
		addElementProducts(z.Data[lo:lo+n], sign, x.Data[lo:lo+n], y.Data[lo:lo+n], conj)
		return
	}
	for i := lo; i < lo+n; i++ {
		a, b := x.Data[i*x.Inc], y.Data[i*y.Inc]
		if conj {
			a = number.Conj(a)
		}
		z.Data[i*z.Inc] += number.Signed(sign, number.Mul(a, b))
	}
}

// addElementProducts is addPiece for elements without gaps.
func addElementProducts[T rev.Number](z []T, sign int, x, y []T, conj bool) {
	switch {
	case number.IsFixed[T]():
		fixedpoint.AddProducts(sign, number.As[[]fixed.Q43](x), number.As[[]fixed.Q43](y), number.As[[]fixed.Q43](z))
	case number.IsComplex[T]():
		turn := 1.0
		if conj {
			turn = -1
		}
		vec.ComplexAddProduct(number.As[[]complex128](z), float64(sign), turn, number.As[[]complex128](x), number.As[[]complex128](y))
	case unsafe.Sizeof(T(0)) == 4:
		vec.AddProduct(number.As[[]float32](z), float32(sign), number.As[[]float32](x), number.As[[]float32](y))
	default:
		vec.AddProduct(number.As[[]float64](z), float64(sign), number.As[[]float64](x), number.As[[]float64](y))
	}
}
