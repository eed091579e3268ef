package rev

import "fmt"

// A Step is a reversible computation on a state S, a struct that holds the
// operands of all kernels of a program. Other values of S hold cotangents (g),
// tangents (t) and the tangents of cotangents (gt) in the same places.
//
// A method that returns an error leaves the state as it was found, up to
// rounding: see the package documentation for what this means for g, t and gt.
// A panic (wrong shapes, overlapping operands) is a bug of the caller, and
// leaves the state half-way.
type Step[S any] interface {
	// Forward runs the step.
	Forward(s *S) error

	// Inverse undoes Forward.
	Inverse(s *S) error

	// Adjoint undoes Forward, and takes the cotangents g of the state after
	// the step to those of the state before it.
	Adjoint(s, g *S) error

	// Tangent is Forward with tangents carried along.
	Tangent(s, t *S) error

	// AdjointTangent undoes Tangent, and takes the cotangents g and their
	// tangents gt to those of the state before the step.
	AdjointTangent(s, g, t, gt *S) error

	// InverseAdjoint undoes Adjoint.
	InverseAdjoint(s, g *S) error

	// InverseTangent undoes Tangent.
	InverseTangent(s, t *S) error

	// InverseAdjointTangent undoes AdjointTangent.
	InverseAdjointTangent(s, g, t, gt *S) error
}

// An op is one of the methods of a Step. The even ones run the state ahead,
// the odd ones back; op^1 undoes op, and is also what Uncall makes of op.
type op uint8

const (
	forward op = iota
	inverse
	tangent
	inverseTangent
	inverseAdjoint
	adjoint
	inverseAdjointTangent
	adjointTangent
)

var opNames = [...]string{
	"Forward", "Inverse", "Tangent", "InverseTangent",
	"InverseAdjoint", "Adjoint", "InverseAdjointTangent", "AdjointTangent",
}

func (o op) String() string { return opNames[o] }
func (o op) back() bool     { return o&1 != 0 }
func (o op) inverse() op    { return o ^ 1 }
func (o op) primal() op     { return o & 1 }

// ofKernel reports whether o is one of the methods of SecondOrder, rather than
// of the inverse of the kernel.
func (o op) ofKernel() bool {
	return o <= tangent || o == adjoint || o == adjointTangent
}

// addsCotangents reports whether o adds to the cotangents of what is read.
func (o op) addsCotangents() bool { return o >= inverseAdjoint }

// A pass is one run of an op over a program.
type pass[S any] struct {
	op          op
	unchecked   bool
	s, g, t, gt *S
	own         *substitution // what stands for shared cotangents, see ParallelShared
}

// A node is a step written once for all ops. On an error the state is as it
// was found, as Step says.
type node[S any] interface {
	run(p pass[S]) error
}

// program makes a Step of a node.
type program[S any] struct{ node[S] }

func (p program[S]) Forward(s *S) error { return p.run(pass[S]{op: forward, s: s}) }
func (p program[S]) Inverse(s *S) error { return p.run(pass[S]{op: inverse, s: s}) }
func (p program[S]) Adjoint(s, g *S) error {
	return p.run(pass[S]{op: adjoint, s: s, g: g})
}
func (p program[S]) Tangent(s, t *S) error {
	return p.run(pass[S]{op: tangent, s: s, t: t})
}
func (p program[S]) AdjointTangent(s, g, t, gt *S) error {
	return p.run(pass[S]{op: adjointTangent, s: s, g: g, t: t, gt: gt})
}
func (p program[S]) InverseAdjoint(s, g *S) error {
	return p.run(pass[S]{op: inverseAdjoint, s: s, g: g})
}
func (p program[S]) InverseTangent(s, t *S) error {
	return p.run(pass[S]{op: inverseTangent, s: s, t: t})
}
func (p program[S]) InverseAdjointTangent(s, g, t, gt *S) error {
	return p.run(pass[S]{op: inverseAdjointTangent, s: s, g: g, t: t, gt: gt})
}

// custom makes a node of a Step of the user's own.
type custom[S any] struct{ step Step[S] }

func (c custom[S]) run(p pass[S]) error {
	var err error
	switch p.op {
	case forward:
		err = c.step.Forward(p.s)
	case inverse:
		err = c.step.Inverse(p.s)
	case adjoint:
		err = c.step.Adjoint(p.s, p.g)
	case inverseAdjoint:
		err = c.step.InverseAdjoint(p.s, p.g)
	case tangent:
		err = c.step.Tangent(p.s, p.t)
	case inverseTangent:
		err = c.step.InverseTangent(p.s, p.t)
	case adjointTangent:
		err = c.step.AdjointTangent(p.s, p.g, p.t, p.gt)
	case inverseAdjointTangent:
		err = c.step.InverseAdjointTangent(p.s, p.g, p.t, p.gt)
	}
	if err != nil {
		return within(fmt.Sprintf("%T", c.step), err)
	}
	return nil
}

func nodeOf[S any](step Step[S]) node[S] {
	switch p := step.(type) {
	case nil:
		panic("rev: nil step")
	case program[S]:
		return p.node
	}
	return custom[S]{step}
}
