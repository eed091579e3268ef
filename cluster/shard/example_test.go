package shard_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/cluster/shard"
)

func Example() {
	x := mat.NewDense(5, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	s, err := shard.NewSet(3, shard.Matrix("points", x))
	if err != nil {
		fmt.Println(err)
		return
	}
	for b := range s.Blocks() {
		p, err := s.Read(b, nil)
		fmt.Println(p.Rows, p.Data, err)
	}
	// Output:
	// 3 [1 2 3 4 5 6] <nil>
	// 2 [7 8 9 10] <nil>
}
