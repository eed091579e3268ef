package optim

import (
	"revnum/fixed"
	"revnum/rev"
)

// Decay is the in-place kernel
//
//	V <- V·Num/Den
//
// in fixed point. Its inverse is exact, because Buffer keeps the bits that the product
// loses. These are log2(Den/Num) bits for each element and step (0.152 bits for 9/10).
// The derivatives are
//
//	v̄ <- v̄·Num/Den,  v̇ <- v̇·Num/Den,
//
// rounded. The product is within Num units in the last place. Calls must be inverted from
// the last to the first, as rev does. Passes panic as methods of Buffer do, unless
// 0 < Num <= Den <= 2¹⁶. The pass of the cotangents has no inverse, and there
// is no AdjointTangent.
type Decay struct {
	V        []fixed.Q43 `rev:"inout" shape:"n"`
	Num, Den int
	Buffer   *fixed.Buffer // for as many numbers as V has
}

// Run implements rev.Kernel.
func (k Decay) Run(p rev.Pass[Decay]) error {
	if p.Adjoint && (p.Tangent || !p.Back) || p.Tangent && p.Back {
		return rev.ErrUnsupported
	}
	if p.Back {
		k.Buffer.Div(k.V, k.Num, k.Den)
	} else {
		k.Buffer.Mul(k.V, k.Num, k.Den)
	}
	factor := fixed.FromInt(k.Num).Div(fixed.FromInt(k.Den)) // in range, or Buffer has panicked
	for _, d := range [][]fixed.Q43{p.G.V, p.T.V} {
		for i, v := range d {
			d[i] = v.Mul(factor)
		}
	}
	return nil
}
