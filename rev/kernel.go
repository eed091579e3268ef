package rev

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"revnum/fixed"
)

// Float is the constraint of kernels that need true division, exponentials or
// vector code.
type Float interface {
	float32 | float64
}

// Real is the constraint of kernels whose arithmetic is the same over floating and
// fixed point. Such kernels only add and multiply, and they add each product into an
// operand or subtract it from one.
type Real interface {
	float32 | float64 | fixed.Q43
}

// Number is the constraint of kernels whose mathematics is the same over complex
// numbers too.
type Number interface {
	Real | complex128
}

// Kernel is the interface of all kernels. K is a struct of operands, and Run its only
// method.
//
// An operand is a field that holds a pointer to a number, a slice, a [Vector], a
// [General], or a sparse matrix. Its rev tag says what the equation does with it:
//
//	rev:"in"     x   is read
//	rev:"acc"    y   is added into, and not read: y += f(x)
//	rev:"inout"  z   is transformed in place by a bijection: z <- u(x, z)
//	rev:"index"      is structure, such as the column indices of a sparse matrix
//
// Its shape tag names its dimensions, as in shape:"m,n". The same name is the same
// number in all operands of the kernel.
//
// A nil acc operand is not computed. Any other operand may be nil only if it is empty
// or its tag ends in ",optional".
//
// [Forward], [Inverse], [Adjoint], [Tangent], [AdjointTangent] and [Gradient] check
// the operands and call Run. The kernels of this library have methods of these names
// too. All of them panic with an [OperandError] if shapes do not fit, or if an
// operand overlaps one that is written. Operands that are only read may share
// storage. So may their cotangents, which are then summed.
type Kernel[K any] interface {
	// Run makes one pass over the kernel. Its operands have been checked. If the
	// data has no result, such as a singular matrix, Run returns an error and
	// leaves all operands as they were. If the kernel does not have the pass, Run
	// returns ErrUnsupported.
	Run(p Pass[K]) error
}

// A Pass tells Run what to do. It says whether the kernel runs forward or back, and
// which derivatives run along: the cotangents G, the tangents T and the tangents of
// the cotangents GT. These are kernel values with derivatives in the places of the
// operands. Run does not compute an operand that is nil there. If G, T or GT is the zero
// kernel, Run skips all that it would hold.
//
// A kernel y += f(x) adds Sign()·f(x) to y and Sign()·J·ẋ to ẏ. It adds to cotangents
// in both directions: x̄ += Jᵀ·ȳ and ġx += Jᵀ·ġy + (∂J[ẋ])ᵀ·ȳ.
//
// A kernel in place, z <- u(x, z), takes z and ż forward, or back if Back is set. With G,
// the pass back turns the cotangent z̄ after Forward into z̄ before Forward, and adds to x̄.
// The pass forward with G is the inverse of Adjoint; only [Uncall] and [Undo] make it.
//
// Operands that are nil in G, T or GT count as zero, as the package documentation says. With
// G, T has the tangents of all operands in place, or none of them. If it has none, these are
// zero before the step, and [Retrace] computes those after it.
//
// On says where the pass runs if that is not the calling goroutine: in a stream of a GPU, for
// kernels of package cuda. Other kernels ignore it.
type Pass[K any] struct {
	Back     bool // run the inverse
	Adjoint  bool // G runs along
	Tangent  bool // T runs along, and GT if G does
	G, T, GT K
	On       any
}

// Sign returns -1 if p runs back, and 1 otherwise.
func (p *Pass[K]) Sign() int {
	if p.Back {
		return -1
	}
	return 1
}

// ErrUnsupported is the error of Run for a pass that the kernel does not have, such
// as AdjointTangent. Programs return an *Unsupported instead, which names the kernel
// and the pass, and is ErrUnsupported by errors.Is.
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

// Inverse is the inverse of Forward: y -= f(x), or z <- u⁻¹(x, z). Over fixed point it
// subtracts the bits that Forward has added, so it restores y to the bit, even if a sum
// wraps around. Over floating point it restores y within about ε·(|y| + |f(x)|).
func Inverse[K Kernel[K]](k K) error {
	p := InversePass(&k)
	return k.Run(p)
}

// Adjoint starts from the state after Forward, with the cotangents of that state in
// g. It leaves the operands as Inverse does, and turns g into the cotangents of the
// state before Forward: y -= f(x), x̄ += Jᵀ·ȳ.
func Adjoint[K Kernel[K]](k, g K) error {
	p := AdjointPass(&k, &g)
	return k.Run(p)
}

// Tangent runs Forward and carries the tangents t along: y += f(x), ẏ += J·ẋ.
func Tangent[K Kernel[K]](k, t K) error {
	p := TangentPass(&k, &t)
	return k.Run(p)
}

// AdjointTangent is the tangent of Adjoint. It starts from the state after Tangent,
// with the cotangents of that state in g and their tangents in gt. It restores the
// operands and t to what they were before Tangent. It leaves g as Adjoint does, and
// turns gt into the tangents of g. It panics if only some operands in place have a tangent.
func AdjointTangent[K Kernel[K]](k, g, t, gt K) error {
	p := AdjointTangentPass(&k, &g, &t, &gt)
	return k.Run(p)
}

// Gradient computes the value and the gradient in one pass: y += f(x), x̄ += Jᵀ·ȳ. An
// optimiser needs both of its objective y. For a kernel in place, Gradient makes three
// passes, and leaves the operands as Forward does and g as Adjoint does.
func Gradient[K Kernel[K]](k, g K) error {
	mustCheck(&k, &g, nil, nil)
	return GradientOf(pointee((*K)(nil)), func(adjoint, back bool) error {
		p := Pass[K]{Back: back, Adjoint: adjoint}
		if adjoint {
			p.G = g
		}
		return k.Run(p)
	})
}

