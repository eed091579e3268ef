// Package revgorgonia gives the kernels of revnum to gorgonia, as operations of its
// graphs:
//
//	loss, err := revgorgonia.Apply("revlinalg.Norm2[float64]", nil, y)
//
// The operations know their gradients, both for gorgonia's symbolic differentiation
// (Grad, tape machine) and for its automatic one (lisp machine).
//
// [Gradient] puts gradients into a graph, which you can differentiate once more. Do not
// call gorgonia.Grad on a result of gorgonia.Grad, with these operations or gorgonia's
// own: gorgonia keeps one derivative for each node, and does not go through a node again
// that has one. The result is wrong without an error.
//
// The package is a module of its own, so that importers of revnum need no gorgonia.
package revgorgonia

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"revnum/rules"
)

// Apply returns the node of the rule's output. Rules have names such as
// "revlinalg.Dot[float64]"; docs/rules.json lists them. The inputs are those operands
// that the rule reads or transforms in place, in their order. A nil node leaves out an
// optional one. The params are those of the rule, in their order; nil means zeros.
//
// Nodes are numbers, vectors and matrices of the rule's type. Apply returns an error if
// the rule has sparse operands or indices, or more than one output.
func Apply(rule string, params []float64, inputs ...*gorgonia.Node) (*gorgonia.Node, error) {
	r, err := rules.Lookup(rule)
	if err != nil {
		return nil, err
	}
	op, nodes, err := newOp(r, params, inputs)
	if err != nil {
		return nil, fmt.Errorf("revgorgonia: %s: %w", rule, err)
	}
	return gorgonia.ApplyOp(op, nodes...)
}

// Gradient returns the nodes of the gradients Jᵀ·ȳ of a rule's inputs, where the node
// cotangent is ȳ. The other arguments are those of [Apply], and each node that is not nil
// has a gradient. Gradients can be differentiated if the rule has second derivatives.
func Gradient(rule string, params []float64, cotangent *gorgonia.Node, inputs ...*gorgonia.Node) (gorgonia.Nodes, error) {
	r, err := rules.Lookup(rule)
	if err != nil {
		return nil, err
	}
	op, nodes, err := newOp(r, params, inputs)
	if err != nil {
		return nil, fmt.Errorf("revgorgonia: %s: %w", rule, err)
	}
	if !cotangent.Shape().Eq(op.shape) || cotangent.Dtype() != dtype(r.Type) {
		return nil, fmt.Errorf("revgorgonia: %s: a cotangent of type %v and shape %v, want %v and %v", rule, cotangent.Dtype(), cotangent.Shape(), dtype(r.Type), op.shape)
	}
	return op.SymDiff(nodes, nil, cotangent)
}

// An op is a rule over some of its operands.
type op struct {
	rule   *rules.Rule
	params []float64
	out    int       // the operand that the output is
	in     []int     // the operands that the inputs are
	types  []hm.Type // of the inputs
	shapes []tensor.Shape
	shape  tensor.Shape // of the output
}

func newOp(r *rules.Rule, params []float64, inputs []*gorgonia.Node) (op, gorgonia.Nodes, error) {
	o := op{rule: r, params: params, out: -1}
	if r.Missing != "" {
		return o, nil, errors.New(r.Missing)
	}
	if r.Type != rules.Float64 && r.Type != rules.Float32 {
		return o, nil, errors.New("gorgonia has numbers of type float64 and float32 only")
	}
	var nodes gorgonia.Nodes
	for i, operand := range r.Operands {
		if operand.Role == "index" || operand.Kind == "sparse matrix" || operand.Type != r.Type {
			return o, nil, fmt.Errorf("the operand %s is not dense numbers of one type", operand.Name)
		}
		if operand.Role != "in" {
			if o.out >= 0 {
				return o, nil, errors.New("more than one output")
			}
			o.out = i
		}
		if operand.Role == "acc" {
			continue
		}
		if len(inputs) == 0 {
			return o, nil, fmt.Errorf("no node for the operand %s", operand.Name)
		}
		n := inputs[0]
		inputs = inputs[1:]
		if n == nil {
			if !operand.Optional {
				return o, nil, fmt.Errorf("the operand %s is nil and is not optional", operand.Name)
			}
			continue
		}
		if n.Dtype() != dtype(r.Type) {
			return o, nil, fmt.Errorf("the node of %s has numbers of type %v, want %v", operand.Name, n.Dtype(), dtype(r.Type))
		}
		o.in = append(o.in, i)
		o.types = append(o.types, n.Type())
		o.shapes = append(o.shapes, n.Shape())
		nodes = append(nodes, n)
	}
	if len(inputs) > 0 {
		return o, nil, fmt.Errorf("%d nodes too many", len(inputs))
	}
	// The shape of the output follows from the inputs'. Zeros have it too.
	buffers := make([]rules.Buffer, len(r.Operands))
	for k, i := range o.in {
		b, err := bufferOf(newValue(r.Type, o.shapes[k]))
		if err != nil {
			return o, nil, err
		}
		buffers[i] = b
	}
	out, err := r.Outputs(buffers, params)
	if err != nil {
		return o, nil, err
	}
	o.shape = append(tensor.Shape{}, out[o.out].Shape[:out[o.out].Axes]...)
	return o, nodes, nil
}

