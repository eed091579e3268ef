package graphembed_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/graphembed"
)

// The Petersen graph needs five dimensions.
func ExampleEmbed() {
	g := graphembed.Petersen()
	for _, k := range []int{4, 5} {
		e, err := graphembed.Embed(context.Background(), g, k, &graphembed.Options{Fixed: 2})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("k = %d: loss below 1e-20: %v\n", k, e.Loss < 1e-20)
		if k == 5 {
			fmt.Printf("ratio of distances %.9f\n", e.Apart.Mean/e.Connected.Mean)
		}
	}
	// Output:
	// k = 4: loss below 1e-20: false
	// k = 5: loss below 1e-20: true
	// ratio of distances 1.414213562
}

// A graph of gonum's: a square, of which the diagonals are longer by √2.
func ExampleFromUndirected() {
	square := simple.NewUndirectedGraph()
	for i := range int64(4) {
		square.SetEdge(simple.Edge{F: simple.Node(i), T: simple.Node((i + 1) % 4)})
	}
	g, nodes, err := graphembed.FromUndirected(square)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := graphembed.Embed(context.Background(), g, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(nodes), "vertices,", e.Connected.Pairs, "sides,", e.Apart.Pairs, "diagonals")
	fmt.Printf("diagonal by side %.6f\n", e.Apart.Mean/e.Connected.Mean)
	// Output:
	// 4 vertices, 4 sides, 2 diagonals
	// diagonal by side 1.414214
}

// Weights of an adjacency matrix do not matter, but zeros do. How far apart are vertices of a
// path, if it lies straight?
func ExampleFromAdjacency() {
	g, err := graphembed.FromAdjacency(mat.NewSymDense(3, []float64{0, 1, 0, 1, 0, 2, 0, 2, 0}))
	if err != nil {
		fmt.Println(err)
		return
	}
	connected, apart := graphembed.Classes(g, mat.NewDense(3, 1, []float64{0, 1, 2}))
	fmt.Println(connected.Mean, apart.Mean)
	// Output:
	// 1 2
}

// The loss in fixed point. Inverse restores every bit.
func ExampleLoss() {
	g, err := graphembed.NewGraph(3, [][2]int{{0, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	n := fixed.FromInt
	out := fixed.MustParse("0.1")
	k := graphembed.Loss[fixed.Q43]{
		Out:   &out,
		Free:  rev.NewGeneral(3, 2, []fixed.Q43{n(0), n(0), n(3), n(0), n(0), n(4)}),
		Graph: g,
	}
	k.Forward()
	fmt.Printf("loss %.4f\n", out-fixed.MustParse("0.1"))

	one := fixed.One
	grad := graphembed.Loss[fixed.Q43]{Out: &one, Free: rev.NewGeneral[fixed.Q43](3, 2, nil)}
	k.Adjoint(grad)
	fmt.Printf("gradient %.2f\n", grad.Free.Data)
	fmt.Println("back at", out)
	// Output:
	// loss 0.5000
	// gradient [0.00 1.00 0.60 -0.80 -0.60 -0.20]
	// back at 0.1
}
