package parallel_test

import (
	"fmt"

	"revnum/internal/parallel"
)

// partialSums sums blocks of three elements.
type partialSums struct{ x, sums []float64 }

func (p *partialSums) Block(_, block int) {
	for _, v := range p.x[3*block : min(3*block+3, len(p.x))] {
		p.sums[block] += v
	}
}

func ExampleRun() {
	sums := partialSums{x: []float64{1, 2, 3, 4, 5, 6, 7}, sums: make([]float64, 3)}
	parallel.Run(parallel.Workers(0), len(sums.sums), &sums)
	total := 0.0
	for _, s := range sums.sums { // in the order of the blocks
		total += s
	}
	fmt.Println(total)
	// Output: 28
}
