package revlog

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/logstep"
	"revnum/rev"
)

// MulElem is the kernel
//
//	z_i ⊕= x_i ⊗ y_i,  that is  z_i' = log(e^z_i + e^(x_i+y_i)),
//
// of vectors of logs of the same length, the products of the numbers. With
// w_i = e^(x_i+y_i-z_i'), the share of the product in the new value of z_i,
//
//	x̄_i += z̄_i'·w_i,  ȳ_i += z̄_i'·w_i,  z̄_i = z̄_i'·e^(z_i-z_i'),
//	ż_i' = ż_i·e^(z_i-z_i') + w_i·(ẋ_i + ẏ_i),
//	ġx_i += w_i·(ġz_i' + z̄_i'·(ẋ_i + ẏ_i - ż_i')).
//
// Factors may be zero, unlike in Prod. If z_i was zero, any product can be taken out of
// it again.
type MulElem[T rev.Float] struct {
	Z rev.Vector[T] `rev:"inout" shape:"n"`
	X rev.Vector[T] `rev:"in" shape:"n"`
	Y rev.Vector[T] `rev:"in" shape:"n"`
}

// NewMulElem returns the kernel over gonum vectors of logs, sharing their
// storage.
func NewMulElem(z, x, y *mat.VecDense) MulElem[float64] {
	return MulElem[float64]{Z: rev.ViewVec(z), X: rev.ViewVec(x), Y: rev.ViewVec(y)}
}

// Forward computes z ⊕= x ⊗ y.
func (k MulElem[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes z ⊖= x ⊗ y.
func (k MulElem[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes z ⊖= x ⊗ y and the cotangents of x, y and z.
func (k MulElem[T]) Adjoint(g MulElem[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes z ⊕= x ⊗ y and the tangent of z.
func (k MulElem[T]) Tangent(t MulElem[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent undoes Tangent and computes the cotangents and their tangents.
func (k MulElem[T]) AdjointTangent(g, t, gt MulElem[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k MulElem[T]) Run(p rev.Pass[MulElem[T]]) error {
	cotangents := p.G.Z.Data != nil || p.GT.Z.Data != nil
	for i := range k.Z.N {
		s := k.X.Data[i*k.X.Inc] + k.Y.Data[i*k.Y.Inc]
		before, after := logstep.Step(element(k.Z, i), s, p.Back)
		if p.T.Z.Data == nil && !cotangents {
			continue
		}
		kept, w := logstep.Kept(before, after, s), logstep.Share(s, after)
		dt := valueAt(p.T.X, i) + valueAt(p.T.Y, i)
		dBefore, dAfter := logstep.Tangent(element(p.T.Z, i), kept, float64(w*dt), p.Back)
		if !cotangents {
			continue
		}
		seed, dseed := logstep.Cotangent(element(p.G.Z, i), element(p.GT.Z, i), kept, dBefore, dAfter, p.Back)
		seed *= w
		dseed = float64(w*dseed) + float64(seed*dt)
		addAt(p.G.X, i, seed)
		addAt(p.G.Y, i, seed)
		addAt(p.GT.X, i, dseed)
		addAt(p.GT.Y, i, dseed)
	}
	return nil
}

// element returns element i of v, or nil if v is absent.
func element[T rev.Float](v rev.Vector[T], i int) *T {
	if v.Data == nil {
		return nil
	}
	return &v.Data[i*v.Inc]
}

// valueAt returns the value of element i of v, or 0 if v is absent.
func valueAt[T rev.Float](v rev.Vector[T], i int) float64 {
	if v.Data == nil {
		return 0
	}
	return float64(v.Data[i*v.Inc])
}

// addAt adds d to element i of v, if v is there.
func addAt[T rev.Float](v rev.Vector[T], i int, d float64) {
	if v.Data != nil {
		v.Data[i*v.Inc] += T(d)
	}
}
