package ba

import (
	"revnum/fixed"
	"revnum/rev"
)

// A number is a number of the arithmetic of a term: one of many side by side in fixed point,
// dual for second derivatives.
type number[N any] interface {
	add(N) N
	sub(N) N
	mul(N) N
	div(N) N
	addProduct(x, y N) N // the number plus x·y
	subProduct(x, y N) N
}

// realNumber is a T.
type realNumber[T rev.Real] struct{ v T }

func (x realNumber[T]) add(y realNumber[T]) realNumber[T] { return realNumber[T]{x.v + y.v} }
func (x realNumber[T]) sub(y realNumber[T]) realNumber[T] { return realNumber[T]{x.v - y.v} }
func (x realNumber[T]) mul(y realNumber[T]) realNumber[T] {
	return realNumber[T]{fixed.Product(x.v, y.v)}
}
func (x realNumber[T]) div(y realNumber[T]) realNumber[T] { return realNumber[T]{quotient(x.v, y.v)} }

func (x realNumber[T]) addProduct(y, z realNumber[T]) realNumber[T] { return x.add(y.mul(z)) }
func (x realNumber[T]) subProduct(y, z realNumber[T]) realNumber[T] { return x.sub(y.mul(z)) }

// dual is a T with its tangent.
type dual[T rev.Real] struct{ v, d T }

func (x dual[T]) add(y dual[T]) dual[T] { return dual[T]{x.v + y.v, x.d + y.d} }
func (x dual[T]) sub(y dual[T]) dual[T] { return dual[T]{x.v - y.v, x.d - y.d} }

func (x dual[T]) mul(y dual[T]) dual[T] {
	return dual[T]{fixed.Product(x.v, y.v), fixed.Product(x.d, y.v) + fixed.Product(x.v, y.d)}
}

func (x dual[T]) div(y dual[T]) dual[T] {
	q := quotient(x.v, y.v)
	return dual[T]{q, quotient(x.d-fixed.Product(q, y.d), y.v)}
}

func (x dual[T]) addProduct(y, z dual[T]) dual[T] { return x.add(y.mul(z)) }
func (x dual[T]) subProduct(y, z dual[T]) dual[T] { return x.sub(y.mul(z)) }

// times returns the tangent of the product.
func (x dual[T]) times(y dual[T]) T { return fixed.Product(x.d, y.v) + fixed.Product(x.v, y.d) }

// quotient returns x/y. In fixed point it returns 0 for y = 0.
func quotient[T rev.Real](x, y T) T {
	if T(1)/2 == 0 && y == 0 {
		return 0
	}
	return fixed.Quotient(x, y)
}
