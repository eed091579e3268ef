package rules

import (
	"fmt"
	"slices"
	"unsafe"

	"revnum/rev"
	"revnum/rules/internal/catalog"
)

// A Pullback returns the gradients Jᵀ·ȳ of all inputs for cotangents ȳ of the outputs.
// Both are in the order of Rule.Operands. Cotangents that are left out are zero. You
// may call it any number of times. Each call returns new memory.
type Pullback func(cotangents []Buffer) (gradients []Buffer, err error)

// VJP computes the outputs f(x) of a rule in new memory, and returns the function that
// computes gradients. Both are in the order of Rule.Operands. You need not give an
// operand that is added into if the inputs determine its shape. If it is sparse, you
// must give its structure. Its numbers are not read: the output is f(x), not y + f(x).
// For an operand in place, the output is a transformed copy.
//
// The pullback reads the inputs again, so they must not change before you call it.
func (r *Rule) VJP(inputs []Buffer, params []float64) (outputs []Buffer, pullback Pullback, err error) {
	outputs, err = r.Outputs(inputs, params)
	if err != nil {
		return nil, nil, err
	}
	if err = r.Call(Forward, Args{Operands: r.with(inputs, outputs), Params: params}); err != nil {
		return nil, nil, err
	}
	if !r.InPlace {
		return outputs, func(cotangents []Buffer) ([]Buffer, error) {
			g, err := r.zeros(inputs, cotangents)
			if err != nil {
				return nil, err
			}
			// Outputs that are left out are not computed.
			return g, r.Call(Gradient, Args{Operands: r.with(inputs, nil), Cotangents: g, Params: params})
		}, nil
	}
	after := slices.Clone(outputs)
	for i := range after {
		if after[i].Data != nil {
			after[i] = after[i].clone() // because the caller may change outputs
		}
	}
	return outputs, func(cotangents []Buffer) ([]Buffer, error) {
		state := slices.Clone(after)
		for i, o := range r.Operands {
			if o.role == rev.InOut {
				state[i] = after[i].clone()
			} else {
				state[i] = Buffer{}
			}
		}
		g, err := r.zeros(inputs, cotangents)
		if err != nil {
			return nil, err
		}
		return g, r.Call(Adjoint, Args{Operands: r.with(inputs, state), Cotangents: g, Params: params})
	}, nil
}

// JVP computes the outputs f(x) of a rule and their tangents J·ẋ in new memory. See VJP
// for the order and what may be left out. Tangents that are left out are zero.
func (r *Rule) JVP(inputs, tangents []Buffer, params []float64) (outputs, outTangents []Buffer, err error) {
	outputs, err = r.Outputs(inputs, params)
	if err != nil {
		return nil, nil, err
	}
	if err := r.checkParts("t.", tangents); err != nil {
		return nil, nil, err
	}
	t := make([]Buffer, len(r.Operands))
	copy(t, tangents)
	outTangents = make([]Buffer, len(r.Operands))
	for i, o := range r.Operands {
		switch {
		case outputs[i].Data == nil:
		case o.role == rev.InOut && t[i].Data != nil:
			outTangents[i] = t[i].clone()
		default:
			outTangents[i] = outputs[i].dense()
		}
		if outTangents[i].Data != nil {
			t[i] = outTangents[i]
		}
	}
	err = r.Call(Tangent, Args{Operands: r.with(inputs, outputs), Tangents: t, Params: params})
	return outputs, outTangents, err
}

// with returns the operands of inputs. Non-zero Buffers of outputs replace them. If
// outputs is nil, operands that are added into are left out.
func (r *Rule) with(inputs, outputs []Buffer) []Buffer {
	all := make([]Buffer, len(r.Operands))
	copy(all, inputs)
	for _, i := range r.acc {
		if all[i].Data = nil; !all[i].Sparse && len(r.Operands[i].Shape) == 0 {
			all[i] = Buffer{}
		}
		all[i].Len = 0
	}
	for i := range outputs {
		if outputs[i].Data != nil {
			all[i] = outputs[i]
		}
	}
	return all
}

// zeros returns zero cotangents of the inputs, and copies of the cotangents of outputs.
func (r *Rule) zeros(inputs, cotangents []Buffer) ([]Buffer, error) {
	if err := r.checkParts("g.", cotangents); err != nil {
		return nil, err
	}
	g := make([]Buffer, len(r.Operands))
	for i, o := range r.Operands {
		switch {
		case o.role == rev.Index:
		case o.role != rev.In:
			if i < len(cotangents) && cotangents[i].Data != nil {
				g[i] = cotangents[i].clone()
			} else if o.role == rev.InOut && i < len(inputs) && inputs[i].Data != nil {
				g[i] = inputs[i].dense()
			}
		case i < len(inputs) && inputs[i].Data != nil:
			g[i] = inputs[i].dense()
		}
	}
	return g, nil
}

