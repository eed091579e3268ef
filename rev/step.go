package rev

import (
	"errors"
	"fmt"
	"unsafe"
)

// A Step is a reversible computation on a state S, a struct that holds the
// operands of all kernels of a program. Other values of S hold cotangents (g),
// tangents (t) and the tangents of cotangents (gt) in the same places. [ZeroLike]
// makes them. The zero Step does nothing. A Step holds no state, so it may run on
// several states at the same time. Programs and their adjoints follow J.-G. Liu and
// T. Zhao, Differentiate everything with a reversible embedded domain-specific
// language, arXiv 2003.04617, 2020.
//
// A method either completes, or returns an error and leaves s, g, t and gt as it found
// them. When a step of a program fails, the steps before it run back. They restore
// fixed point to the bit, and floating point up to rounding. There is one exception:
// if a kernel in place has no inverse of its adjoint, only s is restored, and the error
// wraps [ErrUnsupported]. The error gives the path of the step that failed, as in
// "Seq[2].While.At(revlinalg.QR[float64])". A wrong operand is a bug of the caller, so
// the methods panic with an *[OperandError].
//
// A gradient that would be wrong is an error too. If one step writes an operand and a
// later one reads it, g must have a cotangent for it. If a field of the state is
// tagged rev:"const", its tangent must be zero.
type Step[S any] struct{ node node[S] }

// Forward runs the step.
func (p Step[S]) Forward(s *S) error { return p.run(pass[S]{s: s}) }

// Inverse is the inverse of Forward.
func (p Step[S]) Inverse(s *S) error { return p.run(pass[S]{back: true, s: s}) }

// Adjoint runs Inverse, and turns the cotangents g of the state after the step into
// those of the state before it.
func (p Step[S]) Adjoint(s, g *S) error { return p.run(pass[S]{back: true, s: s, g: g}) }

// Tangent runs Forward and carries the tangents t along.
func (p Step[S]) Tangent(s, t *S) error { return p.run(pass[S]{s: s, t: t}) }

// AdjointTangent runs the inverse of Tangent, and turns the cotangents g and their
// tangents gt into those of the state before the step.
func (p Step[S]) AdjointTangent(s, g, t, gt *S) error {
	return p.run(pass[S]{back: true, s: s, g: g, t: t, gt: gt})
}

// run runs a pass over the whole of a program.
func (p Step[S]) run(q pass[S]) error {
	q, err := q.begin()
	if err != nil {
		return err
	}
	return q.end(p.pass(q))
}

// begin returns the pass p over the whole of a program.
func (p pass[S]) begin() (pass[S], error) {
	if p.t != nil {
		if err := constantsOf[S]().check(unsafe.Pointer(p.t)); err != nil {
			return p, err
		}
	}
	if p.g != nil || p.t != nil {
		p.missing = missings.Get().(*lostDerivatives)
	}
	return p, nil
}

// end ends a pass that begin began. It panics if err is an OperandError, which is a
// bug of the caller, and returns err otherwise.
func (p pass[S]) end(err error) error {
	if p.missing != nil {
		p.missing.release()
	}
	if err != nil {
		panicIfWrong(err)
	}
	return err
}

func panicIfWrong(err error) {
	var wrong *OperandError
	if errors.As(err, &wrong) {
		panic(wrong)
	}
}

// pass runs a pass over p as a part of a program.
func (p Step[S]) pass(q pass[S]) error {
	if p.node == nil {
		return nil
	}
	return p.node.run(q)
}

// A pass is one run over a program. It runs back if back is set. The cotangents g, the
// tangents t and the tangents of cotangents gt run along if they are not nil. A pass
// forward with cotangents is the inverse of an adjoint.
type pass[S any] struct {
	back        bool
	s, g, t, gt *S
	own         *substitution    // the memory that stands for shared cotangents, see ParallelShared
	missing     *lostDerivatives // the derivatives that have been lost so far
}

// place returns the place of the k-th of n steps of the pass in the program.
func (p pass[S]) place(k, n int) int {
	if p.back {
		return n - 1 - k
	}
	return k
}

// inverse returns the inverse of p.
func (p pass[S]) inverse() pass[S] {
	p.back = !p.back
	p.missing = nil
	return p
}

// primal returns p without derivatives.
func (p pass[S]) primal() pass[S] { return pass[S]{back: p.back, s: p.s} }

// String returns the name of the method that makes the pass.
func (p pass[S]) String() string {
	var name string
	switch {
	case p.g != nil && p.t != nil:
		name = "AdjointTangent"
	case p.g != nil:
		name = "Adjoint"
	case p.t != nil:
		name = "Tangent"
	case p.back:
		return "Inverse"
	default:
		return "Forward"
	}
	if p.back != (p.g != nil) {
		return "Inverse" + name
	}
	return name
}

// A node is a step written once for all passes. On an error it leaves the state as it
// found it (see Step).
type node[S any] interface {
	run(p pass[S]) error
}

// undo runs back the first n steps of a pass, after the next one has failed. It
// reports why the state could not be restored. If a kernel has no inverse for the
// cotangents or tangents, undo restores only s.
func undo[S any](p pass[S], n int, step func(k int) Step[S]) error {
	var lost *Unsupported
	p = p.inverse()
	for k := n - 1; k >= 0; k-- {
		err := step(k).pass(p)
		if lost == nil && errors.As(err, &lost) {
			p = p.primal()
			err = step(k).pass(p)
		}
		if err != nil {
			return err
		}
	}
	if lost != nil {
		return lost
	}
	return nil
}

// notRestored returns err, joined with the reason why the state could not be
// restored. The reason may be nil.
func notRestored(err, reason error) error {
	if reason == nil {
		return err
	}
	return errors.Join(err, fmt.Errorf("rev: not restored: %w", reason))
}

// Parts returns the steps of a Seq in their order, and nil for any other step.
func (p Step[S]) Parts() []Step[S] {
	if q, ok := p.node.(seq[S]); ok {
		return append([]Step[S](nil), q...)
	}
	return nil
}

// String returns the name of the step, such as "At(revlinalg.Dot[float64])".
func (p Step[S]) String() string {
	if n, ok := p.node.(interface{ name() string }); ok {
		return n.name()
	}
	return "Step"
}
