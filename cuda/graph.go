package cuda

import (
	"errors"
	"fmt"
	"math"

	"revnum/revmodels/graphembed"
)

// A Graph is a graphembed.Graph in the memory of a device: for each vertex, its neighbours. It
// never changes, so any number of kernels may share it.
type Graph struct {
	n, edges, pairs int
	ptr, list       Memory[int32] // those of vertex i are list[ptr[i]:ptr[i+1]], ascending
}

// NewGraph returns a copy of g in the memory of d, of 8 bytes for each edge and 4 for each vertex.
// It returns an error if g has 2³⁰ edges or more. Call Free when you are done.
func NewGraph(d *Device, g *graphembed.Graph) (*Graph, error) {
	n := g.Order()
	if 2*g.Edges() > math.MaxInt32 {
		return nil, fmt.Errorf("cuda: a graph with %d edges, want fewer than 2³⁰", g.Edges())
	}
	ptr, list := make([]int32, n+1), make([]int32, 2*g.Edges())
	for i := range n {
		for _, j := range g.Later(i) {
			ptr[i+1]++
			ptr[j+1]++
		}
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	next := append([]int32(nil), ptr...)
	add := func(i, j int32) {
		list[next[i]] = j
		next[i]++
	}
	for i := range n { // the earlier neighbours of j come before the later ones
		for _, j := range g.Later(i) {
			add(j, int32(i))
		}
	}
	for i := range n {
		for _, j := range g.Later(i) {
			add(int32(i), j)
		}
	}
	c := &Graph{n: n, edges: g.Edges(), pairs: g.Pairs()}
	var err error
	if c.ptr, err = newMemory(d, ptr); err != nil {
		return nil, err
	}
	if c.list, err = newMemory(d, list); err != nil {
		return nil, errors.Join(err, c.ptr.Free())
	}
	return c, nil
}

// Format implements fmt.Formatter for all verbs.
func (g Graph) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "a graph with %d vertices and %d edges on a device", g.n, g.edges)
}

// Order returns the number of vertices.
func (g *Graph) Order() int { return g.n }

// Free gives the memory of g back.
func (g *Graph) Free() error { return errors.Join(g.ptr.Free(), g.list.Free()) }
