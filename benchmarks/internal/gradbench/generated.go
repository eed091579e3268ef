package gradbench

import (
	"encoding/json"
	"math/bits"

	"revnum/benchmarks/internal/gradbench/generated"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revmodels/hand"
)

// Revgen answers with kernels that cmd/revgen wrote from plain functions. particle and saddle
// are for gradients of gradients, and det as described for recursion: each is a line here once
// cmd/revgen writes these.
var Revgen = Tool{"revgen", map[string]map[string]function{
	"ode": {"primal": generatedODE, "gradient": generatedODEGradient},
	"ht":  {"objective": generatedHT, "jacobian": generatedHTJacobian},
}}

// RevgenMinors answers det by shared minors, with a kernel that cmd/revgen wrote.
var RevgenMinors = Tool{"revgen-minors", map[string]map[string]function{
	"det": {"primal": generatedDet, "gradient": generatedDetGradient},
}}

// A generatedChain is the kernel of a system at time 0, and its gradient.
func generatedChain(input json.RawMessage) (k, g generated.ODE[float64], err error) {
	c, err := parseODE(input)
	if err != nil {
		return k, g, err
	}
	n := len(c.x) - chainPad
	k = generated.ODE[float64]{Y: rev.ViewSlice(c.y[:n]), X: rev.ViewSlice(c.x[1:n]), Steps: c.steps}
	g = generated.ODE[float64]{Y: rev.ViewSlice(c.la[:n]), X: rev.ViewSlice(c.xBar[1:n])}
	return k, g, nil
}

// toEnd takes a system from time 0 to time 2.
func toEnd(k generated.ODE[float64]) {
	clear(k.Y.Data)
	k.Y.Data[chainPad-1] = 1
	k.Forward()
}

func generatedODE(input json.RawMessage, _ int) (evaluation, error) {
	k, _, err := generatedChain(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumbers(func() { toEnd(k) }, k.Y.Data[chainPad:]), nil
}

func generatedODEGradient(input json.RawMessage, _ int) (evaluation, error) {
	k, g, err := generatedChain(input)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		clear(g.X.Data)
		clear(g.Y.Data)
		g.Y.Data[len(g.Y.Data)-1] = 1
		toEnd(k)
		k.Adjoint(g)
	}
	return toNumbers(call, g.X.Data[chainPad-1:]), nil
}

// generatedMinors returns the kernel of the minors of a matrix, and its gradient.
func generatedMinors(input json.RawMessage) (k, g generated.Minors[float64], err error) {
	n, a, err := parseDet(input, revlinalg.MaxMinors, "ell·2^ell")
	if err != nil {
		return k, g, err
	}
	first := make([]int, 1<<n)
	for set := range first {
		first[set] = n - bits.OnesCount(uint(set))
	}
	k = generated.Minors[float64]{D: rev.ViewSlice(make([]float64, 1<<n)), A: rev.NewGeneral(n, n, a), First: first}
	g = generated.Minors[float64]{D: rev.ViewSlice(make([]float64, 1<<n)), A: rev.NewGeneral[float64](n, n, nil)}
	return k, g, nil
}

// expand computes all minors.
func expand(k generated.Minors[float64]) {
	clear(k.D.Data)
	k.D.Data[0] = 1
	k.Forward()
}

func generatedDet(input json.RawMessage, _ int) (evaluation, error) {
	k, _, err := generatedMinors(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumber(func() { expand(k) }, &k.D.Data[len(k.D.Data)-1]), nil
}

func generatedDetGradient(input json.RawMessage, _ int) (evaluation, error) {
	k, g, err := generatedMinors(input)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		clear(g.A.Data)
		clear(g.D.Data)
		g.D.Data[len(g.D.Data)-1] = 1
		expand(k)
		k.Adjoint(g)
	}
	return toNumbers(call, g.A.Data), nil
}

// A generatedHand is a problem of hand tracking, with a direction of derivatives.
type generatedHand struct {
	bones, dBones generated.Skeleton[float64]
	skin, dSkin   generated.Skin[float64]
	complicated   bool
}

