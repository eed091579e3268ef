package fixed

// Number is the constraint of code that is written once for floating and for
// fixed point. In such code, a + b and a - b are the language's, a product is
// Product(a, b), and a quotient is Quotient(a, b).
type Number interface {
	float32 | float64 | Q43
}

// Product returns a·b: rounded once in floating point, where it is never fused
// with a sum that it goes into, and a.Mul(b) in fixed point.
//
// It is inlined, and the compiler drops the branch that the type does not take
// (half of one is zero in integers), so that it costs what the product of the
// type costs. There is room for one fixed-point format: a second would exceed
// the inliner's budget.
func Product[T Number](a, b T) T {
	if T(1)/2 != 0 {
		return T(a * b)
	}
	return T(Q43(a).Mul(Q43(b)))
}

// Quotient returns a/b: rounded once in floating point, and a.Div(b) in fixed
// point, which panics if b is zero.
func Quotient[T Number](a, b T) T {
	if T(1)/2 != 0 {
		return a / b
	}
	return T(Q43(a).Div(Q43(b)))
}

// Of returns the T nearest to v: FromFloat64(v) in fixed point.
func Of[T Number](v float64) T {
	if T(1)/2 != 0 {
		return T(v)
	}
	return T(FromFloat64(v))
}

// Float returns the float64 nearest to x: x.Float64() in fixed point.
func Float[T Number](x T) float64 {
	if T(1)/2 != 0 {
		return float64(x)
	}
	return Q43(x).Float64()
}
