package gradbench

import (
	"encoding/json"
	"fmt"

	"revnum/benchmarks/internal/problem"
	"revnum/revmodels/hand"
)

// htObjective are the residuals of hand tracking.
func htObjective(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseHT(input)
	if err != nil {
		return evaluation{}, err
	}
	o := problem.NewHandObjective[float64](p)
	return toNumbers(o.Value, o.Kernel.R.Data), nil
}

// htJacobian is their Jacobian with respect to u and v, if there are any, and the
// parameters.
func htJacobian(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseHT(input)
	if err != nil {
		return evaluation{}, err
	}
	o := problem.NewHandObjective[float64](p)
	return toRows(o.ValueJacobian, o.Jacobian), nil
}

// parseHT reads a problem, which is the simple one if it has no us.
func parseHT(input json.RawMessage) (*problem.Hand, error) {
	var in struct {
		Theta numbers
		US    []numbers
		Data  struct {
			Model struct {
				Parents             []int
				BaseRelatives       [][]numbers `json:"base_relatives"`
				InverseBaseAbsolute [][]numbers `json:"inverse_base_absolutes"`
				BasePositions       []numbers   `json:"base_positions"`
				Weights             []numbers
				Triangles           [][]int
				IsMirrored          bool `json:"is_mirrored"`
			}
			Correspondences []int
			Points          []numbers
		}
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	d := &in.Data
	bones, err := htBones(d.Model.Parents, d.Model.BaseRelatives, d.Model.InverseBaseAbsolute)
	if err != nil {
		return nil, err
	}
	vertices, err := htVertices(d.Model.BasePositions, d.Model.Weights, len(bones))
	if err != nil {
		return nil, err
	}
	triangles := make([][3]int, len(d.Model.Triangles))
	for i, t := range d.Model.Triangles {
		if len(t) != 3 {
			return nil, fmt.Errorf("triangles[%d]: expected 3 vertices, found %d", i, len(t))
		}
		triangles[i] = [3]int(t)
	}
	m, err := hand.NewModel(bones, vertices, triangles, d.Model.IsMirrored)
	if err != nil {
		return nil, err
	}

	n, limit := len(d.Correspondences), m.Vertices()
	p := &problem.Hand{Model: m, Correspondences: d.Correspondences, Theta: in.Theta}
	points, err := matrix("points", d.Points, 3)
	if err != nil {
		return nil, err
	}
	p.Points = points.Data
	if len(in.US) > 0 {
		uv, err := matrix("us", in.US, 2)
		if err != nil {
			return nil, err
		}
		p.UV, limit = uv.Data, m.Triangles()
	}
	switch {
	case n == 0:
		return nil, missing("correspondences")
	case len(in.Theta) != hand.Params:
		return nil, fmt.Errorf("theta: expected %d numbers, found %d", hand.Params, len(in.Theta))
	case len(d.Points) != n:
		return nil, fmt.Errorf("points: expected %d rows, found %d", n, len(d.Points))
	case p.UV != nil && len(in.US) != n:
		return nil, fmt.Errorf("us: expected %d rows, found %d", n, len(in.US))
	}
	for i, c := range d.Correspondences {
		if c < 0 || c >= limit {
			return nil, fmt.Errorf("correspondences[%d]: expected 0 to %d, found %d", i, limit-1, c)
		}
	}
	return p, nil
}

func htBones(parents []int, relatives, inverses [][]numbers) ([]hand.Bone, error) {
	bones := make([]hand.Bone, len(parents))
	for _, f := range []struct {
		name string
		from [][]numbers
		to   func(b *hand.Bone) *hand.Affine
	}{
		{"base_relatives", relatives, func(b *hand.Bone) *hand.Affine { return &b.Relative }},
		{"inverse_base_absolutes", inverses, func(b *hand.Bone) *hand.Affine { return &b.InverseBase }},
	} {
		if len(f.from) != len(parents) {
			return nil, fmt.Errorf("%s: expected a matrix for each of %d parents, found %d", f.name, len(parents), len(f.from))
		}
		for i, rows := range f.from {
			name := fmt.Sprintf("%s[%d]", f.name, i)
			a, err := matrix(name, rows, 4)
			if err != nil {
				return nil, err
			}
			if a.Rows != 4 || [4]float64(a.Row(3)) != [4]float64{3: 1} {
				return nil, fmt.Errorf("%s: expected four rows, the last 0, 0, 0, 1", name)
			}
			bones[i].Parent = parents[i]
			for r := range 3 {
				copy(f.to(&bones[i])[r][:], a.Row(r))
			}
		}
	}
	return bones, nil
}

func htVertices(positions, weights []numbers, bones int) ([]hand.Vertex, error) {
	x, err := matrix("base_positions", positions, 4)
	if err != nil {
		return nil, err
	}
	w, err := matrix("weights", weights, bones)
	if err != nil {
		return nil, err
	}
	if w.Rows != x.Rows {
		return nil, fmt.Errorf("weights: expected %d rows, found %d", x.Rows, w.Rows)
	}
	vertices := make([]hand.Vertex, x.Rows)
	for i := range vertices {
		if v := x.Row(i)[3]; v != 1 {
			return nil, fmt.Errorf("base_positions[%d]: expected 1 as the last number, found %v", i, v)
		}
		vertices[i].Position = [3]float64(x.Row(i))
		for bone, v := range w.Row(i) {
			if v != 0 {
				vertices[i].Weights = append(vertices[i].Weights, hand.Weight{Bone: bone, Value: v})
			}
		}
	}
	return vertices, nil
}