// GradientOf is [Gradient] for a kernel type that is known only when the program runs. It is for packages that
// make passes by their names, as rev/revtest does; otherwise call Gradient. Check the operands before, with [CheckOf].
// run makes a pass over the same kernel, with its cotangents if adjoint is set and without them if not.
func GradientOf(kernel reflect.Type, run func(adjoint, back bool) error) error {
	if !layoutOf(kernel).inPlace {
		return run(true, false)
	}
	if err := run(false, false); err != nil {
		return err
	}
	if err := run(true, true); err != nil {
		return notRestored(err, run(false, true))
	}
	return run(false, false)
}

// Undo makes the pass that undoes the pass p of k, as [Uncall] does. p is from
// [ForwardPass] or one of its kin:
//
//	rev.Undo(k, rev.AdjointPass(&k, &g))  // y += f(x), x̄ -= Jᵀ·ȳ
//
// If k is a kernel in place that does not have this pass, Undo returns ErrUnsupported.
func Undo[K Kernel[K]](k K, p Pass[K]) error {
	p.Back = !p.Back
	c := call{layout: layoutAt((*K)(nil)), k: noescape(unsafe.Pointer(&k)), g: noescape(unsafe.Pointer(&p.G))}
	if p.Tangent {
		c.t, c.gt = noescape(unsafe.Pointer(&p.T)), noescape(unsafe.Pointer(&p.GT))
	}
	if err := c.begin(p.Adjoint, p.Back); err != nil {
		return err
	}
	err := k.Run(p)
	c.end()
	return err
}

// Retrace makes the pass p of a kernel in place, which is AdjointTangent, if the tangents of
// operands in place in p.T are those before the step and not those after it. It first makes the
// passes Inverse and Tangent. Run calls it with zeros in scratch memory for the tangents that
// are nil:
//
//	if p.Adjoint && p.Tangent && p.T.Z.Data == nil && p.T.X.Data != nil {
//		p.T.Z = zeros
//		return rev.Retrace(k, p)
//	}
func Retrace[K Kernel[K]](k K, p Pass[K]) error {
	l := layoutAt((*K)(nil))
	state, ahead := k, Pass[K]{Tangent: true, T: p.T}
	l.dropOutputs(unsafe.Pointer(&state))
	l.dropOutputs(unsafe.Pointer(&ahead.T))
	if err := state.Run(Pass[K]{Back: true}); err != nil {
		return err
	}
	if err := state.Run(ahead); err != nil {
		return notRestored(err, state.Run(Pass[K]{}))
	}
	return k.Run(p)
}

// dropOutputs makes the acc operands of the kernel value at k nil.
func (l *layout) dropOutputs(k unsafe.Pointer) {
	for i := range l.fields {
		if f := &l.fields[i]; f.Role == Acc {
			*(*unsafe.Pointer)(unsafe.Add(k, f.data)) = nil
			if f.Kind != Scalar {
				*f.header(k) = sliceHeader{}
			}
		}
	}
}

// ForwardPass checks the operands of k and returns the pass for Run. [InversePass],
// [AdjointPass], [TangentPass] and [AdjointTangentPass] do the same for the other
// passes, and check the derivatives too. Use them to write the methods of a kernel:
//
//	func (k Dot) Adjoint(g Dot) error { return k.Run(rev.AdjointPass(&k, &g)) }
//
// They panic with an *OperandError unless the operands are well formed, have the
// shapes of their tags, and overlap only where [Kernel] allows it. They do not
// allocate. If an acc vector or matrix of k is nil, they set its dimensions from the
// shape tags.
func ForwardPass[K any](k *K) Pass[K] {
	mustCheck(k, nil, nil, nil)
	return Pass[K]{}
}

// InversePass is like [ForwardPass].
func InversePass[K any](k *K) Pass[K] {
	mustCheck(k, nil, nil, nil)
	return Pass[K]{Back: true}
}

// AdjointPass is like [ForwardPass].
func AdjointPass[K any](k, g *K) Pass[K] {
	mustCheck(k, g, nil, nil)
	return Pass[K]{Back: true, Adjoint: true, G: *g}
}

// TangentPass is like [ForwardPass].
func TangentPass[K any](k, t *K) Pass[K] {
	mustCheck(k, nil, t, nil)
	return Pass[K]{Tangent: true, T: *t}
}

// AdjointTangentPass is like [ForwardPass].
func AdjointTangentPass[K any](k, g, t, gt *K) Pass[K] {
	mustCheck(k, g, t, gt)
	return Pass[K]{Back: true, Adjoint: true, Tangent: true, G: *g, T: *t, GT: *gt}
}

// Check checks the operands of the kernel that k points to, and of its derivatives, as [ForwardPass] and its kin do.
// g, t and gt are pointers of the same type; those that do not run along are nil. Use it where the pass is chosen when
// the program runs. (It has no type parameter so that it is compiled only once, and not for each kernel.)
func Check(k, g, t, gt any) {
	for _, d := range [...]any{g, t, gt} {
		if of := reflect.TypeOf(k); d != nil && reflect.TypeOf(d) != of {
			panic(wrongArgument("Check", "derivatives", "are a %v of a %v", reflect.TypeOf(d), of)) // without d, which would escape
		}
	}
	mustCheck(k, g, t, gt)
}

// CheckOf is [Check] for a kernel type that is known only when the program runs. It is for packages that make
// passes by their names, as rev/revtest does; otherwise call Check. k points to a value of this type; g, t and gt
// do too, or are nil. Nothing checks that.
func CheckOf(kernel reflect.Type, k, g, t, gt unsafe.Pointer) {
	layoutOf(kernel).mustCheck(k, g, t, gt)
}
