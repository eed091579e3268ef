package num

import (
	"math"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/rev"
)

// Each function over all types is followed by its version over fixed point, unless
// package fixed has that.

// saturated returns v, or the largest number if that is out of range.
func saturated(v fixed.Q43, err error) fixed.Q43 {
	if err != nil {
		return fixed.Max
	}
	return v
}

// Sqrt returns √x; in fixed point 0 for x < 0.
func Sqrt[T rev.Real](x T) T { return apply(x, math.Sqrt, sqrt) }

//go:noinline
func sqrt(x fixed.Q43) fixed.Q43 { return fixed.Sqrt(max(x, 0)) }

// Exp returns eˣ; in fixed point the largest number if eˣ is out of range.
func Exp[T rev.Real](x T) T { return apply(x, math.Exp, exp) }

func exp(x fixed.Q43) fixed.Q43 { return saturated(fixed.ExpChecked(x)) }

// Exp2 returns 2ˣ; in fixed point the largest number if 2ˣ is out of range.
func Exp2[T rev.Real](x T) T { return apply(x, math.Exp2, exp2) }

func exp2(x fixed.Q43) fixed.Q43 { return saturated(fixed.Exp2Checked(x)) }

// Expm1 returns eˣ - 1; in fixed point about the largest number if eˣ is out of range.
func Expm1[T rev.Real](x T) T { return apply(x, math.Expm1, expm1) }

func expm1(x fixed.Q43) fixed.Q43 { return exp(x) - fixed.One }

// Log returns log x; in fixed point the least number for x <= 0.
func Log[T rev.Real](x T) T { return apply(x, logs.Log, log) }

func log(x fixed.Q43) fixed.Q43 {
	if x <= 0 {
		return fixed.Min
	}
	return fixed.Log(x)
}

// Log2 returns the logarithm to base 2; in fixed point the least number for x <= 0.
func Log2[T rev.Real](x T) T { return apply(x, math.Log2, log2) }

func log2(x fixed.Q43) fixed.Q43 {
	if x <= 0 {
		return fixed.Min
	}
	return fixed.Log2(x)
}

// Log10 returns the logarithm to base 10; in fixed point the least number for x <= 0.
func Log10[T rev.Real](x T) T { return apply(x, logs.Log10, log10) }

func log10(x fixed.Q43) fixed.Q43 {
	if x <= 0 {
		return fixed.Min
	}
	return fixed.Log(x).Mul(fixed.FromFloat64(1 / math.Ln10))
}

// Log1p returns log(1 + x); in fixed point the least number for x <= -1.
func Log1p[T rev.Real](x T) T { return apply(x, math.Log1p, log1p) }

func log1p(x fixed.Q43) fixed.Q43 { return log(fixed.One + x) }

// Sin returns sin x.
func Sin[T rev.Real](x T) T { return apply(x, math.Sin, fixed.Sin) }

// Cos returns cos x.
func Cos[T rev.Real](x T) T { return apply(x, math.Cos, fixed.Cos) }

// Sincos returns sin x and cos x.
func Sincos[T rev.Real](x T) (sin, cos T) {
	if isFixed[T]() {
		s, c := fixed.SinCos(fixed.Q43(x))
		return T(s), T(c)
	}
	s, c := math.Sincos(float64(x))
	return T(s), T(c)
}

// Tan returns tan x; in fixed point 0 where cos x is 0.
func Tan[T rev.Real](x T) T { return apply(x, math.Tan, tan) }

func tan(x fixed.Q43) fixed.Q43 { return quotient(fixed.SinCos(x)) }

// Asin returns arcsin x; in fixed point ±π/2 for |x| > 1.
func Asin[T rev.Real](x T) T { return apply(x, math.Asin, asin) }

func asin(x fixed.Q43) fixed.Q43 { return fixed.Atan2(x, cosOfSine(x)) }

// Acos returns arccos x; in fixed point 0 or π for |x| > 1.
func Acos[T rev.Real](x T) T { return apply(x, math.Acos, acos) }

func acos(x fixed.Q43) fixed.Q43 { return fixed.Atan2(cosOfSine(x), x) }

