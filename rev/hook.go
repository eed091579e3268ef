package rev

import "unsafe"

// Hook returns the step that calls f in Adjoint, and does nothing else. f gets the
// state s and the cotangents g at that point of the program. It may look at both, for a
// log, and may change g. It must not change s.
//
// AdjointTangent returns an error that wraps [ErrUnsupported], because it would need
// the derivative of f. So does the inverse of an adjoint. f must not use operands that
// [ParallelShared] shares.
func Hook[S any](f func(s, g *S)) Step[S] { return Step[S]{node: *(*hook)(unsafe.Pointer(&f))} }

// A hook is a function of the addresses of two states: see onState.
type hook func(s, g unsafe.Pointer)

func (f hook) name() string { return "Hook" }

func (f hook) run(p pass) error {
	switch {
	case p.g == nil:
		return nil
	case !p.back || p.t != nil:
		return &Unsupported{"Hook", p.String()}
	}
	f(p.s, p.g)
	return nil
}
