package optim

import (
	"revnum/fixed"
	"revnum/rev"
)

// Value is the kernel
//
//	Out += f(X)
//
// of an objective f. With the gradient ∇ and the Hessian H of f, and the tangent ġ of
// Ōut, the derivatives are
//
//	x̄ += Ōut·∇,  Ȯut += ∇·ẋ,  ġx += ġ·∇ + Ōut·H·ẋ.
//
// All passes overwrite the parameters in the state of the objective. Over fixed point a
// pass leaves the rest of that state unchanged, so all passes compute the same bits.
// Errors of the objective's program are returned.
type Value[S any, T rev.Real] struct {
	Out *T  `rev:"acc"`
	X   []T `rev:"in" shape:"n"`
	Of  *Objective[S, T]
}

// Run implements rev.Kernel.
func (k Value[S, T]) Run(p rev.Pass[Value[S, T]]) error {
	n := len(k.X)
	grad, hv, dir := make([]T, n), make([]T, n), make([]T, n)
	k.Of.SetVector(k.X)
	var value T
	var err error
	switch {
	case p.Adjoint && p.Tangent:
		copy(dir, p.T.X)
		value, err = k.Of.HessianVector(hv, grad, dir)
	case p.Adjoint || p.Tangent:
		value, err = k.Of.ValueGradient(grad)
	default:
		value, err = k.Of.Value()
	}
	if err != nil {
		return err
	}
	sign := T(p.Sign()) // the integer, in fixed point too
	if k.Out != nil {
		*k.Out += T(sign * value)
	}
	addDot(p.T.Out, sign, grad, p.T.X)
	addScaled(p.G.X, p.G.Out, grad)
	addScaled(p.GT.X, p.GT.Out, grad)
	if p.T.X != nil {
		addScaled(p.GT.X, p.G.Out, hv)
	}
	return nil
}

// addDot adds sign·Σ x_i·y_i to out. addScaled adds alpha·y to x. Both do nothing if an
// operand is nil.
func addDot[T rev.Real](out *T, sign T, x, y []T) {
	if out == nil || y == nil {
		return
	}
	for i, v := range x {
		*out += T(sign * fixed.Product(v, y[i]))
	}
}

func addScaled[T rev.Real](x []T, alpha *T, y []T) {
	if x == nil || alpha == nil {
		return
	}
	for i, v := range y {
		x[i] += fixed.Product(*alpha, v)
	}
}

// Gradient is the kernel
//
//	Y += ∇f(X)
//
// of an objective f. As its Hessian H is symmetric, the derivatives are
//
//	x̄ += H·ȳ,  ẏ += H·ẋ.
//
// There is no AdjointTangent, because it would need third derivatives. Gradient treats
// states and errors as Value does.
type Gradient[S any, T rev.Real] struct {
	Y  []T `rev:"acc" shape:"n"`
	X  []T `rev:"in" shape:"n"`
	Of *Objective[S, T]
}

// Run implements rev.Kernel.
func (k Gradient[S, T]) Run(p rev.Pass[Gradient[S, T]]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	n := len(k.X)
	grad, hv, dir := make([]T, n), make([]T, n), make([]T, n)
	k.Of.SetVector(k.X)
	var err error
	switch {
	case p.G.X != nil && p.G.Y != nil:
		copy(dir, p.G.Y)
		_, err = k.Of.HessianVector(hv, grad, dir)
	case p.T.X != nil && p.T.Y != nil:
		copy(dir, p.T.X)
		_, err = k.Of.HessianVector(hv, grad, dir)
	default:
		_, err = k.Of.ValueGradient(grad)
	}
	if err != nil {
		return err
	}
	add(k.Y, T(p.Sign()), grad)
	if p.T.X != nil {
		add(p.T.Y, T(p.Sign()), hv)
	}
	if p.G.Y != nil {
		add(p.G.X, 1, hv) // raw: a sign
	}
	return nil
}

// add adds sign·y to x, unless x is nil. The sign is an integer, in fixed point too.
func add[T rev.Real](x []T, sign T, y []T) {
	if x == nil {
		return
	}
	for i, v := range y {
		x[i] += T(sign * v)
	}
}
