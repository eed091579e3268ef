package rev

import (
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
)

// ValueGradient returns the value of the scalar output of p on s, and adds its
// gradient with respect to the whole state before p to g. s is as it was, up to
// what Inverse rounds.
//
// What g holds on entry are cotangents of the state after p, so it should be
// zero (ZeroLike) unless that is what is wanted; the output's own cotangent gets 1
// added. On an error s is as it was, and g is not to be used.
//
// If the last step of p is a kernel that writes the output alone, its value and its
// gradient come from one pass.
func ValueGradient[S any, T Real](p Step[S], output func(s *S) *T, s, g *S) (T, error) {
	head, last := p.split()
	if err := head.Forward(s); err != nil {
		return 0, err
	}
	*output(g) += fixed.Of[T](1)
	v := &valueGradient[S, T]{head: head, last: last, output: output}
	if err := (Step[S]{v}).run(pass[S]{back: true, s: s, g: g}); err != nil {
		return v.value, notRestored(err, head.Inverse(s))
	}
	return v.value, nil
}

// split returns all steps of p but the last, and the last.
func (p Step[S]) split() (head, last Step[S]) {
	if q, ok := p.node.(seq[S]); ok && len(q) > 0 {
		return Step[S]{q[:len(q)-1]}, q[len(q)-1]
	}
	return Step[S]{}, p
}

// A valueGradient is the adjoint of a program of which the last step is still to
// be run.
type valueGradient[S any, T Real] struct {
	head, last Step[S]
	output     func(s *S) *T
	value      T
}

// A gradientNode is the step of a kernel.
type gradientNode[S any] interface {
	// gradient makes the kernel's pass for value and gradient, unless the kernel
	// writes more than the number at output.
	gradient(p pass[S], output unsafe.Pointer) (ok bool, err error)
}

func (v *valueGradient[S, T]) run(p pass[S]) error {
	out := v.output(p.s)
	if k, ok := v.last.node.(gradientNode[S]); ok {
		before := *out
		ok, err := k.gradient(p, unsafe.Pointer(out))
		if err != nil {
			return err
		}
		if ok {
			v.value, *out = *out, before
			return v.head.pass(p)
		}
	}
	if err := v.last.pass(pass[S]{s: p.s}); err != nil {
		return err
	}
	v.value = *out
	if err := v.last.pass(p); err != nil {
		return notRestored(err, v.last.pass(pass[S]{back: true, s: p.s}))
	}
	return v.head.pass(p)
}

// HessianVector returns the value of the scalar output of p on s, adds its
// gradient to g as ValueGradient does, and adds the product of its Hessian with
// the direction t to h. s and t are as they were, up to what Inverse rounds.
//
// g and h should be zero on entry, and so should t but for the direction. On an
// error s is as it was, and g, t and h are not to be used.
func HessianVector[S any, T Real](p Step[S], output func(s *S) *T, s, g, t, h *S) (T, error) {
	if err := p.Tangent(s, t); err != nil {
		return 0, err
	}
	value := *output(s)
	*output(g) += fixed.Of[T](1)
	if err := p.AdjointTangent(s, g, t, h); err != nil {
		return value, notRestored(err, p.Inverse(s))
	}
	return value, nil
}

// Hessian stores in dst the Hessian of the scalar output of p on s with respect
// to the inputs, and returns the value of the output. s is as it was, up to
// what Inverse rounds.
//
// It takes a HessianVector for each input, with states that ZeroLike makes. If
// dst is empty it takes the order n of the inputs, otherwise Hessian panics with
// mat.ErrShape unless n is its order. On an error s is as it was, and dst is not
// to be used.
func Hessian[S any, T Float](dst *mat.SymDense, p Step[S], output func(s *S) *T, inputs func(s *S) []T, s *S) (T, error) {
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
		g, t, h := ZeroLike(s), ZeroLike(s), ZeroLike(s)
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
