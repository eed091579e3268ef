package hand

import "revnum/internal/workspace"

// A skin holds the vertices of a posed model that are in use.
type skin struct {
	model       *Model
	theta       [Params]float64
	pose        pose
	derivatives bool

	slot  []int32 // of each vertex of the model, its place below, or -1
	at    [][3]float64
	block []block
	bar   [][3]float64 // cotangents of at, or tangents
}

// A block holds -∂x/∂θ of a vertex.
type block struct {
	by      [3][Params]float64
	fingers uint8 // those that move it, a bit each
}

// begin poses a model. No vertex is in use.
func (s *skin) begin(m *Model, derivatives bool) {
	s.model, s.derivatives = m, derivatives
	s.pose.set(m, &s.theta, derivatives)
	s.slot = workspace.Grow(s.slot, len(m.vertices))
	for i := range s.slot {
		s.slot[i] = -1
	}
	s.at, s.block = s.at[:0], s.block[:0]
}

// use moves vertices, unless that has been done.
func (s *skin) use(vertices ...int) {
	for _, v := range vertices {
		if s.slot[v] < 0 {
			s.move(v)
		}
	}
}

func (s *skin) move(vertex int) {
	s.slot[vertex] = int32(len(s.at))
	v := &s.model.vertices[vertex]
	rest := [4]float64{v.Position[0], v.Position[1], v.Position[2], 1}
	y := [4]float64{3: 1}
	if !s.derivatives {
		for _, w := range v.Weights {
			s.pose.bones[w.Bone].addTo(&y, &rest, w.Value)
		}
		s.at = append(s.at, s.pose.global.apply(&y))
		return
	}
	s.block = append(s.block, block{})
	b := &s.block[len(s.block)-1]
	for _, w := range v.Weights {
		s.pose.bones[w.Bone].addTo(&y, &rest, w.Value)
		part := [4]float64{w.Value * rest[0], w.Value * rest[1], w.Value * rest[2], w.Value}
		for n, p := range s.model.params[w.Bone] {
			b.add(p, s.pose.joint[s.model.first[w.Bone]+n].apply(&part))
		}
		b.fingers |= s.model.fingers[w.Bone]
	}
	for a := range s.pose.turn {
		b.add(a, s.pose.turn[a].apply(&y))
		b.by[a][3+a] = -1
	}
	s.at = append(s.at, s.pose.global.apply(&y))
}

// add adds to column p.
func (b *block) add(p int, x [3]float64) {
	b.by[0][p] += x[0]
	b.by[1][p] += x[1]
	b.by[2][p] += x[2]
}

// addTo adds weight·a(x) to y, without a loop: the compiler would keep it.
func (a *Affine) addTo(y, x *[4]float64, weight float64) {
	y[0] += float64(weight * dot(&a[0], x))
	y[1] += float64(weight * dot(&a[1], x))
	y[2] += float64(weight * dot(&a[2], x))
}

// edge returns the derivative of a place by u (0) or v (1).
func (s *skin) edge(c *[3]corner, e int) (d [3]float64) {
	from, to := &s.at[c[2].vertex], &s.at[c[e].vertex]
	for i := range d {
		d[i] = to[i] - from[i]
	}
	return d
}
