package rules

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revsparse"
	"revnum/rules/internal/catalog"
)

// Pass is a pass over a kernel: one of the methods that every kernel has.
type Pass int32

// The passes, for a kernel y += f(x). See package rev.
const (
	Forward        Pass = iota // y += f(x)
	Inverse                    // y -= f(x)
	Adjoint                    // y -= f(x), x̄ += Jᵀ·ȳ
	Tangent                    // y += f(x), ẏ += J·ẋ
	AdjointTangent             // the inverse of Tangent, with x̄ += Jᵀ·ȳ and ġx += Jᵀ·ġy + (∂J[ẋ])ᵀ·ȳ
	Gradient                   // y += f(x), x̄ += Jᵀ·ȳ
)

var passes = [...]string{"Forward", "Inverse", "Adjoint", "Tangent", "AdjointTangent", "Gradient"}

// String returns the name of the method.
func (p Pass) String() string {
	if p < 0 || int(p) >= len(passes) {
		return fmt.Sprintf("pass %d", int32(p))
	}
	return passes[p]
}

// MarshalText implements encoding.TextMarshaler.
func (p Pass) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// ErrArgument is wrapped by the errors of operands and parameters that do not belong to
// the rule. For shapes that do not fit, the error is an *OperandError of package rev
// instead.
var ErrArgument = errors.New("rules: wrong argument")

// Args are the operands of a kernel and their derivatives, each in the order of
// Rule.Operands, and its parameters, in the order of Rule.Params. Operands that are
// missing at the end count as zero Buffers, that is, as left out. Missing parameters
// are zero.
type Args struct {
	Operands          []Buffer
	Cotangents        []Buffer
	Tangents          []Buffer
	CotangentTangents []Buffer
	Params            []float64
}

func (a *Args) part(p catalog.Part) []Buffer {
	return [...][]Buffer{a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents}[p]
}

var partPrefix = [...]string{"", "g.", "t.", "gt."}

// Call makes a pass over the kernel, in place. It returns an error if the operands do
// not belong to the rule. If the kernel finds them wrong, the error is an *OperandError
// of package rev. If the data has no result, it returns the kernel's error. Only if the
// error is a *PanicError may outputs have changed in part.
//
// Call keeps nothing of a. After the first calls it allocates
// nothing but the graph or the hand of a kernel that has one, which it makes in each call.
func (r *Rule) Call(p Pass, a Args) error { return r.call(p, &a, false) }

// call is Call. If zero is set, it sets to zero what a says first.
func (r *Rule) call(p Pass, a *Args, zero bool) (err error) {
	if err := r.callable(p); err != nil {
		return err
	}
	f := r.frames.Get().(catalog.Frame)
	defer r.end(f, &err)
	if err := r.set(f, a); err != nil {
		return err
	}
	if zero {
		a.zero(0, 1)
	}
	return f.Call(p.String())
}

// callable returns an error if the rule cannot be called, or there is no such pass.
func (r *Rule) callable(p Pass) error {
	if r.Missing != "" {
		return fmt.Errorf("%w: %s cannot be called: %s", ErrArgument, r.Name, r.Missing)
	}
	if p < 0 || int(p) >= len(passes) {
		return fmt.Errorf("%w: there is no %v", ErrArgument, p)
	}
	return nil
}

// Prepare returns a function that makes the pass p over a kernel each time it is called, on the
// memory of a. It takes little longer than the method of the kernel, so that you can measure it. Prepare
// has the errors of Call for arguments, and the kernel's for operands. The function has those of the
// method, also rev.ErrUnsupported, and panics as it does, where derivatives are wrong.
func (r *Rule) Prepare(p Pass, a Args) (run func() error, err error) {
	if err := r.callable(p); err != nil {
		return nil, err
	}
	f := r.newFrame()
	defer func() {
		if v := recover(); v != nil {
			run, err = nil, failure(r, v)
		}
	}()
	if err := r.set(f, &a); err != nil {
		return nil, err
	}
	f.Check()
	pass := p.String()
	return func() error { return f.Call(pass) }, nil
}