// cosOfSine returns √(1 - x²), or 0 for |x| > 1.
func cosOfSine(x fixed.Q43) fixed.Q43 {
	if x > fixed.One || x < -fixed.One {
		return 0
	}
	return fixed.Sqrt((fixed.One - x).Mul(fixed.One + x))
}

// Atan returns arctan x.
func Atan[T rev.Real](x T) T { return apply(x, math.Atan, atan) }

func atan(x fixed.Q43) fixed.Q43 { return fixed.Atan2(x, fixed.One) }

// Atan2 returns the angle of the point (x, y).
func Atan2[T rev.Real](y, x T) T { return apply2(y, x, math.Atan2, fixed.Atan2) }

// Sinh returns sinh x; in fixed point it is wrong where eˣ or e⁻ˣ is out of range.
func Sinh[T rev.Real](x T) T { return apply(x, math.Sinh, sinh) }

func sinh(x fixed.Q43) fixed.Q43 { return (exp(x) - exp(-x)) / 2 }

// Cosh returns cosh x; in fixed point it is wrong where eˣ or e⁻ˣ is out of range.
func Cosh[T rev.Real](x T) T { return apply(x, math.Cosh, cosh) }

func cosh(x fixed.Q43) fixed.Q43 { return exp(x)/2 + exp(-x)/2 }

// Tanh returns tanh x.
func Tanh[T rev.Real](x T) T { return apply(x, math.Tanh, tanh) }

func tanh(x fixed.Q43) fixed.Q43 {
	e := exp(-2 * abs(x))
	r := (fixed.One - e).Div(fixed.One + e)
	if x < 0 {
		return -r
	}
	return r
}

// Asinh returns the number whose sinh is x.
func Asinh[T rev.Real](x T) T { return apply(x, math.Asinh, asinh) }

func asinh(x fixed.Q43) fixed.Q43 {
	if x < 0 {
		return -asinh(-max(x, -fixed.Max))
	}
	return log(x/2+hypot(x, fixed.One)/2) + fixed.Ln2 // halves are in range
}

// Acosh returns the number above 0 whose cosh is x; in fixed point 0 for x < 1.
func Acosh[T rev.Real](x T) T { return apply(x, math.Acosh, acosh) }

func acosh(x fixed.Q43) fixed.Q43 {
	if x < fixed.One {
		return 0
	}
	return log(x/2+sqrt(x-fixed.One).Mul(sqrt(x+fixed.One))/2) + fixed.Ln2
}

// Atanh returns the number whose tanh is x; in fixed point the least or the largest number
// for |x| >= 1.
func Atanh[T rev.Real](x T) T { return apply(x, math.Atanh, atanh) }

func atanh(x fixed.Q43) fixed.Q43 {
	switch {
	case x <= -fixed.One:
		return fixed.Min
	case x >= fixed.One:
		return fixed.Max
	}
	return log(fixed.One+x)/2 - log(fixed.One-x)/2
}

// Hypot returns √(x² + y²); in fixed point the largest number if that is out of range.
func Hypot[T rev.Real](x, y T) T { return apply2(x, y, math.Hypot, hypot) }

func hypot(x, y fixed.Q43) fixed.Q43 { return saturated(fixed.HypotChecked(x, y)) }

// Pow returns xʸ; in fixed point 0 where xʸ is undefined or out of range.
func Pow[T rev.Real](x, y T) T { return apply2(x, y, logs.Pow, pow) }

func pow(x, y fixed.Q43) fixed.Q43 {
	r, err := fixed.PowChecked(x, y)
	if err != nil {
		return 0
	}
	return r
}

// Cbrt returns the cube root of x.
func Cbrt[T rev.Real](x T) T { return apply(x, math.Cbrt, cbrt) }

func cbrt(x fixed.Q43) fixed.Q43 {
	if x < 0 {
		return -cbrt(-max(x, -fixed.Max))
	}
	return pow(x, fixed.FromFloat64(1./3))
}

// Abs returns |x|.
func Abs[T rev.Real](x T) T { return apply(x, math.Abs, abs) }

func abs(x fixed.Q43) fixed.Q43 { return max(x, -x) }
