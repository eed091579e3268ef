package cluster_test

import (
	"fmt"

	"revnum/cluster"
)

func ExampleSums() {
	s := cluster.NewSums(1)
	plain := 0.
	for _, v := range []float64{1e100, 1, -1e100, 0x1p-60} {
		s.Add([]float64{v})
		plain += v
	}
	sum := make([]float64, 1)
	s.RoundTo(sum)
	fmt.Println(sum[0], plain)
	// Output: 1 8.673617379884035e-19
}

// Each of three ranks has two numbers. Reduce adds them up.
func ExampleRun() {
	err := cluster.Run(3, func(r cluster.Reducer) error {
		s, sum := cluster.NewSums(2), make([]float64, 2)
		s.Add([]float64{1, 0.1 * float64(r.Rank())})
		if err := s.Reduce(r, nil); err != nil {
			return err
		}
		s.RoundTo(sum)
		if r.Rank() == 0 {
			fmt.Println(sum)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [3 0.30000000000000004]
	// <nil>
}
