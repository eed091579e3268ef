package graphembed

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"revnum/revmodels/graphembed/internal/pairs"
)

func TestPetersenGraph(t *testing.T) {
	g := Petersen()
	if g.Order() != 10 || g.Edges() != 15 || g.Pairs() != 45 {
		t.Fatalf("%d vertices, %d edges, %d pairs", g.Order(), g.Edges(), g.Pairs())
	}
	// It is the strongly regular graph with parameters (10, 3, 0, 1).
	adjacent := func(i, j int) bool { return i != j && g.Connected(i, j) }
	for i := range 10 {
		degree := 0
		for j := range 10 {
			if adjacent(i, j) {
				degree++
			}
			common := 0
			for l := range 10 {
				if adjacent(i, l) && adjacent(j, l) {
					common++
				}
			}
			if want := 1; i != j && (adjacent(i, j) && common != 0 || !adjacent(i, j) && common != want) {
				t.Errorf("vertices %d and %d have %d common neighbours", i, j, common)
			}
		}
		if degree != 3 {
			t.Errorf("vertex %d has degree %d", i, degree)
		}
	}
}

func TestNewGraph(t *testing.T) {
	g, err := NewGraph(4, [][2]int{{3, 0}, {1, 0}, {0, 1}, {0, 3}, {2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int32{{1, 3}, nil, {3}, nil} {
		if !slices.Equal(g.Later(i), want) {
			t.Errorf("later neighbours of %d are %v, want %v", i, g.Later(i), want)
		}
	}
	if g.Edges() != 3 || !g.Connected(3, 2) || g.Connected(1, 2) {
		t.Errorf("wrong graph %+v", g)
	}
	for _, c := range []struct {
		n     int
		edges [][2]int
		want  string
	}{
		{-1, nil, "-1 vertices"},
		{2, [][2]int{{0, 1}, {1, 1}}, "edge 1 connects vertex 1 to itself"},
		{2, [][2]int{{0, 2}}, "edge 0 connects vertices 0 and 2"},
		{2, [][2]int{{-1, 0}}, "edge 0 connects vertices -1 and 0"},
		{0, [][2]int{{0, 0}}, "edge 0"},
	} {
		if _, err := NewGraph(c.n, c.edges); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestConversions(t *testing.T) {
	u := simple.NewUndirectedGraph()
	for _, e := range [][2]int64{{30, 7}, {7, 12}, {30, 12}} {
		u.SetEdge(simple.Edge{F: simple.Node(e[0]), T: simple.Node(e[1])})
	}
	u.AddNode(simple.Node(9))
	g, nodes, err := FromUndirected(u)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, v := range nodes {
		ids = append(ids, v.ID())
	}
	if !slices.Equal(ids, []int64{7, 9, 12, 30}) {
		t.Errorf("nodes %v", ids)
	}
	a := mat.NewDense(4, 4, []float64{0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, -1, 3, 0, 1, 0})
	h, err := FromAdjacency(a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if !slices.Equal(g.Later(i), h.Later(i)) {
			t.Errorf("neighbours of %d: %v of the graph, %v of the matrix", i, g.Later(i), h.Later(i))
		}
	}
	a.Set(0, 1, 5)
	if _, err := FromAdjacency(a); err == nil || !strings.Contains(err.Error(), "(0, 1) and (1, 0)") {
		t.Errorf("error %v of a matrix that is not symmetric", err)
	}
	a.Set(0, 1, 0)
	a.Set(2, 2, 1)
	if _, err := FromAdjacency(a); err == nil || !strings.Contains(err.Error(), "(2, 2)") {
		t.Errorf("error %v of a matrix with a diagonal", err)
	}
	defer func() {
		if v, _ := recover().(error); !errors.Is(v, mat.ErrSquare) {
			t.Errorf("panic %v of a matrix that is not square", v)
		}
	}()
	_, _ = FromAdjacency(mat.NewDense(2, 3, nil))
}

// TestKinds compares the bits of ranges of vertices with Connected, for graphs
// that store them and graphs that do not.
func TestKinds(t *testing.T) {
	for _, every := range []int{2, 100} {
		const n = 77
		var edges [][2]int
		for i := range n {
			for j := range i {
				if (7*i+3*j)%every == 0 {
					edges = append(edges, [2]int{i, j})
				}
			}
		}
		g, err := NewGraph(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		if stored := g.bits != nil; stored != (every == 2) {
			t.Fatalf("%d edges: bits stored %v", g.Edges(), stored)
		}
		for i := range n {
			for lo := 0; lo < n; lo += 8 {
				for hi := lo + 1; hi <= n; hi++ {
					bits := pairs.Kinds{make([]byte, 10), make([]byte, 10)}
					g.kinds(bits, i, lo, hi)
					for j := lo; j < hi; j++ {
						near := bits[connected][(j-lo)/8]>>((j-lo)%8)&1 == 1
						far := bits[apart][(j-lo)/8]>>((j-lo)%8)&1 == 1
						if later := j > i; near != (later && g.Connected(i, j)) || far != (later && !g.Connected(i, j)) {
							t.Fatalf("vertices %d and %d of %d to %d: connected %v, apart %v", i, j, lo, hi, near, far)
						}
					}
				}
			}
		}
	}
}
