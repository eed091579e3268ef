package rev

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
)

// ValueGradient returns the value of the scalar output of p on s. It adds the
// gradient of the output with respect to the whole state before p to g. It leaves s
// as it was, up to the rounding of Inverse.
//
// g should be zero on entry (see [ZeroLike]). Otherwise ValueGradient takes the
// numbers in g as cotangents of the state after p, and adds 1 to the cotangent of the
// output. On an error s is as it was, and g must not be used.
//
// If the last step of p is a kernel that writes only the output, one pass of that
// kernel computes both the value and the gradient.
func ValueGradient[S any, T Real](p Step[S], output func(s *S) *T, s, g *S) (T, error) {
	q := pass{back: true, s: unsafe.Pointer(s), g: unsafe.Pointer(g)}
	if err := q.begin(pointee((*S)(nil))); err != nil {
		return 0, err
	}
	*output(g) += fixed.Of[T](1)
	value, err := valueGradient(p.node, onState(output), q)
	return value, q.end(err)
}

// valueGradient runs p ahead, and then makes the pass q of its adjoint.
func valueGradient[T Real](p node, output func(s unsafe.Pointer) *T, q pass) (T, error) {
	ahead, back := pass{s: q.s}, pass{back: true, s: q.s}
	out := output(q.s)
	switch n := p.(type) {
	case seq:
		last := len(n) - 1
		if last < 0 {
			break
		}
		head := n[:last]
		if err := head.run(ahead); err != nil {
			return 0, err
		}
		value, err := valueGradient(n[last], output, q)
		if err != nil {
			err = within(fmt.Sprintf("Seq[%d]", last), err)
		} else {
			err = head.run(q)
		}
		if err != nil {
			err = notRestored(err, head.run(back))
		}
		return value, err
	case *kernelNode:
		before := *out
		if ok, err := n.gradient(q, unsafe.Pointer(out)); ok || err != nil {
			value := *out
			*out = before
			return value, err
		}
	}
	if err := ahead.over(p); err != nil {
		return 0, err
	}
	value := *out
	err := q.over(p)
	if err != nil {
		err = notRestored(err, back.over(p))
	}
	return value, err
}

// HessianVector returns the value of the scalar output of p on s. It adds the
// gradient to g, as ValueGradient does, and adds the product of the Hessian with the
// direction t to h. It leaves s and t as they were, up to the rounding of Inverse.
//
// g and h should be zero on entry. t should be zero except for the direction. On an
// error s is as it was, and g, t and h must not be used.
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
// to the inputs, and returns the value of the output. It leaves s as it was, up to
// the rounding of Inverse.
//
// Hessian calls HessianVector once for each of the n inputs, with states that
// ZeroLike makes. If dst is empty, it becomes a matrix of order n. Otherwise Hessian
// panics with an [OperandError] if the order of dst is not n. On an error s is as it was,
// and dst must not be used.
func Hessian[S any, T Float](dst *mat.SymDense, p Step[S], output func(s *S) *T, inputs func(s *S) []T, s *S) (T, error) {
	n := len(inputs(s))
	if dst.IsEmpty() {
		if n == 0 {
			panic(&OperandError{Kernel: "rev.Hessian", Operand: "inputs", Reason: "have no numbers", Err: mat.ErrZeroLength})
		}
		dst.ReuseAsSym(n)
	}
	if order := dst.SymmetricDim(); order != n {
		panic(&OperandError{Kernel: "rev.Hessian", Operand: "dst", Reason: fmt.Sprintf("has order %d, want %d", order, n), Err: mat.ErrShape})
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
