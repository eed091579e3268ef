package fixed

import "math/bits"

// The derivative rules of the functions are adjoints. The adjoint of y += f(x), with
// the cotangent ȳ of y, is y -= f(x) and
//
//	x̄ += fAdjoint(x, ȳ),  fAdjoint(x, ȳ) = f'(x)·ȳ
//
// f'(x) is a number, so the same function gives the tangent: ẏ += fAdjoint(x, ẋ). A
// function of two numbers has two partial derivatives, so its adjoint has two results. To
// get its tangent, call the adjoint with each of the two tangents. Add the first result
// for the first tangent to the second result for the second tangent.
//
// Each adjoint is a composition of a few operations of this package. Each of these
// rounds, wraps and panics as usual.

// LogAdjoint returns ȳ/x.
func LogAdjoint(x, gy Q43) (gx Q43) { return gy.Div(x) }

// SqrtAdjoint returns ȳ/(2√x). If x is zero, it panics as a division by zero does.
func SqrtAdjoint(x, gy Q43) (gx Q43) { return gy.Div(2 * Sqrt(x)) }

// SinAdjoint returns cos x·ȳ.
func SinAdjoint(x, gy Q43) (gx Q43) { return Cos(x).Mul(gy) }

// CosAdjoint returns -sin x·ȳ.
func CosAdjoint(x, gy Q43) (gx Q43) { return -Sin(x).Mul(gy) }

// Atan2Adjoint returns the cotangents of y and x: x/h²·z̄ and -y/h²·z̄ for h =
// √(x²+y²). At the origin it panics as a division by zero does.
func Atan2Adjoint(y, x, gz Q43) (gy, gx Q43) {
	h := Hypot(x, y)
	return mulDiv(gz, x, h).Div(h), -mulDiv(gz, y, h).Div(h)
}

// PowAdjoint returns y·xʸ⁻¹·z̄ and ln x·xʸ·z̄. The second is zero if x is not
// positive, because the power is then defined only for isolated y.
func PowAdjoint(x, y, gz Q43) (gx, gy Q43) {
	if y != 0 {
		gx = Pow(x, y.SubSat(One)).Mul(y).Mul(gz)
	}
	if x > 0 {
		gy = Pow(x, y).Mul(Log(x)).Mul(gz)
	}
	return gx, gy
}

// mulDiv returns a·b/h rounded to nearest. |b| <= h.
func mulDiv(a, b, h Q43) Q43 {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	q, r := bits.Div64(hi, lo, uint64(h))
	if r > uint64(h)-r {
		q++
	}
	v, _ := signed(q, (a < 0) != (b < 0))
	return v
}
