package graphembed

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/graphembed/internal/pairs"
)

// Graph is an undirected graph over the vertices 0, ..., n-1, without loops. It never
// changes, so any number of kernels may share it. It takes four bytes for each edge. If
// at least one pair in 32 is connected, it takes a quarter of a byte more for each pair.
type Graph struct {
	n     int
	first []int   // later[first[i]:first[i+1]] are the later neighbours of vertex i
	later []int32 // the neighbours j > i of each vertex i, ascending

	apart [2]int // the first pair that is not connected, if there is one

	// If at least one pair in 32 is connected, bit j%8 of bits[i*stride+j/8] is 1 if j
	// is a later neighbour of i. Otherwise bits is nil, because it would take more
	// memory than later.
	bits   []byte
	stride int
}

// NewGraph returns the graph with n vertices and the given edges. The two ends of an edge
// may come in either order. An edge that is given twice counts once. NewGraph returns an
// error that names the edge if an end is not in [0, n), or if both ends are the same
// vertex. It also returns an error if n is negative, or if the number of pairs does not fit
// in an int.
func NewGraph(n int, edges [][2]int) (*Graph, error) {
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("graphembed: %d vertices, want between 0 and %d", n, math.MaxInt32)
	}
	if n > 1 && n-1 > math.MaxInt/n {
		return nil, fmt.Errorf("graphembed: the pairs of %d vertices are too many to count", n)
	}
	sorted := make([][2]int, len(edges))
	for e, ij := range edges {
		i, j := min(ij[0], ij[1]), max(ij[0], ij[1])
		switch {
		case i < 0 || j >= n:
			return nil, fmt.Errorf("graphembed: edge %d connects vertices %d and %d, want vertices in [0, %d)", e, ij[0], ij[1], n)
		case i == j:
			return nil, fmt.Errorf("graphembed: edge %d connects vertex %d to itself", e, i)
		}
		sorted[e] = [2]int{i, j}
	}
	slices.SortFunc(sorted, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	sorted = slices.Compact(sorted)

	g := &Graph{n: n, first: make([]int, n+1), later: make([]int32, len(sorted))}
	for e, ij := range sorted {
		g.first[ij[0]+1]++
		g.later[e] = int32(ij[1])
	}
	for i := range n {
		g.first[i+1] += g.first[i]
	}
	g.apart = g.firstApart()
	if g.Edges() > 0 && g.Edges() >= g.Pairs()/32 {
		g.stride = (n + 15) / 16 * 2
		g.bits = make([]byte, (n+n%2)*g.stride)
		for i := range n {
			setBits(g.bits[i*g.stride:], 0, g.Later(i))
		}
	}
	return g, nil
}

// setBits sets the bits of the vertices js. The first bit is that of vertex lo.
func setBits(bits []byte, lo int, js []int32) {
	for _, j := range js {
		at := int(j) - lo
		bits[at/8] |= 1 << (at % 8)
	}
}

// kinds considers the vertices from lo to hi-1 that are later than i. It stores in dst
// which of them are connected to i, and which are apart. lo is a multiple of 8.
func (g *Graph) kinds(dst pairs.Kinds, i, lo, hi int) {
	bytes := (hi - lo + 7) / 8
	near, far := dst[connected][:bytes], dst[apart][:bytes]
	if g.bits != nil {
		copy(near, g.bits[i*g.stride+lo/8:])
	} else {
		clear(near)
		setBits(near, lo, g.laterIn(i, lo, hi))
	}
	at := 0
	for ; at+8 <= bytes; at += 8 {
		binary.LittleEndian.PutUint64(far[at:], ^binary.LittleEndian.Uint64(near[at:]))
	}
	for ; at < bytes; at++ {
		far[at] = ^near[at]
	}
	if from := i + 1 - lo; from > 0 {
		clear(far[:min(from/8, bytes)])
		if from/8 < bytes {
			far[from/8] &= 0xff << (from % 8)
		}
	}
}

// nearBits returns bits like those of g and the number of bytes between rows. The rows are
// vertices i, i+1, ... and the columns are vertices lo to hi-1. lo is a multiple of 16. If
// g has no bits, nearBits stores them in scratch. The last row may be vertex n.
func (g *Graph) nearBits(scratch []byte, i, rows, lo, hi int) (bits []byte, stride int) {
	if g.bits != nil {
		return g.bits[i*g.stride+lo/8:], g.stride
	}
	stride = (hi - lo + 15) / 16 * 2
	bits = scratch[:rows*stride]
	clear(bits)
	for q := range min(rows, g.n-i) {
		setBits(bits[q*stride:], lo, g.laterIn(i+q, lo, hi))
	}
	return bits, stride
}

