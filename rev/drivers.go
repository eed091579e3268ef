package rev

import (
	"gonum.org/v1/gonum/mat"
)

// Gradient runs p on s and back again, and returns the value of the scalar
// output after p. It adds the gradient of the output with respect to the whole
// state before p to g. s is as it was, up to what Inverse rounds.
//
// What g holds on entry are cotangents of the state after p, so it should be
// zero unless that is what is wanted; the output's own cotangent gets 1 added.
// On an error s is as it was, and g is not to be used.
func Gradient[S any, T Real](p Step[S], output func(s *S) *T, s, g *S) (T, error) {
	if err := p.Forward(s); err != nil {
		return 0, err
	}
	value := *output(s)
	*output(g) += one[T]()
	if err := p.Adjoint(s, g); err != nil {
		return value, notRestored(err, p.Inverse(s))
	}
	return value, nil
}

// HessianVector returns the value of the scalar output of p on s, adds its
// gradient to g as Gradient does, and adds the product of its Hessian with the
// direction t to h. s and t are as they were, up to what Inverse rounds.
//
// g and h should be zero on entry, and so should t but for the direction. On an
// error s is as it was, and g, t and h are not to be used.
func HessianVector[S any, T Real](p Step[S], output func(s *S) *T, s, g, t, h *S) (T, error) {
	if err := p.Tangent(s, t); err != nil {
		return 0, err
	}
	value := *output(s)
	*output(g) += one[T]()
	if err := p.AdjointTangent(s, g, t, h); err != nil {
		return value, notRestored(err, p.Inverse(s))
	}
	return value, nil
}

// Hessian stores in dst the Hessian of the scalar output of p on s with respect
// to the inputs, and returns the value of the output. s is as it was, up to
// what Inverse rounds.
//
// It takes a HessianVector for each input. zero returns a new state of the
// shapes of s, with all operands zero, for cotangents and tangents; it is
// called three times for each. If dst is empty it takes the order n of the
// inputs, otherwise Hessian panics with mat.ErrShape unless n is its order. On
// an error s is as it was, and dst is not to be used.
func Hessian[S any, T Float](dst *mat.SymDense, p Step[S], output func(s *S) *T, inputs func(s *S) []T, s *S, zero func() *S) (T, error) {
	n := len(inputs(s))
	if dst.IsEmpty() {
		if n == 0 {
			panic(mat.ErrZeroLength)
		}
		dst.ReuseAsSym(n)
	}
	if dst.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
	var value T
	for j := range n {
		g, t, h := zero(), zero(), zero()
		inputs(t)[j] = 1
		var err error
		if value, err = HessianVector(p, output, s, g, t, h); err != nil {
			return value, err
		}
		for i, v := range inputs(h)[:j+1] {
			dst.SetSym(i, j, float64(v))
		}
	}
	return value, nil
}

// one returns the number 1.
func one[T Real]() T {
	if T(1)/2 != 0 {
		return 1
	}
	return 1 << 43 // fixed.Q43
}