func dtype(t rules.Type) tensor.Dtype {
	if t == rules.Float32 {
		return tensor.Float32
	}
	return tensor.Float64
}

// typeOf returns the type of values of a shape.
func typeOf(t rules.Type, shape tensor.Shape) hm.Type {
	if shape.IsScalar() {
		return dtype(t)
	}
	return gorgonia.TensorType{Dims: shape.Dims(), Of: dtype(t)}
}

// newValue returns zeros.
func newValue(t rules.Type, shape tensor.Shape) gorgonia.Value {
	switch {
	case !shape.IsScalar():
		return tensor.New(tensor.Of(dtype(t)), tensor.WithShape(shape...))
	case t == rules.Float32:
		return gorgonia.NewF32(0)
	}
	return gorgonia.NewF64(0)
}

// bufferOf returns the memory of a value.
func bufferOf(v gorgonia.Value) (b rules.Buffer, err error) {
	switch v := v.(type) {
	case *gorgonia.F64:
		return rules.Scalar((*float64)(v)), nil
	case *gorgonia.F32:
		return rules.Scalar((*float32)(v)), nil
	case *tensor.Dense:
		return tensorBuffer(v)
	}
	return b, fmt.Errorf("revgorgonia: a value of type %T, want a number or a *tensor.Dense", v)
}

func tensorBuffer(v *tensor.Dense) (b rules.Buffer, err error) {
	shape, strides := v.Shape(), v.Strides()
	switch {
	case v.DataOrder().IsColMajor():
		return b, errors.New("revgorgonia: a tensor in the order of columns")
	case len(shape) > 2 || len(strides) < len(shape):
		return b, fmt.Errorf("revgorgonia: a tensor of shape %v, want a number, a vector or a matrix", shape)
	}
	switch v.Dtype() {
	case tensor.Float64:
		b = rules.Slice(v.Float64s())
	case tensor.Float32:
		b = rules.Slice(v.Float32s())
	default:
		return b, fmt.Errorf("revgorgonia: a tensor of %v", v.Dtype())
	}
	b.Axes = len(shape)
	b.Shape, b.Stride = [2]int{}, [2]int{}
	copy(b.Shape[:], shape)
	copy(b.Stride[:], strides)
	return b, nil
}

