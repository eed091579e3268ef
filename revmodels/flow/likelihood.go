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
//	z̄_ij += z_ij·ōut/n,  l̄_i -= ōut/n,  ġz_ij += (z_ij·ġout + ż_ij·ōut)/n,  ġl_i -= ġout/n.
//
// If a point's -log p is out of the range of fixed point, Run returns a *rev.DomainError
// and changes nothing.
type likelihood[T rev.Real] struct {
	Out    *T             `rev:"acc"`
	Z      rev.General[T] `rev:"in" shape:"n,d"`
	LogDet rev.Vector[T]  `rev:"in,optional" shape:"n"`
}

func (k likelihood[T]) Run(p rev.Pass[likelihood[T]]) error {
	if err := k.check(); err != nil {
		return err
	}
	n := k.Z.Rows
	weight := fixed.Of[T](1 / float64(max(n, 1)))
	constant := fixed.Of[T](float64(k.Z.Cols) * math.Log(2*math.Pi) / 2)
	var value, tangent T
	for i := range n {
		row := constant
		for j, z := range k.Z.Row(i) {
			row += fixed.Product(z, z/2) // z² alone may leave the range
			if p.T.Z.Data != nil {
				tangent += fixed.Product(weight, fixed.Product(z, p.T.Z.Row(i)[j]))
			}
			if p.G.Out != nil && p.G.Z.Data != nil {
				p.G.Z.Row(i)[j] += fixed.Product(weight, fixed.Product(z, *p.G.Out))
			}
			if p.GT.Out != nil && p.GT.Z.Data != nil {
				p.GT.Z.Row(i)[j] += fixed.Product(weight, fixed.Product(z, *p.GT.Out))
			}
			if p.G.Out != nil && p.T.Z.Data != nil && p.GT.Z.Data != nil {
				p.GT.Z.Row(i)[j] += fixed.Product(weight, fixed.Product(p.T.Z.Row(i)[j], *p.G.Out))
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
		if p.GT.Out != nil && p.GT.LogDet.Data != nil {
			p.GT.LogDet.Data[i*p.GT.LogDet.Inc] -= fixed.Product(weight, *p.GT.Out)
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

// check returns an error if a number in fixed point would leave its range.
func (k likelihood[T]) check() error {
	if T(1)/2 != 0 {
		return nil
	}
	for i := range k.Z.Rows {
		sum := float64(k.Z.Cols) * math.Log(2*math.Pi) / 2
		for _, z := range k.Z.Row(i) {
			sum += fixed.Float(z) * fixed.Float(z) / 2
		}
		det := 0.
		if k.LogDet.Data != nil {
			det = fixed.Float(k.LogDet.Data[i*k.LogDet.Inc])
		}
		if _, err := fixed.FromFloat64Checked(max(sum, sum-det)); err != nil {
			return &rev.DomainError{Func: "flow: the density of a point", Args: []float64{sum, det}, Index: i}
		}
	}
	return nil
}
