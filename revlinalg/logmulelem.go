package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/logstep"
	"revnum/rev"
)

// LogMulElem is the kernel
//
//	z_i ⊕= x_i ⊗ y_i,  that is  z_i' = log(e^z_i + e^(x_i+y_i)),
//
// of vectors of logs of the same length, the products of the numbers. With
// w_i = e^(x_i+y_i-z_i'), the share of the product in the new value of z_i,
//
//	x̄_i += z̄_i'·w_i,  ȳ_i += z̄_i'·w_i,  z̄_i = z̄_i'·e^(z_i-z_i'),
//	ż_i' = ż_i·e^(z_i-z_i') + w_i·(ẋ_i + ẏ_i).
//
// LogSum says what logs as operands and their cotangents are, and what Inverse
// restores. A factor that is zero does no harm, as it would in LogProd: a product
// that is put in the place of a zero is taken out again whatever it is.
type LogMulElem[T rev.Float] struct {
	Z rev.Vector[T] `rev:"inout"`
	X rev.Vector[T] `rev:"in"`
	Y rev.Vector[T] `rev:"in"`
}

// NewLogMulElem returns the kernel over gonum vectors of logs, sharing their
// storage. It panics with mat.ErrShape if they differ in length.
func NewLogMulElem(z, x, y *mat.VecDense) LogMulElem[float64] {
	if x.Len() != z.Len() || y.Len() != z.Len() {
		panic(mat.ErrShape)
	}
	return LogMulElem[float64]{Z: rev.ViewVec(z), X: rev.ViewVec(x), Y: rev.ViewVec(y)}
}

// Forward computes z ⊕= x ⊗ y.
func (k LogMulElem[T]) Forward() { k.run(false, LogMulElem[T]{}, LogMulElem[T]{}, LogMulElem[T]{}) }

// Inverse computes z ⊖= x ⊗ y.
func (k LogMulElem[T]) Inverse() { k.run(true, LogMulElem[T]{}, LogMulElem[T]{}, LogMulElem[T]{}) }

// Adjoint computes z ⊖= x ⊗ y and the cotangents of x, y and z.
func (k LogMulElem[T]) Adjoint(g LogMulElem[T]) {
	k.run(true, g, LogMulElem[T]{}, LogMulElem[T]{})
}

// Tangent computes z ⊕= x ⊗ y and the tangent of z.
func (k LogMulElem[T]) Tangent(t LogMulElem[T]) {
	k.run(false, LogMulElem[T]{}, t, LogMulElem[T]{})
}

// AdjointTangent undoes Tangent and computes the cotangents and their tangents,
//
//	ġx_i += w_i·(Ġ_i + z̄_i'·(ẋ_i + ẏ_i - ż_i')),  Ġ the tangent of z̄'.
func (k LogMulElem[T]) AdjointTangent(g, t, gt LogMulElem[T]) { k.run(true, g, t, gt) }

// InverseAdjoint undoes Adjoint.
func (k LogMulElem[T]) InverseAdjoint(g LogMulElem[T]) {
	k.run(false, g, LogMulElem[T]{}, LogMulElem[T]{})
}

// InverseTangent undoes Tangent.
func (k LogMulElem[T]) InverseTangent(t LogMulElem[T]) {
	k.run(true, LogMulElem[T]{}, t, LogMulElem[T]{})
}

// InverseAdjointTangent undoes AdjointTangent.
func (k LogMulElem[T]) InverseAdjointTangent(g, t, gt LogMulElem[T]) { k.run(false, g, t, gt) }

func (k LogMulElem[T]) run(back bool, g, t, gt LogMulElem[T]) {
	rev.Check(&k)
	if k.X.N != k.Z.N || k.Y.N != k.Z.N {
		panic(mat.ErrShape)
	}
	rev.CheckLike(&k, &g, &t, &gt)
	cotangents := g.Z.Data != nil || gt.Z.Data != nil
	for i := range k.Z.N {
		s := k.X.Data[i*k.X.Inc] + k.Y.Data[i*k.Y.Inc]
		before, after := logstep.Step(element(k.Z, i), s, back)
		if t.Z.Data == nil && !cotangents {
			continue
		}
		kept, w := logstep.Kept(before, after, s), logstep.Share(s, after)
		dt := valueAt(t.X, i) + valueAt(t.Y, i)
		dBefore, dAfter := logstep.Tangent(element(t.Z, i), kept, float64(w*dt), back)
		if !cotangents {
			continue
		}
		seed, dseed := logstep.Cotangent(element(g.Z, i), element(gt.Z, i), kept, dBefore, dAfter, back)
		seed *= w
		dseed = float64(w*dseed) + float64(seed*dt)
		for _, v := range [...]rev.Vector[T]{g.X, g.Y} {
			if v.Data != nil {
				v.Data[i*v.Inc] += T(seed)
			}
		}
		for _, v := range [...]rev.Vector[T]{gt.X, gt.Y} {
			if v.Data != nil {
				v.Data[i*v.Inc] += T(dseed)
			}
		}
	}
}

// element returns element i of v, nil if v has none.
func element[T rev.Float](v rev.Vector[T], i int) *T {
	if v.Data == nil {
		return nil
	}
	return &v.Data[i*v.Inc]
}

// valueAt returns the value of element i of v, 0 if v has none.
func valueAt[T rev.Float](v rev.Vector[T], i int) float64 {
	if v.Data == nil {
		return 0
	}
	return float64(v.Data[i*v.Inc])
}
