package rules

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"revnum/rev"
	"revnum/revmodels/graphembed"
	"revnum/revmodels/hand"
)

// A structure says how arrays stand for a field that is neither an operand nor a number. They are
// operands of the role index.
type structure struct {
	operands []Operand
	set      func(field unsafe.Pointer, arrays, all []Buffer) error // all are the operands of the rule
	get      func(field unsafe.Pointer) []Buffer
}

// A placed structure is one of a rule.
type placed struct {
	*structure
	name   string // of the field
	offset uintptr
	first  int // operand
}

// structures are the types of fields that are given by arrays.
var structures = map[reflect.Type]*structure{
	reflect.TypeFor[*graphembed.Graph](): {
		operands: []Operand{{Name: "Graph", Kind: "edges", Type: Int, Shape: "e,2"}},
		set:      setGraph,
		get:      func(field unsafe.Pointer) []Buffer { return []Buffer{edges(*(**graphembed.Graph)(field))} },
	},
	reflect.TypeFor[*hand.Model](): {
		operands: handOperands,
		set:      setHand,
		get:      handArrays,
	},
}

var handOperands = []Operand{
	{Name: "Parents", Kind: "slice", Type: Int, Shape: "b", field: field{kind: rev.Slice}},
	{Name: "Relative", Kind: "matrix", Type: Float64, Shape: "b,12", field: field{kind: rev.Gen}},
	{Name: "InverseBase", Kind: "matrix", Type: Float64, Shape: "b,12", field: field{kind: rev.Gen}},
	{Name: "Positions", Kind: "matrix", Type: Float64, Shape: "v,3", field: field{kind: rev.Gen}},
	{Name: "Weights", Kind: "matrix", Type: Float64, Shape: "v,b", field: field{kind: rev.Gen}},
	{Name: "Triangles", Kind: "matrix", Type: Int, Shape: "f,3", Optional: true, field: field{kind: rev.Gen}},
}

// setGraph makes the graph of an array of edges. Its vertices are the rows of the
// matrices.
func setGraph(field unsafe.Pointer, arrays, all []Buffer) error {
	b, vertices := &arrays[0], 0
	for _, o := range all {
		if o.Axes == 2 && o.Type != Int {
			vertices += o.Shape[0]
		}
	}
	edges := b.Shape[0]
	switch {
	case b.Type != Int || b.Axes != 2 || b.Shape[1] != 2:
		return errors.New("want as Graph a matrix of edges, of two int a row")
	case edges < 0 || edges > b.Len/2 || edges > 0 && b.Stride != [2]int{2, 1}:
		return fmt.Errorf("%d edges of Graph in %d elements with strides of %d and %d", edges, b.Len, b.Stride[0], b.Stride[1])
	}
	g, err := graphembed.NewGraph(vertices, unsafe.Slice((*[2]int)(b.Data), edges))
	*(**graphembed.Graph)(field) = g
	return err
}

// edges returns the edges of a graph as a matrix.
func edges(g *graphembed.Graph) Buffer {
	var list []int
	for i := range g.Order() {
		for _, j := range g.Later(i) {
			list = append(list, i, int(j))
		}
	}
	return Matrix(rev.NewGeneral(len(list)/2, 2, list))
}

// handModel has the views of the arrays of a hand.
type handModel struct {
	parents                                   []int
	relative, inverseBase, positions, weights rev.General[float64]
	triangles                                 rev.General[int]
}