func newGeneratedHand(input json.RawMessage) (*generatedHand, error) {
	p, err := parseHT(input)
	if err != nil {
		return nil, err
	}
	m, n := p.Model, len(p.Correspondences)
	relative, absolute := rev.NewGeneral[float64](m.Bones(), 12, nil), rev.NewGeneral[float64](m.Bones(), 12, nil)
	parents := make([]int, m.Bones())
	for i := range parents {
		b := m.Bone(i)
		parents[i] = b.Parent
		if b.Parent < 0 {
			parents[i] = i
		}
		for r := range b.Relative {
			copy(relative.Row(i)[4*r:], b.Relative[r][:])
		}
	}
	start, places := []int{0}, []float64{}
	var bone, corner []int
	add := func(vertex, c int) {
		v := m.Vertex(vertex)
		for _, w := range v.Weights {
			base := m.Bone(w.Bone).InverseBase
			for _, row := range base {
				x := row[0]*v.Position[0] + row[1]*v.Position[1] + row[2]*v.Position[2] + row[3]
				places = append(places, w.Value*x)
			}
			places = append(places, w.Value)
			bone, corner = append(bone, w.Bone), append(corner, c)
		}
	}
	for _, c := range p.Correspondences {
		if p.UV == nil {
			add(c, -1)
		} else {
			for i, vertex := range m.Triangle(c) {
				add(vertex, i)
			}
		}
		start = append(start, len(bone))
	}
	uv := p.UV
	if uv == nil {
		uv = make([]float64, 2*n)
	}
	theta := rev.ViewSlice(p.Theta)
	h := &generatedHand{complicated: p.UV != nil}
	h.bones = generated.Skeleton[float64]{Absolute: absolute, Theta: theta, Relative: relative, Parents: parents}
	h.dBones = generated.Skeleton[float64]{Absolute: rev.NewGeneral[float64](m.Bones(), 12, nil), Theta: rev.ViewSlice(make([]float64, hand.Params))}
	h.skin = generated.Skin[float64]{
		R: rev.ViewSlice(make([]float64, 3*n)), Theta: theta, Uv: rev.NewGeneral(n, 2, uv), Points: rev.NewGeneral(n, 3, p.Points),
		Absolute: absolute, Places: rev.NewGeneral(len(bone), 4, places), Start: start, Bone: bone, Corner: corner, Mirrored: m.Mirrored(),
	}
	h.dSkin = generated.Skin[float64]{
		R: rev.ViewSlice(make([]float64, 3*n)), Theta: h.dBones.Theta, Uv: rev.NewGeneral[float64](n, 2, nil), Absolute: h.dBones.Absolute,
	}
	return h, nil
}

// value computes the residuals.
func (h *generatedHand) value() {
	clear(h.bones.Absolute.Data)
	clear(h.skin.R.Data)
	h.bones.Forward()
	h.skin.Forward()
}

// tangent computes the derivatives in the direction of h, in dSkin.R.
func (h *generatedHand) tangent() {
	clear(h.bones.Absolute.Data)
	clear(h.dBones.Absolute.Data)
	clear(h.dSkin.R.Data)
	h.bones.Tangent(h.dBones)
	h.skin.Tangent(h.dSkin)
}

func generatedHT(input json.RawMessage, _ int) (evaluation, error) {
	h, err := newGeneratedHand(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumbers(h.value, h.skin.R.Data), nil
}

// generatedHTJacobian computes the Jacobian column by column. All points share the columns
// of u and v, as each point depends on its own alone.
func generatedHTJacobian(input json.RawMessage, _ int) (evaluation, error) {
	h, err := newGeneratedHand(input)
	if err != nil {
		return evaluation{}, err
	}
	first := 0
	if h.complicated {
		first = 2
	}
	n := len(h.skin.R.Data)
	jacobian := rev.NewGeneral[float64](n, first+hand.Params, nil)
	call := func() {
		for c := range jacobian.Cols {
			clear(h.dBones.Theta.Data)
			clear(h.dSkin.Uv.Data)
			if c < first {
				for i := c; i < len(h.dSkin.Uv.Data); i += 2 {
					h.dSkin.Uv.Data[i] = 1
				}
			} else {
				h.dBones.Theta.Data[c-first] = 1
			}
			h.tangent()
			for i, v := range h.dSkin.R.Data {
				jacobian.Row(i)[c] = v
			}
		}
	}
	return toRows(call, jacobian), nil
}