// laterIn returns the neighbours j > i of vertex i among lo, ..., hi-1.
func (g *Graph) laterIn(i, lo, hi int) []int32 {
	later := g.Later(i)
	first, _ := slices.BinarySearch(later, int32(lo))
	end, _ := slices.BinarySearch(later, int32(hi))
	return later[first:end]
}

// firstApart returns the first pair that is not connected.
func (g *Graph) firstApart() [2]int {
	for i := range g.n {
		next := i + 1
		for _, j := range g.Later(i) {
			if int(j) != next {
				break
			}
			next++
		}
		if next < g.n {
			return [2]int{i, next}
		}
	}
	return [2]int{}
}

// FromUndirected returns the graph g, and its nodes in the order of the vertices. That is
// the order of their IDs. It returns an error if a node of g is connected to itself.
func FromUndirected(g graph.Undirected) (*Graph, []graph.Node, error) {
	nodes := graph.NodesOf(g.Nodes())
	slices.SortFunc(nodes, func(a, b graph.Node) int { return cmp.Compare(a.ID(), b.ID()) })
	index := make(map[int64]int, len(nodes))
	for i, v := range nodes {
		index[v.ID()] = i
	}
	var edges [][2]int
	for i, v := range nodes {
		for _, u := range graph.NodesOf(g.From(v.ID())) {
			j := index[u.ID()]
			if i == j {
				return nil, nil, fmt.Errorf("graphembed: node %d is connected to itself", v.ID())
			}
			if i < j {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	r, err := NewGraph(len(nodes), edges)
	return r, nodes, err
}

// FromAdjacency returns the graph in which vertices i and j are connected if element (i, j)
// of a is not zero. It panics with mat.ErrSquare if a is not square. It returns an error
// that names the element if an element on the diagonal is not zero, or if only one of
// (i, j) and (j, i) is zero.
func FromAdjacency(a mat.Matrix) (*Graph, error) {
	n, c := a.Dims()
	if n != c {
		panic(&rev.OperandError{Kernel: "graphembed.Graph", Operand: "a", Reason: fmt.Sprintf("is %d×%d", n, c), Err: mat.ErrSquare})
	}
	var edges [][2]int
	for i := range n {
		if a.At(i, i) != 0 {
			return nil, fmt.Errorf("graphembed: element (%d, %d) of the adjacency matrix connects a vertex to itself", i, i)
		}
		for j := i + 1; j < n; j++ {
			connected := a.At(i, j) != 0
			if connected != (a.At(j, i) != 0) {
				return nil, fmt.Errorf("graphembed: elements (%d, %d) and (%d, %d) of the adjacency matrix are %v and %v, want both zero or none", i, j, j, i, a.At(i, j), a.At(j, i))
			}
			if connected {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	return NewGraph(n, edges)
}

// Petersen returns the Petersen graph: an outer cycle of five vertices 0 to 4,
// each connected to one of the vertices 5 to 9 of an inner pentagram.
func Petersen() *Graph {
	var edges [][2]int
	for i := range 5 {
		edges = append(edges, [2]int{i, (i + 1) % 5}, [2]int{i, i + 5}, [2]int{i + 5, (i+2)%5 + 5})
	}
	g, err := NewGraph(10, edges)
	if err != nil {
		panic(err)
	}
	return g
}

// Order returns the number of vertices.
func (g *Graph) Order() int { return g.n }

// Edges returns the number of connected pairs.
func (g *Graph) Edges() int { return len(g.later) }

// Pairs returns the number of pairs of vertices, connected or not.
func (g *Graph) Pairs() int { return g.n * (g.n - 1) / 2 }

// Later returns the neighbours j > i of vertex i in ascending order. Do not modify them.
func (g *Graph) Later(i int) []int32 { return g.later[g.first[i]:g.first[i+1]] }

// Connected reports whether vertices i and j are connected.
func (g *Graph) Connected(i, j int) bool {
	_, found := slices.BinarySearch(g.Later(min(i, j)), int32(max(i, j)))
	return found
}
