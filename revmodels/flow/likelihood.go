package flow

import (
	"math"

	"revnum/fixed"
	"revnum/rev"
)

// likelihood is the kernel
//
//	out += 1/n·Σ_i (½·Σ_j z_ij² + ½·dim·log 2π - logDet_i),
//
// the mean of -log p over n points, for one half of the coordinates at a time: the
// determinant counts with the half that has it. Its derivatives are
//
//	z̄_ij += z_ij·ōut/n,  l̄_i -= ōut/n.
type likelihood[T rev.Real] struct {
	Out    *T             `rev:"acc"`
	Z      rev.General[T] `rev:"in" shape:"n,d"`
	LogDet rev.Vector[T]  `rev:"in,optional" shape:"n"`
}

func (k likelihood[T]) Run(p rev.Pass[likelihood[T]]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	n := k.Z.Rows
	weight := fixed.Of[T](1 / float64(max(n, 1)))
	constant := fixed.Of[T](float64(k.Z.Cols) * math.Log(2*math.Pi) / 2)
	var value, tangent T
	for i := range n {
		row := constant
		for j, z := range k.Z.Row(i) {
			row += fixed.Product(z, z) / 2
			if p.T.Z.Data != nil {
				tangent += fixed.Product(weight, fixed.Product(z, p.T.Z.Row(i)[j]))
			}
			if p.G.Out != nil && p.G.Z.Data != nil {
				p.G.Z.Row(i)[j] += fixed.Product(weight, fixed.Product(z, *p.G.Out))
			}
		}
		if k.LogDet.Data != nil {
			row -= k.LogDet.Data[i*k.LogDet.Inc]
		}
		value += fixed.Product(weight, row)
		if p.T.LogDet.Data != nil {
			tangent -= fixed.Product(weight, p.T.LogDet.Data[i*p.T.LogDet.Inc])
		}
		if p.G.Out != nil && p.G.LogDet.Data != nil {
			p.G.LogDet.Data[i*p.G.LogDet.Inc] -= fixed.Product(weight, *p.G.Out)
		}
	}
	if k.Out != nil {
		*k.Out += T(T(p.Sign()) * value)
	}
	if p.T.Out != nil {
		*p.T.Out += T(T(p.Sign()) * tangent)
	}
	return nil
}
