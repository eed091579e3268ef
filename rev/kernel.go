package rev

import (
	"errors"
	"fmt"

	"revnum/fixed"
)

// Float is the constraint of kernels that need true division, exponentials or
// vector code.
type Float interface {
	float32 | float64
}

// Real is the constraint of kernels whose arithmetic is the same over floating
// and fixed point: additions, and products that are only ever added into or
// subtracted from a place.
type Real interface {
	float32 | float64 | fixed.Q43
}

// Kernel is what every kernel implements: a struct of operands with one method.
//
// The operands are the fields of the struct that carry a rev tag, which says
// what the equation does with them, and their shapes are in a shape tag (see the
// package documentation). Run finds operands that have been checked: their
// views are well formed, their shapes fit together, and none overlaps another
// that it must not.
//
// [Forward], [Inverse], [Adjoint], [Tangent], [AdjointTangent] and [Gradient]
// check the operands and call Run. The kernels of this library have methods of
// these names too.
type Kernel[K any] interface {
	// Run makes one pass over the kernel. It returns an error, and leaves all
	// operands as they were, where the data has no result (a singular matrix),
	// or ErrUnsupported where the kernel does not have the pass.
	Run(p Pass[K]) error
}

// A Pass says which way a kernel runs, and what runs along: the cotangents G,
// the tangents T and the tangents of the cotangents GT, kernel values with
// derivatives in the places of the operands. An operand that is nil there, or
// all of a value that is zero, is not computed.
//
// A kernel y += f(x) adds Sign()·f(x) to y and Sign()·J·ẋ to ẏ. Cotangents it
// always adds: x̄ += Jᵀ·ȳ and ġx += Jᵀ·ġy + (∂J[ẋ])ᵀ·ȳ.
//
// A kernel in place, z <- u(x, z), takes z and ż ahead, or back if Back is set.
// Back, it takes the cotangents of the state after to those of the state before
// and adds to x̄. Ahead, it undoes that.
type Pass[K any] struct {
	Back     bool // undo the computation
	Adjoint  bool // G runs along
	Tangent  bool // T runs along, and GT if G does
	G, T, GT K
}

// Sign returns 1, and -1 if p runs back.
func (p *Pass[K]) Sign() int {
	if p.Back {
		return -1
	}
	return 1
}

// ErrUnsupported is what Run returns for a pass that a kernel does not have,
// such as one of second order. Programs return it within an *Unsupported, which
// names the kernel and the pass.
var ErrUnsupported = errors.New("rev: the kernel does not have this pass")

// Unsupported is the error of a kernel that does not have a pass.
type Unsupported struct {
	Kernel string // its type
	Pass   string // such as "AdjointTangent"
}

func (u *Unsupported) Error() string {
	return fmt.Sprintf("kernel %s has no pass %s", u.Kernel, u.Pass)
}

// Is reports whether target is ErrUnsupported.
func (u *Unsupported) Is(target error) bool { return target == ErrUnsupported }

// Forward runs k: y += f(x), or z <- u(x, z).
func Forward[K Kernel[K]](k K) error {
	p := ForwardPass(&k)
	return k.Run(p)
}

// Inverse undoes Forward: y -= f(x), or z <- u⁻¹(x, z).
func Inverse[K Kernel[K]](k K) error {
	p := InversePass(&k)
	return k.Run(p)
}

// Adjoint starts from the state after Forward with the cotangents of that state
// in g. It leaves the operands as Inverse does, and in g the cotangents of the
// state before Forward: y -= f(x), x̄ += Jᵀ·ȳ.
func Adjoint[K Kernel[K]](k, g K) error {
	p := AdjointPass(&k, &g)
	return k.Run(p)
}

// Tangent is Forward with the tangents t carried along: y += f(x), ẏ += J·ẋ.
func Tangent[K Kernel[K]](k, t K) error {
	p := TangentPass(&k, &t)
	return k.Run(p)
}

// AdjointTangent is the tangent of Adjoint. It starts from the state after
// Tangent with the cotangents of that state in g and their tangents in gt. It
// leaves the operands and t as they were before Tangent, g as Adjoint does, and
// in gt the tangents of what it leaves in g.
func AdjointTangent[K Kernel[K]](k, g, t, gt K) error {
	p := AdjointTangentPass(&k, &g, &t, &gt)
	return k.Run(p)
}

// Gradient is Forward and the gradient in one pass: y += f(x) and x̄ += Jᵀ·ȳ,
// what an optimiser asks of an objective y. Of a kernel in place it leaves the
// operands as Forward does and g as Adjoint does, in three passes.
func Gradient[K Kernel[K]](k, g K) error {
	l := layoutFor[K]()
	l.mustCheck(addr(&k), addr(&g), nil, nil)
	if !l.inPlace {
		return k.Run(Pass[K]{Adjoint: true, G: g})
	}
	if err := k.Run(Pass[K]{}); err != nil {
		return err
	}
	if err := k.Run(Pass[K]{Back: true, Adjoint: true, G: g}); err != nil {
		return notRestored(err, k.Run(Pass[K]{Back: true}))
	}
	return k.Run(Pass[K]{})
}

// ForwardPass checks the operands of k and returns the pass that Run is to make.
// With [InversePass], [AdjointPass], [TangentPass] and [AdjointTangentPass], which
// check the derivatives too, it is for the methods of a kernel:
//
//	func (k Dot) Adjoint(g Dot) error { return k.Run(rev.AdjointPass(&k, &g)) }
//
// They panic with an *OperandError unless the operands are well formed, have
// the shapes that the tags say, and overlap only where they may. They do not
// allocate. A nil vector or matrix of k that is added into gets the dimensions
// that it would have.
func ForwardPass[K any](k *K) Pass[K] {
	layoutFor[K]().mustCheck(addr(k), nil, nil, nil)
	return Pass[K]{}
}

// InversePass is like [ForwardPass].
func InversePass[K any](k *K) Pass[K] {
	layoutFor[K]().mustCheck(addr(k), nil, nil, nil)
	return Pass[K]{Back: true}
}

// AdjointPass is like [ForwardPass].
func AdjointPass[K any](k, g *K) Pass[K] {
	layoutFor[K]().mustCheck(addr(k), addr(g), nil, nil)
	return Pass[K]{Back: true, Adjoint: true, G: *g}
}

// TangentPass is like [ForwardPass].
func TangentPass[K any](k, t *K) Pass[K] {
	layoutFor[K]().mustCheck(addr(k), nil, addr(t), nil)
	return Pass[K]{Tangent: true, T: *t}
}

// AdjointTangentPass is like [ForwardPass].
func AdjointTangentPass[K any](k, g, t, gt *K) Pass[K] {
	layoutFor[K]().mustCheck(addr(k), addr(g), addr(t), addr(gt))
	return Pass[K]{Back: true, Adjoint: true, Tangent: true, G: *g, T: *t, GT: *gt}
}
