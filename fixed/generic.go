package fixed

// Number is the constraint of code that is written once for floating and for fixed
// point. In such code write a + b and a - b for sums, Product(a, b) for a product,
// and Quotient(a, b) for a quotient.
//
// There is one fixed-point format. A second one, say of 16 fraction bits in an
// int32, would take Product over the budget of the compiler's inliner. Every kernel
// would then be several times slower, also over floats.
type Number interface {
	float32 | float64 | Q43
}

// Product returns a·b. In floating point the product is rounded once, and is never
// fused with a sum that it goes into. In fixed point it is a.Mul(b).
//
// Product costs what the product of the type costs. It is inlined, and the compiler
// drops the branch that the type does not take (half of one is zero in integers).
func Product[T Number](a, b T) T {
	if T(1)/2 != 0 {
		return T(a * b)
	}
	return T(Q43(a).Mul(Q43(b)))
}

// Quotient returns a/b. In floating point it is rounded once. In fixed point it is
// a.Div(b), which panics if b is zero.
func Quotient[T Number](a, b T) T {
	if T(1)/2 != 0 {
		return a / b
	}
	return T(Q43(a).Div(Q43(b)))
}

// Of returns the T nearest to v. In fixed point that is FromFloat64Sat(v): the end of the
// range if v is beyond it, where FromFloat64 would wrap 1e30 to 0.
func Of[T Number](v float64) T {
	if T(1)/2 != 0 {
		return T(v)
	}
	return T(FromFloat64Sat(v))
}

// Float returns the float64 nearest to x. In fixed point that is x.Float64().
func Float[T Number](x T) float64 {
	if T(1)/2 != 0 {
		return float64(x)
	}
	return Q43(x).Float64()
}
