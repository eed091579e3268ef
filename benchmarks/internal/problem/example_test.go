package problem_test

import (
	"fmt"
	"strings"

	"revnum/benchmarks/internal/problem"
	"revnum/revmodels/gmm"
)

func ExampleReadGMM() {
	// One component around 0 with the precision 1, and two points.
	in := "1 1 2  0  0  0  0 2  1 0"
	p, err := problem.ReadGMM(strings.NewReader(in), "p.txt", int64(len(in)), false)
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Gamma = 0 // no prior
	fmt.Printf("%.6f\n", problem.NewGMMObjective[float64](p, gmm.GradBench, 1).Value())

	_, err = problem.ReadGMM(strings.NewReader("1 1 2\n0\n0\nzero\n"), "p.txt", -1, false)
	fmt.Println(err)
	// Output:
	// -3.837877
	// p.txt:4: expected a finite number for factor, found "zero"
}
