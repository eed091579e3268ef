package cuda

import "revnum/rev"

// AffineBatch is the kernel
//
//	Y += X·W + 1·bᵀ
//
// of revnn.AffineBatch over real numbers, which applies one affine map to the rows of an n×k
// matrix X. Y is n×m and W is k×m. The derivatives are
//
//	X̄ += Ȳ·Wᵀ,  W̄ += Xᵀ·Ȳ,  b̄ += Ȳᵀ·1,  Ẏ += Ẋ·W + X·Ẇ + 1·ḃᵀ
//
// and, of second order, with ĠY the tangent of Ȳ,
//
//	ĠX += ĠY·Wᵀ + Ȳ·Ẇᵀ,  ĠW += Xᵀ·ĠY + Ẋᵀ·Ȳ,  ġb += ĠYᵀ·1.
//
// A nil B stands for zeros. The products are those of MatMul. b is added after them.
type AffineBatch[T rev.Real] struct {
	Y General[T] `rev:"acc" shape:"n,m"`
	X General[T] `rev:"in" shape:"n,k"`
	W General[T] `rev:"in" shape:"k,m"`
	B Vector[T]  `rev:"in,optional" shape:"m"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k AffineBatch[T]) Run(p rev.Pass[AffineBatch[T]]) error {
	w := begin(&k, &p)
	if p.G.B.Data != nil || p.GT.B.Data != nil {
		columnRoom[T](&w, k.X.Rows, k.W.Cols)
	}
	k.product().run(stacks[T]{pass: &w, count: 1}, rev.Pass[MatMul[T]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent,
		G: p.G.product(), T: p.T.product(), GT: p.GT.product(),
	})
	addToRows(&w, k.Y, p.Sign(), k.B)
	addToRows(&w, p.T.Y, p.Sign(), p.T.B)
	addColumns(&w, p.G.B, p.G.Y, Vector[T]{}, true)
	addColumns(&w, p.GT.B, p.GT.Y, Vector[T]{}, true)
	return w.end()
}

// product returns the kernel Y += X·W.
func (k AffineBatch[T]) product() MatMul[T] { return MatMul[T]{C: k.Y, A: k.X, B: k.W} }
