package revtropical_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"revnum/rev"
	"revnum/revtropical"
)

// distances is a matrix that is squared again and again.
type distances struct {
	D, Squared rev.General[float64] // of paths of at most 2ⁱ steps, and of twice as many
}

// Shortest paths in a network of roads. The matrix of lengths is squared in min-plus
// arithmetic until it has the paths of any number of steps. Squares have no inverse, so
// Treeverse keeps some of them. The gradient of a distance is 1 at the roads of the path.
func Example_shortestPath() {
	const n, far = 8, 1000.0 // far is the length of no road
	roads := simple.NewWeightedDirectedGraph(0, far)
	for i := range int64(n) {
		for _, r := range [][2]int64{{1, 7}, {3, 11 + 5*i%7}} { // to the next but r[0]
			to := (i + r[0]) % n
			roads.SetWeightedEdge(roads.NewWeightedEdge(simple.Node(i), simple.Node(to), float64(r[1]+3*i%5)))
		}
	}
	lengths := func() rev.General[float64] {
		d := rev.NewGeneral[float64](n, n, nil)
		for i := range n {
			for j := range n {
				d.Row(i)[j], _ = roads.Weight(int64(i), int64(j))
			}
		}
		return d
	}

	square := rev.At(func(s *distances) revtropical.MatMul[float64] {
		return revtropical.MatMul[float64]{C: s.Squared, A: s.D, B: s.D, Min: true}
	})
	all := rev.Treeverse(rev.Chain[distances, rev.General[float64]]{
		Step:  square,
		X:     func(s *distances) *rev.General[float64] { return &s.D },
		Y:     func(s *distances) *rev.General[float64] { return &s.Squared },
		Count: func(*distances) int { return 3 }, // 2³ steps
	}, rev.Limit{Snapshots: 2})

	s := &distances{D: lengths(), Squared: rev.NewGeneral[float64](n, n, nil)}
	g := rev.ZeroLike(s)
	length, err := rev.ValueGradient(all, func(s *distances) *float64 { return &s.Squared.Row(0)[6] }, s, g)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("from 0 to 6:", length)
	for i := range n {
		for j := range n {
			if i != j && g.D.Row(i)[j] == 1 {
				fmt.Println("road from", i, "to", j)
			}
		}
	}

	// All distances, as gonum finds them.
	if err := all.Forward(s); err != nil {
		log.Fatal(err)
	}
	want, _ := path.FloydWarshall(roads)
	dijkstra := path.DijkstraAllPaths(roads)
	for i := range n {
		for j := range n {
			got := s.Squared.Row(i)[j]
			if got != want.Weight(int64(i), int64(j)) || got != dijkstra.Weight(int64(i), int64(j)) {
				fmt.Println("from", i, "to", j, "is", got)
			}
		}
	}
	// Output:
	// from 0 to 6: 27
	// road from 0 to 3
	// road from 3 to 6
}