// checkParts checks buffers of derivatives. They are copied before the kernel sees
// them.
func (r *Rule) checkParts(prefix string, list []Buffer) error {
	if err := r.checkCount(list); err != nil {
		return err
	}
	for i := range list {
		if err := list[i].check(); list[i].Data != nil && err != nil {
			return fmt.Errorf("%w: %s%s of %s %w", ErrArgument, prefix, r.Operands[i].Name, r.Name, err)
		}
	}
	return nil
}

// Outputs returns new memory for the outputs of a rule: zeros for operands that are added
// into, and copies of operands in place. See VJP for the inputs.
func (r *Rule) Outputs(inputs []Buffer, params []float64) (out []Buffer, err error) {
	if err := r.checkCount(inputs); err != nil {
		return nil, err
	}
	out = make([]Buffer, len(r.Operands))
	shapes, err := r.shapes(Args{Operands: r.with(inputs, nil), Params: params})
	if err != nil {
		return nil, err
	}
	for i, o := range r.Operands {
		switch {
		case o.role == rev.InOut:
			if i >= len(inputs) || inputs[i].Data == nil {
				return nil, fmt.Errorf("%w: %s of %s is missing", ErrArgument, o.Name, r.Name)
			}
			out[i] = inputs[i].clone()
		case o.role != rev.Acc:
		case i < len(inputs) && (inputs[i].Axes > 0 || inputs[i].Data != nil):
			out[i] = inputs[i].dense()
		case o.kind == rev.Sparse || o.kind == rev.Slice:
			return nil, fmt.Errorf("%w: %s of %s is missing, whose structure the other operands do not tell", ErrArgument, o.Name, r.Name)
		default:
			b := Buffer{Type: o.Type, Axes: [...]int{rev.Scalar: 0, rev.Vec: 1, rev.Gen: 2}[o.kind], Shape: shapes[i]}
			out[i] = b.dense()
		}
	}
	return out, nil
}

// shapes returns the shapes of all vectors and matrices. The shapes of absent outputs
// follow from the tags.
func (r *Rule) shapes(a Args) (shapes [][2]int, err error) {
	if r.Missing != "" {
		return nil, fmt.Errorf("%w: %s cannot be called: %s", ErrArgument, r.Name, r.Missing)
	}
	f := r.frames.Get().(catalog.Frame)
	defer r.end(f, &err)
	if err := r.set(f, &a); err != nil {
		return nil, err
	}
	f.Check()
	shapes = make([][2]int, len(r.Operands))
	for i, o := range r.Operands {
		p := unsafe.Add(f.At(catalog.Primal), o.offset)
		switch o.kind {
		case rev.Vec:
			shapes[i] = [2]int{(*vectorHeader)(p).N}
		case rev.Gen:
			m := (*matrixHeader)(p)
			shapes[i] = [2]int{m.Rows, m.Cols}
		}
	}
	return shapes, nil
}

// VJPTangent computes the gradients x̄ = Jᵀ·ȳ of all inputs, in new memory, and their
// tangents
//
//	ġx = Jᵀ·ġy + (∂J[ẋ])ᵀ·ȳ
//
// for cotangents ȳ, tangents ẋ and tangents ġy of the cotangents. See VJP for the order
// and what may be left out.
func (r *Rule) VJPTangent(inputs, cotangents, tangents, cotangentTangents []Buffer, params []float64) (gradients, gradientTangents []Buffer, err error) {
	outputs, t, err := r.JVP(inputs, tangents, params) // checks them
	if err != nil {
		return nil, nil, err
	}
	for i, o := range r.Operands {
		switch {
		case o.role == rev.Acc:
			outputs[i], t[i] = Buffer{}, Buffer{}
		case i < len(tangents) && o.role != rev.InOut:
			t[i] = tangents[i]
		}
	}
	if gradients, err = r.zeros(inputs, cotangents); err != nil {
		return nil, nil, err
	}
	if gradientTangents, err = r.zeros(inputs, cotangentTangents); err != nil {
		return nil, nil, err
	}
	return gradients, gradientTangents, r.Call(AdjointTangent, Args{
		Operands: r.with(inputs, outputs), Cotangents: gradients, Tangents: t, CotangentTangents: gradientTangents, Params: params,
	})
}
