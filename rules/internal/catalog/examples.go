package catalog

import "revnum/revmodels/hand"

// mitten is a hand of two triangles.
var mitten = func() *hand.Model {
	along := hand.Affine{{1}, {1: 1, 3: 0.5}, {2: 1}}
	bones := make([]hand.Bone, hand.Bones)
	for i := range bones {
		bones[i] = hand.Bone{Parent: i - 1, Relative: along, InverseBase: along}
	}
	vertex := func(x, y float64, bone int) hand.Vertex {
		return hand.Vertex{Position: [3]float64{x, y, 0.5}, Weights: []hand.Weight{{Bone: 0, Value: 0.5}, {Bone: bone, Value: 0.5}}}
	}
	m, err := hand.NewModel(bones, []hand.Vertex{vertex(0, 1, 1), vertex(1, 0, 4), vertex(1, 1, 9), vertex(0, 0, 20)}, [][3]int{{0, 1, 2}, {1, 2, 3}}, false)
	if err != nil {
		panic(err)
	}
	return m
}()

// diagonal is the operator that multiplies each element by a parameter.
type diagonal struct{ n int }

func (d diagonal) Dims() (rows, params int) { return d.n, d.n }

func (d diagonal) AddMul(y, theta, x []float64) {
	for i, v := range x {
		y[i] += float64(theta[i] * v)
	}
}

func (d diagonal) AddMulTangent(y, _, dtheta, x []float64) { d.AddMul(y, dtheta, x) }

func (d diagonal) AddGradient(g, _, u, v []float64) { d.AddMul(g, u, v) }

func (d diagonal) AddGradientTangent(_, _, _, _, _ []float64) {}