// buffers returns the memory of the inputs, at the places of their operands.
func (o op) buffers(inputs []gorgonia.Value) ([]rules.Buffer, error) {
	b := make([]rules.Buffer, len(o.rule.Operands))
	for k, i := range o.in {
		var err error
		if b[i], err = bufferOf(inputs[k]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Arity returns the number of inputs.
func (o op) Arity() int { return len(o.in) }

// Type returns the types of the inputs and the output.
func (o op) Type() hm.Type {
	return hm.NewFnType(append(append([]hm.Type{}, o.types...), typeOf(o.rule.Type, o.shape))...)
}

// InferShape returns the shape of the output.
func (o op) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return o.shape.Clone(), nil }

// Do computes the output.
func (o op) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	b, err := o.buffers(inputs)
	if err != nil {
		return nil, err
	}
	out, _, err := o.rule.VJP(b, o.params)
	if err != nil {
		return nil, err
	}
	return o.value(out[o.out], o.shape)
}

// value returns a value with the numbers of a buffer without gaps.
func (o op) value(b rules.Buffer, shape tensor.Shape) (gorgonia.Value, error) {
	v := newValue(o.rule.Type, shape)
	to, err := bufferOf(v)
	if err != nil {
		return nil, err
	}
	if o.rule.Type == rules.Float32 {
		copy(rules.Elements[float32](to), rules.Elements[float32](b))
	} else {
		copy(rules.Elements[float64](to), rules.Elements[float64](b))
	}
	return v, nil
}

// ReturnsPtr returns false: the output is new memory.
func (o op) ReturnsPtr() bool { return false }

// CallsExtern returns false: the kernels are Go and its assembly.
func (o op) CallsExtern() bool { return false }

// OverwritesInput returns -1: no input changes.
func (o op) OverwritesInput() int { return -1 }

// WriteHash writes what distinguishes the operation from others.
func (o op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%v %v %v", o, o.in, o.shapes) }

// Hashcode returns a hash of the operation.
func (o op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// String returns the name of the rule with its parameters.
func (o op) String() string { return fmt.Sprintf("%s%v", o.rule.Name, o.params) }

// DiffWRT reports that there are gradients for all inputs.
func (o op) DiffWRT(inputs int) []bool {
	all := make([]bool, inputs)
	for i := range all {
		all[i] = true
	}
	return all
}

// SymDiff returns the nodes of the gradients.
func (o op) SymDiff(inputs gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	return apply(o.derivatives(), append(append(gorgonia.Nodes{}, inputs...), grad))
}

// DoDiff adds the gradients to those of the inputs, for the lisp machine.
func (o op) DoDiff(_ gorgonia.ExecutionContext, inputs gorgonia.Nodes, output *gorgonia.Node) error {
	return addDerivatives(o.derivatives(), inputs, output)
}

// derivatives returns the operations that compute the gradients of the inputs.
func (o op) derivatives() (ops []gorgonia.Op) {
	for k := range o.in {
		ops = append(ops, gradient{o, k})
	}
	return ops
}

// apply applies operations to the same nodes.
func apply(ops []gorgonia.Op, nodes gorgonia.Nodes) (gorgonia.Nodes, error) {
	results := make(gorgonia.Nodes, len(ops))
	for k, o := range ops {
		var err error
		if results[k], err = gorgonia.ApplyOp(o, nodes...); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// addDerivatives adds to the gradient of each input what its operation computes from the
// inputs and the gradient of the output.
func addDerivatives(ops []gorgonia.Op, inputs gorgonia.Nodes, output *gorgonia.Node) error {
	cotangent, err := output.Grad()
	if err != nil {
		return err
	}
	values := make([]gorgonia.Value, len(inputs), len(inputs)+1)
	for k, n := range inputs {
		values[k] = n.Value()
	}
	values = append(values, cotangent)
	for k, n := range inputs {
		g, err := ops[k].Do(values...)
		if err != nil {
			return err
		}
		to, err := n.Grad()
		if err != nil {
			return err
		}
		if err := addTo(to, g); err != nil {
			return err
		}
	}
	return nil
}

// addTo adds the numbers of a value without gaps to another of its shape.
func addTo(to, from gorgonia.Value) error {
	a, err := bufferOf(to)
	if err != nil {
		return err
	}
	b, err := bufferOf(from)
	if err != nil {
		return err
	}
	if a.Type == rules.Float32 {
		x := rules.Elements[float32](b)
		for i, v := range x {
			rules.Elements[float32](a)[i] += v
		}
		return nil
	}
	x := rules.Elements[float64](b)
	for i, v := range x {
		rules.Elements[float64](a)[i] += v
	}
	return nil
}

// A gradient is the operation that computes the gradient of one input. Its inputs are
// those of the op, and the cotangent of the output.
type gradient struct {
	op
	input int
}

// Arity returns the number of inputs.
func (g gradient) Arity() int { return len(g.in) + 1 }

// Type returns the types of the inputs, the cotangent and the gradient.
func (g gradient) Type() hm.Type {
	types := append(append([]hm.Type{}, g.types...), typeOf(g.rule.Type, g.shape), g.types[g.input])
	return hm.NewFnType(types...)
}

// InferShape returns the shape of the input.
func (g gradient) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return g.shapes[g.input].Clone(), nil
}

// Do computes the gradient.
func (g gradient) Do(values ...gorgonia.Value) (gorgonia.Value, error) {
	n := len(g.in)
	b, err := g.buffers(values[:n])
	if err != nil {
		return nil, err
	}
	cotangents := make([]rules.Buffer, len(g.rule.Operands))
	if cotangents[g.out], err = bufferOf(values[n]); err != nil {
		return nil, err
	}
	if !g.rule.InPlace { // the other gradients need not be computed, nor the output
		v := newValue(g.rule.Type, g.shapes[g.input])
		if cotangents[g.in[g.input]], err = bufferOf(v); err != nil {
			return nil, err
		}
		return v, g.rule.Call(rules.Gradient, rules.Args{Operands: b, Cotangents: cotangents, Params: g.params})
	}
	_, pullback, err := g.rule.VJP(b, g.params)
	if err != nil {
		return nil, err
	}
	gradients, err := pullback(cotangents)
	if err != nil {
		return nil, err
	}
	return g.value(gradients[g.in[g.input]], g.shapes[g.input])
}

// WriteHash writes what distinguishes the operation from others.
func (g gradient) WriteHash(h hash.Hash) {
	g.op.WriteHash(h)
	fmt.Fprintf(h, " gradient %d", g.input)
}

// Hashcode returns a hash of the operation.
func (g gradient) Hashcode() uint32 {
	h := fnv.New32a()
	g.WriteHash(h)
	return h.Sum32()
}

// String returns the name of the rule and the input.
func (g gradient) String() string { return fmt.Sprintf("gradient %d of %s", g.input, g.op) }

// SymDiff returns the nodes of the gradients of the inputs and of the cotangent.
func (g gradient) SymDiff(inputs gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if err := g.hasSecondOrder(); err != nil {
		return nil, err
	}
	return apply(g.derivatives(), append(append(gorgonia.Nodes{}, inputs...), grad))
}

// DoDiff adds these gradients, for the lisp machine.
func (g gradient) DoDiff(_ gorgonia.ExecutionContext, inputs gorgonia.Nodes, output *gorgonia.Node) error {
	if err := g.hasSecondOrder(); err != nil {
		return err
	}
	return addDerivatives(g.derivatives(), inputs, output)
}

func (g gradient) hasSecondOrder() error {
	if !g.rule.Has(rules.AdjointTangent) {
		return fmt.Errorf("revgorgonia: %s has no second derivatives", g.rule.Name)
	}
	return nil
}

// derivatives returns the operations that compute the gradients of the inputs.
func (g gradient) derivatives() (ops []gorgonia.Op) {
	for j := range g.Arity() {
		ops = append(ops, second{g, j})
	}
	return ops
}

// A second is the operation that computes a gradient of a gradient (Jᵀ·ȳ)_k. With a
// cotangent w of that, and v the tangent that is w for input k and 0 for the others, it is
//
//	(∂J[v])ᵀ·ȳ by the inputs x, and J·v by ȳ.
//
// Its inputs are x, ȳ and w.
type second struct {
	gradient
	wrt int // which input of the gradient
}

// Arity returns the number of inputs.
func (s second) Arity() int { return len(s.in) + 2 }

// Type returns the types of the inputs and the result.
func (s second) Type() hm.Type {
	types := append(append([]hm.Type{}, s.types...), typeOf(s.rule.Type, s.shape), s.types[s.input])
	return hm.NewFnType(append(types, typeOf(s.rule.Type, s.resultShape()))...)
}

func (s second) resultShape() tensor.Shape {
	if s.wrt == len(s.in) {
		return s.shape
	}
	return s.shapes[s.wrt]
}

// InferShape returns the shape of the result.
func (s second) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return s.resultShape().Clone(), nil
}

// Do computes the result.
func (s second) Do(values ...gorgonia.Value) (gorgonia.Value, error) {
	n := len(s.in)
	b, err := s.buffers(values[:n])
	if err != nil {
		return nil, err
	}
	cotangents, tangents := make([]rules.Buffer, len(s.rule.Operands)), make([]rules.Buffer, len(s.rule.Operands))
	if cotangents[s.out], err = bufferOf(values[n]); err != nil {
		return nil, err
	}
	if tangents[s.in[s.input]], err = bufferOf(values[n+1]); err != nil {
		return nil, err
	}
	at := s.out
	var result []rules.Buffer
	if s.wrt == n {
		_, result, err = s.rule.JVP(b, tangents, s.params)
	} else {
		at = s.in[s.wrt]
		_, result, err = s.rule.VJPTangent(b, cotangents, tangents, nil, s.params)
	}
	if err != nil {
		return nil, err
	}
	return s.value(result[at], s.resultShape())
}

// WriteHash writes what distinguishes the operation from others.
func (s second) WriteHash(h hash.Hash) {
	s.gradient.WriteHash(h)
	fmt.Fprintf(h, " by %d", s.wrt)
}

// Hashcode returns a hash of the operation.
func (s second) Hashcode() uint32 {
	h := fnv.New32a()
	s.WriteHash(h)
	return h.Sum32()
}

// String returns the name of the gradient and the input.
func (s second) String() string { return fmt.Sprintf("%v by %d", s.gradient, s.wrt) }

// DiffWRT reports that second derivatives have no gradients.
func (s second) DiffWRT(inputs int) []bool { return make([]bool, inputs) }

// SymDiff returns an error.
func (s second) SymDiff(gorgonia.Nodes, *gorgonia.Node, *gorgonia.Node) (gorgonia.Nodes, error) {
	return nil, fmt.Errorf("revgorgonia: the %v has no gradient", s)
}

// DoDiff returns an error.
func (s second) DoDiff(gorgonia.ExecutionContext, gorgonia.Nodes, *gorgonia.Node) error {
	return fmt.Errorf("revgorgonia: the %v has no gradient", s)
}
