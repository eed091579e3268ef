package corner

import "math"

// functions has all functions of package math that have a derivative.
//
//revgen:kernel Functions[T rev.Real]
func functions(y, x []float64) {
	if len(x) != len(y) {
		panic("shape")
	}
	for i, v := range x {
		s, c := math.Sincos(v)
		q := math.Exp(s) + math.Log(2+c) + math.Sqrt(2+s) + math.Sin(v)*math.Cos(v) + math.Tanh(v) + math.Abs(s-3)
		q += math.Tan(s) + math.Asin(s/2) + math.Acos(c/2) + math.Atan(v) + math.Sinh(s)*math.Cosh(c)
		q -= math.Exp2(c)*math.Log2(2+s) + math.Cbrt(2+s) + math.Expm1(s)*math.Log1p(c/2)
		q += math.Log10(2+s)*math.Erf(c) - math.Erfc(s)*math.Asinh(v) + math.Acosh(2+c) + math.Atanh(s/2)
		y[i] += q + math.Hypot(v, s) + math.Atan2(s+2, v) + math.Pow(2+c, s)
	}
}