// setHand makes the model of a hand. The transforms of bones are the rows of [A b], one after the
// other. Bones without a parent carry the reflection of a mirrored model. A weight of zero is none.
func setHand(field unsafe.Pointer, arrays, _ []Buffer) error {
	var m handModel
	for i, to := range m.fields() {
		if err := handOperands[i].set(to, &arrays[i], true); err != nil {
			return fmt.Errorf("%s %w", handOperands[i].Name, err)
		}
	}
	n, v := len(m.parents), m.positions.Rows
	for _, err := range []error{
		checkMatrix("Relative", &m.relative, n, 12), checkMatrix("InverseBase", &m.inverseBase, n, 12),
		checkMatrix("Positions", &m.positions, v, 3), checkMatrix("Weights", &m.weights, v, n),
		checkMatrix("Triangles", &m.triangles, m.triangles.Rows, 3),
	} {
		if err != nil {
			return err
		}
	}
	bones, vertices, triangles := make([]hand.Bone, n), make([]hand.Vertex, v), make([][3]int, m.triangles.Rows)
	for i := range bones {
		bones[i] = hand.Bone{Parent: m.parents[i], Relative: affine(m.relative.Row(i)), InverseBase: affine(m.inverseBase.Row(i))}
	}
	for i := range vertices {
		vertices[i].Position = [3]float64(m.positions.Row(i))
		for bone, w := range m.weights.Row(i) {
			if w != 0 {
				vertices[i].Weights = append(vertices[i].Weights, hand.Weight{Bone: bone, Value: w})
			}
		}
	}
	for i := range triangles {
		triangles[i] = [3]int(m.triangles.Row(i))
	}
	model, err := hand.NewModel(bones, vertices, triangles, false)
	*(**hand.Model)(field) = model
	return err
}

// fields returns the places of the arrays.
func (m *handModel) fields() []unsafe.Pointer {
	return []unsafe.Pointer{
		unsafe.Pointer(&m.parents), unsafe.Pointer(&m.relative), unsafe.Pointer(&m.inverseBase),
		unsafe.Pointer(&m.positions), unsafe.Pointer(&m.weights), unsafe.Pointer(&m.triangles),
	}
}

// checkMatrix returns an error unless m is a matrix of the given shape in its memory.
func checkMatrix[T any](name string, m *rev.General[T], rows, cols int) error {
	switch {
	case m.Rows != rows || rows > 0 && m.Cols != cols:
		return fmt.Errorf("%s is %d×%d, want %d×%d", name, m.Rows, m.Cols, rows, cols)
	case rows > 0 && (m.Stride < cols || m.Stride > len(m.Data) || cols > len(m.Data) || rows-1 > (len(m.Data)-cols)/max(1, m.Stride)):
		return fmt.Errorf("%s has %d rows with a stride of %d in %d elements", name, rows, m.Stride, len(m.Data))
	}
	return nil
}

func affine(row []float64) hand.Affine {
	return hand.Affine{[4]float64(row[:4]), [4]float64(row[4:8]), [4]float64(row[8:12])}
}

// handArrays returns the arrays of a model.
func handArrays(field unsafe.Pointer) []Buffer {
	model := *(**hand.Model)(field)
	n, v, f := model.Bones(), model.Vertices(), model.Triangles()
	m := handModel{
		make([]int, n), rev.NewGeneral[float64](n, 12, nil), rev.NewGeneral[float64](n, 12, nil),
		rev.NewGeneral[float64](v, 3, nil), rev.NewGeneral[float64](v, n, nil), rev.NewGeneral[int](f, 3, nil),
	}
	for i := range n {
		b := model.Bone(i)
		m.parents[i] = b.Parent
		if b.Parent < 0 && model.Mirrored() {
			for j := range b.Relative[0] {
				b.Relative[0][j] = -b.Relative[0][j]
			}
		}
		copy(m.relative.Row(i), slices.Concat(b.Relative[0][:], b.Relative[1][:], b.Relative[2][:]))
		copy(m.inverseBase.Row(i), slices.Concat(b.InverseBase[0][:], b.InverseBase[1][:], b.InverseBase[2][:]))
	}
	for i := range v {
		x := model.Vertex(i)
		copy(m.positions.Row(i), x.Position[:])
		for _, w := range x.Weights {
			m.weights.Row(i)[w.Bone] += w.Value
		}
	}
	for i := range f {
		t := model.Triangle(i)
		copy(m.triangles.Row(i), t[:])
	}
	return []Buffer{Slice(m.parents), Matrix(m.relative), Matrix(m.inverseBase), Matrix(m.positions), Matrix(m.weights), Matrix(m.triangles)}
}
