package rev

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"revnum/fixed"
)

// ForwardMode returns the step that does what step does, and whose Adjoint uses only the
// Tangent and the Inverse of step. step must compute y += f(x): it adds a function of
// the inputs x to the outputs y, and leaves all else as it was. Adjoint runs a tangent
// for each number of x:
//
//	x̄_i += ⟨ȳ, ∂f/∂x_i⟩
//
// This takes n tangents and n inverses for n inputs. So it suits steps with few
// inputs, and steps whose kernels have a Tangent but no Adjoint. Derivatives by other
// operands that step reads are not computed.
//
// The functions find the operands in the state, and their derivatives in the states of
// derivatives. As with a kernel, it is an error if a wanted gradient would lack a part because
// an output or an input has no cotangent. Adjoint allocates a state of tangents.
// AdjointTangent returns an error that wraps [ErrUnsupported].
func ForwardMode[S any, T Real](step Step[S], inputs, outputs []func(s *S) []T) Step[S] {
	return Step[S]{node: &forwardMode[S, T]{step: step, inputs: inputs, outputs: outputs}}
}

type forwardMode[S any, T Real] struct {
	step            Step[S]
	inputs, outputs []func(s *S) []T
}

func (f *forwardMode[S, T]) name() string { return "ForwardMode" }

func (f *forwardMode[S, T]) run(p pass) error {
	switch {
	case p.g == nil:
		return within("ForwardMode", p.over(f.step.node))
	case p.t != nil:
		return &Unsupported{"ForwardMode", p.String()}
	}
	if p.missing != nil {
		if err := f.checkMissing(p); err != nil {
			return within("ForwardMode", err)
		}
	}
	ahead := p.back // whether the state is that after the step
	cotangents := make([][]T, len(f.inputs))
	for i, of := range f.inputs {
		own, split := ownOf(p.own, of((*S)(p.g)))
		if split {
			return within("ForwardMode", errSplit)
		}
		cotangents[i] = own
	}
	move := func(to bool) error {
		if to == ahead {
			return nil
		}
		err := pass{back: !to, s: p.s}.over(f.step.node)
		if err == nil {
			ahead = to
		}
		return err
	}
	t := ZeroLike((*S)(p.s))
	sums, err := f.products(p, t, &ahead, move)
	if err == nil {
		err = move(!p.back)
	}
	if err != nil {
		return notRestored(within("ForwardMode", err), move(p.back))
	}
	for i, of := range f.inputs {
		x := cotangents[i] // nil if it is not wanted
		for j := range x {
			if p.back {
				x[j] += sums[j]
			} else {
				x[j] -= sums[j]
			}
		}
		sums = sums[len(of((*S)(p.s))):]
	}
	return nil
}

// checkMissing returns an error if a gradient would lack a part that a later step has lost.
// It describes the inputs and outputs as the operands of a kernel.
func (f *forwardMode[S, T]) checkMissing(p pass) error {
	l := &layout{kernel: reflect.TypeFor[forwardMode[S, T]]()}
	var k, g [][]T
	add := func(role Role, name string, list []func(s *S) []T) {
		for i, of := range list {
			at := uintptr(len(k)) * unsafe.Sizeof([]T(nil))
			l.fields = append(l.fields, field{at, at, unsafe.Sizeof(T(0)), Operand{
				Name: fmt.Sprintf("%s[%d]", name, i), Role: role, Kind: Slice, Elem: reflect.TypeFor[T](),
			}})
			k, g = append(k, of((*S)(p.s))), append(g, of((*S)(p.g)))
		}
	}
	add(In, "inputs", f.inputs)
	add(Acc, "outputs", f.outputs)
	return p.missing.check(l, unsafe.Pointer(unsafe.SliceData(k)), unsafe.Pointer(unsafe.SliceData(g)), nil, nil)
}

var errSplit = errors.New("only some elements of an input are shared by the branches of ParallelShared")

// products returns ⟨ȳ, ẏ⟩ for a tangent of 1 of each input. The tangents begin at the
// state before the step.
func (f *forwardMode[S, T]) products(p pass, t *S, ahead *bool, move func(to bool) error) (sums []T, err error) {
	for _, of := range f.inputs {
		for i := range of((*S)(p.s)) {
			if err := move(false); err != nil {
				return nil, err
			}
			of(t)[i] = fixed.Of[T](1)
			if err := (pass{s: p.s, t: unsafe.Pointer(t)}).over(f.step.node); err != nil {
				return nil, err
			}
			*ahead = true
			sums = append(sums, f.dot((*S)(p.g), t))
			of(t)[i] = 0
			for _, y := range f.outputs {
				clear(y(t))
			}
		}
	}
	return sums, nil
}

// dot returns ⟨ȳ, ẏ⟩.
func (f *forwardMode[S, T]) dot(g, t *S) (sum T) {
	for _, of := range f.outputs {
		gy := of(g)
		for i, v := range of(t)[:len(gy)] {
			sum += fixed.Product(gy[i], v)
		}
	}
	return sum
}
