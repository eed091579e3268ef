package rev

import (
	"errors"
	"fmt"
	"unsafe"
)

// A Step is a reversible computation on a state S, a struct that holds the
// operands of all kernels of a program. Other values of S hold cotangents (g),
// tangents (t) and the tangents of cotangents (gt) in the same places; ZeroLike
// makes them. The zero Step does nothing.
//
// A method that returns an error leaves the state as it was found, up to
// rounding: see the package documentation for what this means for g, t and gt.
// A panic (an *OperandError) is a bug of the caller.
type Step[S any] struct{ node node[S] }

// Forward runs the step.
func (p Step[S]) Forward(s *S) error { return p.run(pass[S]{s: s}) }

// Inverse undoes Forward.
func (p Step[S]) Inverse(s *S) error { return p.run(pass[S]{back: true, s: s}) }

// Adjoint undoes Forward, and takes the cotangents g of the state after the
// step to those of the state before it.
func (p Step[S]) Adjoint(s, g *S) error { return p.run(pass[S]{back: true, s: s, g: g}) }

// Tangent is Forward with tangents carried along.
func (p Step[S]) Tangent(s, t *S) error { return p.run(pass[S]{s: s, t: t}) }

// AdjointTangent undoes Tangent, and takes the cotangents g and their tangents
// gt to those of the state before the step.
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
		p.missing = missings.Get().(*missing)
	}
	return p, nil
}

// end ends a pass that begin began. It returns err, or panics if that is about an
// operand, which is a bug of the caller.
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

// A pass is one run over a program. It goes back if back is set, with the
// cotangents g, the tangents t and the tangents of cotangents gt where they are
// there. A pass ahead with cotangents undoes that of an adjoint.
type pass[S any] struct {
	back        bool
	s, g, t, gt *S
	own         *substitution // what stands for shared cotangents, see ParallelShared
	missing     *missing      // derivatives that are not there
}

// inverse returns the pass that undoes p, which is also what Uncall makes of p.
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

// A node is a step written once for all passes. On an error the state is as it
// was found, as Step says.
type node[S any] interface {
	run(p pass[S]) error
}

// undo runs the first n steps of a pass back, after the next one has failed.
// It returns why not all is as it was: where a kernel cannot take cotangents
// or tangents back, s alone is restored.
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

// notRestored returns err with the reason why not all is as it was found.
func notRestored(err, reason error) error {
	if reason == nil {
		return err
	}
	return errors.Join(err, fmt.Errorf("rev: not restored: %w", reason))
}
