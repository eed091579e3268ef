package num

import (
	"math"

	"revnum/fixed"
	"revnum/rev"
)

// Over fixed point the error function is a sum of positive terms for |x| < 1, and a
// continued fraction beyond (Abramowitz and Stegun, 7.1.6 and 7.1.14):
//
//	erf x = 2/√π·exp(-x²)·Σ_n 2ⁿ·x²ⁿ⁺¹/(1·3·...·(2n+1))
//	erfc x = exp(-x²)/√π / (x + 1/2/(x + 1/(x + 3/2/(x + 2/(x + ...)))))
//
// No digits cancel in either.

// Erf returns the error function of x; in fixed point within 2⁻⁴⁰.
func Erf[T rev.Real](x T) T { return apply(x, math.Erf, erf) }

// Erfc returns 1 - erf x; in fixed point within 2⁻⁴⁰.
func Erfc[T rev.Real](x T) T { return apply(x, math.Erfc, erfc) }

func erf(x fixed.Q43) fixed.Q43 {
	switch {
	case x < 0:
		return -erf(-max(x, -fixed.Max))
	case x >= fixed.One:
		return fixed.One - erfc(x)
	}
	square := 2 * x.Mul(x)
	sum, term := fixed.Q43(0), x
	for n := fixed.Q43(3); term > 0; n += 2 {
		sum += term
		term = term.Mul(square) / n
	}
	return fixed.FromFloat64(2 / math.SqrtPi).Mul(exp(-square / 2)).Mul(sum)
}

func erfc(x fixed.Q43) fixed.Q43 {
	const end, levels = 6, 120 // erfc 6 < 2⁻⁵⁴, and at 1 more levels change nothing
	switch {
	case x < 0:
		return 2*fixed.One - erfc(-max(x, -fixed.Max))
	case x < fixed.One:
		return fixed.One - erf(x)
	case x >= end*fixed.One:
		return 0
	}
	fraction := x
	for n := levels; n > 0; n-- {
		fraction = x + (fixed.Q43(n) * fixed.One / 2).Div(fraction)
	}
	return fixed.FromFloat64(1 / math.SqrtPi).Mul(exp(-x.Mul(x))).Div(fraction)
}
