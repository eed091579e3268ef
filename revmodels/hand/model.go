package hand

import (
	"errors"
	"fmt"
	"math"
)

const (
	fingers = 5
	angles  = 4 // of a finger

	// Params is the number of pose parameters. The first three are the axis of the
	// global rotation times its angle in radians, the next three the translation. Then
	// each finger has four angles, from the thumb to the little finger: of its second
	// bone about x and about z, and of its third and its last bone about x.
	Params = 6 + angles*fingers
)

// Bones is the least number of bones of a model. Bone 0 is the wrist. Bone 1 + 4·f + i
// is bone i of finger f. Bones with i > 0 turn.
const Bones = 1 + 4*fingers

// jointOf returns the joint of a bone, if parameters turn it. Each finger has three
// joints.
func jointOf(bone int) (j int, ok bool) {
	finger, i := (bone-1)/4, (bone-1)%4
	return 3*finger + i - 1, i > 0 && finger < fingers
}

// jointParam returns the parameter of joint j about x. For the first joint of a finger,
// the next parameter is the one about z.
func jointParam(j int) int {
	first := 6 + angles*(j/3)
	if j%3 == 0 {
		return first
	}
	return first + 1 + j%3
}

// An Affine is the map of x to A·x + b, as the rows of [A b].
type Affine [3][4]float64

// apply returns a(x), where the last element of x is the weight of b.
func (a *Affine) apply(x *[4]float64) (y [3]float64) {
	for i := range y {
		y[i] = dot(&a[i], x)
	}
	return y
}

func dot(a, x *[4]float64) float64 {
	return float64(a[0]*x[0]) + float64(a[1]*x[1]) + float64(a[2]*x[2]) + float64(a[3]*x[3])
}

// after returns the map of x to a(b(x)).
func (a *Affine) after(b *Affine) (c Affine) {
	for i := range c {
		for j := range c[i] {
			c[i][j] = float64(a[i][0]*b[0][j]) + float64(a[i][1]*b[1][j]) + float64(a[i][2]*b[2][j])
		}
		c[i][3] += a[i][3]
	}
	return c
}

// A Bone is a bone of a skeleton at rest.
type Bone struct {
	Name        string
	Parent      int    // an earlier bone, or -1
	Relative    Affine // from the axes of the bone to those of its parent
	InverseBase Affine // from the axes of the model to those of the bone
}

// A Vertex is a point of the skin at rest.
type Vertex struct {
	Position [3]float64
	Weights  []Weight
}

// A Weight says how much a bone moves a vertex.
type Weight struct {
	Bone  int
	Value float64
}

// A Model is a skeleton with its skin. It is immutable.
type Model struct {
	bones     []Bone
	params    [][]int // of each bone, the angles that move it
	first     []int   // of each bone, the number of angles that move the bones before it
	angles    int     // that move all bones, counted for each
	fingers   []uint8 // of each bone, the fingers of these angles, a bit each
	vertices  []Vertex
	triangles [][3]int
	mirrored  bool
}

// NewModel returns the model with the given bones, vertices and triangles of
// vertices. A mirrored model has the skin reflected, x to -x. It keeps the slices.
func NewModel(bones []Bone, vertices []Vertex, triangles [][3]int, mirrored bool) (*Model, error) {
	if len(bones) < Bones {
		return nil, fmt.Errorf("hand: expected at least %d bones, found %d", Bones, len(bones))
	}
	m := &Model{bones: bones, vertices: vertices, triangles: triangles, mirrored: mirrored, params: make([][]int, len(bones)), first: make([]int, len(bones)), fingers: make([]uint8, len(bones))}
	for i, b := range bones {
		if err := b.check(i); err != nil {
			return nil, fmt.Errorf("hand: bone %d: %w", i, err)
		}
		if b.Parent >= 0 {
			m.params[i] = append(m.params[i], m.params[b.Parent]...)
			m.fingers[i] = m.fingers[b.Parent]
		}
		if j, ok := jointOf(i); ok {
			m.params[i] = append(m.params[i], jointParam(j))
			if j%3 == 0 {
				m.params[i] = append(m.params[i], jointParam(j)+1)
			}
			m.fingers[i] |= 1 << (j / 3)
		}
		m.first[i] = m.angles
		m.angles += len(m.params[i])
	}
	for i, v := range vertices {
		if err := v.check(len(bones)); err != nil {
			return nil, fmt.Errorf("hand: vertex %d: %w", i, err)
		}
	}
	for i, t := range triangles {
		for _, v := range t {
			if v < 0 || v >= len(vertices) {
				return nil, fmt.Errorf("hand: triangle %d: expected vertices from 0 to %d, found %d", i, len(vertices)-1, v)
			}
		}
	}
	return m, nil
}

// Bones returns the number of bones.
func (m *Model) Bones() int { return len(m.bones) }

// Bone returns bone i.
func (m *Model) Bone(i int) Bone { return m.bones[i] }

// Vertex returns vertex i. Its weights are the model's: do not change them.
func (m *Model) Vertex(i int) Vertex { return m.vertices[i] }

// Triangle returns the vertices of triangle i.
func (m *Model) Triangle(i int) [3]int { return m.triangles[i] }

// Mirrored reports whether the skin is reflected.
func (m *Model) Mirrored() bool { return m.mirrored }

// Vertices returns the number of vertices.
func (m *Model) Vertices() int { return len(m.vertices) }

// Triangles returns the number of triangles.
func (m *Model) Triangles() int { return len(m.triangles) }

func (b *Bone) check(i int) error {
	if b.Parent < -1 || b.Parent >= i {
		return fmt.Errorf("expected as parent -1 or an earlier bone, found %d", b.Parent)
	}
	for _, a := range []*Affine{&b.Relative, &b.InverseBase} {
		for _, row := range a {
			if !finite(row[:]...) {
				return errors.New("expected finite transforms")
			}
		}
	}
	if det := determinant(&b.Relative); det == 0 || !finite(det) {
		return fmt.Errorf("expected a relative transform that has an inverse, found the determinant %v", det)
	}
	return nil
}

func (v *Vertex) check(bones int) error {
	if !finite(v.Position[:]...) {
		return fmt.Errorf("expected a finite position, found %v", v.Position)
	}
	for _, w := range v.Weights {
		switch {
		case w.Bone < 0 || w.Bone >= bones:
			return fmt.Errorf("expected bones from 0 to %d, found %d", bones-1, w.Bone)
		case !finite(w.Value):
			return fmt.Errorf("expected finite weights, found %v", w.Value)
		}
	}
	return nil
}

func finite(x ...float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func determinant(a *Affine) (det float64) {
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		det += float64(a[0][i] * (float64(a[1][j]*a[2][k]) - float64(a[1][k]*a[2][j])))
	}
	return det
}
