package graphembed_test

import (
	"fmt"
	"strings"

	"revnum/benchmarks/internal/graphembed"
)

func ExampleReadEdges() {
	g, err := graphembed.ReadEdges(strings.NewReader("# a path\nx y\ny z\n"), "path.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Labels, g.Edges())
	_, err = graphembed.ReadEdges(strings.NewReader("x y\nz z\n"), "loop.txt")
	fmt.Println(err)
	// Output:
	// [x y z] 2
	// loop.txt:2: expected two different vertices, found "z" twice
}
