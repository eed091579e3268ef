package revlog

import (
	"revnum/internal/logstep"
	"revnum/internal/vector"
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

// mulElemRun is Run of MulElem. It returns no error. The inverse of Adjoint is the exception: it
// may return rev.ErrUnsupported.
func mulElemRun[T rev.Float](k *MulElem[T], p *rev.Pass[MulElem[T]]) error {
	cotangents := p.G.Z.Data != nil || p.GT.Z.Data != nil
	if cotangents && !p.Back {
		for i := range k.Z.N {
			if logstep.Lost(*element(k.Z, i), k.X.Data[i*k.X.Inc]+k.Y.Data[i*k.Y.Inc]) {
				return rev.ErrUnsupported
			}
		}
	}
	for i := range k.Z.N {
		s := k.X.Data[i*k.X.Inc] + k.Y.Data[i*k.Y.Inc]
		before, after := logstep.Step(element(k.Z, i), s, p.Back)
		if p.T.Z.Data == nil && !cotangents {
			continue
		}
		kept, w := logstep.Kept(before, after, s), logstep.Share(s, after)
		dt := float64(vector.Element(p.T.X, i)) + float64(vector.Element(p.T.Y, i))
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

// addAt adds d to element i of v, if v is there.
func addAt[T rev.Float](v rev.Vector[T], i int, d float64) {
	if v.Data != nil {
		v.Data[i*v.Inc] += T(d)
	}
}