// end releases a frame, and turns a panic into an error.
func (r *Rule) end(f catalog.Frame, err *error) {
	if v := recover(); v != nil {
		*err = failure(r, v)
	}
	f.Clear()
	r.frames.Put(f)
}

// PanicError is the error of a kernel that panicked, such as on an index out of range.
// Wrong shapes of operands give other errors.
type PanicError struct {
	Rule  string
	Value any
}

func (e *PanicError) Error() string { return fmt.Sprintf("%s: %v", e.Rule, e.Value) }

// Unwrap returns Value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func failure(r *Rule, v any) error {
	if err, ok := v.(error); ok {
		var wrong *rev.OperandError
		if errors.As(err, &wrong) {
			return err
		}
	}
	return &PanicError{r.Name, v}
}

// checkCount returns an error if there are more buffers than operands.
func (r *Rule) checkCount(list []Buffer) error {
	if len(list) > len(r.Operands) {
		return fmt.Errorf("%w: %d operands for %s, which has %d", ErrArgument, len(list), r.Name, len(r.Operands))
	}
	return nil
}

// set sets the fields of a frame.
func (r *Rule) set(f catalog.Frame, a *Args) error {
	for part := range catalog.Part(catalog.NumParts) {
		list := a.part(part)
		if err := r.checkCount(list); err != nil {
			return err
		}
		k := f.At(part)
		for i := range list {
			b, o := &list[i], &r.Operands[i]
			var err error
			switch {
			case part != catalog.Primal && (b.Data == nil || o.role == rev.Index): // the operand has no derivative
			case o.structure: // below
			default:
				err = o.set(k, b, part == catalog.Primal)
			}
			if err != nil {
				return fmt.Errorf("%w: %s%s of %s %w", ErrArgument, partPrefix[part], o.Name, r.Name, err)
			}
		}
	}
	if len(a.Params) > len(r.Params) {
		return fmt.Errorf("%w: %d parameters for %s, which has %d", ErrArgument, len(a.Params), r.Name, len(r.Params))
	}
	for i, v := range a.Params {
		if err := r.Params[i].set(f.At(catalog.Primal), v); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrArgument, r.Name, err)
		}
	}
	for i := range r.Operands {
		o := &r.Operands[i]
		needed := !o.Optional && (o.role == rev.In || o.role == rev.InOut || o.structure)
		if needed && (i >= len(a.Operands) || a.Operands[i].leftOut()) {
			return &rev.OperandError{Kernel: r.Name, Operand: o.Name, Reason: fmt.Sprintf("is left out, want %s of %v", o.Kind, o.Type), Err: mat.ErrShape}
		}
	}
	for _, s := range r.structures {
		arrays := make([]Buffer, len(s.operands)) // of which optional ones may be missing at the end
		copy(arrays, a.Operands[s.first:])
		if err := s.set(unsafe.Add(f.At(catalog.Primal), s.offset), arrays, a.Operands); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrArgument, r.Name, err)
		}
	}
	return nil
}

// A field says where an operand is in a kernel.
type field struct {
	kind      rev.Kind
	role      rev.Role
	offset    uintptr
	structure bool // stands for a field with others, see structure
}

// The headers of slices and views do not depend on the type of elements, so headers of
// bytes are used for all.
type (
	vectorHeader = rev.Vector[byte]
	matrixHeader = rev.General[byte]
	sparseHeader = revsparse.CSR[byte, int]
)

