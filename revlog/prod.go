package revlog

import (
	"fmt"
	"slices"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
	"revnum/ulog"
)

// Prod is the kernel
//
//	Out *= Π_i x_i,  that is  log Out += Σ_i log x_i,
//
// over logs, with the derivatives
//
//	x̄_i += Ōut,  Ȯut += Σ_i ẋ_i.
//
// Over fixed.Q43 the operands are the logs of ulog.Fixed. Products are as there: exact,
// modulo 2⁶⁴-1 units, so that Inverse always restores Out to the bit. The cotangents
// are plain fixed-point numbers. Over floats the sum is within n·ε·Σ|x_i|, and Inverse
// restores Out within the rounding of a sum and a difference.
//
// A product with zero has no inverse. If an x_i is zero (or, over floats, infinite or
// NaN), all methods change nothing and return an error that names it and wraps
// ulog.ErrDivideByZero, ulog.ErrUndefined or ulog.ErrNaN. To multiply by zero, use
// MulElem, which adds the product to another number. Out may be zero, and stays zero.
type Prod[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// prodRun is Run of Prod. It is a revlinalg.Sum of logs, except that
// logs of ulog.Fixed wrap in another way.
func prodRun[T rev.Real](k *Prod[T], p *rev.Pass[Prod[T]]) error {
	if err := checkFactors("Prod", k.X); err != nil {
		return err
	}
	switch {
	case k.Out == nil:
	case number.IsFixed[T]():
		var product ulog.Fixed
		if x, ok := fixedLogs(k.X); ok {
			product = ulog.Prod(ulog.OfFixedLogs(x))
		} else {
			for i := range k.X.N {
				product = product.Mul(fixedLog(k.X.Data[i*k.X.Inc]))
			}
		}
		multiply(k.Out, product, p.Back)
	default:
		*k.Out += number.Signed(p.Sign(), vector.SumAt(&k.X))
	}
	if p.T.Out != nil {
		*p.T.Out += number.Signed(p.Sign(), vector.SumAt(&p.T.X))
	}
	if p.G.Out != nil {
		vector.AddConstantAt(*p.G.Out, &p.G.X)
	}
	if p.GT.Out != nil {
		vector.AddConstantAt(*p.GT.Out, &p.GT.X)
	}
	return nil
}

// fixedLogs returns x if it is contiguous and over fixed.Q43.
func fixedLogs[T rev.Real](x rev.Vector[T]) ([]fixed.Q43, bool) {
	if !number.IsFixed[T]() || x.Inc != 1 {
		return nil, false
	}
	return number.As[[]fixed.Q43](x.Data[:x.N]), true
}

// fixedLog returns the number with the log x.
func fixedLog[T rev.Real](x T) ulog.Fixed { return ulog.Fixed{Log: fixed.Q43(x)} }

// multiply multiplies the number with the log *y by f, or divides it by f.
func multiply[T rev.Real](y *T, f ulog.Fixed, divide bool) {
	if divide {
		*y = T(fixedLog(*y).Div(f).Log)
	} else {
		*y = T(fixedLog(*y).Mul(f).Log)
	}
}

// checkFactors returns an error unless every number of x has an inverse.
func checkFactors[T rev.Real](kernel string, x rev.Vector[T]) error {
	if logs, ok := fixedLogs(x); ok && !slices.Contains(logs, ulog.ZeroLog) {
		return nil
	}
	for i := range x.N {
		var err error
		switch v := x.Data[i*x.Inc]; {
		case number.IsFixed[T]():
			if fixed.Q43(v) == ulog.ZeroLog {
				err = ulog.ErrDivideByZero
			}
		case isFinite(float64(v)):
		case v < 0:
			err = ulog.ErrDivideByZero
		case v > 0:
			err = ulog.ErrUndefined
		default:
			err = ulog.ErrNaN
		}
		if err != nil {
			return fmt.Errorf("revlog: %s: factor %d, of log %v, has no inverse: %w", kernel, i, x.Data[i*x.Inc], err)
		}
	}
	return nil
}
