package rev

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
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
type Step[S any] struct {
	_    [0]*S // no conversion to steps of other states
	node node
}

// Forward runs the step.
func (p Step[S]) Forward(s *S) error {
	return runWhole(p.node, (*S)(nil), pass{s: unsafe.Pointer(s)})
}

// Inverse is the inverse of Forward.
func (p Step[S]) Inverse(s *S) error {
	return runWhole(p.node, (*S)(nil), pass{back: true, s: unsafe.Pointer(s)})
}

// Adjoint runs Inverse, and turns the cotangents g of the state after the step into
// those of the state before it.
func (p Step[S]) Adjoint(s, g *S) error {
	return runWhole(p.node, (*S)(nil), pass{back: true, s: unsafe.Pointer(s), g: unsafe.Pointer(g)})
}

// Tangent runs Forward and carries the tangents t along.
func (p Step[S]) Tangent(s, t *S) error {
	return runWhole(p.node, (*S)(nil), pass{s: unsafe.Pointer(s), t: unsafe.Pointer(t)})
}

// AdjointTangent runs the inverse of Tangent, and turns the cotangents g and their
// tangents gt into those of the state before the step.
func (p Step[S]) AdjointTangent(s, g, t, gt *S) error {
	return runWhole(p.node, (*S)(nil), pass{
		back: true, s: unsafe.Pointer(s), g: unsafe.Pointer(g), t: unsafe.Pointer(t), gt: unsafe.Pointer(gt),
	})
}

// runWhole runs a pass over the whole of a program. state is a pointer to what states are. runWhole is not inlined,
// or it would be compiled for each program.
//
//go:noinline
func runWhole(n node, state any, p pass) error {
	if err := p.begin(pointee(state)); err != nil {
		return err
	}
	return p.end(p.over(n))
}

// begin begins the pass over the whole of a program, on states of the given type.
func (p *pass) begin(state reflect.Type) error {
	if p.t != nil {
		if err := constantsOf(state).check(p.t); err != nil {
			return err
		}
	}
	if p.g != nil || p.t != nil {
		p.missing = missings.Get().(*lostDerivatives)
	}
	return nil
}

// end ends a pass that begin began. It panics if err is an OperandError, which is a
// bug of the caller, and returns err otherwise.
func (p *pass) end(err error) error {
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

// over makes the pass over a node as a part of a program. n may be nil.
func (p pass) over(n node) error {
	if n == nil {
		return nil
	}
	return n.run(p)
}

// A pass is one run over a program. It runs back if back is set. The cotangents g, the
// tangents t and the tangents of cotangents gt run along if they are not nil. A pass
// forward with cotangents is the inverse of an adjoint.
//
// A pass and most nodes do not depend on the type of the state, so that they are compiled only
// once, and not for each program.
type pass struct {
	back        bool
	s, g, t, gt unsafe.Pointer   // to states
	own         *substitution    // the memory that stands for shared cotangents, see ParallelShared
	missing     *lostDerivatives // the derivatives that have been lost so far
}

// place returns the place of the k-th of n steps of the pass in the program.
func (p pass) place(k, n int) int {
	if p.back {
		return n - 1 - k
	}
	return k
}

// inverse returns the inverse of p.
func (p pass) inverse() pass {
	p.back = !p.back
	p.missing = nil
	return p
}

// primal returns p without derivatives.
func (p pass) primal() pass { return pass{back: p.back, s: p.s} }

// String returns the name of the method that makes the pass.
func (p pass) String() string {
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
type node interface {
	run(p pass) error
}

// undo runs back the first n steps of a pass, after the next one has failed. It
// reports why the state could not be restored. If a kernel has no inverse for the
// cotangents or tangents, undo restores only s.
func undo(p pass, n int, step func(k int) node) error {
	var lost *Unsupported
	p = p.inverse()
	for k := n - 1; k >= 0; k-- {
		err := p.over(step(k))
		if lost == nil && errors.As(err, &lost) {
			p = p.primal()
			err = p.over(step(k))
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
	parts := partsOf(p.node)
	return unsafe.Slice((*Step[S])(unsafe.Pointer(unsafe.SliceData(parts))), len(parts)) // a Step is its node
}

//go:noinline
func partsOf(n node) []node {
	q, _ := n.(seq)
	return slices.Clone(q)
}

// String returns the name of the step, such as "At(revlinalg.Dot[float64])".
func (p Step[S]) String() string { return nameOf(p.node) }

//go:noinline
func nameOf(n node) string {
	if n, ok := n.(interface{ name() string }); ok {
		return n.name()
	}
	return "Step"
}

// nodesOf returns the nodes of steps.
func nodesOf[S any](steps []Step[S]) []node {
	nodes := make([]node, len(steps))
	for i, s := range steps {
		nodes[i] = s.node
	}
	return nodes
}

// onState returns f, for the address of a state of any type. Both functions take a pointer in the
// same place.
func onState[S, R any](f func(s *S) R) func(s unsafe.Pointer) R {
	return *(*func(s unsafe.Pointer) R)(unsafe.Pointer(&f))
}

func allOnState[S, R any](list []func(s *S) R) []func(s unsafe.Pointer) R {
	all := make([]func(s unsafe.Pointer) R, len(list))
	for i, f := range list {
		all[i] = onState(f)
	}
	return all
}