// set makes b the operand of the kernel at k. The kernel checks the shape, and that the
// operand lies in its memory.
func (o *Operand) set(k unsafe.Pointer, b *Buffer, primal bool) error {
	p := unsafe.Add(k, o.offset)
	if b.leftOut() {
		return nil
	}
	axes := [...]int{rev.Scalar: 0, rev.Slice: 1, rev.Vec: 1, rev.Gen: 2, rev.Sparse: 2}[o.kind]
	switch {
	case b.Type != o.Type:
		return fmt.Errorf("has elements of %v, want %v", b.Type, o.Type)
	case b.Sparse != (o.kind == rev.Sparse):
		return fmt.Errorf("want a %v", o.kind)
	case b.Axes != axes:
		return fmt.Errorf("has %d axes, want %d of a %v", b.Axes, axes, o.kind)
	case b.Len < 0 || b.Data == nil && b.Len > 0:
		return fmt.Errorf("has %d elements in memory", b.Len)
	case uintptr(b.Data)%b.Type.align() != 0:
		return fmt.Errorf("is at an address that is no multiple of %d", b.Type.align())
	case b.Move%int(b.Type.align()) != 0:
		return fmt.Errorf("moves by %d bytes, which is no multiple of %d", b.Move, b.Type.align())
	}
	data := unsafe.Slice((*byte)(b.Data), b.Len) // b.Len counts elements, not bytes
	switch o.kind {
	case rev.Scalar:
		if b.Len == 0 {
			return errors.New("has no element in memory")
		}
		*(*unsafe.Pointer)(p) = b.Data
	case rev.Slice:
		switch {
		case b.Shape[0] < 0 || b.Shape[0] > b.Len && b.Data != nil:
			return fmt.Errorf("has length %d in memory for %d elements", b.Shape[0], b.Len)
		case b.Shape[0] > 1 && b.Stride[0] != 1:
			return fmt.Errorf("has a stride of %d, want 1", b.Stride[0])
		case b.Data != nil:
			*(*[]byte)(p) = data[:b.Shape[0]]
		}
	case rev.Vec:
		inc := b.Stride[0]
		if b.Shape[0] <= 1 {
			inc = 1
		}
		*(*vectorHeader)(p) = vectorHeader{N: b.Shape[0], Data: data, Inc: inc}
	case rev.Gen:
		stride := b.Stride[0]
		switch {
		case b.Shape[0] > 0 && b.Shape[1] > 1 && b.Stride[1] != 1:
			return fmt.Errorf("has a stride of %d between columns, want 1", b.Stride[1])
		case b.Shape[0] <= 1:
			stride = max(1, b.Shape[1])
		}
		*(*matrixHeader)(p) = matrixHeader{Rows: b.Shape[0], Cols: b.Shape[1], Data: data, Stride: stride}
	case rev.Sparse:
		if primal {
			entries := b.Len
			if b.Data == nil {
				entries = len(b.Ind)
			}
			if _, err := revsparse.NewCSR(b.Shape[0], b.Shape[1], b.Ptr, b.Ind, make([]struct{}, entries)); err != nil {
				return fmt.Errorf("is malformed: %w", err)
			}
			*(*sparseHeader)(p) = sparseHeader{Rows: b.Shape[0], Cols: b.Shape[1], Ptr: b.Ptr, Ind: b.Ind}
		}
		(*sparseHeader)(p).Data = data
	}
	return nil
}

// set sets the parameter in the kernel at k.
func (p *Param) set(k unsafe.Pointer, v float64) error {
	f := reflect.NewAt(p.typ, unsafe.Add(k, p.offset)).Elem()
	switch {
	case p.Kind == "bool":
		if v != 0 && v != 1 {
			return fmt.Errorf("%s is %v, want 0 or 1", p.Name, v)
		}
		f.SetBool(v == 1)
	case p.typ == types[Q43].typ:
		f.SetInt(int64(fixed.FromFloat64(v)))
	case f.CanFloat():
		f.SetFloat(v)
	case p.Name == "Workers" && v < 0:
		return fmt.Errorf("%s is %v, want 0 or more", p.Name, v)
	case v != math.Trunc(v) || math.Abs(v) > 1<<53:
		return fmt.Errorf("%s is %v, want an integer", p.Name, v)
	case f.CanInt() && !f.OverflowInt(int64(v)):
		f.SetInt(int64(v))
	case f.CanUint() && v >= 0 && !f.OverflowUint(uint64(v)):
		f.SetUint(uint64(v))
	default:
		return fmt.Errorf("%s is %v: out of range", p.Name, v)
	}
	return nil
}
