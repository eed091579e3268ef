package cuda

import (
	"errors"
	"slices"

	"revnum/rev"
	"revnum/revmodels/graphembed"
)

// GraphObjective returns the Objective of graphembed.Options that computes losses on d, as
// GraphLoss does:
//
//	e, err := graphembed.Embed(ctx, g, 3, &graphembed.Options{Objective: cuda.GraphObjective(dev)})
//
// The minimisation runs on the host. Each start has a copy of the graph on d.
func GraphObjective(d *Device) func(m *graphembed.Model) (graphembed.Objective, error) {
	return func(m *graphembed.Model) (graphembed.Objective, error) {
		size := m.Dim()
		o := &graphObjective{size: size, zeros: make([]float64, size)}
		var err error
		if o.graph, err = NewGraph(d, m.Graph); err != nil {
			return nil, err
		}
		if o.fixed, err = NewGeneral(d, m.Fixed); err == nil {
			if o.x, err = newMemory(d, make([]float64, 4*size)); err == nil {
				o.out, err = newMemory(d, []float64{0, 1})
			}
		}
		if err != nil {
			return nil, errors.Join(err, o.Free())
		}
		o.loss = GraphLoss[float64]{Graph: o.graph, Margin: m.Margin, Free: o.free(m, 0)}
		if m.Fixed.Rows > 0 {
			o.loss.Fixed = o.fixed
		}
		o.gradient, o.direction, o.product = GraphLoss[float64]{Free: o.free(m, 1)}, GraphLoss[float64]{Free: o.free(m, 2)}, GraphLoss[float64]{Free: o.free(m, 3)}
		return o, nil
	}
}

// A graphObjective has the operands of GraphLoss.
type graphObjective struct {
	size  int
	zeros []float64
	graph *Graph
	fixed General[float64]
	x     Memory[float64] // positions, gradient, direction and product, of size numbers each
	out   Memory[float64] // the loss and its cotangent

	loss, gradient, direction, product GraphLoss[float64]
}

// free returns the positions that are number i in x.
func (o *graphObjective) free(m *graphembed.Model, i int) General[float64] {
	return General[float64]{Rows: m.Graph.Order() - m.Fixed.Rows, Cols: m.K, Data: o.x[i*o.size : (i+1)*o.size : (i+1)*o.size], Stride: max(1, m.K)}
}

// FuncGrad implements graphembed.Objective.
func (o *graphObjective) FuncGrad(grad, x []float64) (float64, error) {
	if err := errors.Join(o.x[:2*o.size].Set(slices.Concat(x, o.zeros)), o.out.Set([]float64{0, 1})); err != nil {
		return 0, err
	}
	k, pass := o.loss, rev.Pass[GraphLoss[float64]]{}
	k.Out = &o.out[0]
	if grad != nil {
		pass.Adjoint, pass.G = true, o.gradient
		pass.G.Out = &o.out[1]
	}
	if err := k.Run(pass); err != nil {
		return 0, err
	}
	v, err := Get(k.Out)
	if err == nil && grad != nil {
		err = o.x[o.size : 2*o.size].Get(grad)
	}
	return v, err
}

// HessVec implements graphembed.Objective.
func (o *graphObjective) HessVec(dst, x, v []float64) error {
	err := errors.Join(o.x[:o.size].Set(x), o.x[2*o.size:].Set(slices.Concat(v, o.zeros)), o.out.Set([]float64{0, 1}))
	if err == nil {
		err = o.loss.AdjointTangent(GraphLoss[float64]{Out: &o.out[1]}, o.direction, o.product)
	}
	if err == nil {
		err = o.x[3*o.size:].Get(dst)
	}
	return err
}

// Free implements graphembed.Objective.
func (o *graphObjective) Free() error {
	err := o.graph.Free()
	for _, m := range []Memory[float64]{o.fixed.Data, o.x, o.out} {
		if m != nil {
			err = errors.Join(err, m.Free())
		}
	}
	return err
}
